/* Windows of extensions: told, and handed to the program of --opener. */
#include "cli/event.h"
#include "systems/hermes/command/words.h"
#include "systems/hermes/command/work.h"

#include "cli/opener.h"
#include "cli/say.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
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

static const char *open_page(struct work *work, const char *url) {
    struct words words = {NULL, 0};
    pid_t pid;
    if (work->opener_count == OPENERS_MAX)
        return "too many of its programs are still running";
    const char *why = words_split(work->options->opener, &words);
    if (!why)
        why = cli_open_page(words.at, url, &pid);
    words_done(&words);
    if (why)
        return why;
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
        yyjson_mut_doc *event = cli_event_new("window");
        cli_event_add(event, "extension", name);
        cli_event_add(event, "id", window->id);
        cli_event_add(event, "url", window->url);
        cli_event_add(event, "title", window->title);
        cli_event_add_number(event, "width", window->width);
        cli_event_add_number(event, "height", window->height);
        cli_event_add_bool(event, "modal", window->modal);
        cli_event_add_bool(event, "resizable", window->resizable);
        cli_event_put(event);
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
        yyjson_mut_doc *event = cli_event_new("closed");
        cli_event_add(event, "id", id);
        cli_event_add(event, "reason", reason);
        cli_event_put(event);
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
        fprintf(stderr, "the program was killed by signal %d", WTERMSIG(status));
    else
        fprintf(stderr, "the program exited with code %d", WEXITSTATUS(status));
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
