/* report.h: what became of the projects of a run: a line for each, and a last one. */
#ifndef FINECODE_REPORT_H
#define FINECODE_REPORT_H

#include "systems/finecode/command/rows.h"
#include "systems/finecode/command/work.h"

/* The exit code of a result: CLI_OK also if its return code is not 0. */
int report_code(const dx_finecode_result *result);
void report_project(struct work *work, const struct row *row, const char *action,
                    const dx_finecode_result *result, bool with_result);
/* One that could not be run at all. */
void report_invalid(struct work *work, const struct row *row, const char *action, const char *why);
/* Of all of them. An exit code: that of the first that failed, else whether one has a return code.
 * interrupted: those that are not over have not been run. otherwise: the code if nothing else. */
int report_summary(struct work *work, const struct rows *rows, bool interrupted, int otherwise);

#endif
