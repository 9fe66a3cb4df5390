#include "frame/noise.h"

#include <string.h>

bool dx__claims_message(dx_text text) {
    static const char member[] = "\"jsonrpc\"";
    const size_t len = sizeof member - 1;
    for (const char *at = text.at, *end = text.at + text.len; (size_t)(end - at) >= len; at++) {
        at = memchr(at, '"', (size_t)(end - at) - len + 1);
        if (!at)
            return false;
        if (memcmp(at, member, len) == 0)
            return true;
    }
    return false;
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

bool dx__is_noise(dx_text line) {
    if (line.len >= 3 && memcmp(line.at, "\xef\xbb\xbf", 3) == 0)
        line = (dx_text){line.at + 3, line.len - 3};
    while (line.len && is_blank(line.at[line.len - 1]))
        line.len--;
    while (line.len && is_blank(line.at[0]))
        line = (dx_text){line.at + 1, line.len - 1};
    if (!line.len)
        return false;
    if (line.at[0] != '{' && line.at[0] != '[')
        return true;
    return !memchr("{[,", line.at[line.len - 1], 3) && !dx__claims_message(line);
}
