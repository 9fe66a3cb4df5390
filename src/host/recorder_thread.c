#include "host/recorder.h"

#include "frame/noise.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

/* The pause after a write that failed; the one after a write that went well, so that not every
 * record wakes a thread and costs a write: if so much comes meanwhile, there is another one. */
enum { RETRY_MS = 200, REST_MS = 10, HEAVY = 1 << 20 };

/* Files. */

/* Two that write to one file would leave neither's trace. Where files can't be locked they are not.
 */
static bool is_ours_alone(int fd) {
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
        return true;
    errno = EBUSY;
    return false;
}

static int fail_open(int fd, int result) {
    int number = errno;
    close(fd);
    errno = number;
    return result;
}

/* The link is read through a descriptor, so that nobody exchanges it after the look at its owner.
 * The links of /proc lead to what has no name (/dev/stdout to a pipe), and nobody can make one. */
static int follow(int folder, const char *path, unsigned links_max) {
    enum { FLAGS = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK };
    int fd = openat(folder, path, FLAGS | O_NOFOLLOW, 0600);
    if (fd >= 0 || errno != ELOOP || !links_max)
        return fd;
    struct stat stat;
    struct statfs system;
    int link = openat(folder, path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (link < 0)
        return -1;
    if (fstat(link, &stat) < 0 || fstatfs(link, &system) < 0)
        return fail_open(link, -1);
    if (stat.st_uid != 0 && stat.st_uid != geteuid()) {
        errno = EPERM;
        return fail_open(link, DX__FOREIGN);
    }
    char target[4096];
    ssize_t len = readlinkat(link, "", target, sizeof target - 1);
    close(link);
    if (system.f_type == PROC_SUPER_MAGIC)
        return openat(folder, path, FLAGS, 0600);
    if (len < 0)
        return -1;
    target[len] = '\0';
    /* What it names is to be found from the folder that it lies in. */
    const char *name = strrchr(path, '/');
    char *above = name ? strndup(path, (size_t)(name - path) + 1) : NULL;
    int from = above ? openat(folder, above, O_PATH | O_DIRECTORY | O_CLOEXEC) : folder;
    free(above);
    if (name && from < 0)
        return -1;
    fd = follow(from, target, links_max - 1);
    return from == folder ? fd : fail_open(from, fd);
}

/* A pipe that nobody reads is refused, not waited for: whoever opens a recorder may have no way to
 * be interrupted. What was crossing the wire is for nobody else's eyes, whoever made the file. */
int dx__recorder_open_file(const char *path) {
    int fd = follow(AT_FDCWD, path, 8);
    if (fd < 0)
        return fd;
    bool good = fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK) == 0;
    struct stat stat;
    if (!good || fstat(fd, &stat) < 0 || !S_ISREG(stat.st_mode))
        return good ? fd : fail_open(fd, -1);
    if (!is_ours_alone(fd))
        return fail_open(fd, -1);
    /* Its owner could read it, whatever its mode is. */
    if (stat.st_uid != geteuid()) {
        errno = EPERM;
        return fail_open(fd, DX__FOREIGN);
    }
    return fchmod(fd, 0600) == 0 && ftruncate(fd, 0) == 0 ? fd : fail_open(fd, -1);
}

/* PATH.2 becomes PATH.3, PATH.1 becomes PATH.2, PATH becomes PATH.1, and a new PATH begins; where
 * none is kept, PATH is emptied. If that is not possible, the old one simply grows on. */
static void begin_new_file(dx_recorder *recorder) {
    if (!recorder->keep) {
        (void)!ftruncate(recorder->fd, 0);
        return;
    }
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
    int fd = dx__high_fd(dx__recorder_open_file(recorder->path));
    if (fd < 0)
        return;
    close(recorder->fd);
    recorder->fd = fd;
}

/* The lock, and pauses. */

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

static struct timespec in_ms(long ms) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += ms * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    return until;
}

/* A disk that failed has its pause, however much comes meanwhile. False if we are closing. */
static bool pause_after_failure(dx_recorder *recorder) {
    struct timespec until = in_ms(RETRY_MS);
    take_lock(recorder);
    recorder->resting = true;
    while (!recorder->closing &&
           pthread_cond_timedwait(&recorder->changed, &recorder->lock, &until) == 0)
        ;
    recorder->resting = false;
    bool closing = recorder->closing;
    leave_lock(recorder);
    return !closing;
}

static bool must_go_on(const dx_recorder *recorder) {
    return recorder->closing || dx__recorder_has_much(recorder);
}

static bool make_spare(dx_recorder *recorder) {
    leave_lock(recorder);
    dx__block *block = dx__block_new();
    take_lock(recorder);
    if (block)
        dx__backlog_put_spare(&recorder->queue, block);
    return block;
}

static void rest_once(dx_recorder *recorder) {
    struct timespec until = in_ms(REST_MS);
    int number = 0;
    while (!must_go_on(recorder) && number == 0) {
        if (!dx__backlog_wants_spare(&recorder->queue) || !make_spare(recorder))
            number = pthread_cond_timedwait(&recorder->changed, &recorder->lock, &until);
    }
}

/* In a flood what comes is only kept, and memory made for it: to write it would take the processors
 * from those who talk. It ends with the flood, or when half of what may wait does. */
static void rest(dx_recorder *recorder) {
    take_lock(recorder);
    recorder->resting = true;
    recorder->working = false;
    for (bool rested = false; !must_go_on(recorder); rested = true) {
        bool is_heavy = recorder->queue.added - recorder->seen >= HEAVY;
        bool has_block = recorder->queue.first != recorder->queue.last;
        recorder->seen = recorder->queue.added;
        if (!is_heavy && (rested || has_block))
            break;
        rest_once(recorder);
    }
    recorder->resting = false;
    leave_lock(recorder);
}

/* Writing. */

/* Not before there is something for it: the last file is never an empty one. */
static void rotate(dx_recorder *recorder) {
    if (recorder->size_max && dx_trace_output(recorder->writer).len &&
        dx_trace_size(recorder->writer) >= recorder->size_max &&
        dx_trace_rotate(recorder->writer) == DX_OK)
        begin_new_file(recorder);
}

/* False if the disk takes nothing more and we are closing, when it is tried once more. */
static bool write_lines(dx_recorder *recorder) {
    bool closing = false;
    if (recorder->gave_up)
        return false;
    rotate(recorder);
    for (dx_text out; (out = dx_trace_output(recorder->writer)).len;) {
        __atomic_store_n(&recorder->writing, true, __ATOMIC_RELAXED);
        ssize_t n = write(recorder->fd, out.at, out.len);
        __atomic_store_n(&recorder->writing, false, __ATOMIC_RELAXED);
        if (n > 0) {
            dx_trace_sent(recorder->writer, (size_t)n);
            __atomic_add_fetch(&recorder->sent, (uint64_t)n, __ATOMIC_RELAXED);
        } else if (closing) {
            return !(recorder->gave_up = true);
        } else {
            recorder->number = n < 0 ? errno : ENOSPC;
            closing = !pause_after_failure(recorder);
        }
    }
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

/* The first text that is not a message, nor looks like one. */
static void keep_noise(dx_recorder *recorder, dx_trace_kind kind, dx_text text) {
    if ((kind != DX_TRACE_MESSAGE && kind != DX_TRACE_STRAY) || !dx__is_noise(text))
        return;
    snprintf(recorder->noise, DX__NOISE, "%.*s", (int)(text.len < DX__NOISE ? text.len : DX__NOISE),
             text.at);
    recorder->noise = NULL;
}

void dx__recorder_tell(void *user, dx_trace_kind kind, dx_text text, size_t bytes) {
    const dx__recorder_wire *wire = user;
    if (wire->recorder->noise && wire->from == DX_TRACE_PLUGIN)
        keep_noise(wire->recorder, kind, text);
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

static void cut(dx__recorder_wire *wire, const struct dx__entry *entry, dx_text bytes) {
    wire->time_us = entry->time_us;
    if (entry->after_gap)
        dx__cutter_gap(&wire->cutter);
    if (bytes.len)
        dx__cutter_feed(&wire->cutter, bytes);
    else
        dx__cutter_finish(&wire->cutter);
}

static bool write_entry(dx_recorder *recorder, const char *at, size_t *ret_size) {
    struct dx__entry entry;
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

static void give_back(dx_recorder *recorder) {
    take_lock(recorder);
    dx__backlog_give_back(&recorder->queue, recorder->batch);
    recorder->batch = NULL;
    leave_lock(recorder);
}

/* False if the disk takes nothing more, or (idle) somebody else is to write the rest. */
static bool write_batch(dx_recorder *recorder, bool idle) {
    const dx__block *batch = recorder->batch;
    for (size_t size; batch && recorder->written < batch->len; recorder->written += size) {
        if (idle && is_closing(recorder))
            return false;
        if (!write_entry(recorder, batch->data + recorder->written, &size))
            return false;
    }
    give_back(recorder);
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
        dx__backlog_trim(&recorder->queue);
        pthread_cond_wait(&recorder->changed, &recorder->lock);
    }
    if (idle && recorder->relieved) {
        leave_lock(recorder);
        return false;
    }
    recorder->working = true;
    recorder->batch = dx__backlog_take(&recorder->queue);
    recorder->written = 0;
    (void)dx__recorder_put_lost(recorder); /* else later */
    bool has_more = recorder->batch || recorder->queue.len || !recorder->closing;
    leave_lock(recorder);
    return has_more;
}

void dx__recorder_work(dx_recorder *recorder, bool idle) {
    pthread_cleanup_push(unlock, recorder);
    bool good = begin(recorder, idle) && write_lines(recorder) && write_batch(recorder, idle);
    while (good && take_batch(recorder, idle)) {
        good = write_batch(recorder, idle);
        rest(recorder);
    }
    pthread_cleanup_pop(1);
}
