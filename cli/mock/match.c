/* Which rule of a script is for a message. */
#include "cli/mock/grammar.h"
#include "cli/mock/script.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

static bool same_text(yyjson_val *one, yyjson_val *two, const char *a, const char *b) {
    size_t len = yyjson_get_len(one);
    return len == yyjson_get_len(two) && memcmp(a, b, len) == 0;
}

static bool same_number(yyjson_val *one, yyjson_val *two) {
    const char *a = yyjson_get_raw(one);
    const char *b = yyjson_get_raw(two);
    /* 18446744073709551615 is no other number's double; 1 and 1.0 are one. */
    bool whole = !strpbrk(a, ".eE") && !strpbrk(b, ".eE");
    return same_text(one, two, a, b) || (!whole && strtod(a, NULL) == strtod(b, NULL));
}

static bool fits_regex(const mock_script *script, yyjson_val *place, yyjson_val *value) {
    for (size_t i = 0; i < script->regex_count; i++)
        if (script->regexes[i].place == place)
            return yyjson_is_str(value) && dx_schema_check(script->regexes[i].schema, value, 0,
                                                           script->check, NULL) == DX_OK;
    return false;
}

static bool matches(const mock_script *script, yyjson_val *pattern, yyjson_val *value,
                    unsigned depth);

/* *ret_is is set if the pattern is one of $any, $type and $regex. */
static bool is_operator(const mock_script *script, yyjson_val *pattern, yyjson_val *value,
                        bool *ret_is) {
    yyjson_val *any = yyjson_obj_get(pattern, "$any");
    yyjson_val *type = yyjson_obj_get(pattern, "$type");
    if (any)
        *ret_is = true;
    else if (type)
        (void)mock_type_is(yyjson_get_str(type), value, ret_is);
    else if (yyjson_obj_get(pattern, "$regex"))
        *ret_is = fits_regex(script, pattern, value);
    else
        return false;
    return true;
}

/* For equality (no script) there must be no other members. */
static bool match_object(const mock_script *script, yyjson_val *pattern, yyjson_val *value,
                         unsigned depth) {
    size_t at;
    size_t max;
    yyjson_val *key;
    yyjson_val *part;
    bool is;
    if (script && is_operator(script, pattern, value, &is))
        return is;
    if (!yyjson_is_obj(value) || (!script && yyjson_obj_size(pattern) != yyjson_obj_size(value)))
        return false;
    yyjson_obj_foreach(pattern, at, max, key, part) {
        yyjson_val *found = yyjson_obj_getn(value, yyjson_get_str(key), yyjson_get_len(key));
        if (!found || !matches(script, part, found, depth))
            return false;
    }
    return true;
}

static bool match_array(const mock_script *script, yyjson_val *pattern, yyjson_val *value,
                        unsigned depth) {
    yyjson_arr_iter iter;
    size_t at;
    size_t max;
    yyjson_val *part;
    if (!yyjson_is_arr(value) || yyjson_arr_size(pattern) != yyjson_arr_size(value))
        return false;
    yyjson_arr_iter_init(value, &iter);
    yyjson_arr_foreach(pattern, at, max, part) {
        if (!matches(script, part, yyjson_arr_iter_next(&iter), depth))
            return false;
    }
    return true;
}

static bool matches(const mock_script *script, yyjson_val *pattern, yyjson_val *value,
                    unsigned depth) {
    if (depth > DX_DEPTH_MAX)
        return false;
    switch (yyjson_get_type(pattern)) {
    case YYJSON_TYPE_OBJ:
        return match_object(script, pattern, value, depth + 1);
    case YYJSON_TYPE_ARR:
        return match_array(script, pattern, value, depth + 1);
    case YYJSON_TYPE_RAW:
        return yyjson_is_raw(value) && same_number(pattern, value);
    case YYJSON_TYPE_STR:
        return yyjson_is_str(value) &&
               same_text(pattern, value, yyjson_get_str(pattern), yyjson_get_str(value));
    default:
        return yyjson_get_tag(pattern) == yyjson_get_tag(value);
    }
}

bool mock_matches(const mock_script *script, yyjson_val *pattern, yyjson_val *value) {
    return value && matches(script, pattern, value, 0);
}

static bool fits_method(const mock_rule *rule, const mock_message *message) {
    if (!rule->method || strcmp(rule->method, "*") == 0)
        return true;
    if (strlen(message->method) != message->method_len)
        return false; /* a NUL is in it */
    return rule->is_glob ? fnmatch(rule->method, message->method, 0) == 0
                         : strcmp(rule->method, message->method) == 0;
}

static bool fits(const mock_script *script, const mock_rule *rule, mock_message *message) {
    bool kind = rule->kind ? rule->kind == message->kind : message->kind <= MOCK_NOTIFICATION;
    return kind && fits_method(rule, message) &&
           (!rule->params || mock_matches(script, rule->params, mock_message_body(message)));
}

mock_rule *mock_script_find(mock_script *script, mock_message *message) {
    for (size_t i = 0; script && i < script->rule_count; i++) {
        mock_rule *rule = &script->rules[i];
        if (!fits(script, rule, message))
            continue;
        rule->matched++;
        if ((rule->nth && rule->matched != rule->nth) || (rule->times && rule->used >= rule->times))
            continue;
        rule->used++;
        return rule;
    }
    return NULL;
}
