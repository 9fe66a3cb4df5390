/* JSON that no tree holds as it stands: half a character, a number beyond a double. */
#include "rpc/mend.h"

#include "base/alloc.h"

#include <string.h>

enum { NO_HALF, HIGH, LOW };

static bool is_hex(char c) {
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

/* Which half of a pair is escaped at the backslash `at`? */
static int half_at(const char *at, const char *end) {
    if (end - at < 6 || at[0] != '\\' || at[1] != 'u' || (at[2] | 0x20) != 'd' || at[3] < '8' ||
        !is_hex(at[3]) || !is_hex(at[4]) || !is_hex(at[5]))
        return NO_HALF;
    return (at[3] | 0x20) >= 'c' ? LOW : HIGH;
}

size_t dx_json_mend(char *text, size_t len) {
    const char *end = text + len;
    size_t count = 0;
    for (char *at = text; at < end && (at = memchr(at, '\\', (size_t)(end - at)));) {
        int half = half_at(at, end);
        bool is_pair = half == HIGH && half_at(at + 6, end) == LOW;
        if (half && !is_pair) {
            memcpy(at + 2, "fffd", 4);
            count++;
        }
        at += is_pair ? 12 : half ? 6 : 2;
    }
    return count;
}

/* Numbers stay text only where they must. */
static bool read_numbers(yyjson_doc *doc, const yyjson_alc *alc) {
    bool is_mended = false;
    yyjson_val *value = yyjson_doc_get_root(doc);
    for (size_t left = yyjson_doc_get_val_count(doc); left; left--, value++) {
        yyjson_val number;
        if (!yyjson_is_raw(value))
            continue;
        if (yyjson_read_number(yyjson_get_raw(value), &number, YYJSON_READ_NOFLAG, alc, NULL))
            *value = number;
        else
            is_mended = true;
    }
    return is_mended;
}

yyjson_doc *dx__json_read_mended(dx_text text, const yyjson_alc *alc, yyjson_read_err *ret_error,
                                 unsigned *ret_mended) {
    char *copy = alc->malloc(alc->ctx, text.len);
    if (!copy) {
        ret_error->code = YYJSON_READ_ERROR_MEMORY_ALLOCATION;
        return NULL;
    }
    memcpy(copy, text.at, text.len);
    *ret_mended = dx_json_mend(copy, text.len) ? DX_MENDED_STRING : 0;
    yyjson_doc *doc = yyjson_read_opts(copy, text.len, YYJSON_READ_BIGNUM_AS_RAW, alc, ret_error);
    alc->free(alc->ctx, copy);
    if (doc && read_numbers(doc, alc))
        *ret_mended |= DX_MENDED_NUMBER;
    return doc;
}

dx_status dx_json_read(dx_text text, const dx_allocator *allocator, yyjson_doc **ret_doc,
                       unsigned *ret_mended) {
    dx_allocator own = dx__allocator(allocator);
    yyjson_alc alc = {own.malloc, own.realloc, own.free, own.ctx};
    yyjson_read_err error = {0};
    *ret_mended = 0;
    *ret_doc =
        yyjson_read_opts((char *)(uintptr_t)text.at, text.len, YYJSON_READ_NOFLAG, &alc, &error);
    if (!*ret_doc && error.code != YYJSON_READ_ERROR_MEMORY_ALLOCATION)
        *ret_doc = dx__json_read_mended(text, &alc, &error, ret_mended);
    if (*ret_doc)
        return DX_OK;
    return error.code == YYJSON_READ_ERROR_MEMORY_ALLOCATION ? DX_ERR_NOMEM : DX_ERR_INVALID;
}
