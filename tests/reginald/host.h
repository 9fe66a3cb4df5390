/* A host with plugins that do what they are told, for the tests of the host. */
#ifndef TESTS_REGINALD_HOST_H
#define TESTS_REGINALD_HOST_H

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
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/stat.h>

#include <duplex/reginald-host.h>

/* Lines of what happened, in the order in which it did. */
struct book {
    char text[1 << 20];
    size_t len;
};

struct world {
    dx_loop *loop;
    dx_reginald *host;
    dx_reginald_config config;
    struct book log;    /* "NAME level text fields" */
    struct book states; /* "NAME state" */
    struct book sent;   /* bodies that went out */
    struct book came;
    struct book errors; /* lines of standard errors */
    struct book broken; /* violations */
    struct book done;   /* "NAME outcome code why" */
    size_t error_bytes;
    int ready;
    int stopped;
    unsigned made;
    char folder[64];
};

static inline void note(struct book *book, const char *first, const char *second, dx_text third) {
    int n = snprintf(book->text + book->len, sizeof book->text - book->len, "%s%s%s%s%.*s\n", first,
                     *first ? " " : "", second, *second ? " " : "", (int)third.len,
                     third.at ? third.at : "");
    book->len += (size_t)n < sizeof book->text - book->len ? (size_t)n : 0;
}

static inline size_t count_of(const struct book *book, const char *part) {
    size_t count = 0;
    for (const char *at = book->text; (at = strstr(at, part)); at += strlen(part))
        count++;
    return count;
}

static inline void must_have(const struct book *book, const char *part) {
    if (!strstr(book->text, part))
        fail_msg("\"%s\" is not in:\n%s", part, book->text);
}

static inline uint64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static const char *const state_names[] = {"",         "new",     "starting", "ready",
                                          "stopping", "stopped", "failed"};

static inline void on_state(dx_reginald *host, dx_reginald_guest *guest, void *user) {
    struct world *world = user;
    (void)host;
    note(&world->states, dx_reginald_guest_name(guest), state_names[dx_reginald_guest_state(guest)],
         dx_str(""));
}

static inline void on_ready(dx_reginald *host, void *user) {
    struct world *world = user;
    (void)host;
    world->ready++;
}

static inline void on_stopped(dx_reginald *host, void *user) {
    struct world *world = user;
    (void)host;
    world->stopped++;
}

static inline void on_log(dx_reginald *host, dx_reginald_guest *guest, int level, dx_text text,
                          yyjson_val *fields, void *user) {
    struct world *world = user;
    char *json = fields ? yyjson_val_write(fields, 0, NULL) : NULL;
    char line[512];
    (void)host;
    snprintf(line, sizeof line, "%d %.*s", level, (int)text.len, text.at);
    note(&world->log, dx_reginald_guest_name(guest), line, dx_str(json ? json : ""));
    free(json);
}

static inline void on_errors(dx_reginald *host, dx_reginald_guest *guest, dx_text line,
                             void *user) {
    struct world *world = user;
    (void)host;
    world->error_bytes += line.len;
    note(&world->errors, dx_reginald_guest_name(guest), "", line);
}

static inline void on_violation(dx_reginald *host, dx_reginald_guest *guest, const char *phrase,
                                void *user) {
    struct world *world = user;
    (void)host;
    note(&world->broken, dx_reginald_guest_name(guest), phrase, dx_str(""));
}

static inline void on_traffic(dx_reginald *host, dx_reginald_guest *guest, int out, dx_text text,
                              void *user) {
    struct world *world = user;
    (void)host;
    (void)guest;
    note(out ? &world->sent : &world->came, "", "", text);
}

static inline void on_done(dx_reginald *host, const dx_reginald_offer *offer, dx_outcome outcome,
                           int64_t code, const char *why, void *user) {
    static const char *const names[] = {"",          "result", "error",  "late",
                                        "cancelled", "lost",   "invalid"};
    struct world *world = user;
    char line[300];
    (void)host;
    snprintf(line, sizeof line, "%s %d %s", names[outcome], (int)code, why);
    note(&world->done, offer->name, line, dx_str(""));
}

/* Everything is set; what the test wants otherwise, it changes before world_open(). */
static inline struct world *world_new(const char *revision) {
    struct world *world = calloc(1, sizeof *world);
    assert_non_null(world);
    strcpy(world->folder, "/tmp/reginald-XXXXXX");
    assert_non_null(mkdtemp(world->folder));
    assert_int_equal(dx_loop_new(NULL, &world->loop, NULL), DX_OK);
    world->config = dx_reginald_defaults();
    world->config.revision = revision;
    world->config.on_state = on_state;
    world->config.on_ready = on_ready;
    world->config.on_stopped = on_stopped;
    world->config.on_log = on_log;
    world->config.on_errors = on_errors;
    world->config.on_violation = on_violation;
    world->config.on_traffic = on_traffic;
    world->config.user = world;
    return world;
}

static inline void world_open(struct world *world) {
    dx_error error = {0};
    if (dx_reginald_new(world->loop, &world->config, &world->host, &error) != DX_OK)
        fail_msg("%s", error.phrase);
}

static inline void world_free(struct world *world) {
    char command[128];
    dx_reginald_free(world->host);
    dx_loop_free(world->loop);
    snprintf(command, sizeof command, "rm -rf %s", world->folder);
    assert_int_equal(system(command), 0);
    free(world);
}

static inline const char *path_in(const struct world *world, const char *name) {
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", world->folder, name);
    return path;
}

/* A file of that name and mode. */
static inline const char *make_file(struct world *world, const char *name, mode_t mode,
                                    const char *text) {
    const char *path = path_in(world, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    assert_int_equal(fchmod(fd, mode), 0);
    close(fd);
    return path;
}

/* A plugin that does what `spec` says, which is a dict of Python's; see children/guest.py. */
static inline const char *make_plugin(struct world *world, const char *name, const char *spec) {
    const char *source = getenv("SOURCE");
    static char text[16 << 10];
    if (!source)
        fail_msg("SOURCE must name the source folder");
    snprintf(text, sizeof text,
             "#!/usr/bin/python3 -S\nimport sys\nsys.dont_write_bytecode = True\n"
             "sys.path.insert(0, '%s/tests/reginald/children')\nfrom guest import run\nrun(%s)\n",
             source, spec);
    return make_file(world, name, 0700, text);
}

static inline dx_reginald_guest *world_add(struct world *world, const char *spec) {
    char name[32];
    dx_reginald_guest *guest = NULL;
    dx_error error = {0};
    snprintf(name, sizeof name, "reginald-p%u", ++world->made);
    if (dx_reginald_add(world->host, make_plugin(world, name, spec), NULL, &guest, &error) != DX_OK)
        fail_msg("%s", error.phrase);
    return guest;
}

static inline void turn(struct world *world, int ms) {
    struct pollfd fd = {dx_loop_fd(world->loop), POLLIN, 0};
    int wait = dx_loop_wait_ms(world->loop);
    poll(&fd, 1, wait >= 0 && wait < ms ? wait : ms);
    dx_loop_dispatch(world->loop);
}

/* Turns until `condition` holds; fails after a while. */
#define WAIT(world, condition)                                                               \
    do {                                                                                     \
        uint64_t until_ = now_ms() + 20000;                                                  \
        while (!(condition)) {                                                               \
            if (now_ms() > until_)                                                           \
                fail_msg("%s did not come true; states:\n%s\nbroken:\n%s\nerrors:\n%.2000s", \
                         #condition, (world)->states.text, (world)->broken.text,             \
                         (world)->errors.text);                                              \
            turn((world), 50);                                                               \
        }                                                                                    \
    } while (0)

static inline void start(struct world *world) {
    int before = world->ready;
    dx_reginald_start(world->host);
    WAIT(world, world->ready > before);
}

static inline void stop(struct world *world) {
    dx_reginald_stop(world->host);
    WAIT(world, world->stopped);
}

static inline void expect_ready(const dx_reginald_guest *guest) {
    if (dx_reginald_guest_state(guest) != DX_REGINALD_READY)
        fail_msg("%s: %s", dx_reginald_guest_path(guest), dx_reginald_guest_why(guest));
}

static inline void expect_failed(const dx_reginald_guest *guest, const char *part) {
    assert_int_equal(dx_reginald_guest_state(guest), DX_REGINALD_FAILED);
    if (!strstr(dx_reginald_guest_why(guest), part))
        fail_msg("\"%s\" is not in \"%s\"", part, dx_reginald_guest_why(guest));
}

static inline const dx_reginald_offer *offer(const struct world *world, int is_task,
                                             const char *name) {
    const dx_reginald_offer *found = dx_reginald_find(world->host, is_task, dx_str(name));
    if (!found)
        fail_msg("there is no %s", name);
    return found;
}

static inline dx_json json(const char *text) {
    return dx_json_text(text, strlen(text));
}

#endif
