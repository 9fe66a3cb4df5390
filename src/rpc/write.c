/* Writing messages, straight into the buffer they are sent from. */
#include "rpc/write.h"
#include "base/buf.h"
#include "rpc/json.h"

#include <string.h>

dx_json dx_json_none(void) {
    return (dx_json){DX__NONE, NULL, 0};
}

dx_json dx_json_value(const yyjson_val *value) {
    return (dx_json){value ? DX__VALUE : DX__NONE, value, 0};
}

dx_json dx_json_built(const yyjson_mut_val *value) {
    return (dx_json){value ? DX__BUILT : DX__NONE, value, 0};
}

dx_json dx_json_text(const char *text, size_t len) {
    return (dx_json){text ? DX__TEXT : DX__NONE, text, len};
}

dx_json dx_json_checked(dx_text text) {
    return (dx_json){text.at ? DX__CHECKED : DX__NONE, text.at, text.len};
}

dx_json dx__json_as_it_came(dx_json value, const yyjson_val *tree, dx_text text) {
    return value.form == DX__VALUE && value.at == tree ? dx_json_checked(text) : value;
}

int dx__json_is_params_other(dx_json value) {
    switch ((enum dx__form)value.form) {
    case DX__NONE:
    case DX__NULL:
        return 1;
    case DX__VALUE:
        break; /* see dx__json_is_params() */
    case DX__BUILT:
        return yyjson_mut_is_ctn((yyjson_mut_val *)(uintptr_t)value.at);
    case DX__TEXT:
    case DX__CHECKED:
        for (const char *at = value.at, *end = at + value.len; at < end; at++) {
            if (*at == '{' || *at == '[')
                return 1;
            if (*at != ' ' && *at != '\t' && *at != '\r' && *at != '\n')
                return 0;
        }
        return 0;
    }
    return 0;
}

/*
 * yyjson writes into memory of an allocator. Ours hands out the free end of the buffer, so that
 * the text is where it belongs, but for a few bytes of alignment. The writer allocates one block,
 * lets it grow, and gives it back on failure.
 */
struct tail {
    dx_buf *buf;
    dx_status status;
};

enum { ALIGNMENT = 16 };

static char *tail_at(const dx_buf *buf) {
    size_t over = (uintptr_t)(buf->data + buf->len) % ALIGNMENT;
    return buf->data + buf->len + (over ? ALIGNMENT - over : 0);
}

static void *tail_malloc(void *ctx, size_t size) {
    struct tail *tail = ctx;
    tail->status = dx_buf_reserve(tail->buf, size + ALIGNMENT);
    return tail->status == DX_OK ? tail_at(tail->buf) : NULL;
}

static void *tail_realloc(void *ctx, void *ptr, size_t old_size, size_t size) {
    struct tail *tail = ctx;
    dx_buf *buf = tail->buf;
    if (size <= old_size)
        return ptr;
    size_t used = (size_t)((char *)ptr - buf->data) + old_size - buf->len;
    size_t shift = (size_t)((char *)ptr - (buf->data + buf->len));
    buf->len += used; /* the block is content while the buffer moves */
    tail->status = dx_buf_reserve(buf, size - old_size + ALIGNMENT);
    buf->len -= used;
    if (tail->status != DX_OK)
        return NULL;
    char *block = tail_at(buf);
    memmove(block, buf->data + buf->len + shift, old_size);
    return block;
}

static void tail_free(void *ctx, void *ptr) {
    (void)ctx;
    (void)ptr;
}

static dx_status write_tree(dx_buf *buf, dx_json value) {
    dx_status status = value.form == DX__VALUE
                           ? dx__json_put_plain(buf, (yyjson_val *)(uintptr_t)value.at)
                           : DX_AGAIN;
    if (status != DX_AGAIN)
        return status;
    struct tail tail = {.buf = buf, .status = DX_OK};
    yyjson_alc alc = {tail_malloc, tail_realloc, tail_free, &tail};
    size_t len = 0;
    const char *text =
        value.form == DX__VALUE
            ? yyjson_val_write_opts(value.at, YYJSON_WRITE_NOFLAG, &alc, &len, NULL)
            : yyjson_mut_val_write_opts(value.at, YYJSON_WRITE_NOFLAG, &alc, &len, NULL);
    if (!text)
        return tail.status != DX_OK ? tail.status : DX_ERR_INVALID;
    memmove(buf->data + buf->len, text, len);
    buf->len += len;
    return DX_OK;
}

dx_status dx_json_write(dx_buf *buf, dx_json value) {
    switch ((enum dx__form)value.form) {
    case DX__NONE:
        return DX_OK;
    case DX__VALUE:
    case DX__BUILT:
        return write_tree(buf, value);
    case DX__TEXT:
        if (dx_json_check((dx_text){value.at, value.len}, DX_DEPTH_MAX, NULL) != DX_FAULT_NONE)
            return DX_ERR_INVALID;
        return dx_buf_append(buf, value.at, value.len);
    case DX__CHECKED:
        return dx_buf_append(buf, value.at, value.len);
    case DX__NULL:
        return dx_buf_append(buf, "null", 4);
    }
    return DX_ERR_INVALID;
}

/* A message under way: the first failure sticks, and the end undoes everything if there was one. */
struct writer {
    dx_buf *buf;
    size_t start;
    dx_status status;
};

static inline void raw(struct writer *writer, const char *text, size_t len) {
    if (writer->status == DX_OK)
        writer->status = dx__buf_put(writer->buf, text, len);
}

#define RAW(writer, literal) raw(writer, literal, sizeof(literal) - 1)

static void json(struct writer *writer, dx_json value) {
    if (writer->status == DX_OK)
        writer->status = dx_json_write(writer->buf, value);
}

static void string(struct writer *writer, dx_text text) {
    if (writer->status == DX_OK)
        writer->status = dx_json_write_string(writer->buf, text);
}

static void integer(struct writer *writer, int64_t number) {
    char text[21];
    size_t at = sizeof text;
    uint64_t left = number < 0 ? -(uint64_t)number : (uint64_t)number;
    do
        text[--at] = (char)('0' + left % 10);
    while (left /= 10);
    if (number < 0)
        text[--at] = '-';
    raw(writer, text + at, sizeof text - at);
}

static struct writer begin(dx_buf *buf) {
    struct writer writer = {buf, buf->len, DX_OK};
    RAW(&writer, "{\"jsonrpc\":\"2.0\"");
    return writer;
}

static inline dx_status end(struct writer *writer) {
    RAW(writer, "}");
    if (writer->status != DX_OK)
        writer->buf->len = writer->start;
    return writer->status;
}

#define PUT(to, literal) (memcpy(to, literal, sizeof(literal) - 1), (to) + sizeof(literal) - 1)

/* What requests and results begin with; the room is made in one go, with some for a method. Returns
 * where it goes on, or NULL if one of them is long. */
static inline char *begin_short(dx_buf *buf, dx_text id, size_t method_len) {
    enum { MOST = 32, ALL = 4 * MOST };
    if (id.len > MOST || method_len > MOST || dx__buf_room(buf, ALL) != DX_OK)
        return NULL;
    char *to = PUT(buf->data + buf->len, "{\"jsonrpc\":\"2.0\",\"id\":");
    return dx__copy(to, id.at, id.len);
}

static void id_member(struct writer *writer, dx_text id) {
    RAW(writer, ",\"id\":");
    if (id.at)
        raw(writer, id.at, id.len);
    else
        RAW(writer, "null");
}

static void method_members(struct writer *writer, dx_text method, dx_json params) {
    RAW(writer, ",\"method\":");
    string(writer, method);
    if (params.form == DX__NONE)
        return;
    if (!dx__json_is_params(params))
        writer->status = DX_ERR_INVALID;
    RAW(writer, ",\"params\":");
    json(writer, params);
}

static inline int is_plain(dx_text text) {
    return text.len && dx__json_is_plain(text.at, text.len);
}

/* Is it the text of an id, and nothing else? */
static int is_id(dx_text id) {
    if (!id.at || !id.len || dx_json_check(id, 1, NULL) != DX_FAULT_NONE)
        return 0;
    char last = id.at[id.len - 1];
    if (id.at[0] == '"')
        return last == '"';
    return (id.at[0] == '-' || (id.at[0] >= '0' && id.at[0] <= '9')) && last >= '0' && last <= '9';
}

/* The usual request, with as few steps as possible; false: it is none. */
static inline int put_usual(struct writer *writer, dx_text id, dx_text method, dx_json params) {
    dx_buf *buf = writer->buf;
    if (params.form == DX__NONE || !is_plain(method) || !dx__json_is_params(params))
        return 0;
    char *to = begin_short(buf, id, method.len);
    if (!to)
        return 0;
    to = PUT(to, ",\"method\":\"");
    to = dx__copy(to, method.at, method.len);
    to = PUT(to, "\",\"params\":");
    buf->len = (size_t)(to - buf->data);
    json(writer, params);
    return 1;
}

dx_status dx__rpc_put_request(dx_buf *buf, dx_text id, dx_text method, dx_json params) {
    struct writer writer = {buf, buf->len, DX_OK};
    if (!put_usual(&writer, id, method, params)) {
        writer = begin(buf);
        id_member(&writer, id);
        method_members(&writer, method, params);
    }
    return end(&writer);
}

dx_status dx_rpc_write_notification(dx_buf *buf, dx_text method, dx_json params) {
    struct writer writer = begin(buf);
    method_members(&writer, method, params);
    return end(&writer);
}

dx_status dx__rpc_put_result(dx_buf *buf, dx_text id, dx_json result) {
    struct writer writer = {buf, buf->len, DX_OK};
    char *to = id.at ? begin_short(buf, id, 0) : NULL;
    if (to) {
        buf->len = (size_t)(to - buf->data);
    } else {
        writer = begin(buf);
        id_member(&writer, id);
    }
    RAW(&writer, ",\"result\":");
    if (result.form == DX__NONE)
        RAW(&writer, "null");
    else
        json(&writer, result);
    return end(&writer);
}

static const char *words_of(int64_t code) {
    switch (code) {
    case DX_CODE_PARSE:
        return "Parse error";
    case DX_CODE_REQUEST:
        return "Invalid Request";
    case DX_CODE_METHOD:
        return "Method not found";
    case DX_CODE_PARAMS:
        return "Invalid params";
    case DX_CODE_INTERNAL:
        return "Internal error";
    case DX_CODE_BUSY:
        return "Server busy";
    default:
        return "Error";
    }
}

dx_status dx__rpc_put_error(dx_buf *buf, dx_text id, int64_t code, dx_text message, dx_json data) {
    struct writer writer = begin(buf);
    if (!id.at || id.len)
        id_member(&writer, id);
    RAW(&writer, ",\"error\":{\"code\":");
    integer(&writer, code);
    RAW(&writer, ",\"message\":");
    string(&writer, message.at ? message : dx_str(words_of(code)));
    if (data.form != DX__NONE) {
        RAW(&writer, ",\"data\":");
        json(&writer, data);
    }
    RAW(&writer, "}");
    return end(&writer);
}

dx_status dx_rpc_write_request(dx_buf *buf, dx_text id, dx_text method, dx_json params) {
    return is_id(id) ? dx__rpc_put_request(buf, id, method, params) : DX_ERR_INVALID;
}

dx_status dx_rpc_write_result(dx_buf *buf, dx_text id, dx_json result) {
    return !id.at || is_id(id) ? dx__rpc_put_result(buf, id, result) : DX_ERR_INVALID;
}

dx_status dx_rpc_write_error(dx_buf *buf, dx_text id, int64_t code, dx_text message, dx_json data) {
    return !id.at || is_id(id) ? dx__rpc_put_error(buf, id, code, message, data) : DX_ERR_INVALID;
}

dx_status dx_rpc_write_batch(dx_buf *buf, dx_batch_mark mark) {
    return dx_buf_append(buf, &"[,]"[mark], 1);
}
