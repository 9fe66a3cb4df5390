/* A trace on a disk that hangs, or is full: F75. */
#include "faults/faults.h"
#include "faults/wrap.h"

#include <duplex/recorder.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { ROUND_TRIPS = 2000 };

static char folder[] = "/tmp/duplex-f75-XXXXXX";
static char path[64];

static void make_folder(void) {
    if (!mkdtemp(folder))
        fail("cannot make %s", folder);
    snprintf(path, sizeof path, "%s/trace", folder);
}

static void remove_folder(void) {
    unlink(path);
    rmdir(folder);
}

/* What a trace tells of itself. */
struct told {
    uint64_t messages, dropped, bad;
};

static void look_at(dx_trace_reader *reader, struct told *told) {
    dx_trace_record record;
    dx_status status;
    while ((status = dx_trace_next(reader, &record, NULL)) != DX_AGAIN && status != DX_CLOSED)
        if (status == DX_OK) {
            told->messages += record.kind == DX_TRACE_MESSAGE;
            told->dropped += record.kind == DX_TRACE_DROPPED ? record.count : 0;
        } else
            told->bad++;
}

/* Reads to the end, or as long as somebody else may still write. */
static struct told read_trace(int fd) {
    dx_trace_reader_config config = dx_trace_reader_defaults();
    dx_trace_reader *reader = NULL;
    struct told told = {0};
    static char piece[65536];
    EXPECT(dx_trace_reader_new(&config, &reader), ==, DX_OK);
    for (ssize_t n; (n = read(fd, piece, sizeof piece)) > 0;)
        for (size_t at = 0, used; at < (size_t)n; at += used) {
            dx_trace_feed(reader, piece + at, (size_t)n - at, &used);
            look_at(reader, &told);
        }
    dx_trace_finish(reader);
    look_at(reader, &told);
    dx_trace_reader_free(reader);
    return told;
}

static dx_recorder *open_recorder(const char *where) {
    dx_recorder_config config = dx_recorder_defaults(where);
    config.waiting_max = 100000;
    dx_recorder *recorder = NULL;
    dx_error error = {0};
    if (dx_recorder_open(&config, &recorder, &error) != DX_OK)
        fail("expected a recorder, got %s", error.phrase);
    return recorder;
}

static int close_recorder(dx_recorder *recorder, unsigned at_most_ms) {
    uint64_t begin = now_ms();
    dx_error error = {0};
    dx_status status = dx_recorder_close(recorder, &error);
    EXPECT(now_ms() - begin, <, at_most_ms);
    return status == DX_OK ? 0 : error.system;
}

static void write_records(dx_recorder *recorder, int count) {
    static char text[1000];
    memset(text, 'x', sizeof text);
    text[0] = text[sizeof text - 1] = '"';
    for (int i = 0; i < count; i++) {
        dx_trace_record record = {.kind = DX_TRACE_MESSAGE,
                                  .from = DX_TRACE_HOST,
                                  .time_us = dx_recorder_now_us(),
                                  .text = {text, sizeof text}};
        dx_status status = dx_recorder_write(recorder, &record);
        EXPECT(status == DX_OK || status == DX_BUSY, ==, 1);
    }
}

/* Until it gets rid of what waits. Says how many it took. */
static uint64_t write_one_more(dx_recorder *recorder) {
    uint64_t written = 0, dropped, end = now_ms() + 8000;
    do {
        written++;
        dropped = dx_recorder_dropped(recorder);
        sleep_ms(20);
        write_records(recorder, 1);
    } while (dx_recorder_dropped(recorder) != dropped && now_ms() < end);
    EXPECT(dx_recorder_dropped(recorder), ==, dropped);
    return written;
}

/* How long a conversation takes that is recorded there; NULL: not recorded. */
static uint64_t talk(dx_recorder *recorder) {
    static char params[512];
    memset(params, ' ', sizeof params - 1);
    memcpy(params, "[]", 2);
    dx_loop *loop = loop_new();
    struct family family;
    family_init(&family, loop, "parrot");
    family.config.link.recorder = recorder;
    family_start(&family);
    uint64_t begin = now_ms();
    for (int i = 0; i < ROUND_TRIPS; i++)
        ask(family_link(&family), "hello", params, &family.calls);
    uint64_t ms = now_ms() - begin;
    family_end(&family, 3000 * slow);
    dx_loop_free(loop);
    return ms;
}

static void same_speed(dx_recorder *recorder) {
    uint64_t usual_ms = talk(NULL);
    uint64_t ms = talk(recorder);
    printf("%llu ms without, %llu ms with\n", (unsigned long long)usual_ms, (unsigned long long)ms);
    EXPECT(ms, <, 3 * usual_ms + 300 * slow);
    EXPECT(dx_recorder_dropped(recorder), >, ROUND_TRIPS);
}

/* A pipe that nobody reads is a disk that takes nothing. */
static int make_stuck(void) {
    make_folder();
    EXPECT(mkfifo(path, 0600), ==, 0);
    int other = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    EXPECT(other, >=, 0);
    return other;
}

FAULT(F75_hangs, 30, "a disk that hangs: the traffic goes on, and closing is bounded") {
    int other = make_stuck();
    dx_recorder *recorder = open_recorder(path);
    same_speed(recorder);
    uint64_t begin = now_ms();
    write_records(recorder, 10000);
    EXPECT(now_ms() - begin, <, 1000 * slow);
    EXPECT(dx_recorder_dropped(recorder), >, 9000);
    close_recorder(recorder, 13000); /* 3 s, unless its thread gets no processor to hang with */
    close(other);
    remove_folder();
}

struct cli_pump {
    int fd;
    struct told told;
};

static void *read_all(void *user) {
    struct cli_pump *pump = user;
    pump->told = read_trace(pump->fd);
    return NULL;
}

/* Each record is there, or among those that are told to be missing. */
static void expect_all(const struct told *told, uint64_t written, uint64_t dropped) {
    EXPECT(told->bad, ==, 0);
    EXPECT(told->dropped, ==, dropped);
    EXPECT(told->messages + told->dropped, ==, written);
}

FAULT(F75_hangs_for_a_while, 30, "a disk that works again: the trace tells how much is missing") {
    int other = make_stuck();
    dx_recorder *recorder = open_recorder(path);
    write_records(recorder, 2000);
    EXPECT(dx_recorder_dropped(recorder), >, 1000);
    struct cli_pump pump = {.fd = open(path, O_RDONLY | O_CLOEXEC)};
    close(other); /* so that the pipe ends when the recorder is closed */
    pthread_t thread;
    pthread_create(&thread, NULL, read_all, &pump);
    uint64_t written = 2000 + write_one_more(recorder);
    uint64_t dropped = dx_recorder_dropped(recorder);
    write_records(recorder, 50);
    EXPECT(close_recorder(recorder, 12000), ==, 0);
    pthread_join(thread, NULL);
    close(pump.fd);
    expect_all(&pump.told, written + 50, dropped);
    remove_folder();
}

/* Processes that leave an idle thread nothing. They end with us. */
static void make_busy(pid_t *pids, size_t count) {
    for (size_t i = 0; i < count; i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            for (;;)
                ;
        }
        EXPECT(pids[i], >, 0);
    }
}

FAULT(F75_busy, 30, "a machine that is busy: what was recorded before the end is there") {
    enum { BUSY = 48, ROUNDS = 4, RECORDS = 20 };
    pid_t pids[BUSY];
    make_folder();
    make_busy(pids, BUSY);
    for (int i = 0; i < ROUNDS; i++) {
        dx_recorder *recorder = open_recorder(path);
        for (int j = 0; j < RECORDS; j++) {
            write_records(recorder, 1);
            sleep_ms(5);
        }
        EXPECT(close_recorder(recorder, 6000), ==, 0);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        struct told told = read_trace(fd);
        close(fd);
        EXPECT(told.messages, ==, RECORDS);
    }
    for (int i = 0; i < BUSY; i++) {
        kill(pids[i], SIGKILL);
        waitpid(pids[i], NULL, 0);
    }
    remove_folder();
}

FAULT(F75_full, 15, "a full disk: the traffic goes on, and closing takes no time") {
    dx_recorder *recorder = open_recorder("/dev/full");
    same_speed(recorder);
    EXPECT(close_recorder(recorder, 3000), ==, ENOSPC);
}

/* Its thread tries again after a while, and not with every record that comes. */
FAULT(F75_full_retries, 15, "a full disk is tried again now and then only") {
    static unsigned writes;
    dx_recorder *recorder = open_recorder("/dev/full");
    wrap.calls = &writes;
    wrap.fail_at = ~0U; /* none fails, all are counted */
    wrap.fail = WRAP_WRITE;
    for (int i = 0; i < 500; i++) {
        write_records(recorder, 1);
        sleep_ms(1);
    }
    wrap.fail = WRAP_NONE;
    EXPECT(writes, >, 0);
    EXPECT(writes, <, 50);
    close_recorder(recorder, 3000);
}

static void limit_files(rlim_t bytes) {
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
    EXPECT(setrlimit(RLIMIT_FSIZE, &limit), ==, 0);
}

/* Passing the limit sends SIGXFSZ, which ends whoever does not expect it; nobody here does. */
FAULT(F75_full_for_a_while, 15,
      "a file that cannot grow, then can: no signal, and nothing untold") {
    make_folder();
    signal(SIGXFSZ, SIG_DFL);
    limit_files(50123);
    dx_recorder *recorder = open_recorder(path);
    write_records(recorder, 2000);
    struct stat stat_of = {.st_size = 0};
    for (uint64_t end = now_ms() + 5000; stat_of.st_size < 50123 && now_ms() < end; sleep_ms(20))
        EXPECT(stat(path, &stat_of), ==, 0);
    EXPECT(stat_of.st_size, ==, 50123);
    uint64_t dropped = dx_recorder_dropped(recorder);
    EXPECT(dropped, >, 1000);
    limit_files(RLIM_INFINITY);
    write_one_more(recorder);
    close_recorder(recorder, 3000);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct told told = read_trace(fd);
    close(fd);
    EXPECT(told.bad, ==, 0);
    EXPECT(told.dropped, >=, dropped);
    EXPECT(told.messages + told.dropped, >=, 2001);
    remove_folder();
}

/* Closed while it cannot grow: what is there ends with half a line, and all before it is good. */
FAULT(F75_closed_when_full, 15, "a trace that is closed when the disk is full can be read") {
    make_folder();
    limit_files(50123);
    dx_recorder *recorder = open_recorder(path);
    write_records(recorder, 2000);
    sleep_ms(50);
    close_recorder(recorder, 3000);
    limit_files(RLIM_INFINITY);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct told told = read_trace(fd);
    close(fd);
    EXPECT(told.messages, >=, 40);
    EXPECT(told.bad, <=, 1);
    remove_folder();
}
