/* talk.h: a conversation with an agent, for prompt and chat. */
#ifndef AUTOHAND_TALK_H
#define AUTOHAND_TALK_H

#include "systems/autohand/command/command.h"

#include "cli/tail.h"
#include "host/log_limiter.h"

#include <duplex/autohand-client.h>

struct ask;   /* what the user is asked at the terminal; see ask.c */
struct shown; /* a tool that runs, and what was shown of it; see show_tool.c */

/* What becomes of permissions, and of changes. */
typedef enum way { WAY_ASK, WAY_YES, WAY_NO, WAY_LEAVE } way;

struct talk {
    const struct autohand_options *options;
    dx_loop *loop;
    dx_autohand_client *client;
    dx_recorder *recorder;
    dx__log_limiter *limiter;
    const char **env;
    uint64_t began_us; /* of the traffic that is shown */
    cli_tail tail;

    way permit;
    way changes;
    bool by_default;  /* nobody said what becomes of them, and nobody can be asked */
    bool interactive; /* somebody can be asked, at … */
    bool at_terminal; /* … a terminal */

    bool ready;
    bool gone;
    int gone_code; /* what exit code that is, and the line to be told */
    char *failure;
    bool told; /* … which it was */

    bool turning;
    bool deciding; /* changesDecision is not yet answered */
    bool accepted; /* … which accepts something */
    bool late;     /* the turn was aborted because of --timeout */
    bool stopped;  /* … or for another reason, by us */
    int code;      /* of the turn */

    bool aborted; /* how it ended, and why */
    bool success;
    int64_t error_code;
    char *error;

    struct ask *asks; /* the first one now */
    size_t asked;     /* cli_voice.shown when it was put */
    char *typed;      /* what was typed and not yet taken */
    size_t typed_len;
    bool typed_end;
    bool skips;      /* the rest of a line that is too long */
    bool wants_line; /* chat: a line is taken when nothing is asked */
    char *line;      /* … which is here, to be freed */

    struct shown *tools;
    char *misfits[16]; /* violations that were shown: each is once */
    size_t misfit_count;
    bool open_line; /* the standard output has a line without its end */
    bool streamed;  /* text of the message at hand was shown */
    int interrupts; /* those that were dealt with */
    bool leaves;    /* a second one came, or the agent is gone */
};

/* Starts the agent. What goes wrong is told; returns an exit code, and the talk is to be closed
 * only after CLI_OK. `command` may be NULL. */
int talk_open(const struct autohand_options *options, char **command, struct talk *ret_talk);
/* Asks the agent to leave and waits for that. The exit code of the whole. */
int talk_close(struct talk *talk, int code);
/* One prompt, to its end: an exit code; what went wrong was told. */
int talk_turn(struct talk *talk, const dx_autohand_prompt *prompt);
/* As dx_autohand_client_abort(). */
dx_status talk_abort(struct talk *talk);
/* Waits for what comes next, at the latest until `until`. */
void talk_wait(struct talk *talk, uint64_t until);
bool talk_is_interrupted(const struct talk *talk);
/* The agent is gone: tells how, once. */
int talk_tell_gone(struct talk *talk);
/* The first that is not CLI_OK counts. */
int talk_worse(int one, int other);

#endif
