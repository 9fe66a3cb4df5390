/* toll.h: what a program and its process group take of the machine, as the kernel tells it. */
#ifndef CLI_TOLL_H
#define CLI_TOLL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct cli_toll {
    uint64_t rss_bytes;  /* VmRSS of the program itself … */
    uint64_t peak_bytes; /* … and VmHWM */
    uint64_t group_rss_bytes;
    size_t processes; /* of the group, the program included */
    uint64_t cpu_ns;  /* user and system, of the group and of what its processes have waited for */
} cli_toll;

/* The resident memory of each of those groups, in bytes; 0 if it is gone. One look at /proc. */
void cli_toll_memory(const pid_t *leaders, size_t count, uint64_t *ret_bytes);
/* Of the group that this process leads. False if it is gone, or /proc does not tell. */
bool cli_toll_read(pid_t leader, cli_toll *ret_toll);

#endif
