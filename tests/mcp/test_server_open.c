/* How a conversation with a server begins: eras, revisions, states. */
#include "mcp/server_talk.h"

static void nothing(dx_mcp_work *work, yyjson_val *arguments, void *user) {
    (void)arguments;
    (void)user;
    dx_mcp_work_done(work);
}

static void begin(struct talk *talk, dx_mcp_server_config config) {
    talk_new(talk, config);
    assert_int_equal(
        dx_mcp_server_add_tool(talk->server, &(dx_mcp_tool){.name = "t", .call = nothing}, NULL),
        DX_OK);
}

static const char init[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{"
                           "\"protocolVersion\":\"%s\",\"capabilities\":{},\"clientInfo\":{"
                           "\"name\":\"c\",\"version\":\"2\"}}}";

static void initialize(struct talk *talk, const char *revision) {
    char line[512];
    (void)snprintf(line, sizeof line, init, revision);
    talk_say(talk, line);
}

/* L2: one that is spoken is echoed, for any other the newest of the legacy era comes. */
static void test_revisions(void **state) {
    static const char *const rows[][2] = {
        {"2024-11-05", "2024-11-05"}, {"2025-03-26", "2025-03-26"}, {"2025-06-18", "2025-06-18"},
        {"2025-11-25", "2025-11-25"}, {"2026-07-28", "2025-11-25"}, {"1999-01-01", "2025-11-25"},
        {"", "2025-11-25"},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct talk talk;
        char expected[100];
        begin(&talk, dx_mcp_server_defaults("s", "1"));
        talk_connect(&talk);
        assert_null(dx_mcp_session_revision(talk.session));
        initialize(&talk, rows[i][0]);
        (void)snprintf(expected, sizeof expected,
                       "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":\"%s\",",
                       rows[i][1]);
        assert_has(talk_hear(&talk), expected);
        assert_string_equal(dx_mcp_session_revision(talk.session), rows[i][1]);
        assert_false(dx_mcp_session_is_modern(talk.session));
        yyjson_val *name = yyjson_obj_get(dx_mcp_session_client(talk.session), "name");
        assert_string_equal(yyjson_get_str(name), "c");
        talk_end(&talk);
    }
}

/* What a revision does not know of the server is not told. */
static void test_info(void **state) {
    static const struct {
        const char *revision;
        const char *info;
    } rows[] = {
        {"2025-03-26", "\"serverInfo\":{\"name\":\"s\",\"version\":\"1\"},\"instructions\":\"i\"}"},
        {"2025-06-18", "\"serverInfo\":{\"name\":\"s\",\"version\":\"1\",\"title\":\"t\"},"},
        {"2025-11-25", "\"serverInfo\":{\"name\":\"s\",\"version\":\"1\",\"title\":\"t\","
                       "\"description\":\"d\",\"websiteUrl\":\"https://w.org\","
                       "\"icons\":[{\"src\":\"https://w.org/i\"}]},"},
    };
    dx_mcp_server_config config = dx_mcp_server_defaults("s", "1");
    config.title = "t";
    config.description = "d";
    config.website = "https://w.org";
    config.icons = " [ {\"src\":\n\"https://w.org/i\"} ] ";
    config.instructions = "i";
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct talk talk;
        begin(&talk, config);
        talk_connect(&talk);
        initialize(&talk, rows[i].revision);
        assert_has(talk_hear(&talk), rows[i].info);
        talk_end(&talk);
    }
}

static void test_bad_config(void **state) {
    dx_mcp_server *server;
    dx_misfit why;
    dx_mcp_server_config config = dx_mcp_server_defaults("s", NULL);
    (void)state;
    assert_int_equal(dx_mcp_server_new(&config, &server, &why), DX_ERR_INVALID);
    assert_has(why.phrase, "version");
    config.version = "1";
    config.icons = "[{]";
    assert_int_equal(dx_mcp_server_new(&config, &server, &why), DX_ERR_INVALID);
    assert_has(why.phrase, "icons");
    config.icons = "[{\"src\":1}]";
    assert_int_equal(dx_mcp_server_new(&config, &server, &why), DX_ERR_INVALID);
    assert_has(why.phrase, "src");
    config.icons = NULL;
    config.title = "\xff";
    assert_int_equal(dx_mcp_server_new(&config, &server, &why), DX_ERR_INVALID);
    assert_int_equal(dx_mcp_server_new(&config, &server, NULL), DX_ERR_INVALID);
    config.title = NULL;
    config.page = 0;
    assert_int_equal(dx_mcp_server_new(&config, &server, &why), DX_ERR_INVALID);
}

/* L7, L8, L9, S1, S2. */
static void test_states(void **state) {
    struct talk talk;
    (void)state;
    begin(&talk, dx_mcp_server_defaults("s", "1"));
    talk_connect(&talk);
    talk_ask(&talk, 7, "tools/list", "");
    assert_has(talk_hear(&talk), "{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":-32600,"
                                 "\"message\":\"Server not initialized\"");
    talk_ask(&talk, 8, "ping", "");
    talk_expect(&talk, "{\"jsonrpc\":\"2.0\",\"id\":8,\"result\":{}}");
    talk_ask(&talk, 9, "no/such", "");
    assert_has(talk_hear(&talk), "\"id\":9,\"error\":{\"code\":-32601");
    talk_ask(&talk, 10, "initialize", "\"protocolVersion\":\"2024-11-05\",\"capabilities\":{}");
    assert_has(talk_hear(&talk), "\"id\":10,\"error\":{\"code\":-32602");
    /* The attempt that failed settles nothing. */
    assert_null(dx_mcp_session_revision(talk.session));
    initialize(&talk, "2025-06-18");
    assert_has(talk_hear(&talk), "\"protocolVersion\":\"2025-06-18\"");
    /* Before initialized, requests are served. */
    talk_ask(&talk, 11, "tools/list", "");
    assert_has(talk_hear(&talk), "\"id\":11,\"result\":{\"tools\":[{\"name\":\"t\"");
    talk_say(&talk, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
    initialize(&talk, "2024-11-05");
    assert_has(talk_hear(&talk), "\"id\":1,\"error\":{\"code\":-32600");
    assert_string_equal(dx_mcp_session_revision(talk.session), "2025-06-18");
    talk_ask(&talk, 12, "server/discover", TALK_META "}}");
    assert_has(talk_hear(&talk), "\"id\":12,\"error\":{\"code\":-32601");
    talk_ask(&talk, 13, "tools/call", "\"name\":5");
    assert_has(talk_hear(&talk), "\"id\":13,\"error\":{\"code\":-32602");
    talk_end(&talk);
}

static void test_serve_early(void **state) {
    struct talk talk;
    dx_mcp_server_config config = dx_mcp_server_defaults("s", "1");
    config.serve_early = 1;
    (void)state;
    begin(&talk, config);
    talk_connect(&talk);
    talk_ask(&talk, 7, "tools/list", "");
    assert_has(talk_hear(&talk), "\"id\":7,\"result\":{\"tools\":[");
    talk_ask(&talk, 9, "no/such", "");
    assert_has(talk_hear(&talk), "\"id\":9,\"error\":{\"code\":-32601");
    initialize(&talk, "2024-11-05");
    assert_has(talk_hear(&talk), "\"protocolVersion\":\"2024-11-05\"");
    talk_say(&talk, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
    initialize(&talk, "2024-11-05");
    assert_has(talk_hear(&talk), "\"id\":1,\"error\":{\"code\":-32600");
    talk_end(&talk);
}

static void test_legacy_only(void **state) {
    struct talk talk;
    dx_mcp_server_config config = dx_mcp_server_defaults("s", "1");
    config.legacy_only = 1;
    (void)state;
    begin(&talk, config);
    talk_connect(&talk);
    talk_modern(&talk, 1, "server/discover", "", "");
    assert_has(talk_hear(&talk), "\"id\":1,\"error\":{\"code\":-32601");
    talk_modern(&talk, 2, "tools/list", "", "");
    assert_has(talk_hear(&talk), "\"id\":2,\"error\":{\"code\":-32600");
    initialize(&talk, "2025-11-25");
    assert_has(talk_hear(&talk), "\"result\"");
    talk_end(&talk);
}

static const char modern_end[] =
    "\"_meta\":{\"io.modelcontextprotocol/serverInfo\":{\"name\":\"s\",\"version\":\"1\"}}}}";

/* M1, M2, M3, M8, M9. */
static void test_modern(void **state) {
    struct talk talk;
    dx_mcp_server_config config = dx_mcp_server_defaults("s", "1");
    config.ttl_ms = 500;
    (void)state;
    begin(&talk, config);
    talk_connect(&talk);
    talk_modern(&talk, 1, "server/discover", "", "");
    const char *line = talk_hear(&talk);
    assert_has(line,
               "\"result\":{\"supportedVersions\":[\"2026-07-28\"],\"capabilities\":{\"tools\":");
    assert_has(line, "\"resultType\":\"complete\",\"ttlMs\":500,\"cacheScope\":\"private\"");
    assert_has(line, modern_end);
    assert_true(dx_mcp_session_is_modern(talk.session));
    talk_modern(&talk, 2, "tools/list", "", "");
    line = talk_hear(&talk);
    assert_has(line, "\"resultType\":\"complete\",\"ttlMs\":500,\"cacheScope\":\"private\"");
    talk_modern(&talk, 3, "tools/call", "\"name\":\"t\"", "");
    line = talk_hear(&talk);
    assert_has(line, "{\"content\":[],\"resultType\":\"complete\",");
    assert_has(line, modern_end);
    talk_ask(&talk, 4, "tools/list", "");
    assert_has(talk_hear(&talk), "\"id\":4,\"error\":{\"code\":-32602");
    talk_ask(&talk, 5, "tools/list",
             "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"}");
    assert_has(talk_hear(&talk), "\"id\":5,\"error\":{\"code\":-32602");
    talk_ask(&talk, 6, "tools/list",
             "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"1900-01-01\","
             "\"io.modelcontextprotocol/clientCapabilities\":{}}");
    assert_has(talk_hear(&talk),
               "\"id\":6,\"error\":{\"code\":-32022,\"message\":\"Unsupported protocol version\","
               "\"data\":{\"supported\":[\"2026-07-28\"],\"requested\":\"1900-01-01\"}}");
    static const char *const gone[] = {"ping", "logging/setLevel", "resources/subscribe",
                                       "resources/unsubscribe", "tasks/get"};
    for (size_t i = 0; i < LENGTH(gone); i++) {
        talk_modern(&talk, 20 + (int)i, gone[i], "\"level\":\"info\",\"uri\":\"a:b\"", "");
        assert_has(talk_hear(&talk), "\"error\":{\"code\":-32601");
    }
    initialize(&talk, "2025-11-25");
    assert_has(talk_hear(&talk), "\"id\":1,\"error\":{\"code\":-32022");
    talk_modern(&talk, 29, "initialize", "\"protocolVersion\":\"2025-11-25\"", "");
    assert_has(talk_hear(&talk), "\"id\":29,\"error\":{\"code\":-32601");
    talk_modern(&talk, 30, "server/discover", "", "");
    assert_has(talk_hear(&talk), "\"supportedVersions\"");
    talk_end(&talk);
}

/* A claim is enough, whatever the method. */
static void test_modern_by_claim(void **state) {
    struct talk talk;
    (void)state;
    begin(&talk, dx_mcp_server_defaults("s", "1"));
    talk_connect(&talk);
    talk_modern(&talk, 1, "tools/list", "", "");
    assert_has(talk_hear(&talk), "\"resultType\":\"complete\"");
    assert_string_equal(dx_mcp_session_revision(talk.session), "2026-07-28");
    talk_end(&talk);
}

/* A modern attempt that was refused settles nothing: the client may go on in the legacy way. */
static void test_modern_refused(void **state) {
    struct talk talk;
    (void)state;
    begin(&talk, dx_mcp_server_defaults("s", "1"));
    talk_connect(&talk);
    talk_ask(&talk, 1, "server/discover", "");
    assert_has(talk_hear(&talk), "\"id\":1,\"error\":{\"code\":-32602");
    talk_ask(&talk, 2, "server/discover",
             "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2030-01-01\","
             "\"io.modelcontextprotocol/clientCapabilities\":{}}");
    assert_has(talk_hear(&talk), "\"id\":2,\"error\":{\"code\":-32022");
    talk_ask(&talk, 3, "tools/list", "");
    assert_has(talk_hear(&talk), "\"id\":3,\"error\":{\"code\":-32600");
    assert_null(dx_mcp_session_revision(talk.session));
    initialize(&talk, "2025-03-26");
    assert_has(talk_hear(&talk), "\"protocolVersion\":\"2025-03-26\"");
    talk_say(&talk, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
    talk_ask(&talk, 4, "tools/list", "");
    assert_has(talk_hear(&talk), "\"id\":4,\"result\"");
    talk_end(&talk);
}

/* S3: a batch where 2025-03-26 was agreed upon, and only there. */
static void test_batch(void **state) {
    static const char batch[] =
        "[{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"ping\"},"
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/roots/list_changed\"},"
        "{\"jsonrpc\":\"2.0\",\"id\":6,\"method\":\"tools/call\",\"params\":{\"name\":\"t\"}},{}]";
    struct talk talk;
    (void)state;
    begin(&talk, dx_mcp_server_defaults("s", "1"));
    talk_open(&talk, "2025-03-26", "{}");
    talk_say(&talk, batch);
    const char *line = talk_hear(&talk);
    assert_int_equal(line[0], '[');
    assert_has(line, "{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{}}");
    assert_has(line, "{\"jsonrpc\":\"2.0\",\"id\":6,\"result\":{\"content\":[]}}");
    assert_has(line, "-32600");
    talk_say(&talk, "[]");
    assert_has(talk_hear(&talk), "-32600");
    talk_end(&talk);
    begin(&talk, dx_mcp_server_defaults("s", "1"));
    talk_open(&talk, "2025-06-18", "{}");
    talk_say(&talk, batch);
    line = talk_hear(&talk);
    assert_has(line, "-32600");
    assert_int_equal(line[0], '{');
    talk_end(&talk);
}

static void test_unreadable(void **state) {
    struct talk talk;
    (void)state;
    begin(&talk, dx_mcp_server_defaults("s", "1"));
    talk_open(&talk, "2025-11-25", "{}");
    talk_say(&talk, "{\"jsonrpc\":\"2.0\",\"id\":1,");
    const char *line = talk_hear(&talk);
    assert_has(line, "\"code\":-32700");
    assert_has_not(line, "\"id\"");
    talk_say(&talk, "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"params\":{}}");
    line = talk_hear(&talk);
    assert_has(line, "\"code\":-32600");
    assert_has(line, "\"id\":\"a\"");
    talk_end(&talk);
}

/* The schemas up to 2025-06-18 want an id in every error. */
static void test_unreadable_with_an_id(void **state) {
    static const struct {
        const char *text;
        const char *id; /* NULL: it can't be known */
    } rows[] = {
        {"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\",\"params\":{\"a\":\"\\q\"}}", "7"},
        {"{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"ping\",\"params\":{\"a\":tru}}", "\"x\""},
        {"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"} {}", "7"},
        {"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\",\"params\":{", "7"},
        {"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\",\"params\":\"\xff\"}", "7"},
        {"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":5}", "7"},
        {"{\"jsonrpc\":\"2.0\",\"id\":7", NULL},
        {"{\"jsonrpc\":\"2.0\",\"id\":77 ", "77"},
        {"{\"jsonrpc\":\"2.0\",\"id\":\"a", NULL},
        {"{\"jsonrpc\":\"2.0\",\"id\":[7],\"method\":tru}", NULL},
        {"{\"jsonrpc\":\"2.0\",\"id\":\"\\ud83d\",\"method\":tru}", NULL},
        {"{\"jsonrpc\":\"2.0\",\"method\":tru,\"id\":7}", NULL},
        {"{\"params\":{\"id\":7,\"a\":tru}}", NULL},
    };
    static const char *const revisions[] = {"2024-11-05", "2025-03-26", "2025-06-18"};
    (void)state;
    for (size_t i = 0; i < sizeof revisions / sizeof *revisions; i++) {
        struct talk talk;
        begin(&talk, dx_mcp_server_defaults("s", "1"));
        talk_open(&talk, revisions[i], "{}");
        for (size_t j = 0; j < sizeof rows / sizeof *rows; j++) {
            char expected[40];
            talk_say(&talk, rows[j].text);
            const char *line = talk_hear(&talk);
            assert_has(line, "\"code\":-32");
            snprintf(expected, sizeof expected, "\"id\":%s,", rows[j].id ? rows[j].id : "");
            if (rows[j].id)
                assert_has(line, expected);
            else
                assert_has_not(line, "\"id\"");
        }
        talk_end(&talk);
    }
}

static void count_session(dx_mcp_session *session, void *user) {
    assert_non_null(dx_mcp_session_revision(session));
    (*(int *)user)++;
}

static void count_end(dx_mcp_session *session, const dx_error *why, void *user) {
    (void)session;
    assert_int_equal(why->fault, DX_FAULT_NONE);
    (*(int *)user) += 10;
}

/* on_session comes when the client has initialized, or with a first modern request; and once. */
static void test_on_session(void **state) {
    struct talk talk;
    int count = 0;
    dx_mcp_server_config config = dx_mcp_server_defaults("s", "1");
    config.on_session = count_session;
    config.on_session_end = count_end;
    config.user = &count;
    (void)state;
    begin(&talk, config);
    talk_connect(&talk);
    initialize(&talk, "2025-11-25");
    talk_hear(&talk);
    assert_int_equal(count, 0);
    talk_say(&talk, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
    talk_ask(&talk, 2, "ping", "");
    talk_hear(&talk);
    assert_int_equal(count, 1);
    talk_leave(&talk);
    assert_int_equal(count, 11);
    talk_connect(&talk);
    talk_modern(&talk, 1, "tools/list", "", "");
    talk_hear(&talk);
    talk_modern(&talk, 1, "tools/list", "", "");
    talk_hear(&talk);
    assert_int_equal(count, 12);
    dx_mcp_session_close(talk.session);
    assert_null(talk_wait(&talk, 1000));
    assert_int_equal(count, 22);
    talk_end(&talk);
}

struct seen {
    int in;
    int out;
    int violations;
    int stray;
    int roots;
};

static void on_traffic(dx_mcp_session *session, int out, dx_text text, void *user) {
    struct seen *seen = user;
    (void)session;
    assert_true(text.len > 0);
    (*(out ? &seen->out : &seen->in))++;
}

static void on_violation(dx_mcp_session *session, const dx_event *event, void *user) {
    struct seen *seen = user;
    (void)session;
    (*(event->kind == DX_EVENT_STRAY ? &seen->stray : &seen->violations))++;
}

static void on_roots_changed(dx_mcp_session *session, void *user) {
    assert_non_null(dx_mcp_session_server(session));
    assert_ptr_equal(dx_mcp_server_user(dx_mcp_session_server(session)), user);
    ((struct seen *)user)->roots++;
}

static void test_callbacks(void **state) {
    struct talk talk;
    struct seen seen = {.in = 0};
    dx_mcp_server_config config = dx_mcp_server_defaults("s", "1");
    config.on_traffic = on_traffic;
    config.on_violation = on_violation;
    config.on_roots_changed = on_roots_changed;
    config.user = &seen;
    (void)state;
    begin(&talk, config);
    talk_open(&talk, "2025-11-25", "{\"roots\":{\"listChanged\":true}}");
    talk_say(&talk, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/roots/list_changed\"}");
    talk_say(&talk, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/nothing\"}");
    talk_say(&talk, "debug: hello");
    talk_ask(&talk, 1, "ping", "");
    assert_has(talk_hear(&talk), "\"id\":1");
    assert_int_equal(seen.in, 6);
    assert_int_equal(seen.out, 2);
    assert_int_equal(seen.violations, 1);
    assert_int_equal(seen.stray, 1);
    assert_int_equal(seen.roots, 1);
    assert_ptr_equal(dx_mcp_session_loop(talk.session), talk.loop);
    talk_end(&talk);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_revisions),      cmocka_unit_test(test_info),
        cmocka_unit_test(test_bad_config),     cmocka_unit_test(test_states),
        cmocka_unit_test(test_serve_early),    cmocka_unit_test(test_legacy_only),
        cmocka_unit_test(test_modern),         cmocka_unit_test(test_modern_by_claim),
        cmocka_unit_test(test_batch),          cmocka_unit_test(test_unreadable_with_an_id),
        cmocka_unit_test(test_unreadable),     cmocka_unit_test(test_on_session),
        cmocka_unit_test(test_modern_refused), cmocka_unit_test(test_callbacks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
