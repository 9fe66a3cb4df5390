/* The short ways of writing a tree and of walking over a text: they say what the long ones say, or
 * nothing. */
#include "unit/unit.h"

#include "rpc/json.h"
#include "rpc/write.h"

#include <stdbool.h>
#include <stdio.h>

enum { ROUNDS = 20000, ROOM = 4096 };

/* A random value in compact form; now and then with something in it that is not plain. */
static size_t make_value(uint64_t *random, char *to, unsigned depth, unsigned oddness) {
    static const char *const scalars[] = {"0",
                                          "7",
                                          "-1",
                                          "12",
                                          "true",
                                          "false",
                                          "null",
                                          "18446744073709551615",
                                          "\"\"",
                                          "\"a\"",
                                          "\"abcd\"",
                                          "\"seventeen letters\"",
                                          "999999",
                                          "1000000",
                                          "{}",
                                          "[]",
                                          "\"a string that is longer than any word of it\""};
    static const char *const odd[] = {"1.5",   "1e3",         "-0",         "\"\\n\"",
                                      "\"ä\"", "\"\\u00e4\"", "\" \\\" \"", "-9223372036854775808"};
    size_t kind = unit_random(random, 10);
    if (oddness && !unit_random(random, oddness))
        return (size_t)sprintf(to, "%s", odd[unit_random(random, LENGTH(odd))]);
    if (depth == 0 || kind < 5)
        return (size_t)sprintf(to, "%s", scalars[unit_random(random, LENGTH(scalars))]);
    size_t len = 0;
    size_t count = 1 + unit_random(random, 4);
    to[len++] = kind < 8 ? '{' : '[';
    for (size_t i = 0; i < count; i++) {
        if (i)
            to[len++] = ',';
        if (kind < 8)
            len += (size_t)sprintf(to + len, "\"name%zu\":", i);
        len += make_value(random, to + len, depth - 1, oddness);
    }
    to[len++] = kind < 8 ? '}' : ']';
    return len;
}

static void trees_are_written_as_yyjson_writes_them(void **state) {
    (void)state;
    uint64_t random = 1;
    size_t short_way = 0;
    for (int round = 0; round < ROUNDS; round++) {
        char text[ROOM];
        size_t len = make_value(&random, text, 4, round % 2 ? 30 : 0);
        yyjson_doc *doc = yyjson_read(text, len, YYJSON_READ_NOFLAG);
        assert_non_null(doc);
        size_t expected_len;
        char *expected = yyjson_write(doc, YYJSON_WRITE_NOFLAG, &expected_len);
        dx_buf buf;
        dx_buf_init(&buf, SIZE_MAX / 4, NULL);
        assert_int_equal(dx_buf_append(&buf, "before", 6), DX_OK);
        dx_status status = dx__json_put_plain(&buf, yyjson_doc_get_root(doc));
        short_way += status == DX_OK;
        if (status != DX_OK) {
            assert_int_equal(status, DX_AGAIN);
            assert_int_equal(buf.len, 6);
            assert_true(round % 2);
            assert_int_equal(dx_json_write(&buf, dx_json_value(yyjson_doc_get_root(doc))), DX_OK);
        }
        assert_memory_equal(buf.data, "before", 6);
        unit_same((dx_text){buf.data + 6, buf.len - 6}, (dx_text){expected, expected_len});
        dx_buf_done(&buf);
        free(expected);
        yyjson_doc_free(doc);
    }
    assert_true(short_way > ROUNDS / 2 && short_way < ROUNDS);
}

static void deep_trees_take_the_long_way(void **state) {
    (void)state;
    for (size_t depth = 14; depth <= 20; depth++) {
        char text[ROOM];
        memset(text, '[', depth);
        text[depth] = '1';
        memset(text + depth + 1, ']', depth);
        yyjson_doc *doc = yyjson_read(text, 2 * depth + 1, YYJSON_READ_NOFLAG);
        dx_buf buf;
        dx_buf_init(&buf, SIZE_MAX / 4, NULL);
        dx_status status = dx__json_put_plain(&buf, yyjson_doc_get_root(doc));
        assert_int_equal(status, depth <= 16 ? DX_OK : DX_AGAIN);
        buf.len = 0;
        assert_int_equal(dx_json_write(&buf, dx_json_value(yyjson_doc_get_root(doc))), DX_OK);
        unit_same((dx_text){buf.data, buf.len}, (dx_text){text, 2 * depth + 1});
        dx_buf_done(&buf);
        yyjson_doc_free(doc);
    }
}

static void without_memory_nothing_is_written(void **state) {
    (void)state;
    struct unit_memory memory = {0};
    dx_allocator alloc = unit_allocator(&memory);
    static const char text[] =
        "[\"a text that does not fit into what a buffer begins with, which is "
        "why it has to grow while it is written, and that may fail\",1,2,3]";
    yyjson_doc *doc = yyjson_read(text, sizeof text - 1, YYJSON_READ_NOFLAG);
    size_t failures = 0;
    for (size_t at = 1;; at++) {
        dx_buf buf;
        memory = (struct unit_memory){.fail_at = at};
        dx_buf_init(&buf, SIZE_MAX / 4, &alloc);
        dx_status status = dx__json_put_plain(&buf, yyjson_doc_get_root(doc));
        if (status == DX_OK) {
            unit_same((dx_text){buf.data, buf.len}, (dx_text){text, sizeof text - 1});
            dx_buf_done(&buf);
            break;
        }
        assert_int_equal(status, DX_ERR_NOMEM);
        assert_int_equal(buf.len, 0);
        dx_buf_done(&buf);
        assert_int_equal(memory.blocks, 0);
        failures++;
    }
    assert_true(failures > 0);
    yyjson_doc_free(doc);
}

/* What the short way walks over, the long way does, too, to the same place; and what is plain, the
 * short way does not leave to it. */
static void expect_quick(dx_text text, int is_plain, size_t *quick) {
    dx__json json = dx__json_reader(text, 1000);
    const char *to = dx__json_quick(text.at, text.at + text.len, 1000);
    if (is_plain)
        assert_non_null(to);
    if (!to)
        return;
    dx__json_skip(&json);
    assert_int_equal(json.fault, DX_FAULT_NONE);
    assert_ptr_equal(to, json.at);
    (*quick)++;
}

static void texts_are_walked_over_alike(void **state) {
    (void)state;
    uint64_t random = 2;
    size_t quick = 0;
    struct unit_fence fence = unit_fence_new(ROOM);
    for (int round = 0; round < ROUNDS; round++) {
        static const char spoilers[] = "{}[]\",:0123456789.eE+-tfn \\\n\x7f\x80";
        char text[ROOM];
        size_t len = make_value(&random, text, 4, round % 4 ? 30 : 0);
        bool negative = memchr(text, '-', len);
        text[len++] = '}';
        expect_quick(unit_fence_put(&fence, text, len), round % 4 == 0 && !negative, &quick);
        for (int i = 0; i < 4; i++) {
            char spoiled[ROOM];
            memcpy(spoiled, text, len);
            spoiled[unit_random(&random, len - 1)] =
                spoilers[unit_random(&random, sizeof spoilers - 1)];
            expect_quick(unit_fence_put(&fence, spoiled, len), 0, &quick);
        }
        size_t cut = 1 + unit_random(&random, len);
        text[cut - 1] = '}';
        expect_quick(unit_fence_put(&fence, text, cut), 0, &quick);
    }
    assert_true(quick > ROUNDS);
    unit_fence_done(&fence);
}

static void levels_on_both_sides_of_the_limit(void **state) {
    (void)state;
    char text[ROOM];
    for (size_t depth = 1; depth <= 70; depth++) {
        memset(text, '[', depth);
        memset(text + depth, ']', depth);
        text[2 * depth] = '}';
        const char *end = text + 2 * depth + 1;
        assert_int_equal(dx__json_quick(text, end, 1000) != NULL, depth <= 64);
        assert_int_equal(dx__json_quick(text, end, 10) != NULL, depth <= 10);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trees_are_written_as_yyjson_writes_them),
        cmocka_unit_test(deep_trees_take_the_long_way),
        cmocka_unit_test(without_memory_nothing_is_written),
        cmocka_unit_test(texts_are_walked_over_alike),
        cmocka_unit_test(levels_on_both_sides_of_the_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
