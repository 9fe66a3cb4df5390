/* options.h: the options of a verb stand in one table; parsing, --help, the man page and the
 * completions are all made from it. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* What an option takes, and what its place in the verb's struct holds. */
typedef enum cli_kind {
    CLI_FLAG,     /* nothing: bool */
    CLI_TEXT,     /* any text: const char * */
    CLI_FILE,     /* a file: const char * */
    CLI_FOLDER,   /* a folder: const char * */
    CLI_PROTOCOL, /* NAME[@REVISION] or a file: const char * */
    CLI_CHOICE,   /* one of those in `value`, "a|b|c": const char * */
    CLI_MAYBE,    /* nothing (""), or "=" and one of those in `value`: const char * */
    CLI_COUNT,    /* a number: uint64_t */
    CLI_SIZE,     /* bytes, with k, M or G behind it: uint64_t */
    CLI_TIME,     /* 2, 2s, 500ms, 5m; never: uint64_t, in ms, CLI_NEVER; the help says what 0 is */
    CLI_LIMIT,    /* the same, but 0 is refused: nobody could meet it */
    CLI_TEXTS,    /* any text, as often as wanted: cli_list */
    CLI_FILES,    /* a file, as often as wanted: cli_list */
    CLI_NEXT      /* nothing: what follows are the words of another group */
} cli_kind;

#define CLI_NEVER UINT64_MAX

/* --total-timeout, which caps what progress can add: as given, or the default for a call that has
 * this --timeout. */
#define CLI_TOTAL_HELP                                                                             \
    "limit for a call as a whole, progress or not (10m, or --timeout if that is longer; never: no" \
    " limit)"
uint64_t cli_total(uint64_t given_ms, uint64_t timeout_ms);
/* --start-timeout: as given, or what the protocol has, or --timeout (0: not given) if that is
 * shorter; but 5 s at least, since starting a program takes time. */
uint64_t cli_start_time(uint64_t given_ms, uint64_t timeout_ms, uint64_t own_ms);
/* So long a peer that did not answer in time may take to leave. */
enum { CLI_LATE_LEAVE_MS = 400 };

typedef struct cli_list {
    const char **at;
    size_t count;
} cli_list;

typedef struct cli_option {
    const char *name; /* without the dashes; NULL ends a table */
    char letter;      /* 0: only the name */
    cli_kind kind;
    const char *value; /* what stands for its value in texts: "FILE" */
    const char *help;  /* one phrase, no capital, no full stop; what is the default in brackets */
    size_t offset;     /* where it goes in the verb's struct */
} cli_option;

/* Its texts with NULL behind them, to be freed (they are lent); NULL if there is no memory. */
const char **cli_ended(const cli_list *list);

/* Options that several verbs share, and where their struct lies in that of the verb. */
typedef struct cli_group {
    const char *title; /* "Options" */
    const cli_option *options;
    size_t offset;
} cli_group;

/* What is left when the options are taken out. */
typedef struct cli_words {
    char **at;          /* NULL at the end of each group */
    size_t count;       /* of the first group */
    const char **kinds; /* by the number of a group: the option that began it, NULL if none did */
    char **command;     /* what stands behind "--"; NULL if there is no "--" */
} cli_words;

/* The words of the group behind that at `group`; NULL if it is the last one. */
char **cli_next_group(const cli_words *words, char **group);

/* A subcommand, such as "tools call" of `duplex mcp`. */
typedef struct cli_subcommand {
    const char *name;    /* one or two words; NULL ends a table */
    const char *words;   /* what follows its name in a synopsis; each line is an alternative */
    const char *summary; /* as in cli_verb */
    const char *text;    /* as in cli_verb; may be NULL */
    const char *shown; /* the options that belong to it, as in cli_verb; NULL: those of the verb */
    const char *const *examples; /* as in cli_verb; may be NULL */
} cli_subcommand;

/* What is completed where a word is expected. */
typedef enum cli_word {
    CLI_ANY,
    CLI_A_FILE,
    CLI_A_PROTOCOL,
    CLI_A_METHOD,
    CLI_A_VERB,
    CLI_A_GUIDE,
    CLI_A_PEER,
    CLI_A_SERVER /* of the file that --config names */
} cli_word;

typedef struct cli_verb {
    const char *name;
    const char *words; /* as in a synopsis: "[OPTION...] METHOD [PARAMS]"; lines are alternatives */
    const char *summary; /* the first line of --help: imperative, a capital, no full stop */
    /* Paragraphs with an empty line between them; a line that begins with two spaces is not
     * wrapped. `text` is what a user must know and is in --help; `details` (may be NULL) is the
     * rest, in the man page and --help-all. */
    const char *text;
    const char *details;
    /* The options that --help lists, in this order: "protocol timeout record". --help-all and the
     * man page have all of them. NULL: --help has all of them, too. */
    const char *shown;
    const cli_subcommand *subcommands; /* may be NULL */
    /* Words that people try, and what they mean: "call", "tools call", …, NULL; may be NULL. */
    const char *const *guesses;
    /* The command itself: its commands in groups: the first of each, and the heading above it. */
    const char *const *headings;
    /* Letters that keep an old meaning in this command for one release, with a warning:
     * "c=connect p=progress"; may be NULL. */
    const char *old_letters;
    const cli_group *groups;     /* ends with a row of NULLs; CLI_COMMON comes by itself */
    const char *const *examples; /* what it does, how; in pairs, NULL at the end; may be NULL */
    const char *const
        *environment;  /* variables besides NO_COLOR and PATH: name, what for; as those */
    const char *codes; /* exit codes that it has besides 0, 2 and 130: "134" */
    cli_word word;     /* what its first word is */
    bool has_command;  /* "-- COMMAND [ARG...]" is completed as a command */
    bool is_program;   /* duplex-NAME runs it; this is only its table */
    size_t size;       /* of its struct */
    const void *usual; /* what that holds before the words are read; NULL: zeros */
    int (*run)(const cli_words *words, void *options);
} cli_verb;

/* What every verb has. */
typedef struct cli_common {
    bool help;
    bool help_all;
    bool json;
    const char *color;
} cli_common;
extern const cli_option cli_common_options[];

/* Parses, prints the help if that is asked for, runs. An exit code. */
int cli_verb_run(const cli_verb *verb, int argc, char **argv);

/* The help of a command, or of the subcommand that the words (may be NULL) name; `all`: with the
 * details and all options. An exit code: CLI_USAGE if there is no such subcommand. */
int cli_help(const cli_verb *verb, char *const *words, bool all, FILE *out);
/* The options of a command, those that all commands have included; NULL after the last. */
const cli_option *cli_option_at(const cli_verb *verb, size_t index);
/* Their names, for cli_nearest_of(). */
const char *cli_option_name_at(const void *verb, size_t index);

/* The name of the option that a letter meant until the last release; NULL: none. */
const char *cli_old_name(const cli_verb *verb, char letter, size_t *ret_len);

/* Reports a word that may have been meant as the server, and how to name one. CLI_USAGE. */
int cli_unexpected(const char *word);

/* What to do about a word that is wrong and may be the begin of a server's command line, because
 * "--" was forgotten: a hint, or NULL. */
const char *cli_program_hint(const char *word);
/* Reports a missing argument, with the synopsis of the command as a hint. CLI_USAGE. */
int cli_missing(const char *what);

/* Reports an unknown subcommand, and which one may have been meant. CLI_USAGE. */
int cli_unknown_subcommand(const cli_verb *verb, char *const *words);
/* The same for the first word after "duplex". */
int cli_unknown_command(const char *word);

/* Must a value follow it? With CLI_MAYBE one may, after "=". */
bool cli_takes_value(const cli_option *option);
/* Was it given? `options` is the struct that its table is of, `usual` that of its verb (NULL:
 * zeros); a number that is as usual was not. */
bool cli_is_set(const cli_option *option, const void *options, const void *usual);
/* Does a line of a verb's text stand as it is? */
bool cli_stands(const char *line);
/* An example as it is shown: with `folder` (NULL: none) for build/examples. To be freed. */
char *cli_help_example(const char *line, const char *folder);
/* How much of a line fits into so many columns if it is broken at a space outside quotes and
 * brackets; all of it if it has no such space. */
size_t cli_fold(const char *line, size_t len, size_t width);

#define CLI_STRICT_HELP                                                                            \
    "reject responses that most programs cannot read: half a UTF-16 surrogate pair (\"\\ud83d\")," \
    " or a number such as 1e400"

/* A row of every verb that starts programs, for cli_loop_new() in cli/subreaper.h. */
#define CLI_KEEP_DAEMONS(offset)                                                                  \
    {                                                                                             \
        "keep-daemons", 0, CLI_FLAG, NULL,                                                        \
            "leave daemons running: processes in a session of their own that outlive the program" \
            " (without this option, they are stopped and reported)",                              \
            offset                                                                                \
    }

/* Rows of every command that starts what is typed after "--": it gets the whole environment unless
 * --clean-env is given. What a configuration names gets the strict list. */
#define CLI_CLEAN_ENV(offset)                                                                \
    {                                                                                        \
        "clean-env", 0, CLI_FLAG, NULL,                                                      \
            "pass only HOME, LOGNAME, PATH, SHELL, TERM, USER, LANG and LC_* to the command" \
            " (without this option: the whole environment)",                                 \
            offset                                                                           \
    }
#define CLI_INHERIT_ENV(offset) \
    { "inherit-env", 0, CLI_FLAG, NULL, "pass the whole environment (now the default)", offset }

/* How a command is started; a group of options that several verbs have. */
typedef struct cli_start {
    cli_list env;     /* added to the environment */
    bool clean_env;   /* … which is the strict list */
    bool inherit_env; /* the default; accepted with a warning */
    const char *cwd;  /* NULL: here */
    bool keep_daemons;
} cli_start;
extern const cli_option cli_start_table[];
bool cli_start_is_given(const cli_start *start);

/* "5s", "500ms", "never" and so on; false if it is none. */
bool cli_parse_time(const char *text, uint64_t *ret_ms);
bool cli_parse_size(const char *text, uint64_t *ret);
/* Checks --env (NAME=VALUE), that --clean-env and --inherit-env are not both given, and warns that
 * the latter is the default. Returns an exit code; what is wrong is reported. */
int cli_check_env(const cli_list *env, bool clean, bool inherit);
int cli_check_start(const cli_start *start);

/* The command itself, in the form of a verb without a name. */
extern const cli_verb cli_command;
/* All verbs, in the order of the help; ends with NULL. */
extern const cli_verb *const cli_verbs[];
const cli_verb *cli_find_verb(const char *name);

/* What each exit code means; NULL if it is none. */
const char *cli_code_text(int code);

/* The generators: the man page of a verb (NULL: of the command), and the completions of a shell
 * ("bash", "zsh", "fish"); false if there is no such shell. */
void cli_manual(const cli_verb *verb, FILE *out);
bool cli_completion(const char *shell, FILE *out);

#endif
