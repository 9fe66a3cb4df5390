/* What is declared: lists and their pages, what may be declared, changes. */
#include "mcp/server_talk.h"

static void call(dx_mcp_work *work, yyjson_val *arguments, void *user) {
    (void)arguments;
    (void)user;
    dx_mcp_work_done(work);
}

static void read_it(dx_mcp_work *work, dx_text uri, yyjson_val *variables, void *user) {
    (void)uri;
    (void)variables;
    (void)user;
    dx_mcp_work_done(work);
}

static const dx_mcp_tool whole = {
    .name = "w",
    .title = "T",
    .description = "D",
    .input = "{\"type\": \"object\"}",
    .output = "{\"type\":\"object\"}",
    .annotations = "{\"readOnlyHint\":true}",
    .icons = "[{\"src\":\"https://i.org\"}]",
    .meta = "{\"x.org/k\":1}",
    .task = DX_MCP_TASK_MAY,
    .call = call,
};

/* Each revision gets what it knows. */
static void test_tool_members(void **state) {
    static const char *const rows[][2] = {
        {"2024-11-05",
         "[{\"name\":\"w\",\"description\":\"D\",\"inputSchema\":{\"type\":\"object\"}}]"},
        {"2025-03-26",
         "[{\"name\":\"w\",\"description\":\"D\",\"inputSchema\":{\"type\":\"object\"},"
         "\"annotations\":{\"readOnlyHint\":true}}]"},
        {"2025-06-18", "[{\"name\":\"w\",\"title\":\"T\",\"description\":\"D\",\"inputSchema\":{"
                       "\"type\":\"object\"},\"outputSchema\":{\"type\":\"object\"},"
                       "\"annotations\":{\"readOnlyHint\":true},\"_meta\":{\"x.org/k\":1}}]"},
        {"2025-11-25",
         "[{\"name\":\"w\",\"title\":\"T\",\"description\":\"D\",\"inputSchema\":{"
         "\"type\":\"object\"},\"outputSchema\":{\"type\":\"object\"},"
         "\"annotations\":{\"readOnlyHint\":true},\"execution\":{\"taskSupport\":\"optional\"},"
         "\"_meta\":{\"x.org/k\":1},\"icons\":[{\"src\":\"https://i.org\"}]}]"},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct talk talk;
        talk_new(&talk, dx_mcp_server_defaults("s", "1"));
        assert_int_equal(dx_mcp_server_add_tool(talk.server, &whole, NULL), DX_OK);
        talk_open(&talk, rows[i][0], "{}");
        talk_ask(&talk, 1, "tools/list", "");
        assert_has(talk_hear(&talk), rows[i][1]);
        talk_end(&talk);
    }
}

/* An output that is no object is for the modern era only. */
static void test_plain_output(void **state) {
    struct talk talk;
    dx_mcp_tool tool = {.name = "n", .output = "{\"type\":\"number\"}", .call = call};
    (void)state;
    talk_new(&talk, dx_mcp_server_defaults("s", "1"));
    assert_int_equal(dx_mcp_server_add_tool(talk.server, &tool, NULL), DX_OK);
    talk_open(&talk, "2025-11-25", "{}");
    talk_ask(&talk, 1, "tools/list", "");
    assert_has_not(talk_hear(&talk), "outputSchema");
    talk_leave(&talk);
    talk_connect(&talk);
    talk_modern(&talk, 1, "tools/list", "", "");
    assert_has(talk_hear(&talk), "\"outputSchema\":{\"type\":\"number\"}");
    talk_end(&talk);
}

static void test_bad_declarations(void **state) {
    struct talk talk;
    dx_misfit why;
    char name[130];
    static const dx_mcp_tool tools[] = {
        {.name = "a b", .call = call},
        {.name = "", .call = call},
        {.name = NULL, .call = call},
        {.name = "a"},
        {.name = "a", .call = call, .input = "{"},
        {.name = "a", .call = call, .input = "[]"},
        {.name = "a", .call = call, .input = "{}"},
        {.name = "a", .call = call, .input = "{\"type\":\"array\"}"},
        {.name = "a", .call = call, .input = "{\"type\":\"object\",\"required\":5}"},
        {.name = "a", .call = call, .input = "{\"type\":\"object\",\"$ref\":\"#/nowhere\"}"},
        {.name = "a", .call = call, .output = "true"},
        {.name = "a", .call = call, .annotations = "5"},
        {.name = "a", .call = call, .icons = "[{}]"},
        {.name = "a", .call = call, .meta = "[]"},
        {.name = "a", .call = call, .title = "\xc3"},
    };
    (void)state;
    talk_new(&talk, dx_mcp_server_defaults("s", "1"));
    for (size_t i = 0; i < LENGTH(tools); i++) {
        why.phrase[0] = '\0';
        assert_int_equal(dx_mcp_server_add_tool(talk.server, &tools[i], &why), DX_ERR_INVALID);
        assert_true(why.phrase[0]);
        assert_int_equal(dx_mcp_server_add_tool(talk.server, &tools[i], NULL), DX_ERR_INVALID);
    }
    memset(name, 'n', 129);
    name[129] = '\0';
    assert_int_equal(
        dx_mcp_server_add_tool(talk.server, &(dx_mcp_tool){.name = name, .call = call}, &why),
        DX_ERR_INVALID);
    name[128] = '\0';
    dx_mcp_tool good = {.name = name, .call = call};
    assert_int_equal(dx_mcp_server_add_tool(talk.server, &good, &why), DX_OK);
    assert_int_equal(dx_mcp_server_add_tool(talk.server, &good, &why), DX_ERR_INVALID);
    assert_has(why.phrase, "already declared");
    dx_mcp_resource bad = {.uri = "x:y", .name = "n"};
    assert_int_equal(dx_mcp_server_add_resource(talk.server, &bad, &why), DX_ERR_INVALID);
    bad.read = read_it;
    assert_int_equal(dx_mcp_server_add_template(talk.server, &bad, &why), DX_ERR_INVALID);
    assert_int_equal(dx_mcp_server_add_resource(talk.server, &bad, &why), DX_OK);
    dx_mcp_prompt prompt = {.name = "p", .get = call, .arguments = "[{\"title\":\"t\"}]"};
    assert_int_equal(dx_mcp_server_add_prompt(talk.server, &prompt, &why), DX_ERR_INVALID);
    prompt.get = NULL;
    assert_int_equal(dx_mcp_server_add_prompt(talk.server, &prompt, &why), DX_ERR_INVALID);
    talk_end(&talk);
}

static void add_tool(struct talk *talk, const char *name) {
    assert_int_equal(
        dx_mcp_server_add_tool(talk->server, &(dx_mcp_tool){.name = name, .call = call}, NULL),
        DX_OK);
}

/* The cursor in that line, with its quotes. */
static void cursor_of(const char *line, char *to) {
    const char *at = strstr(line, "\"nextCursor\":");
    assert_non_null(at);
    (void)snprintf(to, 64, "\"cursor\":%.*s", (int)strcspn(at + 13, ",}"), at + 13);
}

/* S10: what comes and goes in the meantime does no harm. */
static void test_pages(void **state) {
    struct talk talk;
    char name[8];
    char cursor[64];
    dx_mcp_server_config config = dx_mcp_server_defaults("s", "1");
    config.page = 2;
    (void)state;
    talk_new(&talk, config);
    for (int i = 0; i < 5; i++) {
        (void)snprintf(name, sizeof name, "t%d", 9 - i);
        add_tool(&talk, name);
    }
    talk_open(&talk, "2025-11-25", "{}");
    talk_ask(&talk, 1, "tools/list", "");
    const char *line = talk_hear(&talk);
    assert_has(line, "\"tools\":[{\"name\":\"t9\",");
    assert_has(line, "{\"name\":\"t8\",");
    assert_has_not(line, "\"t7\"");
    cursor_of(line, cursor);
    assert_int_equal(dx_mcp_server_remove(talk.server, DX_MCP_TOOLS, TEXT("t8")), DX_OK);
    add_tool(&talk, "t0");
    assert_has(talk_hear(&talk), "notifications/tools/list_changed");
    for (int again = 0; again < 2; again++) {
        talk_ask(&talk, 2, "tools/list", cursor);
        line = talk_hear(&talk);
        assert_has(line, "\"tools\":[{\"name\":\"t7\",");
        assert_has(line, "{\"name\":\"t6\",");
    }
    cursor_of(line, cursor);
    talk_ask(&talk, 3, "tools/list", cursor);
    line = talk_hear(&talk);
    assert_has(line, "\"tools\":[{\"name\":\"t5\",");
    assert_has(line, "{\"name\":\"t0\",");
    assert_has_not(line, "nextCursor");
    static const char *const bad[] = {
        "",     "x",      "after-", "after-0", "after-g", "after-7", "after-00000000000000001",
        "more", "After-1"};
    for (size_t i = 0; i < LENGTH(bad); i++) {
        (void)snprintf(cursor, sizeof cursor, "\"cursor\":\"%s\"", bad[i]);
        talk_ask(&talk, 4, "tools/list", cursor);
        assert_has(talk_hear(&talk), "\"error\":{\"code\":-32602");
    }
    talk_end(&talk);
}

/* S13: once for each turn, of what the client was told of, and not before it is ready. */
static void test_changes(void **state) {
    struct talk talk;
    (void)state;
    talk_new(&talk, dx_mcp_server_defaults("s", "1"));
    add_tool(&talk, "a");
    talk_open(&talk, "2025-11-25", "{}");
    talk_ask(&talk, 1, "ping", "");
    talk_hear(&talk);
    add_tool(&talk, "b");
    add_tool(&talk, "c");
    assert_int_equal(dx_mcp_server_remove(talk.server, DX_MCP_TOOLS, TEXT("b")), DX_OK);
    assert_int_equal(dx_mcp_server_remove(talk.server, DX_MCP_TOOLS, TEXT("b")), DX_GONE);
    assert_int_equal(dx_mcp_server_remove(talk.server, (dx_mcp_kind)0, TEXT("c")), DX_GONE);
    dx_mcp_server_changed(talk.server, DX_MCP_PROMPTS); /* of which there are none */
    talk_expect(&talk, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}");
    talk_silence(&talk, 30);
    add_tool(&talk, "d");
    talk_expect(&talk, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}");
    talk_leave(&talk);
    talk_connect(&talk);
    talk_say(&talk, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{"
                    "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{"
                    "\"name\":\"c\",\"version\":\"2\"}}}");
    talk_hear(&talk);
    add_tool(&talk, "e");
    talk_silence(&talk, 30);
    talk_end(&talk);
}

static void test_no_changes(void **state) {
    struct talk talk;
    dx_mcp_server_config config = dx_mcp_server_defaults("s", "1");
    config.list_changed = 0;
    (void)state;
    talk_new(&talk, config);
    add_tool(&talk, "a");
    talk_open(&talk, "2025-11-25", "{}");
    add_tool(&talk, "b");
    talk_silence(&talk, 30);
    talk_end(&talk);
}

static void page(dx_mcp_work *work, dx_text cursor, void *user) {
    (void)user;
    if (!cursor.at)
        dx_mcp_work_reply(work, JSON("{\"resources\":[{\"uri\":\"d:1\",\"name\":\"1\"}],"
                                     "\"nextCursor\":\"two\"}"));
    else if (dx_text_is(cursor, "two"))
        dx_mcp_work_reply(work, JSON("{\"resources\":[{\"uri\":\"d:2\",\"name\":\"2\"}]}"));
    else if (dx_text_is(cursor, "text"))
        dx_mcp_work_done(work);
    else
        dx_mcp_work_refuse(work, DX_CODE_PARAMS, TEXT("no such page"), dx_json_none());
}

/* Those that are declared come first, then the pages of those that are not. */
static void test_more_resources(void **state) {
    struct talk talk;
    (void)state;
    talk_new(&talk, dx_mcp_server_defaults("s", "1"));
    dx_mcp_server_on_resources(talk.server, page, read_it, NULL);
    talk_open(&talk, "2025-11-25", "{}");
    talk_ask(&talk, 1, "resources/list", "");
    assert_has(talk_hear(&talk), "{\"resources\":[{\"uri\":\"d:1\",\"name\":\"1\"}],"
                                 "\"nextCursor\":\"more-two\"}");
    talk_ask(&talk, 2, "resources/list", "\"cursor\":\"more-two\"");
    assert_has(talk_hear(&talk), "\"id\":2,\"result\":{\"resources\":[{\"uri\":\"d:2\",\"name\":"
                                 "\"2\"}]}}");
    talk_ask(&talk, 3, "resources/list", "\"cursor\":\"more-three\"");
    assert_has(talk_hear(&talk), "-32602");
    talk_ask(&talk, 4, "resources/list", "\"cursor\":\"more-text\"");
    assert_has(talk_hear(&talk), "-32603");
    dx_mcp_resource resource = {
        .uri = "r:1", .name = "n", .size = 7, .mime = "a/b", .read = read_it};
    assert_int_equal(dx_mcp_server_add_resource(talk.server, &resource, NULL), DX_OK);
    assert_has(talk_hear(&talk), "notifications/resources/list_changed");
    talk_ask(&talk, 5, "resources/list", "");
    assert_has(talk_hear(&talk), "{\"resources\":[{\"uri\":\"r:1\",\"name\":\"n\",\"mimeType\":"
                                 "\"a/b\",\"size\":7}],\"nextCursor\":\"more\"}");
    talk_ask(&talk, 6, "resources/list", "\"cursor\":\"more\"");
    assert_has(talk_hear(&talk), "\"d:1\"");
    talk_leave(&talk);
    talk_connect(&talk);
    talk_modern(&talk, 7, "resources/list", "\"cursor\":\"more\"", "");
    const char *line = talk_hear(&talk);
    assert_has(line, "\"nextCursor\":\"more-two\",\"resultType\":\"complete\",\"ttlMs\":0,");
    assert_has(line, "io.modelcontextprotocol/serverInfo");
    talk_end(&talk);
}

static void test_meta_of_resources(void **state) {
    struct talk talk;
    dx_mcp_resource resource = {
        .uri = "r:1", .name = "n", .meta = "{ \"a/b\": 1 }", .read = read_it};
    dx_misfit why;
    (void)state;
    talk_new(&talk, dx_mcp_server_defaults("s", "1"));
    assert_int_equal(dx_mcp_server_add_resource(talk.server, &resource, NULL), DX_OK);
    resource.uri = "t:{x}";
    assert_int_equal(dx_mcp_server_add_template(talk.server, &resource, NULL), DX_OK);
    resource.uri = "r:2";
    resource.meta = "[1]";
    assert_int_equal(dx_mcp_server_add_resource(talk.server, &resource, &why), DX_ERR_INVALID);
    talk_open(&talk, "2025-06-18", "{}");
    talk_ask(&talk, 1, "resources/list", "");
    assert_has(talk_hear(&talk), "[{\"uri\":\"r:1\",\"name\":\"n\",\"_meta\":{\"a/b\":1}}]");
    talk_ask(&talk, 2, "resources/templates/list", "");
    assert_has(talk_hear(&talk), "\"_meta\":{\"a/b\":1}");
    talk_leave(&talk);
    talk_open(&talk, "2025-03-26", "{}");
    talk_ask(&talk, 1, "resources/list", "");
    assert_has_not(talk_hear(&talk), "_meta");
    talk_end(&talk);
}

static void test_extensions(void **state) {
    static const char *const wrong[] = {"[]", "{\"a/b\":1}", "{", "1e400"};
    struct talk talk;
    dx_mcp_server *server;
    dx_misfit why;
    dx_mcp_server_config config = dx_mcp_server_defaults("s", "1");
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        config.extensions = wrong[i];
        assert_int_equal(dx_mcp_server_new(&config, &server, &why), DX_ERR_INVALID);
        assert_has(why.phrase, "extensions");
    }
    config.extensions = "{ \"com.example/x\": {\"v\": 1} }";
    talk_new(&talk, config);
    talk_connect(&talk);
    talk_modern(&talk, 1, "server/discover", "", "");
    assert_has(talk_hear(&talk), "\"extensions\":{\"com.example/x\":{\"v\":1}}");
    talk_leave(&talk);
    talk_connect(&talk);
    talk_say(&talk, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{"
                    "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{"
                    "\"name\":\"c\",\"version\":\"1\"}}}");
    assert_has_not(talk_hear(&talk), "extensions");
    talk_end(&talk);
}

static void test_prompts_and_templates(void **state) {
    struct talk talk;
    dx_mcp_prompt prompt = {
        .name = "p",
        .title = "T",
        .arguments = "[{\"name\":\"a\",\"title\":\"A\",\"required\":true}]",
        .get = call,
    };
    dx_mcp_resource template = {.uri = "t:{x}", .name = "n", .title = "T", .read = read_it};
    (void)state;
    talk_new(&talk, dx_mcp_server_defaults("s", "1"));
    assert_int_equal(dx_mcp_server_add_prompt(talk.server, &prompt, NULL), DX_OK);
    assert_int_equal(dx_mcp_server_add_template(talk.server, &template, NULL), DX_OK);
    talk_open(&talk, "2025-03-26", "{}");
    talk_ask(&talk, 1, "prompts/list", "");
    assert_has(
        talk_hear(&talk),
        "{\"prompts\":[{\"name\":\"p\",\"arguments\":[{\"name\":\"a\",\"required\":true}]}]}");
    talk_ask(&talk, 2, "resources/templates/list", "");
    assert_has(talk_hear(&talk),
               "{\"resourceTemplates\":[{\"uriTemplate\":\"t:{x}\",\"name\":\"n\"}]}");
    talk_leave(&talk);
    talk_open(&talk, "2025-06-18", "{}");
    talk_ask(&talk, 1, "prompts/list", "");
    assert_has(talk_hear(&talk), "{\"prompts\":[{\"name\":\"p\",\"title\":\"T\",\"arguments\":[{"
                                 "\"name\":\"a\",\"title\":\"A\",\"required\":true}]}]}");
    talk_end(&talk);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_meta_of_resources), cmocka_unit_test(test_extensions),
        cmocka_unit_test(test_tool_members),      cmocka_unit_test(test_plain_output),
        cmocka_unit_test(test_bad_declarations),  cmocka_unit_test(test_pages),
        cmocka_unit_test(test_changes),           cmocka_unit_test(test_no_changes),
        cmocka_unit_test(test_more_resources),    cmocka_unit_test(test_prompts_and_templates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
