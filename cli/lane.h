/* lane.h: bytes that cross a wire in one direction, framed, recorded and shown. */
#ifndef CLI_LANE_H
#define CLI_LANE_H

#include "cli/wire.h"

#include <duplex/base.h>

typedef struct cli_lane {
    const cli_wire_config *config;
    dx_trace_from from;
    dx_framing framing;
    dx_framer *framer; /* NULL: nothing can be framed any more */
    uint64_t told;     /* up to where in its stream */
    bool either;       /* the framing is not sure yet … */
    dx_buf first;      /* … so this is what came since `told` */
    bool closed;       /* by somebody who was told a frame */
    void (*tell)(struct cli_lane *lane, const dx_frame *frame, uint64_t bytes); /* may be NULL */
} cli_lane;

/* False: no memory. */
bool cli_lane_init(cli_lane *lane, const cli_wire_config *config, dx_trace_from from);
void cli_lane_done(cli_lane *lane);
/* False: no memory, or too much at once; the rest is not framed. */
bool cli_lane_feed(cli_lane *lane, dx_text bytes);
/* No more will come. */
void cli_lane_finish(cli_lane *lane);

#endif
