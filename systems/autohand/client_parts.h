/*
 * What the parts of the client share.
 *
 *   client.c            its birth, its end, and what is known of it
 *   client_link.c       the conversation: what comes, and how it ends
 *   client_read.c       a notification of any version as one dx_autohand_event
 *   client_heed.c       what follows from one
 *   client_turn.c       a turn, from the prompt to on_turn
 *   client_prompt.c     the params of a prompt
 *   client_question.c   permissions
 *   client_changes.c    changes, and what is decided about them
 *   client_call.c       calls that have an answer for the user
 */
#ifndef AUTOHAND_CLIENT_PARTS_H
#define AUTOHAND_CLIENT_PARTS_H

#include "base/alloc.h"
#include "base/utf8.h"

#include <duplex/autohand-client.h>

#include <stdbool.h>
#include <string.h>

/* How long the answer of a prompt may come behind turnEnd, and turnEnd behind what says that there
 * is no turn. */
enum { DX__AUTOHAND_SETTLE_MS = 2000 };

/* How many permissions may wait for an answer at once, and how long the id of one may be: what is
 * more is denied, or not answered at all. */
enum { DX__AUTOHAND_QUESTIONS_MAX = 1000, DX__AUTOHAND_QUESTION_ID_MAX = 4096 };

/* A call whose answer somebody waits for. */
struct dx__autohand_client_call {
    dx_autohand_client *client;
    dx_autohand_answer *on_answer; /* NULL: nobody */
    void *user;
    bool is_abort;
    unsigned turn; /* which turn it was for */
    struct dx__autohand_client_call *prev, *next;
};

/* A permission that was asked for and is not yet given or denied. */
struct dx__autohand_client_question {
    char *id;
    size_t len;
    bool is_folder; /* access to a folder, which newer agents ask for by another name */
    struct dx__autohand_client_question *next;
};

/* The changes of a turn, and then those that wait for a decision. */
struct dx__autohand_client_batch {
    char *id; /* NULL: there is none */
    dx_autohand_change *changes;
    size_t count, cap;
    size_t bytes;
    bool ended;   /* all are here */
    bool partial; /* another number than was told */
    bool broken;  /* more than can be kept: it is rejected */
};

/* Where a turn is. */
typedef enum dx__autohand_client_stage {
    DX__STAGE_NONE = 0,
    DX__STAGE_HELD,    /* the prompt waits for agentStart */
    DX__STAGE_ASKED,   /* it was sent */
    DX__STAGE_RUNNING, /* turnStart came */
    DX__STAGE_CLOSING  /* turnEnd came, the answer did not */
} dx__autohand_client_stage;

/* Where its message is. */
typedef enum dx__autohand_client_talk {
    DX__TALK_NONE = 0,
    DX__TALK_BEGUN,
    DX__TALK_ENDED
} dx__autohand_client_talk;

struct dx__autohand_client_turn {
    dx__autohand_client_stage stage;
    unsigned number; /* never 0, and another one for each prompt */
    yyjson_mut_doc *held;
    char *id;      /* of turnStart; NULL: not told */
    char *message; /* of messageStart; NULL: not told */
    dx__autohand_client_talk talk;
    bool answered;
    bool early;  /* … before turnEnd, so that it says nothing of how the turn went */
    bool answer; /* success, as it said */
    bool aborting;
    bool aborted;
    bool silent; /* it was aborted because nothing came */
    bool failed; /* the last that came was an error */
    int64_t code;
    int64_t last_code; /* of the last autohand.error */
    char *error;       /* of the answer … */
    char *last_error;  /* … and of that */
    dx_buf content;
    dx_buf deltas; /* what came since the last messageEnd */
    int64_t tokens;
    double duration_ms, context_percent;
    size_t tool_calls, tool_failures, denied, denied_told;
};

struct dx_autohand_client {
    dx_autohand_client_config config;
    dx_allocator alloc;
    dx_loop *loop;
    dx_child *child;
    dx_protocol *protocol; /* says what does not fit; nothing is refused for that */
    dx_timer *starting;    /* how long agentStart may take */
    dx_timer *settle;      /* when the turn is over at the latest */
    dx_timer *silence;
    bool ready;
    bool stopping;
    bool gone;
    bool freed;
    unsigned depth;  /* how many of our functions are at work: until then it stays in memory */
    dx_error error;  /* why it ends, if that is known better than the child does */
    char *last_turn; /* of the turn before: what still comes of it is late */
    char *last_message;
    struct dx__autohand_client_turn turn;
    struct dx__autohand_client_batch batch;
    struct dx__autohand_client_question *questions;
    size_t question_count;
    struct dx__autohand_client_call *calls;
};

/* Life: client.c */
void dx__autohand_client_enter(dx_autohand_client *client);
void dx__autohand_client_leave(dx_autohand_client *client);
/* Ends it because of this. The first reason counts. */
void dx__autohand_client_fail(dx_autohand_client *client, dx_fault fault, const char *phrase);
void dx__autohand_client_no_memory(dx_autohand_client *client);
void dx__autohand_client_set_error(dx_error *error, dx_fault fault, const char *phrase);
/* Replaces a text; false without memory, and then it is as before. */
bool dx__autohand_client_copy(dx_autohand_client *client, char **place, dx_text text);
yyjson_alc dx__autohand_client_alc(const dx_autohand_client *client);

/* client_link.c */
dx_child_config dx__autohand_client_child(dx_autohand_client *client);
void dx__autohand_client_violation(dx_autohand_client *client, const char *phrase);

/* client_read.c: what the params say, whatever version says it. Where delta and thought come
 * together, `ret_thought` gets an event of its own; its kind is 0 otherwise. */
void dx__autohand_client_read(dx_text method, yyjson_val *params, dx_autohand_event *ret_event,
                              dx_autohand_event *ret_thought, dx_autohand_change *ret_change);
dx_text dx__autohand_client_text(yyjson_val *object, const char *member);

/* client_heed.c */
void dx__autohand_client_heed(dx_autohand_client *client, dx_text method, yyjson_val *params);

/* client_turn.c */
/* Sends the prompt that is held. */
dx_status dx__autohand_client_send(dx_autohand_client *client);
void dx__autohand_client_turn_ends(dx_autohand_client *client, const dx_autohand_event *event);
/* Something of the turn came. */
void dx__autohand_client_stir(dx_autohand_client *client);
/* It is over in so many ms, unless something better comes. */
void dx__autohand_client_turn_due(dx_autohand_client *client, uint64_t ms);
/* It is over: tells on_changes and on_turn. `why` (may be NULL) is said if nothing else is. */
void dx__autohand_client_turn_over(dx_autohand_client *client, const char *why);
void dx__autohand_client_turn_free(dx_autohand_client *client);
/* Something was wrong with what ends it. */
void dx__autohand_client_turn_error(dx_autohand_client *client, int64_t code, dx_text message);
void dx__autohand_client_on_settle(dx_timer *timer, void *user);
void dx__autohand_client_on_silence(dx_timer *timer, void *user);
/* Is a turn running that can still say something? */
bool dx__autohand_client_runs(const dx_autohand_client *client);

/* client_prompt.c */
dx_status dx__autohand_client_prompt_build(const dx_autohand_client *client,
                                           const dx_autohand_prompt *prompt,
                                           yyjson_mut_doc **ret_doc, dx_error *reterr);

/* client_question.c */
void dx__autohand_client_question(dx_autohand_client *client, yyjson_val *params, bool is_folder);
void dx__autohand_client_questions_free(dx_autohand_client *client);

/* client_changes.c */
void dx__autohand_client_batch_begin(dx_autohand_client *client, dx_text id);
void dx__autohand_client_batch_add(dx_autohand_client *client, const dx_autohand_change *given);
void dx__autohand_client_batch_end(dx_autohand_client *client, int64_t count);
void dx__autohand_client_batch_free(dx_autohand_client *client);
/* The turn is over: on_changes, or they are rejected. */
void dx__autohand_client_batch_ask(dx_autohand_client *client);

/* client_call.c. `params` may be NULL; it is freed in any case. */
dx_status dx__autohand_client_call(dx_autohand_client *client, const char *method,
                                   yyjson_mut_doc *params, dx_autohand_answer *on_answer,
                                   void *user);
/* An object to be filled; NULL without memory, which everything in yyjson takes. */
yyjson_mut_doc *dx__autohand_client_object(const dx_autohand_client *client);
dx_status dx__autohand_client_say_abort(dx_autohand_client *client);
void dx__autohand_client_calls_free(dx_autohand_client *client);
/* What an answer that is no result says. */
void dx__autohand_client_explain(const dx_event *event, dx_error *ret_error);

#endif
