/* Which protocol does a peer speak? It is started and asked in the protocol that its command line
 * suggests, or in MCP. If it does not respond as that protocol's document says, it is stopped, and
 * then started again for the next protocol that begins with a handshake. There is never more than
 * one copy, because a port, a lock or a database may allow only one. */
#include "cli/contact.h"
#include "cli/input.h"
#include "cli/say.h"
#include "cli/subreaper.h"
#include "cli/wait.h"
#include "cli/waiting.h"

#include <ctype.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* How long detection takes without --start-timeout; how long a copy may be silent after it has read
 * the request; how often to look whether it has; how long it may take to exit. */
enum { CANDIDATES_MAX = 16, DETECT_MS = 10000, SILENT_MS = 1000, LOOK_MS = 100, STOP_MS = 2000 };

struct candidate {
    const char *name;
    cli_session session; /* of its own, on the loop that all share */
    struct contact *contact;
    bool silent; /* it was stopped because it did not respond */
};

struct detection {
    struct candidate candidates[CANDIDATES_MAX];
    size_t count;
    cli_session *session;
    bool late; /* the time was up before all of them were tried */
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
            candidate->session = (cli_session){.options = detection->session->options,
                                               .command = detection->session->command,
                                               .loop = detection->session->loop,
                                               .protocol = protocol};
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

static void put_first(struct detection *detection, size_t index) {
    struct candidate *all = detection->candidates;
    struct candidate first = all[index];
    memmove(all + 1, all, index * sizeof *all);
    all[0] = first;
}

/* Most servers speak MCP. One that the command line names comes before it. */
static void sort_candidates(struct detection *detection) {
    const struct candidate *all = detection->candidates;
    size_t named = 0;
    for (size_t i = 0; i < detection->count; i++)
        if (strcmp(all[i].name, "mcp") == 0)
            put_first(detection, i);
    while (named < detection->count && !is_named(&all[named], detection->session->command))
        named++;
    if (named < detection->count)
        put_first(detection, named);
}

static void try_candidate(struct candidate *candidate) {
    cli_session *session = &candidate->session;
    candidate->contact = contact_new(session, session_framing(session), false);
    if (candidate->contact)
        contact_open(candidate->contact);
}

/* Nothing can be started, whatever it speaks. */
static bool is_hopeless(const struct contact *first) {
    return !first || (first->state == CONTACT_FAILED &&
                      (first->code == CLI_NO_START || first->code == CLI_USAGE));
}

/* Has it read all that was sent to it? If nobody can say, it has. */
static bool has_read(const struct contact *contact) {
    char path[40];
    int unread = 0;
    snprintf(path, sizeof path, "/proc/%ld/fd/0",
             contact->child ? (long)dx_child_pid(contact->child) : 0L);
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    bool has = fd < 0 || ioctl(fd, FIONREAD, &unread) < 0 || !unread;
    if (fd >= 0)
        close(fd);
    return has;
}

/* Until it has responded, has failed or is silent. A server that has not read the request is still
 * starting. */
static void hear_out(struct detection *detection, struct candidate *candidate, uint64_t until) {
    struct contact *contact = candidate->contact;
    int before = cli_interrupts();
    const dx_step *step = contact->step;
    uint64_t read_at = DX_NEVER;
    contact_waits(contact, "the handshake", until == DX_NEVER ? DX_NEVER : until - cli_now());
    while (contact->state == CONTACT_STARTING && cli_now() < until && cli_interrupts() == before) {
        uint64_t look = cli_now() + LOOK_MS;
        cli_wait(detection->session->loop, look < until ? look : until);
        if (!has_read(contact))
            read_at = DX_NEVER;
        else if (read_at == DX_NEVER || step != contact->step)
            read_at = cli_now();
        else if (cli_now() - read_at >= SILENT_MS)
            break;
        step = contact->step;
    }
    candidate->silent = contact->state == CONTACT_STARTING;
}

static void stop_candidate(const struct detection *detection, struct contact *contact) {
    uint64_t until = cli_now() + STOP_MS;
    if (!contact->gone)
        contact_stop(contact);
    while (!contact->gone && cli_now() < until)
        cli_wait(detection->session->loop, until);
}

/* A copy that exited by itself may have stumbled over the other framing, and one that responds in a
 * framing speaks only that: then there is no need to try this one. */
static bool is_ruled_out(const struct detection *detection, size_t index) {
    dx_framing framing = session_framing(&detection->candidates[index].session);
    for (size_t i = 0; i < index; i++) {
        const struct contact *tried = detection->candidates[i].contact;
        bool ended = tried && !detection->candidates[i].silent && tried->code == CLI_ENDED;
        if (tried && (tried->framing == framing ? tried->other_framing || (ended && !tried->heard)
                                                : tried->heard))
            return true;
    }
    return false;
}

static struct candidate *try_all(struct detection *detection, uint64_t until) {
    int before = cli_interrupts();
    for (size_t i = 0; i < detection->count; i++) {
        struct candidate *candidate = &detection->candidates[i];
        if (is_ruled_out(detection, i))
            continue;
        try_candidate(candidate);
        if (is_hopeless(candidate->contact))
            return NULL;
        hear_out(detection, candidate, until);
        if (candidate->contact->state == CONTACT_READY)
            return candidate;
        detection->late = cli_now() >= until;
        if (detection->late || cli_interrupts() != before)
            return NULL;
        stop_candidate(detection, candidate->contact);
    }
    return NULL;
}

static bool have_all_ended(const struct detection *detection) {
    for (size_t i = 0; i < detection->count; i++) {
        const struct candidate *candidate = &detection->candidates[i];
        if (candidate->contact && (candidate->silent || candidate->contact->code != CLI_ENDED))
            return false;
    }
    return detection->count;
}

/* Did none of them send a message? */
static bool is_silent(const struct detection *detection) {
    bool silent = false;
    for (size_t i = 0; i < detection->count; i++) {
        const struct contact *contact = detection->candidates[i].contact;
        if (contact && (contact->heard || contact->other_framing))
            return false;
        silent |= contact && (detection->candidates[i].silent || contact->code == CLI_LATE);
    }
    return silent;
}

/* All of them are one program: how the first ended tells enough. */
static int tell_end(const struct detection *detection, const struct contact *first) {
    uint64_t until = cli_now() + 1000;
    while (!first->gone && !first->broken && cli_now() < until)
        cli_wait(detection->session->loop, until);
    char message[400];
    snprintf(message, sizeof message, "the conversation ended during the handshake: %s",
             first->how);
    return cli_tail_fail(&first->tail, first->session->options->errors, CLI_ENDED,
                         first->how[0] ? message : first->failure, NULL, NULL);
}

static int tell_none(const struct detection *detection, const struct contact *first) {
    char names[400] = "";
    char message[600];
    size_t len = 0;
    bool silent = is_silent(detection);
    for (size_t i = 0; i < detection->count && len < sizeof names; i++)
        if (detection->candidates[i].contact)
            len += (size_t)snprintf(names + len, sizeof names - len, "%s%s", len ? ", " : "",
                                    detection->candidates[i].name);
    snprintf(message, sizeof message, "cannot detect the protocol: %s (tried %s)%s",
             !silent           ? "no valid response to a handshake"
             : detection->late ? "no response in time"
                               : "no response",
             names,
             silent && detection->late ? "; pass --protocol, or a longer --start-timeout"
                                       : "; pass --protocol");
    return cli_tail_fail(&first->tail, first->session->options->errors,
                         silent ? CLI_LATE : CLI_VIOLATION, message, NULL, NULL);
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
    if (!first->other_framing)
        contact_warn(first);
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
    sort_candidates(&detection);
    int before = cli_interrupts();
    struct candidate *found = try_all(&detection, until);
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
