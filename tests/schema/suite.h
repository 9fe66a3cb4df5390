/* What the parts of the suite's runner share. */
#ifndef SCHEMA_SUITE_H
#define SCHEMA_SUITE_H

#include <stdbool.h>
#include <stddef.h>

enum { PATH_LEN = 4096, FILES_MAX = 200 };

/* A file of the suite, and what became of its cases. */
struct result {
    char name[120]; /* "optional/format/date.json" */
    size_t passed;
    size_t total;
    size_t misfits; /* schemas that do not fit the metaschema which they name */
};

struct results {
    struct result of[FILES_MAX];
    size_t count;
};

/* Names of the files that end in ".json" in a folder, sorted, each with `prefix` before it. With
 * `deep`, also those of the folders in it. Returns false if there is no such folder. */
bool list_files(const char *folder, const char *prefix, bool deep, struct results *results);

/* Reads the documents under remotes/, once. */
bool remotes_load(const char *suite);
void remotes_free(void);

/* Plays all the cases of one file; those that fail are printed if `tell`. */
void file_play(const char *suite, const char *draft, bool tell, struct result *result);

/* The table on the page: compared with one draft's results; or printed anew, its reasons kept. */
bool page_compare(const char *page, int draft, const struct results *results);
bool page_print(const char *page, const struct results results[2]);

#endif
