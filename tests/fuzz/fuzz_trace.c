/*
 * A trace is read into the same records however it arrives: whole, and in pieces whose lengths come
 * from the input too. What was read can be written, and is read back the same. The first bytes
 * choose the limit of a line and the cuts.
 */
#include <duplex/rpc.h>
#include <duplex/trace.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CUTS = 5, HEAD = CUTS + 1, WAITING = 64 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What next() said, with copies of what it lent. */
struct seen {
    dx_status status;
    dx_trace_record record;
    dx_error error;
    char *texts[3];
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

/* A copy of exactly that size, so that a byte too far is seen; what is absent stays so. */
static char *copy(dx_text *text) {
    if (!text->at)
        return NULL;
    char *bytes = malloc(text->len ? text->len : 1);
    CHECK(bytes != NULL);
    memcpy(bytes, text->at, text->len);
    text->at = bytes;
    return bytes;
}

static struct seen *add(struct list *list) {
    if (list->count == list->cap) {
        list->cap = list->cap ? list->cap * 2 : 16;
        list->at = realloc(list->at, list->cap * sizeof *list->at);
        CHECK(list->at != NULL);
    }
    struct seen *seen = &list->at[list->count++];
    *seen = (struct seen){.status = DX_OK};
    return seen;
}

static void list_done(struct list *list) {
    for (size_t i = 0; i < list->count; i++)
        for (size_t k = 0; k < 3; k++)
            free(list->at[i].texts[k]);
    free(list->at);
}

static void take(dx_trace_reader *reader, struct list *list, dx_status last) {
    dx_trace_record record = {.line = 0};
    dx_error error = {.fault = DX_FAULT_NONE};
    dx_status status;
    while ((status = dx_trace_next(reader, &record, &error)) != last) {
        CHECK(status == DX_OK || status == DX_ERR_INVALID || status == DX_ERR_LIMIT);
        struct seen *seen = add(list);
        seen->status = status;
        if (status != DX_OK) {
            seen->error = error;
            continue;
        }
        seen->record = record;
        seen->texts[0] = copy(&seen->record.peer);
        seen->texts[1] = copy(&seen->record.text);
        seen->texts[2] = copy(&seen->record.event);
    }
}

/* Cuts: how long the pieces are is read from these bytes, again and again. None: one piece. */
static struct list read_all(size_t line_max, dx_text stream, dx_text cuts) {
    dx_trace_reader_config config = dx_trace_reader_defaults();
    dx_trace_reader *reader;
    struct list list = {0};
    config.line_max = line_max;
    CHECK(dx_trace_reader_new(&config, &reader) == DX_OK);
    for (size_t at = 0, i = 0, used; at < stream.len; at += used, i++) {
        size_t left = stream.len - at;
        unsigned char step = cuts.len ? (unsigned char)cuts.at[i % cuts.len] : 0;
        size_t len = cuts.len && (size_t)step % 64 + 1 < left ? (size_t)step % 64 + 1 : left;
        dx_status status = dx_trace_feed(reader, stream.at + at, len, &used);
        CHECK(status == (used == len ? DX_OK : DX_BUSY));
        if (!(step & 128) || status == DX_BUSY)
            take(reader, &list, DX_AGAIN);
    }
    dx_trace_finish(reader);
    take(reader, &list, DX_CLOSED);
    size_t used;
    CHECK(dx_trace_feed(reader, "x", 1, &used) == DX_CLOSED && !used);
    dx_trace_reader_free(reader);
    return list;
}

static int same_text(dx_text one, dx_text two) {
    return !one.at == !two.at && one.len == two.len &&
           (!one.len || memcmp(one.at, two.at, one.len) == 0);
}

static void check_same(const struct list *one, const struct list *two) {
    CHECK(one->count == two->count);
    for (size_t i = 0; i < one->count; i++) {
        const dx_trace_record *a = &one->at[i].record;
        const dx_trace_record *b = &two->at[i].record;
        CHECK(one->at[i].status == two->at[i].status);
        CHECK(one->at[i].error.fault == two->at[i].error.fault);
        CHECK(strcmp(one->at[i].error.phrase, two->at[i].error.phrase) == 0);
        CHECK(a->kind == b->kind && a->from == b->from && a->time_us == b->time_us);
        CHECK(a->run == b->run && a->bytes == b->bytes && a->count == b->count);
        CHECK(a->unix_ms == b->unix_ms && a->line == b->line);
        CHECK(same_text(a->peer, b->peer) && same_text(a->text, b->text));
        CHECK(same_text(a->event, b->event));
    }
}

/* What a record or an error tells by itself. */
static void check_list(const struct list *list, size_t line_max) {
    uint64_t line = 0;
    for (size_t i = 0; i < list->count; i++) {
        const dx_trace_record *record = &list->at[i].record;
        if (list->at[i].status != DX_OK) {
            CHECK(strncmp(list->at[i].error.place, "line ", 5) == 0);
            CHECK(list->at[i].error.fault != DX_FAULT_NONE && list->at[i].error.phrase[0]);
            continue;
        }
        CHECK(record->line > line);
        line = record->line;
        CHECK(record->kind >= DX_TRACE_MESSAGE && record->kind <= DX_TRACE_HEADER);
        CHECK(record->kind > DX_TRACE_STDERR || record->from != DX_TRACE_NOBODY);
        CHECK(record->kind > DX_TRACE_STDERR || record->text.at);
        CHECK((record->kind == DX_TRACE_EVENT) == (record->event.at != NULL));
        CHECK(record->text.len <= line_max && record->peer.len <= line_max);
        if (record->kind == DX_TRACE_MESSAGE || (record->kind == DX_TRACE_EVENT && record->text.at))
            CHECK(dx_json_check(record->text, DX_DEPTH_MAX, NULL) == DX_FAULT_NONE);
    }
}

/* CR between the tokens of a JSON text is written as a space. */
static int same_json(dx_text one, dx_text two) {
    if (!one.at || !two.at)
        return !one.at == !two.at;
    if (one.len != two.len)
        return 0;
    for (size_t i = 0; i < one.len; i++)
        if ((one.at[i] == '\r' ? ' ' : one.at[i]) != two.at[i])
            return 0;
    return 1;
}

static void check_back(const dx_trace_record *was, const dx_trace_record *is) {
    CHECK(was->kind == is->kind && was->time_us == is->time_us);
    if (was->kind == DX_TRACE_DROPPED) {
        CHECK(was->count == is->count);
        return;
    }
    CHECK(was->from == is->from && was->run == is->run && was->bytes == is->bytes);
    CHECK(same_text(was->peer, is->peer) && same_text(was->event, is->event));
    if (was->kind == DX_TRACE_MESSAGE || was->kind == DX_TRACE_EVENT)
        CHECK(same_json(was->text, is->text));
    else
        CHECK(same_text(was->text, is->text));
}

/* Writes a record with a writer of its own, and reads it back. */
static void check_written(const dx_trace_record *record, int is_checked) {
    dx_trace_writer_config config = dx_trace_writer_defaults();
    dx_trace_writer *writer;
    dx_trace_record out = *record;
    config.waiting_max = WAITING;
    out.checked = is_checked;
    CHECK(dx_trace_writer_new(&config, &writer) == DX_OK);
    dx_status status = dx_trace_write(writer, &out);
    if (record->kind == DX_TRACE_HEADER) {
        CHECK(status == DX_ERR_INVALID); /* that is the writer's own business */
        dx_trace_writer_free(writer);
        return;
    }
    CHECK(status == DX_OK);
    struct list list = read_all((size_t)128 << 20, dx_trace_output(writer), (dx_text){NULL, 0});
    int is_told = record->kind != DX_TRACE_DROPPED || record->count;
    CHECK(list.count == 1 + (size_t)is_told && list.at[0].status == DX_OK);
    CHECK(list.at[0].record.kind == DX_TRACE_HEADER && list.at[0].record.count == 1);
    if (is_told) {
        CHECK(list.at[1].status == DX_OK);
        check_back(record, &list.at[1].record);
    }
    CHECK(dx_trace_dropped(writer) == (record->kind == DX_TRACE_DROPPED ? record->count : 0));
    list_done(&list);
    dx_trace_writer_free(writer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < HEAD)
        return 0;
    size_t line_max = data[0] & 1 ? (size_t)1 + data[0] : (size_t)128 << 20;
    dx_text cuts = {(const char *)data + 1, CUTS};
    dx_text stream = {(const char *)data + HEAD, size - HEAD};
    struct list whole = read_all(line_max, stream, (dx_text){NULL, 0});
    struct list pieces = read_all(line_max, stream, cuts);
    struct list bytes = read_all(line_max, stream, (dx_text){"", 1});
    check_list(&whole, line_max);
    check_same(&whole, &pieces);
    check_same(&whole, &bytes);
    for (size_t i = 0; i < whole.count; i++)
        if (whole.at[i].status == DX_OK)
            check_written(&whole.at[i].record, (int)(i & 1));
    list_done(&whole);
    list_done(&pieces);
    list_done(&bytes);
    return 0;
}
