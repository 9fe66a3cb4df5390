#include "toml/text.h"

#include "base/utf8.h"

const char *dx__toml_utf8(const char *at, const char *end) {
    while (at < end) {
        uint64_t word;
        while (end - at >= 8) {
            memcpy(&word, at, 8);
            if (word & UINT64_C(0x8080808080808080))
                break;
            at += 8;
        }
        while (at < end && (unsigned char)*at < 0x80)
            at++;
        while (at < end && (unsigned char)*at >= 0x80) {
            size_t len = dx__utf8(at, (size_t)(end - at));
            if (!len)
                return at;
            at += len;
        }
    }
    return end;
}
