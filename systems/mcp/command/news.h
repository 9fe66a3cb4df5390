/* news.h: what the server tells unasked, and its standard error. */
#ifndef MCP_NEWS_H
#define MCP_NEWS_H

#include "systems/mcp/command/talk.h"

void news_on_summary(const char *peer, const char *text, void *user);
void news_configure(struct talk *talk, dx_mcp_client_config *config);
/* --level: asks for log messages. CLI_OK, or told. */
int news_set_level(struct talk *talk);
void news_on_progress(dx_mcp_client *client, dx_mcp_call call, const dx_mcp_progress *progress,
                      void *user);

#endif
