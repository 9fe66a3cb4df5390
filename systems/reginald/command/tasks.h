/* tasks.h: the tasks of the configuration, and which needs which. */
#ifndef REGINALD_TASKS_H
#define REGINALD_TASKS_H

#include "systems/reginald/command/file.h"

#include <duplex/reginald-host.h>

enum { TASKS_MAX = 10000 };

enum task_state {
    TASK_WAITING,
    TASK_RUNNING,
    TASK_DONE,
    TASK_FAILED,
    TASK_LEFT_OUT,  /* one that it needs failed */
    TASK_LOOKED_AT, /* a dry run: it was checked, and not run */
};

struct task {
    const char *id; /* NULL if it has none */
    const char *type;
    char *label;          /* for messages: its id, or what and where it is */
    char *place;          /* in the file: "tasks[0].config" */
    char *dir;            /* an absolute path */
    yyjson_val *config;   /* its settings: those in a table of their own, … */
    yyjson_doc *options;  /* … those in the task itself, … */
    yyjson_val *defaults; /* … and those for its type */
    char *number;         /* "tasks[0]" */
    char *default_place;  /* "defaults.TYPE" */
    size_t *needs;        /* numbers of tasks */
    size_t need_count;

    enum task_state state;
    const dx_reginald_offer *offer; /* NULL: nobody has its type */
    yyjson_mut_doc *values;         /* its settings, an array */
    bool can_dry_run;
    int code;  /* the exit code of its failure */
    char *why; /* may be NULL */
    uint64_t began_ms;
    void *user; /* whoever runs it */
};

struct tasks {
    struct task *at;
    size_t count;
    void *runner; /* whoever runs them; freed with them */
};

/* An exit code. Circles, and needs that nobody is, are told. */
int tasks_read(const struct file *file, struct tasks *ret_tasks);
void tasks_done(struct tasks *tasks);

#endif
