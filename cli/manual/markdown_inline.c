/* What stands within a line of Markdown. */
#include "cli/manual/manual.h"
#include "cli/manual/markdown.h"

#include <ctype.h>
#include <string.h>

/* How far ahead the end of something is looked for: what is longer is no markup, and hostile text
 * does not make this slow. */
enum { LOOK_MAX = 2000 };

/* Code that is longer than this may be broken. */
enum { CODE_WIDE = 24 };

struct span {
    cli_roff *roff;
    dx_text text;
    size_t at;
    bool strong;
    bool emphasis;
};

static dx_text ahead(const struct span *span, size_t skip) {
    size_t from = span->at + skip;
    size_t len = from < span->text.len ? span->text.len - from : 0;
    return (dx_text){span->text.at + from, len < LOOK_MAX ? len : LOOK_MAX};
}

static void set_font(const struct span *span) {
    cli_roff_font(span->roff, span->strong ? 'B' : span->emphasis ? 'I' : 'R');
}

static size_t run_of(dx_text text, char c) {
    size_t len = 0;
    while (len < text.len && text.at[len] == c)
        len++;
    return len;
}

/* Where as many backquotes stand as at its beginning; 0 if nowhere. */
static size_t code_end(dx_text text, size_t ticks) {
    for (size_t i = 0; i < text.len;) {
        size_t run = run_of((dx_text){text.at + i, text.len - i}, '`');
        if (run == ticks)
            return i;
        i += run ? run : 1;
    }
    return 0;
}

/* Nothing in it means anything, but "\|" is "|": our pages write it so, in tables and elsewhere. */
static void put_code(cli_roff *roff, dx_text code) {
    bool upper = roff->upper;
    cli_roff_font(roff, 'B');
    roff->upper = false;
    roff->soft = code.len > CODE_WIDE;
    for (size_t i = 0; i < code.len; i++) {
        if (code.at[i] == '\\' && i + 1 < code.len && code.at[i + 1] == '|')
            i++;
        size_t len = 1;
        while (i + len < code.len && code.at[i + len] != '\\')
            len++;
        cli_roff_put(roff, (dx_text){code.at + i, len});
        i += len - 1;
    }
    roff->soft = false;
    roff->upper = upper;
}

static bool take_code(struct span *span) {
    size_t ticks = run_of(ahead(span, 0), '`');
    size_t len = code_end(ahead(span, ticks), ticks);
    dx_text code = {span->text.at + span->at + ticks, len};
    if (!len)
        return false;
    if (len > 2 && code.at[0] == ' ' && code.at[len - 1] == ' ')
        code = (dx_text){code.at + 1, len - 2};
    put_code(span->roff, code);
    set_font(span);
    span->at += 2 * ticks + len;
    return true;
}

static bool is_word(dx_text text, size_t at) {
    return at < text.len && (isalnum((unsigned char)text.at[at]) || (text.at[at] & 0x80));
}

static bool is_space(dx_text text, size_t at) {
    return at >= text.len || isspace((unsigned char)text.at[at]);
}

/* "*", "**" or "_": does it end, or begin with an end in sight? */
static bool take_stars(struct span *span) {
    dx_text text = span->text;
    char c = text.at[span->at];
    size_t len = c == '*' && span->at + 1 < text.len && text.at[span->at + 1] == '*' ? 2 : 1;
    bool *state = len == 2 ? &span->strong : &span->emphasis;
    bool before = span->at > 0 && !is_space(text, span->at - 1);
    bool word_before = span->at > 0 && is_word(text, span->at - 1);
    bool word_after = is_word(text, span->at + len);
    bool closes = *state && before && (c == '*' || !word_after);
    bool opens = !*state && !is_space(text, span->at + len) && (c == '*' || !word_before);
    dx_text rest = ahead(span, len);
    if (opens)
        opens = memmem(rest.at, rest.len, text.at + span->at, len);
    if (!closes && !opens)
        return false;
    *state = opens;
    set_font(span);
    span->at += len;
    return true;
}

/* "](URL)" somewhere ahead. */
static bool find_link(dx_text text, dx_text *ret_label, dx_text *ret_url) {
    const char *close = memchr(text.at, ']', text.len);
    size_t label = close ? (size_t)(close - text.at) : 0;
    if (!close || label + 1 >= text.len || close[1] != '(')
        return false;
    const char *end = memchr(close, ')', text.len - label);
    if (!end)
        return false;
    *ret_label = (dx_text){text.at, label};
    *ret_url = (dx_text){close + 2, (size_t)(end - close) - 2};
    return true;
}

/* The page that stands for a document of docs/; NULL if there is none. */
static const char *page_of(dx_text file) {
    for (const char *const *name = cli_documents; *name; name++) {
        size_t len = strlen(*name);
        if (file.len >= len + 3 && memcmp(file.at, *name, len) == 0 &&
            memcmp(file.at + len, ".md", 3) == 0)
            return *name;
    }
    return NULL;
}

static void put_page(cli_roff *roff, const char *name) {
    char page[64];
    snprintf(page, sizeof page, "duplex-%s", name);
    cli_roff_page(roff, page, "5");
}

static void put_target(struct span *span, dx_text label, dx_text url) {
    size_t slash = url.len;
    while (slash && url.at[slash - 1] != '/')
        slash--;
    const char *page = page_of((dx_text){url.at + slash, url.len - slash});
    bool outside = cli_begins(url, "http://") || cli_begins(url, "https://");
    if (outside && (url.len != label.len || memcmp(url.at, label.at, url.len) != 0)) {
        cli_roff_str(span->roff, " <");
        span->roff->soft = true;
        cli_roff_put(span->roff, url);
        span->roff->soft = false;
        cli_roff_str(span->roff, ">");
    } else if (page) {
        cli_roff_str(span->roff, " (");
        put_page(span->roff, page);
        cli_roff_str(span->roff, ")");
        set_font(span);
    }
}

static bool take_link(struct span *span) {
    bool image = span->text.at[span->at] == '!';
    dx_text rest = ahead(span, image ? 2 : 1);
    dx_text label;
    dx_text url;
    if ((image && (ahead(span, 1).len == 0 || ahead(span, 1).at[0] != '[')) ||
        !find_link(rest, &label, &url))
        return false;
    span->at = (size_t)(url.at + url.len + 1 - span->text.at);
    /* What marks code in the label is left out; other markup does not occur there. */
    for (size_t i = 0; i < label.len; i++)
        if (label.at[i] != '`' && label.at[i] != '*') {
            size_t len = 1;
            while (i + len < label.len && label.at[i + len] != '`' && label.at[i + len] != '*')
                len++;
            cli_roff_put(span->roff, (dx_text){label.at + i, len});
            i += len - 1;
        }
    if (!image)
        put_target(span, label, url);
    return true;
}

/* "&lt;" and its kin; "<https://…>". */
static bool take_angle(struct span *span) {
    static const char *const entities[][2] = {
        {"&lt;", "<"}, {"&gt;", ">"}, {"&amp;", "&"}, {"&quot;", "\""}, {"&nbsp;", " "}};
    dx_text rest = ahead(span, 0);
    for (size_t i = 0; i < sizeof entities / sizeof entities[0]; i++)
        if (cli_begins(rest, entities[i][0])) {
            cli_roff_str(span->roff, entities[i][1]);
            span->at += strlen(entities[i][0]);
            return true;
        }
    if (!cli_begins(rest, "<br>") && !cli_begins(rest, "<br/>"))
        return false;
    cli_roff_str(span->roff, " ");
    span->at += (size_t)((const char *)memchr(rest.at, '>', rest.len) - rest.at) + 1;
    return true;
}

/* "docs/trace.md" in a sentence is the page that it became. */
static bool take_page(struct span *span) {
    dx_text rest = ahead(span, 0);
    if (!cli_begins(rest, "docs/"))
        return false;
    const char *page = page_of((dx_text){rest.at + 5, rest.len - 5});
    if (!page)
        return false;
    put_page(span->roff, page);
    set_font(span);
    span->at += 5 + strlen(page) + 3;
    return true;
}

static bool take_markup(struct span *span) {
    char c = span->text.at[span->at];
    switch (c) {
    case '\\':
        if (span->at + 1 == span->text.len || !ispunct((unsigned char)span->text.at[span->at + 1]))
            return false;
        cli_roff_put(span->roff, (dx_text){span->text.at + span->at + 1, 1});
        span->at += 2;
        return true;
    case '`':
        return take_code(span);
    case '*':
    case '_':
        return take_stars(span);
    case '[':
    case '!':
        return take_link(span);
    case '&':
    case '<':
        return take_angle(span);
    default:
        return c == 'd' && take_page(span);
    }
}

void cli_markdown_inline(cli_roff *roff, dx_text text) {
    struct span span = {.roff = roff, .text = text};
    while (span.at < text.len) {
        if (take_markup(&span))
            continue;
        size_t len = 1;
        while (span.at + len < text.len && !strchr("\\`*_[!&<d", text.at[span.at + len]))
            len++;
        cli_roff_put(roff, (dx_text){text.at + span.at, len});
        span.at += len;
    }
    if (span.strong || span.emphasis)
        cli_roff_font(roff, 'R');
}
