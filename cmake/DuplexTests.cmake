# Finds the tests by where they lie, so that a new one needs no edit here. Labels are the words that
# `./dev test` takes; `noasan` keeps a test out of the sanitizer build, `long` out of the usual run:
# a name that ends in -long or _noasan (or the other way round), or has that before a dot, has that
# label.

find_path(CMOCKA_INCLUDE_DIR cmocka.h REQUIRED)
find_library(CMOCKA_LIBRARY cmocka REQUIRED)

# What measures time runs alone: it takes all of the `-j 6` that ./dev gives. Most tests wait most of
# the time, so there are more of them at once than processors.
set(alone 6)
set(slow 1)
if(DUPLEX_SANITIZE)
    set(slow 4)
endif()

# duplex_program(NAME SOURCE...): links the static library, so that dx__ functions are within reach.
function(duplex_program name)
    add_executable(${name} ${ARGN})
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
    target_include_directories(${name} PRIVATE include src tests)
    target_compile_definitions(${name} PRIVATE _GNU_SOURCE) # tests may use what the library may not
    # A test whose assert() is compiled away would pass in silence.
    target_compile_options(${name} PRIVATE -UNDEBUG)
    target_link_libraries(${name} PRIVATE duplex_static)
endfunction()

# duplex_test(NAME TIMEOUT LABELS COMMAND...)
function(duplex_test name timeout labels)
    add_test(NAME ${name} COMMAND ${ARGN})
    math(EXPR timeout "${timeout} * ${slow}")
    if(name MATCHES "[-_](long|noasan)($|[.])")
        list(APPEND labels ${CMAKE_MATCH_1})
    endif()
    set_tests_properties(${name} PROPERTIES
        LABELS "${labels}"
        TIMEOUT ${timeout}
        SKIP_RETURN_CODE 77
        WORKING_DIRECTORY ${PROJECT_BINARY_DIR}
        ENVIRONMENT "BUILD=${PROJECT_BINARY_DIR};SOURCE=${PROJECT_SOURCE_DIR};TERM=xterm")
endfunction()

file(GLOB sources CONFIGURE_DEPENDS tests/unit/test_*.c)
foreach(source IN LISTS sources)
    cmake_path(GET source STEM stem)
    string(REGEX REPLACE "^test_" "" name ${stem})
    duplex_program(${stem} ${source})
    target_include_directories(${stem} SYSTEM PRIVATE ${CMOCKA_INCLUDE_DIR})
    target_link_libraries(${stem} PRIVATE ${CMOCKA_LIBRARY})
    duplex_test(unit.${name} 60 unit ${stem})
endforeach()
# Parts of the command.
target_sources(test_histogram PRIVATE ${PROJECT_SOURCE_DIR}/cli/bench/histogram.c)
target_include_directories(test_histogram PRIVATE ${PROJECT_SOURCE_DIR})
target_sources(test_log_limiter PRIVATE ${limiter_source})
target_sources(test_cli_wait PRIVATE ${PROJECT_SOURCE_DIR}/cli/wait.c)
target_include_directories(test_cli_wait PRIVATE ${PROJECT_SOURCE_DIR})

# The systems: their libraries are not part of duplex_static.
foreach(system hermes mcp reginald finecode autohand)
    file(GLOB sources CONFIGURE_DEPENDS tests/${system}/test_*.c)
    foreach(source IN LISTS sources)
        cmake_path(GET source STEM stem)
        string(REGEX REPLACE "^test_" "" name ${stem})
        duplex_program(${stem} ${source})
        target_include_directories(${stem} SYSTEM PRIVATE ${CMOCKA_INCLUDE_DIR})
        target_link_libraries(${stem} PRIVATE duplex_${system}_static ${CMOCKA_LIBRARY})
        duplex_test(${system}.${name} 300 "unit;${system}" ${stem})
    endforeach()
endforeach()
# The memory of an extension and of a plugin comes from malloc(), which these make fail.
foreach(name test_extension_memory test_plugin_memory)
    target_link_options(${name} PRIVATE
        LINKER:--wrap=malloc LINKER:--wrap=calloc LINKER:--wrap=realloc)
endforeach()

# MCP's client that is driven by lines, and its server whose tools are odd; the rows below run them.
foreach(name drive server)
    file(GLOB sources CONFIGURE_DEPENDS tests/mcp/${name}*.c)
    duplex_program(mcp_${name} ${sources})
    target_include_directories(mcp_${name} PRIVATE ${PROJECT_SOURCE_DIR})
    target_link_libraries(mcp_${name} PRIVATE duplex_mcp_static)
endforeach()

# FineCode's runner with the actions that the recorded traffic was made with; the rows run it.
file(GLOB sources CONFIGURE_DEPENDS tests/finecode/demo*.c)
duplex_program(finecode_demo ${sources})
target_link_libraries(finecode_demo PRIVATE duplex_finecode_static)

# A row of what is known about a real program is one "def row_NN" of a script; each is a test of its
# own, and those that wait for real limits are long. Some measure time and run alone.
set(timed_rows mcp.row.T16 mcp.row.T18 mcp.row.T20 mcp.row.S7 mcp.row.R6 mcp.row.R13 reginald.row.26
    finecode.row.35 finecode.row.44 finecode.row.H4 finecode.row.T1 autohand.row.34 autohand.row.35
    autohand.row.43 autohand.row.45 autohand.row.H3 autohand.row.H5)
foreach(system hermes mcp reginald finecode autohand)
    file(GLOB scripts CONFIGURE_DEPENDS tests/${system}/rows*.py)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${scripts})
    foreach(script IN LISTS scripts)
        file(READ ${script} text)
        string(REGEX MATCHALL "\ndef row_[A-Z]?[0-9]+[a-z]*(_long)?\\(" headings "${text}")
        foreach(heading IN LISTS headings)
            string(REGEX REPLACE "^\ndef row_([A-Z]?[0-9]+[a-z]*)(_long)?.*" "\\1" number "${heading}")
            if(heading MATCHES "_long")
                duplex_test(${system}.row-long.${number} 120 ${system} python3 ${script} ${PROJECT_BINARY_DIR} ${number}-long)
            else()
                duplex_test(${system}.row.${number} 60 ${system} python3 ${script} ${PROJECT_BINARY_DIR} ${number})
            endif()
        endforeach()
    endforeach()
endforeach()
set_tests_properties(${timed_rows} PROPERTIES PROCESSORS ${alone})

# An attack is one "def attack_NAME" of a script; each is a test of its own. They measure memory and
# time from outside, and a name that contains "alone" runs with nothing beside it.
file(GLOB scripts CONFIGURE_DEPENDS tests/attacks/attack_*.py)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${scripts})
foreach(script IN LISTS scripts)
    file(READ ${script} text)
    string(REGEX MATCHALL "\ndef attack_[a-z0-9_]+\\(" headings "${text}")
    foreach(heading IN LISTS headings)
        string(REGEX REPLACE "^\ndef attack_([a-z0-9_]+).*" "\\1" name "${heading}")
        duplex_test(attack.${name} 300 attacks python3 ${script} ${PROJECT_BINARY_DIR} ${name})
        if(name MATCHES "alone")
            set_tests_properties(attack.${name} PROPERTIES PROCESSORS ${alone})
        endif()
    endforeach()
endforeach()

# The public suite of JSON Schema; each draft is a test of its own.
file(GLOB sources CONFIGURE_DEPENDS tests/schema/*.c)
if(sources)
    duplex_program(schema_suite ${sources})
    foreach(draft draft7 draft2020-12)
        duplex_test(schema.suite.${draft} 120 schema schema_suite ${draft})
    endforeach()
endif()

# The public suite of TOML.
file(GLOB sources CONFIGURE_DEPENDS tests/toml/*.c)
if(sources)
    duplex_program(toml_suite ${sources})
    duplex_test(toml.suite 60 toml toml_suite)
endif()

# A transcript is one "## NAME: sentence" in a Markdown file; each is a test of its own.
file(GLOB documents CONFIGURE_DEPENDS tests/transcripts/*.md)
file(GLOB sources CONFIGURE_DEPENDS tests/transcripts/*.c)
if(sources)
    duplex_program(transcripts ${sources})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${documents})
    foreach(document IN LISTS documents)
        cmake_path(GET document STEM stem)
        # Not file(STRINGS): a lone bracket in a sentence would glue lines of the list together.
        file(READ ${document} text)
        string(REGEX MATCHALL "(^|\n)## [A-Za-z0-9._-]+:" headings "${text}")
        foreach(heading IN LISTS headings)
            string(REGEX REPLACE "^\n?## (.*):$" "\\1" name "${heading}")
            duplex_test(transcript.${name} 60 "unit;transcripts" transcripts ${document} ${name})
        endforeach()
        if(headings)
            duplex_test(torture.${stem} 600 torture transcripts --torture ${document})
        endif()
    endforeach()
endif()

# Protocols: each program looks at all the documents, or at all the files of its folder.
file(GLOB sources CONFIGURE_DEPENDS tests/protocol/*.c)
list(REMOVE_ITEM sources ${PROJECT_SOURCE_DIR}/tests/protocol/files.c)
foreach(source IN LISTS sources)
    cmake_path(GET source STEM name)
    duplex_program(protocol_${name} ${source} tests/protocol/files.c)
    # One is a tool of tests/interop; the others are tests.
    if(NOT name STREQUAL fits)
        duplex_test(protocol.${name} 60 "unit;protocol" protocol_${name})
    endif()
endforeach()

# Our MCP documents against the published schemas; each revision is a test of its own. The long ones
# leave no mutation out.
file(GLOB sources CONFIGURE_DEPENDS tests/mcp/equal/*.c)
if(sources)
    duplex_program(mcp_equal ${sources} tests/protocol/files.c)
    foreach(revision 2024-11-05 2025-03-26 2025-06-18 2025-11-25 2026-07-28)
        duplex_test(mcp.equal.${revision} 60 protocol mcp_equal ${revision})
        duplex_test(mcp.equal-long.${revision} 600 protocol mcp_equal --long ${revision})
    endforeach()
endif()

# A protocol that only the tests know. The library's own table of documents is left out of this
# program: it has one with that document in it.
duplex_program(sixth tests/sixth/sixth.c)
duplex_embed(sixth systems/* tests/sixth)
duplex_test(protocol.sixth 30 "unit;protocol" sixth ${PROJECT_SOURCE_DIR}/tests/sixth/sixth.md)

# duplex_wrap(NAME FUNCTION...): its system calls can be made to fail, see tests/faults/wrap.h; and
# other functions go through __wrap_FUNCTION, too.
function(duplex_wrap name)
    foreach(call read __read_chk readv recv __recv_chk write writev pwritev2 send sendmsg pipe2 epoll_create1 epoll_ctl epoll_wait
            eventfd fcntl dup2 kill clone waitid execve socket bind listen accept4 connect getsockopt chmod
            syscall ${ARGN})
        target_link_options(${name} PRIVATE LINKER:--wrap=${call})
    endforeach()
endfunction()

# Small misbehaving programs for the fault tests. They are no subject of the sanitizers: what they do
# wrong is their purpose, and they start ten times faster without.
file(GLOB sources CONFIGURE_DEPENDS tests/children/*.c)
foreach(source IN LISTS sources)
    cmake_path(GET source STEM name)
    add_executable(child_${name} ${source})
    list(APPEND child_programs child_${name})
    set_target_properties(child_${name} PROPERTIES
        OUTPUT_NAME ${name}
        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/children)
    target_compile_definitions(child_${name} PRIVATE _GNU_SOURCE)
    if(name MATCHES "^(host|plugin)$")
        target_link_libraries(child_${name} PRIVATE duplex_static)
    else()
        target_compile_options(child_${name} PRIVATE -fno-sanitize=all)
        target_link_options(child_${name} PRIVATE -fno-sanitize=all)
    endif()
endforeach()

target_sources(child_plugin PRIVATE tests/faults/wrap.c)
target_include_directories(child_plugin PRIVATE tests)
duplex_wrap(child_plugin)

# A fault is one FAULT(NAME, …) in a source file; each is a test of its own.
file(GLOB sources CONFIGURE_DEPENDS tests/faults/*.c)
if(sources)
    duplex_program(faults ${sources})
    add_dependencies(faults ${child_programs})
    duplex_wrap(faults dx_loop_new dx_loop_free)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${sources})
    foreach(source IN LISTS sources)
        file(READ ${source} text)
        string(REGEX MATCHALL "(^|\n)FAULT\\([A-Za-z0-9_]+," headings "${text}")
        foreach(heading IN LISTS headings)
            string(REGEX REPLACE "^\n?FAULT\\((.*),$" "\\1" name "${heading}")
            duplex_test(fault.${name} 60 faults faults ${name})
            if(name MATCHES "^many|^F86|^F68|^F75")
                # They measure time, keep both processors busy, or wait for an idle thread.
                set_tests_properties(fault.${name} PROPERTIES PROCESSORS ${alone})
            endif()
        endforeach()
    endforeach()
    # The same rows with failing system calls: a few of them, and all.
    foreach(call read write pipe2 epoll_ctl pidfd_open clone execve waitid)
        duplex_test(disturbed.${call} 60 faults faults --disturb ${call})
        duplex_test(disturbed_long.${call} 240 faults faults --disturb ${call} 75)
    endforeach()
endif()

# Everything going wrong at random for a while; the long one for longer.
file(GLOB sources CONFIGURE_DEPENDS tests/soak/*.c)
if(sources)
    duplex_program(soak ${sources})
    add_dependencies(soak example_echo)
    duplex_test(soak.short 120 soak soak 10)
    duplex_test(soak_long 240 soak soak 60)
    set_tests_properties(soak.short soak_long PROPERTIES PROCESSORS ${alone})
endif()

# Duplex in the loops of others. They are examples, but only the tests bring what they need.
find_package(PkgConfig REQUIRED)
pkg_check_modules(LIBUV REQUIRED IMPORTED_TARGET libuv)
pkg_check_modules(GLIB REQUIRED IMPORTED_TARGET glib-2.0)
foreach(name poll libuv glib)
    add_executable(embed_${name} examples/embed/${name}.c)
    set_target_properties(embed_${name} PROPERTIES
        OUTPUT_NAME ${name}
        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/examples/embed)
    target_link_libraries(embed_${name} PRIVATE duplex_shared)
    duplex_test(embed.${name} 30 embed embed_${name} header $<TARGET_FILE:example_echo> header)
    set_tests_properties(embed.${name} PROPERTIES PASS_REGULAR_EXPRESSION "3 answers, gone with 0")
endforeach()
target_link_libraries(embed_libuv PRIVATE PkgConfig::LIBUV)
target_link_libraries(embed_glib PRIVATE PkgConfig::GLIB)

file(GLOB sources CONFIGURE_DEPENDS tests/model/*.c)
foreach(source IN LISTS sources)
    cmake_path(GET source STEM name)
    duplex_program(model_${name} ${source})
    duplex_test(model.${name} 600 model model_${name})
endforeach()

# Checks look at the source and at what a plain build made of it.
file(GLOB scripts CONFIGURE_DEPENDS tools/check-*)
foreach(script IN LISTS scripts)
    cmake_path(GET script FILENAME name)
    string(REGEX REPLACE "^check-" "" name ${name})
    duplex_test(check.${name} 900 "check;lint;noasan" ${script})
    if(name STREQUAL "tidy")
        # It takes longest, so it goes first, beside tests that wait.
        set_tests_properties(check.tidy PROPERTIES PROCESSORS 2 COST 1000)
    endif()
endforeach()
file(GLOB scripts CONFIGURE_DEPENDS tests/check/check-*.sh)
foreach(script IN LISTS scripts)
    cmake_path(GET script STEM name)
    string(REGEX REPLACE "^check-" "" name ${name})
    duplex_test(check.${name} 3600 "check;${name};noasan" ${script})
    if(name MATCHES "^(cost|analyzer)")
        set_tests_properties(check.${name} PROPERTIES PROCESSORS ${alone})
    elseif(name STREQUAL "check")
        # It starts four programs at a time.
        set_tests_properties(check.check PROPERTIES PROCESSORS 2)
    endif()
endforeach()

file(GLOB scripts CONFIGURE_DEPENDS tests/interop/*.test.mjs)
foreach(script IN LISTS scripts)
    cmake_path(GET script FILENAME name)
    string(REGEX REPLACE "\\.test\\.mjs$" "" name ${name})
    set(labels interop)
    if(name MATCHES "browser")
        set(labels browser)
    endif()
    duplex_test(interop.${name} 300 "${labels}" ${PROJECT_SOURCE_DIR}/tests/interop/run ${script})
    if(name MATCHES "browser")
        # They measure time, and a browser takes its own.
        set_tests_properties(interop.${name} PROPERTIES PROCESSORS ${alone})
    elseif(name STREQUAL "check")
        # The longest of all, so it is not to begin last.
        set_tests_properties(interop.check PROPERTIES COST 900)
    endif()
endforeach()
