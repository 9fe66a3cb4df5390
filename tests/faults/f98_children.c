/* Children that are freed inside of callbacks, in every one there is: F98. */
#include "faults/faults.h"

#include <poll.h>
#include <sys/wait.h>

enum where { ON_ERRORS, ON_EVENT, ON_HANDLER, ON_RESULT, ON_LOST, ON_GONE, WHERES };

static const char *const wheres[] = {"errors", "event", "handler", "result", "lost", "gone"};

enum what { SELF = 1, OTHER = 2, LOOP = 4 };

static struct scene {
    dx_loop *loop;
    dx_child *child, *other;
    enum where where;
    int what, fired;
} scene;

static void reached(enum where where, int whose) {
    if (scene.fired && (scene.what & (LOOP | whose)))
        fail("expected no callback after the end, got \"%s\" after freeing %d in \"%s\"",
             wheres[where], scene.what, wheres[scene.where]);
    if (scene.fired || where != scene.where || whose != SELF)
        return;
    scene.fired = 1;
    if (scene.what & SELF)
        scene.child = dx_child_free(scene.child);
    if (scene.what & OTHER)
        scene.other = dx_child_free(scene.other);
    if (scene.what & LOOP)
        scene.loop = dx_loop_free(scene.loop);
}

static int whose(void *user) {
    return *(int *)user;
}

static void on_errors(dx_child *child, dx_text line, void *user) {
    (void)child;
    (void)line;
    reached(ON_ERRORS, whose(user));
}

static void on_event(dx_link *link, const dx_event *event, void *user) {
    (void)link;
    (void)event;
    reached(ON_EVENT, whose(user));
}

static void on_note(dx_link *link, const dx_event *event, void *user) {
    (void)link;
    (void)event;
    reached(ON_HANDLER, whose(user));
}

static void on_done(dx_link *link, const dx_event *event, void *user) {
    (void)link;
    reached(event->outcome == DX_OUTCOME_LOST ? ON_LOST : ON_RESULT, whose(user));
}

static void on_gone(dx_child *child, const dx_gone *gone, void *user) {
    (void)child;
    (void)gone;
    reached(ON_GONE, whose(user));
}

static dx_child *start(const char *name, const char *a, const char *b, const char *c, int self) {
    static int selves[] = {0, SELF, OTHER};
    static const dx_handler handlers[] = {{"note", on_note}, {NULL, NULL}};
    const char *argv[] = {program(name), a, b, c, NULL};
    dx_child_config config = dx_child_defaults(DX_FRAMING_LINE, argv);
    config.ladder.close_ms = config.ladder.term_ms = 20;
    config.link.handlers = scene.where == ON_HANDLER ? handlers : NULL;
    config.link.on_event = on_event;
    config.link.user = config.user = &selves[self];
    config.on_errors = on_errors;
    config.on_gone = on_gone;
    dx_child *child = NULL;
    EXPECT(dx_child_start(scene.loop, &config, &child, NULL), ==, DX_OK);
    dx_link_call_options options = {.on_done = on_done, .peer = {.user = &selves[self]}};
    for (int i = 0; i < 4; i++)
        EXPECT(dx_link_call(dx_child_link(child), dx_str("hello"), dx_json_none(), &options, NULL),
               ==, DX_OK);
    return child;
}

static dx_child *start_for(enum where where, int self) {
    if (where == ON_EVENT || where == ON_HANDLER)
        return start("chatter", NULL, NULL, NULL, self);
    if (where == ON_ERRORS)
        return start("noisy", "64", "lines", NULL, self);
    return start("leaves", "exit", "3", "2", self);
}

static void play(enum where where, int what) {
    scene = (struct scene){.where = where, .what = what, .loop = loop_new()};
    dx_loop *loop = scene.loop;
    scene.child = start_for(where, SELF);
    scene.other = start_for(where, OTHER);
    uint64_t end = now_ms() + 3000 * slow;
    while (scene.loop && now_ms() < patience(end)) {
        struct pollfd fd = {dx_loop_fd(scene.loop), POLLIN, 0};
        int wait = dx_loop_wait_ms(scene.loop);
        poll(&fd, 1, wait < 0 || wait > 20 ? 20 : wait);
        dx_loop_dispatch(scene.loop);
        if (scene.fired && end > now_ms() + 100)
            end = now_ms() + 50; /* and nothing comes after it */
    }
    if (!scene.fired)
        fail("expected the callback \"%s\" to come, it did not", wheres[where]);
    if (!(what & LOOP))
        dx_loop_free(loop);
}

FAULT(F98_children, 40, "children and their loop may be freed in every callback of a child") {
    for (int where = 0; where < WHERES; where++)
        for (int what = 1; what < 8; what++)
            play((enum where)where, what);
}

static int stops;

static void stop_in_done(dx_link *link, const dx_event *event, void *user) {
    (void)link;
    (void)event;
    stops++;
    dx_child_stop(*(dx_child **)user);
}

static void stop_in_errors(dx_child *child, dx_text line, void *user) {
    (void)line;
    (void)user;
    dx_child_stop(child);
}

static void stop_in_gone(dx_child *child, const dx_gone *gone, void *user) {
    (void)gone;
    dx_child_stop(child);
    EXPECT(dx_child_link(child) == NULL ||
               dx_link_notify(dx_child_link(child), dx_str("x"), dx_json_none()) == DX_CLOSED,
           ==, 1);
    ++*(int *)user;
}

FAULT(F98_stopped_inside, 10, "a child may be stopped in each of its callbacks") {
    static const char *const programs[] = {"parrot", "leaves"};
    dx_loop *loop = loop_new();
    for (int i = 0; i < 2; i++) {
        const char *argv[] = {program(programs[i]), "exit", "0", "0", NULL};
        dx_child_config config = dx_child_defaults(DX_FRAMING_LINE, argv);
        int gone = 0;
        config.on_errors = stop_in_errors;
        config.on_gone = stop_in_gone;
        config.user = &gone;
        dx_child *child = NULL;
        EXPECT(dx_child_start(loop, &config, &child, NULL), ==, DX_OK);
        dx_link_call_options options = {.on_done = stop_in_done, .peer = {.user = &child}};
        dx_link_call(dx_child_link(child), dx_str("hello"), dx_json_none(), &options, NULL);
        turn_until(loop, &gone, 1, 3000 * slow);
        turn_for(loop, 20);
        EXPECT(gone, ==, 1);
        EXPECT(stops, ==, i + 1);
        dx_child_free(child);
    }
    dx_loop_free(loop);
}

static struct chain {
    dx_loop *loop;
    int started, gone;
} chain;

static void start_next(void);

static void next_in_gone(dx_child *child, const dx_gone *gone, void *user) {
    (void)gone;
    (void)user;
    chain.gone++;
    dx_child_free(child);
    start_next();
}

static void start_next(void) {
    if (chain.started == 20)
        return;
    const char *argv[] = {program("leaves"), "exit", "1", "-1", NULL};
    dx_child_config config = dx_child_defaults(DX_FRAMING_LINE, argv);
    config.on_gone = next_in_gone;
    dx_child *child = NULL;
    EXPECT(dx_child_start(chain.loop, &config, &child, NULL), ==, DX_OK);
    chain.started++;
}

FAULT(F98_started_inside, 10,
      "a child may be started in the callback that tells the end of another") {
    chain = (struct chain){.loop = loop_new()};
    start_next();
    turn_until(chain.loop, &chain.gone, 20, 8000 * slow);
    EXPECT(chain.gone, ==, 20);
    dx_loop_free(chain.loop);
}

/* A copy of this process knows the same loop and the same children; they are not its own. */
static void in_a_fork(void (*what)(dx_loop *loop, dx_child *child)) {
    dx_loop *loop = loop_new();
    struct family family;
    family_init(&family, loop, "parrot");
    family_start(&family);
    ask(family_link(&family), "hello", "[1]", &family.calls);
    call(family_link(&family), "hello", "[2]", &family.calls);
    fflush(NULL);
    pid_t copy = fork();
    if (copy == 0) {
        what(loop, family.child);
        _exit(0);
    }
    uint64_t end = now_ms() + 3000 * slow;
    int status = 0;
    while (waitpid(copy, &status, WNOHANG) == 0) {
        if (now_ms() > end)
            fail("expected the copy of the process to end, it did not");
        sleep_ms(2);
    }
    EXPECT(status, ==, 0);
    turn_until(loop, &family.calls.done, 2, 3000 * slow);
    EXPECT(family.calls.results, ==, 2);
    for (int i = 0; i < 3; i++)
        ask(family_link(&family), "hello", "[3]", &family.calls);
    family_end(&family, 3000 * slow);
    EXPECT(family.how.signal, ==, 0);
    EXPECT(family.how.known, ==, 1);
    dx_loop_free(loop);
}

static void free_loop(dx_loop *loop, dx_child *child) {
    (void)child;
    dx_loop_free(loop);
}

static void free_child(dx_loop *loop, dx_child *child) {
    (void)loop;
    dx_child_free(child);
}

static void dispatch(dx_loop *loop, dx_child *child) {
    (void)child;
    for (int i = 0; i < 20; i++) {
        dx_loop_dispatch(loop);
        sleep_ms(2);
    }
}

static void stop(dx_loop *loop, dx_child *child) {
    dx_child_stop(child);
    dispatch(loop, child);
}

static void speak(dx_loop *loop, dx_child *child) {
    dx_link *link = dx_child_link(child);
    dx_call made = 0;
    EXPECT(dx_link_call(link, dx_str("hello"), dx_json_none(), NULL, &made), ==, DX_CLOSED);
    EXPECT(dx_link_notify(link, dx_str("hello"), dx_json_none()), ==, DX_CLOSED);
    EXPECT(dx_link_send(link, dx_str("1")), ==, DX_CLOSED);
    EXPECT(dx_link_cancel(link, made, dx_str(NULL)), ==, DX_CLOSED);
    EXPECT(dx_link_reply(link, 1, dx_json_none()), ==, DX_CLOSED);
    EXPECT(dx_link_refuse(link, 1, 1, dx_str(NULL), dx_json_none()), ==, DX_CLOSED);
    dispatch(loop, child);
}

FAULT(F98_fork_speaks, 10, "a fork that calls, notifies or answers is told that it cannot") {
    in_a_fork(speak);
}

FAULT(F98_fork_frees_loop, 10,
      "a fork that frees its copy of a loop takes nothing from the original") {
    in_a_fork(free_loop);
}

FAULT(F98_fork_frees_child, 10, "a fork that frees its copy of a child does not kill the child") {
    in_a_fork(free_child);
}

FAULT(F98_fork_dispatches, 10, "a fork that dispatches takes no answer from the original") {
    in_a_fork(dispatch);
}

FAULT(F98_fork_stops, 10, "a fork that stops its copy of a child does nothing to the child") {
    in_a_fork(stop);
}
