/* Links and loops that are freed inside of callbacks, in every one there is: F98. */
#include "faults/faults.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

enum where {
    ON_REQUEST,  /* a handler of b's */
    ON_EVENT,    /* b's, for a method without a handler */
    ON_NOTE,     /* a handler of a's, for a notification */
    ON_PROGRESS, /* a's */
    ON_RESULT,   /* a's on_done, … */
    ON_TIMEOUT,
    ON_LOST,
    ON_A_CLOSED,
    ON_B_CLOSED,
    ON_POST,
    WHERES
};

static const char *const wheres[] = {"request", "event", "note",     "progress", "result",
                                     "timeout", "lost",  "a closed", "b closed", "post"};

enum what { LINK_A = 1, LINK_B = 2, LOOP = 4 };

static struct scene {
    dx_loop *loop;
    dx_link *a, *b;
    dx_event *kept[2];
    int keeps;
    enum where where;
    int what, fired;
    int closed; /* of both */
} scene;

/* Called by every callback: `side` says of which link, 0 of none. */
static void reached(enum where where, int side) {
    if (scene.fired && ((scene.what & LOOP) || (scene.what & side)))
        fail("expected no callback after the end, got \"%s\" after freeing %d in \"%s\"",
             wheres[where], scene.what, wheres[scene.where]);
    if (scene.fired || where != scene.where)
        return;
    scene.fired = 1;
    if (scene.what & LINK_A)
        scene.a = dx_link_free(scene.a);
    if (scene.what & LINK_B)
        scene.b = dx_link_free(scene.b);
    if (scene.what & LOOP)
        scene.loop = dx_loop_free(scene.loop);
}

static int lives(int side) {
    return !scene.fired || !(scene.what & (LOOP | side));
}

static const char token[] = "{\"token\":1}";

static void on_request(dx_link *link, const dx_event *event, void *user) {
    (void)user;
    dx_request request = event->request;
    dx_link_notify(link, dx_str("note"), dx_json_none());
    dx_link_notify(link, dx_str("progress"), dx_json_text(token, strlen(token)));
    reached(ON_REQUEST, LINK_B);
    if (lives(LINK_B))
        dx_link_reply(link, request, dx_json_none());
}

static void on_keep(dx_link *link, const dx_event *event, void *user) {
    (void)user;
    (void)event;
    EXPECT(dx_link_keep(link, &scene.kept[scene.keeps++]), ==, DX_OK);
}

static void on_event(dx_link *link, const dx_event *event, void *user) {
    (void)user;
    dx_request request = event->request;
    int side = link == scene.a ? LINK_A : LINK_B;
    reached(ON_EVENT, side);
    if (request && lives(side))
        dx_link_refuse(link, request, 1, dx_str("no"), dx_json_none());
}

static void on_note(dx_link *link, const dx_event *event, void *user) {
    (void)link;
    (void)event;
    (void)user;
    reached(ON_NOTE, LINK_A);
}

static void on_progress(dx_link *link, const dx_event *event, void *user) {
    (void)link;
    (void)event;
    (void)user;
    reached(ON_PROGRESS, LINK_A);
}

static void on_done(dx_link *link, const dx_event *event, void *user) {
    (void)link;
    (void)user;
    reached(event->outcome == DX_OUTCOME_LOST        ? ON_LOST
            : event->outcome == DX_OUTCOME_TIMED_OUT ? ON_TIMEOUT
                                                     : ON_RESULT,
            LINK_A);
    /* The end of it all, for those who are still there. */
    if (event->outcome == DX_OUTCOME_TIMED_OUT && lives(LINK_A) && lives(LINK_B))
        dx_link_close(scene.b);
}

static void on_closed(dx_link *link, const dx_error *why, void *user) {
    (void)link;
    (void)why;
    int side = *(const int *)user;
    scene.closed++;
    reached(side == LINK_A ? ON_A_CLOSED : ON_B_CLOSED, side);
}

static void on_post(void *user) {
    (void)user;
    reached(ON_POST, 0);
}

static dx_link *open_side(int fd, int side) {
    static const int sides[] = {0, LINK_A, LINK_B};
    static const dx_handler of_a[] = {{"note", on_note}, {NULL, NULL}};
    static const dx_handler of_b[] = {{"ask", on_request}, {"keep", on_keep}, {NULL, NULL}};
    dx_link_config config =
        dx_link_defaults(DX_FRAMING_LINE, side == LINK_A ? DX_SIDE_HOST : DX_SIDE_PLUGIN);
    config.peer.progress = (dx_progress_style){"progress", "token", 0};
    config.handlers = side == LINK_A ? of_a : of_b;
    config.on_event = on_event;
    config.on_closed = on_closed;
    config.user = (void *)(uintptr_t)&sides[side];
    dx_link *link = NULL;
    EXPECT(dx_link_open(scene.loop, fd, fd, &config, &link, NULL), ==, DX_OK);
    return link;
}

static void say_everything(void) {
    dx_link_call_options options = {.on_done = on_done, .on_progress = on_progress};
    dx_link_call_options with_token = options;
    with_token.peer.token = dx_str("1");
    dx_link_call(scene.a, dx_str("keep"), dx_json_none(), &options, NULL);
    dx_link_call(scene.a, dx_str("ask"), dx_json_none(), &with_token, NULL);
    dx_link_call(scene.a, dx_str("unknown"), dx_json_none(), &options, NULL);
    dx_link_call(scene.a, dx_str("ask"), dx_json_none(), &options, NULL);
    options.peer.timeout_ms = 30;
    dx_link_call(scene.a, dx_str("keep"), dx_json_none(), &options, NULL);
    dx_loop_post(scene.loop, on_post, NULL);
    dx_loop_post(scene.loop, on_post, NULL);
}

/* By hand as an embedder, or by dx_loop_run(). */
static void play_on(int by_run) {
    uint64_t end = now_ms() + 100 * slow;
    if (by_run && (scene.what & LOOP)) {
        EXPECT(dx_loop_run(scene.loop), ==, DX_OK);
        return;
    }
    while (scene.loop && now_ms() < patience(end) && scene.closed < 2) {
        struct pollfd fd = {dx_loop_fd(scene.loop), POLLIN, 0};
        int wait = dx_loop_wait_ms(scene.loop);
        poll(&fd, 1, wait < 0 || wait > 10 ? 10 : wait);
        dx_loop_dispatch(scene.loop);
    }
}

static void play(enum where where, int what, int by_run) {
    int pair[2];
    scene = (struct scene){.where = where, .what = what, .loop = loop_new()};
    EXPECT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), ==, 0);
    scene.a = open_side(pair[0], LINK_A);
    scene.b = open_side(pair[1], LINK_B);
    say_everything();
    dx_loop *loop = scene.loop;
    play_on(by_run);
    if (!scene.fired)
        fail("expected the callback \"%s\" to come, it did not", wheres[where]);
    /* What was kept outlives everything. */
    for (int i = 0; i < scene.keeps; i++) {
        EXPECT(dx_text_is(scene.kept[i]->method, "keep"), ==, 1);
        dx_event_free(scene.kept[i]);
    }
    if (!(what & LOOP)) {
        dx_link_free(scene.a);
        dx_link_free(scene.b);
        dx_loop_free(loop);
    }
}

FAULT(F98_links, 30, "links and loops may be freed in every callback of a link") {
    for (int where = 0; where < WHERES; where++)
        for (int what = 1; what < 8; what++)
            play((enum where)where, what, 0);
}

FAULT(F98_run, 20, "a loop may be freed in every callback while it runs; the run ends") {
    for (int where = 0; where < WHERES; where++)
        for (int what = LOOP; what < 8; what++)
            play((enum where)where, what, 1);
}

static struct door {
    dx_loop *loop;
    dx_listener *listener;
    int what, fired, link_count;
    dx_link *links[4];
} door;

static void on_connect(dx_listener *listener, int fd, void *user) {
    (void)user;
    if (door.fired)
        fail("expected no connection after the end, got one");
    EXPECT(listener == door.listener, ==, 1);
    door.fired = 1;
    close(fd);
    if (door.what & 1)
        door.listener = dx_listener_free(door.listener);
    if (door.what & 2)
        for (int i = 0; i < door.link_count; i++)
            door.links[i] = dx_link_free(door.links[i]);
    if (door.what & LOOP)
        door.loop = dx_loop_free(door.loop);
}

static void knock(int what, dx_framing framing) {
    door = (struct door){.what = what, .loop = loop_new()};
    dx_listener_config listening = {.on_connect = on_connect, .framing = framing};
    EXPECT(dx_listener_open(door.loop, "tcp:0", &listening, &door.listener, NULL), ==, DX_OK);
    char address[32];
    snprintf(address, sizeof address, "tcp:%u", dx_listener_port(door.listener));
    dx_link_config config = dx_link_defaults(DX_FRAMING_LINE, DX_SIDE_HOST);
    for (; door.link_count < 4; door.link_count++) {
        dx_link **link = &door.links[door.link_count];
        EXPECT(dx_link_connect(door.loop, address, &config, link, NULL), ==, DX_OK);
        EXPECT(dx_link_notify(*link, dx_str("note"), dx_json_none()), ==, DX_OK);
    }
    uint64_t end = now_ms() + 1000;
    while (door.loop && !door.fired && now_ms() < patience(end)) {
        struct pollfd fd = {dx_loop_fd(door.loop), POLLIN, 0};
        poll(&fd, 1, 50);
        dx_loop_dispatch(door.loop);
    }
    EXPECT(door.fired, ==, 1);
    if (door.loop && (what & 1))
        turn_for(door.loop, 20);
    dx_loop_free(door.loop);
}

FAULT(F98_listener, 10, "a listener, its links and its loop may be freed when somebody connects") {
    for (int what = 1; what < 8; what++)
        if (what & (1 | LOOP)) {
            knock(what, (dx_framing)0);
            knock(what, DX_FRAMING_LINE);
        }
}

static void dispatch_again(void *user) {
    int *depth = user;
    if (++*depth > 1)
        fail("expected a dispatch inside of a dispatch to do nothing, it ran a post");
    dx_loop_post(scene.loop, dispatch_again, user);
    dx_loop_dispatch(scene.loop);
    dx_loop_dispatch(scene.loop);
    *depth = 0;
    scene.fired++;
}

FAULT(F98_dispatch_inside, 5, "a dispatch inside of a callback does nothing") {
    int depth = 0;
    scene = (struct scene){.loop = loop_new()};
    dx_loop_post(scene.loop, dispatch_again, &depth);
    for (int i = 0; i < 10; i++)
        dx_loop_dispatch(scene.loop);
    EXPECT(scene.fired, >=, 2);
    dx_loop_free(scene.loop);
}
