/* What the files of the agent's core share, and nobody else needs: history, turn, calls, jobs. */
#ifndef AUTOHAND_CORE_PARTS_H
#define AUTOHAND_CORE_PARTS_H

#include "base/utf8.h"
#include "systems/autohand/agent_parts.h"

/* core.c: small things. */

dx_allocator dx__autohand_core_allocator(const dx_allocator *given);
yyjson_alc dx__autohand_core_alc(const dx_allocator *alloc);
dx_text dx__autohand_core_member(yyjson_val *object, const char *name);
/* DX_ERR_INVALID, with "before after" as the phrase. */
dx_status dx__autohand_core_fail(dx_error *reterr, const char *before, const char *after);
/* ms of the day's clock, and of one that does not jump. */
uint64_t dx__autohand_core_now(const dx_autohand_agent *agent);
uint64_t dx__autohand_core_clock(void);
/* For durations: a time, and the ms since then. */
uint64_t dx__autohand_core_began(const dx_autohand_agent *agent);
uint64_t dx__autohand_core_since(const dx_autohand_agent *agent, uint64_t began);
/* "2026-11-15T02:16:29.787Z" */
void dx__autohand_core_iso(uint64_t ms, char room[32]);
/* A copy in which what is no UTF-8 is U+FFFD. NULL without memory; *ret_len may be NULL. */
char *dx__autohand_core_mend(const dx_allocator *alloc, dx_text text, size_t *ret_len);
bool dx__autohand_core_is_doc(const dx_autohand_agent *agent);
/* JSON text of an object; NULL if it is none, too deep, or there is no memory. */
yyjson_doc *dx__autohand_core_object(const dx_allocator *alloc, dx_text json);

/* agent.c: functions that call out of the library stand between these two. */
void dx__autohand_agent_enter(dx_autohand_agent *agent);
void dx__autohand_agent_exit(dx_autohand_agent *agent);
const char *dx__autohand_agent_model(const dx_autohand_agent *agent);
/* "idle", "processing", "waiting_permission" */
const char *dx__autohand_agent_status(const dx_autohand_agent *agent);
/* How much of the context is still free. */
int dx__autohand_agent_free_percent(const dx_autohand_agent *agent);
/* A new session: an id, a history. DX_ERR_NOMEM: all is as before. */
dx_status dx__autohand_agent_session(dx_autohand_agent *agent);
/* Hooks of an event that nobody waits for. */
void dx__autohand_agent_occasion(dx_autohand_agent *agent,
                                 const struct dx__autohand_occasion *occasion);
struct dx__autohand_occasion dx__autohand_occasion_of(dx__autohand_hook_event event);
/* agent_leave.c */
void dx__autohand_agent_leave_now(dx_autohand_agent *agent);
void dx__autohand_agent_closed(dx_autohand_agent *agent, const dx_error *why);

/* agent_serve.c: the client's methods. */
extern const dx_handler dx__autohand_handlers[];
void dx__autohand_serve_other(dx_link *link, const dx_event *event, void *user);
void dx__autohand_serve_refuse(void *user, dx_refusal *refusal);
/* Answers a request; a notification gets none. */
void dx__autohand_serve_reply(dx_autohand_agent *agent, dx_request request, yyjson_mut_doc *doc,
                              yyjson_mut_val *result);
void dx__autohand_serve_success(dx_autohand_agent *agent, dx_request request, bool success);
void dx__autohand_serve_error(dx_autohand_agent *agent, dx_request request, int64_t code,
                              dx_text message);
/* serve_decision.c */
void dx__autohand_serve_decision(dx_link *link, const dx_event *event, void *user);
/* What is being written is written now, and answered, as much as there is time for. */
void dx__autohand_decision_hurry(dx_autohand_agent *agent, uint64_t most_ms);
/* serve_prompt.c */
void dx__autohand_serve_prompt(dx_link *link, const dx_event *event, void *user);

/* history.c: what was said; the first is the system's, if there is one. */

typedef enum dx__autohand_role {
    DX__ROLE_SYSTEM,
    DX__ROLE_USER,
    DX__ROLE_ASSISTANT,
    DX__ROLE_TOOL
} dx__autohand_role;

struct dx__autohand_said_call {
    dx_text id;
    dx_text name;
    dx_text args; /* JSON text of an object */
};

/* Texts are lent when it is added, and its own in the history. */
struct dx__autohand_message {
    dx__autohand_role role;
    dx_text text;
    uint64_t at; /* ms since 1970 */
    dx_text call_id;
    dx_text name; /* of the tool */
    const struct dx__autohand_said_call *calls;
    size_t call_count;
    const dx_text *images; /* URLs that hold them */
    size_t image_count;
    size_t weight; /* bytes that it counts for */
};

struct dx__autohand_history {
    dx_allocator alloc;
    struct dx__autohand_message **all;
    size_t count, cap;
    size_t weight;
    size_t bulk;    /* bytes of memory */
    size_t prompt;  /* where the prompt of this turn is; SIZE_MAX: nowhere */
    size_t group;   /* where the last is that begins; behind it are its results … */
    size_t emptied; /* … of which so many were looked at when there was no room */
    struct dx__autohand_store *store;
    uint64_t said; /* messages in all, also those that are forgotten */
};

/* What is kept in memory; the rest is on disk only. */
enum { DX__HISTORY_MAX = 64 << 20, DX__IMAGE_WEIGHT = 4 << 10 };

dx_status dx__autohand_history_new(dx_autohand_agent *agent, struct dx__autohand_history **ret);
void dx__autohand_history_free(struct dx__autohand_history *history);
/* Is it neither a result nor what hooks have to say behind results? Those need what is before. */
bool dx__autohand_history_begins(const struct dx__autohand_history *history, size_t index);
/* A copy; it is written to the disk, too. DX_ERR_NOMEM. */
dx_status dx__autohand_history_add(dx_autohand_agent *agent,
                                   const struct dx__autohand_message *message);
/* history_send.c: for the model: what fits into `bytes`, the system's message, this turn's
 * prompt and the last answer in any case, with as much of its results as there is room for. NULL
 * without memory. */
yyjson_mut_val *dx__autohand_history_messages(const struct dx__autohand_history *history,
                                              yyjson_mut_doc *doc, size_t bytes);
/* For getMessages: the last `limit` (0: all). NULL without memory. */
yyjson_mut_val *dx__autohand_history_list(const dx_autohand_agent *agent, yyjson_mut_doc *doc,
                                          size_t limit);
const char *dx__autohand_role_name(dx__autohand_role role);
/* store.c: the folder of a session. What can't be written is logged once, and given up. */
struct dx__autohand_store *dx__autohand_store_open(dx_autohand_agent *agent);
void dx__autohand_store_add(dx_autohand_agent *agent, const struct dx__autohand_message *message);
/* The turn is over (status "active"), or the session ("completed"): all of it is with the system,
 * and on the disk, at once or a moment later. */
void dx__autohand_store_sync(dx_autohand_agent *agent, const char *status, bool at_once);
void dx__autohand_store_close(struct dx__autohand_store *store);

/* toolbox.c */

struct dx__autohand_toolbox;
struct dx__autohand_tool {
    dx_autohand_tool given; /* texts are copies */
    char *strings;
    dx_schemas *schemas;
    dx_schema *schema;
    yyjson_doc *parameters;
};
dx_status dx__autohand_toolbox_new(dx_autohand_agent *agent, dx_error *reterr);
void dx__autohand_toolbox_free(struct dx__autohand_toolbox *box, const dx_allocator *alloc);
const struct dx__autohand_tool *dx__autohand_toolbox_find(const struct dx__autohand_toolbox *box,
                                                          dx_text name);
/* NULL behind the last. */
const struct dx__autohand_tool *dx__autohand_toolbox_at(const struct dx__autohand_toolbox *box,
                                                        size_t index);
/* DX_MISFIT with one line. */
dx_status dx__autohand_toolbox_check(const struct dx__autohand_toolbox *box,
                                     const struct dx__autohand_tool *tool, yyjson_val *args,
                                     dx_misfit *why);
/* For the model; NULL without memory. */
yyjson_mut_val *dx__autohand_toolbox_list(const struct dx__autohand_toolbox *box,
                                          yyjson_mut_doc *doc);
/* Bytes of that, about. */
size_t dx__autohand_toolbox_weight(const struct dx__autohand_toolbox *box);

/* job.c: a tool that runs. */

struct dx_autohand_job {
    struct dx__autohand_work *work;
    void (*on_cancel)(dx_autohand_job *job, void *user);
    void (*on_drained)(dx_autohand_job *job, void *user);
    void *user;
    bool kept;
    bool ended;
    bool success;
    bool late;
    dx_buf head;    /* the output's beginning … */
    char *tail;     /* … and its end, in a ring */
    size_t tail_at; /* where the next byte goes */
    size_t tail_len;
    uint64_t skipped; /* bytes between the two */
    char part[2][4];  /* a character of each stream that is not yet whole */
    size_t part_len[2];
};
void dx__autohand_job_init(dx_autohand_job *job, struct dx__autohand_work *work);
void dx__autohand_job_free(dx_autohand_job *job);
/* All that was said, with a word about what was left out. Absent without memory; to be freed. */
dx_text dx__autohand_job_output(dx_autohand_job *job);
/* Nobody wants it any more. */
void dx__autohand_job_cancel(dx_autohand_job *job);

/* call*.c: one call of the model: judged, then run. */

typedef enum dx__autohand_work_stage {
    DX__WORK_NEW = 0,
    DX__WORK_PRE_HOOKS,
    DX__WORK_TO_ASK, /* the user must be asked, and has not been */
    DX__WORK_ASK_HOOKS,
    DX__WORK_ASKED,
    DX__WORK_READY,  /* judged: allowed, or refused */
    DX__WORK_INSIDE, /* 0.6 and 0.8: asked while it runs */
    DX__WORK_RUNNING,
    DX__WORK_DONE,
    DX__WORK_SETTLED /* its result is part of the history */
} dx__autohand_work_stage;

struct dx__autohand_work {
    struct dx__autohand_call call; /* what others may know; must be first */
    struct dx__autohand_turn *turn;
    const struct dx__autohand_tool *tool; /* NULL: there is none of that name */
    yyjson_doc *doc;                      /* of call.args */
    char *id;                             /* as the model knows it */
    char *args_text;
    size_t args_len;
    dx__autohand_work_stage stage;
    struct dx__autohand_hooking *hooking;
    struct dx__autohand_question *question;
    char *why;    /* refused, or failed before it could run; for the model */
    bool refused; /* neither toolStart nor toolEnd */
    bool failed;  /* toolStart and toolEnd, but it is not run */
    bool forced;  /* a hook wants the user to be asked */
    bool allowed; /* a hook, or the user, said yes */
    bool asked_once;
    bool started; /* toolStart was sent */
    bool ended;   /* … and toolEnd */
    char *shown_path;
    char *shown_command;
    char *subject;
    char *target; /* where that leads, if links are followed; NULL: to itself */
    char *note;   /* of a hook, for the model */
    uint64_t began;
    dx_autohand_job job;
    char *result;
    size_t result_len;
};

/* Of what the model said. NULL without memory. */
struct dx__autohand_work *dx__autohand_work_new(struct dx__autohand_turn *turn, dx_text id,
                                                dx_text name, dx_text args);
void dx__autohand_work_free(struct dx__autohand_work *work);
/* call_show.c: what a question shows, and what an answer is remembered by. */
dx_status dx__autohand_work_show(struct dx__autohand_work *work);
/* Finds work->target anew: links may have been changed. */
dx_status dx__autohand_work_target(struct dx__autohand_work *work);
/* The sentence; `inside`: as 0.6 and 0.8 ask from inside of a tool. */
void dx__autohand_work_sentence(const struct dx__autohand_work *work, bool inside, dx_buf *text);
/* call_judge.c: what the rules say of it; `gate`: it has to be asked for. */
dx__autohand_verdict dx__autohand_work_verdict(const struct dx__autohand_work *work, bool gate);
/* Does its path lead where it led when it was judged, or else to where it may, too? */
bool dx__autohand_work_still_may(struct dx__autohand_work *work);
/* call_args.c: other arguments: what a hook changed, or what the user wants instead. False: refused
 * or failed, and why is set. */
bool dx__autohand_work_check(struct dx__autohand_work *work);
bool dx__autohand_work_merge(struct dx__autohand_work *work, yyjson_val *updated);
bool dx__autohand_work_replace(struct dx__autohand_work *work, dx_text alternative);
/* call_judge.c: one step on the way to READY; the turn is woken when there is more to do. */
void dx__autohand_work_judge(struct dx__autohand_work *work);
/* Refused: neither started nor ended. code: what is told. */
void dx__autohand_work_refuse(struct dx__autohand_work *work, int64_t code, dx_text why);
void dx__autohand_work_fail(struct dx__autohand_work *work, dx_text why);
/* The user is asked; when there is an answer, it is READY (or, inside, running on). */
void dx__autohand_work_ask(struct dx__autohand_work *work, bool inside);
/* call_run.c */
bool dx__autohand_work_asks_inside(const struct dx__autohand_work *work);
/* Gives back what is not needed any more. */
void dx__autohand_work_shrink(struct dx__autohand_work *work);
void dx__autohand_work_start(struct dx__autohand_work *work); /* toolStart */
void dx__autohand_work_run(struct dx__autohand_work *work);
/* The job has ended. */
void dx__autohand_work_ended(struct dx__autohand_work *work, dx_text output, bool success,
                             bool late);
/* Whatever it waits for or does: it is over, without a word but toolEnd where that is due. */
void dx__autohand_work_abort(struct dx__autohand_work *work);

/* turn*.c */

typedef enum dx__autohand_turn_stage {
    DX__TURN_HOOKS, /* of the prompt */
    DX__TURN_ASK,   /* the model is to be asked */
    DX__TURN_MODEL, /* it answers */
    DX__TURN_CALLS,
    DX__TURN_OVER
} dx__autohand_turn_stage;

struct dx__autohand_turn {
    dx_autohand_agent *agent;
    char id[64];
    char message_id[64];
    dx_event *prompt;    /* to be answered; NULL: it was a notification */
    dx_text instruction; /* lent by the prompt, or a copy: see `copy` */
    yyjson_doc *copy;
    dx__autohand_turn_stage stage;
    dx_timer *pump;
    dx_timer *ping;
    struct dx__autohand_hooking *hooking;
    uint64_t began; /* of dx__autohand_core_began() */
    unsigned steps;
    int64_t tokens;
    uint64_t call_count;
    dx_buf content;   /* doc: all that was said; else: the last answer */
    size_t told_text; /* doc: so much of that was told */
    dx_buf answer;    /* of this question */
    bool is_asked;    /* the model works for us */
    bool answered;
    bool congested; /* the client does not read as fast as we speak */
    bool is_slash;  /* a command of the agent's own: no model, no changes */
    bool is_failed;
    bool retryable; /* it may work later */
    int64_t code;   /* why it failed */
    char type[24];
    char why[1000];
    struct dx__autohand_work **works; /* of this answer */
    size_t work_count, work_cap;
    size_t looked_at; /* so many are judged, or have asked */
    size_t judged;    /* so many are READY or further */
    size_t started;   /* so many were begun */
    size_t settled;   /* so many results are part of the history */
    size_t running;
    bool reads_only;      /* all that run only read */
    char *note;           /* of hooks, for the model */
    yyjson_mut_doc *told; /* all calls, for messageEnd */
    size_t told_weight;
};

enum {
    DX__CONTENT_MAX = 16 << 20,
    DX__TOLD_MAX = 4 << 20,  /* bytes of calls in messageEnd */
    DX__FULL = 1 << 20,      /* bytes that wait for the client: nothing new begins … */
    DX__DRAINED = 256 << 10, /* … until there are fewer */
    DX__QUESTIONS_MAX = 16,
    DX__READS_AT_ONCE = 5
};

struct dx__autohand_prompt {
    dx_text message;
    yyjson_val *files; /* an array of strings, or NULL */
    yyjson_val *selection;
    yyjson_val *images;
};

/* The kept event is the turn's from here on, whatever comes of it. */
void dx__autohand_turn_begin(dx_autohand_agent *agent, dx_event *prompt, yyjson_doc *copy,
                             const struct dx__autohand_prompt *asked);
/* There is something to do: in another dispatch. */
void dx__autohand_turn_wake(struct dx__autohand_turn *turn);
/* Lets it end with that error. */
void dx__autohand_turn_fail(struct dx__autohand_turn *turn, int64_t code, const char *type,
                            dx_text why);
/* turn_ask.c */
void dx__autohand_turn_ask(struct dx__autohand_turn *turn);
/* Tells what was said and could not be told yet. */
void dx__autohand_turn_tell(struct dx__autohand_turn *turn);
void dx__autohand_turn_hush(struct dx__autohand_turn *turn); /* the model */
void dx__autohand_turn_note(struct dx__autohand_turn *turn, dx_text text);
/* turn_calls.c: what can be done of the calls now; true: all of them are over. */
bool dx__autohand_turn_calls(struct dx__autohand_turn *turn);
void dx__autohand_turn_drop_calls(struct dx__autohand_turn *turn);
/* turn_end.c: the turn is gone afterwards. */
void dx__autohand_turn_end(struct dx__autohand_turn *turn, bool success);
/* `request` is the abort's own, 0 for none: it is answered where its compat has it. */
void dx__autohand_turn_abort(struct dx__autohand_turn *turn, bool answers, dx_request request);
void dx__autohand_turn_free(struct dx__autohand_turn *turn);

/* slash.c: commands of the agent's own. */
bool dx__autohand_slash_is(dx_text message);
/* False: there is no such command, which the text says. */
bool dx__autohand_slash_run(dx_autohand_agent *agent, dx_text message, dx_buf *text);
/* images.c: those that are good as URLs, into an array that is to be freed with all in it; what is
 * wrong with the others is told. DX_ERR_NOMEM. */
dx_status dx__autohand_images_take(dx_autohand_agent *agent, yyjson_val *images, dx_text **ret,
                                   size_t *ret_count);
void dx__autohand_images_free(const dx_allocator *alloc, dx_text *images, size_t count);

/* tell.c, tell_turn.c: notifications of the core. */

struct dx__autohand_note {
    dx_autohand_agent *agent;
    yyjson_mut_doc *doc;
    yyjson_mut_val *params;
};
/* False, and logged: there is no memory. */
bool dx__autohand_note_begin(struct dx__autohand_note *note, dx_autohand_agent *agent);
void dx__autohand_note_text(struct dx__autohand_note *note, yyjson_mut_val *object,
                            const char *name, dx_text text);
void dx__autohand_note_stamp(struct dx__autohand_note *note);
/* DX_ERR_LIMIT, and logged: it is longer than a message may be. */
dx_status dx__autohand_note_send(struct dx__autohand_note *note, const char *method);
/* For what must come: then it comes with less in it. */
dx_status dx__autohand_note_send_cut(struct dx__autohand_note *note, const char *method);

void dx__autohand_tell_agent_start(dx_autohand_agent *agent, bool is_reset);
void dx__autohand_tell_agent_end(dx_autohand_agent *agent, const char *reason);
void dx__autohand_tell_turn_start(struct dx__autohand_turn *turn);
void dx__autohand_tell_turn_end(struct dx__autohand_turn *turn, const char *reason);
void dx__autohand_tell_message_start(struct dx__autohand_turn *turn);
void dx__autohand_tell_text(struct dx__autohand_turn *turn, dx_text delta);
void dx__autohand_tell_thought(struct dx__autohand_turn *turn, dx_text thought);
void dx__autohand_tell_message_end(struct dx__autohand_turn *turn, bool aborted);
void dx__autohand_tell_ping(struct dx__autohand_turn *turn);
void dx__autohand_tell_tool_start(const struct dx__autohand_work *work);
void dx__autohand_tell_tool_update(const struct dx__autohand_work *work, bool errors, dx_text text);
void dx__autohand_tell_tool_end(const struct dx__autohand_work *work, bool success, dx_text output);

#endif
