/* Descriptors of the user's own in a loop. */
#include "unit/unit.h"

#include <duplex/loop.h>

#include <fcntl.h>
#include <stdio.h>

struct seen {
    dx_watch *watch;
    int fd;
    int times;
    unsigned ready;
    int free_it;
};

static void on_ready(dx_watch *watch, unsigned ready, void *user) {
    struct seen *seen = user;
    seen->times++;
    seen->ready = ready;
    if (seen->free_it)
        seen->watch = dx_watch_free(watch);
}

static void tells_what_can_be_read(void **state) {
    dx_loop *loop = NULL;
    struct seen seen = {0};
    int fds[2];
    (void)state;
    assert_int_equal(pipe2(fds, O_NONBLOCK), 0);
    assert_int_equal(dx_loop_new(NULL, &loop, NULL), DX_OK);
    assert_int_equal(dx_watch_new(loop, fds[0], DX_WATCH_READ, on_ready, &seen, &seen.watch),
                     DX_OK);
    dx_loop_dispatch(loop);
    assert_int_equal(seen.times, 0);
    assert_int_equal(write(fds[1], "ab", 2), 2);
    dx_loop_dispatch(loop);
    dx_loop_dispatch(loop); /* it is still there */
    assert_int_equal(seen.times, 2);
    assert_int_equal(seen.ready, DX_WATCH_READ);
    assert_int_equal(dx_watch_set(seen.watch, 0), DX_OK);
    dx_loop_dispatch(loop);
    assert_int_equal(seen.times, 2);
    assert_int_equal(dx_watch_set(seen.watch, DX_WATCH_READ), DX_OK);
    char byte[2];
    assert_int_equal(read(fds[0], byte, 2), 2);
    close(fds[1]);
    dx_loop_dispatch(loop); /* the end */
    assert_int_equal(seen.times, 3);
    assert_null(dx_watch_free(seen.watch));
    assert_null(dx_watch_free(NULL));
    assert_true(fcntl(fds[0], F_GETFD) >= 0); /* it stays open */
    close(fds[0]);
    dx_loop_free(loop);
}

static void tells_what_can_be_written(void **state) {
    dx_loop *loop = NULL;
    struct seen seen = {0};
    char block[4096] = {0};
    int fds[2];
    (void)state;
    assert_int_equal(pipe2(fds, O_NONBLOCK), 0);
    while (write(fds[1], block, sizeof block) > 0)
        ;
    assert_int_equal(dx_loop_new(NULL, &loop, NULL), DX_OK);
    assert_int_equal(dx_watch_new(loop, fds[1], DX_WATCH_WRITE, on_ready, &seen, &seen.watch),
                     DX_OK);
    dx_loop_dispatch(loop);
    assert_int_equal(seen.times, 0);
    while (read(fds[0], block, sizeof block) > 0)
        ;
    dx_loop_dispatch(loop);
    assert_int_equal(seen.times, 1);
    assert_int_equal(seen.ready, DX_WATCH_WRITE);
    while (write(fds[1], block, sizeof block) > 0)
        ;
    close(fds[0]); /* nobody will ever read it */
    dx_loop_dispatch(loop);
    assert_int_equal(seen.times, 2);
    dx_watch_free(seen.watch);
    close(fds[1]);
    dx_loop_free(loop);
}

static void goes_in_its_callback_and_with_its_loop(void **state) {
    dx_loop *loop = NULL;
    struct seen first = {.free_it = 1};
    struct seen second = {0};
    int fds[2];
    (void)state;
    assert_int_equal(pipe2(fds, O_NONBLOCK), 0);
    assert_int_equal(dx_loop_new(NULL, &loop, NULL), DX_OK);
    assert_int_equal(dx_watch_new(loop, fds[0], DX_WATCH_READ, on_ready, &first, &first.watch),
                     DX_OK);
    assert_int_equal(dx_watch_new(loop, fds[1], DX_WATCH_WRITE, on_ready, &second, &second.watch),
                     DX_OK);
    assert_int_equal(write(fds[1], "a", 1), 1);
    dx_loop_dispatch(loop);
    dx_loop_dispatch(loop);
    assert_int_equal(first.times, 1);
    assert_true(second.times >= 1);
    dx_loop_free(loop);
    close(fds[0]);
    close(fds[1]);
}

static void refuses_what_cannot_be_watched(void **state) {
    dx_loop *loop = NULL;
    struct seen seen = {0};
    (void)state;
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_int_equal(dx_loop_new(NULL, &loop, NULL), DX_OK);
    assert_int_equal(dx_watch_new(loop, fileno(file), DX_WATCH_READ, on_ready, &seen, &seen.watch),
                     DX_ERR_INVALID);
    assert_int_equal(dx_watch_new(loop, -1, DX_WATCH_READ, on_ready, &seen, &seen.watch),
                     DX_ERR_INVALID);
    assert_int_equal(dx_watch_new(loop, 999, 0, on_ready, &seen, &seen.watch), DX_ERR_SYSTEM);
    assert_null(seen.watch);
    dx_loop_free(loop);
    fclose(file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tells_what_can_be_read),
        cmocka_unit_test(tells_what_can_be_written),
        cmocka_unit_test(goes_in_its_callback_and_with_its_loop),
        cmocka_unit_test(refuses_what_cannot_be_watched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
