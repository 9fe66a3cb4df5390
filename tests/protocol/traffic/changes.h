/*
 * changes.h: values that do not fit, made from the smallest one that does.
 *
 * Each required member is left out, and each member that a schema speaks of gets a value of every
 * type that it cannot have. What a schema says is read here anew, with no help of the engine that
 * is to be tested: references, allOf and, for types only, alternatives.
 */
#ifndef TRAFFIC_CHANGES_H
#define TRAFFIC_CHANGES_H

#include "protocol/traffic/book.h"

enum { SCHEMAS_MAX = 24, POINTER_ROOM = 256, NESTING_MAX = 8 };

/* Longer names are cut off in phrases. */
enum { QUOTED_MAX = 40 };

struct change {
    char *text;                 /* NULL: absent */
    char pointer[POINTER_ROOM]; /* where the fault is told */
    char reason[160];           /* what is said about it; "" where that depends on more */
};

struct changes {
    yyjson_val *root;  /* of the document */
    yyjson_val *whole; /* the value that fits */
    struct change *list;
    size_t count;
};

/* All that one value has to fit at the same time. */
struct schemas {
    yyjson_val *list[SCHEMAS_MAX];
    size_t count;
};

enum {
    IS_NULL = 1,
    IS_BOOLEAN = 2,
    IS_INTEGER = 4,
    IS_FRACTION = 8,
    IS_STRING = 16,
    IS_ARRAY = 32,
    IS_OBJECT = 64,
    IS_ANY = 127
};

static const struct {
    unsigned is;
    const char *text;
    const char *found;
} kinds[] = {
    {IS_BOOLEAN, "false", "boolean"}, {IS_STRING, "\"\"", "string"}, {IS_NULL, "null", "null"},
    {IS_INTEGER, "0", "number"},      {IS_FRACTION, "0.5", NULL},    {IS_ARRAY, "[]", "array"},
    {IS_OBJECT, "{}", "object"},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static inline unsigned is_of_name(const char *name) {
    static const struct {
        const char *name;
        unsigned is;
    } names[] = {{"null", IS_NULL},       {"boolean", IS_BOOLEAN},
                 {"integer", IS_INTEGER}, {"number", IS_INTEGER | IS_FRACTION},
                 {"string", IS_STRING},   {"array", IS_ARRAY},
                 {"object", IS_OBJECT}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (is_same(name, names[i].name))
            return names[i].is;
    return 0;
}

static inline unsigned is_of_value(yyjson_val *value) {
    if (yyjson_is_real(value))
        return IS_INTEGER | IS_FRACTION;
    return is_of_name(yyjson_is_int(value)    ? "integer"
                      : yyjson_is_null(value) ? "null"
                      : yyjson_is_bool(value) ? "boolean"
                                              : yyjson_get_type_desc(value));
}

static inline yyjson_val *follow(yyjson_val *root, yyjson_val *reference) {
    const char *text = yyjson_get_str(reference);
    return text && text[0] == '#' ? yyjson_ptr_get(root, text + 1) : NULL;
}

/* The types that a schema may let through. */
static inline unsigned types_of(yyjson_val *root, yyjson_val *schema, unsigned depth) {
    static const char *const choices[] = {"anyOf", "oneOf"};
    if (!yyjson_is_obj(schema) || depth > NESTING_MAX)
        return yyjson_is_false(schema) ? 0 : IS_ANY;
    unsigned types = IS_ANY;
    yyjson_val *type = yyjson_obj_get(schema, "type");
    if (yyjson_is_str(type))
        types &= is_of_name(yyjson_get_str(type));
    size_t i;
    size_t max;
    yyjson_val *it;
    unsigned some = 0;
    if (yyjson_is_arr(type)) {
        yyjson_arr_foreach(type, i, max, it) some |= is_of_name(yyjson_get_str(it));
        types &= some;
    }
    if (yyjson_obj_get(schema, "const"))
        types &= is_of_value(yyjson_obj_get(schema, "const"));
    some = 0;
    if (yyjson_obj_get(schema, "enum")) {
        yyjson_arr_foreach(yyjson_obj_get(schema, "enum"), i, max, it) some |= is_of_value(it);
        types &= some;
    }
    if (yyjson_obj_get(schema, "$ref"))
        types &= types_of(root, follow(root, yyjson_obj_get(schema, "$ref")), depth + 1);
    yyjson_arr_foreach(yyjson_obj_get(schema, "allOf"), i, max, it) types &=
        types_of(root, it, depth + 1);
    for (size_t k = 0; k < 2; k++) {
        yyjson_val *list = yyjson_obj_get(schema, choices[k]);
        some = 0;
        yyjson_arr_foreach(list, i, max, it) some |= types_of(root, it, depth + 1);
        types &= list ? some : IS_ANY;
    }
    return types;
}

/* Adds a schema with all that it refers to. */
static inline void schemas_add(struct schemas *schemas, yyjson_val *root, yyjson_val *schema) {
    size_t from = schemas->count;
    if (!yyjson_is_obj(schema) || schemas->count == SCHEMAS_MAX)
        return;
    schemas->list[schemas->count++] = schema;
    for (size_t i = from; i < schemas->count; i++) {
        yyjson_val *reference = yyjson_obj_get(schemas->list[i], "$ref");
        if (reference && schemas->count < SCHEMAS_MAX)
            schemas->list[schemas->count++] = follow(root, reference);
        yyjson_arr_iter iter = yyjson_arr_iter_with(yyjson_obj_get(schemas->list[i], "allOf"));
        for (yyjson_val *it; (it = yyjson_arr_iter_next(&iter)) && schemas->count < SCHEMAS_MAX;)
            schemas->list[schemas->count++] = it;
    }
}

static inline unsigned types_of_all(const struct changes *changes, const struct schemas *schemas) {
    unsigned types = IS_ANY;
    for (size_t i = 0; i < schemas->count; i++)
        types &= types_of(changes->root, schemas->list[i], 0);
    return types;
}

/* The name of the type, if a schema says no more than that. */
static inline const char *plain_type(const struct schemas *schemas) {
    static const char *const others[] = {"const", "enum", "anyOf", "oneOf", "if", "not"};
    const char *name = NULL;
    for (size_t i = 0; i < schemas->count; i++) {
        yyjson_val *type = yyjson_obj_get(schemas->list[i], "type");
        if (name && type)
            return NULL;
        if (type)
            name = yyjson_get_str(type);
        for (size_t k = 0; k < sizeof others / sizeof *others; k++)
            if (yyjson_obj_get(schemas->list[i], others[k]))
                return NULL;
    }
    return name;
}

static inline struct change *change_add(struct changes *changes, const char *pointer) {
    changes->list = realloc(changes->list, (changes->count + 1) * sizeof *changes->list);
    must(changes->list != NULL);
    struct change *change = &changes->list[changes->count++];
    *change = (struct change){.text = NULL};
    must((size_t)snprintf(change->pointer, POINTER_ROOM, "%s", pointer) < POINTER_ROOM);
    return change;
}

/* The whole value with something else, or nothing, at a place. */
static inline char *changed_text(const struct changes *changes, const char *pointer,
                                 const char *replacement) {
    if (!pointer[0])
        return replacement ? strdup(replacement) : NULL;
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_doc_set_root(doc, yyjson_val_mut_copy(doc, changes->whole));
    if (replacement) {
        yyjson_doc *other = yyjson_read(replacement, strlen(replacement), 0);
        must(yyjson_mut_doc_ptr_set(doc, pointer,
                                    yyjson_val_mut_copy(doc, yyjson_doc_get_root(other))));
        yyjson_doc_free(other);
    } else {
        must(yyjson_mut_doc_ptr_remove(doc, pointer) != NULL);
    }
    char *text = yyjson_mut_write(doc, 0, NULL);
    must(text != NULL);
    yyjson_mut_doc_free(doc);
    return text;
}

/* One value of each type that is not allowed at a place. `among` are those that can be sent. */
static inline void change_types(struct changes *changes, const struct schemas *schemas,
                                const char *pointer, unsigned among) {
    unsigned types = types_of_all(changes, schemas);
    const char *plain = plain_type(schemas);
    for (size_t i = 0; i < KINDS; i++) {
        if ((types & kinds[i].is) || !(among & kinds[i].is))
            continue;
        struct change *change = change_add(changes, pointer);
        change->text = changed_text(changes, pointer, kinds[i].text);
        if (plain && kinds[i].found)
            snprintf(change->reason, sizeof change->reason, "expected %s, found %s", plain,
                     kinds[i].found);
    }
}

static inline void change_missing(struct changes *changes, const char *parent, const char *pointer,
                                  const char *name) {
    struct change *change = change_add(changes, parent);
    change->text = changed_text(changes, pointer, NULL);
    if (strlen(name) <= QUOTED_MAX)
        snprintf(change->reason, sizeof change->reason, "missing member \"%s\"", name);
}

/* A pointer to a member: "~" and "/" in its name stand there in another form. */
static inline void point_to(char pointer[POINTER_ROOM], const char *parent, const char *name) {
    size_t len = (size_t)snprintf(pointer, POINTER_ROOM, "%s/", parent);
    for (; *name; name++) {
        must(len + 3 < POINTER_ROOM);
        if (*name == '~' || *name == '/') {
            pointer[len++] = '~';
            pointer[len++] = *name == '~' ? '0' : '1';
        } else {
            pointer[len++] = *name;
        }
    }
    pointer[len] = '\0';
}

static inline bool is_listed(yyjson_val *list, const char *name) {
    yyjson_arr_iter iter = yyjson_arr_iter_with(list);
    for (yyjson_val *it; (it = yyjson_arr_iter_next(&iter));)
        if (yyjson_equals_str(it, name))
            return true;
    return false;
}

static inline void change_inside(struct changes *changes, const struct schemas *schemas,
                                 yyjson_val *value, const char *pointer, unsigned depth);

static inline void change_member(struct changes *changes, const struct schemas *schemas,
                                 yyjson_val *value, const char *parent, const char *name,
                                 unsigned depth) {
    struct schemas below = {.count = 0};
    bool required = false;
    char pointer[POINTER_ROOM];
    point_to(pointer, parent, name);
    for (size_t i = 0; i < schemas->count; i++) {
        yyjson_val *properties = yyjson_obj_get(schemas->list[i], "properties");
        schemas_add(&below, changes->root, yyjson_obj_get(properties, name));
        required |= is_listed(yyjson_obj_get(schemas->list[i], "required"), name);
    }
    if (required)
        change_missing(changes, parent, pointer, name);
    change_types(changes, &below, pointer, IS_ANY);
    change_inside(changes, &below, yyjson_obj_get(value, name), pointer, depth + 1);
}

static inline void change_items(struct changes *changes, const struct schemas *schemas,
                                yyjson_val *value, const char *parent, unsigned depth) {
    size_t i;
    size_t max;
    yyjson_val *item;
    yyjson_arr_foreach(value, i, max, item) {
        struct schemas below = {.count = 0};
        char name[24];
        char pointer[POINTER_ROOM];
        snprintf(name, sizeof name, "%zu", i);
        point_to(pointer, parent, name);
        for (size_t k = 0; k < schemas->count; k++) {
            yyjson_val *prefix = yyjson_obj_get(schemas->list[k], "prefixItems");
            yyjson_val *schema = yyjson_arr_get(prefix, i);
            schemas_add(&below, changes->root,
                        schema ? schema : yyjson_obj_get(schemas->list[k], "items"));
        }
        change_types(changes, &below, pointer, IS_ANY);
        change_inside(changes, &below, item, pointer, depth + 1);
    }
}

/* Members that more than one schema speaks of are looked at once. */
static inline bool was_named(const struct schemas *schemas, size_t before, const char *name) {
    for (size_t i = 0; i < before; i++)
        if (yyjson_obj_get(yyjson_obj_get(schemas->list[i], "properties"), name))
            return true;
    return false;
}

/* The members and items of a value that is there. */
static inline void change_inside(struct changes *changes, const struct schemas *schemas,
                                 yyjson_val *value, const char *pointer, unsigned depth) {
    if (depth > NESTING_MAX)
        return;
    change_items(changes, schemas, value, pointer, depth);
    if (!yyjson_is_obj(value))
        return;
    for (size_t i = 0; i < schemas->count; i++) {
        yyjson_obj_iter iter = yyjson_obj_iter_with(yyjson_obj_get(schemas->list[i], "properties"));
        for (yyjson_val *key; (key = yyjson_obj_iter_next(&iter));)
            if (!was_named(schemas, i, yyjson_get_str(key)))
                change_member(changes, schemas, value, pointer, yyjson_get_str(key), depth);
    }
    for (size_t i = 0; i < schemas->count; i++) {
        yyjson_arr_iter iter = yyjson_arr_iter_with(yyjson_obj_get(schemas->list[i], "required"));
        for (yyjson_val *it; (it = yyjson_arr_iter_next(&iter));)
            if (!was_named(schemas, schemas->count, yyjson_get_str(it)))
                change_member(changes, schemas, value, pointer, yyjson_get_str(it), depth);
    }
}

/* Everything that can be wrong with a part of a message. */
static inline void changes_find(struct changes *changes, const struct book *book,
                                const dx_method *method, dx_side from, dx_part part,
                                yyjson_doc *smallest) {
    yyjson_val *schema = schema_of(book, method, from, part);
    bool is_params = part == DX_PART_PARAMS;
    struct schemas schemas = {.count = 0};
    *changes = (struct changes){.root = dx_protocol_document(book->protocol),
                                .whole = yyjson_doc_get_root(smallest)};
    if (is_params && !schema) {
        static const char *const full[] = {"{\"a\":1}", "[1]"};
        for (size_t i = 0; i < 2; i++) {
            struct change *change = change_add(changes, "");
            change->text = strdup(full[i]);
            strcpy(change->reason, "expected no params, or empty ones");
        }
    }
    if (!schema)
        return;
    if (is_params && !method->optional[from])
        strcpy(change_add(changes, "")->reason, "the params are missing");
    schemas_add(&schemas, changes->root, schema);
    change_types(changes, &schemas, "", is_params ? IS_ARRAY | IS_OBJECT : IS_ANY);
    change_inside(changes, &schemas, changes->whole, "", 0);
}

static inline void changes_done(struct changes *changes) {
    for (size_t i = 0; i < changes->count; i++)
        free(changes->list[i].text);
    free(changes->list);
}

#endif
