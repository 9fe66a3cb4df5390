#include "cli/run/control.h"

#include "cli/say.h"
#include "cli/tail.h"
#include "cli/wait.h"
#include "cli/waiting.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* An answer of a peer and what stands around it. */
enum { MESSAGE_MAX = (64 << 20) + 4096 };

struct cli_control {
    dx_loop *loop;
    dx_link *link;
    int fd; /* of the link */
    bool over;
    bool refused;
    bool silent;   /* nothing is reported: somebody only asks in passing */
    char why[300]; /* it was refused, or broke */
};

/* Opening. */

/* `text` is what the peer printed that is not JSON-RPC; NULL: nothing. */
static void warn_of_noise(yyjson_val *text) {
    const char *warning =
        yyjson_is_str(text) ? cli_noise("the server", dx_json_string(text)) : NULL;
    if (warning)
        cli_warn("%s", warning);
}

/* A run that does not want us says so in an error that answers nothing. */
static void on_event(dx_link *link, const dx_event *event, void *user) {
    cli_control *control = user;
    (void)link;
    if (event->kind == DX_EVENT_NOTIFICATION && dx_text_is(event->method, "noise"))
        warn_of_noise(yyjson_obj_get(event->value, "text"));
    if (event->kind != DX_EVENT_VIOLATION || control->why[0])
        return;
    yyjson_doc *doc = yyjson_read(event->message.at, event->message.len, 0);
    const char *message =
        yyjson_get_str(yyjson_ptr_get(yyjson_doc_get_root(doc), "/error/message"));
    snprintf(control->why, sizeof control->why, "%s", message ? message : event->error.phrase);
    control->refused = message;
    yyjson_doc_free(doc);
}

static void on_closed(dx_link *link, const dx_error *why, void *user) {
    cli_control *control = user;
    if (why->fault && !control->why[0])
        snprintf(control->why, sizeof control->why, "%s", why->phrase);
    control->over = true;
    control->link = NULL;
    dx_link_free(link);
}

static int no_run(const cli_address *address, int number, bool quiet) {
    const char *path = address->socket.sun_path;
    if (quiet)
        return CLI_NO_START;
    if (number != ENOENT && number != ECONNREFUSED)
        return cli_fail(CLI_NO_START, "cannot connect to %s: %s", path, strerror(number));
    if (address->given)
        return cli_fail(CLI_NO_START, "no run is listening at %s", path);
    char *others = cli_address_others(address);
    char *hint = NULL;
    if (others &&
        asprintf(&hint, strchr(others, ',') ? "pass --name; the runs are %s" : "pass --name %s",
                 others) < 0)
        hint = NULL;
    int code =
        cli_fail_hint(CLI_NO_START, hint ? hint : "start one with 'duplex run --config FILE'",
                      "no run named '%s'", address->run);
    free(hint);
    free(others);
    return code;
}

static dx_status open_link(cli_control *control, int fd, dx_error *error) {
    dx_link_config config = dx_link_defaults(DX_FRAMING_LINE, DX_SIDE_HOST);
    config.peer.lenient |= DX_LENIENT_VALUE; /* results of peers pass as they came */
    config.peer.message_max = MESSAGE_MAX;
    config.peer.timeout_ms = config.peer.total_ms = DX_NEVER;
    config.on_event = on_event;
    config.on_closed = on_closed;
    config.user = control;
    control->fd = fd;
    dx_status status = dx_loop_new(NULL, &control->loop, error);
    return status == DX_OK ? dx_link_open(control->loop, fd, fd, &config, &control->link, error)
                           : status;
}

static int open_control(const cli_run_options *options, bool quiet, cli_control **ret_control) {
    cli_address address;
    pid_t pid;
    uid_t uid;
    dx_error error = {.phrase = "out of memory"};
    int code = cli_address_find(options, false, &address);
    if (code != CLI_OK)
        return code;
    int fd = cli_address_connect(&address, &pid, &uid);
    if (fd < 0)
        return no_run(&address, errno, quiet);
    if (!cli_address_trusts(uid) && geteuid() != 0) {
        close(fd);
        return cli_fail(CLI_NO_START, "%s belongs to another user (uid %lu)",
                        address.socket.sun_path, (unsigned long)uid);
    }
    cli_control *control = calloc(1, sizeof *control);
    if (!control || open_link(control, fd, &error) != DX_OK) {
        close(fd);
        cli_control_close(control);
        return cli_fail(CLI_NO_START, "%s", error.phrase);
    }
    cli_catch_signals();
    *ret_control = control;
    return CLI_OK;
}

int cli_control_open(const cli_run_options *options, cli_control **ret_control) {
    return open_control(options, false, ret_control);
}

void cli_control_close(cli_control *control) {
    if (!control)
        return;
    dx_loop_free(control->loop);
    free(control);
}

bool cli_control_is_over(const cli_control *control) {
    return control->over;
}

/* Asking. */

static void on_done(dx_link *link, const dx_event *event, void *user) {
    cli_reply *reply = user;
    reply->done = true;
    reply->lost = event->outcome == DX_OUTCOME_LOST;
    (void)dx_link_keep(link, &reply->event);
}

bool cli_control_ask(cli_control *control, const char *method, const char *params,
                     cli_reply *reply) {
    dx_link_call_options options = {.peer = {.user = reply}, .on_done = on_done};
    dx_json json = params ? dx_json_text(params, strlen(params)) : dx_json_none();
    *reply = (cli_reply){.control = control};
    dx_status status = dx_link_call(control->link, dx_str(method), json, &options, NULL);
    if (status == DX_CLOSED) { /* the waiting tells why */
        reply->done = reply->lost = true;
        return true;
    }
    if (status != DX_OK)
        cli_fail(CLI_USAGE, "cannot send '%s' to the run: %s", method, dx_status_name(status));
    return status == DX_OK;
}

/* What the run refused has its exit code as the number, and more of what there is to say as data.
 */
static int tell_refusal(const dx_event *event) {
    yyjson_val *data = yyjson_obj_get(event->value, "data");
    yyjson_val *detail = yyjson_obj_get(data, "detail");
    const char *message = yyjson_get_str(yyjson_obj_get(event->value, "message"));
    bool known = event->code > CLI_OK && event->code <= CLI_MISFIT;
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *more = yyjson_mut_obj(doc);
    yyjson_obj_iter iter = yyjson_obj_iter_with(data);
    for (yyjson_val *key; (key = yyjson_obj_iter_next(&iter));)
        if (!yyjson_equals_str(key, "detail"))
            yyjson_mut_obj_add(more, yyjson_val_mut_copy(doc, key),
                               yyjson_val_mut_copy(doc, yyjson_obj_iter_get_val(key)));
    /* What a peer adds to its error is told as if it were ours. */
    yyjson_val *added = cli_voice.json || detail ? NULL : yyjson_obj_get(data, "data");
    char *text = added ? yyjson_val_write(added, YYJSON_WRITE_NOFLAG, NULL) : NULL;
    int code = cli_fail_with(known ? (int)event->code : CLI_VIOLATION,
                             message ? message : "the run refused the request", doc, more,
                             text ? dx_str(text) : dx_json_string(detail));
    free(text);
    yyjson_mut_doc_free(doc);
    return code;
}

int cli_control_wait(cli_reply *reply, bool quiet) {
    cli_control *control = reply->control;
    uint64_t until = reply->until ? reply->until : DX_NEVER;
    while (!reply->done && !cli_interrupts() && cli_now() < until)
        cli_wait(control->loop, until);
    cli_waiting_end();
    if (!reply->done && !cli_interrupts())
        return CLI_LATE;
    if (!reply->done)
        return quiet ? CLI_INTERRUPTED : cli_fail(CLI_INTERRUPTED, "interrupted");
    if (reply->event && reply->event->outcome == DX_OUTCOME_RESULT)
        return CLI_OK;
    if (reply->event && reply->event->outcome == DX_OUTCOME_ERROR)
        return control->silent ? CLI_REFUSED : tell_refusal(reply->event);
    if (!reply->lost)
        return cli_fail(CLI_NO_START, "out of memory");
    /* A reason may still be on its way behind the loss. */
    while (!control->over && !cli_interrupts())
        cli_wait(control->loop, DX_NEVER);
    if (control->silent || (quiet && !control->why[0]))
        return CLI_ENDED;
    if (control->refused)
        return cli_fail(CLI_NO_START, "cannot talk to the run: %s", control->why);
    return cli_fail(CLI_ENDED, "the run ended before it responded%s%s", control->why[0] ? ": " : "",
                    control->why);
}

void cli_reply_done(cli_reply *reply) {
    reply->event = dx_event_free(reply->event);
}

int cli_control_call(cli_control *control, const char *method, const char *params,
                     cli_reply *reply) {
    return cli_control_ask(control, method, params, reply) ? cli_control_wait(reply, false)
                                                           : CLI_USAGE;
}

char *cli_control_name(const char *name) {
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    yyjson_mut_doc_set_root(doc, root);
    yyjson_mut_obj_add_str(doc, root, "name", name);
    char *text = yyjson_mut_write(doc, 0, NULL);
    yyjson_mut_doc_free(doc);
    return text;
}

/* Waiting for a peer. */

void cli_control_waits_for(const char *peer, uint64_t most_ms) {
    char what[40];
    snprintf(what, sizeof what, "%.30s to start", peer);
    cli_waiting_begin(&(cli_waiting){.what = what, .most_ms = most_ms});
}

int cli_control_await(cli_control *control, const char *peer, uint64_t start_ms,
                      uint64_t timeout_ms) {
    cli_reply reply;
    uint64_t limit = cli_start_time(start_ms, timeout_ms, DX_NEVER);
    bool is_limited = limit < DX_NEVER / 2;
    char *params = cli_control_name(peer);
    if (!params)
        return cli_fail(CLI_USAGE, "'%s' is not a valid name", peer);
    bool asked = cli_control_ask(control, "ready", params, &reply);
    free(params);
    if (!asked)
        return CLI_USAGE;
    reply.until = is_limited ? cli_now() + limit : 0;
    cli_control_waits_for(peer, limit);
    int code = cli_control_wait(&reply, false);
    cli_reply_done(&reply);
    if (code != CLI_LATE)
        return code;
    char hint[100];
    char message[120];
    snprintf(hint, sizeof hint, "see 'duplex ps' and 'duplex logs %.60s'", peer);
    snprintf(message, sizeof message, "%.60s was not ready within %llu ms", peer,
             (unsigned long long)limit);
    cli_say_seconds(message);
    return cli_fail_hint(code, hint, "%s (%s)", message,
                         start_ms ? "--start-timeout" : "--timeout");
}

/* Attaching. */

int cli_control_attach(const cli_run_options *options, const char *peer, uint64_t start_ms,
                       uint64_t timeout_ms, cli_attached *ret) {
    cli_control *control = NULL;
    cli_reply reply = {.done = false};
    *ret = (cli_attached){.fd = -1};
    int code = cli_control_open(options, &control);
    if (code != CLI_OK || !control)
        return code;
    /* The link closes its own descriptor. The run sends nothing after its response until we have
     * said something, so the link has not read what is meant for others. */
    int fd = fcntl(control->fd, F_DUPFD_CLOEXEC, 3);
    char *params = cli_control_name(peer);
    if (fd < 0 || !params)
        code = cli_fail(CLI_NO_START, "cannot connect to '%s': %s", peer, strerror(errno));
    else
        code = cli_control_await(control, peer, start_ms, timeout_ms);
    if (code == CLI_OK)
        code = cli_control_call(control, "attach", params, &reply);
    if (code == CLI_OK) {
        const char *protocol = yyjson_get_str(yyjson_obj_get(reply.event->value, "protocol"));
        *ret = (cli_attached){
            .fd = fd,
            .pid = (pid_t)yyjson_get_int(yyjson_obj_get(reply.event->value, "pid")),
            .protocol = protocol ? strdup(protocol) : NULL,
        };
        warn_of_noise(yyjson_obj_get(reply.event->value, "noise"));
    } else if (fd >= 0) {
        close(fd);
    }
    free(params);
    cli_reply_done(&reply);
    cli_control_close(control);
    if (code == CLI_OK && !ret->protocol) {
        cli_attached_done(ret);
        code = cli_fail(CLI_NO_START, "out of memory");
    }
    return code;
}

void cli_attached_done(cli_attached *attached) {
    if (attached->fd >= 0)
        close(attached->fd);
    free(attached->protocol);
    *attached = (cli_attached){.fd = -1};
}

static yyjson_val *find_peer(yyjson_val *table, const char *name) {
    size_t i;
    size_t max;
    yyjson_val *peer;
    yyjson_val *peers = yyjson_obj_get(table, "peers");
    yyjson_arr_foreach(peers, i, max, peer) {
        if (yyjson_equals_str(yyjson_obj_get(peer, "name"), name))
            return peer;
    }
    return NULL;
}

/* An older failure is not the reason for an end that was seen just now. */
enum { JUST_NOW_MS = 5000 };

char *cli_control_reason(const cli_run_options *options, const char *peer) {
    cli_control *control = NULL;
    cli_reply reply = {.done = false};
    char *reason = NULL;
    if (open_control(options, true, &control) != CLI_OK || !control)
        return strdup("the run has ended");
    control->silent = true;
    if (cli_control_ask(control, "ps", NULL, &reply) && cli_control_wait(&reply, true) == CLI_OK) {
        yyjson_val *row = find_peer(reply.event->value, peer);
        const char *why = yyjson_get_str(yyjson_obj_get(row, "lastFailure"));
        bool is_new = yyjson_get_uint(yyjson_obj_get(row, "lastFailureMs")) < JUST_NOW_MS;
        reason = strdup(why && is_new ? why : "it was stopped or restarted");
    } else {
        reason = strdup("the run has ended");
    }
    cli_reply_done(&reply);
    cli_control_close(control);
    return reason;
}
