/* How many processors there are; for the library and for its command. */
#ifndef FINECODE_PROCESSORS_H
#define FINECODE_PROCESSORS_H

#include <sched.h>
#include <unistd.h>

/* Those that this process may use. */
static inline unsigned dx__finecode_processors(void) {
    cpu_set_t set;
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return (unsigned)CPU_COUNT(&set);
    return online > 0 ? (unsigned)online : 1;
}

#endif
