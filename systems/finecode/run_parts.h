/* A run is a tree: the run, one leg for each project, and the steps of a leg, each of which is one
 * call of one runner. Every level ends once; memory goes only with the run, from its own turn of
 * the loop, so that nothing that a callback came through is gone when it returns. */
#ifndef FINECODE_RUN_PARTS_H
#define FINECODE_RUN_PARTS_H

#include "systems/finecode/wm_parts.h"

typedef struct dx__finecode_leg dx__finecode_leg;
typedef struct dx__finecode_step dx__finecode_step;
typedef struct dx__finecode_nested dx__finecode_nested;

/* How something ended. */
typedef struct dx__finecode_end {
    dx_finecode_status status;
    int64_t return_code;
    int64_t code;
    dx_finecode_cause cause;
    char why[400];
} dx__finecode_end;

enum dx__finecode_step_kind {
    DX__FINECODE_GATE, /* the runner is only to be there */
    DX__FINECODE_RUN,
    DX__FINECODE_HANDLERS,
    DX__FINECODE_MERGE,
    DX__FINECODE_FORMAT,
    DX__FINECODE_SOURCE, /* resolveSource */
    DX__FINECODE_SCHEMAS
};

enum dx__finecode_step_state {
    DX__FINECODE_IDLE,
    DX__FINECODE_WAITING, /* for the runner */
    DX__FINECODE_CALLING,
    DX__FINECODE_OVER
};

struct dx__finecode_step {
    dx_finecode_run *run;
    dx__finecode_leg *leg; /* NULL: it is one of those that look for the action */
    enum dx__finecode_step_kind kind;
    enum dx__finecode_step_state state;
    dx_finecode_project *project;
    const char *env;
    const dx__finecode_part *part; /* NULL: no handlers */
    dx_finecode_runner *runner;    /* while it waits or calls */
    dx_call call;
    bool is_streamed; /* partial results have come */
    char token[64];   /* JSON text */
    yyjson_doc *result;
    yyjson_doc *context;
    yyjson_doc *by_format;
    dx__finecode_end end;
};

static inline bool dx__finecode_is_good(const dx__finecode_step *step) {
    return step->end.status != DX_FINECODE_FAILED && step->end.status != DX_FINECODE_GIVEN_UP;
}

enum dx__finecode_leg_state {
    DX__FINECODE_LEG_NEW,
    DX__FINECODE_LEG_STARTING, /* its runners */
    DX__FINECODE_LEG_CHAIN,    /* one step after the other; a single one, too */
    DX__FINECODE_LEG_GROUPS,
    DX__FINECODE_LEG_MERGING,
    DX__FINECODE_LEG_FORMATTING,
    DX__FINECODE_LEG_OVER
};

struct dx__finecode_leg {
    dx_finecode_run *run;
    dx_finecode_project *project; /* NULL: it was removed, and the leg is over */
    char *action;                 /* its name there: the configuration may be read anew meanwhile */
    enum dx__finecode_leg_state state;
    dx__finecode_part *groups;
    size_t group_count;
    dx__finecode_part *segments; /* NULL unless it is a chain over several envs */
    size_t segment_count;
    dx__finecode_step *steps; /* room for all of either, one to merge and one to format */
    size_t step_count;
    size_t at;       /* the segment */
    size_t pending;  /* steps that are under way */
    bool is_told;    /* partial results were given to who asked */
    bool is_held;    /* … and none are any more before the end */
    bool is_counted; /* in run->busy, and unless that is nested in wm->busy */
    unsigned holds;  /* runners: see wm->held */
    dx__finecode_end end;
    yyjson_doc *by_format;
    uint64_t began; /* 0: not yet */
};

enum dx__finecode_run_kind { DX__FINECODE_ACTION, DX__FINECODE_RESOLVE, DX__FINECODE_SCHEMA };

enum dx__finecode_run_stage {
    DX__FINECODE_FINDING, /* which action is meant; see run_find.c */
    DX__FINECODE_ASKING,  /* resolveSource */
    DX__FINECODE_GOING
};

struct dx_finecode_run {
    dx_finecode_wm *wm;
    dx_allocator alloc;
    enum dx__finecode_run_kind kind;
    enum dx__finecode_run_stage stage;
    dx_finecode_ask ask; /* payload and project are not used: see below */
    dx_finecode_on_value on_value;
    char *words;
    yyjson_doc *payload;            /* NULL: {} */
    char id[37];                    /* walRunId */
    bool is_canonical;              /* only canonical sources name the action */
    unsigned rounds;                /* how often what is unresolved was looked into */
    dx_finecode_project **projects; /* those that are meant; NULL: all that have the action */
    size_t project_count;
    dx__finecode_step *finders;
    size_t finder_count;
    size_t finding; /* those that are under way */
    dx__finecode_leg *legs;
    size_t leg_count;
    unsigned busy; /* legs that have begun and are not over */
    unsigned tokens;
    bool is_cancelled;
    bool is_over;         /* `end` holds it, and only on_done is left */
    dx__finecode_end end; /* of the whole */
    uint64_t began;       /* 0: it had no turn yet */
    dx_timer *turn;
    dx__finecode_nested *nested; /* the request of a runner that it is for; NULL: none */
    dx_finecode_run *next;
};

/* run.c */
typedef struct dx__finecode_start {
    enum dx__finecode_run_kind kind;
    dx_finecode_project *const *projects; /* NULL: all that have it */
    size_t project_count;
    bool is_canonical;
    dx__finecode_nested *nested;
    dx_finecode_on_value on_value;
} dx__finecode_start;
dx_status dx__finecode_run_start(dx_finecode_wm *wm, const dx_finecode_ask *ask,
                                 const dx__finecode_start *start, dx_finecode_run **ret_run,
                                 dx_error *reterr);
/* Ends as a whole, before or instead of its legs. */
void dx__finecode_run_fail(dx_finecode_run *run, const dx__finecode_end *end);
/* Looks in its next turn whether all legs are over, or another has to begin. */
void dx__finecode_run_look(dx_finecode_run *run);
/* Sets `why`, of "before after". */
void dx__finecode_end_set(dx__finecode_end *end, dx_finecode_status status, dx_finecode_cause cause,
                          const char *before, const char *after);

/* run_end.c */
/* The worst of all legs. */
void dx__finecode_run_sum(dx_finecode_run *run);
/* on_done or on_value; the run is gone. */
void dx__finecode_run_finish(dx_finecode_run *run);
dx_finecode_run *dx__finecode_run_free(dx_finecode_run *run);

/* run_find.c */
/* DX_ERR_INVALID: it is plain already that nothing will be found; DX_ERR_LIMIT: too many projects
 * have it. */
dx_status dx__finecode_find_check(const dx_finecode_run *run, dx_error *reterr);
/* Goes on with looking, as none of the steps for that is under way. */
void dx__finecode_find(dx_finecode_run *run);
void dx__finecode_find_done(dx__finecode_step *step);
/* A presets' action is only known when they were read, which the runner of this env does. */
#define DX__FINECODE_BOOTSTRAP "dev_workspace"

/* run_leg.c */
dx_status dx__finecode_leg_init(dx__finecode_leg *leg, dx_finecode_run *run,
                                dx_finecode_project *project, const char *action);
void dx__finecode_leg_done(dx__finecode_leg *leg);
/* Are there few enough others? */
bool dx__finecode_leg_may_begin(const dx_finecode_run *run);
void dx__finecode_leg_begin(dx__finecode_leg *leg);
/* A step of it is over. */
void dx__finecode_leg_advance(dx__finecode_leg *leg, dx__finecode_step *step);
void dx__finecode_leg_end(dx__finecode_leg *leg, const dx__finecode_end *end);
/* Room for so many steps. */
dx_status dx__finecode_leg_steps(dx__finecode_leg *leg, size_t count);
void dx__finecode_leg_start(dx__finecode_leg *leg, dx__finecode_step *step,
                            enum dx__finecode_step_kind kind, const dx__finecode_part *part,
                            const char *env);

/* run_groups.c */
/* What comes after the groups, too: merging them, and formatting. */
void dx__finecode_groups_advance(dx__finecode_leg *leg, dx__finecode_step *step);
/* Makes the formats that are asked for of the bare result. */
void dx__finecode_leg_wrap(dx__finecode_leg *leg, yyjson_val *result);
/* Does the runner of that env format what it is given? The document has no request for it. */
bool dx__finecode_leg_formats(const dx__finecode_leg *leg, const char *env);
/* The largest of the return codes of the first steps. */
int64_t dx__finecode_leg_code(const dx__finecode_leg *leg, size_t count);

/* run_step.c */
void dx__finecode_step_start(dx__finecode_step *step);
/* It ends without a word to its leg. */
void dx__finecode_step_drop(dx__finecode_step *step);
void dx__finecode_step_done(dx__finecode_step *step);
void dx__finecode_step_cancel(dx__finecode_step *step);

/* run_reply.c: what a step's call gave. */
void dx__finecode_step_read(dx__finecode_step *step, const dx_event *event);

/* run_params.c: the params of a step's call, in the form of its runner, built in `doc`; false
 * without memory. */
bool dx__finecode_step_params(const dx__finecode_step *step, yyjson_mut_doc *doc,
                              dx_json *ret_params);
const char *dx__finecode_step_method(const dx__finecode_step *step);
/* Are partial results or progress told about it? */
bool dx__finecode_step_is_tracked(const dx__finecode_step *step);

/* run_partial.c */
void dx__finecode_partial_take(dx__finecode_step *step, const dx_event *event);
/* A step gave a result; `base` is what it went on from, or NULL. */
void dx__finecode_partial_cover(dx__finecode_step *step, yyjson_val *base);
/* The leg has its result: if it has not been given by partial results, it is one. */
void dx__finecode_partial_end(dx__finecode_leg *leg);
/* run_delta.c */
/* What is in `now` that is not in `before`: members that are new or others, and what arrays have
 * grown by. NULL without memory. */
yyjson_mut_val *dx__finecode_delta(yyjson_mut_doc *doc, yyjson_val *before, yyjson_val *now);

/* run_tell.c: on_step, and the events of the WAL. */
void dx__finecode_tell_step(const dx__finecode_step *step, const char *state);
void dx__finecode_tell_run(dx_finecode_run *run, const dx__finecode_leg *leg, const char *type,
                           const dx__finecode_step *step);
/* Of one that there was no run of at all. */
void dx__finecode_tell_refused(dx_finecode_wm *wm, const dx_finecode_ask *ask, const char *why);

/* back_run.c: what runs for a request of a runner. */
void dx__finecode_back_run(dx_link *link, const dx_event *event, dx_finecode_runner *runner,
                           bool workspace);
void dx__finecode_back_run_cancel(dx_finecode_runner *runner, dx_request request);
/* What nothing that the runner still runs can have asked for is cancelled: not all runners do that
 * themselves. */
void dx__finecode_back_run_orphans(dx_finecode_runner *runner);
void dx__finecode_back_run_forget(dx_finecode_runner *runner);
/* A member of the request besides those that every run has; NULL: there is none. */
yyjson_val *dx__finecode_nested_member(const dx__finecode_nested *nested, const char *name);
/* Frees one whose run is freed. */
void dx__finecode_nested_free(const dx_allocator *alloc, dx__finecode_nested *nested);
/* back_edit.c */
void dx__finecode_back_edit(dx_link *link, const dx_event *event, dx_finecode_runner *runner);
void dx__finecode_back_edit_cancel(dx_finecode_runner *runner, dx_request request);
void dx__finecode_back_edit_forget(dx_finecode_runner *runner);
/* back_tell.c: questions about the workspace, answered at once. */
bool dx__finecode_back_tell(dx_link *link, const dx_event *event, dx_finecode_runner *runner);
/* The answer to a request that went wrong. */
void dx__finecode_back_refuse(dx_link *link, dx_request request, int64_t code, const char *before,
                              const char *after);

#endif
