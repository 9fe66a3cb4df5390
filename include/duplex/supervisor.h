/*
 * duplex/supervisor.h: a child that is kept running.
 *
 *     starting --> ready <--> degraded
 *        |           |            |
 *        +-----------+------------+--> backoff --> starting …      it died, and may try again
 *        |           |            |
 *        +-----------+------------+--> failed                      it died, and may not
 *        |           |            |
 *        +-----------+------------+--> stopping --> stopped        it was told to
 *
 * Each run of the program is an incarnation with a link of its own, so that an answer of an old one
 * can't meet a call of a new one. Calls that were pending when it died have ended as lost; they are
 * not repeated: only you know which of them may be.
 */
#ifndef DUPLEX_SUPERVISOR_H
#define DUPLEX_SUPERVISOR_H

#include <duplex/child.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dx_supervisor dx_supervisor;

typedef enum dx_state {
    DX_STATE_STOPPED,
    DX_STATE_STARTING,
    DX_STATE_READY,
    DX_STATE_DEGRADED, /* it runs, but did not answer the last ping and said nothing else either */
    DX_STATE_BACKOFF,  /* it died and will be started again at a time that is set */
    DX_STATE_FAILED,   /* it will not be started again, unless dx_supervisor_start() says so */
    DX_STATE_STOPPING
} dx_state;

/* "starting", "ready", …; never NULL. */
DX_API const char *dx_state_name(dx_state state);

typedef enum dx_restart {
    DX_RESTART_NEVER,
    DX_RESTART_ON_FAILURE, /* not after it left by itself with code 0 */
    DX_RESTART_ALWAYS
} dx_restart;

typedef struct dx_supervisor_config {
    dx_child_config child; /* on_gone is the supervisor's, which is also the user of on_errors
                              and of on_closed */
    /* A new incarnation runs. Do the handshake on its link, then call dx_supervisor_ready(). NULL:
     * it is ready as soon as it runs. */
    void (*on_start)(dx_supervisor *supervisor, dx_link *link, void *user);
    /* The state has changed. `why` is what led to it (fault DX_FAULT_NONE: nothing bad). It may be
     * stopped or freed in here. May be NULL. */
    void (*on_state)(dx_supervisor *supervisor, dx_state state, const dx_error *why, void *user);
    void *user;
    dx_restart restart;      /* on failure */
    uint64_t start_ms;       /* time to become ready (10 s); then it is killed */
    uint64_t backoff_ms;     /* pause before the first restart (100 ms; 1 at least); doubles … */
    uint64_t backoff_max_ms; /* … up to this (30 s) */
    uint64_t steady_ms;      /* ready for so long, the pause starts small again (60 s) */
    unsigned tries;          /* so many deaths … (5; 64 at most, 0: any number) */
    uint64_t window_ms;      /* … in this time, and it has failed (180 s) */
    const char *ping;        /* a method that is called to see whether it is well; NULL: none */
    uint64_t ping_ms;        /* how often, when nothing else came from it (30 s) */
    uint64_t ping_wait_ms;   /* how long it has for an answer, or for any other word (10 s) */
    unsigned misses;         /* so many pings in a row without a word, and it is killed (3) */
} dx_supervisor_config;

DX_API dx_supervisor_config dx_supervisor_defaults(dx_framing framing, const char *const *argv);
/* The same for one that speaks a protocol. */
DX_API dx_supervisor_config dx_supervisor_for(dx_protocol *protocol, const char *const *argv);

/* Makes one that is stopped. What the configuration points to must outlive it. DX_ERR_NOMEM. */
DX_API dx_status dx_supervisor_new(dx_loop *loop, const dx_supervisor_config *config,
                                   dx_supervisor **ret_supervisor);
/* Kills what runs, at once and without a word. */
DX_API dx_supervisor *dx_supervisor_free(dx_supervisor *supervisor);

/* Starts it, from stopped, failed or backoff, with a clean record; while it is stopping, as soon as
 * it has; behind a stop of the same moment, it is a restart. That the program can't be started is a
 * death like any other, reported by on_state; but if the first attempt fails because the program or
 * its folder is missing or can't be executed, it has failed at once, whatever `tries` says. So it
 * has if it exits with code 126 or 127 before it sent a message, as a shell and `env` do then. */
DX_API void dx_supervisor_start(dx_supervisor *supervisor);
/* Stops it by its ladder; on_state tells when it is stopped. */
DX_API void dx_supervisor_stop(dx_supervisor *supervisor);
/* The handshake is done. */
DX_API void dx_supervisor_ready(dx_supervisor *supervisor);
/* The handshake has failed: it is killed, and that counts as a death because of `why`. Like
 * ready(), it is heard only while it is starting. */
DX_API void dx_supervisor_fail(dx_supervisor *supervisor, const dx_error *why);

/* The whole of a host that does nothing else: a loop with this one child, started, until it is
 * stopped, has failed or is freed. An exit code: 0 after a stop, 1 if it failed, 2 if the loop
 * could not begin or was stopped by another. */
DX_API int dx_supervisor_run(const dx_supervisor_config *config);

DX_API dx_state dx_supervisor_state(const dx_supervisor *supervisor);
/* How often it was started. */
DX_API unsigned dx_supervisor_incarnation(const dx_supervisor *supervisor);
/* The conversation with what runs now, or NULL. Not to be kept: ask for it each time. */
DX_API dx_link *dx_supervisor_link(const dx_supervisor *supervisor);
DX_API pid_t dx_supervisor_pid(const dx_supervisor *supervisor);
DX_API void *dx_supervisor_user(const dx_supervisor *supervisor);

#ifdef __cplusplus
}
#endif

#endif
