/* traffic.h: messages as they cross, for people. */
#ifndef CLI_TRAFFIC_H
#define CLI_TRAFFIC_H

#include <duplex/base.h>

#include <stdbool.h>
#include <stdio.h>

/* One line: when (since the first one), which way, what. `name` is the peer's, or NULL. */
void cli_show(FILE *out, uint64_t us, bool by_host, const char *name, dx_text text);

#endif
