/* The scanner below the envelope: it walks over JSON and checks it, and builds nothing. */
#ifndef DX_RPC_JSON_H
#define DX_RPC_JSON_H

#include <duplex/rpc.h>

#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* The fault of a walk that has paused at `stop`: not for the eyes of others. */
#define DX__JSON_PAUSED DX_FAULT__COUNT

typedef struct dx__json {
    const char *start;
    const char *end;
    const char *stop; /* where a walk pauses; `end` if it does not */
    const char *at;   /* where it stands; on a fault, where that is */
    unsigned depth;   /* levels that are left */
    dx_fault fault;   /* NONE as long as all is well */
    int escaped;      /* set by every escape in a string; never reset here */
} dx__json;

/* How far a walk over one value has come, so that it can pause and go on. */
typedef struct dx__json_walk {
    unsigned step; /* 0: at the beginning */
    unsigned level;
    int in_object;
    uint32_t values;   /* values and names that were seen */
    uint32_t elements; /* values on the first level that have ended */
    uint32_t name_at;  /* of the member at hand, and its length with quotes */
    uint32_t name_len;
    uint32_t value_at; /* of its value */
    /* For the members of the outermost object; may be NULL. `name` is called after the colon, and
     * `value` with the place where the value has ended. */
    void (*name)(void *user, dx__json *json, dx_text quoted);
    void (*value)(void *user, const dx__json *json, const char *end);
    void *user;
    uint64_t levels[DX_DEPTH_MAX / 64]; /* a bit for each open one: 1 for an object */
} dx__json_walk;

static inline void dx__json_walk_begin(dx__json_walk *walk) {
    walk->step = walk->level = 0;
    walk->in_object = 0;
    walk->values = walk->elements = walk->name_at = walk->name_len = 0;
    walk->name = NULL;
    walk->value = NULL;
}

/* One that stands at the beginning of a text, which may be absent. */
static inline dx__json dx__json_reader(dx_text text, unsigned depth) {
    if (!text.at)
        text = (dx_text){"", 0};
    return (dx__json){.start = text.at,
                      .end = text.at + text.len,
                      .stop = text.at + text.len,
                      .at = text.at,
                      .depth = depth < DX_DEPTH_MAX ? depth : DX_DEPTH_MAX};
}

static inline const char *dx__json_space(const char *at, const char *end) {
    /* Most often there is none: one comparison says so. */
    while (at < end && (unsigned char)*at <= ' ' &&
           (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t'))
        at++;
    return at;
}

/* Skips white space and says which byte comes next: '\0' at the end (or for a NUL, which nothing
 * takes for good). */
static inline char dx__json_peek(dx__json *json) {
    json->at = dx__json_space(json->at, json->end);
    return json->at < json->end ? *json->at : '\0';
}

/* Takes that byte if it comes next. */
static inline int dx__json_take(dx__json *json, char byte) {
    if (dx__json_peek(json) != byte || json->at == json->end)
        return 0;
    json->at++;
    return 1;
}

/* Where the bytes end that need no look: printable ASCII but for " and \. Sixteen at a time where
 * the processor can (as signed numbers, bytes above 0x7f are below 0x20, too), then eight: the
 * lowest flag of a word is exact, and where the lowest is the first byte, that is the place. */
static inline const char *dx__json_plain(const char *at, const char *end) {
    const uint64_t ones = UINT64_C(0x0101010101010101);
    const uint64_t tops = UINT64_C(0x8080808080808080);
#ifdef __SSE2__
    for (; end - at >= 16; at += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
        __m128i odd = _mm_cmplt_epi8(bytes, _mm_set1_epi8(0x20));
        odd = _mm_or_si128(odd, _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')));
        odd = _mm_or_si128(odd, _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')));
        int found = _mm_movemask_epi8(odd);
        if (found)
            return at + __builtin_ctz((unsigned)found);
    }
#endif
    while (end - at >= 8) {
        uint64_t word;
        memcpy(&word, at, 8);
        uint64_t quote = word ^ (ones * '"');
        uint64_t slash = word ^ (ones * '\\');
        uint64_t odd = ((quote - ones) | (slash - ones) | (word - ones * 0x20) | word) & tops;
        if (odd) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
            return at + __builtin_ctzll(odd) / 8;
#else
            break;
#endif
        }
        at += 8;
    }
    while (at < end && (unsigned char)*at >= 0x20 && (unsigned char)*at < 0x80 && *at != '"' &&
           *at != '\\')
        at++;
    return at;
}

/* Are all of them like that? Short texts, which most names are, in one go. */
static inline int dx__json_is_plain(const char *at, size_t len) {
    const uint64_t ones = UINT64_C(0x0101010101010101);
    const uint64_t tops = UINT64_C(0x8080808080808080);
    if (len >= 4 && len <= 8) { /* as two words that overlap */
        uint64_t low = 0;
        uint64_t high = 0;
        memcpy(&low, at, 4);
        memcpy(&high, at + len - 4, 4);
        uint64_t word = low | high << 32;
        uint64_t quote = word ^ (ones * '"');
        uint64_t slash = word ^ (ones * '\\');
        if (!(((quote - ones) | (slash - ones) | (word - ones * 0x20) | word) & tops))
            return 1;
    }
    return dx__json_plain(at, at + len) == at + len;
}

/* The rest of a string from something on that is not plain. Apart, so that plain strings, which
 * most are, don't pay for its stack frame. */
const char *dx__json_string_rest(dx__json *json, const char *at);

/* `at` is behind the opening quote; returns behind the closing one, or where it paused. */
static inline const char *dx__json_string(dx__json *json, const char *at) {
    at = dx__json_plain(at, json->stop);
    return at < json->stop && *at == '"' ? at + 1 : dx__json_string_rest(json, at);
}

/* Walks over a value as most programs write it: no space, no escapes, all ASCII, whole numbers.
 * Behind it a closing brace must come, at end[-1] at the latest. NULL if it is not like that. */
const char *dx__json_quick(const char *at, const char *end, unsigned depth);
/* Walks over a value; on a fault sets it and stops. The first one may pause at json->stop, with the
 * fault DX__JSON_PAUSED; it goes on when that was cleared and `stop` lies further on. */
void dx__json_go(dx__json *json, dx__json_walk *walk);
void dx__json_skip(dx__json *json);
/* Walks over a member's name and colon, up to its value; hands out the name with its quotes. */
void dx__json_skip_name(dx__json *json, dx_text *ret_quoted);
void dx__json_fail(dx__json *json, dx_fault fault, const char *at);

#endif
