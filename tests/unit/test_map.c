#include "unit/unit.h"

#include "base/map.h"

#include <stdbool.h>
#include <stdio.h>

/* The model: a list of pairs, searched from end to end. */
enum { MOST = 400, MANY = 60000 };

struct model {
    uint64_t key[MOST];
    bool used[MOST];
    size_t count;
};

/* The values are addresses; one for each entry that there can be. */
static char values[MOST];

static size_t count_of(const struct model *model, uint64_t key) {
    size_t count = 0;
    for (size_t i = 0; i < MOST; i++)
        count += model->used[i] && model->key[i] == key;
    return count;
}

/* All entries of a key come, each once, and nothing else does. */
static void check_key(const dx__map *map, const struct model *model, uint64_t key) {
    bool seen[MOST] = {false};
    size_t cursor = 0;
    size_t found = 0;
    for (char *value; (value = dx__map_find(map, key, &cursor)); found++) {
        size_t at = (size_t)(value - values);
        assert_in_range(at, 0, MOST - 1);
        assert_true(model->used[at] && model->key[at] == key && !seen[at]);
        seen[at] = true;
    }
    assert_int_equal(found, count_of(model, key));
}

static void check_all(const dx__map *map, const struct model *model) {
    assert_int_equal(map->count, model->count);
    for (size_t i = 0; i < MOST; i++)
        if (model->used[i])
            check_key(map, model, model->key[i]);
}

static void toggle(dx__map *map, struct model *model, size_t at, uint64_t key) {
    if (model->used[at]) {
        dx__map_drop(map, model->key[at], &values[at]);
        model->count--;
    } else {
        assert_int_equal(dx__map_reserve(map), DX_OK);
        dx__map_put(map, key, &values[at]);
        model->key[at] = key;
        model->count++;
    }
    model->used[at] = !model->used[at];
}

/* Keys below `spread`, each times `step`: a large step makes all of them meet in one slot. */
static void random_operations(uint64_t seed, size_t spread, uint64_t step) {
    struct unit_memory memory = {0};
    dx_allocator alloc = unit_allocator(&memory);
    static struct model model;
    model = (struct model){0};
    dx__map map;
    dx__map_init(&map, &alloc);
    for (int i = 0; i < MANY; i++) {
        size_t at = unit_random(&seed, MOST);
        toggle(&map, &model, at, unit_random(&seed, spread) * step);
        check_key(&map, &model, unit_random(&seed, spread) * step);
        if (i % 1000 == 0)
            check_all(&map, &model);
    }
    check_all(&map, &model);
    for (size_t at = 0; at < MOST; at++)
        if (model.used[at])
            toggle(&map, &model, at, 0);
    assert_int_equal(map.count, 0);
    for (size_t at = 0; at < map.cap; at++)
        assert_null(map.slots[at].value);
    dx__map_done(&map);
    assert_int_equal(memory.blocks, 0);
}

static void agrees_with_a_list(void **state) {
    (void)state;
    random_operations(1, 100000, 1);
}

static void agrees_when_keys_are_equal(void **state) {
    (void)state;
    random_operations(2, 5, 1);
}

static void agrees_when_keys_collide(void **state) {
    (void)state;
    random_operations(3, 300, UINT64_C(1) << 40);
    random_operations(4, 300, 255); /* in a row that wraps around the end of the table */
}

static void drop_closes_the_gap(void **state) {
    (void)state;
    dx__map map;
    dx__map_init(&map, NULL);
    /* Homes in a table of 16: 14 14 15 14 0, so that the run lies in 14 15 0 1 2. */
    static const uint64_t keys[] = {14, 30, 15, 46, 16};
    for (size_t i = 0; i < LENGTH(keys); i++) {
        assert_int_equal(dx__map_reserve(&map), DX_OK);
        dx__map_put(&map, keys[i], &values[i]);
    }
    assert_int_equal(map.cap, 16);
    for (size_t gone = 0; gone < LENGTH(keys); gone++) {
        dx__map_drop(&map, keys[gone], &values[gone]);
        for (size_t i = 0; i < LENGTH(keys); i++) {
            size_t cursor = 0;
            void *found = dx__map_find(&map, keys[i], &cursor);
            assert_ptr_equal(found, i == gone ? NULL : &values[i]);
        }
        dx__map_put(&map, keys[gone], &values[gone]);
    }
    dx__map_done(&map);
}

static void drop_of_what_is_not_there(void **state) {
    (void)state;
    dx__map map;
    dx__map_init(&map, NULL);
    dx__map_drop(&map, 1, &values[0]);
    size_t cursor = 0;
    assert_null(dx__map_find(&map, 1, &cursor));
    assert_int_equal(dx__map_reserve(&map), DX_OK);
    dx__map_put(&map, 1, &values[0]);
    dx__map_drop(&map, 1, &values[1]);
    dx__map_drop(&map, 2, &values[1]);
    assert_int_equal(map.count, 1);
    cursor = 0;
    assert_ptr_equal(dx__map_find(&map, 1, &cursor), &values[0]);
    dx__map_done(&map);
}

static void is_unchanged_without_memory(void **state) {
    (void)state;
    struct unit_memory memory = {.fail_at = 2};
    dx_allocator alloc = unit_allocator(&memory);
    dx__map map;
    dx__map_init(&map, &alloc);
    size_t put = 0;
    for (; dx__map_reserve(&map) == DX_OK; put++)
        dx__map_put(&map, put, &values[put]);
    assert_in_range(put, 8, 15); /* never full: a search has to end */
    for (size_t i = 0; i < put; i++) {
        size_t cursor = 0;
        assert_ptr_equal(dx__map_find(&map, i, &cursor), &values[i]);
    }
    dx__map_done(&map);
    assert_int_equal(memory.blocks, 0);
}

static void hash_depends_on_all_it_is_given(void **state) {
    (void)state;
    static const char bytes[] = "0123456789abcdef0123456789abcdef";
    struct unit_fence fence = unit_fence_new(64);
    for (size_t len = 0; len <= 32; len++) {
        dx_text text = unit_fence_put(&fence, bytes, len);
        uint64_t hash = dx__hash(7, text);
        assert_true(hash == dx__hash(7, (dx_text){bytes, len}));
        assert_true(hash != dx__hash(8, text));
        assert_true(hash != dx__hash(7, (dx_text){bytes, len + 1}));
        for (size_t i = 0; i < len; i++) {
            ((char *)(uintptr_t)text.at)[i] ^= 1;
            assert_true(hash != dx__hash(7, text));
            ((char *)(uintptr_t)text.at)[i] ^= 1;
        }
    }
    unit_fence_done(&fence);
}

/* Ids that all meet in one slot under one seed do not under another. */
static void collisions_do_not_survive_the_seed(void **state) {
    (void)state;
    char id[24];
    size_t under_first = 0;
    size_t under_second = 0;
    for (unsigned i = 0; under_first < 200; i++) {
        int len = snprintf(id, sizeof id, "%u", i);
        dx_text text = {id, (size_t)len};
        if (dx__hash(1, text) % 64)
            continue;
        under_first++;
        under_second += dx__hash(2, text) % 64 == 0;
    }
    assert_in_range(under_second, 0, 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_a_list),
        cmocka_unit_test(agrees_when_keys_are_equal),
        cmocka_unit_test(agrees_when_keys_collide),
        cmocka_unit_test(drop_closes_the_gap),
        cmocka_unit_test(drop_of_what_is_not_there),
        cmocka_unit_test(is_unchanged_without_memory),
        cmocka_unit_test(hash_depends_on_all_it_is_given),
        cmocka_unit_test(collisions_do_not_survive_the_seed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
