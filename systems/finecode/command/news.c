/* What runners tell by themselves: states, messages, logs, lines, violations, traffic. */
#include "cli/event.h"
#include "cli/say.h"
#include "cli/tail.h"
#include "cli/traffic.h"
#include "systems/finecode/command/er/runner.h"
#include "systems/finecode/command/work.h"

#include <string.h>

void news_add_project(yyjson_mut_doc *event, const dx_finecode_project *project) {
    cli_event_add(event, "project", dx_finecode_project_path(project));
    cli_event_add(event, "name", dx_finecode_project_name(project));
}

yyjson_mut_doc *news_event(const char *name, const dx_finecode_runner *runner) {
    yyjson_mut_doc *event = cli_event_new(name);
    if (runner) {
        news_add_project(event, dx_finecode_runner_project(runner));
        cli_event_add(event, "env", dx_finecode_runner_env(runner));
    }
    return event;
}

const char *news_name(const dx_finecode_runner *runner, char room[200]) {
    snprintf(room, 200, "%s/%s", dx_finecode_project_label(dx_finecode_runner_project(runner)),
             dx_finecode_runner_env(runner));
    return room;
}

static const char *source_of(const dx_finecode_runner *runner, char room[200]) {
    return runner ? news_name(runner, room) : "manager";
}

/* Lines are the same only if what stands before them is, too; two words that have the same number
 * do no harm. */
static bool is_shown(struct work *work, const dx_finecode_runner *runner, const char *kind,
                     const char *more, dx_text line) {
    char name[200];
    unsigned number = 0;
    for (const char *at = kind; *at; at++)
        number = number * 31 + (unsigned char)*at;
    for (const char *at = more ? more : ""; *at; at++)
        number = number * 31 + (unsigned char)*at;
    return dx__log_limiter_pass(work->limiter, source_of(runner, name), (int)(number >> 1), line);
}

/* The longest of the usual words. */
enum { WIDTH = sizeof "WARNING" - 1 };

/* "WARNING core/cpp: text". Nothing of it need be what it should be. */
static void put_line(const char *source, const char *kind, cli_colour colour, const char *more,
                     dx_text line) {
    fputs(cli_paint(stderr, colour), stderr);
    cli_put_safe(stderr, dx_str(kind));
    fprintf(stderr, "%*s%s %s", strlen(kind) < WIDTH ? (int)(WIDTH - strlen(kind)) : 0, "",
            cli_paint(stderr, CLI_PLAIN), cli_paint(stderr, CLI_BOLD));
    cli_put_safe(stderr, dx_str(source));
    fprintf(stderr, ":%s ", cli_paint(stderr, CLI_PLAIN));
    if (more && *more) {
        cli_put_safe(stderr, dx_str(more));
        fputs(": ", stderr);
    }
    cli_put_safe(stderr, line);
    fputc('\n', stderr);
}

void news_on_summary(const char *name, const char *text, void *user) {
    struct work *work = user;
    if (cli_voice.json) {
        cli_event_put_summary("runner", name, text);
        return;
    }
    work_clear(work);
    put_line(name, "WARNING", CLI_YELLOW, NULL, dx_str(text));
}

/* Each line of the text by itself. */
static void put(struct work *work, const dx_finecode_runner *runner, const char *kind,
                cli_colour colour, const char *more, dx_text text) {
    char name[200];
    work_clear(work);
    while (text.len && (text.at[text.len - 1] == '\n' || text.at[text.len - 1] == '\r'))
        text.len--;
    do {
        const char *end = text.len ? memchr(text.at, '\n', text.len) : NULL;
        size_t len = end ? (size_t)(end - text.at) : text.len;
        if (is_shown(work, runner, kind, more, (dx_text){text.at, len}))
            put_line(source_of(runner, name), kind, colour, more, (dx_text){text.at, len});
        len += end != NULL;
        text = (dx_text){text.at + len, text.len - len};
    } while (text.len);
}

static cli_colour colour_of(const char *kind) {
    return strcmp(kind, "ERROR") == 0 || strcmp(kind, "CRITICAL") == 0 ? CLI_RED
           : strcmp(kind, "WARNING") == 0                              ? CLI_YELLOW
           : strcmp(kind, "INFO") == 0                                 ? CLI_GREEN
                                                                       : CLI_DIM;
}

static void on_runner(dx_finecode_wm *wm, dx_finecode_runner *runner, void *user) {
    struct work *work = user;
    const char *why = dx_finecode_runner_why(runner);
    char name[200];
    (void)wm;
    dx__log_limiter_flush(work->limiter, news_name(runner, name));
    if (work->on_runner && !work->leaving)
        work->on_runner(work, runner);
    if (work->on_runner || work->leaving || !cli_voice.json)
        return; /* people are told what follows from it */
    yyjson_mut_doc *event = news_event("runner", runner);
    cli_event_add(event, "state",
                  dx_finecode_runner_state_name(dx_finecode_runner_get_state(runner)));
    if (why && *why)
        cli_event_add(event, "why", why);
    if (dx_finecode_runner_pid(runner) > 0)
        cli_event_add_number(event, "pid", (uint64_t)dx_finecode_runner_pid(runner));
    cli_event_put(event);
}

static void on_message(dx_finecode_wm *wm, dx_finecode_runner *runner, const char *kind,
                       dx_text text, void *user) {
    struct work *work = user;
    (void)wm;
    if (!cli_voice.json) {
        put(work, runner, kind, colour_of(kind), NULL, text);
        return;
    }
    if (!is_shown(work, runner, kind, NULL, text))
        return;
    yyjson_mut_doc *event = news_event("message", runner);
    cli_event_add(event, "kind", kind);
    cli_event_add_text(event, "text", text);
    cli_event_put(event);
}

/* time: NULL if it is not known. */
static void put_log(struct work *work, const dx_finecode_runner *runner, const char *level,
                    const char *group, dx_text text, const double *time) {
    if (!cli_voice.json) {
        put(work, runner, level, colour_of(level), group, text);
        return;
    }
    if (!is_shown(work, runner, level, group, text))
        return;
    yyjson_mut_doc *event = news_event("log", runner);
    cli_event_add(event, "level", level);
    cli_event_add(event, "group", group);
    cli_event_add_text(event, "text", text);
    if (time)
        cli_event_add_value(event, "time", yyjson_mut_real(event, *time));
    cli_event_put(event);
}

static void on_log(dx_finecode_wm *wm, dx_finecode_runner *runner, const char *level,
                   const char *group, dx_text text, double time, void *user) {
    (void)wm;
    put_log(user, runner, level, group, text, &time);
}

/* A line of the log of `duplex finecode er`: "TIME LEVEL   GROUP: TEXT". */
static bool read_log(dx_text line, char level[16], char group[200], dx_text *ret_text) {
    enum { STAMP = sizeof "2026-01-01T00:00:00.000Z" };
    const char *end = line.at + line.len;
    if (line.len < STAMP || line.at[10] != 'T' || line.at[STAMP - 2] != 'Z')
        return false;
    const char *at = line.at + STAMP;
    const char *space = memchr(at, ' ', (size_t)(end - at));
    if (!space || space - at > 15)
        return false;
    snprintf(level, 16, "%.*s", (int)(space - at), at);
    while (space < end && *space == ' ')
        space++;
    const char *colon = memmem(space, (size_t)(end - space), ": ", 2);
    if (log_level_of(level) < 0 || !colon || colon - space > 199)
        return false;
    snprintf(group, 200, "%.*s", (int)(colon - space), space);
    *ret_text = (dx_text){colon + 2, (size_t)(end - colon) - 2};
    return true;
}

static bool is_wanted(const struct work *work, const char *level) {
    const char *least = work->options->log_level;
    return least && log_level_of(level) >= log_level_of(least);
}

/* For one that can't forward what it logs. */
static bool is_log(const struct work *work, const dx_finecode_runner *runner) {
    return work->options->log_level && runner &&
           strcmp(dx_finecode_runner_revision(runner), "seed") == 0;
}

static void on_errors(dx_finecode_wm *wm, dx_finecode_runner *runner, dx_text line, void *user) {
    struct work *work = user;
    char where[210];
    char name[200];
    char level[16];
    char group[200];
    dx_text text;
    (void)wm;
    while (line.len && (line.at[line.len - 1] == '\n' || line.at[line.len - 1] == '\r'))
        line.len--;
    bool is_read = read_log(line, level, group, &text);
    if (is_read && is_wanted(work, level))
        put_log(work, runner, level, group, text, NULL);
    if (!is_read && !cli_voice.json && is_log(work, runner)) {
        put(work, runner, "LOG", CLI_DIM, NULL, line);
        return;
    }
    snprintf(where, sizeof where, "%s: ", runner ? news_name(runner, name) : "");
    /* What the runner itself logs as an error is in its response. */
    if (!is_read || strcmp(level, "ERROR") != 0 || strcmp(group, "finecode.er") != 0)
        cli_tail_keep(&work->tail, where, line);
    if (is_read || !cli_voice.json || !is_shown(work, runner, "stderr", NULL, line))
        return;
    yyjson_mut_doc *event = news_event("stderr", runner);
    cli_event_add_text(event, "text", line);
    cli_event_put(event);
}

static void clear(void *work) {
    work_clear(work);
}

static void on_violation(dx_finecode_wm *wm, dx_finecode_runner *runner, const char *phrase,
                         void *user) {
    struct work *work = user;
    char name[200];
    (void)wm;
    if (cli_warn_noise("runner", source_of(runner, name), phrase, clear, work))
        return;
    if (!cli_voice.json) {
        put(work, runner, "WARNING", CLI_YELLOW, "violation", dx_str(phrase));
        return;
    }
    if (!is_shown(work, runner, "violation", NULL, dx_str(phrase)))
        return;
    yyjson_mut_doc *event = news_event("violation", runner);
    cli_event_add(event, "text", phrase);
    cli_event_put(event);
}

static void on_debug(dx_finecode_wm *wm, dx_finecode_runner *runner, unsigned port, void *user) {
    struct work *work = user;
    char text[100];
    (void)wm;
    if (!cli_voice.json) {
        snprintf(text, sizeof text, "waiting for a debugger at 127.0.0.1:%u", port);
        put(work, runner, "INFO", CLI_GREEN, NULL, dx_str(text));
        return;
    }
    yyjson_mut_doc *event = news_event("debug", runner);
    cli_event_add_number(event, "port", port);
    cli_event_put(event);
}

static void on_traffic(dx_finecode_wm *wm, dx_finecode_runner *runner, int out, dx_text text,
                       void *user) {
    struct work *work = user;
    char name[200];
    (void)wm;
    work_clear(work);
    cli_show(stderr, dx_recorder_now_us() - work->began_us, out != 0,
             runner ? news_name(runner, name) : NULL, text);
}

void news_listen(struct work *work, dx_finecode_wm_config *config) {
    config->on_runner = on_runner;
    config->on_message = on_message;
    config->on_log = on_log;
    config->on_errors = on_errors;
    config->on_violation = on_violation;
    config->on_debug = on_debug;
    config->on_traffic = work->options->show ? on_traffic : NULL;
}
