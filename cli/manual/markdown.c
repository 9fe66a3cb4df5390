#include "cli/manual/markdown.h"

#include <ctype.h>
#include <string.h>

/* How deep lists go; what is deeper stands at that depth. */
enum { LISTS_MAX = 8 };

struct list {
    size_t indent;   /* of its markers */
    unsigned number; /* of the item at hand; 0: bullets */
};

struct blocks {
    cli_roff *roff;
    dx_text rest;
    bool titled; /* the first heading is behind us */
    bool headed; /* a section has begun */
    struct list lists[LISTS_MAX];
    size_t depth;
};

bool cli_next_line(dx_text *rest, dx_text *ret_line) {
    if (!rest->len)
        return false;
    const char *end = memchr(rest->at, '\n', rest->len);
    size_t len = end ? (size_t)(end - rest->at) : rest->len;
    size_t step = len + (end != NULL);
    *ret_line = (dx_text){rest->at, len - (len && rest->at[len - 1] == '\r')};
    *rest = (dx_text){rest->at + step, rest->len - step};
    return true;
}

dx_text cli_trim(dx_text text) {
    while (text.len && isspace((unsigned char)text.at[0]))
        text = (dx_text){text.at + 1, text.len - 1};
    while (text.len && isspace((unsigned char)text.at[text.len - 1]))
        text.len--;
    return text;
}

bool cli_begins(dx_text text, const char *with) {
    size_t len = strlen(with);
    return text.len >= len && memcmp(text.at, with, len) == 0;
}

static size_t indent_of(dx_text line) {
    size_t indent = 0;
    while (indent < line.len && line.at[indent] == ' ')
        indent++;
    return indent;
}

/* "## Heading": its level, 0 if it is none. */
static size_t level_of(dx_text body) {
    size_t level = 0;
    while (level < body.len && level < 7 && body.at[level] == '#')
        level++;
    return level < 7 && level < body.len && body.at[level] == ' ' ? level : 0;
}

/* "- ", "* ", "12. ": how long it is, 0 if it is none. */
static size_t marker_of(dx_text body, unsigned *ret_number) {
    size_t len = 0;
    *ret_number = 0;
    if (body.len > 1 && strchr("-*+", body.at[0]) && body.at[1] == ' ')
        return 2;
    while (len < body.len && len < 6 && isdigit((unsigned char)body.at[len]))
        *ret_number = *ret_number * 10 + (unsigned)(body.at[len++] - '0');
    return len && len + 1 < body.len && body.at[len] == '.' && body.at[len + 1] == ' ' ? len + 2
                                                                                       : 0;
}

/* "---" and "***" alone on a line. */
static bool is_rule(dx_text body) {
    if (body.len < 3 || !strchr("-*_", body.at[0]))
        return false;
    for (size_t i = 1; i < body.len; i++)
        if (body.at[i] != body.at[0])
            return false;
    return true;
}

/* What ends the paragraph before it. */
static bool begins_block(dx_text body) {
    unsigned number;
    return !body.len || level_of(body) || marker_of(body, &number) || body.at[0] == '|' ||
           body.at[0] == '>' || cli_begins(body, "```") || cli_begins(body, "<!--");
}

/* From the beginning of `first` on, as far as the paragraph goes. */
static dx_text take_paragraph(struct blocks *blocks, dx_text first) {
    const char *end = first.at + first.len;
    dx_text rest = blocks->rest;
    dx_text line;
    while (cli_next_line(&rest, &line) && !begins_block(cli_trim(line))) {
        end = line.at + line.len;
        blocks->rest = rest;
    }
    return (dx_text){first.at, (size_t)(end - first.at)};
}

static void leave_lists(struct blocks *blocks, size_t depth) {
    while (blocks->depth > depth)
        if (--blocks->depth)
            cli_roff_macro(blocks->roff, ".RE");
}

static void need_section(struct blocks *blocks) {
    if (!blocks->headed)
        cli_roff_macro(blocks->roff, ".SH DESCRIPTION");
    blocks->headed = true;
}

static void put_heading(struct blocks *blocks, dx_text body, size_t level) {
    cli_roff *roff = blocks->roff;
    dx_text text = cli_trim((dx_text){body.at + level, body.len - level});
    leave_lists(blocks, 0);
    if (level == 1 && !blocks->titled) {
        blocks->titled = true;
        return;
    }
    if (level > 2)
        need_section(blocks);
    blocks->headed = true;
    cli_roff_macro(roff, level <= 2 ? ".SH" : ".SS");
    /* The next line is the heading; it is bold already. */
    roff->whole = roff->plain = true;
    roff->upper = level <= 2;
    cli_markdown_inline(roff, text);
    roff->whole = roff->plain = roff->upper = false;
    cli_roff_end(roff);
    roff->fresh = true;
}

static void put_item(struct blocks *blocks, dx_text body, size_t indent, size_t marker,
                     unsigned number) {
    cli_roff *roff = blocks->roff;
    char macro[32];
    need_section(blocks);
    while (blocks->depth && blocks->lists[blocks->depth - 1].indent > indent)
        leave_lists(blocks, blocks->depth - 1);
    struct list *list = blocks->depth ? &blocks->lists[blocks->depth - 1] : NULL;
    if (!list || (indent > list->indent + 1 && blocks->depth < LISTS_MAX)) {
        if (list)
            cli_roff_macro(roff, list->number ? ".RS 4" : ".RS 2");
        list = &blocks->lists[blocks->depth++];
        *list = (struct list){.indent = indent, .number = number};
    } else {
        list->number = !number ? 0 : list->number ? list->number + 1 : number;
    }
    if (number)
        snprintf(macro, sizeof macro, ".IP %u. 4", list->number);
    else
        snprintf(macro, sizeof macro, ".IP \\(bu 2");
    cli_roff_macro(roff, macro);
    dx_text first = {body.at + marker, body.len - marker};
    cli_markdown_inline(roff, take_paragraph(blocks, first));
    cli_roff_end(roff);
}

/* In a list, if it is indented there. */
static void begin_paragraph(struct blocks *blocks, size_t indent) {
    need_section(blocks);
    if (indent < 2)
        leave_lists(blocks, 0);
    cli_roff_macro(blocks->roff, blocks->depth ? ".IP" : ".PP");
}

static void put_code(struct blocks *blocks, dx_text fence, size_t indent) {
    size_t ticks = 0;
    dx_text line;
    bool in_list = blocks->depth && indent >= 2;
    while (ticks < fence.len && fence.at[ticks] == '`')
        ticks++;
    begin_paragraph(blocks, indent);
    cli_roff_macro(blocks->roff, in_list ? ".EX" : ".RS 4\n.EX");
    while (cli_next_line(&blocks->rest, &line)) {
        dx_text body = cli_trim(line);
        size_t close = 0;
        while (close < body.len && body.at[close] == '`')
            close++;
        if (close >= ticks && close == body.len)
            break;
        size_t skip = indent_of(line) < indent ? indent_of(line) : indent;
        cli_roff_line(blocks->roff, (dx_text){line.at + skip, line.len - skip});
    }
    cli_roff_macro(blocks->roff, in_list ? ".EE" : ".EE\n.RE");
}

static void put_quotation(struct blocks *blocks, dx_text body) {
    dx_text rest = blocks->rest;
    begin_paragraph(blocks, 0);
    cli_roff_macro(blocks->roff, ".RS 4");
    do {
        body = cli_trim(body);
        if (!body.len || body.at[0] != '>')
            break;
        cli_markdown_inline(blocks->roff, (dx_text){body.at + 1, body.len - 1});
        cli_roff_str(blocks->roff, " ");
        blocks->rest = rest;
    } while (cli_next_line(&rest, &body));
    cli_roff_macro(blocks->roff, ".RE");
}

static void put_table(struct blocks *blocks, dx_text first) {
    const char *end = first.at + first.len;
    dx_text rest = blocks->rest;
    dx_text line;
    while (cli_next_line(&rest, &line) && cli_begins(cli_trim(line), "|")) {
        end = line.at + line.len;
        blocks->rest = rest;
    }
    need_section(blocks);
    leave_lists(blocks, 0);
    cli_markdown_table(blocks->roff, (dx_text){first.at, (size_t)(end - first.at)});
}

static void skip_comment(struct blocks *blocks, dx_text line) {
    while (!memmem(line.at, line.len, "-->", 3) && cli_next_line(&blocks->rest, &line)) {
    }
}

static void put_block(struct blocks *blocks, dx_text line) {
    dx_text body = cli_trim(line);
    size_t indent = indent_of(line);
    size_t level = level_of(body);
    unsigned number;
    size_t marker = marker_of(body, &number);
    if (!body.len || is_rule(body))
        return;
    if (level)
        put_heading(blocks, body, level);
    else if (cli_begins(body, "```"))
        put_code(blocks, body, indent);
    else if (body.at[0] == '|')
        put_table(blocks, line);
    else if (body.at[0] == '>')
        put_quotation(blocks, body);
    else if (cli_begins(body, "<!--"))
        skip_comment(blocks, line);
    else if (marker)
        put_item(blocks, body, indent, marker, number);
    else {
        begin_paragraph(blocks, indent);
        cli_markdown_inline(blocks->roff, take_paragraph(blocks, body));
        cli_roff_end(blocks->roff);
    }
}

dx_text cli_markdown_title(dx_text text) {
    dx_text line;
    while (cli_next_line(&text, &line))
        if (cli_begins(line, "# "))
            return cli_trim((dx_text){line.at + 2, line.len - 2});
    return dx_str(NULL);
}

void cli_markdown(cli_roff *roff, dx_text text) {
    struct blocks blocks = {.roff = roff, .rest = text};
    dx_text line;
    while (cli_next_line(&blocks.rest, &line))
        put_block(&blocks, line);
    leave_lists(&blocks, 0);
    cli_roff_end(roff);
}
