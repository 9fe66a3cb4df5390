#include "cli/manual/roff.h"

#include "base/utf8.h"

#include <stdint.h>
#include <string.h>

/* Where the lines of a page's source are broken. */
enum { LINE_MAX_COLUMN = 76 };

/* One character of UTF-8; what is none is U+FFFD, one byte long. */
static size_t decode(const char *at, size_t len, uint32_t *ret) {
    size_t size = dx__utf8(at, len);
    *ret = size ? dx__utf8_code(at, size) : 0xfffd;
    return size ? size : 1;
}

static void emit(cli_roff *roff, const char *bytes) {
    size_t len = strlen(bytes);
    if (roff->out)
        fwrite(bytes, 1, len, roff->out);
    roff->column += len;
    roff->fresh = false;
}

static void new_line(cli_roff *roff) {
    /* A sentence that ends with a line would get two spaces behind it. */
    if (strchr(".?!)]'\"", roff->last))
        emit(roff, "\\&");
    if (roff->out)
        putc('\n', roff->out);
    roff->column = 0;
    roff->last = ' ';
}

/* A hyphen of ASCII can be searched for and copied, whatever a device makes of "-". */
static const char *escape_of(uint32_t c) {
    switch (c) {
    case '\\':
        return "\\(rs";
    case '-':
        return "\\-";
    case '\'':
        return "\\(aq";
    case '"':
        return "\\(dq";
    case '`':
        return "\\(ga";
    case '^':
        return "\\(ha";
    case '~':
        return "\\(ti";
    default:
        return NULL;
    }
}

static void put_char(cli_roff *roff, uint32_t c) {
    if (roff->upper && c >= 'a' && c <= 'z')
        c -= 'a' - 'A';
    char room[16] = {(char)c};
    const char *escape = escape_of(c);
    bool control = c < 0x20 || (c >= 0x7f && c < 0xa0);
    if (escape)
        emit(roff, escape);
    else if (c == '.' && roff->column == 0)
        emit(roff, "\\&.");
    else if (c < 0x7f && !control)
        emit(roff, room);
    else {
        snprintf(room, sizeof room, "\\[u%04X]", control ? 0xfffd : (unsigned)c);
        emit(roff, room);
    }
    if (roff->soft && c < 0x80 && strchr(",;|/)]}=&?:", (char)c))
        emit(roff, "\\:");
    roff->last = c < 0x80 ? (char)c : 'x';
    roff->width++;
    roff->word++;
    if (roff->word > roff->longest)
        roff->longest = roff->word;
}

/* The space that was put off, now that something follows. */
static void put_space(cli_roff *roff) {
    if (!roff->space)
        return;
    roff->space = false;
    if (roff->column >= LINE_MAX_COLUMN && !roff->whole) {
        new_line(roff);
    } else {
        emit(roff, " ");
        roff->last = ' ';
    }
    roff->width++;
    roff->word = 0;
}

void cli_roff_put(cli_roff *roff, dx_text text) {
    for (size_t i = 0; i < text.len;) {
        uint32_t c;
        i += decode(text.at + i, text.len - i, &c);
        if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
            /* A line that begins with a space would begin a paragraph. */
            roff->space = roff->column > 0;
        } else {
            put_space(roff);
            put_char(roff, c);
        }
    }
}

void cli_roff_str(cli_roff *roff, const char *text) {
    cli_roff_put(roff, dx_str(text));
}

void cli_roff_font(cli_roff *roff, char font) {
    char escape[] = {'\\', 'f', font, '\0'};
    if (roff->plain)
        return;
    /* Behind a word the space comes after the end of its font. */
    if (font != 'R')
        put_space(roff);
    emit(roff, escape);
}

void cli_roff_bold(cli_roff *roff, const char *text) {
    cli_roff_font(roff, 'B');
    cli_roff_str(roff, text);
    cli_roff_font(roff, 'R');
}

void cli_roff_page(cli_roff *roff, const char *name, const char *section) {
    cli_roff_bold(roff, name);
    cli_roff_str(roff, "(");
    cli_roff_str(roff, section);
    cli_roff_str(roff, ")");
}

void cli_roff_end(cli_roff *roff) {
    roff->space = false;
    roff->word = 0;
    if (roff->column == 0)
        return;
    roff->last = ' ';
    new_line(roff);
}

void cli_roff_tie(cli_roff *roff) {
    emit(roff, "\\ ");
    roff->last = ' ';
}

void cli_roff_macro(cli_roff *roff, const char *macro) {
    cli_roff_end(roff);
    if (roff->fresh && strcmp(macro, ".PP") == 0)
        return;
    emit(roff, macro);
    cli_roff_end(roff);
    roff->fresh = strncmp(macro, ".SH ", 4) == 0;
}

void cli_roff_heading(cli_roff *roff, const char *macro, const char *text) {
    cli_roff_end(roff);
    emit(roff, macro);
    emit(roff, " \"");
    roff->whole = true;
    cli_roff_str(roff, text);
    roff->whole = false;
    roff->space = false;
    emit(roff, "\"");
    cli_roff_end(roff);
    roff->fresh = true;
}

void cli_roff_line(cli_roff *roff, dx_text line) {
    cli_roff_end(roff);
    for (size_t i = 0; i < line.len;) {
        uint32_t c;
        i += decode(line.at + i, line.len - i, &c);
        put_char(roff, c == '\t' ? ' ' : c);
    }
    roff->last = ' ';
    new_line(roff);
}

void cli_roff_begin(cli_roff *roff, const char *name, const char *section, const char *volume) {
    /* There is no date: the same source makes the same page. */
    cli_roff_macro(roff, ".\\\" Made by duplex; changes made here are lost.");
    emit(roff, ".TH \"");
    roff->whole = true;
    cli_roff_str(roff, name);
    emit(roff, "\" \"");
    cli_roff_str(roff, section);
    emit(roff, "\" \"\" \"Duplex ");
    cli_roff_str(roff, dx_version());
    emit(roff, "\" \"");
    cli_roff_str(roff, volume);
    emit(roff, "\"");
    roff->whole = false;
    /* Names of options and messages shall not be hyphenated. groff's macros look into HY. */
    cli_roff_macro(roff, ".nr HY 0");
    cli_roff_macro(roff, ".nh");
    cli_roff_macro(roff, ".ad l");
    cli_roff_macro(roff, ".SH NAME");
    cli_roff_str(roff, name);
    cli_roff_str(roff, " - ");
}
