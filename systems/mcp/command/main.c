/* duplex-mcp: what `duplex mcp` runs. */
#include "systems/mcp/command/serve/serve.h"
#include "systems/mcp/command/verbs.h"

#include "cli/say.h"

#include <string.h>

const cli_verb *const cli_verbs[] = {&cli_mcp, NULL};
/* There is no command above it here. */
const cli_verb cli_command = {.name = "", .words = ""};

static bool is(const char *word, const char *name) {
    return word && strcmp(word, name) == 0;
}

/* Options that only some subcommands have. */
static int check_options(const struct mcp_options *options, char **words) {
    bool serves = is(words[0], "serve");
    bool looks_on = is(words[0], "log") || is(words[0], "watch");
    bool has_size = options->size_max != mcp_usual.size_max;
    const struct {
        const char *name;
        bool given;
        bool fits;
        const char *where;
    } rows[] = {
        {"for", options->for_ms, looks_on, "'log' and 'watch'"},
        {"task", options->task, is(words[0], "tools") && is(words[1], "call"), "'tools call'"},
        {"listen", options->listen, serves, "'serve'"},
        {"any-user", options->any_user, serves && options->listen, "'serve' with --listen"},
        {"max-size", has_size, serves && is(words[1], "files"), "'serve files'"},
        {"hidden", options->hidden, serves && is(words[1], "files"), "'serve files'"},
        {"config", options->config, !serves, "clients, not for 'serve'"},
        {"connect", options->connect, !serves, "clients, not for 'serve'"},
        {"in", options->in, !serves, "clients, not for 'serve'"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].given && !rows[i].fits)
            return cli_fail(CLI_USAGE, "--%s is only for %s", rows[i].name, rows[i].where);
    return CLI_OK;
}

static int serve(const struct mcp_options *options, char **words, char **command) {
    bool files = is(words[0], "files");
    if (!files && !is(words[0], "command"))
        return words[0] ? cli_unknown_subcommand(&cli_mcp, words - 1)
                        : cli_fail_hint(CLI_USAGE,
                                        "write 'duplex mcp serve files' or 'duplex mcp serve"
                                        " command'",
                                        "missing subcommand");
    if (!words[1])
        return cli_missing(files ? "FOLDER" : "SPEC");
    if (words[2] || command)
        return cli_fail(CLI_USAGE, "unexpected argument '%s'", words[2] ? words[2] : "--");
    return files ? serve_files(options, words[1]) : serve_command(options, words[1]);
}

/* What servers have lists of, and what more can be done with each kind. */
static const struct {
    const char *name;
    dx_mcp_kind kind;
    const char *more;
    int (*run)(const struct mcp_options *options, char **words, char **command);
} lists[] = {
    {"tools", DX_MCP_TOOLS, "call", verb_call},
    {"resources", DX_MCP_RESOURCES, "read", verb_read},
    {"templates", DX_MCP_TEMPLATES, NULL, NULL},
    {"prompts", DX_MCP_PROMPTS, "get", verb_get},
};

static const struct {
    const char *name;
    int (*run)(const struct mcp_options *options, char **words, char **command);
} verbs[] = {
    {"info", verb_info}, {"complete", verb_complete}, {"ping", verb_ping},
    {"log", verb_log},   {"watch", verb_watch},       {"serve", serve},
};

static void set_voice(const char *first, const char *second) {
    static char name[40];
    snprintf(name, sizeof name, "mcp %s%s%s", first, second ? " " : "", second ? second : "");
    cli_voice.verb = name;
}

static int run_list(const struct mcp_options *options, size_t i, char **words, char **command) {
    if (!words[0] || is(words[0], "list")) {
        set_voice(lists[i].name, NULL);
        return verb_list(options, lists[i].kind, words + (words[0] != NULL), command);
    }
    if (!lists[i].more || !is(words[0], lists[i].more))
        return cli_unknown_subcommand(&cli_mcp, words - 1);
    set_voice(lists[i].name, lists[i].more);
    return lists[i].run(options, words + 1, command);
}

static int run(const cli_words *words, void *user) {
    const struct mcp_options *options = user;
    const char *first = words->at[0];
    if (!first)
        return cli_fail_hint(CLI_USAGE, "'duplex mcp --help' lists the subcommands",
                             "missing subcommand");
    int code = check_options(options, words->at);
    if (code != CLI_OK)
        return code;
    cli_voice.single = true;
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        if (is(first, lists[i].name))
            return run_list(options, i, words->at + 1, words->command);
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++)
        if (is(first, verbs[i].name)) {
            bool two =
                is(first, "serve") && (is(words->at[1], "files") || is(words->at[1], "command"));
            if (two || !is(first, "serve"))
                set_voice(first, two ? words->at[1] : NULL);
            return verbs[i].run(options, words->at + 1, words->command);
        }
    return cli_unknown_subcommand(&cli_mcp, words->at);
}

int main(int argc, char **argv) {
    cli_verb verb = cli_mcp;
    verb.run = run;
    return cli_verb_run(&verb, argc, argv);
}
