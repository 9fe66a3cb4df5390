/* Small things that everybody needs: memory, members, errors, ids, documents of their own. */
#include "systems/finecode/shared.h"

#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

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

dx_allocator dx__finecode_allocator(const dx_allocator *given) {
    return given ? *given : (dx_allocator){plain_malloc, plain_realloc, plain_free, NULL};
}

yyjson_alc dx__finecode_alc(const dx_allocator *alloc) {
    dx_allocator a = dx__finecode_allocator(alloc);
    return (yyjson_alc){a.malloc, a.realloc, a.free, a.ctx};
}

dx_text dx__finecode_string(yyjson_val *object, const char *member) {
    return dx_json_string(yyjson_obj_get(object, member));
}

dx_status dx__finecode_fail(dx_error *reterr, const char *before, const char *after) {
    if (reterr) {
        *reterr = (dx_error){.fault = DX_FAULT_NONE};
        dx__say_str(reterr->phrase, sizeof reterr->phrase, before);
        if (*before && after && *after)
            dx__say_str(reterr->phrase, sizeof reterr->phrase, " ");
        dx__say_str(reterr->phrase, sizeof reterr->phrase, after ? after : "");
    }
    return DX_ERR_INVALID;
}

void dx__finecode_uuid(char room[37]) {
    static const char digits[] = "0123456789abcdef";
    unsigned char bytes[16];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) {
        /* It only has to differ from others of this machine; nobody takes it for a secret. */
        struct timespec now = {0};
        (void)clock_gettime(CLOCK_REALTIME, &now);
        uint64_t parts[2] = {(uint64_t)now.tv_sec << 32 ^ (uint64_t)now.tv_nsec,
                             (uint64_t)getpid() << 32 ^ (uint64_t)(uintptr_t)room};
        memcpy(bytes, parts, sizeof bytes);
    }
    bytes[6] = (unsigned char)((bytes[6] & 0x0f) | 0x40);
    bytes[8] = (unsigned char)((bytes[8] & 0x3f) | 0x80);
    char *to = room;
    for (size_t i = 0; i < sizeof bytes; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *to++ = '-';
        *to++ = digits[bytes[i] >> 4];
        *to++ = digits[bytes[i] & 0x0f];
    }
    *to = '\0';
}

dx_status dx__finecode_make_folders(const char *folder) {
    char *path = strdup(folder);
    if (!path)
        return DX_ERR_NOMEM;
    for (char *at = path + 1; *path && *at; at++) {
        if (*at != '/')
            continue;
        *at = '\0';
        (void)mkdir(path, 0777);
        *at = '/';
    }
    (void)mkdir(path, 0777);
    free(path);
    return DX_OK;
}

dx_status dx__finecode_doc_of_text(const dx_allocator *alloc, dx_text text, yyjson_doc **ret_doc) {
    yyjson_alc alc = dx__finecode_alc(alloc);
    yyjson_read_err error = {0};
    if (!text.at || dx_json_check(text, DX__FINECODE_DEPTH_MAX, NULL) != DX_FAULT_NONE)
        return DX_ERR_INVALID;
    yyjson_doc *doc = yyjson_read_opts((char *)(uintptr_t)text.at, text.len,
                                       YYJSON_READ_BIGNUM_AS_RAW, &alc, &error);
    if (!doc)
        return error.code == YYJSON_READ_ERROR_MEMORY_ALLOCATION ? DX_ERR_NOMEM : DX_ERR_INVALID;
    *ret_doc = doc;
    return DX_OK;
}

dx_status dx__finecode_doc_of_json(const dx_allocator *alloc, dx_json value, yyjson_doc **ret_doc) {
    dx_buf text;
    dx_buf_init(&text, SIZE_MAX / 8, alloc);
    dx_status status = dx_json_write(&text, value);
    if (status == DX_OK && text.len)
        status = dx__finecode_doc_of_text(alloc, (dx_text){text.data, text.len}, ret_doc);
    else if (status == DX_OK)
        *ret_doc = NULL;
    dx_buf_done(&text);
    return status;
}

/* By way of its text: yyjson copies what was built by calling itself. */
dx_status dx__finecode_doc_of(const dx_allocator *alloc, yyjson_val *value, yyjson_doc **ret_doc) {
    return dx__finecode_doc_of_json(alloc, value ? dx_json_value(value) : dx_json_none(), ret_doc);
}
