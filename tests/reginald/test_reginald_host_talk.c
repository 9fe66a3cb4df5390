/* What plugins say, in which bytes, and what the host makes of it. */
#include "reginald/host.h"

/* Row 13. */
static void test_logs(void **state) {
    static const char spec[] =
        "{'after': {'initialize': ["
        "{'method': 'log', 'params': {'level': 'info', 'msg': 'one'}},"
        "{'method': 'log', 'params': {'level': 'INFO+2', 'msg': 'two', 'fields': {'a': [1]}}},"
        "{'method': 'log', 'params': {'level': 'trace', 'msg': 'three', 'more': 1}},"
        "{'method': 'log', 'params': {'level': 'loud', 'msg': 'four'}},"
        "{'id': None, 'method': 'log', 'params': {'level': 'warn', 'msg': 'five'}},"
        "{'method': 'log', 'params': {'level': 'ERROR', 'msg': 'six'}}]}}";
    static const char *const revisions[] = {NULL, "exact"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct world *world = world_new(revisions[i]);
        world_open(world);
        dx_reginald_guest *guest = world_add(world, spec);
        start(world);
        WAIT(world, strstr(world->log.text, "six"));
        must_have(&world->log, "example 0 one \n");
        must_have(&world->log, "example 2 two {\"a\":[1]}\n");
        must_have(&world->log, "example 8 six \n");
        assert_int_equal(count_of(&world->log, "-8 three"), i ? 0 : 1);
        assert_int_equal(count_of(&world->log, "four"), 0);
        must_have(&world->broken, "log: /params/level");
        assert_int_equal(count_of(&world->broken, "\n"), i ? 2 : 1);
        expect_ready(guest);
        stop(world);
        world_free(world);
    }
}

/* Row 12: four are let pass, the fifth is one too many; what was under way ends. */
static void test_protocol_errors(void **state) {
    static const char *const errors[] = {
        "{'method': 'strange'}",
        "'{\"jsonrpc\":\"1.0\",\"method\":\"log\",\"params\":{\"level\":\"info\",\"msg\":\"m\"}}'",
        "{'id': 99, 'result': {}}",
        "'{\"jsonrpc\":\"2.0\"}'",
        "{'method': 'log', 'params': {'level': 'info'}}",
        "'[]'",
        "'{'",
        "'\\udcff'",
    };
    static const char *const revisions[] = {NULL, "gen-a", "exact"};
    (void)state;
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        for (unsigned many = 4; many <= 5; many++) {
            struct world *world = world_new(revisions[i % 3]);
            char spec[512];
            world_open(world);
            snprintf(spec, sizeof spec,
                     "{'before': {'runCommand': [%s] * %u}, 'answers': {'runCommand': %s}}",
                     errors[i], many, many == 5 ? "'mute'" : "{}");
            dx_reginald_guest *guest = world_add(world, spec);
            start(world);
            expect_ready(guest);
            assert_int_equal(dx_reginald_run_command(world->host, offer(world, 0, "sleep"),
                                                     dx_json_none(), NULL, on_done, world),
                             DX_OK);
            WAIT(world, world->done.len);
            must_have(&world->done,
                      many == 5 ? "sleep lost 0 made 5 protocol errors" : "sleep result 0");
            assert_int_equal(count_of(&world->broken, "\n"), many);
            if (many == 5)
                expect_failed(guest, "made 5 protocol errors");
            else
                expect_ready(guest);
            stop(world);
            assert_int_equal(count_of(&world->sent, "\"exit\""), many == 5 ? 0 : 1);
            world_free(world);
        }
}

/* Row 14: the document lets a plugin ask. */
static void test_questions(void **state) {
    static const char spec[] =
        "{'handshake': {'configs': [{'key': 'a', 'value': 7, 'type': 'int'}, {'key': 'b', 'value': "
        "True, 'type': 'bool'}]}, 'after': {'initialize': [{'id': 'a-1', 'method': 'config'}, "
        "{'id': 9007199254740993, 'method': 'other', 'params': {'x': 1}}]}}";
    static const char *const revisions[] = {NULL, "seed", "gen-a", "exact"};
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct world *world = world_new(revisions[i]);
        world_open(world);
        dx_reginald_guest *guest = world_add(world, spec);
        start(world);
        if (i < 2) {
            WAIT(world, strstr(world->sent.text, "9007199254740993"));
            must_have(&world->sent, "\"id\":9007199254740993,\"error\":{\"code\":-32601");
            must_have(&world->sent,
                      "\"id\":\"a-1\",\"result\":[{\"key\":\"a\",\"value\":7,\"type\":\"int\"},{"
                      "\"key\":\"b\",\"value\":true,\"type\":\"bool\"}]}");
        } else { /* the real host takes them for responses */
            WAIT(world, count_of(&world->broken, "\n") == 2);
            assert_null(strstr(world->sent.text, "\"error\""));
        }
        assert_int_equal(count_of(&world->broken, "\n"), i < 2 ? 0 : 2);
        expect_ready(guest);
        stop(world);
        world_free(world);
    }
}

/* Rows 3, 4 and 5: what is taken, and what the letter of the document takes. */
static void test_framing(void **state) {
    static const struct {
        const char *header;
        bool plain;
        bool seed;
    } rows[] = {
        {"Content-Length: %d\\r\\n\\r\\n", true, true},
        {"Content-Length:%d\\r\\n\\r\\n", true, true},
        {"Content-Length:    %d\\r\\n\\r\\n", true, true},
        {"content-length: %d\\r\\n\\r\\n", true, true},
        {"X-Other: a b:c\\r\\nContent-Length: %d\\r\\nMore:\\r\\n\\r\\n", true, true},
        {"X-Num1: a\\r\\nContent-Length: %d\\r\\n\\r\\n", true, false},
        {"X_Y: a\\r\\nContent-Length: %d\\r\\n\\r\\n", true, false},
        {"Content-Length:\\t%d\\r\\n\\r\\n", true, false},
        {"Content-Type: a; charset=utf-16\\r\\nContent-Length: %d\\r\\n\\r\\n", true, true},
        {"Content-Length: %d\\n\\n", true, false},
        {"Content-Length: +%d\\r\\n\\r\\n", true, false},
        {"Content-Length: 3\\r\\nContent-Length: %d\\r\\n\\r\\n", false, false},
        {"X-A: a\\x01\\x7fb\\r\\nContent-Length: %d\\r\\n\\r\\n", true, true},
        {"X-A: \\xe4\\r\\nContent-Length: %d\\r\\n\\r\\n", true, false},
        {" Content-Length: %d\\r\\n\\r\\n", true, false},
        {"\\r\\nContent-Length: %d\\r\\n\\r\\n", true, false},
        {"Content-Length: -%d\\r\\n\\r\\n", false, false},
        {"X-A: %d\\r\\n\\r\\n", false, false},
        {"Content-Length: 9223372036854775807\\r\\nX-A: %d\\r\\n\\r\\n", false, false},
        {"Content-Length: 99999999999999999999\\r\\nX-A: %d\\r\\n\\r\\n", false, false},
        {"Content-Length: 0\\r\\nX-A: %d\\r\\n\\r\\n", false, false},
    };
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        struct world *world = world_new(k ? "seed" : NULL);
        dx_reginald_guest *guests[sizeof rows / sizeof *rows];
        world->config.handshake_ms = 5000;
        world_open(world);
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            char spec[512];
            snprintf(
                spec, sizeof spec,
                "{'handshake': {'name': 'n%zu', 'commands': [], 'tasks': []}, 'header': '%s'%s}", i,
                rows[i].header, i < 4 ? ", 'chop': 1" : "");
            guests[i] = world_add(world, spec);
        }
        start(world);
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
            if ((dx_reginald_guest_state(guests[i]) == DX_REGINALD_READY) !=
                (k ? rows[i].seed : rows[i].plain))
                fail_msg("%s, %s: %s", rows[i].header, k ? "seed" : "plain",
                         dx_reginald_guest_why(guests[i]));
        stop(world);
        world_free(world);
    }
}

/* Rows 6, 8 and 21. */
static void test_bodies(void **state) {
#define FACTS "\"protocol\":\"rpp\",\"protocolVersion\":0,\"version\":\"1\""
    static const struct {
        const char *text;
        bool is_good;
    } rows[] = {
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{" FACTS ",\"name\":\"n0\"}}", true},
        {"{\"jsonrpc\":\"2.0\",\"id\":1.0,\"result\":{" FACTS ",\"name\":\"n1\"}}", true},
        {"{\"jsonrpc\":\"2.0\",\"id\":\"1\",\"result\":{" FACTS ",\"name\":\"n2\"}}", false},
        {"\\n{\\n\\t\"jsonrpc\": \"2.0\",\\n\\t\"id\": 1, \"result\": {" FACTS
         ",\"name\":\"n3\"}}\\n",
         true},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{" FACTS ",\"name\":\"\\\\u0026 & <>\"}}", true},
        {"\\ufeff{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{" FACTS ",\"name\":\"n5\"}}", false},
        {"[{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{" FACTS ",\"name\":\"n6\"}}]", false},
        {"{\"JSONRPC\":\"2.0\",\"id\":1,\"result\":{" FACTS ",\"name\":\"n7\"}}", false},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{" FACTS ",\"name\":\"\\udcff\"}}", false},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"more\":[],\"result\":{" FACTS ",\"name\":\"n9\"}}", true},
    };
    struct world *world = world_new(NULL);
    dx_reginald_guest *guests[sizeof rows / sizeof *rows];
    (void)state;
    world->config.handshake_ms = 5000;
    world_open(world);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char spec[512];
        snprintf(spec, sizeof spec, "{'text': {'handshake': '%s'}}", rows[i].text);
        guests[i] = world_add(world, spec);
    }
    start(world);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if ((dx_reginald_guest_state(guests[i]) == DX_REGINALD_READY) != rows[i].is_good)
            fail_msg("%s: %s", rows[i].text, dx_reginald_guest_why(guests[i]));
    assert_string_equal(dx_reginald_guest_name(guests[4]), "& & <>");
    stop(world);
    world_free(world);
}

/* Row 22. */
static void test_standard_error(void **state) {
    struct world *world = world_new(NULL);
    (void)state;
    world_open(world);
    dx_reginald_guest *guest = world_add(world, "{'lines': ['x' * 300000, 'end']}");
    start(world);
    expect_ready(guest);
    must_have(&world->errors, "end\n");
    assert_true(world->error_bytes >= 300003);
    stop(world);
    world_free(world);
}

static void test_stray(void **state) {
    struct world *world = world_new(NULL);
    (void)state;
    world_open(world);
    dx_reginald_guest *guest = world_add(world, "{'before': {'handshake': [b'hello\\n'] * 20}}");
    start(world);
    expect_ready(guest);
    assert_int_equal(count_of(&world->broken, "text on stdout that is not JSON-RPC: hello"), 20);
    stop(world);
    world_free(world);
}

/* Rows 15, 19 and 20. */
static void test_answers(void **state) {
    static const struct {
        const char *answers;
        const char *done;
    } rows[] = {
        {"'answers': {'setupCommand': {'error': {'code': -32602, 'message': 'no such key'}}}",
         "sleep error -32602 no such key"},
        {"'answers': {'runCommand': {'error': {'code': -32000, 'message': 'a\\nb', 'data': {}, "
         "'x': 1}}}",
         "sleep error -32000 a?b"},
        {"'answers': {'runCommand': {'error': {'code': 1, 'message': ''}}}",
         "sleep error 1 the plugin gave"},
        {"'answers': {'runCommand': 5}", "sleep result 0"},
        {"'answers': {'setupCommand': 5}", "sleep invalid 0 setupCommand"},
        {"'answers': {'runCommand': None}", "sleep result 0"},
        {"'text': {'runCommand': '{\"jsonrpc\":\"2.0\",\"id\":%ID,\"result\":{},\"error\":null}'}",
         "sleep invalid"},
        {"'text': {'runCommand': '{\"jsonrpc\":\"2.0\",\"id\":%ID}'}", "sleep invalid"},
        {"'leave': {'runCommand': 9}", "sleep lost 0 the program exited with code 9"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct world *world = world_new(NULL);
        const char *words[] = {"a", "\xc3\xa4\"", NULL};
        char spec[512];
        world_open(world);
        snprintf(spec, sizeof spec, "{%s}", rows[i].answers);
        world_add(world, spec);
        start(world);
        assert_int_equal(dx_reginald_run_command(world->host, offer(world, 0, "sleep"),
                                                 dx_json_none(), words, on_done, world),
                         DX_OK);
        WAIT(world, world->done.len);
        must_have(&world->done, rows[i].done);
        must_have(&world->sent,
                  "\"params\":{\"name\":\"sleep\",\"args\":[\"a\",\"\xc3\xa4\\\"\"]}");
        assert_int_equal(count_of(&world->done, "\n"), 1);
        stop(world);
        world_free(world);
    }
}

/* Row 23: several at once, and answered backwards; row 20. */
static void test_tasks(void **state) {
    struct world *world = world_new(NULL);
    (void)state;
    world_open(world);
    world_add(world, "{'hold': ('runTask', 3), 'answers': {'validateTask': {'error': {'code': "
                     "-32050, 'message': 'bad'}}}}");
    start(world);
    const dx_reginald_offer *echo = offer(world, 1, "echo");
    const char *config = "[{\"key\":\"msg\",\"value\":\"h\xc3\xa4llo\",\"type\":\"string\"}]";
    assert_int_equal(dx_reginald_validate_task(world->host, echo, json(config), on_done, world),
                     DX_OK);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(
            dx_reginald_run_task(world->host, echo, "/tmp", json(config), on_done, world), DX_OK);
    WAIT(world, count_of(&world->done, "\n") == 4);
    assert_int_equal(count_of(&world->done, "echo result 0"), 3);
    must_have(&world->done, "echo error -32050 bad");
    must_have(&world->sent, "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"validateTask\",\"params\":{"
                            "\"type\":\"echo\",\"config\":[{\"key\":\"msg\",\"value\":"
                            "\"h\xc3\xa4llo\",\"type\":\"string\"}]}}\n");
    must_have(&world->sent, "\"params\":{\"type\":\"echo\",\"dir\":\"/tmp\",\"config\":[{");
    stop(world);
    world_free(world);
}

static void test_misuse(void **state) {
    struct world *world = world_new(NULL);
    (void)state;
    world_open(world);
    world_add(world, "{}");
    start(world);
    const dx_reginald_offer *echo = offer(world, 1, "echo");
    const dx_reginald_offer *nap = offer(world, 0, "sleep");
    assert_int_equal(
        dx_reginald_run_command(world->host, echo, dx_json_none(), NULL, on_done, world),
        DX_ERR_INVALID);
    assert_int_equal(dx_reginald_run_task(world->host, nap, "", dx_json_none(), on_done, world),
                     DX_ERR_INVALID);
    assert_int_equal(dx_reginald_validate_task(world->host, NULL, dx_json_none(), on_done, world),
                     DX_ERR_INVALID);
    assert_int_equal(dx_reginald_run_task(world->host, echo, "", json("7"), on_done, world),
                     DX_MISFIT);
    assert_int_equal(dx_reginald_run_task(world->host, echo, "", json("{"), on_done, world),
                     DX_ERR_INVALID);
    stop(world);
    assert_int_equal(dx_reginald_run_task(world->host, echo, "", dx_json_none(), on_done, world),
                     DX_CLOSED);
    assert_int_equal(world->done.len, 0);
    world_free(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_logs),      cmocka_unit_test(test_protocol_errors),
        cmocka_unit_test(test_questions), cmocka_unit_test(test_framing),
        cmocka_unit_test(test_bodies),    cmocka_unit_test(test_standard_error),
        cmocka_unit_test(test_stray),     cmocka_unit_test(test_answers),
        cmocka_unit_test(test_tasks),     cmocka_unit_test(test_misuse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
