/* Protocols at their limits, and without memory. */
#include "unit/unit.h"

#include <duplex/protocol.h>

#include <stdio.h>

#define HEAD "{\"openrpc\":\"1.3.2\",\"info\":{\"title\":\"T\",\"version\":\"1\"},"
#define PLAIN "\"x-duplex\":{\"name\":\"t\",\"framing\":\"line\"},"
#define METHOD(name) \
    "{\"name\":\"" name "\",\"summary\":\"S\",\"params\":[],\"x-duplex\":{\"from\":\"host\"}}"

static void expect(const char *document, const dx_protocol_config *config, dx_status status,
                   const char *phrase) {
    dx_protocol *protocol = NULL;
    dx_misfit why = {.phrase = ""};
    assert_int_equal(dx_protocol_read(dx_str(document), TEXT("file"), config, &protocol, &why),
                     status);
    assert_string_equal(why.phrase, phrase);
    dx_protocol_free(protocol);
}

static void a_document_has_a_longest_length(void **state) {
    (void)state;
    static const char document[] = HEAD PLAIN "\"methods\":[]}";
    dx_protocol_config config = dx_protocol_defaults();
    config.document_max = sizeof document - 1;
    expect(document, &config, DX_OK, "");
    config.document_max--;
    char phrase[100];
    snprintf(phrase, sizeof phrase, "file: longer than %zu bytes", config.document_max);
    expect(document, &config, DX_ERR_LIMIT, phrase);
}

static void a_document_has_a_deepest_place(void **state) {
    (void)state;
    enum { DEPTH = 256 };
    static char document[4 * DEPTH];
    for (int over = 0; over <= 1; over++) {
        size_t len =
            (size_t)snprintf(document, sizeof document, HEAD PLAIN "\"methods\":[],\"x-deep\":");
        size_t column = len;
        memset(document + len, '[', DEPTH - 1 + (size_t)over);
        len += DEPTH - 1 + (size_t)over;
        memset(document + len, ']', DEPTH - 1 + (size_t)over);
        len += DEPTH - 1 + (size_t)over;
        snprintf(document + len, sizeof document - len, "}");
        char phrase[100];
        snprintf(phrase, sizeof phrase, "file:1:%zu: nested too deep", column + DEPTH);
        expect(document, NULL, over ? DX_ERR_LIMIT : DX_OK, over ? phrase : "");
    }
}

static void methods_have_a_largest_count(void **state) {
    (void)state;
    static const char document[] =
        HEAD PLAIN "\"methods\":[" METHOD("a") "," METHOD("b") "," METHOD("c") "]}";
    dx_protocol_config config = dx_protocol_defaults();
    config.methods_max = 3;
    expect(document, &config, DX_OK, "");
    config.methods_max = 2;
    expect(document, &config, DX_ERR_LIMIT, "file: /methods: more than 2 methods");
}

/* Names in the lifecycle of an open protocol count as well. */
static void names_have_a_largest_count(void **state) {
    (void)state;
    static const char document[] =
        HEAD "\"x-duplex\":{\"name\":\"t\",\"framing\":\"line\",\"open\":true,\"lifecycle\":{"
             "\"start\":\"s\",\"states\":{\"s\":{\"host\":[\"a\",\"x\",\"y\"],\"never\":[\"z\"]}},"
             "\"moves\":[]}},\"methods\":[" METHOD("a") "]}";
    dx_protocol_config config = dx_protocol_defaults();
    config.methods_max = 4;
    expect(document, &config, DX_OK, "");
    config.methods_max = 3;
    expect(document, &config, DX_ERR_LIMIT,
           "file: /x-duplex/lifecycle/states/s/never/0: too many names of methods");
}

static void errors_have_a_largest_count(void **state) {
    (void)state;
    static char document[1100 * 40];
    for (size_t count = 1024; count <= 1025; count++) {
        size_t len = (size_t)snprintf(document, sizeof document,
                                      HEAD PLAIN "\"methods\":[],\"components\":{\"errors\":{");
        for (size_t i = 0; i < count; i++)
            len +=
                (size_t)snprintf(document + len, sizeof document - len,
                                 "%s\"E%zu\":{\"code\":%zu,\"message\":\"m\"}", i ? "," : "", i, i);
        snprintf(document + len, sizeof document - len, "}}}");
        expect(document, NULL, count > 1024 ? DX_ERR_LIMIT : DX_OK,
               count > 1024 ? "file: /components/errors: more than 1024 errors" : "");
    }
}

/* "s3" extends "s2" extends "s1" … extends "s0". */
static dx_status find_stairs(void *user, dx_text name, dx_text *ret_bytes, dx_text *ret_file) {
    static char rooms[20][256];
    (void)user;
    size_t step = (size_t)(name.at[1] - '0');
    if (name.len == 3)
        step = step * 10 + (size_t)(name.at[2] - '0');
    char *room = rooms[step];
    if (step)
        snprintf(room, sizeof rooms[0],
                 HEAD "\"x-duplex\":{\"name\":\"s%zu\",\"extends\":\"s%zu\"},\"methods\":[]}", step,
                 step - 1);
    else
        snprintf(room, sizeof rooms[0],
                 HEAD "\"x-duplex\":{\"name\":\"s0\",\"framing\":\"line\"},\"methods\":[]}");
    *ret_bytes = dx_str(room);
    *ret_file = name;
    return DX_OK;
}

static void documents_extend_each_other_so_far(void **state) {
    (void)state;
    static const char document[] =
        HEAD "\"x-duplex\":{\"name\":\"top\",\"extends\":\"s15\"},\"methods\":[]}";
    dx_protocol_config config = dx_protocol_defaults();
    assert_int_equal(config.extends_max, 16);
    config.find = find_stairs;
    expect(document, &config, DX_OK, "");
    config.extends_max = 15;
    expect(document, &config, DX_ERR_LIMIT,
           "s1: /x-duplex/extends: more than 15 documents extend each other");
    config.extends_max = 0;
    expect(document, &config, DX_ERR_LIMIT,
           "file: /x-duplex/extends: more than 0 documents extend each other");
}

static void long_names_leave_room_for_what_is_wrong(void **state) {
    (void)state;
    static char file[5000];
    memset(file, 'f', sizeof file - 1);
    dx_protocol *protocol = NULL;
    dx_misfit why;
    assert_int_equal(dx_protocol_read(TEXT("[]"), dx_str(file), NULL, &protocol, &why),
                     DX_ERR_INVALID);
    assert_non_null(strstr(why.phrase, "…"));
    assert_non_null(strstr(why.phrase, ": expected object, found array"));
    assert_in_range(strlen(why.phrase), 100, 200);
    /* A text that is absent is an empty one. */
    assert_int_equal(
        dx_protocol_read((dx_text){NULL, 0}, (dx_text){NULL, 0}, NULL, &protocol, &why),
        DX_ERR_INVALID);
    assert_string_equal(why.phrase, ":1:1: no JSON");
}

/* A document of `count` schemas, the first of which refers to another that often. */
static char *references(size_t count, size_t often, const char *name) {
    size_t room = count * 16 + often * (strlen(name) + 40) + 600 + strlen(name);
    char *document = malloc(room);
    assert_non_null(document);
    size_t len = (size_t)snprintf(document, room, "%s",
                                  HEAD PLAIN
                                  "\"methods\":[],\"components\":{\"schemas\":{\"A\":{\"anyOf\":[");
    for (size_t i = 0; i < often; i++)
        len += (size_t)snprintf(document + len, room - len,
                                "%s{\"$ref\":\"#/components/schemas/%s\"}", i ? "," : "", name);
    len += (size_t)snprintf(document + len, room - len, "]}");
    for (size_t i = 2; i < count; i++)
        len += (size_t)snprintf(document + len, room - len, ",\"b%zu\":true", i);
    snprintf(document + len, room - len, ",\"%s\":true}}}", name);
    return document;
}

/* Finding what a reference leads to takes as many steps as there are members on the way. */
static void references_have_a_largest_effort(void **state) {
    (void)state;
    enum { EFFORT = 100000000, SCHEMAS = 19994, EACH = SCHEMAS + 5 + 1 };
    for (size_t more = 0; more <= 1; more++) {
        char *document = references(SCHEMAS, EFFORT / EACH + more, "C");
        expect(document, NULL, more ? DX_ERR_LIMIT : DX_OK,
               more ? "file: /components/schemas/A/anyOf/0/$ref: too many references, or their "
                      "targets are too large"
                    : "");
        free(document);
    }
}

static void names_in_references_have_a_longest_length(void **state) {
    (void)state;
    enum { LONGEST = 512 };
    char name[LONGEST + 2];
    memset(name, 'n', sizeof name);
    name[LONGEST] = '\0';
    char *document = references(3, 1, name);
    expect(document, NULL, DX_OK, "");
    free(document);
    name[LONGEST] = 'n';
    name[LONGEST + 1] = '\0';
    document = references(3, 1, name);
    dx_protocol *protocol = NULL;
    dx_misfit why = {.phrase = ""};
    assert_int_equal(dx_protocol_read(dx_str(document), TEXT("file"), NULL, &protocol, &why),
                     DX_ERR_INVALID);
    assert_non_null(strstr(why.phrase, "nn…\" leads nowhere"));
    free(document);
}

/* References that lead in a circle, or far away, end. */
static void references_end(void **state) {
    (void)state;
    static const char document[] =
        HEAD PLAIN "\"methods\":[{\"name\":\"a\",\"summary\":\"S\",\"params\":[],\"x-duplex\":{"
                   "\"from\":\"host\",\"params\":{\"$ref\":\"#/components/schemas/A\"}}}],"
                   "\"components\":{\"schemas\":{\"A\":{\"$ref\":\"#/components/schemas/B\"},"
                   "\"B\":{\"$ref\":\"#/components/schemas/A\"}}}}";
    dx_protocol *protocol = NULL;
    assert_int_equal(dx_protocol_read(dx_str(document), TEXT("file"), NULL, &protocol, NULL),
                     DX_OK);
    dx_buf page;
    dx_buf_init(&page, 1 << 20, NULL);
    assert_int_equal(dx_protocol_page(protocol, &page), DX_OK);
    dx_buf_done(&page);
    dx_protocol_free(protocol);
}

/* Memory: whichever allocation fails, nothing leaks, and what was there still works. */

static dx_status everything(const dx_protocol_config *config, const char *name, dx_buf *page) {
    dx_protocol *protocol = NULL;
    dx_status status = dx_protocol_open(dx_str(name), config, &protocol, NULL);
    if (status != DX_OK)
        return status;
    const dx_method *method = dx_protocol_method(protocol, 0);
    yyjson_doc *doc = yyjson_read("{}", 2, 0);
    yyjson_val *value = yyjson_doc_get_root(doc);
    status = dx_protocol_check(protocol, method, DX_SIDE_HOST, DX_PART_RESULT, value, 0, NULL);
    if (status == DX_MISFIT)
        status = dx_protocol_check_all(protocol, NULL);
    if (status == DX_OK)
        status = dx_protocol_page(protocol, page);
    assert_int_equal(status == DX_OK, page->len != 0);
    yyjson_doc_free(doc);
    dx_protocol_free(protocol);
    return status;
}

static void fails_everywhere(const char *name, size_t step) {
    size_t all = 0;
    for (size_t fail_at = 1;; fail_at += step) {
        struct unit_memory memory = {.fail_at = fail_at};
        dx_allocator alloc = unit_allocator(&memory);
        dx_protocol_config config = dx_protocol_defaults();
        config.allocator = &alloc;
        dx_buf page;
        dx_buf_init(&page, 1 << 22, &alloc);
        dx_status status = everything(&config, name, &page);
        size_t asked = memory.count;
        dx_buf_done(&page);
        assert_int_equal(memory.blocks, 0);
        if (status == DX_OK) {
            assert_true(asked < fail_at);
            break;
        }
        assert_int_equal(status, DX_ERR_NOMEM);
        all++;
    }
    assert_true(all > 50);
}

static void nothing_leaks_without_memory(void **state) {
    (void)state;
    fails_everywhere("lsp", 1);
    fails_everywhere("reginald@gen-b", 1);
    fails_everywhere("mcp@2025-03-26", 7);
}

/* After a failure the same can be asked again. */
static void what_failed_can_be_asked_again(void **state) {
    (void)state;
    struct unit_memory memory = {0};
    dx_allocator alloc = unit_allocator(&memory);
    dx_protocol_config config = dx_protocol_defaults();
    config.allocator = &alloc;
    dx_protocol *protocol = NULL;
    assert_int_equal(dx_protocol_open(TEXT("lsp"), &config, &protocol, NULL), DX_OK);
    const dx_method *method = dx_protocol_find(protocol, TEXT("initialize"));
    yyjson_doc *doc = yyjson_read("{}", 2, 0);
    yyjson_val *value = yyjson_doc_get_root(doc);
    dx_misfit why = {.phrase = ""};
    dx_status status = DX_ERR_NOMEM;
    size_t failures = 0;
    for (size_t more = 1; status == DX_ERR_NOMEM; more++, failures++) {
        memory.fail_at = memory.count + more;
        status = dx_protocol_check(protocol, method, DX_SIDE_HOST, DX_PART_PARAMS, value, 0, &why);
    }
    assert_true(failures > 5);
    assert_int_equal(status, DX_MISFIT);
    assert_string_equal(why.phrase, "missing member \"processId\"");
    memory.fail_at = 0;
    /* What is compiled needs no memory. */
    size_t count = memory.count;
    assert_int_equal(
        dx_protocol_check(protocol, method, DX_SIDE_HOST, DX_PART_PARAMS, value, 0, &why),
        DX_MISFIT);
    assert_int_equal(memory.count, count);
    yyjson_doc_free(doc);
    dx_protocol_free(protocol);
    assert_int_equal(memory.blocks, 0);
}

static void a_page_fits_or_is_not_written(void **state) {
    (void)state;
    dx_protocol *protocol = NULL;
    assert_int_equal(dx_protocol_open(TEXT("jsonrpc"), NULL, &protocol, NULL), DX_OK);
    dx_buf whole;
    dx_buf_init(&whole, 1 << 20, NULL);
    assert_int_equal(dx_protocol_page(protocol, &whole), DX_OK);
    for (size_t max = 3; max < whole.len + 3; max += 101) {
        dx_buf page;
        dx_buf_init(&page, max, NULL);
        assert_int_equal(dx_buf_append(&page, "abc", 3), DX_OK);
        assert_int_equal(dx_protocol_page(protocol, &page), DX_ERR_LIMIT);
        assert_int_equal(page.len, 3);
        dx_buf_done(&page);
    }
    dx_buf_done(&whole);
    dx_protocol_free(protocol);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_document_has_a_longest_length),
        cmocka_unit_test(a_document_has_a_deepest_place),
        cmocka_unit_test(methods_have_a_largest_count),
        cmocka_unit_test(names_have_a_largest_count),
        cmocka_unit_test(errors_have_a_largest_count),
        cmocka_unit_test(documents_extend_each_other_so_far),
        cmocka_unit_test(long_names_leave_room_for_what_is_wrong),
        cmocka_unit_test(references_have_a_largest_effort),
        cmocka_unit_test(names_in_references_have_a_longest_length),
        cmocka_unit_test(references_end),
        cmocka_unit_test(nothing_leaks_without_memory),
        cmocka_unit_test(what_failed_can_be_asked_again),
        cmocka_unit_test(a_page_fits_or_is_not_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
