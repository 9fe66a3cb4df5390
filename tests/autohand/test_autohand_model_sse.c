/* A stream of events: the same whatever pieces it comes in. */
#include "unit/unit.h"

#include "systems/autohand/model_parts.h"

#include <stdio.h>

/* The data of all events, each behind a '|'. */
static void take_all(struct dx__autohand_sse *sse, char *to) {
    dx_text data;
    dx_status status;
    while ((status = dx__autohand_sse_next(sse, &data)) == DX_OK) {
        strcat(to, "|");
        strncat(to, data.at, data.len);
    }
    assert_int_equal(status, DX_AGAIN);
}

static void same(const char *stream, const char *events) {
    size_t len = strlen(stream);
    dx_allocator alloc = dx__autohand_model_allocator(NULL);
    for (size_t size = 1; size <= len; size++) {
        struct dx__autohand_sse sse;
        char got[1000] = "";
        dx__autohand_sse_init(&sse, 1000, &alloc);
        for (size_t at = 0; at < len; at += size) {
            size_t piece = len - at < size ? len - at : size;
            assert_int_equal(dx__autohand_sse_feed(&sse, (dx_text){stream + at, piece}), DX_OK);
            take_all(&sse, got);
        }
        assert_string_equal(got, events);
        dx__autohand_sse_done(&sse);
    }
}

static void forms(void **state) {
    (void)state;
    same("data: a\n\ndata: b\n\n", "|a|b");
    same("data: a\r\n\r\ndata: b\r\n\r\n", "|a|b");
    same("data: a\r\ndata: b\r\n\r\n", "|a\nb");
    same("data: a\rdata: b\r\r", "|a\nb");
    same("data: a\r\rdata: b\r\r", "|a|b");
    same("data: a\r\n\rdata: b\n\r\n", "|a|b");
    same("data:a\ndata:  b\ndata\n\n", "|a\n b\n");
    same("data:\n\n", "|");
    same("\xef\xbb\xbf"
         "data: a\n\n",
         "|a");
    same("data: \xef\xbb\xbf"
         "a\n\n",
         "|\xef\xbb\xbf"
         "a");
    same(": c\n\n\nevent: x\nid: 1\nretry: 3\n\ndatax: 1\n data: 2\n\n", "");
    same("data: a\nevent: e\ndata: b\n\n", "|a\nb");
    same("data: a\n\ndata: b\n", "|a");
}

static void limits(void **state) {
    (void)state;
    dx_allocator alloc = dx__autohand_model_allocator(NULL);
    struct dx__autohand_sse sse;
    char bytes[64];
    dx_text data;
    memset(bytes, 'x', sizeof bytes);
    memcpy(bytes, "data: ", 6);
    dx__autohand_sse_init(&sse, 64, &alloc);
    assert_int_equal(dx__autohand_sse_feed(&sse, (dx_text){bytes, 64}), DX_OK);
    assert_int_equal(dx__autohand_sse_next(&sse, &data), DX_AGAIN);
    assert_int_equal(dx__autohand_sse_feed(&sse, (dx_text){bytes, 1}), DX_ERR_LIMIT);
    dx__autohand_sse_done(&sse);

    /* What was taken does not count. */
    dx__autohand_sse_init(&sse, 64, &alloc);
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(dx__autohand_sse_feed(&sse, dx_str("data: 0123456789\n\n")), DX_OK);
        assert_int_equal(dx__autohand_sse_next(&sse, &data), DX_OK);
        assert_int_equal(data.len, 10);
    }
    dx__autohand_sse_done(&sse);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(forms), cmocka_unit_test(limits)};
    return cmocka_run_group_tests_name("autohand_model_sse", tests, NULL, NULL);
}
