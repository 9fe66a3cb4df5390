#include "cli/describe/tree.h"

#include "cli/describe/paper.h"
#include "cli/describe/parts.h"
#include "cli/say.h"

#include <stdlib.h>
#include <string.h>

/* A schema may be of any form: what is shown of it has an end. */
enum {
    WORDS_MAX = 40000,
    BRANCH_MAX = 64,
    DEPTH_MAX = 24,
    LINES_MAX = 2000,
    FACETS_MAX = 32,
    VALUES_MAX = 40
};

struct walk {
    FILE *out;
    const cli_tree *tree;
    unsigned lines;
    unsigned words;
    bool cut;                       /* it is too much */
    yyjson_val *branch[BRANCH_MAX]; /* what references led to on the way here */
    size_t branch_len;
};

/* All the schemas that one value has to fit. */
struct facets {
    yyjson_val *list[FACETS_MAX];
    size_t count;
    const char *name; /* of the first reference */
    bool back;        /* it leads to where we come from */
    bool nothing;     /* nothing fits */
};

static bool is_in_branch(const struct walk *walk, yyjson_val *target) {
    for (size_t i = 0; i < walk->branch_len; i++)
        if (walk->branch[i] == target)
            return true;
    return walk->branch_len == BRANCH_MAX;
}

static void add(struct facets *facets, yyjson_val *schema) {
    facets->nothing |= yyjson_is_false(schema);
    for (size_t i = 0; i < facets->count; i++)
        if (facets->list[i] == schema)
            return;
    if (yyjson_is_obj(schema) && facets->count < FACETS_MAX)
        facets->list[facets->count++] = schema;
}

/* What is entered here stays in the branch until the caller takes it out. */
static void collect(struct walk *walk, yyjson_val *schema, struct facets *facets) {
    *facets = (struct facets){.count = 0};
    add(facets, schema);
    for (size_t i = 0; i < facets->count; i++) {
        const char *reference = yyjson_get_str(yyjson_obj_get(facets->list[i], "$ref"));
        yyjson_val *target = cli_resolve(walk->tree->root, reference);
        if (reference && !facets->name)
            facets->name = cli_reference_name(reference);
        if (target && is_in_branch(walk, target)) {
            facets->back = true;
        } else if (target) {
            walk->branch[walk->branch_len++] = target;
            add(facets, target);
        }
        yyjson_arr_iter all = yyjson_arr_iter_with(yyjson_obj_get(facets->list[i], "allOf"));
        for (yyjson_val *it; facets->count < FACETS_MAX && (it = yyjson_arr_iter_next(&all));)
            add(facets, it);
    }
}

static yyjson_val *get(const struct facets *facets, const char *keyword) {
    for (size_t i = 0; i < facets->count; i++) {
        yyjson_val *value = yyjson_obj_get(facets->list[i], keyword);
        if (value)
            return value;
    }
    return NULL;
}

static yyjson_val *alternatives_of(const struct facets *facets) {
    yyjson_val *any = get(facets, "anyOf");
    return any ? any : get(facets, "oneOf");
}

/* Is there more to show than a word? */
static bool has_inside(const struct facets *facets) {
    return get(facets, "properties") || get(facets, "patternProperties") ||
           get(facets, "prefixItems") || alternatives_of(facets) ||
           yyjson_is_obj(get(facets, "items")) ||
           yyjson_is_obj(get(facets, "additionalProperties"));
}

static void put(const struct walk *walk, const char *text) {
    char *safe = cli_safe(text);
    fputs(safe ? safe : "?", walk->out);
    free(safe);
}

static void put_value(const struct walk *walk, yyjson_val *value) {
    char *text = yyjson_val_write(value, YYJSON_WRITE_NOFLAG, NULL);
    put(walk, text ? text : "?");
    free(text);
}

static void put_values(const struct walk *walk, yyjson_val *list) {
    size_t count = yyjson_arr_size(list);
    yyjson_arr_iter iter = yyjson_arr_iter_with(list);
    for (size_t i = 0; i < count && i < VALUES_MAX; i++) {
        fputs(!i ? "" : i + 1 == count ? " or " : ", ", walk->out);
        put_value(walk, yyjson_arr_iter_next(&iter));
    }
    if (count > VALUES_MAX)
        fprintf(walk->out, " or one of %zu more", count - VALUES_MAX);
}

/* ", at least 1", ", 0 to 9"; in brackets where several types stand in a row. */
static void put_bounds(const struct walk *walk, const struct facets *facets, const char *low,
                       const char *high, const char *of) {
    yyjson_val *least = get(facets, low);
    yyjson_val *most = get(facets, high);
    bool several = yyjson_arr_size(get(facets, "type")) > 1;
    if (!least && !most)
        return;
    fputs(several ? " (" : ", ", walk->out);
    if (*of && !most && yyjson_get_uint(least) == 1) {
        fputs(several ? "not empty)" : "not empty", walk->out);
        return;
    }
    fputs(!most ? "at least " : !least ? "at most " : "", walk->out);
    if (least)
        put_value(walk, least);
    if (least && most)
        fputs(" to ", walk->out);
    if (most)
        put_value(walk, most);
    fprintf(walk->out, "%s%s", of, several ? ")" : "");
}

static void put_words(struct walk *walk, const struct facets *facets, unsigned depth);

/* What one schema is, in a word or two. */
static void put_one(struct walk *walk, yyjson_val *schema, unsigned depth) {
    struct facets facets;
    size_t before = walk->branch_len;
    collect(walk, schema, &facets);
    put_words(walk, &facets, depth + 1);
    walk->branch_len = before;
}

static void put_type(struct walk *walk, const struct facets *facets, yyjson_val *type,
                     unsigned depth) {
    const char *name = yyjson_is_str(type) ? yyjson_get_str(type) : "?";
    yyjson_val *items = get(facets, "items");
    put(walk, name);
    if (strcmp(name, "string") == 0) {
        const char *format = yyjson_get_str(get(facets, "format"));
        const char *pattern = yyjson_get_str(get(facets, "pattern"));
        if (format) {
            fputs(" (", walk->out);
            put(walk, format);
            fputs(")", walk->out);
        }
        if (pattern) {
            fputs(" matching /", walk->out);
            put(walk, pattern);
            fputs("/", walk->out);
        }
        put_bounds(walk, facets, "minLength", "maxLength", " characters");
    } else if (strcmp(name, "integer") == 0 || strcmp(name, "number") == 0) {
        put_bounds(walk, facets, "minimum", "maximum", "");
    } else if (strcmp(name, "array") == 0) {
        if (items && !get(facets, "prefixItems")) {
            fputs(" of ", walk->out);
            put_one(walk, items, depth);
        }
        put_bounds(walk, facets, "minItems", "maxItems", " items");
    }
}

static void put_types(struct walk *walk, const struct facets *facets, yyjson_val *type,
                      unsigned depth) {
    size_t count = yyjson_arr_size(type);
    if (!yyjson_is_arr(type))
        put_type(walk, facets, type, depth);
    yyjson_arr_iter iter = yyjson_arr_iter_with(type);
    for (size_t i = 0; i < count; i++) {
        fputs(!i ? "" : i + 1 == count ? " or " : ", ", walk->out);
        put_type(walk, facets, yyjson_arr_iter_next(&iter), depth);
    }
}

/* Alternatives that are words go on one line, others below. */
static bool are_words(struct walk *walk, yyjson_val *list) {
    bool words = true;
    yyjson_arr_iter iter = yyjson_arr_iter_with(list);
    for (yyjson_val *it; (it = yyjson_arr_iter_next(&iter));) {
        struct facets facets;
        size_t before = walk->branch_len;
        collect(walk, it, &facets);
        words =
            words && !has_inside(&facets) &&
            (facets.name || get(&facets, "type") || get(&facets, "const") || get(&facets, "enum"));
        walk->branch_len = before;
    }
    return words && yyjson_arr_size(list) <= VALUES_MAX;
}

static void put_alternatives(struct walk *walk, yyjson_val *list, unsigned depth) {
    size_t count = yyjson_arr_size(list);
    if (!are_words(walk, list)) {
        fputs("one of these", walk->out);
        return;
    }
    yyjson_arr_iter iter = yyjson_arr_iter_with(list);
    for (size_t i = 0; i < count; i++) {
        fputs(!i ? "" : i + 1 == count ? " or " : ", ", walk->out);
        put_one(walk, yyjson_arr_iter_next(&iter), depth);
    }
}

/* What is said of a value besides references. */
static void put_plain(struct walk *walk, const struct facets *facets, unsigned depth) {
    yyjson_val *value;
    yyjson_val *alternatives = alternatives_of(facets);
    if (facets->nothing)
        fputs("nothing", walk->out);
    else if (depth == DEPTH_MAX || walk->words++ >= WORDS_MAX)
        fputs("…", walk->out);
    else if ((value = get(facets, "const")))
        put_value(walk, value);
    else if ((value = get(facets, "enum")))
        put_values(walk, value);
    else if ((value = get(facets, "type")) || !alternatives)
        value ? put_types(walk, facets, value, depth)
              : (void)fputs(get(facets, "properties") ? "object" : "anything", walk->out);
    else
        put_alternatives(walk, alternatives, depth);
}

static void put_words(struct walk *walk, const struct facets *facets, unsigned depth) {
    if (!facets->name) {
        put_plain(walk, facets, depth);
        return;
    }
    put(walk, facets->name);
    fputs(facets->back ? ", as above" : " (", walk->out);
    if (!facets->back) {
        put_plain(walk, facets, depth);
        fputs(")", walk->out);
    }
}

/* Keywords that no line tells of. */
static bool has_more_rules(const struct facets *facets) {
    static const char *const words[] = {
        "if",
        "not",
        "contains",
        "dependentRequired",
        "propertyNames",
        "minProperties",
        "exclusiveMinimum",
        "dependentSchemas",
        "multipleOf",
        "maxProperties",
        "exclusiveMaximum",
        "uniqueItems",
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (get(facets, words[i]))
            return true;
    return false;
}

static bool is_required(const struct facets *facets, const char *name) {
    for (size_t i = 0; i < facets->count; i++) {
        yyjson_arr_iter iter = yyjson_arr_iter_with(yyjson_obj_get(facets->list[i], "required"));
        for (yyjson_val *it; (it = yyjson_arr_iter_next(&iter));)
            if (yyjson_equals_str(it, name))
                return true;
    }
    return false;
}

struct node {
    const char *label;
    yyjson_val *schema;
    bool required;
    const char *text; /* if the schema has none of its own */
};

static void put_node(struct walk *walk, const struct node *node, unsigned depth);

/* What OpenRPC's list says of a param. */
static const char *listed_text(const struct walk *walk, const char *name) {
    yyjson_arr_iter iter = yyjson_arr_iter_with(walk->tree->listed);
    for (yyjson_val *it; (it = yyjson_arr_iter_next(&iter));)
        if (yyjson_equals_str(yyjson_obj_get(it, "name"), name)) {
            yyjson_val *text = yyjson_obj_get(it, "description");
            return yyjson_get_str(text ? text : yyjson_obj_get(it, "summary"));
        }
    return NULL;
}

/* Was that member shown for one of the schemas before? */
static bool is_shown(const struct facets *facets, size_t before, const char *keyword,
                     const char *name) {
    for (size_t i = 0; i < before; i++)
        if (yyjson_obj_get(yyjson_obj_get(facets->list[i], keyword), name))
            return true;
    return false;
}

static void put_members(struct walk *walk, const struct facets *facets, const char *keyword,
                        unsigned depth) {
    bool named = strcmp(keyword, "properties") == 0;
    for (size_t i = 0; i < facets->count; i++) {
        yyjson_obj_iter iter = yyjson_obj_iter_with(yyjson_obj_get(facets->list[i], keyword));
        for (yyjson_val *key; !walk->cut && (key = yyjson_obj_iter_next(&iter));) {
            const char *name = yyjson_get_str(key);
            char *pattern = NULL;
            if (is_shown(facets, i, keyword, name) ||
                (!named && asprintf(&pattern, "/%s/", name) < 0))
                continue;
            struct node node = {named ? name : pattern, yyjson_obj_iter_get_val(key),
                                named && is_required(facets, name),
                                named && depth == 1 ? listed_text(walk, name) : NULL};
            put_node(walk, &node, depth);
            free(pattern);
        }
    }
}

static void put_items(struct walk *walk, const struct facets *facets, unsigned depth);

static void put_inside(struct walk *walk, const struct facets *facets, unsigned depth) {
    yyjson_val *alternatives = alternatives_of(facets);
    yyjson_val *others = get(facets, "additionalProperties");
    put_members(walk, facets, "properties", depth);
    put_members(walk, facets, "patternProperties", depth);
    if (yyjson_is_obj(others)) {
        struct node node = {get(facets, "properties") ? "(any other)" : "(any name)", others, false,
                            NULL};
        put_node(walk, &node, depth);
    }
    put_items(walk, facets, depth);
    if (!alternatives || (are_words(walk, alternatives) && !get(facets, "type")))
        return;
    yyjson_arr_iter iter = yyjson_arr_iter_with(alternatives);
    for (yyjson_val *it; !walk->cut && (it = yyjson_arr_iter_next(&iter));) {
        struct node node = {NULL, it, false, NULL};
        put_node(walk, &node, depth);
    }
}

/* An array was called "array of …"; what these are stands right below it. */
static void put_items(struct walk *walk, const struct facets *facets, unsigned depth) {
    yyjson_val *items = get(facets, "items");
    yyjson_val *first = get(facets, "prefixItems");
    size_t index = 0;
    char label[32];
    yyjson_arr_iter iter = yyjson_arr_iter_with(first);
    for (yyjson_val *it; !walk->cut && (it = yyjson_arr_iter_next(&iter));) {
        snprintf(label, sizeof label, "[%zu]", index++);
        struct node node = {label, it, false, NULL};
        put_node(walk, &node, depth);
    }
    if (first && yyjson_is_obj(items)) {
        struct node node = {"[others]", items, false, NULL};
        put_node(walk, &node, depth);
    } else if (items && depth < DEPTH_MAX) {
        struct facets below;
        size_t before = walk->branch_len;
        collect(walk, items, &below);
        if (!below.back)
            put_inside(walk, &below, depth);
        walk->branch_len = before;
    }
}

static void put_text(struct walk *walk, const struct facets *facets, const struct node *node,
                     size_t indent) {
    const char *text = yyjson_get_str(get(facets, "description"));
    text = text ? text : node->text;
    if (!text || !*text)
        return;
    fputs(cli_paint(walk->out, CLI_DIM), walk->out);
    cli_put_wrapped(walk->out, text, indent + 4);
    fputs(cli_paint(walk->out, CLI_PLAIN), walk->out);
}

static void put_line(struct walk *walk, const struct facets *facets, const struct node *node,
                     size_t indent) {
    yyjson_val *other = get(facets, "default");
    fprintf(walk->out, "%*s%s", (int)indent, "", cli_paint(walk->out, CLI_CYAN));
    put(walk, node->label ? node->label : "-");
    fprintf(walk->out, "%s%s ", cli_paint(walk->out, CLI_PLAIN), node->label ? ":" : "");
    put_words(walk, facets, 0);
    if (node->required)
        fprintf(walk->out, ", %srequired%s", cli_paint(walk->out, CLI_YELLOW),
                cli_paint(walk->out, CLI_PLAIN));
    if (other) {
        fputs(", default ", walk->out);
        put_value(walk, other);
    }
    if (has_more_rules(facets))
        fputs(", more rules apply", walk->out);
    if (!indent && walk->tree->remark)
        fprintf(walk->out, ", %s", walk->tree->remark);
    fputc('\n', walk->out);
}

static void put_node(struct walk *walk, const struct node *node, unsigned depth) {
    struct facets facets;
    size_t before = walk->branch_len;
    size_t indent = 2 * (size_t)depth;
    walk->cut = walk->lines++ >= LINES_MAX || walk->words >= WORDS_MAX;
    if (walk->cut || depth >= DEPTH_MAX) {
        fprintf(walk->out, "%*s… and more: --json-schema shows everything\n", (int)indent, "");
        return;
    }
    collect(walk, node->schema, &facets);
    put_line(walk, &facets, node, indent);
    put_text(walk, &facets, node, indent);
    if (!facets.back)
        put_inside(walk, &facets, depth + 1);
    walk->branch_len = before;
}

void cli_put_tree(FILE *out, const cli_tree *tree) {
    struct walk walk = {.out = out, .tree = tree, .branch = {tree->schema}, .branch_len = 1};
    struct node node = {tree->label, tree->schema, false, NULL};
    put_node(&walk, &node, 0);
}
