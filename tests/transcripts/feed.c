#include "fence.h"
#include "stage.h"

#include <string.h>

enum { LARGE_PIECE = 4093 };

/* How many bytes the way of feeding gives next. */
static size_t piece_len(const struct stage *stage) {
    const struct way *way = stage->way;
    size_t at = stage->whole.len - stage->rest.len;
    size_t small = way->kind == WAY_BYTES || way->kind == WAY_EAGER ? 1 : way->cut;
    if (stage->config.large && way->kind != WAY_WHOLE && way->kind != WAY_CUT && small > 0)
        return LARGE_PIECE < stage->rest.len ? LARGE_PIECE : stage->rest.len;
    if (way->kind == WAY_BYTES || way->kind == WAY_EAGER)
        return 1;
    if (way->kind == WAY_CUT && way->run + 1 == stage->run && at < way->cut)
        return way->cut - at;
    if (way->kind == WAY_ROOM && way->cut > 0 && way->cut < stage->rest.len)
        return way->cut;
    return stage->rest.len;
}

static dx_status give(struct stage *stage, size_t len, size_t *ret_used) {
    const char *piece = fence_copy(stage->rest.at, len);
    dx_status status;
    *ret_used = 0;
    do {
        size_t used = 0;
        status = dx_peer_feed(stage->peer, piece + *ret_used, len - *ret_used, stage->now, &used);
        *ret_used += used;
    } while (stage_again(stage, status) || stage_paused(stage));
    return status;
}

static dx_status give_by_room(struct stage *stage, size_t len, size_t *ret_used) {
    void *room = NULL;
    size_t room_len = 0;
    dx_status status;
    *ret_used = 0;
    do {
        status = dx_peer_reserve(stage->peer, len, &room, &room_len);
    } while (stage_again(stage, status) || stage_paused(stage));
    if (status != DX_OK)
        return status;
    if (room_len == 0 || room_len > len) {
        stage_break(stage, "reserve(%zu) gave %zu bytes of room", len, room_len);
        return DX_ERR_INVALID;
    }
    memcpy(room, stage->rest.at, room_len);
    *ret_used = room_len;
    dx_peer_commit(stage->peer, room_len, stage->now);
    return DX_OK;
}

/* Room is asked for before bytes are there, so a peer that has enough says so one step later. */
static void see_busy(struct stage *stage) {
    void *room;
    size_t len;
    if (stage->config.busy && stage->way->kind == WAY_ROOM &&
        dx_peer_reserve(stage->peer, 1, &room, &len) == DX_BUSY)
        stage->was_busy = true;
}

bool stage_feed(struct stage *stage, const struct step *step) {
    while (stage->rest.len > 0) {
        size_t used = 0;
        size_t len = piece_len(stage);
        bool by_room = stage->way->kind == WAY_ROOM;
        dx_status status = by_room ? give_by_room(stage, len, &used) : give(stage, len, &used);
        if (used > len)
            return stage_fail(stage, step, "%zu of %zu bytes were taken", used, len);
        stage->rest = (dx_text){stage->rest.at + used, stage->rest.len - used};
        if (status == DX_BUSY && stage->config.busy) {
            stage->was_busy = true;
            return true;
        }
        if (status != DX_OK)
            return stage_fail(stage, step, "feeding said %s", status_show(status));
        if (used < len && !by_room)
            return stage_fail(stage, step, "%zu of %zu bytes were taken", used, len);
        if (stage->way->kind == WAY_EAGER && !stage_eager(stage))
            return false;
    }
    see_busy(stage);
    return true;
}
