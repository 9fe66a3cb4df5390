/* put.h: text of a server for people. */
#ifndef MCP_PUT_H
#define MCP_PUT_H

#include <duplex/rpc.h>

#include <stdbool.h>
#include <stdio.h>
#include <yyjson.h>

dx_text member_of(yyjson_val *object, const char *key);

/* Words in lines of 80 columns; `column` is where the first one begins, `indent` where the others
 * do. Its own lines stay lines. Ends with a newline. */
void put_wrapped(FILE *out, dx_text text, size_t column, size_t indent);
/* Lines as they are, but safe; ends with a newline unless it is empty. */
void put_lines(FILE *out, dx_text text, size_t indent);
/* The characters of a string ("" if it is empty), anything else as JSON. */
void put_value(FILE *out, yyjson_val *value);
/* "512 bytes", "1.2 KiB". */
void put_size(FILE *out, uint64_t size);
/* A member that tells a size; false, and *ret_size is not set, if it is none. */
bool size_of(yyjson_val *object, uint64_t *ret_size);
/* "did you mean 'add'?", to be freed, of what cli_nearest_of() returned; NULL: there is nothing
 * like it. Takes `near`. */
char *put_suggestion(char *near);
void put_spaces(FILE *out, size_t count);

#endif
