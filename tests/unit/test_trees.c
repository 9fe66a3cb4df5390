/* Trees are written straight into the end of the buffer, which moves as it grows: at any place in
 * it, with any limit, and with the allocator saying no at any time. */
#include "unit/unit.h"

#include <duplex/rpc.h>

#include <stdbool.h>

/* A tree whose text is much longer than a first guess from its number of values: strings that
 * need escapes, deep and wide. */
static yyjson_mut_doc *big_tree(size_t items) {
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = yyjson_mut_arr(doc);
    yyjson_mut_doc_set_root(doc, root);
    char text[400];
    for (size_t i = 0; i < items; i++) {
        size_t len = i % sizeof text;
        memset(text, i % 3 ? 'x' : '\x01', len);
        yyjson_mut_val *item = yyjson_mut_obj(doc);
        yyjson_mut_obj_add_strncpy(doc, item, "text", text, len);
        yyjson_mut_obj_add_real(doc, item, "real", (double)i / 3);
        yyjson_mut_val *inner = item;
        for (size_t depth = 0; depth < i % 20; depth++)
            inner = yyjson_mut_obj_add_obj(doc, inner, "inner");
        yyjson_mut_arr_append(root, item);
    }
    return doc;
}

struct tree {
    yyjson_mut_doc *built;
    yyjson_doc *read;
    char *text;
    size_t len;
};

static struct tree new_tree(size_t items) {
    struct tree tree = {.built = big_tree(items)};
    tree.text = yyjson_mut_write(tree.built, 0, &tree.len);
    tree.read = yyjson_read(tree.text, tree.len, 0);
    assert_non_null(tree.read);
    return tree;
}

static void free_tree(struct tree *tree) {
    yyjson_mut_doc_free(tree->built);
    yyjson_doc_free(tree->read);
    free(tree->text);
}

static dx_json form_of(const struct tree *tree, bool built) {
    return built ? dx_json_built(yyjson_mut_doc_get_root(tree->built))
                 : dx_json_value(yyjson_doc_get_root(tree->read));
}

static void at_every_place(void **state) {
    (void)state;
    static const char before[] = "0123456789abcdef0123456789abcdef";
    struct tree tree = new_tree(300);
    for (size_t place = 0; place <= 32; place++)
        for (int built = 0; built < 2; built++) {
            struct unit_memory memory = {0};
            dx_allocator alloc = unit_allocator(&memory);
            dx_buf buf;
            dx_buf_init(&buf, (size_t)1 << 30, &alloc);
            assert_int_equal(dx_buf_append(&buf, before, place), DX_OK);
            assert_int_equal(dx_json_write(&buf, form_of(&tree, built)), DX_OK);
            assert_int_equal(buf.len, place + tree.len);
            assert_memory_equal(buf.data, before, place);
            assert_memory_equal(buf.data + place, tree.text, tree.len);
            assert_true(memory.count > 1); /* it did grow under the writer */
            dx_buf_done(&buf);
            assert_int_equal(memory.blocks, 0);
        }
    free_tree(&tree);
}

/* Blocks that are now at a multiple of 16 and now only of 8: the text has to move inside. */
static void *uneven_malloc(void *ctx, size_t size) {
    char *block = malloc(size + 24);
    size_t *count = ctx;
    size_t head = ++*count % 2 ? 16 : 24;
    block[head - 1] = (char)head;
    return block + head;
}

static void uneven_free(void *ctx, void *ptr) {
    (void)ctx;
    char *block = ptr;
    free(block - block[-1]);
}

static void *uneven_realloc(void *ctx, void *ptr, size_t old_size, size_t size) {
    char *block = uneven_malloc(ctx, size);
    memcpy(block, ptr, old_size);
    uneven_free(ctx, ptr);
    return block;
}

static void in_blocks_of_any_alignment(void **state) {
    (void)state;
    struct tree tree = new_tree(300);
    for (size_t first = 0; first < 2; first++) {
        size_t count = first;
        dx_allocator alloc = {uneven_malloc, uneven_realloc, uneven_free, &count};
        dx_buf buf;
        dx_buf_init(&buf, (size_t)1 << 30, &alloc);
        assert_int_equal(dx_buf_append(&buf, "0123", 4), DX_OK);
        assert_int_equal(dx_json_write(&buf, form_of(&tree, true)), DX_OK);
        assert_int_equal(buf.len, 4 + tree.len);
        assert_memory_equal(buf.data + 4, tree.text, tree.len);
        assert_true(count > first + 3);
        dx_buf_done(&buf);
    }
    free_tree(&tree);
}

static void one_behind_the_other(void **state) {
    (void)state;
    struct tree small = new_tree(3);
    struct tree large = new_tree(2000);
    dx_buf buf;
    dx_buf_init(&buf, (size_t)1 << 30, NULL);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(dx_json_write(&buf, form_of(&small, i % 2)), DX_OK);
        assert_int_equal(dx_json_write(&buf, form_of(&large, i / 2)), DX_OK);
    }
    assert_int_equal(buf.len, 4 * (small.len + large.len));
    for (size_t i = 0, at = 0; i < 4; i++) {
        assert_memory_equal(buf.data + at, small.text, small.len);
        at += small.len;
        assert_memory_equal(buf.data + at, large.text, large.len);
        at += large.len;
    }
    dx_buf_done(&buf);
    free_tree(&small);
    free_tree(&large);
}

static const char *const plain = "[1,2,{\"a\":\"b\"}]";

/* Every writer in turn, with a body of every form where it has one. */
static dx_status write_one(dx_buf *buf, size_t which, const struct tree *tree) {
    const dx_json bodies[] = {dx_json_text(plain, strlen(plain)), form_of(tree, false),
                              form_of(tree, true)};
    dx_json body = bodies[which % 3];
    char long_method[600];
    memset(long_method, '\n', sizeof long_method);
    dx_text method = {long_method, sizeof long_method};
    switch (which / 3) {
    case 0:
        return dx_rpc_write_request(buf, TEXT("\"id\""), method, body);
    case 1:
        return dx_rpc_write_notification(buf, method, body);
    case 2:
        return dx_rpc_write_result(buf, TEXT("12345"), body);
    case 3:
        return dx_rpc_write_error(buf, TEXT("12345"), -1, method, body);
    case 4:
        return dx_json_write(buf, body);
    case 5:
        return dx_json_write_string(buf, method);
    default:
        return dx_rpc_write_batch(buf, DX_BATCH_OPEN);
    }
}

enum { WRITERS = 3 * 6 + 1 };

/* Bytes that are there already, up to the end of their block: whatever comes next needs more. */
static dx_buf kept_buf(size_t max, const dx_allocator *alloc) {
    dx_buf buf;
    char kept[256];
    memset(kept, 'k', sizeof kept);
    dx_buf_init(&buf, max, alloc);
    assert_int_equal(dx_buf_append(&buf, kept, sizeof kept), DX_OK);
    return buf;
}

static void expect_kept(const dx_buf *buf) {
    assert_int_equal(buf->len, 256);
    for (size_t i = 0; i < buf->len; i++)
        assert_int_equal(buf->data[i], 'k');
}

static void without_memory_at_each_allocation(void **state) {
    (void)state;
    struct tree tree = new_tree(100);
    for (size_t which = 0; which < WRITERS; which++) {
        dx_status status = DX_ERR_NOMEM;
        for (size_t fail = 1; status != DX_OK; fail++) {
            struct unit_memory memory = {0};
            dx_allocator alloc = unit_allocator(&memory);
            dx_buf buf = kept_buf((size_t)1 << 30, &alloc);
            memory.fail_at = memory.count + fail;
            status = write_one(&buf, which, &tree);
            if (status != DX_OK) {
                assert_int_equal(status, DX_ERR_NOMEM);
                expect_kept(&buf);
                memory.fail_at = 0;
                assert_int_equal(write_one(&buf, which, &tree), DX_OK); /* and now it goes */
            }
            assert_true(buf.len > 256);
            assert_true(status != DX_OK || fail > 1);
            dx_buf_done(&buf);
            assert_int_equal(memory.blocks, 0);
        }
    }
    free_tree(&tree);
}

static void with_each_limit(void **state) {
    (void)state;
    struct tree tree = new_tree(4);
    for (size_t which = 0; which < WRITERS; which++) {
        dx_buf whole = kept_buf((size_t)1 << 30, NULL);
        assert_int_equal(write_one(&whole, which, &tree), DX_OK);
        dx_status status = DX_ERR_LIMIT;
        size_t max = 256;
        for (; status != DX_OK; max++) {
            dx_buf buf = kept_buf(max, NULL);
            status = write_one(&buf, which, &tree);
            if (status != DX_OK) {
                assert_int_equal(status, DX_ERR_LIMIT);
                expect_kept(&buf);
            } else {
                unit_same((dx_text){buf.data, buf.len}, (dx_text){whole.data, whole.len});
            }
            dx_buf_done(&buf);
        }
        assert_true(max - 1 >= whole.len);
        if (which % 3 == 0) /* a text goes in exactly; a tree needs room to be written in */
            assert_int_equal(max - 1, whole.len);
        dx_buf_done(&whole);
    }
    free_tree(&tree);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(at_every_place),       cmocka_unit_test(in_blocks_of_any_alignment),
        cmocka_unit_test(one_behind_the_other), cmocka_unit_test(without_memory_at_each_allocation),
        cmocka_unit_test(with_each_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
