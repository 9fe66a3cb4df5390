/* talks.h: the conversations of a trace, kept apart by peer and run, each with its books. */
#ifndef CLI_TALKS_H
#define CLI_TALKS_H

#include "cli/lint/books.h"

/* Conversations at once; open requests of each; bytes that those of all may take; how many that are
 * over are known by name. */
enum { CLI_TALKS_MAX = 1024, CLI_OPEN_MAX = 100000, CLI_ROOM_MAX = 64 << 20, CLI_ENDED_MAX = 1024 };

typedef struct cli_talks cli_talks;

/* A conversation, while its records are looked at. */
typedef struct cli_talk {
    cli_hook hook;
    struct cli_talk *older; /* was heard of before … */
    struct cli_talk *newer; /* … and after this one */
    cli_talks *talks;
    cli_books *books;
    uint64_t gaps; /* that its books know of */
    uint64_t run;
    dx_text peer;    /* its beginning, if it is very long; absent if it is not told */
    size_t peer_len; /* … of the whole */
    char name[];
} cli_talk;

struct cli_talks {
    dx_protocol *protocol;
    void (*tell)(const cli_talk *talk, const cli_finding *finding,
                 void *user); /* talk may be NULL */
    void *user;
    uint64_t seed;
    cli_room room;
    cli_keys table;
    cli_talk *oldest;
    cli_talk *newest;
    uint64_t opened;               /* so many there were in all */
    uint64_t ended[CLI_ENDED_MAX]; /* hashes, a ring */
    size_t ended_at;
    uint64_t gaps; /* so many there were */
    bool has_gap;  /* what begins now may have begun before */
    bool told_limit;
};

/* Protocol, tell and user are to be set. */
void cli_talks_init(cli_talks *talks);

/* A record with a peer: message, broken, stray, or event. False: no memory. */
bool cli_talks_take(cli_talks *talks, const dx_trace_record *record, cli_place place);
/* Something is missing here, of any of them. */
void cli_talks_gap(cli_talks *talks);
/* The trace ends. Another one may follow. */
void cli_talks_end(cli_talks *talks);
void cli_talks_done(cli_talks *talks);

#endif
