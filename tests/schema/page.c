/* The table on the page, "| `optional/NAME.json` | 12/12 | 34/35 | why not all |": a column for
 * each draft, "-" where it has no such file. */
#include "schema/suite.h"

#include <stdio.h>
#include <string.h>

enum { DRAFTS = 2 };

struct row {
    char name[120];
    char counts[DRAFTS][20];
    char why[400];
};

struct page {
    struct row rows[FILES_MAX];
    size_t count;
};

static bool read_row(const char *line, struct row *row) {
    row->why[0] = '\0';
    return sscanf(line, "| `%119[^`]` | %19[^ |] | %19[^ |] | %399[^|\n]", row->name,
                  row->counts[0], row->counts[1], row->why) >= 3;
}

static bool read_page(const char *path, struct page *page) {
    char line[1000];
    FILE *file = fopen(path, "r");
    if (!file) {
        printf("%s is missing\n", path);
        return false;
    }
    bool right = true;
    page->count = 0;
    while (right && fgets(line, sizeof line, file)) {
        if (strncmp(line, "| `optional/", 12) != 0)
            continue;
        right = page->count < FILES_MAX && read_row(line, &page->rows[page->count++]);
        if (!right)
            printf("%s: not a row: %s", path, line);
    }
    fclose(file);
    return right;
}

static const struct row *row_of(const struct page *page, const char *name) {
    for (size_t i = 0; i < page->count; i++)
        if (strcmp(page->rows[i].name, name) == 0)
            return &page->rows[i];
    return NULL;
}

static const struct result *result_of(const struct results *results, const char *name) {
    for (size_t i = 0; i < results->count; i++)
        if (strcmp(results->of[i].name, name) == 0)
            return &results->of[i];
    return NULL;
}

static void show(const struct result *result, char text[20]) {
    if (result)
        snprintf(text, 20, "%zu/%zu", result->passed, result->total);
    else
        snprintf(text, 20, "-");
}

bool page_compare(const char *path, int draft, const struct results *results) {
    static struct page page;
    if (!read_page(path, &page))
        return false;
    bool same = true;
    for (size_t i = 0; i < results->count; i++) {
        const struct result *result = &results->of[i];
        const struct row *row = row_of(&page, result->name);
        char text[20];
        show(result, text);
        if (!row || strcmp(row->counts[draft], text) != 0) {
            printf("the page says %s for %s: it is %s\n", row ? row->counts[draft] : "nothing",
                   result->name, text);
            same = false;
        } else if (result->passed < result->total && !row->why[0]) {
            printf("the page does not say why %s has only %s\n", result->name, text);
            same = false;
        }
    }
    for (size_t i = 0; i < page.count; i++)
        if (strcmp(page.rows[i].counts[draft], "-") != 0 &&
            !result_of(results, page.rows[i].name)) {
            printf("the page tells of %s, which is not there\n", page.rows[i].name);
            same = false;
        }
    return same;
}

static void print_row(const char *name, const struct page *page, const struct results results[2]) {
    const struct row *row = row_of(page, name);
    char counts[DRAFTS][20];
    bool all = true;
    for (int draft = 0; draft < DRAFTS; draft++) {
        const struct result *result = result_of(&results[draft], name);
        show(result, counts[draft]);
        all &= !result || result->passed == result->total;
    }
    /* What was read up to the bar has the space before it. */
    printf("| `%s` | %s | %s | %s|\n", name, counts[0], counts[1], row && !all ? row->why : "");
}

bool page_print(const char *path, const struct results results[2]) {
    static struct page page;
    if (!read_page(path, &page))
        return false;
    puts("| file | draft 7 | draft 2020-12 | why not all |\n| --- | --- | --- | --- |");
    /* Both lists are sorted: a merge. */
    size_t at[DRAFTS] = {0, 0};
    while (at[0] < results[0].count || at[1] < results[1].count) {
        const char *one = at[0] < results[0].count ? results[0].of[at[0]].name : NULL;
        const char *other = at[1] < results[1].count ? results[1].of[at[1]].name : NULL;
        int order = !one ? 1 : !other ? -1 : strcmp(one, other);
        at[0] += order <= 0;
        at[1] += order >= 0;
        print_row(order <= 0 ? one : other, &page, results);
    }
    return true;
}
