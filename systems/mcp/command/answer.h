/* answer.h: the end of a call. */
#ifndef MCP_ANSWER_H
#define MCP_ANSWER_H

#include "systems/mcp/command/talk.h"

/* Lies where the call is made, until answer_wait() has returned. */
struct answer {
    const char *method; /* what it is called when it fails */
    dx_mcp_call call;
    char *failure; /* why it failed; NULL: no memory */
    char *text;    /* the result, or the server's error, as JSON and as it came */
    size_t len;
    yyjson_doc *doc; /* the result */
    bool refused;    /* it is an error of the server */
    int code;        /* the exit code that it is worth */
    bool done;
    bool quiet;    /* don't tell that the server refused: somebody will */
    bool optional; /* the command goes on without it: CLI_OK unless the wait was ended */
};

/* To be given to the call, with the answer as its `user`. */
void answer_take(dx_mcp_client *client, dx_mcp_call call, const dx_event *event, void *user);
/* `status` is what the call returned. Waits for the answer; CLI_OK: it is a result. Everything else
 * is told. */
int answer_wait(struct talk *talk, struct answer *answer, dx_status status);
/* Tells what `quiet` kept back; hint may be NULL. */
int answer_tell(struct talk *talk, struct answer *answer, const char *hint);
void answer_done(struct answer *answer);
yyjson_val *answer_value(const struct answer *answer);

#endif
