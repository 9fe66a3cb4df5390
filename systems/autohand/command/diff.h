/* diff.h: a change to a file, for people. */
#ifndef AUTOHAND_DIFF_H
#define AUTOHAND_DIFF_H

#include <duplex/autohand-client.h>

#include <stdio.h>

/* "create", "modify" or "delete"; "change" if the agent says anything else. */
const char *diff_kind(const dx_autohand_change *change);
/* A unified diff with three lines around each change, in colours where there are some. `number` is
 * what the change is chosen by. `left` is how many lines may be shown, of this one and of those
 * behind it. */
void diff_put(FILE *out, const dx_autohand_change *change, size_t number, size_t *left);

#endif
