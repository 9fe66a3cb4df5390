/* lanes.h: the conversations of traces, kept apart by peer and run, each with the requests that
 * wait for their answers. */
#ifndef CLI_LANES_H
#define CLI_LANES_H

#include "cli/lint/asked.h"
#include "cli/timeline/item.h"

/* Conversations at once; open requests of each; bytes that those of all may take. */
enum { CLI_LANES_MAX = 1024, CLI_WAITING_MAX = 100000, CLI_WAITING_ROOM = 64 << 20 };

typedef struct cli_strand {
    cli_hook hook;
    struct cli_strand *older; /* was heard of before … */
    struct cli_strand *newer; /* … and after this one */
    cli_lane lane;
    cli_asking asking;
    size_t peer_len; /* of the whole name */
    char name[];
} cli_strand;

typedef struct cli_lanes {
    uint64_t seed;
    cli_room room;
    cli_keys table;
    cli_strand *oldest;
    cli_strand *newest;
    uint64_t opened; /* so many there were in all */
    bool forgot;     /* requests that wait, since there were too many */
} cli_lanes;

void cli_lanes_init(cli_lanes *lanes);
void cli_lanes_done(cli_lanes *lanes);
/* The one of that name, which may be new. NULL: no memory. */
cli_strand *cli_lanes_get(cli_lanes *lanes, uint64_t trace, dx_text peer, uint64_t run);
/* All are over. */
void cli_lanes_end(cli_lanes *lanes);

#endif
