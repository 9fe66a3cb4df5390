/* Bytes in pieces, and ends in the middle of them: F72, F73, F76. */
#include "faults/faults.h"
#include "faults/wrap.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>

struct ends {
    dx_loop *loop;
    dx_link *asks, *answers;
    struct calls calls;
    int seen, torn, closed;
    dx_error why;
};

/* Every message carries its number: one that is missing, doubled or out of order is seen. */
static void on_count(dx_link *link, const dx_event *event, void *user) {
    struct ends *ends = user;
    char expected[32];
    snprintf(expected, sizeof expected, "[%d,", ends->seen++);
    ends->torn += event->body.len < strlen(expected) ||
                  memcmp(event->body.at, expected, strlen(expected)) != 0;
    if (event->request)
        dx_link_reply(link, event->request, dx_json_checked(event->body));
}

static void on_closed(dx_link *link, const dx_error *why, void *user) {
    struct ends *ends = user;
    (void)link;
    ends->closed++;
    ends->why = *why;
}

static const dx_handler handlers[] = {{"count", on_count}, {NULL, NULL}};

static dx_link *open_end(struct ends *ends, int in, int out, dx_framing framing, dx_side side) {
    dx_link_config config = dx_link_defaults(framing, side);
    config.handlers = handlers;
    config.on_closed = on_closed;
    config.user = ends;
    dx_link *link = NULL;
    EXPECT(dx_link_open(ends->loop, in, out, &config, &link, NULL), ==, DX_OK);
    return link;
}

static void open_ends(struct ends *ends, const int pair[2], dx_framing framing) {
    memset(ends, 0, sizeof *ends);
    ends->loop = loop_new();
    ends->asks = open_end(ends, pair[0], pair[0], framing, DX_SIDE_HOST);
    ends->answers = open_end(ends, pair[1], pair[1], framing, DX_SIDE_PLUGIN);
}

static void close_ends(struct ends *ends) {
    dx_link_free(ends->asks);
    dx_link_free(ends->answers);
    dx_loop_free(ends->loop);
}

static void narrow(int fd) {
    int size = 1;
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
}

static void count_through(struct ends *ends, int count, size_t fill) {
    char *params = malloc(fill + 64);
    for (int i = 0; i < count; i++) {
        int len = snprintf(params, 64, "[%d,\"", i);
        memset(params + len, 'a' + i % 26, fill);
        strcpy(params + (size_t)len + fill, "\"]");
        call(ends->asks, "count", params, &ends->calls);
    }
    free(params);
    turn_until(ends->loop, &ends->calls.done, count, 8000 * slow);
    EXPECT(ends->calls.results, ==, count);
    EXPECT(ends->calls.done, ==, count);
    EXPECT(ends->seen, ==, count);
    EXPECT(ends->torn, ==, 0);
}

static void count_over_narrow(dx_framing framing, int count, size_t fill) {
    struct ends ends;
    int pair[2];
    EXPECT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), ==, 0);
    narrow(pair[0]);
    narrow(pair[1]);
    open_ends(&ends, pair, framing);
    count_through(&ends, count, fill);
    close_ends(&ends);
}

FAULT(F72_narrow_socket, 10, "a socket with a tiny buffer tears and doubles no message") {
    count_over_narrow(DX_FRAMING_LINE, 300, 10000);
    count_over_narrow(DX_FRAMING_HEADER, 300, 10000);
}

static void count_in_pieces(size_t most, unsigned interrupt, dx_framing framing) {
    wrap.most = most;
    wrap.interrupt = interrupt;
    wrap.on = 1;
    count_over_narrow(framing, 40, 300);
    wrap.on = 0;
}

FAULT(F72_byte_by_byte, 20, "reads and writes of one byte, and every second one interrupted") {
    for (dx_framing framing = DX_FRAMING_HEADER; framing <= DX_FRAMING_LINE; framing++) {
        count_in_pieces(1, 0, framing);
        count_in_pieces(1, 2, framing);
        count_in_pieces(7, 3, framing);
    }
    EXPECT(wrap.count, >, 1000);
}

static void on_alarm(int number) {
    (void)number;
}

static void alarms(long us) {
    struct sigaction action = {.sa_handler = on_alarm}; /* and no SA_RESTART */
    sigaction(SIGALRM, &action, NULL);
    struct itimerval timer = {{0, us}, {0, us}};
    setitimer(ITIMER_REAL, &timer, NULL);
}

FAULT(F72_busy_timer, 20, "signals without SA_RESTART at any time do no harm") {
    alarms(200);
    count_over_narrow(DX_FRAMING_LINE, 300, 10000);
    dx_loop *loop = loop_new();
    for (int i = 0; i < 10; i++) {
        struct family family;
        family_init(&family, loop, "parrot");
        family_start(&family);
        for (int n = 0; n < 10; n++)
            ask(family_link(&family), "hello", "[1]", &family.calls);
        family_end(&family, 3000 * slow);
        EXPECT(family.how.known, ==, 1);
        EXPECT(family.how.code, ==, 0);
    }
    dx_loop_free(loop);
    alarms(0);
}

FAULT(F72_dribble, 10, "an answer that comes byte by byte is one answer") {
    dx_loop *loop = loop_new();
    struct family family;
    family_init(&family, loop, "dribble 100");
    family_start(&family);
    for (int i = 0; i < 20; i++) {
        ask(family_link(&family), "hello", "[\"whole\"]", &family.calls);
        EXPECT(strcmp(family.calls.body, "[\"whole\"]"), ==, 0);
    }
    family_end(&family, 3000 * slow);
    EXPECT(family.events, ==, 0);
    dx_loop_free(loop);
}

FAULT(F72_child_byte_by_byte, 10, "a child whose every byte is read and written alone") {
    wrap.most = 1;
    wrap.interrupt = 3;
    wrap.on = 1;
    dx_loop *loop = loop_new();
    struct family family;
    family_init(&family, loop, "scribe");
    family_start(&family);
    for (int i = 0; i < 20; i++)
        ask(family_link(&family), "hello", "[\"whole\"]", &family.calls);
    family_end(&family, 3000 * slow);
    EXPECT(family.how.code, ==, 0);
    EXPECT(family.lines, ==, 20);
    EXPECT_PART(family.how.errors, "\"id\":20,");
    dx_loop_free(loop);
    wrap.on = 0;
}

/* Nobody tells that there is a second one; but a deadline looks once more before it counts. */
FAULT(F72_packets, 10, "a pipe in packet mode gives one packet a read, and loses none") {
    struct ends ends = {.loop = loop_new()};
    int to[2];
    int from[2];
    EXPECT(pipe2(to, O_CLOEXEC), ==, 0);
    EXPECT(pipe2(from, O_CLOEXEC | O_DIRECT), ==, 0);
    ends.asks = open_end(&ends, from[0], to[1], DX_FRAMING_LINE, DX_SIDE_HOST);
    static const char *const packets[] = {
        "{\"jsonrpc\":\"2.0\",\"method\":\"count\",\"params\":[0,1]}\n",
        "{\"jsonrpc\":\"2.0\",\"method\":\"count\",\"params\":[1,1]}\n",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":[2]}\n"};
    EXPECT(call_with(ends.asks, "hello", "[]", &ends.calls, 300), ==, DX_OK);
    for (int i = 0; i < 3; i++)
        EXPECT((size_t)write(from[1], packets[i], strlen(packets[i])), ==, strlen(packets[i]));
    turn_until(ends.loop, &ends.calls.done, 1, 8000 * slow);
    EXPECT(ends.calls.results, ==, 1);
    EXPECT(ends.seen, ==, 2);
    EXPECT(ends.torn, ==, 0);
    dx_link_free(ends.asks);
    dx_loop_free(ends.loop);
    close(to[0]);
    close(from[1]);
}

static int sigpipe_is_pending(void) {
    sigset_t set;
    sigpending(&set);
    return sigismember(&set, SIGPIPE);
}

static char *long_params(size_t len) {
    char *text = malloc(len + 5);
    memset(text, 'l', len + 5);
    memcpy(text, "[\"", 2);
    memcpy(text + len + 2, "\"]", 3);
    return text;
}

static void die_in_our_write(const char *command) {
    dx_loop *loop = loop_new();
    struct family family;
    family_init(&family, loop, command);
    family_start(&family);
    char *params = long_params(1 << 20);
    for (int i = 0; i < 5; i++)
        call(family_link(&family), "long", params, &family.calls);
    free(params);
    uint64_t begin = now_ms();
    family_wait(&family, 3000 * slow);
    EXPECT(family.gone_ms - begin, <, 1000 * slow);
    turn_for(loop, 50);
    EXPECT(family.gone, ==, 1);
    EXPECT(family.calls.lost, ==, 5);
    EXPECT(family.calls.done, ==, 5);
    EXPECT(family.how.signal, ==, SIGKILL);
    EXPECT_PART(family.how.errors, "last words");
    dx_child_free(family.child);
    dx_loop_free(loop);
}

FAULT(F73_dies_in_our_write, 10,
      "a child that dies in the middle of our write ends once, no SIGPIPE") {
    signal(SIGPIPE, SIG_DFL);
    for (int i = 0; i < 5; i++)
        die_in_our_write("bites 10");
    die_in_our_write("bites 70000");
    struct sigaction action;
    sigaction(SIGPIPE, NULL, &action);
    EXPECT(action.sa_handler == SIG_DFL, ==, 1);
    sigset_t mask;
    sigprocmask(SIG_BLOCK, NULL, &mask);
    EXPECT(sigismember(&mask, SIGPIPE), ==, 0);
    EXPECT(sigpipe_is_pending(), ==, 0);
}

FAULT(F73_sigpipe_of_others, 10,
      "a SIGPIPE that the embedder has pending is still there after ours") {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    sigprocmask(SIG_BLOCK, &set, NULL);
    die_in_our_write("bites 10");
    EXPECT(sigpipe_is_pending(), ==, 0);
    raise(SIGPIPE);
    die_in_our_write("bites 10");
    EXPECT(sigpipe_is_pending(), ==, 1);
}

static void other_end_closes(int in, int out, int other_in, int other_out) {
    struct ends ends = {0};
    ends.loop = loop_new();
    ends.asks = open_end(&ends, in, out, DX_FRAMING_LINE, DX_SIDE_HOST);
    char *params = long_params(1 << 20);
    call(ends.asks, "long", params, &ends.calls);
    call(ends.asks, "long", params, &ends.calls);
    free(params);
    turn_for(ends.loop, 20);
    char some[100];
    EXPECT(read(other_in, some, sizeof some), ==, sizeof some);
    close(other_in);
    if (other_out != other_in)
        close(other_out);
    turn_until(ends.loop, &ends.closed, 1, 3000);
    EXPECT(ends.closed, ==, 1);
    EXPECT(ends.calls.lost, ==, 2);
    turn_for(ends.loop, 20);
    EXPECT(ends.closed, ==, 1);
    EXPECT(dx_link_notify(ends.asks, dx_str("more"), dx_json_none()), ==, DX_CLOSED);
    close_ends(&ends);
}

FAULT(F73_other_end_closes, 10,
      "a pipe or socket that closes in the middle of our write: no SIGPIPE") {
    signal(SIGPIPE, SIG_DFL);
    int pair[2], there[2], back[2];
    EXPECT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), ==, 0);
    other_end_closes(pair[0], pair[0], pair[1], pair[1]);
    EXPECT(pipe2(there, O_CLOEXEC) + pipe2(back, O_CLOEXEC), ==, 0);
    other_end_closes(back[0], there[1], there[0], back[1]);
}

static int bytes_waiting(int fd) {
    int count = 0;
    ioctl(fd, FIONREAD, &count);
    return count;
}

static void on_turn(dx_link *link, const dx_event *event, void *user) {
    (void)event;
    (void)user;
    for (int i = 0; i < 100; i++)
        dx_link_notify(link, dx_str("one"), dx_json_none());
}

static void post_notes(void *user) {
    on_turn(user, NULL, NULL);
}

enum { NOTE = sizeof "{\"jsonrpc\":\"2.0\",\"method\":\"one\"}\n" - 1 };

FAULT(F76_flushed, 5, "after each turn everything is on its way") {
    static const dx_handler turning[] = {{"turn", on_turn}, {NULL, NULL}};
    dx_loop *loop = loop_new();
    int pair[2];
    EXPECT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), ==, 0);
    dx_link_config config = dx_link_defaults(DX_FRAMING_LINE, DX_SIDE_HOST);
    config.handlers = turning;
    dx_link *link;
    EXPECT(dx_link_open(loop, pair[0], pair[0], &config, &link, NULL), ==, DX_OK);
    turn_for(loop, 10);

    /* What is said outside of a dispatch makes the loop want one. */
    dx_link_notify(link, dx_str("one"), dx_json_none());
    struct pollfd fd = {dx_loop_fd(loop), POLLIN, 0};
    int ready = poll(&fd, 1, 0);
    EXPECT(ready > 0 || dx_loop_wait_ms(loop) == 0 || bytes_waiting(pair[1]) == NOTE, ==, 1);
    dx_loop_dispatch(loop);
    EXPECT(bytes_waiting(pair[1]), ==, NOTE);

    /* What is said in a handler, and in a posted function, is written by the same dispatch. */
    static const char turn[] = "{\"jsonrpc\":\"2.0\",\"method\":\"turn\"}\n";
    EXPECT(write(pair[1], turn, sizeof turn - 1), ==, sizeof turn - 1);
    dx_loop_dispatch(loop);
    EXPECT(bytes_waiting(pair[1]), ==, 101 * NOTE);
    dx_loop_post(loop, post_notes, link);
    dx_loop_dispatch(loop);
    EXPECT(bytes_waiting(pair[1]), ==, 201 * NOTE);

    /* And then there is nothing to do: the loop may sleep. */
    EXPECT(poll(&fd, 1, 0), ==, 0);
    EXPECT(dx_loop_wait_ms(loop) != 0, ==, 1);
    dx_link_free(link);
    dx_loop_free(loop);
    close(pair[1]);
}
