/* mock.h: a peer that does what it is told, right or wrong. */
#ifndef CLI_MOCK_MOCK_H
#define CLI_MOCK_MOCK_H

#include "cli/mock/fault.h"
#include "cli/mock/message.h"
#include "cli/mock/outlet.h"
#include "cli/mock/script.h"
#include "cli/mock/trace.h"
#include "cli/options.h"
#include "cli/tail.h"
#include "cli/wire.h"

#include <duplex/protocol.h>

struct mock_options {
    const char *protocol;
    const char *framing;
    const char *trace;
    const char *peer;
    const char *timing;
    cli_list faults;
    bool from_start;
    bool list_faults;
    bool stay;
    uint64_t late_ms;
    uint64_t timeout_ms;
    uint64_t seed;
    bool show;
    const char *record;
    cli_start start;
};

/* What a request of ours is for. */
typedef enum mock_asking {
    MOCK_ASKED,  /* by an action, or a fault */
    MOCK_STEP,   /* of the handshake */
    MOCK_PROBE,  /* that carries a fault: it may well have no answer */
    MOCK_GOODBYE /* before we leave */
} mock_asking;

/* A request of ours that has no answer yet. */
struct mock_call {
    struct mock_call *next;
    struct mock *mock;
    mock_asking asking;
    char *id;     /* JSON */
    char *method; /* may be NULL: a message as it is */
    mock_message *about;
    yyjson_val *then; /* may be NULL */
    yyjson_val *otherwise;
    dx_timer *timer;
};

/* How far it is. */
typedef enum mock_phase {
    MOCK_RUNNING,
    MOCK_ENDING, /* the script's "end" */
    MOCK_LEAVING /* a host asks its plugin to leave; a plugin writes what waits */
} mock_phase;

struct mock_task;

struct mock {
    const struct mock_options *options;
    char *const *command; /* NULL: we are a plugin */
    dx_loop *loop;
    dx_recorder *recorder;
    dx_protocol *protocol;
    mock_script *script;
    mock_trace *trace;
    cli_wire *wire;
    dx_side side;
    mock_otherwise otherwise;
    dx_framing framing;        /* that we write in; 0: that of what comes */
    dx_framing needed_framing; /* by a fault; 0: any */
    mock_outlet outlet;
    cli_tail tail;

    const dx_step *step; /* of the handshake, at hand; NULL: there is none, or it was done */
    unsigned state;      /* of the protocol's lifecycle */
    bool has_protocol;   /* somebody named it */
    bool met;            /* the first step was done */
    bool greeted;        /* the handshake is over */

    bool over;
    struct mock_batch *batch; /* that is being heard */
    struct mock_task *tasks;
    size_t task_count;
    size_t task_bytes; /* of the messages that they hold */
    struct mock_call *calls;
    size_t call_count;
    uint64_t last_id;
    uint64_t random;   /* the state of what makes garbage */
    uint64_t heard_ms; /* when something came */

    struct mock_fault_use *uses; /* of --fault */
    size_t use_count;
    uint64_t answers; /* after the handshake */
    char *held;       /* an answer that is stuck */
    size_t held_len;
    struct mock_later *later; /* what a fault says later */
    size_t later_count;
    unsigned forms;                    /* of lengths that were written */
    bool fault[MOCK_FAULT_COUNT];      /* those in use … */
    bool fault_done[MOCK_FAULT_COUNT]; /* … and those of them that happen once, and did */

    bool not_reading; /* as it was told … */
    bool choked;      /* … or because too much waits to be written */
    bool reads_later; /* as soon as all is written */
    bool input_ended;
    uint64_t hurry_ms; /* until when something may still wait then */
    bool closed_early; /* the plugin closed its output before we were done */
    bool gone;         /* the program has ended, or nobody reads */
    bool deaf_to_end;  /* neither the end of the input nor a goodbye counts */
    bool dying;        /* as soon as all is written */
    mock_phase phase;
    int die_of;      /* a signal, or 0: with `code` */
    int rung;        /* of the ladder, by which a host leaves … */
    dx_timer *timer; /* … and its time */
    int code;
};

/* Ends it: the code, and why (may be NULL), which is told. The first one counts. */
void mock_fail(struct mock *mock, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* As soon as what waits was written. */
void mock_die(struct mock *mock, int code, int number);
/* Looks whether there is nothing more to do; called when something ended. */
void mock_look(struct mock *mock);
/* Reads what comes, or does not. */
void mock_read(struct mock *mock, bool reads);
/* Runs it to its end. An exit code. */
int mock_run(struct mock *mock);

/* Saying. */

dx_framing mock_framing(const struct mock *mock);
/* Frames a message for the task's "together" and so on, or else for the wire. task may be NULL. */
void mock_say(struct mock *mock, struct mock_task *task, dx_text message);
/* Bytes as they are, to the same place. */
void mock_put(struct mock *mock, struct mock_task *task, dx_text bytes);
/* So many bytes of anything; a message with a text that is so long, an answer if there is something
 * to answer. */
void mock_put_garbage(struct mock *mock, struct mock_task *task, uint64_t count);
void mock_put_huge(struct mock *mock, struct mock_task *task, const mock_message *about,
                   uint64_t count);
/* An answer to nothing. */
void mock_note_lost(struct mock *mock, const char *action);
/* A message of ours, with the faults that are in use. is_answer: to `about`. */
void mock_deliver(struct mock *mock, struct mock_task *task, mock_message *about, dx_text message,
                  bool is_answer);
/* Answers; result or error is JSON. */
void mock_result(struct mock *mock, struct mock_task *task, mock_message *about, dx_text result);
void mock_error(struct mock *mock, struct mock_task *task, mock_message *about, dx_text error);
void mock_refuse(struct mock *mock, struct mock_task *task, mock_message *about, int64_t code,
                 const char *text);
/* The answer that nobody's script has. */
void mock_answer_otherwise(struct mock *mock, struct mock_task *task, mock_message *about);
/* The result that the protocol's document has for it, or what came; false: there is none. */
bool mock_example_result(struct mock *mock, const mock_message *about, dx_buf *json);
/* A notification; params is JSON, or absent. */
void mock_notify(struct mock *mock, struct mock_task *task, dx_text method, dx_text params);

/* A request; id is JSON, or absent: one of our own. then and otherwise may be NULL. */
struct mock_ask {
    mock_asking asking;
    dx_text method;
    dx_text params;
    dx_text id;
    yyjson_val *then;
    yyjson_val *otherwise;
    uint64_t timeout_ms;
    mock_message *about;
};
/* False: it failed, and that was told. */
bool mock_call(struct mock *mock, struct mock_task *task, const struct mock_ask *ask);
/* Only puts it on the books, with the id that it has; NULL: the same. */
struct mock_call *mock_expect(struct mock *mock, const struct mock_ask *ask);
/* How long an answer may take, where nothing else is said. */
uint64_t mock_patience(const struct mock *mock);
/* Takes it off the books, without a word. */
void mock_call_free(struct mock_call *call);
/* The one with that id (JSON); NULL. */
struct mock_call *mock_call_find(struct mock *mock, dx_text id);

/* What our side may send by itself, as the protocol has it; the params are appended to `params`,
 * nothing if there are none. Never NULL. */
const char *mock_own_method(struct mock *mock, bool notification, dx_buf *params);

/* The answers to a batch, which go out together when the last of its messages was dealt with.
 * NULL: no memory, which was told. */
struct mock_batch *mock_batch_new(struct mock *mock);
struct mock_batch *mock_batch_join(struct mock_batch *batch);
/* NULL is fine. */
void mock_batch_leave(struct mock_batch *batch);
void mock_batch_add(struct mock_batch *batch, dx_text answer);

/* Hearing. */

void mock_hear(struct mock *mock, dx_text text);
/* A message of ours has crossed: the lifecycle moves. */
void mock_moved(struct mock *mock, const char *method, dx_side from, dx_move move);
/* So does the handshake, as a plugin sees it, or a host that has a trace. */
void mock_greet_by(struct mock *mock, const char *method, bool is_notification);
dx_side mock_other_side(const struct mock *mock);
/* A host begins: the handshake, then the script. */
void mock_begin(struct mock *mock);
/* The next step of its handshake. */
void mock_take_step(struct mock *mock);
/* A host's ladder, one rung after the other. */
void mock_leave(struct mock *mock);
/* The handshake is over: what a fault has to say by itself. */
void mock_greeted(struct mock *mock);

#endif
