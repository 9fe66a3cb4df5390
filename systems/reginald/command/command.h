/* command.h: the options of `duplex reginald`, which duplex itself knows, too. */
#ifndef REGINALD_COMMAND_H
#define REGINALD_COMMAND_H

#include "cli/options.h"

struct reginald_options {
    const char *plugin_dir;
    cli_list plugins;
    const char *config;
    const char *revision;
    const char *log_level;
    const char *log_format;
    bool dry_run;
    uint64_t jobs;
    bool show;
    const char *record;
    bool keep_daemons;
    uint64_t handshake_ms;
    uint64_t stop_ms;
};

extern const cli_verb cli_reginald;

#endif
