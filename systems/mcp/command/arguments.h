/* arguments.h: the arguments of a tool, as its input schema wants them. */
#ifndef MCP_ARGUMENTS_H
#define MCP_ARGUMENTS_H

#include <yyjson.h>

/* Converts the values of key=text arguments by the tool's schema, and finds arguments that are
 * unknown or missing; an argument that the schema neither has nor forbids gets a warning. `text` is
 * what cli_params() made of `words`, NULL if there are none. CLI_OK, or an exit code after saying
 * what is wrong. */
int arguments_fit(yyjson_val *tool, char *const *words, char **text);

#endif
