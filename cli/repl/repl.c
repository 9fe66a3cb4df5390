/* What holds the parts together: what the peer does, and what becomes of it. */
#include "cli/repl/repl.h"

#include "cli/say.h"
#include "cli/wait.h"

int repl_note(struct repl *repl, int code) {
    if (repl->code == CLI_OK)
        repl->code = code;
    return code;
}

dx_link *repl_link(const struct repl *repl) {
    return repl->session->main ? contact_link(repl->session->main) : NULL;
}

/* What the peer says. */

/* While the handshake lasts, only the contact knows its session. */
static bool is_shown(dx_link *link, enum session_line kind, dx_text line) {
    const struct contact *contact = dx_link_user(link);
    return session_shows(contact->session, kind, line);
}

static bool take_request(struct repl *repl, dx_link *link, const dx_event *event) {
    /* In the handshake nobody can be asked. */
    bool ready = repl->session && repl->session->main->state == CONTACT_READY;
    if (!repl->asks || !ready) {
        repl_show_message(repl, "request", 0, event);
        return false;
    }
    if (!repl_request_keep(repl, link, event)) {
        repl_show_message(repl, "request", 0, event);
        cli_note("refused a request from the server: too many requests are waiting for an answer");
        dx_link_refuse(link, event->request, DX_CODE_BUSY,
                       dx_str("too many requests are waiting for an answer"), dx_json_none());
        return true;
    }
    return true;
}

static bool on_event(dx_link *link, const dx_event *event, void *user) {
    struct repl *repl = user;
    switch (event->kind) {
    case DX_EVENT_REQUEST:
        return take_request(repl, link, event);
    case DX_EVENT_NOTIFICATION:
        if (is_shown(link, SESSION_MESSAGE, event->message))
            repl_show_message(repl, "notification", 0, event);
        return true;
    case DX_EVENT_CANCEL:
    case DX_EVENT_OVERDUE:
        repl_request_cancelled(repl, link, event);
        return true;
    case DX_EVENT_STRAY:
        if (repl->stderr_shown && is_shown(link, SESSION_STRAY, event->message))
            repl_show_line(repl, "stdout", event->message);
        return false;
    case DX_EVENT_VIOLATION:
        /* The first that comes may only be in the other framing. */
        if (!((const struct contact *)dx_link_user(link))->heard)
            return false;
        if (is_shown(link, SESSION_VIOLATION,
                     event->message.len ? event->message : dx_str(event->error.phrase)))
            repl_show_violation(repl, event);
        return true;
    default:
        return false;
    }
}

static void on_errors(dx_text line, void *user) {
    repl_show_line(user, "stderr", line);
}

static void on_summary(const char *text, void *user) {
    repl_show_line(user, "suppressed", dx_str(text));
}

static void on_gone(void *user) {
    const struct repl *repl = user;
    if (repl->session)
        repl_show_end(repl);
}

/* What becomes of it. */

static void change_framing(struct repl *repl) {
    int code = session_change_framing(repl->session);
    if (code == CLI_OK)
        code = session_shake_hands(repl->session);
    repl->watches = false;
    if (code == CLI_OK) {
        repl_calls_again(repl);
        return;
    }
    repl_note(repl, code);
    repl_calls_forget(repl); /* there is no more to say of them */
    repl->judged = true;
    repl->quits |= !repl->typed || !repl->session->main;
}

/* Is it clear that the peer is spoken to in its framing, or that this won't become clearer? */
static bool is_clear(struct repl *repl) {
    cli_session *session = repl->session;
    bool heard = session->main->heard;
    repl->until = DX_NEVER;
    bool tries = session->other || session->same;
    /* Some speak first. */
    bool unsure = !heard && (repl->calls_count || session->main->other_framing);
    if (repl->judged || (!unsure && !tries))
        return true;
    if (!repl->watches)
        session_watch(&repl->watch);
    repl->watches = true;
    switch (session_turn(session, &repl->watch, !heard && !repl->calls_open, &repl->until)) {
    case SESSION_CHANGES:
        change_framing(repl);
        return repl->judged;
    case SESSION_WAITS:
        return heard;
    default:
        return true;
    }
}

/* The peer is gone, or can't be talked to any more, and nobody asked for that. */
static bool is_over(const struct repl *repl) {
    const struct contact *main = repl->session->main;
    return main && (main->gone || main->broken) && !repl->lost && !repl->restarts;
}

static void tell_end(struct repl *repl) {
    const struct contact *main = repl->session->main;
    int code = main->broken ? main->broken : CLI_ENDED;
    repl->lost = true;
    repl_requests_end(repl);
    repl_calls_tell(repl, true);
    bool told = repl->lost_calls || (repl->judged && main->broken);
    char message[400];
    snprintf(message, sizeof message, "the conversation with the server ended: %s", main->how);
    if (!main->left && !told)
        repl_note(repl, session_tell(repl->session, code, message, NULL, NULL));
    else if (repl->typed && !told)
        cli_note("%s", message);
    if (repl->typed)
        cli_note(repl->session->options->in ? "'restart' connects again"
                                            : "'restart' starts it again");
    else
        repl->quits |= !main->left || told;
}

void repl_work(struct repl *repl) {
    dx_loop_dispatch(repl->session->loop);
    repl_calls_tell_slow(repl);
    if (!is_clear(repl) || !repl->session->main)
        return;
    repl_calls_tell(repl, false);
    if (is_over(repl))
        tell_end(repl);
}

/* The peer ended where nobody looked. */
static bool is_due(const struct repl *repl) {
    return is_over(repl) && repl->until == DX_NEVER;
}

bool repl_wait(struct repl *repl, int fd, uint64_t until, bool *ret_work) {
    if (is_due(repl))
        until = 0;
    uint64_t slow_at = repl_calls_slow_at(repl);
    until = slow_at < until ? slow_at : until;
    struct pollfd fds[2] = {{.fd = -1}, {.fd = fd, .events = POLLIN}};
    int count = cli_poll(repl->session->loop, fds, fd < 0 ? 1 : 2,
                         repl->until < until ? repl->until : until);
    *ret_work = count == 0 || (count > 0 && fds[0].revents);
    return fd >= 0 && count > 0 && fds[1].revents;
}

/* Birth and death. */

int repl_open(struct repl *repl, const cli_peer_options *options, char **command) {
    repl->ears = (struct session_ears){.on_event = on_event,
                                       .on_errors = on_errors,
                                       .on_gone = on_gone,
                                       .on_summary = on_summary,
                                       .user = repl};
    return session_open(options, command, &repl->ears, &repl->session);
}

int repl_restart(struct repl *repl) {
    cli_session *session = repl->session;
    int before = cli_interrupts();
    bool work;
    repl->restarts = true;
    repl_requests_end(repl);
    contact_stop(session->main);
    while (!session->main->gone && cli_interrupts() == before) {
        (void)repl_wait(repl, -1, DX_NEVER, &work);
        repl_work(repl);
    }
    if (!session->main->gone)
        cli_note("killed the server%s", repl->calls_open ? "; its pending calls are lost" : "");
    repl_calls_tell(repl, true);
    repl_calls_free(repl);
    repl->watches = repl->judged = repl->restarts = false;
    repl->lost_calls = 0;
    repl->until = DX_NEVER;
    int code = session_restart(session);
    repl->lost = session->main && session->main->gone; /* which was told */
    repl->quits |= !session->main;
    return code;
}

int repl_close(struct repl *repl, int code) {
    repl_requests_end(repl);
    code = cli_session_close(repl->session, code);
    repl_calls_free(repl);
    return code;
}
