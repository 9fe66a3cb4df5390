/* Values by name, in the order in which the names came. */
#ifndef DX_PROTOCOL_TABLE_H
#define DX_PROTOCOL_TABLE_H

#include "base/map.h"

#include <yyjson.h>

typedef struct dx__row {
    dx_text name;
    yyjson_val *value; /* NULL: taken out */
} dx__row;

typedef struct dx__table {
    dx__row *rows;
    size_t count;
    size_t cap;
    dx__map map; /* from the hash of a name to its place + 1 */
    dx_allocator alloc;
} dx__table;

void dx__table_init(dx__table *table, const dx_allocator *alloc);
void dx__table_done(dx__table *table);

/* The row of that name, also if its value was taken out; NULL if there is none. */
dx__row *dx__table_find(const dx__table *table, dx_text name);
/* Sets the value of a name. *ret_old, which may be NULL, is the one it had, or NULL. */
dx_status dx__table_put(dx__table *table, dx_text name, yyjson_val *value, yyjson_val **ret_old);
/* Sets the value of every member of an object; NULL has none. */
dx_status dx__table_put_all(dx__table *table, yyjson_val *object);

#endif
