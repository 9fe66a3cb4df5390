/* The trace writer: lines byte for byte, dropping, rotation. */
#include "unit/unit.h"

#include <duplex/rpc.h>
#include <duplex/trace.h>

#include <stdio.h>

static dx_trace_writer *writer_of(const dx_trace_writer_config *config) {
    dx_trace_writer *writer;
    assert_int_equal(dx_trace_writer_new(config, &writer), DX_OK);
    return writer;
}

static void send_all(dx_trace_writer *writer) {
    dx_trace_sent(writer, dx_trace_output(writer).len);
}

static dx_trace_record message(dx_text text) {
    return (dx_trace_record){.kind = DX_TRACE_MESSAGE, .from = DX_TRACE_HOST, .text = text};
}

static void expect_line(dx_trace_record record, dx_text expected) {
    dx_trace_writer_config config = dx_trace_writer_defaults();
    config.start_us = 1000;
    dx_trace_writer *writer = writer_of(&config);
    send_all(writer);
    struct unit_fence fence = unit_fence_new(record.text.len);
    if (record.text.at)
        record.text = unit_fence_put(&fence, record.text.at, record.text.len);
    assert_int_equal(dx_trace_write(writer, &record), DX_OK);
    unit_same(dx_trace_output(writer), expected);
    assert_int_equal(dx_json_check(dx_trace_output(writer), DX_DEPTH_MAX, NULL), DX_FAULT_NONE);
    unit_fence_done(&fence);
    dx_trace_writer_free(writer);
}

static void lines_byte_for_byte(void **state) {
    (void)state;
    dx_trace_record record = {.kind = DX_TRACE_MESSAGE,
                              .from = DX_TRACE_HOST,
                              .time_us = 1204,
                              .peer = dx_str("echo"),
                              .run = 2,
                              .bytes = 41,
                              .text = dx_str("{\"id\":1}")};
    expect_line(record,
                TEXT("{\"t\":204,\"from\":\"host\",\"peer\":\"echo\",\"run\":2,\"bytes\":41,"
                     "\"message\":{\"id\":1}}\n"));
    record.checked = 1;
    expect_line(record,
                TEXT("{\"t\":204,\"from\":\"host\",\"peer\":\"echo\",\"run\":2,\"bytes\":41,"
                     "\"message\":{\"id\":1}}\n"));
    record = (dx_trace_record){.kind = DX_TRACE_STRAY,
                               .from = DX_TRACE_PLUGIN,
                               .time_us = UINT64_MAX,
                               .text = TEXT("hello \"you\"\r\n\x01\xc3\xa9\0")};
    expect_line(record, TEXT("{\"t\":18446744073709550615,\"from\":\"plugin\",\"stray\":"
                             "\"hello \\\"you\\\"\\r\\n\\u0001\xc3\xa9\\u0000\"}\n"));
    record.kind = DX_TRACE_STDERR;
    record.time_us = 999; /* before the start */
    record.text = TEXT("");
    expect_line(record, TEXT("{\"t\":0,\"from\":\"plugin\",\"stderr\":\"\"}\n"));
    record.text = (dx_text){NULL, 0};
    expect_line(record, TEXT("{\"t\":0,\"from\":\"plugin\",\"stderr\":\"\"}\n"));
    record.kind = DX_TRACE_BROKEN;
    record.text = TEXT("{\"a\":\xff");
    expect_line(record, TEXT("{\"t\":0,\"from\":\"plugin\",\"broken\":\"eyJhIjr/\","
                             "\"base64\":true}\n"));
    record = (dx_trace_record){
        .kind = DX_TRACE_EVENT, .event = dx_str("exit"), .text = dx_str("{\"code\":1}")};
    expect_line(record, TEXT("{\"t\":0,\"event\":\"exit\",\"data\":{\"code\":1}}\n"));
    record.text = (dx_text){NULL, 0};
    record.from = DX_TRACE_PLUGIN;
    record.peer = TEXT("");
    expect_line(record, TEXT("{\"t\":0,\"from\":\"plugin\",\"peer\":\"\",\"event\":\"exit\"}\n"));
    record = (dx_trace_record){.kind = DX_TRACE_DROPPED, .count = 3, .time_us = 1007};
    expect_line(record, TEXT("{\"t\":7,\"dropped\":3}\n"));
}

static void messages_are_flattened(void **state) {
    (void)state;
    expect_line(message(TEXT("\n{\r\n\"a\":\r\"\\n\"\n}\r\n")),
                TEXT("{\"t\":0,\"from\":\"host\",\"message\": {  \"a\": \"\\n\" }  }\n"));
    expect_line(message(TEXT("\t[ ]\t")),
                TEXT("{\"t\":0,\"from\":\"host\",\"message\":\t[ ]\t}\n"));
}

static void what_is_no_json_is_kept_as_text(void **state) {
    (void)state;
    expect_line(message(TEXT("{\"a\":}")),
                TEXT("{\"t\":0,\"from\":\"host\",\"broken\":\"{\\\"a\\\":}\"}\n"));
    expect_line(message(TEXT("")), TEXT("{\"t\":0,\"from\":\"host\",\"broken\":\"\"}\n"));
    expect_line(message(TEXT("{}\n{}")),
                TEXT("{\"t\":0,\"from\":\"host\",\"broken\":\"{}\\n{}\"}\n"));
    expect_line(message(TEXT("\"\xff\"")),
                TEXT("{\"t\":0,\"from\":\"host\",\"broken\":\"Iv8i\",\"base64\":true}\n"));
    dx_trace_record empty = {.kind = DX_TRACE_MESSAGE, .from = DX_TRACE_HOST, .checked = 1};
    expect_line(empty, TEXT("{\"t\":0,\"from\":\"host\",\"broken\":\"\"}\n"));
}

static void names_that_are_not_unicode(void **state) {
    (void)state;
    dx_trace_record record = message(TEXT("1"));
    record.peer = TEXT("caf\xe9 \"\\\n\x7f");
    expect_line(record, TEXT("{\"t\":0,\"from\":\"host\",\"peer\":\"caf? \\\"\\\\??\","
                             "\"message\":1}\n"));
}

static void headers(void **state) {
    (void)state;
    dx_trace_writer_config config = dx_trace_writer_defaults();
    dx_trace_writer *writer = writer_of(&config);
    assert_text(dx_trace_output(writer), "{\"duplex-trace\":1,\"time\":\"us\",\"part\":1}\n");
    dx_trace_writer_free(writer);
    config.unix_ms = UINT64_MAX;
    writer = writer_of(&config);
    assert_text(dx_trace_output(writer), "{\"duplex-trace\":1,\"time\":\"us\",\"part\":1,"
                                         "\"unix-ms\":18446744073709551615}\n");
    dx_trace_writer_free(writer);
    assert_null(dx_trace_writer_free(NULL));
}

static void what_is_refused(void **state) {
    (void)state;
    dx_trace_writer_config config = dx_trace_writer_defaults();
    dx_trace_writer *writer = writer_of(&config);
    size_t len = dx_trace_output(writer).len;
    const dx_trace_record bad[] = {
        {.kind = 0, .from = DX_TRACE_HOST},
        {.kind = (dx_trace_kind)99, .from = DX_TRACE_HOST},
        {.kind = DX_TRACE_HEADER},
        {.kind = DX_TRACE_MESSAGE, .text = TEXT("{}")},
        {.kind = DX_TRACE_MESSAGE, .text = TEXT("{}"), .from = (dx_trace_from)3},
        {.kind = DX_TRACE_STRAY},
        {.kind = DX_TRACE_EVENT},
        {.kind = DX_TRACE_EVENT, .event = TEXT("x"), .from = (dx_trace_from)3},
        {.kind = DX_TRACE_EVENT, .event = TEXT("x"), .text = TEXT("{")},
        {.kind = DX_TRACE_EVENT, .event = TEXT("x"), .text = TEXT("")},
    };
    for (size_t i = 0; i < LENGTH(bad); i++) {
        assert_int_equal(dx_trace_write(writer, &bad[i]), DX_ERR_INVALID);
        assert_int_equal(dx_trace_output(writer).len, len);
        assert_int_equal(dx_trace_dropped(writer), 0);
    }
    dx_trace_writer_free(writer);
    config.waiting_max = 255;
    assert_int_equal(dx_trace_writer_new(&config, &writer), DX_ERR_INVALID);
    config = dx_trace_writer_defaults();
    config.redact = (const char *[]){"a", "", NULL};
    assert_int_equal(dx_trace_writer_new(&config, &writer), DX_ERR_INVALID);
}

static void secrets_are_hidden_in_messages_and_facts(void **state) {
    (void)state;
    dx_trace_writer_config config = dx_trace_writer_defaults();
    char name[] = "token";
    config.redact = (const char *[]){name, NULL};
    dx_trace_writer *writer = writer_of(&config);
    memset(name, 'x', sizeof name - 1); /* it was copied */
    send_all(writer);
    dx_trace_record record = message(TEXT("{\n\"token\":\n[1],\"b\":\r2}"));
    for (record.checked = 0; record.checked <= 1; record.checked++) {
        assert_int_equal(dx_trace_write(writer, &record), DX_OK);
        assert_text(dx_trace_output(writer),
                    "{\"t\":0,\"from\":\"host\",\"message\":{ \"token\": \"***\",\"b\": 2},"
                    "\"redacted\":1}\n");
        send_all(writer);
    }
    /* It was said to be JSON, but is none. */
    record.text = TEXT("{\"token\":[1}");
    record.checked = 1;
    assert_int_equal(dx_trace_write(writer, &record), DX_OK);
    assert_text(dx_trace_output(writer),
                "{\"t\":0,\"from\":\"host\",\"broken\":\"{\\\"token\\\":[1}\"}\n");
    send_all(writer);
    record = (dx_trace_record){
        .kind = DX_TRACE_EVENT, .event = TEXT("token"), .text = TEXT("{\"Token\":1}")};
    assert_int_equal(dx_trace_write(writer, &record), DX_OK);
    assert_text(dx_trace_output(writer),
                "{\"t\":0,\"event\":\"token\",\"data\":{\"Token\":\"***\"},\"redacted\":1}\n");
    send_all(writer);
    record = (dx_trace_record){
        .kind = DX_TRACE_STRAY, .from = DX_TRACE_PLUGIN, .text = TEXT("{\"token\":1}")};
    assert_int_equal(dx_trace_write(writer, &record), DX_OK);
    assert_text(dx_trace_output(writer),
                "{\"t\":0,\"from\":\"plugin\",\"stray\":\"{\\\"token\\\":1}\"}\n");
    dx_trace_writer_free(writer);
}

/* Nobody reads: memory stays where it is, records are counted; then somebody reads again. */
static void drops_and_recovers(void **state) {
    (void)state;
    enum { LIMIT = 1000 };
    struct unit_memory memory = {0};
    dx_allocator alloc = unit_allocator(&memory);
    dx_trace_writer_config config = {.waiting_max = LIMIT, .allocator = &alloc};
    dx_trace_writer *writer = writer_of(&config);
    dx_trace_record record = message(TEXT("[1,2,3]"));
    uint64_t written = 0;
    uint64_t lost = 0;
    for (record.time_us = 1; record.time_us <= 1000; record.time_us++) {
        dx_status status = dx_trace_write(writer, &record);
        assert_true(status == DX_OK || status == DX_BUSY);
        assert_true(status == DX_BUSY || !lost);
        written += status == DX_OK;
        lost += status == DX_BUSY;
        assert_true(dx_trace_output(writer).len <= LIMIT);
    }
    assert_true(written > 10 && lost > 900);
    assert_int_equal(dx_trace_dropped(writer), lost);
    size_t before = dx_trace_output(writer).len;
    /* Not enough room for the line that tells it: the header is still there in part. */
    dx_trace_sent(writer, 1);
    assert_int_equal(dx_trace_output(writer).len, before - 1);
    size_t header = strlen("{\"duplex-trace\":1,\"time\":\"us\",\"part\":1}\n");
    dx_trace_sent(writer, header - 1);
    dx_text out = dx_trace_output(writer);
    /* That line is shorter than a record: the first one that was lost may have been told at once.
     */
    char tells[100];
    int len = snprintf(tells, sizeof tells, "{\"t\":%d,\"dropped\":1}\n", (int)written + 1);
    int told = memmem(out.at, out.len, tells, (size_t)len) != NULL;
    len = snprintf(tells, sizeof tells, "{\"t\":1000,\"dropped\":%d}\n", (int)lost - told);
    assert_int_equal(out.len, before - header + (size_t)len);
    assert_memory_equal(out.at + out.len - len, tells, (size_t)len);
    /* A record finds no room, and is told of later. */
    record.text = (dx_text){NULL, 0};
    record.kind = DX_TRACE_STRAY;
    char room[LIMIT];
    memset(room, 'x', sizeof room);
    record.text = (dx_text){room, LIMIT};
    assert_int_equal(dx_trace_write(writer, &record), DX_BUSY);
    assert_int_equal(dx_trace_dropped(writer), lost + 1);
    send_all(writer);
    assert_text(dx_trace_output(writer), "{\"t\":1001,\"dropped\":1}\n");
    send_all(writer);
    assert_int_equal(dx_trace_output(writer).len, 0);
    assert_true(memory.peak < 6000);
    dx_trace_writer_free(writer);
    assert_int_equal(memory.blocks, 0);
}

/* The limit is exact: to the byte that fits, and the one that does not. */
static void the_limit_is_exact(void **state) {
    (void)state;
    char room[1000];
    memset(room, '1', sizeof room);
    size_t rest = strlen("{\"t\":0,\"from\":\"host\",\"message\":}\n");
    for (size_t len = 400; len <= 600; len++) {
        dx_trace_writer_config config = {.waiting_max = 500};
        dx_trace_writer *writer = writer_of(&config);
        send_all(writer);
        dx_trace_record record = message((dx_text){room, len});
        assert_int_equal(dx_trace_write(writer, &record), len + rest <= 500 ? DX_OK : DX_BUSY);
        dx_trace_writer_free(writer);
    }
}

/* Text that grows when it is written takes no more than it may. */
static void text_that_grows(void **state) {
    (void)state;
    struct unit_memory memory = {0};
    dx_allocator alloc = unit_allocator(&memory);
    dx_trace_writer_config config = {.waiting_max = 10000, .allocator = &alloc};
    dx_trace_writer *writer = writer_of(&config);
    static char room[9000];
    dx_trace_record record = {
        .kind = DX_TRACE_STRAY, .from = DX_TRACE_PLUGIN, .text = {room, sizeof room}};
    assert_int_equal(dx_trace_write(writer, &record), DX_BUSY); /* NUL: six bytes each */
    memset(room, 0xff, sizeof room);
    assert_int_equal(dx_trace_write(writer, &record), DX_BUSY); /* base64: a third more */
    memset(room, 'x', sizeof room);
    send_all(writer);
    send_all(writer);
    assert_int_equal(dx_trace_write(writer, &record), DX_OK);
    assert_true(memory.bytes < 25000);
    /* A buffer that was large is given back. */
    dx_trace_writer_free(writer);
    config.waiting_max = 1 << 20;
    writer = writer_of(&config);
    for (int i = 0; i < 50; i++)
        assert_int_equal(dx_trace_write(writer, &record), DX_OK);
    assert_true(memory.bytes > 400000);
    send_all(writer);
    assert_true(memory.bytes < 3000);
    dx_trace_writer_free(writer);
    assert_int_equal(memory.blocks, 0);
}

static void rotation(void **state) {
    (void)state;
    dx_trace_writer_config config = dx_trace_writer_defaults();
    dx_trace_writer *writer = writer_of(&config);
#define HEAD(n) "{\"duplex-trace\":1,\"time\":\"us\",\"part\":" #n "}\n"
#define LINE(n) "{\"t\":0,\"from\":\"host\",\"message\":" #n "}\n"
    assert_int_equal(dx_trace_size(writer), 0);
    assert_int_equal(dx_trace_rotate(writer), DX_OK); /* nothing was sent: nothing changes */
    assert_text(dx_trace_output(writer), HEAD(1));
    dx_trace_record one = message(TEXT("1"));
    dx_trace_record two = message(TEXT("2"));
    assert_int_equal(dx_trace_write(writer, &one), DX_OK);
    assert_text(dx_trace_output(writer), HEAD(1) LINE(1));
    dx_trace_sent(writer, 5); /* in the header: it comes whole again */
    assert_int_equal(dx_trace_size(writer), 5);
    assert_int_equal(dx_trace_rotate(writer), DX_OK);
    assert_int_equal(dx_trace_size(writer), 0);
    assert_text(dx_trace_output(writer), HEAD(1) LINE(1));
    send_all(writer);
    assert_int_equal(dx_trace_size(writer), strlen(HEAD(1) LINE(1)));
    assert_int_equal(dx_trace_rotate(writer), DX_OK); /* between two lines, nothing waits */
    assert_int_equal(dx_trace_size(writer), 0);
    assert_text(dx_trace_output(writer), HEAD(2));
    assert_int_equal(dx_trace_write(writer, &one), DX_OK);
    assert_int_equal(dx_trace_write(writer, &two), DX_OK);
    dx_trace_sent(writer, strlen(HEAD(2))); /* what waits goes into the new file */
    assert_int_equal(dx_trace_rotate(writer), DX_OK);
    assert_text(dx_trace_output(writer), HEAD(3) LINE(1) LINE(2));
    /* Inside of a line: that line is told again. */
    dx_trace_sent(writer, strlen(HEAD(3) LINE(1)) + 3);
    assert_int_equal(dx_trace_size(writer), strlen(HEAD(3) LINE(1)) + 3);
    assert_int_equal(dx_trace_rotate(writer), DX_OK);
    assert_text(dx_trace_output(writer), HEAD(4) LINE(2));
    dx_trace_sent(writer, strlen(HEAD(4)) + 3);
    dx_trace_sent(writer, 4);
    dx_trace_sent(writer, 0);
    assert_int_equal(dx_trace_rotate(writer), DX_OK);
    assert_text(dx_trace_output(writer), HEAD(5) LINE(2));
    dx_trace_sent(writer, 100000); /* more than there is */
    assert_int_equal(dx_trace_size(writer), strlen(HEAD(5) LINE(2)));
    /* But for its newline the line is there: that is enough. */
    assert_int_equal(dx_trace_write(writer, &one), DX_OK);
    assert_int_equal(dx_trace_write(writer, &two), DX_OK);
    dx_trace_sent(writer, strlen(LINE(1)) - 1);
    assert_int_equal(dx_trace_rotate(writer), DX_OK);
    assert_text(dx_trace_output(writer), HEAD(6) LINE(2));
    dx_trace_sent(writer, strlen(HEAD(6) LINE(2)) - 1);
    assert_int_equal(dx_trace_rotate(writer), DX_OK);
    assert_text(dx_trace_output(writer), HEAD(7));
    dx_trace_writer_free(writer);
}

/* A full buffer can be rotated at every place, and no line is lost or torn. */
static void rotation_of_a_full_buffer(void **state) {
    (void)state;
    for (size_t part = 0; part <= 400; part++) {
        dx_trace_writer_config config = {.waiting_max = 400};
        dx_trace_writer *writer = writer_of(&config);
        dx_trace_record one = message(TEXT("1"));
        while (dx_trace_write(writer, &one) == DX_OK)
            ;
        dx_trace_sent(writer, part);
        assert_int_equal(dx_trace_rotate(writer), DX_OK);
        dx_text out = dx_trace_output(writer);
        assert_memory_equal(out.at, "{\"duplex-trace\"", 15);
        size_t at = (size_t)((const char *)memchr(out.at, '\n', out.len) + 1 - out.at);
        size_t line = strlen(LINE(1));
        while (out.len - at >= line && memcmp(out.at + at, LINE(1), line) == 0)
            at += line;
        if (at < out.len) /* then what is left tells of the one that was dropped */
            unit_same((dx_text){out.at + at, out.len - at}, TEXT("{\"t\":0,\"dropped\":1}\n"));
        dx_trace_writer_free(writer);
    }
}

static void without_memory(void **state) {
    (void)state;
    static char large[3000];
    memset(large, 0xff, sizeof large);
    size_t failures = 0;
    for (size_t fail = 1;; fail++) {
        struct unit_memory memory = {.fail_at = fail};
        dx_allocator alloc = unit_allocator(&memory);
        dx_trace_writer_config config = dx_trace_writer_defaults();
        config.redact = (const char *[]){"a", NULL};
        config.allocator = &alloc;
        dx_trace_writer *writer = NULL;
        dx_status status = dx_trace_writer_new(&config, &writer);
        if (status != DX_OK) {
            assert_int_equal(status, DX_ERR_NOMEM);
            assert_null(writer);
            assert_int_equal(memory.blocks, 0);
            failures++;
            continue;
        }
        dx_trace_record records[] = {
            message(TEXT("{\"a\":1,\"b\":2}")),
            {.kind = DX_TRACE_STRAY, .from = DX_TRACE_PLUGIN, .text = {large, sizeof large}},
            {.kind = DX_TRACE_BROKEN, .from = DX_TRACE_PLUGIN, .text = {large, sizeof large}},
            {.kind = DX_TRACE_EVENT, .event = TEXT("\xff"), .text = TEXT("[{\"a\":1}]")},
        };
        uint64_t lost = 0;
        for (size_t i = 0; i < LENGTH(records); i++) {
            size_t before = dx_trace_output(writer).len;
            status = dx_trace_write(writer, &records[i]);
            if (status == DX_OK)
                continue;
            assert_int_equal(status, DX_ERR_NOMEM);
            lost++;
            /* Whole lines or nothing; it may have been told of what was lost before. */
            dx_text out = dx_trace_output(writer);
            assert_true(out.len >= before && out.at[out.len - 1] == '\n');
        }
        assert_int_equal(dx_trace_dropped(writer), lost);
        dx_trace_sent(writer, dx_trace_output(writer).len - 10);
        status = dx_trace_rotate(writer);
        if (status != DX_OK) {
            assert_int_equal(status, DX_ERR_NOMEM);
            assert_int_equal(dx_trace_output(writer).len, 10);
        }
        int done = memory.count < fail;
        failures += !done;
        memory.fail_at = 0;
        send_all(writer);
        send_all(writer);
        assert_int_equal(dx_trace_output(writer).len, 0);
        assert_int_equal(dx_trace_write(writer, &records[0]), DX_OK);
        dx_trace_writer_free(writer);
        assert_int_equal(memory.blocks, 0);
        if (done)
            break;
    }
    assert_true(failures >= 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_byte_for_byte),
        cmocka_unit_test(messages_are_flattened),
        cmocka_unit_test(what_is_no_json_is_kept_as_text),
        cmocka_unit_test(names_that_are_not_unicode),
        cmocka_unit_test(headers),
        cmocka_unit_test(what_is_refused),
        cmocka_unit_test(secrets_are_hidden_in_messages_and_facts),
        cmocka_unit_test(drops_and_recovers),
        cmocka_unit_test(the_limit_is_exact),
        cmocka_unit_test(text_that_grows),
        cmocka_unit_test(rotation),
        cmocka_unit_test(rotation_of_a_full_buffer),
        cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
