/* duplex-autohand: what `duplex autohand` runs. */
#include "cli/say.h"
#include "systems/autohand/command/command.h"

#include <string.h>

const cli_verb *const cli_verbs[] = {&cli_autohand, NULL};
/* There is no command above it here. */
const cli_verb cli_command = {.name = "", .words = ""};

static bool is(const char *word, const char *name) {
    return word && strcmp(word, name) == 0;
}

/* Whoever gives an option of the agent to the client, or the other way round, means something by
 * it: that a call is denied, say. */
static int check_options(const struct autohand_options *options, bool is_agent) {
    const char *other = is_agent ? "Client" : "Agent";
    for (const cli_group *group = cli_autohand.groups; group->title; group++)
        for (const cli_option *one = group->options; is(group->title, other) && one->name; one++)
            if (cli_is_set(one, options, cli_autohand.usual))
                return cli_fail(CLI_USAGE, "--%s applies only to %s", one->name,
                                is_agent ? "prompt and chat" : "agent");
    return CLI_OK;
}

static int run(const cli_words *words, void *user) {
    const struct autohand_options *options = user;
    char **at = words->at;
    int code = is(at[0], "agent") || is(at[0], "prompt") || is(at[0], "chat")
                   ? check_options(options, is(at[0], "agent"))
                   : CLI_OK;
    if (code != CLI_OK)
        return code;
    if (is(at[0], "agent") && at[1])
        return cli_fail(CLI_USAGE, "agent: unexpected argument '%s'", at[1]);
    if (is(at[0], "agent"))
        return verb_agent(options, words->command);
    if (is(at[0], "prompt"))
        return verb_prompt(options, at + 1, words->command);
    if (is(at[0], "chat") && at[1])
        return cli_fail(CLI_USAGE, "chat: unexpected argument '%s'", at[1]);
    if (is(at[0], "chat"))
        return verb_chat(options, words->command);
    return at[0] ? cli_unknown_subcommand(&cli_autohand, at)
                 : cli_fail_hint(CLI_USAGE, "'duplex autohand --help' lists the subcommands",
                                 "missing subcommand: agent, prompt or chat");
}

int main(int argc, char **argv) {
    cli_verb verb = cli_autohand;
    verb.run = run;
    return cli_verb_run(&verb, argc, argv);
}
