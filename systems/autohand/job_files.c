/* Files, as the tools of a turn see them. */
#include "systems/autohand/core_parts.h"

static dx_status clean(dx_autohand_job *job, const char *path, char **ret, dx_error *reterr) {
    return dx__autohand_path_clean(&job->work->call.agent->workspace, dx_str(path), ret, reterr);
}

dx_status dx_autohand_job_read(dx_autohand_job *job, const char *path, dx_text *ret_text,
                               dx_error *reterr) {
    dx_autohand_agent *agent = job->work->call.agent;
    char *own = NULL;
    char *bytes = NULL;
    size_t len = 0;
    dx_status status = clean(job, path, &own, reterr);
    if (status == DX_OK)
        status = dx__autohand_batch_read(agent, own, &bytes, &len, reterr);
    if (status == DX_OK)
        *ret_text = (dx_text){bytes, len};
    dx__free(&agent->alloc, own);
    return status;
}

void dx_autohand_job_drop(dx_autohand_job *job, dx_text text) {
    dx__free(&job->work->call.agent->alloc, (char *)(uintptr_t)text.at);
}

dx_status dx_autohand_job_write(dx_autohand_job *job, const char *path, dx_text text,
                                const char *description, dx_error *reterr) {
    dx_autohand_agent *agent = job->work->call.agent;
    char *own = NULL;
    dx_status status = clean(job, path, &own, reterr);
    if (status == DX_OK)
        status = dx__autohand_batch_write(agent, &job->work->call, own, text, description, reterr);
    dx__free(&agent->alloc, own);
    return status;
}
