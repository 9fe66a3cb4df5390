/*
 * schemas: what `duplex describe --json-schema` prints for every message, side and part of every
 * built-in protocol, and of one whose references have every form, says the same of a value as
 * dx_protocol_check(). The values are those of all samples of the protocol, odd ones, and what
 * becomes of the example of that part when its members are left out or replaced.
 */
#include "protocol/files.h"

#include <stdlib.h>
#include <string.h>

static size_t verdicts;
static size_t misfits;
static size_t schemas_made;

/* What is looked at. */
struct subject {
    const char *word; /* on the command line */
    dx_protocol *protocol;
    const dx_method *method;
    dx_side from;
    dx_part part;
    const dx_schema *schema;
    dx_check *check;
};

/* The same as `path`, but in quotes for a shell. */
static void quote(char *room, size_t len, const char *word) {
    size_t at = 0;
    room[at++] = '\'';
    for (; *word && at + 6 < len; word++)
        at += (size_t)snprintf(room + at, len - at, *word == '\'' ? "'\\''" : "%c", *word);
    snprintf(room + at, len - at, "'");
}

/* What the command prints, as JSON; NULL if it fails. */
static yyjson_doc *ask(const struct subject *subject) {
    enum { ROOM = 4096, LONGEST = 1 << 20 };
    static char text[LONGEST];
    char command[3 * ROOM];
    char word[ROOM];
    char method[ROOM];
    const char *build = getenv("BUILD");
    quote(word, sizeof word, subject->word);
    quote(method, sizeof method, subject->method->name);
    snprintf(command, sizeof command,
             "timeout 10 '%s/duplex' describe --json-schema%s --from %s %s %s",
             build ? build : "build", subject->part == DX_PART_RESULT ? " --result" : "",
             subject->from == DX_SIDE_HOST ? "host" : "plugin", word, method);
    FILE *stream = popen(command, "r");
    size_t len = stream ? fread(text, 1, sizeof text, stream) : 0;
    if (!stream || pclose(stream) != 0 || len == LONGEST)
        return NULL;
    return yyjson_read(text, len, 0);
}

static void compare(const struct subject *subject, yyjson_val *value) {
    dx_misfit why = {.phrase = ""};
    dx_misfit other = {.phrase = ""};
    dx_status ours = dx_protocol_check(subject->protocol, subject->method, subject->from,
                                       subject->part, value, 0, &why);
    dx_status theirs = dx_schema_check(subject->schema, value, 0, subject->check, &other);
    verdicts++;
    misfits += ours == DX_MISFIT;
    if (ours == theirs && (ours == DX_OK || ours == DX_MISFIT))
        return;
    char *text = yyjson_val_write(value, 0, NULL);
    failed("%s %s, %s from the %s: %s: dx_protocol_check() says \"%s\", the schema \"%s\"",
           subject->word, subject->method->name,
           subject->part == DX_PART_PARAMS ? "params" : "result",
           subject->from == DX_SIDE_HOST ? "host" : "plugin", text, why.phrase, other.phrase);
    free(text);
}

static void compare_text(const struct subject *subject, const char *text, size_t len) {
    yyjson_doc *doc = yyjson_read(text, len, 0);
    if (doc)
        compare(subject, yyjson_doc_get_root(doc));
    else
        failed("no JSON: %.*s", (int)len, text);
    yyjson_doc_free(doc);
}

/* Members of members, to that depth, left out and replaced. */
static void compare_changed(const struct subject *subject, yyjson_val *whole, yyjson_val *value,
                            const char *pointer, int depth) {
    static const char *const others[] = {"null", "0", "\"\"", "\"a\"", "[]", "{}", "true", "-1.5"};
    yyjson_obj_iter iter = yyjson_obj_iter_with(value);
    for (yyjson_val *key; (key = yyjson_obj_iter_next(&iter));) {
        char place[1024];
        if (strpbrk(yyjson_get_str(key), "~/"))
            continue;
        snprintf(place, sizeof place, "%s/%s", pointer, yyjson_get_str(key));
        for (size_t i = 0; i <= sizeof others / sizeof *others; i++) {
            yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
            yyjson_mut_doc_set_root(doc, yyjson_val_mut_copy(doc, whole));
            if (i == 0)
                yyjson_mut_doc_ptr_remove(doc, place);
            else
                yyjson_mut_doc_ptr_set(doc, place, yyjson_mut_raw(doc, others[i - 1]));
            char *text = yyjson_mut_write(doc, 0, NULL);
            compare_text(subject, text, strlen(text));
            free(text);
            yyjson_mut_doc_free(doc);
        }
        if (depth < 4)
            compare_changed(subject, whole, yyjson_obj_iter_get_val(key), place, depth + 1);
    }
}

static void compare_example(const struct subject *subject) {
    dx_buf json;
    dx_buf_init(&json, 1 << 20, NULL);
    if (dx_protocol_example(subject->protocol, subject->method, subject->from, subject->part,
                            &json) == DX_OK) {
        yyjson_doc *doc = yyjson_read(json.data, json.len, 0);
        yyjson_val *root = yyjson_doc_get_root(doc);
        compare(subject, root);
        compare_changed(subject, root, root, "", 0);
        yyjson_doc_free(doc);
    }
    dx_buf_done(&json);
}

static void compare_samples(const struct subject *subject, yyjson_val *samples) {
    static const char *const lists[] = {"valid", "invalid"};
    for (size_t i = 0; i < 2; i++) {
        yyjson_arr_iter iter = yyjson_arr_iter_with(yyjson_obj_get(samples, lists[i]));
        for (yyjson_val *it; (it = yyjson_arr_iter_next(&iter));) {
            yyjson_val *params = yyjson_obj_get(it, "params");
            yyjson_val *result = yyjson_obj_get(it, "result");
            if (params)
                compare(subject, params);
            if (result)
                compare(subject, result);
        }
    }
}

static void compare_all(struct subject *subject, yyjson_val *samples) {
    static const char *const odd[] = {"null",
                                      "true",
                                      "0",
                                      "-1.5",
                                      "\"\"",
                                      "\"a\"",
                                      "[]",
                                      "[1]",
                                      "[\"a\"]",
                                      "[null]",
                                      "{}",
                                      "{\"a\":1}",
                                      "{\"$ref\":1}",
                                      "{\"leaf\":\"a\"}",
                                      "{\"leaf\":true}",
                                      "{\"next\":{\"next\":{}}}",
                                      "{\"next\":{\"next\":{\"other\":1}}}",
                                      "{\"tree\":{\"leaf\":\"a\",\"left\":{\"leaf\":\"b\"}}}",
                                      "{\"tree\":{\"leaf\":\"a\",\"left\":{}}}",
                                      "{\"escaped\":2}",
                                      "{\"escaped\":3}",
                                      "{\"leaf\":1}",
                                      "{\"same\":true}",
                                      "{\"same\":\"a\"}",
                                      "{\"$ref\":{\"$ref\":\"#/components/schemas/Tree\"}}",
                                      "{\"properties\":{\"items\":{\"$ref\":\"#/nowhere\"}}}",
                                      "{\"properties\":7}",
                                      "{\"items\":[{}]}",
                                      "{\"items\":[{\"never\":1}]}",
                                      "{\"items\":[{},1]}",
                                      "{\"never\":1}",
                                      "{\"kind\":\"a\"}",
                                      "{\"kind\":\"a\",\"a\":1}",
                                      "{\"kind\":\"b\",\"leaf\":1}",
                                      "{\"kind\":\"b\",\"leaf\":true}",
                                      "{\"kind\":\"b\",\"x-\":{\"leaf\":\"\"}}",
                                      "{\"kind\":\"b\",\"x-\":{}}",
                                      "{\"b\":1}",
                                      "{\"kind\":\"b\",\"ninechars\":1}"};
    yyjson_doc *doc = ask(subject);
    dx_schemas *schemas = NULL;
    dx_schema *schema = NULL;
    dx_misfit why = {.phrase = "the command failed"};
    dx_status status = doc ? dx_schemas_new(NULL, &schemas) : DX_ERR_INVALID;
    if (status == DX_OK)
        status = dx_schemas_add(schemas, dx_str(""), yyjson_doc_get_root(doc), &why);
    if (status == DX_OK)
        status = dx_schemas_compile(schemas, dx_str(""), &schema, &why);
    subject->schema = schema;
    schemas_made++;
    if (status != DX_OK) {
        failed("%s %s: %s", subject->word, subject->method->name, why.phrase);
    } else {
        for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
            compare_text(subject, odd[i], strlen(odd[i]));
        compare_example(subject);
        compare_samples(subject, samples);
    }
    dx_schemas_free(schemas);
    yyjson_doc_free(doc);
}

static void check_protocol(struct subject *subject, yyjson_val *samples) {
    for (size_t i = 0; (subject->method = dx_protocol_method(subject->protocol, i)); i++)
        for (subject->from = DX_SIDE_HOST; subject->from <= DX_SIDE_PLUGIN; subject->from++) {
            const dx_method *method = subject->method;
            if (!(subject->from == DX_SIDE_HOST ? method->from_host : method->from_plugin))
                continue;
            subject->part = DX_PART_PARAMS;
            compare_all(subject, samples);
            subject->part = DX_PART_RESULT;
            if (!method->notification)
                compare_all(subject, samples);
        }
    subject->protocol = dx_protocol_free(subject->protocol);
}

static void check_builtin(struct subject *subject, const char *name) {
    char path[4096];
    size_t len = 0;
    snprintf(path, sizeof path, "%s/%s.json", in_source("tests/protocol/samples"), name);
    char *bytes = read_whole(path, &len);
    yyjson_doc *doc = bytes ? yyjson_read(bytes, len, 0) : NULL;
    subject->word = name;
    if (dx_protocol_open(dx_str(name), NULL, &subject->protocol, NULL) == DX_OK)
        check_protocol(subject, yyjson_doc_get_root(doc));
    else
        failed("%s: cannot be read", name);
    yyjson_doc_free(doc);
    free(bytes);
}

int main(void) {
    struct subject subject = {.word = NULL};
    dx_misfit why = {.phrase = ""};
    const char *name;
    if (dx_check_new(NULL, &subject.check) != DX_OK)
        return 1;
    for (size_t i = 0; (name = dx_protocol_builtin(i)); i++)
        check_builtin(&subject, name);
    char path[4096];
    snprintf(path, sizeof path, "%s/tricky.openrpc.json", in_source("tests/protocol/odd"));
    subject.word = path;
    if (read_protocol(in_source("tests/protocol/odd"), "tricky.openrpc.json", &subject.protocol,
                      &why) == DX_OK)
        check_protocol(&subject, NULL);
    else
        failed("%s", why.phrase);
    dx_check_free(subject.check);
    printf("%zu schemas, %zu misfits\n", schemas_made, misfits);
    return verdict("verdicts", verdicts);
}
