#include "cli/field.h"

#include "cli/say.h"

#include "base/utf8.h"

#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* What a line on a terminal holds; a frame's width; what stands before the text in it; below which
 * width of a text the terminal is narrow, and how much of a text it shows then. */
enum {
    LINE_COLUMNS = 2000,
    FRAME_MIN = 16,
    FRAME_MAX = 100,
    LABEL_COLUMNS = 11,
    NARROW = 29,
    NARROW_COLUMNS = 145
};

/* Unicode's Default_Ignorable_Code_Point, for which nothing is drawn, and what ends a line or
 * changes the direction of what follows. */
static const struct {
    uint32_t first;
    uint32_t last;
} hidden[] = {{0xad, 0xad},      {0x34f, 0x34f},   {0x61c, 0x61c},     {0x115f, 0x1160},
              {0x17b4, 0x17b5},  {0x180b, 0x180f}, {0x200b, 0x200f},   {0x2028, 0x202e},
              {0x2060, 0x206f},  {0x3164, 0x3164}, {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},
              {0xffa0, 0xffa0},  {0xfff0, 0xfffb}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a},
              {0xe0000, 0xe0fff}};

static bool is_hidden(uint32_t code) {
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
        if (code <= hidden[i].last)
            return code >= hidden[i].first;
    return false;
}

/* One character of the text, or one byte that belongs to none. */
struct unit {
    size_t len;
    size_t columns;
    char escape[12]; /* what is shown instead; "": nothing */
};

static char letter_of(uint32_t code, bool quoted) {
    switch (code) {
    case '\n':
        return 'n';
    case '\r':
        return 'r';
    case '\t':
        return quoted ? 't' : '\0';
    case '"':
    case '\\':
        return quoted ? (char)code : '\0';
    default:
        return '\0';
    }
}

/* Without the tables of the terminal, every character beyond ASCII may be two columns wide. */
static struct unit unit_at(dx_text text, size_t at, bool quoted) {
    size_t len = dx__utf8(text.at + at, text.len - at);
    uint32_t code = len ? dx__utf8_code(text.at + at, len) : (unsigned char)text.at[at];
    char letter = letter_of(code, quoted);
    struct unit unit = {.len = len ? len : 1, .columns = code == '\t' ? 8 : code < 0x80 ? 1 : 2};
    if (letter)
        (void)snprintf(unit.escape, sizeof unit.escape, "\\%c", letter);
    else if (!len || (code < 0x20 && code != '\t') || (code >= 0x7f && code < 0xa0))
        (void)snprintf(unit.escape, sizeof unit.escape, "\\x%02x", (unsigned)code);
    else if (is_hidden(code))
        (void)snprintf(unit.escape, sizeof unit.escape, code > 0xffff ? "\\U%08x" : "\\u%04x",
                       (unsigned)code);
    if (unit.escape[0])
        unit.columns = strlen(unit.escape);
    return unit;
}

/* The longest part at the beginning that is at most so wide. */
static dx_text head_of(dx_text text, bool quoted, size_t columns) {
    size_t at = 0;
    while (at < text.len) {
        struct unit unit = unit_at(text, at, quoted);
        if (unit.columns > columns)
            break;
        columns -= unit.columns;
        at += unit.len;
    }
    return (dx_text){text.at, at};
}

/* The same at the end. No character has more than four bytes. */
static dx_text tail_of(dx_text text, bool quoted, size_t columns) {
    size_t at = text.len / 4 > columns ? text.len - 4 * columns : 0;
    size_t wide = 0;
    while (at && at < text.len && ((unsigned char)text.at[at] & 0xc0) == 0x80)
        at++;
    for (size_t i = at; i < text.len; i += unit_at(text, i, quoted).len)
        wide += unit_at(text, i, quoted).columns;
    while (wide > columns) {
        struct unit unit = unit_at(text, at, quoted);
        wide -= unit.columns;
        at += unit.len;
    }
    return (dx_text){text.at + at, text.len - at};
}

/* Lines of a row: a frame's line that is full goes on in the next one. */
struct row {
    FILE *stream;
    bool quoted;
    size_t left;  /* columns of the line at hand */
    size_t width; /* of each; 0: there is only one line */
};

static void put_piece(struct row *row, const char *piece, size_t len, size_t columns) {
    if (!len)
        return;
    if (row->width && columns > row->left) {
        fprintf(row->stream, "\n|%*s", LABEL_COLUMNS - 1, "");
        row->left = row->width;
    }
    row->left -= columns < row->left ? columns : row->left;
    fwrite(piece, 1, len, row->stream);
}

/* In pieces as long as they can be if there is one line: the standard error has no buffer. */
static void put_units(struct row *row, dx_text text) {
    size_t from = 0;
    for (size_t at = 0; at < text.len;) {
        struct unit unit = unit_at(text, at, row->quoted);
        if (unit.escape[0] || row->width) {
            put_piece(row, text.at + from, at - from, 0);
            if (unit.escape[0])
                put_piece(row, unit.escape, strlen(unit.escape), unit.columns);
            else
                put_piece(row, text.at + at, unit.len, unit.columns);
            from = at + unit.len;
        }
        at += unit.len;
    }
    put_piece(row, text.at + from, text.len - from, 0);
}

/* "… (12,345 bytes) …". */
static size_t write_gap(char room[64], size_t bytes) {
    char digits[32];
    int count = snprintf(digits, sizeof digits, "%zu", bytes);
    size_t len = (size_t)snprintf(room, 64, "… (");
    for (int i = 0; i < count; i++) {
        if (i && (count - i) % 3 == 0)
            room[len++] = ',';
        room[len++] = digits[i];
    }
    (void)snprintf(room + len, 64 - len, " bytes) …");
    return strlen(room);
}

static void put_cut(struct row *row, dx_text text, size_t columns) {
    char gap[64];
    size_t len;
    cli_count_shown(row->stream);
    if (columns == SIZE_MAX ||
        (text.len / 4 <= columns && head_of(text, row->quoted, columns).len == text.len)) {
        put_units(row, text);
        return;
    }
    len = write_gap(gap, text.len);
    size_t room = columns > len ? columns - len : 0;
    dx_text tail = tail_of(text, row->quoted, room / 2);
    put_units(row, head_of(text, row->quoted, room - room / 2));
    /* It is one piece, which may not stand in two lines. */
    put_piece(row, gap, len, len);
    put_units(row, tail);
}

void cli_put_field(FILE *stream, dx_text text, size_t columns) {
    put_cut(&(struct row){.stream = stream}, text, columns);
}

void cli_put_start(FILE *stream, dx_text text, size_t columns) {
    struct row row = {.stream = stream};
    dx_text head = head_of(text, false, columns);
    cli_count_shown(stream);
    if (head.len < text.len)
        head = head_of(text, false, columns ? columns - 1 : 0);
    put_units(&row, head);
    put_piece(&row, "…", head.len < text.len && columns ? strlen("…") : 0, 1);
}

void cli_put_safe(FILE *stream, dx_text text) {
    bool fits = text.len <= LINE_COLUMNS / 8 || !isatty(fileno(stream));
    cli_put_field(stream, text, fits ? SIZE_MAX : LINE_COLUMNS);
}

/* The last column stays free: some terminals begin a new line behind it. */
static size_t screen_width(void) {
    struct winsize size;
    return ioctl(2, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col - 1U : 79;
}

static size_t frame_width(void) {
    size_t width = screen_width();
    return width > FRAME_MAX ? FRAME_MAX : width < FRAME_MIN ? FRAME_MIN : width;
}

void cli_put_in_quotes(FILE *stream, dx_text text, size_t used) {
    size_t width = frame_width() > used + 3 ? frame_width() - used - 2 : 1;
    size_t columns = isatty(fileno(stream)) ? width : SIZE_MAX;
    putc('"', stream);
    put_cut(&(struct row){.stream = stream, .quoted = true}, text, columns);
    putc('"', stream);
}

/* The widest escape fits into the narrowest line. */
void cli_put_marked(FILE *stream, dx_text text) {
    static const char mark[] = "\\> ";
    size_t most = sizeof mark - 1 + sizeof((struct unit *)NULL)->escape;
    size_t width = !isatty(fileno(stream)) ? SIZE_MAX
                   : screen_width() > most ? screen_width()
                                           : most;
    cli_count_shown(stream);
    for (;;) {
        dx_text line = head_of(text, false, width - (sizeof mark - 1));
        put_units(&(struct row){.stream = stream}, line);
        text = (dx_text){text.at + line.len, text.len - line.len};
        if (!text.len)
            break;
        fprintf(stream, "\n%s", mark);
    }
}

void cli_put_frame(FILE *stream, const char *title) {
    fprintf(stream, "+- %s ", title);
    for (size_t column = strlen(title) + 4; column < frame_width(); column++)
        putc('-', stream);
    putc('\n', stream);
}

void cli_put_row(FILE *stream, const char *label, dx_text text, bool quoted, size_t lines) {
    size_t width = frame_width() - LABEL_COLUMNS;
    bool narrow = width < NARROW;
    /* A piece that does not fit leaves columns of its line free: an escape up to 9, the gap more.
     * On a narrow terminal even a row of one line takes several. */
    size_t columns = narrow ? NARROW_COLUMNS : lines > 1 ? lines * (width - 10) - 24 : width - 2;
    struct row row = {stream, quoted, width, lines > 1 || narrow ? width : 0};
    fprintf(stream, "| %-8s ", label);
    if (quoted)
        put_piece(&row, "\"", 1, 1);
    put_cut(&row, text, columns);
    if (quoted)
        put_piece(&row, "\"", 1, 1);
    putc('\n', stream);
}
