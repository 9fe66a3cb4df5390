/* desk.h: the socket of a run, where others ask for things: JSON-RPC, one message a line. */
#ifndef CLI_DESK_H
#define CLI_DESK_H

#include "cli/run/address.h"
#include "cli/run/crew.h"

/* Who asks at the same time; what one of them may have asked for without an answer; how long one
 * may leave what we say unread. */
enum { DESK_CLIENTS_MAX = 64, DESK_PENDING_MAX = 1000, DESK_UNREAD_MS = 5000 };

struct desk {
    struct crew *crew;
    const cli_config *config;
    cli_address address;
    dx_listener *listener;
    struct desk_client *clients;
    size_t client_count;
    struct errand *errands; /* what can't be answered at once, in order */
    struct errand **errands_end;
    uint64_t last_token; /* counts the progress tokens of relayed calls */
    bool down;           /* somebody has asked for the end */
};

/* Listens. A run that is there already is CLI_NO_START; told, like all that goes wrong. */
int desk_open(struct desk *desk, dx_loop *loop);
/* To be called when the loop has done its turn. */
void desk_tend(struct desk *desk);
/* The state of a peer has changed, or it has sent a notification; user is the desk. */
void desk_on_state(struct crew_peer *peer, void *user);
void desk_on_notification(struct crew_peer *peer, const dx_event *event, void *user);
/* Nobody is let in any more, and who waits for the end is told of it. */
void desk_close(struct desk *desk);
void desk_done(struct desk *desk);

#endif
