/* What the manager tells, one thing after the other, from a dispatch of its own: so that anything
 * may be done in the callbacks, and nothing is in the middle of something then. */
#include "systems/finecode/runner.h"

/* So many things at once; then others have their turn. */
enum { TURN_MAX = 1000 };

typedef struct dx__finecode_note {
    dx_finecode_runner *runner;
    const char *kind;
    char text[400];
    struct dx__finecode_note *next;
} dx__finecode_note;

void dx__finecode_wm_wake(dx_finecode_wm *wm) {
    dx_timer_set(wm->turn, 0);
}

void dx__finecode_wm_tree_changed(dx_finecode_wm *wm) {
    wm->tree_changed = true;
    dx__finecode_wm_wake(wm);
}

void dx__finecode_wm_settle(dx_finecode_wm *wm) {
    if (wm->stopping)
        dx__finecode_wm_wake(wm);
}

/* Notes. */

void dx__finecode_wm_note(dx_finecode_wm *wm, dx_finecode_runner *runner, const char *kind,
                          const char *before, const char *after) {
    dx__finecode_note *note = dx__malloc(&wm->alloc, sizeof *note);
    dx__finecode_note **end = &wm->notes;
    if (!note)
        return; /* nothing depends on it */
    *note = (dx__finecode_note){.runner = runner, .kind = kind};
    dx__say_str(note->text, sizeof note->text, before);
    dx__say_str(note->text, sizeof note->text, after);
    while (*end)
        end = &(*end)->next;
    *end = note;
    dx__finecode_wm_wake(wm);
}

void dx__finecode_wm_forget_notes(dx_finecode_wm *wm, const dx_finecode_runner *runner) {
    dx__finecode_note **at = &wm->notes;
    while (*at) {
        dx__finecode_note *note = *at;
        if (note->runner == runner) {
            *at = note->next;
            dx__free(&wm->alloc, note);
        } else {
            at = &note->next;
        }
    }
}

static bool tell_note(dx_finecode_wm *wm) {
    dx__finecode_note *first = wm->notes;
    if (!first)
        return false;
    dx__finecode_note note = *first;
    wm->notes = first->next;
    dx__free(&wm->alloc, first);
    if (wm->server)
        dx__finecode_server_message(wm->server, note.kind, dx_str(note.text));
    if (wm->config.on_message)
        wm->config.on_message(wm, note.runner, note.kind, dx_str(note.text), wm->config.user);
    return true;
}

void dx__finecode_wm_log(dx_finecode_wm *wm, const dx__finecode_wal_event *event) {
    dx__finecode_wal_write(wm->wal, event);
    const char *trouble = dx__finecode_wal_trouble(wm->wal);
    if (trouble)
        dx__finecode_wm_note(wm, NULL, "WARNING", trouble, "");
}

/* States. */

static bool tell_state(dx_finecode_wm *wm) {
    for (dx_finecode_runner *runner = wm->runners; runner; runner = runner->next)
        if (runner->untold) {
            runner->untold = false;
            if (wm->server)
                dx__finecode_server_tree(wm->server);
            if (wm->config.on_runner)
                wm->config.on_runner(wm, runner, wm->config.user);
            return true;
        }
    return false;
}

static bool tell_debugger(dx_finecode_wm *wm) {
    for (dx_finecode_runner *runner = wm->runners; runner; runner = runner->next)
        if (runner->debug_port) {
            unsigned port = runner->debug_port;
            runner->debug_port = 0;
            if (wm->config.on_debug)
                wm->config.on_debug(wm, runner, port, wm->config.user);
            return true;
        }
    return false;
}

static bool tell_tree(dx_finecode_wm *wm) {
    if (!wm->tree_changed)
        return false;
    wm->tree_changed = false;
    if (wm->server)
        dx__finecode_server_tree(wm->server);
    if (wm->config.on_tree)
        wm->config.on_tree(wm, wm->config.user);
    return true;
}

/* Calls and waiters. */

static bool tell_lost(dx_finecode_wm *wm) {
    for (dx_finecode_runner *runner = wm->runners; runner; runner = runner->next)
        if (dx__finecode_runner_tell_lost(runner))
            return true;
    return false;
}

/* One that has ended while somebody waited for it is started again; but not one that could not be
 * started, or that has ended as soon as it was. */
static bool is_decided(dx_finecode_runner *runner, bool *ret_ready) {
    *ret_ready = dx__finecode_runner_is_ready(runner);
    if (*ret_ready || runner->wm->stopping)
        return true;
    if (runner->child || runner->step != FINECODE_IDLE)
        return false;
    if (runner->state == DX_FINECODE_RUNNER_FAILED || runner->state == DX_FINECODE_NO_VENV ||
        runner->run != runner->waiters->run)
        return true;
    dx__finecode_runner_begin(runner);
    return false;
}

static bool tell_waiter(dx_finecode_wm *wm) {
    for (dx_finecode_runner *runner = wm->runners; runner; runner = runner->next) {
        dx__finecode_waiter *waiter = runner->waiters;
        bool ready = false;
        if (!waiter || !is_decided(runner, &ready))
            continue;
        dx__finecode_waiter was = *waiter;
        runner->waiters = was.next;
        dx__free(&wm->alloc, waiter);
        was.on_ready(runner, ready, was.user);
        return true;
    }
    return false;
}

/* The end. */

static bool is_over(const dx_finecode_wm *wm) {
    if (!wm->stopping || wm->is_stopped_told || wm->runs)
        return false;
    for (const dx_finecode_runner *runner = wm->runners; runner; runner = runner->next)
        if (runner->child || runner->waiters || runner->calls)
            return false;
    return true;
}

/* States first, so that an end is told before the start that follows it. */
static bool tell_one(dx_finecode_wm *wm) {
    return tell_note(wm) || tell_state(wm) || tell_debugger(wm) || tell_tree(wm) || tell_lost(wm) ||
           tell_waiter(wm);
}

void dx__finecode_wm_on_turn(dx_timer *timer, void *user) {
    dx_finecode_wm *wm = user;
    bool freed = false;
    unsigned left = TURN_MAX;
    (void)timer;
    wm->freed = &freed;
    while (left && !freed && tell_one(wm))
        left--;
    if (freed)
        return;
    wm->freed = NULL;
    if (!left)
        dx__finecode_wm_wake(wm);
    else if (wm->first_queued)
        dx__finecode_runner_starts(wm);
    if (!left || !is_over(wm))
        return;
    wm->is_stopped_told = true;
    if (wm->config.on_stopped)
        wm->config.on_stopped(wm, wm->config.user);
}
