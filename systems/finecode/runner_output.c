/* What a runner writes that is not the protocol: its port, its debugger's, and words for people. */
#include "systems/finecode/runner.h"

#include <stdio.h>
#include <string.h>

/* So many requests on its standard output, of this length at most, are not answered. More can't be
 * kept apart for ever, but nobody reads what they are answered. */
enum { KEPT_MAX = 1000, KEPT_LEN = 4 << 10 };
/* A line of this length says all. */
enum { LINE_MAX_KEPT = 500 };

/* What stands behind `before` in a line; absent if that is not in it. */
static dx_text behind(dx_text line, const char *before) {
    size_t len = strlen(before);
    const char *at = line.len ? memmem(line.at, line.len, before, len) : NULL;
    if (!at)
        return (dx_text){NULL, 0};
    return (dx_text){at + len, line.len - (size_t)(at + len - line.at)};
}

static size_t run_of(dx_text text, const char *characters) {
    size_t len = 0;
    while (len < text.len && text.at[len] && strchr(characters, text.at[len]))
        len++;
    return len;
}

static dx_text without(dx_text text, size_t len) {
    return (dx_text){text.at + len, text.len - len};
}

/* 0: it does not begin with a port. */
static unsigned port_of(dx_text text, size_t *ret_len) {
    unsigned port = 0;
    size_t len = run_of(text, "0123456789");
    for (size_t i = 0; i < len && port <= UINT16_MAX; i++)
        port = port * 10 + (unsigned)(text.at[i] - '0');
    *ret_len = len;
    return port <= UINT16_MAX ? port : 0;
}

/* Serving on ('127.0.0.1', 40001), with anything before and behind it. */
static unsigned serving_port(dx_text line) {
    dx_text rest = behind(line, "Serving on ('");
    size_t digits = run_of(rest, "0123456789.");
    if (!rest.at || !digits)
        return 0;
    rest = without(rest, digits);
    if (rest.len < 3 || memcmp(rest.at, "', ", 3) != 0)
        return 0;
    rest = without(rest, 3);
    unsigned port = port_of(rest, &digits);
    rest = without(rest, digits);
    return rest.len && rest.at[0] == ')' ? port : 0;
}

/* Debug session: 127.0.0.1:5678 */
static unsigned debug_port(dx_text line) {
    dx_text rest = behind(line, "Debug session: ");
    size_t digits = run_of(rest, "0123456789.");
    if (!rest.at || !digits)
        return 0;
    rest = without(rest, digits);
    if (!rest.len || rest.at[0] != ':')
        return 0;
    return port_of(without(rest, 1), &digits);
}

/* It may take as long as somebody needs to attach, and others may start meanwhile. */
void dx__finecode_runner_look_for_debugger(dx_finecode_runner *runner, dx_text line) {
    unsigned port = debug_port(line);
    if (!port || runner->state != DX_FINECODE_INITIALIZING)
        return;
    if (runner->step == FINECODE_PORT) {
        runner->step = FINECODE_DEBUGGER;
        dx_timer_set(runner->limit, DX_NEVER);
    }
    runner->debug_port = port;
    dx__finecode_runner_release(runner);
    dx__finecode_wm_wake(runner->wm);
}

/* The last lines. */

static void keep_line(dx_finecode_runner *runner, dx_text line) {
    dx_buf *lines = &runner->lines;
    size_t len = line.len < LINE_MAX_KEPT ? line.len : LINE_MAX_KEPT;
    while (lines->len && lines->len + len + 1 > lines->max) {
        const char *newline = memchr(lines->data, '\n', lines->len);
        size_t first = (size_t)(newline - lines->data) + 1;
        memmove(lines->data, lines->data + first, lines->len - first);
        lines->len -= first;
    }
    if (!len || dx_buf_reserve(lines, len + 1) != DX_OK)
        return; /* without memory a line is missing, no more */
    for (size_t i = 0; i < len; i++)
        if (line.at[i] != '\n')
            (void)dx_buf_append(lines, line.at + i, 1);
    (void)dx_buf_append(lines, "\n", 1);
}

/* Where the last lines begin that have room for themselves. */
static size_t last_lines(const dx_buf *lines, size_t room) {
    size_t from = lines->len;
    size_t used = 0;
    while (from) {
        size_t at = from - 1;
        while (at && lines->data[at - 1] != '\n')
            at--;
        used += from - at + 2;
        if (used > room)
            break;
        from = at;
    }
    return from;
}

void dx__finecode_runner_say_lines(dx_finecode_runner *runner) {
    static const char before[] = "; stderr: ";
    char *why = runner->why;
    size_t room = sizeof runner->why - strlen(why);
    const dx_buf *lines = &runner->lines;
    size_t from = room > sizeof before ? last_lines(lines, room - sizeof before) : lines->len;
    const char *mark = before;
    while (from < lines->len) {
        const char *line = lines->data + from;
        size_t len = (size_t)((const char *)memchr(line, '\n', lines->len - from) - line);
        dx__say_str(why, sizeof runner->why, mark);
        dx__say(why, sizeof runner->why, (dx_text){line, len});
        mark = " | ";
        from += len + 1;
    }
}

/* Where they come from. */

static void tell_line(dx_finecode_runner *runner, dx_text line) {
    const dx_finecode_wm_config *config = &runner->wm->config;
    if (config->on_errors)
        config->on_errors(runner->wm, runner, line, config->user);
}

void dx__finecode_runner_errors(dx_child *child, dx_text line, void *user) {
    dx_finecode_runner *runner = user;
    (void)child;
    keep_line(runner, line);
    if (runner->is_debugged)
        dx__finecode_runner_look_for_debugger(runner, line);
    tell_line(runner, line);
}

/* What looks like a request there is none, so it gets no answer: that is given when the event is
 * freed, unless the link was freed before. */
static void leave_unanswered(dx_finecode_runner *runner, dx_link *link, dx_text line) {
    const dx_allocator *alloc = &runner->wm->alloc;
    if (line.len > KEPT_LEN)
        return;
    if (!runner->kept)
        runner->kept = dx__malloc(alloc, KEPT_MAX * sizeof(dx_event *));
    if (runner->kept && runner->kept_count < KEPT_MAX &&
        dx_link_keep(link, &runner->kept[runner->kept_count]) == DX_OK)
        runner->kept_count++;
}

void dx__finecode_runner_forget_lines(dx_finecode_runner *runner) {
    while (runner->kept_count)
        dx_event_free(runner->kept[--runner->kept_count]);
    dx__free(&runner->wm->alloc, runner->kept);
    runner->kept = NULL;
}

void dx__finecode_runner_output(dx_link *link, const dx_event *event, void *user) {
    dx_finecode_runner *runner = user;
    dx_text line = event->message;
    if (!line.at)
        return;
    bool waits = runner->step == FINECODE_PORT || runner->step == FINECODE_DEBUGGER;
    if (waits)
        keep_line(runner, line);
    if (event->kind == DX_EVENT_REQUEST) {
        leave_unanswered(runner, link, line);
    } else if (waits && !runner->dying) {
        unsigned port = serving_port(line);
        dx__finecode_runner_look_for_debugger(runner, line);
        if (port)
            dx__finecode_runner_connect(runner, port);
    }
    tell_line(runner, line);
}
