/*
 * The public test suite of JSON Schema: every case of every required file must pass, and how many
 * of the optional ones do stands in docs/schema.md.
 *
 *     schema_suite draft7          plays that draft and compares the page
 *     schema_suite --table         prints the table for the page, with the reasons that it has
 *     schema_suite --tell draft7   plays the optional files and prints what fails
 *
 * The suite lies in $DUPLEX_SUITES, or in ../shared/suites beside the source. Without it there is
 * nothing to do, and that is said.
 */
#include "schema/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SKIPPED = 77, REQUIRED_MIN = 30 };

static const char *const drafts[] = {"draft7", "draft2020-12"};

static char suite[PATH_LEN];
static char page[PATH_LEN];

static bool find_suite(void) {
    const char *source = getenv("SOURCE") ? getenv("SOURCE") : ".";
    const char *set = getenv("DUPLEX_SUITES");
    if (set)
        snprintf(suite, sizeof suite, "%s/json-schema-test-suite", set);
    else
        snprintf(suite, sizeof suite, "%s/../shared/suites/json-schema-test-suite", source);
    snprintf(page, sizeof page, "%s/docs/schema.md", source);
    return access(suite, R_OK) == 0;
}

static void play_files(const char *draft, const char *prefix, bool tell, struct results *results) {
    char folder[PATH_LEN + 50];
    snprintf(folder, sizeof folder, "%s/tests/%s", suite, draft);
    results->count = 0;
    list_files(folder, prefix, prefix[0] != '\0', results);
    for (size_t i = 0; i < results->count; i++)
        file_play(suite, draft, tell, &results->of[i]);
}

static bool required(const char *draft) {
    static struct results results;
    size_t passed = 0;
    size_t total = 0;
    size_t misfits = 0;
    play_files(draft, "", true, &results);
    for (size_t i = 0; i < results.count; i++) {
        passed += results.of[i].passed;
        total += results.of[i].total;
        misfits += results.of[i].misfits;
    }
    printf("%s: %zu of %zu required cases in %zu files\n", draft, passed, total, results.count);
    return passed == total && !misfits && results.count >= REQUIRED_MIN;
}

static bool run(const char *draft) {
    static struct results optional;
    for (int i = 0; i < 2; i++)
        if (strcmp(draft, drafts[i]) == 0) {
            bool right = required(draft);
            play_files(draft, "optional/", false, &optional);
            return page_compare(page, i, &optional) && right;
        }
    printf("there is no draft '%s'\n", draft);
    return false;
}

static bool print_table(void) {
    static struct results optional[2];
    for (int i = 0; i < 2; i++)
        play_files(drafts[i], "optional/", false, &optional[i]);
    return page_print(page, optional);
}

int main(int argc, char **argv) {
    static struct results optional;
    if (argc < 2) {
        fputs("usage: schema_suite DRAFT | --table | --tell DRAFT\n", stderr);
        return 2;
    }
    if (!find_suite()) {
        printf("SKIP: %s is not there\n", suite);
        return SKIPPED;
    }
    bool right = remotes_load(suite);
    if (!right)
        puts("the remote documents cannot be read");
    else if (strcmp(argv[1], "--table") == 0)
        right = print_table();
    else if (strcmp(argv[1], "--tell") == 0 && argc > 2)
        play_files(argv[2], "optional/", true, &optional);
    else
        right = run(argv[1]);
    remotes_free();
    return right ? 0 : 1;
}
