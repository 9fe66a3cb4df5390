/* Unified diffs: applied as they are meant, or refused. */
#include "autohand/files.h"

static dx_allocator plain(struct unit_memory *memory) {
    return unit_allocator(memory);
}

static dx_status try_patch(struct unit_memory *memory, dx_text text, dx_text patch, size_t max,
                           char **ret, size_t *ret_len, dx_error *reterr) {
    dx_allocator alloc = plain(memory);
    return dx__autohand_patch(&alloc, "d/x", text, patch, max, ret, ret_len, reterr);
}

static void must_give(const char *text, const char *patch, const char *expected) {
    struct unit_memory memory = {.fail_at = 0};
    dx_allocator alloc = plain(&memory);
    char *made = NULL;
    size_t len = 0;
    dx_error error = {.phrase = ""};
    dx_status status =
        try_patch(&memory, dx_str(text), dx_str(patch), 1 << 20, &made, &len, &error);
    assert_string_equal(error.phrase, "");
    assert_int_equal(status, DX_OK);
    assert_string_equal(made, expected);
    assert_int_equal(len, strlen(expected));
    dx__free(&alloc, made);
    assert_int_equal(memory.blocks, 0);
}

static void must_refuse(const char *text, const char *patch, const char *why) {
    struct unit_memory memory = {.fail_at = 0};
    char *made = NULL;
    size_t len;
    dx_error error = {.phrase = ""};
    assert_int_equal(try_patch(&memory, dx_str(text), dx_str(patch), 1 << 20, &made, &len, &error),
                     DX_ERR_INVALID);
    assert_string_equal(error.phrase, why);
    assert_null(made);
    assert_int_equal(memory.blocks, 0);
}

static void must_delete(const char *text, const char *patch) {
    struct unit_memory memory = {.fail_at = 0};
    char room[1];
    char *made = room;
    size_t len = 1;
    dx_error error = {.phrase = ""};
    assert_int_equal(try_patch(&memory, dx_str(text), dx_str(patch), 1 << 20, &made, &len, &error),
                     DX_OK);
    assert_null(made);
    assert_int_equal(memory.blocks, 0);
}

#define ABC "a\nb\nc\n"

static void test_plain(void **state) {
    (void)state;
    must_give(ABC, "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n", "a\nB\nc\n");
    must_give(ABC, "--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n", "a\nB\nc\n");
    must_give(ABC, "diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -2 +2 @@\n-b\n+B\n",
              "a\nB\nc\n");
    must_give(ABC, "@@ -1,3 +1,4 @@ name\n a\n b\n+new\n c\n", "a\nb\nnew\nc\n");
    must_give(ABC, "@@ -1,3 +1,2 @@\n a\n-b\n c", "a\nc\n");
    must_give(ABC, "@@ -1,3 +0,0 @@\n-a\n-b\n-c\n", "");
    must_give("", "@@ -0,0 +1,2 @@\n+x\n+y\n", "x\ny\n");
    must_give(ABC, "@@ -3,0 +4,1 @@\n+d\n", "a\nb\nc\nd\n");
    must_give(ABC, "@@ -0,0 +1 @@\n+top\n", "top\na\nb\nc\n");
    must_give(ABC, "@@ -1 +1 @@\n-a\n+A\n@@ -3 +3 @@\n-c\n+C\n", "A\nb\nC\n");
}

/* What others write who cannot count. */
static void test_loose(void **state) {
    (void)state;
    must_give(ABC, "@@ -77,9 +1,1 @@\n a\n-b\n+B\n c\n", "a\nB\nc\n");
    must_give(ABC, "@@\n a\n-b\n+B\n", "a\nB\nc\n");
    must_give(ABC, "@@ ... @@\n-b\n+B\n\n\n", "a\nB\nc\n");
    must_give("a\n\nc\n", "@@ -1,3 +1,3 @@\n a\n\n-c\n+C\n", "a\n\nC\n");
    must_give("a\n\nc\n", "@@ -1,2 +1,2 @@\n-a\n+A\n\n", "A\n\nc\n");
    must_give("x\nx\nx\n", "@@ -2 +2 @@\n-x\n+y\n", "x\ny\nx\n");
    must_give("x\nx\nx\n", "@@ -99 +2 @@\n-x\n+y\n", "x\nx\ny\n");
    must_give("1\n2\n3\n4\n5\n", "@@ -1 +1 @@\n-4\n+four\n", "1\n2\n3\nfour\n5\n");
    must_give(ABC, "Here it is:\n```diff\n@@ -2 +2 @@\n-b\n+B\n", "a\nB\nc\n");
}

static void test_last_line(void **state) {
    (void)state;
    must_give("a\nb", "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+B\n", "a\nB\n");
    must_give("a\nb\n", "@@ -2 +2 @@\n-b\n+B\n\\ No newline at end of file\n", "a\nB");
    must_give("a\nb", "@@ -2 +2,2 @@\n b\n+c\n", "a\nb\nc\n");
    must_give("a\nb", "@@ -1 +1 @@\n-a\n+A\n", "A\nb");
    /* Said of a line in the middle, it would glue two lines together. */
    must_give(ABC, "@@ -1 +1 @@\n-a\n+A\n\\ No newline at end of file\n", "A\nb\nc\n");
}

static void test_returns(void **state) {
    (void)state;
    must_give("a\r\nb\r\n", "@@ -1,2 +1,2 @@\n a\n-b\n+B\n", "a\r\nB\r\n");
    must_give("a\r\nb\r\n", "@@ -1,2 +1,2 @@\r\n a\r\n-b\r\n+B\r\n", "a\r\nB\r\n");
    must_give("a\nb\n", "@@ -2 +2 @@\n-b\n+B\n", "a\nB\n");
    /* The patch went through something that ends lines so; the file did not. */
    must_give("a\nb\n", "@@ -1,2 +1,2 @@\r\n a\r\n-b\r\n+B\r\n", "a\nB\n");
    /* It is about these ends. */
    must_give("a\r\nb\r\n", "@@ -1 +1 @@\n-a\r\n+a\n", "a\nb\r\n");
    must_give("a\nb\n", "@@ -1 +1 @@\n-a\n+a\r\n", "a\r\nb\n");
    must_give("", "@@ -0,0 +1 @@\n+a\r\n", "a\r\n");
    /* Both are in the file. */
    must_give("a\r\nb\nc\n", "@@ -2 +2 @@\n-b\n+B\n", "a\r\nB\nc\n");
    must_give("a\nb\r\nc\n", "@@ -2 +2 @@\n-b\n+B\n", "a\nB\r\nc\n");
}

static void test_refused(void **state) {
    static const char not_there[] = "hunk 1: its context and removed lines do not match the file";
    (void)state;
    must_refuse(ABC, "", "the patch has no hunk: no line begins with @@");
    must_refuse(ABC, "-b\n+B\n", "the patch has no hunk: no line begins with @@");
    must_refuse(ABC, "@@ -1 +1 @@\n", "hunk 1: no changes");
    must_refuse(ABC, "@@ -1 +1 @@\n a\n", "hunk 1: no changes");
    must_refuse(ABC, "@@ -1 +1 @@\n-x\n+y\n", not_there);
    must_refuse(ABC, "@@\n-x\n+y\n", not_there);
    must_refuse(ABC, "@@ -1,4 +1 @@\n-a\n-b\n-c\n-d\n", not_there);
    must_refuse("", "@@ -1 +1 @@\n-a\n+b\n", not_there);
    must_refuse(ABC, "@@ -1 +1 @@\n-a\n+A\n*b\n",
                "hunk 1: a line does not begin with a space, + or -");
    struct unit_memory memory = {.fail_at = 0};
    char *made = NULL;
    size_t len;
    dx_error error;
    assert_int_equal(
        try_patch(&memory, dx_str(ABC), TEXT("@@ -1 +1 @@\n-a\n\0\n"), 100, &made, &len, &error),
        DX_ERR_INVALID);
    must_refuse("x\ny\nx\n", "@@\n-x\n+z\n",
                "hunk 1: it matches more than one place; add context lines");
    must_refuse(ABC, "@@\n+z\n", "hunk 1: cannot tell where its lines belong");
    must_refuse(ABC, "@@ -3 +3 @@\n-c\n+C\n@@ -1 +1 @@\n-a\n+A\n",
                "hunk 2: its context and removed lines do not match the file");
    must_refuse(ABC, "--- a\n+++ b\n@@ -1 +1 @@\n-a\n+A\n--- c\n+++ d\n@@ -2 +2 @@\n-b\n+B\n",
                "hunk 1: another file follows; patch one file at a time");
}

/* What git and diff write of files as a whole. */
static void test_whole_files(void **state) {
    static const char new_file[] = "diff --git a/x b/x\nnew file mode 100644\nindex 0..1\n"
                                   "--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n";
    static const char gone[] = "diff --git a/x b/x\ndeleted file mode 100644\n--- a/x\n"
                               "+++ /dev/null\n@@ -1,3 +0,0 @@\n-a\n-b\n-c\n";
    static const char moved[] =
        "the patch moves the file; write a new file and delete this one instead";
    (void)state;
    must_give("", new_file, "a\n");
    must_give("", "diff --git a/e b/e\nnew file mode 100644\nindex 0000000..e69de29\n", "");
    must_refuse(ABC, new_file, "hunk 1: the patch creates a file that already exists");
    must_refuse(ABC, "--- /dev/null\t1970\n+++ x\n@@ -0,0 +1 @@\n+a\n",
                "hunk 1: the patch creates a file that already exists");
    must_delete(ABC, gone);
    must_delete("", "diff --git a/e b/e\ndeleted file mode 100644\nindex e69de29..0000000\n");
    must_refuse(ABC "d\n", gone,
                "hunk 1: the patch deletes the file, but does not remove all of its lines");
    must_refuse(ABC,
                "diff --git a/x b/y\nsimilarity index 90%\nrename from x\nrename to y\n"
                "--- a/x\n+++ b/y\n@@ -1 +1 @@\n-a\n+A\n",
                moved);
    must_refuse(ABC, "diff --git a/x b/y\ncopy from x\ncopy to y\n", moved);
    must_refuse(ABC, "diff --git a/x b/x\nBinary files a/x and b/x differ\n",
                "the patch is for a binary file");
    must_refuse(ABC, "diff --git a/x b/x\nindex 1..2\nGIT binary patch\nliteral 3\n",
                "the patch is for a binary file");
    /* Of the first there is nothing but its mode. */
    must_refuse(ABC,
                "diff --git a/y b/y\nold mode 100644\nnew mode 100755\n"
                "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+A\n",
                "another file follows; patch one file at a time");
    /* git format-patch says who it is. */
    must_give(ABC,
              "From 1 Mon Sep 17\nSubject: [PATCH] x\n\n---\n x | 2 +-\n\ndiff --git a/x b/x\n"
              "--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n-- \n2.39.1\n\n",
              "a\nB\nc\n");
    must_give("- \nb\n", "@@ -1,2 +1 @@\n-- \n b\n", "b\n");
}

/* The form that models are taught. */
static void test_stars(void **state) {
    static const char twice[] = "f\nx\ng\nx\nh\nx\n";
    (void)state;
    must_give(ABC, "*** Begin Patch\n*** Update File: d/x\n@@\n a\n-b\n+B\n c\n*** End Patch\n",
              "a\nB\nc\n");
    must_give(ABC, "*** Begin Patch\n*** Update File: x\n a\n-b\n+B\n*** End Patch", "a\nB\nc\n");
    must_give(ABC, "*** Begin Patch\n*** Update File: /w/d/x\n@@\n-a\n+A\n@@\n-c\n+C\n",
              "A\nb\nC\n");
    must_give("", "*** Begin Patch\n*** Add File: d/x\n+1\n+\n+2\n*** End Patch\n", "1\n\n2\n");
    must_give("", "*** Begin Patch\n*** Add File: d/x\n*** End Patch\n", "");
    must_delete(ABC, "*** Begin Patch\n*** Delete File: d/x\n*** End Patch\n");
    must_give(ABC, "*** Begin Patch\r\n*** Update File: x\r\n@@\r\n-b\r\n+B\r\n*** End Patch\r\n",
              "a\nB\nc\n");
    /* A heading names a line, or several, that it comes behind. */
    must_give(twice, "*** Update File: x\n@@   g\n-x\n+y\n", "f\nx\ng\ny\nh\nx\n");
    must_give(twice, "@@ f @@\n@@ h\n-x\n+y\n", "f\nx\ng\nx\nh\ny\n");
    must_give(twice, "*** Update File: x\n@@\n-x\n+y\n*** End of File\n", "f\nx\ng\nx\nh\ny\n");
    must_refuse(twice, "@@ q\n-x\n+y\n",
                "hunk 1: it matches more than one place; add context lines");
    must_refuse(ABC, "*** Add File: d/x\n+1\n",
                "hunk 1: the patch creates a file that already exists");
    must_refuse(ABC, "*** Delete File: d/y\n", "the patch names a different file than the path");
    must_refuse(ABC, "*** Update File: d/xx\n@@\n-a\n+A\n",
                "the patch names a different file than the path");
    must_refuse(ABC, "*** Update File: x\n*** Move to: y\n@@\n-a\n+A\n",
                "the patch moves the file; write a new file and delete this one instead");
    must_refuse(ABC, "*** Update File: x\n@@\n-a\n+A\n*** Delete File: x\n",
                "hunk 1: another file follows; patch one file at a time");
}

/* Lines that look like the beginning of another file, and are counted by the heading. */
static void test_dashes(void **state) {
    (void)state;
    must_give("-- old\nx\n", "@@ -1 +1 @@\n--- old\n+++ new\n@@ -2 +2 @@\n-x\n+y\n", "++ new\ny\n");
}

static void test_limit(void **state) {
    struct unit_memory memory = {.fail_at = 0};
    dx_allocator alloc = plain(&memory);
    dx_text patch = dx_str("@@ -1 +1,2 @@\n a\n+b\n");
    char *made = NULL;
    size_t len;
    dx_error error = {.phrase = ""};
    (void)state;
    assert_int_equal(try_patch(&memory, dx_str("a\n"), patch, 3, &made, &len, &error),
                     DX_ERR_LIMIT);
    assert_true(error.phrase[0]);
    assert_int_equal(try_patch(&memory, dx_str("a\n"), patch, 4, &made, &len, &error), DX_OK);
    assert_string_equal(made, "a\nb\n");
    dx__free(&alloc, made);
    assert_int_equal(memory.blocks, 0);
}

static double seconds(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Looking for places has an end: many lines, many hunks, none fits until the last line. */
static void test_effort(void **state) {
    enum { LINES = 1 << 20, HUNK = 2000 };
    struct unit_memory memory = {.fail_at = 0};
    char *text = malloc((size_t)LINES * 2 + 1);
    char *patch = malloc((size_t)HUNK * 3 + 64);
    char *made = NULL;
    size_t len;
    dx_error error = {.phrase = ""};
    (void)state;
    assert_true(text && patch);
    for (size_t i = 0; i < LINES; i++)
        memcpy(text + 2 * i, "a\n", 2);
    size_t used = (size_t)sprintf(patch, "@@ -1 +1 @@\n");
    for (size_t i = 0; i < HUNK; i++)
        used += (size_t)sprintf(patch + used, " a\n");
    used += (size_t)sprintf(patch + used, "-b\n");
    double before = seconds();
    assert_int_equal(try_patch(&memory, (dx_text){text, (size_t)LINES * 2}, (dx_text){patch, used},
                               64 << 20, &made, &len, &error),
                     DX_ERR_INVALID);
    assert_string_equal(error.phrase, "hunk 1: finding where it applies takes too long");
    assert_true(seconds() - before < 5);
    free(text);
    free(patch);
}

/* Also what is added is gone through at each place. */
static void test_effort_of_added(void **state) {
    enum { LINES = 20000, ADDED = 200000 };
    struct unit_memory memory = {.fail_at = 0};
    char *text = malloc((size_t)LINES * 2);
    char *patch = malloc((size_t)ADDED * 2 + 64);
    char *made = NULL;
    size_t len;
    dx_error error = {.phrase = ""};
    (void)state;
    assert_true(text && patch);
    for (size_t i = 0; i < LINES; i++)
        memcpy(text + 2 * i, "a\n", 2);
    for (int first = 0; first < 2; first++) {
        size_t used = (size_t)sprintf(patch, "@@ -1 +1 @@\n%s", first ? " a\n" : "");
        for (size_t i = 0; i < ADDED; i++, used += 2)
            memcpy(patch + used, "+\n", 2);
        used += (size_t)sprintf(patch + used, " b\n");
        double before = seconds();
        assert_int_equal(try_patch(&memory, (dx_text){text, (size_t)LINES * 2},
                                   (dx_text){patch, used}, 64 << 20, &made, &len, &error),
                         DX_ERR_INVALID);
        assert_true(seconds() - before < 5);
        assert_string_equal(error.phrase,
                            first ? "hunk 1: finding where it applies takes too long"
                                  : "hunk 1: its context and removed lines do not match the file");
    }
    free(text);
    free(patch);
}

static void test_memory(void **state) {
    (void)state;
    for (size_t at = 1;; at++) {
        struct unit_memory memory = {.fail_at = at};
        dx_allocator alloc = plain(&memory);
        char *made = NULL;
        size_t len;
        dx_error error;
        dx_status status = try_patch(&memory, dx_str(ABC), dx_str("@@ -2 +2 @@\n-b\n+B\n"), 1 << 20,
                                     &made, &len, &error);
        bool reached = memory.count >= at;
        assert_int_equal(status, reached ? DX_ERR_NOMEM : DX_OK);
        dx__free(&alloc, made);
        assert_int_equal(memory.blocks, 0);
        if (!reached)
            break;
    }
}

/* Random edits, written down as a patch with random context, must give the edited text. */

struct edit_line {
    char kind; /* ' ', '-', '+' */
    char word[8];
};

static size_t make_lines(uint64_t *seed, struct edit_line *lines, size_t most) {
    size_t count = unit_random(seed, most) + 1;
    for (size_t i = 0; i < count; i++) {
        size_t dice = unit_random(seed, 10);
        lines[i].kind = dice == 0 ? '-' : dice == 1 ? '+' : ' ';
        (void)snprintf(lines[i].word, sizeof lines[i].word, "%zu", unit_random(seed, 5000));
    }
    return count;
}

static void join(const struct edit_line *lines, size_t count, char without, char *to) {
    for (size_t i = 0; i < count; i++)
        if (lines[i].kind != without)
            to += sprintf(to, "%s\n", lines[i].word);
    *to = '\0';
}

/* A hunk from `from` to `to`; `number` is the first old line, from 1. */
static char *write_hunk(const struct edit_line *lines, size_t from, size_t to, size_t number,
                        char *patch) {
    size_t old = 0;
    size_t new = 0;
    for (size_t i = from; i < to; i++) {
        old += lines[i].kind != '+';
        new += lines[i].kind != '-';
    }
    patch += sprintf(patch, "@@ -%zu,%zu +1,%zu @@\n", old ? number : number - 1, old, new);
    for (size_t i = from; i < to; i++)
        patch += sprintf(patch, "%c%s\n", lines[i].kind, lines[i].word);
    return patch;
}

static bool write_patch(uint64_t *seed, const struct edit_line *lines, size_t count, char *patch) {
    size_t context = unit_random(seed, 4);
    size_t number = 1;
    bool any = false;
    for (size_t i = 0; i < count;) {
        size_t to = i;
        size_t quiet = 0;
        if (lines[i].kind == ' ') {
            /* Does something change within the context of here? */
            while (to < count && to - i <= context && lines[to].kind == ' ')
                to++;
            if (to >= count || to - i > context) {
                number++;
                i++;
                continue;
            }
        }
        for (to = i; to < count && quiet <= 2 * context; to++)
            quiet = lines[to].kind == ' ' && to > i + context ? quiet + 1 : 0;
        patch = write_hunk(lines, i, to, number, patch);
        any = true;
        for (; i < to; i++)
            number += lines[i].kind != '+';
    }
    return any;
}

static void test_random(void **state) {
    static struct edit_line lines[200];
    static char old[4000];
    static char new[4000];
    static char patch[20000];
    uint64_t seed = 20261116;
    size_t tried = 0;
    (void)state;
    for (int round = 0; round < 3000; round++) {
        size_t count = make_lines(&seed, lines, LENGTH(lines));
        join(lines, count, '+', old);
        join(lines, count, '-', new);
        patch[0] = '\0';
        if (!write_patch(&seed, lines, count, patch))
            continue;
        must_give(old, patch, new);
        tried++;
    }
    assert_true(tried > 1000);
}

/* Anything at all: it may fail, but reads nothing that is not there. */
static void test_garbage(void **state) {
    static const char letters[] = "@@ -1,+\\\nab \r-+@diff --git ";
    static const char *const lines[] = {"@@ a\n",
                                        "@@\n",
                                        "@@",
                                        "@@ -1 @@\r\n",
                                        "*** Update File: x\n",
                                        "*** Add File: x\r\n",
                                        "*** Add File: x",
                                        "*** Delete File: d/x\n",
                                        "*** End of File\n",
                                        "*** ",
                                        "*** Move to: ",
                                        "--- /dev/null\n",
                                        "+++ /dev/null\n",
                                        "-- \n",
                                        "-a\n",
                                        " a\n",
                                        "+b\r\n",
                                        "+b\n",
                                        " b\n",
                                        "diff --git a\n",
                                        "new file mode 1\n",
                                        "deleted file mode ",
                                        "\n",
                                        "\\ No\n",
                                        "\r"};
    uint64_t seed = 4711;
    struct unit_fence fence = unit_fence_new(400);
    struct unit_fence other = unit_fence_new(400);
    (void)state;
    for (int round = 0; round < 50000; round++) {
        struct unit_memory memory = {.fail_at = 0};
        dx_allocator alloc = plain(&memory);
        char room[300];
        char *made = NULL;
        size_t len = unit_random(&seed, 200);
        size_t made_len;
        dx_error error;
        for (size_t i = 0; i < len; i++)
            room[i] = letters[unit_random(&seed, sizeof letters - 1)];
        if (len > 20 && round % 2)
            memcpy(room, "@@ -1,2 +1 @@\n", 14);
        else if (len > 20)
            for (len = 0; len < 200 && unit_random(&seed, 12);)
                len = (size_t)(stpcpy(room + len, lines[unit_random(&seed, LENGTH(lines))]) - room);
        dx_text patch = unit_fence_put(&fence, room, len);
        dx_text text = unit_fence_put(&other, "a\n\nb\n a\n-", unit_random(&seed, 10));
        (void)try_patch(&memory, text, patch, 500, &made, &made_len, &error);
        dx__free(&alloc, made);
        assert_int_equal(memory.blocks, 0);
    }
    unit_fence_done(&fence);
    unit_fence_done(&other);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),     cmocka_unit_test(test_loose),
        cmocka_unit_test(test_last_line), cmocka_unit_test(test_returns),
        cmocka_unit_test(test_refused),   cmocka_unit_test(test_dashes),
        cmocka_unit_test(test_limit),     cmocka_unit_test(test_effort),
        cmocka_unit_test(test_memory),    cmocka_unit_test(test_random),
        cmocka_unit_test(test_garbage),   cmocka_unit_test(test_whole_files),
        cmocka_unit_test(test_stars),     cmocka_unit_test(test_effort_of_added),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
