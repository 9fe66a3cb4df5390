/* What the floors above need of a buffer beyond the public functions. */
#ifndef DX_BASE_BUF_H
#define DX_BASE_BUF_H

#include <duplex/base.h>

/* The capacity a buffer takes to hold `need` bytes (need <= max): doubling keeps it linear. */
size_t dx__buf_target(const dx_buf *buf, size_t need);

#endif
