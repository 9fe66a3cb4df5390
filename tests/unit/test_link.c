/* Links: handlers, answers, ends. */
#include "unit/ends.h"

static void answers(void **state) {
    (void)state;
    assert_ptr_equal(dx_link_loop(host.link), loop);
    ask("echo", "{\"a\":[1,2]}");
    assert_int_equal(wait_for(&host.done, 1), 1);
    assert_int_equal(host.results, 1);
    assert_string_equal(host.body, "{\"a\":[1,2]}");
    ask("refuse", NULL);
    assert_int_equal(wait_for(&host.errors, 1), 1);
    assert_int_equal(host.code, 42);
    ask("unknown", NULL);
    assert_int_equal(wait_for(&host.errors, 2), 2);
    assert_int_equal(host.code, DX_CODE_METHOD);
    ask("forget", NULL);
    assert_int_equal(wait_for(&host.errors, 3), 3);
    assert_int_equal(host.code, DX_CODE_INTERNAL);
    dx_link_notify(host.link, dx_str("note"), dx_json_none());
    assert_int_equal(wait_for(&plugin.notes, 1), 1);
    /* One that nobody takes is nobody's business. */
    dx_link_notify(host.link, dx_str("unknown"), dx_json_none());
    ask("echo", "[7]");
    assert_int_equal(wait_for(&host.results, 2), 2);
    assert_int_equal(dx_link_statistics(host.link).calls, 5);
    assert_int_equal(dx_link_statistics(plugin.link).requests, 5);
}

static void both_ways(void **state) {
    (void)state;
    dx_link_call_options options = {.peer = {.user = &plugin}, .on_done = on_done};
    ask("echo", "[1]");
    assert_int_equal(
        dx_link_call(plugin.link, dx_str("echo"), dx_json_text("[2]", 3), &options, NULL), DX_OK);
    wait_for(&host.results, 1);
    wait_for(&plugin.results, 1);
    assert_string_equal(host.body, "[1]");
    assert_string_equal(plugin.body, "[2]");
}

static void keeps_a_request(void **state) {
    (void)state;
    ask("keep", "[3]");
    for (int i = 0; i < 20 && !plugin.kept; i++)
        turn_for(5);
    assert_non_null(plugin.kept);
    turn_for(20);
    assert_int_equal(host.done, 0);
    assert_true(dx_text_is(plugin.kept->body, "[3]"));
    assert_int_equal(
        dx_link_reply(plugin.link, plugin.kept->request, dx_json_checked(plugin.kept->body)),
        DX_OK);
    assert_int_equal(wait_for(&host.results, 1), 1);
    assert_int_equal(dx_link_reply(plugin.link, plugin.kept->request, dx_json_none()), DX_GONE);
}

/* Freed unanswered, outside of any callback: it is answered all the same. */
static void frees_a_kept_request(void **state) {
    (void)state;
    ask("keep", "[3]");
    for (int i = 0; i < 20 && !plugin.kept; i++)
        turn_for(5);
    assert_non_null(plugin.kept);
    uint64_t before = clock_ms();
    plugin.kept = dx_event_free(plugin.kept);
    assert_int_equal(wait_for(&host.errors, 1), 1);
    assert_true(clock_ms() - before < 3000); /* not only when it is idle */
    assert_int_equal(host.code, DX_CODE_INTERNAL);
}

static void cancels(void **state) {
    (void)state;
    dx_link_call_options options = {.peer = {.user = &host}, .on_done = on_done};
    dx_call call = 0;
    assert_int_equal(dx_link_call(host.link, dx_str("keep"), dx_json_none(), &options, &call),
                     DX_OK);
    assert_int_equal(dx_link_cancel(host.link, call, dx_str(NULL)), DX_OK);
    assert_int_equal(wait_for(&host.done, 1), 1);
    assert_int_equal(dx_link_cancel(host.link, call, dx_str(NULL)), DX_GONE);
}

/* A call without functions, and without options, is a call like any other. */
static void calls_without_functions(void **state) {
    (void)state;
    dx_link_call_options none = {0};
    assert_int_equal(dx_link_call(host.link, dx_str("echo"), dx_json_none(), NULL, NULL), DX_OK);
    assert_int_equal(dx_link_call(host.link, dx_str("echo"), dx_json_none(), &none, NULL), DX_OK);
    ask("echo", NULL);
    assert_int_equal(wait_for(&host.results, 1), 1);
    assert_int_equal(dx_link_statistics(host.link).results, 3);
    assert_int_equal(dx_link_call(host.link, dx_str("echo"), dx_json_text("7", 1), NULL, NULL),
                     DX_ERR_INVALID);
}

static void tells_progress(void **state) {
    (void)state;
    int pair[2];
    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair);
    dx_link_config config = config_of(&host);
    config.peer.progress = (dx_progress_style){"progress", "token", 0};
    open_with(&host, pair[0], &config);
    dx_link_call_options options = {.peer = {.user = &host, .token = dx_str("9")},
                                    .on_done = on_done,
                                    .on_progress = on_progress};
    dx_link_call(host.link, dx_str("x"), dx_json_none(), &options, NULL);
    static const char text[] =
        "{\"jsonrpc\":\"2.0\",\"method\":\"progress\",\"params\":{\"token\":9}}\n"
        "{\"jsonrpc\":\"2.0\",\"method\":\"progress\",\"params\":{\"token\":9}}\n"
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":1}\n";
    assert_int_equal(write(pair[1], text, sizeof text - 1), sizeof text - 1);
    wait_for(&host.done, 1);
    assert_int_equal(host.other, 2);
    assert_int_equal(host.results, 1);
    close(pair[1]);
}

static void tells_events(void **state) {
    (void)state;
    int pair[2];
    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair);
    dx_link_config config = config_of(&host);
    config.on_event = on_event;
    open_with(&host, pair[0], &config);
    static const char text[] = "stray words\n{\"jsonrpc\":\"2.0\"}\n"
                               "{\"jsonrpc\":\"2.0\",\"method\":\"news\"}\n"
                               "{\"jsonrpc\":\"2.0\",\"method\":\"note\"}\n";
    assert_int_equal(write(pair[1], text, sizeof text - 1), sizeof text - 1);
    wait_for(&host.notes, 1);
    assert_int_equal(host.strays + host.violations, 2);
    assert_int_equal(host.events, 3);
    close(pair[1]);
}

static void closes(void **state) {
    (void)state;
    ask("echo", "[1]");
    ask("keep", NULL);
    wait_for(&host.results, 1);
    dx_link_notify(plugin.link, dx_str("note"), dx_json_none());
    dx_link_close(plugin.link);
    dx_link_close(plugin.link);
    assert_int_equal(dx_link_notify(plugin.link, dx_str("note"), dx_json_none()), DX_CLOSED);
    wait_for(&host.closed, 1);
    wait_for(&plugin.closed, 1);
    turn_for(20);
    assert_int_equal(host.notes, 1); /* what was said before it closed has arrived */
    assert_int_equal(host.lost, 1);
    assert_int_equal(host.closed, 1);
    assert_int_equal(plugin.closed, 1);
    assert_int_equal(host.why.fault, DX_FAULT_NONE);
    assert_int_equal(plugin.why.fault, DX_FAULT_NONE);
    assert_int_equal(dx_link_call(host.link, dx_str("x"), dx_json_none(), NULL, NULL), DX_CLOSED);
    assert_int_equal(dx_link_notify(host.link, dx_str("x"), dx_json_none()), DX_CLOSED);
    dx_link_close(host.link);
    turn_for(20);
    assert_int_equal(host.closed, 1);
}

/* Much is left to say when it closes; all of it arrives. */
static void drains(void **state) {
    (void)state;
    enum { COUNT = 5000 };
    for (int i = 0; i < COUNT; i++) {
        static const char fill[] = "[\"0123456789012345678901234567890123456789\"]";
        assert_int_equal(
            dx_link_notify(plugin.link, dx_str("note"), dx_json_text(fill, sizeof fill - 1)),
            DX_OK);
    }
    dx_link_close(plugin.link);
    assert_int_equal(wait_for(&host.notes, COUNT), COUNT);
    assert_int_equal(wait_for(&host.closed, 1), 1);
    assert_int_equal(wait_for(&plugin.closed, 1), 1);
}

/* … unless nobody reads: then it is over after drain_ms. */
static void drains_not_for_ever(void **state) {
    (void)state;
    int pair[2];
    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair);
    dx_link_config config = config_of(&host);
    config.drain_ms = 100;
    open_with(&host, pair[0], &config);
    static char fill[1 << 20];
    memset(fill, ' ', sizeof fill);
    memcpy(fill, "[]", 2);
    dx_link_notify(host.link, dx_str("note"), dx_json_text(fill, sizeof fill));
    ask("x", NULL);
    uint64_t begin = clock_ms();
    dx_link_close(host.link);
    assert_int_equal(wait_for(&host.closed, 1), 1);
    assert_true(clock_ms() - begin >= 90 && clock_ms() - begin < 2000);
    assert_int_equal(host.lost, 1);
    close(pair[1]);
}

static void frees_without_a_word(void **state) {
    (void)state;
    ask("keep", NULL);
    ask("echo", NULL);
    assert_null(dx_link_free(host.link));
    host.link = NULL;
    assert_int_equal(wait_for(&plugin.closed, 1), 1);
    assert_int_equal(host.done + host.closed, 0);
    assert_null(dx_link_free(NULL));
}

static void refuses_what_cannot_be(void **state) {
    (void)state;
    int fds[2];
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    dx_link_config config = config_of(&host);
    dx_error error = {0};
    config.peer.message_max = 0;
    assert_int_equal(dx_link_open(loop, fds[0], fds[1], &config, &host.link, NULL), DX_ERR_INVALID);
    config = config_of(&host);
    assert_int_equal(dx_link_open(loop, -1, fds[1], &config, &host.link, &error), DX_ERR_SYSTEM);
    assert_int_equal(error.system, EBADF);
    assert_int_equal(dx_link_open(loop, fds[0], 4000, &config, &host.link, &error), DX_ERR_SYSTEM);
    assert_null(host.link);
    assert_int_equal(close(fds[0]) + close(fds[1]), 0); /* still ours */
}

static void no_memory(void **state) {
    (void)state;
    struct unit_memory memory = {0};
    dx_allocator alloc = unit_allocator(&memory);
    dx_loop *other;
    assert_int_equal(dx_loop_new(&alloc, &other, NULL), DX_OK);
    dx_link_config config = config_of(&host);
    dx_status status = DX_ERR_NOMEM;
    for (size_t more = 1; status != DX_OK; more++) {
        int pair[2];
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
        memory.fail_at = memory.count + more;
        dx_link *link = NULL;
        status = dx_link_open(other, pair[0], pair[0], &config, &link, NULL);
        memory.fail_at = 0;
        if (status == DX_OK) {
            assert_true(more > 2);
            dx_link_free(link);
        } else {
            assert_int_equal(status, DX_ERR_NOMEM);
            assert_null(link);
            assert_int_equal(close(pair[0]), 0);
        }
        close(pair[1]);
    }
    dx_loop_free(other);
    assert_int_equal(memory.blocks, 0);
}

/* F11: memory follows what has come, not what a header promises. */
static void a_promise_takes_no_room(void **state) {
    (void)state;
    static const char promise[] = "Content-Length: 67108864\r\n\r\n0123456789";
    struct unit_memory memory = {0};
    dx_allocator alloc = unit_allocator(&memory);
    dx_loop *other;
    dx_link *link;
    int pair[2];
    assert_int_equal(dx_loop_new(&alloc, &other, NULL), DX_OK);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    dx_link_config config = dx_link_defaults(DX_FRAMING_HEADER, DX_SIDE_HOST);
    config.peer.allocator = &alloc;
    assert_int_equal(dx_link_open(other, pair[0], pair[0], &config, &link, NULL), DX_OK);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(write(pair[1], i ? "more" : promise, i ? 4 : sizeof promise - 1),
                         i ? 4 : sizeof promise - 1);
        dx_loop_dispatch(other);
    }
    assert_int_equal(dx_link_statistics(link).bytes_in, sizeof promise - 1 + 8);
    assert_true(memory.peak < 3 << 20);
    dx_loop_free(other);
    close(pair[1]);
    assert_int_equal(memory.blocks, 0);
}

static void nobody_to_talk_to(void **state) {
    (void)state;
    assert_int_equal(dx_link_call(NULL, dx_str("m"), dx_json_none(), NULL, NULL), DX_CLOSED);
    assert_int_equal(dx_link_notify(NULL, dx_str("m"), dx_json_none()), DX_CLOSED);
    assert_int_equal(dx_link_send(NULL, dx_str("{}")), DX_CLOSED);
    assert_int_equal(dx_link_cancel(NULL, 1, dx_str(NULL)), DX_CLOSED);
    assert_int_equal(dx_link_reply(NULL, 1, dx_json_none()), DX_CLOSED);
    assert_int_equal(dx_link_refuse(NULL, 1, 1, dx_str("no"), dx_json_none()), DX_CLOSED);
    dx_event *event = NULL;
    assert_int_equal(dx_link_keep(NULL, &event), DX_CLOSED);
    dx_link_close(NULL);
    assert_null(dx_link_free(NULL));
    assert_null(dx_link_loop(NULL));
    assert_null(dx_link_user(NULL));
    assert_int_equal(dx_link_statistics(NULL).bytes_in, 0);
    assert_int_equal(dx_link_framing(NULL), 0);
    assert_int_equal(dx_link_waiting(NULL), 0);
    assert_non_null(dx_link_why(NULL));
}

/* A request that outlives the conversation is answered to nobody. */
static void answers_nobody(void **state) {
    (void)state;
    ask("keep", NULL);
    while (!plugin.kept)
        turn_for(5);
    dx_link_close(plugin.link);
    wait_for(&plugin.closed, 1);
    dx_request request = plugin.kept->request;
    assert_int_equal(dx_link_reply(plugin.link, request, dx_json_none()), DX_CLOSED);
    assert_int_equal(dx_link_refuse(plugin.link, request, 1, dx_str("no"), dx_json_none()),
                     DX_CLOSED);
    assert_int_equal(dx_link_waiting(plugin.link), 0);
    plugin.kept = dx_event_free(plugin.kept);
    assert_int_equal(dx_link_waiting(plugin.link), 0);
    turn_for(20);
    assert_int_equal(host.lost, 1);
}

/* Who closes while a message comes has not been told half of it by mistake. */
static void closes_in_the_middle(void **state) {
    (void)state;
    static const struct {
        dx_framing framing;
        const char *half;
    } rows[] = {{DX_FRAMING_LINE, "{\"jsonrpc\":\"2.0\",\"id\""},
                {DX_FRAMING_HEADER, "Content-Length: 40\r\n\r\n{\"jsonrpc\""},
                {DX_FRAMING_HEADER, "Content-Le"}};
    for (size_t i = 0; i < LENGTH(rows); i++)
        for (int own = 0; own < 2; own++) {
            int pair[2];
            dx_link_config config = config_of(&host);
            config.peer.framing = rows[i].framing;
            memset(&host, 0, sizeof host);
            assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
            open_with(&host, pair[0], &config);
            ask("x", NULL);
            assert_true(write(pair[1], rows[i].half, strlen(rows[i].half)) > 0);
            turn_for(20);
            if (own)
                dx_link_close(host.link);
            else
                shutdown(pair[1], SHUT_WR);
            assert_int_equal(wait_for(&host.closed, 1), 1);
            assert_int_equal(host.why.fault, own ? DX_FAULT_NONE : DX_FAULT_TRUNCATED);
            assert_int_equal(host.lost, 1);
            host.link = dx_link_free(host.link);
            close(pair[1]);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_to_talk_to),
        cmocka_unit_test(a_promise_takes_no_room),
        pair_test(answers),
        pair_test(both_ways),
        pair_test(keeps_a_request),
        pair_test(frees_a_kept_request),
        pair_test(cancels),
        pair_test(calls_without_functions),
        loop_test(tells_progress),
        loop_test(tells_events),
        pair_test(closes),
        pair_test(answers_nobody),
        loop_test(closes_in_the_middle),
        pair_test(drains),
        loop_test(drains_not_for_ever),
        pair_test(frees_without_a_word),
        loop_test(refuses_what_cannot_be),
        loop_test(no_memory),
    };
    return cmocka_run_group_tests_name("link", tests, NULL, NULL);
}
