/* A run: actions/run or actions/runHandlers, from the request to the answer. */
#include "systems/finecode/er_parts.h"

bool dx__finecode_er_is_concurrent(const dx__finecode_er_run *run) {
    return run->task->kind && run->task->kind->given.runs_concurrently;
}

void dx__finecode_er_run_release(dx__finecode_er_run *run) {
    dx_finecode_er *er = run->er;
    *(run->prev ? &run->prev->next_run : &er->first_run) = run->next_run;
    if (run->next_run)
        run->next_run->prev = run->prev;
    if (er->cursor == run)
        er->cursor = run->next_run;
    for (size_t i = 0; i < run->count; i++)
        dx__finecode_er_sum_done(&run->parts[i]);
    dx__finecode_er_sum_done(&run->result);
    dx__finecode_er_sum_done(&run->pending);
    yyjson_doc_free(run->shown);
    yyjson_doc_free(run->context);
    dx__finecode_er_out_done(&run->why);
    dx__finecode_er_out_done(&run->answer);
    dx_event_free(run->event);
    dx__finecode_er_setup_release(run->setup);
    dx__free(&er->alloc, run->steps);
    dx__free(&er->alloc, run->parts);
    dx__free(&er->alloc, run);
    dx__finecode_er_release(er);
}

void dx__finecode_er_run_end(dx__finecode_er_run *run, dx__finecode_er_end end,
                             const dx__finecode_er_out *why) {
    if (run->end)
        return;
    run->end = end;
    if (why)
        dx__finecode_er_out_say(&run->why, dx__finecode_er_out_text(why));
    dx_finecode_job *job = run->jobs;
    for (; job; job = run->cursor) {
        run->cursor = job->next;
        dx__finecode_er_job_tell(job);
    }
}

static void fail_for_memory(dx__finecode_er_run *run) {
    dx__finecode_er_out why;
    dx__finecode_er_out_init(&why, &run->er->alloc);
    dx__finecode_er_out_say_str(&why, "out of memory");
    dx__finecode_er_run_end(run, DX__FINECODE_ER_FAILED, &why);
    dx__finecode_er_out_done(&why);
}

/* Handlers that ran at once are merged in their own order, not in that of their ends. */
static void join_parts(dx__finecode_er_run *run) {
    yyjson_val *rules = dx__finecode_er_rules(run->task->kind);
    for (size_t i = 0; i < run->count && !run->end; i++)
        if (dx__finecode_er_sum_join(&run->er->alloc, &run->result, &run->parts[i], rules) != DX_OK)
            fail_for_memory(run);
}

static void write_wal(const dx__finecode_er_run *run) {
    bool failed = run->end >= DX__FINECODE_ER_FAILED;
    if (run->has_sent)
        dx__finecode_er_wal(run, "partial_result.final_sent", NULL, dx_str(NULL));
    dx__finecode_er_wal(run, failed ? "run.failed" : "run.completed", NULL,
                        run->end == DX__FINECODE_ER_CANCELLED ? dx_str("cancelled")
                        : failed                              ? dx__finecode_er_out_text(&run->why)
                                                              : dx_str(NULL));
}

static void settle(dx__finecode_er_run *run) {
    run->concluded = true;
    if (!run->end && dx__finecode_er_is_concurrent(run))
        join_parts(run);
    dx__finecode_er_answer_make(run);
}

static void send(dx__finecode_er_run *run) {
    if (!dx__finecode_er_answer_send(run)) {
        dx__finecode_er_retry(run);
        return;
    }
    run->answered = true;
    write_wal(run);
}

void dx__finecode_er_run_pump(dx__finecode_er_run *run) {
    if (run->busy)
        return;
    run->busy++;
    while (!run->end && run->next < run->count &&
           (!run->alive || dx__finecode_er_is_concurrent(run))) {
        size_t index = run->next++;
        if (dx__finecode_er_job_start(run, index) != DX_OK)
            fail_for_memory(run);
    }
    bool is_over = !run->alive && (run->end || run->next == run->count);
    /* All partial results go before the answer. */
    if (is_over && !run->concluded &&
        (run->end == DX__FINECODE_ER_CANCELLED || dx__finecode_er_partial_flush(run)))
        settle(run);
    if (is_over && run->concluded && !run->answered)
        send(run);
    run->busy--;
    if (is_over && run->answered)
        dx__finecode_er_run_release(run);
}

void dx__finecode_er_run_cancel(dx_finecode_er *er, dx_request request) {
    dx__finecode_er_run *run = er->first_run;
    while (run && run->request != request)
        run = run->next_run;
    if (!run || run->concluded)
        return;
    run->busy++;
    dx__finecode_er_run_end(run, DX__FINECODE_ER_CANCELLED, NULL);
    run->end = DX__FINECODE_ER_CANCELLED;
    dx__finecode_er_out_done(&run->why);
    if (!run->concluded)
        settle(run);
    if (!run->answered)
        send(run);
    run->busy--;
    dx__finecode_er_run_pump(run);
}

void dx__finecode_er_runs_over(dx_finecode_er *er) {
    dx__finecode_er_run *run;
    dx__finecode_er_hold(er);
    for (run = er->first_run; run; run = run->next_run)
        run->concluded = run->answered = true;
    for (run = er->first_run; run; run = er->cursor) {
        er->cursor = run->next_run;
        run->busy++;
        dx__finecode_er_run_end(run, DX__FINECODE_ER_CANCELLED, NULL);
        run->busy--;
        dx__finecode_er_run_pump(run);
    }
    dx__finecode_er_release(er);
}

void dx__finecode_er_run_tick(dx__finecode_er_run *run) {
    run->due = DX_NEVER;
    run->busy++;
    dx__finecode_er_jobs_due(run);
    if (run->concluded && !run->answered)
        send(run);
    else if (!run->concluded)
        (void)dx__finecode_er_partial_flush(run);
    run->busy--;
    dx__finecode_er_run_pump(run);
}
