/*
 * duplex/watchers.h: a trace for whoever looks on, live. None of them can slow the traffic: what
 * one does not take in time is dropped, counted, and told to it.
 *
 *     dx_watchers_config config = dx_watchers_defaults();
 *     config.path = "/run/user/1000/talk.sock";
 *     dx_watchers_open(loop, &config, &watchers, &error);
 *     …
 *     dx_watchers_write(watchers, &record);
 *
 * Each of them gets a trace of its own (see duplex/trace.h), header included, that begins when it
 * comes.
 */
#ifndef DUPLEX_WATCHERS_H
#define DUPLEX_WATCHERS_H

#include <duplex/loop.h>
#include <duplex/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dx_watchers dx_watchers;

typedef struct dx_watchers_config {
    /* A Unix socket to listen on, made with mode 0600, removed when freed; NULL: none. Only
     * programs of the same user, and root's, are let in. One that somebody left behind is replaced.
     */
    const char *path;
    unsigned most;             /* so many at a time, others are turned away (16) */
    size_t waiting_max;        /* bytes that may wait for each (1 MiB) */
    const char *const *redact; /* see duplex/trace.h; must outlive the watchers */
} dx_watchers_config;

DX_API dx_watchers_config dx_watchers_defaults(void);

/* DX_ERR_SYSTEM, DX_ERR_NOMEM, DX_ERR_INVALID. reterr may be NULL. */
DX_API dx_status dx_watchers_open(dx_loop *loop, const dx_watchers_config *config,
                                  dx_watchers **ret_watchers, dx_error *reterr);
/* At once; see dx_watchers_finish(). */
DX_API dx_watchers *dx_watchers_free(dx_watchers *watchers);

/* One more: a socket, which is the watchers' own from then on. DX_BUSY, DX_ERR_NOMEM,
 * DX_ERR_SYSTEM: it is still yours. */
DX_API dx_status dx_watchers_add(dx_watchers *watchers, int fd);
/* How many there are. */
DX_API unsigned dx_watchers_count(const dx_watchers *watchers);
/* For all of them; sent when the turn ends. NULL watchers are fine. */
DX_API void dx_watchers_write(dx_watchers *watchers, const dx_trace_record *record);
/* For the end: sends what still waits, for so many ms at the most. This blocks. */
DX_API void dx_watchers_finish(dx_watchers *watchers, unsigned ms);

#ifdef __cplusplus
}
#endif

#endif
