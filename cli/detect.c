/* Which protocol does a peer speak? It is started once, and asked in the protocol that its command
 * line suggests. If it does not respond, more copies are started, one for each protocol that begins
 * with a handshake. The copy that responds as its document says is kept, the others are ended. */
#include "cli/contact.h"
#include "cli/input.h"
#include "cli/say.h"
#include "cli/subreaper.h"
#include "cli/wait.h"
#include "cli/waiting.h"

#include <ctype.h>
#include <string.h>

/* So long detection takes without --start-timeout; so long the first copy may be silent before
 * others are started. */
enum { CANDIDATES_MAX = 16, DETECT_MS = 5000, ALONE_MS = 1000 };

struct candidate {
    const char *name;
    cli_session session; /* of its own, on the loop that all share */
    struct contact *contact;
};

struct detection {
    struct candidate candidates[CANDIDATES_MAX];
    size_t count;
    cli_session *session;
};

/* Revisions of one protocol begin alike: one of them is enough. Those that are open are the general
 * ones, and come first: what is spoken on top of one of them begins as that does. */
static void add_candidates(struct detection *detection, bool open) {
    const char *name;
    for (size_t i = 0; (name = dx_protocol_builtin(i)) && detection->count < CANDIDATES_MAX; i++) {
        dx_protocol *protocol = NULL;
        if (strchr(name, '@') || dx_protocol_open(dx_str(name), NULL, &protocol, NULL) != DX_OK)
            continue;
        const dx_protocol_facts *facts = dx_protocol_facts_of(protocol);
        if (facts->start && (facts->open != 0) == open) {
            struct candidate *candidate = &detection->candidates[detection->count++];
            candidate->name = name;
            candidate->session.protocol = protocol;
        } else {
            dx_protocol_free(protocol);
        }
    }
}

/* Letters and digits only, in lower case. */
static void squeeze(const char *text, char *room, size_t size) {
    size_t len = 0;
    for (; *text && len + 1 < size; text++)
        if (isalnum((unsigned char)*text))
            room[len++] = (char)tolower((unsigned char)*text);
    room[len] = '\0';
}

/* Is the name of the protocol, or its title, a part of the command line? */
static bool is_named(const struct candidate *candidate, char *const *command) {
    char names[2][100];
    char word[1000];
    squeeze(candidate->name, names[0], sizeof names[0]);
    const char *title = dx_protocol_facts_of(candidate->session.protocol)->title;
    squeeze(title ? title : candidate->name, names[1], sizeof names[1]);
    for (; command && *command; command++) {
        squeeze(*command, word, sizeof word);
        if (strstr(word, names[0]) || strstr(word, names[1]))
            return true;
    }
    return false;
}

/* One that the command line names comes first. */
static void put_named_first(struct detection *detection) {
    struct candidate *all = detection->candidates;
    for (size_t i = 1; i < detection->count; i++)
        if (is_named(&all[i], detection->session->command) &&
            !is_named(&all[0], detection->session->command)) {
            struct candidate named = all[i];
            memmove(all + 1, all, i * sizeof *all);
            all[0] = named;
            return;
        }
}

static void try_candidate(struct detection *detection, struct candidate *candidate) {
    cli_session *session = &candidate->session;
    session->options = detection->session->options;
    session->command = detection->session->command;
    session->loop = detection->session->loop;
    candidate->contact = contact_new(session, session_framing(session), false);
    if (candidate->contact)
        contact_open(candidate->contact);
}

/* The first one in order that has settled well, unless an earlier one may still. */
static struct candidate *best(struct detection *detection, bool final) {
    for (size_t i = 0; i < detection->count; i++) {
        const struct contact *contact = detection->candidates[i].contact;
        if (contact && contact->state == CONTACT_READY)
            return &detection->candidates[i];
        if (contact && contact->state == CONTACT_STARTING && !final)
            return NULL;
    }
    return NULL;
}

static bool is_open(const struct detection *detection) {
    for (size_t i = 0; i < detection->count; i++)
        if (detection->candidates[i].contact &&
            detection->candidates[i].contact->state == CONTACT_STARTING)
            return true;
    return false;
}

/* Nothing can be started, whatever it speaks. */
static bool is_hopeless(const struct contact *first) {
    return !first || (first->state == CONTACT_FAILED &&
                      (first->code == CLI_NO_START || first->code == CLI_USAGE));
}

/* The first copy alone, for a while. True: the others are to be tried, too. */
static bool try_alone(struct detection *detection, uint64_t until) {
    struct candidate *first = &detection->candidates[0];
    int before = cli_interrupts();
    uint64_t alone = cli_now() + ALONE_MS;
    if (!detection->count)
        return false;
    try_candidate(detection, first);
    if (first->contact)
        contact_waits(first->contact, "the handshake",
                      until == DX_NEVER ? DX_NEVER : until - cli_now());
    until = alone < until ? alone : until;
    while (cli_now() < until && cli_interrupts() == before && is_open(detection))
        cli_wait(detection->session->loop, until);
    return cli_interrupts() == before && !is_hopeless(first->contact) && !best(detection, false);
}

/* When one has answered, the others have as long again, and no less than half a second. */
static struct candidate *wait_for_best(struct detection *detection, uint64_t until) {
    uint64_t began = cli_now();
    bool answered = false;
    int before = cli_interrupts();
    while (cli_now() < until && cli_interrupts() == before && is_open(detection) &&
           !best(detection, false)) {
        cli_wait(detection->session->loop, until);
        if (!answered && best(detection, true)) {
            uint64_t now = cli_now();
            uint64_t more = now - began > 500 ? now - began : 500;
            until = now + more < until ? now + more : until;
            answered = true;
        }
    }
    return best(detection, true);
}

static bool have_all_ended(const struct detection *detection) {
    for (size_t i = 0; i < detection->count; i++) {
        const struct contact *contact = detection->candidates[i].contact;
        if (!contact || contact->state != CONTACT_FAILED || contact->code != CLI_ENDED)
            return false;
    }
    return detection->count;
}

/* Did none of them say a word, and that because its time was up? */
static bool is_late(const struct detection *detection) {
    bool late = false;
    for (size_t i = 0; i < detection->count; i++) {
        const struct contact *contact = detection->candidates[i].contact;
        if (contact && (contact->heard || contact->other_framing))
            return false;
        late |= contact && (contact->state == CONTACT_STARTING || contact->code == CLI_LATE);
    }
    return late;
}

/* All of them are one program: how the first ended tells enough. */
static int tell_end(const struct detection *detection, const struct contact *first) {
    uint64_t until = cli_now() + 1000;
    while (!first->gone && !first->broken && cli_now() < until)
        cli_wait(detection->session->loop, until);
    char message[400];
    snprintf(message, sizeof message, "the peer ended in the handshake: %s", first->how);
    return cli_tail_fail(&first->tail, first->session->options->errors, CLI_ENDED,
                         first->how[0] ? message : first->failure, NULL, NULL);
}

static int tell_none(const struct detection *detection, const struct contact *first) {
    char names[400] = "";
    char message[600];
    size_t len = 0;
    bool late = is_late(detection);
    for (size_t i = 0; i < detection->count && len < sizeof names; i++)
        len += (size_t)snprintf(names + len, sizeof names - len, "%s%s", i ? ", " : "",
                                detection->candidates[i].name);
    snprintf(message, sizeof message, "cannot detect the protocol: %s (tried %s)%s",
             late ? "no response in time" : "no valid response to a handshake", names,
             late ? "; pass --protocol, or a longer --start-timeout" : "; pass --protocol");
    return cli_tail_fail(&first->tail, first->session->options->errors,
                         late ? CLI_LATE : CLI_VIOLATION, message, NULL, NULL);
}

static int tell(const struct detection *detection, const struct candidate *found) {
    const struct contact *first = detection->count ? detection->candidates[0].contact : NULL;
    if (found) {
        cli_note("the server speaks %s; pass --protocol %s to skip the detection", found->name,
                 found->name);
        contact_warn(found->contact);
        return CLI_OK;
    }
    if (!first)
        return cli_fail(CLI_NO_START, "out of memory");
    if (is_hopeless(first))
        return cli_fail(first->code, "%s", first->failure ? first->failure : "out of memory");
    return have_all_ended(detection) ? tell_end(detection, first) : tell_none(detection, first);
}

/* The copy that was found goes on as the peer of the session, unless its traffic was to be seen. */
static void adopt(cli_session *session, struct candidate *found) {
    session->protocol = found->session.protocol;
    found->session.protocol = NULL;
    if (!session_is_unseen(session) || session->options->init)
        return;
    session->main = found->contact;
    session->main->session = session;
    found->contact = NULL;
}

int session_detect(cli_session *session, const char **ret_name) {
    struct detection detection = {.session = session};
    const cli_peer_options *options = session->options;
    uint64_t limit = cli_start_time(options->start_ms, options->timeout_ms, DETECT_MS);
    uint64_t until = limit > DX_NEVER / 2 ? DX_NEVER : cli_now() + limit;
    add_candidates(&detection, true);
    add_candidates(&detection, false);
    put_named_first(&detection);
    int before = cli_interrupts();
    if (try_alone(&detection, until))
        for (size_t i = 1; i < detection.count; i++)
            try_candidate(&detection, &detection.candidates[i]);
    struct candidate *found = wait_for_best(&detection, until);
    cli_waiting_end();
    int code = cli_interrupts() == before ? tell(&detection, found)
                                          : cli_fail(CLI_INTERRUPTED, "interrupted");
    if (code == CLI_OK) {
        *ret_name = found->name;
        adopt(session, found);
    }
    for (size_t i = 0; i < detection.count; i++)
        contact_free(detection.candidates[i].contact);
    for (size_t i = 0; i < detection.count; i++)
        dx_protocol_free(detection.candidates[i].session.protocol);
    return code;
}

int session_detect_name(const cli_peer_options *options, char **command, const char **ret_name) {
    cli_session session = {.options = options, .command = command};
    dx_error error = {.fault = DX_FAULT_NONE};
    cli_catch_signals();
    if (cli_loop_new(options->keep_daemons || options->connect, &session.loop, &error) != DX_OK)
        return cli_fail(CLI_NO_START, "%s", error.phrase);
    int code = session_detect(&session, ret_name);
    contact_free(session.main);
    cli_loop_free(session.loop);
    dx_protocol_free(session.protocol);
    return code;
}
