/* talk.h: one conversation with the program under test: what is said goes out byte for byte, and of
 * all that comes, what is wrong is told to the report. Whoever talks waits: each conversation has a
 * loop of its own, so that several can be had at the same time, each in its thread. */
#ifndef CLI_CHECK_TALK_H
#define CLI_CHECK_TALK_H

#include "cli/check/report.h"
#include "cli/lint/books.h"
#include "cli/tail.h"
#include "cli/wire.h"

/* The name of a method that nobody has. */
#define CHECK_NO_METHOD "duplex/no-such-method"
/* Nothing was asked. */
#define CHECK_NOTHING SIZE_MAX

/* A request that does no harm. */
typedef struct check_call {
    const char *method;
    char *params; /* JSON, or NULL */
    bool given;   /* by --call */
} check_call;

struct check_options {
    const char *protocol;
    const char *framing;
    cli_list only;
    cli_list skip;
    cli_list calls;
    bool no_calls;
    bool as_plugin;
    bool list;
    bool tap;
    bool junit;
    const char *output;
    uint64_t timeout_ms;
    uint64_t start_ms;
    uint64_t stop_ms;
    uint64_t jobs;
    cli_start start;
};

/* What all conversations share. Only the report changes. */
typedef struct check_plan {
    const struct check_options *options;
    char **command; /* NULL: we are the plugin of whoever started us */
    check_report *report;
    dx_framing framing;
    uint64_t timeout_ms; /* for an answer … */
    uint64_t start_ms;   /* … of the handshake */
    check_call *calls;
    size_t call_count;
    bool lists_methods;  /* the protocol says which methods there are */
    uint64_t greeted_ms; /* how long the first handshake took */
} check_plan;

/* A request of ours. */
typedef struct check_asked {
    char *id; /* JSON */
    uint64_t asked_ms;
    uint64_t answered_ms;
    unsigned answers;
    bool is_result;
    bool is_broken; /* more is wrong with it than what it says */
    int64_t code;   /* of an error */
    check_bytes sent;
    check_bytes came;
    uint64_t offset;
} check_asked;

/* What is not wrong while something is tried that it follows from. */
enum {
    CHECK_BEAR_NULL = 1 << 0,
    CHECK_BEAR_UNKNOWN = 1 << 1,
    CHECK_BEAR_BATCH = 1 << 2,
    CHECK_BEAR_VALUE = 1 << 3
};

typedef struct check_held check_held;
typedef struct check_token check_token;

/* What a request is refused with; code 0: it is not. */
typedef struct check_refusal {
    int64_t code;
    const char *message; /* may be NULL */
} check_refusal;

typedef struct check_talk {
    const check_plan *plan;
    check_report *report;
    const char *scene;
    dx_loop *loop;
    dx_protocol *protocol;
    const dx_protocol_facts *facts;
    dx_side us;
    dx_side them;
    cli_wire *wire;
    cli_books *books;
    cli_room room;
    unsigned state;      /* of the protocol's lifecycle */
    const dx_step *step; /* the next of the handshake, as a plugin sees it */

    check_asked *asked;
    size_t asked_count;
    uint64_t last_id;
    unsigned bear;
    uint64_t strange;  /* answers that answer nothing of ours … */
    uint64_t nulls;    /* … those with id null … */
    int64_t null_code; /* … and the code of the last one */
    uint64_t spoiled;  /* messages that can't be taken for what they were to be */
    check_bytes odd;   /* the last of both … */
    uint64_t odd_at;   /* … and where it stood */
    char **their_ids;  /* of their requests, as keys */
    size_t their_count;
    check_refusal refusal; /* of the request at hand, by the state in which it came */
    check_held *held;
    uint64_t held_ms;    /* since when */
    check_token *tokens; /* of progress */

    dx_buf raw;         /* the last of what came … */
    uint64_t raw_at;    /* … from there on */
    uint64_t received;  /* bytes */
    uint64_t framed;    /* up to there it was whole */
    check_bytes last;   /* that we said */
    dx_text at_hand;    /* the message that is looked at … */
    uint64_t at_offset; /* … and where it stands */

    check_id greeting; /* what a handshake that fails is a failure of */
    bool holds;        /* requests wait to be answered */
    bool fatal;        /* nothing can be framed any more */
    bool down;         /* nothing more is to be had from it */
    bool leaving;      /* it may end */
    bool parted;       /* we have said goodbye: what it says now was on its way */
    bool killed;
    bool closed; /* it closed its output … */
    bool gone;   /* … or has ended */
    bool gone_known;
    bool exit_seen;
    bool is_only; /* one thread draws the line on the terminal, while there is one conversation */
    uint64_t closed_ms;
    int gone_code;
    int gone_signal;
    char errors[4096]; /* the last of its standard error */
    size_t errors_len;
    cli_written written; /* so far, for that line */
} check_talk;

/* Starts the program, or takes our own input and output. NULL: it can't be started; the exit code
 * and why. */
check_talk *check_talk_open(const check_plan *plan, const char *scene, dx_framing framing,
                            int *ret_code, dx_error *reterr);
/* At once. NULL is fine. Returns NULL. */
check_talk *check_talk_close(check_talk *talk);

/* Can it still be talked to? */
bool check_is_up(const check_talk *talk);
/* Is it clear why nothing comes, so that nothing is to be said about it? It was told, or a host
 * that ends the conversation, which it may do at any time. */
bool check_is_over(const check_talk *talk);
/* Until something happens, at the latest at `until` (cli_now()) or in a moment. */
void check_wait_until(check_talk *talk, uint64_t until);
/* Until it is gone; false: it was not, at that time. */
bool check_wait_gone(check_talk *talk, uint64_t ms);

/* Bytes as they are, which the books do not see unless they are told the message in them. */
void check_put(check_talk *talk, dx_text bytes);
void check_enter(check_talk *talk, dx_text message);
/* A message; a notification. */
void check_say(check_talk *talk, dx_text message);
void check_notify(check_talk *talk, const char *method, const char *params);
/* The text of a request, its place in `asked`; id NULL: one of our own. Nothing is sent. */
size_t check_prepare(check_talk *talk, const char *id, const char *method, const char *params,
                     dx_buf *text);
/* A request; params is JSON or NULL. */
size_t check_ask(check_talk *talk, const char *id, const char *method, const char *params);
/* The n-th of those that do no harm, or one that does not exist. */
size_t check_ask_any(check_talk *talk, const char *id, size_t n);
/* The same with a token for its progress, where its schema has a place for one. */
size_t check_ask_with_token(check_talk *talk, const char *method, const char *params);
/* A request in a message that was said as it is: from now on its answer is waited for. */
size_t check_expect(check_talk *talk, const char *id, dx_text message);

/* Waits for an answer; false: none came, and that was told. */
bool check_await(check_talk *talk, size_t asked);
/* The same without a word, for so long; also until something strange comes, if `strange`. */
bool check_await_quietly(check_talk *talk, size_t asked, uint64_t ms, bool strange);
/* For all from there on. How many have none. */
size_t check_await_all(check_talk *talk, size_t from, uint64_t ms);

/* What proves that something is wrong with an answer, or that there is none. */
check_proof check_proof_of(const check_talk *talk, size_t asked);
/* … with what was said last, or with the message at hand. */
check_proof check_proof_here(const check_talk *talk);
/* An error of the peer with that code? */
bool check_refused(const check_talk *talk, size_t asked, int64_t code);

/* On a terminal the user sees what is waited for, if this is the only conversation. While bytes
 * come, it may take check_await_quietly()'s multiple of that time. */
void check_wait_for(const check_talk *talk, const char *what, uint64_t most_ms);
/* The handshake, as a host. False: it failed, and that was told. */
bool check_greet(check_talk *talk);
/* It is asked to leave as the protocol wants it. */
void check_bid_farewell(check_talk *talk);
/* Requests that wait are answered. */
void check_release(check_talk *talk);

/* What talk.c needs of judge.c: a frame that came; the books. */
void check_take_frame(cli_wire *wire, const dx_frame *frame, uint64_t bytes, void *user);
void check_take_finding(void *user, const cli_finding *finding);
/* … and of answer.c: a request of the peer. */
void check_take_request(check_talk *talk, dx_text text, const dx_message *message, dx_text method);
void check_drop_held(check_talk *talk);
/* … and of progress.c: progress that came; a request of the peer may make a token. */
void check_take_progress(check_talk *talk, dx_text params);
void check_note_token(check_talk *talk, dx_text json);
void check_drop_tokens(check_talk *talk);
/* … and of end.c: has it exited, and left something behind? */
void check_look_for_exit(check_talk *talk);
void check_tell_gone(check_talk *talk, const dx_gone *gone);
void check_tell_silence(check_talk *talk, size_t asked);

void check_move(check_talk *talk, dx_text method, dx_side from, dx_move move);
void check_keep(check_bytes *bytes, dx_text text);
dx_text check_text_of(const check_bytes *bytes);

#endif
