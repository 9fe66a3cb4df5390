/* Two ends of a conversation in one process, for the tests of links and sockets. */
#ifndef UNIT_ENDS_H
#define UNIT_ENDS_H

#include "unit/unit.h"

#include <duplex/link.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>

struct side {
    dx_link *link;
    dx_event *kept;
    int notes, events, strays, violations, closed, done, results, errors, lost, other;
    int64_t code;
    char body[256];
    dx_error why;
};

static struct side host, plugin;
static dx_loop *loop;

static inline uint64_t clock_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static inline int wait_for(const int *counter, int count) {
    uint64_t end = clock_ms() + 5000;
    while (*counter < count && clock_ms() < end) {
        struct pollfd fd = {dx_loop_fd(loop), POLLIN, 0};
        int wait = dx_loop_wait_ms(loop);
        poll(&fd, 1, wait < 0 || wait > 50 ? 50 : wait);
        dx_loop_dispatch(loop);
    }
    return *counter;
}

static inline void turn_for(unsigned ms) {
    uint64_t end = clock_ms() + ms;
    while (clock_ms() < end) {
        struct pollfd fd = {dx_loop_fd(loop), POLLIN, 0};
        poll(&fd, 1, 5);
        dx_loop_dispatch(loop);
    }
}

static inline void on_echo(dx_link *link, const dx_event *event, void *user) {
    assert_ptr_equal(user, dx_link_user(link));
    assert_int_equal(event->kind, DX_EVENT_REQUEST);
    assert_int_equal(dx_link_reply(link, event->request, dx_json_checked(event->body)), DX_OK);
}

static inline void on_refuse(dx_link *link, const dx_event *event, void *user) {
    (void)user;
    dx_link_refuse(link, event->request, 42, dx_str("not today"), dx_json_none());
}

static inline void on_forget(dx_link *link, const dx_event *event, void *user) {
    (void)link;
    (void)event;
    (void)user;
}

static inline void on_keep(dx_link *link, const dx_event *event, void *user) {
    struct side *side = user;
    (void)event;
    assert_int_equal(dx_link_keep(link, &side->kept), DX_OK);
}

static inline void on_note(dx_link *link, const dx_event *event, void *user) {
    struct side *side = user;
    (void)link;
    assert_int_equal(event->kind, DX_EVENT_NOTIFICATION);
    side->notes++;
}

static inline void on_event(dx_link *link, const dx_event *event, void *user) {
    struct side *side = user;
    (void)link;
    side->events++;
    side->strays += event->kind == DX_EVENT_STRAY;
    side->violations += event->kind == DX_EVENT_VIOLATION;
}

static inline void on_closed(dx_link *link, const dx_error *why, void *user) {
    struct side *side = user;
    assert_ptr_equal(link, side->link);
    side->closed++;
    side->why = *why;
}

static inline void on_done(dx_link *link, const dx_event *event, void *user) {
    struct side *side = user;
    (void)link;
    assert_ptr_equal(event->user, user);
    side->done++;
    side->results += event->outcome == DX_OUTCOME_RESULT;
    side->errors += event->outcome == DX_OUTCOME_ERROR;
    side->lost += event->outcome == DX_OUTCOME_LOST;
    side->code = event->code;
    if (event->body.at)
        snprintf(side->body, sizeof side->body, "%.*s", (int)event->body.len, event->body.at);
}

static inline void on_progress(dx_link *link, const dx_event *event, void *user) {
    struct side *side = user;
    (void)link;
    assert_ptr_equal(event->user, user);
    side->other++;
}

static const dx_handler handlers[] = {{"echo", on_echo},     {"refuse", on_refuse},
                                      {"forget", on_forget}, {"keep", on_keep},
                                      {"note", on_note},     {NULL, NULL}};

static inline dx_link_config config_of(struct side *side) {
    dx_link_config config =
        dx_link_defaults(DX_FRAMING_LINE, side == &host ? DX_SIDE_HOST : DX_SIDE_PLUGIN);
    config.handlers = handlers;
    config.on_closed = on_closed;
    config.user = side;
    return config;
}

static inline void open_with(struct side *side, int fd, const dx_link_config *config) {
    dx_error error = {0};
    assert_int_equal(dx_link_open(loop, fd, fd, config, &side->link, &error), DX_OK);
}

static inline void open_side(struct side *side, int fd) {
    dx_link_config config = config_of(side);
    open_with(side, fd, &config);
}

static inline void ask(const char *method, const char *params) {
    dx_link_call_options options = {.peer = {.user = &host}, .on_done = on_done};
    dx_json json = params ? dx_json_text(params, strlen(params)) : dx_json_none();
    assert_int_equal(dx_link_call(host.link, dx_str(method), json, &options, NULL), DX_OK);
}

static inline int set_up_loop(void **state) {
    (void)state;
    memset(&host, 0, sizeof host);
    memset(&plugin, 0, sizeof plugin);
    return dx_loop_new(NULL, &loop, NULL) != DX_OK;
}

static inline int set_up(void **state) {
    int pair[2];
    if (set_up_loop(state) || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
        return 1;
    open_side(&host, pair[0]);
    open_side(&plugin, pair[1]);
    return 0;
}

static inline int tear_down(void **state) {
    (void)state;
    dx_link_free(host.link);
    dx_link_free(plugin.link);
    dx_loop_free(loop);
    dx_event_free(host.kept);
    dx_event_free(plugin.kept);
    return 0;
}

#define pair_test(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
#define loop_test(test) cmocka_unit_test_setup_teardown(test, set_up_loop, tear_down)

#endif
