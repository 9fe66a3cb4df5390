# Finds libedit and makes the target Edit::Edit.

find_path(Edit_INCLUDE_DIR histedit.h)
find_library(Edit_LIBRARY edit)
mark_as_advanced(Edit_INCLUDE_DIR Edit_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Edit
    REQUIRED_VARS Edit_LIBRARY Edit_INCLUDE_DIR
    REASON_FAILURE_MESSAGE "on Debian it is the package libedit-dev")

if(Edit_FOUND AND NOT TARGET Edit::Edit)
    add_library(Edit::Edit UNKNOWN IMPORTED)
    set_target_properties(Edit::Edit PROPERTIES
        IMPORTED_LOCATION "${Edit_LIBRARY}"
        INTERFACE_INCLUDE_DIRECTORIES "${Edit_INCLUDE_DIR}")
endif()
