/* A link that speaks on after the end of its input. */
#include "unit/unit.h"

#include <duplex/link.h>

#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>

struct half {
    dx_loop *loop;
    dx_link *link;
    unsigned asked, ended, closed;
    bool frees;
};

static void on_echo(dx_link *link, const dx_event *event, void *user) {
    struct half *half = user;
    assert_int_equal(half->ended, 0);
    half->asked++;
    assert_int_equal(dx_link_reply(link, event->request, dx_json_text("1", 1)), DX_OK);
}

static void on_ended(dx_link *link, void *user) {
    struct half *half = user;
    assert_int_equal(half->closed, 0);
    half->ended++;
    if (half->frees) {
        half->link = dx_link_free(link);
        return;
    }
    assert_int_equal(dx_link_notify(link, dx_str("last"), dx_json_none()), DX_OK);
}

static void on_closed(dx_link *link, const dx_error *why, void *user) {
    struct half *half = user;
    (void)link;
    assert_int_equal(why->fault, DX_FAULT_NONE);
    half->closed++;
}

static void turn(struct half *half, int times) {
    while (times-- > 0) {
        struct pollfd fd = {dx_loop_fd(half->loop), POLLIN, 0};
        poll(&fd, 1, 5);
        dx_loop_dispatch(half->loop);
    }
}

static void play(const char *sent, dx_framing framing, bool frees, const char *wanted) {
    static const dx_handler handlers[] = {{"echo", on_echo}, {NULL, NULL}};
    struct half half = {.frees = frees};
    int in[2];
    int out[2];
    char got[400] = "";
    dx_link_config config = dx_link_defaults(framing, DX_SIDE_PLUGIN);
    config.handlers = handlers;
    config.on_ended = on_ended;
    config.on_closed = on_closed;
    config.user = &half;
    assert_int_equal(pipe2(in, O_CLOEXEC), 0);
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    assert_int_equal(dx_loop_new(NULL, &half.loop, NULL), DX_OK);
    assert_int_equal(dx_link_open(half.loop, in[0], out[1], &config, &half.link, NULL), DX_OK);
    assert_int_equal(write(in[1], sent, strlen(sent)), (ssize_t)strlen(sent));
    close(in[1]);
    turn(&half, 5);
    assert_int_equal(half.asked, 1);
    assert_int_equal(half.ended, 1);
    assert_int_equal(half.closed, 0);
    if (half.link) {
        assert_int_equal(dx_link_notify(half.link, dx_str("bye"), dx_json_none()), DX_OK);
        dx_link_close(half.link);
        turn(&half, 5);
        assert_int_equal(half.closed, 1);
        assert_int_equal(half.ended, 1);
    }
    assert_true(read(out[0], got, sizeof got - 1) > 0);
    assert_string_equal(got, wanted);
    close(out[0]);
    dx_loop_free(half.loop);
}

#define ECHO "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"echo\"}"
#define ANSWER "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":1}"
#define LAST "{\"jsonrpc\":\"2.0\",\"method\":\"last\"}"
#define BYE "{\"jsonrpc\":\"2.0\",\"method\":\"bye\"}"

static void test_lines(void **state) {
    (void)state;
    play(ECHO "\n", DX_FRAMING_LINE, false, ANSWER "\n" LAST "\n" BYE "\n");
    play(ECHO, DX_FRAMING_LINE, false, ANSWER "\n" LAST "\n" BYE "\n");
    play(ECHO "\n", DX_FRAMING_LINE, true, ANSWER "\n");
}

static void test_headers(void **state) {
    (void)state;
    play("Content-Length: 40\r\n\r\n" ECHO, DX_FRAMING_HEADER, false,
         "Content-Length: 35\r\n\r\n" ANSWER "Content-Length: 33\r\n\r\n" LAST
         "Content-Length: 32\r\n\r\n" BYE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_headers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
