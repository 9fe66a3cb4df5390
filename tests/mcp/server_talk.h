/* A client for the tests of the server: it speaks in lines of bytes, has nothing of the library in
 * it, and waits for nothing longer than it says. The server lives in the same thread, and all its
 * memory is counted. */
#ifndef MCP_TEST_SERVER_TALK_H
#define MCP_TEST_SERVER_TALK_H

#include "unit/unit.h"

#include <duplex/mcp-server.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>

enum { TALK_PATIENCE_MS = 20000 };

struct talk {
    struct unit_memory memory;
    dx_allocator alloc;
    dx_loop *loop;
    dx_mcp_server *server;
    dx_mcp_session *session;
    int fd;
    char *in;
    size_t len;
    size_t used; /* of it, the line that was handed out last */
    size_t cap;
};

static inline uint64_t talk_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* A server that is not talked to yet: things can be declared. */
static inline void talk_new(struct talk *talk, dx_mcp_server_config config) {
    dx_misfit why = {.phrase = ""};
    *talk = (struct talk){.fd = -1};
    talk->alloc = unit_allocator(&talk->memory);
    config.allocator = &talk->alloc;
    assert_int_equal(dx_loop_new(NULL, &talk->loop, NULL), DX_OK);
    assert_int_equal(dx_mcp_server_new(&config, &talk->server, &why), DX_OK);
}

static inline void talk_connect(struct talk *talk) {
    int pair[2];
    dx_error error;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    assert_int_equal(
        dx_mcp_server_open(talk->server, talk->loop, pair[0], pair[0], &talk->session, &error),
        DX_OK);
    fcntl(pair[1], F_SETFL, O_NONBLOCK);
    talk->fd = pair[1];
}

/* One turn of the server; reads what it said. Returns false when there is nothing more to come. */
static inline bool talk_turn(struct talk *talk, int most_ms) {
    struct pollfd fds[] = {{dx_loop_fd(talk->loop), POLLIN, 0}, {talk->fd, POLLIN, 0}};
    int wait = dx_loop_wait_ms(talk->loop);
    if (wait < 0 || wait > most_ms)
        wait = most_ms;
    poll(fds, talk->fd < 0 ? 1 : 2, wait);
    dx_loop_dispatch(talk->loop);
    if (talk->fd < 0)
        return false;
    if (talk->cap - talk->len < 65536) {
        talk->cap = talk->cap * 2 + 65536;
        talk->in = realloc(talk->in, talk->cap);
        assert_non_null(talk->in);
    }
    ssize_t n = read(talk->fd, talk->in + talk->len, talk->cap - talk->len);
    if (n > 0)
        talk->len += (size_t)n;
    return n > 0 || (n < 0 && errno == EAGAIN);
}

static inline void talk_bytes(struct talk *talk, const char *bytes, size_t len) {
    uint64_t until = talk_now() + TALK_PATIENCE_MS;
    while (len) {
        ssize_t n = write(talk->fd, bytes, len);
        if (n > 0) {
            bytes += n;
            len -= (size_t)n;
        } else {
            talk_turn(talk, 10);
        }
        assert_true(talk_now() < until);
    }
}

static inline void talk_say(struct talk *talk, const char *line) {
    talk_bytes(talk, line, strlen(line));
    talk_bytes(talk, "\n", 1);
}

/* The next line, valid until the one after it; NULL if none comes within that time. */
static inline const char *talk_wait(struct talk *talk, uint64_t ms) {
    uint64_t until = talk_now() + ms;
    if (talk->used)
        memmove(talk->in, talk->in + talk->used, talk->len - talk->used);
    talk->len -= talk->used;
    talk->used = 0;
    for (;;) {
        char *end = talk->len ? memchr(talk->in, '\n', talk->len) : NULL;
        uint64_t now = talk_now();
        if (end) {
            *end = '\0';
            talk->used = (size_t)(end + 1 - talk->in);
            return talk->in;
        }
        if (now >= until || (!talk_turn(talk, (int)(until - now)) && !talk->len))
            return NULL;
    }
}

static inline const char *talk_hear(struct talk *talk) {
    const char *line = talk_wait(talk, TALK_PATIENCE_MS);
    assert_non_null(line);
    return line;
}

static inline void talk_silence(struct talk *talk, uint64_t ms) {
    const char *line = talk_wait(talk, ms);
    if (line)
        print_error("unexpected: %s\n", line);
    assert_null(line);
}

static inline void talk_expect(struct talk *talk, const char *line) {
    assert_string_equal(talk_hear(talk), line);
}

#define JSON(literal) dx_json_text((literal), sizeof(literal) - 1)

#define assert_has(line, part)                                  \
    do {                                                        \
        const char *assert_line = (line);                       \
        if (!strstr(assert_line, part))                         \
            fail_msg("\"%s\" is not in %s", part, assert_line); \
    } while (0)
#define assert_has_not(line, part)                          \
    do {                                                    \
        const char *assert_line = (line);                   \
        if (strstr(assert_line, part))                      \
            fail_msg("\"%s\" is in %s", part, assert_line); \
    } while (0)

/* initialize and initialized, with those capabilities of the client. */
static inline void talk_open(struct talk *talk, const char *revision, const char *capabilities) {
    char line[1024];
    talk_connect(talk);
    (void)snprintf(line, sizeof line,
                   "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"
                   "\"protocolVersion\":\"%s\",\"capabilities\":%s,\"clientInfo\":{\"name\":\"t\","
                   "\"version\":\"1\"}}}",
                   revision, capabilities);
    talk_say(talk, line);
    assert_has(talk_hear(talk), "\"id\":0,\"result\":{");
    talk_say(talk, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
    talk_turn(talk, 0);
}

/* {"id", "method", "params"}: the params without their braces. */
static inline void talk_ask(struct talk *talk, int id, const char *method, const char *params) {
    size_t len = strlen(params) + 200;
    char *line = malloc(len);
    assert_non_null(line);
    (void)snprintf(line, len, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"%s\",\"params\":{%s}}",
                   id, method, params);
    talk_say(talk, line);
    free(line);
}

#define TALK_META                                                            \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"," \
    "\"io.modelcontextprotocol/clientCapabilities\":{"
/* The same as a modern client; its capabilities without their braces. */
static inline void talk_modern(struct talk *talk, int id, const char *method, const char *params,
                               const char *capabilities) {
    size_t len = strlen(params) + strlen(capabilities) + 400;
    char *all = malloc(len);
    assert_non_null(all);
    (void)snprintf(all, len, "%s%s" TALK_META "%s}}", params, *params ? "," : "", capabilities);
    talk_ask(talk, id, method, all);
    free(all);
}

/* The client leaves; the server notices. */
static inline void talk_leave(struct talk *talk) {
    if (talk->fd >= 0)
        close(talk->fd);
    talk->fd = -1;
    for (int i = 0; i < 5; i++)
        talk_turn(talk, 0);
}

static inline void talk_end(struct talk *talk) {
    talk_leave(talk);
    dx_mcp_server_free(talk->server);
    dx_loop_free(talk->loop);
    free(talk->in);
    assert_int_equal(talk->memory.blocks, 0);
}

#endif
