/* The life of a runner: what is said before, during and after a conversation (cases 7, 11, 12, 14
 * and 15). */
#include "finecode/er_demo.h"

static struct talk talk;

/* The bytes of a whole conversation, header fields included. */
static void the_seed_to_the_byte(void **state) {
    (void)state;
    static const char expected[] =
        "Content-Length: 182" TALK_TYPE
        "{\"jsonrpc\":\"2.0\",\"id\":\"1b4e28ba-2fa1-41d2-883f-0016d3cca427\",\"result\":"
        "{\"capabilities\":{\"textDocumentSync\":1},\"serverInfo\":{\"name\":"
        "\"FineCode_Extension_Runner_Server\",\"version\":\"v1\"}}}"
        "Content-Length: 36" TALK_TYPE "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}"
        "Content-Length: 111" TALK_TYPE
        "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"demo.Echo\":{\"canonical_source\":"
        "\"demo.acts.Echo\",\"runs_concurrently\":false}}}"
        "Content-Length: 171" TALK_TYPE
        "{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{\"status\":\"success\",\"result_by_format\":"
        "\"{\\\"json\\\":{\\\"items\\\":[\\\"h1:t:prev=None:seen=1\\\"],\\\"by_path\\\":{},"
        "\\\"bad\\\":false}}\",\"return_code\":0}}"
        "Content-Length: 38" TALK_TYPE "{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":null}";
    talk_new(&talk, NULL);
    demo_declare(&talk);
    talk_pipes(&talk);
    talk_say(&talk, "{\"id\":\"1b4e28ba-2fa1-41d2-883f-0016d3cca427\",\"method\":\"initialize\","
                    "\"params\":" TALK_INITIALIZE ",\"jsonrpc\":\"2.0\"}");
    talk_notify(&talk, "initialized", "{}");
    talk_request(
        &talk, 2, "finecodeRunner/updateConfig",
        "{\"workingDir\":\"/w\",\"projectName\":\"w\",\"projectDefPath\":\"/w/p.toml\","
        "\"config\":{\"actions\":[" DEMO_A(
            "echo", "Echo",
            DEMO_H(
                "h1", "H1",
                "{}")) "],\"action_handler_configs\":{},\"services\":[],\"handlers_to_initialize\":"
                       "{\"echo\":[\"h1\"]}}}");
    talk_request(&talk, 3, "finecodeRunner/resolveActionMeta", "{}");
    talk_request(&talk, 4, "actions/run",
                 "{\"actionName\":\"echo\",\"params\":{\"text\":\"t\"},\"options\":null}");
    talk_request(&talk, 5, "shutdown", "null");
    talk_notify(&talk, "exit", "null");
    assert_int_equal(talk_leaves(&talk), 0);
    talk_turn(&talk, 0);
    talk.in[talk.len] = '\0';
    assert_string_equal(talk.in, expected);
    talk_free(&talk);
}

static void the_program_to_the_byte(void **state) {
    (void)state;
    static const char expected[] =
        "Content-Length: 36" TALK_TYPE "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}"
        "Content-Length: 273" TALK_TYPE
        "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"actions\":{\"demo.Echo\":{"
        "\"canonical_source\":\"demo.acts.Echo\",\"runs_concurrently\":false,\"scope\":\"project\","
        "\"parentActionSource\":null,\"language\":null,\"fileLoc\":\"/ws/demo/acts.py:40\"}},"
        "\"handlerLocations\":{\"demo.acts.H1\":\"/ws/demo/acts.py:79\"}}}"
        "Content-Length: 156" TALK_TYPE
        "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"status\":\"success\",\"resultByFormat\":{"
        "\"json\":{\"items\":[\"h1:t:prev=None:seen=1\"],\"by_path\":{},\"bad\":false}},"
        "\"returnCode\":0}}";
    unsigned port = 0;
    talk_new(&talk, NULL);
    demo_declare(&talk);
    assert_int_equal(dx_finecode_er_listen(talk.er, talk.loop, &port, NULL), DX_OK);
    talk.to = talk.from = talk_connect(port);
    assert_true(talk.to >= 0);
    talk_greet(&talk);
    size_t before = talk.used;
    talk_request(
        &talk, 1, "finecodeRunner/updateConfig",
        "{\"workingDir\":\"/w\",\"projectName\":\"w\",\"projectDefPath\":\"/w/p.toml\","
        "\"config\":{\"actions\":[" DEMO_A(
            "echo", "Echo",
            DEMO_H("h1", "H1",
                   "{}")) "],\"action_handler_configs\":{},\"logging\":{\"defaultLevel\":\"INFO\","
                          "\"logGroups\":{}},\"telemetry\":{\"otlp_endpoint\":null}}}");
    talk_request(&talk, 2, "finecodeRunner/resolveActionMeta", "null");
    demo_run(&talk, 3, "echo", "{\"text\":\"t\"}", "");
    talk_notify(&talk, "exit", "null");
    assert_int_equal(talk_leaves(&talk), 0);
    talk_turn(&talk, 0);
    talk.in[talk.len] = '\0';
    assert_string_equal(talk.in + before, expected);
    talk_free(&talk);
}

static void case_11_before_it_is_configured(void **state) {
    (void)state;
    static const char *const revisions[] = {"seed", "real"};
    for (size_t i = 0; i < LENGTH(revisions); i++) {
        talk_new(&talk, revisions[i]);
        demo_declare(&talk);
        talk_socketpair(&talk);
        talk_greet(&talk);
        demo_run(&talk, 2, "echo", "{\"text\":\"x\"}", "");
        talk_result(&talk, 2, "{\"error\":\"Extension runner not initialized\"}");
        demo_segment(&talk, 3, "echo", "[]", "", "");
        talk_result(&talk, 3, "{\"error\":\"Extension runner not initialized\"}");
        talk_request(&talk, 4, "actions/mergeResults", "{\"actionName\":\"echo\",\"results\":[]}");
        talk_result(&talk, 4, "{\"error\":\"Extension runner not initialized\"}");
        talk_request(&talk, 5, "finecodeRunner/resolveActionMeta", "null");
        talk_result(&talk, 5, "{}");
        talk_request(&talk, 6, "actions/getPayloadSchemas", "null");
        talk_result(&talk, 6, "{}");
        talk_request(&talk, 7, "actions/reload", "{\"actionName\":\"echo\"}");
        talk_result(&talk, 7, "{}");
        talk_request(&talk, 8, "finecodeRunner/getInfo", "null");
        talk_result(&talk, 8, "{\"logFilePath\":null}");
        demo_stop_talk(&talk);
    }
}

#define CONFIGURE(config)                                                                         \
    "{\"workingDir\":\"/w\",\"projectName\":\"w\",\"projectDefPath\":\"/w/p\",\"config\":" config \
    "}"

static void case_12_configurations(void **state) {
    (void)state;
    demo_start(&talk, "real");
    talk_request(&talk, 2, "finecodeRunner/updateConfig", CONFIGURE("{\"actions\":[]}"));
    talk_expect(&talk, "{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":-32603,\"message\":"
                       "\"'action_handler_configs'\"}}");
    talk_request(&talk, 3, "finecodeRunner/updateConfig", "{\"workingDir\":\"/w\"}");
    talk_error(&talk, 3, -32603, "'projectName'");
    talk_request(&talk, 4, "finecodeRunner/updateConfig",
                 CONFIGURE("{\"actions\":[" DEMO_A("a", "Echo", "") "," DEMO_A(
                     "b", "Echo", "") "],\"action_handler_configs\":{}}"));
    talk_error(&talk, 4, -32603, "demo.Echo");
    talk_request(&talk, 5, "finecodeRunner/updateConfig",
                 CONFIGURE("{\"actions\":[{\"name\":\"a\",\"source\":\"s\",\"config\":{},"
                           "\"handlers\":[{\"name\":\"h\",\"source\":\"s\",\"config\":{}}]}],"
                           "\"action_handler_configs\":{}}"));
    talk_error(&talk, 5, -32603, "'env'");
    talk_request(&talk, 6, "finecodeRunner/updateConfig",
                 CONFIGURE("{\"actions\":{},\"action_handler_configs\":{}}"));
    talk_error(&talk, 6, -32603, "'actions' is not an array");
    /* What was there before counts until a good one comes. */
    demo_run(&talk, 7, "bad", "{\"text\":\"t\"}", "");
    assert_has(talk_hear(&talk), "\"status\":\"success\"");
    talk_configure(
        &talk, "{\"actions\":[" DEMO_A("echo", "Echo",
                                       DEMO_H("x", "C1", "{}")) "],\"action_handler_configs\":{}}");
    demo_run(&talk, 8, "echo", "{\"text\":\"t\"}", "");
    talk_result(&talk, 8,
                "{\"status\":\"success\",\"resultByFormat\":{\"json\":{\"items\":[\"c1\"],"
                "\"by_path\":{},\"bad\":false}},\"returnCode\":0}");
    demo_run(&talk, 9, "bad", "{\"text\":\"t\"}", "");
    talk_result(&talk, 9, "{\"error\":\"R3 | Action bad not found\"}");
    assert_int_equal(talk.configs, 2);
    demo_stop_talk(&talk);
}

/* By the document, params that do not fit are -32602; a source twice is still our own refusal. */
static void case_12_configurations_by_the_document(void **state) {
    (void)state;
    demo_start(&talk, "seed");
    talk_request(&talk, 2, "finecodeRunner/updateConfig", CONFIGURE("{\"actions\":[]}"));
    talk_error(&talk, 2, -32602, "action_handler_configs");
    talk_request(&talk, 3, "finecodeRunner/updateConfig",
                 CONFIGURE("{\"actions\":[" DEMO_A("a", "Echo", "") "," DEMO_A(
                     "b", "Echo", "") "],\"action_handler_configs\":{}}"));
    talk_error(&talk, 3, -32603, "demo.Echo");
    demo_stop_talk(&talk);
}

/* A configuration that a run began with stays its own. */
static void a_configuration_changes_while_something_runs(void **state) {
    (void)state;
    demo_start(&talk, "real");
    demo_run(&talk, 2, "keep", "{\"text\":\"t\"}", "");
    talk_quiet(&talk);
    assert_non_null(demo_kept);
    talk_configure(&talk, "{\"actions\":[],\"action_handler_configs\":{}}");
    assert_string_equal(dx_finecode_job_action(demo_kept), "keep");
    assert_true(yyjson_is_obj(dx_finecode_job_config(demo_kept)));
    dx_finecode_job_done(demo_kept, JSON("{\"items\":[\"k\"]}"), 0);
    talk_result(&talk, 2,
                "{\"status\":\"success\",\"resultByFormat\":{\"json\":{\"items\":[\"k\"]}},"
                "\"returnCode\":0}");
    demo_stop_talk(&talk);
}

static void case_14_shutdown_and_exit(void **state) {
    (void)state;
    demo_start(&talk, "real");
    talk_request(&talk, 2, "shutdown", "null");
    talk_result(&talk, 2, "null");
    talk_request(&talk, 3, "finecodeRunner/getInfo", "null");
    talk_result(&talk, 3, "{\"logFilePath\":null}");
    uint64_t before = talk_now();
    talk_notify(&talk, "exit", "null");
    assert_int_equal(talk_leaves(&talk), 0);
    assert_true(talk_now() - before < 1000);
    talk_free(&talk);
}

static void case_14_after_shutdown_by_the_document(void **state) {
    (void)state;
    demo_start(&talk, "seed");
    talk_request(&talk, 2, "shutdown", "null");
    talk_result(&talk, 2, "null");
    talk_request(&talk, 3, "finecodeRunner/getInfo", "null");
    talk_error(&talk, 3, -32600, "Shutting down");
    talk_notify(&talk, "exit", "null");
    assert_int_equal(talk_leaves(&talk), 0);
    talk_free(&talk);
}

/* What runs is answered before the end. */
static void case_14_exit_only(void **state) {
    (void)state;
    demo_start(&talk, "seed");
    demo_run(&talk, 2, "keep", "{\"text\":\"t\"}", "");
    talk_quiet(&talk);
    talk_notify(&talk, "exit", "null");
    talk_error(&talk, 2, -32800, "Request cancelled");
    assert_int_equal(talk_leaves(&talk), 0);
    assert_int_equal(demo_cancelled, 1);
    dx_finecode_job_cancel(demo_kept);
    talk_free(&talk);
}

static void case_14_the_end_of_the_input(void **state) {
    (void)state;
    demo_start(&talk, "seed");
    close(talk.to);
    talk.to = -1;
    assert_int_equal(talk_leaves(&talk), 0);
    talk_free(&talk);
    /* With something that runs: no answer, but the job hears of it. */
    demo_start(&talk, "real");
    demo_run(&talk, 2, "keep", "{\"text\":\"t\"}", "");
    talk_quiet(&talk);
    close(talk.to);
    talk.to = -1;
    assert_int_equal(talk_leaves(&talk), 0);
    assert_int_equal(demo_cancelled, 1);
    talk_quiet(&talk);
    dx_finecode_job_done(demo_kept, JSON("{}"), 0);
    talk_free(&talk);
}

/* One that is freed while a job runs lives on until that has ended. */
static void freed_while_something_runs(void **state) {
    (void)state;
    demo_start(&talk, "real");
    demo_run(&talk, 2, "keep", "{\"text\":\"t\"}", "");
    talk_quiet(&talk);
    dx_finecode_er_free(talk.er);
    talk.er = NULL;
    assert_int_equal(demo_cancelled, 1);
    assert_true(dx_finecode_job_is_cancelled(demo_kept));
    assert_string_equal(demo_text(demo_kept), "t");
    dx_finecode_job_fail(demo_kept, "too late");
    talk_free(&talk);
}

static void case_14_nobody_connects(void **state) {
    (void)state;
    unsigned port;
    talk_init(&talk);
    dx_finecode_er_config config = talk_config(&talk, NULL);
    config.connect_ms = 80;
    assert_int_equal(dx_finecode_er_new(&config, &talk.er, NULL), DX_OK);
    assert_int_equal(dx_finecode_er_listen(talk.er, talk.loop, &port, NULL), DX_OK);
    uint64_t before = talk_now();
    assert_int_equal(talk_leaves(&talk), 1);
    assert_in_range(talk_now() - before, 60, 5000);
    assert_int_equal(talk_connect(port), -1);
    talk_free(&talk);
}

static void case_15_a_second_connection(void **state) {
    (void)state;
    unsigned port = 0;
    char byte;
    talk_new(&talk, NULL);
    demo_declare(&talk);
    assert_int_equal(dx_finecode_er_listen(talk.er, talk.loop, &port, NULL), DX_OK);
    talk.to = talk.from = talk_connect(port);
    talk_greet(&talk);
    int second = talk_connect(port);
    for (int i = 0; second >= 0 && i < 10; i++)
        talk_turn(&talk, 10);
    if (second >= 0) {
        ssize_t n = read(second, &byte, 1);
        assert_true(n == 0 || (n < 0 && errno == ECONNRESET));
        close(second);
    }
    talk_configure(&talk, DEMO_CONFIG);
    demo_run(&talk, 2, "bad", "{\"text\":\"t\"}", "");
    assert_has(talk_hear(&talk), "\"returnCode\":1");
    demo_stop_talk(&talk);
}

static void what_is_known(void **state) {
    (void)state;
    demo_start(&talk, "real");
    talk_request(&talk, 2, "actions/resolveSource", "{\"source\":\"demo.old.Echo\"}");
    talk_result(&talk, 2, "{\"canonicalSource\":\"demo.acts.Echo\"}");
    talk_request(&talk, 3, "actions/resolveSource", "{\"source\":\"demo.acts.Echo\"}");
    talk_result(&talk, 3, "{\"canonicalSource\":\"demo.acts.Echo\"}");
    talk_request(&talk, 4, "actions/resolveSource", "{\"source\":\"demo.Nope\"}");
    talk_error(&talk, 4, -32603, "Cannot resolve source 'demo.Nope'");
    talk_request(&talk, 5, "actions/resolveSource", "{\"source\":\"nodot\"}");
    talk_expect(&talk, "{\"jsonrpc\":\"2.0\",\"id\":5,\"error\":{\"code\":-32603,\"message\":"
                       "\"Invalid source path (no module separator): 'nodot'\"}}");
    talk_request(&talk, 6, "packages/resolvePath", "{\"packageName\":\"demo_ext\"}");
    talk_result(&talk, 6, "{\"packagePath\":\"/ws/demo\"}");
    talk_request(&talk, 7, "packages/resolvePath", "{\"packageName\":\"nope_pkg\"}");
    talk_expect(&talk, "{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":-32603,\"message\":"
                       "\"Cannot find package nope_pkg\"}}");
    talk_request(&talk, 8, "actions/reload", "{\"actionName\":\"echo\"}");
    talk_result(&talk, 8, "{}");
    assert_int_equal(talk.reloads, 1);
    talk_request(&talk, 9, "actions/getPayloadSchemas", "{}");
    char *answer = talk_hear(&talk);
    assert_has(answer, "\"echo\":" DEMO_PAYLOAD);
    assert_has(answer, "\"missing\":null");
    talk_request(&talk, 10, "finecodeRunner/resolveActionMeta", "null");
    answer = talk_hear(&talk);
    assert_has(answer, "\"demo.Lang\":{\"canonical_source\":\"demo.Lang\",\"runs_concurrently\":"
                       "false,\"scope\":\"workspace\",\"parentActionSource\":\"demo.acts.Echo\","
                       "\"language\":\"python\",\"fileLoc\":null}");
    assert_has(answer,
               "\"demo.Conc\":{\"canonical_source\":\"demo.Conc\",\"runs_concurrently\":true");
    assert_has(answer, "\"demo.acts.Lost\":null");
    assert_null(strstr(answer, "demo.Missing"));
    demo_stop_talk(&talk);
}

static void what_can_not_be_added(void **state) {
    (void)state;
    dx_error error;
    dx_finecode_er_config config;
    talk_new(&talk, "seed");
    demo_declare(&talk);
    const dx_finecode_action actions[] = {
        {.source = NULL},
        {.source = ""},
        {.source = "\xff"},
        {.source = "demo.Echo"},
        {.source = "a", .payload = "["},
        {.source = "a", .payload = "[]"},
        {.source = "a", .payload = "{\"properties\":5}"},
        {.source = "a", .merge = "{"},
        {.source = "a", .merge = "[]"},
        {.source = "a", .merge = "{\"x\":\"mix\"}"},
        {.source = "a", .fails_if = "bad"},
        {.source = "a", .language = ""},
    };
    for (size_t i = 0; i < LENGTH(actions); i++) {
        error.phrase[0] = '\0';
        assert_int_equal(dx_finecode_er_add_action(talk.er, &actions[i], &error), DX_ERR_INVALID);
        assert_true(error.phrase[0]);
    }
    const dx_finecode_handler handlers[] = {{.source = "h"},
                                            {.source = "", .run = demo_none},
                                            {.source = "demo.acts.H1", .run = demo_none},
                                            {.source = "h", .location = "", .run = demo_none}};
    for (size_t i = 0; i < LENGTH(handlers); i++)
        assert_int_equal(dx_finecode_er_add_handler(talk.er, &handlers[i], &error), DX_ERR_INVALID);
    assert_int_equal(dx_finecode_er_add_alias(talk.er, "", "x"), DX_ERR_INVALID);
    assert_int_equal(dx_finecode_er_add_package(talk.er, "x", NULL), DX_ERR_INVALID);
    config = talk_config(&talk, "seed");
    dx_finecode_er *none = NULL;
    config.project_path = "relative";
    assert_int_equal(dx_finecode_er_new(&config, &none, &error), DX_ERR_INVALID);
    config.project_path = "/p";
    config.env_name = NULL;
    assert_int_equal(dx_finecode_er_new(&config, &none, &error), DX_ERR_INVALID);
    config.env_name = "e";
    config.revision = "other";
    assert_int_equal(dx_finecode_er_new(&config, &none, &error), DX_ERR_INVALID);
    assert_string_equal(error.phrase, "unknown revision other");
    /* Twice open. */
    talk_socketpair(&talk);
    unsigned port;
    assert_int_equal(dx_finecode_er_open(talk.er, talk.loop, 0, 1, &error), DX_ERR_INVALID);
    assert_int_equal(dx_finecode_er_listen(talk.er, talk.loop, &port, &error), DX_ERR_INVALID);
    talk_free(&talk);
}

/* Added in on_config: it counts for that configuration. */
static void on_late_config(dx_finecode_er *er, yyjson_val *config, void *user) {
    (void)config;
    (void)user;
    dx_finecode_action action = {.source = "demo.Echo"};
    dx_finecode_handler handler = {
        .source = "demo.acts.C1", .run = demo_item, .user = (void *)(uintptr_t) "late"};
    assert_int_equal(dx_finecode_er_add_action(er, &action, NULL), DX_OK);
    assert_int_equal(dx_finecode_er_add_handler(er, &handler, NULL), DX_OK);
}

static void added_when_it_is_configured(void **state) {
    (void)state;
    talk_init(&talk);
    dx_finecode_er_config config = talk_config(&talk, "real");
    config.on_config = on_late_config;
    assert_int_equal(dx_finecode_er_new(&config, &talk.er, NULL), DX_OK);
    talk_socketpair(&talk);
    talk_greet(&talk);
    talk_configure(
        &talk, "{\"actions\":[" DEMO_A("echo", "Echo",
                                       DEMO_H("x", "C1", "{}")) "],\"action_handler_configs\":{}}");
    demo_run(&talk, 8, "echo", "{}", "");
    assert_has(talk_hear(&talk), "\"items\":[\"late\"]");
    demo_stop_talk(&talk);
}

/* A second conversation knows nothing of the first. */
static void a_second_conversation(void **state) {
    (void)state;
    demo_start(&talk, "seed");
    talk_notify(&talk, "exit", "null");
    assert_int_equal(talk_leaves(&talk), 0);
    talk_close(&talk);
    talk.left = false;
    talk.len = talk.used = 0;
    talk_socketpair(&talk);
    talk_greet(&talk);
    demo_run(&talk, 2, "echo", "{\"text\":\"x\"}", "");
    talk_result(&talk, 2, "{\"error\":\"Extension runner not initialized\"}");
    demo_stop_talk(&talk);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_seed_to_the_byte),
        cmocka_unit_test(the_program_to_the_byte),
        cmocka_unit_test(case_11_before_it_is_configured),
        cmocka_unit_test(case_12_configurations),
        cmocka_unit_test(case_12_configurations_by_the_document),
        cmocka_unit_test(a_configuration_changes_while_something_runs),
        cmocka_unit_test(case_14_shutdown_and_exit),
        cmocka_unit_test(case_14_after_shutdown_by_the_document),
        cmocka_unit_test(case_14_exit_only),
        cmocka_unit_test(case_14_the_end_of_the_input),
        cmocka_unit_test(freed_while_something_runs),
        cmocka_unit_test(case_14_nobody_connects),
        cmocka_unit_test(case_15_a_second_connection),
        cmocka_unit_test(what_is_known),
        cmocka_unit_test(what_can_not_be_added),
        cmocka_unit_test(added_when_it_is_configured),
        cmocka_unit_test(a_second_conversation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
