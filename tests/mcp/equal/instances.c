/*
 * Values that fit: all members and every branch of every choice, each in a value of its own, so
 * that there is one place to look at when something differs. Schemas that refer to themselves are
 * followed once round.
 */
#include "mcp/equal/equal.h"
#include "protocol/load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FACETS_MAX = 32, STACK_MAX = 64, CHOICES_MAX = 16, MEMBERS_MAX = 64 };

struct maker {
    yyjson_val *root;
    bool small;                   /* only what is required, and the first branch of each choice */
    yyjson_val *stack[STACK_MAX]; /* what references led to on the way here */
    size_t depth;
};

/* All the schemas that one value has to fit. */
struct facets {
    yyjson_val *list[FACETS_MAX];
    size_t count;
    size_t complete;                 /* of these, what they refer to is there, too */
    yyjson_val *chosen[CHOICES_MAX]; /* choices of which a branch is there */
    size_t chosen_count;
};

struct member {
    dx_text name;
    bool required;
    struct texts full;
    struct texts least;
};

static void make(struct maker *maker, struct facets facets, struct texts *out);

static bool among(yyjson_val *const *list, size_t count, yyjson_val *value) {
    for (size_t i = 0; i < count; i++)
        if (list[i] == value)
            return true;
    return false;
}

static void add(struct facets *facets, yyjson_val *schema) {
    if (!yyjson_is_obj(schema) || among(facets->list, facets->count, schema))
        return;
    if (facets->count == FACETS_MAX)
        abort();
    facets->list[facets->count++] = schema;
}

/* Returns false if a reference leads back to where we come from. */
static bool complete(struct maker *maker, struct facets *facets) {
    for (; facets->complete < facets->count; facets->complete++) {
        yyjson_val *schema = facets->list[facets->complete];
        yyjson_val *reference = yyjson_obj_get(schema, "$ref");
        yyjson_val *target = reference ? dx__resolve(maker->root, dx__text(reference)) : NULL;
        if (target && !among(facets->list, facets->count, target)) {
            if (among(maker->stack, maker->depth, target))
                return false;
            if (maker->depth == STACK_MAX)
                abort();
            maker->stack[maker->depth++] = target;
            add(facets, target);
        }
        yyjson_arr_iter all = yyjson_arr_iter_with(yyjson_obj_get(schema, "allOf"));
        for (yyjson_val *it; (it = yyjson_arr_iter_next(&all));)
            add(facets, it);
    }
    return true;
}

static yyjson_val *choice_of(const struct facets *facets) {
    static const char *const keywords[] = {"anyOf", "oneOf"};
    for (size_t i = 0; i < facets->count; i++)
        for (size_t j = 0; j < 2; j++) {
            yyjson_val *choice = yyjson_obj_get(facets->list[i], keywords[j]);
            if (choice && !among(facets->chosen, facets->chosen_count, choice))
                return choice;
        }
    return NULL;
}

static yyjson_val *get(const struct facets *facets, const char *keyword) {
    for (size_t i = 0; i < facets->count; i++) {
        yyjson_val *value = yyjson_obj_get(facets->list[i], keyword);
        if (value)
            return value;
    }
    return NULL;
}

static bool allows(yyjson_val *type, const char *name) {
    if (yyjson_is_str(type))
        return yyjson_equals_str(type, name) ||
               (strcmp(name, "integer") == 0 && yyjson_equals_str(type, "number"));
    yyjson_arr_iter iter = yyjson_arr_iter_with(type);
    for (yyjson_val *it; (it = yyjson_arr_iter_next(&iter));)
        if (allows(it, name))
            return true;
    return false;
}

static bool all_allow(const struct facets *facets, const char *name) {
    for (size_t i = 0; i < facets->count; i++) {
        yyjson_val *type = yyjson_obj_get(facets->list[i], "type");
        if (type && !allows(type, name))
            return false;
    }
    return true;
}

static char *text_of(yyjson_val *value) {
    char *text = yyjson_val_write(value, 0, NULL);
    if (!text)
        abort();
    return text;
}

static char *string_of(const struct facets *facets) {
    static const char *const formats[][2] = {
        {"uri", "\"file:///a/b\""}, {"uri-template", "\"test://{id}/data\""},
        {"byte", "\"aGk=\""},       {"date-time", "\"2025-01-01T00:00:00Z\""},
        {"date", "\"2025-01-01\""}, {"email", "\"a@b.example\""},
    };
    yyjson_val *format = get(facets, "format");
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (yyjson_equals_str(format, formats[i][0]))
            return print("%s", formats[i][1]);
    return print("\"text\"");
}

static char *number_of(const struct facets *facets, bool integer) {
    yyjson_val *limit = get(facets, integer ? "minimum" : "maximum");
    return limit ? text_of(limit) : print("%s", integer ? "7" : "0.5");
}

static void make_array(struct maker *maker, const struct facets *facets, struct texts *out) {
    struct facets below = {.count = 0};
    struct texts items = {NULL, 0};
    for (size_t i = 0; i < facets->count; i++)
        add(&below, yyjson_obj_get(facets->list[i], "items"));
    bool needed = yyjson_get_int(get(facets, "minItems")) > 0;
    if (!maker->small || needed)
        make(maker, below, &items);
    for (size_t i = 0; i < items.count; i++)
        texts_add(out, print("[%s]", items.of[i]));
    if (!items.count)
        texts_add(out, print("[]"));
    texts_done(&items);
}

static struct facets facets_of_member(const struct facets *facets, dx_text name) {
    struct facets below = {.count = 0};
    for (size_t i = 0; i < facets->count; i++) {
        yyjson_val *properties = yyjson_obj_get(facets->list[i], "properties");
        yyjson_val *schema = yyjson_obj_getn(properties, name.at, name.len);
        add(&below, schema ? schema : yyjson_obj_get(facets->list[i], "additionalProperties"));
    }
    return below;
}

static bool is_required(const struct facets *facets, dx_text name) {
    for (size_t i = 0; i < facets->count; i++) {
        yyjson_arr_iter iter = yyjson_arr_iter_with(yyjson_obj_get(facets->list[i], "required"));
        for (yyjson_val *it; (it = yyjson_arr_iter_next(&iter));)
            if (dx__same(dx__text(it), name))
                return true;
    }
    return false;
}

static void add_member(struct maker *maker, const struct facets *facets, dx_text name,
                       struct member *members, size_t *count) {
    for (size_t i = 0; i < *count; i++)
        if (dx__same(members[i].name, name))
            return;
    if (*count == MEMBERS_MAX)
        abort();
    struct member *member = &members[(*count)++];
    *member = (struct member){.name = name, .required = is_required(facets, name)};
    if (!maker->small)
        make(maker, facets_of_member(facets, name), &member->full);
    bool small = maker->small;
    maker->small = true;
    if (member->required)
        make(maker, facets_of_member(facets, name), &member->least);
    maker->small = small;
}

/* One more member, under a name that no schema knows, where something is said of those or where
 * there are no others. */
static void add_unknown(struct maker *maker, const struct facets *facets, struct member *members,
                        size_t *count) {
    dx_text name = dx_str("anyName");
    bool said = false;
    for (size_t i = 0; i < facets->count; i++) {
        yyjson_val *schema = yyjson_obj_get(facets->list[i], "additionalProperties");
        if (yyjson_is_false(schema))
            return;
        said |= yyjson_obj_size(schema) > 0;
    }
    if (said || !*count)
        add_member(maker, facets, name, members, count);
}

/* The fullest; or the smallest, with one member that has a value of its own. */
static char *object_of(const struct member *members, size_t count, const struct member *special,
                       const char *text) {
    char *object = NULL;
    size_t len;
    FILE *file = open_memstream(&object, &len);
    if (!file)
        abort();
    const char *before = "{";
    for (const struct member *it = members; it < members + count; it++) {
        const struct texts *from = special ? &it->least : &it->full;
        const char *value = it == special ? text : from->count ? from->of[0] : NULL;
        if (!value)
            continue;
        fprintf(file, "%s\"%.*s\":%s", before, (int)it->name.len, it->name.at, value);
        before = ",";
    }
    fputs(*before == '{' ? "{}" : "}", file);
    if (fclose(file) != 0)
        abort();
    return object;
}

static void write_objects(const struct maker *maker, const struct member *members, size_t count,
                          struct texts *out) {
    /* That one is no member, so all have their smallest value. */
    const struct member *none = members + count;
    texts_add(out, object_of(members, count, maker->small ? none : NULL, NULL));
    for (size_t i = 0; i < count; i++)
        for (size_t j = 1; j < members[i].full.count; j++)
            texts_add(out, object_of(members, count, &members[i], members[i].full.of[j]));
}

/* In order of their names, so that both sides make the same text of the same value. */
static int by_name(const void *one, const void *other) {
    const dx_text a = ((const struct member *)one)->name;
    const dx_text b = ((const struct member *)other)->name;
    int order = memcmp(a.at, b.at, a.len < b.len ? a.len : b.len);
    return order ? order : (a.len > b.len) - (a.len < b.len);
}

static void make_object(struct maker *maker, const struct facets *facets, struct texts *out) {
    struct member members[MEMBERS_MAX];
    size_t count = 0;
    for (size_t i = 0; i < facets->count; i++) {
        yyjson_obj_iter known = yyjson_obj_iter_with(yyjson_obj_get(facets->list[i], "properties"));
        for (yyjson_val *key; (key = yyjson_obj_iter_next(&known));)
            add_member(maker, facets, dx__text(key), members, &count);
        yyjson_arr_iter required =
            yyjson_arr_iter_with(yyjson_obj_get(facets->list[i], "required"));
        for (yyjson_val *it; (it = yyjson_arr_iter_next(&required));)
            add_member(maker, facets, dx__text(it), members, &count);
    }
    if (!maker->small)
        add_unknown(maker, facets, members, &count);
    qsort(members, count, sizeof *members, by_name);
    write_objects(maker, members, count, out);
    for (size_t i = 0; i < count; i++) {
        texts_done(&members[i].full);
        texts_done(&members[i].least);
    }
}

static void make_typed(struct maker *maker, const struct facets *facets, const char *type,
                       struct texts *out) {
    if (strcmp(type, "object") == 0)
        make_object(maker, facets, out);
    else if (strcmp(type, "array") == 0)
        make_array(maker, facets, out);
    else if (strcmp(type, "string") == 0)
        texts_add(out, string_of(facets));
    else if (strcmp(type, "boolean") == 0)
        texts_add(out, print("true"));
    else if (strcmp(type, "null") == 0)
        texts_add(out, print("null"));
    else
        texts_add(out, number_of(facets, strcmp(type, "integer") == 0));
}

static void make_any(const struct maker *maker, struct texts *out) {
    static const char *const values[] = {"\"any\"", "null", "1.5", "true", "[1]", "{\"a\":null}"};
    for (size_t i = 0; i < (maker->small ? 1 : sizeof values / sizeof *values); i++)
        texts_add(out, print("%s", values[i]));
}

static void make_value(struct maker *maker, const struct facets *facets, struct texts *out) {
    yyjson_val *fixed = get(facets, "const");
    yyjson_val *list = get(facets, "enum");
    yyjson_val *type = get(facets, "type");
    if (fixed) {
        texts_add(out, text_of(fixed));
        return;
    }
    yyjson_arr_iter iter = yyjson_arr_iter_with(list);
    for (yyjson_val *it; (it = yyjson_arr_iter_next(&iter));)
        texts_add(out, text_of(it));
    if (list)
        return;
    iter = yyjson_arr_iter_with(type);
    for (yyjson_val *it; (it = yyjson_arr_iter_next(&iter));)
        if (all_allow(facets, yyjson_get_str(it)))
            make_typed(maker, facets, yyjson_get_str(it), out);
    if (yyjson_is_str(type))
        make_typed(maker, facets, yyjson_get_str(type), out);
    else if (!type && (get(facets, "properties") || get(facets, "required")))
        make_object(maker, facets, out);
    else if (!type)
        make_any(maker, out);
}

static void make_branches(struct maker *maker, const struct facets *facets, yyjson_val *choice,
                          struct texts *out) {
    yyjson_arr_iter iter = yyjson_arr_iter_with(choice);
    for (yyjson_val *it; (it = yyjson_arr_iter_next(&iter));) {
        struct facets branch = *facets;
        if (branch.chosen_count == CHOICES_MAX)
            abort();
        branch.chosen[branch.chosen_count++] = choice;
        add(&branch, it);
        make(maker, branch, out);
        if (maker->small && out->count)
            return;
    }
}

/* Adds nothing if the schema leads back to where we come from. */
static void make(struct maker *maker, struct facets facets, struct texts *out) {
    size_t depth = maker->depth;
    if (complete(maker, &facets)) {
        yyjson_val *choice = choice_of(&facets);
        if (choice)
            make_branches(maker, &facets, choice, out);
        else
            make_value(maker, &facets, out);
    }
    maker->depth = depth;
}

void instances_make(yyjson_val *root, yyjson_val *const *schemas, size_t count,
                    struct texts *instances) {
    struct maker maker = {.root = root};
    struct facets facets = {.count = 0};
    struct texts made = {NULL, 0};
    for (size_t i = 0; i < count; i++)
        add(&facets, schemas[i]);
    make(&maker, facets, &made);
    for (size_t i = 0; i < made.count; i++)
        texts_add_new(instances, made.of[i]);
    free(made.of);
}
