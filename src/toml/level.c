/* Walking over a tree of either kind, without recursion. */
#include "base/alloc.h"
#include "base/map.h"
#include "toml/error.h"
#include "toml/text.h"
#include "toml/writer.h"

enum { FEW = 8 };

static void *after(bool mut, void *value) {
    return mut ? (void *)((yyjson_mut_val *)value)->next : unsafe_yyjson_get_next(value);
}

/* In a list of yyjson's that can change, the container knows its last member and the ring goes on
 * from there to the first. */
static void *first(bool mut, void *container) {
    if (!mut)
        return unsafe_yyjson_get_first(container);
    yyjson_mut_val *last = ((yyjson_mut_val *)container)->uni.ptr;
    return unsafe_yyjson_is_obj(container) ? last->next->next : last->next;
}

void dx__toml_level_start(const dx__toml_writer *writer, dx__toml_level *level) {
    level->left = unsafe_yyjson_get_len(level->container);
    level->next = level->left ? first(writer->mut, level->container) : NULL;
    level->index = SIZE_MAX;
    level->key = level->value = NULL;
}

static bool step(bool mut, dx__toml_level *level) {
    if (!level->left)
        return false;
    bool in_object = unsafe_yyjson_is_obj(level->container);
    level->left--;
    level->index++;
    level->key = in_object ? level->next : NULL;
    level->value = in_object ? after(mut, level->next) : level->next;
    level->next = level->left ? after(mut, level->value) : NULL;
    return true;
}

bool dx__toml_level_next(const dx__toml_writer *writer, dx__toml_level *level) {
    do {
        if (!step(writer->mut, level))
            return false;
    } while (level->key && writer->flags & DX_TOML_SKIP_NULL &&
             unsafe_yyjson_is_null(level->value));
    return true;
}

bool dx__toml_is_block(const dx__toml_writer *writer, void *value) {
    if (unsafe_yyjson_is_obj(value))
        return true;
    if (!unsafe_yyjson_is_arr(value) || !unsafe_yyjson_get_len(value))
        return false;
    dx__toml_level level = {.container = value};
    dx__toml_level_start(writer, &level);
    while (step(writer->mut, &level))
        if (!unsafe_yyjson_is_obj(level.value))
            return false;
    return true;
}

static void write_place(const dx__toml_writer *writer, dx__line *line) {
    for (size_t i = 0; i < writer->count; i++) {
        const dx__toml_level *level = &writer->levels[i];
        if (!level->value)
            return; /* it is about that container itself */
        dx__toml_line_text(line, dx_str("/"));
        if (!level->key) {
            char digits[20];
            dx__toml_line_text(line, (dx_text){digits, dx__digits(level->index, digits)});
            continue;
        }
        dx_text key = dx__toml_text_of(level->key);
        if (dx__toml_utf8(key.at, key.at + key.len) != key.at + key.len)
            key = dx_str("?"); /* a phrase is text, whatever the tree is */
        for (size_t from = 0, at = 0; at <= key.len; at++) {
            bool odd = at < key.len && (key.at[at] == '/' || key.at[at] == '~');
            if (!odd && at < key.len)
                continue;
            dx__toml_line_text(line, (dx_text){key.at + from, at - from});
            if (odd)
                dx__toml_line_text(line, dx_str(key.at[at] == '/' ? "~1" : "~0"));
            from = at + 1;
        }
    }
}

bool dx__toml_level_refuse(dx__toml_writer *writer, dx_status status, const char *what) {
    if (writer->status != DX_OK)
        return false;
    writer->status = status;
    dx__toml_error_plain(writer->error, what);
    if (!writer->error)
        return false;
    dx__line place = dx__line_on(writer->error->place, sizeof writer->error->place);
    write_place(writer, &place);
    dx__line line = dx__line_on(writer->error->phrase, sizeof writer->error->phrase);
    dx__line_str(&line, writer->error->place);
    dx__line_str(&line, writer->error->place[0] ? ": " : "");
    dx__line_str(&line, what);
    return false;
}

static bool same(void *one, void *other) {
    size_t len = unsafe_yyjson_get_len(one);
    return len == unsafe_yyjson_get_len(other) &&
           memcmp(unsafe_yyjson_get_str(one), unsafe_yyjson_get_str(other), len) == 0;
}

/* A few keys are compared with each other. */
static bool few_differ(dx__toml_writer *writer, dx__toml_level *level) {
    void *keys[FEW];
    for (size_t count = 0; step(writer->mut, level) && level->key; count++) {
        for (size_t i = 0; i < count; i++)
            if (same(keys[i], level->key))
                return dx__toml_level_refuse(writer, DX_ERR_INVALID, "the key is defined twice");
        keys[count] = level->key;
    }
    return true;
}

static bool is_new(dx__toml_writer *writer, dx__map *seen, uint64_t seed, void *key) {
    uint64_t hash = dx__hash(seed, dx__toml_text_of(key));
    size_t cursor = 0;
    void *other;
    while ((other = dx__map_find(seen, hash, &cursor)))
        if (same(other, key))
            return dx__toml_level_refuse(writer, DX_ERR_INVALID, "the key is defined twice");
    if (dx__map_reserve(seen) != DX_OK)
        return dx__toml_level_refuse(writer, DX_ERR_NOMEM, "out of memory");
    dx__map_put(seen, hash, key);
    return true;
}

static bool many_differ(dx__toml_writer *writer, dx__toml_level *level) {
    dx__map seen;
    dx__map_init(&seen, &writer->buf->alloc);
    /* Addresses are all that there is which the tree's author does not know. */
    uint64_t seed = (uint64_t)(uintptr_t)writer->levels ^ (uint64_t)(uintptr_t)level->container
                                                              << 9;
    while (step(writer->mut, level) && level->key && is_new(writer, &seen, seed, level->key))
        ;
    dx__map_done(&seen);
    return writer->status == DX_OK;
}

/* JSON may have a key twice; TOML may not. */
static bool keys_differ(dx__toml_writer *writer, dx__toml_level *level) {
    if (!unsafe_yyjson_is_obj(level->container))
        return true;
    bool differ = level->left <= FEW ? few_differ(writer, level) : many_differ(writer, level);
    if (differ)
        dx__toml_level_start(writer, level);
    return differ;
}

bool dx__toml_level_push(dx__toml_writer *writer, void *container, dx__toml_shape shape) {
    if (writer->count > DX_TOML_DEPTH_MAX)
        return dx__toml_level_refuse(writer, DX_ERR_LIMIT, "nested deeper than is allowed");
    if (writer->count == writer->cap) {
        size_t cap = writer->cap ? writer->cap * 2 : 8;
        dx__toml_level *levels = dx__realloc(&writer->buf->alloc, writer->levels,
                                             writer->cap * sizeof *levels, cap * sizeof *levels);
        if (!levels)
            return dx__toml_level_refuse(writer, DX_ERR_NOMEM, "out of memory");
        writer->levels = levels;
        writer->cap = cap;
    }
    dx__toml_level *level = &writer->levels[writer->count++];
    *level = (dx__toml_level){.container = container, .shape = shape};
    dx__toml_level_start(writer, level);
    return keys_differ(writer, level);
}
