/*
 * The public test suite of TOML, as far as it is of 1.0: every valid file must be read as the
 * tagged JSON beside it says, and written so that it reads the same; every invalid one must be
 * refused, with a place in it.
 *
 *     toml_suite             plays all of them
 *     toml_suite --phrases   prints for each invalid file what is said about it
 *
 * The suite lies in $DUPLEX_SUITES, or in ../shared/suites beside the source. Without it there is
 * nothing to do, and that is said.
 */
#include "toml/equal.h"
#include "toml/tagged.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The list is known to have these many; a shorter one is none of the suite's. */
enum { SKIPPED = 77, PATH_LEN = 1000, VALID_MIN = 200, INVALID_MIN = 450, WRITTEN_MAX = 1 << 20 };

static char folder[PATH_LEN];
static bool phrases;

static char *read_file(const char *path, size_t *ret_len) {
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    char *bytes = malloc(WRITTEN_MAX);
    *ret_len = bytes ? fread(bytes, 1, WRITTEN_MAX, file) : 0;
    fclose(file);
    return bytes;
}

static yyjson_doc *read_tagged(const char *path) {
    char name[PATH_LEN + 300];
    snprintf(name, sizeof name, "%s", path);
    memcpy(name + strlen(name) - strlen(".toml"), ".json", sizeof ".json");
    return yyjson_read_file(name, 0, NULL, NULL);
}

/* With each set of flags, and from both kinds of documents. */
static bool write_again(yyjson_doc *doc, const char *name) {
    bool same = true;
    yyjson_mut_doc *copy = yyjson_doc_mut_copy(doc, NULL);
    for (unsigned flags = 0; flags < 4; flags++) {
        dx_buf buf[2];
        yyjson_doc *again = NULL;
        dx_toml_error why = {.phrase = ""};
        for (int i = 0; i < 2; i++)
            dx_buf_init(&buf[i], WRITTEN_MAX, NULL);
        bool right =
            dx_toml_write(yyjson_doc_get_root(doc), flags, &buf[0], &why) == DX_OK &&
            dx_toml_write_mut(yyjson_mut_doc_get_root(copy), flags, &buf[1], &why) == DX_OK &&
            buf[0].len == buf[1].len &&
            (!buf[0].len || memcmp(buf[0].data, buf[1].data, buf[0].len) == 0) &&
            dx_toml_read((dx_text){buf[0].data, buf[0].len}, NULL, &again, &why) == DX_OK &&
            values_equal(yyjson_doc_get_root(doc), yyjson_doc_get_root(again));
        if (!right)
            printf("%s: written with flags %u it is another: %s\n%.*s\n", name, flags, why.phrase,
                   (int)buf[0].len, buf[0].len ? buf[0].data : "");
        same &= right;
        yyjson_doc_free(again);
        for (int i = 0; i < 2; i++)
            dx_buf_done(&buf[i]);
    }
    yyjson_mut_doc_free(copy);
    return same;
}

static bool play_valid(const char *path, const char *name, dx_text text) {
    yyjson_doc *doc;
    dx_toml_error why;
    if (dx_toml_read(text, NULL, &doc, &why) != DX_OK) {
        printf("%s: refused: %s\n", name, why.phrase);
        return false;
    }
    yyjson_doc *tagged = read_tagged(path);
    bool right =
        tagged && tagged_equal(yyjson_doc_get_root(doc), yyjson_doc_get_root(tagged), name);
    right = write_again(doc, name) && right;
    yyjson_doc_free(tagged);
    yyjson_doc_free(doc);
    return right;
}

static bool play_invalid(const char *name, dx_text text) {
    yyjson_doc *doc;
    dx_toml_error why = {.phrase = ""};
    dx_status status = dx_toml_read(text, NULL, &doc, &why);
    if (status == DX_OK) {
        printf("%s: taken\n", name);
        yyjson_doc_free(doc);
        return false;
    }
    if (phrases)
        printf("%s: %s\n", name, why.phrase);
    return status == DX_ERR_INVALID && why.line && why.column && why.phrase[0];
}

static bool play(const char *name, bool valid) {
    char path[PATH_LEN + 300];
    size_t len = 0;
    snprintf(path, sizeof path, "%s/%.250s", folder, name);
    char *bytes = read_file(path, &len);
    if (!bytes) {
        printf("%s: cannot be read\n", name);
        return false;
    }
    /* A block that ends where the text ends, for the sanitizer to watch. */
    char *exact = malloc(len ? len : 1);
    if (!exact)
        abort();
    memcpy(exact, bytes, len);
    dx_text text = {exact, len};
    bool right = valid ? play_valid(path, name, text) : play_invalid(name, text);
    free(exact);
    free(bytes);
    return right;
}

int main(int argc, char **argv) {
    char line[PATH_LEN + 300];
    size_t passed[2] = {0, 0};
    size_t total[2] = {0, 0};
    const char *set = getenv("DUPLEX_SUITES");
    const char *source = getenv("SOURCE") ? getenv("SOURCE") : ".";
    phrases = argc > 1 && strcmp(argv[1], "--phrases") == 0;
    snprintf(folder, sizeof folder, "%.900s%s/toml-test/tests", set ? set : source,
             set ? "" : "/../shared/suites");
    snprintf(line, sizeof line, "%s/files-toml-1.0.0", folder);
    FILE *list = fopen(line, "r");
    if (!list) {
        printf("skipped: there is no %s\n", line);
        return SKIPPED;
    }
    while (fgets(line, sizeof line, list)) {
        line[strcspn(line, "\r\n")] = '\0';
        bool valid = strncmp(line, "valid/", 6) == 0;
        if (!strstr(line, ".toml"))
            continue;
        total[valid]++;
        passed[valid] += play(line, valid);
    }
    fclose(list);
    printf("%zu of %zu valid files, %zu of %zu invalid ones\n", passed[1], total[1], passed[0],
           total[0]);
    bool all = passed[0] == total[0] && passed[1] == total[1];
    return all && total[1] >= VALID_MIN && total[0] >= INVALID_MIN ? 0 : 1;
}
