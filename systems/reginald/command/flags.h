/* flags.h: the words behind the name of a command, of which its plugin says what they mean. */
#ifndef REGINALD_FLAGS_H
#define REGINALD_FLAGS_H

#include <duplex/reginald.h>

#include <stdbool.h>

struct flags {
    char **words; /* NULL at the end */
    size_t count;
    bool *used; /* by the number of a word: a plugin as a whole has taken it */
};

/* words may be NULL. False without memory. */
bool flags_init(struct flags *flags, char **words);
void flags_done(struct flags *flags);

size_t flags_count(const dx_reginald_entry *entries);
const char *flags_name(const dx_reginald_entry *entry);

/* What the words say about the settings of a plugin as a whole: a text for each of them, NULL where
 * none is given, to be freed. Words that mean nothing to it are passed over: they are a command's,
 * or another plugin's. NULL without memory. */
const char **flags_scan(struct flags *flags, const dx_reginald_entry *entries);

/* What they say to a command, and to its plugin, whose flags may stand there, too. */
struct flags_taken {
    const char **given; /* as of flags_scan() */
    const char **words; /* that are no flags, NULL at the end */
    size_t word_count;
    bool help;
    const char *unknown; /* a flag that neither has: CLI_USAGE, and to be reported; else NULL */
};
/* An exit code. */
int flags_take(const struct flags *flags, const char *command, const dx_reginald_entry *own,
               const dx_reginald_entry *of_plugin, struct flags_taken *ret_taken);
void flags_taken_done(struct flags_taken *taken);

/* The command after flags of plugins as a whole, which is taken out of the words; NULL if there is
 * none. *ret_unknown: a flag before it that flags_scan() has not used, else NULL. */
const char *flags_find_command(struct flags *flags, const char **ret_unknown);

/* Without a command there is nobody but plugins as a whole to take them: is one left? An exit code.
 */
int flags_check_used(const struct flags *flags);

#endif
