/* What the tests need of the library: turns of a loop, calls, one child and what is heard of it. */
#include "faults/faults.h"

#include <poll.h>

_Thread_local unsigned turns;

dx_loop *loop_new(void) {
    dx_loop *loop = NULL;
    dx_error error = {0};
    if (dx_loop_new(NULL, &loop, &error) != DX_OK)
        fail("expected a loop, got \"%s\"", error.phrase);
    return loop;
}

static void turn(dx_loop *loop, uint64_t end) {
    uint64_t now = now_ms();
    end = patience(end);
    int left = now < end ? (int)(end - now) : 0;
    int wait = dx_loop_wait_ms(loop);
    struct pollfd fd = {dx_loop_fd(loop), POLLIN, 0};
    poll(&fd, 1, wait < 0 || wait > left ? left : wait);
    turns++;
    dx_loop_dispatch(loop);
}

int turn_until(dx_loop *loop, const int *flag, int count, unsigned ms) {
    uint64_t end = now_ms() + ms;
    while (*flag < count && now_ms() < end)
        turn(loop, end);
    return *flag >= count;
}

void turn_for(dx_loop *loop, unsigned ms) {
    static const int never;
    turn_until(loop, &never, 1, ms);
}

static void on_done(dx_link *link, const dx_event *event, void *user) {
    struct calls *calls = user;
    (void)link;
    calls->done++;
    calls->turn = turns;
    if (event->outcome == DX_OUTCOME_RESULT)
        calls->results++;
    else if (event->outcome == DX_OUTCOME_ERROR)
        calls->errors++;
    else if (event->outcome == DX_OUTCOME_LOST) {
        if (!calls->lost++)
            calls->first_lost_turn = turns;
    } else
        calls->other++;
    if (event->error.fault != DX_FAULT_NONE)
        calls->error = event->error;
    if (event->body.at)
        snprintf(calls->body, sizeof calls->body, "%.*s", (int)event->body.len, event->body.at);
}

dx_status call_with(dx_link *link, const char *method, const char *params, struct calls *calls,
                    uint64_t timeout_ms) {
    dx_link_call_options options = {
        .peer = {.timeout_ms = timeout_ms, .user = calls},
        .on_done = on_done,
    };
    dx_json json = params ? dx_json_text(params, strlen(params)) : dx_json_none();
    dx_status status = dx_link_call(link, dx_str(method), json, &options, NULL);
    calls->made += status == DX_OK;
    return status;
}

void call(dx_link *link, const char *method, const char *params, struct calls *calls) {
    dx_status status = call_with(link, method, params, calls, 0);
    if (status != DX_OK)
        fail("expected the call of %s to be accepted, got %s", method, dx_status_name(status));
}

void ask(dx_link *link, const char *method, const char *params, struct calls *calls) {
    int results = calls->results, done = calls->done;
    call(link, method, params, calls);
    if (!turn_until(dx_link_loop(link), &calls->done, done + 1, 5000 * slow))
        fail("expected an answer to %s within %u ms, got none", method, 5000 * slow);
    if (calls->results != results + 1)
        fail("expected a result of %s, got \"%s\" %s", method, calls->error.phrase, calls->body);
}

static void on_event(dx_link *link, const dx_event *event, void *user) {
    struct family *family = user;
    (void)link;
    family->events++;
    family->notes += event->kind == DX_EVENT_NOTIFICATION;
    family->strays += event->kind == DX_EVENT_STRAY;
}

static void on_errors(dx_child *child, dx_text line, void *user) {
    struct family *family = user;
    (void)child;
    family->lines++;
    if (line.len > 10 && !memcmp(line.at, "grandchild", 10))
        snprintf(family->errors, sizeof family->errors, "%.*s", (int)line.len, line.at);
}

static void on_gone(dx_child *child, const dx_gone *gone, void *user) {
    struct family *family = user;
    if (child != family->child)
        fail("expected gone of the child that was started, got another");
    family->gone++;
    family->gone_turn = turns;
    family->gone_ms = now_ms();
    family->how = *gone;
    size_t len =
        gone->errors.len < sizeof family->errors ? gone->errors.len : sizeof family->errors - 1;
    if (len)
        memcpy(family->errors, gone->errors.at, len);
    family->errors[len] = '\0';
    family->how.errors = (dx_text){family->errors, len};
}

void family_init(struct family *family, dx_loop *loop, const char *command) {
    static _Thread_local char words[8][256];
    static _Thread_local unsigned at;
    char *line = words[at++ % LENGTH(words)], *rest = NULL;
    memset(family, 0, sizeof *family);
    snprintf(line, sizeof words[0], "%s", command);
    size_t count = 0;
    for (char *word = strtok_r(line, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        if (count + 1 < LENGTH(family->argv))
            family->argv[count++] = word;
    family->argv[0] = program(family->argv[0]);
    family->loop = loop;
    family->config = dx_child_defaults(DX_FRAMING_LINE, family->argv);
    family->config.link.on_event = on_event;
    family->config.link.user = family;
    family->config.on_gone = on_gone;
    family->config.on_errors = on_errors;
    family->config.user = family;
}

void family_start(struct family *family) {
    dx_error error = {0};
    dx_status status = dx_child_start(family->loop, &family->config, &family->child, &error);
    if (status != DX_OK)
        fail("expected %s to start, got %s: %s", family->argv[0], dx_status_name(status),
             error.phrase);
    if (!dx_child_link(family->child))
        fail("expected a link of a child that runs, got none");
}

dx_link *family_link(const struct family *family) {
    return dx_child_link(family->child);
}

void family_wait(struct family *family, unsigned ms) {
    if (!turn_until(family->loop, &family->gone, 1, ms))
        fail("expected %s to be gone within %u ms, it is not", family->argv[0], ms);
}

void family_end(struct family *family, unsigned ms) {
    dx_child_stop(family->child);
    family_wait(family, ms);
    EXPECT(family->gone, ==, 1);
    family->child = dx_child_free(family->child);
}

pid_t family_grandchild(struct family *family) {
    uint64_t end = now_ms() + 5000 * slow;
    int pid = 0;
    while (sscanf(family->errors, "grandchild %d", &pid) != 1 && now_ms() < end)
        turn_for(family->loop, 5);
    EXPECT(pid, >, 0);
    return (pid_t)pid;
}
