#include "systems/mcp/command/news.h"

#include "systems/mcp/command/answer.h"
#include "systems/mcp/command/put.h"

#include "cli/event.h"
#include "cli/say.h"
#include "cli/traffic.h"
#include "cli/wait.h"
#include "cli/waiting.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What is shown of what the server says by itself. Levels of logs come after these. */
enum { ERRORS, VIOLATION, PROGRESS, LOG };

/* What goes to a file of its own is counted by itself. */
static const char errors_key[] = "stderr";

static bool is_shown(struct talk *talk, int kind, dx_text text) {
    const char *peer = talk->errors && kind == ERRORS ? errors_key : "";
    return dx__log_limiter_pass(talk->limiter, peer, kind, text);
}

void news_on_summary(const char *peer, const char *text, void *user) {
    struct talk *talk = user;
    if (strcmp(peer, errors_key) == 0) {
        fprintf(talk->errors, "%s\n", text);
    } else if (cli_voice.json && talk->hooks.on_log) {
        cli_event_put_summary(NULL, NULL, text);
    } else {
        talk_clear_line(talk);
        fprintf(stderr, "%s\n", text);
    }
}

/* The standard error of the server. */

static void on_errors(dx_mcp_client *client, dx_text line, void *user) {
    struct talk *talk = user;
    (void)client;
    cli_tail_keep(&talk->tail, "", line);
    bool inherit = talk->options->errors && strcmp(talk->options->errors, "inherit") == 0;
    if ((!talk->errors && !inherit) || !is_shown(talk, ERRORS, line))
        return;
    if (talk->errors) {
        fwrite(line.at, 1, line.len, talk->errors);
        putc('\n', talk->errors);
    } else {
        talk_clear_line(talk);
        cli_put_safe(stderr, line);
        putc('\n', stderr);
    }
}

static void on_violation(dx_mcp_client *client, const dx_event *event, void *user) {
    struct talk *talk = user;
    (void)client;
    if (cli_is_noise(event)) {
        const char *warning = cli_tail_noise(&talk->tail, "the server", event->message);
        if (warning) {
            talk_clear_line(talk);
            cli_warn("%s", warning);
        }
        return;
    }
    if (!is_shown(talk, VIOLATION, dx_str(event->error.phrase)))
        return;
    talk_clear_line(talk);
    cli_note("%s", event->error.phrase);
}

static void on_traffic(dx_mcp_client *client, int out, dx_text text, void *user) {
    struct talk *talk = user;
    (void)client;
    talk_clear_line(talk);
    cli_show(stderr, dx_recorder_now_us() - talk->began_us, out, NULL, text);
}

/* Progress: one line that is drawn anew on a terminal, lines elsewhere. */

enum { COLUMNS = 78 };

void talk_clear_line(struct talk *talk) {
    if (!talk->progress_len)
        return;
    fprintf(stderr, "\r%*s\r", (int)talk->progress_len, "");
    talk->progress_len = 0;
}

/* Where the text is cut so that it stays on one line; every byte counts as a column, so that what
 * is drawn is never longer. */
static size_t cut(dx_text text, size_t most) {
    if (text.len <= most)
        return text.len;
    while (most && ((unsigned char)text.at[most] & 0xc0) == 0x80)
        most--;
    return most;
}

void news_on_progress(dx_mcp_client *client, dx_mcp_call call, const dx_mcp_progress *progress,
                      void *user) {
    struct talk *talk = dx_mcp_client_user(client);
    char *text = NULL;
    size_t len = 0;
    (void)call;
    (void)user;
    if (talk->options->reset)
        talk->alive_at = cli_now();
    FILE *out = talk->options->progress ? open_memstream(&text, &len) : NULL;
    if (!out)
        return;
    if (progress->has_total && progress->total > 0)
        fprintf(out, "%3.0f%% ", 100 * progress->progress / progress->total);
    fprintf(out, "%.10g", progress->progress);
    if (progress->has_total)
        fprintf(out, " of %.10g", progress->total);
    if (progress->message.len) {
        fputs(": ", out);
        cli_put_safe(out, progress->message);
    }
    if (fclose(out) == 0 && is_shown(talk, PROGRESS, (dx_text){text, len})) {
        bool drawn = isatty(2) && !talk->options->show;
        talk_clear_line(talk);
        if (drawn)
            len = cut((dx_text){text, len}, COLUMNS);
        fprintf(stderr, "%.*s%s", (int)len, text, drawn ? "" : "\n");
        cli_count_shown(stderr);
        talk->progress_len = drawn ? len : 0;
        cli_waiting_end();
    }
    free(text);
}

/* Notifications. */

static void put_log(dx_mcp_level level, dx_text logger, yyjson_val *data) {
    fprintf(stderr, "%s%s%s", cli_paint(stderr, level >= DX_MCP_ERROR ? CLI_RED : CLI_DIM),
            dx_mcp_level_name(level), cli_paint(stderr, CLI_PLAIN));
    if (logger.len) {
        fputs(" (", stderr);
        cli_put_safe(stderr, logger);
        putc(')', stderr);
    }
    fputs(": ", stderr);
    put_value(stderr, data);
    putc('\n', stderr);
}

/* Who logs is a part of the line. */
static bool is_log_shown(struct talk *talk, dx_mcp_level level, dx_text logger, yyjson_val *data) {
    dx_buf line;
    dx_buf_init(&line, SIZE_MAX / 2, NULL);
    bool shown = dx_buf_append(&line, logger.at, logger.len) != DX_OK ||
                 (data && dx_json_write(&line, dx_json_value(data)) != DX_OK) ||
                 is_shown(talk, LOG + (int)level, (dx_text){line.data, line.len});
    dx_buf_done(&line);
    return shown;
}

static void on_log(dx_mcp_client *client, dx_mcp_level level, dx_text logger, yyjson_val *data,
                   void *user) {
    struct talk *talk = user;
    (void)client;
    /* What was asked for and goes to a file or program is not cut short. */
    bool is_output = talk->hooks.on_log && !isatty(1);
    if ((!talk->hooks.on_log && !talk->options->level) ||
        (!is_output && !is_log_shown(talk, level, logger, data)))
        return;
    talk_clear_line(talk);
    if (talk->hooks.on_log)
        talk->hooks.on_log(level, logger, data);
    else
        put_log(level, logger, data);
}

static void on_changed(dx_mcp_client *client, dx_mcp_kind kind, void *user) {
    const struct talk *talk = user;
    (void)client;
    if (talk->hooks.on_changed)
        talk->hooks.on_changed(kind);
}

static void on_updated(dx_mcp_client *client, dx_text uri, void *user) {
    const struct talk *talk = user;
    (void)client;
    if (talk->hooks.on_updated)
        talk->hooks.on_updated(uri);
}

/* Its state is asked for again and again; told is what is new. */
static void on_task(dx_mcp_client *client, yyjson_val *task, void *user) {
    struct talk *talk = user;
    dx_text state = member_of(task, "status");
    dx_text message = member_of(task, "statusMessage");
    char now[sizeof talk->task_state];
    (void)client;
    snprintf(now, sizeof now, "%.*s%s%.*s", (int)state.len, state.at ? state.at : "",
             message.len ? ": " : "", (int)(message.len > 150 ? 150 : message.len),
             message.at ? message.at : "");
    if (strcmp(now, talk->task_state) == 0)
        return;
    memcpy(talk->task_state, now, sizeof now);
    talk_clear_line(talk);
    cli_note("task: %s", now);
}

static void on_elicited(dx_mcp_client *client, dx_text id, void *user) {
    struct talk *talk = user;
    (void)client;
    talk_clear_line(talk);
    cli_note("the server reports that the page is complete (%.*s)",
             (int)(id.len > 200 ? 200 : id.len), id.at);
}

void news_configure(struct talk *talk, dx_mcp_client_config *config) {
    config->on_errors = on_errors;
    config->on_violation = on_violation;
    config->on_log = on_log;
    config->on_updated = on_updated;
    config->on_task = on_task;
    config->on_elicited = on_elicited;
    if (talk->options->show)
        config->on_traffic = on_traffic;
    /* In the modern era who has it asks for changes. */
    if (talk->hooks.on_changed)
        config->on_changed = on_changed;
}

int news_set_level(struct talk *talk) {
    struct answer answer = {.method = "logging/setLevel"};
    if (!talk->options->level)
        return CLI_OK;
    dx_mcp_level level = dx_mcp_level_named(dx_str(talk->options->level));
    dx_status status = dx_mcp_client_log(talk->client, level, answer_take, &answer, &answer.call);
    int code = answer_wait(talk, &answer, status);
    answer_done(&answer);
    return code;
}
