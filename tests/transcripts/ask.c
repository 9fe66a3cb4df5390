#include "stage.h"

#include <stddef.h>
#include <string.h>

#define STAT(name) \
    { #name, offsetof(dx_peer_stats, name) }

static const struct {
    const char *name;
    size_t offset;
} stats[] = {
    STAT(bytes_in),    STAT(bytes_out), STAT(messages_in),       STAT(messages_out),
    STAT(calls),       STAT(requests),  STAT(notifications),     STAT(results),
    STAT(errors),      STAT(timed_out), STAT(cancelled),         STAT(lost),
    STAT(invalid),     STAT(replies),   STAT(refusals),          STAT(dropped),
    STAT(overdue),     STAT(busy),      STAT(cancelled_by_peer), STAT(violations),
    STAT(stray_lines), STAT(lf_lines),  STAT(stray_bytes),       STAT(unknown_ids),
    STAT(late),        STAT(progress),  STAT(progress_dropped),
};

static bool same(struct stage *stage, const struct step *step, uint64_t found, dx_text text) {
    uint64_t wanted = DX_NEVER;
    if (!text_is(text, "never") && !text_number(text, &wanted))
        return stage_fail(stage, step, "a number was expected in this line");
    if (found == wanted)
        return true;
    return stage_fail(stage, step, "it is %llu", (unsigned long long)found);
}

static bool ask_stat(struct stage *stage, const struct step *step) {
    dx_peer_stats now = dx_peer_statistics(stage->peer);
    for (size_t i = 0; i < sizeof stats / sizeof *stats && step->count == 3; i++) {
        uint64_t found;
        if (!text_is(step->words[1].text, stats[i].name))
            continue;
        memcpy(&found, (const char *)&now + stats[i].offset, sizeof found);
        return same(stage, step, found, step->words[2].text);
    }
    return stage_fail(stage, step, "? stat NAME NUMBER");
}

static bool ask_pending(struct stage *stage, const struct step *step) {
    return same(stage, step, dx_peer_pending(stage->peer), step->words[1].text);
}

/* Waking up too early does no harm, waking up too late does. */
static bool soon(struct stage *stage, const struct step *step, uint64_t ms) {
    dx_text text = step->words[2].text;
    uint64_t most;
    if (!text_number((dx_text){text.at + 1, text.len - 1}, &most))
        return stage_fail(stage, step, "? deadline <= +MS");
    return ms <= most ? true : stage_fail(stage, step, "it is +%llu", (unsigned long long)ms);
}

static bool ask_deadline(struct stage *stage, const struct step *step) {
    uint64_t deadline = dx_peer_deadline(stage->peer);
    dx_text text = step->words[1].text;
    if (step->count == 3 && text_is(text, "<="))
        return soon(stage, step, deadline - stage->now);
    if (deadline == DX_NEVER || text_is(text, "never"))
        return same(stage, step, deadline, text_is(text, "never") ? text : dx_str("0"));
    return same(stage, step, deadline - stage->now, (dx_text){text.at + 1, text.len - 1});
}

static bool ask_busy(struct stage *stage, const struct step *step) {
    if (stage->was_busy == text_is(step->words[1].text, "yes"))
        return true;
    return stage_fail(stage, step, "the peer was %sbusy", stage->was_busy ? "" : "not ");
}

static bool below(struct stage *stage, const struct step *step, size_t found) {
    uint64_t limit;
    if (step->count != 3 || !text_number(step->words[2].text, &limit))
        return stage_fail(stage, step, "? memory < NUMBER");
    return found < limit ? true : stage_fail(stage, step, "%zu bytes are held", found);
}

static bool ask_memory(struct stage *stage, const struct step *step) {
    return below(stage, step, stage->memory->live);
}

static bool ask_peak(struct stage *stage, const struct step *step) {
    return below(stage, step, stage->memory->peak);
}

bool stage_ask(struct stage *stage, const struct step *step) {
    static const struct {
        const char *noun;
        bool (*ask)(struct stage *, const struct step *);
    } nouns[] = {{"stat", ask_stat}, {"pending", ask_pending}, {"deadline", ask_deadline},
                 {"busy", ask_busy}, {"memory", ask_memory},   {"peak", ask_peak}};
    /* Where memory ran out the peer may lag behind until the next event is asked for. */
    bool lags = stage->torture && stage->memory->failed > 0;
    if (step->count > 1 && lags && !text_is(step->words[0].text, "stat"))
        return true;
    for (size_t i = 0; i < sizeof nouns / sizeof *nouns && step->count > 1; i++)
        if (text_is(step->words[0].text, nouns[i].noun))
            return nouns[i].ask(stage, step);
    return stage_fail(stage, step, "there is no such question");
}
