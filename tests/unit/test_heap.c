#include "unit/unit.h"

#include "base/heap.h"

enum { TIMERS = 200, MANY = 100000 };

static dx__heap new_heap(size_t count) {
    dx__heap heap;
    dx__heap_init(&heap, NULL);
    assert_int_equal(dx__heap_reserve(&heap, count), DX_OK);
    return heap;
}

static void empty_has_nothing_due(void **state) {
    (void)state;
    dx__heap heap;
    dx__heap_init(&heap, NULL);
    assert_true(dx__heap_next(&heap) == DX_NEVER);
    assert_null(dx__heap_due(&heap, DX_NEVER));
    dx__heap_done(&heap);
}

static void due_in_the_order_of_time(void **state) {
    (void)state;
    static const uint64_t times[] = {50, 10, 40, 10, 0, 30, DX_NEVER - 1, 20};
    dx__heap heap = new_heap(LENGTH(times));
    dx__timer timers[LENGTH(times)] = {0};
    for (size_t i = 0; i < LENGTH(times); i++)
        dx__heap_add(&heap, &timers[i], times[i]);
    uint64_t before = 0;
    assert_true(dx__heap_next(&heap) == 0);
    for (size_t i = 0; i < LENGTH(times); i++) {
        dx__timer *timer = dx__heap_due(&heap, DX_NEVER - 1);
        assert_non_null(timer);
        assert_true(timer->when >= before);
        assert_int_equal(timer->place, 0);
        before = timer->when;
    }
    assert_null(dx__heap_due(&heap, DX_NEVER - 1));
    dx__heap_done(&heap);
}

static void due_at_its_time_and_not_before(void **state) {
    (void)state;
    dx__heap heap = new_heap(1);
    dx__timer timer = {0};
    dx__heap_add(&heap, &timer, 100);
    assert_null(dx__heap_due(&heap, 99));
    assert_ptr_equal(dx__heap_due(&heap, 100), &timer);
    assert_null(dx__heap_due(&heap, 100));
    dx__heap_done(&heap);
}

static void never_is_not_put_in(void **state) {
    (void)state;
    dx__heap heap = new_heap(2);
    dx__timer timer = {0};
    dx__heap_add(&heap, &timer, DX_NEVER);
    assert_int_equal(heap.count, 0);
    dx__heap_drop(&heap, &timer); /* of one that is not in: nothing */
    dx__heap_move(&heap, &timer, 5);
    assert_true(dx__heap_next(&heap) == 5);
    dx__heap_move(&heap, &timer, DX_NEVER);
    assert_int_equal(heap.count, 0);
    assert_true(dx__heap_next(&heap) == DX_NEVER);
    assert_null(dx__heap_due(&heap, DX_NEVER));
    dx__heap_done(&heap);
}

static void moved_back_and_forth(void **state) {
    (void)state;
    dx__heap heap = new_heap(2);
    dx__timer a = {0};
    dx__timer b = {0};
    dx__heap_add(&heap, &a, 10);
    dx__heap_add(&heap, &b, 20);
    dx__heap_move(&heap, &a, 30);
    assert_null(dx__heap_due(&heap, 15));
    assert_true(dx__heap_next(&heap) == 20); /* put right by the look before */
    dx__heap_move(&heap, &a, 25);
    assert_ptr_equal(dx__heap_due(&heap, 20), &b);
    assert_null(dx__heap_due(&heap, 24));
    assert_ptr_equal(dx__heap_due(&heap, 25), &a);
    dx__heap_add(&heap, &a, 40);
    dx__heap_move(&heap, &a, 5);
    assert_true(dx__heap_next(&heap) == 5);
    dx__heap_drop(&heap, &a);
    dx__heap_drop(&heap, &a);
    assert_int_equal(heap.count, 0);
    dx__heap_done(&heap);
}

/* Every place is that of its timer, and no child is before its parent. */
static void check_shape(const dx__heap *heap) {
    for (size_t i = 0; i < heap->count; i++) {
        assert_int_equal(heap->timers[i]->place, i + 1);
        assert_true(heap->timers[i]->key <= heap->timers[i]->when);
        if (i)
            assert_true(heap->timers[(i - 1) / 2]->key <= heap->timers[i]->key);
    }
}

/* The model: each timer's time, DX_NEVER for one that does not run. */
static uint64_t model[TIMERS];

static uint64_t model_next(void) {
    uint64_t next = DX_NEVER;
    for (size_t i = 0; i < TIMERS; i++)
        if (model[i] < next)
            next = model[i];
    return next;
}

static void take_due(dx__heap *heap, const dx__timer *timers, uint64_t now) {
    for (dx__timer *timer; (timer = dx__heap_due(heap, now));) {
        size_t at = (size_t)(timer - timers);
        assert_true(model[at] <= now && model[at] == timer->when);
        model[at] = DX_NEVER;
    }
    assert_true(model_next() > now); /* none was left behind */
}

static void agrees_with_a_list(void **state) {
    (void)state;
    uint64_t seed = 11;
    uint64_t now = 0;
    static dx__timer timers[TIMERS];
    dx__heap heap = new_heap(TIMERS);
    for (size_t i = 0; i < TIMERS; i++)
        model[i] = DX_NEVER;
    for (int i = 0; i < MANY; i++) {
        size_t at = unit_random(&seed, TIMERS);
        uint64_t when = unit_random(&seed, 50) ? now + unit_random(&seed, 1000) : DX_NEVER;
        if (unit_random(&seed, 4)) {
            dx__heap_move(&heap, &timers[at], when);
            model[at] = when;
        } else {
            dx__heap_drop(&heap, &timers[at]);
            model[at] = DX_NEVER;
        }
        assert_true(dx__heap_next(&heap) <= model_next());
        if (i % 8 == 0)
            take_due(&heap, timers, now += unit_random(&seed, 20));
        if (i % 100 == 0)
            check_shape(&heap);
    }
    take_due(&heap, timers, DX_NEVER - 1);
    assert_int_equal(heap.count, 0);
    dx__heap_done(&heap);
}

static void reserve_fails_without_harm(void **state) {
    (void)state;
    struct unit_memory memory = {.fail_at = 2};
    dx_allocator alloc = unit_allocator(&memory);
    dx__heap heap;
    dx__heap_init(&heap, &alloc);
    dx__timer timers[2] = {0};
    assert_int_equal(dx__heap_reserve(&heap, 1), DX_OK);
    dx__heap_add(&heap, &timers[0], 7);
    assert_int_equal(dx__heap_reserve(&heap, 1000), DX_ERR_NOMEM);
    assert_int_equal(dx__heap_reserve(&heap, 2), DX_OK); /* there is room for that already */
    dx__heap_add(&heap, &timers[1], 3);
    assert_ptr_equal(dx__heap_due(&heap, 3), &timers[1]);
    assert_ptr_equal(dx__heap_due(&heap, 7), &timers[0]);
    memory.fail_at = 0;
    assert_int_equal(dx__heap_reserve(&heap, 1000), DX_OK);
    dx__heap_done(&heap);
    assert_int_equal(memory.blocks, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_has_nothing_due),
        cmocka_unit_test(due_in_the_order_of_time),
        cmocka_unit_test(due_at_its_time_and_not_before),
        cmocka_unit_test(never_is_not_put_in),
        cmocka_unit_test(moved_back_and_forth),
        cmocka_unit_test(agrees_with_a_list),
        cmocka_unit_test(reserve_fails_without_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
