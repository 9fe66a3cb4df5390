# The programs of bench/peers in C: all linked alike. Duplex is in them as it is in its shared library,
# optimised as a whole.
function(duplex_whole name)
    target_sources(${name} PRIVATE $<TARGET_OBJECTS:duplex_objects>)
    target_include_directories(${name} PRIVATE include)
    target_link_libraries(${name} PRIVATE Yyjson::Yyjson Pcre2::Pcre2)
    set_target_properties(${name} PROPERTIES INTERPROCEDURAL_OPTIMIZATION "${whole_program}")
endfunction()

foreach(peer raw plain duplex)
    file(GLOB sources CONFIGURE_DEPENDS bench/peers/${peer}/*.c)
    list(FILTER sources EXCLUDE REGEX "/(host|echo)\\.c$")
    foreach(side host echo)
        add_executable(bench_${peer}_${side} bench/peers/${peer}/${side}.c ${sources} bench/peers/c/bench.c)
        set_target_properties(bench_${peer}_${side} PROPERTIES
            OUTPUT_NAME ${peer}-${side}
            INTERPROCEDURAL_OPTIMIZATION "${whole_program}"
            RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
        target_compile_definitions(bench_${peer}_${side} PRIVATE _GNU_SOURCE)
        if(peer STREQUAL duplex)
            duplex_whole(bench_${peer}_${side})
        elseif(peer STREQUAL plain)
            target_link_libraries(bench_${peer}_${side} PRIVATE Yyjson::Yyjson)
        endif()
    endforeach()
endforeach()

# Runs the command itself, with the example plugin as its peer.
add_executable(bench_call_host bench/peers/call/host.c bench/peers/c/bench.c)
set_target_properties(bench_call_host PROPERTIES
    OUTPUT_NAME call-host
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
target_compile_definitions(bench_call_host PRIVATE _GNU_SOURCE)
add_dependencies(bench_call_host duplex_cli example_echo)

# Beside Ajv, see bench/schema/run.
add_executable(bench_schema bench/schema/duplex.c)
set_target_properties(bench_schema PROPERTIES
    OUTPUT_NAME schema-duplex
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
target_compile_definitions(bench_schema PRIVATE _GNU_SOURCE)
duplex_whole(bench_schema)
