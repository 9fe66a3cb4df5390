/* A trace in a file: what crossed a link stands in it, and files rotate. For disks that take
 * nothing see tests/faults. */
#include "unit/unit.h"

#include "host/host.h"

#include <duplex/duplex.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>

static char folder[] = "/tmp/duplex-recorder-XXXXXX";

static const char *path_of(const char *name) {
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

struct counted {
    size_t host;
    size_t plugin;
    uint64_t bytes;
    uint64_t dropped;
    size_t other; /* than messages and what was dropped */
    char last[256];
};

static void read_trace(const char *path, struct counted *counted) {
    dx_trace_reader_config config = dx_trace_reader_defaults();
    dx_trace_reader *reader;
    char piece[4096];
    size_t n;
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_int_equal(dx_trace_reader_new(&config, &reader), DX_OK);
    for (bool more = true; more;) {
        n = fread(piece, 1, sizeof piece, file);
        more = n > 0;
        if (!more)
            dx_trace_finish(reader);
        for (size_t at = 0, used = 0; at < n || !more; at += used) {
            dx_trace_record record;
            dx_error error;
            dx_status status;
            used = 0;
            if (more)
                dx_trace_feed(reader, piece + at, n - at, &used);
            while ((status = dx_trace_next(reader, &record, &error)) == DX_OK) {
                counted->host += record.from == DX_TRACE_HOST;
                counted->plugin += record.from == DX_TRACE_PLUGIN;
                counted->bytes += record.bytes;
                counted->dropped += record.kind == DX_TRACE_DROPPED ? record.count : 0;
                counted->other += record.kind == DX_TRACE_STRAY || record.kind == DX_TRACE_BROKEN;
                if (record.kind == DX_TRACE_MESSAGE)
                    snprintf(counted->last, sizeof counted->last, "%.*s", (int)record.text.len,
                             record.text.at);
            }
            assert_true(status == DX_AGAIN || status == DX_CLOSED);
            if (!more)
                break;
        }
    }
    dx_trace_reader_free(reader);
    fclose(file);
}

static void on_done(dx_link *link, const dx_event *event, void *user) {
    (void)link;
    assert_int_equal(event->outcome, DX_OUTCOME_RESULT);
    dx_child_stop(*(dx_child **)user);
}

static void on_gone(dx_child *child, const dx_gone *gone, void *user) {
    assert_int_equal(gone->code, 0);
    dx_child_free(child);
    dx_loop_stop(user);
}

static void a_conversation_is_recorded(void **state) {
    (void)state;
    char echo[1024];
    const char *build = getenv("BUILD");
    snprintf(echo, sizeof echo, "%s/examples/echo", build ? build : ".");
    const char *argv[] = {echo, "header", NULL};
    dx_recorder_config record = dx_recorder_defaults(path_of("talk"));
    static const char *const secrets[] = {"password", NULL};
    record.redact = secrets;
    dx_recorder *recorder;
    dx_child *child;
    dx_loop *loop;
    assert_int_equal(dx_recorder_open(&record, &recorder, NULL), DX_OK);
    assert_int_equal(dx_loop_new(NULL, &loop, NULL), DX_OK);
    dx_child_config config = dx_child_defaults(DX_FRAMING_HEADER, argv);
    config.link.recorder = recorder;
    config.link.name = "echo";
    config.on_gone = on_gone;
    config.user = loop;
    assert_int_equal(dx_child_start(loop, &config, &child, NULL), DX_OK);
    dx_link_call_options options = {.peer = {.user = &child}, .on_done = on_done};
    assert_int_equal(dx_link_call(dx_child_link(child), dx_str("echo"),
                                  dx_json_text("{\"password\":\"x\",\"b\":2}", 22), &options, NULL),
                     DX_OK);
    dx_loop_run(loop);
    dx_loop_free(loop);
    assert_int_equal(dx_recorder_close(recorder, NULL), DX_OK);
    static const char asked[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"echo\",\"params\":"
                                "{\"password\":\"x\",\"b\":2}}";
    static const char answered[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":"
                                   "{\"password\":\"x\",\"b\":2}}";
    size_t crossed = 22 + strlen(asked) + 22 + strlen(answered);
    struct counted counted = {0};
    read_trace(path_of("talk"), &counted);
    /* What crossed, framing included: the headers have 22 bytes each. */
    assert_int_equal(counted.bytes, crossed);
    assert_int_equal(counted.host, 1);
    assert_int_equal(counted.plugin, 1);
    assert_string_equal(counted.last,
                        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"password\":\"***\",\"b\":2}}");
    struct stat stat_of;
    assert_int_equal(stat(path_of("talk"), &stat_of), 0);
    assert_int_equal(stat_of.st_mode & 0777, 0600);
}

static dx_trace_record record_of(dx_text text) {
    return (dx_trace_record){.kind = DX_TRACE_MESSAGE,
                             .from = DX_TRACE_HOST,
                             .time_us = dx_recorder_now_us(),
                             .text = text};
}

static void files_rotate(void **state) {
    (void)state;
    enum { RECORDS = 20000 };
    dx_recorder_config config = dx_recorder_defaults(path_of("turn"));
    config.size_max = 300000;
    config.keep = 20;
    dx_recorder *recorder;
    assert_int_equal(dx_recorder_open(&config, &recorder, NULL), DX_OK);
    for (int i = 0; i < RECORDS; i++) {
        dx_trace_record record = record_of(dx_str("{\"jsonrpc\":\"2.0\",\"method\":\"m\"}"));
        assert_int_equal(dx_recorder_write(recorder, &record), DX_OK);
    }
    assert_int_equal(dx_recorder_close(recorder, NULL), DX_OK);
    struct counted counted = {0};
    read_trace(path_of("turn"), &counted);
    int files = 1;
    for (char name[32]; files < 30; files++) {
        struct stat stat_of;
        snprintf(name, sizeof name, "turn.%d", files);
        if (stat(path_of(name), &stat_of) != 0)
            break;
        assert_true(stat_of.st_size >= 300000 && stat_of.st_size < 300000 + 70000);
        read_trace(path_of(name), &counted);
    }
    assert_true(files > 3);
    assert_int_equal(counted.host, RECORDS);
}

/* A file is begun for a record, not for none: the last one has at least one. */
static void the_last_file_has_records(void **state) {
    (void)state;
    /* A thread that gets no processor writes all records at once, into one file: then once more. */
    for (size_t size = 1, tries = 0; size < 300;) {
        dx_recorder_config config = dx_recorder_defaults(path_of("last"));
        config.size_max = size;
        config.keep = 0;
        dx_recorder *recorder;
        assert_int_equal(dx_recorder_open(&config, &recorder, NULL), DX_OK);
        dx_trace_record record = record_of(dx_str("{\"jsonrpc\":\"2.0\",\"method\":\"m\"}"));
        for (int i = 0; i < 50; i++) {
            assert_int_equal(dx_recorder_write(recorder, &record), DX_OK);
            usleep(i % 10 ? 0 : 12000);
        }
        assert_int_equal(dx_recorder_close(recorder, NULL), DX_OK);
        struct counted counted = {0};
        read_trace(path_of("last"), &counted);
        assert_in_range(counted.host, 1, tries++ < 100 ? 50 : 49);
        assert_int_equal(counted.other + counted.dropped, 0);
        size += counted.host < 50 ? 37 : 0;
    }
}

static void two_for_one_file(void **state) {
    (void)state;
    dx_recorder_config config = dx_recorder_defaults(path_of("both"));
    dx_recorder *first;
    dx_recorder *second = NULL;
    dx_error error;
    dx_trace_record record = record_of(dx_str("{\"jsonrpc\":\"2.0\",\"method\":\"m\"}"));
    assert_int_equal(dx_recorder_open(&config, &first, NULL), DX_OK);
    assert_int_equal(dx_recorder_write(first, &record), DX_OK);
    assert_int_equal(dx_recorder_open(&config, &second, &error), DX_ERR_SYSTEM);
    assert_int_equal(error.system, EBUSY);
    assert_non_null(strstr(error.phrase, path_of("both")));
    assert_null(second);
    assert_int_equal(dx_recorder_close(first, NULL), DX_OK);
    struct counted counted = {0};
    read_trace(path_of("both"), &counted);
    assert_int_equal(counted.host, 1);
    assert_int_equal(dx_recorder_open(&config, &second, &error), DX_OK);
    assert_int_equal(dx_recorder_close(second, NULL), DX_OK);
    /* What nobody can lock is not locked: two may write to a device. */
    config.path = "/dev/null";
    assert_int_equal(dx_recorder_open(&config, &first, NULL), DX_OK);
    assert_int_equal(dx_recorder_open(&config, &second, NULL), DX_OK);
    assert_int_equal(dx_recorder_close(first, NULL), DX_OK);
    assert_int_equal(dx_recorder_close(second, NULL), DX_OK);
}

/* What is refused has no effect, and says why. */
static void what_is_refused_is_left_alone(void **state) {
    (void)state;
    static const char *const nameless[] = {"", NULL};
    dx_recorder_config config = dx_recorder_defaults(path_of("kept"));
    dx_recorder *recorder = NULL;
    dx_error error = {.phrase = ""};
    FILE *file = fopen(path_of("kept"), "w");
    assert_non_null(file);
    fputs("precious\n", file);
    assert_int_equal(fclose(file), 0);
    config.redact = nameless;
    assert_int_equal(dx_recorder_open(&config, &recorder, &error), DX_ERR_INVALID);
    assert_string_equal(error.phrase,
                        "cannot make a recorder with this configuration: Invalid argument");
    struct stat stat_of;
    assert_int_equal(stat(path_of("kept"), &stat_of), 0);
    assert_int_equal(stat_of.st_size, 9);
    config = dx_recorder_defaults(NULL);
    error.phrase[0] = '\0';
    assert_int_equal(dx_recorder_open(&config, &recorder, &error), DX_ERR_INVALID);
    assert_true(error.phrase[0]);
    assert_null(recorder);
}

struct pipe_reader {
    int fd;
    int copy; /* where it goes, or -1 */
    useconds_t pause;
};

static void *read_pipe(void *user) {
    const struct pipe_reader *reader = user;
    char piece[4096];
    for (ssize_t n; (n = read(reader->fd, piece, sizeof piece)) > 0; usleep(reader->pause))
        assert_true(reader->copy < 0 || write(reader->copy, piece, (size_t)n) == n);
    return NULL;
}

/* What is no file must stay where it is: it belongs to others, too. */
static void a_pipe_does_not_rotate(void **state) {
    (void)state;
    char path[256];
    char older[300];
    struct stat stat_of;
    pthread_t reader;
    dx_recorder *recorder;
    snprintf(path, sizeof path, "%s", path_of("fifo"));
    snprintf(older, sizeof older, "%s.1", path);
    assert_int_equal(mkfifo(path, 0600), 0);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    dx_recorder_config config = dx_recorder_defaults(path);
    config.size_max = 1000;
    assert_int_equal(dx_recorder_open(&config, &recorder, NULL), DX_OK);
    int end = open(path, O_RDONLY | O_CLOEXEC);
    close(fd);
    struct pipe_reader from = {end, -1, 0};
    assert_int_equal(pthread_create(&reader, NULL, read_pipe, &from), 0);
    for (int i = 0; i < 1000; i++) {
        dx_trace_record record = record_of(dx_str("{\"jsonrpc\":\"2.0\",\"method\":\"m\"}"));
        assert_int_equal(dx_recorder_write(recorder, &record), DX_OK);
    }
    assert_int_equal(dx_recorder_close(recorder, NULL), DX_OK);
    pthread_join(reader, NULL);
    close(end);
    assert_int_equal(stat(path, &stat_of), 0);
    assert_true(S_ISFIFO(stat_of.st_mode));
    assert_int_equal(access(older, F_OK), -1);
}

static void pass_messages(dx__recorder_wire *wire, int first, int count, size_t piece) {
    char text[8192];
    size_t len = 0;
    for (int i = first; i < first + count; i++) {
        char body[128];
        int size = snprintf(body, sizeof body, "{\"jsonrpc\":\"2.0\",\"method\":\"%d\"}", i);
        len += (size_t)snprintf(text + len, sizeof text - len, "Content-Length: %d\r\n\r\n%s", size,
                                body);
        assert_true(len < sizeof text - 200);
    }
    for (size_t at = 0; at < len; at += piece)
        dx__recorder_pass(wire, (dx_text){text + at, len - at < piece ? len - at : piece});
}

/* Whoever is slow is waited for in the end as long as it takes something. */
static void a_slow_disk_gets_all(void **state) {
    (void)state;
    enum { RECORDS = 400, EACH = 4000 };
    pthread_t thread;
    dx_recorder *recorder;
    int ends[2];
    char path[64];
    char text[EACH + 8];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", ends[1]);
    dx_recorder_config config = dx_recorder_defaults(path);
    assert_int_equal(dx_recorder_open(&config, &recorder, NULL), DX_OK);
    close(ends[1]);
    snprintf(text, sizeof text, "[\"%0*d\"]", EACH, 0);
    for (int i = 0; i < RECORDS; i++) {
        dx_trace_record record = record_of(dx_str(text));
        assert_int_equal(dx_recorder_write(recorder, &record), DX_OK);
    }
    int copy = open(path_of("slow"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    struct pipe_reader from = {ends[0], copy, 8000}; /* 3.2 s in all */
    assert_int_equal(pthread_create(&thread, NULL, read_pipe, &from), 0);
    assert_int_equal(dx_recorder_close(recorder, NULL), DX_OK);
    pthread_join(thread, NULL);
    close(ends[0]);
    close(copy);
    struct counted counted = {0};
    read_trace(path_of("slow"), &counted);
    assert_int_equal(counted.host, RECORDS);
}

/* What crossed a wire while the disk took nothing is missing, and said to be; from the next whole
 * message on it is all there. */
static void a_wire_goes_on_behind_a_gap(void **state) {
    (void)state;
    enum { MANY = 400 };
    pthread_t thread;
    dx_recorder *recorder;
    int ends[2];
    char path[64];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_true(fcntl(ends[1], F_SETPIPE_SZ, 4096) >= 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", ends[1]);
    dx_recorder_config config = dx_recorder_defaults(path);
    config.waiting_max = 16 << 10;
    assert_int_equal(dx_recorder_open(&config, &recorder, NULL), DX_OK);
    close(ends[1]);
    dx_trace_record form = {.from = DX_TRACE_HOST, .peer = dx_str("it"), .run = 1};
    dx__recorder_wire *wire = dx__recorder_wire_new(recorder, DX__CUT_AUTO, 64 << 10, &form);
    assert_non_null(wire);
    for (int i = 0; i < MANY; i++)
        pass_messages(wire, i * 10, 10, 333);
    uint64_t before = 0;
    uint64_t dropped = dx_recorder_dropped(recorder);
    assert_true(dropped > 0);
    int copy = open(path_of("copy"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    struct pipe_reader from = {ends[0], copy, 0};
    assert_int_equal(pthread_create(&thread, NULL, read_pipe, &from), 0);
    int last = MANY * 10;
    for (; before < dropped && last < MANY * 20; last += 30) {
        usleep(500000); /* longer than the pause after a write that did not go through */
        pass_messages(wire, last, 30, 1000);
        before = dropped;
        dropped = dx_recorder_dropped(recorder);
    }
    dx__recorder_pass(wire, (dx_text){NULL, 0});
    assert_int_equal(dx_recorder_close(recorder, NULL), DX_OK);
    pthread_join(thread, NULL);
    close(ends[0]);
    close(copy);
    struct counted counted = {0};
    read_trace(path_of("copy"), &counted);
    assert_int_equal(counted.dropped, dropped);
    assert_int_equal(counted.other, 0);
    assert_true(counted.host > 30 && counted.host < MANY * 10);
    char expected[64];
    snprintf(expected, sizeof expected, "{\"jsonrpc\":\"2.0\",\"method\":\"%d\"}", last - 1);
    assert_string_equal(counted.last, expected);
}

static off_t size_of(const char *path) {
    struct stat stat_;
    return stat(path, &stat_) == 0 ? stat_.st_size : -1;
}

/* A flood of wires: while it lasts it is only kept; when it is over it is written, without anybody
 * closing anything; and nothing is missing. */
static void a_flood_is_kept_and_then_written(void **state) {
    (void)state;
    enum { MANY = 800, EACH = 100, MESSAGES = MANY * EACH };
    dx_recorder *recorder;
    dx_recorder_config config = dx_recorder_defaults(path_of("flood"));
    config.size_max = 0;
    config.waiting_max = (size_t)64 << 20;
    assert_int_equal(dx_recorder_open(&config, &recorder, NULL), DX_OK);
    dx_trace_record form = {.from = DX_TRACE_HOST, .peer = dx_str("it"), .run = 1};
    dx__recorder_wire *wire = dx__recorder_wire_new(recorder, DX__CUT_AUTO, 64 << 10, &form);
    for (int i = 0; i < MANY; i++)
        pass_messages(wire, i * EACH, EACH, 16 << 10);
    off_t least = (off_t)MESSAGES * 60;
    for (int i = 0; i < 3000 && size_of(path_of("flood")) < least; i++)
        usleep(10000);
    assert_true(size_of(path_of("flood")) >= least);
    dx__recorder_pass(wire, (dx_text){NULL, 0});
    assert_int_equal(dx_recorder_dropped(recorder), 0);
    assert_int_equal(dx_recorder_close(recorder, NULL), DX_OK);
    struct counted counted = {0};
    read_trace(path_of("flood"), &counted);
    assert_int_equal(counted.host, MESSAGES);
    assert_int_equal(counted.dropped + counted.other, 0);
    assert_string_equal(counted.last, "{\"jsonrpc\":\"2.0\",\"method\":\"79999\"}");
}

static bool spinning;

static void *spin(void *user) {
    while (__atomic_load_n(&spinning, __ATOMIC_RELAXED))
        ;
    return user;
}

static double seconds_of(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* A thread that gets no processor is no disk that hangs, wherever it stands still. If other
 * programs took most of the processor, it may have starved for longer than close waits: then once
 * more. */
static void a_thread_that_starves_is_waited_for(void **state) {
    (void)state;
    enum { SPINNERS = 4, ROUNDS = 3, MOST = 10, MANY = 400, EACH = 100 };
    cpu_set_t all;
    cpu_set_t one;
    pthread_t spinners[SPINNERS];
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    for (int round = 0, tries = 0; round < ROUNDS; round++) {
        dx_recorder *recorder;
        dx_recorder_config config = dx_recorder_defaults(path_of("starving"));
        assert_int_equal(dx_recorder_open(&config, &recorder, NULL), DX_OK);
        dx_trace_record form = {.from = DX_TRACE_HOST, .peer = dx_str("it"), .run = 1};
        dx__recorder_wire *wire = dx__recorder_wire_new(recorder, DX__CUT_AUTO, 64 << 10, &form);
        for (int i = 0; i < MANY; i++)
            pass_messages(wire, i * EACH, EACH, 16 << 10);
        dx__recorder_pass(wire, (dx_text){NULL, 0});
        usleep(15000 + 2000 * (useconds_t)round); /* it is at work */
        spinning = true;
        for (int i = 0; i < SPINNERS; i++)
            assert_int_equal(pthread_create(&spinners[i], NULL, spin, NULL), 0);
        double from = seconds_of(CLOCK_MONOTONIC);
        double used = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
        dx_status status = dx_recorder_close(recorder, NULL);
        double share =
            (seconds_of(CLOCK_PROCESS_CPUTIME_ID) - used) / (seconds_of(CLOCK_MONOTONIC) - from);
        __atomic_store_n(&spinning, false, __ATOMIC_RELAXED);
        for (int i = 0; i < SPINNERS; i++)
            pthread_join(spinners[i], NULL);
        if (status != DX_OK && share < 0.8 && tries++ < MOST) {
            round--;
            continue;
        }
        assert_int_equal(status, DX_OK);
        struct counted counted = {0};
        read_trace(path_of("starving"), &counted);
        assert_int_equal(counted.host, MANY * EACH);
    }
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
}

/* One that does not end is written, too. */
static void a_flood_without_an_end_is_written(void **state) {
    (void)state;
    dx_recorder *recorder;
    static char text[64 << 10];
    dx_recorder_config config = dx_recorder_defaults(path_of("endless"));
    config.waiting_max = (size_t)16 << 20;
    assert_int_equal(dx_recorder_open(&config, &recorder, NULL), DX_OK);
    memset(text, 'x', sizeof text);
    dx_trace_record record = {.kind = DX_TRACE_STDERR,
                              .from = DX_TRACE_PLUGIN,
                              .time_us = dx_recorder_now_us(),
                              .text = {text, sizeof text}};
    uint64_t until = record.time_us + 30000000;
    while (size_of(path_of("endless")) < 4 << 20 && dx_recorder_now_us() < until) {
        for (int i = 0; i < 32; i++)
            (void)dx_recorder_write(recorder, &record);
        usleep(1000);
    }
    assert_true(size_of(path_of("endless")) >= 4 << 20);
    assert_int_equal(dx_recorder_close(recorder, NULL), DX_OK);
}

static void a_place_that_is_none(void **state) {
    (void)state;
    dx_recorder_config config = dx_recorder_defaults("/nowhere/at/all");
    dx_recorder *recorder = NULL;
    dx_error error;
    assert_int_equal(dx_recorder_open(&config, &recorder, &error), DX_ERR_SYSTEM);
    assert_non_null(strstr(error.phrase, "/nowhere/at/all"));
    assert_null(recorder);
}

static int make_folder(void **state) {
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
    char command[300];
    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_conversation_is_recorded),
        cmocka_unit_test(files_rotate),
        cmocka_unit_test(the_last_file_has_records),
        cmocka_unit_test(two_for_one_file),
        cmocka_unit_test(what_is_refused_is_left_alone),
        cmocka_unit_test(a_pipe_does_not_rotate),
        cmocka_unit_test(a_wire_goes_on_behind_a_gap),
        cmocka_unit_test(a_slow_disk_gets_all),
        cmocka_unit_test(a_flood_is_kept_and_then_written),
        cmocka_unit_test(a_flood_without_an_end_is_written),
        cmocka_unit_test(a_thread_that_starves_is_waited_for),
        cmocka_unit_test(a_place_that_is_none),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
