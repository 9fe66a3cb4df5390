# Finds the tests by where they lie, so that a new one needs no edit here. Labels are the words that
# `./dev test` takes; `noasan` keeps a test out of the sanitizer build, `long` out of the usual run:
# a file whose name ends in -long or _noasan (or the other way round) has that label.

find_path(CMOCKA_INCLUDE_DIR cmocka.h REQUIRED)
find_library(CMOCKA_LIBRARY cmocka REQUIRED)

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
    if(name MATCHES "[-_](long|noasan)$")
        list(APPEND labels ${CMAKE_MATCH_1})
    endif()
    set_tests_properties(${name} PROPERTIES
        LABELS "${labels}"
        TIMEOUT ${timeout}
        SKIP_RETURN_CODE 77
        WORKING_DIRECTORY ${PROJECT_BINARY_DIR}
        ENVIRONMENT "BUILD=${PROJECT_BINARY_DIR};SOURCE=${PROJECT_SOURCE_DIR}")
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
        # It keeps both processors busy for longest, so it goes first and alone.
        set_tests_properties(check.tidy PROPERTIES PROCESSORS 2 COST 1000)
    endif()
endforeach()
file(GLOB scripts CONFIGURE_DEPENDS tests/check/check-*.sh)
foreach(script IN LISTS scripts)
    cmake_path(GET script STEM name)
    string(REGEX REPLACE "^check-" "" name ${name})
    duplex_test(check.${name} 1800 "check;${name};noasan" ${script})
    if(name MATCHES "^cost")
        set_tests_properties(check.${name} PROPERTIES PROCESSORS 2)
    endif()
endforeach()

file(GLOB scripts CONFIGURE_DEPENDS tests/interop/*.test.mjs)
foreach(script IN LISTS scripts)
    cmake_path(GET script FILENAME name)
    string(REGEX REPLACE "\\.test\\.mjs$" "" name ${name})
    duplex_test(interop.${name} 120 interop ${PROJECT_SOURCE_DIR}/tests/interop/run ${script})
endforeach()
