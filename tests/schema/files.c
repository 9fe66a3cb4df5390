#include "schema/suite.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_name(const void *a, const void *b) {
    const struct result *one = a;
    const struct result *other = b;
    return strcmp(one->name, other->name);
}

static void add(const char *prefix, const char *name, struct results *results) {
    if (results->count == FILES_MAX) {
        fprintf(stderr, "more than %d files in a folder\n", FILES_MAX);
        exit(1);
    }
    struct result *result = &results->of[results->count++];
    *result = (struct result){0};
    snprintf(result->name, sizeof result->name, "%.50s%.69s", prefix, name);
}

static bool ends_in(const char *name, const char *end) {
    size_t len = strlen(name);
    size_t end_len = strlen(end);
    return len > end_len && strcmp(name + len - end_len, end) == 0;
}

bool list_files(const char *folder, const char *prefix, bool deep, struct results *results) {
    char path[PATH_LEN];
    snprintf(path, sizeof path, "%s/%s", folder, prefix);
    DIR *dir = opendir(path);
    if (!dir)
        return false;
    for (struct dirent *entry; (entry = readdir(dir));) {
        char inner[200];
        if (ends_in(entry->d_name, ".json")) {
            add(prefix, entry->d_name, results);
        } else if (deep && entry->d_name[0] != '.') {
            snprintf(inner, sizeof inner, "%.50s%.100s/", prefix, entry->d_name);
            list_files(folder, inner, true, results);
        }
    }
    closedir(dir);
    qsort(results->of, results->count, sizeof *results->of, by_name);
    return true;
}
