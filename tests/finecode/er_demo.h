/* The actions that the recorded traffic knows, with handlers that say the same. */
#ifndef FINECODE_TEST_ER_DEMO_H
#define FINECODE_TEST_ER_DEMO_H

#include "finecode/er_talk.h"

static inline const char *demo_text(dx_finecode_job *job) {
    return yyjson_get_str(yyjson_obj_get(dx_finecode_job_payload(job), "text"));
}

static inline void demo_done(dx_finecode_job *job, const char *result, int code) {
    dx_finecode_job_done(job, dx_json_text(result, strlen(result)), code);
}

/* "PREFIXn:TEXT:prev=N:seen=N", which shows configuration, payload, result so far and context. */
static inline void demo_echo(dx_finecode_job *job, void *user) {
    const char *number = user;
    char result[400];
    char context[40];
    char before[24] = "None";
    if (!demo_text(job)) {
        dx_finecode_job_fail(job, "there is no text");
        return;
    }
    yyjson_val *prefix = yyjson_obj_get(dx_finecode_job_config(job), "prefix");
    yyjson_val *items = yyjson_obj_get(dx_finecode_job_result(job), "items");
    unsigned seen =
        (unsigned)yyjson_get_uint(yyjson_obj_get(dx_finecode_job_context(job), "seen")) + 1;
    if (items)
        (void)snprintf(before, sizeof before, "%zu", yyjson_arr_size(items));
    (void)snprintf(context, sizeof context, "{\"seen\":%u}", seen);
    assert_int_equal(dx_finecode_job_set_context(job, dx_json_text(context, strlen(context))),
                     DX_OK);
    (void)snprintf(result, sizeof result,
                   "{\"items\":[\"%s%s:%s:prev=%s:seen=%u\"],\"by_path\":{%s},\"bad\":false}",
                   prefix ? yyjson_get_str(prefix) : "h", number, demo_text(job), before, seen,
                   *number == '2' ? "\"/a/b\":1" : "");
    demo_done(job, result, 0);
}

static inline void demo_item(dx_finecode_job *job, void *user) {
    char result[200];
    (void)snprintf(result, sizeof result, "{\"items\":[\"%s\"],\"by_path\":{},\"bad\":false}",
                   (const char *)user);
    demo_done(job, result, 0);
}

static inline void demo_stop(dx_finecode_job *job, void *user) {
    (void)user;
    dx_finecode_job_stop(job, JSON("{\"items\":[\"stopped early\"],\"by_path\":{},\"bad\":true}"),
                         0);
}

static inline void demo_fail(dx_finecode_job *job, void *user) {
    (void)user;
    dx_finecode_job_fail(job, "declared failure");
}

/* Neither an end nor a keep. */
static inline void demo_boom(dx_finecode_job *job, void *user) {
    (void)job;
    (void)user;
}

static inline void demo_none(dx_finecode_job *job, void *user) {
    (void)user;
    dx_finecode_job_done(job, dx_json_none(), 0);
}

static inline void demo_cancel(dx_finecode_job *job, void *user) {
    (void)user;
    dx_finecode_job_cancel(job);
}

static inline void demo_bad(dx_finecode_job *job, void *user) {
    (void)user;
    demo_done(job, "{\"items\":[\"bad\"],\"by_path\":{},\"bad\":true}", 0);
}

static inline void demo_code(dx_finecode_job *job, void *user) {
    (void)user;
    demo_done(job, "{\"items\":[]}", 7);
}

/* A job that a test ends. */
static dx_finecode_job *demo_kept;
static unsigned demo_cancelled;

static inline void demo_on_cancel(dx_finecode_job *job, void *user) {
    (void)user;
    assert_true(dx_finecode_job_is_cancelled(job));
    demo_cancelled++;
}

static inline void demo_keep(dx_finecode_job *job, void *user) {
    (void)user;
    demo_kept = job;
    dx_finecode_job_keep(job);
    dx_finecode_job_on_cancel(job, demo_on_cancel, NULL);
}

static inline void demo_prog(dx_finecode_job *job, void *user) {
    (void)user;
    dx_finecode_job_begin(job, "Working", NULL, 2);
    dx_finecode_job_report(job, "one", 50);
    dx_finecode_job_report(job, "two", 100);
    dx_finecode_job_finish(job, NULL);
    demo_done(job, "{\"items\":[\"prog\"],\"by_path\":{},\"bad\":false}", 0);
}

/* n partial results, all at once. */
static inline void demo_fast(dx_finecode_job *job, void *user) {
    (void)user;
    uint64_t n = yyjson_get_uint(yyjson_obj_get(dx_finecode_job_payload(job), "n"));
    for (uint64_t i = 0; i < n; i++) {
        char result[100];
        (void)snprintf(result, sizeof result,
                       "{\"items\":[\"part%llu\"],\"by_path\":{},\"bad\":false}",
                       (unsigned long long)i);
        assert_int_equal(dx_finecode_job_partial(job, dx_json_text(result, strlen(result))), DX_OK);
    }
    dx_finecode_job_done(job, dx_json_none(), 0);
}

static inline dx_status demo_lines(yyjson_val *result, dx_buf *text, int *ret_styled, void *user) {
    (void)ret_styled;
    (void)user;
    dx_status status = DX_OK;
    yyjson_arr_iter iter = yyjson_arr_iter_with(yyjson_obj_get(result, "items"));
    for (yyjson_val *item; status == DX_OK && (item = yyjson_arr_iter_next(&iter));) {
        if (text->len)
            status = dx_buf_append(text, "\n", 1);
        if (status == DX_OK && yyjson_is_str(item))
            status = dx_buf_append(text, yyjson_get_str(item), yyjson_get_len(item));
    }
    return status;
}

static inline dx_status demo_styled(yyjson_val *result, dx_buf *text, int *ret_styled, void *user) {
    static const char styled[] = "{\"parts\":[{\"text\":\"bold\\n\",\"bold\":true},\"plain\"]}";
    (void)result;
    (void)user;
    *ret_styled = 1;
    return dx_buf_append(text, styled, sizeof styled - 1);
}

#define DEMO_PAYLOAD                                                                 \
    "{\"properties\":{\"text\":{\"type\":\"string\"},\"n\":{\"type\":\"integer\"}}," \
    "\"required\":[\"text\"],\"description\":\"d\"}"
#define DEMO_MERGE "{\"items\":\"concat\",\"by_path\":\"merge\",\"bad\":\"or\"}"

static const struct {
    const char *name;
    void (*run)(dx_finecode_job *job, void *user);
    const char *user;
} demo_handlers[] = {
    {"H1", demo_echo, "1"},  {"H2", demo_echo, "2"},  {"C1", demo_item, "c1"},
    {"C2", demo_item, "c2"}, {"Stop", demo_stop, ""}, {"Fail", demo_fail, ""},
    {"Boom", demo_boom, ""}, {"None", demo_none, ""}, {"Canc", demo_cancel, ""},
    {"Bad", demo_bad, ""},   {"Code", demo_code, ""}, {"Keep", demo_keep, ""},
    {"Prog", demo_prog, ""}, {"Fast", demo_fast, ""},
};

/* "demo.acts.NAME" */
static inline void demo_handler(struct talk *talk, size_t i) {
    char source[60];
    dx_error error = {.phrase = ""};
    (void)snprintf(source, sizeof source, "demo.acts.%s", demo_handlers[i].name);
    dx_finecode_handler handler = {.source = source,
                                   .location = i == 0 ? "/ws/demo/acts.py:79" : NULL,
                                   .run = demo_handlers[i].run,
                                   .user = (void *)(uintptr_t)demo_handlers[i].user};
    if (dx_finecode_er_add_handler(talk->er, &handler, &error) != DX_OK)
        fail_msg("%s", error.phrase);
}

static inline void demo_action(struct talk *talk, dx_finecode_action action) {
    dx_error error = {.phrase = ""};
    action.payload = DEMO_PAYLOAD;
    action.merge = DEMO_MERGE;
    action.fails_if = "/bad";
    if (!action.format)
        action.format = demo_lines;
    if (dx_finecode_er_add_action(talk->er, &action, &error) != DX_OK)
        fail_msg("%s", error.phrase);
}

static inline void demo_declare(struct talk *talk) {
    static const char *const plain[] = {"demo.Stop", "demo.Fail", "demo.Boom", "demo.None",
                                        "demo.Canc", "demo.Bad",  "demo.Code", "demo.Keep",
                                        "demo.Prog", "demo.Fast", "demo.Half"};
    for (size_t i = 0; i < LENGTH(demo_handlers); i++)
        demo_handler(talk, i);
    demo_action(talk, (dx_finecode_action){.source = "demo.Echo",
                                           .canonical_source = "demo.acts.Echo",
                                           .location = "/ws/demo/acts.py:40"});
    demo_action(talk, (dx_finecode_action){.source = "demo.Conc", .runs_concurrently = 1});
    demo_action(talk, (dx_finecode_action){.source = "demo.ConcStop", .runs_concurrently = 1});
    demo_action(talk, (dx_finecode_action){.source = "demo.Styled", .format = demo_styled});
    demo_action(talk, (dx_finecode_action){.source = "demo.Lang",
                                           .parent = "demo.Echo",
                                           .language = "python",
                                           .workspace = 1});
    for (size_t i = 0; i < LENGTH(plain); i++)
        demo_action(talk, (dx_finecode_action){.source = plain[i]});
    assert_int_equal(dx_finecode_er_add_alias(talk->er, "demo.old.Echo", "demo.Echo"), DX_OK);
    assert_int_equal(dx_finecode_er_add_package(talk->er, "demo_ext", "/ws/demo"), DX_OK);
}

#define DEMO_H(name, source, config)                                                \
    "{\"name\":\"" name "\",\"source\":\"demo.acts." source "\",\"config\":" config \
    ",\"env\":\"dev\",\"dependencies\":[]}"
#define DEMO_A(name, source, handlers)                                                            \
    "{\"name\":\"" name "\",\"source\":\"demo." source "\",\"config\":{},\"handlers\":[" handlers \
    "]}"

#define DEMO_CONFIG                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                        \
    "{\"actions\":[" DEMO_A(                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                               \
        "echo", "Echo",                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                    \
        DEMO_H("h1", "H1", "{}") "," DEMO_H(                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                               \
            "h2", "H2", "{\"prefix\":\"hh\"}")) "," DEMO_A("conc", "Conc",                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                 \
                                                           DEMO_H("c1", "C1",                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                              \
                                                                  "{}") "," DEMO_H("c2", "C2", "{}")) "," DEMO_A("conc_stop", "ConcStop", DEMO_H("stop", "Stop", "{}") "," DEMO_H("c2", "C2", "{}")) "," DEMO_A("styled", "Styled", DEMO_H("c1", "C1", "{}")) "," DEMO_A("lang",                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                           \
                                                                                                                                                                                                                                                                         "Lang",                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                           \
                                                                                                                                                                                                                                                                         DEMO_H(                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                           \
                                                                                                                                                                                                                                                                             "c1",                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                         \
                                                                                                                                                                                                                                                                             "C1", "{}")) "," DEMO_A("stop",                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                               \
                                                                                                                                                                                                                                                                                                     "Stop",                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                               \
                                                                                                                                                                                                                                                                                                     DEMO_H(                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                               \
                                                                                                                                                                                                                                                                                                         "stop",                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                           \
                                                                                                                                                                                                                                                                                                         "Stop",                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                           \
                                                                                                                                                                                                                                                                                                         "{}") "," DEMO_H("c2", "C2", "{}")) "," DEMO_A("fail",                                                                                                                                                                                                                                                                                                                                                                                                                                                            \
                                                                                                                                                                                                                                                                                                                                                        "Fail",                                                                                                                                                                                                                                                                                                                                                                                                                                                            \
                                                                                                                                                                                                                                                                                                                                                        DEMO_H("fail", "Fail", "{}")) "," DEMO_A("boom",                                                                                                                                                                                                                                                                                                                                                                                                                   \
                                                                                                                                                                                                                                                                                                                                                                                                 "Boom",                                                                                                                                                                                                                                                                                                                                                                                                                   \
                                                                                                                                                                                                                                                                                                                                                                                                 DEMO_H(                                                                                                                                                                                                                                                                                                                                                                                                                   \
                                                                                                                                                                                                                                                                                                                                                                                                     "boom", "Boom", "{}")) "," DEMO_A("none",                                                                                                                                                                                                                                                                                                                                                                             \
                                                                                                                                                                                                                                                                                                                                                                                                                                       "None",                                                                                                                                                                                                                                                                                                                                                                             \
                                                                                                                                                                                                                                                                                                                                                                                                                                       DEMO_H("none",                                                                                                                                                                                                                                                                                                                                                                      \
                                                                                                                                                                                                                                                                                                                                                                                                                                              "None",                                                                                                                                                                                                                                                                                                                                                                      \
                                                                                                                                                                                                                                                                                                                                                                                                                                              "{}")) "," DEMO_A("canc",                                                                                                                                                                                                                                                                                                                                                    \
                                                                                                                                                                                                                                                                                                                                                                                                                                                                "Canc",                                                                                                                                                                                                                                                                                                                                                    \
                                                                                                                                                                                                                                                                                                                                                                                                                                                                DEMO_H("canc", "Canc", "{}")) "," DEMO_A("bad",                                                                                                                                                                                                                                                                                                            \
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                         "Bad",                                                                                                                                                                                                                                                                                                            \
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                         DEMO_H(                                                                                                                                                                                                                                                                                                           \
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                             "bad",                                                                                                                                                                                                                                                                                                        \
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                             "Bad",                                                                                                                                                                                                                                                                                                        \
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                             "{}")) "," DEMO_A("code",                                                                                                                                                                                                                                                                                     \
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                               "Code",                                                                                                                                                                                                                                                                                     \
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                               DEMO_H("code",                                                                                                                                                                                                                                                                              \
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                      "Code",                                                                                                                                                                                                                                                                              \
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                      "{}")) "," DEMO_A("keep", "Keep", DEMO_H("keep", "Keep", "{}")) "," DEMO_A("prog",                                                                                                                                                                                                   \
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                 "Prog",                                                                                                                                                                                                   \
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                 DEMO_H(                                                                                                                                                                                                   \
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                     "prog", "Prog", "{}")) "," DEMO_A("fast",                                                                                                                                                             \
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                       "Fast",                                                                                                                                                             \
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                       DEMO_H(                                                                                                                                                             \
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                           "fast",                                                                                                                                                         \
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                           "Fast",                                                                                                                                                         \
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                           "{}")) "," DEMO_A("half", "Half", DEMO_H("lost", "Lost", "{}")) "," DEMO_A("missing",                                                                           \
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                      "Missing",                                                                           \
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                      DEMO_H(                                                                              \
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                          "c1",                                                                            \
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                          "C1",                                                                            \
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                          "{}")) "],\"action_handler_configs\":{\"demo.acts.H1\":{\"prefix\":\"global\"}," \
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                 "\"demo.acts.H2\":{\"prefix\":\"over\",\"list\":[1,2]}}}"

#define DEMO_META "\"meta\":{\"trigger\":\"user\",\"devEnv\":\"cli\",\"orchestrationDepth\":3}"
#define DEMO_OPTIONS(more) "{\"walRunId\":\"w-1\"," DEMO_META more "}"

/* params of actions/run; `more` are further options, with a comma before them. */
static inline void demo_run(struct talk *talk, int id, const char *action, const char *payload,
                            const char *more) {
    char params[1000];
    (void)snprintf(
        params, sizeof params,
        "{\"actionName\":\"%s\",\"params\":%s,\"options\":{\"walRunId\":\"w-1\"," DEMO_META "%s}}",
        action, payload, more);
    talk_request(talk, id, "actions/run", params);
}

/* `more` are further params. */
static inline void demo_segment(struct talk *talk, int id, const char *action, const char *names,
                                const char *more, const char *options) {
    char params[1000];
    (void)snprintf(
        params, sizeof params,
        "{\"actionName\":\"%s\",\"handlerNames\":%s%s,\"options\":{\"walRunId\":\"w-1\"," DEMO_META
        "%s}}",
        action, names, more, options);
    talk_request(talk, id, "actions/runHandlers", params);
}

/* A runner that is ready. */
static inline void demo_start(struct talk *talk, const char *revision) {
    talk_new(talk, revision);
    demo_declare(talk);
    talk_pipes(talk);
    talk_greet(talk);
    talk_configure(talk, DEMO_CONFIG);
    demo_kept = NULL;
    demo_cancelled = 0;
}

static inline void demo_stop_talk(struct talk *talk) {
    talk_request(talk, 900, "shutdown", "null");
    talk_result(talk, 900, "null");
    talk_notify(talk, "exit", "null");
    assert_int_equal(talk_leaves(talk), 0);
    talk_quiet(talk); /* not a byte more */
    talk_free(talk);
}

#endif
