#include "base/alloc.h"
#include "base/buf.h"
#include "base/line.h"
#include "trace/trace.h"

#include <duplex/rpc.h>

#include <stdbool.h>
#include <string.h>

enum {
    HEADER_MAX = 160,
    WAITING_MIN = 256,
    KEPT = 256 << 10, /* an empty buffer larger than that is given back */
    PEER_MAX = 64,    /* a longer name is not remembered */
};

/* The beginning of a record that is the same for all of one direction: who said it to whom. */
struct about {
    dx_trace_from from; /* 0: nothing is remembered */
    uint64_t run;
    bool has_peer;
    size_t peer_len;
    char peer[PEER_MAX];
    size_t len;
    char text[6 * PEER_MAX + 64];
};

struct dx_trace_writer {
    size_t waiting_max;
    uint64_t start_us;
    uint64_t unix_ms;
    uint64_t part;
    size_t header_len;
    dx__secrets secrets;
    struct about about[2]; /* of each direction, the last one */
    dx_buf out;
    size_t line;       /* where the first line begins that was not sent to its end */
    size_t sent;       /* how far it was sent */
    uint64_t size;     /* sent since the last header began */
    uint64_t lost;     /* dropped and not yet told */
    uint64_t lost_at;  /* when the last of them came */
    uint64_t lost_all; /* dropped, ever */
};

dx_trace_writer_config dx_trace_writer_defaults(void) {
    return (dx_trace_writer_config){.waiting_max = (size_t)4 << 20};
}

/* Puts a header in front of what waits `from` there on, and forgets what was sent. */
static dx_status begin_part(dx_trace_writer *writer, size_t from) {
    char text[HEADER_MAX];
    dx__line line = dx__line_on(text, sizeof text);
    dx__line_str(&line, "{\"" DX__TRACE_HEADER "\":");
    dx__line_num(&line, DX_TRACE_VERSION);
    dx__line_str(&line, ",\"" DX__TRACE_UNIT "\":\"us\",\"" DX__TRACE_PART "\":");
    dx__line_num(&line, writer->part + 1);
    if (writer->unix_ms) {
        dx__line_str(&line, ",\"" DX__TRACE_UNIX "\":");
        dx__line_num(&line, writer->unix_ms);
    }
    dx__line_str(&line, "}\n");
    dx_buf *out = &writer->out;
    size_t waiting = out->len - from;
    if (out->cap < line.len + waiting) {
        dx_status status = dx_buf_reserve(out, line.len + waiting - out->len);
        if (status != DX_OK)
            return status;
    }
    memmove(out->data + line.len, out->data + from, waiting);
    memcpy(out->data, text, line.len);
    out->len = line.len + waiting;
    writer->header_len = line.len;
    writer->line = writer->sent = 0;
    writer->size = 0;
    writer->part++;
    return DX_OK;
}

dx_status dx_trace_writer_new(const dx_trace_writer_config *config, dx_trace_writer **ret_writer) {
    if (config->waiting_max < WAITING_MIN)
        return DX_ERR_INVALID;
    dx_allocator alloc = dx__allocator(config->allocator);
    dx_trace_writer *writer = dx__malloc(&alloc, sizeof *writer);
    if (!writer)
        return DX_ERR_NOMEM;
    *writer = (dx_trace_writer){
        .waiting_max = config->waiting_max < SIZE_MAX / 4 ? config->waiting_max : SIZE_MAX / 4,
        .start_us = config->start_us,
        .unix_ms = config->unix_ms,
    };
    /* Twice the limit, so that what waits need not move for every few bytes that were sent. */
    dx_buf_init(&writer->out, 2 * writer->waiting_max + HEADER_MAX, &alloc);
    dx_status status = dx__secrets_init(&writer->secrets, config->redact, &alloc);
    if (status == DX_OK)
        status = begin_part(writer, 0);
    if (status != DX_OK) {
        dx_trace_writer_free(writer);
        return status;
    }
    *ret_writer = writer;
    return DX_OK;
}

dx_trace_writer *dx_trace_writer_free(dx_trace_writer *writer) {
    if (!writer)
        return NULL;
    dx_allocator alloc = writer->out.alloc;
    dx__secrets_done(&writer->secrets);
    dx_buf_done(&writer->out);
    dx__free(&alloc, writer);
    return NULL;
}

/* A line under way: the first failure sticks. */
struct line {
    dx_buf *buf;
    dx_status status;
};

static void raw(struct line *line, const char *text, size_t len) {
    if (line->status == DX_OK)
        line->status = dx__buf_put(line->buf, text, len);
}

#define RAW(line, literal) raw(line, literal, sizeof(literal) - 1)
#define NAME(line, name) RAW(line, ",\"" name "\":")

static void number(struct line *line, uint64_t number) {
    char digits[20];
    raw(line, digits, dx__digits(number, digits));
}

/* A name is told as well as it can be: nothing fails because of it. */
static void name(struct line *line, dx_text text) {
    if (line->status == DX_OK)
        line->status = dx_json_write_string(line->buf, text);
    if (line->status != DX_ERR_INVALID)
        return;
    line->status = DX_OK;
    RAW(line, "\"");
    for (size_t i = 0; i < text.len; i++) {
        char c = text.at[i];
        if (c == '"' || c == '\\')
            RAW(line, "\\");
        raw(line, c >= ' ' && c <= '~' ? &c : "?", 1);
    }
    RAW(line, "\"");
}

/* Raw bytes: as a string if they are text, else in base64. */
static void bytes(struct line *line, dx_text text) {
    if (line->status != DX_OK)
        return;
    line->status = dx_json_write_string(line->buf, text);
    if (line->status != DX_ERR_INVALID)
        return;
    line->status = DX_OK;
    RAW(line, "\"");
    if (line->status == DX_OK)
        line->status = dx__base64_write(line->buf, text);
    RAW(line, "\"");
    NAME(line, DX__TRACE_BASE64);
    RAW(line, "true");
}

/* Between the tokens of a JSON text a line break means no more than a space. */
static void flatten(char *at, const char *end) {
    for (char *lf = at; (lf = memchr(lf, '\n', (size_t)(end - lf)));)
        *lf = ' ';
    for (char *cr = at; (cr = memchr(cr, '\r', (size_t)(end - cr)));)
        *cr = ' ';
}

/* A JSON text as it came; DX_ERR_INVALID if it is none. */
static void json(struct line *line, const dx__secrets *secrets, const dx_trace_record *record) {
    if (line->status != DX_OK)
        return;
    bool known = record->checked && record->text.len;
    if (!known && dx_json_check(record->text, DX_DEPTH_MAX, NULL) != DX_FAULT_NONE) {
        line->status = DX_ERR_INVALID;
        return;
    }
    size_t start = line->buf->len;
    uint64_t hidden = 0;
    if (dx__secrets_any(secrets))
        line->status = dx__secrets_hide(secrets, record->text, line->buf, &hidden);
    else
        raw(line, record->text.at, record->text.len);
    if (line->status == DX_OK)
        flatten(line->buf->data + start, line->buf->data + line->buf->len);
    if (hidden) {
        NAME(line, DX__TRACE_REDACTED);
        number(line, hidden);
    }
}

static void write_about(struct line *line, const dx_trace_record *record) {
    if (record->from == DX_TRACE_HOST)
        RAW(line, ",\"" DX__TRACE_FROM "\":\"host\"");
    else if (record->from == DX_TRACE_PLUGIN)
        RAW(line, ",\"" DX__TRACE_FROM "\":\"plugin\"");
    if (record->peer.at) {
        NAME(line, DX__TRACE_PEER);
        name(line, record->peer);
    }
    if (record->run) {
        NAME(line, DX__TRACE_RUN);
        number(line, record->run);
    }
}

static bool is_about(const struct about *about, const dx_trace_record *record) {
    return about->from == record->from && about->run == record->run &&
           about->has_peer == (record->peer.at != NULL) && about->peer_len == record->peer.len &&
           (!about->peer_len || memcmp(about->peer, record->peer.at, about->peer_len) == 0);
}

static void remember(struct about *about, const dx_trace_record *record, dx_text text) {
    *about = (struct about){.from = DX_TRACE_NOBODY};
    if (record->peer.len > sizeof about->peer || text.len > sizeof about->text)
        return;
    *about = (struct about){.from = record->from,
                            .run = record->run,
                            .has_peer = record->peer.at,
                            .peer_len = record->peer.len,
                            .len = text.len};
    if (record->peer.len)
        memcpy(about->peer, record->peer.at, record->peer.len);
    memcpy(about->text, text.at, text.len);
}

static void put_about(struct line *line, struct about *about, const dx_trace_record *record) {
    size_t start = line->buf->len;
    if (is_about(about, record))
        raw(line, about->text, about->len);
    else {
        write_about(line, record);
        if (line->status == DX_OK && record->from != DX_TRACE_NOBODY)
            remember(about, record, (dx_text){line->buf->data + start, line->buf->len - start});
    }
    if (record->bytes) {
        NAME(line, DX__TRACE_BYTES);
        number(line, record->bytes);
    }
}

static void message(struct line *line, const dx__secrets *secrets, const dx_trace_record *record) {
    size_t start = line->buf->len;
    NAME(line, DX__TRACE_MESSAGE);
    json(line, secrets, record);
    if (line->status != DX_ERR_INVALID)
        return;
    line->status = DX_OK;
    line->buf->len = start;
    NAME(line, DX__TRACE_BROKEN);
    bytes(line, record->text);
}

static void content(struct line *line, const dx__secrets *secrets, const dx_trace_record *record) {
    switch (record->kind) {
    case DX_TRACE_MESSAGE:
        message(line, secrets, record);
        break;
    case DX_TRACE_BROKEN:
        NAME(line, DX__TRACE_BROKEN);
        bytes(line, record->text);
        break;
    case DX_TRACE_STRAY:
        NAME(line, DX__TRACE_STRAY);
        bytes(line, record->text);
        break;
    case DX_TRACE_STDERR:
        NAME(line, DX__TRACE_STDERR);
        bytes(line, record->text);
        break;
    case DX_TRACE_EVENT:
        NAME(line, DX__TRACE_EVENT);
        name(line, record->event);
        if (record->text.at) {
            NAME(line, DX__TRACE_FACTS);
            json(line, secrets, record);
        }
        break;
    case DX_TRACE_DROPPED:
        NAME(line, DX__TRACE_DROPPED);
        number(line, record->count);
        break;
    case DX_TRACE_HEADER:
        break;
    }
}

/* What was sent makes room when it is at least half of the buffer. */
static void slide(dx_trace_writer *writer) {
    dx_buf *out = &writer->out;
    size_t left = out->len - writer->line;
    if (!writer->line || writer->line < left)
        return;
    memmove(out->data, out->data + writer->line, left);
    out->len = left;
    writer->sent -= writer->line;
    writer->line = 0;
}

static size_t waiting(const dx_trace_writer *writer) {
    return writer->out.len - writer->line;
}

/* One line, or nothing: DX_ERR_LIMIT if it does not fit. */
static dx_status put(dx_trace_writer *writer, const dx_trace_record *record) {
    /* Looked at first, so that a huge message costs no time. A header may be beyond the limit. */
    if (waiting(writer) >= writer->waiting_max ||
        record->text.len >= writer->waiting_max - waiting(writer))
        return DX_ERR_LIMIT;
    slide(writer);
    size_t start = writer->out.len;
    struct line line = {&writer->out, DX_OK};
    RAW(&line, "{\"" DX__TRACE_TIME "\":");
    number(&line, record->time_us > writer->start_us ? record->time_us - writer->start_us : 0);
    put_about(&line, &writer->about[record->from == DX_TRACE_PLUGIN], record);
    content(&line, &writer->secrets, record);
    RAW(&line, "}\n");
    if (line.status == DX_OK && waiting(writer) > writer->waiting_max)
        line.status = DX_ERR_LIMIT;
    if (line.status != DX_OK)
        writer->out.len = start;
    return line.status;
}

static void lose(dx_trace_writer *writer, const dx_trace_record *record, uint64_t count) {
    uint64_t most = UINT64_MAX - writer->lost_all;
    count = count < most ? count : most;
    writer->lost += count;
    writer->lost_all += count;
    writer->lost_at = record->time_us;
}

static dx_status tell_lost(dx_trace_writer *writer) {
    if (!writer->lost)
        return DX_OK;
    dx_trace_record record = {
        .kind = DX_TRACE_DROPPED, .time_us = writer->lost_at, .count = writer->lost};
    dx_status status = put(writer, &record);
    if (status == DX_OK)
        writer->lost = 0;
    return status;
}

static bool is_sensible(const dx_trace_record *record) {
    bool told = record->from == DX_TRACE_HOST || record->from == DX_TRACE_PLUGIN;
    switch (record->kind) {
    case DX_TRACE_MESSAGE:
    case DX_TRACE_BROKEN:
    case DX_TRACE_STRAY:
    case DX_TRACE_STDERR:
        return told;
    case DX_TRACE_EVENT:
        return record->event.at && (told || record->from == DX_TRACE_NOBODY);
    case DX_TRACE_DROPPED:
        return true;
    case DX_TRACE_HEADER:
        break;
    }
    return false;
}

dx_status dx_trace_write(dx_trace_writer *writer, const dx_trace_record *record) {
    if (!is_sensible(record))
        return DX_ERR_INVALID;
    if (record->kind == DX_TRACE_DROPPED) {
        lose(writer, record, record->count);
        (void)tell_lost(writer); /* else later */
        return DX_OK;
    }
    dx_status status = tell_lost(writer);
    if (status == DX_OK)
        status = put(writer, record);
    if (status == DX_OK || status == DX_ERR_INVALID)
        return status;
    lose(writer, record, 1);
    return status == DX_ERR_LIMIT ? DX_BUSY : status;
}

dx_text dx_trace_output(const dx_trace_writer *writer) {
    const dx_buf *out = &writer->out;
    return (dx_text){out->data ? out->data + writer->sent : "", out->len - writer->sent};
}

void dx_trace_sent(dx_trace_writer *writer, size_t len) {
    dx_buf *out = &writer->out;
    if (len > out->len - writer->sent)
        len = out->len - writer->sent;
    size_t before = writer->sent;
    writer->sent += len;
    writer->size += len;
    for (size_t at = writer->sent; at > before; at--)
        if (out->data[at - 1] == '\n') {
            writer->line = at;
            break;
        }
    if (writer->line == out->len) {
        out->len = writer->line = writer->sent = 0;
        if (out->cap > KEPT)
            dx_buf_done(out);
    }
    (void)tell_lost(writer); /* else later */
}

uint64_t dx_trace_size(const dx_trace_writer *writer) {
    return writer->size;
}

dx_status dx_trace_rotate(dx_trace_writer *writer) {
    if (writer->size < writer->header_len) {
        /* The header still waits, or its end does: it serves the new file. */
        writer->sent = writer->line;
        writer->size = 0;
        return DX_OK;
    }
    /* A line of which only the newline is missing can be read where it is. */
    bool whole = writer->sent > writer->line && writer->out.data[writer->sent] == '\n';
    return begin_part(writer, whole ? writer->sent + 1 : writer->line);
}

uint64_t dx_trace_dropped(const dx_trace_writer *writer) {
    return writer->lost_all;
}
