/* stdio.h: our own standard input and output as a wire. From then on the standard output of this
 * program is its standard error, so that nothing else can get onto the wire. */
#ifndef CLI_STDIO_H
#define CLI_STDIO_H

#include <duplex/loop.h>

#include <stdbool.h>

typedef struct cli_stdio cli_stdio;

typedef struct cli_stdio_config {
    dx_loop *loop;
    void (*on_bytes)(dx_text bytes, void *user);
    void (*on_end)(void *user);  /* of the input */
    void (*on_room)(void *user); /* all that waited is out; a file never lets wait */
    void (*on_gone)(void *user); /* nobody takes what is written */
    void *user;
} cli_stdio_config;

/* NULL: no memory or no descriptors. */
cli_stdio *cli_stdio_open(const cli_stdio_config *config);
/* At once; may be called in a callback. NULL is fine. */
void cli_stdio_close(cli_stdio *stdio);

/* False: no memory, too much waits (64 MiB), or it is closed. */
bool cli_stdio_write(cli_stdio *stdio, dx_text bytes);
/* Why what is written can't be: an errno; 0: it can, or it is only that nobody reads it. */
int cli_stdio_lost(const cli_stdio *stdio);
size_t cli_stdio_waiting(const cli_stdio *stdio);
/* Those that wait, and those that nobody has read yet, if it is a pipe or a socket. */
size_t cli_stdio_unread(const cli_stdio *stdio);
/* Closes the output, behind what waits. */
void cli_stdio_finish(cli_stdio *stdio);
/* Closes the input; nothing comes from there any more. */
void cli_stdio_deafen(cli_stdio *stdio);
void cli_stdio_pause(cli_stdio *stdio, bool paused);

#endif
