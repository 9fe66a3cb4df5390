/* What the files of duplex-hermes share. */
#ifndef HERMES_COMMAND_H
#define HERMES_COMMAND_H

#include "cli/options.h"

struct hermes_options {
    cli_list extensions;
};

extern const cli_verb cli_hermes;

#endif
