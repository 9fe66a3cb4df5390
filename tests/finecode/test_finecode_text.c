/* Texts that are changed by positions in UTF-16, and documents that are open. */
#include "unit/unit.h"

#include "systems/finecode/shared.h"

#include <stdio.h>
#include <time.h>

/* Where a change at that position puts what it inserts. */
static dx_status offset_of(const char *text, size_t len, const char *position, size_t *ret_at) {
    char changes[300];
    (void)snprintf(changes, sizeof changes,
                   "[{\"range\":{\"start\":%s,\"end\":%s},\"text\":\"\\u0001\"}]", position,
                   position);
    yyjson_doc *doc = yyjson_read(changes, strlen(changes), 0);
    assert_non_null(doc);
    dx_buf changed;
    dx_buf_init(&changed, 1000, NULL);
    assert_int_equal(dx_buf_append(&changed, text, len), DX_OK);
    dx_status status = dx__finecode_text_change(&changed, yyjson_doc_get_root(doc));
    if (status == DX_OK)
        *ret_at = (size_t)((char *)memchr(changed.data, 1, changed.len) - changed.data);
    dx_buf_done(&changed);
    yyjson_doc_free(doc);
    return status;
}

static void offsets(void **state) {
    /* "é" has two bytes and one unit, "𝄞" four and two. */
    static const struct {
        const char *text;
        unsigned line, unit;
        size_t at;
    } rows[] = {
        {"", 0, 0, 0},
        {"", 5, 5, 0},
        {"abc", 0, 1, 1},
        {"abc", 0, 3, 3},
        {"abc", 0, 9, 3},
        {"abc", 1, 0, 3},
        {"a\nb", 1, 0, 2},
        {"a\nb", 0, 9, 1},
        {"a\nb\n", 2, 0, 4},
        {"a\nb\n", 9, 9, 4},
        {"a\r\nb", 1, 0, 3},
        {"a\r\nb", 0, 1, 1},
        {"a\r\nb", 0, 2, 1},
        {"a\rb", 1, 0, 2},
        {"a\r", 1, 0, 2},
        {"a\r\n", 1, 0, 3},
        {"a\r\n", 2, 0, 3},
        {"a\n\rb", 2, 0, 3},
        {"a\r\r\nb", 2, 0, 4},
        {"\xc3\xa9x", 0, 1, 2},
        {"\xf0\x9d\x84\x9ex", 0, 2, 4},
        {"\xf0\x9d\x84\x9ex", 0, 3, 5},
        {"\xf0\x9d\x84\x9ex", 0, 1, 0},
        {"x\xf0\x9d\x84\x9e", 0, 2, 1},
        {"\xe2\x82\xac|", 0, 1, 3},
        {"\xff\xfex", 0, 2, 2},
        {"\xf0\x9d", 0, 1, 1},
        {"\xe2\x80\xa8x", 0, 1, 3}, /* U+2028 ends no line */
        {"\x0b\x0cx", 0, 2, 2},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        char position[80];
        size_t at = 999;
        (void)snprintf(position, sizeof position, "{\"line\":%u,\"character\":%u}", rows[i].line,
                       rows[i].unit);
        assert_int_equal(offset_of(rows[i].text, strlen(rows[i].text), position, &at), DX_OK);
        assert_int_equal(at, rows[i].at);
    }
    size_t at = 999;
    assert_int_equal(offset_of("a\0b", 3, "{\"line\":0,\"character\":2}", &at), DX_OK);
    assert_int_equal(at, 2);
    assert_int_equal(offset_of("a", 1,
                               "{\"line\":18446744073709551615,"
                               "\"character\":18446744073709551615}",
                               &at),
                     DX_OK);
    assert_int_equal(at, 1);
}

static void no_positions(void **state) {
    static const char *const rows[] = {
        "{}",
        "null",
        "[0,0]",
        "{\"line\":0}",
        "{\"character\":0}",
        "{\"line\":-1,\"character\":0}",
        "{\"line\":0,\"character\":-1}",
        "{\"line\":0.5,\"character\":0}",
        "{\"line\":1e3,\"character\":0}",
        "{\"line\":\"0\",\"character\":0}",
        "{\"line\":18446744073709551616,\"character\":0}",
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        size_t at = 7;
        assert_int_equal(offset_of("abc", 3, rows[i], &at), DX_MISFIT);
        assert_int_equal(at, 7);
    }
}

typedef dx_status change(dx_buf *text, yyjson_val *changes);

static dx_status apply(change *function, const char *before, const char *changes, dx_buf *text) {
    yyjson_doc *doc = yyjson_read(changes, strlen(changes), 0);
    assert_non_null(doc);
    dx_buf_init(text, 1000, NULL);
    assert_int_equal(dx_buf_append(text, before, strlen(before)), DX_OK);
    dx_status status = function(text, yyjson_doc_get_root(doc));
    yyjson_doc_free(doc);
    return status;
}

static void gives(change *function, const char *before, const char *changes, const char *after) {
    dx_buf text;
    dx_status status = apply(function, before, changes, &text);
    assert_int_equal(status, after ? DX_OK : DX_MISFIT);
    unit_same((dx_text){text.data, text.len}, dx_str(after ? after : before));
    dx_buf_done(&text);
}

#define RANGE(a, b, c, d)                                                               \
    "\"range\":{\"start\":{\"line\":" #a ",\"character\":" #b "},\"end\":{\"line\":" #c \
    ",\"character\":" #d "}}"

static void changes(void **state) {
    (void)state;
    change *f = dx__finecode_text_change;
    gives(f, "abc", "[]", "abc");
    gives(f, "abc", "[{\"text\":\"x\"}]", "x");
    gives(f, "abc", "[{\"text\":\"\"}]", "");
    gives(f, "abc", "[{\"range\":null,\"text\":\"x\"}]", "x");
    gives(f, "", "[{\"text\":\"x\"}]", "x");
    gives(f, "", "[{" RANGE(0, 0, 0, 0) ",\"text\":\"x\"}]", "x");
    gives(f, "abc", "[{" RANGE(0, 1, 0, 2) ",\"text\":\"xyz\",\"rangeLength\":null}]", "axyzc");
    gives(f, "abc", "[{" RANGE(0, 1, 0, 2) ",\"text\":\"\"}]", "ac");
    gives(f, "abc", "[{" RANGE(0, 0, 999999, 999999) ",\"text\":\"x\"}]", "x");
    gives(f, "abc\n", "[{" RANGE(0, 0, 999999, 999999) ",\"text\":\"x\"}]", "x");
    /* One after the other: the second sees what the first did. */
    gives(f, "abc",
          "[{" RANGE(0, 0, 0, 0) ",\"text\":\"x\"},{" RANGE(0, 1, 0, 2) ",\"text\":\"y\"}]",
          "xybc");
    gives(f, "a\nb", "[{" RANGE(0, 1, 1, 0) ",\"text\":\"\"}]", "ab");
    /* Two halves of a pair cannot be told apart: the position is the one before it. */
    gives(f, "\xf0\x9d\x84\x9e", "[{" RANGE(0, 1, 0, 2) ",\"text\":\"x\"}]", "x");
    gives(f, "abc", "[{" RANGE(0, 2, 0, 1) ",\"text\":\"x\"}]", NULL);
    gives(f, "abc", "[{" RANGE(1, 0, 0, 1) ",\"text\":\"x\"}]", NULL);
    gives(f, "abc", "[{" RANGE(0, -1, 0, 1) ",\"text\":\"x\"}]", NULL);
    gives(f, "abc", "[{\"range\":{},\"text\":\"x\"}]", NULL);
    gives(f, "abc", "[{\"range\":7,\"text\":\"x\"}]", NULL);
    gives(f, "abc", "[{\"text\":7}]", NULL);
    gives(f, "abc", "[{}]", NULL);
    gives(f, "abc", "[7]", NULL);
    gives(f, "abc", "{}", NULL);
    gives(f, "abc", "null", NULL);
    /* All or none. */
    gives(f, "abc", "[{\"text\":\"x\"},{\"text\":7}]", NULL);
}

static void edits(void **state) {
    (void)state;
    change *f = dx__finecode_text_edit;
    gives(f, "abc", "[]", "abc");
    gives(f, "", "[{" RANGE(0, 0, 0, 0) ",\"newText\":\"x\"}]", "x");
    gives(f, "abc", "[{" RANGE(0, 1, 0, 2) ",\"newText\":\"x\"}]", "axc");
    /* All at once: positions are those of the text as it was, in any order. */
    gives(f, "abc",
          "[{" RANGE(0, 2, 0, 3) ",\"newText\":\"z\"},{" RANGE(0, 0, 0, 1) ",\"newText\":\"xxx\"}]",
          "xxxbz");
    gives(f, "a\nb\nc",
          "[{" RANGE(2, 0, 2, 1) ",\"newText\":\"C\"},{" RANGE(
              0, 0, 0, 1) ",\"newText\":\"A\"},"
                          "{" RANGE(1, 0, 1, 1) ",\"newText\":\"\"}]",
          "A\n\nC");
    /* Inserted at one place: in their order, and before what is replaced there. */
    gives(f, "abc",
          "[{" RANGE(0, 1, 0, 1) ",\"newText\":\"1\"},{" RANGE(
              0, 1, 0, 1) ",\"newText\":\"2\"},"
                          "{" RANGE(0, 1, 0, 2) ",\"newText\":\"3\"}]",
          "a123c");
    gives(f, "abc",
          "[{" RANGE(0, 0, 0, 1) ",\"newText\":\"x\"},{" RANGE(0, 1, 0, 1) ",\"newText\":\"y\"}]",
          "xybc");
    gives(f, "abc\n", "[{" RANGE(0, 0, 999999, 999999) ",\"newText\":\"x\\n\"}]", "x\n");
    gives(f,
          "a\xf0\x9d\x84\x9e"
          "b",
          "[{" RANGE(0, 1, 0, 3) ",\"newText\":\"\"}]", "ab");
    gives(f, "abc",
          "[{" RANGE(0, 0, 0, 2) ",\"newText\":\"x\"},{" RANGE(0, 1, 0, 3) ",\"newText\":\"y\"}]",
          NULL);
    gives(f, "abc",
          "[{" RANGE(0, 0, 0, 2) ",\"newText\":\"x\"},{" RANGE(0, 0, 0, 2) ",\"newText\":\"y\"}]",
          NULL);
    gives(f, "abc",
          "[{" RANGE(0, 0, 0, 2) ",\"newText\":\"x\"},{" RANGE(0, 1, 0, 1) ",\"newText\":\"y\"}]",
          NULL);
    gives(f, "abc", "[{" RANGE(0, 2, 0, 1) ",\"newText\":\"x\"}]", NULL);
    gives(f, "abc", "[{\"newText\":\"x\"}]", NULL);
    gives(f, "abc", "[{" RANGE(0, 1, 0, 2) "}]", NULL);
    gives(f, "abc", "[null]", NULL);
    gives(f, "abc", "{}", NULL);
}

static void limits(void **state) {
    (void)state;
    static const char *const rows[] = {"[{\"text\":\"12345678901\"}]",
                                       "[{" RANGE(0, 0, 0, 0) ",\"newText\":\"123456789\"}]"};
    for (size_t i = 0; i < 2; i++) {
        yyjson_doc *doc = yyjson_read(rows[i], strlen(rows[i]), 0);
        dx_buf text;
        dx_buf_init(&text, 10, NULL);
        assert_int_equal(dx_buf_append(&text, "ab", 2), DX_OK);
        change *f = i ? dx__finecode_text_edit : dx__finecode_text_change;
        assert_int_equal(f(&text, yyjson_doc_get_root(doc)), DX_ERR_LIMIT);
        assert_text(((dx_text){text.data, text.len}), "ab");
        dx_buf_done(&text);
        yyjson_doc_free(doc);
    }
}

static void without_memory(void **state) {
    static const char *const rows[] = {"[{\"text\":\"1234567890123456789012345678901234567890\"}]",
                                       "[{" RANGE(0, 0, 0, 0) ",\"newText\":\"1\"}]"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        yyjson_doc *doc = yyjson_read(rows[i], strlen(rows[i]), 0);
        change *f = i ? dx__finecode_text_edit : dx__finecode_text_change;
        dx_status status = DX_ERR_NOMEM;
        for (size_t at = 1; status == DX_ERR_NOMEM; at++) {
            struct unit_memory memory = {0};
            dx_allocator alloc = unit_allocator(&memory);
            dx_buf text;
            dx_buf_init(&text, 1000, &alloc);
            assert_int_equal(dx_buf_append(&text, "ab", 2), DX_OK);
            memory.fail_at = memory.count + at;
            status = f(&text, yyjson_doc_get_root(doc));
            if (status == DX_ERR_NOMEM)
                assert_text(((dx_text){text.data, text.len}), "ab");
            dx_buf_done(&text);
            assert_int_equal(memory.blocks, 0);
        }
        assert_int_equal(status, DX_OK);
        yyjson_doc_free(doc);
    }
}

/* Ten thousand edits of a text of ten thousand lines must not take ten thousand walks. */
static void many_edits(void **state) {
    (void)state;
    enum { LINES = 10000 };
    dx_buf text;
    dx_buf json;
    dx_buf_init(&text, 1 << 20, NULL);
    dx_buf_init(&json, 10 << 20, NULL);
    assert_int_equal(dx_buf_append(&json, "[", 1), DX_OK);
    for (int i = LINES - 1; i >= 0; i--) {
        char room[200];
        int len = snprintf(room, sizeof room,
                           "%s{\"range\":{\"start\":{\"line\":%d,\"character\":0},\"end\":"
                           "{\"line\":%d,\"character\":1}},\"newText\":\"yy\"}",
                           i == LINES - 1 ? "" : ",", i, i);
        assert_int_equal(dx_buf_append(&json, room, (size_t)len), DX_OK);
        assert_int_equal(dx_buf_append(&text, "x\n", 2), DX_OK);
    }
    assert_int_equal(dx_buf_append(&json, "]", 1), DX_OK);
    yyjson_doc *doc = yyjson_read(json.data, json.len, 0);
    assert_int_equal(dx__finecode_text_edit(&text, yyjson_doc_get_root(doc)), DX_OK);
    assert_int_equal(text.len, 3 * LINES);
    for (size_t i = 0; i < text.len; i += 3)
        assert_memory_equal(text.data + i, "yy\n", 3);
    yyjson_doc_free(doc);
    dx_buf_done(&json);
    dx_buf_done(&text);
}

/* Many changes of one message give what the same ones give one by one, wherever they are. */
static void in_any_order(void **state) {
    static const char *const pieces[] = {
        "a", "bc", "\\n", "\\r", "\\r\\n", "\\n", "\\u00e9", "", "\\ud834\\udd1e", "x\\ry"};
    (void)state;
    uint64_t seed = 42;
    for (int round = 0; round < 3000; round++) {
        dx_buf one;
        dx_buf all;
        char json[4000] = "[";
        dx_buf_init(&one, 10000, NULL);
        dx_buf_init(&all, 10000, NULL);
        for (int i = 0; i < 12; i++) {
            char change_text[300];
            size_t line = unit_random(&seed, 6);
            size_t unit = unit_random(&seed, 5);
            size_t more = unit_random(&seed, 3);
            (void)snprintf(
                change_text, sizeof change_text,
                "{\"range\":{\"start\":{\"line\":%zu,\"character\":%zu},\"end\":{\"line\""
                ":%zu,\"character\":%zu}},\"text\":\"%s%s\"}",
                line, unit, line + more / 2, unit + more % 2,
                pieces[unit_random(&seed, LENGTH(pieces))],
                pieces[unit_random(&seed, LENGTH(pieces))]);
            char single[310];
            (void)snprintf(single, sizeof single, "[%s]", change_text);
            yyjson_doc *doc = yyjson_read(single, strlen(single), 0);
            assert_non_null(doc);
            assert_int_equal(dx__finecode_text_change(&one, yyjson_doc_get_root(doc)), DX_OK);
            yyjson_doc_free(doc);
            if (i)
                strcat(json, ",");
            strcat(json, change_text);
        }
        strcat(json, "]");
        yyjson_doc *doc = yyjson_read(json, strlen(json), 0);
        assert_int_equal(dx__finecode_text_change(&all, yyjson_doc_get_root(doc)), DX_OK);
        unit_same((dx_text){all.data, all.len}, (dx_text){one.data, one.len});
        yyjson_doc_free(doc);
        dx_buf_done(&one);
        dx_buf_done(&all);
    }
}

/* An editor replaces all: ten thousand changes between one megabyte and eight others, from the
 * first to the last or the other way round. Looking for each from the start took ten seconds, and
 * so did moving all that is behind it. */
static void replace_all(void **state) {
    (void)state;
    enum { LINES = 10000, LONG = 1 << 20, REST = 24 << 20 };
    for (int back = 0; back < 2; back++) {
        dx_buf text;
        dx_buf json;
        dx_buf_init(&text, 32 << 20, NULL);
        dx_buf_init(&json, 10 << 20, NULL);
        assert_int_equal(dx_buf_reserve(&text, LONG), DX_OK);
        memset(text.data, 'x', LONG);
        text.len = LONG;
        text.data[LONG - 1] = '\n';
        for (int i = 0; i < LINES; i++) {
            char room[200];
            int line = back ? LINES - i : i + 1;
            int len = snprintf(room, sizeof room,
                               "%s{\"range\":{\"start\":{\"line\":%d,\"character\":0},\"end\":"
                               "{\"line\":%d,\"character\":1}},\"text\":\"yy\"}",
                               i ? "," : "[", line, line);
            assert_int_equal(dx_buf_append(&json, room, (size_t)len), DX_OK);
            assert_int_equal(dx_buf_append(&text, "z\n", 2), DX_OK);
        }
        assert_int_equal(dx_buf_append(&json, "]", 1), DX_OK);
        assert_int_equal(dx_buf_reserve(&text, REST), DX_OK);
        memset(text.data + text.len, 'w', REST);
        text.len += REST;
        yyjson_doc *doc = yyjson_read(json.data, json.len, 0);
        clock_t start = clock();
        assert_int_equal(dx__finecode_text_change(&text, yyjson_doc_get_root(doc)), DX_OK);
        assert_true(clock() - start < 2 * CLOCKS_PER_SEC);
        assert_int_equal(text.len, LONG + 3 * LINES + REST);
        for (size_t i = LONG; i < text.len - REST; i += 3)
            assert_memory_equal(text.data + i, "yy\n", 3);
        assert_true(text.data[text.len - REST] == 'w' && text.data[text.len - 1] == 'w');
        yyjson_doc_free(doc);
        dx_buf_done(&json);
        dx_buf_done(&text);
    }
}

static void open_documents(void **state) {
    (void)state;
    struct unit_memory memory = {0};
    dx_allocator alloc = unit_allocator(&memory);
    dx__finecode_documents documents;
    dx__finecode_documents_init(&documents, &alloc);
    assert_null(dx__finecode_documents_find(&documents, "/a"));
    assert_int_equal(dx__finecode_documents_open(&documents, "/a", 0, TEXT("one")), DX_OK);
    assert_int_equal(dx__finecode_documents_open(&documents, "/b", -1, TEXT("")), DX_OK);
    dx__finecode_document *a = dx__finecode_documents_find(&documents, "/a");
    assert_non_null(a);
    assert_text(((dx_text){a->text.data, a->text.len}), "one");
    /* A second time: the new text. */
    assert_int_equal(dx__finecode_documents_open(&documents, "/a", 7, TEXT("two")), DX_OK);
    a = dx__finecode_documents_find(&documents, "/a");
    assert_text(((dx_text){a->text.data, a->text.len}), "two");
    assert_int_equal(a->version, 7);
    /* Without memory it is as it was. */
    for (size_t at = 1; at < 3; at++) {
        memory.fail_at = memory.count + at;
        dx_status status = dx__finecode_documents_open(&documents, "/c", 1, TEXT("three"));
        assert_int_equal(status, DX_ERR_NOMEM);
        assert_null(dx__finecode_documents_find(&documents, "/c"));
    }
    memory.fail_at = memory.count + 1;
    assert_int_equal(dx__finecode_documents_open(&documents, "/a", 8, TEXT("four")), DX_ERR_NOMEM);
    assert_text(((dx_text){a->text.data, a->text.len}), "two");
    memory.fail_at = 0;
    dx__finecode_documents_close(&documents, "/nope");
    dx__finecode_documents_close(&documents, "/a");
    assert_null(dx__finecode_documents_find(&documents, "/a"));
    assert_non_null(dx__finecode_documents_find(&documents, "/b"));
    dx__finecode_documents_done(&documents);
    assert_int_equal(memory.blocks, 0);
    dx__finecode_documents_done(&documents);
}

static void too_many_documents(void **state) {
    (void)state;
    dx__finecode_documents documents;
    dx__finecode_documents_init(&documents, NULL);
    for (int i = 0; i <= DX__FINECODE_DOCUMENTS_MAX; i++) {
        char path[32];
        (void)snprintf(path, sizeof path, "/%d", i);
        assert_int_equal(dx__finecode_documents_open(&documents, path, i, TEXT("x")),
                         i < DX__FINECODE_DOCUMENTS_MAX ? DX_OK : DX_ERR_LIMIT);
    }
    /* One that is there already is not one more. */
    assert_int_equal(dx__finecode_documents_open(&documents, "/0", 1, TEXT("y")), DX_OK);
    dx__finecode_documents_close(&documents, "/1");
    assert_int_equal(dx__finecode_documents_open(&documents, "/new", 1, TEXT("y")), DX_OK);
    size_t large = (size_t)DX__FINECODE_TEXT_MAX;
    char *text = malloc(large + 1);
    assert_non_null(text);
    memset(text, 'x', large + 1);
    assert_int_equal(dx__finecode_documents_open(&documents, "/0", 2, (dx_text){text, large}),
                     DX_OK);
    assert_int_equal(dx__finecode_documents_open(&documents, "/0", 3, (dx_text){text, large + 1}),
                     DX_ERR_LIMIT);
    assert_int_equal(dx__finecode_documents_find(&documents, "/0")->version, 2);
    dx__finecode_documents_done(&documents);
    /* Of all together. */
    size_t fit = DX__FINECODE_TEXTS_MAX / large;
    for (size_t i = 0; i <= fit + 1; i++) {
        char path[32];
        (void)snprintf(path, sizeof path, "/%zu", i);
        assert_int_equal(dx__finecode_documents_open(&documents, path, 1, (dx_text){text, large}),
                         i <= fit ? DX_OK : DX_ERR_LIMIT);
    }
    dx__finecode_documents_close(&documents, "/0");
    assert_int_equal(dx__finecode_documents_open(&documents, "/last", 1, TEXT("y")), DX_OK);
    free(text);
    dx__finecode_documents_done(&documents);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(offsets),
        cmocka_unit_test(no_positions),
        cmocka_unit_test(changes),
        cmocka_unit_test(edits),
        cmocka_unit_test(limits),
        cmocka_unit_test(without_memory),
        cmocka_unit_test(many_edits),
        cmocka_unit_test(in_any_order),
        cmocka_unit_test(replace_all),
        cmocka_unit_test(open_documents),
        cmocka_unit_test(too_many_documents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
