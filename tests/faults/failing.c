/* One life of a child, again and again, with the first, second, third … system call of a kind
 * failing: once, and from then on. Nothing may hang, crash or be left behind. */
#include "faults/faults.h"
#include "faults/wrap.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/wait.h>

static struct family family;
static unsigned *calls;

/* Whether it got as far as having a child. */
static int live(dx_loop *loop) {
    family_init(&family, loop, "scribe");
    family.config.ladder.farewell_call = "bye";
    family.config.ladder.farewell_ms = 30;
    family.config.ladder.close_ms = 30;
    family.config.ladder.term_ms = 30;
    family.config.link.drain_ms = 30;
    dx_error error = {0};
    dx_status status = dx_child_start(loop, &family.config, &family.child, &error);
    if (status != DX_OK) {
        EXPECT(status, ==, DX_ERR_SYSTEM);
        EXPECT(error.system != 0, ==, 1);
        EXPECT(strlen(error.phrase), >, 0);
        return 0;
    }
    call_with(family_link(&family), "hello", NULL, &family.calls, 100 * slow);
    turn_until(loop, &family.calls.done, 1, 200 * slow);
    dx_child_stop(family.child);
    turn_until(loop, &family.gone, 1, 500 * slow);
    return 1;
}

static int once(enum wrapped kind, int error, unsigned at, int for_ever) {
    size_t fds = open_fds();
    *calls = 0;
    wrap = (struct wrap){
        .fail = kind, .fail_at = at, .for_ever = for_ever, .error = error, .calls = calls};
    dx_loop *loop = NULL;
    dx_error why = {0};
    int had_child = 0;
    uint64_t begin = now_ms();
    if (dx_loop_new(NULL, &loop, &why) == DX_OK)
        had_child = live(loop);
    else
        EXPECT(why.system, ==, error);
    if (had_child) {
        /* One failure is no reason not to end; if nothing works any more, freeing must do. */
        if (!for_ever) {
            EXPECT(family.gone, ==, 1);
            EXPECT(family.calls.done, ==, family.calls.made);
        }
        EXPECT(family.gone, <=, 1);
        EXPECT(family.calls.done, <=, 1);
        dx_child_free(family.child);
    }
    dx_loop_free(loop);
    wrap = (struct wrap){0};
    EXPECT(now_ms() - begin, <, 2000 * slow);
    EXPECT(open_fds(), ==, fds);
    return *calls >= at;
}

static void failing(enum wrapped kind, int error, int for_ever) {
    calls = mmap(NULL, sizeof *calls, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (unsigned at = 1; at < 200; at++) {
        /* Where it happened, for whoever reads of a failure. */
        char place[64];
        snprintf(place, sizeof place, "call %u%s", at, for_ever ? " and all that follow" : "");
        fault_place(place);
        int happened = once(kind, error, at, for_ever);
        /* Whom it could not wait for may be a zombie, but not alive. */
        if (kind == WRAP_WAITID)
            while (descendants_until(0, 20) && waitpid(-1, NULL, __WALL) > 0)
                continue;
        EXPECT(descendants_until(0, 500 * slow), ==, 0);
        if (!happened && at == 1)
            skip("the linker was not told to wrap this call");
        if (!happened)
            return;
    }
}

FAULT(failing_read, 60, "a read fails, once and from then on") {
    failing(WRAP_READ, EIO, 0);
    failing(WRAP_READ, EIO, 1);
}

FAULT(failing_write, 60, "a write fails, once and from then on") {
    failing(WRAP_WRITE, EIO, 0);
    failing(WRAP_WRITE, EIO, 1);
    failing(WRAP_WRITE, EPIPE, 1);
}

FAULT(failing_pipe2, 60, "a pipe can't be made, once and from then on") {
    failing(WRAP_PIPE2, EMFILE, 0);
    failing(WRAP_PIPE2, ENFILE, 1);
}

FAULT(failing_epoll_create1, 20, "no epoll") {
    failing(WRAP_EPOLL_CREATE1, EMFILE, 0);
}

FAULT(failing_epoll_ctl, 60, "a descriptor can't be watched, once and from then on") {
    failing(WRAP_EPOLL_CTL, ENOMEM, 0);
    failing(WRAP_EPOLL_CTL, ENOSPC, 1);
}

FAULT(failing_epoll_wait, 60, "waiting fails, once and from then on") {
    failing(WRAP_EPOLL_WAIT, EINTR, 0);
    failing(WRAP_EPOLL_WAIT, EINVAL, 1);
}

FAULT(failing_eventfd, 20, "no eventfd") {
    failing(WRAP_EVENTFD, EMFILE, 0);
}

FAULT(failing_fcntl, 60, "fcntl fails, once and from then on") {
    failing(WRAP_FCNTL, EMFILE, 0);
    failing(WRAP_FCNTL, EMFILE, 1);
}

FAULT(failing_dup2, 60, "dup2 fails in what is to become a child") {
    failing(WRAP_DUP2, EBUSY, 0);
    failing(WRAP_DUP2, EBUSY, 1);
}

FAULT(failing_waitid, 60, "waiting for a child fails, once and from then on") {
    failing(WRAP_WAITID, ECHILD, 0);
    failing(WRAP_WAITID, ECHILD, 1);
    failing(WRAP_WAITID, EINTR, 0);
}

FAULT(failing_clone, 60, "no process can be made, once and from then on") {
    failing(WRAP_CLONE, EAGAIN, 0);
    failing(WRAP_CLONE, ENOMEM, 1);
}

FAULT(failing_signal, 60, "a signal can't be sent through a pidfd, once and from then on") {
    failing(WRAP_SIGNAL, EPERM, 0);
    failing(WRAP_SIGNAL, EPERM, 1);
}

FAULT(failing_close_range, 60, "an old kernel without close_range") {
    failing(WRAP_CLOSE_RANGE, ENOSYS, 0);
    failing(WRAP_CLOSE_RANGE, ENOSYS, 1);
}
