/* diff.h: where two JSON texts differ, by value: member by member. */
#ifndef CLI_REPLAY_DIFF_H
#define CLI_REPLAY_DIFF_H

#include "cli/options.h"

#include <duplex/base.h>

#include <yyjson.h>

typedef struct replay_change {
    char *pointer;   /* JSON Pointer from the top of the message */
    yyjson_val *was; /* NULL: it was not there … */
    yyjson_val *is;  /* … or is not */
} replay_change;

typedef struct replay_diff {
    yyjson_doc *docs[2];
    replay_change *changes;
    size_t count;
    size_t max;       /* so many are told */
    bool more;        /* there are others */
    bool passed_over; /* something differs that does not count */
    bool unread;      /* the JSON library can't hold one of them, or there was no memory */
    const cli_list *ignore;
    dx_buf path;
    dx_text name; /* its last step as it stands in the text; absent: an element of an array */
} replay_diff;

/* Are the two the same? `ignore` (which may be NULL) are JSON Pointers, in which * stands for any
 * one token, and names of members: what lies there or below does not count. Neither does the id of
 * a message, nor what was "***". Numbers are equal by value, members in any order. Memory and time
 * grow with the texts only. */
bool replay_diff_make(replay_diff *diff, const cli_list *ignore, dx_text was, dx_text is,
                      size_t max);
void replay_diff_done(replay_diff *diff);

/* Are two numbers, as JSON has them, the same one? */
bool replay_same_number(dx_text one, dx_text two);

#endif
