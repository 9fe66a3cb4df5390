#include "cli/timeline/quote.h"

#include "base/utf8.h"

dx_text cli_cut(dx_text text, uint64_t max) {
    if (text.len <= max)
        return text;
    size_t len = (size_t)max;
    /* Back to the beginning of the character that does not fit; what is none may be cut anywhere.
     */
    for (size_t back = 0; back < 4 && back <= len; back++) {
        size_t at = len - back;
        size_t one = dx__utf8(text.at + at, text.len - at);
        if (one)
            return (dx_text){text.at, at};
    }
    return (dx_text){text.at, len};
}

/* Controls, what turns lines around, and "<". */
static bool is_plain(const char *at, size_t len) {
    if (len == 1)
        return *at >= ' ' && *at != '"' && *at != '\\' && *at != '<' && *at != 0x7f;
    uint32_t code = dx__utf8_code(at, len);
    return code >= 0xa0 && !(code >= 0x2028 && code <= 0x202e) &&
           !(code >= 0x2066 && code <= 0x2069);
}

bool cli_quote(FILE *out, dx_text text) {
    bool is_text = dx__is_utf8(text);
    size_t from = 0;
    putc('"', out);
    for (size_t at = 0, len; at < text.len; at += len) {
        len = is_text ? dx__utf8(text.at + at, text.len - at) : 1;
        if (is_plain(text.at + at, len) && (is_text || !(text.at[at] & 0x80)))
            continue;
        if (from < at)
            fwrite(text.at + from, 1, at - from, out);
        char c = text.at[at];
        if (len == 1 && (c == '"' || c == '\\'))
            fprintf(out, "\\%c", c);
        else
            fprintf(out, "\\u%04x",
                    len == 1 ? (unsigned char)c : (unsigned)dx__utf8_code(text.at + at, len));
        from = at + len;
    }
    if (from < text.len)
        fwrite(text.at + from, 1, text.len - from, out);
    putc('"', out);
    return is_text;
}

void cli_quote_json(FILE *out, dx_text json) {
    size_t from = 0;
    for (size_t at = 0; at < json.len; at++) {
        char c = json.at[at];
        if (c != '<' && c != '\n' && c != '\r')
            continue;
        fwrite(json.at + from, 1, at - from, out);
        fputs(c == '<' ? "\\x3c" : " ", out);
        from = at + 1;
    }
    if (from < json.len)
        fwrite(json.at + from, 1, json.len - from, out);
}
