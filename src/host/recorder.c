#include "base/alloc.h"
#include "host/host.h"

#include <duplex/recorder.h>

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

/* From how much on it is written; the pause after a write that failed; how long closing waits for
 * the disk, and for a thread that gets no processor. */
enum { PIECE = 64 << 10, RETRY_MS = 200, CLOSE_S = 2, CLOSE_BUSY_S = 10 };
/* The pause after one that went well, so that not every record wakes a thread and costs a write;
 * and how much ends that pause. */
enum { REST_MS = 10, MUCH = 256 << 10 };
/* An empty queue larger than that is given back when nothing comes. */
enum { KEPT = 1 << 20 };

/* Several threads touch it, so it is malloc()'s and not a loop's. Those who record only copy their
 * records into a queue; its thread takes the queue as a whole, makes lines of it and writes them,
 * while no processor has anything better to do. What is left in the end is written by a thread like
 * any other, since an idle one may not get its turn: unless it is at work just then, it is not even
 * waited for, and the last one to leave frees the recorder. */
struct dx_recorder {
    pthread_mutex_t lock; /* for what stands here, up to the empty line */
    pthread_cond_t changed;
    dx_buf queue;
    uint64_t lost; /* dropped and not yet in the queue … */
    uint64_t lost_at;
    uint64_t dropped; /* … and ever */
    bool closing;
    bool resting;
    bool working;   /* the idle thread has something in its hands */
    bool relieved;  /* it shall take nothing more … */
    bool left;      /* … and has left, … */
    bool abandoned; /* … or is the last one */
    dx__recorder_wire *wires;

    dx_trace_writer *writer;
    dx_buf batch; /* the queue that was taken, and how far it is written */
    size_t written;
    pthread_t thread;
    int fd;
    bool has_lock;
    bool holds_lock;
    bool writing; /* right now */
    bool gave_up; /* the disk takes nothing more … */
    int number;   /* … because of that */
    uint64_t size_max;
    unsigned keep;
    size_t much;
    size_t piece;
    char *path;
};

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
struct entry {
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

/* A pipe that nobody reads is refused, not waited for: whoever opens a recorder may have no way to
 * be interrupted. */
static int open_file(const char *path) {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK, 0600);
    if (fd >= 0 && fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK) < 0) {
        close(fd);
        return -1;
    }
    return fd;
}

/* PATH.2 becomes PATH.3, PATH.1 becomes PATH.2, PATH becomes PATH.1, and a new PATH begins. If that
 * is not possible, the old one simply grows on. */
static void begin_new_file(dx_recorder *recorder) {
    size_t len = strlen(recorder->path) + 16;
    char *from = malloc(len);
    char *to = malloc(len);
    for (unsigned i = recorder->keep; from && to && i > 0; i--) {
        snprintf(to, len, "%s.%u", recorder->path, i);
        snprintf(from, len, i > 1 ? "%s.%u" : "%s", recorder->path, i - 1);
        rename(from, to);
    }
    free(from);
    free(to);
    int fd = dx__high_fd(open_file(recorder->path));
    if (fd < 0)
        return;
    close(recorder->fd);
    recorder->fd = fd;
}

/* The queue. */

/* The bytes of a wire are the text of a record that has nothing else but a time. */
static dx_status put(dx_recorder *recorder, const dx_trace_record *record,
                     dx__recorder_wire *wire) {
    dx_buf *queue = &recorder->queue;
    const dx_text *texts[] = {&record->peer, &record->event, &record->text};
    size_t size = sizeof(struct entry);
    for (int i = 0; i < 3; i++) {
        if (size > queue->max || texts[i]->len > queue->max - size ||
            (i < 2 && texts[i]->len > UINT32_MAX))
            return DX_ERR_LIMIT;
        size += texts[i]->len;
    }
    dx_status status = dx_buf_reserve(queue, size);
    if (status != DX_OK)
        return status;
    struct entry entry = {
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
    char *at = queue->data + queue->len;
    memcpy(at, &entry, sizeof entry);
    at += sizeof entry;
    for (int i = 0; i < 3; i++)
        if (texts[i]->len) {
            memcpy(at, texts[i]->at, texts[i]->len);
            at += texts[i]->len;
        }
    queue->len += size;
    return DX_OK;
}

static dx_status put_lost(dx_recorder *recorder) {
    dx_trace_record record = {
        .kind = DX_TRACE_DROPPED, .time_us = recorder->lost_at, .count = recorder->lost};
    dx_status status = recorder->lost ? put(recorder, &record, NULL) : DX_OK;
    if (status == DX_OK)
        recorder->lost = 0;
    return status;
}

static bool has_much(const dx_recorder *recorder) {
    return recorder->queue.len >= recorder->much;
}

static dx_status add(dx_recorder *recorder, const dx_trace_record *record,
                     dx__recorder_wire *wire) {
    pthread_mutex_lock(&recorder->lock);
    dx_status status = put_lost(recorder);
    if (status == DX_OK)
        status = put(recorder, record, wire);
    if (status != DX_OK) {
        uint64_t count = record->kind == DX_TRACE_DROPPED ? record->count : 1;
        recorder->lost += count;
        recorder->dropped += count;
        recorder->lost_at = record->time_us;
    }
    if (!recorder->resting || has_much(recorder))
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

/* Its thread. */

static void take_lock(dx_recorder *recorder) {
    pthread_mutex_lock(&recorder->lock);
    recorder->holds_lock = true;
}

static void leave_lock(dx_recorder *recorder) {
    recorder->holds_lock = false;
    pthread_mutex_unlock(&recorder->lock);
}

static void unlock(void *user) {
    dx_recorder *recorder = user;
    if (recorder->holds_lock)
        leave_lock(recorder);
}

/* A disk that failed has its pause, however much comes meanwhile. False if we are closing. */
static bool rest(dx_recorder *recorder, long ms, bool failed) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += ms * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    take_lock(recorder);
    recorder->resting = true;
    recorder->working = failed;
    while (!recorder->closing && (failed || !has_much(recorder)) &&
           pthread_cond_timedwait(&recorder->changed, &recorder->lock, &until) == 0)
        ;
    recorder->resting = false;
    bool closing = recorder->closing;
    leave_lock(recorder);
    return !closing;
}

/* False if the disk takes nothing more and we are closing, when it is tried once more. */
static bool write_lines(dx_recorder *recorder) {
    bool closing = false;
    if (recorder->gave_up)
        return false;
    for (dx_text out; (out = dx_trace_output(recorder->writer)).len;) {
        __atomic_store_n(&recorder->writing, true, __ATOMIC_RELAXED);
        ssize_t n = write(recorder->fd, out.at, out.len);
        __atomic_store_n(&recorder->writing, false, __ATOMIC_RELAXED);
        if (n > 0)
            dx_trace_sent(recorder->writer, (size_t)n);
        else if (closing)
            return !(recorder->gave_up = true);
        else {
            recorder->number = n < 0 ? errno : ENOSPC;
            closing = !rest(recorder, RETRY_MS, true);
        }
    }
    if (recorder->size_max && dx_trace_size(recorder->writer) >= recorder->size_max &&
        dx_trace_rotate(recorder->writer) == DX_OK)
        begin_new_file(recorder);
    return true;
}

/* It has become too long as a line, or it is no record at all. */
static void drop(dx_recorder *recorder, const dx_trace_record *record, bool is_told) {
    dx_trace_record dropped = {.kind = DX_TRACE_DROPPED, .time_us = record->time_us, .count = 1};
    if (!is_told)
        (void)dx_trace_write(recorder->writer, &dropped);
    take_lock(recorder);
    recorder->dropped++;
    leave_lock(recorder);
}

/* Once the disk takes nothing more, nothing more is made for it. */
static void write_record(dx_recorder *recorder, const dx_trace_record *record) {
    dx_status status = recorder->gave_up ? DX_BUSY : dx_trace_write(recorder->writer, record);
    if (status != DX_OK)
        drop(recorder, record, status != DX_ERR_INVALID);
    if (dx_trace_output(recorder->writer).len >= recorder->piece)
        (void)write_lines(recorder);
}

static void tell(void *user, dx_trace_kind kind, dx_text text, size_t bytes) {
    const dx__recorder_wire *wire = user;
    dx_trace_record record = {
        .kind = kind,
        .from = wire->from,
        .time_us = wire->time_us,
        .peer = dx_str(wire->peer),
        .run = wire->run,
        .bytes = bytes,
        .text = text,
        .count = kind == DX_TRACE_DROPPED,
    };
    write_record(wire->recorder, &record);
}

static void cut(dx__recorder_wire *wire, const struct entry *entry, dx_text bytes) {
    wire->time_us = entry->time_us;
    if (entry->after_gap)
        dx__cutter_gap(&wire->cutter);
    if (bytes.len)
        dx__cutter_feed(&wire->cutter, bytes);
    else
        dx__cutter_finish(&wire->cutter);
}

static bool write_entry(dx_recorder *recorder, const char *at, size_t *ret_size) {
    struct entry entry;
    memcpy(&entry, at, sizeof entry);
    const char *peer = at + sizeof entry;
    const char *event = peer + entry.peer_len;
    const char *text = event + entry.event_len;
    dx_trace_record record = {
        .kind = (dx_trace_kind)entry.kind,
        .from = (dx_trace_from)entry.from,
        .time_us = entry.time_us,
        .run = entry.run,
        .bytes = entry.bytes,
        .count = entry.count,
        .checked = entry.checked,
        .peer = {entry.has_peer ? peer : NULL, entry.peer_len},
        .event = {entry.has_event ? event : NULL, entry.event_len},
        .text = {entry.has_text ? text : NULL, entry.text_len},
    };
    *ret_size = (size_t)(text - at) + entry.text_len;
    if (entry.wire)
        cut(entry.wire, &entry, record.text);
    else
        write_record(recorder, &record);
    return !recorder->gave_up;
}

/* Without the lock. */
static bool is_closing(const dx_recorder *recorder) {
    return __atomic_load_n(&recorder->closing, __ATOMIC_RELAXED);
}

/* False if the disk takes nothing more, or (idle) somebody else is to write the rest. */
static bool write_batch(dx_recorder *recorder, bool idle) {
    for (size_t size; recorder->written < recorder->batch.len; recorder->written += size) {
        if (idle && is_closing(recorder))
            return false;
        if (!write_entry(recorder, recorder->batch.data + recorder->written, &size))
            return false;
    }
    recorder->written = recorder->batch.len = 0;
    return write_lines(recorder);
}

/* False if another thread does the rest. */
static bool begin(dx_recorder *recorder, bool idle) {
    take_lock(recorder);
    bool goes_on = !idle || !recorder->relieved;
    recorder->working |= goes_on;
    leave_lock(recorder);
    return goes_on;
}

/* Waits until there is something, and takes it. False if nothing more comes, or not for this one.
 */
static bool take_batch(dx_recorder *recorder, bool idle) {
    take_lock(recorder);
    recorder->working = false;
    while (!recorder->queue.len && !recorder->lost && !recorder->closing) {
        if (recorder->queue.cap > KEPT)
            dx_buf_done(&recorder->queue);
        if (recorder->batch.cap > KEPT)
            dx_buf_done(&recorder->batch);
        pthread_cond_wait(&recorder->changed, &recorder->lock);
    }
    if (idle && recorder->relieved) {
        leave_lock(recorder);
        return false;
    }
    recorder->working = true;
    dx_buf taken = recorder->queue;
    recorder->queue = recorder->batch;
    recorder->batch = taken;
    (void)put_lost(recorder); /* into the queue that is empty now */
    leave_lock(recorder);
    return recorder->batch.len || recorder->queue.len;
}

static void write_all(dx_recorder *recorder, bool idle) {
    pthread_cleanup_push(unlock, recorder);
    bool good = begin(recorder, idle) && write_lines(recorder) && write_batch(recorder, idle);
    while (good && take_batch(recorder, idle)) {
        good = write_batch(recorder, idle);
        (void)rest(recorder, REST_MS, false);
    }
    pthread_cleanup_pop(1);
}

static dx_recorder *destroy(dx_recorder *recorder);

static void *run_idle(void *user) {
    dx_recorder *recorder = user;
    struct sched_param none = {.sched_priority = 0};
    sched_setscheduler(0, SCHED_IDLE, &none);
    write_all(recorder, true);
    pthread_mutex_lock(&recorder->lock);
    recorder->left = true;
    bool is_last = recorder->abandoned;
    pthread_mutex_unlock(&recorder->lock);
    if (is_last)
        destroy(recorder);
    return NULL;
}

static void *run(void *user) {
    write_all(user, false);
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
    wire->cutter.tell = tell;
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
    dx_buf_done(&recorder->queue);
    dx_buf_done(&recorder->batch);
    if (recorder->fd >= 0)
        close(recorder->fd);
    recorder->fd = -1;
}

static dx_recorder *destroy(dx_recorder *recorder) {
    if (recorder) {
        if (recorder->has_lock) {
            pthread_cond_destroy(&recorder->changed);
            pthread_mutex_destroy(&recorder->lock);
        }
        empty(recorder);
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

dx_status dx_recorder_open(const dx_recorder_config *config, dx_recorder **ret_recorder,
                           dx_error *reterr) {
    dx_trace_writer_config writer = dx_trace_writer_defaults();
    struct timespec wall;
    if (!config->path)
        return DX_ERR_INVALID;
    dx_recorder *recorder = malloc(sizeof *recorder);
    if (!recorder)
        return DX_ERR_NOMEM;
    *recorder = (dx_recorder){.size_max = config->size_max, .keep = config->keep};
    recorder->much = config->waiting_max / 4 < MUCH ? config->waiting_max / 4 : MUCH;
    recorder->piece = config->waiting_max / 4 < PIECE ? config->waiting_max / 4 : PIECE;
    dx_buf_init(&recorder->queue, config->waiting_max, NULL);
    dx_buf_init(&recorder->batch, config->waiting_max, NULL);
    recorder->path = strdup(config->path);
    recorder->fd = recorder->path ? dx__high_fd(open_file(config->path)) : -1;
    dx_status status = !recorder->path ? DX_ERR_NOMEM : DX_OK;
    if (status == DX_OK && recorder->fd < 0)
        status = dx__system_error(reterr, DX_FAULT_SYSTEM, "write to", config->path, errno);
    if (!is_file(recorder->fd))
        recorder->size_max = 0;
    clock_gettime(CLOCK_REALTIME, &wall);
    writer.waiting_max = config->waiting_max;
    writer.redact = config->redact;
    writer.start_us = dx_recorder_now_us();
    writer.unix_ms = (uint64_t)wall.tv_sec * 1000 + (uint64_t)wall.tv_nsec / 1000000;
    if (status == DX_OK)
        status = dx_trace_writer_new(&writer, &recorder->writer);
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
    return pthread_timedjoin_np(recorder->thread, NULL, &time) == 0;
}

/* A disk that hangs is waited for less long than a processor that is busy. */
static bool joined_in_time(dx_recorder *recorder, time_t from) {
    bool ended = joined(recorder, from + CLOSE_S);
    for (int s = CLOSE_S; !ended && s < CLOSE_BUSY_S; s++) {
        if (__atomic_load_n(&recorder->writing, __ATOMIC_RELAXED))
            break;
        ended = joined(recorder, from + s + 1);
    }
    return ended;
}

static bool is_done(const dx_recorder *recorder) {
    return recorder->gave_up || (!recorder->batch.len && !recorder->queue.len && !recorder->lost);
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
    clock_gettime(CLOCK_REALTIME, &now);
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
