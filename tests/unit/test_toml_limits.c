#include "unit/unit.h"

#include <duplex/toml.h>

#include <stdbool.h>
#include <stdio.h>

static dx_status read_with(const dx_toml_config *config, dx_text text, dx_toml_error *reterr) {
    yyjson_doc *doc = NULL;
    dx_status status = dx_toml_read(text, config, &doc, reterr);
    yyjson_doc_free(doc);
    return status;
}

static void text_has_a_limit(void **state) {
    (void)state;
    dx_toml_config config = dx_toml_defaults();
    dx_toml_error why;
    assert_int_equal(config.text_max, 16 << 20);
    config.text_max = 5;
    assert_int_equal(read_with(&config, TEXT("a = 1"), NULL), DX_OK);
    assert_int_equal(read_with(&config, TEXT("a = 1\n"), &why), DX_ERR_LIMIT);
    assert_string_equal(why.phrase, "the text is longer than is allowed");
    assert_int_equal(why.line, 0);
}

/* Each of these has five values. */
static void values_have_a_limit(void **state) {
    (void)state;
    static const char *const texts[] = {
        "a=[1,2,3,4]",           "a=1\nb=1\nc=1\nd=1\ne=1", "a.b.c.d.e=1",    "[a.b.c.d.e]",
        "[[a.b]]\n[[a.b]]\nx=1", "a={b=1,c={d=1,e=1}}",     "[a]\nb=[[[1]]]",
    };
    dx_toml_config config = dx_toml_defaults();
    assert_int_equal(config.values_max, 1000000);
    for (size_t i = 0; i < LENGTH(texts); i++) {
        dx_toml_error why;
        config.values_max = 5;
        assert_int_equal(read_with(&config, dx_str(texts[i]), &why), DX_OK);
        config.values_max = 4;
        assert_int_equal(read_with(&config, dx_str(texts[i]), &why), DX_ERR_LIMIT);
        assert_non_null(strstr(why.phrase, ": more values than are allowed"));
        assert_true(why.line > 0);
    }
}

/* Each of these is three deep. */
static void depth_has_a_limit(void **state) {
    (void)state;
    static const char *const texts[] = {
        "a=[[[1]]]",    "a={b={c={d=1}}}", "a.b.c.d=1",   "[a.b.c]",    "[[a]]\nb={}",
        "[[a]]\nb.c=1", "a={b.c.d=1}",     "[a]\nb=[{}]", "a.b={c=[]}", "[a]\n[[a.b]]",
    };
    dx_toml_config config = dx_toml_defaults();
    assert_int_equal(config.depth_max, 128);
    for (size_t i = 0; i < LENGTH(texts); i++) {
        dx_toml_error why;
        config.depth_max = 3;
        assert_int_equal(read_with(&config, dx_str(texts[i]), &why), DX_OK);
        config.depth_max = 2;
        assert_int_equal(read_with(&config, dx_str(texts[i]), &why), DX_ERR_LIMIT);
        assert_non_null(strstr(why.phrase, ": nested deeper than is allowed"));
    }
}

static dx_text nested(char *text, size_t depth) {
    char *to = text;
    *to++ = 'a';
    *to++ = '=';
    memset(to, '[', depth);
    memset(to + depth, ']', depth);
    return (dx_text){text, 2 + 2 * depth};
}

static void depth_is_never_unlimited(void **state) {
    (void)state;
    enum { MUCH = 5000000 };
    char *text = malloc(2 + 2 * (size_t)MUCH);
    dx_toml_config config = dx_toml_defaults();
    assert_int_equal(read_with(NULL, nested(text, 128), NULL), DX_OK);
    assert_int_equal(read_with(NULL, nested(text, 129), NULL), DX_ERR_LIMIT);
    config.depth_max = UINT32_MAX;
    assert_int_equal(read_with(&config, nested(text, DX_TOML_DEPTH_MAX), NULL), DX_OK);
    assert_int_equal(read_with(&config, nested(text, DX_TOML_DEPTH_MAX + 1), NULL), DX_ERR_LIMIT);
    assert_int_equal(read_with(&config, nested(text, MUCH), NULL), DX_ERR_LIMIT);
    free(text);
}

/* A tree of that depth below its root. */
static dx_status write_deep(size_t depth, bool inside, dx_toml_error *reterr) {
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    yyjson_mut_val *in = root;
    for (size_t i = 0; i < depth; i++) {
        yyjson_mut_val *inner = inside ? yyjson_mut_arr(doc) : yyjson_mut_obj(doc);
        if (yyjson_mut_is_obj(in))
            yyjson_mut_obj_add(in, yyjson_mut_str(doc, "k"), inner);
        else
            yyjson_mut_arr_append(in, inner);
        in = inner;
    }
    dx_buf buf;
    dx_buf_init(&buf, 1 << 20, NULL);
    dx_status status = dx_toml_write_mut(root, 0, &buf, reterr);
    dx_buf_done(&buf);
    yyjson_mut_doc_free(doc);
    return status;
}

static void the_writer_has_the_same_limit(void **state) {
    (void)state;
    for (int inside = 0; inside < 2; inside++) {
        dx_toml_error why;
        assert_int_equal(write_deep(DX_TOML_DEPTH_MAX, inside, &why), DX_OK);
        assert_int_equal(write_deep(DX_TOML_DEPTH_MAX + 1, inside, &why), DX_ERR_LIMIT);
        assert_non_null(strstr(why.phrase, "…: nested deeper than is allowed"));
    }
}

static void the_buffer_is_a_limit(void **state) {
    (void)state;
    static const char text[] = "[a.b]\nc = \"x\\ny\"\nd = [[], -1.5]\n";
    yyjson_doc *doc;
    assert_int_equal(dx_toml_read(TEXT(text), NULL, &doc, NULL), DX_OK);
    for (size_t max = 0; max <= sizeof text; max++) {
        dx_buf buf;
        dx_toml_error why;
        dx_buf_init(&buf, max, NULL);
        dx_status status = dx_toml_write(yyjson_doc_get_root(doc), 0, &buf, &why);
        assert_int_equal(status, max < sizeof text - 1 ? DX_ERR_LIMIT : DX_OK);
        assert_int_equal(buf.len, max < sizeof text - 1 ? 0 : sizeof text - 1);
        if (status != DX_OK)
            assert_non_null(strstr(why.phrase, "the text is longer than the buffer may be"));
        dx_buf_done(&buf);
    }
    yyjson_doc_free(doc);
}

static const char everything[] =
    "a = [1, 1.5, \"x\\ty\", 'z', 2031-10-04, [[[[[[[[[[1]]]]]]]]]]]\n"
    "b.c.d = {e = {f.g = 1}, h = [{}, {}]}\n"
    "n = 0.1000000000000000000000000000000000000000000000000000000000000000000000001\n"
    "[t.u]\nk1=1\nk2=2\nk3=3\nk4=4\nk5=5\nk6=6\nk7=7\nk8=8\nk9=9\nk10=10\n"
    "[[t.list]]\n[[t.list]]\nx=1\n[t.list.sub]\n\"long key \\u00e9\" = \"\"\"\n\\\n x\"\"\"\n";

/* Only one allocation fails: who does not look whether it did goes on with what is not there. */
static void *once_malloc(void *ctx, size_t size) {
    struct unit_memory *memory = ctx;
    void *block = unit_malloc(ctx, size);
    if (!block)
        memory->fail_at = 0;
    return block;
}

static void *once_realloc(void *ctx, void *ptr, size_t old_size, size_t size) {
    struct unit_memory *memory = ctx;
    void *block = unit_realloc(ctx, ptr, old_size, size);
    if (!block)
        memory->fail_at = 0;
    return block;
}

static dx_status whole_life(const dx_allocator *alloc) {
    dx_toml_config config = dx_toml_defaults();
    config.allocator = alloc;
    yyjson_doc *doc = NULL;
    dx_toml_error why = {.phrase = ""};
    dx_buf buf;
    dx_buf_init(&buf, 1 << 20, alloc);
    dx_status status = dx_toml_read(TEXT(everything), &config, &doc, &why);
    if (status == DX_OK)
        status = dx_toml_write(yyjson_doc_get_root(doc), 0, &buf, &why);
    if (status != DX_OK) {
        assert_int_equal(status, DX_ERR_NOMEM);
        assert_non_null(strstr(why.phrase, "out of memory"));
        assert_int_equal(buf.len, 0);
    }
    yyjson_doc_free(doc);
    dx_buf_done(&buf);
    return status;
}

static void survives_every_allocation_that_fails(void **state) {
    (void)state;
    for (int once = 0; once < 2; once++) {
        size_t failures = 0;
        for (;; failures++) {
            struct unit_memory memory = {.fail_at = failures + 1};
            dx_allocator alloc = unit_allocator(&memory);
            if (once) {
                alloc.malloc = once_malloc;
                alloc.realloc = once_realloc;
            }
            dx_status status = whole_life(&alloc);
            assert_int_equal(memory.blocks, 0);
            if (status == DX_OK) {
                assert_true(memory.count <= failures); /* none has failed this time */
                break;
            }
        }
        assert_true(failures > 15);
    }
}

/* The text, the error and what is kept of a refused text are not leaked, either. */
static void a_refused_text_leaves_nothing(void **state) {
    (void)state;
    for (size_t len = 0; len < sizeof everything; len++) {
        struct unit_memory memory = {0};
        dx_allocator alloc = unit_allocator(&memory);
        dx_toml_config config = dx_toml_defaults();
        config.allocator = &alloc;
        struct unit_fence fence = unit_fence_new(len);
        read_with(&config, unit_fence_put(&fence, everything, len), NULL);
        assert_int_equal(memory.blocks, 0);
        unit_fence_done(&fence);
    }
}

/* A hundred thousand of something. Where each would look at all others, the test's time is up. */
static void many_of(const char *before, const char *after, bool refused) {
    enum { MANY = 100000 };
    size_t room = MANY * (strlen(before) + strlen(after) + 8);
    char *text = malloc(room + 1);
    size_t len = 0;
    for (int i = 0; i < MANY; i++)
        len += (size_t)snprintf(text + len, room - len, "%s%d%s", before, i, after);
    yyjson_doc *doc = NULL;
    dx_toml_error why = {.phrase = ""};
    dx_status status = dx_toml_read((dx_text){text, len}, NULL, &doc, &why);
    free(text);
    assert_int_equal(status, refused ? DX_ERR_INVALID : DX_OK);
    if (status == DX_OK) {
        dx_buf buf;
        dx_buf_init(&buf, 64 << 20, NULL);
        assert_int_equal(dx_toml_write(yyjson_doc_get_root(doc), 0, &buf, &why), DX_OK);
        dx_buf_done(&buf);
    }
    yyjson_doc_free(doc);
}

static void time_grows_with_the_text(void **state) {
    (void)state;
    many_of("key", " = 1\n", false);
    many_of("[a.b.c", "]\n", false);
    many_of("[[a.b]]\nx = ", "\n", false);
    many_of("a.b.c.d", " = 1\n", false);
    many_of("[t", "]\nx = {y = 1}\n", false);
    many_of("# ", "\n\n", false);
    many_of("same = ", "\n", true);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_has_a_limit),
        cmocka_unit_test(values_have_a_limit),
        cmocka_unit_test(depth_has_a_limit),
        cmocka_unit_test(depth_is_never_unlimited),
        cmocka_unit_test(the_writer_has_the_same_limit),
        cmocka_unit_test(the_buffer_is_a_limit),
        cmocka_unit_test(survives_every_allocation_that_fails),
        cmocka_unit_test(a_refused_text_leaves_nothing),
        cmocka_unit_test(time_grows_with_the_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
