/* attend.h: runs the tasks. */
#ifndef REGINALD_ATTEND_H
#define REGINALD_ATTEND_H

#include "systems/reginald/command/tasks.h"
#include "systems/reginald/command/work.h"

/* Checks all of them, then runs them, those that need nothing first. The tasks stay until the host
 * is gone. An exit code. */
int attend_run(struct work *work, struct tasks *tasks);

/* What happens to a task is told by these. */
void report_task(const struct task *task);
/* Of all of them. An exit code: that of the first in the file that failed. */
int report_summary(const struct tasks *tasks, bool dry_run, bool interrupted);

#endif
