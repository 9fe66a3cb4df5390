/* What could stand at the end of a line: commands, methods, members of params and their values. */
#include "cli/describe/parts.h"
#include "cli/repl/repl.h"

#include <stdlib.h>
#include <string.h>

/* Documents may be anybody's: who makes schemas that lead to each other without an end gets no
 * further than this. */
enum { OFFERS_MAX = 500, DEPTH_MAX = 16, LOOKS_MAX = 10000 };

/* A word that is completed, and what has been found for it. */
struct hunt {
    const dx_protocol *protocol;
    const char *line;
    const char *word;
    struct repl_offers *offers;
    size_t looks; /* at schemas, so far */
};

static void offer(struct hunt *hunt, const char *before, const char *text, const char *behind) {
    struct repl_offers *offers = hunt->offers;
    char *whole = NULL;
    if (offers->count == OFFERS_MAX || asprintf(&whole, "%s%s%s", before, text, behind) < 0)
        return;
    bool wanted = strncmp(whole, hunt->word, strlen(hunt->word)) == 0;
    for (size_t i = 0; wanted && i < offers->count; i++)
        wanted = strcmp(offers->at[i], whole) != 0;
    char **more = wanted ? realloc(offers->at, (offers->count + 1) * sizeof *more) : NULL;
    if (!more) {
        free(whole);
        return;
    }
    offers->at = more;
    offers->at[offers->count++] = whole;
}

static void offer_methods(struct hunt *hunt) {
    const dx_method *method;
    for (size_t i = 0; (method = dx_protocol_method(hunt->protocol, i)); i++)
        if (method->from_host)
            offer(hunt, "", method->name, "");
}

/* Schemas that describe the same value: this one, and all that it refers to or is made of. */
static void each_schema(struct hunt *hunt, yyjson_val *schema, unsigned depth,
                        void (*look)(struct hunt *hunt, yyjson_val *schema, void *user),
                        void *user) {
    static const char *const parts[] = {"allOf", "anyOf", "oneOf"};
    yyjson_val *part;
    size_t at;
    size_t count;
    if (!schema || depth == DEPTH_MAX || hunt->looks == LOOKS_MAX)
        return;
    hunt->looks++;
    const char *reference = yyjson_get_str(yyjson_obj_get(schema, "$ref"));
    look(hunt, schema, user);
    if (reference)
        each_schema(hunt, cli_resolve(dx_protocol_document(hunt->protocol), reference), depth + 1,
                    look, user);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        yyjson_val *list = yyjson_obj_get(schema, parts[i]);
        yyjson_arr_foreach(list, at, count, part) {
            each_schema(hunt, part, depth + 1, look, user);
        }
    }
}

/* What a member takes. */
struct takes {
    bool text;
    bool other;
};

static void look_at_type(struct takes *takes, yyjson_val *type) {
    if (!yyjson_is_str(type))
        return;
    bool text = yyjson_equals_str(type, "string");
    takes->text |= text;
    takes->other |= !text;
}

static void look_at_types(struct hunt *hunt, yyjson_val *schema, void *user) {
    yyjson_val *type = yyjson_obj_get(schema, "type");
    yyjson_val *one;
    size_t at;
    size_t count;
    (void)hunt;
    look_at_type(user, type);
    yyjson_arr_foreach(type, at, count, one) {
        look_at_type(user, one);
    }
}

/* Is there a word "NAME=…" or "NAME:=…" before the one at hand? */
static bool is_given(const struct hunt *hunt, const char *name) {
    size_t len = strlen(name);
    for (const char *at = hunt->line; (at = strstr(at, name)) && at < hunt->word; at++)
        if (at > hunt->line && (at[-1] == ' ' || at[-1] == '\t') &&
            (at[len] == '=' || (at[len] == ':' && at[len + 1] == '=')))
            return true;
    return false;
}

static bool is_plain(const char *text) {
    return text[0] && !strpbrk(text, " \t\n\r'\"\\=&") && !strchr("{[@#-", text[0]);
}

static void look_for_members(struct hunt *hunt, yyjson_val *schema, void *user) {
    yyjson_val *key;
    yyjson_val *value;
    size_t at;
    size_t count;
    (void)user;
    yyjson_obj_foreach(yyjson_obj_get(schema, "properties"), at, count, key, value) {
        const char *name = yyjson_get_str(key);
        struct takes takes = {.text = false};
        if (!is_plain(name) || is_given(hunt, name))
            continue;
        each_schema(hunt, value, 0, look_at_types, &takes);
        offer(hunt, "", name, takes.other && !takes.text ? ":=" : "=");
    }
}

/* "level=" or "level:=", as it was typed. */
struct member {
    const char *name;
    size_t len;
    char *head;
    bool is_json;
};

static void offer_value(struct hunt *hunt, const struct member *member, yyjson_val *value) {
    const char *text = yyjson_get_str(value);
    if (member->is_json) {
        char *json = value ? yyjson_val_write(value, YYJSON_WRITE_NOFLAG, NULL) : NULL;
        if (json)
            offer(hunt, member->head, json, "");
        free(json);
    } else if (text && is_plain(text)) {
        offer(hunt, member->head, text, "");
    }
}

static void look_for_values(struct hunt *hunt, yyjson_val *schema, void *user) {
    const struct member *member = user;
    yyjson_val *value;
    size_t at;
    size_t count;
    offer_value(hunt, member, yyjson_obj_get(schema, "const"));
    yyjson_val *values = yyjson_obj_get(schema, "enum");
    yyjson_arr_foreach(values, at, count, value) {
        offer_value(hunt, member, value);
    }
    if (member->is_json && yyjson_equals_str(yyjson_obj_get(schema, "type"), "boolean")) {
        offer(hunt, member->head, "true", "");
        offer(hunt, member->head, "false", "");
    }
}

static void look_for_member(struct hunt *hunt, yyjson_val *schema, void *user) {
    const struct member *member = user;
    yyjson_val *value =
        yyjson_obj_getn(yyjson_obj_get(schema, "properties"), member->name, member->len);
    each_schema(hunt, value, 0, look_for_values, user);
}

static void offer_params(struct hunt *hunt, dx_text name) {
    const dx_method *method = dx_protocol_find(hunt->protocol, name);
    yyjson_val *schema =
        method ? cli_schema_of(hunt->protocol, method, DX_SIDE_HOST, DX_PART_PARAMS) : NULL;
    const char *equals = strchr(hunt->word, '=');
    if (!equals) {
        hunt->offers->partial = true;
        each_schema(hunt, schema, 0, look_for_members, NULL);
        return;
    }
    bool is_json = equals > hunt->word && equals[-1] == ':';
    struct member member = {.name = hunt->word,
                            .len = (size_t)(equals - hunt->word) - is_json,
                            .head = strndup(hunt->word, (size_t)(equals - hunt->word) + 1),
                            .is_json = is_json};
    if (member.head)
        each_schema(hunt, schema, 0, look_for_member, &member);
    free(member.head);
}

static int compare(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The next word from there on; of length 0 if there is none. */
static dx_text word_at(const char *line) {
    line += strspn(line, " \t");
    return (dx_text){line, strcspn(line, " \t")};
}

void repl_complete(const dx_protocol *protocol, const char *line, struct repl_offers *ret_offers) {
    size_t from = strlen(line);
    while (from && line[from - 1] != ' ' && line[from - 1] != '\t')
        from--;
    *ret_offers = (struct repl_offers){.from = from};
    struct hunt hunt = {protocol, line, line + from, ret_offers, 0};
    const char *name;
    dx_text first = word_at(line);
    dx_text method = first;
    bool is_command = repl_takes_method(first.at, first.len);
    if (is_command)
        method = word_at(first.at + first.len);
    if (first.at >= hunt.word) {
        for (size_t i = 0; (name = repl_command_at(i)); i++)
            offer(&hunt, "", name, "");
        offer_methods(&hunt);
    } else if (is_command && method.at >= hunt.word) {
        offer_methods(&hunt);
    } else if (!dx_text_is(first, "describe")) {
        offer_params(&hunt, method);
    }
    if (ret_offers->count)
        qsort(ret_offers->at, ret_offers->count, sizeof *ret_offers->at, compare);
}

void repl_offers_done(struct repl_offers *offers) {
    for (size_t i = 0; i < offers->count; i++)
        free(offers->at[i]);
    free(offers->at);
    *offers = (struct repl_offers){.at = NULL};
}
