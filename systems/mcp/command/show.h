/* show.h: content for people. */
#ifndef MCP_SHOW_H
#define MCP_SHOW_H

#include <stdio.h>
#include <yyjson.h>

/* The items of a tool's or a message's content: an array, or one. */
void show_content(FILE *out, yyjson_val *content, size_t indent);
/* What resources/read answers with. `named`: each with its URI before it. */
void show_contents(FILE *out, yyjson_val *result, int named);
/* The result of a tool; what is structured only if there is no text. */
void show_tool_result(FILE *out, yyjson_val *result);
void show_prompt(FILE *out, yyjson_val *result);

#endif
