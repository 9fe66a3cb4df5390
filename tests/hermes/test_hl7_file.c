/* Files as they come: where the message lies, how it is encoded, and that all of it comes back. */
#include "hermes/hl7.h"

#include "systems/hermes/hl7_parts.h"

#include <iconv.h>

/* MSH with this MSH.18. */
#define MSH(charset) "MSH|^~\\&|A|B|C|D|2024||ADT^A01|1|P|2.5||||||" charset "\r"

struct opened {
    dx_hl7_file *file;
    dx_buf text;
    dx_error error;
    dx_status status;
};

static struct opened read_file(dx_text bytes, const char *encoding, size_t message) {
    struct opened opened = {.file = NULL};
    dx_hl7_file_config config = dx_hl7_file_defaults();
    config.encoding = encoding;
    config.message = message;
    dx_buf_init(&opened.text, SIZE_MAX / 4, NULL);
    opened.status = dx_hl7_file_read(&config, bytes, &opened.text, &opened.file, &opened.error);
    return opened;
}

static dx_text text_of(const struct opened *opened) {
    return (dx_text){opened->text.data ? opened->text.data : "", opened->text.len};
}

static void done(struct opened *opened) {
    dx_hl7_file_free(opened->file);
    dx_buf_done(&opened->text);
}

/* The file with that text in place of the message. */
static void expect_written(struct opened *opened, dx_text text, dx_text expected) {
    dx_buf out;
    dx_buf_init(&out, SIZE_MAX / 4, NULL);
    assert_int_equal(dx_hl7_file_write(opened->file, text, NULL, &opened->error), DX_OK);
    assert_int_equal(dx_hl7_file_write(opened->file, text, &out, &opened->error), DX_OK);
    unit_same((dx_text){out.data, out.len}, expected);
    dx_buf_done(&out);
}

/* Read, and written back as it was. */
static struct opened open_file(dx_text bytes, const char *encoding, size_t message) {
    struct opened opened = read_file(bytes, encoding, message);
    if (opened.status != DX_OK)
        print_error("not read: %s\n", opened.error.phrase);
    assert_int_equal(opened.status, DX_OK);
    expect_written(&opened, text_of(&opened), bytes);
    return opened;
}

static void refuses(dx_text bytes, const char *encoding, size_t message, const char *place,
                    const char *phrase) {
    struct opened opened = read_file(bytes, encoding, message);
    assert_int_equal(opened.status, DX_MISFIT);
    assert_string_equal(opened.error.phrase, phrase);
    assert_string_equal(opened.error.place, place);
    assert_int_equal(opened.text.len, 0);
    done(&opened);
    dx_hl7_file_config config = dx_hl7_file_defaults();
    config.encoding = encoding;
    config.message = message;
    dx_buf text;
    dx_buf_init(&text, SIZE_MAX / 4, NULL);
    assert_int_equal(dx_hl7_file_read(&config, bytes, &text, &opened.file, NULL), DX_MISFIT);
    dx_buf_done(&text);
}

#define ONE "MSH|^~\\&|A\rPID|1\r"
#define TWO "MSH#*!?@#B\rPID#2\r"
#define EURO "\xe2\x82\xac"
#define BOM "\xef\xbb\xbf"

/* What is before and behind the message stays, whatever the message becomes. */
static void finds_the_message(void **state) {
    (void)state;
    static const struct {
        dx_text before;
        dx_text text;
        dx_text behind;
        size_t message;
        size_t messages;
    } rows[] = {
        {TEXT(""), TEXT(ONE), TEXT(""), 0, 1},
        {TEXT(""), TEXT("MSH|^~\\&|A"), TEXT(""), 1, 1},
        {TEXT("\r\n\r\n \t\n"), TEXT(ONE "\r\n"), TEXT(""), 0, 1},
        {TEXT("\r\n  "), TEXT(ONE), TEXT(""), 0, 1},
        {TEXT(BOM), TEXT(ONE), TEXT(""), 0, 1},
        {TEXT(BOM "\r\n\x0b"), TEXT(ONE), TEXT("\x1c\r"), 0, 1},
        {TEXT("\x0b"), TEXT(ONE), TEXT("\x1c\r"), 0, 1},
        {TEXT("\x0b"), TEXT(ONE), TEXT("\x1c"), 0, 1},
        {TEXT("\x0b"), TEXT("MSH|^~\\&|A\rPID|1"), TEXT("\x1c\r"), 0, 1},
        {TEXT("\x0b"), TEXT(ONE), TEXT("\x1c\r\n\x0b" TWO "\x1c\r\n"), 0, 2},
        {TEXT("\x0b" ONE "\x1c\r\x0b"), TEXT(TWO), TEXT("\x1c\r"), 2, 2},
        {TEXT("\x0b" ONE "\x1c\x0b"), TEXT(TWO), TEXT("\x1c"), 2, 2},
        {TEXT("\x0b" ONE "\x0b"), TEXT(TWO), TEXT(""), 2, 2},
        /* 0x1C ends a message without 0x0B only if nothing of it follows */
        {TEXT(""), TEXT(ONE), TEXT("\x1c\r"), 0, 1},
        {TEXT(""), TEXT(ONE), TEXT("\x1c\r\r\n" TWO), 0, 2},
        {TEXT(""), TEXT(ONE "OBX|a\x1c\rNK1|\x1c"), TEXT("\x1c"), 0, 1},
        {TEXT(""),
         TEXT(ONE "OBX|a\x1c"
                  "b\r"),
         TEXT(""), 0, 1},
        {TEXT("\x0b"),
         TEXT(ONE "OBX|a\x1c"
                  "b\r"),
         TEXT("\x1c\rOBX|3\r"), 0, 1},
        /* one after the other, with other separators and line ends */
        {TEXT(""), TEXT(ONE), TEXT(TWO), 0, 2},
        {TEXT(ONE), TEXT(TWO), TEXT(""), 2, 2},
        {TEXT("MSH|^~\\&|A\nPID|1\n\n"), TEXT(TWO "\r\n"), TEXT(" \tMSH|^~\\&|C"), 2, 3},
        {TEXT(ONE BOM), TEXT(TWO), TEXT(""), 2, 2},
        {TEXT(ONE TWO), TEXT("MSH|^~\\&|C"), TEXT(""), 3, 3},
        {TEXT(""), TEXT(ONE "MSH\rMSHX|1\rMSH 1\rXMSH|\r"), TEXT(""), 0, 1},
        /* batches and files */
        {TEXT("FHS|^~\\&|F\rBHS|^~\\&|B\r"), TEXT(ONE), TEXT(TWO "BTS|2\rFTS|1\r"), 1, 2},
        {TEXT("FHS|^~\\&|F\rBHS|^~\\&|B\r" ONE), TEXT(TWO), TEXT("BTS|2\rFTS|1\r"), 2, 2},
        {TEXT("BHS#*!?@#B\r\n\r\n"), TEXT(ONE), TEXT("BTS\r\nBHS|\r\n" TWO), 0, 2},
        {TEXT("\x0b"
              "FHS|^~\\&\r"),
         TEXT(ONE), TEXT("FTS"), 0, 1},
        {TEXT(""), TEXT(ONE "BTSX|1\rBT\rBTS1\r"), TEXT(""), 0, 1},
        /* no message at all */
        {TEXT(""), TEXT(""), TEXT(""), 0, 0},
        {TEXT(""), TEXT("hello \xc3\xa4\n"), TEXT(""), 0, 0},
        {TEXT(BOM), TEXT("hello"), TEXT(""), 0, 0},
        {TEXT(""), TEXT("FHS|^~\\&\rFTS|0\r"), TEXT(""), 0, 0},
        {TEXT(""), TEXT("MSH"), TEXT(""), 0, 0},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        char bytes[200];
        char other[200];
        size_t len = 0;
        dx_text parts[] = {rows[i].before, rows[i].text, rows[i].behind};
        for (size_t k = 0; k < 3; k++) {
            memcpy(bytes + len, parts[k].at, parts[k].len);
            len += parts[k].len;
        }
        struct opened opened = open_file((dx_text){bytes, len}, NULL, rows[i].message);
        unit_same(text_of(&opened), rows[i].text);
        assert_int_equal(dx_hl7_file_messages(opened.file), rows[i].messages);
        assert_null(dx_hl7_file_warning(opened.file));
        memcpy(other, bytes, rows[i].before.len);
        memcpy(other + rows[i].before.len, "x" EURO, 4);
        memcpy(other + rows[i].before.len + 4, rows[i].behind.at, rows[i].behind.len);
        expect_written(&opened, TEXT("x" EURO), (dx_text){other, len - rows[i].text.len + 4});
        done(&opened);
    }
    struct opened opened = open_file(TEXT("From: me\n\n" ONE), NULL, 0);
    assert_text(text_of(&opened), ONE);
    assert_string_equal(dx_hl7_file_warning(opened.file),
                        "the text before the first message is not HL7; it is kept");
    done(&opened);
    assert_null(dx_hl7_file_free(NULL));
}

static void a_message_must_be_there(void **state) {
    (void)state;
    refuses(TEXT(ONE TWO), NULL, 3, "message", "there is no message 3: the file has 2");
    refuses(TEXT("FHS|\r"), NULL, 1, "message", "there is no message 1: the file has 0");
    refuses(TEXT(""), NULL, 1, "message", "there is no message 1: the file has 0");
    refuses(TEXT("\xff\xfeM\0"), NULL, 2, "message", "there is no message 2: the file has 0");
}

/* Each set of single bytes: what iconv() makes of it, and what it does not have. */
static void knows_each_character_set(void **state) {
    (void)state;
    static const char *const sets[][2] = {
        {"8859/1", "ISO-8859-1"},   {"8859/2", "ISO-8859-2"},   {"8859/3", "ISO-8859-3"},
        {"8859/4", "ISO-8859-4"},   {"8859/5", "ISO-8859-5"},   {"8859/6", "ISO-8859-6"},
        {"8859/7", "ISO-8859-7"},   {"8859/8", "ISO-8859-8"},   {"8859/9", "ISO-8859-9"},
        {"8859/15", "ISO-8859-15"}, {"windows-1250", "CP1250"}, {"windows-1251", "CP1251"},
        {"windows-1252", "CP1252"}, {"windows-1253", "CP1253"}, {"windows-1254", "CP1254"},
        {"windows-1257", "CP1257"}, {"cp437", "CP437"},         {"cp850", "CP850"},
    };
    for (size_t i = 0; i < LENGTH(sets); i++) {
        char bytes[400];
        char utf8[800];
        char *in = bytes;
        char *out = utf8;
        size_t room = sizeof utf8;
        size_t refused = 0;
        size_t len =
            (size_t)snprintf(bytes, sizeof bytes,
                             "MSH|^~\\&|A|B|C|D|2024||ADT^A01|1|P|2.5||||||%s\rPID|", sets[i][0]);
        iconv_t cd = iconv_open("UTF-8", sets[i][1]);
        assert_true(cd != (iconv_t)-1);
        for (unsigned byte = 0x80; byte < 0x100; byte++) {
            char one = (char)(unsigned char)byte;
            char *at = &one;
            char *to = utf8;
            size_t left = 1;
            size_t space = sizeof utf8;
            if (iconv(cd, &at, &left, &to, &space) == 0) {
                bytes[len++] = one;
                continue;
            }
            (void)iconv(cd, NULL, NULL, NULL, NULL);
            bytes[len] = one;
            struct opened opened = read_file((dx_text){bytes, len + 1}, NULL, 0);
            assert_int_equal(opened.status, DX_MISFIT);
            char phrase[200];
            snprintf(phrase, sizeof phrase,
                     "byte 0x%02X at offset %zu is not valid %s, which MSH.18 says it is", byte,
                     len, sets[i][0]);
            assert_string_equal(opened.error.phrase, phrase);
            done(&opened);
            refused++;
        }
        size_t left = len;
        assert_int_equal(iconv(cd, &in, &left, &out, &room), 0);
        iconv_close(cd);
        struct opened opened = open_file((dx_text){bytes, len}, NULL, 0);
        unit_same(text_of(&opened), (dx_text){utf8, (size_t)(out - utf8)});
        assert_string_equal(dx_hl7_file_encoding(opened.file), sets[i][0]);
        assert_true(refused < 100);
        done(&opened);
        opened = open_file((dx_text){bytes, len}, sets[i][1], 0);
        assert_string_equal(dx_hl7_file_encoding(opened.file), sets[i][0]);
        done(&opened);
    }
}

static void knows_many_names(void **state) {
    (void)state;
    static const char *const names[][2] = {
        {"latin1", "8859/1"},       {"ISO-8859-1", "8859/1"},
        {"iso_8859-15", "8859/15"}, {"8859/9", "8859/9"},
        {"Latin-5", "8859/9"},      {"WINDOWS-1252", "windows-1252"},
        {"cp1252", "windows-1252"}, {"utf8", "UTF-8"},
        {"UNICODE UTF-8", "UTF-8"}, {"UNICODE", "UTF-8"},
        {"us-ascii", "ASCII"},      {"ISO IR6", "ASCII"},
        {"UTF-16LE", "UTF-16LE"},   {"UNICODE UTF-16", "UTF-16BE"},
        {"utf-32", "UTF-32BE"},
    };
    for (size_t i = 0; i < LENGTH(names); i++) {
        struct opened opened = read_file(TEXT(""), names[i][0], 0);
        assert_int_equal(opened.status, DX_OK);
        assert_string_equal(dx_hl7_file_encoding(opened.file), names[i][1]);
        done(&opened);
    }
    static const char *const unknown[] = {
        "",
        "-",
        "8859",
        "8859/0",
        "8859/16",
        "88591 ISO88591",
        "GB 18030-2000",
        "Klingon",
        "a name that is much longer than any that there could be"};
    for (size_t i = 0; i < LENGTH(unknown); i++) {
        char phrase[200];
        struct opened opened = read_file(TEXT(ONE), unknown[i], 0);
        assert_int_equal(opened.status, DX_ERR_INVALID);
        snprintf(phrase, sizeof phrase, "unknown encoding '%.40s'", unknown[i]);
        assert_string_equal(opened.error.phrase, phrase);
        done(&opened);
    }
}

/* Never guessed, never mixed. */
static void believes_msh_18(void **state) {
    (void)state;
    static const struct {
        dx_text bytes;
        const char *encoding;
        const char *text; /* what the second segment is; NULL: as it is */
        const char *name;
    } rows[] = {
        {TEXT(MSH("") "PID|\xc3\xbc"), NULL, NULL, "UTF-8"},
        {TEXT("MSH|^~\\&|A\rPID|\xc3\xbc"), NULL, NULL, "UTF-8"},
        {TEXT(MSH("") "PID|\xfc"), "latin1", "PID|\xc3\xbc", "8859/1"},
        {TEXT(MSH("ASCII") "PID|u"), NULL, NULL, "ASCII"},
        {TEXT(MSH("ASCII") "PID|\x80"), "cp1252", "PID|" EURO, "windows-1252"},
        {TEXT(MSH(" 8859/1 ") "PID|\xfc"), NULL, "PID|\xc3\xbc", "8859/1"},
        {TEXT(MSH("8859/1~UNICODE UTF-8") "PID|\xfc"), NULL, "PID|\xc3\xbc", "8859/1"},
        {TEXT(MSH("8859/1^x|en") "PID|\xfc"), NULL, "PID|\xc3\xbc", "8859/1"},
        {TEXT(MSH("8859/15") "PID|\xa4"), NULL, "PID|" EURO, "8859/15"},
        {TEXT(MSH("utf-8") "PID|\xc3\xbc"), NULL, NULL, "UTF-8"},
        {TEXT(MSH("UNICODE") "PID|\xc3\xbc"), NULL, NULL, "UTF-8"},
        {TEXT(MSH("UNICODE UTF-8") "PID|\xc3\xbc"), "latin1", "PID|\xc3\x83\xc2\xbc", "8859/1"},
        {TEXT(BOM MSH("UNICODE UTF-8") "PID|\xc3\xbc"), NULL, NULL, "UTF-8"},
        {TEXT(BOM MSH("UNICODE UTF-8") "PID|\xc3\xbc"), "UTF-8", NULL, "UTF-8"},
        {TEXT(BOM MSH("") "PID|\xc3\xbc"), NULL, NULL, "UTF-8"},
        {TEXT(BOM MSH("ASCII") "PID|u"), NULL, NULL, "ASCII"},
        /* an unknown name is no reason to refuse what cannot be misread */
        {TEXT(MSH("GB 18030-2000") "PID|u"), NULL, NULL, "ASCII"},
        {TEXT("MSH#*!?@#A#B#C#D#2024##ADT#1#P#2.5######8859/1!ASCII#x\rPID|\xfc"), NULL,
         "PID|\xc3\xbc", "8859/1"},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct opened opened = open_file(rows[i].bytes, rows[i].encoding, 0);
        const char *line = (const char *)memchr(opened.text.data, '\r', opened.text.len) + 1;
        if (rows[i].text)
            unit_same((dx_text){line, opened.text.len - (size_t)(line - opened.text.data)},
                      dx_str(rows[i].text));
        assert_string_equal(dx_hl7_file_encoding(opened.file), rows[i].name);
        done(&opened);
    }
    refuses(TEXT("MSH|^~\\&|A\rPID|\xfc"), NULL, 0, "encoding",
            "byte 0xFC at offset 15 is not valid UTF-8, and MSH.18 does not say what it is");
    refuses(TEXT(ONE TWO "\xc3"), NULL, 2, "encoding",
            "byte 0xC3 at offset 34 is not valid UTF-8, and MSH.18 does not say what it is");
    refuses(TEXT("hello \x80"), NULL, 0, "encoding",
            "byte 0x80 at offset 6 is not valid UTF-8, and MSH.18 does not say what it is");
    refuses(TEXT(MSH("ASCII") "\xc3\xbc"), NULL, 0, "encoding",
            "byte 0xC3 at offset 50 is not valid ASCII, which MSH.18 says it is");
    refuses(TEXT(MSH("UNICODE UTF-8") "\xfc"), NULL, 0, "encoding",
            "byte 0xFC at offset 58 is not valid UTF-8, which MSH.18 says it is");
    refuses(TEXT(MSH("GB 18030-2000") "\xc3\xbc"), NULL, 0, "encoding",
            "byte 0xC3 at offset 58 is not valid ASCII, and MSH.18 says an unknown name: GB"
            " 18030-2000");
    refuses(TEXT(MSH("UNICODE UTF-16") "PID|1"), NULL, 0, "encoding",
            "MSH.18 says UTF-16, but the file is not");
    refuses(TEXT(BOM MSH("8859/1") "PID|1"), NULL, 0, "encoding",
            "the file is UTF-8, but MSH.18 says 8859/1");
    refuses(TEXT(MSH("8859/1") "\x81"), "windows-1252", 0, "encoding",
            "byte 0x81 at offset 51 is not valid windows-1252");
    refuses(TEXT(MSH("8859/1")), "UTF-16", 0, "encoding",
            "the byte order is not known: write UTF-16LE or UTF-16BE");
    refuses(TEXT(MSH("8859/1")), "UTF-32", 0, "encoding",
            "the byte order is not known: write UTF-32LE or UTF-32BE");
    /* A name that ends nowhere is one as well. */
    struct opened opened = open_file(TEXT(MSH("8859\0x")), NULL, 0);
    done(&opened);
    opened = open_file(TEXT(MSH("M\xfcller") "PID|\xfc"), "latin1", 0);
    done(&opened);
    /* Only the message at hand has to be read. */
    opened = open_file(TEXT(MSH("8859/1") "PID|\xfc\r" ONE "\xff\r" MSH("") EURO), NULL, 3);
    assert_text(text_of(&opened), MSH("") EURO);
    done(&opened);
}

/* A text as UTF-16 or UTF-32. */
static dx_text widen(const char *text, const char *name, char *to, size_t room) {
    char *in = (char *)(uintptr_t)text;
    char *out = to;
    size_t left = strlen(text);
    iconv_t cd = iconv_open(name, "UTF-8");
    assert_true(cd != (iconv_t)-1);
    assert_int_equal(iconv(cd, &in, &left, &out, &room), 0);
    iconv_close(cd);
    return (dx_text){to, (size_t)(out - to)};
}

#define WIDE "PID|\xc3\xbc" EURO "\xf0\x9f\x98\x80|\xef\xbb\xbf\r"

static void reads_wide_files(void **state) {
    (void)state;
    static const char *const names[] = {"UTF-16LE", "UTF-16BE", "UTF-32LE", "UTF-32BE"};
    char room[4000];
    for (size_t i = 0; i < LENGTH(names); i++) {
        char head[200];
        char text[800];
        const char *family = i < 2 ? "UNICODE UTF-16" : "UNICODE UTF-32";
        snprintf(head, sizeof head, "MSH|^~\\&|A|B|C|D|2024||ADT^A01|1|P|2.5||||||%s\r", family);
        /* with a byte order mark, or MSH.18, or both */
        for (int way = 0; way < 3; way++) {
            snprintf(text, sizeof text, "%s%s" WIDE, way ? BOM : "", way == 1 ? MSH("") : head);
            struct opened opened = open_file(widen(text, names[i], room, sizeof room), NULL, 0);
            unit_same(text_of(&opened), dx_str(text + (way ? 3 : 0)));
            assert_string_equal(dx_hl7_file_encoding(opened.file), names[i]);
            done(&opened);
        }
        /* a batch in a frame, of which the second message is chosen */
        snprintf(text, sizeof text,
                 "\r\n\x0b"
                 "FHS|\r%s" WIDE "%s" WIDE "FTS|\r\x1c\r",
                 head, head);
        struct opened opened = open_file(widen(text, names[i], room, sizeof room), NULL, 2);
        assert_int_equal(dx_hl7_file_messages(opened.file), 2);
        snprintf(text, sizeof text, "%s" WIDE, head);
        unit_same(text_of(&opened), dx_str(text));
        done(&opened);
        /* what was asked for, and what does not go together */
        dx_text wide = widen(MSH("8859/1") "PID|\xc3\xbc", names[i], room, sizeof room);
        char phrase[200];
        snprintf(phrase, sizeof phrase, "the file is %s, but MSH.18 says 8859/1", names[i]);
        refuses(wide, NULL, 0, "encoding", phrase);
        opened = open_file(wide, names[i], 0);
        assert_text(text_of(&opened), MSH("8859/1") "PID|\xc3\xbc");
        done(&opened);
        opened = open_file(wide, family, 0);
        assert_string_equal(dx_hl7_file_encoding(opened.file), names[i]);
        done(&opened);
        snprintf(phrase, sizeof phrase, "the file is %s, but MSH.18 says nothing", names[i]);
        refuses(widen(ONE, names[i], room, sizeof room), NULL, 0, "encoding", phrase);
        wide = widen(BOM MSH("UNICODE"), names[i], room, sizeof room);
        opened = open_file(wide, NULL, 0);
        done(&opened);
        /* half a character */
        snprintf(phrase, sizeof phrase,
                 "byte 0x%s at offset %zu is not valid %s, which its byte order mark says it is",
                 i % 2 ? "00" : "0D", wide.len - (i < 2 ? 2 : 4), names[i]);
        refuses((dx_text){wide.at, wide.len - 1}, NULL, 0, "encoding", phrase);
    }
    refuses(TEXT("\xff\xfeM\0\x3d\xd8x\0"), NULL, 0, "encoding",
            "byte 0x3D at offset 4 is not valid UTF-16LE, which its byte order mark says it is");
    refuses(TEXT("\xff\xfeM\0\x00\xde"), NULL, 0, "encoding",
            "byte 0x00 at offset 4 is not valid UTF-16LE, which its byte order mark says it is");
    refuses(TEXT("\xff\xfe\0\0\0\0\x11\0"), NULL, 0, "encoding",
            "byte 0x00 at offset 4 is not valid UTF-32LE, which its byte order mark says it is");
    /* MSH without a separator is text. */
    static const char no_message[] = "\xff\xfeM\0S\0H\0\0\0x\0";
    struct opened opened = open_file((dx_text){no_message, sizeof no_message - 1}, NULL, 0);
    done(&opened);
    /* Zeros in such places are no proof. */
    opened = open_file(TEXT("a\0b\0c"), NULL, 0);
    assert_text(text_of(&opened), "a\0b\0c");
    done(&opened);
}

/* A message with its file. */
static dx_hl7 *edit(struct opened *opened, int exact) {
    dx_hl7_config config = dx_hl7_defaults();
    dx_hl7 *hl7 = NULL;
    config.file = opened->file;
    config.exact = exact;
    assert_int_equal(dx_hl7_new(&config, text_of(opened), &hl7, NULL), DX_OK);
    return hl7;
}

/* "" for a patch that succeeds. */
static void set(dx_hl7 *hl7, const char *path, const char *value, const char *expected) {
    dx_buf why;
    char *before = hl7_text(hl7);
    dx_buf_init(&why, 4096, NULL);
    dx_hl7_patch patch = {.path = dx_str(path), .value = dx_str(value), .create = !value};
    dx_status status = dx_hl7_apply(hl7, &patch, &why);
    assert_int_equal(status, *expected ? DX_MISFIT : DX_OK);
    unit_same((dx_text){why.data, why.len}, dx_str(expected));
    if (*expected)
        hl7_expect(hl7, before);
    dx_buf_done(&why);
    free(before);
}

static void expect_file(struct opened *opened, const dx_hl7 *hl7, dx_text expected) {
    char *text = hl7_text(hl7);
    assert_int_equal(dx_hl7_check(hl7, &opened->error), DX_OK);
    expect_written(opened, dx_str(text), expected);
    free(text);
}

static void refuses_what_cannot_be_written(void **state) {
    (void)state;
    struct opened opened = open_file(TEXT("BHS|\r" MSH("8859/1") "PID|\xfc\rBTS|1 " EURO), NULL, 0);
    dx_hl7 *hl7 = edit(&opened, 0);
    set(hl7, "PID.2",
        "stra\xc3\x9f"
        "e",
        "");
    set(hl7, "PID.3", "a" EURO "b", "U+20AC '" EURO "' cannot be written in 8859/1 (MSH.18)");
    set(hl7, "PID.3", "\xf3\xa0\x81\x81",
        "U+E0041 '\xf3\xa0\x81\x81' cannot be written in 8859/1 (MSH.18)");
    set(hl7, "MSH.3", EURO, "U+20AC '" EURO "' cannot be written in 8859/1 (MSH.18)");
    set(hl7, "PID.3", "\xff", "the text is not valid UTF-8");
    set(hl7, "PID.3", "a\xc3", "the text is not valid UTF-8");
    set(hl7, "Z\xc3\xbcZ", NULL, "");
    set(hl7, "Z" EURO "Z", NULL, "U+20AC '" EURO "' cannot be written in 8859/1 (MSH.18)");
    set(hl7, "PID.3", "", "");
    expect_file(&opened, hl7,
                TEXT("BHS|\r" MSH("8859/1") "PID|\xfc|stra\xdf"
                                            "e\rZ\xfcZ|\rBTS|1 " EURO));
    dx_hl7_free(hl7);
    done(&opened);
    /* extensions are told per patch */
    opened = open_file(TEXT(MSH("ASCII") "PID|u"), NULL, 0);
    hl7 = edit(&opened, 0);
    static const char patches[] = "[{\"path\": \"PID.2\", \"value\": \"\\u00fc\"},"
                                  " {\"path\": \"PID.3\", \"value\": \"ok\"}]";
    yyjson_doc *list = yyjson_read(patches, sizeof patches - 1, 0);
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *result = NULL;
    assert_int_equal(dx_hl7_apply_all(hl7, yyjson_doc_get_root(list), doc, &result, NULL), DX_OK);
    char *json = yyjson_mut_val_write(result, 0, NULL);
    assert_string_equal(json, "{\"errors\":[{\"index\":0,\"message\":\"U+00FC '\xc3\xbc' cannot be"
                              " written in ASCII (MSH.18)\",\"path\":\"PID.2\"}],"
                              "\"patchesApplied\":1,\"success\":false}");
    free(json);
    yyjson_mut_doc_free(doc);
    yyjson_doc_free(list);
    expect_file(&opened, hl7, TEXT(MSH("ASCII") "PID|u||ok"));
    dx_hl7_free(hl7);
    done(&opened);
    /* what was given has no MSH.18 to blame; a control character is not shown */
    opened = open_file(TEXT(MSH("ASCII") "PID|\x80"), "windows-1252", 0);
    hl7 = edit(&opened, 0);
    set(hl7, "PID.2", "\xc4\x80", "U+0100 '\xc4\x80' cannot be written in windows-1252");
    set(hl7, "PID.2", "\xc2\x81", "U+0081 cannot be written in windows-1252");
    dx_hl7_free(hl7);
    done(&opened);
    /* exact edits as the real editor; then it is not written */
    opened = open_file(TEXT(MSH("8859/1") "PID|\xfc"), NULL, 0);
    hl7 = edit(&opened, 1);
    set(hl7, "PID.2", EURO, "");
    assert_int_equal(dx_hl7_check(hl7, &opened.error), DX_MISFIT);
    assert_string_equal(opened.error.phrase,
                        "U+20AC '" EURO "' cannot be written in 8859/1 (MSH.18)");
    dx_buf out;
    dx_buf_init(&out, 100, NULL);
    assert_int_equal(dx_hl7_file_write(opened.file, TEXT(MSH("8859/1") "a" EURO), &out, NULL),
                     DX_MISFIT);
    assert_int_equal(out.len, 0);
    assert_int_equal(dx_hl7_file_write(opened.file, TEXT(MSH("8859/1") ONE ONE ONE), &out, NULL),
                     DX_ERR_LIMIT);
    assert_int_equal(out.len, 0);
    dx_buf_done(&out);
    dx_hl7_free(hl7);
    done(&opened);
    hl7 = hl7_of(ONE);
    set(hl7, "PID.2", "\xff", "");
    assert_int_equal(dx_hl7_check(hl7, NULL), DX_OK);
    dx_hl7_free(hl7);
}

/* An edit of MSH.18 changes how the message is written. */
static void another_character_set_can_be_chosen(void **state) {
    (void)state;
    char room[1000];
    char text[400];
    struct opened opened = open_file(TEXT(ONE MSH("8859/1") "PID|\xfc\r" ONE), NULL, 2);
    dx_hl7 *hl7 = edit(&opened, 0);
    set(hl7, "MSH.18", "Klingon", "unknown character set in MSH.18: Klingon");
    set(hl7, "MSH.18", "ASCII", "U+00FC '\xc3\xbc' cannot be written in ASCII (MSH.18)");
    set(hl7, "MSH.18", "UNICODE",
        "UNICODE in MSH.18 does not say the encoding: write UNICODE UTF-8");
    set(hl7, "MSH.18", "UNICODE UTF-16",
        "MSH.18 cannot become UTF-16BE: the rest of the file is 8859/1");
    set(hl7, "MSH.18", "UNICODE UTF-8", "");
    set(hl7, "PID.2", EURO, "");
    set(hl7, "MSH.18[1].1", "8859/1", "U+20AC '" EURO "' cannot be written in 8859/1 (MSH.18)");
    expect_file(&opened, hl7, TEXT(ONE MSH("UNICODE UTF-8") "PID|\xc3\xbc|" EURO "\r" ONE));
    set(hl7, "MSH.18", "8859/15", "");
    expect_file(&opened, hl7, TEXT(ONE MSH("8859/15") "PID|\xfc|\xa4\r" ONE));
    set(hl7, "MSH.18[2]", "Klingon", "");
    expect_file(&opened, hl7, TEXT(ONE MSH("8859/15~Klingon") "PID|\xfc|\xa4\r" ONE));
    set(hl7, "MSH.18", "", "");
    expect_file(&opened, hl7, TEXT(ONE MSH("") "PID|\xc3\xbc|" EURO "\r" ONE));
    set(hl7, "PID.2", "", "");
    set(hl7, "MSH.18", "8859/1", "");
    expect_file(&opened, hl7, TEXT(ONE MSH("8859/1") "PID|\xfc|\r" ONE));
    dx_hl7_free(hl7);
    done(&opened);
    /* alone in its file: UTF-16 and back, with and without a byte order mark */
    opened = open_file(TEXT(BOM MSH("UNICODE UTF-8") "PID|\xc3\xbc"), NULL, 0);
    hl7 = edit(&opened, 0);
    set(hl7, "MSH.18", "UNICODE UTF-16", "");
    expect_file(&opened, hl7,
                widen(BOM MSH("UNICODE UTF-16") "PID|\xc3\xbc", "UTF-16BE", room, sizeof room));
    set(hl7, "MSH.18", "8859/1", "");
    expect_file(&opened, hl7, TEXT(MSH("8859/1") "PID|\xfc"));
    set(hl7, "MSH.18", "UNICODE", "");
    expect_file(&opened, hl7, TEXT(BOM MSH("UNICODE") "PID|\xc3\xbc"));
    dx_hl7_free(hl7);
    done(&opened);
    snprintf(text, sizeof text, BOM MSH("UNICODE UTF-16") "PID|\xc3\xbc");
    opened = open_file(widen(text, "UTF-16LE", room, sizeof room), NULL, 0);
    hl7 = edit(&opened, 0);
    set(hl7, "MSH.18", "UNICODE UTF-16", "");
    set(hl7, "MSH.18", "UNICODE UTF-32", "");
    expect_file(&opened, hl7,
                widen(BOM MSH("UNICODE UTF-32") "PID|\xc3\xbc", "UTF-32BE", room, sizeof room));
    set(hl7, "MSH.18", "UNICODE UTF-8", "");
    expect_file(&opened, hl7, TEXT(MSH("UNICODE UTF-8") "PID|\xc3\xbc"));
    set(hl7, "MSH.18", "UNICODE", "");
    expect_file(&opened, hl7,
                widen(BOM MSH("UNICODE") "PID|\xc3\xbc", "UTF-16LE", room, sizeof room));
    dx_hl7_free(hl7);
    done(&opened);
    /* what was given counts until MSH.18 changes */
    opened = open_file(TEXT(MSH("8859/1") "PID|\x80"), "windows-1252", 0);
    hl7 = edit(&opened, 0);
    set(hl7, "PID.2", EURO, "");
    expect_file(&opened, hl7, TEXT(MSH("8859/1") "PID|\x80|\x80"));
    set(hl7, "MSH.18", "UNICODE UTF-8", "");
    expect_file(&opened, hl7, TEXT(MSH("UNICODE UTF-8") "PID|" EURO "|" EURO));
    set(hl7, "MSH.18", "", "");
    expect_file(&opened, hl7, TEXT(MSH("") "PID|\x80|\x80"));
    dx_hl7_free(hl7);
    done(&opened);
}

/* What was not read from HL7 is written as it says itself. */
static void new_messages_have_a_file(void **state) {
    (void)state;
    char room[1000];
    struct opened opened = read_file(TEXT(""), NULL, 0);
    expect_written(&opened, TEXT(ONE EURO), TEXT(ONE EURO));
    expect_written(&opened, TEXT("no message " EURO), TEXT("no message " EURO));
    expect_written(&opened, TEXT(MSH("8859/1") "PID|\xc3\xbc"), TEXT(MSH("8859/1") "PID|\xfc"));
    expect_written(&opened, TEXT(MSH("UNICODE UTF-16") "PID"),
                   widen(BOM MSH("UNICODE UTF-16") "PID", "UTF-16BE", room, sizeof room));
    assert_int_equal(dx_hl7_file_write(opened.file, TEXT(MSH("X")), NULL, NULL), DX_MISFIT);
    done(&opened);
    opened = read_file(TEXT(""), "latin1", 0);
    expect_written(&opened, TEXT("\xc3\xbc"), TEXT("\xfc"));
    expect_written(&opened, TEXT(MSH("UNICODE UTF-8") "\xc3\xbc"),
                   TEXT(MSH("UNICODE UTF-8") "\xc3\xbc"));
    done(&opened);
    opened = read_file(TEXT(""), "UTF-16", 0);
    expect_written(&opened, TEXT(ONE), widen(BOM ONE, "UTF-16BE", room, sizeof room));
    done(&opened);
    dx_hl7_file_config config = dx_hl7_file_defaults();
    dx_text json = TEXT(BOM "{\"MSH\": {\"18\": \"8859/1\"}, \"PID\": {\"1\": \"\xc3\xbc\"}}");
    config.format = DX_HL7_JSON;
    dx_buf_init(&opened.text, SIZE_MAX / 4, NULL);
    assert_int_equal(dx_hl7_file_read(&config, json, &opened.text, &opened.file, NULL), DX_OK);
    assert_int_equal(dx_hl7_file_messages(opened.file), 1);
    expect_written(&opened, text_of(&opened), TEXT("MSH|^~\\&||||||||||||||||8859/1\rPID|\xfc\r"));
    done(&opened);
    config.message = 2;
    dx_buf_init(&opened.text, SIZE_MAX / 4, NULL);
    assert_int_equal(dx_hl7_file_read(&config, json, &opened.text, &opened.file, &opened.error),
                     DX_MISFIT);
    assert_string_equal(opened.error.phrase, "there is no message 2: the file has 1");
    config.message = 0;
    json.len--;
    assert_int_equal(dx_hl7_file_read(&config, json, &opened.text, &opened.file, &opened.error),
                     DX_MISFIT);
    assert_string_equal(opened.error.place, "json");
    dx_buf_done(&opened.text);
}

/* Anything that can be read comes back, whatever it looks like; nothing behind it is looked at. */
static void keeps_any_file(void **state) {
    (void)state;
    static const dx_text pieces[] = {
        TEXT("MSH|^~\\&|"),
        TEXT("MSH"),
        TEXT("\r"),
        TEXT("\n"),
        TEXT("\r\n"),
        TEXT("PID|1"),
        TEXT("\x0b"),
        TEXT("\x1c"),
        TEXT("\x1c\r"),
        TEXT("FHS|"),
        TEXT("BHS"),
        TEXT("BTS|1"),
        TEXT("FTS"),
        TEXT(BOM),
        TEXT("|"),
        TEXT("||||||||"),
        TEXT("8859/1"),
        TEXT("UNICODE UTF-8"),
        TEXT("UNICODE UTF-16"),
        TEXT("\xfc"),
        TEXT(EURO),
        TEXT("\xff\xfe"),
        TEXT("\xfe\xff"),
        TEXT("\0"),
        TEXT(MSH("8859/1")),
        TEXT(MSH("UNICODE UTF-16")),
        TEXT(MSH("8859/7")),
        TEXT(" "),
        TEXT("x"),
    };
    static const char *const encodings[] = {NULL,       NULL,     "latin1", "UTF-8",
                                            "UTF-16LE", "UTF-16", "cp437"};
    static const char *const wide[] = {"UTF-16LE", "UTF-16BE", "UTF-32LE", "UTF-32BE"};
    uint64_t seed = 26;
    size_t read = 0;
    struct unit_fence fence = unit_fence_new(4000);
    for (int round = 0; round < 20000; round++) {
        char bytes[400];
        char room[1700];
        size_t len = 0;
        for (size_t count = unit_random(&seed, 12); count; count--) {
            dx_text piece = pieces[unit_random(&seed, LENGTH(pieces))];
            memcpy(bytes + len, piece.at, piece.len);
            len += piece.len;
        }
        dx_text file = {bytes, len};
        if (unit_random(&seed, 4) == 0 && dx__is_utf8(file) && !memchr(bytes, 0, len)) {
            bytes[len] = '\0';
            file = widen(bytes, wide[unit_random(&seed, LENGTH(wide))], room, sizeof room);
        }
        file = unit_fence_put(&fence, file.at, file.len);
        struct opened opened = read_file(file, encodings[unit_random(&seed, LENGTH(encodings))],
                                         unit_random(&seed, 3));
        if (opened.status == DX_OK) {
            assert_true(dx__is_utf8(text_of(&opened)));
            expect_written(&opened, text_of(&opened), file);
            read++;
        }
        done(&opened);
    }
    assert_true(read > 5000);
    unit_fence_done(&fence);
}

static void files_survive_without_memory(void **state) {
    (void)state;
    char room[1000];
    dx_text files[] = {TEXT("BHS|\r" MSH("8859/1") "PID|\xfc\rBTS|1"),
                       widen(BOM MSH("") "PID|\xc3\xbc\r", "UTF-16LE", room, sizeof room),
                       TEXT("")};
    for (size_t i = 0; i < LENGTH(files); i++)
        for (size_t fail_at = 1;; fail_at++) {
            struct unit_memory memory = {.fail_at = fail_at};
            dx_allocator alloc = unit_allocator(&memory);
            dx_hl7_file_config config = dx_hl7_file_defaults();
            dx_hl7_file *file = NULL;
            dx_hl7 *hl7 = NULL;
            dx_buf text;
            config.hl7.allocator = &alloc;
            dx_buf_init(&text, SIZE_MAX / 4, &alloc);
            dx_status status = dx_hl7_file_read(&config, files[i], &text, &file, NULL);
            config.hl7.file = file;
            if (status == DX_OK && text.len) {
                static const char *const values[] = {"UNICODE UTF-8", "ASCII"};
                status = dx_hl7_new(&config.hl7, (dx_text){text.data, text.len}, &hl7, NULL);
                for (size_t k = 0; k < 2 && status == DX_OK; k++) {
                    dx_hl7_patch patch = {.path = dx_str("MSH.18"), .value = dx_str(values[k])};
                    dx_status applied = dx_hl7_apply(hl7, &patch, NULL);
                    status = applied == DX_MISFIT ? DX_OK : applied;
                }
                if (status == DX_OK)
                    status = dx_hl7_check(hl7, NULL);
            }
            dx_hl7_free(hl7);
            dx_hl7_file_free(file);
            dx_buf_done(&text);
            assert_int_equal(memory.blocks, 0);
            if (status == DX_OK)
                break;
            assert_int_equal(status, DX_ERR_NOMEM);
        }
}

/* An edit of a large message looks only at what it brings; a long file is read once. */
static void large_files_stay_linear(void **state) {
    (void)state;
    enum { SIZE = 8 << 20 };
    struct {
        const char *head;
        const char *line;
    } rows[] = {{"", "MSH|^~\\&|A\r"},
                {"", "\x0b"
                     "MSH|\x1c\r"},
                {MSH(""), "\x1c\r"},
                {MSH("8859/1"), "OBX|\xe4\xf6\r"},
                {"", "\xef\xbb\xbf"},
                {MSH(""), "\x0b"},
                {MSH(""), "\n"},
                {MSH("8859/5"), "\xff"}};
    char *bytes = malloc(SIZE + 100);
    assert_non_null(bytes);
    for (size_t i = 0; i < LENGTH(rows); i++) {
        size_t len = strlen(rows[i].head);
        size_t each = strlen(rows[i].line);
        memcpy(bytes, rows[i].head, len);
        for (; len + each < SIZE; len += each)
            memcpy(bytes + len, rows[i].line, each);
        struct opened opened = open_file((dx_text){bytes, len}, NULL, 0);
        done(&opened);
    }
    free(bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_message),
        cmocka_unit_test(a_message_must_be_there),
        cmocka_unit_test(knows_each_character_set),
        cmocka_unit_test(knows_many_names),
        cmocka_unit_test(believes_msh_18),
        cmocka_unit_test(reads_wide_files),
        cmocka_unit_test(refuses_what_cannot_be_written),
        cmocka_unit_test(another_character_set_can_be_chosen),
        cmocka_unit_test(new_messages_have_a_file),
        cmocka_unit_test(keeps_any_file),
        cmocka_unit_test(files_survive_without_memory),
        cmocka_unit_test(large_files_stay_linear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
