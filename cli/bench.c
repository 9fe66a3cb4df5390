/* duplex bench: measures how fast a program responds. */
#include "cli/cli.h"

#include "cli/bench/bench.h"
#include "cli/bench/progress.h"
#include "cli/input.h"
#include "cli/say.h"
#include "cli/subreaper.h"
#include "cli/wait.h"

#include <stdlib.h>
#include <string.h>

struct bench_options {
    cli_peer_options peer;
    const char *starts;
    const char *warmup;
    const char *count;
    const char *concurrency;
    uint64_t duration_ms;
};

enum {
    STARTS = 5,
    STARTS_MS = 10000, /* unless --starts asks for them, no more are begun after that time */
    WARMUP = 100,
    WARMUP_MS = 500, /* the same for --warmup */
    DURATION_MS = 1000,
    COUNTED_MS = 30000, /* with --count, but without --duration */
    DURATION_MAX = 3600000,
    COUNT_MAX = 1000000000,
    CONCURRENCY_MAX = 10000
};

/* What the options ask for. */
struct plan {
    size_t starts;
    uint64_t starts_ms;
    uint64_t warmup;
    uint64_t warmup_ms;
    uint64_t count;
    uint64_t ms;
    size_t concurrency[CLI_BENCH_RUNS];
    size_t runs;
};

struct work {
    cli_peer_options peer;
    cli_peer_options unseen; /* the same for starts that are neither recorded nor shown */
    char **command;
    char *method;
    char *const *words; /* of the params */
    char *params;
    struct plan plan;
    cli_session *session; /* of the last start */
    cli_loader *loader;
    cli_bench bench;
};

/* Numbers. */

static bool take_number(const char **text, uint64_t min, uint64_t max, uint64_t *ret_number) {
    uint64_t number = 0;
    const char *at = *text;
    for (; *at >= '0' && *at <= '9' && number <= max; at++)
        number = number * 10 + (uint64_t)(*at - '0');
    if (at == *text || (*at && *at != ',') || number < min || number > max)
        return false;
    *text = at;
    *ret_number = number;
    return true;
}

/* What `text` (NULL: `otherwise`) asks for; false if that was told. */
static bool read_number(const char *name, const char *text, uint64_t min, uint64_t max,
                        uint64_t otherwise, uint64_t *ret_number) {
    const char *at = text;
    *ret_number = otherwise;
    if (!text || (take_number(&at, min, max, ret_number) && !*at))
        return true;
    cli_fail(CLI_USAGE, "--%s: expected a number from %llu to %llu, got '%s'", name,
             (unsigned long long)min, (unsigned long long)max, text);
    return false;
}

/* One at a time comes first, asked for or not. */
static bool read_concurrency(const char *text, struct plan *plan) {
    const char *at = text ? text : "8,64";
    uint64_t number;
    size_t listed = 0;
    plan->concurrency[0] = 1;
    plan->runs = 1;
    while (listed++ < CLI_BENCH_RUNS - 1 && take_number(&at, 1, CONCURRENCY_MAX, &number)) {
        if (number > 1)
            plan->concurrency[plan->runs++] = (size_t)number;
        if (!*at)
            return true;
        at++;
    }
    cli_fail(CLI_USAGE, "--concurrency: expected up to %d numbers from 1 to %d, got '%s'",
             CLI_BENCH_RUNS - 1, CONCURRENCY_MAX, text);
    return false;
}

static bool read_plan(const struct bench_options *options, struct plan *plan) {
    uint64_t starts;
    if (!read_number("starts", options->starts, 1, CLI_BENCH_STARTS, STARTS, &starts) ||
        !read_number("warmup", options->warmup, 0, COUNT_MAX, WARMUP, &plan->warmup) ||
        !read_number("count", options->count, 1, COUNT_MAX, UINT64_MAX, &plan->count) ||
        !read_concurrency(options->concurrency, plan))
        return false;
    plan->starts = (size_t)starts;
    plan->starts_ms = options->starts ? CLI_NEVER : STARTS_MS;
    plan->ms = options->duration_ms ? options->duration_ms
               : options->count     ? COUNTED_MS
                                    : DURATION_MS;
    plan->warmup_ms = options->warmup ? plan->ms : WARMUP_MS;
    if (plan->ms <= DURATION_MAX)
        return true;
    cli_fail(CLI_USAGE, "--duration: expected 1ms to 1h");
    return false;
}

/* METHOD. */

/* What a protocol calls "ping" ("ping", "agent/ping", "agent.ping") is answered by those that do
 * nothing else. */
static bool is_ping(const dx_method *method) {
    const char *name = method->name;
    const char *end = name + strlen(name);
    while (end > name && end[-1] != '/' && end[-1] != '.')
        end--;
    return method->from_host && !method->notification && strcmp(end, "ping") == 0 &&
           (!method->has_params[DX_SIDE_HOST] || method->optional[DX_SIDE_HOST]);
}

/* To be freed; NULL if that was told. */
static char *harmless_method(const char *name) {
    dx_protocol *protocol = cli_protocol(name);
    const dx_method *method = NULL;
    char *found = NULL;
    if (!protocol)
        return NULL;
    for (size_t i = 0; (method = dx_protocol_method(protocol, i)) && !is_ping(method); i++)
        ;
    if (method)
        found = strdup(method->name);
    if (!found)
        cli_fail(method ? CLI_NO_START : CLI_USAGE,
                 method ? "out of memory" : "missing METHOD: %s has no ping to call", name);
    dx_protocol_free(protocol);
    return found;
}

/* The run knows the protocol of its peer. */
static int harmless_method_in(struct work *work) {
    cli_attached attached;
    const cli_peer_options *peer = &work->peer;
    int code =
        cli_control_attach(&peer->run, peer->in, peer->start_ms, peer->timeout_ms, &attached);
    if (code != CLI_OK)
        return code;
    work->method = harmless_method(attached.protocol);
    cli_attached_done(&attached);
    return CLI_OK;
}

static int find_out(struct work *work, const cli_words *words) {
    cli_peer_options *peer = &work->peer;
    const char *method = words->at[0];
    int code = session_check(peer, work->command);
    if (code == CLI_OK && peer->protocol && strcmp(peer->protocol, "auto") == 0)
        code = session_detect_name(peer, work->command, &peer->protocol);
    if (code == CLI_OK && method)
        code = cli_session_check_method(peer, method, false);
    if (code != CLI_OK)
        return code;
    if (method)
        work->method = strdup(method);
    else if (peer->in)
        code = harmless_method_in(work);
    else
        work->method = harmless_method(peer->protocol ? peer->protocol : "jsonrpc");
    if (code != CLI_OK)
        return code;
    if (!work->method)
        return method ? cli_fail(CLI_NO_START, "out of memory") : CLI_USAGE;
    work->words = method ? words->at + 1 : words->at;
    return method && !cli_params(work->words, &work->params) ? CLI_USAGE : CLI_OK;
}

/* Starts. */

static void ignore_result(const dx_event *event, void *user) {
    (void)event;
    (void)user;
}

/* The first call finds out whether the framing is right, and whether there is anybody. */
static int call_first(struct work *work) {
    cli_session *session = work->session;
    if (work->params)
        session_fit_params(session, work->method, work->words, &work->params);
    int code = session_ask(session, work->method, work->params, ignore_result, NULL);
    if (code != CLI_OK)
        return code;
    int answer = session_asked_code(session);
    return answer == CLI_OK || answer == CLI_REFUSED ? CLI_OK : session_tell_asked(session);
}

static bool read_toll(const struct work *work, cli_toll *ret_toll) {
    pid_t pid = cli_load_pid(work->session);
    return pid && cli_toll_read(pid, ret_toll);
}

static int start_once(struct work *work, const cli_peer_options *peer) {
    cli_bench *bench = &work->bench;
    cli_session *session;
    int code = cli_session_open(peer, work->command, &session);
    if (code != CLI_OK)
        return code;
    work->session = session;
    uint64_t handshake = dx_recorder_now_us() - session->began_us;
    code = call_first(work);
    uint64_t answer = dx_recorder_now_us() - session->began_us;
    if (code != CLI_OK)
        return code;
    bench->has_before = read_toll(work, &bench->before);
    if (!session->tried) {
        bench->handshake_us[bench->starts] = handshake;
        bench->answer_us[bench->starts++] = answer;
    }
    return CLI_OK;
}

/* They have one loop, so that its guardian (duplex/child.h) is started once and not for each of
 * them. The last one stays, and is the one that is recorded and shown. One in which another framing
 * was tried does not count: most of its time was spent with that. */
static int start_all(struct work *work) {
    cli_bench *bench = &work->bench;
    cli_peer_options *peer = &work->peer;
    uint64_t began = cli_now();
    for (;;) {
        size_t before = bench->starts;
        bool last = before + 1 >= work->plan.starts || cli_now() - began >= work->plan.starts_ms;
        work->unseen = *peer;
        work->unseen.record = NULL;
        work->unseen.show = false;
        if (peer->errors && strcmp(peer->errors, "quiet") != 0)
            work->unseen.errors = NULL;
        cli_progress("start %zu of %zu", before + 1, work->plan.starts);
        int code = start_once(work, last ? peer : &work->unseen);
        if (code != CLI_OK)
            return code;
        if (last && bench->starts > before)
            return CLI_OK;
        if (!peer->in) {
            peer->framing = dx_framing_name(work->session->main->framing);
            peer->framing_known = true;
        }
        code = cli_session_close(work->session, CLI_OK);
        work->session = NULL;
        if (code != CLI_OK)
            return code;
    }
}

static void describe(cli_bench *bench, const struct work *work) {
    const dx_protocol_facts *facts = dx_protocol_facts_of(work->session->protocol);
    bench->method = work->method;
    bench->framing = work->session->main->framing;
    bench->starts_none = work->peer.connect || work->peer.in;
    bench->has_handshake = facts->start && !work->peer.no_handshake;
    snprintf(bench->protocol, sizeof bench->protocol, "%s", facts->name ? facts->name : "");
    snprintf(bench->revision, sizeof bench->revision, "%s", facts->revision ? facts->revision : "");
}

/* Runs. */

static size_t most_at_a_time(const struct plan *plan) {
    size_t most = 1;
    for (size_t i = 0; i < plan->runs; i++)
        most = plan->concurrency[i] > most ? plan->concurrency[i] : most;
    return most;
}

static int warm_up(struct work *work) {
    cli_load *load = calloc(1, sizeof *load);
    if (!load)
        return CLI_NO_START;
    *load = (cli_load){.concurrency = 1, .count = work->plan.warmup, .ms = work->plan.warmup_ms};
    int code = load->count ? cli_load_run(work->loader, load) : CLI_OK;
    /* Whatever ends it is told of the first run. */
    if (code != CLI_OK && load->calls) {
        work->bench.run[0] = *load;
        work->bench.runs = 1;
    }
    free(load);
    return code;
}

/* Who answers nothing at all in one run is not waited for in the next. */
static int run_all(struct work *work) {
    const struct plan *plan = &work->plan;
    cli_bench *bench = &work->bench;
    work->loader = cli_loader_new(work->session, work->method, work->params, most_at_a_time(plan));
    if (!work->loader)
        return CLI_NO_START;
    int code = warm_up(work);
    for (size_t i = 0; code == CLI_OK && i < plan->runs; i++) {
        cli_load *load = &bench->run[bench->runs++];
        *load =
            (cli_load){.concurrency = plan->concurrency[i], .count = plan->count, .ms = plan->ms};
        code = cli_load_run(work->loader, load);
        if (!cli_load_answered(load))
            break;
    }
    bench->has_after = read_toll(work, &bench->after);
    const dx_link *link = contact_link(work->session->main);
    bench->violations = link ? dx_link_statistics(link).violations : 0;
    return code;
}

/* Telling. */

static bool has_result(const cli_bench *bench) {
    for (size_t i = 0; i < bench->runs; i++)
        if (bench->run[i].results)
            return true;
    return false;
}

static int tell_lost(struct work *work, int code, yyjson_mut_doc *doc, yyjson_mut_val *more) {
    const cli_load *load = &work->bench.run[work->bench.runs ? work->bench.runs - 1 : 0];
    const struct contact *main = work->session->main;
    char message[CLI_LOAD_PHRASE + 300];
    snprintf(message, sizeof message, "%.250s: %s", work->method, load->phrase);
    if (code == CLI_ENDED)
        return session_tell_ended(work->session, work->method, main->failure, load->lost, doc,
                                  more);
    if (code == CLI_VIOLATION)
        return session_tell(work->session, code, message, doc, more);
    return cli_fail_with(code, main->failure ? main->failure : "out of memory", doc, more,
                         dx_str(NULL));
}

static int tell_failed(struct work *work, yyjson_mut_doc *doc, yyjson_mut_val *more) {
    const cli_load *load = cli_bench_failure(&work->bench);
    char message[CLI_LOAD_PHRASE + 300];
    snprintf(message, sizeof message, "no call of %.250s returned a result: %s", work->method,
             load ? load->phrase : "no call was made");
    return session_tell(work->session, load ? load->failed : CLI_USAGE, message, doc, more);
}

static int tell_error(struct work *work, int code, yyjson_mut_doc *doc, yyjson_mut_val *more) {
    if (code == CLI_OK)
        return tell_failed(work, doc, more);
    if (code == CLI_INTERRUPTED)
        return cli_fail_with(code, "interrupted", doc, more, dx_str(NULL));
    if (code == CLI_NO_START)
        return cli_fail_with(code, "out of memory", doc, more, dx_str(NULL));
    return tell_lost(work, code, doc, more);
}

static int tell_json(struct work *work, int code, bool good) {
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *report = cli_bench_json(&work->bench, doc);
    if (good) {
        yyjson_mut_doc_set_root(doc, report);
        char *text = yyjson_mut_write(doc, YYJSON_WRITE_NOFLAG, NULL);
        if (text) {
            cli_put_line(stdout, dx_str(text));
            putchar('\n');
        } else {
            code = cli_fail(CLI_NO_START, "out of memory");
        }
        free(text);
    } else {
        yyjson_mut_val *more = yyjson_mut_obj(doc);
        cli_add_text(doc, more, "method", dx_str(work->method));
        yyjson_mut_obj_add_val(doc, more, "report", report);
        code = tell_error(work, code, doc, more);
    }
    yyjson_mut_doc_free(doc);
    return code;
}

/* What there is, and what was wrong with it. */
static int tell(struct work *work, int code) {
    bool good = code == CLI_OK && has_result(&work->bench);
    if (cli_voice.json)
        return tell_json(work, code, good);
    cli_bench_print(&work->bench, stdout);
    cli_flush();
    return good ? CLI_OK : tell_error(work, code, NULL, NULL);
}

static int measure(struct work *work) {
    dx_error error = {.fault = DX_FAULT_NONE};
    bool starts_none = work->peer.connect || work->peer.in;
    if (cli_loop_new(starts_none || work->peer.keep_daemons, &work->peer.loop, &error) != DX_OK)
        return cli_fail(CLI_NO_START, "%s", error.phrase);
    cli_progress_begin(&work->peer);
    int code = start_all(work);
    cli_progress_end();
    if (code == CLI_OK) {
        describe(&work->bench, work);
        code = tell(work, run_all(work));
    }
    if (work->session)
        code = cli_session_close(work->session, code);
    cli_loader_free(work->loader);
    cli_loop_free(work->peer.loop);
    return code;
}

static int run(const cli_words *words, void *user) {
    const struct bench_options *options = user;
    struct work *work = calloc(1, sizeof *work);
    if (!work)
        return cli_fail(CLI_NO_START, "out of memory");
    work->peer = options->peer;
    work->command = words->command;
    int code = read_plan(options, &work->plan) ? find_out(work, words) : CLI_USAGE;
    if (code == CLI_OK)
        code = measure(work);
    free(work->method);
    free(work->params);
    free(work);
    return code;
}

#define AT(member) offsetof(struct bench_options, member)

static const cli_option own_options[] = {
    {"count", 'n', CLI_TEXT, "N", "number of calls in each run (as many as --duration allows)",
     AT(count)},
    {"duration", 'd', CLI_LIMIT, "TIME",
     "start no new call in a run after this time (1s; with --count 30s)", AT(duration_ms)},
    {"concurrency", 0, CLI_TEXT, "N,...",
     "one run for each number, with that many calls under way; a run with one call at a time always"
     " comes first (8,64)",
     AT(concurrency)},
    {"warmup", 0, CLI_TEXT, "N",
     "calls before the first run that are not measured (100, or as"
     " many as fit in 500ms)",
     AT(warmup)},
    {"starts", 0, CLI_TEXT, "N",
     "how many times to start the server (5, or fewer if that takes longer than 10s)", AT(starts)},
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_group groups[] = {
    {"Options", own_options, 0},
    {"Command", cli_peer_table, AT(peer)},
    {"Timeouts", cli_time_table, AT(peer)},
    {"Servers of duplex run", cli_in_table, AT(peer)},
    {"Which run", cli_run_table, AT(peer) + offsetof(cli_peer_options, run)},
    {NULL, NULL, 0},
};

static const char *const examples[] = {
    "Measure an MCP server:",
    "duplex bench -p mcp -- build/examples/mcp-adder",
    "Call one of its tools 1,000 times, 16 calls at a time:",
    "duplex bench -p mcp -n 1000 --concurrency 16 tools/list -- build/examples/mcp-adder",
    "Print the median latency, for a script:",
    "duplex bench --json -p mcp -- build/examples/mcp-adder | jq '.runs[0].latency_us.p50'",
    "Measure a server that duplex run keeps running:",
    "duplex bench --in adder",
    NULL,
};

const cli_verb cli_bench_verb = {
    .name = "bench",
    .words = "[OPTION...] [METHOD [PARAMS]] -- COMMAND [ARG...]\n"
             "[OPTION...] [METHOD [PARAMS]] --connect ADDRESS\n"
             "[OPTION...] [METHOD [PARAMS]] --in NAME",
    .summary = "Measure startup time, latency, throughput and memory of a server",
    .text = "Starts COMMAND several times and measures how long the protocol's handshake and the"
            " first response take. Then calls METHOD over and over, one call at a time and several"
            " at a time, and reports latency, calls per second, CPU time and memory. Without METHOD"
            " it calls the protocol's ping, if there is one.",
    .details =
        "PARAMS is written as for duplex call. Requests from the server are handled as in duplex"
        " call.\n\n"
        "Latency is measured for calls that returned a result. Errors, invalid responses, calls"
        " that"
        " timed out and calls that were lost because the server exited are counted separately. If"
        " no call returned a result, the exit code is that of the first failure: 1 for an error "
        "response from the server.\n\n"
        "With --in the calls go through duplex run to a server that is already running, which adds"
        " about as much latency as one extra process.\n\n"
        "With --json the output is one object, described by 'duplex docs bench'. A failure is"
        " {\"error\":{\"exit\":…,\"kind\":…,\"message\":…}}; its member \"report\" has what was"
        " measured until then.",
    .shown = "count duration concurrency warmup starts protocol in timeout env clean-env",
    .groups = groups,
    .examples = examples,
    .codes = "134567",
    .word = CLI_A_METHOD,
    .has_command = true,
    .old_letters = "c=connect",
    .size = sizeof(struct bench_options),
    .run = run,
};
