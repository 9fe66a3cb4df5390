#include "systems/reginald/command/flags.h"

#include "cli/say.h"

#include <stdlib.h>
#include <string.h>

bool flags_init(struct flags *flags, char **words) {
    *flags = (struct flags){.words = words};
    while (words && words[flags->count])
        flags->count++;
    flags->used = calloc(flags->count + 1, sizeof *flags->used);
    return flags->used != NULL;
}

void flags_done(struct flags *flags) {
    free(flags->used);
    *flags = (struct flags){NULL, 0, NULL};
}

size_t flags_count(const dx_reginald_entry *entries) {
    size_t count = 0;
    while (entries && entries[count].value.key)
        count++;
    return count;
}

const char *flags_name(const dx_reginald_entry *entry) {
    return entry->flag && *entry->flag ? entry->flag : entry->value.key;
}

static bool is_flag(const char *word) {
    return word[0] == '-' && word[1];
}

/* The setting that a word names; *ret_value: what stands in the same word, or NULL. A boolean needs
 * no value, and has none behind its letter. */
static const dx_reginald_entry *match(const dx_reginald_entry *entries, const char *word,
                                      const char **ret_value) {
    bool is_long = word[1] == '-';
    const char *name = word + 2;
    size_t len = strcspn(name, "=");
    for (; entries && entries->value.key; entries++) {
        if (!entries->has_flag)
            continue;
        const char *own = flags_name(entries);
        bool is_bool = entries->value.type == DX_REGINALD_BOOL;
        if (is_long && strlen(own) == len && memcmp(own, name, len) == 0) {
            *ret_value = name[len] ? name + len + 1 : is_bool ? "true" : NULL;
            return entries;
        }
        if (!is_long && entries->shorthand && entries->shorthand == word[1] &&
            !(is_bool && word[2])) {
            *ret_value = is_bool ? "true" : word[2] ? word + 2 : NULL;
            return entries;
        }
    }
    return NULL;
}

const char **flags_scan(struct flags *flags, const dx_reginald_entry *entries) {
    const char **given = calloc(flags_count(entries) + 1, sizeof *given);
    for (size_t i = 0; given && i < flags->count; i++) {
        const char *word = flags->words[i];
        const char *value = NULL;
        if (strcmp(word, "--") == 0)
            break;
        const dx_reginald_entry *entry = is_flag(word) ? match(entries, word, &value) : NULL;
        if (!entry)
            continue;
        flags->used[i] = true;
        if (!value && i + 1 < flags->count) {
            value = flags->words[++i];
            flags->used[i] = true;
        }
        /* One without a value is refused as an empty one. */
        given[entry - entries] = value ? value : "";
    }
    return given;
}

/* The word at *at, and its value if that is the next one. */
static int take_flag(const struct flags *flags, size_t *at, const char *command,
                     const dx_reginald_entry *own, const dx_reginald_entry *of_plugin,
                     struct flags_taken *taken) {
    const char *word = flags->words[*at];
    const char *value = NULL;
    const dx_reginald_entry *entry = match(own, word, &value);
    bool is_own = entry != NULL;
    if (!entry)
        entry = match(of_plugin, word, &value);
    if (!entry && (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)) {
        taken->help = true;
        return CLI_OK;
    }
    if (!entry && flags->used[*at]) {
        /* Another plugin's as a whole; its value may be the next word. */
        *at += *at + 1 < flags->count && flags->used[*at + 1] && !is_flag(flags->words[*at + 1]);
        return CLI_OK;
    }
    if (!entry) {
        taken->unknown = word;
        return CLI_USAGE;
    }
    if (!value && *at + 1 >= flags->count)
        return cli_fail(CLI_USAGE, "%s: %s needs a value", command, word);
    bool is_next = !value;
    if (is_next)
        value = flags->words[++*at];
    /* Plugins as a whole look for their flags before anybody knows those of the command. */
    if (is_own && is_next && is_flag(value) && flags->used[*at])
        return cli_fail(CLI_USAGE,
                        "%s: '%s' is both the value of %s and a flag of a plugin; write --%s=%s",
                        command, value, word, flags_name(entry), value);
    if (is_own)
        taken->given[entry - own] = value;
    return CLI_OK;
}

int flags_take(const struct flags *flags, const char *command, const dx_reginald_entry *own,
               const dx_reginald_entry *of_plugin, struct flags_taken *ret_taken) {
    int code = CLI_OK;
    bool only_words = false;
    *ret_taken =
        (struct flags_taken){.given = calloc(flags_count(own) + 1, sizeof *ret_taken->given),
                             .words = calloc(flags->count + 1, sizeof *ret_taken->words)};
    if (!ret_taken->given || !ret_taken->words)
        return cli_fail(CLI_NO_START, "out of memory");
    for (size_t i = 0; i < flags->count && code == CLI_OK; i++) {
        const char *word = flags->words[i];
        if (!only_words && strcmp(word, "--") == 0)
            only_words = true;
        else if (!only_words && is_flag(word))
            code = take_flag(flags, &i, command, own, of_plugin, ret_taken);
        else
            ret_taken->words[ret_taken->word_count++] = word;
    }
    return code;
}

void flags_taken_done(struct flags_taken *taken) {
    free(taken->given);
    free(taken->words);
    *taken = (struct flags_taken){.given = NULL};
}

const char *flags_find_command(struct flags *flags, const char **ret_unknown) {
    size_t at = 0;
    while (at < flags->count && flags->used[at])
        at++;
    *ret_unknown = NULL;
    if (at == flags->count)
        return NULL;
    const char *word = flags->words[at];
    if (is_flag(word)) {
        *ret_unknown = word;
        return NULL;
    }
    size_t behind = flags->count - at; /* the NULL at the end included */
    memmove(flags->words + at, flags->words + at + 1, behind * sizeof *flags->words);
    memmove(flags->used + at, flags->used + at + 1, behind * sizeof *flags->used);
    flags->count--;
    return word;
}

int flags_check_used(const struct flags *flags) {
    for (size_t i = 0; i < flags->count; i++)
        if (!flags->used[i])
            return cli_fail(CLI_USAGE, "unknown flag '%s': no plugin has it", flags->words[i]);
    return CLI_OK;
}
