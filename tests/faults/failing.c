/* One life of a child, and one conversation over a socket, again and again, with the first, second,
 * third … system call of a kind failing: once, and from then on. Nothing may hang, crash or be left
 * behind. disturb.c does the same to the rows of the catalogue. */
#include "faults/faults.h"
#include "faults/wrap.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/wait.h>

static unsigned *calls;

static int has_happened(void) {
    return *calls >= wrap.fail_at;
}

static void expect_told(dx_status status, const dx_error *error) {
    EXPECT(status, ==, DX_ERR_SYSTEM);
    EXPECT(error->system != 0, ==, 1);
    EXPECT(strlen(error->phrase), >, 0);
}

/* One failure is no reason not to end; if nothing works any more, freeing must do. */
static void live(dx_loop *loop) {
    static struct family family;
    dx_error error = {0};
    family_init(&family, loop, "scribe");
    family.config.ladder.farewell_call = "bye";
    family.config.ladder.farewell_ms = 30;
    family.config.ladder.close_ms = 30;
    family.config.ladder.term_ms = 30;
    family.config.link.drain_ms = 30;
    dx_status status = dx_child_start(loop, &family.config, &family.child, &error);
    if (status != DX_OK) {
        expect_told(status, &error);
        return;
    }
    call_with(family_link(&family), "hello", NULL, &family.calls, 100 * slow);
    turn_until(loop, &family.calls.done, 1, 200 * slow);
    dx_child_stop(family.child);
    turn_until(loop, &family.gone, 1, 500 * slow);
    if (!wrap.for_ever) {
        EXPECT(family.gone, ==, 1);
        EXPECT(family.calls.done, ==, family.calls.made);
    }
    EXPECT(family.gone, <=, 1);
    EXPECT(family.calls.done, <=, 1);
    dx_child_free(family.child);
}

static void on_echo(dx_link *link, const dx_event *event, void *user) {
    (void)user;
    dx_link_reply(link, event->request, dx_json_checked(event->body));
}

static void on_connect(dx_listener *listener, int fd, void *user) {
    static const dx_handler handlers[] = {{"echo", on_echo}, {NULL, NULL}};
    dx_link_config config = dx_link_defaults(DX_FRAMING_LINE, DX_SIDE_PLUGIN);
    dx_link *link = NULL;
    (void)listener;
    config.handlers = handlers;
    if (dx_link_open(user, fd, fd, &config, &link, NULL) != DX_OK)
        close(fd);
}

/* A connection that cannot be accepted waits in the kernel: it is tried again, but not all the
 * time, and nothing else is a reason not to answer. */
static void echo(dx_loop *loop, dx_link *link) {
    struct calls echoes = {0};
    uint64_t cpu = cpu_ms();
    call_with(link, "echo", "[1]", &echoes, 400 * slow);
    turn_until(loop, &echoes.done, 1, 800 * slow);
    EXPECT(echoes.done, ==, 1);
    EXPECT(cpu_ms() - cpu, <, 50 * slow);
    /* Whose connection it is cannot be told without getsockopt(); netlink's socket is one of two
     * ways to learn it. */
    if (wrap.fail == WRAP_GETSOCKOPT)
        EXPECT(echoes.results, ==, !has_happened());
    else if (wrap.fail == WRAP_SOCKET || !wrap.for_ever || !has_happened())
        EXPECT(echoes.results, ==, 1);
}

static void meet(dx_loop *loop, const char *address) {
    dx_listener *listener = NULL;
    dx_link *link = NULL;
    dx_error error = {0};
    char port[32];
    dx_listener_config listening = {
        .on_connect = on_connect, .user = loop, .framing = DX_FRAMING_LINE};
    dx_status status = dx_listener_open(loop, address, &listening, &listener, &error);
    if (status == DX_OK) {
        unsigned number = dx_listener_port(listener);
        snprintf(port, sizeof port, "tcp:%u", number);
        dx_link_config config = dx_link_defaults(DX_FRAMING_LINE, DX_SIDE_HOST);
        status = dx_link_connect(loop, number ? port : address, &config, &link, &error);
    }
    /* Accepting is tried again; everything else is told to whoever wanted it. */
    EXPECT(status == DX_OK, ==, !has_happened());
    if (status == DX_OK)
        echo(loop, link);
    else
        expect_told(status, &error);
    dx_link_free(link);
    dx_listener_free(listener);
}

static void meet_by_path(dx_loop *loop) {
    char folder[] = "/tmp/duplex-meet-XXXXXX", address[64];
    EXPECT(mkdtemp(folder) != NULL, ==, 1);
    snprintf(address, sizeof address, "unix:%s/socket", folder);
    meet(loop, address);
    EXPECT(rmdir(folder), ==, 0); /* so the socket is gone */
}

static void meet_by_port(dx_loop *loop) {
    meet(loop, "tcp:0");
}

/* Whether there was such a call. */
static int fails_at(void (*story)(dx_loop *loop), struct wrap how) {
    size_t fds = open_fds();
    uint64_t begin = now_ms();
    dx_loop *loop = NULL;
    dx_error why = {0};
    *calls = 0;
    wrap = how;
    if (dx_loop_new(NULL, &loop, &why) == DX_OK)
        story(loop);
    else
        EXPECT(why.system, ==, how.error);
    dx_loop_free(loop);
    int happened = has_happened();
    wrap = (struct wrap){0};
    EXPECT(now_ms() - begin, <, 2000 * slow);
    EXPECT(open_fds(), ==, fds);
    /* Whom it could not wait for may be a zombie, but not alive. */
    if (how.fail == WRAP_WAITID)
        while (descendants_until(0, 20) && waitpid(-1, NULL, __WALL) > 0)
            continue;
    EXPECT(descendants_until(0, 500 * slow), ==, 0);
    return happened;
}

static void failing_how(void (*story)(dx_loop *loop), enum wrapped kind, int error, int for_ever) {
    struct wrap how = {.fail = kind, .error = error, .for_ever = for_ever, .calls = calls};
    do {
        /* Where it happened, for whoever reads of a failure. */
        char place[64];
        snprintf(place, sizeof place, "call %u%s", ++how.fail_at,
                 for_ever ? " and all that follow" : "");
        fault_place(place);
        EXPECT(how.fail_at, <, 200);
    } while (fails_at(story, how));
    if (how.fail_at == 1)
        skip("the linker was not told to wrap this call");
}

/* With the one error once, with the other from then on; 0: not so. */
static void failing(void (*story)(dx_loop *loop), enum wrapped kind, int once, int from_then_on) {
    calls = mmap(NULL, sizeof *calls, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (once)
        failing_how(story, kind, once, 0);
    if (from_then_on)
        failing_how(story, kind, from_then_on, 1);
}

FAULT(failing_read, 60, "a read fails, once and from then on") {
    failing(live, WRAP_READ, EIO, EIO);
}

FAULT(failing_write, 60, "a write fails, once and from then on") {
    failing(live, WRAP_WRITE, EIO, EIO);
    failing(live, WRAP_WRITE, 0, EPIPE);
}

FAULT(failing_pipe2, 60, "a pipe cannot be made, once and from then on") {
    failing(live, WRAP_PIPE2, EMFILE, ENFILE);
}

FAULT(failing_epoll_create1, 20, "no epoll") {
    failing(live, WRAP_EPOLL_CREATE1, EMFILE, 0);
}

FAULT(failing_epoll_ctl, 60, "a descriptor cannot be watched, once and from then on") {
    failing(live, WRAP_EPOLL_CTL, ENOMEM, ENOSPC);
}

FAULT(failing_epoll_wait, 60, "waiting fails, once and from then on") {
    failing(live, WRAP_EPOLL_WAIT, EINTR, EINVAL);
}

FAULT(failing_eventfd, 20, "no eventfd") {
    failing(live, WRAP_EVENTFD, EMFILE, 0);
}

FAULT(failing_fcntl, 60, "fcntl fails, once and from then on") {
    failing(live, WRAP_FCNTL, EMFILE, EMFILE);
}

FAULT(failing_dup2, 60, "dup2 fails in what is to become a child") {
    failing(live, WRAP_DUP2, EBUSY, EBUSY);
}

FAULT(failing_waitid, 60, "waiting for a child fails, once and from then on") {
    failing(live, WRAP_WAITID, ECHILD, ECHILD);
    failing(live, WRAP_WAITID, EINTR, EINVAL);
}

FAULT(failing_clone, 60, "no process can be made, once and from then on") {
    failing(live, WRAP_CLONE, EAGAIN, ENOMEM);
}

FAULT(failing_execve, 60, "a program cannot be started, once and from then on") {
    failing(live, WRAP_EXECVE, ENOMEM, EACCES);
}

FAULT(failing_pidfd_open, 60, "the guardian cannot watch its host, once and from then on") {
    failing(live, WRAP_PIDFD_OPEN, EMFILE, EMFILE);
}

FAULT(failing_signal, 60, "a signal cannot be sent through a pidfd, once and from then on") {
    failing(live, WRAP_SIGNAL, EPERM, EPERM);
}

FAULT(failing_close_range, 60, "an old kernel without close_range") {
    failing(live, WRAP_CLOSE_RANGE, ENOSYS, ENOSYS);
}

/* A host with two families that ends without a word. */
static _Noreturn void end_suddenly(struct wrap how) {
    static struct family families[2];
    dx_loop *loop = loop_new();
    *calls = 0;
    wrap = how;
    for (size_t i = 0; i < LENGTH(families); i++) {
        family_init(&families[i], loop, "family");
        struct family *family = &families[i];
        if (dx_child_start(loop, &family->config, &family->child, NULL) == DX_OK)
            family_grandchild(family);
    }
    _exit(0);
}

static void die_after(enum wrapped kind, int error) {
    struct wrap how = {.fail = kind, .error = error, .calls = calls};
    for (how.fail_at = 1; how.fail_at <= 10; how.fail_at++) {
        char place[64];
        snprintf(place, sizeof place, "kind %d, call %u", (int)kind, how.fail_at);
        fault_place(place);
        pid_t pid = fork();
        if (pid == 0)
            end_suddenly(how);
        EXPECT(waitpid(pid, NULL, 0), ==, pid);
        EXPECT(descendants_until(0, 2000 * slow), ==, 0);
    }
}

FAULT(failing_guardian, 30, "a guardian that could not be had at first knows of all, later") {
    calls = mmap(NULL, sizeof *calls, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    die_after(WRAP_CLONE, EAGAIN);
    die_after(WRAP_PIPE2, EMFILE);
    die_after(WRAP_EPOLL_CTL, ENOMEM);
    die_after(WRAP_PIDFD_OPEN, EMFILE);
}

FAULT(failing_socket, 20, "no socket, once and from then on") {
    failing(meet_by_path, WRAP_SOCKET, EMFILE, ENFILE);
    failing(meet_by_port, WRAP_SOCKET, EMFILE, ENFILE);
}

FAULT(failing_bind, 20, "an address is taken, once and from then on") {
    failing(meet_by_path, WRAP_BIND, EADDRINUSE, EACCES);
    failing(meet_by_port, WRAP_BIND, EADDRINUSE, EACCES);
}

FAULT(failing_listen, 20, "nobody may listen, once and from then on") {
    failing(meet_by_path, WRAP_LISTEN, EADDRINUSE, EADDRINUSE);
    failing(meet_by_port, WRAP_LISTEN, EADDRINUSE, EADDRINUSE);
}

FAULT(failing_accept4, 20,
      "no descriptor for who connects: the listener waits, and does not spin") {
    failing(meet_by_path, WRAP_ACCEPT4, EMFILE, EMFILE);
    failing(meet_by_port, WRAP_ACCEPT4, ECONNABORTED, ENFILE);
}

FAULT(failing_connect, 20, "nobody can be connected to, once and from then on") {
    failing(meet_by_path, WRAP_CONNECT, ECONNREFUSED, EAGAIN);
    failing(meet_by_port, WRAP_CONNECT, ECONNREFUSED, ENETUNREACH);
}

FAULT(failing_getsockopt, 20, "what became of a connect, or whose it is, cannot be learnt") {
    failing(meet_by_path, WRAP_GETSOCKOPT, ENOBUFS, ENOBUFS);
    failing(meet_by_port, WRAP_GETSOCKOPT, ENOBUFS, ENOBUFS);
}

FAULT(failing_chmod, 20, "a socket cannot be made private, once and from then on") {
    failing(meet_by_path, WRAP_CHMOD, EPERM, EPERM);
}
