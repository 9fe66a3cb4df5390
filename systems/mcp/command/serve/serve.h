/* serve.h: `duplex mcp serve`. */
#ifndef MCP_SERVE_H
#define MCP_SERVE_H

#include "systems/mcp/command/command.h"

/* Both speak until the client leaves, or with --listen until they are interrupted. An exit code. */
int serve_files(const struct mcp_options *options, const char *folder);
int serve_command(const struct mcp_options *options, const char *spec);

#endif
