/*
 * What the parts of the agent share. Who does what:
 *
 *   agent.c, agent_serve.c …   the agent, the client's methods              (core)
 *   tell.c, tell_hook.c        every notification, in the form of `compat`  (core)
 *   turn*.c                    a turn: model, calls, model, …, end          (core)
 *   call*.c                    one tool call: hooks, permission, job        (core)
 *   history*.c                 what was said, in memory and on disk         (core)
 *   workspace*.c               files beneath the workspace, and none else   (files)
 *   changes*.c                 the batch: pending texts, decision, writing  (files)
 *   tool_*.c, tools.c          the tools that are there                     (files)
 *   rules*.c                   remembered permissions                       (guard)
 *   question.c                 permissions that are asked for               (guard)
 *   hooks*.c                   commands that are run at events              (guard)
 *   settings*.c                what the configuration file says             (guard)
 */
#ifndef AUTOHAND_AGENT_PARTS_H
#define AUTOHAND_AGENT_PARTS_H

#include "base/alloc.h"

#include <duplex/autohand-agent.h>
#include <duplex/program.h>
#include <duplex/schema.h>

#include <limits.h>
#include <stdbool.h>

struct dx__autohand_turn;
struct dx__autohand_call;
struct dx__autohand_batch;
struct dx__autohand_question;

/* Texts that live as long as the agent are '\0'-terminated; lent ones are dx_text. */

/* settings.c: what the file says; docs/autohand-settings.md. Everything is checked when it
 * is read; what is unknown is logged and left alone. */

typedef enum dx__autohand_event_of { /* what hooks are configured for */
                                     DX__HOOK_PRE_TOOL,
                                     DX__HOOK_POST_TOOL,
                                     DX__HOOK_FILE_MODIFIED,
                                     DX__HOOK_PRE_PROMPT,
                                     DX__HOOK_STOP, /* "stop" and "post-response" */
                                     DX__HOOK_SESSION_START,
                                     DX__HOOK_SESSION_END,
                                     DX__HOOK_SESSION_ERROR,
                                     DX__HOOK_RATE_LIMIT,
                                     DX__HOOK_PERMISSION_REQUEST,
                                     DX__HOOK_EVENTS
} dx__autohand_hook_event;

struct dx__autohand_hook {
    dx__autohand_hook_event event;
    char *command;
    uint64_t timeout_ms; /* 5 s */
    bool is_async;
    bool disabled;
    char *matcher;                        /* a regular expression; NULL: any */
    char **tools;                         /* filter.tool; NULL: any */
    char **paths;                         /* filter.path, globs; NULL: any */
    struct dx__autohand_matcher *pattern; /* guard's own: the matcher, compiled; NULL: none fits */
};

struct dx__autohand_settings {
    bool hooks_off; /* hooks.enabled is false */
    struct dx__autohand_hook *hooks;
    size_t hook_count;
    char **allow; /* patterns of what is never asked: "tool" or "tool:pattern" */
    char **deny;  /* … and of what is always refused, which wins */
    char **ask;   /* … and of what is asked though `allow` has it */
    bool allow_all;
    bool restricted; /* what would be asked is refused */
    bool stale_off;  /* changes are not compared with the disk before they are written */
    /* For the command: which model is asked (provider, url, model, key, argv, script). */
    char *provider;
    char *url;
    char *model;
    char *key;
    char **argv;
    char *script;
    char **notes; /* what was odd: one line each; dx__autohand_rules_new() logs them */
};

/* DX_ERR_INVALID with one line in reterr. `text` is JSON. */
dx_status dx__autohand_settings_read(struct dx__autohand_settings *settings,
                                     const dx_allocator *alloc, dx_text text, dx_error *reterr);
void dx__autohand_settings_done(struct dx__autohand_settings *settings, const dx_allocator *alloc);

/* settings_list.c: has an object two members of one name, or too many? Whoever looks at one of them
 * and whoever acts by the other would not agree. */
bool dx__autohand_has_twins(yyjson_val *object);

/* rules.c: decisions that were remembered: for the session, in the workspace
 * (.autohand/settings.local.json), for the user (HOME/permissions.json). A rule is bound to a tool
 * and the exact subject (command with its arguments, or path; else the arguments). Files that
 * others wrote are hostile: limits, no symbolic links out of the workspace, written atomically. */

typedef enum dx__autohand_verdict {
    DX__VERDICT_ASK = 0,
    DX__VERDICT_ALLOW,
    DX__VERDICT_DENY
} dx__autohand_verdict;

struct dx__autohand_rules; /* guard's own */
dx_status dx__autohand_rules_new(dx_autohand_agent *agent, struct dx__autohand_rules **ret);
void dx__autohand_rules_free(struct dx__autohand_rules *rules);
/* command: that of the subject, without the folder in which it is run; may be absent. What speaks
 * against a command does so in every folder. */
dx__autohand_verdict dx__autohand_rules_judge(const struct dx__autohand_rules *rules,
                                              const char *tool, dx_text subject, dx_text command);
/* Is it denied by name? Holds for tools that only read, too, which are never asked for. */
bool dx__autohand_rules_forbids(const struct dx__autohand_rules *rules, const char *tool,
                                dx_text subject, dx_text command);
/* Is there any rule, or remembered answer, that could deny something? */
bool dx__autohand_rules_deny_any(const struct dx__autohand_rules *rules);
/* decision: one of the nine words of permissionResponse. Those that are not to be remembered are
 * let pass. DX_ERR_SYSTEM: it holds for the session only, and that was logged. */
dx_status dx__autohand_rules_remember(struct dx__autohand_rules *rules, const char *tool,
                                      dx_text subject, dx_text decision);
void dx__autohand_rules_forget_session(struct dx__autohand_rules *rules);

/* question.c: permissions that the client is asked for. */

struct dx__autohand_asking {
    const char *tool;
    const char *description;
    dx_text path;    /* may be absent */
    dx_text command; /* may be absent */
    yyjson_val *args;
    dx_text subject; /* what the answer is remembered by, and … */
    dx_text target;  /* … where that leads; absent: it is the same */
};

typedef enum dx__autohand_answer_of {
    DX__ANSWER_ALLOWED,
    DX__ANSWER_DENIED,
    DX__ANSWER_UNSEEN, /* no sign of life for ack_ms: denied */
    DX__ANSWER_LATE,   /* no answer for answer_ms: denied */
    DX__ANSWER_OTHER   /* another command or path: `alternative`; to be judged anew */
} dx__autohand_answer;

/* Sends permissionRequest and waits. on_answer comes exactly once, from a dispatch, never from
 * inside open() or answer(), unless the question is dropped. Remembering is done here before it
 * comes; the question is gone after it. */
dx_status dx__autohand_question_open(dx_autohand_agent *agent,
                                     const struct dx__autohand_asking *asking,
                                     void (*on_answer)(void *user, dx__autohand_answer answer,
                                                       dx_text alternative),
                                     void *user, struct dx__autohand_question **ret);
void dx__autohand_question_drop(struct dx__autohand_question *question);
/* How many are open: the agent's status is waiting_permission while there is one. */
size_t dx__autohand_questions(const dx_autohand_agent *agent);
/* permissionAcknowledged, permissionResponse: false for an id that is not open. `params` were
 * checked to have a requestId (a string). */
bool dx__autohand_question_acknowledge(dx_autohand_agent *agent, dx_text id);
bool dx__autohand_question_answer(dx_autohand_agent *agent, yyjson_val *params);

/* hooks.c: commands at events: `sh -c` in the workspace with JSON on the standard input
 * and HOOK_… in the environment, one after the other, then the asynchronous ones at once. */

struct dx__autohand_occasion { /* absent and NULL members are left out */
    dx__autohand_hook_event event;
    dx_text tool, tool_id, path, change_type, command, instruction, output, error, error_code,
        session_type, end_reason;
    yyjson_val *args;
    yyjson_val *files;  /* mentioned files: an array of strings */
    int success;        /* -1: not told */
    int64_t tokens;     /* -1 */
    int64_t calls;      /* -1 */
    double duration_ms; /* -1 */
};

struct dx__autohand_reply {
    dx__autohand_verdict verdict; /* DENY, ALLOW, or ASK … */
    bool said;                    /* … and whether any hook said something about it */
    dx_text reason;               /* of a refusal */
    yyjson_val *updated;          /* arguments to change; NULL: none */
    dx_text context;              /* for the model; may be absent */
};

/* Runs those that match; `on_done` (may be NULL: nobody waits, they still run to their end) comes
 * once, from a dispatch, never from inside; if none match it comes from inside. *ret may be NULL;
 * it is set only while on_done is still to come. The facts are copied. */
struct dx__autohand_hooking;
dx_status
dx__autohand_hooks_run(dx_autohand_agent *agent, const struct dx__autohand_occasion *occasion,
                       void (*on_done)(void *user, const struct dx__autohand_reply *reply),
                       void *user, struct dx__autohand_hooking **ret);
/* Nobody waits any more: what runs is killed. */
void dx__autohand_hooks_drop(struct dx__autohand_hooking *hooking);
/* All that still run for nobody. */
void dx__autohand_hooks_end(dx_autohand_agent *agent);

/* workspace.c: all paths are relative to its folder, which is held open: openat2() with
 * RESOLVE_BENEATH and RESOLVE_NO_MAGICLINKS for every single access, so that nothing that is
 * renamed or linked meanwhile leads out. Before Linux 5.6: DX_ERR_SYSTEM when it is opened. */

struct dx__autohand_workspace {
    int folder;
    char *path;   /* absolute, as told to the client */
    char *own[2]; /* files and folders of the agent in it that are not by the usual name */
    char *git;    /* the folder in it that a file .git names */
    size_t file_max;
    dx_allocator alloc;
};

dx_status dx__autohand_workspace_open(struct dx__autohand_workspace *space, const char *path,
                                      size_t file_max, const dx_allocator *alloc, dx_error *reterr);
/* No tool may change `path`, which may be NULL, or what is in it. DX_ERR_NOMEM. */
dx_status dx__autohand_workspace_own(struct dx__autohand_workspace *space, const char *path);
void dx__autohand_workspace_close(struct dx__autohand_workspace *space);
/* The form in which all others use it: relative, without "." and doubled slashes; an absolute path
 * that begins with the workspace's own is made relative. DX_ERR_INVALID: "..", NUL, empty, too
 * long, or outside. */
dx_status dx__autohand_path_clean(const struct dx__autohand_workspace *space, dx_text path,
                                  char **ret_path, dx_error *reterr);
/* Where a clean path leads, relative to the workspace and without links (workspace_write.c); what
 * is not there yet keeps its name. False: nobody can say, or it leads out. */
bool dx__autohand_path_real(const struct dx__autohand_workspace *space, const char *path,
                            char room[PATH_MAX]);
/* DX_GONE: there is no such file. DX_ERR_LIMIT: larger than file_max. DX_ERR_INVALID: no regular
 * file, or it leads out. The text has a '\0' behind it. ret_mode may be NULL. */
dx_status dx__autohand_file_read(const struct dx__autohand_workspace *space, const char *path,
                                 char **ret_bytes, size_t *ret_len, unsigned *ret_mode,
                                 dx_error *reterr);
/* As a whole or not at all: a new file beside it, fsync, rename; folders on the way are made; the
 * mode is kept. */
dx_status dx__autohand_file_write(const struct dx__autohand_workspace *space, const char *path,
                                  dx_text bytes, dx_error *reterr);
dx_status dx__autohand_file_delete(const struct dx__autohand_workspace *space, const char *path,
                                   dx_error *reterr);

/* changes.c: the batch of a turn, and the one that waits for a decision. */

/* changesBatchStart is sent. One that waits is given up first. */
dx_status dx__autohand_batch_begin(dx_autohand_agent *agent, const char *turn_id);
/* changesBatchEnd is sent, if one is open; with no change it is gone, else it waits. */
void dx__autohand_batch_end(dx_autohand_agent *agent);
void dx__autohand_batch_free(dx_autohand_agent *agent);
/* changesDecision: writing may take long, so it is done a little at a time. The result is made in
 * `doc`. The batch waits no longer. NULL: DX_CODE_PARAMS with *ret_why, or, without, no memory. */
struct dx__autohand_deciding;
struct dx__autohand_deciding *dx__autohand_decide_begin(dx_autohand_agent *agent,
                                                        yyjson_val *params, yyjson_mut_doc *doc,
                                                        const char **ret_why);
/* True: that was all. */
bool dx__autohand_decide_some(struct dx__autohand_deciding *deciding);
/* It is gone afterwards, also if that was not all. NULL: no memory for the result. */
yyjson_mut_val *dx__autohand_decide_end(struct dx__autohand_deciding *deciding);
/* What the job's public functions do. */
dx_status dx__autohand_batch_read(dx_autohand_agent *agent, const char *path, char **ret_bytes,
                                  size_t *ret_len, dx_error *reterr);
dx_status dx__autohand_batch_write(dx_autohand_agent *agent, const struct dx__autohand_call *call,
                                   const char *path, dx_text text, const char *description,
                                   dx_error *reterr);
/* Would it create the file, as the turn sees it? (0.6 and 0.8 ask only then.) */
bool dx__autohand_batch_creates(dx_autohand_agent *agent, const char *path);
/* For list_tree and search: pending texts. -1: no such number. */
struct dx__autohand_pending {
    const char *path;
    bool deleted;
    dx_text text;
};
bool dx__autohand_batch_pending(const dx_autohand_agent *agent, size_t number,
                                struct dx__autohand_pending *ret);
/* They are in the order of their paths: the number of the first that is not before `path`. */
size_t dx__autohand_batch_from(const dx_autohand_agent *agent, const char *path);

/* tools.c */

/* All that the agent has from the beginning; ends with a name of NULL. */
extern const dx_autohand_tool dx__autohand_tools[];

/* tell.c: notifications; each knows its form in every compat. Texts that are no UTF-8 are
 * mended here. What can't be sent because memory ran out is logged; what a client does not read
 * waits in the link (bounded there). */

void dx__autohand_stamp(const dx_autohand_agent *agent, char room[32]);
/* "perm_5_1794709068577" */
void dx__autohand_new_id(dx_autohand_agent *agent, const char *prefix, char room[64]);
void dx__autohand_log(dx_autohand_agent *agent, const char *level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* core.c: bytes that a text takes in a notification, at most. Where somebody is to decide about
 * what is shown, it must not be lost for its length. */
size_t dx__autohand_shown_size(dx_text text);

void dx__autohand_tell_permission(dx_autohand_agent *agent, const char *id,
                                  const struct dx__autohand_asking *asking);
void dx__autohand_tell_batch_start(dx_autohand_agent *agent, const char *batch, const char *turn);
struct dx__autohand_told_change {
    const char *id;
    const char *path;
    const char *type;
    dx_text before;
    dx_text after;
    const char *description;
};
void dx__autohand_tell_change(dx_autohand_agent *agent, const char *batch,
                              const struct dx__autohand_told_change *change,
                              const struct dx__autohand_call *call);
void dx__autohand_tell_batch_end(dx_autohand_agent *agent, const char *batch, size_t count);
void dx__autohand_tell_error(dx_autohand_agent *agent, int64_t code, const char *type,
                             bool recoverable, dx_text message);
/* hook.* of the same facts (which the document sends whether hooks are configured or not), and then
 * the hooks themselves are run by whoever calls dx__autohand_hooks_run(). */
void dx__autohand_tell_hook(dx_autohand_agent *agent, const struct dx__autohand_occasion *occasion);

/* The agent itself. */

struct dx_autohand_agent {
    dx_autohand_agent_config config; /* texts in it are copies */
    dx_allocator alloc;
    dx_loop *loop;
    dx_link *link;
    struct dx__autohand_settings settings;
    struct dx__autohand_workspace workspace;

    struct dx__autohand_rules *rules;        /* guard */
    struct dx__autohand_question *questions; /* guard: those that are open */
    struct dx__autohand_hooking *hookings;   /* guard: those that run */

    struct dx__autohand_batch *open;    /* files: of the turn that runs */
    struct dx__autohand_batch *waiting; /* files: for a decision */

    struct dx__autohand_turn *turn; /* core; NULL: idle */
    struct dx__autohand_history *history;
    struct dx__autohand_toolbox *tools;
    uint64_t ids;     /* the last number that was given */
    char session[64]; /* sessionId as it is told */
    bool leaving;     /* nothing new begins */

    /* core */
    char *strings;                          /* those of the config */
    struct dx__autohand_hooking *farewell;  /* hooks of the end that are waited for */
    struct dx__autohand_decision *decision; /* that is being carried out */
    dx_timer *leave_timer;
    uint64_t leave_at;    /* when it is gone at the latest; DX_NEVER: it stays */
    uint64_t hooks_until; /* … and how long hooks may still run then */
    uint64_t began_ms;    /* the session */
    int64_t asked_tokens; /* what the last question took, if the model said so */
    unsigned busy;        /* how many of our functions are at work on it */
    bool in_headers;      /* header framing: LSP's own methods are served … */
    bool is_shut_down;    /* … shutdown was, which comes before exit */
    bool is_completed;    /* the client has taken leave, and left no turn behind */
    bool was_aborted;     /* the last turn; saying it again is no mistake */
    bool freed;           /* as soon as nobody is at work on it */
    bool said_end;
    bool has_left;
};

/* What others may know of a call (core owns the rest of it, behind this). */
struct dx__autohand_call {
    dx_autohand_agent *agent;
    char *tool_id; /* as it is told */
    char *tool_name;
    yyjson_val *args;
};

#endif
