/* How important a line of the standard error is. */
#include "systems/hermes/hermes_parts.h"

#include <string.h>

static const struct prefix {
    const char *upper;
    const char *lower;
    dx_hermes_level level;
} prefixes[] = {
    {"[ERROR]", "[error]", DX_HERMES_ERROR},    {"[WARN]", "[warn]", DX_HERMES_WARN},
    {"[WARNING]", "[warning]", DX_HERMES_WARN}, {"[INFO]", "[info]", DX_HERMES_INFO},
    {"ERROR:", "error:", DX_HERMES_ERROR},      {"WARN:", "warn:", DX_HERMES_WARN},
    {"WARNING:", "warning:", DX_HERMES_WARN},   {"INFO:", "info:", DX_HERMES_INFO},
};

static bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

dx_hermes_level hermes_log_level(dx_text line, dx_text *ret_text) {
    dx_hermes_level level = DX_HERMES_INFO;
    dx_text rest = line;
    while (rest.len && is_blank(rest.at[0])) {
        rest.at++;
        rest.len--;
    }
    *ret_text = line;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        const struct prefix *prefix = &prefixes[i];
        size_t len = strlen(prefix->upper);
        if (rest.len < len ||
            (memcmp(rest.at, prefix->upper, len) != 0 && memcmp(rest.at, prefix->lower, len) != 0))
            continue;
        level = prefix->level;
        *ret_text = (dx_text){rest.at + len, rest.len - len};
        while (ret_text->len && is_blank(ret_text->at[0])) {
            ret_text->at++;
            ret_text->len--;
        }
        break;
    }
    return level;
}
