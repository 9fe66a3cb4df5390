/* write_file and delete_path. */
#include "systems/autohand/files_parts.h"

#include "base/utf8.h"

#include <stdio.h>

static void say_done(dx_autohand_job *job, const char *what, const char *path) {
    char room[PATH_MAX + 16];
    (void)snprintf(room, sizeof room, "%s %s", what, path);
    dx_autohand_job_done(job, dx_str(room));
}

void dx__autohand_write_file(dx_autohand_job *job, void *user) {
    dx_autohand_agent *agent = dx_autohand_job_agent(job);
    dx_allocator alloc = agent->alloc; /* the job goes first */
    dx_error error = {.phrase = ""};
    char *path = NULL;
    bool creates = false;
    dx_text text = dx__autohand_arg_text(job, "contents");
    (void)user;
    if (!text.at)
        text = dx__autohand_arg_text(job, "content");
    dx_status status = dx__autohand_arg_path(job, "path", NULL, &path, &error);
    if (status == DX_OK && !text.at)
        status = dx__autohand_path_fail(&error, DX_ERR_INVALID, path, "contents is missing");
    if (status == DX_OK) {
        creates = dx__autohand_batch_creates(agent, path);
        status = dx_autohand_job_write(job, path, text, NULL, &error);
    }
    if (status == DX_OK)
        say_done(job, creates ? "Created" : "Updated", path);
    else
        dx__autohand_job_refuse(job, status, path, &error);
    dx__free(&alloc, path);
}

void dx__autohand_delete_path(dx_autohand_job *job, void *user) {
    dx_allocator alloc = dx_autohand_job_agent(job)->alloc;
    dx_error error = {.phrase = ""};
    char *path = NULL;
    (void)user;
    dx_status status = dx__autohand_arg_path(job, "path", NULL, &path, &error);
    if (status == DX_OK)
        status = dx_autohand_job_write(job, path, (dx_text){NULL, 0}, NULL, &error);
    if (status == DX_OK)
        say_done(job, "Deleted", path);
    else
        dx__autohand_job_refuse(job, status, path, &error);
    dx__free(&alloc, path);
}
