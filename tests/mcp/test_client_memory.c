/* Memory that runs out at any point: nothing leaks, nothing breaks, every call that was accepted
 * ends once. */
#include "mcp/client_script.h"
#include "unit/unit.h"

/* A server that answers as far as it is asked. */
static void serve(script *s, yyjson_doc *doc, int is_modern) {
    const char *method = method_of(doc);
    if (!at(doc, "/id") || strcmp(method, "(none)") == 0) {
        yyjson_doc_free(doc);
    } else if (strcmp(method, "initialize") == 0) {
        script_result(s, doc,
                      "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":" ALL_CAPABILITIES
                      ",\"serverInfo\":{\"name\":\"server\",\"version\":\"2\"}}");
    } else if (strcmp(method, "server/discover") == 0 && !is_modern) {
        script_error(s, doc, "{\"code\":-32601,\"message\":\"m\"}");
    } else if (strcmp(method, "server/discover") == 0) {
        script_result(s, doc,
                      DISCOVERED("{\"tools\":{\"listChanged\":true},\"resources\":{\"subscribe\":"
                                 "true}}"));
    } else if (strcmp(method, "tools/list") == 0) {
        int more = !at(doc, "/params/cursor");
        script_result(s, doc,
                      more ? "{\"tools\":[],\"nextCursor\":\"1\",\"resultType\":\"complete\","
                             "\"ttlMs\":0,\"cacheScope\":\"public\"}"
                           : "{\"tools\":[],\"resultType\":\"complete\",\"ttlMs\":0,"
                             "\"cacheScope\":\"public\"}");
    } else if (strcmp(method, "subscriptions/listen") == 0) {
        char line[256];
        snprintf(line, sizeof line,
                 "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/acknowledged\","
                 "\"params\":{\"notifications\":{},\"_meta\":{"
                 "\"io.modelcontextprotocol/subscriptionId\":%d}}}",
                 yyjson_get_int(at(doc, "/id")));
        script_say(s, line);
        yyjson_doc_free(doc);
    } else if (strcmp(method, "tasks/get") == 0) {
        script_result(s, doc,
                      "{\"taskId\":\"T\",\"status\":\"completed\",\"createdAt\":\"c\","
                      "\"lastUpdatedAt\":\"u\",\"ttl\":null}");
    } else if (at(doc, "/params/task")) {
        script_result(s, doc,
                      "{\"task\":{\"taskId\":\"T\",\"status\":\"working\",\"createdAt\":\"c\","
                      "\"lastUpdatedAt\":\"u\",\"ttl\":null,\"pollInterval\":1}}");
    } else if (is_modern && !at(doc, "/params/inputResponses")) {
        script_result(s, doc,
                      "{\"resultType\":\"input_required\",\"requestState\":\"z\",\"inputRequests\":"
                      "{\"a\":{\"method\":\"sampling/createMessage\",\"params\":{\"messages\":[],"
                      "\"maxTokens\":5}},\"b\":{\"method\":\"roots/list\"}}}");
    } else {
        script_result(s, doc, "{\"content\":[],\"resultType\":\"complete\"}");
    }
}

static void answer_now(dx_mcp_client *client, dx_mcp_question *question, yyjson_val *params,
                       void *user) {
    script *s = user;
    (void)client;
    (void)params;
    s->asked++;
    if (dx_mcp_question_answer(question,
                               json("{\"role\":\"assistant\",\"content\":{\"type\":\"text\","
                                    "\"text\":\"hi\"},\"model\":\"m\"}")) != DX_OK)
        (void)dx_mcp_question_refuse(question, -1, dx_str("no"));
}

static void elicit_now(dx_mcp_client *client, dx_mcp_question *question, yyjson_val *params,
                       void *user) {
    script *s = user;
    (void)client;
    (void)params;
    s->asked++;
    if (dx_mcp_question_answer(question, json("{\"action\":\"accept\"}")) != DX_OK)
        (void)dx_mcp_question_refuse(question, -1, dx_str("no"));
}

/* All that a client does, as far as it gets. */
static int use(script *s, int is_modern) {
    int accepted = 0;
    dx_mcp_call_options options = {.on_progress = script_progress};
    dx_text uri = dx_str("file:///a");
    (void)dx_mcp_client_add_root(s->client, uri, dx_str("A"));
    accepted += !dx_mcp_client_tool(s->client, dx_str("t"), json("{\"a\":1}"), &options,
                                    script_answer, s, NULL);
    accepted += !dx_mcp_client_list(s->client, DX_MCP_TOOLS, NULL, script_answer, s, NULL);
    accepted += !dx_mcp_client_subscribe(s->client, uri, script_answer, s, NULL);
    if (!is_modern) {
        accepted += !dx_mcp_client_task(s->client, dx_str("t"), json("{}"), 9, NULL, script_answer,
                                        s, NULL);
        script_say(s, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"roots/list\"}");
        script_say(s, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"sampling/createMessage\","
                      "\"params\":{\"messages\":[],\"maxTokens\":5}}");
        script_say(s, "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"sampling/createMessage\","
                      "\"params\":{\"messages\":[],\"maxTokens\":5,\"task\":{\"ttl\":9000}}}");
        script_say(s, "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"tasks/list\"}");
        script_say(s, "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"elicitation/create\",\"params\":{"
                      "\"message\":\"m\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{"
                      "\"n\":{\"type\":\"integer\",\"default\":1}}}}}");
    }
    return accepted;
}

/* True if nothing failed any more. */
static int play(struct unit_memory *memory, int is_modern, int is_auto) {
    script s = {0};
    int fds[2];
    dx_allocator allocator = unit_allocator(memory);
    dx_mcp_client_config config = script_config(&s);
    config.allocator = &allocator;
    config.mode = is_auto ? DX_MCP_AUTO : is_modern ? DX_MCP_MODERN : DX_MCP_LEGACY;
    config.probe_ms = 300;
    config.roots = 1;
    config.on_sampling = answer_now;
    config.on_elicitation = elicit_now;
    config.start_ms = 300;
    config.timeout_ms = 300;
    assert_int_equal(dx_loop_new(NULL, &s.loop, NULL), DX_OK);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    assert_int_equal(fcntl(fds[1], F_SETFL, O_NONBLOCK), 0);
    s.fd = fds[1];
    config.in = config.out = fds[0];
    dx_status status = dx_mcp_client_open(s.loop, &config, &s.client, NULL);
    int accepted = 0;
    int used = 0;
    if (status == DX_OK) {
        /* What cannot go on without memory is ended from outside, after a moment. */
        uint64_t end = script_now() + (!memory->fails ? 30 : SCRIPT_WAIT_MS);
        while (!s.closed && (!used || s.answers < accepted) && script_now() < end) {
            yyjson_doc *doc = script_hear_within(&s, 2);
            if (doc)
                serve(&s, doc, is_modern);
            if (s.ready && !used) {
                used = 1;
                accepted = use(&s, is_modern);
            }
        }
        assert_true(!memory->fails || s.closed || (used && s.answers == accepted));
        if (!s.closed)
            dx_mcp_client_close(s.client);
        if (memory->fails)
            script_until(&s, &s.closed, 1);
        if (memory->fails)
            assert_int_equal(s.answers, accepted);
        assert_true(s.answers <= accepted);
    } else {
        assert_true(status == DX_ERR_NOMEM || status == DX_ERR_SYSTEM);
        assert_null(s.client);
        close(fds[0]);
    }
    script_end(&s);
    assert_int_equal(memory->blocks, 0);
    return memory->count < memory->fail_at;
}

static void try_all(int is_modern, int is_auto, int stays, size_t step) {
    struct unit_memory memory = {0};
    play(&memory, is_modern, is_auto);
    size_t most = memory.count;
    assert_true(most > 100);
    size_t at_call = 1;
    for (; at_call < most; at_call += step) {
        memory = (struct unit_memory){.fail_at = at_call, .fails = stays ? 0 : 1};
        play(&memory, is_modern, is_auto);
    }
}

/* Those that read the protocols are many and alike. */
static void test_legacy(void **state) {
    (void)state;
    try_all(0, 0, 0, 3);
    try_all(0, 0, 1, 17);
    try_all(0, 1, 0, 11);
}

static void test_modern(void **state) {
    (void)state;
    try_all(1, 0, 0, 3);
    try_all(1, 0, 1, 17);
    try_all(1, 1, 0, 11);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_legacy),
        cmocka_unit_test(test_modern),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
