/* A tool that looks at many files, a little at a time, so that the agent can answer in between. */
#ifndef AUTOHAND_TOOL_LOOK_H
#define AUTOHAND_TOOL_LOOK_H

#include "systems/autohand/files_parts.h"

struct dx__autohand_look {
    dx_autohand_job *job;
    dx_autohand_agent *agent;
    dx_allocator alloc;
    dx_timer *timer;
    /* Looks at one thing. DX_CLOSED: that was all, or enough of it. */
    dx_status (*step)(struct dx__autohand_look *look);
    struct dx__autohand_walk walk;
    dx_buf out;
    size_t out_max;
    uint64_t depth_max;
    uint64_t limit;
    uint64_t found;
    dx_text query; /* lent by the arguments; of lower case, and allocated, if letters are folded */
    bool folds;
    char *only;  /* the one file that is looked at */
    bool enough; /* there is more than was told */
};

/* For all that take these: path is cleaned, the output may have output_max bytes. NULL: the job was
 * ended. */
struct dx__autohand_look *dx__autohand_look_new(dx_autohand_job *job, char **ret_path,
                                                dx_status (*step)(struct dx__autohand_look *look));
/* Walks, beginning at `path`, which is freed, until step() says that it is enough; ends the job. */
void dx__autohand_look_run(struct dx__autohand_look *look, char *path);
/* Ends the job by what went wrong; frees `path`. */
void dx__autohand_look_fail(struct dx__autohand_look *look, char *path, dx_status status,
                            const dx_error *error);
/* .git and node_modules are nothing to look into, unless that is where it begins. */
bool dx__autohand_look_skips(const struct dx__autohand_look *look);

#endif
