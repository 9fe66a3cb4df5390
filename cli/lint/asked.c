#include "cli/lint/asked.h"

#include <duplex/rpc.h>

#include <stdlib.h>
#include <string.h>

enum { METHOD_MAX = 120 };

struct cli_token {
    cli_hook hook;
    cli_token *next; /* of the same request */
    cli_asked *asked;
    size_t len;
    char text[];
};

void cli_asking_init(cli_asking *asking, uint64_t seed, size_t open_max, cli_room *room) {
    *asking = (cli_asking){.seed = seed, .open_max = open_max, .room = room};
}

bool cli_asked_key(dx_text json, char room[CLI_ID_MAX], dx_text *ret_key) {
    dx_text characters;
    if (!json.len || json.len > CLI_ID_MAX)
        return false;
    *ret_key = json;
    if (json.at[0] != '"' || dx_rpc_string(json, room + 1, &characters) != DX_OK)
        return true;
    room[0] = '"';
    *ret_key = characters.at == room + 1 ? (dx_text){room, characters.len + 1}
                                         : (dx_text){json.at, json.len - 1};
    return true;
}

dx_text cli_asked_id(const cli_asked *asked) {
    return (dx_text){asked->text, asked->key_len};
}

dx_text cli_asked_method(const cli_asked *asked) {
    return asked->rule ? dx_str(asked->rule->name)
                       : (dx_text){asked->text + asked->key_len, asked->method_len};
}

/* The two sides number their requests as they like. */
static uint64_t hash_of(const cli_asking *asking, dx_side from, dx_text key) {
    return cli_hash(asking->seed + (uint64_t)from, key);
}

static size_t size_of(const cli_asked *asked) {
    return sizeof *asked + asked->key_len + asked->method_len;
}

static void enqueue(cli_queue *queue, cli_asked *asked) {
    asked->older = queue->newest;
    asked->newer = NULL;
    *(queue->newest ? &queue->newest->newer : &queue->oldest) = asked;
    queue->newest = asked;
    queue->count++;
}

static void unqueue(cli_queue *queue, cli_asked *asked) {
    *(asked->older ? &asked->older->newer : &queue->oldest) = asked->newer;
    *(asked->newer ? &asked->newer->older : &queue->newest) = asked->older;
    queue->count--;
}

static cli_queue *queue_of(cli_asking *asking, const cli_asked *asked) {
    return asked->cancelled ? &asking->cancelled : &asking->open;
}

static void drop(cli_asking *asking, cli_asked *asked) {
    for (cli_token *token = asked->tokens, *next; token; token = next) {
        next = token->next;
        cli_keys_drop(&asking->by_token, &token->hook);
        asking->room->used -= sizeof *token + token->len;
        free(token);
    }
    unqueue(queue_of(asking, asked), asked);
    cli_keys_drop(&asking->by_id, &asked->by_id);
    asking->room->used -= size_of(asked);
    free(asked);
}

void cli_asking_done(cli_asking *asking) {
    while (asking->open.oldest)
        drop(asking, asking->open.oldest);
    while (asking->cancelled.oldest)
        drop(asking, asking->cancelled.oldest);
    cli_keys_done(&asking->by_id);
    cli_keys_done(&asking->by_token);
    free(asking->answered);
    asking->answered = NULL;
}

cli_asked *cli_asked_find(const cli_asking *asking, dx_side from, dx_text key) {
    cli_hook *hook = cli_keys_first(&asking->by_id, hash_of(asking, from, key));
    for (; hook; hook = cli_keys_next(hook)) {
        cli_asked *asked = (cli_asked *)((char *)hook - offsetof(cli_asked, by_id));
        if (asked->from == from && asked->key_len == key.len &&
            memcmp(asked->text, key.at, key.len) == 0)
            return asked;
    }
    return NULL;
}

static bool is_digits(dx_text text) {
    for (size_t i = 0; i < text.len; i++)
        if (text.at[i] < '0' || text.at[i] > '9')
            return false;
    return text.len > 0;
}

cli_asked *cli_asked_alike(const cli_asking *asking, dx_side asker, dx_text key,
                           unsigned *ret_lenient) {
    char quoted[24] = "\"";
    size_t digits = 0;
    *ret_lenient = 0;
    if (key.at[0] == '"') {
        key = (dx_text){key.at + 1, key.len - 1};
        *ret_lenient = DX_LENIENT_ID_STRING;
        return is_digits(key) ? cli_asked_find(asking, asker, key) : NULL;
    }
    if (is_digits(key) && key.len < sizeof quoted) {
        memcpy(quoted + 1, key.at, key.len);
        return cli_asked_find(asking, asker, (dx_text){quoted, key.len + 1});
    }
    while (digits < key.len && key.at[digits] >= '0' && key.at[digits] <= '9')
        digits++;
    for (size_t i = digits; i < key.len; i++)
        if (!memchr(".eE+-0", key.at[i], 6))
            return NULL;
    *ret_lenient = DX_LENIENT_ID_VALUE;
    return digits ? cli_asked_find(asking, asker, (dx_text){key.at, digits}) : NULL;
}

cli_asked *cli_asked_by_token(const cli_asking *asking, dx_side from, dx_text key) {
    cli_hook *hook = cli_keys_first(&asking->by_token, hash_of(asking, from, key));
    for (; hook; hook = cli_keys_next(hook)) {
        const cli_token *token = (const cli_token *)((char *)hook - offsetof(cli_token, hook));
        if (token->asked->from == from && token->len == key.len &&
            memcmp(token->text, key.at, key.len) == 0)
            return token->asked;
    }
    return NULL;
}

/* Makes room for one more; false if there can't be any. */
static bool make_room(cli_asking *asking, size_t size) {
    const cli_room *room = asking->room;
    bool too_many;
    while ((too_many = asking->open.count >= asking->open_max) || room->used + size > room->max) {
        cli_asked *oldest =
            !too_many && asking->cancelled.oldest ? asking->cancelled.oldest : asking->open.oldest;
        asking->forgot = asking->is_full = true;
        if (!oldest)
            return false;
        drop(asking, oldest);
    }
    return true;
}

cli_asked *cli_asked_add(cli_asking *asking, dx_side from, dx_text key, dx_text method) {
    size_t shown = method.len < METHOD_MAX ? method.len : METHOD_MAX;
    size_t size = sizeof(cli_asked) + key.len + shown;
    cli_asked *asked = make_room(asking, size) ? malloc(size) : NULL;
    if (!asked || !cli_keys_add(&asking->by_id, &asked->by_id, hash_of(asking, from, key))) {
        free(asked);
        asking->forgot = asking->is_full = true;
        return NULL;
    }
    cli_hook hook = asked->by_id;
    *asked = (cli_asked){
        .by_id = hook, .from = from, .key_len = (uint32_t)key.len, .method_len = (uint32_t)shown};
    memcpy(asked->text, key.at, key.len);
    if (shown)
        memcpy(asked->text + key.len, method.at, shown);
    asking->room->used += size;
    enqueue(&asking->open, asked);
    return asked;
}

void cli_asked_tell(cli_asking *asking, cli_asked *asked, dx_text key) {
    size_t size = sizeof(cli_token) + key.len;
    bool fits = asking->room->used + size <= asking->room->max;
    cli_token *token = fits ? malloc(size) : NULL;
    if (!token ||
        !cli_keys_add(&asking->by_token, &token->hook, hash_of(asking, asked->from, key))) {
        free(token);
        asking->forgot = asking->is_full = true;
        return;
    }
    token->next = asked->tokens;
    token->asked = asked;
    token->len = key.len;
    memcpy(token->text, key.at, key.len);
    asked->tokens = token;
    asking->room->used += size;
}

void cli_asked_cancel(cli_asking *asking, cli_asked *asked) {
    if (asked->cancelled)
        return;
    unqueue(&asking->open, asked);
    asked->cancelled = true;
    enqueue(&asking->cancelled, asked);
    if (asking->cancelled.count > CLI_CANCELLED_MAX) {
        asking->forgot = true;
        drop(asking, asking->cancelled.oldest);
    }
}

void cli_asked_close(cli_asking *asking, cli_asked *asked) {
    if (!asking->answered)
        asking->answered = calloc(CLI_ANSWERED_MAX, sizeof *asking->answered);
    if (asking->answered)
        asking->answered[asking->answered_at++ % CLI_ANSWERED_MAX] = asked->by_id.hash;
    drop(asking, asked);
}

bool cli_asked_before(const cli_asking *asking, dx_side from, dx_text key) {
    uint64_t hash = hash_of(asking, from, key);
    for (size_t i = 0; asking->answered && i < CLI_ANSWERED_MAX; i++)
        if (asking->answered[i] == hash)
            return true;
    return false;
}
