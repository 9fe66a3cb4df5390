/* May a call run? Hooks, rules and the user are asked, in this order. */
#include "systems/autohand/core_parts.h"

static const char refusal[] = "Permission denied: ";

static void set_why(struct dx__autohand_work *work, dx_text why) {
    const dx_allocator *alloc = &work->call.agent->alloc;
    dx__free(alloc, work->why);
    work->why = dx__autohand_core_mend(alloc, why, NULL);
    work->stage = DX__WORK_READY;
}

void dx__autohand_work_fail(struct dx__autohand_work *work, dx_text why) {
    work->failed = true;
    set_why(work, why);
}

void dx__autohand_work_refuse(struct dx__autohand_work *work, int64_t code, dx_text why) {
    dx_autohand_agent *agent = work->call.agent;
    work->refused = true;
    set_why(work, why);
    if (dx__autohand_core_is_doc(agent))
        dx__autohand_tell_error(agent, code, NULL, true, why);
}

/* The model gets the lines of a hook as they are, but not all of them if there are many. */
static void deny(struct dx__autohand_work *work, dx_text reason) {
    enum { REASON_MAX = 8192 };
    dx_buf text;
    dx_text said = reason.len ? reason : dx_str("not allowed");
    if (said.len > REASON_MAX)
        for (said.len = REASON_MAX; said.len && (said.at[said.len] & 0xc0) == 0x80;)
            said.len--;
    dx_buf_init(&text, SIZE_MAX / 2, &work->call.agent->alloc);
    bool good = dx_buf_append(&text, refusal, sizeof refusal - 1) == DX_OK &&
                dx_buf_append(&text, said.at, said.len) == DX_OK;
    dx__autohand_work_refuse(work, DX_AUTOHAND_DENIED,
                             good ? (dx_text){text.data, text.len} : dx_str(refusal));
    dx_buf_done(&text);
}

static struct dx__autohand_occasion occasion_of(const struct dx__autohand_work *work,
                                                dx__autohand_hook_event event) {
    struct dx__autohand_occasion occasion = dx__autohand_occasion_of(event);
    occasion.tool = dx_str(work->call.tool_name);
    occasion.tool_id = dx_str(work->call.tool_id);
    occasion.path = dx_str(work->shown_path);
    occasion.command = dx_str(work->shown_command);
    occasion.args = work->call.args;
    return occasion;
}

static void keep_note(struct dx__autohand_work *work, dx_text note) {
    const dx_allocator *alloc = &work->call.agent->alloc;
    if (!note.len)
        return;
    dx__free(alloc, work->note);
    work->note = dx__autohand_core_mend(alloc, note, NULL);
}

/* 0.6 and 0.8 ask for new files only, and from inside of the tool; deleting is asked for here. */
static bool asks_at_the_gate(const struct dx__autohand_work *work) {
    const dx_autohand_tool *tool = &work->tool->given;
    if (tool->kind == DX_AUTOHAND_TOOL_READS)
        return false;
    return dx__autohand_core_is_doc(work->call.agent) || tool->kind == DX_AUTOHAND_TOOL_RUNS ||
           strcmp(tool->name, "delete_path") == 0;
}

static dx__autohand_verdict verdict_on(const struct dx__autohand_work *work, const char *subject,
                                       bool gate) {
    const struct dx__autohand_rules *rules = work->call.agent->rules;
    const char *name = work->call.tool_name;
    dx_text command = dx_str(work->shown_command);
    if (gate)
        return dx__autohand_rules_judge(rules, name, dx_str(subject), command);
    return dx__autohand_rules_forbids(rules, name, dx_str(subject), command) ? DX__VERDICT_DENY
                                                                             : DX__VERDICT_ALLOW;
}

/* A path is allowed if both its name and where that leads are; it is denied if either is. */
dx__autohand_verdict dx__autohand_work_verdict(const struct dx__autohand_work *work, bool gate) {
    dx__autohand_verdict verdict = verdict_on(work, work->subject, gate);
    dx__autohand_verdict other =
        work->target ? verdict_on(work, work->target, gate) : DX__VERDICT_ALLOW;
    if (verdict == DX__VERDICT_DENY || other == DX__VERDICT_DENY)
        return DX__VERDICT_DENY;
    return verdict == DX__VERDICT_ASK ? verdict : other;
}

/* Another call may have changed a link since, such as one of the same answer. */
bool dx__autohand_work_still_may(struct dx__autohand_work *work) {
    char *before = work->target;
    work->target = NULL;
    dx_status status = dx__autohand_work_target(work);
    bool same = before && work->target ? strcmp(before, work->target) == 0 : before == work->target;
    dx__free(&work->call.agent->alloc, before);
    return status == DX_OK &&
           (same || dx__autohand_work_verdict(work, asks_at_the_gate(work)) == DX__VERDICT_ALLOW);
}

/* The hooks before it have spoken, or it has other arguments now. */
static void judge_by_rules(struct dx__autohand_work *work) {
    dx__autohand_verdict verdict = DX__VERDICT_DENY;
    if (dx__autohand_work_target(work) == DX_OK)
        verdict = dx__autohand_work_verdict(work, asks_at_the_gate(work));
    work->stage = DX__WORK_READY;
    if (verdict == DX__VERDICT_DENY)
        deny(work, dx_str("forbidden by a rule"));
    else if (!work->allowed && (work->forced || verdict == DX__VERDICT_ASK))
        work->stage = DX__WORK_TO_ASK;
}

static void on_pre_hooks(void *user, const struct dx__autohand_reply *reply) {
    struct dx__autohand_work *work = user;
    bool is_deaf = work->call.agent->config.compat == DX_AUTOHAND_0_6;
    work->hooking = NULL;
    dx__autohand_turn_wake(work->turn);
    if (is_deaf) {
        judge_by_rules(work);
        return;
    }
    keep_note(work, reply->context);
    if (reply->verdict == DX__VERDICT_DENY) {
        deny(work, reply->reason);
        return;
    }
    if (reply->updated && !dx__autohand_work_merge(work, reply->updated))
        return;
    work->allowed = reply->said && reply->verdict == DX__VERDICT_ALLOW;
    work->forced = reply->said && reply->verdict == DX__VERDICT_ASK;
    judge_by_rules(work);
}

/* 0.8 tells a browser that there is no such tool. */
static bool is_kept_away(const struct dx__autohand_work *work) {
    const dx_autohand_agent_config *config = &work->call.agent->config;
    const char *context = config->client_context;
    if (config->compat != DX_AUTOHAND_0_8 || !work->tool)
        return false;
    if (context && strcmp(context, "browser") != 0)
        return false;
    return work->tool->given.kind == DX_AUTOHAND_TOOL_RUNS ||
           strcmp(work->call.tool_name, "delete_path") == 0;
}

static void begin(struct dx__autohand_work *work) {
    dx_autohand_agent *agent = work->call.agent;
    if (is_kept_away(work)) {
        char text[200] = "Tool '";
        dx__say_str(text, sizeof text, work->call.tool_name);
        dx__say_str(text, sizeof text, "' is not available in the current context (chrome)");
        dx__autohand_work_refuse(work, DX_AUTOHAND_EXECUTION, dx_str(text));
        return;
    }
    if (!dx__autohand_work_check(work))
        return;
    struct dx__autohand_occasion occasion = occasion_of(work, DX__HOOK_PRE_TOOL);
    work->stage = DX__WORK_PRE_HOOKS;
    dx__autohand_tell_hook(agent, &occasion);
    if (dx__autohand_hooks_run(agent, &occasion, on_pre_hooks, work, &work->hooking) != DX_OK)
        deny(work, dx_str("cannot run its hooks"));
}

static void on_ask_hooks(void *user, const struct dx__autohand_reply *reply) {
    struct dx__autohand_work *work = user;
    work->hooking = NULL;
    dx__autohand_turn_wake(work->turn);
    if (reply->verdict == DX__VERDICT_DENY) {
        deny(work, reply->reason);
    } else if (reply->said && reply->verdict == DX__VERDICT_ALLOW) {
        work->allowed = true;
        work->stage = DX__WORK_READY;
    } else {
        dx__autohand_work_ask(work, false);
    }
}

static void ask_hooks(struct dx__autohand_work *work) {
    dx_autohand_agent *agent = work->call.agent;
    struct dx__autohand_occasion occasion = occasion_of(work, DX__HOOK_PERMISSION_REQUEST);
    work->stage = DX__WORK_ASK_HOOKS;
    dx__autohand_tell_hook(agent, &occasion);
    if (dx__autohand_hooks_run(agent, &occasion, on_ask_hooks, work, &work->hooking) != DX_OK)
        deny(work, dx_str("cannot run its hooks"));
}

void dx__autohand_work_judge(struct dx__autohand_work *work) {
    if (work->stage == DX__WORK_NEW)
        begin(work);
    if (work->stage != DX__WORK_TO_ASK ||
        dx__autohand_questions(work->call.agent) >= DX__QUESTIONS_MAX)
        return;
    /* It may have waited, and an answer to another one may have been remembered. */
    judge_by_rules(work);
    if (work->stage == DX__WORK_TO_ASK)
        ask_hooks(work);
}
