/* What patterns find, and what is no pattern. */
#include "unit/patterns.h"

#include <stdbool.h>

struct found {
    const char *pattern;
    const char *text;
    bool found;
};

static void expect(const struct found *rows, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const struct found *row = &rows[i];
        dx_status status = find(dx_str(row->pattern), dx_str(row->text));
        if (status != (row->found ? DX_OK : DX_AGAIN))
            fail_msg("/%s/u on \"%s\": %d", row->pattern, row->text, (int)status);
        assert_true(dx__pattern_is(dx_str(row->pattern)));
    }
}

#define EXPECT(...)                                       \
    do {                                                  \
        static const struct found rows[] = {__VA_ARGS__}; \
        expect(rows, LENGTH(rows));                       \
    } while (0)

static void literals(void **state) {
    (void)state;
    EXPECT({"", "", true}, {"", "x", true}, {"^", "", true}, {"$", "ab", true}, {"^$", "", true},
           {"^$", "a", false}, {"^x-", "x-rate", true}, {"^x-", "ax-rate", false},
           {"^x-", "x", false}, {"y$", "xy", true}, {"y$", "yx", false}, {"^xy$", "xy", true},
           {"^xy$", "xyz", false}, {"^xy$", "wxy", false}, {"ell", "hello", true},
           {"ell", "hel", false}, {"aab", "aaaab", true}, {"aab", "aaaaa", false},
           {"é", "caf\xc3\xa9", true}, {"\\.\\/", "a./b", true}, {"\\.", "a", false},
           {"\\u00e9$", "caf\xc3\xa9", true}, {"a\\x62", "xab", true});
}

/* One byte more than what is looked for without PCRE2: no difference that can be seen. */
static void long_literals(void **state) {
    (void)state;
    char source[70];
    char text[200];
    for (size_t len = 60; len <= 68; len++) {
        memset(source, 'a', len);
        source[len - 1] = 'b';
        memset(text, 'a', sizeof text);
        assert_int_equal(find((dx_text){source, len}, (dx_text){text, sizeof text}), DX_AGAIN);
        text[len] = 'b';
        assert_int_equal(find((dx_text){source, len}, (dx_text){text, sizeof text}), DX_OK);
        text[len] = 'a';
        text[len - 2] = 'b';
        assert_int_equal(find((dx_text){source, len}, (dx_text){text, len - 1}), DX_AGAIN);
    }
}

static void anchors(void **state) {
    (void)state;
    EXPECT({"^a+$", "aaa", true}, {"^a+$", "aaa\n", false}, {"^a+$", "b\naaa", false},
           {"a|^b", "xb", false}, {"a|^b", "b", true}, {"(?:^|,)x(?:$|,)", "a,x,b", true},
           {"(?:^|,)x(?:$|,)", "a,xb", false}, {"x$y", "xy", false}, {"\\bcat\\b", "a cat.", true},
           {"\\bcat\\b", "concat", false}, {"\\Bcat", "concat", true},
           {"\\b\xc3\xa9", "\xc3\xa9", false});
}

static void sets(void **state) {
    (void)state;
    EXPECT({"^\\d$", "7", true}, {"^\\d$", "\xd9\xa7", false}, {"^\\D$", "\xd9\xa7", true},
           {"^\\w+$", "aZ_9", true}, {"^\\w$", "\xc3\xbc", false}, {"^\\W$", "\xc3\xbc", true},
           {"^.$", "\xf0\x9f\x8e\xb2", true}, {"^.$", "\n", false}, {"^.$", "\r", false},
           {"^.$", "\xe2\x80\xa8", false}, {"^.$", "\xe2\x80\xa9", false}, {"^.$", "\v", true},
           {"^.$", "\xc2\x85", true}, {"^[^]$", "\n", true}, {"^[^]$", "", false},
           {"[]", "a", false}, {"^(?:[]|b)$", "b", true}, {"^[]*$", "", true},
           {"^[]*$", "a", false}, {"^[\\d-]+$", "1-2", true}, {"^[-a]+$", "a-", true},
           {"^[a\\-c]+$", "b", false}, {"^[a\\-c]+$", "-", true}, {"^[[:alpha:]$", "[", true},
           {"^[[:alpha:]$", "b", false}, {"^[.=a]+$", "=.", true}, {"^[^^]$", "^", false},
           {"^[\\^\\]]+$", "]^", true}, {"^[\\b]$", "\b", true},
           {"^[\xc3\xa0-\xc3\xbc]$", "\xc3\xa9", true}, {"^[\xc3\xa0-\xc3\xbc]$", "e", false},
           {"^[\\W\\d]+$", "1\xc3\xa9!", true}, {"^[^\\W]$", "!", false}, {"^[$.|]$", "|", true},
           {"^[(?C)]$", "C", true}, {"^[^\\n\\r]$", "\n", false});
}

/* Each character of ECMA-262's white space, and some that look like it. */
static void white_space(void **state) {
    (void)state;
    static const char *const white[] = {"\t",           "\n",           "\v",
                                        "\f",           "\r",           " ",
                                        "\xc2\xa0",     "\xe1\x9a\x80", "\xe2\x80\x80",
                                        "\xe2\x80\x8a", "\xe2\x80\xa8", "\xe2\x80\xa9",
                                        "\xe2\x80\xaf", "\xe2\x81\x9f", "\xe3\x80\x80",
                                        "\xef\xbb\xbf"};
    static const char *const black[] = {"a",
                                        "\b",
                                        "\x0e",
                                        "\x1f",
                                        "!",
                                        "\xc2\x85",
                                        "\xe1\xa0\x8e",
                                        "\xe2\x80\x8b",
                                        "\xe2\x81\xa0",
                                        "\xef\xbb\xbe",
                                        "\xf0\x9f\x8e\xb2"};
    for (size_t i = 0; i < LENGTH(white) + LENGTH(black); i++) {
        bool is = i < LENGTH(white);
        dx_text text = dx_str(is ? white[i] : black[i - LENGTH(white)]);
        assert_int_equal(find(TEXT("^\\s$"), text), is ? DX_OK : DX_AGAIN);
        assert_int_equal(find(TEXT("^[\\s]$"), text), is ? DX_OK : DX_AGAIN);
        assert_int_equal(find(TEXT("^\\S$"), text), is ? DX_AGAIN : DX_OK);
        assert_int_equal(find(TEXT("^[\\S]$"), text), is ? DX_AGAIN : DX_OK);
        assert_int_equal(find(TEXT("^[^\\S]$"), text), is ? DX_OK : DX_AGAIN);
        assert_int_equal(find(TEXT("^[\\s\\S]$"), text), DX_OK);
    }
}

static void escapes(void **state) {
    (void)state;
    EXPECT({"^\\t\\n\\v\\f\\r$", "\t\n\v\f\r", true}, {"^\\cJ\\cz$", "\n\x1a", true},
           {"^\\x41\\u0042\\u{43}\\u{0000000044}$", "ABCD", true},
           {"^\\ud83c\\udfb2$", "\xf0\x9f\x8e\xb2", true},
           {"^\\u{1f3b2}$", "\xf0\x9f\x8e\xb2", true}, {"\\ud83c", "\xf0\x9f\x8e\xb2", false},
           {"^[\\ud83c\\udfb2]$", "\xf0\x9f\x8e\xb2", true}, {"[\\ud800-\\udfff]", "a", false},
           {"^\\^\\$\\\\\\.\\*\\+\\?\\(\\)\\[\\]\\{\\}\\|\\/$", "^$\\.*+?()[]{}|/", true},
           {"^ #!\"%&',:;<=>@_`~-$", " #!\"%&',:;<=>@_`~-", true});
    assert_int_equal(find(TEXT("^a\\0b$"), TEXT("a\0b")), DX_OK);
    assert_int_equal(find(TEXT("^a\0b$"), TEXT("a\0b")), DX_OK);
    assert_int_equal(find(TEXT("^a\0b$"), TEXT("a\0c")), DX_AGAIN);
    assert_int_equal(find(TEXT("[\0]b$"), TEXT("a\0b")), DX_OK);
    assert_int_equal(find(TEXT("\0+b$"), TEXT("a\0\0b")), DX_OK);
}

static void properties(void **state) {
    (void)state;
    EXPECT({"^\\p{Letter}$", "\xc3\xa9", true}, {"^\\p{L}$", "1", false}, {"^\\P{L}$", "1", true},
           {"^\\p{digit}$", "\xd9\xa7", true}, {"^\\p{Decimal_Number}$", "7", true},
           {"^\\p{gc=Lu}$", "A", true}, {"^\\p{General_Category=Uppercase_Letter}$", "a", false},
           {"^\\p{LC}$", "a", true}, {"^\\p{Cased_Letter}$", "\xd7\x90", false},
           {"^\\p{Script=Greek}$", "\xce\xb1", true}, {"^\\p{sc=Grek}$", "a", false},
           {"^\\p{scx=Greek}$", "\xce\xb1", true},
           {"^\\p{Script_Extensions=Hebr}$", "\xd7\x90", true}, {"^\\P{Script=Greek}$", "a", true},
           {"^\\p{Alphabetic}$", "a", true}, {"^\\p{White_Space}$", "\xc2\x85", true},
           {"^\\p{Emoji_Presentation}$", "\xf0\x9f\x8e\xb2", true}, {"^\\p{Any}$", "\n", true},
           {"^\\p{ASCII}$", "\xc3\xa9", false}, {"^\\p{Assigned}$", "a", true},
           {"^\\P{Assigned}$", "\xcd\xb8", true}, {"^[\\p{Lu}\\p{Nd}]+$", "A1", true},
           {"^[^\\p{Lu}]$", "A", false}, {"^[\\P{Lu}]$", "a", true}, {"^\\p{punct}$", "!", true},
           /* Two sets that share characters: one may not swallow all that the other needs. */
           {"\\P{Lu}{1,2}\\P{Ll}", "!!", true}, {"\\P{Script=Greek}+\\P{Script=Latin}", "!!", true},
           {"[\\P{Lu}]+[\\P{Ll}]", "!!", true});
}

static void repetitions(void **state) {
    (void)state;
    EXPECT({"^a{2}$", "aa", true}, {"^a{2}$", "aaa", false}, {"^a{2,}$", "aaaa", true},
           {"^a{2,3}$", "aaaa", false}, {"^a{0}$", "", true}, {"^a{0}$", "a", false},
           {"^a+?b*?c??$", "aab", true}, {"^(?:ab){1,2}$", "abab", true},
           {"^(?:ab){1,2}$", "ababab", false}, {"^\xf0\x9f\x8e\xb2{2}$", "\xf0\x9f\x8e\xb2", false},
           {"^\xf0\x9f\x8e\xb2{2}$", "\xf0\x9f\x8e\xb2\xf0\x9f\x8e\xb2", true},
           {"^(?:|a)+$", "aaa", true}, {"^(?:a*)*$", "aaab", false}, {"^a{40}$", "a", false},
           {"^a{3,4}?$", "aaa", true});
    char text[100];
    memset(text, 'a', sizeof text);
    assert_int_equal(find(TEXT("^a{40}$"), (dx_text){text, 40}), DX_OK);
    assert_int_equal(find(TEXT("^[^b]{40,}$"), (dx_text){text, 99}), DX_OK);
    assert_int_equal(find(TEXT("^[^b]{40,}$"), (dx_text){text, 39}), DX_AGAIN);
    assert_int_equal(find(TEXT("^(?:aa){33}$"), (dx_text){text, 66}), DX_OK);
    assert_int_equal(find(TEXT("^(?:aa){33}$"), (dx_text){text, 67}), DX_AGAIN);
}

static void groups(void **state) {
    (void)state;
    EXPECT({"^(a)(b)\\2\\1$", "abba", true}, {"^(a)(b)\\2\\1$", "abab", false},
           {"^(?<x>a|b)\\k<x>$", "bb", true}, {"^(?<x>a|b)\\k<x>$", "ba", false},
           {"^\\k<x>(?<x>a)$", "a", true}, {"^\\1(a)$", "a", true}, {"^(?:(a)|b)\\1$", "b", true},
           {"^(a\\1)$", "a", true}, {"^(?<x>.\\k<x>){2}$", "ab", true},
           {"^(a)\\1{2}$", "aaa", true}, {"^(a)\\1\\u0030$", "aa0", true},
           {"^(?<\\u0061b>c)\\k<ab>$", "cc", true}, {"^(?<a\\u{62}>c)\\k<\\u0061b>$", "cc", true},
           {"^(?<$_1>x)(?<\xc3\xa9>y)\\k<\xc3\xa9>$", "xyy", true}, {"^a(?=b)", "ab", true},
           {"^a(?!b)", "ab", false}, {"(?<=\\$)\\d", "$5", true}, {"(?<=\\$)\\d", "x5", false},
           {"(?<!\\$)\\d", "$5", false}, {"(?<=ab|cd)e", "cde", true}, {"^(?:a|b|)c$", "c", true},
           {"(?=x)-*x", "xy", true}, {"()", "", true}, {"(?:)", "", true},
           {"^(((a)))\\3$", "aa", true});
}

static void what_is_no_pattern(void **state) {
    (void)state;
    static const struct {
        const char *source;
        const char *why; /* NULL: whatever */
    } rows[] = {
        {"(", "a group that is not closed, at 1"},
        {"^(ab", "a group that is not closed, at 4"},
        {"ab)", "a ')' without a '(', at 2"},
        {"[a", "a class that is not closed, at 0"},
        {"a]", "a bracket that closes nothing, at 1"},
        {"a}", "a bracket that closes nothing, at 1"},
        {"*", "a repetition of nothing, at 0"},
        {"a**", "a repetition of nothing, at 2"},
        {"a++", "a repetition of nothing, at 2"},
        {"a{2}{3}", "a repetition of nothing, at 4"},
        {"a{2}+", "a repetition of nothing, at 4"},
        {"^*", "a repetition of nothing, at 1"},
        {"\\b+", "a repetition of nothing, at 2"},
        {"(?=a)*", "a repetition of nothing, at 5"},
        {"(?<=a)?", "a repetition of nothing, at 6"},
        {"a|+", "a repetition of nothing, at 2"},
        {"(*UTF)a", "a repetition of nothing, at 1"},
        {"(?R)", "an unknown kind of group, at 0"},
        {"a(?>b)", "an unknown kind of group, at 1"},
        {"(?#b)", NULL},
        {"(?i)a", NULL},
        {"(?i:a)", NULL},
        {"(?P<n>a)", NULL},
        {"(?P=n)", NULL},
        {"(?|a)", NULL},
        {"(?1)(a)", NULL},
        {"(?&n)(?<n>a)", NULL},
        {"(?(1)a)", NULL},
        {"(?C)", NULL},
        {"(?", NULL},
        {"(?<", "a group name that does not end, at 3"},
        {"(?<n", "a group name that does not end, at 3"},
        {"(?<>a)", "an invalid group name, at 3"},
        {"(?<1>a)", "an invalid group name, at 3"},
        {"(?<a-b>a)", "an invalid group name, at 4"},
        {"(?<a\\b>a)", NULL},
        {"(?<a\\u12>a)", NULL},
        {"(?<a\\ud800>a)", NULL},
        {"(?<n>a)(?<n>b)", "two groups of the same name, at 10"},
        {"(?<n>a)|(?<\\u006e>b)", "two groups of the same name, at 11"},
        {"\\1", "a reference to a group that does not exist, at 0"},
        {"(a)\\2", "a reference to a group that does not exist, at 3"},
        {"(a)\\99999999999999999999", NULL},
        {"(?<n>a)\\k<m>", "a reference to a group that does not exist, at 7"},
        {"\\k", "a reference without a name, at 0"},
        {"\\kn", NULL},
        {"(?<n>a)\\k<n", "a group name that does not end, at 10"},
        {"{", "a repetition of nothing, at 0"},
        {"a{", "a '{' that does not begin a repetition, at 1"},
        {"a{,2}", "a '{' that does not begin a repetition, at 1"},
        {"a{1", NULL},
        {"a{1,", NULL},
        {"a{1,2", NULL},
        {"a{1 }", NULL},
        {"a{2,1}", "a repetition whose minimum exceeds its maximum, at 1"},
        {"[b-a]", "a range that goes backwards, at 1"},
        {"[a\\d-z]", "a range that begins or ends with a set, at 2"},
        {"[a-\\w]", "a range that begins or ends with a set, at 1"},
        {"\\", "a backslash at the end, at 1"},
        {"[\\", NULL},
        {"\\a", "an escape without a meaning, at 1"},
        {"\\A", NULL},
        {"\\Z", NULL},
        {"\\z", NULL},
        {"\\G", NULL},
        {"\\K", NULL},
        {"\\Q.\\E", NULL},
        {"\\R", NULL},
        {"\\X", NULL},
        {"\\C", NULL},
        {"\\N", NULL},
        {"\\h", NULL},
        {"\\e", NULL},
        {"\\g{1}", NULL},
        {"\\o{1}", NULL},
        {"\\-", NULL},
        {"\\_", NULL},
        {"\\ ", NULL},
        {"\\\xc3\xa9", NULL},
        {"\\00", NULL},
        {"[\\1]", NULL},
        {"[\\B]", NULL},
        {"[\\k<n>](?<n>a)", NULL},
        {"\\c", "a \\c without a letter, at 2"},
        {"\\c1", NULL},
        {"\\x", NULL},
        {"\\x1", NULL},
        {"\\xg1", NULL},
        {"\\u", "a \\u without four digits, at 2"},
        {"\\u12", NULL},
        {"\\u{}", "a \\u{ that is not a character, at 3"},
        {"\\u{110000}", NULL},
        {"\\u{fffffffffff}", NULL},
        {"\\u{12", NULL},
        {"\\p", "an unknown property, at 2"},
        {"\\pL", NULL},
        {"\\p{", NULL},
        {"\\p{}", NULL},
        {"\\p{L", NULL},
        {"\\p{Lettre}", NULL},
        {"\\p{letter}", NULL},
        {"\\p{ L}", NULL},
        {"\\p{^L}", NULL},
        {"\\p{L&}", NULL},
        {"\\p{Greek}", NULL},
        {"\\p{Script=}", NULL},
        {"\\p{Script=greek}", NULL},
        {"\\p{Letter=Greek}", NULL},
        {"\\p{gc=Greek}", NULL},
        {"\\p{ASCII=Yes}", NULL},
        {"\\p{Cased Letter}", NULL},
        {"\\p{aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa}",
         NULL},
        {"a\xff", "bytes that are not UTF-8, at 1"},
        {"\xc0\x80", NULL},
        {"\xe2\x82", NULL},
        {"\xed\xa0\x80", NULL},
        {"\xf4\x90\x80\x80", NULL},
        {"[\x80]", NULL},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct unit_fence fence = unit_fence_new(100);
        dx_text source = unit_fence_put(&fence, rows[i].source, strlen(rows[i].source));
        dx__pattern *pattern = NULL;
        char why[200] = "";
        assert_false(dx__pattern_is(source));
        assert_int_equal(dx__pattern_new(NULL, source, &pattern, why, sizeof why), DX_ERR_INVALID);
        assert_null(pattern);
        if (rows[i].why)
            assert_string_equal(why, rows[i].why);
        assert_non_null(strstr(why, ", at "));
        unit_fence_done(&fence);
    }
}

static void what_cant_be_searched(void **state) {
    (void)state;
    static const char *const rows[][2] = {
        {"(?<=a+)b", "a lookbehind without a fixed length, which is not supported"},
        {"a{65536}", "a repetition of more than 65535, which is not supported, at 1"},
        {"a{0,99999999999999999999999}",
         "a repetition of more than 65535, which is not supported, at 1"},
        {"\\p{Script=Atlantean}", "an unknown property"},
        {"(?:(?:a{1,200}b){1,200}c){1,200}", "a pattern that is too large"},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        dx__pattern *pattern = NULL;
        char why[200] = "";
        assert_true(dx__pattern_is(dx_str(rows[i][0])));
        assert_int_equal(dx__pattern_new(NULL, dx_str(rows[i][0]), &pattern, why, sizeof why),
                         DX_ERR_INVALID);
        assert_string_equal(why, rows[i][1]);
        assert_int_equal(dx__pattern_new(NULL, dx_str(rows[i][0]), &pattern, NULL, 0),
                         DX_ERR_INVALID);
        assert_null(pattern);
    }
    dx__pattern_free(compiled(TEXT("a{65535}")));
    dx__pattern_free(compiled(TEXT("a{0,65535}")));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(literals),
        cmocka_unit_test(long_literals),
        cmocka_unit_test(anchors),
        cmocka_unit_test(sets),
        cmocka_unit_test(white_space),
        cmocka_unit_test(escapes),
        cmocka_unit_test(properties),
        cmocka_unit_test(repetitions),
        cmocka_unit_test(groups),
        cmocka_unit_test(what_is_no_pattern),
        cmocka_unit_test(what_cant_be_searched),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
