/* A mock from its beginning to its end. */
#include "cli/mock/mock.h"
#include "cli/mock/task.h"
#include "cli/record.h"
#include "cli/say.h"
#include "cli/subreaper.h"
#include "cli/wait.h"
#include "cli/waiting.h"

#include "base/line.h"

#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* How long what waits may still be written once we were told to end; how long a host waits for what
 * its plugin said in the trace. */
enum { DRAIN_MS = 1000, QUIET_MS = 2000 };
/* With how much that waits to be written, or how many rules that wait for that, a plugin stops
 * reading; only a reader that waits for us as well would not go on then. */
enum { CHOKE_BYTES = 64 << 20, CHOKE_TASKS = 5000 };

void mock_fail(struct mock *mock, int code, const char *format, ...) {
    char *message = NULL;
    va_list list;
    if (mock->over)
        return;
    mock->over = true;
    mock->code = code;
    va_start(list, format);
    int len = vasprintf(&message, format, list);
    va_end(list);
    cli_tail_fail(&mock->tail, NULL, code, len < 0 ? NULL : message, NULL, NULL);
    if (len >= 0)
        free(message);
}

void mock_die(struct mock *mock, int code, int number) {
    if (mock->dying)
        return;
    mock->dying = true;
    mock->code = code;
    mock->die_of = number;
}

/* Without a core: it is no accident. */
static void die_of(int number) {
    struct rlimit none = {0, 0};
    sigset_t set;
    setrlimit(RLIMIT_CORE, &none);
    signal(number, SIG_DFL);
    sigemptyset(&set);
    sigaddset(&set, number);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    kill(getpid(), number);
}

/* The wire. */

void mock_read(struct mock *mock, bool reads) {
    bool leaves = mock->side == DX_SIDE_HOST && mock->phase == MOCK_LEAVING;
    mock->not_reading = !reads && !leaves; /* who is not read is not seen to end */
    cli_wire_pause(mock->wire, mock->not_reading || mock->choked);
}

/* A host reads on, for the same reason. */
static void look_for_room(struct mock *mock) {
    const mock_outlet *outlet = &mock->outlet;
    bool choked =
        outlet->held > CHOKE_BYTES || (mock->task_count > CHOKE_TASKS && mock_outlet_full(outlet));
    if (choked == mock->choked || mock->side == DX_SIDE_HOST)
        return;
    mock->choked = choked;
    mock_read(mock, !mock->not_reading);
}

/* What comes can't be framed any more. A plugin waits for the end of it. */
static void hear_no_more(struct mock *mock, const dx_frame *frame) {
    dx_error error;
    dx__error_set(&error, frame->fault, frame->offset, frame->found, frame->expected);
    if (mock->side == DX_SIDE_HOST && mock->phase != MOCK_LEAVING && !mock->dying)
        mock_fail(mock, CLI_VIOLATION, "cannot split the plugin's output into messages: %s",
                  error.phrase);
    else if (frame->fault != DX_FAULT_TRUNCATED)
        cli_note("cannot split the input into messages, ignoring the rest: %s", error.phrase);
}

static void on_frame(cli_wire *wire, const dx_frame *frame, uint64_t bytes, void *user) {
    struct mock *mock = user;
    (void)wire;
    (void)bytes;
    mock->heard_ms = cli_now();
    bool is_message =
        frame->kind == DX_FRAME_MESSAGE && frame->text.len && memchr("{[ \t", frame->text.at[0], 4);
    mock->tail.written.messages += is_message;
    mock->tail.written.noise += !is_message && frame->kind != DX_FRAME_FAULT;
    if (frame->kind == DX_FRAME_FAULT && frame->fatal)
        hear_no_more(mock, frame);
    if (frame->kind == DX_FRAME_MESSAGE && !mock->over && !mock->dying)
        mock_hear(mock, frame->text);
}

static void on_errors(cli_wire *wire, dx_text bytes, void *user) {
    struct mock *mock = user;
    (void)wire;
    for (size_t i = 0; i < bytes.len; i++)
        mock->tail.written.errors += bytes.at[i] == '\n';
    cli_tail_add(&mock->tail, bytes);
}

static void on_room(cli_wire *wire, void *user) {
    struct mock *mock = user;
    (void)wire;
    mock_outlet_pump(&mock->outlet);
}

static void on_closed(cli_wire *wire, void *user) {
    struct mock *mock = user;
    (void)wire;
    mock->input_ended = true;
    if (mock->deaf_to_end)
        return;
    mock_tasks_hurry(mock);
    mock_later_free(mock);
    if (mock->side == DX_SIDE_HOST && mock->phase != MOCK_LEAVING) {
        mock->closed_early = !mock->outlet.closed; /* else it had to */
        mock->rung = 1;
        mock_leave(mock);
    }
}

static void on_gone(cli_wire *wire, const dx_gone *gone, void *user) {
    struct mock *mock = user;
    (void)wire;
    mock->gone = true;
    mock_outlet_drop(&mock->outlet);
    if (!gone)
        return; /* nobody reads: the end of the input follows */
    if (mock->phase == MOCK_LEAVING && !mock->closed_early) {
        mock->over = true;
        return;
    }
    mock_fail(mock, CLI_ENDED, "the plugin exited early: %s",
              gone->error.fault ? gone->error.phrase : "the program exited with code 0");
}

/* The end. */

/* Until when something of the trace may still come. */
static uint64_t quiet_at(const struct mock *mock) {
    bool waits = mock->side == DX_SIDE_HOST && mock->trace && mock->phase == MOCK_RUNNING &&
                 !mock->tasks && !mock->calls && mock_trace_waits(mock->trace);
    return waits ? mock->heard_ms + QUIET_MS : DX_NEVER;
}

/* Is there anything left to do, for a host? */
static bool is_idle(const struct mock *mock) {
    return (mock->greeted || mock->trace) && !mock->tasks && !mock->calls &&
           !mock_later_waits(mock) && !mock->held && mock_outlet_empty(&mock->outlet);
}

static void end_script(struct mock *mock) {
    mock->phase = MOCK_ENDING;
    mock->hurry_ms = cli_now() + MOCK_HURRY_MS;
    if (mock->script && mock->script->end)
        mock_do(mock, mock->script->end, NULL, NULL, 0);
}

static void look_as_plugin(struct mock *mock) {
    if (!mock->input_ended || mock->deaf_to_end)
        return;
    if (mock->phase == MOCK_RUNNING && !mock->tasks)
        end_script(mock);
    if (mock->phase == MOCK_ENDING && !mock->tasks && mock_outlet_empty(&mock->outlet))
        mock->over = true;
}

/* What the plugin said in the trace does not come. The rest of what we said is said all the same,
 * but for answers. */
static void go_on_without(struct mock *mock) {
    mock_entry *entry;
    bool says = false;
    while (!says && !mock->over && (entry = mock_trace_waits(mock->trace))) {
        entry->used = true;
        for (size_t i = 0; i < entry->count; i++)
            says |= !entry->lines[i].is_answer;
        if (entry->message)
            cli_note("the plugin did not send '%s' as in the trace", entry->message->method);
        mock->heard_ms = cli_now();
        mock_play(mock, entry, NULL);
    }
}

static void look_as_host(struct mock *mock) {
    uint64_t quiet = quiet_at(mock);
    if (quiet <= cli_now()) {
        go_on_without(mock);
        quiet = quiet_at(mock);
    }
    bool rests = mock->phase == MOCK_RUNNING && is_idle(mock) && quiet == DX_NEVER;
    if (rests && !mock->greeted) {
        mock_greeted(mock); /* the trace has no handshake, or not all of it */
        rests = is_idle(mock);
    }
    if (rests && !mock->options->stay && !mock->deaf_to_end)
        end_script(mock);
    if (mock->phase == MOCK_ENDING && is_idle(mock))
        mock_leave(mock);
}

/* All was written. A plugin gets to see where its input ends, and time to leave. */
static void die(struct mock *mock) {
    if (mock->die_of)
        die_of(mock->die_of);
    if (mock->side == DX_SIDE_PLUGIN || mock->die_of || mock->gone) {
        mock->over = true;
    } else if (mock->phase != MOCK_LEAVING) {
        mock->met = false; /* without a goodbye */
        mock->rung = 1;
        mock_leave(mock);
    }
}

void mock_look(struct mock *mock) {
    mock_outlet_pump(&mock->outlet);
    mock_tasks_go_on(mock);
    bool empty = mock_outlet_empty(&mock->outlet);
    int lost = cli_wire_lost(mock->wire);
    if (lost)
        mock_fail(mock, CLI_ENDED, "cannot write the output: %s", strerror(lost));
    if (mock->over)
        return;
    if (mock->reads_later && empty) {
        mock->reads_later = false;
        mock_read(mock, true);
    }
    look_for_room(mock);
    if (mock->dying) {
        if (empty)
            die(mock);
    } else if (mock->side == DX_SIDE_PLUGIN) {
        look_as_plugin(mock);
    } else {
        look_as_host(mock);
    }
}

/* Somebody wants us to end. */
static void end_by_signal(struct mock *mock) {
    if (mock->side == DX_SIDE_HOST) {
        mock_fail(mock, CLI_INTERRUPTED, "interrupted");
        return;
    }
    uint64_t until = cli_now() + DRAIN_MS;
    int before = cli_interrupts();
    mock_tasks_free(mock);
    mock_later_free(mock);
    mock->input_ended = true;
    mock->deaf_to_end = false;
    while (!mock->over && cli_now() < until && cli_interrupts() == before) {
        mock_look(mock);
        if (!mock->over)
            cli_wait(mock->loop, until);
    }
    mock->over = true;
}

static int open_wire(struct mock *mock) {
    const dx_protocol_facts *facts = dx_protocol_facts_of(mock->protocol);
    const struct mock_options *options = mock->options;
    const char *framing = options->framing ? options->framing
                          : mock->script   ? mock->script->framing
                                           : NULL;
    bool as_recorded = mock->trace && mock->trace->framing && !mock->has_protocol;
    dx_error error = {.fault = DX_FAULT_NONE};
    cli_wire_config config = {.loop = mock->loop,
                              .command = mock->command,
                              .start = options->start,
                              .framing = framing ? dx_framing_named(framing) : facts->framing,
                              .either = !framing,
                              .lenient = facts->lenient,
                              .fields = facts->fields,
                              .content_type = facts->content_type,
                              .message_max = facts->message_max,
                              .recorder = mock->recorder,
                              .name = mock->command ? mock->command[0] : "mock",
                              .show = options->show,
                              .user = mock,
                              .warns = true,
                              .on_frame = on_frame,
                              .on_errors = on_errors,
                              .on_room = on_room,
                              .on_closed = on_closed,
                              .on_gone = on_gone};
    if (as_recorded && !framing)
        config.framing = mock->trace->framing;
    if (mock->needed_framing)
        config.framing = mock->needed_framing;
    int code = cli_wire_open(&config, &mock->wire, &error);
    return code == CLI_OK ? CLI_OK : cli_fail(code, "%s", error.phrase);
}

static int begin(struct mock *mock) {
    dx_error error = {.fault = DX_FAULT_NONE};
    int code = cli_record_open(mock->options->record, &mock->recorder);
    if (code != CLI_OK)
        return code;
    if (cli_loop_new(mock->options->start.keep_daemons || !mock->command, &mock->loop, &error) !=
        DX_OK)
        return cli_fail(CLI_NO_START, "%s", error.phrase);
    if (!mock_outlet_init(&mock->outlet, mock))
        return cli_fail(CLI_NO_START, "out of memory");
    cli_catch_signals();
    return open_wire(mock);
}

static void finish(struct mock *mock) {
    mock->over = true;
    mock_tasks_free(mock);
    mock_later_free(mock);
    while (mock->calls) {
        if (mock->calls->about)
            mock->calls->about->answered = true;
        mock_call_free(mock->calls);
    }
    mock_outlet_done(&mock->outlet);
    dx_timer_free(mock->timer);
    cli_wire_close(mock->wire);
    cli_loop_free(mock->loop);
    cli_record_close(mock->recorder);
    free(mock->held);
}

int mock_run(struct mock *mock) {
    int code = begin(mock);
    if (code == CLI_OK) {
        int before = cli_interrupts();
        mock->step = mock->has_protocol ? dx_protocol_facts_of(mock->protocol)->start : NULL;
        mock->greeted = mock->side == DX_SIDE_PLUGIN && (!mock->step || !mock->step->method);
        mock->heard_ms = cli_now();
        mock_begin(mock);
        mock_look(mock);
        while (!mock->over) {
            uint64_t quiet = quiet_at(mock);
            if (mock->greeted)
                cli_waiting_end();
            cli_wait(mock->loop, quiet > cli_now() ? quiet : DX_NEVER);
            if (cli_interrupts() != before && !mock->over)
                end_by_signal(mock);
            mock_look(mock);
        }
        code = mock->code;
    }
    cli_waiting_end();
    finish(mock);
    return code;
}
