# Finds yyjson and makes the target Yyjson::Yyjson. Also installed beside Duplex's CMake package,
# where Duplex_PREFIX names the prefix that may hold the copy of yyjson that came with Duplex.
# Yyjson_ROOT, CMake's usual word, points at a copy elsewhere.

find_path(Yyjson_INCLUDE_DIR yyjson.h HINTS "${Duplex_PREFIX}/include")
find_library(Yyjson_LIBRARY yyjson HINTS "${Duplex_LIBDIR}")
mark_as_advanced(Yyjson_INCLUDE_DIR Yyjson_LIBRARY)

set(Yyjson_VERSION 0)
if(Yyjson_INCLUDE_DIR)
    file(STRINGS "${Yyjson_INCLUDE_DIR}/yyjson.h" Yyjson_VERSION
        REGEX "define +YYJSON_VERSION_STRING")
    string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+" Yyjson_VERSION "${Yyjson_VERSION}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Yyjson
    REQUIRED_VARS Yyjson_LIBRARY Yyjson_INCLUDE_DIR
    VERSION_VAR Yyjson_VERSION
    REASON_FAILURE_MESSAGE "\"./dev build\" brings it, on Debian 13 it is the package libyyjson-dev")

if(Yyjson_FOUND AND NOT TARGET Yyjson::Yyjson)
    add_library(Yyjson::Yyjson UNKNOWN IMPORTED)
    set_target_properties(Yyjson::Yyjson PROPERTIES
        IMPORTED_LOCATION "${Yyjson_LIBRARY}"
        INTERFACE_INCLUDE_DIRECTORIES "${Yyjson_INCLUDE_DIR}")
endif()
