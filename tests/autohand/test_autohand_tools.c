/* The tools that look at files and change them. */
#include "autohand/files.h"

#include <sys/prctl.h>

static void begin(struct files *files) {
    assert_int_equal(dx__autohand_batch_begin(&files->agent, "turn_1"), DX_OK);
}

/* Their schemas are schemas, which take what the tools take. */
static void test_schemas(void **state) {
    static const struct {
        const char *tool;
        const char *args;
        bool fits;
    } rows[] = {
        {"read_file", "{\"path\":\"a\",\"offset\":1,\"limit\":2}", true},
        {"read_file", "{}", false},
        {"read_file", "{\"path\":\"\"}", false},
        {"read_file", "{\"path\":\"a\",\"offset\":-1}", false},
        {"write_file", "{\"path\":\"a\",\"contents\":\"\"}", true},
        {"write_file", "{\"path\":\"a\",\"content\":\"\",\"type\":\"write_file\"}", true},
        {"write_file", "{\"path\":\"a\"}", false},
        {"write_file", "{\"path\":\"a\",\"contents\":1}", false},
        {"apply_patch", "{\"path\":\"a\",\"patch\":\"\"}", true},
        {"apply_patch", "{\"path\":\"a\"}", false},
        {"search_replace", "{\"path\":\"a\",\"search\":\"x\",\"replace\":\"\"}", true},
        {"search_replace", "{\"path\":\"a\",\"search\":\"\",\"replace\":\"\"}", false},
        {"delete_path", "{\"path\":\"a\"}", true},
        {"list_tree", "{}", true},
        {"list_tree", "{\"path\":1}", false},
        {"search", "{\"query\":\"x\",\"ignoreCase\":true}", true},
        {"search", "{\"query\":\"\"}", false},
        {"run_command", "{\"command\":\"ls\",\"args\":[\"-l\"],\"timeout\":5}", true},
        {"run_command", "{\"command\":\"ls\",\"args\":[1]}", false},
        {"run_command", "{\"args\":[]}", false},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        const dx_autohand_tool *tool = dx__autohand_tools;
        dx_schemas *schemas;
        dx_schema *schema;
        dx_check *check;
        dx_misfit misfit;
        while (strcmp(tool->name, rows[i].tool) != 0)
            tool++;
        yyjson_doc *doc = yyjson_read(tool->parameters, strlen(tool->parameters), 0);
        yyjson_doc *args = yyjson_read(rows[i].args, strlen(rows[i].args), 0);
        assert_true(doc && args && tool->run && tool->description && tool->kind);
        assert_int_equal(dx_schemas_new(NULL, &schemas), DX_OK);
        assert_int_equal(dx_check_new(NULL, &check), DX_OK);
        assert_int_equal(dx_schemas_add(schemas, dx_str(""), yyjson_doc_get_root(doc), &misfit),
                         DX_OK);
        assert_int_equal(dx_schemas_compile(schemas, dx_str(""), &schema, &misfit), DX_OK);
        assert_int_equal(dx_schema_check(schema, yyjson_doc_get_root(args), 0, check, &misfit),
                         rows[i].fits ? DX_OK : DX_MISFIT);
        dx_check_free(check);
        dx_schemas_free(schemas);
        yyjson_doc_free(args);
        yyjson_doc_free(doc);
    }
}

static void test_read(void **state) {
    struct files *files = *state;
    put(files, "a", "1\n2\n3\nfour");
    put(files, "latin", "caf\xe9\n");
    put(files, "empty", "");
    FILE *file = fopen(in_top(files, "binary"), "w");
    assert_int_equal(fwrite("ELF\0x", 1, 5, file), 5);
    (void)fclose(file);
    must_end(files, "read_file", "{\"path\":\"a\"}", 'd', "1\n2\n3\nfour");
    must_end(files, "read_file", "{\"path\":\"a\",\"offset\":1}", 'd', "2\n3\nfour");
    must_end(files, "read_file", "{\"path\":\"a\",\"offset\":1,\"limit\":2}", 'd', "2\n3\n");
    must_end(files, "read_file", "{\"path\":\"a\",\"offset\":3.0,\"limit\":9}", 'd', "four");
    must_end(files, "read_file", "{\"path\":\"a\",\"offset\":4}", 'd', "");
    must_end(files, "read_file", "{\"path\":\"a\",\"offset\":1e300}", 'd', "");
    must_end(files, "read_file", "{\"path\":\"empty\"}", 'd', "");
    must_end(files, "read_file", "{\"path\":\"latin\"}", 'd', "caf\xef\xbf\xbd\n");
    must_end(files, "read_file", "{\"path\":\"binary\"}", 'f', "binary: is a binary file");
    must_end(files, "read_file", "{\"path\":\"none\"}", 'f', "none: no such file");
    must_end(files, "read_file", "{\"path\":\".\"}", 'f', ".: is a folder");
    must_end(files, "read_file", "{\"path\":\"../outside/x\"}", 'f',
             "../outside/x: a path must not contain '..'");
    must_end(files, "read_file", "{\"path\":\"a\\u0000b\"}", 'f',
             "a?b: a path must not contain a NUL character");
    must_end(files, "read_file", "{\"path\":\"/etc/passwd\"}", 'f',
             "/etc/passwd: is outside the workspace");
}

/* More than a model is given is cut between lines. */
static void test_read_long(void **state) {
    struct files *files = *state;
    char text[4000] = "";
    for (int i = 0; i < 100; i++)
        (void)sprintf(text + strlen(text), "line %03d\n", i);
    put(files, "a", text);
    files->agent.config.output_max = 513; /* 256 of which are for the note */
    dx_autohand_job *job = run_to_end(files, "read_file", "{\"path\":\"a\",\"offset\":10}");
    assert_int_equal(job->ended, 'd');
    assert_non_null(strstr(job->output, "line 010\n"));
    assert_non_null(strstr(job->output, "line 037\n\n[lines 11 to 38 of 100; the rest did not fit: "
                                        "continue with offset 38]\n"));
    job_free(job);
    memset(text, 'x', 3000);
    text[255] = '\xc3'; /* a character is not cut */
    text[256] = '\xbc';
    text[257] = '\xc3';
    text[258] = '\xbc';
    put(files, "a", text);
    job = run_to_end(files, "read_file", "{\"path\":\"a\"}");
    /* Its rest cannot be read, and nobody is told that it could. */
    assert_string_equal(job->output + 255,
                        "ü\n[line 1 of 1 is cut here because it is too long; use search to look "
                        "inside it, or continue after it with offset 1]\n");
    job_free(job);
}

static void test_write(void **state) {
    struct files *files = *state;
    put(files, "a", "old");
    begin(files);
    must_end(files, "write_file", "{\"path\":\"a\",\"contents\":\"new\"}", 'd', "Updated a");
    must_end(files, "write_file", "{\"path\":\"d/b\",\"content\":\"new\"}", 'd', "Created d/b");
    must_end(files, "write_file", "{\"path\":\"d/b\",\"contents\":\"2\"}", 'd', "Updated d/b");
    must_end(files, "read_file", "{\"path\":\"d/b\"}", 'd', "2");
    must_end(files, "write_file", "{\"path\":\"../b\",\"contents\":\"\"}", 'f',
             "../b: a path must not contain '..'");
    must_end(files, "delete_path", "{\"path\":\"a\"}", 'd', "Deleted a");
    must_end(files, "delete_path", "{\"path\":\"a\"}", 'f', "a: no such file");
    must_end(files, "read_file", "{\"path\":\"a\"}", 'f', "a: no such file");
    must_end(files, "delete_path", "{\"path\":\"none\"}", 'f', "none: no such file");
    put(files, "e/f", "x");
    must_end(files, "delete_path", "{\"path\":\"e\"}", 'f', "e: is a folder");
    must_have(files, "a", "old");
    assert_int_equal(files->agent.open->count, 4);
}

static void test_patch(void **state) {
    struct files *files = *state;
    put(files, "a", "1\n2\n3\n");
    put(files, "latin", "\xe9\n");
    begin(files);
    told[0] = '\0';
    must_end(files, "apply_patch", "{\"path\":\"a\",\"patch\":\"@@ -2 +2 @@\\n-2\\n+two\\n\"}", 'd',
             "Updated a");
    assert_string_equal(told, "change changes_1 change_changes_1_1 modify a \"1\n2\n3\n\" "
                              "\"1\ntwo\n3\n\" Apply patch to a by t1\n");
    /* On top of what is pending. */
    must_end(files, "apply_patch", "{\"path\":\"a\",\"patch\":\"@@ -2 +2 @@\\n-two\\n+zwei\\n\"}",
             'd', "Updated a");
    must_end(files, "read_file", "{\"path\":\"a\"}", 'd', "1\nzwei\n3\n");
    must_end(files, "apply_patch", "{\"path\":\"n\",\"patch\":\"@@ -0,0 +1 @@\\n+x\\n\"}", 'd',
             NULL);
    must_end(files, "read_file", "{\"path\":\"n\"}", 'd', "x\n");
    must_end(files, "apply_patch", "{\"path\":\"a\",\"patch\":\"@@ -2 +2 @@\\n-2\\n+2\\n\"}", 'f',
             "a: hunk 1: its context and removed lines do not match the file");
    told[0] = '\0';
    must_end(files, "apply_patch",
             "{\"path\":\"a\",\"patch\":\"--- a\\n+++ "
             "/dev/null\\n@@ -1,3 +0,0 @@\\n-1\\n-zwei\\n-3\\n\"}",
             'd', "Deleted a");
    assert_string_equal(told, "change changes_1 change_changes_1_4 delete a \"1\n2\n3\n\" \"\" "
                              "Delete a by t1\n");
    must_end(files, "apply_patch",
             "{\"path\":\"a\",\"patch\":\"*** Begin Patch\\n*** Delete File: a\\n\"}", 'f',
             "a: no such file");
    must_end(files, "apply_patch",
             "{\"path\":\"a\",\"patch\":\"*** Begin Patch\\n*** Add File: a\\n+x\\n\"}", 'd',
             "Updated a");
    must_end(files, "read_file", "{\"path\":\"a\"}", 'd', "x\n");
    must_end(files, "apply_patch", "{\"path\":\"latin\",\"patch\":\"@@ -1,0 +1 @@\\n+x\\n\"}", 'f',
             "latin: not UTF-8 text");
}

static void test_replace(void **state) {
    struct files *files = *state;
    put(files, "a", "one two one");
    begin(files);
#define REPLACE(old, new, more) \
    "{\"path\":\"a\",\"search\":\"" old "\",\"replace\":\"" new "\"" more "}"
    must_end(files, "search_replace", REPLACE("two", "2", ""), 'd', "Updated a");
    must_end(files, "read_file", "{\"path\":\"a\"}", 'd', "one 2 one");
    must_end(files, "search_replace", REPLACE("one", "1", ""), 'f',
             "a: the search text occurs 2 times; give more of it, or pass all");
    must_end(files, "search_replace", REPLACE("two", "", ""), 'f',
             "a: the search text was not found");
    must_end(files, "search_replace", REPLACE("one", "", ",\"all\":true"), 'd', "Updated a");
    must_end(files, "read_file", "{\"path\":\"a\"}", 'd', " 2 ");
    must_end(files, "search_replace", "{\"path\":\"b\",\"search\":\"x\",\"replace\":\"\"}", 'f',
             "b: no such file");
    /* The result is measured before it is made. */
    put(files, "c", "xxxxx");
    files->agent.workspace.file_max = 10;
    must_end(files, "search_replace",
             "{\"path\":\"c\",\"search\":\"x\",\"replace\":\"yyy\",\"all\":true}", 'f',
             "c: the resulting text is too large");
    must_end(files, "search_replace",
             "{\"path\":\"c\",\"search\":\"x\",\"replace\":\"yy\",\"all\":true}", 'd', NULL);
    must_end(files, "read_file", "{\"path\":\"c\"}", 'd', "yyyyyyyyyy");
    must_end(files, "search_replace", "{\"path\":\"c\",\"search\":\"yyyyyyyyyy\",\"replace\":\"\"}",
             'd', NULL);
}

static void plant(struct files *files) {
    put(files, "b.txt", "needle here\nnothing\nNeedle there\r\n");
    put(files, "a/deep/x", "a needle\n");
    put(files, "a/y", "");
    put(files, ".git/config", "needle");
    put(files, "node_modules/m/x", "needle");
    put(files, "../outside/secret", "needle");
    assert_int_equal(symlink("../outside", in_top(files, "out")), 0);
    assert_int_equal(symlink("b.txt", in_top(files, "link")), 0);
}

static void test_tree(void **state) {
    struct files *files = *state;
    must_end(files, "list_tree", "{}", 'd', "[empty]\n");
    plant(files);
    must_end(files, "list_tree", "{}", 'd',
             ".git/\na/\n  deep/\n    x\n  y\nb.txt\nlink@\nnode_modules/\nout@\n");
    must_end(files, "list_tree", "{\"depth\":1}", 'd',
             ".git/\na/\nb.txt\nlink@\nnode_modules/\nout@\n");
    must_end(files, "list_tree", "{\"path\":\"a\"}", 'd', "deep/\n  x\ny\n");
    must_end(files, "list_tree", "{\"path\":\".git\"}", 'd', "config\n");
    must_end(files, "list_tree", "{\"path\":\"none\"}", 'f', "none: no such file");
    must_end(files, "list_tree", "{\"path\":\"b.txt\"}", 'f', "b.txt: not a folder");
    must_end(files, "list_tree", "{\"path\":\"out\"}", 'f', "out: leads outside the workspace");
    must_end(files, "list_tree", "{\"path\":\"..\"}", 'f', "..: a path must not contain '..'");
    /* With what the turn has changed. */
    begin(files);
    must_end(files, "write_file", "{\"path\":\"a/n/m\",\"contents\":\"\"}", 'd', NULL);
    must_end(files, "write_file", "{\"path\":\"c\",\"contents\":\"\"}", 'd', NULL);
    must_end(files, "write_file", "{\"path\":\"b.txt\",\"contents\":\"\"}", 'd', NULL);
    must_end(files, "delete_path", "{\"path\":\"a/y\"}", 'd', NULL);
    must_end(files, "list_tree", "{}", 'd',
             ".git/\na/\n  deep/\n    x\n  n/\n    m\nb.txt\nc\nlink@\nnode_modules/\nout@\n");
    must_end(files, "list_tree", "{\"path\":\"a/n\"}", 'd', "m\n");
    files->agent.config.compat = DX_AUTOHAND_0_8;
    must_end(files, "list_tree", "{\"path\":\"a\"}", 'd', "deep/\n  x\ny\n");
}

static void test_tree_limits(void **state) {
    struct files *files = *state;
    char name[400] = "d";
    for (int i = 0; i < 70; i++)
        (void)strcat(name, "/d");
    (void)strcat(name, "/x");
    put(files, name, "");
    dx_autohand_job *job = run_to_end(files, "list_tree", "{}");
    assert_int_equal(job->ended, 'd');
    assert_non_null(
        strstr(job->output, "[the list is too long: list one of the folders instead]\n"));
    assert_null(strstr(job->output, "x\n"));
    job_free(job);
    for (int i = 0; i < 300; i++) {
        (void)snprintf(name, sizeof name, "e/%d", i);
        put(files, name, "");
    }
    files->agent.config.output_max = 600;
    job = run_to_end(files, "list_tree", "{\"path\":\"e\"}");
    assert_int_equal(job->ended, 'd');
    assert_true(strlen(job->output) < 600);
    assert_non_null(strstr(job->output, "[the list is too long"));
    job_free(job);
}

/* Files in "m" up to `count`, with names of that length, and whether looking at them leaves some
 * out. */
static void must_cut(struct files *files, const char *tool, size_t count, int length, bool cut) {
    static size_t made;
    char name[256];
    if (mkdir(in_top(files, "m"), 0777) == 0)
        made = 0;
    int folder = open(in_top(files, "m"), O_PATH | O_DIRECTORY);
    for (; made < count; made++) {
        (void)snprintf(name, sizeof name, "%0*zu", length, made);
        int fd = openat(folder, name, O_CREAT | O_EXCL | O_WRONLY, 0666);
        assert_true(fd >= 0);
        (void)close(fd);
    }
    (void)close(folder);
    dx_autohand_job *job = run_to_end(files, tool, "{\"query\":\"x\",\"path\":\"m\"}");
    assert_int_equal(job->ended, 'd');
    assert_int_equal(
        strstr(job->output, "[the list is too long") || strstr(job->output, "[not every"), cut);
    job_free(job);
}

/* So many files take their time on a disk. */
static int set_up_in_memory(void **state) {
    char before[PATH_MAX];
    const char *place = getenv("TMPDIR");
    (void)snprintf(before, sizeof before, "%s", place ? place : "");
    if (access("/dev/shm", W_OK) == 0)
        (void)setenv("TMPDIR", "/dev/shm", 1);
    int failed = set_up(state);
    (void)(place ? setenv("TMPDIR", before, 1) : unsetenv("TMPDIR"));
    return failed;
}

static void test_many_names(void **state) {
    struct files *files = *state;
    must_cut(files, "list_tree", 5000, 5, false);
    must_cut(files, "list_tree", 5001, 5, true);
    must_cut(files, "search", DX__WALK_NAMES, 5, false);
    must_cut(files, "search", DX__WALK_NAMES + 1, 5, true);
}

/* 2 MiB of them, with two bytes more for each. */
static void test_long_names(void **state) {
    struct files *files = *state;
    must_cut(files, "search", (2 << 20) / 257, 255, false);
    must_cut(files, "search", (2 << 20) / 257 + 1, 255, true);
}

/* One that nobody may look into is not empty. */
static void test_tree_locked(void **state) {
    struct files *files = *state;
    uid_t before = geteuid();
    put(files, "d/x", "needle");
    assert_int_equal(chmod(in_top(files, "."), 0755), 0);
    assert_int_equal(chmod(in_top(files, "d"), 0), 0);
    assert_int_equal(before ? 0 : seteuid(65534), 0);
    dx_autohand_job *tree = run_to_end(files, "list_tree", "{}");
    dx_autohand_job *found = run_to_end(files, "search", "{\"query\":\"needle\"}");
    assert_int_equal(before ? 0 : seteuid(before), 0);
    (void)prctl(PR_SET_DUMPABLE, 1); /* who looks for leaks has to look into us */
    assert_int_equal(chmod(in_top(files, "d"), 0755), 0);
    assert_string_equal(tree->output,
                        "d/\n[the list is too long: list one of the folders instead]\n");
    assert_non_null(strstr(found->output, "[not everything was searched"));
    job_free(tree);
    job_free(found);
}

/* However many pending files lie beneath a folder, it has one name, and takes no room of others. */
static void test_tree_of_pending(void **state) {
    struct files *files = *state;
    char folder[201];
    char path[256];
    char expected[256];
    dx_error error;
    memset(folder, 'f', sizeof folder - 1);
    folder[sizeof folder - 1] = '\0';
    files->agent.config.batch_max = 64 << 20;
    begin(files);
    for (int i = 0; i < 11000; i++) {
        told[0] = '\0';
        (void)snprintf(path, sizeof path, "%s/%d", folder, i);
        assert_int_equal(
            dx__autohand_batch_write(&files->agent, NULL, path, dx_str(""), NULL, &error), DX_OK);
    }
    must_end(files, "write_file", "{\"path\":\"f/g\",\"contents\":\"\"}", 'd', NULL);
    must_end(files, "write_file", "{\"path\":\"f-g\",\"contents\":\"\"}", 'd', NULL);
    must_end(files, "write_file", "{\"path\":\"z\",\"contents\":\"\"}", 'd', NULL);
    (void)snprintf(expected, sizeof expected, "f/\nf-g\n%s/\nz\n", folder);
    must_end(files, "list_tree", "{\"depth\":1}", 'd', expected);
    must_end(files, "list_tree", "{\"path\":\"f\"}", 'd', "g\n");
}

static void test_search(void **state) {
    struct files *files = *state;
    plant(files);
    must_end(files, "search", "{\"query\":\"needle\"}", 'd',
             "a/deep/x:1: a needle\nb.txt:1: needle here\n");
    must_end(files, "search", "{\"query\":\"NEEDLE\",\"ignoreCase\":true}", 'd',
             "a/deep/x:1: a needle\nb.txt:1: needle here\nb.txt:3: Needle there\n");
    must_end(files, "search", "{\"query\":\"needle\",\"path\":\"b.txt\"}", 'd',
             "b.txt:1: needle here\n");
    must_end(files, "search", "{\"query\":\"needle\",\"path\":\"a\"}", 'd',
             "a/deep/x:1: a needle\n");
    must_end(files, "search", "{\"query\":\"needle\",\"limit\":1}", 'd',
             "a/deep/x:1: a needle\n[more matches follow]\n");
    must_end(files, "search", "{\"query\":\"hay\"}", 'd', "[no matches]\n");
    must_end(files, "search", "{\"query\":\"needle\",\"path\":\"out\"}", 'f',
             "out: leads outside the workspace");
    must_end(files, "search", "{\"query\":\"needle\",\"path\":\"out/secret\"}", 'f',
             "out/secret: leads outside the workspace");
    must_end(files, "search", "{\"query\":\"x\",\"path\":\"none\"}", 'f', "none: no such file");
    begin(files);
    must_end(files, "write_file", "{\"path\":\"c\",\"contents\":\"1\\n\\nneedle\\nneedle\"}", 'd',
             NULL);
    must_end(files, "delete_path", "{\"path\":\"b.txt\"}", 'd', NULL);
    must_end(files, "search", "{\"query\":\"needle\"}", 'd',
             "a/deep/x:1: a needle\nc:3: needle\nc:4: needle\n");
    must_end(files, "search", "{\"query\":\"needle\",\"path\":\"b.txt\"}", 'f',
             "b.txt: no such file");
}

/* What could not be looked at is said, also if nothing was found. */
static void test_search_left_out(void **state) {
    static const char note[] = "[not everything was searched: some files are too large, nested too "
                               "deeply or unreadable]\n";
    struct files *files = *state;
    char name[400] = "d";
    char expected[256];
    put(files, "x", "needle\n");
    files->agent.workspace.file_max = 7;
    must_end(files, "search", "{\"query\":\"needle\"}", 'd', "x:1: needle\n");
    files->agent.workspace.file_max = 6;
    (void)snprintf(expected, sizeof expected, "[no matches]\n%s", note);
    must_end(files, "search", "{\"query\":\"needle\"}", 'd', expected);
    must_end(files, "search", "{\"query\":\"needle\",\"path\":\"x\"}", 'f',
             "x: the file is too large");
    put(files, "a", "needle");
    (void)snprintf(expected, sizeof expected, "a:1: needle\n%s", note);
    must_end(files, "search", "{\"query\":\"needle\"}", 'd', expected);
    must_end(files, "list_tree", "{\"path\":\"x\"}", 'f', "x: not a folder");
    assert_int_equal(unlink(in_top(files, "x")), 0);
    for (int i = 0; i < 70; i++)
        (void)strcat(name, "/d");
    (void)strcat(name, "/x");
    put(files, name, "needle");
    must_end(files, "search", "{\"query\":\"needle\"}", 'd', expected);
    must_end(files, "search", "{\"query\":\"needle\",\"path\":\"d/d/d/d/d/d/d/d/d/d\"}", 'd', NULL);
}

static void test_search_odd(void **state) {
    struct files *files = *state;
    char text[2000];
    memset(text, 'x', sizeof text);
    memcpy(text, "needle", 6);
    text[1999] = '\0';
    put(files, "long", text);
    put(files, "latin", "\xe9 needle");
    FILE *file = fopen(in_top(files, "binary"), "w");
    assert_int_equal(fwrite("\0needle", 1, 7, file), 7);
    (void)fclose(file);
    dx_autohand_job *job = run_to_end(files, "search", "{\"query\":\"needle\"}");
    assert_ptr_equal(strstr(job->output, "latin:1: \xef\xbf\xbd needle\nlong:1: needlexx"),
                     job->output);
    assert_string_equal(job->output + strlen(job->output) - 7, "xxx…\n");
    assert_true(strlen(job->output) < 500);
    job_free(job);
    /* What was found is shown, however far behind it stands. */
    assert_int_equal(unlink(in_top(files, "latin")), 0);
    memset(text, 'x', 1999);
    memcpy(text + 1498, "é", 2);
    memcpy(text + 1600 - 1, "needle", 6);
    put(files, "long", text);
    job = run_to_end(files, "search", "{\"query\":\"needle\"}");
    assert_ptr_equal(strstr(job->output, "long:1: …éxx"), job->output);
    assert_non_null(strstr(job->output, "xxneedlexx"));
    assert_string_equal(job->output + strlen(job->output) - 7, "xxx…\n");
    assert_true(strlen(job->output) < 500);
    job_free(job);
}

/* 200 lines unless more are asked for, and never more than 2,000. */
static void test_search_lines(void **state) {
    static const struct {
        const char *args;
        size_t lines;
    } rows[] = {{"{\"query\":\"x\"}", 200},
                {"{\"query\":\"x\",\"limit\":0}", 200},
                {"{\"query\":\"x\",\"limit\":1999}", 1999},
                {"{\"query\":\"x\",\"limit\":1e9}", 2000}};
    struct files *files = *state;
    char text[2 * 2001 + 1];
    for (size_t i = 0; i < LENGTH(rows); i++)
        for (size_t more = 0; more < 2; more++) {
            for (size_t line = 0; line < rows[i].lines + more; line++)
                (void)strcpy(text + 2 * line, "x\n");
            put(files, "f", text);
            dx_autohand_job *job = run_to_end(files, "search", rows[i].args);
            size_t found = 0;
            for (const char *at = job->output; (at = strchr(at, '\n')); at++)
                found++;
            assert_int_equal(found, rows[i].lines + more);
            assert_int_equal(strstr(job->output, "[more matches follow]\n") != NULL, more);
            job_free(job);
        }
}

/* A large tree is looked at a little at a time, and can be left. */
static void test_search_slices(void **state) {
    struct files *files = *state;
    char name[32];
    static char text[1 << 20];
    memset(text, 'x', sizeof text - 1);
    for (int i = 0; i < 60; i++) {
        (void)snprintf(name, sizeof name, "f%d", i);
        put(files, name, text);
    }
    dx_autohand_job *job = run_tool(files, "search", "{\"query\":\"y\",\"ignoreCase\":true}");
    assert_int_equal(job->ended, 0);
    unsigned slices = 0;
    for (; !job->ended; slices++)
        dx_loop_dispatch(files->loop);
    assert_true(slices > 2);
    assert_int_equal(job->ended, 'd');
    job_free(job);
    job = run_tool(files, "search", "{\"query\":\"y\",\"ignoreCase\":true}");
    dx_loop_dispatch(files->loop);
    assert_int_equal(job->ended, 0);
    job->on_cancel(job, job->user);
    assert_int_equal(job->ended, 'f');
    job_free(job);
    dx_loop_dispatch(files->loop);
}

static void must_split(const char *line, const char *expected) {
    struct unit_memory memory = {.fail_at = 0};
    dx_allocator alloc = unit_allocator(&memory);
    char **words;
    char room[200] = "";
    dx_error error = {.phrase = ""};
    dx_status status = dx__autohand_words(&alloc, dx_str(line), &words, &error);
    assert_int_equal(status, expected ? DX_OK : DX_ERR_INVALID);
    if (!expected) {
        assert_true(error.phrase[0]);
    } else {
        for (size_t i = 0; words[i]; i++)
            (void)sprintf(room + strlen(room), "<%s>", words[i]);
        assert_string_equal(room, expected);
        dx__free(&alloc, words);
    }
    assert_int_equal(memory.blocks, 0);
}

static void test_words(void **state) {
    static const char *const shell[] = {
        "a | b", "a && b", "a; b", "a > b", "a < b", "$HOME", "a `b`",  "a *.c", "a ?",
        "a [b]", "(a)",    "a &",  "# a",   "~/a",   "a ~",   "\"$a\"", "a 'b",  "a \"b",
        "a\\",   "X=1 a",  "",     "  ",    "''",    "a\nb",  "\"`a`\""};
    (void)state;
    must_split("a", "<a>");
    must_split("  npm  run\ttest ", "<npm><run><test>");
    must_split("a 'b c' \"d e\" f\\ g", "<a><b c><d e><f g>");
    must_split("a '' \"\"", "<a><><>");
    must_split("a 'b$c|d' x'y'z", "<a><b$c|d><xyz>");
    must_split("a \"\\\"\\$\\x\"", "<a><\"$\\x>");
    must_split("a --b=c d=e", "<a><--b=c><d=e>");
    must_split("./x=y a", "<./x=y><a>");
    must_split("a b#c d~", "<a><b#c><d~>");
    for (size_t i = 0; i < LENGTH(shell); i++)
        must_split(shell[i], NULL);
    char *line = malloc((1 << 20) + 2);
    struct unit_memory memory = {.fail_at = 0};
    dx_allocator alloc = unit_allocator(&memory);
    char **words;
    assert_non_null(line);
    memset(line, 'x', (1 << 20) + 1);
    assert_int_equal(dx__autohand_words(&alloc, (dx_text){line, (1 << 20) + 1}, &words, NULL),
                     DX_ERR_INVALID);
    assert_int_equal(dx__autohand_words(&alloc, (dx_text){line, 1 << 20}, &words, NULL), DX_OK);
    dx__free(&alloc, words);
    free(line);
}

/* Memory that runs out at any point ends a tool, and nothing leaks. */
static void test_memory(void **state) {
    static const char *const calls[][2] = {
        {"read_file", "{\"path\":\"b.txt\"}"},
        {"write_file", "{\"path\":\"n/w\",\"contents\":\"x\"}"},
        {"apply_patch", "{\"path\":\"b.txt\",\"patch\":\"@@ -2 +2 @@\\n-nothing\\n+x\\n\"}"},
        {"search_replace", "{\"path\":\"b.txt\",\"search\":\"nothing\",\"replace\":\"x\"}"},
        {"delete_path", "{\"path\":\"b.txt\"}"},
        {"list_tree", "{}"},
        {"search", "{\"query\":\"NEEDLE\",\"ignoreCase\":true}"},
        {"search", "{\"query\":\"needle\",\"path\":\"b.txt\"}"},
    };
    struct files *files = *state;
    plant(files);
    for (size_t i = 0; i < LENGTH(calls); i++)
        for (size_t at = 1;; at++) {
            begin(files);
            files->memory.count = 0;
            files->memory.fail_at = at;
            dx_autohand_job *job = run_to_end(files, calls[i][0], calls[i][1]);
            bool reached = files->memory.count >= at;
            files->memory.fail_at = 0;
            assert_int_equal(job->ended, reached ? 'f' : 'd');
            if (reached)
                assert_string_equal(job->output, "Out of memory");
            job_free(job);
            dx__autohand_batch_free(&files->agent);
            if (!reached)
                break;
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define ROW(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        cmocka_unit_test(test_schemas),
        ROW(test_read),
        ROW(test_read_long),
        ROW(test_write),
        ROW(test_patch),
        ROW(test_replace),
        ROW(test_tree),
        ROW(test_tree_limits),
        ROW(test_tree_locked),
        cmocka_unit_test_setup_teardown(test_many_names, set_up_in_memory, tear_down),
        cmocka_unit_test_setup_teardown(test_long_names, set_up_in_memory, tear_down),
        ROW(test_tree_of_pending),
        ROW(test_search),
        ROW(test_search_odd),
        ROW(test_search_left_out),
        ROW(test_search_lines),
        ROW(test_search_slices),
        cmocka_unit_test(test_words),
        ROW(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
