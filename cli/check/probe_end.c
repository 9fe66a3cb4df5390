/* Before the handshake, and how it ends. */
#include "cli/check/probe.h"

#include "cli/wait.h"

#include <signal.h>

/* Before the handshake. */

static void skip_early(check_talk *talk, const char *why) {
    static const check_id ids[] = {CHECK_START_EARLY, CHECK_START_EARLY_SERVED,
                                   CHECK_START_EARLY_CODE, CHECK_START_AFTER};
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++)
        check_skip(talk->report, ids[i], "%s", why);
}

/* What may not be sent now; NULL: there is nothing. */
static const check_call *find_early(const check_talk *talk, int64_t *ret_code) {
    static const check_call none = {.method = CHECK_NO_METHOD};
    const check_plan *plan = talk->plan;
    for (size_t i = 0; i <= plan->call_count; i++) {
        const check_call *call = i < plan->call_count ? &plan->calls[i] : &none;
        if (!call->given && dx_protocol_may(talk->protocol, 0, dx_str(call->method), talk->us,
                                            ret_code, NULL) == DX_LEAVE_NO)
            return call;
    }
    return NULL;
}

/* Some protocols have an error for it, and so want it refused; others only tell the host not to ask
 * so early. The codes of JSON-RPC itself are of the latter. */
static bool has_error_for_it(int64_t code) {
    return code < DX_CODE_INTERNAL || code > DX_CODE_REQUEST;
}

static void try_early(check_talk *talk, const check_call *call, int64_t code) {
    check_report *report = talk->report;
    check_id served = has_error_for_it(code) ? CHECK_START_EARLY : CHECK_START_EARLY_SERVED;
    check_try(report, CHECK_START_EARLY);
    check_try(report, CHECK_START_EARLY_SERVED);
    talk->bear |= CHECK_BEAR_NULL;
    size_t asked = check_ask(talk, NULL, call->method, call->params);
    /* It is still starting, and others are at the same time. */
    uint64_t ms = talk->plan->timeout_ms + 4 * talk->plan->greeted_ms;
    bool answered = check_await_quietly(talk, asked, ms, false);
    check_proof proof = check_proof_of(talk, asked);
    talk->bear = 0;
    if (talk->fatal || cli_interrupts())
        return;
    if (!answered) {
        check_fail(report, CHECK_START_EARLY, &proof,
                   talk->gone ? "the program exited" : "expected an error, got no response");
    } else if (talk->asked[asked].is_result) {
        check_fail(report, served, &proof, "expected an error, got a result");
    } else if (served == CHECK_START_EARLY_SERVED) {
        check_skip(report, CHECK_START_EARLY_CODE,
                   "the protocol defines no error for a request before the handshake");
    } else {
        check_try(report, CHECK_START_EARLY_CODE);
        if (talk->asked[asked].code != code)
            check_fail(report, CHECK_START_EARLY_CODE, &proof,
                       "expected error %lld, got error %lld", (long long)code,
                       (long long)talk->asked[asked].code);
    }
    if (talk->gone)
        return;
    check_try(report, CHECK_START_AFTER);
    talk->greeting = CHECK_START_AFTER;
    (void)check_greet(talk);
}

void check_probe_early(check_talk *talk) {
    int64_t code = 0;
    const check_call *call = find_early(talk, &code);
    if (!talk->facts->start || !talk->facts->start->method)
        skip_early(talk, "the protocol has no handshake");
    else if (!call)
        skip_early(talk, "the protocol allows every request before the handshake");
    else {
        talk->leaving = true;
        try_early(talk, call, code);
    }
}

/* Ends. */

static uint64_t time_of(const check_plan *plan, uint64_t ms) {
    uint64_t own = plan->options->stop_ms;
    return own ? own : ms && ms != DX_NEVER ? ms : 2000;
}

/* From now on it may end. Is there anything that could? It may have ended with its answer. */
static bool begin_end(check_talk *talk) {
    if (!check_await(talk, check_ask(talk, NULL, CHECK_NO_METHOD, NULL)) || !check_is_up(talk))
        return false;
    talk->leaving = true;
    return true;
}

/* Not the group, and never 0, which would be our own. */
static void send_signal(const check_talk *talk, int number) {
    pid_t pid = cli_wire_pid(talk->wire);
    if (pid > 0 && !talk->gone)
        kill(pid, number);
}

void check_probe_eof(check_talk *talk) {
    check_report *report = talk->report;
    if (!begin_end(talk))
        return;
    uint64_t ms = time_of(talk->plan, talk->facts->stop_close_ms);
    uint64_t before = talk->received;
    check_try(report, CHECK_END_EOF);
    cli_wire_finish(talk->wire);
    bool gone = check_wait_gone(talk, ms);
    check_proof proof = check_proof_here(talk);
    talk->down = true;
    if (!gone && !cli_interrupts()) {
        check_fail(report, CHECK_END_EOF, &proof,
                   "the program is still running %llu ms after its standard input was closed",
                   (unsigned long long)ms);
        return;
    }
    check_try(report, CHECK_END_EOF_QUIET);
    uint64_t more = talk->received - before;
    size_t shown = more < talk->raw.len ? (size_t)more : talk->raw.len;
    proof.came = (dx_text){talk->raw.data + (talk->raw.len - shown), shown};
    proof.offset = talk->received - shown;
    if (more)
        check_fail(report, CHECK_END_EOF_QUIET, &proof,
                   "the program wrote %llu bytes after its standard input was closed",
                   (unsigned long long)more);
}

void check_probe_term(check_talk *talk) {
    if (!begin_end(talk))
        return;
    uint64_t ms = time_of(talk->plan, talk->facts->stop_term_ms);
    check_try(talk->report, CHECK_END_TERM);
    send_signal(talk, SIGTERM);
    check_proof proof = {.scene = talk->scene};
    if (!check_wait_gone(talk, ms) && !cli_interrupts())
        check_fail(talk->report, CHECK_END_TERM, &proof,
                   "the program is still running %llu ms after SIGTERM", (unsigned long long)ms);
    talk->down = true;
}

void check_probe_killed(check_talk *talk) {
    if (!begin_end(talk))
        return;
    for (size_t i = 0; i < 5; i++)
        (void)check_ask_any(talk, NULL, i);
    talk->killed = true;
    send_signal(talk, SIGKILL);
    (void)check_wait_gone(talk, 2000);
    talk->down = true;
}
