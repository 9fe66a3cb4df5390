#include "systems/finecode/command/er/tools.h"

#include <stdlib.h>
#include <string.h>

static bool take(struct words *words, char *word) {
    if (word && words->count + 1 >= words->room) {
        size_t room = words->room ? 2 * words->room : 16;
        char **at = realloc(words->at, room * sizeof *at);
        if (!at) {
            free(word);
            return false;
        }
        words->at = at;
        words->room = room;
    }
    if (!word)
        return false;
    words->at[words->count++] = word;
    words->at[words->count] = NULL;
    return true;
}

bool words_add(struct words *words, const char *word) {
    return take(words, strdup(word));
}

bool words_add_joined(struct words *words, const char *first, const char *second) {
    char *word;
    return asprintf(&word, "%s%s", first, second) >= 0 && take(words, word);
}

bool words_add_all(struct words *words, yyjson_val *array) {
    yyjson_arr_iter iter = yyjson_arr_iter_with(array);
    for (yyjson_val *word; (word = yyjson_arr_iter_next(&iter));)
        if (!words_add(words, yyjson_get_str(word)))
            return false;
    return true;
}

void words_done(struct words *words) {
    for (size_t i = 0; i < words->count; i++)
        free(words->at[i]);
    free(words->at);
    *words = (struct words){0};
}
