/* Documents that a client has open, as runners get to know of them (facts/finecode.md §13, 46 and
 * 49). */
#include "finecode/manager.h"

/* Two projects, one in the other. */
static struct world *world_running(size_t tcp) {
    static const char *const transports[] = {"stdio", "tcp"};
    struct world *world = world_new();
    make_project(world, "p", "a", transports[tcp], "");
    make_project(world, "p/in", "b", transports[tcp], "");
    make_project(world, "q", "c", transports[tcp], "");
    if (tcp) {
        set_spec(world, "p", "a", "{'tcp': ''}");
        set_spec(world, "p/in", "b", "{'tcp': ''}");
        set_spec(world, "q", "c", "{'tcp': ''}");
    }
    world_open(world);
    return world;
}

static void run_all(struct world *world) {
    must_run(world, runner_of(world, "p", "a"));
    must_run(world, runner_of(world, "in", "b"));
    must_run(world, runner_of(world, "q", "c"));
}

static dx_text uri_in(const struct world *world, const char *rest) {
    static char uri[256];
    snprintf(uri, sizeof uri, "file://%s/%s", world->folder, rest);
    return dx_str(uri);
}

static void change(struct world *world, dx_text uri, int64_t version, const char *changes,
                   dx_status expected) {
    yyjson_doc *doc = yyjson_read(changes, strlen(changes), 0);
    assert_non_null(doc);
    assert_int_equal(dx_finecode_wm_change(world->wm, uri, version, yyjson_doc_get_root(doc)),
                     expected);
    yyjson_doc_free(doc);
}

/* Each is told to those whose project it is in, and only to them. */
static void test_told(void **state) {
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct world *world = world_running(i);
        run_all(world);
        dx_text uri = uri_in(world, "p/in/x%20y.c");
        assert_int_equal(dx_finecode_wm_open(world->wm, uri, 0, dx_str("a\xf0\x9f\x99\x82z\n")),
                         DX_OK);
        /* Two UTF-16 units for the second character. */
        change(world, uri, 1,
               "[{\"range\":{\"start\":{\"line\":0,\"character\":3},\"end\":{\"line\":0,"
               "\"character\":4},\"odd\":1},\"rangeLength\":1,\"text\":\"y\",\"odd\":2}]",
               DX_OK);
        change(world, uri, 2, "[{\"text\":\"new\"}]", DX_OK);
        assert_int_equal(dx_finecode_wm_close(world->wm, uri), DX_OK);
        WAIT(world, strstr(trace_of(world, "p", "a"), "didClose") &&
                        strstr(trace_of(world, "p/in", "b"), "didClose"));
        const char *trace = trace_of(world, "p/in", "b");
        must_have(trace, "/p/in/x%20y.c\", \"languageId\": \"\", \"version\": 0, \"text\": "
                         "\"a\\ud83d\\ude42z\\n\"");
        must_have(trace, "\"version\": 1}, \"contentChanges\": [{\"range\": {\"start\": {\"line\": "
                         "0, \"character\": 3}, \"end\": {\"line\": 0, \"character\": 4}}, "
                         "\"text\": \"y\"}]");
        must_have(trace, "\"contentChanges\": [{\"text\": \"new\"}]");
        assert_null(strstr(trace_of(world, "q", "c"), "textDocument"));
        stop(world);
        assert_int_equal(world->broken.len, 0);
        world_free(world);
    }
}

/* The folder was added by one name, and the client calls it by another. */
static void test_link(void **state) {
    struct world *world = world_running(0);
    char link[96];
    (void)state;
    run_all(world);
    (void)snprintf(link, sizeof link, "%s.link", world->folder);
    assert_int_equal(symlink(world->folder, link), 0);
    char uri[128];
    (void)snprintf(uri, sizeof uri, "file://%s.link/p/new/x.c", world->folder);
    assert_int_equal(dx_finecode_wm_open(world->wm, dx_str(uri), 1, dx_str("a")), DX_OK);
    change(world, uri_in(world, "p/new/x.c"), 2, "[{\"text\":\"b\"}]", DX_OK);
    assert_int_equal(dx_finecode_wm_close(world->wm, dx_str(uri)), DX_OK);
    assert_int_equal(dx_finecode_wm_close(world->wm, uri_in(world, "p/new/x.c")), DX_ERR_INVALID);
    assert_int_equal(dx_finecode_wm_open(world->wm, dx_str("file:///x"), 1, dx_str("")), DX_OK);
    assert_int_equal(dx_finecode_wm_open(world->wm, dx_str("file:///"), 1, dx_str("")), DX_OK);
    assert_int_equal(dx_finecode_wm_close(world->wm, dx_str("file:///x")), DX_OK);
    assert_int_equal(dx_finecode_wm_close(world->wm, dx_str("file:///")), DX_OK);
    stop(world);
    must_have(methods_of(world, "p", "a"),
              "textDocument/didOpen textDocument/didChange textDocument/didClose ");
    must_have(trace_of(world, "p", "a"), uri_in(world, "p/new/x.c").at);
    assert_int_equal(unlink(link), 0);
    world_free(world);
}

/* What cannot be is refused, and nothing of it is told. */
static void test_refused(void **state) {
    struct world *world = world_running(0);
    (void)state;
    run_all(world);
    dx_text uri = uri_in(world, "p/x.c");
    change(world, uri, 1, "[{\"text\":\"new\"}]", DX_ERR_INVALID);
    assert_int_equal(dx_finecode_wm_close(world->wm, uri), DX_ERR_INVALID);
    assert_int_equal(dx_finecode_wm_open(world->wm, dx_str("http://x/y"), 1, dx_str("")),
                     DX_ERR_INVALID);
    assert_int_equal(dx_finecode_wm_open(world->wm, dx_str("file://relative"), 1, dx_str("")),
                     DX_ERR_INVALID);
    assert_int_equal(dx_finecode_wm_open(world->wm, dx_str("file:///a%00b"), 1, dx_str("")),
                     DX_ERR_INVALID);
    assert_int_equal(dx_finecode_wm_open(world->wm, uri, 1, dx_str("\xff")), DX_ERR_INVALID);
    assert_int_equal(dx_finecode_wm_open(world->wm, uri, 1, dx_str("abc")), DX_OK);
    change(world, uri, 2, "{}", DX_ERR_INVALID);
    change(world, uri, 2, "[{\"text\":\"x\"},{\"range\":1,\"text\":\"y\"}]", DX_ERR_INVALID);
    change(world, uri, 2, "[7]", DX_ERR_INVALID);
    const dx__finecode_document *document = world->wm->documents.first;
    assert_int_equal(document->text.len, 3);
    assert_int_equal(document->version, 1);
    stop(world);
    assert_null(strstr(trace_of(world, "p", "a"), "didChange"));
    world_free(world);
}

/* 46: who comes later, or anew, gets the text as it is now. */
static void test_opened_again(void **state) {
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct world *world = world_running(i);
        dx_text uri = uri_in(world, "p/x.c");
        assert_int_equal(dx_finecode_wm_open(world->wm, uri, 1, dx_str("one")), DX_OK);
        assert_int_equal(dx_finecode_wm_open(world->wm, uri_in(world, "p/shut.c"), 1, dx_str("")),
                         DX_OK);
        assert_int_equal(dx_finecode_wm_close(world->wm, uri_in(world, "p/shut.c")), DX_OK);
        dx_finecode_runner *runner = runner_of(world, "p", "a");
        must_run(world, runner);
        call(world, runner);
        WAIT(world, world->done.len);
        must_have(methods_of(world, "p", "a"),
                  i ? "resolveActionMeta textDocument/didOpen finecodeRunner/updateLogging "
                      "actions/run "
                    : "resolveActionMeta textDocument/didOpen actions/run ");
        must_have(trace_of(world, "p", "a"), "\"version\": 1, \"text\": \"one\"");
        uri = uri_in(world, "p/x.c");
        change(world, uri, 5, "[{\"text\":\"two\"}]", DX_OK);
        kill(dx_finecode_runner_pid(runner), SIGKILL);
        WAIT(world, is_in(runner, DX_FINECODE_EXITED) && !dx_finecode_runner_pid(runner));
        change(world, uri, 6,
               "[{\"range\":{\"start\":{\"line\":0,\"character\":3},\"end\":{\"line\":0,"
               "\"character\":3}},\"text\":\" three\"}]",
               DX_OK);
        must_run(world, runner);
        stop(world);
        must_have(trace_of(world, "p", "a"), "\"version\": 6, \"text\": \"two three\"");
        assert_null(strstr(trace_of(world, "p", "a"), "shut.c"));
        world_free(world);
    }
}

/* 49: a new configuration makes it forget them. What happens meanwhile counts, too. */
static void test_configured_again(void **state) {
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct world *world = world_running(i);
        dx_finecode_runner *runner = runner_of(world, "p", "a");
        must_run(world, runner);
        assert_int_equal(dx_finecode_wm_open(world->wm, uri_in(world, "p/x.c"), 1, dx_str("one")),
                         DX_OK);
        assert_int_equal(dx_finecode_wm_open(world->wm, uri_in(world, "p/y.c"), 1, dx_str("y")),
                         DX_OK);
        dx__finecode_runner_configure(runner);
        change(world, uri_in(world, "p/x.c"), 2, "[{\"text\":\"two\"}]", DX_OK);
        assert_int_equal(dx_finecode_wm_close(world->wm, uri_in(world, "p/y.c")), DX_OK);
        assert_true(is_in(runner, DX_FINECODE_RUNNING));
        WAIT(world, runner->step == FINECODE_READY);
        change(world, uri_in(world, "p/x.c"), 3, "[{\"text\":\"three\"}]", DX_OK);
        stop(world);
        must_have(methods_of(world, "p", "a"),
                  "textDocument/didOpen textDocument/didOpen finecodeRunner/updateConfig "
                  "textDocument/didClose finecodeRunner/resolveActionMeta textDocument/didOpen "
                  "textDocument/didChange ");
        must_have(trace_of(world, "p", "a"), "\"version\": 2, \"text\": \"two\"");
        world_free(world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_told),
        cmocka_unit_test(test_link),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_opened_again),
        cmocka_unit_test(test_configured_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
