#include "faults/ward.h"

#include <signal.h>

static void on_state(dx_supervisor *supervisor, dx_state state, const dx_error *why, void *user) {
    struct ward *ward = user;
    if (ward->states == SEEN_MAX)
        fail("expected fewer than %d changes of state", SEEN_MAX);
    EXPECT(dx_supervisor_state(supervisor), ==, state);
    ward->seen[ward->states] = state;
    ward->seen_ms[ward->states] = now_ms();
    ward->whys[ward->states++] = *why;
}

/* The user of a supervised child is its supervisor. */
static void on_errors(dx_child *child, dx_text line, void *user) {
    struct ward *ward = dx_supervisor_user(user);
    (void)child;
    size_t used = strlen(ward->errors);
    snprintf(ward->errors + used, sizeof ward->errors - used, "%.*s\n", (int)line.len, line.at);
    ward->lines++;
}

static void on_event(dx_link *link, const dx_event *event, void *user) {
    struct ward *ward = user;
    (void)link;
    ward->notes += event->kind == DX_EVENT_NOTIFICATION;
}

void ward_init(struct ward *ward, dx_loop *loop, const char *command) {
    memset(ward, 0, sizeof *ward);
    snprintf(ward->words, sizeof ward->words, "%s", command);
    size_t count = 0;
    char *rest = NULL;
    for (char *word = strtok_r(ward->words, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        if (count + 1 < LENGTH(ward->argv))
            ward->argv[count++] = word;
    snprintf(ward->path, sizeof ward->path, "%s", program(ward->argv[0]));
    ward->argv[0] = ward->path;
    ward->loop = loop;
    ward->config = dx_supervisor_defaults(DX_FRAMING_LINE, ward->argv);
    ward->config.on_state = on_state;
    ward->config.user = ward;
    ward->config.backoff_ms = 5;
    ward->config.child.on_errors = on_errors;
    ward->config.child.link.on_event = on_event;
    ward->config.child.link.user = ward;
    ward->config.child.ladder.close_ms = 500;
}

void ward_start(struct ward *ward) {
    EXPECT(dx_supervisor_new(ward->loop, &ward->config, &ward->supervisor), ==, DX_OK);
    dx_supervisor_start(ward->supervisor);
}

static int is_there(const struct ward *ward, dx_state state, unsigned incarnation) {
    return dx_supervisor_state(ward->supervisor) == state &&
           dx_supervisor_incarnation(ward->supervisor) >= incarnation;
}

void ward_until(struct ward *ward, dx_state state, unsigned incarnation) {
    uint64_t end = now_ms() + 8000 * slow;
    while (!is_there(ward, state, incarnation)) {
        uint64_t now = now_ms();
        if (now >= end)
            fail("expected %s in incarnation %u, it is %s in %u", dx_state_name(state), incarnation,
                 dx_state_name(dx_supervisor_state(ward->supervisor)),
                 dx_supervisor_incarnation(ward->supervisor));
        turn_until(ward->loop, &ward->states, ward->states + 1, (unsigned)(end - now));
    }
}

void ward_told(const struct ward *ward, const int *states) {
    int i = 0;
    for (; states[i] >= 0 && i < ward->states; i++)
        if ((int)ward->seen[i] != states[i])
            fail("expected state %d to be %s, it was %s", i, dx_state_name((dx_state)states[i]),
                 dx_state_name(ward->seen[i]));
    if (states[i] >= 0)
        fail("expected %s as state %d, none came", dx_state_name((dx_state)states[i]), i);
    if (i < ward->states)
        fail("expected %d states, %s came as well", i, dx_state_name(ward->seen[i]));
}

const dx_error *ward_why(const struct ward *ward) {
    return &ward->whys[ward->states - 1];
}

void ward_stop(struct ward *ward) {
    dx_supervisor_stop(ward->supervisor);
    ward_until(ward, DX_STATE_STOPPED, 1);
}

void ward_kill(struct ward *ward, dx_state after) {
    unsigned incarnation = dx_supervisor_incarnation(ward->supervisor);
    EXPECT(kill(dx_supervisor_pid(ward->supervisor), SIGKILL), ==, 0);
    ward_until(ward, after, after == DX_STATE_READY ? incarnation + 1 : incarnation);
}
