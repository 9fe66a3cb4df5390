/* Very many calls at once: each ends once. */
#include "mcp/client_script.h"

typedef struct many {
    script s;
    size_t count;
    unsigned char *ended; /* how often each has */
    size_t results, others;
    int all;
} many;

typedef struct one {
    many *of;
    size_t number;
} one;

static void on_one(dx_mcp_client *client, dx_mcp_call call, const dx_event *event, void *user) {
    const one *self = user;
    many *m = self->of;
    (void)client;
    (void)call;
    m->ended[self->number]++;
    if (event->outcome == DX_OUTCOME_RESULT) {
        /* It is the answer to this one. */
        yyjson_val *content = yyjson_obj_get(event->value, "content");
        yyjson_val *text = yyjson_obj_get(yyjson_arr_get_first(content), "text");
        assert_int_equal(strtoul(yyjson_get_str(text), NULL, 10), self->number);
        m->results++;
    } else {
        m->others++;
    }
    m->all = m->results + m->others == m->count;
}

static one *call_all(many *m, size_t count) {
    one *ones = calloc(count, sizeof *ones);
    m->count = count;
    m->ended = calloc(count, 1);
    assert_non_null(ones);
    assert_non_null(m->ended);
    for (size_t i = 0; i < count; i++) {
        char arguments[32];
        ones[i] = (one){m, i};
        snprintf(arguments, sizeof arguments, "{\"n\":%zu}", i);
        assert_int_equal(dx_mcp_client_tool(m->s.client, dx_str("t"), json(arguments), NULL, on_one,
                                            &ones[i], NULL),
                         DX_OK);
    }
    assert_int_equal(dx_mcp_client_pending(m->s.client), count);
    return ones;
}

static void check_all(many *m, one *ones) {
    for (size_t i = 0; i < m->count; i++)
        assert_int_equal(m->ended[i], 1);
    assert_int_equal(dx_mcp_client_pending(m->s.client), 0);
    free(ones);
    free(m->ended);
}

/* Takes all requests first, and answers them in any order. */
static const char program[] =
    "import sys, json, random\n"
    "def say(o):\n"
    "    sys.stdout.write(json.dumps(o) + '\\n')\n"
    "waiting = []\n"
    "for line in sys.stdin:\n"
    "    m = json.loads(line)\n"
    "    if m.get('method') == 'initialize':\n"
    "        say({'jsonrpc': '2.0', 'id': m['id'], 'result': {'protocolVersion': '2025-11-25',\n"
    "             'capabilities': {'tools': {}}, 'serverInfo': {'name': 's', 'version': '1'}}})\n"
    "        sys.stdout.flush()\n"
    "    elif m.get('method') == 'tools/call':\n"
    "        waiting.append(m)\n"
    "        if len(waiting) == int(sys.argv[1]):\n"
    "            random.Random(1).shuffle(waiting)\n"
    "            for m in waiting:\n"
    "                say({'jsonrpc': '2.0', 'id': m['id'], 'result': {'content': [\n"
    "                     {'type': 'text', 'text': str(m['params']['arguments']['n'])}]}})\n"
    "            sys.stdout.flush()\n";

static void test_10000_over_a_pipe(void **state) {
    (void)state;
    many m = {.s = {.fd = -1}};
    const char *argv[] = {"python3", "-c", program, "10000", NULL};
    dx_error error = {0};
    dx_mcp_client_config config = script_config(&m.s);
    config.ids = DX_IDS_RANDOM;
    config.argv = argv;
    assert_int_equal(dx_loop_new(NULL, &m.s.loop, &error), DX_OK);
    assert_int_equal(dx_mcp_client_open(m.s.loop, &config, &m.s.client, &error), DX_OK);
    script_until(&m.s, &m.s.ready, 1);
    one *ones = call_all(&m, 10000);
    for (int i = 0; i < 6 && !m.all; i++) {
        uint64_t end = script_now() + SCRIPT_WAIT_MS;
        while (!m.all && script_now() < end)
            script_turn(&m.s, 50);
    }
    assert_int_equal(m.all, 1);
    assert_int_equal(m.results, 10000);
    check_all(&m, ones);
    dx_mcp_client_close(m.s.client);
    script_until(&m.s, &m.s.closed, 1);
    script_end(&m.s);
}

/* Some are answered twice, some not at all, some cancelled by us, some by the server. */
static void test_R22_1000_in_any_order(void **state) {
    (void)state;
    enum { COUNT = 1000 };
    many m = {0};
    static int ids[COUNT];
    dx_mcp_client_config config = script_config(&m.s);
    config.timeout_ms = 3000;
    script_begin(&m.s, &config);
    one *ones = call_all(&m, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        yyjson_doc *doc = script_hear(&m.s, "tools/call");
        size_t number = yyjson_get_uint(at(doc, "/params/arguments/n"));
        assert_true(number < COUNT);
        ids[number] = yyjson_get_int(at(doc, "/id"));
        yyjson_doc_free(doc);
    }
    unsigned seed = 7;
    static size_t order[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        order[i] = i;
    for (size_t i = COUNT - 1; i > 0; i--) {
        seed = seed * 1103515245u + 12345u;
        size_t other = (seed >> 8) % (i + 1);
        size_t was = order[i];
        order[i] = order[other];
        order[other] = was;
    }
    for (size_t i = 0; i < COUNT; i++) {
        char line[200];
        size_t number = order[i];
        if (number % 97 == 0) {
            continue; /* never: it runs out of time */
        }
        if (number % 89 == 0) {
            snprintf(line, sizeof line,
                     "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":"
                     "{\"requestId\":%d}}",
                     ids[number]);
        } else {
            snprintf(line, sizeof line,
                     "{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{\"content\":[{\"type\":\"text\","
                     "\"text\":\"%zu\"}]}}",
                     ids[number], number);
        }
        script_say(&m.s, line);
        if (number % 5 == 0)
            script_say(&m.s, line);
    }
    uint64_t end = script_now() + SCRIPT_WAIT_MS;
    while (!m.all && script_now() < end)
        script_turn(&m.s, 50);
    assert_int_equal(m.all, 1);
    assert_true(m.results > 970 && m.others > 15);
    check_all(&m, ones);
    script_end(&m.s);
}

static void test_1000_are_cancelled_or_lost(void **state) {
    (void)state;
    for (int i = 0; i < 3; i++) {
        many m = {0};
        dx_mcp_client_config config = script_config(&m.s);
        script_begin(&m.s, &config);
        one *ones = call_all(&m, 1000);
        size_t count = 0;
        if (i == 0) {
            assert_int_equal(dx_mcp_client_cancel_all(m.s.client, dx_str(NULL), NULL, 0, &count),
                             DX_OK);
            assert_int_equal(count, 1000);
        } else if (i == 1) {
            dx_mcp_client_close(m.s.client);
        } else {
            script_turn(&m.s, 10);
            shutdown(m.s.fd, SHUT_RDWR);
        }
        script_until(&m.s, &m.all, 1);
        assert_int_equal(m.others, 1000);
        check_all(&m, ones);
        script_end(&m.s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_10000_over_a_pipe),
        cmocka_unit_test(test_R22_1000_in_any_order),
        cmocka_unit_test(test_1000_are_cancelled_or_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
