/* Conversations with a program that we start: the first one alone, then several at once. */
#include "cli/check/scene.h"

#include "cli/check/probe.h"
#include "cli/say.h"
#include "cli/wait.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PROBES_MAX = 8, JOBS_MAX = 4, REOPEN_MAX = 8 };

struct scene {
    const char *name;
    /* All of it; or NULL: the handshake, and these. */
    void (*run)(const check_plan *plan, const struct scene *scene);
    check_probe probes[PROBES_MAX];
};

static const char over[] = "the conversation was over before";

static check_talk *open_talk(const check_plan *plan, const char *name) {
    int code;
    dx_error error;
    return cli_interrupts() ? NULL : check_talk_open(plan, name, plan->framing, &code, &error);
}

/* Each with a program that is up, if there is a way. */
static check_talk *run_probes(const check_plan *plan, const struct scene *scene, check_talk *talk) {
    int opened = 1;
    for (const check_probe *probe = scene->probes; *probe && talk; probe++) {
        if (!check_is_up(talk) && opened++ < REOPEN_MAX) {
            check_talk_close(talk);
            talk = open_talk(plan, scene->name);
            if (talk)
                (void)check_greet(talk);
        }
        if (talk && check_is_up(talk))
            (*probe)(talk);
    }
    return talk;
}

static void play(const check_plan *plan, const struct scene *scene) {
    check_talk *talk = open_talk(plan, scene->name);
    if (talk && check_greet(talk))
        talk = run_probes(plan, scene, talk);
    check_talk_close(talk);
}

/* Before the handshake. */

static void skip_early(const check_plan *plan, const char *why) {
    check_skip(plan->report, CHECK_START_EARLY, "%s", why);
    check_skip(plan->report, CHECK_START_EARLY_CODE, "%s", why);
    check_skip(plan->report, CHECK_START_AFTER, "%s", why);
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

static void try_early(check_talk *talk, const check_call *call, int64_t code) {
    check_report *report = talk->report;
    check_try(report, CHECK_START_EARLY);
    talk->bear |= CHECK_BEAR_NULL;
    size_t asked = check_ask(talk, NULL, call->method, call->params);
    bool answered = check_await_quietly(talk, asked, talk->plan->timeout_ms, false);
    check_proof proof = check_proof_of(talk, asked);
    talk->bear = 0;
    if (talk->fatal || cli_interrupts())
        return;
    if (!answered || talk->asked[asked].is_result) {
        check_fail(report, CHECK_START_EARLY, &proof,
                   answered     ? "it has a result"
                   : talk->gone ? "it ended"
                                : "no answer");
    } else {
        check_try(report, CHECK_START_EARLY_CODE);
        if (talk->asked[asked].code != code)
            check_fail(report, CHECK_START_EARLY_CODE, &proof, "the code is %lld, expected %lld",
                       (long long)talk->asked[asked].code, (long long)code);
    }
    if (talk->gone)
        return;
    check_try(report, CHECK_START_AFTER);
    talk->greeting = CHECK_START_AFTER;
    (void)check_greet(talk);
}

static void play_early(const check_plan *plan, const struct scene *scene) {
    int64_t code = 0;
    check_talk *talk = open_talk(plan, scene->name);
    if (!talk)
        return;
    const check_call *call = find_early(talk, &code);
    if (!talk->facts->start || !talk->facts->start->method)
        skip_early(plan, "the protocol has no handshake");
    else if (!call)
        skip_early(plan, "the protocol lets everything pass before the handshake");
    else {
        talk->leaving = true;
        try_early(talk, call, code);
    }
    check_talk_close(talk);
}

/* Ends. */

static uint64_t time_of(const check_plan *plan, uint64_t ms) {
    uint64_t own = plan->options->stop_ms;
    return own ? own : ms && ms != DX_NEVER ? ms : 2000;
}

/* One that has the handshake behind it, and may end. */
static check_talk *open_to_end(const check_plan *plan, const struct scene *scene) {
    check_talk *talk = open_talk(plan, scene->name);
    if (talk && check_greet(talk) &&
        check_await(talk, check_ask(talk, NULL, CHECK_NO_METHOD, NULL))) {
        talk->leaving = true;
        return talk;
    }
    return check_talk_close(talk);
}

static void play_eof(const check_plan *plan, const struct scene *scene) {
    check_report *report = plan->report;
    check_talk *talk = open_to_end(plan, scene);
    if (!talk)
        return;
    uint64_t ms = time_of(plan, talk->facts->stop_close_ms);
    uint64_t before = talk->received;
    check_try(report, CHECK_END_EOF);
    cli_wire_finish(talk->wire);
    bool gone = check_wait_gone(talk, ms);
    check_proof proof = check_proof_here(talk);
    if (!gone && !cli_interrupts()) {
        check_fail(report, CHECK_END_EOF, &proof, "it lives on %llu ms after the end of its input",
                   (unsigned long long)ms);
    } else {
        check_try(report, CHECK_END_EOF_QUIET);
        uint64_t more = talk->received - before;
        size_t shown = more < talk->raw.len ? (size_t)more : talk->raw.len;
        proof.came = (dx_text){talk->raw.data + (talk->raw.len - shown), shown};
        proof.offset = talk->received - shown;
        if (more)
            check_fail(report, CHECK_END_EOF_QUIET, &proof, "%llu bytes came after that",
                       (unsigned long long)more);
    }
    check_talk_close(talk);
}

static void play_term(const check_plan *plan, const struct scene *scene) {
    check_talk *talk = open_to_end(plan, scene);
    if (!talk)
        return;
    uint64_t ms = time_of(plan, talk->facts->stop_term_ms);
    check_try(plan->report, CHECK_END_TERM);
    kill(cli_wire_pid(talk->wire), SIGTERM);
    check_proof proof = {.scene = scene->name};
    if (!check_wait_gone(talk, ms) && !cli_interrupts())
        check_fail(plan->report, CHECK_END_TERM, &proof, "it lives on %llu ms after SIGTERM",
                   (unsigned long long)ms);
    check_talk_close(talk);
}

static void play_killed(const check_plan *plan, const struct scene *scene) {
    check_talk *talk = open_to_end(plan, scene);
    if (!talk)
        return;
    for (size_t i = 0; i < 5; i++)
        (void)check_ask_any(talk, NULL, i);
    talk->killed = true;
    kill(cli_wire_pid(talk->wire), SIGKILL);
    (void)check_wait_gone(talk, 2000);
    check_talk_close(talk);
}

/* The first one: is there anything to talk to? */

/* Does it answer in the other framing? */
static void try_other(const check_plan *plan) {
    dx_framing other = plan->framing == DX_FRAMING_LINE ? DX_FRAMING_HEADER : DX_FRAMING_LINE;
    int code;
    dx_error error;
    /* What it says there counts for nothing but that. */
    check_report *aside = calloc(1, sizeof *aside);
    check_plan copy = *plan;
    copy.report = aside;
    static const cli_list none = {NULL, 0};
    if (!aside || check_report_init(aside, &none, &none) != CLI_OK) {
        free(aside);
        return;
    }
    check_talk *talk = check_talk_open(&copy, "framing", other, &code, &error);
    if (talk && check_greet(talk)) {
        check_proof proof = check_proof_here(talk);
        proof.came = (dx_text){talk->raw.data, talk->raw.len};
        check_fail(plan->report, CHECK_FRAMING_KIND, &proof,
                   "it answers only in the %s framing: pass --framing %s", dx_framing_name(other),
                   dx_framing_name(other));
    }
    check_talk_close(talk);
    free(aside);
}

/* CLI_OK: there is; *ret_why says why nothing more is to be had, if so. */
static int play_first(const check_plan *plan, const char **ret_why) {
    static const struct scene rest = {"basic", NULL, {check_probe_notification, check_probe_calls}};
    int code;
    dx_error error;
    check_talk *talk = check_talk_open(plan, "basic", plan->framing, &code, &error);
    if (!talk)
        return cli_fail(code, "%s", error.phrase);
    bool greeted = check_greet(talk);
    bool silent = !greeted && !talk->received && !talk->gone && talk->facts->start;
    if (!greeted)
        *ret_why = "the handshake failed";
    if (greeted) {
        check_probe_unknown(talk);
        /* Without an answer to the simplest request, nothing else says anything. */
        if (!check_is_up(talk))
            *ret_why = "the first request was not answered as it should be";
        if (check_is_up(talk))
            talk = run_probes(plan, &rest, talk);
        if (talk)
            check_bid_farewell(talk);
    }
    check_talk_close(talk);
    if (silent && !cli_interrupts())
        try_other(plan);
    return CLI_OK;
}

/* All of them. */

static const struct scene scenes[] = {
    {"cancel", NULL, {check_probe_cancel, check_probe_cancel_unknown}},
    {"requests",
     NULL,
     {check_probe_params_type, check_probe_params_fit, check_probe_not_one, check_probe_response,
      check_probe_duplicate, check_probe_batch, check_probe_batch_empty}},
    {"input",
     NULL,
     {check_probe_together, check_probe_pieces, check_probe_space, check_probe_line_ends,
      check_probe_header_extra, check_probe_header_case, check_probe_header_blanks}},
    {"ids", NULL, {check_probe_ids, check_probe_odd_ids}},
    {"many", NULL, {check_probe_many, check_probe_slow}},
    {"large", NULL, {check_probe_large}},
    {"junk", NULL, {check_probe_invalid}},
    {"early", play_early, {NULL}},
    {"eof", play_eof, {NULL}},
    {"term", play_term, {NULL}},
    {"killed", play_killed, {NULL}},
};
enum { SCENES = sizeof scenes / sizeof scenes[0] };

struct crew {
    const check_plan *plan;
    pthread_mutex_t lock;
    size_t next;
    size_t done;
};

static void show_progress(const struct crew *crew) {
    if (!cli_voice.json && isatty(STDERR_FILENO) && !cli_interrupts())
        fprintf(stderr, "\r%zu of %d conversations\033[K%s", crew->done, SCENES,
                crew->done == SCENES ? "\r\033[K" : "");
}

static void *work(void *user) {
    struct crew *crew = user;
    for (;;) {
        pthread_mutex_lock(&crew->lock);
        const struct scene *scene = crew->next < SCENES ? &scenes[crew->next++] : NULL;
        pthread_mutex_unlock(&crew->lock);
        if (!scene || cli_interrupts())
            return NULL;
        (scene->run ? scene->run : play)(crew->plan, scene);
        pthread_mutex_lock(&crew->lock);
        crew->done++;
        show_progress(crew);
        pthread_mutex_unlock(&crew->lock);
    }
}

int check_run_scenes(check_plan *plan) {
    pthread_t threads[JOBS_MAX];
    size_t count = 0;
    const char *why = NULL;
    uint64_t jobs = plan->options->jobs ? plan->options->jobs : JOBS_MAX;
    int code = play_first(plan, &why);
    if (code != CLI_OK)
        return code;
    if (!why && !cli_interrupts()) {
        struct crew crew = {.plan = plan};
        pthread_mutex_init(&crew.lock, NULL);
        show_progress(&crew);
        while (count + 1 < jobs && pthread_create(&threads[count], NULL, work, &crew) == 0)
            count++;
        work(&crew); /* one of them is us */
        for (size_t i = 0; i < count; i++)
            pthread_join(threads[i], NULL);
        pthread_mutex_destroy(&crew.lock);
    }
    check_skip_rest(plan->report, why ? why : over);
    return cli_interrupts() ? CLI_INTERRUPTED : CLI_OK;
}
