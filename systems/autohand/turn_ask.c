/* The model is asked, and listened to. */
#include "systems/autohand/core_parts.h"

enum { CONTEXT_TOKENS = 128000, BYTES_A_TOKEN = 4 };

/* The model is not cancelled from inside of what it says; the turn's end does that. */
static void too_much(struct dx__autohand_turn *turn, const char *why) {
    dx__autohand_turn_fail(turn, DX_AUTOHAND_EXECUTION, NULL, dx_str(why));
}

/* A client that does not read is told later, all at once: what waits for it must not grow with each
 * word. */
static bool is_heard(struct dx__autohand_turn *turn) {
    const dx_link *link = turn->agent->link;
    if (!turn->congested && (!link || dx_link_waiting(link) <= DX__FULL))
        return true;
    turn->congested = true;
    dx__autohand_turn_wake(turn);
    return false;
}

void dx__autohand_turn_tell(struct dx__autohand_turn *turn) {
    size_t from = turn->told_text;
    if (!dx__autohand_core_is_doc(turn->agent) || turn->is_slash || from == turn->content.len)
        return;
    turn->told_text = turn->content.len;
    dx__autohand_tell_text(turn, (dx_text){turn->content.data + from, turn->content.len - from});
}

/* What is no UTF-8 is mended before it goes anywhere. */
static void take_text(struct dx__autohand_turn *turn, dx_text delta) {
    dx_autohand_agent *agent = turn->agent;
    bool is_doc = dx__autohand_core_is_doc(agent);
    dx_status status = dx_buf_append(&turn->answer, delta.at, delta.len);
    if (status == DX_OK && is_doc)
        status = dx_buf_append(&turn->content, delta.at, delta.len);
    if (status != DX_OK) {
        too_much(turn,
                 status == DX_ERR_LIMIT ? "the model's response is too long" : "out of memory");
        return;
    }
    if (is_doc && is_heard(turn))
        dx__autohand_turn_tell(turn);
}

static void on_text(void *user, dx_text delta) {
    struct dx__autohand_turn *turn = user;
    const dx_allocator *alloc = &turn->agent->alloc;
    if (!delta.len || turn->is_failed)
        return;
    if (dx__is_utf8(delta)) {
        take_text(turn, delta);
        return;
    }
    size_t len = 0;
    char *mended = dx__autohand_core_mend(alloc, delta, &len);
    if (mended)
        take_text(turn, (dx_text){mended, len});
    else
        too_much(turn, "out of memory");
    dx__free(alloc, mended);
}

/* Thoughts are no part of the answer: who does not read misses them. */
static void on_thought(void *user, dx_text delta) {
    struct dx__autohand_turn *turn = user;
    if (delta.len && !turn->is_failed && is_heard(turn))
        dx__autohand_tell_thought(turn, delta);
}

static void on_call(void *user, dx_text id, dx_text name, dx_text args) {
    struct dx__autohand_turn *turn = user;
    dx_autohand_agent *agent = turn->agent;
    if (turn->is_failed)
        return;
    if (turn->work_count >= agent->config.calls_max) {
        too_much(turn, "the model calls too many tools at once");
        return;
    }
    if (turn->work_count == turn->work_cap) {
        size_t cap = turn->work_cap ? turn->work_cap * 2 : 8;
        void *works = dx__realloc(&agent->alloc, turn->works, turn->work_cap * sizeof *turn->works,
                                  cap * sizeof *turn->works);
        if (!works) {
            too_much(turn, "out of memory");
            return;
        }
        turn->works = works;
        turn->work_cap = cap;
    }
    struct dx__autohand_work *work = dx__autohand_work_new(turn, id, name, args);
    if (!work) {
        too_much(turn, "out of memory");
        return;
    }
    turn->works[turn->work_count++] = work;
    turn->call_count++;
}

static void run_rate_hooks(struct dx__autohand_turn *turn, const dx_autohand_failure *failure) {
    struct dx__autohand_occasion limit = dx__autohand_occasion_of(DX__HOOK_RATE_LIMIT);
    if (failure->kind != DX_AUTOHAND_FAIL_RATE_LIMIT)
        return;
    limit.error = failure->message;
    limit.error_code = dx_str("rate_limit");
    dx__autohand_agent_occasion(turn->agent, &limit);
}

static void on_retry(void *user, const dx_autohand_failure *failure, uint64_t wait_ms) {
    struct dx__autohand_turn *turn = user;
    char why[600] = "";
    dx__say(why, sizeof why, failure->message);
    dx__autohand_log(turn->agent, "warn", "the model failed, retrying in %llu ms: %s",
                     (unsigned long long)wait_ms, why);
    run_rate_hooks(turn, failure);
}

/* One message, whatever it holds: text, calls, or both. */
static dx_status keep_answer(struct dx__autohand_turn *turn) {
    dx_autohand_agent *agent = turn->agent;
    const dx_allocator *alloc = &agent->alloc;
    struct dx__autohand_said_call *calls = NULL;
    if (turn->work_count) {
        calls = dx__malloc(alloc, turn->work_count * sizeof *calls);
        if (!calls)
            return DX_ERR_NOMEM;
    }
    for (size_t i = 0; i < turn->work_count; i++) {
        const struct dx__autohand_work *work = turn->works[i];
        calls[i] = (struct dx__autohand_said_call){
            dx_str(work->id), dx_str(work->call.tool_name), {work->args_text, work->args_len}};
    }
    struct dx__autohand_message message = {.role = DX__ROLE_ASSISTANT,
                                           .text = {turn->answer.data, turn->answer.len},
                                           .calls = calls,
                                           .call_count = turn->work_count};
    dx_status status = dx__autohand_history_add(agent, &message);
    dx__free(alloc, calls);
    return status;
}

/* The calls of all answers, for messageEnd; there is an end to what fits into one message. */
static void note_calls(struct dx__autohand_turn *turn) {
    yyjson_alc alc = dx__autohand_core_alc(&turn->agent->alloc);
    if (!dx__autohand_core_is_doc(turn->agent) || !turn->work_count)
        return;
    if (!turn->told) {
        turn->told = yyjson_mut_doc_new(&alc);
        if (!turn->told)
            return;
        yyjson_mut_doc_set_root(turn->told, yyjson_mut_arr(turn->told));
    }
    yyjson_mut_val *list = yyjson_mut_doc_get_root(turn->told);
    for (size_t i = 0; list && i < turn->work_count; i++) {
        const struct dx__autohand_work *work = turn->works[i];
        turn->told_weight += work->args_len + 100;
        if (turn->told_weight > DX__TOLD_MAX)
            return;
        yyjson_mut_val *call = yyjson_mut_obj(turn->told);
        yyjson_mut_val *args = work->call.args ? yyjson_val_mut_copy(turn->told, work->call.args)
                                               : yyjson_mut_obj(turn->told);
        if (call && yyjson_mut_obj_add_strcpy(turn->told, call, "id", work->call.tool_id) &&
            yyjson_mut_obj_add_strcpy(turn->told, call, "name", work->call.tool_name) &&
            yyjson_mut_obj_add_val(turn->told, call, "args", args))
            (void)yyjson_mut_arr_append(list, call);
    }
}

static void on_done(void *user, int64_t tokens) {
    struct dx__autohand_turn *turn = user;
    dx_autohand_agent *agent = turn->agent;
    turn->is_asked = false;
    if (turn->is_failed)
        return;
    if (tokens > 0 && tokens < INT64_MAX / 2 - turn->tokens) {
        turn->tokens += tokens;
        agent->asked_tokens = tokens;
    }
    dx_status status = DX_OK;
    if (!dx__autohand_core_is_doc(agent) && turn->answer.len) {
        turn->content.len = 0;
        status = dx_buf_append(&turn->content, turn->answer.data, turn->answer.len);
        dx__autohand_tell_text(turn, (dx_text){turn->answer.data, turn->answer.len});
    }
    note_calls(turn);
    if (status == DX_OK && (turn->answer.len || turn->work_count))
        status = keep_answer(turn);
    turn->answered = status == DX_OK;
    if (status != DX_OK)
        dx__autohand_turn_fail(turn, DX_AUTOHAND_EXECUTION, NULL, dx_str("out of memory"));
    dx__autohand_turn_wake(turn);
}

static const char *type_of(dx_autohand_failing kind) {
    static const char *const names[] = {"unknown",    "context", "auth",    "payment", "model",
                                        "rate_limit", "server",  "network", "timeout"};
    return (size_t)kind < sizeof names / sizeof *names ? names[kind] : "unknown";
}

static void on_fail(void *user, const dx_autohand_failure *failure) {
    struct dx__autohand_turn *turn = user;
    bool late = failure->kind == DX_AUTOHAND_FAIL_TIMEOUT;
    turn->is_asked = false;
    run_rate_hooks(turn, failure);
    turn->retryable = failure->retryable;
    dx__autohand_turn_fail(turn,
                           late && dx__autohand_core_is_doc(turn->agent) ? DX_AUTOHAND_TIMEOUT
                                                                         : DX_AUTOHAND_EXECUTION,
                           type_of(failure->kind),
                           failure->message.len ? failure->message : dx_str("the model failed"));
}

/* What hooks want the model to know, one below the other. */
void dx__autohand_turn_note(struct dx__autohand_turn *turn, dx_text text) {
    enum { NOTE_MAX = 64 << 10 };
    const dx_allocator *alloc = &turn->agent->alloc;
    size_t before = turn->note ? strlen(turn->note) : 0;
    size_t len = 0;
    if (!text.len || before + text.len > NOTE_MAX)
        return;
    char *mended = dx__autohand_core_mend(alloc, text, &len);
    char *both = mended ? dx__malloc(alloc, before + len + 2) : NULL;
    if (both) {
        memcpy(both, turn->note ? turn->note : "", before);
        both[before] = '\n';
        memcpy(both + before + (before != 0), mended, len + 1);
        dx__free(alloc, turn->note);
        turn->note = both;
    }
    dx__free(alloc, mended);
}

static dx_status say_note(struct dx__autohand_turn *turn) {
    struct dx__autohand_message message = {.role = DX__ROLE_SYSTEM, .text = dx_str(turn->note)};
    if (!turn->note)
        return DX_OK;
    dx_status status = dx__autohand_history_add(turn->agent, &message);
    dx__free(&turn->agent->alloc, turn->note);
    turn->note = NULL;
    return status;
}

static size_t room_of(const dx_autohand_agent *agent) {
    uint64_t tokens = agent->config.context_tokens;
    if (!tokens)
        tokens = agent->config.model->context_tokens;
    if (!tokens || tokens > SIZE_MAX / 8)
        tokens = CONTEXT_TOKENS;
    size_t room = (size_t)tokens * BYTES_A_TOKEN;
    size_t tools = dx__autohand_toolbox_weight(agent->tools);
    room -= room / 8; /* for the answer */
    return room > tools ? room - tools : 0;
}

static dx_status put_question(struct dx__autohand_turn *turn) {
    dx_autohand_agent *agent = turn->agent;
    dx_autohand_model *model = agent->config.model;
    yyjson_alc alc = dx__autohand_core_alc(&agent->alloc);
    const dx_autohand_listener listener = {.on_text = on_text,
                                           .on_thought = on_thought,
                                           .on_call = on_call,
                                           .on_retry = on_retry,
                                           .on_done = on_done,
                                           .on_fail = on_fail,
                                           .user = turn};
    yyjson_mut_doc *doc = yyjson_mut_doc_new(&alc);
    dx_status status = DX_ERR_NOMEM;
    if (doc) {
        dx_autohand_question question = {
            .model = agent->config.model_name ? agent->config.model_name : "",
            .messages = dx__autohand_history_messages(agent->history, doc, room_of(agent)),
            .tools = dx__autohand_toolbox_list(agent->tools, doc)};
        if (question.messages && question.tools)
            status = model->ask(model, &question, &listener);
    }
    yyjson_mut_doc_free(doc);
    return status;
}

void dx__autohand_turn_ask(struct dx__autohand_turn *turn) {
    if (turn->steps++ >= turn->agent->config.steps_max) {
        dx__autohand_turn_fail(turn, DX_AUTOHAND_EXECUTION, NULL,
                               dx_str("the turn took too many steps"));
        return;
    }
    turn->answer.len = 0;
    turn->answered = false;
    dx_status status = say_note(turn);
    if (status == DX_OK)
        status = put_question(turn);
    turn->stage = DX__TURN_MODEL;
    turn->is_asked = status == DX_OK;
    if (status != DX_OK)
        dx__autohand_turn_fail(turn, DX_AUTOHAND_EXECUTION, NULL,
                               dx_str(status == DX_BUSY ? "the model is busy" : "out of memory"));
}

void dx__autohand_turn_hush(struct dx__autohand_turn *turn) {
    dx_autohand_model *model = turn->agent->config.model;
    if (turn->is_asked)
        model->cancel(model);
    turn->is_asked = false;
}
