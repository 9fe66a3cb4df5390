#include "unit/unit.h"

#include "frame/framer.h"

#include <stdio.h>

static void expect_written(dx_framing framing, const char *type, dx_text body, dx_text expected) {
    dx_buf buf;
    dx_buf_init(&buf, 10000, NULL);
    assert_int_equal(dx_buf_append(&buf, "before ", 7), DX_OK);
    assert_int_equal(dx_frame_write(&buf, framing, type, body), DX_OK);
    assert_memory_equal(buf.data, "before ", 7);
    unit_same((dx_text){buf.data + 7, buf.len - 7}, expected);
    dx_buf_done(&buf);
}

static void header_framing_byte_for_byte(void **state) {
    (void)state;
    expect_written(DX_FRAMING_HEADER, NULL, TEXT("{\"jsonrpc\":\"2.0\"}"),
                   TEXT("Content-Length: 17\r\n\r\n{\"jsonrpc\":\"2.0\"}"));
    expect_written(DX_FRAMING_HEADER, "application/vscode-jsonrpc; charset=utf-8", TEXT("[]"),
                   TEXT("Content-Length: 2\r\n"
                        "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n[]"));
    expect_written(DX_FRAMING_HEADER, NULL, TEXT(""), TEXT("Content-Length: 0\r\n\r\n"));
    /* Bytes, not characters; and new lines are nobody's business here. */
    expect_written(DX_FRAMING_HEADER, NULL, TEXT("\"\xc3\xa9\"\r\n"),
                   TEXT("Content-Length: 6\r\n\r\n\"\xc3\xa9\"\r\n"));
}

static void line_framing_byte_for_byte(void **state) {
    (void)state;
    expect_written(DX_FRAMING_LINE, NULL, TEXT("{}"), TEXT("{}\n"));
    expect_written(DX_FRAMING_LINE, "ignored/here", TEXT("{}"), TEXT("{}\n"));
    expect_written(DX_FRAMING_LINE, NULL, TEXT("\n{\r\n\"a\":\r\"\\n\"\n}\r\n"),
                   TEXT(" {  \"a\": \"\\n\" }  \n"));
    expect_written(DX_FRAMING_LINE, NULL, TEXT(""), TEXT("\n"));
}

/* The length is written before it is known: every change of the number of digits. */
static void any_guess_of_the_length(void **state) {
    (void)state;
    static const size_t sizes[] = {0, 9, 10, 99, 100, 999, 1000, 9999, 10000};
    static char body[10000];
    memset(body, 'b', sizeof body);
    for (size_t i = 0; i < LENGTH(sizes); i++)
        for (size_t k = 0; k < LENGTH(sizes); k++) {
            dx_buf buf;
            dx__frame_mark mark;
            dx_buf_init(&buf, 20000, NULL);
            assert_int_equal(dx_buf_append(&buf, "><", 2), DX_OK);
            assert_int_equal(dx__frame_open(&buf, DX_FRAMING_HEADER, "a/b", sizes[k], &mark),
                             DX_OK);
            assert_int_equal(dx_buf_append(&buf, body, sizes[i]), DX_OK);
            assert_int_equal(dx__frame_close(&buf, DX_FRAMING_HEADER, &mark, true), DX_OK);
            char expected[100];
            int len = snprintf(expected, sizeof expected,
                               "><Content-Length: %zu\r\nContent-Type: a/b\r\n\r\n", sizes[i]);
            assert_int_equal(buf.len, (size_t)len + sizes[i]);
            assert_memory_equal(buf.data, expected, (size_t)len);
            if (sizes[i])
                assert_memory_equal(buf.data + len, body, sizes[i]);
            dx_buf_done(&buf);
        }
}

static void nothing_is_left_of_what_does_not_fit(void **state) {
    (void)state;
    for (dx_framing framing = DX_FRAMING_HEADER; framing <= DX_FRAMING_LINE; framing++) {
        size_t max = 3;
        dx_status status;
        do {
            dx_buf buf;
            dx_buf_init(&buf, max++, NULL);
            assert_int_equal(dx_buf_append(&buf, "abc", 3), DX_OK);
            status = dx_frame_write(&buf, framing, "x/y", TEXT("[1,2,3]"));
            if (status != DX_OK) {
                assert_int_equal(status, DX_ERR_LIMIT);
                assert_int_equal(buf.len, 3);
                assert_memory_equal(buf.data, "abc", 3);
            }
            dx_buf_done(&buf);
        } while (status != DX_OK);
        size_t needs = framing == DX_FRAMING_LINE
                           ? 3 + 8
                           : 3 + strlen("Content-Length: 7\r\nContent-Type: x/y\r\n\r\n[1,2,3]");
        assert_in_range(max - 1, needs, needs + 7); /* the guess of the digits takes room, too */
    }
}

static void nothing_is_left_without_memory(void **state) {
    (void)state;
    char body[1000];
    memset(body, '1', sizeof body);
    size_t failures = 0;
    for (size_t fail = 1;; fail++) {
        struct unit_memory memory = {0};
        dx_allocator alloc = unit_allocator(&memory);
        dx_buf buf;
        dx_buf_init(&buf, 10000, &alloc);
        assert_int_equal(dx_buf_append(&buf, "abc", 3), DX_OK);
        memory.fail_at = memory.count + fail;
        dx_status status =
            dx_frame_write(&buf, DX_FRAMING_HEADER, NULL, (dx_text){body, sizeof body});
        if (status != DX_OK) {
            assert_int_equal(status, DX_ERR_NOMEM);
            assert_int_equal(buf.len, 3);
            failures++;
        }
        dx_buf_done(&buf);
        assert_int_equal(memory.blocks, 0);
        if (status == DX_OK)
            break;
    }
    assert_true(failures > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(header_framing_byte_for_byte),
        cmocka_unit_test(line_framing_byte_for_byte),
        cmocka_unit_test(any_guess_of_the_length),
        cmocka_unit_test(nothing_is_left_of_what_does_not_fit),
        cmocka_unit_test(nothing_is_left_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
