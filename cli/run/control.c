#include "cli/run/control.h"

#include "cli/contact.h"
#include "cli/say.h"
#include "cli/wait.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* An answer of a peer and what stands around it. */
enum { MESSAGE_MAX = (64 << 20) + 4096 };

struct cli_control {
    dx_loop *loop;
    dx_link *link;
    bool over;
    bool refused;
    char why[300]; /* it was refused, or broke */
};

/* Opening. */

/* A run that does not want us says so in an error that answers nothing. */
static void on_event(dx_link *link, const dx_event *event, void *user) {
    cli_control *control = user;
    (void)link;
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

static int no_run(const cli_address *address, int number) {
    const char *path = address->socket.sun_path;
    if (number != ENOENT && number != ECONNREFUSED)
        return cli_fail(CLI_NO_START, "%s can't be reached: %s", path, strerror(number));
    if (address->given)
        return cli_fail(CLI_NO_START, "there is no run at %s", path);
    return cli_fail(CLI_NO_START, "there is no run named %s; 'duplex run' starts one",
                    address->run);
}

static dx_status open_link(cli_control *control, int fd, dx_error *error) {
    dx_link_config config = dx_link_defaults(DX_FRAMING_LINE, DX_SIDE_HOST);
    config.peer.message_max = MESSAGE_MAX;
    config.peer.timeout_ms = config.peer.total_ms = DX_NEVER;
    config.on_event = on_event;
    config.on_closed = on_closed;
    config.user = control;
    dx_status status = dx_loop_new(NULL, &control->loop, error);
    return status == DX_OK ? dx_link_open(control->loop, fd, fd, &config, &control->link, error)
                           : status;
}

int cli_control_open(const cli_run_options *options, cli_control **ret_control) {
    cli_address address;
    pid_t pid;
    uid_t uid;
    dx_error error = {.phrase = "no memory"};
    int code = cli_address_find(options, false, &address);
    if (code != CLI_OK)
        return code;
    int fd = cli_address_connect(&address, &pid, &uid);
    if (fd < 0)
        return no_run(&address, errno);
    if (!cli_address_trusts(uid) && geteuid() != 0) {
        close(fd);
        return cli_fail(CLI_NO_START, "%s belongs to somebody else (user %lu)",
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
        cli_fail(CLI_USAGE, "%s can't be asked of the run: %s", method, dx_status_name(status));
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
                             message ? message : "the run refused", doc, more,
                             text ? dx_str(text) : dx_json_string(detail));
    free(text);
    yyjson_mut_doc_free(doc);
    return code;
}

int cli_control_wait(cli_reply *reply, bool quiet) {
    cli_control *control = reply->control;
    while (!reply->done && !cli_interrupts())
        cli_wait(control->loop, DX_NEVER);
    if (!reply->done)
        return quiet ? CLI_INTERRUPTED : cli_fail(CLI_INTERRUPTED, "interrupted");
    if (reply->event && reply->event->outcome == DX_OUTCOME_RESULT)
        return CLI_OK;
    if (reply->event && reply->event->outcome == DX_OUTCOME_ERROR)
        return tell_refusal(reply->event);
    if (!reply->lost)
        return cli_fail(CLI_NO_START, "no memory");
    /* A reason may still be on its way behind the loss. */
    while (!control->over && !cli_interrupts())
        cli_wait(control->loop, DX_NEVER);
    if (quiet && !control->why[0])
        return CLI_ENDED;
    if (control->refused)
        return cli_fail(CLI_NO_START, "the run can't be talked to: %s", control->why);
    return cli_fail(CLI_ENDED, "the run ended before it answered%s%s", control->why[0] ? ": " : "",
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

/* duplex call and notify. */

int cli_control_check(const cli_peer_options *options, char *const *command) {
    const cli_option *tables[] = {cli_peer_table, cli_time_table, cli_progress_table};
    if (command)
        return cli_fail(CLI_USAGE, "--in and a command exclude each other");
    for (size_t i = 0; i < 3; i++)
        for (const cli_option *row = tables[i]; row->name; row++)
            if (strcmp(row->name, "timeout") != 0 && strcmp(row->name, "total-timeout") != 0 &&
                cli_is_set(row, options, NULL))
                return cli_fail(CLI_USAGE, "--in and --%s exclude each other", row->name);
    return CLI_OK;
}

/* Null is never, and nothing is what the peer has. */
static void add_time(yyjson_mut_doc *doc, yyjson_mut_val *root, const char *name, uint64_t ms) {
    if (ms == CLI_NEVER)
        yyjson_mut_obj_add_null(doc, root, name);
    else if (ms)
        yyjson_mut_obj_add_uint(doc, root, name, ms);
}

/* The run reads what is said to it as whoever gets it does. */
static bool can_be_read(const char *params) {
    yyjson_doc *doc = yyjson_read(params, strlen(params), 0);
    bool good = doc;
    yyjson_doc_free(doc);
    return good;
}

int cli_control_say(cli_control *control, const char *peer, const char *verb, const char *method,
                    const char *params, const cli_peer_options *options,
                    void (*on_result)(const dx_event *event, void *user), void *user) {
    cli_reply reply;
    if (params && !can_be_read(params))
        return cli_fail(CLI_USAGE, "%s can't be sent: %s", method,
                        contact_why_not(method, DX_ERR_INVALID));
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    yyjson_mut_doc_set_root(doc, root);
    yyjson_mut_obj_add_str(doc, root, "name", peer);
    yyjson_mut_obj_add_str(doc, root, "method", method);
    add_time(doc, root, "timeoutMs", options->timeout_ms);
    add_time(doc, root, "totalMs", options->total_ms);
    if (params) /* digits stay as they are */
        yyjson_mut_obj_add_val(doc, root, "params", yyjson_mut_raw(doc, params));
    char *text = yyjson_mut_write(doc, 0, NULL);
    yyjson_mut_doc_free(doc);
    if (!text)
        return cli_fail(CLI_USAGE, "%s can't be written as JSON", method);
    int code = cli_control_call(control, verb, text, &reply);
    free(text);
    if (code == CLI_OK && on_result)
        on_result(reply.event, user);
    cli_reply_done(&reply);
    return code;
}
