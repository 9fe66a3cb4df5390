/* command.h: the options of `duplex autohand`, which duplex itself knows, too. */
#ifndef AUTOHAND_COMMAND_H
#define AUTOHAND_COMMAND_H

#include "cli/options.h"

/* A count that was not given; 0 is a count like any other. Times that are 0 were not given. */
#define AUTOHAND_UNSAID UINT64_MAX

struct autohand_options {
    /* agent */
    const char *mode;
    const char *path;
    const char *config;
    const char *model;
    const char *url;
    const char *script;
    const char *home;
    const char *compat;
    const char *framing;
    const char *client_context;
    uint64_t ack_ms;
    uint64_t answer_ms;
    uint64_t command_ms;
    uint64_t ping_ms;
    uint64_t model_ms;
    uint64_t model_tries;
    bool rpc;
    bool yolo;
    bool no_preview;
    bool fixed_clock;

    /* chat, prompt */
    bool yes;
    bool no;
    bool ask;
    bool clean_env;
    bool inherit_env;
    bool thoughts;
    bool quiet;
    bool show;
    bool keep_daemons;
    const char *changes;
    cli_list files;
    cli_list images;
    const char *select;
    cli_list env;
    const char *cwd;
    uint64_t timeout_ms;
    uint64_t start_ms;
    const char *record;
};

extern const cli_verb cli_autohand;

/* Each is an exit code. `command` is what stands behind "--", or NULL. */
int verb_agent(const struct autohand_options *options, char **command);
int verb_prompt(const struct autohand_options *options, char **words, char **command);
int verb_chat(const struct autohand_options *options, char **command);

#endif
