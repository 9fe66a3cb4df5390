/* Where projects are found, and what finecode-workspace.toml says about them. */
#define MANY_FOLDERS
#include "finecode/config_files.h"

struct found {
    char text[8192];
    size_t count;
    dx_status answer;
};

/* Relative to the folder of the test, with a space behind each. */
static dx_status on_folder(const char *path, void *user) {
    struct found *found = user;
    size_t used = strlen(found->text);
    assert_int_equal(strncmp(path, top, strlen(top)), 0);
    if (found->count++ < 100)
        snprintf(found->text + used, sizeof found->text - used, "%s ",
                 path[strlen(top)] ? path + strlen(top) + 1 : ".");
    return found->answer;
}

static void must_find(const char *folder, const char *expected) {
    struct found found = {.text = ""};
    dx_error error = {.phrase = ""};
    dx_status status = dx__finecode_find_projects(NULL, in_top(folder), on_folder, &found, &error);
    assert_string_equal(error.phrase, "");
    assert_int_equal(status, DX_OK);
    assert_string_equal(found.text, expected);
}

static void must_fail(const char *folder, dx_status expected, const char *phrase) {
    struct found found = {.text = ""};
    dx_error error = {.phrase = ""};
    dx_status status = dx__finecode_find_projects(NULL, in_top(folder), on_folder, &found, &error);
    assert_int_equal(status, expected);
    if (!strstr(error.phrase, phrase))
        assert_string_equal(error.phrase, phrase);
    assert_string_equal(found.text, "");
}

static void test_walk(void **state) {
    (void)state;
    put("finecode.toml", "");
    put("b/pyproject.toml", "");
    put("b/deep/er/finecode.toml", "");
    put("a/finecode.toml", "");
    put("a.c/finecode.toml", "");
    put("c/other.toml", "");
    put(".git/x/finecode.toml", "");
    put(".venvs/dev/pyproject.toml", "");
    put("node_modules/m/pyproject.toml", "");
    put("a/build/finecode.toml", "");
    put("a/dist/finecode.toml", "");
    put("env/pyvenv.cfg", "");
    put("env/lib/pyproject.toml", "");
    assert_int_equal(symlink(in_top("b"), in_top("link")), 0);
    assert_int_equal(symlink(top, in_top("a/loop")), 0);
    must_find("", ". a a.c b b/deep/er ");
    must_find("b/", "b b/deep/er ");
    must_find("c", "");
    /* The first one may be a link. */
    must_find("link", "link link/deep/er ");
}

static void test_levels(void **state) {
    char path[256] = "";
    (void)state;
    for (int i = 0; i < 17; i++)
        strcat(path, "d/");
    strcat(path, "finecode.toml");
    put(path, "");
    must_find("", "");
    put(path + 2, "");
    must_find("", "d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d ");
}

/* Counts what is taken. */
static void *take(void *ctx, size_t size) {
    ++*(size_t *)ctx;
    return malloc(size);
}

static void *retake(void *ctx, void *ptr, size_t old, size_t size) {
    (void)ctx;
    (void)old;
    return realloc(ptr, size);
}

static void give(void *ctx, void *ptr) {
    (void)ctx;
    free(ptr);
}

/* 10,000 folders are looked at, one more is too many. */
static void test_folders(void **state) {
    (void)state;
    put("9999/finecode.toml", "");
    for (int i = 1; i < 9999; i++) {
        char name[32];
        snprintf(name, sizeof name, "%d", i);
        assert_int_equal(mkdir(in_top(name), 0700), 0);
    }
    must_find("", "9999 ");
    assert_int_equal(mkdir(in_top("x"), 0700), 0);
    must_fail("", DX_ERR_LIMIT, "more than 10,000 folders");
    /* Of any number of them no more are kept. */
    for (int i = 0; i < 1000; i++) {
        char name[32];
        snprintf(name, sizeof name, "more%d", i);
        assert_int_equal(mkdir(in_top(name), 0700), 0);
    }
    size_t taken = 0;
    dx_allocator alloc = {take, retake, give, &taken};
    struct found found = {.text = ""};
    assert_int_equal(dx__finecode_find_projects(&alloc, top, on_folder, &found, NULL),
                     DX_ERR_LIMIT);
    assert_true(taken < 10100);
    put("finecode-workspace.toml", "[workspace]\nprojects = ['9999']\n");
    must_find("", "9999 ");
}

static void test_unreadable(void **state) {
    (void)state;
    put("a/finecode.toml", "");
    put("b/finecode.toml", "");
    must_fail("none", DX_ERR_SYSTEM, "none: No such file or directory");
    must_fail("a/finecode.toml", DX_ERR_SYSTEM, "Not a directory");
    if (geteuid() == 0)
        return; /* who may read everything */
    assert_int_equal(chmod(in_top("b"), 0), 0);
    must_find("", "a ");
    must_fail("b", DX_ERR_SYSTEM, "b: Permission denied");
    assert_int_equal(chmod(in_top("b"), 0700), 0);
}

static void test_stop(void **state) {
    struct found found = {.text = "", .answer = DX_ERR_LIMIT};
    (void)state;
    put("a/finecode.toml", "");
    put("b/finecode.toml", "");
    assert_int_equal(dx__finecode_find_projects(NULL, top, on_folder, &found, NULL), DX_ERR_LIMIT);
    assert_string_equal(found.text, "a ");
}

static void test_named(void **state) {
    (void)state;
    put("a/finecode.toml", "");
    put("b/c/finecode.toml", "");
    put("d/finecode.toml", "");
    put("finecode-workspace.toml", "[workspace]\nprojects = ['d/', 'b/c', 'none', '.', 'd']\n");
    must_find("", ". b/c d none ");
    must_find("b", "b/c ");
    put("finecode-workspace.toml", "[workspace]\nprojects = []\n");
    must_find("", "");
    put("finecode-workspace.toml", "[workspace]\n");
    must_find("", "a b/c d ");
}

static void test_named_wrong(void **state) {
    static const char *const paths[] = {"../x", "a/../../x", "/etc", "./a", "a//b", ".."};
    (void)state;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        char text[128];
        snprintf(text, sizeof text, "[workspace]\nprojects = ['%s']\n", paths[i]);
        put("finecode-workspace.toml", text);
        must_fail("", DX_ERR_INVALID,
                  "finecode-workspace.toml: projects: expected paths of folders below the "
                  "workspace, such as \"libs/core\"");
    }
    put("finecode-workspace.toml", "[workspace]\nprojects = 'x'\n");
    must_fail("", DX_ERR_INVALID,
              "finecode-workspace.toml: workspace.projects: expected array, found string");
    put("finecode-workspace.toml", "projects = ['x']\n");
    must_fail("", DX_ERR_INVALID, "finecode-workspace.toml: [workspace] is missing");
    put("finecode-workspace.toml", "[workspace");
    must_fail("", DX_ERR_INVALID, "finecode-workspace.toml:1:11: ");
}

static void test_wal(void **state) {
    (void)state;
    assert_false(dx__finecode_workspace_wal(NULL, top));
    put("finecode-workspace.toml", "[workspace.wm.wal]\nenabled = true\n");
    assert_true(dx__finecode_workspace_wal(NULL, top));
    put("finecode-workspace.toml", "[workspace.wm.wal]\nenabled = false\n");
    assert_false(dx__finecode_workspace_wal(NULL, top));
    put("finecode-workspace.toml", "[workspace.wm.wal]\nenabled = 1\n");
    assert_false(dx__finecode_workspace_wal(NULL, top));
    must_fail("", DX_ERR_INVALID,
              "finecode-workspace.toml: workspace.wm.wal.enabled: expected boolean, found number");
}

/* What holds for all: below a project's own, above what presets say. */
static void test_for_all(void **state) {
    (void)state;
    put("finecode-workspace.toml", "[workspace.er]\nrunner = 'duplex'\ntransport = 'tcp'\n");
    put("libs/p/finecode.toml", "[finecode]\n");
    put("libs/q/finecode.toml", "[finecode]\npresets = [{source = './r'}]\n"
                                "[finecode.er]\ntransport = 'stdio'\n");
    put("libs/q/r/preset.toml", "[finecode.er]\nrunner = 'venv'\ntransport = 'tcp'\n");
    dx_finecode_project *project = project_of("libs/p");
    must_be_valid(project);
    must_have(project, "/er", "{\"runner\":\"duplex\",\"transport\":\"tcp\"}");
    dx__finecode_project_free(project);
    project = project_of("libs/q");
    must_be_valid(project);
    must_have(project, "/er", "{\"runner\":\"duplex\",\"transport\":\"stdio\"}");
    dx__finecode_project_free(project);
    /* The nearest one counts, alone. */
    put("libs/finecode-workspace.toml", "[workspace.er]\nrunner = ['x']\n");
    project = project_of("libs/p");
    must_have(project, "/er", "{\"runner\":[\"x\"]}");
    dx__finecode_project_free(project);
    put("libs/finecode-workspace.toml", "[workspace.er]\nrunner = 3\n");
    must_be_invalid("libs/p", "finecode-workspace.toml: workspace.er.runner: expected string or "
                              "array, found number");
    /* That of somebody else does not. */
    if (geteuid() != 0)
        return;
    assert_int_equal(chown(in_top("libs/finecode-workspace.toml"), 12345, 12345), 0);
    project = project_of("libs/p");
    must_be_valid(project);
    must_have(project, "/er", "{\"runner\":\"duplex\",\"transport\":\"tcp\"}");
    dx__finecode_project_free(project);
    /* Nor does a link of somebody else, to whatever it leads. */
    put("other/ours.toml", "[workspace.er]\nrunner = ['x']\n");
    assert_int_equal(unlink(in_top("libs/finecode-workspace.toml")), 0);
    assert_int_equal(symlink("../other/ours.toml", in_top("libs/finecode-workspace.toml")), 0);
    project = project_of("libs/p");
    must_have(project, "/er", "{\"runner\":[\"x\"]}");
    dx__finecode_project_free(project);
    assert_int_equal(lchown(in_top("libs/finecode-workspace.toml"), 12345, 12345), 0);
    project = project_of("libs/p");
    must_have(project, "/er", "{\"runner\":\"duplex\",\"transport\":\"tcp\"}");
    dx__finecode_project_free(project);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_walk),        TEST(test_levels), TEST(test_folders),
        TEST(test_unreadable),  TEST(test_stop),   TEST(test_named),
        TEST(test_named_wrong), TEST(test_wal),    TEST(test_for_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
