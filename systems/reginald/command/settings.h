/* settings.h: the value that a setting has: a flag wins over the environment, that over the file,
 * that over the default. */
#ifndef REGINALD_SETTINGS_H
#define REGINALD_SETTINGS_H

#include <duplex/reginald.h>

#include <stdbool.h>
#include <yyjson.h>

enum { SETTINGS_WHY = 1024 };

/* A table of the file: what it is called there ("commands.sleep"), and it, or NULL. */
struct settings_table {
    const char *place;
    yyjson_val *values;
};
enum { SETTINGS_TABLES = 3 };

/* Whose settings, and where they may come from. */
struct settings {
    const dx_reginald_entry *entries;              /* what is declared */
    const char *file;                              /* its path, for messages */
    struct settings_table tables[SETTINGS_TABLES]; /* the first that has a key counts */
    const char *scope;        /* in the environment: REGINALD_SCOPE_KEY; NULL: only settings
                                 that name a variable of their own are looked for there */
    const char *const *given; /* flags: a text for each entry or NULL; may be NULL */
    bool open;                /* values that are not declared are taken, and only what is
                                 given is handed on, without the defaults */
};

/* Appends {key, value, type} for each of them. False, with a reason, if something does not fit. */
bool settings_resolve(const struct settings *settings, yyjson_mut_doc *doc, yyjson_mut_val *list,
                      char why[SETTINGS_WHY]);

/* Appends one. False without memory. */
bool settings_add_bool(yyjson_mut_doc *doc, yyjson_mut_val *list, const char *key, bool value);

/* The variable that it is read from; "" if there is none. */
void settings_variable(const char *scope, const dx_reginald_entry *entry, char room[256]);
const char *settings_type(dx_reginald_type type);

#endif
