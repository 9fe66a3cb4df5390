/* What server_run.c, server_batch.c and server_result.c share: runs in the name of a client. */
#ifndef FINECODE_SERVER_WORK_H
#define FINECODE_SERVER_WORK_H

#include "systems/finecode/server_parts.h"

struct dx__finecode_work;

/* One action in one project (or in all that have it). */
typedef struct dx__finecode_item {
    struct dx__finecode_work *work;
    const char *source;
    const char *project; /* its path, or a word for it; NULL: all */
    dx_finecode_run *run;
    bool begun;
    bool ended;
} dx__finecode_item;

/* What belongs to a request to run something; the event of the duty keeps the words alive. */
typedef struct dx__finecode_work {
    dx__finecode_duty *duty;
    bool batch;
    bool concurrently;
    bool merged; /* mergeResults: results come also when they were streamed */
    unsigned formats;
    dx_finecode_origin origin;
    yyjson_val *partial; /* tokens; NULL: none */
    yyjson_val *progress;
    yyjson_doc *params; /* of the request once more, with all numbers as they were written */
    dx__finecode_item *items;
    size_t count;
    yyjson_mut_doc *doc;
    /* {path: {"resultByFormat", "returnCode"}}; of a batch {path: {source: {…}}}. */
    yyjson_mut_val *results;
    bool broken; /* memory was missing */
    bool lost;   /* a partial result could not be sent */
    size_t fine;
    int64_t return_code; /* of all: or */
    int64_t code;        /* of the last that failed; 0: none */
    char why[400];
} dx__finecode_work;

/* Makes the work of the request at hand, which is kept (read its event anew), if its options are
 * right; else refuses it, and is NULL. */
dx__finecode_work *dx__finecode_work_new(dx__finecode_client *client, size_t count);
/* Begins what can begin, and answers if all has ended. */
void dx__finecode_work_go(dx__finecode_work *work);
void dx__finecode_work_refuse(dx__finecode_work *work, int64_t code, const char *before,
                              const char *after);

/* server_result.c */
/* Keeps what a project gave. */
void dx__finecode_result_keep(dx__finecode_work *work, const char *path, const char *source,
                              const dx_finecode_result *result);
void dx__finecode_result_send(dx__finecode_work *work);
void dx__finecode_result_partial(const dx__finecode_item *item, const char *path,
                                 yyjson_val *by_format);
void dx__finecode_result_progress(const dx__finecode_item *item, yyjson_val *value);

#endif
