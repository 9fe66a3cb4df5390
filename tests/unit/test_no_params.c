/* How a message without params is sent. */
#include "unit/unit.h"

#include <duplex/peer.h>

static void expect_output(dx_peer *peer, const char *text) {
    unit_same(dx_peer_output(peer), dx_str(text));
    dx_peer_sent(peer, strlen(text));
}

static void test_null(void **state) {
    dx_peer_config config = dx_peer_defaults(DX_FRAMING_LINE, DX_SIDE_HOST);
    dx_peer *peer = NULL;
    (void)state;
    config.flags |= DX_PEER_PARAMS_NULL;
    assert_int_equal(dx_peer_new(&config, &peer), DX_OK);
    assert_int_equal(dx_peer_call(peer, dx_str("a"), dx_json_none(), NULL, 0, NULL), DX_OK);
    expect_output(peer, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\",\"params\":null}\n");
    assert_int_equal(dx_peer_notify(peer, dx_str("b"), dx_json_none()), DX_OK);
    expect_output(peer, "{\"jsonrpc\":\"2.0\",\"method\":\"b\",\"params\":null}\n");
    assert_int_equal(dx_peer_notify(peer, dx_str("b"), dx_json_text("{}", 2)), DX_OK);
    expect_output(peer, "{\"jsonrpc\":\"2.0\",\"method\":\"b\",\"params\":{}}\n");
    /* Nobody says it by himself. */
    assert_int_equal(dx_peer_notify(peer, dx_str("b"), dx_json_text("null", 4)), DX_ERR_INVALID);
    dx_peer_free(peer);
}

static void test_absent(void **state) {
    dx_peer_config config = dx_peer_defaults(DX_FRAMING_LINE, DX_SIDE_HOST);
    dx_peer *peer = NULL;
    (void)state;
    assert_int_equal(dx_peer_new(&config, &peer), DX_OK);
    assert_int_equal(dx_peer_notify(peer, dx_str("b"), dx_json_none()), DX_OK);
    expect_output(peer, "{\"jsonrpc\":\"2.0\",\"method\":\"b\"}\n");
    dx_peer_free(peer);
}

/* As a document asks for it. */
static void test_protocol(void **state) {
    static const char *const names[] = {"reginald", "reginald@gen-a"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        dx_protocol *protocol = NULL;
        dx_peer *peer = NULL;
        assert_int_equal(dx_protocol_open(dx_str(names[i]), NULL, &protocol, NULL), DX_OK);
        dx_peer_config config = dx_peer_for(protocol, DX_SIDE_HOST);
        assert_int_equal(dx_peer_new(&config, &peer), DX_OK);
        assert_int_equal(dx_peer_notify(peer, dx_str("exit"), dx_json_none()), DX_OK);
        expect_output(peer, i ? "Content-Length: 47\r\n\r\n"
                                "{\"jsonrpc\":\"2.0\",\"method\":\"exit\",\"params\":null}"
                              : "Content-Length: 33\r\n\r\n"
                                "{\"jsonrpc\":\"2.0\",\"method\":\"exit\"}");
        dx_peer_free(peer);
        dx_protocol_free(protocol);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_null),
        cmocka_unit_test(test_absent),
        cmocka_unit_test(test_protocol),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
