/* Patterns and texts that are made to take long, or much; and memory that is not there. */
#include "unit/patterns.h"

#include "schema/ecma.h"

#include <stdio.h>
#include <time.h>

/* "(((…)))" with that many groups in each other. */
static dx_status nested(size_t depth, const char *open) {
    char source[4096];
    size_t len = 0;
    size_t open_len = strlen(open);
    for (size_t i = 0; i < depth; i++, len += open_len)
        memcpy(source + len, open, open_len);
    memset(source + len, ')', depth);
    dx__pattern *pattern = NULL;
    dx_text text = {source, len + depth};
    dx_status status = dx__pattern_new(NULL, text, &pattern, NULL, 0);
    assert_int_equal(dx__pattern_is(text), status == DX_OK);
    dx__pattern_free(pattern);
    return status;
}

static void nesting_has_a_limit(void **state) {
    (void)state;
    static const char *const opens[] = {"(", "(?:", "(?=", "(?<=", "(|"};
    for (size_t i = 0; i < LENGTH(opens); i++) {
        assert_int_equal(nested(DX__ECMA_NESTING_MAX, opens[i]), DX_OK);
        assert_int_equal(nested(DX__ECMA_NESTING_MAX + 1, opens[i]), DX_ERR_INVALID);
    }
}

static void names_have_a_limit(void **state) {
    (void)state;
    char source[2000] = "";
    size_t len = 0;
    for (int i = 0; i < DX__ECMA_NAMES_MAX; i++)
        len += (size_t)snprintf(source + len, sizeof source - len, "(?<n%d>a)", i);
    dx__pattern_free(compiled(dx_str(source)));
    snprintf(source + len, sizeof source - len, "(?<last>a)");
    dx__pattern *pattern;
    char why[200];
    assert_int_equal(dx__pattern_new(NULL, dx_str(source), &pattern, why, sizeof why),
                     DX_ERR_INVALID);
    assert_non_null(strstr(why, "more than 100 names"));
}

/* Grows fifty times when it is written for PCRE2. */
static void long_patterns(void **state) {
    (void)state;
    char source[4096];
    memset(source, 'S', sizeof source);
    for (size_t i = 0; i < sizeof source; i += 2)
        source[i] = '\\';
    source[0] = source[1] = '[';
    source[sizeof source - 2] = source[sizeof source - 1] = ']';
    source[sizeof source - 1] = '+';
    dx__pattern *pattern = NULL;
    char why[200] = "";
    assert_int_equal(
        dx__pattern_new(NULL, (dx_text){source, sizeof source}, &pattern, why, sizeof why),
        DX_ERR_INVALID);
    assert_string_equal(why, "a pattern that is too large");
    memset(source, '.', sizeof source);
    assert_int_equal(dx__pattern_new(NULL, (dx_text){source, 500}, &pattern, NULL, 0), DX_OK);
    assert_int_equal(dx__pattern_find(pattern, room, (dx_text){source, 499}), DX_AGAIN);
    assert_int_equal(dx__pattern_find(pattern, room, (dx_text){source, 500}), DX_OK);
    dx__pattern_free(pattern);
}

struct hostile {
    const char *pattern;
    size_t len; /* of a text of "a" */
};

static const struct hostile hostile[] = {
    {"(a+)+$", 40},
    {"^(a+)+$", 40},
    {"(?:a|a)*[bc]$", 1000},
    {"(?:a|a){19}[bc]", 1000}, /* under PCRE2's limit from each place alone */
    {"^(?:a?){40}a{40}[bc]", 40},
    {"[ab]*[cd]", 1000000}, /* a step from each place, but a long one */
    {"^(?:[ab]*c|.)*$", 1000000},
    {"^(?:(?=[ab]*)a)*$", 100000},
    {"(?:a{1000}|b)[bc]", 1000000},
    {"(a*)\\1[bc]", 1000000},
    {"^(a{9000})a*?\\1[bc]", 1000000},
    {".*.*.*[xy]", 5000},
    {"(.)*$[xy]", 2000000}, /* remembers where it was at each character */
};

/* Looks in that many times "a", with "!b" behind them; it must be given up, and soon. The letters
 * at the end keep PCRE2 from seeing at once that there is no match. */
static void expect_given_up(dx_text source, size_t len) {
    char *text = malloc(len + 2);
    assert_non_null(text);
    memset(text, 'a', len);
    memcpy(text + len, "!b", 2);
    clock_t before = clock();
    dx_status status = find(source, (dx_text){text, len + 2});
    double ms = (double)(clock() - before) * 1000 / CLOCKS_PER_SEC;
    if (status != DX_ERR_LIMIT)
        fail_msg("%.60s: %d", source.at, (int)status);
    if (ms > 250) /* about 15, but for a slow machine */
        fail_msg("%.60s: given up after %.0f ms", source.at, ms);
    free(text);
}

static void what_takes_too_long(void **state) {
    (void)state;
    for (size_t i = 0; i < LENGTH(hostile); i++)
        expect_given_up(dx_str(hostile[i].pattern), hostile[i].len);
    /* The room is as good as before. */
    assert_int_equal(find(TEXT("^a+$"), TEXT("aaa")), DX_OK);
}

/* Little to do at each place, but for the length of the pattern. */
static void long_patterns_take_too_long(void **state) {
    (void)state;
    char source[4097] = "";
    memset(source, 'a', 4000);
    source[4000] = 'b';
    expect_given_up((dx_text){source, 4001}, 1000000);
    strcpy(source, "(?:ab");
    for (size_t len = 5; len + 4 <= 4000; len += 3)
        strcpy(source + len, "|ab");
    strcat(source, ")");
    expect_given_up(dx_str(source), 1000000);
}

static dx_status find_with(uint32_t match_max, const char *source, size_t len) {
    dx__pattern_room *small = NULL;
    char text[1000];
    memset(text, 'a', len);
    assert_int_equal(dx__pattern_room_new(NULL, match_max, &small), DX_OK);
    dx__pattern *pattern = compiled(dx_str(source));
    dx_status status = dx__pattern_find(pattern, small, (dx_text){text, len});
    dx__pattern_free(pattern);
    dx__pattern_room_free(small);
    return status;
}

/* The least match_max with which a search comes to its end. */
static uint32_t effort_of(const char *source, size_t len) {
    uint32_t low = 0; /* too little */
    uint32_t high = MATCH_MAX;
    assert_int_equal(find_with(high, source, len), DX_AGAIN);
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        dx_status status = find_with(middle, source, len);
        assert_true(status == DX_AGAIN || status == DX_ERR_LIMIT);
        *(status == DX_AGAIN ? &high : &low) = middle;
    }
    return high;
}

static void the_limit_is_what_it_says(void **state) {
    (void)state;
    /* From one place, and from each: the second takes the square of the first. */
    assert_in_range(effort_of("^[ab]*[cd]", 800), 40, 60);
    assert_in_range(effort_of("[ab]*[cd]", 100), 350, 600);
    assert_in_range(effort_of("[ab]*[cd]", 800), 18000, 24000);
    assert_int_equal(find_with(effort_of("[ab]*[cd]", 500) - 1, "[ab]*[cd]", 500), DX_ERR_LIMIT);
    /* A long repetition that fails counts, too. */
    assert_true(effort_of("[ab]{700}[cd]", 699) <= 2);
    assert_in_range(effort_of("[ab]{400}[cd]", 399), 1, 2);
    assert_in_range(effort_of("(?:a{300}|b)[cd]", 299), 299 * 300 / 16, 299 * 400 / 16);
}

static void long_texts_are_fine(void **state) {
    (void)state;
    size_t len = 4000000;
    char *text = malloc(len);
    assert_non_null(text);
    for (size_t i = 0; i < len; i++)
        text[i] = "word, "[i % 6];
    dx_text all = {text, len};
    assert_int_equal(find(TEXT("^[a-z, ]+$"), all), DX_OK);
    assert_int_equal(find(TEXT("[A-Z]"), all), DX_AGAIN);
    assert_int_equal(find(TEXT("^[^;]*;"), all), DX_AGAIN);
    assert_int_equal(find(TEXT("wordy"), all), DX_AGAIN);
    assert_int_equal(find(TEXT("word.[;x]"), all), DX_AGAIN);
    free(text);
}

static void texts_that_are_not_utf8(void **state) {
    (void)state;
    assert_int_equal(find(TEXT("^.+$"), TEXT("a\xff")), DX_AGAIN);
    assert_int_equal(find(TEXT("[^b]$"), TEXT("\xe2\x82")), DX_AGAIN);
    assert_int_equal(find(TEXT("^[^]*$"), TEXT("\xed\xa0\x80")), DX_AGAIN);
}

static const char *const samples[] = {
    "^x-", "^[a-z]+(?:-[a-z]+)*$", "(a+)+$", "\\p{L}(\\d)\\1", "(", "(?<=a+)", "[\\S]{40}"};

/* Every allocation may fail, and leaves nothing behind. */
static void without_memory(void **state) {
    (void)state;
    for (size_t i = 0; i < LENGTH(samples); i++) {
        dx_status status = DX_ERR_NOMEM;
        for (size_t fail_at = 1; status == DX_ERR_NOMEM; fail_at++) {
            struct unit_memory memory = {.fail_at = fail_at};
            dx_allocator alloc = unit_allocator(&memory);
            dx__pattern *pattern = NULL;
            status = dx__pattern_new(&alloc, dx_str(samples[i]), &pattern, NULL, 0);
            assert_int_equal(status == DX_OK, pattern != NULL);
            assert_true(fail_at < 100);
            dx__pattern_free(pattern);
            assert_int_equal(memory.blocks, 0);
        }
    }
    size_t refused = 0;
    for (dx_status status = DX_ERR_NOMEM; status != DX_OK; refused++) {
        struct unit_memory memory = {.fail_at = refused + 1};
        dx_allocator alloc = unit_allocator(&memory);
        dx__pattern_room *small = NULL;
        status = dx__pattern_room_new(&alloc, 1000, &small);
        assert_int_equal(status == DX_OK, small != NULL);
        dx__pattern_room_free(small);
        assert_int_equal(memory.blocks, 0);
    }
    assert_in_range(refused, 3, 10);
}

static void searching_without_memory(void **state) {
    (void)state;
    struct unit_memory memory = {0};
    dx_allocator alloc = unit_allocator(&memory);
    dx__pattern_room *small = NULL;
    dx__pattern *pattern = compiled(TEXT("^(?:a|b)*$"));
    char text[3000];
    memset(text, 'b', sizeof text);
    assert_int_equal(dx__pattern_room_new(&alloc, MATCH_MAX, &small), DX_OK);
    for (int i = 0; i < 3; i++) {
        memory.fail_at = memory.count + 1;
        assert_int_equal(dx__pattern_find(pattern, small, (dx_text){text, sizeof text}),
                         DX_ERR_NOMEM);
    }
    memory.fail_at = 0;
    assert_int_equal(dx__pattern_find(pattern, small, (dx_text){text, sizeof text}), DX_OK);
    /* It has grown to what is needed: from now on nothing is asked for. */
    memory.fail_at = memory.count + 1;
    for (int i = 0; i < 3; i++)
        assert_int_equal(dx__pattern_find(pattern, small, (dx_text){text, sizeof text}), DX_OK);
    assert_int_equal(memory.count + 1, memory.fail_at);
    dx__pattern_free(pattern);
    dx__pattern_room_free(small);
    assert_int_equal(memory.blocks, 0);
}

/* A search does not take more than the room may have. */
static void memory_has_a_limit(void **state) {
    (void)state;
    static const uint32_t limits[] = {0, 1, 10000, MATCH_MAX};
    size_t len = 1000000;
    char *text = malloc(len);
    assert_non_null(text);
    memset(text, 'b', len);
    dx__pattern *pattern = compiled(TEXT("^(?:a|b)*$"));
    for (size_t i = 0; i < LENGTH(limits); i++) {
        struct unit_memory memory = {0};
        dx_allocator alloc = unit_allocator(&memory);
        dx__pattern_room *small = NULL;
        assert_int_equal(dx__pattern_room_new(&alloc, limits[i], &small), DX_OK);
        assert_int_equal(dx__pattern_find(pattern, small, (dx_text){text, len}), DX_ERR_LIMIT);
        assert_in_range(memory.peak, 0, 100000 + (size_t)limits[i] * 16);
        dx__pattern_room_free(small);
        assert_int_equal(memory.blocks, 0);
    }
    dx__pattern_free(pattern);
    free(text);
}

static void nothing_to_free(void **state) {
    (void)state;
    assert_null(dx__pattern_free(NULL));
    assert_null(dx__pattern_room_free(NULL));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nesting_has_a_limit),
        cmocka_unit_test(names_have_a_limit),
        cmocka_unit_test(long_patterns),
        cmocka_unit_test(what_takes_too_long),
        cmocka_unit_test(long_patterns_take_too_long),
        cmocka_unit_test(the_limit_is_what_it_says),
        cmocka_unit_test(long_texts_are_fine),
        cmocka_unit_test(texts_that_are_not_utf8),
        cmocka_unit_test(without_memory),
        cmocka_unit_test(searching_without_memory),
        cmocka_unit_test(memory_has_a_limit),
        cmocka_unit_test(nothing_to_free),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
