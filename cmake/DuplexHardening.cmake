# The threat is a hostile plugin, so a bug in what reads its bytes must be hard to use: everything is
# compiled and linked with what the compiler offers against that, and tools/check-hardening reads the
# built files. Flags of the environment (such as Debian's) may say the same again, or something weaker.
include(CheckCCompilerFlag)
include(CheckCSourceCompiles)
include(CheckPIESupported)

check_pie_supported(LANGUAGES C)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

foreach(flag -fstack-protector-strong -fstack-clash-protection -fcf-protection)
    string(MAKE_C_IDENTIFIER "HAS${flag}" has)
    check_c_compiler_flag(${flag} ${has}) # the last one exists on x86 only
    if(${has})
        add_compile_options(${flag})
    endif()
endforeach()
add_link_options(LINKER:-z,relro LINKER:-z,now LINKER:-z,noexecstack)

# The C library warns if it does not know level 3 with this compiler, or if nothing is optimised. The
# sanitizers check more than this, and see less of a fortified call.
if(NOT DUPLEX_SANITIZE AND NOT DUPLEX_FUZZ)
    set(CMAKE_REQUIRED_FLAGS "-O2 -Werror -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3")
    check_c_source_compiles("#include <string.h>\nint main(void) { return 0; }" HAS_FORTIFY_3)
    unset(CMAKE_REQUIRED_FLAGS)
    set(level 2)
    if(HAS_FORTIFY_3)
        set(level 3)
    endif()
    add_compile_options($<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE>
        $<$<NOT:$<CONFIG:Debug>>:-D_FORTIFY_SOURCE=${level}>)
endif()
