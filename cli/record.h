/* record.h: a recording of all traffic, its beginning and its end. */
#ifndef CLI_RECORD_H
#define CLI_RECORD_H

#include "cli/options.h"

#include <duplex/recorder.h>

/* Refuses what would hide nothing, such as "#/a" and "$.a". An exit code. */
int cli_check_redactions(const cli_list *more);
/* What is not recorded or shown: the usual secrets, and what --redact names. To be freed; NULL: no
 * memory. */
const char **cli_redactions(const cli_list *more);
/* As dx_recorder_open(), but without `redact` the usual secrets are not recorded, and a file that
 * another process still records to is waited for: one that is started again in the place of that
 * may come before it has left. */
dx_status cli_recorder_open(const dx_recorder_config *given, dx_recorder **ret_recorder,
                            dx_error *reterr);
/* path NULL: none is wanted. An exit code; what is wrong was told. */
int cli_record_open(const char *path, dx_recorder **ret_recorder);
/* Closes it; what it lacks is reported, unless that would make us wait: returns whether more can be
 * reported, and the recording is whole. NULL is fine. */
bool cli_record_close(dx_recorder *recorder);
/* Says that the recording was left before its end was written. From any thread. */
void cli_record_left(void);

#endif
