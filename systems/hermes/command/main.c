/* duplex-hermes: what `duplex hermes` runs. */
#include "systems/hermes/command/command.h"

#include "cli/say.h"

#include <stdio.h>
#include <string.h>

const cli_verb *const cli_verbs[] = {&cli_hermes, NULL};
/* There is no command above it here. */
const cli_verb cli_command = {.name = "", .words = ""};

static int run(const cli_words *words, void *user) {
    (void)user;
    if (!words->count || strcmp(words->at[0], "host") != 0)
        return cli_fail(CLI_USAGE, "say 'duplex hermes host'; --help tells more");
    return CLI_OK;
}

int main(int argc, char **argv) {
    cli_verb verb = cli_hermes;
    verb.run = run;
    return cli_verb_run(&verb, argc, argv);
}
