/* A client and an agent that does as its script says; see fake_agent.py. All that is told is kept
 * as one text, so that a test can say what it expects in one line. */
#ifndef CLIENT_TALK_H
#define CLIENT_TALK_H

#include "unit/unit.h"

#include <duplex/autohand-client.h>

#include <stdio.h>
#include <time.h>

struct talk {
    dx_loop *loop;
    dx_autohand_client *client;
    dx_autohand_client_config config;
    dx_error error;
    char told[1 << 16];
    char phrase[512]; /* of the last violation */
    char stray[256];
    char errors[512]; /* the last line of the standard error */
    size_t events, turns, gone, violations;
    dx_autohand_turn turn; /* the last one, without its texts … */
    char content[4096];
    char why[512];
    char batch[64];
    dx_gone how; /* without its texts */
    /* What it does when it is asked. */
    dx_autohand_decision decision;
    const char *alternative;
    int keep;    /* permissions and changes are not answered at once */
    int reject;  /* changes */
    size_t only; /* accept_selected with this one; 0: all */
    dx_autohand_event_kind abort_at, free_at;
    int free_at_turn, free_at_permission, free_at_changes, free_at_gone;
    char permission[64]; /* the last that was asked */
    char changes[64];
    const char *next; /* the prompt that follows in on_turn */
};

static inline void add(struct talk *talk, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static inline void add(struct talk *talk, const char *format, ...) {
    size_t len = strlen(talk->told);
    va_list list;
    va_start(list, format);
    vsnprintf(talk->told + len, sizeof talk->told - len, format, list);
    va_end(list);
}

static inline void copy(char *to, size_t room, dx_text text) {
    snprintf(to, room, "%.*s", (int)text.len, text.at ? text.at : "");
}

#define SHOWN(text) (int)(text).len, (text).at ? (text).at : ""

static inline void talk_event(dx_autohand_client *client, const dx_autohand_event *event,
                              void *user) {
    struct talk *talk = user;
    talk->events++;
    switch (event->kind) {
    case DX_AUTOHAND_AGENT_START:
        add(talk, "start %.*s %.*s %g\n", SHOWN(event->session), SHOWN(event->model),
            event->context_percent);
        break;
    case DX_AUTOHAND_AGENT_END:
        add(talk, "end %.*s\n", SHOWN(event->reason));
        break;
    case DX_AUTOHAND_TURN_START:
        add(talk, "turn %.*s\n", SHOWN(event->turn));
        break;
    case DX_AUTOHAND_TURN_END:
        add(talk, "turn-end %.*s %lld %g %g\n", SHOWN(event->turn), (long long)event->tokens,
            event->duration_ms, event->context_percent);
        break;
    case DX_AUTOHAND_MESSAGE_START:
        add(talk, "message %.*s\n", SHOWN(event->message));
        break;
    case DX_AUTOHAND_TEXT:
        add(talk, "text %.*s\n", SHOWN(event->text));
        break;
    case DX_AUTOHAND_THOUGHT:
        add(talk, "thought %.*s\n", SHOWN(event->text));
        break;
    case DX_AUTOHAND_MESSAGE_END:
        add(talk, "message-end %.*s%s\n", SHOWN(event->text), event->aborted ? " aborted" : "");
        break;
    case DX_AUTOHAND_TOOL_START:
        add(talk, "tool %.*s %.*s\n", SHOWN(event->tool), SHOWN(event->name));
        break;
    case DX_AUTOHAND_TOOL_OUTPUT:
        add(talk, "output%s %.*s\n", event->is_errors ? " err" : "", SHOWN(event->text));
        break;
    case DX_AUTOHAND_TOOL_END:
        add(talk, "tool-end %.*s %d %.*s\n", SHOWN(event->tool), event->success,
            SHOWN(event->text));
        break;
    case DX_AUTOHAND_ERROR:
        add(talk, "error %lld %.*s %d %.*s\n", (long long)event->code, SHOWN(event->text),
            event->recoverable, SHOWN(event->reason));
        break;
    case DX_AUTOHAND_PING:
        add(talk, "ping\n");
        break;
    case DX_AUTOHAND_HOOK:
        add(talk, "hook %.*s\n", SHOWN(event->name));
        break;
    case DX_AUTOHAND_BATCH_START:
        add(talk, "batch %.*s\n", SHOWN(event->batch));
        break;
    case DX_AUTOHAND_BATCH_CHANGE:
        add(talk, "change %.*s %.*s\n", SHOWN(event->change->id), SHOWN(event->change->path));
        break;
    case DX_AUTOHAND_BATCH_END:
        add(talk, "batch-end %lld\n", (long long)event->count);
        break;
    case DX_AUTOHAND_PERMISSION:
        add(talk, "permission %.*s %.*s\n", SHOWN(event->batch), SHOWN(event->name));
        break;
    case DX_AUTOHAND_LATE:
        add(talk, "late %.*s\n", SHOWN(event->method));
        break;
    case DX_AUTOHAND_OTHER:
        add(talk, "other %.*s\n", SHOWN(event->method));
        break;
    }
    if (event->kind == talk->abort_at)
        (void)dx_autohand_client_abort(client);
    if (event->kind == talk->free_at)
        talk->client = dx_autohand_client_free(client);
}

static inline void talk_permission(dx_autohand_client *client,
                                   const dx_autohand_permission *permission, void *user) {
    struct talk *talk = user;
    copy(talk->permission, sizeof talk->permission, permission->id);
    add(talk, "asks %.*s|%.*s|%.*s|%.*s\n", SHOWN(permission->tool), SHOWN(permission->description),
        SHOWN(permission->path), SHOWN(permission->command));
    if (talk->free_at_permission)
        talk->client = dx_autohand_client_free(client);
    else if (!talk->keep)
        assert_int_equal(dx_autohand_client_permit(client, permission->id, talk->decision,
                                                   dx_str(talk->alternative)),
                         DX_OK);
}

static inline void talk_answer(dx_autohand_client *client, yyjson_val *value, const dx_error *error,
                               void *user) {
    struct talk *talk = user;
    (void)client;
    char *text = value ? yyjson_val_write(value, 0, NULL) : NULL;
    add(talk, "answer %s\n", text ? text : error->phrase);
    assert_true(!value == (error != NULL));
    free(text);
}

static inline void talk_changes(dx_autohand_client *client, dx_text batch,
                                const dx_autohand_change *changes, size_t count, void *user) {
    struct talk *talk = user;
    copy(talk->changes, sizeof talk->changes, batch);
    add(talk, "changes %.*s", SHOWN(batch));
    for (size_t i = 0; i < count; i++)
        add(talk, " %.*s:%.*s:%.*s:%s", SHOWN(changes[i].type), SHOWN(changes[i].before),
            SHOWN(changes[i].after), changes[i].after.at ? "kept" : "gone");
    add(talk, "\n");
    if (talk->free_at_changes)
        talk->client = dx_autohand_client_free(client);
    else if (!talk->keep)
        assert_int_equal(dx_autohand_client_decide(client, batch, !talk->reject,
                                                   talk->only ? &changes[talk->only - 1].id : NULL,
                                                   talk->only ? 1 : 0, talk_answer, talk),
                         DX_OK);
}

static inline void talk_turn(dx_autohand_client *client, const dx_autohand_turn *turn, void *user) {
    struct talk *talk = user;
    talk->turns++;
    talk->turn = *turn;
    copy(talk->content, sizeof talk->content, turn->content);
    copy(talk->why, sizeof talk->why, turn->error);
    copy(talk->batch, sizeof talk->batch, turn->batch);
    add(talk, "over %d %d %lld\n", turn->success, turn->aborted, (long long)turn->code);
    if (talk->free_at_turn) {
        talk->client = dx_autohand_client_free(client);
        return;
    }
    if (talk->next)
        assert_int_equal(dx_autohand_client_prompt(
                             client, &(dx_autohand_prompt){.message = dx_str(talk->next)}, NULL),
                         DX_OK);
    talk->next = NULL;
}

static inline void talk_violation(dx_autohand_client *client, const char *phrase, void *user) {
    struct talk *talk = user;
    (void)client;
    talk->violations++;
    copy(talk->phrase, sizeof talk->phrase, dx_str(phrase));
}

static inline void talk_stray(dx_autohand_client *client, dx_text line, void *user) {
    struct talk *talk = user;
    (void)client;
    copy(talk->stray, sizeof talk->stray, line);
}

static inline void talk_errors(dx_autohand_client *client, dx_text line, void *user) {
    struct talk *talk = user;
    (void)client;
    copy(talk->errors, sizeof talk->errors, line);
}

static inline void talk_gone(dx_autohand_client *client, const dx_gone *gone, void *user) {
    struct talk *talk = user;
    talk->gone++;
    talk->how = *gone;
    talk->how.errors = dx_str(NULL);
    if (talk->free_at_gone)
        talk->client = dx_autohand_client_free(client);
}

/* `script` is what the agent does. What else is wanted goes into talk->config before talk_go(). */
static inline struct talk *talk_new(void) {
    struct talk *talk = calloc(1, sizeof *talk);
    assert_non_null(talk);
    talk->config = dx_autohand_client_defaults(NULL);
    talk->config.child.ladder.close_ms = 500;
    talk->config.child.ladder.term_ms = 500;
    talk->config.on_event = talk_event;
    talk->config.on_permission = talk_permission;
    talk->config.on_changes = talk_changes;
    talk->config.on_turn = talk_turn;
    talk->config.on_violation = talk_violation;
    talk->config.on_stray = talk_stray;
    talk->config.on_errors = talk_errors;
    talk->config.on_gone = talk_gone;
    talk->config.user = talk;
    talk->decision = DX_AUTOHAND_ALLOW_ONCE;
    assert_int_equal(dx_loop_new(NULL, &talk->loop, NULL), DX_OK);
    return talk;
}

static inline dx_status talk_go(struct talk *talk, const char *form, const char *script) {
    char path[512];
    char variable[32];
    const char *argv[] = {"python3", "-IS", path, script, NULL};
    const char *env[] = {variable, NULL};
    snprintf(path, sizeof path, "%s/tests/autohand/fake_agent.py",
             getenv("SOURCE") ? getenv("SOURCE") : ".");
    snprintf(variable, sizeof variable, "FORM=%s", form);
    talk->config.child.argv = argv;
    talk->config.child.env = env;
    return dx_autohand_client_start(talk->loop, &talk->config, &talk->client, &talk->error);
}

static inline uint64_t talk_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

static void talk_woken(dx_timer *timer, void *user) {
    (void)timer;
    dx_loop_stop(user);
}

/* Until `*count` is that, or 20 s have passed, which fails. */
static inline void talk_until(struct talk *talk, const size_t *count, size_t wanted) {
    uint64_t end = talk_now() + 20000;
    dx_timer *timer;
    assert_int_equal(dx_timer_new(talk->loop, talk_woken, talk->loop, &timer), DX_OK);
    while (*count < wanted && talk_now() < end) {
        dx_timer_set(timer, 5);
        assert_int_equal(dx_loop_run(talk->loop), DX_OK);
    }
    dx_timer_free(timer);
    if (*count < wanted)
        fail_msg("that did not come; told so far:\n%s%s\n%s", talk->told, talk->errors,
                 talk->phrase);
}

static inline void talk_for(struct talk *talk, uint64_t ms) {
    dx_timer *timer;
    assert_int_equal(dx_timer_new(talk->loop, talk_woken, talk->loop, &timer), DX_OK);
    dx_timer_set(timer, ms);
    assert_int_equal(dx_loop_run(talk->loop), DX_OK);
    dx_timer_free(timer);
}

static inline void talk_until_told(struct talk *talk, const char *text) {
    uint64_t end = talk_now() + 20000;
    while (!strstr(talk->told, text) && talk_now() < end)
        talk_for(talk, 5);
    if (!strstr(talk->told, text))
        fail_msg("'%s' was not told, but:\n%s%s", text, talk->told, talk->errors);
}

static inline void talk_prompt(struct talk *talk, const char *message) {
    dx_autohand_prompt prompt = {.message = dx_str(message)};
    assert_int_equal(dx_autohand_client_prompt(talk->client, &prompt, NULL), DX_OK);
}

/* One prompt, to its end. */
static inline struct talk *talk_once(struct talk *talk, const char *form, const char *script) {
    assert_int_equal(talk_go(talk, form, script), DX_OK);
    talk_prompt(talk, "hi");
    talk_until(talk, &talk->turns, 1);
    return talk;
}

static inline void must_tell(const struct talk *talk, const char *text) {
    if (!strstr(talk->told, text))
        fail_msg("'%s' was not told, but:\n%s%s", text, talk->told, talk->errors);
}

static inline void must_not_tell(const struct talk *talk, const char *text) {
    if (strstr(talk->told, text))
        fail_msg("'%s' was told:\n%s", text, talk->told);
}

/* The agent leaves by itself, without a complaint, when it is asked to. */
static inline void talk_end(struct talk *talk) {
    if (talk->client && !talk->gone) {
        dx_autohand_client_stop(talk->client);
        talk_until(talk, &talk->gone, 1);
        if (talk->how.code || talk->how.signal)
            fail_msg("the agent left with %d (signal %d): %s\n%s", talk->how.code, talk->how.signal,
                     talk->errors, talk->told);
    }
    if (talk->gone && talk->how.code == 9) /* it has complained */
        fail_msg("%s\n%s", talk->errors, talk->told);
    dx_autohand_client_free(talk->client);
    dx_loop_free(talk->loop);
    free(talk);
}

#endif
