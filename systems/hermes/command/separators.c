/* Separators in a value that the user sets: they become text, which may not be what was meant. */
#include "systems/hermes/command/console.h"

#include <stdlib.h>
#include <string.h>

/* As in MSH.1 and MSH.2. */
enum mark { FIELD, COMPONENT, REPETITION, ESCAPE, SUBCOMPONENT, MARKS };

/* A path; the numbers are 0 if it does not have them. */
struct place {
    int segment_len;
    char sign; /* between the segment and the field */
    unsigned long field;
    unsigned long component;
};

static struct place place_of(const char *path) {
    struct place place = {.segment_len = (int)strcspn(path, ".- ")};
    char *end;
    place.sign = path[place.segment_len];
    if (!place.sign)
        return place;
    place.field = strtoul(path + place.segment_len + 1, &end, 10);
    end += strcspn(end, ".- ");
    place.component = *end ? strtoul(end + 1, NULL, 10) : 0;
    return place;
}

static bool is_header(const char *path, const struct place *place) {
    return strncmp(path, "MSH", 3) == 0 && place->field <= 2;
}

static bool get(const dx_hermes *editor, const char *path, dx_buf *out) {
    dx_buf_init(out, SIZE_MAX / 2, NULL);
    return dx_hermes_get(editor, dx_str(path), out, NULL) == DX_OK;
}

/* The separators of the message; '\0' for one that it does not have. */
static void read_marks(const dx_hermes *editor, char marks[MARKS]) {
    dx_buf text;
    memset(marks, '\0', MARKS);
    if (get(editor, "MSH.1", &text) && text.len)
        marks[FIELD] = text.data[0];
    dx_buf_done(&text);
    if (get(editor, "MSH.2", &text) && text.len)
        memcpy(marks + COMPONENT, text.data, text.len < MARKS - 1 ? text.len : MARKS - 1);
    dx_buf_done(&text);
}

/* One of the two paths that are named as examples. */
static void name_part(const char *path, const struct place *place, enum mark mark, unsigned number,
                      char *to, size_t room) {
    unsigned long component = place->component ? place->component : 1;
    int n = snprintf(to, room, "%.*s%c%lu", place->segment_len, path, place->sign,
                     place->field + (mark == FIELD ? number - 1 : 0));
    size_t len = n > 0 && (size_t)n < room ? (size_t)n : 0;
    if (mark == COMPONENT)
        snprintf(to + len, room - len, ".%u", number);
    else if (mark == REPETITION)
        snprintf(to + len, room - len, "[%u]", number);
    else if (mark == SUBCOMPONENT)
        snprintf(to + len, room - len, ".%lu.%u", component, number);
}

static void add_note(const char *path, const struct place *place, enum mark mark, char c,
                     char note[NOTE_ROOM]) {
    static const char *const parts[MARKS] = {"fields", "components", "repetitions", "",
                                             "subcomponents"};
    char first[100] = "";
    char second[100] = "";
    size_t len = strlen(note);
    name_part(path, place, mark, 1, first, sizeof first);
    name_part(path, place, mark, 2, second, sizeof second);
    snprintf(note + len, NOTE_ROOM - len,
             "%s'%c' is stored as text, escaped; to set %s, use %s, %s", len ? "; " : "", c,
             parts[mark], first, second);
}

bool separators_look(const dx_hermes *editor, const char *path, const char *value,
                     char note[NOTE_ROOM]) {
    struct place place = place_of(path);
    char marks[MARKS];
    dx_buf old;
    bool is_there = get(editor, path, &old) && old.len == strlen(value) &&
                    (!old.len || memcmp(old.data, value, old.len) == 0);
    dx_buf_done(&old);
    note[0] = '\0';
    if (is_there || is_header(path, &place))
        return false;
    read_marks(editor, marks);
    for (enum mark mark = FIELD; mark < MARKS; mark++)
        if (mark != ESCAPE && marks[mark] && strchr(value, marks[mark]))
            add_note(path, &place, mark, marks[mark], note);
    return note[0] != '\0';
}
