#include "host/recorder.h"

#include "base/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* From how much on it is written; how long closing waits for the disk, and for a thread that gets
 * no processor. */
enum { PIECE = 64 << 10, CLOSE_S = 2, CLOSE_BUSY_S = 10 };

dx_recorder_config dx_recorder_defaults(const char *path) {
    return (dx_recorder_config){
        .path = path, .size_max = (uint64_t)64 << 20, .keep = 3, .waiting_max = (size_t)4 << 20};
}

uint64_t dx_recorder_now_us(void) {
    return dx__clock_us();
}

/* Only a file can be renamed and begun anew. A device (/dev/null), a pipe or a terminal stays what
 * it is: to rename it would take it away from all others. */
static bool is_file(int fd) {
    struct stat stat;
    return fstat(fd, &stat) == 0 && S_ISREG(stat.st_mode);
}

/* The queue. */

/* The bytes of a wire are the text of a record that has nothing else but a time. */
static dx_status put(dx_recorder *recorder, const dx_trace_record *record,
                     dx__recorder_wire *wire) {
    size_t max = recorder->queue.max;
    const dx_text *texts[] = {&record->peer, &record->event, &record->text};
    size_t size = sizeof(struct dx__entry);
    for (int i = 0; i < 3; i++) {
        if (size > max || texts[i]->len > max - size || (i < 2 && texts[i]->len > UINT32_MAX))
            return DX_ERR_LIMIT;
        size += texts[i]->len;
    }
    char *at;
    dx_status status = dx__backlog_add(&recorder->queue, size, &at);
    if (status != DX_OK)
        return status;
    struct dx__entry entry = {
        .wire = wire,
        .after_gap = wire && wire->has_gap,
        .time_us = record->time_us,
        .run = record->run,
        .bytes = record->bytes,
        .count = record->count,
        .text_len = record->text.len,
        .peer_len = (uint32_t)record->peer.len,
        .event_len = (uint32_t)record->event.len,
        .kind = (uint8_t)record->kind,
        .from = (uint8_t)record->from,
        .checked = record->checked,
        .has_peer = record->peer.at,
        .has_event = record->event.at,
        .has_text = record->text.at,
    };
    memcpy(at, &entry, sizeof entry);
    at += sizeof entry;
    for (int i = 0; i < 3; i++)
        if (texts[i]->len) {
            memcpy(at, texts[i]->at, texts[i]->len);
            at += texts[i]->len;
        }
    return DX_OK;
}

dx_status dx__recorder_put_lost(dx_recorder *recorder) {
    dx_trace_record record = {
        .kind = DX_TRACE_DROPPED, .time_us = recorder->lost_at, .count = recorder->lost};
    dx_status status = recorder->lost ? put(recorder, &record, NULL) : DX_OK;
    if (status == DX_OK)
        recorder->lost = 0;
    return status;
}

bool dx__recorder_has_much(const dx_recorder *recorder) {
    return recorder->queue.len >= recorder->queue.max / 2;
}

static dx_status add(dx_recorder *recorder, const dx_trace_record *record,
                     dx__recorder_wire *wire) {
    pthread_mutex_lock(&recorder->lock);
    dx_status status = dx__recorder_put_lost(recorder);
    if (status == DX_OK)
        status = put(recorder, record, wire);
    if (status != DX_OK) {
        uint64_t count = record->kind == DX_TRACE_DROPPED ? record->count : 1;
        recorder->lost += count;
        recorder->dropped += count;
        recorder->lost_at = record->time_us;
    }
    if (!recorder->resting || dx__recorder_has_much(recorder) ||
        dx__backlog_wants_spare(&recorder->queue))
        pthread_cond_signal(&recorder->changed);
    pthread_mutex_unlock(&recorder->lock);
    return status == DX_ERR_LIMIT ? DX_BUSY : status;
}

dx_status dx_recorder_write(dx_recorder *recorder, const dx_trace_record *record) {
    return add(recorder, record, NULL);
}

void dx__recorder_pass(dx__recorder_wire *wire, dx_text bytes) {
    dx_trace_record record = {.time_us = dx__clock_us(), .text = bytes};
    wire->has_gap = add(wire->recorder, &record, wire) != DX_OK;
}

uint64_t dx_recorder_dropped(dx_recorder *recorder) {
    pthread_mutex_lock(&recorder->lock);
    uint64_t dropped = recorder->dropped;
    pthread_mutex_unlock(&recorder->lock);
    return dropped;
}

static dx_recorder *destroy(dx_recorder *recorder);

static void *run_idle(void *user) {
    dx_recorder *recorder = user;
    struct sched_param none = {.sched_priority = 0};
    __atomic_store_n(&recorder->tid, gettid(), __ATOMIC_RELAXED);
    sched_setscheduler(0, SCHED_IDLE, &none);
    dx__recorder_work(recorder, true);
    pthread_mutex_lock(&recorder->lock);
    recorder->left = true;
    bool is_last = recorder->abandoned;
    pthread_mutex_unlock(&recorder->lock);
    if (is_last)
        destroy(recorder);
    return NULL;
}

static void *run(void *user) {
    dx_recorder *recorder = user;
    __atomic_store_n(&recorder->tid, gettid(), __ATOMIC_RELAXED);
    dx__recorder_work(recorder, false);
    return NULL;
}

dx__recorder_wire *dx__recorder_wire_new(dx_recorder *recorder, dx__cut cut, size_t message_max,
                                         const dx_trace_record *form) {
    dx_allocator alloc = dx__allocator(NULL);
    dx__recorder_wire *wire = malloc(sizeof *wire);
    char *peer = form->peer.at ? strndup(form->peer.at, form->peer.len) : NULL;
    if (!wire || (form->peer.at && !peer)) {
        free(wire);
        free(peer);
        return NULL;
    }
    *wire = (dx__recorder_wire){
        .recorder = recorder, .from = form->from, .run = form->run, .peer = peer};
    dx__cutter_init(&wire->cutter, cut, message_max, &alloc);
    wire->cutter.tell = dx__recorder_tell;
    wire->cutter.user = wire;
    pthread_mutex_lock(&recorder->lock);
    wire->next = recorder->wires;
    recorder->wires = wire;
    pthread_mutex_unlock(&recorder->lock);
    return wire;
}

static void destroy_wires(dx_recorder *recorder) {
    while (recorder->wires) {
        dx__recorder_wire *wire = recorder->wires;
        recorder->wires = wire->next;
        dx__cutter_done(&wire->cutter);
        free(wire->peer);
        free(wire);
    }
}

/* All but what a thread needs that is only told to leave. */
static void empty(dx_recorder *recorder) {
    destroy_wires(recorder);
    recorder->writer = dx_trace_writer_free(recorder->writer);
    if (recorder->has_lock) {
        pthread_mutex_lock(&recorder->lock);
        dx__backlog_give_back(&recorder->queue, recorder->batch);
        dx__backlog_done(&recorder->queue);
        pthread_mutex_unlock(&recorder->lock);
    }
    recorder->batch = NULL;
    if (recorder->fd >= 0)
        close(recorder->fd);
    recorder->fd = -1;
}

static dx_recorder *destroy(dx_recorder *recorder) {
    if (recorder) {
        empty(recorder);
        if (recorder->has_lock) {
            pthread_cond_destroy(&recorder->changed);
            pthread_mutex_destroy(&recorder->lock);
        }
        free(recorder->path);
        free(recorder);
    }
    return NULL;
}

/* Signals of the program are none of its business. */
static int start_thread(dx_recorder *recorder, void *(*main)(void *user)) {
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int number = pthread_create(&recorder->thread, NULL, main, recorder);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return number;
}

static dx_status start(dx_recorder *recorder, dx_error *reterr) {
    pthread_condattr_t attributes;
    pthread_mutex_init(&recorder->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&recorder->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    recorder->has_lock = true;
    int number = start_thread(recorder, run_idle);
    return number ? dx__system_error(reterr, DX_FAULT_SYSTEM, "start a thread", NULL, number)
                  : DX_OK;
}

/* After all that can be refused: it empties what is there already. */
static dx_status open_file(dx_recorder *recorder, dx_error *reterr) {
    recorder->fd = dx__high_fd(dx__recorder_open_file(recorder->path));
    if (recorder->fd < 0)
        return dx__system_error(
            reterr, DX_FAULT_SYSTEM,
            recorder->fd == DX__FOREIGN ? "record to a file or symbolic link owned by another user:"
            : errno == EBUSY            ? "record to a file that another process records to:"
                                        : "write to",
            recorder->path, errno);
    if (!is_file(recorder->fd))
        recorder->size_max = 0;
    return DX_OK;
}

static dx_status refuse(dx_error *reterr, dx_status status) {
    return dx__refused(reterr, status, "make a recorder with this configuration");
}

dx_status dx_recorder_open(const dx_recorder_config *config, dx_recorder **ret_recorder,
                           dx_error *reterr) {
    dx_trace_writer_config writer = dx_trace_writer_defaults();
    struct timespec wall;
    dx_recorder *recorder = config->path ? malloc(sizeof *recorder) : NULL;
    if (!recorder)
        return refuse(reterr, config->path ? DX_ERR_NOMEM : DX_ERR_INVALID);
    *recorder = (dx_recorder){.size_max = config->size_max, .keep = config->keep};
    recorder->piece = config->waiting_max / 4 < PIECE ? config->waiting_max / 4 : PIECE;
    recorder->queue.max = config->waiting_max;
    recorder->path = strdup(config->path);
    recorder->fd = -1;
    clock_gettime(CLOCK_REALTIME, &wall);
    writer.waiting_max = config->waiting_max;
    writer.redact = config->redact;
    writer.start_us = dx_recorder_now_us();
    writer.unix_ms = (uint64_t)wall.tv_sec * 1000 + (uint64_t)wall.tv_nsec / 1000000;
    dx_status status =
        recorder->path ? dx_trace_writer_new(&writer, &recorder->writer) : DX_ERR_NOMEM;
    if (status != DX_OK)
        (void)refuse(reterr, status);
    if (status == DX_OK)
        status = open_file(recorder, reterr);
    if (status == DX_OK)
        status = start(recorder, reterr);
    if (status != DX_OK)
        destroy(recorder);
    else
        *ret_recorder = recorder;
    return status;
}

static bool joined(dx_recorder *recorder, time_t until) {
    struct timespec time = {.tv_sec = until};
    return pthread_clockjoin_np(recorder->thread, NULL, CLOCK_MONOTONIC, &time) == 0;
}

/* Whether it is the disk that holds a write up. A thread that is ready to run only lacks a
 * processor. */
static bool hangs(const dx_recorder *recorder) {
    char path[64];
    char text[128];
    if (!__atomic_load_n(&recorder->writing, __ATOMIC_RELAXED))
        return false;
    snprintf(path, sizeof path, "/proc/self/task/%d/stat",
             (int)__atomic_load_n(&recorder->tid, __ATOMIC_RELAXED));
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t len = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    if (fd >= 0)
        close(fd);
    text[len > 0 ? len : 0] = '\0';
    const char *name_end = strrchr(text, ')');
    return !name_end || strncmp(name_end, ") R", 3) != 0;
}

/* A disk that takes nothing is waited for less long than one that is slow, or a processor that is
 * busy. */
static bool joined_in_time(dx_recorder *recorder, time_t from) {
    uint64_t before = __atomic_load_n(&recorder->sent, __ATOMIC_RELAXED);
    bool ended = joined(recorder, from + CLOSE_S);
    for (int s = CLOSE_S; !ended && s < CLOSE_BUSY_S; s++) {
        uint64_t sent = __atomic_load_n(&recorder->sent, __ATOMIC_RELAXED);
        if (sent == before && hangs(recorder))
            break;
        before = sent;
        ended = joined(recorder, from + s + 1);
    }
    return ended;
}

static bool is_done(const dx_recorder *recorder) {
    return recorder->gave_up || (!recorder->batch && !recorder->queue.len && !recorder->lost);
}

/* The idle thread is told to leave; if it has nothing in its hands, nobody waits for it. */
static bool relieve(dx_recorder *recorder) {
    pthread_mutex_lock(&recorder->lock);
    __atomic_store_n(&recorder->closing, true, __ATOMIC_RELAXED);
    bool relieved = recorder->relieved = !recorder->working;
    pthread_cond_signal(&recorder->changed);
    pthread_mutex_unlock(&recorder->lock);
    if (relieved)
        pthread_detach(recorder->thread);
    return relieved;
}

/* Frees it, unless the idle thread is to do that, to which nothing but the lock is left. */
static void leave(dx_recorder *recorder, bool relieved) {
    empty(recorder);
    pthread_mutex_lock(&recorder->lock);
    bool is_last = !relieved || recorder->left;
    recorder->abandoned = !is_last;
    pthread_mutex_unlock(&recorder->lock);
    if (is_last)
        destroy(recorder);
}

/* A write that hangs is broken off; on a disk that does not even allow that, the recorder is left
 * to its fate rather than making anybody wait. */
dx_status dx_recorder_close(dx_recorder *recorder, dx_error *reterr) {
    if (!recorder)
        return DX_OK;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    time_t from = now.tv_sec + 1; /* the first second has begun */
    bool relieved = relieve(recorder);
    bool ended = relieved || joined_in_time(recorder, from);
    if (ended && (relieved || !is_done(recorder)) && start_thread(recorder, run) == 0)
        ended = joined_in_time(recorder, from);
    if (!ended) {
        pthread_cancel(recorder->thread);
        ended = joined(recorder, from + CLOSE_BUSY_S + 1);
    }
    bool good = ended && is_done(recorder) && !recorder->gave_up;
    dx_status status = good ? DX_OK
                            : dx__system_error(reterr, DX_FAULT_SYSTEM, "write to", recorder->path,
                                               recorder->number ? recorder->number : ETIMEDOUT);
    if (ended)
        leave(recorder, relieved);
    else
        pthread_detach(recorder->thread);
    return status;
}
