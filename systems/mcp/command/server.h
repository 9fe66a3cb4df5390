/* server.h: where the server is: a command, an entry of a configuration, or an address. */
#ifndef MCP_SERVER_H
#define MCP_SERVER_H

#include "cli/run/config.h"
#include "cli/run/control.h"
#include "systems/mcp/command/command.h"

struct server {
    const char *const *argv; /* NULL if it is connected to */
    const char *connect;
    const char **env; /* NULL at the end */
    bool inherit_env;
    const char *cwd;
    const char *revision; /* the configuration's; NULL: it has none */
    uint64_t timeout_ms;  /* likewise; 0 */
    cli_config config;
    cli_attached attached; /* --in */
};

/* CLI_OK, or an exit code that was told. `command` may be NULL. */
int server_find(const struct mcp_options *options, char **command, struct server *ret_server);
void server_done(struct server *server);

#endif
