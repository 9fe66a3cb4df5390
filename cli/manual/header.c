/* A public header as a page of section 3: the headers are the manual, this only prints it. */
#include "cli/manual/manual.h"

#include "cli/manual/markdown.h"
#include "cli/manual/roff.h"

#include <ctype.h>
#include <string.h>

/* A part of a header: a comment, or a declaration. */
struct piece {
    enum { COMMENT, DECLARATION, GAP } kind;
    dx_text text; /* whole lines */
};

static bool is_blank(dx_text line) {
    return cli_trim(line).len == 0;
}

static dx_text from_to(dx_text from, dx_text to) {
    return (dx_text){from.at, (size_t)(to.at + to.len - from.at)};
}

static bool has(dx_text line, const char *what) {
    return memmem(line.at, line.len, what, strlen(what)) != NULL;
}

/* What a line of a declaration leaves open: braces, brackets, a comment. */
struct open {
    int depth;
    bool comment;
    char last; /* what was seen last that is neither space nor comment */
};

static void look_at(struct open *open, dx_text line) {
    for (size_t i = 0; i < line.len; i++) {
        bool two = i + 1 < line.len;
        if (open->comment) {
            if (two && line.at[i] == '*' && line.at[i + 1] == '/') {
                open->comment = false;
                i++;
            }
        } else if (two && line.at[i] == '/' && line.at[i + 1] == '*') {
            open->comment = true;
            i++;
        } else if (!isspace((unsigned char)line.at[i])) {
            open->last = line.at[i];
            open->depth += strchr("{(", open->last) ? 1 : strchr("})", open->last) ? -1 : 0;
        }
    }
}

/* The lines of a comment, a macro or a declaration whose first line is given. */
static dx_text whole_of(dx_text *rest, dx_text first) {
    dx_text line = first;
    if (cli_begins(first, "/*")) {
        while (!has(line, "*/") && cli_next_line(rest, &line))
            ;
    } else if (cli_begins(first, "#")) {
        while (line.len && line.at[line.len - 1] == '\\' && cli_next_line(rest, &line))
            ;
    } else {
        struct open open = {0};
        look_at(&open, line);
        while ((open.depth || open.comment || open.last != ';') && cli_next_line(rest, &line))
            look_at(&open, line);
    }
    return from_to(first, line);
}

/* What holds the header together is nothing to be read. */
static bool is_frame(dx_text line) {
    bool is_guard = cli_begins(line, "#define DUPLEX_") && !memchr(line.at + 8, ' ', line.len - 8);
    return is_guard || (cli_begins(line, "#") && !cli_begins(line, "#define ")) ||
           cli_begins(line, "extern \"C\"") || (line.len == 1 && line.at[0] == '}') ||
           has(line, "clang-format");
}

static bool next_piece(dx_text *rest, struct piece *ret_piece) {
    dx_text line;
    while (cli_next_line(rest, &line)) {
        if (is_blank(line)) {
            *ret_piece = (struct piece){GAP, line};
            return true;
        }
        if (is_frame(line))
            continue;
        *ret_piece =
            (struct piece){cli_begins(line, "/*") ? COMMENT : DECLARATION, whole_of(rest, line)};
        return true;
    }
    return false;
}

/* Comments. */

/* A line of a comment without what makes it one. */
static dx_text said(dx_text line) {
    if (cli_begins(line, "/*") || (cli_begins(line, " *") && !cli_begins(line, " */")))
        line = (dx_text){line.at + 2, line.len - 2};
    if (line.len >= 2 && memcmp(line.at + line.len - 2, "*/", 2) == 0)
        line.len -= 2;
    while (line.len && line.at[line.len - 1] == ' ')
        line.len--;
    if (line.len && line.at[0] == ' ')
        line = (dx_text){line.at + 1, line.len - 1};
    return line;
}

/* Where the text of a comment stands. */
enum place { BETWEEN, PARAGRAPH, ITEM, CODE };

static enum place place_of(dx_text line, enum place before) {
    if (!line.len)
        return before == CODE ? CODE : BETWEEN;
    if (cli_begins(line, "  - ") || before == ITEM)
        return ITEM;
    return cli_begins(line, "  ") ? CODE : PARAGRAPH;
}

/* Paragraphs, items, and what is indented as it stands. */
static void put_comment(cli_roff *roff, dx_text comment) {
    dx_text line;
    enum place before = roff->column ? PARAGRAPH : BETWEEN;
    while (cli_next_line(&comment, &line)) {
        line = said(line);
        enum place place = place_of(line, before);
        bool is_new = place == ITEM && cli_begins(line, "  - ");
        if (before == CODE && place != CODE)
            cli_roff_macro(roff, ".EE");
        if (before != place && (place == CODE || place == PARAGRAPH))
            cli_roff_macro(roff, ".PP");
        if (before != place && place == CODE)
            cli_roff_macro(roff, ".EX");
        if (is_new)
            cli_roff_macro(roff, ".IP \\(bu 2");
        if (place == CODE)
            cli_roff_line(roff, line);
        else
            cli_roff_put(roff, is_new ? (dx_text){line.at + 4, line.len - 4} : line);
        cli_roff_str(roff, " ");
        before = place;
    }
    if (before == CODE)
        cli_roff_macro(roff, ".EE");
    cli_roff_end(roff);
}

/* "Writing": what follows belongs to it. */
static bool is_heading(dx_text comment) {
    dx_text text = said(comment);
    return !memchr(comment.at, '\n', comment.len) && text.len && text.len < 40 &&
           !strchr(".:;?", text.at[text.len - 1]);
}

static void put_heading(cli_roff *roff, dx_text comment) {
    dx_text text = said(comment);
    char room[64];
    snprintf(room, sizeof room, "%.*s", (int)text.len, text.at);
    roff->upper = true;
    cli_roff_heading(roff, ".SH", room);
    roff->upper = false;
}

/* Declarations. */

/* The name of the function that is declared; absent if it is none. */
static dx_text function_of(dx_text declaration) {
    const char *bracket = memchr(declaration.at, '(', declaration.len);
    if (!bracket || cli_begins(declaration, "typedef") || cli_begins(declaration, "#"))
        return (dx_text){NULL, 0};
    const char *name = bracket;
    while (name > declaration.at && (isalnum((unsigned char)name[-1]) || name[-1] == '_'))
        name--;
    dx_text text = {name, (size_t)(bracket - name)};
    return cli_begins(text, "dx_") ? text : (dx_text){NULL, 0};
}

/* Without what only a compiler wants to know; the lines that follow keep their place below it. */
static void put_declaration(cli_roff *roff, dx_text declaration) {
    static const char export[] = "DX_API ";
    size_t len = strlen(export);
    bool exported = cli_begins(declaration, export);
    dx_text line;
    while (cli_next_line(&declaration, &line)) {
        if (exported && (cli_begins(line, export) || cli_begins(line, "       ")))
            line = (dx_text){line.at + len, line.len - len};
        cli_roff_line(roff, line);
    }
}

/* Calls on_function for each function that is declared there. */
static void visit_functions(dx_text declarations, dx_text comment,
                            void (*on_function)(const cli_function *function, void *user),
                            void *user) {
    dx_text rest = declarations;
    struct piece piece;
    while (on_function && next_piece(&rest, &piece)) {
        cli_function function = {function_of(piece.text), declarations, comment};
        if (function.name.at)
            on_function(&function, user);
    }
}

/* Declarations that stand together, and the comment above them. */
static void put_group(cli_roff *roff, dx_text *rest, struct piece piece, dx_text comment,
                      void (*on_function)(const cli_function *function, void *user), void *user) {
    dx_text before;
    dx_text first = piece.text;
    dx_text last;
    cli_roff_macro(roff, ".PP");
    cli_roff_macro(roff, ".EX");
    do {
        put_declaration(roff, piece.text);
        last = piece.text;
        before = *rest;
    } while (next_piece(rest, &piece) && piece.kind == DECLARATION);
    if (piece.kind != DECLARATION)
        *rest = before;
    cli_roff_macro(roff, ".EE");
    visit_functions(from_to(first, last), comment, on_function, user);
    if (!comment.at)
        return;
    cli_roff_macro(roff, ".RS 4");
    put_comment(roff, comment);
    cli_roff_macro(roff, ".RE");
}

static void put_pieces(cli_roff *roff, dx_text rest,
                       void (*on_function)(const cli_function *function, void *user), void *user) {
    struct piece piece;
    struct piece next;
    while (next_piece(&rest, &piece)) {
        if (piece.kind == DECLARATION)
            put_group(roff, &rest, piece, (dx_text){NULL, 0}, on_function, user);
        if (piece.kind != COMMENT)
            continue;
        dx_text before = rest;
        if (next_piece(&rest, &next) && next.kind == DECLARATION) {
            put_group(roff, &rest, next, piece.text, on_function, user);
            continue;
        }
        rest = before;
        if (is_heading(piece.text))
            put_heading(roff, piece.text);
        else
            put_comment(roff, piece.text);
    }
}

/* The first sentence of a header stands behind its name: "duplex/link.h: a peer on …". */
static dx_text sentence_of(dx_text comment) {
    const char *colon = memmem(comment.at, comment.len, ".h: ", 4);
    dx_text text = colon ? (dx_text){colon + 4, (size_t)(comment.at + comment.len - colon - 4)}
                         : said(comment);
    for (size_t i = 0; i + 1 < text.len; i++)
        if (strchr(".?;", text.at[i]) && isspace((unsigned char)text.at[i + 1]))
            return (dx_text){text.at, text.at[i] == '?' ? i + 1 : i};
    return text;
}

static void put_sentence(cli_roff *roff, dx_text sentence) {
    dx_text line;
    while (cli_next_line(&sentence, &line)) {
        cli_roff_put(roff, cli_begins(line, " * ") ? (dx_text){line.at + 3, line.len - 3} : line);
        cli_roff_str(roff, " ");
    }
    cli_roff_end(roff);
}

/* The headers that this one builds on. */
static void put_see_also(cli_roff *roff, dx_text header) {
    static const char include[] = "#include <duplex/";
    dx_text line;
    char page[100];
    cli_roff_macro(roff, ".SH SEE ALSO");
    cli_roff_page(roff, "duplex", "1");
    while (cli_next_line(&header, &line)) {
        if (!cli_begins(line, include))
            continue;
        dx_text name = {line.at + strlen(include), line.len - strlen(include)};
        const char *dot = memchr(name.at, '.', name.len);
        snprintf(page, sizeof page, "duplex-%.*s", (int)(dot ? dot - name.at : 0), name.at);
        cli_roff_str(roff, ", ");
        cli_roff_page(roff, page, "3");
    }
    cli_roff_end(roff);
}

void cli_manual_function(const cli_function *function, const char *header, FILE *out) {
    cli_roff roff = {.out = out};
    char text[200];
    dx_text rest = function->declarations;
    struct piece piece;
    snprintf(text, sizeof text, "%.*s", (int)function->name.len, function->name.at);
    cli_roff_begin(&roff, text, "3", "Duplex library");
    snprintf(text, sizeof text, "a function of duplex/%s.h", header);
    cli_roff_str(&roff, text);
    cli_roff_macro(&roff, ".SH SYNOPSIS");
    cli_roff_macro(&roff, ".EX");
    snprintf(text, sizeof text, "#include <duplex/%s.h>", header);
    cli_roff_line(&roff, dx_str(text));
    cli_roff_line(&roff, dx_str(""));
    while (next_piece(&rest, &piece))
        put_declaration(&roff, piece.text);
    cli_roff_macro(&roff, ".EE");
    cli_roff_macro(&roff, ".SH DESCRIPTION");
    if (function->comment.at)
        put_comment(&roff, function->comment);
    snprintf(text, sizeof text, "duplex-%s", header);
    cli_roff_macro(&roff, ".PP");
    cli_roff_str(&roff, "See ");
    cli_roff_page(&roff, text, "3");
    cli_roff_str(&roff, " for the types and the other functions of this header.");
    cli_roff_macro(&roff, ".SH SEE ALSO");
    cli_roff_page(&roff, text, "3");
    cli_roff_end(&roff);
}

bool cli_manual_header(const char *name, dx_text header, FILE *out,
                       void (*on_function)(const cli_function *function, void *user), void *user) {
    cli_roff roff = {.out = out};
    dx_text whole = header;
    struct piece piece;
    char text[200];
    do
        if (!next_piece(&header, &piece))
            return false;
    while (piece.kind != COMMENT);
    const char *end = piece.text.at + piece.text.len;
    dx_text sentence = sentence_of(piece.text);
    if (!sentence.len)
        return false;
    snprintf(text, sizeof text, "duplex-%s", name);
    cli_roff_begin(&roff, text, "3", "Duplex library");
    put_sentence(&roff, sentence);
    cli_roff_macro(&roff, ".SH SYNOPSIS");
    cli_roff_macro(&roff, ".EX");
    snprintf(text, sizeof text, "#include <duplex/%s.h>", name);
    cli_roff_line(&roff, dx_str(text));
    cli_roff_macro(&roff, ".EE");
    cli_roff_macro(&roff, ".SH DESCRIPTION");
    char first[] = {(char)toupper((unsigned char)sentence.at[0]), '\0'};
    cli_roff_str(&roff, first);
    /* "a peer on …": that space is no margin of the comment. */
    if (sentence.len > 1 && sentence.at[1] == ' ')
        cli_roff_str(&roff, " ");
    put_comment(&roff, (dx_text){sentence.at + 1, (size_t)(end - sentence.at - 1)});
    cli_roff_macro(&roff, ".SH DECLARATIONS");
    put_pieces(&roff, header, on_function, user);
    put_see_also(&roff, whole);
    return true;
}
