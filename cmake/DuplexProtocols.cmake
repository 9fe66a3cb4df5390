# duplex_embed(TARGET FOLDER...): all FOLDER/*.openrpc.json become bytes in the target, and so does the
# schema that they fit.
add_executable(duplex_embed_tool ${PROJECT_SOURCE_DIR}/tools/embed.c)
set_target_properties(duplex_embed_tool PROPERTIES
    OUTPUT_NAME embed
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tools)

function(duplex_embed target)
    list(TRANSFORM ARGN APPEND /*.openrpc.json OUTPUT_VARIABLE patterns)
    file(GLOB documents CONFIGURE_DEPENDS ${patterns})
    set(grammar ${PROJECT_SOURCE_DIR}/src/protocol/grammar.json)
    set(output ${PROJECT_BINARY_DIR}/protocols/${target}.c)
    file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/protocols)
    add_custom_command(
        OUTPUT ${output}
        COMMAND duplex_embed_tool ${output} ${grammar} ${documents}
        DEPENDS duplex_embed_tool ${grammar} ${documents}
        VERBATIM)
    target_sources(${target} PRIVATE ${output})
endfunction()
