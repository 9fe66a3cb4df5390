/* record.h: a recording of all traffic, its beginning and its end. */
#ifndef CLI_RECORD_H
#define CLI_RECORD_H

#include <duplex/recorder.h>

/* path NULL: none is wanted. An exit code; what is wrong was told. */
int cli_record_open(const char *path, dx_recorder **ret_recorder);
/* Closes it; what it lacks is told, unless that would make us wait. NULL is fine. */
void cli_record_close(dx_recorder *recorder);

#endif
