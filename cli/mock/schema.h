/* schema.h: script.schema.json as bytes; the build makes them. */
#ifndef CLI_MOCK_SCHEMA_H
#define CLI_MOCK_SCHEMA_H

#include <stddef.h>

extern const char mock_schema[];
extern const size_t mock_schema_len;

#endif
