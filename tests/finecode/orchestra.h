/* A manager with runners that do what their configuration says, for the tests of runs. */
#ifndef TESTS_FINECODE_ORCHESTRA_H
#define TESTS_FINECODE_ORCHESTRA_H

#include "systems/finecode/run_parts.h"

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

/* Lines of what happened, in the order in which it did. */
struct book {
    char text[1 << 20];
    size_t len;
};

struct world {
    dx_loop *loop;
    dx_finecode_wm *wm;
    dx_finecode_wm_config config;
    bool is_real;
    char top[PATH_MAX];
    struct book sent;     /* "ENV@PROJECT MESSAGE" */
    struct book came;     /* the same */
    struct book steps;    /* "PROJECT ENV HANDLERS STATE" */
    struct book partials; /* "PROJECT JSON" */
    struct book progress; /* "PROJECT JSON" */
    struct book projects; /* "PROJECT STATUS CODE JSON" */
    struct book edits;
    struct book messages;
    unsigned done;
    dx_finecode_status status;
    int64_t return_code;
    int64_t code;
    dx_finecode_cause cause;
    char why[600];
    char result[1 << 16]; /* by_format */
    unsigned stopped;
    dx_finecode_run *run;
};

__attribute__((format(printf, 2, 3))) static inline void note(struct book *book, const char *form,
                                                              ...) {
    va_list words;
    va_start(words, form);
    size_t room = sizeof book->text - book->len;
    int len = vsnprintf(book->text + book->len, room, form, words);
    va_end(words);
    book->len += (size_t)len < room ? (size_t)len : 0;
}

static inline size_t count_of(const struct book *book, const char *part) {
    size_t count = 0;
    for (const char *at = book->text; (at = strstr(at, part)); at += strlen(part))
        count++;
    return count;
}

static inline void must_have(const struct book *book, const char *part) {
    if (!strstr(book->text, part))
        fail_msg("\"%s\" is not in:\n%.20000s", part, book->text);
}

static inline void must_be(const struct book *book, const char *all) {
    assert_string_equal(book->text, all);
}

static inline uint64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static inline bool turn(struct world *world, uint64_t deadline) {
    struct pollfd fd = {dx_loop_fd(world->loop), POLLIN, 0};
    int wait = dx_loop_wait_ms(world->loop);
    poll(&fd, 1, wait < 0 || wait > 50 ? 50 : wait);
    dx_loop_dispatch(world->loop);
    return now_ms() < deadline;
}

#define WAIT(world, condition)                                                            \
    do {                                                                                  \
        uint64_t until_ = now_ms() + 30000;                                               \
        while (!(condition))                                                              \
            if (!turn(world, until_))                                                     \
                fail_msg("%s did not come; sent:\n%.20000s\ncame:\n%.20000s", #condition, \
                         (world)->sent.text, (world)->came.text);                         \
    } while (0)

/* Lets so many ms go by. */
static inline void pass(struct world *world, uint64_t ms) {
    uint64_t until = now_ms() + ms;
    while (turn(world, until))
        ;
}

static inline void write_value(char *room, size_t size, yyjson_val *value) {
    char *text = value ? yyjson_val_write(value, 0, NULL) : NULL;
    snprintf(room, size, "%s", text ? text : "");
    free(text);
}

static inline void on_traffic(dx_finecode_wm *wm, dx_finecode_runner *runner, int out, dx_text text,
                              void *user) {
    struct world *world = user;
    (void)wm;
    note(out ? &world->sent : &world->came, "%s@%s %.*s\n", dx_finecode_runner_env(runner),
         dx_finecode_project_name(dx_finecode_runner_project(runner)), (int)text.len, text.at);
}

static inline void on_stopped(dx_finecode_wm *wm, void *user) {
    struct world *world = user;
    (void)wm;
    world->stopped++;
}

static inline void on_message(dx_finecode_wm *wm, dx_finecode_runner *runner, const char *kind,
                              dx_text text, void *user) {
    struct world *world = user;
    (void)wm;
    note(&world->messages, "%s %s%.*s\n", kind, runner ? "" : "manager ", (int)text.len, text.at);
}

static inline void on_step(dx_finecode_wm *wm, dx_finecode_run *run, dx_finecode_project *project,
                           const char *env, const char *handlers, const char *state, void *user) {
    struct world *world = user;
    (void)wm;
    (void)run;
    note(&world->steps, "%s %s %s %s\n", dx_finecode_project_name(project), env, handlers, state);
}

static inline void note_value(struct book *book, dx_finecode_project *project, yyjson_val *value) {
    char text[1 << 14];
    write_value(text, sizeof text, value);
    note(book, "%s %s\n", dx_finecode_project_name(project), text);
}

static inline void on_partial(dx_finecode_wm *wm, dx_finecode_run *run,
                              dx_finecode_project *project, yyjson_val *by_format, void *user) {
    struct world *world = user;
    (void)wm;
    (void)run;
    note_value(&world->partials, project, by_format);
}

static inline void on_progress(dx_finecode_wm *wm, dx_finecode_run *run,
                               dx_finecode_project *project, yyjson_val *value, void *user) {
    struct world *world = user;
    (void)wm;
    (void)run;
    note_value(&world->progress, project, value);
}

static inline void on_project(dx_finecode_wm *wm, dx_finecode_run *run,
                              dx_finecode_project *project, const dx_finecode_result *result,
                              void *user) {
    struct world *world = user;
    char text[1 << 14];
    (void)wm;
    (void)run;
    write_value(text, sizeof text, result->by_format);
    note(&world->projects, "%s %s %d %s\n", dx_finecode_project_name(project),
         dx_finecode_status_name(result->status), (int)result->return_code,
         text[0] ? text : result->why);
}

static inline void on_done(dx_finecode_wm *wm, dx_finecode_run *run,
                           const dx_finecode_result *result, void *user) {
    struct world *world = user;
    (void)wm;
    world->done++;
    world->status = result->status;
    world->return_code = result->return_code;
    world->code = result->code;
    world->cause = result->cause;
    snprintf(world->why, sizeof world->why, "%s", result->why);
    write_value(world->result, sizeof world->result, result->by_format);
    if (world->run == run)
        world->run = NULL;
}

/* Files. */

static inline int remove_one(const char *path, const struct stat *about, int kind,
                             struct FTW *where) {
    (void)about;
    (void)kind;
    (void)where;
    return remove(path);
}

static inline void put(struct world *world, const char *name, const char *text) {
    char path[2 * PATH_MAX + 2];
    snprintf(path, sizeof path, "%s/%s", world->top, name);
    for (char *at = path + strlen(world->top) + 1; (at = strchr(at, '/')); at++) {
        *at = '\0';
        assert_true(mkdir(path, 0700) == 0 || errno == EEXIST);
        *at = '/';
    }
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

static inline char *get(struct world *world, const char *name) {
    static char text[1 << 16];
    char path[2 * PATH_MAX + 2];
    snprintf(path, sizeof path, "%s/%s", world->top, name);
    FILE *file = fopen(path, "r");
    size_t len = file ? fread(text, 1, sizeof text - 1, file) : 0;
    text[len] = '\0';
    if (file)
        fclose(file);
    return text;
}

/* A project whose runners are orchestra.py; `actions` is TOML without "finecode." before its tables
 * (which stand as [[A.h]] for handlers and [A] for an action). */
static inline void project(struct world *world, const char *name, const char *actions) {
    char text[1 << 16];
    char file[PATH_MAX];
    const char *source = getenv("SOURCE");
    assert_non_null(source);
    snprintf(text, sizeof text,
             "[finecode.er]\nrunner = ['python3', '%s/tests/finecode/children/orchestra.py'%s]\n"
             "transport = '%s'\n%s",
             source, world->is_real ? ", '--tcp'" : "", world->is_real ? "tcp" : "stdio", actions);
    snprintf(file, sizeof file, "%s/finecode.toml", name);
    put(world, file, text);
}

static inline struct world *world_new(bool is_real) {
    const char *place = getenv("TMPDIR");
    struct world *world = calloc(1, sizeof *world);
    char room[PATH_MAX];
    assert_non_null(world);
    snprintf(room, sizeof room, "%s/finecode-run-XXXXXX", place ? place : "/tmp");
    assert_non_null(mkdtemp(room));
    assert_non_null(realpath(room, world->top));
    world->is_real = is_real;
    world->config = dx_finecode_wm_defaults();
    world->config.on_traffic = on_traffic;
    world->config.on_stopped = on_stopped;
    world->config.on_message = on_message;
    world->config.user = world;
    assert_int_equal(dx_loop_new(NULL, &world->loop, NULL), DX_OK);
    return world;
}

/* With the projects that were made. */
static inline void world_open(struct world *world) {
    dx_error error = {0};
    dx_status status = dx_finecode_wm_new(world->loop, &world->config, &world->wm, &error);
    if (status == DX_OK)
        status = dx_finecode_wm_add_dir(world->wm, world->top, &error);
    if (status != DX_OK)
        fail_msg("%s: %s", dx_status_name(status), error.phrase);
}

static inline void world_close(struct world *world) {
    unsigned before = world->stopped;
    dx_finecode_wm_stop(world->wm);
    WAIT(world, world->stopped > before);
    assert_null(world->wm->runs);
    dx_finecode_wm_free(world->wm);
    dx_loop_free(world->loop);
    nftw(world->top, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    free(world);
}

static inline dx_finecode_project *at(struct world *world, const char *name) {
    dx_finecode_project *found = dx_finecode_wm_find_project(world->wm, name);
    assert_non_null(found);
    return found;
}

static inline void clear(struct world *world) {
    struct book *books[] = {&world->sent,     &world->came,     &world->steps, &world->partials,
                            &world->progress, &world->projects, &world->edits, &world->messages};
    for (size_t i = 0; i < sizeof books / sizeof *books; i++) {
        books[i]->len = 0;
        books[i]->text[0] = '\0';
    }
}

static inline dx_finecode_ask ask_for(struct world *world, const char *action, unsigned formats) {
    return (dx_finecode_ask){.action = action,
                             .formats = formats,
                             .origin = {"user", "cli", 0},
                             .on_step = on_step,
                             .on_partial = on_partial,
                             .on_progress = on_progress,
                             .on_project = on_project,
                             .on_done = on_done,
                             .user = world};
}

static inline void begin(struct world *world, const dx_finecode_ask *ask) {
    dx_error error = {0};
    dx_status status = dx_finecode_wm_run(world->wm, ask, &world->run, &error);
    if (status != DX_OK)
        fail_msg("%s: %s", dx_status_name(status), error.phrase);
}

static inline void perform(struct world *world, const dx_finecode_ask *ask) {
    unsigned before = world->done;
    clear(world);
    begin(world, ask);
    assert_int_equal(world->done, before);
    WAIT(world, world->done > before);
    assert_int_equal(world->done, before + 1);
}

/* In all projects that have it. */
static inline void run(struct world *world, const char *action, unsigned formats) {
    dx_finecode_ask ask = ask_for(world, action, formats);
    perform(world, &ask);
}

/* The messages of that method that went out, as one string each; NULL after the last. */
static inline const char *sent(struct world *world, const char *method, size_t index) {
    static char line[1 << 16];
    char part[100];
    snprintf(part, sizeof part, "\"method\":\"%s\"", method);
    const char *found = world->sent.text;
    for (size_t i = 0; (found = strstr(found, part)); i++, found++) {
        if (i < index)
            continue;
        const char *start = found;
        while (start > world->sent.text && start[-1] != '\n')
            start--;
        size_t len = strcspn(start, "\n");
        snprintf(line, sizeof line, "%.*s", (int)len, start);
        return line;
    }
    return NULL;
}

static inline void sent_has(struct world *world, const char *method, size_t index,
                            const char *part) {
    const char *line = sent(world, method, index);
    if (!line || !strstr(line, part))
        fail_msg("%s %zu: \"%s\" is not in %s", method, index, part, line ? line : "(none)");
}

/* The walRunId of a message; good for the next eight calls. */
static inline const char *id_of(const char *line) {
    static char ids[8][64];
    static unsigned next;
    char *id = ids[next++ % 8];
    const char *found = strstr(line, "\"walRunId\":\"");
    assert_non_null(found);
    snprintf(id, sizeof ids[0], "%.36s", found + 12);
    return id;
}

#endif
