/* progress.h: how far it is, on one line of a terminal's standard error. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include "cli/session.h"

/* Whether anything is shown: not if the same terminal gets the traffic or the peer's own words. */
void cli_progress_begin(const cli_peer_options *options);
/* What follows, or anything else that is printed, takes its place. */
void cli_progress(const char *format, ...) __attribute__((format(printf, 1, 2)));
void cli_progress_end(void);

#endif
