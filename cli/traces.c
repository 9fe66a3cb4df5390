#include "cli/traces.h"

#include "cli/say.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One read; the least that a header adds to a message. */
enum { PIECE = 64 << 10, HEADER_LEAST = 18 };

struct cli_trace {
    const char *name;
    int fd;
    int code;
    dx_trace_reader *reader;
    uint64_t bytes;
    size_t at; /* what of the piece was not fed yet */
    size_t len;
    dx_error *held; /* what cli_trace_check() met: wrong lines, and what ended them */
    size_t held_count;
    size_t held_at;
    bool holds_last;
    cli_got last;
    dx_trace_record first;
    char piece[PIECE];
};

int cli_trace_open(const char *file, const char *const *redact, cli_trace **ret_trace) {
    bool is_input = strcmp(file, "-") == 0;
    const char *name = is_input ? "standard input" : file;
    dx_trace_reader_config config = dx_trace_reader_defaults();
    config.redact = redact;
    cli_trace *trace = malloc(sizeof *trace);
    if (!trace)
        return cli_fail(CLI_NO_START, "out of memory");
    *trace = (cli_trace){.name = name};
    trace->fd = is_input ? 0 : open(file, O_RDONLY | O_CLOEXEC);
    int code = CLI_OK;
    if (trace->fd < 0)
        code = cli_fail(CLI_USAGE, "cannot read %s: %s", name, strerror(errno));
    if (code == CLI_OK) {
        dx_status status = dx_trace_reader_new(&config, &trace->reader);
        if (status == DX_ERR_INVALID)
            code = cli_fail(CLI_USAGE, "--redact: a name has 1 to 64 bytes, and at most 32 pointers"
                                       " are allowed");
        else if (status != DX_OK)
            code = cli_fail(CLI_NO_START, "out of memory");
    }
    if (code == CLI_OK)
        *ret_trace = trace;
    else
        cli_trace_close(trace);
    return code;
}

cli_trace *cli_trace_close(cli_trace *trace) {
    if (!trace)
        return NULL;
    dx_trace_reader_free(trace->reader);
    if (trace->fd > 0)
        close(trace->fd);
    free(trace->held);
    free(trace);
    return NULL;
}

/* False: it can't be read, which is told. */
static bool read_more(cli_trace *trace) {
    ssize_t len;
    fflush(stdout);
    do
        len = read(trace->fd, trace->piece, PIECE);
    while (len < 0 && errno == EINTR);
    if (len < 0) {
        trace->code = cli_fail(CLI_USAGE, "cannot read %s: %s", trace->name, strerror(errno));
        return false;
    }
    trace->at = 0;
    trace->len = (size_t)len;
    trace->bytes += trace->len;
    if (!len)
        dx_trace_finish(trace->reader);
    return true;
}

static cli_got read_next(cli_trace *trace, dx_trace_record *ret_record, dx_error *reterr) {
    size_t used;
    for (;;) {
        *reterr = (dx_error){.fault = DX_FAULT_NONE};
        switch (dx_trace_next(trace->reader, ret_record, reterr)) {
        case DX_OK:
            return CLI_GOT_RECORD;
        case DX_CLOSED:
            return CLI_GOT_END;
        case DX_AGAIN:
            break;
        case DX_ERR_NOMEM:
            trace->code = cli_fail(CLI_NO_START, "out of memory");
            return CLI_GOT_FAILED;
        default:
            return CLI_GOT_WRONG;
        }
        if (trace->at == trace->len && !read_more(trace))
            return CLI_GOT_FAILED;
        if (dx_trace_feed(trace->reader, trace->piece + trace->at, trace->len - trace->at, &used) <
            0) {
            trace->code = cli_fail(CLI_NO_START, "out of memory");
            return CLI_GOT_FAILED;
        }
        trace->at += used;
    }
}

cli_got cli_trace_next(cli_trace *trace, dx_trace_record *ret_record, dx_error *reterr) {
    if (trace->held_at < trace->held_count) {
        *reterr = trace->held[trace->held_at++];
        return CLI_GOT_WRONG;
    }
    if (!trace->holds_last)
        return read_next(trace, ret_record, reterr);
    trace->holds_last = false;
    *ret_record = trace->first;
    return trace->last;
}

int cli_trace_check(cli_trace *trace, bool may_be_empty) {
    trace->held = calloc(CLI_NO_TRACE_LINES, sizeof *trace->held);
    if (!trace->held)
        return cli_fail(CLI_NO_START, "out of memory");
    do {
        trace->last = read_next(trace, &trace->first, &trace->held[trace->held_count]);
        trace->held_count += trace->last == CLI_GOT_WRONG;
    } while (trace->last == CLI_GOT_WRONG && trace->held_count < CLI_NO_TRACE_LINES);
    trace->holds_last = true;
    if (trace->last == CLI_GOT_FAILED)
        return trace->code;
    if (trace->last == CLI_GOT_RECORD ||
        (trace->last == CLI_GOT_END && !trace->bytes && may_be_empty))
        return CLI_OK;
    return cli_fail(CLI_USAGE, "%s is not a Duplex trace", trace->name);
}

dx_framing cli_trace_framing(const dx_trace_record *record) {
    uint64_t more = record->bytes - record->text.len;
    if (record->kind != DX_TRACE_MESSAGE || record->bytes <= record->text.len)
        return 0;
    return more >= HEADER_LEAST ? DX_FRAMING_HEADER : more <= 2 ? DX_FRAMING_LINE : 0;
}

uint64_t cli_trace_bytes(const cli_trace *trace) {
    return trace->bytes;
}

int cli_trace_code(const cli_trace *trace) {
    return trace->code;
}

const char *cli_trace_name(const cli_trace *trace) {
    return trace->name;
}
