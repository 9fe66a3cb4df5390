#include "systems/mcp/command/talk.h"

#include "systems/mcp/command/ask.h"
#include "systems/mcp/command/news.h"
#include "systems/mcp/command/roots.h"

#include "cli/record.h"
#include "cli/say.h"
#include "cli/subreaper.h"
#include "cli/wait.h"
#include "cli/waiting.h"

#include <duplex/version.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool talk_is_interrupted(const struct talk *talk) {
    return cli_interrupts() != talk->interrupts;
}

int talk_tell_interrupt(void) {
    return cli_fail(CLI_INTERRUPTED, "interrupted");
}

int talk_code(dx_fault fault) {
    switch (fault) {
    case DX_FAULT_NONE:
    case DX_FAULT_TRUNCATED:
    case DX_FAULT_ENDED:
    case DX_FAULT_SYSTEM:
    case DX_FAULT_EXITED:
    case DX_FAULT_KILLED:
        return CLI_ENDED;
    case DX_FAULT_TIMEOUT:
    case DX_FAULT_TOTAL:
        return CLI_LATE;
    case DX_FAULT_START:
        return CLI_NO_START;
    case DX_FAULT_PARAMS_FIT:
    case DX_FAULT_RESULT_FIT:
        return CLI_MISFIT;
    default:
        return CLI_VIOLATION;
    }
}

int talk_tell(struct talk *talk, int code, const char *message, yyjson_mut_doc *doc,
              yyjson_mut_val *more) {
    talk_clear_line(talk);
    return cli_tail_fail(&talk->tail, talk->options->errors, code, message, doc, more);
}

int talk_tell_gone(struct talk *talk, const char *what) {
    char *message = NULL;
    uint64_t until = cli_now() + 1000;
    while (!talk->closed && cli_now() < until && !talk_is_interrupted(talk))
        talk_wait(talk, until);
    const char *how = talk->failure ? talk->failure : "it closed the connection";
    if (what && asprintf(&message, "%s: %s", what, how) < 0)
        message = NULL;
    int code =
        talk_tell(talk, talk->closed ? talk->code : CLI_ENDED, message ? message : how, NULL, NULL);
    free(message);
    return code;
}

void talk_wait(struct talk *talk, uint64_t until) {
    if (talk->asks)
        ask_wait(talk, until);
    else
        cli_wait(talk->loop, until);
}

static uint64_t count_messages(const void *user) {
    const struct talk *talk = user;
    return talk->client ? dx_mcp_client_statistics(talk->client).messages_in : 0;
}

void talk_waits_for(const struct talk *talk, const char *what, uint64_t most_ms) {
    cli_waiting_begin(&(cli_waiting){.what = what,
                                     .most_ms = most_ms,
                                     .written = &talk->tail.written,
                                     .messages = count_messages,
                                     .user = talk});
}

/* A server that was late may use the other framing, but not one that printed text before a message.
 */
static const char *late_start(const struct talk *talk) {
    return talk->tail.written.noise
               ? " (--start-timeout)"
               : " (--start-timeout); 'duplex call -p mcp ping -- SERVER' detects a different"
                 " framing";
}

/* So much after the time that the library keeps it is up here, too. */
enum { LATER_MS = 50 };

/* The end. */

static void on_ready(dx_mcp_client *client, void *user) {
    struct talk *talk = user;
    (void)client;
    talk->ready = true;
}

static int code_of_end(const dx_mcp_end *end) {
    return end->no_revision ? CLI_VIOLATION
           : end->refused   ? CLI_REFUSED
                            : talk_code(end->error.fault);
}

static void on_closed(dx_mcp_client *client, const dx_mcp_end *end, void *user) {
    struct talk *talk = user;
    const char *phrase = end->error.fault ? end->error.phrase : "the server exited with code 0";
    const char *more = "";
    (void)client;
    dx__log_limiter_flush(talk->limiter, NULL);
    talk->closed = true;
    talk->code = code_of_end(end);
    if (!end->error.fault && !end->gone)
        phrase = "the server closed the connection";
    char *reason = talk->options->in && !talk->closing
                       ? cli_control_reason(&talk->options->run, talk->options->in)
                       : NULL;
    if (reason)
        phrase = reason;
    if (!end->was_ready && talk->code == CLI_LATE)
        more = late_start(talk);
    if (end->refused == DX_CODE_METHOD && !talk->options->mode)
        more = "; if the server supports only 2026-07-28, pass --mode modern";
    free(talk->failure);
    if (asprintf(&talk->failure, "%s%s", phrase, more) < 0)
        talk->failure = NULL;
    else if (talk->code == CLI_LATE)
        cli_say_seconds(talk->failure);
    free(reason);
}

/* Birth and death. */

static int open_files(struct talk *talk) {
    const char *errors = talk->options->errors;
    if (errors && strcmp(errors, "tail") != 0 && strcmp(errors, "quiet") != 0 &&
        strcmp(errors, "inherit") != 0) {
        talk->errors = fopen(errors, "we");
        if (!talk->errors)
            return cli_fail(CLI_USAGE, "cannot write '%s': %s", errors, strerror(errno));
    }
    return cli_record_open(talk->options->record, &talk->recorder);
}

static bool is_revision(const char *word) {
    for (size_t i = 0; dx_mcp_revision(i); i++)
        if (strcmp(word, dx_mcp_revision(i)) == 0)
            return true;
    return false;
}

static int tell_revisions(const char *word) {
    char *all = NULL;
    size_t len;
    FILE *out = open_memstream(&all, &len);
    for (size_t i = 0; out && dx_mcp_revision(i); i++)
        fprintf(out, "%s%s", i ? ", " : "", dx_mcp_revision(i));
    if (out)
        fclose(out);
    int code = cli_fail(CLI_USAGE, "--revision: unknown revision '%s', expected one of %s", word,
                        all ? all : "");
    free(all);
    return code;
}

/* The newest revision is all that there is of the modern era. */
static int choose_revision(const struct talk *talk, dx_mcp_client_config *config) {
    const char *mode = talk->options->mode;
    const char *revision =
        talk->options->revision ? talk->options->revision : talk->server.revision;
    config->mode = !mode || strcmp(mode, "legacy") == 0 ? DX_MCP_LEGACY
                   : strcmp(mode, "modern") == 0        ? DX_MCP_MODERN
                                                        : DX_MCP_AUTO;
    if (!revision)
        return CLI_OK;
    if (!is_revision(revision))
        return tell_revisions(revision);
    bool is_modern = strcmp(revision, dx_mcp_revision(0)) == 0;
    if (!mode && is_modern)
        config->mode = DX_MCP_MODERN;
    if (mode && config->mode == (is_modern ? DX_MCP_LEGACY : DX_MCP_MODERN))
        return cli_fail(CLI_USAGE, "--revision %s does not work with --mode %s", revision, mode);
    config->revision = revision;
    return CLI_OK;
}

/* --timeout is a limit also for what takes several requests: the pages of a list, the state of a
 * task. For a single one it speaks first, since its message is the clearer one. */
static void set_total(struct talk *talk) {
    const struct mcp_options *options = talk->options;
    talk->total_ms = cli_total(options->total_ms, talk->timeout_ms);
    talk->is_hard = options->timeout_ms && !options->reset && talk->total_ms > LATER_MS &&
                    options->timeout_ms < talk->total_ms - LATER_MS;
    if (talk->is_hard)
        talk->total_ms = options->timeout_ms + LATER_MS;
}

/* The library's clock does not stop while the user is asked something. */
static void set_times(struct talk *talk, dx_mcp_client_config *config) {
    const struct mcp_options *options = talk->options;
    talk->timeout_ms = options->timeout_ms       ? options->timeout_ms
                       : talk->server.timeout_ms ? talk->server.timeout_ms
                                                 : config->timeout_ms;
    set_total(talk);
    config->timeout_ms = talk->interactive ? DX_NEVER : talk->timeout_ms;
    config->total_ms = talk->interactive ? DX_NEVER : talk->total_ms;
    config->start_ms = cli_start_time(options->start_ms, options->timeout_ms, config->start_ms);
    if (options->probe_ms)
        config->probe_ms = options->probe_ms;
}

static int configure(struct talk *talk, dx_mcp_client_config *config) {
    const struct mcp_options *options = talk->options;
    *config = dx_mcp_client_defaults("duplex", DX_VERSION);
    int code = choose_revision(talk, config);
    if (code != CLI_OK)
        return code;
    config->argv = talk->server.argv;
    config->address = talk->server.connect;
    config->in = config->out = talk->server.attached.fd;
    config->cwd = talk->server.cwd;
    config->env = talk->server.env;
    config->inherit_env = talk->server.inherit_env;
    config->recorder = talk->recorder;
    config->ids =
        options->ids && strcmp(options->ids, "counter") == 0 ? DX_IDS_COUNTER : DX_IDS_RANDOM;
    config->strict = options->strict;
    set_times(talk, config);
    config->user = talk;
    config->on_ready = on_ready;
    config->on_closed = on_closed;
    news_configure(talk, config);
    ask_configure(talk, config);
    return CLI_OK;
}

/* In the words of the client, which speaks only once the server has exited. */
static int tell_late(struct talk *talk, const char *method, uint64_t start_ms) {
    char message[300];
    snprintf(message, sizeof message, "the server did not answer %s within %llu ms%s", method,
             (unsigned long long)start_ms, late_start(talk));
    cli_say_seconds(message);
    return talk_tell(talk, CLI_LATE, message, NULL, NULL);
}

static int start(struct talk *talk) {
    dx_error error = {.fault = DX_FAULT_NONE};
    dx_mcp_client_config config;
    int code = configure(talk, &config);
    if (code != CLI_OK)
        return code;
    bool starts_none = talk->options->connect || talk->options->in;
    if (cli_loop_new(talk->options->keep_daemons || starts_none, &talk->loop, &error) != DX_OK)
        return cli_fail(CLI_NO_START, "%s", error.phrase);
    talk->limiter = dx__log_limiter_new(talk->loop, news_on_summary, talk);
    if (!talk->limiter)
        return cli_fail(CLI_NO_START, "out of memory");
    dx_status status = dx_mcp_client_open(talk->loop, &config, &talk->client, &error);
    if (status != DX_OK)
        return cli_fail(status == DX_ERR_INVALID ? CLI_USAGE : CLI_NO_START, "%s",
                        error.fault ? error.phrase : dx_status_name(status));
    talk->server.attached.fd = -1; /* the client's now */
    code = roots_add(talk);
    /* The client tells when it is late, but only once the server has left. */
    uint64_t until = config.mode == DX_MCP_AUTO || config.start_ms > CLI_NEVER / 2
                         ? CLI_NEVER
                         : cli_now() + config.start_ms + LATER_MS;
    const char *method = config.mode == DX_MCP_LEGACY ? "initialize" : "server/discover";
    talk_waits_for(talk, method, config.start_ms);
    while (code == CLI_OK && !talk->ready && !talk->closed && !talk_is_interrupted(talk) &&
           cli_now() < until)
        talk_wait(talk, until);
    cli_waiting_end();
    if (code == CLI_OK && talk_is_interrupted(talk))
        return talk_tell_interrupt();
    if (code == CLI_OK && !talk->ready && !talk->closed)
        return tell_late(talk, method, config.start_ms);
    if (code == CLI_OK && !talk->ready)
        return talk_tell(talk, talk->code, talk->failure, NULL, NULL);
    return code;
}

static void forget(struct talk *talk) {
    ask_forget(talk);
    dx_mcp_client_free(talk->client);
    dx__log_limiter_free(talk->limiter);
    cli_loop_free(talk->loop);
    cli_record_close(talk->recorder);
    if (talk->errors && fclose(talk->errors) != 0)
        cli_note("cannot write '%s': %s", talk->options->errors, strerror(errno));
    server_done(&talk->server);
    free(talk->failure);
}

int talk_open(const struct mcp_options *options, char **command, struct talk *ret_talk) {
    return talk_open_with(options, command, &(struct talk_hooks){.on_log = NULL}, ret_talk);
}

int talk_open_with(const struct mcp_options *options, char **command,
                   const struct talk_hooks *hooks, struct talk *ret_talk) {
    *ret_talk = (struct talk){.options = options,
                              .hooks = *hooks,
                              .interactive = !cli_voice.json && isatty(0) && isatty(2),
                              .began_us = dx_recorder_now_us()};
    int code = ask_check(options);
    if (code == CLI_OK)
        code = server_find(options, command, &ret_talk->server);
    if (code == CLI_OK)
        code = open_files(ret_talk);
    if (code == CLI_OK) {
        cli_catch_signals();
        code = start(ret_talk);
    }
    if (code == CLI_OK)
        code = news_set_level(ret_talk);
    return code == CLI_OK ? CLI_OK : talk_close(ret_talk, code);
}

int talk_close(struct talk *talk, int code) {
    int before = cli_interrupts();
    talk_clear_line(talk);
    talk->closing = true;
    if (talk->client && !talk->closed)
        dx_mcp_client_close(talk->client);
    uint64_t until = code == CLI_LATE ? cli_now() + CLI_LATE_LEAVE_MS : CLI_NEVER;
    while (talk->client && !talk->closed && cli_interrupts() == before && cli_now() < until)
        cli_wait(talk->loop, until);
    if (cli_interrupts() != before && code == CLI_OK)
        code = talk_tell_interrupt();
    forget(talk);
    return code;
}

dx_mcp_call_options talk_call_options(struct talk *talk) {
    const struct mcp_options *options = talk->options;
    return (dx_mcp_call_options){.reset = options->reset,
                                 .on_progress =
                                     options->progress || options->reset ? news_on_progress : NULL};
}
