#ifndef FAULTS_WRAP_H
#define FAULTS_WRAP_H

#include <stddef.h>

/* While `on`, no read or write of the library moves more than `most` bytes, and every
 * `interrupt`-th fails with EINTR (0: none). */
extern struct wrap {
    int on;
    size_t most;
    unsigned interrupt;
    unsigned count; /* calls that came here */
} wrap;

#endif
