/*
 * duplex/child.h: a program that this one starts, talks to and never leaves behind.
 *
 *     const char *argv[] = {"/usr/bin/clangd", NULL};
 *     dx_child_config config = dx_child_defaults(DX_FRAMING_HEADER, argv);
 *     config.on_gone = on_gone;
 *     if (dx_child_start(loop, &config, &child, &error) != DX_OK)
 *         fprintf(stderr, "%s\n", error.phrase);      // "cannot start /usr/bin/clangd: …"
 *     dx_link_call(dx_child_link(child), dx_str("initialize"), params, &options, NULL);
 *     …
 *     dx_child_stop(child);                           // on_gone comes, always, in bounded time
 *
 * What holds for every child:
 *   - It runs in a process group of its own, with no descriptor but 0, 1 and 2, and with a small
 *     environment (HOME LOGNAME PATH SHELL TERM USER LANG LC_*) plus what you ask for, and a mark
 *     that its descendants inherit: DUPLEX_PEER=HOST:PEER, our pid and its own. If we have such a
 *     variable ourselves, that comes first, with a comma. No shell.
 *   - That it can't be started is told by dx_child_start() itself, with the errno of the exec.
 *   - Its standard error is always read; the last of it is kept and told when it is gone.
 *   - It ends once: `gone` comes when it has exited and its output was read to the end, or drain_ms
 *     after it has exited if somebody else holds that open. Pending calls end just before.
 *   - Its whole group has been killed when `gone` comes, and dies with this process: by the
 *     parent-death signal (if the first thread starts it, which then must not end before it), and
 *     by a small guardian process, one for each loop, that holds a pipe to us and kills the groups
 *     when that closes. A descendant that makes a session of its own escapes both; a host that
 *     wants to end those, too, becomes a child subreaper and looks for the mark (`duplex` does).
 */
#ifndef DUPLEX_CHILD_H
#define DUPLEX_CHILD_H

#include <duplex/link.h>

#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dx_child dx_child;

/* How it ended. */
typedef struct dx_gone {
    int known;      /* 0: somebody else in this process reaped it, or it can't be ended */
    int code;       /* exit code, if signal is 0 */
    int signal;     /* the signal that ended it, or 0 */
    int core;       /* it left a core */
    int stopped;    /* dx_child_stop() was called before */
    int escaped;    /* it lives on in spite of SIGKILL, or somebody outside its group still holds
                       its output: a process that made a session of its own, which the library
                       does not end */
    dx_text errors; /* the last of its standard error (up to errors_max bytes) */
    dx_error
        error; /* one line about it all; fault DX_FAULT_NONE if it was stopped or left with 0 */
    dx_error broken; /* what its output ended in if that could not be read, even if it was stopped:
                        DX_FAULT_TRUNCATED, DX_FAULT_MESSAGE_LIMIT, …; otherwise fault
                        DX_FAULT_NONE */
} dx_gone;

/*
 * How a child is asked to leave, step by step; each step is left out if the one before sufficed.
 *
 *   farewell_call    this request is sent with farewell_params, which are JSON text or NULL (if the
 *                    child ever answered anything, and the protocol allows it now), and its answer
 *                    awaited for farewell_ms
 *   farewell_notify  this notification is sent
 *   close            its standard input is closed; it has close_ms to leave
 *   terminate        SIGTERM to its group; it has term_ms to leave
 *   kill             SIGKILL to its group; if it has not died of that in 2 s, because it has other
 *                    rights than we or the kernel holds it, it is gone as escaped
 */
typedef struct dx_ladder { /* its strings must outlive the child */
    const char *farewell_call;
    const char *farewell_params;
    const char *farewell_notify;
    uint64_t farewell_ms; /* 2 s */
    uint64_t close_ms;    /* 2 s */
    uint64_t term_ms;     /* 2 s */
} dx_ladder;

typedef struct dx_child_config {
    const char *const *argv; /* argv[0] is looked up in PATH if it has no slash */
    const char *cwd;         /* NULL: ours */
    const char *const *env;  /* "NAME=value" …, NULL at the end; may be NULL */
    int inherit_env;         /* hand on the whole environment instead of the small one */
    dx_link_config link;     /* side DX_SIDE_HOST; neither its on_closed nor its on_ended is called,
                                on_gone is */
    dx_ladder ladder;
    void (*on_gone)(dx_child *child, const dx_gone *gone, void *user); /* free it there, or later */
    void (*on_errors)(dx_child *child, dx_text line, void *user); /* a line of its standard error */
    /* The conversation ended by itself while the program still runs: it closed its output, or what
     * it sent can't be read any more (`why` as in dx_link_config). It is then asked to leave, and
     * on_gone comes as usual. May be NULL. */
    void (*on_closed)(dx_child *child, const dx_error *why, void *user);
    size_t errors_max;   /* how much of its standard error is kept (64 KiB) */
    uint64_t drain_ms;   /* how long its output may stay open after its exit (50 ms) */
    uint64_t memory_max; /* RLIMIT_AS in bytes; 0: as ours */
    uint64_t files_max;  /* RLIMIT_NOFILE; 0: as ours */
    int no_guardian;     /* don't register it with the loop's guardian */
    void *user;          /* for these three; the link has its own */
} dx_child_config;

DX_API dx_child_config dx_child_defaults(dx_framing framing, const char *const *argv);
/* The same for one that speaks a protocol, which says how it is talked to and asked to leave. */
DX_API dx_child_config dx_child_for(dx_protocol *protocol, const char *const *argv);

/* Starts it. DX_ERR_SYSTEM with the errno, the path and what was tried in *reterr (which may be
 * NULL); DX_ERR_INVALID, DX_ERR_NOMEM. */
DX_API dx_status dx_child_start(dx_loop *loop, const dx_child_config *config, dx_child **ret_child,
                                dx_error *reterr);
/* Begins the ladder; on_gone comes in bounded time. Harmless when it is stopping or gone. */
DX_API void dx_child_stop(dx_child *child);
/* Kills its group at once, if it is not gone, waits until it is dead (2 s at most), and forgets it;
 * no callback comes any more. */
DX_API dx_child *dx_child_free(dx_child *child);

/* The conversation with it; NULL once it is gone, in on_gone already. */
DX_API dx_link *dx_child_link(const dx_child *child);
DX_API pid_t dx_child_pid(const dx_child *child);
DX_API void *dx_child_user(const dx_child *child);

/* Whether this process is a program that the loop started (as a child, a dx_program or a dx_tap)
 * and has not reaped yet, or the loop's guardian; 0: neither. For a host that is a child subreaper
 * and has to tell its own children from those it adopted. */
enum { DX_OWNS_PROGRAM = 1, DX_OWNS_GUARDIAN = 2 };
DX_API int dx_loop_owns(const dx_loop *loop, pid_t pid);

#ifdef __cplusplus
}
#endif

#endif
