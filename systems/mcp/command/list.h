/* list.h: lists of what a server offers. */
#ifndef MCP_LIST_H
#define MCP_LIST_H

#include "systems/mcp/command/answer.h"

/* "tools", "resources", "resourceTemplates", "prompts": the member of the answer. */
const char *list_member(dx_mcp_kind kind);
/* The method that asks for it. */
const char *list_method(dx_mcp_kind kind);
/* The whole of a list. CLI_OK, or told, but that the server refuses only if not `quiet`; the answer
 * is to be done in all cases. */
int list_get(struct talk *talk, dx_mcp_kind kind, bool quiet, struct answer *ret_answer);
/* One thing of that kind, with all that is said of it, or on one line. */
void list_put(FILE *out, dx_mcp_kind kind, yyjson_val *item);
void list_put_short(FILE *out, yyjson_val *item);

#endif
