/* The words of `duplex finecode er`. */
#include "systems/finecode/command/er/er.h"

#include "cli/options.h"
#include "cli/say.h"

#include <string.h>

#define AT(member) offsetof(struct er_options, member)

static const cli_option place_options[] = {
    {"project-path", 0, CLI_FOLDER, "DIR", "the folder of the project", AT(project)},
    {"env-name", 0, CLI_TEXT, "ENV", "the environment", AT(env)},
    {"handlers", 0, CLI_FILE, "FILE",
     "what actions and handlers there are (finecode-handlers.toml of the project, if it is there)",
     AT(handlers)},
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_option talk_options[] = {
    {"stdio", 0, CLI_FLAG, NULL, "speak by the standard input and output (so it is)", AT(stdio)},
    {"tcp", 0, CLI_FLAG, NULL, "speak by a port of this machine, which is told first", AT(tcp)},
    {"revision", 0, CLI_CHOICE, "seed|real", "what is spoken (seed by pipes, real by a port)",
     AT(revision)},
    {"debug", 0, CLI_FLAG, NULL,
     "tell another port, and begin when a debugger has connected and spoken", AT(debug)},
    {"any-user", 0, CLI_FLAG, NULL,
     "let every user of this machine connect to these ports (only yours, and root)", AT(any_user)},
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_option log_options[] = {
    {"log-level", 0, CLI_CHOICE, "TRACE|DEBUG|INFO|WARNING|ERROR|CRITICAL",
     "what is logged, from this level on (INFO)", AT(log_level)},
    {"log-file", 0, CLI_FILE, "FILE", "where to (the standard error)", AT(log_file)},
    {"wal", 0, CLI_FLAG, NULL, "write events of runs into .venvs/ENV/state of the project",
     AT(wal)},
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_group groups[] = {
    {"Place", place_options, 0},
    {"Conversation", talk_options, 0},
    {"Records", log_options, 0},
    {NULL, NULL, 0},
};

static const char *const examples[] = {
    "Which handlers are there?",
    "duplex finecode er handlers",
    "As a workspace manager starts it:",
    "duplex finecode er start --project-path=/home/me/work --env-name=c",
    NULL,
};

static const cli_verb table = {
    .name = "finecode er",
    .words = "start --project-path DIR --env-name ENV [OPTION...]\nhandlers\nversion",
    .summary = "run handlers of actions for one project and environment",
    .text = "An extension runner of FineCode: a workspace manager starts it and asks it to run"
            " handlers. Those of the file FILE are commands: they get the payload as JSON on their"
            " standard input, and write the result as JSON to their standard output. The others"
            " are ready-made; `handlers` lists them.\n"
            "\n"
            "In the place of a venv's Python (.venvs/ENV/bin/python, a link to duplex-finecode) it"
            " takes the words of that: -m finecode_extension_runner.cli start …, and speaks by a"
            " port unless told otherwise.",
    .groups = groups,
    .examples = examples,
    .codes = "137",
    .size = sizeof(struct er_options),
};

static int run(const cli_words *words, const struct er_options *options, bool stands_in) {
    const char *word = words->count ? words->at[0] : "";
    if (words->count > 1)
        return cli_fail(CLI_USAGE, "nothing stands behind %s but options, found '%s'", word,
                        words->at[1]);
    if (strcmp(word, "start") == 0)
        return er_start(options, stands_in);
    if (strcmp(word, "handlers") == 0)
        return er_list();
    if (strcmp(word, "version") == 0) {
        printf("FineCode Extension Runner %s\n", dx_version());
        return CLI_OK;
    }
    if (*word)
        return cli_fail(CLI_USAGE, "expected start, handlers or version, found '%s'", word);
    return cli_fail(CLI_USAGE, "say what to do: start, handlers or version; --help tells more");
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
