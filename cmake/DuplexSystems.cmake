# What a system needs beyond its document is a library of its own, so that only those who use it
# link what it needs: YAML for Hermes. It uses only what libduplex exports, and so can be shared, too.
find_package(Yaml REQUIRED)

file(GLOB sources CONFIGURE_DEPENDS systems/hermes/*.c)
add_library(duplex_hermes STATIC ${sources})
set_target_properties(duplex_hermes PROPERTIES
    OUTPUT_NAME duplex-hermes
    POSITION_INDEPENDENT_CODE ON)
target_compile_definitions(duplex_hermes PRIVATE _GNU_SOURCE)
target_include_directories(duplex_hermes
    PRIVATE src
    PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/systems/hermes/include>)
target_link_libraries(duplex_hermes PUBLIC duplex_static PRIVATE Yaml::Yaml)
