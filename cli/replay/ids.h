/* ids.h: the other side numbers its requests as it likes: what an id or a token of the recording is
 * now. */
#ifndef CLI_REPLAY_IDS_H
#define CLI_REPLAY_IDS_H

#include "cli/replay/item.h"

#include <duplex/protocol.h>

/* Of so many ids and tokens it is known; and of so many requests of ours. */
enum { REPLAY_PAIRS_MAX = 4096, REPLAY_OURS_MAX = 1024 };

typedef struct replay_pair {
    bool is_token;
    char *was;
    char *is; /* NULL: that request never came */
} replay_pair;

typedef struct replay_ids {
    const dx_protocol_facts *facts;
    uint64_t seed;
    replay_pair *pairs; /* a ring */
    size_t next;
    uint64_t *ours; /* the ids of our last requests, hashed; a ring */
    size_t next_ours;
} replay_ids;

/* False: no memory. */
bool replay_ids_init(replay_ids *ids, const dx_protocol_facts *facts, uint64_t seed);
void replay_ids_done(replay_ids *ids);

/* Something of the other side, which may be a request or have some in it, was recorded as `was` and
 * came as `is`; NULL: it did not come. False: no memory. */
bool replay_ids_learn(replay_ids *ids, const replay_item *was, const replay_item *is);
/* We sent a request with this id. */
void replay_ids_sent(replay_ids *ids, dx_text id);

typedef enum replay_now {
    REPLAY_NOW_SAME,
    REPLAY_NOW_OTHER,  /* it is in `room` */
    REPLAY_NOW_ORPHAN, /* an answer to a request that never came */
    REPLAY_NOW_NO_MEMORY
} replay_now;

/* A recorded message of ours with the ids of now. */
replay_now replay_ids_ours(const replay_ids *ids, dx_text text, const dx_message *parts,
                           dx_buf *room);
/* One of the other side, as it would have come with the ids and tokens of `is`. */
replay_now replay_ids_theirs(const replay_ids *ids, const replay_item *was, const replay_item *is,
                             dx_buf *room);
/* Can two of them be the same only with the ids of now? */
bool replay_ids_matter(const replay_ids *ids, const replay_item *item);

#endif
