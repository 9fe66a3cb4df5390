/* Windows and dialogs of extensions, and their commands. */
#include "hermes/host.h"

#define OPEN(id, url) \
    "{'id': " id ", 'method': 'ui/openWindow', 'params': {'url': '" url "', 'title': 't'}}"
#define SHOW(id) "{'id': " id ", 'method': 'ui/showMessage', 'params': {'message': 'm'}}"

static struct world *begin(const char *revision, const char *spec) {
    struct world *world = world_new();
    world->config.revision = revision;
    world_open(world);
    dx_hermes_guest *guest = world_add(world, spec);
    wait_state(world, guest, DX_HERMES_RUNNING);
    return world;
}

static bool is_id(const char *id) {
    static const char form[] = "ext-window-xxxxxxxx-xxxx-4xxx-vxxx-xxxxxxxxxxxx";
    for (size_t i = 0; i < sizeof form; i++) {
        const char *set = form[i] == 'x' ? "0123456789abcdef" : form[i] == 'v' ? "89ab" : NULL;
        if (set && i >= 11 ? !id[i] || !strchr(set, id[i]) : id[i] != form[i])
            return false;
    }
    return true;
}

static void test_windows(void **state) {
    struct world *world = begin(
        NULL,
        "{'go': {'go': [" OPEN(
            "1",
            "http://a/") ", {'id': 2, 'method': 'ui/openWindow', "
                         "'params': {'url': 'HTTPS://b', 'title': 'B\\u0000c', 'width': 0, "
                         "'height': "
                         "4294967295, 'modal': true, 'resizable': false}}, {'id': 3, 'method': "
                         "'ui/openWindow', 'params': {'url': 'http://c', 'title': '', 'width': "
                         "null, "
                         "'height': null, 'modal': null, 'resizable': null}}]}}");
    (void)state;
    run(world, "go", 3);
    const dx_hermes_window *first = dx_hermes_window_at(world->editor, 0);
    const dx_hermes_window *second = dx_hermes_window_at(world->editor, 1);
    const dx_hermes_window *third = dx_hermes_window_at(world->editor, 2);
    assert_null(dx_hermes_window_at(world->editor, 3));
    assert_true(is_id(first->id) && is_id(second->id) && is_id(third->id));
    assert_string_not_equal(first->id, second->id);
    assert_string_equal(first->url, "http://a/");
    assert_string_equal(first->title, "t");
    assert_int_equal(first->width, 800);
    assert_int_equal(first->height, 600);
    assert_false(first->modal);
    assert_true(first->resizable);
    assert_ptr_equal(first->guest, dx_hermes_guest_at(world->editor, 0));
    assert_string_equal(second->title, "B");
    assert_int_equal(second->width, 0);
    assert_int_equal(second->height, UINT32_MAX);
    assert_true(second->modal);
    assert_false(second->resizable);
    assert_int_equal(third->width, 800);
    assert_true(third->resizable);
    char id[64];
    snprintf(id, sizeof id, "%s", second->id);
    assert_int_equal(dx_hermes_window_closed(world->editor, id), DX_OK);
    assert_int_equal(dx_hermes_window_closed(world->editor, id), DX_GONE);
    must_have(&world->sent, "\"method\":\"window/closed\",\"params\":{\"reason\":\"user\","
                            "\"windowId\":\"ext-window-");
    assert_false(is_here(&world->windows, "close")); /* the user did it */
    stop(world);
    assert_int_equal(count_of(&world->windows, "shutdown\n"), 2);
    assert_int_equal(count_of(&world->sent, "\"reason\":\"shutdown\""), 2);
    assert_true(strstr(world->sent.text, "\"reason\":\"shutdown\"") <
                strstr(world->sent.text, "\"method\":\"shutdown\""));
    assert_null(dx_hermes_window_at(world->editor, 0));
    world_free(world);
}

/* Row 28 of the facts. */
static void test_windows_refused(void **state) {
    struct world *world = begin(
        NULL,
        "{'go': {'go': [" OPEN("1", "file:///etc/passwd") "," OPEN("2", "http://a b") "," OPEN(
            "3", "http://refused") "," OPEN("4", "http://refused/silently") "]}}");
    (void)state;
    run(world, "go", 4);
    must_have(&world->sent,
              "\"id\":1,\"error\":{\"code\":-32007,\"message\":\"Invalid URL\",\"data\":"
              "\"the scheme must be http or https\"}");
    must_have(&world->sent, "\"id\":2,\"error\":{\"code\":-32007,");
    must_have(&world->sent,
              "\"id\":3,\"error\":{\"code\":-32008,\"message\":\"Window error\",\"data\":"
              "\"not today\"}");
    must_have(&world->sent, "\"id\":4,\"error\":{\"code\":-32008,");
    assert_null(dx_hermes_window_at(world->editor, 0));
    world_free(world);
    world = begin("exact", "{'go': {'go': [" OPEN("1", "file:///etc/passwd") "," OPEN(
                               "2", "http://a b") "," OPEN("3", "http://a") "]}}");
    run(world, "go", 3);
    must_have(&world->sent, "\"id\":1,\"error\":{\"code\":-32007,\"message\":\"URL scheme must be "
                            "http or https\"}");
    must_have(&world->sent, "\"id\":2,\"error\":{\"code\":-32007,\"message\":\"Invalid URL: ");
    /* H22: the real editor never tells that a window was closed. */
    assert_int_equal(
        dx_hermes_window_closed(world->editor, dx_hermes_window_at(world->editor, 0)->id), DX_OK);
    stop(world);
    assert_false(is_here(&world->sent, "window/closed"));
    world_free(world);
}

static void test_window_limits(void **state) {
    struct world *world = world_new();
    char spec[12000] =
        "{'go': {'go': [" OPEN("1", "http://a") "," OPEN("2", "http://b") "], 'title': "
                                                                          "[";
    (void)state;
    world->config.windows_max = 1;
    world_open(world);
    snprintf(
        spec + strlen(spec), sizeof spec - strlen(spec),
        "{'id': 3, 'method': 'ui/openWindow', 'params': {'url': 'http://a', 'title': '%04096d'}"
        "}, {'id': 4, 'method': 'ui/openWindow', 'params': {'url': 'http://a', 'title': ''}}], "
        "'long': [{'id': 5, 'method': 'ui/openWindow', 'params': {'url': 'http://a', 'title': "
        "'%04097d'}}]}}",
        0, 0);
    dx_hermes_guest *guest = world_add(world, spec);
    wait_state(world, guest, DX_HERMES_RUNNING);
    run(world, "go", 2);
    must_have(&world->sent, "\"id\":1,\"result\"");
    must_have(&world->sent, "\"id\":2,\"error\":{\"code\":-32008,");
    must_have(&world->sent, "too many windows");
    assert_int_equal(
        dx_hermes_window_closed(world->editor, dx_hermes_window_at(world->editor, 0)->id), DX_OK);
    assert_int_equal(dx_hermes_run(world->editor, dx_str("title"), NULL), DX_OK);
    WAIT(world, is_here(&world->sent, "\"id\":4,"));
    must_have(&world->sent, "\"id\":3,\"result\""); /* 4096 bytes are not too long */
    must_have(&world->sent, "\"id\":4,\"error\"");
    assert_int_equal(
        dx_hermes_window_closed(world->editor, dx_hermes_window_at(world->editor, 0)->id), DX_OK);
    assert_int_equal(dx_hermes_run(world->editor, dx_str("long"), NULL), DX_OK);
    WAIT(world, is_here(&world->sent, "the title is too long"));
    world_free(world);
}

/* H29. */
static void test_close_window(void **state) {
    struct world *world = begin(NULL, "{'go': {'open': [" OPEN("1", "http://a") "]}}");
    char spec[300];
    (void)state;
    run(world, "open", 1);
    const char *id = dx_hermes_window_at(world->editor, 0)->id;
    snprintf(
        spec, sizeof spec,
        "{'go': {'other': [{'id': 5, 'method': 'ui/closeWindow', 'params': {'windowId': '%s'}}, "
        "{'id': 6, 'method': 'ui/closeWindow', 'params': {'windowId': 'x'}}]}}",
        id);
    wait_state(world, world_add(world, spec), DX_HERMES_RUNNING);
    run(world, "other", 2);
    must_have(&world->sent, "\"id\":5,\"error\":{\"code\":-32008,");
    must_have(&world->sent, "\"id\":6,\"result\":{\"success\":true}");
    assert_non_null(dx_hermes_window_at(world->editor, 0));
    world_free(world);
    /* One's own: the child asks for it when it hears of the window. */
    world = world_new();
    world_open(world);
    const char *args[] = {
        "-c",
        OWN_CHILD "say({'id':1,'method':'ui/openWindow','params':{'url':'http://a','title':''}})\n"
                  "say({'id':2,'method':'ui/"
                  "closeWindow','params':{'windowId':hear()['result']['windowId']}})\n"
                  "print('got',hear(),hear(),file=sys.stderr)\n"
                  "say({'id':hear()['id'],'result':None})\n",
        NULL};
    assert_int_equal(dx_hermes_add(world->editor,
                                   &(dx_hermes_entry){.path = "/usr/bin/python3", .args = args},
                                   NULL, NULL),
                     DX_OK);
    WAIT(world, is_here(&world->log, "got "));
    must_have(&world->windows, "extension\n");
    must_have(&world->sent, "\"params\":{\"reason\":\"extension\",\"windowId\":\"ext-window-");
    assert_null(dx_hermes_window_at(world->editor, 0));
    stop(world);
    world_free(world);
}

#define DIALOGS                                                                                    \
    "{'go': {'go': [" SHOW("1") ", {'id': 2, 'method': 'ui/showConfirm', 'params': {'message': "   \
                                "'m'}}, {'id': 3, 'method': 'ui/openFile', 'params': {}}, {'id': " \
                                "4, 'method': 'ui/openFiles', 'params': {}}, {'id': 5, 'method': " \
                                "'ui/saveFile', 'params': {}}, {'id': 6, 'method': "               \
                                "'ui/selectDirectory', 'params': {}}, {'id': 7, 'method': "        \
                                "'editor/getMessage', 'params': {'format': 'hl7'}}, {'id': 8, "    \
                                "'method': 'ui/openFile'}]}}"

static void test_dialogs(void **state) {
    static const char *const methods[] = {"ui/showMessage", "ui/showConfirm", "ui/openFile",
                                          "ui/openFiles",   "ui/saveFile",    "ui/selectDirectory"};
    static const char *const paths[] = {"/a", "/\xc3\xa9", NULL};
    struct world *world = begin(NULL, DIALOGS);
    (void)state;
    run(world, "go", 2); /* one after them, and one without params: both at once */
    must_have(&world->sent, "\"id\":7,\"result\"");
    must_have(&world->sent, "\"id\":8,\"error\":{\"code\":-32602,");
    assert_int_equal(world->dialog_count, 6);
    assert_int_equal(dx_hermes_guest_open(dx_hermes_guest_at(world->editor, 0)), 6);
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(dx_hermes_dialog_kind_of(world->dialogs[i]), DX_HERMES_SHOW_MESSAGE + i);
        assert_string_equal(dx_hermes_dialog_method(world->dialogs[i]), methods[i]);
        assert_ptr_equal(dx_hermes_dialog_guest(world->dialogs[i]),
                         dx_hermes_guest_at(world->editor, 0));
        assert_true(yyjson_is_obj(dx_hermes_dialog_params(world->dialogs[i])));
    }
    for (size_t i = 6; i-- > 0;) /* in any order */
        dx_hermes_dialog_answer(world->dialogs[i], 1, paths);
    WAIT(world, count_of(&world->log, "got ") == 8);
    must_have(&world->sent, "\"id\":1,\"result\":{\"acknowledged\":true}");
    must_have(&world->sent, "\"id\":2,\"result\":{\"confirmed\":true}");
    must_have(&world->sent, "\"id\":3,\"result\":{\"path\":\"/a\"}");
    must_have(&world->sent, "\"id\":4,\"result\":{\"paths\":[\"/a\",\"/\xc3\xa9\"]}");
    must_have(&world->sent, "\"id\":5,\"result\":{\"path\":\"/a\"}");
    must_have(&world->sent, "\"id\":6,\"result\":{\"path\":\"/a\"}");
    world->dialog_count = 0;
    run(world, "go", 2);
    for (size_t i = 0; i < 5; i++)
        dx_hermes_dialog_answer(world->dialogs[i], 0, NULL);
    dx_hermes_dialog_fail(world->dialogs[5], "no screen");
    WAIT(world, count_of(&world->log, "got ") == 16);
    assert_int_equal(count_of(&world->sent, "\"id\":1,\"result\":{\"acknowledged\":true}"), 2);
    must_have(&world->sent, "\"id\":2,\"result\":{\"confirmed\":false}");
    must_have(&world->sent, "\"id\":3,\"result\":{\"path\":null}");
    must_have(&world->sent, "\"id\":4,\"result\":{\"paths\":null}");
    must_have(&world->sent, "\"id\":6,\"error\":{\"code\":-32012,\"message\":\"Dialogue error\","
                            "\"data\":\"no screen\"}");
    assert_int_equal(dx_hermes_guest_open(dx_hermes_guest_at(world->editor, 0)), 0);
    /* A shutdown does not wait for the user. */
    world->dialog_count = 0;
    run(world, "go", 2);
    stop(world);
    assert_int_equal(world->dialogs_gone, 6);
    world_free(world);
}

static void test_dialogs_by_nobody(void **state) {
    struct world *world = world_new();
    (void)state;
    world->config.on_dialog = NULL;
    world_open(world);
    wait_state(world, world_add(world, DIALOGS), DX_HERMES_RUNNING);
    run(world, "go", 8);
    must_have(&world->sent, "\"id\":1,\"result\":{\"acknowledged\":true}");
    must_have(&world->sent, "\"id\":2,\"result\":{\"confirmed\":false}");
    must_have(&world->sent, "\"id\":4,\"result\":{\"paths\":null}");
    must_have(&world->sent, "\"id\":6,\"result\":{\"path\":null}");
    world_free(world);
}

/* H17: one after the other, in the order in which they came. */
static void test_dialogs_exact(void **state) {
    struct world *world = begin("exact", DIALOGS);
    (void)state;
    assert_int_equal(dx_hermes_run(world->editor, dx_str("go"), NULL), DX_OK);
    WAIT(world, dx_hermes_guest_open(dx_hermes_guest_at(world->editor, 0)) == 8);
    for (size_t i = 0; i < 6; i++) {
        WAIT(world, world->dialog_count > i && count_of(&world->log, "got ") >= i);
        pause_ms(world, 10);
        assert_int_equal(world->dialog_count, i + 1);
        assert_int_equal(count_of(&world->log, "got "), i);
        dx_hermes_dialog_answer(world->dialogs[i], 1, NULL);
    }
    WAIT(world, count_of(&world->log, "got ") == 8);
    must_have(&world->log, "missing params");
    world->dialog_count = 0;
    assert_int_equal(dx_hermes_run(world->editor, dx_str("go"), NULL), DX_OK);
    WAIT(world, dx_hermes_guest_open(dx_hermes_guest_at(world->editor, 0)) == 8);
    dx_hermes_disable(dx_hermes_guest_at(world->editor, 0));
    assert_int_equal(dx_hermes_guest_open(dx_hermes_guest_at(world->editor, 0)), 0);
    wait_state(world, dx_hermes_guest_at(world->editor, 0), DX_HERMES_STOPPED);
    assert_int_equal(world->dialogs_gone, 1); /* the others were never shown */
    world_free(world);
}

static void answer_at_once(dx_hermes *editor, dx_hermes_dialog *dialog, void *user) {
    on_dialog(editor, dialog, user);
    dx_hermes_dialog_answer(dialog, 1, NULL);
}

static void test_dialogs_at_once(void **state) {
    static const char *const revisions[] = {NULL, "exact"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct world *world = world_new();
        world->config.revision = revisions[i];
        world->config.on_dialog = answer_at_once;
        world_open(world);
        wait_state(world, world_add(world, DIALOGS), DX_HERMES_RUNNING);
        run(world, "go", 8);
        assert_int_equal(world->dialog_count, 6);
        world_free(world);
    }
}

static void test_dialog_limits(void **state) {
    struct world *world = begin(
        NULL, "{'go': {'go': [{'times': 101, 'message': {'method': 'ui/showMessage', 'params': "
              "{'message': 'm'}}}], 'fits': [{'id': 1, 'method': 'ui/showMessage', 'pad': "
              "['message', 1048643], 'params': {'message': ''}}], 'long': [{'id': 1, 'method': "
              "'ui/showMessage', 'pad': ['message', 1048644], 'params': {'message': ''}}]}}");
    (void)state;
    run(world, "go", 1);
    assert_int_equal(world->dialog_count, 100);
    must_have(&world->sent, "\"id\":\"n-100\",\"error\":{\"code\":-32012,");
    for (size_t i = 0; i < 100; i++)
        dx_hermes_dialog_answer(world->dialogs[i], 1, NULL);
    WAIT(world, count_of(&world->log, "got ") == 101);
    world->dialog_count = 0;
    run(world, "long", 1);
    must_have(&world->log, "the text of the dialog is too long");
    assert_int_equal(dx_hermes_run(world->editor, dx_str("fits"), NULL), DX_OK);
    WAIT(world, world->dialog_count == 1);
    world_free(world);
}

/* Row 16 of the facts: a button is enough. */
static void test_commands(void **state) {
    struct world *world = begin(
        NULL, "{'init': {'name': 'guest', 'version': '1', 'capabilities': {'commands': ['a']}, "
              "'toolbarButtons': [{'id': 'b', 'label': 'l', 'icon': '', 'command': 'b'}]}, 'go': "
              "{'a': [" SHOW("1") "], 'b': [" SHOW("2") "]}}");
    dx_hermes_guest *first = dx_hermes_guest_at(world->editor, 0);
    dx_hermes_guest *who = NULL;
    (void)state;
    dx_hermes_guest *second = world_add(world, "{'go': {'a': [], 'c': []}}");
    assert_int_equal(dx_hermes_run(world->editor, dx_str("c"), &who), DX_GONE); /* not yet */
    wait_state(world, second, DX_HERMES_RUNNING);
    assert_int_equal(dx_hermes_run(world->editor, dx_str("a"), &who), DX_OK);
    assert_ptr_equal(who, first);
    assert_int_equal(dx_hermes_run(world->editor, dx_str("b"), &who), DX_OK);
    assert_ptr_equal(who, first);
    assert_int_equal(dx_hermes_run(world->editor, dx_str("c"), &who), DX_OK);
    assert_ptr_equal(who, second);
    assert_int_equal(dx_hermes_run(world->editor, dx_str("d"), &who), DX_GONE);
    assert_int_equal(dx_hermes_run(world->editor, (dx_text){"a\0", 2}, NULL), DX_GONE);
    assert_int_equal(dx_hermes_run(world->editor, dx_str("\xff"), NULL), DX_GONE);
    WAIT(world, world->dialog_count == 2);
    assert_int_equal(dx_hermes_guest_open(second), 0);
    world_free(world);
}

/* H21: commands were requests once. */
static void test_old_commands(void **state) {
    struct world *world = begin("2025-11-24", "{'go': {'a': [" SHOW("1") "]}}");
    (void)state;
    assert_int_equal(dx_hermes_run(world->editor, dx_str("a"), NULL), DX_OK);
    assert_int_equal(dx_hermes_guest_open(dx_hermes_guest_at(world->editor, 0)), 1);
    WAIT(world, dx_hermes_guest_open(dx_hermes_guest_at(world->editor, 0)) == 0);
    must_have(&world->sent, "\"id\":2,\"method\":\"command/execute\"");
    must_have(&world->log, "guest info done\n");
    WAIT(world, is_here(&world->sent, "\"code\":-32601")); /* there were no dialogs yet */
    world_free(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_windows),       cmocka_unit_test(test_windows_refused),
        cmocka_unit_test(test_window_limits), cmocka_unit_test(test_close_window),
        cmocka_unit_test(test_dialogs),       cmocka_unit_test(test_dialogs_by_nobody),
        cmocka_unit_test(test_dialogs_exact), cmocka_unit_test(test_dialogs_at_once),
        cmocka_unit_test(test_dialog_limits), cmocka_unit_test(test_commands),
        cmocka_unit_test(test_old_commands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
