/* The modern era, and finding out which one it is. */
#include "mcp/client_script.h"

#include <sys/un.h>

#define KEY "io.modelcontextprotocol~1"
#define CAPABILITIES                                                                       \
    "{\"tools\":{\"listChanged\":true},\"prompts\":{},\"resources\":{\"subscribe\":true}," \
    "\"logging\":{}}"
#define COMPLETE "{\"content\":[],\"resultType\":\"complete\"}"

static dx_mcp_client_config modern(script *s) {
    dx_mcp_client_config config = script_config(s);
    config.mode = DX_MCP_MODERN;
    config.roots = 1;
    config.on_sampling = script_sampling;
    config.on_elicitation = script_elicitation;
    config.on_changed = NULL;
    return config;
}

static void begin_with(script *s, dx_mcp_client_config *config) {
    script_open(s, config);
    script_result(s, script_hear(s, "server/discover"), DISCOVERED(CAPABILITIES));
    script_until(s, &s->ready, 1);
}

static void begin(script *s) {
    dx_mcp_client_config config = modern(s);
    begin_with(s, &config);
}

static dx_mcp_call call_tool(script *s, const dx_mcp_call_options *options) {
    dx_mcp_call call = 0;
    assert_int_equal(dx_mcp_client_tool(s->client, dx_str("t"), json("{\"a\":1}"), options,
                                        script_answer, s, &call),
                     DX_OK);
    return call;
}

static void test_discover(void **state) {
    (void)state;
    script s = {0};
    dx_mcp_client_config config = modern(&s);
    script_open(&s, &config);
    yyjson_doc *doc = script_hear(&s, "server/discover");
    assert_string_equal(text_at(doc, "/params/_meta/" KEY "protocolVersion"), "2026-07-28");
    assert_string_equal(text_at(doc, "/params/_meta/" KEY "clientInfo/name"), "test");
    assert_non_null(at(doc, "/params/_meta/" KEY "clientCapabilities/roots"));
    assert_null(at(doc, "/params/_meta/" KEY "clientCapabilities/roots/listChanged"));
    assert_non_null(at(doc, "/params/_meta/" KEY "clientCapabilities/elicitation/form"));
    assert_null(at(doc, "/params/_meta/" KEY "clientCapabilities/tasks"));
    script_result(&s, doc, DISCOVERED(CAPABILITIES));
    script_until(&s, &s.ready, 1);
    script_silence(&s, 30); /* nothing is to be heard of changes */
    assert_string_equal(dx_mcp_client_revision(s.client), "2026-07-28");
    assert_int_equal(dx_mcp_client_is_modern(s.client), 1);
    assert_string_equal(yyjson_get_str(yyjson_obj_get(dx_mcp_client_server(s.client), "name")),
                        "server");
    assert_int_equal(dx_mcp_client_ping(s.client, NULL, NULL, NULL, NULL), DX_MISFIT); /* M8 */
    assert_int_equal(dx_mcp_client_offers(s.client, dx_str("ping")), 0);
    assert_int_equal(dx_mcp_client_add_root(s.client, dx_str("file:///a"), dx_str(NULL)), DX_OK);
    script_silence(&s, 20);
    script_end(&s);
}

static void test_every_request_says_it(void **state) {
    (void)state;
    script s = {0};
    begin(&s);
    (void)call_tool(&s, NULL);
    yyjson_doc *doc = script_hear(&s, "tools/call");
    assert_string_equal(text_at(doc, "/params/_meta/" KEY "protocolVersion"), "2026-07-28");
    assert_non_null(at(doc, "/params/_meta/" KEY "clientCapabilities"));
    assert_null(at(doc, "/params/_meta/" KEY "logLevel")); /* M7 */
    assert_null(at(doc, "/params/_meta/progressToken"));
    assert_int_equal(yyjson_get_int(at(doc, "/params/arguments/a")), 1);
    script_result(&s, doc, COMPLETE);
    script_until(&s, &s.answers, 1);
    assert_int_equal(s.outcome, DX_OUTCOME_RESULT);

    dx_mcp_call_options options = {.log_level = DX_MCP_INFO, .on_progress = script_progress};
    (void)call_tool(&s, &options);
    doc = script_hear(&s, "tools/call");
    assert_string_equal(text_at(doc, "/params/_meta/" KEY "logLevel"), "info");
    assert_non_null(at(doc, "/params/_meta/progressToken"));
    yyjson_doc_free(doc);

    assert_int_equal(dx_mcp_client_log(s.client, DX_MCP_ALERT, script_answer, &s, NULL), DX_OK);
    assert_int_equal(s.answers, 1);
    script_until(&s, &s.answers, 2);
    assert_int_equal(s.outcome, DX_OUTCOME_RESULT);
    assert_int_equal(dx_mcp_client_list(s.client, DX_MCP_TOOLS, NULL, script_answer, &s, NULL),
                     DX_OK);
    doc = script_hear(&s, "tools/list");
    assert_string_equal(text_at(doc, "/params/_meta/" KEY "logLevel"), "alert");
    script_result(&s, doc,
                  "{\"tools\":[],\"nextCursor\":\"1\",\"resultType\":\"complete\",\"ttlMs\":0,"
                  "\"cacheScope\":\"public\"}");
    doc = script_hear(&s, "tools/list");
    assert_string_equal(text_at(doc, "/params/cursor"), "1");
    assert_string_equal(text_at(doc, "/params/_meta/" KEY "protocolVersion"), "2026-07-28");
    script_result(&s, doc,
                  "{\"tools\":[],\"resultType\":\"complete\",\"ttlMs\":0,"
                  "\"cacheScope\":\"public\"}");
    script_until(&s, &s.answers, 3);
    assert_string_equal(s.body, "{\"tools\":[],\"resultType\":\"complete\",\"ttlMs\":0,"
                                "\"cacheScope\":\"public\"}");
    script_end(&s);
}

static void test_other_result_types(void **state) {
    (void)state;
    script s = {0};
    begin(&s);
    (void)call_tool(&s, NULL);
    script_result(&s, script_hear(&s, "tools/call"), "{\"content\":[],\"resultType\":\"odd\"}");
    script_until(&s, &s.answers, 1);
    assert_int_equal(s.outcome, DX_OUTCOME_INVALID);
    (void)call_tool(&s, NULL);
    script_result(&s, script_hear(&s, "tools/call"), "{\"content\":[]}"); /* M23 */
    script_until(&s, &s.answers, 2);
    assert_int_equal(s.outcome, DX_OUTCOME_INVALID);
    assert_int_equal(
        dx_mcp_client_page(s.client, DX_MCP_TOOLS, dx_str(NULL), NULL, script_answer, &s, NULL),
        DX_OK);
    script_result(&s, script_hear(&s, "tools/list"),
                  "{\"tools\":[],\"resultType\":\"input_required\",\"ttlMs\":0,"
                  "\"cacheScope\":\"public\"}");
    script_until(&s, &s.answers, 3);
    assert_int_equal(s.outcome, DX_OUTCOME_INVALID);
    (void)call_tool(&s, NULL);
    script_result(&s, script_hear(&s, "tools/call"), "{\"resultType\":\"input_required\"}");
    script_until(&s, &s.answers, 4);
    assert_int_equal(s.outcome, DX_OUTCOME_INVALID);
    assert_int_equal(dx_mcp_client_pending(s.client), 0);
    script_end(&s);
}

/* Rounds of input. */

#define ELICIT                                                                                     \
    "{\"method\":\"elicitation/create\",\"params\":{\"message\":\"who\",\"requestedSchema\":{"     \
    "\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"},\"d\":{\"type\":\"string\"," \
    "\"default\":\"x\"}}}}}"
#define SAMPLE \
    "{\"method\":\"sampling/createMessage\",\"params\":{\"messages\":[],\"maxTokens\":5}}"
#define SAID \
    "{\"role\":\"assistant\",\"content\":{\"type\":\"text\",\"text\":\"hi\"},\"model\":\"m\"}"

static void test_M5_rounds(void **state) {
    (void)state;
    script s = {0};
    begin(&s);
    assert_int_equal(dx_mcp_client_add_root(s.client, dx_str("file:///a"), dx_str(NULL)), DX_OK);
    dx_mcp_call_options options = {.on_progress = script_progress};
    dx_mcp_call call = call_tool(&s, &options);
    yyjson_doc *doc = script_hear(&s, "tools/call");
    int first = yyjson_get_int(at(doc, "/id"));
    script_result(&s, doc,
                  "{\"resultType\":\"input_required\",\"requestState\":\"a\\u0000b \\\"c\","
                  "\"unknown\":1,\"inputRequests\":{\"who\":" ELICIT
                  ",\"where\":{\"method\":\"roots/list\"}}}");
    script_until(&s, &s.asked, 1);
    assert_int_equal(s.is_sampling, 0);
    assert_int_equal(dx_mcp_client_pending(s.client), 1);
    assert_int_equal(dx_mcp_question_answer(
                         s.question, json("{\"action\":\"accept\",\"content\":{\"n\":\"x\"}}")),
                     DX_MISFIT);
    script_silence(&s, 20);
    assert_int_equal(
        dx_mcp_question_answer(s.question, json("{\"action\":\"accept\",\"content\":{\"n\":1}}")),
        DX_OK);
    doc = script_hear(&s, "tools/call");
    assert_int_not_equal(yyjson_get_int(at(doc, "/id")), first);
    assert_string_equal(text_at(doc, "/params/name"), "t");
    assert_int_equal(yyjson_get_int(at(doc, "/params/arguments/a")), 1);
    yyjson_val *kept = at(doc, "/params/requestState");
    assert_int_equal(yyjson_get_len(kept), 6);
    assert_memory_equal(yyjson_get_str(kept), "a\0b \"c", 6);
    assert_int_equal(yyjson_get_int(at(doc, "/params/inputResponses/who/content/n")), 1);
    assert_string_equal(text_at(doc, "/params/inputResponses/who/content/d"), "x");
    assert_string_equal(text_at(doc, "/params/inputResponses/where/roots/0/uri"), "file:///a");
    assert_non_null(at(doc, "/params/_meta/progressToken"));
    /* The next one has other questions and no state. */
    script_result(&s, doc,
                  "{\"resultType\":\"input_required\",\"inputRequests\":{\"say\":" SAMPLE "}}");
    script_until(&s, &s.asked, 2);
    assert_int_equal(s.is_sampling, 1);
    assert_int_equal(dx_mcp_question_answer(s.question, json(SAID)), DX_OK);
    doc = script_hear(&s, "tools/call");
    assert_null(at(doc, "/params/requestState"));
    assert_null(at(doc, "/params/inputResponses/who"));
    assert_string_equal(text_at(doc, "/params/inputResponses/say/model"), "m");
    /* Only a state: nobody is asked. */
    script_result(&s, doc, "{\"resultType\":\"input_required\",\"requestState\":\"z\"}");
    doc = script_hear(&s, "tools/call");
    assert_string_equal(text_at(doc, "/params/requestState"), "z");
    assert_null(at(doc, "/params/inputResponses"));
    script_result(&s, doc, COMPLETE);
    script_until(&s, &s.answers, 1);
    assert_int_equal(s.outcome, DX_OUTCOME_RESULT);
    assert_true(s.call == call);
    assert_int_equal(s.gone, 0);
    script_end(&s);
}

static void test_rounds_max(void **state) {
    (void)state;
    script s = {0};
    dx_mcp_client_config config = modern(&s);
    config.rounds_max = 2;
    begin_with(&s, &config);
    (void)call_tool(&s, NULL);
    for (int i = 0; i < 3; i++)
        script_result(&s, script_hear(&s, "tools/call"),
                      "{\"resultType\":\"input_required\",\"requestState\":\"z\"}");
    script_until(&s, &s.answers, 1);
    assert_int_equal(s.outcome, DX_OUTCOME_INVALID);
    script_silence(&s, 20);
    script_end(&s);
}

static void test_a_round_is_refused(void **state) {
    (void)state;
    script s = {0};
    begin(&s);
    (void)call_tool(&s, NULL);
    script_result(&s, script_hear(&s, "tools/call"),
                  "{\"resultType\":\"input_required\",\"inputRequests\":{\"a\":" ELICIT "}}");
    script_until(&s, &s.asked, 1);
    assert_int_equal(dx_mcp_question_refuse(s.question, -1, dx_str("no")), DX_OK);
    yyjson_doc *doc = script_hear(&s, "tools/call");
    assert_string_equal(text_at(doc, "/params/inputResponses/a/action"), "cancel");
    script_result(&s, doc,
                  "{\"resultType\":\"input_required\",\"inputRequests\":{\"a\":" SAMPLE
                  ",\"b\":" ELICIT "}}");
    script_until(&s, &s.asked, 3);
    s.question = NULL;
    script_until(&s, &s.asked, 3);
    script_end(&s);

    script t = {0};
    begin(&t);
    (void)call_tool(&t, NULL);
    script_result(&t, script_hear(&t, "tools/call"),
                  "{\"resultType\":\"input_required\",\"inputRequests\":{\"b\":" ELICIT
                  ",\"a\":" SAMPLE "}}");
    script_until(&t, &t.asked, 2);
    assert_int_equal(t.is_sampling, 1);
    assert_int_equal(dx_mcp_question_refuse(t.question, -7, dx_str("no \"way\"")), DX_OK);
    script_until(&t, &t.answers, 1);
    assert_int_equal(t.outcome, DX_OUTCOME_ERROR);
    assert_int_equal(t.code, -7);
    assert_non_null(strstr(t.body, "no \\\"way\\\""));
    assert_int_equal(t.gone, 1); /* the other question */
    script_silence(&t, 20);
    script_end(&t);
}

static void test_what_is_not_offered(void **state) {
    (void)state;
    static const char *const wants[] = {"{\"method\":\"roots/list\"}", SAMPLE, ELICIT};
    for (size_t i = 0; i < 3; i++) {
        script s = {0};
        char result[1024];
        dx_mcp_client_config config = modern(&s);
        config.roots = 0;
        config.on_sampling = NULL;
        config.on_elicitation = NULL;
        begin_with(&s, &config);
        (void)call_tool(&s, NULL);
        snprintf(result, sizeof result,
                 "{\"resultType\":\"input_required\",\"inputRequests\":{\"a\":%s}}", wants[i]);
        script_result(&s, script_hear(&s, "tools/call"), result);
        script_until(&s, &s.answers, 1);
        assert_int_equal(s.outcome, DX_OUTCOME_INVALID);
        script_end(&s);
    }
}

static void test_too_many_questions(void **state) {
    (void)state;
    for (int count = 1000; count <= 1001; count++) {
        script s = {0};
        static char result[200000];
        begin(&s);
        (void)call_tool(&s, NULL);
        size_t len = (size_t)snprintf(result, sizeof result,
                                      "{\"resultType\":\"input_required\",\"inputRequests\":{");
        for (int i = 0; i < count; i++)
            len += (size_t)snprintf(result + len, sizeof result - len, "%s\"%d\":" SAMPLE,
                                    i ? "," : "", i);
        snprintf(result + len, sizeof result - len, "}}");
        script_result(&s, script_hear(&s, "tools/call"), result);
        if (count == 1000) {
            script_until(&s, &s.asked, count);
        } else {
            script_until(&s, &s.answers, 1);
            assert_int_equal(s.outcome, DX_OUTCOME_INVALID);
            assert_int_equal(s.asked, 0);
        }
        script_end(&s);
    }
}

static void test_cancelled_in_every_phase(void **state) {
    (void)state;
    for (int phase = 0; phase < 3; phase++) {
        script s = {0};
        begin(&s);
        dx_mcp_call call = call_tool(&s, NULL);
        yyjson_doc *doc = script_hear(&s, "tools/call");
        if (phase > 0) {
            script_result(&s, doc,
                          "{\"resultType\":\"input_required\",\"inputRequests\":{\"a\":" SAMPLE
                          "}}");
            doc = NULL;
            script_until(&s, &s.asked, 1);
        }
        if (phase > 1) {
            assert_int_equal(dx_mcp_question_answer(s.question, json(SAID)), DX_OK);
            doc = script_hear(&s, "tools/call");
        }
        assert_int_equal(dx_mcp_client_cancel(s.client, call, dx_str("enough")), DX_OK);
        assert_int_equal(s.answers, 0);
        assert_int_equal(s.gone, phase == 1);
        script_until(&s, &s.answers, 1);
        assert_int_equal(s.outcome, DX_OUTCOME_CANCELLED);
        assert_true(s.call == call);
        if (phase != 1) {
            yyjson_doc *told = script_hear(&s, "notifications/cancelled");
            assert_int_equal(yyjson_get_int(at(told, "/params/requestId")),
                             yyjson_get_int(at(doc, "/id")));
            yyjson_doc_free(told);
        }
        script_silence(&s, 20);
        yyjson_doc_free(doc);
        script_end(&s);
    }
}

static void test_total_while_it_is_asked(void **state) {
    (void)state;
    script s = {0};
    begin(&s);
    dx_mcp_call_options options = {.total_ms = 500};
    (void)call_tool(&s, &options);
    script_result(&s, script_hear(&s, "tools/call"),
                  "{\"resultType\":\"input_required\",\"inputRequests\":{\"a\":" SAMPLE "}}");
    script_until(&s, &s.answers, 1);
    assert_int_equal(s.outcome, DX_OUTCOME_TIMED_OUT);
    assert_int_equal(s.gone, 1);
    script_end(&s);
}

static void test_closed_while_it_is_asked(void **state) {
    (void)state;
    script s = {0};
    begin(&s);
    (void)call_tool(&s, NULL);
    script_result(&s, script_hear(&s, "tools/call"),
                  "{\"resultType\":\"input_required\",\"inputRequests\":{\"a\":" SAMPLE
                  ",\"b\":" ELICIT "}}");
    script_until(&s, &s.asked, 2);
    dx_mcp_client_close(s.client);
    script_until(&s, &s.closed, 1);
    assert_int_equal(s.gone, 2);
    assert_string_equal(s.notes, "rqqggaz");
    script_end(&s);

    script t = {0};
    begin(&t);
    (void)call_tool(&t, NULL);
    script_result(&t, script_hear(&t, "tools/call"),
                  "{\"resultType\":\"input_required\",\"inputRequests\":{\"a\":" SAMPLE "}}");
    script_until(&t, &t.asked, 1);
    shutdown(t.fd, SHUT_WR);
    script_until(&t, &t.closed, 1);
    assert_int_equal(t.answers, 1);
    assert_int_equal(t.outcome, DX_OUTCOME_LOST);
    assert_int_equal(t.gone, 1);
    script_end(&t);
}

static void cancel_in_question(dx_mcp_client *client, dx_mcp_question *question, yyjson_val *params,
                               void *user) {
    script *s = user;
    (void)question;
    (void)params;
    s->asked++;
    (void)dx_mcp_client_cancel_all(client, dx_str("x"), NULL, 0, NULL);
}

static void free_in_question(dx_mcp_client *client, dx_mcp_question *question, yyjson_val *params,
                             void *user) {
    script *s = user;
    (void)question;
    (void)params;
    s->asked++;
    s->client = dx_mcp_client_free(client);
}

static void cancel_in_gone(dx_mcp_client *client, dx_mcp_question *question, void *user) {
    script *s = user;
    s->gone++;
    assert_int_equal(dx_mcp_question_answer(question, json(SAID)), DX_GONE);
    (void)dx_mcp_client_cancel_all(client, dx_str("x"), NULL, 0, NULL);
}

/* What is done when a question goes does not make it go twice. */
static void test_cancelled_when_it_goes(void **state) {
    (void)state;
    script s = {0};
    dx_mcp_client_config config = modern(&s);
    config.on_question_gone = cancel_in_gone;
    begin_with(&s, &config);
    dx_mcp_call_options options = {.total_ms = 500};
    for (int i = 0; i < 2; i++) {
        (void)call_tool(&s, &options);
        script_result(&s, script_hear(&s, "tools/call"),
                      "{\"resultType\":\"input_required\",\"inputRequests\":{\"a\":" SAMPLE
                      ",\"b\":" SAMPLE "}}");
    }
    script_until(&s, &s.asked, 4);
    script_until(&s, &s.answers, 2);
    script_for(&s, 100);
    assert_int_equal(s.answers, 2);
    assert_int_equal(s.gone, 4);
    script_end(&s);
}

static void test_ended_in_a_question(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        script s = {0};
        dx_mcp_client_config config = modern(&s);
        config.on_sampling = i ? cancel_in_question : free_in_question;
        begin_with(&s, &config);
        (void)call_tool(&s, NULL);
        script_result(&s, script_hear(&s, "tools/call"),
                      "{\"resultType\":\"input_required\",\"inputRequests\":{\"a\":" SAMPLE
                      ",\"b\":" SAMPLE "}}");
        script_until(&s, &s.asked, 1);
        script_for(&s, 30);
        assert_int_equal(s.asked, 1);
        assert_int_equal(s.answers, i);
        script_end(&s);
    }
}

/* Subscriptions. */

static void tell(script *s, yyjson_doc *listen, const char *method, const char *more) {
    char line[512];
    char *id = yyjson_val_write(at(listen, "/id"), 0, NULL);
    snprintf(line, sizeof line,
             "{\"jsonrpc\":\"2.0\",\"method\":\"%s\",\"params\":{%s\"_meta\":{"
             "\"io.modelcontextprotocol/subscriptionId\":%s}}}",
             method, more, id);
    free(id);
    script_say(s, line);
}

static void acknowledge(script *s, yyjson_doc *listen) {
    tell(s, listen, "notifications/subscriptions/acknowledged", "\"notifications\":{},");
}

static void test_M6_listen(void **state) {
    (void)state;
    script s = {0};
    dx_mcp_client_config config = modern(&s);
    config.on_changed = script_changed;
    begin_with(&s, &config);
    yyjson_doc *one = script_hear(&s, "subscriptions/listen");
    assert_true(yyjson_get_bool(at(one, "/params/notifications/toolsListChanged")));
    assert_null(at(one, "/params/notifications/promptsListChanged"));
    assert_null(at(one, "/params/notifications/resourceSubscriptions"));
    acknowledge(&s, one);
    tell(&s, one, "notifications/tools/list_changed", "");
    script_until(&s, &s.changed, 1);

    assert_int_equal(
        dx_mcp_client_subscribe(s.client, dx_str("file:///x"), script_answer, &s, NULL), DX_OK);
    yyjson_doc *two = script_hear(&s, "subscriptions/listen");
    assert_string_equal(text_at(two, "/params/notifications/resourceSubscriptions/0"), "file:///x");
    assert_true(yyjson_get_bool(at(two, "/params/notifications/toolsListChanged")));
    script_silence(&s, 20); /* the old one holds until the new one does */
    tell(&s, one, "notifications/tools/list_changed", "");
    script_until(&s, &s.changed, 2);
    assert_int_equal(s.answers, 0);
    acknowledge(&s, two);
    script_until(&s, &s.answers, 1);
    assert_int_equal(s.outcome, DX_OUTCOME_RESULT);
    yyjson_doc *told = script_hear(&s, "notifications/cancelled");
    assert_int_equal(yyjson_get_int(at(told, "/params/requestId")), yyjson_get_int(at(one, "/id")));
    yyjson_doc_free(told);
    tell(&s, two, "notifications/resources/updated", "\"uri\":\"file:///x\",");
    script_until(&s, &s.updated, 1);
    assert_string_equal(s.text, "file:///x");
    tell(&s, one, "notifications/resources/updated", "\"uri\":\"file:///y\",");
    script_for(&s, 30);
    assert_int_equal(s.updated, 1); /* that one is over */

    assert_int_equal(
        dx_mcp_client_unsubscribe(s.client, dx_str("file:///x"), script_answer, &s, NULL), DX_OK);
    yyjson_doc *three = script_hear(&s, "subscriptions/listen");
    assert_null(at(three, "/params/notifications/resourceSubscriptions"));
    script_error(&s, three, "{\"code\":-32603,\"message\":\"m\"}");
    script_until(&s, &s.answers, 2);
    assert_int_equal(s.outcome, DX_OUTCOME_ERROR);
    /* The end of one by the server. */
    char *id = yyjson_val_write(at(two, "/id"), 0, NULL);
    char result[200];
    snprintf(result, sizeof result,
             "{\"resultType\":\"complete\",\"_meta\":{"
             "\"io.modelcontextprotocol/subscriptionId\":%s}}",
             id);
    free(id);
    script_result(&s, two, result);
    script_for(&s, 30);
    assert_int_equal(s.answers, 2);
    yyjson_doc_free(one);
    script_end(&s);
}

static void test_the_last_subscription(void **state) {
    (void)state;
    script s = {0};
    begin(&s);
    assert_int_equal(
        dx_mcp_client_subscribe(s.client, dx_str("file:///x"), script_answer, &s, NULL), DX_OK);
    yyjson_doc *one = script_hear(&s, "subscriptions/listen");
    acknowledge(&s, one);
    script_until(&s, &s.answers, 1);
    assert_int_equal(
        dx_mcp_client_unsubscribe(s.client, dx_str("file:///x"), script_answer, &s, NULL), DX_OK);
    yyjson_doc *told = script_hear(&s, "notifications/cancelled");
    assert_int_equal(yyjson_get_int(at(told, "/params/requestId")), yyjson_get_int(at(one, "/id")));
    yyjson_doc_free(told);
    yyjson_doc_free(one);
    script_until(&s, &s.answers, 2);
    assert_int_equal(s.outcome, DX_OUTCOME_RESULT);
    /* A subscription that is cancelled before it is acknowledged ends once. */
    dx_mcp_call call = 0;
    assert_int_equal(
        dx_mcp_client_subscribe(s.client, dx_str("file:///x"), script_answer, &s, &call), DX_OK);
    one = script_hear(&s, "subscriptions/listen");
    assert_int_equal(dx_mcp_client_cancel(s.client, call, dx_str(NULL)), DX_OK);
    script_until(&s, &s.answers, 3);
    assert_int_equal(s.outcome, DX_OUTCOME_CANCELLED);
    told = script_hear(&s, "notifications/cancelled");
    assert_int_equal(yyjson_get_int(at(told, "/params/requestId")), yyjson_get_int(at(one, "/id")));
    yyjson_doc_free(told);
    acknowledge(&s, one);
    tell(&s, one, "notifications/resources/updated", "\"uri\":\"file:///x\",");
    yyjson_doc_free(one);
    script_for(&s, 20);
    assert_int_equal(s.answers, 3);
    assert_int_equal(s.updated, 0);
    assert_int_equal(
        dx_mcp_client_subscribe(s.client, dx_str("file:///y"), script_answer, &s, NULL), DX_OK);
    one = script_hear(&s, "subscriptions/listen");
    assert_int_equal(yyjson_arr_size(at(one, "/params/notifications/resourceSubscriptions")), 1);
    yyjson_doc_free(one);
    script_end(&s);
}

static void test_never_acknowledged(void **state) {
    (void)state;
    script s = {0};
    dx_mcp_client_config config = modern(&s);
    config.timeout_ms = 80;
    begin_with(&s, &config);
    assert_int_equal(
        dx_mcp_client_subscribe(s.client, dx_str("file:///x"), script_answer, &s, NULL), DX_OK);
    script_skip(&s, "subscriptions/listen");
    script_until(&s, &s.answers, 1);
    assert_int_equal(s.outcome, DX_OUTCOME_TIMED_OUT);
    script_skip(&s, "notifications/cancelled");
    script_for(&s, 20);
    assert_int_equal(s.answers, 1);
    script_end(&s);
}

/* Which era. */

static void test_M4_unsupported(void **state) {
    (void)state;
    script s = {0};
    dx_mcp_client_config config = modern(&s);
    script_open(&s, &config);
    script_error(&s, script_hear(&s, "server/discover"),
                 "{\"code\":-32022,\"message\":\"m\",\"data\":{\"supported\":[\"2026-07-28\"],"
                 "\"requested\":\"x\"}}");
    script_result(&s, script_hear(&s, "server/discover"), DISCOVERED("{}"));
    script_until(&s, &s.ready, 1);
    script_end(&s);
    script t = {0};
    config = modern(&t);
    script_open(&t, &config);
    script_error(&t, script_hear(&t, "server/discover"),
                 "{\"code\":-32022,\"message\":\"m\",\"data\":{\"supported\":[\"2099-01-01\"],"
                 "\"requested\":\"x\"}}");
    script_until(&t, &t.closed, 1);
    assert_int_equal(t.end.no_revision, 1);
    script_end(&t);
    script u = {0};
    config = modern(&u);
    script_open(&u, &config);
    script_result(&u, script_hear(&u, "server/discover"),
                  "{\"supportedVersions\":[\"2099-01-01\"],\"capabilities\":{},\"resultType\":"
                  "\"complete\",\"ttlMs\":0,\"cacheScope\":\"private\"}");
    script_until(&u, &u.closed, 1);
    assert_int_equal(u.end.no_revision, 1);
    assert_non_null(strstr(u.end.error.phrase, "2099-01-01"));
    script_end(&u);
}

/* With descriptors, one conversation has to do. */
static void test_M4_auto_on_the_spot(void **state) {
    (void)state;
    static const char *const answers[] = {
        "{\"code\":-32601,\"message\":\"m\"}", "{\"code\":-32602,\"message\":\"m\"}",
        "{\"code\":-32022,\"message\":\"m\",\"data\":{\"supported\":[\"2025-06-18\"]}}", NULL};
    for (size_t i = 0; i < 4; i++) {
        script s = {0};
        dx_mcp_client_config config = script_config(&s);
        config.mode = DX_MCP_AUTO;
        config.probe_ms = 500;
        script_open(&s, &config);
        yyjson_doc *doc = script_hear(&s, "server/discover");
        if (answers[i])
            script_error(&s, doc, answers[i]);
        else
            yyjson_doc_free(doc); /* silence */
        doc = script_hear(&s, "initialize");
        assert_string_equal(text_at(doc, "/params/protocolVersion"),
                            i == 2 ? "2025-06-18" : "2025-11-25");
        script_result(&s, doc,
                      "{\"protocolVersion\":\"2025-03-26\",\"capabilities\":{},"
                      "\"serverInfo\":{\"name\":\"server\",\"version\":\"2\"}}");
        script_skip(&s, "notifications/initialized");
        script_until(&s, &s.ready, 1);
        assert_string_equal(dx_mcp_client_revision(s.client), "2025-03-26");
        assert_int_equal(dx_mcp_client_ping(s.client, NULL, script_answer, &s, NULL), DX_OK);
        script_result(&s, script_hear(&s, "ping"), "{}");
        script_until(&s, &s.answers, 1);
        script_end(&s);
    }
    script s = {0};
    dx_mcp_client_config config = script_config(&s);
    config.mode = DX_MCP_AUTO;
    config.on_changed = NULL;
    script_open(&s, &config);
    script_result(&s, script_hear(&s, "server/discover"), DISCOVERED(CAPABILITIES));
    script_until(&s, &s.ready, 1);
    assert_int_equal(dx_mcp_client_is_modern(s.client), 1);
    assert_int_equal(dx_mcp_client_list(s.client, DX_MCP_TOOLS, NULL, script_answer, &s, NULL),
                     DX_OK);
    script_skip(&s, "tools/list");
    script_end(&s);
}

/* A program that behaves as `kind` says when it is asked for its era, and speaks what follows. */
static const char program[] =
    "import sys, json\n"
    "kind = sys.argv[1]\n"
    "def say(o):\n"
    "    sys.stdout.write(json.dumps(o) + '\\n'); sys.stdout.flush()\n"
    "for line in sys.stdin:\n"
    "    m = json.loads(line)\n"
    "    answer = {'jsonrpc': '2.0', 'id': m.get('id')}\n"
    "    if m.get('method') == 'server/discover':\n"
    "        if kind == 'modern':\n"
    "            say({**answer, 'result': {'supportedVersions': ['2026-07-28'],\n"
    "                 'capabilities': {}, 'resultType': 'complete', 'ttlMs': 0,\n"
    "                 'cacheScope': 'private'}})\n"
    "        elif kind == 'nonsense':\n"
    "            say({**answer, 'result': {'hello': 1}})\n"
    "        elif kind == 'exit':\n"
    "            sys.exit(1)\n"
    "        elif kind != 'silent':\n"
    "            say({**answer, 'error': {'code': int(kind), 'message': 'm'}})\n"
    "    elif m.get('method') == 'initialize':\n"
    "        say({**answer, 'result': {'protocolVersion': '2025-11-25', 'capabilities': {},\n"
    "             'serverInfo': {'name': 's', 'version': '1'}}})\n";

static void test_M4_auto(void **state) {
    (void)state;
    static const char *const kinds[] = {"modern", "-32601", "-32602", "silent", "exit", "nonsense"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        script s = {.fd = -1};
        const char *argv[] = {"python3", "-c", program, kinds[i], NULL};
        dx_error error = {0};
        dx_mcp_client_config config = script_config(&s);
        config.mode = DX_MCP_AUTO;
        config.argv = argv;
        config.probe_ms = strcmp(kinds[i], "silent") == 0 ? 500 : 10000;
        assert_int_equal(dx_loop_new(NULL, &s.loop, &error), DX_OK);
        assert_int_equal(dx_mcp_client_open(s.loop, &config, &s.client, &error), DX_OK);
        script_until(&s, &s.ready, 1);
        assert_int_equal(dx_mcp_client_is_modern(s.client), i == 0);
        dx_mcp_client_close(s.client);
        script_until(&s, &s.closed, 1);
        assert_int_equal(s.end.by_us, 1);
        assert_int_equal(s.had_gone, 1);
        script_end(&s);
    }
}

/* The copy of a server that is connected to is one more connection. */
static void test_M4_auto_by_address(void **state) {
    (void)state;
    for (int is_modern = 0; is_modern < 2; is_modern++) {
        script s = {0};
        char address[sizeof((struct sockaddr_un *)0)->sun_path + 8];
        dx_error error = {0};
        struct sockaddr_un name = {.sun_family = AF_UNIX};
        snprintf(name.sun_path, sizeof name.sun_path, "/tmp/client_modern.%d", (int)getpid());
        snprintf(address, sizeof address, "unix:%s", name.sun_path);
        unlink(name.sun_path);
        int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        assert_int_equal(bind(listener, (struct sockaddr *)&name, sizeof name), 0);
        assert_int_equal(listen(listener, 4), 0);
        dx_mcp_client_config config = script_config(&s);
        config.mode = DX_MCP_AUTO;
        config.address = address;
        config.on_changed = NULL;
        assert_int_equal(dx_loop_new(NULL, &s.loop, &error), DX_OK);
        assert_int_equal(dx_mcp_client_open(s.loop, &config, &s.client, &error), DX_OK);
        s.fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        assert_true(s.fd >= 0);
        yyjson_doc *doc = script_hear(&s, "server/discover");
        if (is_modern)
            script_result(&s, doc, DISCOVERED("{}"));
        else
            script_error(&s, doc, "{\"code\":-32601,\"message\":\"m\"}");
        for (int i = 0; i < 100 && !s.said_end; i++)
            script_turn(&s, 20);
        assert_int_equal(s.said_end, 1);
        close(s.fd);
        s.said_end = 0;
        s.fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        assert_true(s.fd >= 0);
        if (is_modern) {
            script_result(&s, script_hear(&s, "server/discover"), DISCOVERED("{}"));
            script_until(&s, &s.ready, 1);
        } else {
            script_greet(&s, "2025-11-25", "{}");
        }
        assert_int_equal(dx_mcp_client_is_modern(s.client), is_modern);
        close(listener);
        unlink(name.sun_path);
        script_end(&s);
    }
}

static void test_closed_while_it_probes(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        script s = {.fd = -1};
        const char *argv[] = {"python3", "-c", program, "silent", NULL};
        dx_error error = {0};
        dx_mcp_client_config config = script_config(&s);
        config.mode = DX_MCP_AUTO;
        config.argv = argv;
        assert_int_equal(dx_loop_new(NULL, &s.loop, &error), DX_OK);
        assert_int_equal(dx_mcp_client_open(s.loop, &config, &s.client, &error), DX_OK);
        script_for(&s, 50);
        if (i == 0) {
            dx_mcp_client_close(s.client);
            assert_int_equal(s.closed, 0);
            script_until(&s, &s.closed, 1);
            assert_int_equal(s.end.by_us, 1);
        }
        script_end(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_discover),
        cmocka_unit_test(test_every_request_says_it),
        cmocka_unit_test(test_other_result_types),
        cmocka_unit_test(test_M5_rounds),
        cmocka_unit_test(test_rounds_max),
        cmocka_unit_test(test_a_round_is_refused),
        cmocka_unit_test(test_what_is_not_offered),
        cmocka_unit_test(test_too_many_questions),
        cmocka_unit_test(test_cancelled_in_every_phase),
        cmocka_unit_test(test_total_while_it_is_asked),
        cmocka_unit_test(test_closed_while_it_is_asked),
        cmocka_unit_test(test_cancelled_when_it_goes),
        cmocka_unit_test(test_ended_in_a_question),
        cmocka_unit_test(test_M6_listen),
        cmocka_unit_test(test_the_last_subscription),
        cmocka_unit_test(test_never_acknowledged),
        cmocka_unit_test(test_M4_unsupported),
        cmocka_unit_test(test_M4_auto_on_the_spot),
        cmocka_unit_test(test_M4_auto),
        cmocka_unit_test(test_M4_auto_by_address),
        cmocka_unit_test(test_closed_while_it_probes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
