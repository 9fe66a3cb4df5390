/* duplex-finecode: what `duplex finecode` runs; and a runner, where it stands for python. */
#include "cli/say.h"
#include "systems/finecode/command/er/er.h"
#include "systems/finecode/command/work.h"

#include <string.h>

const cli_verb *const cli_verbs[] = {&cli_finecode, NULL};
/* There is no command above it here. */
const cli_verb cli_command = {.name = "", .words = ""};

static bool is(const char *word, const char *name) {
    return word && strcmp(word, name) == 0;
}

/* Options that mean something only somewhere: whoever gives them elsewhere meant something else. */
static int check_options(const struct finecode_options *options, const char *word) {
    bool runs = is(word, "run");
    bool serves = is(word, "serve");
    const struct {
        const char *name;
        bool given;
        bool fits;
        const char *where;
    } rows[] = {
        {"payload", options->payload, runs, "run"},
        {"format", options->format, runs, "run"},
        {"stream", options->stream, runs, "run"},
        {"one-by-one", options->one_by_one, runs, "run"},
        {"dry-run", options->dry_run, runs, "run"},
        {"ignore-unmatched", options->ignore_unmatched, runs, "run"},
        {"trigger", options->trigger, runs, "run"},
        {"dev-env", options->dev_env, runs, "run"},
        {"fanout", options->fanout != FINECODE_UNSAID, runs || serves, "run and serve"},
        {"resolve", options->resolve, is(word, "list"), "list"},
        {"project", options->projects.count, !serves, "run, list and runners"},
        {"port", options->port, serves, "serve"},
        {"port-file", options->port_file, serves, "serve"},
        {"disconnect-timeout", options->disconnect_ms, serves, "serve"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].given && !rows[i].fits)
            return cli_fail(CLI_USAGE, "--%s applies only to %s", rows[i].name, rows[i].where);
    if (!options->jobs || !options->fanout)
        return cli_fail(CLI_USAGE, "--%s: expected a number of at least 1, got '0'",
                        options->jobs ? "fanout" : "jobs");
    return CLI_OK;
}

static const struct {
    const char *name;
    int (*run)(const struct finecode_options *options);
} verbs[] = {{"list", verb_list}, {"runners", verb_runners}, {"serve", verb_serve}};

static int run(const cli_words *words, void *user) {
    const struct finecode_options *options = user;
    char **at = words->at;
    if (!at[0])
        return cli_fail_hint(CLI_USAGE, "'duplex finecode --help' lists the subcommands",
                             "missing subcommand: run, list, runners, serve or er");
    if (words->command && !is(at[0], "run"))
        return cli_fail_hint(CLI_USAGE, "only run takes files", "%s: unexpected --", at[0]);
    int code = check_options(options, at[0]);
    if (code != CLI_OK)
        return code;
    if (is(at[0], "run"))
        return verb_run(options, at + 1, words->command);
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++) {
        if (!is(at[0], verbs[i].name))
            continue;
        if (at[1])
            return cli_fail(CLI_USAGE, "%s: unexpected argument '%s'", at[0], at[1]);
        return verbs[i].run(options);
    }
    if (is(at[0], "er"))
        return cli_fail_hint(CLI_USAGE, "write: duplex finecode er start OPTION...",
                             "er must come before all options");
    return cli_unknown_subcommand(&cli_finecode, at);
}

/* A link to this program can be .venvs/ENV/bin/python: managers start runners by that. */
int main(int argc, char **argv) {
    cli_verb verb = cli_finecode;
    verb.run = run;
    if (argc > 1 && is(argv[1], "er"))
        return er_main(argc - 1, argv + 1);
    if (argc > 2 && is(argv[1], "-m") && is(argv[2], "finecode_extension_runner.cli"))
        return er_main(argc, argv);
    return cli_verb_run(&verb, argc, argv);
}
