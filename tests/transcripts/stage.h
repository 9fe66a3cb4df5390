/* stage.h: one performance of one case: the peer, and everything that is known about it. */
#ifndef TRANSCRIPTS_STAGE_H
#define TRANSCRIPTS_STAGE_H

#include "config.h"
#include "memory.h"
#include "script.h"

#include <duplex/peer.h>

/* How the bytes of a run reach the peer. */
enum way_kind {
    WAY_WHOLE, /* in one feed */
    WAY_BYTES, /* one by one */
    WAY_EAGER, /* one by one, and events are taken as soon as they are there */
    WAY_CUT,   /* in two: run number `run` is cut at `cut`, the others are whole */
    WAY_ROOM,  /* through reserve and commit, at most `cut` bytes at a time (0: all) */
    WAY_STEPS  /* in one feed, but scanned in steps of `cut` bytes */
};

struct way {
    enum way_kind kind;
    size_t run;
    size_t cut;
    size_t stop; /* the peer is freed before this step, without a word; 0: it plays to the end */
};

/* An event that was kept, and what it looked like then. */
struct kept {
    dx_event *event;
    struct bytes seen;
};

struct stage {
    const struct script *script;
    const struct scene *scene;
    const struct way *way;
    struct config config;
    struct memory *memory;
    size_t failed_seen; /* refused allocations that were answered with DX_ERR_NOMEM */
    bool torture;
    bool stopped;

    dx_peer *peer;
    uint64_t now;
    size_t next;         /* the step that follows */
    size_t run;          /* runs begun */
    dx_text whole, rest; /* the run, and what is left of it */
    bool was_busy;

    dx_call *calls;
    unsigned char *ended; /* for each call: how often */
    size_t call_count;
    dx_request *requests;
    size_t request_count;
    size_t closed;

    const dx_event *lent;
    struct bytes lent_seen;
    struct kept *kept;
    size_t kept_count;

    struct bytes out; /* what the peer wrote */
    size_t out_at;    /* up to where it was compared */
    struct bytes log; /* what happened, to compare one way with another */

    struct bytes why;  /* what did not come out as the case says */
    struct bytes hard; /* what must never happen, case or not */
};

/* Says what went wrong with a step (NULL: with the end of the case); returns false. */
bool stage_fail(struct stage *stage, const struct step *step, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A promise that holds in every case was broken. */
void stage_break(struct stage *stage, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Is this DX_ERR_NOMEM one that we brought about? Then memory is there again: repeat. */
bool stage_again(struct stage *stage, dx_status status);

/* Takes all steps of a scan, and says whether there were any: then feed again. */
bool stage_paused(struct stage *stage);

/* Takes the next event; checks and books it. */
dx_status stage_pull(struct stage *stage, const dx_event **ret_event);
/* The number of the event's call or request in the case, 0 if it has none. */
uint64_t stage_number(const struct stage *stage, const dx_event *event);
/* What cannot say that memory ran out comes back as a deadline that is over; a loop sees to it. */
void stage_settle(struct stage *stage);
/* Takes what the peer has to write, at most `len` bytes; says how many they were. */
size_t stage_drain(struct stage *stage, size_t len);

/* Makes the peer; ends it and checks that nothing is left. */
bool stage_open(struct stage *stage);
void stage_close(struct stage *stage);

/* feed.c: gives the peer the rest of the run, until it is busy. */
bool stage_feed(struct stage *stage, const struct step *step);
/* act.c: a `!` line. */
bool stage_act(struct stage *stage, const struct step *step);
/* ask.c: a `?` line. */
bool stage_ask(struct stage *stage, const struct step *step);
/* play.c: the whole case, from stage_open() to the last line. */
bool stage_play(struct stage *stage);
/* play.c: takes events for as long as the script expects some. */
bool stage_eager(struct stage *stage);

#endif
