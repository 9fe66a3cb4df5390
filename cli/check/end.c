/* How the program ends, what it leaves behind, and why it is silent. */
#include "cli/check/process.h"
#include "cli/check/talk.h"

#include "cli/wait.h"

#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* How long a process may outlive the first one of its session: it may have to notice that, and to
 * clean up. Whoever was found out once is not waited for again. */
enum { LEFT_AGAIN_MS = 100, LOOK_MS = 5 };

/* Exits. */

/* Is it a living process of that session, and not its first one? */
static bool is_left(const char *entry, pid_t session, check_process *ret_process) {
    long pid = entry[0] < '1' || entry[0] > '9' || strlen(entry) > 10 ? 0 : strtol(entry, NULL, 10);
    return pid && pid != (long)session && check_process_lives(pid, ret_process) &&
           ret_process->session == (long)session;
}

static unsigned count_left(pid_t session, char name[32]) {
    unsigned count = 0;
    check_process process;
    DIR *folder = opendir("/proc");
    const struct dirent *entry;
    while (folder && (entry = readdir(folder)))
        if (is_left(entry->d_name, session, &process) && !count++)
            memcpy(name, process.name, sizeof process.name);
    if (folder)
        closedir(folder);
    return count;
}

static uint64_t left_ms(const check_talk *talk, check_id id) {
    uint64_t own = talk->plan->options->stop_ms;
    return check_has_failed(talk->report, id) ? LEFT_AGAIN_MS : own ? own : talk->plan->timeout_ms;
}

void check_look_for_exit(check_talk *talk) {
    struct timespec pause = {0, LOOK_MS * 1000000L};
    siginfo_t info = {.si_pid = 0};
    pid_t pid = cli_wire_pid(talk->wire);
    char name[32] = "";
    unsigned count;
    if (!pid || talk->exit_seen || talk->gone ||
        waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid != pid)
        return;
    talk->exit_seen = true;
    check_id id = talk->killed ? CHECK_END_KILLED : CHECK_END_PROCESSES;
    uint64_t until = cli_now() + left_ms(talk, id);
    while ((count = count_left(pid, name)) && cli_now() < until && !cli_interrupts())
        nanosleep(&pause, NULL);
    check_try(talk->report, id);
    if (!count || cli_interrupts())
        return;
    check_proof proof = check_proof_here(talk);
    if (count == 1)
        check_fail(talk->report, id, &proof, "its process '%s' is still running", name);
    else
        check_fail(talk->report, id, &proof,
                   "%u of its processes are still running; the first is '%s'", count, name);
}

static void say_end(const check_talk *talk, char *room, size_t len) {
    if (talk->gone_signal)
        snprintf(room, len, "signal %d killed the program", talk->gone_signal);
    else if (talk->gone_known)
        snprintf(room, len, "the program exited with code %d", talk->gone_code);
    else
        snprintf(room, len, "the program exited");
}

/* The line before `end`. */
static dx_text line_before(const check_talk *talk, size_t end) {
    while (end && (talk->errors[end - 1] == '\n' || talk->errors[end - 1] == '\r'))
        end--;
    size_t from = end;
    while (from && talk->errors[from - 1] != '\n')
        from--;
    return (dx_text){talk->errors + from, end - from};
}

/* The line of its standard error that says most: the last one that speaks of an error, since some
 * write a stack or their version behind it; or just the last. */
static dx_text last_error(const check_talk *talk) {
    static const char word[] = "rror";
    dx_text last = line_before(talk, talk->errors_len);
    for (dx_text line = last; line.len; line = line_before(talk, (size_t)(line.at - talk->errors)))
        if (line.at[0] != ' ' && line.at[0] != '\t' &&
            memmem(line.at, line.len, word, sizeof word - 1))
            return line;
    return last;
}

void check_tell_gone(check_talk *talk, const dx_gone *gone) {
    char how[64];
    dx_text line = last_error(talk);
    check_proof proof = check_proof_here(talk);
    talk->gone_known = gone->known;
    talk->gone_code = gone->code;
    talk->gone_signal = gone->signal;
    say_end(talk, how, sizeof how);
    if (gone->escaped && !talk->killed)
        check_fail(talk->report, CHECK_END_PROCESSES, &proof,
                   "a process outside the program's session holds its output open after its exit");
    if (!talk->leaving && line.len)
        check_fail(talk->report, CHECK_LIFE_STAYS, &proof, "%s; it wrote to stderr: %.*s", how,
                   line.len < 300 ? (int)line.len : 300, line.at);
    else if (!talk->leaving)
        check_fail(talk->report, CHECK_LIFE_STAYS, &proof, "%s", how);
}

/* Silence. */

/* The beginning of a message that has no end. */
static dx_text unfinished(const check_talk *talk) {
    uint64_t from = talk->framed > talk->raw_at ? talk->framed : talk->raw_at;
    dx_text rest = {talk->raw.data + (from - talk->raw_at),
                    talk->raw.len - (size_t)(from - talk->raw_at)};
    while (rest.len && memchr(" \t\r\n", rest.at[0], 4)) {
        rest.at++;
        rest.len--;
    }
    return rest;
}

static bool reads(check_talk *talk) {
    enum { SIZE = 48 << 10, PIECES = 8 };
    char *params = malloc(SIZE + 16);
    if (!params)
        return true;
    memset(params, 'x', SIZE + 16);
    memcpy(params, "{\"text\":\"", 9);
    memcpy(params + SIZE, "\"}", 3);
    check_bytes last = talk->last;
    for (int i = 0; i < PIECES; i++)
        check_notify(talk, CHECK_NO_METHOD, params);
    talk->last = last;
    free(params);
    uint64_t until = cli_now() + talk->plan->timeout_ms / 2;
    while (cli_wire_waiting(talk->wire) && cli_now() < until && !talk->gone && !cli_interrupts())
        check_wait_until(talk, until);
    return !cli_wire_waiting(talk->wire);
}

void check_tell_silence(check_talk *talk, size_t asked) {
    check_report *report = talk->report;
    uint64_t half = talk->plan->timeout_ms / 2 + 1;
    dx_text rest = unfinished(talk);
    check_proof proof = check_proof_of(talk, asked);
    talk->down = true;
    if (talk->gone || check_is_over(talk))
        return;
    if (talk->closed) {
        check_fail(report, CHECK_LIFE_OUTPUT, &proof,
                   "the program closed its output, but is still running");
        return;
    }
    if (rest.len) {
        proof.came = rest;
        proof.offset = talk->received - rest.len;
        check_fail(report, CHECK_FRAMING_WHOLE, &proof,
                   "a message began, but the rest of it did not arrive within %llu ms",
                   (unsigned long long)talk->plan->timeout_ms);
        return;
    }
    if (check_await_quietly(talk, asked, half, false)) {
        proof = check_proof_of(talk, asked);
        check_fail(
            report, CHECK_ANSWER_IN_TIME, &proof, "the response took %llu ms",
            (unsigned long long)(talk->asked[asked].answered_ms - talk->asked[asked].asked_ms));
        return;
    }
    (void)check_ask(talk, NULL, CHECK_NO_METHOD, NULL);
    if (check_await_quietly(talk, asked, half, false)) {
        proof = check_proof_of(talk, asked);
        check_fail(report, CHECK_ANSWER_FLUSHED, &proof,
                   "the response arrived only after another request was sent");
    } else if (check_is_over(talk) || talk->gone) {
        return;
    } else if (!reads(talk)) {
        check_fail(report, CHECK_INPUT_READ, &proof,
                   "the program does not read its standard input");
    } else if (!talk->gone && !check_is_over(talk)) {
        uint64_t waited = talk->plan->timeout_ms + 2 * half;
        check_fail(report, CHECK_ANSWER_GIVEN, &proof, "no response within %llu ms",
                   (unsigned long long)waited);
    }
}

/* The beginning and the end of a conversation. */

static bool take_step(check_talk *talk, const dx_step *step) {
    check_report *report = talk->report;
    size_t asked = check_ask(talk, NULL, step->method, step->params);
    check_wait_for(talk, step->method, talk->plan->start_ms);
    bool answered = check_await_quietly(talk, asked, talk->plan->start_ms, false);
    check_proof proof = check_proof_of(talk, asked);
    if (answered && talk->asked[asked].is_result)
        return true;
    talk->down = true;
    if (answered) {
        check_fail(report, talk->greeting, &proof, "the program refused %s with error %lld",
                   step->method, (long long)talk->asked[asked].code);
        return false;
    }
    dx_text rest = unfinished(talk);
    if (rest.len && !talk->fatal) {
        proof.came = rest;
        proof.offset = talk->received - rest.len;
    } else if (!proof.came.at && talk->received) {
        proof.came = (dx_text){talk->raw.data, talk->raw.len};
        proof.offset = talk->raw_at;
    }
    check_fail(report, talk->greeting, &proof,
               talk->gone     ? "the program exited before it responded to %s"
               : talk->fatal  ? "expected a response to %s, got output that is not a message"
               : talk->closed ? "the program closed its output before it responded to %s"
                              : "timed out: no response to %s (--start-timeout)",
               step->method);
    return false;
}

bool check_greet(check_talk *talk) {
    check_try(talk->report, talk->greeting);
    check_try(talk->report, CHECK_LIFE_STAYS);
    for (const dx_step *step = talk->facts->start; step && step->method; step++) {
        if (step->notification)
            check_notify(talk, step->method, step->params);
        else if (!take_step(talk, step))
            return false;
    }
    return check_is_up(talk);
}

static uint64_t time_or(uint64_t ms, uint64_t usual) {
    return ms && ms != DX_NEVER ? ms : usual;
}

void check_bid_farewell(check_talk *talk) {
    const dx_protocol_facts *facts = talk->facts;
    check_report *report = talk->report;
    uint64_t own = talk->plan->options->stop_ms;
    uint64_t call_ms = own ? own : time_or(facts->stop_call_ms, 2000);
    uint64_t close_ms = own ? own : time_or(facts->stop_close_ms, 2000);
    if (!check_is_up(talk))
        return;
    if (facts->stop_call) {
        talk->leaving = true; /* some leave when they have answered that */
        size_t asked = check_ask(talk, NULL, facts->stop_call, facts->stop_params);
        check_try(report, CHECK_END_STOP_ANSWERED);
        if (!check_await_quietly(talk, asked, call_ms, false)) {
            check_proof proof = check_proof_of(talk, asked);
            check_fail(report, CHECK_END_STOP_ANSWERED, &proof, "%s got no response within %llu ms",
                       facts->stop_call, (unsigned long long)call_ms);
        }
    } else {
        check_skip(report, CHECK_END_STOP_ANSWERED, "the protocol has no shutdown request");
    }
    talk->leaving = true;
    talk->parted = true;
    if (facts->stop_notify)
        check_notify(talk, facts->stop_notify, NULL);
    if (!talk->gone)
        cli_wire_finish(talk->wire);
    check_try(report, CHECK_END_STOP);
    check_proof proof = check_proof_here(talk);
    if (!check_wait_gone(talk, close_ms)) {
        check_fail(report, CHECK_END_STOP, &proof,
                   "the program is still running %llu ms after the shutdown",
                   (unsigned long long)close_ms);
        return;
    }
    check_try(report, CHECK_END_CODE);
    if (talk->gone_known && (talk->gone_code || talk->gone_signal)) {
        char how[64];
        say_end(talk, how, sizeof how);
        check_fail(report, CHECK_END_CODE, &proof, "%s", how);
    }
}
