#include "protocol/sample.h"
#include "base/buf.h"
#include "protocol/like.h"
#include "protocol/load.h"

#include <duplex/rpc.h>

/* A schema that refers to itself has no end; so has what is made from it. */
enum { DEPTH_MAX = 24, VALUES_MAX = 4096, FACETS_MAX = 48, ITEMS_MAX = 16, LETTERS_MAX = 64 };

struct maker {
    yyjson_val *root;
    dx_buf *json;
    dx_status status;
    unsigned values; /* that may still be made */
};

/* All the schemas that one value has to fit. */
struct facets {
    yyjson_val *list[FACETS_MAX];
    size_t count;
};

static void add(struct facets *facets, yyjson_val *schema) {
    if (!yyjson_is_obj(schema))
        return;
    for (size_t i = 0; i < facets->count; i++)
        if (facets->list[i] == schema)
            return;
    if (facets->count < FACETS_MAX)
        facets->list[facets->count++] = schema;
}

/* Adds what the schemas in the list refer to; of alternatives, the first. */
static void complete(const struct maker *maker, struct facets *facets) {
    for (size_t i = 0; i < facets->count; i++) {
        yyjson_val *schema = facets->list[i];
        yyjson_val *reference = dx__get(schema, "$ref");
        if (reference)
            add(facets, dx__resolve(maker->root, dx__text(reference)));
        yyjson_arr_iter all = yyjson_arr_iter_with(dx__get(schema, "allOf"));
        for (yyjson_val *it; (it = yyjson_arr_iter_next(&all));)
            add(facets, it);
        add(facets, yyjson_arr_get_first(dx__get(schema, "anyOf")));
        add(facets, yyjson_arr_get_first(dx__get(schema, "oneOf")));
    }
}

static yyjson_val *get(const struct facets *facets, const char *keyword) {
    for (size_t i = 0; i < facets->count; i++) {
        yyjson_val *value = dx__get(facets->list[i], keyword);
        if (value)
            return value;
    }
    return NULL;
}

static bool allows(yyjson_val *type, const char *name) {
    if (yyjson_is_str(type))
        return yyjson_equals_str(type, name) ||
               (!strcmp(name, "integer") && yyjson_equals_str(type, "number"));
    yyjson_arr_iter iter = yyjson_arr_iter_with(type);
    for (yyjson_val *it; (it = yyjson_arr_iter_next(&iter));)
        if (yyjson_equals_str(it, name))
            return true;
    return false;
}

static bool all_allow(const struct facets *facets, const char *name) {
    for (size_t i = 0; i < facets->count; i++) {
        yyjson_val *type = dx__get(facets->list[i], "type");
        if (type && !allows(type, name))
            return false;
    }
    return true;
}

/* The type to make: the first of the first list that all others have, too. */
static const char *type_of(const struct facets *facets, int container) {
    static const char *const names[] = {"object", "array",   "string", "integer",
                                        "number", "boolean", "null"};
    yyjson_val *type = get(facets, "type");
    yyjson_val *first = yyjson_is_arr(type) ? yyjson_arr_get_first(type) : type;
    const char *wanted = yyjson_get_str(first);
    if (container && (!type || all_allow(facets, "object")))
        return "object";
    if (wanted && all_allow(facets, wanted))
        return wanted;
    for (size_t i = 0; type && i < sizeof names / sizeof *names; i++)
        if (all_allow(facets, names[i]))
            return names[i];
    if (get(facets, "properties") || get(facets, "required"))
        return "object";
    if (get(facets, "items") || get(facets, "prefixItems"))
        return "array";
    if (get(facets, "pattern") || get(facets, "minLength") || get(facets, "format"))
        return "string";
    return get(facets, "minimum") ? "integer" : "null";
}

static void put(struct maker *maker, const char *text) {
    if (maker->status == DX_OK)
        maker->status = dx_buf_append(maker->json, text, strlen(text));
}

static void put_string(struct maker *maker, dx_text text) {
    if (maker->status == DX_OK)
        maker->status = dx_json_write_string(maker->json, text);
}

static const char *text_of_format(yyjson_val *format) {
    static const char *const known[][2] = {
        {"uri", "x:"},
        {"date-time", "2025-01-01T00:00:00Z"},
        {"date", "2025-01-01"},
        {"email", "a@b.example"},
        {"uuid", "01234567-89ab-4def-8123-456789abcdef"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (yyjson_equals_str(format, known[i][0]))
            return known[i][1];
    return NULL;
}

static void make_string(struct maker *maker, const struct facets *facets) {
    char like[DX__LIKE_ROOM];
    const char *text = text_of_format(get(facets, "format"));
    if (dx__like(dx__text(get(facets, "pattern")), like))
        text = like;
    char letters[LETTERS_MAX];
    int64_t least = dx__integer(get(facets, "minLength"));
    size_t len = least < 0 ? 0 : least > LETTERS_MAX ? LETTERS_MAX : (size_t)least;
    memset(letters, 'x', sizeof letters);
    put_string(maker, text ? dx_str(text) : (dx_text){letters, len});
}

static void make_number(struct maker *maker, const struct facets *facets) {
    yyjson_val *least = get(facets, "minimum");
    yyjson_val *most = get(facets, "maximum");
    double low = least ? yyjson_get_num(least) : 0;
    double high = most ? yyjson_get_num(most) : low;
    yyjson_val *bound = low > 0 ? least : high < 0 ? most : NULL;
    if (!bound)
        put(maker, "0");
    else if (maker->status == DX_OK)
        maker->status = dx_json_write(maker->json, dx_json_value(bound));
}

static void make(struct maker *maker, struct facets *facets, int container, unsigned depth);

static void make_items(struct maker *maker, const struct facets *facets, unsigned depth) {
    int64_t least = dx__integer(get(facets, "minItems"));
    yyjson_val *prefix = get(facets, "prefixItems");
    yyjson_val *items = get(facets, "items");
    put(maker, "[");
    for (int64_t i = 0; i < least && i < ITEMS_MAX; i++) {
        yyjson_val *schema = yyjson_arr_get(prefix, (size_t)i);
        struct facets below = {.count = 0};
        add(&below, schema ? schema : items);
        put(maker, i ? "," : "");
        make(maker, &below, 0, depth);
    }
    put(maker, "]");
}

/* What is said of a member in any of the schemas. */
static struct facets member_of(const struct facets *facets, dx_text name) {
    struct facets below = {.count = 0};
    for (size_t i = 0; i < facets->count; i++) {
        yyjson_val *properties = dx__get(facets->list[i], "properties");
        yyjson_val *schema = yyjson_obj_getn(properties, name.at, name.len);
        add(&below, schema ? schema : dx__get(facets->list[i], "additionalProperties"));
    }
    return below;
}

/* Was it required by one of the schemas before that one? */
static bool is_made(const struct facets *facets, size_t before, dx_text name) {
    for (size_t i = 0; i < before; i++) {
        yyjson_arr_iter iter = yyjson_arr_iter_with(dx__get(facets->list[i], "required"));
        for (yyjson_val *it; (it = yyjson_arr_iter_next(&iter));)
            if (dx__same(dx__text(it), name))
                return true;
    }
    return false;
}

static void make_members(struct maker *maker, const struct facets *facets, unsigned depth) {
    bool some = false;
    put(maker, "{");
    for (size_t i = 0; i < facets->count; i++) {
        yyjson_arr_iter iter = yyjson_arr_iter_with(dx__get(facets->list[i], "required"));
        for (yyjson_val *it; maker->status == DX_OK && (it = yyjson_arr_iter_next(&iter));) {
            dx_text name = dx__text(it);
            if (!name.at || is_made(facets, i, name))
                continue;
            put(maker, some ? "," : "");
            put_string(maker, name);
            put(maker, ":");
            struct facets below = member_of(facets, name);
            make(maker, &below, 0, depth);
            some = true;
        }
    }
    put(maker, "}");
}

static void make(struct maker *maker, struct facets *facets, int container, unsigned depth) {
    complete(maker, facets);
    yyjson_val *fixed = get(facets, "const");
    if (!fixed)
        fixed = yyjson_arr_get_first(get(facets, "enum"));
    const char *type = type_of(facets, container);
    if (!maker->values || depth == DEPTH_MAX)
        fixed = NULL, type = "null";
    else
        maker->values--;
    if (fixed && maker->status == DX_OK)
        maker->status = dx_json_write(maker->json, dx_json_value(fixed));
    else if (!strcmp(type, "object"))
        make_members(maker, facets, depth + 1);
    else if (!strcmp(type, "array"))
        make_items(maker, facets, depth + 1);
    else if (!strcmp(type, "string"))
        make_string(maker, facets);
    else if (!strcmp(type, "integer") || !strcmp(type, "number"))
        make_number(maker, facets);
    else
        put(maker, !strcmp(type, "boolean") ? "false" : "null");
}

dx_status dx__sample_write(yyjson_val *root, yyjson_val *schema, int container, dx_buf *json) {
    struct maker maker = {root, json, DX_OK, VALUES_MAX};
    struct facets facets = {.count = 0};
    size_t start = json->len;
    add(&facets, schema);
    make(&maker, &facets, container, 0);
    if (maker.status != DX_OK)
        json->len = start;
    return maker.status;
}
