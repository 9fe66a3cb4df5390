#include "base/alloc.h"
#include "base/line.h"
#include "rpc/json.h"
#include "trace/trace.h"

#include <stdbool.h>
#include <string.h>

enum { PIECE = 64 << 10 };

struct dx_trace_reader {
    size_t line_max;
    dx__secrets secrets;
    dx_buf in;
    dx_buf shown;  /* the text of a record without its secrets */
    size_t pos;    /* where the next line begins */
    size_t looked; /* no line ends between pos and here */
    uint64_t line; /* how many were taken */
    bool headed;   /* a header came, or it was told that there is none */
    bool foreign;  /* the last header was of another version */
    bool cut;      /* a line is too long, which is not told yet … */
    bool skipping; /* … and its end did not come yet */
    bool finished;
};

dx_trace_reader_config dx_trace_reader_defaults(void) {
    return (dx_trace_reader_config){.line_max = (size_t)128 << 20};
}

dx_status dx_trace_reader_new(const dx_trace_reader_config *config, dx_trace_reader **ret_reader) {
    if (!config->line_max)
        return DX_ERR_INVALID;
    dx_allocator alloc = dx__allocator(config->allocator);
    dx_trace_reader *reader = dx__malloc(&alloc, sizeof *reader);
    if (!reader)
        return DX_ERR_NOMEM;
    *reader = (dx_trace_reader){.line_max = config->line_max < SIZE_MAX / 4 ? config->line_max
                                                                            : SIZE_MAX / 4};
    dx_buf_init(&reader->in, reader->line_max + PIECE + PIECE, &alloc);
    dx_buf_init(&reader->shown, 2 * reader->line_max, &alloc);
    dx_status status = dx__secrets_init(&reader->secrets, config->redact, &alloc);
    if (status == DX_OK)
        *ret_reader = reader;
    else
        dx_trace_reader_free(reader);
    return status;
}

dx_trace_reader *dx_trace_reader_free(dx_trace_reader *reader) {
    if (!reader)
        return NULL;
    dx_allocator alloc = reader->in.alloc;
    dx_buf_done(&reader->in);
    dx_buf_done(&reader->shown);
    dx__secrets_done(&reader->secrets);
    dx__free(&alloc, reader);
    return NULL;
}

/* Is there a whole line? Then it ends at `looked`. */
static bool has_line(dx_trace_reader *reader) {
    if (reader->looked == reader->in.len)
        return false;
    const char *from = reader->in.data + reader->looked;
    const char *lf = memchr(from, '\n', reader->in.len - reader->looked);
    reader->looked = lf ? (size_t)(lf - reader->in.data) : reader->in.len;
    return lf != NULL;
}

/* How much of the rest of a line that is too long is here, its end included. */
static size_t skip(dx_trace_reader *reader, const char *bytes, size_t len) {
    const char *lf = memchr(bytes, '\n', len);
    reader->skipping = !lf;
    return lf ? (size_t)(lf - bytes) + 1 : len;
}

static void slide(dx_trace_reader *reader) {
    dx_buf *in = &reader->in;
    if (!reader->pos)
        return;
    memmove(in->data, in->data + reader->pos, in->len - reader->pos);
    in->len -= reader->pos;
    reader->looked -= reader->pos;
    reader->pos = 0;
}

dx_status dx_trace_feed(dx_trace_reader *reader, const void *bytes, size_t len, size_t *ret_used) {
    const char *at = bytes;
    size_t used = 0;
    dx_status status = reader->finished ? DX_CLOSED : DX_OK;
    while (status == DX_OK && used < len) {
        if (reader->skipping) {
            used += skip(reader, at + used, len - used);
            continue;
        }
        bool whole = has_line(reader);
        size_t held = reader->in.len - reader->pos;
        if (reader->cut || (whole && held >= PIECE)) {
            status = DX_BUSY;
            break;
        }
        if (!whole && held > reader->line_max) {
            reader->cut = reader->skipping = true;
            reader->in.len = reader->looked = reader->pos;
            continue;
        }
        size_t part = len - used < PIECE ? len - used : PIECE;
        slide(reader);
        status = dx_buf_append(&reader->in, at + used, part);
        if (status == DX_OK)
            used += part;
    }
    *ret_used = used;
    return status;
}

void dx_trace_finish(dx_trace_reader *reader) {
    reader->finished = true;
}

/* Something that is wrong with lines as such, whatever they say. */
static dx_status refuse(const dx_trace_reader *reader, const dx__trace_line *line,
                        dx_error *error) {
    dx__line phrase = dx__trace_complain(line, DX_FAULT_MESSAGE_LIMIT, reader->line_max, error);
    dx__line_str(&phrase, "too long, the limit is ");
    dx__line_num(&phrase, reader->line_max);
    dx__line_str(&phrase, " bytes");
    return DX_ERR_LIMIT;
}

static bool is_header(dx_text line) {
    return dx_rpc_member(line, dx_str(DX__TRACE_HEADER)).at != NULL;
}

static bool is_blank(dx_text line) {
    return dx__json_space(line.at, line.at + line.len) == line.at + line.len;
}

static dx_status redact(dx_trace_reader *reader, dx_trace_record *record) {
    uint64_t count;
    if (!dx__secrets_any(&reader->secrets) || !record->text.at ||
        (record->kind != DX_TRACE_MESSAGE && record->kind != DX_TRACE_EVENT))
        return DX_OK;
    reader->shown.len = 0;
    dx_status status = dx__secrets_hide(&reader->secrets, record->text, &reader->shown, &count);
    record->text = (dx_text){reader->shown.data, reader->shown.len};
    return status;
}

static dx_status read_line(dx_trace_reader *reader, const dx__trace_line *line,
                           dx_trace_record *ret_record, dx_error *error) {
    dx_status status = dx__trace_parse(line, ret_record, error);
    if (status == DX_OK && ret_record->kind == DX_TRACE_HEADER)
        reader->foreign = false;
    if (status != DX_OK && error->fault == DX_FAULT_VERSION)
        reader->foreign = true;
    return status == DX_OK ? redact(reader, ret_record) : status;
}

/* The first line that is JSON must be a header; if not, that is told before it is read. */
static bool lacks_header(dx_trace_reader *reader, dx_text line) {
    if (reader->headed || dx_json_check(line, DX_DEPTH_MAX, NULL) != DX_FAULT_NONE)
        return false;
    reader->headed = true;
    return !is_header(line);
}

dx_status dx_trace_next(dx_trace_reader *reader, dx_trace_record *ret_record, dx_error *reterr) {
    dx_error unheard;
    dx_error *error = reterr ? reterr : &unheard;
    for (;;) {
        dx__trace_line line = {.number = reader->line + 1};
        if (reader->cut) {
            reader->cut = false;
            reader->line++;
            return refuse(reader, &line, error);
        }
        line.last = !has_line(reader);
        if (line.last && (!reader->finished || reader->pos == reader->in.len))
            return reader->finished ? DX_CLOSED : DX_AGAIN;
        line.at = reader->in.data + reader->pos;
        line.len = reader->looked - reader->pos;
        dx_text text = {line.at, line.len};
        bool fits = line.len <= reader->line_max;
        if (fits && lacks_header(reader, text)) {
            dx__line phrase = dx__trace_complain(&line, DX_FAULT_VERSION, 0, error);
            dx__line_str(&phrase, "no header, expected {\"" DX__TRACE_HEADER "\":1,...}");
            return DX_ERR_INVALID;
        }
        reader->pos = reader->looked = reader->looked + !line.last;
        reader->line++;
        if (!fits)
            return refuse(reader, &line, error);
        if (!is_blank(text) && (!reader->foreign || is_header(text)))
            return read_line(reader, &line, ret_record, error);
    }
}
