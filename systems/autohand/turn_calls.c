/* The calls of one answer: all are judged in their order, then they run, as far as they may run
 * beside each other. */
#include "systems/autohand/core_parts.h"

enum { SLICE_MS = 5, SLICE_CALLS = 64 };

static bool is_time_up(const struct dx__autohand_turn *turn, uint64_t since, size_t done) {
    if (done >= SLICE_CALLS || dx__autohand_core_clock() - since >= SLICE_MS)
        return true;
    return turn->agent->link && dx_link_waiting(turn->agent->link) > DX__FULL;
}

static bool is_judged(const struct dx__autohand_work *work) {
    return work->stage >= DX__WORK_READY;
}

/* One after the other, since hooks of one may concern the next; but a question that is open does
 * not keep the next from being asked. */
static bool judge(struct dx__autohand_turn *turn, size_t *done) {
    uint64_t since = dx__autohand_core_clock();
    size_t end = turn->work_count;
    /* 0.6 looks at a call when it is that one's turn. */
    if (turn->agent->config.compat == DX_AUTOHAND_0_6 && turn->started < end)
        end = turn->started + 1;
    for (; turn->looked_at < end && !turn->is_failed; turn->looked_at++) {
        struct dx__autohand_work *work = turn->works[turn->looked_at];
        if (is_time_up(turn, since, ++*done)) {
            dx__autohand_turn_wake(turn);
            return false;
        }
        dx__autohand_work_judge(work);
        if (!is_judged(work) && work->stage != DX__WORK_ASKED)
            return false;
    }
    while (turn->judged < turn->looked_at && is_judged(turn->works[turn->judged]))
        turn->judged++;
    return turn->judged == end;
}

static bool reads(const struct dx__autohand_work *work) {
    return work->tool && work->tool->given.kind == DX_AUTOHAND_TOOL_READS;
}

/* Those that read may run beside each other; all others alone. */
static bool may_start(const struct dx__autohand_turn *turn, const struct dx__autohand_work *work) {
    if (!turn->running)
        return true;
    return turn->agent->config.compat != DX_AUTOHAND_0_6 && turn->reads_only && reads(work) &&
           turn->running < DX__READS_AT_ONCE;
}

static void run(struct dx__autohand_turn *turn, struct dx__autohand_work *work) {
    turn->reads_only = reads(work) && (!turn->running || turn->reads_only);
    turn->running++;
    dx__autohand_work_run(work);
}

static void begin(struct dx__autohand_turn *turn, struct dx__autohand_work *work) {
    turn->started++;
    dx__autohand_work_start(work);
    if (work->started)
        run(turn, work);
}

/* 0.8 starts all of them at once; then those that only read are the first to end, then those that
 * need not ask. One that has to ask only because another has run meanwhile comes last, but comes.
 */
static void begin_all(struct dx__autohand_turn *turn) {
    if (turn->started)
        return;
    for (; turn->started < turn->work_count; turn->started++)
        dx__autohand_work_start(turn->works[turn->started]);
    for (int round = 0; round < 3; round++)
        for (size_t i = 0; i < turn->work_count; i++) {
            struct dx__autohand_work *work = turn->works[i];
            bool asks = work->started && dx__autohand_work_asks_inside(work);
            if (work->stage == DX__WORK_RUNNING && !work->job.kept &&
                (round == 2 || round == (asks          ? 0
                                         : reads(work) ? 1
                                                       : 2)))
                run(turn, work);
        }
}

/* Results go to the history in the order of the calls. */
static bool settle(struct dx__autohand_turn *turn) {
    dx_autohand_agent *agent = turn->agent;
    while (turn->settled < turn->started && turn->works[turn->settled]->stage == DX__WORK_DONE) {
        struct dx__autohand_work *work = turn->works[turn->settled];
        struct dx__autohand_message message = {.role = DX__ROLE_TOOL,
                                               .call_id = dx_str(work->id),
                                               .name = dx_str(work->call.tool_name)};
        if (work->result)
            message.text = (dx_text){work->result, work->result_len};
        else
            message.text = dx_str(work->why ? work->why : "out of memory");
        if (dx__autohand_history_add(agent, &message) != DX_OK) {
            dx__autohand_turn_fail(turn, DX_AUTOHAND_EXECUTION, NULL, dx_str("out of memory"));
            return false;
        }
        dx__autohand_turn_note(turn, dx_str(work->note));
        work->stage = DX__WORK_SETTLED;
        dx__autohand_work_shrink(work);
        turn->settled++;
    }
    return true;
}

/* Those whose end, or whose answer from inside, has come. */
static void look_after(struct dx__autohand_turn *turn) {
    turn->running = 0;
    for (size_t i = turn->settled; i < turn->started; i++) {
        struct dx__autohand_work *work = turn->works[i];
        if (work->stage == DX__WORK_READY && work->started)
            dx__autohand_work_run(work);
        if (work->started && work->stage < DX__WORK_DONE) {
            turn->reads_only = turn->running ? turn->reads_only && reads(work) : reads(work);
            turn->running++;
        }
    }
}

bool dx__autohand_turn_calls(struct dx__autohand_turn *turn) {
    uint64_t since = dx__autohand_core_clock();
    size_t done = 0;
    bool at_once = turn->agent->config.compat == DX_AUTOHAND_0_8;
    bool in_turn = turn->agent->config.compat == DX_AUTOHAND_0_6;
    look_after(turn);
    if (!settle(turn) || (in_turn && turn->running))
        return false;
    if (!judge(turn, &done) && !in_turn)
        return false;
    if (at_once)
        begin_all(turn);
    while (turn->started < turn->judged && may_start(turn, turn->works[turn->started])) {
        if (is_time_up(turn, since, done++)) {
            dx__autohand_turn_wake(turn);
            break;
        }
        begin(turn, turn->works[turn->started]);
        look_after(turn);
        if (!settle(turn))
            return false;
        if (!at_once && turn->judged == turn->started && turn->started < turn->work_count)
            dx__autohand_turn_wake(turn);
    }
    look_after(turn);
    if (!settle(turn) || turn->settled < turn->work_count)
        return false;
    dx__autohand_turn_drop_calls(turn);
    return true;
}

void dx__autohand_turn_drop_calls(struct dx__autohand_turn *turn) {
    for (size_t i = 0; i < turn->work_count; i++)
        dx__autohand_work_free(turn->works[i]);
    turn->work_count = turn->looked_at = turn->judged = turn->started = turn->settled =
        turn->running = 0;
}
