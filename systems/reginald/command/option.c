#include "systems/reginald/command/option.h"

#include "cli/describe/nearest.h"
#include "cli/say.h"

#include <stdlib.h>
#include <string.h>

const cli_option *option_of_letter(char letter) {
    size_t len;
    const char *old = cli_old_name(&cli_reginald, letter, &len);
    const cli_option *option;
    for (size_t i = 0; (option = cli_option_at(&cli_reginald, i)); i++)
        if (option->letter == letter ||
            (old && strlen(option->name) == len && memcmp(option->name, old, len) == 0))
            return option;
    return NULL;
}

static size_t name_len(const char *word) {
    return word[1] == '-' ? strcspn(word, "=") : 2;
}

/* Does "--name", "--name=…" or "-n…" name it? */
static bool is_named(const char *word, const char *name, char letter) {
    size_t len = name_len(word);
    return word[1] == '-' ? strlen(name) == len - 2 && memcmp(word + 2, name, len - 2) == 0
                          : letter && word[1] == letter;
}

static bool is_own(const char *word) {
    const cli_option *option;
    if (word[1] != '-')
        return option_of_letter(word[1]);
    for (size_t i = 0; (option = cli_option_at(&cli_reginald, i)); i++)
        if (is_named(word, option->name, '\0'))
            return true;
    return false;
}

static const dx_reginald_entry *find(const dx_reginald_entry *entries, const char *word) {
    for (; entries && entries->value.key; entries++)
        if (entries->has_flag && is_named(word, flags_name(entries), entries->shorthand))
            return entries;
    return NULL;
}

/* A command that has this flag. */
static const dx_reginald_offer *command_with(const struct work *work, const char *word) {
    const dx_reginald_offer *offer;
    for (size_t i = 0; (offer = dx_reginald_offer_at(work->host, i)); i++)
        if (!offer->is_task && find(offer->settings, word))
            return offer;
    return NULL;
}

struct names {
    const struct work *work;
    const dx_reginald_offer *command;
};

/* The name of the flag with that number; else *index is less by the number of flags. */
static const char *flag_at(const dx_reginald_entry *entries, size_t *index) {
    for (; entries && entries->value.key; entries++)
        if (entries->has_flag && !(*index)--)
            return flags_name(entries);
    return NULL;
}

/* Flags of the command, those of plugins as a whole, then options of duplex reginald. */
static const char *name_at(const void *user, size_t index) {
    const struct names *names = user;
    dx_reginald_guest *guest;
    const char *name = flag_at(names->command ? names->command->settings : NULL, &index);
    for (size_t i = 0; !name && (guest = dx_reginald_guest_at(names->work->host, i)); i++)
        name = flag_at(dx_reginald_guest_settings(guest), &index);
    const cli_option *option = name ? NULL : cli_option_at(&cli_reginald, index);
    return option ? option->name : name;
}

char *option_hint(const struct work *work, const dx_reginald_offer *command, const char *word) {
    const dx_reginald_offer *owner = command ? NULL : command_with(work, word);
    struct names names = {work, command};
    char *name = strndup(word, name_len(word));
    char *hint = NULL;
    int len = -1;
    if (!name)
        return NULL;
    char *near = name[1] == '-' ? cli_nearest_of(name_at, &names, name + 2) : NULL;
    if (near)
        near[strcspn(near, ", ")] = '\0'; /* the best of them */
    if (is_own(word) && !command)
        len = asprintf(&hint, "options of duplex reginald go before flags of plugins");
    else if (strcmp(name, "--version") == 0)
        len = asprintf(&hint, "did you mean 'duplex --version'?");
    else if (owner)
        len = asprintf(&hint, "%s is a flag of %s; write it after the command", name, owner->name);
    else if (near && !is_own(word))
        len = asprintf(&hint, "did you mean --%s?", near);
    free(near);
    free(name);
    return len < 0 ? NULL : hint;
}

int option_refuse(const struct work *work, const char *word) {
    char *hint = option_hint(work, NULL, word);
    int code = cli_fail_hint(CLI_USAGE, hint ? hint : "'duplex reginald --help' lists the options",
                             "unknown option '%.*s': neither duplex reginald nor a plugin%s has it",
                             (int)name_len(word), word,
                             work_missing_code(work) == CLI_USAGE ? "" : " that started");
    free(hint);
    return code;
}

int option_refuse_dashes(void) {
    return cli_fail_hint(CLI_USAGE, "duplex reginald [OPTION...] COMMAND -- [ARG...]",
                         "missing command before '--'");
}

void option_warn_letters(const struct work *work) {
    dx_reginald_guest *guest;
    for (const char *letter = work->letters; *letter; letter++) {
        char word[3] = {'-', *letter, '\0'};
        const cli_option *option = option_of_letter(*letter);
        for (size_t i = 0; option && (guest = dx_reginald_guest_at(work->host, i)); i++) {
            const dx_reginald_entry *entry = find(dx_reginald_guest_settings(guest), word);
            if (entry)
                cli_warn("warning: %s before the command means --%s; for the flag of the plugin %s,"
                         " write %s after the command, or --%s",
                         word, option->name, dx_reginald_guest_name(guest), word,
                         flags_name(entry));
        }
    }
}
