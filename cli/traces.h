/* traces.h: the records of a trace file, one after the other. */
#ifndef CLI_TRACES_H
#define CLI_TRACES_H

#include <duplex/frame.h>
#include <duplex/trace.h>

#include <stdbool.h>

/* For commands that read traces: what to do without one, and how their examples make one. */
#define CLI_RECORD_HINT "record one: duplex tap -o talk.jsonl -- COMMAND [ARG...]"
#define CLI_RECORD_EXAMPLE \
    "duplex mcp tools call add a:=1 b:=2 --record talk.jsonl -- build/examples/mcp-adder"

typedef struct cli_trace cli_trace;

typedef enum cli_got {
    CLI_GOT_RECORD,
    CLI_GOT_WRONG, /* a line that is no record; the next one follows */
    CLI_GOT_END,
    CLI_GOT_FAILED /* it can't be read, which was told: cli_trace_code() */
} cli_got;

/* "-" is the standard input; `redact` as in dx_trace_reader_config. An exit code; what is wrong was
 * told. */
int cli_trace_open(const char *file, const char *const *redact, cli_trace **ret_trace);
/* The next record, lent until the next call; or what is wrong with a line. Reads when it has to,
 * and whoever watches the standard output then has all of it. */
cli_got cli_trace_next(cli_trace *trace, dx_trace_record *ret_record, dx_error *reterr);
/* Is it a trace at all? Reads up to its first record, if one stands within CLI_NO_TRACE_LINES; what
 * was read comes from cli_trace_next(). An empty file is one if `may_be_empty`: the last part of a
 * trace may have nothing in it yet. An exit code; what is wrong was told. */
enum { CLI_NO_TRACE_LINES = 100 };
int cli_trace_check(cli_trace *trace, bool may_be_empty);
/* How a message was framed, which is told by how many bytes crossed for it; 0: not known. */
dx_framing cli_trace_framing(const dx_trace_record *record);
/* How many bytes it had so far; and for CLI_GOT_FAILED the exit code. */
uint64_t cli_trace_bytes(const cli_trace *trace);
int cli_trace_code(const cli_trace *trace);
/* How the file is called in messages. */
const char *cli_trace_name(const cli_trace *trace);
/* NULL is fine. Returns NULL. */
cli_trace *cli_trace_close(cli_trace *trace);

#endif
