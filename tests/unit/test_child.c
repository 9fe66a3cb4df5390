/* A child that is freed, wholly or in part, when that is not expected; its life: tests/faults. */
#include "unit/unit.h"

#include <duplex/child.h>

#include <poll.h>
#include <stdio.h>
#include <time.h>

enum where { NOWHERE, IN_ERRORS, IN_CLOSED, IN_LOST, IN_GONE };
enum what { CHILD, LOOP };

struct life {
    struct unit_memory memory;
    dx_allocator alloc;
    dx_loop *loop;
    dx_child *child;
    enum where where;
    enum what what;
    int freed, errors, closed, lost, gone;
};

static uint64_t clock_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static bool loop_is_gone(const struct life *life) {
    return life->freed && life->what == LOOP;
}

static void turn_for(struct life *life, unsigned ms, const int *until) {
    uint64_t end = clock_ms() + ms;
    while (clock_ms() < end && !(until && *until) && !loop_is_gone(life)) {
        struct pollfd fd = {dx_loop_fd(life->loop), POLLIN, 0};
        poll(&fd, 1, 5);
        dx_loop_dispatch(life->loop);
    }
}

static void be_here(struct life *life, enum where where) {
    assert_false(life->freed); /* no word comes afterwards */
    if (life->where != where)
        return;
    life->freed = 1;
    if (life->what == CHILD)
        dx_child_free(life->child);
    else
        dx_loop_free(life->loop);
    life->child = NULL;
}

static void on_errors(dx_child *child, dx_text line, void *user) {
    struct life *life = user;
    (void)line;
    assert_ptr_equal(child, life->child);
    life->errors++;
    be_here(life, IN_ERRORS);
}

static void on_closed(dx_child *child, const dx_error *why, void *user) {
    struct life *life = user;
    (void)why;
    assert_ptr_equal(child, life->child);
    life->closed++;
    be_here(life, IN_CLOSED);
}

static void on_gone(dx_child *child, const dx_gone *gone, void *user) {
    struct life *life = user;
    (void)gone;
    assert_ptr_equal(child, life->child);
    life->gone++;
    be_here(life, IN_GONE);
}

static void on_done(dx_link *link, const dx_event *event, void *user) {
    struct life *life = user;
    (void)link;
    life->lost += event->outcome == DX_OUTCOME_LOST;
    be_here(life, IN_LOST);
}

/* In a handler of the link. */
#define ASKS "echo '{\"jsonrpc\":\"2.0\",\"method\":\"free\"}'; "

static void on_free_link(dx_link *link, const dx_event *event, void *user) {
    (void)event;
    (void)user;
    dx_link_free(link);
}

static const dx_handler handlers[] = {{"free", on_free_link}, {NULL, NULL}};

static dx_status start(struct life *life, const char *script, dx_error *error) {
    const char *argv[] = {"/bin/sh", "-c", script, NULL};
    dx_child_config config = dx_child_defaults(DX_FRAMING_LINE, argv);
    config.on_errors = on_errors;
    config.on_closed = on_closed;
    config.on_gone = on_gone;
    config.user = life;
    config.link.handlers = handlers;
    config.ladder.close_ms = config.ladder.term_ms = 100;
    return dx_child_start(life->loop, &config, &life->child, error);
}

/* Memory that is freed is overwritten, so that whoever still looks at it is found out. */
static void begin(struct life *life) {
    life->alloc = unit_allocator(&life->memory);
    assert_int_equal(dx_loop_new(&life->alloc, &life->loop, NULL), DX_OK);
}

static void end(struct life *life) {
    if (!loop_is_gone(life))
        dx_loop_free(life->loop);
    assert_int_equal(life->memory.blocks, 0);
}

static void ask(struct life *life) {
    dx_link_call_options options = {.peer = {.user = life}, .on_done = on_done};
    dx_link *link = dx_child_link(life->child);
    assert_int_equal(dx_link_call(link, dx_str("x"), dx_json_none(), &options, NULL), DX_OK);
}

static void freed_in(enum where where, enum what what, const char *script, unsigned wait_ms) {
    struct life life = {.where = where, .what = what};
    begin(&life);
    assert_int_equal(start(&life, script, NULL), DX_OK);
    ask(&life);
    dx_loop_dispatch(life.loop);
    usleep(wait_ms * 1000);
    turn_for(&life, 10000, &life.freed);
    assert_int_equal(life.freed, 1);
    turn_for(&life, 200, NULL);
    if (!loop_is_gone(&life)) /* nothing of it is left in the books */
        assert_true(dx_loop_deadline(life.loop) == DX_NEVER);
    end(&life);
}

static void freed_in_its_own_callbacks(void **state) {
    (void)state;
    for (enum where where = IN_ERRORS; where <= IN_GONE; where++)
        for (enum what what = CHILD; what <= LOOP; what++)
            freed_in(where, what, "echo 1 >&2; exec >&-; sleep 0.2; echo 2 >&2; exit 1", 0);
}

/* Its last line is found together with its exit, since somebody else wrote it and was not heard. */
static void freed_in_the_last_line(void **state) {
    (void)state;
    freed_in(IN_ERRORS, CHILD, "(sleep 0.1; echo late >&2; exec sleep 2) & exit 0", 400);
    freed_in(IN_ERRORS, LOOP, "(sleep 0.1; echo late >&2; exec sleep 2) & exit 0", 400);
}

/* Whoever frees the link of a child has it leave. */
static void its_link_is_freed(void **state) {
    (void)state;
    static const char *const scripts[] = {"cat",      "exec >&-; cat",
                                          "exit 3",   "trap '' TERM; while :; do sleep 1; done",
                                          ASKS "cat", ASKS "exit 3"};
    for (size_t i = 0; i < LENGTH(scripts); i++) {
        struct life life = {.where = NOWHERE};
        bool by_itself = strstr(scripts[i], "free") != NULL;
        begin(&life);
        assert_int_equal(start(&life, scripts[i], NULL), DX_OK);
        ask(&life);
        usleep(100000);
        if (!by_itself) {
            assert_null(dx_link_free(dx_child_link(life.child)));
            assert_null(dx_child_link(life.child));
            assert_int_equal(life.gone, 0); /* which comes from a dispatch */
        }
        turn_for(&life, 10000, &life.gone);
        assert_int_equal(life.gone, 1);
        assert_int_equal(life.lost, 0);
        assert_int_equal(life.closed, 0);
        turn_for(&life, 50, NULL);
        end(&life);
    }
}

static void has_no_environment(void **state) {
    (void)state;
    struct life life = {.where = NOWHERE};
    char **before = environ;
    begin(&life);
    environ = NULL; /* as after clearenv() */
    dx_status status = start(&life, "exit 0", NULL);
    environ = before;
    assert_int_equal(status, DX_OK);
    turn_for(&life, 10000, &life.gone);
    assert_int_equal(life.gone, 1);
    end(&life);
}

/* What the last line of its standard error was. */
static char last_line[400];

static void keep_line(dx_child *child, dx_text line, void *user) {
    struct life *life = user;
    (void)child;
    snprintf(last_line, sizeof last_line, "%.*s", (int)line.len, line.at);
    life->errors++;
}

static void expect_mark(const char *outer, const char *before) {
    static const char *const argv[] = {"/bin/sh", "-c", "echo $DUPLEX_PEER >&2; cat", NULL};
    struct life life = {.where = NOWHERE};
    char wanted[400];
    begin(&life);
    if (outer)
        setenv("DUPLEX_PEER", outer, 1);
    dx_child_config config = dx_child_defaults(DX_FRAMING_LINE, argv);
    config.inherit_env = 1;
    config.on_errors = keep_line;
    config.user = &life;
    dx_status status = dx_child_start(life.loop, &config, &life.child, NULL);
    unsetenv("DUPLEX_PEER");
    assert_int_equal(status, DX_OK);
    turn_for(&life, 10000, &life.errors);
    snprintf(wanted, sizeof wanted, "%s%d:%d", before, (int)getpid(),
             (int)dx_child_pid(life.child));
    assert_string_equal(last_line, wanted);
    end(&life);
}

static void its_mark_names_host_and_peer(void **state) {
    char longest[300];
    (void)state;
    expect_mark(NULL, "");
    expect_mark("", "");
    expect_mark("1:2", "1:2,");
    memset(longest, '1', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    expect_mark(longest, ""); /* nothing that large is ours */
    longest[199] = '\0';
    char before[sizeof longest + 2];
    snprintf(before, sizeof before, "%s,", longest);
    expect_mark(longest, before);
}

static void its_loop_owns_it_until_it_is_gone(void **state) {
    struct life life = {.where = NOWHERE};
    (void)state;
    begin(&life);
    assert_int_equal(start(&life, "cat", NULL), DX_OK);
    pid_t pid = dx_child_pid(life.child);
    assert_int_equal(dx_loop_owns(life.loop, pid), DX_OWNS_PROGRAM);
    assert_int_equal(dx_loop_owns(life.loop, getpid()), 0);
    int guardians = 0;
    for (pid_t other = pid > 50 ? pid - 50 : 1; other < pid + 50; other++)
        guardians += dx_loop_owns(life.loop, other) == DX_OWNS_GUARDIAN;
    assert_int_equal(guardians, 1);
    dx_child_stop(life.child);
    turn_for(&life, 10000, &life.gone);
    assert_int_equal(life.gone, 1);
    assert_int_equal(dx_loop_owns(life.loop, pid), 0);
    end(&life);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(freed_in_its_own_callbacks),
        cmocka_unit_test(freed_in_the_last_line),
        cmocka_unit_test(has_no_environment),
        cmocka_unit_test(its_link_is_freed),
        cmocka_unit_test(its_loop_owns_it_until_it_is_gone),
        cmocka_unit_test(its_mark_names_host_and_peer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
