/* Runs that a job asks the manager for. */
#include "systems/finecode/er_parts.h"

/* How deep it is goes on unchanged: the manager counts. */
static void begin(dx_finecode_job *job, const char *source, dx_json payload,
                  dx__finecode_er_out *out) {
    dx_finecode_origin origin = job->run->options.origin;
    dx__finecode_er_out_init(out, &job->run->er->alloc);
    dx__finecode_er_out_open(out, '{');
    dx__finecode_er_out_key(out, "actionSource");
    dx__finecode_er_out_string(out, dx_str(source));
    dx__finecode_er_out_key(out, "payload");
    size_t before = out->buf.len;
    if (out->status == DX_OK)
        out->status = dx_json_write(&out->buf, payload);
    if (out->buf.len == before)
        dx__finecode_er_out_word(out, "{}");
    dx__finecode_er_out_key(out, "meta");
    dx__finecode_er_out_open(out, '{');
    dx__finecode_er_out_key(out, "trigger");
    dx__finecode_er_out_string(out, dx_str(origin.trigger));
    dx__finecode_er_out_key(out, "devEnv");
    dx__finecode_er_out_string(out, dx_str(origin.dev_env));
    dx__finecode_er_out_key(out, "orchestrationDepth");
    dx__finecode_er_out_integer(out, origin.depth);
    dx__finecode_er_out_close(out, '}');
}

static dx_status ask(dx_finecode_job *job, const char *method, dx__finecode_er_out *out,
                     dx_finecode_on_answer on_answer, void *user) {
    dx__finecode_er_out_close(out, '}');
    dx_status status = out->status;
    if (status == DX_OK)
        status = dx_finecode_job_ask(job, method, dx_json_checked(dx__finecode_er_out_text(out)),
                                     on_answer, user);
    dx__finecode_er_out_done(out);
    return status;
}

dx_status dx_finecode_job_run_in_project(dx_finecode_job *job, const char *source, dx_json payload,
                                         dx_finecode_on_answer on_answer, void *user) {
    dx__finecode_er_out out;
    begin(job, source, payload, &out);
    return ask(job, "finecode/runActionInProject", &out, on_answer, user);
}

dx_status dx_finecode_job_run_in_workspace(dx_finecode_job *job, const char *source,
                                           dx_json payload, const char *const *paths,
                                           int concurrently, dx_finecode_on_answer on_answer,
                                           void *user) {
    dx__finecode_er_out out;
    begin(job, source, payload, &out);
    dx__finecode_er_out_key(&out, "projectPaths");
    if (paths) {
        dx__finecode_er_out_open(&out, '[');
        for (; *paths; paths++)
            dx__finecode_er_out_string(&out, dx_str(*paths));
        dx__finecode_er_out_close(&out, ']');
    } else {
        dx__finecode_er_out_word(&out, "null");
    }
    dx__finecode_er_out_key(&out, "concurrently");
    dx__finecode_er_out_word(&out, concurrently ? "true" : "false");
    return ask(job, "finecode/runActionInWorkspace", &out, on_answer, user);
}
