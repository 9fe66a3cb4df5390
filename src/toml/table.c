/* Tables while they are built: what their keys lead to, and what TOML lets be added to what. */
#include "toml/reader.h"

yyjson_mut_val *dx__toml_new(dx__toml_reader *reader) {
    yyjson_mut_val *value = yyjson_mut_null(reader->doc);
    if (!value)
        dx__toml_no_memory(reader);
    return value;
}

void dx__toml_table_init(dx__toml_reader *reader, dx__toml_table *table, yyjson_mut_val *object,
                         unsigned depth, dx__toml_birth birth) {
    yyjson_mut_set_obj(object);
    *table = (dx__toml_table){object, ++reader->last_id, depth, birth};
}

bool dx__toml_deeper(dx__toml_reader *reader, unsigned depth) {
    return depth < reader->config.depth_max ||
           dx__toml_limit(reader, "nested deeper than is allowed");
}

bool dx__toml_put(dx__toml_reader *reader, dx__toml_place place, yyjson_mut_val *value) {
    if (!reader->values)
        return dx__toml_limit(reader, "more values than are allowed");
    reader->values--;
    if (place.key)
        yyjson_mut_obj_add(place.in, place.key, value);
    else
        yyjson_mut_arr_append(place.in, value);
    return true;
}

/* Leaves the hash in the part, for add(). */
static dx__toml_member *find(const dx__toml_reader *reader, const dx__toml_table *table,
                             dx__toml_part *part) {
    size_t cursor = 0;
    dx__toml_member *member;
    dx_text key = part->key;
    part->hash = dx__hash(reader->seed ^ table->id * UINT64_C(0x9e3779b97f4a7c15), key);
    while ((member = dx__map_find(&reader->members, part->hash, &cursor)))
        if (member->table == table->id && unsafe_yyjson_get_len(member->key) == key.len &&
            memcmp(unsafe_yyjson_get_str(member->key), key.at, key.len) == 0)
            return member;
    return NULL;
}

/* Its value is put in by who asked for it. */
static dx__toml_member *add(dx__toml_reader *reader, const dx__toml_table *table,
                            const dx__toml_part *part) {
    dx__toml_member *member = dx__toml_keep(reader, sizeof *member);
    yyjson_mut_val *key = member ? dx__toml_new(reader) : NULL;
    if (!key)
        return NULL;
    if (dx__map_reserve(&reader->members) != DX_OK) {
        dx__toml_no_memory(reader);
        return NULL;
    }
    yyjson_mut_set_strn(key, part->key.at, part->key.len);
    *member = (dx__toml_member){.table = table->id, .key = key, .at = part->at};
    dx__map_put(&reader->members, part->hash, member);
    return member;
}

/* A new empty object at that place, as a table. */
static bool grow(dx__toml_reader *reader, dx__toml_place place, dx__toml_birth birth,
                 dx__toml_table *table) {
    yyjson_mut_val *object = dx__toml_deeper(reader, place.depth) ? dx__toml_new(reader) : NULL;
    if (!object)
        return false;
    dx__toml_table_init(reader, table, object, place.depth + 1, birth);
    return dx__toml_put(reader, place, object);
}

/* A member of which nothing was known, and that leads to a table. */
static dx__toml_member *add_open(dx__toml_reader *reader, const dx__toml_table *table,
                                 const dx__toml_part *part) {
    dx__toml_member *member = add(reader, table, part);
    if (!member)
        return NULL;
    member->open = dx__toml_keep(reader, sizeof *member->open);
    return member->open ? member : NULL;
}

static dx__toml_table *add_table(dx__toml_reader *reader, const dx__toml_table *table,
                                 const dx__toml_part *part, dx__toml_birth birth) {
    dx__toml_member *member = add_open(reader, table, part);
    if (!member)
        return NULL;
    dx__toml_place place = {table->object, member->key, table->depth};
    return grow(reader, place, birth, member->open) ? member->open : NULL;
}

/* What stands in the way, for people. */
static const char *is_already(const dx__toml_member *member) {
    if (!member->open)
        return "has a value already";
    switch (member->open->birth) {
    case DX__TOML_ITEM:
        return "is an array of tables already";
    case DX__TOML_DOTTED:
        return "is a table defined by dotted keys";
    default:
        return "is a table already";
    }
}

static void *conflict(dx__toml_reader *reader, const dx__toml_member *member,
                      const dx__toml_part *part) {
    dx__toml_conflict(reader, part->at, part->key, is_already(member), member->at);
    return NULL;
}

dx__toml_table *dx__toml_pass(dx__toml_reader *reader, dx__toml_table *table, dx__toml_part *part) {
    dx__toml_member *member = find(reader, table, part);
    if (!member)
        return add_table(reader, table, part, DX__TOML_PASSED);
    return member->open ? member->open : conflict(reader, member, part);
}

/* Tables that have their header are defined there and nowhere else. */
dx__toml_table *dx__toml_dot(dx__toml_reader *reader, dx__toml_table *table, dx__toml_part *part) {
    dx__toml_member *member = find(reader, table, part);
    if (!member)
        return add_table(reader, table, part, DX__TOML_DOTTED);
    dx__toml_table *inner = member->open;
    if (!inner || (inner->birth != DX__TOML_DOTTED && inner->birth != DX__TOML_PASSED))
        return conflict(reader, member, part);
    inner->birth = DX__TOML_DOTTED;
    return inner;
}

dx__toml_table *dx__toml_define(dx__toml_reader *reader, dx__toml_table *table,
                                dx__toml_part *part) {
    dx__toml_member *member = find(reader, table, part);
    if (!member)
        return add_table(reader, table, part, DX__TOML_HEADER);
    if (!member->open || member->open->birth != DX__TOML_PASSED)
        return conflict(reader, member, part);
    member->open->birth = DX__TOML_HEADER;
    return member->open;
}

/* A member of which nothing was known, as an array of tables that has none yet. */
static dx__toml_member *add_array(dx__toml_reader *reader, const dx__toml_table *table,
                                  const dx__toml_part *part) {
    if (!dx__toml_deeper(reader, table->depth))
        return NULL;
    dx__toml_member *member = add_open(reader, table, part);
    yyjson_mut_val *array = member ? dx__toml_new(reader) : NULL;
    if (!array)
        return NULL;
    yyjson_mut_set_arr(array);
    dx__toml_place place = {table->object, member->key, table->depth};
    return dx__toml_put(reader, place, array) ? member : NULL;
}

/* Only the last item can be reached, so one place serves all of them. */
dx__toml_table *dx__toml_add_item(dx__toml_reader *reader, dx__toml_table *table,
                                  dx__toml_part *part) {
    dx__toml_member *member = find(reader, table, part);
    if (!member)
        member = add_array(reader, table, part);
    else if (!member->open || member->open->birth != DX__TOML_ITEM)
        member = conflict(reader, member, part);
    if (!member)
        return NULL;
    /* In a list of yyjson's, a key's value is what follows it. */
    dx__toml_place place = {member->key->next, NULL, table->depth + 1};
    return grow(reader, place, DX__TOML_ITEM, member->open) ? member->open : NULL;
}

yyjson_mut_val *dx__toml_name(dx__toml_reader *reader, dx__toml_table *table, dx__toml_part *part) {
    dx__toml_member *member = find(reader, table, part);
    if (member)
        return conflict(reader, member, part);
    member = add(reader, table, part);
    return member ? member->key : NULL;
}
