/* What the files of the harness share: main.c runs rows, disturb.c runs them with failing calls. */
#ifndef FAULTS_HARNESS_H
#define FAULTS_HARNESS_H

#include "faults/faults.h"

/* main.c */

const struct fault *fault_first(void);
/* The process of a test: the row, then what must hold after each. */
_Noreturn void run_row(const struct fault *fault);
/* Reaps orphans until the test itself has ended or its time is over. */
int wait_for(pid_t pid, unsigned seconds, int *ret_status);
/* Ends every process that is left; only those that descend from here are ever killed. */
void clean_up(void);

/* disturb.c */

/* faults --disturb KIND … */
int disturb_main(int argc, char **argv);
/* fail() calls it before it fails: it does not return where a row was disturbed on purpose. */
void disturb_end(void);
/* The row has passed: from here on everything counts. */
void disturb_passed(void);

#endif
