/* nearest.h: "did you mean …?" */
#ifndef CLI_NEAREST_H
#define CLI_NEAREST_H

#include <duplex/protocol.h>

/* The messages whose names are like that word, best first: "tools/list", or "tools/list, tools/call
 * or ping"; to be freed. NULL: there are none. */
char *cli_nearest(const dx_protocol *protocol, const char *word);
/* The same of any names: name_at() has them one after the other, NULL behind the last. */
char *cli_nearest_of(const char *(*name_at)(const void *names, size_t index), const void *names,
                     const char *word);
/* "did you mean …?" for a hint, or `otherwise` if no name is like the word; to be freed. NULL: no
 * memory. */
char *cli_near_hint(const char *(*name_at)(const void *names, size_t index), const void *names,
                    const char *word, const char *otherwise);
/* The same for a method of a protocol. */
char *cli_near_method(const dx_protocol *protocol, const char *word, const char *otherwise);
/* Is it a slip of the pen? A method that the protocol does not have, but one like it. Then that is
 * reported, after `option`: CLI_USAGE, else CLI_OK. */
int cli_check_method(const dx_protocol *protocol, const char *option, const char *method);

#endif
