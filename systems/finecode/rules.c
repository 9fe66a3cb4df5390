/* Results of an action, merged by the rules that it has for their members. */
#include "systems/finecode/merge.h"

#include <math.h>

enum { DEPTH = DX__FINECODE_DEPTH_MAX }; /* as in merge.c */

enum rule { USUAL, LAST, FIRST, CONCAT, MERGE, OR, AND, SUM, MAX, MIN, RULES };

static const char *const names[RULES] = {
    [LAST] = "last", [FIRST] = "first", [CONCAT] = "concat", [MERGE] = "merge", [OR] = "or",
    [AND] = "and",   [SUM] = "sum",     [MAX] = "max",       [MIN] = "min"};

struct merging {
    yyjson_mut_doc *doc;
    yyjson_val *rules;
    unsigned depth;
};

static enum rule rule_named(dx_text name) {
    for (int i = LAST; i < RULES; i++)
        if (dx_text_is(name, names[i]))
            return (enum rule)i;
    return USUAL;
}

static enum rule rule_of(yyjson_val *rules, yyjson_val *key) {
    dx_text name = dx_json_string(key);
    enum rule given = rule_named(dx_json_string(yyjson_obj_getn(rules, name.at, name.len)));
    return given == USUAL && dx_text_is(name, "return_code") ? MAX : given;
}

dx_status dx__finecode_rules_check(yyjson_val *rules, char reason[200]) {
    if (!rules)
        return DX_OK;
    reason[0] = '\0';
    if (!yyjson_is_obj(rules)) {
        dx__say_str(reason, 200, "merge must be an object of rules");
        return DX_MISFIT;
    }
    size_t index;
    size_t count;
    yyjson_val *key;
    yyjson_val *value;
    yyjson_obj_foreach(rules, index, count, key, value) {
        if (rule_named(dx_json_string(value)) != USUAL)
            continue;
        dx__say_str(reason, 200, "merge of ");
        dx__say(reason, 100, dx_json_string(key));
        dx__say_str(reason, 200, ": expected last, first, concat, merge, or, and, sum, max or min");
        return DX_MISFIT;
    }
    return DX_OK;
}

static bool take(struct merging *merging, yyjson_mut_val *first, yyjson_val *second) {
    yyjson_mut_val *copy = yyjson_val_mut_copy(merging->doc, second);
    if (copy)
        dx__finecode_become(first, copy);
    return copy;
}

static bool append(struct merging *merging, yyjson_mut_val *first, yyjson_val *second) {
    size_t index;
    size_t count;
    yyjson_val *value;
    yyjson_arr_foreach(second, index, count, value) {
        if (!yyjson_mut_arr_append(first, yyjson_val_mut_copy(merging->doc, value)))
            return false;
    }
    return true;
}

static bool join(struct merging *merging, yyjson_mut_val *first, yyjson_val *second) {
    size_t before = yyjson_mut_get_len(first);
    size_t more = yyjson_get_len(second);
    dx_allocator alloc = {merging->doc->alc.malloc, merging->doc->alc.realloc,
                          merging->doc->alc.free, merging->doc->alc.ctx};
    dx_buf text;
    dx_buf_init(&text, SIZE_MAX / 8, &alloc);
    yyjson_mut_val *joined = NULL;
    if (dx_buf_append(&text, yyjson_mut_get_str(first), before) == DX_OK &&
        dx_buf_append(&text, yyjson_get_str(second), more) == DX_OK)
        joined = yyjson_mut_strncpy(merging->doc, text.data ? text.data : "", text.len);
    if (joined)
        dx__finecode_become(first, joined);
    dx_buf_done(&text);
    return joined;
}

static bool is_whole(double number) {
    return number >= -9007199254740992.0 && number <= 9007199254740992.0;
}

/* A number that is too long for yyjson is its text. */
static double number_of(const char *raw, double number) {
    yyjson_val value;
    return raw && yyjson_read_number(raw, &value, YYJSON_READ_ALLOW_INF_AND_NAN, NULL, NULL)
               ? yyjson_get_num(&value)
               : number;
}

/* Integers stay integers as long as their sum is one. A sum that has no JSON form is no sum. */
static bool count(struct merging *merging, yyjson_mut_val *first, yyjson_val *second,
                  enum rule rule) {
    bool whole = yyjson_mut_is_int(first) && yyjson_is_int(second);
    double a = number_of(yyjson_mut_get_raw(first), yyjson_mut_get_num(first));
    double b = number_of(yyjson_get_raw(second), yyjson_get_num(second));
    int64_t sum;
    if (rule == SUM && whole && is_whole(a) && is_whole(b) &&
        !__builtin_add_overflow(yyjson_mut_get_sint(first), yyjson_get_sint(second), &sum))
        return yyjson_mut_set_sint(first, sum);
    if (rule == SUM && isfinite(a + b))
        return yyjson_mut_set_real(first, a + b);
    if (rule != SUM && (rule == MAX ? b <= a : b >= a))
        return true;
    return take(merging, first, second);
}

static bool merge_object(struct merging *merging, yyjson_mut_val *first, yyjson_val *second);

/* What a rule does with values that it is not for: the second wins. */
static bool merge_value(struct merging *merging, yyjson_mut_val *first, yyjson_val *second,
                        enum rule rule) {
    bool arrays = yyjson_mut_is_arr(first) && yyjson_is_arr(second);
    bool objects = yyjson_mut_is_obj(first) && yyjson_is_obj(second);
    bool booleans = yyjson_mut_is_bool(first) && yyjson_is_bool(second);
    bool strings = yyjson_mut_is_str(first) && yyjson_is_str(second);
    bool numbers = (yyjson_mut_is_num(first) || yyjson_mut_is_raw(first)) &&
                   (yyjson_is_num(second) || yyjson_is_raw(second));
    if (rule == LAST || yyjson_mut_is_null(first))
        return take(merging, first, second);
    if (rule == FIRST || yyjson_is_null(second))
        return true;
    if ((rule == USUAL || rule == CONCAT) && arrays)
        return append(merging, first, second);
    if (rule == CONCAT && strings)
        return join(merging, first, second);
    if ((rule == USUAL || rule == MERGE) && objects && merging->depth < DEPTH)
        return merge_object(merging, first, second);
    if ((rule == USUAL || rule == OR || rule == AND) && booleans) {
        bool a = yyjson_mut_get_bool(first);
        bool b = yyjson_get_bool(second);
        return yyjson_mut_set_bool(first, rule == AND ? a && b : a || b);
    }
    if (rule >= SUM && numbers)
        return count(merging, first, second, rule);
    return take(merging, first, second);
}

static bool merge_object(struct merging *merging, yyjson_mut_val *first, yyjson_val *second) {
    dx__finecode_keys keys;
    if (dx__finecode_keys_init(&keys, merging->doc, first) != DX_OK)
        return false;
    bool done = true;
    size_t index;
    size_t total;
    yyjson_val *key;
    yyjson_val *value;
    merging->depth++;
    yyjson_obj_foreach(second, index, total, key, value) {
        yyjson_mut_val *old = dx__finecode_keys_find(&keys, dx_json_string(key));
        done = done && (old ? merge_value(merging, old, value, rule_of(merging->rules, key))
                            : yyjson_mut_obj_add(first, yyjson_val_mut_copy(merging->doc, key),
                                                 yyjson_val_mut_copy(merging->doc, value)));
    }
    merging->depth--;
    dx__finecode_keys_done(&keys);
    return done;
}

yyjson_mut_val *dx__finecode_merge_results(yyjson_mut_doc *doc, yyjson_mut_val *first,
                                           yyjson_val *second, yyjson_val *rules) {
    struct merging merging = {.doc = doc, .rules = rules};
    if (!first)
        return yyjson_val_mut_copy(doc, second);
    if (!second)
        return first;
    return merge_value(&merging, first, second, USUAL) ? first : NULL;
}

static bool says_something(yyjson_val *value) {
    return yyjson_is_num(value) ? yyjson_get_num(value) != 0
                                : yyjson_is_true(value) || yyjson_is_raw(value) ||
                                      (yyjson_is_str(value) && yyjson_get_len(value)) ||
                                      (yyjson_is_ctn(value) && yyjson_get_len(value));
}

int64_t dx__finecode_return_code(yyjson_val *result, const char *fails_if) {
    yyjson_val *code = yyjson_obj_get(result, "return_code");
    if (yyjson_is_int(code)) {
        bool large = yyjson_is_uint(code) && yyjson_get_uint(code) > INT64_MAX;
        return large ? INT64_MAX : yyjson_get_sint(code);
    }
    return fails_if && says_something(yyjson_ptr_get(result, fails_if)) ? 1 : 0;
}
