/* The tagged JSON of the suite: {"type": "integer", "value": "42"} stands for what JSON cannot say.
 */
#ifndef TOML_TAGGED_H
#define TOML_TAGGED_H

#include <duplex/toml.h>

#include <stdbool.h>

/* Is the value what the tagged one says? Prints where not. */
bool tagged_equal(yyjson_val *value, yyjson_val *tagged, const char *place);

#endif
