/* Changes of a JSON text. The text is one that was made here, so it is not checked again. */
#include "mcp/equal/equal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char *const values[] = {
    "null",
    "true",
    "false",
    "0",
    "1",
    "-1",
    "0.5",
    "1.5",
    "1e300",
    "\"\"",
    "\"text\"",
    "\"no uri\"",
    "\"file:///x\"",
    "[]",
    "[null]",
    "[0.5]",
    "[\"text\"]",
    "[{}]",
    "{}",
    "{\"anyName\":null}",
    "{\"anyName\":0.5}",
    "{\"anyName\":{}}",
};
static const char *const added[] = {
    "null", "true", "5", "0.5", "\"text\"", "[]", "[5]", "{}", "{\"anyName\":5}",
};
enum { VALUES = sizeof values / sizeof *values, ADDED = sizeof added / sizeof *added };
static const char unknown[] = "anyName2";

struct changer {
    const char *json;
    const struct words *words;
    struct seen *seen;
    struct listener listener;
};

/* A value in the text. */
struct spot {
    const struct spot *above; /* the object or array that it lies in */
    size_t from;
    size_t to;
    uint64_t path;
    bool fresh; /* it was not changed before in the same surroundings */
};

static uint64_t hash(uint64_t seed, const char *bytes, size_t len) {
    for (size_t i = 0; i < len; i++)
        seed = (seed ^ (unsigned char)bytes[i]) * 0x100000001b3U;
    return seed;
}

static size_t string_end(const char *json, size_t at) {
    for (at++; json[at] != '"'; at++)
        at += json[at] == '\\';
    return at + 1;
}

static size_t value_end(const char *json, size_t at) {
    size_t open = 0;
    if (json[at] != '"' && json[at] != '{' && json[at] != '[')
        return at + strcspn(json + at, ",]}");
    do {
        char c = json[at];
        open += c == '{' || c == '[';
        open -= c == '}' || c == ']';
        at = c == '"' ? string_end(json, at) : at + 1;
    } while (open);
    return at;
}

/* Names and scalars; of what lies deeper, only that it is there. */
static uint64_t hash_shallow(uint64_t seed, const char *json, size_t from, size_t to) {
    if (json[from] != '{' && json[from] != '[')
        return hash(seed, json + from, to - from);
    seed = hash(seed, json + from, 1);
    for (size_t at = from + 1; at < to - 1;) {
        size_t end = value_end(json, at);
        bool deep = json[at] == '{' || json[at] == '[';
        seed = hash(seed, json + at, deep ? 1 : end - at);
        at = end + (end < to - 1); /* a comma or a colon */
    }
    return seed;
}

/* Instances differ in one branch, and are alike otherwise. What decides between the branches lies
 * in the same object as the value, or one further out. */
static struct spot spot_at(const struct changer *changer, const struct spot *above, size_t from,
                           size_t to, uint64_t path) {
    uint64_t place = hash_shallow(path, changer->json, from, to);
    const struct spot *around = above;
    for (int i = 0; around && i < 2; i++, around = around->above)
        place = hash_shallow(place, changer->json, around->from, around->to);
    return (struct spot){above, from, to, path, seen_add(changer->seen, place)};
}

static bool is_same(const char *json, size_t from, size_t to, const char *text) {
    return strlen(text) == to - from && memcmp(json + from, text, to - from) == 0;
}

static bool is_wanted(const struct changer *changer, bool essential) {
    return changer->listener.is_wanted(essential, changer->listener.user);
}

static void tell(const struct changer *changer, size_t from, size_t to, const char *by) {
    struct change change = {from, to, by, strlen(by)};
    changer->listener.on_change(&change, changer->listener.user);
}

static void replace(const struct changer *changer, size_t from, size_t to, const char *by,
                    bool essential) {
    if (!is_same(changer->json, from, to, by) && is_wanted(changer, essential))
        tell(changer, from, to, by);
}

/* Takes the text. */
static void replace_made(const struct changer *changer, size_t from, size_t to, char *by,
                         bool essential) {
    replace(changer, from, to, by, essential);
    free(by);
}

static bool is_constant(const struct changer *changer, size_t from, size_t to) {
    const struct texts *constants = &changer->words->constants;
    for (size_t i = 0; i < constants->count; i++)
        if (is_same(changer->json, from, to, constants->of[i]))
            return true;
    return false;
}

static void change_string(const struct changer *changer, const struct spot *spot) {
    const struct texts *constants = &changer->words->constants;
    size_t from = spot->from;
    size_t to = spot->to;
    bool constant = spot->fresh && is_constant(changer, from, to);
    replace(changer, to - 1, to - 1, "x", spot->fresh);
    char *upper = strndup(changer->json + from, to - from);
    if (!upper)
        abort();
    for (char *it = upper; *it; it++)
        *it = (char)toupper((unsigned char)*it);
    replace_made(changer, from, to, upper, spot->fresh);
    for (size_t i = 0; i < constants->count; i++)
        replace(changer, from, to, constants->of[i], constant);
}

static void change_number(const struct changer *changer, const struct spot *spot) {
    double was = strtod(changer->json + spot->from, NULL);
    const double numbers[] = {-was, was + 0.25, was + 1000};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        replace_made(changer, spot->from, spot->to, print("%.17g", numbers[i]), spot->fresh);
}

static char *repeated(const char *item, size_t len, size_t times) {
    char *text = malloc(times * (len + 1) + 2);
    if (!text)
        abort();
    char *at = text;
    for (size_t i = 0; i < times; i++) {
        *at++ = i ? ',' : '[';
        memcpy(at, item, len);
        at += len;
    }
    memcpy(at, "]", 2);
    return text;
}

static void change_value(const struct changer *changer, const struct spot *spot);

static void change_below(const struct changer *changer, const struct spot *above, size_t from,
                         size_t to, uint64_t path) {
    struct spot spot = spot_at(changer, above, from, to, path);
    change_value(changer, &spot);
}

static void change_array(const struct changer *changer, const struct spot *spot) {
    const char *json = changer->json;
    size_t from = spot->from;
    size_t to = spot->to;
    bool empty = to - from == 2;
    for (size_t i = 0; i < VALUES; i++) {
        char *item = print("%s%s", empty ? "" : ",", values[i]);
        replace_made(changer, to - 1, to - 1, item, spot->fresh);
    }
    if (empty)
        return;
    /* A hundred is the one limit that MCP has for arrays. */
    static const size_t times[] = {2, 100, 101};
    size_t first = value_end(json, from + 1) - from - 1;
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        replace_made(changer, from, to, repeated(json + from + 1, first, times[i]), spot->fresh);
    for (size_t at = from + 1; at < to; at = value_end(json, at) + 1)
        change_below(changer, spot, at, value_end(json, at), hash(spot->path, "[]", 2));
}

static bool has_member(const char *json, size_t from, size_t to, const char *name) {
    for (size_t at = from + 1; at < to - 1;) {
        size_t key = string_end(json, at);
        if (is_same(json, at + 1, key - 1, name))
            return true;
        at = value_end(json, key + 1) + 1;
    }
    return false;
}

static char *member_text(bool first, const char *name, const char *value) {
    return print("%s\"%s\":%s", first ? "" : ",", name, value);
}

static void add_member(const struct changer *changer, size_t from, size_t to, const char *name,
                       bool essential) {
    if (has_member(changer->json, from, to, name))
        return;
    for (size_t i = 0; i < ADDED; i++)
        if (is_wanted(changer, essential)) {
            char *member = member_text(to - from == 2, name, added[i]);
            tell(changer, to - 1, to - 1, member);
            free(member);
        }
}

/* Where a member begins and ends, with the comma that leaves with it. */
static void cut_of(const char *json, size_t at, size_t end, size_t *ret_from, size_t *ret_to) {
    bool last = json[end] != ',';
    *ret_from = last && json[at - 1] == ',' ? at - 1 : at;
    *ret_to = last ? end : end + 1;
}

static void change_object(const struct changer *changer, const struct spot *spot) {
    const char *json = changer->json;
    const struct texts *names = &changer->words->names;
    size_t from = spot->from;
    size_t to = spot->to;
    for (size_t at = from + 1; at < to - 1;) {
        size_t value = string_end(json, at) + 1;
        size_t end = value_end(json, value);
        size_t cut_from;
        size_t cut_to;
        cut_of(json, at, end, &cut_from, &cut_to);
        replace(changer, cut_from, cut_to, "", spot->fresh);
        change_below(changer, spot, value, end, hash(spot->path, json + at, value - at));
        at = end + 1;
    }
    add_member(changer, from, to, unknown, spot->fresh);
    for (size_t i = 0; i < names->count; i++)
        add_member(changer, from, to, names->of[i], false);
}

static void change_value(const struct changer *changer, const struct spot *spot) {
    char c = changer->json[spot->from];
    for (size_t i = 0; i < VALUES; i++)
        replace(changer, spot->from, spot->to, values[i], spot->fresh);
    if (c == '"')
        change_string(changer, spot);
    else if (c == '-' || isdigit((unsigned char)c))
        change_number(changer, spot);
    else if (c == '[')
        change_array(changer, spot);
    else if (c == '{')
        change_object(changer, spot);
}

void changes_each(const char *json, const struct words *words, struct seen *seen,
                  const struct listener *listener) {
    struct changer changer = {json, words, seen, *listener};
    change_below(&changer, NULL, 0, strlen(json), 0xcbf29ce484222325U);
}

static size_t random_below(uint64_t *seed, size_t limit) {
    *seed = *seed * 6364136223846793005U + 1442695040888963407U;
    return (size_t)((*seed >> 33) % limit);
}

/* One of the values in the text, all equally likely; *ret_key is where its name begins, or 0. */
static size_t random_value(const char *json, uint64_t *seed, size_t *ret_key) {
    size_t found = 0;
    size_t seen = 1;
    size_t key = 0;
    *ret_key = 0;
    for (size_t at = 0; json[at];) {
        char c = json[at];
        size_t end = c == '"' ? string_end(json, at) : at + 1;
        bool begins = !strchr(",:]}", c);
        if (c == '"' && json[end] == ':') {
            key = at;
        } else if (begins && at) {
            if (random_below(seed, ++seen) == 0) {
                found = at;
                *ret_key = key;
            }
            key = 0;
        }
        at = begins && c != '"' && c != '{' && c != '[' ? value_end(json, at) : end;
    }
    return found;
}

static char *spliced(const char *json, size_t from, size_t to, const char *by) {
    return print("%.*s%s%s", (int)from, json, by, json + to);
}

char *changes_random(const char *json, const struct words *words, uint64_t *seed) {
    size_t key;
    size_t from = random_value(json, seed, &key);
    size_t to = value_end(json, from);
    size_t kind = random_below(seed, 4);
    if (kind == 0 && key) {
        cut_of(json, key, to, &from, &to);
        return spliced(json, from, to, "");
    }
    const char *name = words->names.of[random_below(seed, words->names.count)];
    if (kind == 1 && json[from] == '{' && !has_member(json, from, to, name)) {
        char *member = member_text(to - from == 2, name, added[random_below(seed, ADDED)]);
        char *text = spliced(json, to - 1, to - 1, member);
        free(member);
        return text;
    }
    if (kind == 2 && json[from] == '"')
        return spliced(json, from, to,
                       words->constants.of[random_below(seed, words->constants.count)]);
    return spliced(json, from, to, values[random_below(seed, VALUES)]);
}
