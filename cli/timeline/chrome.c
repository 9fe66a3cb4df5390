/* A conversation is a process, each of its sides a thread. A message is a slice of a microsecond on
 * the thread of whoever sent it; a request is an asynchronous slice from question to answer, with
 * an arrow from the one message to the other. */
#include "cli/timeline/chrome.h"

#include "cli/timeline/quote.h"

#include <string.h>

enum { ID_SHOWN = 200 };

static const char *const categories[] = {
    [CLI_ITEM_REQUEST] = "request", [CLI_ITEM_NOTIFICATION] = "notification",
    [CLI_ITEM_RESULT] = "result",   [CLI_ITEM_ERROR] = "error",
    [CLI_ITEM_JUNK] = "no message", [CLI_ITEM_BROKEN] = "broken",
    [CLI_ITEM_STRAY] = "stray",     [CLI_ITEM_STDERR] = "stderr",
    [CLI_ITEM_EVENT] = "event",     [CLI_ITEM_DROPPED] = "dropped",
    [CLI_ITEM_UNREAD] = "unread",
};

/* The process; 0 is that of what belongs to no conversation. */
static unsigned long long process_of(const cli_lane *lane) {
    return lane ? lane->number + 1 : 0;
}

/* Begins an event; the caller goes on with more members and closes it. */
static void begin(cli_chrome *chrome, const char *phase, const char *category, dx_text name) {
    FILE *out = chrome->out;
    fprintf(out, "%s{\"ph\":\"%s\",\"cat\":\"%s\",\"name\":", chrome->has_any ? ",\n" : "\n", phase,
            category);
    cli_quote(out, name.at ? name : dx_str(category));
    chrome->has_any = true;
}

static void put_place(cli_chrome *chrome, const cli_lane *lane, int side, int64_t time_us) {
    fprintf(chrome->out, ",\"pid\":%llu,\"tid\":%d,\"ts\":%lld", process_of(lane), side,
            (long long)time_us);
}

static void put_args(cli_chrome *chrome, const cli_item *item) {
    FILE *out = chrome->out;
    dx_text text = cli_cut(item->text, chrome->text_max);
    fprintf(out, ",\"args\":{\"bytes\":%llu", (unsigned long long)item->bytes);
    if (item->id.at) {
        fputs(",\"id\":", out);
        cli_quote(out, cli_cut(item->id, ID_SHOWN));
    }
    if (item->kind == CLI_ITEM_DROPPED)
        fprintf(out, ",\"count\":%llu", (unsigned long long)item->count);
    if (text.at) {
        fputs(",\"text\":", out);
        cli_quote(out, text);
    }
    if (text.len < item->text.len)
        fprintf(out, ",\"length\":%zu", item->text.len);
    fputs("}}", out);
}

static void put_meta(cli_chrome *chrome, const cli_lane *lane, int side, const char *what) {
    fprintf(chrome->out,
            "%s{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%llu,\"tid\":%d,\"args\":{\"name\":",
            chrome->has_any ? ",\n" : "\n", what, process_of(lane), side);
    chrome->has_any = true;
}

static void put_lane(cli_chrome *chrome, cli_lane *lane) {
    static const char *const sides[] = {"events", "host", "plugin"};
    FILE *out = chrome->out;
    if (lane->told)
        return;
    lane->told = true;
    put_meta(chrome, lane, 0, "process_name");
    /* A peer's name is kept in 200 bytes. */
    char name[240] = "plugin";
    size_t len = lane->peer.len ? lane->peer.len : strlen(name);
    if (lane->peer.len)
        memcpy(name, lane->peer.at, len);
    if (lane->run)
        len +=
            (size_t)snprintf(name + len, sizeof name - len, "/%llu", (unsigned long long)lane->run);
    cli_quote(out, (dx_text){name, len});
    fputs("}}", out);
    for (int side = 0; side < 3; side++) {
        put_meta(chrome, lane, side, "thread_name");
        fprintf(out, "\"%s\"}}", sides[side]);
    }
}

/* One phase of a request: its slice ("b", "n", "e") and its arrow ("s", "f"). */
static void put_phase(cli_chrome *chrome, const char *phase, const cli_item *item, uint64_t number,
                      int side, int64_t time_us) {
    begin(chrome, phase, "call", item->name);
    put_place(chrome, item->lane, side, time_us);
    fprintf(chrome->out, ",\"id\":%llu%s}", (unsigned long long)number,
            *phase == 'f' ? ",\"bp\":\"e\"" : "");
}

static int other(dx_trace_from from) {
    return from == DX_TRACE_HOST ? DX_TRACE_PLUGIN : DX_TRACE_HOST;
}

static void put_message(cli_chrome *chrome, const cli_item *item) {
    begin(chrome, "X", categories[item->kind], item->name);
    put_place(chrome, item->lane, (int)item->from, item->time_us);
    fputs(",\"dur\":1", chrome->out);
    put_args(chrome, item);
    /* A slice that ends before it begins is none. */
    int64_t time_us =
        item->has_about && item->time_us < item->about_us ? item->about_us : item->time_us;
    if (item->kind == CLI_ITEM_REQUEST) {
        put_phase(chrome, "b", item, item->number, (int)item->from, time_us);
        put_phase(chrome, "s", item, item->number, (int)item->from, time_us);
    } else if (item->kind == CLI_ITEM_NOTIFICATION && item->has_about) {
        put_phase(chrome, "n", item, item->about, (int)item->from, time_us);
    } else if (item->has_about) {
        put_phase(chrome, "f", item, item->about, (int)item->from, time_us);
        put_phase(chrome, "e", item, item->about, other(item->from), time_us);
    }
}

static void put(void *user, const cli_item *item) {
    cli_chrome *chrome = user;
    if (item->lane)
        put_lane(chrome, item->lane);
    if (item->kind <= CLI_ITEM_ERROR) {
        put_message(chrome, item);
        return;
    }
    begin(chrome, "i", categories[item->kind], item->name);
    put_place(chrome, item->lane, (int)item->from, item->time_us);
    fprintf(chrome->out, ",\"s\":\"%s\"",
            !item->lane                    ? "g"
            : item->kind == CLI_ITEM_EVENT ? "p"
                                           : "t");
    put_args(chrome, item);
}

void cli_chrome_begin(cli_chrome *chrome) {
    fputs("{\"traceEvents\":[", chrome->out);
}

cli_sink cli_chrome_sink(cli_chrome *chrome) {
    return (cli_sink){.put = put, .user = chrome};
}

void cli_chrome_finish(cli_chrome *chrome, const cli_story *story) {
    unsigned long long left = story->left_by_time + story->left_by_max;
    fprintf(chrome->out,
            "\n],\"displayTimeUnit\":\"ms\",\"otherData\":{\"messages\":%llu,\"left\":%llu}}\n",
            (unsigned long long)story->messages, left);
}
