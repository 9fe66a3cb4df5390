/* The framer from outside: what bytes come out as, how much of them it holds, where it says no.
 * What each fault of a stream leads to is told by the transcripts. */
#include "unit/unit.h"

#include <duplex/frame.h>

#include <stdbool.h>

static dx_framer *new_framer(const dx_frame_config *config) {
    dx_framer *framer = NULL;
    assert_int_equal(dx_framer_new(config, &framer), DX_OK);
    assert_non_null(framer);
    return framer;
}

static void feed(dx_framer *framer, dx_text text) {
    assert_int_equal(dx_framer_feed(framer, text.at, text.len), DX_OK);
}

static dx_frame next(dx_framer *framer) {
    dx_frame frame;
    assert_int_equal(dx_framer_next(framer, &frame), DX_OK);
    return frame;
}

static void expect_text(dx_framer *framer, dx_frame_kind kind, uint64_t offset, dx_text text) {
    dx_frame frame = next(framer);
    assert_int_equal(frame.kind, kind);
    assert_true(frame.offset == offset);
    assert_int_equal(frame.fatal, 0);
    unit_same(frame.text, text);
    dx_framer_release(framer, frame.offset + frame.text.len);
}

static void expect_none(dx_framer *framer) {
    dx_frame frame;
    assert_int_equal(dx_framer_next(framer, &frame), DX_AGAIN);
}

static void expect_fault(dx_framer *framer, dx_fault fault, bool fatal) {
    dx_frame frame = next(framer);
    assert_int_equal(frame.kind, DX_FRAME_FAULT);
    assert_string_equal(dx_fault_name(frame.fault), dx_fault_name(fault));
    assert_int_equal(frame.fatal, fatal);
}

static void refuses_what_does_not_exist(void **state) {
    (void)state;
    dx_framer *framer;
    dx_frame_config config = dx_frame_defaults((dx_framing)0);
    assert_int_equal(dx_framer_new(&config, &framer), DX_ERR_INVALID);
    config.framing = (dx_framing)3;
    assert_int_equal(dx_framer_new(&config, &framer), DX_ERR_INVALID);
    config = dx_frame_defaults(DX_FRAMING_LINE);
    config.message_max = (size_t)1 << 32;
    assert_int_equal(dx_framer_new(&config, &framer), DX_ERR_INVALID);
    struct unit_memory memory = {.fail_at = 1};
    dx_allocator alloc = unit_allocator(&memory);
    config = dx_frame_defaults(DX_FRAMING_LINE);
    config.allocator = &alloc;
    assert_int_equal(dx_framer_new(&config, &framer), DX_ERR_NOMEM);
    assert_null(dx_framer_free(NULL));
}

static void names_of_the_framings(void **state) {
    (void)state;
    assert_string_equal(dx_framing_name(DX_FRAMING_HEADER), "header");
    assert_string_equal(dx_framing_name(DX_FRAMING_LINE), "line");
}

static void header_messages(void **state) {
    (void)state;
    dx_frame_config config = dx_frame_defaults(DX_FRAMING_HEADER);
    dx_framer *framer = new_framer(&config);
    expect_none(framer);
    feed(framer, TEXT("Content-Length: 2\r\n\r\n{}content-length:3\r\nX: y\r\n\r\n[1]Content-"));
    expect_text(framer, DX_FRAME_MESSAGE, 21, TEXT("{}"));
    expect_text(framer, DX_FRAME_MESSAGE, 49, TEXT("[1]"));
    expect_none(framer);
    feed(framer, TEXT("Length: 0\r\n\r\n"));
    expect_text(framer, DX_FRAME_MESSAGE, 73, TEXT(""));
    dx_framer_finish(framer);
    assert_int_equal(next(framer).kind, DX_FRAME_END);
    expect_none(framer);
    expect_none(framer);
    dx_framer_free(framer);
}

static void line_messages(void **state) {
    (void)state;
    dx_frame_config config = dx_frame_defaults(DX_FRAMING_LINE);
    dx_framer *framer = new_framer(&config);
    feed(framer, TEXT("{}\n\r\n \t\n[1]\r\n{\"a\":"));
    expect_text(framer, DX_FRAME_MESSAGE, 0, TEXT("{}"));
    expect_text(framer, DX_FRAME_MESSAGE, 8, TEXT("[1]"));
    expect_none(framer);
    feed(framer, TEXT("1}\n7"));
    expect_text(framer, DX_FRAME_MESSAGE, 13, TEXT("{\"a\":1}"));
    dx_framer_finish(framer);
    dx_frame frame = next(framer);
    assert_int_equal(frame.kind, DX_FRAME_MESSAGE);
    assert_int_equal(frame.fault, DX_FAULT_UNTERMINATED);
    assert_text(frame.text, "7");
    assert_int_equal(next(framer).kind, DX_FRAME_END);
    expect_none(framer);
    dx_framer_free(framer);
}

static void swallows_after_the_end(void **state) {
    (void)state;
    struct unit_memory memory = {0};
    dx_allocator alloc = unit_allocator(&memory);
    dx_frame_config config = dx_frame_defaults(DX_FRAMING_LINE);
    config.allocator = &alloc;
    config.message_max = 3;
    dx_framer *framer = new_framer(&config);
    feed(framer, TEXT("12345\n[]\n"));
    expect_fault(framer, DX_FAULT_MESSAGE_LIMIT, true);
    size_t held = memory.bytes;
    for (int i = 0; i < 1000; i++)
        feed(framer, TEXT("[]\n[]\n[]\n[]\n"));
    expect_none(framer);
    assert_int_equal(memory.bytes, held);
    dx_framer_free(framer);
    config.message_max = 100;
    framer = new_framer(&config);
    dx_framer_finish(framer);
    feed(framer, TEXT("[]\n"));
    assert_int_equal(next(framer).kind, DX_FRAME_END);
    expect_none(framer);
    dx_framer_free(framer);
    assert_int_equal(memory.blocks, 0);
}

static void reserve_and_commit(void **state) {
    (void)state;
    static const char stream[] = "Content-Length: 9\r\n\r\n[1,2,3,4]";
    dx_frame_config config = dx_frame_defaults(DX_FRAMING_HEADER);
    dx_framer *framer = new_framer(&config);
    for (size_t done = 0; done < sizeof stream - 1;) {
        void *room = NULL;
        size_t len = 0;
        expect_none(framer);
        assert_int_equal(dx_framer_reserve(framer, 7, &room, &len), DX_OK);
        assert_in_range(len, 1, 7);
        memset(room, '#', len); /* all of it may be written, whatever is committed */
        size_t part = len > 2 ? len - 2 : len;
        if (part > sizeof stream - 1 - done)
            part = sizeof stream - 1 - done;
        memcpy(room, stream + done, part);
        dx_framer_commit(framer, part);
        done += part;
    }
    expect_text(framer, DX_FRAME_MESSAGE, 21, TEXT("[1,2,3,4]"));
    void *room;
    size_t len = 0;
    assert_int_equal(dx_framer_reserve(framer, 0, &room, &len), DX_OK);
    assert_int_equal(len, 1);
    dx_framer_finish(framer);
    dx_framer_commit(framer, 1); /* too late */
    assert_int_equal(next(framer).kind, DX_FRAME_END);
    dx_framer_free(framer);
}

static void reserve_at_the_limit(void **state) {
    (void)state;
    dx_frame_config config = dx_frame_defaults(DX_FRAMING_LINE);
    config.buffer_max = 10;
    dx_framer *framer = new_framer(&config);
    void *room;
    size_t len = 0;
    feed(framer, TEXT("[1,2]\n[1"));
    assert_int_equal(dx_framer_reserve(framer, 100, &room, &len), DX_OK);
    assert_in_range(len, 1, 2);
    feed(framer, TEXT("]\n"));
    assert_int_equal(dx_framer_reserve(framer, 1, &room, &len), DX_ERR_LIMIT);
    expect_text(framer, DX_FRAME_MESSAGE, 0, TEXT("[1,2]"));
    assert_int_equal(dx_framer_reserve(framer, 1, &room, &len), DX_OK);
    expect_text(framer, DX_FRAME_MESSAGE, 6, TEXT("[1]"));
    dx_framer_free(framer);
}

static void memory_follows_the_bytes_not_the_promise(void **state) {
    (void)state;
    struct unit_memory memory = {0};
    dx_allocator alloc = unit_allocator(&memory);
    dx_frame_config config = dx_frame_defaults(DX_FRAMING_HEADER);
    config.allocator = &alloc;
    dx_framer *framer = new_framer(&config);
    assert_int_equal(memory.blocks, 1); /* no buffer before the first byte */
    feed(framer, TEXT("Content-Length: 62914560\r\n\r\n[1,2,3,4,5"));
    expect_none(framer);
    assert_in_range(memory.peak, 1, 1024);
    char piece[4096];
    memset(piece, ' ', sizeof piece);
    for (int i = 0; i < 64; i++) {
        assert_int_equal(dx_framer_feed(framer, piece, sizeof piece), DX_OK);
        expect_none(framer);
    }
    assert_in_range(memory.bytes, 64 * 4096, 3 * 64 * 4096);
    dx_framer_free(framer);
    assert_int_equal(memory.blocks, 0);
}

static void released_room_is_used_again(void **state) {
    (void)state;
    struct unit_memory memory = {0};
    dx_allocator alloc = unit_allocator(&memory);
    dx_frame_config config = dx_frame_defaults(DX_FRAMING_LINE);
    config.allocator = &alloc;
    config.buffer_max = 1000;
    dx_framer *framer = new_framer(&config);
    /* Lines that end in the middle of a feed, so that a rest is always left. */
    uint64_t offset = 0;
    feed(framer, TEXT("[1,"));
    for (int i = 0; i < 10000; i++) {
        feed(framer, TEXT("2,3,4,5]\n[1,"));
        expect_text(framer, DX_FRAME_MESSAGE, offset, TEXT("[1,2,3,4,5]"));
        offset += 12;
    }
    assert_in_range(memory.peak, 1, 2000);
    dx_framer_free(framer);
    assert_int_equal(memory.blocks, 0);
}

static void unreleased_messages_stay(void **state) {
    (void)state;
    dx_frame_config config = dx_frame_defaults(DX_FRAMING_LINE);
    config.buffer_max = 12;
    dx_framer *framer = new_framer(&config);
    feed(framer, TEXT("[1]\n[2]\n[3]\n"));
    assert_text(next(framer).text, "[1]");
    assert_text(next(framer).text, "[2]");
    assert_int_equal(dx_framer_feed(framer, "x", 1), DX_ERR_LIMIT);
    dx_framer_release(framer, 0);
    assert_int_equal(dx_framer_feed(framer, "x", 1), DX_ERR_LIMIT);
    dx_framer_release(framer, 4); /* only the first */
    assert_int_equal(dx_framer_feed(framer, "12345", 5), DX_ERR_LIMIT);
    feed(framer, TEXT("[4]\n"));
    dx_framer_release(framer, UINT64_MAX); /* no further than what was handed out */
    assert_text(next(framer).text, "[3]");
    assert_text(next(framer).text, "[4]");
    expect_none(framer);
    dx_framer_free(framer);
}

static void what_was_not_handed_out_is_not_released(void **state) {
    (void)state;
    dx_frame_config config = dx_frame_defaults(DX_FRAMING_LINE);
    dx_framer *framer = new_framer(&config);
    feed(framer, TEXT("[1,2,3]\n[4,"));
    assert_text(next(framer).text, "[1,2,3]");
    expect_none(framer);
    dx_framer_release(framer, 10); /* two bytes of that have only just come */
    feed(framer, TEXT("5]\n"));
    expect_text(framer, DX_FRAME_MESSAGE, 8, TEXT("[4,5]"));
    dx_framer_free(framer);
}

static void takes_all_or_nothing_without_memory(void **state) {
    (void)state;
    struct unit_memory memory = {0};
    dx_allocator alloc = unit_allocator(&memory);
    dx_frame_config config = dx_frame_defaults(DX_FRAMING_LINE);
    config.allocator = &alloc;
    dx_framer *framer = new_framer(&config);
    char spaces[300];
    memset(spaces, ' ', sizeof spaces);
    size_t refused = 0;
    for (int i = 0; i < 10; i++) {
        memory.fail_at = memory.count + 1;
        refused += dx_framer_feed(framer, spaces, sizeof spaces) == DX_ERR_NOMEM;
        expect_none(framer);
        memory.fail_at = 0;
        if (i >= 5) /* what was refused is fed again, what was taken is not */
            assert_int_equal(dx_framer_feed(framer, spaces, sizeof spaces), DX_OK);
    }
    assert_true(refused > 0);
    void *room;
    size_t len;
    memory.fail_at = memory.count + 1;
    assert_int_equal(dx_framer_reserve(framer, 1 << 20, &room, &len), DX_ERR_NOMEM);
    memory.fail_at = 0;
    feed(framer, TEXT("[]\n"));
    dx_frame frame = next(framer);
    assert_int_equal(frame.text.len % 300, 2);
    assert_int_equal(frame.text.at[frame.text.len - 1], ']');
    dx_framer_free(framer);
    assert_int_equal(memory.blocks, 0);
}

/* Feeds the stream under `config`; DX_FAULT_NONE if a message comes, else the fatal fault. What
 * came before (stray lines) is passed over. */
static dx_fault outcome(const dx_frame_config *config, dx_text stream) {
    dx_framer *framer = new_framer(config);
    dx_fault fault = DX_FAULT_NONE;
    feed(framer, stream);
    for (;;) {
        dx_frame frame = next(framer);
        if (frame.kind == DX_FRAME_MESSAGE)
            break;
        if (frame.kind == DX_FRAME_FAULT && frame.fatal) {
            fault = frame.fault;
            break;
        }
    }
    dx_framer_free(framer);
    return fault;
}

static void limit_of_a_header_block(void **state) {
    (void)state;
    dx_frame_config config = dx_frame_defaults(DX_FRAMING_HEADER);
    dx_text stream = TEXT("Content-Length: 2\r\n\r\n{}");
    config.header_max = 21;
    assert_int_equal(outcome(&config, stream), DX_FAULT_NONE);
    config.header_max = 20;
    assert_int_equal(outcome(&config, stream), DX_FAULT_HEADER_LIMIT);
    config.header_max = 18; /* no need to wait for the end of the line */
    assert_int_equal(outcome(&config, TEXT("Content-Length: 200")), DX_FAULT_HEADER_LIMIT);
}

/* A long line that is no header is stray text like any other. */
static void limit_does_not_hold_for_stray_lines(void **state) {
    (void)state;
    dx_frame_config config = dx_frame_defaults(DX_FRAMING_HEADER);
    config.header_max = 21;
    dx_framer *framer = new_framer(&config);
    feed(framer, TEXT("a line of more than twenty-one bytes\nContent-Length: 2\r\n\r\n{}"));
    expect_text(framer, DX_FRAME_STRAY, 0, TEXT("a line of more than t"));
    expect_text(framer, DX_FRAME_STRAY, 21, TEXT("wenty-one bytes"));
    expect_text(framer, DX_FRAME_MESSAGE, 58, TEXT("{}"));
    dx_framer_free(framer);
}

static void limit_of_fields(void **state) {
    (void)state;
    dx_frame_config config = dx_frame_defaults(DX_FRAMING_HEADER);
    dx_text stream = TEXT("A: 1\r\nContent-Length: 2\r\nB: 2\r\n\r\n{}");
    config.fields_max = 3;
    assert_int_equal(outcome(&config, stream), DX_FAULT_NONE);
    config.fields_max = 2;
    assert_int_equal(outcome(&config, stream), DX_FAULT_HEADER_LIMIT);
}

static void limit_of_a_message(void **state) {
    (void)state;
    dx_frame_config config = dx_frame_defaults(DX_FRAMING_HEADER);
    dx_text stream = TEXT("Content-Length: 10\r\n\r\n[1,2,3,4,]");
    config.message_max = 10;
    assert_int_equal(outcome(&config, stream), DX_FAULT_NONE);
    config.message_max = 9;
    assert_int_equal(outcome(&config, stream), DX_FAULT_MESSAGE_LIMIT);
    stream = TEXT("content-length:+10\r\n\r\n[1,2,3,4,]"); /* not the usual form */
    config.lenient |= DX_LENIENT_PLUS;
    assert_int_equal(outcome(&config, stream), DX_FAULT_MESSAGE_LIMIT);
    config.message_max = 10;
    assert_int_equal(outcome(&config, stream), DX_FAULT_NONE);
    config.message_max = 9;
    config.framing = DX_FRAMING_LINE;
    assert_int_equal(outcome(&config, TEXT("[1,2,3,4]\r\n")), DX_FAULT_NONE);
    assert_int_equal(outcome(&config, TEXT("[1,2,3,4]\n")), DX_FAULT_NONE);
    assert_int_equal(outcome(&config, TEXT("[1,2,3,45]\n")), DX_FAULT_MESSAGE_LIMIT);
    assert_int_equal(outcome(&config, TEXT("[1,2,3,4567")), DX_FAULT_MESSAGE_LIMIT);
}

static void limit_of_stray_text(void **state) {
    (void)state;
    dx_frame_config config = dx_frame_defaults(DX_FRAMING_HEADER);
    dx_text stream = TEXT("one\n\r\ntwo\nContent-Length: 2\r\n\r\n{}");
    config.stray_max = 10;
    assert_int_equal(outcome(&config, stream), DX_FAULT_NONE);
    config.stray_max = 9;
    assert_int_equal(outcome(&config, stream), DX_FAULT_STRAY_LIMIT);
    /* A message in between starts the count anew. */
    config.stray_max = 4;
    dx_framer *framer = new_framer(&config);
    for (int i = 0; i < 3; i++) {
        feed(framer, TEXT("one\nContent-Length: 2\r\n\r\n{}"));
        assert_int_equal(next(framer).kind, DX_FRAME_STRAY);
        assert_int_equal(next(framer).kind, DX_FRAME_MESSAGE);
    }
    dx_framer_free(framer);
}

static void limit_of_the_buffer(void **state) {
    (void)state;
    dx_frame_config config = dx_frame_defaults(DX_FRAMING_LINE);
    config.buffer_max = 10;
    dx_framer *framer = new_framer(&config);
    assert_int_equal(dx_framer_feed(framer, "01234567890", 11), DX_ERR_LIMIT);
    feed(framer, TEXT("012345678\n"));
    expect_text(framer, DX_FRAME_MESSAGE, 0, TEXT("012345678"));
    feed(framer, TEXT("12345678\n"));
    expect_text(framer, DX_FRAME_MESSAGE, 10, TEXT("12345678"));
    dx_framer_free(framer);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_what_does_not_exist),
        cmocka_unit_test(names_of_the_framings),
        cmocka_unit_test(header_messages),
        cmocka_unit_test(line_messages),
        cmocka_unit_test(swallows_after_the_end),
        cmocka_unit_test(reserve_and_commit),
        cmocka_unit_test(reserve_at_the_limit),
        cmocka_unit_test(memory_follows_the_bytes_not_the_promise),
        cmocka_unit_test(released_room_is_used_again),
        cmocka_unit_test(unreleased_messages_stay),
        cmocka_unit_test(what_was_not_handed_out_is_not_released),
        cmocka_unit_test(takes_all_or_nothing_without_memory),
        cmocka_unit_test(limit_of_a_header_block),
        cmocka_unit_test(limit_does_not_hold_for_stray_lines),
        cmocka_unit_test(limit_of_fields),
        cmocka_unit_test(limit_of_a_message),
        cmocka_unit_test(limit_of_stray_text),
        cmocka_unit_test(limit_of_the_buffer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
