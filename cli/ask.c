/* Calls and notifications in a session. */
#include "cli/contact.h"
#include "cli/describe/nearest.h"
#include "cli/params.h"
#include "cli/say.h"

#include <stdlib.h>
#include <string.h>

/* A call. It lies in the session, because its end may come when nobody waits for it any more. */
struct asked {
    const char *method;
    void (*on_result)(const dx_event *event, void *user); /* NULL: nobody waits for it */
    void *user;
    bool done;
    struct failure failure;
};

void failure_done(struct failure *failure) {
    yyjson_mut_doc_free(failure->doc);
    free(failure->message);
    free(failure->data);
    *failure = (struct failure){.code = CLI_OK};
}

void session_forget_asked(cli_session *session) {
    struct asked *asked = session->asked;
    session->asked = NULL;
    if (!asked)
        return;
    failure_done(&asked->failure);
    free(asked);
}

/* A member of the error, as it came. */
static void add_member(struct failure *failure, dx_text error, const char *name) {
    dx_text value = dx_rpc_member(error, dx_str(name));
    if (value.len)
        yyjson_mut_obj_add_val(failure->doc, failure->more, name,
                               yyjson_mut_rawncpy(failure->doc, value.at, value.len));
}

void failure_of(struct failure *failure, const char *method, const dx_event *event) {
    char *why = contact_describe(event, "--timeout");
    failure->code = contact_code(event);
    if (!why || asprintf(&failure->message, "%s: %s", method, why) < 0)
        failure->message = NULL;
    free(why);
    failure->doc = yyjson_mut_doc_new(NULL);
    failure->more = yyjson_mut_obj(failure->doc);
    yyjson_mut_obj_add_str(failure->doc, failure->more, "method", method);
    if (event->outcome == DX_OUTCOME_ERROR) {
        yyjson_val *data = yyjson_obj_get(event->value, "data");
        add_member(failure, event->body, "code");
        add_member(failure, event->body, "data");
        if (event->mended & DX_MENDED_STRING) /* ours has lost something */
            add_member(failure, event->body, "message");
        failure->data = data ? yyjson_val_write(data, YYJSON_WRITE_NOFLAG, NULL) : NULL;
    }
}

static void on_done(dx_link *link, const dx_event *event, void *user) {
    struct asked *asked = user;
    asked->done = true;
    if (!asked->on_result)
        return;
    contact_hear(dx_link_user(link), event);
    cli_note_mended(asked->method, event->mended);
    if (contact_code(event) == CLI_OK)
        asked->on_result(event, asked->user);
    else
        failure_of(&asked->failure, asked->method, event);
}

void session_show_progress(cli_session *session, const char *method, const dx_event *event) {
    if (!session_shows(session, SESSION_MESSAGE, event->body))
        return;
    fprintf(stderr, "%s%s:%s ", cli_paint(stderr, CLI_DIM), method, cli_paint(stderr, CLI_PLAIN));
    cli_put_safe(stderr, event->body);
    putc('\n', stderr);
}

static void on_progress(dx_link *link, const dx_event *event, void *user) {
    const struct asked *asked = user;
    const struct contact *contact = dx_link_user(link);
    session_show_progress(contact->session, asked->method, event);
}

static bool is_answered(cli_session *session, void *user) {
    const struct asked *asked = user;
    (void)session;
    return asked->done;
}

/* The params with a progress token, which is a JSON string, where the protocol wants it; to be
 * freed. NULL: it has none. */
static char *with_token(const cli_session *session, const char *params, const char *token) {
    const char *const *places = dx_protocol_facts_of(session->protocol)->progress_places;
    if (!places || !places[0])
        return NULL;
    yyjson_doc *doc =
        params ? yyjson_read(params, strlen(params), YYJSON_READ_NUMBER_AS_RAW) : NULL;
    yyjson_mut_doc *made = doc ? yyjson_doc_mut_copy(doc, NULL) : yyjson_mut_doc_new(NULL);
    if (made && !doc)
        yyjson_mut_doc_set_root(made, yyjson_mut_obj(made));
    yyjson_mut_val *value = yyjson_mut_strn(made, token + 1, strlen(token) - 2);
    char *text = made && yyjson_mut_doc_ptr_set(made, places[0], value)
                     ? yyjson_mut_write(made, 0, NULL)
                     : NULL;
    yyjson_mut_doc_free(made);
    yyjson_doc_free(doc);
    return text;
}

/* The deadline that the document gives the method. */
static uint64_t own_of(const cli_session *session, const char *method) {
    const dx_method *known = dx_protocol_find(session->protocol, dx_str(method));
    return known ? known->deadline_ms[DX_SIDE_HOST]
                 : dx_protocol_facts_of(session->protocol)->deadline_ms;
}

/* Where the document gives the method no deadline, none is invented. */
static uint64_t total_of(const cli_session *session, const char *method) {
    const cli_peer_options *options = session->options;
    uint64_t own = own_of(session, method);
    if (!options->total_ms && !options->timeout_ms && own == DX_NEVER)
        return DX_NEVER;
    return cli_total(options->total_ms, options->timeout_ms ? options->timeout_ms : own);
}

dx_status session_send(cli_session *session, const char *method, const char *params,
                       uint64_t number, dx_link_call_options *call, dx_call *ret_call) {
    const cli_peer_options *options = session->options;
    char token[40];
    snprintf(token, sizeof token, "\"duplex-%llu\"", (unsigned long long)number);
    call->peer.timeout_ms = options->timeout_ms;
    call->peer.total_ms = total_of(session, method);
    call->peer.reset = options->reset;
    bool asks = options->progress || options->reset;
    char *with = asks ? with_token(session, params, token) : NULL;
    if (!options->progress) /* it only counts */
        call->on_progress = NULL;
    if (asks && !with)
        cli_note("cannot request progress: these params have no field for a progress token");
    if (with)
        call->peer.token = dx_str(token);
    dx_status status = dx_link_call(contact_link(session->main), dx_str(method),
                                    contact_json(with ? with : params), call, ret_call);
    free(with);
    return status;
}

static dx_status ask(cli_session *session, struct asked *asked, const char *params) {
    dx_link_call_options call = {
        .peer = {.user = asked}, .on_done = on_done, .on_progress = on_progress};
    return session_send(session, asked->method, params, 1, &call, NULL);
}

int session_tell_ended(cli_session *session, const char *method, const char *otherwise, bool asked,
                       yyjson_mut_doc *doc, yyjson_mut_val *more) {
    char *message = NULL;
    session_wait_gone(session);
    const char *how = session->main->how;
    if (how[0] && asprintf(&message, "%s: the conversation ended before the server %s: %s", method,
                           asked ? "responded" : "was asked", how) < 0)
        message = NULL;
    int code = session_tell(session, CLI_ENDED, how[0] ? message : otherwise, doc, more);
    free(message);
    return code;
}

int session_tell_unsent(cli_session *session, const char *method, dx_status status) {
    char *line;
    int code = contact_why_unsent(session->main, method, status, &line);
    if (code == CLI_ENDED)
        session_tell_ended(session, method, line, false, NULL, NULL);
    else
        cli_fail(code, "%s", line ? line : "out of memory");
    free(line);
    return code;
}

/* Are messages checked that we send? */
static bool is_checked(const cli_peer_options *options) {
    return !options->check || strcmp(options->check, "both") == 0;
}

static int check_method(const dx_protocol *protocol, const char *name, const char *method,
                        bool notification, const char *command) {
    char *hint;
    char *flaw = cli_method_flaw(protocol, name, method, notification, command,
                                 "--check off sends any method", &hint);
    int code = flaw ? cli_fail_hint(CLI_MISFIT, hint, "%s", flaw) : CLI_OK;
    free(flaw);
    free(hint);
    return code;
}

int session_check_method(const cli_session *session, const char *method, bool notification,
                         const char *command) {
    return is_checked(session->options)
               ? check_method(session->protocol, dx_protocol_facts_of(session->protocol)->name,
                              method, notification, command)
               : CLI_OK;
}

void session_fit_params(const cli_session *session, const char *method, char *const *words,
                        char **text) {
    if (is_checked(session->options))
        cli_params_fit(session->protocol, method, words, text);
}

int cli_session_check_method(const cli_peer_options *options, const char *method,
                             bool notification) {
    dx_protocol *protocol = NULL;
    const char *name = options->protocol;
    if (!name || !is_checked(options) ||
        dx_protocol_open(dx_str(name), NULL, &protocol, NULL) != DX_OK)
        return CLI_OK;
    int code = check_method(protocol, name, method, notification, "duplex ");
    dx_protocol_free(protocol);
    return code;
}

int session_tell_failure(cli_session *session, const char *method, const struct failure *failure) {
    dx_text data = dx_str(cli_voice.json ? NULL : failure->data);
    const char *message = failure->message ? failure->message : "out of memory";
    if (failure->code == CLI_ENDED)
        return session_tell_ended(session, method, message, true, failure->doc, failure->more);
    if (failure->code == CLI_REFUSED)
        return cli_fail_with(CLI_REFUSED, message, failure->doc, failure->more, data);
    return session_tell(session, failure->code, message, failure->doc, failure->more);
}

int session_tell_asked(cli_session *session) {
    const struct asked *asked = session->asked;
    return asked->failure.code == CLI_OK
               ? CLI_OK
               : session_tell_failure(session, asked->method, &asked->failure);
}

int session_asked_code(const cli_session *session) {
    return session->asked->failure.code;
}

int session_ask(cli_session *session, const char *method, const char *params,
                void (*on_result)(const dx_event *event, void *user), void *user) {
    bool changed = false;
    int code = session_check_method(session, method, false, "duplex ");
    if (code != CLI_OK)
        return code;
    /* Who was interrupted asks no more: the call before this one is still under way. */
    if (session->asked && !session->asked->done)
        return CLI_INTERRUPTED;
    do {
        session_forget_asked(session);
        struct asked *asked = session->asked = calloc(1, sizeof *asked);
        if (!asked)
            return cli_fail(CLI_NO_START, "out of memory");
        *asked = (struct asked){.method = method, .on_result = on_result, .user = user};
        dx_status status = ask(session, asked, params);
        if (status != DX_OK)
            return session_tell_unsent(session, method, status);
        uint64_t given = session->options->timeout_ms;
        contact_waits(session->main, method, given ? given : own_of(session, method));
        code = session_attend(session, is_answered, asked, &changed);
        if (code == CLI_OK && changed)
            code = session_shake_hands(session);
    } while (code == CLI_OK && changed);
    session->asked->on_result = NULL;
    return code;
}

int cli_session_call(cli_session *session, const char *method, const char *params,
                     void (*on_result)(const dx_event *event, void *user), void *user) {
    int code = session_ask(session, method, params, on_result, user);
    return code == CLI_OK ? session_tell_asked(session) : code;
}

int cli_session_notify(cli_session *session, const char *method, const char *params) {
    int code = session_check_method(session, method, true, "duplex ");
    if (code != CLI_OK)
        return code;
    dx_json json = contact_json(params);
    dx_status status = dx_link_notify(contact_link(session->main), dx_str(method), json);
    return status == DX_OK ? CLI_OK : session_tell_unsent(session, method, status);
}
