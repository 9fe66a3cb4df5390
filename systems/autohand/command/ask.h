/* ask.h: what the user is asked at the terminal, and lines that are typed. */
#ifndef AUTOHAND_ASK_H
#define AUTOHAND_ASK_H

#include "systems/autohand/command/talk.h"

struct ask {
    struct ask *next;
    bool is_changes;
    bool is_put;
    char *id;
    char *text;   /* the question */
    dx_text *ids; /* of changes */
    size_t count;
};

/* Each answers later. False: it can't be asked. Changes are asked about with ask_next(). */
bool ask_permission(struct talk *talk, const dx_autohand_permission *permission);
bool ask_changes(struct talk *talk, dx_text batch, const dx_autohand_change *changes, size_t count);
/* Takes a line (NULL: there will be none) as the answer; false: it is none, and it is asked again.
 */
bool ask_take(struct talk *talk, struct ask *ask, const char *line);
void ask_remove(struct talk *talk, struct ask *ask);
void ask_free(struct ask *ask);
/* The turn is over: nobody waits for permissions any more. */
void ask_withdraw(struct talk *talk);
/* Puts the question that is first now. */
void ask_next(struct talk *talk);
/* Puts it again if the agent has printed something since, which may look like another question. */
void ask_again(struct talk *talk);
/* ask_line.c: as cli_wait(), and takes a line if one is wanted. */
void ask_wait(struct talk *talk, uint64_t until);
void ask_forget(struct talk *talk);

/* talk.c: what was decided. ids NULL: all, or none. */
void talk_decide(struct talk *talk, dx_text batch, bool accept, const dx_text *ids, size_t count);

#endif
