#include "cli/mock/trace.h"

#include "cli/input.h"
#include "cli/mock/script.h"
#include "cli/say.h"
#include "cli/traces.h"

#include <stdlib.h>
#include <string.h>

/* How much of a trace is held; up to what length the params of it are kept as a tree. */
enum { RECORDS_MAX = 1000000, BYTES_MAX = 256 << 20, KEPT_MAX = 4096 };

struct reading {
    mock_trace *trace;
    dx_side side;
    const char *peer; /* NULL: not known yet */
    char *found;      /* the first one */
    uint64_t run;
    size_t records;
    size_t bytes;
};

static bool grow(void **at, size_t count, size_t *room, size_t size) {
    if (count < *room)
        return true;
    size_t more = *room ? 2 * *room : 16;
    void *grown = realloc(*at, more * size);
    if (!grown)
        return false;
    *at = grown;
    *room = more;
    return true;
}

static mock_entry *add_entry(mock_trace *trace, mock_message *message, uint64_t time_us) {
    void *at = trace->entries;
    if (!grow(&at, trace->count, &trace->room, sizeof *trace->entries))
        return NULL;
    trace->entries = at;
    trace->entries[trace->count] = (mock_entry){.message = message, .time_us = time_us};
    return &trace->entries[trace->count++];
}

static bool add_line(mock_entry *entry, const dx_trace_record *record, const dx_message *parts,
                     bool is_answer) {
    void *at = entry->lines;
    char *text = malloc(record->text.len + 1);
    if (!text || !grow(&at, entry->count, &entry->room, sizeof *entry->lines)) {
        free(text);
        return false;
    }
    entry->lines = at;
    if (record->text.len)
        memcpy(text, record->text.at, record->text.len);
    text[record->text.len] = '\0';
    uint64_t after = record->time_us > entry->time_us ? record->time_us - entry->time_us : 0;
    entry->lines[entry->count++] = (mock_line){.kind = record->kind,
                                               .is_answer = is_answer,
                                               .after_us = after,
                                               .text = text,
                                               .len = record->text.len,
                                               .parts = *parts};
    return true;
}

static bool is_id(const mock_message *message, dx_text id) {
    return message && message->id.len == id.len && memcmp(message->id.at, id.at, id.len) == 0;
}

/* What an answer of ours answers: the last request with that id. */
static mock_entry *entry_of(const mock_trace *trace, dx_text id) {
    for (size_t i = trace->count; i; i--) {
        mock_entry *entry = &trace->entries[i - 1];
        if (entry->message && entry->message->kind == MOCK_REQUEST && is_id(entry->message, id))
            return entry;
    }
    return NULL;
}

static bool take_ours(struct reading *reading, const dx_trace_record *record) {
    mock_trace *trace = reading->trace;
    dx_message parts = {0};
    mock_entry *entry = trace->count ? &trace->entries[trace->count - 1] : NULL;
    if (record->kind == DX_TRACE_MESSAGE)
        dx_rpc_scan(record->text, DX_DEPTH_MAX, DX_LENIENT_NO_VERSION | DX_LENIENT_ID_ANY, &parts);
    bool is_answer = parts.kind == DX_KIND_RESPONSE && parts.id.len;
    mock_entry *asked = NULL;
    if (is_answer)
        asked = entry_of(trace, (dx_text){record->text.at + parts.id.at, parts.id.len});
    if (asked)
        entry = asked;
    else if (!entry)
        entry = add_entry(trace, NULL, record->time_us);
    return entry && add_line(entry, record, &parts, asked);
}

static bool take_theirs(struct reading *reading, const dx_trace_record *record) {
    dx_message parts;
    if (record->kind != DX_TRACE_MESSAGE)
        return true;
    dx_rpc_scan(record->text, DX_DEPTH_MAX, DX_LENIENT_NO_VERSION | DX_LENIENT_ID_ANY, &parts);
    if (parts.fault || parts.kind == DX_KIND_NONE || parts.kind == DX_KIND_BATCH)
        return true;
    mock_message *message = mock_message_new(NULL, record->text, &parts, NULL);
    if (message && add_entry(reading->trace, message, record->time_us))
        return true;
    mock_message_unref(message);
    return false;
}

/* Is it of the conversation that was asked for? The first one, if none was. */
static bool is_wanted(struct reading *reading, const dx_trace_record *record) {
    if (record->kind > DX_TRACE_STDERR)
        return false;
    const char *peer = reading->peer ? reading->peer : reading->found;
    if (!peer) {
        reading->found = cli_text_copy(record->peer);
        peer = reading->found;
    }
    if (!peer || !(record->peer.len == strlen(peer) &&
                   memcmp(record->peer.at ? record->peer.at : "", peer, record->peer.len) == 0))
        return false;
    if (!reading->run)
        reading->run = record->run;
    return record->run == reading->run;
}

static int take_record(struct reading *reading, const dx_trace_record *record) {
    if (!is_wanted(reading, record))
        return CLI_OK;
    reading->bytes += record->text.len;
    if (++reading->records > RECORDS_MAX || reading->bytes > BYTES_MAX)
        return cli_fail(CLI_USAGE, "the trace has more than %d records or %d MiB", RECORDS_MAX,
                        BYTES_MAX >> 20);
    bool ours = (int)record->from == (int)reading->side;
    if (!(ours ? take_ours(reading, record) : take_theirs(reading, record)))
        return cli_fail(CLI_NO_START, "no memory");
    return CLI_OK;
}

int mock_trace_read(const char *file, const char *peer, dx_side side, mock_trace **ret_trace) {
    struct reading reading = {.side = side, .peer = peer};
    cli_trace *trace;
    dx_trace_record record;
    dx_error error;
    cli_got got = CLI_GOT_END;
    int code = cli_trace_open(file, &trace);
    if (code != CLI_OK)
        return code;
    reading.trace = calloc(1, sizeof *reading.trace);
    if (!reading.trace) {
        cli_trace_close(trace);
        return cli_fail(CLI_NO_START, "no memory");
    }
    while (code == CLI_OK && (got = cli_trace_next(trace, &record, &error)) < CLI_GOT_END)
        if (got == CLI_GOT_WRONG)
            code = cli_fail(CLI_USAGE, "%s: %s", cli_trace_name(trace), error.phrase);
        else
            code = take_record(&reading, &record);
    if (code == CLI_OK && got == CLI_GOT_FAILED)
        code = cli_trace_code(trace);
    if (code == CLI_OK && !reading.records)
        code = cli_fail(CLI_USAGE, peer ? "%s has nothing of '%s'" : "%s has no messages%s",
                        cli_trace_name(trace), peer ? peer : "");
    cli_trace_close(trace);
    free(reading.found);
    if (code == CLI_OK)
        *ret_trace = reading.trace;
    else
        mock_trace_free(reading.trace);
    return code;
}

mock_trace *mock_trace_free(mock_trace *trace) {
    if (!trace)
        return NULL;
    for (size_t i = 0; i < trace->count; i++) {
        mock_entry *entry = &trace->entries[i];
        for (size_t j = 0; j < entry->count; j++)
            free(entry->lines[j].text);
        free(entry->lines);
        mock_message_unref(entry->message);
    }
    free(trace->entries);
    free(trace);
    return NULL;
}

bool mock_trace_waits(const mock_trace *trace) {
    for (size_t i = 0; i < trace->count; i++)
        if (!trace->entries[i].used && trace->entries[i].count)
            return true;
    return false;
}

/* Finding. */

static bool is_kind(const mock_entry *entry, const mock_message *message) {
    const mock_message *known = entry->message;
    if (!known)
        return false;
    if (message->kind >= MOCK_RESULT)
        return known->kind >= MOCK_RESULT && is_id(known, message->id);
    return known->kind == message->kind && known->method_len == message->method_len &&
           memcmp(known->method, message->method, message->method_len) == 0;
}

static bool is_same(mock_message *known, mock_message *message) {
    if (!known->body.at || !message->body.at)
        return !known->body.at && !message->body.at;
    yyjson_val *one = mock_message_body(known);
    yyjson_val *two = mock_message_body(message);
    bool same = one && two && mock_matches(NULL, one, two);
    if (known->body.len > KEPT_MAX) { /* the text is there to read it again */
        yyjson_doc_free(known->doc);
        known->doc = NULL;
        known->tried = false;
    }
    return same;
}

/* The best is one that was not used and is the same; the last resort is one that was used. */
mock_entry *mock_trace_find(mock_trace *trace, mock_message *message) {
    mock_entry *best[4] = {NULL, NULL, NULL, NULL};
    for (size_t i = 0; i < trace->count; i++) {
        mock_entry *entry = &trace->entries[i];
        if (!is_kind(entry, message))
            continue;
        bool same = message->kind >= MOCK_RESULT || is_same(entry->message, message);
        unsigned rank = same ? (entry->used ? 1 : 0) : entry->used ? 3 : 2;
        if (!best[rank] || entry->used)
            best[rank] = entry; /* the first that is left, or the last that was used */
        if (!rank)
            break;
    }
    for (unsigned rank = 0; rank < 4; rank++)
        if (best[rank]) {
            best[rank]->used = true;
            return best[rank];
        }
    return NULL;
}
