#include "systems/autohand/command/diff.h"

#include "systems/autohand/command/show.h"

#include "cli/say.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* What is larger is not compared line by line but shown as replaced; what is longer is cut. */
enum { EDITS_MAX = 1000, LINES_MAX = 1 << 18, SHOWN_MAX = 2000, BYTES_MAX = 4 << 10, AROUND = 3 };

struct lines {
    dx_text *at;
    size_t count;
    bool *changed; /* taken away, or put in */
};

struct diff {
    struct lines before, after;
    size_t head; /* lines at the beginning that are the same, and at the end */
    size_t tail;
    char *steps; /* '=', '-', '+' */
    size_t count;
};

/* Lines. */

static bool split(dx_text text, struct lines *ret) {
    size_t count = 0;
    size_t from = 0;
    if (!text.at)
        text = dx_str("");
    for (size_t i = 0; i < text.len; i++)
        count += text.at[i] == '\n';
    count += text.len && text.at[text.len - 1] != '\n';
    if (count > LINES_MAX)
        return false;
    ret->at = calloc(count + 1, sizeof *ret->at);
    ret->changed = calloc(count + 1, sizeof *ret->changed);
    if (!ret->at || !ret->changed)
        return false;
    while (from < text.len) {
        const char *end = memchr(text.at + from, '\n', text.len - from);
        size_t len = end ? (size_t)(end + 1 - text.at) - from : text.len - from;
        ret->at[ret->count++] = (dx_text){text.at + from, len};
        from += len;
    }
    return true;
}

static bool same(const struct diff *diff, size_t one, size_t other) {
    dx_text a = diff->before.at[one];
    dx_text b = diff->after.at[other];
    return a.len == b.len && memcmp(a.at, b.at, a.len) == 0;
}

static void trim(struct diff *diff) {
    size_t least = diff->before.count < diff->after.count ? diff->before.count : diff->after.count;
    while (diff->head < least && same(diff, diff->head, diff->head))
        diff->head++;
    while (diff->tail < least - diff->head &&
           same(diff, diff->before.count - 1 - diff->tail, diff->after.count - 1 - diff->tail))
        diff->tail++;
}

/* Comparing: Myers' greedy algorithm. `reach` of d edits tells for each diagonal how far down the
 * old text one gets; all of them are kept for the way back. */

struct search {
    const struct diff *diff;
    long old_count, new_count;
    int *reach[EDITS_MAX + 1]; /* [d][(k + d) / 2]: one of each second diagonal */
    long edits;
};

static int at(const struct search *search, long d, long k) {
    return search->reach[d][(k + d) / 2];
}

/* Did the way to diagonal k begin on the one above, by putting a line in? */
static bool goes_down(const struct search *search, long d, long k) {
    return k == -d || (k != d && at(search, d - 1, k - 1) < at(search, d - 1, k + 1));
}

static bool step(struct search *search, long d) {
    const struct diff *diff = search->diff;
    search->reach[d] = calloc((size_t)d + 1, sizeof(int));
    if (!search->reach[d])
        return false;
    for (long k = -d; k <= d; k += 2) {
        long x = d == 0                    ? 0
                 : goes_down(search, d, k) ? at(search, d - 1, k + 1)
                                           : at(search, d - 1, k - 1) + 1;
        while (x < search->old_count && x - k < search->new_count &&
               same(diff, diff->head + (size_t)x, diff->head + (size_t)(x - k)))
            x++;
        search->reach[d][(k + d) / 2] = (int)x;
        if (x >= search->old_count && x - k >= search->new_count)
            search->edits = d;
    }
    return true;
}

static void go_back(const struct search *search, struct diff *diff) {
    long x = search->old_count;
    long y = search->new_count;
    for (long d = search->edits; d > 0; d--) {
        long k = x - y;
        bool down = goes_down(search, d, k);
        long from = at(search, d - 1, down ? k + 1 : k - 1);
        y = from - (down ? k + 1 : k - 1);
        x = from;
        if (down)
            diff->after.changed[diff->head + (size_t)y] = true;
        else
            diff->before.changed[diff->head + (size_t)x] = true;
    }
}

static void replace_all(struct diff *diff) {
    for (size_t i = diff->head; i < diff->before.count - diff->tail; i++)
        diff->before.changed[i] = true;
    for (size_t i = diff->head; i < diff->after.count - diff->tail; i++)
        diff->after.changed[i] = true;
}

static void compare(struct diff *diff) {
    struct search search = {
        .diff = diff,
        .old_count = (long)(diff->before.count - diff->head - diff->tail),
        .new_count = (long)(diff->after.count - diff->head - diff->tail),
        .edits = -1,
    };
    for (long d = 0; d <= EDITS_MAX && search.edits < 0; d++)
        if (!step(&search, d))
            break;
    if (search.edits >= 0)
        go_back(&search, diff);
    else
        replace_all(diff);
    for (long d = 0; d <= EDITS_MAX; d++)
        free(search.reach[d]);
}

static bool list_steps(struct diff *diff) {
    size_t i = 0;
    size_t j = 0;
    diff->steps = calloc(diff->before.count + diff->after.count + 1, 1);
    while (diff->steps && (i < diff->before.count || j < diff->after.count)) {
        bool out = i < diff->before.count && diff->before.changed[i];
        bool in = !out && j < diff->after.count && diff->after.changed[j];
        diff->steps[diff->count++] = (char)(out ? '-' : in ? '+' : '=');
        i += !in;
        j += !out;
    }
    return diff->steps;
}

/* Showing. */

static void put_line(FILE *out, char sign, dx_text line) {
    bool whole = line.len && line.at[line.len - 1] == '\n';
    cli_colour colour = sign == '-' ? CLI_RED : sign == '+' ? CLI_GREEN : CLI_PLAIN;
    line.len -= whole;
    dx_text shown = show_cut(line, BYTES_MAX);
    fprintf(out, "%s%c", sign == ' ' ? "" : cli_paint(out, colour), sign);
    cli_put_marked(out, shown);
    if (shown.len < line.len)
        fprintf(out, "… and %zu more bytes", line.len - shown.len);
    fprintf(out, "%s\n%s", sign == ' ' ? "" : cli_paint(out, CLI_PLAIN),
            whole ? "" : "\\ No newline at end of file\n");
}

struct place {
    size_t step, old_line, new_line;
};

static void move(const struct diff *diff, struct place *place, size_t to) {
    for (; place->step < to; place->step++) {
        place->old_line += diff->steps[place->step] != '+';
        place->new_line += diff->steps[place->step] != '-';
    }
}

/* False: it was cut, since enough was shown. */
static bool put_hunk(FILE *out, const struct diff *diff, struct place *from, size_t end,
                     size_t *left) {
    struct place to = *from;
    move(diff, &to, end);
    size_t old_count = to.old_line - from->old_line;
    size_t new_count = to.new_line - from->new_line;
    fprintf(out, "%s@@ -%zu,%zu +%zu,%zu @@%s\n", cli_paint(out, CLI_CYAN),
            from->old_line + (old_count > 0), old_count, from->new_line + (new_count > 0),
            new_count, cli_paint(out, CLI_PLAIN));
    for (; from->step < end && *left; --*left) {
        char kind = diff->steps[from->step];
        put_line(out, (char)(kind == '=' ? ' ' : kind),
                 kind == '+' ? diff->after.at[from->new_line] : diff->before.at[from->old_line]);
        move(diff, from, from->step + 1);
    }
    return from->step == end;
}

/* The hunk that begins with the change at `first` ends where no change comes for a while. */
static size_t end_of(const struct diff *diff, size_t first) {
    size_t last = first;
    for (size_t i = first; i < diff->count && i - last <= (size_t)2 * AROUND; i++)
        if (diff->steps[i] != '=')
            last = i;
    return last + 1 + AROUND < diff->count ? last + 1 + AROUND : diff->count;
}

static void put_hunks(FILE *out, const struct diff *diff, size_t *left_of_all) {
    struct place place = {0, 0, 0};
    size_t most = *left_of_all < SHOWN_MAX ? *left_of_all : SHOWN_MAX;
    size_t left = most;
    bool whole = true;
    for (size_t step = 0; step < diff->count && whole;) {
        if (diff->steps[step] == '=') {
            step++;
            continue;
        }
        size_t begin = step > AROUND ? step - AROUND : 0;
        size_t end = end_of(diff, step);
        move(diff, &place, begin > place.step ? begin : place.step);
        whole = left && put_hunk(out, diff, &place, end, &left);
        step = end;
    }
    *left_of_all -= most - left;
    if (!whole)
        fprintf(out, "%s… and more%s\n", cli_paint(out, CLI_DIM), cli_paint(out, CLI_PLAIN));
}

const char *diff_kind(const dx_autohand_change *change) {
    static const char *const kinds[] = {"create", "modify", "delete"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (dx_text_is(change->type, kinds[i]))
            return kinds[i];
    return "change";
}

static void put_head(FILE *out, const dx_autohand_change *change, size_t number) {
    fputs(cli_paint(out, CLI_BOLD), out);
    int used = fprintf(out, "%zu. %s ", number, diff_kind(change));
    cli_put_in_quotes(out, change->path, used > 0 ? (size_t)used : 0);
    fprintf(out, "%s\n", cli_paint(out, CLI_PLAIN));
}

void diff_put(FILE *out, const dx_autohand_change *change, size_t number, size_t *left) {
    struct diff diff = {.head = 0};
    put_head(out, change, number);
    if (!change->before.at && !change->after.at)
        fprintf(out, "  (the text is too long to keep)\n");
    else if (!*left)
        fprintf(out, "  (from %zu to %zu bytes, not shown after so many lines)\n",
                change->before.len, change->after.len);
    else if (!split(change->before, &diff.before) || !split(change->after, &diff.after))
        fprintf(out, "  (from %zu to %zu bytes, too many lines to compare)\n", change->before.len,
                change->after.len);
    else {
        trim(&diff);
        compare(&diff);
        if (list_steps(&diff))
            put_hunks(out, &diff, left);
    }
    free(diff.before.at);
    free(diff.before.changed);
    free(diff.after.at);
    free(diff.after.changed);
    free(diff.steps);
}
