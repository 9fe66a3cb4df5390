/* command.h: the options of `duplex hermes`, which duplex itself knows, too. */
#ifndef HERMES_COMMAND_H
#define HERMES_COMMAND_H

#include "cli/options.h"

/* --stop-timeout was not given. */
#define HERMES_STOP_USUAL (CLI_NEVER - 1)

struct hermes_options {
    cli_list extensions;
    const char *settings;
    cli_list env;
    bool clean_env;
    bool inherit_env;
    const char *cwd;
    const char *data;
    const char *revision;
    const char *shape;

    uint64_t message;
    const char *encoding;
    cli_list runs;
    const char *write;
    const char *format;
    cli_list answers;
    const char *opener;
    bool show;
    const char *record;
    bool keep_daemons;

    uint64_t settle_ms;
    uint64_t start_ms;
    uint64_t stop_ms;
    uint64_t debounce_ms;
};

extern const cli_verb cli_hermes;

#endif
