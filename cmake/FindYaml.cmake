# Finds libyaml and makes the target Yaml::Yaml.

find_path(Yaml_INCLUDE_DIR yaml.h)
find_library(Yaml_LIBRARY yaml)
mark_as_advanced(Yaml_INCLUDE_DIR Yaml_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Yaml
    REQUIRED_VARS Yaml_LIBRARY Yaml_INCLUDE_DIR
    REASON_FAILURE_MESSAGE "on Debian it is the package libyaml-dev")

if(Yaml_FOUND AND NOT TARGET Yaml::Yaml)
    add_library(Yaml::Yaml UNKNOWN IMPORTED)
    set_target_properties(Yaml::Yaml PROPERTIES
        IMPORTED_LOCATION "${Yaml_LIBRARY}"
        INTERFACE_INCLUDE_DIRECTORIES "${Yaml_INCLUDE_DIR}")
endif()
