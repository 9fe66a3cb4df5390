/* Anything in any order: every request is answered once, nothing comes after its answer, nothing
 * leaks. */
#include "finecode/er_demo.h"

enum { JOBS = 64, IDS = 400, ROUNDS = 300, STEPS = 120 };

static struct talk talk;
static uint64_t state = 88172645463325252U;
static dx_finecode_job *jobs[JOBS]; /* kept */
static size_t job_count;
static bool answered[IDS];
static bool asked[IDS];
static int next_id;
static char questions[JOBS][64]; /* ids of the runner's that wait for an answer */
static size_t question_count;

static size_t chance(size_t limit) {
    return unit_random(&state, limit);
}

static void forget(const dx_finecode_job *job) {
    for (size_t i = 0; i < job_count; i++)
        if (jobs[i] == job) {
            jobs[i] = jobs[--job_count];
            return;
        }
}

static void end_job(dx_finecode_job *job) {
    forget(job);
    switch (chance(5)) {
    case 0:
        dx_finecode_job_done(job, JSON("{\"items\":[\"r\"],\"bad\":true}"), (int)chance(3));
        break;
    case 1:
        dx_finecode_job_stop(job, JSON("{\"items\":[\"s\"]}"), 0);
        break;
    case 2:
        dx_finecode_job_fail(job, "random");
        break;
    case 3:
        dx_finecode_job_cancel(job);
        break;
    default:
        dx_finecode_job_done(job, dx_json_none(), 0);
        break;
    }
}

static void on_answer(dx_finecode_job *job, const dx_event *event, void *user) {
    (void)event;
    (void)user;
    if (chance(2))
        end_job(job);
}

static void work_on(dx_finecode_job *job) {
    switch (chance(6)) {
    case 0:
        (void)dx_finecode_job_partial(job, JSON("{\"items\":[\"p\"]}"));
        break;
    case 1:
        dx_finecode_job_begin(job, "b", "m", (int64_t)chance(3));
        break;
    case 2:
        dx_finecode_job_report(job, "r", (int)chance(100));
        break;
    case 3:
        (void)dx_finecode_job_set_context(job, JSON("{\"c\":1}"));
        break;
    case 4:
        if (question_count < JOBS / 2)
            (void)dx_finecode_job_run_in_project(job, "a.B", dx_json_none(), on_answer, NULL);
        break;
    default:
        dx_finecode_job_finish(job, NULL);
        break;
    }
}

static void on_cancel(dx_finecode_job *job, void *user) {
    (void)user;
    assert_true(dx_finecode_job_is_cancelled(job));
    if (chance(2))
        end_job(job);
}

static void any(dx_finecode_job *job, void *user) {
    (void)user;
    for (size_t i = chance(4); i; i--)
        work_on(job);
    if (job_count < JOBS && chance(3)) {
        jobs[job_count++] = job;
        dx_finecode_job_keep(job);
        if (chance(3))
            dx_finecode_job_on_cancel(job, on_cancel, NULL);
    } else if (chance(5)) {
        end_job(job);
    } /* else it forgets to end */
}

#define CONFIG                                                                                  \
    "{\"actions\":[" DEMO_A(                                                                    \
        "one", "Echo",                                                                          \
        DEMO_H("a", "Any", "{}") "," DEMO_H("b", "Any", "{}") "," DEMO_H(                       \
            "c", "Any",                                                                         \
            "{}")) "," DEMO_A("two", "Conc",                                                    \
                              DEMO_H("a", "Any", "{}") "," DEMO_H("b", "Any", "{}") "," DEMO_H( \
                                  "c", "Any", "{}")) "],\"action_handler_configs\":{}}"

/* What came; false if there was nothing. */
static bool hear(void) {
    char *body = talk_wait(&talk, 0);
    int id = -1;
    if (!body)
        return false;
    if (strstr(body, "\"method\":\"finecode/runActionInProject\"")) {
        char *start = strstr(body, "\"id\":") + 5;
        (void)snprintf(questions[question_count++], 64, "%.*s",
                       (int)(strstr(body, ",\"method\"") - start), start);
    } else if (strstr(body, "$/progress")) {
        char *token = strstr(body, "\"token\":");
        size_t run = strtoul(token + 8, NULL, 10);
        assert_true(run < IDS && asked[run] && !answered[run]);
    } else if (!strstr(body, "\"method\"")) {
        assert_int_equal(sscanf(body, "{\"jsonrpc\":\"2.0\",\"id\":%d,", &id), 1);
        assert_true(id >= 0 && id < IDS && asked[id] && !answered[id]);
        answered[id] = true;
    }
    return true;
}

static void answer_question(void) {
    char text[200];
    size_t i = chance(question_count);
    (void)snprintf(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"id\":%s,%s}", questions[i],
                   chance(2) ? "\"result\":{\"returnCode\":0,\"result\":{}}"
                             : "\"error\":{\"code\":-32603,\"message\":\"no\"}");
    memmove(questions[i], questions[--question_count], 64);
    talk_say(&talk, text);
}

static void start_run(void) {
    char options[200] = "";
    if (chance(2))
        (void)snprintf(options, sizeof options, ",\"partialResultToken\":%d,\"progressToken\":%d",
                       next_id, next_id);
    asked[next_id] = true;
    if (chance(2))
        demo_run(&talk, next_id, chance(2) ? "one" : "two", "{\"text\":\"t\"}", options);
    else
        demo_segment(&talk, next_id, chance(2) ? "one" : "two", "[\"c\",\"zz\",\"a\"]",
                     ",\"params\":{\"text\":\"t\"},\"previousResult\":{\"items\":[0]}", options);
    next_id++;
}

static void step(void) {
    char params[40];
    switch (chance(8)) {
    case 0:
    case 1:
        if (next_id < IDS)
            start_run();
        break;
    case 2:
        (void)snprintf(params, sizeof params, "{\"id\":%d}", (int)chance(IDS));
        if (chance(3) == 0 && next_id > 1)
            (void)snprintf(params, sizeof params, "{\"id\":%d}", next_id - 1);
        talk_notify(&talk, "$/cancelRequest", params);
        break;
    case 3:
        if (job_count)
            end_job(jobs[chance(job_count)]);
        break;
    case 4:
        if (job_count)
            work_on(jobs[chance(job_count)]);
        break;
    case 5:
        if (question_count)
            answer_question();
        break;
    case 6:
        if (next_id < IDS && chance(4) == 0) {
            asked[next_id] = true;
            talk_request(&talk, next_id++, "finecodeRunner/updateConfig",
                         "{\"workingDir\":\"/w\",\"projectName\":\"w\",\"projectDefPath\":\"/p\","
                         "\"config\":" CONFIG "}");
        }
        break;
    default:
        talk_turn(&talk, 0);
        while (hear())
            ;
        break;
    }
}

/* Until everything is answered; jobs that wait for something are ended. */
static void settle(void) {
    uint64_t until = talk_now() + TALK_PATIENCE_MS;
    for (int id = 2; id < next_id;) {
        assert_true(talk_now() < until);
        talk_turn(&talk, 5);
        while (hear())
            ;
        if (job_count)
            end_job(jobs[0]);
        if (answered[id])
            id++;
    }
}

static void begin(const char *revision) {
    dx_finecode_handler handler = {.source = "demo.acts.Any", .run = any};
    job_count = question_count = 0;
    memset(answered, 0, sizeof answered);
    memset(asked, 0, sizeof asked);
    talk_init(&talk);
    dx_finecode_er_config config = talk_config(&talk, revision);
    config.partial_ms = chance(3);
    assert_int_equal(dx_finecode_er_new(&config, &talk.er, NULL), DX_OK);
    demo_declare(&talk);
    assert_int_equal(dx_finecode_er_add_handler(talk.er, &handler, NULL), DX_OK);
    talk_socketpair(&talk);
    talk_greet(&talk);
    talk_configure(&talk, CONFIG);
    next_id = 2;
}

static void end(void) {
    switch (chance(4)) {
    case 0:
        settle();
        talk_notify(&talk, "exit", "null");
        assert_int_equal(talk_leaves(&talk), 0);
        break;
    case 1: /* exit answers all that is left */
        talk_notify(&talk, "exit", "null");
        assert_int_equal(talk_leaves(&talk), 0);
        talk_turn(&talk, 0);
        while (hear())
            ;
        for (int id = 2; id < next_id; id++)
            assert_true(answered[id]);
        break;
    case 2:
        talk_close(&talk);
        assert_int_equal(talk_leaves(&talk), 0);
        break;
    default:
        break;
    }
    dx_finecode_er_free(talk.er);
    talk.er = NULL;
    while (job_count)
        end_job(jobs[0]);
    talk_free(&talk);
}

static void anything(void **unused) {
    (void)unused;
    for (int round = 0; round < ROUNDS; round++) {
        begin(round % 2 ? "real" : "seed");
        for (int i = 0; i < STEPS; i++)
            step();
        end();
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(anything)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
