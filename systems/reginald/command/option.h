/* option.h: options that nobody knows, and letters that two know. */
#ifndef REGINALD_OPTION_H
#define REGINALD_OPTION_H

#include "systems/reginald/command/work.h"

/* The option of duplex reginald that a letter means; also until the last release. NULL: none. */
const cli_option *option_of_letter(char letter);

/* What may be meant by an option before a command (`command` NULL) or after it, or what to do about
 * it, for a hint; to be freed. NULL: nothing is known. */
char *option_hint(const struct work *work, const dx_reginald_offer *command, const char *word);
/* Reports an option before the command that nobody has. CLI_USAGE. */
int option_refuse(const struct work *work, const char *word);
/* Reports that no command stands before "--". CLI_USAGE. */
int option_refuse_dashes(void);
/* Letters before the command that plugins have, too: says what they meant. */
void option_warn_letters(const struct work *work);

#endif
