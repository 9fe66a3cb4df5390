/* replay.h: a recorded conversation that is had again, by one side of it. Only the files of this
 * folder and the verb know this. */
#ifndef CLI_REPLAY_REPLAY_H
#define CLI_REPLAY_REPLAY_H

#include "cli/replay/edit.h"
#include "cli/replay/ids.h"
#include "cli/replay/item.h"
#include "cli/replay/report.h"
#include "cli/replay/tape.h"
#include "cli/tail.h"
#include "cli/wire.h"

struct replay_options {
    const char *protocol;
    const char *framing;
    const char *peer;
    uint64_t run;
    bool as_plugin;
    const char *timing;
    const char *speed;
    uint64_t timeout_ms;
    bool strict;
    cli_list ignore;
    cli_list skip;
    cli_list set;
    const char *redacted;
    uint64_t max;
    bool show;
    const char *record;
    cli_start start;
};

/* How far the recording is read ahead; how much may have come that nothing was found for; of how
 * many requests of ours the answers may lie behind that. */
enum { REPLAY_AHEAD = 1024, REPLAY_AHEAD_BYTES = 8 << 20, REPLAY_OPEN_MAX = 16384 };

/* A request of ours whose answer is not in sight yet. */
typedef struct replay_open {
    uint64_t name; /* 0: it is not there any more */
    bool any;      /* its answer is not compared */
    char method[39];
} replay_open;

struct replay {
    const struct replay_options *options;
    char **command;
    dx_protocol *protocol;
    const dx_protocol_facts *facts;
    replay_survey survey;
    const replay_talk *talk;
    replay_edits edits;
    uint64_t timeout_ms;
    double speed; /* 0: as soon as possible */
    uint64_t seed;
    dx_loop *loop;
    dx_recorder *recorder;
    cli_wire *wire;
    replay_ids ids;
    replay_report report;

    /* Of the other side: what is recorded, as far as it was read ahead, and what came that nothing
     * was found for. */
    replay_tape ahead;
    replay_items expected;
    replay_items arrived;
    uint64_t newest;     /* the highest place of what came, and one */
    uint64_t told_order; /* the one for which another order was told last */
    replay_open *open;
    size_t open_first;
    size_t open_count;

    /* Ours: the next record. */
    replay_tape tape;
    dx_trace_record next;
    replay_place place; /* its own, … */
    replay_place last;  /* … and of the last that was sent */
    uint64_t before_us; /* when what is recorded before it was */

    uint64_t zero_us;  /* when the play began; 0: it did not yet */
    uint64_t moved_us; /* when something was last sent or came as recorded */
    uint64_t taken_ms; /* when something was last taken of what waits to be */
    size_t waiting;    /* how much did then */
    uint64_t closed_ms;
    uint64_t leave_ms;

    dx_side side; /* ours */
    int code;
    bool over;
    bool ahead_ended;
    bool paused; /* nothing is read, since too much has arrived */
    bool has_next;
    bool tape_ended;
    bool finished;      /* our output is closed */
    bool closed;        /* nothing more will come */
    bool gone;          /* nothing is taken any more */
    bool told_to_leave; /* by the protocol's own word */
    bool stopping;
    char how[220]; /* it went */
    cli_tail tail;
};

/* Reads ahead, and finds what came too early. */
void replay_fill(struct replay *replay);
/* Something came. */
void replay_hear(struct replay *replay, dx_trace_kind kind, dx_text text);
/* Too much has come that nothing was found for: it is not what was recorded, and where answers are
 * too many, no more is read. */
void replay_look_at_room(struct replay *replay);
/* We sent a request: its answer may come. */
void replay_asked(struct replay *replay, dx_text text, const dx_message *parts);
/* Must something come first that is recorded before that place? all: also what nobody asked for. */
bool replay_waits(const struct replay *replay, uint64_t index, bool all);
/* Takes what came with other params for what has to come before that place (a request, which waits
 * for its answer, at any place), once it is clear that nothing better comes. When to look again,
 * DX_NEVER if there is no need. */
uint64_t replay_settle(struct replay *replay, uint64_t index, uint64_t now_ms);
/* Are they only requests and notifications, and something that was recorded behind them has come?
 * Whoever sends those does it in their order. */
bool replay_is_passed(const struct replay *replay, uint64_t index);
/* What has to come before that place did not; `all` as above. */
void replay_give_up(struct replay *replay, uint64_t index, bool all);
/* What came and will not be found any more. `all`: none of it will. */
void replay_sweep(struct replay *replay, bool all);

/* It can't go on. */
void replay_fail(struct replay *replay, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The whole of it, an exit code. `talk` and what the options say is set. */
int replay_play(struct replay *replay);

#endif
