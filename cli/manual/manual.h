/* manual.h: the man pages: duplex(1) and one of each verb from their tables, those in section 3
 * from the public headers, in section 5 from documents of docs/, in section 7 from the protocols.
 */
#ifndef CLI_MANUAL_H
#define CLI_MANUAL_H

#include <duplex/base.h>

#include <stdbool.h>
#include <stdio.h>

/* docs/NAME.md becomes duplex-NAME(5); ends with NULL. */
extern const char *const cli_documents[];

/* duplex-NAME of that section, from Markdown. `protocol`: it is that of a protocol. */
void cli_manual_document(const char *name, const char *section, dx_text markdown,
                         const char *protocol, FILE *out);

/* A function of a header: the declarations that it is among, and the comment above them, which is
 * absent if there is none. */
typedef struct cli_function {
    dx_text name;
    dx_text declarations;
    dx_text comment;
} cli_function;

/* duplex-NAME(3) from the text of duplex/NAME.h. Calls on_function for each function in it. False:
 * it does not begin with a comment. */
bool cli_manual_header(const char *name, dx_text header, FILE *out,
                       void (*on_function)(const cli_function *function, void *user), void *user);
/* The page of one function of duplex/HEADER.h. */
void cli_manual_function(const cli_function *function, const char *header, FILE *out);

/* `duplex --names KIND [ARGUMENT]`, which the completions call. An exit code. */
int cli_names(char **words);

/* The words behind "duplex" that have something made: "--man call", "--completion bash" and so on.
 * An exit code; -1 if they are none of those. */
int cli_generate(char **words);

#endif
