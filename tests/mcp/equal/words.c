/* What the schemas speak of. A member that one place knows may not mean anything in another. */
#include "mcp/equal/equal.h"

#include <stdlib.h>
#include <string.h>

static void add_constant(struct words *words, yyjson_val *value) {
    if (yyjson_is_str(value))
        texts_add_new(&words->constants, print("\"%s\"", yyjson_get_str(value)));
}

static void add_words(struct words *words, yyjson_val *schema) {
    yyjson_obj_iter known = yyjson_obj_iter_with(yyjson_obj_get(schema, "properties"));
    for (yyjson_val *key; (key = yyjson_obj_iter_next(&known));)
        texts_add_new(&words->names, print("%s", yyjson_get_str(key)));
    add_constant(words, yyjson_obj_get(schema, "const"));
    yyjson_arr_iter iter = yyjson_arr_iter_with(yyjson_obj_get(schema, "enum"));
    for (yyjson_val *it; (it = yyjson_arr_iter_next(&iter));)
        add_constant(words, it);
}

/* A map has names of its own where a schema has keywords. */
static void walk(struct words *words, yyjson_val *value, bool map) {
    if (yyjson_is_obj(value) && !map)
        add_words(words, value);
    yyjson_obj_iter members = yyjson_obj_iter_with(value);
    for (yyjson_val *key; (key = yyjson_obj_iter_next(&members));)
        walk(words, yyjson_obj_iter_get_val(key), !map && yyjson_equals_str(key, "properties"));
    yyjson_arr_iter items = yyjson_arr_iter_with(value);
    for (yyjson_val *it; (it = yyjson_arr_iter_next(&items));)
        walk(words, it, false);
}

void words_collect(struct words *words, yyjson_val *schemas) {
    walk(words, schemas, true);
}

void words_done(struct words *words) {
    texts_done(&words->names);
    texts_done(&words->constants);
}
