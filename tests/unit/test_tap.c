/* A tap in one process: what it is told, what it passes on, and how it ends. What needs real hosts
 * is in tests/check/check-tap.sh. */
#include "unit/unit.h"

#include <duplex/tap.h>

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>

struct seen {
    char host[64], plugin[64], errors[64];
    bool gone;
    bool free_early;
    dx_gone how;
};

static dx_loop *loop;
static struct seen seen;
static int to_tap, from_tap, errors_of_tap;

static void on_bytes(dx_tap *tap, dx_trace_from from, int errors, dx_text bytes, void *user) {
    assert_ptr_equal(user, &seen);
    char *room = errors ? seen.errors : from == DX_TRACE_HOST ? seen.host : seen.plugin;
    snprintf(room + strlen(room), 64 - strlen(room), "%.*s", (int)bytes.len, bytes.at);
    if (seen.free_early) {
        dx_tap_free(tap);
        dx_loop_stop(loop);
    }
}

static void on_gone(dx_tap *tap, const dx_gone *gone, void *user) {
    assert_ptr_equal(user, &seen);
    assert_false(seen.gone);
    seen.gone = true;
    seen.how = *gone;
    dx_tap_free(tap);
    dx_loop_stop(loop);
}

static dx_tap_config config_of(const char *const *argv, int *ours) {
    int in[2], out[2], errors[2];
    assert_int_equal(pipe2(in, O_CLOEXEC), 0);
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    assert_int_equal(pipe2(errors, O_CLOEXEC), 0);
    to_tap = in[1];
    from_tap = out[0];
    errors_of_tap = errors[0];
    ours[0] = in[0];
    ours[1] = out[1];
    ours[2] = errors[1];
    dx_tap_config config = dx_tap_defaults(argv);
    config.in = in[0];
    config.out = out[1];
    config.errors = errors[1];
    config.on_bytes = on_bytes;
    config.on_gone = on_gone;
    config.user = &seen;
    return config;
}

static void close_three(const int *fds) {
    for (int i = 0; i < 3; i++)
        close(fds[i]);
}

static dx_tap *start(const char *script, dx_watchers *watchers) {
    const char *argv[] = {"sh", "-c", script, NULL};
    int ours[3];
    dx_tap *tap;
    dx_error error = {0};
    dx_tap_config config = config_of(argv, ours);
    config.watchers = watchers;
    config.close_ms = config.term_ms = 100;
    assert_int_equal(dx_tap_start(loop, &config, &tap, &error), DX_OK);
    close_three(ours);
    return tap;
}

static void close_ends(void) {
    if (to_tap >= 0)
        close(to_tap);
    close(from_tap);
    close(errors_of_tap);
}

static void bytes_pass(void **state) {
    (void)state;
    char room[64] = "";
    start("cat; echo out; echo err >&2; exit 5", NULL);
    assert_int_equal(write(to_tap, "hello\n", 6), 6);
    close(to_tap);
    to_tap = -1;
    dx_loop_run(loop);
    assert_int_equal(seen.how.code, 5);
    assert_int_equal(seen.how.known, 1);
    assert_int_equal(seen.how.error.fault, DX_FAULT_EXITED);
    assert_string_equal(seen.host, "hello\n");
    assert_string_equal(seen.plugin, "hello\nout\n");
    assert_string_equal(seen.errors, "err\n");
    assert_int_equal(read(from_tap, room, sizeof room), 10);
    assert_int_equal(read(from_tap, room, sizeof room), 0);
    assert_int_equal(read(errors_of_tap, room, sizeof room), 4);
    close_ends();
}

/* The input stays open: only the ladder can end these. */
static void it_is_stopped(void **state) {
    (void)state;
    static const struct {
        const char *script;
        int code, signal;
    } rows[] = {{"cat; exit 4", 4, 0},
                {"exec sleep 60", 0, SIGTERM},
                {"trap '' TERM; echo x; while :; do sleep 1; done", 0, SIGKILL}};
    for (size_t i = 0; i < LENGTH(rows); i++) {
        char byte;
        memset(&seen, 0, sizeof seen);
        dx_tap *tap = start(rows[i].script, NULL);
        if (i == 2) /* not before it ignores the signal */
            while (!seen.plugin[0]) {
                dx_loop_dispatch(loop);
                usleep(1000);
            }
        dx_tap_stop(tap);
        dx_tap_stop(tap);
        dx_loop_run(loop);
        assert_true(seen.gone);
        assert_int_equal(seen.how.stopped, 1);
        assert_int_equal(seen.how.code, rows[i].code);
        assert_int_equal(seen.how.signal, rows[i].signal);
        assert_int_equal(seen.how.error.fault, DX_FAULT_NONE);
        assert_true(read(from_tap, &byte, 1) >= 0);
        close_ends();
    }
}

static void it_can_be_freed_at_any_time(void **state) {
    (void)state;
    dx_tap *tap = start("exec sleep 60", NULL);
    pid_t pid = dx_tap_pid(tap);
    assert_null(dx_tap_free(tap));
    assert_int_equal(kill(pid, 0), -1);
    close_ends();
    /* In a callback of its own. */
    seen.free_early = true;
    start("echo x; exec sleep 60", NULL);
    dx_loop_run(loop);
    assert_false(seen.gone);
    assert_string_equal(seen.plugin, "x\n");
    close_ends();
    assert_null(dx_tap_free(NULL));
    /* With its loop. */
    seen.free_early = false;
    tap = start("exec sleep 60", NULL);
    pid = dx_tap_pid(tap);
    dx_loop_free(loop);
    assert_int_equal(kill(pid, 0), -1);
    close_ends();
    assert_int_equal(dx_loop_new(NULL, &loop, NULL), DX_OK);
}

static void senseless_ones(void **state) {
    (void)state;
    const char *argv[] = {"/nowhere/at/all", NULL};
    const char *none[] = {NULL};
    int ours[3];
    dx_tap *tap = NULL;
    dx_error error = {0};
    dx_tap_config config = config_of(argv, ours);
    assert_int_equal(dx_tap_start(loop, &config, &tap, &error), DX_ERR_SYSTEM);
    assert_non_null(strstr(error.phrase, "/nowhere/at/all"));
    argv[0] = "true";
    config.message_max = (64 << 10) - 1;
    assert_int_equal(dx_tap_start(loop, &config, &tap, &error), DX_ERR_INVALID);
    config.message_max = (1 << 30) + 1;
    assert_int_equal(dx_tap_start(loop, &config, &tap, &error), DX_ERR_INVALID);
    config.message_max = 64 << 10;
    config.argv = none;
    assert_int_equal(dx_tap_start(loop, &config, &tap, &error), DX_ERR_INVALID);
    /* Descriptors that are none: it is started, and ended again. */
    config.argv = argv;
    config.out = 4000;
    assert_int_equal(dx_tap_start(loop, &config, &tap, &error), DX_ERR_SYSTEM);
    assert_null(tap);
    close_three(ours);
    close_ends();
}

static void who_looks_on(void **state) {
    (void)state;
    char room[2048] = "";
    int pair[2];
    dx_watchers *watchers;
    dx_watchers_config config = dx_watchers_defaults();
    static const char *const nameless[] = {"", NULL};
    dx_error error = {.phrase = ""};
    config.redact = nameless; /* with that nobody could be served */
    assert_int_equal(dx_watchers_open(loop, &config, &watchers, &error), DX_ERR_INVALID);
    assert_true(error.phrase[0]);
    config.redact = NULL;
    config.most = 1;
    assert_int_equal(dx_watchers_open(loop, &config, &watchers, NULL), DX_OK);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    assert_int_equal(dx_watchers_add(watchers, pair[0]), DX_OK);
    assert_int_equal(dx_watchers_count(watchers), 1);
    assert_int_equal(dx_watchers_add(watchers, pair[1]), DX_BUSY);
    start("cat", watchers);
    assert_int_equal(write(to_tap, "{\"a\":1}\n", 8), 8);
    close(to_tap);
    to_tap = -1;
    dx_loop_run(loop);
    dx_watchers_finish(watchers, 1000);
    assert_int_equal(dx_watchers_count(watchers), 0);
    ssize_t n;
    size_t len = 0;
    while ((n = read(pair[1], room + len, sizeof room - 1 - len)) > 0)
        len += (size_t)n;
    room[len] = '\0';
    assert_non_null(strstr(room, "{\"duplex-trace\":1,"));
    assert_non_null(strstr(room, "\"from\":\"host\",\"bytes\":8,\"message\":{\"a\":1}}\n"));
    assert_non_null(strstr(room, "\"from\":\"plugin\",\"bytes\":8,\"message\":{\"a\":1}}\n"));
    assert_non_null(strstr(room, "\"event\":\"exit\",\"data\":{\"code\":0}}\n"));
    close(pair[1]);
    assert_null(dx_watchers_free(watchers));
    assert_null(dx_watchers_free(NULL));
    close_ends();
}

/* The end of the input ends its last line: that is told before what it led to. */
static void a_line_without_end(void **state) {
    (void)state;
    char room[2048] = "";
    int pair[2];
    dx_watchers *watchers;
    dx_watchers_config config = dx_watchers_defaults();
    assert_int_equal(dx_watchers_open(loop, &config, &watchers, NULL), DX_OK);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    assert_int_equal(dx_watchers_add(watchers, pair[0]), DX_OK);
    start("cat >/dev/null; echo '{\"b\":2}'", watchers);
    assert_int_equal(write(to_tap, "{\"a\":1}", 7), 7);
    close(to_tap);
    to_tap = -1;
    dx_loop_run(loop);
    dx_watchers_finish(watchers, 1000);
    for (ssize_t n, len = 0; (n = read(pair[1], room + len, sizeof room - 1 - (size_t)len)) > 0;
         len += n)
        ;
    char *asked = strstr(room, "\"from\":\"host\",\"bytes\":7,\"message\":{\"a\":1}}\n");
    assert_non_null(asked);
    assert_null(strstr(asked + 1, "\"from\":\"host\"")); /* once */
    assert_non_null(strstr(asked, "\"from\":\"plugin\",\"bytes\":8,\"message\":{\"b\":2}}\n"));
    close(pair[1]);
    dx_watchers_free(watchers);
    close_ends();
}

/* One who does not read gets no more than may wait, and is told of the rest when it does. */
static void who_does_not_look(void **state) {
    (void)state;
    enum { RECORDS = 5000 };
    static char piece[1 << 20];
    int pair[2];
    dx_watchers *watchers;
    dx_watchers_config config = dx_watchers_defaults();
    config.waiting_max = 4096;
    assert_int_equal(dx_watchers_open(loop, &config, &watchers, NULL), DX_OK);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair), 0);
    assert_int_equal(dx_watchers_add(watchers, pair[0]), DX_OK);
    dx_trace_record record = {.kind = DX_TRACE_MESSAGE,
                              .from = DX_TRACE_HOST,
                              .text = dx_str("{\"n\":\"aaaaaaaaaaaaa\"}")};
    for (int i = 0; i < RECORDS; i++) {
        dx_watchers_write(watchers, &record);
        dx_loop_dispatch(loop);
    }
    size_t messages = 0, dropped = 0;
    for (int turn = 0; turn < 1000; turn++) {
        ssize_t n = read(pair[1], piece, sizeof piece - 1);
        dx_loop_dispatch(loop);
        if (n <= 0)
            continue;
        piece[n] = '\0';
        for (char *at = piece; (at = strstr(at, "\"message\"")); at++)
            messages++;
        for (char *at = piece; (at = strstr(at, "\"dropped\":")); at++)
            dropped += strtoul(at + 10, NULL, 10);
    }
    assert_true(dropped > 0);
    assert_int_equal(messages + dropped, RECORDS);
    /* One who leaves is noticed. */
    close(pair[1]);
    dx_loop_dispatch(loop);
    assert_int_equal(dx_watchers_count(watchers), 0);
    dx_watchers_free(watchers);
}

static int set_up(void **state) {
    (void)state;
    memset(&seen, 0, sizeof seen);
    return dx_loop_new(NULL, &loop, NULL) != DX_OK;
}

static int tear_down(void **state) {
    (void)state;
    dx_loop_free(loop);
    return 0;
}

#define tap_test(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        tap_test(bytes_pass),        tap_test(it_is_stopped), tap_test(it_can_be_freed_at_any_time),
        tap_test(senseless_ones),    tap_test(who_looks_on),  tap_test(a_line_without_end),
        tap_test(who_does_not_look),
    };
    return cmocka_run_group_tests_name("tap", tests, NULL, NULL);
}
