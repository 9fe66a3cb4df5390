#include "hermes/hl7.h"

#define HEAD "MSH|^~\\&|APP|FAC|||20231215||ADT^A01|123|P|2.5.1"
#define SAMPLE \
    HEAD "\rPID|1||ID1^^^HOSP&1.2.3&ISO~ID2||DOE^JOHN^A\rOBX|1|ST|X||one\rOBX|2|ST|Y||\"\""

/* What was read comes out again, whatever it looks like behind the first separators. */
static void keeps_every_byte(void **state) {
    (void)state;
    static const char *const texts[] = {
        HEAD,
        HEAD "\r",
        SAMPLE,
        HEAD "\nPID|1\nOBX|1",
        HEAD "\r\nPID|1\r\nOBX|1\r\n",
        HEAD "\rPID|1\nOBX|1\r\nNK1",
        HEAD "\r\r\n\n\rPID|||\r\r",
        HEAD "\n\rPID",
        HEAD "\r garbage | without a name\r|\r|||x\rPIDX|1\rZZ",
        HEAD "\rPID|a\\T\\b|\\|\\\\|\\Zxx\\|tail   ",
        "MSH|^~\\&",
        "MSH|^~\\&|",
        "MSH|^~\\&#|truncation",
        "MSH|^~ &|x\rPID|a&b",
        "MSH|^~&|x\rPID|a&b",
        HEAD "\r  PID|1\r\t MSH|x",
        "MSH#*!?@#APP#FAC\rPID#1##A*B!C",
        "MSH|^",
        "MSH|^~|x~y",
        "MSH|^|x",
        HEAD "\rPID|\x80\xff|\xc3",
    };
    for (size_t i = 0; i < LENGTH(texts); i++) {
        dx_hl7 *hl7 = hl7_of(texts[i]);
        hl7_expect(hl7, texts[i]);
        dx_hl7_free(hl7);
    }
    dx_text with_nul = TEXT("MSH|^~\\&|a\0b\rPID|\0");
    dx_hl7 *hl7 = hl7_of_text(with_nul, 0);
    dx_buf out;
    dx_buf_init(&out, 100, NULL);
    assert_int_equal(dx_hl7_write(hl7, &out), DX_OK);
    unit_same((dx_text){out.data, out.len}, with_nul);
    dx_buf_done(&out);
    dx_hl7_free(hl7);
    assert_null(dx_hl7_free(NULL));
}

/* Seven real files have ^~& and one has ^~ &: what is left keeps its meaning. */
static void reads_what_lost_its_escape_character(void **state) {
    (void)state;
    static const char *const marks[] = {"^~&", "^~ &", "^~\\&"};
    for (size_t i = 0; i < LENGTH(marks); i++) {
        char text[100];
        dx_text raw;
        snprintf(text, sizeof text, "MSH|%s|A\r PID|1||a&b^c~d\\T\\e", marks[i]);
        dx_hl7 *hl7 = hl7_of(text);
        assert_int_equal(dx_hl7_warning(hl7) == NULL, i == 2);
        assert_int_equal(dx_hl7_get(hl7, dx_str("PID.3.1.2"), &raw), DX_OK);
        unit_same(raw, dx_str("b"));
        assert_int_equal(dx_hl7_get(hl7, dx_str("PID.3[2]"), &raw), DX_OK);
        unit_same(raw, dx_str("d\\T\\e"));
        for (dx_hl7_format format = DX_HL7_JSON; format <= DX_HL7_TOML; format++) {
            dx_hl7_config config = dx_hl7_defaults();
            dx_hl7 *again = NULL;
            dx_error error;
            char *exported = hl7_exported(hl7, format, DX_HL7_SEGMENTS);
            assert_int_equal(
                dx_hl7_import_like(&config, dx_str(exported), format, hl7, &again, &error), DX_OK);
            hl7_expect(again, text);
            dx_hl7_free(again);
            free(exported);
        }
        dx_hl7_free(hl7);
    }
    dx_hl7 *hl7 = hl7_of("MSH|^~|A");
    assert_null(dx_hl7_warning(hl7));
    dx_hl7_free(hl7);
}

static void counts_lines(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t count;
    } rows[] = {
        {HEAD, 1},           {HEAD "\r", 1},         {HEAD "\r\n\r\n", 1},
        {HEAD "\rA\nB", 3},  {HEAD "\r\nA\r\nB", 3}, {HEAD "\n\rA", 2},
        {HEAD "\r|\r||", 3},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        dx_hl7 *hl7 = hl7_of(rows[i].text);
        assert_int_equal(dx_hl7_segments(hl7), rows[i].count);
        dx_hl7_free(hl7);
    }
}

static void says_why_it_is_no_message(void **state) {
    (void)state;
    static const struct {
        const char *text;
        const char *phrase;
    } rows[] = {
        {"", "Message is empty"},
        {" \r\n ", "Message must start with MSH segment"},
        {"PID|1", "Message must start with MSH segment"},
        {"MS", "Message must start with MSH segment"},
        {"msh|^~\\&|", "Message must start with MSH segment"},
        {" MSH|^~\\&|", "Message must start with MSH segment"},
        {"MSH", "Invalid HL7 message: MSH has too few separators"},
        {"MSH|", "Invalid HL7 message: MSH has too few separators"},
        {"MSH||x", "Invalid HL7 message: MSH has too few separators"},
        {"MSH|\rPID|1", "Invalid HL7 message: MSH has too few separators"},
        {"MSH|^^\\&", "Invalid HL7 message: two separators in MSH are the same"},
        {"MSH|^~\\^|", "Invalid HL7 message: two separators in MSH are the same"},
        {"MSHA^~\\&", "Invalid HL7 message: a separator in MSH is not a printable ASCII character"},
        {"MSH|^~\\\xc3\xa9",
         "Invalid HL7 message: a separator in MSH is not a printable ASCII character"},
        {"MSH|^ \\&", "Invalid HL7 message: a separator in MSH is not a printable ASCII character"},
        {"MSH|^\t\\&",
         "Invalid HL7 message: a separator in MSH is not a printable ASCII character"},
    };
    dx_hl7_config config = dx_hl7_defaults();
    for (size_t i = 0; i < LENGTH(rows); i++) {
        dx_hl7 *hl7 = NULL;
        dx_error error = {.phrase = ""};
        assert_int_equal(dx_hl7_new(&config, dx_str(rows[i].text), &hl7, &error), DX_MISFIT);
        assert_string_equal(error.phrase, rows[i].phrase);
        assert_string_equal(error.place, "message");
        assert_null(hl7);
        assert_int_equal(dx_hl7_new(&config, dx_str(rows[i].text), &hl7, NULL), DX_MISFIT);
    }
    assert_int_equal(dx_hl7_new(&config, (dx_text){NULL, 0}, &(dx_hl7 *){NULL}, NULL), DX_MISFIT);
}

/* The editor wants five separators; here the last ones may be missing. */
static void exact_wants_five_separators(void **state) {
    (void)state;
    static const char *const few[] = {"MSH|^|x", "MSH|^~|x", "MSH|^~\\|x", "MSH|^~\\"};
    dx_hl7_config config = dx_hl7_defaults();
    for (size_t i = 0; i < LENGTH(few); i++) {
        dx_hl7 *hl7 = NULL;
        config.exact = 1;
        assert_int_equal(dx_hl7_new(&config, dx_str(few[i]), &hl7, NULL), DX_MISFIT);
        config.exact = 0;
        assert_int_equal(dx_hl7_new(&config, dx_str(few[i]), &hl7, NULL), DX_OK);
        dx_hl7_free(hl7);
    }
}

/* NULL: the message has no such place. */
struct get {
    const char *path;
    const char *raw;
};

static void check_gets(const char *text, const struct get *rows, size_t count) {
    dx_hl7 *hl7 = hl7_of(text);
    for (size_t i = 0; i < count; i++) {
        dx_text raw = {"?", 1};
        assert_int_equal(dx_hl7_get(hl7, dx_str(rows[i].path), &raw), DX_OK);
        if (!rows[i].raw != !raw.at || (raw.at && !dx_text_is(raw, rows[i].raw)))
            print_error("%s\n", rows[i].path);
        if (rows[i].raw)
            unit_same(raw, dx_str(rows[i].raw));
        else
            assert_null(raw.at);
    }
    dx_hl7_free(hl7);
}

static void gets_what_a_path_names(void **state) {
    (void)state;
    static const struct get rows[] = {
        {"MSH.1", "|"},
        {"MSH.2", "^~\\&"},
        {"MSH.2.1", "^~\\&"},
        {"MSH.2.2", NULL},
        {"MSH.1[2]", NULL},
        {"MSH.3", "APP"},
        {"MSH.9", "ADT^A01"},
        {"MSH.9.2", "A01"},
        {"MSH.12", "2.5.1"},
        {"MSH.13", NULL},
        {"MSH[2].3", NULL},
        {"PID", "PID|1||ID1^^^HOSP&1.2.3&ISO~ID2||DOE^JOHN^A"},
        {"PID.1", "1"},
        {"PID.2", ""},
        {"PID.3", "ID1^^^HOSP&1.2.3&ISO~ID2"},
        {"PID.3[1]", "ID1^^^HOSP&1.2.3&ISO"},
        {"PID.3[2]", "ID2"},
        {"PID.3[3]", NULL},
        {"PID.3.1", "ID1"},
        {"PID.3.4", "HOSP&1.2.3&ISO"},
        {"PID.3.4.2", "1.2.3"},
        {"PID.3.4.4", NULL},
        {"PID.3.5", NULL},
        {"PID-3[2].1", "ID2"},
        {"PID 3 4 3", "ISO"},
        {"PID-3.4-1", "HOSP"},
        {"PID[1].5.2", "JOHN"},
        {"PID[01].05.02", "JOHN"},
        {"PID.5.1.1", "DOE"},
        {"PID.6", NULL},
        {"PID[2].5", NULL},
        {"OBX[2].5", "\"\""},
        {"OBX[2].3", "Y"},
        {"OBX.5", "one"},
        {"OBX[3].5", NULL},
        {"OBX[2]", "OBX|2|ST|Y||\"\""},
        {"ZZZ.1", NULL},
        {"pid.5", NULL},
    };
    check_gets(SAMPLE, rows, LENGTH(rows));
}

static void gets_with_other_separators(void **state) {
    (void)state;
    static const struct get rows[] = {
        {"MSH.1", "#"},     {"MSH.2", "*!?@"}, {"MSH.3", "APP"},
        {"PID.1", "a|b^c"}, {"PID.2.2", "y"},  {"PID.2[2].1.2", "q"},
    };
    check_gets("MSH#*!?@#APP\nPID#a|b^c#x*y!p@q", rows, LENGTH(rows));
    static const struct get few[] = {
        {"MSH.2", "^"},     {"PID.1", "a~b&c\\d"}, {"PID.1[1]", "a~b&c\\d"},
        {"PID.1[2]", NULL}, {"PID.2.2", "y"},      {"PID.2.2.2", NULL},
    };
    check_gets("MSH|^|APP\nPID|a~b&c\\d|x^y", few, LENGTH(few));
    static const struct get odd[] = {
        {"NK1", "NK1"},
        {"NK1.1", NULL},
        {"\xc3\x85ZZ.1", "x"},
        {"PID.1", NULL},
    };
    check_gets("MSH|^~\\&\rNK1\r\xc3\x85ZZ|x\rPI|1\rPIDX|1", odd, LENGTH(odd));
}

static void refuses_what_is_no_path(void **state) {
    (void)state;
    static const char *const paths[] = {
        "",
        "P",
        "PI",
        "P.1",
        "PIDX.5",
        "PID.",
        "PID.0",
        "PID.5.",
        "PID.5.0",
        "PID.5.1x",
        "PID.5.1.1.1",
        "PID[0].5",
        "PID[].5",
        "PID[1.5",
        "PID[1]5",
        "PID.5[0]",
        "PID.5[1",
        "PID.5.1[2]",
        "PID/5",
        "PID.5 ",
        " PID.5",
        "PID..5",
        "PID.-5",
        "PID.+5",
        "PI|.5",
        "PID.1000000",
        "PID[1000000]",
        "P\xc3.1",
        "PID.99999999999999999999999999",
        "PID.5.18446744073709551617",
        "\xe0\x81\x81ZZ.1",
        "\xf4\x90\x80\x80ZZ.1",
        "\xc3ZZZ.1",
        "\xed\xa0\x80ZZ.1",
    };
    dx_hl7 *hl7 = hl7_of(SAMPLE);
    for (size_t i = 0; i < LENGTH(paths); i++) {
        dx_text raw;
        if (dx_hl7_get(hl7, dx_str(paths[i]), &raw) != DX_MISFIT)
            print_error("%s\n", paths[i]);
        assert_int_equal(dx_hl7_get(hl7, dx_str(paths[i]), &raw), DX_MISFIT);
    }
    dx_text raw;
    assert_int_equal(dx_hl7_get(hl7, (dx_text){NULL, 0}, &raw), DX_MISFIT);
    assert_int_equal(dx_hl7_get(hl7, dx_str("PID.999999[999999].999999.999999"), &raw), DX_OK);
    dx_hl7_free(hl7);
}

static void check_text(const char *text, const char *path, const char *expected) {
    dx_hl7 *hl7 = hl7_of(text);
    dx_buf out;
    dx_buf_init(&out, 1000, NULL);
    assert_int_equal(dx_hl7_get_text(hl7, dx_str(path), &out), DX_OK);
    unit_same((dx_text){out.data, out.len}, dx_str(expected));
    dx_buf_done(&out);
    dx_hl7_free(hl7);
}

static void resolves_escapes(void **state) {
    (void)state;
    static const struct get rows[] = {
        {"plain", "plain"},
        {"\\F\\\\S\\\\T\\\\R\\", "|^&~"},
        {"a\\T\\b", "a&b"},
        {"\\E\\", "\\E\\"},
        {"\\X0D\\\\X0A\\", "\\X0D\\\\X0A\\"},
        {"\\X09\\", "\\X09\\"},
        {"\\X\\", "\\X\\"},
        {"\\X0\\", "\\X0\\"},
        {"\\H\\bold\\N\\ \\.br\\", "\\H\\bold\\N\\ \\.br\\"},
        {"\\E\\.br\\E\\", "\\E\\.br\\E\\"},
        {"\\E\\F\\E\\", "\\E\\F\\E\\"},
        {"\\f\\", "\\f\\"},
        {"\\", "\\"},
        {"a\\b", "a\\b"},
        {"\\\\", "\\\\"},
        {"\\\\F\\", "\\|"},
        {"\\Zx\\\\F\\", "\\Zx\\|"},
        {"\"\"", "\"\""},
        {"", ""},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        char text[200];
        snprintf(text, sizeof text, "MSH|^~\\&|\rPID|%s", rows[i].path);
        check_text(text, "PID.1", rows[i].raw);
    }
    check_text("MSH#*!?@#\rPID#?F??S?\\F\\", "PID.1", "#*\\F\\");
    check_text("MSH|^|\rPID|\\F\\", "PID.1", "\\F\\");
    check_text("MSH|^~|\rPID|\\F\\", "PID.1", "\\F\\");
    check_text("MSH|^~\\|\rPID|\\F\\\\T\\", "PID.1", "|\\T\\");
    check_text(SAMPLE, "MSH.2", "^~\\&");
    check_text(SAMPLE, "PID.99", "");
    check_text("MSH|^~\\&|\rPID|\\F\\", "PID", "PID|\\F\\");
}

/* Setting what was read changes nothing, and escape sequences can be written. */
static void takes_back_what_it_gives(void **state) {
    (void)state;
    static const char *const raws[] = {
        "line one\\.br\\line two",
        "\\H\\bold\\N\\",
        "\\Z1a\\",
        "\\X09\\",
        "\\X0D0A\\",
        "\\C2842\\",
        "\\M242442\\",
        "\\P\\",
        "\\.sp3\\",
        "\\.sp +3\\",
        "\\.in-4\\",
        "\\.sk 2\\",
        "\\E\\",
        "\\E\\.br\\E\\",
        "\\E\\F\\E\\",
        "C:\\temp",
        "C:\\dir\\file",
        "\\",
        "\\\\",
        "\\\\F\\",
        "\\X0\\",
        "a\\F\\b\\S\\c\\T\\d\\R\\e",
        "\\f\\",
        "\\F",
        "F\\",
        "\"\"",
        "",
        "\\.br",
        "\\Z\\",
        "\xe4\\F\\",
    };
    for (size_t i = 0; i < LENGTH(raws); i++) {
        char text[200];
        char expected[200];
        snprintf(text, sizeof text, "MSH|^~\\&|\rPID|1|%s|3", raws[i]);
        dx_hl7 *hl7 = hl7_of(text);
        dx_buf value;
        dx_buf_init(&value, 1000, NULL);
        assert_int_equal(dx_hl7_get_text(hl7, dx_str("PID.2"), &value), DX_OK);
        dx_hl7_patch patch = {.path = dx_str("PID.2"), .value = {value.data, value.len}};
        assert_int_equal(dx_hl7_apply(hl7, &patch, NULL), DX_OK);
        hl7_expect(hl7, text);
        /* As it is written, which is what json has. */
        patch.value = dx_str(raws[i]);
        assert_int_equal(dx_hl7_apply(hl7, &patch, NULL), DX_OK);
        hl7_expect(hl7, text);
        /* Twice elsewhere is the same as once. */
        patch = (dx_hl7_patch){.path = dx_str("PID.1"), .value = {value.data, value.len}};
        assert_int_equal(dx_hl7_apply(hl7, &patch, NULL), DX_OK);
        char *once = hl7_text(hl7);
        value.len = 0;
        assert_int_equal(dx_hl7_get_text(hl7, dx_str("PID.1"), &value), DX_OK);
        patch.value = (dx_text){value.data, value.len};
        assert_int_equal(dx_hl7_apply(hl7, &patch, NULL), DX_OK);
        snprintf(expected, sizeof expected, "%s", once);
        hl7_expect(hl7, expected);
        free(once);
        dx_buf_done(&value);
        dx_hl7_free(hl7);
    }
}

static void escapes_what_is_no_sequence(void **state) {
    (void)state;
    static const struct get rows[] = {
        {"line\\.br\\two", "line\\.br\\two"},
        {"C:\\temp", "C:\\E\\temp"},
        {"C:\\dir\\file", "C:\\E\\dir\\E\\file"},
        {"a|b", "a\\F\\b"},
        {"\\F\\|", "\\F\\\\F\\"},
        {"\\E\\F\\E\\", "\\E\\F\\E\\"},
        {"\\", "\\E\\"},
        {"\\\\", "\\E\\\\E\\"},
        {"\\X0\\", "\\E\\X0\\E\\"},
        {"\\X0g\\", "\\E\\X0g\\E\\"},
        {"\\.b\\", "\\E\\.b\\E\\"},
        {"\\.br+\\", "\\E\\.br+\\E\\"},
        {"\\H\\|\r", "\\H\\\\F\\\\X0D\\"},
        {"\\ |\\", "\\E\\ \\F\\\\E\\"},
        {"\\C12\\", "\\E\\C12\\E\\"},
        {"\\FF\\", "\\E\\FF\\E\\"},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        char expected[200];
        dx_hl7 *hl7 = hl7_of("MSH|^~\\&|\rPID|1");
        dx_hl7_patch patch = {.path = dx_str("PID.1"), .value = dx_str(rows[i].path)};
        assert_int_equal(dx_hl7_apply(hl7, &patch, NULL), DX_OK);
        snprintf(expected, sizeof expected, "MSH|^~\\&|\rPID|%s", rows[i].raw);
        hl7_expect(hl7, expected);
        dx_hl7_free(hl7);
    }
    /* Without an escape character a backslash is text. */
    dx_hl7 *hl7 = hl7_of("MSH|^~|\rPID|1");
    dx_hl7_patch patch = {.path = dx_str("PID.1"), .value = dx_str("C:\\F\\x")};
    assert_int_equal(dx_hl7_apply(hl7, &patch, NULL), DX_OK);
    hl7_expect(hl7, "MSH|^~|\rPID|C:\\F\\x");
    dx_hl7_free(hl7);
}

static void escape_text_is_all_or_nothing(void **state) {
    (void)state;
    dx_hl7 *hl7 = hl7_of("MSH|^~\\&|\rPID|abc\\F\\def\\Zz\\g");
    for (size_t max = 0; max <= 14; max++) {
        dx_buf out;
        dx_buf_init(&out, max + 1, NULL);
        assert_int_equal(dx_buf_append(&out, "<", 1), DX_OK);
        dx_status status = dx_hl7_get_text(hl7, dx_str("PID.1"), &out);
        assert_int_equal(status, max < 12 ? DX_ERR_LIMIT : DX_OK);
        if (status == DX_OK)
            assert_text(((dx_text){out.data, out.len}), "<abc|def\\Zz\\g");
        else
            assert_int_equal(out.len, 1);
        dx_buf_done(&out);
    }
    dx_hl7_free(hl7);
}

static void names_formats(void **state) {
    (void)state;
    dx_hl7_format format = DX_HL7_TOML;
    assert_int_equal(dx_hl7_format_named(dx_str("hl7"), &format), DX_OK);
    assert_int_equal(format, DX_HL7_TEXT);
    assert_int_equal(dx_hl7_format_named(dx_str("json"), &format), DX_OK);
    assert_int_equal(format, DX_HL7_JSON);
    assert_int_equal(dx_hl7_format_named(dx_str("yaml"), &format), DX_OK);
    assert_int_equal(format, DX_HL7_YAML);
    assert_int_equal(dx_hl7_format_named(dx_str("toml"), &format), DX_OK);
    assert_int_equal(format, DX_HL7_TOML);
    static const char *const others[] = {"HL7", "Json", "xml", "", "jso", "json "};
    for (size_t i = 0; i < LENGTH(others); i++)
        assert_int_equal(dx_hl7_format_named(dx_str(others[i]), &format), DX_MISFIT);
}

/* All parts that a walk has, as "1:text,2:text"; what an inner walk gives is in brackets. */
static void put_walk(dx_hl7_walk *walk, int depth, dx_buf *out) {
    for (bool first = true; dx_hl7_next(walk); first = false) {
        char number[32];
        snprintf(number, sizeof number, "%s%zu:", first ? "" : ",", walk->number);
        assert_int_equal(dx_buf_append(out, number, strlen(number)), DX_OK);
        if (!depth) {
            assert_int_equal(dx_buf_append(out, walk->text.at, walk->text.len), DX_OK);
            continue;
        }
        dx_hl7_walk inner;
        dx_hl7_inside(walk, &inner);
        unit_same(inner.name, walk->name);
        dx_buf_append(out, "(", 1);
        put_walk(&inner, depth - 1, out);
        dx_buf_append(out, ")", 1);
    }
    assert_int_equal(dx_hl7_next(walk), 0);
}

static void walks(const dx_hl7 *hl7, const char *path, int depth, const char *expected) {
    dx_hl7_walk walk;
    size_t count = SIZE_MAX;
    dx_buf out;
    dx_buf_init(&out, SIZE_MAX / 4, NULL);
    assert_int_equal(dx_hl7_walk_at(hl7, dx_str(path), &walk), DX_OK);
    put_walk(&walk, depth, &out);
    unit_same((dx_text){out.data, out.len}, dx_str(expected));
    assert_int_equal(dx_hl7_count(hl7, dx_str(path), &count), DX_OK);
    assert_int_equal(count, walk.number);
    dx_buf_done(&out);
}

static void walks_over_all_parts(void **state) {
    (void)state;
    dx_hl7 *hl7 = hl7_of("MSH|^~\\&|A\rPID|1||a&b^c~^d~||\rbad line\rNK1\r OBX|1\rZZ|x\rOBX|2|");
    walks(hl7, "", 0,
          "1:MSH|^~\\&|A,2:PID|1||a&b^c~^d~||,3:bad line,4:NK1,5: OBX|1,6:ZZ|x,7:OBX|2|");
    walks(hl7, "OBX", 0, "1: OBX|1,2:OBX|2|");
    walks(hl7, "OBX", 1, "1:(1:1),2:(1:2,2:)");
    walks(hl7, "MSH[1]", 0, "1:|,2:^~\\&,3:A");
    walks(hl7, "MSH", 4, "1:(1:(1:(1:(1:|))),2:(1:(1:(1:^~\\&))),3:(1:(1:(1:A))))");
    walks(hl7, "MSH.2", 0, "1:^~\\&");
    walks(hl7, "MSH.2.1", 0, "1:^~\\&");
    walks(hl7, "MSH.2.2", 0, "");
    walks(hl7, "PID[1]", 0, "1:1,2:,3:a&b^c~^d~,4:,5:");
    walks(hl7, "PID.3", 0, "1:a&b^c,2:^d,3:");
    walks(hl7, "PID.3", 2, "1:(1:(1:a,2:b),2:(1:c)),2:(1:(1:),2:(1:d)),3:(1:(1:))");
    walks(hl7, "PID.3[2]", 0, "1:,2:d");
    walks(hl7, "PID.3.1", 0, "1:a,2:b");
    walks(hl7, "PID.3[2].2", 0, "1:d");
    walks(hl7, "PID.3.1.2", 0, "");
    walks(hl7, "PID.2", 0, "1:"); /* empty */
    static const char *const absent[] = {"PID.6",  "PID.3[4]", "PID.3.3", "PID[2]", "PV1",
                                         "PV1[1]", "PV1.1",    "NK1[1]",  "NK1.1"};
    for (size_t i = 0; i < LENGTH(absent); i++)
        walks(hl7, absent[i], 0, "");
    static const char *const wrong[] = {"PI", "PID.0", "PID.5x", "OBX[0]", "PID.1.1.1.1", "?"};
    for (size_t i = 0; i < LENGTH(wrong); i++) {
        dx_hl7_walk walk;
        size_t count;
        assert_int_equal(dx_hl7_walk_at(hl7, dx_str(wrong[i]), &walk), DX_MISFIT);
        assert_int_equal(dx_hl7_count(hl7, dx_str(wrong[i]), &count), DX_MISFIT);
    }
    dx_hl7_free(hl7);
}

/* Every part has the path that its numbers say, and the value that is read there. */
static void walks_as_paths_lead(void **state) {
    (void)state;
    dx_hl7 *hl7 = hl7_of(SAMPLE "|a\\T\\b\\.br\\");
    dx_hl7_walk segment, field, repetition, component;
    size_t parts = 0;
    static const char *const names[] = {"MSH", "PID", "OBX"};
    for (size_t i = 0; i < LENGTH(names); i++) {
        assert_int_equal(dx_hl7_walk_at(hl7, dx_str(names[i]), &segment), DX_OK);
        while (dx_hl7_next(&segment))
            for (dx_hl7_inside(&segment, &field); dx_hl7_next(&field);)
                for (dx_hl7_inside(&field, &repetition); dx_hl7_next(&repetition);)
                    for (dx_hl7_inside(&repetition, &component); dx_hl7_next(&component);) {
                        char path[100];
                        dx_text raw;
                        dx_buf value, same;
                        dx_buf_init(&value, 1000, NULL);
                        dx_buf_init(&same, 1000, NULL);
                        snprintf(path, sizeof path, "%s[%zu].%zu[%zu].%zu", names[i],
                                 segment.number, field.number, repetition.number, component.number);
                        assert_int_equal(dx_hl7_get(hl7, dx_str(path), &raw), DX_OK);
                        unit_same(component.text, raw);
                        assert_int_equal(dx_hl7_value(hl7, raw, &value), DX_OK);
                        assert_int_equal(dx_hl7_get_text(hl7, dx_str(path), &same), DX_OK);
                        unit_same((dx_text){value.data, value.len}, (dx_text){same.data, same.len});
                        dx_buf_done(&value);
                        dx_buf_done(&same);
                        parts++;
                    }
    }
    assert_int_equal(parts, 35);
    dx_hl7_free(hl7);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(walks_over_all_parts),
        cmocka_unit_test(walks_as_paths_lead),
        cmocka_unit_test(keeps_every_byte),
        cmocka_unit_test(reads_what_lost_its_escape_character),
        cmocka_unit_test(counts_lines),
        cmocka_unit_test(says_why_it_is_no_message),
        cmocka_unit_test(exact_wants_five_separators),
        cmocka_unit_test(gets_what_a_path_names),
        cmocka_unit_test(gets_with_other_separators),
        cmocka_unit_test(refuses_what_is_no_path),
        cmocka_unit_test(resolves_escapes),
        cmocka_unit_test(takes_back_what_it_gives),
        cmocka_unit_test(escapes_what_is_no_sequence),
        cmocka_unit_test(escape_text_is_all_or_nothing),
        cmocka_unit_test(names_formats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
