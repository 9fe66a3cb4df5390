/* Log texts without the secrets that programs put into them. */
#include "systems/finecode/server_parts.h"

#include <strings.h>

/* Behind the first one stands what kind of secret follows ("Basic", "token", …), and then that. */
static const char *const words[] = {"authorization", "password",    "passwd",     "secret",
                                    "token",         "api_key",     "api-key",    "apikey",
                                    "bearer",        "private_key", "access_key", "credential"};

/* The length of the word that stands here; 0: none. */
static size_t word_at(dx_text text, size_t at) {
    if (!strchr("apstbcAPSTBC", text.at[at])) /* where none begins, which is nearly everywhere */
        return 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t len = strlen(words[i]);
        if (text.len - at >= len && strncasecmp(text.at + at, words[i], len) == 0)
            return len;
    }
    return 0;
}

static bool is_one_of(char c, const char *set) {
    return c && strchr(set, c);
}

static size_t skip(dx_text text, size_t at, const char *set) {
    while (at < text.len && is_one_of(text.at[at], set))
        at++;
    return at;
}

/* Where the value behind a word begins; the end of the text if there is none: "token=v",
 * "token": "v", Authorization: Bearer v. */
static size_t value_behind(dx_text text, size_t at, bool bearer) {
    size_t quoted = skip(text, at, "\"'");
    size_t mark = skip(text, quoted, " \t");
    if (mark < text.len && is_one_of(text.at[mark], "=:"))
        return skip(text, mark + 1, " \t\"'");
    return bearer && mark > at ? mark : text.len;
}

dx_status dx__finecode_redact(dx_buf *to, dx_text text) {
    static const char instead[] = "***REDACTED***";
    size_t done = 0;
    dx_status status = DX_OK;
    for (size_t at = 0; status == DX_OK && at < text.len;) {
        size_t len = word_at(text, at);
        size_t value = len ? value_behind(text, at + len, is_one_of(text.at[at], "bB")) : text.len;
        bool line = len == strlen(words[0]);
        /* "Authorization: Bearer x" hides x, not the word that says what it is. */
        bool bearer = value < text.len && is_one_of(text.at[value], "bB");
        if (value == text.len || (word_at(text, value) && (bearer || !line))) {
            at += len ? len : 1;
            continue;
        }
        size_t end = value;
        while (end < text.len && !is_one_of(text.at[end], line ? "\r\n\"'" : " \t\r\n\"',;&)}]"))
            end++;
        status = dx_buf_append(to, text.at + done, value - done);
        if (status == DX_OK)
            status = dx_buf_append(to, instead, sizeof instead - 1);
        done = at = end;
    }
    return status == DX_OK ? dx_buf_append(to, text.at + done, text.len - done) : status;
}
