/* A number as it comes back from where all numbers are doubles. */
#ifndef DX_RPC_DOUBLE_H
#define DX_RPC_DOUBLE_H

#include <duplex/base.h>

enum { DX__DOUBLE_ROOM = 40 };

/* 1.0 is "1", 1e2 "100", 12345678901234567890 "12345678901234567000", as ECMA-262 writes them. What
 * is no number of JSON, or none that a double has, is given back as it is. The text may lie in
 * `room`. */
dx_text dx__double_text(dx_text number, char room[DX__DOUBLE_ROOM]);

#endif
