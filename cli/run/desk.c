#include "cli/run/desk.h"

#include "cli/describe/nearest.h"
#include "cli/run/errand.h"
#include "cli/run/relay.h"
#include "cli/say.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* An answer of a peer and what stands around it. */
enum { MESSAGE_MAX = (64 << 20) + 4096 };

/* What is asked. Everything in the params is looked at before it is used. */

static const char *peer_name_at(const void *crew, size_t index) {
    const struct crew *all = crew;
    return index < all->count ? all->peers[index].config->name : NULL;
}

static void refuse_peer(struct desk_client *client, const dx_event *event, const char *name) {
    char message[100];
    char *hint = cli_near_or_all(peer_name_at, client->desk->crew, name, "servers");
    snprintf(message, sizeof message, "no server '%.64s' in this run", name);
    desk_refuse_hint(client, event, CLI_USAGE, hint, message);
    free(hint);
}

/* The peer that is meant; NULL if that was refused. */
static struct crew_peer *peer_of(struct desk_client *client, const dx_event *event) {
    yyjson_val *name = yyjson_obj_get(event->value, "name");
    if (!yyjson_is_str(name)) {
        desk_refuse(client, event, CLI_USAGE, "name: expected the name of a peer");
        return NULL;
    }
    struct crew_peer *peer =
        crew_find(client->desk->crew, yyjson_get_str(name), yyjson_get_len(name));
    if (!peer)
        refuse_peer(client, event, yyjson_get_str(name));
    return peer;
}

static bool is_time(yyjson_val *value) {
    return !value || yyjson_is_null(value) || (yyjson_is_uint(value) && yyjson_get_uint(value));
}

/* name, method and perhaps params and times; NULL if that was refused. */
static struct crew_peer *message_of(struct desk_client *client, const dx_event *event) {
    yyjson_val *method = yyjson_obj_get(event->value, "method");
    yyjson_val *params = yyjson_obj_get(event->value, "params");
    const char *flaw = NULL;
    if (!yyjson_is_str(method) || strlen(yyjson_get_str(method)) != yyjson_get_len(method))
        flaw = "method: expected a string";
    else if (params && !yyjson_is_obj(params) && !yyjson_is_arr(params))
        flaw = "params: expected an object or an array";
    else if (!is_time(yyjson_obj_get(event->value, "timeoutMs")) ||
             !is_time(yyjson_obj_get(event->value, "totalMs")))
        flaw = "timeoutMs, totalMs: expected a number of milliseconds, or null";
    if (!flaw)
        return peer_of(client, event);
    desk_refuse(client, event, CLI_USAGE, "%s", flaw);
    return NULL;
}

/* Can the peer be sent the method that is named? It is refused if not. */
static bool has_method(struct desk_client *client, const dx_event *event,
                       const struct crew_peer *peer, bool notification) {
    const dx_protocol *protocol = peer->config->protocol;
    const char *method = yyjson_get_str(yyjson_obj_get(event->value, "method"));
    char *hint;
    char *flaw = cli_method_flaw(protocol, dx_protocol_facts_of(protocol)->name, method,
                                 notification, "duplex ", NULL, &hint);
    if (flaw)
        desk_refuse_hint(client, event, CLI_MISFIT, hint, flaw);
    free(hint);
    free(flaw);
    return !flaw;
}

static void on_check(dx_link *link, const dx_event *event, void *user) {
    struct desk_client *client = user;
    const struct crew_peer *peer = message_of(client, event);
    bool notification = yyjson_get_bool(yyjson_obj_get(event->value, "notification"));
    (void)link;
    if (peer && has_method(client, event, peer, notification))
        desk_reply(client, event, dx_json_text("null", 4));
}

static void reply_doc(struct desk_client *client, const dx_event *event, yyjson_mut_doc *doc) {
    desk_reply(client, event, dx_json_built(yyjson_mut_doc_get_root(doc)));
    yyjson_mut_doc_free(doc);
}

static void on_ps(dx_link *link, const dx_event *event, void *user) {
    struct desk_client *client = user;
    (void)link;
    reply_doc(client, event, desk_table(client->desk));
}

static void on_logs(dx_link *link, const dx_event *event, void *user) {
    struct desk_client *client = user;
    const struct desk *desk = client->desk;
    yyjson_val *from = yyjson_obj_get(event->value, "from");
    yyjson_val *last = yyjson_obj_get(event->value, "last");
    struct crew_peer *peer = NULL;
    (void)link;
    if ((from && !yyjson_is_uint(from)) || (last && !yyjson_is_uint(last))) {
        desk_refuse(client, event, CLI_USAGE, "from, last: expected a number");
        return;
    }
    if (yyjson_obj_get(event->value, "name") && !(peer = peer_of(client, event)))
        return;
    /* Numbers begin with 1, and what went before anybody asked is no loss. */
    uint64_t first = from   ? yyjson_get_uint(from)
                     : last ? desk_last(desk, peer, yyjson_get_uint(last))
                            : desk_last(desk, peer, UINT64_MAX);
    bool wait = yyjson_get_bool(yyjson_obj_get(event->value, "wait"));
    if (!wait || desk_has_line(desk, peer, first)) {
        reply_doc(client, event, desk_lines(desk, peer, first));
        return;
    }
    struct errand *errand = errand_new(client, ERRAND_LOGS, peer);
    if (errand)
        errand->from = first;
}

static void on_call(dx_link *link, const dx_event *event, void *user) {
    struct desk_client *client = user;
    struct crew_peer *peer = message_of(client, event);
    bool good = peer && has_method(client, event, peer, false);
    struct errand *errand = good ? errand_new(client, ERRAND_WAIT, peer) : NULL;
    (void)link;
    if (errand)
        errand_call(errand);
}

/* Answers when the peer is ready. */
static void on_ready(dx_link *link, const dx_event *event, void *user) {
    struct desk_client *client = user;
    struct crew_peer *peer = peer_of(client, event);
    struct errand *errand = peer ? errand_new(client, ERRAND_READY, peer) : NULL;
    (void)link;
    if (errand)
        errand_ready(errand);
}

static void on_attach(dx_link *link, const dx_event *event, void *user) {
    struct desk_client *client = user;
    struct crew_peer *peer = peer_of(client, event);
    struct errand *errand = peer ? errand_new(client, ERRAND_ATTACH, peer) : NULL;
    (void)link;
    if (errand)
        errand_attach(errand);
}

static void on_notify(dx_link *link, const dx_event *event, void *user) {
    struct desk_client *client = user;
    struct crew_peer *peer = message_of(client, event);
    (void)link;
    if (!peer || !has_method(client, event, peer, true))
        return;
    const char *method = yyjson_get_str(yyjson_obj_get(event->value, "method"));
    dx_text text = dx_rpc_member(event->body, dx_str("params"));
    dx_link *to = crew_is_ready(peer) ? dx_supervisor_link(peer->supervisor) : NULL;
    if (!to) {
        desk_refuse_absent(client, event, peer, true);
        return;
    }
    desk_tell_noise(client, peer);
    dx_status status =
        dx_link_notify(to, dx_str(method), text.at ? dx_json_checked(text) : dx_json_none());
    if (status == DX_OK)
        desk_reply(client, event, dx_json_text("null", 4));
    else
        desk_refuse(client, event,
                    status == DX_MISFIT   ? CLI_MISFIT
                    : status == DX_CLOSED ? CLI_ENDED
                                          : CLI_USAGE,
                    "cannot send %.200s: %s", method,
                    status == DX_MISFIT ? dx_link_why(to)->phrase : dx_status_name(status));
}

/* For start and restart: until it is ready. */
static void begin(struct desk_client *client, const dx_event *event, bool again) {
    struct crew_peer *peer = peer_of(client, event);
    if (!peer)
        return;
    if (peer->crew->leaving) {
        desk_refuse(client, event, CLI_ENDED, "the run is shutting down");
        return;
    }
    if (!again && crew_is_well(peer)) {
        desk_reply(client, event, dx_json_text("null", 4));
        return;
    }
    struct errand *errand = errand_new(client, ERRAND_START, peer);
    bool begun = !again && !peer->halting && peer->state == DX_STATE_STARTING;
    if (!errand)
        return;
    errand->run = dx_supervisor_incarnation(peer->supervisor) + !begun;
    if (again)
        crew_restart(peer);
    else
        crew_start(peer);
}

static void on_restart(dx_link *link, const dx_event *event, void *user) {
    (void)link;
    begin(user, event, true);
}

static void on_start(dx_link *link, const dx_event *event, void *user) {
    (void)link;
    begin(user, event, false);
}

static bool is_down(const struct crew_peer *peer) {
    return peer->state == DX_STATE_STOPPED || peer->state == DX_STATE_FAILED;
}

static void on_stop(dx_link *link, const dx_event *event, void *user) {
    struct desk_client *client = user;
    struct crew_peer *peer = peer_of(client, event);
    (void)link;
    if (!peer)
        return;
    crew_stop(peer);
    struct errand *next;
    for (struct errand *errand = client->desk->errands; errand; errand = next) {
        next = errand->next;
        if (errand->peer == peer && (errand->kind == ERRAND_START || errand->kind == ERRAND_WAIT ||
                                     errand->kind == ERRAND_READY))
            errand_fail(errand, CLI_NO_START, "%s was stopped", peer->config->name);
    }
    if (is_down(peer))
        desk_reply(client, event, dx_json_text("null", 4));
    else
        (void)errand_new(client, ERRAND_STOP, peer);
}

static void on_down(dx_link *link, const dx_event *event, void *user) {
    struct desk_client *client = user;
    (void)link;
    (void)event;
    (void)errand_new(client, ERRAND_DOWN, NULL);
    client->desk->down = true;
}

static const dx_handler handlers[] = {
    {"ps", on_ps},           {"logs", on_logs},   {"call", on_call},   {"notify", on_notify},
    {"restart", on_restart}, {"start", on_start}, {"stop", on_stop},   {"down", on_down},
    {"attach", on_attach},   {"check", on_check}, {"ready", on_ready}, {NULL, NULL},
};

/* Who asks. */

static void forget(struct desk_client *client) {
    struct desk *desk = client->desk;
    struct errand *next;
    for (struct errand *errand = desk->errands; errand; errand = next) {
        next = errand->next;
        if (errand->client == client)
            errand_abandon(errand);
    }
    for (struct desk_client **place = &desk->clients; *place; place = &(*place)->next)
        if (*place == client) {
            *place = client->next;
            break;
        }
    desk->client_count--;
    dx_link_free(client->link);
    free(client);
}

void desk_on_closed(dx_link *link, const dx_error *why, void *user) {
    (void)link;
    (void)why;
    forget(user);
}

static void on_event(dx_link *link, const dx_event *event, void *user) {
    struct desk_client *client = user;
    if (event->kind == DX_EVENT_REQUEST)
        dx_link_refuse(link, event->request, DX_CODE_METHOD, dx_str(NULL), dx_json_none());
    if (event->kind == DX_EVENT_VIOLATION && event->error.fault == DX_FAULT_UNREAD)
        client->cut = true;
}

/* He is told why in an error that answers nothing, as far as he can hear it at once. */
static void turn_away(int fd, const char *why) {
    char line[200];
    int len =
        snprintf(line, sizeof line,
                 "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":%d,\"message\":\"%s\"}}\n",
                 DX_CODE_BUSY, why);
    (void)!send(fd, line, (size_t)len, MSG_DONTWAIT | MSG_NOSIGNAL);
    /* A connection that is closed before its request was read is reset, and the line is lost. */
    char request[4096];
    (void)!recv(fd, request, sizeof request, MSG_DONTWAIT);
    close(fd);
}

static bool open_client(struct desk *desk, dx_loop *loop, int fd) {
    struct desk_client *client = calloc(1, sizeof *client);
    if (!client)
        return false;
    *client = (struct desk_client){.desk = desk, .fd = fd};
    dx_link_config config = dx_link_defaults(DX_FRAMING_LINE, DX_SIDE_PLUGIN);
    config.peer.message_max = MESSAGE_MAX;
    config.peer.requests_max = DESK_PENDING_MAX;
    config.peer.stall_ms = DESK_UNREAD_MS;
    config.handlers = handlers;
    config.on_event = on_event;
    config.on_closed = desk_on_closed;
    config.user = client;
    if (dx_link_open(loop, fd, fd, &config, &client->link, NULL) != DX_OK) {
        free(client);
        return false;
    }
    client->next = desk->clients;
    desk->clients = client;
    desk->client_count++;
    return true;
}

static void on_connect(dx_listener *listener, int fd, void *user) {
    struct desk *desk = user;
    (void)listener;
    if (desk->client_count >= DESK_CLIENTS_MAX)
        turn_away(fd, "too many clients are connected");
    else if (!open_client(desk, desk->crew->loop, fd))
        turn_away(fd, "out of memory");
}

static void on_refused(dx_listener *listener, const char *why, void *user) {
    (void)listener;
    (void)user;
    cli_warn("%s", why);
}

/* The socket. */

/* Of two runs that begin at the same time, one must not take what the other has just made for a
 * leftover: so the folder is locked while we look. -1: it can't be. */
static int lock_folder(const cli_address *address) {
    char folder[sizeof address->socket.sun_path];
    snprintf(folder, sizeof folder, "%s", address->socket.sun_path);
    char *slash = strrchr(folder, '/');
    if (slash)
        slash[slash == folder] = '\0';
    int fd = open(slash ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int tries = 40; fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0; tries--) {
        if (!tries || errno != EWOULDBLOCK) {
            close(fd);
            return -1;
        }
        poll(NULL, 0, 50);
    }
    return fd;
}

/* Nobody is there, or it is told who. */
static int clear_way(const cli_address *address) {
    const char *path = address->socket.sun_path;
    struct stat stat_of;
    pid_t pid;
    uid_t uid;
    if (lstat(path, &stat_of) < 0)
        return errno == ENOENT ? CLI_OK
                               : cli_fail(CLI_NO_START, "cannot use %s: %s", path, strerror(errno));
    if (!S_ISSOCK(stat_of.st_mode))
        return cli_fail(CLI_NO_START, "%s exists and is not a socket", path);
    int fd = cli_address_connect(address, &pid, &uid);
    if (fd >= 0) {
        close(fd);
        return cli_fail(CLI_NO_START, "a run named '%s' is already running (pid %ld)", address->run,
                        (long)pid);
    }
    if (errno != ECONNREFUSED || unlink(path) < 0)
        return cli_fail(CLI_NO_START, "cannot replace %s: %s", path, strerror(errno));
    return CLI_OK;
}

int desk_open(struct desk *desk, dx_loop *loop) {
    char address[sizeof desk->address.socket.sun_path + 8];
    dx_error error = {.phrase = "out of memory"};
    dx_listener_config config = {.on_connect = on_connect,
                                 .on_refused = on_refused,
                                 .user = desk,
                                 .framing = DX_FRAMING_LINE};
    snprintf(address, sizeof address, "unix:%s", desk->address.socket.sun_path);
    int lock = lock_folder(&desk->address);
    if (lock < 0)
        return cli_fail(CLI_NO_START, "cannot use the folder of %s: %s",
                        desk->address.socket.sun_path, strerror(errno));
    int code = clear_way(&desk->address);
    if (code == CLI_OK &&
        dx_listener_open(loop, address, &config, &desk->listener, &error) != DX_OK)
        code = cli_fail(CLI_NO_START, "%s", error.phrase);
    close(lock);
    return code;
}

/* What follows from what has happened. */

void desk_on_state(struct crew_peer *peer, void *user) {
    const struct desk *desk = user;
    struct errand *next;
    for (struct errand *errand = desk->errands; errand; errand = next) {
        next = errand->next;
        if (errand->peer == peer)
            errand_on_state(errand);
    }
    if (!crew_is_ready(peer))
        relay_close(desk, peer);
}

void desk_on_notification(struct crew_peer *peer, const dx_event *event, void *user) {
    relay_notify(user, peer, event);
}

/* The client has asked to be attached, and its peer was ready; by now it may have ended. */
static void attach(struct errand *errand) {
    if (crew_is_ready(errand->peer)) {
        relay_open(errand);
    } else {
        errand->kind = ERRAND_ATTACH;
        errand_attach(errand);
    }
}

void desk_tend(struct desk *desk) {
    struct desk_client *next_client;
    struct errand *next;
    for (struct desk_client *client = desk->clients; client; client = next_client) {
        next_client = client->next;
        if (client->cut)
            forget(client);
    }
    for (struct errand *errand = desk->errands; errand; errand = next) {
        next = errand->next;
        if (errand->kind == ERRAND_SWITCH)
            attach(errand);
    }
    for (struct errand *errand = desk->errands; errand; errand = next) {
        next = errand->next;
        if (errand->kind != ERRAND_LOGS || !desk_has_line(desk, errand->peer, errand->from))
            continue;
        yyjson_mut_doc *doc = desk_lines(desk, errand->peer, errand->from);
        errand_reply(errand, dx_json_built(yyjson_mut_doc_get_root(doc)));
        yyjson_mut_doc_free(doc);
    }
}

void desk_close(struct desk *desk) {
    struct errand *next;
    desk->listener = dx_listener_free(desk->listener);
    for (struct errand *errand = desk->errands; errand; errand = next) {
        next = errand->next;
        if (errand->kind == ERRAND_DOWN)
            errand_reply(errand, dx_json_text("null", 4));
    }
    for (struct desk_client *client = desk->clients; client; client = client->next)
        dx_link_close(client->link);
}

void desk_done(struct desk *desk) {
    struct desk_client *next;
    desk->listener = dx_listener_free(desk->listener);
    for (struct desk_client *client = desk->clients; client; client = next) {
        next = client->next;
        forget(client);
    }
}
