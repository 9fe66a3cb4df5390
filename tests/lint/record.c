/*
 * Has a long conversation with a program, and records it; says how much memory this process ever
 * took, early on and at the end.
 *
 *     record ECHO TRACE MESSAGES EARLY
 *
 * prints "messages 1000000 dropped 0 early 4200 end 4200": kilobytes (VmHWM) when EARLY messages
 * had crossed, and when all had.
 */
#include <duplex/duplex.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

/* Calls that are open at once; bytes of a part of the trace; bytes that may wait for the disk
 * before records are dropped, and before we wait for it; parts that are kept. */
enum { WINDOW = 32, PART = 8 << 20, WAITING = 512 << 10, BEHIND = 64 << 10, KEPT = 1000 };

struct talk {
    dx_loop *loop;
    dx_child *child;
    unsigned long calls; /* to be made */
    unsigned long called;
    unsigned long done;
    unsigned long early;
    long early_kb;
    const char *trace;
    uint64_t began_us;
    uint64_t recorded; /* bytes */
    int failed;
};

static long peak_kb(void) {
    FILE *file = fopen("/proc/self/status", "re");
    char line[256];
    long kb = -1;
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "VmHWM:", 6) == 0)
            kb = strtol(line + 6, NULL, 10);
    if (file)
        fclose(file);
    return kb;
}

/* How long the line of a message is in the trace. That need be right only in the mean. */
static void on_message(void *user, int out, dx_text text, size_t framed) {
    struct talk *talk = user;
    char frame[160];
    int len = snprintf(
        frame, sizeof frame,
        "{\"t\":%llu,\"from\":\"%s\",\"peer\":\"echo\",\"run\":1,\"bytes\":%zu,\"message\":}\n",
        (unsigned long long)(dx_recorder_now_us() - talk->began_us), out ? "host" : "plugin",
        framed);
    talk->recorded += (uint64_t)len + text.len;
}

/* The bytes of all parts. */
static uint64_t written(const char *path) {
    char part[4096];
    uint64_t sum = 0;
    struct stat status;
    snprintf(part, sizeof part, "%s", path);
    for (unsigned i = 1; stat(part, &status) == 0; i++) {
        sum += (uint64_t)status.st_size;
        snprintf(part, sizeof part, "%s.%u", path, i);
    }
    return sum;
}

/* A disk may be as slow as it likes: nothing shall be dropped here. */
static void wait_for_disk(const struct talk *talk) {
    const struct timespec pause = {.tv_nsec = 1000000};
    for (int i = 0; i < 10000 && talk->recorded > written(talk->trace) + BEHIND; i++)
        nanosleep(&pause, NULL);
}

static void call_one(struct talk *talk);

static void on_done(dx_link *link, const dx_event *event, void *user) {
    struct talk *talk = user;
    (void)link;
    talk->failed |= event->outcome != DX_OUTCOME_RESULT;
    talk->done++;
    if (talk->done == talk->early)
        talk->early_kb = peak_kb();
    if (talk->done % 100 == 0)
        wait_for_disk(talk);
    if (talk->failed || talk->done == talk->calls)
        dx_child_stop(talk->child);
    else
        call_one(talk);
}

static void call_one(struct talk *talk) {
    static const char params[] = "{\"text\":\"a few words, as they are sent most of the time\"}";
    dx_link_call_options options = {.peer = {.user = talk}, .on_done = on_done};
    if (talk->called == talk->calls)
        return;
    talk->called++;
    if (dx_link_call(dx_child_link(talk->child), dx_str("echo"),
                     dx_json_text(params, sizeof params - 1), &options, NULL) != DX_OK)
        talk->failed = 1;
}

static void on_gone(dx_child *child, const dx_gone *gone, void *user) {
    struct talk *talk = user;
    (void)child;
    talk->failed |= gone->code != 0 || gone->signal != 0;
    dx_loop_stop(talk->loop);
}

static int run(struct talk *talk, const char *echo, dx_recorder *recorder) {
    const char *argv[] = {echo, "line", NULL};
    dx_error error = {.phrase = ""};
    dx_child_config config = dx_child_defaults(DX_FRAMING_LINE, argv);
    config.link.recorder = recorder;
    config.link.name = "echo";
    config.link.run = 1;
    config.link.peer.observe = on_message;
    config.link.peer.observe_user = talk;
    config.on_gone = on_gone;
    config.user = talk;
    if (dx_loop_new(NULL, &talk->loop, &error) != DX_OK ||
        dx_child_start(talk->loop, &config, &talk->child, &error) != DX_OK) {
        fprintf(stderr, "%s\n", error.phrase);
        return 0;
    }
    for (int i = 0; i < WINDOW; i++)
        call_one(talk);
    return dx_loop_run(talk->loop) == DX_OK && !talk->failed;
}

int main(int argc, char **argv) {
    struct talk talk = {.early_kb = -1};
    dx_recorder *recorder;
    dx_error error = {.phrase = ""};
    if (argc != 5)
        return 2;
    talk.calls = strtoul(argv[3], NULL, 10) / 2;
    talk.trace = argv[2];
    talk.began_us = dx_recorder_now_us();
    talk.early = strtoul(argv[4], NULL, 10) / 2;
    dx_recorder_config config = dx_recorder_defaults(argv[2]);
    config.size_max = PART;
    config.keep = KEPT;
    config.waiting_max = WAITING;
    if (dx_recorder_open(&config, &recorder, &error) != DX_OK) {
        fprintf(stderr, "%s\n", error.phrase);
        return 1;
    }
    int good = run(&talk, argv[1], recorder);
    dx_child_free(talk.child);
    dx_loop_free(talk.loop);
    uint64_t dropped = dx_recorder_dropped(recorder);
    dx_recorder_close(recorder, NULL);
    printf("messages %lu dropped %llu early %ld end %ld\n", talk.done * 2,
           (unsigned long long)dropped, talk.early_kb, peak_kb());
    return !good;
}
