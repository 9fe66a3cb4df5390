/* Runs of handlers (cases 16 to 23). */
#include "finecode/er_demo.h"

static struct talk talk;

#define TEXT_T "{\"text\":\"t\"}"
#define ECHO_T                                                                          \
    "{\"items\":[\"global1:t:prev=None:seen=1\",\"hh2:t:prev=1:seen=2\"],\"by_path\":{" \
    "\"/a/b\":1},\"bad\":false}"

static void case_16_formats(void **state) {
    (void)state;
    demo_start(&talk, "real");
    demo_run(&talk, 2, "echo", TEXT_T, ",\"resultFormats\":[\"json\"]");
    talk_result(&talk, 2,
                "{\"status\":\"success\",\"resultByFormat\":{\"json\":" ECHO_T
                "},\"returnCode\":0}");
    demo_run(&talk, 3, "echo", TEXT_T, ",\"resultFormats\":[\"json\",\"string\"]");
    talk_result(&talk, 3,
                "{\"status\":\"success\",\"resultByFormat\":{\"json\":" ECHO_T ",\"string\":"
                "\"global1:t:prev=None:seen=1\\nhh2:t:prev=1:seen=2\"},\"returnCode\":0}");
    demo_run(&talk, 4, "echo", TEXT_T, ",\"resultFormats\":[]");
    talk_result(&talk, 4, "{\"status\":\"success\",\"resultByFormat\":{},\"returnCode\":0}");
    demo_run(&talk, 5, "echo", TEXT_T, "");
    talk_result(&talk, 5,
                "{\"status\":\"success\",\"resultByFormat\":{\"json\":" ECHO_T
                "},\"returnCode\":0}");
    demo_run(&talk, 6, "styled", TEXT_T, ",\"resultFormats\":[\"json\",\"string\"]");
    talk_result(&talk, 6,
                "{\"status\":\"success\",\"resultByFormat\":{\"json\":{\"items\":[\"c1\"],"
                "\"by_path\":{},\"bad\":false},\"styled_text_json\":{\"parts\":[{\"text\":"
                "\"bold\\n\",\"bold\":true},\"plain\"]}},\"returnCode\":0}");
    demo_run(&talk, 7, "conc", TEXT_T, ",\"resultFormats\":[\"json\",\"string\"]");
    talk_result(&talk, 7,
                "{\"status\":\"success\",\"resultByFormat\":{\"json\":{\"items\":[\"c1\",\"c2\"],"
                "\"by_path\":{},\"bad\":false},\"string\":\"c1\\nc2\"},\"returnCode\":0}");
    demo_stop_talk(&talk);
}

/* The document has a text in which nothing is ever empty, and no styles. */
static void case_16_formats_by_the_document(void **state) {
    (void)state;
    demo_start(&talk, "seed");
    demo_run(&talk, 2, "bad", TEXT_T, ",\"resultFormats\":[\"json\",\"string\"]");
    talk_result(&talk, 2,
                "{\"status\":\"success\",\"result_by_format\":\"{\\\"json\\\":{\\\"items\\\":["
                "\\\"bad\\\"],\\\"by_path\\\":{},\\\"bad\\\":true},\\\"string\\\":\\\"bad\\\"}\","
                "\"return_code\":1}");
    demo_run(&talk, 3, "conc", TEXT_T, ",\"resultFormats\":[]");
    talk_result(
        &talk, 3,
        "{\"status\":\"success\",\"result_by_format\":\"{\\\"json\\\":{\\\"items\\\":["
        "\\\"c1\\\",\\\"c2\\\"],\\\"by_path\\\":{},\\\"bad\\\":false}}\",\"return_code\":0}");
    demo_run(&talk, 4, "none", TEXT_T, "");
    talk_result(&talk, 4,
                "{\"status\":\"success\",\"result_by_format\":\"{\\\"json\\\":{}}\","
                "\"return_code\":0}");
    demo_run(&talk, 5, "none", TEXT_T, ",\"resultFormats\":[\"string\"]");
    talk_result(&talk, 5,
                "{\"status\":\"success\",\"result_by_format\":\"{\\\"string\\\":\\\"\\\"}\","
                "\"return_code\":0}");
    demo_run(&talk, 6, "styled", TEXT_T, ",\"resultFormats\":[\"string\"]");
    talk_result(&talk, 6,
                "{\"status\":\"success\",\"result_by_format\":\"{\\\"string\\\":\\\"bold\\\\n"
                "plain\\\"}\",\"return_code\":0}");
    /* Nothing of the program's is needed. */
    talk_request(&talk, 7, "actions/run",
                 "{\"actionName\":\"none\",\"params\":{\"text\":\"\"},\"options\":{}}");
    assert_has(talk_hear(&talk), "\"status\":\"success\"");
    demo_stop_talk(&talk);
}

static void case_17_options(void **state) {
    (void)state;
    static const struct {
        const char *options;
        const char *answer;
    } rows[] = {
        {"{\"resultFormats\":[\"json\"]," DEMO_META "}",
         "\"result\":{\"error\":\"Missing required wal_run_id in run options\"}"},
        {"null", "\"result\":{\"error\":\"Missing required wal_run_id in run options\"}"},
        {"{}", "\"result\":{\"error\":\"Missing required wal_run_id in run options\"}"},
        {"{\"walRunId\":\"\"," DEMO_META "}",
         "\"result\":{\"error\":\"Missing required wal_run_id in run options\"}"},
        {"{\"walRunId\":\"w\"}", "\"error\":{\"code\":-32603,"},
        {"{\"walRunId\":\"w\",\"meta\":{\"trigger\":\"weird\",\"devEnv\":\"cli\"}}",
         "\"error\":{\"code\":-32603,"},
        {"{\"walRunId\":\"w\",\"meta\":{\"trigger\":\"user\",\"devEnv\":\"precommit\"}}",
         "\"error\":{\"code\":-32603,"},
        {"{\"walRunId\":\"w\",\"meta\":{\"trigger\":\"user\",\"devEnv\":\"git_hook\","
         "\"orchestrationDepth\":-1}}",
         "\"error\":{\"code\":-32603,"},
        {DEMO_OPTIONS(",\"resultFormats\":[\"xml\"]"), "\"error\":{\"code\":-32603,"},
        {DEMO_OPTIONS(",\"resultFormats\":\"json\""), "\"error\":{\"code\":-32603,"},
        {DEMO_OPTIONS(",\"partialResultToken\":{}"), "\"error\":{\"code\":-32603,"},
        {DEMO_OPTIONS(",\"traceparent\":null,\"progressToken\":null,\"callerKwargs\":{}"),
         "\"status\":\"success\""},
    };
    demo_start(&talk, "real");
    for (size_t i = 0; i < LENGTH(rows); i++) {
        char params[500];
        (void)snprintf(params, sizeof params,
                       "{\"actionName\":\"bad\",\"params\":{\"text\":\"t\"},\"options\":%s}",
                       rows[i].options);
        talk_request(&talk, 2, "actions/run", params);
        assert_has(talk_hear(&talk), rows[i].answer);
    }
    talk_request(&talk, 3, "actions/run", "{\"params\":{},\"options\":" DEMO_OPTIONS("") "}");
    talk_expect(&talk, "{\"jsonrpc\":\"2.0\",\"id\":3,\"error\":{\"code\":-32603,\"message\":"
                       "\"'actionName'\"}}");
    demo_stop_talk(&talk);
    demo_start(&talk, "seed");
    talk_request(
        &talk, 2, "actions/run",
        "{\"actionName\":\"bad\",\"params\":{\"text\":\"t\"},\"options\":{\"resultFormats\":"
        "[\"xml\"]}}");
    talk_error(&talk, 2, -32602, "resultFormats");
    demo_stop_talk(&talk);
}

static void case_18_payloads(void **state) {
    (void)state;
    demo_start(&talk, "real");
    demo_run(&talk, 2, "echo", "{\"n\":\"abc\"}", "");
    talk_result(&talk, 2,
                "{\"error\":\"Invalid payload for action echo: required field missing @ $.text; "
                "invalid value for type, expected int @ $.n\"}");
    demo_run(&talk, 3, "echo", "{\"text\":5}", "");
    talk_result(&talk, 3,
                "{\"error\":\"Invalid payload for action echo: invalid value for type, expected "
                "str @ $.text\"}");
    demo_run(&talk, 4, "bad", "{\"text\":\"t\",\"unknown_field\":1}", "");
    assert_has(talk_hear(&talk), "\"status\":\"success\"");
    demo_segment(&talk, 5, "echo", "[\"h1\"]", ",\"params\":{\"text\":null}", "");
    assert_has(talk_hear(&talk), "{\"error\":\"Invalid payload for action echo: ");
    demo_stop_talk(&talk);
}

static void case_19_return_codes(void **state) {
    (void)state;
    demo_start(&talk, "real");
    demo_run(&talk, 2, "bad", TEXT_T, "");
    talk_result(&talk, 2,
                "{\"status\":\"success\",\"resultByFormat\":{\"json\":{\"items\":[\"bad\"],"
                "\"by_path\":{},\"bad\":true}},\"returnCode\":1}");
    demo_run(&talk, 3, "code", TEXT_T, "");
    talk_result(&talk, 3,
                "{\"status\":\"success\",\"resultByFormat\":{\"json\":{\"items\":[]}},"
                "\"returnCode\":7}");
    demo_stop_talk(&talk);
}

static void case_20_failures(void **state) {
    (void)state;
    demo_start(&talk, "real");
    demo_run(&talk, 2, "fail", TEXT_T, "");
    talk_result(&talk, 2,
                "{\"error\":\"Running action handler 'fail' failed(Run 1): declared failure\"}");
    demo_run(&talk, 3, "boom", TEXT_T, "");
    talk_result(&talk, 3,
                "{\"error\":\"Running action handler 'boom' failed(Run 2): the handler returned no "
                "result\"}");
    demo_run(&talk, 4, "nosuch", TEXT_T, "");
    talk_result(&talk, 4, "{\"error\":\"R3 | Action nosuch not found\"}");
    demo_run(&talk, 5, "missing", TEXT_T, "");
    talk_result(&talk, 5,
                "{\"error\":\"R4 | Action missing is unknown to this runner: demo.Missing\"}");
    demo_run(&talk, 6, "half", TEXT_T, "");
    talk_result(&talk, 6,
                "{\"error\":\"Running action handler 'lost' failed(Run 5): unknown handler source: "
                "demo.acts.Lost\"}");
    demo_run(&talk, 7, "canc", TEXT_T, "");
    talk_expect(&talk, "{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":-32800,\"message\":"
                       "\"Running action handler 'canc' was cancelled(Run 6)\"}}");
    assert_has(talk.log,
               "ERROR finecode.er: Running action handler 'fail' failed(Run 1): declared");
    /* A handler that is not UTF-8, gives no object, or no JSON. */
    static const char *const bad[] = {"[1]", "5", "{", ""};
    for (size_t i = 0; i < LENGTH(bad); i++) {
        demo_run(&talk, 8, "keep", TEXT_T, "");
        talk_quiet(&talk);
        dx_finecode_job_done(demo_kept, dx_json_text(bad[i], strlen(bad[i])), 0);
        assert_has(talk_hear(&talk), "its result is not a JSON object\"}");
    }
    demo_run(&talk, 9, "keep", TEXT_T, "");
    talk_quiet(&talk);
    dx_finecode_job_fail(demo_kept, "\xff is not \"good\"");
    assert_has(talk_hear(&talk), "): \xef\xbf\xbd is not \\\"good\\\"\"}");
    demo_stop_talk(&talk);
}

#define STOPPED "{\"items\":[\"stopped early\"],\"by_path\":{},\"bad\":true}"

static void case_21_stops(void **state) {
    (void)state;
    demo_start(&talk, "real");
    demo_run(&talk, 2, "stop", TEXT_T, ",\"resultFormats\":[\"json\",\"string\"]");
    talk_result(&talk, 2,
                "{\"status\":\"stopped\",\"resultByFormat\":{\"json\":" STOPPED
                ",\"string\":\"stopped early\"},\"returnCode\":1}");
    demo_segment(&talk, 3, "stop", "[\"stop\",\"c2\"]",
                 ",\"params\":{\"text\":\"t\"},\"previousResult\":{\"items\":[\"p\"]}", "");
    talk_result(&talk, 3,
                "{\"status\":\"stopped\",\"result\":" STOPPED
                ",\"resultByFormat\":{\"json\":" STOPPED "},\"returnCode\":1,\"context\":null}");
    demo_run(&talk, 4, "conc_stop", TEXT_T, "");
    talk_result(&talk, 4,
                "{\"status\":\"stopped\",\"resultByFormat\":{\"json\":" STOPPED
                "},\"returnCode\":1}");
    demo_stop_talk(&talk);
    demo_start(&talk, "seed");
    demo_run(&talk, 2, "stop", TEXT_T, ",\"partialResultToken\":1");
    talk_result(
        &talk, 2,
        "{\"status\":\"stopped\",\"result_by_format\":\"{\\\"json\\\":{\\\"items\\\":["
        "\\\"stopped early\\\"],\\\"by_path\\\":{},\\\"bad\\\":true}}\",\"return_code\":1}");
    demo_stop_talk(&talk);
}

static void case_22_out_of_order(void **state) {
    (void)state;
    demo_start(&talk, "real");
    demo_run(&talk, 2, "keep", TEXT_T, "");
    demo_run(&talk, 3, "bad", TEXT_T, "");
    assert_has(talk_hear(&talk), "\"id\":3,\"result\"");
    dx_finecode_job_done(demo_kept, JSON("{\"items\":[\"slow done\"]}"), 0);
    assert_has(talk_hear(&talk), "\"id\":2,\"result\"");
    demo_stop_talk(&talk);
}

static void check_config(dx_finecode_job *job, void *user) {
    (void)user;
    char *config = yyjson_val_write(dx_finecode_job_config(job), 0, NULL);
    assert_string_equal(config, "{\"a\":{\"x\":1,\"y\":3},\"list\":[9],\"only\":true}");
    free(config);
    dx_finecode_origin origin = dx_finecode_job_origin(job);
    assert_string_equal(origin.trigger, "user");
    assert_string_equal(origin.dev_env, "cli");
    assert_int_equal(origin.depth, 3);
    assert_string_equal(dx_finecode_job_run_id(job), "w-1");
    assert_string_equal(dx_finecode_job_handler(job), "cfg");
    assert_true(dx_finecode_job_er(job) == talk.er);
    assert_true(dx_finecode_job_loop(job) == talk.loop);
    assert_null(dx_finecode_job_result(job));
    assert_null(dx_finecode_job_context(job));
    dx_finecode_job_done(job, JSON("{\"seen\":true}"), 0);
}

static void case_23_configuration(void **state) {
    (void)state;
    dx_finecode_handler handler = {.source = "demo.acts.Cfg", .run = check_config};
    demo_start(&talk, "real");
    assert_int_equal(dx_finecode_er_add_handler(talk.er, &handler, NULL), DX_OK);
    talk_configure(
        &talk, "{\"actions\":[" DEMO_A(
                   "cfg", "Echo",
                   DEMO_H("cfg", "Cfg",
                          "{\"a\":{\"y\":3},\"list\":[9]}")) "],\"action_handler_configs\":{\"demo."
                                                             "acts.Cfg\":{\"a\":{\"x\":1,\"y\":2},"
                                                             "\"list\":[1,2],\"only\":true}}}");
    demo_run(&talk, 2, "cfg", TEXT_T, "");
    assert_has(talk_hear(&talk), "\"seen\":true");
    demo_stop_talk(&talk);
}

/* Those of another env are the business of another runner. */
/* c2 is there twice: the other is that of another env, and is never run here. */
static void handlers_of_other_envs(void **state) {
    (void)state;
    demo_start(&talk, "real");
    talk_configure(
        &talk, "{\"actions\":[{\"name\":\"conc\",\"source\":\"demo.Conc\",\"config\":{},"
               "\"handlers\":[{\"name\":\"c2\",\"source\":\"demo.acts.Elsewhere\",\"config\":{},"
               "\"env\":\"other\"}," DEMO_H("c1", "C1", "{}") "," DEMO_H(
                   "c2", "C2", "{}") ",{\"name\":\"c3\",\"source\":\"demo.acts.C2\",\"config\":{},"
                                     "\"env\":\"other\"}]}],\"action_handler_configs\":{}}");
    demo_run(&talk, 2, "conc", TEXT_T, "");
    assert_has(talk_hear(&talk), "{\"json\":{\"items\":[\"c1\",\"c2\"],");
    demo_segment(&talk, 3, "conc", "[\"c2\",\"c3\"]", ",\"params\":" TEXT_T, "");
    assert_has(talk_hear(&talk), "\"result\":{\"items\":[\"c2\"],");
    assert_has(talk.log, "skipping an unknown handler: c3");
    demo_stop_talk(&talk);
}

/* One of those that run at once fails: the others are told, and the answer comes when they ended.
 */
static void one_of_several_fails(void **state) {
    (void)state;
    demo_start(&talk, "real");
    talk_configure(&talk, "{\"actions\":[" DEMO_A(
                              "conc", "Conc",
                              DEMO_H("keep", "Keep", "{}") "," DEMO_H(
                                  "fail", "Fail", "{}")) "],\"action_handler_configs\":{}}");
    demo_run(&talk, 2, "conc", TEXT_T, "");
    talk_quiet(&talk);
    assert_int_equal(demo_cancelled, 1);
    dx_finecode_job_done(demo_kept, JSON("{\"items\":[1]}"), 0);
    talk_result(&talk, 2,
                "{\"error\":\"Running action handler 'fail' failed(Run 1): declared failure\"}");
    demo_stop_talk(&talk);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(case_16_formats),       cmocka_unit_test(case_16_formats_by_the_document),
        cmocka_unit_test(case_17_options),       cmocka_unit_test(case_18_payloads),
        cmocka_unit_test(case_19_return_codes),  cmocka_unit_test(case_20_failures),
        cmocka_unit_test(case_21_stops),         cmocka_unit_test(case_22_out_of_order),
        cmocka_unit_test(case_23_configuration), cmocka_unit_test(handlers_of_other_envs),
        cmocka_unit_test(one_of_several_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
