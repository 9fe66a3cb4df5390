/*
 * duplex/recorder.h: a trace in a file, written by a thread of its own while the processors have
 * nothing better to do, so that neither a slow or full disk nor the writing slows the traffic: what
 * can't be written in time is dropped, counted, and told in the trace. In a flood (1 MiB in 10 ms)
 * what comes is only kept, until it ends or half of what may wait does.
 *
 *     dx_recorder_config config = dx_recorder_defaults("talk.jsonl");
 *     dx_recorder_open(&config, &recorder, &error);
 *     child.link.recorder = recorder;
 *     child.link.name = "clangd";
 *     …
 *     dx_recorder_close(recorder, &error);     // after the loop and its links are gone
 */
#ifndef DUPLEX_RECORDER_H
#define DUPLEX_RECORDER_H

#include <duplex/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dx_recorder dx_recorder;

typedef struct dx_recorder_config {
    const char *path;          /* truncated if it exists; has mode 0600 afterwards, whoever made it;
                                  locked, so that one that another process records to is refused
                                  with EBUSY; a file or symbolic link of another user is refused
                                  with EPERM (root's links are followed) */
    uint64_t size_max;         /* from so many bytes on a new file is begun (64 MiB; 0: never), if
                                  it is a file: a device or a pipe is left in its place */
    unsigned keep;             /* older files that are kept, as PATH.1, PATH.2, … (3) */
    size_t waiting_max;        /* bytes that may wait for the disk (4 MiB) */
    const char *const *redact; /* members whose values are not written; see duplex/trace.h */
} dx_recorder_config;

DX_API dx_recorder_config dx_recorder_defaults(const char *path);

/* DX_ERR_SYSTEM, DX_ERR_NOMEM, DX_ERR_INVALID. reterr may be NULL. */
DX_API dx_status dx_recorder_open(const dx_recorder_config *config, dx_recorder **ret_recorder,
                                  dx_error *reterr);
/* Writes what waits, for ten seconds at the most, or two if nothing of it is taken, and closes the
 * file. NULL is fine. DX_ERR_SYSTEM: the file lacks what came last, since it could not be written.
 * reterr may be NULL. */
DX_API dx_status dx_recorder_close(dx_recorder *recorder, dx_error *reterr);

/* Adds a record; from any thread, never blocking for long. For what links do not tell by
 * themselves: DX_TRACE_EVENT, DX_TRACE_STDERR. */
DX_API dx_status dx_recorder_write(dx_recorder *recorder, const dx_trace_record *record);
/* Microseconds of the clock that time_us is taken from. */
DX_API uint64_t dx_recorder_now_us(void);
/* Records that were dropped so far; a piece of what a tap passed on counts as one. */
DX_API uint64_t dx_recorder_dropped(dx_recorder *recorder);

#ifdef __cplusplus
}
#endif

#endif
