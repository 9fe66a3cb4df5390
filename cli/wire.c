#include "cli/wire.h"

#include "cli/lane.h"
#include "cli/say.h"
#include "cli/stdio.h"
#include "cli/tail.h"
#include "frame/noise.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct cli_wire {
    cli_wire_config config;
    dx_program *program; /* or … */
    cli_stdio *stdio;    /* … our own */
    cli_lane in;
    cli_lane out; /* only for who looks on */
    bool looked_at;
    unsigned depth; /* of callbacks; who closes the wire in one has it freed behind the last */
    bool closed;
};

/* Callbacks stand between these two; leave() is false if the wire is no more. */
static void enter(cli_wire *wire) {
    wire->depth++;
}

static bool leave(cli_wire *wire) {
    bool is_open = !wire->closed;
    if (--wire->depth == 0 && !is_open)
        free(wire);
    return is_open;
}

static void warn_of_noise(const cli_lane *lane, const dx_frame *frame) {
    bool is_line = frame->kind == DX_FRAME_MESSAGE && lane->framing == DX_FRAMING_LINE;
    bool is_noise = frame->kind == DX_FRAME_STRAY || (is_line && dx__is_noise(frame->text));
    const char *warning = is_noise ? cli_noise("the program", frame->text) : NULL;
    if (warning)
        cli_warn("%s", warning);
}

static void tell_frame(cli_lane *lane, const dx_frame *frame, uint64_t bytes) {
    cli_wire *wire = (cli_wire *)((char *)lane - offsetof(cli_wire, in));
    if (wire->config.warns && wire->config.command)
        warn_of_noise(lane, frame);
    if (wire->config.on_frame)
        wire->config.on_frame(wire, frame, bytes, wire->config.user);
}

static void take_bytes(cli_wire *wire, dx_text bytes) {
    enter(wire);
    if (wire->config.on_bytes)
        wire->config.on_bytes(wire, bytes, wire->config.user);
    bool good = wire->closed || cli_lane_feed(&wire->in, bytes);
    if (!good && !wire->closed) {
        dx_frame lost = {.kind = DX_FRAME_FAULT, .fault = DX_FAULT_SYSTEM, .fatal = 1};
        tell_frame(&wire->in, &lost, 0);
    }
    leave(wire);
}

static void take_end(cli_wire *wire) {
    enter(wire);
    cli_lane_finish(&wire->in);
    if (!wire->closed && wire->config.on_closed)
        wire->config.on_closed(wire, wire->config.user);
    leave(wire);
}

static void take_room(cli_wire *wire) {
    enter(wire);
    if (wire->config.on_room)
        wire->config.on_room(wire, wire->config.user);
    leave(wire);
}

static void take_gone(cli_wire *wire, const dx_gone *gone) {
    enter(wire);
    if (wire->config.on_gone)
        wire->config.on_gone(wire, gone, wire->config.user);
    leave(wire);
}

/* A program. */

static void on_output(dx_program *program, int errors, dx_text bytes, void *user) {
    cli_wire *wire = user;
    (void)program;
    if (!errors)
        take_bytes(wire, bytes);
    else if (wire->config.on_errors)
        wire->config.on_errors(wire, bytes, wire->config.user);
}

static void on_closed(dx_program *program, int errors, void *user) {
    (void)program;
    if (!errors)
        take_end(user);
}

static void on_room(dx_program *program, void *user) {
    (void)program;
    take_room(user);
}

static void on_end(dx_program *program, dx_program_end end, const dx_gone *gone, void *user) {
    (void)program;
    (void)end;
    take_gone(user, gone);
}

static int start_program(cli_wire *wire, dx_error *reterr) {
    const cli_wire_config *config = &wire->config;
    const char **env = cli_ended(&config->start.env);
    if (!env)
        return CLI_NO_START;
    dx_program_config program = dx_program_defaults((const char *const *)config->command);
    program.cwd = config->start.cwd;
    program.env = env;
    program.inherit_env = !config->start.clean_env;
    program.piped = 1;
    program.on_output = on_output;
    program.on_closed = on_closed;
    program.on_room = on_room;
    program.on_end = on_end;
    program.user = wire;
    dx_status status = dx_program_start(config->loop, &program, &wire->program, reterr);
    free(env);
    return status == DX_OK ? CLI_OK : CLI_NO_START;
}

/* Our own input and output. */

static void stdio_bytes(dx_text bytes, void *user) {
    take_bytes(user, bytes);
}

static void stdio_end(void *user) {
    take_end(user);
}

static void stdio_room(void *user) {
    take_room(user);
}

static void stdio_gone(void *user) {
    take_gone(user, NULL);
}

static int take_stdio(cli_wire *wire, dx_error *reterr) {
    cli_stdio_config config = {.loop = wire->config.loop,
                               .on_bytes = stdio_bytes,
                               .on_end = stdio_end,
                               .on_room = stdio_room,
                               .on_gone = stdio_gone,
                               .user = wire};
    errno = 0;
    wire->stdio = cli_stdio_open(&config);
    if (!wire->stdio && errno)
        snprintf(reterr->phrase, sizeof reterr->phrase,
                 "the standard input and output cannot be used: %s", strerror(errno));
    return wire->stdio ? CLI_OK : CLI_NO_START;
}

int cli_wire_open(const cli_wire_config *config, cli_wire **ret_wire, dx_error *reterr) {
    cli_wire *wire = calloc(1, sizeof *wire);
    *reterr = (dx_error){.fault = DX_FAULT_NONE, .phrase = "out of memory"};
    if (!wire)
        return CLI_NO_START;
    wire->config = *config;
    wire->config.began_us = dx_recorder_now_us();
    wire->looked_at = config->recorder || config->show;
    dx_trace_from them = config->command ? DX_TRACE_PLUGIN : DX_TRACE_HOST;
    dx_trace_from us = config->command ? DX_TRACE_HOST : DX_TRACE_PLUGIN;
    bool good = cli_lane_init(&wire->in, &wire->config, them);
    wire->in.tell = tell_frame;
    good = cli_lane_init(&wire->out, &wire->config, us) && good;
    int code = !good             ? CLI_NO_START
               : config->command ? start_program(wire, reterr)
                                 : take_stdio(wire, reterr);
    if (code == CLI_OK)
        *ret_wire = wire;
    else
        cli_wire_close(wire);
    return code;
}

cli_wire *cli_wire_close(cli_wire *wire) {
    if (!wire || wire->closed)
        return NULL;
    wire->closed = true;
    dx_program_free(wire->program);
    cli_stdio_close(wire->stdio);
    cli_lane_done(&wire->in);
    cli_lane_done(&wire->out);
    if (!wire->depth)
        free(wire);
    return NULL;
}

bool cli_wire_write(cli_wire *wire, dx_text bytes) {
    if (wire->looked_at)
        (void)cli_lane_feed(&wire->out, bytes);
    return wire->program ? dx_program_write(wire->program, bytes) == DX_OK
                         : cli_stdio_write(wire->stdio, bytes);
}

bool cli_wire_say(cli_wire *wire, dx_text message) {
    dx_buf framed;
    dx_buf_init(&framed, SIZE_MAX / 2, NULL);
    bool good = dx_frame_write(&framed, cli_wire_framing(wire), wire->config.content_type,
                               message) == DX_OK &&
                cli_wire_write(wire, (dx_text){framed.data, framed.len});
    dx_buf_done(&framed);
    return good;
}

int cli_wire_lost(const cli_wire *wire) {
    return wire->stdio ? cli_stdio_lost(wire->stdio) : 0;
}

size_t cli_wire_waiting(const cli_wire *wire) {
    return wire->program ? dx_program_waiting(wire->program) : cli_stdio_waiting(wire->stdio);
}

size_t cli_wire_unread(const cli_wire *wire) {
    return wire->program ? dx_program_unread(wire->program) : cli_stdio_unread(wire->stdio);
}

void cli_wire_finish(cli_wire *wire) {
    if (wire->program)
        dx_program_close_input(wire->program);
    else
        cli_stdio_finish(wire->stdio);
}

void cli_wire_pause(cli_wire *wire, bool paused) {
    if (wire->program)
        dx_program_pause(wire->program, paused);
    else
        cli_stdio_pause(wire->stdio, paused);
}

void cli_wire_deafen(cli_wire *wire) {
    if (wire->program)
        dx_program_pause(wire->program, 1);
    else
        cli_stdio_deafen(wire->stdio);
}

/* Whoever speaks in the other framing is answered in it. */
dx_framing cli_wire_framing(const cli_wire *wire) {
    return wire->in.framing;
}

pid_t cli_wire_pid(const cli_wire *wire) {
    return wire->program ? dx_program_pid(wire->program) : 0;
}

void cli_wire_stop(cli_wire *wire) {
    if (wire->program)
        dx_program_stop(wire->program);
}

void *cli_wire_user(const cli_wire *wire) {
    return wire->config.user;
}
