/* A folder of its own for a test, and files in it. */
#ifndef FINECODE_PLACE_H
#define FINECODE_PLACE_H

#include "unit/unit.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

static inline int place_remove_one(const char *path, const struct stat *facts, int flag,
                                   struct FTW *ftw) {
    (void)facts;
    (void)flag;
    (void)ftw;
    return remove(path);
}

/* Absolute, without links. */
static inline char *place_new(void) {
    char name[] = "/tmp/finecode-test-XXXXXX";
    assert_non_null(mkdtemp(name));
    char *path = realpath(name, NULL);
    assert_non_null(path);
    return path;
}

static inline void place_free(char *place) {
    assert_int_equal(nftw(place, place_remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
    free(place);
}

static inline const char *place_path(const char *place, const char *name) {
    static char rooms[4][PATH_MAX];
    static unsigned next;
    char *room = rooms[next++ % 4];
    (void)snprintf(room, PATH_MAX, "%s/%s", place, name);
    return room;
}

static inline void place_write(const char *place, const char *name, const char *text, size_t len) {
    FILE *file = fopen(place_path(place, name), "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
}

/* To be freed. */
static inline char *place_read(const char *place, const char *name, size_t *ret_len) {
    int fd = open(place_path(place, name), O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    struct stat facts;
    assert_int_equal(fstat(fd, &facts), 0);
    char *text = malloc((size_t)facts.st_size + 1);
    assert_non_null(text);
    assert_int_equal(read(fd, text, (size_t)facts.st_size), facts.st_size);
    text[facts.st_size] = '\0';
    (void)close(fd);
    if (ret_len)
        *ret_len = (size_t)facts.st_size;
    return text;
}

static inline void place_has(const char *place, const char *name, const char *text) {
    char *found = place_read(place, name, NULL);
    assert_string_equal(found, text);
    free(found);
}

/* How many names are in a folder. */
static inline size_t place_count(const char *place, const char *name) {
    size_t count = 0;
    DIR *list = opendir(place_path(place, name));
    assert_non_null(list);
    for (struct dirent *entry; (entry = readdir(list));)
        count += entry->d_name[0] != '.' || strlen(entry->d_name) > 2;
    (void)closedir(list);
    return count;
}

#endif
