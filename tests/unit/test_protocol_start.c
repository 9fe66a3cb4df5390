/* The handshake of a document: what the host sends first. */
#include "unit/unit.h"

#include <duplex/protocol.h>

#include <stdio.h>

#define HEAD "{\"openrpc\":\"1.3.2\",\"info\":{\"title\":\"T\",\"version\":\"1\"},"
#define STEM(name, more) HEAD "\"x-duplex\":{\"name\":\"" name "\"" more "},\"methods\":["
#define HELLO                                                                              \
    "{\"name\":\"hello\",\"summary\":\"S\",\"params\":[{\"name\":\"a\",\"required\":true," \
    "\"schema\":true}],\"x-duplex\":{\"from\":\"host\",\"params\":{\"type\":\"object\","   \
    "\"required\":[\"a\"],\"properties\":{\"a\":true}}}}"
#define READY                                                                              \
    "{\"name\":\"ready\",\"summary\":\"S\",\"params\":[],\"x-duplex\":{\"from\":\"both\"," \
    "\"notification\":true}}"
#define STEPS                                                                              \
    ",\"framing\":\"line\",\"start\":[{\"call\":\"hello\",\"params\":{ \"a\" : [1, 2] }}," \
    "{\"notify\":\"ready\"},{\"notify\":\"ready\",\"params\":[]}]"

static const char stem[] = STEM("stem", STEPS) HELLO "," READY "]}";

static dx_protocol *read_document(const char *document, const dx_protocol_config *config) {
    dx_protocol *protocol = NULL;
    dx_misfit why = {.phrase = ""};
    if (dx_protocol_read(dx_str(document), TEXT("file"), config, &protocol, &why) != DX_OK)
        fail_msg("%s", why.phrase);
    return protocol;
}

static void expect_step(const dx_step *step, const char *method, const char *params,
                        int notification) {
    assert_string_equal(step->method, method);
    if (params)
        assert_string_equal(step->params, params);
    else
        assert_null(step->params);
    assert_int_equal(step->notification, notification);
}

static void the_steps_are_read_in_order(void **state) {
    (void)state;
    dx_protocol *protocol = read_document(stem, NULL);
    const dx_step *step = dx_protocol_facts_of(protocol)->start;
    assert_non_null(step);
    expect_step(&step[0], "hello", "{\"a\":[1,2]}", 0);
    expect_step(&step[1], "ready", NULL, 1);
    expect_step(&step[2], "ready", "[]", 1);
    assert_null(step[3].method);
    assert_int_equal(dx_protocol_check_all(protocol, NULL), DX_OK);
    dx_protocol_free(protocol);
}

static void without_steps_there_is_none(void **state) {
    (void)state;
    dx_protocol *protocol = read_document(STEM("t", ",\"framing\":\"line\"") "]}", NULL);
    assert_null(dx_protocol_facts_of(protocol)->start);
    dx_protocol_free(protocol);
    protocol = read_document(STEM("t", ",\"framing\":\"line\",\"start\":[]") "]}", NULL);
    assert_null(dx_protocol_facts_of(protocol)->start);
    dx_protocol_free(protocol);
}

/* An open protocol may start with what it does not list; nothing is known of that. */
static void an_open_protocol_starts_as_it_likes(void **state) {
    (void)state;
    dx_protocol *protocol =
        read_document(STEM("t", ",\"framing\":\"line\",\"open\":true,\"start\":[{\"call\":\"x\"},"
                                "{\"notify\":\"y\",\"params\":{\"b\":1}}]") "]}",
                      NULL);
    const dx_step *step = dx_protocol_facts_of(protocol)->start;
    expect_step(&step[0], "x", NULL, 0);
    expect_step(&step[1], "y", "{\"b\":1}", 1);
    assert_null(step[2].method);
    assert_int_equal(dx_protocol_check_all(protocol, NULL), DX_OK);
    dx_protocol_free(protocol);
}

static dx_status find(void *user, dx_text name, dx_text *ret_bytes, dx_text *ret_file) {
    (void)user;
    if (!dx_text_is(name, "stem"))
        return DX_AGAIN;
    *ret_bytes = dx_str(stem);
    *ret_file = TEXT("shelf");
    return DX_OK;
}

static void who_extends_may_change_or_remove_it(void **state) {
    (void)state;
    dx_protocol_config config = dx_protocol_defaults();
    config.find = find;
    dx_protocol *protocol = read_document(STEM("leaf", ",\"extends\":\"stem\"") "]}", &config);
    expect_step(&dx_protocol_facts_of(protocol)->start[0], "hello", "{\"a\":[1,2]}", 0);
    dx_protocol_free(protocol);
    protocol = read_document(
        STEM("leaf", ",\"extends\":\"stem\",\"start\":[{\"notify\":\"ready\"}]") "]}", &config);
    const dx_step *step = dx_protocol_facts_of(protocol)->start;
    expect_step(&step[0], "ready", NULL, 1);
    assert_null(step[1].method);
    dx_protocol_free(protocol);
    protocol = read_document(STEM("leaf", ",\"extends\":\"stem\",\"start\":[]") "]}", &config);
    assert_null(dx_protocol_facts_of(protocol)->start);
    dx_protocol_free(protocol);
    /* What the steps need cannot be taken away from under them. */
    dx_misfit why = {.phrase = ""};
    protocol = NULL;
    assert_int_equal(dx_protocol_read(dx_str(STEM("leaf", ",\"extends\":\"stem\",\"removes\":{"
                                                          "\"methods\":[\"hello\"]}") "]}"),
                                      TEXT("file"), &config, &protocol, &why),
                     DX_ERR_INVALID);
    assert_string_equal(why.phrase, "shelf: /x-duplex/start/0/call: there is no method \"hello\""
                                    " (as file extends it)");
    assert_null(protocol);
}

static void steps_have_a_largest_count(void **state) {
    (void)state;
    static char document[2000];
    for (size_t count = 16; count <= 17; count++) {
        size_t len = (size_t)snprintf(document, sizeof document,
                                      HEAD "\"x-duplex\":{\"name\":\"t\",\"framing\":\"line\","
                                           "\"start\":[");
        for (size_t i = 0; i < count; i++)
            len += (size_t)snprintf(document + len, sizeof document - len,
                                    "%s{\"notify\":\"ready\"}", i ? "," : "");
        snprintf(document + len, sizeof document - len, "]},\"methods\":[" READY "]}");
        dx_protocol *protocol = NULL;
        dx_misfit why = {.phrase = ""};
        dx_status status = dx_protocol_read(dx_str(document), TEXT("file"), NULL, &protocol, &why);
        assert_int_equal(status, count > 16 ? DX_ERR_INVALID : DX_OK);
        if (status == DX_OK) {
            const dx_step *start = dx_protocol_facts_of(protocol)->start;
            assert_non_null(start[15].method);
            assert_null(start[16].method);
        } else {
            assert_string_equal(why.instance, "/x-duplex/start");
        }
        dx_protocol_free(protocol);
    }
}

/* Whichever allocation fails, nothing leaks; also when what follows is wrong. */
static void nothing_leaks_without_memory(void **state) {
    (void)state;
    static const char bad[] = STEM("t", STEPS ",\"stop\":{\"call\":\"bye\"}") HELLO "," READY "]}";
    static const char *const documents[] = {stem, bad};
    for (size_t i = 0; i < LENGTH(documents); i++) {
        size_t failures = 0;
        dx_status status = DX_ERR_NOMEM;
        for (size_t fail_at = 1; status == DX_ERR_NOMEM; fail_at++) {
            struct unit_memory memory = {.fail_at = fail_at};
            dx_allocator alloc = unit_allocator(&memory);
            dx_protocol_config config = dx_protocol_defaults();
            config.allocator = &alloc;
            dx_protocol *protocol = NULL;
            status = dx_protocol_read(dx_str(documents[i]), TEXT("file"), &config, &protocol, NULL);
            failures += status == DX_ERR_NOMEM;
            dx_protocol_free(protocol);
            assert_int_equal(memory.blocks, 0);
        }
        assert_int_equal(status, i == 0 ? DX_OK : DX_ERR_INVALID);
        assert_true(failures > 10);
    }
}

/* A revision that is not part of the file's name can be extended by it. */
static void a_revision_is_extended(void **state) {
    (void)state;
    dx_protocol *protocol =
        read_document(STEM("leaf", ",\"extends\":\"mcp@2025-11-25\"") "]}", NULL);
    assert_non_null(dx_protocol_facts_of(protocol)->start);
    dx_protocol_free(protocol);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_steps_are_read_in_order),
        cmocka_unit_test(without_steps_there_is_none),
        cmocka_unit_test(an_open_protocol_starts_as_it_likes),
        cmocka_unit_test(who_extends_may_change_or_remove_it),
        cmocka_unit_test(steps_have_a_largest_count),
        cmocka_unit_test(nothing_leaks_without_memory),
        cmocka_unit_test(a_revision_is_extended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
