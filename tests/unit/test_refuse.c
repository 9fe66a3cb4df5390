/* Who wants a say in how nonsense is answered; ids of any kind; batches that are lax. */
#include "unit/talk.h"

#include <duplex/link.h>

static void on_refuse(void *user, dx_refusal *refusal) {
    int *times = user;
    ++*times;
    assert_int_not_equal(refusal->fault, DX_FAULT_NONE);
    refusal->no_data = 1;
    if (refusal->code == DX_CODE_PARSE)
        refusal->message = dx_str("what?");
    else if (refusal->fault == DX_FAULT_METHOD_TYPE)
        refusal->code = 0;
    else
        refusal->no_id = 1;
}

static void has_a_say(void **state) {
    dx_peer_config config = dx_peer_defaults(DX_FRAMING_LINE, DX_SIDE_PLUGIN);
    int times = 0;
    (void)state;
    config.flags |= DX_PEER_NO_STRAY;
    config.refuse = on_refuse;
    config.refuse_user = &times;
    dx_peer *peer = talk_new(&config);
    talk_feed(peer, "nonsense\n", 0);
    talk_next(peer, DX_EVENT_VIOLATION);
    talk_said(peer, V ",\"id\":null,\"error\":{\"code\":-32700,\"message\":\"what?\"}}\n");
    talk_feed(peer, V ",\"id\":3,\"method\":4}\n", 0);
    talk_next(peer, DX_EVENT_VIOLATION);
    talk_said(peer, "");
    talk_feed(peer, "{\"jsonrpc\":\"1.0\",\"id\":5,\"method\":\"a\"}\n", 0);
    talk_next(peer, DX_EVENT_VIOLATION);
    talk_said(peer,
              V ",\"id\":null,\"error\":{\"code\":-32600,\"message\":\"Invalid Request\"}}\n");
    assert_int_equal(times, 3);
    dx_peer_free(peer);
}

static void expect_echo(unsigned lenient, const char *id, int taken) {
    dx_peer_config config = dx_peer_defaults(DX_FRAMING_LINE, DX_SIDE_PLUGIN);
    char text[200];
    config.lenient |= lenient;
    dx_peer *peer = talk_new(&config);
    snprintf(text, sizeof text, "%s,\"id\":%s,\"method\":\"a\"}\n", V, id);
    talk_feed(peer, text, 0);
    const dx_event *event = talk_next(peer, taken ? DX_EVENT_REQUEST : DX_EVENT_VIOLATION);
    if (taken) {
        unit_same(event->id, dx_str(id));
        assert_int_equal(dx_peer_reply(peer, event->request, dx_json_none()), DX_OK);
        snprintf(text, sizeof text, "%s,\"id\":%s,\"result\":null}\n", V, id);
        talk_said(peer, text);
    }
    dx_peer_free(peer);
}

static void takes_any_id(void **state) {
    static const char *const odd[] = {"null", "true", "{\"a\":1}", "[1,[2]]"};
    (void)state;
    for (size_t i = 0; i < LENGTH(odd); i++) {
        expect_echo(0, odd[i], 0);
        expect_echo(DX_LENIENT_ID_ANY, odd[i], 1);
    }
    expect_echo(DX_LENIENT_ID_ANY, "1.5", 1);
    expect_echo(DX_LENIENT_ID_ANY, "12345678901234567890", 1);
}

static void is_lax_with_batches(void **state) {
    dx_peer_config config = dx_peer_defaults(DX_FRAMING_LINE, DX_SIDE_PLUGIN);
    (void)state;
    config.flags = DX_PEER_BATCH | DX_PEER_BATCH_LAX;
    dx_peer *peer = talk_new(&config);
    talk_feed(peer, "[1,{\"foo\":2}]\n", 0);
    talk_next(peer, DX_EVENT_VIOLATION);
    dx_text said = dx_peer_output(peer);
    assert_memory_equal(said.at, "{\"jsonrpc\"", 10); /* one, not a list of two */
    dx_peer_sent(peer, said.len);
    talk_silence(peer);
    talk_feed(peer, "[1," V ",\"id\":2,\"method\":\"a\"}," V ",\"method\":\"b\"}]\n", 0);
    talk_next(peer, DX_EVENT_VIOLATION);
    const dx_event *event = talk_next(peer, DX_EVENT_REQUEST);
    assert_int_equal(dx_peer_reply(peer, event->request, dx_json_none()), DX_OK);
    talk_next(peer, DX_EVENT_NOTIFICATION);
    talk_silence(peer);
    talk_said(peer, "[" V ",\"id\":2,\"result\":null}]\n");
    dx_peer_free(peer);
}

static char *long_line(size_t len) {
    char *line = malloc(len + 2);
    memset(line, 'x', len);
    memcpy(line, V ",\"id\":1,\"method\":\"", strlen(V ",\"id\":1,\"method\":\""));
    memcpy(line + len - 2, "\"}\n", 4);
    return line;
}

/* One at the limit is taken, one beyond it is refused, in whatever pieces it comes, and what stands
 * behind it is taken again. */
static void passes_over_long_lines(void **state) {
    dx_peer_config config = dx_peer_defaults(DX_FRAMING_LINE, DX_SIDE_PLUGIN);
    (void)state;
    config.lenient |= DX_LENIENT_LONG_LINE;
    config.message_max = 1000;
    for (size_t piece = 1; piece <= 4000; piece = piece * 3 + 1) {
        dx_peer *peer = talk_new(&config);
        char *good = long_line(1000);
        talk_feed(peer, good, 0);
        const dx_event *event = talk_next(peer, DX_EVENT_REQUEST);
        assert_int_equal(dx_peer_reply(peer, event->request, dx_json_none()), DX_OK);
        dx_peer_sent(peer, dx_peer_output(peer).len);
        char *bad = long_line(3000);
        size_t len = strlen(bad);
        for (size_t at = 0; at < len; at += piece)
            assert_int_equal(
                dx_peer_feed(peer, bad + at, len - at < piece ? len - at : piece, 0, NULL), DX_OK);
        talk_feed(peer, good, 0);
        event = talk_next(peer, DX_EVENT_VIOLATION);
        assert_int_equal(event->error.fault, DX_FAULT_MESSAGE_LIMIT);
        talk_next(peer, DX_EVENT_REQUEST);
        talk_silence(peer);
        dx_text said = dx_peer_output(peer);
        assert_non_null(memmem(said.at, said.len, "\"id\":null", 9));
        assert_non_null(memmem(said.at, said.len, "-32600", 6));
        dx_peer_free(peer);
        free(good);
        free(bad);
    }
}

static void on_echo(dx_link *link, const dx_event *event, void *user) {
    (void)user;
    dx_link_reply(link, event->request, dx_json_checked(event->body));
}

/* Bytes that somebody else has read already come first. */
static void begins_with_what_was_read(void **state) {
    static const dx_handler handlers[] = {{"echo", on_echo}, {NULL, NULL}};
    dx_link_config config = dx_link_defaults(DX_FRAMING_LINE, DX_SIDE_PLUGIN);
    dx_loop *loop = NULL;
    dx_link *link = NULL;
    int in[2];
    int out[2];
    char answer[200];
    (void)state;
    assert_int_equal(pipe(in), 0);
    assert_int_equal(pipe(out), 0);
    assert_int_equal(dx_loop_new(NULL, &loop, NULL), DX_OK);
    config.handlers = handlers;
    config.first = dx_str(V ",\"id\":1,\"method\":\"echo\",\"params\":[1]}\n" V ",\"id\":2,");
    assert_int_equal(dx_link_open(loop, in[0], out[1], &config, &link, NULL), DX_OK);
    dx_loop_dispatch(loop);
    const char *rest = "\"method\":\"echo\",\"params\":[2]}\n";
    assert_int_equal(write(in[1], rest, strlen(rest)), (ssize_t)strlen(rest));
    dx_loop_dispatch(loop);
    ssize_t len = read(out[0], answer, sizeof answer);
    assert_true(len > 0);
    unit_same((dx_text){answer, (size_t)len},
              dx_str(V ",\"id\":1,\"result\":[1]}\n" V ",\"id\":2,\"result\":[2]}\n"));
    dx_loop_free(loop);
    close(in[1]);
    close(out[0]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(has_a_say),
        cmocka_unit_test(takes_any_id),
        cmocka_unit_test(is_lax_with_batches),
        cmocka_unit_test(passes_over_long_lines),
        cmocka_unit_test(begins_with_what_was_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
