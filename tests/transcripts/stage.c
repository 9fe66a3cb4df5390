#include "stage.h"

#include "match.h"
#include "peer/peer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { START_MS = 1000, HASHED = 4096, EVENTS_AT_END = 10000000 };

static void add_args(struct bytes *out, const char *format, va_list args) {
    char text[2000];
    vsnprintf(text, sizeof text, format, args);
    bytes_addf(out, "%s", text);
}

bool stage_fail(struct stage *stage, const struct step *step, const char *format, ...) {
    va_list args;
    if (stage->why.len > 0)
        return false;
    bytes_addf(&stage->why, "%s:%u: %s: ", stage->script->path,
               step ? step->line : stage->scene->line, stage->scene->name);
    va_start(args, format);
    add_args(&stage->why, format, args);
    va_end(args);
    if (step) {
        bytes_addf(&stage->why, "\n    line: ");
        bytes_show(&stage->why, step->source);
    }
    return false;
}

void stage_break(struct stage *stage, const char *format, ...) {
    va_list args;
    if (stage->hard.len > 0)
        return;
    bytes_addf(&stage->hard, "%s:%u: %s: ", stage->script->path, stage->scene->line,
               stage->scene->name);
    va_start(args, format);
    add_args(&stage->hard, format, args);
    va_end(args);
}

bool stage_again(struct stage *stage, dx_status status) {
    if (status != DX_ERR_NOMEM || !stage->torture)
        return false;
    if (stage->memory->failed == stage->failed_seen) {
        stage_break(stage, "DX_ERR_NOMEM although no allocation was refused");
        return false;
    }
    stage->failed_seen = stage->memory->failed;
    memory_heal(stage->memory);
    return true;
}

bool stage_paused(struct stage *stage) {
    bool was = stage->peer->paused;
    dx_status status = stage->way->kind == WAY_STEPS && stage->peer->behind ? DX_AGAIN : DX_OK;
    while (status == DX_AGAIN || stage_again(stage, status))
        status = dx__intake(stage->peer);
    return was;
}

/* Eight bytes at a time: some texts have 64 MiB and are looked at again and again. */
static uint64_t hash(dx_text text) {
    uint64_t value = 14695981039346656037u;
    size_t i = 0;
    for (; i + 8 <= text.len; i += 8) {
        uint64_t word;
        memcpy(&word, text.at + i, sizeof word);
        value = (value ^ word) * 1099511628211u;
        value ^= value >> 32;
    }
    for (; i < text.len; i++)
        value = (value ^ (unsigned char)text.at[i]) * 1099511628211u;
    return value;
}

static void add_text(struct bytes *out, dx_text text) {
    if (!text.at)
        bytes_addf(out, " -");
    else if (text.len > HASHED)
        bytes_addf(out, " %zu bytes %llx", text.len, (unsigned long long)hash(text));
    else
        bytes_show(out, text);
    bytes_addf(out, "|");
}

/* Everything in an event, so that any change in it is seen. */
static void snapshot(const struct stage *stage, struct bytes *out, const dx_event *event) {
    bytes_addf(out, "%d %d #%llu %d code=%lld fault=%d at=%llu %s: %s |", (int)event->kind,
               (int)event->outcome, (unsigned long long)stage_number(stage, event),
               event->value != NULL, (long long)event->code, (int)event->error.fault,
               (unsigned long long)event->error.offset, event->error.place, event->error.phrase);
    add_text(out, event->id);
    add_text(out, event->method);
    add_text(out, event->body);
    add_text(out, event->message);
    bytes_addf(out, "\n");
}

static bool unchanged(const struct stage *stage, const dx_event *event, const struct bytes *seen) {
    struct bytes now = {0};
    snapshot(stage, &now, event);
    bool same = now.len == seen->len && memcmp(now.at, seen->at, now.len) == 0;
    bytes_free(&now);
    return same;
}

uint64_t stage_number(const struct stage *stage, const dx_event *event) {
    if (event->call)
        for (size_t i = stage->call_count; i > 0; i--)
            if (stage->calls[i - 1] == event->call)
                return i;
    if (event->request)
        for (size_t i = stage->request_count; i > 0; i--)
            if (stage->requests[i - 1] == event->request)
                return i;
    return 0;
}

static void book_request(struct stage *stage, const dx_event *event) {
    if (stage_number(stage, event) != 0)
        stage_break(stage, "a request was handed out twice");
    size_t size = (stage->request_count + 1) * sizeof *stage->requests;
    stage->requests = must_grow(stage->requests, size);
    stage->requests[stage->request_count++] = event->request;
}

static void book_done(struct stage *stage, const dx_event *event) {
    uint64_t number = stage_number(stage, event);
    if (number == 0) {
        stage_break(stage, "a call ended that was never made");
        return;
    }
    if (event->user != (void *)(uintptr_t)number)
        stage_break(stage, "call #%llu has another user pointer", (unsigned long long)number);
    if (stage->ended[number - 1]++ > 0)
        stage_break(stage, "call #%llu ended twice", (unsigned long long)number);
}

static void book(struct stage *stage, const dx_event *event) {
    struct bytes why = {0};
    const dx_peer_config *config = &stage->config.peer;
    bool as_text = config->flags & DX_PEER_TEXT || event->body.len > config->tree_max;
    if (!match_rules(event, as_text, &why))
        stage_break(stage, "%s", why.at);
    bytes_free(&why);
    if (stage->closed > 0)
        stage_break(stage, "an event came after the end");
    if (event->kind == DX_EVENT_REQUEST)
        book_request(stage, event);
    else if (event->kind == DX_EVENT_DONE)
        book_done(stage, event);
    else if (event->kind == DX_EVENT_CLOSED)
        stage->closed++;
}

static void forget_lent(struct stage *stage) {
    if (stage->lent && !unchanged(stage, stage->lent, &stage->lent_seen))
        stage_break(stage, "an event changed while it was lent");
    stage->lent = NULL;
    bytes_free(&stage->lent_seen);
}

dx_status stage_pull(struct stage *stage, const dx_event **ret_event) {
    dx_status status;
    forget_lent(stage);
    do {
        stage_paused(stage);
        status = dx_peer_next(stage->peer, ret_event);
    } while (stage_again(stage, status));
    if (status != DX_OK)
        return status;
    book(stage, *ret_event);
    stage->lent = *ret_event;
    snapshot(stage, &stage->lent_seen, *ret_event);
    bytes_add(&stage->log, stage->lent_seen.at, stage->lent_seen.len);
    return DX_OK;
}

void stage_settle(struct stage *stage) {
    for (int i = 0; i < 3 && stage->torture && dx_peer_deadline(stage->peer) <= stage->now; i++) {
        memory_heal(stage->memory);
        dx_peer_tick(stage->peer, stage->now);
    }
}

size_t stage_drain(struct stage *stage, size_t len) {
    dx_text out = dx_peer_output(stage->peer);
    if (len > out.len)
        len = out.len;
    bytes_add(&stage->out, out.at, len);
    dx_peer_sent(stage->peer, len);
    return len;
}

bool stage_open(struct stage *stage) {
    dx_allocator allocator = memory_allocator(stage->memory);
    dx_status status;
    const char *problem = config_read(&stage->config, stage->scene);
    if (problem)
        return stage_fail(stage, &stage->scene->peer, "%s", problem);
    stage->config.peer.allocator = &allocator;
    stage->now = START_MS;
    do {
        status = dx_peer_new(&stage->config.peer, &stage->peer);
    } while (stage_again(stage, status));
    stage->config.peer.allocator = NULL;
    if (status == DX_OK && stage->way->kind == WAY_STEPS)
        stage->peer->step = stage->way->cut;
    if (status != stage->config.expected)
        return stage_fail(stage, &stage->scene->peer, "%s was expected of dx_peer_new(), %s came",
                          status_show(stage->config.expected), status_show(status));
    return true;
}

/* Whatever the case did, every call ends once, the end comes once, and nothing is left. */
static void close_peer(struct stage *stage) {
    const dx_event *event;
    size_t guard = 0;
    dx_peer_finish(stage->peer, NULL, stage->now);
    while (stage_pull(stage, &event) == DX_OK && guard++ < EVENTS_AT_END)
        continue;
    for (size_t i = 0; i < stage->call_count; i++)
        if (stage->ended[i] != 1)
            stage_break(stage, "call #%zu ended %d times", i + 1, stage->ended[i]);
    if (stage->closed != 1)
        stage_break(stage, "the end came %zu times", stage->closed);
    if (dx_peer_pending(stage->peer) != 0)
        stage_break(stage, "calls are still pending after the end");
    stage->lent = NULL;
}

static void free_kept(struct stage *stage) {
    for (size_t i = 0; i < stage->kept_count; i++) {
        struct kept *kept = &stage->kept[i];
        if (kept->event && !unchanged(stage, kept->event, &kept->seen))
            stage_break(stage, "a kept event changed");
        dx_event_free(kept->event);
        bytes_free(&kept->seen);
    }
    free(stage->kept);
    stage->kept = NULL;
}

void stage_close(struct stage *stage) {
    memory_heal(stage->memory);
    if (stage->peer && !stage->stopped)
        close_peer(stage);
    stage->peer = dx_peer_free(stage->peer);
    free_kept(stage);
    if (stage->memory->live > 0 || stage->memory->blocks > 0)
        stage_break(stage, "%zu bytes in %zu blocks were not given back", stage->memory->live,
                    stage->memory->blocks);
    if (stage->memory->abuse)
        stage_break(stage, "the allocator was given %s", stage->memory->abuse);
    config_done(&stage->config);
    bytes_free(&stage->lent_seen);
    bytes_free(&stage->out);
    free(stage->calls);
    free(stage->ended);
    free(stage->requests);
}
