/*
 * The pure machine in a poll(2) loop: a plugin that both answers and asks.
 *
 * "greet" is answered only after the host was asked for the name ("user/name") and has answered,
 * or did not within two seconds. Meanwhile everything else goes on. Usage: poll header|line
 */
#include <duplex/duplex.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static uint64_t now_ms(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

/* The request waits, kept, as the user data of the call that it depends on. */
static void greet(dx_peer *peer) {
    dx_event *kept;
    if (dx_peer_keep(peer, &kept) != DX_OK)
        return;
    dx_call_options options = {.timeout_ms = 2000, .user = kept};
    if (dx_peer_call(peer, dx_str("user/name"), dx_json_none(), &options, now_ms(), NULL) != DX_OK)
        dx_event_free(kept); /* answers it with an internal error */
}

static void greeted(dx_peer *peer, const dx_event *done) {
    dx_event *kept = done->user;
    const char *name = yyjson_get_str(done->value);
    if (done->outcome == DX_OUTCOME_RESULT && name) {
        yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
        yyjson_mut_val *answer = yyjson_mut_obj(doc);
        yyjson_mut_obj_add_str(doc, answer, "greeting", "hello");
        yyjson_mut_obj_add_str(doc, answer, "name", name);
        dx_peer_reply(peer, kept->request, dx_json_built(answer));
        yyjson_mut_doc_free(doc);
    } else {
        const char *why = done->error.fault ? done->error.phrase : "the host did not say";
        dx_peer_refuse(peer, kept->request, DX_CODE_INTERNAL, dx_str(why), dx_json_none());
    }
    dx_event_free(kept);
}

static void handle(dx_peer *peer, const dx_event *ev) {
    if (ev->kind == DX_EVENT_REQUEST && dx_text_is(ev->method, "greet"))
        greet(peer);
    else if (ev->kind == DX_EVENT_REQUEST)
        dx_peer_refuse(peer, ev->request, DX_CODE_METHOD, dx_str(NULL), dx_json_none());
    else if (ev->kind == DX_EVENT_DONE)
        greeted(peer, ev);
    else if (ev->kind == DX_EVENT_VIOLATION)
        fprintf(stderr, "poll: %s\n", ev->error.phrase);
}

/* Everything that can be read now. 0 at the end of the stream. */
static int read_some(dx_peer *peer) {
    void *room;
    size_t len;
    if (dx_peer_reserve(peer, 65536, &room, &len) != DX_OK)
        return 1; /* too much waits: let the other side wait, too */
    ssize_t n = read(0, room, len);
    if (n < 0)
        return errno == EAGAIN || errno == EINTR;
    dx_peer_commit(peer, (size_t)n, now_ms());
    return n > 0;
}

static int write_some(dx_peer *peer) {
    dx_text out = dx_peer_output(peer);
    ssize_t n = out.len ? write(1, out.at, out.len) : 0;
    if (n < 0)
        return errno == EAGAIN || errno == EINTR;
    dx_peer_sent(peer, (size_t)n);
    return 1;
}

static int wait_ms(uint64_t deadline) {
    uint64_t now = now_ms();
    if (deadline == DX_NEVER)
        return -1;
    uint64_t left = deadline > now ? deadline - now : 0;
    return left > 60000 ? 60000 : (int)left;
}

int main(int argc, char **argv) {
    dx_peer_config config = dx_peer_defaults(dx_framing_named(argv[argc - 1]), DX_SIDE_PLUGIN);
    dx_peer *peer;
    if (dx_peer_new(&config, &peer) != DX_OK) {
        fprintf(stderr, "usage: poll header|line\n");
        return 2;
    }
    fcntl(0, F_SETFL, fcntl(0, F_GETFL) | O_NONBLOCK);
    fcntl(1, F_SETFL, fcntl(1, F_GETFL) | O_NONBLOCK);
    int open = 1;
    while (open || dx_peer_output(peer).len) {
        short want_out = dx_peer_output(peer).len ? POLLOUT : 0;
        struct pollfd fds[2] = {{open ? 0 : -1, POLLIN, 0}, {1, want_out, 0}};
        if (poll(fds, 2, wait_ms(dx_peer_deadline(peer))) < 0 && errno != EINTR)
            break;
        if (fds[0].revents && !read_some(peer)) {
            dx_peer_finish(peer, NULL, now_ms());
            open = 0;
        }
        dx_peer_tick(peer, now_ms());
        for (const dx_event *ev; dx_peer_next(peer, &ev) == DX_OK;)
            handle(peer, ev);
        if (!write_some(peer))
            break;
    }
    dx_peer_free(peer);
    return 0;
}
