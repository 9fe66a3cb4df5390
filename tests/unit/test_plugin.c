/* dx_plugin_run(): what ends it, and with which code. Each runs in a process of its own. */
#include "unit/unit.h"

#include <duplex/link.h>

#include <fcntl.h>
#include <sys/wait.h>

static void answer(dx_link *link, const dx_event *event) {
    (void)dx_link_reply(link, event->request, dx_json_none());
}

static void on_close(dx_link *link, const dx_event *event, void *user) {
    (void)user;
    answer(link, event);
    dx_link_close(link);
}

static void on_free(dx_link *link, const dx_event *event, void *user) {
    (void)event;
    (void)user;
    dx_link_free(link);
}

static void on_stop(dx_link *link, const dx_event *event, void *user) {
    (void)user;
    answer(link, event);
    dx_loop_stop(dx_link_loop(link));
}

static void on_free_loop(dx_link *link, const dx_event *event, void *user) {
    (void)event;
    (void)user;
    dx_loop_free(dx_link_loop(link));
}

static void on_closed(dx_link *link, const dx_error *why, void *user) {
    (void)why;
    (void)user;
    dx_link_free(link);
}

static const dx_handler handlers[] = {{"close", on_close},
                                      {"free", on_free},
                                      {"stop", on_stop},
                                      {"free loop", on_free_loop},
                                      {NULL, NULL}};

/* Its exit code, or -1 if it is still there when its time is over. */
static int run(const char *said, bool and_ends, const dx_link_config *config) {
    int in[2];
    int out[2];
    int status;
    assert_int_equal(pipe2(in, O_CLOEXEC), 0);
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        alarm(10);
        dup2(in[0], 0);
        dup2(out[1], 1);
        close(in[1]);
        _exit(dx_plugin_run(config));
    }
    close(in[0]);
    close(out[1]);
    assert_int_equal(write(in[1], said, strlen(said)), (ssize_t)strlen(said));
    if (and_ends)
        close(in[1]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (!and_ends)
        close(in[1]);
    close(out[0]);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#define ASK(method) "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"" method "\"}\n"
#define HALF "{\"jsonrpc\":\"2.0\",\"id\""

static void has_a_code(void **state) {
    (void)state;
    static const struct {
        const char *said;
        bool and_ends;
        int code;
    } rows[] = {
        {"", true, 0},
        {ASK("other"), true, 0},
        {HALF, true, 1},
        {ASK("close"), false, 0},
        {ASK("close") HALF, false, 0}, /* it is our end, not a part of theirs that is missing */
        {ASK("free"), false, 0},
        {ASK("stop"), false, 0},
        {ASK("free loop"), false, 0},
    };
    dx_link_config config = dx_link_defaults(DX_FRAMING_LINE, DX_SIDE_PLUGIN);
    config.handlers = handlers;
    for (int i = 0; i < 2; i++) {
        for (size_t row = 0; row < LENGTH(rows); row++)
            assert_int_equal(run(rows[row].said, rows[row].and_ends, &config), rows[row].code);
        config.on_closed = on_closed;
    }
    config.peer.framing = (dx_framing)0;
    assert_int_equal(run("", false, &config), 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(has_a_code),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
