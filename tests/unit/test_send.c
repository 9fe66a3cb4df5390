/* Texts that are sent as they are. */
#include "unit/talk.h"

static void goes_out_as_it_is(void **state) {
    (void)state;
    dx_peer *peer = talk_plain();
    assert_int_equal(dx_peer_send(peer, dx_str("no {JSON\xff")), DX_OK);
    talk_said(peer, "no {JSON\xff\n");
    assert_int_equal(dx_peer_send(peer, dx_str("")), DX_OK);
    talk_said(peer, "\n");
    assert_int_equal(dx_peer_statistics(peer).messages_out, 2);
    dx_peer_free(peer);
    dx_peer_config config = dx_peer_defaults(DX_FRAMING_HEADER, DX_SIDE_HOST);
    peer = talk_new(&config);
    assert_int_equal(dx_peer_send(peer, dx_str("two\nlines")), DX_OK);
    talk_said(peer, "Content-Length: 9\r\n\r\ntwo\nlines");
    dx_peer_free(peer);
}

static void a_line_is_one(void **state) {
    (void)state;
    dx_peer *peer = talk_plain();
    assert_int_equal(dx_peer_send(peer, dx_str("two\nlines")), DX_ERR_INVALID);
    assert_int_equal(dx_peer_send(peer, dx_str("two\rlines")), DX_ERR_INVALID);
    assert_int_equal(dx_peer_send(peer, dx_str(NULL)), DX_ERR_INVALID);
    talk_said(peer, "");
    dx_peer_free(peer);
}

static void has_the_limits_of_a_message(void **state) {
    (void)state;
    dx_peer_config config = dx_peer_defaults(DX_FRAMING_LINE, DX_SIDE_HOST);
    config.message_max = 8;
    config.out_max = 20;
    dx_peer *peer = talk_new(&config);
    assert_int_equal(dx_peer_send(peer, dx_str("123456789")), DX_ERR_LIMIT);
    assert_int_equal(dx_peer_send(peer, dx_str("12345678")), DX_OK);
    assert_int_equal(dx_peer_send(peer, dx_str("12345678")), DX_OK);
    assert_int_equal(dx_peer_send(peer, dx_str("12345678")), DX_BUSY);
    talk_said(peer, "12345678\n12345678\n");
    dx_peer_finish(peer, NULL, 0);
    talk_next(peer, DX_EVENT_CLOSED);
    assert_int_equal(dx_peer_send(peer, dx_str("late")), DX_CLOSED);
    dx_peer_free(peer);
}

static void is_in_no_book(void **state) {
    (void)state;
    dx_peer *peer = talk_plain();
    assert_int_equal(dx_peer_send(peer, dx_str(V ",\"id\":1,\"method\":\"x\"}")), DX_OK);
    assert_int_equal(dx_peer_pending(peer), 0);
    talk_feed(peer, V ",\"id\":1,\"result\":2}\n", 0);
    assert_int_equal(talk_next(peer, DX_EVENT_VIOLATION)->error.fault, DX_FAULT_ID_UNKNOWN);
    dx_peer_free(peer);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(goes_out_as_it_is),
        cmocka_unit_test(a_line_is_one),
        cmocka_unit_test(has_the_limits_of_a_message),
        cmocka_unit_test(is_in_no_book),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
