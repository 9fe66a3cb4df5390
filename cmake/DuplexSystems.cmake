# What a system needs beyond its document is a library of its own, so that only those who use it
# link what it needs: YAML for Hermes. It uses only what libduplex exports.
find_package(Yaml REQUIRED)

file(GLOB sources CONFIGURE_DEPENDS systems/hermes/*.c)
foreach(kind shared static)
    set(name duplex_hermes_${kind})
    string(TOUPPER ${kind} type)
    add_library(${name} ${type} ${sources})
    set_target_properties(${name} PROPERTIES
        OUTPUT_NAME duplex-hermes
        EXPORT_NAME duplex-hermes-${kind}
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
