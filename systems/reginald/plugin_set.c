/* Settings, as the host sends them. */
#include "systems/reginald/plugin_parts.h"

#include <stdlib.h>
#include <string.h>

static const char *type_name(dx_reginald_type type) {
    return type == DX_REGINALD_BOOL ? "bool" : type == DX_REGINALD_INT ? "int" : "string";
}

static dx_status misfit(dx__reginald_plugin_line *why, dx_text key, const char *what) {
    dx__reginald_plugin_say(why, dx_str("the setting \""));
    dx__reginald_plugin_say(why, key);
    dx__reginald_plugin_say(why, dx_str("\" "));
    dx__reginald_plugin_say(why, dx_str(what));
    return DX_MISFIT;
}

/* A string of ours ends at its first NUL, and so would mean something else. */
static bool has_nul(dx_text text) {
    return text.len && memchr(text.at, '\0', text.len);
}

/* What JSON calls an integer may be too large for one of ours, or be written as 3.0. */
static bool read_int(yyjson_val *value, int64_t *ret) {
    static const double exact = 9007199254740992.0; /* 2^53 */
    if (yyjson_is_sint(value)) {
        *ret = yyjson_get_sint(value);
        return true;
    }
    if (yyjson_is_uint(value)) {
        *ret = (int64_t)yyjson_get_uint(value);
        return yyjson_get_uint(value) <= INT64_MAX;
    }
    double real = yyjson_get_real(value);
    if (!yyjson_is_real(value) || !(real >= -exact && real <= exact))
        return false;
    *ret = (int64_t)real;
    return (double)*ret == real;
}

/* Its type is what it is declared as by the message itself; the two must agree. */
static dx_status read_value(dx__reginald_plugin_set *set, yyjson_val *from, dx_text key,
                            dx_reginald_value *to, dx__reginald_plugin_line *why) {
    yyjson_val *value = yyjson_obj_get(from, "value");
    dx_text type = dx_json_string(yyjson_obj_get(from, "type"));
    if (yyjson_is_bool(value) && dx_text_is(type, "bool")) {
        *to = (dx_reginald_value){.type = DX_REGINALD_BOOL, .number = yyjson_get_bool(value)};
    } else if (yyjson_is_num(value) && dx_text_is(type, "int")) {
        to->type = DX_REGINALD_INT;
        if (!read_int(value, &to->number))
            return misfit(why, key, "is not a 64-bit integer");
    } else if (yyjson_is_str(value) && dx_text_is(type, "string")) {
        to->type = DX_REGINALD_STRING;
        if (has_nul(dx_json_string(value)))
            return misfit(why, key, "contains a NUL");
        to->text = dx__reginald_plugin_copy(&set->pool, dx_json_string(value));
        if (!to->text)
            return DX_ERR_NOMEM;
    } else {
        return misfit(why, key, "has a value that does not match its type");
    }
    to->key = dx__reginald_plugin_copy(&set->pool, key);
    return to->key ? DX_OK : DX_ERR_NOMEM;
}

static const dx_reginald_entry *declared_as(const dx_reginald_entry *declared, dx_text key) {
    for (; declared && declared->value.key; declared++)
        if (dx_text_is(key, declared->value.key))
            return declared;
    return NULL;
}

static dx_status read_entry(dx__reginald_plugin_set *set, const dx_reginald_entry *declared,
                            bool open, yyjson_val *from, dx__reginald_plugin_line *why) {
    dx_text key = dx_json_string(yyjson_obj_get(from, "key"));
    dx_reginald_value *to = &set->values[set->count];
    if (!key.len || has_nul(key))
        return misfit(why, key, "has an invalid key");
    const dx_reginald_entry *known = declared_as(declared, key);
    if (!known && !open)
        return misfit(why, key, "is unknown");
    dx_status status = read_value(set, from, key, to, why);
    if (status != DX_OK)
        return status;
    if (known && known->value.type != to->type) {
        (void)misfit(why, key, "is not of type ");
        dx__reginald_plugin_say(why, dx_str(type_name(known->value.type)));
        return DX_MISFIT;
    }
    set->count++;
    return DX_OK;
}

static dx_status read_config(dx__reginald_plugin_set *set, const dx_reginald_entry *declared,
                             bool open, yyjson_val *config, dx__reginald_plugin_line *why) {
    size_t index;
    size_t count;
    yyjson_val *from;
    dx_status status = DX_OK;
    if (!yyjson_arr_size(config))
        return DX_OK;
    set->values =
        dx__reginald_plugin_room(&set->pool, yyjson_arr_size(config), sizeof *set->values);
    if (!set->values)
        return DX_ERR_NOMEM;
    yyjson_arr_foreach(config, index, count, from) {
        status = read_entry(set, declared, open, from, why);
        if (status != DX_OK)
            break;
    }
    return status;
}

static dx_status read_words(dx__reginald_plugin_set *set, yyjson_val *words,
                            dx__reginald_plugin_line *why) {
    size_t index;
    size_t count;
    yyjson_val *from;
    if (!yyjson_arr_size(words))
        return DX_OK;
    set->words = dx__reginald_plugin_room(&set->pool, yyjson_arr_size(words), sizeof *set->words);
    if (!set->words)
        return DX_ERR_NOMEM;
    yyjson_arr_foreach(words, index, count, from) {
        dx_text word = dx_json_string(from);
        if (!word.at || has_nul(word)) {
            dx__reginald_plugin_say(why, dx_str("an argument contains a NUL, or is not a string"));
            return DX_MISFIT;
        }
        const char *copy = dx__reginald_plugin_copy(&set->pool, word);
        if (!copy)
            return DX_ERR_NOMEM;
        set->words[set->word_count++] = copy;
    }
    return DX_OK;
}

dx_status dx__reginald_plugin_set_read(const dx_reginald_entry *declared, bool open,
                                       yyjson_val *config, yyjson_val *words,
                                       dx__reginald_plugin_set **ret_set,
                                       dx__reginald_plugin_line *why) {
    dx__reginald_plugin_set *set = calloc(1, sizeof *set);
    if (!set)
        return DX_ERR_NOMEM;
    set->refs = 1;
    dx_status status = read_config(set, declared, open, config, why);
    if (status == DX_OK)
        status = read_words(set, words, why);
    if (status == DX_OK)
        *ret_set = set;
    else
        dx__reginald_plugin_set_release(set);
    return status;
}

dx__reginald_plugin_set *dx__reginald_plugin_set_hold(dx__reginald_plugin_set *set) {
    if (set)
        set->refs++;
    return set;
}

void dx__reginald_plugin_set_release(dx__reginald_plugin_set *set) {
    if (!set || --set->refs)
        return;
    dx__reginald_plugin_pool_done(&set->pool);
    free(set);
}

/* Of several the last one counts. */
const dx_reginald_value *dx__reginald_plugin_find(const dx__reginald_plugin_set *set,
                                                  const dx_reginald_entry *declared,
                                                  const char *key) {
    for (size_t i = set ? set->count : 0; i; i--)
        if (strcmp(set->values[i - 1].key, key) == 0)
            return &set->values[i - 1];
    const dx_reginald_entry *entry = declared_as(declared, dx_str(key));
    return entry ? &entry->value : NULL;
}
