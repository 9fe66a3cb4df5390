# What a system needs beyond its document is a library of its own, so that only those who use it
# link what it needs. It uses only what libduplex exports.

# duplex_system(NAME COMPONENT [LIBRARY...]): the libraries, and the examples that show how they are
# used.
function(duplex_system name component)
    file(GLOB sources CONFIGURE_DEPENDS systems/${name}/*.c)
    foreach(kind shared static)
        string(TOUPPER ${kind} type)
        set(library duplex_${name}_${kind})
        add_library(${library} ${type} ${sources})
        set_target_properties(${library} PROPERTIES
            OUTPUT_NAME duplex-${name}
            VERSION ${PROJECT_VERSION}
            SOVERSION ${PROJECT_VERSION_MAJOR}
            POSITION_INDEPENDENT_CODE ON
            C_VISIBILITY_PRESET hidden)
        target_compile_definitions(${library} PRIVATE _GNU_SOURCE)
        target_include_directories(${library}
            PRIVATE src
            PUBLIC
                $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
                $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/systems/${name}/include>
                $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
        target_link_libraries(${library} PUBLIC duplex_${kind} PRIVATE ${ARGN})
    endforeach()
    set_target_properties(duplex_${name}_shared PROPERTIES EXPORT_NAME ${component} INSTALL_RPATH "$ORIGIN")
    set_target_properties(duplex_${name}_static PROPERTIES EXPORT_NAME ${name}_static)

    file(GLOB sources CONFIGURE_DEPENDS systems/${name}/examples/*.c)
    foreach(source IN LISTS sources)
        cmake_path(GET source STEM example)
        add_executable(${name}_example_${example} ${source})
        set_target_properties(${name}_example_${example} PROPERTIES
            OUTPUT_NAME ${name}-${example}
            RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/examples)
        target_link_libraries(${name}_example_${example} PRIVATE duplex_${name}_shared)
    endforeach()
endfunction()

# duplex_system_command(NAME): the program that `duplex NAME` runs, so that duplex itself loads only
# what it needs; duplex has its table.
function(duplex_system_command name)
    file(GLOB sources CONFIGURE_DEPENDS systems/${name}/command/*.c systems/${name}/command/*/*.c)
    add_executable(duplex_${name}_cli ${sources} $<TARGET_OBJECTS:duplex_common>)
    set_target_properties(duplex_${name}_cli PROPERTIES
        OUTPUT_NAME duplex-${name}
        INSTALL_RPATH "$ORIGIN/${bin_to_lib}")
    target_include_directories(duplex_${name}_cli PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src)
    target_compile_definitions(duplex_${name}_cli PRIVATE _GNU_SOURCE)
    target_link_libraries(duplex_${name}_cli PRIVATE duplex_${name}_shared)
    target_sources(duplex_cli PRIVATE systems/${name}/command/verb.c)
endfunction()

# duplex_system_install(NAME COMPONENT)
function(duplex_system_install name component)
    install(TARGETS duplex_${name}_shared duplex_${name}_static EXPORT Duplex${component}Targets)
    install(TARGETS duplex_${name}_cli)
    install(DIRECTORY systems/${name}/include/duplex TYPE INCLUDE FILES_MATCHING PATTERN "*.h")
    install(EXPORT Duplex${component}Targets NAMESPACE Duplex:: DESTINATION ${package_dir})
endfunction()

find_package(Yaml REQUIRED)
duplex_system(hermes Hermes Yaml::Yaml)
duplex_system(mcp Mcp)
duplex_system(reginald Reginald)
duplex_system(finecode Finecode)
find_package(CURL REQUIRED)
duplex_system(autohand Autohand CURL::libcurl)
configure_file(examples/peers.json ${PROJECT_BINARY_DIR}/examples/peers.json COPYONLY)
configure_file(examples/hermes/adt.hl7 ${PROJECT_BINARY_DIR}/examples/adt.hl7 COPYONLY)
configure_file(examples/reginald/workstation.toml
               ${PROJECT_BINARY_DIR}/examples/workstation.toml COPYONLY)
configure_file(examples/mcp/tools.json ${PROJECT_BINARY_DIR}/examples/tools.json COPYONLY)
file(GLOB_RECURSE files CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} examples/finecode/*
     examples/finecode-demo/*)
foreach(file IN LISTS files)
    configure_file(${file} ${PROJECT_BINARY_DIR}/${file} COPYONLY)
endforeach()
