/* Small things about text, for both sides. */
#ifndef HERMES_TEXT_H
#define HERMES_TEXT_H

#include "base/alloc.h"
#include "base/utf8.h"
#include <yyjson.h>

dx_status hermes_fail(dx_error *reterr, dx_fault fault, const char *before, const char *after);

#endif
