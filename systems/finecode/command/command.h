/* command.h: the options of `duplex finecode`, which duplex itself knows, too. */
#ifndef FINECODE_COMMAND_H
#define FINECODE_COMMAND_H

#include "cli/options.h"

/* A count that was not given; 0 is a count like any other. Times that are 0 were not given. */
#define FINECODE_UNSAID UINT64_MAX

struct finecode_options {
    const char *folder;
    cli_list projects;
    cli_list set;

    const char *payload;
    const char *format;
    bool stream;
    bool one_by_one;
    bool dry_run;
    bool ignore_unmatched;
    const char *trigger;
    const char *dev_env;
    uint64_t fanout;

    const char *runner;
    const char *revision;
    uint64_t jobs;
    const char *debug;
    const char *wal;
    const char *log_level;
    bool show;
    const char *record;
    bool keep_daemons;

    bool resolve;

    const char *port; /* a text: 0 is a port, too */
    const char *port_file;
    uint64_t disconnect_ms;
    bool any_user;

    uint64_t port_ms;
    uint64_t initialize_ms;
    uint64_t info_ms;
    uint64_t config_ms;
    uint64_t run_ms;
    uint64_t stop_ms;
};

extern const cli_verb cli_finecode;

#endif
