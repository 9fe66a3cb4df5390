/* tape.h: the parts of a recording as one, and of that one conversation. */
#ifndef CLI_REPLAY_TAPE_H
#define CLI_REPLAY_TAPE_H

#include "cli/replay/edit.h"
#include "cli/replay/item.h"
#include "cli/traces.h"

#include <duplex/frame.h>

/* A conversation, and what is known of it beforehand; by dx_trace_from where that makes a
 * difference. */
typedef struct replay_talk {
    char *peer; /* NULL: it has no name */
    size_t peer_len;
    uint64_t run;
    uint64_t records;
    uint64_t messages[3];
    uint64_t redacted[3]; /* values that are "***" */
    uint64_t first_us;
    uint64_t last_us;
    dx_framing framing; /* 0: not known */
} replay_talk;

/* So many conversations are told apart. */
enum { REPLAY_TALKS_MAX = 64 };

typedef struct replay_survey {
    char *const *files;
    size_t file_count;
    const char *peer; /* which are wanted; NULL and 0: any */
    uint64_t run;
    const replay_edits *edits;
    replay_talk *talks;
    size_t count;
    bool more;
    uint64_t part; /* of the trace; 0: there was none yet */
    uint64_t unix_ms;
    uint64_t notes; /* how many were told */
} replay_survey;

/* Reads it once: there must be one conversation of those that are wanted, and one trace. An exit
 * code; what is wrong was told, and so is what is missing. */
int replay_survey_make(replay_survey *survey);
void replay_survey_done(replay_survey *survey);

typedef struct replay_tape {
    char *const *files;
    size_t file_count;
    size_t file; /* at hand */
    cli_trace *trace;
    const replay_talk *talk;
    uint64_t index; /* of the next record */
    int code;       /* why it ended; what was wrong was told */
} replay_tape;

/* What has a place in the play: messages, and what should have been some. */
bool replay_is_said(const dx_trace_record *record);
/* The next of the conversation, lent until the next call. False: that was all, or code is set. */
bool replay_tape_next(replay_tape *tape, dx_trace_record *ret_record, replay_place *ret_place);
void replay_tape_close(replay_tape *tape);

/* Is it a record of that conversation? */
bool replay_talk_has(const replay_talk *talk, const dx_trace_record *record);
/* "echo, run 1" or the like, for people. */
void replay_talk_name(const replay_talk *talk, char *room, size_t len);

#endif
