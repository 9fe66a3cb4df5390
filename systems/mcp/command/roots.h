/* roots.h: folders that the server may work in. */
#ifndef MCP_ROOTS_H
#define MCP_ROOTS_H

#include "systems/mcp/command/talk.h"

/* Are those of --root there? CLI_OK, or told. */
int roots_check(const struct mcp_options *options);
/* Has the client tell them. CLI_OK, or told. */
int roots_add(struct talk *talk);

#endif
