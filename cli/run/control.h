/* control.h: asking a run, over its socket. */
#ifndef CLI_CONTROL_H
#define CLI_CONTROL_H

#include "cli/run/address.h"
#include "cli/session.h"

typedef struct cli_control cli_control;

/* An answer that is waited for. */
typedef struct cli_reply {
    cli_control *control;
    bool done;
    bool lost;       /* the connection ended first */
    uint64_t until;  /* when to give up waiting; 0: never */
    dx_event *event; /* kept; freed by cli_reply_done() */
} cli_reply;

/* Connects. What goes wrong is told: CLI_NO_START if there is no run. */
int cli_control_open(const cli_run_options *options, cli_control **ret_control);
/* NULL is fine. */
void cli_control_close(cli_control *control);

/* Asks; params is JSON text or NULL. False if that was told. */
bool cli_control_ask(cli_control *control, const char *method, const char *params,
                     cli_reply *reply);
/* Waits for the answer. CLI_OK: reply->event has it. Everything else is reported, except CLI_LATE
 * (reply->until has passed) and, if `quiet`, CLI_INTERRUPTED. */
int cli_control_wait(cli_reply *reply, bool quiet);
void cli_reply_done(cli_reply *reply);
/* Both. */
int cli_control_call(cli_control *control, const char *method, const char *params,
                     cli_reply *reply);
/* The run has closed the connection. */
bool cli_control_is_over(const cli_control *control);

/* Waits until the peer is ready, at most for --start-timeout or --timeout; the run has a limit of
 * its own. CLI_OK, or reported. */
int cli_control_await(cli_control *control, const char *peer, uint64_t start_ms,
                      uint64_t timeout_ms);
/* What the waiting line says of a peer that is not ready. */
void cli_control_waits_for(const char *peer, uint64_t most_ms);

/* duplex call and notify with --in: one message to a peer of the run. on_result may be NULL. */
/* Can this be sent to the peer? CLI_OK, or told. */
int cli_control_check_method(cli_control *control, const char *peer, const char *method,
                             bool notification);
int cli_control_say(cli_control *control, const char *peer, const char *verb, const char *method,
                    const char *params, const cli_peer_options *options,
                    void (*on_result)(const dx_event *event, void *user), void *user);
/* Options that say how a peer is started have no meaning there, only those in `allowed`, which has
 * a space before and after each name. CLI_OK, or reported. */
int cli_control_check(const cli_peer_options *options, char *const *command, const char *allowed);
/* For duplex call and notify, and for sessions with a peer of a run. */
#define CLI_CALL_ALLOWED " timeout total-timeout "
#define CLI_ATTACH_ALLOWED \
    CLI_CALL_ALLOWED "start-timeout check strict show record progress reset-on-progress "

/* A connection through the run to one of its peers, which speaks the peer's protocol in lines. The
 * run answers the handshake with what the peer told it, so a client begins as with a peer of its
 * own; requests of the peer are the run's to answer. */
typedef struct cli_attached {
    int fd;         /* -1: there is none (any more) */
    pid_t pid;      /* of the peer */
    char *protocol; /* by its name, or by the path of its document */
} cli_attached;
/* Waits until the peer is ready, as cli_control_await(). CLI_OK, or an exit code; the error was
 * reported. */
int cli_control_attach(const cli_run_options *options, const char *peer, uint64_t start_ms,
                       uint64_t timeout_ms, cli_attached *ret);
void cli_attached_done(cli_attached *attached);
/* Why that peer has ended, as far as the run knows; to be freed, or NULL. */
char *cli_control_reason(const cli_run_options *options, const char *peer);

/* {"name":NAME} as text, to be freed. */
char *cli_control_name(const char *name);

#endif
