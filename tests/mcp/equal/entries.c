/* A part of a message, what both sides say of it, and values of it to start from. */
#include "mcp/equal/entries.h"
#include "protocol/files.h"
#include "protocol/sample.h"

#include <stdlib.h>
#include <string.h>

static const char *const members[] = {"params", "result", "data"};
/* Where the data of an error is described. */
static const char data_place[] = "/properties/error/allOf/1/properties/data";

const char *entry_member(const struct entry *entry) {
    return members[entry->kind];
}

const char *entry_label(const struct entry *entry) {
    return entry->kind == KIND_DATA ? entry->message->def : entry->message->method;
}

static void compile_published(const struct published *published, struct entry *entry) {
    const struct message *message = entry->message;
    entry->own_count = entry->kind == KIND_RESULT ? message->result_count : 1;
    for (size_t set = 0; set < published->sets; set++)
        for (int form = 0; form < FORMS; form++) {
            for (size_t i = 0; i < entry->own_count; i++)
                entry->own[set][form][i] = published_schema(
                    published, set, form,
                    entry->kind == KIND_RESULT ? message->results[i] : message->def,
                    entry->kind == KIND_DATA ? data_place : "");
            if (entry->kind != KIND_DATA)
                entry->envelope[set][form] = published_schema(
                    published, set, form,
                    published_envelope(published, message, entry->kind == KIND_RESULT), "");
        }
}

static char *place_of_ours(const struct entry *entry) {
    if (entry->kind == KIND_DATA)
        return print("/components/schemas/%s", entry->message->data);
    return print("/methods/%zu%s", entry->method->index,
                 entry->kind == KIND_PARAMS ? "/x-duplex/params" : "/result/schema");
}

static void make_instances(yyjson_val *root, yyjson_val *const *schemas, size_t count,
                           struct texts *instances) {
    dx_buf buf;
    dx_buf_init(&buf, 1 << 20, NULL);
    if (!schemas[0] || dx__sample_write(root, schemas[0], 1, &buf) != DX_OK)
        abort();
    texts_add_new(instances, print("%.*s", (int)buf.len, buf.data));
    dx_buf_done(&buf);
    instances_make(root, schemas, count, instances);
}

/* The definition and the envelope describe the same part; a request without params of its own has
 * those of the envelope. */
static void make_published(const struct published *published, struct entry *entry) {
    const struct message *message = entry->message;
    char place[32];
    yyjson_val *schemas[2] = {NULL, NULL};
    yyjson_val *def = published_def(published, message->def);
    if (entry->kind == KIND_DATA) {
        schemas[0] = yyjson_ptr_get(def, data_place);
        make_instances(published->root, schemas, 1, &entry->instances);
        return;
    }
    snprintf(place, sizeof place, "/properties/%s", entry_member(entry));
    const char *envelope = published_envelope(published, message, entry->kind == KIND_RESULT);
    yyjson_val *common = yyjson_ptr_get(published_def(published, envelope), place);
    for (size_t i = 0; i < entry->own_count; i++) {
        schemas[0] = entry->kind == KIND_RESULT ? published_def(published, message->results[i])
                                                : yyjson_ptr_get(def, place);
        schemas[1] = common;
        if (!schemas[0])
            schemas[0] = common;
        make_instances(published->root, schemas, 2, &entry->instances);
    }
}

static void make_ours(const struct ours *ours, struct entry *entry, const char *place) {
    yyjson_val *root = dx_protocol_document(ours->protocol);
    yyjson_val *schema = yyjson_ptr_get(root, place);
    make_instances(root, &schema, 1, &entry->instances);
}

bool entry_init(struct entry *entry, const struct message *message, enum kind kind,
                const struct published *published, const struct ours *ours) {
    *entry = (struct entry){.message = message, .kind = kind};
    if (kind != KIND_DATA)
        entry->method = dx_protocol_find(ours->protocol, dx_str(message->method));
    if (kind != KIND_DATA && !entry->method)
        return false;
    compile_published(published, entry);
    make_published(published, entry);
    entry->published_count = entry->instances.count;
    char *place = place_of_ours(entry);
    if (yyjson_ptr_get(dx_protocol_document(ours->protocol), place)) {
        make_ours(ours, entry, place);
        for (int form = 0; form < FORMS; form++)
            entry->ours[form] = ours_schema(ours, form, place);
    }
    free(place);
    if (kind == KIND_PARAMS)
        entry->head = print("{\"jsonrpc\":\"2.0\",%s\"method\":\"%s\"",
                            message->notification ? "" : "\"id\":1,", message->method);
    else
        entry->head = print("{\"jsonrpc\":\"2.0\",\"id\":1");
    return true;
}

void entry_done(struct entry *entry) {
    free(entry->head);
    texts_done(&entry->instances);
}

bool entry_fits_published(const struct entry *entry, const struct published *published, size_t set,
                          int form, yyjson_val *message) {
    yyjson_val *value = yyjson_obj_get(message, entry_member(entry));
    const dx_schema *envelope = entry->envelope[set][form];
    if (envelope && !fits(envelope, message, published->check))
        return false;
    if (entry->kind == KIND_PARAMS)
        return fits(entry->own[set][form][0], message, published->check);
    for (size_t i = 0; i < entry->own_count; i++)
        if (fits(entry->own[set][form][i], value, published->check))
            return true;
    return false;
}

/* As programs ask; a message that both sides send must mean the same from both. */
static bool fits_protocol(const struct entry *entry, const struct ours *ours, yyjson_val *value) {
    static const dx_side sides[] = {DX_SIDE_HOST, DX_SIDE_PLUGIN};
    const bool sends[] = {entry->method->from_host, entry->method->from_plugin};
    dx_part part = entry->kind == KIND_PARAMS ? DX_PART_PARAMS : DX_PART_RESULT;
    dx_status first = DX_AGAIN;
    for (size_t i = 0; i < 2; i++) {
        if (!sends[i])
            continue;
        dx_status status =
            dx_protocol_check(ours->protocol, entry->method, sides[i], part, value, 0, NULL);
        if ((status != DX_OK && status != DX_MISFIT) || (first != DX_AGAIN && status != first))
            failed("%s: the check ends in %s", entry_label(entry), dx_status_name(status));
        first = status;
    }
    return first == DX_OK;
}

bool entry_fits_ours(const struct entry *entry, const struct ours *ours, int form,
                     yyjson_val *message) {
    yyjson_val *value = yyjson_obj_get(message, entry_member(entry));
    bool asks = form == 0 || !value || !entry->ours[form];
    return entry->kind != KIND_DATA && asks ? fits_protocol(entry, ours, value)
                                            : fits(entry->ours[form], value, ours->check);
}
