/* The workspace: which paths are beneath it, and that nothing else is ever read or written. */
#include "autohand/files.h"

#include <dirent.h>
#include <grp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <sys/xattr.h>

static const struct dx__autohand_workspace *space_of(void **state) {
    return &((struct files *)*state)->agent.workspace;
}

static void must_clean(void **state, dx_text path, const char *expected) {
    const struct dx__autohand_workspace *space = space_of(state);
    char *clean = NULL;
    dx_error error = {.phrase = ""};
    dx_status status = dx__autohand_path_clean(space, path, &clean, &error);
    if (!expected) {
        assert_int_equal(status, DX_ERR_INVALID);
        assert_true(error.phrase[0]);
        return;
    }
    assert_int_equal(status, DX_OK);
    assert_string_equal(clean, expected);
    dx__free(&space->alloc, clean);
}

static void test_clean(void **state) {
    struct files *files = *state;
    static const struct {
        const char *path;
        const char *clean;
    } rows[] = {
        {"a", "a"},       {"a/b", "a/b"},       {"./a", "a"},     {"a//b///c/", "a/b/c"},
        {".", "."},       {"./", "."},          {"..", NULL},     {"a/../b", NULL},
        {"../a", NULL},   {"a/..", NULL},       {"", NULL},       {"/etc/passwd", NULL},
        {"/", NULL},      {"...", "..."},       {"..a", "..a"},   {"a..", "a.."},
        {"a/./b", "a/b"}, {"~", "~"},           {"a\\b", "a\\b"}, {"ü/ß", "ü/ß"},
        {"//etc", NULL},  {"/proc/self", NULL},
    };
    for (size_t i = 0; i < LENGTH(rows); i++)
        must_clean(state, dx_str(rows[i].path), rows[i].clean);
    must_clean(state, TEXT("a\0b"), NULL);
    must_clean(state, (dx_text){NULL, 0}, NULL);
    must_clean(state, dx_str(files->top), ".");
    must_clean(state, dx_str(in_top(files, "a//b")), "a/b");
    must_clean(state, dx_str(in_top(files, "../outside/x")), NULL);
    must_clean(state, dx_str(files->outside), NULL);
    /* Another folder whose name begins like that of the workspace. */
    char other[PATH_MAX + 8];
    (void)snprintf(other, sizeof other, "%s2/x", files->top);
    must_clean(state, dx_str(other), NULL);
}

static void test_clean_length(void **state) {
    static char path[PATH_MAX + 1];
    memset(path, 'a', sizeof path);
    for (size_t i = 100; i < sizeof path; i += 100)
        path[i] = '/';
    path[PATH_MAX - 1] = 'a';
    must_clean(state, (dx_text){path, PATH_MAX}, NULL);
    path[PATH_MAX - 1] = '\0';
    must_clean(state, (dx_text){path, PATH_MAX - 1}, path);
}

static void must_read(void **state, const char *path, dx_status expected, const char *text) {
    const struct dx__autohand_workspace *space = space_of(state);
    char *bytes = NULL;
    size_t len = 0;
    dx_error error = {.phrase = ""};
    assert_int_equal(dx__autohand_file_read(space, path, &bytes, &len, NULL, &error), expected);
    if (expected == DX_OK) {
        assert_string_equal(bytes, text);
        assert_int_equal(len, strlen(text));
    }
    if (expected < 0)
        assert_true(error.phrase[0]);
    dx__free(&space->alloc, bytes);
}

static void test_read(void **state) {
    struct files *files = *state;
    put(files, "a.txt", "hello\n");
    put(files, "d/e/f", "");
    must_read(state, "a.txt", DX_OK, "hello\n");
    must_read(state, "d/e/f", DX_OK, "");
    must_read(state, "d/e/g", DX_GONE, NULL);
    must_read(state, "x/y", DX_GONE, NULL);
    must_read(state, "d", DX_ERR_INVALID, NULL);
    must_read(state, ".", DX_ERR_INVALID, NULL);
    must_read(state, "a.txt/b", DX_ERR_INVALID, NULL);
    assert_int_equal(mkfifo(in_top(files, "pipe"), 0600), 0);
    must_read(state, "pipe", DX_ERR_INVALID, NULL); /* and nobody waited for a writer */
}

static void test_read_limit(void **state) {
    struct files *files = *state;
    files->agent.workspace.file_max = 10;
    put(files, "ten", "0123456789");
    put(files, "eleven", "0123456789a");
    must_read(state, "ten", DX_OK, "0123456789");
    must_read(state, "eleven", DX_ERR_LIMIT, NULL);
    /* Its size is 0, and it has more. */
    files->agent.workspace.file_max = 1;
    dx__autohand_workspace_close(&files->agent.workspace);
    dx_error error;
    assert_int_equal(dx__autohand_workspace_open(&files->agent.workspace, "/proc/self", 1,
                                                 &files->agent.alloc, &error),
                     DX_OK);
    must_read(state, "status", DX_ERR_LIMIT, NULL);
}

static void must_write(void **state, const char *path, const char *text, dx_status expected) {
    dx_error error = {.phrase = ""};
    assert_int_equal(dx__autohand_file_write(space_of(state), path, dx_str(text), &error),
                     expected);
    if (expected < 0)
        assert_true(error.phrase[0]);
}

static mode_t mode_of(const struct files *files, const char *name) {
    struct stat about;
    assert_int_equal(stat(in_top(files, name), &about), 0);
    return about.st_mode & 07777;
}

static size_t names_in(const struct files *files, const char *name) {
    struct dirent **list;
    int count = scandir(in_top(files, name), &list, NULL, NULL);
    assert_true(count >= 0);
    for (int i = 0; i < count; i++)
        free(list[i]);
    free(list);
    return (size_t)count - 2;
}

static void test_write(void **state) {
    struct files *files = *state;
    mode_t mask = umask(022);
    must_write(state, "a.txt", "one", DX_OK);
    must_have(files, "a.txt", "one");
    assert_int_equal(mode_of(files, "a.txt"), 0644);
    assert_int_equal(chmod(in_top(files, "a.txt"), 0750), 0);
    must_write(state, "a.txt", "two", DX_OK);
    must_have(files, "a.txt", "two");
    assert_int_equal(mode_of(files, "a.txt"), 0750);
    must_write(state, "d/e/f/g", "deep", DX_OK);
    must_have(files, "d/e/f/g", "deep");
    must_write(state, "empty", "", DX_OK);
    must_have(files, "empty", "");
    must_write(state, "d", "x", DX_ERR_INVALID);
    must_write(state, ".", "x", DX_ERR_INVALID);
    must_write(state, "a.txt/b", "x", DX_ERR_INVALID);
    must_write(state, "a.txt/b/c", "x", DX_ERR_INVALID);
    assert_int_equal(names_in(files, "."), 3);
    assert_int_equal(names_in(files, "d/e/f"), 1); /* nothing is left beside it */
    umask(mask);
}

/* Another name of the same file keeps the old text: it was replaced, not written into. */
static void test_write_is_whole(void **state) {
    struct files *files = *state;
    put(files, "a", "old");
    assert_int_equal(link(in_top(files, "a"), in_top(files, "../outside/other")), 0);
    must_write(state, "a", "new", DX_OK);
    must_have(files, "a", "new");
    must_have(files, "../outside/other", "old");
}

/* What else is said about a file stays, and who may read it does. */
static void test_write_attributes(void **state) {
    /* The owner rw, user 1234 r, the group nothing, all of them at most r, others nothing. */
    static const unsigned char rights[] = {2,   0,   0,   0,   1,   0,   6,  0,   255, 255, 255,
                                           255, 2,   0,   4,   0,   210, 4,  0,   0,   4,   0,
                                           0,   0,   255, 255, 255, 255, 16, 0,   4,   0,   255,
                                           255, 255, 255, 32,  0,   0,   0,  255, 255, 255, 255};
    static const char acl[] = "system.posix_acl_access";
    struct files *files = *state;
    char found[128];
    put(files, "d/a", "old");
    put(files, "d/b", "old");
    assert_int_equal(chmod(in_top(files, "d/b"), 0640), 0);
    if (setxattr(in_top(files, "d/a"), "user.k", "v", 1, 0) != 0 ||
        setxattr(in_top(files, "d/a"), acl, rights, sizeof rights, 0) != 0)
        skip(); /* this file system has none */
    assert_int_equal(mode_of(files, "d/a"), 0640);
    must_write(state, "d/a", "new", DX_OK);
    must_have(files, "d/a", "new");
    assert_int_equal(getxattr(in_top(files, "d/a"), "user.k", found, sizeof found), 1);
    assert_int_equal(getxattr(in_top(files, "d/a"), acl, found, sizeof found), sizeof rights);
    assert_memory_equal(found, rights, sizeof rights);
    assert_int_equal(mode_of(files, "d/a"), 0640);
    /* What the folder has for new files is nothing to one that was there. */
    assert_int_equal(
        setxattr(in_top(files, "d"), "system.posix_acl_default", rights, sizeof rights, 0), 0);
    must_write(state, "d/b", "new", DX_OK);
    assert_int_equal(getxattr(in_top(files, "d/b"), acl, found, sizeof found), -1);
    assert_int_equal(mode_of(files, "d/b"), 0640);
    must_write(state, "d/c", "new", DX_OK);
    assert_true(getxattr(in_top(files, "d/c"), acl, found, sizeof found) > 0);
}

/* A file of somebody else keeps its group; if it cannot, ours has no more rights than all have. */
static void test_write_foreign(void **state) {
    struct files *files = *state;
    gid_t group = 12345;
    struct stat about;
    if (geteuid() != 0)
        skip(); /* nobody else can make one */
    put(files, "a", "old");
    put(files, "b", "old");
    put(files, "c", "old");
    assert_int_equal(chmod(in_top(files, "."), 0777), 0);
    assert_int_equal(chown(in_top(files, "c"), 65534, 65534), 0);
    assert_int_equal(chmod(in_top(files, "c"), 0444), 0);
    assert_int_equal(chown(in_top(files, "a"), 1234, group), 0);
    assert_int_equal(chown(in_top(files, "b"), 1234, 12346), 0);
    assert_int_equal(chmod(in_top(files, "a"), 0660), 0);
    assert_int_equal(chmod(in_top(files, "b"), 0672), 0);
    assert_int_equal(setgroups(1, &group), 0);
    assert_int_equal(setegid(65534), 0);
    assert_int_equal(seteuid(65534), 0);
    must_write(state, "a", "new", DX_OK);
    must_write(state, "b", "new", DX_OK);
    must_write(state, "c", "new", DX_ERR_SYSTEM); /* it may only be read */
    assert_int_equal(seteuid(0), 0);
    assert_int_equal(setegid(0), 0);
    assert_int_equal(setgroups(0, NULL), 0);
    (void)prctl(PR_SET_DUMPABLE, 1); /* who looks for leaks has to look into us */
    must_have(files, "a", "new");
    must_have(files, "c", "old");
    assert_int_equal(stat(in_top(files, "a"), &about), 0);
    assert_int_equal(about.st_gid, group);
    assert_int_equal(mode_of(files, "a"), 0660);
    assert_int_equal(stat(in_top(files, "b"), &about), 0);
    assert_int_equal(about.st_gid, 65534);
    assert_int_equal(mode_of(files, "b"), 0622);
}

static void test_write_limit(void **state) {
    struct files *files = *state;
    files->agent.workspace.file_max = 3;
    must_write(state, "a", "123", DX_OK);
    must_write(state, "a", "1234", DX_ERR_LIMIT);
    must_have(files, "a", "123");
    files->agent.workspace.file_max = 1 << 20;
    /* A file system that is full: the old text stays, and nothing is left behind. */
    struct rlimit before;
    struct rlimit small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 1000;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    static char large[5000];
    memset(large, 'x', sizeof large - 1);
    must_write(state, "a", large, DX_ERR_SYSTEM);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    must_have(files, "a", "123");
    assert_int_equal(names_in(files, "."), 1);
}

static dx_status create(void **state, const char *path, const char *text) {
    struct dx__autohand_staged staged;
    dx_error error;
    dx_status status =
        dx__autohand_file_stage(space_of(state), path, dx_str(text), &staged, &error);
    assert_int_equal(status, DX_OK);
    assert_int_equal(dx__autohand_file_sync(&staged, NULL, path, &error), DX_OK);
    return dx__autohand_file_commit(&staged, path, true, &error);
}

static void test_create(void **state) {
    struct files *files = *state;
    struct dx__autohand_staged staged;
    dx_error error;
    assert_int_equal(create(state, "d/a", "1"), DX_OK);
    assert_int_equal(create(state, "d/a", "2"), DX_BUSY);
    must_have(files, "d/a", "1");
    assert_int_equal(names_in(files, "d"), 1);
    /* What is given up leaves nothing. */
    assert_int_equal(dx__autohand_file_stage(space_of(state), "d/b", dx_str("3"), &staged, &error),
                     DX_OK);
    dx__autohand_file_unstage(&staged);
    dx__autohand_file_unstage(&staged);
    assert_int_equal(names_in(files, "d"), 1);
}

/* As on a file system that has no files without a name. */
static void test_named(void **state) {
    struct files *files = *state;
    struct dx__autohand_staged staged;
    dx_error error;
    put(files, "a", "old");
    for (int round = 0; round < 4; round++) {
        const char *path = round == 3 ? "b" : "a";
        assert_int_equal(
            dx__autohand_file_stage(space_of(state), path, dx_str("new"), &staged, &error), DX_OK);
        if (staged.unnamed) {
            char link[64];
            (void)snprintf(link, sizeof link, "/proc/self/fd/%d", staged.file);
            assert_int_equal(linkat(AT_FDCWD, link, staged.folder, staged.fresh, AT_SYMLINK_FOLLOW),
                             0);
            staged.unnamed = false;
        }
        assert_int_equal(names_in(files, "."), 2);
        if (round == 0)
            dx__autohand_file_unstage(&staged);
        else
            assert_int_equal(dx__autohand_file_commit(&staged, path, round != 2, &error),
                             round == 1 ? DX_BUSY : DX_OK);
        must_have(files, "a", round < 2 ? "old" : "new");
        assert_int_equal(names_in(files, "."), round == 3 ? 2 : 1);
    }
    must_have(files, "b", "new");
}

static void test_delete(void **state) {
    struct files *files = *state;
    dx_error error;
    put(files, "d/a", "x");
    assert_int_equal(dx__autohand_file_delete(space_of(state), "d/a", &error), DX_OK);
    must_have(files, "d/a", NULL);
    assert_int_equal(dx__autohand_file_delete(space_of(state), "d/a", &error), DX_GONE);
    assert_int_equal(dx__autohand_file_delete(space_of(state), "d", &error), DX_ERR_INVALID);
    assert_int_equal(dx__autohand_file_delete(space_of(state), ".", &error), DX_ERR_INVALID);
    assert_int_equal(names_in(files, "."), 1);
}

/* Links: those that stay in the workspace are followed, the others are not. */
static void test_links(void **state) {
    struct files *files = *state;
    dx_error error;
    put(files, "real/a", "text");
    put(files, "../outside/secret", "secret");
    assert_int_equal(symlink("real", in_top(files, "folder")), 0);
    assert_int_equal(symlink("real/a", in_top(files, "file")), 0);
    assert_int_equal(symlink("../real/a", in_top(files, "real/up")), 0);
    must_read(state, "folder/a", DX_OK, "text");
    must_read(state, "file", DX_OK, "text");
    must_read(state, "real/up", DX_OK, "text");
    must_write(state, "file", "through", DX_OK);
    must_have(files, "real/a", "through");
    must_write(state, "real/up", "up", DX_OK);
    must_have(files, "real/a", "up");
    must_write(state, "folder/new", "n", DX_OK);
    must_have(files, "real/new", "n");
    struct stat about;
    assert_int_equal(lstat(in_top(files, "file"), &about), 0);
    assert_true(S_ISLNK(about.st_mode));
    /* What is deleted is the link. */
    assert_int_equal(dx__autohand_file_delete(space_of(state), "file", &error), DX_OK);
    must_have(files, "real/a", "up");
}

static void test_links_out(void **state) {
    struct files *files = *state;
    dx_error error;
    put(files, "../outside/secret", "secret");
    static const char *const targets[][2] = {
        {"../outside", "secret"},   {"../outside/secret", ""}, {NULL, "secret"},
        {"/proc/self/root", "etc"}, {"/proc/self/cwd", "x"},   {"..", "outside/secret"},
        {"/", "etc/passwd"},        {"/dev/null", ""},         {"../outside/new", ""},
        {"/proc/self/fd/0", ""},
    };
    for (size_t i = 0; i < LENGTH(targets); i++) {
        char path[300];
        const char *target = targets[i][0] ? targets[i][0] : files->outside;
        (void)unlink(in_top(files, "out"));
        assert_int_equal(symlink(target, in_top(files, "out")), 0);
        (void)snprintf(path, sizeof path, "out%s%s", targets[i][1][0] ? "/" : "", targets[i][1]);
        char *bytes = NULL;
        size_t len;
        dx_status status =
            dx__autohand_file_read(space_of(state), path, &bytes, &len, NULL, &error);
        assert_true(status == DX_ERR_INVALID);
        must_write(state, path, "evil", DX_ERR_INVALID);
        must_write(state, "out/a/b/c", "evil", DX_ERR_INVALID);
        if (targets[i][1][0])
            assert_int_equal(dx__autohand_file_delete(space_of(state), path, &error),
                             DX_ERR_INVALID);
    }
    must_have(files, "../outside/secret", "secret");
    assert_int_equal(names_in(files, "../outside"), 1);
    assert_int_equal(names_in(files, "."), 1);
}

static void test_links_nowhere(void **state) {
    struct files *files = *state;
    assert_int_equal(symlink("missing", in_top(files, "dangling")), 0);
    assert_int_equal(symlink("loop", in_top(files, "loop")), 0);
    must_read(state, "dangling", DX_GONE, NULL);
    must_write(state, "dangling", "x", DX_ERR_INVALID);
    must_write(state, "dangling/x", "x", DX_ERR_SYSTEM);
    must_read(state, "loop", DX_ERR_INVALID, NULL);
    must_write(state, "loop", "x", DX_ERR_INVALID);
    must_have(files, "missing", NULL);
}

/* What the agent itself is steered by, under all of its names. */
static void test_own(void **state) {
    struct files *files = *state;
    const struct dx__autohand_workspace *space = space_of(state);
    put(files, ".autohand/settings.local.json", "{}");
    put(files, "x/a", "");
    assert_int_equal(symlink(".autohand", in_top(files, "folder")), 0);
    assert_int_equal(symlink(".autohand/settings.local.json", in_top(files, "file")), 0);
    assert_non_null(dx__autohand_path_kept(space, ".autohand"));
    assert_non_null(dx__autohand_path_kept(space, ".autohand/settings.local.json"));
    assert_non_null(dx__autohand_path_kept(space, ".autohand/new/deep"));
    assert_non_null(dx__autohand_path_kept(space, ".AutoHand/new"));
    assert_non_null(dx__autohand_path_kept(space, "folder/settings.local.json"));
    assert_non_null(dx__autohand_path_kept(space, "folder/new"));
    assert_non_null(dx__autohand_path_kept(space, "file"));
    assert_null(dx__autohand_path_kept(space, "x/a"));
    assert_null(dx__autohand_path_kept(space, ".autohand2"));
    assert_null(dx__autohand_path_kept(space, "x/.autohand"));
    assert_null(dx__autohand_path_kept(space, "new/new"));
}

/* What git obeys, at any depth and through links. */
static void test_git(void **state) {
    static const char *const kept[] = {".git",
                                       ".git/config",
                                       "a/.GIT/hooks/new",
                                       "a/b/.git",
                                       "link/config",
                                       "hooks/new",
                                       "deep/up/.git/x",
                                       "file",
                                       "deep/up/link",
                                       ".gitconfig",
                                       "a/.GitConfig",
                                       ".config/git/config",
                                       "a/.CONFIG/Git/new/deep",
                                       ".config/git",
                                       "settings",
                                       "deep/up/folder/new"};
    static const char *const free_ones[] = {".gitignore",   "a/.gitmodules", "git",
                                            "a.git/config", "a/..git",       ".gitconfig2",
                                            "gitconfig",    ".config/gitk",  ".config/a/git"};
    struct files *files = *state;
    const struct dx__autohand_workspace *space = space_of(state);
    put(files, ".git/config", "");
    put(files, ".git/hooks/a", "");
    put(files, "deep/a", "");
    assert_int_equal(symlink(".git", in_top(files, "link")), 0);
    assert_int_equal(symlink(".git/hooks", in_top(files, "hooks")), 0);
    assert_int_equal(symlink(".git/config", in_top(files, "file")), 0);
    assert_int_equal(symlink("..", in_top(files, "deep/up")), 0);
    put(files, ".gitconfig", "");
    put(files, ".config/git/config", "");
    assert_int_equal(symlink(".gitconfig", in_top(files, "settings")), 0);
    assert_int_equal(symlink(".config/git", in_top(files, "folder")), 0);
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (!dx__autohand_path_kept(space, kept[i]))
            fail_msg("%s may be changed", kept[i]);
    for (size_t i = 0; i < sizeof free_ones / sizeof *free_ones; i++)
        if (dx__autohand_path_kept(space, free_ones[i]))
            fail_msg("%s may not be changed", free_ones[i]);
}

static void test_real_path(void **state) {
    static const char *const rows[][2] = {
        {"a", "a"},
        {"x/a", "x/a"},
        {"link", "x/a"},
        {"up", "."},
        {"up/new", "new"},
        {"up/x/a", "x/a"},
        {"folder/new", "x/new"},
        {"new/b/c", "new/b/c"},
        {"up/up/new/b", "new/b"},
        {"folder", "x"},
        {".", "."},
        {"dangling", "dangling"},
    };
    struct files *files = *state;
    char room[PATH_MAX];
    put(files, "a", "");
    put(files, "x/a", "");
    assert_int_equal(symlink("x/a", in_top(files, "link")), 0);
    assert_int_equal(symlink(".", in_top(files, "up")), 0);
    assert_int_equal(symlink("x", in_top(files, "folder")), 0);
    assert_int_equal(symlink("missing", in_top(files, "dangling")), 0);
    assert_int_equal(symlink("/etc", in_top(files, "out")), 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_true(dx__autohand_path_real(space_of(state), rows[i][0], room));
        assert_string_equal(room, rows[i][1]);
    }
    assert_false(dx__autohand_path_real(space_of(state), "out/passwd", room));
}

/* Somebody swaps a folder and a link that leads out, all the time. */

static atomic_bool over;

static void *swap(void *user) {
    const struct files *files = user;
    char one[PATH_MAX + 8];
    char other[PATH_MAX + 8];
    (void)snprintf(one, sizeof one, "%s/d", files->top);
    (void)snprintf(other, sizeof other, "%s/l", files->top);
    while (!over)
        (void)renameat2(AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE);
    return NULL;
}

/* The same with the file itself. */
static void *swap_file(void *user) {
    const struct files *files = user;
    char one[PATH_MAX + 8];
    char other[PATH_MAX + 8];
    (void)snprintf(one, sizeof one, "%s/f", files->top);
    (void)snprintf(other, sizeof other, "%s/m", files->top);
    while (!over)
        (void)renameat2(AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE);
    return NULL;
}

static void race_once(void **state, uint64_t *reads, uint64_t *writes) {
    static const char *const paths[] = {"d/a", "f"};
    dx_error error;
    for (size_t i = 0; i < LENGTH(paths); i++) {
        char *bytes = NULL;
        size_t len;
        if (dx__autohand_file_read(space_of(state), paths[i], &bytes, &len, NULL, &error) ==
            DX_OK) {
            assert_null(strstr(bytes, "secret"));
            ++*reads;
        }
        dx__free(&space_of(state)->alloc, bytes);
        *writes +=
            dx__autohand_file_write(space_of(state), paths[i], dx_str("mine"), &error) == DX_OK;
    }
    *writes += dx__autohand_file_write(space_of(state), "d/n/m", dx_str("mine"), &error) == DX_OK;
    (void)dx__autohand_file_delete(space_of(state), "d/n/m", &error);
    (void)dx__autohand_file_delete(space_of(state), "d/b", &error);
}

static void test_race(void **state) {
    struct files *files = *state;
    pthread_t threads[2];
    uint64_t reads = 0;
    uint64_t writes = 0;
    put(files, "d/a", "mine");
    put(files, "d/b", "mine");
    put(files, "f", "mine");
    put(files, "../outside/a", "secret");
    put(files, "../outside/b", "secret");
    assert_int_equal(symlink("../outside", in_top(files, "l")), 0);
    assert_int_equal(symlink("../outside/a", in_top(files, "m")), 0);
    over = false;
    assert_int_equal(pthread_create(&threads[0], NULL, swap, files), 0);
    assert_int_equal(pthread_create(&threads[1], NULL, swap_file, files), 0);
    struct timespec begin;
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        race_once(state, &reads, &writes);
        (void)clock_gettime(CLOCK_MONOTONIC, &now);
    } while (now.tv_sec - begin.tv_sec < 3);
    over = true;
    (void)pthread_join(threads[0], NULL);
    (void)pthread_join(threads[1], NULL);
    must_have(files, "../outside/a", "secret");
    must_have(files, "../outside/b", "secret");
    assert_int_equal(names_in(files, "../outside"), 2);
    assert_true(reads > 0 && writes > 0);
}

/* Whenever it is killed: one text or the other, all of it, and nothing beside it (but for the
 * moment in which a file has got its first name and not yet its second). */
static void test_killed(void **state) {
    enum { LEN = 300000, ROUNDS = 40 };
    struct files *files = *state;
    static char text[LEN + 1];
    uint64_t seed = 99;
    size_t left = 0;
    memset(text, 'x', LEN);
    must_write(state, "a", text, DX_OK);
    for (int round = 0; round < ROUNDS; round++) {
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0)
            for (char c = 'a';; c = c == 'z' ? 'a' : (char)(c + 1)) {
                dx_error error;
                memset(text, c, LEN);
                if (dx__autohand_file_write(space_of(state), "a", (dx_text){text, LEN}, &error) !=
                    DX_OK)
                    _exit(1);
            }
        (void)usleep((useconds_t)unit_random(&seed, 40000));
        assert_int_equal(kill(pid, SIGKILL), 0);
        int status = 0;
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFSIGNALED(status));
        char *bytes = NULL;
        size_t len = 0;
        dx_error error;
        assert_int_equal(dx__autohand_file_read(space_of(state), "a", &bytes, &len, NULL, &error),
                         DX_OK);
        assert_int_equal(len, LEN);
        for (size_t i = 1; i < len; i++)
            if (bytes[i] != bytes[0])
                fail_msg("two texts in one file at %zu", i);
        dx__free(&space_of(state)->alloc, bytes);
        left = names_in(files, ".") - 1;
    }
    struct dx__autohand_staged staged;
    dx_error error;
    assert_int_equal(dx__autohand_file_stage(space_of(state), "a", dx_str(""), &staged, &error),
                     DX_OK);
    bool unnamed = staged.unnamed; /* not every file system can do that */
    dx__autohand_file_unstage(&staged);
    assert_true(left <= (unnamed ? 4 : ROUNDS));
}

static void test_open(void **state) {
    struct files *files = *state;
    struct dx__autohand_workspace space;
    dx_error error;
    put(files, "a", "x");
    assert_int_equal(symlink("top", in_top(files, "../link")), 0);
    const dx_allocator *alloc = &files->agent.alloc;
    assert_int_equal(dx__autohand_workspace_open(&space, in_top(files, "a"), 10, alloc, &error),
                     DX_ERR_INVALID);
    assert_non_null(strstr(error.phrase, "not a folder"));
    assert_int_equal(dx__autohand_workspace_open(&space, in_top(files, "b"), 10, alloc, &error),
                     DX_ERR_INVALID);
    assert_int_equal(
        dx__autohand_workspace_open(&space, in_top(files, "../link"), 10, alloc, &error), DX_OK);
    assert_string_equal(space.path, files->top);
    dx__autohand_workspace_close(&space);
    dx__autohand_workspace_close(&space);
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define ROW(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        ROW(test_clean),         ROW(test_clean_length), ROW(test_read),
        ROW(test_read_limit),    ROW(test_write),        ROW(test_write_is_whole),
        ROW(test_write_limit),   ROW(test_create),       ROW(test_named),
        ROW(test_delete),        ROW(test_links),        ROW(test_links_out),
        ROW(test_links_nowhere), ROW(test_own),          ROW(test_race),
        ROW(test_killed),        ROW(test_open),         ROW(test_write_attributes),
        ROW(test_write_foreign), ROW(test_git),          ROW(test_real_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
