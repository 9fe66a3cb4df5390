/*
 * duplex/link.h: a peer on file descriptors, driven by a loop, with functions for its methods.
 *
 *     static void on_echo(dx_link *link, const dx_event *ev, void *user) {
 *         dx_link_reply(link, ev->request, dx_json_checked(ev->body));
 *     }
 *     static const dx_handler handlers[] = {{"echo", on_echo}, {NULL, NULL}};
 *
 *     dx_link_config config = dx_link_defaults(DX_FRAMING_LINE, DX_SIDE_PLUGIN);
 *     config.handlers = handlers;
 *     return dx_plugin_run(&config);
 *
 * A link reads while it writes, writes what one turn has produced together, stops reading while too
 * much waits (see in_max and out_max in duplex/peer.h), and sends what it still has before it
 * closes.
 *
 * On a connection (TCP, or a Unix socket that has a path; not a pair of sockets) a link is stricter
 * than on pipes: text between messages, lines that are too long, and the other framing end the
 * conversation, whatever peer.lenient says.
 */
#ifndef DUPLEX_LINK_H
#define DUPLEX_LINK_H

#include <duplex/loop.h>
#include <duplex/peer.h>
#include <duplex/recorder.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dx_link dx_link;

/* What to do with a request or notification of that method. The event is lent for the time of the
 * call; a request that is neither answered nor kept (dx_link_keep()) in it is answered with an
 * internal error. */
typedef struct dx_handler {
    const char *method;
    void (*handle)(dx_link *link, const dx_event *event, void *user);
} dx_handler;

typedef struct dx_link_config {
    dx_peer_config peer;
    /* Ends with a row of NULLs; may be NULL. Must outlive the link. A request that no row and no
     * on_event takes is answered with "Method not found". */
    const dx_handler *handlers;
    /* Every event that no handler and no call takes: stray text, violations, requests and
     * notifications of other methods, cancellation. A peer that has read nothing of what was sent
     * to it for peer.stall_ms is a violation, too (DX_FAULT_UNREAD). May be NULL. */
    void (*on_event)(dx_link *link, const dx_event *event, void *user);
    /* The conversation is over: comes once, last, when everything was handed out and sent as far as
     * that was possible. `why` as in DX_EVENT_CLOSED. The link may be freed in it. May be NULL. */
    void (*on_closed)(dx_link *link, const dx_error *why, void *user);
    /* The other side says no more, and all that it said was handed out (a last line counts without
     * its newline). With this function the conversation goes on in the other direction, until
     * dx_link_close(); without it, this is its end. May be NULL. */
    void (*on_ended)(dx_link *link, void *user);
    void *user;
    dx_text first; /* bytes that were read from the descriptor already: they come before the rest */
    uint64_t drain_ms; /* how long the last output may take once the conversation is over (2 s) */
    dx_recorder *recorder; /* gets all that crosses this link; may be NULL; must outlive the link */
    const char *name; /* what the trace calls the other side; may be NULL; must outlive the link */
    unsigned run;     /* which incarnation of it this is; 0: not told */
} dx_link_config;

DX_API dx_link_config dx_link_defaults(dx_framing framing, dx_side side);
/* The same for one that speaks a protocol. */
DX_API dx_link_config dx_link_for(dx_protocol *protocol, dx_side side);

/* A link on a pair of file descriptors (the same one twice for a socket), which are its own from
 * then on, made non-blocking, and closed by it. DX_ERR_INVALID, DX_ERR_NOMEM, DX_ERR_SYSTEM: the
 * descriptors are still yours. reterr may be NULL. */
DX_API dx_status dx_link_open(dx_loop *loop, int in, int out, const dx_link_config *config,
                              dx_link **ret_link, dx_error *reterr);
/* A link on the standard input and output of this process, as a plugin has it. The real output
 * moves to a descriptor of its own, and descriptor 1 becomes a copy of 2: a stray printf() goes to
 * the standard error and can't break the protocol. */
DX_API dx_status dx_link_stdio(dx_loop *loop, const dx_link_config *config, dx_link **ret_link,
                               dx_error *reterr);
/* The whole of a plugin that does nothing else: a loop with such a link, until the conversation is
 * over. An exit code: 0 after a plain end, which may be one's own (closing or freeing the link,
 * stopping the loop), 1 if it ended otherwise, 2 if it could not begin. The configuration's
 * on_closed is called, too. */
DX_API int dx_plugin_run(const dx_link_config *config);
/* A link to a socket: "unix:PATH", or "tcp:PORT" on the loopback address. Who listens there but is
 * overrun counts as absent after 200 ms, which is the longest that this takes. */
DX_API dx_status dx_link_connect(dx_loop *loop, const char *address, const dx_link_config *config,
                                 dx_link **ret_link, dx_error *reterr);

/* Says no more, sends what is left, then on_closed; half a message that has come by then is
 * nobody's fault. Harmless when it is closing already. */
DX_API void dx_link_close(dx_link *link);
/* At once and without a word; no callback comes any more. A child whose link is freed is asked to
 * leave, as if the conversation had ended by itself. */
DX_API dx_link *dx_link_free(dx_link *link);

DX_API dx_loop *dx_link_loop(const dx_link *link);
DX_API void *dx_link_user(const dx_link *link);
DX_API dx_peer_stats dx_link_statistics(const dx_link *link);
/* That of its configuration (of its input: lines with DX_PEER_LINES_FIRST), until it has followed
 * the peer to another one (DX_LENIENT_FOLLOW). */
DX_API dx_framing dx_link_framing(const dx_link *link);
/* Bytes that were said and not yet written: the other side does not read them, or not so fast. */
DX_API size_t dx_link_waiting(const dx_link *link);
/* The same with those that were written, but that the other side has not read, as far as the system
 * says so: not 0 while a program is at work on something else. */
DX_API size_t dx_link_unread(const dx_link *link);
/* What was wrong with what DX_MISFIT was last said of; see dx_peer_why(). */
DX_API const dx_misfit *dx_link_why(const dx_link *link);

/* What a call has besides the options of the peer. Either may be NULL. */
typedef struct dx_link_call_options {
    dx_call_options peer; /* `user` goes to both functions */
    void (*on_done)(dx_link *link, const dx_event *event, void *user);
    void (*on_progress)(dx_link *link, const dx_event *event, void *user);
} dx_link_call_options;

/* These are the functions of duplex/peer.h of the same names; what they produce is written when the
 * turn ends. on_done comes exactly once for each call that was accepted, unless the link is freed.
 * All of them say DX_CLOSED of a link that is not there (NULL, as dx_child_link() of a child that
 * is gone), and the functions above give 0, NULL or nothing; from on_closed on, DX_CLOSED is also
 * what an answer comes to. */
DX_API dx_status dx_link_call(dx_link *link, dx_text method, dx_json params,
                              const dx_link_call_options *options, dx_call *ret_call);
DX_API dx_status dx_link_notify(dx_link *link, dx_text method, dx_json params);
DX_API dx_status dx_link_send(dx_link *link, dx_text text);
DX_API dx_status dx_link_cancel(dx_link *link, dx_call call, dx_text reason);
DX_API dx_text dx_link_call_id(const dx_link *link, dx_call call, char room[DX_CALL_ID_ROOM]);
DX_API dx_call dx_link_find(const dx_link *link, dx_text id);
DX_API dx_status dx_link_reply(dx_link *link, dx_request request, dx_json result);
DX_API dx_status dx_link_refuse(dx_link *link, dx_request request, int64_t code, dx_text message,
                                dx_json data);
/* Takes the event that is lent in the callback at hand; see dx_peer_keep(). */
DX_API dx_status dx_link_keep(dx_link *link, dx_event **ret_event);

/* A place where others connect. */
typedef struct dx_listener dx_listener;
typedef struct dx_listener_config {
    /* Gets a descriptor that is its own: open a link on it, or close it. */
    void (*on_connect)(dx_listener *listener, int fd, void *user);
    /* A connection was refused and is closed; `why` is a line for the log. At most ten a second are
     * reported; the next line says how many others there were. May be NULL. */
    void (*on_refused)(dx_listener *listener, const char *why, void *user);
    void *user;
    /* A connection is handed over only when its first bytes begin a message of this framing;
     * anything else, such as the HTTP request of a web page, is refused. 0: at once, for protocols
     * in which the side that listens speaks first. */
    dx_framing framing;
    /* Otherwise only programs of the same effective user, and root's, may connect. The kernel is
     * asked who has the other end; if it does not say, the connection is refused. */
    int any_user;
} dx_listener_config;

/* Listens on "unix:PATH" (made with mode 0600, removed when freed) or "tcp:PORT" on the loopback
 * address (port 0: any; see dx_listener_port()). The configuration is copied. */
DX_API dx_status dx_listener_open(dx_loop *loop, const char *address,
                                  const dx_listener_config *config, dx_listener **ret_listener,
                                  dx_error *reterr);
DX_API dx_listener *dx_listener_free(dx_listener *listener);
DX_API unsigned dx_listener_port(const dx_listener *listener);

#ifdef __cplusplus
}
#endif

#endif
