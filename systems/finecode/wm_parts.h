/* What the files of the workspace manager share. */
#ifndef FINECODE_WM_PARTS_H
#define FINECODE_WM_PARTS_H

#include "systems/finecode/shared.h"
#include <duplex/finecode-wm.h>

/* config*.c: what the files of a project say. */

typedef struct dx__finecode_handler {
    const char *name;
    const char *source;
    const char *env;
    yyjson_val *config; /* may be NULL, as the next */
    yyjson_val *dependencies;
    char *location; /* from resolveActionMeta; may be NULL */
} dx__finecode_handler;

typedef struct dx__finecode_action {
    const char *name;
    const char *source;
    yyjson_val *config; /* may be NULL */
    dx__finecode_handler *handlers;
    size_t handler_count;
    /* What a runner has said; canonical NULL until then. */
    char *canonical;
    bool runs_concurrently;
    bool workspace;
    char *parent;
    char *language;
    char *location;
    dx_finecode_handler_view *views; /* what dx_finecode_project_action() lends */
} dx__finecode_action;

/* What one reading of the files gave. Those before it stay as long as a run may use a part of them.
 */
typedef struct dx__finecode_reading {
    yyjson_doc *raw;
    dx__finecode_action *actions;
    size_t action_count;
    const char **envs; /* that have a handler, each once, in their order */
    size_t env_count;
    struct dx__finecode_reading *older;
} dx__finecode_reading;

/* A preset in a package: where that lies is known from a runner. */
typedef struct dx__finecode_preset {
    char *source;
    char *folder; /* NULL: not known, or there is none */
} dx__finecode_preset;

struct dx_finecode_project {
    dx_finecode_wm *wm;
    dx_allocator alloc;
    char *path;
    char *name;
    char *file;       /* projectDefPath */
    bool is_unspoken; /* the path is not UTF-8, and has '?' there: messages could not have it */
    dx_finecode_project_state state;
    char why[200];
    /* Those of the newest reading. raw is the whole of pyproject.toml ({} without one) with the
     * merged table at tool.finecode; all strings above are parts of it. What a runner has said is
     * of the project's allocator. */
    yyjson_doc *raw;
    dx__finecode_action *actions;
    size_t action_count;
    bool has_spoken; /* a runner of its own has told the meta of its actions */
    dx__finecode_reading *readings;
    dx__finecode_preset *presets;
    size_t preset_count;
    const char *root; /* the folder that was added: lent by the manager */
    uint64_t stamp;   /* of the file with its handlers */
    unsigned legs;    /* of runs that are under way in it */
    bool is_outdated; /* its files have changed: it is read again when no leg is left */
    unsigned holders; /* legs that hold some of its runners */
};

/* Overrides of the environment and of the command line, as they are given. */
typedef struct dx__finecode_overrides {
    const char *const *words; /* "ACTION.[HANDLER.]PARAM=JSON" */
    char **environment;       /* NULL: not looked at */
} dx__finecode_overrides;
bool dx__finecode_is_override(const char *word); /* has it the form of `words`? */

/* Folders of projects at and below `folder`, in the order of their paths, by calling on_folder with
 * each (an absolute path, good during the call); skips those that are no place for one (.git,
 * .venv, .venvs, node_modules, dist, build, …) and does not follow links; 16 levels, 10,000
 * folders. finecode-workspace.toml of the top may name them. */
dx_status dx__finecode_find_projects(const dx_allocator *alloc, const char *folder,
                                     dx_status (*on_folder)(const char *path, void *user),
                                     void *user, dx_error *reterr);
/* Reads one: never fails for what is in the files (the state and why say it); DX_ERR_NOMEM. */
dx_status dx__finecode_project_read(const dx_allocator *alloc, const char *folder,
                                    const dx__finecode_overrides *overrides,
                                    dx_finecode_project **ret_project);
dx_finecode_project *dx__finecode_project_free(dx_finecode_project *project);
/* Presets: their sources, NULL after the last; and a new reading with what is in their folders
 * (preset.toml) below the project's own files. What was learned from runners stays; what runs use
 * stays as well, but nothing else that was lent. preset_folders[i] is that of the i-th preset, ""
 * if it was not found, NULL at the end; NULL instead of all: those that are known. Afterwards there
 * may be more presets, behind the others: those that presets name. */
const char *dx__finecode_project_preset(const dx_finecode_project *project, size_t index);
dx_status dx__finecode_project_reread(dx_finecode_project *project,
                                      const dx__finecode_overrides *overrides,
                                      const char *const *preset_folders);
/* Does finecode-workspace.toml of this folder switch the WAL on? */
bool dx__finecode_workspace_wal(const dx_allocator *alloc, const char *folder);
/* The `config` of updateConfig for one env: actions with a handler there, with all their handlers;
 * action_handler_configs, services; handlers_to_initialize; in the revision real also logging. */
yyjson_mut_val *dx__finecode_project_config(const dx_finecode_project *project, const char *env,
                                            bool real, yyjson_mut_doc *doc);
/* How runners of an env are started: er.envs.ENV.runner, er.runner; `runner` is "venv" (the
 * default: .venvs/ENV/bin/python), "duplex", or an array of words; `transport` "tcp" or "stdio"
 * (default: for venv either, else stdio). */
typedef struct dx__finecode_way {
    const char **argv; /* NULL at the end; to be freed with its strings in one piece */
    bool tcp;
    bool either; /* by its pipes, unless it reports a port */
    bool debug;
} dx__finecode_way;
/* DX_MISFIT with a reason: there is no program (NO_VENV). */
dx_status dx__finecode_project_way(const dx_finecode_project *project, const char *env,
                                   const dx_finecode_wm_config *config, dx__finecode_way *ret_way,
                                   char reason[200]);
dx__finecode_action *dx__finecode_project_find(const dx_finecode_project *project, dx_text word);
/* Envs that have a handler, each once, in their order; NULL after the last. */
const char *dx__finecode_project_env(const dx_finecode_project *project, size_t index);

/* wm.c */
struct dx_finecode_wm {
    dx_loop *loop;
    dx_finecode_wm_config config;
    dx_allocator alloc;
    char *words; /* the strings of the configuration */
    dx_protocol *seed;
    dx_protocol *real;
    char **roots; /* folders that were added */
    size_t root_count;
    dx_finecode_project **projects;
    size_t project_count;
    dx_finecode_runner *runners; /* a list; one is made the first time that it is needed */
    dx_finecode_run *runs;
    dx__finecode_documents documents;
    dx__finecode_wal *wal;
    char *wal_folder; /* if a workspace wants one, and the configuration does not say where */
    char *log_level;  /* that is forwarded; NULL: none */
    unsigned starting;
    unsigned busy;     /* legs that take one of max_jobs */
    unsigned held;     /* runners that are held, and places for those still to start */
    uint64_t last_use; /* the runners' own are counted by it */
    bool stopping;
    dx_timer *turn; /* what has to come from a dispatch of its own */
    bool *freed;    /* whoever calls back looks there before going on; may be NULL */
    bool tree_changed;
    bool is_stopped_told;
    const char **overrides;           /* those of the configuration, kept */
    dx_finecode_runner *first_queued; /* for a turn to start, in order */
    dx_finecode_runner *last_queued;  /* means something if there is a first */
    struct dx__finecode_note *notes;  /* for on_message */
    struct dx__finecode_edit *edits;
    uint64_t last_edit;
    dx_finecode_server *server; /* told of what the callbacks are told; may be NULL */
};
dx__finecode_overrides dx__finecode_wm_overrides(const dx_finecode_wm *wm);
/* Is it time for on_stopped? Looks in the next dispatch. */
void dx__finecode_wm_settle(dx_finecode_wm *wm);
void dx__finecode_wm_wake(dx_finecode_wm *wm);         /* something is to be told */
void dx__finecode_wm_tree_changed(dx_finecode_wm *wm); /* on_tree comes */
/* on_message comes, from a dispatch of its own. runner NULL: the manager says it. kind is not
 * copied. */
void dx__finecode_wm_note(dx_finecode_wm *wm, dx_finecode_runner *runner, const char *kind,
                          const char *before, const char *after);
/* Those of a runner that goes; NULL: those of the manager. */
void dx__finecode_wm_forget_notes(dx_finecode_wm *wm, const dx_finecode_runner *runner);
/* An event of the WAL; that no more can be written is a note. */
void dx__finecode_wm_log(dx_finecode_wm *wm, const dx__finecode_wal_event *event);
void dx__finecode_wm_on_turn(dx_timer *timer, void *user);
void dx__finecode_wm_remove_runner(dx_finecode_wm *wm, dx_finecode_runner *runner);
void dx__finecode_wm_free_projects(dx_finecode_wm *wm);
/* Reads the files of all projects again; runners get what has changed, now or when runs that are
 * under way have ended. wm_refresh.c */
void dx__finecode_wm_refresh(dx_finecode_wm *wm);
/* May a new leg begin in it? Brings it up to date if that was left to be done. */
bool dx__finecode_project_is_fresh(dx_finecode_project *project);
/* Has what is in the files changed? */
bool dx__finecode_project_has_changed(dx_finecode_project *project,
                                      const dx__finecode_overrides *overrides);
/* Which version there is of the file with handlers, which our runners read; 0: none. */
uint64_t dx__finecode_handlers_stamp(const dx_finecode_project *project);
/* Is it there still? One that is being removed is not. */
bool dx__finecode_wm_has(const dx_finecode_wm *wm, const dx_finecode_project *project);
/* The one of that project and env, made if there is none; NULL without memory. */
dx_finecode_runner *dx__finecode_wm_need_runner(dx_finecode_wm *wm, dx_finecode_project *project,
                                                const char *env);

/* runner*.c: one process. */
typedef struct dx__finecode_waiter {
    void (*on_ready)(dx_finecode_runner *runner, bool ready, void *user);
    void *user;
    unsigned run; /* which incarnation there was when it came */
    struct dx__finecode_waiter *next;
} dx__finecode_waiter;

struct dx_finecode_runner {
    dx_finecode_wm *wm;
    dx_finecode_project *project;
    char *env;
    char *label; /* what a trace calls it: "ENV@PROJECT" */
    dx_finecode_runner_state state;
    bool is_real;                   /* the revision that is spoken */
    bool is_tcp;                    /* the conversation is not that of the child's pipes */
    bool is_either;                 /* it was started without knowing that … */
    bool is_open;                   /* … and has shown neither yet */
    struct dx__finecode_held *held; /* what was said to its pipes until then */
    dx_child *child;                /* NULL: no process */
    dx_link *link; /* the conversation: the child's own, or that of its port; NULL: none */
    dx_timer *limit;
    unsigned run;         /* which incarnation */
    uint64_t last_use;    /* the one with the smallest goes first */
    unsigned step;        /* of the start, and of the end: see runner.h */
    bool restart;         /* once it is gone */
    bool queued;          /* for its turn to start */
    bool is_starting;     /* counts in wm->starting */
    bool is_stale;        /* the configuration has changed while it started */
    bool has_edited;      /* files, for a run that is under way */
    bool is_urgent;       /* a run that holds others up waits for it: it starts in any case */
    bool is_idled;        /* it was stopped to make room, and may be started again */
    bool is_debugged;     /* it waits for a debugger, as long as that takes */
    bool leaving;         /* it was asked to; what waits for it gets the next one */
    bool dying;           /* its conversation has ended, its process has not */
    bool has_documents;   /* it was told which are open */
    bool is_bootstrapped; /* it has found the presets of its project */
    bool starts_others;   /* of its project, once it has */
    bool untold;          /* its state, to on_runner */
    unsigned debug_port;  /* to be told to on_debug */
    unsigned round;       /* of its configuration: presets make a second one */
    char **folders;       /* of the presets, in their order; NULL after the last */
    size_t folder_count;
    dx_buf lines;    /* the last that it wrote */
    dx_event **kept; /* requests that stood on its standard output by chance */
    size_t kept_count;
    char why[1000];
    char *log_path;
    dx__finecode_waiter *waiters;
    struct dx__finecode_call *calls;
    struct dx_finecode_runner *next;
    struct dx_finecode_runner *next_queued;
};
/* on_ready comes once, from the loop, when it is running or can't be: starts it if need be.
 * DX_ERR_NOMEM. */
dx_status dx__finecode_runner_need(dx_finecode_runner *runner,
                                   void (*on_ready)(dx_finecode_runner *runner, bool ready,
                                                    void *user),
                                   void *user);
/* Those who wait with this `user` no longer do; calls with it are cancelled, and nothing comes of
 * them any more. */
void dx__finecode_runner_forget(dx_finecode_runner *runner, void *user);
void dx__finecode_runner_stop(dx_finecode_runner *runner);
dx_finecode_runner *dx__finecode_runner_free(dx_finecode_runner *runner);
/* Is there somebody to talk to? */
bool dx__finecode_runner_is_ready(const dx_finecode_runner *runner);
/* … or was there, and would be again? */
bool dx__finecode_runner_is_good(const dx_finecode_runner *runner);
/* In the place of params where a method has none: {} by the document; the programs say null, which
 * their revision makes of nothing. */
static inline dx_json dx__finecode_no_params(const dx_finecode_runner *runner) {
    return runner->is_real ? dx_json_none() : dx_json_text("{}", 2);
}
/* Sends params (built here, kept by the caller) to one that is running. on_done exactly once unless
 * the runner is freed, with the outcome as of DX_EVENT_DONE; also if it dies. token: JSON text of
 * the token that on_progress is for; may be absent. ms 0: no limit but the protocol's. */
typedef struct dx__finecode_call_options {
    uint64_t ms;
    bool reset; /* progress starts the time anew */
    dx_text token;
    void (*on_done)(dx_finecode_runner *runner, const dx_event *event, void *user);
    void (*on_progress)(dx_finecode_runner *runner, const dx_event *event, void *user);
    void *user;
} dx__finecode_call_options;
dx_status dx__finecode_runner_call(dx_finecode_runner *runner, const char *method, dx_json params,
                                   const dx__finecode_call_options *options, dx_call *ret_call);
void dx__finecode_runner_cancel(dx_finecode_runner *runner, dx_call call);
/* Tells all running ones of the projects that a path belongs to. */
void dx__finecode_runner_tell_documents(dx_finecode_wm *wm, const char *path, const char *method,
                                        dx_json params);
/* What resolveActionMeta said, in either form, into the project's actions (and those of other
 * projects of the same source). meta.c */
void dx__finecode_meta_take(dx_finecode_runner *runner, yyjson_val *result);

/* back*.c: what a runner asks for or tells by itself. Requests are answered, now or later; those
 * that are under way when the runner dies or cancels them are given up. */
void dx__finecode_back(dx_link *link, const dx_event *event, dx_finecode_runner *runner);
void dx__finecode_back_forget(dx_finecode_runner *runner); /* it is gone */

/* run*.c */
/* Names as the callers of runActionInProject have to use them: only canonical ones. */
dx__finecode_action *dx__finecode_find_canonical(const dx_finecode_project *project,
                                                 dx_text source);
/* All runs that wait for a runner of this project end; before it goes. */
void dx__finecode_runs_drop(dx_finecode_wm *wm, const dx_finecode_project *project);
/* All runs and questions that have this `user` are cancelled, and none of their callbacks comes any
 * more. */
void dx__finecode_runs_forget(dx_finecode_wm *wm, void *user);
/* Does a leg keep it, though it has nothing to do just now? */
bool dx__finecode_runs_hold(const dx_finecode_runner *runner);
/* So many projects run at the same time, now or as soon as they can: at least 1, max_jobs at most.
 */
unsigned dx__finecode_runs_width(const dx_finecode_wm *wm);
/* All of them go without a word; before the runners do. */
void dx__finecode_runs_free(dx_finecode_wm *wm);
/* The seed's table: consecutive handlers of one env, or all of one env. To be freed in one piece.
 */
typedef struct dx__finecode_part {
    const char *env;
    const char **names; /* NULL at the end */
    size_t count;
} dx__finecode_part;
dx_status dx__finecode_segments(const dx_allocator *alloc, const dx__finecode_action *action,
                                dx__finecode_part **ret_parts, size_t *ret_count);
dx_status dx__finecode_groups(const dx_allocator *alloc, const dx__finecode_action *action,
                              dx__finecode_part **ret_parts, size_t *ret_count);

/* What a run's answer says, in either spelling, as text or object. answer.c */
typedef struct dx__finecode_answer {
    dx_finecode_status status;
    int64_t return_code;
    yyjson_doc *by_format; /* an object; NULL: none; to be freed */
    yyjson_val *result;    /* of runHandlers; NULL: none; lent */
    yyjson_val *context;
    char why[400];
} dx__finecode_answer;
/* DX_MISFIT: a protocol error, which `why` says: in the revision seed an empty result with another
 * status than streamed. */
dx_status dx__finecode_answer_read(const dx_allocator *alloc, yyjson_val *value, bool handlers,
                                   bool real, bool wanted, dx__finecode_answer *ret_answer);

/* server*.c: what the callbacks of the manager are told goes to clients, too. */
void dx__finecode_server_message(dx_finecode_server *server, const char *kind, dx_text text);
void dx__finecode_server_log(dx_finecode_server *server, dx_finecode_runner *runner,
                             const char *level, const char *group, dx_text text, double time);
void dx__finecode_server_tree(dx_finecode_server *server);
/* 1: a client has taken it, and dx_finecode_wm_edited() follows. */
int dx__finecode_server_edit(dx_finecode_server *server, uint64_t edit, yyjson_val *params);

#endif
