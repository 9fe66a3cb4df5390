/* An editor for the tests of the extension part: it speaks in bytes, has nothing of the library in
 * it, and waits for nothing longer than it says. The extension is a fork of the test. */
#ifndef HERMES_TEST_EXTENSION_H
#define HERMES_TEST_EXTENSION_H

#include "unit/unit.h"

#include <duplex/hermes-extension.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>

enum { EDITOR_PATIENCE_MS = 20000 };

struct editor {
    pid_t pid;
    int to;   /* its standard input */
    int from; /* its standard output */
    int log;  /* its standard error */
    char line[2048];
};

static inline uint64_t editor_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Runs `program` as an extension would be run; its value is the exit code. */
static inline struct editor editor_start(int (*program)(void *user), void *user) {
    int in[2];
    int out[2];
    int err[2];
    assert_int_equal(pipe2(in, O_CLOEXEC) | pipe2(out, O_CLOEXEC) | pipe2(err, O_CLOEXEC), 0);
    fflush(NULL);
    signal(SIGPIPE, SIG_IGN);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        signal(SIGPIPE, SIG_DFL);
        dup2(in[0], 0);
        dup2(out[1], 1);
        dup2(err[1], 2);
        for (int i = 0; i < 2; i++) {
            close(in[i]);
            close(out[i]);
            close(err[i]);
        }
        alarm(60); /* whatever happens to the test, this one ends */
        exit(program(user));
    }
    close(in[0]);
    close(out[1]);
    close(err[1]);
    return (struct editor){.pid = pid, .to = in[1], .from = out[0], .log = err[0]};
}

static inline int run_config(void *user) {
    return dx_hermes_extension_run(user);
}

/* One byte, or -1 at the end. */
static inline int editor_byte(int fd) {
    struct pollfd ready = {fd, POLLIN, 0};
    unsigned char byte;
    if (poll(&ready, 1, EDITOR_PATIENCE_MS) != 1)
        fail_msg("nothing came in time");
    return read(fd, &byte, 1) == 1 ? byte : -1;
}

static inline void editor_raw(struct editor *editor, const char *bytes, size_t len) {
    assert_int_equal(write(editor->to, bytes, len), (ssize_t)len);
}

/* The plainest frame: its header and its body. */
static inline void editor_send(struct editor *editor, const char *json) {
    char header[64];
    int len = snprintf(header, sizeof header, "Content-Length: %zu\r\n\r\n", strlen(json));
    editor_raw(editor, header, (size_t)len);
    editor_raw(editor, json, strlen(json));
}

/* The body of the next frame, which must have no other header than the one and in the one form; the
 * caller frees it. NULL at the end. */
static inline char *editor_receive(struct editor *editor) {
    static const char name[] = "Content-Length: ";
    size_t len = 0;
    int byte = editor_byte(editor->from);
    if (byte < 0)
        return NULL;
    for (size_t i = 0; name[i]; i++, byte = editor_byte(editor->from))
        assert_int_equal(byte, name[i]);
    assert_int_not_equal(byte, '0');
    for (; byte >= '0' && byte <= '9'; byte = editor_byte(editor->from))
        len = len * 10 + (size_t)(byte - '0');
    assert_int_equal(byte, '\r');
    for (const char *rest = "\n\r\n"; *rest; rest++)
        assert_int_equal(editor_byte(editor->from), *rest);
    char *body = malloc(len + 1);
    assert_non_null(body);
    for (size_t i = 0; i < len; i++) {
        int next = editor_byte(editor->from);
        assert_true(next >= 0);
        body[i] = (char)next;
    }
    body[len] = '\0';
    return body;
}

static inline void editor_expect(struct editor *editor, const char *json) {
    char *body = editor_receive(editor);
    assert_non_null(body);
    assert_string_equal(body, json);
    free(body);
}

/* The next line of the log; NULL at its end. */
static inline const char *editor_line(struct editor *editor) {
    size_t len = 0;
    int byte;
    while ((byte = editor_byte(editor->log)) >= 0 && byte != '\n') {
        assert_true(len + 1 < sizeof editor->line);
        editor->line[len++] = (char)byte;
    }
    editor->line[len] = '\0';
    return byte < 0 && !len ? NULL : editor->line;
}

static inline void editor_log(struct editor *editor, const char *expected) {
    const char *line = editor_line(editor);
    assert_non_null(line);
    assert_string_equal(line, expected);
}

static inline void editor_log_has(struct editor *editor, const char *part) {
    const char *line = editor_line(editor);
    assert_non_null(line);
    if (!strstr(line, part))
        fail_msg("\"%s\" is not in \"%s\"", part, line);
}

/* It has nothing more to say, and leaves with that code before long. */
static inline void editor_gone(struct editor *editor, int code) {
    uint64_t start = editor_now();
    int status = 0;
    char *more = editor_receive(editor);
    if (more)
        fail_msg("it also said %s", more);
    while (waitpid(editor->pid, &status, WNOHANG) == 0) {
        if (editor_now() - start > EDITOR_PATIENCE_MS)
            fail_msg("it does not leave");
        usleep(1000);
    }
    const char *line;
    while (code == 0 && (line = editor_line(editor)))
        if (strstr(line, "ERROR: "))
            fail_msg("%s", line);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), code);
    if (editor->to >= 0)
        close(editor->to);
    close(editor->from);
    close(editor->log);
}

static inline void editor_close(struct editor *editor) {
    close(editor->to);
    editor->to = -1;
}

#define EDITOR_INITIALIZE                                                                         \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"apiVersion\":\"1.0\"," \
    "\"dataDirectory\":\"/data\",\"hermesVersion\":\"0.1.0\"}}"

/* Initialised, with whatever answer. */
static inline struct editor editor_running(dx_hermes_extension_config *config) {
    struct editor editor = editor_start(run_config, config);
    editor_send(&editor, EDITOR_INITIALIZE);
    char *body = editor_receive(&editor);
    assert_non_null(body);
    assert_non_null(strstr(body, "\"result\""));
    free(body);
    return editor;
}

static inline void editor_stop(struct editor *editor) {
    editor_send(editor, "{\"jsonrpc\":\"2.0\",\"id\":\"last\",\"method\":\"shutdown\",\"params\":{"
                        "\"reason\":\"closing\"}}");
    editor_expect(editor, "{\"jsonrpc\":\"2.0\",\"id\":\"last\",\"result\":{\"success\":true}}");
    editor_gone(editor, 0);
}

static inline void editor_command(struct editor *editor, const char *command) {
    char json[256];
    snprintf(json, sizeof json,
             "{\"jsonrpc\":\"2.0\",\"method\":\"command/execute\",\"params\":{\"command\":\"%s\"}}",
             command);
    editor_send(editor, json);
}

#endif
