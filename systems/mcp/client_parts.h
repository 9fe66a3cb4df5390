/* What the files of the client share. */
#ifndef DX_MCP_CLIENT_PARTS_H
#define DX_MCP_CLIENT_PARTS_H

#include "base/alloc.h"
#include "base/utf8.h"

#include <duplex/mcp-client.h>
#include <duplex/schema.h>

#include <stdbool.h>

/* Places in dx_mcp_revision(): a smaller number is a newer revision. */
enum {
    DX__MCP_2026_07_28 = 0,
    DX__MCP_2025_11_25,
    DX__MCP_2025_06_18,
    DX__MCP_2025_03_26,
    DX__MCP_2024_11_05,
    DX__MCP_REVISIONS,
    DX__MCP_UNKNOWN = -1
};

typedef enum dx__mcp_client_phase {
    DX__MCP_PROBING = 0, /* a copy of the server is asked for its era */
    DX__MCP_OPENING,     /* initialize or server/discover waits for its answer */
    DX__MCP_READY,
    DX__MCP_CLOSING,
    DX__MCP_OVER
} dx__mcp_client_phase;

/* How the result of an ask is treated. */
typedef enum dx__mcp_client_way {
    DX__MCP_PLAIN = 0,
    DX__MCP_LIST,
    DX__MCP_TASK,
    DX__MCP_LOCAL /* it is answered here: nothing of it goes over the wire under its name */
} dx__mcp_client_way;

struct dx__mcp_client_list;
struct dx__mcp_client_task;
struct dx__mcp_client_rounds;

struct dx__mcp_client_ask;
typedef struct dx__mcp_client_asks {
    struct dx__mcp_client_ask *first;
    struct dx__mcp_client_ask *last;
} dx__mcp_client_asks;

/* A call of the user that has not been told its end. */
typedef struct dx__mcp_client_ask {
    dx_mcp_client *client;
    dx_mcp_call handle;
    dx_call wire; /* what of it is on the wire now; 0: nothing */
    dx__mcp_client_way way;
    dx_mcp_on_answer on_answer;
    void *user;
    dx_mcp_call_options options;
    bool wakes_late; /* when it wakes up, its time is over */
    uint64_t began_at;
    uint64_t total_at; /* when it must have ended, by the loop's clock; or DX_NEVER */
    char *method;
    dx_buf params; /* as the user gave them, for those that are repeated */
    struct dx__mcp_client_list *list;
    struct dx__mcp_client_task *task;
    struct dx__mcp_client_rounds *rounds;
    struct dx__mcp_client_listen *listen; /* it is answered when this one is acknowledged … */
    bool adds;                            /* … and has one URI more, which is in its params */
    dx_timer *timer;
    /* How it ended, if that was found out here. */
    dx_event event;
    yyjson_doc *doc;
    dx__mcp_client_asks *home; /* the list that it stands in */
    struct dx__mcp_client_ask *prev, *next;
} dx__mcp_client_ask;

typedef struct dx__mcp_client_root {
    char *uri;
    char *name; /* or NULL */
    struct dx__mcp_client_root *next;
} dx__mcp_client_root;

/* A task that the server has given us: a sampling or an elicitation that it polls for. */
typedef struct dx__mcp_client_duty {
    dx_mcp_client *client;
    char id[40];
    const char *status;
    char created[32];
    char updated[32];
    uint64_t ttl;
    dx_timer *timer; /* when it is forgotten */
    dx_mcp_question *question;
    dx_buf result; /* what it came to, as JSON text … */
    bool failed;   /* … or the error */
    int64_t code;
    char message[200];
    struct dx__mcp_client_wait *waits; /* requests of tasks/result that wait for its end */
    struct dx__mcp_client_duty *prev, *next;
} dx__mcp_client_duty;

typedef struct dx__mcp_client_wait {
    dx_event *event;
    struct dx__mcp_client_wait *next;
} dx__mcp_client_wait;

struct dx_mcp_question {
    dx_mcp_client *client;
    bool is_sampling;
    bool asked;                /* the user has heard of it */
    bool is_gone;              /* and hears just now that it is gone */
    dx_event *event;           /* the server's request, kept; NULL for one of a round */
    yyjson_val *params;        /* of the event, or of the answer that asks */
    dx__mcp_client_duty *duty; /* it runs as a task */
    dx__mcp_client_ask *ask;   /* it belongs to a round of this call, … */
    yyjson_val *key;           /* … under this name */
    dx_mcp_question *prev, *next;
};

/* A resource that is watched in the modern era. */
typedef struct dx__mcp_client_watch {
    char *uri;
    struct dx__mcp_client_watch *next;
} dx__mcp_client_watch;

/* One subscriptions/listen. */
typedef struct dx__mcp_client_listen {
    dx_mcp_client *client;
    dx_call wire;
    char id[80]; /* as JSON text */
    bool acknowledged;
    bool dropped; /* a newer one has taken its place */
    struct dx__mcp_client_listen *next;
} dx__mcp_client_listen;

struct dx_mcp_client {
    dx_mcp_client_config config; /* its texts are copies */
    dx_allocator alloc;
    dx_loop *loop;
    dx_protocol *protocols[DX__MCP_REVISIONS];
    dx_protocol *either; /* 2025-11-25 and server/discover: for asking on the only connection */
    dx__mcp_client_phase phase;
    int wanted;   /* the revision that is asked for … */
    int revision; /* … and the one that was agreed upon */
    bool modern;
    bool was_ready;
    bool by_us;
    bool no_revision;
    int64_t refused;        /* the code of the error that the first question was answered with */
    bool initialized_again; /* with a revision that the server named */
    bool asked_again;       /* server/discover, after -32022 */
    bool freed;
    unsigned depth; /* how many of our functions are at work: until then it stays in memory */
    dx_error error; /* why it ends */
    char why[sizeof((dx_misfit *)0)->phrase];

    dx_child *child; /* one of these two */
    dx_link *link;
    dx_child *probe_child; /* while probing, one of these two */
    dx_link *probe_link;
    dx_timer *timer; /* set when something is to be told from the loop */
    dx_call hello;   /* initialize or server/discover */
    dx_event *facts; /* its result */
    dx_peer_stats stats;

    dx_mcp_call last_handle;
    dx__mcp_client_ask **slots; /* by handle; at most half of them are taken */
    size_t slots_cap;
    size_t live;    /* asks in the slots */
    size_t pending; /* those that have not ended */
    dx__mcp_client_asks asks;
    dx__mcp_client_asks ended;   /* how is known, and told from the loop's next turn */
    dx__mcp_client_asks orphans; /* told already; only their requests still wait for an answer */
    dx_mcp_level level;          /* modern: of all calls that say none */

    dx__mcp_client_root *roots;
    dx_mcp_question *questions;
    dx_mcp_question *questions_last;
    dx__mcp_client_duty *duties; /* the oldest first */
    dx__mcp_client_duty *duties_last;
    size_t duties_count;
    uint64_t last_duty;
    dx__mcp_client_watch *watches;
    dx__mcp_client_listen *listens;   /* the newest first */
    dx__mcp_client_listen *id_wanted; /* the next request that goes out is this one */
};

/* Life: client.c */
void dx__mcp_client_enter(dx_mcp_client *client);
void dx__mcp_client_leave(dx_mcp_client *client);
/* Something is to be told in the loop's next turn. */
void dx__mcp_client_soon(dx_mcp_client *client);
/* No answer comes any more: those who wait for one are told. */
void dx__mcp_client_lose(dx_mcp_client *client);
/* The conversation is over: tells everybody. */
void dx__mcp_client_over(dx_mcp_client *client, const dx_gone *gone);

/* Small things about text and JSON: client_text.c */
yyjson_alc dx__mcp_client_alc(const dx_mcp_client *client);
/* A copy of a list of strings that ends in NULL, in one piece. */
const char **dx__mcp_client_copy_list(const dx_allocator *alloc, const char *const *list);
void dx__mcp_client_error(dx_error *error, dx_fault fault, const char *before, dx_text after);
dx_text dx__mcp_client_string(yyjson_val *object, const char *member);
int dx__mcp_client_revision_of(dx_text name);
void dx__mcp_client_buf(const dx_mcp_client *client, dx_buf *buf);
dx_status dx__mcp_client_parse(const dx_mcp_client *client, dx_text text, yyjson_read_flag flags,
                               yyjson_doc **ret_doc);
/* For what is sent: every number keeps its digits. */
#define DX__MCP_EXACT YYJSON_READ_NUMBER_AS_RAW
/* DX_MISFIT, with that reason. */
dx_status dx__mcp_client_misfit(dx_mcp_client *client, const char *before, dx_text after);
/* The same with the link's reason, if that is what `status` says. */
dx_status dx__mcp_client_explain(dx_mcp_client *client, dx_status status);

/* Connections: client_link.c */
dx_link *dx__mcp_client_link(const dx_mcp_client *client);
dx_status dx__mcp_client_protocol(dx_mcp_client *client, int revision, dx_protocol **ret_protocol);
dx_link_config dx__mcp_client_link_config(dx_mcp_client *client, dx_protocol *protocol);
dx_child_config dx__mcp_client_child_config(dx_mcp_client *client, dx_protocol *protocol);
dx_status dx__mcp_client_connect(dx_mcp_client *client, dx_protocol *protocol, dx_error *reterr);
/* All went well: the descriptors that were given are no longer needed. */
void dx__mcp_client_close_given(int in, int out);
/* A call was lost because of this: if a program leaves at once when it has said what can't be read,
 * nobody else tells. */
void dx__mcp_client_note(dx_mcp_client *client, const dx_error *error);
/* Ends it because of this. */
void dx__mcp_client_fail(dx_mcp_client *client, dx_fault fault, const char *before, dx_text after);
void dx__mcp_client_hang_up(dx_mcp_client *client);

/* The beginning: client_start.c, client_probe.c */
dx_protocol *dx__mcp_client_choose(void *user, const dx_event *event);
/* Connects and says hello, as `modern` and `wanted` say. */
dx_status dx__mcp_client_start(dx_mcp_client *client, dx_error *reterr);
dx_status dx__mcp_client_probe(dx_mcp_client *client, dx_error *reterr);
void dx__mcp_client_probe_end(dx_mcp_client *client);
/* The newest of the revisions that an error says are supported, from that one on: or
 * DX__MCP_UNKNOWN. */
int dx__mcp_client_pick(const dx_event *event, int from);

/* What the client offers in that revision; NULL without memory: client_offer.c */
yyjson_mut_val *dx__mcp_client_offer(const dx_mcp_client *client, yyjson_mut_doc *doc,
                                     int revision);
yyjson_mut_val *dx__mcp_client_info(const dx_mcp_client *client, yyjson_mut_doc *doc);

/* Params: client_meta.c. The copy is an object. */
dx_status dx__mcp_client_params(const dx_mcp_client *client, dx_json params,
                                yyjson_mut_doc **ret_doc);
/* The same, but numbers keep their digits, and so are not to be checked against a schema. */
dx_status dx__mcp_client_params_exact(const dx_mcp_client *client, dx_json params,
                                      yyjson_mut_doc **ret_doc);
/* Adds what every request says. token 0: none. */
dx_status dx__mcp_client_meta(const dx_mcp_client *client, yyjson_mut_doc *params, uint64_t token,
                              dx_mcp_level level);

/* May it be asked? NULL, or what is missing: client_gate.c */
const char *dx__mcp_client_missing(const dx_mcp_client *client, dx_text method);
bool dx__mcp_client_has(const dx_mcp_client *client, const char *one, const char *two,
                        const char *three);

/* DX_OK, DX_AGAIN, DX_CLOSED, DX_MISFIT: client_call.c */
dx_status dx__mcp_client_may_call(dx_mcp_client *client, dx_text method);

/* Calls: client_ask.c */
uint64_t dx__mcp_client_clock(void);
dx_status dx__mcp_client_ask_new(dx_mcp_client *client, dx_text method,
                                 const dx_mcp_call_options *options, dx_mcp_on_answer on_answer,
                                 void *user, dx__mcp_client_ask **ret_ask);
dx__mcp_client_ask *dx__mcp_client_ask_find(const dx_mcp_client *client, dx_mcp_call handle);
/* Without a word. */
void dx__mcp_client_ask_free(dx__mcp_client_ask *ask);
/* Sends its method with these params, to which `_meta` is added. */
dx_status dx__mcp_client_ask_send(dx__mcp_client_ask *ask, dx_text method, dx_json params);
dx_status dx__mcp_client_ask_send_built(dx__mcp_client_ask *ask, dx_text method,
                                        yyjson_mut_doc *params, uint64_t timeout_ms);
/* Tells its end, and forgets it: from the loop only. */
void dx__mcp_client_ask_done(dx__mcp_client_ask *ask, const dx_event *event);
/* The same for an end that was found out here. */
void dx__mcp_client_ask_fail(dx__mcp_client_ask *ask, dx_outcome outcome, dx_fault fault,
                             const char *phrase);
/* It has ended so; it is told from the loop. */
void dx__mcp_client_ask_end(dx__mcp_client_ask *ask, dx_outcome outcome, dx_fault fault,
                            const char *phrase);
/* It has ended with this result or error, as JSON text. */
void dx__mcp_client_ask_end_text(dx__mcp_client_ask *ask, dx_outcome outcome, int64_t code,
                                 dx_text text);
bool dx__mcp_client_ask_has_ended(const dx__mcp_client_ask *ask);
/* Tells those that have ended. */
void dx__mcp_client_ask_settle(dx_mcp_client *client);
/* Wakes it up, at the latest when its time is over. */
dx_status dx__mcp_client_ask_sleep(dx__mcp_client_ask *ask, uint64_t ms);

/* A result that came, each for its way. All may tell the end of the ask. */
void dx__mcp_client_list_result(dx__mcp_client_ask *ask, const dx_event *event);
void dx__mcp_client_list_free(dx__mcp_client_ask *ask);
void dx__mcp_client_task_result(dx__mcp_client_ask *ask, const dx_event *event);
void dx__mcp_client_task_wake(dx__mcp_client_ask *ask);
/* The server told the state of a task. */
void dx__mcp_client_task_told(dx_mcp_client *client, yyjson_val *state);
void dx__mcp_client_task_orphan(dx__mcp_client_ask *ask, const dx_event *event);
dx_status dx__mcp_client_task_cancel(dx__mcp_client_ask *ask, dx_text reason);
/* An answer about it did not come in time. */
void dx__mcp_client_task_late(dx__mcp_client_ask *ask);
void dx__mcp_client_task_free(dx__mcp_client_ask *ask);
void dx__mcp_client_rounds_result(dx__mcp_client_ask *ask, const dx_event *event);
/* An answer to one of the questions of the round; the question is gone then. */
dx_status dx__mcp_client_rounds_answer(dx_mcp_question *question, yyjson_val *result);
void dx__mcp_client_rounds_refuse(dx_mcp_question *question, int64_t code, dx_text message);
void dx__mcp_client_rounds_free(dx__mcp_client_ask *ask);

/* What the server asks and tells: client_serve.c */
void dx__mcp_client_serve(dx_mcp_client *client, dx_link *link, const dx_event *event);

/* Questions: client_question.c */
dx_status dx__mcp_client_question_new(dx_mcp_client *client, bool is_sampling, yyjson_val *params,
                                      dx_mcp_question **ret_question);
/* What is wrong with it before it is asked: NULL, and otherwise *ret_code. */
const char *dx__mcp_client_question_flaw(const dx_mcp_client *client, bool is_sampling,
                                         yyjson_val *params, int64_t *ret_code);
void dx__mcp_client_question_ask(dx_mcp_question *question);
dx_mcp_question *dx__mcp_client_question_free(dx_mcp_question *question);
/* Tells that it is gone, and forgets it. */
void dx__mcp_client_question_gone(dx_mcp_question *question);
void dx__mcp_client_questions_of(dx_mcp_client *client, const dx__mcp_client_ask *ask);
void dx__mcp_client_questions_end(dx_mcp_client *client);
/* The answer to a form with its defaults, checked: client_form.c */
dx_status dx__mcp_client_form(dx_mcp_client *client, const dx_mcp_question *question,
                              dx_json result, yyjson_doc **ret_doc);
/* Does it fit the schema of that name of the revision? */
dx_status dx__mcp_client_fits(dx_mcp_client *client, const char *name, yyjson_val *value);

/* Tasks of the server: client_duty.c */
bool dx__mcp_client_duty_wanted(const dx_mcp_client *client, const dx_event *event);
dx_status dx__mcp_client_duty_new(dx_mcp_client *client, dx_link *link, const dx_event *event,
                                  bool is_sampling);
bool dx__mcp_client_duty_serve(dx_mcp_client *client, dx_link *link, const dx_event *event);
void dx__mcp_client_duty_end(dx__mcp_client_duty *duty, const char *status);
void dx__mcp_client_duties_free(dx_mcp_client *client);
/* The server no longer waits for the result. */
void dx__mcp_client_duty_forget_wait(dx_mcp_client *client, dx_request request);

/* Changes in the modern era: client_listen.c */
dx_status dx__mcp_client_listen_start(dx_mcp_client *client);
void dx__mcp_client_listen_seen(dx_mcp_client *client, dx_text text);
/* Is that notification one of the newest subscription? */
bool dx__mcp_client_listen_is_mine(const dx_mcp_client *client, dx_text params);
/* It was not acknowledged in time, or is no longer wanted. */
void dx__mcp_client_listen_late(dx__mcp_client_ask *ask);
void dx__mcp_client_listen_cancel(dx__mcp_client_ask *ask, dx_text reason);
void dx__mcp_client_listen_acknowledged(dx_mcp_client *client, const dx_event *event);
void dx__mcp_client_listens_free(dx_mcp_client *client);

/* Folders: client_roots.c */
yyjson_mut_val *dx__mcp_client_roots(const dx_mcp_client *client, yyjson_mut_doc *doc);
void dx__mcp_client_roots_free(dx_mcp_client *client);

#endif
