/* Texts -> trees, by yyjson. */
#include "base/alloc.h"
#include "base/line.h"
#include "peer/peer.h"
#include "rpc/mend.h"
#include "rpc/scan.h"

#include <string.h>

/* Texts up to this length are parsed in an arena that is used again and again; messages up to this
 * one when they are taken in; and how much memory their trees may take while they wait. */
enum { ARENA_TEXT = 16 << 10, AHEAD_TEXT = 1 << 10, TREES_MIN = 8 << 10, TREES_MAX = 256 << 10 };

/* Memory for one tree behind the others: yyjson takes a copy of the text and an array of values. */
struct bump {
    char *at;
    char *end;
    char *last; /* the block that was handed out last */
};

static void *bump_malloc(void *ctx, size_t size) {
    struct bump *bump = ctx;
    size = (size + 15) & ~(size_t)15;
    if (size > (size_t)(bump->end - bump->at))
        return NULL;
    bump->last = bump->at;
    bump->at += size;
    return bump->last;
}

static void *bump_realloc(void *ctx, void *ptr, size_t old_size, size_t size) {
    struct bump *bump = ctx;
    if (ptr == bump->last)
        bump->at = bump->last;
    void *block = bump_malloc(ctx, size);
    if (block && block != ptr)
        memcpy(block, ptr, old_size < size ? old_size : size);
    return block;
}

static void bump_free(void *ctx, void *ptr) {
    (void)ctx;
    (void)ptr;
}

/* Room for one more tree. It grows only when no tree is in it. */
static bool has_room(dx_peer *peer, size_t need) {
    if (!peer->queue.count && !peer->lent) {
        if (peer->trees_used > peer->trees_cap / 2 && peer->trees_cap < TREES_MAX)
            need = 4 * peer->trees_cap < TREES_MAX ? 4 * peer->trees_cap : TREES_MAX;
        peer->trees_used = 0;
    }
    if (need <= peer->trees_cap - peer->trees_used)
        return true;
    if (peer->trees_used)
        return false;
    size_t cap = need < TREES_MIN ? TREES_MIN : need;
    char *block = dx__malloc(&peer->alloc, cap);
    if (!block)
        return false;
    dx__free(&peer->alloc, peer->trees);
    peer->trees = block;
    peer->trees_cap = cap;
    return true;
}

/* The trees of large messages. Their blocks, one for the text and one for the values, are kept for
 * the next one: getting so much memory from the system costs as much as filling it. */
struct block {
    size_t size;
    size_t unused; /* what follows is aligned for anything */
};

static void *spare_malloc(void *ctx, size_t size) {
    dx_peer *peer = ctx;
    for (size_t i = 0; i < DX__SPARES; i++) {
        struct block *spare = peer->spares[i];
        if (spare && spare->size >= size && spare->size / 4 <= size) {
            peer->spares[i] = NULL;
            return spare + 1;
        }
    }
    struct block *block = dx__malloc(&peer->alloc, sizeof *block + size);
    if (!block)
        return NULL;
    block->size = size;
    return block + 1;
}

static void *spare_realloc(void *ctx, void *ptr, size_t old_size, size_t size) {
    dx_peer *peer = ctx;
    struct block *block = (struct block *)ptr - 1;
    (void)old_size;
    if (size <= block->size)
        return ptr;
    block = dx__realloc(&peer->alloc, block, sizeof *block + block->size, sizeof *block + size);
    if (!block)
        return NULL;
    block->size = size;
    return block + 1;
}

static void spare_free(void *ctx, void *ptr) {
    dx_peer *peer = ctx;
    struct block *block = (struct block *)ptr - 1;
    size_t at = 0;
    while (at < DX__SPARES - 1 && peer->spares[at])
        at++;
    dx__free(&peer->alloc, peer->spares[at]);
    peer->spares[at] = block;
}

void dx__parse_trim(dx_peer *peer) {
    for (size_t i = 0; i < DX__SPARES; i++) {
        dx__free(&peer->alloc, peer->spares[i]);
        peer->spares[i] = NULL;
    }
}

/* A tree that was kept may outlive the peer. */
static void kept_free(void *ctx, void *ptr) {
    dx_allocator *alloc = ctx;
    dx__free(alloc, (struct block *)ptr - 1);
}

/* Every level takes two bytes, so that a text this short can't be too deep. */
static yyjson_doc *parse_short(dx_peer *peer, const char *body, size_t len, size_t *ret_end) {
    if (len / 2 >= peer->config.depth_max ||
        !has_room(peer, yyjson_read_max_memory_usage(len, YYJSON_READ_NOFLAG) + 32))
        return NULL;
    struct bump bump = {.at = peer->trees + peer->trees_used, .end = peer->trees + peer->trees_cap};
    yyjson_alc alc = {bump_malloc, bump_realloc, bump_free, &bump};
    yyjson_doc *doc =
        yyjson_read_opts((char *)(uintptr_t)body, len, YYJSON_READ_STOP_WHEN_DONE, &alc, NULL);
    /* The values lie behind the document; more room was taken than they needed. */
    if (doc)
        *ret_end = (size_t)((char *)(yyjson_doc_get_root(doc) + yyjson_doc_get_val_count(doc)) -
                            peer->trees);
    return doc;
}

static bool is_deeper(yyjson_doc *doc, unsigned max) {
    yyjson_val *ends[DX_DEPTH_MAX]; /* of the containers that are open */
    unsigned level = 0;
    yyjson_val *val = yyjson_doc_get_root(doc);
    for (yyjson_val *end = val + yyjson_doc_get_val_count(doc); val < end; val++) {
        while (level && val >= ends[level - 1])
            level--;
        if (!yyjson_is_ctn(val))
            continue;
        if (level == max)
            return true;
        ends[level++] = unsafe_yyjson_get_next(val);
    }
    return false;
}

/* May a text have more values than that? One of these bytes stands before each of them but the
 * first. Most texts are cleared by their length alone. */
static bool may_exceed(const char *text, size_t len, size_t most) {
    size_t found = 1;
    if (len / 2 < most)
        return false;
    while (len) {
        size_t part = len < 4096 ? len : 4096;
        unsigned count = 0;
        for (size_t i = 0; i < part; i++)
            count += (text[i] == ',') + (text[i] == ':') + ((text[i] | 0x20) == '{');
        found += count;
        text += part;
        len -= part;
    }
    return found > most;
}

/* One at a time: a tree takes several times the memory of its text. */
static yyjson_doc *parse_large(dx_peer *peer, const char *body, size_t len) {
    yyjson_alc alc = {spare_malloc, spare_realloc, spare_free, peer};
    if (peer->queue.count || !peer->config.depth_max)
        return NULL;
    yyjson_doc *doc =
        yyjson_read_opts((char *)(uintptr_t)body, len, YYJSON_READ_STOP_WHEN_DONE, &alc, NULL);
    if (doc && is_deeper(doc, peer->config.depth_max - 1)) {
        yyjson_doc_free(doc);
        return NULL;
    }
    return doc;
}

enum dx__home dx__parse_home(const dx_peer *peer, const yyjson_doc *doc) {
    const char *at = (const char *)doc;
    bool inside = peer->trees && at >= peer->trees && at < peer->trees + peer->trees_cap;
    return inside ? DX__HOME_TREES : DX__HOME_OWN;
}

void dx__parse_drop(const dx_peer *peer, yyjson_doc *doc) {
    if (doc && dx__parse_home(peer, doc) == DX__HOME_OWN)
        yyjson_doc_free(doc);
}

bool dx__parse_ahead(dx_peer *peer, dx_text text, dx_message *ret_message, yyjson_doc **ret_doc,
                     size_t *ret_end) {
    bool large = text.len > ARENA_TEXT;
    if ((text.len > AHEAD_TEXT && !large) || peer->config.flags & DX_PEER_TEXT)
        return false;
    const char *body = dx__rpc_usual(text, ret_message);
    if (!body)
        return false;
    size_t len = (size_t)(text.at + text.len - body);
    if (len - 1 > peer->config.tree_max || may_exceed(text.at, text.len, peer->config.values_max))
        return false;
    *ret_end = peer->trees_used;
    yyjson_doc *doc = large ? parse_large(peer, body, len) : parse_short(peer, body, len, ret_end);
    if (!doc)
        return false;
    if (!dx__rpc_usual_end(text, body, body + yyjson_doc_get_read_size(doc), ret_message)) {
        dx__parse_drop(peer, doc);
        return false;
    }
    *ret_doc = doc;
    return true;
}

static dx_status parse_in_arena(const dx_allocator *alloc, void **arena, size_t *cap, dx_text text,
                                yyjson_doc **ret_doc, yyjson_read_err *ret_error) {
    size_t need = yyjson_read_max_memory_usage(text.len, YYJSON_READ_NOFLAG);
    if (need + 256 > *cap) {
        size_t size = need + 256;
        void *block = dx__malloc(alloc, size);
        if (!block)
            return DX_ERR_NOMEM;
        dx__free(alloc, *arena);
        *arena = block;
        *cap = size;
    }
    yyjson_alc alc;
    yyjson_alc_pool_init(&alc, *arena, *cap);
    *ret_doc =
        yyjson_read_opts((char *)(uintptr_t)text.at, text.len, YYJSON_READ_NOFLAG, &alc, ret_error);
    return DX_OK;
}

dx_status dx__parse(dx_peer *peer, dx_event *ev) {
    if (peer->doc) { /* ahead */
        ev->value = yyjson_doc_get_root(peer->doc);
        return DX_OK;
    }
    if (!ev->body.at || peer->config.flags & DX_PEER_TEXT || ev->body.len > peer->config.tree_max)
        return DX_OK;
    yyjson_read_err error = {0};
    peer->home = ev->body.len <= ARENA_TEXT ? DX__HOME_ARENA : DX__HOME_OWN;
    if (peer->home == DX__HOME_ARENA) {
        dx_status status = parse_in_arena(&peer->alloc, &peer->arena, &peer->arena_cap, ev->body,
                                          &peer->doc, &error);
        if (status != DX_OK)
            return status;
    } else {
        yyjson_alc alc = {spare_malloc, spare_realloc, spare_free, peer};
        peer->doc = yyjson_read_opts((char *)(uintptr_t)ev->body.at, ev->body.len,
                                     YYJSON_READ_NOFLAG, &alc, &error);
    }
    if (!peer->doc && error.code != YYJSON_READ_ERROR_MEMORY_ALLOCATION &&
        peer->config.lenient & DX_LENIENT_VALUE && ev->kind != DX_EVENT_REQUEST) {
        yyjson_alc alc = {spare_malloc, spare_realloc, spare_free, peer};
        peer->home = DX__HOME_OWN;
        peer->doc = dx__json_read_mended(ev->body, &alc, &error, &ev->mended);
    }
    if (!peer->doc && error.code == YYJSON_READ_ERROR_MEMORY_ALLOCATION)
        return DX_ERR_NOMEM;
    if (!peer->doc) {
        size_t at = (size_t)(ev->body.at - ev->message.at) + error.pos;
        dx__error_set(&ev->error, DX_FAULT_JSON_VALUE, at, at, 0);
        return DX_ERR_INVALID;
    }
    ev->value = yyjson_doc_get_root(peer->doc);
    return DX_OK;
}

void dx__parse_free(dx_peer *peer) {
    if (peer->doc && peer->home == DX__HOME_OWN)
        yyjson_doc_free(peer->doc);
    peer->doc = NULL;
}

/* Its arena goes, too, unless that is much too large for it; from among others it is not taken. */
dx_status dx__parse_keep(dx_peer *peer, dx__kept *kept) {
    if (!peer->doc)
        return DX_OK;
    size_t need = yyjson_read_max_memory_usage(kept->event.body.len, YYJSON_READ_NOFLAG) + 256;
    if (peer->home == DX__HOME_TREES ||
        (peer->home == DX__HOME_ARENA && peer->arena_cap > 2 * need)) {
        size_t cap = 0;
        yyjson_read_err error;
        dx_status status =
            parse_in_arena(&peer->alloc, &kept->arena, &cap, kept->event.body, &kept->doc, &error);
        kept->event.value = kept->doc ? yyjson_doc_get_root(kept->doc) : NULL;
        return status;
    }
    kept->doc = peer->doc;
    peer->doc = NULL;
    if (peer->home == DX__HOME_ARENA) {
        kept->arena = peer->arena;
        peer->arena = NULL;
        peer->arena_cap = 0;
    } else {
        kept->doc->alc = (yyjson_alc){NULL, NULL, kept_free, &kept->alloc};
    }
    return DX_OK;
}
