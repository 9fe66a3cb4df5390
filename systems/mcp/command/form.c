/* Questions of the server at the terminal, a line at a time. */
#include "systems/mcp/command/ask.h"

#include "systems/mcp/command/fields.h"
#include "systems/mcp/command/put.h"

#include "cli/say.h"

#include <stdlib.h>
#include <string.h>

static yyjson_val *params_of(const struct ask *ask) {
    return yyjson_doc_get_root(ask->params);
}

static bool is_url(const struct ask *ask) {
    return dx_text_is(member_of(params_of(ask), "mode"), "url");
}

/* The field at hand; NULL behind the last. */
static yyjson_val *field_of(const struct ask *ask, yyjson_val **ret_name) {
    yyjson_val *schema = yyjson_obj_get(params_of(ask), "requestedSchema");
    yyjson_obj_iter iter = yyjson_obj_iter_with(yyjson_obj_get(schema, "properties"));
    yyjson_val *name = yyjson_obj_iter_next(&iter);
    for (size_t i = 0; name && i < ask->field; i++)
        name = yyjson_obj_iter_next(&iter);
    *ret_name = name;
    return name ? yyjson_obj_iter_get_val(name) : NULL;
}

static bool is_required(const struct ask *ask, yyjson_val *name) {
    yyjson_val *schema = yyjson_obj_get(params_of(ask), "requestedSchema");
    size_t i;
    size_t max;
    yyjson_val *one;
    yyjson_arr_foreach(yyjson_obj_get(schema, "required"), i, max, one) {
        if (yyjson_equals_strn(one, yyjson_get_str(name), yyjson_get_len(name)))
            return true;
    }
    return false;
}

/* Asking. */

/* Of the frame, for each text of the server. */
enum { LINES = 4 };

static void put_field(struct ask *ask) {
    yyjson_val *name;
    yyjson_val *schema = field_of(ask, &name);
    char *type = NULL;
    size_t len = 0;
    FILE *phrase = open_memstream(&type, &len);
    if (!phrase)
        return;
    dx_text title = member_of(schema, "title");
    dx_text about = member_of(schema, "description");
    cli_put_frame(stderr, "field");
    cli_put_row(stderr, "name", dx_json_string(name), true, 1);
    if (title.len || about.len)
        cli_put_row(stderr, "about", about.len ? about : title, true, LINES);
    fields_put_type(phrase, schema);
    fputs(is_required(ask, name) ? ", required" : "", phrase);
    if (fclose(phrase) == 0)
        cli_put_row(stderr, "type", (dx_text){type, len}, false, LINES);
    free(type);
    fputs("+- value> ", stderr);
    ask->asked = cli_voice.shown;
}

void form_put(struct ask *ask) {
    yyjson_val *params = params_of(ask);
    if (ask->agreed) {
        put_field(ask);
        return;
    }
    if (ask->is_sampling) {
        dx_text system = member_of(params, "systemPrompt");
        cli_put_frame(stderr, "the server asks the model");
        if (system.len)
            cli_put_row(stderr, "system", system, true, LINES);
        cli_put_row(stderr, "message", ask_sampling_text(params), true, LINES);
        fputs("+- What should the model say? (empty to refuse)> ", stderr);
        ask->asked = cli_voice.shown;
        return;
    }
    cli_put_frame(stderr, "the server asks");
    cli_put_row(stderr, "message", member_of(params, "message"), true, LINES);
    if (is_url(ask))
        cli_put_row(stderr, "page", member_of(params, "url"), true, LINES);
    fputs("+- Answer this request? [y/n, c to cancel]> ", stderr);
    ask->asked = cli_voice.shown;
}

/* Reading. */

static bool is_one_of(const char *word, const char *const *words) {
    for (; *words; words++)
        if (strcasecmp(word, *words) == 0)
            return true;
    return false;
}

static const char *const yes_words[] = {"y", "yes", "true", "1", NULL};
static const char *const no_words[] = {"n", "no", "false", "0", NULL};

static yyjson_mut_val *read_list(yyjson_mut_doc *doc, const char *line) {
    yyjson_mut_val *list = yyjson_mut_arr(doc);
    while (list && *line) {
        line += strspn(line, " \t,");
        size_t len = strcspn(line, ",");
        const char *next = line + len;
        while (len && (line[len - 1] == ' ' || line[len - 1] == '\t'))
            len--;
        if (len)
            yyjson_mut_arr_add_strncpy(doc, list, line, len);
        line = next;
    }
    return list;
}

static yyjson_mut_val *read_number(yyjson_mut_doc *doc, const char *line) {
    yyjson_doc *read = yyjson_read(line, strlen(line), YYJSON_READ_BIGNUM_AS_RAW);
    yyjson_val *root = yyjson_doc_get_root(read);
    yyjson_mut_val *value =
        yyjson_is_num(root) || yyjson_is_raw(root) ? yyjson_val_mut_copy(doc, root) : NULL;
    yyjson_doc_free(read);
    return value;
}

/* What the line is in that field; NULL, and *ret_why says what is expected. */
static yyjson_mut_val *read_field(yyjson_mut_doc *doc, yyjson_val *schema, const char *line,
                                  const char **ret_why) {
    yyjson_val *type = yyjson_obj_get(schema, "type");
    if (yyjson_equals_str(type, "boolean")) {
        *ret_why = "expected yes or no";
        return is_one_of(line, yes_words)  ? yyjson_mut_true(doc)
               : is_one_of(line, no_words) ? yyjson_mut_false(doc)
                                           : NULL;
    }
    if (yyjson_equals_str(type, "number") || yyjson_equals_str(type, "integer")) {
        *ret_why = "expected a number";
        return read_number(doc, line);
    }
    *ret_why = "not valid UTF-8";
    if (yyjson_equals_str(type, "array"))
        return read_list(doc, line);
    return yyjson_mut_strcpy(doc, strcmp(line, "\"\"") == 0 ? "" : line);
}

/* NULL, or what is wrong with the line. */
static const char *take_field(struct ask *ask, const char *line) {
    yyjson_val *name;
    yyjson_val *schema = field_of(ask, &name);
    yyjson_val *otherwise = yyjson_obj_get(schema, "default");
    yyjson_mut_doc *doc = ask->content;
    yyjson_mut_val *value = NULL;
    const char *why = NULL;
    if (!*line && !otherwise)
        return is_required(ask, name) ? "a value is required (\"\" for an empty string)" : NULL;
    value = *line ? read_field(doc, schema, line, &why) : yyjson_val_mut_copy(doc, otherwise);
    yyjson_mut_val *key = yyjson_mut_strncpy(doc, yyjson_get_str(name), yyjson_get_len(name));
    if (!value || !key || !yyjson_mut_obj_add(yyjson_mut_doc_get_root(doc), key, value))
        return why ? why : "out of memory";
    return NULL;
}

static bool begin_form(struct ask *ask) {
    yyjson_mut_doc_free(ask->content);
    ask->content = yyjson_mut_doc_new(NULL);
    yyjson_mut_doc_set_root(ask->content, yyjson_mut_obj(ask->content));
    ask->agreed = true;
    ask->field = 0;
    return ask->content;
}

/* Sends it if all fields are there, else asks for the next one. */
static bool go_on(struct talk *talk, struct ask *ask) {
    yyjson_val *name;
    if (field_of(ask, &name)) {
        put_field(ask);
        return false;
    }
    char *content = yyjson_mut_write(ask->content, 0, NULL);
    dx_status status = content ? ask_answer(ask->question, "accept", content) : DX_ERR_NOMEM;
    free(content);
    if (status == DX_MISFIT) {
        cli_note("invalid response: %s", dx_mcp_client_why(talk->client));
        if (begin_form(ask) && field_of(ask, &name)) {
            put_field(ask);
            return false;
        }
    }
    if (status != DX_OK)
        dx_mcp_question_refuse(ask->question, DX_CODE_INTERNAL, dx_str(NULL));
    return true;
}

/* Yes or no comes first. */
static bool take_consent(struct talk *talk, struct ask *ask, const char *line) {
    static const char *const cancel_words[] = {"c", "cancel", NULL};
    if (is_one_of(line, no_words) || is_one_of(line, cancel_words)) {
        ask_answer(ask->question, is_one_of(line, no_words) ? "decline" : "cancel", NULL);
        return true;
    }
    if (!is_one_of(line, yes_words)) {
        fputs("y, n or c> ", stderr);
        return false;
    }
    if (is_url(ask)) {
        bool opened = ask_open_page(talk, member_of(params_of(ask), "url"));
        ask_answer(ask->question, opened ? "accept" : "cancel", NULL);
        return true;
    }
    if (!begin_form(ask)) {
        dx_mcp_question_refuse(ask->question, DX_CODE_INTERNAL, dx_str("out of memory"));
        return true;
    }
    return go_on(talk, ask);
}

static bool take_sample(struct ask *ask, const char *line) {
    enum { REJECTED = -1 }; /* as the specification's example has it */
    if (!line || !*line || ask_sample(ask->question, line) != DX_OK)
        dx_mcp_question_refuse(ask->question, REJECTED, dx_str("User rejected sampling request"));
    return true;
}

bool form_take(struct talk *talk, struct ask *ask, const char *line) {
    if (ask->is_sampling)
        return take_sample(ask, line);
    if (!line) {
        putc('\n', stderr);
        ask_answer(ask->question, "cancel", NULL);
        return true;
    }
    if (!ask->agreed)
        return take_consent(talk, ask, line);
    const char *why = take_field(ask, line);
    if (why) {
        fprintf(stderr, "  %s\n", why);
        put_field(ask);
        return false;
    }
    ask->field++;
    return go_on(talk, ask);
}
