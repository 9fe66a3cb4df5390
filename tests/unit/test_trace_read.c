/* The trace reader: what was written comes back, and what is wrong is told and passed over. */
#include "unit/unit.h"

#include <duplex/rpc.h>
#include <duplex/trace.h>

#include <stdio.h>

#define HEAD "{\"duplex-trace\":1,\"time\":\"us\",\"part\":1}\n"
#define LINE "{\"t\":5,\"from\":\"host\",\"message\":[1]}\n"

static dx_trace_reader *reader_of(size_t line_max, const dx_allocator *alloc) {
    dx_trace_reader_config config = dx_trace_reader_defaults();
    if (line_max)
        config.line_max = line_max;
    config.allocator = alloc;
    dx_trace_reader *reader;
    assert_int_equal(dx_trace_reader_new(&config, &reader), DX_OK);
    return reader;
}

/* Writes what a reader says about a text, line by line, into a buffer that is easy to compare. */
static void put(dx_buf *log, dx_text text) {
    assert_int_equal(dx_buf_append(log, text.at, text.len), DX_OK);
}

static void put_number(dx_buf *log, const char *name, uint64_t number) {
    char text[100];
    int len = snprintf(text, sizeof text, " %s=%llu", name, (unsigned long long)number);
    put(log, (dx_text){text, (size_t)len});
}

static void put_text(dx_buf *log, const char *name, dx_text text) {
    put_number(log, name, text.at ? text.len : SIZE_MAX);
    if (text.at)
        put(log, text);
}

static void put_record(dx_buf *log, const dx_trace_record *record) {
    put_number(log, "kind", record->kind);
    put_number(log, "from", record->from);
    put_number(log, "t", record->time_us);
    put_text(log, "peer", record->peer);
    put_number(log, "run", record->run);
    put_number(log, "bytes", record->bytes);
    put_text(log, "text", record->text);
    put_text(log, "event", record->event);
    put_number(log, "count", record->count);
    put_number(log, "unix", record->unix_ms);
    put(log, TEXT("\n"));
}

/* Takes what is there now; says how the reader ended: DX_AGAIN or DX_CLOSED. */
static dx_status drain(dx_trace_reader *reader, dx_buf *log) {
    for (;;) {
        dx_trace_record record;
        dx_error error;
        memset(&record, '#', sizeof record);
        memset(&error, '#', sizeof error);
        dx_status status = dx_trace_next(reader, &record, &error);
        if (status == DX_OK) {
            put_number(log, "line", record.line);
            put_record(log, &record);
        } else if (status < 0) {
            assert_true(status == DX_ERR_INVALID || status == DX_ERR_LIMIT);
            put(log, dx_str(error.place));
            put_number(log, dx_fault_name(error.fault), error.offset);
            put(log, TEXT(" "));
            put(log, dx_str(error.phrase));
            put(log, TEXT("\n"));
            assert_memory_equal(error.phrase, error.place, strlen(error.place));
        } else {
            assert_true(status == DX_AGAIN || status == DX_CLOSED);
            return status;
        }
    }
}

static void feed(dx_trace_reader *reader, const char *bytes, size_t len, dx_buf *log) {
    struct unit_fence fence = unit_fence_new(len);
    dx_text text = unit_fence_put(&fence, bytes, len);
    for (size_t at = 0, used; at < len; at += used) {
        dx_status status = dx_trace_feed(reader, text.at + at, len - at, &used);
        assert_true(status == DX_OK ? used == len - at : status == DX_BUSY && used < len - at);
        assert_int_equal(drain(reader, log), DX_AGAIN);
    }
    unit_fence_done(&fence);
}

static dx_buf read_all(dx_text text, size_t piece, size_t line_max) {
    dx_trace_reader *reader = reader_of(line_max, NULL);
    dx_buf log;
    dx_buf_init(&log, 100 << 20, NULL);
    for (size_t at = 0; at < text.len; at += piece)
        feed(reader, text.at + at, text.len - at < piece ? text.len - at : piece, &log);
    dx_trace_finish(reader);
    assert_int_equal(drain(reader, &log), DX_CLOSED);
    assert_int_equal(drain(reader, &log), DX_CLOSED);
    size_t used;
    assert_int_equal(dx_trace_feed(reader, "x", 1, &used), DX_CLOSED);
    assert_int_equal(used, 0);
    dx_trace_reader_free(reader);
    return log;
}

/* Round trip */

enum { RECORDS = 400 };

struct made {
    dx_trace_record record;
    char text[300], peer[20], event[20];
};

static size_t random_bytes(uint64_t *random, char *to, size_t max, int kind) {
    size_t len = unit_random(random, max);
    for (size_t i = 0; i < len; i++) {
        size_t c = unit_random(random, kind == 0 ? 256 : 128);
        to[i] = (char)(kind == 2 ? " \n\r\"\\/\t\0xyz"[c % 11] : (int)c);
    }
    return len;
}

/* Some JSON with white space at every place where it may be, and things that need care. */
static size_t random_json(uint64_t *random, char *to) {
    static const char *const spaces[] = {"", "", " ", "\t", "  \t "};
    static const char *const values[] = {
        "1",     "-0.5e+3", "\"\\ud800\"", "\"\\u0000\\n\"", "null",
        "1e400", "{}",      "[ ]",         "\"\xc3\xa9\"",   "\"}\""};
    size_t len = 0;
#define ADD(string) len += (size_t)snprintf(to + len, 300 - len, "%s", string)
#define SPACE() ADD(spaces[unit_random(random, LENGTH(spaces))])
    SPACE();
    ADD("{");
    for (size_t i = 0, n = unit_random(random, 4); i < n; i++) {
        if (i)
            ADD(",");
        SPACE();
        ADD(i % 2 ? "\"message\"" : "\"a\\\"b\"");
        SPACE();
        ADD(":");
        SPACE();
        ADD(values[unit_random(random, LENGTH(values))]);
        SPACE();
    }
    ADD("}");
    SPACE();
    return len;
}

static void make(struct made *made, uint64_t *random) {
    static const dx_trace_kind kinds[] = {DX_TRACE_MESSAGE, DX_TRACE_MESSAGE, DX_TRACE_BROKEN,
                                          DX_TRACE_STRAY,   DX_TRACE_STDERR,  DX_TRACE_EVENT};
    dx_trace_record *record = &made->record;
    *record = (dx_trace_record){.kind = kinds[unit_random(random, LENGTH(kinds))],
                                .from = unit_random(random, 2) ? DX_TRACE_HOST : DX_TRACE_PLUGIN,
                                .run = unit_random(random, 3),
                                .bytes = unit_random(random, 2) ? UINT64_MAX : 0};
    record->time_us = unit_random(random, 2) ? UINT64_MAX : unit_random(random, 100000);
    if (unit_random(random, 4))
        record->peer = (dx_text){made->peer, random_bytes(random, made->peer, 20, 1)};
    if (record->kind == DX_TRACE_EVENT) {
        record->event = (dx_text){made->event, random_bytes(random, made->event, 20, 2)};
        if (unit_random(random, 2))
            record->from = DX_TRACE_NOBODY;
    }
    if (record->kind == DX_TRACE_MESSAGE ||
        (record->kind == DX_TRACE_EVENT && unit_random(random, 2)))
        record->text = (dx_text){made->text, random_json(random, made->text)};
    else if (record->kind != DX_TRACE_EVENT)
        record->text = (dx_text){
            made->text, random_bytes(random, made->text, 300, (int)unit_random(random, 3))};
    record->checked = (int)unit_random(random, 2);
}

static void what_was_written_is_read_back(void **state) {
    (void)state;
    uint64_t random = 11;
    for (int round = 0; round < 100; round++) {
        dx_trace_writer_config config = dx_trace_writer_defaults();
        dx_trace_writer *writer;
        dx_buf expected;
        assert_int_equal(dx_trace_writer_new(&config, &writer), DX_OK);
        dx_buf_init(&expected, 100 << 20, NULL);
        dx_trace_record header = {.kind = DX_TRACE_HEADER, .count = 1};
        put_number(&expected, "line", 1);
        put_record(&expected, &header);
        for (unsigned i = 0; i < RECORDS; i++) {
            struct made made;
            make(&made, &random);
            assert_int_equal(dx_trace_write(writer, &made.record), DX_OK);
            put_number(&expected, "line", i + 2);
            put_record(&expected, &made.record);
        }
        dx_buf got = read_all(dx_trace_output(writer), 1 + unit_random(&random, 5000), 0);
        unit_same((dx_text){got.data, got.len}, (dx_text){expected.data, expected.len});
        dx_buf_done(&got);
        dx_buf_done(&expected);
        dx_trace_writer_free(writer);
    }
}

static void all_bytes_and_lengths(void **state) {
    (void)state;
    for (size_t len = 0; len <= 300; len++) {
        char bytes[300];
        for (size_t i = 0; i < len; i++)
            bytes[i] = (char)(i + len);
        dx_trace_record record = {
            .kind = DX_TRACE_STRAY, .from = DX_TRACE_PLUGIN, .text = {bytes, len}};
        dx_trace_writer_config config = dx_trace_writer_defaults();
        dx_trace_writer *writer;
        assert_int_equal(dx_trace_writer_new(&config, &writer), DX_OK);
        assert_int_equal(dx_trace_write(writer, &record), DX_OK);
        dx_text out = dx_trace_output(writer);
        dx_trace_reader *reader = reader_of(0, NULL);
        size_t used;
        assert_int_equal(dx_trace_feed(reader, out.at, out.len, &used), DX_OK);
        dx_trace_record got;
        assert_int_equal(dx_trace_next(reader, &got, NULL), DX_OK);
        assert_int_equal(dx_trace_next(reader, &got, NULL), DX_OK);
        unit_same(got.text, record.text);
        dx_trace_reader_free(reader);
        dx_trace_writer_free(writer);
    }
}

static void the_deepest_message(void **state) {
    (void)state;
    static char deep[2 * DX_DEPTH_MAX + 2];
    for (size_t depth = DX_DEPTH_MAX; depth <= DX_DEPTH_MAX + 1; depth++) {
        memset(deep, '[', depth);
        memset(deep + depth, ']', depth);
        dx_trace_record record = {
            .kind = DX_TRACE_MESSAGE, .from = DX_TRACE_HOST, .text = {deep, 2 * depth}};
        dx_trace_writer_config config = dx_trace_writer_defaults();
        dx_trace_writer *writer;
        assert_int_equal(dx_trace_writer_new(&config, &writer), DX_OK);
        assert_int_equal(dx_trace_write(writer, &record), DX_OK);
        if (depth > DX_DEPTH_MAX)
            record.kind = DX_TRACE_BROKEN;
        dx_buf expected;
        dx_buf_init(&expected, 100000, NULL);
        put_number(&expected, "line", 2);
        put_record(&expected, &record);
        dx_buf got = read_all(dx_trace_output(writer), 1000, 0);
        assert_true(got.len > expected.len);
        assert_memory_equal(got.data + got.len - expected.len, expected.data, expected.len);
        dx_buf_done(&got);
        dx_buf_done(&expected);
        dx_trace_writer_free(writer);
    }
}

/* Wrong lines */

/* What is said about a line; it stands as the second one, with a good one behind it. */
static void expect_error(dx_text line, dx_fault fault, uint64_t offset, const char *phrase) {
    dx_trace_reader *reader = reader_of(0, NULL);
    dx_trace_record record;
    dx_error error;
    size_t used;
    assert_int_equal(dx_trace_feed(reader, HEAD, strlen(HEAD), &used), DX_OK);
    assert_int_equal(dx_trace_next(reader, &record, NULL), DX_OK);
    assert_int_equal(dx_trace_feed(reader, line.at, line.len, &used), DX_OK);
    assert_int_equal(dx_trace_next(reader, &record, NULL), DX_AGAIN);
    assert_int_equal(dx_trace_feed(reader, "\n" LINE, strlen("\n" LINE), &used), DX_OK);
    memset(&record, '#', sizeof record);
    assert_int_equal(dx_trace_next(reader, &record, &error), DX_ERR_INVALID);
    assert_int_equal(record.kind, 0x23232323); /* set on success only */
    assert_int_equal(error.fault, fault);
    assert_int_equal(error.offset, offset);
    assert_string_equal(error.place, "line 2");
    assert_string_equal(error.phrase, phrase);
    assert_int_equal(dx_trace_next(reader, &record, &error), DX_OK);
    assert_int_equal(record.line, 3);
    assert_text(record.text, "[1]");
    assert_int_equal(dx_trace_next(reader, &record, &error), DX_AGAIN);
    dx_trace_reader_free(reader);
}

static void wrong_lines_are_told_and_passed_over(void **state) {
    (void)state;
    static const struct {
        const char *line;
        dx_fault fault;
        uint64_t offset;
        const char *phrase;
    } cases[] = {
        {"hello", DX_FAULT_JSON_SYNTAX, 0, "line 2: invalid JSON at byte 0"},
        {"{\"t\":1", DX_FAULT_JSON_INCOMPLETE, 6, "line 2: JSON ends too early, at byte 6"},
        {"{\"t\":1 \"a\"", DX_FAULT_JSON_SYNTAX, 7, "line 2: invalid JSON at byte 7"},
        {"{\"t\":01}", DX_FAULT_JSON_SYNTAX, 6, "line 2: invalid JSON at byte 6"},
        {"{} {}", DX_FAULT_JSON_TRAILING, 3,
         "line 2: bytes after the JSON document, which ended at byte 3"},
        {"{\"t\":\"\xff\"}", DX_FAULT_JSON_UTF8, 6, "line 2: invalid UTF-8 at byte 6"},
        {"\xff", DX_FAULT_JSON_UTF8, 0, "line 2: invalid UTF-8 at byte 0"},
        {"[]", DX_FAULT_NOT_A_MESSAGE, 0, "line 2: expected a JSON object"},
        {"7", DX_FAULT_NOT_A_MESSAGE, 0, "line 2: expected a JSON object"},
        {"{}", DX_FAULT_NOT_A_MESSAGE, 0, "line 2: a JSON object, but not a trace record"},
        {"{\"jsonrpc\":\"2.0\",\"id\":1}", DX_FAULT_NOT_A_MESSAGE, 0,
         "line 2: a JSON object, but not a trace record"},
        {"{\"message\":1}", DX_FAULT_NOT_A_MESSAGE, 0, "line 2: expected \"from\": who sent it"},
        {"{\"stray\":\"a\\u0041\"}", DX_FAULT_NOT_A_MESSAGE, 0,
         "line 2: expected \"from\": who sent it"},
        {"{\"from\":\"me\",\"message\":1}", DX_FAULT_NOT_A_MESSAGE, 8,
         "line 2: \"from\" must be \"host\" or \"plugin\""},
        {"{\"from\":7,\"message\":1}", DX_FAULT_NOT_A_MESSAGE, 8,
         "line 2: \"from\" must be \"host\" or \"plugin\""},
        {"{\"t\":-1,\"dropped\":1}", DX_FAULT_NOT_A_MESSAGE, 5,
         "line 2: \"t\" must be a whole number below 2^64"},
        {"{\"t\":18446744073709551616,\"dropped\":1}", DX_FAULT_NOT_A_MESSAGE, 5,
         "line 2: \"t\" must be a whole number below 2^64"},
        {"{\"run\":1.0,\"dropped\":1}", DX_FAULT_NOT_A_MESSAGE, 7,
         "line 2: \"run\" must be a whole number below 2^64"},
        {"{\"bytes\":\"1\",\"dropped\":1}", DX_FAULT_NOT_A_MESSAGE, 9,
         "line 2: \"bytes\" must be a whole number below 2^64"},
        {"{\"dropped\":[]}", DX_FAULT_NOT_A_MESSAGE, 11,
         "line 2: \"dropped\" must be a whole number below 2^64"},
        {"{\"event\":1}", DX_FAULT_NOT_A_MESSAGE, 9,
         "line 2: \"event\" must be a string of Unicode characters"},
        {"{\"peer\":null,\"dropped\":1}", DX_FAULT_NOT_A_MESSAGE, 8,
         "line 2: \"peer\" must be a string of Unicode characters"},
        {"{\"from\":\"host\",\"stray\":\"\\ud800\"}", DX_FAULT_NOT_A_MESSAGE, 23,
         "line 2: \"stray\" must be a string of Unicode characters"},
        {"{\"from\":\"host\",\"stray\":{}}", DX_FAULT_NOT_A_MESSAGE, 23,
         "line 2: \"stray\" must be a string of Unicode characters"},
        {"{\"from\":\"host\",\"stray\":\"\",\"base64\":1}", DX_FAULT_NOT_A_MESSAGE, 35,
         "line 2: \"base64\" must be true or false"},
        {"{\"from\":\"host\",\"stray\":\"QQ\",\"base64\":true}", DX_FAULT_NOT_A_MESSAGE, 23,
         "line 2: \"stray\" must be base64 (RFC 4648, with padding)"},
        {"{\"duplex-trace\":\"1\"}", DX_FAULT_NOT_A_MESSAGE, 16,
         "line 2: \"duplex-trace\" must be a whole number below 2^64"},
        {"{\"duplex-trace\":1,\"part\":-1}", DX_FAULT_NOT_A_MESSAGE, 25,
         "line 2: \"part\" must be a whole number below 2^64"},
    };
    for (size_t i = 0; i < LENGTH(cases); i++)
        expect_error(dx_str(cases[i].line), cases[i].fault, cases[i].offset, cases[i].phrase);
    expect_error(TEXT("{\"t\":\0"), DX_FAULT_JSON_SYNTAX, 5, "line 2: invalid JSON at byte 5");
    static const char *const wrong[] = {"Q===", "QQ=A", "=QQQ", "QQQQ=", "QQ==QQ==", "QR==",
                                        "QQF=", "Q Q=", "QQ-_", "QQ=",   "====",     "QQQ\\n"};
    for (size_t i = 0; i < LENGTH(wrong); i++) {
        char line[100];
        int len = snprintf(line, sizeof line,
                           "{\"from\":\"host\",\"broken\":\"%s\",\"base64\":true}", wrong[i]);
        expect_error((dx_text){line, (size_t)len}, DX_FAULT_NOT_A_MESSAGE, 24,
                     "line 2: \"broken\" must be base64 (RFC 4648, with padding)");
    }
}

/* What one reader says about a text, whatever the pieces. */
static void expect_log(const char *text, size_t line_max, const char *expected) {
    size_t len = strlen(text);
    for (size_t piece = 1; piece <= len; piece++) {
        dx_buf got = read_all((dx_text){text, len}, piece, line_max);
        unit_same((dx_text){got.data, got.len}, dx_str(expected));
        dx_buf_done(&got);
    }
}

#define NONE "18446744073709551615"
#define GOT_HEAD(n)                                                                        \
    " line=" #n " kind=7 from=0 t=0 peer=" NONE " run=0 bytes=0 text=" NONE " event=" NONE \
    " count=1 unix=0\n"
#define GOT_LINE(n)                                                                    \
    " line=" #n " kind=1 from=1 t=5 peer=" NONE " run=0 bytes=0 text=3[1] event=" NONE \
    " count=0 unix=0\n"

static void what_others_write_is_read(void **state) {
    (void)state;
    /* another order, white space, members that nobody knows, escapes, CR LF, empty lines */
    expect_log("\r\n{ \"part\" : 1 , \"by\" : { \"message\" : 1 } , \"duplex-trace\" : 1 }\r\n\n"
               "  {\"x\":[{}],\"mess\\u0061ge\":[1],\"from\":\"host\",\"t\":5,\"t\":9}  \r\n \t\n",
               0, GOT_HEAD(2) GOT_LINE(4));
    /* one trace behind the other; no newline at the end */
    expect_log(HEAD LINE HEAD "{\"t\":5,\"from\":\"host\",\"message\":[1]}", 0,
               GOT_HEAD(1) GOT_LINE(2) GOT_HEAD(3) GOT_LINE(4));
    expect_log("", 0, "");
    expect_log("\n \n", 0, "");
    expect_log("{\"duplex-trace\":1,\"part\":1,\"unix-ms\":77}", 0,
               " line=1 kind=7 from=0 t=0 peer=" NONE " run=0 bytes=0 text=" NONE " event=" NONE
               " count=1 unix=77\n");
    expect_log(HEAD "{\"event\":\"e\\u0078it\",\"data\":{\"a\":1},\"peer\":\"\\ud83d\\ude00\\/\","
                    "\"from\":\"plugin\"}\n"
                    "{\"from\":\"plugin\",\"stray\":\"QUJD\",\"base64\":false}\n"
                    "{\"base64\":true,\"from\":\"plugin\",\"stderr\":\"QU\\u004aD\"}\n",
               0,
               GOT_HEAD(1) " line=2 kind=5 from=2 t=0 peer=5\xf0\x9f\x98\x80/ run=0 bytes=0 "
                           "text=7{\"a\":1} event=4exit count=0 unix=0\n"
                           " line=3 kind=3 from=2 t=0 peer=" NONE
                           " run=0 bytes=0 text=4QUJD event=" NONE " count=0 unix=0\n"
                           " line=4 kind=4 from=2 t=0 peer=" NONE
                           " run=0 bytes=0 text=3ABC event=" NONE " count=0 unix=0\n");
}

static void versions(void **state) {
    (void)state;
    /* Everything up to a header that is known is passed over, readable or not. */
    expect_log("{\"duplex-trace\":7,\"what\":\"ever\"}\n" LINE "nonsense\n{\"t\":-1}\n" HEAD LINE,
               0,
               "line 1 version=16 line 1: a trace of version 7, but only version 1 can be read here"
               "\n" GOT_HEAD(5) GOT_LINE(6));
    expect_log("{\"duplex-trace\":0}\n" LINE, 0,
               "line 1 version=16 line 1: a trace of version 0, but only version 1 can be read here"
               "\n");
    expect_log(HEAD LINE "{\"duplex-trace\":2}\n" LINE "{\"duplex-trace\":3}\n" LINE, 0,
               GOT_HEAD(1) GOT_LINE(2) "line 3 version=16 line 3: a trace of version 2, but only "
                                       "version 1 can be read here\n"
                                       "line 5 version=16 line 5: a trace of version 3, but only "
                                       "version 1 can be read here\n");
    expect_log("{\"duplex-trace\":1,\"time\":\"ms\"}\n" LINE HEAD LINE, 0,
               "line 1 version=25 line 1: \"time\" must be \"us\"\n" GOT_HEAD(3) GOT_LINE(4));
}

static void a_missing_header_is_told_once(void **state) {
    (void)state;
    static const char told[] =
        "line 1 version=0 line 1: no header, expected {\"duplex-trace\":1,...}\n";
    char expected[2000];
    snprintf(expected, sizeof expected, "%s%s", told, GOT_LINE(1) GOT_LINE(2));
    expect_log(LINE LINE, 0, expected);
    snprintf(expected, sizeof expected, "%s%s", told,
             "line 1 not-a-message=0 line 1: expected a JSON object\n");
    expect_log("[1]\n", 0, expected);
    /* The tail of a file begins anywhere. */
    expect_log("\"message\":1}\n" LINE HEAD, 0,
               "line 1 json-trailing=9 line 1: bytes after the JSON document, which ended at byte "
               "9\n"
               "line 2 version=0 line 2: no header, expected {\"duplex-trace\":1,...}\n" GOT_LINE(2)
                   GOT_HEAD(3));
}

static void lines_that_are_too_long(void **state) {
    (void)state;
#define LONG(n) "line " #n " message-limit=50 line " #n ": too long, the limit is 50 bytes\n"
#define DIGITS "1234567890123456789012345678901234567890123456789"
    assert_int_equal(strlen(DIGITS), 49);
    expect_log(HEAD LINE, 50, GOT_HEAD(1) GOT_LINE(2));
    expect_log(HEAD DIGITS "01\n" LINE, 50, GOT_HEAD(1) LONG(2) GOT_LINE(3));
    expect_log(HEAD DIGITS DIGITS DIGITS "\n" DIGITS DIGITS "\n" DIGITS DIGITS "\n\n" LINE, 50,
               GOT_HEAD(1) LONG(2) LONG(3) LONG(4) GOT_LINE(6));
    expect_log(HEAD LINE DIGITS DIGITS, 50, GOT_HEAD(1) GOT_LINE(2) LONG(3));
    expect_log(DIGITS DIGITS "\n" HEAD, 50, LONG(1) GOT_HEAD(2));
    /* To the byte; the newline does not count. */
    expect_log(HEAD DIGITS "0\n", 50,
               GOT_HEAD(1) "line 2 not-a-message=0 line 2: expected a JSON object\n");
    expect_log(HEAD DIGITS "0", 50,
               GOT_HEAD(1) "line 2 not-a-message=0 line 2: expected a JSON object\n");
    dx_trace_reader *reader;
    dx_trace_reader_config config = {.line_max = 0};
    assert_int_equal(dx_trace_reader_new(&config, &reader), DX_ERR_INVALID);
    assert_null(dx_trace_reader_free(NULL));
}

/* A trace that ends anywhere: all lines before are read, and the last one is told of. */
static void a_trace_that_is_cut_off(void **state) {
    (void)state;
    static const char text[] =
        HEAD "{\"t\":1,\"from\":\"host\",\"peer\":\"a\",\"run\":1,\"bytes\":20,\"message\":{\"a\":["
             "-1.5e3,"
             "true,null,\"\\u00e9\\n\xf0\x9f\x98\x80\"]}}\n"
             "{\"t\":2,\"from\":\"plugin\",\"stray\":\"/w==\",\"base64\":true}\n"
             "{\"t\":3,\"dropped\":12}\n"
             "{\"t\":4,\"event\":\"exit\",\"data\":{\"code\":0}}\n";
    dx_buf whole = read_all((dx_text){text, sizeof text - 1}, sizeof text, 0);
    for (size_t cut = 0; cut < sizeof text; cut++) {
        dx_trace_reader *reader = reader_of(0, NULL);
        dx_buf log;
        dx_buf_init(&log, 100000, NULL);
        feed(reader, text, cut, &log);
        dx_trace_finish(reader);
        dx_trace_record record;
        dx_error error;
        dx_status status = dx_trace_next(reader, &record, &error);
        if (cut == 0 || text[cut - 1] == '\n') {
            assert_int_equal(status, DX_CLOSED);
        } else if (text[cut] == '\n') { /* only the newline is missing */
            assert_int_equal(status, DX_OK);
            put_number(&log, "line", record.line);
            put_record(&log, &record);
        } else {
            size_t start = cut;
            unsigned lines = 1;
            while (start && text[start - 1] != '\n')
                start--;
            for (size_t i = 0; i < start; i++)
                lines += text[i] == '\n';
            char place[24];
            snprintf(place, sizeof place, "line %u", lines);
            assert_int_equal(status, DX_ERR_INVALID);
            assert_int_equal(error.fault, DX_FAULT_TRUNCATED);
            assert_true(error.offset <= cut - start && error.offset + 4 > cut - start);
            assert_string_equal(error.place, place);
        }
        assert_int_equal(drain(reader, &log), DX_CLOSED);
        assert_true(log.len <= whole.len);
        if (log.len)
            assert_memory_equal(log.data, whole.data, log.len);
        dx_buf_done(&log);
        dx_trace_reader_free(reader);
    }
    /* The same in two pieces, wherever they meet. */
    for (size_t cut = 0; cut < sizeof text; cut++) {
        dx_trace_reader *reader = reader_of(0, NULL);
        dx_buf log;
        dx_buf_init(&log, 100000, NULL);
        feed(reader, text, cut, &log);
        feed(reader, text + cut, sizeof text - 1 - cut, &log);
        unit_same((dx_text){log.data, log.len}, (dx_text){whole.data, whole.len});
        dx_buf_done(&log);
        dx_trace_reader_free(reader);
    }
    dx_buf_done(&whole);
}

/* A long trace goes through a small room, in pieces of any size. */
static void constant_memory(void **state) {
    (void)state;
    static char piece[1 << 20];
    size_t len = 0;
    while (len + strlen(LINE) <= sizeof piece) {
        memcpy(piece + len, LINE, strlen(LINE));
        len += strlen(LINE);
    }
    struct unit_memory memory = {0};
    dx_allocator alloc = unit_allocator(&memory);
    dx_trace_reader *reader = reader_of(0, &alloc);
    uint64_t records = 0;
    size_t used;
    assert_int_equal(dx_trace_feed(reader, HEAD, strlen(HEAD), &used), DX_OK);
    for (int i = 0; i < 8; i++)
        for (size_t at = 0; at < len; at += used) {
            dx_trace_record record;
            dx_status status = dx_trace_feed(reader, piece + at, len - at, &used);
            assert_true(status == DX_OK || status == DX_BUSY);
            while ((status = dx_trace_next(reader, &record, NULL)) == DX_OK)
                records++;
            assert_int_equal(status, DX_AGAIN);
        }
    assert_int_equal(records, 8 * (len / strlen(LINE)) + 1);
    assert_true(memory.peak < 512 << 10); /* 256 KiB, twice while it moves */
    dx_trace_reader_free(reader);
    /* A line without end is not kept either. */
    memset(piece, 'x', sizeof piece);
    memory.peak = 0;
    reader = reader_of(1000, &alloc);
    for (int i = 0; i < 8; i++) {
        assert_int_equal(dx_trace_feed(reader, piece, sizeof piece, &used), DX_OK);
        assert_int_equal(used, sizeof piece);
    }
    dx_trace_record record;
    assert_int_equal(dx_trace_next(reader, &record, NULL), DX_ERR_LIMIT);
    assert_int_equal(dx_trace_next(reader, &record, NULL), DX_AGAIN);
    assert_true(memory.peak < 512 << 10);
    dx_trace_reader_free(reader);
    assert_int_equal(memory.blocks, 0);
}

static void without_memory(void **state) {
    (void)state;
    static char text[5000];
    size_t len = strlen(HEAD);
    memcpy(text, HEAD, len);
    while (len + strlen(LINE) < sizeof text) {
        memcpy(text + len, LINE, strlen(LINE));
        len += strlen(LINE);
    }
    dx_buf expected = read_all((dx_text){text, len}, len, 0);
    size_t failures = 0;
    for (size_t fail = 1;; fail++) {
        struct unit_memory memory = {.fail_at = fail};
        dx_allocator alloc = unit_allocator(&memory);
        dx_trace_reader_config config = dx_trace_reader_defaults();
        config.allocator = &alloc;
        dx_trace_reader *reader = NULL;
        if (dx_trace_reader_new(&config, &reader) != DX_OK) {
            assert_null(reader);
            failures++;
            continue;
        }
        dx_buf log;
        dx_buf_init(&log, 1 << 20, NULL);
        int failed = 0;
        for (size_t at = 0, used, piece = 10; at < len; at += used, piece *= 2) {
            piece = piece < len - at ? piece : len - at;
            dx_status status = dx_trace_feed(reader, text + at, piece, &used);
            if (status != DX_OK) {
                assert_int_equal(status, DX_ERR_NOMEM);
                assert_int_equal(used, 0);
                failed = 1;
                memory.fail_at = 0; /* there is some again: feed the rest */
            }
            /* What is there already is read in any case. */
            if (piece % 3 || status != DX_OK)
                assert_int_equal(drain(reader, &log), DX_AGAIN);
        }
        dx_trace_finish(reader);
        assert_int_equal(drain(reader, &log), DX_CLOSED);
        unit_same((dx_text){log.data, log.len}, (dx_text){expected.data, expected.len});
        dx_buf_done(&log);
        dx_trace_reader_free(reader);
        assert_int_equal(memory.blocks, 0);
        failures += (size_t)failed;
        if (!failed)
            break;
    }
    assert_true(failures >= 4);
    dx_buf_done(&expected);
}

/* Reads one file of several; what follows in the next one has later times. */
static void read_file(dx_buf *file, uint64_t *records, uint64_t *dropped, uint64_t *last) {
    dx_trace_reader *reader = reader_of(0, NULL);
    dx_trace_record record;
    dx_error error;
    dx_status status;
    size_t used;
    assert_int_equal(dx_trace_feed(reader, file->data, file->len, &used), DX_OK);
    dx_trace_finish(reader);
    while ((status = dx_trace_next(reader, &record, &error)) != DX_CLOSED) {
        if (status != DX_OK) {
            assert_int_equal(error.fault, DX_FAULT_TRUNCATED); /* that line is in the next file */
            continue;
        }
        assert_true(record.line == 1 ? record.kind == DX_TRACE_HEADER
                                     : record.kind != DX_TRACE_HEADER);
        if (record.kind == DX_TRACE_HEADER)
            continue;
        assert_true(record.time_us > *last);
        *last = record.time_us;
        *dropped += record.count;
        *records += record.kind == DX_TRACE_MESSAGE;
    }
    dx_trace_reader_free(reader);
    file->len = 0;
}

/* Every record is in one of the files, once, or counted. */
static void a_slow_disk_and_rotation(void **state) {
    (void)state;
    enum { TOTAL = 3000, LIMIT = 2000 };
    uint64_t random = 29;
    for (int round = 0; round < 60; round++) {
        struct unit_memory memory = {0};
        dx_allocator alloc = unit_allocator(&memory);
        dx_trace_writer_config config = {.waiting_max = LIMIT, .allocator = &alloc};
        dx_trace_writer *writer;
        dx_buf file;
        dx_buf_init(&file, 1 << 20, NULL);
        assert_int_equal(dx_trace_writer_new(&config, &writer), DX_OK);
        uint64_t records = 0;
        uint64_t dropped = 0;
        uint64_t last = 0;
        size_t speed = 20 + unit_random(&random, 200);
        char text[300];
        memset(text, '1', sizeof text);
        for (unsigned i = 1; i <= TOTAL; i++) {
            dx_trace_record record = {.kind = DX_TRACE_MESSAGE,
                                      .from = DX_TRACE_HOST,
                                      .time_us = i,
                                      .text = {text, 1 + unit_random(&random, sizeof text)}};
            dx_status status = dx_trace_write(writer, &record);
            assert_true(status == DX_OK || status == DX_BUSY);
            dx_text out = dx_trace_output(writer);
            assert_true(out.len <= LIMIT + 100);
            size_t len = unit_random(&random, speed);
            len = i == TOTAL || len > out.len ? out.len : len;
            put(&file, (dx_text){out.at, len});
            dx_trace_sent(writer, len);
            assert_int_equal(dx_trace_size(writer), file.len);
            if (unit_random(&random, 10))
                continue;
            assert_int_equal(dx_trace_rotate(writer), DX_OK);
            if (file.len)
                read_file(&file, &records, &dropped, &last);
        }
        put(&file, dx_trace_output(writer));
        read_file(&file, &records, &dropped, &last);
        assert_int_equal(dropped, dx_trace_dropped(writer));
        assert_int_equal(records + dropped, TOTAL);
        assert_true(memory.peak < 4 * LIMIT + 2000);
        dx_trace_writer_free(writer);
        assert_int_equal(memory.blocks, 0);
        dx_buf_done(&file);
    }
}

/* A line may be damaged in any way: nothing breaks, and the next line is read. */
static void damaged_lines(void **state) {
    (void)state;
    static const char line[] = "{\"t\":1,\"from\":\"host\",\"peer\":\"a\\n\",\"run\":1,\"bytes\":"
                               "20,\"stray\":\"/w\\u003d=\","
                               "\"base64\":true}";
    uint64_t random = 5;
    for (int round = 0; round < 20000; round++) {
        char text[sizeof line + sizeof LINE];
        size_t len = sizeof line - 1;
        memcpy(text, line, len);
        for (size_t i = 0, n = 1 + unit_random(&random, 3); i < n; i++) {
            char byte = (char)unit_random(&random, 256);
            text[unit_random(&random, len)] = byte == '\n' ? '"' : byte;
        }
        text[len++] = '\n';
        memcpy(text + len, LINE, strlen(LINE));
        len += strlen(LINE);
        dx_trace_reader *reader = reader_of(0, NULL);
        dx_trace_record record;
        dx_error error;
        size_t used;
        assert_int_equal(dx_trace_feed(reader, HEAD, strlen(HEAD), &used), DX_OK);
        assert_int_equal(dx_trace_next(reader, &record, &error), DX_OK);
        assert_int_equal(dx_trace_feed(reader, text, len, &used), DX_OK);
        dx_status status = dx_trace_next(reader, &record, &error);
        assert_true(status == DX_OK || status == DX_ERR_INVALID);
        assert_int_equal(dx_trace_next(reader, &record, &error), DX_OK);
        assert_text(record.text, "[1]");
        dx_trace_reader_free(reader);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_written_is_read_back),
        cmocka_unit_test(all_bytes_and_lengths),
        cmocka_unit_test(the_deepest_message),
        cmocka_unit_test(wrong_lines_are_told_and_passed_over),
        cmocka_unit_test(what_others_write_is_read),
        cmocka_unit_test(versions),
        cmocka_unit_test(a_missing_header_is_told_once),
        cmocka_unit_test(lines_that_are_too_long),
        cmocka_unit_test(a_trace_that_is_cut_off),
        cmocka_unit_test(constant_memory),
        cmocka_unit_test(without_memory),
        cmocka_unit_test(damaged_lines),
        cmocka_unit_test(a_slow_disk_and_rotation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
