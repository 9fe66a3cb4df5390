/* report.h: telling where what came is not what was recorded. */
#ifndef CLI_REPLAY_REPORT_H
#define CLI_REPLAY_REPORT_H

#include "cli/replay/diff.h"
#include "cli/replay/item.h"

typedef struct replay_report {
    char *const *files;
    const char *from; /* the other side */
    uint64_t max;     /* so many are told, and as many notes */
    uint64_t told[2]; /* differences, notes */
    uint64_t hidden;
    bool quiet;    /* nothing is told any more, only counted */
    bool cut;      /* it did not come to its end */
    uint64_t sent; /* messages of ours; … */
    uint64_t unsent;
    uint64_t expected; /* … of the other side: recorded, … */
    uint64_t matched;  /* … and came the same, other, not at all, or more than that */
    uint64_t different;
    uint64_t missing;
    uint64_t unexpected;
    uint64_t reordered;
    uint64_t then_us; /* how long it took in the recording */
} replay_report;

/* How many changes of a message are told. */
enum { REPLAY_CHANGES_MAX = 20 };

void replay_tell_different(replay_report *report, const replay_item *was, const replay_item *is,
                           const replay_diff *diff);
/* The values are the same, but not the bytes. */
void replay_tell_form(replay_report *report, const replay_item *was, const replay_item *is);
void replay_tell_missing(replay_report *report, const replay_item *was);
/* `after` is where the last that we sent stands. */
void replay_tell_unexpected(replay_report *report, const replay_item *is,
                            const replay_place *after);
/* It came behind something that was recorded behind it. */
void replay_tell_order(replay_report *report, const replay_item *was, bool is_note);
/* An answer of ours is to a request that never came. */
void replay_tell_unsent(replay_report *report, const replay_place *place, dx_text id);

bool replay_is_equal(const replay_report *report);
void replay_summarize(const replay_report *report, uint64_t now_us);

#endif
