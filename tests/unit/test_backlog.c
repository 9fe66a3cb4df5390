/* Entries in blocks: in order, within a limit, and in memory that is used again. */
#include "unit/unit.h"

#include "host/backlog.h"

enum { BLOCK = 1 << 20, SPARES = 8 };

static char *add(dx__backlog *backlog, size_t len, char letter) {
    char *room = NULL;
    assert_int_equal(dx__backlog_add(backlog, len, &room), DX_OK);
    memset(room, letter, len);
    return room;
}

static void entries_come_in_order(void **state) {
    (void)state;
    enum { MANY = 1000 };
    dx__backlog backlog = {.max = 64 << 20};
    size_t sum = 0;
    for (size_t i = 0; i < MANY; i++) {
        size_t len = 1 + i * 7919 % 20000;
        add(&backlog, len, (char)('a' + i % 26));
        sum += len;
    }
    assert_int_equal(backlog.len, sum);
    assert_int_equal(backlog.added, sum);
    assert_true(backlog.first != backlog.last);
    size_t i = 0;
    for (dx__block *block; (block = dx__backlog_take(&backlog));) {
        assert_true(block->len <= block->room);
        for (size_t at = 0; at < block->len; i++) {
            size_t len = 1 + i * 7919 % 20000;
            assert_int_equal(block->data[at], 'a' + i % 26);
            assert_int_equal(block->data[at + len - 1], 'a' + i % 26);
            at += len;
        }
        dx__backlog_give_back(&backlog, block);
    }
    assert_int_equal(i, MANY);
    assert_int_equal(backlog.len, 0);
    assert_int_equal(backlog.taken, 0);
    assert_int_equal(backlog.added, sum);
    assert_null(backlog.first);
    assert_null(backlog.last);
    dx__backlog_done(&backlog);
}

static void what_was_taken_counts_until_it_is_given_back(void **state) {
    (void)state;
    dx__backlog backlog = {.max = 1000};
    char *room = NULL;
    assert_int_equal(dx__backlog_add(&backlog, 1001, &room), DX_ERR_LIMIT);
    assert_int_equal(dx__backlog_add(&backlog, SIZE_MAX, &room), DX_ERR_LIMIT);
    add(&backlog, 999, 'x');
    add(&backlog, 1, 'y');
    assert_int_equal(dx__backlog_add(&backlog, 1, &room), DX_ERR_LIMIT);
    dx__block *block = dx__backlog_take(&backlog);
    assert_int_equal(block->len, 1000);
    assert_int_equal(dx__backlog_add(&backlog, 1, &room), DX_ERR_LIMIT);
    assert_null(room);
    dx__backlog_give_back(&backlog, block);
    add(&backlog, 1000, 'z');
    assert_int_equal(dx__backlog_add(&backlog, 1, &room), DX_ERR_LIMIT);
    dx__backlog_done(&backlog);
    assert_int_equal(backlog.max, 1000);
    add(&backlog, 1000, 'z');
    dx__backlog_done(&backlog);
}

static void a_large_one_has_a_block_of_its_own(void **state) {
    (void)state;
    dx__backlog backlog = {.max = 16 << 20};
    add(&backlog, 10, 'a');
    dx__block *first = backlog.last;
    add(&backlog, first->room - 10, 'b'); /* just fits */
    assert_ptr_equal(backlog.last, first);
    add(&backlog, first->room, 'c');
    assert_int_equal(backlog.last->room, first->room);
    add(&backlog, first->room + 1, 'd');
    assert_int_equal(backlog.last->room, first->room + 1);
    add(&backlog, 1, 'e');
    for (const char *letter = "acde"; *letter; letter++) {
        dx__block *block = dx__backlog_take(&backlog);
        assert_int_equal(block->data[0], *letter);
        dx__backlog_give_back(&backlog, block);
    }
    assert_null(dx__backlog_take(&backlog));
    dx__backlog_give_back(&backlog, NULL);
    assert_int_equal(backlog.spares, 3); /* not the large one */
    dx__backlog_done(&backlog);
}

static void memory_is_used_again(void **state) {
    (void)state;
    dx__backlog backlog = {.max = 16 << 20};
    const char *one = add(&backlog, 100, 'a');
    dx__block *block = dx__backlog_take(&backlog);
    const char *two = add(&backlog, 100, 'b');
    assert_ptr_not_equal(one, two);
    for (int i = 0; i < 10; i++) {
        dx__backlog_give_back(&backlog, block);
        block = dx__backlog_take(&backlog);
        const char *next = add(&backlog, 100, 'c');
        assert_ptr_equal(next, i % 2 ? two : one);
    }
    dx__backlog_give_back(&backlog, block);
    dx__backlog_done(&backlog);
}

static void blocks_are_made_beforehand(void **state) {
    (void)state;
    dx__backlog backlog = {.max = 64 << 20};
    assert_false(dx__backlog_wants_spare(&backlog));
    add(&backlog, BLOCK - 100, 'a');
    assert_false(dx__backlog_wants_spare(&backlog)); /* little comes */
    add(&backlog, BLOCK - 100, 'b');
    int made = 0;
    for (; dx__backlog_wants_spare(&backlog); made++) {
        dx__block *block = dx__block_new();
        assert_non_null(block);
        assert_int_equal(block->room, backlog.first->room);
        dx__backlog_put_spare(&backlog, block);
    }
    assert_int_equal(made, SPARES);
    const dx__block *spare = backlog.spare;
    add(&backlog, BLOCK - 100, 'c');
    assert_ptr_equal(backlog.last, spare);
    assert_int_equal(backlog.spares, SPARES - 1);
    assert_true(dx__backlog_wants_spare(&backlog));
    dx__backlog_trim(&backlog);
    assert_int_equal(backlog.spares, 1);
    assert_null(backlog.spare->next);
    dx__backlog_done(&backlog);
    dx__backlog_trim(&backlog);
    /* None that there is no room for. */
    backlog.max = 3 << 20;
    add(&backlog, BLOCK - 100, 'a');
    add(&backlog, BLOCK - 100, 'b');
    assert_true(dx__backlog_wants_spare(&backlog));
    dx__backlog_put_spare(&backlog, dx__block_new());
    dx__backlog_put_spare(&backlog, dx__block_new());
    assert_false(dx__backlog_wants_spare(&backlog));
    dx__backlog_done(&backlog);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_come_in_order),
        cmocka_unit_test(what_was_taken_counts_until_it_is_given_back),
        cmocka_unit_test(a_large_one_has_a_block_of_its_own),
        cmocka_unit_test(memory_is_used_again),
        cmocka_unit_test(blocks_are_made_beforehand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
