/* A table of Markdown. What fits the page stands in columns; what does not becomes a list of its
 * rows, since columns of a few letters each are read by nobody. */
#include "cli/manual/markdown.h"

#include <stdlib.h>
#include <string.h>

/* A page has 80 columns, of which man(1) leaves some free on both sides. COLUMN_WIDE: from here on
 * a column is one that is filled. COLUMN_NARROW: up to here some share a line of a list. */
enum { COLUMNS_MAX = 12, PAGE_WIDTH = 70, COLUMN_WIDE = 22, COLUMN_NARROW = 14, GAP = 3 };

struct table {
    size_t columns;
    dx_text head[COLUMNS_MAX];
    bool has_head;
    size_t width[COLUMNS_MAX]; /* of the widest cell, and of the longest word */
    size_t word[COLUMNS_MAX];
    bool filled[COLUMNS_MAX];
};

/* The cells of a line; what is too many is dropped from none: it stays in the last one. */
static size_t split(dx_text line, dx_text cells[COLUMNS_MAX]) {
    size_t count = 0;
    line = cli_trim(line);
    size_t at = line.len > 0 && line.at[0] == '|';
    size_t from = at;
    for (; at < line.len; at++) {
        if (line.at[at] == '\\' && at + 1 < line.len)
            at++;
        else if (line.at[at] == '|' && count + 1 < COLUMNS_MAX) {
            cells[count++] = cli_trim((dx_text){line.at + from, at - from});
            from = at + 1;
        }
    }
    if (from < line.len)
        cells[count++] = cli_trim((dx_text){line.at + from, line.len - from});
    return count;
}

/* "| --- | :-: |" */
static bool is_ruler(dx_text line) {
    for (size_t i = 0; i < line.len; i++)
        if (!memchr("|-: \t", line.at[i], 5))
            return false;
    return line.len && memchr(line.at, '-', line.len);
}

static void measure(struct table *table, size_t column, dx_text cell) {
    cli_roff counter = {.out = NULL};
    cli_markdown_inline(&counter, cell);
    if (counter.width > table->width[column])
        table->width[column] = counter.width;
    if (counter.longest > table->word[column])
        table->word[column] = counter.longest;
}

static void measure_all(struct table *table, dx_text lines) {
    dx_text line;
    while (cli_next_line(&lines, &line)) {
        dx_text cells[COLUMNS_MAX];
        if (is_ruler(line))
            continue;
        size_t count = split(line, cells);
        for (size_t i = 0; i < count; i++)
            measure(table, i, cells[i]);
        if (count > table->columns)
            table->columns = count;
    }
}

/* Columns that are too wide share what the others leave; false if that is too little. */
static bool fits(struct table *table) {
    size_t used = table->columns ? (table->columns - 1) * GAP : 0;
    size_t filled = 0;
    size_t least = COLUMN_WIDE;
    for (size_t i = 0; i < table->columns; i++)
        used += table->width[i];
    if (used <= PAGE_WIDTH)
        return true;
    for (size_t i = 0; i < table->columns; i++)
        if (table->width[i] > COLUMN_WIDE) {
            table->filled[i] = true;
            filled++;
            used -= table->width[i];
            least = table->word[i] > least ? table->word[i] : least;
        }
    return filled && used < PAGE_WIDTH && (PAGE_WIDTH - used) / filled >= least;
}

/* tbl takes some texts for orders of its own; an empty text before them makes them ours. */
static void put_cell(cli_roff *roff, dx_text cell, bool filled) {
    bool order = cell.len && memchr("._='T\\", cell.at[0], 6);
    if (filled)
        fputs("T{\n", roff->out);
    bool guard = order || (filled && !cell.len);
    if (guard)
        fputs("\\&", roff->out);
    roff->whole = !filled;
    roff->column = guard;
    cli_markdown_inline(roff, cell);
    roff->whole = false;
    roff->space = false;
    if (filled)
        fputs("\nT}", roff->out);
    roff->column = 1;
}

static void put_row(cli_roff *roff, const struct table *table, const dx_text *cells, size_t count,
                    bool is_head) {
    for (size_t i = 0; i < table->columns; i++) {
        if (i)
            putc('\t', roff->out);
        put_cell(roff, i < count ? cells[i] : dx_str(""), table->filled[i] && !is_head);
    }
    cli_roff_end(roff);
}

static void put_format(cli_roff *roff, const struct table *table) {
    /* groff would leave gaps where a page of paper ended. */
    fputs("nokeep;\n", roff->out);
    for (size_t i = 0; table->has_head && i < table->columns; i++)
        fprintf(roff->out, "%slB", i ? " " : "");
    if (table->has_head)
        putc('\n', roff->out);
    for (size_t i = 0; i < table->columns; i++)
        fprintf(roff->out, "%s%s", i ? " " : "", table->filled[i] ? "lx" : "l");
    fputs(".\n", roff->out);
}

static void put_columns(cli_roff *roff, const struct table *table, dx_text lines) {
    dx_text line;
    cli_roff_macro(roff, ".PP");
    cli_roff_macro(roff, ".TS");
    put_format(roff, table);
    for (bool first = true; cli_next_line(&lines, &line); first = false) {
        dx_text cells[COLUMNS_MAX];
        if (is_ruler(line) || (first && !table->has_head))
            continue;
        size_t count = split(line, cells);
        put_row(roff, table, cells, count, first);
    }
    cli_roff_macro(roff, ".TE");
}

static void put_entry(cli_roff *roff, const struct table *table, const dx_text *cells,
                      size_t count) {
    bool some = false;
    bool was_narrow = false;
    cli_roff_macro(roff, ".TP");
    if (count && cells[0].len)
        cli_markdown_inline(roff, cells[0]);
    else
        cli_roff_macro(roff, "\\&");
    cli_roff_end(roff);
    for (size_t i = 1; i < count; i++) {
        if (!cells[i].len)
            continue;
        bool narrow = table->width[i] <= COLUMN_NARROW;
        if (some && narrow && was_narrow)
            cli_roff_str(roff, "; ");
        else if (some)
            cli_roff_macro(roff, ".br");
        was_narrow = narrow;
        if (table->head[i].len && table->columns > 2) {
            cli_roff_font(roff, 'I');
            cli_markdown_inline(roff, table->head[i]);
            cli_roff_font(roff, 'R');
            cli_roff_str(roff, ": ");
        }
        cli_markdown_inline(roff, cells[i]);
        some = true;
    }
    cli_roff_end(roff);
    if (!some)
        cli_roff_macro(roff, "\\&");
}

static void put_list(cli_roff *roff, const struct table *table, dx_text lines) {
    dx_text line;
    for (bool first = true; cli_next_line(&lines, &line); first = false) {
        dx_text cells[COLUMNS_MAX];
        if (!first && !is_ruler(line)) {
            size_t count = split(line, cells);
            put_entry(roff, table, cells, count);
        }
    }
}

void cli_markdown_table(cli_roff *roff, dx_text lines) {
    struct table table = {.columns = 0};
    dx_text rest = lines;
    dx_text line;
    if (cli_next_line(&rest, &line))
        split(line, table.head);
    for (size_t i = 0; i < COLUMNS_MAX; i++)
        table.has_head |= table.head[i].len > 0;
    measure_all(&table, lines);
    if (!table.columns)
        return;
    if (fits(&table))
        put_columns(roff, &table, lines);
    else
        put_list(roff, &table, lines);
}
