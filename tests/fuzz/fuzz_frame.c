/*
 * A stream is cut into the same frames however it arrives: whole, and in pieces whose lengths come
 * from the input too. The first bytes choose framing, leniency and limits.
 */
#include <duplex/frame.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seen {
    dx_frame frame;
    char *text;
};

struct list {
    struct seen *at;
    size_t count;
    size_t cap;
};

static void check(int condition, const char *what) {
    if (condition)
        return;
    fprintf(stderr, "not true: %s\n", what);
    abort();
}

#define CHECK(condition) check(condition, #condition)

static void note(struct list *list, const dx_frame *frame) {
    if (list->count == list->cap) {
        list->cap = list->cap ? list->cap * 2 : 16;
        list->at = realloc(list->at, list->cap * sizeof *list->at);
        CHECK(list->at != NULL);
    }
    struct seen *seen = &list->at[list->count++];
    *seen = (struct seen){.frame = *frame};
    if (frame->text.len) {
        seen->text = malloc(frame->text.len);
        CHECK(seen->text != NULL);
        memcpy(seen->text, frame->text.at, frame->text.len);
    }
}

static void list_done(struct list *list) {
    for (size_t i = 0; i < list->count; i++)
        free(list->at[i].text);
    free(list->at);
}

static void take(dx_framer *framer, struct list *list) {
    dx_frame frame;
    while (dx_framer_next(framer, &frame) == DX_OK) {
        note(list, &frame);
        dx_framer_release(framer, frame.offset + frame.text.len);
    }
}

/* Cuts: how long the pieces are is read from these bytes, again and again. None: one piece. */
static struct list cut(const dx_frame_config *config, dx_text stream, dx_text cuts) {
    dx_framer *framer;
    struct list list = {0};
    CHECK(dx_framer_new(config, &framer) == DX_OK);
    for (size_t at = 0, i = 0; at < stream.len; i++) {
        size_t left = stream.len - at;
        unsigned char step = cuts.len ? (unsigned char)cuts.at[i % cuts.len] : 0;
        size_t len = cuts.len && (size_t)step % 64 + 1 < left ? (size_t)step % 64 + 1 : left;
        if (step & 64) {
            void *room;
            CHECK(dx_framer_reserve(framer, len, &room, &len) == DX_OK && len);
            memcpy(room, stream.at + at, len);
            dx_framer_commit(framer, len);
        } else {
            CHECK(dx_framer_feed(framer, stream.at + at, len) == DX_OK);
        }
        if (!(step & 128))
            take(framer, &list);
        at += len;
    }
    take(framer, &list);
    dx_framer_finish(framer);
    take(framer, &list);
    dx_framer_free(framer);
    return list;
}

/* What the stream tells by itself: texts lie in it where they say, and the last word comes last. */
static void check_list(const struct list *list, dx_text stream) {
    uint64_t from = 0;
    for (size_t i = 0; i < list->count; i++) {
        const dx_frame *frame = &list->at[i].frame;
        int last = frame->kind == DX_FRAME_END || (frame->kind == DX_FRAME_FAULT && frame->fatal);
        CHECK(last == (i + 1 == list->count));
        CHECK(frame->offset >= from && frame->offset + frame->text.len <= stream.len);
        CHECK((frame->fault == DX_FAULT_NONE) ==
                  (frame->kind == DX_FRAME_MESSAGE || frame->kind == DX_FRAME_END) ||
              frame->fault == DX_FAULT_UNTERMINATED);
        if (frame->text.len)
            CHECK(!memcmp(list->at[i].text, stream.at + frame->offset, frame->text.len));
        from = frame->offset + frame->text.len;
    }
    CHECK(list->count > 0);
}

static void check_same(const struct list *one, const struct list *two) {
    CHECK(one->count == two->count);
    for (size_t i = 0; i < one->count; i++) {
        const dx_frame *a = &one->at[i].frame;
        const dx_frame *b = &two->at[i].frame;
        CHECK(a->kind == b->kind && a->fault == b->fault && a->fatal == b->fatal);
        CHECK(a->offset == b->offset && a->text.len == b->text.len);
        CHECK(a->found == b->found && a->expected == b->expected);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 8)
        return 0;
    dx_frame_config config = dx_frame_defaults(data[0] & 1 ? DX_FRAMING_LINE : DX_FRAMING_HEADER);
    config.lenient = data[0] & 2 ? data[1] : DX_LENIENT_DEFAULT;
    if (data[0] & 4)
        config.message_max = 1 + data[2] % 64;
    if (data[0] & 8)
        config.header_max = 16 + data[2];
    if (data[0] & 16)
        config.stray_max = data[2];
    if (data[0] & 32)
        config.fields_max = 1 + data[2] % 4;
    dx_text cuts = {(const char *)data + 3, 5};
    dx_text stream = {(const char *)data + 8, size - 8};

    struct list whole = cut(&config, stream, (dx_text){NULL, 0});
    struct list pieces = cut(&config, stream, cuts);
    struct list bytes = cut(&config, stream, (dx_text){"", 1});
    check_list(&whole, stream);
    check_same(&whole, &pieces);
    check_same(&whole, &bytes);
    list_done(&whole);
    list_done(&pieces);
    list_done(&bytes);
    return 0;
}
