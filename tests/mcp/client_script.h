/* A client on one end of a socket pair; the test plays the server on the other one, message by
 * message. */
#ifndef CLIENT_SCRIPT_H
#define CLIENT_SCRIPT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <duplex/mcp-client.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { SCRIPT_WAIT_MS = 10000, SCRIPT_NOTES = 256 };

typedef struct script {
    dx_loop *loop;
    dx_mcp_client *client;
    int fd;
    char *in; /* what the client has said and was not taken yet */
    size_t len, cap;
    int said_end; /* the client has hung up */
    /* What the callbacks were told. */
    int ready, closed, answers, gone, changed, updated, logs, tasks, elicited, violations, others;
    int progress;
    int asked;
    double last_progress;
    dx_outcome outcome;
    dx_fault fault;
    int64_t code;
    unsigned mended;
    char body[4096];
    char phrase[512];
    dx_mcp_call call;
    dx_mcp_question *question;
    char params[4096];
    int is_sampling;
    dx_mcp_end end;
    int had_gone;
    dx_mcp_level level;
    char text[512]; /* the logger, the URI, the id, or the method that was told last */
    dx_mcp_kind kind;
    int free_at_answer;
    char notes[SCRIPT_NOTES]; /* one letter for each thing that was told */
} script;

static inline void note(script *s, char letter) {
    size_t len = strlen(s->notes);
    if (len + 1 < sizeof s->notes)
        s->notes[len] = letter;
}

static inline void copy_text(char *to, size_t room, dx_text text) {
    size_t len = text.len < room ? text.len : room - 1;
    if (text.at)
        memcpy(to, text.at, len);
    to[text.at ? len : 0] = '\0';
}

static inline void script_ready(dx_mcp_client *client, void *user) {
    script *s = user;
    (void)client;
    s->ready++;
    note(s, 'r');
}

static inline void script_closed(dx_mcp_client *client, const dx_mcp_end *end, void *user) {
    script *s = user;
    (void)client;
    s->closed++;
    s->end = *end;
    s->had_gone = end->gone != NULL;
    s->end.gone = NULL;
    note(s, 'z');
}

static inline void script_answer(dx_mcp_client *client, dx_mcp_call call, const dx_event *event,
                                 void *user) {
    script *s = user;
    s->answers++;
    s->outcome = event->outcome;
    s->fault = event->error.fault;
    s->code = event->code;
    s->mended = event->mended;
    s->call = call;
    copy_text(s->body, sizeof s->body, event->body);
    copy_text(s->phrase, sizeof s->phrase, dx_str(event->error.phrase));
    note(s, 'a');
    if (s->free_at_answer)
        s->client = dx_mcp_client_free(client);
}

static inline void script_progress(dx_mcp_client *client, dx_mcp_call call,
                                   const dx_mcp_progress *progress, void *user) {
    script *s = user;
    (void)client;
    (void)call;
    s->progress++;
    s->last_progress = progress->progress;
    copy_text(s->text, sizeof s->text, progress->message);
    note(s, 'p');
}

static inline void script_question(script *s, dx_mcp_question *question, yyjson_val *params,
                                   int is_sampling) {
    char *text = yyjson_val_write(params, 0, NULL);
    s->asked++;
    s->question = question;
    s->is_sampling = is_sampling;
    copy_text(s->params, sizeof s->params, dx_str(text));
    free(text);
    note(s, 'q');
}

static inline void script_sampling(dx_mcp_client *client, dx_mcp_question *question,
                                   yyjson_val *params, void *user) {
    (void)client;
    script_question(user, question, params, 1);
}

static inline void script_elicitation(dx_mcp_client *client, dx_mcp_question *question,
                                      yyjson_val *params, void *user) {
    (void)client;
    script_question(user, question, params, 0);
}

static inline void script_gone(dx_mcp_client *client, dx_mcp_question *question, void *user) {
    script *s = user;
    (void)client;
    s->gone++;
    if (s->question == question)
        s->question = NULL;
    note(s, 'g');
}

static inline void script_changed(dx_mcp_client *client, dx_mcp_kind kind, void *user) {
    script *s = user;
    (void)client;
    s->changed++;
    s->kind = kind;
}

static inline void script_updated(dx_mcp_client *client, dx_text uri, void *user) {
    script *s = user;
    (void)client;
    s->updated++;
    copy_text(s->text, sizeof s->text, uri);
}

static inline void script_log(dx_mcp_client *client, dx_mcp_level level, dx_text logger,
                              yyjson_val *data, void *user) {
    script *s = user;
    (void)client;
    s->logs++;
    s->level = level;
    copy_text(s->text, sizeof s->text, logger.at ? logger : dx_str("(none)"));
    copy_text(s->body, sizeof s->body, (dx_text){yyjson_get_str(data), yyjson_get_len(data)});
}

static inline void script_task(dx_mcp_client *client, yyjson_val *task, void *user) {
    script *s = user;
    (void)client;
    s->tasks++;
    copy_text(s->text, sizeof s->text, dx_str(yyjson_get_str(yyjson_obj_get(task, "status"))));
}

static inline void script_elicited(dx_mcp_client *client, dx_text id, void *user) {
    script *s = user;
    (void)client;
    s->elicited++;
    copy_text(s->text, sizeof s->text, id);
}

static inline void script_violation(dx_mcp_client *client, const dx_event *event, void *user) {
    script *s = user;
    (void)client;
    s->violations++;
    copy_text(s->phrase, sizeof s->phrase, dx_str(event->error.phrase));
}

static inline void script_other(dx_mcp_client *client, dx_text method, yyjson_val *params,
                                void *user) {
    script *s = user;
    (void)client;
    (void)params;
    s->others++;
    copy_text(s->text, sizeof s->text, method);
}

/* All callbacks but those of questions, which say what is offered. */
static inline dx_mcp_client_config script_config(script *s) {
    dx_mcp_client_config config = dx_mcp_client_defaults("test", "1.0");
    config.ids = DX_IDS_COUNTER;
    config.on_ready = script_ready;
    config.on_closed = script_closed;
    config.on_changed = script_changed;
    config.on_updated = script_updated;
    config.on_log = script_log;
    config.on_task = script_task;
    config.on_elicited = script_elicited;
    config.on_question_gone = script_gone;
    config.on_violation = script_violation;
    config.on_notification = script_other;
    config.user = s;
    return config;
}

static inline void script_open(script *s, dx_mcp_client_config *config) {
    int fds[2];
    dx_error error = {0};
    assert_int_equal(dx_loop_new(NULL, &s->loop, &error), DX_OK);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    assert_int_equal(fcntl(fds[1], F_SETFL, O_NONBLOCK), 0);
    s->fd = fds[1];
    config->in = config->out = fds[0];
    dx_status status = dx_mcp_client_open(s->loop, config, &s->client, &error);
    if (status != DX_OK)
        print_error("%s: %s\n", dx_status_name(status), error.phrase);
    assert_int_equal(status, DX_OK);
}

static inline void script_end(script *s) {
    dx_mcp_client_free(s->client);
    dx_loop_free(s->loop);
    if (s->fd >= 0)
        close(s->fd);
    free(s->in);
}

static inline uint64_t script_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static inline void script_read(script *s) {
    for (;;) {
        if (s->cap - s->len < 65536) {
            s->cap = s->cap * 2 + 131072;
            s->in = realloc(s->in, s->cap);
            assert_non_null(s->in);
        }
        ssize_t n = read(s->fd, s->in + s->len, s->cap - s->len);
        if (n > 0)
            s->len += (size_t)n;
        if (n == 0)
            s->said_end = 1;
        if (n <= 0)
            return;
    }
}

/* One turn of the client, which waits for at most so long. */
static inline void script_turn(script *s, int ms) {
    struct pollfd fds[2] = {{dx_loop_fd(s->loop), POLLIN, 0}, {s->fd, POLLIN, 0}};
    int wait = dx_loop_wait_ms(s->loop);
    if (wait < 0 || wait > ms)
        wait = ms;
    poll(fds, s->fd >= 0 && !s->said_end ? 2 : 1, wait);
    dx_loop_dispatch(s->loop);
    if (s->fd >= 0 && !s->said_end)
        script_read(s);
}

/* Until *flag is at least that. */
static inline void script_until(script *s, const int *flag, int value) {
    uint64_t end = script_now() + SCRIPT_WAIT_MS;
    while (*flag < value && script_now() < end)
        script_turn(s, 50);
    assert_true(*flag >= value);
}

static inline void script_for(script *s, uint64_t ms) {
    uint64_t end = script_now() + ms;
    while (script_now() < end)
        script_turn(s, 5);
}

/* The next message of the client, to be freed; NULL if none comes in that time. */
static inline yyjson_doc *script_hear_within(script *s, uint64_t ms) {
    uint64_t end = script_now() + ms;
    for (;;) {
        char *newline = s->len ? memchr(s->in, '\n', s->len) : NULL;
        if (newline) {
            size_t len = (size_t)(newline - s->in);
            yyjson_doc *doc = yyjson_read(s->in, len, 0);
            assert_non_null(doc);
            memmove(s->in, newline + 1, s->len - len - 1);
            s->len -= len + 1;
            return doc;
        }
        if (script_now() >= end || s->said_end)
            return NULL;
        script_turn(s, 20);
    }
}

static inline const char *method_of(yyjson_doc *doc) {
    const char *method = yyjson_get_str(yyjson_obj_get(yyjson_doc_get_root(doc), "method"));
    return method ? method : "(none)";
}

static inline yyjson_val *at(yyjson_doc *doc, const char *pointer) {
    return yyjson_doc_ptr_get(doc, pointer);
}

static inline const char *text_at(yyjson_doc *doc, const char *pointer) {
    const char *text = yyjson_get_str(at(doc, pointer));
    return text ? text : "(none)";
}

/* The next message, which must be of that method. */
static inline yyjson_doc *script_hear(script *s, const char *method) {
    yyjson_doc *doc = script_hear_within(s, SCRIPT_WAIT_MS);
    assert_non_null(doc);
    assert_string_equal(method_of(doc), method);
    return doc;
}

/* The same, and forgotten. */
static inline void script_skip(script *s, const char *method) {
    yyjson_doc_free(script_hear(s, method));
}

/* Nothing comes. */
static inline void script_silence(script *s, uint64_t ms) {
    yyjson_doc *doc = script_hear_within(s, ms);
    if (doc)
        print_error("heard %s\n", method_of(doc));
    assert_null(doc);
}

static inline void script_say(script *s, const char *line) {
    size_t len = strlen(line);
    for (size_t done = 0; done < len;) {
        ssize_t n = send(s->fd, line + done, len - done, MSG_NOSIGNAL);
        if (n < 0 && errno == EAGAIN) {
            script_turn(s, 5);
            continue;
        }
        assert_true(n > 0);
        done += (size_t)n;
    }
    assert_int_equal(send(s->fd, "\n", 1, MSG_NOSIGNAL), 1);
}

/* Answers `doc`, which is forgotten. */
static inline void script_answer_with(script *s, yyjson_doc *doc, const char *member,
                                      const char *json) {
    char *id = yyjson_val_write(at(doc, "/id"), 0, NULL);
    assert_non_null(id);
    size_t room = strlen(json) + strlen(id) + 80;
    char *line = malloc(room);
    assert_non_null(line);
    snprintf(line, room, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"%s\":%s}", id, member, json);
    script_say(s, line);
    free(line);
    free(id);
    yyjson_doc_free(doc);
}

static inline void script_result(script *s, yyjson_doc *doc, const char *json) {
    script_answer_with(s, doc, "result", json);
}

static inline void script_error(script *s, yyjson_doc *doc, const char *json) {
    script_answer_with(s, doc, "error", json);
}

#define ALL_CAPABILITIES                                                                    \
    "{\"tools\":{\"listChanged\":true},\"prompts\":{},\"resources\":{\"subscribe\":true},"  \
    "\"logging\":{},\"completions\":{},\"tasks\":{\"list\":{},\"cancel\":{},\"requests\":{" \
    "\"tools\":{\"call\":{}}}}}"

/* The whole beginning in the legacy era. */
static inline void script_greet(script *s, const char *revision, const char *capabilities) {
    char result[2048];
    snprintf(result, sizeof result,
             "{\"protocolVersion\":\"%s\",\"capabilities\":%s,\"serverInfo\":{\"name\":\"server\","
             "\"version\":\"2\"},\"instructions\":\"Be kind.\"}",
             revision, capabilities);
    script_result(s, script_hear(s, "initialize"), result);
    script_skip(s, "notifications/initialized");
    script_until(s, &s->ready, 1);
}

/* One that is ready. */
static inline void script_begin(script *s, dx_mcp_client_config *config) {
    script_open(s, config);
    script_greet(s, "2025-11-25", ALL_CAPABILITIES);
}

#define DISCOVERED(capabilities)                                                      \
    "{\"supportedVersions\":[\"2026-07-28\"],\"capabilities\":" capabilities          \
    ",\"resultType\":\"complete\",\"ttlMs\":0,\"cacheScope\":\"private\",\"_meta\":{" \
    "\"io.modelcontextprotocol/serverInfo\":{\"name\":\"server\",\"version\":\"2\"}}}"

static inline dx_json json(const char *text) {
    return dx_json_text(text, strlen(text));
}

#endif
