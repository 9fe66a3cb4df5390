/* Finds the messages of a file: one after the other, in batches (FHS, BHS, BTS, FTS), in the frames
 * of MLLP (0x0B before, 0x1C 0x0D after), after blank lines and byte order marks. */
#include "systems/hermes/hl7_parts.h"

#include <string.h>

enum { FRAME_START = 0x0b, FRAME_END = 0x1c };

struct scan {
    dx_text text;
    size_t which;
    hl7_layout *layout;
    bool open;   /* a message began … */
    bool framed; /* … in a frame */
    /* The next of each, so that a text that has only one of them stays linear. */
    size_t cr;
    size_t lf;
};

static size_t find(dx_text text, size_t from, size_t known, char c) {
    if (known != SIZE_MAX && known >= from)
        return known;
    const char *found = from < text.len ? memchr(text.at + from, c, text.len - from) : NULL;
    return found ? (size_t)(found - text.at) : text.len;
}

static size_t line_end(struct scan *scan, size_t from) {
    scan->cr = find(scan->text, from, scan->cr, '\r');
    scan->lf = find(scan->text, from, scan->lf, '\n');
    return scan->cr < scan->lf ? scan->cr : scan->lf;
}

/* What may stand before a message in its line. */
static size_t skip_marks(dx_text text, size_t at, bool *ret_framed) {
    for (; at < text.len; at++) {
        if (text.len - at >= 3 && memcmp(text.at + at, "\xef\xbb\xbf", 3) == 0)
            at += 2;
        else if (text.at[at] == FRAME_START)
            *ret_framed = true;
        else if (text.at[at] != ' ' && text.at[at] != '\t')
            break;
    }
    return at;
}

static bool is_separator(char c) {
    return c > ' ' && c < 0x7f && !(c >= '0' && c <= '9') && !(c >= 'A' && c <= 'Z') &&
           !(c >= 'a' && c <= 'z');
}

static bool is_line_end(dx_text text, size_t at) {
    return at >= text.len || text.at[at] == '\r' || text.at[at] == '\n';
}

bool hl7_is_message(dx_text text) {
    return text.len > 3 && memcmp(text.at, "MSH", 3) == 0 && is_separator(text.at[3]);
}

static bool is_message(dx_text text, size_t at) {
    return hl7_is_message((dx_text){text.at + at, text.len - at});
}

/* The first and the last lines of files and batches. */
static bool is_envelope(dx_text text, size_t at) {
    static const char names[4][3] = {
        {'F', 'H', 'S'}, {'B', 'H', 'S'}, {'B', 'T', 'S'}, {'F', 'T', 'S'}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (text.len - at >= 3 && memcmp(text.at + at, names[i], 3) == 0)
            return is_line_end(text, at + 3) || is_separator(text.at[at + 3]);
    return false;
}

/* Is a frame over here? Without its beginning, only if nothing of the message could follow. */
static bool ends_frame(const struct scan *scan, size_t at) {
    bool starts = false;
    dx_text text = scan->text;
    if (!is_line_end(text, at + 1) && text.at[at + 1] != FRAME_START)
        return false;
    if (scan->framed)
        return true;
    for (at++; at < text.len && is_line_end(text, at);)
        at++;
    at = skip_marks(text, at, &starts);
    return starts || at == text.len || is_message(text, at) || is_envelope(text, at);
}

static void end_message(struct scan *scan, size_t at) {
    if (scan->open && scan->layout->messages == scan->which)
        scan->layout->to = at;
    scan->open = false;
}

static void start_message(struct scan *scan, size_t at, bool framed) {
    scan->open = true;
    scan->framed = framed;
    if (++scan->layout->messages == scan->which)
        scan->layout->from = at;
}

/* A line, or what is left of it after a frame. Returns where the next one begins. */
static size_t look_at_line(struct scan *scan, size_t from) {
    dx_text text = scan->text;
    bool framed = false;
    size_t at = skip_marks(text, from, &framed);
    size_t end = line_end(scan, at);
    if (is_message(text, at) || is_envelope(text, at) || (framed && at == end))
        end_message(scan, from);
    if (is_message(text, at))
        start_message(scan, at, framed);
    else if (!scan->open && !scan->layout->messages && at < end && !is_envelope(text, at))
        scan->layout->stray = true;
    for (const char *mark; scan->open && at < end; at++) {
        mark = memchr(text.at + at, FRAME_END, end - at);
        if (!mark)
            break;
        at = (size_t)(mark - text.at);
        if (ends_frame(scan, at)) {
            end_message(scan, at);
            return at + 1;
        }
    }
    return end + (end < text.len);
}

void hl7_layout_read(dx_text text, size_t which, hl7_layout *ret_layout) {
    struct scan scan = {text, which, ret_layout, false, false, SIZE_MAX, SIZE_MAX};
    *ret_layout = (hl7_layout){0, 0, 0, false};
    for (size_t at = 0; at < text.len;)
        at = look_at_line(&scan, at);
    end_message(&scan, text.len);
}
