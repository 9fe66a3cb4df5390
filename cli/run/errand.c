#include "cli/run/errand.h"

#include "cli/contact.h"
#include "cli/params.h"
#include "cli/say.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct errand *errand_new(struct desk_client *client, enum errand_kind kind,
                          struct crew_peer *peer) {
    struct desk *desk = client->desk;
    struct errand *errand = calloc(1, sizeof *errand);
    if (!errand)
        return NULL;
    *errand = (struct errand){.kind = kind, .desk = desk, .client = client, .peer = peer};
    if (dx_link_keep(client->link, &errand->event) != DX_OK) {
        free(errand);
        return NULL;
    }
    errand->place = desk->errands ? desk->errands_end : &desk->errands;
    *errand->place = errand;
    desk->errands_end = &errand->next;
    return errand;
}

void errand_free(struct errand *errand) {
    *errand->place = errand->next;
    if (errand->next)
        errand->next->place = errand->place;
    else
        errand->desk->errands_end = errand->place;
    dx_event_free(errand->event);
    free(errand->token);
    free(errand);
}

/* An answer that finds no room is for somebody who does not read. */
void desk_reply(struct desk_client *client, const dx_event *event, dx_json result) {
    dx_status status = dx_link_reply(client->link, event->request, result);
    if (status == DX_BUSY)
        client->cut = true;
    else if (status != DX_OK)
        desk_refuse(client, event, CLI_VIOLATION, "cannot send the response: %s",
                    dx_status_name(status));
}

void errand_reply(struct errand *errand, dx_json result) {
    if (errand->client)
        desk_reply(errand->client, errand->event, result);
    errand_free(errand);
}

static void refuse_with(struct desk_client *client, const dx_event *event, int code,
                        const char *message, yyjson_mut_val *data) {
    dx_json json = data ? dx_json_built(data) : dx_json_none();
    dx_status status = dx_link_refuse(client->link, event->request, code, dx_str(message), json);
    if (status == DX_BUSY)
        client->cut = true;
    else if (status < 0) /* he shall not wait for ever because of a text that can't be sent */
        (void)dx_link_refuse(client->link, event->request, code,
                             dx_str("the error message cannot be sent"), dx_json_none());
}

void desk_refuse(struct desk_client *client, const dx_event *event, int code, const char *format,
                 ...) {
    char message[600];
    va_list list;
    va_start(list, format);
    vsnprintf(message, sizeof message, format, list);
    va_end(list);
    refuse_with(client, event, code, message, NULL);
}

void desk_refuse_hint(struct desk_client *client, const dx_event *event, int code, const char *hint,
                      const char *message) {
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *data = hint ? yyjson_mut_obj(doc) : NULL;
    yyjson_mut_obj_add_str(doc, data, "hint", hint);
    refuse_with(client, event, code, message, data);
    yyjson_mut_doc_free(doc);
}

void errand_fail(struct errand *errand, int code, const char *format, ...) {
    char message[600];
    va_list list;
    va_start(list, format);
    vsnprintf(message, sizeof message, format, list);
    va_end(list);
    if (errand->client)
        refuse_with(errand->client, errand->event, code, message, NULL);
    errand_free(errand);
}

void desk_tell_noise(struct desk_client *client, const struct crew_peer *peer) {
    if (!peer->noise[0])
        return;
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    yyjson_mut_doc_set_root(doc, root);
    cli_add_text(doc, root, "text", dx_str(peer->noise));
    if (dx_link_notify(client->link, dx_str("noise"), dx_json_built(root)) == DX_BUSY)
        client->cut = true;
    yyjson_mut_doc_free(doc);
}

/* A call that was made ends when its peer says so: until then only that is said. */
void errand_abandon(struct errand *errand) {
    errand->client = NULL;
    if (errand->kind == ERRAND_CALL) {
        dx_link *link = dx_supervisor_link(errand->peer->supervisor);
        if (link)
            (void)dx_link_cancel(link, errand->call, dx_str(NULL));
        return;
    }
    errand_free(errand);
}

/* Calls. */

/* The same words that duplex call has for a peer of its own. */
static void tell_outcome(struct errand *errand, const dx_event *event, const char *method) {
    char *message = NULL;
    int code = contact_code(event);
    size_t len = 0;
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *data = yyjson_mut_obj(doc);
    char *tail = code == CLI_ENDED ? crew_tail(errand->peer, &len) : NULL;
    char *why = contact_describe(event, "--timeout");
    char *last = code == CLI_ENDED && tail && why ? strstr(why, "; stderr: ") : NULL;
    if (last)
        *last = '\0';
    if (asprintf(&message, "%s: %s%s", method,
                 code == CLI_ENDED ? "the conversation ended before the server responded: " : "",
                 why ? why : "out of memory") < 0)
        message = NULL;
    if (tail)
        yyjson_mut_obj_add_strn(doc, data, "detail", tail, len);
    if (code != CLI_ENDED)
        yyjson_mut_obj_add_str(doc, data, "method", method);
    if (event->outcome == DX_OUTCOME_ERROR) {
        yyjson_val *more = yyjson_obj_get(event->value, "data");
        yyjson_mut_obj_add_sint(doc, data, "code", event->code);
        if (more)
            yyjson_mut_obj_add_val(doc, data, "data", yyjson_val_mut_copy(doc, more));
    }
    refuse_with(errand->client, errand->event, code, message ? message : "out of memory", data);
    yyjson_mut_doc_free(doc);
    free(message);
    free(why);
    free(tail);
}

static void on_call_done(dx_link *link, const dx_event *event, void *user) {
    struct errand *errand = user;
    yyjson_val *method = yyjson_obj_get(errand->event->value, "method");
    (void)link;
    if (errand->client)
        desk_tell_noise(errand->client, errand->peer);
    if (errand->client && event->outcome == DX_OUTCOME_RESULT)
        desk_reply(errand->client, errand->event, dx_json_checked(event->body));
    else if (errand->client)
        tell_outcome(errand, event, yyjson_get_str(method));
    errand_free(errand);
}

/* Null is never. */
static uint64_t time_of(yyjson_val *params, const char *name) {
    yyjson_val *value = yyjson_obj_get(params, name);
    return yyjson_is_null(value) ? DX_NEVER : yyjson_get_uint(value);
}

static int code_of(dx_status status) {
    return status == DX_MISFIT ? CLI_MISFIT : status == DX_CLOSED ? CLI_ENDED : CLI_USAGE;
}

static void make_call(struct errand *errand) {
    yyjson_val *params = errand->event->value;
    yyjson_val *method = yyjson_obj_get(params, "method");
    dx_text text = dx_rpc_member(errand->event->body, dx_str("params"));
    dx_link *link = dx_supervisor_link(errand->peer->supervisor);
    dx_link_call_options options = {.peer = {.timeout_ms = time_of(params, "timeoutMs"),
                                             .total_ms = time_of(params, "totalMs"),
                                             .user = errand},
                                    .on_done = on_call_done};
    dx_status status =
        dx_link_call(link, dx_json_string(method), text.at ? dx_json_checked(text) : dx_json_none(),
                     &options, &errand->call);
    errand->peer->calls++;
    errand->kind = ERRAND_CALL;
    if (status != DX_OK)
        errand_fail(errand, code_of(status), "cannot send %.200s: %s", yyjson_get_str(method),
                    status == DX_MISFIT ? dx_link_why(link)->phrase
                                        : cli_params_why_not(yyjson_get_str(method), status));
}

void desk_refuse_absent(struct desk_client *client, const dx_event *event,
                        const struct crew_peer *peer, bool may_restart) {
    const char *name = peer->config->name;
    /* The failure says more: the line of stderr that tells why. */
    bool is_same = peer->why[0] && strncmp(peer->failure, peer->why, strlen(peer->why)) == 0;
    char *message = NULL;
    char *hint = NULL;
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *data = yyjson_mut_obj(doc);
    if (asprintf(&message, "%s is not running: %s%s%s", name, dx_state_name(peer->state),
                 peer->why[0] ? ", " : "", is_same ? peer->failure : peer->why) < 0)
        message = NULL;
    bool is_again = peer->state == DX_STATE_BACKOFF;
    bool restarts = may_restart && !is_again;
    if (asprintf(&hint, "see 'duplex logs %s'%s%s%s", name,
                 is_again   ? "; the run starts it again by itself"
                 : restarts ? "; 'duplex restart "
                            : "",
                 restarts ? name : "", restarts ? "' starts it again" : "") < 0)
        hint = NULL;
    if (hint)
        cli_add_text(doc, data, "hint", dx_str(hint));
    refuse_with(client, event, CLI_NO_START, message ? message : "out of memory", data);
    yyjson_mut_doc_free(doc);
    free(message);
    free(hint);
}

static void fail_absent(struct errand *errand) {
    if (errand->client)
        desk_refuse_absent(errand->client, errand->event, errand->peer,
                           errand->kind != ERRAND_START);
    errand_free(errand);
}

void errand_call(struct errand *errand) {
    if (crew_is_ready(errand->peer))
        make_call(errand);
    else if (!crew_is_coming(errand->peer))
        fail_absent(errand);
}

void errand_ready(struct errand *errand) {
    if (crew_is_ready(errand->peer))
        errand_reply(errand, dx_json_text("null", 4));
    else if (!crew_is_coming(errand->peer))
        fail_absent(errand);
}

void errand_attach(struct errand *errand) {
    if (crew_is_ready(errand->peer))
        errand->kind = ERRAND_SWITCH;
    else if (!crew_is_coming(errand->peer))
        fail_absent(errand);
}

void errand_on_state(struct errand *errand) {
    const struct crew_peer *peer = errand->peer;
    bool is_absent = peer->state == DX_STATE_BACKOFF || peer->state == DX_STATE_FAILED ||
                     peer->state == DX_STATE_STOPPED;
    bool lost = is_absent && !crew_is_coming(peer);
    unsigned run = dx_supervisor_incarnation(peer->supervisor);
    switch (errand->kind) {
    case ERRAND_WAIT:
        errand_call(errand);
        break;
    case ERRAND_READY:
        errand_ready(errand);
        break;
    case ERRAND_ATTACH:
        errand_attach(errand);
        break;
    case ERRAND_START:
        if (crew_is_ready(peer) && run >= errand->run)
            errand_reply(errand, dx_json_text("null", 4));
        else if (lost && (run >= errand->run || peer->crew->leaving))
            fail_absent(errand);
        break;
    case ERRAND_STOP:
        if (is_absent && peer->state != DX_STATE_BACKOFF)
            errand_reply(errand, dx_json_text("null", 4));
        break;
    default:
        break;
    }
}
