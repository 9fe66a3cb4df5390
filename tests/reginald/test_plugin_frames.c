/* What hosts send, real ones and others: framing, JSON and the order of things. */
#include "reginald/plugin_talk.h"

static struct talk talk;

static void run(dx_reginald_work *work, void *user) {
    (void)user;
    dx_reginald_done(work);
}

static const dx_reginald_command command = {.name = "go", .usage = "go", .run = run};

static int begin(void **state) {
    (void)state;
    talk_new(&talk, NULL);
    assert_int_equal(dx_reginald_add_command(talk.plugin, &command, NULL), DX_OK);
    return 0;
}

static int end(void **state) {
    (void)state;
    talk_free(&talk);
    return 0;
}

static const char greeting[] =
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocol\":\"rpp\",\"protocolVersion\":0,\"name\":"
    "\"probe\",\"version\":\"1.2.3\",\"commands\":[{\"name\":\"go\",\"usage\":\"go\"}]}}";

static void row_03_headers_that_are_taken(void **state) {
    (void)state;
    static const char *const headers[] = {
        "Content-Length: 93\r\n\r\n",
        "Content-Length: 93\n\n",
        "content-length: 93\r\n\r\n",
        "CONTENT-LENGTH:93\r\n\r\n",
        "Content-Length:      93\r\n\r\n",
        "X-Other: 1\r\nContent-Length: 93\r\n\r\n",
        "Content-Length: 93\r\nContent-Type: application/json-rpc\r\n\r\n",
        "Content-Length: +93\r\n\r\n",
        "X_2: \x01\r\nContent-Length:\t93\r\n\r\n",
    };
    for (size_t i = 0; i < LENGTH(headers); i++) {
        talk_open(&talk);
        talk_bytes(&talk, headers[i]);
        talk_bytes(&talk, TALK_HANDSHAKE);
        talk_expect(&talk, greeting);
        talk_say(&talk, TALK_EXIT);
        assert_int_equal(talk_leaves(&talk), 0);
        talk_close(&talk);
    }
}

/* None of these is taken for a message; what follows is, where the stream can still be read. */
static void row_03_headers_that_are_refused(void **state) {
    (void)state;
    static const char *const headers[] = {
        "Content-Length: -5\r\n\r\n",
        "X-Other: 1\r\n\r\n",
        "Content-Length: 0x5d\r\n\r\n",
        "Content-Length: \r\n\r\n",
    };
    for (size_t i = 0; i < LENGTH(headers); i++) {
        talk_open(&talk);
        talk_bytes(&talk, headers[i]);
        talk_bytes(&talk, TALK_HANDSHAKE "\r\n");
        talk_quiet(&talk);
        talk_say(&talk, TALK_HANDSHAKE);
        talk_expect(&talk, greeting);
        talk_say(&talk, TALK_EXIT);
        assert_int_equal(talk_leaves(&talk), 0);
        talk_close(&talk);
    }
}

/* A real plugin takes neither. Here what stands before a header is stray text, which is told of and
 * does not cost the message; under strict rules it is the end. */
static void row_03_something_before_a_header(void **state) {
    (void)state;
    static const char *const headers[] = {" Content-Length: 93\r\n\r\n",
                                          "\r\nContent-Length: 93\r\n\r\n"};
    for (size_t i = 0; i < LENGTH(headers); i++) {
        talk_open(&talk);
        talk_bytes(&talk, headers[i]);
        talk_bytes(&talk, TALK_HANDSHAKE);
        talk_expect(&talk, greeting);
        talk_say(&talk, TALK_EXIT);
        assert_int_equal(talk_leaves(&talk), 0);
        talk_close(&talk);
    }
}

static void row_03_an_empty_message(void **state) {
    (void)state;
    talk_open(&talk);
    talk_bytes(&talk, "Content-Length: 0\r\n\r\n");
    assert_non_null(strstr(talk_hear(&talk), "\"id\":null,\"error\":{\"code\":-32700"));
    talk_ask(&talk, TALK_HANDSHAKE, greeting);
}

static void row_05_lengths_that_nobody_means(void **state) {
    (void)state;
    static const char *const lengths[] = {"9223372036854775807", "18446744073709551616",
                                          "12345678901234567890", "67108865"};
    for (size_t i = 0; i < LENGTH(lengths); i++) {
        char header[100];
        (void)snprintf(header, sizeof header, "Content-Length: %s\r\n\r\n", lengths[i]);
        talk_open(&talk);
        talk_bytes(&talk, header);
        assert_int_equal(talk_leaves(&talk), 1);
        talk_close(&talk);
    }
}

static void row_04_in_single_bytes_and_all_at_once(void **state) {
    (void)state;
    static const char text[] =
        "Content-Length: 93\r\n\r\n" TALK_HANDSHAKE "Content-Length: 100\r\n\r\n" TALK_INITIALIZE
        "Content-Length: 47\r\n\r\n" TALK_EXIT;
    talk_open(&talk);
    for (size_t i = 0; i < sizeof text - 1; i++) {
        talk_write(&talk, text + i, 1);
        talk_turn(&talk, 0);
    }
    talk_expect(&talk, greeting);
    talk_expect(&talk, TALK_GOOD("2"));
    assert_int_equal(talk_leaves(&talk), 0);
    talk_close(&talk);
    talk_open(&talk);
    talk_write(&talk, text, sizeof text - 1);
    talk_expect(&talk, greeting);
    talk_expect(&talk, TALK_GOOD("2"));
    assert_int_equal(talk_leaves(&talk), 0);
}

static void row_07_ids_come_back_as_they_were(void **state) {
    (void)state;
    static const char *const ids[] = {"\"a-1\"",     "0",  "1.5", "9007199254740993",
                                      "\"\\u0041\"", "-3", "1e2"};
    talk_open(&talk);
    talk_greet(&talk);
    for (size_t i = 0; i < LENGTH(ids); i++) {
        char body[200];
        char answer[200];
        (void)snprintf(body, sizeof body,
                       "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"runCommand\",\"params\":{"
                       "\"name\":\"go\"}}",
                       ids[i]);
        (void)snprintf(answer, sizeof answer, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{}}",
                       ids[i]);
        talk_ask(&talk, body, answer);
    }
}

static void row_09_another_protocol_or_version(void **state) {
    (void)state;
    talk_open(&talk);
    talk_refused(&talk,
                 "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"handshake\",\"params\":{\"protocol\":"
                 "\"lsp\",\"protocolVersion\":0}}",
                 "1", -32602, "/params/protocol");
    talk_refused(&talk,
                 "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"handshake\",\"params\":{\"protocol\":"
                 "\"rpp\",\"protocolVersion\":1}}",
                 "1", -32602, "/params/protocolVersion");
    talk_refused(&talk, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"handshake\"}", "1", -32602, "");
    talk_ask(&talk,
             "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"handshake\",\"params\":{\"more\":1,"
             "\"protocol\":\"rpp\",\"protocolVersion\":0}}",
             greeting);
    talk_refused(&talk, TALK_HANDSHAKE, "1", -32600, "second handshake");
}

static void row_10_the_newer_generation(void **state) {
    (void)state;
    static const char newer[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"handshake\",\"params\":"
                                "{\"protocol\":\"reginald\",\"protocolVersion\":0}}";
    talk_open(&talk);
    talk_refused(&talk, newer, "1", -32602, "(generation A), not \\\"reginald\\\" (generation B)");
    talk_refused(&talk, newer, "1", -32602, "generation B");
    talk_ask(&talk, TALK_HANDSHAKE, greeting);
    talk_refused(&talk, newer, "1", -32600, "second handshake");
    talk_ask(&talk, TALK_INITIALIZE, TALK_GOOD("2"));
}

static void row_17_a_request_after_shutdown(void **state) {
    (void)state;
    talk_open(&talk);
    talk_greet(&talk);
    talk_ask(&talk, "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"shutdown\"}",
             "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":null}");
    talk_refused(&talk,
                 "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"runCommand\",\"params\":{\"name\":"
                 "\"go\"}}",
                 "4", -32600, "shutting down");
    assert_false(talk.left);
    talk_say(&talk, TALK_EXIT);
    assert_int_equal(talk_leaves(&talk), 0);
    talk_quiet(&talk);
}

static void row_17_an_exit_at_any_time(void **state) {
    (void)state;
    talk_open(&talk);
    talk_say(&talk, TALK_EXIT);
    assert_int_equal(talk_leaves(&talk), 0);
    talk_close(&talk);
    talk_open(&talk);
    talk_greet(&talk);
    talk_refused(&talk, "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"exit\"}", "9", -32600, "");
    assert_int_equal(talk_leaves(&talk), 0);
}

static void row_17_the_end_of_its_input(void **state) {
    (void)state;
    talk_open(&talk);
    talk_greet(&talk);
    close(talk.to);
    talk.to = -1;
    assert_int_equal(talk_leaves(&talk), 1);
}

static void row_21_bodies(void **state) {
    (void)state;
    talk_open(&talk);
    talk_greet(&talk);
    talk_refused(&talk, "[" TALK_HANDSHAKE "]", "null", -32600, "");
    talk_refused(&talk, "\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"nope\"}", "null",
                 -32700, "");
    talk_refused(&talk, "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"\xff\"}", "null", -32700, "");
    talk_refused(&talk, "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"nope\"} x", "null", -32700, "");
    talk_refused(&talk, "{\"id\":3,\"method\":\"nope\"}", "3", -32600, "");
    talk_ask(&talk,
             "\t{\r\n \"jsonrpc\": \"2.0\",\n \"id\": 3,\n \"method\": \"runCommand\",\n"
             " \"params\": {\n  \"name\": \"go\"\n }\n}\n",
             TALK_GOOD("3"));
    talk_ask(&talk,
             "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"runCommand\",\"params\":{\"name\":\"go\"},"
             "\"trace\":{\"deep\":[1]}}",
             TALK_GOOD("4"));
    /* What is not asked, or asks nothing, is not answered. */
    talk_say(&talk, "{\"JSONRPC\":\"2.0\",\"Id\":3,\"Method\":\"nope\"}");
    talk_say(&talk, "{\"jsonrpc\":\"2.0\",\"method\":\"nope\"}");
    talk_say(&talk, "{\"jsonrpc\":\"2.0\",\"method\":\"shutdown\"}");
    talk_say(&talk, "{\"jsonrpc\":\"2.0\",\"id\":77,\"result\":{}}");
    talk_quiet(&talk);
    talk_ask(&talk,
             "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"runCommand\",\"params\":{\"name\":"
             "\"go\"}}",
             TALK_GOOD("5"));
}

static void strict_takes_the_document_s_framing_only(void **state) {
    (void)state;
    static const char *const good[] = {"Content-Length: 93\r\n\r\n",
                                       "Content-Length:93\r\nX-Y-: any thing\r\n\r\n",
                                       "Content-Length:   93\r\n\r\n"};
    static const char *const bad[] = {"Content-Length: 93\n\n",
                                      "Content-Length: +93\r\n\r\n",
                                      "X1: 1\r\nContent-Length: 93\r\n\r\n",
                                      "Content-Length: 7\r\nContent-Length: 93\r\n\r\n",
                                      "stray\r\nContent-Length: 93\r\n\r\n",
                                      " Content-Length: 93\r\n\r\n",
                                      "Content-Length: -5\r\n\r\n",
                                      "Content-Length: 0x5d\r\n\r\n",
                                      "Content-Length: \r\n\r\n",
                                      "X: \xe5\r\nContent-Length: 93\r\n\r\n",
                                      "X_Y: 1\r\nContent-Length: 93\r\n\r\n",
                                      "X: 1\r\n\r\n",
                                      "\r\n"};
    dx_reginald_plugin_strict(talk.plugin, 1);
    for (size_t i = 0; i < LENGTH(good); i++) {
        talk_open(&talk);
        talk_bytes(&talk, good[i]);
        talk_bytes(&talk, TALK_HANDSHAKE);
        talk_expect(&talk, greeting);
        talk_say(&talk, "{\"jsonrpc\":\"2.0\",\"method\":\"exit\"}");
        assert_int_equal(talk_leaves(&talk), 0);
        talk_close(&talk);
    }
    for (size_t i = 0; i < LENGTH(bad); i++) {
        talk_open(&talk);
        talk_bytes(&talk, bad[i]);
        talk_bytes(&talk, TALK_HANDSHAKE);
        assert_int_equal(talk_leaves(&talk), 1);
        talk_close(&talk);
    }
    dx_reginald_plugin_strict(talk.plugin, 0);
    talk_open(&talk);
    talk_bytes(&talk, bad[0]);
    talk_bytes(&talk, TALK_HANDSHAKE);
    talk_expect(&talk, greeting);
}

static void opens_once_at_a_time(void **state) {
    (void)state;
    dx_error error = {.phrase = ""};
    talk_open(&talk);
    assert_int_equal(dx_reginald_plugin_open(talk.plugin, talk.loop, 0, 1, NULL, NULL, &error),
                     DX_ERR_INVALID);
    assert_true(*error.phrase);
    assert_int_equal(dx_reginald_plugin_open(talk.plugin, talk.loop, -1, 1, NULL, NULL, NULL),
                     DX_ERR_INVALID);
    talk_ask(&talk, TALK_HANDSHAKE, greeting);
}

#define ROW(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void) {
    const struct CMUnitTest tests[] = {
        ROW(row_03_headers_that_are_taken),
        ROW(row_03_headers_that_are_refused),
        ROW(row_03_something_before_a_header),
        ROW(row_03_an_empty_message),
        ROW(row_04_in_single_bytes_and_all_at_once),
        ROW(row_05_lengths_that_nobody_means),
        ROW(row_07_ids_come_back_as_they_were),
        ROW(row_09_another_protocol_or_version),
        ROW(row_10_the_newer_generation),
        ROW(row_17_a_request_after_shutdown),
        ROW(row_17_an_exit_at_any_time),
        ROW(row_17_the_end_of_its_input),
        ROW(row_21_bodies),
        ROW(strict_takes_the_document_s_framing_only),
        ROW(opens_once_at_a_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
