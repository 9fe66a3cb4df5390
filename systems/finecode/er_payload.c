/* Payloads and their schemas. What is wrong is told in the program's words where it has some. */
#include "systems/finecode/er_parts.h"

/* How many of its faults are told of a payload. */
enum { TOLD_MAX = 16 };

struct telling {
    const dx__finecode_er_task *task;
    dx__finecode_er_out *why;
    unsigned count;
};

static void begin(struct telling *telling) {
    if (!telling->count++) {
        dx__finecode_er_out_say_str(telling->why, "Invalid payload for action ");
        dx__finecode_er_out_say_str(telling->why, telling->task->name);
        dx__finecode_er_out_say_str(telling->why, ": ");
    } else {
        dx__finecode_er_out_say_str(telling->why, "; ");
    }
}

static void tell_missing(struct telling *telling, yyjson_val *payload, yyjson_val *required) {
    yyjson_arr_iter iter = yyjson_arr_iter_with(required);
    for (yyjson_val *name; (name = yyjson_arr_iter_next(&iter));) {
        if (!yyjson_is_str(name) || telling->count >= TOLD_MAX ||
            yyjson_obj_getn(payload, yyjson_get_str(name), yyjson_get_len(name)))
            continue;
        begin(telling);
        dx__finecode_er_out_say_str(telling->why, "required field missing @ $.");
        dx__finecode_er_out_say(telling->why, dx_json_string(name));
    }
}

/* A misspelt member would not do what its sender meant, so a schema can forbid what it does not
 * name. */
static void tell_unknown(struct telling *telling, yyjson_val *payload, yyjson_val *schema) {
    yyjson_val *known = yyjson_obj_get(schema, "properties");
    yyjson_val *additional = yyjson_obj_get(schema, "additionalProperties");
    yyjson_obj_iter iter = yyjson_obj_iter_with(payload);
    if (!yyjson_is_false(additional))
        return;
    for (yyjson_val *name; (name = yyjson_obj_iter_next(&iter));) {
        if (telling->count >= TOLD_MAX ||
            yyjson_obj_getn(known, yyjson_get_str(name), yyjson_get_len(name)))
            continue;
        begin(telling);
        dx__finecode_er_out_say_str(telling->why, "unknown field @ $.");
        dx__finecode_er_out_say(telling->why, dx_json_string(name));
    }
}

/* "/a/0/b" as "$.a[0].b". */
static void say_place(dx__finecode_er_out *why, const char *pointer) {
    dx__finecode_er_out_say_str(why, "$");
    while (*pointer == '/') {
        size_t len = strcspn(++pointer, "/");
        bool is_number = len && strspn(pointer, "0123456789") >= len;
        dx__finecode_er_out_say_str(why, is_number ? "[" : ".");
        dx__finecode_er_out_say(why, (dx_text){pointer, len});
        dx__finecode_er_out_say_str(why, is_number ? "]" : "");
        pointer += len;
    }
}

/* What the program calls the type that was expected; NULL: it has no word for it. */
static const char *word_for(const char *phrase) {
    static const char *const words[][2] = {
        {"expected string,", "str"},   {"expected integer,", "int"}, {"expected number,", "float"},
        {"expected boolean,", "bool"}, {"expected array,", "list"},  {"expected object,", "dict"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strncmp(phrase, words[i][0], strlen(words[i][0])) == 0)
            return words[i][1];
    return NULL;
}

static int on_misfit(const dx_misfit *misfit, void *user) {
    struct telling *telling = user;
    size_t len = strlen(misfit->instance);
    bool has_place = len && strncmp(misfit->phrase, misfit->instance, len) == 0;
    const char *phrase = misfit->phrase + (has_place ? len + 2 : 0);
    if (!len && strcmp(misfit->keyword, "required") == 0)
        return 1; /* which was told already */
    begin(telling);
    const char *word = strcmp(misfit->keyword, "type") == 0 ? word_for(phrase) : NULL;
    if (word)
        dx__finecode_er_out_say_str(telling->why, "invalid value for type, expected ");
    dx__finecode_er_out_say_str(telling->why, word ? word : phrase);
    dx__finecode_er_out_say_str(telling->why, " @ ");
    say_place(telling->why, misfit->instance);
    return telling->count < TOLD_MAX;
}

dx_status dx__finecode_er_payload_check(const dx_finecode_er *er, const dx__finecode_er_task *task,
                                        yyjson_val *payload, dx__finecode_er_out *why) {
    const dx__finecode_er_kind *kind = task->kind;
    struct telling telling = {task, why, 0};
    dx_misfit misfit = {.phrase = ""};
    if (!kind || !kind->schema || !payload)
        return DX_OK;
    yyjson_val *schema = yyjson_doc_get_root(kind->payload);
    tell_missing(&telling, payload, yyjson_obj_get(schema, "required"));
    tell_unknown(&telling, payload, schema);
    dx_status status = dx_schema_check_all(kind->schema, payload, DX_CHECK_OPEN, er->check,
                                           on_misfit, &telling, &misfit);
    if (status == DX_ERR_LIMIT) {
        begin(&telling);
        dx__finecode_er_out_say_str(why, misfit.phrase);
        status = DX_MISFIT;
    }
    if (status == DX_OK || status == DX_MISFIT)
        status = telling.count ? DX_MISFIT : DX_OK;
    return why->status == DX_OK ? status : why->status;
}
