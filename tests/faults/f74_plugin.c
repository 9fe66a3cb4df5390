/* We are the plugin: F74. */
#include "faults/faults.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

static const char hello[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"echo\",\"params\":[1]}\n";
static const char answer[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":[1]}\n";

static pid_t plugin(int *ret_in, int *ret_out) {
    const char *argv[] = {program("plugin"), "line", NULL};
    return spawn_by_hand(argv, ret_in, ret_out);
}

static void say(int fd, const char *text) {
    signal(SIGPIPE, SIG_IGN); /* should it be gone already */
    EXPECT(write(fd, text, strlen(text)), ==, strlen(text));
}

static void hear(int fd, const char *expected) {
    char text[256];
    size_t len = 0;
    while (len < strlen(expected)) {
        EXPECT(readable(fd, 3000), ==, 1);
        ssize_t n = read(fd, text + len, sizeof text - 1 - len);
        EXPECT(n, >, 0);
        len += (size_t)n;
    }
    text[len] = '\0';
    if (strcmp(text, expected))
        fail("expected the answer %s, got %s", expected, text);
}

/* It leaves by itself within 3.5 s (drain_ms and some) and has not burnt processor time; its exit
 * code, or the negative signal. */
static int leaves(pid_t pid, uint64_t most_cpu_ms) {
    uint64_t end = now_ms() + 3500 * slow;
    int status;
    struct rusage usage;
    while (wait4(pid, &status, WNOHANG, &usage) == 0) {
        if (now_ms() > end)
            fail("expected the plugin to leave within 3.5 s, it did not");
        sleep_ms(5);
    }
    uint64_t cpu = (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000 +
                   (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1000;
    EXPECT(cpu, <, most_cpu_ms * slow);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

FAULT(F74_stdin_closes, 5, "a plugin leaves when its input ends, with its last answer sent") {
    int in, out;
    pid_t pid = plugin(&in, &out);
    say(in, hello);
    hear(out, answer);
    say(in, hello);
    close(in);
    hear(out, answer);
    EXPECT(leaves(pid, 100), ==, 0);
    close(out);
}

FAULT(F74_stdout_closes, 8, "a plugin whose output is closed leaves, without a spin or SIGPIPE") {
    int in, out;
    pid_t pid = plugin(&in, &out);
    say(in, hello);
    hear(out, answer);
    close(out);
    sleep_ms(500);
    /* Whether it noticed already or only when it has something to say is its own affair. */
    signal(SIGPIPE, SIG_IGN);
    if (write(in, hello, sizeof hello - 1) < 0)
        EXPECT(errno, ==, EPIPE);
    uint64_t begin = now_ms();
    EXPECT(leaves(pid, 100), >=, 0);
    EXPECT(now_ms() - begin, <, 500 * slow);
    close(in);
}

FAULT(F74_both_close, 8, "a plugin whose host vanished leaves") {
    int in, out;
    pid_t pid = plugin(&in, &out);
    say(in, hello);
    hear(out, answer);
    say(in, hello);
    close(out);
    close(in);
    EXPECT(leaves(pid, 100), >=, 0);
}

static pid_t plugin_on(int in, int out) {
    pid_t pid = fork();
    if (pid == 0) {
        if (in >= 0)
            dup2(in, 0);
        else
            close(0);
        if (out >= 0)
            dup2(out, 1);
        else
            close(1);
        execl(program("plugin"), "plugin", "line", (char *)NULL);
        _exit(126);
    }
    return pid;
}

FAULT(F74_no_descriptors, 8, "a plugin that was started without 0 or 1 leaves or works, no hang") {
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    EXPECT(leaves(plugin_on(-1, null), 100), >=, 0);
    EXPECT(leaves(plugin_on(null, -1), 100), >=, 0);
    EXPECT(leaves(plugin_on(-1, -1), 100), >=, 0);
    close(null);
}

FAULT(F74_null, 5, "a plugin on /dev/null sees the end at once") {
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    EXPECT(leaves(plugin_on(null, null), 100), ==, 0);
    close(null);
}

FAULT(F74_files, 5, "a plugin works with files in place of pipes") {
    char in_path[] = "/tmp/duplex-in-XXXXXX", out_path[] = "/tmp/duplex-out-XXXXXX";
    int in = mkostemp(in_path, O_CLOEXEC), out = mkostemp(out_path, O_CLOEXEC);
    unlink(in_path);
    unlink(out_path);
    say(in, hello);
    lseek(in, 0, SEEK_SET);
    EXPECT(leaves(plugin_on(in, out), 100), ==, 0);
    lseek(out, 0, SEEK_SET);
    hear(out, answer);
    close(in);
    close(out);
}

FAULT(F74_stray_printf, 5, "a plugin's stray printf goes to its standard error") {
    dx_loop *loop = loop_new();
    struct family family;
    family_init(&family, loop, "plugin line");
    family_start(&family);
    for (int i = 0; i < 3; i++) {
        ask(family_link(&family), "print", NULL, &family.calls);
        ask(family_link(&family), "echo", "[\"clean\"]", &family.calls);
        EXPECT(strcmp(family.calls.body, "[\"clean\"]"), ==, 0);
    }
    EXPECT(family.events, ==, 0);
    family_end(&family, 3000 * slow);
    EXPECT_PART(family.how.errors, "a stray word");
    EXPECT(family.how.code, ==, 0);
    dx_loop_free(loop);
}

FAULT(F74_idle, 5, "a plugin that has nothing to do uses no processor time") {
    int in, out;
    pid_t pid = plugin(&in, &out);
    say(in, hello);
    hear(out, answer);
    sleep_ms(1500);
    close(in);
    EXPECT(leaves(pid, 50), ==, 0);
    close(out);
}
