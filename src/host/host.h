/*
 * What the parts of the host floor share. Who does what:
 *
 *   loop.c      epoll, timers, posts, turns, and the end of things
 *   timer.c     a time of the user's own
 *   watch.c     … and a descriptor
 *   link.c      a peer on descriptors
 *   plugin.c    … on the standard input and output of this process
 *   socket.c    addresses and connecting
 *   socket_owner.c  which user has the other end of a connection
 *   listener.c  listening, and who may connect
 *   spawn.c     from a configuration to a running process
 *   process.c   signals to it, its exit, its number
 *   guardian.c  the process that outlives us for a moment
 *   child.c     a process and the conversation with it
 *   program.c   one without a conversation: bytes in, bytes out
 *   supervisor.c  a process that is kept running
 *   recorder.c  a trace in a file
 *   recorder_thread.c  … and its thread, for the disk
 *   backlog.c   … and what waits for that thread
 *   watchers.c  a trace for whoever connects to a socket
 *   relay.c     bytes from one descriptor to another
 *   cutter.c    a copy of such bytes, as records of a trace
 *   tap.c       a process, relays to and from it, and what they record
 *   log_limiter.c  how much of what peers write the commands show (not in the library)
 */
#ifndef DX_HOST_HOST_H
#define DX_HOST_HOST_H

#include "base/heap.h"
#include "host/cutter.h"

#include <duplex/child.h>

#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

/* A descriptor that the loop watches. */
typedef struct dx__watch {
    dx_loop *loop;
    int fd; /* -1: not watched */
    uint32_t events;
    bool always_ready; /* a file: epoll does not take it, and it never makes anybody wait */
    bool may_be_hot;   /* ready() can be tried at any time, and says whether there was something */
    bool (*ready)(struct dx__watch *watch, uint32_t events);
} dx__watch;

/* Something that happens at a time. */
typedef struct dx__due {
    dx__timer timer;
    void (*fire)(struct dx__due *due);
} dx__due;

/* Something that has a turn at the end of a dispatch, when something happened to it. */
typedef struct dx__turn {
    struct dx__turn *next;
    bool waiting;
    void (*take)(struct dx__turn *turn);
} dx__turn;

/* What all things on a loop have: a place in its list, and an end that waits for the dispatch. */
typedef struct dx__thing {
    dx_loop *loop;
    struct dx__thing *prev;
    struct dx__thing *next;
    void (*release)(struct dx__thing *thing); /* frees everything; called once, at a safe moment */
    void (*kill)(struct dx__thing *thing);    /* the loop is going: give up at once */
    void (*guard)(struct dx__thing *thing);   /* there is a new guardian: tell it; may be NULL */
    const struct dx__process *process;        /* that it started; may be NULL */
} dx__thing;

struct dx__post {
    struct dx__post *next;
    void (*function)(void *user);
    void *user;
};

struct dx_loop {
    dx_allocator alloc;
    char *ours; /* a page that is empty in a fork: its copy may do nothing but be freed */
    int epoll;
    dx__watch wake;  /* an eventfd */
    dx__watch clock; /* a timerfd: sleeping with a timeout costs more each time … */
    uint64_t set_to; /* … than setting this, now and then, to the earliest time or one before it */
    uint64_t now;
    uint64_t busy_us; /* how long to look again and again before sleeping … */
    dx__watch *hot;   /* … and where first: what was ready last */
    unsigned looks;
    dx__heap heap;
    dx_timer *again; /* times that were set to now while one fired: for the next dispatch */
    size_t timers;   /* that have room in the heap */
    dx__turn *turns;
    dx__turn **turns_end;
    dx__thing *things;
    dx__thing *graves;
    int guardian;        /* the pipe to it, or -1 … */
    int guardian_other;  /* … and its other end, held so that we never write into nothing */
    dx__watch guarded;   /* its pidfd … */
    pid_t guardian_pid;  /* … and its number */
    bool replacing;      /* a new one is being told everything */
    uint64_t dispatches; /* how many there were */
    bool dispatching;
    bool firing; /* a timer of the user's */
    bool stopped;
    bool freed;    /* from inside a callback: goes when the dispatch ends */
    bool embedded; /* somebody watches our descriptor, and has to be woken by it */
    bool woken;
    pthread_mutex_t lock; /* for the two below: what other threads touch */
    struct dx__post *posts;
    struct dx__post **posts_end;
};

uint64_t dx__clock_us(void);
uint64_t dx__clock_ms(void);
/* False in a forked copy of the process that made the loop: the descriptors and children are the
 * original's. */
bool dx__loop_is_ours(const dx_loop *loop);
/* dx_loop_run(). *ret_freed: somebody has freed the loop. */
dx_status dx__loop_run(dx_loop *loop, bool *ret_freed);
/* So many ms from now; outside of a dispatch the clock is read anew. */
uint64_t dx__loop_later(dx_loop *loop, uint64_t ms);
/* The same descriptor, but not one of 0, 1 and 2, whose numbers others rely on; -1 stays -1. */
int dx__high_fd(int fd);

dx_status dx__watch_start(dx_loop *loop, dx__watch *watch, int fd, uint32_t events);
/* False if that failed, and it is as before. */
bool dx__watch_set(dx__watch *watch, uint32_t events);
/* Of one that is told only what is new (EPOLLET): that it is told what is there now, too. */
bool dx__watch_again(const dx__watch *watch);
void dx__watch_stop(dx__watch *watch); /* the descriptor stays open */
void dx__watch_close(dx__watch *watch);

/* Timers: room is made when a thing is born, so that setting one can't fail. */
dx_status dx__due_init(dx_loop *loop, dx__due *due, void (*fire)(dx__due *due));
void dx__due_set(dx_loop *loop, dx__due *due, uint64_t when);
void dx__due_done(dx_loop *loop, dx__due *due);

/* timer.c: those that wait for the next dispatch are due then. */
void dx__timers_again(dx_loop *loop);

void dx__turn_want(dx_loop *loop, dx__turn *turn);
void dx__turn_drop(dx_loop *loop, dx__turn *turn);

void dx__thing_add(dx_loop *loop, dx__thing *thing);
/* Takes it out of the loop; release() comes now, or when the dispatch ends. */
void dx__thing_end(dx__thing *thing);

/* The object that a part of it lies in. */
#define DX__OWNER(part, type, member) ((type *)((char *)(part)-offsetof(type, member)))

/* "cannot WHAT OBJECT: reason"; returns DX_ERR_SYSTEM. error may be NULL. */
dx_status dx__system_error(dx_error *error, dx_fault fault, const char *what, const char *object,
                           int number);

/* "cannot WHAT: reason", for DX_ERR_INVALID and DX_ERR_NOMEM; returns the status. */
dx_status dx__refused(dx_error *error, dx_status status, const char *what);

/* socket.c */
union dx__address {
    struct sockaddr any;
    struct sockaddr_un local;
    struct sockaddr_in inet;
};
dx_status dx__address_parse(const char *text, union dx__address *ret, socklen_t *ret_len,
                            dx_error *reterr);
void dx__set_nodelay(int fd, const union dx__address *address);

/* socket_owner.c: the user who has the other end of a Unix or loopback TCP connection; false if
 * that can't be told. */
bool dx__socket_owner(int fd, uid_t *ret_uid);

/* link.c, for child.c and plugin.c */
struct dx__link_owner {
    void (*closed)(void *owner, const dx_error *why); /* after on_closed */
    void (*freed)(void *owner);                       /* by whomever, and maybe without that */
    void (*too_late)(void *owner);    /* it did not answer what it must answer in time */
    void (*input_ended)(void *owner); /* instead of the end: the owner will say why, and when */
    void *owner;
    bool never_breaks; /* the other end of the output is held open by us: no SIGPIPE possible */
};
dx_status dx__link_new(dx_loop *loop, int in, int out, const dx_link_config *config,
                       const struct dx__link_owner *owner, dx_link **ret, dx_error *reterr);
/* Sends what is left, then closes the output; goes on reading. */
void dx__link_half_close(dx_link *link);
/* Reads what is there, then ends the conversation because of `why`, and tells all of it, now. */
void dx__link_finish_now(dx_link *link, const dx_error *why);
/* Did the other side ever say something that could be read? */
bool dx__link_has_spoken(const dx_link *link);
/* What its input ended in if that could not be read; fault DX_FAULT_NONE otherwise. */
void dx__link_broke(const dx_link *link, dx_error *ret_error);

/* link.c, for relay.c: writing without SIGPIPE. *masked, false at first, is how. */
ssize_t dx__write_quietly(int fd, dx_text bytes, bool *masked);
bool dx__ignores_sigpipe(void);

/* child.c, for supervisor.c: SIGKILL to its group, at once; everything else comes as it always
 * does. */
void dx__child_kill(dx_child *child);
/* It is gone, and its exit code says that a shell or `env` could not run the program. */
bool dx__child_never_ran(const dx_child *child);

/* A signal to the group that a process leads, known by its pidfd: never another one that got its
 * number. False if the kernel can't do that (before Linux 6.9). */
static inline bool dx__pidfd_signal_group(int pidfd, int number) {
    enum { PROCESS_GROUP = 1 << 2 }; /* PIDFD_SIGNAL_…, which older headers don't have */
    return syscall(SYS_pidfd_send_signal, pidfd, number, NULL, PROCESS_GROUP) == 0 ||
           errno == ESRCH;
}

/* spawn.c */
struct dx__process {
    pid_t pid;
    int pidfd;
    int in;       /* we write its standard input here */
    int in_other; /* the end that the process reads, held so that we never write into nothing */
    int out;
    int errors;
};
/* What is not as with a child. */
struct dx__spawn_form {
    int in;        /* its standard input; -1: a pipe */
    bool joined;   /* its standard error is its output; process.errors is -1 */
    bool session;  /* it leads one of its own, not only a group */
    bool only_env; /* nothing of our environment is handed on */
};
/* form NULL: a child. Without a pipe process.in and in_other are -1. */
dx_status dx__spawn(dx_loop *loop, const dx_child_config *config, const struct dx__spawn_form *form,
                    struct dx__process *ret, dx_error *reterr);

/* process.c */
void dx__process_signal(const struct dx__process *process, int number);
/* To its group, even if it has exited, unless somebody else has reaped it (before Linux 6.9). */
void dx__process_signal_group(const struct dx__process *process, int number);
/* Whether it has, seen without reaping it: the number of its group stays ours. Not known: somebody
 * else has reaped it. */
bool dx__process_has_exited(const struct dx__process *process, siginfo_t *ret_status,
                            bool *ret_known);
/* Waits so long for its exit and takes its number back. False if it lives on. */
bool dx__process_reap(const struct dx__process *process, int most_ms);
void dx__gone_set(dx_gone *gone, bool known, const siginfo_t *status);

/* recorder.c: bytes as they cross a wire in one direction; the recorder's thread cuts them into
 * records, of which peer, run and from are those of `form`. The wire is the recorder's, who must
 * outlive its user. NULL: no memory. */
typedef struct dx__recorder_wire dx__recorder_wire;
dx__recorder_wire *dx__recorder_wire_new(dx_recorder *recorder, dx__cut cut, size_t message_max,
                                         const dx_trace_record *form);
/* No bytes: no more will come. */
void dx__recorder_pass(dx__recorder_wire *wire, dx_text bytes);

/* guardian.c: failing to have one is not fatal. */
/* What it is told. */
struct dx__guardian_note {
    int32_t group;
    int32_t add;
};
/* Where a process that is being started tells it of itself, so that it can't be missed if we are
 * killed before we have; -1: nowhere. dx__guardian_add() all the same, or dx__guardian_remove(). */
int dx__guardian_ear(dx_loop *loop);
void dx__guardian_add(dx_loop *loop, pid_t group);
void dx__guardian_remove(dx_loop *loop, pid_t group);
void dx__guardian_done(dx_loop *loop);

#endif
