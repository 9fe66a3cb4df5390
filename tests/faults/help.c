/* What the tests need of the system: time, programs, memory. */
#include "faults/faults.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <spawn.h>
#include <sys/resource.h>
#include <time.h>

extern char **environ;

uint64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* To the end, whatever interrupts it. */
void sleep_ms(unsigned ms) {
    uint64_t now = now_ms(), end = patience(now + ms);
    ms = end > now ? (unsigned)(end - now) : 0;
    struct timespec left = {ms / 1000, (long)(ms % 1000) * 1000000};
    while (nanosleep(&left, &left))
        continue;
}

int readable(int fd, unsigned ms) {
    struct pollfd in = {fd, POLLIN, 0};
    uint64_t now, end = now_ms() + ms;
    while ((now = now_ms()) < end)
        if (poll(&in, 1, (int)(patience(end) - now)) > 0)
            return 1;
    return 0;
}

uint64_t cpu_ms(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000 +
           (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1000;
}

const char *program(const char *name) {
    static _Thread_local char paths[16][PATH_MAX];
    static _Thread_local unsigned at;
    char *path = paths[at++ % LENGTH(paths)];
    ssize_t len = readlink("/proc/self/exe", path, PATH_MAX - 64);
    if (len <= 0)
        fail("/proc/self/exe cannot be read");
    path[len] = '\0';
    *strrchr(path, '/') = '\0';
    strcat(strcat(path, "/children/"), name);
    return path;
}

pid_t spawn_by_hand(const char *const *argv, int *ret_in, int *ret_out) {
    int in[2] = {-1, -1}, out[2] = {-1, -1};
    if ((ret_in && pipe2(in, O_CLOEXEC)) || (ret_out && pipe2(out, O_CLOEXEC)))
        fail("no pipe");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    if (ret_in)
        posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    if (ret_out)
        posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    pid_t pid = 0;
    if (posix_spawn(&pid, argv[0], &actions, NULL, (char *const *)(uintptr_t)argv, environ))
        fail("cannot start %s", argv[0]);
    posix_spawn_file_actions_destroy(&actions);
    if (ret_in) {
        close(in[0]);
        *ret_in = in[1];
    }
    if (ret_out) {
        close(out[1]);
        *ret_out = out[0];
    }
    return pid;
}

enum { HEAD = 16 };

static void *count_malloc(void *ctx, size_t size) {
    struct memory *memory = ctx;
    char *block = malloc(size + HEAD);
    if (!block)
        return NULL;
    memcpy(block, &size, sizeof size);
    memory->bytes += size;
    memory->blocks++;
    if (memory->bytes > memory->peak)
        memory->peak = memory->bytes;
    return block + HEAD;
}

static void count_free(void *ctx, void *ptr) {
    struct memory *memory = ctx;
    char *block = (char *)ptr - HEAD;
    size_t size;
    memcpy(&size, block, sizeof size);
    memory->bytes -= size;
    memory->blocks--;
    free(block);
}

static void *count_realloc(void *ctx, void *ptr, size_t old_size, size_t size) {
    (void)old_size;
    struct memory *memory = ctx;
    char *block = (char *)ptr - HEAD;
    size_t before;
    memcpy(&before, block, sizeof before);
    block = realloc(block, size + HEAD);
    if (!block)
        return NULL;
    memcpy(block, &size, sizeof size);
    memory->bytes = memory->bytes - before + size;
    if (memory->bytes > memory->peak)
        memory->peak = memory->bytes;
    return block + HEAD;
}

dx_allocator counting(struct memory *memory) {
    return (dx_allocator){count_malloc, count_realloc, count_free, memory};
}
