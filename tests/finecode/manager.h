/* A manager with runners that do what they are told, for its tests. */
#ifndef TESTS_FINECODE_MANAGER_H
#define TESTS_FINECODE_MANAGER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>

#include "systems/finecode/runner.h"

/* Lines of what happened, in the order in which it did. */
struct book {
    char text[1 << 20];
    size_t len;
};

struct world {
    dx_loop *loop;
    dx_finecode_wm *wm;
    dx_finecode_wm_config config;
    struct book states;   /* "ENV STATE" */
    struct book messages; /* "ENV KIND text" */
    struct book lines;    /* "ENV line" */
    struct book broken;   /* "ENV phrase" */
    struct book debugged; /* "ENV port" */
    struct book ready;    /* "ENV yes" or "ENV no" */
    struct book done;     /* "ENV outcome text" */
    int trees;
    int stopped;
    char folder[64];
};

static inline void note(struct book *book, const char *first, const char *second, dx_text third) {
    int n =
        snprintf(book->text + book->len, sizeof book->text - book->len, "%s %s%s%.*s\n", first,
                 second, *second && third.len ? " " : "", (int)third.len, third.at ? third.at : "");
    book->len += (size_t)n < sizeof book->text - book->len ? (size_t)n : 0;
}

static inline size_t count_of(const char *text, const char *part) {
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, part)); at += strlen(part))
        count++;
    return count;
}

static inline void must_have(const char *text, const char *part) {
    if (!strstr(text, part))
        fail_msg("\"%s\" is not in:\n%s", part, text);
}

static inline uint64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static inline void on_runner(dx_finecode_wm *wm, dx_finecode_runner *runner, void *user) {
    struct world *world = user;
    (void)wm;
    note(&world->states, dx_finecode_runner_env(runner),
         dx_finecode_runner_state_name(dx_finecode_runner_get_state(runner)), dx_str(""));
}

static inline void on_tree(dx_finecode_wm *wm, void *user) {
    struct world *world = user;
    (void)wm;
    world->trees++;
}

static inline void on_message(dx_finecode_wm *wm, dx_finecode_runner *runner, const char *kind,
                              dx_text text, void *user) {
    struct world *world = user;
    (void)wm;
    note(&world->messages, dx_finecode_runner_env(runner), kind, text);
}

static inline void on_errors(dx_finecode_wm *wm, dx_finecode_runner *runner, dx_text line,
                             void *user) {
    struct world *world = user;
    (void)wm;
    note(&world->lines, dx_finecode_runner_env(runner), "", line);
}

static inline void on_violation(dx_finecode_wm *wm, dx_finecode_runner *runner, const char *phrase,
                                void *user) {
    struct world *world = user;
    (void)wm;
    note(&world->broken, dx_finecode_runner_env(runner), phrase, dx_str(""));
}

static inline void on_debug(dx_finecode_wm *wm, dx_finecode_runner *runner, unsigned port,
                            void *user) {
    struct world *world = user;
    char text[16];
    (void)wm;
    snprintf(text, sizeof text, "%u", port);
    note(&world->debugged, dx_finecode_runner_env(runner), text, dx_str(""));
}

static inline void on_stopped(dx_finecode_wm *wm, void *user) {
    struct world *world = user;
    (void)wm;
    world->stopped++;
}

static inline void on_ready(dx_finecode_runner *runner, bool ready, void *user) {
    struct world *world = user;
    note(&world->ready, dx_finecode_runner_env(runner), ready ? "yes" : "no", dx_str(""));
}

static inline void on_done(dx_finecode_runner *runner, const dx_event *event, void *user) {
    static const char *const names[] = {"",          "result", "error",  "late",
                                        "cancelled", "lost",   "invalid"};
    struct world *world = user;
    note(&world->done, dx_finecode_runner_env(runner), names[event->outcome],
         event->body.at ? event->body : dx_str(event->error.phrase));
}

/* Everything is set; what the test wants otherwise, it changes before world_open(). */
static inline struct world *world_new(void) {
    struct world *world = calloc(1, sizeof *world);
    assert_non_null(world);
    strcpy(world->folder, "/tmp/finecode-XXXXXX");
    assert_non_null(mkdtemp(world->folder));
    assert_int_equal(dx_loop_new(NULL, &world->loop, NULL), DX_OK);
    world->config = dx_finecode_wm_defaults();
    world->config.on_runner = on_runner;
    world->config.on_tree = on_tree;
    world->config.on_message = on_message;
    world->config.on_errors = on_errors;
    world->config.on_violation = on_violation;
    world->config.on_debug = on_debug;
    world->config.on_stopped = on_stopped;
    world->config.user = world;
    return world;
}

static inline void world_free(struct world *world) {
    char command[128];
    dx_finecode_wm_free(world->wm);
    dx_loop_free(world->loop);
    snprintf(command, sizeof command, "rm -rf %s", world->folder);
    assert_int_equal(system(command), 0);
    free(world);
}

static inline const char *path_in(const struct world *world, const char *project,
                                  const char *name) {
    static char path[256];
    snprintf(path, sizeof path, "%s/%s/%s", world->folder, project, name);
    return path;
}

static inline void write_file(const struct world *world, const char *project, const char *name,
                              const char *text) {
    FILE *file = fopen(path_in(world, project, name), "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* A folder with a finecode.toml in which the action `act` has a handler in each of the envs (a list
 * with spaces), whose runners are of that transport; `more` stands behind it. */
static inline void make_project(const struct world *world, const char *project, const char *envs,
                                const char *transport, const char *more) {
    const char *source = getenv("SOURCE");
    static char text[64 << 10];
    char words[256];
    char *rest = NULL;
    if (!source)
        fail_msg("SOURCE must name the source folder");
    mkdir(path_in(world, project, ""), 0755);
    int used = snprintf(text, sizeof text,
                        "[finecode.er]\nrunner = [\"/usr/bin/python3\", \"-S\", "
                        "\"%s/tests/finecode/children/runner.py\"]\ntransport = \"%s\"\n"
                        "[finecode.action.act]\nsource = \"x.Act\"\n",
                        source, transport);
    snprintf(words, sizeof words, "%s", envs);
    for (char *env = strtok_r(words, " ", &rest); env; env = strtok_r(NULL, " ", &rest))
        used += snprintf(text + used, sizeof text - (size_t)used,
                         "[[finecode.action.act.handlers]]\nname = \"h_%s\"\n"
                         "source = \"x.H_%s\"\nenv = \"%s\"\n",
                         env, env, env);
    snprintf(text + used, sizeof text - (size_t)used, "%s", more);
    write_file(world, project, "finecode.toml", text);
}

/* See children/runner.py. */
static inline void set_spec(const struct world *world, const char *project, const char *env,
                            const char *spec) {
    char name[64];
    snprintf(name, sizeof name, "%s.spec", env);
    write_file(world, project, name, spec);
}

static inline void world_open(struct world *world) {
    dx_error error = {0};
    if (dx_finecode_wm_new(world->loop, &world->config, &world->wm, &error) != DX_OK ||
        dx_finecode_wm_add_dir(world->wm, world->folder, &error) != DX_OK)
        fail_msg("%s", error.phrase);
}

static inline dx_finecode_runner *runner_of(struct world *world, const char *project,
                                            const char *env) {
    dx_finecode_project *found = dx_finecode_wm_find_project(world->wm, project);
    if (!found || dx_finecode_project_get_state(found) != DX_FINECODE_VALID)
        fail_msg("%s: %s", project, found ? dx_finecode_project_why(found) : "there is none");
    dx_finecode_runner *runner = dx__finecode_wm_need_runner(world->wm, found, env);
    assert_non_null(runner);
    return runner;
}

static inline void turn(struct world *world, int ms) {
    struct pollfd fd = {dx_loop_fd(world->loop), POLLIN, 0};
    int wait = dx_loop_wait_ms(world->loop);
    poll(&fd, 1, wait >= 0 && wait < ms ? wait : ms);
    dx_loop_dispatch(world->loop);
}

/* Turns until `condition` holds; fails after a while. */
#define WAIT(world, condition)                                                                \
    do {                                                                                      \
        uint64_t until_ = now_ms() + 30000;                                                   \
        while (!(condition)) {                                                                \
            if (now_ms() > until_)                                                            \
                fail_msg("%s did not come true; states:\n%s\nmessages:\n%s\nlines:\n%.2000s", \
                         #condition, (world)->states.text, (world)->messages.text,            \
                         (world)->lines.text);                                                \
            turn((world), 50);                                                                \
        }                                                                                     \
    } while (0)

static inline bool is_in(const dx_finecode_runner *runner, dx_finecode_runner_state state) {
    return dx_finecode_runner_get_state(runner) == state;
}

/* Needs it, and waits for the answer. */
static inline bool need(struct world *world, dx_finecode_runner *runner) {
    size_t before = world->ready.len;
    assert_int_equal(dx__finecode_runner_need(runner, on_ready, world), DX_OK);
    WAIT(world, world->ready.len > before);
    return strstr(world->ready.text + before, "yes") != NULL;
}

static inline void must_run(struct world *world, dx_finecode_runner *runner) {
    if (!need(world, runner))
        fail_msg("%s is %s: %s", dx_finecode_runner_env(runner),
                 dx_finecode_runner_state_name(dx_finecode_runner_get_state(runner)),
                 dx_finecode_runner_why(runner));
    assert_true(is_in(runner, DX_FINECODE_RUNNING));
}

static inline void must_fail(struct world *world, dx_finecode_runner *runner, const char *part) {
    assert_false(need(world, runner));
    assert_true(is_in(runner, DX_FINECODE_RUNNER_FAILED));
    must_have(dx_finecode_runner_why(runner), part);
}

static inline void stop(struct world *world) {
    dx_finecode_wm_stop(world->wm);
    WAIT(world, world->stopped);
}

/* A call of actions/run, which ends in the book `done`. */
static inline dx_call call(struct world *world, dx_finecode_runner *runner) {
    static const char params[] =
        "{\"actionName\":\"act\",\"params\":{},\"options\":{\"walRunId\":\"w\",\"meta\":{"
        "\"trigger\":\"user\",\"devEnv\":\"cli\",\"orchestrationDepth\":1}}}";
    dx__finecode_call_options options = {.ms = 60000, .on_done = on_done, .user = world};
    dx_call made = 0;
    assert_int_equal(dx__finecode_runner_call(runner, "actions/run",
                                              dx_json_text(params, sizeof params - 1), &options,
                                              &made),
                     DX_OK);
    return made;
}

static inline bool is_alive(pid_t pid) {
    return pid > 0 && (kill(pid, 0) == 0 || errno != ESRCH);
}

/* What it got, one line for each message. */
static inline const char *trace_of(const struct world *world, const char *project,
                                   const char *env) {
    static char text[1 << 20];
    char name[64];
    snprintf(name, sizeof name, "%s.trace", env);
    FILE *file = fopen(path_in(world, project, name), "r");
    if (!file)
        return "";
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

/* The methods that it got, with a space behind each. */
static inline const char *methods_of(const struct world *world, const char *project,
                                     const char *env) {
    static char methods[64 << 10];
    static const char mark[] = "{\"method\": \"";
    methods[0] = '\0';
    for (const char *at = trace_of(world, project, env); (at = strstr(at, mark));) {
        at += sizeof mark - 1;
        strncat(methods, at, (size_t)(strchr(at, '"') - at));
        strcat(methods, " ");
    }
    return methods;
}

#endif
