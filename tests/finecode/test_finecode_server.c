/* The manager as a server: its methods, runs in the name of clients, and their ends. */
#include "finecode/server_talk.h"

static struct world *world;
static dx_finecode_server *server;
static struct client *client;
static int idle;

static void on_idle(dx_finecode_server *one, void *user) {
    (void)one;
    ++*(int *)user;
}

static void begin(void) {
    world_open(world);
    dx_finecode_server_config config = dx_finecode_server_defaults();
    config.on_idle = on_idle;
    config.user = &idle;
    dx_error error = {0};
    if (dx_finecode_server_new(world->wm, &config, &server, &error) != DX_OK)
        fail_msg("%s", error.phrase);
    client = client_new(world, server);
}

static int set_up(void **state) {
    (void)state;
    idle = 0;
    server = NULL;
    client = NULL;
    world = world_new();
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    if (client)
        client_free(client);
    server = dx_finecode_server_free(server);
    world_free(world);
    return 0;
}

static void answers_about_the_workspace(void **state) {
    (void)state;
    make_project(world, "a", "e", "stdio", "");
    make_project(world, "b", "e f", "stdio", "");
    begin();
    client_gets(client, "client/initialize", "{\"clientId\":\"t\"}", "{\"logFilePath\":null}");
    client_gets(client, "server/getInfo", NULL, "\"pid\":");
    client_gets(client, "workspace/listProjects", "{}", "\"name\":\"a\"");
    client_gets(client, "workspace/listProjects", "{\"projects\":[\"b\"]}",
                "{\"projects\":[{\"name\":\"b\"");
    client_gets(client, "workspace/listProjects", "{}", "\"status\":\"CONFIG_VALID\"");
    client_gets(client, "workspace/findProjectForFile", "{\"filePath\":\"%s/a/x/y.c\"}", "/a\"}");
    client_gets(client, "workspace/findProjectForFile", "{\"filePath\":\"/nowhere\"}",
                "{\"project\":null}");
    client_gets(client, "workspace/findProjectForFile", "{\"filePath\":\"relative\"}",
                "{\"project\":null}");
    client_gets(client, "workspace/getProjectRawConfig", "{\"project\":\"a\"}", "\"x.Act\"");
    client_gets(client, "workspace/getWorkspaceEditablePackages", "{}", "\"packages\":{\"a\":");
    client_gets(client, "runners/list", "{}", "{\"runners\":[");
    client_gets(client, "runners/checkEnv", "{\"project\":\"a\",\"envName\":\"e\"}",
                "\"valid\":true");
    client_gets(client, "actions/getTree", "{}", "\"nodeId\":\"");
    client_gets(client, "actions/getTree", "{}", "::x.Act\"");
    client_gets(client, "workspace/addDir", "{\"dirPath\":\"%s/a\",\"startRunners\":false}",
                "\"projects\":[{\"name\":\"a\"");
    client_gets(client, "workspace/addDir", "{\"dirPath\":\"%s/none\"}", "\"code\":-32602");
    client_gets(client, "workspace/prepareEnvs", "{}", "\"code\":-32002");
    client_gets(client, "runners/removeEnv", "{}", "\"code\":-32002");
    client_gets(client, "runners/restart", "{\"project\":\"a\",\"env\":\"e\",\"debug\":true}",
                "\"code\":-32002");
    client_gets(client, "no/such", "{}", "\"code\":-32601");
    client_gets(client, "workspace/removeDir", "{\"dirPath\":\"%s\"}", "{}");
    client_gets(client, "server/reset", "{}", "{}");
    assert_string_equal(client_get(client, "workspace/listProjects", "{}"), "{\"projects\":[]}\n");
}

static void bad_params(void **state) {
    static const char *const rows[][2] = {
        {"workspace/addDir", "{}"},
        {"workspace/addDir", "{\"dirPath\":7}"},
        {"workspace/addDir", "{\"dirPath\":\"/a\\u0000b\"}"},
        {"workspace/addDir", "[]"},
        {"workspace/removeDir", "{}"},
        {"workspace/findProjectForFile", "{\"filePath\":null}"},
        {"workspace/getProjectRawConfig", "{\"project\":\"none\"}"},
        {"workspace/getProjectRawConfig", "{}"},
        {"workspace/setConfigOverrides", "{}"},
        {"workspace/setConfigOverrides", "{\"overrides\":{\"a\":7}}"},
        {"workspace/setConfigOverrides", "{\"overrides\":{\"a\":{\"\":[]}}}"},
        {"workspace/setConfigOverrides", "{\"overrides\":{\"a\\u0000\":{\"\":{\"p\":1}}}}"},
        {"workspace/setConfigOverrides", "{\"overrides\":{\"a.b\":{\"\":{\"p\":1}}}}"},
        {"workspace/setConfigOverrides", "{\"overrides\":{\"a\":{\"h.h\":{\"p\":1}}}}"},
        {"workspace/setConfigOverrides", "{\"overrides\":{\"a\":{\"\":{\"p=q\":1}}}}"},
        {"workspace/setConfigOverrides", "{\"overrides\":{\"a\":{\"\":{\"\":1}}}}"},
        {"workspace/setConfigOverrides", "{\"overrides\":{\"\":{\"\":{\"p\":1}}}}"},
        {"actions/list", "{\"project\":\"none\"}"},
        {"actions/list", "{\"project\":7}"},
        {"actions/run", "{\"actionSource\":\"act\",\"project\":7}"},
        {"actions/run", "{\"actionSource\":\"act\",\"project\":\"a\\u0000\"}"},
        {"actions/run",
         "{\"actionSource\":\"act\",\"options\":{\"envSelectors\":[{\"env\":\"e\"}]}}"},
        {"actions/run", "{}"},
        {"actions/run", "{\"actionSource\":\"act\",\"project\":\"none\"}"},
        {"actions/run", "{\"actionSource\":\"act\",\"project\":\"a\",\"params\":7}"},
        {"actions/run", "{\"actionSource\":\"act\",\"options\":{\"trigger\":\"me\"}}"},
        {"actions/run", "{\"actionSource\":\"act\",\"options\":{\"devEnv\":\"precommit\"}}"},
        {"actions/run", "{\"actionSource\":\"act\",\"options\":{\"resultFormats\":[\"xml\"]}}"},
        {"actions/run", "{\"actionSource\":\"act\",\"options\":{\"resultFormats\":\"json\"}}"},
        {"actions/run", "{\"actionSource\":\"act\",\"partialResultToken\":[]}"},
        {"actions/run", "{\"actionSource\":\"act\",\"progressToken\":1.5}"},
        {"actions/run", "{\"actionSource\":\"none\",\"project\":\"a\"}"},
        {"actions/runBatch", "{}"},
        {"actions/runBatch", "{\"actionSources\":[7]}"},
        {"actions/runBatch", "{\"actionSources\":[\"act\"],\"projects\":[\"none\"]}"},
        {"actions/runBatch", "{\"actionSources\":[\"act\"],\"projects\":\"a\"}"},
        {"actions/runBatch", "{\"actionSources\":[\"act\"],\"projects\":[]}"},
        {"actions/runBatch", "{\"actionSources\":[\"act\",\"none\"]}"},
        {"actions/runBatch", "{\"actionSources\":[\"act\"],\"paramsByProject\":7}"},
        {"actions/runBatch", "{\"actionSources\":[\"act\"],\"paramsByProject\":{\"a\":7}}"},
        {"actions/getPayloadSchemas", "{\"project\":\"a\"}"},
        {"actions/getPayloadSchemas", "{\"project\":\"none\",\"actionSources\":[]}"},
        {"actions/reload", "{\"actionNodeId\":\"a\"}"},
        {"actions/reload", "{\"actionNodeId\":\"a::none\"}"},
        {"actions/reload", "{}"},
        {"runners/restart", "{}"},
        {"runners/restart", "{\"project\":\"a\"}"},
        {"runners/restart", "{\"runnerWorkingDir\":\"a\",\"envName\":\"none\"}"},
        {"runners/checkEnv", "{\"project\":\"a\"}"},
        {"documents/opened", "{}"},
        {"documents/opened", "{\"uri\":\"http://x\",\"text\":\"\"}"},
        {"documents/opened", "{\"uri\":\"file:///x\"}"},
        {"documents/changed", "{\"uri\":\"file:///not/open\",\"contentChanges\":[]}"},
        {"documents/closed", "{}"},
    };
    (void)state;
    make_project(world, "a", "e", "stdio", "");
    begin();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *answer = client_get(client, rows[i][0], rows[i][1]);
        if (!strstr(answer, "\"code\":-32602"))
            fail_msg("%s %s: %s", rows[i][0], rows[i][1], answer);
    }
    /* None of it did any harm. */
    client_gets(client, "actions/run",
                "{\"actionSource\":\"act\",\"project\":\"a\",\"options\":{\"resultFormats\":"
                "[\"json\"]}}",
                "\"pid\":");
}

#define JSON "\"options\":{\"resultFormats\":[\"json\"],\"trigger\":\"user\",\"devEnv\":\"cli\"}"

static void runs(void **state) {
    (void)state;
    make_project(world, "a", "e", "stdio", "");
    make_project(world, "b", "e", "stdio", "");
    set_spec(world, "b", "e",
             "{'answers': {'actions/run': {'result': {'status': 'success', 'return_code': 1, "
             "'result_by_format': '{\"json\": {\"n\": 1}, \"string\": \"one\"}'}}}}");
    begin();
    const char *one =
        client_get(client, "actions/run",
                   "{\"actionSource\":\"act\",\"project\":\"a\",\"params\":{}," JSON "}");
    must_have(one, "{\"returnCode\":0,\"resultByFormat\":{\"json\":{\"pid\":");
    must_have(trace_of(world, "a", "e"), "\"trigger\": \"user\"");
    /* Also by its source and canonical source, and by the project's path. */
    client_gets(client, "actions/run", "{\"actionSource\":\"x.Act\",\"project\":\"%s/b\"," JSON "}",
                "{\"returnCode\":1,\"resultByFormat\":{\"json\":{\"n\":1}");
    client_gets(client, "actions/run", "{\"actionSource\":\"canonical.x.Act\",\"project\":\"b\"}",
                "\"string\":\"one\"");
    /* In all projects: results by their paths. */
    const char *all =
        client_get(client, "actions/run", "{\"actionSource\":\"act\",\"project\":\"\"," JSON "}");
    must_have(all, "{\"returnCode\":1,\"resultByFormat\":{\"json\":{\"");
    must_have(all, "/b\":{\"n\":1}");
    must_have(all, "\"results\":{");
    /* A batch; an action that is not there fails where it was asked for. */
    const char *batch = client_get(
        client, "actions/runBatch",
        "{\"actionSources\":[\"act\",\"none\"],\"projects\":[\"a\",\"b\"],\"params\":{\"p\":1},"
        "\"paramsByProject\":{\"%s/b\":{\"q\":2}}," JSON "}");
    must_have(batch, "/a\":{\"act\":{\"resultByFormat\":{\"json\":{\"pid\":");
    must_have(batch, "/b\":{\"act\":{\"resultByFormat\":{\"json\":{\"n\":1}");
    must_have(batch, "\"none\":{\"error\":\"");
    must_have(batch, "\"returnCode\":1}");
    must_have(trace_of(world, "b", "e"), "\"params\": {\"p\": 1, \"q\": 2}");
    /* In all that have it. */
    client_gets(client, "actions/runBatch", "{\"actionSources\":[\"act\"]," JSON "}",
                "/a\":{\"act\":{\"resultByFormat\"");
    client_gets(client, "actions/list", "{}", "\"scope\":\"project\"");
    client_gets(client, "actions/list", "{\"project\":\"a\"}",
                "\"handlers\":[{\"name\":\"h_e\",\"source\":\"x.H_e\",\"env\":\"e\"}]");
    client_gets(client, "runners/list", "{}", "\"status\":\"RUNNING\",\"readableId\":\"e@a\"");
    client_gets(client, "actions/reload", "{\"actionNodeId\":\"a::x.Act\"}", "{}");
    client_gets(client, "actions/getPayloadSchemas",
                "{\"project\":\"a\",\"actionSources\":[\"x.Act\",\"y\",7]}",
                "{\"schemas\":{\"x.Act\":null,\"y\":null}}");
    WAIT(world, strstr(trace_of(world, "a", "e"), "actions/reload"));
}

static void failures(void **state) {
    (void)state;
    make_project(world, "a", "e", "stdio", "");
    make_project(world, "b", "e", "stdio", "");
    set_spec(world, "a", "e", "{'answers': {'actions/run': {'result': {'error': 'no luck'}}}}");
    begin();
    client_gets(client, "actions/run", "{\"actionSource\":\"act\",\"project\":\"a\"," JSON "}",
                "\"code\":-32603,\"message\":\"no luck");
    const char *all =
        client_get(client, "actions/run", "{\"actionSource\":\"act\",\"project\":\"\"," JSON "}");
    must_have(all, "{\"returnCode\":1,");
    must_have(all, "\"error\":\"no luck");
    must_have(all, "\"pid\":");
    client_gets(client, "actions/runBatch",
                "{\"actionSources\":[\"act\"],\"projects\":[\"a\"]," JSON "}",
                "\"act\":{\"error\":\"no luck");
}

/* Every request is kept by itself, also if they come together. */
static void many_at_once(void **state) {
    (void)state;
    enum { COUNT = 40 };
    make_project(world, "a", "e", "stdio", "");
    begin();
    for (int i = 0; i < COUNT; i++) {
        char name[16];
        char params[300];
        (void)snprintf(name, sizeof name, "n%d", i);
        (void)snprintf(params, sizeof params,
                       "{\"actionSource\":\"act\",\"project\":\"a\",\"params\":{\"i\":%d},"
                       "\"partialResultToken\":\"token %d\"," JSON "}",
                       i, i);
        (void)client_ask(client, name, "actions/run", params);
    }
    WAIT(world, client->count == COUNT);
    for (int i = 0; i < COUNT; i++) {
        char part[64];
        (void)snprintf(part, sizeof part, "n%d {\"returnCode\":0}\n", i);
        must_have(client->answers.text, part);
        (void)snprintf(part, sizeof part, "{\"token\":\"token %d\",\"value\":{\"project\":\"", i);
        assert_int_equal(count_of(client->heard.text, part), 1);
        (void)snprintf(part, sizeof part, "\"params\": {\"i\": %d}", i);
        assert_int_equal(count_of(trace_of(world, "a", "e"), part), 1);
    }
}

static void cancelled(void **state) {
    (void)state;
    make_project(world, "a", "e", "stdio", "");
    make_project(world, "b", "e", "stdio", "");
    set_spec(world, "a", "e", "{'answers': {'actions/run': 'mute'}}");
    begin();
    dx_call run = client_ask(client, "one", "actions/run",
                             "{\"actionSource\":\"act\",\"project\":\"a\"," JSON "}");
    WAIT(world, strstr(trace_of(world, "a", "e"), "actions/run"));
    /* What others run goes on. */
    client_gets(client, "actions/run", "{\"actionSource\":\"act\",\"project\":\"b\"," JSON "}",
                "\"pid\":");
    assert_int_equal(dx_link_cancel(client->link, run, dx_str(NULL)), DX_OK);
    WAIT(world, strstr(client->answers.text, "one {"));
    must_have(client->answers.text, "\"code\":-32800");
    WAIT(world, count_of(trace_of(world, "a", "e"), "$/cancelRequest") == 1);
    /* A batch: what has not begun does not begin any more. */
    run = client_ask(client, "two", "actions/runBatch",
                     "{\"actionSources\":[\"act\",\"x.Act\"],\"projects\":[\"a\"]," JSON "}");
    WAIT(world, count_of(trace_of(world, "a", "e"), "\"actions/run\"") == 2);
    assert_int_equal(dx_link_cancel(client->link, run, dx_str(NULL)), DX_OK);
    WAIT(world, strstr(client->answers.text, "two {"));
    linger(world, 100);
    assert_int_equal(count_of(trace_of(world, "a", "e"), "\"actions/run\""), 2);
}

static void who_leaves(void **state) {
    (void)state;
    make_project(world, "a", "e", "stdio", "");
    set_spec(world, "a", "e", "{'answers': {'actions/run': 'mute'}}");
    begin();
    struct client *other = client_new(world, server);
    char open_one[200];
    (void)snprintf(open_one, sizeof open_one,
                   "{\"uri\":\"file://%s/a/x.c\",\"version\":0,\"text\":\"x\"}", world->folder);
    client_tell(other, "documents/opened", open_one);
    (void)client_ask(other, "run", "actions/run",
                     "{\"actionSource\":\"act\",\"project\":\"a\"," JSON "}");
    WAIT(world, strstr(trace_of(world, "a", "e"), "actions/run"));
    dx_link_close(other->link);
    WAIT(world, other->closed);
    WAIT(world, strstr(trace_of(world, "a", "e"), "$/cancelRequest"));
    WAIT(world, strstr(trace_of(world, "a", "e"), "textDocument/didClose"));
    WAIT(world, !server->duties);
    client_free(other);
    /* The document of two stays until both have left. */
    client_tell(client, "documents/opened", open_one);
    other = client_new(world, server);
    client_tell(other, "documents/opened", open_one);
    client_gets(other, "server/getInfo", "{}", "pid");
    dx_link_close(other->link);
    WAIT(world, other->closed);
    WAIT(world, server->clients && !server->clients->next);
    client_free(other);
    assert_int_equal(count_of(trace_of(world, "a", "e"), "textDocument/didClose"), 1);
    client_gets(client, "server/getInfo", "{}", "pid");
    assert_non_null(world->wm->documents.first);
    /* Another URI of the same file is the same document. */
    for (int i = 0; i < 3; i++)
        client_gets(client, "documents/opened",
                    "{\"uri\":\"file:%s/./b/../a/x%2Ec\",\"text\":\"y\"}", "{}");
    assert_null(server->clients->opened->next);
    assert_null(world->wm->documents.first->next);
    client_gets(client, "documents/closed", "{\"uri\":\"file://%s//a/x.c\"}", "{}");
    assert_null(server->clients->opened);
    assert_null(world->wm->documents.first);
}

/* The server goes while runs, questions and edits are under way: nothing is left, nobody is called.
 */
static void ends_in_the_middle(void **state) {
    (void)state;
    make_project(world, "a", "e", "stdio", "");
    set_spec(world, "a", "e",
             "{'answers': {'actions/run': 'mute', 'actions/getPayloadSchemas': 'mute'}}");
    begin();
    (void)client_ask(client, "1", "actions/getPayloadSchemas",
                     "{\"project\":\"a\",\"actionSources\":[\"x.Act\"]}");
    (void)client_ask(client, "2", "actions/run",
                     "{\"actionSource\":\"act\",\"project\":\"a\"," JSON "}");
    (void)client_ask(client, "3", "actions/list", "{}");
    WAIT(world, strstr(trace_of(world, "a", "e"), "actions/run"));
    server = dx_finecode_server_free(server);
    assert_null(world->wm->server);
    linger(world, 100);
    WAIT(world, client->closed);
    assert_int_equal(client->count, 3);
}

static void edits(void **state) {
    static const char asks[] =
        "{'answers': {'actions/run': [{'id': 'e1', 'method': 'workspace/applyEdit', 'params': "
        "{'edit': {'changes': {}}}}, {'result': {'status': 'success', 'return_code': 0, "
        "'result_by_format': '{\"json\": {}}'}}]}}";
    (void)state;
    make_project(world, "a", "e", "stdio", "");
    set_spec(world, "a", "e", asks);
    begin();
    struct client *other = client_new(world, server);
    client_gets(other, "client/initialize",
                "{\"clientId\":\"ide\",\"capabilities\":{\"workspace\":{\"applyEdit\":true}}}",
                "logFilePath");
    client_gets(client, "client/initialize", "{\"clientId\":\"newer, but without\"}",
                "logFilePath");
    other->edited = "{\"applied\":true}";
    client_gets(client, "actions/run", "{\"actionSource\":\"act\",\"project\":\"a\"," JSON "}",
                "\"json\":{}");
    WAIT(world, strstr(trace_of(world, "a", "e"), "\"applied\": true"));
    must_have(other->heard.text, "workspace/applyEdit {\"edit\":");
    other->edited = "{\"applied\":false,\"failureReason\":\"busy\"}";
    client_gets(client, "actions/run", "{\"actionSource\":\"act\",\"project\":\"a\"," JSON "}",
                "\"json\":{}");
    WAIT(world, strstr(trace_of(world, "a", "e"), "busy"));
    /* One that leaves without an answer. */
    other->edited = NULL;
    (void)client_ask(client, "run", "actions/run",
                     "{\"actionSource\":\"act\",\"project\":\"a\"," JSON "}");
    WAIT(world, count_of(other->heard.text, "applyEdit") == 3);
    client_free(other);
    WAIT(world, count_of(trace_of(world, "a", "e"), "\"applied\": false") == 2);
    WAIT(world, !server->edits);
}

static void overrides(void **state) {
    (void)state;
    make_project(world, "a", "e", "stdio", "");
    begin();
    client_gets(client, "actions/run", "{\"actionSource\":\"act\",\"project\":\"a\"," JSON "}",
                "\"pid\":");
    client_gets(client, "workspace/setConfigOverrides",
                "{\"overrides\":{\"act\":{\"h_e\":{\"level\":{\"deep\":[7]}}}}}", "{}");
    WAIT(world, count_of(trace_of(world, "a", "e"), "updateConfig") == 2);
    must_have(trace_of(world, "a", "e"), "\"level\": {\"deep\": [7]}");
    client_gets(client, "actions/run", "{\"actionSource\":\"act\",\"project\":\"a\"," JSON "}",
                "\"pid\":");
}

static void two_clients(void **state) {
    (void)state;
    begin();
    struct client *other = client_new(world, server);
    client_gets(client, "server/getInfo", "{}", "pid");
    client_gets(other, "server/getInfo", NULL, "pid");
    dx__finecode_server_message(server, "WARNING", dx_str("look \"here\""));
    dx__finecode_server_tree(server);
    dx__finecode_server_tree(server);
    linger(world, 150);
    for (int i = 0; i < 2; i++) {
        const char *heard = (i ? client : other)->heard.text;
        must_have(heard,
                  "server/userMessage {\"message\":\"look \\\"here\\\"\",\"type\":\"WARNING\"}");
        assert_int_equal(count_of(heard, "actions/treeChanged {\"node\":{"), 1);
    }
    client_free(other);
    /* More than there may be: closed at once; the others stay. */
    struct client *many[DX__FINECODE_CLIENTS_MAX];
    for (size_t i = 0; i < DX__FINECODE_CLIENTS_MAX; i++) {
        many[i] = client_new(world, server);
        client_tell(many[i], "is/there", "{}"); /* it counts when it speaks */
    }
    linger(world, 200);
    size_t closed = 0;
    for (size_t i = 0; i < DX__FINECODE_CLIENTS_MAX; i++) {
        closed += many[i]->closed;
        client_free(many[i]);
    }
    assert_true(closed >= 1 && closed <= 2);
    client_gets(client, "server/getInfo", "{}", "pid");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(answers_about_the_workspace, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bad_params, set_up, tear_down),
        cmocka_unit_test_setup_teardown(runs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(failures, set_up, tear_down),
        cmocka_unit_test_setup_teardown(many_at_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(cancelled, set_up, tear_down),
        cmocka_unit_test_setup_teardown(who_leaves, set_up, tear_down),
        cmocka_unit_test_setup_teardown(ends_in_the_middle, set_up, tear_down),
        cmocka_unit_test_setup_teardown(edits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(overrides, set_up, tear_down),
        cmocka_unit_test_setup_teardown(two_clients, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
