#include "cli/run/journal.h"

#include "cli/wait.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How many bytes the character here has; 0 if they are none that can be shown. */
static size_t character(dx_text text, size_t at) {
    const unsigned char *c = (const unsigned char *)text.at + at;
    size_t left = text.len - at;
    size_t len = c[0] < 0x80 ? 1 : c[0] < 0xc2 ? 0 : c[0] < 0xe0 ? 2 : c[0] < 0xf0 ? 3 : 4;
    if (len == 1)
        return c[0] == '\t' || (c[0] >= ' ' && c[0] != 0x7f);
    if (!len || c[0] > 0xf4 || left < len)
        return 0;
    for (size_t i = 1; i < len; i++)
        if ((c[i] & 0xc0) != 0x80)
            return 0;
    bool overlong = (c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xf0 && c[1] < 0x90);
    bool outside = (c[0] == 0xed && c[1] >= 0xa0) || (c[0] == 0xf4 && c[1] >= 0x90);
    bool control = c[0] == 0xc2 && c[1] < 0xa0;
    return overlong || outside || control ? 0 : len;
}

static void copy_clean(struct journal_line *line, dx_text text) {
    for (size_t at = 0; at < text.len;) {
        size_t len = character(text, at);
        if (len) {
            memcpy(line->text + line->len, text.at + at, len);
            line->len += len;
        } else {
            line->len +=
                (size_t)sprintf(line->text + line->len, "\\x%02x", (unsigned char)text.at[at]);
        }
        at += len ? len : 1;
    }
}

static size_t cost(const struct journal_line *line) {
    return sizeof *line + line->len;
}

static void drop_first(struct journal *journal) {
    struct journal_line *line = journal->first;
    journal->first = line->next;
    if (journal->first)
        journal->first->prev = NULL;
    else
        journal->last = NULL;
    journal->used -= cost(line);
    journal->dropped = line->seq;
    free(line);
}

void journal_add(struct journal *journal, uint64_t seq, unsigned run, bool own, dx_text text) {
    /* At its worst every byte becomes four. */
    struct journal_line *line = calloc(1, sizeof *line + 4 * text.len + 1);
    if (!line) {
        journal->dropped = seq;
        return;
    }
    *line = (struct journal_line){.seq = seq, .unix_ms = cli_unix_ms(), .run = run, .own = own};
    copy_clean(line, text);
    if (cost(line) > journal->max) {
        journal->dropped = seq;
        free(line);
        return;
    }
    struct journal_line *tight = realloc(line, cost(line));
    line = tight ? tight : line;
    journal->used += cost(line);
    line->prev = journal->last;
    if (journal->last)
        journal->last->next = line;
    else
        journal->first = line;
    journal->last = line;
    while (journal->used > journal->max)
        drop_first(journal);
}

void journal_done(struct journal *journal) {
    while (journal->first)
        drop_first(journal);
}

const struct journal_line *journal_from(const struct journal *journal, uint64_t seq) {
    const struct journal_line *line = NULL;
    for (const struct journal_line *at = journal->last; at && at->seq >= seq; at = at->prev)
        line = at;
    return line;
}
