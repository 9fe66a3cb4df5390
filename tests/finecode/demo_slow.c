/* Handlers of finecode_demo that go on after they have returned. */
#include "finecode/demo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct work {
    dx_finecode_job *job;
    dx_timer *timer;
    const char *word; /* of its partial results */
    int64_t count, done;
    uint64_t ms;
    int bad, is_deaf;
};

static void work_end(struct work *work) {
    dx_timer_free(work->timer);
    free(work);
}

static void on_cancel(dx_finecode_job *job, void *user) {
    struct work *work = user;
    demo_tell("cancelled", dx_finecode_job_handler(job));
    if (work->is_deaf)
        return;
    dx_finecode_job_cancel(job);
    work_end(work);
}

/* NULL without memory: the job has failed then. */
static struct work *work_new(dx_finecode_job *job, void (*on_time)(dx_timer *timer, void *user),
                             uint64_t ms) {
    struct work *work = calloc(1, sizeof *work);
    if (!work || dx_timer_new(dx_finecode_job_loop(job), on_time, work, &work->timer)) {
        free(work);
        dx_finecode_job_fail(job, "out of memory");
        return NULL;
    }
    work->job = job;
    work->count = demo_number(dx_finecode_job_payload(job), "n", 1);
    work->ms = ms;
    dx_finecode_job_keep(job);
    dx_finecode_job_on_cancel(job, on_cancel, work);
    dx_timer_set(work->timer, ms);
    return work;
}

static void next_part(dx_timer *timer, void *user) {
    struct work *work = user;
    char word[64];
    if (work->done == work->count) {
        dx_finecode_job_done(work->job, dx_json_none(), 0);
        work_end(work);
        return;
    }
    yyjson_mut_doc *doc = demo_result(work->bad);
    snprintf(word, sizeof word, "%s%lld", work->word, (long long)work->done++);
    demo_item(doc, word);
    dx_finecode_job_partial(work->job, dx_json_built(yyjson_mut_doc_get_root(doc)));
    yyjson_mut_doc_free(doc);
    dx_timer_set(timer, work->done == work->count ? 0 : work->ms);
}

static void parts(dx_finecode_job *job, const char *word, int bad) {
    struct work *work = work_new(job, next_part, 0);
    if (!work)
        return;
    work->word = word;
    work->bad = bad;
    work->ms = (uint64_t)demo_number(dx_finecode_job_payload(job), "ms", 400);
}

void demo_gen(dx_finecode_job *job, void *user) {
    (void)user;
    parts(job, "part", 0);
}

void demo_send(dx_finecode_job *job, void *user) {
    (void)user;
    parts(job, "sent", 1);
}

void demo_prog(dx_finecode_job *job, void *user) {
    int64_t total = demo_number(dx_finecode_job_payload(job), "n", 2);
    (void)user;
    dx_finecode_job_begin(job, "Working", NULL, total);
    if (total) {
        dx_finecode_job_report(job, "one", 50);
        dx_finecode_job_report(job, "two", 100);
    } else {
        dx_finecode_job_report(job, "nothing", 100);
    }
    dx_finecode_job_finish(job, NULL);
    demo_done_with(job, "prog", 0);
}

static void slow_done(dx_timer *timer, void *user) {
    struct work *work = user;
    (void)timer;
    if (work->is_deaf)
        demo_tell("finished", dx_finecode_job_handler(work->job));
    demo_done_with(work->job, "slow done", 0);
    work_end(work);
}

static struct work *slow(dx_finecode_job *job) {
    yyjson_val *payload = dx_finecode_job_payload(job);
    int64_t ms = demo_number(payload, "ms", 1000 * demo_number(payload, "n", 1));
    demo_tell("started", dx_finecode_job_handler(job));
    return work_new(job, slow_done, (uint64_t)ms);
}

void demo_slow(dx_finecode_job *job, void *user) {
    (void)user;
    slow(job);
}

void demo_deaf(dx_finecode_job *job, void *user) {
    struct work *work = slow(job);
    (void)user;
    if (work)
        work->is_deaf = 1;
}
