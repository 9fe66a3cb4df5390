/* verbs.h: what each of the first words does. `words` are those behind it, NULL at the end. Each
 * returns an exit code, and has told what went wrong. */
#ifndef MCP_VERBS_H
#define MCP_VERBS_H

#include "systems/mcp/command/command.h"

#include <duplex/mcp.h>

int verb_info(const struct mcp_options *options, char **words, char **command);
/* What a server has lists of, and the names of such things. */
int verb_list(const struct mcp_options *options, dx_mcp_kind kind, char **words, char **command);
int verb_call(const struct mcp_options *options, char **words, char **command);
int verb_read(const struct mcp_options *options, char **words, char **command);
int verb_get(const struct mcp_options *options, char **words, char **command);
int verb_complete(const struct mcp_options *options, char **words, char **command);
int verb_ping(const struct mcp_options *options, char **words, char **command);
int verb_log(const struct mcp_options *options, char **words, char **command);
int verb_watch(const struct mcp_options *options, char **words, char **command);

#endif
