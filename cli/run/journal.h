/* journal.h: the last lines that a peer wrote to its standard error, and what happened to it. */
#ifndef CLI_JOURNAL_H
#define CLI_JOURNAL_H

#include <duplex/base.h>

#include <stdbool.h>

struct journal_line {
    struct journal_line *next;
    struct journal_line *prev;
    uint64_t seq;     /* counts the lines of all peers together */
    uint64_t unix_ms; /* when it came */
    unsigned run;     /* of which incarnation it is */
    bool own;         /* we say so, not the peer */
    size_t len;
    char text[]; /* UTF-8 without control characters; other bytes stand as \xff */
};

struct journal {
    struct journal_line *first;
    struct journal_line *last;
    size_t used; /* bytes, with what a line costs besides its text */
    size_t max;
    uint64_t dropped; /* the number of the last line that had to go; 0: none had */
};

/* The oldest lines go when there is no room. A line that can't be kept at all counts as dropped. */
void journal_add(struct journal *journal, uint64_t seq, unsigned run, bool own, dx_text text);
void journal_done(struct journal *journal);

/* The first line from that number on, or NULL. */
const struct journal_line *journal_from(const struct journal *journal, uint64_t seq);

#endif
