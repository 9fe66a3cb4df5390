/* From arguments to words. */
#include "systems/mcp/command/serve/spec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_MAX = 10000, WORD_BYTES = 16 << 20 };

bool spec_parts(dx_text word, bool (*on_part)(void *user, dx_text part, bool is_name), void *user) {
    const char *at = word.at;
    const char *end = at + word.len;
    while (at < end) {
        const char *from = at;
        while (at < end && *at != '{' && *at != '}')
            at++;
        if (at > from && !on_part(user, (dx_text){from, (size_t)(at - from)}, false))
            return false;
        if (at == end)
            return true;
        if (at + 1 < end && at[1] == at[0]) {
            if (!on_part(user, (dx_text){at, 1}, false))
                return false;
            at += 2;
            continue;
        }
        const char *close = *at == '{' ? memchr(at, '}', (size_t)(end - at)) : NULL;
        if (!close || close == at + 1 || memchr(at + 1, '{', (size_t)(close - at - 1)))
            return false;
        if (!on_part(user, (dx_text){at + 1, (size_t)(close - at - 1)}, true))
            return false;
        at = close + 1;
    }
    return true;
}

struct making {
    yyjson_val *arguments;
    /* Inside {"each": …}: the name, and what it stands for now. */
    dx_text each;
    yyjson_val *item;

    dx_buf text; /* the word at hand */
    bool absent;
    bool past; /* behind "--" */
    char **words;
    size_t count;
    const char *wrong;
    dx_text wrong_name;
};

static yyjson_val *find(const struct making *making, dx_text name) {
    if (making->item && name.len == making->each.len &&
        memcmp(name.at, making->each.at, name.len) == 0)
        return making->item;
    yyjson_val *value = yyjson_obj_getn(making->arguments, name.at, name.len);
    return yyjson_is_null(value) ? NULL : value;
}

static bool add_part(void *user, dx_text part, bool is_name) {
    struct making *making = user;
    dx_status status;
    if (is_name) {
        yyjson_val *value = find(making, part);
        making->absent |= !value;
        if (!value)
            return true;
        if (yyjson_is_str(value))
            status = dx_buf_append(&making->text, yyjson_get_str(value), yyjson_get_len(value));
        else
            status = dx_json_write(&making->text, dx_json_value(value));
        making->wrong_name = part;
    } else {
        status = dx_buf_append(&making->text, part.at, part.len);
    }
    if (status != DX_OK)
        making->wrong = status == DX_ERR_LIMIT ? "is too long" : "needs too much memory";
    return status == DX_OK;
}

/* Only a word of the file itself may begin with a dash: an argument that does would be an option.
 */
static const char *check(const struct making *making, dx_text written, bool dash) {
    const dx_buf *text = &making->text;
    if (memchr(text->data ? text->data : "", '\0', text->len))
        return "contains a NUL byte";
    if (text->len && text->data[0] == '-' && written.at[0] != '-' && !making->past && !dash)
        return "starts with '-' and would be read as an option";
    return making->count == WORDS_MAX ? "expands to too many command-line arguments" : NULL;
}

static bool add_word(struct making *making, yyjson_val *word, bool dash) {
    dx_text written = dx_json_string(word);
    making->text.len = 0;
    making->absent = false;
    making->wrong_name = (dx_text){"", 0};
    if (!spec_parts(written, add_part, making))
        return false;
    if (making->absent)
        return true;
    making->wrong = check(making, written, dash);
    if (making->wrong)
        return false;
    char *copy = dx_buf_append(&making->text, "", 1) == DX_OK ? strdup(making->text.data) : NULL;
    char **words = realloc(making->words, (making->count + 2) * sizeof *words);
    if (words)
        making->words = words;
    if (!copy || !words) {
        making->wrong = "needs too much memory";
        free(copy);
        return false;
    }
    words[making->count++] = copy;
    words[making->count] = NULL;
    making->past |= dx_text_is(written, "--");
    return true;
}

static bool add_list(struct making *making, yyjson_val *list, bool dash);

/* One word, or an object that stands for several or none. Its depth was checked when it was read.
 */
static bool add_any(struct making *making, yyjson_val *word, bool dash) {
    if (yyjson_is_str(word))
        return add_word(making, word, dash);
    yyjson_val *condition = yyjson_obj_get(word, "if");
    yyjson_val *each = yyjson_obj_get(word, "each");
    yyjson_val *words = yyjson_obj_get(word, "words");
    dash |= yyjson_get_bool(yyjson_obj_get(word, "dash"));
    dx_text name = dx_json_string(condition);
    yyjson_val *value = condition ? find(making, name) : NULL;
    if (condition && (!value || yyjson_is_false(value)))
        return true;
    if (!each)
        return add_list(making, words, dash);
    struct making outer = *making;
    making->each = dx_json_string(each);
    value = find(&outer, making->each);
    bool good = true;
    size_t i;
    size_t count;
    yyjson_val *item;
    if (yyjson_is_arr(value)) {
        yyjson_arr_foreach(value, i, count, item) {
            making->item = item;
            good = good && (yyjson_is_null(item) || add_list(making, words, dash));
        }
    } else if (value) {
        making->item = value;
        good = add_list(making, words, dash);
    }
    making->each = outer.each;
    making->item = outer.item;
    return good;
}

static bool add_list(struct making *making, yyjson_val *list, bool dash) {
    size_t i;
    size_t count;
    yyjson_val *word;
    yyjson_arr_foreach(list, i, count, word) {
        if (!add_any(making, word, dash))
            return false;
    }
    return true;
}

static void tell(const struct making *making, char *room, size_t room_len) {
    snprintf(room, room_len, "the argument '%.*s' %s",
             (int)(making->wrong_name.len < 100 ? making->wrong_name.len : 100),
             making->wrong_name.at, making->wrong ? making->wrong : "cannot be used");
}

char **spec_words(const struct spec_tool *tool, yyjson_val *arguments, char *room,
                  size_t room_len) {
    struct making making = {.arguments = arguments, .wrong_name = {"", 0}};
    dx_buf_init(&making.text, WORD_BYTES, NULL);
    bool good = add_list(&making, yyjson_obj_get(tool->value, "command"), false);
    dx_buf_done(&making.text);
    if (good)
        return making.words;
    tell(&making, room, room_len);
    spec_words_free(making.words);
    return NULL;
}

void spec_words_free(char **words) {
    for (char **word = words; word && *word; word++)
        free(*word);
    free(words);
}

bool spec_input(const struct spec_tool *tool, yyjson_val *arguments, char *room, size_t room_len,
                char **ret_text, size_t *ret_len) {
    struct making making = {.arguments = arguments, .wrong_name = {"", 0}};
    yyjson_val *input = yyjson_obj_get(tool->value, "stdin");
    *ret_text = NULL;
    *ret_len = 0;
    if (!input)
        return true;
    dx_buf_init(&making.text, SIZE_MAX / 2, NULL);
    if (spec_parts(dx_json_string(input), add_part, &making) &&
        dx_buf_append(&making.text, "", 1) == DX_OK) {
        *ret_text = making.text.data;
        *ret_len = making.text.len - 1;
        return true;
    }
    tell(&making, room, room_len);
    dx_buf_done(&making.text);
    return false;
}
