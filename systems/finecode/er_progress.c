/* Begin, report and end: how far the work is. What can't be sent is lost: the work goes on. */
#include "systems/finecode/er_parts.h"

static void member(dx__finecode_er_out *out, const char *name, const char *text) {
    dx__finecode_er_out_key(out, name);
    dx__finecode_er_out_text_or_null(out, text);
}

static void percentage(dx__finecode_er_out *out, int percent) {
    dx__finecode_er_out_key(out, "percentage");
    if (percent < 0)
        dx__finecode_er_out_word(out, "null");
    else
        dx__finecode_er_out_integer(out, percent > 100 ? 100 : percent);
}

static void begin_value(const dx__finecode_er_run *run, dx__finecode_er_out *out,
                        const char *type) {
    dx__finecode_er_out_init(out, &run->er->alloc);
    dx__finecode_er_out_open(out, '{');
    member(out, "type", type);
}

static void send_value(dx__finecode_er_run *run, dx__finecode_er_out *out) {
    dx__finecode_er_out_close(out, '}');
    if (out->status == DX_OK && !run->answered)
        (void)dx__finecode_er_progress_send(run, run->options.progress,
                                            dx__finecode_er_out_text(out));
    dx__finecode_er_out_done(out);
}

static bool is_wanted(const dx_finecode_job *job) {
    return job->run->options.progress && !job->ended && !job->run->end;
}

void dx_finecode_job_begin(dx_finecode_job *job, const char *title, const char *message,
                           int64_t total) {
    dx__finecode_er_out out;
    if (!is_wanted(job))
        return;
    begin_value(job->run, &out, "begin");
    member(&out, "title", title ? title : job->run->task->name);
    member(&out, "message", message);
    percentage(&out, total == 0 ? 100 : 0); /* there is nothing to do */
    dx__finecode_er_out_key(&out, "cancellable");
    dx__finecode_er_out_word(&out, "false");
    dx__finecode_er_out_key(&out, "total");
    if (total < 0)
        dx__finecode_er_out_word(&out, "null");
    else
        dx__finecode_er_out_integer(&out, total);
    send_value(job->run, &out);
    job->run->has_begun = true;
}

void dx_finecode_job_report(dx_finecode_job *job, const char *message, int percent) {
    dx__finecode_er_out out;
    if (!is_wanted(job))
        return;
    begin_value(job->run, &out, "report");
    member(&out, "message", message);
    percentage(&out, percent);
    send_value(job->run, &out);
}

void dx_finecode_job_finish(dx_finecode_job *job, const char *message) {
    dx__finecode_er_out out;
    if (!is_wanted(job) || !job->run->has_begun)
        return;
    begin_value(job->run, &out, "end");
    member(&out, "message", message);
    send_value(job->run, &out);
    job->run->has_begun = false;
}
