/*
 * A message, patches to it, documents in every format, and files. The first byte chooses: a
 * document of json or yaml that is read, a file of which two messages are read, or a message in
 * which each line after a NUL is a patch. Whatever is read can be written and read again, and is
 * the same then.
 */
#include <duplex/hl7.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int condition, const char *what) {
    if (condition)
        return;
    fprintf(stderr, "not true: %s\n", what);
    abort();
}

#define CHECK(condition) check(condition, #condition)

enum { TEXT_MAX = 1 << 16, OUT_MAX = 1 << 20 };

static dx_hl7_config config_of(int exact) {
    dx_hl7_config config = dx_hl7_defaults();
    config.text_max = TEXT_MAX;
    config.segments_max = 2000;
    config.exact = exact;
    return config;
}

static dx_buf text_of(const dx_hl7 *hl7) {
    dx_buf out;
    dx_buf_init(&out, TEXT_MAX, NULL);
    CHECK(dx_hl7_write(hl7, &out) == DX_OK);
    CHECK(out.len == dx_hl7_size(hl7) && out.len <= TEXT_MAX);
    return out;
}

/* Without line ends and the empty fields before them. */
static size_t normal(char *text, size_t size) {
    char field = text[3];
    size_t len = 0;
    size_t line = 0;
    for (size_t i = 0; i <= size; i++) {
        char c = '\r';
        if (i < size)
            c = text[i];
        if (c != '\r' && c != '\n') {
            text[len++] = c;
            continue;
        }
        while (len > line && text[len - 1] == field)
            len--;
        if (len > line && i < size)
            text[len++] = '\r';
        line = len;
    }
    return len && text[len - 1] == '\r' ? len - 1 : len;
}

static void check_same(const dx_hl7 *one, const dx_hl7 *two) {
    dx_buf a = text_of(one);
    dx_buf b = text_of(two);
    size_t m = normal(a.data, a.len);
    size_t n = normal(b.data, b.len);
    CHECK(m == n && memcmp(a.data, b.data, m) == 0);
    dx_buf_done(&a);
    dx_buf_done(&b);
}

static void check_formats(const dx_hl7 *hl7, int exact) {
    dx_hl7_config config = config_of(exact);
    for (dx_hl7_format format = DX_HL7_TEXT; format <= DX_HL7_YAML; format++)
        for (dx_hl7_shape shape = DX_HL7_SEGMENTS; shape <= DX_HL7_KEYS; shape++) {
            dx_buf out;
            dx_hl7 *again = NULL;
            dx_error error = {.phrase = ""};
            dx_buf_init(&out, OUT_MAX, NULL);
            dx_status status = dx_hl7_export(hl7, format, shape, &out, &error);
            CHECK(status == DX_OK || status == DX_MISFIT || status == DX_ERR_LIMIT);
            if (status == DX_OK) {
                status =
                    dx_hl7_import(&config, (dx_text){out.data, out.len}, format, &again, &error);
                CHECK(exact || status == DX_OK || shape == DX_HL7_KEYS);
                if (status == DX_OK && !exact && shape == DX_HL7_SEGMENTS)
                    check_same(hl7, again);
            } else {
                CHECK(out.len == 0);
            }
            dx_hl7_free(again);
            dx_buf_done(&out);
        }
}

/* Flags, a path, '=' and a value. */
static void patch(dx_hl7 *hl7, dx_text line) {
    dx_hl7_patch patch = {.create = line.len && line.at[0] & 1,
                          .remove = line.len && line.at[0] & 2};
    const char *equals = line.len ? memchr(line.at, '=', line.len) : NULL;
    const char *end = line.at + line.len;
    if (!equals)
        equals = end;
    if (line.len)
        patch.path = (dx_text){line.at + 1, (size_t)(equals - line.at) - 1};
    if (equals == line.at)
        patch.path = (dx_text){"", 0};
    if (equals < end)
        patch.value = (dx_text){equals + 1, (size_t)(end - equals) - 1};
    dx_buf before = text_of(hl7);
    dx_buf why;
    dx_buf_init(&why, 4096, NULL);
    dx_status status = dx_hl7_apply(hl7, &patch, &why);
    CHECK(status == DX_OK || status == DX_MISFIT || status == DX_ERR_LIMIT);
    CHECK((status == DX_OK) == (why.len == 0));
    dx_buf after = text_of(hl7);
    if (status != DX_OK)
        CHECK(before.len == after.len && memcmp(before.data, after.data, before.len) == 0);
    dx_text raw;
    (void)dx_hl7_get(hl7, patch.path, &raw);
    dx_buf_done(&before);
    dx_buf_done(&after);
    dx_buf_done(&why);
}

static void edit(dx_text text, int exact) {
    dx_hl7_config config = config_of(exact);
    const char *end = text.at + text.len;
    const char *nul = text.len ? memchr(text.at, '\0', text.len) : NULL;
    dx_text message = {text.at, nul ? (size_t)(nul - text.at) : text.len};
    dx_hl7 *hl7;
    if (dx_hl7_new(&config, message, &hl7, NULL) != DX_OK)
        return;
    dx_buf out = text_of(hl7);
    CHECK(out.len == message.len && memcmp(out.data, message.at, out.len) == 0);
    dx_buf_done(&out);
    for (int i = 0; nul && i < 20; i++) {
        const char *from = nul + 1;
        nul = from < end ? memchr(from, '\n', (size_t)(end - from)) : NULL;
        patch(hl7, (dx_text){from, (size_t)((nul ? nul : end) - from)});
    }
    check_formats(hl7, exact);
    out = text_of(hl7);
    dx_hl7 *again;
    CHECK(dx_hl7_new(&config, (dx_text){out.data, out.len}, &again, NULL) == DX_OK);
    CHECK(dx_hl7_segments(again) == dx_hl7_segments(hl7));
    dx_buf_done(&out);
    dx_hl7_free(again);
    dx_hl7_free(hl7);
}

static void read(dx_text text, dx_hl7_format format, int exact) {
    dx_hl7_config config = config_of(exact);
    dx_hl7 *hl7;
    dx_error error = {.phrase = ""};
    dx_status status = dx_hl7_import(&config, text, format, &hl7, &error);
    CHECK(status == DX_OK || status == DX_MISFIT || status == DX_ERR_LIMIT);
    CHECK(status != DX_MISFIT || error.phrase[0]);
    if (status != DX_OK)
        return;
    check_formats(hl7, exact);
    dx_hl7_free(hl7);
}

static void open_file(dx_text bytes, const char *encoding, size_t message) {
    dx_hl7_file_config config = dx_hl7_file_defaults();
    dx_hl7_file *file;
    dx_buf text;
    dx_buf out;
    config.encoding = encoding;
    config.message = message;
    dx_buf_init(&text, OUT_MAX, NULL);
    dx_buf_init(&out, OUT_MAX, NULL);
    dx_status status = dx_hl7_file_read(&config, bytes, &text, &file, NULL);
    CHECK(status == DX_OK || status == DX_MISFIT);
    if (status == DX_OK) {
        dx_text read = {text.data ? text.data : "", text.len};
        CHECK(dx_hl7_file_write(file, read, &out, NULL) == DX_OK);
        CHECK(out.len == bytes.len && (!out.len || memcmp(out.data, bytes.at, out.len) == 0));
        dx_hl7_file_free(file);
    }
    dx_buf_done(&text);
    dx_buf_done(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const encodings[] = {NULL, "latin1", "UTF-16", "UTF-32LE"};
    if (!size)
        return 0;
    dx_text text = {(const char *)data + 1, size - 1};
    int exact = data[0] >> 2 & 1;
    if (data[0] & 0x80 && size < TEXT_MAX) {
        open_file(text, encodings[data[0] & 3], 0);
        open_file(text, encodings[data[0] & 3], 2);
        return 0;
    }
    switch (data[0] & 3) {
    case 0:
        read(text, DX_HL7_JSON, exact);
        break;
    case 1:
        read(text, DX_HL7_YAML, exact);
        break;
    default:
        edit(text, exact);
    }
    return 0;
}
