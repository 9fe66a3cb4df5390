/* Positions: lines end with LF, CR LF or CR, as LSP has them, and columns are UTF-16 units. */
#include "systems/finecode/command/er/tools.h"

#include "base/utf8.h"

#include <string.h>

static void begin_line(struct place *place, size_t begin) {
    const char *text = place->text;
    size_t end = begin;
    while (end < place->len && text[end] != '\n' && text[end] != '\r')
        end++;
    place->begin = place->at = begin;
    place->end = end;
    place->units = 0;
}

void place_begin(struct place *place, const char *text, size_t len) {
    *place = (struct place){.text = text, .len = len};
    begin_line(place, 0);
}

/* Where the next line begins; 0: there is none. */
static size_t next_of(const struct place *place) {
    size_t end = place->end;
    if (end == place->len)
        return 0;
    bool both = place->text[end] == '\r' && end + 1 < place->len && place->text[end + 1] == '\n';
    return end + (both ? 2 : 1);
}

void place_to_line(struct place *place, size_t line) {
    if (line < place->line)
        place_begin(place, place->text, place->len);
    for (size_t next; place->line < line && (next = next_of(place)); place->line++)
        begin_line(place, next);
}

/* A byte that belongs to no character counts as one. */
static size_t step(const struct place *place, size_t at, size_t *ret_units) {
    size_t len = dx__utf8(place->text + at, place->end - at);
    *ret_units = len == 4 ? 2 : 1;
    return len ? len : 1;
}

/* A line may be long, and have many places: it goes on from the last one if it can. */
size_t place_units(struct place *place, size_t bytes) {
    size_t len = place->end - place->begin;
    size_t until = place->begin + (bytes < len ? bytes : len);
    if (until < place->at) {
        place->at = place->begin;
        place->units = 0;
    }
    for (size_t more; place->at < until; place->units += more)
        place->at += step(place, place->at, &more);
    return place->units;
}

size_t place_bytes(const struct place *place, size_t count, enum columns columns) {
    size_t at = place->begin;
    if (columns == COLUMNS_BYTES)
        return count;
    for (size_t units; count && at < place->end;) {
        at += step(place, at, &units);
        units = columns == COLUMNS_UTF16 ? units : 1;
        count -= units < count ? units : count;
    }
    return at - place->begin;
}

size_t place_to_byte(struct place *place, size_t offset) {
    if (offset < place->begin)
        place_begin(place, place->text, place->len);
    for (size_t next; (next = next_of(place)) && next <= offset; place->line++)
        begin_line(place, next);
    return place_units(place, offset - place->begin);
}

static bool is_word(char c) {
    unsigned char low = (unsigned char)c | 0x20;
    return (low >= 'a' && low <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
           ((unsigned char)c & 0x80);
}

size_t place_word_end(const struct place *place, size_t bytes) {
    size_t at = bytes < place->end - place->begin ? place->begin + bytes : place->end;
    size_t begin = at;
    while (at < place->end && is_word(place->text[at]))
        at++;
    return (at > begin || at == place->end ? at : at + 1) - place->begin;
}
