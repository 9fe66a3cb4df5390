/*
 * A schema, a newline and a value. Whatever they are, there is one verdict: the first failure, all
 * failures and the way that keeps account of what was evaluated come to the same, with texts that
 * are whole; and what was refused can be asked again.
 */
#include <duplex/schema.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int condition, const char *what) {
    if (condition)
        return;
    fprintf(stderr, "not true: %s\n", what);
    abort();
}

#define CHECK(condition) check(condition, #condition)

/* Ends in its room, and is UTF-8 as far as a JSON reader can tell. */
static void check_text(const char *text, size_t room) {
    size_t len = strnlen(text, room);
    CHECK(len < room);
    char *quoted = malloc(len * 2 + 3);
    CHECK(quoted != NULL);
    size_t to = 0;
    quoted[to++] = '"';
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '"' || c == '\\')
            quoted[to++] = '\\';
        quoted[to++] = c < 0x20 ? ' ' : (char)c;
    }
    quoted[to++] = '"';
    yyjson_doc *doc = yyjson_read(quoted, to, 0);
    CHECK(doc != NULL);
    yyjson_doc_free(doc);
    free(quoted);
}

static void check_misfit(const dx_misfit *misfit) {
    check_text(misfit->instance, sizeof misfit->instance);
    check_text(misfit->schema, sizeof misfit->schema);
    check_text(misfit->keyword, sizeof misfit->keyword);
    check_text(misfit->phrase, sizeof misfit->phrase);
    CHECK(misfit->phrase[0] != '\0');
}

static int count(const dx_misfit *misfit, void *user) {
    check_misfit(misfit);
    CHECK(misfit->keyword[0] && strchr(misfit->schema, '#'));
    return ++*(size_t *)user < 1000;
}

static void check_value(const dx_schema *schema, const dx_schema *tracked, yyjson_val *value,
                        unsigned flags) {
    dx_check_config config = dx_check_defaults();
    config.depth_max = 300;
    config.steps_max = 100000;
    config.match_max = 10000;
    config.memory_max = 1 << 20;
    dx_check *machine;
    CHECK(dx_check_new(&config, &machine) == DX_OK);
    dx_misfit why = {.phrase = ""};
    size_t told = 0;
    dx_status first = dx_schema_check(schema, value, flags, machine, &why);
    if (first != DX_OK)
        check_misfit(&why);
    CHECK(dx_schema_check(schema, value, flags, machine, NULL) == first);
    dx_status all = dx_schema_check_all(schema, value, flags, machine, count, &told, NULL);
    if (first != DX_ERR_LIMIT && all != DX_ERR_LIMIT) {
        CHECK(all == first);
        CHECK((told == 0) == (first == DX_OK));
    }
    dx_status other = dx_schema_check(tracked, value, flags, machine, NULL);
    CHECK(other == first || other == DX_ERR_LIMIT || first == DX_ERR_LIMIT);
    dx_check_free(machine);
}

/* The same schema, applied in place where it matters what was evaluated. */
static const char wrap[] =
    "{\"$ref\":\"s:\",\"unevaluatedItems\":true,\"unevaluatedProperties\":true}";

static void check_schema(yyjson_val *root, yyjson_val *value, unsigned flags) {
    dx_schemas_config config = dx_schemas_defaults();
    config.nodes_max = 2000;
    config.memory_max = 4 << 20;
    config.pattern_max = 200;
    config.flags = flags % 4;
    dx_schemas *set = NULL;
    dx_schema *schema;
    dx_schema *tracked;
    dx_misfit why = {.phrase = ""};
    yyjson_doc *doc = yyjson_read(wrap, sizeof wrap - 1, 0);
    CHECK(doc != NULL);
    CHECK(dx_schemas_new(&config, &set) == DX_OK);
    CHECK(dx_schemas_add(set, dx_str("w:"), yyjson_doc_get_root(doc), &why) == DX_OK);
    dx_status status = dx_schemas_add(set, dx_str("s:"), root, &why);
    if (status == DX_OK)
        status = dx_schemas_compile(set, dx_str("s:"), &schema, &why);
    if (status == DX_OK)
        status = dx_schemas_compile(set, dx_str("w:"), &tracked, &why);
    if (status == DX_OK) {
        check_value(schema, tracked, value, flags / 4 % 2);
    } else {
        CHECK(status == DX_ERR_INVALID || status == DX_ERR_LIMIT);
        check_misfit(&why);
        dx_status again = dx_schemas_compile(set, dx_str("s:"), &schema, NULL);
        CHECK(again == status || again == DX_ERR_INVALID || again == DX_OK);
    }
    dx_schemas_free(set);
    yyjson_doc_free(doc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const uint8_t *end = size ? memchr(data, '\n', size) : NULL;
    if (!end || end == data)
        return 0;
    size_t len = (size_t)(end - data) - 1;
    yyjson_doc *schema = yyjson_read((const char *)data + 1, len, 0);
    yyjson_doc *value = yyjson_read((const char *)end + 1, size - len - 2, 0);
    if (schema && value)
        check_schema(yyjson_doc_get_root(schema), yyjson_doc_get_root(value), data[0]);
    yyjson_doc_free(schema);
    yyjson_doc_free(value);
    return 0;
}
