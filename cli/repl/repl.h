/* repl.h: the parts of duplex repl. */
#ifndef CLI_REPL_H
#define CLI_REPL_H

#include "cli/contact.h"
#include "cli/options.h"

extern const cli_verb cli_repl;

struct repl_options {
    cli_peer_options peer;
    bool ask;
    bool answers;
    bool no_history;
};

enum {
    REPL_CALLS_MAX = 1000,          /* calls that are under way; there is one more … */
    REPL_CALLS_BYTES = 64 << 20,    /* … only while their params are no longer than this */
    REPL_REQUESTS_MAX = 100,        /* requests of the peer that wait for an answer, … */
    REPL_REQUESTS_BYTES = 16 << 20, /* … and how long they may be together */
    REPL_LINE_MAX = 16 << 20,       /* of the standard input */
    REPL_TYPED_MAX = 8191,          /* characters of a line that is typed */
};

/* calls.c: what was asked and not yet answered. */
struct repl_call {
    struct repl *repl;
    struct repl_call *next;
    uint64_t number; /* what the user calls it */
    size_t line;     /* that asked for it; 0: it was typed */
    char *method;
    char *params; /* JSON text, or NULL */
    dx_call call;
    uint64_t began_us;
    uint64_t took_us;
    uint64_t slow_at; /* when to say that it takes long; DX_NEVER: not again */
    bool cancelled;   /* by the user */
    bool ended;       /* and not yet told, because more is to be learned of how */
    bool lost;        /* … with the conversation */
    struct failure failure;
};

/* requests.c: what the peer asked and was not yet told. */
struct repl_request {
    struct repl_request *next;
    uint64_t number;
    dx_event *event; /* kept */
};

struct repl {
    cli_session *session; /* NULL until the handshake is done */
    struct session_ears ears;
    bool typed; /* the standard input and output are a terminal */
    bool asks;  /* requests wait for the user */
    bool stderr_shown;
    bool quits;
    bool restarts; /* the peer's end is wanted */
    bool lost;     /* the peer is gone, and that was told */
    int code;      /* of the first failure */
    struct session_watch watch;
    bool watches;            /* … has begun */
    bool judged;             /* the framing is wrong, which was told */
    uint64_t until;          /* when to look again */
    struct repl_call *calls; /* oldest first */
    size_t calls_count;      /* all of them … */
    size_t calls_open;       /* … and those that have not ended */
    size_t calls_bytes;      /* of their params */
    size_t lost_calls;       /* that were told: so was the end of the conversation */
    uint64_t last_call;
    struct repl_request *requests;
    size_t requests_count;
    size_t requests_bytes;
    uint64_t last_request;
};

/* The first failure is the exit code of the whole. Returns `code`. */
int repl_note(struct repl *repl, int code);
dx_link *repl_link(const struct repl *repl);

/* What is wrong is told; repl_close() is due after CLI_OK. Both return exit codes. */
int repl_open(struct repl *repl, const cli_peer_options *options, char **command);
int repl_close(struct repl *repl, int code);
/* Ends the peer, and starts it anew. CLI_OK, or told. */
int repl_restart(struct repl *repl);

/* Does what has come for the loop, and tells what has become clear. */
void repl_work(struct repl *repl);
/* Waits for something to do, at the latest until `until`; `fd` may be -1. True if it can be read;
 * *ret_work says whether repl_work() is due. */
bool repl_wait(struct repl *repl, int fd, uint64_t until, bool *ret_work);

/* As many calls as there may be are under way. */
bool repl_is_full(const struct repl *repl);
/* Sends a request; what goes wrong is told. */
int repl_call(struct repl *repl, const char *method, const char *params, uint64_t *ret_number);
struct repl_call *repl_call_find(const struct repl *repl, uint64_t number);
int repl_cancel(struct repl *repl, struct repl_call *call);
/* Once more, to a peer that knows nothing of them. */
void repl_calls_again(struct repl *repl);
/* The same for those that take long, once each; and when the next one is due. */
void repl_calls_tell_slow(struct repl *repl);
uint64_t repl_calls_slow_at(const struct repl *repl);
/* Those that have ended; `gone`: also those that the peer's end has ended. */
void repl_calls_tell(struct repl *repl, bool gone);
/* The same, but nothing is told. */
void repl_calls_forget(struct repl *repl);
void repl_calls_free(struct repl *repl);

/* Keeps a request of the peer for the user; false: there is no room for it. */
bool repl_request_keep(struct repl *repl, dx_link *link, const dx_event *event);
struct repl_request *repl_request_find(const struct repl *repl, uint64_t number);
/* `result` is JSON text. */
int repl_answer(struct repl *repl, struct repl_request *request, const char *result);
int repl_refuse(struct repl *repl, struct repl_request *request, int64_t code, const char *message);
/* The peer takes it back. */
void repl_request_cancelled(struct repl *repl, dx_link *link, const dx_event *event);
/* Refuses those that are left, as far as there is somebody to hear it. */
void repl_requests_end(struct repl *repl);

/* command.c: does what a line says. *ret_call is the number of the call that was made and is to be
 * awaited where calls are; 0: none. */
int repl_line(struct repl *repl, char *line, size_t len, uint64_t *ret_call);
/* The words that begin a line, one after the other; NULL behind the last. */
const char *repl_command_at(size_t index);
/* What follows such a word is a method. */
bool repl_takes_method(const char *name, size_t len);
/* In a pipe an answer may stand before its question: waits for that. */
void repl_await_request(struct repl *repl, uint64_t number);

/* show.c */
void repl_show_result(const struct repl_call *call, const dx_event *event);
void repl_show_failure(struct repl_call *call);
void repl_show_message(const struct repl *repl, const char *kind, uint64_t number,
                       const dx_event *event);
void repl_show_withdrawn(uint64_t number);
void repl_show_line(const struct repl *repl, const char *kind, dx_text line);
void repl_show_violation(const struct repl *repl, const dx_event *event);
void repl_show_progress(const struct repl_call *call, const dx_event *event);
void repl_show_end(const struct repl *repl);
void repl_show_pending(const struct repl *repl);
int repl_show_methods(const struct repl *repl);
/* "0.4 ms", "12 ms", "3.1 s"; in a room of 24. */
const char *repl_time_text(uint64_t us, char *room);

/* complete.c: what could stand in place of the word at the end of a line, in order. */
struct repl_offers {
    char **at;
    size_t count;
    size_t from;  /* where in the line that word begins */
    bool partial; /* the value of a member is still to come: no space behind it */
};
void repl_complete(const dx_protocol *protocol, const char *line, struct repl_offers *ret_offers);
void repl_offers_done(struct repl_offers *offers);

/* Both until the end; exit codes. */
int repl_run_pipe(struct repl *repl);
int repl_run_terminal(struct repl *repl, bool with_history);

#endif
