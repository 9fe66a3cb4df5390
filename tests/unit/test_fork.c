/* A forked copy of a process with a loop: whatever it tries, the original goes on as before. */
#include "unit/unit.h"

#include <duplex/duplex.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

struct here {
    dx_loop *loop;
    dx_watch *watch;
    dx_program *program;
    dx_tap *tap;
    int pipe[2];
    int pair[2];
    int ready, gone;
    char out[256];
};

static uint64_t clock_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void turn_until(struct here *here, const int *counter) {
    for (uint64_t end = clock_ms() + 10000; clock_ms() < end && !*counter;) {
        struct pollfd fd = {dx_loop_fd(here->loop), POLLIN, 0};
        poll(&fd, 1, 5);
        dx_loop_dispatch(here->loop);
    }
    assert_true(*counter > 0);
}

static void on_ready(dx_watch *watch, unsigned ready, void *user) {
    struct here *here = user;
    char byte;
    (void)ready;
    assert_ptr_equal(watch, here->watch); /* not one of the copy's, whose place here is nothing */
    here->ready += read(here->pipe[0], &byte, 1) == 1;
}

static void on_output(dx_program *program, int errors, dx_text bytes, void *user) {
    struct here *here = user;
    (void)program;
    (void)errors;
    size_t len = strlen(here->out);
    snprintf(here->out + len, sizeof here->out - len, "%.*s", (int)bytes.len, bytes.at);
}

static void on_end(dx_program *program, dx_program_end end, const dx_gone *gone, void *user) {
    struct here *here = user;
    (void)program;
    (void)end;
    (void)gone;
    here->gone++;
}

static void on_bytes(dx_tap *tap, dx_trace_from from, int errors, dx_text bytes, void *user) {
    struct here *here = user;
    (void)tap;
    (void)errors;
    size_t len = strlen(here->out);
    if (from == DX_TRACE_PLUGIN)
        snprintf(here->out + len, sizeof here->out - len, "%.*s", (int)bytes.len, bytes.at);
}

static void on_tap_gone(dx_tap *tap, const dx_gone *gone, void *user) {
    struct here *here = user;
    (void)tap;
    (void)gone;
    here->gone++;
}

static void begin(struct here *here) {
    *here = (struct here){.ready = 0};
    assert_int_equal(dx_loop_new(NULL, &here->loop, NULL), DX_OK);
    assert_int_equal(pipe2(here->pipe, O_CLOEXEC | O_NONBLOCK), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, here->pair), 0);
}

static void end(struct here *here) {
    dx_loop_free(here->loop);
    for (int i = 0; i < 2; i++) {
        close(here->pipe[i]);
        close(here->pair[i]);
    }
}

/* What is tried in there returns what went wrong, 0 being nothing; then all is freed there. */
static void in_a_copy(struct here *here, int (*try)(struct here *here)) {
    int status = 0;
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        alarm(20);
        int wrong = try(here);
        dx_loop_dispatch(here->loop);
        dx_loop_run(here->loop);
        dx_loop_free(here->loop);
        _exit(wrong);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static int set_the_watch(struct here *here) {
    return dx_watch_set(here->watch, 0) == DX_OK;
}

static int watch_anew(struct here *here) {
    dx_watch *watch = NULL;
    return dx_watch_new(here->loop, here->pair[0], DX_WATCH_READ, on_ready, here, &watch) == DX_OK;
}

static void watches_stay(void **state) {
    (void)state;
    struct here here;
    begin(&here);
    assert_int_equal(
        dx_watch_new(here.loop, here.pipe[0], DX_WATCH_READ, on_ready, &here, &here.watch), DX_OK);
    in_a_copy(&here, set_the_watch);
    in_a_copy(&here, watch_anew);
    assert_int_equal(write(here.pair[1], "x", 1), 1); /* nobody here watches that one */
    assert_int_equal(write(here.pipe[1], "x", 1), 1);
    turn_until(&here, &here.ready);
    end(&here);
}

static int use_the_program(struct here *here) {
    if (dx_program_write(here->program, dx_str("copy\n")) != DX_CLOSED)
        return 1;
    dx_program_pause(here->program, 1);
    dx_program_close_input(here->program);
    dx_program_stop(here->program);
    return 0;
}

static void programs_run_on(void **state) {
    (void)state;
    struct here here;
    begin(&here);
    const char *argv[] = {"cat", NULL};
    dx_program_config config = dx_program_defaults(argv);
    config.piped = 1;
    config.on_output = on_output;
    config.on_end = on_end;
    config.user = &here;
    assert_int_equal(dx_program_start(here.loop, &config, &here.program, NULL), DX_OK);
    in_a_copy(&here, use_the_program);
    assert_int_equal(dx_program_write(here.program, dx_str("original\n")), DX_OK);
    dx_program_close_input(here.program);
    turn_until(&here, &here.gone);
    assert_string_equal(here.out, "original\n");
    end(&here);
}

/* Each of these would leave a file behind. */
static int start_something(struct here *here) {
    char mark[64];
    snprintf(mark, sizeof mark, ": >/tmp/duplex-fork-%ld", (long)getppid());
    const char *argv[] = {"/bin/sh", "-c", mark, NULL};
    dx_child_config child = dx_child_defaults(DX_FRAMING_LINE, argv);
    dx_program_config program = dx_program_defaults(argv);
    dx_tap_config tap = dx_tap_defaults(argv);
    dx_error error = {.fault = DX_FAULT_NONE};
    dx_child *new_child;
    dx_program *new_program;
    dx_tap *new_tap;
    tap.in = here->pair[0];
    int wrong = dx_child_start(here->loop, &child, &new_child, &error) != DX_ERR_SYSTEM;
    wrong |= (error.fault != DX_FAULT_START) << 1;
    wrong |= (dx_program_start(here->loop, &program, &new_program, &error) != DX_ERR_SYSTEM) << 2;
    wrong |= (dx_tap_start(here->loop, &tap, &new_tap, &error) != DX_ERR_SYSTEM) << 3;
    usleep(200000);
    wrong |= (unlink(strstr(mark, "/tmp")) == 0) << 4;
    return wrong;
}

static void nothing_is_started(void **state) {
    (void)state;
    struct here here;
    begin(&here);
    in_a_copy(&here, start_something);
    end(&here);
}

static int only_free(struct here *here) {
    (void)here;
    return 0;
}

/* The connection of a tap is not shut down, and none of its descriptors begins to block. */
static void taps_pass_on(void **state) {
    (void)state;
    struct here here;
    char path[] = "/tmp/duplex-fork-XXXXXX";
    begin(&here);
    int file = mkostemp(path, O_CLOEXEC);
    assert_true(file >= 0);
    unlink(path);
    const char *argv[] = {"cat", NULL};
    dx_tap_config config = dx_tap_defaults(argv);
    config.in = config.out = here.pair[0];
    config.errors = file;
    config.on_bytes = on_bytes;
    config.on_gone = on_tap_gone;
    config.user = &here;
    assert_int_equal(dx_tap_start(here.loop, &config, &here.tap, NULL), DX_OK);
    int flags = fcntl(file, F_GETFL);
    in_a_copy(&here, only_free);
    assert_int_equal(fcntl(file, F_GETFL), flags);
    assert_int_equal(write(here.pair[1], "original\n", 9), 9);
    shutdown(here.pair[1], SHUT_WR);
    turn_until(&here, &here.gone);
    assert_string_equal(here.out, "original\n");
    close(file);
    end(&here);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(watches_stay),
        cmocka_unit_test(programs_run_on),
        cmocka_unit_test(nothing_is_started),
        cmocka_unit_test(taps_pass_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
