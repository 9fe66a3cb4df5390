/* Looking at many files, a little at a time. */
#include "systems/autohand/tool_look.h"

#include <string.h>
#include <time.h>

/* For how long it looks before others have their turn. */
enum { SLICE_MS = 5 };

static uint64_t now_ms(void) {
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void look_free(struct dx__autohand_look *look) {
    dx_allocator alloc = look->alloc;
    dx_timer_free(look->timer);
    dx__autohand_walk_close(&look->walk);
    dx_buf_done(&look->out);
    dx__free(&alloc, look->only);
    if (look->folds)
        dx__free(&alloc, (char *)look->query.at);
    dx__free(&alloc, look);
}

struct dx__autohand_look *dx__autohand_look_new(dx_autohand_job *job, char **ret_path,
                                                dx_status (*step)(struct dx__autohand_look *look)) {
    dx_autohand_agent *agent = dx_autohand_job_agent(job);
    dx_error error = {.phrase = ""};
    char *path = NULL;
    dx_status status = dx__autohand_arg_path(job, "path", ".", &path, &error);
    struct dx__autohand_look *look =
        status == DX_OK ? dx__malloc(&agent->alloc, sizeof *look) : NULL;
    if (!look) {
        dx_allocator alloc = agent->alloc;
        dx__autohand_job_refuse(job, status == DX_OK ? DX_ERR_NOMEM : status, path, &error);
        dx__free(&alloc, path);
        return NULL;
    }
    memset(look, 0, sizeof *look);
    look->job = job;
    look->agent = agent;
    look->alloc = agent->alloc;
    look->step = step;
    look->out_max = agent->config.output_max > 1024 ? agent->config.output_max - 512 : 512;
    dx_buf_init(&look->out, SIZE_MAX / 8, &agent->alloc);
    *ret_path = path;
    return look;
}

bool dx__autohand_look_skips(const struct dx__autohand_look *look) {
    return strcmp(look->walk.name, ".git") == 0 || strcmp(look->walk.name, "node_modules") == 0;
}

/* Ends the job, and itself. */
static void end(struct dx__autohand_look *look, dx_status status, const char *path,
                const dx_error *error) {
    dx_autohand_job *job = look->job;
    if (status == DX_CLOSED) {
        dx_buf out = look->out;
        look->out.data = NULL;
        look_free(look);
        dx_autohand_job_done(job, (dx_text){out.data ? out.data : "", out.len});
        dx_buf_done(&out);
        return;
    }
    look_free(look);
    dx__autohand_job_refuse(job, status, path, error);
}

/* False: it has ended. */
static bool go_on(struct dx__autohand_look *look) {
    uint64_t until = now_ms() + SLICE_MS;
    dx_status status;
    do
        status = look->step(look);
    while (status == DX_OK && now_ms() < until);
    if (status == DX_OK)
        return true;
    end(look, status, NULL, &(dx_error){.phrase = ""});
    return false;
}

static void on_time(dx_timer *timer, void *user) {
    struct dx__autohand_look *look = user;
    if (go_on(look))
        dx_timer_set(timer, 0);
}

static void on_cancel(dx_autohand_job *job, void *user) {
    look_free(user);
    dx_autohand_job_fail(job, dx_str("Aborted"));
}

void dx__autohand_look_fail(struct dx__autohand_look *look, char *path, dx_status status,
                            const dx_error *error) {
    dx_allocator alloc = look->alloc;
    end(look, status, path, error);
    dx__free(&alloc, path);
}

void dx__autohand_look_run(struct dx__autohand_look *look, char *path) {
    dx_error error = {.phrase = ""};
    dx_allocator alloc = look->alloc;
    dx_status status =
        look->only ? DX_OK : dx__autohand_walk_open(&look->walk, look->agent, path, &error);
    if (status == DX_OK)
        status = dx_timer_new(dx_autohand_job_loop(look->job), on_time, look, &look->timer);
    if (status != DX_OK) {
        end(look, status, path, &error);
    } else if (go_on(look)) {
        dx_autohand_job_keep(look->job, on_cancel, NULL, look);
        dx_timer_set(look->timer, 0);
    }
    dx__free(&alloc, path);
}
