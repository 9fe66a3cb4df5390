/* errand.h: what somebody at the desk has asked for and can't be answered at once. */
#ifndef CLI_ERRAND_H
#define CLI_ERRAND_H

#include "cli/run/desk.h"

struct desk_client {
    struct desk_client *next;
    struct desk *desk;
    dx_link *link;
    int fd;                 /* of the link */
    struct crew_peer *peer; /* relayed to it; NULL: the client talks to the run */
    bool has_spoken;        /* … and has begun to talk */
    bool cut;               /* to be disconnected when the turn is over */
};

enum errand_kind {
    ERRAND_WAIT,   /* a call whose peer is not ready yet */
    ERRAND_CALL,   /* one that was made */
    ERRAND_START,  /* until a peer is ready */
    ERRAND_STOP,   /* until it is not there any more */
    ERRAND_LOGS,   /* until there is a line */
    ERRAND_DOWN,   /* until all is over */
    ERRAND_READY,  /* until its peer is ready */
    ERRAND_ATTACH, /* until its peer is ready … */
    ERRAND_SWITCH, /* … and the turn is over: then relay_open() is due */
    ERRAND_OVER    /* a relayed call that was lost with its peer */
};

struct errand {
    struct errand *next;
    struct errand **place;
    enum errand_kind kind;
    struct desk *desk;
    struct desk_client *client; /* NULL: he is gone */
    dx_event *event;            /* kept */
    struct crew_peer *peer;     /* NULL: all */
    unsigned run;               /* ERRAND_START: from this incarnation on */
    uint64_t from;              /* ERRAND_LOGS: from this line on */
    dx_call call;
    char *token; /* a relayed call: the client's progress token as JSON, or NULL */
};

/* The request at hand becomes one; NULL: no memory, and it is answered with an error. */
struct errand *errand_new(struct desk_client *client, enum errand_kind kind,
                          struct crew_peer *peer);
/* They answer, and free it. */
void errand_reply(struct errand *errand, dx_json result);
void errand_fail(struct errand *errand, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Without an answer of ours. */
void errand_free(struct errand *errand);
/* He who asked is gone. */
void errand_abandon(struct errand *errand);
/* The answer to what needs no errand. */
void desk_refuse(struct desk_client *client, const dx_event *event, int code, const char *format,
                 ...) __attribute__((format(printf, 4, 5)));
/* The same with what to do about it. */
void desk_refuse_hint(struct desk_client *client, const dx_event *event, int code, const char *hint,
                      const char *message);
/* The peer is not running, for that reason; the hint offers to restart it, if `may_restart`. */
void desk_refuse_absent(struct desk_client *client, const dx_event *event,
                        const struct crew_peer *peer, bool may_restart);
void desk_reply(struct desk_client *client, const dx_event *event, dx_json result);
/* Before an answer about a peer: if that printed text that is not JSON-RPC, the client hears of it
 * in a notification "noise". */
void desk_tell_noise(struct desk_client *client, const struct crew_peer *peer);

/* duplex call --in: makes the call, or lets it wait for its peer. */
void errand_call(struct errand *errand);
/* Answers when the peer is ready. */
void errand_ready(struct errand *errand);
/* The connection is to be relayed to its peer, now or when that is ready. */
void errand_attach(struct errand *errand);
/* The state of its peer has changed. */
void errand_on_state(struct errand *errand);

/* The connection of a client is over; user is the client. */
void desk_on_closed(dx_link *link, const dx_error *why, void *user);

/* The two answers that tell most. To be freed; NULL: no memory. */
yyjson_mut_doc *desk_table(const struct desk *desk);
/* The lines from that number on, as many as one answer may hold, of one peer or of all. */
yyjson_mut_doc *desk_lines(const struct desk *desk, const struct crew_peer *peer, uint64_t from);
/* There is one. */
bool desk_has_line(const struct desk *desk, const struct crew_peer *peer, uint64_t from);
/* The number from which on there are `count` lines. */
uint64_t desk_last(const struct desk *desk, const struct crew_peer *peer, uint64_t count);

#endif
