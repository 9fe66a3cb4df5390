/* Words and quotes of plain sentences. */
#include "systems/autohand/model_parts.h"

static bool is_space(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static char lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

dx_text dx__autohand_model_trim(dx_text text) {
    while (text.len && is_space(*text.at))
        text = (dx_text){text.at + 1, text.len - 1};
    while (text.len && is_space(text.at[text.len - 1]))
        text.len--;
    return text;
}

/* Several words are apart by one space each. */
static size_t match(dx_text text, const char *word) {
    size_t len = strlen(word);
    if (text.len < len)
        return 0;
    for (size_t i = 0; i < len; i++)
        if (lower(text.at[i]) != word[i])
            return 0;
    return text.len == len || is_space(text.at[len]) || text.at[len] == ':' ? len : 0;
}

bool dx__autohand_model_word(dx_text *rest, const char *word) {
    size_t len = match(*rest, word);
    if (!len)
        return false;
    while (len < rest->len && (is_space(rest->at[len]) || rest->at[len] == ':'))
        len++;
    *rest = (dx_text){rest->at + len, rest->len - len};
    return true;
}

bool dx__autohand_model_word_of(dx_text *rest, const char *const *words) {
    for (; *words; words++)
        if (dx__autohand_model_word(rest, *words))
            return true;
    return false;
}

/* Where a quote ends that begins at `at`: behind it, or just behind the mark if it has no end (an
 * apostrophe). */
static size_t behind_quote(dx_text text, size_t at) {
    char mark = text.at[at];
    for (size_t i = at + 1; i < text.len; i++) {
        if (text.at[i] == '\\' && mark == '"')
            i++;
        else if (text.at[i] == mark)
            return i + 1;
    }
    return at + 1;
}

static bool is_mark(char c) {
    return c == '\'' || c == '"' || c == '`';
}

bool dx__autohand_model_before(dx_text *rest, const char *const *words, bool last,
                               dx_text *ret_before) {
    dx_text found = {0};
    bool at_word = true;
    for (size_t i = 0; i < rest->len;) {
        dx_text here = {rest->at + i, rest->len - i};
        if (at_word && is_mark(*here.at)) {
            i = behind_quote(*rest, i);
            at_word = false;
            continue;
        }
        dx_text behind = here;
        if (at_word && i && dx__autohand_model_word_of(&behind, words)) {
            *ret_before = dx__autohand_model_trim((dx_text){rest->at, i});
            found = behind;
            if (!last)
                break;
        }
        at_word = is_space(*here.at);
        i++;
    }
    if (!found.at)
        return false;
    *rest = found;
    return true;
}

bool dx__autohand_model_unquote(dx_text *text) {
    if (text->len < 2 || !is_mark(*text->at) || behind_quote(*text, 0) != text->len ||
        text->at[text->len - 1] != *text->at)
        return false;
    *text = (dx_text){text->at + 1, text->len - 2};
    return true;
}

static dx_status unescape(dx_buf *to, dx_text text) {
    dx_status status = DX_OK;
    for (size_t i = 0; status == DX_OK && i < text.len; i++) {
        char c = text.at[i];
        if (c == '\\' && i + 1 < text.len && strchr("nt\"\\", text.at[i + 1]) && text.at[i + 1]) {
            c = text.at[++i];
            c = c == 'n' ? '\n' : c == 't' ? '\t' : c;
        }
        status = dx_buf_append(to, &c, 1);
    }
    return status;
}

dx_status dx__autohand_model_unescape(dx_buf *to, dx_text text) {
    bool escapes = text.len && *text.at == '"';
    if (dx__autohand_model_unquote(&text) && escapes)
        return unescape(to, text);
    return dx_buf_append(to, text.at, text.len);
}
