/* A client for the tests of the agent, and a model that says what the test wants. Both live in the
 * agent's own thread; everything that is sent is checked against the protocol's document, and all
 * memory is counted. */
#ifndef AUTOHAND_TEST_CORE_TALK_H
#define AUTOHAND_TEST_CORE_TALK_H

#include "unit/unit.h"

#include <duplex/autohand-agent.h>
#include <duplex/protocol.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

enum { TALK_PATIENCE_MS = 20000, TALK_QUIET_MS = 60, TALK_STEPS = 16 };

/* One answer of the model. `text` is told in pieces, cut at '|'; calls are name and arguments. */
struct talk_step {
    const char *text;
    const char *thought;
    const char *calls[8];
    const char *error; /* it fails */
    dx_autohand_failing kind;
    bool hangs;   /* … it never answers */
    size_t flood; /* so many calls of flood_call */
    size_t times; /* this step again and again */
};

struct talk {
    struct unit_memory memory;
    dx_allocator alloc;
    dx_loop *loop;
    dx_autohand_agent *agent;
    dx_autohand_agent_config config;
    dx_protocol *protocol;
    char folder[64];
    int to;
    int from;
    bool left;
    int code;
    char *in;
    size_t len, used, cap;
    char *line; /* the last message */
    char shape[1 << 16];
    char log[4000];
    const char *first; /* what was read before it is opened */
    bool deaf;         /* does not read */
    /* The model. */
    dx_autohand_model model;
    dx_autohand_listener listener;
    dx_timer *answer;
    struct talk_step steps[TALK_STEPS];
    const char *flood_call[2];
    size_t step, step_count, played;
    bool asked;
    size_t asks, cancels;
    char *question; /* the last one, as JSON */
};

static inline uint64_t talk_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* The model. */

static inline void talk_answer(dx_timer *timer, void *user) {
    struct talk *talk = user;
    (void)timer;
    if (!talk->asked || talk->step >= talk->step_count)
        return;
    const struct talk_step *step = &talk->steps[talk->step];
    dx_autohand_listener hears = talk->listener;
    if (step->hangs && !step->text)
        return;
    for (const char *at = step->text; at && *at;) {
        size_t len = strcspn(at, "|");
        hears.on_text(hears.user, (dx_text){at, len});
        at += len + (at[len] == '|');
    }
    if (step->thought)
        hears.on_thought(hears.user, dx_str(step->thought));
    if (step->hangs)
        return;
    for (size_t i = 0; i + 1 < LENGTH(step->calls) && step->calls[i]; i += 2) {
        char id[32];
        (void)snprintf(id, sizeof id, "call_%zu_%zu", talk->asks, i / 2);
        hears.on_call(hears.user, dx_str(id), dx_str(step->calls[i]), dx_str(step->calls[i + 1]));
    }
    for (size_t i = 0; i < step->flood && talk->asked; i++)
        hears.on_call(hears.user, dx_str(NULL), dx_str(talk->flood_call[0]),
                      dx_str(talk->flood_call[1]));
    if (!talk->asked)
        return;
    talk->asked = false;
    if (++talk->played >= step->times) {
        talk->step++;
        talk->played = 0;
    }
    dx_autohand_failure failure = {.kind = step->kind, .message = dx_str(step->error)};
    if (step->error)
        hears.on_fail(hears.user, &failure);
    else
        hears.on_done(hears.user, 15);
}

static inline dx_status talk_ask(dx_autohand_model *model, const dx_autohand_question *question,
                                 const dx_autohand_listener *listener) {
    struct talk *talk = (struct talk *)((char *)model - offsetof(struct talk, model));
    assert_false(talk->asked);
    free(talk->question);
    talk->question = yyjson_mut_val_write(question->messages, 0, NULL);
    talk->asked = true;
    talk->asks++;
    talk->listener = *listener;
    if (talk->step >= talk->step_count)
        fail_msg("the model has nothing to say");
    dx_timer_set(talk->answer, 0);
    return DX_OK;
}

static inline void talk_cancel(dx_autohand_model *model) {
    struct talk *talk = (struct talk *)((char *)model - offsetof(struct talk, model));
    talk->asked = false;
    talk->cancels++;
    talk->step++;
    dx_timer_set(talk->answer, DX_NEVER);
}

static inline void talk_model_free(dx_autohand_model *model) {
    struct talk *talk = (struct talk *)((char *)model - offsetof(struct talk, model));
    talk->answer = dx_timer_free(talk->answer);
}

static inline struct talk_step *talk_next_step(struct talk *talk) {
    assert_true(talk->step_count < TALK_STEPS);
    struct talk_step *step = &talk->steps[talk->step_count++];
    *step = (struct talk_step){.times = 1};
    return step;
}

static inline void talk_says(struct talk *talk, const char *text) {
    talk_next_step(talk)->text = text;
}

static inline void talk_calls(struct talk *talk, const char *name, const char *args) {
    struct talk_step *step = talk_next_step(talk);
    step->calls[0] = name;
    step->calls[1] = args;
}

/* The agent. */

static inline void talk_on_left(dx_autohand_agent *agent, int code, void *user) {
    struct talk *talk = user;
    assert_true(agent == talk->agent);
    assert_false(talk->left);
    talk->left = true;
    talk->code = code;
}

static inline void talk_on_log(dx_autohand_agent *agent, const char *level, const char *text,
                               void *user) {
    struct talk *talk = user;
    size_t used = strlen(talk->log);
    (void)agent;
    (void)snprintf(talk->log + used, sizeof talk->log - used, "%s: %s\n", level, text);
}

static inline void talk_init(struct talk *talk) {
    *talk = (struct talk){.to = -1, .from = -1};
    dx_misfit why;
    talk->alloc = unit_allocator(&talk->memory);
    (void)snprintf(talk->folder, sizeof talk->folder, "/tmp/autohand-core-XXXXXX");
    assert_non_null(mkdtemp(talk->folder));
    assert_int_equal(dx_loop_new(NULL, &talk->loop, NULL), DX_OK);
    if (dx_protocol_open(dx_str("autohand"), NULL, &talk->protocol, &why) != DX_OK)
        fail_msg("%s", why.phrase);
    assert_int_equal(dx_timer_new(talk->loop, talk_answer, talk, &talk->answer), DX_OK);
    talk->model = (dx_autohand_model){.ask = talk_ask,
                                      .cancel = talk_cancel,
                                      .free = talk_model_free,
                                      .name = "fake-model",
                                      .context_tokens = 10000};
    talk->config = dx_autohand_agent_defaults();
    talk->config.workspace = talk->folder;
    talk->config.model = &talk->model;
    talk->config.on_left = talk_on_left;
    talk->config.on_log = talk_on_log;
    talk->config.user = talk;
    talk->config.allocator = &talk->alloc;
}

static inline void talk_open(struct talk *talk, dx_framing framing) {
    int in[2];
    int out[2];
    dx_error error = {.phrase = ""};
    assert_int_equal(pipe2(in, O_CLOEXEC), 0);
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    if (dx_autohand_agent_new(talk->loop, &talk->config, &talk->agent, &error) != DX_OK)
        fail_msg("%s", error.phrase);
    if (dx_autohand_agent_open(talk->agent, in[0], out[1], framing, dx_str(talk->first), &error) !=
        DX_OK)
        fail_msg("%s", error.phrase);
    assert_int_equal(fcntl(in[1], F_SETFL, O_NONBLOCK), 0);
    assert_int_equal(fcntl(out[0], F_SETFL, O_NONBLOCK), 0);
    talk->to = in[1];
    talk->from = out[0];
}

/* One turn of the loop; reads what the agent said. */
static inline void talk_turn(struct talk *talk, int most_ms) {
    struct pollfd fds[] = {{dx_loop_fd(talk->loop), POLLIN, 0},
                           {talk->deaf ? -1 : talk->from, POLLIN, 0}};
    int wait = dx_loop_wait_ms(talk->loop);
    if (wait < 0 || wait > most_ms)
        wait = most_ms;
    poll(fds, 2, wait);
    dx_loop_dispatch(talk->loop);
    if (talk->from < 0 || talk->deaf)
        return;
    if (talk->used > (1 << 20)) {
        memmove(talk->in, talk->in + talk->used, talk->len - talk->used);
        talk->len -= talk->used;
        talk->used = 0;
    }
    if (talk->cap - talk->len < 65536) {
        talk->cap = talk->cap * 2 + 65536;
        talk->in = realloc(talk->in, talk->cap);
        assert_non_null(talk->in);
    }
    ssize_t n = read(talk->from, talk->in + talk->len, talk->cap - talk->len - 1);
    if (n > 0)
        talk->len += (size_t)n;
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

static inline void talk_say(struct talk *talk, const char *line) {
    talk_write(talk, line, strlen(line));
    talk_write(talk, "\n", 1);
}

/* `method` of the agent's with params (NULL: none). */
static inline void talk_call(struct talk *talk, int id, const char *method, const char *params) {
    char line[16000];
    (void)snprintf(line, sizeof line,
                   "{\"jsonrpc\":\"2.0\",\"method\":\"autohand.%s\"%s%s,\"id\":%d}", method,
                   params ? ",\"params\":" : "", params ? params : "", id);
    talk_say(talk, line);
}

static inline char *talk_next(struct talk *talk) {
    char *at = talk->in ? talk->in + talk->used : NULL;
    char *end = at ? memchr(at, '\n', talk->len - talk->used) : NULL;
    if (!end)
        return NULL;
    free(talk->line);
    talk->line = strndup(at, (size_t)(end - at));
    talk->used += (size_t)(end - at) + 1;
    return talk->line;
}

static inline char *talk_wait(struct talk *talk, uint64_t ms) {
    uint64_t until = talk_now() + ms;
    for (;;) {
        char *line = talk_next(talk);
        uint64_t now = talk_now();
        if (line || now >= until)
            return line;
        talk_turn(talk, (int)(until - now < 20 ? until - now : 20));
    }
}

/* In doc everything that is sent fits the document, to the last member. */
static inline void talk_check(struct talk *talk, yyjson_val *message, const char *line) {
    const char *name = yyjson_get_str(yyjson_obj_get(message, "method"));
    dx_misfit why;
    const dx_method *method = dx_protocol_find(talk->protocol, dx_str(name));
    if (!method)
        fail_msg("%s is not in the document", name);
    if (dx_protocol_check(talk->protocol, method, DX_SIDE_PLUGIN, DX_PART_PARAMS,
                          yyjson_obj_get(message, "params"),
                          talk->config.compat ? DX_CHECK_OPEN : 0, &why) != DX_OK)
        fail_msg("%s: %s", line, why.phrase);
}

/* What a message is in one word or two: "turnStart", "=3", "=3!-32004". */
static inline void talk_shape(struct talk *talk, const char *line, char room[128]) {
    yyjson_doc *doc = yyjson_read(line, strlen(line), 0);
    yyjson_val *message = yyjson_doc_get_root(doc);
    const char *method = yyjson_get_str(yyjson_obj_get(message, "method"));
    yyjson_val *error = yyjson_obj_get(message, "error");
    if (!doc)
        fail_msg("no JSON: %s", line);
    if (method) {
        talk_check(talk, message, line);
        (void)snprintf(room, 128, "%s", method + strlen("autohand."));
    } else if (error) {
        (void)snprintf(room, 128, "=%lld!%lld",
                       (long long)yyjson_get_sint(yyjson_obj_get(message, "id")),
                       (long long)yyjson_get_sint(yyjson_obj_get(error, "code")));
    } else {
        (void)snprintf(room, 128, "=%lld",
                       (long long)yyjson_get_sint(yyjson_obj_get(message, "id")));
    }
    yyjson_doc_free(doc);
}

/* Reads on until a message of that shape has come, and returns it; the shapes of all that came,
 * that one included, are in talk->shape with a space behind each. */
static inline char *talk_until(struct talk *talk, const char *wanted) {
    char room[128];
    talk->shape[0] = '\0';
    for (;;) {
        char *line = talk_wait(talk, TALK_PATIENCE_MS);
        if (!line)
            fail_msg("%s did not come, but: %s\n%s", wanted, talk->shape, talk->log);
        talk_shape(talk, line, room);
        size_t used = strlen(talk->shape);
        (void)snprintf(talk->shape + used, sizeof talk->shape - used, "%s ", room);
        if (strcmp(room, wanted) == 0)
            return line;
    }
}

static inline void talk_expect(struct talk *talk, const char *wanted, const char *shape) {
    talk_until(talk, wanted);
    assert_string_equal(talk->shape, shape);
}

static inline void talk_quiet(struct talk *talk) {
    char *line = talk_wait(talk, TALK_QUIET_MS);
    if (line)
        fail_msg("%s came", line);
}

/* A member of the params (or the result) of the last message; to be freed. Dots lead deeper. */
static inline char *talk_member(struct talk *talk, const char *path) {
    yyjson_doc *doc = yyjson_read(talk->line, strlen(talk->line), 0);
    yyjson_val *at = yyjson_doc_ptr_get(doc, path);
    char *text = yyjson_is_str(at) ? strdup(yyjson_get_str(at)) : yyjson_val_write(at, 0, NULL);
    yyjson_doc_free(doc);
    return text;
}

static inline void talk_has(struct talk *talk, const char *path, const char *value) {
    char *text = talk_member(talk, path);
    if (!text || strcmp(text, value) != 0)
        fail_msg("%s is %s, not %s, in %s", path, text ? text : "absent", value, talk->line);
    free(text);
}

static inline void talk_put(struct talk *talk, const char *name, const char *text) {
    char path[256];
    (void)snprintf(path, sizeof path, "%s/%s", talk->folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

static inline int talk_remove(const char *path, const struct stat *info, int type,
                              struct FTW *where) {
    (void)info;
    (void)type;
    (void)where;
    return remove(path);
}

/* Everything goes, and no memory is left. */
static inline void talk_done(struct talk *talk) {
    dx_autohand_agent_free(talk->agent);
    if (talk->to >= 0)
        close(talk->to);
    if (talk->from >= 0)
        close(talk->from);
    dx_loop_free(talk->loop);
    dx_protocol_free(talk->protocol);
    free(talk->in);
    free(talk->line);
    free(talk->question);
    (void)nftw(talk->folder, talk_remove, 8, FTW_DEPTH | FTW_PHYS);
    assert_int_equal(talk->memory.blocks, 0);
}

/* As at the end of its input: all that is still said, until it has left. */
static inline void talk_end(struct talk *talk) {
    uint64_t until = talk_now() + 3000;
    close(talk->to);
    talk->to = -1;
    while (!talk->left) {
        talk_turn(talk, 20);
        assert_true(talk_now() < until);
    }
    talk_turn(talk, 0);
}

#endif
