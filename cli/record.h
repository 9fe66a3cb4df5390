/* record.h: the end of a recording. */
#ifndef CLI_RECORD_H
#define CLI_RECORD_H

#include <duplex/recorder.h>

/* Closes it; what it lacks is told, unless that would make us wait. NULL is fine. */
void cli_record_close(dx_recorder *recorder);

#endif
