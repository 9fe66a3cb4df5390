/* Files of projects in a temporary folder, for the tests of what is read from them. */
#ifndef TESTS_FINECODE_CONFIG_FILES_H
#define TESTS_FINECODE_CONFIG_FILES_H

#include "systems/finecode/wm_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char top[PATH_MAX]; /* the folder of the test that runs */

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *where) {
    (void)about;
    (void)kind;
    (void)where;
    return remove(path);
}

static int set_up(void **state) {
    const char *place = getenv("TMPDIR");
    char room[PATH_MAX];
#ifdef MANY_FOLDERS
    /* Making thousands of them takes half a minute on some disks. */
    if (access("/dev/shm", W_OK) == 0)
        place = "/dev/shm";
#endif
    (void)state;
    snprintf(room, sizeof room, "%s/finecode-config-XXXXXX", place ? place : "/tmp");
    assert_non_null(mkdtemp(room));
    assert_non_null(realpath(room, top));
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    return nftw(top, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* A path in the folder; good until the next eight calls. */
__attribute__((unused)) static const char *in_top(const char *name) {
    static char rooms[8][PATH_MAX + 256];
    static unsigned next;
    char *room = rooms[next++ % 8];
    snprintf(room, sizeof rooms[0], "%s/%s", top, name);
    return room;
}

/* With the folders above it. */
__attribute__((unused)) static void put(const char *name, const char *text) {
    char path[PATH_MAX + 256];
    snprintf(path, sizeof path, "%s/%s", top, name);
    for (char *at = path + strlen(top) + 1; (at = strchr(at, '/')); at++) {
        *at = '\0';
        assert_true(mkdir(path, 0700) == 0 || errno == EEXIST);
        *at = '/';
    }
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

__attribute__((unused)) static dx_finecode_project *
project_with(const char *folder, const dx__finecode_overrides *overrides) {
    dx_finecode_project *project = NULL;
    assert_int_equal(dx__finecode_project_read(NULL, in_top(folder), overrides, &project), DX_OK);
    assert_non_null(project);
    return project;
}

__attribute__((unused)) static dx_finecode_project *project_of(const char *folder) {
    return project_with(folder, NULL);
}

/* The project of that folder is invalid, for this reason. */
__attribute__((unused)) static void must_be_invalid(const char *folder, const char *why) {
    dx_finecode_project *project = project_of(folder);
    assert_int_equal(dx_finecode_project_get_state(project), DX_FINECODE_INVALID);
    assert_string_equal(dx_finecode_project_why(project), why);
    assert_null(dx_finecode_project_raw(project));
    assert_int_equal(project->action_count, 0);
    dx__finecode_project_free(project);
}

__attribute__((unused)) static void must_be_valid(const dx_finecode_project *project) {
    assert_string_equal(dx_finecode_project_why(project), "");
    assert_int_equal(dx_finecode_project_get_state(project), DX_FINECODE_VALID);
}

__attribute__((unused)) static void must_be_json(yyjson_val *value, const char *expected) {
    char *text = value ? yyjson_val_write(value, 0, NULL) : strdup("nothing");
    assert_non_null(text);
    assert_string_equal(text, expected);
    free(text);
}

/* A part of the merged table, by its JSON pointer. */
__attribute__((unused)) static void must_have(const dx_finecode_project *project,
                                              const char *pointer, const char *expected) {
    yyjson_val *table = yyjson_ptr_get(dx_finecode_project_raw(project), "/tool/finecode");
    must_be_json(pointer[0] ? yyjson_ptr_get(table, pointer) : table, expected);
}

/* "action:handler@env,handler@env action:" */
__attribute__((unused)) static void must_have_actions(const dx_finecode_project *project,
                                                      const char *expected) {
    char text[4096] = "";
    dx_finecode_action_view action;
    for (size_t i = 0; dx_finecode_project_action(project, i, &action); i++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%s:", i ? " " : "", action.name);
        for (size_t j = 0; j < action.handler_count; j++) {
            used = strlen(text);
            snprintf(text + used, sizeof text - used, "%s%s@%s", j ? "," : "",
                     action.handlers[j].name, action.handlers[j].env);
        }
    }
    assert_string_equal(text, expected);
}

#endif
