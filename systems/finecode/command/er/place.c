/* Positions: lines end with LF, CR LF or CR, as LSP has them, and columns are UTF-16 units. */
#include "systems/finecode/command/er/tools.h"

#include "base/utf8.h"

#include <string.h>

void place_begin(struct place *place, const char *text, size_t len) {
    *place = (struct place){.text = text, .len = len};
}

/* Where the line that begins at `at` ends, without its end. */
static size_t end_of(const struct place *place, size_t at) {
    while (at < place->len && place->text[at] != '\n' && place->text[at] != '\r')
        at++;
    return at;
}

/* Where the next one begins; 0: there is none. */
static size_t next_of(const struct place *place, size_t at) {
    size_t end = end_of(place, at);
    if (end == place->len)
        return 0;
    bool both = place->text[end] == '\r' && end + 1 < place->len && place->text[end + 1] == '\n';
    return end + (both ? 2 : 1);
}

void place_to_line(struct place *place, size_t line) {
    if (line < place->line)
        place->line = place->begin = 0;
    while (place->line < line) {
        size_t next = next_of(place, place->begin);
        if (!next)
            break;
        place->begin = next;
        place->line++;
    }
}

/* A byte that belongs to no character counts as one. */
static size_t step(const struct place *place, size_t at, size_t end, size_t *ret_units) {
    size_t len = dx__utf8(place->text + at, end - at);
    *ret_units = len == 4 ? 2 : 1;
    return len ? len : 1;
}

size_t place_units(const struct place *place, size_t bytes) {
    size_t end = end_of(place, place->begin);
    size_t until = bytes < end - place->begin ? place->begin + bytes : end;
    size_t units = 0;
    for (size_t at = place->begin, more; at < until; units += more)
        at += step(place, at, end, &more);
    return units;
}

size_t place_bytes_of_chars(const struct place *place, size_t chars) {
    size_t end = end_of(place, place->begin);
    size_t at = place->begin;
    for (size_t more; chars && at < end; chars--)
        at += step(place, at, end, &more);
    return at - place->begin;
}

size_t place_units_of_chars(const struct place *place, size_t chars) {
    return place_units(place, place_bytes_of_chars(place, chars));
}

size_t place_to_byte(struct place *place, size_t offset) {
    if (offset < place->begin)
        place->line = place->begin = 0;
    for (size_t next; (next = next_of(place, place->begin)) && next <= offset; place->line++)
        place->begin = next;
    return place_units(place, offset - place->begin);
}

static bool is_word(char c) {
    unsigned char low = (unsigned char)c | 0x20;
    return (low >= 'a' && low <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
           ((unsigned char)c & 0x80);
}

size_t place_word_end(const struct place *place, size_t bytes) {
    size_t end = end_of(place, place->begin);
    size_t at = bytes < end - place->begin ? place->begin + bytes : end;
    size_t begin = at;
    while (at < end && is_word(place->text[at]))
        at++;
    return (at > begin || at == end ? at : at + 1) - place->begin;
}
