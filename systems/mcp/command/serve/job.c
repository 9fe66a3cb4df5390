/* Work in slices. */
#include "systems/mcp/command/serve/files.h"

#include "cli/wait.h"

#include <stdlib.h>
#include <string.h>

enum { SLICE_MS = 5, TELL_MS = 100 };

static void forget(struct job *job) {
    struct job **at = &job->files->jobs;
    while (*at && *at != job)
        at = &(*at)->next;
    if (*at) {
        *at = job->next;
        job->files->job_count--;
    }
}

dx_mcp_work *job_end(struct job *job) {
    dx_mcp_work *work = job->work;
    forget(job);
    dx_timer_free(job->timer);
    walk_end(&job->walk);
    job->free(job);
    return work;
}

void job_fail(struct job *job, const char *text) {
    dx_mcp_work_fail(job_end(job), dx_str(text));
}

static void on_time(dx_timer *timer, void *user) {
    struct job *job = user;
    uint64_t until = cli_now() + SLICE_MS;
    do {
        if (!job->step(job))
            return;
    } while (cli_now() < until);
    dx_timer_set(timer, 1); /* 0 would be in the same turn */
}

static void on_cancel(dx_mcp_work *work, void *user) {
    (void)work;
    dx_mcp_work_done(job_end(user));
}

bool job_start(struct files *files, dx_mcp_work *work, struct job *job) {
    job->files = files;
    job->work = work;
    job->next = files->jobs;
    files->jobs = job;
    files->job_count++;
    if (files->job_count > FILES_JOBS) {
        job_fail(job, "too many searches at the same time; try again later");
        return false;
    }
    if (dx_timer_new(dx_mcp_work_loop(work), on_time, job, &job->timer) != DX_OK) {
        job_fail(job, "out of memory");
        return false;
    }
    dx_mcp_work_keep(work);
    dx_mcp_work_on_cancel(work, on_cancel, job);
    dx_timer_set(job->timer, 0);
    return true;
}

void job_progress(struct job *job, double done, const char *path) {
    uint64_t now = cli_now();
    if (now - job->told_ms < TELL_MS)
        return;
    job->told_ms = now;
    dx_text message = dx_str(path);
    dx_mcp_work_progress(job->work, done, -1, dx__is_utf8(message) ? message : (dx_text){NULL, 0});
}

/* The server is gone, and nobody hears of their end. */
void jobs_free(struct files *files) {
    while (files->jobs)
        dx_mcp_work_done(job_end(files->jobs));
}
