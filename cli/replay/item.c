#include "cli/replay/item.h"

#include "cli/lint/asked.h"
#include "cli/lint/keys.h"

#include <stdlib.h>
#include <string.h>

enum { LENIENT = DX_LENIENT_NO_VERSION | DX_LENIENT_ID_ANY | DX_LENIENT_NULL_PARAMS };

dx_text replay_part(dx_text text, dx_slice slice) {
    return (dx_text){slice.len ? text.at + slice.at : NULL, slice.len};
}

dx_text replay_item_text(const replay_item *item) {
    return (dx_text){item->text, item->len};
}

dx_text replay_method(dx_text text, const dx_message *parts, char room[REPLAY_METHOD_MAX]) {
    dx_text quoted = replay_part(text, parts->method);
    dx_text name;
    if (!quoted.at)
        return (dx_text){"", 0};
    bool fits = !parts->escaped || quoted.len <= REPLAY_METHOD_MAX;
    return fits && dx_rpc_string(quoted, room, &name) == DX_OK ? name : quoted;
}

uint64_t replay_answer_name(uint64_t seed, dx_text id) {
    char room[CLI_ID_MAX];
    dx_text key;
    if (!cli_asked_key(id, room, &key))
        key = id;
    return cli_hash(seed + REPLAY_ANSWER, key);
}

uint64_t replay_hash_without(uint64_t seed, dx_text text, dx_slice slice) {
    uint64_t before = cli_hash(seed, (dx_text){text.at, slice.len ? slice.at : text.len});
    size_t end = (size_t)slice.at + slice.len;
    return slice.len ? cli_hash(before, (dx_text){text.at + end, text.len - end}) : before;
}

static replay_kind kind_of(dx_trace_kind kind, const dx_message *parts) {
    if (kind == DX_TRACE_STRAY)
        return REPLAY_STRAY;
    if (parts->fault >= DX_FAULT_JSON_EMPTY && parts->fault < DX_FAULT_NOT_A_MESSAGE)
        return REPLAY_BROKEN;
    if (parts->kind == DX_KIND_BATCH)
        return REPLAY_BATCH;
    if (parts->kind == DX_KIND_RESPONSE && parts->id.len)
        return REPLAY_ANSWER;
    if (parts->kind == DX_KIND_REQUEST && parts->method.len && parts->id.len)
        return REPLAY_REQUEST;
    return parts->kind == DX_KIND_NOTIFICATION && parts->method.len ? REPLAY_NOTICE : REPLAY_OTHER;
}

static uint64_t name_of(const replay_item *item, uint64_t seed) {
    char room[REPLAY_METHOD_MAX];
    dx_text text = replay_item_text(item);
    if (item->kind == REPLAY_ANSWER)
        return replay_answer_name(seed, replay_part(text, item->parts.id));
    if (item->kind >= REPLAY_BROKEN) /* who recorded it may call it either */
        return seed + REPLAY_BROKEN;
    if (item->kind > REPLAY_NOTICE)
        return seed + item->kind;
    return cli_hash(seed + item->kind, replay_method(text, &item->parts, room));
}

static dx_text without_line_end(dx_text text) {
    while (text.len && (text.at[text.len - 1] == '\n' || text.at[text.len - 1] == '\r'))
        text.len--;
    return text;
}

bool replay_item_make(replay_item *item, uint64_t seed, dx_trace_kind kind, dx_text text) {
    if (kind != DX_TRACE_MESSAGE)
        text = without_line_end(text);
    *item = (replay_item){.len = text.len, .text = malloc(text.len + 1)};
    if (!item->text)
        return false;
    if (text.len)
        memcpy(item->text, text.at, text.len);
    item->text[text.len] = '\0';
    text.at = item->text;
    if (kind != DX_TRACE_STRAY)
        dx_rpc_scan(text, DX_DEPTH_MAX, LENIENT, &item->parts);
    item->kind = kind_of(kind, &item->parts);
    item->name = name_of(item, seed);
    dx_slice none = {0, 0};
    item->whole =
        replay_hash_without(seed, text, item->kind == REPLAY_REQUEST ? item->parts.id : none);
    return true;
}

void replay_item_free(replay_item *item) {
    free(item->text);
    item->text = NULL;
    item->len = 0;
}

bool replay_items_init(replay_items *items) {
    *items = (replay_items){.at = calloc(REPLAY_ITEMS_MAX, sizeof *items->at)};
    return items->at;
}

void replay_items_done(replay_items *items) {
    for (size_t i = 0; i < items->count; i++)
        replay_item_free(replay_items_at(items, i));
    free(items->at);
    *items = (replay_items){.at = NULL};
}

replay_item *replay_items_at(const replay_items *items, size_t index) {
    return &items->at[(items->head + index) % REPLAY_ITEMS_MAX];
}

replay_item *replay_items_add(replay_items *items, const replay_item *item) {
    replay_item *place = replay_items_at(items, items->count++);
    *place = *item;
    items->bytes += item->len;
    return place;
}

void replay_items_close(replay_items *items, replay_item *item) {
    items->bytes -= item->len;
    item->done = true;
    replay_item_free(item);
    while (items->count && items->at[items->head].done) {
        items->head = (items->head + 1) % REPLAY_ITEMS_MAX;
        items->count--;
    }
}
