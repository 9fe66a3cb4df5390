#include "cli/mock/groups.h"

#include "cli/mock/script.h"
#include "cli/mock/trace.h"

#include <stdlib.h>
#include <string.h>

struct mock_group {
    cli_hook hook;
    mock_by by;
    mock_entry *first;
    mock_entry *last;
    mock_entry *left; /* those before it were used; NULL: all were */
};

/* Values that are equal have one hash. */

static uint64_t mixed(uint64_t one, uint64_t two) {
    one = (one ^ two) * UINT64_C(0x9e3779b97f4a7c15);
    return one ^ one >> 29;
}

static uint64_t hash_of_number(uint64_t seed, yyjson_val *value) {
    double number = strtod(yyjson_get_raw(value), NULL);
    if (number == 0)
        number = 0; /* -0 is 0 */
    return cli_hash(seed, (dx_text){(const char *)&number, sizeof number});
}

static uint64_t hash_of_value(uint64_t seed, yyjson_val *value, unsigned depth) {
    uint64_t hash = mixed(seed, yyjson_get_type(value));
    size_t at;
    size_t max;
    yyjson_val *key;
    yyjson_val *part;
    if (depth > DX_DEPTH_MAX)
        return hash;
    if (yyjson_is_str(value))
        return cli_hash(seed, (dx_text){yyjson_get_str(value), yyjson_get_len(value)});
    if (yyjson_is_raw(value))
        return hash_of_number(seed, value);
    if (yyjson_is_bool(value))
        return mixed(hash, yyjson_get_bool(value));
    yyjson_arr_foreach(value, at, max, part) {
        hash = mixed(hash, hash_of_value(seed, part, depth + 1));
    }
    yyjson_obj_foreach(value, at, max, key, part) { /* members in any order */
        dx_text name = {yyjson_get_str(key), yyjson_get_len(key)};
        hash += mixed(cli_hash(seed, name), hash_of_value(seed, part, depth + 1));
    }
    return hash;
}

static bool is_answer(const mock_message *message) {
    return message->kind >= MOCK_RESULT;
}

static uint64_t hash_of_id(const mock_groups *groups, bool answer, dx_text id) {
    return mixed(cli_hash(groups->seed, id), answer ? 1 : 2);
}

/* False: it is in no such group. */
static bool hash_of(const mock_groups *groups, mock_by by, mock_message *message,
                    uint64_t *ret_hash) {
    bool has_method = !is_answer(message);
    dx_text method = {message->method, message->method_len};
    if (by == MOCK_BY_ID) {
        *ret_hash = message->id.at ? hash_of_id(groups, is_answer(message), message->id) : 0;
        return message->id.at;
    }
    *ret_hash = mixed(cli_hash(groups->seed, method), 3 + (uint64_t)message->kind);
    if (by == MOCK_BY_METHOD || !has_method)
        return has_method;
    yyjson_val *body = mock_message_body(message);
    *ret_hash = mixed(*ret_hash, message->body.at ? hash_of_value(groups->seed, body, 0) : 9);
    return body || !message->body.at;
}

static bool same_id(const mock_message *known, bool answer, dx_text id) {
    return is_answer(known) == answer && known->id.len == id.len &&
           memcmp(known->id.at, id.at, id.len) == 0;
}

static bool same_body(mock_message *known, mock_message *message) {
    if (!known->body.at || !message->body.at)
        return !known->body.at && !message->body.at;
    yyjson_val *one = mock_message_body(known);
    yyjson_val *two = mock_message_body(message);
    bool same = one && two && mock_matches(NULL, one, two);
    if (known != message)
        mock_message_forget(known);
    return same;
}

static bool is_of(const struct mock_group *group, mock_by by, mock_message *message) {
    mock_message *known = group->first->message;
    if (group->by != by)
        return false;
    if (by == MOCK_BY_ID)
        return same_id(known, is_answer(message), message->id);
    return known->kind == message->kind && known->method_len == message->method_len &&
           memcmp(known->method, message->method, message->method_len) == 0 &&
           (by == MOCK_BY_METHOD || same_body(known, message));
}

struct mock_group *mock_groups_find(const mock_groups *groups, mock_by by, mock_message *message) {
    uint64_t hash;
    if (!hash_of(groups, by, message, &hash))
        return NULL;
    cli_hook *hook = cli_keys_first(&groups->keys, hash);
    while (hook && !is_of((struct mock_group *)hook, by, message))
        hook = cli_keys_next(hook);
    return (struct mock_group *)hook;
}

struct mock_group *mock_groups_find_id(const mock_groups *groups, bool answer, dx_text id) {
    cli_hook *hook = cli_keys_first(&groups->keys, hash_of_id(groups, answer, id));
    for (; hook; hook = cli_keys_next(hook)) {
        struct mock_group *group = (struct mock_group *)hook;
        if (group->by == MOCK_BY_ID && same_id(group->first->message, answer, id))
            return group;
    }
    return NULL;
}

static bool add_by(mock_groups *groups, mock_by by, mock_entry *entry) {
    uint64_t hash;
    struct mock_group *group = mock_groups_find(groups, by, entry->message);
    if (group) {
        group->last->next[by] = entry;
        group->last = entry;
        return true;
    }
    if (!hash_of(groups, by, entry->message, &hash))
        return true;
    group = malloc(sizeof *group);
    if (!group)
        return false;
    *group = (struct mock_group){.by = by, .first = entry, .last = entry, .left = entry};
    if (cli_keys_add(&groups->keys, &group->hook, hash))
        return true;
    free(group);
    return false;
}

bool mock_groups_add(mock_groups *groups, mock_entry *entry) {
    bool good = true;
    if (!groups->seed)
        groups->seed = cli_seed() | 1;
    for (mock_by by = 0; good && by < MOCK_BY_COUNT; by++)
        good = add_by(groups, by, entry);
    mock_message_forget(entry->message);
    return good;
}

void mock_groups_done(mock_groups *groups) {
    for (size_t i = 0; i < groups->keys.cap; i++) {
        cli_hook *next;
        for (cli_hook *hook = groups->keys.slots[i]; hook; hook = next) {
            next = hook->next;
            free(hook);
        }
    }
    cli_keys_done(&groups->keys);
}

mock_entry *mock_group_first(const struct mock_group *group) {
    return group->first;
}

mock_entry *mock_group_last(const struct mock_group *group) {
    return group->last;
}

mock_entry *mock_group_left(struct mock_group *group) {
    while (group->left && group->left->used)
        group->left = group->left->next[group->by];
    return group->left ? group->left : group->last;
}
