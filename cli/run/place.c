#include "cli/run/place.h"

#include <duplex/rpc.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A text that is known to be right is walked through, so little can go wrong; the end of it is all
 * that is looked out for. */
struct walk {
    dx_text text;
    size_t at;
};

static char here(const struct walk *walk) {
    return walk->at < walk->text.len ? walk->text.at[walk->at] : '\0';
}

static bool looks_at(const struct walk *walk, const char *what) {
    size_t len = strlen(what);
    return walk->text.len - walk->at >= len && memcmp(walk->text.at + walk->at, what, len) == 0;
}

static void skip_past(struct walk *walk, const char *what) {
    while (walk->at < walk->text.len && !looks_at(walk, what))
        walk->at++;
    walk->at += walk->at < walk->text.len ? strlen(what) : 0;
}

/* White space and comments. */
static void skip_space(struct walk *walk) {
    for (;;) {
        if (looks_at(walk, "//"))
            skip_past(walk, "\n");
        else if (looks_at(walk, "/*"))
            skip_past(walk, "*/");
        else if (here(walk) && strchr(" \t\r\n", here(walk)))
            walk->at++;
        else
            return;
    }
}

/* Its quotes included. */
static dx_text take_string(struct walk *walk) {
    size_t from = walk->at++;
    while (walk->at < walk->text.len && here(walk) != '"')
        walk->at += here(walk) == '\\' ? 2 : 1;
    walk->at = walk->at < walk->text.len ? walk->at + 1 : walk->text.len;
    return (dx_text){walk->text.at + from, walk->at - from};
}

static void skip_value(struct walk *walk) {
    size_t depth = 0;
    while (walk->at < walk->text.len) {
        skip_space(walk);
        char c = here(walk);
        if (!depth && (c == ',' || c == '}' || c == ']'))
            return;
        if (c == '"') {
            take_string(walk);
            continue;
        }
        depth += c == '{' || c == '[';
        depth -= c == '}' || c == ']';
        walk->at++;
    }
}

static bool same(dx_text quoted, dx_text name) {
    char *room = malloc(quoted.len + 1);
    dx_text found = {NULL, 0};
    bool is = room && dx_rpc_string(quoted, room, &found) == DX_OK && found.len == name.len &&
              memcmp(found.at, name.at, name.len) == 0;
    free(room);
    return is;
}

/* To the value of that member; *ret_name is where its name stands. */
static bool enter_object(struct walk *walk, dx_text name, unsigned skip, size_t *ret_name) {
    walk->at++;
    for (;;) {
        skip_space(walk);
        if (here(walk) != '"')
            return false;
        size_t at = walk->at;
        bool found = same(take_string(walk), name);
        skip_space(walk);
        walk->at++;
        skip_space(walk);
        if (found && !skip) {
            *ret_name = at;
            return true;
        }
        skip -= found;
        skip_value(walk);
        walk->at += here(walk) == ',';
    }
}

static bool enter_array(struct walk *walk, dx_text index) {
    unsigned long left = 0;
    for (size_t i = 0; i < index.len && left < 1000000; i++)
        left = left * 10 + (unsigned long)(index.at[i] - '0');
    walk->at++;
    for (;;) {
        skip_space(walk);
        if (!here(walk) || here(walk) == ']')
            return false;
        if (!left--)
            return true;
        skip_value(walk);
        walk->at += here(walk) == ',';
    }
}

/* The next step of the pointer without its escapes; `room` has space for all of it. */
static dx_text next_step(const char **pointer, char *room) {
    size_t len = 0;
    const char *at = *pointer + 1;
    for (; *at && *at != '/'; at++) {
        bool escape = at[0] == '~' && (at[1] == '0' || at[1] == '1');
        room[len++] = !escape ? *at : *++at == '0' ? '~' : '/';
    }
    *pointer = at;
    return (dx_text){room, len};
}

void cli_place_of(dx_text text, size_t at, size_t *ret_line, size_t *ret_column) {
    *ret_line = *ret_column = 1;
    for (size_t i = 0; i < at && i < text.len; i++) {
        *ret_column = text.at[i] == '\n' ? 1 : *ret_column + 1;
        *ret_line += text.at[i] == '\n';
    }
}

void cli_place(dx_text text, const char *pointer, unsigned skip, size_t *ret_line,
               size_t *ret_column) {
    struct walk walk = {text, 0};
    char *room = malloc(strlen(pointer) + 1);
    skip_space(&walk);
    size_t found = walk.at;
    while (room && *pointer == '/') {
        dx_text step = next_step(&pointer, room);
        size_t name = 0;
        bool last = *pointer != '/';
        bool in = here(&walk) == '{'   ? enter_object(&walk, step, last ? skip : 0, &name)
                  : here(&walk) == '[' ? enter_array(&walk, step)
                                       : false;
        if (!in)
            break;
        found = last && skip ? name : walk.at;
    }
    free(room);
    cli_place_of(text, found, ret_line, ret_column);
}
