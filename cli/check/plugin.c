/* The other way round: a host is tested by its plugin, which is us. All of it is one conversation,
 * since it is the host that begins it. */
#include "cli/check/scene.h"

#include "cli/check/probe.h"
#include "cli/say.h"
#include "cli/wait.h"

/* From what is harmless to what may end it all. */
static const check_probe probes[] = {
    check_probe_unknown,     check_probe_notification,  check_probe_calls,
    check_probe_ids,         check_probe_together,      check_probe_pieces,
    check_probe_space,       check_probe_line_ends,     check_probe_header_extra,
    check_probe_many,        check_probe_cancel,        check_probe_cancel_unknown,
    check_probe_slow,        check_probe_params_fit,    check_probe_odd_ids,
    check_probe_response,    check_probe_names,         check_probe_duplicate,
    check_probe_params_type, check_probe_large,         check_probe_batch,
    check_probe_batch_empty, check_probe_not_one,       check_probe_invalid,
    check_probe_header_case, check_probe_header_blanks, check_probe_deep,
};

/* Has the host done all of its handshake? */
static bool is_greeted(const check_talk *talk) {
    return !talk->step || !talk->step->method;
}

static bool wait_for_greeting(check_talk *talk) {
    check_report *report = talk->report;
    uint64_t until = cli_now() + talk->plan->start_ms;
    while (!is_greeted(talk) && check_is_up(talk) && cli_now() < until)
        check_wait_until(talk, until);
    check_try(report, CHECK_START_ANSWERED);
    if (is_greeted(talk))
        return check_is_up(talk);
    check_proof proof = {.scene = talk->scene};
    if (talk->received) {
        proof.came = (dx_text){talk->raw.data, talk->raw.len};
        proof.offset = talk->raw_at;
    }
    if (!talk->fatal && talk->received)
        check_fail(report, CHECK_START_ANSWERED, &proof,
                   talk->closed ? "the host ended the conversation before it sent %s"
                                : "timed out: the host did not send %s (--start-timeout)",
                   talk->step->method);
    return false;
}

/* As a plugin that does what it is asked, until nobody asks any more. */
static void serve(check_talk *talk) {
    talk->leaving = true;
    talk->holds = false;
    while (!talk->closed && !talk->gone && !talk->fatal && !cli_interrupts())
        check_wait_until(talk, DX_NEVER);
    check_release(talk);
}

/* There is only this conversation: a host that still answers is asked on. */
static void revive(check_talk *talk) {
    if (!talk->down || talk->closed || talk->gone || talk->fatal)
        return;
    size_t asked = check_ask(talk, NULL, CHECK_NO_METHOD, NULL);
    talk->down = !check_await_quietly(talk, asked, talk->plan->timeout_ms, false);
}

/* A host may end the conversation, and us, at any time: what is known is told before, and what was
 * tried then is not said to have gone well. */
static void run_probes(check_plan *plan, check_talk *talk, void (*tell)(check_plan *plan)) {
    static const char why[] = "the host ended the conversation during this check";
    for (size_t i = 0; i < sizeof probes / sizeof probes[0] && check_is_up(talk); i++) {
        if (!check_is_wanted(plan->report, probes[i]))
            continue;
        tell(plan);
        probes[i](talk);
        revive(talk);
        if (talk->closed || talk->gone)
            check_probe_undo(plan->report, probes[i], why);
    }
}

int check_run_inside(check_plan *plan, void (*tell)(check_plan *plan)) {
    static const char over[] = "the host ended the conversation before this check";
    int code;
    dx_error error;
    check_talk *talk = check_talk_open(plan, "plugin", plan->framing, &code, &error);
    if (!talk)
        return cli_fail(code, "%s", error.phrase);
    talk->holds = true; /* who waits for an answer does not leave */
    if (wait_for_greeting(talk))
        run_probes(plan, talk, tell);
    bool heard = talk->received;
    bool ended = talk->closed || talk->gone;
    check_skip_rest(plan->report, ended               ? over
                                  : check_is_up(talk) ? "this check is for plugins, not for hosts"
                                                      : "the host no longer responds");
    plan->report->complete = true;
    if (heard)
        tell(plan);
    if (!talk->down)
        serve(talk);
    check_talk_close(talk);
    if (!heard)
        return ended ? cli_fail(CLI_ENDED, "the host exited without sending anything")
                     : cli_fail(cli_interrupts() ? CLI_INTERRUPTED : CLI_LATE,
                                "timed out: the host sent nothing (--start-timeout)");
    return CLI_OK;
}
