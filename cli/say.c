#include "cli/say.h"

#include "base/utf8.h"
#include "cli/start_hint.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct cli_voice cli_voice = {.verb = NULL};

const char *cli_code_name(int code) {
    static const char *const names[] = {"ok",      "refused",   "usage",  "start", "ended",
                                        "timeout", "violation", "misfit", "failed"};
    if (code >= 0 && code < (int)(sizeof names / sizeof names[0]))
        return names[code];
    return code == CLI_INTERRUPTED ? "interrupted" : "other";
}

const char *cli_paint(FILE *stream, cli_colour colour) {
    static const char *const codes[] = {"\033[0m",  "\033[1m",  "\033[2m", "\033[31m",
                                        "\033[32m", "\033[33m", "\033[36m"};
    bool has = stream == stdout ? cli_voice.colour_out : cli_voice.colour_err;
    return has ? codes[colour] : "";
}

void cli_count_shown(FILE *stream) {
    cli_voice.shown += fileno(stream) >= 0;
}

/* U+202A to U+202E and U+2066 to U+2069 turn the order of what follows around, so that a line says
 * something else than it holds: which one stands there, or 0. */
static unsigned turn_at(dx_text text, size_t at) {
    const unsigned char *c = (const unsigned char *)text.at + at;
    if (text.len - at < 3 || c[0] != 0xe2 || (c[1] & 0xc0) != 0x80 || (c[2] & 0xc0) != 0x80)
        return 0;
    unsigned code = 0x2000U | (c[1] & 0x3fU) << 6 | (c[2] & 0x3fU);
    bool turns = (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
    return turns ? code : 0;
}

/* 0x80 to 0x9f steer some terminals, too: as characters of their own (C2 80 …), and as bytes where
 * a terminal does not read UTF-8. So what is no UTF-8 is not let through either. */
static bool is_safe(dx_text text, size_t at, size_t len) {
    const unsigned char *c = (const unsigned char *)text.at + at;
    return len > 1 ? c[0] != 0xc2 || c[1] >= 0xa0
                   : len && (c[0] >= 0x20 || c[0] == '\t') && c[0] != 0x7f;
}

/* In pieces as long as they can be: the standard error has no buffer. */
void cli_put_document(FILE *stream, dx_text text) {
    size_t from = 0;
    size_t at = 0;
    cli_count_shown(stream);
    while (at < text.len) {
        size_t len = dx__utf8(text.at + at, text.len - at);
        unsigned turn = turn_at(text, at);
        bool safe = is_safe(text, at, len) && !turn;
        size_t end = at + (len ? len : 1);
        if (!safe) {
            fwrite(text.at + from, 1, at - from, stream);
            if (turn)
                fprintf(stream, "\\u%04x", turn);
            else
                fprintf(stream, "\\x%02x", (unsigned char)text.at[end - 1]);
            from = end;
        }
        at = end;
    }
    if (from < at)
        fwrite(text.at + from, 1, at - from, stream);
}

void cli_flush(void) {
    if (fflush(stdout) != 0 && !cli_voice.lost)
        cli_voice.lost = errno ? errno : EIO;
}

static void put_detail(dx_text detail) {
    while (detail.len) {
        const char *end = memchr(detail.at, '\n', detail.len);
        size_t len = end ? (size_t)(end - detail.at) : detail.len;
        fputs("  ", stderr);
        cli_put_safe(stderr, (dx_text){detail.at, len});
        fputc('\n', stderr);
        len += end != NULL;
        detail = (dx_text){detail.at + len, detail.len - len};
    }
}

/* CR and LF stand only between tokens. What steers a terminal (DEL, and C2 80 to C2 9F) or turns
 * its text around stands only in strings, and is written as JSON can write it, too. */
void cli_put_line(FILE *stream, dx_text json) {
    size_t from = 0;
    cli_count_shown(stream);
    for (size_t at = 0; at < json.len; at++) {
        unsigned char c = (unsigned char)json.at[at];
        bool c1 = c == 0xc2 && at + 1 < json.len && (unsigned char)json.at[at + 1] < 0xa0;
        unsigned turn = turn_at(json, at);
        if (c != '\n' && c != '\r' && c != 0x7f && !c1 && !turn)
            continue;
        fwrite(json.at + from, 1, at - from, stream);
        if (c < ' ')
            putc(' ', stream);
        else
            fprintf(stream, "\\u%04x", turn ? turn : c1 ? (unsigned char)json.at[at + 1] : c);
        at += turn ? 2 : c1 ? 1 : 0;
        from = at + 1;
    }
    if (from < json.len)
        fwrite(json.at + from, 1, json.len - from, stream);
}

bool cli_add_text(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key, dx_text text) {
    char *clean = malloc(3 * text.len + 1);
    bool is_clean = true;
    size_t len = 0;
    for (size_t at = 0; clean && at < text.len;) {
        size_t one = dx__utf8(text.at + at, text.len - at);
        is_clean &= one > 0;
        memcpy(clean + len, one ? text.at + at : "\xef\xbf\xbd", one ? one : 3);
        len += one ? one : 3;
        at += one ? one : 1;
    }
    if (clean)
        yyjson_mut_obj_add_strncpy(doc, object, key, clean, len);
    free(clean);
    return is_clean;
}

static void put_error_json(int code, const char *message, yyjson_mut_doc *doc,
                           yyjson_mut_val *error, dx_text detail) {
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    yyjson_mut_doc_set_root(doc, root);
    if (cli_voice.events)
        yyjson_mut_obj_add_str(doc, root, "event", "error");
    if (cli_voice.line)
        yyjson_mut_obj_add_uint(doc, error, "line", cli_voice.line);
    yyjson_mut_obj_add_int(doc, error, "exit", code);
    yyjson_mut_obj_add_str(doc, error, "kind", cli_code_name(code));
    if (!yyjson_mut_obj_get(error, "message"))
        cli_add_text(doc, error, "message", dx_str(message));
    if (detail.len)
        cli_add_text(doc, error, "detail", detail);
    yyjson_mut_obj_add_val(doc, root, "error", error);
    char *text = yyjson_mut_write(doc, YYJSON_WRITE_ALLOW_INVALID_UNICODE, NULL);
    cli_put_line(stdout, dx_str(text ? text : "{\"error\":{}}"));
    putchar('\n');
    cli_flush();
    free(text);
}

/* "duplex call: ", and where in the standard input that was. */
static void put_speaker(cli_colour colour) {
    fprintf(stderr, "%sduplex%s%s:%s ", cli_paint(stderr, colour), cli_voice.verb ? " " : "",
            cli_voice.verb ? cli_voice.verb : "", cli_paint(stderr, CLI_PLAIN));
    if (cli_voice.line)
        fprintf(stderr, "line %zu: ", cli_voice.line);
}

/* With --json, too: an error that stands on the standard output is lost with it. */
static void tell_lost(void) {
    put_speaker(CLI_RED);
    if (cli_voice.lost == EINTR)
        fputs("interrupted: the output was not read\n", stderr);
    else
        fprintf(stderr, "the output cannot be written: %s\n", strerror(cli_voice.lost));
}

int cli_finish(int code) {
    static bool told;
    cli_flush();
    if (!cli_voice.lost && ferror(stdout))
        cli_voice.lost = EIO;
    if (!cli_voice.lost)
        return code;
    bool known = code == CLI_INTERRUPTED && cli_voice.lost == EINTR && !cli_voice.json;
    /* Whoever reads only the beginning, as head does, knows why there is no more. */
    if (!told && !known && cli_voice.lost != EPIPE)
        tell_lost();
    told = true;
    return code != CLI_OK ? code : cli_voice.lost == EINTR ? CLI_INTERRUPTED : CLI_USAGE;
}

void cli_put_hint(const char *hint) {
    fprintf(stderr, "%shint:%s ", cli_paint(stderr, CLI_CYAN), cli_paint(stderr, CLI_PLAIN));
    cli_put_safe(stderr, dx_str(hint));
    fputc('\n', stderr);
}

void cli_say_seconds(char *phrase) {
    static const char before[] = " within ";
    char *number = strstr(phrase, before);
    char *end = number ? number + sizeof before - 1 : phrase;
    char *digits = end;
    while (*end >= '0' && *end <= '9')
        end++;
    if (!number || end - digits < 4 || strncmp(end - 3, "000 ms", 6) != 0)
        return;
    memmove(end - 3, " s", 2);
    memmove(end - 1, end + 3, strlen(end + 3) + 1);
}

/* A hint for what comes without one. */
static void add_start_hint(int code, const char *message, yyjson_mut_doc *doc,
                           yyjson_mut_val *more) {
    bool wanted = code == CLI_NO_START && doc && !yyjson_mut_obj_get(more, "hint");
    char *hint = wanted ? cli_start_hint(message, cli_voice.configured) : NULL;
    if (hint)
        cli_add_text(doc, more, "hint", dx_str(hint));
    free(hint);
}

static void put_error_text(const char *message, yyjson_mut_val *more, dx_text detail) {
    const char *hint = yyjson_mut_get_str(yyjson_mut_obj_get(more, "hint"));
    cli_flush();
    put_speaker(CLI_RED);
    cli_put_safe(stderr, dx_str(message));
    fputc('\n', stderr);
    put_detail(detail);
    if (hint)
        cli_put_hint(hint);
}

int cli_fail_with(int code, const char *message, yyjson_mut_doc *doc, yyjson_mut_val *more,
                  dx_text detail) {
    yyjson_mut_doc *own = doc ? NULL : yyjson_mut_doc_new(NULL);
    if (!doc)
        doc = own;
    if (!more)
        more = yyjson_mut_obj(doc);
    add_start_hint(code, message, doc, more);
    if (!cli_voice.json)
        put_error_text(message, more, detail);
    else if (doc)
        put_error_json(code, message, doc, more, detail);
    yyjson_mut_doc_free(own);
    return code;
}

static int fail(int code, const char *hint, const char *format, va_list list) {
    char *message = NULL;
    int len = vasprintf(&message, format, list);
    yyjson_mut_doc *doc = hint ? yyjson_mut_doc_new(NULL) : NULL;
    yyjson_mut_val *more = yyjson_mut_obj(doc);
    if (doc)
        cli_add_text(doc, more, "hint", dx_str(hint));
    cli_fail_with(code, len < 0 ? "out of memory" : message, doc, more, dx_str(NULL));
    yyjson_mut_doc_free(doc);
    if (len >= 0)
        free(message);
    return code;
}

int cli_fail(int code, const char *format, ...) {
    va_list list;
    va_start(list, format);
    fail(code, NULL, format, list);
    va_end(list);
    return code;
}

int cli_fail_hint(int code, const char *hint, const char *format, ...) {
    va_list list;
    va_start(list, format);
    fail(code, hint, format, list);
    va_end(list);
    return code;
}

static void remark(const char *format, va_list list) {
    char *message = NULL;
    if (vasprintf(&message, format, list) < 0)
        return;
    cli_flush();
    put_speaker(CLI_DIM);
    cli_put_safe(stderr, dx_str(message));
    fputc('\n', stderr);
    free(message);
}

void cli_note(const char *format, ...) {
    va_list list;
    va_start(list, format);
    if (!cli_voice.json)
        remark(format, list);
    va_end(list);
}

void cli_warn(const char *format, ...) {
    va_list list;
    va_start(list, format);
    remark(format, list);
    va_end(list);
}

/* Where a string ends, the closing quote included. */
static size_t string_len(dx_text text, size_t from) {
    size_t at = from + 1;
    while (at < text.len && text.at[at] != '"')
        at += text.at[at] == '\\' ? 2 : 1;
    return (at < text.len ? at + 1 : text.len) - from;
}

static void break_line(FILE *stream, unsigned level) {
    fprintf(stream, "\n%*s", (int)(2 * level), "");
}

/* A text, a number or a word; how long it is. */
static size_t put_scalar(FILE *stream, dx_text text, size_t at) {
    size_t len;
    cli_colour colour = CLI_YELLOW;
    if (text.at[at] == '"') {
        len = string_len(text, at);
        colour = at + len < text.len && text.at[at + len] == ':' ? CLI_CYAN : CLI_GREEN;
    } else {
        for (len = 1; at + len < text.len && !strchr(",]}", text.at[at + len]);)
            len++;
    }
    fputs(cli_paint(stream, colour), stream);
    cli_put_line(stream, (dx_text){text.at + at, len});
    fputs(cli_paint(stream, CLI_PLAIN), stream);
    return len;
}

/* Indents and paints a JSON text that has no spaces: names, texts, and what is neither. */
static void put_indented(FILE *stream, dx_text text) {
    unsigned level = 0;
    for (size_t i = 0; i < text.len;) {
        char c = text.at[i];
        bool opens = c == '{' || c == '[';
        bool closes = c == '}' || c == ']';
        if (!opens && !closes && c != ',' && c != ':') {
            i += put_scalar(stream, text, i);
            continue;
        }
        i++;
        bool is_empty = opens && i < text.len && (text.at[i] == '}' || text.at[i] == ']');
        level += opens && !is_empty;
        level -= closes;
        if (closes)
            break_line(stream, level);
        putc(c, stream);
        if (is_empty)
            putc(text.at[i++], stream);
        else if (opens || c == ',')
            break_line(stream, level);
        else if (c == ':')
            putc(' ', stream);
    }
}

/* A copy that every reader takes, to be freed. NULL: it is one already, or there is no memory. */
static char *mend(dx_text json) {
    char *copy = memmem(json.at, json.len, "\\u", 2) ? malloc(json.len) : NULL;
    if (!copy)
        return NULL;
    memcpy(copy, json.at, json.len);
    if (dx_json_mend(copy, json.len))
        return copy;
    free(copy);
    return NULL;
}

yyjson_doc *cli_read_theirs(dx_text json, yyjson_read_flag flags) {
    yyjson_doc *doc = yyjson_read(json.at, json.len, flags);
    char *mended = doc ? NULL : mend(json);
    if (mended)
        doc = yyjson_read(mended, json.len, flags);
    free(mended);
    return doc;
}

void cli_note_mended(const char *method, unsigned mended) {
    if (mended & DX_MENDED_STRING)
        cli_note("%s: the response has half a UTF-16 surrogate pair, shown as U+FFFD (--json prints"
                 " the response as it came, --strict rejects it)",
                 method);
    if (mended & DX_MENDED_NUMBER)
        cli_note("%s: the response has a number too large for most programs (--strict rejects it)",
                 method);
}

void cli_put_json(FILE *stream, dx_text json) {
    bool pretty = stream == stdout && (cli_voice.terminal || cli_voice.colour_out);
    char *mended = mend(json);
    if (mended)
        json.at = mended;
    yyjson_doc *doc = pretty ? yyjson_read(json.at, json.len, YYJSON_READ_NUMBER_AS_RAW) : NULL;
    size_t len;
    /* It makes characters of what is escaped; its own indenting would leave numbers at the margin.
     */
    char *text = doc ? yyjson_write(doc, 0, &len) : NULL;
    if (text)
        put_indented(stream, (dx_text){text, len});
    else if (pretty)
        cli_put_document(stream, json);
    else
        cli_put_line(stream, json);
    fputc('\n', stream);
    free(text);
    free(mended);
    yyjson_doc_free(doc);
}
