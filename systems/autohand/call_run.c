/* A call that runs: from toolStart to toolEnd. */
#include "systems/autohand/core_parts.h"

void dx__autohand_work_start(struct dx__autohand_work *work) {
    work->began = dx__autohand_core_began(work->call.agent);
    if (work->refused) {
        work->stage = DX__WORK_DONE;
        return;
    }
    work->started = true;
    work->stage = DX__WORK_RUNNING;
    dx__autohand_tell_tool_start(work);
}

/* 0.6 and 0.8 ask when they are about to create a file, and 0.6 once more before it deletes. */
bool dx__autohand_work_asks_inside(const struct dx__autohand_work *work) {
    dx_autohand_agent *agent = work->call.agent;
    if (dx__autohand_core_is_doc(agent) || !work->tool || work->failed || work->refused)
        return false;
    const dx_autohand_tool *tool = &work->tool->given;
    if (tool->kind != DX_AUTOHAND_TOOL_WRITES || !work->shown_path)
        return false;
    if (dx__autohand_work_verdict(work, true) == DX__VERDICT_ALLOW)
        return false;
    if (strcmp(tool->name, "delete_path") == 0)
        return agent->config.compat == DX_AUTOHAND_0_6;
    return dx__autohand_batch_creates(agent, work->subject);
}

static void run_job(struct dx__autohand_work *work) {
    const dx_autohand_tool *tool = &work->tool->given;
    work->stage = DX__WORK_RUNNING;
    if (!dx__autohand_work_still_may(work)) {
        dx__autohand_work_ended(work,
                                dx_str("Permission denied: the path now points to a different file "
                                       "than when it was allowed"),
                                false, false);
        return;
    }
    tool->run(&work->job, tool->user);
    if (!work->job.ended && !work->job.kept)
        dx_autohand_job_fail(&work->job, dx_str("the tool returned no result"));
}

/* First as it is begun, and again when a question from inside was answered. */
void dx__autohand_work_run(struct dx__autohand_work *work) {
    if (work->failed) {
        dx__autohand_work_ended(work, dx_str(work->why ? work->why : "out of memory"), false,
                                false);
    } else if (work->refused) { /* from inside */
        dx__autohand_work_ended(work, dx_str(work->why ? work->why : "out of memory"), true, false);
    } else if (work->stage == DX__WORK_RUNNING && dx__autohand_work_asks_inside(work)) {
        dx__autohand_work_ask(work, true);
    } else {
        run_job(work);
    }
}

static void tell_post_hooks(struct dx__autohand_work *work, bool success, dx_text output) {
    dx_autohand_agent *agent = work->call.agent;
    struct dx__autohand_occasion after = dx__autohand_occasion_of(DX__HOOK_POST_TOOL);
    after.tool = dx_str(work->call.tool_name);
    after.tool_id = dx_str(work->call.tool_id);
    after.args = work->call.args;
    after.path = dx_str(work->shown_path);
    after.command = dx_str(work->shown_command);
    after.success = success;
    after.output = output;
    after.duration_ms = (double)dx__autohand_core_since(agent, work->began);
    dx__autohand_tell_hook(agent, &after);
    dx__autohand_agent_occasion(agent, &after);
}

/* The first line of what it said; the rest stands in toolEnd. */
static void tell_failure(const struct dx__autohand_work *work, bool late, dx_text told) {
    char line[400] = "";
    size_t len = 0;
    while (len < told.len && told.at[len] != '\n')
        len++;
    dx__say_str(line, sizeof line, work->call.tool_name);
    dx__say_str(line, sizeof line, ": ");
    dx__say(line, sizeof line, len ? (dx_text){told.at, len} : dx_str("the tool failed"));
    dx__autohand_tell_error(work->call.agent, late ? DX_AUTOHAND_TIMEOUT : DX_AUTOHAND_EXECUTION,
                            NULL, true, dx_str(line));
}

void dx__autohand_work_ended(struct dx__autohand_work *work, dx_text output, bool success,
                             bool late) {
    dx_autohand_agent *agent = work->call.agent;
    if (work->ended)
        return;
    work->ended = true;
    work->stage = DX__WORK_DONE;
    work->result = dx__autohand_core_mend(&agent->alloc, output, &work->result_len);
    dx_text told = {work->result, work->result_len};
    if (!work->result)
        told = dx_str("out of memory");
    tell_post_hooks(work, success, told);
    dx__autohand_tell_tool_end(work, success, told);
    if (!success && dx__autohand_core_is_doc(agent))
        tell_failure(work, late, told);
    dx__autohand_turn_wake(work->turn);
}

void dx__autohand_work_shrink(struct dx__autohand_work *work) {
    const dx_allocator *alloc = &work->call.agent->alloc;
    dx__autohand_job_free(&work->job);
    dx__free(alloc, work->result);
    dx__free(alloc, work->args_text);
    yyjson_doc_free(work->doc);
    work->result = work->args_text = NULL;
    work->doc = NULL;
    work->call.args = NULL;
}

void dx__autohand_work_abort(struct dx__autohand_work *work) {
    dx__autohand_hooks_drop(work->hooking);
    work->hooking = NULL;
    dx__autohand_question_drop(work->question);
    work->question = NULL;
    bool runs = work->started && !work->ended;
    /* What it still says about its end is not wanted. */
    work->ended = true;
    work->stage = DX__WORK_DONE;
    dx__autohand_job_cancel(&work->job);
    if (runs && dx__autohand_core_is_doc(work->call.agent))
        dx__autohand_tell_tool_end(work, false, dx_str("Aborted"));
}
