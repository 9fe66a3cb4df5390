/* A copy of a stream, cut into records: however it comes, nothing of it is lost. */
#include "unit/unit.h"

#include "base/alloc.h"
#include "host/cutter.h"

#include <stdio.h>

struct told {
    char line[4096]; /* "m:…|" message, "s:…|" stray, "b:…|" broken, "e:…|" errors, "-|" dropped */
    size_t bytes;
    int dropped;
};

static void tell(void *user, dx_trace_kind kind, dx_text text, size_t bytes) {
    struct told *told = user;
    static const char letters[] = {[DX_TRACE_MESSAGE] = 'm',
                                   [DX_TRACE_BROKEN] = 'b',
                                   [DX_TRACE_STRAY] = 's',
                                   [DX_TRACE_STDERR] = 'e'};
    size_t len = strlen(told->line);
    told->bytes += bytes;
    if (kind == DX_TRACE_DROPPED) {
        told->dropped++;
        snprintf(told->line + len, sizeof told->line - len, "-|");
        return;
    }
    snprintf(told->line + len, sizeof told->line - len, "%c:%.*s|", letters[kind],
             text.len < 60 ? (int)text.len : 0, text.at);
}

enum { MOST = 64 << 10 };

static void cut(struct told *told, dx__cut how, dx_text text, size_t piece,
                struct unit_memory *memory) {
    dx_allocator alloc = unit_allocator(memory);
    dx__cutter cutter;
    *told = (struct told){.dropped = 0};
    dx__cutter_init(&cutter, how, MOST, &alloc);
    cutter.tell = tell;
    cutter.user = told;
    for (size_t at = 0; at < text.len; at += piece)
        dx__cutter_feed(&cutter,
                        (dx_text){text.at + at, text.len - at < piece ? text.len - at : piece});
    dx__cutter_finish(&cutter);
    dx__cutter_done(&cutter);
}

struct example {
    dx__cut how;
    const char *text;
    const char *told;
};

static const struct example examples[] = {
    {DX__CUT_AUTO, "{}\n[1]\n", "m:{}|m:[1]|"},
    {DX__CUT_AUTO, "Content-Length: 2\r\n\r\n{}content-length: 2\r\n\r\n[]", "m:{}|m:[]|"},
    {DX__CUT_AUTO, "hello\nyou\n{}\n", "s:hello\n|s:you\n|m:{}|"},
    {DX__CUT_AUTO, "hello\nContent-Length: 2\r\n\r\n{}", "s:hello\n|m:{}|"},
    {DX__CUT_AUTO, "no end", "s:no end|"},
    /* It looked like the one and was the other. */
    {DX__CUT_AUTO, "[info]\nContent-Length: 2\r\n\r\n{}", "m:[info]|m:{}|"},
    {DX__CUT_AUTO, "Content-Length: 2\r\n\r\n{}{\"jsonrpc\":1}\n[]\n",
     "m:{}|m:{\"jsonrpc\":1}|m:[]|"},
    {DX__CUT_HEADER, "{\"jsonrpc\":1}\n{\"jsonrpc\":2}\n",
     "s:{\"jsonrpc\":1}\n|s:{\"jsonrpc\":2}\n|"},
    {DX__CUT_HEADER, "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
     "s:Content-Length: 2\r\nContent-Length: 3\r\n|s:\r\n{}|"},
    {DX__CUT_HEADER, "Content-Length: x\r\n\r\nContent-Length: 2\r\n\r\n{}",
     "s:Content-Length: x\r\n|m:{}|"},
    {DX__CUT_HEADER, "Content-Length: 99999999999\r\n\r\n{}\nContent-Length: 2\r\n\r\n{}",
     "s:Content-Length: 99999999999\r\n|s:\r\n{}\n|m:{}|"},
    {DX__CUT_HEADER, "Content-Length: 5\r\n\r\n{}", "b:Content-Length: 5\r\n\r\n{}|"},
    {DX__CUT_HEADER, "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}", "m:{}|"},
    {DX__CUT_LINE, "Content-Length: 2\n{}\n", "s:Content-Length: 2\n|m:{}|"},
    {DX__CUT_TEXT, "one\n\ntwo", "e:one\n|e:\n|e:two|"},
};

static void whatever_comes(void **state) {
    (void)state;
    for (size_t i = 0; i < LENGTH(examples); i++)
        for (size_t piece = 1; piece <= strlen(examples[i].text); piece++) {
            struct unit_memory memory = {0};
            struct told told;
            dx_text text = dx_str(examples[i].text);
            cut(&told, examples[i].how, text, piece, &memory);
            assert_string_equal(told.line, examples[i].told);
            /* Every byte is accounted for; but blank lines at the very end belong to nothing. */
            assert_int_equal(told.bytes, text.len);
            assert_int_equal(memory.blocks, 0);
        }
}

/* As long as it may be, and one byte more: counted, and the next one is found. */
static void long_ones(void **state) {
    (void)state;
    for (size_t size = MOST; size <= MOST + 1; size++)
        for (int how = DX__CUT_HEADER; how <= DX__CUT_LINE; how++) {
            static char text[3 * MOST];
            struct unit_memory memory = {0};
            struct told told;
            int head = how == DX__CUT_HEADER
                           ? snprintf(text, sizeof text, "Content-Length: %zu\r\n\r\n", size)
                           : 0;
            memset(text + head, 'a', size);
            const char *next = how == DX__CUT_HEADER ? "Content-Length: 2\r\n\r\n{}" : "\n{}\n";
            strcpy(text + head + size, next);
            for (size_t piece = 1000; piece < sizeof text; piece *= 3) {
                cut(&told, (dx__cut)how, dx_str(text), piece, &memory);
                assert_string_equal(told.line, size == MOST ? "m:|m:{}|" : "-|m:{}|");
                assert_int_equal(memory.blocks, 0);
            }
        }
}

static void bytes_are_missing(void **state) {
    (void)state;
    static const struct {
        dx__cut how;
        const char *before;
        const char *after;
        const char *told;
    } gaps[] = {
        {DX__CUT_LINE, "{}\n{\"a\":", "1}\n[2]\n", "m:{}|m:[2]|"},
        {DX__CUT_TEXT, "one\ntw", "ree\nfour\n", "e:one\n|e:four\n|"},
        {DX__CUT_AUTO, "Content-Length: 20\r\n\r\n{", "\"c\":1}Content-Length: 2\r\n\r\n[]",
         "m:[]|"},
        {DX__CUT_HEADER, "Content-Len", "gth: 2\r\n\r\n{}content-length: 2\r\n\r\n[]", "m:[]|"},
        {DX__CUT_HEADER, "", "", ""},
    };
    for (size_t i = 0; i < LENGTH(gaps); i++) {
        struct unit_memory memory = {0};
        dx_allocator alloc = unit_allocator(&memory);
        struct told told = {.dropped = 0};
        dx__cutter cutter;
        dx__cutter_init(&cutter, gaps[i].how, MOST, &alloc);
        cutter.tell = tell;
        cutter.user = &told;
        dx__cutter_feed(&cutter, dx_str(gaps[i].before));
        dx__cutter_gap(&cutter);
        dx__cutter_feed(&cutter, dx_str(gaps[i].after));
        dx__cutter_finish(&cutter);
        dx__cutter_done(&cutter);
        assert_string_equal(told.line, gaps[i].told);
        assert_int_equal(memory.blocks, 0);
    }
}

static void random_bytes(void **state) {
    (void)state;
    static const char *const words[] = {
        "Content-Length: 3\r\n", "\r\n",     "\n",  "[1]",
        "{\"jsonrpc\":1}\n",     "\xff\xfe", "\0x", "Content-Type: a; charset=b\r\n"};
    uint64_t seed = 99;
    for (int round = 0; round < 3000; round++) {
        char text[512];
        size_t len = 0;
        while (len < 400) {
            const char *word = words[unit_random(&seed, LENGTH(words))];
            size_t word_len = *word ? strlen(word) : 2;
            memcpy(text + len, word, word_len);
            len += word_len;
        }
        struct unit_memory memory = {0};
        struct told whole;
        struct told pieces;
        dx__cut how = (dx__cut)unit_random(&seed, 4);
        cut(&whole, how, (dx_text){text, len}, len, &memory);
        cut(&pieces, how, (dx_text){text, len}, 1 + unit_random(&seed, 50), &memory);
        assert_true(whole.bytes <= len);
        assert_int_equal(whole.bytes, pieces.bytes);
        assert_int_equal(memory.blocks, 0);
    }
}

/* Without memory something is missing, and that is told; nothing leaks, nothing breaks. */
static void no_memory(void **state) {
    (void)state;
    for (size_t i = 0; i < LENGTH(examples); i++)
        for (size_t fail = 1; fail < 12; fail++) {
            struct unit_memory memory = {.fail_at = fail};
            struct told told;
            cut(&told, examples[i].how, dx_str(examples[i].text), 5, &memory);
            assert_int_equal(memory.blocks, 0);
            if (told.bytes < strlen(examples[i].text))
                assert_true(told.dropped > 0);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whatever_comes),    cmocka_unit_test(long_ones),
        cmocka_unit_test(bytes_are_missing), cmocka_unit_test(random_bytes),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests_name("cutter", tests, NULL, NULL);
}
