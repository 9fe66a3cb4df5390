#include "unit/unit.h"

#include "schema/format.h"

#include <stdbool.h>

/* A format, and texts in rows: those that fit, NULL, those that don't, NULL. */
static void expect(const char *name, const char *const *texts) {
    const dx__format *format = dx__format_named(dx_str(name));
    assert_non_null(format);
    assert_string_equal(format->name, name);
    for (bool fits = true;; texts++) {
        if (!*texts) {
            if (!fits)
                return;
            fits = false;
            continue;
        }
        size_t len = strlen(*texts);
        struct unit_fence fence = unit_fence_new(len);
        if (format->fits(unit_fence_put(&fence, *texts, len)) != fits)
            fail_msg("%s: \"%s\" should %sfit", name, *texts, fits ? "" : "not ");
        /* A NUL is a byte like any other, and none that could follow. */
        char with_nul[600];
        assert_true(len + 2 < sizeof with_nul);
        memcpy(with_nul, *texts, len + 1);
        if (strcmp(name, "regex") != 0 && !strstr(name, "json-pointer"))
            assert_false(format->fits((dx_text){with_nul, len + 1}));
        unit_fence_done(&fence);
    }
}

#define EXPECT(name, ...)                                       \
    do {                                                        \
        static const char *const texts[] = {__VA_ARGS__, NULL}; \
        expect(name, texts);                                    \
    } while (0)

#define X10 "xxxxxxxxxx"
#define X60 X10 X10 X10 X10 X10 X10

static void dates(void **state) {
    (void)state;
    EXPECT("date", "2024-02-29", "2000-02-29", "0000-01-01", "9999-12-31", "2023-04-30", NULL,
           "2023-02-29", "1900-02-29", "2024-02-30", "2023-04-31", "2023-00-10", "2023-13-10",
           "2023-01-00", "2023-01-32", "2023-1-01", "23-01-01", "2023/01/01", "2023-01-01T", "",
           "2023-01", "2023-01-", "2o23-01-01", "-023-01-01", " 2023-01-01", "2023-01-01 ");
}

static void times(void **state) {
    (void)state;
    EXPECT("time", "00:00:00Z", "23:59:59z", "12:30:45.1Z", "12:30:45.000000001+05:30",
           "12:30:45-23:59", "23:59:60Z", "23:59:60.5Z", "00:29:60+00:30", "18:59:60-05:00", NULL,
           "24:00:00Z", "12:60:00Z", "12:30:61Z", "12:30:60Z", "23:59:60+00:30", "12:30:45",
           "12:30:45.Z", "12:30Z", "12:30:45+5:30", "12:30:45+05", "12:30:45+0530",
           "12:30:45+24:00", "12:30:45+05:60", "12:30:45ZZ", "T12:30:45Z", "1:30:45Z", "",
           "12:30:45,5Z", "12-30-45Z");
    EXPECT("date-time", "2024-02-29T12:00:00Z", "2024-02-29t12:00:00z", "2016-12-31T23:59:60Z",
           "2017-01-01T05:29:60.9+05:30", NULL, "2024-02-29 12:00:00Z", "2024-02-30T12:00:00Z",
           "2024-02-29T12:00:00", "2024-02-29", "T12:00:00Z", "2024-02-29T",
           "2024-02-29TT12:00:00Z", "2024-02-29T25:00:00Z", "");
}

static void durations(void **state) {
    (void)state;
    EXPECT("duration", "P1Y", "P12M", "P3D", "P1Y2M", "P2M3D", "P1Y2M3DT4H5M6S", "PT0S", "PT10M",
           "PT1H2M3S", "P0W", "P52W", "P1DT1S", NULL, "", "P", "PT", "P1", "1Y", "p1Y", "P1YT",
           "P1Y3D", "P3D1Y", "P1H", "PT1D", "PT1H3S", "P1W1D", "P1DT1W", "P1D1W", "PW", "P1.5D",
           "P+1D", "P1Y1Y", "P1D ", "T1H", "P1S", "PT1HT1M", "P1WW", "W");
}

static void hosts(void **state) {
    (void)state;
    EXPECT("hostname", "a", "A-1.b2", "1.2.3.4", "x--y", "a.b.c.d.e", X60 "abc", X60 "abc." X60,
           X60 "." X60 "." X60 "." X60 ".x.xxxxxxx", NULL, "", ".", "a.", ".a", "a..b", "-a", "a-",
           "a.-b", "a_b", "a b", "\xc3\xa9", X60 "abcd", "a:80",
           X60 "." X60 "." X60 "." X60 ".x.xxxxxxxx");
    EXPECT("ipv4", "0.0.0.0", "255.255.255.255", "1.20.100.9", NULL, "", "1.2.3", "1.2.3.4.5",
           "256.1.1.1", "1.2.3.999", "01.2.3.4", "1.2.3.04", "1..2.3", "1.2.3.", ".1.2.3",
           "1.2.3.4 ", "0x1.2.3.4", "1.2.3.0000");
    EXPECT("ipv6", "::", "::1", "1::", "fe80::1:2", "1:2:3:4:5:6:7:8",
           "1:2:3:4:5:6:7::", "::2:3:4:5:6:7:8", "1:2:3::5:6:7:8", "ABCD:ef01::", "::1.2.3.4",
           "1:2:3:4:5:6:1.2.3.4", "1::5:1.2.3.4", NULL, "", ":", ":::", "1", "1:", ":1",
           "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7::8", "1:2:3:4::5:6:7:8",
           "::1::", "12345::", "g::", "1:2:3:4:5:6:7:1.2.3.4", "1.2.3.4", "::1.2.3", "::1.2.3.256",
           "::1.2.3.4:5", "1:2:3:4:5:6:7:8:", ":1:2:3:4:5:6:7:8", "::1%eth0", "[::1]", "1:::2",
           "1.2.3.4::");
}

static void addresses(void **state) {
    (void)state;
    EXPECT("email", "a@b", "first.last+tag@example.org", "!#$%&'*+-/=?^_`{|}~@x.y", "\"a b\"@c.d",
           "\"\"@c", "\"a\\\"b\\\\\"@c", "\"@\"@c", "a@[1.2.3.4]", "a@[IPv6:::1]",
           "a@[ipV6:1:2:3:4:5:6:7:8]", X60 "xxxx@a", NULL, "", "a", "@", "a@", "@b", "a@b@c",
           ".a@b", "a.@b", "a..b@c", "a b@c", "a@b_c", "a@b.", "a@.b", "a@-b", "\"a@b", "\"a\"b@c",
           "\"a\"", "\"a\n\"@b", "\"\\\"@b", "a@[", "a@[]", "a@[1.2.3]", "a@[::1]", "a@[IPv6:1]",
           "a@[IPv6::::1]", "a@[1.2.3.4", "a@[IPv\x16:::1]", "a@[IPv6\x1a::1]", "\xc3\xa9@b",
           "\"\xc3\xa9\"@b", X60 "xxxxx@a");
}

static void uris(void **state) {
    (void)state;
    EXPECT("uri", "a:", "http://x", "http://u:p@h:80/p/q?r=/?#s/?", "urn:a:b", "file:///x",
           "x+y-z.1:%41", "http://[::1]:80/", "http://[v1f.a:b]", "http://h:", "a:/b", "a://",
           "http://a%20b/", "mailto:a@b", "a:?#", "a:b:c", "http://@h", "http://h//x//", NULL, "",
           ":", ":a", "a", "/a", "//h", "?q", "#f", "1a:b", "a_b:c", "\xc3\xa9:a", "a:b c", "a:%",
           "a:%4", "a:%4g", "a:\"", "a:<", "a:\\", "a:^", "a:`", "a:{", "a:|", "a:[", "a:\x7f",
           "a:#b#c", "http://[::1", "http://[::1]x", "http://[1.2.3.4]", "http://[v1]",
           "http://[v1.]", "http://[v.a]", "http://[v1.%41]", "http://a:b:c", "http://a@b@c",
           "http://h:8a", "http://h[", "a:\xc3\xa9", "http://[::1]:8a");
    EXPECT("uri-reference", "", "a", "/a", "//h", "//", "?q", "#f", "a/b:c", "./a:b", "..", "a:b",
           "*", "@", NULL, "1:b", "_:b", ":a", "a b", "\\", "#\\", "%", "[", "\xc3\xa9", "//h:x");
    EXPECT("iri", "http://\xc3\xa9/\xf0\x9f\x8e\xb2?\xee\x80\x80#\xc3\xa9", "a:\xc2\xa0",
           "a:\xf0\x90\x80\x80", "a:b", NULL, "\xc3\xa9:a", "a:\xc2\x80", "a:\xee\x80\x80",
           "a:#\xee\x80\x80", "a:\xef\xb7\x90", "a:\xef\xbf\xbd", "a:\xf0\x9f\xbf\xbe",
           "a:\xf3\xa0\x80\x81", "\xc3\xa9", "a:\xc3", "a:\xff", "a:\x80", "a:\xe2\x82", "a: ");
    EXPECT("iri-reference", "", "\xc3\xa9", "/\xc3\xa9", "//\xc3\xa9", "#\xc3\xa9", NULL, "\\",
           "\xc2\x80", "\xc3\xa9:b");
}

static void templates(void **state) {
    (void)state;
    EXPECT("uri-template", "", "a", "{a}", "x{a}y{b,c}z", "{+a}", "{#a,b}", "{.a}{/a}{;a}{?a}{&a}",
           "{a:1}", "{a:9999}", "{a*}", "{a:3,b*}", "{a.b_c.%41d}", "{=a}", "%41", "\xc3\xa9", "'",
           "[]", NULL, "{", "}", "{}", "{+}", "{a", "a}", "{a}}", "{{a}}", "{a,}", "{,a,}", "{a:0}",
           "{a:}", "{a:10000}", "{a:1*}", "{a**}", "{.}", "{a..b}", "{a.}", "{..a}", "{a b}",
           "{a-b}", "{\xc3\xa9}", "{%4}", "%", "%4", "a b", "\"", "<", ">", "\\", "^", "`", "|",
           "\t", "\x7f", "\xc2\x80", "\xc3");
}

static void identifiers(void **state) {
    (void)state;
    EXPECT("uuid", "01234567-89ab-cdef-ABCD-EF0123456789", NULL, "",
           "01234567-89ab-cdef-ABCD-EF012345678", "01234567-89ab-cdef-ABCD-EF01234567890",
           "01234567089ab-cdef-ABCD-EF0123456789", "0123456-789ab-cdef-ABCD-EF0123456789",
           "g1234567-89ab-cdef-ABCD-EF0123456789", "{1234567-89ab-cdef-ABCD-EF012345678}");
    EXPECT("json-pointer", "", "/", "/a/b", "//", "/~0~1", "/a~0", "/%", "/\xc3\xa9", NULL, "a",
           "#", "#/a", "/~", "/~2", "/a~", "/~~0", " /a");
    EXPECT("relative-json-pointer", "0", "1", "10", "0#", "12#", "0/", "1/a/~0", NULL, "", "#",
           "/a", "00", "01", "-1", "0#/a", "0##", "0a", "1/~", "1/~2", "1 ");
    EXPECT("regex", "", "a", "^[a-z]+$", "(?<n>a)\\k<n>", "(?<=a+)b", "[]", NULL, "(", "\\Z", "a++",
           "(?i)a", "[z-a]");
}

static void what_is_not_known(void **state) {
    (void)state;
    static const char *const names[] = {"", "dat", "date ", "Date", "date-time-", "idn-email"};
    for (size_t i = 0; i < LENGTH(names); i++)
        assert_null(dx__format_named(dx_str(names[i])));
    assert_null(dx__format_named(TEXT("date\0")));
}

/* Long texts that go on for as long as each format can be kept going. */
static void long_texts(void **state) {
    (void)state;
    static const char *const rows[][3] = {
        /* format, the beginning, what is repeated */
        {"time", "12:30:45.", "1"},
        {"duration", "P", "1"},
        {"email", "\"", "a"},
        {"email", "a", ".a"},
        {"hostname", "a", ".a"},
        {"ipv6", "::", "1:"},
        {"uri", "a:", "%41"},
        {"uri", "http://", "@"},
        {"uri", "http://", ":"},
        {"uri-reference", "", "//"},
        {"iri", "a:", "\xc3\xa9"},
        {"uri-template", "{a", ",a"},
        {"uri-template", "", "{"},
        {"json-pointer", "", "/~0"},
        {"relative-json-pointer", "1", "0"},
        {"regex", "", "("},
        {"regex", "", "(?<a>"},
        {"regex", "", "\\k<a>"},
        {"regex", "[", "\\p{L}"},
    };
    enum { LEN = 1000000 };
    char *text = malloc(LEN);
    assert_non_null(text);
    for (size_t i = 0; i < LENGTH(rows); i++) {
        const dx__format *format = dx__format_named(dx_str(rows[i][0]));
        size_t len = strlen(rows[i][1]);
        size_t more = strlen(rows[i][2]);
        memcpy(text, rows[i][1], len);
        for (; len + more < LEN; len += more)
            memcpy(text + len, rows[i][2], more);
        bool fits = format->fits((dx_text){text, len});
        text[len] = '\n';
        assert_true(!format->fits((dx_text){text, len + 1}) || fits);
    }
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dates),
        cmocka_unit_test(times),
        cmocka_unit_test(durations),
        cmocka_unit_test(hosts),
        cmocka_unit_test(addresses),
        cmocka_unit_test(uris),
        cmocka_unit_test(templates),
        cmocka_unit_test(identifiers),
        cmocka_unit_test(what_is_not_known),
        cmocka_unit_test(long_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
