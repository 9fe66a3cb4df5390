#include "cli/describe/paper.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

enum { WIDTH = 80, NARROWEST = 40, GAP = 2 };

size_t cli_paper_width(void) {
    struct winsize size;
    if (!cli_voice.terminal || ioctl(1, TIOCGWINSZ, &size) != 0 || !size.ws_col)
        return WIDTH;
    return size.ws_col < NARROWEST ? NARROWEST : size.ws_col;
}

static bool begins_character(char c) {
    return ((unsigned char)c & 0xc0) != 0x80;
}

size_t cli_text_width(const char *text) {
    size_t width = 0;
    for (; *text; text++)
        width += begins_character(*text);
    return width;
}

char *cli_safe(const char *text) {
    char *safe = NULL;
    size_t len;
    FILE *stream = open_memstream(&safe, &len);
    if (!stream)
        return NULL;
    while (*text) {
        size_t part = strcspn(text, "\r\n\t");
        cli_put_document(stream, (dx_text){text, part});
        text += part;
        if (*text) {
            fputc(' ', stream);
            text += strspn(text, "\r\n\t");
        }
    }
    if (fclose(stream) == 0)
        return safe;
    free(safe);
    return NULL;
}

/* Words up to the end of a paragraph. */
static void put_paragraph(FILE *out, const char *text, size_t len, size_t indent) {
    enum { LONGEST = 100 };
    size_t paper = cli_paper_width();
    size_t width = paper < LONGEST ? paper : LONGEST;
    size_t column = 0;
    for (size_t at = 0; at < len;) {
        size_t word = strcspn(text + at, " \r\n\t");
        word = word < len - at ? word : len - at;
        size_t columns = 0;
        for (size_t i = 0; i < word; i++)
            columns += begins_character(text[at + i]);
        if (column && column + 1 + columns > width) {
            fputc('\n', out);
            column = 0;
        }
        fprintf(out, "%*s", column ? 1 : (int)indent, "");
        column += (column ? 1 : indent) + columns;
        cli_put_document(out, (dx_text){text + at, word});
        at += word;
        at += strspn(text + at, " \r\n\t");
    }
    fputc('\n', out);
}

void cli_put_wrapped(FILE *out, const char *text, size_t indent) {
    text += strspn(text, " \r\n\t");
    while (*text) {
        const char *end = strstr(text, "\n\n");
        size_t len = end ? (size_t)(end - text) : strlen(text);
        put_paragraph(out, text, len, indent);
        text += len;
        text += strspn(text, " \r\n\t");
        if (*text)
            fputc('\n', out);
    }
}

struct cell {
    char *text;
    size_t width;
    cli_colour colour;
};

struct cli_table {
    struct cell *cells;
    size_t count;
    size_t room;
    size_t columns;
    unsigned right;
    bool failed;
};

cli_table *cli_table_new(size_t columns, unsigned right) {
    cli_table *table = calloc(1, sizeof *table);
    if (!table)
        return NULL;
    table->columns = columns;
    table->right = right;
    return table;
}

cli_table *cli_table_free(cli_table *table) {
    for (size_t i = 0; table && i < table->count; i++)
        free(table->cells[i].text);
    if (table)
        free(table->cells);
    free(table);
    return NULL;
}

void cli_table_add(cli_table *table, const char *text, cli_colour colour) {
    if (table->count == table->room) {
        size_t room = table->room ? table->room * 2 : 64;
        struct cell *more = realloc(table->cells, room * sizeof *more);
        if (!more) {
            table->failed = true;
            return;
        }
        table->cells = more;
        table->room = room;
    }
    char *safe = cli_safe(text ? text : "");
    if (!safe) {
        table->failed = true;
        return;
    }
    table->cells[table->count++] = (struct cell){safe, cli_text_width(safe), colour};
}

static size_t column_width(const cli_table *table, size_t column) {
    size_t widest = 0;
    for (size_t i = column; i < table->count; i += table->columns)
        if (table->cells[i].width > widest)
            widest = table->cells[i].width;
    return widest;
}

/* So much of a text as fits; a sign says that there is more. */
static void put_cut(FILE *out, const struct cell *cell, size_t room) {
    size_t columns = 0;
    size_t len = 0;
    size_t most = cell->width > room ? room - 1 : cell->width;
    for (; cell->text[len]; len++) {
        columns += begins_character(cell->text[len]);
        if (columns > most)
            break;
    }
    fputs(cli_paint(out, cell->colour), out);
    fwrite(cell->text, 1, len, out);
    if (most < cell->width)
        fputs("…", out);
    fputs(cell->colour ? cli_paint(out, CLI_PLAIN) : "", out);
}

static void put_row(const cli_table *table, const struct cell *row, const size_t *widths,
                    size_t indent, FILE *out) {
    size_t room = (cli_voice.terminal ? cli_paper_width() : SIZE_MAX) - indent;
    size_t last = table->columns;
    while (last && !row[last - 1].width)
        last--;
    fprintf(out, "%*s", last ? (int)indent : 0, "");
    for (size_t i = 0; i < last && room; i++) {
        size_t before = table->right >> i & 1 ? widths[i] - row[i].width : 0;
        size_t behind = i + 1 < last ? widths[i] - row[i].width - before + GAP : 0;
        if (before < room)
            fprintf(out, "%*s", (int)before, "");
        room -= before < room ? before : room;
        if (room)
            put_cut(out, &row[i], room);
        room -= row[i].width < room ? row[i].width : room;
        fprintf(out, "%*s", (int)(behind < room ? behind : room), "");
        room -= behind < room ? behind : room;
    }
    fputc('\n', out);
}

bool cli_table_print(const cli_table *table, FILE *out, size_t indent) {
    size_t *widths = table->failed ? NULL : calloc(table->columns, sizeof *widths);
    if (!widths)
        return false;
    for (size_t i = 0; i < table->columns; i++)
        widths[i] = column_width(table, i);
    for (size_t i = 0; i + table->columns <= table->count; i += table->columns)
        put_row(table, &table->cells[i], widths, indent, out);
    free(widths);
    return true;
}
