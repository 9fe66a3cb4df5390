/* The shortest script of lines that go and come (Myers, "An O(ND) Difference Algorithm"); texts
 * that differ in more than DISTANCE_MAX lines are one hunk from their first different line to the
 * last. */
#include "systems/finecode/command/diff.h"

#include "base/utf8.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DISTANCE_MAX = 2000, CONTEXT = 3 };

struct lines {
    dx_text *at;
    bool *changed;
    size_t count;
};

static bool split(struct lines *lines, dx_text text) {
    size_t count = 1;
    for (size_t i = 0; i < text.len; i++)
        count += text.at[i] == '\n';
    *lines = (struct lines){calloc(count, sizeof *lines->at), calloc(count, 1), 0};
    while (lines->at && lines->changed && text.len) {
        const char *end = memchr(text.at, '\n', text.len);
        size_t len = end ? (size_t)(end - text.at) + 1 : text.len;
        lines->at[lines->count++] = (dx_text){text.at, len};
        text = (dx_text){text.at + len, text.len - len};
    }
    return lines->at && lines->changed;
}

static bool same(const struct lines *before, size_t i, const struct lines *after, size_t k) {
    dx_text one = before->at[i];
    dx_text other = after->at[k];
    return one.len == other.len && memcmp(one.at, other.at, one.len) == 0;
}

/* What differs, without the lines that both begin and end with. */
struct middle {
    const struct lines *before;
    const struct lines *after;
    size_t from;
    size_t before_len;
    size_t after_len;
};

static bool same_in(const struct middle *middle, ptrdiff_t x, ptrdiff_t y) {
    return same(middle->before, middle->from + (size_t)x, middle->after, middle->from + (size_t)y);
}

static struct middle find_middle(const struct lines *before, const struct lines *after) {
    struct middle middle = {before, after, 0, before->count, after->count};
    size_t least = before->count < after->count ? before->count : after->count;
    while (middle.from < least && same(before, middle.from, after, middle.from))
        middle.from++;
    middle.before_len -= middle.from;
    middle.after_len -= middle.from;
    while (middle.before_len && middle.after_len &&
           same(before, middle.from + middle.before_len - 1, after,
                middle.from + middle.after_len - 1)) {
        middle.before_len--;
        middle.after_len--;
    }
    return middle;
}

/* The furthest x on each diagonal after d changes; row d begins at d * d and has 2 * d + 1. */
static int *row_of(int *rows, int d) {
    return rows + (size_t)d * (size_t)d + d;
}

/* Where diagonal k begins with change d: below a line that comes, or beside one that goes. -1: it
 * can't be reached within both texts. */
static int start_of(const struct middle *middle, int *rows, int d, int k, bool *ret_down) {
    const int *row = row_of(rows, d - 1);
    int right = k - 1 >= -(d - 1) && row[k - 1] >= 0 ? row[k - 1] + 1 : -1;
    int down = k + 1 <= d - 1 ? row[k + 1] : -1;
    if (right > (int)middle->before_len)
        right = -1;
    if (down - k > (int)middle->after_len)
        down = -1;
    *ret_down = down >= right;
    return *ret_down ? down : right;
}

/* The number of changes, or -1: too many. */
static int search(const struct middle *middle, int *rows, int most) {
    int before = (int)middle->before_len;
    int after = (int)middle->after_len;
    bool down;
    for (int d = 0; d <= most; d++)
        for (int k = -d; k <= d; k += 2) {
            int x = d ? start_of(middle, rows, d, k, &down) : 0;
            while (x >= 0 && x < before && x - k < after && same_in(middle, x, x - k))
                x++;
            row_of(rows, d)[k] = x;
            if (x >= before && x - k >= after)
                return d;
        }
    return -1;
}

static void walk_back(const struct middle *middle, int *rows, int d) {
    int k = (int)middle->before_len - (int)middle->after_len;
    for (; d > 0; d--) {
        bool down;
        int x = start_of(middle, rows, d, k, &down);
        if (down)
            middle->after->changed[middle->from + (size_t)(x - k - 1)] = true;
        else
            middle->before->changed[middle->from + (size_t)(x - 1)] = true;
        k += down ? 1 : -1;
    }
}

static bool mark(const struct middle *middle) {
    size_t all = middle->before_len + middle->after_len;
    int most = all < DISTANCE_MAX ? (int)all : DISTANCE_MAX;
    size_t size = (size_t)(most + 1) * (size_t)(most + 1);
    int *rows = calloc(size, sizeof *rows);
    int d = rows && all < INT32_MAX ? search(middle, rows, most) : -1;
    if (d >= 0) {
        walk_back(middle, rows, d);
    } else {
        memset(middle->before->changed + middle->from, 1, middle->before_len);
        memset(middle->after->changed + middle->from, 1, middle->after_len);
    }
    bool done = rows != NULL;
    free(rows);
    return done;
}

struct writing {
    dx_buf *out;
    dx_status status;
};

static void put(struct writing *writing, dx_text text) {
    if (writing->status == DX_OK)
        writing->status = dx_buf_append(writing->out, text.at, text.len);
}

/* As git quotes it: what could be taken for something else is escaped, and a tab ends a name with
 * spaces. */
static void put_name(struct writing *writing, const char *sign, const char *side,
                     const char *name) {
    bool quoted = strpbrk(name, "\"\\") || !dx__is_utf8(dx_str(name));
    for (const char *at = name; *at; at++)
        quoted |= (unsigned char)*at < 0x20 || *at == 0x7f;
    put(writing, dx_str(sign));
    put(writing, dx_str(quoted ? "\"" : ""));
    put(writing, dx_str(side));
    for (const char *at = name; *at; at++) {
        unsigned char c = (unsigned char)*at;
        char escaped[8];
        if (quoted && (c == '"' || c == '\\'))
            snprintf(escaped, sizeof escaped, "\\%c", c);
        else if (quoted && (c < 0x20 || c >= 0x7f))
            snprintf(escaped, sizeof escaped, "\\%03o", c);
        else
            snprintf(escaped, sizeof escaped, "%c", c);
        put(writing, dx_str(escaped));
    }
    put(writing, dx_str(quoted ? "\"\n" : strchr(name, ' ') ? "\t\n" : "\n"));
}

static void put_line(struct writing *writing, const char *sign, dx_text line) {
    put(writing, dx_str(sign));
    put(writing, line);
    if (line.at[line.len - 1] != '\n')
        put(writing, dx_str("\n\\ No newline at end of file\n"));
}

/* From these lines on, up to CONTEXT lines after the last change before a longer stretch without.
 */
static void put_hunk(struct writing *writing, const struct lines *before, const struct lines *after,
                     size_t *at, size_t *to) {
    size_t i = *at;
    size_t k = *to;
    size_t quiet = 0;
    char head[120];
    while ((i < before->count || k < after->count) && quiet <= CONTEXT + CONTEXT) {
        if (i < before->count && before->changed[i]) {
            i++;
            quiet = 0;
        } else if (k < after->count && after->changed[k]) {
            k++;
            quiet = 0;
        } else {
            i++;
            k++;
            quiet++;
        }
    }
    size_t back = quiet > CONTEXT ? quiet - CONTEXT : 0;
    i -= back;
    k -= back;
    snprintf(head, sizeof head, "@@ -%zu,%zu +%zu,%zu @@\n", *at + (i > *at), i - *at,
             *to + (k > *to), k - *to);
    put(writing, dx_str(head));
    while (*at < i || *to < k) {
        if (*at < i && before->changed[*at]) {
            put_line(writing, "-", before->at[(*at)++]);
        } else if (*to < k && after->changed[*to]) {
            put_line(writing, "+", after->at[(*to)++]);
        } else {
            put_line(writing, " ", before->at[(*at)++]);
            ++*to;
        }
    }
}

static void put_hunks(struct writing *writing, const struct lines *before,
                      const struct lines *after) {
    size_t i = 0;
    size_t k = 0;
    while (i < before->count || k < after->count) {
        bool changed =
            (i < before->count && before->changed[i]) || (k < after->count && after->changed[k]);
        if (!changed) {
            i++;
            k++;
            continue;
        }
        /* Lines before it were not shown as the end of another hunk: that goes as far. */
        size_t back = i < CONTEXT ? i : CONTEXT;
        back = k < back ? k : back;
        i -= back;
        k -= back;
        put_hunk(writing, before, after, &i, &k);
    }
}

dx_status diff_write(dx_buf *out, const char *name, dx_text before, dx_text after) {
    struct writing writing = {out, DX_OK};
    struct lines one;
    struct lines other = {0};
    if (before.len == after.len && memcmp(before.at, after.at, before.len) == 0)
        return DX_OK;
    bool good = split(&one, before) && split(&other, after);
    if (good) {
        struct middle middle = find_middle(&one, &other);
        good = mark(&middle);
    }
    if (good) {
        put_name(&writing, "--- ", "a/", name);
        put_name(&writing, "+++ ", "b/", name);
        put_hunks(&writing, &one, &other);
    }
    free(one.at);
    free(one.changed);
    free(other.at);
    free(other.changed);
    return good ? writing.status : DX_ERR_NOMEM;
}
