# Man pages, completions and the pages of docs/, laid out as they are installed. The command makes the
# man pages and completions from its own tables, the built-in protocols, docs/*.md and the public
# headers. Everything is made again when the command or a page changes.
set(share ${PROJECT_BINARY_DIR}/share)
file(GLOB_RECURSE documents CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/*)
file(GLOB pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/*.md)
file(GLOB headers CONFIGURE_DEPENDS
    ${PROJECT_SOURCE_DIR}/include/duplex/*.h ${PROJECT_SOURCE_DIR}/systems/*/include/duplex/*.h)
list(FILTER headers EXCLUDE REGEX "/(duplex|version)\\.h$") # which declare nothing themselves
add_custom_command(
    OUTPUT ${share}.stamp
    # Pages whose source is gone must not be installed.
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${share}
    COMMAND duplex_cli --share ${share} ${PROJECT_SOURCE_DIR}/docs ${headers}
    COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DTARGET=${share}/doc/duplex
        -P ${PROJECT_SOURCE_DIR}/cmake/InstalledDocs.cmake
    COMMAND ${CMAKE_COMMAND} -E touch ${share}.stamp
    DEPENDS duplex_cli ${documents} ${pages} ${headers} cmake/InstalledDocs.cmake
    COMMENT "Writing man pages, completions and documentation"
    VERBATIM)
add_custom_target(duplex_share ALL DEPENDS ${share}.stamp)

install(DIRECTORY ${share}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR})
install(DIRECTORY ${share}/doc/duplex/ DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/duplex)
install(DIRECTORY ${share}/ DESTINATION ${CMAKE_INSTALL_DATADIR}
    PATTERN man EXCLUDE PATTERN doc EXCLUDE)
