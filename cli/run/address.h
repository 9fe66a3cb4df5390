/* address.h: where a run is reached: the socket, and who may be at its other end. */
#ifndef CLI_ADDRESS_H
#define CLI_ADDRESS_H

#include "cli/options.h"

#include <sys/types.h>
#include <sys/un.h>

/* Which run. */
typedef struct cli_run_options {
    const char *name;
    const char *socket;
} cli_run_options;
extern const cli_option cli_run_table[];

typedef struct cli_address {
    const char *run;
    bool given; /* the path was given by --socket */
    struct sockaddr_un socket;
} cli_address;

/* Finds the path. The folder that we choose ourselves must be ours alone; `make` makes it. An exit
 * code; what is wrong is told. If it is not there and shall not be made, that is CLI_OK. */
int cli_address_find(const cli_run_options *options, bool make, cli_address *ret_address);
/* A connection; *ret_pid and *ret_uid are of who listens. -1 with errno. */
int cli_address_connect(const cli_address *address, pid_t *ret_pid, uid_t *ret_uid);
/* The names of other runs that listen in the same folder: "work", or "work, test"; to be freed.
 * NULL: there are none. */
char *cli_address_others(const cli_address *address);
/* May that user give us orders, or take ours? */
bool cli_address_trusts(uid_t uid);

#endif
