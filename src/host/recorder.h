/*
 * What recorder.c and its thread (recorder_thread.c) share. Several threads touch it, so it is
 * malloc()'s and not a loop's. Those who record only copy their records into a queue; its thread
 * takes a block of them after the other, makes lines of it and writes them, while no processor has
 * anything better to do. What is left in the end is written by a thread like any other, since an
 * idle one may not get its turn: unless it is at work just then, it is not even waited for, and the
 * last one to leave frees the recorder.
 */
#ifndef DX_HOST_RECORDER_H
#define DX_HOST_RECORDER_H

#include "host/backlog.h"
#include "host/host.h"

#include <duplex/recorder.h>

struct dx_recorder {
    pthread_mutex_t lock; /* for what stands here, up to the empty line */
    pthread_cond_t changed;
    dx__backlog queue;
    uint64_t lost; /* dropped and not yet in the queue … */
    uint64_t lost_at;
    uint64_t dropped; /* … and ever */
    bool closing;
    bool resting;
    uint64_t seen;  /* of what was added, at the last look */
    bool working;   /* the idle thread has something in its hands */
    bool relieved;  /* it shall take nothing more … */
    bool left;      /* … and has left, … */
    bool abandoned; /* … or is the last one */
    dx__recorder_wire *wires;

    dx_trace_writer *writer;
    dx__block *batch; /* of the queue, and how far it is written */
    size_t written;
    pthread_t thread;
    pid_t tid; /* the system's number of it */
    int fd;
    bool has_lock;
    bool holds_lock;
    bool writing;  /* right now */
    uint64_t sent; /* bytes that the disk took */
    bool gave_up;  /* the disk takes nothing more … */
    int number;    /* … because of that */
    uint64_t size_max;
    unsigned keep;
    size_t piece;
    char *path;
    char *noise; /* where the first text of a plugin goes that is not a message; NULL: nowhere */
};

/* Its room. It must stay valid after dx_recorder_close(), as a thread may outlive that. */
enum { DX__NOISE = 100 };

/* Bytes of one direction are queued as they crossed the wire; its thread cuts them. */
struct dx__recorder_wire {
    dx__recorder_wire *next;
    dx_recorder *recorder;
    dx__cutter cutter;
    dx_trace_from from;
    unsigned run;
    char *peer;
    uint64_t time_us;
    bool has_gap; /* something is missing before what comes next */
};

/* A record in the queue, or (text) bytes of a wire; behind it stand its three texts. */
struct dx__entry {
    dx__recorder_wire *wire;
    uint64_t time_us;
    uint64_t run;
    uint64_t bytes;
    uint64_t count;
    size_t text_len;
    uint32_t peer_len;
    uint32_t event_len;
    uint8_t kind;
    uint8_t from;
    bool checked;
    bool after_gap;
    bool has_peer;
    bool has_event;
    bool has_text;
};

/* With the lock: what was dropped gets into the queue; whether so much waits that it must be
 * written, whatever comes meanwhile. */
dx_status dx__recorder_put_lost(dx_recorder *recorder);
bool dx__recorder_has_much(const dx_recorder *recorder);

/* recorder_thread.c: opens a new file that only we can read, not waiting for anybody (DX__FOREIGN:
 * it, or a link to it, is another user's); writes what comes, until nothing more does or (idle)
 * another thread is to do it; what a wire's cutter tells goes through the third. */
enum { DX__FOREIGN = -2 };
int dx__recorder_open_file(const char *path);
void dx__recorder_work(dx_recorder *recorder, bool idle);
void dx__recorder_tell(void *user, dx_trace_kind kind, dx_text text, size_t bytes);

#endif
