/* What is told while it happens: short lines for people, events for programs. */
#include "cli/event.h"
#include "systems/hermes/command/work.h"

#include "cli/say.h"
#include "cli/tail.h"
#include "cli/traffic.h"

#include <stdlib.h>
#include <string.h>

/* A prompt, and what may be typed behind it, stays where it is. */
void news_begin(struct work *work, const char *name) {
    cli_flush();
    if (work->prompted)
        fputc('\n', stderr);
    work->prompted = false;
    if (!name)
        return;
    fputs(cli_paint(stderr, CLI_BOLD), stderr);
    cli_put_safe(stderr, dx_str(name));
    fprintf(stderr, "%s: ", cli_paint(stderr, CLI_PLAIN));
}

void news_end(struct work *work) {
    (void)work;
    fputc('\n', stderr);
}

void news_tell_state(struct work *work, dx_hermes_guest *guest) {
    dx_hermes_state state = dx_hermes_guest_state(guest);
    const char *why = dx_hermes_guest_why(guest);
    dx__log_limiter_flush(work->limiter, dx_hermes_guest_name(guest));
    if (cli_voice.json) {
        yyjson_mut_doc *event = cli_event_new("state");
        cli_event_add(event, "extension", dx_hermes_guest_name(guest));
        cli_event_add(event, "state", dx_hermes_state_name(state));
        if (*why)
            cli_event_add(event, "reason", why);
        cli_event_put(event);
        return;
    }
    if (state != DX_HERMES_RUNNING && state != DX_HERMES_STOPPED && state != DX_HERMES_FAILED)
        return;
    news_begin(work, dx_hermes_guest_name(guest));
    cli_colour colour = state == DX_HERMES_FAILED ? CLI_RED : CLI_DIM;
    fprintf(stderr, "%s%s%s", cli_paint(stderr, colour), dx_hermes_state_name(state),
            cli_paint(stderr, CLI_PLAIN));
    if (*why) {
        fputs(": ", stderr);
        cli_put_safe(stderr, dx_str(why));
    }
    news_end(work);
}

static bool has_events(const dx_hermes_guest *guest) {
    yyjson_val *capabilities = yyjson_obj_get(dx_hermes_guest_facts(guest), "capabilities");
    return yyjson_arr_size(yyjson_obj_get(capabilities, "events")) != 0;
}

/* Commands of --run work one after the other on the message. One that reacts to events may change
 * it at any time. */
static void warn_late(struct work *work, dx_hermes_guest *guest) {
    struct member *member = guest && work->running ? crew_member(work, guest) : NULL;
    if (!member || !member->done || member->warned || guest == work->runner || has_events(guest))
        return;
    member->warned = true;
    news_begin(work, NULL);
    cli_warn("warning: %s changed the message while %s ran, after its own command counted as done;"
             " pass a longer --settle",
             dx_hermes_guest_name(guest), work->running);
}

void news_on_message(dx_hermes *editor, dx_hermes_guest *guest, void *user) {
    struct work *work = user;
    warn_late(work, guest);
    unfinished_warn(work, guest);
    if (cli_voice.json) {
        yyjson_mut_doc *event = cli_event_new("message");
        cli_event_add(event, "by", guest ? dx_hermes_guest_name(guest) : NULL);
        cli_event_add_text(event, "text", dx_hermes_text(editor));
        cli_event_put(event);
    } else if (guest) {
        news_begin(work, dx_hermes_guest_name(guest));
        fputs("changed the message", stderr);
        news_end(work);
    }
}

const char *news_level_name(dx_hermes_level level) {
    return level == DX_HERMES_ERROR ? "error" : level == DX_HERMES_WARN ? "warn" : "info";
}

/* The oldest gives way; without memory it is told, but not kept. */
static void keep_log(struct work *work, const char *name, dx_hermes_level level, dx_text text) {
    size_t len = text.len < LOG_TEXT_MAX ? text.len : LOG_TEXT_MAX;
    if (!work->logs)
        work->logs = calloc(LOG_LINES, sizeof *work->logs);
    char *copy = malloc(len + 1);
    char *name_copy = strdup(name);
    if (!work->logs || !copy || !name_copy) {
        free(copy);
        free(name_copy);
        return;
    }
    if (len)
        memcpy(copy, text.at, len);
    copy[len] = '\0';
    struct log_line *line = &work->logs[work->log_count++ % LOG_LINES];
    free(line->name);
    free(line->text);
    *line = (struct log_line){name_copy, copy, level};
}

void news_on_log(dx_hermes *editor, dx_hermes_guest *guest, dx_hermes_level level, dx_text text,
                 void *user) {
    struct work *work = user;
    const char *name = dx_hermes_guest_name(guest);
    (void)editor;
    work->written.errors++;
    keep_log(work, name, level, text);
    if (!dx__log_limiter_pass(work->limiter, name, (int)level, text))
        return;
    if (cli_voice.json) {
        yyjson_mut_doc *event = cli_event_new("log");
        cli_event_add(event, "extension", name);
        cli_event_add(event, "level", news_level_name(level));
        cli_event_add_text(event, "text", text);
        cli_event_put(event);
        return;
    }
    news_begin(work, name);
    if (level != DX_HERMES_INFO)
        fprintf(stderr, "%s%s:%s ",
                cli_paint(stderr, level == DX_HERMES_ERROR ? CLI_RED : CLI_YELLOW),
                news_level_name(level), cli_paint(stderr, CLI_PLAIN));
    cli_put_safe(stderr, text);
    news_end(work);
}

static void clear(void *work) {
    news_begin(work, NULL);
}

void news_on_violation(dx_hermes *editor, dx_hermes_guest *guest, const char *phrase, void *user) {
    enum { VIOLATION = -1 }; /* no level of a log */
    struct work *work = user;
    const char *name = dx_hermes_guest_name(guest);
    (void)editor;
    bool is_noise = cli_warn_noise("extension", name, phrase, clear, work);
    work->written.noise += is_noise;
    if (is_noise || !dx__log_limiter_pass(work->limiter, name, VIOLATION, dx_str(phrase)))
        return;
    if (cli_voice.json) {
        yyjson_mut_doc *event = cli_event_new("violation");
        cli_event_add(event, "extension", name);
        cli_event_add(event, "text", phrase);
        cli_event_put(event);
        return;
    }
    news_begin(work, name);
    fprintf(stderr, "%sviolation:%s ", cli_paint(stderr, CLI_RED), cli_paint(stderr, CLI_PLAIN));
    cli_put_safe(stderr, dx_str(phrase));
    news_end(work);
}

void news_on_summary(const char *name, const char *text, void *user) {
    struct work *work = user;
    if (cli_voice.json) {
        cli_event_put_summary("extension", name, text);
        return;
    }
    news_begin(work, name);
    fputs(text, stderr);
    news_end(work);
}

void news_on_traffic(dx_hermes *editor, dx_hermes_guest *guest, int out, dx_text text, void *user) {
    struct work *work = user;
    const char *name = dx_hermes_guest_name(guest);
    const char *slash = dx_hermes_guest_facts(guest) ? NULL : strrchr(name, '/');
    (void)editor;
    work->written.messages += !out;
    if (!work->options->show)
        return;
    news_begin(work, NULL);
    /* Before it has a name, it is its program: where that lies was said, and makes lines long. */
    cli_show(stderr, dx_recorder_now_us() - work->began_us, out != 0, slash ? slash + 1 : name,
             text);
}

void news_done(struct work *work) {
    for (size_t i = 0; work->logs && i < LOG_LINES; i++) {
        free(work->logs[i].name);
        free(work->logs[i].text);
    }
    free(work->logs);
    work->logs = NULL;
}
