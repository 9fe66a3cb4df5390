/* An editor with extensions that do what they are told, for the tests of the host. */
#ifndef TESTS_HERMES_HOST_H
#define TESTS_HERMES_HOST_H

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

#include <poll.h>
#include <stdbool.h>

#include <duplex/hermes-host.h>

#define MESSAGE "MSH|^~\\&|APP\rPID|1||12345||DOE^JOHN"

/* Lines of what happened, in the order in which it did. */
struct book {
    char text[1 << 20];
    size_t len;
};

struct world {
    dx_loop *loop;
    dx_hermes *editor;
    dx_hermes_config config;
    struct book log;     /* "NAME level text" */
    struct book states;  /* "NAME state" */
    struct book sent;    /* bodies that went out */
    struct book came;    /* bodies that came in */
    struct book windows; /* "open ID", "close ID reason" */
    struct book broken;  /* violations */
    dx_hermes_dialog *dialogs[200];
    size_t dialog_count;
    size_t dialogs_gone;
    size_t messages;
    dx_hermes_guest *by;
    int stopped;
    bool keep_dialogs;
    void (*on_state)(struct world *world, dx_hermes_guest *guest);
};

static inline void note(struct book *book, const char *first, const char *second, dx_text third) {
    int n = snprintf(book->text + book->len, sizeof book->text - book->len, "%s%s%s%s%.*s\n", first,
                     *first ? " " : "", second, *second ? " " : "", (int)third.len, third.at);
    book->len += (size_t)n < sizeof book->text - book->len ? (size_t)n : 0;
}

static inline size_t count_of(const struct book *book, const char *part) {
    size_t count = 0;
    for (const char *at = book->text; (at = strstr(at, part)); at += strlen(part))
        count++;
    return count;
}

static inline uint64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static inline void on_state(dx_hermes *editor, dx_hermes_guest *guest, void *user) {
    struct world *world = user;
    (void)editor;
    note(&world->states, dx_hermes_guest_name(guest),
         dx_hermes_state_name(dx_hermes_guest_state(guest)), dx_str(""));
    if (world->on_state)
        world->on_state(world, guest);
}

static inline void on_message(dx_hermes *editor, dx_hermes_guest *guest, void *user) {
    struct world *world = user;
    (void)editor;
    world->messages++;
    world->by = guest;
}

static inline void on_log(dx_hermes *editor, dx_hermes_guest *guest, dx_hermes_level level,
                          dx_text text, void *user) {
    static const char *const levels[] = {"", "info", "warn", "error"};
    struct world *world = user;
    (void)editor;
    note(&world->log, dx_hermes_guest_name(guest), levels[level], text);
}

static inline void on_violation(dx_hermes *editor, dx_hermes_guest *guest, const char *phrase,
                                void *user) {
    struct world *world = user;
    (void)editor;
    (void)guest;
    note(&world->broken, "", phrase, dx_str(""));
}

static inline void on_traffic(dx_hermes *editor, dx_hermes_guest *guest, int out, dx_text text,
                              void *user) {
    struct world *world = user;
    (void)editor;
    (void)guest;
    note(out ? &world->sent : &world->came, "", "", text);
}

static inline void on_dialog(dx_hermes *editor, dx_hermes_dialog *dialog, void *user) {
    struct world *world = user;
    (void)editor;
    world->dialogs[world->dialog_count++] = dialog;
}

static inline void on_dialog_gone(dx_hermes *editor, dx_hermes_dialog *dialog, void *user) {
    struct world *world = user;
    (void)editor;
    (void)dialog;
    world->dialogs_gone++;
}

static inline int open_window(dx_hermes *editor, const dx_hermes_window *window,
                              const char **ret_why, void *user) {
    struct world *world = user;
    (void)editor;
    if (strstr(window->url, "refused")) {
        *ret_why = strstr(window->url, "silently") ? NULL : "not today";
        return 1;
    }
    note(&world->windows, "open", window->id, dx_str(window->url));
    return 0;
}

static inline void close_window(dx_hermes *editor, const dx_hermes_window *window,
                                const char *reason, void *user) {
    struct world *world = user;
    (void)editor;
    note(&world->windows, "close", window->id, dx_str(reason));
}

static inline void on_stopped(dx_hermes *editor, void *user) {
    struct world *world = user;
    (void)editor;
    world->stopped++;
}

/* Everything is set; what the test wants otherwise, it changes before world_open(). */
static inline struct world *world_new(void) {
    struct world *world = calloc(1, sizeof *world);
    assert_non_null(world);
    assert_int_equal(dx_loop_new(NULL, &world->loop, NULL), DX_OK);
    world->config = dx_hermes_defaults();
    world->config.changed_ms = 50;
    world->config.on_state = on_state;
    world->config.on_message = on_message;
    world->config.on_log = on_log;
    world->config.on_violation = on_violation;
    world->config.on_traffic = on_traffic;
    world->config.on_dialog = on_dialog;
    world->config.on_dialog_gone = on_dialog_gone;
    world->config.open_window = open_window;
    world->config.close_window = close_window;
    world->config.on_stopped = on_stopped;
    world->config.user = world;
    return world;
}

static inline void world_open(struct world *world) {
    dx_error error = {0};
    if (dx_hermes_new(world->loop, &world->config, &world->editor, &error) != DX_OK)
        fail_msg("%s", error.phrase);
}

static inline void world_free(struct world *world) {
    dx_hermes_free(world->editor);
    dx_loop_free(world->loop);
    free(world);
}

/* An extension that does what `spec` says; quotes in it are single ones. */
static inline dx_hermes_guest *world_add(struct world *world, const char *spec) {
    const char *source = getenv("SOURCE");
    char script[512];
    char *text = strdup(spec);
    dx_hermes_guest *guest = NULL;
    dx_error error = {0};
    if (!source)
        fail_msg("SOURCE must name the source folder");
    snprintf(script, sizeof script, "%s/tests/hermes/children/guest.py", source);
    for (char *at = text; *at; at++)
        if (*at == '\'')
            *at = '"';
    const char *args[] = {script, text, NULL};
    dx_status status =
        dx_hermes_add(world->editor, &(dx_hermes_entry){.path = "/usr/bin/python3", .args = args},
                      &guest, &error);
    if (status != DX_OK)
        fail_msg("%s", error.phrase);
    free(text);
    return guest;
}

/* One turn, or so many milliseconds. */
static inline void turn(struct world *world, int ms) {
    struct pollfd fd = {dx_loop_fd(world->loop), POLLIN, 0};
    int wait = dx_loop_wait_ms(world->loop);
    poll(&fd, 1, wait < 0 || wait > ms ? ms : wait);
    dx_loop_dispatch(world->loop);
}

/* Turns until `condition` holds; fails after a while. */
#define WAIT(world, condition)                                                                   \
    do {                                                                                         \
        uint64_t until_ = now_ms() + 20000;                                                      \
        while (!(condition)) {                                                                   \
            if (now_ms() > until_)                                                               \
                fail_msg("%s did not come true; log:\n%s\nstates:\n%s\nbroken:\n%s", #condition, \
                         (world)->log.text, (world)->states.text, (world)->broken.text);         \
            turn((world), 50);                                                                   \
        }                                                                                        \
    } while (0)

static inline void pause_ms(struct world *world, unsigned ms) {
    for (uint64_t until = now_ms() + ms; now_ms() < until;)
        turn(world, 5);
}

static inline void wait_state(struct world *world, dx_hermes_guest *guest, dx_hermes_state state) {
    WAIT(world, dx_hermes_guest_state(guest) == state);
}

static inline bool is_here(const struct book *book, const char *part) {
    return strstr(book->text, part) != NULL;
}

static inline void must_have(const struct book *book, const char *part) {
    if (!is_here(book, part))
        fail_msg("no %s in:\n%s", part, book->text);
}

/* Runs a command and waits until so many lines have come since. */
static inline void run(struct world *world, const char *command, size_t lines) {
    size_t before = count_of(&world->log, "got ");
    assert_int_equal(dx_hermes_run(world->editor, dx_str(command), NULL), DX_OK);
    WAIT(world, count_of(&world->log, "got ") >= before + lines);
}

static inline void stop(struct world *world) {
    dx_hermes_stop(world->editor, "closing");
    WAIT(world, world->stopped);
}

/* How a child of a few lines of Python begins: it can say and hear, and has answered initialize. */
#define OWN_CHILD                                                                \
    "import sys,json\n"                                                          \
    "def say(m):\n"                                                              \
    "  t=json.dumps(dict(m,jsonrpc='2.0')); sys.stdout.write('Content-Length: "  \
    "%d\\r\\n\\r\\n%s'%(len(t),t)); sys.stdout.flush()\n"                        \
    "def hear():\n"                                                              \
    "  n=int(sys.stdin.readline().split(':')[1]); sys.stdin.readline(); return " \
    "json.loads(sys.stdin.read(n))\n"                                            \
    "say({'id':hear()['id'],'result':{'name':'own','version':'1'}})\n"

#endif
