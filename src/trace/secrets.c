/* Redaction: a walk over the text from string to string that builds nothing. */
#include "base/alloc.h"
#include "base/buf.h"
#include "rpc/json.h"
#include "trace/trace.h"

#include <string.h>

enum { LONGEST = 64 };

static unsigned char lower(char c) {
    return (unsigned char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
}

dx_status dx__secrets_init(dx__secrets *secrets, const char *const *names,
                           const dx_allocator *alloc) {
    *secrets = (dx__secrets){.alloc = *alloc};
    size_t size = 0;
    for (size_t i = 0; names && names[i]; i++) {
        size_t len = strlen(names[i]);
        if (len < 1 || len > LONGEST)
            return DX_ERR_INVALID;
        size += 1 + len;
    }
    if (!size)
        return DX_OK;
    secrets->names = dx__malloc(alloc, size);
    if (!secrets->names)
        return DX_ERR_NOMEM;
    unsigned char *to = secrets->names;
    for (size_t i = 0; names[i]; i++) {
        size_t len = strlen(names[i]);
        *to++ = (unsigned char)len;
        for (size_t k = 0; k < len; k++)
            *to++ = lower(names[i][k]);
        secrets->lengths |= UINT64_C(1) << (len - 1);
    }
    secrets->len = size;
    return DX_OK;
}

void dx__secrets_done(dx__secrets *secrets) {
    dx__free(&secrets->alloc, secrets->names);
    secrets->names = NULL;
}

static int is_secret(const dx__secrets *secrets, dx_text quoted, int escaped) {
    char room[6 * LONGEST + 2]; /* each byte of a name can be written in six, not in more */
    dx_text name = {quoted.at + 1, quoted.len - 2};
    if (escaped && (quoted.len > sizeof room || dx_rpc_string(quoted, room, &name) != DX_OK))
        return 0;
    if (name.len < 1 || name.len > LONGEST || !(secrets->lengths >> (name.len - 1) & 1))
        return 0;
    const unsigned char *end = secrets->names + secrets->len;
    for (const unsigned char *at = secrets->names; at < end; at += 1 + *at) {
        size_t same = 0;
        if (*at == name.len)
            while (same < name.len && at[1 + same] == lower(name.at[same]))
                same++;
        if (same && same == name.len)
            return 1;
    }
    return 0;
}

dx_status dx__secrets_hide(const dx__secrets *secrets, dx_text text, dx_buf *buf) {
    dx__json json = dx__json_reader(text, DX_DEPTH_MAX);
    const char *done = json.start;
    for (const char *quote; (quote = memchr(json.at, '"', (size_t)(json.end - json.at)));) {
        json.at = quote;
        json.escaped = 0;
        dx__json_skip(&json);
        if (json.fault != DX_FAULT_NONE)
            return DX_ERR_INVALID;
        dx_text string = {quote, (size_t)(json.at - quote)};
        /* Only a member's name has a colon behind it. */
        if (!is_secret(secrets, string, json.escaped) || !dx__json_take(&json, ':'))
            continue;
        dx__json_peek(&json);
        dx_status status = dx__buf_put(buf, done, (size_t)(json.at - done));
        if (status == DX_OK)
            status = dx__buf_put(buf, "\"***\"", 5);
        if (status != DX_OK)
            return status;
        dx__json_skip(&json);
        if (json.fault != DX_FAULT_NONE)
            return DX_ERR_INVALID;
        done = json.at;
    }
    return dx__buf_put(buf, done, (size_t)(json.end - done));
}
