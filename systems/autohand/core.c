/* Small things that all of the core needs: memory, members, errors, times, texts. */
#include "systems/autohand/core_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void *plain_malloc(void *ctx, size_t size) {
    (void)ctx;
    return malloc(size);
}

static void *plain_realloc(void *ctx, void *block, size_t old, size_t size) {
    (void)ctx;
    (void)old;
    return realloc(block, size);
}

static void plain_free(void *ctx, void *block) {
    (void)ctx;
    free(block);
}

dx_allocator dx__autohand_core_allocator(const dx_allocator *given) {
    return given ? *given : (dx_allocator){plain_malloc, plain_realloc, plain_free, NULL};
}

yyjson_alc dx__autohand_core_alc(const dx_allocator *alloc) {
    return (yyjson_alc){alloc->malloc, alloc->realloc, alloc->free, alloc->ctx};
}

dx_text dx__autohand_core_member(yyjson_val *object, const char *name) {
    return dx_json_string(yyjson_obj_get(object, name));
}

dx_status dx__autohand_core_fail(dx_error *reterr, const char *before, const char *after) {
    if (reterr) {
        *reterr = (dx_error){.fault = DX_FAULT_NONE};
        dx__say_str(reterr->phrase, sizeof reterr->phrase, before);
        dx__say_str(reterr->phrase, sizeof reterr->phrase, after);
    }
    return DX_ERR_INVALID;
}

uint64_t dx__autohand_core_now(const dx_autohand_agent *agent) {
    struct timespec now;
    if (agent->config.now)
        return agent->config.now(agent->config.user);
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

uint64_t dx__autohand_core_clock(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Who has a clock of its own sees the same durations in every run. */
uint64_t dx__autohand_core_began(const dx_autohand_agent *agent) {
    return agent->config.now ? dx__autohand_core_now(agent) : dx__autohand_core_clock();
}

uint64_t dx__autohand_core_since(const dx_autohand_agent *agent, uint64_t began) {
    uint64_t now = dx__autohand_core_began(agent);
    return now > began ? now - began : 0;
}

void dx__autohand_core_iso(uint64_t ms, char room[32]) {
    time_t seconds = (time_t)(ms / 1000);
    struct tm parts;
    /* A clock of the caller's own may say anything; years have four digits. */
    if (ms > 253402300799999 || !gmtime_r(&seconds, &parts)) {
        (void)snprintf(room, 32, "1970-01-01T00:00:00.000Z");
        return;
    }
    (void)snprintf(room, 32, "%04u-%02u-%02uT%02u:%02u:%02u.%03uZ",
                   ((unsigned)parts.tm_year + 1900) % 10000, ((unsigned)parts.tm_mon + 1) % 100,
                   (unsigned)parts.tm_mday % 100, (unsigned)parts.tm_hour % 100,
                   (unsigned)parts.tm_min % 100, (unsigned)parts.tm_sec % 100,
                   (unsigned)(ms % 1000));
}

char *dx__autohand_core_mend(const dx_allocator *alloc, dx_text text, size_t *ret_len) {
    size_t len = 0;
    char *to = text.len < SIZE_MAX / 4 ? dx__malloc(alloc, 3 * text.len + 1) : NULL;
    if (!to)
        return NULL;
    for (size_t i = 0; i < text.len;) {
        size_t one = dx__utf8(text.at + i, text.len - i);
        memcpy(to + len, one ? text.at + i : "\xef\xbf\xbd", one ? one : 3);
        len += one ? one : 3;
        i += one ? one : 1;
    }
    to[len] = '\0';
    if (ret_len)
        *ret_len = len;
    return to;
}

size_t dx__autohand_shown_size(dx_text text) {
    size_t size = 2;
    for (size_t i = 0; i < text.len;) {
        unsigned char c = (unsigned char)text.at[i];
        size_t len = dx__utf8(text.at + i, text.len - i);
        size += !len ? 3 : c < 0x20 ? 6 : c == '"' || c == '\\' || c == '/' ? 2 : len;
        i += len ? len : 1;
    }
    return size;
}

bool dx__autohand_core_is_doc(const dx_autohand_agent *agent) {
    return agent->config.compat == DX_AUTOHAND_DOC;
}

yyjson_doc *dx__autohand_core_object(const dx_allocator *alloc, dx_text json) {
    enum { DEPTH_MAX = 200 };
    yyjson_alc alc = dx__autohand_core_alc(alloc);
    if (!json.at || dx_json_check(json, DEPTH_MAX, NULL) != DX_FAULT_NONE)
        return NULL;
    yyjson_doc *doc = yyjson_read_opts((char *)(uintptr_t)json.at, json.len, 0, &alc, NULL);
    if (doc && !yyjson_is_obj(yyjson_doc_get_root(doc))) {
        yyjson_doc_free(doc);
        doc = NULL;
    }
    return doc;
}
