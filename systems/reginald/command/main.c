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
        return cli_fail_hint(CLI_USAGE,
                             "the commands are attend, plugins, and those of your plugins",
                             "missing command");
    if (words->count > 1)
        return cli_fail(CLI_USAGE, "unexpected argument '%s' after %s", words->at[1], word);
    if (!options->jobs)
        return cli_fail(CLI_USAGE, "--jobs: expected at least 1, got 0");
    return work_run(options, word, words->command);
}

/* Did the letter mean that option until the last release? */
static bool is_old_letter(char letter, const cli_option *option) {
    size_t len;
    const char *name = cli_old_name(&cli_reginald, letter, &len);
    return name && strlen(option->name) == len && memcmp(name, option->name, len) == 0;
}

/* How many words an option takes, itself included; 0 if there is no such option. */
static int width_of(const char *word) {
    bool is_long = word[1] == '-';
    size_t len = is_long ? strcspn(word + 2, "=") : 1;
    const char *rest = word + (is_long ? 2 : 1) + len;
    const cli_option *option;
    for (size_t i = 0; (option = cli_option_at(&cli_reginald, i)); i++) {
        bool same = is_long
                        ? strlen(option->name) == len && memcmp(option->name, word + 2, len) == 0
                        : option->letter == word[1] || is_old_letter(word[1], option);
        if (same)
            return cli_takes_value(option) && !*rest ? 2 : 1;
    }
    return 0;
}

/* The number of the word that names a plugin's command; argc if there is none. Other names of
 * attend are replaced by it. */
static int find_command(int argc, char **argv) {
    static char attend[] = "attend";
    int at = 1;
    while (at < argc && argv[at][0] == '-' && argv[at][1]) {
        int width = strcmp(argv[at], "--") == 0 ? 0 : width_of(argv[at]);
        if (!width)
            return argc;
        at += width;
    }
    bool attends = at < argc && work_attends(argv[at]);
    if (attends)
        argv[at] = attend;
    return at < argc && !attends && strcmp(argv[at], "plugins") != 0 ? at : argc;
}

/* Everything after the name of a plugin's command is for the plugin: nobody here knows its flags
 * yet. So it goes after "--", whether the user typed that or not. */
int main(int argc, char **argv) {
    cli_verb verb = cli_reginald;
    verb.run = run;
    int at = find_command(argc, argv);
    bool marked = at + 1 < argc && strcmp(argv[at + 1], "--") == 0;
    if (at == argc || marked)
        return cli_verb_run(&verb, argc, argv);
    char **words = calloc((size_t)argc + 2, sizeof *words);
    if (!words)
        return cli_fail(CLI_NO_START, "out of memory");
    memcpy(words, argv, (size_t)(at + 1) * sizeof *words);
    words[at + 1] = (char[]){"--"};
    memcpy(words + at + 2, argv + at + 1, (size_t)(argc - at - 1) * sizeof *words);
    int code = cli_verb_run(&verb, argc + 1, words);
    free(words);
    return code;
}
