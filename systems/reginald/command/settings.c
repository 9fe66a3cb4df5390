#include "systems/reginald/command/settings.h"

#include "systems/reginald/command/file.h"
#include "systems/reginald/command/flags.h"

#include "cli/say.h"

#include <duplex/toml.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char no_memory[] = "out of memory";

const char *settings_type(dx_reginald_type type) {
    return type == DX_REGINALD_BOOL ? "bool" : type == DX_REGINALD_INT ? "int" : "string";
}

/* Capitals and digits; everything else is "_", as a hyphen is. */
static size_t put_capitals(char *room, size_t len, size_t size, const char *text) {
    for (; *text && len + 1 < size; text++) {
        char c = *text;
        bool lower = c >= 'a' && c <= 'z';
        bool plain = (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        room[len++] = lower ? (char)(c - 'a' + 'A') : plain ? c : '_';
    }
    room[len] = '\0';
    return len;
}

void settings_variable(const char *scope, const dx_reginald_entry *entry, char room[256]) {
    bool has = !entry->flag_only && (scope || (entry->env && *entry->env));
    room[0] = '\0';
    if (!has)
        return;
    if (entry->env && *entry->env) {
        snprintf(room, 256, "REGINALD_%s", entry->env);
        return;
    }
    size_t len = put_capitals(room, 0, 256, "REGINALD_");
    len = put_capitals(room, len, 256, scope);
    len = put_capitals(room, len, 256, "_");
    put_capitals(room, len, 256, entry->value.key);
}

/* {key, value, type}, in the order in which the real host has them. */
static bool add(yyjson_mut_doc *doc, yyjson_mut_val *list, const char *key, dx_reginald_type type,
                yyjson_mut_val *value) {
    yyjson_mut_val *object = yyjson_mut_arr_add_obj(doc, list);
    return object && value && yyjson_mut_obj_add_strcpy(doc, object, "key", key) &&
           yyjson_mut_obj_add_val(doc, object, "value", value) &&
           yyjson_mut_obj_add_str(doc, object, "type", settings_type(type));
}

bool settings_add_bool(yyjson_mut_doc *doc, yyjson_mut_val *list, const char *key, bool value) {
    return add(doc, list, key, DX_REGINALD_BOOL, yyjson_mut_bool(doc, value));
}

static bool read_bool(const char *text, bool *ret) {
    static const char *const words[] = {"true", "1", "t", "false", "0", "f"};
    for (size_t i = 0; i < 6; i++)
        if (strcasecmp(text, words[i]) == 0) {
            *ret = i < 3;
            return true;
        }
    return false;
}

/* The value of a text of the command line or the environment; NULL if it does not fit. */
static yyjson_mut_val *value_of_text(yyjson_mut_doc *doc, dx_reginald_type type, const char *text) {
    if (type == DX_REGINALD_STRING) {
        /* JSON is UTF-8, a word of the command line need not be. */
        yyjson_mut_val *room = yyjson_mut_obj(doc);
        bool clean = room && cli_add_text(doc, room, "", dx_str(text));
        return clean ? yyjson_mut_obj_remove_key(room, "") : NULL;
    }
    if (type == DX_REGINALD_BOOL) {
        bool value;
        return read_bool(text, &value) ? yyjson_mut_bool(doc, value) : NULL;
    }
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    bool fits = *text && (*text == '-' || (*text >= '0' && *text <= '9')) && !*end && !errno;
    return fits ? yyjson_mut_sint(doc, number) : NULL;
}

/* The type that a value of the file has; 0: none of the three. */
static int type_of(yyjson_val *value) {
    if (yyjson_is_bool(value))
        return DX_REGINALD_BOOL;
    if (yyjson_is_int(value))
        return DX_REGINALD_INT;
    return yyjson_is_str(value) && dx_toml_kind_of(value) == DX_TOML_OTHER ? DX_REGINALD_STRING : 0;
}

static yyjson_mut_val *value_of_default(yyjson_mut_doc *doc, const dx_reginald_value *value) {
    if (value->type == DX_REGINALD_BOOL)
        return yyjson_mut_bool(doc, value->number != 0);
    if (value->type == DX_REGINALD_INT)
        return yyjson_mut_sint(doc, value->number);
    return yyjson_mut_strcpy(doc, value->text ? value->text : "");
}

/* Does what the file says fit? */
static bool check_file(const struct settings *settings, const char *place,
                       const dx_reginald_entry *entry, yyjson_val *value, char why[SETTINGS_WHY]) {
    const char *key = entry->value.key;
    if (entry->flag_only) {
        snprintf(why, SETTINGS_WHY, "%s: %s.%s: it can only be set with the flag --%s",
                 settings->file, place, key, flags_name(entry));
        return false;
    }
    if (type_of(value) == (int)entry->value.type)
        return true;
    snprintf(why, SETTINGS_WHY, "%s: %s.%s: expected %s, got %s", settings->file, place, key,
             settings_type(entry->value.type), file_kind(value));
    return false;
}

/* The number of the first table that has the key; SETTINGS_TABLES if none has. */
static size_t table_of(const struct settings *settings, const char *key) {
    size_t i = 0;
    while (i < SETTINGS_TABLES && !yyjson_obj_get(settings->tables[i].values, key))
        i++;
    return i;
}

/* Does another table that means the same have the key as well? Defaults may. */
static bool is_twice(const struct settings *settings, size_t at, const char *key,
                     char why[SETTINGS_WHY]) {
    for (size_t i = at + 1; i < SETTINGS_TABLES; i++) {
        const char *place = settings->tables[i].place;
        if (!yyjson_obj_get(settings->tables[i].values, key) || strncmp(place, "defaults.", 9) == 0)
            continue;
        snprintf(why, SETTINGS_WHY, "%s: %s.%s and %s.%s are the same setting", settings->file,
                 settings->tables[at].place, key, place, key);
        return true;
    }
    return false;
}

static bool resolve_one(const struct settings *settings, size_t index, yyjson_mut_doc *doc,
                        yyjson_mut_val *list, char why[SETTINGS_WHY]) {
    const dx_reginald_entry *entry = &settings->entries[index];
    const dx_reginald_value *own = &entry->value;
    const char *flag = settings->given ? settings->given[index] : NULL;
    size_t at = table_of(settings, own->key);
    yyjson_val *in_file =
        at < SETTINGS_TABLES ? yyjson_obj_get(settings->tables[at].values, own->key) : NULL;
    yyjson_mut_val *value;
    char variable[256];
    settings_variable(settings->scope, entry, variable);
    const char *env = *variable ? getenv(variable) : NULL;
    const char *text = flag ? flag : env && *env ? env : NULL;
    /* Also if something else wins: what is wrong in a file is told when it is first read. */
    if (in_file && (is_twice(settings, at, own->key, why) ||
                    !check_file(settings, settings->tables[at].place, entry, in_file, why)))
        return false;
    if (!text && !in_file && settings->open)
        return true;
    value = text      ? value_of_text(doc, own->type, text)
            : in_file ? yyjson_val_mut_copy(doc, in_file)
                      : value_of_default(doc, own);
    if (text && !value) {
        snprintf(why, SETTINGS_WHY, "%s%s: expected %s, got '%s'", flag ? "--" : "",
                 flag ? flags_name(entry) : variable, settings_type(own->type), text);
        return false;
    }
    memcpy(why, no_memory, sizeof no_memory);
    return add(doc, list, own->key, own->type, value);
}

static bool is_declared(const struct settings *settings, yyjson_val *key) {
    for (size_t i = 0; i < flags_count(settings->entries); i++)
        if (yyjson_equals_str(key, settings->entries[i].value.key))
            return true;
    return false;
}

/* One that the plugin has not said anything about. */
static bool take_other(const struct settings *settings, const char *place, yyjson_val *key,
                       yyjson_val *value, yyjson_mut_doc *doc, yyjson_mut_val *list,
                       char why[SETTINGS_WHY]) {
    const char *name = file_text(key);
    int type = type_of(value);
    if (!settings->open || !name) {
        snprintf(why, SETTINGS_WHY, "%s: %s.%s: unknown setting", settings->file, place,
                 yyjson_get_str(key));
        return false;
    }
    if (!type) {
        snprintf(why, SETTINGS_WHY, "%s: %s.%s: expected bool, int or string, got %s",
                 settings->file, place, name, file_kind(value));
        return false;
    }
    memcpy(why, no_memory, sizeof no_memory);
    return add(doc, list, name, (dx_reginald_type)type, yyjson_val_mut_copy(doc, value));
}

bool settings_resolve(const struct settings *settings, yyjson_mut_doc *doc, yyjson_mut_val *list,
                      char why[SETTINGS_WHY]) {
    size_t index;
    size_t max;
    yyjson_val *key;
    yyjson_val *value;
    for (size_t i = 0; i < flags_count(settings->entries); i++)
        if (!resolve_one(settings, i, doc, list, why))
            return false;
    for (size_t i = 0; i < SETTINGS_TABLES; i++) {
        const struct settings_table *table = &settings->tables[i];
        yyjson_obj_foreach(table->values, index, max, key, value) {
            if (!is_declared(settings, key) && table_of(settings, yyjson_get_str(key)) == i &&
                !take_other(settings, table->place, key, value, doc, list, why))
                return false;
        }
    }
    return true;
}
