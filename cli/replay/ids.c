#include "cli/replay/ids.h"

#include "cli/input.h"

#include <stdlib.h>
#include <string.h>

enum { LENIENT = DX_LENIENT_NO_VERSION | DX_LENIENT_ID_ANY };

bool replay_ids_init(replay_ids *ids, const dx_protocol_facts *facts, uint64_t seed) {
    *ids = (replay_ids){.facts = facts,
                        .seed = seed,
                        .pairs = calloc(REPLAY_PAIRS_MAX, sizeof *ids->pairs),
                        .ours = calloc(REPLAY_OURS_MAX, sizeof *ids->ours)};
    return ids->pairs && ids->ours;
}

void replay_ids_done(replay_ids *ids) {
    for (size_t i = 0; ids->pairs && i < REPLAY_PAIRS_MAX; i++) {
        free(ids->pairs[i].was);
        free(ids->pairs[i].is);
    }
    free(ids->pairs);
    free(ids->ours);
    *ids = (replay_ids){.facts = NULL};
}

static bool add_pair(replay_ids *ids, bool is_token, dx_text was, dx_text is) {
    replay_pair *pair = &ids->pairs[ids->next];
    char *one = cli_text_copy(was);
    char *two = is.at ? cli_text_copy(is) : NULL;
    if (!one || (is.at && !two)) {
        free(one);
        free(two);
        return false;
    }
    free(pair->was);
    free(pair->is);
    *pair = (replay_pair){is_token, one, two};
    ids->next = (ids->next + 1) % REPLAY_PAIRS_MAX;
    return true;
}

/* The newest: an id may be used again. */
static const replay_pair *find_pair(const replay_ids *ids, bool is_token, dx_text was) {
    for (size_t i = 1; i <= REPLAY_PAIRS_MAX; i++) {
        const replay_pair *pair =
            &ids->pairs[(ids->next + REPLAY_PAIRS_MAX - i) % REPLAY_PAIRS_MAX];
        if (!pair->was)
            return NULL;
        if (pair->is_token == is_token && dx_text_is(was, pair->was))
            return pair;
    }
    return NULL;
}

/* The value at a pointer into params that are objects all the way. */
static dx_text value_at(dx_text object, const char *pointer) {
    while (object.at && *pointer == '/') {
        size_t len = strcspn(++pointer, "/");
        object = dx_rpc_member(object, (dx_text){pointer, len});
        pointer += len;
    }
    return object;
}

/* The requests of a batch, by their places. */
static bool learn_batch(replay_ids *ids, const replay_item *was, const replay_item *is) {
    dx_text texts[2] = {replay_item_text(was), is ? replay_item_text(is) : (dx_text){NULL, 0}};
    uint32_t cursors[2] = {0, 0};
    dx_message one;
    dx_message two = {.kind = DX_KIND_NONE};
    bool good = true;
    bool goes_on = is;
    while (good && dx_rpc_element(texts[0], &was->parts, DX_DEPTH_MAX, LENIENT, &cursors[0],
                                  &one) == DX_OK) {
        goes_on = goes_on && dx_rpc_element(texts[1], &is->parts, DX_DEPTH_MAX, LENIENT,
                                            &cursors[1], &two) == DX_OK;
        bool has = goes_on && two.kind == DX_KIND_REQUEST;
        if (one.kind == DX_KIND_REQUEST && one.id.len)
            good = add_pair(ids, false, replay_part(texts[0], one.id),
                            has ? replay_part(texts[1], two.id) : (dx_text){NULL, 0});
    }
    return good;
}

bool replay_ids_learn(replay_ids *ids, const replay_item *was, const replay_item *is) {
    if (was->kind == REPLAY_BATCH)
        return was->parts.fault || (is && is->parts.fault) || learn_batch(ids, was, is);
    if (was->kind != REPLAY_REQUEST)
        return true;
    dx_text recorded = replay_item_text(was);
    dx_text params = replay_part(recorded, was->parts.params);
    dx_text none = {NULL, 0};
    dx_text now = is ? replay_part(replay_item_text(is), is->parts.id) : none;
    bool good = add_pair(ids, false, replay_part(recorded, was->parts.id), now);
    const char *const *places = ids->facts->progress_places;
    for (; good && is && places && *places; places++) {
        dx_text one = value_at(params, *places);
        dx_text two = value_at(replay_part(replay_item_text(is), is->parts.params), *places);
        if (one.at && two.at)
            good = add_pair(ids, true, one, two);
    }
    return good;
}

void replay_ids_sent(replay_ids *ids, dx_text id) {
    ids->ours[ids->next_ours] = replay_answer_name(ids->seed, id);
    ids->next_ours = (ids->next_ours + 1) % REPLAY_OURS_MAX;
}

static bool is_ours(const replay_ids *ids, dx_text id) {
    uint64_t name = replay_answer_name(ids->seed, id);
    for (size_t i = 0; i < REPLAY_OURS_MAX; i++)
        if (ids->ours[i] == name)
            return true;
    return false;
}

/* A text with parts of it replaced, from its beginning to its end. */
struct weave {
    dx_text text;
    size_t done;
    dx_buf *room;
    bool good;
};

static struct weave weave_begin(dx_text text, dx_buf *room) {
    room->len = 0;
    return (struct weave){.text = text, .room = room, .good = true};
}

static void weave_put(struct weave *weave, dx_text part, dx_text instead) {
    size_t at = (size_t)(part.at - weave->text.at);
    weave->good =
        weave->good &&
        dx_buf_append(weave->room, weave->text.at + weave->done, at - weave->done) == DX_OK &&
        dx_buf_append(weave->room, instead.at, instead.len) == DX_OK;
    weave->done = at + part.len;
}

static replay_now weave_end(struct weave *weave) {
    if (!weave->done)
        return REPLAY_NOW_SAME;
    weave->good = weave->good && dx_buf_append(weave->room, weave->text.at + weave->done,
                                               weave->text.len - weave->done) == DX_OK;
    return weave->good ? REPLAY_NOW_OTHER : REPLAY_NOW_NO_MEMORY;
}

static bool is_method(dx_text text, const dx_message *parts, const char *method) {
    char room[REPLAY_METHOD_MAX];
    return method && dx_text_is(replay_method(text, parts, room), method);
}

static replay_now answer_now(const replay_ids *ids, dx_text text, dx_text id, dx_buf *room) {
    const replay_pair *pair = id.at ? find_pair(ids, false, id) : NULL;
    struct weave weave = weave_begin(text, room);
    if (!pair)
        return REPLAY_NOW_SAME;
    if (!pair->is)
        return REPLAY_NOW_ORPHAN;
    weave_put(&weave, id, dx_str(pair->is));
    return weave_end(&weave);
}

static replay_now batch_now(const replay_ids *ids, dx_text text, const dx_message *batch,
                            dx_buf *room) {
    struct weave weave = weave_begin(text, room);
    uint32_t cursor = 0;
    dx_message one;
    while (dx_rpc_element(text, batch, DX_DEPTH_MAX, LENIENT, &cursor, &one) == DX_OK) {
        dx_text id = replay_part(text, one.id);
        const replay_pair *pair =
            one.kind == DX_KIND_RESPONSE && id.at ? find_pair(ids, false, id) : NULL;
        if (pair && pair->is)
            weave_put(&weave, id, dx_str(pair->is));
    }
    return weave_end(&weave);
}

static replay_now notice_now(const replay_ids *ids, dx_text text, const dx_message *parts,
                             bool ours, dx_buf *room) {
    const dx_protocol_facts *facts = ids->facts;
    struct weave weave = weave_begin(text, room);
    bool is_token = ours && is_method(text, parts, facts->progress_method);
    bool is_cancel = is_method(text, parts, facts->cancel_method);
    const char *name = is_token ? facts->progress_token : is_cancel ? facts->cancel_id : NULL;
    dx_text value =
        name ? dx_rpc_member(replay_part(text, parts->params), dx_str(name)) : (dx_text){NULL, 0};
    if (!value.at || (is_cancel && ours && is_ours(ids, value)))
        return REPLAY_NOW_SAME;
    const replay_pair *pair = find_pair(ids, is_token, value);
    if (pair && pair->is)
        weave_put(&weave, value, dx_str(pair->is));
    return weave_end(&weave);
}

replay_now replay_ids_ours(const replay_ids *ids, dx_text text, const dx_message *parts,
                           dx_buf *room) {
    if (parts->kind == DX_KIND_RESPONSE)
        return answer_now(ids, text, replay_part(text, parts->id), room);
    if (parts->kind == DX_KIND_BATCH && !parts->fault)
        return batch_now(ids, text, parts, room);
    if (parts->kind == DX_KIND_NOTIFICATION)
        return notice_now(ids, text, parts, true, room);
    return REPLAY_NOW_SAME;
}

/* The tokens of a request are whatever it has now. */
static replay_now request_now(const replay_ids *ids, const replay_item *was, const replay_item *is,
                              dx_buf *room) {
    const char *const *places = ids->facts->progress_places;
    dx_text text = replay_item_text(was);
    struct weave weave = weave_begin(text, room);
    for (; places && *places; places++) {
        dx_text one = value_at(replay_part(text, was->parts.params), *places);
        dx_text two = value_at(replay_part(replay_item_text(is), is->parts.params), *places);
        if (one.at && two.at && (size_t)(one.at - text.at) >= weave.done)
            weave_put(&weave, one, two);
    }
    return weave_end(&weave);
}

replay_now replay_ids_theirs(const replay_ids *ids, const replay_item *was, const replay_item *is,
                             dx_buf *room) {
    if (was->kind == REPLAY_REQUEST && is->kind == REPLAY_REQUEST)
        return request_now(ids, was, is, room);
    if (was->kind == REPLAY_NOTICE)
        return notice_now(ids, replay_item_text(was), &was->parts, false, room);
    return REPLAY_NOW_SAME;
}

bool replay_ids_matter(const replay_ids *ids, const replay_item *item) {
    return item->kind == REPLAY_NOTICE &&
           is_method(replay_item_text(item), &item->parts, ids->facts->cancel_method);
}
