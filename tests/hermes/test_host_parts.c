/* The parts of the editor that need neither a loop nor a process. */
#include "systems/hermes/hermes_parts.h"
#include "unit/unit.h"

/* Words. */

static void expect_words(const char *line, const char *const *expected) {
    struct unit_memory memory = {0};
    dx_allocator alloc = unit_allocator(&memory);
    char **words = NULL;
    size_t i = 0;
    assert_int_equal(hermes_words_split(&alloc, line, &words, NULL), DX_OK);
    for (; expected[i]; i++) {
        assert_non_null(words[i]);
        assert_string_equal(words[i], expected[i]);
    }
    assert_null(words[i]);
    dx__free(&alloc, words);
    assert_int_equal(memory.blocks, 0);
}

static void test_words(void **state) {
    (void)state;
    expect_words("a", (const char *[]){"a", NULL});
    expect_words("  a\t b\n", (const char *[]){"a", "b", NULL});
    expect_words("a b c d e", (const char *[]){"a", "b", "c", "d", "e", NULL});
    expect_words("'a b' \"c d\"e''", (const char *[]){"a b", "c de", NULL});
    expect_words("a\\ b '\\' \"\\\\ \\\" \\x \\$ \\`\"",
                 (const char *[]){"a b", "\\", "\\ \" \\x $ `", NULL});
    expect_words("'' \"\"", (const char *[]){"", "", NULL});
    expect_words("a\\\nb \\\n c \"d\\\ne\"", (const char *[]){"ab", "c", "de", NULL});
    expect_words("$HOME *.c #x `y` ~", (const char *[]){"$HOME", "*.c", "#x", "`y`", "~", NULL});
    expect_words("", (const char *[]){NULL});
    expect_words(" \t\n", (const char *[]){NULL});
    expect_words("\xc3\xa9 \xff", (const char *[]){"\xc3\xa9", "\xff", NULL});
}

static void test_words_that_are_none(void **state) {
    static const char *const lines[] = {"'a", "\"a", "a\\", "a '", "\"a\\\"", "\\", "a 'b\\'c d'"};
    struct unit_memory memory = {0};
    dx_allocator alloc = unit_allocator(&memory);
    (void)state;
    for (size_t i = 0; i < LENGTH(lines); i++) {
        char **words = NULL;
        dx_error error = {0};
        assert_int_equal(hermes_words_split(&alloc, lines[i], &words, &error), DX_ERR_INVALID);
        assert_true(error.phrase[0] != '\0');
        assert_null(words);
    }
    assert_int_equal(memory.blocks, 0);
    memory.count = 0;
    memory.fail_at = 1;
    char **words = NULL;
    assert_int_equal(hermes_words_split(&alloc, "a b", &words, NULL), DX_ERR_NOMEM);
    assert_int_equal(hermes_words_join(&alloc, NULL, NULL, false, &words), DX_ERR_NOMEM);
    assert_int_equal(memory.blocks, 0);
}

static void test_join(void **state) {
    struct unit_memory memory = {0};
    dx_allocator alloc = unit_allocator(&memory);
    const char *const first[] = {"A=1", "B=2", "AB=3", NULL};
    const char *const second[] = {"B=4", "A", NULL};
    char **words;
    (void)state;
    assert_int_equal(hermes_words_join(&alloc, first, second, false, &words), DX_OK);
    assert_string_equal(words[0], "A=1");
    assert_string_equal(words[4], "A");
    assert_null(words[5]);
    dx__free(&alloc, words);
    assert_int_equal(hermes_words_join(&alloc, first, second, true, &words), DX_OK);
    assert_string_equal(words[0], "AB=3");
    assert_string_equal(words[1], "B=4");
    assert_string_equal(words[2], "A");
    assert_null(words[3]);
    dx__free(&alloc, words);
    assert_int_equal(hermes_words_join(&alloc, NULL, NULL, true, &words), DX_OK);
    assert_null(words[0]);
    dx__free(&alloc, words);
    assert_int_equal(memory.blocks, 0);
}

/* Lines of the standard error. */

static void test_levels(void **state) {
    static const struct {
        const char *line;
        dx_hermes_level level;
        const char *text;
    } rows[] = {
        {"[ERROR] x", DX_HERMES_ERROR, "x"},        {"[error]x", DX_HERMES_ERROR, "x"},
        {"[WARN]  x", DX_HERMES_WARN, "x"},         {"[warning] x", DX_HERMES_WARN, "x"},
        {"[INFO] x", DX_HERMES_INFO, "x"},          {"ERROR: x", DX_HERMES_ERROR, "x"},
        {"warn: x", DX_HERMES_WARN, "x"},           {"WARNING: x", DX_HERMES_WARN, "x"},
        {"info:\tx", DX_HERMES_INFO, "x"},          {"  error: x", DX_HERMES_ERROR, "x"},
        {"[Error] x", DX_HERMES_INFO, "[Error] x"}, {"ERROR x", DX_HERMES_INFO, "ERROR x"},
        {"[ERROR", DX_HERMES_INFO, "[ERROR"},       {"", DX_HERMES_INFO, ""},
        {"  x ", DX_HERMES_INFO, "  x "},           {"[ERROR]", DX_HERMES_ERROR, ""},
        {"\xff\xfe", DX_HERMES_INFO, "\xff\xfe"},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        dx_text text;
        assert_int_equal(hermes_log_level(dx_str(rows[i].line), &text), rows[i].level);
        assert_true(dx_text_is(text, rows[i].text));
    }
}

/* URLs. */

static void test_urls(void **state) {
    static const char *const good[] = {"http://a",
                                       "https://a",
                                       "HTTP://A/b?c#d",
                                       "http://127.0.0.1:8080/",
                                       "http://[::1]:1",
                                       "http://a:65535",
                                       "http://a:/",
                                       "http://u:p@a/",
                                       "http://a?b",
                                       "http://a#b",
                                       "https://\xc3\xa9.example/\xc3\xa9",
                                       "http://a/%20|{}"};
    static const char *const bad[] = {"http://",
                                      "http:///a",
                                      "http://:80",
                                      "http://a:65536",
                                      "http://a:x",
                                      "http://a b",
                                      "http://a/\nb",
                                      "http://a/\x7f",
                                      "http://a\\b",
                                      "http://a/\"",
                                      "http://a/<b>",
                                      "http://a`b",
                                      "http://[::1",
                                      "http://[]",
                                      "http://[x]",
                                      "http://[::1]x",
                                      "http://u@",
                                      "http://a:99999999999999999999",
                                      "",
                                      "http",
                                      "http:/a",
                                      "HTTPS:a",
                                      "//a",
                                      "a",
                                      "1a:b",
                                      ":a",
                                      "a/b:c"};
    static const char *const other[] = {"file:///etc/passwd",  "ftp://a",
                                        "javascript:alert(1)", "httpx://a",
                                        "data:text/html,x",    "a+b-c.1:x"};
    bool is_scheme;
    (void)state;
    for (size_t i = 0; i < LENGTH(good); i++)
        assert_null(hermes_url_check(dx_str(good[i]), &is_scheme));
    for (size_t i = 0; i < LENGTH(bad); i++) {
        assert_non_null(hermes_url_check(dx_str(bad[i]), &is_scheme));
        assert_false(is_scheme);
    }
    for (size_t i = 0; i < LENGTH(other); i++) {
        assert_non_null(hermes_url_check(dx_str(other[i]), &is_scheme));
        assert_true(is_scheme);
    }
    assert_non_null(hermes_url_check((dx_text){"http://a\0b", 10}, &is_scheme));
    static char at_limit[HERMES_URL_MAX + 1] = "http://";
    memset(at_limit + 7, 'a', sizeof at_limit - 7);
    assert_null(hermes_url_check((dx_text){at_limit, HERMES_URL_MAX}, &is_scheme));
    assert_non_null(hermes_url_check((dx_text){at_limit, HERMES_URL_MAX + 1}, &is_scheme));
}

/* Undo. */

static hermes_step step_of(const dx_allocator *alloc, size_t len, uint64_t number) {
    char *at = dx__malloc(alloc, len + 1);
    memset(at, 'x', len);
    return (hermes_step){.version = {.at = at, .len = len, .number = number}, .is_whole = true};
}

static void push(hermes_undo *undo, const dx_allocator *alloc, size_t len, uint64_t number) {
    assert_int_equal(hermes_undo_reserve(undo, alloc), DX_OK);
    hermes_undo_push(undo, alloc, step_of(alloc, len, number));
}

static void expect_pop(hermes_undo *undo, const dx_allocator *alloc, uint64_t number) {
    hermes_step *step = hermes_undo_last(undo);
    assert_non_null(step);
    assert_int_equal(step->version.number, number);
    dx__free(alloc, step->version.at);
    hermes_undo_pop(undo);
}

static void test_undo(void **state) {
    struct unit_memory memory = {0};
    dx_allocator alloc = unit_allocator(&memory);
    hermes_undo undo = {.max = 20, .bytes_max = 100};
    (void)state;
    assert_null(hermes_undo_last(&undo));
    for (uint64_t i = 1; i <= 21; i++)
        push(&undo, &alloc, 1, i);
    assert_int_equal(undo.count, 20); /* the first one is forgotten */
    assert_int_equal(undo.dropped, 1);
    assert_int_equal(undo.steps[0].version.number, 2);
    push(&undo, &alloc, 80, 22); /* 19 and 80: all of them fit */
    assert_int_equal(undo.count, 20);
    assert_int_equal(undo.bytes, 99);
    expect_pop(&undo, &alloc, 22);
    push(&undo, &alloc, 82, 23); /* one too many */
    assert_int_equal(undo.bytes, 100);
    assert_int_equal(undo.steps[0].version.number, 4);
    push(&undo, &alloc, 100, 24);
    assert_int_equal(undo.count, 1);
    push(&undo, &alloc, 101, 25); /* too large by itself: nothing before it can be reached */
    assert_int_equal(undo.count, 0);
    assert_int_equal(undo.bytes, 0);
    assert_int_equal(undo.dropped, 24);
    push(&undo, &alloc, 0, 26);
    expect_pop(&undo, &alloc, 26);
    hermes_undo_done(&undo, &alloc);
    assert_int_equal(memory.blocks, 0);
    hermes_undo none = {.max = 0, .bytes_max = 100};
    push(&none, &alloc, 1, 1);
    assert_null(hermes_undo_last(&none));
    assert_int_equal(none.dropped, 1);
    memory.count = 0;
    memory.fail_at = 1;
    assert_int_equal(hermes_undo_reserve(&undo, &alloc), DX_ERR_NOMEM);
    hermes_undo_done(&none, &alloc);
    hermes_undo_done(&undo, &alloc);
    assert_int_equal(memory.blocks, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words), cmocka_unit_test(test_words_that_are_none),
        cmocka_unit_test(test_join),  cmocka_unit_test(test_levels),
        cmocka_unit_test(test_urls),  cmocka_unit_test(test_undo),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
