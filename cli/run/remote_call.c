/* duplex call and notify with --in: one message to a peer of a run. */
#include "cli/contact.h"
#include "cli/params.h"
#include "cli/run/control.h"
#include "cli/say.h"
#include "cli/waiting.h"

#include <stdlib.h>
#include <string.h>

int cli_control_check(const cli_peer_options *options, char *const *command, const char *allowed) {
    const cli_option *tables[] = {cli_peer_table, cli_time_table, cli_progress_table};
    if (command)
        return cli_fail(CLI_USAGE, "--in and a command cannot be used together");
    for (size_t i = 0; i < 3; i++)
        for (const cli_option *row = tables[i]; row->name; row++) {
            char name[64];
            snprintf(name, sizeof name, " %s ", row->name);
            if (!strstr(allowed, name) && cli_is_set(row, options, NULL))
                return cli_fail(CLI_USAGE, "--in and --%s cannot be used together", row->name);
        }
    return CLI_OK;
}

/* Null is never, and nothing is what the peer has. */
static void add_time(yyjson_mut_doc *doc, yyjson_mut_val *root, const char *name, uint64_t ms) {
    if (ms == CLI_NEVER)
        yyjson_mut_obj_add_null(doc, root, name);
    else if (ms)
        yyjson_mut_obj_add_uint(doc, root, name, ms);
}

/* Are they JSON that the run can parse? */
static bool can_be_read(const char *params) {
    yyjson_doc *doc = yyjson_read(params, strlen(params), 0);
    bool good = doc;
    yyjson_doc_free(doc);
    return good;
}

int cli_control_check_method(cli_control *control, const char *peer, const char *method,
                             bool notification) {
    cli_reply reply;
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    yyjson_mut_doc_set_root(doc, root);
    yyjson_mut_obj_add_str(doc, root, "name", peer);
    yyjson_mut_obj_add_str(doc, root, "method", method);
    yyjson_mut_obj_add_bool(doc, root, "notification", notification);
    char *text = yyjson_mut_write(doc, 0, NULL);
    yyjson_mut_doc_free(doc);
    if (!text)
        return cli_fail(CLI_USAGE, "cannot send %s: %s", method,
                        cli_params_why_not(method, DX_ERR_INVALID));
    int code = cli_control_call(control, "check", text, &reply);
    free(text);
    cli_reply_done(&reply);
    return code;
}

int cli_control_say(cli_control *control, const char *peer, const char *verb, const char *method,
                    const char *params, const cli_peer_options *options,
                    void (*on_result)(const dx_event *event, void *user), void *user) {
    cli_reply reply;
    if (params && !can_be_read(params))
        return cli_fail(CLI_USAGE, "cannot send %s: %s", method,
                        cli_params_why_not(method, DX_ERR_INVALID));
    int code = cli_control_await(control, peer, 0, options->timeout_ms);
    if (code != CLI_OK)
        return code;
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
        return cli_fail(CLI_USAGE, "cannot write the params of %s as JSON", method);
    bool asked = cli_control_ask(control, verb, text, &reply);
    free(text);
    if (!asked)
        return CLI_USAGE;
    cli_waiting_begin(&(cli_waiting){
        .what = method, .most_ms = options->timeout_ms ? options->timeout_ms : DX_NEVER});
    code = cli_control_wait(&reply, false);
    if (reply.event)
        cli_note_mended(method, reply.event->mended);
    if (code == CLI_OK && on_result)
        on_result(reply.event, user);
    cli_reply_done(&reply);
    return code;
}
