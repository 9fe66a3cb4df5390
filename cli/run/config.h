/* config.h: a file that names peers and says how each is run. docs/config.md is its manual. */
#ifndef CLI_CONFIG_H
#define CLI_CONFIG_H

#include <duplex/duplex.h>

#include <stdbool.h>

enum {
    CONFIG_FILE_MAX = 1 << 20, /* bytes of the file, and of one with variables */
    CONFIG_PEERS_MAX = 256,    /* in one file */
    CONFIG_NAME_MAX = 64,      /* bytes of a name */
    CONFIG_ENV_MAX = 1000,     /* variables for one peer */
    CONFIG_ARGS_MAX = 1000,    /* words of one command */
    CONFIG_TEXT_MAX =
        128 << 10 /* bytes of one text, variables replaced: no argument can be longer */
};

typedef struct cli_config_peer {
    const char *name;
    const char **argv; /* NULL at the end */
    const char **env;  /* "NAME=value", NULL at the end */
    bool inherit_env;
    const char *cwd; /* NULL: ours */
    const char *protocol_name;
    const char *protocol_source; /* the same, or the absolute path of its file */
    dx_protocol *protocol;       /* the configuration's */
    dx_framing framing;
    const char
        *init; /* params of the first request of the handshake, as JSON; NULL: the protocol's */
    dx_restart restart;
    uint64_t backoff_ms; /* from here on 0 is what dx_supervisor_defaults() has */
    uint64_t backoff_max_ms;
    bool has_tries;
    unsigned tries;
    uint64_t window_ms;
    uint64_t start_ms;
    const char *ping;
    uint64_t ping_ms;
    uint64_t timeout_ms;
    uint64_t memory_max;
    uint64_t files_max;
    const char *record; /* NULL: not recorded */
    uint64_t log_max;
} cli_config_peer;

typedef struct cli_config {
    const char *path;
    cli_config_peer *peers;
    size_t count;
    bool flawed; /* there were entries that can't be used, which was told */
    struct config_memory *memory;
    struct config_protocol *protocols;
} cli_config;

/* Reads the file, and of its entries those in `names` (NULL at the end; none: all). What is wrong
 * is told with its place; an entry that is wrong does not keep the others from being used, unless
 * it was named. `sum` is the SHA-256 sum that the file must have, in hexadecimal digits, or NULL.
 * Returns an exit code, CLI_OK only if there is a peer that can be run. */
int cli_config_read(const char *path, const char *sum, char *const *names, cli_config *ret_config);
void cli_config_done(cli_config *config);

/* [A-Za-z0-9._-]{1,64}, but neither "." nor "..". */
bool cli_is_name(const char *text, size_t len);

#endif
