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
    if (!masks->words || !masks->values)
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
}

/* The first of them that stands there; the longest, where one begins with another. */
static const char *find(const struct masks *masks, dx_text text, size_t *ret_len) {
    const char *first = NULL;
    *ret_len = 0;
    for (const char *const *value = masks->values; value && *value; value++) {
        size_t len = strlen(*value);
        const char *at = memmem(text.at, text.len, *value, len);
        if (at && (!first || at < first || (at == first && len > *ret_len))) {
            first = at;
            *ret_len = len;
        }
    }
    return first;
}

char *masks_hide(const struct masks *masks, dx_text text, size_t *ret_len) {
    size_t len;
    const char *found = text.len ? find(masks, text, &len) : NULL;
    char *copy = found ? malloc(text.len) : NULL;
    size_t used = 0;
    if (!copy)
        return NULL;
    for (; found; found = text.len ? find(masks, text, &len) : NULL) {
        size_t before = (size_t)(found - text.at);
        memcpy(copy + used, text.at, before);
        memcpy(copy + used + before, "***", 3);
        used += before + 3;
        text = (dx_text){found + len, text.len - before - len};
    }
    memcpy(copy + used, text.at, text.len);
    *ret_len = used + text.len;
    return copy;
}
