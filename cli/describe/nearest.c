#include "cli/describe/nearest.h"

#include "cli/options.h"
#include "cli/say.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <yyjson.h>

/* Names of messages are not longer; nor is what is compared with them. */
enum { NAME_MAX_LEN = 256, NAMED = 3 };

static bool same_letter(char one, char other) {
    return tolower((unsigned char)one) == tolower((unsigned char)other);
}

/* How many letters must be changed, inserted, left out or swapped with their neighbour to turn one
 * into the other. */
static size_t distance(const char *one, const char *other) {
    size_t rows[3][NAME_MAX_LEN + 1]; /* of this letter of `one` and of the two before it */
    size_t *now = rows[0];
    size_t *before = rows[1];
    size_t *earlier = rows[2];
    size_t len = strlen(other);
    for (size_t i = 0; i <= len; i++)
        now[i] = i;
    for (size_t i = 0; one[i]; i++) {
        size_t *oldest = earlier;
        earlier = before;
        before = now;
        now = oldest;
        now[0] = i + 1;
        for (size_t k = 0; k < len; k++) {
            size_t best = before[k] + !same_letter(one[i], other[k]);
            bool swapped =
                i && k && same_letter(one[i], other[k - 1]) && same_letter(one[i - 1], other[k]);
            if (now[k] + 1 < best)
                best = now[k] + 1;
            if (before[k + 1] + 1 < best)
                best = before[k + 1] + 1;
            if (swapped && earlier[k - 1] + 1 < best)
                best = earlier[k - 1] + 1;
            now[k + 1] = best;
        }
    }
    return now[len];
}

/* The words of a name: "tools/list", "listTools" and "list_tools" have two. */
struct parts {
    const char *at[6];
    size_t len[6];
    size_t count;
};

static bool split(const char *name, struct parts *parts) {
    *parts = (struct parts){.count = 0};
    for (const char *c = name; *c; c++) {
        bool begins = !parts->count || !isalnum((unsigned char)c[-1]) ||
                      (isupper((unsigned char)*c) && islower((unsigned char)c[-1]));
        if (!isalnum((unsigned char)*c))
            continue;
        if (begins && parts->count == sizeof parts->at / sizeof parts->at[0])
            return false;
        if (begins)
            parts->at[parts->count++] = c;
        parts->len[parts->count - 1]++;
    }
    return parts->count > 1;
}

/* Are the words the same, in any order? */
static bool same_words(const char *one, const char *other) {
    struct parts parts[2];
    if (!split(one, &parts[0]) || !split(other, &parts[1]) || parts[0].count != parts[1].count)
        return false;
    for (size_t i = 0; i < parts[0].count; i++) {
        bool found = false;
        for (size_t k = 0; k < parts[1].count && !found; k++) {
            found = parts[1].len[k] == parts[0].len[i] &&
                    strncasecmp(parts[1].at[k], parts[0].at[i], parts[0].len[i]) == 0;
            if (found)
                parts[1].len[k] = 0;
        }
        if (!found)
            return false;
    }
    return true;
}

struct found {
    const char *name;
    size_t far;
};

/* Keeps the best, in order; of equals, the first. */
static void keep(struct found found[NAMED], const char *name, size_t far) {
    size_t place = NAMED;
    while (place && (!found[place - 1].name || found[place - 1].far > far))
        place--;
    if (place == NAMED)
        return;
    memmove(&found[place + 1], &found[place], (NAMED - 1 - place) * sizeof *found);
    found[place] = (struct found){name, far};
}

char *cli_nearest_of(const char *(*name_at)(const void *names, size_t index), const void *names,
                     const char *word) {
    struct found found[NAMED] = {{0}};
    size_t len = strlen(word);
    size_t most = len < 5 ? 1 : len < 9 ? 2 : len / 3;
    const char *name;
    if (!len || len > NAME_MAX_LEN)
        return NULL;
    for (size_t i = 0; (name = name_at(names, i)); i++) {
        if (strlen(name) > NAME_MAX_LEN)
            continue;
        size_t far = same_words(word, name) ? 0 : distance(word, name);
        if (far <= most)
            keep(found, name, far);
        else if (len > 2 && strcasestr(name, word))
            keep(found, name, most + 1); /* a part of it */
    }
    /* What is much farther than the best is not meant. */
    size_t count = 0;
    while (count < NAMED && found[count].name && found[count].far <= found[0].far + 1)
        count++;
    char *text = NULL;
    if (!count || asprintf(&text, "%s%s%s%s%s", found[0].name,
                           count > 2   ? ", "
                           : count > 1 ? " or "
                                       : "",
                           count > 1 ? found[1].name : "", count > 2 ? " or " : "",
                           count > 2 ? found[2].name : "") < 0)
        return NULL;
    return text;
}

char *cli_near_hint(const char *(*name_at)(const void *names, size_t index), const void *names,
                    const char *word, const char *otherwise) {
    char *near = cli_nearest_of(name_at, names, word);
    char *hint = NULL;
    if (near && asprintf(&hint, "did you mean %s?", near) < 0)
        hint = NULL;
    free(near);
    return hint || !otherwise ? hint : strdup(otherwise);
}

char *cli_near_or_all(const char *(*name_at)(const void *names, size_t index), const void *names,
                      const char *word, const char *kind) {
    enum { ALL_MAX = 10 };
    char *hint = cli_near_hint(name_at, names, word, NULL);
    size_t len;
    const char *name;
    FILE *out = hint || !name_at(names, 0) ? NULL : open_memstream(&hint, &len);
    if (!out)
        return hint;
    for (size_t i = 0; i <= ALL_MAX && (name = name_at(names, i)); i++) {
        if (i)
            fputs(", ", out);
        else
            fprintf(out, "the %s are ", kind);
        fputs(i < ALL_MAX ? name : "…", out);
    }
    if (fclose(out) == 0)
        return hint;
    free(hint);
    return NULL;
}

const char *cli_key_at(const void *object, size_t index) {
    yyjson_obj_iter iter = yyjson_obj_iter_with((yyjson_val *)(uintptr_t)object);
    yyjson_val *name = yyjson_obj_iter_next(&iter);
    while (name && index--)
        name = yyjson_obj_iter_next(&iter);
    return yyjson_get_str(name);
}

static const char *method_at(const void *protocol, size_t index) {
    const dx_method *method = dx_protocol_method(protocol, index);
    return method ? method->name : NULL;
}

int cli_check_method(const dx_protocol *protocol, const char *option, const char *method) {
    const dx_protocol_facts *facts = dx_protocol_facts_of(protocol);
    bool is_known = facts->open || dx_protocol_find(protocol, dx_str(method));
    char *hint = is_known ? NULL : cli_near_hint(method_at, protocol, method, NULL);
    int code = hint ? cli_fail_hint(CLI_USAGE, hint, "%s: %s has no method '%s'", option,
                                    facts->name, method)
                    : CLI_OK;
    free(hint);
    return code;
}

char *cli_method_flaw(const dx_protocol *protocol, const char *name, const char *method,
                      bool notification, const char *command, const char *otherwise,
                      char **ret_hint) {
    const dx_method *rule = dx_protocol_find(protocol, dx_str(method));
    char *near = NULL;
    char *message = NULL;
    int len = 0;
    *ret_hint = NULL;
    if (rule && !rule->from_host) {
        len = asprintf(&message, "only the server may call '%s'", method);
    } else if (rule) {
        if (!rule->notification != !notification)
            len = asprintf(&message, "%s is a %s: use %s%s", method,
                           notification ? "request" : "notification", command,
                           notification ? "call" : "notify");
        return len < 0 ? NULL : message;
    } else if (dx_protocol_facts_of(protocol)->open) {
        return NULL;
    } else {
        near = cli_nearest_of(method_at, protocol, method);
        len = asprintf(&message, "%s has no method '%s'", name, method);
    }
    if (near ? asprintf(ret_hint, otherwise ? "did you mean %s? (%s)" : "did you mean %s?", near,
                        otherwise) < 0
             : otherwise && !(*ret_hint = strdup(otherwise)))
        *ret_hint = NULL;
    free(near);
    return len < 0 ? NULL : message;
}

char *cli_near_method(const dx_protocol *protocol, const char *word, const char *otherwise) {
    return cli_near_hint(method_at, protocol, word, otherwise);
}

/* Commands and subcommands. */

static const char *verb_at(const void *verbs, size_t index) {
    const cli_verb *verb = ((const cli_verb *const *)verbs)[index];
    return verb ? verb->name : NULL;
}

static const char *subcommand_at(const void *rows, size_t index) {
    return ((const cli_subcommand *)rows)[index].name;
}

/* What is meant by a word that people try, or NULL. */
static const char *guess(const char *const *guesses, const char *word) {
    for (; guesses && guesses[0]; guesses += 2)
        if (strcasecmp(guesses[0], word) == 0)
            return guesses[1];
    return NULL;
}

/* "unknown command 'cal'" and "hint: did you mean 'duplex call'?" */
static int unknown(const char *kind, const cli_verb *verb, const char *word, const char *meant) {
    const char *space = verb->name[0] ? " " : "";
    char *hint = NULL;
    const char *more = verb->has_command ? "; the command line of a server goes after --" : "";
    int len = meant ? asprintf(&hint, "did you mean 'duplex %s%s%s'?", verb->name, space, meant)
                    : asprintf(&hint, "'duplex %s%s--help' lists the %ss%s", verb->name, space,
                               kind, more);
    int code = cli_fail_hint(CLI_USAGE, len < 0 ? NULL : hint, "unknown %s '%s'", kind, word);
    if (len >= 0)
        free(hint);
    return code;
}

static int unknown_among(const char *kind, const cli_verb *verb, const char *word,
                         const char *(*name_at)(const void *names, size_t index),
                         const void *names) {
    const char *meant = guess(verb->guesses, word);
    char *near = meant ? NULL : cli_nearest_of(name_at, names, word);
    if (near)
        near[strcspn(near, ",")] = '\0';
    char * or = near ? strstr(near, " or ") : NULL;
    if (or)
        * or = '\0';
    /* Nobody mistypes the first letter, so another one means another word: client is not lint. */
    if (near && !same_letter(near[0], word[0])) {
        free(near);
        near = NULL;
    }
    int code = unknown(kind, verb, word, meant ? meant : near);
    free(near);
    return code;
}

/* An option of duplex itself. */
static int unknown_option(const char *word) {
    char *hint = NULL;
    char *near = cli_nearest_of(cli_option_name_at, &cli_command, word + strspn(word, "-"));
    const char *meant = strcasecmp(word, "-v") == 0 ? "version" : near;
    if (near)
        near[strcspn(near, ", ")] = '\0'; /* the best of them */
    if (meant && asprintf(&hint, "did you mean 'duplex --%s'?", meant) < 0)
        hint = NULL;
    int code = cli_fail_hint(CLI_USAGE, hint ? hint : "'duplex --help' lists the options",
                             "unknown option '%s'", word);
    free(near);
    free(hint);
    return code;
}

int cli_unknown_command(const char *word) {
    return word[0] == '-' ? unknown_option(word)
                          : unknown_among("command", &cli_command, word, verb_at, cli_verbs);
}

/* Can "list" follow this subcommand? */
static bool has_list(const cli_verb *verb, const char *name) {
    for (const cli_subcommand *row = verb->subcommands; row->name; row++)
        if (strcmp(row->name, name) == 0)
            return strncmp(row->words, "[list]", 6) == 0;
    return false;
}

int cli_unknown_subcommand(const cli_verb *verb, char *const *words) {
    char both[160];
    bool is_known = false;
    for (const cli_subcommand *row = verb->subcommands; row->name && words[1]; row++)
        is_known |= strncmp(row->name, words[0], strlen(words[0])) == 0;
    if (verb->has_command && strchr(words[is_known], '/'))
        return cli_unexpected(words[is_known]);
    snprintf(both, sizeof both, "%.70s %.70s", words[0], words[1] ? words[1] : "");
    if (is_known && has_list(verb, words[0]) && distance(words[1], "list") <= 1) {
        char list[80];
        snprintf(list, sizeof list, "%.70s list", words[0]);
        return unknown("subcommand", verb, both, list);
    }
    return unknown_among("subcommand", verb, is_known ? both : words[0], subcommand_at,
                         verb->subcommands);
}
