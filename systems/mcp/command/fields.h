/* fields.h: what a JSON Schema asks for, in a few words. */
#ifndef MCP_FIELDS_H
#define MCP_FIELDS_H

#include <stdio.h>
#include <yyjson.h>

/* "integer, 1 to 10, default 5", "one of red, green". */
void fields_put_type(FILE *out, yyjson_val *schema);
/* What to expect of a value, without its default: "a number, 1 to 10", "true or false". */
void fields_put_expected(FILE *out, yyjson_val *schema);
/* What a schema refers to with "#/…"; itself if it does not. */
yyjson_val *fields_resolve(yyjson_val *root, yyjson_val *schema);
/* One line or more for each property of an object. */
void fields_put(FILE *out, yyjson_val *schema, size_t indent);

#endif
