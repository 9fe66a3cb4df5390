/* Requests that are changed at random, in both eras: whatever comes, the server lives, loses
 * nothing, and what can be read is answered. */
#include "mcp/server_talk.h"

static dx_mcp_work *kept[64];
static size_t count;

static void on_cancel(dx_mcp_work *work, void *user) {
    (void)user;
    for (size_t i = 0; i < count; i++)
        if (kept[i] == work)
            kept[i--] = kept[--count];
    dx_mcp_work_done(work);
}

static void keep(dx_mcp_work *work, yyjson_val *arguments, void *user) {
    (void)arguments;
    (void)user;
    if (count == LENGTH(kept)) {
        dx_mcp_work_fail(work, dx_str(NULL));
        return;
    }
    kept[count++] = work;
    dx_mcp_work_keep(work);
    dx_mcp_work_on_cancel(work, on_cancel, NULL);
}

static void on_reply(dx_mcp_work *work, yyjson_val *value, int64_t code, dx_text error,
                     void *user) {
    (void)code;
    (void)user;
    if (value)
        dx_mcp_work_reply(work, dx_json_value(value));
    else
        dx_mcp_work_fail(work, error);
}

static void ask(dx_mcp_work *work, yyjson_val *arguments, void *user) {
    (void)user;
    dx_mcp_work_set_state(work, TEXT("s"));
    dx_mcp_work_ask(work, "k", "elicitation/create", dx_json_value(arguments), on_reply, NULL);
}

static void echo(dx_mcp_work *work, yyjson_val *arguments, void *user) {
    (void)user;
    dx_mcp_work_log(work, DX_MCP_INFO, dx_str(NULL), dx_json_value(arguments));
    dx_mcp_work_progress(work, yyjson_get_num(yyjson_obj_get(arguments, "n")), -1, TEXT("m"));
    dx_mcp_work_structured(work, dx_json_value(arguments));
    dx_mcp_work_done(work);
}

static void read_it(dx_mcp_work *work, dx_text uri, yyjson_val *variables, void *user) {
    (void)user;
    dx_mcp_work_text(work, variables ? TEXT("template") : uri);
    dx_mcp_work_done(work);
}

static void complete(dx_mcp_work *work, dx_text argument, dx_text value, yyjson_val *context,
                     void *user) {
    (void)argument;
    (void)context;
    (void)user;
    dx_mcp_work_value(work, value);
    dx_mcp_work_done(work);
}

static void get(dx_mcp_work *work, yyjson_val *arguments, void *user) {
    yyjson_val *x = yyjson_obj_get(arguments, "x");
    (void)user;
    dx_mcp_work_text(work, (dx_text){yyjson_get_str(x), yyjson_get_len(x)});
    dx_mcp_work_done(work);
}

static void begin(struct talk *talk) {
    static const dx_mcp_tool tools[] = {
        {.name = "keep", .task = DX_MCP_TASK_MAY, .call = keep},
        {.name = "ask", .task = DX_MCP_TASK_MAY, .call = ask},
        {.name = "echo",
         .input = "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"number\"}}}",
         .call = echo},
    };
    dx_mcp_server_config config = dx_mcp_server_defaults("s", "1");
    config.subscribe = 1;
    config.page = 1;
    config.tasks_max = 5;
    config.task_ms = 1;
    talk_new(talk, config);
    count = 0;
    for (size_t i = 0; i < LENGTH(tools); i++)
        assert_int_equal(dx_mcp_server_add_tool(talk->server, &tools[i], NULL), DX_OK);
    assert_int_equal(dx_mcp_server_add_template(talk->server,
                                                &(dx_mcp_resource){.uri = "t:{x}/{+y}",
                                                                   .name = "t",
                                                                   .read = read_it,
                                                                   .complete = complete},
                                                NULL),
                     DX_OK);
    assert_int_equal(dx_mcp_server_add_prompt(
                         talk->server,
                         &(dx_mcp_prompt){.name = "p",
                                          .get = get,
                                          .arguments = "[{\"name\":\"x\",\"required\":true}]"},
                         NULL),
                     DX_OK);
    dx_mcp_server_on_resources(talk->server, NULL, read_it, NULL);
}

/* The parts of a request that are put together; "%" is an id. */
static const char *const requests[] = {
    "\"id\":%,\"method\":\"tools/list\",\"params\":{\"cursor\":\"after-1\"@}",
    "\"id\":%,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\",\"arguments\":{\"n\":1.5}@}",
    "\"id\":%,\"method\":\"tools/call\",\"params\":{\"name\":\"keep\"@}",
    "\"id\":%,\"method\":\"tools/call\",\"params\":{\"name\":\"keep\",\"task\":{\"ttl\":1}@}",
    "\"id\":%,\"method\":\"tools/call\",\"params\":{\"name\":\"ask\",\"arguments\":{\"message\":"
    "\"m\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{}}},\"inputResponses\":{\"k\":{"
    "\"action\":\"accept\"}},\"requestState\":\"AAAA\"@}",
    "\"id\":%,\"method\":\"resources/read\",\"params\":{\"uri\":\"t:a%20/b/c\"@}",
    "\"id\":%,\"method\":\"resources/subscribe\",\"params\":{\"uri\":\"t:a\"@}",
    "\"id\":%,\"method\":\"resources/unsubscribe\",\"params\":{\"uri\":\"t:a\"@}",
    "\"id\":%,\"method\":\"subscriptions/listen\",\"params\":{\"notifications\":{"
    "\"toolsListChanged\":true,\"resourceSubscriptions\":[\"t:a\",\"t:a\",\"u:\"]}@}",
    "\"id\":%,\"method\":\"prompts/get\",\"params\":{\"name\":\"p\",\"arguments\":{\"x\":\"y\"}@}",
    "\"id\":%,\"method\":\"completion/complete\",\"params\":{\"ref\":{\"type\":\"ref/resource\","
    "\"uri\":\"t:{x}/{+y}\"},\"argument\":{\"name\":\"x\",\"value\":\"v\"}@}",
    "\"id\":%,\"method\":\"tasks/list\",\"params\":{}",
    "\"id\":%,\"method\":\"tasks/cancel\",\"params\":{\"taskId\":\"x\"}",
    "\"id\":%,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\","
    "\"capabilities\":{\"elicitation\":{}},\"clientInfo\":{\"name\":\"t\",\"version\":\"1\"}}",
    "\"id\":%,\"method\":\"server/discover\",\"params\":{\"x\":1@}",
    "\"method\":\"notifications/initialized\"",
    "\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":%}",
    "\"id\":\"req_%\",\"result\":{\"action\":\"accept\"}",
};

static uint32_t random_state;

static uint32_t roll(uint32_t sides) {
    random_state = random_state * 1664525 + 1013904223;
    return (random_state >> 8) % sides;
}

/* A line in which the marks are filled in; `era` 2 has the modern members. */
static void compose(char *to, size_t max, int era) {
    const char *from = requests[roll(LENGTH(requests))];
    size_t len = (size_t)snprintf(to, max, "{\"jsonrpc\":\"2.0\",");
    for (; *from && len + 300 < max; from++) {
        if (*from == '%')
            len += (size_t)snprintf(to + len, max - len, "%u", roll(20));
        else if (*from == '@' && era == 2)
            len += (size_t)snprintf(to + len, max - len, "," TALK_META "\"elicitation\":{}}}");
        else if (*from != '@')
            to[len++] = *from;
    }
    (void)snprintf(to + len, max - len, "}");
}

static void spoil(char *line) {
    static const char signs[] = "{}[]\",:0123456789.-eE\\u\x01\xff nulltruefals";
    for (uint32_t i = roll(4); i; i--) {
        size_t len = strlen(line);
        size_t at = roll((uint32_t)len);
        if (roll(2))
            memmove(line + at, line + at + 1, len - at);
        else
            line[at] = signs[roll(sizeof signs - 1)];
        if (!line[0])
            return;
    }
    for (char *at = line; *at; at++)
        if (*at == '\n')
            *at = ' ';
}

static void storm(int era, uint32_t seed) {
    struct talk talk;
    char line[2000];
    begin(&talk);
    random_state = seed;
    if (seed % 4)
        talk_connect(&talk);
    else
        talk_open(&talk, "2025-11-25", "{\"elicitation\":{}}");
    for (int i = 0; i < 1500; i++) {
        compose(line, sizeof line, era);
        if (roll(3) == 0)
            spoil(line);
        if (line[0])
            talk_say(&talk, line);
        if (roll(8) == 0)
            while (talk_wait(&talk, 0))
                ;
        if (count && roll(10) == 0)
            dx_mcp_work_done(kept[--count]);
        if (roll(50) == 0)
            dx_mcp_server_updated(talk.server, TEXT("t:a"));
        if (roll(50) == 0)
            dx_mcp_server_changed(talk.server, DX_MCP_TOOLS);
    }
    /* Still there: one that asks in the way of its era is answered. */
    if (era == 2 && seed % 4)
        talk_modern(&talk, 999, "tools/list", "", "");
    else
        talk_ask(&talk, 999, "tools/list", "");
    while (!strstr(talk_hear(&talk), "\"id\":999,"))
        ;
    if (seed % 2)
        talk_leave(&talk);
    dx_mcp_server_free(talk.server);
    talk.server = NULL;
    while (count)
        dx_mcp_work_done(kept[--count]);
    talk_end(&talk);
}

static void test_legacy(void **state) {
    (void)state;
    for (uint32_t seed = 1; seed <= 20; seed++)
        storm(1, seed);
}

static void test_modern(void **state) {
    (void)state;
    for (uint32_t seed = 1; seed <= 20; seed++)
        storm(2, seed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_legacy),
        cmocka_unit_test(test_modern),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
