#include "host/crash.h"

#include <string.h>
#include <strings.h>

/* How far back is searched, and how many other lines may follow an exception: the rest of its
 * message. A server that has gone on for longer did not end because of it. */
enum { LINES_MAX = 200, REST_MAX = 2 };

static bool begins(dx_text line, const char *with) {
    size_t len = strlen(with);
    return line.len >= len && memcmp(line.at, with, len) == 0;
}

static bool begins_with_any(dx_text line, const char *const *list) {
    while (*list && !begins(line, *list))
        list++;
    return *list;
}

static bool ends(dx_text line, const char *with) {
    size_t len = strlen(with);
    return line.len >= len && memcmp(line.at + line.len - len, with, len) == 0;
}

static bool has(dx_text line, const char *what) {
    return line.len && memmem(line.at, line.len, what, strlen(what));
}

static dx_text skip(dx_text line, const char *bytes) {
    while (line.len && strchr(bytes, line.at[0]) && line.at[0])
        line = (dx_text){line.at + 1, line.len - 1};
    return line;
}

/* A line of a stack trace, or what runtimes print after it. */
static bool is_trace(dx_text line) {
    static const char *const others[] = {"Node.js v",
                                         "Bun v",
                                         "}",
                                         "at ",
                                         "note: ",
                                         "goroutine ",
                                         "created by ",
                                         "exit status ",
                                         "stack backtrace:",
                                         "Aborted",
                                         "stack traceback",
                                         "(Use `node ",
                                         "npm notice",
                                         "npm error A complete log",
                                         NULL};
    return !line.len || strchr(" \t\r", line.at[0]) || begins_with_any(line, others);
}

/* Whatever follows these, they were the end. */
static bool is_fatal(dx_text line) {
    static const char *const beginnings[] = {"panic: ",
                                             "fatal error: ",
                                             "Exception in thread ",
                                             "Unhandled exception",
                                             "terminate called after ",
                                             "PHP Fatal error: ",
                                             NULL};
    return begins_with_any(skip(line, " \t"), beginnings) || has(line, " panicked at ") ||
           (begins(line, "SUMMARY: ") && has(line, "Sanitizer: "));
}

/* "KeyError: 'x'", "java.io.IOException: …", "Error [ERR_X]: …": a name that ends like that. */
static bool is_named(dx_text line) {
    static const char *const endings[] = {"Error",     "Exception", "Interrupt",
                                          "Rejection", "Exit",      NULL};
    size_t len = 0;
    while (len < line.len && (line.at[len] == '_' || line.at[len] == '.' || line.at[len] == '$' ||
                              (line.at[len] >= '0' && line.at[len] <= '9') ||
                              ((line.at[len] | 0x20) >= 'a' && (line.at[len] | 0x20) <= 'z')))
        len++;
    dx_text rest = {line.at + len, line.len - len};
    if (rest.len && !begins(rest, ":") && !begins(rest, " [") && !begins(rest, " ("))
        return false;
    for (const char *const *one = endings; *one; one++)
        if (ends((dx_text){line.at, len}, *one))
            return true;
    return false;
}

static bool is_exception(dx_text line) {
    static const char *const beginnings[] = {"Caused by: ",        "Uncaught", "error: ", "Error: ",
                                             "Segmentation fault", "fatal: ",  "** (",    NULL};
    return begins_with_any(line, beginnings) || is_named(skip(line, "[")) || ends(line, "Error)") ||
           has(line, ": runtime error: ");
}

/* Does it begin with the level of an error? "error handling is on" does not: a word that is not in
 * capitals needs a mark, or a time before it. */
static bool has_level(dx_text line, bool prefixed) {
    static const char words[][9] = {"error", "fatal", "panic", "critical"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t len = strlen(words[i]);
        if (line.len <= len || strncasecmp(line.at, words[i], len) != 0)
            continue;
        if (memchr(":][", line.at[len], 3))
            return true;
        dx_text rest = {line.at + len, line.len - len};
        return begins(rest, " error:") ||
               (memchr(" \t|-,(", rest.at[0], 6) && (prefixed || line.at[len - 1] < 'a'));
    }
    return false;
}

/* Where a word ends that may stand before the level. */
static size_t prefix_len(dx_text line, bool bracket) {
    enum { PREFIX_MAX = 80 };
    const char *ends = bracket ? "]" : " \t";
    size_t len = 0;
    while (len < line.len && len < PREFIX_MAX && !memchr(ends, line.at[len], strlen(ends)))
        len++;
    return len;
}

static bool is_time(dx_text word) {
    return word.len && word.at[0] >= '0' && word.at[0] <= '9' &&
           (has(word, ":") || has(word, "-") || has(word, "."));
}

__attribute__((cold, noinline)) bool dx__crash_is_error(dx_text line) {
    enum { PREFIXES_MAX = 5 };
    bool after_time = false;
    bool prefixed = false;
    for (int i = 0; i < PREFIXES_MAX && line.len; i++) {
        bool bracket = line.at[0] == '[';
        line = skip(line, "[");
        if (has_level(line, prefixed || bracket))
            return true;
        dx_text word = {line.at, prefix_len(line, bracket)};
        bool time = !bracket && is_time(word);
        after_time |= time;
        if (!word.len || !(bracket || after_time || ends(word, ":")))
            return false;
        prefixed = bracket || time;
        line = skip((dx_text){line.at + word.len, line.len - word.len}, "]: \t|-");
    }
    return false;
}

/* A line of a Python exception group: "  | ValueError: …". */
static dx_text without_bar(dx_text line) {
    dx_text bar = skip(line, " ");
    return begins(bar, "| ") ? (dx_text){bar.at + 2, bar.len - 2} : line;
}

static dx_text trim(dx_text text) {
    while (text.len && strchr("\r\n \t", text.at[text.len - 1]))
        text.len--;
    return text;
}

/* The line that begins at `at`, without its end. */
static dx_text line_at(dx_text errors, size_t at) {
    const char *newline = memchr(errors.at + at, '\n', errors.len - at);
    size_t end = newline ? (size_t)(newline - errors.at) : errors.len;
    return trim((dx_text){errors.at + at, end - at});
}

/* With the line that it goes on in. */
static dx_text with_next(dx_text errors, dx_text line) {
    size_t at = (size_t)(line.at + line.len - errors.at);
    while (at < errors.len && errors.at[at] != '\n')
        at++;
    if (++at >= errors.len)
        return line;
    dx_text next = line_at(errors, at);
    if (next.len && (ends(line, ":") || begins(skip(next, " "), "what():")))
        line.len = (size_t)(next.at + next.len - line.at);
    return line;
}

/* npm prefixes each of its lines; what happened follows "npm error code E404". */
static dx_text npm_line(dx_text errors) {
    static const char *const codes[] = {"npm error code ", "npm ERR! code "};
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        const char *code = memmem(errors.at, errors.len, codes[i], strlen(codes[i]));
        const char *newline =
            code ? memchr(code, '\n', errors.len - (size_t)(code - errors.at)) : NULL;
        if (newline && newline + 1 < errors.at + errors.len)
            return line_at(errors, (size_t)(newline + 1 - errors.at));
    }
    return (dx_text){NULL, 0};
}

__attribute__((cold, noinline)) dx_text dx__crash_line(dx_text errors) {
    errors = trim(errors);
    size_t end = errors.len;
    size_t rest = 0;
    dx_text last = {errors.at, 0};
    dx_text error = {errors.at, 0};
    size_t error_rest = 0;
    for (int lines = 0; end; lines++) {
        const char *newline = memrchr(errors.at, '\n', end);
        size_t at = newline ? (size_t)(newline + 1 - errors.at) : 0;
        dx_text line = without_bar(line_at(errors, at));
        if (lines < LINES_MAX && (is_fatal(line) || (rest <= REST_MAX && is_exception(line))))
            return with_next(errors, line);
        /* The first one of those that come last. */
        if ((!error.len || rest - error_rest <= REST_MAX + 1) && !is_trace(line) &&
            dx__crash_is_error(line)) {
            error = line;
            error_rest = rest;
        }
        bool other = !is_trace(line);
        if (other && !last.len)
            last = line;
        if (other && !rest && begins(line, "npm ") && npm_line(errors).len)
            return npm_line(errors);
        rest += other;
        end = at ? at - 1 : 0;
    }
    if (error.len)
        return error;
    if (!last.len) {
        const char *newline = errors.len ? memrchr(errors.at, '\n', errors.len) : NULL;
        return newline ? (dx_text){newline + 1, (size_t)(errors.at + errors.len - newline - 1)}
                       : errors;
    }
    return with_next(errors, last);
}
