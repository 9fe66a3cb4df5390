/* A server and a user who do anything at any time: every call that was accepted ends once, and
 * every question that was asked is answered or goes. */
#include "mcp/client_script.h"

enum { CALLS = 400, REQUESTS = 400, QUESTIONS = 64, STEPS = 250 };

typedef struct game {
    script s;
    unsigned seed;
    int is_modern;
    dx_mcp_call calls[CALLS];
    int ended[CALLS];
    int accepted, answered;
    char *ids[REQUESTS]; /* requests of the client without an answer */
    size_t requests;
    dx_mcp_question *questions[QUESTIONS];
    int asked, settled;
    int next_id;
} game;

static unsigned pick(game *g, unsigned below) {
    g->seed = g->seed * 1664525u + 1013904223u;
    return (g->seed >> 10) % below;
}

static void on_answer(dx_mcp_client *client, dx_mcp_call call, const dx_event *event, void *user) {
    int *ended = user;
    game *g = dx_mcp_client_user(client);
    (void)call;
    assert_true(event->outcome >= DX_OUTCOME_RESULT && event->outcome <= DX_OUTCOME_INVALID);
    (*ended)++;
    g->answered++;
}

static void on_question(dx_mcp_client *client, dx_mcp_question *question, yyjson_val *params,
                        void *user) {
    game *g = user;
    (void)client;
    (void)params;
    g->asked++;
    for (size_t i = 0; i < QUESTIONS; i++)
        if (!g->questions[i]) {
            g->questions[i] = question;
            return;
        }
    assert_int_equal(dx_mcp_question_refuse(question, -1, dx_str(NULL)), DX_OK);
    g->settled++;
}

static void on_gone(dx_mcp_client *client, dx_mcp_question *question, void *user) {
    game *g = user;
    (void)client;
    for (size_t i = 0; i < QUESTIONS; i++)
        if (g->questions[i] == question) {
            g->questions[i] = NULL;
            g->settled++;
            return;
        }
    fail(); /* it went twice, or nobody was asked */
}

static void on_ready(dx_mcp_client *client, void *user) {
    game *g = user;
    (void)client;
    g->s.ready++;
}

static void on_closed(dx_mcp_client *client, const dx_mcp_end *end, void *user) {
    game *g = user;
    (void)client;
    (void)end;
    g->s.closed++;
}

/* The user. */

static void call_something(game *g) {
    dx_mcp_call_options options = {.timeout_ms = pick(g, 4) ? 0 : 1 + pick(g, 30),
                                   .total_ms = pick(g, 4) ? 0 : 1 + pick(g, 60),
                                   .reset = (int)pick(g, 2)};
    dx_text uri = dx_str(pick(g, 2) ? "file:///a" : "file:///b");
    dx_mcp_call *call = &g->calls[g->accepted];
    int *ended = &g->ended[g->accepted];
    dx_status status = DX_OK;
    if (g->accepted == CALLS)
        return;
    switch (pick(g, 6)) {
    case 0:
        status = dx_mcp_client_list(g->s.client, DX_MCP_TOOLS, &options, on_answer, ended, call);
        break;
    case 1:
        status = dx_mcp_client_task(g->s.client, dx_str("t"), json("{}"), 0, &options, on_answer,
                                    ended, call);
        break;
    case 2:
        status = dx_mcp_client_subscribe(g->s.client, uri, on_answer, ended, call);
        break;
    case 3:
        status = dx_mcp_client_unsubscribe(g->s.client, uri, on_answer, ended, call);
        break;
    default:
        status = dx_mcp_client_tool(g->s.client, dx_str("t"), json("{\"a\":1}"), &options,
                                    on_answer, ended, call);
        break;
    }
    assert_true(status == DX_OK || status == DX_MISFIT || status == DX_CLOSED);
    g->accepted += status == DX_OK;
}

static void answer_something(game *g) {
    static const char *const answers[] = {
        "{\"role\":\"assistant\",\"content\":{\"type\":\"text\",\"text\":\"hi\"},\"model\":\"m\"}",
        "{\"action\":\"decline\"}", "{\"action\":\"accept\"}", "{}"};
    size_t at_place = pick(g, QUESTIONS);
    dx_mcp_question *question = g->questions[at_place];
    if (!question)
        return;
    g->questions[at_place] = NULL;
    dx_status status = pick(g, 5) ? dx_mcp_question_answer(question, json(answers[pick(g, 4)]))
                                  : dx_mcp_question_refuse(question, -5, dx_str("no"));
    if (status == DX_OK)
        g->settled++;
    else
        g->questions[at_place] = question;
}

static void act(game *g) {
    switch (pick(g, 8)) {
    case 0:
        if (g->accepted)
            (void)dx_mcp_client_cancel(g->s.client, g->calls[pick(g, (unsigned)g->accepted)],
                                       dx_str(NULL));
        break;
    case 1:
        if (pick(g, 20) == 0)
            (void)dx_mcp_client_cancel_all(g->s.client, dx_str("x"), NULL, 0, NULL);
        break;
    case 2:
        (void)dx_mcp_client_add_root(g->s.client, dx_str("file:///r"), dx_str("r"));
        dx_mcp_client_clear_roots(g->s.client);
        break;
    case 3:
    case 4:
        answer_something(g);
        break;
    default:
        call_something(g);
        break;
    }
}

/* The server. */

static void hear(game *g) {
    yyjson_doc *doc = script_hear_within(&g->s, 0);
    if (doc && at(doc, "/id") && strcmp(method_of(doc), "(none)") != 0 && g->requests < REQUESTS)
        g->ids[g->requests++] = yyjson_val_write(at(doc, "/id"), 0, NULL);
    yyjson_doc_free(doc);
}

static void reply(game *g) {
#define TASK(status)                                                                          \
    "\"taskId\":\"T\",\"status\":\"" status "\",\"createdAt\":\"c\",\"lastUpdatedAt\":\"u\"," \
    "\"ttl\":null,\"pollInterval\":1"
#define ASKS                                                                                       \
    "{\"x\":{\"method\":\"sampling/createMessage\",\"params\":{\"messages\":[],\"maxTokens\":1}}," \
    "\"y\":{\"method\":\"elicitation/create\",\"params\":{\"message\":\"m\",\"requestedSchema\":{" \
    "\"type\":\"object\",\"properties\":{}}}},\"z\":{\"method\":\"roots/list\"}}"
    static const char *const answers[] = {
        "\"result\":{\"content\":[],\"tools\":[],\"resultType\":\"complete\",\"ttlMs\":0,"
        "\"cacheScope\":\"public\"}",
        "\"result\":{\"content\":[],\"tools\":[],\"nextCursor\":\"1\",\"resultType\":\"complete\","
        "\"ttlMs\":0,\"cacheScope\":\"public\"}",
        "\"result\":{\"content\":[],\"tools\":[],\"resultType\":\"complete\",\"ttlMs\":0,"
        "\"cacheScope\":\"public\"}",
        "\"result\":{\"resultType\":\"input_required\",\"requestState\":\"s\","
        "\"inputRequests\":" ASKS "}",
        "\"result\":{\"resultType\":\"input_required\",\"inputRequests\":" ASKS "}",
        "\"result\":{\"task\":{" TASK("working") "}}",
        "\"result\":{" TASK("working") ",\"content\":[]}",
        "\"result\":{" TASK("completed") ",\"content\":[]}",
        "\"error\":{\"code\":-32603,\"message\":\"m\"}",
        "\"result\":7",
    };
    char line[1024];
    if (!g->requests)
        return;
    size_t which = pick(g, (unsigned)g->requests);
    char *id = g->ids[which];
    snprintf(line, sizeof line, "{\"jsonrpc\":\"2.0\",\"id\":%s,%s}", id,
             answers[pick(g, sizeof answers / sizeof *answers)]);
    script_say(&g->s, line);
    if (pick(g, 10) == 0)
        script_say(&g->s, line);
    free(id);
    g->ids[which] = g->ids[--g->requests];
}

static void tell(game *g) {
    static const char *const lines[] = {
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
        "progress\",\"params\":{\"progressToken\":1,"
        "\"progress\":1}}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tasks/status\",\"params\":{" TASK(
            "completed") "}}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
        "cancelled\",\"params\":{\"requestId\":%d}}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/acknowledged\",\"params\":{"
        "\"notifications\":{},\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":%d}}}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/resources/updated\",\"params\":{\"uri\":"
        "\"file:///a\",\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":%d}}}",
        "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"sampling/createMessage\",\"params\":{"
        "\"messages\":[],\"maxTokens\":1}}",
        "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"sampling/createMessage\",\"params\":{"
        "\"messages\":[],\"maxTokens\":1,\"task\":{\"ttl\":30}}}",
        "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"elicitation/create\",\"params\":{\"message\":"
        "\"m\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{}}}}",
        "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tasks/list\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"roots/list\"}",
        "garbage %d",
    };
    char line[512];
    const char *form = lines[pick(g, sizeof lines / sizeof *lines)];
    const char *place = strstr(form, "%d");
    int number = (int)pick(g, 60);
    if (place && strstr(form, "\"id\":"))
        number = 1000 + g->next_id++;
    if (place)
        snprintf(line, sizeof line, "%.*s%d%s", (int)(place - form), form, number, place + 2);
    else
        snprintf(line, sizeof line, "%s", form);
    script_say(&g->s, line);
}

/* To the end, in one of several ways. */
static void finish(game *g) {
    unsigned way = pick(g, 4);
    if (way == 0) {
        g->s.client = dx_mcp_client_free(g->s.client);
        script_for(&g->s, 5);
        return;
    }
    if (way == 1)
        shutdown(g->s.fd, SHUT_RDWR);
    else
        dx_mcp_client_close(g->s.client);
    script_until(&g->s, &g->s.closed, 1);
    assert_int_equal(g->answered, g->accepted);
    for (int i = 0; i < g->accepted; i++)
        assert_int_equal(g->ended[i], 1);
    assert_int_equal(g->settled, g->asked);
    assert_int_equal(dx_mcp_client_pending(g->s.client), 0);
}

static void play(unsigned seed, int is_modern) {
    static game g;
    g = (game){.seed = seed * 2654435761u, .is_modern = is_modern};
    dx_mcp_client_config config = dx_mcp_client_defaults("test", "1");
    config.ids = DX_IDS_COUNTER;
    config.mode = is_modern ? DX_MCP_MODERN : DX_MCP_LEGACY;
    config.roots = 1;
    config.on_ready = on_ready;
    config.on_closed = on_closed;
    config.on_sampling = on_question;
    config.on_elicitation = on_question;
    config.on_question_gone = on_gone;
    config.timeout_ms = 40;
    config.rounds_max = 3;
    config.user = &g;
    script_open(&g.s, &config);
    if (is_modern)
        script_result(&g.s, script_hear(&g.s, "server/discover"), DISCOVERED(ALL_CAPABILITIES));
    else
        script_result(&g.s, script_hear(&g.s, "initialize"),
                      "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":" ALL_CAPABILITIES
                      ",\"serverInfo\":{\"name\":\"server\",\"version\":\"2\"}}");
    script_until(&g.s, &g.s.ready, 1);
    for (int i = 0; i < STEPS; i++) {
        for (unsigned turns = pick(&g, 3); turns; turns--)
            act(&g);
        hear(&g);
        if (pick(&g, 3))
            reply(&g);
        if (pick(&g, 4) == 0)
            tell(&g);
        if (pick(&g, 4) == 0)
            script_turn(&g.s, (int)pick(&g, 3));
    }
    finish(&g);
    for (size_t i = 0; i < g.requests; i++)
        free(g.ids[i]);
    script_end(&g.s);
}

static void test_legacy(void **state) {
    (void)state;
    for (unsigned seed = 1; seed <= 60; seed++)
        play(seed, 0);
}

static void test_modern(void **state) {
    (void)state;
    for (unsigned seed = 1; seed <= 60; seed++)
        play(seed, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_legacy),
        cmocka_unit_test(test_modern),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
