#include "cli/tail.h"

#include "cli/say.h"

#include <string.h>

void cli_tail_add(cli_tail *tail, dx_text text) {
    const size_t max = sizeof tail->bytes;
    if (text.len > max)
        text = (dx_text){text.at + text.len - max, max};
    size_t room = max - text.len;
    if (tail->len > room) {
        memmove(tail->bytes, tail->bytes + tail->len - room, room);
        tail->len = room;
    }
    if (text.len)
        memcpy(tail->bytes + tail->len, text.at, text.len);
    tail->len += text.len;
}

void cli_tail_keep(cli_tail *tail, const char *where, dx_text line) {
    while (line.len && (line.at[line.len - 1] == '\n' || line.at[line.len - 1] == '\r'))
        line.len--;
    cli_tail_add(tail, dx_str(where));
    cli_tail_add(tail, line);
    cli_tail_add(tail, dx_str("\n"));
}

/* The last of the lines that people like to read; the first may have lost its beginning. */
static dx_text last_lines(dx_text text, bool cut) {
    enum { LINES = 10 };
    size_t lines = 0;
    size_t at = text.len;
    while (at && (text.at[at - 1] != '\n' || lines++ < LINES))
        at--;
    const char *newline = cut && !at ? memchr(text.at, '\n', text.len) : NULL;
    if (newline && newline + 1 < text.at + text.len)
        at = (size_t)(newline + 1 - text.at);
    return (dx_text){text.at + at, text.len - at};
}

bool cli_tail_is_wanted(const char *errors) {
    return !errors || strcmp(errors, "tail") == 0;
}

int cli_tail_fail(const cli_tail *tail, const char *errors, int code, const char *message,
                  yyjson_mut_doc *doc, yyjson_mut_val *more) {
    dx_text text = {tail->bytes, cli_tail_is_wanted(errors) ? tail->len : 0};
    if (!cli_voice.json)
        text = last_lines(text, tail->len == sizeof tail->bytes);
    message = message ? message : "no memory";
    /* How it ended has its last line already. */
    size_t len = strlen(message);
    size_t line = text.len ? text.len - 1 : 0;
    if (!cli_voice.json && line && line <= len && memcmp(message + len - line, text.at, line) == 0)
        text.len = 0;
    return cli_fail_with(code, message, doc, more, text);
}
