/* duplex-reginald: what `duplex reginald` runs. */
#include "systems/reginald/command/work.h"

#include "cli/say.h"

#include <stdlib.h>
#include <string.h>

const cli_verb *const cli_verbs[] = {&cli_reginald, NULL};
/* There is no command above it here. */
const cli_verb cli_command = {.name = "", .words = ""};

static int run(const cli_words *words, void *user) {
    const struct reginald_options *options = user;
    const char *word = words->at[0];
    if (!words->count)
        return cli_fail(CLI_USAGE,
                        "say what to do: attend, plugins, or a command of a plugin; --help tells"
                        " more");
    if (words->count > 1)
        return cli_fail(CLI_USAGE, "nothing stands behind %s but options, found '%s'", word,
                        words->at[1]);
    if (!options->jobs)
        return cli_fail(CLI_USAGE, "--jobs: at least 1");
    return work_run(options, word, words->command);
}

/* How many words an option takes, itself included; 0 if there is no such option. */
static int width_in(const cli_option *options, const char *word) {
    bool is_long = word[1] == '-';
    size_t len = is_long ? strcspn(word + 2, "=") : 1;
    const char *rest = word + (is_long ? 2 : 1) + len;
    for (; options->name; options++) {
        bool same = is_long
                        ? strlen(options->name) == len && memcmp(options->name, word + 2, len) == 0
                        : options->letter == word[1];
        if (same)
            return cli_takes_value(options) && !*rest ? 2 : 1;
    }
    return 0;
}

static int width_of(const char *word) {
    int width = width_in(cli_common_options, word);
    for (const cli_group *group = cli_reginald.groups; !width && group->options; group++)
        width = width_in(group->options, word);
    return width;
}

/* Where the name of a plugin's command stands; argc if there is none. */
static int find_command(int argc, char **argv) {
    int at = 1;
    while (at < argc && argv[at][0] == '-' && argv[at][1]) {
        int width = strcmp(argv[at], "--") == 0 ? 0 : width_of(argv[at]);
        if (!width)
            return argc;
        at += width;
    }
    bool is_own = at < argc && (strcmp(argv[at], "plugins") == 0 || work_attends(argv[at]));
    return at < argc && !is_own ? at : argc;
}

/* Whatever stands behind the name of a plugin's command is for the plugin: nobody here knows its
 * flags yet. For the table of options it stands behind "--", whether the user wrote that or not. */
int main(int argc, char **argv) {
    cli_verb verb = cli_reginald;
    verb.run = run;
    int at = find_command(argc, argv);
    bool marked = at + 1 < argc && strcmp(argv[at + 1], "--") == 0;
    if (at == argc || marked)
        return cli_verb_run(&verb, argc, argv);
    char **words = calloc((size_t)argc + 2, sizeof *words);
    if (!words)
        return cli_fail(CLI_NO_START, "no memory");
    memcpy(words, argv, (size_t)(at + 1) * sizeof *words);
    words[at + 1] = (char[]){"--"};
    memcpy(words + at + 2, argv + at + 1, (size_t)(argc - at - 1) * sizeof *words);
    int code = cli_verb_run(&verb, argc + 1, words);
    free(words);
    return code;
}
