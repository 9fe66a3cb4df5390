#include "cli/timeline/mermaid.h"

#include "base/utf8.h"
#include "cli/timeline/quote.h"

#include <duplex/rpc.h>

#include <stdlib.h>
#include <string.h>

/* How much of a text of others is shown. */
enum { SHOWN = 80 };

/* Mermaid ends a text at ";" and at "#", looks for directives and tags in it, and marks entities
 * with four letters of its own while it reads: what is not plainly harmless is written as one. */
static bool is_plain(uint32_t code) {
    if (code < 0x80)
        return (code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z') ||
               (code >= '0' && code <= '9') || (code && strchr(" _-./()$,", (int)code));
    return code != 0xb0 && code != 0xb6 && code != 0xdf && code != 0xfb02;
}

static bool is_hidden(uint32_t code) {
    return code < ' ' || (code >= 0x7f && code < 0xa0) || (code >= 0x2028 && code <= 0x202e) ||
           (code >= 0x2066 && code <= 0x2069) || code == 0xfeff;
}

static void put_text(FILE *out, dx_text text) {
    dx_text shown = cli_cut(text, SHOWN);
    for (size_t at = 0, len; at < shown.len; at += len) {
        len = dx__utf8(shown.at + at, shown.len - at);
        uint32_t code = len ? dx__utf8_code(shown.at + at, len) : 0xfffd;
        if (code == '\n' || code == '\r' || code == '\t')
            putc(' ', out);
        else if (is_hidden(code))
            fprintf(out, "#92;u%04x", code);
        else if (!is_plain(code))
            fprintf(out, "#%u;", code);
        else
            fwrite(len ? shown.at + at : "\xef\xbf\xbd", 1, len ? len : 3, out);
        len = len ? len : 1;
    }
    if (shown.len < text.len)
        fputs("…", out);
}

static void put_participant(FILE *out, cli_lane *lane) {
    unsigned long long number = lane->number;
    if (lane->told)
        return;
    lane->told = true;
    fprintf(out, "    participant p%llu as ", number);
    put_text(out, lane->peer.len ? lane->peer : dx_str("plugin"));
    if (lane->run)
        fprintf(out, "/%llu", (unsigned long long)lane->run);
    putc('\n', out);
}

static void put_arrow(FILE *out, const cli_item *item, const char *arrow) {
    unsigned long long number = item->lane->number;
    if (item->from == DX_TRACE_HOST)
        fprintf(out, "    h%sp%llu: ", arrow, number);
    else
        fprintf(out, "    p%llu%sh: ", number, arrow);
}

static void put_name(FILE *out, const cli_item *item) {
    put_text(out, item->name.len ? item->name : dx_str("(no name)"));
}

static void put_id(FILE *out, const cli_item *item) {
    if (!item->id.len)
        return;
    fputs(" (id ", out);
    put_text(out, item->id);
    putc(')', out);
}

/* "error -32601 Method not found". */
static void put_error(FILE *out, const cli_item *item) {
    dx_text error = dx_rpc_member(item->text, dx_str("error"));
    dx_text code = error.at ? dx_rpc_member(error, dx_str("code")) : error;
    dx_text message = error.at ? dx_rpc_member(error, dx_str("message")) : error;
    fputs("error", out);
    if (code.at) {
        putc(' ', out);
        put_text(out, code);
    }
    if (message.at) {
        putc(' ', out);
        put_text(out, message);
    }
}

static void put_answer(FILE *out, const cli_item *item) {
    bool is_error = item->kind == CLI_ITEM_ERROR;
    put_arrow(out, item, is_error ? "--x" : "-->>");
    if (item->has_about) {
        put_name(out, item);
        fputs("#58; ", out);
    }
    if (is_error)
        put_error(out, item);
    else
        fputs("result", out);
    put_id(out, item);
    if (item->has_about)
        fprintf(out, ", %.1f ms", (double)(item->time_us - item->about_us) / 1000);
}

static void put_note(FILE *out, const cli_item *item, const char *what) {
    fprintf(out, "    Note over p%llu: %s", (unsigned long long)item->lane->number, what);
    if (item->kind == CLI_ITEM_EVENT) {
        put_text(out, item->name.len ? item->name : dx_str("event"));
    } else {
        fputs("#58; ", out);
        put_text(out, item->text);
    }
}

/* What is of no conversation. */
static void put_outside(FILE *out, const cli_item *item) {
    fputs("    Note over h: ", out);
    if (item->kind == CLI_ITEM_DROPPED)
        fprintf(out, "%llu records are missing here", (unsigned long long)item->count);
    else
        put_text(out, item->text);
    putc('\n', out);
}

static void put(void *user, const cli_item *item) {
    FILE *out = user;
    if (!item->lane) {
        put_outside(out, item);
        return;
    }
    put_participant(out, item->lane);
    switch (item->kind) {
    case CLI_ITEM_REQUEST:
        put_arrow(out, item, "->>");
        put_name(out, item);
        put_id(out, item);
        break;
    case CLI_ITEM_NOTIFICATION:
        put_arrow(out, item, "-)");
        put_name(out, item);
        break;
    case CLI_ITEM_RESULT:
    case CLI_ITEM_ERROR:
        put_answer(out, item);
        break;
    case CLI_ITEM_JUNK:
        put_note(out, item, "not a message");
        break;
    case CLI_ITEM_BROKEN:
        put_note(out, item, "broken");
        break;
    case CLI_ITEM_STRAY:
        put_note(out, item, "stray");
        break;
    case CLI_ITEM_STDERR:
        put_note(out, item, "stderr");
        break;
    case CLI_ITEM_EVENT:
        put_note(out, item, "");
        break;
    case CLI_ITEM_DROPPED:
    case CLI_ITEM_UNREAD:
        break;
    }
    putc('\n', out);
}

void cli_mermaid_begin(FILE *out) {
    fputs("sequenceDiagram\n    participant h as host\n", out);
}

cli_sink cli_mermaid_sink(FILE *out) {
    return (cli_sink){.put = put, .user = out};
}

void cli_mermaid_finish(FILE *out, const cli_story *story) {
    if (story->left_by_max)
        fprintf(out, "    Note over h: %llu more not shown\n",
                (unsigned long long)story->left_by_max);
}
