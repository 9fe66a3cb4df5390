/* One attempt at a conversation: a child or a connection, in one framing. */
#include "cli/contact.h"

#include "cli/params.h"
#include "cli/say.h"
#include "cli/traffic.h"
#include "cli/waiting.h"

#include <stdlib.h>
#include <string.h>

static int fail(struct contact *contact, int code, const char *what, const char *why) {
    contact->state = CONTACT_FAILED;
    contact->code = code;
    free(contact->failure);
    if (asprintf(&contact->failure, "%s%s%s", what, why ? ": " : "", why ? why : "") < 0)
        contact->failure = NULL;
    return code;
}

dx_link *contact_link(const struct contact *contact) {
    return contact->child ? dx_child_link(contact->child) : contact->link;
}

/* The handshake. */

static void take_steps(struct contact *contact);

/* What the peer says of its error, to be freed. It may hold anything, even NUL. */
static char *message_of(const dx_event *event) {
    yyjson_val *message = yyjson_obj_get(event->value, "message");
    size_t len = yyjson_get_len(message);
    char *text = yyjson_is_str(message) ? malloc(len + 1) : strdup("an error without a message");
    if (!text || !yyjson_is_str(message))
        return text;
    memcpy(text, yyjson_get_str(message), len + 1);
    for (char *at = text; (at = memchr(at, '\0', (size_t)(text + len - at)));)
        *at = ' ';
    return text;
}

/* Not every program sends an integer. */
static dx_text code_text(const dx_event *event) {
    enum { LONGEST = 40 };
    dx_text code = dx_rpc_member(event->body, dx_str("code"));
    return code.len && code.len <= LONGEST ? code : dx_str("no code");
}

char *contact_describe(const dx_event *event, const char *timer) {
    char *phrase = NULL;
    if (event->outcome == DX_OUTCOME_ERROR) {
        char *message = message_of(event);
        dx_text code = code_text(event);
        int len = message ? asprintf(&phrase, "%s (%.*s)", message, (int)code.len, code.at) : -1;
        free(message);
        return len < 0 ? NULL : phrase;
    }
    if (event->outcome == DX_OUTCOME_TIMED_OUT) {
        if (event->error.fault == DX_FAULT_TOTAL)
            timer = "--total-timeout";
        if (asprintf(&phrase, "%s (%s)", event->error.phrase, timer) < 0)
            return NULL;
        cli_say_seconds(phrase);
        return phrase;
    }
    return strdup(event->error.phrase);
}

/* The conversation is over: was that the peer's fault, or its end? */
static int lost_code(dx_fault fault) {
    switch (fault) {
    case DX_FAULT_NONE:
    case DX_FAULT_TRUNCATED:
    case DX_FAULT_ENDED:
    case DX_FAULT_SYSTEM:
    case DX_FAULT_EXITED:
    case DX_FAULT_KILLED:
        return CLI_ENDED;
    default:
        return CLI_VIOLATION;
    }
}

static void hear_end(struct contact *contact, const dx_error *why) {
    contact->other_framing |= !contact->heard && why->fault == DX_FAULT_OTHER_FRAMING;
}

void contact_hear(struct contact *contact, const dx_event *event) {
    bool lost = event->outcome == DX_OUTCOME_LOST;
    contact->heard |= event->message.len != 0 && !lost;
    if (lost)
        hear_end(contact, &event->error);
}

int contact_code(const dx_event *event) {
    switch (event->outcome) {
    case DX_OUTCOME_RESULT:
        return CLI_OK;
    case DX_OUTCOME_ERROR:
        return CLI_REFUSED;
    case DX_OUTCOME_TIMED_OUT:
        return CLI_LATE;
    case DX_OUTCOME_INVALID:
        return CLI_VIOLATION;
    case DX_OUTCOME_CANCELLED:
        return CLI_INTERRUPTED;
    default:
        return lost_code(event->error.fault);
    }
}

static void on_step_done(dx_link *link, const dx_event *event, void *user) {
    struct contact *contact = user;
    (void)link;
    contact_hear(contact, event);
    if (contact->state != CONTACT_STARTING)
        return;
    if (contact->probe) { /* any answer will do */
        if (!contact->heard)
            fail(contact, CLI_ENDED, "no response", NULL);
        else
            contact->state = CONTACT_READY;
        return;
    }
    if (event->outcome != DX_OUTCOME_RESULT) {
        char *why = contact_describe(event, "--start-timeout");
        fail(contact, contact_code(event), contact->step->method, why);
        free(why);
        return;
    }
    contact->step++;
    take_steps(contact);
}

dx_json contact_json(const char *text) {
    return text ? dx_json_text(text, strlen(text)) : dx_json_none();
}

int contact_why_unsent(const struct contact *contact, const char *method, dx_status status,
                       char **ret_line) {
    dx_link *link = contact_link(contact);
    bool misfit = status == DX_MISFIT && link;
    if (asprintf(ret_line, "%s cannot be sent: %s", method,
                 misfit ? dx_link_why(link)->phrase : cli_params_why_not(method, status)) < 0)
        *ret_line = NULL;
    return misfit ? CLI_MISFIT : status == DX_CLOSED ? CLI_ENDED : CLI_USAGE;
}

void contact_unsent(struct contact *contact, const char *method, dx_status status) {
    free(contact->failure);
    contact->code = contact_why_unsent(contact, method, status, &contact->failure);
    contact->state = CONTACT_FAILED;
}

static uint64_t count_messages(const void *user) {
    const dx_link *link = contact_link(user);
    return link ? dx_link_statistics(link).messages_in : 0;
}

void contact_waits(const struct contact *contact, const char *method, uint64_t most_ms) {
    cli_waiting_begin(&(cli_waiting){.what = method,
                                     .most_ms = most_ms,
                                     .written = &contact->tail.written,
                                     .messages = count_messages,
                                     .user = contact});
}

/* Each when the one before was answered. */
static void take_steps(struct contact *contact) {
    const cli_session *session = contact->session;
    dx_link_call_options options = {.peer = {.user = contact}, .on_done = on_step_done};
    const dx_step *first = dx_protocol_facts_of(session->protocol)->start;
    dx_status status = DX_OK;
    while (status == DX_OK && contact->step && contact->step->method) {
        const dx_step *step = contact->step;
        const char *params = step == first && session->init ? session->init : step->params;
        dx_link *link = contact_link(contact);
        if (!step->notification) {
            const dx_method *known = dx_protocol_find(session->protocol, dx_str(step->method));
            options.peer.timeout_ms =
                cli_start_time(session->options->start_ms, session->options->timeout_ms,
                               known ? known->deadline_ms[DX_SIDE_HOST] : 0);
            status = dx_link_call(link, dx_str(step->method), contact_json(params), &options, NULL);
            if (status == DX_OK && contact == session->main)
                contact_waits(contact, step->method, options.peer.timeout_ms);
            if (status == DX_OK)
                return;
        } else {
            status = dx_link_notify(link, dx_str(step->method), contact_json(params));
            contact->step++;
        }
        if (status != DX_OK)
            contact_unsent(contact, step->method, status);
    }
    if (status == DX_OK)
        contact->state = CONTACT_READY;
}

/* Nobody has a method of this name by accident, and who knows it only tells about itself. */
static void ask_probe(struct contact *contact) {
    dx_link_call_options options = {.peer = {.user = contact, .timeout_ms = 5000, .no_cancel = 1},
                                    .on_done = on_step_done};
    dx_status status =
        dx_link_call(contact_link(contact), dx_str("rpc.discover"), dx_json_none(), &options, NULL);
    if (status != DX_OK)
        contact_unsent(contact, "rpc.discover", status);
}

/* What comes. */

static void on_seen(void *user, int out, dx_text text, size_t framed) {
    const struct contact *contact = user;
    const cli_session *session = contact->session;
    (void)framed;
    if (session->options->show && contact == session->main)
        cli_show(stderr, dx_recorder_now_us() - session->began_us, out, NULL, text);
}

/* A line that is one in the other framing. */
static bool looks_like_other(dx_framing framing, dx_text text) {
    static const char field[] = "content-length:";
    if (framing == DX_FRAMING_HEADER)
        return text.len > 1 && text.at[0] == '{' && memmem(text.at, text.len, "\"jsonrpc\"", 9);
    return text.len > sizeof field && strncasecmp(text.at, field, sizeof field - 1) == 0;
}

static bool is_other_framing(const struct contact *contact, dx_link *link, const dx_event *event) {
    bool told = event->kind == DX_EVENT_VIOLATION && event->error.fault == DX_FAULT_OTHER_FRAMING;
    return (told && dx_link_framing(link) == contact->framing) ||
           looks_like_other(contact->framing, event->message);
}

/* An object, or a list of them: "[info] started" is neither. */
static bool looks_like_message(dx_text text) {
    size_t at = text.len && text.at[0] == '[';
    while (at < text.len && (text.at[at] == ' ' || text.at[at] == '\t'))
        at++;
    return at < text.len && text.at[at] == '{';
}

/* Is it a message in this framing? Also one that is against the rules; but any text is a line. */
static bool is_framed(const struct contact *contact, dx_link *link, const dx_event *event) {
    if (event->kind != DX_EVENT_VIOLATION)
        return event->kind != DX_EVENT_STRAY;
    if (contact->framing == DX_FRAMING_HEADER)
        return dx_link_statistics(link).messages_in;
    return looks_like_message(event->message) && !cli_is_noise(event);
}

void contact_answer(dx_protocol *protocol, dx_link *link, const dx_event *event) {
    static const char *const empty[] = {"{}", "null"};
    for (size_t i = 0; event->rule && i < 2; i++) {
        yyjson_doc *doc = yyjson_read(empty[i], strlen(empty[i]), 0);
        dx_status status = dx_protocol_check(protocol, event->rule, DX_SIDE_PLUGIN, DX_PART_RESULT,
                                             yyjson_doc_get_root(doc), 0, NULL);
        yyjson_doc_free(doc);
        if (status == DX_OK && dx_link_reply(link, event->request, contact_json(empty[i])) == DX_OK)
            return;
    }
    dx_link_refuse(link, event->request, DX_CODE_METHOD, dx_str(NULL), dx_json_none());
}

/* A peer may do wrong with every message. */
static void note_violation(struct contact *contact, const char *phrase) {
    enum { NOTES_MAX = 100 };
    if (contact->noted < NOTES_MAX)
        cli_note("%s", phrase);
    else if (contact->noted == NOTES_MAX)
        cli_note("further protocol violations are not shown");
    contact->noted += contact->noted <= NOTES_MAX;
    snprintf(contact->wrong, sizeof contact->wrong, "%s", phrase);
}

/* Whoever listens, if this is the contact that counts. */
static const struct session_ears *ears_of(const struct contact *contact) {
    static const struct session_ears none = {.user = NULL};
    const cli_session *session = contact->session;
    return session->ears && contact == session->main ? session->ears : &none;
}

void contact_warn(const struct contact *contact) {
    dx_text text = cli_tail_first_noise(&contact->tail);
    const char *warning = text.len ? cli_noise("the server", text) : NULL;
    if (warning)
        cli_warn("%s", warning);
}

/* Text in the other framing is a message; and of contacts that are only tried nothing is said. */
static void take_noise(struct contact *contact, dx_text text) {
    if (contact->other_framing) {
        cli_tail_keep(&contact->tail, "stdout: ", text);
        return;
    }
    bool is_main = contact == contact->session->main;
    const char *warning = cli_tail_noise(&contact->tail, is_main ? "the server" : NULL, text);
    if (warning)
        cli_warn("%s", warning);
}

/* What comes behind a header may look like a line. */
static void hear(struct contact *contact, dx_link *link, const dx_event *event) {
    if (contact->heard || contact->other_framing)
        return;
    contact->heard = is_framed(contact, link, event);
    contact->other_framing = !contact->heard && is_other_framing(contact, link, event);
}

static void on_event(dx_link *link, const dx_event *event, void *user) {
    struct contact *contact = user;
    const struct session_ears *ears = ears_of(contact);
    hear(contact, link, event);
    bool noise = cli_is_noise(event);
    bool taken = ears->on_event && ears->on_event(link, event, ears->user);
    if (event->kind == DX_EVENT_REQUEST && !taken)
        contact_answer(contact->session->protocol, link, event);
    if (noise && (!taken || event->kind == DX_EVENT_STRAY))
        take_noise(contact, event->message);
    if (event->kind == DX_EVENT_VIOLATION && !noise && !taken &&
        contact == contact->session->main && !contact->other_framing)
        note_violation(contact, event->error.phrase);
}

static void on_errors(dx_child *child, dx_text line, void *user) {
    struct contact *contact = user;
    const cli_session *session = contact->session;
    (void)child;
    cli_tail_keep(&contact->tail, "", line);
    if (contact != session->main)
        return;
    const struct session_ears *ears = ears_of(contact);
    bool inherit = session->options->errors && strcmp(session->options->errors, "inherit") == 0;
    if ((!session->errors && !inherit) || !session_shows(contact->session, SESSION_ERRORS, line))
        return;
    if (session->errors) {
        fwrite(line.at, 1, line.len, session->errors);
        putc('\n', session->errors);
    } else if (ears->on_errors) {
        ears->on_errors(line, ears->user);
    } else {
        cli_put_safe(stderr, line);
        putc('\n', stderr);
    }
}

static void tell_gone(struct contact *contact) {
    const struct session_ears *ears = ears_of(contact);
    if (contact == contact->session->main)
        dx__log_limiter_flush(contact->session->limiter, NULL);
    if (contact->state == CONTACT_STARTING)
        fail(contact, CLI_ENDED, "the conversation ended", contact->how);
    if (ears->on_gone)
        ears->on_gone(ears->user);
}

/* Whatever ends the program now, this was the reason; but what can't be written to it may just be a
 * sign of its end. */
static void on_broken(dx_child *child, const dx_error *why, void *user) {
    struct contact *contact = user;
    (void)child;
    if (why->fault == DX_FAULT_SYSTEM)
        return;
    hear_end(contact, why);
    contact->broken = lost_code(why->fault);
    snprintf(contact->how, sizeof contact->how, "%s",
             contact->broken == CLI_ENDED ? "the program closed its output" : why->phrase);
}

static void on_gone(dx_child *child, const dx_gone *gone, void *user) {
    struct contact *contact = user;
    contact->gone = true;
    contact->left = !gone->error.fault && !contact->broken;
    if (contact->broken)
        ; /* which has told how */
    else if (gone->error.fault)
        snprintf(contact->how, sizeof contact->how, "%s", gone->error.phrase);
    else if (gone->known && !gone->signal)
        snprintf(contact->how, sizeof contact->how, "the program exited with code %d", gone->code);
    else
        snprintf(contact->how, sizeof contact->how, "the program was stopped");
    dx_child_free(child);
    contact->child = NULL;
    tell_gone(contact);
}

static void on_closed(dx_link *link, const dx_error *why, void *user) {
    struct contact *contact = user;
    contact->gone = true;
    contact->left = !why->fault;
    hear_end(contact, why);
    contact->broken = why->fault ? lost_code(why->fault) : CLI_OK;
    const cli_peer_options *options = contact->session->options;
    bool unasked = options->in && !contact->stopped;
    char *reason = unasked ? cli_control_reason(&options->run, options->in) : NULL;
    snprintf(contact->how, sizeof contact->how, "%s",
             reason       ? reason
             : why->fault ? why->phrase
                          : "it closed the connection");
    contact->left &= !reason;
    free(reason);
    dx_link_free(link);
    contact->link = NULL;
    tell_gone(contact);
}

/* Birth and death. */

static void configure_link(struct contact *contact, dx_link_config *link) {
    const cli_session *session = contact->session;
    const cli_peer_options *options = session->options;
    const char *check = options->check ? options->check : "both";
    link->peer.framing = contact->framing;
    link->peer.checking = strcmp(check, "off") == 0        ? DX_CHECKING_OFF
                          : strcmp(check, "incoming") == 0 ? DX_CHECKING_INCOMING
                                                           : DX_CHECKING_BOTH;
    link->peer.lenient = options->strict ? link->peer.lenient & ~(unsigned)DX_LENIENT_VALUE
                                         : link->peer.lenient | DX_LENIENT_VALUE;
    link->peer.observe = on_seen;
    link->peer.observe_user = contact;
    link->on_event = on_event;
    link->user = contact;
    if (contact == session->main)
        link->recorder = session->recorder;
    /* The trace says where another one begins. */
    link->run = session->run ? session->run : session->tried ? 2 : 0;
    link->name = options->connect ? options->connect
                 : options->in    ? options->in
                                  : session->command[0];
}

static dx_status start_child(struct contact *contact, dx_error *error) {
    const cli_session *session = contact->session;
    const cli_peer_options *options = session->options;
    const char **env = cli_ended(&options->env);
    if (!env)
        return DX_ERR_NOMEM;
    dx_child_config config = dx_child_for(session->protocol, (const char *const *)session->command);
    configure_link(contact, &config.link);
    config.cwd = options->cwd;
    config.env = env;
    config.inherit_env = !options->clean_env;
    config.on_gone = on_gone;
    config.on_closed = on_broken;
    config.on_errors = on_errors;
    config.user = contact;
    if (options->stop_ms)
        config.ladder.farewell_ms = config.ladder.close_ms = config.ladder.term_ms =
            options->stop_ms;
    if (options->no_handshake || contact->probe)
        config.ladder.farewell_call = NULL;
    dx_status status = dx_child_start(session->loop, &config, &contact->child, error);
    free(env);
    return status;
}

static dx_status connect_to(struct contact *contact, dx_error *error) {
    cli_session *session = contact->session;
    dx_link_config config = dx_link_for(session->protocol, DX_SIDE_HOST);
    configure_link(contact, &config);
    config.on_closed = on_closed;
    if (session->options->in) {
        int fd = session->attached.fd;
        dx_status status = dx_link_open(session->loop, fd, fd, &config, &contact->link, error);
        if (status == DX_OK)
            session->attached.fd = -1;
        return status;
    }
    return dx_link_connect(session->loop, session->options->connect, &config, &contact->link,
                           error);
}

struct contact *contact_new(cli_session *session, dx_framing framing, bool probe) {
    struct contact *contact = calloc(1, sizeof *contact);
    if (contact)
        *contact = (struct contact){.session = session, .framing = framing, .probe = probe};
    return contact;
}

int contact_open(struct contact *contact) {
    const cli_session *session = contact->session;
    dx_error error = {.fault = DX_FAULT_NONE};
    dx_status status = session->options->connect || session->options->in
                           ? connect_to(contact, &error)
                           : start_child(contact, &error);
    if (status != DX_OK) {
        bool none = session->options->connect && status == DX_ERR_INVALID; /* no address */
        contact->gone = true;
        return fail(contact, none ? CLI_USAGE : CLI_NO_START,
                    error.fault ? error.phrase : "cannot start the server",
                    error.fault ? NULL : dx_status_name(status));
    }
    if (contact->probe) {
        ask_probe(contact);
        return CLI_OK;
    }
    contact->step =
        session->options->no_handshake ? NULL : dx_protocol_facts_of(session->protocol)->start;
    take_steps(contact);
    return CLI_OK;
}

void contact_stop(struct contact *contact) {
    contact->stopped = true;
    if (contact->child)
        dx_child_stop(contact->child);
    else if (contact->link)
        dx_link_close(contact->link);
}

struct contact *contact_free(struct contact *contact) {
    if (!contact)
        return NULL;
    dx_child_free(contact->child);
    dx_link_free(contact->link);
    free(contact->failure);
    free(contact);
    return NULL;
}
