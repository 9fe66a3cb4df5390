/*
 * duplex/autohand-agent.h: a coding agent that a client drives: turns, tools, permissions, previews
 * of changes, hooks, history.
 *
 *     dx_autohand_agent_config config = dx_autohand_agent_defaults();
 *     config.workspace = "/home/me/project";
 *     config.model = model;                            // duplex/autohand-model.h
 *     dx_autohand_agent_new(loop, &config, &agent, &error);
 *     dx_autohand_agent_add_tool(agent, &my_tool, &error);      // besides those that are there
 *     dx_autohand_agent_open(agent, 0, 1, DX_FRAMING_LINE, (dx_text){NULL, 0}, &error);
 *     dx_loop_run(loop);                                        // until on_left
 *
 * What holds:
 *   - getState, abort and all that concerns permissions are answered at any time.
 *   - A turn ends exactly once, with messageEnd and turnEnd, whatever happens; nothing of it is
 *     sent afterwards.
 *   - A tool that changes something runs only after its permission, which is bound to that very
 *     call: its name and its arguments.
 *   - No file outside the workspace is read or written.
 *   - Changes are previewed and written when the client accepts them, each as a whole or not at
 *     all; tools of the same turn see the pending text.
 *   - What was said in a session is on disk when its turn ends (if there is a home).
 *   - After the end of its input an agent is gone within 2.5 s, and whatever it started with it.
 */
#ifndef DUPLEX_AUTOHAND_AGENT_H
#define DUPLEX_AUTOHAND_AGENT_H

#include <duplex/autohand-model.h>
#include <duplex/autohand.h>
#include <duplex/link.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dx_autohand_agent dx_autohand_agent;
/* A tool that runs for a call of the model. */
typedef struct dx_autohand_job dx_autohand_job;

typedef struct dx_autohand_agent_config {
    const char *workspace; /* a folder; needed */
    const char *home;      /* sessions, and permissions for all workspaces; NULL: none are kept */
    const char *settings;  /* JSON text: {"hooks", "permissions", …}, docs/autohand-settings.md;
                              NULL: none */
    const char *settings_file; /* where that was read: no tool may change it. May be NULL */
    dx_autohand_model *model;  /* freed with the agent; needed */
    const char *model_name;    /* told instead of the model's own; NULL: that */
    dx_autohand_compat compat;
    int no_preview; /* changes are written at once, each with its permission */
    int allow_all;  /* nothing is asked; what the settings deny stays denied */

    uint64_t ack_ms;         /* for a sign of life after a permission request (30 s) */
    uint64_t answer_ms;      /* for its answer (1 h) */
    uint64_t ping_ms;        /* between two pings of a turn (15 s) */
    uint64_t command_ms;     /* for run_command, unless it says less (120 s) */
    uint64_t leave_ms;       /* from the end of the input to ours (2.5 s) */
    unsigned steps_max;      /* questions to the model in a turn (20,000) */
    unsigned calls_max;      /* tool calls of one answer (20,000) */
    size_t line_max;         /* bytes of one message (64 MiB) */
    size_t file_max;         /* bytes of a file that is read or written (8 MiB) */
    size_t output_max;       /* bytes of a tool's output that are kept for the model (64 KiB) */
    size_t batch_max;        /* bytes of all pending changes (64 MiB) */
    uint64_t context_tokens; /* 0: the model's */
    int system_message;      /* the history begins with one (1) */
    int tool_updates;        /* toolUpdate is sent (1) */
    /* Who the client says it is: "cli", "vscode", "browser", … 0.8 gives a browser, which is what
     * it takes one for that says nothing, no commands and no deleting; elsewhere it means nothing.
     * May be NULL. */
    const char *client_context;

    /* The time of day in ms since 1970, for timestamps and ids; NULL: the clock. */
    uint64_t (*now)(void *user);
    /* Each may be NULL. */
    void (*on_log)(dx_autohand_agent *agent, const char *level, const char *text, void *user);
    void (*on_left)(dx_autohand_agent *agent, int code, void *user); /* an exit code */
    void *user;
    dx_recorder *recorder;
    const dx_allocator *allocator;
} dx_autohand_agent_config;

DX_API dx_autohand_agent_config dx_autohand_agent_defaults(void);

/* DX_ERR_INVALID with reterr: no such workspace, one that is not safe ("/", the home folder),
 * settings that can't be read. The model is freed in any case. */
DX_API dx_status dx_autohand_agent_new(dx_loop *loop, const dx_autohand_agent_config *config,
                                       dx_autohand_agent **ret_agent, dx_error *reterr);
DX_API dx_autohand_agent *dx_autohand_agent_free(dx_autohand_agent *agent);
/* On a pair of descriptors, which become its own. framing 0: lines, unless the client begins with a
 * header, whenever that is; agentStart is sent again then, in a frame. `first` are bytes of the
 * input that were read already. agentStart is sent. */
DX_API dx_status dx_autohand_agent_open(dx_autohand_agent *agent, int in, int out,
                                        dx_framing framing, dx_text first, dx_error *reterr);
/* As at the end of the input: the turn is closed, agentEnd is sent, on_left comes. */
DX_API void dx_autohand_agent_leave(dx_autohand_agent *agent);

/* Tools */

typedef enum dx_autohand_tool_kind {
    DX_AUTOHAND_TOOL_READS = 1, /* runs without a question, beside others of its kind */
    DX_AUTOHAND_TOOL_WRITES,    /* asks; its changes go through dx_autohand_job_write() */
    DX_AUTOHAND_TOOL_RUNS       /* asks; acts at once */
} dx_autohand_tool_kind;

typedef struct dx_autohand_tool {
    const char *name;
    const char *description; /* for the model */
    const char *parameters;  /* JSON Schema of its arguments, which are checked; needed */
    dx_autohand_tool_kind kind;
    /* Which member of the arguments a question shows as its path, and which as its command, and
     * permissions are remembered by; either may be NULL. */
    const char *path_member;
    const char *command_member;
    void (*run)(dx_autohand_job *job, void *user);
    void *user;
} dx_autohand_tool;

/* Copied. DX_ERR_INVALID with reterr: a name that is there already, a schema that is none. */
DX_API dx_status dx_autohand_agent_add_tool(dx_autohand_agent *agent, const dx_autohand_tool *tool,
                                            dx_error *reterr);

/* A job: run() either ends it, or keeps it and ends it later, exactly once. */
DX_API yyjson_val *dx_autohand_job_args(const dx_autohand_job *job); /* an object, checked */
DX_API dx_autohand_agent *dx_autohand_job_agent(const dx_autohand_job *job);
DX_API dx_loop *dx_autohand_job_loop(const dx_autohand_job *job);
DX_API void *dx_autohand_job_user(const dx_autohand_job *job); /* of dx_autohand_job_keep() */
/* Output as it comes (toolUpdate); it also counts as the job's output. errors: the other stream. */
DX_API void dx_autohand_job_say(dx_autohand_job *job, int errors, dx_text bytes);
/* More than this many bytes wait for the client: pause what produces output until on_drained. */
DX_API int dx_autohand_job_is_full(const dx_autohand_job *job);
/* It ends later. on_cancel: nobody wants it any more, it must be ended now, in on_cancel itself.
 * on_drained may be NULL. */
DX_API void dx_autohand_job_keep(dx_autohand_job *job,
                                 void (*on_cancel)(dx_autohand_job *job, void *user),
                                 void (*on_drained)(dx_autohand_job *job, void *user), void *user);
/* Ends it. `output` (absent: what was said) is what the model gets. */
DX_API void dx_autohand_job_done(dx_autohand_job *job, dx_text output);
DX_API void dx_autohand_job_fail(dx_autohand_job *job, dx_text why);
/* The same for one that took too long: code -32002. */
DX_API void dx_autohand_job_late(dx_autohand_job *job, dx_text why);

/* Files of the workspace as the turn sees them: pending text wins. The text is the caller's to
 * free() through the agent's allocator: dx_autohand_job_drop(). Paths are relative to the
 * workspace; what leads out of it is DX_ERR_INVALID, with one line in reterr. */
DX_API dx_status dx_autohand_job_read(dx_autohand_job *job, const char *path, dx_text *ret_text,
                                      dx_error *reterr);
DX_API void dx_autohand_job_drop(dx_autohand_job *job, dx_text text);
/* Into the batch (or at once, without preview). text absent: the path is deleted. description NULL:
 * "Create PATH", "Modify PATH", "Delete PATH". */
DX_API dx_status dx_autohand_job_write(dx_autohand_job *job, const char *path, dx_text text,
                                       const char *description, dx_error *reterr);

#ifdef __cplusplus
}
#endif

#endif
