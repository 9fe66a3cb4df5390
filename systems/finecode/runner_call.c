/* Calls that others make: each ends once, also if the process is killed under it. */
#include "systems/finecode/runner.h"

static void unlink_call(dx__finecode_call *call) {
    dx__finecode_call **at = &call->runner->calls;
    while (*at != call)
        at = &(*at)->next;
    *at = call->next;
}

static void on_done(dx_link *link, const dx_event *event, void *user) {
    dx__finecode_call *call = user;
    dx_finecode_runner *runner = call->runner;
    dx__finecode_call_options options = call->options;
    (void)link;
    unlink_call(call);
    dx__free(&runner->wm->alloc, call);
    runner->last_use = ++runner->wm->last_use;
    if (runner->wm->first_queued) /* for its place */
        dx__finecode_wm_wake(runner->wm);
    if (options.on_done)
        options.on_done(runner, event, options.user);
}

static void on_progress(dx_link *link, const dx_event *event, void *user) {
    dx__finecode_call *call = user;
    (void)link;
    if (call->options.on_progress)
        call->options.on_progress(call->runner, event, call->options.user);
}

/* Who says again and again that it is at work still has to come to an end some day. */
static uint64_t total_of(const dx_finecode_wm *wm, uint64_t ms) {
    uint64_t total = dx__finecode_time(wm->config.total_ms);
    return total > ms ? total : ms;
}

dx_status dx__finecode_runner_call(dx_finecode_runner *runner, const char *method, dx_json params,
                                   const dx__finecode_call_options *options, dx_call *ret_call) {
    const dx_allocator *alloc = &runner->wm->alloc;
    dx_link_call_options link_options = {.on_done = on_done, .on_progress = on_progress};
    if (!dx__finecode_runner_is_ready(runner))
        return DX_CLOSED;
    dx__finecode_call *call = dx__malloc(alloc, sizeof *call);
    if (!call)
        return DX_ERR_NOMEM;
    *call = (dx__finecode_call){.runner = runner, .options = *options};
    call->options.token = (dx_text){NULL, 0}; /* is only lent */
    link_options.peer.timeout_ms = options->ms;
    link_options.peer.reset = options->reset;
    if (options->reset)
        link_options.peer.total_ms = total_of(runner->wm, options->ms);
    link_options.peer.token = options->token;
    link_options.peer.user = call;
    dx_status status =
        dx_link_call(runner->link, dx_str(method), params, &link_options, &call->call);
    if (status != DX_OK) {
        dx__free(alloc, call);
        return status;
    }
    dx__finecode_call **end = &runner->calls;
    while (*end)
        end = &(*end)->next;
    *end = call;
    if (ret_call)
        *ret_call = call->call;
    return DX_OK;
}

void dx__finecode_runner_cancel(dx_finecode_runner *runner, dx_call call) {
    for (const dx__finecode_call *one = runner->calls; one; one = one->next)
        if (one->call == call && !one->is_lost && runner->link) {
            (void)dx_link_cancel(runner->link, call, (dx_text){NULL, 0});
            return;
        }
}

/* They end as all do, but nobody hears of it. */
void dx__finecode_runner_calls_forget(dx_finecode_runner *runner, const void *user) {
    for (dx__finecode_call *call = runner->calls; call; call = call->next) {
        if (call->options.user != user)
            continue;
        call->options.on_done = NULL;
        call->options.on_progress = NULL;
        call->options.user = NULL;
        if (runner->link && !call->is_lost)
            (void)dx_link_cancel(runner->link, call->call, (dx_text){NULL, 0});
    }
}

/* Those whose link is gone. */

void dx__finecode_runner_calls_lost(dx_finecode_runner *runner) {
    for (dx__finecode_call *call = runner->calls; call; call = call->next)
        call->is_lost = true;
    if (runner->calls)
        dx__finecode_wm_wake(runner->wm);
}

static dx__finecode_call *first_lost(const dx_finecode_runner *runner) {
    for (dx__finecode_call *call = runner->calls; call; call = call->next)
        if (call->is_lost)
            return call;
    return NULL;
}

bool dx__finecode_runner_tell_lost(dx_finecode_runner *runner) {
    dx__finecode_call *call = first_lost(runner);
    dx_event event = {.kind = DX_EVENT_DONE, .outcome = DX_OUTCOME_LOST};
    if (!call)
        return false;
    event.call = call->call;
    event.error.fault = DX_FAULT_ENDED;
    dx__say_str(event.error.phrase, sizeof event.error.phrase,
                runner->why[0] ? runner->why : "the runner is gone");
    event.user = call->options.user;
    on_done(NULL, &event, call);
    return true;
}

void dx__finecode_runner_calls_free(dx_finecode_runner *runner) {
    while (runner->calls) {
        dx__finecode_call *call = runner->calls;
        runner->calls = call->next;
        dx__free(&runner->wm->alloc, call);
    }
}
