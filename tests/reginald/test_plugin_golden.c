/* The bytes that a real host and a real plugin exchanged, with the example on the plugin's side. */
#include "reginald/plugin_talk.h"

static struct talk talk;

/* A frame of exactly so many bytes. */
static void golden_say(const char *header, const char *body) {
    char bytes[1024];
    int len = snprintf(bytes, sizeof bytes, "Content-Length: %s\r\n\r\n%s", header, body);
    assert_true(len > 0 && strlen(body) == strtoul(header, NULL, 10));
    talk_write(&talk, bytes, (size_t)len);
}

static void golden_hear(const char *header, const char *body) {
    assert_int_equal(strlen(body), strtoul(header, NULL, 10));
    talk_expect(&talk, body);
}

static const char answer[] =
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocol\":\"rpp\",\"protocolVersion\":0,\"name\":"
    "\"example\",\"version\":\"0.1.0-0.dev\",\"commands\":[{\"name\":\"sleep\",\"usage\":\"sleep "
    "[options]\",\"configs\":[{\"key\":\"time\",\"value\":5,\"type\":\"int\",\"flag\":{"
    "\"shorthand\":\"t\",\"usage\":\"time to sleep in seconds (default 5s)\"}}]}],\"tasks\":[{"
    "\"type\":\"echo\"}]}}";

static void start(void) {
    talk_spawn(&talk, "reginald-sleep");
    golden_say("93", TALK_HANDSHAKE);
    golden_hear("318", answer);
    golden_say("100", TALK_INITIALIZE);
    golden_hear("36", TALK_GOOD("2"));
}

static void stop(const char *shutdown, const char *answered) {
    golden_say("58", shutdown);
    golden_hear("38", answered);
    golden_say("47", TALK_EXIT);
    assert_int_equal(talk_exits(&talk), 0);
    talk_quiet(&talk); /* not a byte more */
    talk_close(&talk);
}

static void row_01_a_command(void **state) {
    (void)state;
    start();
    golden_say("135", "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"setupCommand\",\"params\":{"
                      "\"name\":\"sleep\",\"args\":null,\"config\":[{\"key\":\"time\",\"value\":1,"
                      "\"type\":\"int\"}]}}");
    golden_hear("36", TALK_GOOD("3"));
    uint64_t before = talk_now();
    golden_say("72", "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"runCommand\",\"params\":{\"name\":"
                     "\"sleep\"}}");
    golden_hear("36", TALK_GOOD("4"));
    assert_in_range(talk_now() - before, 950, 3000);
    stop("{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"shutdown\",\"params\":null}",
         "{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":null}");
}

static void row_01_a_task(void **state) {
    (void)state;
    start();
    golden_say("131", "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"validateTask\",\"params\":{"
                      "\"type\":\"echo\",\"config\":[{\"key\":\"msg\",\"value\":\"hällo\","
                      "\"type\":\"string\"}]}}");
    golden_hear("36", TALK_GOOD("3"));
    talk_say(&talk, "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"runTask\",\"params\":{\"type\":"
                    "\"echo\",\"dir\":\"/\",\"config\":[{\"key\":\"msg\",\"value\":\"h\\u00e4llo "
                    "\\u0026 <>&\",\"type\":\"string\"}]}}");
    talk_expect(&talk, "{\"jsonrpc\":\"2.0\",\"method\":\"log\",\"params\":{\"msg\":\"hällo & "
                       "<>&\",\"level\":\"INFO\"}}");
    talk_expect(&talk, TALK_GOOD("4"));
    stop("{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"shutdown\",\"params\":null}",
         "{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":null}");
}

/* An unknown method: the code is the same, the rest is ours by design. */
static void an_unknown_method(void **state) {
    (void)state;
    talk_spawn(&talk, "reginald-sleep");
    talk_ask(&talk, TALK_HANDSHAKE, answer);
    talk_ask(&talk, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"nope\"}",
             "{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":-32601,\"message\":\"Method not "
             "found\",\"data\":\"nope\"}}");
    talk_say(&talk, TALK_EXIT);
    assert_int_equal(talk_exits(&talk), 0);
    talk_close(&talk);
}

static void sleeping_holds_up_nobody(void **state) {
    (void)state;
    start();
    talk_say(&talk, "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"runCommand\",\"params\":{\"name\":"
                    "\"sleep\"}}");
    uint64_t before = talk_now();
    stop("{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"shutdown\",\"params\":null}",
         "{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":null}");
    assert_in_range(talk_now() - before, 0, 4000);
}

static void sleep_refuses_a_bad_time(void **state) {
    (void)state;
    start();
    talk_refused(&talk,
                 "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"setupCommand\",\"params\":{\"name\":"
                 "\"sleep\",\"args\":null,\"config\":[{\"key\":\"time\",\"value\":-1,\"type\":"
                 "\"int\"}]}}",
                 "3", -32602, "from 0 to 86400");
    close(talk.to);
    talk.to = -1;
    assert_int_equal(talk_exits(&talk), 1);
    talk_close(&talk);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(row_01_a_command),         cmocka_unit_test(row_01_a_task),
        cmocka_unit_test(an_unknown_method),        cmocka_unit_test(sleeping_holds_up_nobody),
        cmocka_unit_test(sleep_refuses_a_bad_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
