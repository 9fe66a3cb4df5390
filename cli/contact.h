/* contact.h: one attempt at a conversation: a child or a connection, in one framing. A session has
 * one, and tries others when nothing comes of it. */
#ifndef CLI_CONTACT_H
#define CLI_CONTACT_H

#include "cli/run/control.h"
#include "cli/session.h"
#include "cli/tail.h"
#include "host/log_limiter.h"

/* Where it stands. */
enum contact_state {
    CONTACT_STARTING,
    CONTACT_READY,
    CONTACT_FAILED /* told in `failure` */
};

struct contact {
    cli_session *session;
    dx_framing framing;
    dx_child *child; /* or … */
    dx_link *link;   /* … a connection */
    enum contact_state state;
    const dx_step *step; /* of the handshake, at hand */
    bool probe;          /* asks something harmless instead of doing the handshake */
    bool heard;          /* a message came */
    bool other_framing;  /* what came looks like a message in the other framing */
    bool stopped;        /* we have asked it to leave */
    bool gone;
    bool left;       /* … and there is nothing wrong with how */
    int broken;      /* nobody can talk to it any more, though it is not gone yet: the exit code */
    unsigned noted;  /* violations that were told */
    int code;        /* CONTACT_FAILED: the exit code, and the line to be told */
    char *failure;   /* … which may be NULL if there was no memory for it */
    char how[300];   /* how it went, once it is gone or broken */
    char wrong[300]; /* the last violation that was no end of it */
    cli_tail tail;
};

/* What is heard of the contact that counts, for verbs that do several things at a time. */
struct session_ears {
    /* What no call takes; true: nobody else has to see to it. */
    bool (*on_event)(dx_link *link, const dx_event *event, void *user);
    void (*on_errors)(dx_text line, void *user);      /* of --stderr inherit */
    void (*on_gone)(void *user);                      /* `how` is set */
    void (*on_summary)(const char *text, void *user); /* of lines that were not shown */
    void *user;
};

/* How a call failed, and what there is to say of it. */
struct failure {
    int code;
    char *message;       /* NULL: no memory */
    char *data;          /* what the peer adds to its error, as JSON, or NULL */
    yyjson_mut_doc *doc; /* what more there is to say, for --json */
    yyjson_mut_val *more;
};

/* How long a peer that says nothing is waited for. */
struct session_watch {
    uint64_t silent_at;
    uint64_t trials_end;
};

struct asked;

struct cli_session {
    const cli_peer_options *options;
    char **command;
    dx_loop *loop;
    dx_protocol *protocol;
    dx_recorder *recorder;
    dx__log_limiter *limiter;        /* for all that is shown of the peer's own lines */
    cli_attached attached;           /* --in: the connection, until a contact takes it */
    FILE *errors;                    /* --stderr FILE */
    char *init;                      /* --init: the params of the first step */
    const struct session_ears *ears; /* or NULL */
    unsigned run;          /* of the peer, for the recording; 0: nobody has restarted it */
    uint64_t began_us;     /* of the traffic that is shown */
    struct contact *main;  /* the one that counts */
    struct contact *same;  /* tried while nothing is heard of it: in the same framing … */
    struct contact *other; /* … and in the other one */
    uint64_t other_at;     /* when that was answered */
    bool tried;
    bool changed;        /* the framing, once */
    struct asked *asked; /* the call at hand, or one that nobody waits for any more */
};

/* Is there a command or an address, and not both? CLI_OK, or told. */
int session_check(const cli_peer_options *options, char *const *command);
/* The framing that a session begins with. */
dx_framing session_framing(const cli_session *session);
/* Finds out which protocol the peer speaks: sets session->protocol, and session->main if the peer
 * that was asked can be used. CLI_OK, or told. */
int session_detect(cli_session *session, const char **ret_name);
/* Only the name; the peer is ended again. */
int session_detect_name(const cli_peer_options *options, char **command, const char **ret_name);
/* Is nothing of the peer recorded or shown? Then it may already have been talked to. */
bool session_is_unseen(const cli_session *session);

/* cli_session_open() with somebody who listens from the beginning; `ears` may be NULL. */
int session_open(const cli_peer_options *options, char **command, const struct session_ears *ears,
                 cli_session **ret_session);
/* The peer anew, in the framing that it speaks, handshake included. CLI_OK, or an exit code that
 * was told. */
int session_restart(cli_session *session);

/* One look at whether the framing is right, while answers are waited for; `over`: they are all
 * here, or will not come. */
enum session_turn {
    SESSION_WAITS,  /* wait, at the latest until *ret_until, and look again */
    SESSION_OVER,   /* there is no more to be found out */
    SESSION_CHANGES /* session_change_framing() is due */
};
void session_watch(struct session_watch *watch);
enum session_turn session_turn(cli_session *session, struct session_watch *watch, bool over,
                               uint64_t *ret_until);
/* Everything begins anew in the other framing, if --framing allows it. CLI_OK, or told. */
int session_change_framing(cli_session *session);

/* Waits until `done` says so, and meanwhile finds out whether the framing is right: *ret_changed
 * says that everything begins anew in the other one. CLI_OK, or an exit code that was told. */
int session_attend(cli_session *session, bool (*done)(cli_session *session, void *user), void *user,
                   bool *ret_changed);
/* Waits for the handshake to end. CLI_OK, or an exit code that was told. */
int session_shake_hands(cli_session *session);
/* A peer that dies is told with how it died: waits a little for that. */
void session_wait_gone(cli_session *session);
/* Something failed, or the peer is gone: one line, and what it wrote to its standard error. Returns
 * the code. */
int session_tell(cli_session *session, int code, const char *message, yyjson_mut_doc *doc,
                 yyjson_mut_val *more);
/* One request, as with cli_session_call(), but only what kept it from ending is told: after CLI_OK,
 * how it ended is an exit code, which can still be told. */
int session_ask(cli_session *session, const char *method, const char *params,
                void (*on_result)(const dx_event *event, void *user), void *user);
int session_asked_code(const cli_session *session);
int session_tell_asked(cli_session *session);
/* The peer is gone, and with it `method`, which was asked already or not; `otherwise` is what to
 * say if nobody knows how it ended. Returns CLI_ENDED. */
int session_tell_ended(cli_session *session, const char *method, const char *otherwise, bool asked,
                       yyjson_mut_doc *doc, yyjson_mut_val *more);
void session_forget_asked(cli_session *session);

/* A request as the options want it; `number` tells it from others that are under way. A method that
 * can't be sent is told by session_tell_unsent(). */
dx_status session_send(cli_session *session, const char *method, const char *params,
                       uint64_t number, dx_link_call_options *call, dx_call *ret_call);
int session_tell_unsent(cli_session *session, const char *method, dx_status status);
/* Can this be sent, as the protocol is now known? CLI_OK, or told with a suggestion; `command`
 * stands before "call" or "notify" if the other one is meant. */
int session_check_method(const cli_session *session, const char *method, bool notification,
                         const char *command);
/* Gives key=text words the types that the protocol asks for; see cli_params_fit(). */
void session_fit_params(const cli_session *session, const char *method, char *const *words,
                        char **text);
/* Is this line of the peer to be shown? Lines of different kinds are no repeats of each other. */
enum session_line { SESSION_ERRORS, SESSION_STRAY, SESSION_VIOLATION, SESSION_MESSAGE };
bool session_shows(cli_session *session, enum session_line kind, dx_text line);
/* Progress, for people. */
void session_show_progress(cli_session *session, const char *method, const dx_event *event);
/* What a call that did not end with a result says; `method` is lent until failure_done(). */
void failure_of(struct failure *failure, const char *method, const dx_event *event);
void failure_done(struct failure *failure);
/* Tells it. Returns its code. */
int session_tell_failure(cli_session *session, const char *method, const struct failure *failure);

/* One that is not started yet; NULL: no memory. */
struct contact *contact_new(cli_session *session, dx_framing framing, bool probe);
/* From now on the user sees, on a terminal, that `method` is waited for; cli_waiting_end() ends it.
 */
void contact_waits(const struct contact *contact, const char *method, uint64_t most_ms);
/* Warns of text that it printed on its standard output while nobody listened. */
void contact_warn(const struct contact *contact);
/* Starts it and its handshake. CLI_OK, or an exit code with `failure` set. */
int contact_open(struct contact *contact);
/* How a call ended, in a phrase (to be freed; NULL: no memory) and as an exit code; `timer` is the
 * option of the time that was up. */
char *contact_describe(const dx_event *event, const char *timer);
int contact_code(const dx_event *event);
/* What the end of a call says about the framing. */
void contact_hear(struct contact *contact, const dx_event *event);
/* Params that are a text, or none. */
dx_json contact_json(const char *text);
/* Answers a request of the peer: where an empty answer is one, with that, since nobody here has
 * more to say. */
void contact_answer(dx_protocol *protocol, dx_link *link, const dx_event *event);
/* Why something can't be sent: an exit code and a line (to be freed; NULL: no memory). */
int contact_why_unsent(const struct contact *contact, const char *method, dx_status status,
                       char **ret_line);
/* Something could not be sent: it has failed. */
void contact_unsent(struct contact *contact, const char *method, dx_status status);
/* Its link, or NULL if it is gone. */
dx_link *contact_link(const struct contact *contact);
/* Asks it to leave; `gone` is set in bounded time. */
void contact_stop(struct contact *contact);
/* At once, without a word. NULL is fine. Returns NULL. */
struct contact *contact_free(struct contact *contact);

#endif
