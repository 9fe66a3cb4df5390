/* A job: a handler that runs. */
#include "systems/finecode/er_parts.h"

static void put_in(dx_finecode_job *job) {
    dx__finecode_er_run *run = job->run;
    job->next = run->jobs;
    if (job->next)
        job->next->prev = job;
    run->jobs = job;
    run->alive++;
}

/* What it gave is part of the result before the next one begins. */
static void take_part(dx__finecode_er_run *run, size_t index) {
    yyjson_val *rules = dx__finecode_er_rules(run->task->kind);
    dx__finecode_er_out why;
    if (!run->end && !dx__finecode_er_is_concurrent(run) &&
        dx__finecode_er_sum_join(&run->er->alloc, &run->result, &run->parts[index], rules) !=
            DX_OK) {
        dx__finecode_er_out_init(&why, &run->er->alloc);
        dx__finecode_er_out_say_str(&why, "out of memory");
        dx__finecode_er_run_end(run, DX__FINECODE_ER_FAILED, &why);
        dx__finecode_er_out_done(&why);
    }
    if (!run->concluded)
        (void)dx__finecode_er_partial_flush(run);
}

static void release(dx_finecode_job *job) {
    dx__finecode_er_run *run = job->run;
    size_t index = job->index;
    *(job->prev ? &job->prev->next : &run->jobs) = job->next;
    if (job->next)
        job->next->prev = job->prev;
    if (run->cursor == job)
        run->cursor = job->next;
    run->alive--;
    dx__free(&run->er->alloc, job);
    take_part(run, index);
    dx__finecode_er_run_pump(run);
}

void dx__finecode_er_job_enter(dx_finecode_job *job) {
    job->busy++;
}

void dx__finecode_er_job_leave(dx_finecode_job *job) {
    if (!--job->busy && job->ended)
        release(job);
}

static dx_status show_result(dx__finecode_er_run *run) {
    if (run->shown && dx__finecode_er_is_concurrent(run))
        return DX_OK;
    yyjson_doc *doc = NULL;
    dx_status status = dx__finecode_er_sum_read(&run->er->alloc, &run->result, &doc);
    if (status != DX_OK)
        return status;
    yyjson_doc_free(run->shown);
    run->shown = doc;
    return DX_OK;
}

static void no_doer(dx_finecode_job *job) {
    char why[200] = "unknown handler source: ";
    dx__say_str(why, sizeof why, job->step->source);
    dx_finecode_job_fail(job, why);
}

dx_status dx__finecode_er_job_start(dx__finecode_er_run *run, size_t index) {
    const dx__finecode_er_step *step = run->steps[index];
    if (show_result(run) != DX_OK)
        return DX_ERR_NOMEM;
    dx_finecode_job *job = dx__malloc(&run->er->alloc, sizeof *job);
    if (!job)
        return DX_ERR_NOMEM;
    *job = (dx_finecode_job){.run = run, .step = step, .index = index};
    put_in(job);
    dx__finecode_er_wal(run, "handler.started", step->name, dx_str(NULL));
    dx__finecode_er_job_enter(job);
    if (step->doer)
        step->doer->given.run(job, step->doer->given.user);
    else
        no_doer(job);
    if (!job->ended && !job->kept)
        dx_finecode_job_fail(job, "the handler returned no result");
    dx__finecode_er_job_leave(job);
    return DX_OK;
}

void dx__finecode_er_job_tell(dx_finecode_job *job) {
    if (job->cancelled || job->ended)
        return;
    job->cancelled = true;
    dx__finecode_er_job_enter(job);
    void (*on_cancel)(dx_finecode_job *, void *) = job->on_cancel;
    job->on_cancel = NULL;
    if (on_cancel)
        on_cancel(job, job->cancel_user);
    if (!job->ended)
        dx__finecode_er_questions_cancel(job);
    dx__finecode_er_job_leave(job);
}

void dx__finecode_er_jobs_due(dx__finecode_er_run *run) {
    for (dx_finecode_job *job = run->jobs; job; job = run->cursor) {
        run->cursor = job->next;
        if (!job->is_due)
            continue;
        job->is_due = false;
        dx__finecode_er_job_enter(job);
        void (*on_cancel)(dx_finecode_job *, void *) = job->on_cancel;
        job->on_cancel = NULL;
        if (on_cancel && !job->ended)
            on_cancel(job, job->cancel_user);
        dx__finecode_er_job_leave(job);
    }
}

void dx_finecode_job_on_cancel(dx_finecode_job *job,
                               void (*on_cancel)(dx_finecode_job *job, void *user), void *user) {
    job->on_cancel = on_cancel;
    job->cancel_user = user;
    if (!job->cancelled || !on_cancel)
        return;
    job->is_due = true;
    if (!job->run->er->timer) { /* there is no loop any more that it could come from */
        dx__finecode_er_jobs_due(job->run);
        return;
    }
    job->run->due = dx_loop_now(job->run->er->loop);
    dx__finecode_er_wake(job->run->er, job->run->due);
}

void dx_finecode_job_keep(dx_finecode_job *job) {
    job->kept = true;
}

int dx_finecode_job_is_cancelled(const dx_finecode_job *job) {
    return job->cancelled;
}

dx_finecode_er *dx_finecode_job_er(const dx_finecode_job *job) {
    return job->run->er;
}

dx_loop *dx_finecode_job_loop(const dx_finecode_job *job) {
    return job->run->er->loop;
}

const char *dx_finecode_job_action(const dx_finecode_job *job) {
    return job->run->task->name;
}

const char *dx_finecode_job_handler(const dx_finecode_job *job) {
    return job->step->name;
}

dx_finecode_origin dx_finecode_job_origin(const dx_finecode_job *job) {
    return job->run->options.origin;
}

const char *dx_finecode_job_run_id(const dx_finecode_job *job) {
    return job->run->options.run_id;
}

yyjson_val *dx_finecode_job_payload(const dx_finecode_job *job) {
    return job->run->payload;
}

yyjson_val *dx_finecode_job_config(const dx_finecode_job *job) {
    return job->step->config;
}

yyjson_val *dx_finecode_job_result(const dx_finecode_job *job) {
    return yyjson_doc_get_root(job->run->shown);
}

yyjson_val *dx_finecode_job_context(const dx_finecode_job *job) {
    return yyjson_doc_get_root(job->run->context);
}

dx_status dx_finecode_job_set_context(dx_finecode_job *job, dx_json context) {
    yyjson_doc *doc = NULL;
    dx_status status = dx__finecode_doc_of_json(&job->run->er->alloc, context, &doc);
    if (status == DX_OK && !yyjson_is_obj(yyjson_doc_get_root(doc))) {
        yyjson_doc_free(doc);
        return DX_ERR_INVALID;
    }
    if (status == DX_OK) {
        yyjson_doc_free(job->run->context);
        job->run->context = doc;
    }
    return status;
}

int dx_finecode_job_is_streamed(const dx_finecode_job *job) {
    return job->run->options.token != NULL;
}
