/* session.h: a conversation with a program or a socket, from the handshake to the last word, for
 * verbs that do one thing after the other. */
#ifndef CLI_SESSION_H
#define CLI_SESSION_H

#include "cli/options.h"
#include "cli/run/address.h"

#include <duplex/duplex.h>

/* Which peer, and how it is talked to. Times that are 0 are the protocol's. */
typedef struct cli_peer_options {
    const char *protocol;
    const char *framing;
    const char *connect;
    const char *init;
    const char *check;
    uint64_t timeout_ms;
    uint64_t total_ms;
    uint64_t start_ms;
    uint64_t stop_ms;
    const char *record;
    const char *errors;
    cli_list env;
    const char *cwd;
    const char *in;      /* a peer that duplex run keeps, … */
    cli_run_options run; /* … and which run that is */
    dx_loop *loop;       /* no option: a loop that outlives the session; NULL: one of its own */
    bool no_handshake;
    bool strict;
    bool progress;
    bool reset;
    bool show;
    bool clean_env;
    bool inherit_env;
    bool keep_daemons;
    bool framing_known; /* no option: silence says nothing, and no other framing is tried */
} cli_peer_options;
extern const cli_option cli_peer_table[];
extern const cli_option cli_time_table[];
extern const cli_option cli_in_table[]; /* for commands that can talk to a peer of duplex run */
extern const cli_option cli_progress_table[]; /* besides those, for verbs that ask for progress */

typedef struct cli_session cli_session;

/* Starts the peer (or connects to it) and does the handshake, in the framing that works. What goes
 * wrong is told; returns an exit code, and *ret_session is to be closed only after CLI_OK. */
int cli_session_open(const cli_peer_options *options, char **command, cli_session **ret_session);
/* Says goodbye as the protocol wants it, and waits for the end. The exit code of the whole: `code`
 * unless something worse happened. */
int cli_session_close(cli_session *session, int code);

/* One request; params is JSON text or NULL. CLI_OK: on_result had it. Everything else is told. */
int cli_session_call(cli_session *session, const char *method, const char *params,
                     void (*on_result)(const dx_event *event, void *user), void *user);
/* Before anything is started: is this a method of a built-in protocol that a host can send?
 * Protocols from files are checked later, and --check turns it off. CLI_OK, or told. */
int cli_session_check_method(const cli_peer_options *options, const char *method,
                             bool notification);
int cli_session_notify(cli_session *session, const char *method, const char *params);

#endif
