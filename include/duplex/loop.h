/*
 * duplex/loop.h: where the operating system comes in: one file descriptor, one deadline, one call.
 *
 * A dx_loop lives inside any other loop. Whoever has one waits until dx_loop_fd() is readable or
 * dx_loop_deadline() is reached, and then calls dx_loop_dispatch(), which does what can be done now
 * and never blocks. Whoever has none calls dx_loop_run().
 *
 *     struct pollfd fd = {dx_loop_fd(loop), POLLIN, 0};
 *     poll(&fd, 1, dx_loop_wait_ms(loop));
 *     dx_loop_dispatch(loop);
 *
 * Rules:
 *   - Callbacks come only from dx_loop_dispatch() (and dx_loop_run(), which calls it).
 *   - Everything may be freed from inside any callback, its own included; the memory goes when the
 *     dispatch ends.
 *   - A loop and all that hangs on it belong to one thread. dx_loop_post() is the one call that
 *     other threads may make.
 *   - After a fork(), the copy in the new process can only be freed. Everything else does nothing
 *     there or fails (a link says DX_CLOSED): descriptors and children are the original's.
 *   - Nothing global is touched: no signal handler, no SIGPIPE setting, no waitpid(-1), nothing
 *     printed.
 */
#ifndef DUPLEX_LOOP_H
#define DUPLEX_LOOP_H

#include <duplex/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dx_loop dx_loop;

/* DX_ERR_NOMEM, DX_ERR_SYSTEM. allocator NULL: malloc. reterr may be NULL. */
DX_API dx_status dx_loop_new(const dx_allocator *allocator, dx_loop **ret_loop, dx_error *reterr);
/* Frees all links and children that still hang on it, without a word; children are killed and
 * waited for. */
DX_API dx_loop *dx_loop_free(dx_loop *loop);

/* Readable when there is something to do. Ask for it before you first wait. */
DX_API int dx_loop_fd(dx_loop *loop);
/* When there will be something to do without it (ms of CLOCK_MONOTONIC), or DX_NEVER. */
DX_API uint64_t dx_loop_deadline(const dx_loop *loop);
/* The same as a timeout for poll(2): ms from now, 0 if it has passed, -1 for never. */
DX_API int dx_loop_wait_ms(const dx_loop *loop);
/* The time as the loop sees it: read once at the beginning of a dispatch. */
DX_API uint64_t dx_loop_now(const dx_loop *loop);

/* Does what can be done now. Calling it from inside one of its callbacks does nothing. */
DX_API void dx_loop_dispatch(dx_loop *loop);
/* Waits and dispatches until dx_loop_stop() is called, or the loop is freed, in a callback; what
 * was called before it began does not count. DX_BUSY, at once, from inside a callback of this loop;
 * DX_ERR_SYSTEM if waiting fails. */
DX_API dx_status dx_loop_run(dx_loop *loop);
DX_API void dx_loop_stop(dx_loop *loop);

/* Before dx_loop_run() sleeps, it looks for up to `us` microseconds (0, the default: not at all)
 * whether something has come, and lets others have the processor in between. Two processes on two
 * processors that both do this answer each other without the cost of a wake-up, which is most of
 * what a short call takes; in exchange, each keeps a processor busy for that time after its last
 * message. 50 is a good value for those who want it. */
DX_API void dx_loop_set_busy_poll(dx_loop *loop, uint64_t us);

/* Runs `function(user)` in the loop's thread, from a dispatch; in the order of the calls.
 * May be called from any thread, and wakes the loop up. DX_ERR_NOMEM. */
DX_API dx_status dx_loop_post(dx_loop *loop, void (*function)(void *user), void *user);

/* A time of your own. */
typedef struct dx_timer dx_timer;

/* One that is not set. on_time comes from a dispatch, once for each time that it was set. Goes with
 * its loop. DX_ERR_NOMEM. */
DX_API dx_status dx_timer_new(dx_loop *loop, void (*on_time)(dx_timer *timer, void *user),
                              void *user, dx_timer **ret_timer);
/* In so many ms (0 from on_time of a timer: in another dispatch); DX_NEVER: not at all. What it was
 * set to before no longer counts. */
DX_API void dx_timer_set(dx_timer *timer, uint64_t ms);
DX_API dx_timer *dx_timer_free(dx_timer *timer);

/* A descriptor of your own. */
typedef struct dx_watch dx_watch;

enum { DX_WATCH_READ = 1 << 0, DX_WATCH_WRITE = 1 << 1 };

/* on_ready comes from a dispatch for as long as it can be read (it has bytes, or its end), or
 * written, whichever of DX_WATCH_… is asked for; `ready` says which. The descriptor stays yours,
 * and open for as long as it is watched; a plain file is DX_ERR_INVALID. Goes with its loop.
 * DX_ERR_SYSTEM, DX_ERR_NOMEM. */
DX_API dx_status dx_watch_new(dx_loop *loop, int fd, unsigned wanted,
                              void (*on_ready)(dx_watch *watch, unsigned ready, void *user),
                              void *user, dx_watch **ret_watch);
/* 0: nothing for now. */
DX_API dx_status dx_watch_set(dx_watch *watch, unsigned wanted);
DX_API dx_watch *dx_watch_free(dx_watch *watch);

#ifdef __cplusplus
}
#endif

#endif
