/* How a job ends, and what it gives. */
#include "systems/finecode/er_parts.h"

static void mark(dx_finecode_job *job, bool failed, dx_text why) {
    job->ended = true;
    dx__finecode_er_questions_drop(job);
    dx__finecode_er_wal(job->run, failed ? "handler.failed" : "handler.completed", job->step->name,
                        why);
}

/* "Running action handler 'h' failed(Run 3): why" */
static void say_end(dx_finecode_job *job, const char *how, const char *why,
                    dx__finecode_er_out *out) {
    dx__finecode_er_out_init(out, &job->run->er->alloc);
    dx__finecode_er_out_say_str(out, "Running action handler '");
    dx__finecode_er_out_say_str(out, job->step->name);
    dx__finecode_er_out_say_str(out, how);
    dx__finecode_er_out_say_number(out, job->run->number);
    dx__finecode_er_out_say_str(out, why && *why ? "): " : ")");
    dx__finecode_er_out_say_str(out, why ? why : "");
}

static void fail(dx_finecode_job *job, const char *why) {
    dx__finecode_er_out out;
    mark(job, true, dx_str(why));
    say_end(job, "' failed(Run ", why, &out);
    if (!job->run->end)
        dx__finecode_er_log_str(job->run->er, "ERROR", "", dx__finecode_er_out_text(&out));
    dx__finecode_er_run_end(job->run, DX__FINECODE_ER_FAILED, &out);
    dx__finecode_er_out_done(&out);
}

void dx_finecode_job_fail(dx_finecode_job *job, const char *why) {
    if (job->ended)
        return;
    dx__finecode_er_job_enter(job);
    fail(job, why && *why ? why : "no reason given");
    dx__finecode_er_job_leave(job);
}

void dx_finecode_job_cancel(dx_finecode_job *job) {
    dx__finecode_er_out out;
    if (job->ended)
        return;
    dx__finecode_er_job_enter(job);
    mark(job, true, dx_str("cancelled"));
    say_end(job, "' was cancelled(Run ", NULL, &out);
    dx__finecode_er_run_end(job->run, DX__FINECODE_ER_CANCELLED, &out);
    dx__finecode_er_out_done(&out);
    dx__finecode_er_job_leave(job);
}

/* The result as a document; *ret_doc is NULL if there is nothing. */
static dx_status read_result(const dx_allocator *alloc, dx_json result, yyjson_doc **ret_doc) {
    yyjson_doc *doc = NULL;
    dx_status status = dx__finecode_doc_of_json(alloc, result, &doc);
    if (status == DX_OK && doc && !yyjson_is_obj(yyjson_doc_get_root(doc))) {
        yyjson_doc_free(doc);
        return DX_ERR_INVALID;
    }
    if (status == DX_OK)
        *ret_doc = doc;
    return status;
}

/* It becomes part of the result, and of what is streamed if anything is. */
static dx_status add(dx_finecode_job *job, yyjson_val *result, bool streams) {
    dx__finecode_er_run *run = job->run;
    yyjson_val *rules = dx__finecode_er_rules(run->task->kind);
    dx_status status = dx__finecode_er_partial_add(run, result, streams);
    if (status == DX_OK)
        status = dx__finecode_er_sum_add(&run->er->alloc, &run->parts[job->index], result, rules);
    return status;
}

/* The result of one that stops the run is the result, with what it gave in parts before; and who
 * was told of those is told of it as well. */
static dx_status replace(dx_finecode_job *job, yyjson_val *result) {
    dx__finecode_er_run *run = job->run;
    const dx_allocator *alloc = &run->er->alloc;
    yyjson_val *rules = dx__finecode_er_rules(run->task->kind);
    dx__finecode_er_sum sum = {.doc = NULL};
    dx_status status = dx__finecode_er_sum_join(alloc, &sum, &run->parts[job->index], rules);
    if (status == DX_OK && result)
        status = dx__finecode_er_partial_add(run, result, false);
    if (status == DX_OK && result)
        status = dx__finecode_er_sum_add(alloc, &sum, result, rules);
    if (status != DX_OK) {
        dx__finecode_er_sum_done(&sum);
        return status;
    }
    dx__finecode_er_sum_done(&run->result);
    run->result = sum;
    return DX_OK;
}

static void finish(dx_finecode_job *job, dx_json result, int return_code, bool stops) {
    dx__finecode_er_run *run = job->run;
    yyjson_doc *doc = NULL;
    bool counts = !run->end; /* of one that is cancelled nobody wants it */
    dx_status status = counts ? read_result(&run->er->alloc, result, &doc) : DX_OK;
    yyjson_val *value = yyjson_doc_get_root(doc);
    if (status == DX_OK && counts && stops)
        status = replace(job, value);
    else if (status == DX_OK && counts && value)
        status = add(job, value, false);
    yyjson_doc_free(doc);
    if (status == DX_OK)
        status = job->broken;
    if (counts && status != DX_OK) {
        fail(job, status == DX_ERR_INVALID ? "its result is not a JSON object"
                  : status == DX_ERR_LIMIT ? dx__finecode_er_too_long
                                           : "out of memory");
        return;
    }
    if (counts && (stops || return_code > run->return_code))
        run->return_code = return_code;
    mark(job, false, dx_str(NULL));
    if (counts && stops)
        dx__finecode_er_run_end(run, DX__FINECODE_ER_STOPPED, NULL);
}

void dx_finecode_job_done(dx_finecode_job *job, dx_json result, int return_code) {
    if (job->ended)
        return;
    dx__finecode_er_job_enter(job);
    finish(job, result, return_code, false);
    dx__finecode_er_job_leave(job);
}

void dx_finecode_job_stop(dx_finecode_job *job, dx_json result, int return_code) {
    if (job->ended)
        return;
    dx__finecode_er_job_enter(job);
    finish(job, result, return_code, true);
    dx__finecode_er_job_leave(job);
}

dx_status dx_finecode_job_partial(dx_finecode_job *job, dx_json result) {
    yyjson_doc *doc = NULL;
    if (job->ended || job->run->end)
        return DX_GONE;
    dx_status status = read_result(&job->run->er->alloc, result, &doc);
    if (status == DX_OK && !doc)
        status = DX_ERR_INVALID;
    if (status == DX_OK) {
        status = add(job, yyjson_doc_get_root(doc), true);
        if (status != DX_OK)
            job->broken = status;
    }
    yyjson_doc_free(doc);
    return status;
}
