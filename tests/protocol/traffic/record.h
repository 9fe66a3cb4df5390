/* record.h: what was recorded is read back and held against the document once more, without the
 * peers. */
#ifndef TRAFFIC_RECORD_H
#define TRAFFIC_RECORD_H

#include "protocol/traffic/book.h"

#include <duplex/trace.h>

enum { ASKED_MAX = 64, DEPTH = 100 };

struct asked {
    const dx_method *method;
    dx_side from;
    char id[64];
    bool answered; /* or cancelled, where that wants no answer */
};

struct reading {
    struct book *book;
    bool *was_sent; /* by message and side */
    bool *was_answered;
    uint64_t run;
    unsigned state;
    struct asked asked[ASKED_MAX];
    size_t asked_count;
    size_t messages;
};

/* One message of the recording. */
struct entry {
    const dx_trace_record *record;
    dx_side from;
    dx_message message;
};

static inline void entry_failed(const struct reading *reading, const struct entry *entry,
                                const char *what) {
    failed("%s: recording, line %llu: %s: %.*s", reading->book->name,
           (unsigned long long)entry->record->line, what, (int)entry->record->text.len,
           entry->record->text.at);
}

static inline dx_text entry_part(const struct entry *entry, dx_slice slice) {
    return slice.len ? (dx_text){entry->record->text.at + slice.at, slice.len} : (dx_text){NULL, 0};
}

static inline size_t row_of(const dx_method *method, dx_side from) {
    return method->index * DX__SIDES + dx__column(from);
}

/* How many bytes a message of that length takes with its framing. */
static inline size_t framed_size(const struct book *book, size_t len) {
    const char *type = book->facts->content_type;
    if (book->facts->framing == DX_FRAMING_LINE)
        return len + 1;
    return (size_t)snprintf(NULL, 0, "Content-Length: %zu\r\n\r\n", len) + len +
           (type ? strlen("Content-Type: \r\n") + strlen(type) : 0);
}

/* What we send must fit exactly, so nothing is forgiven here. */
static inline void entry_check(const struct reading *reading, const struct entry *entry,
                               const dx_method *method, dx_side from, dx_part part, dx_text text) {
    yyjson_doc *doc = text.at ? yyjson_read(text.at, text.len, 0) : NULL;
    dx_misfit why = {.phrase = ""};
    if (text.at && !doc)
        entry_failed(reading, entry, "a part that is no JSON");
    else if (dx_protocol_check(reading->book->protocol, method, from, part,
                               yyjson_doc_get_root(doc), 0, &why) != DX_OK)
        entry_failed(reading, entry, why.phrase);
    yyjson_doc_free(doc);
}

static inline void note_asked(struct reading *reading, const struct entry *entry,
                              const dx_method *method) {
    dx_text id = entry_part(entry, entry->message.id);
    for (size_t i = 0; i < reading->asked_count; i++)
        if (reading->asked[i].from == entry->from && dx_text_is(id, reading->asked[i].id))
            entry_failed(reading, entry, "an id for the second time");
    if (id.len >= sizeof reading->asked[0].id || reading->asked_count == ASKED_MAX) {
        entry_failed(reading, entry, "too much for this test");
        return;
    }
    struct asked *asked = &reading->asked[reading->asked_count++];
    *asked = (struct asked){.method = method, .from = entry->from};
    memcpy(asked->id, id.at, id.len);
}

/* A request that is cancelled may need no answer. */
static inline void note_cancelled(struct reading *reading, const struct entry *entry) {
    const dx_protocol_facts *facts = reading->book->facts;
    dx_text params = entry_part(entry, entry->message.params);
    dx_text id = dx_rpc_member(params, dx_str(facts->cancel_id));
    for (size_t i = 0; i < reading->asked_count; i++)
        if (reading->asked[i].from == entry->from && dx_text_is(id, reading->asked[i].id))
            reading->asked[i].answered |= !facts->cancel_answered;
}

static inline void read_message(struct reading *reading, const struct entry *entry) {
    char room[256];
    dx_text name = {"", 0};
    dx_text quoted = entry_part(entry, entry->message.method);
    if (quoted.len <= sizeof room)
        (void)dx_rpc_string(quoted, room, &name);
    const dx_protocol *protocol = reading->book->protocol;
    const dx_method *method = dx_protocol_find(protocol, name);
    bool is_request = entry->message.kind == DX_KIND_REQUEST;
    if (!method || !is_from(method, entry->from) || is_request == (method->notification != 0)) {
        entry_failed(reading, entry, "no such message from that side");
        return;
    }
    if (dx_protocol_may_send(protocol, reading->state, method, entry->from, NULL, NULL) ==
        DX_LEAVE_NO)
        entry_failed(reading, entry, "the state does not allow it");
    reading->state = dx_protocol_after(protocol, reading->state, method, entry->from, DX_MOVE_SENT);
    entry_check(reading, entry, method, entry->from, DX_PART_PARAMS,
                entry_part(entry, entry->message.params));
    reading->was_sent[row_of(method, entry->from)] = true;
    if (is_request)
        note_asked(reading, entry, method);
    else if (is_same(method->name, reading->book->facts->cancel_method))
        note_cancelled(reading, entry);
}

static inline void check_error_object(const struct reading *reading, const struct entry *entry) {
    dx_text text = entry_part(entry, entry->message.error);
    yyjson_doc *doc = yyjson_read(text.at, text.len, 0);
    yyjson_val *error = yyjson_doc_get_root(doc);
    if (!yyjson_is_int(yyjson_obj_get(error, "code")) ||
        !yyjson_is_str(yyjson_obj_get(error, "message")))
        entry_failed(reading, entry, "no error object");
    yyjson_doc_free(doc);
}

static inline void read_answer(struct reading *reading, const struct entry *entry) {
    dx_text id = entry_part(entry, entry->message.id);
    struct asked *asked = NULL;
    for (size_t i = 0; i < reading->asked_count && !asked; i++)
        if (reading->asked[i].from != entry->from && !reading->asked[i].answered &&
            dx_text_is(id, reading->asked[i].id))
            asked = &reading->asked[i];
    if (!asked) {
        entry_failed(reading, entry, "an answer to nothing");
        return;
    }
    asked->answered = true;
    bool is_result = entry->message.result.len != 0;
    if (is_result) {
        entry_check(reading, entry, asked->method, asked->from, DX_PART_RESULT,
                    entry_part(entry, entry->message.result));
        reading->was_answered[row_of(asked->method, asked->from)] = true;
    } else {
        check_error_object(reading, entry);
    }
    reading->state = dx_protocol_after(reading->book->protocol, reading->state, asked->method,
                                       asked->from, is_result ? DX_MOVE_RESULT : DX_MOVE_ERROR);
}

static inline void end_run(struct reading *reading) {
    size_t open = 0;
    for (size_t i = 0; i < reading->asked_count; i++)
        open += !reading->asked[i].answered;
    if (open)
        failed("%s: recording: %zu requests of conversation %llu have no answer",
               reading->book->name, open, (unsigned long long)reading->run);
    reading->asked_count = 0;
    reading->state = 0;
}

static inline void read_record(struct reading *reading, const dx_trace_record *record) {
    struct entry entry = {.record = record, .from = (dx_side)record->from};
    if (record->kind == DX_TRACE_HEADER)
        return;
    if (record->run != reading->run)
        end_run(reading);
    reading->run = record->run;
    reading->messages++;
    if (record->kind != DX_TRACE_MESSAGE || !dx_text_is(record->peer, reading->book->name) ||
        record->bytes != framed_size(reading->book, record->text.len)) {
        entry_failed(reading, &entry, "not what was written");
        return;
    }
    dx_rpc_scan(record->text, DEPTH, reading->book->facts->lenient, &entry.message);
    if (entry.message.fault != DX_FAULT_NONE || entry.message.kind == DX_KIND_BATCH)
        entry_failed(reading, &entry, dx_fault_name(entry.message.fault));
    else if (entry.message.kind == DX_KIND_RESPONSE)
        read_answer(reading, &entry);
    else
        read_message(reading, &entry);
}

static inline void read_all(struct reading *reading, dx_text bytes) {
    dx_trace_reader_config config = dx_trace_reader_defaults();
    dx_trace_reader *reader;
    must(dx_trace_reader_new(&config, &reader) == DX_OK);
    dx_status status = DX_AGAIN;
    for (size_t at = 0, used = 0; status != DX_CLOSED; at += used) {
        used = 0;
        if (at < bytes.len)
            dx_trace_feed(reader, bytes.at + at, bytes.len - at, &used);
        else
            dx_trace_finish(reader);
        dx_trace_record record;
        dx_error error;
        while ((status = dx_trace_next(reader, &record, &error)) != DX_AGAIN && status != DX_CLOSED)
            if (status == DX_OK)
                read_record(reading, &record);
            else
                failed("%s: recording: %s", reading->book->name, error.phrase);
    }
    end_run(reading);
    dx_trace_reader_free(reader);
}

/* Every message has crossed in every direction in which it may, and every request was answered. */
static inline void check_all_sent(const struct reading *reading) {
    const dx_method *method;
    for (size_t i = 0; (method = dx_protocol_method(reading->book->protocol, i)); i++)
        for (dx_side from = DX_SIDE_HOST; from <= DX_SIDE_PLUGIN; from++) {
            if (!is_from(method, from))
                continue;
            if (!reading->was_sent[row_of(method, from)])
                failed("%s: %s was not sent by the %s", reading->book->name, method->name,
                       side_name(from));
            else if (!method->notification && !reading->was_answered[row_of(method, from)])
                failed("%s: %s of the %s was not answered", reading->book->name, method->name,
                       side_name(from));
        }
}

static inline void check_recording(struct book *book, const dx_trace_writer *writer) {
    struct reading reading = {.book = book};
    size_t rows = book->methods * DX__SIDES + 1;
    reading.was_sent = calloc(rows, sizeof *reading.was_sent);
    reading.was_answered = calloc(rows, sizeof *reading.was_answered);
    must(reading.was_sent && reading.was_answered);
    read_all(&reading, dx_trace_output(writer));
    if (dx_trace_dropped(writer) || reading.messages != book->sent)
        failed("%s: %zu messages were sent, %zu recorded", book->name, book->sent,
               reading.messages);
    check_all_sent(&reading);
    free(reading.was_sent);
    free(reading.was_answered);
}

#endif
