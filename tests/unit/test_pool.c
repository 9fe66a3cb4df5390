#include "unit/unit.h"

#include "base/pool.h"

struct thing {
    dx__pooled pooled;
    uint64_t filling[3];
};

enum { MOST = 200, MANY = 20000 };

static uint64_t handle_of(const struct thing *thing) {
    return dx__pool_handle(&thing->pooled);
}

static struct thing *take(dx__pool *pool) {
    struct thing *thing = dx__pool_take(pool);
    assert_non_null(thing);
    for (size_t i = 0; i < LENGTH(thing->filling); i++)
        thing->filling[i] = UINT64_MAX; /* all of it is ours: the pool keeps nothing in there */
    return thing;
}

static void new_pool(dx__pool *pool, const dx_allocator *alloc) {
    dx__pool_init(pool, sizeof(struct thing), alloc);
}

static void found_while_it_lives(void **state) {
    (void)state;
    dx__pool pool;
    new_pool(&pool, NULL);
    assert_null(dx__pool_find(&pool, 0));
    struct thing *first = take(&pool);
    struct thing *second = take(&pool);
    uint64_t handle = handle_of(first);
    assert_true(handle != 0 && handle != handle_of(second));
    assert_ptr_equal(dx__pool_find(&pool, handle), first);
    dx__pool_give(&pool, first);
    assert_null(dx__pool_find(&pool, handle));
    assert_ptr_equal(dx__pool_find(&pool, handle_of(second)), second);
    assert_null(dx__pool_find(&pool, 0));
    assert_null(dx__pool_find(&pool, UINT64_MAX));
    assert_int_equal(pool.live, 1);
    dx__pool_done(&pool);
}

static int compare(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Takes and gives at random, trims whenever nothing lives; every handle ever given is noted. */
static void handles_are_never_used_twice(void **state) {
    (void)state;
    struct unit_memory memory = {0};
    dx_allocator alloc = unit_allocator(&memory);
    static uint64_t handles[MANY];
    struct thing *live[MOST];
    size_t count = 0;
    size_t given = 0;
    size_t trims = 0;
    uint64_t seed = 5;
    dx__pool pool;
    new_pool(&pool, &alloc);
    while (given < MANY) {
        size_t most = given % 1000 < 500 ? MOST : 3;
        if (count < most && unit_random(&seed, 5) > 1) {
            live[count] = take(&pool);
            handles[given++] = handle_of(live[count]);
            assert_ptr_equal(dx__pool_find(&pool, handle_of(live[count])), live[count]);
            count++;
        } else if (count) {
            size_t at = unit_random(&seed, count);
            uint64_t handle = handle_of(live[at]);
            dx__pool_give(&pool, live[at]);
            assert_null(dx__pool_find(&pool, handle));
            live[at] = live[--count];
        } else {
            dx__pool_trim(&pool);
            assert_int_equal(memory.blocks, 0);
            trims++;
        }
        assert_int_equal(pool.live, count);
    }
    assert_true(trims > 10);
    qsort(handles, MANY, sizeof *handles, compare);
    for (size_t i = 1; i < MANY; i++)
        assert_true(handles[i - 1] != handles[i]);
    dx__pool_done(&pool);
    assert_int_equal(memory.blocks, 0);
}

static void stale_handles_find_nothing_after_a_trim(void **state) {
    (void)state;
    uint64_t old[40];
    struct thing *things[40];
    dx__pool pool;
    new_pool(&pool, NULL);
    for (size_t i = 0; i < LENGTH(things); i++)
        old[i] = handle_of(things[i] = take(&pool));
    for (size_t i = 0; i < LENGTH(things); i++)
        dx__pool_give(&pool, things[i]);
    dx__pool_trim(&pool);
    for (size_t i = 0; i < LENGTH(old); i++)
        assert_null(dx__pool_find(&pool, old[i]));
    for (size_t i = 0; i < LENGTH(things); i++)
        take(&pool);
    for (size_t i = 0; i < LENGTH(old); i++)
        assert_null(dx__pool_find(&pool, old[i]));
    dx__pool_done(&pool);
}

static void trim_spares_what_lives(void **state) {
    (void)state;
    dx__pool pool;
    new_pool(&pool, NULL);
    dx__pool_trim(&pool);
    struct thing *thing = take(&pool);
    uint64_t handle = handle_of(thing);
    dx__pool_trim(&pool);
    assert_ptr_equal(dx__pool_find(&pool, handle), thing);
    dx__pool_done(&pool);
}

static void each_comes_once(void **state) {
    (void)state;
    struct thing *things[50];
    dx__pool pool;
    new_pool(&pool, NULL);
    uint32_t cursor = 0;
    assert_null(dx__pool_each(&pool, &cursor));
    for (size_t i = 0; i < LENGTH(things); i++)
        things[i] = take(&pool);
    for (size_t i = 0; i < LENGTH(things); i += 2)
        dx__pool_give(&pool, things[i]);
    cursor = 0;
    for (size_t i = 1; i < LENGTH(things); i += 2)
        assert_ptr_equal(dx__pool_each(&pool, &cursor), things[i]);
    assert_null(dx__pool_each(&pool, &cursor));
    dx__pool_done(&pool);
}

/* At each allocation of the first forty objects: nothing is lost, and it goes on afterwards. */
static void works_again_after_no_memory(void **state) {
    (void)state;
    for (size_t fail = 1; fail < 10; fail++) {
        struct unit_memory memory = {.fail_at = fail};
        dx_allocator alloc = unit_allocator(&memory);
        dx__pool pool;
        new_pool(&pool, &alloc);
        size_t taken = 0;
        while (taken < 100 && dx__pool_take(&pool))
            taken++;
        assert_int_equal(pool.live, taken);
        memory.fail_at = 0;
        take(&pool);
        uint32_t cursor = 0;
        for (size_t i = 0; i < taken + 1; i++)
            assert_non_null(dx__pool_each(&pool, &cursor));
        assert_null(dx__pool_each(&pool, &cursor));
        dx__pool_done(&pool);
        assert_int_equal(memory.blocks, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(found_while_it_lives),
        cmocka_unit_test(handles_are_never_used_twice),
        cmocka_unit_test(stale_handles_find_nothing_after_a_trim),
        cmocka_unit_test(trim_spares_what_lives),
        cmocka_unit_test(each_comes_once),
        cmocka_unit_test(works_again_after_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
