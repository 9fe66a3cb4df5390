/* Does the name of an environment variable, a header or an option say that its value is a secret?
 * All inline: the command uses it, too, which knows only what the library exports. */
#ifndef DX_BASE_SECRET_NAME_H
#define DX_BASE_SECRET_NAME_H

#include <duplex/base.h>

#include <stdbool.h>
#include <string.h>

static inline char dx__lower(char c) {
    return (char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
}

/* Does `text` end with `end`, which is in lower case? Capitals don't matter. */
static inline bool dx__ends_with(dx_text text, const char *end) {
    size_t len = strlen(end);
    if (len > text.len)
        return false;
    for (size_t i = 0; i < len; i++)
        if (dx__lower(text.at[text.len - len + i]) != end[i])
            return false;
    return true;
}

static inline bool dx__word_is_secret(dx_text word) {
    /* What a word may end with: "token" and "accesstoken", but not "tokens" or "tokenizer". */
    static const char ends[] = "token\0secret\0secrets\0password\0passwd\0passphrase\0"
                               "credential\0credentials\0authorization\0cookie\0"
                               "apikey\0accesskey\0privatekey\0secretkey";
    if ((word.len == 3 && dx__ends_with(word, "key")) ||
        (word.len == 4 && dx__ends_with(word, "pass")))
        return true;
    for (size_t at = 0; at < sizeof ends; at += strlen(ends + at) + 1)
        if (dx__ends_with(word, ends + at))
            return true;
    return false;
}

/* One of its words does: "API_KEY", "apiKey", "X-Api-Key" and "APIKEY", but not "keyboard". */
static inline bool dx__name_is_secret(dx_text name) {
    size_t from = 0;
    for (size_t i = 0; i <= name.len; i++) {
        char before = i ? name.at[i - 1] : '\0';
        char c = i < name.len ? name.at[i] : '\0';
        char after = i + 1 < name.len ? name.at[i + 1] : '\0';
        bool upper = c >= 'A' && c <= 'Z';
        bool letter = dx__lower(c) >= 'a' && dx__lower(c) <= 'z';
        /* "apiKey" and "APIKey" have two words. */
        bool cut = upper && ((before >= 'a' && before <= 'z') ||
                             (before >= 'A' && before <= 'Z' && after >= 'a' && after <= 'z'));
        if (letter && !cut)
            continue;
        if (i > from && dx__word_is_secret((dx_text){name.at + from, i - from}))
            return true;
        from = cut ? i : i + 1;
    }
    return false;
}

/* Where the value begins in "NAME=VALUE", "--name=VALUE" or "Name: VALUE" if the name says that it
 * is a secret; 0 if it is not like that. */
static inline size_t dx__secret_value(dx_text word) {
    size_t len = 0;
    while (len < word.len && len < 128 &&
           ((dx__lower(word.at[len]) >= 'a' && dx__lower(word.at[len]) <= 'z') ||
            (word.at[len] >= '0' && word.at[len] <= '9') || word.at[len] == '_' ||
            word.at[len] == '-' || word.at[len] == '.'))
        len++;
    dx_text name = {word.at, len};
    while (len < word.len && word.at[len] == ' ')
        len++;
    if (len + 1 >= word.len || (word.at[len] != '=' && word.at[len] != ':') ||
        !dx__name_is_secret(name))
        return 0;
    len++;
    while (len < word.len && word.at[len] == ' ')
        len++;
    return len;
}

#endif
