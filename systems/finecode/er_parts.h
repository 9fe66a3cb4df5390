/* What the files of the extension runner share. */
#ifndef FINECODE_ER_PARTS_H
#define FINECODE_ER_PARTS_H

#include "systems/finecode/shared.h"
#include <duplex/finecode-er.h>
#include <duplex/schema.h>

#include <stdbool.h>

/* er_text.c: JSON text in the making. The first failure sticks; commas are set where one is needed;
 * what is no UTF-8 in a string becomes U+FFFD. */
typedef struct dx__finecode_er_out {
    dx_buf buf;
    dx_status status;
} dx__finecode_er_out;

void dx__finecode_er_out_init(dx__finecode_er_out *out, const dx_allocator *alloc);
void dx__finecode_er_out_done(dx__finecode_er_out *out);
dx_text dx__finecode_er_out_text(const dx__finecode_er_out *out);
/* An opening bracket (with what has to stand before it), a closing one. */
void dx__finecode_er_out_open(dx__finecode_er_out *out, char bracket);
void dx__finecode_er_out_close(dx__finecode_er_out *out, char bracket);
/* The name of a member; its value follows. */
void dx__finecode_er_out_key(dx__finecode_er_out *out, const char *name);
/* Values: elements, or of the member that was named. */
void dx__finecode_er_out_string(dx__finecode_er_out *out, dx_text text);
void dx__finecode_er_out_value(dx__finecode_er_out *out, yyjson_val *value); /* NULL: null */
void dx__finecode_er_out_json(dx__finecode_er_out *out, dx_json value);
void dx__finecode_er_out_word(dx__finecode_er_out *out, const char *word); /* null, true, false */
void dx__finecode_er_out_integer(dx__finecode_er_out *out, int64_t number);
/* A string or null. */
void dx__finecode_er_out_text_or_null(dx__finecode_er_out *out, const char *text);
/* Appends text as it is: for phrases. */
void dx__finecode_er_out_say(dx__finecode_er_out *out, dx_text text);
void dx__finecode_er_out_say_str(dx__finecode_er_out *out, const char *text);
void dx__finecode_er_out_say_number(dx__finecode_er_out *out, uint64_t number);

/* er_declare.c: what was added. */
typedef struct dx__finecode_er_kind { /* of action */
    struct dx__finecode_er_kind *next;
    dx_finecode_action given; /* with copies of its strings; payload and merge are NULL */
    char *strings;
    yyjson_doc *payload; /* NULL: anything */
    yyjson_doc *merge;   /* NULL: the usual rules */
    dx_schemas *schemas;
    dx_schema *schema;
} dx__finecode_er_kind;

typedef struct dx__finecode_er_doer {
    struct dx__finecode_er_doer *next;
    dx_finecode_handler given;
    char *strings;
} dx__finecode_er_doer;

typedef struct dx__finecode_er_name { /* an alias, a package */
    struct dx__finecode_er_name *next;
    const char *name;
    const char *value;
    char *strings;
} dx__finecode_er_name;

/* By its source; NULL: nobody has added it. */
dx__finecode_er_kind *dx__finecode_er_kind_of(const dx_finecode_er *er, dx_text source);
dx__finecode_er_doer *dx__finecode_er_doer_of(const dx_finecode_er *er, dx_text source);
/* By source, canonical source or alias. */
dx__finecode_er_kind *dx__finecode_er_resolve(const dx_finecode_er *er, dx_text source);
const char *dx__finecode_er_canonical(const dx__finecode_er_kind *kind);
yyjson_val *dx__finecode_er_rules(const dx__finecode_er_kind *kind); /* NULL: the usual ones */
void dx__finecode_er_declared_done(dx_finecode_er *er);

/* er_config.c: what updateConfig has set. Shared by the runs that use it. */
typedef struct dx__finecode_er_step { /* a handler of an action */
    const char *name;
    const char *source;
    const char *env;
    yyjson_val *config;               /* effective */
    const dx__finecode_er_doer *doer; /* NULL: nobody has added it */
} dx__finecode_er_step;

typedef struct dx__finecode_er_task { /* an action as it is configured */
    const char *name;
    const char *source;
    const dx__finecode_er_kind *kind; /* NULL: nobody has added it */
    dx__finecode_er_step *steps;
    size_t count;
} dx__finecode_er_task;

typedef struct dx__finecode_er_setup {
    unsigned refs;
    dx_allocator alloc;
    yyjson_doc *doc;     /* `config` */
    yyjson_doc *configs; /* of all steps, one after the other */
    dx__finecode_er_task *tasks;
    size_t count;
    dx__finecode_er_step *steps; /* of all tasks */
    size_t step_count;
} dx__finecode_er_setup;

/* DX_MISFIT with *why: what is missing (a key in quotes, as the program says it), or twice there.
 */
dx_status dx__finecode_er_setup_read(const dx_finecode_er *er, yyjson_val *config,
                                     dx__finecode_er_setup **ret_setup, dx__finecode_er_out *why);
/* Looks anew for what was added. */
void dx__finecode_er_setup_resolve(const dx_finecode_er *er, dx__finecode_er_setup *setup);
dx__finecode_er_setup *dx__finecode_er_setup_hold(dx__finecode_er_setup *setup);
void dx__finecode_er_setup_release(dx__finecode_er_setup *setup);
const dx__finecode_er_task *dx__finecode_er_task_named(const dx__finecode_er_setup *setup,
                                                       dx_text name);

/* er_sum.c: results that are added up. */
typedef struct dx__finecode_er_sum {
    yyjson_mut_doc *doc;
    yyjson_mut_val *value; /* NULL: nothing yet */
    size_t kept;           /* bytes of strings when `doc` was made */
} dx__finecode_er_sum;

dx_status dx__finecode_er_sum_add(const dx_allocator *alloc, dx__finecode_er_sum *sum,
                                  yyjson_val *result, yyjson_val *rules);
/* The same for what another one holds. */
dx_status dx__finecode_er_sum_join(const dx_allocator *alloc, dx__finecode_er_sum *sum,
                                   const dx__finecode_er_sum *other, yyjson_val *rules);
/* *ret_doc is NULL if there is nothing. */
dx_status dx__finecode_er_sum_read(const dx_allocator *alloc, const dx__finecode_er_sum *sum,
                                   yyjson_doc **ret_doc);
void dx__finecode_er_sum_done(dx__finecode_er_sum *sum);
/* Could it be a result of an action with those rules? */
bool dx__finecode_er_is_result(yyjson_val *value, yyjson_val *rules);

/* er_payload.c: DX_MISFIT with *why: what does not fit the schema, as the program tells it. */
dx_status dx__finecode_er_payload_check(const dx_finecode_er *er, const dx__finecode_er_task *task,
                                        yyjson_val *payload, dx__finecode_er_out *why);

/* How a run ends. */
typedef enum dx__finecode_er_end {
    DX__FINECODE_ER_GOES_ON = 0,
    DX__FINECODE_ER_STOPPED,
    DX__FINECODE_ER_FAILED,   /* an error result */
    DX__FINECODE_ER_CANCELLED /* an error */
} dx__finecode_er_end;

/* er_options.c: what a run is asked to do. All of it is part of the request. */
typedef struct dx__finecode_er_options {
    unsigned formats;
    yyjson_val *token;    /* NULL: no partial results */
    yyjson_val *progress; /* NULL: no begin, report and end */
    dx_finecode_origin origin;
    const char *run_id; /* "" without */
} dx__finecode_er_options;

/* DX_MISFIT with *why; *ret_is_error: that is a JSON-RPC error, not an error result. */
dx_status dx__finecode_er_options_read(const dx_finecode_er *er, yyjson_val *options,
                                       bool is_segment, dx__finecode_er_options *ret_options,
                                       const char **why, bool *ret_is_error);

/* er_run.c: actions/run and actions/runHandlers, from the request to the answer. */
typedef struct dx__finecode_er_run {
    dx_finecode_er *er;
    struct dx__finecode_er_run *prev;
    struct dx__finecode_er_run *next_run;
    dx__finecode_er_setup *setup;
    const dx__finecode_er_task *task;
    dx_event *event;
    dx_request request;
    dx__finecode_er_options options;
    yyjson_val *payload;

    const dx__finecode_er_step **steps; /* that run */
    dx__finecode_er_sum *parts;         /* what each of them gave */
    size_t count;
    size_t next;
    dx__finecode_er_sum result; /* of this run and what came before it */
    int64_t return_code;        /* the largest of its handlers: not a part of the result */
    yyjson_doc *shown;          /* the same, as handlers see it */
    yyjson_doc *context;
    struct dx_finecode_job *jobs;
    struct dx_finecode_job *cursor; /* the next to be told that it is cancelled */

    dx__finecode_er_sum pending; /* partial results that were not sent yet */
    uint64_t sent_at;            /* when some of them were sent last */
    uint64_t due;                /* when something is to be done for it; DX_NEVER */

    dx__finecode_er_out why;
    dx__finecode_er_out answer;
    int64_t code; /* 0: a result */
    dx__finecode_er_end end;
    unsigned number;
    unsigned alive;  /* jobs */
    unsigned busy;   /* how many functions of ours use it */
    bool is_segment; /* actions/runHandlers */
    bool streams;    /* there were partial results … */
    bool has_sent;   /* … and some of them were sent */
    bool has_begun;  /* begin was sent, and no end */
    bool concluded;  /* what is to be said is clear … */
    bool answered;   /* … and was said, or there is nobody to hear it */
} dx__finecode_er_run;

extern const dx_handler dx__finecode_er_handlers[];
void dx__finecode_er_on_run(dx_link *link, const dx_event *event, void *user);
void dx__finecode_er_on_run_handlers(dx_link *link, const dx_event *event, void *user);
/* Goes on with it as far as it can; it may be gone afterwards. */
void dx__finecode_er_run_pump(dx__finecode_er_run *run);
/* Ends it, unless it is ending already: jobs that are left are told that they are cancelled. why is
 * said as `{"error"}` or as the text of the error; NULL: none. */
void dx__finecode_er_run_end(dx__finecode_er_run *run, dx__finecode_er_end end,
                             const dx__finecode_er_out *why);
/* $/cancelRequest. */
void dx__finecode_er_run_cancel(dx_finecode_er *er, dx_request request);
/* The conversation is over. */
void dx__finecode_er_runs_over(dx_finecode_er *er);
bool dx__finecode_er_is_concurrent(const dx__finecode_er_run *run);
/* Its `due` has come. */
void dx__finecode_er_run_tick(dx__finecode_er_run *run);
void dx__finecode_er_run_release(dx__finecode_er_run *run);

/* er_answer.c: writes run->answer and run->code, then sends it; false: it has to be tried again. */
void dx__finecode_er_answer_make(dx__finecode_er_run *run);
bool dx__finecode_er_answer_send(dx__finecode_er_run *run);
/* "json", "string" and "styled_text_json" of a result (NULL: none) as members. */
void dx__finecode_er_formats_write(const dx__finecode_er_run *run, yyjson_val *result,
                                   unsigned formats, dx__finecode_er_out *out);

/* er_partial.c */
/* Adds a result to what is to be sent, and sends it or has it sent later. DX_ERR_NOMEM;
 * DX_ERR_LIMIT: it can't be sent. */
dx_status dx__finecode_er_partial_add(dx__finecode_er_run *run, yyjson_val *result, bool streams);
/* Sends what waits. DX_AGAIN: not now; DX_ERR_LIMIT: never, and it is gone. */
dx_status dx__finecode_er_partial_send(dx__finecode_er_run *run);
/* The same; what can never be sent fails the run. False: it is tried again in a while. Not from
 * inside a call of a job, which could be told in it that it is cancelled. */
bool dx__finecode_er_partial_flush(dx__finecode_er_run *run);
void dx__finecode_er_retry(dx__finecode_er_run *run);
extern const char dx__finecode_er_too_long[];
/* Sends a $/progress. */
dx_status dx__finecode_er_progress_send(dx__finecode_er_run *run, yyjson_val *token, dx_text value);

/* er_job.c */
struct dx_finecode_job {
    dx__finecode_er_run *run;
    const dx__finecode_er_step *step;
    size_t index;
    unsigned busy; /* how many functions of ours use it */
    bool kept;
    bool ended;
    dx_status broken; /* a result of it could not be kept or sent */
    bool cancelled;
    bool is_due; /* on_cancel has to come from the loop */
    void (*on_cancel)(dx_finecode_job *job, void *user);
    void *cancel_user;
    struct dx_finecode_job *prev;
    struct dx_finecode_job *next;
};
/* Starts the next handler. DX_ERR_NOMEM. */
dx_status dx__finecode_er_job_start(dx__finecode_er_run *run, size_t index);
void dx__finecode_er_job_enter(dx_finecode_job *job);
void dx__finecode_er_job_leave(dx_finecode_job *job);
/* Tells it once. */
void dx__finecode_er_job_tell(dx_finecode_job *job);
/* Those whose on_cancel is due. */
void dx__finecode_er_jobs_due(dx__finecode_er_run *run);

/* er_ask.c: questions to the manager. */
typedef struct dx__finecode_er_question {
    dx_finecode_er *er;
    dx_finecode_job *job; /* NULL: it has ended */
    dx_call call;
    dx_finecode_on_answer on_answer;
    void *user;
    bool collects;  /* the result comes by $/progress */
    bool is_config; /* projects/getRawConfig, whose answer has two forms */
    const dx__finecode_er_kind *kind;
    dx__finecode_er_sum sum;
    struct dx__finecode_er_question *prev;
    struct dx__finecode_er_question *next;
} dx__finecode_er_question;
/* The job no longer wants to know; or its questions are to end. */
void dx__finecode_er_questions_drop(dx_finecode_job *job);
void dx__finecode_er_questions_cancel(dx_finecode_job *job);
/* The link is gone: all of them end. */
void dx__finecode_er_questions_lost(dx_finecode_er *er);

/* er_meta.c: answers about what there is. */
void dx__finecode_er_on_meta(dx_link *link, const dx_event *event, void *user);
void dx__finecode_er_on_schemas(dx_link *link, const dx_event *event, void *user);
void dx__finecode_er_on_resolve_source(dx_link *link, const dx_event *event, void *user);
void dx__finecode_er_on_resolve_path(dx_link *link, const dx_event *event, void *user);

/* er_merge.c */
void dx__finecode_er_on_merge(dx_link *link, const dx_event *event, void *user);

/* er_documents.c */
void dx__finecode_er_on_open(dx_link *link, const dx_event *event, void *user);
void dx__finecode_er_on_change(dx_link *link, const dx_event *event, void *user);
void dx__finecode_er_on_close(dx_link *link, const dx_event *event, void *user);

/* er_raw.c: asks for the raw configuration, and then answers the updateConfig that is lent. */
void dx__finecode_er_raw_ask(dx_finecode_er *er, const dx_event *event);
void dx__finecode_er_raw_done(dx_finecode_er *er);

/* er_log.c */
/* The number behind the name of a level; unknown ones count as INFO. */
int dx__finecode_er_level(dx_text name);
void dx__finecode_er_log_str(dx_finecode_er *er, const char *level, const char *text, dx_text what);

/* er_reply.c: answers that are given on the spot. */
void dx__finecode_er_reply(dx_link *link, const dx_event *event, const dx__finecode_er_out *out);
/* {"error": …} */
void dx__finecode_er_reply_error(dx_finecode_er *er, const dx_event *event, dx_text why);
void dx__finecode_er_refuse(dx_finecode_er *er, const dx_event *event, int64_t code, dx_text why);
/* A member that has to be there; NULL after refusing the request as the program does. */
yyjson_val *dx__finecode_er_need(dx_finecode_er *er, const dx_event *event, const char *name);
/* The same for a string. */
bool dx__finecode_er_need_text(dx_finecode_er *er, const dx_event *event, const char *name,
                               dx_text *ret_text);

/* er_wal.c: an event of a run. handler may be NULL. */
void dx__finecode_er_wal(const dx__finecode_er_run *run, const char *type, const char *handler,
                         dx_text error);

/* er_protocol.c */
dx_status dx__finecode_er_protocol_open(dx_finecode_er *er, bool is_real);

struct dx_finecode_er {
    unsigned refs; /* its owner, each run, each question, and each callback that is under way */
    bool freed;
    dx_allocator alloc;
    dx_finecode_er_config config;
    char *strings;
    dx__finecode_er_kind *kinds;
    dx__finecode_er_doer *doers;
    dx__finecode_er_name *aliases;
    dx__finecode_er_name *packages;
    dx_check *check;
    dx__finecode_wal *wal;

    dx_loop *loop;
    dx_protocol *protocol;
    bool protocol_is_real;
    dx_link *link; /* NULL: no conversation */
    dx_listener *listener;
    dx_timer *waiting; /* for a connection */
    dx_timer *timer;   /* for runs */
    uint64_t timer_due;
    bool is_real;
    bool leaving; /* exit came */
    bool is_done; /* the conversation is over */
    bool runs;    /* the loop is one of our own */
    int code;

    dx__finecode_er_setup *setup; /* NULL: not configured */
    dx_event *configuring;        /* updateConfig, which waits for the raw configuration */
    dx_timer *patience;           /* … so long */
    dx_call raw_call;
    yyjson_doc *raw; /* NULL: it has not come */
    dx__finecode_documents documents;
    bool forwards;
    int forward_level;
    unsigned run_count;
    dx__finecode_er_run *first_run;
    dx__finecode_er_run *cursor;
    dx__finecode_er_question *questions;
};

/* er.c */
void dx__finecode_er_hold(dx_finecode_er *er);
void dx__finecode_er_release(dx_finecode_er *er);
/* er_link.c */
dx_status dx__finecode_er_open_stdio(dx_finecode_er *er, dx_loop *loop, dx_error *reterr);
/* Has dx__finecode_er_run.due looked at in so many ms. */
void dx__finecode_er_wake(dx_finecode_er *er, uint64_t at);
enum { DX__FINECODE_ER_RETRY_MS = 20 };

#endif
