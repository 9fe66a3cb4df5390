/* Any message and any patches: what comes out in one format and is read again is the same message,
 * up to line ends and empty fields at the end of a segment. And a patch changes what it names. */
#include "hermes/hl7.h"

#include "systems/hermes/hl7_parts.h"

#ifndef ROUNDS
#define ROUNDS 3000
#endif

struct chance {
    uint64_t seed;
    char *at;
    size_t len;
};

enum { ROOM = 20000 };

static size_t pick(struct chance *chance, size_t limit) {
    return unit_random(&chance->seed, limit);
}

static void put(struct chance *chance, const char *bytes, size_t len) {
    assert_true(chance->len + len < ROOM);
    memcpy(chance->at + chance->len, bytes, len);
    chance->len += len;
}

#define PUT(chance, literal) put(chance, literal, sizeof(literal) - 1)

/* Text as it is found, and as nobody expects it: words of YAML, controls, escapes, all of Unicode.
 */
static void value(struct chance *chance) {
    static const dx_text pieces[] = {
        {"DOE", 3},
        {"12", 2},
        {"null", 4},
        {"true", 4},
        {"~", 1},
        {"", 0},
        {" ", 1},
        {"\"\"", 2},
        {"\\T\\", 3},
        {"\\", 1},
        {"\\X0D\\", 5},
        {"\\.br\\", 5},
        {"\\E\\", 3},
        {"\\H\\", 3},
        {"a: b", 4},
        {"- x", 3},
        {"#", 1},
        {"'", 1},
        {"\t", 1},
        {"\0", 1},
        {"\x01\x1f", 2},
        {"\x7f", 1},
        {"\xc2\x85", 2},
        {"\xe2\x80\xa8", 3},
        {"\xef\xbb\xbf", 3},
        {"\xef\xbf\xbe", 3},
        {"\xf0\x9f\x98\x80", 4},
        {"\xc3\xa9", 2},
        {"&", 1},
        {"^", 1},
        {"|", 1},
        {"*", 1},
        {"!", 1},
        {"%", 1},
        {"@", 1},
        {"`", 1},
        {"{", 1},
        {"[", 1},
        {"1e5", 3},
        {"0x1F", 4},
        {"2023-12-15", 10},
        {"=", 1},
        {"yes", 3},
        {"?", 1},
        {":", 1},
        {",", 1},
        {"\xc2\xa0", 2},
    };
    for (size_t count = pick(chance, 4); count; count--) {
        dx_text piece = pieces[pick(chance, LENGTH(pieces))];
        put(chance, piece.at, piece.len);
    }
}

static void name(struct chance *chance) {
    static const char *const names[] = {
        "PID", "OBX",  "OBX", "NTE", "ZZ1", "MSH", "abc", "\xc3\x85\xc3\x84\xc3\x96",
        "PI",  "LONG", "a b", "",    "- x"};
    const char *text = names[pick(chance, LENGTH(names))];
    put(chance, text, strlen(text));
}

static void line_end(struct chance *chance) {
    static const char *const ends[] = {"\r", "\n", "\r\n", "\r\r", "\n\n\r\n"};
    size_t kind = pick(chance, 8);
    const char *text = ends[kind < LENGTH(ends) ? kind : 0];
    put(chance, text, strlen(text));
}

/* A message with marks from MSH; everything behind is a random mix of them and values. */
static void message(struct chance *chance) {
    static const char *const heads[] = {"MSH|^~\\&", "MSH|^~\\&", "MSH|^~\\&",  "MSH#*!?@", "MSH|^",
                                        "MSH|^~",    "MSH|^~\\",  "MSH|^~\\&#", "MSH$%-/="};
    const char *head = heads[pick(chance, LENGTH(heads))];
    chance->len = 0;
    put(chance, head, strlen(head));
    size_t marks = strlen(head) - 3;
    for (size_t lines = 1 + pick(chance, 8), i = 0; i < lines; i++) {
        if (i)
            name(chance);
        for (size_t parts = pick(chance, 12); parts; parts--) {
            /* Fields are likelier than the rest, so that there are some of each. */
            size_t mark = pick(chance, 2) ? 0 : pick(chance, marks < 5 ? marks : 5);
            put(chance, head + 3 + (parts == 12 || i == 0 ? 0 : mark), 1);
            value(chance);
        }
        if (i + 1 < lines || pick(chance, 2))
            line_end(chance);
    }
}

static void path(struct chance *chance, char *to, size_t room) {
    static const char *const names[] = {
        "PID", "OBX", "NTE", "ZZ1", "MSH", "abc", "NEW", "\xc3\x85\xc3\x84\xc3\x96", "??"};
    size_t len = (size_t)snprintf(to, room, "%s", names[pick(chance, LENGTH(names))]);
    if (pick(chance, 3) == 0)
        len += (size_t)snprintf(to + len, room - len, "[%zu]", 1 + pick(chance, 4));
    if (pick(chance, 4) == 0)
        return;
    len += (size_t)snprintf(to + len, room - len, "%c%zu", ".- "[pick(chance, 3)],
                            1 + pick(chance, 14));
    if (pick(chance, 3) == 0)
        len += (size_t)snprintf(to + len, room - len, "[%zu]", 1 + pick(chance, 3));
    for (size_t levels = pick(chance, 3); levels; levels--)
        len += (size_t)snprintf(to + len, room - len, ".%zu", 1 + pick(chance, 12));
}

/* The same message for both: without line ends and the empty fields before them. */
static size_t normal(dx_text text, char field, char *to) {
    size_t len = 0;
    size_t line = 0; /* where the line began in what was written */
    for (size_t i = 0; i <= text.len; i++) {
        char c = i < text.len ? text.at[i] : '\r';
        if (c != '\r' && c != '\n') {
            to[len++] = c;
            continue;
        }
        while (len > line && to[len - 1] == field)
            len--;
        if (len > line)
            to[len++] = '\r';
        line = len;
    }
    return len;
}

static void check_same(const dx_hl7 *one, const dx_hl7 *two, const char *what) {
    char *a = hl7_text(one);
    char *b = hl7_text(two);
    char *x = malloc(dx_hl7_size(one) + 1);
    char *y = malloc(dx_hl7_size(two) + 1);
    assert_true(x && y);
    size_t m = normal((dx_text){a, dx_hl7_size(one)}, a[3], x);
    size_t n = normal((dx_text){b, dx_hl7_size(two)}, b[3], y);
    if (m != n || memcmp(x, y, m) != 0)
        print_error("%s: {%.*s} became {%.*s}\n", what, (int)m, x, (int)n, y);
    unit_same((dx_text){y, n}, (dx_text){x, m});
    free(a);
    free(b);
    free(x);
    free(y);
}

static void check_formats(const dx_hl7 *hl7) {
    static const char *const names[] = {"hl7", "json", "yaml", "toml"};
    dx_hl7_config config = dx_hl7_defaults();
    for (dx_hl7_format format = DX_HL7_TEXT; format <= DX_HL7_TOML; format++) {
        dx_buf out;
        dx_error error = {.phrase = ""};
        dx_hl7 *again = NULL;
        dx_buf_init(&out, SIZE_MAX / 4, NULL);
        dx_status status = dx_hl7_export(hl7, format, DX_HL7_SEGMENTS, &out, &error);
        assert_int_equal(status, DX_OK);
        status = dx_hl7_import(&config, (dx_text){out.data, out.len}, format, &again, &error);
        if (status != DX_OK)
            print_error("%s: %s\n%.*s\n", names[format], error.phrase, (int)out.len, out.data);
        assert_int_equal(status, DX_OK);
        check_same(hl7, again, names[format]);
        again = dx_hl7_free(again);
        /* With the message that it was made from, not a byte is lost. */
        status =
            dx_hl7_import_like(&config, (dx_text){out.data, out.len}, format, hl7, &again, &error);
        assert_int_equal(status, DX_OK);
        char *before = hl7_text(hl7);
        char *after = hl7_text(again);
        if (dx_hl7_size(again) != dx_hl7_size(hl7) || memcmp(before, after, dx_hl7_size(hl7)) != 0)
            print_error("%s: {%s} became {%s}\n", names[format], before, after);
        unit_same((dx_text){after, dx_hl7_size(again)}, (dx_text){before, dx_hl7_size(hl7)});
        free(before);
        free(after);
        dx_hl7_free(again);
        dx_buf_done(&out);
    }
}

/* The same value, however its separators and escape characters are written? */
static void check_equal(const dx_hl7 *hl7, dx_text one, dx_text two) {
    dx_text texts[] = {one, two};
    /* Without an escape character, that is only so if the value was there already. */
    if (hl7_escaped_size(&hl7->marks, two, HL7_ESCAPE_LONE) == SIZE_MAX) {
        unit_same(one, two);
        return;
    }
    char *made[2];
    size_t lens[2];
    for (size_t i = 0; i < 2; i++) {
        size_t size = hl7_escaped_size(&hl7->marks, texts[i], HL7_ESCAPE_LONE);
        assert_true(size < SIZE_MAX);
        made[i] = malloc(size + 1);
        lens[i] = (size_t)(hl7_escape(&hl7->marks, texts[i], HL7_ESCAPE_LONE, made[i]) - made[i]);
        assert_int_equal(lens[i], size);
    }
    unit_same((dx_text){made[0], lens[0]}, (dx_text){made[1], lens[1]});
    free(made[0]);
    free(made[1]);
}

/* Setting what is read there changes nothing. */
static void check_set_again(dx_hl7 *hl7, const dx_hl7_patch *patch, dx_text value) {
    char *before = hl7_text(hl7);
    size_t size = dx_hl7_size(hl7);
    dx_hl7_patch again = {.path = patch->path, .value = value};
    assert_int_equal(dx_hl7_apply(hl7, &again, NULL), DX_OK);
    char *after = hl7_text(hl7);
    unit_same((dx_text){after, dx_hl7_size(hl7)}, (dx_text){before, size});
    free(before);
    free(after);
}

/* What stands anywhere can be set there, read as a value and as it is written. */
static void check_read(dx_hl7 *hl7, struct chance *chance) {
    char where[100];
    dx_text raw;
    path(chance, where, sizeof where);
    dx_hl7_patch patch = {.path = dx_str(where)};
    if (dx_hl7_get(hl7, patch.path, &raw) != DX_OK || !raw.at || !strpbrk(where, ".- ") ||
        strncmp(where, "MSH", 3) == 0)
        return;
    dx_buf value;
    dx_buf_init(&value, SIZE_MAX / 4, NULL);
    assert_int_equal(dx_hl7_get_text(hl7, patch.path, &value), DX_OK);
    check_set_again(hl7, &patch, (dx_text){value.data, value.len});
    value.len = 0;
    assert_int_equal(dx_buf_append(&value, raw.at, raw.len), DX_OK);
    check_set_again(hl7, &patch, (dx_text){value.data, value.len});
    dx_buf_done(&value);
}

/* Where the value went it can be read, and all other segments are as they were, to the byte. */
static void check_set(dx_hl7 *hl7, const dx_hl7_patch *patch) {
    hl7_path path;
    char *before = hl7_text(hl7);
    size_t size = dx_hl7_size(hl7);
    dx_status status = dx_hl7_apply(hl7, patch, NULL);
    assert_true(status == DX_OK || status == DX_MISFIT);
    if (status == DX_MISFIT) {
        dx_buf out;
        dx_buf_init(&out, SIZE_MAX / 4, NULL);
        assert_int_equal(dx_hl7_write(hl7, &out), DX_OK);
        unit_same((dx_text){out.data, out.len}, (dx_text){before, size});
        dx_buf_done(&out);
    } else if (hl7_path_parse(patch->path, &path) && path.field) {
        dx_buf out;
        dx_buf_init(&out, ROOM, NULL);
        assert_int_equal(dx_hl7_get_text(hl7, patch->path, &out), DX_OK);
        check_equal(hl7, (dx_text){out.data, out.len}, patch->value);
        check_set_again(hl7, patch, (dx_text){out.data, out.len});
        dx_buf_done(&out);
        dx_text raw;
        assert_int_equal(dx_hl7_get(hl7, patch->path, &raw), DX_OK);
        assert_true(raw.at || !patch->value.len);
        /* In front of the segment and behind it, nothing has moved but by the difference. */
        hl7_place place;
        assert_true(hl7_list_find(&hl7->list, path.key, path.segment ? path.segment : 1, &place));
        size_t front = 0;
        hl7_segment *target = hl7_list_at(&hl7->list, place);
        hl7_place walk = {0, 0};
        for (hl7_segment *at; (at = hl7_list_next(&hl7->list, &walk)) != target;)
            front += (size_t)at->len + at->end;
        char *after = hl7_text(hl7);
        size_t back = dx_hl7_size(hl7) - front - target->len;
        assert_memory_equal(before, after, front);
        assert_true(size >= front + back);
        assert_memory_equal(before + size - back, after + dx_hl7_size(hl7) - back, back);
        free(after);
    }
    free(before);
}

static void patch_at_random(dx_hl7 *hl7, struct chance *chance) {
    char where[100];
    path(chance, where, sizeof where);
    chance->len = 0;
    value(chance);
    dx_hl7_patch patch = {.path = dx_str(where),
                          .value = {chance->at, chance->len},
                          .create = pick(chance, 3) == 0,
                          .remove = pick(chance, 3) == 0};
    (void)dx_hl7_apply(hl7, &patch, NULL);
}

/* Edits, a few patches each, are taken back in turn, and each time the text is as it was. */
static void check_journal(dx_hl7 *hl7, struct chance *chance) {
    enum { EDITS = 5 };
    hl7_journal journals[EDITS];
    char *texts[EDITS];
    size_t sizes[EDITS];
    size_t count = 1 + pick(chance, EDITS);
    for (size_t i = 0; i < count; i++) {
        texts[i] = hl7_text(hl7);
        sizes[i] = dx_hl7_size(hl7);
        hl7_journal_begin(hl7, &journals[i]);
        for (size_t patches = pick(chance, 8); patches; patches--)
            patch_at_random(hl7, chance);
        hl7_journal_end(hl7);
    }
    /* The first ones are forgotten, as an editor does it. */
    size_t kept = pick(chance, count + 1);
    for (size_t i = count; i-- > 0;) {
        if (i >= kept) {
            assert_int_equal(hl7_journal_undo(hl7, &journals[i]), DX_OK);
            assert_int_equal(journals[i].held, 0);
            char *text = hl7_text(hl7);
            unit_same((dx_text){text, dx_hl7_size(hl7)}, (dx_text){texts[i], sizes[i]});
            free(text);
        }
        hl7_journal_done(&journals[i]);
        free(texts[i]);
    }
}

static void round_trip(struct chance *chance) {
    message(chance);
    dx_hl7 *hl7 = hl7_of_text((dx_text){chance->at, chance->len}, 0);
    dx_buf out;
    dx_buf_init(&out, SIZE_MAX / 4, NULL);
    assert_int_equal(dx_hl7_write(hl7, &out), DX_OK);
    unit_same((dx_text){out.data, out.len}, (dx_text){chance->at, chance->len});
    dx_buf_done(&out);
    check_formats(hl7);
    for (size_t reads = 12; reads; reads--)
        check_read(hl7, chance);
    for (size_t patches = pick(chance, 12); patches; patches--) {
        char where[100];
        path(chance, where, sizeof where);
        chance->len = 0;
        value(chance);
        if (pick(chance, 4) == 0)
            PUT(chance, "\r\n");
        dx_hl7_patch patch = {.path = dx_str(where),
                              .value = {chance->at, chance->len},
                              .create = pick(chance, 3) == 0,
                              .remove = pick(chance, 3) == 0};
        check_set(hl7, &patch);
    }
    check_formats(hl7);
    check_journal(hl7, chance);
    /* What the index of the edited message says is what a new reading of its text says. */
    char *text = hl7_text(hl7);
    dx_hl7 *again = hl7_of_text((dx_text){text, dx_hl7_size(hl7)}, 0);
    assert_int_equal(dx_hl7_segments(again), dx_hl7_segments(hl7));
    for (int i = 0; i < 5; i++) {
        char where[100];
        dx_text one = {NULL, 0};
        dx_text two = {NULL, 0};
        path(chance, where, sizeof where);
        assert_int_equal(dx_hl7_get(hl7, dx_str(where), &one),
                         dx_hl7_get(again, dx_str(where), &two));
        assert_true(!one.at == !two.at);
        unit_same(one, two);
    }
    dx_hl7_free(again);
    free(text);
    dx_hl7_free(hl7);
}

static void formats_give_the_same_message(void **state) {
    (void)state;
    struct chance chance = {.seed = 20260711, .at = malloc(ROOM)};
    assert_non_null(chance.at);
    for (int i = 0; i < ROUNDS; i++)
        round_trip(&chance);
    free(chance.at);
}

/* The bytes of a message in a single-byte encoding come back, also after edits. */
static void encoded_round_trip(struct chance *chance, const char *encoding) {
    dx_hl7_file_config file_config = dx_hl7_file_defaults();
    dx_hl7_config config = dx_hl7_defaults();
    dx_hl7 *hl7 = NULL;
    dx_buf text;
    dx_buf out;
    message(chance);
    dx_text bytes = {chance->at, chance->len};
    file_config.encoding = encoding;
    dx_buf_init(&text, SIZE_MAX / 4, NULL);
    dx_buf_init(&out, SIZE_MAX / 4, NULL);
    assert_int_equal(dx_hl7_file_read(&file_config, bytes, &text, &config.file, NULL), DX_OK);
    dx_text decoded = {text.data, text.len};
    assert_true(dx__is_utf8(decoded));
    assert_int_equal(dx_hl7_file_write(config.file, decoded, &out, NULL), DX_OK);
    unit_same((dx_text){out.data, out.len}, bytes);
    assert_int_equal(dx_hl7_new(&config, decoded, &hl7, NULL), DX_OK);
    check_formats(hl7);
    for (size_t patches = pick(chance, 12); patches; patches--)
        patch_at_random(hl7, chance);
    text.len = out.len = 0;
    assert_int_equal(dx_hl7_write(hl7, &text), DX_OK);
    decoded = (dx_text){text.data, text.len};
    dx_error error = {.place = ""};
    dx_status status = dx_hl7_file_write(config.file, decoded, &out, &error);
    /* A bare line "MSH" that gets a field would begin another message. */
    if (status != DX_OK)
        assert_string_equal(error.place, "message");
    dx_hl7_file *again = NULL;
    dx_buf read;
    dx_buf_init(&read, SIZE_MAX / 4, NULL);
    bytes = (dx_text){out.data, out.len};
    if (status == DX_OK) {
        assert_int_equal(dx_hl7_file_read(&file_config, bytes, &read, &again, NULL), DX_OK);
        unit_same((dx_text){read.data, read.len}, decoded);
    }
    dx_hl7_file_free(again);
    dx_hl7_free(hl7);
    dx_hl7_file_free(config.file);
    dx_buf_done(&read);
    dx_buf_done(&out);
    dx_buf_done(&text);
}

static void encodings_keep_every_byte(void **state) {
    static const char *const encodings[] = {"8859/1", "8859/5", "8859/15"};
    (void)state;
    struct chance chance = {.seed = 20261119, .at = malloc(ROOM)};
    assert_non_null(chance.at);
    for (int i = 0; i < ROUNDS; i++)
        encoded_round_trip(&chance, encodings[i % LENGTH(encodings)]);
    free(chance.at);
}

/* With the defects of the editor anything may come out, but it comes. */
static void exact_never_fails_otherwise(void **state) {
    (void)state;
    struct chance chance = {.seed = 77, .at = malloc(ROOM)};
    assert_non_null(chance.at);
    for (int i = 0; i < ROUNDS; i++) {
        dx_hl7_config config = dx_hl7_defaults();
        config.exact = 1;
        dx_hl7 *hl7;
        message(&chance);
        if (dx_hl7_new(&config, (dx_text){chance.at, chance.len}, &hl7, NULL) != DX_OK)
            continue;
        for (size_t patches = pick(&chance, 6); patches; patches--) {
            char where[100];
            path(&chance, where, sizeof where);
            chance.len = 0;
            value(&chance);
            dx_hl7_patch patch = {.path = dx_str(where),
                                  .value = {chance.at, chance.len},
                                  .create = pick(&chance, 3) == 0,
                                  .remove = pick(&chance, 3) == 0};
            dx_status status = dx_hl7_apply(hl7, &patch, NULL);
            assert_true(status == DX_OK || status == DX_MISFIT);
        }
        for (dx_hl7_format format = DX_HL7_JSON; format <= DX_HL7_YAML; format++) {
            dx_hl7 *again = NULL;
            char *text = hl7_exported(hl7, format, DX_HL7_SEGMENTS);
            dx_status status = dx_hl7_import(&config, dx_str(text), format, &again, NULL);
            /* It knows only one separator of fields, so another one may not be read again. */
            assert_true(status == DX_OK || (status == DX_MISFIT && hl7->marks.field != '|'));
            dx_hl7_free(again);
            free(text);
        }
        dx_hl7_free(hl7);
    }
    free(chance.at);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats_give_the_same_message),
        cmocka_unit_test(encodings_keep_every_byte),
        cmocka_unit_test(exact_never_fails_otherwise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
