/* What a plugin says by itself: logs, and questions to the host. */
#include "reginald/plugin_talk.h"

static struct talk talk;
static int answers;
static dx_outcome outcome;
static char body[200];

static int begin(void **state) {
    (void)state;
    answers = 0;
    talk_new(&talk, NULL);
    talk_open(&talk);
    return 0;
}

static int end(void **state) {
    (void)state;
    talk_free(&talk);
    return 0;
}

static void log_it(int level, const char *text, const char *fields) {
    dx_reginald_plugin_log(talk.plugin, level, text,
                           fields ? dx_json_text(fields, strlen(fields)) : dx_json_none());
}

#define LOG(params) "{\"jsonrpc\":\"2.0\",\"method\":\"log\",\"params\":{" params "}}"

static void initialize(const char *enabled, const char *level) {
    char text[200];
    (void)snprintf(text, sizeof text,
                   "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"initialize\",\"params\":{"
                   "\"logging\":{\"enabled\":%s,\"level\":\"%s\"}}}",
                   enabled, level);
    talk_say(&talk, TALK_HANDSHAKE);
    talk_hear(&talk);
    talk_ask(&talk, text, TALK_GOOD("2"));
}

static void only_what_is_wanted(void **state) {
    (void)state;
    initialize("true", "warn-1");
    log_it(2, "not wanted", NULL);
    log_it(3, "wanted", NULL);
    log_it(DX_REGINALD_ERROR, "wanted, too", NULL);
    talk_expect(&talk, LOG("\"msg\":\"wanted\",\"level\":\"INFO+3\""));
    talk_expect(&talk, LOG("\"msg\":\"wanted, too\",\"level\":\"ERROR\""));
    talk_quiet(&talk);
}

static void nothing_if_nothing_is_wanted(void **state) {
    (void)state;
    initialize("false", "TRACE");
    log_it(DX_REGINALD_ERROR, "x", NULL);
    talk_quiet(&talk);
}

static void before_initialize(void **state) {
    (void)state;
    log_it(DX_REGINALD_ERROR, "before the handshake", NULL);
    talk_quiet(&talk);
    talk_say(&talk, TALK_HANDSHAKE);
    talk_hear(&talk);
    log_it(DX_REGINALD_DEBUG, "not wanted", NULL);
    log_it(DX_REGINALD_INFO, "after it", NULL);
    talk_expect(&talk, LOG("\"msg\":\"after it\",\"level\":\"INFO\""));
    talk_quiet(&talk);
}

static void a_level_that_is_none(void **state) {
    (void)state;
    talk_say(&talk, TALK_HANDSHAKE);
    talk_hear(&talk);
    talk_refused(&talk,
                 "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"initialize\",\"params\":{\"logging\":{"
                 "\"enabled\":true,\"level\":\"LOUD\"}}}",
                 "2", -32602, "");
    talk_refused(&talk,
                 "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"initialize\",\"params\":{\"logging\":{"
                 "\"enabled\":true,\"level\":\"INFO+99999999999999\"}}}",
                 "2", -32602, "unknown level");
    talk_ask(&talk, TALK_INITIALIZE, TALK_GOOD("2"));
}

static void fields_and_texts(void **state) {
    (void)state;
    initialize("true", "TRACE");
    log_it(-8, "é\n\"", " {\"a\":{\"b\":[1,null]}}");
    talk_expect(&talk, LOG("\"fields\": {\"a\":{\"b\":[1,null]}},\"msg\":\"é\\n\\\"\",\"level\":"
                           "\"TRACE\""));
    log_it(0, "no object", "[1]");
    talk_expect(&talk, LOG("\"msg\":\"no object\",\"level\":\"INFO\""));
    log_it(0, "no JSON", "{");
    talk_expect(&talk, LOG("\"msg\":\"no JSON\",\"level\":\"INFO\""));
    log_it(0, "a\xffz\xe2\x82", "{}");
    talk_expect(&talk, LOG("\"fields\":{},\"msg\":\"a\xef\xbf\xbdz\xef\xbf\xbd\xef\xbf\xbd\","
                           "\"level\":\"INFO\""));
    log_it(0, NULL, NULL);
    talk_expect(&talk, LOG("\"msg\":\"\",\"level\":\"INFO\""));
}

static void on_answer(dx_reginald_plugin *plugin, const dx_event *event, void *user) {
    (void)user;
    assert_true(!talk.plugin || plugin == talk.plugin);
    assert_int_equal(event->kind, DX_EVENT_DONE);
    answers++;
    outcome = event->outcome;
    (void)snprintf(body, sizeof body, "%.*s", (int)event->body.len,
                   event->body.at ? event->body.at : "");
}

static void wait_for(int count) {
    uint64_t until = talk_now() + TALK_PATIENCE_MS;
    while (answers < count && talk_now() < until)
        talk_turn(&talk, 20);
    assert_int_equal(answers, count);
}

static void questions(void **state) {
    (void)state;
    initialize("true", "TRACE");
    assert_int_equal(dx_reginald_ask(talk.plugin, "config", dx_json_none(), on_answer, NULL),
                     DX_OK);
    assert_int_equal(dx_reginald_ask(talk.plugin, "other", dx_json_text("[1]", 3), on_answer, NULL),
                     DX_OK);
    assert_int_equal(dx_reginald_ask(talk.plugin, "third", dx_json_none(), NULL, NULL), DX_OK);
    talk_expect(&talk, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"config\"}");
    talk_expect(&talk, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"other\",\"params\":[1]}");
    talk_expect(&talk, "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"third\"}");
    talk_say(&talk, "{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":-32601,\"message\":\"m\"}}");
    wait_for(1);
    assert_int_equal(outcome, DX_OUTCOME_ERROR);
    talk_say(&talk, "{\"jsonrpc\":\"2.0\",\"id\":1.0,\"result\":[5]}");
    wait_for(2);
    assert_int_equal(outcome, DX_OUTCOME_RESULT);
    assert_string_equal(body, "[5]");
    talk_say(&talk, "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":[5]}");
    talk_quiet(&talk);
    /* Messages of the host's own are not asked. */
    assert_int_equal(dx_reginald_ask(talk.plugin, "runCommand", dx_json_none(), on_answer, NULL),
                     DX_MISFIT);
}

static void questions_that_nobody_answers(void **state) {
    (void)state;
    assert_int_equal(dx_reginald_ask(talk.plugin, "a", dx_json_none(), on_answer, NULL), DX_OK);
    assert_int_equal(dx_reginald_ask(talk.plugin, "b", dx_json_none(), on_answer, NULL), DX_OK);
    talk_hear(&talk);
    talk_say(&talk, TALK_EXIT);
    assert_int_equal(talk_leaves(&talk), 0);
    assert_int_equal(answers, 2);
    assert_int_equal(outcome, DX_OUTCOME_LOST);
    assert_int_equal(dx_reginald_ask(talk.plugin, "c", dx_json_none(), on_answer, NULL), DX_CLOSED);
    talk_close(&talk);
    talk_open(&talk);
    assert_int_equal(dx_reginald_ask(talk.plugin, "d", dx_json_none(), on_answer, NULL), DX_OK);
    talk.plugin = dx_reginald_plugin_free(talk.plugin);
    talk_turn(&talk, 10);
    assert_int_equal(answers, 2);
}

#define ROW(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void) {
    const struct CMUnitTest tests[] = {
        ROW(only_what_is_wanted),
        ROW(nothing_if_nothing_is_wanted),
        ROW(before_initialize),
        ROW(a_level_that_is_none),
        ROW(fields_and_texts),
        ROW(questions),
        ROW(questions_that_nobody_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
