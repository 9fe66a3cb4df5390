/* Which protocol does a peer speak? Several copies of it are started, one for each protocol that
 * begins with a handshake, and ended again: who answers as its document says has told. */
#include "cli/contact.h"
#include "cli/input.h"
#include "cli/say.h"
#include "cli/subreaper.h"
#include "cli/wait.h"

#include <string.h>

enum { CANDIDATES_MAX = 16, DETECT_MS = 5000 };

struct candidate {
    const char *name;
    cli_session session; /* of its own, on the loop that all share */
    struct contact *contact;
};

struct detection {
    struct candidate candidates[CANDIDATES_MAX];
    size_t count;
    dx_loop *loop;
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

static void try_candidate(struct detection *detection, struct candidate *candidate,
                          const cli_peer_options *options, char **command) {
    cli_session *session = &candidate->session;
    session->options = options;
    session->command = command;
    session->loop = detection->loop;
    candidate->contact = contact_new(session, session_framing(session), false);
    if (candidate->contact)
        contact_open(candidate->contact);
}

/* The first one in order that has settled well, unless an earlier one may still. */
static const struct candidate *best(const struct detection *detection, bool final) {
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

/* When one has answered, the others have as long again, and no less than half a second. */
static const char *wait_for_best(struct detection *detection) {
    uint64_t began = cli_now();
    uint64_t until = began + DETECT_MS;
    bool answered = false;
    int before = cli_interrupts();
    while (cli_now() < until && cli_interrupts() == before && is_open(detection) &&
           !best(detection, false)) {
        cli_wait(detection->loop, until);
        if (!answered && best(detection, true)) {
            uint64_t now = cli_now();
            uint64_t more = now - began > 500 ? now - began : 500;
            until = now + more < until ? now + more : until;
            answered = true;
        }
    }
    const struct candidate *found = best(detection, true);
    return found ? found->name : NULL;
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
        cli_wait(detection->loop, until);
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
    snprintf(message, sizeof message,
             "the peer answered none of the handshakes that were tried (%s)%s: pass --protocol",
             names, late ? ", and said nothing in time" : "");
    return cli_tail_fail(&first->tail, first->session->options->errors,
                         late ? CLI_LATE : CLI_VIOLATION, message, NULL, NULL);
}

static int tell(const struct detection *detection, const char *found) {
    const struct contact *first = detection->count ? detection->candidates[0].contact : NULL;
    if (found) {
        cli_note("the peer speaks %s (--protocol %s saves finding that out)", found, found);
        return CLI_OK;
    }
    if (!first)
        return cli_fail(CLI_NO_START, "no memory");
    if (first->state == CONTACT_FAILED && (first->code == CLI_NO_START || first->code == CLI_USAGE))
        return cli_fail(first->code, "%s", first->failure ? first->failure : "no memory");
    return have_all_ended(detection) ? tell_end(detection, first) : tell_none(detection, first);
}

int session_detect(const cli_peer_options *options, char **command, const char **ret_name) {
    struct detection detection = {.count = 0};
    dx_error error = {.fault = DX_FAULT_NONE};
    if (cli_loop_new(options->keep_daemons || options->connect, &detection.loop, &error) != DX_OK)
        return cli_fail(CLI_NO_START, "%s", error.phrase);
    add_candidates(&detection, true);
    add_candidates(&detection, false);
    for (size_t i = 0; i < detection.count; i++)
        try_candidate(&detection, &detection.candidates[i], options, command);
    int before = cli_interrupts();
    *ret_name = wait_for_best(&detection);
    int code = cli_interrupts() == before ? tell(&detection, *ret_name)
                                          : cli_fail(CLI_INTERRUPTED, "interrupted");
    for (size_t i = 0; i < detection.count; i++)
        contact_free(detection.candidates[i].contact);
    cli_loop_free(detection.loop);
    for (size_t i = 0; i < detection.count; i++)
        dx_protocol_free(detection.candidates[i].session.protocol);
    return code;
}
