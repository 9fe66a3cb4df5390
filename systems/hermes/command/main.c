/* duplex-hermes: what `duplex hermes` runs. */
#include "systems/hermes/command/work.h"

#include "cli/describe/nearest.h"
#include "cli/say.h"

#include <stdio.h>
#include <string.h>

const cli_verb *const cli_verbs[] = {&cli_hermes, NULL};
/* There is no command above it here. */
const cli_verb cli_command = {.name = "", .words = ""};

static int check_options(const struct hermes_options *options) {
    int code = cli_check_env(&options->env, options->clean_env,
                             options->inherit_env && !options->settings);
    if (code != CLI_OK)
        return code;
    if (options->settle_ms == CLI_NEVER)
        return cli_fail(CLI_USAGE, "--settle: nothing would ever be done");
    code = answers_check(options);
    return code == CLI_OK ? windows_check(options) : code;
}

static int run(const cli_words *words, void *user) {
    const struct hermes_options *options = user;
    static const char *const there[] = {"host", NULL};
    if (words->count && strcmp(words->at[0], "host") != 0)
        return cli_unknown(there, words->at[0]);
    if (!words->count)
        return cli_fail(CLI_USAGE, "say 'duplex hermes host'; --help tells more");
    if (words->count > 2 || words->command)
        return cli_fail(CLI_USAGE, "one MESSAGE is opened, found '%s', too",
                        words->count > 2 ? words->at[2] : "--");
    const char *message = words->at[1];
    if (message && strcmp(message, "-") == 0 && !options->runs.count)
        return cli_fail(CLI_USAGE, "the standard input is the console's; a message can come from"
                                   " there only with --run");
    int code = check_options(options);
    return code == CLI_OK ? work_run(options, message) : code;
}

int main(int argc, char **argv) {
    cli_verb verb = cli_hermes;
    verb.run = run;
    return cli_verb_run(&verb, argc, argv);
}
