#include "cli/options.h"

#include "cli/describe/nearest.h"
#include "cli/output.h"
#include "cli/say.h"
#include "cli/start_hint.h"
#include "cli/subreaper.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define AT(member) offsetof(cli_common, member)

const cli_option cli_common_options[] = {
    {"json", 0, CLI_FLAG, NULL, "print JSON, one object per line, errors too", AT(json)},
    {"color", 0, CLI_CHOICE, "auto|always|never",
     "colour (auto: on a terminal, unless NO_COLOR is set)", AT(color)},
    {"help", 'h', CLI_FLAG, NULL, "show this help", AT(help)},
    {"help-all", 0, CLI_FLAG, NULL, "show all options and all details", AT(help_all)},
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

char **cli_next_group(const cli_words *words, char **group) {
    (void)words;
    while (*group)
        group++;
    /* Behind the last group stands another NULL. */
    return group[1] ? group + 1 : NULL;
}

const char *cli_code_text(int code) {
    switch (code) {
    case CLI_OK:
        return "success";
    case CLI_REFUSED:
        return "the peer responded with an error";
    case CLI_USAGE:
        return "invalid usage, or a file that cannot be read";
    case CLI_NO_START:
        return "the peer cannot be started or reached";
    case CLI_ENDED:
        return "the peer exited or closed the connection";
    case CLI_LATE:
        return "a timeout expired; the message says which";
    case CLI_VIOLATION:
        return "the peer violated the protocol";
    case CLI_MISFIT:
        return "something does not match its schema or protocol";
    case CLI_BROKEN:
        return "a part of it failed";
    case CLI_INTERRUPTED:
        return "interrupted";
    default:
        return NULL;
    }
}

const cli_verb *cli_find_verb(const char *name) {
    for (const cli_verb *const *verb = cli_verbs; *verb; verb++)
        if (strcmp((*verb)->name, name) == 0)
            return *verb;
    return NULL;
}

/* A number and the unit behind it, which is one of `units`; the number of the unit, or -1. */
static int number_and_unit(const char *text, const char *const *units, uint64_t *ret) {
    char *end;
    if (*text < '0' || *text > '9')
        return -1;
    errno = 0;
    *ret = strtoull(text, &end, 10);
    for (int i = 0; errno == 0 && units[i]; i++)
        if (strcmp(end, units[i]) == 0)
            return i;
    return -1;
}

bool cli_parse_time(const char *text, uint64_t *ret_ms) {
    static const char *const units[] = {"", "s", "ms", "m", "h", NULL};
    static const uint64_t factors[] = {1000, 1000, 1, 60000, 3600000};
    uint64_t number;
    if (strcmp(text, "never") == 0) {
        *ret_ms = CLI_NEVER;
        return true;
    }
    int unit = number_and_unit(text, units, &number);
    if (unit < 0 || number > UINT64_MAX / 2 / factors[unit])
        return false;
    /* 0 is what an option has that was not given; no time at all is the shortest there is. */
    *ret_ms = number ? number * factors[unit] : 1;
    return true;
}

bool cli_parse_size(const char *text, uint64_t *ret) {
    static const char *const units[] = {"", "k", "M", "G", NULL};
    uint64_t number;
    int unit = number_and_unit(text, units, &number);
    if (unit < 0 || number > UINT64_MAX >> 31)
        return false;
    *ret = number << (10 * unit);
    return true;
}

uint64_t cli_total(uint64_t given_ms, uint64_t timeout_ms) {
    enum { TOTAL_MS = 600000 };
    if (given_ms)
        return given_ms;
    return timeout_ms != CLI_NEVER && timeout_ms > TOTAL_MS ? timeout_ms : TOTAL_MS;
}

uint64_t cli_start_time(uint64_t given_ms, uint64_t timeout_ms, uint64_t own_ms) {
    enum { LEAST_MS = 5000 };
    uint64_t limit = timeout_ms < LEAST_MS ? LEAST_MS : timeout_ms;
    return given_ms ? given_ms : timeout_ms && limit < own_ms ? limit : own_ms;
}

const cli_option cli_start_table[] = {
    {"env", 'e', CLI_TEXTS, "NAME=VALUE", "set a variable for the command; may be repeated",
     offsetof(cli_start, env)},
    CLI_CLEAN_ENV(offsetof(cli_start, clean_env)),
    CLI_INHERIT_ENV(offsetof(cli_start, inherit_env)),
    {"cwd", 0, CLI_FOLDER, "FOLDER", "run the command in FOLDER", offsetof(cli_start, cwd)},
    CLI_KEEP_DAEMONS(offsetof(cli_start, keep_daemons)),
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

const char **cli_ended(const cli_list *list) {
    const char **copy = calloc(list->count + 1, sizeof *copy);
    for (size_t i = 0; copy && i < list->count; i++)
        copy[i] = list->at[i];
    return copy;
}

bool cli_start_is_given(const cli_start *start) {
    return start->env.count || start->clean_env || start->inherit_env || start->cwd ||
           start->keep_daemons;
}

bool cli_takes_value(const cli_option *option) {
    return option->kind != CLI_FLAG && option->kind != CLI_NEXT && option->kind != CLI_MAYBE;
}

bool cli_is_set(const cli_option *option, const void *options, const void *usual) {
    const void *place = (const char *)options + option->offset;
    const void *before = usual ? (const char *)usual + option->offset : NULL;
    switch (option->kind) {
    case CLI_FLAG:
        return *(const bool *)place;
    case CLI_TEXTS:
    case CLI_FILES:
        return ((const cli_list *)place)->count;
    case CLI_COUNT:
    case CLI_SIZE:
    case CLI_TIME:
    case CLI_LIMIT:
        return *(const uint64_t *)place != (before ? *(const uint64_t *)before : 0);
    default:
        return *(const char *const *)place;
    }
}

/* Parsing. */

struct parse {
    const cli_verb *verb;
    char *options; /* the verb's struct; the common ones stand apart */
    const cli_words *words;
    cli_common common;
};

static const cli_option *find_in(const cli_option *options, const char *name, size_t len,
                                 char letter) {
    for (; options->name; options++)
        if (letter ? options->letter == letter
                   : strlen(options->name) == len && memcmp(options->name, name, len) == 0)
            return options;
    return NULL;
}

/* Its row, and where its value goes. */
static const cli_option *find(struct parse *parse, const char *name, size_t len, char letter,
                              void **ret_place) {
    const cli_option *option = find_in(cli_common_options, name, len, letter);
    if (option) {
        *ret_place = (char *)&parse->common + option->offset;
        return option;
    }
    for (const cli_group *group = parse->verb->groups; group && group->options; group++) {
        option = find_in(group->options, name, len, letter);
        if (option) {
            *ret_place = parse->options + group->offset + option->offset;
            return option;
        }
    }
    return NULL;
}

const char *cli_option_name_at(const void *verb, size_t index) {
    const cli_option *option = cli_option_at(verb, index);
    return option ? option->name : NULL;
}

/* Options that people try, and what they are called here. */
static const char *const guesses[][2] = {
    {"--verbose", "show"},   {"-v", "show"},           {"--trace", "record"},
    {"--output", "record"},  {"--out", "record"},      {"--log", "record"},
    {"--dir", "cwd"},        {"--directory", "cwd"},   {"--environment", "env"},
    {"--socket", "connect"}, {"--address", "connect"}, {"--server", "in"},
    {"--name", "in"},
};

static char *guess_option(const cli_verb *verb, const char *word) {
    const char *name;
    for (size_t i = 0; i < sizeof guesses / sizeof guesses[0]; i++)
        for (size_t k = 0; strcmp(guesses[i][0], word) == 0 && (name = cli_option_name_at(verb, k));
             k++)
            if (strcmp(name, guesses[i][1]) == 0)
                return strdup(name);
    return word[1] == '-' ? cli_nearest_of(cli_option_name_at, verb, word + 2) : NULL;
}

/* "mcp ping" if "ping" was typed before the option, or "mcp". */
static void help_name(const struct parse *parse, char name[80]) {
    const char *first = parse->words->at[0];
    const cli_subcommand *row = first ? parse->verb->subcommands : NULL;
    while (row && row->name && strcmp(row->name, first) != 0)
        row++;
    snprintf(name, 80, "%s%s%s", parse->verb->name, row && row->name ? " " : "",
             row && row->name ? row->name : "");
}

static int refuse_option(const struct parse *parse, const char *word, size_t len) {
    const cli_verb *verb = parse->verb;
    char name[80];
    char help[80];
    char hint[160];
    help_name(parse, help);
    snprintf(name, sizeof name, "%.*s", (int)(len < sizeof name ? len : sizeof name - 1), word);
    if (strcmp(name, "--version") == 0)
        return cli_fail_hint(CLI_USAGE, "did you mean 'duplex --version'?", "unknown option '%s'",
                             name);
    char *near = guess_option(verb, name);
    if (near)
        near[strcspn(near, ", ")] = '\0'; /* the best of them */
    snprintf(hint, sizeof hint,
             near ? "did you mean --%s?" : "'duplex %s --help' lists the options",
             near ? near : help);
    free(near);
    return cli_fail_hint(CLI_USAGE, hint, "unknown option '%s'", name);
}

static bool is_choice(const char *choices, const char *word) {
    size_t len = strlen(word);
    while (*choices) {
        size_t one = strcspn(choices, "|");
        if (one == len && memcmp(choices, word, len) == 0)
            return true;
        choices += one + (choices[one] == '|');
    }
    return false;
}

static bool add_to(cli_list *list, const char *value) {
    const char **more = realloc(list->at, (list->count + 1) * sizeof *more);
    if (!more)
        return false;
    list->at = more;
    list->at[list->count++] = value;
    return true;
}

/* Is it "0", "0s" and so on? */
static bool is_no_time(const char *value) {
    uint64_t ms;
    return cli_parse_time(value, &ms) && ms == 1 && !strtoull(value, NULL, 10);
}

static bool is_url(const char *word) {
    static const char *const schemes[] = {"http://", "https://", "ws://", "wss://"};
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++)
        if (strncasecmp(word, schemes[i], strlen(schemes[i])) == 0)
            return true;
    return false;
}

/* What to do about a URL where a server's command line, or an address, is expected. */
static void url_hint(const char *url, char hint[300]) {
    snprintf(hint, 300,
             "put a local program after --; for a remote MCP server: -- npx -y mcp-remote %.200s",
             url);
}

static int refuse_url(const char *url, const char *what) {
    char hint[300];
    url_hint(url, hint);
    return cli_fail_hint(CLI_USAGE, hint, "'%s' is a URL, not %s", url, what);
}

static bool take(const cli_option *option, const char *value, void *place) {
    static const char *const units[] = {"", NULL};
    switch (option->kind) {
    case CLI_FLAG:
        *(bool *)place = true;
        return true;
    case CLI_CHOICE:
        if (!is_choice(option->value, value))
            return false;
        *(const char **)place = value;
        return true;
    case CLI_MAYBE:
        if (value && !is_choice(option->value, value))
            return false;
        *(const char **)place = value ? value : "";
        return true;
    case CLI_COUNT:
        return number_and_unit(value, units, place) == 0;
    case CLI_SIZE:
        return cli_parse_size(value, place);
    case CLI_TIME:
        return cli_parse_time(value, place);
    case CLI_LIMIT:
        return !is_no_time(value) && cli_parse_time(value, place);
    case CLI_TEXTS:
    case CLI_FILES:
        return add_to(place, value);
    case CLI_NEXT:
        return true;
    default:
        *(const char **)place = value;
        return true;
    }
}

static int refuse_value(const cli_option *option, const char *value) {
    bool is_time = option->kind == CLI_TIME || option->kind == CLI_LIMIT;
    const char *what = is_time                     ? "a time (2s, 500ms, 5m, never)"
                       : option->kind == CLI_SIZE  ? "a size (4096, 64k, 16M)"
                       : option->kind == CLI_COUNT ? "a number"
                                                   : option->value;
    if (option->kind == CLI_LIMIT && is_no_time(value))
        return cli_fail(CLI_USAGE, "--%s: 0 leaves no time; pass a longer time, or never",
                        option->name);
    return cli_fail(CLI_USAGE, "--%s: expected %s, got '%s'", option->name, what, value);
}

const char *cli_old_name(const cli_verb *verb, char letter, size_t *ret_len) {
    const char *row = verb->old_letters;
    while (row && (row[0] != letter || row[1] != '=')) {
        row = strchr(row, ' ');
        row += row != NULL;
    }
    *ret_len = row ? strcspn(row + 2, " ") : 0;
    return row ? row + 2 : NULL;
}

/* The option that a letter meant until the last release, with a warning. */
static const cli_option *find_old(struct parse *parse, char letter, void **ret_place) {
    size_t len;
    const char *name = cli_old_name(parse->verb, letter, &len);
    const cli_option *option = name ? find(parse, name, len, '\0', ret_place) : NULL;
    if (option)
        cli_warn("warning: -%c will not mean --%s in the next release; write --%s", letter,
                 option->name, option->name);
    return option;
}

/* One word that begins with a dash; *ret_next: its name, if the words of another group follow. */
static int take_option(struct parse *parse, char **argv, int *at, const char **ret_next) {
    const char *word = argv[*at];
    bool is_long = word[1] == '-';
    const char *name = word + (is_long ? 2 : 1);
    size_t len = is_long ? strcspn(name, "=") : 1;
    const char *value = name[len] ? name + len + (is_long ? 1 : 0) : NULL;
    void *place;
    const cli_option *option = is_long ? NULL : find_old(parse, name[0], &place);
    if (!option)
        option = find(parse, name, len, is_long ? '\0' : name[0], &place);
    if (!option)
        return refuse_option(parse, word, len + (is_long ? 2 : 1));
    if (value && !cli_takes_value(option) && option->kind != CLI_MAYBE)
        return cli_fail(CLI_USAGE, "--%s does not take a value", option->name);
    if (!value && cli_takes_value(option)) {
        value = argv[*at + 1];
        if (!value || strcmp(value, "--") == 0)
            return cli_fail(CLI_USAGE, "--%s needs a value: %s", option->name, option->value);
        ++*at;
    }
    *ret_next = option->kind == CLI_NEXT ? option->name : NULL;
    if (strcmp(option->name, "connect") == 0 && is_url(value))
        return refuse_url(value, "an address");
    return take(option, value, place) ? CLI_OK : refuse_value(option, value);
}

static void set_voice(const struct parse *parse) {
    const char *color = parse->common.color ? parse->common.color : "auto";
    const char *no = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");
    bool plain = (no && *no) || (terminal && strcmp(terminal, "dumb") == 0);
    bool never = strcmp(color, "never") == 0 || (strcmp(color, "auto") == 0 && plain);
    bool always = strcmp(color, "always") == 0;
    cli_voice.json = parse->common.json;
    cli_voice.terminal = !parse->common.json && isatty(1);
    cli_voice.colour_out = !parse->common.json && !never && (always || isatty(1));
    cli_voice.colour_err = !never && (always || isatty(2));
}

/* The words are put into `words->at`, which has room for all of them and two NULLs. */
static int parse_all(struct parse *parse, int argc, char **argv, cli_words *words) {
    size_t count = 0;
    size_t group = 0;
    for (int i = 1; i < argc; i++) {
        const char *next = NULL;
        if (strcmp(argv[i], "--") == 0) {
            words->command = argv + i + 1;
            break;
        }
        if (argv[i][0] == '-' && argv[i][1]) {
            int code = take_option(parse, argv, &i, &next);
            if (code != CLI_OK)
                return code;
        } else {
            words->at[count++] = argv[i];
            words->count += !group;
        }
        bool empty = !count || !words->at[count - 1];
        /* An empty group would end the list of them, and what follows it be lost. */
        if (next && empty && (group || words->kinds[0]))
            return cli_fail(CLI_USAGE, "missing argument before %s", argv[i]);
        if (next && !empty) {
            words->at[count++] = NULL;
            group++;
        }
        if (next)
            words->kinds[group] = next;
    }
    if (words->kinds[group] && (!count || !words->at[count - 1]))
        return cli_fail(CLI_USAGE, "missing argument after --%s", words->kinds[group]);
    words->at[count] = words->at[count + 1] = NULL;
    return CLI_OK;
}

static void free_lists(const cli_verb *verb, char *options) {
    for (const cli_group *group = verb->groups; group && group->options; group++)
        for (const cli_option *option = group->options; option->name; option++)
            if (option->kind == CLI_TEXTS || option->kind == CLI_FILES)
                free(((cli_list *)(void *)(options + group->offset + option->offset))->at);
}

static bool wants_json(int argc, char **argv) {
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--json") == 0)
            return true;
    return false;
}

/* A URL after "--" would be looked for as a program, and no command that starts a server and has no
 * subcommands takes one before it. */
static int check_command(const cli_verb *verb, const cli_words *words) {
    const char *word = words->command ? words->command[0] : NULL;
    if (!words->command && verb->has_command && !verb->subcommands && words->count)
        word = words->at[words->count - 1];
    return word && is_url(word) ? refuse_url(word, "a command") : CLI_OK;
}

static const char after_dashes[] = "put the server's command line after --";

int cli_unexpected(const char *word) {
    char hint[300];
    url_hint(word, hint);
    return cli_fail_hint(CLI_USAGE, is_url(word) ? hint : after_dashes, "unexpected argument '%s'",
                         word);
}

/* What is run, and whether it may still lack the command line of a server. */
static struct {
    const cli_verb *verb;
    bool lacks_command;
} current;

/* A text, or NULL if it was not given. */
static const char *text_of(struct parse *parse, const char *name) {
    void *place = NULL;
    bool found = find(parse, name, strlen(name), '\0', &place);
    return found && place ? *(const char *const *)place : NULL;
}

/* Where does the server come from? */
static void look_for_server(struct parse *parse, const cli_words *words) {
    const char *config = text_of(parse, "config");
    current.verb = parse->verb;
    current.lacks_command = parse->verb->has_command && !words->command && !config &&
                            !text_of(parse, "in") && !text_of(parse, "connect");
    cli_voice.configured = config && !words->command;
}

const char *cli_program_hint(const char *word) {
    return current.lacks_command && cli_is_program(word, strlen(word)) ? after_dashes : NULL;
}

/* The synopsis of what is run: of a subcommand, if cli_voice names one. */
static const char *synopsis(void) {
    const cli_verb *verb = current.verb;
    size_t len = verb ? strlen(verb->name) : 0;
    const char *name = len && strlen(cli_voice.verb) > len ? cli_voice.verb + len + 1 : "";
    for (const cli_subcommand *row = verb ? verb->subcommands : NULL; row && row->name; row++)
        if (strcmp(row->name, name) == 0)
            return row->words;
    return verb ? verb->words : "";
}

int cli_missing(const char *what) {
    char hint[300];
    const char *words = synopsis();
    snprintf(hint, sizeof hint, "duplex %s %.*s", cli_voice.verb, (int)strcspn(words, "\n"), words);
    return cli_fail_hint(CLI_USAGE, hint, "missing %s", what);
}

int cli_verb_run(const cli_verb *verb, int argc, char **argv) {
    cli_words words = {.at = calloc((size_t)argc + 2, sizeof(char *)),
                       .kinds = calloc((size_t)argc + 1, sizeof(char *))};
    struct parse parse = {
        .verb = verb, .options = calloc(1, verb->size ? verb->size : 1), .words = &words};
    if (parse.options && verb->usual)
        memcpy(parse.options, verb->usual, verb->size);
    cli_output_guard();
    cli_voice.verb = verb->name;
    cli_voice.json = wants_json(argc, argv); /* for what is wrong with the words themselves */
    int code = parse.options && words.at && words.kinds ? parse_all(&parse, argc, argv, &words)
                                                        : cli_fail(CLI_NO_START, "out of memory");
    if (code == CLI_OK) {
        set_voice(&parse);
        look_for_server(&parse, &words);
        bool help = parse.common.help || parse.common.help_all;
        code = help ? cli_help(verb, words.at, parse.common.help_all, stdout)
                    : check_command(verb, &words);
        if (code == CLI_OK && !help)
            code = cli_subreaper_finish(verb->run(&words, parse.options));
    }
    if (parse.options)
        free_lists(verb, parse.options);
    free(parse.options);
    free(words.at);
    free(words.kinds);
    return cli_finish(code);
}

int cli_check_env(const cli_list *env, bool clean, bool inherit) {
    for (size_t i = 0; i < env->count; i++) {
        const char *equals = strchr(env->at[i], '=');
        if (!equals || equals == env->at[i])
            return cli_fail(CLI_USAGE, "--env: expected NAME=VALUE, got '%s'", env->at[i]);
    }
    if (clean && inherit)
        return cli_fail(CLI_USAGE, "--clean-env and --inherit-env cannot be used together");
    if (inherit)
        cli_warn("warning: --inherit-env is now the default and will be removed");
    return CLI_OK;
}

int cli_check_start(const cli_start *start) {
    return cli_check_env(&start->env, start->clean_env, start->inherit_env);
}
