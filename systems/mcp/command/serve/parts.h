/* parts.h: what both servers share: where they serve, and until when. */
#ifndef MCP_SERVE_PARTS_H
#define MCP_SERVE_PARTS_H

#include "systems/mcp/command/command.h"

#include <duplex/mcp-server.h>
#include <duplex/recorder.h>

struct serve {
    const struct mcp_options *options;
    dx_loop *loop;
    dx_mcp_server *server;
    dx_listener *listener;
    dx_recorder *recorder;
    dx_error why;    /* how the client on the standard input and output left … */
    bool over;       /* … which it has */
    size_t sessions; /* that have begun and not ended */
    void (*on_first)(struct serve *serve); /* somebody is there; may be NULL */
    void (*on_gone)(struct serve *serve);  /* the server is freed: end the work that was kept */
};

/* Makes the loop and the server; the configuration's callbacks for sessions and traffic are set
 * here, and its `user` is `serve`. An exit code, after which only serve_end() may be called. */
int serve_begin(struct serve *serve, const struct mcp_options *options,
                dx_mcp_server_config *config);
/* Serves. An exit code. */
int serve_go(struct serve *serve);
/* `code`, or another one if something went wrong at last. */
int serve_end(struct serve *serve, int code);

#endif
