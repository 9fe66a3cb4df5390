/* The words of `duplex finecode er`. */
#include "systems/finecode/command/er/er.h"

#include "cli/options.h"
#include "cli/say.h"

#include <string.h>

#define AT(member) offsetof(struct er_options, member)

static const cli_option place_options[] = {
    {"project-path", 0, CLI_FOLDER, "DIR", "folder of the project", AT(project)},
    {"env-name", 0, CLI_TEXT, "ENV", "name of the environment", AT(env)},
    {"handlers", 0, CLI_FILE, "FILE",
     "actions and handlers (finecode-handlers.toml of the project, if it exists)", AT(handlers)},
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_option talk_options[] = {
    {"stdio", 0, CLI_FLAG, NULL, "speak on standard input and output (the default)", AT(stdio)},
    {"tcp", 0, CLI_FLAG, NULL, "listen on a port of 127.0.0.1, and report it first", AT(tcp)},
    {"revision", 0, CLI_CHOICE, "seed|real", "protocol revision (pipes: seed, TCP: real)",
     AT(revision)},
    {"debug", 0, CLI_FLAG, NULL,
     "report another port, and begin once a debugger has connected and sent data", AT(debug)},
    {"any-user", 0, CLI_FLAG, NULL,
     "let every user of this machine connect to these ports, not only the same user and root",
     AT(any_user)},
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_option log_options[] = {
    {"log-level", 0, CLI_CHOICE, "TRACE|DEBUG|INFO|WARNING|ERROR|CRITICAL",
     "lowest level that is logged (INFO)", AT(log_level)},
    {"log-file", 0, CLI_FILE, "FILE",
     "write the log to this file alone (standard error, and a file below $XDG_STATE_HOME)",
     AT(log_file)},
    {"wal", 0, CLI_FLAG, NULL, "log the events of runs in .venvs/ENV/state of the project",
     AT(wal)},
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_group groups[] = {
    {"Project", place_options, 0},
    {"Connection", talk_options, 0},
    {"Logs", log_options, 0},
    {NULL, NULL, 0},
};

static const char *const examples[] = {
    "List the built-in handlers:",
    "duplex finecode er handlers",
    "Print the version:",
    "duplex finecode er version",
    "Start a runner, as a workspace manager does:",
    "duplex finecode er start --project-path=build/examples/finecode/app --env-name=c",
    NULL,
};

static const cli_verb table = {
    .name = "finecode er",
    .words = "start --project-path DIR --env-name ENV [OPTION...]\nhandlers\nversion",
    .summary = "Run the handlers of one project and environment",
    .text = "A FineCode extension runner: a workspace manager starts it and asks it to run"
            " handlers. Handlers in FILE are commands: they get the payload as JSON on standard"
            " input and write the result as JSON to standard output. The others are built in;"
            " 'handlers' lists them.\n"
            "\n"
            "As a replacement for a venv's Python (.venvs/ENV/bin/python, a link to"
            " duplex-finecode) it accepts the same arguments: -m finecode_extension_runner.cli"
            " start …, and listens on a port unless --stdio is given.",
    .groups = groups,
    .examples = examples,
    .codes = "137",
    .size = sizeof(struct er_options),
};

static int run(const cli_words *words, const struct er_options *options, bool stands_in) {
    const char *word = words->count ? words->at[0] : "";
    if (words->count > 1)
        return cli_fail(CLI_USAGE, "%s: unexpected argument '%s'", word, words->at[1]);
    if (strcmp(word, "start") == 0)
        return er_start(options, stands_in);
    if (strcmp(word, "handlers") == 0)
        return er_list();
    if (strcmp(word, "version") == 0) {
        printf("FineCode Extension Runner %s\n", dx_version());
        return CLI_OK;
    }
    if (*word)
        return cli_fail_hint(CLI_USAGE, "'duplex finecode er --help' lists the subcommands",
                             "unknown subcommand '%s'", word);
    return cli_fail_hint(CLI_USAGE, "'duplex finecode er --help' lists the subcommands",
                         "missing subcommand: start, handlers or version");
}

static int run_runner(const cli_words *words, void *options) {
    return run(words, options, false);
}

static int run_stand_in(const cli_words *words, void *options) {
    return run(words, options, true);
}

int er_main(int argc, char **argv) {
    cli_verb verb = table;
    bool stands_in = strcmp(argv[0], "er") != 0;
    int skipped = stands_in ? 2 : 0; /* -m and the module */
    verb.run = stands_in ? run_stand_in : run_runner;
    return cli_verb_run(&verb, argc - skipped, argv + skipped);
}
