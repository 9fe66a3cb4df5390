/*
 * duplex/tap.h: a program in place of another: it starts that one, passes on what is said both
 * ways, and records it.
 *
 *     const char *argv[] = {"clangd", NULL};
 *     dx_tap_config config = dx_tap_defaults(argv);
 *     config.recorder = recorder;
 *     config.on_gone = on_gone;
 *     dx_tap_start(loop, &config, &tap, &error);
 *
 * What holds for every tap:
 *   - Bytes are passed on unchanged and in order, before anything else is done with them. The copy
 *     is framed for the record; if that is not possible, it is recorded as stray text.
 *   - A fixed piece is under way in each direction. While one side does not take it, the other is
 *     not read: neither memory nor either program can be run over.
 *   - When our input ends, so does the program's, after everything was passed on; and when the
 *     program closes its output, so is ours. When nobody takes our output any more, the program is
 *     ended as by dx_tap_stop().
 *   - `gone` comes when it has exited and everything that it wrote was passed on. What else is true
 *     of a child (duplex/child.h: its group, the guardian) is true here.
 */
#ifndef DUPLEX_TAP_H
#define DUPLEX_TAP_H

#include <duplex/child.h>
#include <duplex/watchers.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dx_tap dx_tap;

typedef struct dx_tap_config {
    const char *const *argv; /* argv[0] is looked up in PATH if it has no slash */
    const char *cwd;         /* NULL: ours */
    const char *const *env;  /* "NAME=value" …, NULL at the end; may be NULL */
    int small_env;           /* hand on only the small environment of a child, not all of ours */
    /* Our side: what is read for the program, and where its output and its standard error go (0, 1,
     * 2). They are copied: close your own once it has started, or their other ends won't see that
     * the program closes its. */
    int in;
    int out;
    int errors;
    dx_framing framing;    /* of what is recorded; 0: told from the first bytes of each direction */
    size_t message_max;    /* longer ones are counted as dropped (8 MiB; at least 64 KiB) */
    const char *name;      /* what the trace calls the program; may be NULL */
    unsigned run;          /* which incarnation of it this is; 0: not told */
    dx_recorder *recorder; /* may be NULL; must outlive the tap, as must these: */
    dx_watchers *watchers; /* may be NULL */
    /* Bytes that were just passed on: from the host, from the plugin, or (errors) from the plugin's
     * standard error. May be NULL. */
    void (*on_bytes)(dx_tap *tap, dx_trace_from from, int errors, dx_text bytes, void *user);
    void (*on_gone)(dx_tap *tap, const dx_gone *gone, void *user); /* free it there, or later */
    uint64_t close_ms; /* how long it may take to leave once its input is closed (2 s) … */
    uint64_t term_ms;  /* … and after SIGTERM (2 s); then comes SIGKILL */
    uint64_t drain_ms; /* how long others may hold its output open after its exit (50 ms) */
    void *user;
} dx_tap_config;

DX_API dx_tap_config dx_tap_defaults(const char *const *argv);

/* DX_ERR_SYSTEM with the errno, the path and what was tried in *reterr (which may be NULL);
 * DX_ERR_INVALID, DX_ERR_NOMEM. */
DX_API dx_status dx_tap_start(dx_loop *loop, const dx_tap_config *config, dx_tap **ret_tap,
                              dx_error *reterr);
/* Closes its input, then SIGTERM, then SIGKILL; on_gone comes in bounded time. */
DX_API void dx_tap_stop(dx_tap *tap);
/* Hands a signal on, to the program alone or to its whole group. If it was one that tells it to end
 * (SIGTERM, SIGINT, SIGHUP, SIGQUIT), whoever takes nothing of its last output for half a second
 * after its exit is not waited for; nor is anybody once a signal comes after its exit. */
DX_API void dx_tap_signal(dx_tap *tap, int number, int group);
/* Kills its group at once, if it is not gone, and forgets it; no callback comes any more. */
DX_API dx_tap *dx_tap_free(dx_tap *tap);
DX_API pid_t dx_tap_pid(const dx_tap *tap);

#ifdef __cplusplus
}
#endif

#endif
