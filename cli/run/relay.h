/* relay.h: a client of the control socket that talks to a peer of the run as if it were alone with
 * it. Each request gets an id and a progress token of its own on the way to the peer. The run did
 * the handshake long ago, so it answers the client's handshake with the peer's own results. */
#ifndef CLI_RELAY_H
#define CLI_RELAY_H

#include "cli/run/errand.h"

/* The client's request "attach" is answered, and its connection belongs to the peer from then on:
 * every further message is for the peer. Must be called outside the loop's callbacks. Frees the
 * errand; the client is cut if that fails. */
void relay_open(struct errand *errand);
/* The peer has sent a notification: passes it on to every client that has said something. */
void relay_notify(const struct desk *desk, const struct crew_peer *peer, const dx_event *event);
/* The peer has ended: closes the connections of its clients. */
void relay_close(const struct desk *desk, const struct crew_peer *peer);

#endif
