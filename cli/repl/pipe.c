/* Lines of a pipe or a file. */
#include "cli/repl/repl.h"

#include "cli/say.h"
#include "cli/wait.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

struct input {
    struct repl *repl;
    dx_buf line;      /* what is here of it */
    dx_status status; /* not all of it could be kept */
    int interrupts;   /* before all this */
};

/* Nor is anything done whose result nobody would see. */
static bool is_stopped(const struct input *input) {
    return input->repl->quits || cli_interrupts() != input->interrupts || cli_voice.lost;
}

static void turn(struct repl *repl, uint64_t until) {
    bool work;
    (void)repl_wait(repl, -1, until, &work);
    if (work)
        repl_work(repl);
}

/* When something that is awaited is late. */
static uint64_t late_at(const struct repl *repl) {
    enum { AWAIT_MS = 30000 };
    uint64_t wanted = repl->session->options->timeout_ms;
    uint64_t ms = wanted ? wanted : AWAIT_MS;
    return ms == CLI_NEVER ? DX_NEVER : cli_now() + ms;
}

void repl_await_request(struct repl *repl, uint64_t number) {
    uint64_t until = late_at(repl);
    int before = cli_interrupts();
    while (repl->asks && number > repl->last_request && !repl->quits && !repl->lost &&
           cli_interrupts() == before && cli_now() < until)
        turn(repl, until);
}

static int do_line(struct input *input, uint64_t *ret_call) {
    *ret_call = 0;
    if (input->status == DX_OK)
        input->status = dx_buf_append(&input->line, "", 1);
    if (input->status == DX_ERR_LIMIT)
        return cli_fail(CLI_USAGE, "the line is longer than %d bytes: use @FILE for long params",
                        REPL_LINE_MAX);
    if (input->status != DX_OK)
        return cli_fail(CLI_NO_START, "out of memory");
    return repl_line(input->repl, input->line.data, input->line.len - 1, ret_call);
}

/* The peer reads more slowly than lines come. */
static bool is_behind(const struct repl *repl) {
    enum { UNSENT_MAX = 1 << 20 };
    const dx_link *link = repl_link(repl);
    return link && dx_link_waiting(link) > UNSENT_MAX;
}

/* Does what the line says, and waits until it may be the next one's turn. */
static void end_line(struct input *input) {
    struct repl *repl = input->repl;
    uint64_t number;
    cli_voice.line++;
    size_t line = cli_voice.line;
    repl_note(repl, do_line(input, &number));
    input->line.len = 0;
    input->status = DX_OK;
    /* What comes now may be about any line. */
    cli_voice.line = 0;
    while (!is_stopped(input) && ((number && repl_call_find(repl, number)) || repl_is_full(repl)))
        turn(repl, DX_NEVER);
    uint64_t until = late_at(repl);
    while (!is_stopped(input) && is_behind(repl) && cli_now() < until)
        turn(repl, until);
    cli_voice.line = line;
}

static void take(struct input *input, const char *bytes, size_t len) {
    while (len && !is_stopped(input)) {
        const char *end = memchr(bytes, '\n', len);
        size_t piece = end ? (size_t)(end - bytes) : len;
        if (input->status == DX_OK)
            input->status = dx_buf_append(&input->line, bytes, piece);
        bytes += piece + (end != NULL);
        len -= piece + (end != NULL);
        if (end)
            end_line(input);
    }
}

static void read_all(struct input *input) {
    struct repl *repl = input->repl;
    static char piece[1 << 16];
    ssize_t got = 1;
    while (got > 0 && !is_stopped(input)) {
        bool work;
        bool ready = repl_wait(repl, STDIN_FILENO, DX_NEVER, &work);
        size_t line = cli_voice.line;
        cli_voice.line = 0;
        if (work)
            repl_work(repl);
        cli_voice.line = line;
        if (!ready || is_stopped(input))
            continue;
        got = read(STDIN_FILENO, piece, sizeof piece);
        if (got < 0 && errno == EINTR)
            got = 1;
        else if (got > 0)
            take(input, piece, (size_t)got);
    }
    if (got < 0)
        repl_note(repl, cli_fail(CLI_USAGE, "cannot read standard input: %s", strerror(errno)));
    if (!is_stopped(input) && (input->line.len || input->status != DX_OK))
        end_line(input);
    cli_voice.line = 0;
}

int repl_run_pipe(struct repl *repl) {
    struct input input = {.repl = repl, .interrupts = cli_interrupts()};
    dx_buf_init(&input.line, REPL_LINE_MAX + 1, NULL);
    read_all(&input);
    dx_buf_done(&input.line);
    /* Nobody is left who could answer. */
    repl->asks = false;
    repl_requests_end(repl);
    while (repl->calls_count && !repl->lost && cli_interrupts() == input.interrupts &&
           !repl->judged && !cli_voice.lost)
        turn(repl, DX_NEVER);
    if (cli_interrupts() != input.interrupts) {
        for (struct repl_call *call = repl->calls; call; call = call->next)
            if (!call->ended)
                (void)repl_cancel(repl, call);
        repl_note(repl, cli_fail(CLI_INTERRUPTED, "interrupted"));
    }
    return repl->code;
}
