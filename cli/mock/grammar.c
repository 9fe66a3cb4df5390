#include "cli/mock/grammar.h"

#include "cli/mock/fault.h"
#include "cli/mock/task.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

/* How deep values may lie in each other, and how many members an action or a rule can have. */
enum { DEPTH_MAX = 200, MEMBERS_MAX = 64 };

struct walk {
    bool (*on_regex)(yyjson_val *place, void *user);
    void *user;
    struct mock_flaw *flaw;
    size_t len; /* of the place at hand */
    unsigned depth;
    unsigned actions; /* that lie in each other */
};

/* The actions; what may stand beside them, and what must (the first of those). */
static const struct verb {
    const char *name;
    const char *others;
    bool has_do;
} verbs[] = {
    {"result", "", false},
    {"error", "", false},
    {"notify", " params ", false},
    {"request", " params id then else timeout ", false},
    {"message", "", false},
    {"delay", "", false},
    {"silence", "", false},
    {"raw", "", false},
    {"base64", "", false},
    {"garbage", "", false},
    {"stderr", "", false},
    {"split", " pause do ", true},
    {"together", "", false},
    {"flood", " do ", true},
    {"repeat", " every do ", true},
    {"length", " do ", true},
    {"framing", "", false},
    {"huge", "", false},
    {"exit", "", false},
    {"signal", "", false},
    {"ignore", "", false},
    {"close", "", false},
    {"stop-reading", "", false},
    {"grandchild", "", false},
    {"fault", "", false},
    {NULL, NULL, false},
};

static bool fail(struct walk *walk, const char *what) {
    snprintf(walk->flaw->what, sizeof walk->flaw->what, "%s", what);
    return false;
}

/* One step into a value, and back. */
static size_t enter(struct walk *walk, const char *name, size_t index) {
    size_t before = walk->len;
    char *place = walk->flaw->place;
    size_t room = sizeof walk->flaw->place - before;
    char number[24];
    walk->depth++;
    if (!name) {
        snprintf(number, sizeof number, "%zu", index);
        name = number;
    }
    if (room < 2 * strlen(name) + 2)
        return before; /* the place is told as far as there is room */
    place[walk->len++] = '/';
    for (; *name; name++) {
        if (*name == '~' || *name == '/')
            place[walk->len++] = '~';
        place[walk->len++] = *name == '~' ? '0' : *name == '/' ? '1' : *name;
    }
    place[walk->len] = '\0';
    return before;
}

static void leave(struct walk *walk, size_t before) {
    walk->len = before;
    walk->flaw->place[before] = '\0';
    walk->depth--;
}

int mock_signal_named(const char *name) {
    if (strncmp(name, "SIG", 3) == 0)
        name += 3;
    for (int number = 1; number < 32; number++) {
        const char *known = sigabbrev_np(number);
        if (known && strcmp(known, name) == 0)
            return number;
    }
    return 0;
}

/* Templates in the strings of a value. */
static bool check_value(struct walk *walk, yyjson_val *value) {
    size_t at;
    size_t max;
    yyjson_val *key;
    yyjson_val *part;
    char room[200];
    bool good = true;
    if (walk->depth > DEPTH_MAX)
        return fail(walk, "nested too deeply");
    if (yyjson_is_str(value)) {
        dx_text text = {yyjson_get_str(value), yyjson_get_len(value)};
        const char *flaw = mock_template_flaw(text, room, sizeof room);
        return flaw ? fail(walk, flaw) : true;
    }
    yyjson_obj_foreach(value, at, max, key, part) {
        if (!good)
            break;
        size_t before = enter(walk, yyjson_get_str(key), 0);
        good = check_value(walk, part);
        if (good)
            leave(walk, before);
    }
    yyjson_arr_foreach(value, at, max, part) {
        if (!good)
            break;
        size_t before = enter(walk, NULL, at);
        good = check_value(walk, part);
        if (good)
            leave(walk, before);
    }
    return good;
}

static bool check_twice(struct walk *walk, yyjson_val *object) {
    size_t at;
    size_t max;
    yyjson_val *key;
    yyjson_val *part;
    char what[100];
    if (yyjson_obj_size(object) > MEMBERS_MAX)
        return fail(walk, "too many members");
    yyjson_obj_foreach(object, at, max, key, part) {
        if (yyjson_obj_get(object, yyjson_get_str(key)) == part)
            continue;
        snprintf(what, sizeof what, "\"%.60s\" appears twice", yyjson_get_str(key));
        return fail(walk, what);
    }
    return true;
}

/* Actions. */

static bool check_do(struct walk *walk, yyjson_val *list);

static const struct verb *find_verb(const char *name) {
    const struct verb *verb = verbs;
    while (verb->name && strcmp(verb->name, name) != 0)
        verb++;
    return verb->name ? verb : NULL;
}

/* Which action it is; NULL: none, or several. */
static const struct verb *verb_of(struct walk *walk, yyjson_val *action) {
    const struct verb *found = NULL;
    size_t at;
    size_t max;
    yyjson_val *key;
    yyjson_val *part;
    char what[200];
    yyjson_obj_foreach(action, at, max, key, part) {
        const struct verb *verb = find_verb(yyjson_get_str(key));
        if (verb && found) {
            snprintf(what, sizeof what,
                     "\"%s\" and \"%s\" are two actions: put each into its own {}", found->name,
                     verb->name);
            fail(walk, what);
            return NULL;
        }
        if (verb)
            found = verb;
    }
    if (!found)
        fail(walk, "missing action, such as \"result\", \"notify\" or \"delay\"");
    return found;
}

/* Is it one of " these words "? */
static bool is_among(const char *words, const char *word) {
    size_t len = strlen(word);
    for (const char *at = words; (at = strstr(at, word)); at++)
        if (at > words && at[-1] == ' ' && at[len] == ' ')
            return true;
    return false;
}

static bool check_others(struct walk *walk, const struct verb *verb, yyjson_val *action) {
    size_t at;
    size_t max;
    yyjson_val *key;
    yyjson_val *part;
    char what[200];
    yyjson_obj_foreach(action, at, max, key, part) {
        const char *name = yyjson_get_str(key);
        if (strcmp(name, verb->name) == 0 || is_among(verb->others, name))
            continue;
        snprintf(what, sizeof what, "\"%s\" cannot be used with \"%s\"", name, verb->name);
        return fail(walk, what);
    }
    if (verb->has_do && !yyjson_obj_get(action, "do")) {
        snprintf(what, sizeof what, "\"%s\" needs \"do\"", verb->name);
        return fail(walk, what);
    }
    return true;
}

static bool check_name(struct walk *walk, const char *member, yyjson_val *value) {
    char what[200];
    const char *name = yyjson_get_str(value);
    bool is_signal = strcmp(member, "signal") == 0;
    bool is_ignore = strcmp(member, "ignore") == 0;
    if (is_signal || is_ignore) {
        int number = mock_signal_named(name);
        if (!number || (is_ignore && (number == SIGKILL || number == SIGSTOP))) {
            snprintf(what, sizeof what,
                     number ? "%.60s cannot be ignored" : "unknown signal '%.60s'", name);
            return fail(walk, what);
        }
    }
    if (strcmp(member, "base64") == 0 && yyjson_get_len(value) % 4)
        return fail(walk, "not base64: the length is not a multiple of 4");
    if (strcmp(member, "fault") == 0 && mock_fault_named(dx_str(name)) == MOCK_FAULT_COUNT) {
        snprintf(what, sizeof what, "unknown fault '%.60s'; 'duplex mock --list-faults' lists them",
                 name);
        return fail(walk, what);
    }
    return true;
}

static bool check_member(struct walk *walk, const char *name, yyjson_val *value) {
    static const char values[] = " result error params message raw stderr id notify request ";
    if (is_among(values, name))
        return check_value(walk, value);
    if (is_among(" do then else together ", name))
        return check_do(walk, value);
    return check_name(walk, name, value);
}

static bool check_action(struct walk *walk, yyjson_val *action) {
    const struct verb *verb;
    size_t at;
    size_t max;
    yyjson_val *key;
    yyjson_val *part;
    char what[80];
    if (walk->actions >= MOCK_NESTING) {
        snprintf(what, sizeof what, "actions are nested more than %d levels deep", MOCK_NESTING);
        return fail(walk, what);
    }
    if (!check_twice(walk, action) || !(verb = verb_of(walk, action)) ||
        !check_others(walk, verb, action))
        return false;
    walk->actions++;
    yyjson_obj_foreach(action, at, max, key, part) {
        size_t before = enter(walk, yyjson_get_str(key), 0);
        if (!check_member(walk, yyjson_get_str(key), part))
            return false;
        leave(walk, before);
    }
    walk->actions--;
    return true;
}

static bool check_do(struct walk *walk, yyjson_val *list) {
    size_t at;
    size_t max;
    yyjson_val *action;
    if (!yyjson_is_arr(list))
        return check_action(walk, list);
    yyjson_arr_foreach(list, at, max, action) {
        size_t before = enter(walk, NULL, at);
        if (!check_action(walk, action))
            return false;
        leave(walk, before);
    }
    return true;
}

/* Patterns. */

bool mock_type_is(const char *word, yyjson_val *value, bool *ret_is) {
    const char *raw = yyjson_get_raw(value);
    bool is_whole = raw && !strpbrk(raw, ".eE");
    struct {
        const char *word;
        bool is;
    } types[] = {
        {"string", yyjson_is_str(value)},
        {"number", yyjson_is_raw(value)},
        {"integer", is_whole},
        {"boolean", yyjson_is_bool(value)},
        {"null", yyjson_is_null(value)},
        {"object", yyjson_is_obj(value)},
        {"array", yyjson_is_arr(value)},
    };
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strcmp(types[i].word, word) == 0) {
            *ret_is = types[i].is;
            return true;
        }
    return false;
}

static bool check_operator(struct walk *walk, const char *name, yyjson_val *pattern,
                           yyjson_val *value) {
    char what[100];
    bool is;
    if (yyjson_obj_size(pattern) != 1) {
        snprintf(what, sizeof what, "\"%.40s\" must be the only member", name);
        return fail(walk, what);
    }
    if (strcmp(name, "$any") == 0)
        return yyjson_is_true(value) ? true : fail(walk, "\"$any\" must be true");
    if (!yyjson_is_str(value) || (strcmp(name, "$regex") != 0 && strcmp(name, "$type") != 0)) {
        snprintf(what, sizeof what,
                 strcmp(name, "$regex") != 0 && strcmp(name, "$type") != 0
                     ? "unknown operator \"%.40s\": expected $regex, $type or $any"
                     : "\"%.40s\" must be a string",
                 name);
        return fail(walk, what);
    }
    if (strcmp(name, "$type") == 0)
        return mock_type_is(yyjson_get_str(value), NULL, &is)
                   ? true
                   : fail(walk,
                          "\"$type\" must be one of string, number, integer, boolean, null, object,"
                          " array");
    return walk->on_regex(pattern, walk->user); /* which says what is wrong */
}

static bool check_pattern(struct walk *walk, yyjson_val *pattern) {
    size_t at;
    size_t max;
    yyjson_val *key;
    yyjson_val *part;
    if (walk->depth > DEPTH_MAX)
        return fail(walk, "nested too deeply");
    yyjson_obj_foreach(pattern, at, max, key, part) {
        const char *name = yyjson_get_str(key);
        if (name[0] == '$')
            return check_operator(walk, name, pattern, part);
        size_t before = enter(walk, name, 0);
        if (!check_pattern(walk, part))
            return false;
        leave(walk, before);
    }
    yyjson_arr_foreach(pattern, at, max, part) {
        size_t before = enter(walk, NULL, at);
        if (!check_pattern(walk, part))
            return false;
        leave(walk, before);
    }
    return true;
}

static bool check_rule(struct walk *walk, yyjson_val *rule) {
    if (!check_twice(walk, rule))
        return false;
    size_t before = enter(walk, "params", 0);
    yyjson_val *params = yyjson_obj_get(rule, "params");
    if (params && !check_pattern(walk, params))
        return false;
    leave(walk, before);
    before = enter(walk, "do", 0);
    if (!check_do(walk, yyjson_obj_get(rule, "do")))
        return false;
    leave(walk, before);
    return true;
}

bool mock_grammar_check(yyjson_val *root, bool (*on_regex)(yyjson_val *place, void *user),
                        void *user, struct mock_flaw *reterr) {
    struct walk walk = {.on_regex = on_regex, .user = user, .flaw = reterr};
    static const char *const lists[] = {"start", "end", NULL};
    size_t at;
    size_t max;
    yyjson_val *rule;
    reterr->place[0] = '\0';
    if (!check_twice(&walk, root))
        return false;
    for (const char *const *name = lists; *name; name++) {
        yyjson_val *list = yyjson_obj_get(root, *name);
        size_t before = enter(&walk, *name, 0);
        if (list && !check_do(&walk, list))
            return false;
        leave(&walk, before);
    }
    size_t outer = enter(&walk, "on", 0);
    yyjson_arr_foreach(yyjson_obj_get(root, "on"), at, max, rule) {
        size_t before = enter(&walk, NULL, at);
        if (!check_rule(&walk, rule))
            return false;
        leave(&walk, before);
    }
    leave(&walk, outer);
    return true;
}
