/* output.h: our standard output and standard error, where nobody may read what is written. */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

/* From now on a write to them waits until there is room, as it did, but not deaf: when a signal has
 * come that cli_interrupts() counts, or will count, what nobody takes within half a second is
 * dropped, with all that follows. So whoever is told to end comes to its end, and to that of its
 * children. A terminal is left as it is. */
void cli_output_guard(void);

#endif
