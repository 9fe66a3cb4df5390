/* duplex-hermes: what `duplex hermes` runs. */
#include "systems/hermes/command/work.h"

#include "cli/say.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

const cli_verb *const cli_verbs[] = {&cli_hermes, NULL};
/* There is no command above it here. */
const cli_verb cli_command = {.name = "", .words = ""};

static int check_options(const struct hermes_options *options) {
    int code = cli_check_env(&options->env, options->clean_env,
                             options->inherit_env && !options->settings);
    if (code != CLI_OK)
        return code;
    if (options->settle_ms == CLI_NEVER)
        return cli_fail(CLI_USAGE,
                        "--settle: 'never' is not allowed: no command would ever count as done");
    code = message_check(options);
    if (code == CLI_OK)
        code = answers_check(options);
    return code == CLI_OK ? windows_check(options) : code;
}

/* A file instead of a subcommand: the user wants to open it. */
static int refuse_file(const char *path) {
    char hint[4200];
    snprintf(hint, sizeof hint, "to open a message, run 'duplex hermes host %.4096s'", path);
    return cli_fail_hint(CLI_USAGE, hint, "unknown subcommand '%s'", path);
}

static int run(const cli_words *words, void *user) {
    const struct hermes_options *options = user;
    if (words->count && strcmp(words->at[0], "host") != 0)
        return access(words->at[0], F_OK) == 0 ? refuse_file(words->at[0])
                                               : cli_unknown_subcommand(&cli_hermes, words->at);
    if (!words->count)
        return cli_fail_hint(CLI_USAGE, "run 'duplex hermes host [OPTION...] [MESSAGE]'",
                             "missing subcommand: expected 'host'");
    if (words->count > 2 || words->command)
        return cli_fail(CLI_USAGE, "expected at most one MESSAGE, but also got '%s'",
                        words->count > 2 ? words->at[2] : "--");
    const char *message = words->at[1];
    if (message && strcmp(message, "-") == 0 && !options->runs.count)
        return cli_fail_hint(CLI_USAGE, "pass --run COMMAND to read the message from stdin",
                             "cannot read the message from stdin: the console reads it");
    if (!message && options->message != CLI_NEVER)
        return cli_fail(CLI_USAGE, "--message: missing MESSAGE, the file that it is in");
    int code = check_options(options);
    return code == CLI_OK ? work_run(options, message) : code;
}

int main(int argc, char **argv) {
    cli_verb verb = cli_hermes;
    verb.run = run;
    return cli_verb_run(&verb, argc, argv);
}
