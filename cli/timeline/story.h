/* story.h: the records of traces become items: questions know their answers, cancelled requests
 * what cancelled them, and several traces have one time. Memory does not grow with the trace. */
#ifndef CLI_STORY_H
#define CLI_STORY_H

#include "cli/timeline/item.h"
#include "cli/timeline/lanes.h"

#include <duplex/protocol.h>

/* How a request is cancelled: the notification, and where its params have the id. */
typedef struct cli_cancelling {
    char method[64];
    char id[64];
} cli_cancelling;

enum { CLI_CANCELLINGS_MAX = 16 };

typedef struct cli_story {
    /* To be set. */
    cli_sink sink;
    int64_t from_us; /* items before and behind are left out … */
    int64_t to_us;
    uint64_t max; /* … and those beyond so many; but an answer stands with its question */

    cli_lanes lanes;
    cli_cancelling cancellings[CLI_CANCELLINGS_MAX];
    size_t cancelling_count;
    uint64_t trace; /* which of several, from 0 */
    uint64_t part;  /* of it; 0: there was no header yet */
    uint64_t unix_ms;
    uint64_t first_unix_ms;
    int64_t shift_us; /* what the times of this trace need to be those of the first */
    int64_t last_us;  /* the latest time so far */
    int64_t now_us;   /* that of the record before */

    uint64_t messages; /* that were read */
    uint64_t shown;    /* items that went into the sink */
    uint64_t left_by_time;
    uint64_t left_by_max;
} cli_story;

void cli_story_init(cli_story *story);
void cli_story_done(cli_story *story);
/* One more protocol whose way to cancel a request is known; those that are built in are. */
void cli_story_knows(cli_story *story, const dx_protocol *protocol);
/* False: no memory. */
bool cli_story_take(cli_story *story, const dx_trace_record *record);
/* A line that is no record. */
void cli_story_unread(cli_story *story, const dx_error *error);

#endif
