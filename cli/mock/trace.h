/* trace.h: what one side of a recorded conversation said, by what it answered. */
#ifndef CLI_MOCK_TRACE_H
#define CLI_MOCK_TRACE_H

#include "cli/mock/groups.h"

#include <duplex/frame.h>
#include <duplex/trace.h>

/* One thing that was said. */
typedef struct mock_line {
    dx_trace_kind kind;
    bool is_answer; /* to what came: its id is replaced */
    uint64_t after_us;
    size_t behind; /* an answer: how many entries there were before it */
    char *text;
    size_t len;
    dx_message parts; /* of a message */
} mock_line;

/* What came, and what was said then. */
typedef struct mock_entry {
    mock_message *message; /* NULL: the beginning */
    uint64_t time_us;
    bool used;
    size_t number;                          /* from 0 */
    struct mock_entry *next[MOCK_BY_COUNT]; /* in each of its groups */
    mock_line *lines;
    size_t count;
    size_t room;
} mock_entry;

typedef struct mock_trace {
    mock_entry **entries;
    size_t count;
    size_t room;
    size_t at;          /* nothing before it waits */
    bool real;          /* times as they were */
    dx_framing framing; /* 0: not known */
    mock_groups groups;
} mock_trace;

/* What `side` said. peer NULL: the first that the trace has. CLI_OK, or an exit code; what is wrong
 * was told. */
int mock_trace_read(const char *file, const char *peer, dx_side side, mock_trace **ret_trace);
/* The first that did not come yet and had something to be said; NULL: there is none. */
mock_entry *mock_trace_waits(mock_trace *trace);
/* Was an answer with that id there between a request and the line that answers it? */
bool mock_trace_needs(const mock_trace *trace, const mock_entry *entry, const mock_line *line,
                      dx_text id);
/* NULL is fine. Returns NULL. */
mock_trace *mock_trace_free(mock_trace *trace);
/* The entry for a message: that with the same method and params, or else the next with that method;
 * for an answer that with its id. NULL: there is none. */
mock_entry *mock_trace_find(const mock_trace *trace, mock_message *message);

#endif
