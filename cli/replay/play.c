/* A play from its beginning to its end. */
#include "cli/replay/replay.h"

#include "cli/lint/keys.h"
#include "cli/record.h"
#include "cli/say.h"
#include "cli/subreaper.h"
#include "cli/wait.h"
#include "cli/waiting.h"

#include "base/line.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* How much may wait for the other side to take it; how many messages are sent in one go; how long a
 * program may take to leave, and to die once its output is closed; how long what came in the
 * recording after our last word may take longer than there; how long a host may take for what it
 * said before something that has come already. */
enum { OUT_MAX = 256 << 10, GO_MAX = 256, LEAVE_MS = 2000, DIE_MS = 500, LINGER_MS = 500 };
enum { PASSED_MS = 1000 };
/* What may be added to the timeout because it took so long in the recording. */
enum { PATIENT_MS = 600 * 1000 };

void replay_fail(struct replay *replay, int code, const char *format, ...) {
    char message[600];
    va_list args;
    if (replay->over)
        return;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    replay->over = true;
    replay->code = code;
    cli_tail_fail(&replay->tail, NULL, code, message, NULL, NULL);
}

/* The wire. */

static void on_frame(cli_wire *wire, const dx_frame *frame, uint64_t bytes, void *user) {
    struct replay *replay = user;
    (void)wire;
    (void)bytes;
    if (replay->over)
        return;
    if (frame->kind == DX_FRAME_MESSAGE)
        replay_hear(replay, DX_TRACE_MESSAGE, frame->text);
    else if (frame->kind == DX_FRAME_STRAY)
        replay_hear(replay, DX_TRACE_STRAY, frame->text);
    else if (frame->kind == DX_FRAME_FAULT && frame->fault == DX_FAULT_SYSTEM)
        replay_fail(replay, CLI_NO_START, "out of memory");
    else if (frame->kind == DX_FRAME_FAULT && frame->fatal) {
        dx_error error;
        dx__error_set(&error, frame->fault, frame->offset, frame->found, frame->expected);
        replay_fail(replay, CLI_VIOLATION, "cannot split the output of the %s into messages: %s",
                    replay->report.from, error.phrase);
    }
}

static void on_errors(cli_wire *wire, dx_text bytes, void *user) {
    struct replay *replay = user;
    (void)wire;
    cli_tail_add(&replay->tail, bytes);
}

static void on_closed(cli_wire *wire, void *user) {
    struct replay *replay = user;
    (void)wire;
    replay->closed = true;
    replay->closed_ms = cli_now();
    if (!replay->command)
        replay->speed = 0; /* who has no more to say does not wait either */
}

static void on_gone(cli_wire *wire, const dx_gone *gone, void *user) {
    struct replay *replay = user;
    (void)wire;
    replay->gone = true;
    if (!gone)
        return; /* nobody reads; what was written to us may still come */
    replay->closed = true;
    snprintf(replay->how, sizeof replay->how, "%s",
             gone->error.fault ? gone->error.phrase : "the program exited with code 0");
}

static int open_wire(struct replay *replay) {
    const struct replay_options *options = replay->options;
    const dx_protocol_facts *facts = replay->facts;
    dx_error error = {.fault = DX_FAULT_NONE};
    dx_framing framing = options->framing        ? dx_framing_named(options->framing)
                         : replay->talk->framing ? replay->talk->framing
                                                 : facts->framing;
    cli_wire_config config = {.loop = replay->loop,
                              .command = replay->command,
                              .start = options->start,
                              .framing = framing,
                              .either = !options->framing,
                              .lenient = facts->lenient,
                              .fields = facts->fields,
                              .content_type = facts->content_type,
                              .message_max = facts->message_max,
                              .recorder = replay->recorder,
                              .name = replay->talk->peer,
                              .show = options->show,
                              .user = replay,
                              .warns = true,
                              .on_frame = on_frame,
                              .on_errors = on_errors,
                              .on_closed = on_closed,
                              .on_gone = on_gone};
    int code = cli_wire_open(&config, &replay->wire, &error);
    return code == CLI_OK ? CLI_OK : cli_fail(code, "%s", error.phrase);
}

/* Ours. */

/* The next that we have to say. */
static void read_next(struct replay *replay) {
    while (!replay->has_next && !replay->tape_ended) {
        replay->before_us = replay->place.time_us;
        if (!replay_tape_next(&replay->tape, &replay->next, &replay->place)) {
            replay->tape_ended = true;
            if (replay->tape.code != CLI_OK) {
                replay->over = true;
                replay->code = replay->tape.code;
            }
        } else {
            replay->has_next = (int)replay->next.from == (int)replay->side;
        }
    }
}

static void note_requests(struct replay *replay, dx_text text, const dx_message *parts) {
    dx_message one;
    uint32_t cursor = 0;
    if (parts->kind == DX_KIND_REQUEST && parts->id.len)
        replay_asked(replay, text, parts);
    while (parts->kind == DX_KIND_BATCH && !parts->fault &&
           dx_rpc_element(text, parts, DX_DEPTH_MAX, DX_LENIENT_NO_VERSION | DX_LENIENT_ID_ANY,
                          &cursor, &one) == DX_OK)
        if (one.kind == DX_KIND_REQUEST && one.id.len)
            replay_asked(replay, text, &one);
}

/* False: it could not be sent. */
static bool say_message(struct replay *replay) {
    dx_text text = replay->next.text;
    dx_message parts;
    dx_buf rooms[2];
    dx_buf_init(&rooms[0], SIZE_MAX / 2, NULL);
    dx_buf_init(&rooms[1], SIZE_MAX / 2, NULL);
    dx_rpc_scan(text, DX_DEPTH_MAX, DX_LENIENT_NO_VERSION | DX_LENIENT_ID_ANY, &parts);
    replay_now now = replay_ids_ours(&replay->ids, text, &parts, &rooms[0]);
    bool good = now != REPLAY_NOW_NO_MEMORY;
    if (now == REPLAY_NOW_ORPHAN) {
        replay_tell_unsent(&replay->report, &replay->place, replay_part(text, parts.id));
    } else if (good) {
        dx_text said = now == REPLAY_NOW_OTHER ? (dx_text){rooms[0].data, rooms[0].len} : text;
        good = replay_edits_apply(&replay->edits, said, &rooms[1], &said) &&
               cli_wire_say(replay->wire, said);
        replay->report.sent += good;
        if (good)
            note_requests(replay, text, &parts);
    }
    dx_buf_done(&rooms[0]);
    dx_buf_done(&rooms[1]);
    return good;
}

static void fail_to_say(struct replay *replay) {
    int lost = cli_wire_lost(replay->wire);
    if (lost)
        replay_fail(replay, CLI_ENDED, "cannot write the output: %s", strerror(lost));
    else if (!replay->gone)
        replay_fail(replay, CLI_NO_START,
                    "cannot send a message of %zu bytes: out of memory, or it is too long",
                    replay->next.text.len);
}

static void say_next(struct replay *replay) {
    bool good;
    if (replay->next.kind == DX_TRACE_MESSAGE) {
        good = say_message(replay);
    } else {
        good = replay->next.kind == DX_TRACE_BROKEN
                   ? cli_wire_say(replay->wire, replay->next.text)
                   : cli_wire_write(replay->wire, replay->next.text);
        replay->report.sent += good;
    }
    if (!good) {
        fail_to_say(replay);
        return;
    }
    replay->has_next = false;
    replay->last = replay->place;
    replay->moved_us = dx_recorder_now_us();
    if (!replay->zero_us)
        replay->zero_us = replay->moved_us;
}

/* A time of the recording, here; one that nobody would wait for is cut off. */
static uint64_t scaled(const struct replay *replay, uint64_t from_us, uint64_t to_us) {
    const double most = 1e15;
    double us = to_us > from_us ? (double)(to_us - from_us) / replay->speed : 0;
    return (uint64_t)(us < most ? us : most);
}

/* When it may be sent: as long after what was before it as in the recording, and not earlier than
 * there. */
static uint64_t due_us(const struct replay *replay) {
    uint64_t time = replay->place.time_us;
    if (replay->speed == 0 || !replay->zero_us)
        return 0;
    uint64_t one = replay->zero_us + scaled(replay, replay->talk->first_us, time);
    uint64_t two = replay->moved_us + scaled(replay, replay->before_us, time);
    return one > two ? one : two;
}

/* The times up to which it waits. */

static void sooner(uint64_t *until, uint64_t ms) {
    if (ms < *until)
        *until = ms;
}

static uint64_t after(uint64_t from_ms, uint64_t ms) {
    return ms == DX_NEVER ? DX_NEVER : from_ms + ms;
}

/* The rest of the recording: nobody is there for it. */
static void drop_rest(struct replay *replay);

static void give_up(struct replay *replay, uint64_t index, bool all) {
    replay_give_up(replay, index, all);
    if (replay->paused)
        replay_sweep(replay, true);
    replay->moved_us = dx_recorder_now_us();
    if (replay->options->strict)
        replay_fail(replay, CLI_LATE, "timed out: a recorded message did not arrive (--timeout)");
}

/* How long what has to come before that place may take. */
static uint64_t patience(const struct replay *replay, uint64_t index) {
    uint64_t then_us = replay->last.time_us;
    for (size_t i = 0; i < replay->expected.count; i++) {
        const replay_item *item = replay_items_at(&replay->expected, i);
        if (item->place.index >= index)
            break;
        if (!item->done && item->place.time_us > then_us)
            then_us = item->place.time_us;
    }
    uint64_t took_ms = (then_us - replay->last.time_us) / 1000;
    if (replay->options->timeout_ms || replay->timeout_ms == DX_NEVER)
        return replay->timeout_ms;
    return replay->timeout_ms + (took_ms < PATIENT_MS ? took_ms : PATIENT_MS);
}

/* Something has to come before that place. False: nothing is waited for any more. */
static bool wait_for(struct replay *replay, uint64_t index, bool all, uint64_t *until) {
    uint64_t now = cli_now();
    sooner(until, replay_settle(replay, index, now));
    replay_fill(replay);
    if (replay->over || !replay_waits(replay, index, all))
        return false;
    if (replay->closed && !replay->command) {
        drop_rest(replay);
        return false;
    }
    uint64_t moved_ms = replay->moved_us / 1000;
    uint64_t late = after(moved_ms, patience(replay, index));
    if (!replay->command && replay_is_passed(replay, index))
        sooner(&late, moved_ms + PASSED_MS);
    sooner(until, late);
    if (now < late)
        return true;
    give_up(replay, index, all);
    sooner(until, now); /* more may be read ahead now */
    return true;
}

/* Is there room for more? */
static bool has_room(struct replay *replay, size_t most, uint64_t *until) {
    size_t waiting = cli_wire_waiting(replay->wire);
    uint64_t now = cli_now();
    if (waiting < replay->waiting || waiting <= most)
        replay->taken_ms = now;
    replay->waiting = waiting;
    uint64_t late = after(replay->taken_ms, replay->timeout_ms);
    if (waiting > most)
        sooner(until, late);
    if (now >= late)
        replay_fail(replay, CLI_LATE,
                    "timed out: the %s does not read, %zu bytes are waiting (--timeout)",
                    replay->report.from, waiting);
    return waiting <= most;
}

/* Says what may be said now. */
static void say_all(struct replay *replay, uint64_t *until) {
    for (unsigned i = 0; !replay->over; i++) {
        replay_fill(replay);
        read_next(replay);
        if (!replay->has_next || replay->over || replay->gone)
            return;
        if (i == GO_MAX) {
            sooner(until, 0);
            return;
        }
        if (replay_waits(replay, replay->place.index, false) &&
            (wait_for(replay, replay->place.index, false, until) || !replay->has_next))
            return;
        uint64_t due = due_us(replay);
        if (due > dx_recorder_now_us()) {
            sooner(until, due / 1000 + 1);
            return;
        }
        if (!has_room(replay, OUT_MAX, until))
            return;
        say_next(replay);
    }
}

/* The end. */

static void drop_rest(struct replay *replay) {
    replay_settle(replay, UINT64_MAX, cli_now());
    if (replay->has_next) {
        /* Only what should have been there by now is worth a word each. */
        replay_give_up(replay, replay->place.index, true);
        replay->report.quiet = true;
    }
    while (!replay->over && (replay->expected.count || !replay->ahead_ended)) {
        replay_give_up(replay, UINT64_MAX, true);
        replay_fill(replay);
    }
    replay_sweep(replay, true);
    for (read_next(replay); replay->has_next && !replay->over; read_next(replay)) {
        replay->has_next = false;
        replay->report.unsent++;
    }
}

static uint64_t stop_ms(const struct replay *replay) {
    uint64_t ms = replay->facts->stop_close_ms;
    return ms && ms != DX_NEVER ? ms : LEAVE_MS;
}

static void finish_output(struct replay *replay) {
    if (!replay->finished)
        cli_wire_finish(replay->wire);
    replay->finished = true;
}

/* A program that is gone before its time, or whose output is. */
static void look_at_end(struct replay *replay, uint64_t *until) {
    if (!replay->gone && cli_now() < replay->closed_ms + DIE_MS) {
        sooner(until, replay->closed_ms + DIE_MS);
        return;
    }
    replay_fill(replay);
    bool early =
        !replay->finished && (replay->has_next || replay->expected.count || !replay->ahead_ended);
    drop_rest(replay);
    if (early)
        replay_fail(replay, CLI_ENDED, "the plugin exited early: %s",
                    replay->gone ? replay->how : "it closed its output");
    replay->over = true;
}

/* What comes only when our output is closed was recorded so, too. */
static void linger(struct replay *replay, uint64_t *until) {
    const replay_item *first = replay_items_at(&replay->expected, 0);
    uint64_t gap = first->place.time_us > replay->last.time_us
                       ? (first->place.time_us - replay->last.time_us) / 1000
                       : 0;
    uint64_t most = patience(replay, UINT64_MAX) - replay->timeout_ms / 2;
    uint64_t at = replay->moved_us / 1000 + (gap + LINGER_MS < most ? gap + LINGER_MS : most);
    for (size_t i = 0; i < replay->expected.count; i++) {
        const replay_item *item = replay_items_at(&replay->expected, i);
        if (item->asked && !item->done)
            return;
    }
    if (cli_now() >= at)
        finish_output(replay);
    else
        sooner(until, at);
}

static void leave_as_host(struct replay *replay, uint64_t *until) {
    if (replay_waits(replay, UINT64_MAX, true) && wait_for(replay, UINT64_MAX, true, until)) {
        if (!replay->over && replay->expected.count)
            linger(replay, until);
        return;
    }
    if (replay->over || !has_room(replay, 0, until))
        return;
    if (!replay->leave_ms) {
        finish_output(replay);
        replay->leave_ms = cli_now() + stop_ms(replay);
    }
    sooner(until, replay->leave_ms);
    if (cli_now() < replay->leave_ms || replay->stopping)
        return;
    cli_note("killed the plugin: it did not exit when its input was closed");
    replay->stopping = true;
    replay->leave_ms = DX_NEVER;
    cli_wire_stop(replay->wire);
}

static void leave_as_plugin(struct replay *replay, uint64_t *until) {
    if (replay_waits(replay, UINT64_MAX, true) && wait_for(replay, UINT64_MAX, true, until))
        return;
    if (replay->over || !(replay->closed || replay->told_to_leave))
        return;
    bool empty = has_room(replay, 0, until);
    sooner(until, replay->taken_ms + LEAVE_MS);
    replay->over |= empty || replay->gone || cli_now() >= replay->taken_ms + LEAVE_MS;
}

/* Nobody takes what we write. */
static void look_at_deaf(struct replay *replay) {
    bool early = replay->has_next;
    if (!early && !replay->closed)
        return;
    drop_rest(replay);
    if (early)
        replay_fail(replay, CLI_ENDED, "the host stopped reading");
    replay->over = true;
}

/* Does what can be done now; when to look again. */
static uint64_t look(struct replay *replay) {
    uint64_t until = DX_NEVER;
    if (!replay->closed || !replay->command)
        say_all(replay, &until);
    else
        read_next(replay);
    replay_sweep(replay, false);
    replay_look_at_room(replay);
    if (replay->over)
        return until;
    if (replay->closed && replay->command)
        look_at_end(replay, &until);
    else if (replay->gone && !replay->command)
        look_at_deaf(replay);
    else if (!replay->has_next && replay->tape_ended && replay->command)
        leave_as_host(replay, &until);
    else if (!replay->has_next && replay->tape_ended)
        leave_as_plugin(replay, &until);
    return until;
}

static bool begin(struct replay *replay, int *ret_code) {
    dx_error error = {.phrase = "out of memory"};
    replay->seed = cli_seed();
    replay->open = calloc(REPLAY_OPEN_MAX, sizeof *replay->open);
    bool good = replay_ids_init(&replay->ids, replay->facts, replay->seed) && replay->open &&
                replay_items_init(&replay->expected) && replay_items_init(&replay->arrived) &&
                cli_loop_new(replay->options->start.keep_daemons || !replay->command, &replay->loop,
                             &error) == DX_OK;
    if (good)
        *ret_code = cli_record_open(replay->options->record, &replay->recorder);
    else
        *ret_code = cli_fail(CLI_NO_START, "%s", error.phrase);
    if (*ret_code == CLI_OK) {
        cli_catch_signals();
        *ret_code = open_wire(replay);
    }
    return *ret_code == CLI_OK;
}

static void finish(struct replay *replay) {
    replay->over = true;
    cli_wire_close(replay->wire);
    cli_loop_free(replay->loop);
    cli_record_close(replay->recorder);
    replay_tape_close(&replay->ahead);
    replay_tape_close(&replay->tape);
    replay_items_done(&replay->expected);
    replay_items_done(&replay->arrived);
    replay_ids_done(&replay->ids);
    free(replay->open);
}

int replay_play(struct replay *replay) {
    int code;
    if (begin(replay, &code)) {
        uint64_t began = dx_recorder_now_us();
        int before = cli_interrupts();
        replay->moved_us = began;
        replay->taken_ms = cli_now();
        replay->place.time_us = replay->talk->first_us;
        replay->last.line = 1;
        uint64_t until = look(replay);
        uint64_t moved = 0;
        while (!replay->over) {
            if (replay->moved_us != moved)
                cli_waiting_begin(&(cli_waiting){.what = "the next recorded message",
                                                 .most_ms = replay->timeout_ms});
            moved = replay->moved_us;
            cli_wait(replay->loop, until);
            if (cli_interrupts() != before)
                replay_fail(replay, CLI_INTERRUPTED, "interrupted");
            until = look(replay);
        }
        cli_waiting_end();
        uint64_t now = dx_recorder_now_us();
        replay_sweep(replay, true);
        if (replay->talk->last_us > replay->talk->first_us)
            replay->report.then_us = replay->talk->last_us - replay->talk->first_us;
        replay->report.cut = replay->code;
        replay_summarize(&replay->report, now - (replay->zero_us ? replay->zero_us : began));
        code = replay->code ? replay->code : replay_is_equal(&replay->report) ? CLI_OK : CLI_MISFIT;
    }
    finish(replay);
    return code;
}
