/* dx_json_check(): what is JSON, and where it stops being so. Every text lies at the very end of
 * readable memory. */
#include "unit/unit.h"

#include <duplex/rpc.h>

#include <stdbool.h>

static struct unit_fence fence;

static int open_fence(void **state) {
    (void)state;
    fence = unit_fence_new(1 << 16);
    return 0;
}

static int close_fence(void **state) {
    (void)state;
    unit_fence_done(&fence);
    return 0;
}

static dx_fault check(const char *bytes, size_t len, unsigned depth, size_t *ret_at) {
    return dx_json_check(unit_fence_put(&fence, bytes, len), depth, ret_at);
}

static void expect(dx_text text, dx_fault fault, size_t at) {
    size_t found_at = SIZE_MAX;
    dx_fault found = check(text.at, text.len, 100, &found_at);
    if (found != fault || (fault != DX_FAULT_NONE && found_at != at))
        fail_msg("%.*s: %s at %zu, expected %s at %zu", (int)text.len, text.at,
                 dx_fault_name(found), found_at, dx_fault_name(fault), at);
    assert_int_equal(check(text.at, text.len, 100, NULL), fault);
}

static void accepts(void **state) {
    (void)state;
    static const dx_text texts[] = {
        TEXT("{}"),
        TEXT(" \t\r\n[ ] \t\r\n"),
        TEXT("0"),
        TEXT("-0"),
        TEXT("-1.5e+10"),
        TEXT("1E400"),
        TEXT("123456789012345678901234567890"),
        TEXT("\"\""),
        TEXT("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0000\\uABcd\""),
        TEXT("\"\\ud800\""), /* has no characters, but is JSON */
        TEXT("\"\x7f\""),
        TEXT("[null,true,false,{\"a\":{\"a\":1,\"a\":2}}]"),
    };
    for (size_t i = 0; i < LENGTH(texts); i++)
        expect(texts[i], DX_FAULT_NONE, 0);
}

static void names_the_place(void **state) {
    (void)state;
    static const struct {
        dx_text text;
        dx_fault fault;
        size_t at;
    } cases[] = {
        {TEXT(""), DX_FAULT_JSON_EMPTY, 0},
        {TEXT(" \r\n"), DX_FAULT_JSON_EMPTY, 3},
        {TEXT("{} x"), DX_FAULT_JSON_TRAILING, 3},
        {TEXT("1 2"), DX_FAULT_JSON_TRAILING, 2},
        {TEXT("01"), DX_FAULT_JSON_TRAILING, 1},
        {TEXT("[]]"), DX_FAULT_JSON_TRAILING, 2},
        {TEXT("{}\0"), DX_FAULT_JSON_TRAILING, 2},
        {TEXT("\0"), DX_FAULT_JSON_SYNTAX, 0},
        {TEXT("[1,]"), DX_FAULT_JSON_SYNTAX, 3},
        {TEXT("[,1]"), DX_FAULT_JSON_SYNTAX, 1},
        {TEXT("{\"a\":1,}"), DX_FAULT_JSON_SYNTAX, 7},
        {TEXT("{'a':1}"), DX_FAULT_JSON_SYNTAX, 1},
        {TEXT("{\"a\" 1}"), DX_FAULT_JSON_SYNTAX, 5},
        {TEXT("{1:2}"), DX_FAULT_JSON_SYNTAX, 1},
        {TEXT("[1}"), DX_FAULT_JSON_SYNTAX, 2},
        {TEXT("{\"a\":1]"), DX_FAULT_JSON_SYNTAX, 6},
        {TEXT("[1 2]"), DX_FAULT_JSON_SYNTAX, 3},
        {TEXT("NaN"), DX_FAULT_JSON_SYNTAX, 0},
        {TEXT("nul1"), DX_FAULT_JSON_SYNTAX, 3},
        {TEXT("-x"), DX_FAULT_JSON_SYNTAX, 1},
        {TEXT("[+1]"), DX_FAULT_JSON_SYNTAX, 1},
        {TEXT("[1.]"), DX_FAULT_JSON_SYNTAX, 3},
        {TEXT("[.5]"), DX_FAULT_JSON_SYNTAX, 1},
        {TEXT("[1e]"), DX_FAULT_JSON_SYNTAX, 3},
        {TEXT("\"a\nb\""), DX_FAULT_JSON_SYNTAX, 2},
        {TEXT("\"12345678\x1f\""), DX_FAULT_JSON_SYNTAX, 9},
        {TEXT("\"a\\x\""), DX_FAULT_JSON_SYNTAX, 3},
        {TEXT("\"\\u12g4\""), DX_FAULT_JSON_SYNTAX, 5},
        {TEXT("// x\n1"), DX_FAULT_JSON_SYNTAX, 0},
        {TEXT("\xef\xbb\xbf{}"), DX_FAULT_JSON_UTF8, 0},
        {TEXT("\"a\xff\""), DX_FAULT_JSON_UTF8, 2},
        {TEXT("[\"a\""), DX_FAULT_JSON_INCOMPLETE, 4},
        {TEXT("{\"a\":"), DX_FAULT_JSON_INCOMPLETE, 5},
        {TEXT("tru"), DX_FAULT_JSON_INCOMPLETE, 3},
        {TEXT("-"), DX_FAULT_JSON_INCOMPLETE, 1},
        {TEXT("\"abc\\"), DX_FAULT_JSON_INCOMPLETE, 5},
        {TEXT("\"abc\\u00"), DX_FAULT_JSON_INCOMPLETE, 8},
    };
    for (size_t i = 0; i < LENGTH(cases); i++)
        expect(cases[i].text, cases[i].fault, cases[i].at);
    assert_int_equal(dx_json_check((dx_text){NULL, 0}, 1, NULL), DX_FAULT_JSON_EMPTY);
}

static const char *const documents[] = {
    "{\"jsonrpc\":\"2.0\",\"id\":18446744073709551615,\"method\":\"a/b\",\"params\":[1.5e-3,-0]}",
    " [ true , false , null , { \"a b c d e f g h i j\" : \"\\u00e9\\n\\\"\\\\\" } ] ",
    "[[[[[[]]]]],{\"\":{\"\":{}}},\"0123456701234567012345670\"]",
    "-12345.678E+90",
    "\"a long string without anything that is special in any way, over many words\"",
};

static bool yyjson_takes(const char *bytes, size_t len) {
    yyjson_doc *doc = yyjson_read(bytes, len, YYJSON_READ_NUMBER_AS_RAW);
    yyjson_doc_free(doc);
    return doc != NULL;
}

static void prefixes_of_documents(void **state) {
    (void)state;
    for (size_t i = 0; i < LENGTH(documents); i++) {
        size_t whole = strlen(documents[i]);
        for (size_t len = 0; len <= whole; len++) {
            size_t at = SIZE_MAX;
            dx_fault fault = check(documents[i], len, 100, &at);
            assert_int_equal(fault == DX_FAULT_NONE, yyjson_takes(documents[i], len));
            if (fault == DX_FAULT_NONE)
                continue;
            assert_true(fault == DX_FAULT_JSON_INCOMPLETE || fault == DX_FAULT_JSON_EMPTY);
            assert_int_equal(at, len);
        }
        assert_int_equal(check(documents[i], whole, 100, NULL), DX_FAULT_NONE);
    }
}

/* What is cut off inside a character could have gone on like any other: a Content-Length that
 * counts characters cuts there, and shall be told as such. */
static void a_text_that_ends_inside_a_character(void **state) {
    (void)state;
    static const char text[] = "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"";
    for (size_t len = 1; len < sizeof text - 1; len++)
        assert_int_equal(check(text, len, 1, NULL), DX_FAULT_JSON_INCOMPLETE);
    assert_int_equal(check(text, sizeof text - 1, 1, NULL), DX_FAULT_NONE);
    /* What could not go on is wrong at once. */
    assert_int_equal(check("\"\xe0\x80", 3, 1, NULL), DX_FAULT_JSON_UTF8);
    assert_int_equal(check("\"\xff", 2, 1, NULL), DX_FAULT_JSON_UTF8);
}

/* One byte changed, at random: both readers must agree. They differ on purpose for escaped
 * surrogates only, so those are left out. */
static void agrees_with_the_tree_reader(void **state) {
    (void)state;
    static const char bytes[] = "{}[]:,\"\\/ \t\n-+.eE0123456789abntfu\x00\x1f\x7f\x80\xc3\xff";
    uint64_t seed = 3;
    size_t accepted = 0;
    for (int i = 0; i < 50000; i++) {
        const char *document = documents[unit_random(&seed, LENGTH(documents))];
        char text[200];
        size_t len = strlen(document);
        memcpy(text, document, len);
        text[len] = '\0';
        text[unit_random(&seed, len)] = bytes[unit_random(&seed, sizeof bytes - 1)];
        if (strcasestr(text, "\\ud"))
            continue;
        bool good = check(text, len, 100, NULL) == DX_FAULT_NONE;
        if (good != yyjson_takes(text, len))
            fail_msg("we say %d: %s", good, text);
        accepted += good;
    }
    assert_in_range(accepted, 1000, 49000);
}

static char nested[1 << 16];

/* `levels` levels, arrays and objects in turns that do not repeat with the words of a bit set. */
static bool is_object(size_t level) {
    return level % 3 == 1 || level % 64 == 0;
}

static size_t nest(size_t levels) {
    size_t len = 0;
    for (size_t i = 0; i < levels; i++) {
        const char *opening = is_object(i) ? "{\"\":" : "[";
        memcpy(nested + len, opening, strlen(opening));
        len += strlen(opening);
    }
    nested[len++] = '1';
    for (size_t i = levels; i-- > 0;)
        nested[len++] = is_object(i) ? '}' : ']';
    return len;
}

static void depth_on_both_sides(void **state) {
    (void)state;
    static const unsigned depths[] = {1, 2, 63, 64, 65, 127, 128, 1000, DX_DEPTH_MAX};
    for (size_t i = 0; i < LENGTH(depths); i++) {
        size_t len = nest(depths[i]);
        assert_int_equal(check(nested, len, depths[i], NULL), DX_FAULT_NONE);
        assert_int_equal(check(nested, len, depths[i] - 1, NULL), DX_FAULT_JSON_DEPTH);
    }
    size_t at = 0;
    assert_int_equal(check("[[[1]]]", 7, 2, &at), DX_FAULT_JSON_DEPTH);
    assert_int_equal(at, 2);
    assert_int_equal(check("1", 1, 0, NULL), DX_FAULT_NONE);
    assert_int_equal(check("[]", 2, 0, NULL), DX_FAULT_JSON_DEPTH);
    assert_int_equal(check("[[],[],[{}]]", 12, 3, NULL), DX_FAULT_NONE);
}

static void depth_is_never_more_than_the_maximum(void **state) {
    (void)state;
    size_t len = nest(DX_DEPTH_MAX + 1);
    assert_int_equal(check(nested, len, UINT32_MAX, NULL), DX_FAULT_JSON_DEPTH);
    assert_int_equal(check(nested, len, DX_DEPTH_MAX + 1, NULL), DX_FAULT_JSON_DEPTH);
    memset(nested, '[', sizeof nested);
    assert_int_equal(check(nested, sizeof nested, UINT32_MAX, NULL), DX_FAULT_JSON_DEPTH);
}

/* Every level remembers what it is: the wrong bracket is noticed at each of them. */
static void each_level_closes_as_it_opened(void **state) {
    (void)state;
    enum { LEVELS = 200 };
    size_t len = nest(LEVELS);
    for (size_t i = 1; i <= LEVELS; i++) {
        char right = nested[len - i];
        size_t at = 0;
        nested[len - i] = right == '}' ? ']' : '}';
        assert_int_equal(check(nested, len, LEVELS, &at), DX_FAULT_JSON_SYNTAX);
        assert_int_equal(at, len - i);
        nested[len - i] = right;
    }
    assert_int_equal(check(nested, len, LEVELS, NULL), DX_FAULT_NONE);
}

/* By arithmetic, unlike the library's table: the code point, or -1. */
static long decode(const unsigned char *bytes, size_t len) {
    static const unsigned char leads[] = {0, 0x00, 0xc0, 0xe0, 0xf0};
    static const long smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    static const unsigned char masks[] = {0, 0x80, 0xe0, 0xf0, 0xf8};
    if (len < 1 || len > 4 || (bytes[0] & masks[len]) != leads[len])
        return -1;
    long code = bytes[0] & ~masks[len] & 0xff;
    for (size_t i = 1; i < len; i++) {
        if ((bytes[i] & 0xc0) != 0x80)
            return -1;
        code = code << 6 | (bytes[i] & 0x3f);
    }
    bool good = code >= smallest[len] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
    return good ? code : -1;
}

static void expect_sequence(const unsigned char *bytes, size_t len) {
    char text[8] = "\"";
    memcpy(text + 1, bytes, len);
    text[len + 1] = '"';
    dx_fault expected = decode(bytes, len) >= 0 ? DX_FAULT_NONE : DX_FAULT_JSON_UTF8;
    size_t at = 0;
    dx_fault found = check(text, len + 2, 1, &at);
    if (found != expected || (expected != DX_FAULT_NONE && at != 1))
        fail_msg("%02x %02x %02x %02x (%zu): %s at %zu", bytes[0], bytes[1], bytes[2], bytes[3],
                 len, dx_fault_name(found), at);
}

/* A continuation byte is right or wrong at the edges of its range; the first two bytes, where the
 * overlong, surrogate and too large forms are told apart, take every value. */
static void sequences_of_every_class(void **state) {
    (void)state;
    static const unsigned char edges[] = {0x20, 0x7f, 0x80, 0x8f, 0x90,
                                          0x9f, 0xa0, 0xbf, 0xc0, 0xff};
    for (unsigned first = 0x80; first <= 0xff; first++)
        for (unsigned second = 0x80; second <= 0xff; second++) {
            unsigned char bytes[4] = {(unsigned char)first, (unsigned char)second, 0, 0};
            if (first < 0xe0)
                expect_sequence(bytes, 2);
            for (size_t i = 0; first >= 0xe0 && i < LENGTH(edges); i++) {
                bytes[2] = edges[i];
                if (first < 0xf0)
                    expect_sequence(bytes, 3);
                for (size_t k = 0; first >= 0xf0 && k < LENGTH(edges); k++) {
                    bytes[3] = edges[k];
                    expect_sequence(bytes, 4);
                }
            }
        }
}

static void sequences_by_name(void **state) {
    (void)state;
    static const dx_text good[] = {
        TEXT("\"\xc2\x80\xdf\xbf\""),                 /* U+0080, U+07FF */
        TEXT("\"\xe0\xa0\x80\xed\x9f\xbf\""),         /* U+0800, U+D7FF */
        TEXT("\"\xee\x80\x80\xef\xbf\xbf\""),         /* U+E000, U+FFFF */
        TEXT("\"\xf0\x90\x80\x80\xf4\x8f\xbf\xbf\""), /* U+10000, U+10FFFF */
    };
    static const dx_text bad[] = {
        TEXT("\"\x80\""),                     /* a continuation byte alone */
        TEXT("\"\xc0\xaf\""),                 /* overlong "/" */
        TEXT("\"\xe0\x80\xaf\""),             /* the same */
        TEXT("\"\xf0\x80\x80\xaf\""),         /* the same */
        TEXT("\"\xc1\xbf\""),                 /* overlong U+007F */
        TEXT("\"\xe0\x9f\xbf\""),             /* overlong U+07FF */
        TEXT("\"\xf0\x8f\xbf\xbf\""),         /* overlong U+FFFF */
        TEXT("\"\xed\xa0\x80\""),             /* U+D800 */
        TEXT("\"\xed\xbf\xbf\""),             /* U+DFFF */
        TEXT("\"\xed\xa0\xbd\xed\xb8\x80\""), /* a pair of them (CESU-8) */
        TEXT("\"\xf4\x90\x80\x80\""),         /* U+110000 */
        TEXT("\"\xf8\x88\x80\x80\x80\""),     /* five bytes */
        TEXT("\"\xc3\""),                     /* truncated */
        TEXT("\"\xe2\x82\""),                 /* truncated */
        TEXT("\"\xf0\x9f\x98\""),             /* truncated */
        TEXT("\"\xe2\x28\xa1\""),             /* interrupted */
        TEXT("\"\xfe\""),
    };
    for (size_t i = 0; i < LENGTH(good); i++)
        expect(good[i], DX_FAULT_NONE, 0);
    for (size_t i = 0; i < LENGTH(bad); i++)
        expect(bad[i], DX_FAULT_JSON_UTF8, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepts),
        cmocka_unit_test(names_the_place),
        cmocka_unit_test(prefixes_of_documents),
        cmocka_unit_test(a_text_that_ends_inside_a_character),
        cmocka_unit_test(agrees_with_the_tree_reader),
        cmocka_unit_test(depth_on_both_sides),
        cmocka_unit_test(depth_is_never_more_than_the_maximum),
        cmocka_unit_test(each_level_closes_as_it_opened),
        cmocka_unit_test(sequences_of_every_class),
        cmocka_unit_test(sequences_by_name),
    };
    return cmocka_run_group_tests(tests, open_fence, close_fence);
}
