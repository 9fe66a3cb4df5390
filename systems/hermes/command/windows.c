/* Windows of extensions: told, and handed to the program of --opener. */
#include "systems/hermes/command/event.h"
#include "systems/hermes/command/words.h"
#include "systems/hermes/command/work.h"

#include "cli/say.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int windows_check(const struct hermes_options *options) {
    struct words words = {NULL, 0};
    if (!options->opener)
        return CLI_OK;
    const char *why = words_split(options->opener, &words);
    if (why)
        return cli_fail(CLI_USAGE, "--opener: %s", why);
    bool is_empty = !words.count || !words.at[0][0];
    words_done(&words);
    return is_empty ? cli_fail(CLI_USAGE, "--opener: expected a program") : CLI_OK;
}

/* It gets signals as any program does, lives on when we are interrupted at the terminal, and can't
 * write into our results. */
static int spawn(char **argv, pid_t *ret_pid) {
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    sigset_t normal;
    sigemptyset(&none);
    sigemptyset(&normal);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        sigaddset(&normal, numbers[i]);
    int number = posix_spawn_file_actions_init(&actions);
    if (number)
        return number;
    number = posix_spawnattr_init(&attributes);
    if (!number) {
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF |
                                                  POSIX_SPAWN_SETSIGMASK);
        posix_spawnattr_setpgroup(&attributes, 0);
        posix_spawnattr_setsigdefault(&attributes, &normal);
        posix_spawnattr_setsigmask(&attributes, &none);
        number = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
        if (!number)
            number = posix_spawn_file_actions_adddup2(&actions, 2, 1);
        if (!number)
            number = posix_spawnp(ret_pid, argv[0], &actions, &attributes, argv, environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return number;
}

/* The library lets only such URLs through; a program is told nothing else, whatever may change
 * there. None of them begins with a dash. */
static bool is_web(const char *url) {
    return strncasecmp(url, "http://", 7) == 0 || strncasecmp(url, "https://", 8) == 0;
}

/* The words of --opener, and the URL as the last one. */
static int start_opener(const struct work *work, const char *url, pid_t *ret_pid) {
    struct words words = {NULL, 0};
    if (words_split(work->options->opener, &words))
        return ENOMEM; /* that it can be split was seen before */
    char **argv = calloc(words.count + 2, sizeof *argv);
    int number = ENOMEM;
    if (argv) {
        memcpy(argv, words.at, words.count * sizeof *argv);
        argv[words.count] = (char *)(uintptr_t)url;
        number = spawn(argv, ret_pid);
    }
    free(argv);
    words_done(&words);
    return number;
}

static const char *open_page(struct work *work, const char *url) {
    pid_t pid;
    if (!is_web(url))
        return "only pages of the web are opened";
    if (work->opener_count == OPENERS_MAX)
        return "too many programs that open pages still run";
    int number = start_opener(work, url, &pid);
    if (number)
        return strerror(number);
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    work->openers[work->opener_count++] = (struct opener){pid, fd};
    return NULL;
}

static void put_member(const char *before, const char *text) {
    fputs(before, stderr);
    cli_put_safe(stderr, dx_str(text));
}

static void tell_open(struct work *work, const dx_hermes_window *window) {
    const char *name = dx_hermes_guest_name(window->guest);
    if (cli_voice.json) {
        yyjson_mut_doc *event = event_new("window");
        event_add(event, "extension", name);
        event_add(event, "id", window->id);
        event_add(event, "url", window->url);
        event_add(event, "title", window->title);
        event_add_number(event, "width", window->width);
        event_add_number(event, "height", window->height);
        event_add_bool(event, "modal", window->modal);
        event_add_bool(event, "resizable", window->resizable);
        event_put(event);
        return;
    }
    news_begin(work, name);
    put_member("opened the window ", window->id);
    put_member(": ", window->title);
    put_member(": ", window->url);
    news_end(work);
}

int windows_on_open(dx_hermes *editor, const dx_hermes_window *window, const char **ret_why,
                    void *user) {
    struct work *work = user;
    const char *why = work->options->opener ? open_page(work, window->url) : NULL;
    (void)editor;
    if (!why) {
        tell_open(work, window);
        return 0;
    }
    *ret_why = why;
    cli_note("--opener: %s", why);
    return -1;
}

void windows_tell_closed(struct work *work, const char *id, const char *reason) {
    if (cli_voice.json) {
        yyjson_mut_doc *event = event_new("closed");
        event_add(event, "id", id);
        event_add(event, "reason", reason);
        event_put(event);
        return;
    }
    news_begin(work, NULL);
    put_member("closed the window ", id);
    put_member(": ", reason);
    news_end(work);
}

void windows_on_close(dx_hermes *editor, const dx_hermes_window *window, const char *reason,
                      void *user) {
    (void)editor;
    windows_tell_closed(user, window->id, reason);
}

static void tell_exit(struct work *work, int status) {
    if (status == 0 || cli_voice.json)
        return;
    news_begin(work, "--opener");
    if (WIFSIGNALED(status))
        fprintf(stderr, "the program was ended by signal %d", WTERMSIG(status));
    else
        fprintf(stderr, "the program left with code %d", WEXITSTATUS(status));
    news_end(work);
}

void windows_reap(struct work *work) {
    for (size_t i = 0; i < work->opener_count;) {
        int status = 0;
        pid_t gone = waitpid(work->openers[i].pid, &status, WNOHANG);
        if (gone == 0) {
            i++;
            continue;
        }
        if (gone > 0)
            tell_exit(work, status);
        if (work->openers[i].fd >= 0)
            close(work->openers[i].fd);
        work->openers[i] = work->openers[--work->opener_count];
    }
}
