/* output.h: our standard output and standard error, where nobody may read what is written. */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include <stdbool.h>

/* A file that may not grow is no reason to die without a word: who writes is told so. */
void cli_ignore_limit(bool ignored);

/* Whatever of 0, 1 and 2 is closed becomes one that is empty and can't be written, so that no file
 * of ours takes its place and gets what is meant for others.
 *
 * From now on a write to 1 and 2 waits until there is room, as it did, but not deaf: when a signal
 * has come that cli_interrupts() counts, or will count, what nobody takes within half a second is
 * dropped, with all that follows. So whoever is told to end comes to its end, and to that of its
 * children. A terminal is left as it is. A limit on the size of files is told, too. */
void cli_output_guard(void);
/* Was that one of them when we were started? */
bool cli_was_closed(int fd);

#endif
