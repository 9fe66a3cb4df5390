/* What the other side was recorded to say, and what it says. */
#include "cli/replay/replay.h"

#include "cli/replay/batch.h"
#include "cli/say.h"
#include "cli/wait.h"

#include <string.h>

/* How long something may come that fits better than what is there; how many messages with the same
 * name are compared; after how many messages of ours something that came is given up. */
enum { SETTLE_MS = 100, TRIES = 16, AGE_MAX = 32 };

static bool is_skipped(const struct replay *replay, dx_text method) {
    const cli_list *skip = &replay->options->skip;
    for (size_t i = 0; i < skip->count; i++)
        if (dx_text_is(method, skip->at[i]))
            return true;
    return false;
}

static bool counts(const struct replay *replay, const replay_item *item) {
    char room[REPLAY_METHOD_MAX];
    if (item->kind == REPLAY_NOTICE &&
        is_skipped(replay, replay_method(replay_item_text(item), &item->parts, room)))
        return false;
    if (replay->options->strict || item->kind < REPLAY_BROKEN)
        return true;
    /* Between lines of JSON, text is a log; where bytes are counted, it is a message gone wrong. */
    return item->kind == REPLAY_BROKEN && cli_wire_framing(replay->wire) == DX_FRAMING_HEADER;
}

/* Comparing. */

/* What `was` looks like with the ids of now. False: no memory. */
static bool text_now(const struct replay *replay, const replay_item *was, const replay_item *is,
                     dx_buf *room, dx_text *ret_text) {
    replay_now now = replay_ids_theirs(&replay->ids, was, is, room);
    *ret_text = now == REPLAY_NOW_OTHER ? (dx_text){room->data, room->len} : replay_item_text(was);
    return now != REPLAY_NOW_NO_MEMORY;
}

static bool compare(const struct replay *replay, const replay_item *was, const replay_item *is,
                    size_t max, replay_diff *diff) {
    dx_buf rooms[2];
    dx_text texts[2];
    dx_buf_init(&rooms[0], SIZE_MAX / 2, NULL);
    dx_buf_init(&rooms[1], SIZE_MAX / 2, NULL);
    bool good = text_now(replay, was, is, &rooms[0], &texts[0]);
    good = replay_batch_in_order(replay->seed, was, is, &rooms[1], &texts[1]) && good;
    bool same = replay_diff_make(diff, &replay->options->ignore, texts[0], texts[1], max);
    dx_buf_done(&rooms[0]);
    dx_buf_done(&rooms[1]);
    return good && same;
}

static bool is_same(const struct replay *replay, const replay_item *was, const replay_item *is) {
    replay_diff diff;
    if (was->whole == is->whole && !replay_ids_matter(&replay->ids, was))
        return true;
    if (was->kind >= REPLAY_BROKEN)
        return false;
    bool same = compare(replay, was, is, 1, &diff);
    replay_diff_done(&diff);
    return same;
}

/* The same bytes, but for the id of a request? */
static bool has_same_form(const struct replay *replay, const replay_item *was,
                          const replay_item *is) {
    dx_buf room;
    dx_text text;
    dx_slice none = {0, 0};
    if (was->whole == is->whole)
        return true;
    dx_buf_init(&room, SIZE_MAX / 2, NULL);
    bool is_request = was->kind == REPLAY_REQUEST && is->kind == REPLAY_REQUEST;
    /* What is replaced stands in the params; their ids may lie before or behind. */
    bool same = text_now(replay, was, is, &room, &text);
    dx_message parts = was->parts;
    if (same && is_request)
        dx_rpc_scan(text, DX_DEPTH_MAX, DX_LENIENT_NO_VERSION | DX_LENIENT_ID_ANY, &parts);
    same = same && replay_hash_without(replay->seed, text, is_request ? parts.id : none) ==
                       replay_hash_without(replay->seed, replay_item_text(is),
                                           is_request ? is->parts.id : none);
    dx_buf_done(&room);
    return same;
}

static void judge(struct replay *replay, const replay_item *was, const replay_item *is) {
    replay_diff diff;
    if (was->any || (was->whole == is->whole && !replay_ids_matter(&replay->ids, was))) {
        replay->report.matched++;
        return;
    }
    bool same = compare(replay, was, is, REPLAY_CHANGES_MAX, &diff) && was->kind < REPLAY_BROKEN;
    if (!same)
        replay_tell_different(&replay->report, was, is, &diff);
    else if (replay->options->strict && !diff.passed_over && !has_same_form(replay, was, is))
        replay_tell_form(&replay->report, was, is);
    else
        replay->report.matched++;
    replay_diff_done(&diff);
}

/* If one comes early, all that it was recorded behind come late: that is told once. */
static void tell_order(struct replay *replay, const replay_item *was, const replay_item *is) {
    replay->report.reordered++;
    if (replay->told_order == is->newest)
        return;
    replay->told_order = is->newest;
    replay_tell_order(&replay->report, was, !replay->options->strict);
}

/* It came: `is` belongs to the caller. */
static void resolve(struct replay *replay, replay_item *was, const replay_item *is) {
    char room[REPLAY_METHOD_MAX];
    uint64_t index = was->place.index;
    replay->moved_us = dx_recorder_now_us();
    if (!replay->zero_us)
        replay->zero_us = replay->moved_us;
    judge(replay, was, is);
    if (index < is->newest)
        tell_order(replay, was, is);
    else if (index >= replay->newest)
        replay->newest = index + 1;
    if (!replay_ids_learn(&replay->ids, was, is))
        replay_fail(replay, CLI_NO_START, "out of memory");
    if (was->kind == REPLAY_NOTICE && replay->facts->stop_notify)
        replay->told_to_leave |= dx_text_is(replay_method(replay_item_text(was), &was->parts, room),
                                            replay->facts->stop_notify);
    replay_items_close(&replay->expected, was);
}

/* What we asked. */

void replay_asked(struct replay *replay, dx_text text, const dx_message *parts) {
    char room[REPLAY_METHOD_MAX];
    dx_text id = replay_part(text, parts->id);
    dx_text method = replay_method(text, parts, room);
    uint64_t name = replay_answer_name(replay->seed, id);
    replay_ids_sent(&replay->ids, id);
    for (size_t i = 0; i < replay->expected.count; i++) {
        replay_item *item = replay_items_at(&replay->expected, i);
        if (item->name != name || item->kind != REPLAY_ANSWER || item->done || item->asked)
            continue;
        item->asked = true;
        item->any = is_skipped(replay, method);
        snprintf(item->method, sizeof item->method, "%.*s",
                 (int)(method.len < sizeof item->method ? method.len : sizeof item->method - 1),
                 method.at);
        return;
    }
    if (replay->open_count == REPLAY_OPEN_MAX) {
        replay->open_first = (replay->open_first + 1) % REPLAY_OPEN_MAX;
        replay->open_count--;
    }
    replay_open *open =
        &replay->open[(replay->open_first + replay->open_count++) % REPLAY_OPEN_MAX];
    open->name = name;
    open->any = is_skipped(replay, method);
    snprintf(open->method, sizeof open->method, "%.*s",
             (int)(method.len < sizeof open->method ? method.len : sizeof open->method - 1),
             method.at);
}

/* Did we send a request whose answer with that name is not in sight? */
static bool is_open(const struct replay *replay, uint64_t name) {
    for (size_t i = 0; i < replay->open_count; i++)
        if (replay->open[(replay->open_first + i) % REPLAY_OPEN_MAX].name == name)
            return true;
    return false;
}

/* Was it asked for already? */
static void find_question(struct replay *replay, replay_item *answer) {
    for (size_t i = 0; i < replay->open_count; i++) {
        replay_open *open = &replay->open[(replay->open_first + i) % REPLAY_OPEN_MAX];
        if (open->name != answer->name)
            continue;
        answer->asked = true;
        answer->any = open->any;
        memcpy(answer->method, open->method, sizeof open->method);
        open->name = 0;
        break;
    }
    while (replay->open_count && !replay->open[replay->open_first].name) {
        replay->open_first = (replay->open_first + 1) % REPLAY_OPEN_MAX;
        replay->open_count--;
    }
}

/* What was recorded. */

static replay_item *find_early(struct replay *replay, const replay_item *was) {
    size_t tries = 0;
    for (size_t i = 0; i < replay->arrived.count && tries < TRIES; i++) {
        replay_item *item = replay_items_at(&replay->arrived, i);
        if (item->done || item->name != was->name)
            continue;
        tries++;
        if (was->kind == REPLAY_ANSWER || is_same(replay, was, item))
            return item;
    }
    return NULL;
}

static void expect(struct replay *replay, const dx_trace_record *record,
                   const replay_place *place) {
    replay_item item;
    if (!replay_item_make(&item, replay->seed, record->kind, record->text)) {
        replay_fail(replay, CLI_NO_START, "out of memory");
        return;
    }
    if (!counts(replay, &item)) {
        replay_item_free(&item);
        return;
    }
    item.place = *place;
    replay->report.expected++;
    if (item.kind == REPLAY_ANSWER) {
        find_question(replay, &item);
        /* What could not be read is answered so: whatever that was, it was said before. */
        item.asked |= dx_text_is(replay_part(record->text, item.parts.id), "null");
    }
    replay_item *was = replay_items_add(&replay->expected, &item);
    replay_item *is = find_early(replay, was);
    if (is) {
        resolve(replay, was, is);
        replay_items_close(&replay->arrived, is);
    }
}

void replay_fill(struct replay *replay) {
    dx_trace_record record;
    replay_place place;
    while (!replay->ahead_ended && !replay->over && replay->expected.count < REPLAY_AHEAD &&
           replay->expected.bytes < REPLAY_AHEAD_BYTES) {
        if (!replay_tape_next(&replay->ahead, &record, &place)) {
            replay->ahead_ended = true;
            if (replay->ahead.code != CLI_OK) {
                replay->over = true;
                replay->code = replay->ahead.code;
            }
        } else if ((int)record.from != (int)replay->side) {
            expect(replay, &record, &place);
        }
    }
}

bool replay_waits(const struct replay *replay, uint64_t index, bool all) {
    for (size_t i = 0; i < replay->expected.count; i++) {
        const replay_item *item = replay_items_at(&replay->expected, i);
        if (item->place.index >= index)
            return false;
        if (!item->done && (all || item->kind != REPLAY_ANSWER || item->asked))
            return true;
    }
    return !replay->ahead_ended && replay->ahead.index <= index;
}

bool replay_is_passed(const struct replay *replay, uint64_t index) {
    for (size_t i = 0; i < replay->expected.count; i++) {
        const replay_item *item = replay_items_at(&replay->expected, i);
        if (item->place.index >= index)
            break;
        if (!item->done && (item->kind > REPLAY_NOTICE || item->place.index >= replay->newest))
            return false;
    }
    return true;
}

void replay_give_up(struct replay *replay, uint64_t index, bool all) {
    for (size_t i = 0; i < replay->expected.count;) {
        replay_item *item = replay_items_at(&replay->expected, i);
        if (item->place.index >= index)
            return;
        if (item->done || (!all && item->kind == REPLAY_ANSWER && !item->asked)) {
            i++;
            continue;
        }
        replay_tell_missing(&replay->report, item);
        if (!replay_ids_learn(&replay->ids, item, NULL))
            replay_fail(replay, CLI_NO_START, "out of memory");
        replay_items_close(&replay->expected, item);
        i = 0; /* what is done in front is gone */
    }
}

/* What came. */

static replay_item *find_expected(struct replay *replay, const replay_item *is) {
    size_t tries = 0;
    bool has_name = false;
    for (size_t i = 0; i < replay->expected.count; i++) {
        replay_item *item = replay_items_at(&replay->expected, i);
        if (item->done || item->name != is->name)
            continue;
        if (is->kind == REPLAY_ANSWER ||
            (item->whole == is->whole && !replay_ids_matter(&replay->ids, item)))
            return item;
        has_name = true;
    }
    for (size_t i = 0; has_name && i < replay->expected.count && tries < TRIES; i++) {
        replay_item *item = replay_items_at(&replay->expected, i);
        if (item->done || item->name != is->name)
            continue;
        tries++;
        if (is_same(replay, item, is))
            return item;
    }
    return NULL;
}

/* May it still be found? An answer was asked for when it came. */
static bool may_be_found(const struct replay *replay, const replay_item *is) {
    if (is->kind == REPLAY_ANSWER)
        return !replay->ahead_ended;
    for (size_t i = 0; i < replay->expected.count; i++) {
        const replay_item *item = replay_items_at(&replay->expected, i);
        if (!item->done && item->name == is->name)
            return true;
    }
    return false;
}

/* Who asks something that was not recorded would wait for ever. */
static void refuse(struct replay *replay, const replay_item *is) {
    static const char why[] = "\"not in the recording\"";
    dx_buf text;
    dx_buf_init(&text, SIZE_MAX / 2, NULL);
    dx_status status =
        dx_rpc_write_error(&text, replay_part(replay_item_text(is), is->parts.id), DX_CODE_METHOD,
                           (dx_text){NULL, 0}, dx_json_text(why, sizeof why - 1));
    if (status == DX_OK && !replay->finished)
        (void)cli_wire_say(replay->wire, (dx_text){text.data, text.len});
    dx_buf_done(&text);
}

static void tell_unexpected(struct replay *replay, const replay_item *is) {
    replay_tell_unexpected(&replay->report, is, &replay->last);
    if (is->kind == REPLAY_REQUEST)
        refuse(replay, is);
}

void replay_hear(struct replay *replay, dx_trace_kind kind, dx_text text) {
    replay_item item;
    if (!replay_item_make(&item, replay->seed, kind, text)) {
        replay_fail(replay, CLI_NO_START, "out of memory");
        return;
    }
    item.came_ms = cli_now();
    item.sent = replay->report.sent;
    item.newest = replay->newest;
    if (replay->expected.count < REPLAY_AHEAD / 2)
        replay_fill(replay);
    replay_item *was = counts(replay, &item) ? find_expected(replay, &item) : NULL;
    if (was) {
        resolve(replay, was, &item);
    } else if (counts(replay, &item)) {
        bool asked = item.kind != REPLAY_ANSWER || is_open(replay, item.name);
        if (replay->arrived.count < REPLAY_ITEMS_MAX && asked && may_be_found(replay, &item)) {
            replay_items_add(&replay->arrived, &item);
            replay_look_at_room(replay);
            return;
        }
        tell_unexpected(replay, &item);
    }
    replay_item_free(&item);
}

static bool is_full(const struct replay *replay) {
    return replay->arrived.count >= REPLAY_AHEAD || replay->arrived.bytes >= REPLAY_AHEAD_BYTES;
}

void replay_look_at_room(struct replay *replay) {
    for (size_t i = 0; is_full(replay) && i < replay->arrived.count;) {
        replay_item *item = replay_items_at(&replay->arrived, i);
        if (item->done || item->kind == REPLAY_ANSWER) {
            i++;
            continue;
        }
        tell_unexpected(replay, item);
        replay_items_close(&replay->arrived, item);
        i = 0; /* what is done in front is gone */
    }
    if (is_full(replay) != replay->paused && !replay->over)
        cli_wire_pause(replay->wire, is_full(replay));
    replay->paused = is_full(replay);
}

static replay_item *find_candidate(const struct replay *replay, const replay_item *was) {
    for (size_t i = 0; i < replay->arrived.count; i++) {
        replay_item *item = replay_items_at(&replay->arrived, i);
        if (!item->done && item->name == was->name)
            return item;
    }
    return NULL;
}

uint64_t replay_settle(struct replay *replay, uint64_t index, uint64_t now_ms) {
    uint64_t next = DX_NEVER;
    size_t i = 0;
    while (replay->arrived.count && i < replay->expected.count) {
        replay_item *was = replay_items_at(&replay->expected, i);
        bool is_due = was->place.index < index || was->kind == REPLAY_REQUEST;
        replay_item *is = was->done || !is_due ? NULL : find_candidate(replay, was);
        uint64_t moved_ms = replay->moved_us / 1000; /* before that, nobody could answer it */
        uint64_t at = is ? (is->came_ms > moved_ms ? is->came_ms : moved_ms) + SETTLE_MS : 0;
        if (is && (now_ms >= at || replay->closed)) {
            resolve(replay, was, is);
            replay_items_close(&replay->arrived, is);
            i = 0; /* what is done in front is gone */
            continue;
        }
        if (is && at < next)
            next = at;
        i++;
    }
    return next;
}

void replay_sweep(struct replay *replay, bool all) {
    for (size_t i = 0; i < replay->arrived.count;) {
        replay_item *item = replay_items_at(&replay->arrived, i);
        bool aged = item->kind != REPLAY_ANSWER && replay->report.sent - item->sent > AGE_MAX;
        if (item->done || (!all && !aged && may_be_found(replay, item))) {
            i++;
            continue;
        }
        tell_unexpected(replay, item);
        replay_items_close(&replay->arrived, item);
        i = 0;
    }
}
