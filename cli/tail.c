#include "cli/tail.h"

#include "cli/say.h"
#include "frame/noise.h"
#include "host/crash.h"

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
    tail->written.errors++;
}

const char *cli_tail_noise(cli_tail *tail, const char *who, dx_text text) {
    cli_tail_keep(tail, "stdout: ", text);
    tail->written.errors--;
    tail->written.noise++;
    return who ? cli_noise(who, text) : NULL;
}

dx_text cli_tail_first_noise(const cli_tail *tail) {
    static const char mark[] = "stdout: ";
    const char *end = tail->bytes + tail->len;
    for (const char *at = tail->bytes, *next; at < end; at = next) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        next = newline ? newline + 1 : end;
        if ((size_t)(next - at) > sizeof mark && memcmp(at, mark, sizeof mark - 1) == 0)
            return (dx_text){at + sizeof mark - 1, (size_t)(next - at) - sizeof mark + 1};
    }
    return (dx_text){NULL, 0};
}

bool cli_is_noise(const dx_event *event) {
    dx_fault fault = event->error.fault;
    bool is_json_fault = fault >= DX_FAULT_JSON_EMPTY && fault <= DX_FAULT_JSON_VALUE &&
                         fault != DX_FAULT_JSON_PRETTY;
    return event->kind == DX_EVENT_STRAY ||
           (event->kind == DX_EVENT_VIOLATION && dx__is_noise(event->message) &&
            (is_json_fault || fault == DX_FAULT_NOT_A_MESSAGE || fault == DX_FAULT_BATCH ||
             fault == DX_FAULT_BATCH_EMPTY));
}

/* Was this peer warned of before? Beyond so many all were. */
static bool is_known(const char *who) {
    static uint64_t known[64];
    static size_t count;
    uint64_t hash = 14695981039346656037ULL;
    for (const char *c = who; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 1099511628211ULL;
    for (size_t i = 0; i < count; i++)
        if (known[i] == hash)
            return true;
    if (count == sizeof known / sizeof known[0])
        return true;
    known[count++] = hash;
    return false;
}

const char *cli_noise(const char *who, dx_text text) {
    static char warning[400];
    enum { SHOWN = 60 };
    if (is_known(who))
        return NULL;
    while (text.len && strchr("\r\n", text.at[text.len - 1]))
        text.len--;
    bool lost = text.len && memmem(text.at, text.len, "{\"jsonrpc\"", 10);
    size_t len = text.len;
    if (len > SHOWN)
        for (len = SHOWN; len && ((unsigned char)text.at[len] & 0xc0) == 0x80;)
            len--;
    snprintf(
        warning, sizeof warning,
        "warning: %.100s printed text on stdout that is not JSON-RPC: \"%.*s%s\" (it breaks strict"
        " clients%s)",
        who, (int)len, text.at, len < text.len ? "…" : "",
        lost ? ", and the message on that line is lost" : "");
    return warning;
}

bool cli_warn_noise(const char *kind, const char *name, const char *phrase,
                    void (*clear)(void *user), void *user) {
    static const char begin[] = "text on stdout that is not JSON-RPC: ";
    char who[100];
    if (cli_voice.json || strncmp(phrase, begin, sizeof begin - 1) != 0)
        return false;
    snprintf(who, sizeof who, "the %s '%.80s'", kind, name);
    const char *warning = cli_noise(who, dx_str(phrase + sizeof begin - 1));
    if (warning && clear)
        clear(user);
    if (warning)
        cli_warn("%s", warning);
    return true;
}

/* Do so many lines follow an error line that its surroundings would hide the end? The lines of its
 * stack trace do not count. */
static bool is_far(dx_text text, dx_text line, size_t most) {
    size_t count = 0;
    const char *end = text.at + text.len;
    for (const char *at = line.at + line.len; (at = memchr(at, '\n', (size_t)(end - at)));)
        count += ++at < end && *at != ' ' && *at != '\t';
    return count > most && dx__crash_is_error(line);
}

/* The lines that people like to read: about ten, around the one that says why it ended, or the last
 * ones if that is far from the end. If the text was cut, its first line has lost its beginning. */
static dx_text telling_lines(dx_text text, bool cut) {
    enum { BEFORE = 5, AFTER = 4 };
    const char *newline = cut ? memchr(text.at, '\n', text.len) : NULL;
    if (newline && newline + 1 < text.at + text.len)
        text = (dx_text){newline + 1, (size_t)(text.at + text.len - newline - 1)};
    dx_text line = dx__crash_line(text);
    if (line.len && is_far(text, line, BEFORE + AFTER))
        line.len = 0;
    size_t at = line.len ? (size_t)(line.at - text.at) : text.len;
    size_t end = line.len ? at + line.len : text.len;
    int lines = 0;
    while (end < text.len && (text.at[end] != '\n' || lines++ < AFTER))
        end++;
    /* What is not shown after it is shown before it. */
    lines -= AFTER + 1;
    while (at && (text.at[at - 1] != '\n' || lines++ < BEFORE))
        at--;
    return (dx_text){text.at + at, end - at + (end < text.len)};
}

bool cli_tail_is_wanted(const char *errors) {
    return !errors || strcmp(errors, "tail") == 0;
}

int cli_tail_fail(const cli_tail *tail, const char *errors, int code, const char *message,
                  yyjson_mut_doc *doc, yyjson_mut_val *more) {
    dx_text text = {tail->bytes, cli_tail_is_wanted(errors) ? tail->len : 0};
    if (!cli_voice.json)
        text = telling_lines(text, tail->len == sizeof tail->bytes);
    message = message ? message : "out of memory";
    /* How it ended has its last line already. */
    size_t len = strlen(message);
    size_t line = text.len ? text.len - 1 : 0;
    if (!cli_voice.json && line && line <= len && memcmp(message + len - line, text.at, line) == 0)
        text.len = 0;
    return cli_fail_with(code, message, doc, more, text);
}
