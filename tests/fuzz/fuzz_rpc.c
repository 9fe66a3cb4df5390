/*
 * Our scan against yyjson: both accept the same texts, but for what the header names (numbers out
 * of range, lone surrogates, depth), and what the scan found in an envelope yyjson finds too.
 */
#include "rpc/scan.h"
#include <duplex/frame.h>

#include <duplex/rpc.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int condition, const char *what) {
    if (condition)
        return;
    fprintf(stderr, "not true: %s\n", what);
    abort();
}

#define CHECK(condition) check(condition, #condition)

static dx_text part(dx_text text, dx_slice slice) {
    return (dx_text){text.at + slice.at, slice.len};
}

/* The escape of a surrogate at that place, or right before it. */
static int is_surrogate(dx_text text, size_t at) {
    for (size_t i = at < 6 ? 0 : at - 6; i <= at && i + 6 <= text.len; i++)
        if (text.at[i] == '\\' && text.at[i + 1] == 'u' && (text.at[i + 2] | 0x20) == 'd' &&
            text.at[i + 3] >= '8')
            return 1;
    return 0;
}

/* yyjson refuses a text that is JSON for two reasons only: a number that it cannot hold, which is
 * no reason when it may keep numbers as text, and a lone surrogate. */
static int is_known_difference(dx_text text) {
    yyjson_read_err error = {0};
    yyjson_doc *doc = yyjson_read_opts((char *)(uintptr_t)text.at, text.len,
                                       YYJSON_READ_BIGNUM_AS_RAW, NULL, &error);
    int known =
        doc || (error.code == YYJSON_READ_ERROR_INVALID_STRING && is_surrogate(text, error.pos));
    yyjson_doc_free(doc);
    return known;
}

static yyjson_doc *check_text(dx_text text, unsigned depth) {
    size_t at = SIZE_MAX;
    dx_fault fault = dx_json_check(text, depth, &at);
    yyjson_doc *doc = yyjson_read(text.at, text.len, YYJSON_READ_NOFLAG);
    CHECK(at <= text.len);
    if (fault == DX_FAULT_NONE)
        CHECK(doc || is_known_difference(text));
    else if (fault != DX_FAULT_JSON_DEPTH)
        CHECK(!doc);
    if (fault == DX_FAULT_NONE)
        return doc;
    yyjson_doc_free(doc);
    return NULL;
}

/* The characters of a string, as yyjson reads them. */
static void check_string(dx_text quoted) {
    char *room = malloc(quoted.len);
    CHECK(room != NULL);
    dx_text text;
    dx_status status = dx_rpc_string(quoted, room, &text);
    yyjson_doc *doc = yyjson_read(quoted.at, quoted.len, 0);
    yyjson_val *string = yyjson_doc_get_root(doc);
    CHECK((status == DX_OK) == (string != NULL));
    if (string)
        CHECK(yyjson_equals_strn(string, text.at, text.len));
    yyjson_doc_free(doc);
    free(room);
}

/* A part is a JSON text of its own, the same that yyjson and dx_rpc_member() find under that name
 * in `text`, the envelope. */
static void check_member(dx_text text, dx_slice slice, yyjson_val *object, const char *name) {
    yyjson_val *value = yyjson_obj_get(object, name);
    dx_text member = dx_rpc_member(text, dx_str(name));
    CHECK((slice.len != 0) == (value != NULL) && (slice.len != 0) == (member.at != NULL));
    if (!slice.len)
        return;
    dx_text found = part(text, slice);
    CHECK((size_t)slice.at + slice.len <= text.len);
    CHECK(dx_json_check(found, DX_DEPTH_MAX, NULL) == DX_FAULT_NONE);
    yyjson_doc *doc = yyjson_read(found.at, found.len, 0);
    CHECK(doc && yyjson_equals(yyjson_doc_get_root(doc), value));
    yyjson_doc_free(doc);
    if (found.at[0] == '"')
        check_string(found);
    CHECK(member.len == found.len && memcmp(member.at, found.at, found.len) == 0);
}

static void check_kind(const dx_message *message, dx_text text) {
    int has_method = message->method.len != 0;
    int has_id = message->id.len != 0;
    if (message->fault != DX_FAULT_NONE)
        return;
    switch (message->kind) {
    case DX_KIND_REQUEST:
        CHECK(has_method && has_id && !message->result.len && !message->error.len);
        CHECK(text.at[message->id.at] != 'n' && text.at[message->method.at] == '"');
        break;
    case DX_KIND_NOTIFICATION:
        CHECK(has_method && !has_id && !message->result.len && !message->error.len);
        break;
    case DX_KIND_RESPONSE:
        CHECK(!has_method && has_id && !message->result.len != !message->error.len);
        break;
    case DX_KIND_BATCH:
        CHECK(text.at[message->body.at] == '[');
        break;
    case DX_KIND_NONE:
        CHECK(!"a message that is none, without a fault");
    }
}

static void check_envelope(dx_text text, const dx_message *message, yyjson_val *object) {
    check_kind(message, text);
    if (message->fault == DX_FAULT_MEMBER_REPEATED || !yyjson_is_obj(object))
        return;
    dx_text body = part(text, message->body);
    dx_message inner = *message;
    /* Relative to the object, as dx_rpc_member() sees it. */
    dx_slice *slices[] = {&inner.id, &inner.method, &inner.params, &inner.result, &inner.error};
    static const char *const names[] = {"id", "method", "params", "result", "error"};
    for (int i = 0; i < 5; i++) {
        if (slices[i]->len)
            slices[i]->at -= message->body.at;
        check_member(body, *slices[i], object, names[i]);
    }
}

static void check_batch(dx_text text, const dx_message *batch, unsigned depth, unsigned lenient,
                        yyjson_val *array) {
    dx_message message;
    uint32_t cursor = 0;
    uint32_t before = 0;
    size_t count = 0;
    while (dx_rpc_element(text, batch, depth, lenient, &cursor, &message) == DX_OK) {
        CHECK(cursor > before && cursor < text.len);
        CHECK(message.kind != DX_KIND_BATCH && message.body.len);
        before = cursor;
        if (array && count < 1000) /* getting the nth is slow */
            check_envelope(text, &message, yyjson_arr_get(array, count));
        count++;
    }
    if (array)
        CHECK(count == yyjson_arr_size(array));
}

/* In steps, the scan finds the same. */
static void check_steps(dx_text text, unsigned depth, unsigned lenient, const dx_message *whole,
                        size_t step) {
    dx__rpc_scan scan;
    dx__rpc_scan_begin(&scan);
    while (!dx__rpc_scan_go(&scan, text, depth, lenient, step))
        ;
    CHECK(scan.message.kind == whole->kind && scan.message.fault == whole->fault);
    CHECK(scan.message.fault_at == whole->fault_at && scan.message.body.at == whole->body.at);
    CHECK(scan.message.id.at == whole->id.at && scan.message.id.len == whole->id.len);
    CHECK(scan.message.method.at == whole->method.at && scan.message.params.at == whole->params.at);
    CHECK(scan.message.params.len == whole->params.len && scan.message.escaped == whole->escaped);
    CHECK(scan.message.result.at == whole->result.at && scan.message.error.at == whole->error.at);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1)
        return 0;
    unsigned lenient = data[0] & 1 ? DX_LENIENT_NO_VERSION : 0;
    unsigned depth = data[0] & 2 ? 1 + data[0] / 8 : 1000;
    /* A copy of exactly that size, so that a byte too far is seen. */
    char *copy = malloc(size > 1 ? size - 1 : 1);
    CHECK(copy != NULL);
    memcpy(copy, data + 1, size - 1);
    dx_text text = {copy, size - 1};
    dx_message message;
    dx_rpc_scan(text, depth, lenient, &message);
    check_steps(text, depth, lenient, &message, 1 + data[0] / 16);
    yyjson_doc *doc = check_text(text, depth);
    dx_fault fault = dx_json_check(text, depth, NULL);
    if (fault != DX_FAULT_NONE) {
        CHECK(message.fault == fault && message.kind == DX_KIND_NONE);
    } else {
        CHECK(message.fault < DX_FAULT_JSON_EMPTY || message.fault > DX_FAULT_JSON_VALUE);
        yyjson_val *root = yyjson_doc_get_root(doc);
        if (message.kind == DX_KIND_BATCH)
            check_batch(text, &message, depth, lenient, root);
        else if (root)
            check_envelope(text, &message, root);
    }
    yyjson_doc_free(doc);
    free(copy);
    return 0;
}
