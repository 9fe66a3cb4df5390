/* Waiting in the command: signals that come while there is always something to do. */
#include "cli/wait.h"
#include "unit/unit.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

static void on_ready(dx_watch *watch, unsigned ready, void *user) {
    int *times = user;
    (void)watch;
    (void)ready;
    ++*times;
}

static void hears_signals_beside_what_is_ready(void **state) {
    dx_loop *loop = NULL;
    dx_watch *watch = NULL;
    int times = 0;
    int fds[2];
    (void)state;
    assert_int_equal(pipe2(fds, O_NONBLOCK | O_CLOEXEC), 0);
    assert_int_equal(write(fds[1], "a", 1), 1); /* nobody reads it */
    assert_int_equal(dx_loop_new(NULL, &loop, NULL), DX_OK);
    assert_int_equal(dx_watch_new(loop, fds[0], DX_WATCH_READ, on_ready, &times, &watch), DX_OK);
    cli_catch_signals();
    cli_wait(loop, DX_NEVER);
    assert_int_equal(cli_interrupts(), 0);
    raise(SIGINT);
    assert_int_equal(cli_interrupts(), 0);
    cli_wait(loop, DX_NEVER);
    assert_int_equal(cli_interrupts(), 1);
    assert_false(cli_is_told_to_end());
    raise(SIGTERM);
    struct pollfd place;
    assert_int_equal(cli_poll(loop, &place, 1, DX_NEVER), 1);
    assert_int_equal(cli_interrupts(), 2);
    assert_true(cli_is_told_to_end());
    assert_int_equal(times, 2);
    dx_watch_free(watch);
    dx_loop_free(loop);
    close(fds[0]);
    close(fds[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(hears_signals_beside_what_is_ready)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
