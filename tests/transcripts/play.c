#include "match.h"
#include "stage.h"

#include <string.h>

/* The event that was expected, and the one that came. */
static bool event_came(struct stage *stage, const struct step *step, const dx_event *event,
                       uint64_t shift) {
    struct bytes why = {0}, shown = {0};
    uint64_t number = stage_number(stage, event);
    bool same = match_event(step, event, number, shift, &why);
    if (!same) {
        match_show(&shown, event, number);
        stage_fail(stage, step, "%s\n    came: %s", why.at, shown.at);
    }
    bytes_free(&why);
    bytes_free(&shown);
    return same;
}

/* Takes one event. In a case where the peer may be busy, what it waits for is done: output is sent,
 * and bytes that it had no room for follow. */
static dx_status pull(struct stage *stage, const struct step *step, const dx_event **ret_event) {
    for (;;) {
        size_t left = stage->rest.len;
        dx_status status = stage_pull(stage, ret_event);
        if (status != DX_AGAIN || !stage->config.busy)
            return status;
        size_t sent = stage_drain(stage, SIZE_MAX);
        if (!stage_feed(stage, step) || (stage->rest.len == left && sent == 0))
            return status;
    }
}

static bool step_event(struct stage *stage, const struct step *step) {
    const struct word *times = step_find(step, "times");
    bool nothing = step->count > 0 && text_is(step->words[0].text, "nothing");
    uint64_t count = 1;
    const dx_event *event;
    if (times && !text_number(times->text, &count))
        return stage_fail(stage, step, "times= needs a number");
    for (uint64_t i = 0; i < count; i++) {
        dx_status status = pull(stage, step, &event);
        if (nothing && status == DX_AGAIN)
            continue;
        if (status == DX_AGAIN)
            return stage_fail(stage, step, "no event came");
        if (status != DX_OK)
            return stage_fail(stage, step, "next() said %s", status_show(status));
        if (!event_came(stage, step, event, i))
            return false;
    }
    return true;
}

bool stage_eager(struct stage *stage) {
    while (stage->next < stage->scene->count && !stage->config.busy) {
        const struct step *step = &stage->scene->steps[stage->next];
        const dx_event *event;
        if (step->kind != STEP_EVENT || step_find(step, "times") || step->count == 0 ||
            text_is(step->words[0].text, "nothing"))
            return true;
        dx_status status = stage_pull(stage, &event);
        if (status == DX_AGAIN)
            return true;
        if (status != DX_OK)
            return stage_fail(stage, step, "next() said %s", status_show(status));
        if (!event_came(stage, step, event, 0))
            return false;
        stage->next++;
    }
    return true;
}

static bool step_bytes(struct stage *stage, const struct step *step) {
    if (stage->rest.len > 0)
        return stage_fail(stage, step, "the run before this one was not taken");
    stage->whole = stage->rest = step->bytes;
    stage->was_busy = false;
    stage->run++;
    return stage_feed(stage, step);
}

/* What the peer wrote and nobody compared yet. */
static dx_text unseen(struct stage *stage) {
    stage_settle(stage);
    stage_drain(stage, SIZE_MAX);
    if (!stage->out.at)
        return dx_str("");
    return (dx_text){stage->out.at + stage->out_at, stage->out.len - stage->out_at};
}

static bool fail_output(struct stage *stage, const struct step *step, dx_text wanted, dx_text out) {
    struct bytes text = {0};
    bytes_addf(&text, "other bytes were written\n    want: ");
    bytes_show(&text, wanted);
    bytes_addf(&text, "\n    came: ");
    bytes_show(&text, out);
    stage_fail(stage, step, "%s", text.at);
    bytes_free(&text);
    return false;
}

static bool step_output(struct stage *stage, const struct step *step) {
    dx_text out = unseen(stage);
    if (out.len < step->bytes.len || memcmp(out.at, step->bytes.at, step->bytes.len) != 0) {
        if (step->kind == STEP_MAYBE && stage->torture && stage->memory->failed > 0)
            return true;
        return fail_output(stage, step, step->bytes, out);
    }
    stage->out_at += step->bytes.len;
    return true;
}

/* "Content-Length: N", the content type if there is one, an empty line, N bytes. */
static bool header_body(const struct stage *stage, dx_text out, dx_text *ret_body) {
    struct bytes rest = {0};
    uint64_t len = 0;
    const char *name = "Content-Length: ";
    size_t digits = 0, start = strlen(name);
    if (out.len < start || memcmp(out.at, name, start) != 0)
        return false;
    while (start + digits < out.len && out.at[start + digits] != '\r')
        digits++;
    bytes_addf(&rest, "\r\n");
    if (stage->config.type.at)
        bytes_addf(&rest, "Content-Type: %s\r\n", stage->config.type.at);
    bytes_addf(&rest, "\r\n");
    size_t head = start + digits + rest.len;
    bool good = text_number((dx_text){out.at + start, digits}, &len) && head + len <= out.len &&
                memcmp(out.at + start + digits, rest.at, rest.len) == 0;
    bytes_free(&rest);
    *ret_body = (dx_text){out.at + head, (size_t)len};
    return good;
}

static bool line_body(dx_text out, dx_text *ret_body) {
    const char *end = memchr(out.at, '\n', out.len);
    if (!end)
        return false;
    *ret_body = (dx_text){out.at, (size_t)(end - out.at)};
    return true;
}

static bool step_like(struct stage *stage, const struct step *step) {
    dx_text out = unseen(stage);
    dx_text body;
    bool framed = stage->scene->header ? header_body(stage, out, &body) : line_body(out, &body);
    if (!framed || !match_json(body, step->bytes))
        return fail_output(stage, step, step->bytes, out);
    size_t tail = stage->scene->header ? 0 : 1;
    stage->out_at += (size_t)(body.at - out.at) + body.len + tail;
    return true;
}

static bool step_any(struct stage *stage, const struct step *step) {
    (void)step;
    stage->out_at += unseen(stage).len;
    return true;
}

static bool perform(struct stage *stage, const struct step *step) {
    switch (step->kind) {
    case STEP_BYTES:
        return step_bytes(stage, step);
    case STEP_RAW:
    case STEP_FRAMED:
    case STEP_MAYBE:
        return step_output(stage, step);
    case STEP_LIKE:
        return step_like(stage, step);
    case STEP_ANY:
        return step_any(stage, step);
    case STEP_EVENT:
        return step_event(stage, step);
    case STEP_ACT:
        return stage_act(stage, step);
    case STEP_ASK:
        return stage_ask(stage, step);
    }
    return false;
}

/* Nothing may be left over: no bytes, no event, no output. */
static bool check_end(struct stage *stage) {
    const dx_event *event;
    if (stage->rest.len > 0)
        return stage_fail(stage, NULL, "%zu bytes were not taken", stage->rest.len);
    dx_status status = stage_pull(stage, &event);
    if (status == DX_OK) {
        struct bytes shown = {0};
        match_show(&shown, event, stage_number(stage, event));
        stage_fail(stage, NULL, "an event is left over at the end\n    came: %s", shown.at);
        bytes_free(&shown);
        return false;
    }
    dx_text out = unseen(stage);
    if (out.len > 0)
        return fail_output(stage, NULL, dx_str(""), out);
    return true;
}

static void log_books(struct stage *stage) {
    dx_peer_stats stats = dx_peer_statistics(stage->peer);
    uint64_t numbers[sizeof stats / sizeof(uint64_t)];
    memcpy(numbers, &stats, sizeof stats);
    bytes_addf(&stage->log, "books:");
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        bytes_addf(&stage->log, " %llu", (unsigned long long)numbers[i]);
    bytes_addf(&stage->log, "\nwritten: ");
    bytes_add(&stage->log, stage->out.at, stage->out.len);
    bytes_addf(&stage->log, "\n");
}

bool stage_play(struct stage *stage) {
    bool good = stage_open(stage);
    while (good && stage->peer && stage->next < stage->scene->count) {
        stage->stopped = stage->next + 1 == stage->way->stop;
        if (stage->stopped)
            return true;
        const struct step *step = &stage->scene->steps[stage->next++];
        good = perform(stage, step);
    }
    if (!good || !stage->peer)
        return good;
    if (!check_end(stage))
        return false;
    log_books(stage);
    return true;
}
