#include "cli/replay/batch.h"

#include <stdlib.h>
#include <string.h>

enum { LENIENT = DX_LENIENT_NO_VERSION | DX_LENIENT_ID_ANY };

struct element {
    uint64_t name; /* 0: no answer */
    size_t at;     /* its place in the batch */
    dx_text text;
    size_t taken; /* the first of those with one name: so many of them */
    bool is_taken;
};

/* NULL: no memory, or there is none. */
static struct element *elements(uint64_t seed, const replay_item *item, size_t *ret_count) {
    dx_text text = replay_item_text(item);
    struct element *list = NULL;
    size_t count = 0;
    size_t room = 0;
    uint32_t cursor = 0;
    dx_message one;
    while (dx_rpc_element(text, &item->parts, DX_DEPTH_MAX, LENIENT, &cursor, &one) == DX_OK) {
        if (count == room) {
            room = room ? 2 * room : 16;
            struct element *more = reallocarray(list, room, sizeof *list);
            if (!more) {
                free(list);
                return NULL;
            }
            list = more;
        }
        bool is_answer = one.kind == DX_KIND_RESPONSE && one.id.len;
        list[count] = (struct element){
            .name = is_answer ? replay_answer_name(seed, replay_part(text, one.id)) : 0,
            .at = count,
            .text = replay_part(text, one.body)};
        count++;
    }
    *ret_count = count;
    return list;
}

static int by_name(const void *one, const void *two) {
    const struct element *a = one;
    const struct element *b = two;
    return a->name != b->name ? (a->name > b->name) - (a->name < b->name)
                              : (a->at > b->at) - (a->at < b->at);
}

static int by_place(const void *one, const void *two) {
    const struct element *a = one;
    const struct element *b = two;
    return (a->at > b->at) - (a->at < b->at);
}

/* The next answer with that name that nobody has taken; NULL: there is none. */
static struct element *take(struct element *sorted, size_t count, uint64_t name) {
    size_t low = 0;
    size_t high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (sorted[middle].name < name)
            low = middle + 1;
        else
            high = middle;
    }
    size_t at = name && low < count ? low + sorted[low].taken : count;
    if (at >= count || sorted[at].name != name)
        return NULL;
    sorted[low].taken++;
    sorted[at].is_taken = true;
    return &sorted[at];
}

static bool put(dx_buf *room, dx_text text) {
    return dx_buf_append(room, room->len ? "," : "[", 1) == DX_OK &&
           dx_buf_append(room, text.at, text.len) == DX_OK;
}

/* What nobody has taken, in its order, fills the places that are left; an answer that of one. */
static bool weave(const struct element *was, size_t was_count, struct element *is, size_t is_count,
                  dx_buf *room) {
    dx_text *places = calloc(was_count + 1, sizeof *places);
    bool good = places;
    size_t next = 0;
    for (size_t i = 0; good && i < was_count; i++) {
        const struct element *found = take(is, is_count, was[i].name);
        places[i] = found ? found->text : (dx_text){NULL, 0};
    }
    qsort(is, is_count, sizeof *is, by_place);
    for (size_t i = 0; good && i < was_count; i++) {
        while (!places[i].at && next < is_count && is[next].is_taken)
            next++;
        if (places[i].at)
            good = put(room, places[i]);
        else if (next < is_count && !is[next].name == !was[i].name)
            good = put(room, is[next++].text);
    }
    for (; good && next < is_count; next++)
        good = is[next].is_taken || put(room, is[next].text);
    free(places);
    return good && dx_buf_append(room, "]", 1) == DX_OK;
}

bool replay_batch_in_order(uint64_t seed, const replay_item *was, const replay_item *is,
                           dx_buf *room, dx_text *ret_text) {
    size_t was_count = 0;
    size_t is_count = 0;
    *ret_text = replay_item_text(is);
    if (was->kind != REPLAY_BATCH || is->kind != REPLAY_BATCH || was->parts.fault ||
        is->parts.fault)
        return true;
    struct element *one = elements(seed, was, &was_count);
    struct element *two = elements(seed, is, &is_count);
    bool good = one && two;
    size_t same = 0;
    while (good && same < was_count && same < is_count && one[same].name == two[same].name)
        same++;
    if (good && (same < was_count || same < is_count)) {
        qsort(two, is_count, sizeof *two, by_name);
        room->len = 0;
        good = weave(one, was_count, two, is_count, room);
        *ret_text = (dx_text){room->data, room->len};
    }
    free(one);
    free(two);
    return good;
}
