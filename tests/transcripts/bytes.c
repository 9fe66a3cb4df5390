#include "bytes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN_HEAD = 300, SHOWN_TAIL = 60 };

static void *checked(void *memory) {
    if (!memory) {
        fputs("transcripts: out of memory\n", stderr);
        exit(2);
    }
    return memory;
}

void *must_alloc(size_t size) {
    return checked(calloc(1, size ? size : 1));
}

void *must_grow(void *old, size_t size) {
    return checked(realloc(old, size));
}

static void bytes_room(struct bytes *bytes, size_t more) {
    if (bytes->cap - bytes->len > more)
        return;
    bytes->cap = (bytes->len + more + 1) * 2;
    bytes->at = must_grow(bytes->at, bytes->cap);
}

void bytes_add(struct bytes *bytes, const void *at, size_t len) {
    bytes_room(bytes, len);
    if (len)
        memcpy(bytes->at + bytes->len, at, len);
    bytes->len += len;
    bytes->at[bytes->len] = '\0';
}

void bytes_addf(struct bytes *bytes, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (len < 0)
        return;
    bytes_room(bytes, (size_t)len + 1);
    va_start(args, format);
    vsnprintf(bytes->at + bytes->len, (size_t)len + 1, format, args);
    va_end(args);
    bytes->len += (size_t)len;
}

static void show_part(struct bytes *bytes, const char *at, size_t len) {
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)at[i];
        if (c == '\r')
            bytes_addf(bytes, "\\r");
        else if (c == '\n')
            bytes_addf(bytes, "\\n");
        else if (c < 0x20 || c > 0x7e)
            bytes_addf(bytes, "\\x%02x", c);
        else
            bytes_add(bytes, &at[i], 1);
    }
}

void bytes_show(struct bytes *bytes, dx_text text) {
    if (!text.at) {
        bytes_addf(bytes, "(absent)");
        return;
    }
    if (text.len <= SHOWN_HEAD + SHOWN_TAIL) {
        show_part(bytes, text.at, text.len);
        return;
    }
    show_part(bytes, text.at, SHOWN_HEAD);
    bytes_addf(bytes, " ... (%zu bytes) ... ", text.len);
    show_part(bytes, text.at + text.len - SHOWN_TAIL, SHOWN_TAIL);
}

void bytes_free(struct bytes *bytes) {
    free(bytes->at);
    *bytes = (struct bytes){0};
}

bool text_equal(dx_text a, dx_text b) {
    if (!a.at || !b.at)
        return !a.at && !b.at;
    return a.len == b.len && (a.len == 0 || memcmp(a.at, b.at, a.len) == 0);
}

bool text_is(dx_text text, const char *string) {
    return text.at && text.len == strlen(string) && memcmp(text.at, string, text.len) == 0;
}

bool text_contains(dx_text text, dx_text part) {
    return text.at && (part.len == 0 || memmem(text.at, text.len, part.at, part.len));
}
