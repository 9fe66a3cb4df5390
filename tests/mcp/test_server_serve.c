/* A server as a process of its own: dx_mcp_serve() on the standard input and output. */
#include "mcp/server_talk.h"

#include <signal.h>
#include <sys/wait.h>

struct program {
    pid_t pid;
    int in;
    int out;
    int err;
};

static void print(dx_mcp_work *work, yyjson_val *arguments, void *user) {
    (void)arguments;
    (void)user;
    printf("stray\n");
    (void)fflush(stdout);
    dx_mcp_work_text(work, TEXT("clean"));
    dx_mcp_work_done(work);
}

static void on_time(dx_timer *timer, void *user) {
    (void)user;
    dx_timer_set(timer, 5);
}

/* Work that never ends, and a timer that always runs. */
static void stay(dx_mcp_work *work, yyjson_val *arguments, void *user) {
    dx_timer *timer;
    (void)arguments;
    (void)user;
    if (dx_timer_new(dx_mcp_work_loop(work), on_time, NULL, &timer) == DX_OK)
        dx_timer_set(timer, 5);
    dx_mcp_work_keep(work);
}

static void on_end(dx_mcp_session *session, const dx_error *why, void *user) {
    (void)session;
    (void)user;
    (void)dprintf(2, "end %s\n", dx_fault_name(why->fault));
}

static int serve(void) {
    dx_mcp_server_config config = dx_mcp_server_defaults("s", "1");
    dx_mcp_server *server;
    config.on_session_end = on_end;
    if (dx_mcp_server_new(&config, &server, NULL) != DX_OK ||
        dx_mcp_server_add_tool(server, &(dx_mcp_tool){.name = "print", .call = print}, NULL) !=
            DX_OK ||
        dx_mcp_server_add_tool(server, &(dx_mcp_tool){.name = "stay", .call = stay}, NULL) != DX_OK)
        return 99;
    return dx_mcp_serve(server);
}

static struct program start(void) {
    int in[2];
    int out[2];
    int err[2];
    assert_int_equal(pipe2(in, O_CLOEXEC) | pipe2(out, O_CLOEXEC) | pipe2(err, O_CLOEXEC), 0);
    (void)fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        dup2(err[1], 2);
        close(in[1]);
        close(out[0]);
        close(err[0]);
        alarm(60); /* whatever happens to the test, this one ends */
        _exit(serve());
    }
    close(in[0]);
    close(out[1]);
    close(err[1]);
    return (struct program){pid, in[1], out[0], err[0]};
}

static void say(const struct program *program, const char *line) {
    assert_int_equal(write(program->in, line, strlen(line)), strlen(line));
    assert_int_equal(write(program->in, "\n", 1), 1);
}

/* All that comes until that text has, or the end. */
static void hear(int fd, const char *until, char *to, size_t max) {
    size_t len = 0;
    to[0] = '\0';
    for (;;) {
        struct pollfd poll_in = {fd, POLLIN, 0};
        if (until && strstr(to, until))
            return;
        assert_int_equal(poll(&poll_in, 1, TALK_PATIENCE_MS), 1);
        ssize_t n = read(fd, to + len, max - 1 - len);
        if (n <= 0)
            return;
        len += (size_t)n;
        to[len] = '\0';
    }
}

static int wait_for(const struct program *program) {
    int status = -1;
    assert_int_equal(waitpid(program->pid, &status, 0), program->pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static const char init[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{"
                           "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"
                           "\"clientInfo\":{\"name\":\"c\",\"version\":\"2\"}}}";

/* T13. */
static void test_stray(void **state) {
    struct program program = start();
    char text[4096];
    (void)state;
    say(&program, init);
    say(&program, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{"
                  "\"name\":\"print\"}}");
    hear(program.out, "\"clean\"", text, sizeof text);
    assert_has_not(text, "stray");
    close(program.in);
    assert_int_equal(wait_for(&program), 0);
    hear(program.err, NULL, text, sizeof text);
    assert_string_equal(text, "stray\nend none\n");
    close(program.out);
    close(program.err);
}

/* T20. */
static void test_leaves(void **state) {
    struct program program = start();
    char text[4096];
    (void)state;
    say(&program, init);
    say(&program, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{"
                  "\"name\":\"stay\"}}");
    say(&program, "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"ping\"}");
    hear(program.out, "\"id\":3", text, sizeof text);
    uint64_t before = talk_now();
    close(program.in);
    assert_int_equal(wait_for(&program), 0);
    assert_true(talk_now() - before < 1000); /* a few ms where nothing else runs */
    close(program.out);
    close(program.err);
}

/* A client that closes what it reads from is gone, too. */
static void test_unread(void **state) {
    struct program program = start();
    char text[4096];
    (void)state;
    signal(SIGPIPE, SIG_IGN);
    say(&program, init);
    hear(program.out, "\"id\":1", text, sizeof text);
    close(program.out);
    close(program.err);
    say(&program, "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"ping\"}");
    assert_int_equal(wait_for(&program), 0);
    close(program.in);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stray),
        cmocka_unit_test(test_leaves),
        cmocka_unit_test(test_unread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
