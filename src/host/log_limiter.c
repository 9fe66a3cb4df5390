/* How much of what peers write is shown. */
#include "host/log_limiter.h"

#include "base/utf8.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* How long a window is; longer lines are never recognised as repeats: those of 8 KiB are pieces of
 * one line, which must not lose any. */
enum { WINDOW_MS = 1000, REPEAT_MAX = (8 << 10) - 1 };

/* One peer in one window: made by its first line, gone when the window ends. */
struct window {
    struct window *next;
    uint64_t end;
    uint64_t lines;
    uint64_t bytes;
    uint64_t repeats;
    uint64_t suppressed;
    uint64_t suppressed_bytes;
    int kind;
    bool has_last;
    dx_buf last;   /* the line shown last … */
    unsigned same; /* … and how often in a row */
    char peer[];
};

struct dx__log_limiter {
    dx_loop *loop;
    dx_timer *timer;
    void (*on_summary)(const char *peer, const char *text, void *user);
    void *user;
    struct window *windows;
};

/* 1234567 as 1,234,567 */
static const char *number_text(uint64_t number, char room[32]) {
    char digits[24];
    size_t count = (size_t)snprintf(digits, sizeof digits, "%" PRIu64, number);
    size_t len = 0;
    for (size_t i = 0; i < count; i++) {
        if (i && (count - i) % 3 == 0)
            room[len++] = ',';
        room[len++] = digits[i];
    }
    room[len] = '\0';
    return room;
}

static void report_repeats(dx__log_limiter *limiter, struct window *window) {
    char text[100];
    char room[32];
    if (!window->repeats)
        return;
    if (window->repeats == 1)
        snprintf(text, sizeof text, "last line repeated once");
    else
        snprintf(text, sizeof text, "last line repeated %s times",
                 number_text(window->repeats, room));
    window->repeats = 0;
    window->lines++;
    limiter->on_summary(window->peer, text, limiter->user);
}

static void report_all(dx__log_limiter *limiter, struct window *window) {
    char text[100];
    char lines[32];
    char bytes[32];
    report_repeats(limiter, window);
    if (!window->suppressed)
        return;
    snprintf(text, sizeof text, "… %s line%s suppressed (%s bytes)",
             number_text(window->suppressed, lines), window->suppressed > 1 ? "s" : "",
             number_text(window->suppressed_bytes, bytes));
    window->suppressed = window->suppressed_bytes = 0;
    limiter->on_summary(window->peer, text, limiter->user);
}

/* Those that are over by `now`; the others set the timer. */
static void end_windows(dx__log_limiter *limiter, uint64_t now) {
    uint64_t next = DX_NEVER;
    for (struct window **at = &limiter->windows; *at;) {
        struct window *window = *at;
        if (window->end > now) {
            next = window->end < next ? window->end : next;
            at = &window->next;
            continue;
        }
        *at = window->next;
        report_all(limiter, window);
        dx_buf_done(&window->last);
        free(window);
    }
    dx_timer_set(limiter->timer, next == DX_NEVER ? DX_NEVER : next - now);
}

static void on_time(dx_timer *timer, void *user) {
    dx__log_limiter *limiter = user;
    (void)timer;
    end_windows(limiter, dx_loop_now(limiter->loop));
}

static struct window *window_of(dx__log_limiter *limiter, const char *peer) {
    uint64_t now = dx_loop_now(limiter->loop);
    size_t len = strlen(peer);
    struct window *window = limiter->windows;
    while (window && strcmp(window->peer, peer) != 0)
        window = window->next;
    if (window && window->end > now)
        return window;
    end_windows(limiter, now); /* its timer is late */
    window = calloc(1, sizeof *window + len + 1);
    if (!window)
        return NULL;
    window->end = now + WINDOW_MS;
    window->next = limiter->windows;
    memcpy(window->peer, peer, len + 1);
    dx_buf_init(&window->last, REPEAT_MAX, NULL);
    limiter->windows = window;
    if (!window->next)
        dx_timer_set(limiter->timer, WINDOW_MS);
    return window;
}

static uint64_t cost_of(dx_text line) {
    uint64_t cost = 1;
    for (size_t i = 0; i < line.len;) {
        unsigned char c = (unsigned char)line.at[i];
        size_t len = dx__utf8(line.at + i, line.len - i);
        bool escaped = !len || (c < 0x20 && c != '\t') || c == 0x7f;
        /* Hidden characters are shown as \u200b or \U000e0041: each may be one. */
        cost += escaped ? 4 : len == 1 ? 1 : len == 4 ? 10 : 6;
        i += len ? len : 1;
    }
    return cost;
}

static bool is_repeat(const struct window *window, int kind, dx_text line) {
    return window->has_last && window->kind == kind && window->last.len == line.len &&
           (!line.len || memcmp(window->last.data, line.at, line.len) == 0);
}

static bool suppress(struct window *window, dx_text line) {
    window->suppressed++;
    window->suppressed_bytes += line.len;
    return false;
}

bool dx__log_limiter_pass(dx__log_limiter *limiter, const char *peer, int kind, dx_text line) {
    struct window *window = limiter ? window_of(limiter, peer) : NULL;
    if (!window)
        return true;
    /* Nothing more is shown in this second: neither what would fit, nor repeats of what did not. */
    if (window->suppressed)
        return suppress(window, line);
    bool same = is_repeat(window, kind, line);
    if (same && window->same >= DX__LOG_SAME_MAX) {
        window->repeats++;
        return false;
    }
    uint64_t cost = cost_of(line);
    if (window->lines + (window->repeats > 0) >= DX__LOG_LINES_MAX ||
        window->bytes + cost > DX__LOG_BYTES_MAX)
        return suppress(window, line);
    report_repeats(limiter, window);
    window->lines++;
    window->bytes += cost;
    window->same = same ? window->same + 1 : 1;
    window->kind = kind;
    window->last.len = 0;
    window->has_last = dx_buf_append(&window->last, line.at, line.len) == DX_OK;
    return true;
}

void dx__log_limiter_flush(dx__log_limiter *limiter, const char *peer) {
    for (struct window *window = limiter ? limiter->windows : NULL; window; window = window->next)
        if (!peer || strcmp(window->peer, peer) == 0)
            report_all(limiter, window);
}

dx__log_limiter *dx__log_limiter_new(
    dx_loop *loop, void (*on_summary)(const char *peer, const char *text, void *user), void *user) {
    dx__log_limiter *limiter = calloc(1, sizeof *limiter);
    if (!limiter)
        return NULL;
    limiter->loop = loop;
    limiter->on_summary = on_summary;
    limiter->user = user;
    if (dx_timer_new(loop, on_time, limiter, &limiter->timer) == DX_OK)
        return limiter;
    free(limiter);
    return NULL;
}

dx__log_limiter *dx__log_limiter_free(dx__log_limiter *limiter) {
    if (!limiter)
        return NULL;
    end_windows(limiter, DX_NEVER);
    dx_timer_free(limiter->timer);
    free(limiter);
    return NULL;
}
