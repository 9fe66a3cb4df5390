/* duplex-reginald: what `duplex reginald` runs. */
#include "systems/reginald/command/work.h"

#include "cli/describe/nearest.h"
#include "cli/say.h"

#include <stdlib.h>
#include <string.h>

const cli_verb *const cli_verbs[] = {&cli_reginald, NULL};
/* There is no command above it here. */
const cli_verb cli_command = {.name = "", .words = ""};

static int run(const cli_words *words, void *user) {
    const struct reginald_options *options = user;
    const char *word = words->at[0];
    if (words->count == 1 && !*word && !words->command)
        return cli_fail(CLI_USAGE, "the name of the command is empty");
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

static const char *option_at(const void *nothing, size_t index) {
    const cli_option *option = cli_option_at(&cli_reginald, index);
    (void)nothing;
    return option ? option->name : NULL;
}

/* May it be a flag of a plugin as a whole, and not an option that was mistyped? */
static bool is_plugins(const char *word) {
    char *near = strncmp(word, "--", 2) == 0 ? cli_nearest_of(option_at, NULL, word + 2) : NULL;
    bool may_be = strcmp(word, "--") != 0 && !near;
    free(near);
    return may_be;
}

/* The number of the word that names a plugin's command; argc if there is none. Other names of
 * attend are replaced by it. *ret_flags: it is a flag of a plugin instead, and only that plugin
 * knows which word after it is the command. */
static int find_command(int argc, char **argv, bool *ret_flags) {
    static char attend[] = "attend";
    int at = 1;
    *ret_flags = false;
    while (at < argc && argv[at][0] == '-' && argv[at][1]) {
        int width = strcmp(argv[at], "--") == 0 ? 0 : width_of(argv[at]);
        *ret_flags = !width && is_plugins(argv[at]);
        if (!width)
            return *ret_flags ? at : argc;
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
