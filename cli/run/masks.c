#include "cli/run/masks.h"

#include "base/secret_name.h"

#include <stdio.h>
#include <stdlib.h>

static size_t count_of(const char *const *list) {
    size_t count = 0;
    while (list && list[count])
        count++;
    return count;
}

bool masks_init(struct masks *masks, const char *const *argv, const char *const *env) {
    size_t count = count_of(argv);
    size_t values = 0;
    masks->words = calloc(count + 1, sizeof *masks->words);
    masks->values = calloc(count_of(env) + 1, sizeof *masks->values);
    masks->next = calloc(count_of(env) + 1, sizeof *masks->next);
    if (!masks->words || !masks->values || !masks->next)
        return false;
    for (size_t i = 0; i < count; i++) {
        size_t value = dx__secret_value(dx_str(argv[i]));
        if (value && asprintf(&masks->words[i], "%.*s***", (int)value, argv[i]) < 0)
            masks->words[i] = NULL;
        if (!value)
            masks->words[i] = strdup(argv[i]);
        if (!masks->words[i])
            return false;
    }
    for (size_t i = 0; env && env[i]; i++) {
        const char *value = strchr(env[i], '=');
        if (value && dx__name_is_secret((dx_text){env[i], (size_t)(value - env[i])}) &&
            strlen(value + 1) >= MASKS_LEAST)
            masks->values[values++] = value + 1;
    }
    return true;
}

void masks_done(struct masks *masks) {
    for (char **word = masks->words; word && *word; word++)
        free(*word);
    free(masks->words);
    free(masks->values);
    free(masks->next);
}

/* Looks for each value from `from` on, if it was found before that. */
static void find_again(const struct masks *masks, const char *from, const char *end) {
    for (size_t i = 0; masks->values[i]; i++)
        if (masks->next[i] && masks->next[i] < from)
            masks->next[i] =
                memmem(from, (size_t)(end - from), masks->values[i], strlen(masks->values[i]));
}

/* The first of them that stands there; the longest, if one begins with another. */
static const char *first_of(const struct masks *masks, size_t *ret_len) {
    const char *first = NULL;
    *ret_len = 0;
    for (size_t i = 0; masks->values[i]; i++) {
        const char *at = masks->next[i];
        size_t len = at ? strlen(masks->values[i]) : 0;
        if (at && (!first || at < first || (at == first && len > *ret_len))) {
            first = at;
            *ret_len = len;
        }
    }
    return first;
}

/* Each value is looked for once in all of the text, however often the others stand in it. */
char *masks_hide(const struct masks *masks, dx_text text, size_t *ret_len) {
    const char *at = text.at;
    const char *end = text.at + text.len;
    size_t len;
    size_t used = 0;
    if (!text.len || !masks->values || !masks->values[0])
        return NULL;
    for (size_t i = 0; masks->values[i]; i++)
        masks->next[i] = memmem(at, text.len, masks->values[i], strlen(masks->values[i]));
    const char *found = first_of(masks, &len);
    char *copy = found ? malloc(text.len) : NULL;
    if (!copy)
        return NULL;
    for (; found; found = first_of(masks, &len)) {
        size_t before = (size_t)(found - at);
        memcpy(copy + used, at, before);
        memcpy(copy + used + before, "***", 3);
        used += before + 3;
        at = found + len;
        find_again(masks, at, end);
    }
    memcpy(copy + used, at, (size_t)(end - at));
    *ret_len = used + (size_t)(end - at);
    return copy;
}
