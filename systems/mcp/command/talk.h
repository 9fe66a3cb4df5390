/* talk.h: a conversation with a server, for verbs that do one thing after the other. */
#ifndef MCP_TALK_H
#define MCP_TALK_H

#include "systems/mcp/command/server.h"

#include "cli/tail.h"
#include "host/log_limiter.h"

#include <duplex/mcp-client.h>

#include <stdio.h>

struct ask; /* a question of the server that waits for the user; see ask.c */

/* For log and watch: what is printed as it comes. Each may be NULL. */
struct talk_hooks {
    void (*on_log)(dx_mcp_level level, dx_text logger, yyjson_val *data);
    void (*on_changed)(dx_mcp_kind kind);
    void (*on_updated)(dx_text uri);
};

struct talk {
    const struct mcp_options *options;
    struct server server;
    dx_loop *loop;
    dx_mcp_client *client;
    dx_recorder *recorder;
    dx__log_limiter *limiter;
    FILE *errors;      /* --stderr FILE */
    uint64_t began_us; /* of the traffic that is shown */
    bool ready;
    bool closing; /* by us */
    bool closed;
    int interrupts; /* those that were there when it began */
    int code;       /* closed: the exit code that this is, and the line to be told */
    char *failure;
    cli_tail tail;

    bool interactive; /* the user can be asked at the terminal */
    struct ask *asks; /* what is asked there, the first one now */
    char *typed;      /* what was typed of a line so far */
    size_t typed_len;
    size_t sampled; /* answers of --sample and --answer that were given */
    size_t answered;
    int given_up; /* an exit code that was told: what is under way is cancelled */

    /* For an answer, and in all; kept here if the user can be asked meanwhile. */
    uint64_t timeout_ms;
    uint64_t total_ms;
    bool is_hard;        /* total_ms is what --timeout says */
    uint64_t began_at;   /* the call at hand, … */
    uint64_t alive_at;   /* … and the last progress that counts */
    size_t progress_len; /* columns of the line that is drawn now */
    char task_state[200];

    struct talk_hooks hooks;
};

/* Starts the server, or connects to it, and agrees on a revision. What goes wrong is told; returns
 * an exit code, and the talk is to be closed only after CLI_OK. */
int talk_open(const struct mcp_options *options, char **command, struct talk *ret_talk);
int talk_open_with(const struct mcp_options *options, char **command,
                   const struct talk_hooks *hooks, struct talk *ret_talk);
/* Asks the server to leave and waits for that. The exit code of the whole: `code` unless something
 * worse happened. */
int talk_close(struct talk *talk, int code);

/* Waits for what comes next, at the latest until `until`. */
void talk_wait(struct talk *talk, uint64_t until);
/* On a terminal the user sees that `what` is waited for, until cli_waiting_end(). */
void talk_waits_for(const struct talk *talk, const char *what, uint64_t most_ms);
bool talk_is_interrupted(const struct talk *talk);
int talk_tell_interrupt(void);
/* It failed: one line, and what the server wrote to its standard error. Returns the code. */
int talk_tell(struct talk *talk, int code, const char *message, yyjson_mut_doc *doc,
              yyjson_mut_val *more);
/* The server is gone: waits a little for how, and tells. `what` it was busy with may be NULL. */
int talk_tell_gone(struct talk *talk, const char *what);

/* The options of calls, and what shows how far they are. */
dx_mcp_call_options talk_call_options(struct talk *talk);
/* Takes the line away that progress has drawn, before something else is written. */
void talk_clear_line(struct talk *talk);

/* The exit code for an end that has this fault. */
int talk_code(dx_fault fault);

#endif
