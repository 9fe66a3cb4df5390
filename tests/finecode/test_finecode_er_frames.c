/* Frames and envelopes (cases 1 to 7). */
#include "finecode/er_demo.h"

static struct talk talk;

#define INFO "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"finecodeRunner/getInfo\"}"
#define INFO_ANSWER "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"logFilePath\":null}}"

static void both(void (*test)(void)) {
    static const char *const revisions[] = {"seed", "real"};
    for (size_t i = 0; i < LENGTH(revisions); i++) {
        demo_start(&talk, revisions[i]);
        test();
        demo_stop_talk(&talk);
    }
}

static void headers(void) {
    static const char *const before[] = {
        "Content-Length: %zu\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n",
        "Content-Length: %zu\r\n\r\n",
        "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: %zu\r\n\r\n",
        "X-Before: 1\r\nContent-Length: %zu\r\nX-After: a b c\r\n\r\n",
    };
    for (size_t i = 0; i < LENGTH(before); i++) {
        char header[200];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        (void)snprintf(header, sizeof header, before[i], strlen(INFO));
#pragma GCC diagnostic pop
        talk_bytes(&talk, header);
        talk_bytes(&talk, INFO);
        talk_expect(&talk, INFO_ANSWER);
    }
}

static void case_01_headers(void **state) {
    (void)state;
    both(headers);
}

static void text(void) {
    demo_run(&talk, 2, "echo", "{\"text\":\"h\xc3\xa9\xf0\x9f\x98\x80\"}", "");
    assert_has(talk_hear(&talk), "1:h\xc3\xa9\xf0\x9f\x98\x80:prev");
    demo_run(&talk, 3, "echo", "{\"text\":\"h\\u00e9\\ud83d\\ude00\"}", "");
    assert_has(talk_hear(&talk), "1:h\xc3\xa9\xf0\x9f\x98\x80:prev");
}

static void case_02_bytes_are_counted(void **state) {
    (void)state;
    both(text);
}

static void pieces(void) {
    char whole[400];
    int len =
        snprintf(whole, sizeof whole, "Content-Length: %zu" TALK_TYPE "%s", strlen(INFO), INFO);
    for (int i = 1; i < len; i++) {
        talk_write(&talk, whole, (size_t)i);
        talk_turn(&talk, 0);
        talk_write(&talk, whole + i, (size_t)(len - i));
        talk_expect(&talk, INFO_ANSWER);
    }
    static const char body[] =
        "{\"jsonrpc\":\"2.0\",\"id\":1%d,\"method\":\"finecodeRunner/getInfo\"}";
    char ten[4000] = "";
    for (int i = 0; i < 10; i++)
        (void)snprintf(ten + strlen(ten), sizeof ten - strlen(ten),
                       "Content-Length: %zu" TALK_TYPE
                       "{\"jsonrpc\":\"2.0\",\"id\":1%d,\"method\":\"finecodeRunner/getInfo\"}",
                       sizeof body - 2, i);
    talk_bytes(&talk, ten);
    for (int i = 0; i < 10; i++)
        talk_result(&talk, 10 + i, "{\"logFilePath\":null}");
}

static void case_03_pieces(void **state) {
    (void)state;
    both(pieces);
}

/* What the program drops is answered as JSON-RPC says; what follows is served in any case. */
static void junk(void) {
    talk_say(&talk, "{\"jsonrpc\":");
    assert_has(talk_hear(&talk), "\"id\":null,\"error\":{\"code\":-32700");
    talk_say(&talk, "[" INFO "]");
    assert_has(talk_hear(&talk), "\"id\":null,\"error\":{\"code\":-32600");
    talk_bytes(&talk, "Content-Length: 0\r\n\r\n");
    assert_has(talk_hear(&talk), "\"id\":null,\"error\":{\"code\":-32700");
    char lower[200];
    (void)snprintf(lower, sizeof lower, "content-length: %zu\r\n\r\n%s\n", strlen(INFO), INFO);
    talk_bytes(&talk, lower);
    talk_expect(&talk, INFO_ANSWER);
    talk_bytes(&talk, "noise that is no message\n");
    talk_say(&talk, INFO);
    talk_expect(&talk, INFO_ANSWER);
    assert_true(talk.violations > 0);
}

static void case_04_junk(void **state) {
    (void)state;
    both(junk);
}

static void large(void) {
    enum { SIZE = 1 << 20 };
    char *params = malloc(SIZE + 400);
    char *word = malloc(SIZE + 1);
    assert_non_null(params);
    assert_non_null(word);
    memset(word, 'x', SIZE);
    word[SIZE] = '\0';
    (void)snprintf(params, SIZE + 400,
                   "{\"actionName\":\"echo\",\"results\":[{\"items\":[\"%s\"]},{\"items\":[1]}]}",
                   word);
    talk_request(&talk, 2, "actions/mergeResults", params);
    char *answer = talk_hear(&talk);
    assert_int_equal(strlen(answer), SIZE + strlen("{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{"
                                                   "\"merged\":{\"items\":[\"\",1]}}}"));
    assert_has(answer, word);
    free(params);
    free(word);
}

static void case_05_large(void **state) {
    (void)state;
    both(large);
}

static void case_06_without_version(void **state) {
    (void)state;
    demo_start(&talk, "real");
    talk_ask(&talk, "{\"id\":\"nj\",\"method\":\"finecodeRunner/getInfo\"}",
             "{\"jsonrpc\":\"2.0\",\"id\":\"nj\",\"result\":{\"logFilePath\":null}}");
    demo_stop_talk(&talk);
    demo_start(&talk, "seed");
    talk_say(&talk, "{\"id\":\"nj\",\"method\":\"finecodeRunner/getInfo\"}");
    assert_has(talk_hear(&talk), "\"error\":{\"code\":-32600");
    demo_stop_talk(&talk);
}

static void ids(void) {
    static const char *const texts[] = {"\"1b4e28ba-2fa1-41d2-883f-0016d3cca427\"", "42", "0",
                                        "-7"};
    for (size_t i = 0; i < LENGTH(texts); i++) {
        char request[200];
        char answer[200];
        (void)snprintf(request, sizeof request,
                       "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"finecodeRunner/getInfo\"}",
                       texts[i]);
        (void)snprintf(answer, sizeof answer,
                       "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"logFilePath\":null}}",
                       texts[i]);
        talk_ask(&talk, request, answer);
    }
    /* null is echoed, too, but no id of a request. */
    talk_say(&talk, "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"finecodeRunner/getInfo\"}");
    assert_has(talk_hear(&talk), "\"id\":null,\"error\":{\"code\":-32600");
    /* One that is in use already. */
    demo_run(&talk, 5, "keep", "{\"text\":\"t\"}", "");
    demo_run(&talk, 5, "echo", "{\"text\":\"t\"}", "");
    talk_error(&talk, 5, -32600, "");
    dx_finecode_job_done(demo_kept, JSON("{\"items\":[\"k\"]}"), 0);
    assert_has(talk_hear(&talk), "k");
}

static void case_07_ids(void **state) {
    (void)state;
    both(ids);
}

static void unknown(void) {
    talk_request(&talk, 2, "no/such", "{}");
    talk_error(&talk, 2, -32601, "Method not found");
    talk_notify(&talk, "foo/bar", "{}");
    talk_request(&talk, 3, "initialize", TALK_INITIALIZE);
    assert_has(talk_hear(&talk), "\"error\":");
    talk_say(&talk,
             "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"finecodeRunner/getInfo\",\"_meta\":{"
             "\"traceparent\":\"00-0\"}}");
    talk_expect(&talk, "{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{\"logFilePath\":null}}");
}

static void what_is_not_known(void **state) {
    (void)state;
    both(unknown);
}

/* Before initialize: refused by the document, served by the program. */
static void before_initialize(void **state) {
    (void)state;
    talk_new(&talk, "seed");
    talk_socketpair(&talk);
    talk_say(&talk, INFO);
    talk_error(&talk, 2, -32002, "Not initialized");
    talk_free(&talk);
    talk_new(&talk, "real");
    talk_socketpair(&talk);
    talk_ask(&talk, INFO, INFO_ANSWER);
    talk_free(&talk);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(case_01_headers),   cmocka_unit_test(case_02_bytes_are_counted),
        cmocka_unit_test(case_03_pieces),    cmocka_unit_test(case_04_junk),
        cmocka_unit_test(case_05_large),     cmocka_unit_test(case_06_without_version),
        cmocka_unit_test(case_07_ids),       cmocka_unit_test(what_is_not_known),
        cmocka_unit_test(before_initialize),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
