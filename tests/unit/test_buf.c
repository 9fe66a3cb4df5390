#include "unit/unit.h"

#include "base/buf.h"

static void holds_nothing_until_the_first_byte(void **state) {
    (void)state;
    struct unit_memory memory = {0};
    dx_allocator alloc = unit_allocator(&memory);
    dx_buf buf;
    dx_buf_init(&buf, 100, &alloc);
    assert_int_equal(dx_buf_append(&buf, NULL, 0), DX_OK);
    assert_int_equal(dx_buf_reserve(&buf, 0), DX_OK);
    assert_null(buf.data);
    assert_int_equal(memory.count, 0);
    dx_buf_done(&buf);
    assert_int_equal(memory.blocks, 0);
}

static void keeps_what_was_appended(void **state) {
    (void)state;
    struct unit_memory memory = {0};
    dx_allocator alloc = unit_allocator(&memory);
    dx_buf buf;
    dx_buf_init(&buf, 1 << 20, &alloc);
    for (size_t i = 0; i < 5000; i++)
        assert_int_equal(dx_buf_append(&buf, &(char){(char)i}, 1), DX_OK);
    assert_int_equal(buf.len, 5000);
    for (size_t i = 0; i < 5000; i++)
        assert_int_equal(buf.data[i], (char)i);
    /* Doubling: few allocations, and never more than twice what is needed. */
    assert_in_range(memory.count, 1, 8);
    assert_in_range(buf.cap, 5000, 10000);
    assert_int_equal(memory.bytes, buf.cap);
    dx_buf_done(&buf);
    assert_int_equal(memory.blocks, 0);
}

static void takes_exactly_the_maximum(void **state) {
    (void)state;
    static const size_t limits[] = {0, 1, 255, 256, 257, 1000, 1024};
    char zeros[1024] = {0};
    for (size_t i = 0; i < LENGTH(limits); i++) {
        dx_buf buf;
        dx_buf_init(&buf, limits[i], NULL);
        assert_int_equal(dx_buf_reserve(&buf, limits[i] + 1), DX_ERR_LIMIT);
        assert_int_equal(dx_buf_append(&buf, zeros, limits[i]), DX_OK);
        assert_true(buf.cap <= limits[i]);
        assert_int_equal(dx_buf_append(&buf, zeros, 1), DX_ERR_LIMIT);
        assert_int_equal(dx_buf_reserve(&buf, SIZE_MAX), DX_ERR_LIMIT);
        assert_int_equal(buf.len, limits[i]);
        dx_buf_done(&buf);
    }
}

static void huge_maximum_does_not_overflow(void **state) {
    (void)state;
    struct unit_memory memory = {.fail_at = 2};
    dx_allocator alloc = unit_allocator(&memory);
    dx_buf buf;
    dx_buf_init(&buf, SIZE_MAX, &alloc);
    assert_int_equal(dx_buf_append(&buf, "x", 1), DX_OK);
    assert_int_equal(dx_buf_reserve(&buf, SIZE_MAX), DX_ERR_LIMIT);
    assert_int_equal(dx_buf_reserve(&buf, SIZE_MAX - 1), DX_ERR_NOMEM);
    assert_true(dx__buf_target(&buf, SIZE_MAX - 1) >= SIZE_MAX - 1);
    assert_int_equal(buf.len, 1);
    assert_int_equal(buf.data[0], 'x');
    dx_buf_done(&buf);
}

static void is_unchanged_without_memory(void **state) {
    (void)state;
    struct unit_memory memory = {0};
    dx_allocator alloc = unit_allocator(&memory);
    char bytes[300];
    memset(bytes, 'b', sizeof bytes);
    dx_buf buf;
    dx_buf_init(&buf, 1000, &alloc);
    assert_int_equal(dx_buf_append(&buf, bytes, 200), DX_OK);
    memory.fail_at = memory.count + 1;
    char *data = buf.data;
    size_t cap = buf.cap;
    assert_int_equal(dx_buf_append(&buf, bytes, 300), DX_ERR_NOMEM);
    assert_ptr_equal(buf.data, data);
    assert_int_equal(buf.len, 200);
    assert_int_equal(buf.cap, cap);
    memory.fail_at = 0;
    assert_int_equal(dx_buf_append(&buf, bytes, 300), DX_OK);
    assert_int_equal(buf.len, 500);
    dx_buf_done(&buf);
    assert_int_equal(memory.blocks, 0);
}

static void can_be_used_after_done(void **state) {
    (void)state;
    dx_buf buf;
    dx_buf_init(&buf, 10, NULL);
    assert_int_equal(dx_buf_append(&buf, "hello", 5), DX_OK);
    dx_buf_done(&buf);
    assert_null(buf.data);
    assert_int_equal(buf.len + buf.cap, 0);
    assert_int_equal(dx_buf_append(&buf, "0123456789", 10), DX_OK);
    assert_int_equal(dx_buf_append(&buf, "x", 1), DX_ERR_LIMIT);
    dx_buf_done(&buf);
    dx_buf_done(NULL);
}

static void text_of_a_string(void **state) {
    (void)state;
    assert_text(dx_str("abc"), "abc");
    assert_int_equal(dx_str("").len, 0);
    assert_non_null(dx_str("").at);
    assert_null(dx_str(NULL).at);
    assert_int_equal(dx_str(NULL).len, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(holds_nothing_until_the_first_byte),
        cmocka_unit_test(keeps_what_was_appended),
        cmocka_unit_test(takes_exactly_the_maximum),
        cmocka_unit_test(huge_maximum_does_not_overflow),
        cmocka_unit_test(is_unchanged_without_memory),
        cmocka_unit_test(can_be_used_after_done),
        cmocka_unit_test(text_of_a_string),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
