/* A host for the tests of the plugin: it speaks in bytes through real pipes, has nothing of the
 * library in it, and waits for nothing longer than it says. The plugin lives in the same thread. */
#ifndef REGINALD_TEST_PLUGIN_TALK_H
#define REGINALD_TEST_PLUGIN_TALK_H

#include "unit/unit.h"

#include <duplex/reginald-plugin.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TALK_PATIENCE_MS = 20000, TALK_QUIET_MS = 50, TALK_ROOM = 1 << 20 };

struct talk {
    dx_loop *loop;              /* NULL: the plugin is a process of its own */
    dx_reginald_plugin *plugin; /* NULL once somebody else has freed it */
    pid_t pid;
    int to;
    int from;
    bool left;
    int code;
    size_t len;  /* what has come … */
    size_t used; /* … and how much of that was handed out */
    char in[TALK_ROOM];
};

static inline uint64_t talk_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static inline void talk_on_left(dx_reginald_plugin *plugin, int code, void *user) {
    struct talk *talk = user;
    assert_true(plugin == talk->plugin);
    assert_false(talk->left);
    talk->left = true;
    talk->code = code;
}

static inline void talk_new(struct talk *talk, const dx_reginald_entry *settings) {
    memset(talk, 0, sizeof *talk);
    talk->to = talk->from = -1;
    assert_int_equal(dx_loop_new(NULL, &talk->loop, NULL), DX_OK);
    assert_int_equal(dx_reginald_plugin_new("probe", "1.2.3", settings, &talk->plugin), DX_OK);
}

static inline void talk_open(struct talk *talk) {
    int in[2];
    int out[2];
    dx_error error = {.phrase = ""};
    assert_int_equal(pipe2(in, O_CLOEXEC), 0);
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    assert_int_equal(dx_reginald_plugin_open(talk->plugin, talk->loop, in[0], out[1], talk_on_left,
                                             talk, &error),
                     DX_OK);
    assert_int_equal(fcntl(out[0], F_SETFL, O_NONBLOCK), 0);
    talk->to = in[1];
    talk->from = out[0];
    talk->left = false;
    talk->len = talk->used = 0;
}

/* A plugin in a process of its own, whose exit code is what `run` returns. */
static inline void talk_fork(struct talk *talk, int (*run)(const char *path), const char *path) {
    int in[2];
    int out[2];
    memset(talk, 0, sizeof *talk);
    assert_int_equal(pipe2(in, O_CLOEXEC), 0);
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    talk->pid = fork();
    assert_true(talk->pid >= 0);
    if (talk->pid == 0) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        close(in[0]);
        close(in[1]);
        close(out[0]);
        close(out[1]);
        _exit(run(path));
    }
    close(in[0]);
    close(out[1]);
    assert_int_equal(fcntl(out[0], F_SETFL, O_NONBLOCK), 0);
    talk->to = in[1];
    talk->from = out[0];
}

static inline int talk_exec(const char *path) {
    execl(path, path, (char *)NULL);
    return 127;
}

/* One of the examples. */
static inline void talk_spawn(struct talk *talk, const char *example) {
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/examples/%s", getenv("BUILD") ? getenv("BUILD") : ".",
                   example);
    talk_fork(talk, talk_exec, path);
}

/* Its exit code. */
static inline int talk_exits(struct talk *talk) {
    uint64_t until = talk_now() + TALK_PATIENCE_MS;
    int status = 0;
    while (waitpid(talk->pid, &status, WNOHANG) == 0) {
        if (talk_now() > until) {
            kill(talk->pid, SIGKILL);
            fail_msg("it does not leave");
        }
        usleep(2000);
    }
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* One turn of the plugin; reads what it said. */
static inline void talk_turn(struct talk *talk, int most_ms) {
    struct pollfd fds[] = {{talk->from, POLLIN, 0}, {-1, POLLIN, 0}};
    int wait = most_ms;
    if (talk->loop) {
        fds[1].fd = dx_loop_fd(talk->loop);
        wait = dx_loop_wait_ms(talk->loop);
    }
    if (wait < 0 || wait > most_ms)
        wait = most_ms;
    poll(fds, 2, wait);
    if (talk->loop)
        dx_loop_dispatch(talk->loop);
    if (talk->from < 0)
        return;
    assert_true(talk->len < sizeof talk->in);
    ssize_t n = read(talk->from, talk->in + talk->len, sizeof talk->in - talk->len);
    if (n > 0)
        talk->len += (size_t)n;
    if (n == 0) {
        close(talk->from);
        talk->from = -1;
    }
}

static inline void talk_write(struct talk *talk, const void *bytes, size_t len) {
    assert_int_equal(write(talk->to, bytes, len), (ssize_t)len);
}

static inline void talk_bytes(struct talk *talk, const char *text) {
    talk_write(talk, text, strlen(text));
}

static inline void talk_say(struct talk *talk, const char *body) {
    char header[64];
    (void)snprintf(header, sizeof header, "Content-Length: %zu\r\n\r\n", strlen(body));
    talk_bytes(talk, header);
    talk_bytes(talk, body);
}

/* A message as a whole, with a header of exactly the form that is always sent; NULL if none is
 * there. It is cut out of what came by a NUL. */
static inline char *talk_next(struct talk *talk) {
    static const char start[] = "Content-Length: ";
    char *at = talk->in + talk->used;
    size_t have = talk->len - talk->used;
    char *end = memmem(at, have, "\r\n\r\n", 4);
    if (!end)
        return NULL;
    assert_memory_equal(at, start, sizeof start - 1);
    char *after;
    size_t length = strtoul(at + sizeof start - 1, &after, 10);
    assert_true(after == end);
    size_t header = (size_t)(end + 4 - at);
    if (have < header + length)
        return NULL;
    talk->used += header + length;
    static char room[TALK_ROOM];
    memcpy(room, at + header, length);
    room[length] = '\0';
    return room;
}

static inline char *talk_hear(struct talk *talk) {
    uint64_t until = talk_now() + TALK_PATIENCE_MS;
    for (;;) {
        char *body = talk_next(talk);
        if (body)
            return body;
        if (talk_now() > until)
            fail_msg("nothing comes");
        talk_turn(talk, 100);
    }
}

static inline void talk_expect(struct talk *talk, const char *body) {
    assert_string_equal(talk_hear(talk), body);
}

static inline void talk_ask(struct talk *talk, const char *body, const char *answer) {
    talk_say(talk, body);
    talk_expect(talk, answer);
}

/* An error with that code, for that id, with that in its text. */
static inline void talk_refused(struct talk *talk, const char *body, const char *id, int code,
                                const char *part) {
    char start[160];
    (void)snprintf(start, sizeof start, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":%d,",
                   id, code);
    talk_say(talk, body);
    char *answer = talk_hear(talk);
    if (strncmp(answer, start, strlen(start)) != 0 || !strstr(answer, part))
        fail_msg("%s does not begin with %s or has no %s in it", answer, start, part);
}

/* Nothing comes for a while. */
static inline void talk_quiet(struct talk *talk) {
    uint64_t until = talk_now() + TALK_QUIET_MS;
    while (talk_now() < until)
        talk_turn(talk, 10);
    char *body = talk_next(talk);
    if (body)
        fail_msg("%s came", body);
    assert_int_equal(talk->used, talk->len);
}

/* The code it leaves with. */
static inline int talk_leaves(struct talk *talk) {
    uint64_t until = talk_now() + TALK_PATIENCE_MS;
    while (!talk->left) {
        if (talk_now() > until)
            fail_msg("it does not leave");
        talk_turn(talk, 100);
    }
    return talk->code;
}

#define TALK_HANDSHAKE                                                                         \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"handshake\",\"params\":{\"protocol\":\"rpp\"," \
    "\"protocolVersion\":0}}"
#define TALK_INITIALIZE                                                                 \
    "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"initialize\",\"params\":{\"logging\":{" \
    "\"enabled\":true,\"level\":\"TRACE\"}}}"
#define TALK_EXIT "{\"jsonrpc\":\"2.0\",\"method\":\"exit\",\"params\":null}"
#define TALK_GOOD(id) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":{}}"

static inline void talk_greet(struct talk *talk) {
    talk_say(talk, TALK_HANDSHAKE);
    assert_non_null(strstr(talk_hear(talk), "\"result\""));
    talk_ask(talk, TALK_INITIALIZE, TALK_GOOD("2"));
}

static inline void talk_close(struct talk *talk) {
    if (talk->to >= 0)
        close(talk->to);
    if (talk->from >= 0)
        close(talk->from);
    talk->to = talk->from = -1;
}

static inline void talk_free(struct talk *talk) {
    dx_reginald_plugin_free(talk->plugin);
    dx_loop_free(talk->loop);
    talk_close(talk);
}

#endif
