/* Questions to the manager, and cancellation (cases 38, 39 and 44). */
#include "finecode/er_demo.h"

static struct talk talk;

#define TEXT_T "{\"text\":\"t\"}"
#define META "\"meta\":{\"trigger\":\"user\",\"devEnv\":\"cli\",\"orchestrationDepth\":3}"

static unsigned answers;
static dx_event last;
static char *said; /* the value of the last answer */

static void on_answer(dx_finecode_job *job, const dx_event *event, void *user) {
    assert_true(job == demo_kept);
    assert_true(user == &talk);
    answers++;
    last = *event;
    free(said);
    said = event->value ? yyjson_val_write(event->value, 0, NULL) : NULL;
}

/* As a handler does it: its result, an error result, or cancelled. */
static void on_nested(dx_finecode_job *job, const dx_event *event, void *user) {
    on_answer(job, event, user);
    if (event->outcome == DX_OUTCOME_RESULT) {
        dx_finecode_job_done(job, dx_json_value(yyjson_obj_get(event->value, "result")), 0);
    } else if (event->outcome == DX_OUTCOME_CANCELLED ||
               (event->outcome == DX_OUTCOME_ERROR && event->code == DX_FINECODE_CANCELLED)) {
        dx_finecode_job_cancel(job);
    } else {
        dx_finecode_job_fail(job, event->outcome == DX_OUTCOME_ERROR
                                      ? yyjson_get_str(yyjson_obj_get(event->value, "message"))
                                      : event->error.phrase);
    }
}

static void begin(const char *revision) {
    answers = 0;
    demo_start(&talk, revision);
    demo_run(&talk, 2, "keep", TEXT_T, "");
    talk_quiet(&talk);
}

static void end(void) {
    demo_stop_talk(&talk);
    free(said);
    said = NULL;
}

/* A request of the runner with those params; its id, as it stands there. */
static void hear_request(const char *method, const char *params, char id[64]) {
    char start[100];
    char rest[1000];
    char *body = talk_hear(&talk);
    (void)snprintf(start, sizeof start, "{\"jsonrpc\":\"2.0\",\"id\":");
    assert_memory_equal(body, start, strlen(start));
    char *after = strstr(body, ",\"method\"");
    assert_non_null(after);
    (void)snprintf(id, 64, "%.*s", (int)(after - body - (long)strlen(start)), body + strlen(start));
    (void)snprintf(rest, sizeof rest, ",\"method\":\"%s\",\"params\":%s}", method, params);
    assert_string_equal(after, rest);
}

static void answer(const char *id, const char *body) {
    char text[1000];
    (void)snprintf(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"id\":%s,%s}", id, body);
    talk_say(&talk, text);
}

static void case_38_runs_in_the_project(void **state) {
    (void)state;
    static const char *const revisions[] = {"seed", "real"};
    char id[64];
    for (size_t i = 0; i < LENGTH(revisions); i++) {
        begin(revisions[i]);
        assert_int_equal(dx_finecode_job_run_in_project(demo_kept, "other.Action",
                                                        JSON("{\"a\":1}"), on_nested, &talk),
                         DX_OK);
        hear_request("finecode/runActionInProject",
                     "{\"actionSource\":\"other.Action\",\"payload\":{\"a\":1}," META "}", id);
        answer(id, "\"result\":{\"returnCode\":0,\"result\":{\"items\":[\"n\"]}}");
        assert_has(talk_hear(&talk), "n");
        assert_int_equal(answers, 1);
        assert_string_equal(said, "{\"returnCode\":0,\"result\":{\"items\":[\"n\"]}}");
        demo_run(&talk, 3, "keep", TEXT_T, "");
        talk_quiet(&talk);
        assert_int_equal(dx_finecode_job_run_in_project(demo_kept, "other.Action", dx_json_none(),
                                                        on_nested, &talk),
                         DX_OK);
        hear_request("finecode/runActionInProject",
                     "{\"actionSource\":\"other.Action\",\"payload\":{}," META "}", id);
        answer(id, "\"error\":{\"code\":-32603,\"message\":\"Orchestration depth 8\"}");
        talk_result(&talk, 3,
                    "{\"error\":\"Running action handler 'keep' failed(Run 2): Orchestration depth "
                    "8\"}");
        demo_run(&talk, 4, "keep", TEXT_T, "");
        talk_quiet(&talk);
        assert_int_equal(dx_finecode_job_run_in_project(demo_kept, "other.Action", dx_json_none(),
                                                        on_nested, &talk),
                         DX_OK);
        hear_request("finecode/runActionInProject",
                     "{\"actionSource\":\"other.Action\",\"payload\":{}," META "}", id);
        answer(id, "\"error\":{\"code\":-32800,\"message\":\"Request cancelled\"}");
        talk_error(&talk, 4, -32800, "Running action handler 'keep' was cancelled(Run 3)");
        end();
    }
}

static void case_39_partial_results_of_nested_runs(void **state) {
    (void)state;
    char id[64];
    begin("real");
    static const char params[] =
        "{\"actionSource\":\"demo.acts.Echo\",\"payload\":{}," META ",\"partialResultToken\":5}";
    assert_int_equal(dx_finecode_job_ask(demo_kept, "finecode/runActionInProject",
                                         dx_json_text(params, sizeof params - 1), on_nested, &talk),
                     DX_OK);
    hear_request("finecode/runActionInProject", params, id);
    talk_notify(&talk, "$/progress", "{\"token\":5,\"value\":\"{\\\"items\\\":[\\\"bare\\\"]}\"}");
    talk_notify(&talk, "$/progress",
                "{\"token\":5,\"value\":\"{\\\"json\\\":{\\\"items\\\":[\\\"wrapped\\\"]},"
                "\\\"string\\\":\\\"wrapped\\\"}\"}");
    talk_notify(&talk, "$/progress", "{\"token\":6,\"value\":\"{\\\"items\\\":[\\\"other\\\"]}\"}");
    talk_notify(&talk, "$/progress", "{\"token\":5,\"value\":\"5\"}");
    answer(id, "\"result\":{\"returnCode\":1,\"result\":null}");
    talk_result(&talk, 2,
                "{\"status\":\"success\",\"resultByFormat\":{\"json\":{\"items\":[\"bare\","
                "\"wrapped\"]}},\"returnCode\":0}");
    assert_string_equal(said, "{\"returnCode\":1,\"result\":{\"items\":[\"bare\",\"wrapped\"]}}");
    end();
}

static void runs_in_the_workspace(void **state) {
    (void)state;
    static const char *const paths[] = {"/ws/a", "/ws/b", NULL};
    char id[64];
    begin("seed");
    assert_int_equal(dx_finecode_job_run_in_workspace(demo_kept, "x.Y", dx_json_none(), paths, 0,
                                                      on_answer, &talk),
                     DX_OK);
    hear_request("finecode/runActionInWorkspace",
                 "{\"actionSource\":\"x.Y\",\"payload\":{}," META
                 ",\"projectPaths\":[\"/ws/a\",\"/ws/b\"],\"concurrently\":false}",
                 id);
    answer(id, "\"result\":{\"resultsByProject\":{\"/ws/a\":{}}}");
    assert_int_equal(dx_finecode_job_run_in_workspace(demo_kept, "x.Y", dx_json_none(), NULL, 1,
                                                      on_answer, &talk),
                     DX_OK);
    hear_request("finecode/runActionInWorkspace",
                 "{\"actionSource\":\"x.Y\",\"payload\":{}," META
                 ",\"projectPaths\":null,\"concurrently\":true}",
                 id);
    answer(id, "\"result\":{\"resultsByProject\":{}}");
    talk_quiet(&talk);
    assert_int_equal(answers, 2);
    dx_finecode_job_done(demo_kept, dx_json_none(), 0);
    assert_has(talk_hear(&talk), "success");
    end();
}

/* Other questions have a time limit. */
static void a_question_is_not_answered(void **state) {
    (void)state;
    char id[64];
    talk_init(&talk);
    dx_finecode_er_config config = talk_config(&talk, "seed");
    config.ask_ms = 50;
    answers = 0;
    assert_int_equal(dx_finecode_er_new(&config, &talk.er, NULL), DX_OK);
    demo_declare(&talk);
    talk_pipes(&talk);
    talk_greet(&talk);
    talk_configure(&talk, DEMO_CONFIG);
    demo_run(&talk, 2, "keep", TEXT_T, "");
    talk_quiet(&talk);
    assert_int_equal(dx_finecode_job_ask(demo_kept, "projects/getRawConfig",
                                         JSON("{\"projectDefPath\":\"/p\"}"), on_nested, &talk),
                     DX_OK);
    hear_request("projects/getRawConfig", "{\"projectDefPath\":\"/p\"}", id);
    assert_has(talk_hear(&talk), "{\"error\":\"Running action handler 'keep' failed(Run 1): ");
    assert_int_equal(last.outcome, DX_OUTCOME_TIMED_OUT);
    /* The answer that comes after all is dropped. */
    answer(id, "\"result\":{\"config\":\"{}\"}");
    talk_quiet(&talk);
    end();
}

/* A configuration is an object, in whatever form it came. */
static void case_41_configurations(void **state) {
    (void)state;
    static const char *const revisions[] = {"seed", "real"};
    static const char *const forms[] = {"{\"tool\":1}", "\"{\\\"tool\\\":1}\""};
    for (size_t i = 0; i < 2 * LENGTH(revisions); i++) {
        char id[64];
        char result[100];
        begin(revisions[i / 2]);
        assert_int_equal(dx_finecode_job_ask(demo_kept, "projects/getRawConfig",
                                             JSON("{\"projectDefPath\":\"/p\"}"), on_answer, &talk),
                         DX_OK);
        hear_request("projects/getRawConfig", "{\"projectDefPath\":\"/p\"}", id);
        (void)snprintf(result, sizeof result, "\"result\":{\"config\":%s}", forms[i % 2]);
        answer(id, result);
        talk_quiet(&talk);
        assert_int_equal(last.outcome, DX_OUTCOME_RESULT);
        assert_string_equal(said, "{\"config\":{\"tool\":1}}");
        assert_int_equal(dx_finecode_job_ask(demo_kept, "projects/getRawConfig",
                                             JSON("{\"projectDefPath\":\"/p\"}"), on_answer, &talk),
                         DX_OK);
        hear_request("projects/getRawConfig", "{\"projectDefPath\":\"/p\"}", id);
        answer(id, "\"result\":{\"config\":\"{\"}");
        talk_quiet(&talk);
        assert_int_equal(last.outcome, DX_OUTCOME_INVALID);
        dx_finecode_job_done(demo_kept, dx_json_none(), 0);
        assert_has(talk_hear(&talk), "success");
        end();
    }
}

/* What the document does not have, what is no JSON, what comes too late. */
static void questions_that_can_not_be_asked(void **state) {
    (void)state;
    begin("seed");
    assert_int_equal(dx_finecode_job_ask(demo_kept, "finecode/listWorkspaceActions", JSON("{}"),
                                         on_answer, &talk),
                     DX_MISFIT);
    assert_int_equal(
        dx_finecode_job_ask(demo_kept, "projects/getRawConfig", JSON("{"), on_answer, &talk),
        DX_ERR_INVALID);
    assert_int_equal(
        dx_finecode_job_ask(demo_kept, "projects/getRawConfig", JSON("{}"), on_answer, &talk),
        DX_MISFIT);
    close(talk.to);
    talk.to = -1;
    assert_int_equal(talk_leaves(&talk), 0);
    assert_int_equal(
        dx_finecode_job_ask(demo_kept, "projects/getRawConfig", JSON("{}"), on_answer, &talk),
        DX_CLOSED);
    dx_finecode_job_done(demo_kept, dx_json_none(), 0);
    assert_int_equal(answers, 0);
    talk_free(&talk);
}

/* {} and not null, which only managers say. */
static void a_question_without_params(void **state) {
    (void)state;
    char id[64];
    begin("real");
    assert_int_equal(dx_finecode_job_ask(demo_kept, "workspace/getProjectPaths", dx_json_none(),
                                         on_answer, &talk),
                     DX_OK);
    hear_request("workspace/getProjectPaths", "{}", id);
    answer(id, "\"result\":{\"projects\":[]}");
    talk_quiet(&talk);
    assert_int_equal(answers, 1);
    assert_string_equal(said, "{\"projects\":[]}");
    dx_finecode_job_done(demo_kept, dx_json_none(), 0);
    assert_has(talk_hear(&talk), "success");
    end();
}

static void case_44_cancellation(void **state) {
    (void)state;
    static const char *const revisions[] = {"seed", "real"};
    for (size_t i = 0; i < LENGTH(revisions); i++) {
        begin(revisions[i]);
        uint64_t before = talk_now();
        talk_notify(&talk, "$/cancelRequest", "{\"id\":2}");
        talk_expect(&talk, "{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":-32800,\"message\":"
                           "\"Request cancelled\"}}");
        assert_true(talk_now() - before < 100);
        assert_int_equal(demo_cancelled, 1);
        assert_true(dx_finecode_job_is_cancelled(demo_kept));
        /* Again, unknown, of one that has ended. */
        talk_notify(&talk, "$/cancelRequest", "{\"id\":2}");
        talk_notify(&talk, "$/cancelRequest", "{\"id\":\"nope\"}");
        talk_notify(&talk, "$/cancelRequest", "{\"id\":0}");
        talk_quiet(&talk);
        assert_int_equal(demo_cancelled, 1);
        /* It ends in its own time, and nobody hears of it; no handler follows. */
        dx_finecode_job_done(demo_kept, JSON("{\"items\":[1]}"), 0);
        talk_quiet(&talk);
        end();
    }
}

static void end_at_once(dx_finecode_job *job, void *user) {
    (void)user;
    demo_cancelled++;
    dx_finecode_job_cancel(job);
}

static void case_44_the_job_ends_at_once(void **state) {
    (void)state;
    begin("real");
    dx_finecode_job_on_cancel(demo_kept, end_at_once, NULL);
    talk_notify(&talk, "$/cancelRequest", "{\"id\":2}");
    talk_error(&talk, 2, -32800, "Request cancelled");
    assert_int_equal(demo_cancelled, 1);
    end();
}

/* One that registers late hears of it from the loop. */
static void case_44_told_late(void **state) {
    (void)state;
    begin("real");
    dx_finecode_job_on_cancel(demo_kept, NULL, NULL);
    talk_notify(&talk, "$/cancelRequest", "{\"id\":2}");
    talk_error(&talk, 2, -32800, "Request cancelled");
    assert_int_equal(demo_cancelled, 0);
    dx_finecode_job_on_cancel(demo_kept, end_at_once, NULL);
    assert_int_equal(demo_cancelled, 0);
    talk_quiet(&talk);
    assert_int_equal(demo_cancelled, 1);
    end();
}

/* A nested run is cancelled with its run. */
static void case_44_nested_runs(void **state) {
    (void)state;
    char id[64];
    char cancel[200];
    begin("seed");
    assert_int_equal(
        dx_finecode_job_run_in_project(demo_kept, "other.Action", dx_json_none(), on_nested, &talk),
        DX_OK);
    hear_request("finecode/runActionInProject",
                 "{\"actionSource\":\"other.Action\",\"payload\":{}," META "}", id);
    talk_notify(&talk, "$/cancelRequest", "{\"id\":2}");
    (void)snprintf(cancel, sizeof cancel,
                   "{\"jsonrpc\":\"2.0\",\"method\":\"$/cancelRequest\",\"params\":{\"id\":%s}}",
                   id);
    talk_expect(&talk, cancel);
    talk_error(&talk, 2, -32800, "Request cancelled");
    assert_int_equal(answers, 0);
    answer(id, "\"error\":{\"code\":-32800,\"message\":\"Request cancelled\"}");
    talk_quiet(&talk);
    assert_int_equal(answers, 1);
    end();
}

/* A job that ends without waiting for its answer: nobody needs the nested run any more. */
static void a_job_ends_before_its_answer(void **state) {
    (void)state;
    char id[64];
    begin("real");
    assert_int_equal(
        dx_finecode_job_run_in_project(demo_kept, "other.Action", dx_json_none(), on_nested, &talk),
        DX_OK);
    hear_request("finecode/runActionInProject",
                 "{\"actionSource\":\"other.Action\",\"payload\":{}," META "}", id);
    dx_finecode_job_done(demo_kept, dx_json_none(), 0);
    assert_has(talk_hear(&talk), "\"method\":\"$/cancelRequest\"");
    assert_has(talk_hear(&talk), "\"id\":2,\"result\"");
    answer(id, "\"result\":{\"returnCode\":0,\"result\":{}}");
    talk_quiet(&talk);
    assert_int_equal(answers, 0);
    end();
}

/* Freed with a question under way: it ends, once. */
static void freed_with_a_question(void **state) {
    (void)state;
    begin("real");
    assert_int_equal(
        dx_finecode_job_run_in_project(demo_kept, "other.Action", dx_json_none(), on_nested, &talk),
        DX_OK);
    dx_finecode_er_free(talk.er);
    talk.er = NULL;
    assert_int_equal(answers, 1);
    assert_int_equal(last.outcome, DX_OUTCOME_LOST);
    talk_free(&talk);
    free(said);
    said = NULL;
}

/* The manager is gone with a question under way. */
static void lost_with_a_question(void **state) {
    (void)state;
    begin("real");
    assert_int_equal(
        dx_finecode_job_run_in_project(demo_kept, "other.Action", dx_json_none(), on_nested, &talk),
        DX_OK);
    close(talk.to);
    talk.to = -1;
    assert_int_equal(talk_leaves(&talk), 0);
    assert_int_equal(answers, 1);
    assert_int_equal(last.outcome, DX_OUTCOME_LOST);
    talk_free(&talk);
}

#define PATH_OF(number)                                                            \
    "{\"workingDir\":\"/p\",\"projectName\":\"p\",\"projectDefPath\":\"/p/" number \
    "\",\"config\":{\"actions\":[],\"action_handler_configs\":{}}}"

/* By the document it is part of updateConfig, whose answer waits for it, but not for ever. */
static void raw_config(void **state) {
    char id[64];
    char second[64];
    (void)state;
    talk_raw_config_ms = 60000;
    demo_start(&talk, "seed");
    assert_int_equal(yyjson_obj_size(dx_finecode_er_raw_config(talk.er)), 0);
    talk_request(&talk, 2, "finecodeRunner/updateConfig", PATH_OF("1"));
    hear_request("projects/getRawConfig", "{\"projectDefPath\":\"/p/1\"}", id);
    talk_quiet(&talk);
    /* Another one takes its place, and nothing of the first counts any more. */
    talk_request(&talk, 3, "finecodeRunner/updateConfig", PATH_OF("2"));
    talk_result(&talk, 2, "{}");
    hear_request("projects/getRawConfig", "{\"projectDefPath\":\"/p/2\"}", second);
    answer(id, "\"result\":{\"config\":\"{\\\"n\\\":1}\"}");
    talk_quiet(&talk);
    answer(second, "\"result\":{\"config\":\"{\\\"n\\\":2}\"}");
    talk_result(&talk, 3, "{}");
    assert_int_equal(yyjson_get_int(yyjson_obj_get(dx_finecode_er_raw_config(talk.er), "n")), 2);
    talk_request(&talk, 4, "finecodeRunner/updateConfig", PATH_OF("3"));
    hear_request("projects/getRawConfig", "{\"projectDefPath\":\"/p/3\"}", id);
    answer(id, "\"error\":{\"code\":-32603,\"message\":\"no such project\"}");
    talk_result(&talk, 4, "{}");
    assert_has(talk.log, "no such project");
    talk_request(&talk, 5, "finecodeRunner/updateConfig", PATH_OF("4"));
    hear_request("projects/getRawConfig", "{\"projectDefPath\":\"/p/4\"}", id);
    demo_stop_talk(&talk);

    talk_raw_config_ms = 1;
    demo_start(&talk, "seed");
    talk_request(&talk, 2, "finecodeRunner/updateConfig", PATH_OF("1"));
    hear_request("projects/getRawConfig", "{\"projectDefPath\":\"/p/1\"}", id);
    talk_result(&talk, 2, "{}");
    answer(id, "\"result\":{\"config\":{\"n\":1}}");
    talk_ask(&talk,
             "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"finecodeRunner/getInfo\",\"params\":{}}",
             "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"logFilePath\":null}}");
    assert_int_equal(yyjson_get_int(yyjson_obj_get(dx_finecode_er_raw_config(talk.er), "n")), 1);
    demo_stop_talk(&talk);
    talk_raw_config_ms = 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(case_38_runs_in_the_project),
        cmocka_unit_test(case_39_partial_results_of_nested_runs),
        cmocka_unit_test(runs_in_the_workspace),
        cmocka_unit_test(a_question_is_not_answered),
        cmocka_unit_test(case_41_configurations),
        cmocka_unit_test(questions_that_can_not_be_asked),
        cmocka_unit_test(a_question_without_params),
        cmocka_unit_test(case_44_cancellation),
        cmocka_unit_test(case_44_the_job_ends_at_once),
        cmocka_unit_test(case_44_told_late),
        cmocka_unit_test(case_44_nested_runs),
        cmocka_unit_test(a_job_ends_before_its_answer),
        cmocka_unit_test(freed_with_a_question),
        cmocka_unit_test(lost_with_a_question),
        cmocka_unit_test(raw_config),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
