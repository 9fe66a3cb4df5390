/*
 * duplex/finecode-wm.h: a workspace manager of FineCode.
 *
 *     dx_finecode_wm_config config = dx_finecode_wm_defaults();
 *     dx_finecode_wm_new(loop, &config, &wm, &error);
 *     dx_finecode_wm_add_dir(wm, "/home/me/work", &error);      // its projects, by their files
 *     dx_finecode_ask ask = {.action = "lint", .formats = DX_FINECODE_STRING, .on_done = on_done,
 *                            .origin = {"user", "cli", 0}};
 *     dx_finecode_wm_run(wm, &ask, &run);                       // in every project that has it
 *     …
 *     dx_finecode_wm_stop(wm);                                  // on_stopped comes in bounded time
 *
 * What holds:
 *   - A runner is one process for one project and env. It is started when an action needs it, and
 *     again on the next use after it died; it is configured, asked what its actions are like, and
 *     told of open documents before it is used. The end of its connection is its death: what waits
 *     for it ends at once, the process is reaped, and no process outlives the manager.
 *   - Handlers of one env are run by actions/run; of several envs by actions/runHandlers, segment
 *     by segment, or side by side with mergeResults if the action runs concurrently. One walRunId
 *     goes through all calls of a run. No handler runs twice.
 *   - A run ends exactly once. Cancelling it cancels what runs in its name, in all runners, and
 *     runs that those have asked for.
 *   - What a runner asks for itself (runActionInProject, runActionInWorkspace, applyEdit,
 *     getRawConfig, …) is done under the same limits: max_depth runs inside of each other,
 *     max_fanout projects at once.
 *   - Every request has a time limit.
 */
#ifndef DUPLEX_FINECODE_WM_H
#define DUPLEX_FINECODE_WM_H

#include <duplex/child.h>
#include <duplex/finecode.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dx_finecode_wm dx_finecode_wm;
typedef struct dx_finecode_project dx_finecode_project;
typedef struct dx_finecode_runner dx_finecode_runner;
/* A run; the handle is valid until on_done. */
typedef struct dx_finecode_run dx_finecode_run;

typedef enum dx_finecode_runner_state {
    DX_FINECODE_NO_VENV = 1, /* there is no program to start */
    DX_FINECODE_INITIALIZING,
    DX_FINECODE_RUNNER_FAILED,
    DX_FINECODE_RUNNING,
    DX_FINECODE_EXITED,
    DX_FINECODE_NOT_STARTED
} dx_finecode_runner_state;
/* "NO_VENV", "INITIALIZING", "FAILED", "RUNNING", "EXITED", "NOT_STARTED". */
DX_API const char *dx_finecode_runner_state_name(dx_finecode_runner_state state);

typedef struct dx_finecode_wm_config {
    const char *revision; /* "seed", "real"; NULL: by the transport (pipes: seed, TCP: real) */
    const char *runner;   /* "duplex", "venv": of all envs, whatever their configuration says; NULL:
                             as that says */
    const char *er_program; /* what `runner = "duplex"` starts, with "er", "start", …
                               ("duplex-finecode") */
    /* Times, in ms. */
    uint64_t port_ms;       /* until a TCP runner says its port (30 s) */
    uint64_t initialize_ms; /* 20 s */
    uint64_t info_ms;       /* getInfo, resolveSource, updateLogging, resolvePath (10 s) */
    uint64_t config_ms;     /* updateConfig, resolveActionMeta, mergeResults, schemas (60 s) */
    uint64_t run_ms;        /* a call of a run without a sign of life (10 min) */
    uint64_t total_ms;      /* … and in all, whatever signs it gives (24 h; at least run_ms) */
    uint64_t stop_ms;       /* shutdown, and the end after exit (10 s) */
    unsigned max_depth;     /* 8 */
    unsigned max_fanout;    /* projects that a runner may ask for at once (10,000) */
    unsigned max_jobs;      /* projects that run at the same time, and runners that start; those
                               that a runner asks for not counted (0: the number of processors) */
    unsigned max_runners;   /* processes: an idle one is stopped if another needs its place, and
                               starts again when it is needed (0: any number) */
    const char *wal_folder; /* events are written there, runners get --wal; NULL: none */
    const char *debug_env;  /* runners of this env wait for a debugger; may be NULL */
    const char *const
        *overrides;    /* "ACTION.[HANDLER.]PARAM=JSON" …, NULL at the end; may be NULL */
    int env_overrides; /* also those of FINECODE_CONFIG_… in the environment (1) */
    dx_recorder *recorder;
    const dx_allocator *allocator;

    /* Each may be NULL. */
    void (*on_runner)(dx_finecode_wm *wm, dx_finecode_runner *runner, void *user); /* its state */
    void (*on_tree)(dx_finecode_wm *wm, void *user); /* projects or actions have changed */
    /* kind: "INFO", "WARNING", "ERROR". runner NULL: the manager itself says it. */
    void (*on_message)(dx_finecode_wm *wm, dx_finecode_runner *runner, const char *kind,
                       dx_text text, void *user);
    void (*on_log)(dx_finecode_wm *wm, dx_finecode_runner *runner, const char *level,
                   const char *group, dx_text text, double time, void *user);
    /* A line of its standard error, or of its standard output if that is not the protocol. */
    void (*on_errors)(dx_finecode_wm *wm, dx_finecode_runner *runner, dx_text line, void *user);
    void (*on_violation)(dx_finecode_wm *wm, dx_finecode_runner *runner, const char *phrase,
                         void *user);
    /* A debugger may attach at this port of the loopback address now. */
    void (*on_debug)(dx_finecode_wm *wm, dx_finecode_runner *runner, unsigned port, void *user);
    /* workspace/applyEdit: to be answered by dx_finecode_wm_edited(), now or later. NULL: edits are
     * applied to the files, all or none. */
    void (*on_edit)(dx_finecode_wm *wm, uint64_t edit, yyjson_val *params, void *user);
    /* If given, edits are not written. It gets the text of each file before an edit, and then the
     * edited text, which runners see from then on. 0: the edit fails. */
    int (*on_preview)(dx_finecode_wm *wm, const char *path, dx_text text, int edited, void *user);
    void (*on_traffic)(dx_finecode_wm *wm, dx_finecode_runner *runner, int out, dx_text text,
                       void *user);
    void (*on_stopped)(dx_finecode_wm *wm, void *user); /* it may be freed there */
    void *user;
} dx_finecode_wm_config;

DX_API dx_finecode_wm_config dx_finecode_wm_defaults(void);
DX_API dx_status dx_finecode_wm_new(dx_loop *loop, const dx_finecode_wm_config *config,
                                    dx_finecode_wm **ret_wm, dx_error *reterr);
/* Kills all runners. Of the callbacks only on_stopped, and on_done of a run, may do this. */
DX_API dx_finecode_wm *dx_finecode_wm_free(dx_finecode_wm *wm);
DX_API void dx_finecode_wm_stop(dx_finecode_wm *wm);

/* Projects */

typedef enum dx_finecode_project_state {
    DX_FINECODE_VALID = 1,
    DX_FINECODE_NO_CONFIG, /* nothing of FineCode in it */
    DX_FINECODE_INVALID    /* why says it */
} dx_finecode_project_state;

/* The projects of a folder and below it: see docs/finecode.md. One that can't be read is invalid,
 * and the rest goes on. A folder that was added before is looked at again: projects that were
 * not there are added. DX_ERR_SYSTEM: the folder can't be read. */
DX_API dx_status dx_finecode_wm_add_dir(dx_finecode_wm *wm, const char *folder, dx_error *reterr);
/* Its projects and their runners go, unless another folder that was added has them, too. */
DX_API void dx_finecode_wm_remove_dir(dx_finecode_wm *wm, const char *folder);
DX_API dx_finecode_project *dx_finecode_wm_project(const dx_finecode_wm *wm, size_t index);
/* By its folder, or by its name if no other has it; NULL: there is none. */
DX_API dx_finecode_project *dx_finecode_wm_find_project(const dx_finecode_wm *wm, const char *word);
/* The innermost one that a file belongs to. */
DX_API dx_finecode_project *dx_finecode_wm_project_of(const dx_finecode_wm *wm, const char *path);
DX_API const char *dx_finecode_project_path(const dx_finecode_project *project);
DX_API const char *dx_finecode_project_name(const dx_finecode_project *project);
/* What people should call it: its name, or its path below the folder that was added if another
 * project has the same name. */
DX_API const char *dx_finecode_project_label(const dx_finecode_project *project);
DX_API const char *
dx_finecode_project_file(const dx_finecode_project *project); /* its projectDefPath */
/* Is `duplex finecode er` the runner of that env? */
DX_API int dx_finecode_project_has_duplex(const dx_finecode_wm *wm,
                                          const dx_finecode_project *project, const char *env);
DX_API dx_finecode_project_state dx_finecode_project_get_state(const dx_finecode_project *project);
DX_API const char *dx_finecode_project_why(const dx_finecode_project *project);
/* The whole configuration, merged: an object; NULL if it is not valid. */
DX_API yyjson_val *dx_finecode_project_raw(const dx_finecode_project *project);

typedef struct dx_finecode_handler_view {
    const char *name;
    const char *source;
    const char *env;
    const char *location; /* NULL: not known */
} dx_finecode_handler_view;

typedef struct dx_finecode_action_view {
    const char *name;
    const char *source;
    const char *canonical_source; /* NULL: not known yet */
    int runs_concurrently;        /* this and the following are known with it */
    int workspace;
    const char *parent; /* may be NULL, as the next two */
    const char *language;
    const char *location;
    const dx_finecode_handler_view *handlers;
    size_t handler_count;
} dx_finecode_action_view;
/* Lent until the loop is next dispatched. 0: there is none. */
DX_API int dx_finecode_project_action(const dx_finecode_project *project, size_t index,
                                      dx_finecode_action_view *ret_action);

/* Runners */

DX_API dx_finecode_runner *dx_finecode_wm_runner(const dx_finecode_wm *wm, size_t index);
DX_API dx_finecode_runner *dx_finecode_wm_find_runner(const dx_finecode_wm *wm,
                                                      const dx_finecode_project *project,
                                                      const char *env);
DX_API const dx_finecode_project *dx_finecode_runner_project(const dx_finecode_runner *runner);
DX_API const char *dx_finecode_runner_env(const dx_finecode_runner *runner);
DX_API dx_finecode_runner_state dx_finecode_runner_get_state(const dx_finecode_runner *runner);
DX_API const char *dx_finecode_runner_why(const dx_finecode_runner *runner); /* it is not running */
DX_API const char *dx_finecode_runner_log(const dx_finecode_runner *runner); /* a path, or "" */
DX_API pid_t dx_finecode_runner_pid(const dx_finecode_runner *runner);       /* 0: none */
/* "seed" or "real", from its start on. One of "seed" logs to its standard error only. */
DX_API const char *dx_finecode_runner_revision(const dx_finecode_runner *runner);
/* Starts all of a project (NULL: of all projects) that are not running. */
DX_API void dx_finecode_wm_start_runners(dx_finecode_wm *wm, const dx_finecode_project *project);
/* shutdown, exit, and a new one. */
DX_API dx_status dx_finecode_wm_restart(dx_finecode_wm *wm, dx_finecode_runner *runner);
/* Forwarding of what runners log: from this level on; NULL: no. */
DX_API void dx_finecode_wm_forward_logs(dx_finecode_wm *wm, const char *level);

/* Runs */

/* Why a run failed. */
typedef enum dx_finecode_cause {
    DX_FINECODE_REFUSED,   /* a runner said so, or the manager: `why`, and `code` if there is one */
    DX_FINECODE_NO_RUNNER, /* one could not be started */
    DX_FINECODE_ENDED,     /* one ended meanwhile */
    DX_FINECODE_LATE,      /* a time was up; `why` says which */
    DX_FINECODE_VIOLATION  /* what one answered is not what the protocol has there */
} dx_finecode_cause;

/* What a run gave. All of it is lent. */
typedef struct dx_finecode_result {
    dx_finecode_status status;
    int64_t return_code;
    yyjson_val *by_format; /* {"json": …, "string": …}: an object; NULL if there is nothing */
    int64_t code;          /* of the JSON-RPC error, if that is how it failed; else 0 */
    const char *why;       /* one line; "" unless it failed */
    uint64_t ms;
    dx_finecode_cause cause; /* if it failed; of several projects: that of the first that did */
} dx_finecode_result;

typedef struct dx_finecode_ask {
    const char *action;           /* its name, source or canonical source */
    dx_finecode_project *project; /* NULL: every project that has it */
    dx_json payload;              /* an object, or none: {} */
    unsigned formats;             /* DX_FINECODE_… */
    dx_finecode_origin origin;
    int one_by_one; /* projects one after the other */
    int streamed;   /* partial results are wanted */
    int progress;   /* begin, report and end are wanted */
    /* Once for each project, as it ends. */
    void (*on_project)(dx_finecode_wm *wm, dx_finecode_run *run, dx_finecode_project *project,
                       const dx_finecode_result *result, void *user);
    /* A delta: by_format. At least one comes for each project that has a result. */
    void (*on_partial)(dx_finecode_wm *wm, dx_finecode_run *run, dx_finecode_project *project,
                       yyjson_val *by_format, void *user);
    /* An object with "type" begin, report or end. */
    void (*on_progress)(dx_finecode_wm *wm, dx_finecode_run *run, dx_finecode_project *project,
                        yyjson_val *value, void *user);
    /* A handler, segment or group has begun (state "started") or ended ("done", "failed", …), for
     * those who show it: env and names joined by ", ". */
    void (*on_step)(dx_finecode_wm *wm, dx_finecode_run *run, dx_finecode_project *project,
                    const char *env, const char *handlers, const char *state, void *user);
    /* The end, once, always from the loop. For several projects: the worst status, the largest
     * return code, by_format NULL. */
    void (*on_done)(dx_finecode_wm *wm, dx_finecode_run *run, const dx_finecode_result *result,
                    void *user);
    void *user;
} dx_finecode_ask;

/* DX_ERR_INVALID with reterr: no such action, a payload that is no object, a bad origin;
 * DX_ERR_LIMIT: too deep, or more projects than a runner may ask for. */
DX_API dx_status dx_finecode_wm_run(dx_finecode_wm *wm, const dx_finecode_ask *ask,
                                    dx_finecode_run **ret_run, dx_error *reterr);
DX_API void dx_finecode_wm_cancel(dx_finecode_wm *wm, dx_finecode_run *run);

/* Asks about actions, at runners that are started for it: the value is that of the answer, NULL if
 * there is none, with why. */
typedef void (*dx_finecode_on_value)(dx_finecode_wm *wm, yyjson_val *value, const char *why,
                                     void *user);
/* {action name: schema or null} of a project. */
DX_API dx_status dx_finecode_wm_schemas(dx_finecode_wm *wm, dx_finecode_project *project,
                                        dx_finecode_on_value on_value, void *user);
DX_API dx_status dx_finecode_wm_reload(dx_finecode_wm *wm, dx_finecode_project *project,
                                       const char *action);
/* Makes canonical sources known, by starting what is needed for that; value NULL without why. */
DX_API dx_status dx_finecode_wm_resolve(dx_finecode_wm *wm, dx_finecode_project *project,
                                        dx_finecode_on_value on_value, void *user);

/* Documents, as a client has them open. Positions are those of LSP, in UTF-16. DX_ERR_INVALID: no
 * such URI, version or change; the document is as it was. */
DX_API dx_status dx_finecode_wm_open(dx_finecode_wm *wm, dx_text uri, int64_t version,
                                     dx_text text);
DX_API dx_status dx_finecode_wm_change(dx_finecode_wm *wm, dx_text uri, int64_t version,
                                       yyjson_val *changes);
DX_API dx_status dx_finecode_wm_close(dx_finecode_wm *wm, dx_text uri);
/* The answer to on_edit. why: NULL if it was applied. */
DX_API void dx_finecode_wm_edited(dx_finecode_wm *wm, uint64_t edit, int applied, const char *why);
/* Applies {"edit": {"documentChanges" or "changes"}} to open documents' files and others, all or
 * none. DX_MISFIT with reterr. */
DX_API dx_status dx_finecode_apply(yyjson_val *edit, dx_error *reterr);

/* The manager as a server for editors and other clients, on the loopback address. */
typedef struct dx_finecode_server dx_finecode_server;
typedef struct dx_finecode_server_config {
    unsigned port;          /* 0: any */
    const char *port_file;  /* gets the port, and goes with the server; may be NULL */
    uint64_t disconnect_ms; /* on_idle comes so long after the last client left, or at the start
                               if none comes (30 s); DX_NEVER */
    int any_user;           /* programs of other users may connect, too */
    void (*on_idle)(dx_finecode_server *server, void *user); /* also for server/shutdown */
    /* A connection was refused: see dx_listener_config in duplex/link.h. May be NULL. */
    void (*on_refused)(dx_finecode_server *server, const char *why, void *user);
    void *user;
} dx_finecode_server_config;
DX_API dx_finecode_server_config dx_finecode_server_defaults(void);
/* Has the callbacks of the manager (on_message, on_log, on_edit, on_tree, on_runner) tell its
 * clients, too; it must be freed before the manager. DX_ERR_SYSTEM, also if a server that answers
 * is behind the port file already. */
DX_API dx_status dx_finecode_server_new(dx_finecode_wm *wm, const dx_finecode_server_config *config,
                                        dx_finecode_server **ret_server, dx_error *reterr);
DX_API dx_finecode_server *dx_finecode_server_free(dx_finecode_server *server);
DX_API unsigned dx_finecode_server_port(const dx_finecode_server *server);

#ifdef __cplusplus
}
#endif

#endif
