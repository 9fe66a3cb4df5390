/* Header fields where names are letters and hyphens, and where they are tokens as in HTTP. */
#include "unit/unit.h"

#include <duplex/frame.h>
#include <duplex/protocol.h>

#include <stdbool.h>
#include <stdio.h>

/* Does a message with that header come through as it should? What was accepted may be reported. */
static bool comes_through(const char *header, dx_fields fields, unsigned lenient, bool in_pieces) {
    dx_frame_config config = dx_frame_defaults(DX_FRAMING_HEADER);
    dx_framer *framer = NULL;
    dx_frame frame;
    char text[256];
    config.fields = fields;
    config.lenient = lenient;
    assert_int_equal(dx_framer_new(&config, &framer), DX_OK);
    snprintf(text, sizeof text, "%s{}", header);
    size_t len = strlen(text);
    for (size_t i = 0; in_pieces && i < len; i++)
        assert_int_equal(dx_framer_feed(framer, text + i, 1), DX_OK);
    if (!in_pieces)
        assert_int_equal(dx_framer_feed(framer, text, len), DX_OK);
    dx_framer_finish(framer);
    bool came = dx_framer_next(framer, &frame) == DX_OK;
    while (came && lenient && frame.kind == DX_FRAME_FAULT && !frame.fatal)
        came = dx_framer_next(framer, &frame) == DX_OK;
    came = came && frame.kind == DX_FRAME_MESSAGE && frame.text.len == 2;
    if (came)
        came = dx_framer_next(framer, &frame) == DX_OK && frame.kind == DX_FRAME_END;
    dx_framer_free(framer);
    return came;
}

static void test_fields(void **state) {
    static const struct {
        const char *header;
        bool http;    /* strict otherwise */
        bool letters; /* the same */
    } rows[] = {
        {"Content-Length: 2\r\n\r\n", true, true},
        {"Content-Length:2\r\n\r\n", true, true},
        {"Content-Length:      2\r\n\r\n", true, true},
        {"Content-Length: 2  \r\n\r\n", true, true},
        {"content-LENGTH: 2\r\n\r\n", true, true},
        {"A: b\r\n-: c\r\nContent-Length: 2\r\nZ-z:\r\n\r\n", true, true},
        {"A1: b\r\nContent-Length: 2\r\n\r\n", true, false},
        {"Content-Length: 2\r\nA_b: c\r\n\r\n", true, false},
        {"A!: b\r\nContent-Length: 2\r\n\r\n", true, false},
        {"Content-Length:\t2\r\n\r\n", true, false},
        {"Content-Length: 2\t\r\n\r\n", true, false},
        {"Content-Type: x; charset=latin1\r\nContent-Length: 2\r\n\r\n", false, true},
        {"Content-Length: 2\r\nContent-Type: x; charset=utf-16\r\n\r\n", false, true},
        {"Content-Length : 2\r\n\r\n", false, false},
        {": 2\r\nContent-Length: 2\r\n\r\n", false, false},
        {"A b: 2\r\nContent-Length: 2\r\n\r\n", false, false},
        {"Content-Length: 2\n\n", false, false},
        {"Content-Length: +2\r\n\r\n", false, false},
        {"Content-Length: 3\r\nContent-Length: 2\r\n\r\n", false, false},
        {"A: \xc3\xa4\r\nContent-Length: 2\r\n\r\n", false, false},
        {"A: \x01\x1b\x7f\tb\r\nContent-Length: 2\r\n\r\n", false, true},
        {"A: b\rc\r\nContent-Length: 2\r\n\r\n", false, false},
        {"A\x01: b\r\nContent-Length: 2\r\n\r\n", false, false},
        {"\r\nContent-Length: 2\r\n\r\n", false, false},
        {" Content-Length: 2\r\n\r\n", false, false},
        {"A: b\r\n\r\n", false, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int in_pieces = 0; in_pieces < 2; in_pieces++)
            if (comes_through(rows[i].header, DX_FIELDS_HTTP, 0, in_pieces) != rows[i].http ||
                comes_through(rows[i].header, DX_FIELDS_LETTERS, 0, in_pieces) != rows[i].letters)
                fail_msg("row %zu", i);
}

/* The leniencies are the same for both. */
static void test_lenient(void **state) {
    unsigned all = DX_LENIENT_LF | DX_LENIENT_PLUS | DX_LENIENT_LAST_LENGTH;
    (void)state;
    assert_true(comes_through("Content-Length: 9\nA: b\nContent-Length: +2\n\n", DX_FIELDS_LETTERS,
                              all, false));
    assert_false(comes_through("A1: b\nContent-Length: 2\n\n", DX_FIELDS_LETTERS, all, false));
    all |= DX_LENIENT_FIELD_NAME | DX_LENIENT_TAB;
    assert_true(comes_through("A_1: b\nContent-Length:\t2\n\n", DX_FIELDS_LETTERS, all, false));
    assert_false(comes_through("A 1: b\nContent-Length: 2\n\n", DX_FIELDS_LETTERS, all, false));
}

static void test_document(void **state) {
    static const struct {
        const char *name;
        dx_fields fields;
        int params_null;
    } rows[] = {
        {"reginald", DX_FIELDS_LETTERS, 0},       {"reginald@seed", DX_FIELDS_LETTERS, 0},
        {"reginald@gen-a", DX_FIELDS_LETTERS, 1}, {"reginald@gen-b", DX_FIELDS_LETTERS, 0},
        {"reginald@exact", DX_FIELDS_LETTERS, 1}, {"hermes", DX_FIELDS_HTTP, 0},
        {"finecode", DX_FIELDS_HTTP, 0},          {"finecode@real", DX_FIELDS_HTTP, 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        dx_protocol *protocol = NULL;
        dx_misfit why;
        if (dx_protocol_open(dx_str(rows[i].name), NULL, &protocol, &why) != DX_OK)
            fail_msg("%s", why.phrase);
        if (dx_protocol_check_all(protocol, &why) != DX_OK)
            fail_msg("%s", why.phrase);
        assert_int_equal(dx_protocol_facts_of(protocol)->fields, rows[i].fields);
        assert_int_equal(dx_protocol_facts_of(protocol)->params_null, rows[i].params_null);
        dx_protocol_free(protocol);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_lenient),
        cmocka_unit_test(test_document),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
