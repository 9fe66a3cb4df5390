/* duplex-reginald: what `duplex reginald` runs. */
#include "systems/reginald/command/option.h"

#include "cli/say.h"

#include <stdlib.h>
#include <string.h>

const cli_verb *const cli_verbs[] = {&cli_reginald, NULL};
/* There is no command above it here. */
const cli_verb cli_command = {.name = "", .words = ""};

/* Letters of options before the command, each once. */
static char letters[64];

static int run(const cli_words *words, void *user) {
    const struct reginald_options *options = user;
    const char *word = words->at[0];
    if (words->count == 1 && !*word && !words->command)
        return cli_fail(CLI_USAGE, "the name of the command is empty");
    if (!words->count && words->command)
        return option_refuse_dashes();
    if (!words->count)
        return cli_fail_hint(CLI_USAGE,
                             "the commands are attend, plugins, and those of your plugins",
                             "missing command");
    if (words->count > 1)
        return cli_fail(CLI_USAGE, "unexpected argument '%s' after %s", words->at[1], word);
    if (!options->jobs)
        return cli_fail(CLI_USAGE, "--jobs: expected at least 1, got 0");
    return work_run(options, letters, word, words->command);
}

/* How many words an option takes, itself included; 0 if there is no such option. */
static int width_of(const char *word) {
    bool is_long = word[1] == '-';
    size_t len = is_long ? strcspn(word + 2, "=") : 1;
    const char *rest = word + (is_long ? 2 : 1) + len;
    const cli_option *option = is_long ? NULL : option_of_letter(word[1]);
    for (size_t i = 0; is_long && (option = cli_option_at(&cli_reginald, i)); i++)
        if (strlen(option->name) == len && memcmp(option->name, word + 2, len) == 0)
            break;
    if (!option)
        return 0;
    return cli_takes_value(option) && !*rest ? 2 : 1;
}

static void keep_letter(char letter) {
    size_t len = strlen(letters);
    if (!strchr(letters, letter) && len + 1 < sizeof letters)
        letters[len] = letter;
}

/* The number of the word that names a plugin's command; argc if there is none. Other names of
 * attend are replaced by it. *ret_flags: it may be a flag of a plugin instead, which is known once
 * the plugins have declared theirs, and so is which word after it is the command. */
static int find_command(int argc, char **argv, bool *ret_flags) {
    static char attend[] = "attend";
    int at = 1;
    *ret_flags = false;
    while (at < argc && argv[at][0] == '-' && argv[at][1]) {
        if (strcmp(argv[at], "--") == 0)
            return argc;
        int width = width_of(argv[at]);
        *ret_flags = !width;
        if (!width)
            return at;
        if (argv[at][1] != '-')
            keep_letter(argv[at][1]);
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
    static char empty[] = "";
    static char mark[] = "--";
    cli_verb verb = cli_reginald;
    verb.run = run;
    bool flags;
    int at = find_command(argc, argv, &flags);
    bool marked = !flags && at + 1 < argc && strcmp(argv[at + 1], "--") == 0;
    if (at == argc || marked)
        return cli_verb_run(&verb, argc, argv);
    char **words = calloc((size_t)argc + 3, sizeof *words);
    if (!words)
        return cli_fail(CLI_NO_START, "out of memory");
    /* The word before the flags is empty if it is yet to be found among them. */
    int own = flags ? at : at + 1;
    int count = own;
    memcpy(words, argv, (size_t)own * sizeof *words);
    if (flags)
        words[count++] = empty;
    words[count++] = mark;
    memcpy(words + count, argv + own, (size_t)(argc - own) * sizeof *words);
    int code = cli_verb_run(&verb, count + argc - own, words);
    free(words);
    return code;
}
