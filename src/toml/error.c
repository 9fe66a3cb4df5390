#include "toml/error.h"

#include "base/line.h"
#include "toml/reader.h"

enum { QUOTE_MAX = 60 };

static size_t cut(dx_text text, size_t most) {
    if (text.len <= most)
        return text.len;
    while (most && ((unsigned char)text.at[most] & 0xc0) == 0x80)
        most--;
    return most;
}

void dx__toml_line_text(dx__line *line, dx_text text) {
    static const char gap[] = "…";
    size_t left = line->room - line->len;
    bool fits = text.len + sizeof gap <= left;
    size_t len = left < sizeof gap ? 0 : cut(text, left - sizeof gap);
    if (len)
        memcpy(line->at + line->len, text.at, len);
    line->len += len;
    line->at[line->len] = '\0';
    if (!fits && left >= sizeof gap) {
        dx__line_str(line, gap);
        line->room = line->len + 1; /* nothing comes after that */
    }
}

/* A key may hold anything; a phrase is one line. */
static void line_quote(dx__line *line, dx_text text) {
    size_t len = cut(text, QUOTE_MAX);
    dx__line_str(line, "'");
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text.at[i];
        char shown[2] = {c < 0x20 || c == 0x7f ? '?' : (char)c, '\0'};
        dx__line_str(line, shown);
    }
    dx__line_str(line, len < text.len ? "…'" : "'");
}

static size_t line_of(const dx__toml_reader *reader, const char *at) {
    size_t line = 1;
    for (const char *c = reader->start; c < at; c++)
        line += *c == '\n';
    return line;
}

/* Where characters begin is what counts, as an editor shows them. */
static size_t column_of(const dx__toml_reader *reader, const char *at) {
    size_t column = 1;
    while (at > reader->start && at[-1] != '\n')
        column += ((unsigned char)*--at & 0xc0) != 0x80;
    return column;
}

/* Sets everything but what is wrong. */
static dx__line begin(dx__toml_reader *reader, const char *at) {
    dx_toml_error *error = reader->error;
    error->line = line_of(reader, at);
    error->column = column_of(reader, at);
    error->place[0] = '\0';
    dx__line line = dx__line_on(error->phrase, sizeof error->phrase);
    dx__line_num(&line, error->line);
    dx__line_str(&line, ":");
    dx__line_num(&line, error->column);
    dx__line_str(&line, ": ");
    return line;
}

bool dx__toml_refuse(dx__toml_reader *reader, const char *at, const char *what) {
    reader->status = DX_ERR_INVALID;
    if (reader->error) {
        dx__line line = begin(reader, at);
        dx__line_str(&line, what);
    }
    return false;
}

static void line_found(dx__line *line, const dx__toml_reader *reader) {
    int c = dx__toml_peek(reader);
    if (c < 0) {
        dx__line_str(line, "the end of the text");
    } else if (c == '\n' || (c == '\r' && dx__toml_left(reader) > 1 && reader->at[1] == '\n')) {
        dx__line_str(line, "the end of the line");
    } else if (c < 0x20 || c == 0x7f) {
        dx__line_str(line, c == '\t' ? "a tab" : "a control character");
    } else {
        size_t len = 1;
        while (len < dx__toml_left(reader) && ((unsigned char)reader->at[len] & 0xc0) == 0x80)
            len++;
        dx__line_str(line, c == '\'' ? "\"" : "'");
        dx__toml_line_text(line, (dx_text){reader->at, len});
        dx__line_str(line, c == '\'' ? "\"" : "'");
    }
}

bool dx__toml_expected(dx__toml_reader *reader, const char *what) {
    reader->status = DX_ERR_INVALID;
    if (reader->error) {
        dx__line line = begin(reader, reader->at);
        dx__line_str(&line, "expected ");
        dx__line_str(&line, what);
        dx__line_str(&line, ", found ");
        line_found(&line, reader);
    }
    return false;
}

bool dx__toml_conflict(dx__toml_reader *reader, const char *at, dx_text key, const char *what,
                       const char *first) {
    reader->status = DX_ERR_INVALID;
    if (reader->error) {
        dx__line line = begin(reader, at);
        line_quote(&line, key);
        dx__line_str(&line, " ");
        dx__line_str(&line, what);
        dx__line_str(&line, ", first in line ");
        dx__line_num(&line, line_of(reader, first));
    }
    return false;
}

bool dx__toml_limit(dx__toml_reader *reader, const char *what) {
    dx__toml_refuse(reader, reader->at, what);
    reader->status = DX_ERR_LIMIT;
    return false;
}

void dx__toml_error_plain(dx_toml_error *error, const char *what) {
    if (!error)
        return;
    error->line = error->column = 0;
    error->place[0] = '\0';
    dx__line line = dx__line_on(error->phrase, sizeof error->phrase);
    dx__line_str(&line, what);
}

bool dx__toml_no_memory(dx__toml_reader *reader) {
    reader->status = DX_ERR_NOMEM;
    dx__toml_error_plain(reader->error, "out of memory");
    return false;
}
