/* A manager for the tests of the runner: it speaks in bytes, has nothing of the library in it, and
 * waits for nothing longer than it says. The runner lives in the same thread, and all its memory is
 * counted. */
#ifndef FINECODE_TEST_ER_TALK_H
#define FINECODE_TEST_ER_TALK_H

#include "unit/unit.h"

#include <duplex/finecode-er.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>

enum { TALK_PATIENCE_MS = 20000, TALK_QUIET_MS = 60 };

struct talk {
    struct unit_memory memory;
    dx_allocator alloc;
    dx_loop *loop;
    dx_finecode_er *er; /* NULL: freed */
    int to;
    int from;
    bool left;
    int code;
    char *in;
    size_t len;  /* what has come … */
    size_t used; /* … and how much of that was handed out */
    size_t cap;
    char *body; /* the last message */
    unsigned violations;
    char log[4000]; /* what was logged: "LEVEL group: text\n" */
    unsigned configs;
    unsigned reloads;
};

static inline uint64_t talk_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static inline void talk_on_left(dx_finecode_er *er, int code, void *user) {
    struct talk *talk = user;
    assert_true(er == talk->er);
    assert_false(talk->left);
    talk->left = true;
    talk->code = code;
}

static inline void talk_on_violation(dx_finecode_er *er, const char *phrase, void *user) {
    struct talk *talk = user;
    (void)er;
    assert_true(phrase[0]);
    talk->violations++;
}

static inline void talk_on_log(dx_finecode_er *er, const char *level, const char *group,
                               dx_text text, void *user) {
    struct talk *talk = user;
    size_t used = strlen(talk->log);
    (void)er;
    (void)snprintf(talk->log + used, sizeof talk->log - used, "%s %s: %.*s\n", level, group,
                   (int)text.len, text.at);
}

static inline void talk_on_config(dx_finecode_er *er, yyjson_val *config, void *user) {
    struct talk *talk = user;
    (void)er;
    assert_true(yyjson_is_obj(config));
    talk->configs++;
}

static inline void talk_on_reload(dx_finecode_er *er, dx_text action, void *user) {
    struct talk *talk = user;
    (void)er;
    assert_true(action.len > 0);
    talk->reloads++;
}

static uint64_t talk_raw_config_ms; /* 0: the runner does not ask for it */

static inline dx_finecode_er_config talk_config(struct talk *talk, const char *revision) {
    dx_finecode_er_config config = dx_finecode_er_defaults();
    config.project_path = "/ws/project";
    config.env_name = "dev";
    config.revision = revision;
    config.allocator = &talk->alloc;
    config.raw_config_ms = talk_raw_config_ms;
    config.on_left = talk_on_left;
    config.on_violation = talk_on_violation;
    config.on_log = talk_on_log;
    config.on_config = talk_on_config;
    config.on_reload = talk_on_reload;
    config.user = talk;
    return config;
}

static inline void talk_init(struct talk *talk) {
    *talk = (struct talk){.to = -1, .from = -1};
    talk->alloc = unit_allocator(&talk->memory);
    assert_int_equal(dx_loop_new(NULL, &talk->loop, NULL), DX_OK);
}

static inline void talk_new(struct talk *talk, const char *revision) {
    dx_error error = {.phrase = ""};
    talk_init(talk);
    dx_finecode_er_config config = talk_config(talk, revision);
    if (dx_finecode_er_new(&config, &talk->er, &error) != DX_OK)
        fail_msg("%s", error.phrase);
}

static inline void talk_nonblock(int fd) {
    assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
}

static inline void talk_pipes(struct talk *talk) {
    int in[2];
    int out[2];
    dx_error error = {.phrase = ""};
    assert_int_equal(pipe2(in, O_CLOEXEC), 0);
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    if (dx_finecode_er_open(talk->er, talk->loop, in[0], out[1], &error) != DX_OK)
        fail_msg("%s", error.phrase);
    talk_nonblock(in[1]);
    talk_nonblock(out[0]);
    talk->to = in[1];
    talk->from = out[0];
}

static inline void talk_socketpair(struct talk *talk) {
    int pair[2];
    dx_error error = {.phrase = ""};
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    if (dx_finecode_er_open(talk->er, talk->loop, pair[0], pair[0], &error) != DX_OK)
        fail_msg("%s", error.phrase);
    talk_nonblock(pair[1]);
    talk->to = talk->from = pair[1];
}

static inline int talk_connect(unsigned port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        close(fd);
        return -1;
    }
    talk_nonblock(fd);
    return fd;
}

/* One turn of the runner; reads what it said. */
static inline void talk_turn(struct talk *talk, int most_ms) {
    struct pollfd fds[] = {{dx_loop_fd(talk->loop), POLLIN, 0}, {talk->from, POLLIN, 0}};
    int wait = dx_loop_wait_ms(talk->loop);
    if (wait < 0 || wait > most_ms)
        wait = most_ms;
    poll(fds, 2, wait);
    dx_loop_dispatch(talk->loop);
    if (talk->from < 0)
        return;
    if (talk->cap - talk->len < 65536) {
        talk->cap = talk->cap * 2 + 65536;
        talk->in = realloc(talk->in, talk->cap);
        assert_non_null(talk->in);
    }
    ssize_t n = read(talk->from, talk->in + talk->len, talk->cap - talk->len - 1);
    if (n > 0)
        talk->len += (size_t)n;
    talk->in[talk->len] = '\0';
}

static inline void talk_write(struct talk *talk, const char *bytes, size_t len) {
    uint64_t until = talk_now() + TALK_PATIENCE_MS;
    while (len) {
        ssize_t n = write(talk->to, bytes, len);
        if (n > 0) {
            bytes += n;
            len -= (size_t)n;
        } else {
            talk_turn(talk, 10);
        }
        assert_true(talk_now() < until);
    }
}

static inline void talk_bytes(struct talk *talk, const char *text) {
    talk_write(talk, text, strlen(text));
}

#define TALK_TYPE "\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n"

static inline void talk_say(struct talk *talk, const char *body) {
    char header[160];
    (void)snprintf(header, sizeof header, "Content-Length: %zu" TALK_TYPE, strlen(body));
    talk_bytes(talk, header);
    talk_bytes(talk, body);
}

/* A message as a whole, with a header of exactly the form that is always sent; NULL if none is
 * there. Valid until the next one. */
static inline char *talk_next(struct talk *talk) {
    static const char start[] = "Content-Length: ";
    char *at = talk->in + talk->used;
    size_t have = talk->len - talk->used;
    char *end = have ? memmem(at, have, "\r\n\r\n", 4) : NULL;
    if (!end)
        return NULL;
    char *after;
    assert_memory_equal(at, start, sizeof start - 1);
    size_t length = strtoul(at + sizeof start - 1, &after, 10);
    assert_memory_equal(after, TALK_TYPE, sizeof TALK_TYPE - 1);
    size_t header = (size_t)(end + 4 - at);
    if (have < header + length)
        return NULL;
    talk->used += header + length;
    free(talk->body);
    talk->body = strndup(at + header, length);
    assert_int_equal(strlen(talk->body), length);
    return talk->body;
}

/* NULL if none comes within that time. */
static inline char *talk_wait(struct talk *talk, uint64_t ms) {
    uint64_t until = talk_now() + ms;
    for (;;) {
        char *body = talk_next(talk);
        uint64_t now = talk_now();
        if (body)
            return body;
        if (now >= until)
            return NULL;
        talk_turn(talk, (int)(until - now < 50 ? until - now : 50));
    }
}

static inline char *talk_hear(struct talk *talk) {
    char *body = talk_wait(talk, TALK_PATIENCE_MS);
    if (!body)
        fail_msg("nothing comes");
    return body;
}

static inline void talk_expect(struct talk *talk, const char *body) {
    assert_string_equal(talk_hear(talk), body);
}

static inline void talk_ask(struct talk *talk, const char *body, const char *answer) {
    talk_say(talk, body);
    talk_expect(talk, answer);
}

static inline void talk_quiet(struct talk *talk) {
    char *body = talk_wait(talk, TALK_QUIET_MS);
    if (body)
        fail_msg("%s came", body);
    assert_int_equal(talk->used, talk->len);
}

/* A request: {"jsonrpc","id","method","params"}; then its result has to be that. */
static inline void talk_request(struct talk *talk, int id, const char *method, const char *params) {
    size_t size = strlen(params) + strlen(method) + 100;
    char *body = malloc(size);
    assert_non_null(body);
    (void)snprintf(body, size, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"%s\",\"params\":%s}",
                   id, method, params);
    talk_say(talk, body);
    free(body);
}

static inline void talk_result(struct talk *talk, int id, const char *result) {
    size_t size = strlen(result) + 100;
    char *body = malloc(size);
    assert_non_null(body);
    (void)snprintf(body, size, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":%s}", id, result);
    talk_expect(talk, body);
    free(body);
}

static inline void talk_error(struct talk *talk, int id, int code, const char *part) {
    char start[100];
    char *body = talk_hear(talk);
    (void)snprintf(start, sizeof start,
                   "{\"jsonrpc\":\"2.0\",\"id\":%d,\"error\":{\"code\":%d,\"message\":\"", id,
                   code);
    if (strncmp(body, start, strlen(start)) != 0 || !strstr(body, part))
        fail_msg("%s does not begin with %s or has no %s in it", body, start, part);
}

static inline void talk_notify(struct talk *talk, const char *method, const char *params) {
    size_t size = strlen(params) + 200;
    char *body = malloc(size);
    assert_non_null(body);
    (void)snprintf(body, size, "{\"jsonrpc\":\"2.0\",\"method\":\"%s\",\"params\":%s}", method,
                   params);
    talk_say(talk, body);
    free(body);
}

#define TALK_INITIALIZE                                                               \
    "{\"capabilities\":{\"general\":null,\"experimental\":null},\"processId\":12345," \
    "\"clientInfo\":{\"name\":\"FineCode_WorkspaceManager\",\"version\":\"0.1.0\"},"  \
    "\"trace\":\"verbose\",\"workspaceFolders\":[{\"uri\":\"file:///ws/"              \
    "project\",\"name\":\"p\"}]}"
#define TALK_INITIALIZED                                                   \
    "{\"capabilities\":{\"textDocumentSync\":1},\"serverInfo\":{\"name\":" \
    "\"FineCode_Extension_Runner_Server\",\"version\":\"v1\"}}"

static inline void talk_greet(struct talk *talk) {
    talk_request(talk, 0, "initialize", TALK_INITIALIZE);
    talk_result(talk, 0, TALK_INITIALIZED);
    talk_notify(talk, "initialized", "{}");
}

static inline void talk_configure(struct talk *talk, const char *config) {
    size_t size = strlen(config) + 200;
    char *params = malloc(size);
    assert_non_null(params);
    (void)snprintf(params, size,
                   "{\"workingDir\":\"/ws/project\",\"projectName\":\"project\",\"projectDefPath\":"
                   "\"/ws/project/pyproject.toml\",\"config\":%s}",
                   config);
    talk_request(talk, 1, "finecodeRunner/updateConfig", params);
    free(params);
    char *body = talk_hear(talk);
    if (strstr(body, "\"projects/getRawConfig\"")) { /* by the document */
        char answer[200];
        char *id = strstr(body, "\"id\":") + 5;
        (void)snprintf(answer, sizeof answer,
                       "{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"result\":{\"config\":\"{}\"}}",
                       (int)strcspn(id, ","), id);
        talk_say(talk, answer);
        body = talk_hear(talk);
    }
    assert_string_equal(body, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}");
}

static inline void talk_close(struct talk *talk) {
    if (talk->from >= 0 && talk->from != talk->to)
        close(talk->from);
    if (talk->to >= 0)
        close(talk->to);
    talk->to = talk->from = -1;
}

/* The code it leaves with. */
static inline int talk_leaves(struct talk *talk) {
    uint64_t until = talk_now() + TALK_PATIENCE_MS;
    while (!talk->left) {
        if (talk_now() > until)
            fail_msg("it does not leave");
        talk_turn(talk, 50);
    }
    return talk->code;
}

static inline void talk_free(struct talk *talk) {
    dx_finecode_er_free(talk->er);
    dx_loop_free(talk->loop);
    talk_close(talk);
    free(talk->in);
    free(talk->body);
    assert_int_equal(talk->memory.blocks, 0);
}

#define JSON(literal) dx_json_text((literal), sizeof(literal) - 1)

#define assert_has(line, part)                                  \
    do {                                                        \
        const char *assert_line = (line);                       \
        if (!strstr(assert_line, part))                         \
            fail_msg("\"%s\" is not in %s", part, assert_line); \
    } while (0)

#endif
