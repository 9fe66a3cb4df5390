/* Trees of plain strings, integers and words, which most are, straight into the buffer. */
#include "base/buf.h"
#include "base/line.h"
#include "rpc/json.h"
#include "rpc/write.h"

#include <stdbool.h>

/* How deep it goes; and what an item takes besides its text: quotes, digits, what stands between it
 * and the next, and the ends of all levels. */
enum { LEVELS = 16, AROUND = 64 };

/* Makes room behind `to` for an item of this length; then `to` may lie elsewhere. NULL: no memory.
 */
static char *make_room(dx_buf *buf, char *to, size_t len, dx_status *ret_status) {
    size_t start = buf->len;
    buf->len = (size_t)(to - buf->data); /* what is written is content while the buffer moves */
    *ret_status = dx_buf_reserve(buf, len + AROUND);
    to = buf->data + buf->len;
    buf->len = start;
    return *ret_status == DX_OK ? to : NULL;
}

static inline char *put_string(char *to, const char *at, size_t len) {
    *to++ = '"';
    to = dx__copy(to, at, len);
    *to++ = '"';
    return to;
}

static inline char *put_integer(char *to, yyjson_val *val) {
    uint64_t number = unsafe_yyjson_get_uint(val);
    if (unsafe_yyjson_get_subtype(val) == YYJSON_SUBTYPE_SINT && (int64_t)number < 0) {
        *to++ = '-';
        number = 0 - number;
    }
    return to + dx__digits(number, to);
}

/* Anything but a string or a container that holds something; NULL if it is not plain. */
static char *put_other(char *to, yyjson_val *val) {
    switch (unsafe_yyjson_get_type(val)) {
    case YYJSON_TYPE_NUM:
        return unsafe_yyjson_get_subtype(val) == YYJSON_SUBTYPE_REAL ? NULL : put_integer(to, val);
    case YYJSON_TYPE_NULL:
        return dx__copy(to, "null", 4);
    case YYJSON_TYPE_BOOL:
        return unsafe_yyjson_get_bool(val) ? dx__copy(to, "true", 4) : dx__copy(to, "false", 5);
    case YYJSON_TYPE_OBJ:
        return dx__copy(to, "{}", 2);
    case YYJSON_TYPE_ARR:
        return dx__copy(to, "[]", 2);
    default:
        return NULL;
    }
}

/* The values of a tree lie in memory in the order of its text. `left` are the items that are still
 * to come in the container at hand, a name and its value being two, times two, and one more if it
 * is an object. */
dx_status dx__json_put_plain(dx_buf *buf, yyjson_val *val) {
    dx_status status = dx__buf_room(buf, AROUND);
    size_t outer[LEVELS];
    size_t left = 2;
    unsigned level = 0;
    if (status != DX_OK)
        return status;
    char *to = buf->data + buf->len;
    char *limit =
        buf->data + buf->cap - AROUND; /* where an item may begin, but for a string's text */
    for (;; val++) {
        size_t len = unsafe_yyjson_get_len(val);
        yyjson_type type = unsafe_yyjson_get_type(val);
        size_t text = type == YYJSON_TYPE_STR ? len : 0;
        if (to > limit || text > (size_t)(limit - to)) {
            if (!(to = make_room(buf, to, text, &status)))
                return status;
            limit = buf->data + buf->cap - AROUND;
        }
        if (type == YYJSON_TYPE_STR) {
            const char *at = unsafe_yyjson_get_str(val);
            if (unsafe_yyjson_get_subtype(val) != YYJSON_SUBTYPE_NOESC &&
                !dx__json_is_plain(at, len))
                return DX_AGAIN;
            to = put_string(to, at, len);
        } else if (len && type >= YYJSON_TYPE_ARR) {
            if (level == LEVELS)
                return DX_AGAIN;
            *to++ = type == YYJSON_TYPE_OBJ ? '{' : '[';
            outer[level++] = left;
            left = type == YYJSON_TYPE_OBJ ? len * 4 + 1 : len * 2;
            continue;
        } else if (!(to = put_other(to, val))) {
            return DX_AGAIN;
        }
        while ((left -= 2) < 2) {
            if (!level) {
                buf->len = (size_t)(to - buf->data);
                return DX_OK;
            }
            *to++ = left ? '}' : ']';
            left = outer[--level];
        }
        *to++ = ",,,:"[left % 4];
    }
}
