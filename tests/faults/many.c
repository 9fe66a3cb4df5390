/* Many at once, and what one costs. */
#include "faults/faults.h"

#include <pthread.h>
#include <sys/resource.h>

enum { MANY = 500 };

static struct calls calls;
static int gone, bad;

static void on_gone(dx_child *child, const dx_gone *how, void *user) {
    (void)user;
    gone++;
    bad += !how->known || how->code || how->signal || how->error.fault != DX_FAULT_NONE;
    dx_child_free(child);
}

static void raise_limit(void) {
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur < 12 * MANY)
        skip("the limit on descriptors is too low");
}

static void start_many(dx_loop *loop, const char *name, dx_child **children,
                       const dx_allocator *allocator) {
    const char *argv[] = {program(name), NULL};
    for (int i = 0; i < MANY; i++) {
        dx_child_config config = dx_child_defaults(DX_FRAMING_LINE, argv);
        config.on_gone = on_gone;
        config.link.peer.allocator = allocator;
        dx_error error = {0};
        if (dx_child_start(loop, &config, &children[i], &error) != DX_OK)
            fail("expected child %d to start, got %s", i, error.phrase);
    }
}

FAULT(many_children, 20, "500 children are started, called and stopped in under 10 s") {
    static dx_child *children[MANY];
    raise_limit();
    dx_loop *loop = loop_new();
    uint64_t begin = now_ms();
    start_many(loop, "parrot", children, NULL);
    for (int i = 0; i < MANY; i++)
        call(dx_child_link(children[i]), "hello", "[1]", &calls);
    turn_until(loop, &calls.done, MANY, 15000 * slow);
    EXPECT(calls.results, ==, MANY);
    for (int i = 0; i < MANY; i++)
        dx_child_stop(children[i]);
    turn_until(loop, &gone, MANY, 10000 * slow);
    EXPECT(gone, ==, MANY);
    EXPECT(bad, ==, 0);
    EXPECT(now_ms() - begin, <, 10000 * slow);
    printf("%d children in %d ms\n", MANY, (int)(now_ms() - begin));
    dx_loop_free(loop);
}

static size_t resident(void) {
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (!file || fscanf(file, "%*d %ld", &pages) != 1)
        fail("/proc/self/statm cannot be read");
    fclose(file);
    return (size_t)pages * 4096;
}

FAULT(many_memory, 20, "a silent child costs its host less than 32 KiB") {
    static dx_child *children[MANY];
    struct memory memory = {0};
    dx_allocator allocator = counting(&memory);
    raise_limit();
    dx_loop *loop;
    EXPECT(dx_loop_new(&allocator, &loop, NULL), ==, DX_OK);
    size_t before = resident();
    start_many(loop, "silent", children, &allocator);
    for (int i = 0; i < MANY; i++)
        call_with(dx_child_link(children[i]), "hello", "[1]", &calls, DX_NEVER);
    turn_for(loop, 200);
    size_t each = memory.bytes / MANY, seen = (resident() - before) / MANY;
    printf("%zu bytes a child, %zu resident\n", each, seen);
    EXPECT(each, <, 32768);
    if (slow == 1)
        EXPECT(seen, <, 32768);
    dx_loop_free(loop);
    EXPECT(memory.blocks, ==, 0);
}

FAULT(many_idle, 10, "children that say nothing cost no processor time") {
    static dx_child *children[MANY];
    raise_limit();
    dx_loop *loop = loop_new();
    start_many(loop, "silent", children, NULL);
    turn_for(loop, 100);
    uint64_t before = cpu_ms();
    turn_for(loop, 1000);
    EXPECT(cpu_ms() - before, <, 50 * slow);
    dx_loop_free(loop);
}

/* Over and over: nothing may add up. */
FAULT(many_times, 20,
      "one loop starts and stops 200 children one after the other; nothing adds up") {
    struct memory memory = {0};
    dx_allocator allocator = counting(&memory);
    dx_loop *loop;
    EXPECT(dx_loop_new(&allocator, &loop, NULL), ==, DX_OK);
    size_t bytes = 0, fds = 0;
    for (int i = 0; i < 200; i++) {
        struct family family;
        family_init(&family, loop, i % 3 ? "parrot" : "leaves exit 3 1");
        family_start(&family);
        ask(family_link(&family), "hello", "[1]", &family.calls);
        family_end(&family, 3000 * slow);
        if (i == 9) {
            bytes = memory.bytes;
            fds = open_fds();
        }
    }
    EXPECT(memory.bytes, ==, bytes);
    EXPECT(open_fds(), ==, fds);
    dx_loop_free(loop);
    EXPECT(memory.blocks, ==, 0);
}

static void *use_a_loop(void *user) {
    dx_loop *loop = loop_new();
    int *good = user;
    for (int i = 0; i < 25; i++) {
        struct family family;
        family_init(&family, loop, "parrot");
        family_start(&family);
        ask(family_link(&family), "hello", "[1]", &family.calls);
        family_end(&family, 3000 * slow);
        *good += family.how.known && !family.how.code && !family.how.signal;
    }
    dx_loop_free(loop);
    return NULL;
}

FAULT(many_threads, 20, "four threads with a loop each start and stop children at the same time") {
    pthread_t threads[4];
    int good[4] = {0};
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, use_a_loop, &good[i]);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        EXPECT(good[i], ==, 25);
    }
}
