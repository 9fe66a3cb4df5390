#include "cli/mock/trace.h"

#include "cli/input.h"
#include "cli/mock/script.h"
#include "cli/say.h"
#include "cli/traces.h"

#include <stdlib.h>
#include <string.h>

/* How much of a trace is held; how many remarks on it are told. */
enum { RECORDS_MAX = 1000000, BYTES_MAX = 256 << 20, NOTES_MAX = 20 };

struct reading {
    mock_trace *trace;
    dx_side side;
    const char *peer; /* NULL: not known yet */
    char *found;      /* the first one */
    uint64_t run;
    size_t records;
    size_t bytes;
    bool is_trace; /* a line was one */
    bool has_holes;
    unsigned notes;
};

static bool grow(void **at, size_t count, size_t *room, size_t size) {
    if (count < *room)
        return true;
    size_t more = *room ? 2 * *room : 1; /* most entries have one line */
    void *grown = realloc(*at, more * size);
    if (!grown)
        return false;
    *at = grown;
    *room = more;
    return true;
}

/* The message is its own from now on, whatever becomes of it. */
static mock_entry *add_entry(mock_trace *trace, mock_message *message, uint64_t time_us) {
    void *at = trace->entries;
    mock_entry *entry = calloc(1, sizeof *entry);
    if (!entry || !grow(&at, trace->count, &trace->room, sizeof(mock_entry *))) {
        mock_message_unref(message);
        free(entry);
        return NULL;
    }
    trace->entries = at;
    *entry = (mock_entry){.message = message, .time_us = time_us, .number = trace->count};
    trace->entries[trace->count++] = entry;
    return !message || mock_groups_add(&trace->groups, entry) ? entry : NULL;
}

static bool add_line(const mock_trace *trace, mock_entry *entry, const dx_trace_record *record,
                     const dx_message *parts, bool is_answer) {
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
                                               .behind = trace->count,
                                               .text = text,
                                               .len = record->text.len,
                                               .parts = *parts};
    return true;
}

/* What an answer of ours answers: the last request with that id. */
static mock_entry *entry_of(const mock_trace *trace, dx_text id) {
    struct mock_group *group = mock_groups_find_id(&trace->groups, false, id);
    return group ? mock_group_last(group) : NULL;
}

static void scan(dx_text text, dx_message *ret_parts) {
    dx_rpc_scan(text, DX_DEPTH_MAX, DX_LENIENT_NO_VERSION | DX_LENIENT_ID_ANY, ret_parts);
}

static bool take_line(struct reading *reading, const dx_trace_record *record,
                      const dx_message *parts) {
    mock_trace *trace = reading->trace;
    mock_entry *entry = trace->count ? trace->entries[trace->count - 1] : NULL;
    dx_text id = {record->text.at + parts->id.at, parts->id.len};
    /* Nobody knows what one with null answers, even if somebody asked with that. */
    bool is_answer = parts->kind == DX_KIND_RESPONSE && id.len && !dx_text_is(id, "null");
    mock_entry *asked = is_answer ? entry_of(trace, id) : NULL;
    if (is_answer && !asked && reading->has_holes)
        return true; /* what it answers was not recorded: who has that id now asked something else
                      */
    if (asked)
        entry = asked;
    else if (!entry)
        entry = add_entry(trace, NULL, record->time_us);
    return entry && add_line(trace, entry, record, parts, asked);
}

/* Each for itself, if there are answers in it: the requests may come in another batch, or alone. */
static bool take_our_batch(struct reading *reading, const dx_trace_record *record,
                           const dx_message *parts) {
    dx_message element;
    uint32_t cursor = 0;
    bool good = true;
    bool answers = false;
    while (dx_rpc_element(record->text, parts, DX_DEPTH_MAX, 0, &cursor, &element) == DX_OK)
        answers |= element.kind == DX_KIND_RESPONSE;
    if (!answers)
        return take_line(reading, record, parts);
    cursor = 0;
    while (good &&
           dx_rpc_element(record->text, parts, DX_DEPTH_MAX, 0, &cursor, &element) == DX_OK) {
        dx_trace_record one = *record;
        one.text = (dx_text){record->text.at + element.body.at, element.body.len};
        scan(one.text, &element);
        good = take_line(reading, &one, &element);
    }
    return good;
}

static bool take_ours(struct reading *reading, const dx_trace_record *record) {
    dx_message parts = {0};
    if (record->kind == DX_TRACE_MESSAGE)
        scan(record->text, &parts);
    return parts.kind == DX_KIND_BATCH && !parts.fault ? take_our_batch(reading, record, &parts)
                                                       : take_line(reading, record, &parts);
}

static bool take_their(struct reading *reading, const dx_trace_record *record,
                       const dx_message *parts) {
    if (parts->fault || parts->kind == DX_KIND_NONE || parts->kind == DX_KIND_BATCH)
        return true;
    mock_message *message = mock_message_new(NULL, record->text, parts, NULL);
    return message && add_entry(reading->trace, message, record->time_us);
}

static bool take_theirs(struct reading *reading, const dx_trace_record *record) {
    dx_message parts;
    dx_message element;
    uint32_t cursor = 0;
    bool good = true;
    if (record->kind != DX_TRACE_MESSAGE)
        return true;
    scan(record->text, &parts);
    if (parts.kind != DX_KIND_BATCH || parts.fault)
        return take_their(reading, record, &parts);
    while (good &&
           dx_rpc_element(record->text, &parts, DX_DEPTH_MAX,
                          DX_LENIENT_NO_VERSION | DX_LENIENT_ID_ANY, &cursor, &element) == DX_OK)
        good = take_their(reading, record, &element);
    return good;
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

/* Something is wrong with the trace, but the rest of it may do. */
static void remark(struct reading *reading, const char *file, const char *what) {
    reading->has_holes = true;
    if (reading->notes++ < NOTES_MAX)
        cli_note("%s: %s", file, what);
    else if (reading->notes == NOTES_MAX + 1)
        cli_note("the trace has more errors; 'duplex lint' reports them all");
}

static int take_record(struct reading *reading, const char *file, const dx_trace_record *record) {
    char what[100];
    reading->is_trace = true;
    if (record->kind == DX_TRACE_DROPPED) {
        snprintf(what, sizeof what, "line %llu: %llu records are missing here",
                 (unsigned long long)record->line, (unsigned long long)record->count);
        remark(reading, file, what);
    }
    if (record->kind == DX_TRACE_HEADER && record->count > 1 && !reading->records)
        reading->has_holes = true; /* what stood in the parts before it */
    if (!is_wanted(reading, record))
        return CLI_OK;
    if (!reading->trace->framing)
        reading->trace->framing = cli_trace_framing(record);
    reading->bytes += record->text.len;
    if (++reading->records > RECORDS_MAX || reading->bytes > BYTES_MAX)
        return cli_fail(CLI_USAGE, "the trace has more than %d records or %d MiB", RECORDS_MAX,
                        BYTES_MAX >> 20);
    bool ours = (int)record->from == (int)reading->side;
    if (!(ours ? take_ours(reading, record) : take_theirs(reading, record)))
        return cli_fail(CLI_NO_START, "out of memory");
    return CLI_OK;
}

int mock_trace_read(const char *file, const char *peer, dx_side side, mock_trace **ret_trace) {
    struct reading reading = {.side = side, .peer = peer};
    cli_trace *trace;
    dx_trace_record record;
    dx_error error;
    cli_got got = CLI_GOT_END;
    int code = cli_trace_open(file, NULL, &trace);
    if (code != CLI_OK)
        return code;
    reading.trace = calloc(1, sizeof *reading.trace);
    if (!reading.trace) {
        cli_trace_close(trace);
        return cli_fail(CLI_NO_START, "out of memory");
    }
    while (code == CLI_OK && (got = cli_trace_next(trace, &record, &error)) < CLI_GOT_END)
        if (got == CLI_GOT_RECORD)
            code = take_record(&reading, cli_trace_name(trace), &record);
        else if (reading.is_trace)
            remark(&reading, cli_trace_name(trace), error.phrase);
        else
            code = cli_fail(CLI_USAGE, "%s: %s", cli_trace_name(trace), error.phrase);
    if (code == CLI_OK && got == CLI_GOT_FAILED)
        code = cli_trace_code(trace);
    if (code == CLI_OK && !reading.records)
        code = cli_fail(CLI_USAGE, peer ? "%s has no messages of '%s'" : "%s has no messages%s",
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
    mock_groups_done(&trace->groups);
    for (size_t i = 0; i < trace->count; i++) {
        mock_entry *entry = trace->entries[i];
        for (size_t j = 0; j < entry->count; j++)
            free(entry->lines[j].text);
        free(entry->lines);
        mock_message_unref(entry->message);
        free(entry);
    }
    free(trace->entries);
    free(trace);
    return NULL;
}

mock_entry *mock_trace_waits(mock_trace *trace) {
    while (trace->at < trace->count &&
           (trace->entries[trace->at]->used || !trace->entries[trace->at]->count))
        trace->at++;
    return trace->at < trace->count ? trace->entries[trace->at] : NULL;
}

bool mock_trace_needs(const mock_trace *trace, const mock_entry *entry, const mock_line *line,
                      dx_text id) {
    const struct mock_group *group = mock_groups_find_id(&trace->groups, true, id);
    const mock_entry *answer = group ? mock_group_first(group) : NULL;
    while (answer && answer->number <= entry->number)
        answer = answer->next[MOCK_BY_ID];
    return answer && answer->number < line->behind;
}

/* One that is the same, or else one with that method; of those the first that was not used. */
mock_entry *mock_trace_find(const mock_trace *trace, mock_message *message) {
    bool is_answer = message->kind >= MOCK_RESULT;
    struct mock_group *group =
        mock_groups_find(&trace->groups, is_answer ? MOCK_BY_ID : MOCK_BY_PARAMS, message);
    if (!group && !is_answer)
        group = mock_groups_find(&trace->groups, MOCK_BY_METHOD, message);
    if (!group)
        return NULL;
    mock_entry *entry = mock_group_left(group);
    entry->used = true;
    return entry;
}
