/* URIs and paths: what is decoded, what is refused, and what lies below what. */
#include "unit/unit.h"

#include "systems/finecode/shared.h"

static void paths_of(void **state) {
    static const struct {
        const char *uri;
        const char *path; /* NULL: a misfit */
    } rows[] = {
        {"file:///a", "/a"},
        {"file:///a%20b", "/a b"},
        {"file:///a b", "/a b"},
        {"FILE:///a", "/a"},
        {"file:/a", "/a"},
        {"file://localhost/a", "/a"},
        {"file://LOCALHOST/a", "/a"},
        {"file:///", "/"},
        {"file:////", "/"},
        {"file:///a//b/", "/a/b"},
        {"file:///a/./b/.", "/a/b"},
        {"file:///a/../b", "/b"},
        {"file:///../../b", "/b"},
        {"file:///a/%2e%2E/b", "/b"},
        {"file:///..", "/"},
        {"file:///a/...", "/a/..."},
        {"file:///100%", "/100%"},
        {"file:///100%2", "/100%2"},
        {"file:///100%zz", "/100%zz"},
        {"file:///%2", "/%2"},
        {"file:///%25", "/%"},
        {"file:///%2525", "/%25"},
        {"file:///a%2Fb", "/a/b"},
        {"file:///a#b?c", "/a#b?c"},
        {"file:///%c3%a9", "/\xc3\xa9"},
        {"file:///%ff", "/\xff"},
        {"file:///a%00b", NULL},
        {"file://other/a", NULL},
        {"file://localhost", NULL},
        {"file:a", NULL},
        {"file:", NULL},
        {"file", NULL},
        {"", NULL},
        {"/a", NULL},
        {"untitled:Untitled-1", NULL},
        {"http:///a", NULL},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        char *path = NULL;
        dx_status status = dx__finecode_path_of(NULL, dx_str(rows[i].uri), &path);
        if (!rows[i].path) {
            assert_int_equal(status, DX_MISFIT);
            assert_null(path);
            continue;
        }
        assert_int_equal(status, DX_OK);
        assert_string_equal(path, rows[i].path);
        free(path);
    }
    char *path = NULL;
    assert_int_equal(dx__finecode_path_of(NULL, (dx_text){0}, &path), DX_MISFIT);
    assert_int_equal(dx__finecode_path_of(NULL, TEXT("file:///a\0b"), &path), DX_MISFIT);
    assert_null(path);
}

/* Every path with any byte in it comes back from its URI. */
static void there_and_back(void **state) {
    (void)state;
    for (int byte = 1; byte < 256; byte++) {
        char path[] = {'/', 'x', (char)byte, 'y', '\0'};
        char *back = NULL;
        dx_buf uri;
        dx_buf_init(&uri, 1000, NULL);
        assert_int_equal(dx__finecode_uri_of(&uri, path), DX_OK);
        for (size_t i = 0; i < uri.len; i++)
            assert_true(uri.data[i] > 0x20 && uri.data[i] < 0x7f);
        assert_int_equal(dx__finecode_path_of(NULL, (dx_text){uri.data, uri.len}, &back), DX_OK);
        assert_string_equal(back, path);
        free(back);
        dx_buf_done(&uri);
    }
}

static void uris_end_where_text_ends(void **state) {
    (void)state;
    static const char *const uris[] = {"file:///%", "file:///%2", "file:///%20", "file:/", "file:"};
    struct unit_fence fence = unit_fence_new(100);
    for (size_t i = 0; i < LENGTH(uris); i++) {
        char *path = NULL;
        (void)dx__finecode_path_of(NULL, unit_fence_put(&fence, uris[i], strlen(uris[i])), &path);
        free(path);
    }
    unit_fence_done(&fence);
}

static void limits(void **state) {
    (void)state;
    struct unit_memory memory = {0};
    dx_allocator alloc = unit_allocator(&memory);
    dx_buf uri;
    dx_buf_init(&uri, 10, &alloc);
    assert_int_equal(dx__finecode_uri_of(&uri, "/ab"), DX_OK);
    assert_text(((dx_text){uri.data, uri.len}), "file:///ab");
    assert_int_equal(dx__finecode_uri_of(&uri, "/ab"), DX_ERR_LIMIT);
    assert_text(((dx_text){uri.data, uri.len}), "file:///ab");
    dx_buf_done(&uri);
    char *path = NULL;
    memory.fail_at = memory.count + 1;
    assert_int_equal(dx__finecode_path_of(&alloc, TEXT("file:///a"), &path), DX_ERR_NOMEM);
    assert_int_equal(memory.blocks, 0);
}

static void below(void **state) {
    static const struct {
        const char *path;
        const char *folder;
        bool below;
    } rows[] = {
        {"/a", "/a", true},         {"/a/b", "/a", true},       {"/a/b", "/a/", true},
        {"/a/b", "//a", true},      {"/ab", "/a", false},       {"/a", "/a/b", false},
        {"/a", "/", true},          {"/", "/", true},           {"/", "/a", false},
        {"/a/../b", "/a", false},   {"/a/..", "/a", false},     {"/a/./b", "/a", true},
        {"/a/..b", "/a", true},     {"a/b", "a", false},        {"/a/b", "a", false},
        {"", "/", false},           {"/a", "", false},          {"/b/../a/c", "/a", false},
        {"/a/../a/c", "/a", false}, {"/a/b", "/a/../a", false}, {"/aa/b", "/a", false},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++)
        assert_int_equal(dx__finecode_is_below(rows[i].path, rows[i].folder), rows[i].below);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_of),
        cmocka_unit_test(there_and_back),
        cmocka_unit_test(uris_end_where_text_ends),
        cmocka_unit_test(limits),
        cmocka_unit_test(below),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
