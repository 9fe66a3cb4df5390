#include "schema/pattern.h"

#include "base/alloc.h"
#include "base/line.h"
#include "schema/ecma.h"

#ifndef PCRE2_CODE_UNIT_WIDTH /* the build says so, too, but not every tool that reads this asks \
                                 it */
#define PCRE2_CODE_UNIT_WIDTH 8
#endif
#include <pcre2.h>
#include <string.h>

enum {
    WRITTEN_MAX = 1 << 20, /* bytes of a pattern as PCRE2 gets it */
    LITERAL_MAX = 64,      /* of a text that is looked for at every place, one after the other */
    STEP_COST = 16,        /* a step back takes about as long as so many characters */
    REFERRED = 64,         /* bytes that are compared in the time of a character */
};

/* With `code` NULL it is nothing but the literal. */
struct dx__pattern {
    dx_allocator alloc;
    pcre2_code *code;
    bool refers;
    bool from_start;
    bool to_end;
    size_t literal_len;
    char literal[];
};

struct dx__pattern_room {
    dx_allocator alloc;
    pcre2_match_context *context;
    pcre2_match_data *data;
    uint64_t effort_max;
    /* One search: */
    uint64_t effort;
    uint64_t each;  /* what every step costs besides */
    size_t start;   /* from where it is tried now */
    size_t reached; /* how far it was at the last step */
};

bool dx__pattern_is(dx_text source) {
    dx__ecma ecma;
    return dx__ecma_read(&ecma, source, NULL, NULL) == DX_OK;
}

/* PCRE2's way to ask for memory. */
static void *give(size_t size, void *alloc) {
    return dx__malloc(alloc, size);
}

static void take_back(void *ptr, void *alloc) {
    dx__free(alloc, ptr);
}

static void explain(char *reterr, size_t reterr_len, const char *wrong, size_t where) {
    if (!reterr || !reterr_len)
        return;
    dx__line line = dx__line_on(reterr, reterr_len);
    dx__line_str(&line, wrong);
    dx__line_str(&line, ", at ");
    dx__line_num(&line, where);
}

/* What is right in ECMA-262 and PCRE2 still refuses. Its places mean nothing to who wrote the
 * source, so none is told. */
static dx_status refuse(int error, char *reterr, size_t reterr_len) {
    if (error == PCRE2_ERROR_HEAP_FAILED)
        return DX_ERR_NOMEM;
    if (!reterr || !reterr_len)
        return DX_ERR_INVALID;
    dx__line line = dx__line_on(reterr, reterr_len);
    if (error == PCRE2_ERROR_LOOKBEHIND_NOT_FIXED_LENGTH)
        dx__line_str(&line, "a lookbehind without a fixed length, which is not supported");
    else if (error == PCRE2_ERROR_UNKNOWN_UNICODE_PROPERTY)
        dx__line_str(&line, "an unknown property");
    else if (error == PCRE2_ERROR_PATTERN_TOO_LARGE || error == PCRE2_ERROR_PATTERN_TOO_COMPLICATED)
        dx__line_str(&line, "a pattern that is too large");
    else
        dx__line_str(&line, "a pattern that is not supported");
    return DX_ERR_INVALID;
}

static dx_status compile(dx__pattern *pattern, const dx__ecma *ecma, char *reterr,
                         size_t reterr_len) {
    pcre2_general_context *general = pcre2_general_context_create(give, take_back, &pattern->alloc);
    pcre2_compile_context *context = general ? pcre2_compile_context_create(general) : NULL;
    int error = PCRE2_ERROR_HEAP_FAILED;
    PCRE2_SIZE where;
    uint32_t options = PCRE2_UTF | PCRE2_MATCH_UNSET_BACKREF;
    if (ecma->has_properties)
        options |= PCRE2_NO_AUTO_POSSESS; /* 10.42 takes \P{Lu} and \P{Ll} for disjoint */
    if (ecma->looks_ahead)
        options |= PCRE2_NO_START_OPTIMIZE; /* it would want two x for (?=x)-*x */
    if (context) {
        pcre2_set_parens_nest_limit(context, DX__ECMA_NESTING_MAX + 1);
        pcre2_set_compile_extra_options(context, PCRE2_EXTRA_ALLOW_SURROGATE_ESCAPES);
        /* No JIT: it would save some 50 ns a search, but its memory is executable and does not come
         * from the allocator. */
        pattern->code = pcre2_compile((PCRE2_SPTR)ecma->out->data, ecma->out->len, options, &error,
                                      &where, context);
    }
    pcre2_compile_context_free(context);
    pcre2_general_context_free(general);
    return pattern->code ? DX_OK : refuse(error, reterr, reterr_len);
}

static dx_status build(const dx_allocator *alloc, const dx__ecma *ecma, dx__pattern **ret_pattern,
                       char *reterr, size_t reterr_len) {
    const dx_buf *literal = ecma->literal;
    /* Looking for a long text at every place could take its length times the text's. */
    bool is_literal =
        ecma->plain && (ecma->from_start || ecma->to_end || literal->len <= LITERAL_MAX);
    size_t len = is_literal ? literal->len : 0;
    dx__pattern *pattern = dx__malloc(alloc, sizeof *pattern + len);
    if (!pattern)
        return DX_ERR_NOMEM;
    *pattern = (dx__pattern){
        .alloc = *alloc,
        .refers = ecma->refers,
        .from_start = ecma->from_start,
        .to_end = ecma->to_end,
        .literal_len = len,
    };
    if (len)
        memcpy(pattern->literal, literal->data, len);
    dx_status status = is_literal ? DX_OK : compile(pattern, ecma, reterr, reterr_len);
    if (status != DX_OK)
        dx__pattern_free(pattern);
    else
        *ret_pattern = pattern;
    return status;
}

dx_status dx__pattern_new(const dx_allocator *allocator, dx_text source, dx__pattern **ret_pattern,
                          char *reterr, size_t reterr_len) {
    dx_allocator alloc = dx__allocator(allocator);
    dx__ecma ecma;
    dx_buf written;
    dx_buf literal;
    dx_buf_init(&written, WRITTEN_MAX, &alloc);
    dx_buf_init(&literal, WRITTEN_MAX, &alloc);
    dx_status status = dx__ecma_read(&ecma, source, &written, &literal);
    if (status == DX_OK)
        status = build(&alloc, &ecma, ret_pattern, reterr, reterr_len);
    else if (status == DX_ERR_INVALID)
        explain(reterr, reterr_len, ecma.wrong, (size_t)(ecma.where - ecma.start));
    else if (status == DX_ERR_LIMIT)
        status = refuse(PCRE2_ERROR_PATTERN_TOO_LARGE, reterr, reterr_len);
    dx_buf_done(&written);
    dx_buf_done(&literal);
    return status;
}

dx__pattern *dx__pattern_free(dx__pattern *pattern) {
    if (!pattern)
        return NULL;
    pcre2_code_free(pattern->code);
    dx_allocator alloc = pattern->alloc;
    dx__free(&alloc, pattern);
    return NULL;
}

/* PCRE2's own limit counts anew from every place where a match could begin, and does not count
 * characters; so the work is counted here. See ecma.h for where this is called. */
static int count_effort(pcre2_callout_block *block, void *data) {
    dx__pattern_room *room = data;
    size_t at = block->current_position;
    if (block->start_match != room->start)
        room->start = room->reached = block->start_match;
    uint64_t cost = STEP_COST + room->each + block->callout_number * (uint64_t)DX__ECMA_STRIDE;
    if (at > room->reached)
        cost += at - room->reached;
    room->reached = at;
    if (cost > room->effort)
        return PCRE2_ERROR_MATCHLIMIT;
    room->effort -= cost;
    return 0;
}

dx_status dx__pattern_room_new(const dx_allocator *allocator, uint32_t match_max,
                               dx__pattern_room **ret_room) {
    dx_allocator alloc = dx__allocator(allocator);
    dx__pattern_room *room = dx__malloc(&alloc, sizeof *room);
    if (!room)
        return DX_ERR_NOMEM;
    *room = (dx__pattern_room){.alloc = alloc, .effort_max = (uint64_t)match_max * STEP_COST};
    pcre2_general_context *general = pcre2_general_context_create(give, take_back, &room->alloc);
    if (general) {
        room->context = pcre2_match_context_create(general);
        room->data = pcre2_match_data_create(1, general);
    }
    pcre2_general_context_free(general);
    if (!room->context || !room->data) {
        dx__pattern_room_free(room);
        return DX_ERR_NOMEM;
    }
    pcre2_set_match_limit(room->context, match_max);
    pcre2_set_depth_limit(room->context, match_max);
    pcre2_set_heap_limit(room->context, match_max / 128 < 64 ? 64 : match_max / 128); /* KiB */
    pcre2_set_callout(room->context, count_effort, room);
    *ret_room = room;
    return DX_OK;
}

dx__pattern_room *dx__pattern_room_free(dx__pattern_room *room) {
    if (!room)
        return NULL;
    pcre2_match_data_free(room->data);
    pcre2_match_context_free(room->context);
    dx_allocator alloc = room->alloc;
    dx__free(&alloc, room);
    return NULL;
}

bool dx__pattern_is_anchored(const dx__pattern *pattern) {
    uint32_t options = 0;
    if (!pattern->code)
        return pattern->from_start;
    return !pcre2_pattern_info(pattern->code, PCRE2_INFO_ALLOPTIONS, &options) &&
           (options & PCRE2_ANCHORED);
}

static bool is_at(const dx__pattern *pattern, const char *at) {
    return !pattern->literal_len || memcmp(at, pattern->literal, pattern->literal_len) == 0;
}

static bool find_literal(const dx__pattern *pattern, dx_text text) {
    size_t len = pattern->literal_len;
    if (len > text.len)
        return false;
    if (pattern->from_start)
        return (!pattern->to_end || len == text.len) && is_at(pattern, text.at);
    const char *last = text.at + (text.len - len);
    if (pattern->to_end || !len)
        return is_at(pattern, last);
    for (const char *at = text.at;; at++) {
        at = memchr(at, pattern->literal[0], (size_t)(last - at) + 1);
        if (!at || is_at(pattern, at))
            return at != NULL;
        if (at == last)
            return false;
    }
}

dx_status dx__pattern_find(const dx__pattern *pattern, dx__pattern_room *room, dx_text text) {
    if (!pattern->code)
        return find_literal(pattern, text) ? DX_OK : DX_AGAIN;
    room->effort = room->effort_max;
    room->each = pattern->refers ? text.len / REFERRED : 0;
    room->start = PCRE2_UNSET;
    /* Whether the text is UTF-8 is left to PCRE2 to check: yyjson can be told to read what is not,
     * and a search would then go astray. */
    int found = pcre2_match(pattern->code, (PCRE2_SPTR)(text.at ? text.at : ""), text.len, 0, 0,
                            room->data, room->context);
    if (found >= 0)
        return DX_OK;
    switch (found) {
    case PCRE2_ERROR_NOMEMORY:
        return DX_ERR_NOMEM;
    case PCRE2_ERROR_MATCHLIMIT:
    case PCRE2_ERROR_DEPTHLIMIT:
    case PCRE2_ERROR_HEAPLIMIT:
        return DX_ERR_LIMIT;
    default:
        return DX_AGAIN; /* not there, or not UTF-8 */
    }
}
