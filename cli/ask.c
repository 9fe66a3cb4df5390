/* Calls and notifications in a session. */
#include "cli/contact.h"
#include "cli/say.h"

#include <stdlib.h>
#include <string.h>

/* A call. It lies in the session, because its end may come when nobody waits for it any more. */
struct asked {
    const char *method;
    void (*on_result)(const dx_event *event, void *user); /* NULL: nobody waits for it */
    void *user;
    bool done;
    int code;
    char *failure;       /* what to say of it, NULL: no memory */
    char *data;          /* what the peer adds to its error, as JSON, or NULL */
    yyjson_mut_doc *doc; /* what more there is to say, for --json */
    yyjson_mut_val *more;
};

void session_forget_asked(cli_session *session) {
    struct asked *asked = session->asked;
    session->asked = NULL;
    if (!asked)
        return;
    yyjson_mut_doc_free(asked->doc);
    free(asked->failure);
    free(asked->data);
    free(asked);
}

static void explain(struct asked *asked, const dx_event *event) {
    char *why = contact_describe(event, "--timeout");
    if (!why || asprintf(&asked->failure, "%s: %s", asked->method, why) < 0)
        asked->failure = NULL;
    free(why);
    asked->doc = yyjson_mut_doc_new(NULL);
    asked->more = yyjson_mut_obj(asked->doc);
    yyjson_mut_obj_add_str(asked->doc, asked->more, "method", asked->method);
    if (event->outcome == DX_OUTCOME_ERROR) {
        yyjson_val *data = yyjson_obj_get(event->value, "data");
        yyjson_mut_obj_add_sint(asked->doc, asked->more, "code", event->code);
        if (data)
            yyjson_mut_obj_add_val(asked->doc, asked->more, "data",
                                   yyjson_val_mut_copy(asked->doc, data));
        asked->data = data ? yyjson_val_write(data, YYJSON_WRITE_NOFLAG, NULL) : NULL;
    }
}

static void on_done(dx_link *link, const dx_event *event, void *user) {
    struct asked *asked = user;
    asked->done = true;
    if (!asked->on_result)
        return;
    contact_hear(dx_link_user(link), event);
    asked->code = contact_code(event);
    if (asked->code == CLI_OK)
        asked->on_result(event, asked->user);
    else
        explain(asked, event);
}

static void on_progress(dx_link *link, const dx_event *event, void *user) {
    const struct asked *asked = user;
    (void)link;
    fprintf(stderr, "%s%s:%s ", cli_paint(stderr, CLI_DIM), asked->method,
            cli_paint(stderr, CLI_PLAIN));
    cli_put_safe(stderr, event->body);
    putc('\n', stderr);
}

static bool is_answered(cli_session *session, void *user) {
    const struct asked *asked = user;
    (void)session;
    return asked->done;
}

/* The params with a progress token where the protocol wants it; to be freed. NULL: it has none. */
static char *with_token(const cli_session *session, const char *params, const char *token) {
    const char *const *places = dx_protocol_facts_of(session->protocol)->progress_places;
    if (!places || !places[0])
        return NULL;
    yyjson_doc *doc =
        params ? yyjson_read(params, strlen(params), YYJSON_READ_NUMBER_AS_RAW) : NULL;
    yyjson_mut_doc *made = doc ? yyjson_doc_mut_copy(doc, NULL) : yyjson_mut_doc_new(NULL);
    if (made && !doc)
        yyjson_mut_doc_set_root(made, yyjson_mut_obj(made));
    char *text = made && yyjson_mut_doc_ptr_set(made, places[0], yyjson_mut_str(made, token))
                     ? yyjson_mut_write(made, 0, NULL)
                     : NULL;
    yyjson_mut_doc_free(made);
    yyjson_doc_free(doc);
    return text;
}

static dx_status ask(cli_session *session, struct asked *asked, const char *params) {
    enum { TOTAL_MS = 600000 };
    const cli_peer_options *options = session->options;
    uint64_t total = options->total_ms ? options->total_ms : options->reset ? TOTAL_MS : 0;
    dx_link_call_options call = {.peer = {.user = asked,
                                          .timeout_ms = options->timeout_ms,
                                          .total_ms = total,
                                          .reset = options->reset},
                                 .on_done = on_done,
                                 .on_progress = on_progress};
    char *with = options->progress ? with_token(session, params, "duplex-1") : NULL;
    if (options->progress && !with)
        cli_note("progress is not asked for: the protocol has no place for that in such params");
    const char *text = with ? with : params;
    if (with)
        call.peer.token = dx_str("\"duplex-1\"");
    dx_json json = contact_json(text);
    dx_link *link = contact_link(session->main);
    dx_status status = dx_link_call(link, dx_str(asked->method), json, &call, NULL);
    if (status != DX_OK)
        contact_unsent(session->main, asked->method, status);
    free(with);
    return status;
}

int session_tell_ended(cli_session *session, const char *method, const char *otherwise, bool asked,
                       yyjson_mut_doc *doc, yyjson_mut_val *more) {
    char *message = NULL;
    session_wait_gone(session);
    const char *how = session->main->how;
    if (how[0] && asprintf(&message, "%s: the peer ended before it %s: %s", method,
                           asked ? "answered" : "was asked", how) < 0)
        message = NULL;
    int code = session_tell(session, CLI_ENDED, how[0] ? message : otherwise, doc, more);
    free(message);
    return code;
}

static int tell_unsent(cli_session *session, const char *method) {
    const struct contact *main = session->main;
    if (main->code == CLI_ENDED)
        return session_tell_ended(session, method, main->failure, false, NULL, NULL);
    return cli_fail(main->code, "%s", main->failure ? main->failure : "no memory");
}

/* Somebody took the wrong verb: that is told better than by what the peer would say to it. */
static bool is_wrong_verb(const cli_session *session, const char *method, bool notification) {
    const dx_method *rule = dx_protocol_find(session->protocol, dx_str(method));
    const char *check = session->options->check;
    if (!rule || !rule->from_host || !rule->notification == !notification ||
        (check && strcmp(check, "both") != 0))
        return false;
    cli_fail(CLI_MISFIT, "%s is a %s: use duplex %s", method,
             notification ? "request" : "notification", notification ? "call" : "notify");
    return true;
}

int session_tell_asked(cli_session *session) {
    const struct asked *asked = session->asked;
    dx_text data = dx_str(cli_voice.json ? NULL : asked->data);
    switch (asked->code) {
    case CLI_OK:
        return CLI_OK;
    case CLI_ENDED:
        return session_tell_ended(session, asked->method, asked->failure, true, asked->doc,
                                  asked->more);
    case CLI_REFUSED:
        return cli_fail_with(CLI_REFUSED, asked->failure ? asked->failure : "no memory", asked->doc,
                             asked->more, data);
    default:
        return session_tell(session, asked->code, asked->failure, asked->doc, asked->more);
    }
}

int session_asked_code(const cli_session *session) {
    return session->asked->code;
}

int session_ask(cli_session *session, const char *method, const char *params,
                void (*on_result)(const dx_event *event, void *user), void *user) {
    bool changed = false;
    int code;
    if (is_wrong_verb(session, method, false))
        return CLI_MISFIT;
    /* Who was interrupted asks no more: the call before this one is still under way. */
    if (session->asked && !session->asked->done)
        return CLI_INTERRUPTED;
    do {
        session_forget_asked(session);
        struct asked *asked = session->asked = calloc(1, sizeof *asked);
        if (!asked)
            return cli_fail(CLI_NO_START, "no memory");
        *asked = (struct asked){.method = method, .on_result = on_result, .user = user};
        if (ask(session, asked, params) != DX_OK)
            return tell_unsent(session, method);
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
    if (is_wrong_verb(session, method, true))
        return CLI_MISFIT;
    dx_json json = contact_json(params);
    dx_status status = dx_link_notify(contact_link(session->main), dx_str(method), json);
    if (status == DX_OK)
        return CLI_OK;
    contact_unsent(session->main, method, status);
    return tell_unsent(session, method);
}
