/* Lines of peers: what is shown, what is counted, and when that is reported. */
#include "host/log_limiter.h"
#include "unit/unit.h"

#include <stdio.h>
#include <stdlib.h>

struct shown {
    dx_loop *loop;
    dx__log_limiter *limiter;
    void (*steps)(struct shown *shown);
    size_t lines;
    char text[1000]; /* summaries, and lines that were asked for by say() */
};

static void on_summary(const char *peer, const char *text, void *user) {
    struct shown *shown = user;
    size_t used = strlen(shown->text);
    snprintf(shown->text + used, sizeof shown->text - used, "%s: %s\n", peer, text);
}

static void say(struct shown *shown, const char *peer, int kind, const char *line) {
    if (!dx__log_limiter_pass(shown->limiter, peer, kind, dx_str(line)))
        return;
    size_t used = strlen(shown->text);
    snprintf(shown->text + used, sizeof shown->text - used, "%s> %s\n", peer, line);
}

/* So many different lines of `len` bytes. */
static void flood(struct shown *shown, size_t count, size_t len) {
    char *line = malloc(len + 1);
    static unsigned number;
    memset(line, 'x', len);
    for (size_t i = 0; i < count; i++) {
        char digits[16];
        memcpy(line, digits, (size_t)snprintf(digits, sizeof digits, "%08u", ++number));
        shown->lines += (size_t)dx__log_limiter_pass(shown->limiter, "a", 0, (dx_text){line, len});
    }
    free(line);
}

/* In a dispatch, where no time passes. */
static void take_steps(void *user) {
    struct shown *shown = user;
    shown->steps(shown);
    dx_loop_stop(shown->loop);
}

static void run_steps(struct shown *shown, void (*steps)(struct shown *shown)) {
    shown->steps = steps;
    assert_int_equal(dx_loop_post(shown->loop, take_steps, shown), DX_OK);
    assert_int_equal(dx_loop_run(shown->loop), DX_OK);
}

static void begin(struct shown *shown) {
    *shown = (struct shown){.lines = 0};
    assert_int_equal(dx_loop_new(NULL, &shown->loop, NULL), DX_OK);
    shown->limiter = dx__log_limiter_new(shown->loop, on_summary, shown);
    assert_non_null(shown->limiter);
}

static void end(struct shown *shown) {
    assert_null(dx__log_limiter_free(shown->limiter));
    dx_loop_free(shown->loop);
}

static void many_lines(struct shown *shown) {
    flood(shown, DX__LOG_LINES_MAX, 8);
}

static void one_line(struct shown *shown) {
    flood(shown, 1, 8);
}

static void shows_a_thousand_lines_and_no_more(void **state) {
    struct shown shown;
    (void)state;
    begin(&shown);
    run_steps(&shown, many_lines);
    assert_int_equal(shown.lines, DX__LOG_LINES_MAX);
    dx__log_limiter_flush(shown.limiter, NULL);
    assert_string_equal(shown.text, "");
    end(&shown);
    begin(&shown);
    shown.steps = many_lines;
    for (int i = 0; i < 2; i++) /* in one dispatch */
        assert_int_equal(dx_loop_post(shown.loop, take_steps, &shown), DX_OK);
    assert_int_equal(dx_loop_run(shown.loop), DX_OK);
    assert_int_equal(shown.lines, DX__LOG_LINES_MAX);
    end(&shown);
    assert_string_equal(shown.text, "a: … 1,000 lines suppressed (8,000 bytes)\n");
}

static void the_line_after(struct shown *shown) {
    many_lines(shown);
    one_line(shown);
}

static void counts_one_line(void **state) {
    struct shown shown;
    (void)state;
    begin(&shown);
    run_steps(&shown, the_line_after);
    assert_int_equal(shown.lines, DX__LOG_LINES_MAX);
    end(&shown);
    assert_string_equal(shown.text, "a: … 1 line suppressed (8 bytes)\n");
}

enum { LONG = 8191 }; /* with its end 1/128 of what is shown */

static void a_mebibyte(struct shown *shown) {
    flood(shown, DX__LOG_BYTES_MAX / (LONG + 1), LONG);
}

static void more_than_a_mebibyte(struct shown *shown) {
    a_mebibyte(shown);
    say(shown, "a", 0, "");
    say(shown, "b", 0, "others are shown");
}

static void shows_a_mebibyte_and_no_more(void **state) {
    struct shown shown;
    (void)state;
    begin(&shown);
    run_steps(&shown, a_mebibyte);
    assert_int_equal(shown.lines, 128);
    end(&shown);
    assert_string_equal(shown.text, "");
    begin(&shown);
    run_steps(&shown, more_than_a_mebibyte);
    assert_int_equal(shown.lines, 128);
    end(&shown);
    assert_string_equal(shown.text, "b> others are shown\na: … 1 line suppressed (0 bytes)\n");
}

static void bytes_to_escape(struct shown *shown) {
    char *line = malloc(DX__LOG_BYTES_MAX);
    memset(line, '\xff', DX__LOG_BYTES_MAX);
    shown->lines += (size_t)dx__log_limiter_pass(shown->limiter, "a", 0,
                                                 (dx_text){line, DX__LOG_BYTES_MAX / 4 - 1});
    shown->lines += (size_t)dx__log_limiter_pass(shown->limiter, "b", 0,
                                                 (dx_text){line, DX__LOG_BYTES_MAX / 4});
    free(line);
}

static void counts_bytes_as_they_are_shown(void **state) {
    struct shown shown;
    (void)state;
    begin(&shown);
    run_steps(&shown, bytes_to_escape);
    assert_int_equal(shown.lines, 1);
    end(&shown);
    assert_string_equal(shown.text, "b: … 1 line suppressed (262,144 bytes)\n");
}

static void repeats(struct shown *shown) {
    for (int i = 0; i < 1234 + DX__LOG_SAME_MAX; i++)
        say(shown, "a", 0, "again");
    for (int i = 0; i < 1 + DX__LOG_SAME_MAX; i++)
        say(shown, "a", 0, "else");
    say(shown, "a", 1, "else"); /* something else that reads the same */
    say(shown, "b", 1, "else");
    for (int i = 0; i < 2 + DX__LOG_SAME_MAX; i++)
        say(shown, "a", 1, "");
}

static void collapses_repeats(void **state) {
    struct shown shown;
    (void)state;
    begin(&shown);
    run_steps(&shown, repeats);
    dx__log_limiter_flush(shown.limiter, "b");
    dx__log_limiter_flush(shown.limiter, "a");
    dx__log_limiter_flush(shown.limiter, "a");
    end(&shown);
    assert_string_equal(shown.text, "a> again\na> again\na> again\na> again\na> again\n"
                                    "a: last line repeated 1,234 times\n"
                                    "a> else\na> else\na> else\na> else\na> else\n"
                                    "a: last line repeated once\n"
                                    "a> else\n"
                                    "b> else\n"
                                    "a> \na> \na> \na> \na> \n"
                                    "a: last line repeated 2 times\n");
}

/* Of eight lines five are shown, and a summary, which counts as well. */
static void a_long_line(struct shown *shown) {
    enum { PIECE = 8 << 10, PIECES = 20 };
    static char piece[PIECE];
    memset(piece, 'x', sizeof piece);
    for (int i = 0; i < PIECES; i++)
        shown->lines +=
            (size_t)dx__log_limiter_pass(shown->limiter, "a", 0, (dx_text){piece, PIECE});
    assert_int_equal(shown->lines, PIECES);
    for (int i = 0; i < PIECES; i++)
        shown->lines +=
            (size_t)dx__log_limiter_pass(shown->limiter, "b", 0, (dx_text){piece, PIECE - 1});
    assert_int_equal(shown->lines, PIECES + DX__LOG_SAME_MAX);
}

static void pieces_of_a_long_line_are_not_repeats(void **state) {
    struct shown shown;
    (void)state;
    begin(&shown);
    run_steps(&shown, a_long_line);
    end(&shown);
}

static void eights(struct shown *shown) {
    for (int i = 0; i < 2 * DX__LOG_LINES_MAX; i++) {
        const char *line = i & 8 ? "b" : "a";
        shown->lines += (size_t)dx__log_limiter_pass(shown->limiter, "p", 0, dx_str(line));
    }
}

static void count_summary(const char *peer, const char *text, void *user) {
    struct shown *shown = user;
    (void)peer;
    (void)text;
    shown->lines++;
}

static void counts_summaries_as_lines(void **state) {
    struct shown shown = {.lines = 0};
    (void)state;
    assert_int_equal(dx_loop_new(NULL, &shown.loop, NULL), DX_OK);
    shown.limiter = dx__log_limiter_new(shown.loop, count_summary, &shown);
    assert_non_null(shown.limiter);
    run_steps(&shown, eights);
    end(&shown);
    assert_in_range(shown.lines, DX__LOG_LINES_MAX, DX__LOG_LINES_MAX + 2);
}

static void the_same_again(struct shown *shown) {
    for (int i = 0; i < 1 + DX__LOG_SAME_MAX; i++)
        say(shown, "a", 0, "again");
}

static void too_much_and_the_same_again(struct shown *shown) {
    the_line_after(shown);
    the_same_again(shown);
}

static void on_time(dx_timer *timer, void *user) {
    (void)timer;
    dx_loop_stop(user);
}

static void reports_when_the_second_ends(void **state) {
    struct shown shown;
    dx_timer *timer;
    (void)state;
    begin(&shown);
    assert_int_equal(dx_timer_new(shown.loop, on_time, shown.loop, &timer), DX_OK);
    run_steps(&shown, too_much_and_the_same_again);
    dx_timer_set(timer, 1100);
    assert_int_equal(dx_loop_run(shown.loop), DX_OK);
    assert_string_equal(shown.text, "a: … 7 lines suppressed (38 bytes)\n");
    shown.text[0] = '\0';
    run_steps(&shown, the_same_again); /* all is shown anew */
    dx_timer_set(timer, 1100);
    assert_int_equal(dx_loop_run(shown.loop), DX_OK);
    assert_string_equal(
        shown.text,
        "a> again\na> again\na> again\na> again\na> again\na: last line repeated once\n");
    assert_int_equal(dx_loop_deadline(shown.loop), DX_NEVER);
    end(&shown);
}

static void can_be_missing(void **state) {
    (void)state;
    assert_true(dx__log_limiter_pass(NULL, "a", 0, dx_str("x")));
    dx__log_limiter_flush(NULL, NULL);
    assert_null(dx__log_limiter_free(NULL));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shows_a_thousand_lines_and_no_more),
        cmocka_unit_test(counts_one_line),
        cmocka_unit_test(shows_a_mebibyte_and_no_more),
        cmocka_unit_test(counts_bytes_as_they_are_shown),
        cmocka_unit_test(collapses_repeats),
        cmocka_unit_test(pieces_of_a_long_line_are_not_repeats),
        cmocka_unit_test(counts_summaries_as_lines),
        cmocka_unit_test(reports_when_the_second_ends),
        cmocka_unit_test(can_be_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
