# What `cmake --install build --prefix DIR` puts into DIR. Everything in it is relocatable: DIR may
# be moved, and nothing points back into the build folder.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Duplex)
set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH pc_to_prefix "/${pkgconfig_dir}" "/")
string(REGEX REPLACE "/$" "" pc_to_prefix "${pc_to_prefix}")

file(RELATIVE_PATH libexec_to_lib "/${CMAKE_INSTALL_LIBEXECDIR}/duplex" "/${CMAKE_INSTALL_LIBDIR}")

# Debugging information is three quarters of what the build makes. Rules run in the order in which
# they are listed, so this one precedes the programs and libraries.
if(DUPLEX_INSTALL_STRIP)
    install(CODE "set(CMAKE_INSTALL_DO_STRIP TRUE)")
endif()
install(TARGETS duplex_shared duplex_static EXPORT DuplexTargets)
install(TARGETS duplex_cli duplex_repl_cli)
# What `duplex demo` and the tutorials talk to; `pkg-config --variable=examples duplex` says where.
foreach(example example_echo example_lsp-outline example_poll hermes_example_normalise
        hermes_example_window mcp_example_adder mcp_example_conformance reginald_example_sleep
        reginald_example_symlink)
    set_target_properties(${example} PROPERTIES INSTALL_RPATH "$ORIGIN/${libexec_to_lib}")
    install(TARGETS ${example} DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/duplex)
endforeach()
install(FILES examples/hermes/adt.hl7 examples/peers.json examples/reginald/workstation.toml
        examples/mcp/tools.json
        DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/duplex)
install(DIRECTORY examples/finecode examples/finecode-demo
        DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/duplex)
install(DIRECTORY include/duplex TYPE INCLUDE FILES_MATCHING PATTERN "*.h")

# The systems, each with a library, a program and headers of its own.
duplex_system_install(hermes Hermes)
duplex_system_install(mcp Mcp)
duplex_system_install(reginald Reginald)
duplex_system_install(finecode Finecode)
duplex_system_install(autohand Autohand)

foreach(name duplex duplex-hermes duplex-mcp duplex-reginald duplex-finecode duplex-autohand)
    configure_file(cmake/${name}.pc.in ${name}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${pkgconfig_dir})
endforeach()

configure_package_config_file(cmake/DuplexConfig.cmake.in DuplexConfig.cmake
    INSTALL_DESTINATION ${package_dir}
    PATH_VARS CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(DuplexConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(EXPORT DuplexTargets NAMESPACE Duplex:: DESTINATION ${package_dir})
install(FILES
    ${PROJECT_BINARY_DIR}/DuplexConfig.cmake
    ${PROJECT_BINARY_DIR}/DuplexConfigVersion.cmake
    cmake/FindYyjson.cmake
    cmake/FindPcre2.cmake
    cmake/FindYaml.cmake
    DESTINATION ${package_dir})

# CMake itself strips programs and shared libraries only.
if(DUPLEX_INSTALL_STRIP)
    install(CODE "
        file(GLOB archives \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/libduplex*.a\")
        execute_process(COMMAND \"${CMAKE_STRIP}\" --strip-debug \${archives} COMMAND_ERROR_IS_FATAL ANY)")
endif()

if(NOT DUPLEX_FUZZ)
    include(DuplexManual)
endif()

# If the system has no yyjson, the copy that the build used is installed, too, so that the prefix is
# complete.
if(DEFINED Yyjson_ROOT)
    cmake_path(IS_PREFIX Yyjson_ROOT "${Yyjson_LIBRARY}" NORMALIZE yyjson_is_private)
endif()
if(yyjson_is_private)
    set_target_properties(duplex_shared PROPERTIES INSTALL_RPATH "$ORIGIN")
    cmake_path(GET Yyjson_LIBRARY PARENT_PATH yyjson_libdir)
    file(GLOB yyjson_files "${yyjson_libdir}/libyyjson.so*")
    install(FILES ${yyjson_files} TYPE LIB)
    install(FILES "${Yyjson_INCLUDE_DIR}/yyjson.h" TYPE INCLUDE)
    configure_file(cmake/yyjson.pc.in yyjson.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/yyjson.pc DESTINATION ${pkgconfig_dir})
endif()
