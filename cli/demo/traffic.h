/* traffic.h: the messages of the scenes of `duplex demo`: counted, shown, and put together into one
 * trace, in which each conversation has the name of its system. */
#ifndef CLI_DEMO_TRAFFIC_H
#define CLI_DEMO_TRAFFIC_H

#include <duplex/frame.h>
#include <duplex/trace.h>

#include <stdio.h>
#include <yyjson.h>

struct demo_counts {
    dx_framing framing;
    unsigned sent, received; /* messages */
    unsigned results, refused;
    unsigned asked_back;
};

struct demo_traffic {
    size_t columns; /* shows the messages, cut to so many columns; 0: not shown */
    FILE *file;     /* the trace of all scenes; NULL: none yet */
    dx_trace_writer *writer;
    uint64_t unix_ms; /* when it began */
};

/* Adds the trace of a scene. `list` (may be NULL) is an array that gets the messages. An exit code;
 * it reports what goes wrong. */
int demo_traffic_add(struct demo_traffic *traffic, const char *system, const char *trace,
                     struct demo_counts *counts, yyjson_mut_doc *doc, yyjson_mut_val *list);
/* All of it is in the file. An exit code; it reports what goes wrong. */
int demo_traffic_finish(struct demo_traffic *traffic);

#endif
