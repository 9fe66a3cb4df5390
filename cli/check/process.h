/* process.h: what the system says about a process. */
#ifndef CLI_CHECK_PROCESS_H
#define CLI_CHECK_PROCESS_H

#include <stdbool.h>

typedef struct check_process {
    long session;
    char name[32];
} check_process;

/* Does it live? One that has ended, and of which nobody has seen that yet, does not. */
bool check_process_lives(long pid, check_process *ret_process);

#endif
