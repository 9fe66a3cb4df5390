/* Dates and times are strings with a mark in the bits of the tag that yyjson reserves. */
#ifndef DX_TOML_TIME_H
#define DX_TOML_TIME_H

#include <duplex/toml.h>

enum { DX__TOML_KIND_SHIFT = 5 };

/* What stands at the beginning of the text, and how long it is; DX_TOML_OTHER and, for people, why
 * not: *ret_why is left alone if it does not even look like one. */
dx_toml_kind dx__toml_time_scan(dx_text text, size_t *ret_len, const char **ret_why);

static inline dx_toml_kind dx__toml_kind_in(uint64_t tag) {
    return (tag & YYJSON_TYPE_MASK) == YYJSON_TYPE_STR
               ? (dx_toml_kind)((tag & YYJSON_RESERVED_MASK) >> DX__TOML_KIND_SHIFT)
               : DX_TOML_OTHER;
}

#endif
