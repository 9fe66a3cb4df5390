/* command.h: the options of `duplex mcp`, which duplex itself knows, too. */
#ifndef MCP_COMMAND_H
#define MCP_COMMAND_H

#include "cli/options.h"
#include "cli/run/address.h"

/* Times that are 0 are not given. */
struct mcp_options {
    const char *config;
    const char *server;
    const char *connect;
    const char *in;
    cli_run_options run;
    const char *mode;
    const char *revision;
    const char *ids;
    cli_list env;
    const char *cwd;
    const char *errors;

    cli_list roots;
    cli_list samples;
    cli_list answers;
    const char *opener;

    const char *level;
    const char *record;

    uint64_t timeout_ms;
    uint64_t total_ms;
    uint64_t start_ms;
    uint64_t probe_ms;
    uint64_t for_ms;

    const char *listen;
    uint64_t size_max;

    bool strict;
    bool clean_env;
    bool inherit_env;
    bool progress;
    bool reset;
    bool task;
    bool show;
    bool keep_daemons;
    bool hidden;
    bool any_user;
};

extern const cli_verb cli_mcp;
/* What the options are unless they are given. */
extern const struct mcp_options mcp_usual;

#endif
