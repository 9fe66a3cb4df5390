/* Many at once, and ends at odd times. */
#include "mcp/server_talk.h"

#include <netinet/in.h>

enum { MANY = 10000 };

static dx_mcp_work *works[MANY + 10];
static size_t count;
static int cancels;
static dx_mcp_server *to_free;

static void on_cancel(dx_mcp_work *work, void *user) {
    (void)work;
    (void)user;
    cancels++;
}

static void keep(dx_mcp_work *work, yyjson_val *arguments, void *user) {
    (void)arguments;
    (void)user;
    dx_mcp_work_keep(work);
    dx_mcp_work_on_cancel(work, on_cancel, NULL);
    works[count++] = work;
}

static void free_server(dx_mcp_work *work, yyjson_val *arguments, void *user) {
    (void)user;
    dx_mcp_server_free(to_free);
    if (yyjson_obj_get(arguments, "keep")) {
        dx_mcp_work_keep(work);
        works[count++] = work;
    } else if (yyjson_obj_get(arguments, "done")) {
        dx_mcp_work_text(work, TEXT("late"));
        dx_mcp_work_done(work);
    }
}

static void close_session(dx_mcp_work *work, yyjson_val *arguments, void *user) {
    (void)arguments;
    (void)user;
    dx_mcp_session_close(dx_mcp_work_session(work));
    dx_mcp_work_text(work, TEXT("bye"));
    dx_mcp_work_done(work);
}

static void echo(dx_mcp_work *work, yyjson_val *arguments, void *user) {
    (void)user;
    yyjson_val *text = yyjson_obj_get(arguments, "t");
    dx_mcp_work_text(work, (dx_text){yyjson_get_str(text), yyjson_get_len(text)});
    dx_mcp_work_done(work);
}

static void begin(struct talk *talk, dx_mcp_server_config config) {
    static const dx_mcp_tool tools[] = {
        {.name = "keep", .call = keep},
        {.name = "free", .call = free_server},
        {.name = "close", .call = close_session},
        {.name = "echo", .call = echo},
    };
    talk_new(talk, config);
    count = 0;
    cancels = 0;
    for (size_t i = 0; i < LENGTH(tools); i++)
        assert_int_equal(dx_mcp_server_add_tool(talk->server, &tools[i], NULL), DX_OK);
}

/* Each of them ends once, in whatever order; one more is refused, and a ping is not. */
static void test_many(void **state) {
    struct talk talk;
    static bool answered[MANY];
    uint32_t random = 7;
    (void)state;
    begin(&talk, dx_mcp_server_defaults("s", "1"));
    talk_open(&talk, "2025-11-25", "{}");
    for (int i = 0; i < MANY; i++)
        talk_ask(&talk, i, "tools/call", "\"name\":\"keep\"");
    while (count < MANY)
        talk_turn(&talk, 100);
    talk_ask(&talk, MANY, "tools/call", "\"name\":\"keep\"");
    assert_has(talk_hear(&talk), "\"error\":{\"code\":-32000");
    talk_ask(&talk, MANY + 1, "ping", "");
    assert_has(talk_hear(&talk), "\"result\":{}");
    for (size_t left = MANY; left; left--) {
        random = random * 1664525 + 1013904223;
        size_t at = (random >> 8) % left;
        dx_mcp_work *work = works[at];
        works[at] = works[left - 1];
        dx_mcp_work_done(work);
    }
    for (int i = 0; i < MANY; i++) {
        const char *line = talk_hear(&talk);
        int id = -1;
        assert_int_equal(sscanf(line, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\"", &id), 1);
        assert_in_range(id, 0, MANY - 1);
        assert_false(answered[id]);
        answered[id] = true;
    }
    talk_silence(&talk, 20);
    assert_int_equal(cancels, 0);
    talk_end(&talk);
}

/* The same, each cancelled: nothing is said, all are told. */
static void test_many_cancelled(void **state) {
    struct talk talk;
    char line[120];
    (void)state;
    begin(&talk, dx_mcp_server_defaults("s", "1"));
    talk_open(&talk, "2025-11-25", "{}");
    for (int i = 0; i < MANY; i++)
        talk_ask(&talk, i, "tools/call", "\"name\":\"keep\"");
    for (int i = 0; i < MANY; i++) {
        (void)snprintf(line, sizeof line,
                       "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
                       "\"requestId\":%d}}",
                       i);
        talk_say(&talk, line);
    }
    while (cancels < MANY)
        talk_turn(&talk, 100);
    /* They are not ended yet, so there is no room for another one. */
    talk_ask(&talk, 1, "tools/call", "\"name\":\"keep\"");
    assert_has(talk_hear(&talk), "\"error\":{\"code\":-32000");
    for (size_t i = 0; i < MANY; i++)
        dx_mcp_work_done(works[i]);
    talk_ask(&talk, 1, "ping", "");
    assert_has(talk_hear(&talk), "\"result\":{}");
    talk_silence(&talk, 20);
    talk_end(&talk);
}

/* T20: the client leaves with work under way. */
static void test_leave(void **state) {
    struct talk talk;
    (void)state;
    begin(&talk, dx_mcp_server_defaults("s", "1"));
    talk_open(&talk, "2025-11-25", "{}");
    for (int i = 0; i < 3; i++)
        talk_ask(&talk, i, "tools/call", "\"name\":\"keep\",\"_meta\":{\"progressToken\":1}");
    while (count < 3)
        talk_turn(&talk, 100);
    uint64_t before = talk_now();
    talk_leave(&talk);
    assert_true(talk_now() - before < 100);
    assert_int_equal(cancels, 3);
    for (int i = 0; i < 3; i++) {
        assert_true(dx_mcp_work_is_cancelled(works[i]));
        assert_null(dx_mcp_session_server(dx_mcp_work_session(works[i])));
        assert_ptr_equal(dx_mcp_work_loop(works[i]), talk.loop);
        assert_true(yyjson_is_obj(dx_mcp_work_params(works[i])));
        dx_mcp_work_progress(works[i], 1, 2, dx_str(NULL));
        dx_mcp_work_log(works[i], DX_MCP_ERROR, dx_str(NULL), JSON("1"));
        dx_mcp_work_text(works[i], TEXT("t"));
    }
    dx_mcp_work_done(works[0]);
    dx_mcp_server_free(talk.server);
    talk.server = NULL;
    dx_mcp_work_fail(works[1], TEXT("f"));
    dx_mcp_work_reply(works[2], JSON("{}"));
    talk_end(&talk);
}

/* The server goes while work is kept, and in a handler. */
static void test_freed(void **state) {
    static const char *const how[] = {"", "\"keep\":1", "\"done\":1"};
    (void)state;
    for (size_t i = 0; i < LENGTH(how); i++) {
        struct talk talk;
        char params[100];
        begin(&talk, dx_mcp_server_defaults("s", "1"));
        talk_open(&talk, "2025-11-25", "{}");
        to_free = talk.server;
        talk_ask(&talk, 1, "tools/call", "\"name\":\"keep\"");
        (void)snprintf(params, sizeof params, "\"name\":\"free\",\"arguments\":{%s}", how[i]);
        talk_ask(&talk, 2, "tools/call", params);
        talk_ask(&talk, 3, "ping", "");
        talk.server = NULL;
        assert_null(talk_wait(&talk, 1000));
        assert_int_equal(cancels, 0);
        for (size_t j = 0; j < count; j++) {
            assert_true(dx_mcp_work_is_cancelled(works[j]));
            dx_mcp_work_done(works[j]);
        }
        talk_end(&talk);
    }
}

static void end_frees(dx_mcp_session *session, const dx_error *why, void *user) {
    (void)session;
    (void)why;
    (void)user;
    dx_mcp_server_free(to_free);
}

static void test_free_at_end(void **state) {
    struct talk talk;
    dx_mcp_server_config config = dx_mcp_server_defaults("s", "1");
    config.on_session_end = end_frees;
    (void)state;
    begin(&talk, config);
    talk_open(&talk, "2025-11-25", "{}");
    to_free = talk.server;
    talk_leave(&talk);
    talk.server = NULL;
    talk_end(&talk);
}

static void test_close(void **state) {
    struct talk talk;
    (void)state;
    begin(&talk, dx_mcp_server_defaults("s", "1"));
    talk_open(&talk, "2025-11-25", "{}");
    talk_ask(&talk, 1, "tools/call", "\"name\":\"keep\"");
    talk_ask(&talk, 2, "tools/call", "\"name\":\"close\"");
    assert_has(talk_hear(&talk), "\"text\":\"bye\"");
    assert_null(talk_wait(&talk, 1000));
    assert_int_equal(cancels, 1);
    dx_mcp_work_done(works[0]);
    talk_end(&talk);
}

/* A tool that is taken back while it works. */
static void test_remove(void **state) {
    struct talk talk;
    (void)state;
    begin(&talk, dx_mcp_server_defaults("s", "1"));
    talk_open(&talk, "2025-11-25", "{}");
    talk_ask(&talk, 1, "tools/call", "\"name\":\"keep\"");
    while (!count)
        talk_turn(&talk, 100);
    assert_int_equal(dx_mcp_server_remove(talk.server, DX_MCP_TOOLS, TEXT("keep")), DX_OK);
    dx_mcp_work_text(works[0], TEXT("still"));
    dx_mcp_work_done(works[0]);
    assert_has(talk_hear(&talk), "\"text\":\"still\"");
    assert_has(talk_hear(&talk), "list_changed");
    talk_ask(&talk, 2, "tools/call", "\"name\":\"keep\"");
    assert_has(talk_hear(&talk), "Unknown tool");
    talk_end(&talk);
}

/* T23: a client that reads nothing for a while gets everything later. */
static void test_slow_reader(void **state) {
    struct talk talk;
    enum { LEN = 100000, CALLS = 100 };
    char *params = malloc(LEN + 100);
    (void)state;
    begin(&talk, dx_mcp_server_defaults("s", "1"));
    talk_open(&talk, "2025-11-25", "{}");
    int at = sprintf(params, "\"name\":\"echo\",\"arguments\":{\"t\":\"");
    memset(params + at, 'x', LEN);
    strcpy(params + at + LEN, "\"}");
    for (int i = 0; i < CALLS; i++)
        talk_ask(&talk, i, "tools/call", params);
    for (int i = 0; i < CALLS; i++) {
        char expected[64];
        (void)snprintf(expected, sizeof expected, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\"", i);
        assert_has(talk_hear(&talk), expected);
    }
    free(params);
    talk_end(&talk);
}

/* T20, with as many as there may be. */
static void test_leave_many(void **state) {
    struct talk talk;
    (void)state;
    begin(&talk, dx_mcp_server_defaults("s", "1"));
    talk_open(&talk, "2025-11-25", "{}");
    for (int i = 0; i < MANY; i++)
        talk_ask(&talk, i, "tools/call", "\"name\":\"keep\"");
    while (count < MANY)
        talk_turn(&talk, 100);
    uint64_t before = talk_now();
    talk_leave(&talk);
    uint64_t took = talk_now() - before;
    assert_int_equal(cancels, MANY);
    assert_true(took < 2000); /* 20 ms where nothing else runs */
    for (size_t i = 0; i < MANY; i++)
        dx_mcp_work_done(works[i]);
    talk_end(&talk);
}

static int connect_to(unsigned port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    fcntl(fd, F_SETFL, O_NONBLOCK);
    return fd;
}

/* Several clients at one server, each of an era of its own. */
static void test_listen(void **state) {
    struct talk talk;
    dx_listener *listener;
    dx_error error;
    (void)state;
    begin(&talk, dx_mcp_server_defaults("s", "1"));
    assert_int_equal(dx_mcp_server_listen(talk.server, talk.loop, "tcp:x", &listener, &error),
                     DX_ERR_INVALID);
    assert_int_equal(dx_mcp_server_listen(talk.server, talk.loop, "tcp:0", &listener, &error),
                     DX_OK);
    int one = connect_to(dx_listener_port(listener));
    int two = connect_to(dx_listener_port(listener));
    talk.fd = one;
    talk_modern(&talk, 1, "tools/call", "\"name\":\"keep\"", "");
    talk.fd = two;
    talk_ask(&talk, 1, "initialize",
             "\"protocolVersion\":\"2024-11-05\",\"capabilities\":{},\"clientInfo\":{"
             "\"name\":\"t\",\"version\":\"1\"}");
    assert_has(talk_hear(&talk), "2024-11-05");
    talk_ask(&talk, 2, "tools/call", "\"name\":\"keep\"");
    while (count < 2)
        talk_turn(&talk, 100);
    close(two);
    talk.fd = one;
    while (!cancels)
        talk_turn(&talk, 100);
    for (int i = 0; i < 2; i++)
        dx_mcp_work_done(works[i]);
    assert_has(talk_hear(&talk), "\"resultType\":\"complete\"");
    dx_listener_free(listener);
    talk_end(&talk);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_many),        cmocka_unit_test(test_many_cancelled),
        cmocka_unit_test(test_leave),       cmocka_unit_test(test_freed),
        cmocka_unit_test(test_free_at_end), cmocka_unit_test(test_close),
        cmocka_unit_test(test_remove),      cmocka_unit_test(test_slow_reader),
        cmocka_unit_test(test_listen),      cmocka_unit_test(test_leave_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
