/* The table of `duplex hermes`: duplex makes the help, the man page and the completions from it,
 * duplex-hermes parses with it. */
#include "systems/hermes/command/command.h"

#define AT(member) offsetof(struct hermes_options, member)

static const cli_option options[] = {
    {"extension", 'e', CLI_TEXTS, "COMMAND", "an extension and its words; may be repeated",
     AT(extensions)},
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_group groups[] = {
    {"Extensions", options, 0},
    {NULL, NULL, 0},
};

const cli_verb cli_hermes = {
    .name = "hermes",
    .words = "host [OPTION...] [MESSAGE]",
    .summary = "edit an HL7 message with extensions of the Hermes editor",
    .text = "An editor without a window.",
    .groups = groups,
    .codes = "13457",
    .word = CLI_A_FILE,
    .is_program = true,
    .size = sizeof(struct hermes_options),
};
