/* A model that is asked, and what it says written down: "text(a)thought(b)call(id,name,args)
 * retry(kind,status,wait)done(12)" or "fail(kind,status,retryable,message)". */
#ifndef AUTOHAND_MODEL_TALK_H
#define AUTOHAND_MODEL_TALK_H

#include "unit/unit.h"

#include <duplex/autohand-model.h>

#include <stdio.h>
#include <time.h>

struct talk {
    dx_loop *loop;
    dx_autohand_model *model;
    char heard[200000];
    size_t texts, calls, retries, dones, fails;
    dx_autohand_failure failure; /* without its message */
    char why[500];
    uint64_t wait_ms;
    int64_t tokens;
    /* What is done from inside: when so many texts (calls, ends) were heard. */
    size_t cancel_at_text, free_at_text, free_at_call, cancel_at_call, free_at_end, cancel_at_retry;
    size_t again; /* asks again so many times */
};

static inline void talk_add(struct talk *talk, const char *word, dx_text text) {
    size_t len = strlen(talk->heard);
    assert_true(len + text.len + 100 < sizeof talk->heard);
    (void)snprintf(talk->heard + len, sizeof talk->heard - len, "%s(%.*s)", word, (int)text.len,
                   text.at ? text.at : "");
}

static inline void talk_text(void *user, dx_text delta) {
    struct talk *talk = user;
    talk->texts++;
    if (strlen(talk->heard) < sizeof talk->heard / 2)
        talk_add(talk, "text", delta);
    if (talk->texts == talk->cancel_at_text)
        talk->model->cancel(talk->model);
    if (talk->texts == talk->free_at_text)
        talk->model = dx_autohand_model_free(talk->model);
    /* It is lent until we return, whatever we did. */
    for (size_t i = 0; i < delta.len; i++)
        assert_int_not_equal((unsigned char)delta.at[i], 0xdd);
}

static inline void talk_thought(void *user, dx_text delta) {
    talk_add(user, "thought", delta);
}

static inline void talk_call(void *user, dx_text id, dx_text name, dx_text args) {
    struct talk *talk = user;
    size_t len = strlen(talk->heard);
    if (len < sizeof talk->heard / 2)
        (void)snprintf(talk->heard + len, sizeof talk->heard - len, "call(%.*s,%.*s,%.*s)",
                       (int)id.len, id.at ? id.at : "", (int)name.len, name.at, (int)args.len,
                       args.at);
    if (++talk->calls == talk->free_at_call)
        talk->model = dx_autohand_model_free(talk->model);
    else if (talk->calls == talk->cancel_at_call)
        talk->model->cancel(talk->model);
}

static const char *const talk_kinds[] = {"unknown",    "context", "auth",    "payment", "model",
                                         "rate_limit", "server",  "network", "timeout"};

static inline void talk_retry(void *user, const dx_autohand_failure *failure, uint64_t wait_ms) {
    struct talk *talk = user;
    char room[100];
    (void)snprintf(room, sizeof room, "%s,%d,%llu", talk_kinds[failure->kind], failure->status,
                   (unsigned long long)wait_ms);
    talk_add(talk, "retry", dx_str(room));
    talk->wait_ms = wait_ms;
    if (++talk->retries == talk->cancel_at_retry)
        talk->model->cancel(talk->model);
}

static inline void talk_ask(struct talk *talk, const char *prompt);

static inline void talk_end(struct talk *talk) {
    if (talk->dones + talk->fails == talk->free_at_end)
        talk->model = dx_autohand_model_free(talk->model);
    if (talk->again && talk->again--)
        talk_ask(talk, "again");
    else
        dx_loop_stop(talk->loop);
}

static inline void talk_done(void *user, int64_t tokens) {
    struct talk *talk = user;
    char room[32];
    (void)snprintf(room, sizeof room, "%lld", (long long)tokens);
    talk_add(talk, "done", dx_str(room));
    talk->tokens = tokens;
    talk->dones++;
    talk_end(talk);
}

static inline void talk_fail(void *user, const dx_autohand_failure *failure) {
    struct talk *talk = user;
    char room[700];
    talk->failure = *failure;
    (void)snprintf(talk->why, sizeof talk->why, "%.*s", (int)failure->message.len,
                   failure->message.at);
    (void)snprintf(room, sizeof room, "%s,%d,%d,%s", talk_kinds[failure->kind], failure->status,
                   failure->retryable, talk->why);
    talk_add(talk, "fail", dx_str(room));
    talk->fails++;
    talk_end(talk);
}

static inline dx_autohand_listener talk_listener(struct talk *talk) {
    return (dx_autohand_listener){talk_text, talk_thought, talk_call, talk_retry,
                                  talk_done, talk_fail,    talk};
}

/* A question of several messages, as JSON. */
static inline dx_status talk_try(struct talk *talk, const char *messages) {
    yyjson_doc *read = yyjson_read(messages, strlen(messages), 0);
    assert_non_null(read);
    yyjson_mut_doc *doc = yyjson_doc_mut_copy(read, NULL);
    yyjson_mut_val *tools = yyjson_mut_arr(doc);
    dx_autohand_question question = {"", yyjson_mut_doc_get_root(doc), tools};
    dx_autohand_listener listener = talk_listener(talk);
    size_t before = strlen(talk->heard);
    dx_status status = talk->model->ask(talk->model, &question, &listener);
    assert_int_equal(strlen(talk->heard), before); /* nothing comes before it returns */
    yyjson_mut_doc_free(doc);
    yyjson_doc_free(read);
    return status;
}

static inline void talk_ask(struct talk *talk, const char *prompt) {
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *list = yyjson_mut_arr(doc);
    yyjson_mut_val *message = yyjson_mut_arr_add_obj(doc, list);
    yyjson_mut_obj_add_str(doc, message, "role", "user");
    yyjson_mut_obj_add_str(doc, message, "content", prompt);
    yyjson_mut_doc_set_root(doc, list);
    char *json = yyjson_mut_write(doc, 0, NULL);
    assert_int_equal(talk_try(talk, json), DX_OK);
    free(json);
    yyjson_mut_doc_free(doc);
}

static inline uint64_t talk_now(void) {
    struct timespec now;
    assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &now), 0);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static inline void talk_too_late(dx_timer *timer, void *user) {
    (void)timer;
    (void)user;
    fail_msg("nothing happened in time");
}

/* Until it ends. */
static inline void talk_run(struct talk *talk) {
    dx_timer *limit = NULL;
    assert_int_equal(dx_timer_new(talk->loop, talk_too_late, NULL, &limit), DX_OK);
    dx_timer_set(limit, 30000);
    assert_int_equal(dx_loop_run(talk->loop), DX_OK);
    dx_timer_free(limit);
}

static inline void talk_stop_loop(dx_timer *timer, void *user) {
    (void)timer;
    dx_loop_stop(user);
}

static inline void talk_run_for(struct talk *talk, uint64_t ms) {
    dx_timer *limit = NULL;
    assert_int_equal(dx_timer_new(talk->loop, talk_stop_loop, talk->loop, &limit), DX_OK);
    dx_timer_set(limit, ms);
    assert_int_equal(dx_loop_run(talk->loop), DX_OK);
    dx_timer_free(limit);
}

/* Asks, waits, and compares what was heard. */
static inline void talk_hears(struct talk *talk, const char *prompt, const char *heard) {
    talk->heard[0] = '\0';
    talk->texts = talk->calls = talk->retries = talk->dones = talk->fails = 0;
    talk_ask(talk, prompt);
    talk_run(talk);
    assert_string_equal(talk->heard, heard);
}

static inline struct talk *talk_new(void) {
    struct talk *talk = calloc(1, sizeof *talk);
    assert_non_null(talk);
    assert_int_equal(dx_loop_new(NULL, &talk->loop, NULL), DX_OK);
    return talk;
}

static inline void talk_free(struct talk *talk) {
    dx_autohand_model_free(talk->model);
    dx_loop_free(talk->loop);
    free(talk);
}

#endif
