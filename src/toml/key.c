/* Keys, and where they lead: before a value, and in a header. */
#include "toml/reader.h"

static bool name(dx__toml_reader *reader, dx_text *ret_key) {
    int c = dx__toml_peek(reader);
    if (c == '"' || c == '\'')
        return dx__toml_string(reader, false, ret_key);
    const char *from = reader->at;
    while (dx__toml_is_bare(dx__toml_peek(reader)))
        reader->at++;
    if (reader->at == from)
        return dx__toml_expected(reader, "a key");
    *ret_key = (dx_text){from, (size_t)(reader->at - from)};
    return true;
}

/* A part, the space around it and the dot behind it. */
static bool next_part(dx__toml_reader *reader, dx__toml_part *part) {
    dx__toml_space(reader);
    part->at = reader->at;
    if (!name(reader, &part->key))
        return false;
    dx__toml_space(reader);
    part->more = dx__toml_take(reader, '.');
    return true;
}

/* All parts but the last, which is left in `part`. */
static dx__toml_table *walk(dx__toml_reader *reader, dx__toml_table *table, dx__toml_part *part,
                            dx__toml_table *(*step)(dx__toml_reader *reader, dx__toml_table *table,
                                                    dx__toml_part *part)) {
    while (table) {
        if (!next_part(reader, part))
            return NULL;
        if (!part->more)
            break;
        table = step(reader, table, part);
    }
    return table;
}

bool dx__toml_assign(dx__toml_reader *reader, dx__toml_table *table, dx__toml_place *ret_place) {
    dx__toml_part part;
    table = walk(reader, table, &part, dx__toml_dot);
    if (!table)
        return false;
    if (!dx__toml_take(reader, '='))
        return dx__toml_expected(reader, "'=' after the key");
    yyjson_mut_val *key = dx__toml_name(reader, table, &part);
    if (!key)
        return false;
    dx__toml_space(reader);
    *ret_place = (dx__toml_place){table->object, key, table->depth};
    return true;
}

bool dx__toml_header(dx__toml_reader *reader) {
    dx__toml_part part;
    reader->at++;
    bool item = dx__toml_take(reader, '[');
    dx__toml_table *table = walk(reader, &reader->root, &part, dx__toml_pass);
    if (!table)
        return false;
    if (!dx__toml_take(reader, ']') || (item && !dx__toml_take(reader, ']')))
        return dx__toml_expected(reader, item ? "']]' after the key" : "']' after the key");
    reader->section = (item ? dx__toml_add_item : dx__toml_define)(reader, table, &part);
    return reader->section;
}
