/* The beginning and the end of a conversation. */
#include "mcp/client_script.h"

static void test_L1_order(void **state) {
    (void)state;
    script s = {0};
    dx_mcp_client_config config = script_config(&s);
    config.title = "A test";
    script_open(&s, &config);
    yyjson_doc *hello = script_hear(&s, "initialize");
    assert_string_equal(text_at(hello, "/params/protocolVersion"), "2025-11-25");
    assert_string_equal(text_at(hello, "/params/clientInfo/name"), "test");
    assert_string_equal(text_at(hello, "/params/clientInfo/title"), "A test");
    assert_int_equal(yyjson_obj_size(at(hello, "/params/capabilities")), 0);
    assert_int_equal(dx_mcp_client_ping(s.client, NULL, script_answer, &s, NULL), DX_AGAIN);
    assert_null(dx_mcp_client_revision(s.client));
    assert_int_equal(dx_mcp_client_offers(s.client, dx_str("tools/list")), 0);
    script_silence(&s, 50);
    assert_int_equal(s.ready, 0);
    script_result(&s, hello,
                  "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"tools\":{}},"
                  "\"serverInfo\":{\"name\":\"server\",\"version\":\"2\"},"
                  "\"instructions\":\"Be kind.\"}");
    script_skip(&s, "notifications/initialized");
    script_until(&s, &s.ready, 1);
    assert_string_equal(dx_mcp_client_revision(s.client), "2025-11-25");
    assert_int_equal(dx_mcp_client_is_modern(s.client), 0);
    assert_string_equal(yyjson_get_str(yyjson_obj_get(dx_mcp_client_server(s.client), "name")),
                        "server");
    assert_true(dx_text_is(dx_mcp_client_instructions(s.client), "Be kind."));
    assert_int_equal(dx_mcp_client_offers(s.client, dx_str("tools/list")), 1);
    assert_int_equal(dx_mcp_client_offers(s.client, dx_str("prompts/list")), 0);
    assert_int_equal(dx_mcp_client_offers(s.client, dx_str("no/such")), 0);
    script_end(&s);
}

static void test_L2_older_revision(void **state) {
    (void)state;
    static const char *const revisions[] = {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"};
    for (size_t i = 0; i < 4; i++) {
        script s = {0};
        dx_mcp_client_config config = script_config(&s);
        script_open(&s, &config);
        script_greet(&s, revisions[i], "{\"tools\":{}}");
        assert_string_equal(dx_mcp_client_revision(s.client), revisions[i]);
        /* In the first revision completion needs nothing by name. */
        assert_int_equal(dx_mcp_client_offers(s.client, dx_str("completion/complete")), i == 3);
        assert_int_equal(dx_mcp_client_offers(s.client, dx_str("ping")), 1);
        script_end(&s);
    }
}

static void test_L3_unknown_revision(void **state) {
    (void)state;
    static const char *const revisions[] = {"2024-05-11", "2026-07-28", "x"};
    for (size_t i = 0; i < 3; i++) {
        script s = {0};
        char result[256];
        dx_mcp_client_config config = script_config(&s);
        script_open(&s, &config);
        snprintf(result, sizeof result,
                 "{\"protocolVersion\":\"%s\",\"capabilities\":{},\"serverInfo\":{\"name\":\"s\","
                 "\"version\":\"2\"}}",
                 revisions[i]);
        script_result(&s, script_hear(&s, "initialize"), result);
        script_until(&s, &s.closed, 1);
        assert_int_equal(s.ready, 0);
        assert_int_equal(s.end.no_revision, 1);
        assert_int_equal(s.end.was_ready, 0);
        assert_int_equal(s.end.by_us, 0);
        assert_non_null(strstr(s.end.error.phrase, revisions[i]));
        assert_int_equal(s.len, 0); /* nothing was said after it */
        script_end(&s);
    }
}

static void test_L4_error(void **state) {
    (void)state;
    script s = {0};
    dx_mcp_client_config config = script_config(&s);
    script_open(&s, &config);
    script_error(&s, script_hear(&s, "initialize"), "{\"code\":-32602,\"message\":\"not you\"}");
    script_until(&s, &s.closed, 1);
    assert_int_equal(s.ready, 0);
    assert_int_equal(s.end.no_revision, 0);
    assert_true(s.end.error.fault != DX_FAULT_NONE);
    assert_non_null(strstr(s.end.error.phrase, "-32602"));
    assert_int_equal(s.end.refused, -32602);
    assert_non_null(strstr(s.end.error.phrase, "not you"));
    assert_int_equal(dx_mcp_client_ping(s.client, NULL, NULL, NULL, NULL), DX_CLOSED);
    script_end(&s);
}

static void test_L4_refused_with_revisions(void **state) {
    (void)state;
    script s = {0};
    dx_mcp_client_config config = script_config(&s);
    script_open(&s, &config);
    script_error(&s, script_hear(&s, "initialize"),
                 "{\"code\":-32602,\"message\":\"m\",\"data\":{\"supported\":[\"x\","
                 "\"2024-11-05\",\"2025-03-26\",\"2026-07-28\"]}}");
    script_greet(&s, "2025-03-26", "{}"); /* which it asks for now */
    assert_string_equal(dx_mcp_client_revision(s.client), "2025-03-26");
    script_end(&s);
    script t = {0};
    config = script_config(&t);
    script_open(&t, &config);
    script_error(&t, script_hear(&t, "initialize"),
                 "{\"code\":-32602,\"message\":\"m\",\"data\":{\"supported\":[\"2026-07-28\"]}}");
    script_until(&t, &t.closed, 1);
    assert_int_equal(t.end.no_revision, 1);
    assert_int_equal(t.end.refused, -32602);
    script_end(&t);
}

static void test_L4_not_a_result(void **state) {
    (void)state;
    script s = {0};
    dx_mcp_client_config config = script_config(&s);
    script_open(&s, &config);
    script_result(&s, script_hear(&s, "initialize"), "{\"protocolVersion\":\"2025-11-25\"}");
    script_until(&s, &s.closed, 1);
    assert_int_equal(s.end.no_revision, 0);
    assert_int_equal(s.end.error.fault, DX_FAULT_RESULT_FIT);
    script_end(&s);
}

static void test_L5_silence(void **state) {
    (void)state;
    script s = {0};
    dx_mcp_client_config config = script_config(&s);
    config.start_ms = 60;
    script_open(&s, &config);
    script_skip(&s, "initialize");
    script_until(&s, &s.closed, 1);
    assert_int_equal(s.end.error.fault, DX_FAULT_TIMEOUT);
    script_read(&s);
    assert_int_equal(s.len, 0); /* no notifications/cancelled */
    script_end(&s);
}

static void test_L5_close_before_ready(void **state) {
    (void)state;
    script s = {0};
    dx_mcp_client_config config = script_config(&s);
    script_open(&s, &config);
    script_skip(&s, "initialize");
    dx_mcp_client_close(s.client);
    dx_mcp_client_close(s.client);
    script_until(&s, &s.closed, 1);
    assert_int_equal(s.end.by_us, 1);
    assert_int_equal(s.end.was_ready, 0);
    assert_int_equal(s.end.error.fault, DX_FAULT_NONE);
    script_read(&s);
    assert_int_equal(s.len, 0);
    assert_int_equal(s.said_end, 1);
    script_for(&s, 20);
    assert_int_equal(s.closed, 1);
    script_end(&s);
}

static void test_L6_before_the_result(void **state) {
    (void)state;
    script s = {0};
    dx_mcp_client_config config = script_config(&s);
    script_open(&s, &config);
    yyjson_doc *hello = script_hear(&s, "initialize");
    script_say(&s, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}");
    yyjson_doc *pong = script_hear(&s, "(none)");
    assert_int_equal(yyjson_get_int(at(pong, "/id")), 1);
    assert_int_equal(yyjson_obj_size(at(pong, "/result")), 0);
    assert_non_null(at(pong, "/result"));
    yyjson_doc_free(pong);
    script_say(&s, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":"
                   "{\"level\":\"info\",\"data\":\"early\"}}");
    script_say(&s, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}");
    script_until(&s, &s.changed, 1);
    assert_int_equal(s.logs, 1);
    assert_int_equal(s.ready, 0);
    script_result(&s, hello,
                  "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"
                  "\"serverInfo\":{\"name\":\"server\",\"version\":\"2\"}}");
    script_skip(&s, "notifications/initialized");
    script_until(&s, &s.ready, 1);
    script_end(&s);
}

static void check_offer(const char *revision, int tasks, int elicitation, int modes) {
    script s = {0};
    dx_mcp_client_config config = script_config(&s);
    config.revision = revision;
    config.roots = 1;
    config.on_sampling = script_sampling;
    config.on_elicitation = script_elicitation;
    config.elicitation_url = 1;
    config.sampling_tools = 1;
    script_open(&s, &config);
    yyjson_doc *hello = script_hear(&s, "initialize");
    assert_string_equal(text_at(hello, "/params/protocolVersion"), revision);
    assert_true(yyjson_get_bool(at(hello, "/params/capabilities/roots/listChanged")));
    assert_non_null(at(hello, "/params/capabilities/sampling"));
    assert_int_equal(at(hello, "/params/capabilities/sampling/tools") != NULL, modes);
    assert_int_equal(at(hello, "/params/capabilities/elicitation") != NULL, elicitation);
    assert_int_equal(at(hello, "/params/capabilities/elicitation/form") != NULL, modes);
    assert_int_equal(at(hello, "/params/capabilities/elicitation/url") != NULL, modes);
    assert_int_equal(
        at(hello, "/params/capabilities/tasks/requests/sampling/createMessage") != NULL, tasks);
    assert_int_equal(at(hello, "/params/capabilities/tasks/requests/elicitation/create") != NULL,
                     tasks);
    yyjson_doc_free(hello);
    script_end(&s);
}

static void test_what_is_offered(void **state) {
    (void)state;
    check_offer("2025-11-25", 1, 1, 1);
    check_offer("2025-06-18", 0, 1, 0);
    check_offer("2025-03-26", 0, 0, 0);
    check_offer("2024-11-05", 0, 0, 0);
}

static void test_no_tasks(void **state) {
    (void)state;
    script s = {0};
    dx_mcp_client_config config = script_config(&s);
    config.on_sampling = script_sampling;
    config.no_tasks = 1;
    script_open(&s, &config);
    yyjson_doc *hello = script_hear(&s, "initialize");
    assert_null(at(hello, "/params/capabilities/tasks"));
    assert_null(at(hello, "/params/capabilities/roots"));
    assert_null(at(hello, "/params/capabilities/sampling/tools"));
    yyjson_doc_free(hello);
    script_end(&s);
}

static void test_bad_configurations(void **state) {
    (void)state;
    static const char *const argv[] = {"true", NULL};
    dx_loop *loop;
    dx_mcp_client *client = NULL;
    dx_error error;
    assert_int_equal(dx_loop_new(NULL, &loop, &error), DX_OK);
    dx_mcp_client_config config = dx_mcp_client_defaults("test", "1");
    assert_int_equal(dx_mcp_client_open(loop, &config, &client, &error), DX_ERR_INVALID);
    assert_true(error.phrase[0]);
    config.argv = argv;
    config.address = "unix:/nowhere";
    assert_int_equal(dx_mcp_client_open(loop, &config, &client, &error), DX_ERR_INVALID);
    config.address = NULL;
    config.revision = "2026-07-28";
    assert_int_equal(dx_mcp_client_open(loop, &config, &client, &error), DX_ERR_INVALID);
    config.revision = "2020-01-01";
    assert_int_equal(dx_mcp_client_open(loop, &config, &client, NULL), DX_ERR_INVALID);
    config.revision = "2025-06-18";
    config.mode = DX_MCP_MODERN;
    assert_int_equal(dx_mcp_client_open(loop, &config, &client, NULL), DX_ERR_INVALID);
    config = dx_mcp_client_defaults(NULL, "1");
    config.argv = argv;
    assert_int_equal(dx_mcp_client_open(loop, &config, &client, NULL), DX_ERR_INVALID);
    assert_null(client);
    dx_loop_free(loop);
}

static void test_T21_no_such_program(void **state) {
    (void)state;
    static const char *const argv[] = {"/no/such/program", NULL};
    dx_loop *loop;
    dx_mcp_client *client = NULL;
    dx_error error;
    assert_int_equal(dx_loop_new(NULL, &loop, &error), DX_OK);
    dx_mcp_client_config config = dx_mcp_client_defaults("test", "1");
    config.argv = argv;
    for (int mode = DX_MCP_LEGACY; mode <= DX_MCP_AUTO; mode++) {
        config.mode = (dx_mcp_mode)mode;
        assert_int_equal(dx_mcp_client_open(loop, &config, &client, &error), DX_ERR_SYSTEM);
        assert_non_null(strstr(error.phrase, "/no/such/program"));
    }
    config.argv = NULL;
    config.address = "unix:/no/such/socket";
    assert_int_equal(dx_mcp_client_open(loop, &config, &client, &error), DX_ERR_SYSTEM);
    assert_null(client);
    dx_loop_free(loop);
}

/* The descriptors are still the caller's after a failure. */
static void test_descriptors_stay(void **state) {
    (void)state;
    dx_loop *loop;
    dx_mcp_client *client = NULL;
    int fds[2];
    assert_int_equal(dx_loop_new(NULL, &loop, NULL), DX_OK);
    assert_int_equal(pipe(fds), 0);
    dx_mcp_client_config config = dx_mcp_client_defaults("\xff", "1");
    config.in = fds[0];
    config.out = fds[1];
    assert_int_equal(dx_mcp_client_open(loop, &config, &client, NULL), DX_ERR_INVALID);
    assert_int_equal(write(fds[1], "x", 1), 1);
    assert_int_equal(close(fds[0]), 0);
    assert_int_equal(close(fds[1]), 0);
    dx_loop_free(loop);
}

static void run_child(script *s, const char *program, int ms) {
    static const char *argv[4];
    dx_error error = {0};
    dx_mcp_client_config config = script_config(s);
    argv[0] = "sh";
    argv[1] = "-c";
    argv[2] = program;
    config.argv = argv;
    config.ladder.close_ms = config.ladder.term_ms = 100;
    s->fd = -1;
    assert_int_equal(dx_loop_new(NULL, &s->loop, &error), DX_OK);
    assert_int_equal(dx_mcp_client_open(s->loop, &config, &s->client, &error), DX_OK);
    uint64_t begun = script_now();
    script_until(s, &s->closed, 1);
    assert_true(script_now() - begun < (uint64_t)ms);
}

static void test_child_leaves_early(void **state) {
    (void)state;
    script s = {0};
    run_child(&s, "read line; echo broken >&2; exit 3", 5000);
    assert_int_equal(s.end.error.fault, DX_FAULT_EXITED);
    assert_non_null(strstr(s.end.error.phrase, "broken"));
    assert_int_equal(s.had_gone, 1);
    assert_int_equal(s.end.was_ready, 0);
    script_end(&s);
    script t = {0};
    run_child(&t, "exit 0", 5000);
    assert_true(t.end.error.fault != DX_FAULT_NONE);
    assert_int_equal(t.had_gone, 1);
    script_end(&t);
}

static void test_T17_child_closes_its_output(void **state) {
    (void)state;
    script s = {0};
    run_child(&s, "exec 1>&-; sleep 10", 5000);
    assert_true(s.end.error.fault != DX_FAULT_NONE);
    script_end(&s);
}

/* The callbacks in which it is freed. */

static void free_in_ready(dx_mcp_client *client, void *user) {
    script *s = user;
    s->ready++;
    s->client = dx_mcp_client_free(client);
}

static void free_in_closed(dx_mcp_client *client, const dx_mcp_end *end, void *user) {
    script *s = user;
    (void)end;
    s->closed++;
    s->client = dx_mcp_client_free(client);
}

static void free_in_traffic(dx_mcp_client *client, int out, dx_text text, void *user) {
    script *s = user;
    (void)text;
    if (out == s->code) /* in that direction */
        s->client = dx_mcp_client_free(client);
}

static void test_freed_in_ready(void **state) {
    (void)state;
    script s = {0};
    dx_mcp_client_config config = script_config(&s);
    config.on_ready = free_in_ready;
    script_open(&s, &config);
    script_result(&s, script_hear(&s, "initialize"),
                  "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"
                  "\"serverInfo\":{\"name\":\"server\",\"version\":\"2\"}}");
    script_until(&s, &s.ready, 1);
    assert_null(s.client);
    script_for(&s, 20);
    assert_int_equal(s.said_end, 1);
    assert_int_equal(s.closed, 0);
    script_end(&s);
}

static void test_freed_in_closed(void **state) {
    (void)state;
    script s = {0};
    dx_mcp_client_config config = script_config(&s);
    config.on_closed = free_in_closed;
    script_open(&s, &config);
    script_greet(&s, "2025-11-25", "{}");
    shutdown(s.fd, SHUT_WR);
    script_until(&s, &s.closed, 1);
    assert_null(s.client);
    script_end(&s);
}

static void test_freed_in_traffic(void **state) {
    (void)state;
    script s = {.code = 0};
    dx_mcp_client_config config = script_config(&s);
    config.on_traffic = free_in_traffic;
    script_open(&s, &config);
    script_skip(&s, "initialize");
    script_say(&s, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}");
    for (int i = 0; i < 100 && s.client; i++)
        script_turn(&s, 20);
    assert_null(s.client);
    script_for(&s, 20);
    assert_int_equal(s.closed, 0);
    script_end(&s);
}

static void test_freed_while_it_opens(void **state) {
    (void)state;
    script s = {.code = 1};
    dx_mcp_client_config config = script_config(&s);
    config.on_traffic = free_in_traffic;
    script_open(&s, &config);
    assert_null(s.client);
    script_for(&s, 20);
    assert_int_equal(s.said_end, 1);
    script_end(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_L1_order),
        cmocka_unit_test(test_L2_older_revision),
        cmocka_unit_test(test_L3_unknown_revision),
        cmocka_unit_test(test_L4_error),
        cmocka_unit_test(test_L4_refused_with_revisions),
        cmocka_unit_test(test_L4_not_a_result),
        cmocka_unit_test(test_L5_silence),
        cmocka_unit_test(test_L5_close_before_ready),
        cmocka_unit_test(test_L6_before_the_result),
        cmocka_unit_test(test_what_is_offered),
        cmocka_unit_test(test_no_tasks),
        cmocka_unit_test(test_bad_configurations),
        cmocka_unit_test(test_T21_no_such_program),
        cmocka_unit_test(test_descriptors_stay),
        cmocka_unit_test(test_child_leaves_early),
        cmocka_unit_test(test_T17_child_closes_its_output),
        cmocka_unit_test(test_freed_in_ready),
        cmocka_unit_test(test_freed_in_closed),
        cmocka_unit_test(test_freed_in_traffic),
        cmocka_unit_test(test_freed_while_it_opens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
