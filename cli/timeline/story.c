#include "cli/timeline/story.h"

#include "cli/timeline/quote.h"

#include <duplex/rpc.h>

#include <stdlib.h>
#include <string.h>

/* So much of a name is kept (that of a request, until its answer comes); how deep a message may be
 * nested; the latest time, in microseconds, and the longest way between two traces, in ms: sums and
 * differences of them are exact in the numbers of a browser. */
enum { NAME_MAX_KEPT = 120, DEPTH_MAX = DX_DEPTH_MAX };
#define TIME_MAX (INT64_C(1) << 52)
#define SHIFT_MAX (UINT64_C(1) << 42)
/* The number of a request that is left out. */
#define LEFT_OUT SIZE_MAX

/* What is read of a message, whoever wrote it: a picture judges nobody. */
enum {
    LENIENT =
        DX_LENIENT_NO_VERSION | DX_LENIENT_NULL_PARAMS | DX_LENIENT_ID_ANY | DX_LENIENT_LAST_MEMBER
};

/* Ways to cancel. */

static void know(cli_story *story, dx_text method, dx_text id) {
    cli_cancelling one;
    if (!method.len || !id.len || method.len >= sizeof one.method || id.len >= sizeof one.id ||
        story->cancelling_count == CLI_CANCELLINGS_MAX)
        return;
    one = (cli_cancelling){.method = ""};
    memcpy(one.method, method.at, method.len);
    memcpy(one.id, id.at, id.len);
    for (size_t i = 0; i < story->cancelling_count; i++)
        if (memcmp(&story->cancellings[i], &one, sizeof one) == 0)
            return;
    story->cancellings[story->cancelling_count++] = one;
}

void cli_story_knows(cli_story *story, const dx_protocol *protocol) {
    const dx_protocol_facts *facts = dx_protocol_facts_of(protocol);
    if (facts->cancel_method && facts->cancel_id)
        know(story, dx_str(facts->cancel_method), dx_str(facts->cancel_id));
}

/* The characters of a string that has no escapes; absent if it is none. */
static dx_text plain(dx_text string) {
    if (string.len < 2 || string.at[0] != '"' || memchr(string.at, '\\', string.len))
        return (dx_text){NULL, 0};
    return (dx_text){string.at + 1, string.len - 2};
}

/* Compiling all documents for these two words would take longer than most traces do. */
static void know_builtins(cli_story *story) {
    for (size_t i = 0; dx_protocol_builtin(i); i++) {
        dx_text facts = dx_rpc_member(dx_protocol_builtin_document(i), dx_str("x-duplex"));
        dx_text cancel = facts.at ? dx_rpc_member(facts, dx_str("cancel")) : facts;
        if (cancel.at)
            know(story, plain(dx_rpc_member(cancel, dx_str("method"))),
                 plain(dx_rpc_member(cancel, dx_str("id"))));
    }
}

void cli_story_init(cli_story *story) {
    *story = (cli_story){.to_us = INT64_MAX, .max = UINT64_MAX};
    cli_lanes_init(&story->lanes);
    know_builtins(story);
}

void cli_story_done(cli_story *story) {
    cli_lanes_done(&story->lanes);
}

/* Items. */

static bool is_kept(cli_story *story, const cli_item *item) {
    if (item->time_us < story->from_us || item->time_us > story->to_us) {
        story->left_by_time++;
        return false;
    }
    if (story->shown >= story->max) {
        story->left_by_max++;
        return false;
    }
    return true;
}

static void put(cli_story *story, cli_item *item) {
    item->number = story->shown++;
    story->sink.put(story->sink.user, item);
}

static void put_if_kept(cli_story *story, cli_item *item) {
    if (is_kept(story, item))
        put(story, item);
}

static dx_side other(dx_trace_from from) {
    return from == DX_TRACE_HOST ? DX_SIDE_PLUGIN : DX_SIDE_HOST;
}

/* Of two open requests with one id, the later one gets the answer: nobody can say which is meant,
 * and this way each of them has at most one. */
static void take_request(cli_story *story, cli_asking *asking, cli_item *item) {
    char room[CLI_ID_MAX];
    dx_text key;
    bool kept = is_kept(story, item);
    if (cli_asked_key(item->id, room, &key)) {
        dx_side from = (dx_side)item->from;
        cli_asked *asked = cli_asked_find(asking, from, key);
        if (asked)
            cli_asked_close(asking, asked);
        asked = cli_asked_add(asking, from, key, item->name);
        if (asked)
            asked->place = (cli_place){.file = kept ? (size_t)story->shown : LEFT_OUT,
                                       .time_us = (uint64_t)item->time_us};
    }
    if (kept)
        put(story, item);
}

static void take_answer(cli_story *story, cli_asking *asking, cli_item *item) {
    char room[CLI_ID_MAX];
    dx_text key;
    unsigned lenient;
    cli_asked *asked = NULL;
    if (cli_asked_key(item->id, room, &key)) {
        asked = cli_asked_find(asking, other(item->from), key);
        if (!asked)
            asked = cli_asked_alike(asking, other(item->from), key, &lenient);
    }
    if (!asked) {
        put_if_kept(story, item);
        return;
    }
    item->name = cli_asked_method(asked);
    item->has_about = true;
    item->about = asked->place.file;
    item->about_us = (int64_t)asked->place.time_us;
    bool by_time = item->about_us < story->from_us || item->about_us > story->to_us;
    if (item->about != LEFT_OUT)
        put(story, item);
    else
        ++*(by_time ? &story->left_by_time : &story->left_by_max);
    item->name = (dx_text){NULL, 0};
    cli_asked_close(asking, asked);
}

/* What a notification cancels; absent if it does not. */
static dx_text cancelled_by(const cli_story *story, dx_text method, dx_text params) {
    for (size_t i = 0; params.at && i < story->cancelling_count; i++) {
        const cli_cancelling *one = &story->cancellings[i];
        dx_text id = dx_text_is(method, one->method) ? dx_rpc_member(params, dx_str(one->id))
                                                     : (dx_text){NULL, 0};
        if (id.at)
            return id;
    }
    return (dx_text){NULL, 0};
}

/* Who asked may cancel; in some protocols, who has to answer may, too. */
static void take_notification(cli_story *story, cli_asking *asking, cli_item *item,
                              dx_text params) {
    char room[CLI_ID_MAX];
    dx_text key;
    dx_text id = cancelled_by(story, item->name, params);
    if (id.at && cli_asked_key(id, room, &key)) {
        const cli_asked *asked = cli_asked_find(asking, (dx_side)item->from, key);
        if (!asked)
            asked = cli_asked_find(asking, other(item->from), key);
        if (asked && asked->place.file != LEFT_OUT) {
            item->has_about = true;
            item->about = asked->place.file;
            item->about_us = (int64_t)asked->place.time_us;
        }
    }
    put_if_kept(story, item);
}

/* Messages. */

static dx_text part_of(dx_text text, dx_slice slice) {
    return slice.len ? (dx_text){text.at + slice.at, slice.len} : (dx_text){NULL, 0};
}

static bool take_message(cli_story *story, cli_asking *asking, cli_item *item, dx_text whole,
                         const dx_message *message) {
    dx_text quoted = part_of(whole, message->method);
    char *room = message->escaped && quoted.at ? malloc(quoted.len + 1) : NULL;
    if (message->escaped && quoted.at && !room)
        return false;
    if (quoted.len >= 2 && quoted.at[0] == '"')
        item->name = (dx_text){quoted.at + 1, quoted.len - 2};
    /* A lone surrogate has no characters: then the escapes are the name. */
    dx_text characters;
    if (room && item->name.at && dx_rpc_string(quoted, room, &characters) == DX_OK)
        item->name = characters;
    item->name = cli_cut(item->name, NAME_MAX_KEPT);
    item->id = part_of(whole, message->id);
    item->kind = message->kind == DX_KIND_REQUEST        ? CLI_ITEM_REQUEST
                 : message->kind == DX_KIND_NOTIFICATION ? CLI_ITEM_NOTIFICATION
                 : message->kind != DX_KIND_RESPONSE     ? CLI_ITEM_JUNK
                 : message->error.len                    ? CLI_ITEM_ERROR
                                                         : CLI_ITEM_RESULT;
    if (item->kind == CLI_ITEM_REQUEST)
        take_request(story, asking, item);
    else if (item->kind == CLI_ITEM_NOTIFICATION)
        take_notification(story, asking, item, part_of(whole, message->params));
    else if (item->kind == CLI_ITEM_JUNK)
        put_if_kept(story, item);
    else
        take_answer(story, asking, item);
    free(room);
    return true;
}

/* Each message of a batch is an item of its own; the first one has the bytes. */
static bool take_text(cli_story *story, cli_asking *asking, const cli_item *blank) {
    dx_message message;
    dx_message element;
    uint32_t cursor = 0;
    bool is_empty = true;
    cli_item item = *blank;
    dx_rpc_scan(blank->text, DEPTH_MAX, LENIENT, &message);
    if (message.kind != DX_KIND_BATCH || message.fault != DX_FAULT_NONE)
        return take_message(story, asking, &item, blank->text, &message);
    while (dx_rpc_element(blank->text, &message, DEPTH_MAX, LENIENT, &cursor, &element) == DX_OK) {
        uint64_t bytes = item.bytes;
        is_empty = false;
        item = *blank;
        item.text = part_of(blank->text, element.body);
        item.bytes = bytes;
        if (!take_message(story, asking, &item, blank->text, &element))
            return false;
        item.bytes = 0;
    }
    if (is_empty)
        put_if_kept(story, &item);
    return true;
}

/* Records. */

/* A header: parts of a trace follow each other, or another trace begins. */
static void take_header(cli_story *story, const dx_trace_record *record) {
    uint64_t part = record->count ? record->count : 1;
    bool goes_on = story->part && story->unix_ms == record->unix_ms && part > 1;
    bool is_first = !story->part && !story->messages;
    if (is_first) {
        story->first_unix_ms = record->unix_ms;
    } else if (!goes_on) {
        uint64_t one = story->first_unix_ms;
        uint64_t two = record->unix_ms;
        uint64_t apart = one < two ? two - one : one - two;
        if (apart > SHIFT_MAX)
            apart = SHIFT_MAX;
        story->trace++;
        story->shift_us = !one || !two ? story->last_us
                          : one < two  ? (int64_t)apart * 1000
                                       : -(int64_t)apart * 1000;
        cli_lanes_end(&story->lanes);
    }
    story->part = part;
    story->unix_ms = record->unix_ms;
}

static int64_t time_of(cli_story *story, uint64_t time_us) {
    int64_t time = time_us < (uint64_t)TIME_MAX ? (int64_t)time_us : TIME_MAX;
    time += story->shift_us;
    if (time > TIME_MAX)
        time = TIME_MAX;
    if (time > story->last_us)
        story->last_us = time;
    story->now_us = time;
    return time;
}

static cli_item_kind kind_of(dx_trace_kind kind) {
    switch (kind) {
    case DX_TRACE_BROKEN:
        return CLI_ITEM_BROKEN;
    case DX_TRACE_STRAY:
        return CLI_ITEM_STRAY;
    case DX_TRACE_STDERR:
        return CLI_ITEM_STDERR;
    case DX_TRACE_EVENT:
        return CLI_ITEM_EVENT;
    case DX_TRACE_DROPPED:
        return CLI_ITEM_DROPPED;
    default:
        return CLI_ITEM_JUNK;
    }
}

bool cli_story_take(cli_story *story, const dx_trace_record *record) {
    if (record->kind == DX_TRACE_HEADER) {
        take_header(story, record);
        return true;
    }
    bool is_message = record->kind == DX_TRACE_MESSAGE;
    cli_item item = {.kind = kind_of(record->kind),
                     .from = record->from,
                     .time_us = time_of(story, record->time_us),
                     .name = cli_cut(record->event, NAME_MAX_KEPT),
                     .text = record->text,
                     .bytes = record->bytes,
                     .count = record->count,
                     .is_json = is_message || record->kind == DX_TRACE_EVENT};
    cli_strand *strand = NULL;
    if (record->kind != DX_TRACE_DROPPED) {
        strand = cli_lanes_get(&story->lanes, story->trace, record->peer, record->run);
        if (!strand)
            return false;
        item.lane = &strand->lane;
    }
    story->messages += is_message;
    if (is_message)
        return take_text(story, &strand->asking, &item);
    put_if_kept(story, &item);
    return true;
}

void cli_story_unread(cli_story *story, const dx_error *error) {
    cli_item item = {
        .kind = CLI_ITEM_UNREAD, .time_us = story->now_us, .text = dx_str(error->phrase)};
    put_if_kept(story, &item);
}
