/* start_hint.h: what to do about a program that cannot be started. */
#ifndef CLI_START_HINT_H
#define CLI_START_HINT_H

#include <stdbool.h>
#include <stddef.h>

/* Is it the name of a file, with a slash in it, or of a program in PATH? */
bool cli_is_program(const char *word, size_t len);
/* A hint for a message "cannot start NAME: No such file or directory" and the like, to be freed;
 * NULL: there is none. `configured`: a configuration names the program, not the command line. */
char *cli_start_hint(const char *message, bool configured);

#endif
