/* A stream gives the same frames whatever pieces it comes in, and whenever they are released. */
#include "unit/unit.h"

#include <duplex/frame.h>

#include <stdbool.h>

enum { FRAMES = 40, TEXT_MAX = 120 };

struct seen {
    dx_frame_kind kind;
    dx_fault fault;
    int fatal;
    uint64_t offset;
    uint64_t expected;
    char text[TEXT_MAX];
    size_t len;
};

struct log {
    struct seen frames[FRAMES];
    size_t count;
};

enum release { AT_ONCE, AS_FAR_AS_POSSIBLE, NEVER };

static void drain(dx_framer *framer, enum release release, struct log *log) {
    dx_frame frame;
    while (dx_framer_next(framer, &frame) == DX_OK) {
        assert_true(log->count < FRAMES && frame.text.len <= TEXT_MAX);
        struct seen *seen = &log->frames[log->count++];
        memset(seen, 0, sizeof *seen); /* they are compared as bytes */
        seen->kind = frame.kind;
        seen->fault = frame.fault;
        seen->fatal = frame.fatal;
        seen->expected = frame.expected;
        /* Where a fatal fault was noticed may depend on how much had come. */
        seen->offset = frame.fatal ? 0 : frame.offset;
        seen->len = frame.text.len;
        if (frame.text.len)
            memcpy(seen->text, frame.text.at, frame.text.len);
        if (release == AT_ONCE)
            dx_framer_release(framer, frame.offset + frame.text.len);
    }
    if (release == AS_FAR_AS_POSSIBLE)
        dx_framer_release(framer, UINT64_MAX);
}

struct run {
    dx_frame_config config;
    dx_text stream;
    struct unit_fence fence;
};

static void feed(const struct run *run, dx_framer *framer, size_t from, size_t to) {
    dx_text piece = unit_fence_put(&run->fence, run->stream.at + from, to - from);
    assert_int_equal(dx_framer_feed(framer, piece.at, piece.len), DX_OK);
}

/* The stream in pieces of `piece` bytes, the first one of `first` bytes. */
static void play(const struct run *run, size_t first, size_t piece, enum release release,
                 struct log *log) {
    dx_framer *framer = NULL;
    log->count = 0;
    assert_int_equal(dx_framer_new(&run->config, &framer), DX_OK);
    size_t at = 0;
    for (size_t to = first; at < run->stream.len; at = to, to += piece) {
        if (to > run->stream.len)
            to = run->stream.len;
        feed(run, framer, at, to);
        drain(framer, release, log);
    }
    dx_framer_finish(framer);
    drain(framer, release, log);
    dx_framer_free(framer);
}

static void expect_same(const struct log *got, const struct log *whole, size_t cut) {
    bool same = got->count == whole->count &&
                memcmp(got->frames, whole->frames, got->count * sizeof *got->frames) == 0;
    if (!same)
        fail_msg("cut at %zu: %zu frames, the last is %s; whole: %zu, the last is %s", cut,
                 got->count, dx_fault_name(got->frames[got->count - 1].fault), whole->count,
                 dx_fault_name(whole->frames[whole->count - 1].fault));
}

static void check(dx_frame_config config, dx_text stream) {
    static struct log whole;
    static struct log log;
    struct run run = {config, stream, unit_fence_new(stream.len)};
    play(&run, stream.len, 1, NEVER, &whole);
    assert_true(whole.count > 0);
    for (enum release release = AT_ONCE; release <= NEVER; release++) {
        for (size_t cut = 1; cut < stream.len; cut++) {
            play(&run, cut, stream.len, release, &log);
            expect_same(&log, &whole, cut);
        }
        for (size_t piece = 1; piece < 8; piece++) {
            play(&run, piece, piece, release, &log);
            expect_same(&log, &whole, piece);
        }
    }
    unit_fence_done(&run.fence);
}

static void header_streams(void **state) {
    (void)state;
    dx_frame_config config = dx_frame_defaults(DX_FRAMING_HEADER);
    check(config, TEXT("Content-Length: 2\r\n\r\n{}Content-Length: 3\r\n\r\n[1]"));
    check(config,
          TEXT("junk\n\r\nmore junkContent-Length: 2\n\n{}\r\nContent-Length: 5\r\n\r\n12"));
    check(config, TEXT("A: b\r\n\r\nContent-Length: 2\r\nnonsense\r\nContent-Length: 2\r\n\r\n{}"));
    check(config, TEXT("Content-Length: x\r\n\r\nContent-Length: 1\r\n\r\n7Content-Le"));
    check(config, TEXT("Content-Type: x; charset=utf-8\r\nContent-Length: 1\r\n\r\n7"));
    check(config, TEXT("{\"jsonrpc\":\"2.0\"}\n{}\n"));
    config.lenient = 0;
    check(config, TEXT("Content-Length: 2\r\n\r\n{}junk\r\n"));
    check(config, TEXT("Content-Length: 2\r\n\r\n{}Content-Length: 2\n\n{}"));
}

static void line_streams(void **state) {
    (void)state;
    dx_frame_config config = dx_frame_defaults(DX_FRAMING_LINE);
    check(config, TEXT("{}\n[1]\r\n\n  \n{\"a\":[1,2,3]}\n\"x\""));
    check(config, TEXT("\xef\xbb\xbf{}\n\xef\xbb\xbf{}\n"));
    check(config, TEXT("{}\nContent-Length: 2\r\n\r\n{}\n"));
    check(config, TEXT("Content-Length: 2\r\n\r\n{}\n"));
}

/* The limits are the same ones too. */
static void streams_at_the_limits(void **state) {
    (void)state;
    dx_frame_config config = dx_frame_defaults(DX_FRAMING_LINE);
    config.message_max = 6;
    check(config, TEXT("[1234]\r\n[1234]\n[12345]\n[]\n"));
    check(config, TEXT("\r\n      \r\n[1234]"));
    config = dx_frame_defaults(DX_FRAMING_HEADER);
    config.header_max = 24;
    config.stray_max = 24;
    check(config, TEXT("ab\ncd\nContent-Length: 22\r\n\r\n{aaaaaaaaaaaaaaaaaaaa}abc\nfghi\n"));
    check(config, TEXT("0123456789012345678901234567890123456789"));
}

/* The mark is no part of the first message, which may be as long as any other. */
static void a_byte_order_mark_before_the_longest_message(void **state) {
    (void)state;
    dx_frame_config config = dx_frame_defaults(DX_FRAMING_LINE);
    config.message_max = 6;
    check(config, TEXT("\xef\xbb\xbf[1234]\r\n[]\n"));
}

/* Lines of a block count for its limit even when they are released before it ends. */
static void a_long_block_of_released_lines(void **state) {
    (void)state;
    dx_frame_config config = dx_frame_defaults(DX_FRAMING_HEADER);
    config.header_max = 60;
    check(config, TEXT("Content-Length: 2\r\nsome line\r\nsome line\r\nsome line\r\nsome line\r\n"
                       "\r\n{}"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(header_streams),
        cmocka_unit_test(line_streams),
        cmocka_unit_test(streams_at_the_limits),
        cmocka_unit_test(a_byte_order_mark_before_the_longest_message),
        cmocka_unit_test(a_long_block_of_released_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
