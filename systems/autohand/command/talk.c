#include "systems/autohand/command/talk.h"

#include "systems/autohand/command/ask.h"
#include "systems/autohand/command/diff.h"
#include "systems/autohand/command/show.h"

#include "cli/record.h"
#include "cli/say.h"
#include "cli/subreaper.h"
#include "cli/traffic.h"
#include "cli/wait.h"
#include "cli/waiting.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool talk_is_interrupted(const struct talk *talk) {
    return cli_interrupts() != talk->interrupts;
}

int talk_worse(int one, int other) {
    return one == CLI_OK ? other : one;
}

void talk_wait(struct talk *talk, uint64_t until) {
    ask_wait(talk, until);
}

dx_status talk_abort(struct talk *talk) {
    dx_status status = dx_autohand_client_abort(talk->client);
    talk->stopped = talk->stopped || status == DX_OK;
    return status;
}

/* What the agent asks for. */

static void on_permission(dx_autohand_client *client, const dx_autohand_permission *permission,
                          void *user) {
    struct talk *talk = user;
    bool yes = talk->permit == WAY_YES;
    if (talk->permit == WAY_ASK && ask_permission(talk, permission))
        return;
    (void)dx_autohand_client_permit(
        client, permission->id, yes ? DX_AUTOHAND_ALLOW_ONCE : DX_AUTOHAND_DENY_ONCE, dx_str(NULL));
    show_permit(talk, permission, yes ? "allow_once" : "deny_once", "option");
}

/* What can't be applied is no error of the protocol: the result says so. */
static void on_decided(dx_autohand_client *client, yyjson_val *value, const dx_error *error,
                       void *user) {
    struct talk *talk = user;
    (void)client;
    talk->deciding = false;
    if (value)
        show_decision(talk, value);
    bool good = value && yyjson_get_bool(yyjson_obj_get(value, "success"));
    if (!good && (talk->accepted || !value))
        talk->code =
            talk_worse(talk->code, cli_fail(CLI_MISFIT, "the changes were not applied%s%s",
                                            value ? "" : ": ", value ? "" : error->phrase));
}

void talk_decide(struct talk *talk, dx_text batch, bool accept, const dx_text *ids, size_t count) {
    dx_status status =
        dx_autohand_client_decide(talk->client, batch, accept, ids, count, on_decided, talk);
    talk->accepted = accept;
    talk->deciding = status == DX_OK;
    if (status != DX_OK)
        talk->code = talk_worse(talk->code, cli_fail(CLI_MISFIT, "the changes were not applied: %s",
                                                     dx_status_name(status)));
}

static void on_changes(dx_autohand_client *client, dx_text batch, const dx_autohand_change *changes,
                       size_t count, void *user) {
    enum { LINES_MAX = 20000 };
    struct talk *talk = user;
    size_t left = LINES_MAX;
    (void)client;
    show_end(talk);
    /* Nobody is asked about what was not shown. */
    if (!cli_voice.json && (!talk->options->quiet || talk->changes == WAY_ASK))
        for (size_t i = 0; i < count; i++)
            diff_put(stderr, &changes[i], i + 1, &left);
    if (talk->changes == WAY_LEAVE) {
        show_remark(talk, "left", "changes left undecided: ", batch);
        return;
    }
    if (talk->changes == WAY_ASK && ask_changes(talk, batch, changes, count))
        return;
    /* --yes is for a turn that was let to its end. */
    if (talk->changes == WAY_YES && talk->stopped)
        cli_note("rejecting the changes of the turn, because it was aborted");
    talk_decide(talk, batch, talk->changes == WAY_YES && !talk->stopped, NULL, 0);
    if (talk->by_default)
        talk->code = talk_worse(talk->code,
                                cli_fail_hint(CLI_MISFIT, "pass --yes, --no or --changes",
                                              "%zu change%s rejected, because there is no terminal"
                                              " to ask on",
                                              count, count == 1 ? " was" : "s were"));
}

static void on_turn(dx_autohand_client *client, const dx_autohand_turn *turn, void *user) {
    struct talk *talk = user;
    (void)client;
    talk->turning = false;
    talk->success = turn->success;
    talk->aborted = turn->aborted;
    talk->error_code = turn->code;
    free(talk->error);
    talk->error = turn->error.at ? strndup(turn->error.at, turn->error.len) : NULL;
    ask_withdraw(talk);
    show_turn(talk, turn);
    ask_next(talk);
}

/* News. */

static void on_event(dx_autohand_client *client, const dx_autohand_event *event, void *user) {
    struct talk *talk = user;
    (void)client;
    talk->ready = talk->ready || event->kind == DX_AUTOHAND_AGENT_START;
    cli_waiting_end();
    show_event(talk, event);
}

/* An agent that leaves out a member does so in every message. */
static bool is_news(struct talk *talk, const char *phrase) {
    const size_t most = sizeof talk->misfits / sizeof *talk->misfits;
    for (size_t i = 0; i < talk->misfit_count; i++)
        if (talk->misfits[i] && strcmp(talk->misfits[i], phrase) == 0)
            return false;
    if (talk->misfit_count == most)
        return false;
    talk->misfits[talk->misfit_count++] = strdup(phrase);
    return true;
}

/* What the agent does or writes besides its turns. */
enum { VIOLATION, STRAY, ERRORS };
static bool is_shown(struct talk *talk, int kind, dx_text text) {
    return dx__log_limiter_pass(talk->limiter, "", kind, text);
}

static void on_summary(const char *peer, const char *text, void *user) {
    struct talk *talk = user;
    (void)peer;
    show_remark(talk, "suppressed", "", dx_str(text));
}

static void on_violation(dx_autohand_client *client, const char *phrase, void *user) {
    struct talk *talk = user;
    (void)client;
    talk->tail.written.messages++;
    if (cli_voice.json ? is_shown(talk, VIOLATION, dx_str(phrase)) : is_news(talk, phrase))
        show_remark(talk, "violation", "", dx_str(phrase));
}

static void on_stray(dx_autohand_client *client, dx_text line, void *user) {
    struct talk *talk = user;
    (void)client;
    const char *warning = cli_tail_noise(&talk->tail, "the agent", line);
    if (warning && !cli_voice.json) {
        show_break(talk);
        cli_warn("%s", warning);
    }
    if (cli_voice.json && is_shown(talk, STRAY, line))
        show_json_remark("stray", line);
}

static void on_errors(dx_autohand_client *client, dx_text line, void *user) {
    struct talk *talk = user;
    (void)client;
    cli_tail_keep(&talk->tail, "", line);
    if ((!cli_voice.json && !talk->options->show) || !is_shown(talk, ERRORS, line))
        return;
    if (cli_voice.json) {
        show_json_remark("stderr", line);
    } else {
        show_break(talk);
        cli_put_safe(stderr, line);
        putc('\n', stderr);
    }
}

static void on_traffic(void *user, int out, dx_text text, size_t framed) {
    struct talk *talk = user;
    (void)framed;
    show_break(talk);
    cli_show(stderr, dx_recorder_now_us() - talk->began_us, out, NULL, text);
}

/* The end. */

static int code_of(dx_fault fault) {
    switch (fault) {
    case DX_FAULT_NONE:
    case DX_FAULT_TRUNCATED:
    case DX_FAULT_ENDED:
    case DX_FAULT_SYSTEM:
    case DX_FAULT_EXITED:
    case DX_FAULT_KILLED:
        return CLI_ENDED;
    case DX_FAULT_TIMEOUT:
        return CLI_LATE;
    case DX_FAULT_START:
        return CLI_NO_START;
    default:
        return CLI_VIOLATION;
    }
}

static void on_gone(dx_autohand_client *client, const dx_gone *gone, void *user) {
    struct talk *talk = user;
    (void)client;
    dx__log_limiter_flush(talk->limiter, NULL);
    talk->gone = true;
    talk->gone_code = code_of(gone->error.fault);
    bool late = !talk->ready && talk->gone_code == CLI_LATE;
    free(talk->failure);
    if (asprintf(&talk->failure, "%s%s",
                 gone->error.fault ? gone->error.phrase : "the agent exited with code 0",
                 late ? " (--start-timeout)" : "") < 0)
        talk->failure = NULL;
}

int talk_tell_gone(struct talk *talk) {
    if (!talk->told)
        cli_tail_fail(&talk->tail, NULL, talk->gone_code, talk->failure, NULL, NULL);
    talk->told = talk->leaves = true;
    return talk->gone_code;
}

/* The beginning. */

static int set_ways(struct talk *talk) {
    const struct autohand_options *options = talk->options;
    const char *changes = options->changes;
    if (options->yes + options->no + options->ask > 1)
        return cli_fail(CLI_USAGE, "--yes, --no and --ask cannot be used together");
    talk->at_terminal = isatty(0) && isatty(2);
    /* With --json a program may answer. */
    talk->interactive = talk->at_terminal || (options->ask && cli_voice.json);
    way asked = talk->interactive ? WAY_ASK : WAY_NO;
    talk->permit = options->yes ? WAY_YES : options->no ? WAY_NO : asked;
    talk->changes = !changes                         ? talk->permit
                    : strcmp(changes, "accept") == 0 ? WAY_YES
                    : strcmp(changes, "reject") == 0 ? WAY_NO
                    : strcmp(changes, "leave") == 0  ? WAY_LEAVE
                                                     : asked;
    talk->by_default =
        talk->changes == WAY_NO && !(changes ? strcmp(changes, "reject") == 0 : options->no);
    return CLI_OK;
}

/* What the program's own clients set, so that tools stream. */
static int set_env(struct talk *talk) {
    static const char streams[] = "AUTOHAND_STREAM_TOOL_OUTPUT=1";
    const cli_list *env = &talk->options->env;
    size_t used = 0;
    bool given = false;
    int code = cli_check_env(env, talk->options->clean_env, talk->options->inherit_env);
    if (code != CLI_OK)
        return code;
    talk->env = calloc(env->count + 2, sizeof *talk->env);
    if (!talk->env)
        return cli_fail(CLI_NO_START, "out of memory");
    for (size_t i = 0; i < env->count; i++) {
        given = given || strncmp(env->at[i], streams, strcspn(streams, "=") + 1) == 0;
        talk->env[used++] = env->at[i];
    }
    if (!given)
        talk->env[used] = streams;
    return CLI_OK;
}

static dx_autohand_client_config configure(struct talk *talk, char **command) {
    const struct autohand_options *options = talk->options;
    dx_autohand_client_config config =
        dx_autohand_client_defaults((const char *const *)(void *)command);
    config.child.cwd = options->cwd;
    config.child.env = talk->env;
    config.child.inherit_env = !options->clean_env;
    if (options->show) {
        config.child.link.peer.observe = on_traffic;
        config.child.link.peer.observe_user = talk;
    }
    if (options->start_ms)
        config.start_ms = options->start_ms;
    config.on_event = on_event;
    config.on_permission = on_permission;
    config.on_changes = on_changes;
    config.on_turn = on_turn;
    config.on_violation = on_violation;
    config.on_stray = on_stray;
    config.on_errors = on_errors;
    config.on_gone = on_gone;
    config.user = talk;
    config.recorder = talk->recorder;
    return config;
}

static int start(struct talk *talk, char **command) {
    dx_error error = {.fault = DX_FAULT_NONE};
    if (cli_loop_new(talk->options->keep_daemons, &talk->loop, &error) != DX_OK)
        return cli_fail(CLI_NO_START, "%s", error.phrase);
    dx_autohand_client_config config = configure(talk, command);
    talk->limiter = dx__log_limiter_new(talk->loop, on_summary, talk);
    if (!talk->limiter)
        return cli_fail(CLI_NO_START, "out of memory");
    if (dx_autohand_client_start(talk->loop, &config, &talk->client, &error) != DX_OK)
        return cli_fail(CLI_NO_START, "%s", error.phrase);
    cli_waiting_begin(&(cli_waiting){.what = "the agent",
                                     .who = "the agent has",
                                     .most_ms = config.start_ms,
                                     .written = &talk->tail.written});
    return CLI_OK;
}

int talk_open(const struct autohand_options *options, char **command, struct talk *ret_talk) {
    *ret_talk = (struct talk){.options = options, .began_us = dx_recorder_now_us()};
    if (!command || !command[0])
        return cli_fail_hint(CLI_USAGE,
                             "put the agent's command line after --: -- duplex autohand agent",
                             "missing agent command after --");
    int code = set_ways(ret_talk);
    if (code == CLI_OK)
        code = set_env(ret_talk);
    if (code == CLI_OK)
        code = cli_record_open(options->record, &ret_talk->recorder);
    if (code == CLI_OK) {
        cli_catch_signals();
        code = start(ret_talk, command);
    }
    return code == CLI_OK ? CLI_OK : talk_close(ret_talk, code);
}

int talk_close(struct talk *talk, int code) {
    int before = cli_interrupts();
    cli_waiting_end();
    show_end(talk);
    if (talk->client && !talk->gone)
        dx_autohand_client_stop(talk->client);
    while (talk->client && !talk->gone && cli_interrupts() == before)
        cli_wait(talk->loop, CLI_NEVER);
    ask_forget(talk);
    show_forget(talk);
    dx_autohand_client_free(talk->client);
    dx__log_limiter_free(talk->limiter);
    cli_loop_free(talk->loop);
    cli_record_close(talk->recorder);
    for (size_t i = 0; i < talk->misfit_count; i++)
        free(talk->misfits[i]);
    free(talk->env);
    free(talk->failure);
    free(talk->error);
    return code;
}

/* A turn. */

/* The first one aborts the turn, the second one all. */
static void interrupt(struct talk *talk, bool *cut) {
    talk->interrupts = cli_interrupts();
    show_break(talk);
    if (*cut || !talk->turning) {
        talk->leaves = true;
    } else {
        cli_note("aborting the turn; press Ctrl-C again to exit at once");
        (void)talk_abort(talk);
    }
    *cut = true;
}

static int tell_turn(struct talk *talk, bool cut) {
    const char *why = talk->error ? talk->error : "the agent gave no reason";
    if (cut)
        return cli_fail(CLI_INTERRUPTED, "interrupted");
    if (talk->gone)
        return talk_tell_gone(talk);
    if (talk->late)
        return cli_fail(CLI_LATE, "the turn timed out (--timeout) and was aborted");
    if (talk->success)
        return talk->code;
    if (talk->error_code)
        return cli_fail(CLI_REFUSED, "the turn %s: %s (%lld)",
                        talk->aborted ? "was aborted" : "failed", why, (long long)talk->error_code);
    return cli_fail(CLI_REFUSED, "the turn failed: %s", why);
}

/* It has a while to end the turn; a shorter one if we are told to end, and not only by a key. */
enum { ABORT_MS = 5000, TOLD_MS = 2000 };

static uint64_t end_late(struct talk *talk) {
    if (talk->late)
        talk->leaves = true;
    talk->late = true;
    (void)talk_abort(talk);
    return cli_now() + ABORT_MS;
}

static bool is_busy(const struct talk *talk) {
    return (talk->turning || talk->deciding || talk->asks) && !talk->gone && !talk->leaves;
}

/* Nothing can be said to it any more: it is on its way out. */
static int await_gone(struct talk *talk) {
    while (!talk->gone && !talk_is_interrupted(talk))
        talk_wait(talk, DX_NEVER);
    talk->leaves = true;
    return talk->gone ? talk_tell_gone(talk) : cli_fail(CLI_INTERRUPTED, "interrupted");
}

int talk_turn(struct talk *talk, const dx_autohand_prompt *prompt) {
    dx_error error = {.fault = DX_FAULT_NONE};
    uint64_t limit = talk->options->timeout_ms;
    uint64_t until = DX_NEVER;
    uint64_t leave_at = DX_NEVER;
    bool cut = false;
    if (talk->gone)
        return talk_tell_gone(talk);
    dx_status status = dx_autohand_client_prompt(talk->client, prompt, &error);
    if (status == DX_CLOSED)
        return await_gone(talk);
    if (status != DX_OK)
        return cli_fail(CLI_USAGE, "%s", error.phrase);
    talk->turning = true;
    talk->late = talk->stopped = false;
    talk->code = CLI_OK;
    if (limit && limit != CLI_NEVER)
        until = cli_now() + limit;
    while (is_busy(talk)) {
        uint64_t now = cli_now();
        bool asked = talk->asks;
        /* What is late is the turn; its changes are decided in the time that they take. */
        uint64_t late_at = asked || !talk->turning ? DX_NEVER : until;
        talk_wait(talk, late_at < leave_at ? late_at : leave_at);
        /* The time that the user takes does not count. */
        if (asked && until != DX_NEVER)
            until += cli_now() - now;
        if (talk_is_interrupted(talk)) {
            interrupt(talk, &cut);
            if (cli_is_told_to_end())
                leave_at = cli_now() + TOLD_MS;
        }
        talk->leaves |= cli_now() >= leave_at;
        if (cli_now() >= until && talk->turning)
            until = end_late(talk);
    }
    return tell_turn(talk, cut);
}
