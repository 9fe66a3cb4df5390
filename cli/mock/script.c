#include "cli/mock/script.h"

#include "cli/input.h"
#include "cli/mock/grammar.h"
#include "cli/mock/schema.h"
#include "cli/options.h"
#include "cli/say.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

enum { SCRIPT_MAX = 16 << 20, REGEX_MAX = 10000 };

uint64_t mock_number(yyjson_val *value) {
    const char *text = yyjson_get_raw(value);
    if (!text)
        return 0;
    double number = strpbrk(text, ".eE") ? strtod(text, NULL) : 0; /* 1e3 is a whole number, too */
    return number > 0 && number < 0x1p64 ? (uint64_t)number : strtoull(text, NULL, 10);
}

/* Regular expressions: each is a schema with a pattern. */

struct regexes {
    mock_script *script;
    struct mock_flaw flaw;
};

static bool add_regex(yyjson_val *place, void *user) {
    struct regexes *regexes = user;
    mock_script *script = regexes->script;
    size_t n = script->regex_count;
    dx_misfit why = {.phrase = "out of memory"};
    char uri[40];
    char *flaw = regexes->flaw.what;
    snprintf(uri, sizeof uri, "regex:%zu", n);
    snprintf(flaw, sizeof regexes->flaw.what, n < REGEX_MAX ? "out of memory" : "too many $regex");
    struct mock_regex *more =
        n < REGEX_MAX ? realloc(script->regexes, (n + 1) * sizeof *more) : NULL;
    if (!more)
        return false;
    script->regexes = more;
    yyjson_doc **docs = realloc(script->regex_docs, (n + 1) * sizeof(yyjson_doc *));
    if (!docs)
        return false;
    script->regex_docs = docs;
    yyjson_mut_doc *built = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = yyjson_mut_obj(built);
    yyjson_mut_doc_set_root(built, root);
    bool good = yyjson_mut_obj_add_str(built, root, "pattern",
                                       yyjson_get_str(yyjson_obj_get(place, "$regex")));
    docs[n] = good ? yyjson_mut_doc_imut_copy(built, NULL) : NULL;
    yyjson_mut_doc_free(built);
    more[n] = (struct mock_regex){.place = place};
    if (!docs[n])
        return false;
    script->regex_count++;
    if (dx_schemas_add(script->schemas, dx_str(uri), yyjson_doc_get_root(docs[n]), &why) == DX_OK &&
        dx_schemas_compile(script->schemas, dx_str(uri), &more[n].schema, &why) == DX_OK)
        return true;
    const char *phrase = strstr(why.phrase, ": ");
    snprintf(flaw, sizeof regexes->flaw.what, "$regex: %.300s", phrase ? phrase + 2 : why.phrase);
    return false;
}

static bool check_grammar(const char *file, mock_script *script, yyjson_val *root) {
    struct regexes regexes = {.script = script};
    if (dx_schemas_new(NULL, &script->schemas) != DX_OK ||
        dx_check_new(NULL, &script->check) != DX_OK) {
        cli_fail(CLI_NO_START, "out of memory");
        return false;
    }
    if (mock_grammar_check(root, add_regex, &regexes, &regexes.flaw))
        return true;
    cli_fail(CLI_USAGE, "%s: %s%s%s", file, regexes.flaw.place, regexes.flaw.place[0] ? ": " : "",
             regexes.flaw.what);
    return false;
}

/* Reading. */

static mock_otherwise otherwise_of(const char *word) {
    static const char *const words[] = {"example", "refuse", "ignore", "echo"};
    for (unsigned i = 0; word && i < 4; i++)
        if (strcmp(words[i], word) == 0)
            return MOCK_EXAMPLE + i;
    return MOCK_UNSAID;
}

static mock_kind kind_of(const char *word) {
    static const char *const words[] = {"request", "notification", "result", "error"};
    for (unsigned i = 0; word && i < 4; i++)
        if (strcmp(words[i], word) == 0)
            return MOCK_REQUEST + i;
    return 0;
}

static bool take_rules(mock_script *script, yyjson_val *on) {
    size_t at;
    size_t max;
    yyjson_val *rule;
    script->rules = calloc(yyjson_arr_size(on) + 1, sizeof *script->rules);
    if (!script->rules)
        return false;
    yyjson_arr_foreach(on, at, max, rule) {
        const char *method = yyjson_get_str(yyjson_obj_get(rule, "method"));
        script->rules[script->rule_count++] =
            (mock_rule){.method = method,
                        .is_glob = method && strpbrk(method, "*?["),
                        .kind = kind_of(yyjson_get_str(yyjson_obj_get(rule, "kind"))),
                        .params = yyjson_obj_get(rule, "params"),
                        .nth = mock_number(yyjson_obj_get(rule, "nth")),
                        .times = mock_number(yyjson_obj_get(rule, "times")),
                        .actions = yyjson_obj_get(rule, "do")};
    }
    return true;
}

static bool take(mock_script *script) {
    yyjson_val *root = yyjson_doc_get_root(script->doc);
    const char *timeout = yyjson_get_str(yyjson_obj_get(root, "timeout"));
    script->protocol = yyjson_get_str(yyjson_obj_get(root, "protocol"));
    script->framing = yyjson_get_str(yyjson_obj_get(root, "framing"));
    script->otherwise = otherwise_of(yyjson_get_str(yyjson_obj_get(root, "otherwise")));
    script->start = yyjson_obj_get(root, "start");
    script->end = yyjson_obj_get(root, "end");
    if (timeout)
        (void)cli_parse_time(timeout, &script->timeout_ms);
    return take_rules(script, yyjson_obj_get(root, "on"));
}

/* Once for the schema, which compares numbers, and once for what is sent, where they stay as they
 * are. False: told. */
static bool read_script(const char *file, mock_script *script) {
    size_t len;
    char *text = cli_read_file(file, &len);
    if (!text)
        return false;
    if (len > SCRIPT_MAX) {
        free(text);
        cli_fail(CLI_USAGE, "%s: longer than %d MiB", file, SCRIPT_MAX >> 20);
        return false;
    }
    size_t at;
    dx_fault fault = dx_json_check((dx_text){text, len}, DX_DEPTH_MAX, &at);
    if (fault == DX_FAULT_JSON_DEPTH) {
        free(text);
        cli_fail(CLI_USAGE, "%s: nested too deeply", file);
        return false;
    }
    int code;
    yyjson_doc *doc = yyjson_read_opts(text, len, YYJSON_READ_BIGNUM_AS_RAW, NULL, NULL);
    if (!doc) {
        free(text);
        doc = cli_read_json(file, CLI_USAGE, &code); /* which tells where */
        yyjson_doc_free(doc);
        return false;
    }
    dx_text schema = {mock_schema, mock_schema_len};
    bool good = cli_check_form(file, yyjson_doc_get_root(doc), schema, CLI_USAGE) == CLI_OK;
    yyjson_doc_free(doc);
    if (good) {
        script->doc = yyjson_read_opts(text, len, YYJSON_READ_NUMBER_AS_RAW, NULL, NULL);
        good = script->doc && check_grammar(file, script, yyjson_doc_get_root(script->doc));
        if (!script->doc)
            cli_fail(CLI_NO_START, "out of memory");
    }
    free(text);
    return good;
}

int mock_script_read(const char *file, mock_script **ret_script) {
    mock_script *script = calloc(1, sizeof *script);
    if (!script)
        return cli_fail(CLI_NO_START, "out of memory");
    if (!read_script(file, script)) {
        mock_script_free(script);
        return CLI_USAGE;
    }
    if (!take(script)) {
        mock_script_free(script);
        return cli_fail(CLI_NO_START, "out of memory");
    }
    *ret_script = script;
    return CLI_OK;
}

mock_script *mock_script_free(mock_script *script) {
    if (!script)
        return NULL;
    dx_check_free(script->check);
    dx_schemas_free(script->schemas);
    for (size_t i = 0; i < script->regex_count; i++)
        yyjson_doc_free(script->regex_docs[i]);
    free(script->regex_docs);
    free(script->regexes);
    free(script->rules);
    yyjson_doc_free(script->doc);
    free(script);
    return NULL;
}
