/* Small things about text, for both sides. */
#ifndef HERMES_TEXT_H
#define HERMES_TEXT_H

#include <duplex/base.h>

#include <stdbool.h>
#include <yyjson.h>

/* A copy with a NUL behind it; NULL without memory. */
char *hermes_copy(const dx_allocator *alloc, dx_text text);
bool hermes_is_utf8(dx_text text);
/* Appends as much as fits, whole characters, control characters as '?'; always ends in NUL. */
void hermes_say(char *to, size_t room, dx_text text);
void hermes_say_str(char *to, size_t room, const char *text);
dx_status hermes_fail(dx_error *reterr, dx_fault fault, const char *before, const char *after);
dx_text hermes_string(yyjson_val *value);

#endif
