/* What only a host does: the handshake, and asking its plugin to leave. */
#include "cli/mock/mock.h"
#include "cli/mock/task.h"
#include "cli/say.h"
#include "cli/waiting.h"

#include <string.h>

enum { PROBE_MS = 2000, STEP_MS = 30000, CLOSE_MS = 2000 };
/* Ids of our own begin behind this one beside those of a trace. */
enum { NOT_RECORDED = 1000000000 };

static void start_script(struct mock *mock) {
    mock_entry *first = mock->trace && mock->trace->count ? mock->trace->entries[0] : NULL;
    if (mock->script && mock->script->start)
        mock_do(mock, mock->script->start, NULL, NULL, 0);
    if (first && !first->message) {
        first->used = true;
        mock_play(mock, first, NULL);
    }
}

/* A request that nobody minds: so that a fault of ours has something to be in. */
static void probe(struct mock *mock) {
    dx_buf params;
    dx_buf_init(&params, 1 << 20, NULL);
    uint64_t timeout_ms = mock->options->timeout_ms ? mock->options->timeout_ms : PROBE_MS;
    struct mock_ask ask = {.asking = MOCK_PROBE, .timeout_ms = timeout_ms};
    ask.method = dx_str(mock_own_method(mock, false, &params));
    ask.params = (dx_text){params.len ? params.data : NULL, params.len};
    (void)mock_call(mock, NULL, &ask);
    dx_buf_done(&params);
}

/* An answer to nothing, in which a fault of answers is. */
static void answer_nothing(struct mock *mock, mock_fault fault) {
    dx_buf text;
    dx_buf_init(&text, SIZE_MAX / 2, NULL);
    if (mock_fault_answer(mock, fault, NULL,
                          dx_str("{\"jsonrpc\":\"2.0\",\"id\":4711,\"result\":{}}"), &text))
        mock_say(mock, NULL, (dx_text){text.data, text.len});
    else
        mock_fail(mock, CLI_NO_START, "out of memory");
    dx_buf_done(&text);
}

/* Nobody may ever ask us something: so each fault has its occasion now. */
static void do_faults(struct mock *mock) {
    static const char nothing[] = "{\"jsonrpc\":\"2.0\",\"id\":4711,\"result\":{}}";
    for (mock_fault fault = 0; fault < MOCK_FAULT_COUNT && !mock->over; fault++) {
        mock_fault_class class = mock_fault_class_of(fault);
        bool in_message = class == MOCK_IN_FRAME || class == MOCK_IN_TEXT;
        if (!mock->fault[fault] || mock->fault_done[fault] || in_message)
            continue;
        if (class == MOCK_BY_ITSELF)
            mock_fault_say(mock, fault, NULL);
        if (class == MOCK_IN_ANSWER)
            answer_nothing(mock, fault);
        if (fault == MOCK_FAULT_ANSWER_TWICE || fault == MOCK_FAULT_ANSWERS_NOTICE)
            mock_say(mock, NULL, dx_str(nothing));
        if (class == MOCK_IN_LIFE && fault != MOCK_FAULT_LATE && fault != MOCK_FAULT_STUCK &&
            fault != MOCK_FAULT_CANCEL_IGNORED)
            (void)mock_fault_live(mock, NULL, fault, NULL, dx_str(nothing));
        mock->fault_done[fault] = true;
    }
}

void mock_greeted(struct mock *mock) {
    mock->greeted = true;
    if (mock_fault_now(mock, MOCK_FAULT_DEAF, NULL))
        mock_read(mock, false);
    if (mock->side == DX_SIDE_PLUGIN)
        return;
    if (mock->use_count) {
        do_faults(mock);
        if (!mock->dying)
            probe(mock);
    }
    if (!mock->dying && !mock->trace)
        start_script(mock);
}

void mock_take_step(struct mock *mock) {
    while (mock->step && mock->step->method && !mock->over) {
        const dx_step *step = mock->step++;
        struct mock_ask ask = {.asking = MOCK_STEP,
                               .method = dx_str(step->method),
                               .params = dx_str(step->params),
                               .timeout_ms =
                                   mock->options->timeout_ms ? mock->options->timeout_ms : STEP_MS};
        if (!step->notification) {
            if (mock_call(mock, NULL, &ask))
                cli_waiting_begin(&(cli_waiting){.what = step->method,
                                                 .who = "the program has",
                                                 .most_ms = ask.timeout_ms,
                                                 .written = &mock->tail.written});
            return;
        }
        mock_notify(mock, NULL, ask.method, ask.params);
    }
    if (!mock->over) {
        mock->step = NULL;
        mock->met = true;
        mock_greeted(mock);
    }
}

void mock_begin(struct mock *mock) {
    if (mock->trace)
        mock->last_id = NOT_RECORDED;
    mock_faults_start(mock);
    if (mock->side == DX_SIDE_HOST && !mock->trace) {
        mock_take_step(mock);
        return;
    }
    if (mock->side == DX_SIDE_HOST && (!mock->step || !mock->step->method))
        mock_greeted(mock);
    start_script(mock); /* or the trace, which has its handshake */
}

/* Leaving: the goodbye, the end of its input, SIGTERM (and SIGKILL). */

static void on_time(dx_timer *timer, void *user) {
    (void)timer;
    mock_leave(user);
}

static uint64_t usual(uint64_t ms) {
    return ms && ms != DX_NEVER ? ms : CLOSE_MS;
}

static bool say_goodbye(struct mock *mock, const dx_protocol_facts *facts) {
    struct mock_ask ask = {.asking = MOCK_GOODBYE,
                           .method = dx_str(facts->stop_call),
                           .params = dx_str(facts->stop_params),
                           .timeout_ms = usual(facts->stop_call_ms)};
    return mock->has_protocol && mock->met && !mock->trace && facts->stop_call &&
           !mock->input_ended && mock_call(mock, NULL, &ask);
}

void mock_leave(struct mock *mock) {
    const dx_protocol_facts *facts = dx_protocol_facts_of(mock->protocol);
    if (mock->over)
        return;
    if (!mock->timer && dx_timer_new(mock->loop, on_time, mock, &mock->timer) != DX_OK) {
        mock_fail(mock, CLI_NO_START, "out of memory");
        return;
    }
    mock->phase = MOCK_LEAVING;
    mock_read(mock, true);
    switch (mock->rung++) {
    case 0:
        if (say_goodbye(mock, facts))
            return;
        mock->rung++;
        /* fall through */
    case 1:
        if (mock->has_protocol && mock->met && !mock->trace && facts->stop_notify &&
            !mock->input_ended)
            mock_notify(mock, NULL, dx_str(facts->stop_notify), dx_str(NULL));
        mock_outlet_close(&mock->outlet);
        mock->rung = 2;
        dx_timer_set(mock->timer, usual(facts->stop_close_ms));
        break;
    default:
        cli_wire_stop(mock->wire);
    }
}
