#include "host/host.h"

#include <duplex/recorder.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* One write; the pause after one that failed; how long closing waits for the disk. */
enum { PIECE = 64 << 10, RETRY_MS = 200, CLOSE_S = 2 };

/* Several threads touch it, so it is malloc()'s and not a loop's. */
struct dx_recorder {
    dx_trace_writer *writer;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    int fd;
    bool closing;
    bool writing; /* its thread does not hold the lock */
    uint64_t size_max;
    unsigned keep;
    char *path;
    char piece[PIECE];
};

dx_recorder_config dx_recorder_defaults(const char *path) {
    return (dx_recorder_config){
        .path = path, .size_max = (uint64_t)64 << 20, .keep = 3, .waiting_max = (size_t)4 << 20};
}

uint64_t dx_recorder_now_us(void) {
    return dx__clock_us();
}

static int open_file(const char *path) {
    return open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
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

/* Whole lines, as many as fit into a piece, so that files end where lines do. */
static size_t take_piece(dx_recorder *recorder) {
    dx_text waiting = dx_trace_output(recorder->writer);
    size_t len = waiting.len < PIECE ? waiting.len : PIECE;
    if (!len)
        return 0;
    const char *newline = memrchr(waiting.at, '\n', len);
    if (newline)
        len = (size_t)(newline + 1 - waiting.at);
    memcpy(recorder->piece, waiting.at, len);
    return len;
}

/* A disk that failed has its pause, however much comes meanwhile. */
static void pause_writing(dx_recorder *recorder) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += (long)RETRY_MS * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    while (!recorder->closing &&
           pthread_cond_timedwait(&recorder->changed, &recorder->lock, &until) == 0)
        ;
}

static void unlock(void *user) {
    dx_recorder *recorder = user;
    if (!recorder->writing)
        pthread_mutex_unlock(&recorder->lock);
}

/* The lock is held but for the time of the write itself. */
static void *run(void *user) {
    dx_recorder *recorder = user;
    pthread_mutex_lock(&recorder->lock);
    pthread_cleanup_push(unlock, recorder);
    for (;;) {
        size_t len = take_piece(recorder);
        if (!len && recorder->closing)
            break;
        if (!len) {
            pthread_cond_wait(&recorder->changed, &recorder->lock);
            continue;
        }
        recorder->writing = true;
        pthread_mutex_unlock(&recorder->lock);
        ssize_t n = write(recorder->fd, recorder->piece, len);
        pthread_mutex_lock(&recorder->lock);
        recorder->writing = false;
        if (n > 0)
            dx_trace_sent(recorder->writer, (size_t)n);
        else if (recorder->closing)
            break;
        else
            pause_writing(recorder);
        if (recorder->size_max && dx_trace_size(recorder->writer) >= recorder->size_max &&
            dx_trace_rotate(recorder->writer) == DX_OK)
            begin_new_file(recorder);
    }
    pthread_cleanup_pop(1);
    return NULL;
}

static dx_recorder *destroy(dx_recorder *recorder) {
    if (recorder) {
        dx_trace_writer_free(recorder->writer);
        if (recorder->fd >= 0)
            close(recorder->fd);
        free(recorder->path);
        free(recorder);
    }
    return NULL;
}

static dx_status start(dx_recorder *recorder, dx_error *reterr) {
    pthread_condattr_t attributes;
    sigset_t all;
    sigset_t before;
    pthread_mutex_init(&recorder->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&recorder->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    /* Signals of the program are none of its business. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int number = pthread_create(&recorder->thread, NULL, run, recorder);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
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
    recorder->writer = NULL;
    recorder->closing = recorder->writing = false;
    recorder->size_max = config->size_max;
    recorder->keep = config->keep;
    recorder->path = strdup(config->path);
    recorder->fd = recorder->path ? dx__high_fd(open_file(config->path)) : -1;
    dx_status status = !recorder->path ? DX_ERR_NOMEM : DX_OK;
    if (status == DX_OK && recorder->fd < 0)
        status = dx__system_error(reterr, DX_FAULT_SYSTEM, "write to", config->path, errno);
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

static bool joined(dx_recorder *recorder, int seconds) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += seconds;
    return pthread_timedjoin_np(recorder->thread, NULL, &until) == 0;
}

/* A write that hangs is broken off; on a disk that does not even allow that, the recorder is left
 * to its fate rather than making anybody wait. */
void dx_recorder_close(dx_recorder *recorder) {
    if (!recorder)
        return;
    pthread_mutex_lock(&recorder->lock);
    recorder->closing = true;
    pthread_cond_signal(&recorder->changed);
    pthread_mutex_unlock(&recorder->lock);
    bool ended = joined(recorder, CLOSE_S);
    if (!ended) {
        pthread_cancel(recorder->thread);
        ended = joined(recorder, 1);
    }
    if (!ended) {
        pthread_detach(recorder->thread);
        return;
    }
    pthread_cond_destroy(&recorder->changed);
    pthread_mutex_destroy(&recorder->lock);
    destroy(recorder);
}

dx_status dx_recorder_write(dx_recorder *recorder, const dx_trace_record *record) {
    pthread_mutex_lock(&recorder->lock);
    dx_status status = dx_trace_write(recorder->writer, record);
    pthread_cond_signal(&recorder->changed);
    pthread_mutex_unlock(&recorder->lock);
    return status;
}

uint64_t dx_recorder_dropped(dx_recorder *recorder) {
    pthread_mutex_lock(&recorder->lock);
    uint64_t dropped = dx_trace_dropped(recorder->writer);
    pthread_mutex_unlock(&recorder->lock);
    return dropped;
}
