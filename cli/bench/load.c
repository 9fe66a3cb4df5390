#include "cli/bench/load.h"

#include "cli/bench/progress.h"
#include "cli/describe/times.h"
#include "cli/say.h"
#include "cli/wait.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* A call that is under way, or could be. */
struct slot {
    cli_loader *loader;
    uint64_t sent_ns;
    struct slot *next; /* in the list of those that are not */
};

struct cli_loader {
    cli_session *session;
    dx_text method;
    dx_json params;
    dx_link_call_options options;
    cli_load *load; /* the one at hand; NULL: nobody wants to hear of calls any more */
    struct slot *idle;
    size_t under_way;
    uint64_t began_ns;
    uint64_t answered_ns; /* when the last answer came */
    uint64_t shown_ns;
    int code;
    int signals; /* cli_signal_fd() */
    struct slot slots[];
};

static uint64_t now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void show(cli_loader *loader, uint64_t now) {
    enum { SHOW_NS = 200000000 };
    char room[32];
    if (now - loader->shown_ns < SHOW_NS)
        return;
    loader->shown_ns = now;
    cli_progress("concurrency %zu: %s calls, %.1f s", loader->load->concurrency,
                 cli_count_text(loader->load->calls, room), (double)(now - loader->began_ns) / 1e9);
}

/* Calls. */

static bool wants_more(const cli_loader *loader, uint64_t now) {
    const cli_load *load = loader->load;
    return loader->code == CLI_OK && load->calls < load->count &&
           (!load->calls || now - loader->began_ns < load->ms * 1000000);
}

/* As many as there may be. What the link does not take now is tried again when something was
 * answered. */
static void call_more(cli_loader *loader, uint64_t now) {
    const struct contact *main = loader->session->main;
    while (loader->idle && wants_more(loader, now)) {
        struct slot *slot = loader->idle;
        loader->options.peer.user = slot;
        slot->sent_ns = now_ns();
        dx_status status = dx_link_call(contact_link(main), loader->method, loader->params,
                                        &loader->options, NULL);
        if (status == DX_BUSY && loader->under_way)
            return;
        if (status != DX_OK) {
            contact_unsent(loader->session->main, loader->method.at, status);
            loader->code = main->code;
            break;
        }
        loader->idle = slot->next;
        loader->under_way++;
        loader->load->calls++;
        if (loader->under_way > loader->load->most)
            loader->load->most = loader->under_way;
    }
    if (!loader->under_way)
        dx_loop_stop(loader->session->loop);
}

static void keep_phrase(cli_load *load, const dx_event *event) {
    char *phrase = contact_describe(event, "--timeout");
    load->failed = event->outcome == DX_OUTCOME_CANCELLED ? CLI_REFUSED : contact_code(event);
    load->error_code = event->code;
    snprintf(load->phrase, sizeof load->phrase, "%s", phrase ? phrase : "out of memory");
    free(phrase);
}

static void count_failure(cli_loader *loader, const dx_event *event) {
    cli_load *load = loader->load;
    if (load->failed == CLI_OK)
        keep_phrase(load, event);
    switch (event->outcome) {
    case DX_OUTCOME_TIMED_OUT:
        load->late++;
        return;
    case DX_OUTCOME_INVALID:
        load->invalid++;
        return;
    case DX_OUTCOME_LOST:
        load->lost++;
        loader->code = contact_code(event);
        return;
    default:
        load->errors++;
    }
}

static void on_done(dx_link *link, const dx_event *event, void *user) {
    uint64_t now = now_ns();
    struct slot *slot = user;
    cli_loader *loader = slot->loader;
    (void)link;
    if (!loader->load)
        return;
    slot->next = loader->idle;
    loader->idle = slot;
    loader->under_way--;
    if (event->outcome == DX_OUTCOME_RESULT) {
        loader->load->results++;
        cli_histogram_add(&loader->load->latency_ns, now - slot->sent_ns);
    } else {
        count_failure(loader, event);
    }
    if (event->message.len)
        loader->answered_ns = now;
    show(loader, now);
    call_more(loader, now);
}

/* One run. */

pid_t cli_load_pid(const cli_session *session) {
    const dx_child *child = session->main->child;
    return child ? dx_child_pid(child) : session->attached.pid;
}

static bool read_toll(const cli_loader *loader, cli_toll *ret_toll) {
    pid_t pid = cli_load_pid(loader->session);
    return pid && cli_toll_read(pid, ret_toll);
}

static void on_signal(dx_watch *watch, unsigned ready, void *user) {
    cli_loader *loader = user;
    int before = cli_interrupts();
    (void)watch;
    (void)ready;
    cli_take_signals();
    if (cli_interrupts() == before)
        return;
    loader->code = CLI_INTERRUPTED;
    dx_loop_stop(loader->session->loop);
}

/* In dx_loop_run(), which costs a call of the system less each time than cli_wait(). The signals
 * are watched only meanwhile: at other times cli_wait() gets them. */
static bool wait_for_all(cli_loader *loader) {
    dx_loop *loop = loader->session->loop;
    dx_watch *watch;
    if (dx_watch_new(loop, loader->signals, DX_WATCH_READ, on_signal, loader, &watch) != DX_OK)
        return false;
    bool good = dx_loop_run(loop) == DX_OK;
    dx_watch_free(watch);
    return good;
}

int cli_load_run(cli_loader *loader, cli_load *load) {
    cli_toll before = {.cpu_ns = 0};
    cli_toll after = {.cpu_ns = 0};
    bool knew = read_toll(loader, &before);
    loader->load = load;
    loader->code = CLI_OK;
    loader->under_way = 0;
    loader->idle = NULL;
    for (size_t i = load->concurrency; i-- > 0;) {
        loader->slots[i] = (struct slot){.loader = loader, .next = loader->idle};
        loader->idle = &loader->slots[i];
    }
    loader->began_ns = loader->answered_ns = now_ns();
    show(loader, loader->began_ns);
    call_more(loader, loader->began_ns);
    if (loader->under_way && !wait_for_all(loader))
        loader->code = CLI_NO_START;
    cli_progress_end();
    load->elapsed_ns = loader->answered_ns - loader->began_ns;
    load->has_toll = knew && read_toll(loader, &after);
    load->cpu_ns = after.cpu_ns > before.cpu_ns ? after.cpu_ns - before.cpu_ns : 0;
    loader->load = NULL;
    return loader->code;
}

/* Birth and death. */

cli_loader *cli_loader_new(cli_session *session, const char *method, const char *params,
                           size_t most) {
    const cli_peer_options *options = session->options;
    cli_loader *loader = calloc(1, sizeof *loader + most * sizeof loader->slots[0]);
    if (!loader)
        return NULL;
    loader->session = session;
    loader->method = dx_str(method);
    loader->params = contact_json(params);
    loader->options.peer.timeout_ms = options->timeout_ms;
    loader->options.peer.total_ms = options->total_ms;
    loader->options.on_done = on_done;
    loader->signals = cli_signal_fd();
    return loader->signals >= 0 ? loader : cli_loader_free(loader);
}

cli_loader *cli_loader_free(cli_loader *loader) {
    if (loader && loader->signals >= 0)
        close(loader->signals);
    free(loader);
    return NULL;
}
