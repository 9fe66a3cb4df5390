/* What follows from a notification. */
#include "systems/autohand/client_parts.h"

static bool is(const char *id, dx_text text) {
    return id && text.at && dx_text_is(text, id);
}

/* Is it of a turn that is over? Those before 0.9 go on after an abort, and then say null; who began
 * without an id goes on without one. */
static bool is_late(const dx_autohand_client *client, const dx_autohand_event *event) {
    const struct dx__autohand_client_turn *turn = &client->turn;
    switch (event->kind) {
    case DX_AUTOHAND_TURN_END:
        return !dx__autohand_client_runs(client) ||
               (turn->id         ? !is(turn->id, event->turn)
                : event->turn.at ? is(client->last_turn, event->turn)
                                 : turn->stage != DX__STAGE_RUNNING);
    case DX_AUTOHAND_MESSAGE_START:
    case DX_AUTOHAND_BATCH_START:
        return !dx__autohand_client_runs(client) ||
               (event->turn.at && turn->id && !is(turn->id, event->turn));
    case DX_AUTOHAND_TEXT:
    case DX_AUTOHAND_THOUGHT:
    case DX_AUTOHAND_MESSAGE_END:
        return !dx__autohand_client_runs(client) ||
               (turn->message       ? !is(turn->message, event->message)
                : event->message.at ? is(client->last_message, event->message)
                                    : turn->talk == DX__TALK_NONE);
    case DX_AUTOHAND_BATCH_CHANGE:
    case DX_AUTOHAND_BATCH_END:
        return !dx__autohand_client_runs(client) || !event->batch.at ||
               (client->batch.id && !is(client->batch.id, event->batch));
    case DX_AUTOHAND_TOOL_START:
    case DX_AUTOHAND_TOOL_OUTPUT:
    case DX_AUTOHAND_TOOL_END:
        return !dx__autohand_client_runs(client);
    default:
        return false;
    }
}

/* Texts. */

/* What is longer than a message may be is cut: nobody reads that. */
static void append(dx_autohand_client *client, dx_buf *buf, dx_text text) {
    if (text.len && dx_buf_append(buf, text.at, text.len) == DX_ERR_NOMEM)
        dx__autohand_client_no_memory(client);
}

static void end_message(dx_autohand_client *client, const dx_autohand_event *event) {
    struct dx__autohand_client_turn *turn = &client->turn;
    dx_text text = event->text;
    if (event->aborted)
        turn->aborted = true;
    /* An aborted one may say "", whatever came before. */
    if (!text.at || (event->aborted && !text.len))
        text = (dx_text){turn->deltas.data, turn->deltas.len};
    if (text.len && turn->content.len)
        append(client, &turn->content, dx_str("\n"));
    append(client, &turn->content, text);
    turn->deltas.len = 0;
    turn->talk = DX__TALK_ENDED;
}

static void take_error(dx_autohand_client *client, const dx_autohand_event *event) {
    struct dx__autohand_client_turn *turn = &client->turn;
    if (turn->stage == DX__STAGE_NONE)
        return;
    turn->failed = true;
    turn->last_code = event->code == -1 ? 0 : event->code; /* not told */
    turn->denied_told += event->code == DX_AUTOHAND_DENIED;
    if (event->text.at && !dx__autohand_client_copy(client, &turn->last_error, event->text))
        dx__autohand_client_no_memory(client);
}

/* The turn. */

static void start_agent(dx_autohand_client *client) {
    if (client->ready)
        return;
    client->ready = true;
    dx_timer_set(client->starting, DX_NEVER);
    if (client->error.fault == DX_FAULT_START) { /* what was said before was not the end */
        dx_error before = client->error;
        client->error = (dx_error){.fault = DX_FAULT_NONE};
        dx__autohand_client_violation(client, before.phrase);
    }
    /* What was aborted before it was sent never is. */
    if (client->turn.stage != DX__STAGE_HELD || client->turn.aborting || client->stopping ||
        client->freed)
        return;
    dx_status status = dx__autohand_client_send(client);
    if (status != DX_OK)
        dx__autohand_client_turn_over(
            client, status == DX_ERR_LIMIT ? "the prompt is longer than the limit for a message"
                                           : "cannot send the prompt");
}

static void start_turn(dx_autohand_client *client, const dx_autohand_event *event) {
    if (client->turn.stage != DX__STAGE_ASKED)
        return;
    client->turn.stage = DX__STAGE_RUNNING;
    if (event->turn.at && !dx__autohand_client_copy(client, &client->turn.id, event->turn))
        dx__autohand_client_no_memory(client);
}

static void change(dx_autohand_client *client, const dx_autohand_event *event) {
    if (!client->batch.id)
        dx__autohand_client_batch_begin(client, event->batch);
    if (event->kind == DX_AUTOHAND_BATCH_CHANGE)
        dx__autohand_client_batch_add(client, event->change);
    else
        dx__autohand_client_batch_end(client, event->count);
}

/* It goes on: neither an error nor the end of a message was the end. */
static void go_on(dx_autohand_client *client) {
    struct dx__autohand_client_turn *turn = &client->turn;
    turn->failed = false;
    if (turn->talk == DX__TALK_ENDED && turn->answered && turn->answer && !turn->aborting)
        dx__autohand_client_turn_due(client, DX_NEVER);
}

static void heed(dx_autohand_client *client, const dx_autohand_event *event) {
    struct dx__autohand_client_turn *turn = &client->turn;
    if (event->kind >= DX_AUTOHAND_MESSAGE_START && event->kind <= DX_AUTOHAND_TOOL_END &&
        event->kind != DX_AUTOHAND_MESSAGE_END)
        go_on(client);
    switch (event->kind) {
    case DX_AUTOHAND_AGENT_START:
        start_agent(client);
        break;
    case DX_AUTOHAND_TURN_START:
        start_turn(client, event);
        break;
    case DX_AUTOHAND_TURN_END:
        dx__autohand_client_turn_ends(client, event);
        break;
    case DX_AUTOHAND_MESSAGE_START:
        turn->talk = DX__TALK_BEGUN;
        if (event->message.at && !dx__autohand_client_copy(client, &turn->message, event->message))
            dx__autohand_client_no_memory(client);
        break;
    case DX_AUTOHAND_TEXT:
        append(client, &turn->deltas, event->text);
        break;
    case DX_AUTOHAND_MESSAGE_END:
        end_message(client, event);
        break;
    case DX_AUTOHAND_TOOL_START:
        turn->tool_calls++;
        break;
    case DX_AUTOHAND_TOOL_END:
        turn->tool_failures += event->success == 0;
        break;
    case DX_AUTOHAND_ERROR:
        take_error(client, event);
        break;
    case DX_AUTOHAND_BATCH_START:
        dx__autohand_client_batch_begin(client, event->batch);
        break;
    case DX_AUTOHAND_BATCH_CHANGE:
    case DX_AUTOHAND_BATCH_END:
        change(client, event);
        break;
    case DX_AUTOHAND_PERMISSION:
        dx__autohand_client_question(client, event->value,
                                     dx_text_is(event->method, "autohand.directoryAccessRequest"));
        break;
    default:
        break;
    }
}

static void tell(dx_autohand_client *client, dx_autohand_event *event) {
    bool late = is_late(client, event);
    if (!event->kind)
        return;
    if (late)
        event->kind = DX_AUTOHAND_LATE;
    if (client->config.on_event)
        client->config.on_event(client, event, client->config.user);
    if (!late && !client->freed)
        heed(client, event);
}

void dx__autohand_client_heed(dx_autohand_client *client, dx_text method, yyjson_val *params) {
    dx_autohand_event event;
    dx_autohand_event thought;
    dx_autohand_change change;
    dx__autohand_client_read(method, params, &event, &thought, &change);
    dx__autohand_client_stir(client);
    tell(client, &thought);
    if (!client->freed)
        tell(client, &event);
}
