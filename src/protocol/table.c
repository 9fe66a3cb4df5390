#include "protocol/table.h"
#include "base/alloc.h"
#include "schema/words.h"

void dx__table_init(dx__table *table, const dx_allocator *alloc) {
    *table = (dx__table){.alloc = *alloc};
    dx__map_init(&table->map, alloc);
}

void dx__table_done(dx__table *table) {
    dx__free(&table->alloc, table->rows);
    dx__map_done(&table->map);
    table->rows = NULL;
    table->count = table->cap = 0;
}

/* Where a table lies is not known to who writes a document, and so collisions can't be aimed at. */
static uint64_t key_of(const dx__table *table, dx_text name) {
    return dx__hash((uint64_t)(uintptr_t)table, name);
}

dx__row *dx__table_find(const dx__table *table, dx_text name) {
    size_t cursor = 0;
    uint64_t key = key_of(table, name);
    for (void *it; (it = dx__map_find(&table->map, key, &cursor));) {
        dx__row *row = &table->rows[(uintptr_t)it - 1];
        if (row->name.len == name.len && (!name.len || !memcmp(row->name.at, name.at, name.len)))
            return row;
    }
    return NULL;
}

static dx_status grow(dx__table *table) {
    size_t cap = table->cap ? table->cap * 2 : 16;
    if (cap > SIZE_MAX / 2 / sizeof *table->rows)
        return DX_ERR_NOMEM;
    dx__row *rows =
        dx__realloc(&table->alloc, table->rows, table->cap * sizeof *rows, cap * sizeof *rows);
    if (!rows)
        return DX_ERR_NOMEM;
    table->rows = rows;
    table->cap = cap;
    return DX_OK;
}

dx_status dx__table_put(dx__table *table, dx_text name, yyjson_val *value, yyjson_val **ret_old) {
    dx__row *row = dx__table_find(table, name);
    if (ret_old)
        *ret_old = row ? row->value : NULL;
    if (row) {
        row->value = value;
        return DX_OK;
    }
    if (table->count == table->cap && grow(table) != DX_OK)
        return DX_ERR_NOMEM;
    if (dx__map_reserve(&table->map) != DX_OK)
        return DX_ERR_NOMEM;
    table->rows[table->count++] = (dx__row){name, value};
    dx__map_put(&table->map, key_of(table, name), (void *)(uintptr_t)table->count);
    return DX_OK;
}

dx_status dx__table_put_all(dx__table *table, yyjson_val *object) {
    yyjson_obj_iter iter = yyjson_obj_iter_with(object);
    for (yyjson_val *key; (key = yyjson_obj_iter_next(&iter));)
        if (dx__table_put(table, dx__text_of(key), yyjson_obj_iter_get_val(key), NULL) != DX_OK)
            return DX_ERR_NOMEM;
    return DX_OK;
}
