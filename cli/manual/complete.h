/* complete.h: what the completions of all shells need to know of the tables. */
#ifndef CLI_COMPLETE_H
#define CLI_COMPLETE_H

#include "cli/options.h"

#include <duplex/base.h>

/* Where the values of an option come from, besides the words that its `value` names. */
typedef struct cli_sources {
    bool files;
    bool folders;
    bool protocols;
    bool verbs;
    const char *names; /* what `duplex --names` prints: "peers", "servers"; NULL: nothing */
} cli_sources;
cli_sources cli_sources_of(const cli_option *option);
/* The next of the words that are meant as they are: "auto" of "NAME|FILE|auto". */
bool cli_next_literal(const char **value, dx_text *ret_word);
/* All of them, a space between two. */
void cli_put_literals(FILE *out, const cli_option *option);

/* May it come again? */
bool cli_repeats(const cli_option *option);

/* What a verb's first word is, for the scripts: "files", "protocols", "methods", "verbs", "guides",
 * "peers", "servers" or "any"; and what the others are: "files", "peers", "servers", "methods" (of
 * the protocol that is the first) or "any". */
const char *cli_word_name(const cli_verb *verb);
const char *cli_more_name(const cli_verb *verb);

/* The subcommands of a verb, each in single quotes and with a space before it. Each is
 * WORDS:SOURCE:OPTIONS, "tools call:tools: --config -c --server": what its first argument is, and
 * the options that its --help lists. "tools call" comes before "tools", which has the options of
 * both. */
void cli_put_subcommands(FILE *out, const cli_verb *verb);

/* In single quotes, as sh and zsh read them. */
void cli_put_quoted(FILE *out, const char *text);

void cli_complete_bash(FILE *out);
void cli_complete_zsh(FILE *out);
void cli_complete_fish(FILE *out);

#endif
