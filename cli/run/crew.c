#include "cli/run/crew.h"

#include "cli/contact.h"
#include "cli/record.h"
#include "cli/say.h"
#include "cli/start_hint.h"
#include "cli/tail.h"
#include "cli/wait.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How much of the standard error is shown when a peer dies. */
enum { TAIL_LINES = 10, TAIL_BYTES = 2000 };

/* Longer results and params are passed on as text and not checked: parsing and checking them would
 * keep the other peers of the run waiting. */
enum { TREE_MAX = 256 << 10 };

static void write_down(struct crew_peer *peer, bool own, dx_text text) {
    unsigned run = peer->supervisor ? dx_supervisor_incarnation(peer->supervisor) : 0;
    size_t len;
    char *masked = masks_hide(&peer->masks, text, &len);
    journal_add(&peer->journal, peer->crew->seq++, run, own,
                masked ? (dx_text){masked, len} : text);
    free(masked);
}

/* What the peer is the cause of: it may be any number of lines. */
static void write_limited(struct crew_peer *peer, bool own, dx_text text) {
    if (dx__log_limiter_pass(peer->crew->limiter, peer->config->name, own, text))
        write_down(peer, own, text);
    else
        peer->cut = true;
}

static void on_summary(const char *name, const char *text, void *user) {
    write_down(crew_find(user, name, strlen(name)), true, dx_str(text));
}

char *crew_tail(const struct crew_peer *peer, size_t *ret_len) {
    unsigned run = dx_supervisor_incarnation(peer->supervisor);
    const struct journal_line *line = peer->journal.last;
    const struct journal_line *first = NULL;
    size_t len = 0;
    for (size_t lines = 0; line && line->run == run && lines < TAIL_LINES; line = line->prev) {
        if (line->own)
            continue;
        if (first && len + line->len + 1 > TAIL_BYTES)
            break;
        first = line;
        len += line->len + 1;
        lines++;
    }
    char *text = first ? malloc(len) : NULL;
    *ret_len = 0;
    for (line = first; text && line; line = line->next) {
        if (line->own)
            continue;
        memcpy(text + *ret_len, line->text, line->len);
        text[*ret_len + line->len] = '\n';
        *ret_len += line->len + 1;
    }
    return text;
}

/* Showing. */

static cli_colour colour_of(dx_state state) {
    switch (state) {
    case DX_STATE_READY:
        return CLI_GREEN;
    case DX_STATE_FAILED:
        return CLI_RED;
    case DX_STATE_STOPPED:
        return CLI_DIM;
    default:
        return CLI_YELLOW;
    }
}

static bool is_dead(dx_state state) {
    return state == DX_STATE_BACKOFF || state == DX_STATE_FAILED;
}

static void show_json(const struct crew_peer *peer, const char *why) {
    size_t len;
    char *tail = is_dead(peer->state) ? crew_tail(peer, &len) : NULL;
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    yyjson_mut_doc_set_root(doc, root);
    yyjson_mut_obj_add_uint(doc, root, "time", cli_unix_ms());
    yyjson_mut_obj_add_str(doc, root, "peer", peer->config->name);
    yyjson_mut_obj_add_str(doc, root, "state", dx_state_name(peer->state));
    yyjson_mut_obj_add_uint(doc, root, "run", dx_supervisor_incarnation(peer->supervisor));
    if (dx_supervisor_pid(peer->supervisor))
        yyjson_mut_obj_add_int(doc, root, "pid", dx_supervisor_pid(peer->supervisor));
    if (peer->state == DX_STATE_STARTING) {
        yyjson_mut_val *argv = yyjson_mut_obj_add_arr(doc, root, "command");
        for (char **word = peer->masks.words; *word; word++)
            yyjson_mut_arr_add_str(doc, argv, *word);
    }
    if (peer->state == DX_STATE_BACKOFF)
        yyjson_mut_obj_add_uint(doc, root, "againMs", peer->pause_ms);
    if (why[0])
        yyjson_mut_obj_add_str(doc, root, "why", why);
    if (tail)
        yyjson_mut_obj_add_strn(doc, root, "errors", tail, len);
    char *text = yyjson_mut_write(doc, YYJSON_WRITE_ALLOW_INVALID_UNICODE, NULL);
    puts(text ? text : "{}");
    fflush(stdout);
    free(text);
    free(tail);
    yyjson_mut_doc_free(doc);
}

static void put_text(const char *text) {
    cli_put_safe(stderr, dx_str(text));
}

static void put_tail(const struct crew_peer *peer) {
    size_t len;
    char *tail = crew_tail(peer, &len);
    for (size_t at = 0; tail && at < len;) {
        const char *end = memchr(tail + at, '\n', len - at);
        size_t part = (size_t)(end - (tail + at));
        fputs("  ", stderr);
        cli_put_safe(stderr, (dx_text){tail + at, part});
        fputc('\n', stderr);
        at += part + 1;
    }
    free(tail);
}

/* Everything that is started is shown with all its words: whoever runs a file of somebody else
 * shall see what that means. */
static void show(const struct crew_peer *peer, const char *why) {
    if (cli_voice.json) {
        show_json(peer, why);
        return;
    }
    fprintf(stderr, "%s: %s%s%s", peer->config->name, cli_paint(stderr, colour_of(peer->state)),
            dx_state_name(peer->state), cli_paint(stderr, CLI_PLAIN));
    if (peer->state == DX_STATE_STARTING)
        for (char **word = peer->masks.words; *word; word++) {
            fputs(word == peer->masks.words ? ": " : " ", stderr);
            put_text(*word);
        }
    if (peer->state == DX_STATE_READY)
        fprintf(stderr, " (pid %ld)", (long)dx_supervisor_pid(peer->supervisor));
    if (peer->state == DX_STATE_BACKOFF)
        fprintf(stderr, ", restarting in %llu ms", (unsigned long long)peer->pause_ms);
    if (why[0]) {
        fputs(": ", stderr);
        put_text(why);
    }
    fputc('\n', stderr);
    char *hint = peer->state == DX_STATE_FAILED ? cli_start_hint(why, true) : NULL;
    if (hint)
        cli_put_hint(hint);
    free(hint);
    if (is_dead(peer->state))
        put_tail(peer);
}

/* States. */

static void start_now(struct crew_peer *peer) {
    peer->again = peer->halting = false;
    peer->coming = true;
    peer->pause_ms = 0;
    dx_supervisor_start(peer->supervisor);
}

/* As the supervisor has it: twice the last one, unless it was well for long. */
static void find_pause(struct crew_peer *peer, uint64_t now) {
    dx_supervisor_config config = dx_supervisor_defaults(DX_FRAMING_LINE, NULL);
    uint64_t least = peer->config->backoff_ms ? peer->config->backoff_ms : config.backoff_ms;
    uint64_t most =
        peer->config->backoff_max_ms ? peer->config->backoff_max_ms : config.backoff_max_ms;
    bool steady = peer->ready_ms && now - peer->ready_ms >= config.steady_ms;
    peer->pause_ms = !peer->pause_ms || steady ? least : peer->pause_ms * 2;
    if (peer->pause_ms > most)
        peer->pause_ms = most;
}

static void on_state(dx_supervisor *supervisor, dx_state state, const dx_error *why, void *user) {
    struct crew_peer *peer = user;
    uint64_t now = dx_loop_now(peer->crew->loop);
    char line[sizeof peer->why + 40];
    (void)supervisor;
    peer->state = state;
    size_t len;
    char *masked = masks_hide(&peer->masks, dx_str(why->fault ? why->phrase : ""), &len);
    snprintf(peer->why, sizeof peer->why, "%.*s", masked ? (int)len : (int)sizeof peer->why,
             masked       ? masked
             : why->fault ? why->phrase
                          : "");
    cli_say_seconds(peer->why);
    free(masked);
    dx__log_limiter_flush(peer->crew->limiter, peer->config->name);
    if (is_dead(state) && peer->why[0]) {
        memcpy(peer->failure, peer->why, sizeof peer->failure);
        peer->failed_ms = now;
    }
    /* The lines themselves are shown, if they are known. */
    char *last = peer->cut ? NULL : strstr(peer->why, "; stderr: ");
    if (last)
        *last = '\0';
    if (state == DX_STATE_STARTING) {
        peer->cut = false;
        peer->began_ms = now;
        peer->ready_ms = 0;
        peer->coming = false;
    }
    if (state == DX_STATE_READY && !peer->ready_ms)
        peer->ready_ms = now;
    if (state == DX_STATE_BACKOFF)
        find_pause(peer, now);
    show(peer, peer->why);
    if (peer->why[0]) {
        snprintf(line, sizeof line, "%s: %s", dx_state_name(state), peer->why);
        write_down(peer, true, dx_str(line));
    }
    if (peer->again &&
        (state == DX_STATE_STOPPING || state == DX_STATE_STOPPED || state == DX_STATE_FAILED))
        start_now(peer);
    if (peer->crew->on_state)
        peer->crew->on_state(peer, peer->crew->user);
}

bool crew_is_ready(const struct crew_peer *peer) {
    return peer->state == DX_STATE_READY || peer->state == DX_STATE_DEGRADED;
}

bool crew_is_coming(const struct crew_peer *peer) {
    return peer->coming || peer->again || peer->state == DX_STATE_STARTING;
}

/* The handshake. */

static void take_steps(struct crew_peer *peer, dx_link *link);

static void fail_handshake(struct crew_peer *peer, const char *method, const char *why) {
    dx_error error = {.fault = DX_FAULT_START};
    snprintf(error.phrase, sizeof error.phrase, "the handshake failed: %.60s: %.100s", method, why);
    dx_supervisor_fail(peer->supervisor, &error);
}

static size_t steps_of(const struct crew_peer *peer) {
    const dx_step *steps = dx_protocol_facts_of(peer->config->protocol)->start;
    size_t count = 0;
    while (steps && steps[count].method)
        count++;
    return count;
}

static void forget_hello(struct crew_peer *peer) {
    for (size_t i = 0; peer->hello && i < steps_of(peer); i++) {
        free((void *)(uintptr_t)peer->hello[i].at);
        peer->hello[i] = (dx_text){NULL, 0};
    }
}

/* Clients that come later are answered with it. */
static void keep_hello(struct crew_peer *peer, dx_text result) {
    size_t index = (size_t)(peer->step - dx_protocol_facts_of(peer->config->protocol)->start);
    char *copy = malloc(result.len + 1);
    if (!copy)
        return;
    memcpy(copy, result.at, result.len);
    free((void *)(uintptr_t)peer->hello[index].at);
    peer->hello[index].at = copy;
    peer->hello[index].len = result.len;
}

static void on_step_done(dx_link *link, const dx_event *event, void *user) {
    struct crew_peer *peer = user;
    if (peer->state != DX_STATE_STARTING || event->outcome == DX_OUTCOME_LOST)
        return; /* how it ended is told when it has */
    if (event->outcome != DX_OUTCOME_RESULT) {
        char *why = contact_describe(event, "startMs");
        fail_handshake(peer, peer->step->method, why ? why : "out of memory");
        free(why);
        return;
    }
    keep_hello(peer, event->body);
    peer->step++;
    take_steps(peer, link);
}

/* Each when the one before was answered. */
static void take_steps(struct crew_peer *peer, dx_link *link) {
    const dx_step *first = dx_protocol_facts_of(peer->config->protocol)->start;
    dx_link_call_options options = {.peer = {.user = peer}, .on_done = on_step_done};
    for (; peer->step && peer->step->method; peer->step++) {
        const dx_step *step = peer->step;
        const char *params =
            step == first && peer->config->init ? peer->config->init : step->params;
        dx_status status =
            step->notification
                ? dx_link_notify(link, dx_str(step->method), contact_json(params))
                : dx_link_call(link, dx_str(step->method), contact_json(params), &options, NULL);
        if (status != DX_OK) {
            fail_handshake(peer, step->method,
                           status == DX_MISFIT ? dx_link_why(link)->phrase
                                               : dx_status_name(status));
            return;
        }
        if (!step->notification)
            return;
    }
    dx_supervisor_ready(peer->supervisor);
}

static void on_start(dx_supervisor *supervisor, dx_link *link, void *user) {
    struct crew_peer *peer = user;
    peer->pids[dx_supervisor_incarnation(supervisor) % 8] = dx_supervisor_pid(supervisor);
    peer->step = dx_protocol_facts_of(peer->config->protocol)->start;
    forget_hello(peer);
    take_steps(peer, link);
}

/* What comes. */

static void on_errors(dx_child *child, dx_text line, void *user) {
    (void)child;
    write_limited(dx_supervisor_user(user), false, line);
}

/* Shown once for each peer; clients that connect are told, too. */
static void warn_of_noise(struct crew_peer *peer, dx_text text) {
    if (peer->noise[0])
        return;
    snprintf(peer->noise, sizeof peer->noise, "%.*s",
             (int)(text.len < sizeof peer->noise ? text.len : sizeof peer->noise - 1), text.at);
    char who[100];
    snprintf(who, sizeof who, "'%.80s'", peer->config->name);
    const char *warning = cli_noise(who, text);
    if (warning)
        cli_warn("%s", warning);
}

static void on_event(dx_link *link, const dx_event *event, void *user) {
    struct crew_peer *peer = user;
    char line[300];
    if (cli_is_noise(event))
        warn_of_noise(peer, event->message);
    if (event->kind == DX_EVENT_REQUEST) {
        contact_answer(peer->config->protocol, link, event);
    } else if (event->kind == DX_EVENT_NOTIFICATION) {
        peer->crew->on_notification(peer, event, peer->crew->user);
    } else if (event->kind == DX_EVENT_VIOLATION) {
        snprintf(line, sizeof line, "violation: %s", event->error.phrase);
        write_limited(peer, true, dx_str(line));
    } else if (event->kind == DX_EVENT_STRAY) {
        size_t len = event->message.len < 250 ? event->message.len : 250;
        while (len && strchr("\r\n", event->message.at[len - 1]))
            len--;
        int used = snprintf(line, sizeof line, "text on stdout that is not JSON-RPC: %.*s",
                            (int)len, event->message.at);
        write_limited(peer, true, (dx_text){line, (size_t)used});
    }
}

/* Birth and death. */

static int open_recorder(struct crew_peer *peer) {
    dx_error error = {.phrase = "cannot write the trace"};
    dx_recorder_config config = dx_recorder_defaults(peer->config->record);
    if (!peer->config->record || cli_recorder_open(&config, &peer->recorder, &error) == DX_OK)
        return CLI_OK;
    return cli_fail(CLI_USAGE, "%s: %s", peer->config->name, error.phrase);
}

static dx_supervisor_config configure(struct crew_peer *peer) {
    const cli_config_peer *given = peer->config;
    dx_supervisor_config config =
        dx_supervisor_for(given->protocol, (const char *const *)given->argv);
    dx_child_config *child = &config.child;
    child->cwd = given->cwd;
    child->env = (const char *const *)given->env;
    child->inherit_env = given->inherit_env;
    child->memory_max = given->memory_max;
    child->files_max = given->files_max;
    child->on_errors = on_errors;
    child->link.peer.framing = given->framing;
    child->link.peer.lenient |= DX_LENIENT_VALUE;
    child->link.on_event = on_event;
    child->link.user = peer;
    child->link.recorder = peer->recorder;
    child->link.name = given->name;
    child->link.peer.tree_max = TREE_MAX;
    if (given->timeout_ms)
        child->link.peer.timeout_ms = given->timeout_ms;
    config.on_start = on_start;
    config.on_state = on_state;
    config.user = peer;
    config.restart = given->restart;
    if (given->start_ms || peer->crew->start_ms)
        config.start_ms = given->start_ms ? given->start_ms : peer->crew->start_ms;
    if (given->backoff_ms)
        config.backoff_ms = given->backoff_ms;
    if (given->backoff_max_ms)
        config.backoff_max_ms = given->backoff_max_ms;
    if (given->has_tries)
        config.tries = given->tries;
    if (given->window_ms)
        config.window_ms = given->window_ms;
    config.ping = given->ping;
    if (given->ping_ms)
        config.ping_ms = given->ping_ms;
    return config;
}

static void show_escaped_json(const char *name, const cli_escaped *escaped) {
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    yyjson_mut_doc_set_root(doc, root);
    yyjson_mut_obj_add_uint(doc, root, "time", cli_unix_ms());
    if (name)
        yyjson_mut_obj_add_str(doc, root, "peer", name);
    yyjson_mut_val *value = yyjson_mut_obj_add_obj(doc, root, "escaped");
    yyjson_mut_obj_add_int(doc, value, "pid", escaped->pid);
    cli_add_text(doc, value, "command", dx_str(escaped->command));
    yyjson_mut_obj_add_bool(doc, value, "ended", escaped->ended);
    char *text = yyjson_mut_write(doc, YYJSON_WRITE_ALLOW_INVALID_UNICODE, NULL);
    puts(text ? text : "{}");
    fflush(stdout);
    free(text);
    yyjson_mut_doc_free(doc);
}

void crew_escaped(const cli_escaped *escaped, void *user) {
    struct crew *crew = user;
    struct crew_peer *peer = NULL;
    char line[300];
    for (size_t i = 0; escaped->peer && !peer && i < crew->count; i++)
        for (size_t k = 0; k < 8; k++)
            if (crew->peers[i].pids[k] == escaped->peer)
                peer = &crew->peers[i];
    cli_escaped_line(escaped, line, sizeof line);
    if (cli_voice.json)
        show_escaped_json(peer ? peer->config->name : NULL, escaped);
    else if (peer)
        fprintf(stderr, "%s: ", peer->config->name);
    if (!cli_voice.json) {
        put_text(line);
        fputc('\n', stderr);
    }
    if (peer)
        write_down(peer, true, dx_str(line));
}

int crew_open(struct crew *crew, const cli_config *config) {
    crew->peers = calloc(config->count, sizeof *crew->peers);
    crew->seq = 1;
    crew->limiter = dx__log_limiter_new(crew->loop, on_summary, crew);
    if (!crew->peers || !crew->limiter)
        return cli_fail(CLI_NO_START, "out of memory");
    for (size_t i = 0; i < config->count; i++) {
        struct crew_peer *peer = &crew->peers[i];
        const cli_config_peer *given = &config->peers[i];
        *peer = (struct crew_peer){.crew = crew, .config = given};
        crew->count++;
        peer->journal.max = given->log_max  ? given->log_max
                            : crew->log_max ? crew->log_max
                                            : SIZE_MAX;
        peer->hello = calloc(steps_of(peer) + 1, sizeof *peer->hello);
        if (!peer->hello || !masks_init(&peer->masks, (const char *const *)given->argv,
                                        (const char *const *)given->env))
            return cli_fail(CLI_NO_START, "out of memory");
        int code = open_recorder(peer);
        if (code != CLI_OK)
            return code;
        dx_supervisor_config made = configure(peer);
        if (dx_supervisor_new(crew->loop, &made, &peer->supervisor) != DX_OK)
            return cli_fail(CLI_NO_START, "out of memory");
    }
    return CLI_OK;
}

void crew_done(struct crew *crew) {
    crew->limiter = dx__log_limiter_free(crew->limiter);
    for (size_t i = 0; i < crew->count; i++) {
        struct crew_peer *peer = &crew->peers[i];
        dx_supervisor_free(peer->supervisor);
        cli_record_close(peer->recorder);
        journal_done(&peer->journal);
        forget_hello(peer);
        free(peer->hello);
        masks_done(&peer->masks);
    }
    free(crew->peers);
    crew->peers = NULL;
    crew->count = 0;
}

struct crew_peer *crew_find(struct crew *crew, const char *name, size_t len) {
    for (size_t i = 0; i < crew->count; i++)
        if (strlen(crew->peers[i].config->name) == len &&
            memcmp(crew->peers[i].config->name, name, len) == 0)
            return &crew->peers[i];
    return NULL;
}

/* Orders. */

bool crew_is_well(const struct crew_peer *peer) {
    return crew_is_ready(peer) && !peer->halting;
}

void crew_start(struct crew_peer *peer) {
    if (peer->crew->leaving || crew_is_well(peer))
        return;
    if (peer->halting)
        crew_restart(peer);
    else if (!crew_is_coming(peer))
        start_now(peer);
}

void crew_stop(struct crew_peer *peer) {
    peer->again = peer->coming = false;
    peer->halting = true;
    dx_supervisor_stop(peer->supervisor);
}

/* Starting in the same breath would take the stopping back, so that waits until it has begun. */
void crew_restart(struct crew_peer *peer) {
    if (peer->crew->leaving)
        return;
    bool runs = crew_is_ready(peer) || peer->state == DX_STATE_STARTING;
    if (!runs) {
        start_now(peer);
        return;
    }
    peer->again = peer->halting = true;
    dx_supervisor_stop(peer->supervisor);
}

void crew_leave(struct crew *crew) {
    crew->leaving = true;
    for (size_t i = 0; i < crew->count; i++)
        crew_stop(&crew->peers[i]);
}

bool crew_has_ended(const struct crew *crew, size_t *ret_failed) {
    *ret_failed = 0;
    for (size_t i = 0; i < crew->count; i++) {
        const struct crew_peer *peer = &crew->peers[i];
        if (peer->halting || crew_is_coming(peer))
            return false;
        *ret_failed += peer->state == DX_STATE_FAILED;
    }
    return crew_is_gone(crew);
}

bool crew_is_gone(const struct crew *crew) {
    for (size_t i = 0; i < crew->count; i++) {
        const struct crew_peer *peer = &crew->peers[i];
        if (peer->state != DX_STATE_STOPPED && peer->state != DX_STATE_FAILED)
            return false;
    }
    return true;
}
