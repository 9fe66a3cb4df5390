/* asked.h: the requests of a conversation that wait for their answers, of both sides, and as much
 * of those that had one as is needed to tell what a second one is. */
#ifndef CLI_ASKED_H
#define CLI_ASKED_H

#include "cli/lint/finding.h"
#include "cli/lint/keys.h"

#include <duplex/protocol.h>

/* The longest id or token, in bytes as it is kept; how many requests may be cancelled and without
 * answer; of how many that were answered the ids are remembered. */
enum { CLI_ID_MAX = 1024, CLI_CANCELLED_MAX = 10000, CLI_ANSWERED_MAX = 1024 };

/* What several conversations share: bytes that all their requests together may take. */
typedef struct cli_room {
    size_t used;
    size_t max;
} cli_room;

typedef struct cli_token cli_token;

/* A request. */
typedef struct cli_asked {
    cli_hook by_id;
    struct cli_asked *older;
    struct cli_asked *newer;
    cli_token *tokens;
    const dx_method *rule; /* NULL: the protocol does not list it */
    cli_place place;
    dx_side from;
    unsigned again; /* requests with the same id that came while it was open */
    bool faulty;    /* whoever gets it need not know what it is */
    bool cancelled;
    uint32_t key_len;
    uint32_t method_len;
    char text[]; /* the key of its id, then its method, or the beginning of it */
} cli_asked;

/* In the order in which they came. */
typedef struct cli_queue {
    cli_asked *oldest;
    cli_asked *newest;
    size_t count;
} cli_queue;

typedef struct cli_asking {
    uint64_t seed;
    size_t open_max;
    cli_room *room;
    cli_keys by_id;
    cli_keys by_token;
    cli_queue open;
    cli_queue cancelled; /* those that need no answer any more */
    uint64_t *answered;  /* hashes, a ring */
    size_t answered_at;
    bool forgot;  /* not all that is open, or cancelled, is here … */
    bool is_full; /* … since there was no room */
} cli_asking;

void cli_asking_init(cli_asking *asking, uint64_t seed, size_t open_max, cli_room *room);
void cli_asking_done(cli_asking *asking);

/* One form for each id or token, however it was escaped: strings keep their opening quote only, so
 * that "1" and 1 stay different. False for one that is too long. */
bool cli_asked_key(dx_text json, char room[CLI_ID_MAX], dx_text *ret_key);
dx_text cli_asked_id(const cli_asked *asked);
dx_text cli_asked_method(const cli_asked *asked);

/* The open request of that side; NULL: there is none. */
cli_asked *cli_asked_find(const cli_asking *asking, dx_side from, dx_text key);
/* The one that an id answers which is not quite its own: "7", 7.0 or 7e0 for 7, or 7 for "7".
 * *ret_lenient is what would let that pass. */
cli_asked *cli_asked_alike(const cli_asking *asking, dx_side asker, dx_text key,
                           unsigned *ret_lenient);
cli_asked *cli_asked_by_token(const cli_asking *asking, dx_side from, dx_text key);
/* A new one. If it is one too many, the oldest are forgotten, or it is not taken (NULL): then
 * `forgot` is set. */
cli_asked *cli_asked_add(cli_asking *asking, dx_side from, dx_text key, dx_text method);
/* Progress of it will carry this token. */
void cli_asked_tell(cli_asking *asking, cli_asked *asked, dx_text key);
/* It needs no answer any more, but may have one. */
void cli_asked_cancel(cli_asking *asking, cli_asked *asked);
/* It is over. */
void cli_asked_close(cli_asking *asking, cli_asked *asked);
/* Was it closed not long ago? */
bool cli_asked_before(const cli_asking *asking, dx_side from, dx_text key);

#endif
