# What a system needs beyond its document is a library of its own, so that only those who use it
# link what it needs: YAML for Hermes. It uses only what libduplex exports.
find_package(Yaml REQUIRED)

file(GLOB sources CONFIGURE_DEPENDS systems/hermes/*.c)
add_library(duplex_hermes_shared SHARED ${sources})
add_library(duplex_hermes_static STATIC ${sources})
set_target_properties(duplex_hermes_shared PROPERTIES
    EXPORT_NAME Hermes
    INSTALL_RPATH "$ORIGIN")
set_target_properties(duplex_hermes_static PROPERTIES EXPORT_NAME hermes_static)
foreach(kind shared static)
    set(name duplex_hermes_${kind})
    set_target_properties(${name} PROPERTIES
        OUTPUT_NAME duplex-hermes
        VERSION ${PROJECT_VERSION}
        SOVERSION ${PROJECT_VERSION_MAJOR}
        POSITION_INDEPENDENT_CODE ON
        C_VISIBILITY_PRESET hidden)
    target_compile_definitions(${name} PRIVATE _GNU_SOURCE)
    target_include_directories(${name}
        PRIVATE src
        PUBLIC
            $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
            $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/systems/hermes/include>
            $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    target_link_libraries(${name} PUBLIC duplex_${kind} PRIVATE Yaml::Yaml)
endforeach()

# Extensions that show how one is written.
file(GLOB sources CONFIGURE_DEPENDS systems/hermes/examples/*.c)
foreach(source IN LISTS sources)
    cmake_path(GET source STEM name)
    add_executable(hermes_example_${name} ${source})
    set_target_properties(hermes_example_${name} PROPERTIES
        OUTPUT_NAME hermes-${name}
        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/examples)
    target_link_libraries(hermes_example_${name} PRIVATE duplex_hermes_shared)
endforeach()
configure_file(examples/hermes/adt.hl7 ${PROJECT_BINARY_DIR}/examples/adt.hl7 COPYONLY)
