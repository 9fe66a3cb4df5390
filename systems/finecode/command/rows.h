/* rows.h: what becomes of each project in a run. */
#ifndef FINECODE_ROWS_H
#define FINECODE_ROWS_H

#include <duplex/finecode-wm.h>

#include <stdbool.h>

enum row_state { ROW_WAITING, ROW_RUNNING, ROW_OVER };

/* Handlers of one env that run, or have run. */
struct step {
    char *env;
    char *handlers;
    char *state; /* "started", "done", … */
    uint64_t began_ms;
    uint64_t ms; /* once it is over */
};

struct row {
    dx_finecode_project *project;
    const char *action;
    enum row_state state;
    uint64_t began_ms;
    struct step *steps;
    size_t step_count;
    char *message; /* of the last progress; may be NULL */
    int percent;   /* of it; -1: not told */
    bool has_parts;

    /* Once it is over. */
    int code; /* the exit code of its failure, or CLI_OK */
    int64_t return_code;
};

struct rows {
    struct row *at;
    size_t count;
    size_t from;        /* those before belong to actions that are over */
    const char *action; /* at hand */
};

/* The one of that project and the action at hand, made if there is none. NULL without memory. */
struct row *rows_of(struct rows *rows, dx_finecode_project *project);
void rows_done(struct rows *rows);

/* A step has begun, or changed. */
void row_step(struct row *row, const char *env, const char *handlers, const char *state);
/* A value of progress: {type, title, message, percentage}. */
void row_progress(struct row *row, yyjson_val *value);

#endif
