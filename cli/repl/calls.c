/* Calls that are under way. */
#include "cli/repl/repl.h"

#include "cli/say.h"
#include "cli/wait.h"

#include <stdlib.h>
#include <string.h>

enum { SLOW_MS = 2000 };

static void call_free(struct repl_call *call) {
    if (!call)
        return;
    failure_done(&call->failure);
    free(call->method);
    free(call->params);
    free(call);
}

static size_t bytes_of(const char *params) {
    return params ? strlen(params) : 0;
}

bool repl_is_full(const struct repl *repl) {
    return repl->calls_count >= REPL_CALLS_MAX || repl->calls_bytes > REPL_CALLS_BYTES;
}

static void remove_call(struct repl_call *call) {
    struct repl *repl = call->repl;
    struct repl_call **at = &repl->calls;
    while (*at != call)
        at = &(*at)->next;
    *at = call->next;
    repl->calls_count--;
    repl->calls_bytes -= bytes_of(call->params);
    call_free(call);
}

static void tell(struct repl_call *call) {
    struct repl *repl = call->repl;
    size_t line = cli_voice.line;
    cli_voice.line = call->line;
    repl_show_failure(call);
    cli_voice.line = line;
    /* Who cancels something wants it to end so. */
    if (!call->cancelled || call->failure.code != CLI_INTERRUPTED)
        repl_note(repl, call->failure.code);
    repl->lost_calls += call->lost;
    remove_call(call);
}

static void on_done(dx_link *link, const dx_event *event, void *user) {
    struct repl_call *call = user;
    struct contact *contact = dx_link_user(link);
    int code = contact_code(event);
    contact_hear(contact, event);
    cli_note_mended(call->method, event->mended);
    call->repl->calls_open--;
    call->ended = true;
    call->lost = event->outcome == DX_OUTCOME_LOST;
    if (code == CLI_OK) {
        repl_show_result(call, event);
        remove_call(call);
        return;
    }
    failure_of(&call->failure, call->method, event);
    call->took_us = dx_recorder_now_us() - call->began_us;
    /* How the peer ended is known soon, and whether its framing was the wrong one, too. */
    bool waits = code == CLI_ENDED || (!contact->heard && code != CLI_INTERRUPTED);
    if (!waits)
        tell(call);
}

static void on_progress(dx_link *link, const dx_event *event, void *user) {
    (void)link;
    repl_show_progress(user, event);
}

static dx_status send(struct repl_call *call) {
    dx_link_call_options options = {
        .peer = {.user = call}, .on_done = on_done, .on_progress = on_progress};
    call->began_us = dx_recorder_now_us();
    call->slow_at = call->repl->typed ? cli_now() + SLOW_MS : DX_NEVER;
    return session_send(call->repl->session, call->method, call->params, call->number, &options,
                        &call->call);
}

static struct repl_call *new_call(struct repl *repl, const char *method, const char *params) {
    struct repl_call *call = calloc(1, sizeof *call);
    if (!call)
        return NULL;
    *call = (struct repl_call){.repl = repl,
                               .number = repl->last_call + 1,
                               .line = cli_voice.line,
                               .method = strdup(method),
                               .params = params ? strdup(params) : NULL};
    if (!call->method || (params && !call->params)) {
        call_free(call);
        return NULL;
    }
    return call;
}

int repl_call(struct repl *repl, const char *method, const char *params, uint64_t *ret_number) {
    struct repl_call **end = &repl->calls;
    if (repl_is_full(repl))
        return cli_fail(CLI_USAGE,
                        "%zu calls are already pending: wait for one to finish, or cancel it",
                        repl->calls_count);
    int code = session_check_method(repl->session, method, false, "");
    if (code != CLI_OK)
        return code;
    struct repl_call *call = new_call(repl, method, params);
    if (!call)
        return cli_fail(CLI_NO_START, "out of memory");
    dx_status status = send(call);
    if (status != DX_OK) {
        call_free(call);
        return session_tell_unsent(repl->session, method, status);
    }
    while (*end)
        end = &(*end)->next;
    *end = call;
    repl->calls_count++;
    repl->calls_open++;
    repl->calls_bytes += bytes_of(params);
    *ret_number = repl->last_call = call->number;
    return CLI_OK;
}

struct repl_call *repl_call_find(const struct repl *repl, uint64_t number) {
    struct repl_call *call = repl->calls;
    while (call && call->number != number)
        call = call->next;
    return call;
}

int repl_cancel(struct repl *repl, struct repl_call *call) {
    dx_link *link = repl_link(repl);
    dx_status status = link ? dx_link_cancel(link, call->call, dx_str(NULL)) : DX_CLOSED;
    call->cancelled = true;
    if (status == DX_OK || status == DX_GONE)
        return CLI_OK;
    return cli_fail(CLI_USAGE, "cannot cancel %s: %s", call->method, dx_status_name(status));
}

void repl_calls_again(struct repl *repl) {
    repl->calls_open = 0;
    for (struct repl_call *call = repl->calls, *next; call; call = next) {
        next = call->next;
        failure_done(&call->failure);
        call->ended = call->lost = false;
        dx_status status = send(call);
        if (status == DX_OK) {
            repl->calls_open++;
            continue;
        }
        repl_note(repl, session_tell_unsent(repl->session, call->method, status));
        remove_call(call);
    }
}

void repl_calls_tell(struct repl *repl, bool gone) {
    for (struct repl_call *call = repl->calls, *next; call; call = next) {
        next = call->next;
        if (!call->ended || (call->failure.code == CLI_ENDED && !gone))
            continue;
        tell(call);
    }
}

uint64_t repl_calls_slow_at(const struct repl *repl) {
    uint64_t at = DX_NEVER;
    for (const struct repl_call *call = repl->calls; call; call = call->next)
        if (!call->ended && call->slow_at < at)
            at = call->slow_at;
    return at;
}

void repl_calls_tell_slow(struct repl *repl) {
    uint64_t now = cli_now();
    for (struct repl_call *call = repl->calls; call; call = call->next) {
        if (call->ended || call->slow_at > now)
            continue;
        call->slow_at = DX_NEVER;
        cli_note("still waiting for %s; 'cancel %llu' cancels it", call->method,
                 (unsigned long long)call->number);
    }
}

void repl_calls_forget(struct repl *repl) {
    for (struct repl_call *call = repl->calls, *next; call; call = next) {
        next = call->next;
        if (call->ended)
            remove_call(call);
    }
}

void repl_calls_free(struct repl *repl) {
    for (struct repl_call *call = repl->calls, *next; call; call = next) {
        next = call->next;
        call_free(call);
    }
    repl->calls = NULL;
    repl->calls_count = repl->calls_open = repl->calls_bytes = 0;
}
