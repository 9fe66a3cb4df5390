/* Small things: memory that goes back as a whole, and text. */
#include "systems/reginald/plugin_parts.h"

#include <stdlib.h>
#include <string.h>

typedef struct dx__reginald_plugin_piece {
    struct dx__reginald_plugin_piece *next;
    _Alignas(max_align_t) char data[];
} piece;

void *dx__reginald_plugin_room(dx__reginald_plugin_pool *pool, size_t count, size_t size) {
    if (size && count > (SIZE_MAX / 2) / size)
        return NULL;
    piece *added = calloc(1, sizeof *added + count * size);
    if (!added)
        return NULL;
    added->next = pool->pieces;
    pool->pieces = added;
    return added->data;
}

char *dx__reginald_plugin_copy(dx__reginald_plugin_pool *pool, dx_text text) {
    char *copy = dx__reginald_plugin_room(pool, text.len + 1, 1);
    if (copy && text.len)
        memcpy(copy, text.at, text.len);
    return copy;
}

void dx__reginald_plugin_pool_done(dx__reginald_plugin_pool *pool) {
    while (pool->pieces) {
        piece *first = pool->pieces;
        pool->pieces = first->next;
        free(first);
    }
}

void dx__reginald_plugin_say(dx__reginald_plugin_line *line, dx_text text) {
    dx__say(line->text, sizeof line->text, text);
}

static dx_status append_clean(dx_buf *to, dx_text text) {
    dx_status status = DX_OK;
    for (size_t i = 0; status == DX_OK && i < text.len;) {
        size_t len = dx__utf8(text.at + i, text.len - i);
        status = len ? dx_buf_append(to, text.at + i, len) : dx_buf_append(to, "\xef\xbf\xbd", 3);
        i += len ? len : 1;
    }
    return status;
}

dx_status dx__reginald_plugin_write(dx_buf *json, const char *text) {
    dx_status status = dx_json_write_string(json, dx_str(text));
    if (status != DX_ERR_INVALID)
        return status;
    dx_buf clean;
    dx_buf_init(&clean, SIZE_MAX / 8, NULL);
    status = append_clean(&clean, dx_str(text));
    if (status == DX_OK)
        status = dx_json_write_string(json, (dx_text){clean.data, clean.len});
    dx_buf_done(&clean);
    return status;
}
