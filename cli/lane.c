#include "cli/lane.h"

#include "cli/traffic.h"

#include <string.h>

/* How much may come before it is clear which framing it is; how much is framed at once. */
enum { FIRST_MAX = 1 << 20, PORTION = 64 << 10 };

static dx_framer *new_framer(const cli_lane *lane) {
    dx_frame_config config = dx_frame_defaults(lane->framing);
    dx_framer *framer;
    config.lenient = lane->config->lenient;
    config.fields = lane->config->fields;
    if (lane->config->message_max) {
        config.message_max = lane->config->message_max;
        config.buffer_max = config.message_max + config.header_max + (size_t)4 * PORTION;
    }
    return dx_framer_new(&config, &framer) == DX_OK ? framer : NULL;
}

bool cli_lane_init(cli_lane *lane, const cli_wire_config *config, dx_trace_from from) {
    *lane = (cli_lane){
        .config = config, .from = from, .framing = config->framing, .either = config->either};
    dx_buf_init(&lane->first, FIRST_MAX, NULL);
    lane->framer = new_framer(lane);
    return lane->framer;
}

void cli_lane_done(cli_lane *lane) {
    lane->framer = dx_framer_free(lane->framer);
    dx_buf_done(&lane->first);
    lane->closed = true;
}

static void record(const cli_lane *lane, dx_trace_kind kind, dx_text text, uint64_t bytes) {
    const cli_wire_config *config = lane->config;
    dx_trace_record record = {.kind = kind,
                              .from = lane->from,
                              .time_us = dx_recorder_now_us(),
                              .peer = dx_str(config->name),
                              .run = 1,
                              .bytes = bytes,
                              .text = text};
    if (config->recorder)
        (void)dx_recorder_write(config->recorder, &record);
    if (config->show)
        cli_show(stderr, record.time_us - config->began_us, lane->from == DX_TRACE_HOST, NULL,
                 text);
}

/* What was held back while the framing was not sure is known up to `place`. */
static void forget_first(cli_lane *lane, uint64_t place) {
    size_t known =
        place - lane->told < lane->first.len ? (size_t)(place - lane->told) : lane->first.len;
    if (!known)
        return;
    memmove(lane->first.data, lane->first.data + known, lane->first.len - known);
    lane->first.len -= known;
}

/* Tells a frame; false: nothing more can be framed, or nobody wants it. */
static bool take_frame(cli_lane *lane, const dx_frame *frame) {
    bool is_text = frame->kind == DX_FRAME_MESSAGE || frame->kind == DX_FRAME_STRAY;
    uint64_t place = frame->offset + (is_text ? frame->text.len : 0);
    if (frame->kind == DX_FRAME_MESSAGE && lane->framing == DX_FRAMING_LINE &&
        frame->fault != DX_FAULT_UNTERMINATED)
        place++;
    if (place < lane->told)
        place = lane->told;
    uint64_t bytes = place - lane->told;
    forget_first(lane, place);
    lane->told = place;
    if (frame->kind == DX_FRAME_MESSAGE)
        lane->either = false;
    if (is_text)
        record(lane, frame->kind == DX_FRAME_MESSAGE ? DX_TRACE_MESSAGE : DX_TRACE_STRAY,
               frame->text, bytes);
    if (lane->tell)
        lane->tell(lane, frame, bytes);
    return !lane->closed && !(frame->kind == DX_FRAME_FAULT && frame->fatal);
}

/* What came is of the other framing after all: it gets all that was not told. */
static bool change(cli_lane *lane) {
    dx_buf first = lane->first;
    lane->either = false;
    lane->framing = lane->framing == DX_FRAMING_LINE ? DX_FRAMING_HEADER : DX_FRAMING_LINE;
    dx_framer_free(lane->framer);
    lane->framer = new_framer(lane);
    lane->told = 0;
    dx_buf_init(&lane->first, FIRST_MAX, NULL);
    bool good = lane->framer && cli_lane_feed(lane, (dx_text){first.data, first.len});
    dx_buf_done(&first);
    return good;
}

static bool take_frames(cli_lane *lane) {
    dx_frame frame;
    while (lane->framer && dx_framer_next(lane->framer, &frame) == DX_OK) {
        if (frame.kind == DX_FRAME_FAULT && frame.fault == DX_FAULT_OTHER_FRAMING && lane->either)
            return change(lane);
        if (!take_frame(lane, &frame)) {
            lane->framer = dx_framer_free(lane->framer);
            return true;
        }
        if (frame.kind != DX_FRAME_FAULT)
            dx_framer_release(lane->framer, frame.offset + frame.text.len);
    }
    return true;
}

bool cli_lane_feed(cli_lane *lane, dx_text bytes) {
    while (bytes.len && lane->framer) {
        size_t len = bytes.len < PORTION ? bytes.len : PORTION;
        if (lane->either && dx_buf_append(&lane->first, bytes.at, len) != DX_OK)
            lane->either = false;
        if (dx_framer_feed(lane->framer, bytes.at, len) != DX_OK || !take_frames(lane)) {
            lane->framer = dx_framer_free(lane->framer);
            return false;
        }
        bytes.at += len;
        bytes.len -= len;
    }
    if (bytes.len && !lane->closed)
        record(lane, DX_TRACE_STRAY, bytes, bytes.len);
    return true;
}

void cli_lane_finish(cli_lane *lane) {
    if (!lane->framer)
        return;
    dx_framer_finish(lane->framer);
    (void)take_frames(lane);
}
