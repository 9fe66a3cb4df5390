/* Conversations with a program that we start: the first one alone, then several at once. */
#include "cli/check/scene.h"

#include "cli/check/probe.h"
#include "cli/say.h"
#include "cli/wait.h"
#include "cli/waiting.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PROBES_MAX = 10, JOBS_MAX = 4, REOPEN_MAX = 10 };

/* One start of the program. Starting is what takes the time of many, so each is made use of. */
struct scene {
    const char *name;
    bool is_early; /* the handshake is not for us to do: the only probe does */
    check_probe probes[PROBES_MAX];
};

static const char over[] = "the conversation had ended before this check";

static check_talk *open_talk(const check_plan *plan, const char *name) {
    int code;
    dx_error error;
    return cli_interrupts() ? NULL : check_talk_open(plan, name, plan->framing, &code, &error);
}

/* Each that is wanted, with a program that is up, if there is a way. */
static check_talk *run_probes(const check_plan *plan, const struct scene *scene, check_talk *talk) {
    int opened = talk != NULL;
    for (const check_probe *probe = scene->probes; *probe; probe++) {
        if (!check_is_wanted(plan->report, *probe))
            continue;
        if ((!talk || !check_is_up(talk)) && opened++ < REOPEN_MAX) {
            check_talk_close(talk);
            talk = open_talk(plan, scene->name);
            if (!talk || (!scene->is_early && !check_greet(talk)))
                return talk;
        }
        if (talk && check_is_up(talk))
            (*probe)(talk);
    }
    return talk;
}

static bool is_wanted(const check_plan *plan, const struct scene *scene) {
    const check_probe *probe = scene->probes;
    while (*probe && !check_is_wanted(plan->report, *probe))
        probe++;
    return *probe;
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
                   "the program responds only in the %s framing: pass --framing %s",
                   dx_framing_name(other), dx_framing_name(other));
    }
    check_talk_close(talk);
    free(aside);
}

/* CLI_OK: there is; *ret_why says why nothing more is to be had, if so. */
static int play_first(check_plan *plan, const char **ret_why) {
    static const struct scene rest = {
        "basic", false, {check_probe_notification, check_probe_calls}};
    int code;
    dx_error error;
    check_talk *talk = check_talk_open(plan, "basic", plan->framing, &code, &error);
    if (!talk)
        return cli_fail(code, "%s", error.phrase);
    uint64_t since = cli_now();
    talk->is_only = true;
    bool greeted = check_greet(talk);
    cli_waiting_end();
    plan->greeted_ms = cli_now() - since;
    bool silent = !greeted && !talk->received && !talk->gone && talk->facts->start;
    if (!greeted)
        *ret_why = "the handshake failed";
    if (greeted) {
        check_wait_for(talk, "the first response", 2 * plan->timeout_ms);
        check_probe_unknown(talk);
        cli_waiting_end();
        /* Without an answer to the simplest request, nothing else says anything. */
        if (!check_is_up(talk))
            *ret_why = "the first request did not get a proper response";
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

/* Those first that may have to be waited for. */
static const struct scene scenes[] = {
    {"input",
     false,
     {check_probe_together, check_probe_pieces, check_probe_space, check_probe_line_ends,
      check_probe_header_extra, check_probe_header_case, check_probe_term}},
    {"cancel", false, {check_probe_cancel, check_probe_cancel_unknown, check_probe_header_blanks}},
    {"requests",
     false,
     {check_probe_params_type, check_probe_params_fit, check_probe_names, check_probe_not_one,
      check_probe_response, check_probe_duplicate, check_probe_batch, check_probe_batch_empty,
      check_probe_invalid}},
    {"ids", false, {check_probe_ids, check_probe_odd_ids, check_probe_eof}},
    {"many",
     false,
     {check_probe_many, check_probe_slow, check_probe_large, check_probe_deep, check_probe_killed}},
    {"early", true, {check_probe_early}},
};
enum { SCENES = sizeof scenes / sizeof scenes[0] };

struct crew {
    const check_plan *plan;
    pthread_mutex_t lock;
    size_t next;
    size_t done;
    size_t wanted;
};

static void show_progress(const struct crew *crew) {
    if (!cli_voice.json && isatty(STDERR_FILENO) && !cli_interrupts())
        fprintf(stderr, "\r%zu of %zu conversations\033[K%s", crew->done, crew->wanted,
                crew->done == crew->wanted ? "\r\033[K" : "");
}

static void *work(void *user) {
    struct crew *crew = user;
    for (;;) {
        pthread_mutex_lock(&crew->lock);
        while (crew->next < SCENES && !is_wanted(crew->plan, &scenes[crew->next]))
            crew->next++;
        const struct scene *scene = crew->next < SCENES ? &scenes[crew->next++] : NULL;
        pthread_mutex_unlock(&crew->lock);
        if (!scene || cli_interrupts())
            return NULL;
        check_talk_close(run_probes(crew->plan, scene, NULL));
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
    int code = play_first(plan, &why);
    if (code != CLI_OK)
        return code;
    if (!why && !cli_interrupts()) {
        struct crew crew = {.plan = plan};
        pthread_mutex_init(&crew.lock, NULL);
        for (int i = 0; i < SCENES; i++)
            crew.wanted += is_wanted(plan, &scenes[i]);
        show_progress(&crew);
        while (count + 1 < plan->options->jobs && count + 1 < crew.wanted &&
               pthread_create(&threads[count], NULL, work, &crew) == 0)
            count++;
        work(&crew); /* one of them is us */
        for (size_t i = 0; i < count; i++)
            pthread_join(threads[i], NULL);
        pthread_mutex_destroy(&crew.lock);
    }
    check_skip_rest(plan->report, why ? why : over);
    if (why)
        check_choose_failed(plan->report, &plan->options->skip);
    plan->report->complete = true;
    check_warn_noise(plan->report);
    return cli_interrupts() ? CLI_INTERRUPTED : CLI_OK;
}
