/* nearest.h: "did you mean …?" */
#ifndef CLI_NEAREST_H
#define CLI_NEAREST_H

#include <duplex/protocol.h>

#include <stdbool.h>

/* The names that are like that word, best first: "tools/list", or "tools/list, tools/call or ping";
 * to be freed. NULL: there are none. name_at() has the names one after the other, NULL after the
 * last. */
char *cli_nearest_of(const char *(*name_at)(const void *names, size_t index), const void *names,
                     const char *word);
/* "did you mean …?" for a hint, or `otherwise` (may be NULL) if no name is like the word; to be
 * freed. */
char *cli_near_hint(const char *(*name_at)(const void *names, size_t index), const void *names,
                    const char *word, const char *otherwise);
/* The same, and otherwise all names, or the first of them: "the peers are a, b"; `kind` is "peers".
 * NULL: there are none. */
char *cli_near_or_all(const char *(*name_at)(const void *names, size_t index), const void *names,
                      const char *word, const char *kind);
/* A name_at() for the keys of a yyjson_val, an object. */
const char *cli_key_at(const void *object, size_t index);
/* The same for a method of a protocol. */
char *cli_near_method(const dx_protocol *protocol, const char *word, const char *otherwise);
/* Why a host cannot send this method, and in *ret_hint what to do about it: "did you mean …?", with
 * `otherwise` (may be NULL) after it or alone. Both to be freed. NULL: it can. `name` is how the
 * user named the protocol; `command` stands before "call" or "notify". */
char *cli_method_flaw(const dx_protocol *protocol, const char *name, const char *method,
                      bool notification, const char *command, const char *otherwise,
                      char **ret_hint);
/* Is it a slip of the pen? A method that the protocol does not have, but one like it. Then that is
 * reported, after `option`: CLI_USAGE, else CLI_OK. */
int cli_check_method(const dx_protocol *protocol, const char *option, const char *method);

#endif
