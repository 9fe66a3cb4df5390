/* Values by a text: open addressing with a keyed hash, so that nobody can make keys collide. */
#include "base/alloc.h"
#include "systems/mcp/server_text.h"

#include <string.h>

void dx__mcp_table_init(dx__mcp_table *table, const dx_allocator *alloc, const uint8_t seed[16]) {
    *table = (dx__mcp_table){.alloc = *alloc};
    memcpy(table->seed, seed, sizeof table->seed);
}

void dx__mcp_table_done(dx__mcp_table *table) {
    if (table->cap)
        dx__free(&table->alloc, table->slots);
    table->slots = NULL;
    table->cap = table->count = 0;
}

/* Where the key is, or where it would go. There is always a free slot. */
static size_t place(const dx__mcp_table *table, dx_text key) {
    size_t at = (size_t)dx__mcp_sip64(table->seed, key.at, key.len) & (table->cap - 1);
    while (table->slots[at].value && (table->slots[at].key.len != key.len ||
                                      memcmp(table->slots[at].key.at, key.at, key.len) != 0))
        at = (at + 1) & (table->cap - 1);
    return at;
}

void *dx__mcp_table_find(const dx__mcp_table *table, dx_text key) {
    return table->cap && key.at ? table->slots[place(table, key)].value : NULL;
}

static dx_status grow(dx__mcp_table *table) {
    dx__mcp_table wider = *table;
    wider.cap = table->cap ? table->cap * 2 : 16;
    if (wider.cap > SIZE_MAX / sizeof *wider.slots / 2)
        return DX_ERR_NOMEM;
    wider.slots = dx__malloc(&table->alloc, wider.cap * sizeof *wider.slots);
    if (!wider.slots)
        return DX_ERR_NOMEM;
    memset(wider.slots, 0, wider.cap * sizeof *wider.slots);
    for (size_t i = 0; i < table->cap; i++)
        if (table->slots[i].value)
            wider.slots[place(&wider, table->slots[i].key)] = table->slots[i];
    dx__free(&table->alloc, table->slots);
    *table = wider;
    return DX_OK;
}

dx_status dx__mcp_table_put(dx__mcp_table *table, dx_text key, void *value) {
    if (table->count >= table->cap / 2 && grow(table) != DX_OK)
        return DX_ERR_NOMEM;
    table->slots[place(table, key)] = (struct dx__mcp_slot){key, value};
    table->count++;
    return DX_OK;
}

void dx__mcp_table_drop(dx__mcp_table *table, dx_text key) {
    if (!dx__mcp_table_find(table, key))
        return;
    size_t hole = place(table, key);
    table->slots[hole].value = NULL;
    table->count--;
    /* What was pushed aside by it moves up, so that it is found without going over a hole. */
    for (size_t at = (hole + 1) & (table->cap - 1); table->slots[at].value;
         at = (at + 1) & (table->cap - 1)) {
        struct dx__mcp_slot slot = table->slots[at];
        table->slots[at].value = NULL;
        table->slots[place(table, slot.key)] = slot;
    }
}
