/* The loop: one descriptor, one deadline, one dispatch; posts from other threads. */
#include "unit/unit.h"

#include <duplex/loop.h>

#include <poll.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

static uint64_t clock_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static dx_loop *new_loop(void) {
    dx_loop *loop = NULL;
    assert_int_equal(dx_loop_new(NULL, &loop, NULL), DX_OK);
    assert_non_null(loop);
    return loop;
}

static int readable(dx_loop *loop) {
    struct pollfd fd = {dx_loop_fd(loop), POLLIN, 0};
    return poll(&fd, 1, 0);
}

static void has_nothing_to_do(void **state) {
    (void)state;
    dx_loop *loop = new_loop();
    assert_true(dx_loop_fd(loop) >= 0);
    assert_int_equal(readable(loop), 0);
    assert_true(dx_loop_deadline(loop) == DX_NEVER);
    assert_int_equal(dx_loop_wait_ms(loop), -1);
    uint64_t before = clock_ms();
    for (int i = 0; i < 1000; i++)
        dx_loop_dispatch(loop);
    assert_true(clock_ms() - before < 1000);
    assert_true(dx_loop_now(loop) >= before && dx_loop_now(loop) <= clock_ms());
    assert_null(dx_loop_free(loop));
    assert_null(dx_loop_free(NULL));
}

static void asks_its_allocator(void **state) {
    (void)state;
    struct unit_memory memory = {0};
    dx_allocator alloc = unit_allocator(&memory);
    dx_loop *loop = NULL;
    assert_int_equal(dx_loop_new(&alloc, &loop, NULL), DX_OK);
    assert_true(memory.blocks > 0);
    dx_loop_free(loop);
    assert_int_equal(memory.blocks, 0);
    size_t count = memory.count;
    for (size_t i = 1; i <= count; i++) {
        memory = (struct unit_memory){.fail_at = i};
        loop = NULL;
        assert_int_equal(dx_loop_new(&alloc, &loop, NULL), DX_ERR_NOMEM);
        assert_null(loop);
        assert_int_equal(memory.blocks, 0);
    }
}

static void add_one(void *user) {
    ++*(int *)user;
}

static void runs_what_was_posted(void **state) {
    (void)state;
    dx_loop *loop = new_loop();
    int count = 0;
    assert_int_equal(dx_loop_post(loop, add_one, &count), DX_OK);
    assert_int_equal(count, 0);
    assert_true(readable(loop) || dx_loop_wait_ms(loop) == 0);
    dx_loop_dispatch(loop);
    assert_int_equal(count, 1);
    dx_loop_dispatch(loop);
    assert_int_equal(count, 1);
    assert_int_equal(readable(loop), 0);
    /* One that never ran goes with its loop. */
    dx_loop_post(loop, add_one, &count);
    dx_loop_free(loop);
    assert_int_equal(count, 1);
}

struct again {
    dx_loop *loop;
    int runs;
};

static void post_again(void *user) {
    struct again *again = user;
    again->runs++;
    dx_loop_post(again->loop, post_again, again);
}

/* Who posts from a post must not keep a dispatch from ending. */
static void ends_a_dispatch(void **state) {
    (void)state;
    struct again again = {new_loop(), 0};
    dx_loop_post(again.loop, post_again, &again);
    for (int i = 1; i < 20; i++) {
        dx_loop_dispatch(again.loop);
        assert_int_equal(again.runs, i);
        assert_true(readable(again.loop) || dx_loop_wait_ms(again.loop) == 0);
    }
    dx_loop_free(again.loop);
}

enum { THREADS = 4, POSTS = 25000 };

struct sender {
    dx_loop *loop;
    int number, sent, received, disorder;
    pthread_t thread;
    struct letter *letters;
};

struct letter {
    struct sender *sender;
    int number;
};

static int received;

static void receive(void *user) {
    struct letter *letter = user;
    letter->sender->disorder += letter->number != letter->sender->received++;
    if (++received == THREADS * POSTS)
        dx_loop_stop(letter->sender->loop);
}

static void *send_all(void *user) {
    struct sender *sender = user;
    for (int i = 0; i < POSTS; i++) {
        sender->letters[i] = (struct letter){sender, i};
        if (dx_loop_post(sender->loop, receive, &sender->letters[i]) == DX_OK)
            sender->sent++;
        /* Give the loop time to fall asleep now and then. */
        if (i % 5000 == 4999)
            usleep(2000);
    }
    return NULL;
}

static void takes_posts_of_threads(void **state) {
    (void)state;
    dx_loop *loop = new_loop();
    struct sender senders[THREADS] = {{0}};
    received = 0;
    for (int i = 0; i < THREADS; i++) {
        senders[i] = (struct sender){.loop = loop, .number = i};
        senders[i].letters = calloc(POSTS, sizeof *senders[i].letters);
        pthread_create(&senders[i].thread, NULL, send_all, &senders[i]);
    }
    assert_int_equal(dx_loop_run(loop), DX_OK);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(senders[i].thread, NULL);
        assert_int_equal(senders[i].sent, POSTS);
        assert_int_equal(senders[i].received, POSTS);
        assert_int_equal(senders[i].disorder, 0);
        free(senders[i].letters);
    }
    dx_loop_free(loop);
}

static void stop(void *user) {
    dx_loop_stop(user);
}

static void *wake_up(void *user) {
    usleep(50000);
    dx_loop_post(user, stop, user);
    return NULL;
}

static void wakes_up(void **state) {
    (void)state;
    dx_loop *loop = new_loop();
    pthread_t thread;
    uint64_t begin = clock_ms();
    pthread_create(&thread, NULL, wake_up, loop);
    assert_int_equal(dx_loop_run(loop), DX_OK);
    assert_true(clock_ms() - begin >= 49);
    assert_true(clock_ms() - begin < 2000);
    pthread_join(thread, NULL);
    /* It can run again. */
    dx_loop_post(loop, stop, loop);
    assert_int_equal(dx_loop_run(loop), DX_OK);
    dx_loop_free(loop);
}

/* As a foreign loop does it: poll, then dispatch. */
static void lives_in_poll(void **state) {
    (void)state;
    dx_loop *loop = new_loop();
    int count = 0;
    pthread_t thread;
    pthread_create(&thread, NULL, wake_up, loop);
    dx_loop_post(loop, add_one, &count);
    uint64_t end = clock_ms() + 200;
    int wakeups = 0;
    while (clock_ms() < end) {
        struct pollfd fd = {dx_loop_fd(loop), POLLIN, 0};
        int wait = dx_loop_wait_ms(loop);
        int left = (int)(end - clock_ms());
        if (poll(&fd, 1, wait < 0 || wait > left ? left : wait) > 0)
            wakeups++;
        dx_loop_dispatch(loop);
    }
    assert_int_equal(count, 1);
    /* Once for each post, and not in a circle. */
    assert_true(wakeups >= 1 && wakeups <= 4);
    pthread_join(thread, NULL);
    dx_loop_free(loop);
}

/* Each loop is its own: nothing global. */
static void two_loops(void **state) {
    (void)state;
    dx_loop *one = new_loop(), *two = new_loop();
    int count = 0;
    dx_loop_post(one, add_one, &count);
    dx_loop_dispatch(two);
    assert_int_equal(count, 0);
    dx_loop_dispatch(one);
    assert_int_equal(count, 1);
    dx_loop_free(one);
    dx_loop_post(two, add_one, &count);
    dx_loop_dispatch(two);
    assert_int_equal(count, 2);
    dx_loop_free(two);
}

struct ticks {
    dx_loop *loop;
    dx_timer *timer;
    int count;
    int most;
};

static void on_tick(dx_timer *timer, void *user) {
    struct ticks *ticks = user;
    assert_ptr_equal(timer, ticks->timer);
    if (++ticks->count < ticks->most) {
        dx_timer_set(timer, 10);
    } else {
        dx_timer_free(timer);
        dx_loop_stop(ticks->loop);
    }
}

static void on_eager(dx_timer *timer, void *user) {
    ++*(int *)user;
    dx_timer_set(timer, 0);
}

/* One that is always due again lets a dispatch end. */
static void an_eager_timer_waits_its_turn(void **state) {
    (void)state;
    dx_loop *loop;
    dx_timer *timer;
    int count = 0;
    assert_int_equal(dx_loop_new(NULL, &loop, NULL), DX_OK);
    assert_int_equal(dx_timer_new(loop, on_eager, &count, &timer), DX_OK);
    dx_timer_set(timer, 0);
    dx_loop_dispatch(loop);
    assert_int_equal(count, 1);
    assert_true(dx_loop_wait_ms(loop) <= 1);
    usleep(2000);
    dx_loop_dispatch(loop);
    assert_int_equal(count, 2);
    dx_loop_free(loop);
}

static void times_of_ones_own(void **state) {
    (void)state;
    struct unit_memory memory = {0};
    dx_allocator alloc = unit_allocator(&memory);
    struct ticks ticks = {.most = 3};
    assert_int_equal(dx_loop_new(&alloc, &ticks.loop, NULL), DX_OK);
    assert_int_equal(dx_timer_new(ticks.loop, on_tick, &ticks, &ticks.timer), DX_OK);
    assert_true(dx_loop_deadline(ticks.loop) == DX_NEVER);
    dx_timer_set(ticks.timer, 60000);
    assert_true(dx_loop_wait_ms(ticks.loop) > 50000);
    dx_timer_set(ticks.timer, DX_NEVER);
    assert_true(dx_loop_deadline(ticks.loop) == DX_NEVER);
    uint64_t before = clock_ms();
    dx_timer_set(ticks.timer, 20);
    assert_int_equal(dx_loop_run(ticks.loop), DX_OK);
    assert_int_equal(ticks.count, 3);
    assert_true(clock_ms() - before >= 40);
    dx_timer *left;
    assert_int_equal(dx_timer_new(ticks.loop, on_tick, &ticks, &left), DX_OK);
    dx_timer_set(left, 1);
    memory.fail_at = memory.count + 1;
    assert_int_equal(dx_timer_new(ticks.loop, on_tick, &ticks, &left), DX_ERR_NOMEM);
    memory.fail_at = 0;
    dx_loop_free(ticks.loop);
    assert_int_equal(memory.blocks, 0);
    assert_null(dx_timer_free(NULL));
}

struct runs {
    dx_loop *loop;
    int times;
};

static void run_inside(void *user) {
    struct runs *runs = user;
    assert_int_equal(dx_loop_run(runs->loop), DX_BUSY);
    runs->times++;
    dx_loop_stop(runs->loop);
}

static void on_time_inside(dx_timer *timer, void *user) {
    dx_timer_free(timer);
    run_inside(user);
}

static void runs_once_at_a_time(void **state) {
    (void)state;
    struct runs runs = {new_loop(), 0};
    dx_timer *timer;
    alarm(20);
    assert_int_equal(dx_loop_post(runs.loop, run_inside, &runs), DX_OK);
    assert_int_equal(dx_loop_run(runs.loop), DX_OK);
    assert_int_equal(dx_timer_new(runs.loop, on_time_inside, &runs, &timer), DX_OK);
    dx_timer_set(timer, 0);
    assert_int_equal(dx_loop_run(runs.loop), DX_OK);
    assert_int_equal(runs.times, 2);
    dx_loop_free(runs.loop);
    alarm(0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(has_nothing_to_do),
        cmocka_unit_test(asks_its_allocator),
        cmocka_unit_test(runs_what_was_posted),
        cmocka_unit_test(ends_a_dispatch),
        cmocka_unit_test(takes_posts_of_threads),
        cmocka_unit_test(wakes_up),
        cmocka_unit_test(runs_once_at_a_time),
        cmocka_unit_test(lives_in_poll),
        cmocka_unit_test(two_loops),
        cmocka_unit_test(times_of_ones_own),
        cmocka_unit_test(an_eager_timer_waits_its_turn),
    };
    return cmocka_run_group_tests_name("loop", tests, NULL, NULL);
}
