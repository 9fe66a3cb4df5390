/* Edits of files: all or none, and never somewhere else. */
#include "finecode/place.h"

#include "systems/finecode/shared.h"

#include <duplex/finecode-wm.h>

#include <signal.h>
#include <sys/wait.h>

static char *place;

static int set_up(void **state) {
    (void)state;
    place = place_new();
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    place_free(place);
    return 0;
}

/* One edit: "x" instead of the first character. */
#define EDITS                                                                                    \
    "[{\"range\":{\"start\":{\"line\":0,\"character\":0},\"end\":{\"line\":0,\"character\":1}}," \
    "\"newText\":\"x\"}]"

static dx_status apply_to(const char *const *folders, size_t count, const char *const *names,
                          dx_error *error) {
    dx_buf json;
    dx_buf_init(&json, 100000, NULL);
    const char *comma = "";
    assert_int_equal(dx_buf_append(&json, "{\"edit\":{\"documentChanges\":[", 28), DX_OK);
    for (; *names; names++, comma = ",") {
        char entry[PATH_MAX + 300];
        int len = snprintf(entry, sizeof entry,
                           "%s{\"textDocument\":{\"uri\":\"file://%s/%s\",\"version\":null},"
                           "\"edits\":%s}",
                           comma, place, *names, EDITS);
        assert_int_equal(dx_buf_append(&json, entry, (size_t)len), DX_OK);
    }
    assert_int_equal(dx_buf_append(&json, "]}}", 3), DX_OK);
    yyjson_doc *doc = yyjson_read(json.data, json.len, 0);
    assert_non_null(doc);
    *error = (dx_error){.fault = DX_FAULT_NONE};
    dx_status status =
        dx__finecode_apply_below(yyjson_doc_get_root(doc), (char *const *)folders, count, error);
    assert_int_equal(status != DX_OK, *error->phrase != '\0');
    yyjson_doc_free(doc);
    dx_buf_done(&json);
    return status;
}

#define APPLY(error, ...) apply_to(NULL, 0, (const char *const[]){__VA_ARGS__, NULL}, error)

static void files_are_edited(void **state) {
    (void)state;
    dx_error error;
    place_write(place, "a", "abc\n", 4);
    place_write(place, "b c", "b\r\nc", 4);
    assert_int_equal(chmod(place_path(place, "a"), 0751), 0);
    assert_int_equal(APPLY(&error, "a", "b%20c"), DX_OK);
    place_has(place, "a", "xbc\n");
    place_has(place, "b c", "x\r\nc");
    struct stat facts;
    assert_int_equal(stat(place_path(place, "a"), &facts), 0);
    assert_int_equal(facts.st_mode & 07777, 0751);
    assert_int_equal(place_count(place, "."), 2);
    /* One that is named twice is edited twice. */
    place_write(place, "a", "ab", 2);
    assert_int_equal(APPLY(&error, "a", "./a", "../nope/../a"), DX_MISFIT);
    place_has(place, "a", "ab");
    assert_int_equal(APPLY(&error, "a", "./a"), DX_OK);
    place_has(place, "a", "xb");
}

/* %s is the folder. */
static dx_status apply_text(const char *text, dx_error *error) {
    dx_buf json;
    dx_buf_init(&json, 100000, NULL);
    for (const char *at = text; *at; at++) {
        bool folder = at[0] == '%' && at[1] == 's';
        assert_int_equal(dx_buf_append(&json, folder ? place : at, folder ? strlen(place) : 1),
                         DX_OK);
        at += folder;
    }
    yyjson_doc *doc = yyjson_read(json.data, json.len, 0);
    dx_buf_done(&json);
    assert_non_null(doc);
    *error = (dx_error){.fault = DX_FAULT_NONE};
    dx_status status = dx_finecode_apply(yyjson_doc_get_root(doc), error);
    yyjson_doc_free(doc);
    return status;
}

static void both_forms(void **state) {
    (void)state;
    dx_error error;
    place_write(place, "a", "abc", 3);
    assert_int_equal(apply_text("{\"edit\":{\"changes\":{\"file://%s/a\":" EDITS "}}}", &error),
                     DX_OK);
    place_has(place, "a", "xbc");
    place_write(place, "a", "abc", 3);
    assert_int_equal(apply_text("{\"changes\":{\"file://%s/a\":" EDITS "}}", &error), DX_OK);
    place_has(place, "a", "xbc");
    assert_int_equal(apply_text("{\"edit\":{}}", &error), DX_OK);
    assert_int_equal(apply_text("{\"edit\":{\"changes\":null,\"documentChanges\":null}}", &error),
                     DX_OK);
    assert_int_equal(apply_text("{\"edit\":{\"changes\":[]}}", &error), DX_MISFIT);
    assert_int_equal(apply_text("{\"edit\":{\"documentChanges\":{}}}", &error), DX_MISFIT);
    assert_int_equal(apply_text("{\"edit\":7}", &error), DX_MISFIT);
    assert_int_equal(apply_text("[]", &error), DX_MISFIT);
    assert_int_equal(apply_text("{\"edit\":{\"documentChanges\":[{\"kind\":\"delete\",\"uri\":"
                                "\"file://%s/a\"}]}}",
                                &error),
                     DX_MISFIT);
    assert_int_equal(apply_text("{\"edit\":{\"changes\":{\"http://%s/a\":[]}}}", &error),
                     DX_MISFIT);
    assert_int_equal(apply_text("{\"edit\":{\"changes\":{\"file://%s/a\":7}}}", &error), DX_MISFIT);
    place_has(place, "a", "xbc");
}

/* One that cannot be edited: the others stay as they were, and nothing is left lying around. */
static void all_or_none(void **state) {
    static const char *const bad[] = {"nope", "folder", "fifo", "loop", "closed", "a/b"};
    (void)state;
    dx_error error;
    assert_int_equal(mkdir(place_path(place, "folder"), 0777), 0);
    assert_int_equal(mkfifo(place_path(place, "fifo"), 0666), 0);
    assert_int_equal(symlink("loop", place_path(place, "loop")), 0);
    place_write(place, "closed", "c", 1);
    assert_int_equal(chmod(place_path(place, "closed"), 0444), 0);
    place_write(place, "a", "abc", 3);
    place_write(place, "b", "bcd", 3);
    for (size_t i = 0; i < LENGTH(bad); i++) {
        /* Nothing is closed to root. */
        if (geteuid() == 0 && strcmp(bad[i], "closed") == 0)
            continue;
        assert_int_equal(APPLY(&error, "a", bad[i], "b"), DX_MISFIT);
        place_has(place, "a", "abc");
        place_has(place, "b", "bcd");
        assert_int_equal(place_count(place, "."), 6);
    }
    assert_int_equal(apply_text("{\"edit\":{\"changes\":{\"file://%s/a\":" EDITS
                                ",\"file://%s/b\":[{\"newText\":\"x\"}]}}}",
                                &error),
                     DX_MISFIT);
    place_has(place, "a", "abc");
    assert_int_equal(place_count(place, "."), 6);
}

/* A link is followed to the file, which is changed where it is; the link stays one. */
static void links(void **state) {
    (void)state;
    dx_error error;
    struct stat facts;
    const char *below[2];
    assert_int_equal(mkdir(place_path(place, "in"), 0777), 0);
    assert_int_equal(mkdir(place_path(place, "out"), 0777), 0);
    place_write(place, "in/a", "abc", 3);
    place_write(place, "out/b", "bcd", 3);
    assert_int_equal(symlink("a", place_path(place, "in/link")), 0);
    assert_int_equal(symlink("../out/b", place_path(place, "in/away")), 0);
    assert_int_equal(symlink("../out", place_path(place, "in/folder")), 0);
    assert_int_equal(symlink("in", place_path(place, "alias")), 0);
    below[0] = strdup(place_path(place, "in"));
    below[1] = strdup(place_path(place, "alias"));
    for (size_t i = 0; i < 2; i++) {
        place_write(place, "in/a", "abc", 3);
        const char *link[] = {"in/link", NULL};
        assert_int_equal(apply_to(&below[i], 1, link, &error), DX_OK);
        place_has(place, "in/a", "xbc");
        assert_int_equal(lstat(place_path(place, "in/link"), &facts), 0);
        assert_true(S_ISLNK(facts.st_mode));
        /* The same file by two names. */
        const char *both[] = {"in/link", "in/a", "alias/a", NULL};
        assert_int_equal(apply_to(&below[i], 1, both, &error), DX_OK);
        static const char *const away[] = {"in/away", "in/folder/b", "out/b", "in/../out/b"};
        for (size_t j = 0; j < LENGTH(away); j++) {
            const char *names[] = {"in/a", away[j], NULL};
            place_write(place, "in/a", "abc", 3);
            assert_int_equal(apply_to(&below[i], 1, names, &error), DX_MISFIT);
            assert_non_null(strstr(error.phrase, "outside"));
            place_has(place, "in/a", "abc");
            place_has(place, "out/b", "bcd");
        }
    }
    const char *names[] = {"in/away", NULL};
    assert_int_equal(apply_to(NULL, 0, names, &error), DX_OK);
    place_has(place, "out/b", "xcd");
    const char *nowhere[] = {"/nonexistent"};
    assert_int_equal(apply_to(nowhere, 1, names, &error), DX_MISFIT);
    free((char *)below[0]);
    free((char *)below[1]);
}

/* Somebody exchanges the folder for a link to another one, all the time: the file there is never
 * changed, since it is outside. */
static void races(void **state) {
    (void)state;
    enum { TRIES = 2000, TRIES_MAX = 1000000 };
    assert_int_equal(mkdir(place_path(place, "in"), 0777), 0);
    assert_int_equal(mkdir(place_path(place, "in/sub"), 0777), 0);
    assert_int_equal(mkdir(place_path(place, "out"), 0777), 0);
    place_write(place, "out/a", "out", 3);
    place_write(place, "in/sub/a", "in", 2);
    assert_int_equal(symlink("../out", place_path(place, "in/trap")), 0);
    char *in = strdup(place_path(place, "in"));
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        int fd = open(in, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        for (;;)
            if (renameat2(fd, "sub", fd, "trap", RENAME_EXCHANGE) < 0)
                _exit(1);
    }
    size_t done = 0;
    size_t tries = 0;
    for (; tries < TRIES || ((!done || done == tries) && tries < TRIES_MAX); tries++) {
        dx_error error;
        const char *names[] = {"in/sub/a", NULL};
        done += apply_to((const char *const *)&in, 1, names, &error) == DX_OK;
    }
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    place_has(place, "out/a", "out");
    assert_int_equal(place_count(place, "out"), 1);
    assert_true(done > 0 && done < tries); /* else nothing was tried */
    free(in);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(files_are_edited, set_up, tear_down),
        cmocka_unit_test_setup_teardown(both_forms, set_up, tear_down),
        cmocka_unit_test_setup_teardown(all_or_none, set_up, tear_down),
        cmocka_unit_test_setup_teardown(links, set_up, tear_down),
        cmocka_unit_test_setup_teardown(races, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
