/* A turn, from the prompt to on_turn. */
#include "systems/autohand/client_parts.h"

bool dx__autohand_client_runs(const dx_autohand_client *client) {
    return client->turn.stage == DX__STAGE_ASKED || client->turn.stage == DX__STAGE_RUNNING;
}

static void free_turn(const dx_autohand_client *client, struct dx__autohand_client_turn *turn) {
    char *texts[] = {turn->id, turn->message, turn->error, turn->last_error};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        dx__free(&client->alloc, texts[i]);
    yyjson_mut_doc_free(turn->held);
    dx_buf_done(&turn->content);
    dx_buf_done(&turn->deltas);
}

void dx__autohand_client_turn_free(dx_autohand_client *client) {
    free_turn(client, &client->turn);
}

static void reset(dx_autohand_client *client) {
    size_t most = client->config.child.link.peer.message_max;
    client->turn = (struct dx__autohand_client_turn){
        .number = client->turn.number, .tokens = -1, .duration_ms = -1, .context_percent = -1};
    dx_buf_init(&client->turn.content, most, &client->alloc);
    dx_buf_init(&client->turn.deltas, most, &client->alloc);
}

/* Times. */

void dx__autohand_client_stir(dx_autohand_client *client) {
    if (client->config.silence_ms == DX_NEVER)
        return;
    bool counts = dx__autohand_client_runs(client) && !client->questions && !client->turn.aborting;
    dx_timer_set(client->silence, counts ? client->config.silence_ms : DX_NEVER);
}

void dx__autohand_client_turn_due(dx_autohand_client *client, uint64_t ms) {
    dx_timer_set(client->settle, ms);
}

void dx__autohand_client_on_settle(dx_timer *timer, void *user) {
    dx_autohand_client *client = user;
    (void)timer;
    dx__autohand_client_enter(client);
    const struct dx__autohand_client_turn *turn = &client->turn;
    bool lost = turn->answered && turn->talk == DX__TALK_ENDED && dx__autohand_client_runs(client);
    bool ended = turn->stage == DX__STAGE_CLOSING || turn->aborted || lost;
    if (lost)
        dx__autohand_client_violation(client, "the turn ended without turnEnd");
    dx__autohand_client_turn_over(client, ended            ? NULL
                                          : turn->aborting ? "the agent did not end the turn"
                                                           : "the agent did not start a turn");
    dx__autohand_client_leave(client);
}

void dx__autohand_client_on_silence(dx_timer *timer, void *user) {
    dx_autohand_client *client = user;
    (void)timer;
    client->turn.silent = true;
    dx__autohand_client_turn_error(client, DX_AUTOHAND_TIMEOUT,
                                   dx_str("timed out waiting for the agent"));
    (void)dx_autohand_client_abort(client);
}

/* The answer. */

void dx__autohand_client_turn_error(dx_autohand_client *client, int64_t code, dx_text message) {
    client->turn.code = code;
    client->turn.aborted = client->turn.aborted || code == DX_AUTOHAND_ABORTED;
    if (message.at && !dx__autohand_client_copy(client, &client->turn.error, message))
        dx__autohand_client_no_memory(client);
}

static void take_answer(dx_autohand_client *client, const dx_event *event) {
    struct dx__autohand_client_turn *turn = &client->turn;
    yyjson_val *success = yyjson_obj_get(event->value, "success");
    turn->answered = true;
    turn->early = turn->stage != DX__STAGE_CLOSING;
    turn->answer = event->outcome == DX_OUTCOME_RESULT && (!success || yyjson_is_true(success));
    if (event->outcome == DX_OUTCOME_INVALID)
        dx__autohand_client_turn_error(client, 0, dx_str(event->error.phrase));
    if (!yyjson_is_bool(success))
        dx__autohand_client_violation(client, "autohand.prompt: the response lacks 'success'");
    if (client->freed)
        return;
    /* Those that answer at the end say turnEnd before, and one that got lost would be waited for
     * forever. */
    if (turn->stage == DX__STAGE_CLOSING)
        dx__autohand_client_turn_over(client, NULL);
    else if (!turn->answer || turn->talk == DX__TALK_ENDED)
        dx__autohand_client_turn_due(client, DX__AUTOHAND_SETTLE_MS);
}

/* What broke the conversation is told by nobody else if the agent is gone at once. */
static void note(dx_autohand_client *client, const dx_error *error) {
    bool is_end = error->fault == DX_FAULT_NONE || error->fault == DX_FAULT_ENDED ||
                  error->fault == DX_FAULT_EXITED || error->fault == DX_FAULT_KILLED;
    if (!is_end && client->error.fault == DX_FAULT_NONE && !client->stopping)
        client->error = *error;
}

static void on_answer(dx_link *link, const dx_event *event, void *user) {
    dx_autohand_client *client = dx_link_user(link);
    struct dx__autohand_client_turn *turn = &client->turn;
    if (client->freed)
        return;
    if (event->outcome == DX_OUTCOME_LOST)
        note(client, &event->error);
    if (turn->stage == DX__STAGE_NONE || turn->number != (unsigned)(uintptr_t)user)
        return;
    dx__autohand_client_enter(client);
    dx__autohand_client_stir(client);
    if (event->outcome == DX_OUTCOME_ERROR) {
        dx__autohand_client_turn_error(client, event->code,
                                       dx__autohand_client_text(event->value, "message"));
        turn->answered = true;
        dx__autohand_client_turn_over(client, NULL);
    } else if (event->outcome != DX_OUTCOME_LOST) {
        take_answer(client, event);
    }
    dx__autohand_client_leave(client);
}

/* The beginning. */

dx_status dx__autohand_client_send(dx_autohand_client *client) {
    struct dx__autohand_client_turn *turn = &client->turn;
    dx_link_call_options options = {.on_done = on_answer};
    options.peer.timeout_ms = DX_NEVER;
    options.peer.total_ms = DX_NEVER;
    options.peer.no_cancel = 1;
    options.peer.user = (void *)(uintptr_t)turn->number;
    dx_status status =
        dx_link_call(dx_autohand_client_link(client), dx_str("autohand.prompt"),
                     dx_json_built(yyjson_mut_doc_get_root(turn->held)), &options, NULL);
    if (status != DX_OK)
        return status;
    yyjson_mut_doc_free(turn->held);
    turn->held = NULL;
    turn->stage = DX__STAGE_ASKED;
    dx__autohand_client_stir(client);
    return DX_OK;
}

static dx_status refuse(dx_error *reterr, dx_status status, const char *phrase) {
    if (reterr)
        dx__autohand_client_set_error(reterr, DX_FAULT_NONE, phrase);
    return status;
}

dx_status dx_autohand_client_prompt(dx_autohand_client *client, const dx_autohand_prompt *prompt,
                                    dx_error *reterr) {
    yyjson_mut_doc *doc = NULL;
    if (client->gone || client->stopping || client->freed)
        return refuse(reterr, DX_CLOSED, "the agent has exited");
    if (client->turn.stage != DX__STAGE_NONE)
        return refuse(reterr, DX_BUSY, "a turn is already running");
    dx_status status = dx__autohand_client_prompt_build(client, prompt, &doc, reterr);
    if (status != DX_OK)
        return status;
    dx__autohand_client_turn_free(client);
    reset(client);
    client->turn.number += client->turn.number == UINT32_MAX ? 2 : 1;
    client->turn.held = doc;
    client->turn.stage = DX__STAGE_HELD;
    if (client->ready)
        status = dx__autohand_client_send(client);
    if (status == DX_OK) {
        dx__autohand_client_batch_free(client); /* the agent drops what is still undecided */
        return DX_OK;
    }
    dx__autohand_client_turn_free(client);
    reset(client);
    return refuse(reterr, status,
                  status == DX_ERR_LIMIT ? "the prompt is longer than the limit for a message"
                                         : dx_status_name(status));
}

dx_status dx_autohand_client_abort(dx_autohand_client *client) {
    struct dx__autohand_client_turn *turn = &client->turn;
    if (turn->stage == DX__STAGE_NONE || turn->stage == DX__STAGE_CLOSING || client->gone)
        return DX_GONE;
    if (turn->aborting)
        return DX_OK;
    if (turn->stage == DX__STAGE_HELD) {
        turn->aborting = turn->aborted = true;
        dx__autohand_client_turn_due(client, 0);
        return DX_OK;
    }
    dx_status status = dx__autohand_client_say_abort(client);
    if (status != DX_OK)
        return status;
    turn->aborting = true;
    dx__autohand_client_stir(client);
    dx__autohand_client_turn_due(client, client->config.call_ms);
    return DX_OK;
}

/* The end. */

void dx__autohand_client_turn_ends(dx_autohand_client *client, const dx_autohand_event *event) {
    struct dx__autohand_client_turn *turn = &client->turn;
    turn->tokens = event->tokens;
    turn->duration_ms = event->duration_ms;
    turn->context_percent = event->context_percent;
    if (dx_text_is(event->reason, "aborted"))
        turn->aborted = true;
    if (dx_text_is(event->reason, "error"))
        turn->failed = true;
    if (turn->answered || turn->aborted) {
        /* The answer of an aborted one comes when the model has ended, which may take long. */
        dx__autohand_client_turn_over(client, NULL);
        return;
    }
    turn->stage = DX__STAGE_CLOSING;
    dx__autohand_client_turn_due(client, DX__AUTOHAND_SETTLE_MS);
}

/* A late answer says how it went; an early one, and none, leave that to what came. */
static bool went_well(const struct dx__autohand_client_turn *turn, const char *why) {
    if (why || turn->aborted || turn->error || turn->code)
        return false;
    if (turn->answered && !turn->early)
        return turn->answer;
    return !turn->failed && (!turn->answered || turn->answer);
}

static void tell_turn(dx_autohand_client *client, struct dx__autohand_client_turn *turn,
                      const char *why) {
    dx_text error = dx_str(why             ? why
                           : turn->error   ? turn->error
                           : turn->aborted ? "the turn was aborted"
                                           : turn->last_error);
    if (turn->deltas.len && turn->content.len)
        (void)dx_buf_append(&turn->content, "\n", 1);
    if (turn->deltas.len)
        (void)dx_buf_append(&turn->content, turn->deltas.data, turn->deltas.len);
    dx_autohand_turn told = {
        .success = went_well(turn, why),
        .aborted = turn->aborted,
        .error = error,
        .content = {turn->content.data ? turn->content.data : "", turn->content.len},
        .tokens = turn->tokens,
        .duration_ms = turn->duration_ms,
        .context_percent = turn->context_percent,
        .tool_calls = turn->tool_calls,
        .tool_failures = turn->tool_failures,
        .denied = turn->denied > turn->denied_told ? turn->denied : turn->denied_told,
    };
    if (!told.success)
        told.code = turn->code || why ? turn->code
                    : turn->aborted   ? DX_AUTOHAND_ABORTED
                                      : turn->last_code;
    if (client->batch.id && client->batch.ended)
        told.batch = dx_str(client->batch.id);
    if (!client->freed && client->config.on_turn)
        client->config.on_turn(client, &told, client->config.user);
}

void dx__autohand_client_turn_over(dx_autohand_client *client, const char *why) {
    struct dx__autohand_client_turn turn = client->turn;
    if (turn.stage == DX__STAGE_NONE)
        return;
    reset(client);
    dx_timer_set(client->settle, DX_NEVER);
    dx_timer_set(client->silence, DX_NEVER);
    dx__autohand_client_questions_free(client);
    dx__free(&client->alloc, client->last_turn);
    dx__free(&client->alloc, client->last_message);
    client->last_turn = turn.id;
    client->last_message = turn.message;
    turn.id = turn.message = NULL;
    dx__autohand_client_batch_ask(client);
    tell_turn(client, &turn, why);
    free_turn(client, &turn);
}
