/* The small parts under schemas: URIs, tables of names, numbers. */
#include "unit/unit.h"

#include "schema/names.h"
#include "schema/number.h"
#include "schema/uri.h"

#include <stdbool.h>
#include <stdio.h>

static void resolves(const char *base, const char *reference, const char *expected) {
    struct unit_memory memory = {0};
    dx_allocator alloc = unit_allocator(&memory);
    dx_buf buf;
    dx_buf_init(&buf, 10000, &alloc);
    dx__uri parts = dx__uri_split(dx_str(reference));
    assert_int_equal(dx__uri_resolve(dx_str(base), &parts, &buf), DX_OK);
    if (buf.len != strlen(expected) || memcmp(buf.data, expected, buf.len) != 0)
        fail_msg("%s in %s: %.*s", reference, base, (int)buf.len, buf.data);
    dx_buf_done(&buf);
    assert_int_equal(memory.blocks, 0);
}

static void references_are_resolved(void **state) {
    (void)state;
    static const char *const rows[][2] = {
        {"g:h", "g:h"},
        {"g", "http://a/b/c/g"},
        {"./g", "http://a/b/c/g"},
        {"g/", "http://a/b/c/g/"},
        {"/g", "http://a/g"},
        {"//g", "http://g"},
        {"?y", "http://a/b/c/d;p?y"},
        {"g?y", "http://a/b/c/g?y"},
        {"#s", "http://a/b/c/d;p?q"},
        {"g#s", "http://a/b/c/g"},
        {"", "http://a/b/c/d;p?q"},
        {".", "http://a/b/c/"},
        {"./", "http://a/b/c/"},
        {"..", "http://a/b/"},
        {"../g", "http://a/b/g"},
        {"../..", "http://a/"},
        {"../../g", "http://a/g"},
        {"../../../g", "http://a/g"},
        {"/./g", "http://a/g"},
        {"/../g", "http://a/g"},
        {"g.", "http://a/b/c/g."},
        {"..g", "http://a/b/c/..g"},
        {"./g/.", "http://a/b/c/g/"},
        {"g/./h", "http://a/b/c/g/h"},
        {"g/../h", "http://a/b/c/h"},
        {"g?y/../x", "http://a/b/c/g?y/../x"},
    };
    for (size_t i = 0; i < LENGTH(rows); i++)
        resolves("http://a/b/c/d;p?q", rows[i][0], rows[i][1]);
    resolves("", "a/b", "a/b");
    resolves("", "", "");
    resolves("a/b", "c", "a/c");
    resolves("http://a", "b", "http://a/b");
    resolves("urn:x:y", "#z", "urn:x:y");
    resolves("urn:x:y", "urn:q?=r#f", "urn:q?=r");
    resolves("file:///a/b.json", "c.json", "file:///a/c.json");
}

static void uris_are_looked_at(void **state) {
    (void)state;
    assert_true(dx__uri_is_sound(TEXT("http://a/%41?b#c")));
    assert_true(dx__uri_is_sound(TEXT("\xc3\xa4")));
    static const char *const bad[] = {"a b", "a\"", "%4", "%", "%4x", "a\n", "{", "\x7f"};
    for (size_t i = 0; i < LENGTH(bad); i++)
        assert_false(dx__uri_is_sound(dx_str(bad[i])));
    dx_buf buf;
    dx_buf_init(&buf, 100, NULL);
    assert_int_equal(dx__uri_decode(TEXT("a%41%c3%A4%25"), &buf), DX_OK);
    unit_same((dx_text){buf.data, buf.len}, TEXT("aA\xc3\xa4%"));
    assert_int_equal(dx__uri_decode(TEXT("a%4"), &buf), DX_ERR_INVALID);
    assert_int_equal(dx__uri_decode(TEXT("a%g1"), &buf), DX_ERR_INVALID);
    dx_buf_done(&buf);
}

/* Makes a table of the texts and asks for each, and for some that are not there. */
static dx__names table_of(dx__store *store, char (*texts)[40], size_t count) {
    dx__names_draft draft;
    dx__names_begin(&draft, store);
    for (int round = 0; round < 2; round++)
        for (size_t i = 0; i < count; i++) {
            dx__name *name = dx__names_add(&draft, dx_str(texts[i]));
            assert_non_null(name);
            assert_true(round || name->bit == DX__NO_BIT);
            name->node = texts[i];
            name->bit = 1;
        }
    dx__names names;
    assert_int_equal(dx__names_make(&draft, &names), DX_OK);
    assert_int_equal(names.count, count);
    struct unit_fence fence = unit_fence_new(64);
    for (size_t i = 0; i < count; i++) {
        dx_text text = unit_fence_put(&fence, texts[i], strlen(texts[i]));
        const dx__name *name = dx__names_find(&names, text.at, text.len);
        assert_non_null(name);
        assert_ptr_equal(name->node, texts[i]);
        assert_true(dx__names_have(&names, text.at, text.len));
        for (size_t at = 0; at < text.len; at++) {
            ((char *)(uintptr_t)text.at)[at] ^= 0x40;
            assert_null(dx__names_find(&names, text.at, text.len));
            ((char *)(uintptr_t)text.at)[at] ^= 0x40;
        }
    }
    unit_fence_done(&fence);
    return names;
}

static void names_are_found(void **state) {
    (void)state;
    static char texts[5000][40];
    for (size_t count = 0; count <= LENGTH(texts); count = count * 2 + 1) {
        dx__store store;
        dx__store_init(&store, NULL, 1 << 24);
        for (size_t i = 0; i < count; i++)
            snprintf(texts[i], sizeof texts[i], "%.*s%zu", (int)(i % 30),
                     "abcdefghijklmnopqrstuvwxyz0123456789", i);
        dx__names names = table_of(&store, texts, count);
        assert_true(!count || names.slots);
        dx__store_done(&store);
    }
}

/* Names of one slot whatever the seed: where the tail, its halves changed, grows by the inverse of
 * its factor, the hash grows by one, which no upper bit shows. They are sorted, and found by
 * halves. */
static void names_that_collide_are_found(void **state) {
    (void)state;
    static char texts[3000][40];
    uint64_t factor = UINT64_C(0xc2b2ae3d27d4eb4f);
    uint64_t inverse = factor;
    for (int i = 0; i < 6; i++)
        inverse *= 2 - factor * inverse;
    assert_true(factor * inverse == 1);
    uint64_t turned = UINT64_C(0x0101010101010101);
    for (size_t count = 0; count < LENGTH(texts);) {
        turned += inverse;
        uint64_t tail = (turned << 32 | turned >> 32) - 16;
        memcpy(texts[count], "aaaaaaaa", 8);
        memcpy(texts[count] + 8, &tail, 8);
        texts[count][16] = '\0';
        count += strlen(texts[count]) == 16;
    }
    for (size_t count = 100; count <= LENGTH(texts); count *= 5) {
        dx__store store;
        dx__store_init(&store, NULL, 1 << 24);
        dx__names names = table_of(&store, texts, count);
        assert_null(names.slots);
        dx__store_done(&store);
    }
}

/* Names that differ in one place only, wherever that is, do not meet. */
static void names_that_are_alike_are_found_at_once(void **state) {
    (void)state;
    static char texts[26][40];
    for (size_t len = 1; len < 30; len++)
        for (size_t place = 0; place < len; place++) {
            dx__store store;
            dx__store_init(&store, NULL, 1 << 20);
            for (size_t i = 0; i < LENGTH(texts); i++) {
                memset(texts[i], 'x', len);
                texts[i][len] = '\0';
                texts[i][place] = (char)('a' + i);
            }
            dx__names names = table_of(&store, texts, LENGTH(texts));
            assert_non_null(names.slots);
            assert_in_range(names.reach, 0, 8);
            dx__store_done(&store);
        }
}

static int order(const char *one, const char *other) {
    yyjson_doc *docs[] = {yyjson_read(one, strlen(one), 0), yyjson_read(other, strlen(other), 0)};
    int sign = dx__number_compare(yyjson_doc_get_root(docs[0]), yyjson_doc_get_root(docs[1]));
    int back = dx__number_compare(yyjson_doc_get_root(docs[1]), yyjson_doc_get_root(docs[0]));
    assert_int_equal(sign, -back);
    yyjson_doc_free(docs[0]);
    yyjson_doc_free(docs[1]);
    return sign;
}

static void numbers_are_compared_by_value(void **state) {
    (void)state;
    /* In ascending order; those in one row are equal. */
    static const char *const rows[][3] = {
        {"-1e300"},
        {"-9223372036854775809", "-9223372036854775808", "-9223372036854775808.0"},
        {"-9223372036854775807"},
        {"-9007199254740993"},
        {"-9007199254740992", "-9007199254740992.0"},
        {"-1.5"},
        {"-1", "-1.0"},
        {"-0.5"},
        {"0", "-0.0", "0.0"},
        {"5e-324"},
        {"1", "1.0", "10e-1"},
        {"1.5"},
        {"9007199254740992", "9007199254740992.0"},
        {"9007199254740993"},
        {"9223372036854775807"},
        {"9223372036854775808", "9223372036854775808.0"},
        {"18446744073709551615"},
        {"18446744073709551616", "18446744073709551616.0"},
        {"1e300"},
    };
    for (size_t i = 0; i < LENGTH(rows); i++)
        for (size_t j = 0; j < LENGTH(rows); j++)
            for (size_t k = 0; k < 3 && rows[i][k]; k++)
                for (size_t l = 0; l < 3 && rows[j][l]; l++)
                    if (order(rows[i][k], rows[j][l]) != (i > j) - (i < j))
                        fail_msg("%s and %s", rows[i][k], rows[j][l]);
}

static bool is_multiple(const char *number, const char *unit) {
    yyjson_doc *docs[] = {yyjson_read(number, strlen(number), 0),
                          yyjson_read(unit, strlen(unit), 0)};
    dx__decimal decimals[2];
    for (int i = 0; i < 2; i++)
        assert_true(dx__decimal_of(yyjson_doc_get_root(docs[i]), &decimals[i]));
    yyjson_doc_free(docs[0]);
    yyjson_doc_free(docs[1]);
    return dx__decimal_is_multiple(decimals[0], decimals[1]);
}

static void multiples_are_exact(void **state) {
    (void)state;
    static const struct {
        const char *number;
        const char *unit;
        bool is;
    } rows[] = {
        {"0", "7", true},
        {"21", "7", true},
        {"22", "7", false},
        {"-21", "7.0", true},
        {"0.0075", "0.0001", true},
        {"0.00751", "0.0001", false},
        {"0.3", "0.1", true},
        {"1.1", "0.1", true},
        {"19.99", "0.01", true},
        {"1e308", "0.5", true},
        {"1e308", "0.123456789", false},
        {"1e308", "3", false},
        {"1e308", "1e-308", true},
        {"9007199254740993", "2", false},
        {"9007199254740993", "3", true},
        {"18446744073709551615", "5", true},
        {"18446744073709551615", "2", false},
        {"18446744073709551614", "0.5", true},
        {"-9223372036854775808", "2", true},
        {"12", "1e1", false},
        {"120", "1e1", true},
        {"12e5", "1e6", false},
        {"5e-324", "5e-324", true},
        {"1", "18446744073709551615", false},
        {"0.5", "18446744073709551615", false},
        {"1e22", "18446744073709551615", false},
        {"4.35", "0.01", true},
    };
    for (size_t i = 0; i < LENGTH(rows); i++)
        if (is_multiple(rows[i].number, rows[i].unit) != rows[i].is)
            fail_msg("%s of %s", rows[i].number, rows[i].unit);
}

static void counts_are_integers(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool is;
        uint64_t count;
    } rows[] = {{"0", true, 0},
                {"7", true, 7},
                {"7.0", true, 7},
                {"1e3", true, 1000},
                {"1e30", true, UINT64_MAX},
                {"18446744073709551615", true, UINT64_MAX},
                {"-1", false, 0},
                {"-1.0", false, 0},
                {"0.5", false, 0},
                {"\"7\"", false, 0},
                {"null", false, 0}};
    for (size_t i = 0; i < LENGTH(rows); i++) {
        yyjson_doc *doc = yyjson_read(rows[i].text, strlen(rows[i].text), 0);
        uint64_t count = 42;
        assert_int_equal(dx__number_count(yyjson_doc_get_root(doc), &count), rows[i].is);
        assert_true(count == (rows[i].is ? rows[i].count : 42));
        yyjson_doc_free(doc);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(references_are_resolved),
        cmocka_unit_test(uris_are_looked_at),
        cmocka_unit_test(names_are_found),
        cmocka_unit_test(names_that_collide_are_found),
        cmocka_unit_test(names_that_are_alike_are_found_at_once),
        cmocka_unit_test(numbers_are_compared_by_value),
        cmocka_unit_test(multiples_are_exact),
        cmocka_unit_test(counts_are_integers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
