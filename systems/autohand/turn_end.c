/* The end of a turn: once, whatever happened. */
#include "systems/autohand/core_parts.h"
#include "systems/autohand/files_parts.h"

#include <stdio.h>

/* A model must be given a result for each call that it made: also for those that never ran. */
static void close_calls(struct dx__autohand_turn *turn, const char *why) {
    bool was_said = turn->answered; /* then the calls are part of the history */
    for (size_t i = turn->settled; i < turn->work_count; i++) {
        struct dx__autohand_work *work = turn->works[i];
        struct dx__autohand_message message = {.role = DX__ROLE_TOOL,
                                               .call_id = dx_str(work->id),
                                               .name = dx_str(work->call.tool_name),
                                               .text = dx_str(why)};
        bool done = work->stage == DX__WORK_DONE && work->result;
        if (!done)
            dx__autohand_work_abort(work);
        else
            message.text = (dx_text){work->result, work->result_len};
        if (was_said && dx__autohand_history_add(turn->agent, &message) != DX_OK)
            was_said = false;
    }
    dx__autohand_turn_drop_calls(turn);
}

/* What was said before it was cut off was said. */
static void keep_rest(struct dx__autohand_turn *turn) {
    struct dx__autohand_message message = {.role = DX__ROLE_ASSISTANT,
                                           .text = {turn->answer.data, turn->answer.len}};
    bool cut = turn->stage == DX__TURN_MODEL && !turn->answered && turn->answer.len;
    if (cut && dx__autohand_core_is_doc(turn->agent))
        (void)dx__autohand_history_add(turn->agent, &message);
}

/* Nothing of it happens any more. */
static void stop(struct dx__autohand_turn *turn, const char *why) {
    dx__autohand_turn_hush(turn);
    dx__autohand_hooks_drop(turn->hooking);
    turn->hooking = NULL;
    dx__autohand_turn_tell(turn);
    keep_rest(turn);
    close_calls(turn, why);
    turn->stage = DX__TURN_OVER;
    dx_timer_set(turn->pump, DX_NEVER);
    dx_timer_set(turn->ping, DX_NEVER);
}

static void tell_failure(struct dx__autohand_turn *turn, int64_t code, const char *type,
                         bool recoverable, const char *why) {
    dx_autohand_agent *agent = turn->agent;
    struct dx__autohand_occasion error = dx__autohand_occasion_of(DX__HOOK_SESSION_ERROR);
    char number[24];
    (void)snprintf(number, sizeof number, "%lld", (long long)code);
    dx__autohand_tell_error(agent, code, type, recoverable, dx_str(why));
    error.error = dx_str(why);
    error.error_code = dx_str(number);
    dx__autohand_tell_hook(agent, &error);
    dx__autohand_agent_occasion(agent, &error);
}

static void tell_stop(struct dx__autohand_turn *turn) {
    dx_autohand_agent *agent = turn->agent;
    struct dx__autohand_occasion end = dx__autohand_occasion_of(DX__HOOK_STOP);
    end.tokens = turn->tokens;
    end.calls = (int64_t)turn->call_count;
    end.duration_ms = (double)dx__autohand_core_since(agent, turn->began);
    if (!turn->is_slash || !dx__autohand_core_is_doc(agent))
        dx__autohand_tell_hook(agent, &end);
    if (!turn->is_slash && agent->config.compat != DX_AUTOHAND_0_6)
        dx__autohand_agent_occasion(agent, &end);
}

/* The turn is gone before its prompt is answered, so that whoever reads the answer may go on. */
static void finish(struct dx__autohand_turn *turn, bool success, int64_t code, const char *why) {
    dx_autohand_agent *agent = turn->agent;
    dx_event *prompt = turn->prompt;
    char text[1000] = "";
    dx__say_str(text, sizeof text, why);
    turn->prompt = NULL;
    agent->history->prompt = SIZE_MAX;
    dx__autohand_store_sync(agent, "active", false);
    dx__autohand_turn_free(turn);
    if (!prompt)
        return;
    if (code && dx__autohand_core_is_doc(agent))
        dx__autohand_serve_error(agent, prompt->request, code, dx_str(text));
    else
        dx__autohand_serve_success(agent, prompt->request, success);
    dx_event_free(prompt);
}

void dx__autohand_turn_end(struct dx__autohand_turn *turn, bool success) {
    dx_autohand_agent *agent = turn->agent;
    bool failed = turn->is_failed;
    int64_t code = failed ? turn->code : 0;
    bool recoverable = !turn->type[0] || turn->retryable || !dx__autohand_core_is_doc(agent);
    stop(turn, "The turn failed.");
    if (!turn->is_slash)
        dx__autohand_batch_end(agent);
    if (failed)
        tell_failure(turn, code, turn->type, recoverable, turn->why);
    else
        tell_stop(turn);
    dx__autohand_tell_message_end(turn, false);
    dx__autohand_tell_turn_end(turn, failed ? "error" : "completed");
    finish(turn, success && !failed, code, turn->why);
}

/* The versions before end the batch after all else, and only if they get that far. */
static void abort_as_before(struct dx__autohand_turn *turn, bool answers, dx_request request) {
    dx_autohand_agent *agent = turn->agent;
    bool in_model = turn->stage == DX__TURN_MODEL;
    bool changes = agent->open && agent->open->count;
    stop(turn, "Tool execution skipped by user.");
    dx__autohand_tell_message_end(turn, true);
    dx__autohand_tell_turn_end(turn, "aborted");
    if (answers)
        dx__autohand_serve_success(agent, request, true);
    if (!in_model || changes)
        dx__autohand_batch_end(agent);
    else
        dx__autohand_batch_free(agent);
    finish(turn, true, 0, "");
}

void dx__autohand_turn_abort(struct dx__autohand_turn *turn, bool answers, dx_request request) {
    dx_autohand_agent *agent = turn->agent;
    agent->was_aborted = true;
    if (!dx__autohand_core_is_doc(agent)) {
        abort_as_before(turn, answers, request);
        return;
    }
    if (answers)
        dx__autohand_serve_success(agent, request, true);
    stop(turn, "Aborted.");
    dx__autohand_batch_end(agent);
    tell_failure(turn, DX_AUTOHAND_ABORTED, NULL, true, "Aborted");
    dx__autohand_tell_message_end(turn, true);
    dx__autohand_tell_turn_end(turn, "aborted");
    finish(turn, false, DX_AUTOHAND_ABORTED, "Aborted");
}
