/* Leniencies for those who speak with programs in which numbers are doubles and texts are mended.
 */
#include "unit/talk.h"

#include "rpc/double.h"

static void as_doubles(void **state) {
    static const char *const pairs[][2] = {
        {"1", "1"},
        {"1.0", "1"},
        {"1e2", "100"},
        {"-7", "-7"},
        {"-0", "0"},
        {"0.0", "0"},
        {"1.5", "1.5"},
        {"12345678901234567890", "12345678901234567000"},
        {"9007199254740993", "9007199254740992"},
        {"1e20", "100000000000000000000"},
        {"1e21", "1e+21"},
        {"123456789012345678901234", "1.2345678901234569e+23"},
        {"0.000001", "0.000001"},
        {"0.0000001", "1e-7"},
        {"-1.25e-8", "-1.25e-8"},
        {"5e-324", "5e-324"},
        {"1.7976931348623157e308", "1.7976931348623157e+308"},
        {"0.1", "0.1"},
        {"123.456", "123.456"},
        /* These stay. */
        {"1e400", "1e400"},
        {"\"1.0\"", "\"1.0\""},
        {"null", "null"},
        {"{\"a\":1.0}", "{\"a\":1.0}"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char room[DX__DOUBLE_ROOM];
        unit_same(dx__double_text(dx_str(pairs[i][0]), room), dx_str(pairs[i][1]));
    }
}

static void answers_with_doubles(void **state) {
    dx_peer_config config = dx_peer_defaults(DX_FRAMING_LINE, DX_SIDE_PLUGIN);
    (void)state;
    config.lenient |= DX_LENIENT_ID_DOUBLE | DX_LENIENT_LAST_MEMBER;
    dx_peer *peer = talk_new(&config);
    talk_feed(peer, V ",\"id\":7,\"method\":\"a\",\"id\":1e2}\n", 0);
    const dx_event *event = talk_next(peer, DX_EVENT_REQUEST);
    assert_int_equal(dx_peer_reply(peer, event->request, dx_json_none()), DX_OK);
    talk_said(peer, V ",\"id\":100,\"result\":null}\n");
    dx_peer_free(peer);
}

/* In whatever pieces it comes, and with others before and behind it. */
static void mends_lines(void **state) {
    static const char text[] = V ",\"id\":1,\"method\":\"a\"}\n" V
                                 ",\"id\":\"\xff\xc3\",\"method\":\"\xe4\xb8\xadx\xe4\"}\n\xf0\n" V
                                 ",\"id\":2,\"method\":\"b\"}\n";
    dx_peer_config config = dx_peer_defaults(DX_FRAMING_LINE, DX_SIDE_PLUGIN);
    (void)state;
    config.lenient |= DX_LENIENT_UTF8;
    config.flags |= DX_PEER_NO_STRAY;
    for (size_t piece = 1; piece < sizeof text; piece++) {
        dx_peer *peer = talk_new(&config);
        for (size_t at = 0; at < sizeof text - 1; at += piece) {
            size_t left = sizeof text - 1 - at;
            assert_int_equal(dx_peer_feed(peer, text + at, left < piece ? left : piece, 0, NULL),
                             DX_OK);
        }
        unit_same(talk_next(peer, DX_EVENT_REQUEST)->method, dx_str("a"));
        const dx_event *event = talk_next(peer, DX_EVENT_REQUEST);
        unit_same(event->method, dx_str("\xe4\xb8\xadx\xef\xbf\xbd"));
        unit_same(event->id, dx_str("\"\xef\xbf\xbd\xef\xbf\xbd\""));
        talk_next(peer, DX_EVENT_VIOLATION);
        unit_same(talk_next(peer, DX_EVENT_REQUEST)->method, dx_str("b"));
        talk_silence(peer);
        dx_peer_free(peer);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_doubles),
        cmocka_unit_test(answers_with_doubles),
        cmocka_unit_test(mends_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
