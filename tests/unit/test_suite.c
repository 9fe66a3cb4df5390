/*
 * JSONTestSuite: every y_ file is accepted and every n_ file refused, by our scan and by the tree
 * reader; what becomes of each i_ file stands in docs/json.md, and the test reads it there.
 *
 * The suite lies in $DUPLEX_SUITES, or in ../shared/suites beside the source. Without it the test
 * is skipped.
 */
#include "unit/unit.h"

#include <duplex/peer.h>

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>

enum { SKIPPED = 77 };

static char folder[4096];
static unsigned depth; /* what a peer has if nothing else is said */

static const char *source(void) {
    const char *set = getenv("SOURCE");
    return set ? set : ".";
}

static bool find_suite(void) {
    const char *set = getenv("DUPLEX_SUITES");
    if (set)
        snprintf(folder, sizeof folder, "%s/json-test-suite/test_parsing", set);
    else
        snprintf(folder, sizeof folder, "%s/../shared/suites/json-test-suite/test_parsing",
                 source());
    return access(folder, R_OK) == 0;
}

struct verdict {
    bool scan;
    bool tree;
};

static struct verdict judge(const char *name) {
    char path[4096 + 300];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    static char bytes[1 << 20];
    size_t len = fread(bytes, 1, sizeof bytes, file);
    assert_true(len < sizeof bytes && !ferror(file));
    fclose(file);
    struct unit_fence fence = unit_fence_new(len);
    dx_text text = unit_fence_put(&fence, bytes, len);
    yyjson_doc *doc = yyjson_read(text.at, text.len, 0);
    struct verdict verdict = {dx_json_check(text, depth, NULL) == DX_FAULT_NONE, doc != NULL};
    yyjson_doc_free(doc);
    unit_fence_done(&fence);
    return verdict;
}

/* Calls `each` with every file whose name begins with `letter`; returns how many there are. */
static size_t for_files(char letter, void (*each)(const char *name)) {
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    size_t count = 0;
    for (struct dirent *entry; (entry = readdir(dir));)
        if (entry->d_name[0] == letter && entry->d_name[1] == '_') {
            each(entry->d_name);
            count++;
        }
    closedir(dir);
    return count;
}

static void expect_accepted(const char *name) {
    struct verdict verdict = judge(name);
    if (!verdict.scan || !verdict.tree)
        fail_msg("%s: accepted by the scan: %d, by the tree: %d", name, verdict.scan, verdict.tree);
}

static void expect_refused(const char *name) {
    struct verdict verdict = judge(name);
    if (verdict.scan || verdict.tree)
        fail_msg("%s: accepted by the scan: %d, by the tree: %d", name, verdict.scan, verdict.tree);
}

static void accepts_what_must_be_accepted(void **state) {
    (void)state;
    assert_in_range(for_files('y', expect_accepted), 90, 200);
}

static void refuses_what_must_be_refused(void **state) {
    (void)state;
    assert_in_range(for_files('n', expect_refused), 180, 400);
}

struct row {
    char name[100];
    char scan[10];
    char tree[10];
};

static struct row rows[100];
static size_t row_count;

/* The rows are "| `i_name` | yes | no |"; nothing else on the page begins like that. */
static void read_page(void) {
    char path[4096];
    char line[500];
    snprintf(path, sizeof path, "%s/docs/json.md", source());
    FILE *file = fopen(path, "r");
    if (!file)
        fail_msg("%s is missing", path);
    row_count = 0;
    while (fgets(line, sizeof line, file)) {
        struct row row;
        if (strncmp(line, "| `i_", 5) != 0)
            continue;
        if (sscanf(line, "| `%99[^`]` | %9[a-z] | %9[a-z] |", row.name, row.scan, row.tree) != 3)
            fail_msg("docs/json.md: not a row: %s", line);
        assert_true(row_count < LENGTH(rows));
        rows[row_count++] = row;
    }
    fclose(file);
}

static bool is_yes(const char *name, const char *word) {
    if (strcmp(word, "yes") != 0 && strcmp(word, "no") != 0)
        fail_msg("docs/json.md: %s: '%s' is neither yes nor no", name, word);
    return strcmp(word, "yes") == 0;
}

static void expect_as_documented(const char *name) {
    struct verdict verdict = judge(name);
    size_t stem = strlen(name) - strlen(".json");
    for (size_t i = 0; i < row_count; i++) {
        if (strlen(rows[i].name) != stem || strncmp(rows[i].name, name, stem) != 0)
            continue;
        if (is_yes(name, rows[i].scan) != verdict.scan ||
            is_yes(name, rows[i].tree) != verdict.tree)
            fail_msg("docs/json.md: %s: accepted by the scan: %d, by the tree: %d", name,
                     verdict.scan, verdict.tree);
        return;
    }
    fail_msg("docs/json.md has no row for %s (scan: %d, tree: %d)", name, verdict.scan,
             verdict.tree);
}

static void choices_are_those_of_the_page(void **state) {
    (void)state;
    read_page();
    size_t files = for_files('i', expect_as_documented);
    assert_int_equal(files, row_count); /* no row without a file, and none twice */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepts_what_must_be_accepted),
        cmocka_unit_test(refuses_what_must_be_refused),
        cmocka_unit_test(choices_are_those_of_the_page),
    };
    if (!find_suite()) {
        printf("JSONTestSuite is not there (../shared/suites or $DUPLEX_SUITES)\n");
        return SKIPPED;
    }
    depth = dx_peer_defaults(DX_FRAMING_LINE, DX_SIDE_HOST).depth_max;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
