/* wire.h: one end of a conversation, byte by byte, for verbs that say what no peer would say and
 * look at what no peer would let through. What comes is framed; what is wrong with it is told. */
#ifndef CLI_WIRE_H
#define CLI_WIRE_H

#include "cli/options.h"

#include <duplex/frame.h>
#include <duplex/program.h>
#include <duplex/recorder.h>

typedef struct cli_wire cli_wire;

typedef struct cli_wire_config {
    dx_loop *loop;
    char *const *command; /* who is at the other end: a program that is started, as its host; NULL:
                             whoever started us and holds our standard input and output */
    cli_start start;      /* of the program */
    dx_framing framing;   /* of what comes, and of what cli_wire_say() sends */
    bool either;          /* … unless the other one is what comes first: then that */
    unsigned lenient;     /* DX_LENIENT_… */
    dx_fields fields;
    const char *content_type; /* may be NULL */
    size_t message_max;       /* 0: 64 MiB */
    dx_recorder *recorder;    /* may be NULL; must outlive the wire */
    const char *name;         /* what the trace calls the plugin; may be NULL */
    bool warns;               /* once, if the program prints text that is not JSON-RPC */
    bool show;                /* messages are shown on the standard error as they cross … */
    uint64_t began_us;        /* … with the time since then: set by cli_wire_open() */
    void *user;
    /* Each may be NULL, and in each the wire may be closed. What was read, before it is framed. */
    void (*on_bytes)(cli_wire *wire, dx_text bytes, void *user);
    /* A frame, or a fault of the framing; nothing follows a fatal one, but on_bytes goes on.
     * `bytes` is how many crossed for it. */
    void (*on_frame)(cli_wire *wire, const dx_frame *frame, uint64_t bytes, void *user);
    /* Of the program's standard error. */
    void (*on_errors)(cli_wire *wire, dx_text bytes, void *user);
    /* All that waited is out; it does not come for what was taken at once: cli_wire_waiting(). */
    void (*on_room)(cli_wire *wire, void *user);
    /* Nothing more will come from there: its output was closed. */
    void (*on_closed)(cli_wire *wire, void *user);
    /* The program has ended: nothing comes any more. For whoever started us: nobody takes what we
     * write; gone is NULL. */
    void (*on_gone)(cli_wire *wire, const dx_gone *gone, void *user);
} cli_wire_config;

/* CLI_OK, or an exit code; why is then in reterr->phrase. */
int cli_wire_open(const cli_wire_config *config, cli_wire **ret_wire, dx_error *reterr);
/* At once; a program's whole group is killed. NULL is fine. Returns NULL. */
cli_wire *cli_wire_close(cli_wire *wire);

/* Bytes as they are; they wait until they are taken. False: no memory, too much waits (64 MiB), or
 * nobody takes them any more. */
bool cli_wire_write(cli_wire *wire, dx_text bytes);
/* A message, framed; JSON or not. The same. */
bool cli_wire_say(cli_wire *wire, dx_text message);
/* Why our own output can't be written: an errno; 0: it can, or it is only that nobody reads it. */
int cli_wire_lost(const cli_wire *wire);
/* How many bytes still wait. */
size_t cli_wire_waiting(const cli_wire *wire);
/* How many have not been read yet at the other end, as far as the system tells. */
size_t cli_wire_unread(const cli_wire *wire);
/* Closes our output, behind what waits. */
void cli_wire_finish(cli_wire *wire);
/* Nothing is read until this is called with false. */
void cli_wire_pause(cli_wire *wire, bool paused);

/* Closes our input: who writes into it is told so. A program's output is only not read any more. */
void cli_wire_deafen(cli_wire *wire);

/* The framing at hand. */
dx_framing cli_wire_framing(const cli_wire *wire);
/* The program's, 0 if there is none. */
pid_t cli_wire_pid(const cli_wire *wire);
/* SIGTERM to its group, SIGKILL two seconds later; on_gone comes. */
void cli_wire_stop(cli_wire *wire);
void *cli_wire_user(const cli_wire *wire);

#endif
