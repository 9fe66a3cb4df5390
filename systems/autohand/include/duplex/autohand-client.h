/*
 * duplex/autohand-client.h: who drives a coding agent: prompts, permissions, changes.
 *
 *     dx_autohand_client_config config = dx_autohand_client_defaults(argv);
 *     config.on_event = on_event;              // text, tools, … as they come
 *     config.on_permission = on_permission;    // answer with dx_autohand_client_permit()
 *     config.on_changes = on_changes;          // answer with dx_autohand_client_decide()
 *     config.on_turn = on_turn;                // the turn is over
 *     dx_autohand_client_start(loop, &config, &client, &error);
 *     dx_autohand_client_prompt(client, &(dx_autohand_prompt){.message = dx_str("…")}, &error);
 *
 * What holds:
 *   - All forms are understood: those of the document, of 0.6, of 0.8 and of later ones.
 *   - Every prompt that was accepted ends with one on_turn: with turnEnd, whenever its answer
 *     comes; with an answer behind the end of the message, if turnEnd is not there 2 s later; with
 *     its error answer; or with the agent's death.
 *   - What an aborted turn still says (null ids, ids of another turn) is told as DX_AUTOHAND_LATE.
 *   - A permission request is acknowledged at once; who has no on_permission denies. That for a
 *     folder outside of the workspace, which later ones send, is one, too.
 *   - Nothing is decided about changes unless you do; who has no on_changes rejects them. What was
 *     not shown to you is never accepted.
 *   - What does not fit the protocol is told (on_violation) and, as far as it can be, understood.
 */
#ifndef DUPLEX_AUTOHAND_CLIENT_H
#define DUPLEX_AUTOHAND_CLIENT_H

#include <duplex/autohand.h>
#include <duplex/child.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dx_autohand_client dx_autohand_client;

typedef enum dx_autohand_event_kind {
    DX_AUTOHAND_AGENT_START = 1, /* session, model, workspace, context_percent */
    DX_AUTOHAND_AGENT_END,       /* session, reason */
    DX_AUTOHAND_TURN_START,      /* turn, text = the instruction if told */
    DX_AUTOHAND_TURN_END,        /* turn, tokens, duration_ms, context_percent, reason if told */
    DX_AUTOHAND_MESSAGE_START,   /* message */
    DX_AUTOHAND_TEXT,            /* message, text = delta */
    DX_AUTOHAND_THOUGHT,         /* message, text */
    DX_AUTOHAND_MESSAGE_END,     /* message, text = content, aborted */
    DX_AUTOHAND_TOOL_START,      /* tool, name, args */
    DX_AUTOHAND_TOOL_OUTPUT,     /* tool, text, is_errors */
    DX_AUTOHAND_TOOL_END,        /* tool, name, success, text = output or error */
    DX_AUTOHAND_ERROR,           /* code, text, recoverable, reason = errorType if told */
    DX_AUTOHAND_PING,
    DX_AUTOHAND_HOOK,         /* name = what stands behind "autohand.hook." */
    DX_AUTOHAND_BATCH_START,  /* batch */
    DX_AUTOHAND_BATCH_CHANGE, /* batch, change */
    DX_AUTOHAND_BATCH_END,    /* batch, count */
    DX_AUTOHAND_PERMISSION,   /* batch = requestId: told also if on_permission is there */
    DX_AUTOHAND_LATE,         /* of a turn that is over; see value */
    DX_AUTOHAND_OTHER         /* a notification that has no kind here */
} dx_autohand_event_kind;

/* A file that would change. Texts are lent. Without room for them (batch_max) `before` and `after`
 * are absent; without room for the rest all changes of the batch are rejected. */
typedef struct dx_autohand_change {
    dx_text id;
    dx_text path;
    dx_text type; /* "create", "modify", "delete" */
    dx_text before;
    dx_text after;
    dx_text description;
    dx_text tool; /* the tool's name; may be empty */
} dx_autohand_change;

/* Absent and -1: not told. */
typedef struct dx_autohand_event {
    dx_autohand_event_kind kind;
    dx_text method;
    dx_text session, turn, message, tool, batch;
    dx_text name, text, reason, model, workspace;
    int success, aborted, is_errors, recoverable;
    int64_t code, tokens, count;
    double duration_ms, context_percent;
    yyjson_val *args;
    const dx_autohand_change *change;
    yyjson_val *value; /* the params as they came */
} dx_autohand_event;

typedef struct dx_autohand_permission {
    dx_text id;
    dx_text tool;
    dx_text description;
    dx_text path;    /* may be absent */
    dx_text command; /* may be absent */
    yyjson_val *value;
} dx_autohand_permission;

typedef enum dx_autohand_decision {
    DX_AUTOHAND_DENY_ONCE = 0,
    DX_AUTOHAND_ALLOW_ONCE,
    DX_AUTOHAND_ALLOW_SESSION,
    DX_AUTOHAND_DENY_SESSION,
    DX_AUTOHAND_ALLOW_PROJECT,
    DX_AUTOHAND_DENY_PROJECT,
    DX_AUTOHAND_ALLOW_USER,
    DX_AUTOHAND_DENY_USER
} dx_autohand_decision;

/* How a turn ended. */
typedef struct dx_autohand_turn {
    int success;
    int aborted;
    int64_t code;    /* of the error that ended it; 0: none */
    dx_text error;   /* its message, or the last autohand.error of the turn; may be absent */
    dx_text content; /* the whole answer */
    dx_text batch;   /* changes that wait for a decision; absent: none */
    int64_t tokens;  /* -1: not told */
    double duration_ms;
    double context_percent;
    size_t tool_calls, tool_failures, denied;
} dx_autohand_turn;

typedef struct dx_autohand_client_config {
    dx_child_config child; /* argv, cwd, environment, … of the agent; see duplex/child.h */
    uint64_t start_ms;     /* for agentStart (30 s) */
    uint64_t call_ms;      /* for the answers of all but prompt (30 s) */
    uint64_t silence_ms;   /* a turn in which nothing comes for so long is aborted (DX_NEVER) */
    size_t batch_max;      /* bytes of changes that are kept for on_changes (64 MiB) */
    /* Each may be NULL. */
    void (*on_event)(dx_autohand_client *client, const dx_autohand_event *event, void *user);
    void (*on_permission)(dx_autohand_client *client, const dx_autohand_permission *permission,
                          void *user);
    /* All changes of a turn that is over: comes just before on_turn. The array is lent, at most
     * until they are decided on; ids may be kept by copying them. The next prompt drops what is not
     * decided by then. */
    void (*on_changes)(dx_autohand_client *client, dx_text batch, const dx_autohand_change *changes,
                       size_t count, void *user);
    void (*on_turn)(dx_autohand_client *client, const dx_autohand_turn *turn, void *user);
    void (*on_violation)(dx_autohand_client *client, const char *phrase, void *user);
    void (*on_stray)(dx_autohand_client *client, dx_text line, void *user);
    void (*on_errors)(dx_autohand_client *client, dx_text line, void *user);
    void (*on_gone)(dx_autohand_client *client, const dx_gone *gone, void *user);
    void *user;
    dx_recorder *recorder;
} dx_autohand_client_config;

DX_API dx_autohand_client_config dx_autohand_client_defaults(const char *const *argv);
DX_API dx_status dx_autohand_client_start(dx_loop *loop, const dx_autohand_client_config *config,
                                          dx_autohand_client **ret_client, dx_error *reterr);
/* Asks it to leave; on_gone comes, always, in bounded time. */
DX_API void dx_autohand_client_stop(dx_autohand_client *client);
DX_API dx_autohand_client *dx_autohand_client_free(dx_autohand_client *client);
DX_API void *dx_autohand_client_user(const dx_autohand_client *client);
DX_API dx_link *dx_autohand_client_link(const dx_autohand_client *client);

typedef struct dx_autohand_image {
    const char *mime_type;
    const char *filename; /* may be NULL */
    dx_text bytes;        /* not yet base64 */
} dx_autohand_image;

typedef struct dx_autohand_prompt {
    dx_text message;
    const char *const *files; /* NULL at the end; may be NULL */
    const char *selection_file;
    unsigned selection_start, selection_end;
    dx_text selection_text;
    const dx_autohand_image *images;
    size_t image_count;
} dx_autohand_prompt;

/* DX_BUSY: a turn is running. Before agentStart has come it waits for that. */
DX_API dx_status dx_autohand_client_prompt(dx_autohand_client *client,
                                           const dx_autohand_prompt *prompt, dx_error *reterr);
/* DX_GONE: no turn is running. */
DX_API dx_status dx_autohand_client_abort(dx_autohand_client *client);
/* DX_GONE: it is answered, or its turn is over. alternative may be absent; it replaces the command
 * or the path. */
DX_API dx_status dx_autohand_client_permit(dx_autohand_client *client, dx_text request,
                                           dx_autohand_decision decision, dx_text alternative);

/* What came of it. value is NULL if error says why: an error answer (then its fault is
 * DX_FAULT_NONE, and the phrase has its message and code), a time limit, a death. */
typedef void dx_autohand_answer(dx_autohand_client *client, yyjson_val *value,
                                const dx_error *error, void *user);
/* ids NULL: all, or none. Otherwise those are accepted and the others not, or the other way round.
 * DX_GONE: it is decided, or there is no such batch. */
DX_API dx_status dx_autohand_client_decide(dx_autohand_client *client, dx_text batch, int accept,
                                           const dx_text *ids, size_t count,
                                           dx_autohand_answer *on_answer, void *user);
DX_API dx_status dx_autohand_client_state(dx_autohand_client *client, dx_autohand_answer *on_answer,
                                          void *user);
/* limit 0: all. */
DX_API dx_status dx_autohand_client_messages(dx_autohand_client *client, unsigned limit,
                                             dx_autohand_answer *on_answer, void *user);
DX_API dx_status dx_autohand_client_reset(dx_autohand_client *client, dx_autohand_answer *on_answer,
                                          void *user);

#ifdef __cplusplus
}
#endif

#endif
