/* attach.h: a trace as it comes, shown live. */
#ifndef CLI_ATTACH_H
#define CLI_ATTACH_H

#include <stdbool.h>
#include <stdio.h>

/* How a trace is shown. */
typedef struct cli_viewing {
    FILE *out;
    bool json;           /* its lines as they are */
    bool no_stderr;      /* what the peer wrote to its standard error is seen elsewhere */
    bool ended;          /* result: the last record told that the peer exited */
    bool in_stderr_line; /* the last record of stderr ended in the middle of a line */
} cli_viewing;

/* Shows what can be read from a descriptor until it ends. False if it can't be read. */
bool cli_view(cli_viewing *viewing, int fd);

/* Shows the traffic of a tap that listens at a socket (PATH, unix:PATH), or the trace that it
 * writes into a file, until it ends. An exit code; what went wrong was told. */
int cli_attach(const char *address);

#endif
