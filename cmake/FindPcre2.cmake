# Finds PCRE2's library for bytes and makes the target Pcre2::Pcre2. Also installed beside Duplex's
# CMake package, for those who link the static library.

find_path(Pcre2_INCLUDE_DIR pcre2.h)
find_library(Pcre2_LIBRARY pcre2-8)
mark_as_advanced(Pcre2_INCLUDE_DIR Pcre2_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Pcre2
    REQUIRED_VARS Pcre2_LIBRARY Pcre2_INCLUDE_DIR
    REASON_FAILURE_MESSAGE "on Debian it is the package libpcre2-dev")

if(Pcre2_FOUND AND NOT TARGET Pcre2::Pcre2)
    add_library(Pcre2::Pcre2 UNKNOWN IMPORTED)
    set_target_properties(Pcre2::Pcre2 PROPERTIES
        IMPORTED_LOCATION "${Pcre2_LIBRARY}"
        INTERFACE_INCLUDE_DIRECTORIES "${Pcre2_INCLUDE_DIR}"
        INTERFACE_COMPILE_DEFINITIONS PCRE2_CODE_UNIT_WIDTH=8)
endif()
