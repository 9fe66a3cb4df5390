/* The user is asked for a call. */
#include "systems/autohand/core_parts.h"

static void skipped(struct dx__autohand_work *work) {
    dx__autohand_work_refuse(work, DX_AUTOHAND_DENIED, dx_str("Tool execution skipped by user."));
}

/* What the user wrote instead is what the user wants: only what is forbidden is still refused. */
static void take_other(struct dx__autohand_work *work, dx_text alternative) {
    if (!dx__autohand_work_replace(work, alternative))
        return;
    if (dx__autohand_work_verdict(work, false) == DX__VERDICT_DENY) {
        dx__autohand_work_refuse(work, DX_AUTOHAND_DENIED,
                                 dx_str("Permission denied: forbidden by a rule"));
        return;
    }
    work->allowed = true;
    work->stage = DX__WORK_READY;
}

static void on_answer(void *user, dx__autohand_answer answer, dx_text alternative) {
    struct dx__autohand_work *work = user;
    work->question = NULL;
    dx__autohand_turn_wake(work->turn);
    switch (answer) {
    case DX__ANSWER_ALLOWED:
        work->allowed = true;
        work->stage = DX__WORK_READY;
        return;
    case DX__ANSWER_OTHER:
        take_other(work, alternative);
        return;
    case DX__ANSWER_UNSEEN:
    case DX__ANSWER_LATE:
        if (!dx__autohand_core_is_doc(work->call.agent))
            skipped(work);
        else
            dx__autohand_work_refuse(work, DX_AUTOHAND_TIMEOUT,
                                     dx_str("Permission denied: nobody answered in time."));
        return;
    case DX__ANSWER_DENIED:
        break;
    }
    skipped(work);
}

/* What would be lost on the way because of its length can't be asked for. */
static bool can_be_told(const struct dx__autohand_work *work, const dx_buf *sentence) {
    enum { OVERHEAD = 1024 };
    size_t max = work->call.agent->config.line_max;
    size_t size = OVERHEAD + dx__autohand_shown_size((dx_text){sentence->data, sentence->len}) +
                  dx__autohand_shown_size(dx_str(work->shown_path)) +
                  dx__autohand_shown_size(dx_str(work->shown_command));
    dx_buf args;
    dx_buf_init(&args, max, &work->call.agent->alloc);
    bool known = dx_json_write(&args, dx_json_value(work->call.args)) == DX_OK;
    size += args.len;
    dx_buf_done(&args);
    return known && size <= max;
}

void dx__autohand_work_ask(struct dx__autohand_work *work, bool inside) {
    dx_autohand_agent *agent = work->call.agent;
    dx_buf sentence;
    dx_buf_init(&sentence, SIZE_MAX / 2, &agent->alloc);
    dx__autohand_work_sentence(work, inside, &sentence);
    struct dx__autohand_asking asking = {
        .tool = work->call.tool_name,
        .description = sentence.data,
        .path = dx_str(work->shown_path),
        .command = dx_str(work->shown_command),
        .args = work->call.args,
        .subject = dx_str(work->subject),
        .target = dx_str(work->target),
    };
    work->stage = inside ? DX__WORK_INSIDE : DX__WORK_ASKED;
    work->asked_once = true;
    if (!sentence.data || !can_be_told(work, &sentence) ||
        dx__autohand_question_open(agent, &asking, on_answer, work, &work->question) != DX_OK)
        dx__autohand_work_refuse(work, DX_AUTOHAND_DENIED,
                                 dx_str("Permission denied: the user cannot be asked"));
    dx_buf_done(&sentence);
}
