/* Partial results and progress (cases 24, 25, 27 and 28). */
#include "finecode/er_demo.h"

static struct talk talk;

#define TEXT_T "{\"text\":\"t\"}"
#define PART(n) "{\"items\":[\"part" n "\"],\"by_path\":{},\"bad\":false}"
#define QPART(n) "{\\\"items\\\":[\\\"part" n "\\\"],\\\"by_path\\\":{},\\\"bad\\\":false}"
#define PROGRESS(token, value)                                                    \
    "{\"jsonrpc\":\"2.0\",\"method\":\"$/progress\",\"params\":{\"token\":" token \
    ",\"value\":\"" value "\"}}"

static void give(const char *part) {
    assert_int_equal(dx_finecode_job_partial(demo_kept, dx_json_text(part, strlen(part))), DX_OK);
}

static void pass(uint64_t ms) {
    for (uint64_t until = talk_now() + ms; talk_now() < until;)
        talk_turn(&talk, 5);
}

static void case_24_slow_ones_go_one_by_one(void **state) {
    (void)state;
    demo_start(&talk, "real");
    demo_run(&talk, 2, "keep", TEXT_T, ",\"partialResultToken\":\"tok-1\"");
    talk_quiet(&talk);
    assert_true(dx_finecode_job_is_streamed(demo_kept));
    give(PART("0"));
    talk_expect(&talk, PROGRESS("\"tok-1\"", "{\\\"json\\\":" QPART("0") "}"));
    pass(400);
    give(PART("1"));
    talk_expect(&talk, PROGRESS("\"tok-1\"", "{\\\"json\\\":" QPART("1") "}"));
    pass(400);
    give(PART("2"));
    talk_expect(&talk, PROGRESS("\"tok-1\"", "{\\\"json\\\":" QPART("2") "}"));
    dx_finecode_job_done(demo_kept, dx_json_none(), 0);
    talk_result(&talk, 2,
                "{\"status\":\"success\",\"resultByFormat\":{\"json\":{\"items\":[\"part0\","
                "\"part1\",\"part2\"],\"by_path\":{},\"bad\":false}},\"returnCode\":0}");
    talk_quiet(&talk);
    demo_stop_talk(&talk);
}

static void case_24_slow_ones_by_the_document(void **state) {
    (void)state;
    demo_start(&talk, "seed");
    demo_run(&talk, 2, "keep", TEXT_T, ",\"partialResultToken\":\"tok-1\"");
    talk_quiet(&talk);
    give(PART("0"));
    talk_expect(&talk, PROGRESS("\"tok-1\"", QPART("0")));
    pass(400);
    give("{\"items\":[\"part1\"],\"by_path\":{},\"bad\":true}");
    talk_expect(&talk, PROGRESS("\"tok-1\"", "{\\\"items\\\":[\\\"part1\\\"],\\\"by_path\\\":{},"
                                             "\\\"bad\\\":true}"));
    dx_finecode_job_done(demo_kept, dx_json_none(), 0);
    talk_result(&talk, 2,
                "{\"status\":\"streamed\",\"result_by_format\":\"{}\",\"return_code\":1}");
    talk_quiet(&talk);
    demo_stop_talk(&talk);
}

/* What comes between waits, merged, for its time or for the end of the handler. */
static void case_24_fast_ones_are_merged(void **state) {
    (void)state;
    demo_start(&talk, "real");
    demo_run(&talk, 2, "keep", TEXT_T, ",\"partialResultToken\":1");
    talk_quiet(&talk);
    uint64_t before = talk_now();
    give(PART("0"));
    give(PART("1"));
    give(PART("2"));
    talk_expect(&talk, PROGRESS("1", "{\\\"json\\\":" QPART("0") "}"));
    talk_expect(&talk, PROGRESS("1", "{\\\"json\\\":{\\\"items\\\":[\\\"part1\\\",\\\"part2\\\"],"
                                     "\\\"by_path\\\":{},\\\"bad\\\":false}}"));
    assert_in_range(talk_now() - before, 280, 5000);
    give(PART("3"));
    dx_finecode_job_done(demo_kept, JSON("{\"items\":[\"last\"]}"), 0);
    talk_expect(&talk, PROGRESS("1", "{\\\"json\\\":{\\\"items\\\":[\\\"part3\\\",\\\"last\\\"],"
                                     "\\\"by_path\\\":{},\\\"bad\\\":false}}"));
    talk_result(&talk, 2,
                "{\"status\":\"success\",\"resultByFormat\":{\"json\":{\"items\":[\"part0\","
                "\"part1\",\"part2\",\"part3\",\"last\"],\"by_path\":{},\"bad\":false}},"
                "\"returnCode\":0}");
    demo_stop_talk(&talk);
}

/* A handler that gave its result before another one streams: all is in what is streamed. */
static void a_result_before_the_first_partial(void **state) {
    (void)state;
    demo_start(&talk, "seed");
    talk_configure(&talk, "{\"actions\":[" DEMO_A(
                              "keep", "Keep",
                              DEMO_H("c1", "C1", "{}") "," DEMO_H("f", "Fast", "{}") "," DEMO_H(
                                  "c2", "C2", "{}")) "],\"action_handler_configs\":{}}");
    demo_run(&talk, 2, "keep", "{\"text\":\"t\",\"n\":1}", ",\"partialResultToken\":\"a\"");
    talk_expect(&talk,
                PROGRESS("\"a\"", "{\\\"items\\\":[\\\"c1\\\",\\\"part0\\\"],\\\"by_path\\\":"
                                  "{},\\\"bad\\\":false}"));
    talk_expect(&talk, PROGRESS("\"a\"", "{\\\"items\\\":[\\\"c2\\\"],\\\"by_path\\\":{},"
                                         "\\\"bad\\\":false}"));
    talk_result(&talk, 2,
                "{\"status\":\"streamed\",\"result_by_format\":\"{}\",\"return_code\":0}");
    demo_stop_talk(&talk);
}

static void case_25_tokens_and_formats(void **state) {
    (void)state;
    demo_start(&talk, "real");
    demo_run(&talk, 2, "fast", "{\"text\":\"t\",\"n\":1}",
             ",\"partialResultToken\":7,\"resultFormats\":[\"json\",\"string\"]");
    talk_expect(&talk, PROGRESS("7", "{\\\"json\\\":" QPART("0") ",\\\"string\\\":\\\"part0\\\"}"));
    talk_result(&talk, 2,
                "{\"status\":\"success\",\"resultByFormat\":{\"json\":" PART(
                    "0") ",\"string\":\"part0\"},\"returnCode\":0}");
    demo_run(&talk, 3, "fast", "{\"text\":\"t\",\"n\":1}",
             ",\"partialResultToken\":\"7\",\"resultFormats\":[]");
    talk_expect(&talk, PROGRESS("\"7\"", "{\\\"json\\\":" QPART("0") "}"));
    talk_result(&talk, 3, "{\"status\":\"streamed\",\"resultByFormat\":{},\"returnCode\":0}");
    /* Without a token they are part of the result, and nothing else. */
    demo_run(&talk, 4, "fast", "{\"text\":\"t\",\"n\":2}", "");
    talk_result(&talk, 4,
                "{\"status\":\"success\",\"resultByFormat\":{\"json\":{\"items\":[\"part0\","
                "\"part1\"],\"by_path\":{},\"bad\":false}},\"returnCode\":0}");
    /* A token, but no partial results. */
    demo_run(&talk, 5, "none", TEXT_T, ",\"partialResultToken\":\"t\"");
    talk_result(&talk, 5, "{\"status\":\"streamed\",\"resultByFormat\":{},\"returnCode\":0}");
    demo_run(&talk, 6, "bad", TEXT_T, ",\"partialResultToken\":\"t2\"");
    assert_has(talk_hear(&talk),
               "\"status\":\"success\",\"resultByFormat\":{\"json\":{\"items\":[\"bad\"]");
    demo_stop_talk(&talk);
    /* By the document a text comes only where one was asked for. */
    demo_start(&talk, "seed");
    demo_run(&talk, 2, "fast", "{\"text\":\"t\",\"n\":1}",
             ",\"partialResultToken\":-3,\"resultFormats\":[\"string\"]");
    talk_expect(&talk, PROGRESS("-3", "{\\\"string\\\":\\\"part0\\\"}"));
    talk_result(&talk, 2,
                "{\"status\":\"streamed\",\"result_by_format\":\"{}\",\"return_code\":0}");
    demo_run(&talk, 3, "none", TEXT_T, ",\"partialResultToken\":\"t\"");
    talk_result(&talk, 3,
                "{\"status\":\"streamed\",\"result_by_format\":\"{}\",\"return_code\":0}");
    demo_run(&talk, 4, "code", TEXT_T, ",\"partialResultToken\":\"t\"");
    talk_result(&talk, 4,
                "{\"status\":\"success\",\"result_by_format\":\"{\\\"json\\\":{\\\"items\\\":[]}}"
                "\",\"return_code\":7}");
    demo_segment(&talk, 5, "fast", "[\"fast\"]", ",\"params\":{\"text\":\"t\",\"n\":1}",
                 ",\"partialResultToken\":1");
    talk_expect(&talk, PROGRESS("1", QPART("0")));
    talk_result(&talk, 5,
                "{\"status\":\"streamed\",\"result\":" PART("0") ",\"resultByFormat\":{},"
                                                                 "\"returnCode\":0}");
    demo_stop_talk(&talk);
}

static void case_27_progress(void **state) {
    (void)state;
    static const char *const revisions[] = {"real", "seed"};
    for (size_t i = 0; i < LENGTH(revisions); i++) {
        demo_start(&talk, revisions[i]);
        demo_run(&talk, 2, "prog", TEXT_T, ",\"progressToken\":\"pg\"");
        talk_expect(&talk, PROGRESS("\"pg\"", "{\\\"type\\\":\\\"begin\\\",\\\"title\\\":"
                                              "\\\"Working\\\",\\\"message\\\":null,\\\"percentage"
                                              "\\\":0,\\\"cancellable\\\":false,\\\"total\\\":2}"));
        talk_expect(&talk, PROGRESS("\"pg\"", "{\\\"type\\\":\\\"report\\\",\\\"message\\\":"
                                              "\\\"one\\\",\\\"percentage\\\":50}"));
        talk_expect(&talk, PROGRESS("\"pg\"", "{\\\"type\\\":\\\"report\\\",\\\"message\\\":"
                                              "\\\"two\\\",\\\"percentage\\\":100}"));
        talk_expect(&talk, PROGRESS("\"pg\"", "{\\\"type\\\":\\\"end\\\",\\\"message\\\":null}"));
        assert_has(talk_hear(&talk), "\"status\":\"success\"");
        /* Nobody wants to know. */
        demo_run(&talk, 3, "prog", TEXT_T, "");
        assert_has(talk_hear(&talk), "\"status\":\"success\"");
        demo_stop_talk(&talk);
    }
}

static void case_27_odd_progress(void **state) {
    (void)state;
    demo_start(&talk, "real");
    demo_run(&talk, 2, "keep", TEXT_T, ",\"progressToken\":5,\"partialResultToken\":5");
    talk_quiet(&talk);
    dx_finecode_job_finish(demo_kept, "not begun");
    dx_finecode_job_begin(demo_kept, NULL, "m", 0);
    assert_has(talk_hear(&talk),
               "\\\"title\\\":\\\"keep\\\",\\\"message\\\":\\\"m\\\",\\\"percentage"
               "\\\":100,\\\"cancellable\\\":false,\\\"total\\\":0}");
    dx_finecode_job_begin(demo_kept, "\xff", NULL, -1);
    assert_has(talk_hear(&talk),
               "\\\"title\\\":\\\"\xef\xbf\xbd\\\",\\\"message\\\":null,\\\"percentage"
               "\\\":0,\\\"cancellable\\\":false,\\\"total\\\":null}");
    dx_finecode_job_report(demo_kept, NULL, -1);
    assert_has(talk_hear(&talk), "\\\"message\\\":null,\\\"percentage\\\":null}");
    dx_finecode_job_report(demo_kept, NULL, 150);
    assert_has(talk_hear(&talk), "\\\"percentage\\\":100}");
    give(PART("0"));
    talk_expect(&talk, PROGRESS("5", "{\\\"json\\\":" QPART("0") "}"));
    /* An end that the handler forgot. */
    dx_finecode_job_done(demo_kept, dx_json_none(), 0);
    talk_expect(&talk, PROGRESS("5", "{\\\"type\\\":\\\"end\\\",\\\"message\\\":null}"));
    assert_has(talk_hear(&talk), "\"status\":\"success\"");
    demo_stop_talk(&talk);
}

static void case_28_many_fast_runs(void **state) {
    (void)state;
    enum { RUNS = 30, PARTS = 5 };
    demo_start(&talk, "real");
    for (int i = 0; i < RUNS; i++) {
        char token[60];
        (void)snprintf(token, sizeof token, ",\"partialResultToken\":%d", i);
        demo_run(&talk, 100 + i, "fast", "{\"text\":\"t\",\"n\":5}", token);
    }
    unsigned parts[RUNS] = {0};
    for (unsigned answered = 0; answered < RUNS;) {
        char *body = talk_hear(&talk);
        char *token = strstr(body, "\"token\":");
        if (token) {
            unsigned index = (unsigned)strtoul(token + 8, NULL, 10);
            assert_true(index < RUNS);
            for (char *at = body; (at = strstr(at, "part")); at++)
                parts[index]++;
        } else {
            int id = -1;
            assert_int_equal(sscanf(body, "{\"jsonrpc\":\"2.0\",\"id\":%d,", &id), 1);
            assert_int_equal(parts[id - 100], PARTS); /* all of them before the answer */
            answered++;
        }
    }
    demo_stop_talk(&talk);
}

/* What is given too late, or is no result. */
static void bad_partials(void **state) {
    (void)state;
    demo_start(&talk, "real");
    demo_run(&talk, 2, "keep", TEXT_T, ",\"partialResultToken\":1");
    talk_quiet(&talk);
    assert_int_equal(dx_finecode_job_partial(demo_kept, JSON("[]")), DX_ERR_INVALID);
    assert_int_equal(dx_finecode_job_partial(demo_kept, JSON("{")), DX_ERR_INVALID);
    assert_int_equal(dx_finecode_job_partial(demo_kept, dx_json_none()), DX_ERR_INVALID);
    assert_int_equal(dx_finecode_job_set_context(demo_kept, JSON("5")), DX_ERR_INVALID);
    talk_notify(&talk, "$/cancelRequest", "{\"id\":2}");
    talk_error(&talk, 2, -32800, "Request cancelled");
    assert_int_equal(dx_finecode_job_partial(demo_kept, JSON("{}")), DX_GONE);
    dx_finecode_job_begin(demo_kept, "t", NULL, 0);
    dx_finecode_job_done(demo_kept, JSON("{\"items\":[1]}"), 0);
    talk_quiet(&talk);
    demo_stop_talk(&talk);
}

/* Partial results of one that fails are told before the failure. */
static void a_failure_after_partials(void **state) {
    (void)state;
    demo_start(&talk, "seed");
    demo_run(&talk, 2, "keep", TEXT_T, ",\"partialResultToken\":1");
    talk_quiet(&talk);
    give(PART("0"));
    give(PART("1"));
    dx_finecode_job_fail(demo_kept, "no");
    talk_expect(&talk, PROGRESS("1", QPART("0")));
    talk_expect(&talk, PROGRESS("1", QPART("1")));
    talk_result(&talk, 2, "{\"error\":\"Running action handler 'keep' failed(Run 1): no\"}");
    demo_stop_talk(&talk);
}

/* They go before the answer, also if they have to wait for memory. */
static void partials_that_wait_for_memory(void **state) {
    (void)state;
    demo_start(&talk, "seed");
    demo_run(&talk, 2, "keep", TEXT_T, ",\"partialResultToken\":1");
    talk_quiet(&talk);
    give(PART("0"));
    give(PART("1"));
    talk.memory.fail_at = 1;
    dx_finecode_job_done(demo_kept, dx_json_none(), 0);
    pass(50);
    talk.memory.fail_at = 0;
    talk_expect(&talk, PROGRESS("1", QPART("0")));
    talk_expect(&talk, PROGRESS("1", QPART("1")));
    talk_result(&talk, 2, "{\"error\":\"out of memory\"}");
    demo_stop_talk(&talk);
}

/* What one that stops the run has given in parts belongs to its result; what others gave does not.
 */
static void a_stop_after_partials(void **state) {
    (void)state;
    demo_start(&talk, "seed");
    talk_configure(
        &talk, "{\"actions\":[" DEMO_A("keep", "Keep",
                                       DEMO_H("c1", "C1", "{}") "," DEMO_H(
                                           "k", "Keep", "{}")) "],\"action_handler_configs\":{}}");
    demo_run(&talk, 2, "keep", TEXT_T, "");
    talk_quiet(&talk);
    give(PART("0"));
    dx_finecode_job_stop(demo_kept, dx_json_none(), 0);
    talk_result(&talk, 2,
                "{\"status\":\"stopped\",\"result_by_format\":\"{\\\"json\\\":" QPART(
                    "0") "}\",\"return_code\":0}");
    demo_run(&talk, 3, "keep", TEXT_T, "");
    talk_quiet(&talk);
    give(PART("0"));
    dx_finecode_job_stop(demo_kept, JSON("{\"items\":[\"last\"]}"), 0);
    talk_result(&talk, 3,
                "{\"status\":\"stopped\",\"result_by_format\":\"{\\\"json\\\":{\\\"items\\\":["
                "\\\"part0\\\",\\\"last\\\"],\\\"by_path\\\":{},\\\"bad\\\":false}}\","
                "\"return_code\":0}");
    demo_run(&talk, 4, "keep", TEXT_T, ",\"partialResultToken\":1");
    talk_quiet(&talk);
    give(PART("0"));
    talk_expect(&talk, PROGRESS("1", "{\\\"items\\\":[\\\"c1\\\",\\\"part0\\\"],\\\"by_path\\\":{},"
                                     "\\\"bad\\\":false}"));
    dx_finecode_job_stop(demo_kept, JSON("{\"items\":[\"last\"]}"), 0);
    talk_expect(&talk, PROGRESS("1", "{\\\"items\\\":[\\\"last\\\"]}"));
    talk_result(&talk, 4,
                "{\"status\":\"stopped\",\"result_by_format\":\"{\\\"json\\\":{\\\"items\\\":["
                "\\\"part0\\\",\\\"last\\\"],\\\"by_path\\\":{},\\\"bad\\\":false}}\","
                "\"return_code\":0}");
    demo_stop_talk(&talk);
}

static dx_finecode_job *three[3];
static size_t three_count;

static void keep_three(dx_finecode_job *job, void *user) {
    (void)user;
    three[three_count++ % LENGTH(three)] = job;
    dx_finecode_job_keep(job);
}

/* Of three at once the first fails while its last partial result waits for memory; the second wants
 * to hear that it is cancelled only after it was; the third ends, and with it goes what waited. */
static void a_late_wish_to_be_told(void **state) {
    (void)state;
    dx_finecode_handler handler = {.source = "demo.acts.Three", .run = keep_three};
    demo_start(&talk, "seed");
    three_count = demo_cancelled = 0;
    assert_int_equal(dx_finecode_er_add_handler(talk.er, &handler, NULL), DX_OK);
    talk_configure(&talk, "{\"actions\":[" DEMO_A(
                              "conc", "Conc",
                              DEMO_H("a", "Three", "{}") "," DEMO_H("b", "Three", "{}") "," DEMO_H(
                                  "c", "Three", "{}")) "],\"action_handler_configs\":{}}");
    demo_run(&talk, 2, "conc", TEXT_T, ",\"partialResultToken\":1");
    talk_quiet(&talk);
    assert_int_equal(three_count, 3);
    demo_kept = three[0];
    give(PART("0"));
    give(PART("1"));
    talk.memory.fail_at = 1;
    dx_finecode_job_fail(three[0], "no");
    talk.memory.fail_at = 0;
    dx_finecode_job_on_cancel(three[1], demo_on_cancel, NULL);
    dx_finecode_job_cancel(three[2]);
    talk_expect(&talk, PROGRESS("1", QPART("0")));
    talk_expect(&talk, PROGRESS("1", QPART("1")));
    talk_quiet(&talk);
    assert_int_equal(demo_cancelled, 1);
    dx_finecode_job_cancel(three[1]);
    talk_result(&talk, 2, "{\"error\":\"out of memory\"}");
    demo_stop_talk(&talk);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(case_24_slow_ones_go_one_by_one),
        cmocka_unit_test(case_24_slow_ones_by_the_document),
        cmocka_unit_test(case_24_fast_ones_are_merged),
        cmocka_unit_test(a_result_before_the_first_partial),
        cmocka_unit_test(case_25_tokens_and_formats),
        cmocka_unit_test(case_27_progress),
        cmocka_unit_test(case_27_odd_progress),
        cmocka_unit_test(case_28_many_fast_runs),
        cmocka_unit_test(bad_partials),
        cmocka_unit_test(a_failure_after_partials),
        cmocka_unit_test(partials_that_wait_for_memory),
        cmocka_unit_test(a_stop_after_partials),
        cmocka_unit_test(a_late_wish_to_be_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
