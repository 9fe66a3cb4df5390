# Man pages and completions: the command makes them from its own tables, from the protocols that are
# built in, from docs/*.md and from the public headers. One run writes them all, laid out as they are installed; it is run
# again when the command or a document has changed.
set(share ${PROJECT_BINARY_DIR}/share)
file(GLOB documents CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/*.md)
file(GLOB headers CONFIGURE_DEPENDS
    ${PROJECT_SOURCE_DIR}/include/duplex/*.h ${PROJECT_SOURCE_DIR}/systems/*/include/duplex/*.h)
list(FILTER headers EXCLUDE REGEX "/(duplex|version)\\.h$") # which declare nothing themselves
add_custom_command(
    OUTPUT ${share}.stamp
    # What has no source any more shall not be installed.
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${share}
    COMMAND duplex_cli --share ${share} ${PROJECT_SOURCE_DIR}/docs ${headers}
    COMMAND ${CMAKE_COMMAND} -E touch ${share}.stamp
    DEPENDS duplex_cli ${documents} ${headers}
    COMMENT "Writing man pages and completions"
    VERBATIM)
add_custom_target(duplex_share ALL DEPENDS ${share}.stamp)

install(DIRECTORY ${share}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR})
install(DIRECTORY ${share}/ DESTINATION ${CMAKE_INSTALL_DATADIR} PATTERN man EXCLUDE)
