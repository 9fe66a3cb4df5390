/* What happens when callbacks interfere, memory runs out, or an extension goes for the limits. */
#include "hermes/host.h"
#include "unit/unit.h"

#define GET "{'id': 1, 'method': 'editor/getMessage', 'params': {'format': 'json'}}"
#define SET                                                                             \
    "{'id': 2, 'method': 'editor/setMessage', 'params': {'format': 'json', 'message': " \
    "'{\\'MSH\\':{\\'3\\':\\'K\\'}}'}}"
#define PATCH                                                                              \
    "{'id': 3, 'method': 'editor/patchMessage', 'params': {'patches': [{'path': 'MSH.3', " \
    "'value': 'Z'}]}}"
#define OPEN "{'id': 4, 'method': 'ui/openWindow', 'params': {'url': 'http://a', 'title': ''}}"
#define SHOW "{'id': 5, 'method': 'ui/showMessage', 'params': {'message': 'm'}}"
#define BAD "{'id': 6, 'method': 'editor/getMessage', 'params': {}}"
#define EVERYTHING GET "," SET "," PATCH "," OPEN "," SHOW "," BAD

static size_t answers(const struct world *world) {
    return count_of(&world->sent, "\"result\":") + count_of(&world->sent, "\"error\":{\"code\"");
}

static void close_all(struct world *world) {
    while (dx_hermes_window_at(world->editor, 0))
        dx_hermes_window_closed(world->editor, dx_hermes_window_at(world->editor, 0)->id);
}

/* Every request is answered, however little memory the editor has; nothing leaks. */
static void expect_answers(const char *revision) {
    struct world *world = world_new();
    struct unit_memory memory = {0};
    dx_allocator alloc = unit_allocator(&memory);
    size_t refused = 0;
    world->config.revision = revision;
    world->config.hl7.allocator = &alloc;
    world->config.on_dialog = NULL;
    world_open(world);
    assert_int_equal(dx_hermes_open(world->editor, dx_str(MESSAGE), "/a", 0, NULL), DX_OK);
    dx_hermes_guest *guest = world_add(world, "{'go': {'go': [" EVERYTHING "]}}");
    wait_state(world, guest, DX_HERMES_RUNNING);
    for (size_t fail_at = 1;; fail_at++) {
        size_t before = answers(world);
        assert_true(fail_at < 1000);
        dx_status status = dx_hermes_run(world->editor, dx_str("go"), NULL);
        assert_int_equal(status, DX_OK);
        memory.count = 0;
        memory.fail_at = fail_at;
        WAIT(world, answers(world) == before + 6);
        bool enough = memory.count < fail_at;
        refused += !enough;
        memory.fail_at = 0;
        close_all(world);
        if (enough)
            break;
    }
    assert_true(refused > 20);
    assert_true(is_here(&world->sent, "\"id\":3,\"result\""));
    stop(world);
    world_free(world);
    assert_int_equal(memory.blocks, 0);
}

static void test_no_memory(void **state) {
    (void)state;
    expect_answers(NULL);
    expect_answers("exact");
}

static void test_no_memory_at_start(void **state) {
    struct world *world = world_new();
    struct unit_memory memory = {0};
    dx_allocator alloc = unit_allocator(&memory);
    (void)state;
    world->config.hl7.allocator = &alloc;
    world_open(world);
    const char *args[] = {"-c", "", NULL};
    dx_status status;
    size_t fail_at = 0;
    do {
        memory.count = 0;
        memory.fail_at = ++fail_at;
        status =
            dx_hermes_add(world->editor,
                          &(dx_hermes_entry){.path = "/usr/bin/python3", .args = args}, NULL, NULL);
        assert_true(status == DX_OK || status == DX_ERR_NOMEM);
        assert_true(fail_at < 100);
    } while (memory.count >= fail_at);
    assert_int_equal(status, DX_OK);
    assert_true(fail_at > 5);
    memory.fail_at = 0;
    stop(world);
    world_free(world);
    assert_int_equal(memory.blocks, 0);
}

/* The embedder ends the extension in the middle of what it asked for. */

static int end_in_window(dx_hermes *editor, const dx_hermes_window *window, const char **ret_why,
                         void *user) {
    int status = open_window(editor, window, ret_why, user);
    dx_hermes_disable(window->guest);
    return status;
}

static void end_in_message(dx_hermes *editor, dx_hermes_guest *guest, void *user) {
    on_message(editor, guest, user);
    if (guest)
        dx_hermes_disable(guest);
}

static void end_in_dialog(dx_hermes *editor, dx_hermes_dialog *dialog, void *user) {
    on_dialog(editor, dialog, user);
    dx_hermes_disable(dx_hermes_dialog_guest(dialog));
}

static void end_in_violation(dx_hermes *editor, dx_hermes_guest *guest, const char *phrase,
                             void *user) {
    on_violation(editor, guest, phrase, user);
    assert_int_equal(dx_hermes_reload(guest, NULL), DX_OK);
    dx_hermes_stop(editor, "error");
}

static void test_ended_within(void **state) {
    static const struct {
        const char *request;
        const char *answer;
    } rows[] = {
        {SET, "\"id\":2,\"result\""},
        {OPEN, "\"id\":4,\"error\":{\"code\":-32008"},
        {SHOW, "\"id\":5,\"error\":{\"code\":-32012"},
        {BAD, "\"id\":6,\"error\":{\"code\":-32602"},
        {GET, "\"id\":1,\"result\""},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct world *world = world_new();
        char spec[600];
        world->config.on_message = end_in_message;
        world->config.open_window = end_in_window;
        world->config.on_dialog = end_in_dialog;
        world->config.on_violation = end_in_violation;
        world_open(world);
        assert_int_equal(dx_hermes_open(world->editor, dx_str(MESSAGE), NULL, 0, NULL), DX_OK);
        snprintf(spec, sizeof spec, "{'go': {'go': [%s]}}", rows[i].request);
        dx_hermes_guest *guest = world_add(world, spec);
        wait_state(world, guest, DX_HERMES_RUNNING);
        run(world, "go", 1);
        must_have(&world->sent, rows[i].answer);
        if (i == 4)
            dx_hermes_stop(world->editor, "closing");
        wait_state(world, guest, DX_HERMES_STOPPED);
        assert_null(dx_hermes_window_at(world->editor, 0));
        assert_int_equal(world->dialogs_gone, i == 2);
        assert_int_equal(count_of(&world->windows, "close"), i == 1);
        world_free(world);
    }
}

/* What is lent may go while it is being answered. */
static void close_on_answer(dx_hermes *editor, dx_hermes_guest *guest, int out, dx_text text,
                            void *user) {
    on_traffic(editor, guest, out, text, user);
    /* The text moves when more is sent. */
    bool is_answer = out && memmem(text.at, text.len, "\"success\":true", 14);
    while (is_answer && dx_hermes_window_at(editor, 0))
        assert_int_equal(dx_hermes_window_closed(editor, dx_hermes_window_at(editor, 0)->id),
                         DX_OK);
}

static void test_closed_meanwhile(void **state) {
    struct world *world = world_new();
    (void)state;
    world->config.on_traffic = close_on_answer;
    world_open(world);
    const char *args[] = {
        "-c",
        OWN_CHILD "for i in 1,2: "
                  "say({'id':i,'method':'ui/openWindow','params':{'url':'http://a','title':''}})\n"
                  "hear()\n"
                  "say({'id':3,'method':'ui/"
                  "closeWindow','params':{'windowId':hear()['result']['windowId']}})\n"
                  "sys.stdin.read()\n",
        NULL};
    assert_int_equal(dx_hermes_add(world->editor,
                                   &(dx_hermes_entry){.path = "/usr/bin/python3", .args = args},
                                   NULL, NULL),
                     DX_OK);
    WAIT(world, count_of(&world->sent, "window/closed") == 2);
    assert_null(dx_hermes_window_at(world->editor, 0));
    assert_int_equal(count_of(&world->windows, "close"), 1);
    world_free(world);
}

/* What waits under exact is bounded, too. */
static void test_waiting_limit(void **state) {
    struct world *world = world_new();
    (void)state;
    world->config.revision = "exact";
    world_open(world);
    dx_hermes_guest *guest = world_add(
        world, "{'go': {'go': [" SHOW ", {'times': 1001, 'message': {'method': 'ui/showMessage', "
               "'params': {'message': 'm'}}}]}}");
    wait_state(world, guest, DX_HERMES_RUNNING);
    run(world, "go", 1);
    must_have(&world->sent, "\"id\":\"n-1000\",\"error\":{\"code\":-32000,");
    assert_int_equal(dx_hermes_guest_open(guest), 1001);
    /* All that are left are answered at once, one after the other and not inside each other. */
    dx_hermes_disable(guest);
    assert_int_equal(dx_hermes_guest_open(guest), 0);
    assert_int_equal(count_of(&world->sent, "\"code\":-32012"), 1001);
    world_free(world);
}

/* However it leaves, it comes back. */
static void test_reload(void **state) {
    static const char *const specs[] = {"{'shutdown': 'error'}", "{'shutdown': 'mute'}", "{}"};
    (void)state;
    for (size_t i = 0; i < LENGTH(specs); i++) {
        struct world *world = world_new();
        world->config.stop_ms = 100;
        world_open(world);
        dx_hermes_guest *guest = world_add(world, specs[i]);
        wait_state(world, guest, DX_HERMES_RUNNING);
        assert_int_equal(dx_hermes_reload(guest, NULL), DX_OK);
        assert_int_equal(dx_hermes_guest_state(guest), DX_HERMES_SHUTTING_DOWN);
        assert_int_equal(dx_hermes_reload(guest, NULL), DX_OK); /* once is enough */
        WAIT(world, count_of(&world->states, "running") == 2);
        assert_int_equal(count_of(&world->states, "failed"), 0);
        assert_int_equal(count_of(&world->states, "stopped"), 0);
        assert_int_equal(count_of(&world->sent, "\"shutdown\""), 1);
        stop(world);
        world_free(world);
    }
}

static void test_environment(void **state) {
    static const char *const found[] = {"env DUPLEX_TEST=(none)", "env DUPLEX_TEST=1"};
    (void)state;
    assert_int_equal(setenv("DUPLEX_TEST", "1", 1), 0);
    for (int inherit = 0; inherit < 2; inherit++) {
        struct world *world = world_new();
        world->config.inherit_env = inherit;
        world_open(world);
        wait_state(world, world_add(world, "{'env': ['DUPLEX_TEST']}"), DX_HERMES_RUNNING);
        must_have(&world->log, found[inherit]);
        stop(world);
        world_free(world);
    }
}

/* A command line of one string, as settings have it. */
static void test_words(void **state) {
    struct world *world = world_new();
    dx_hermes_guest *guest;
    char line[600];
    (void)state;
    world_open(world);
    snprintf(line, sizeof line,
             "/usr/bin/python3 \"%s/tests/hermes/children/guest.py\" '{\"lines\": "
             "[\"a  b\"]}'",
             getenv("SOURCE"));
    assert_int_equal(dx_hermes_add(world->editor, &(dx_hermes_entry){.path = line}, &guest, NULL),
                     DX_OK);
    wait_state(world, guest, DX_HERMES_RUNNING);
    must_have(&world->log, "info a  b\n");
    stop(world);
    world_free(world);
}

static void test_recorder(void **state) {
    struct world *world = world_new();
    char path[] = "/tmp/duplex-hermes-XXXXXX";
    char text[4000];
    int fd = mkstemp(path);
    (void)state;
    assert_true(fd >= 0);
    dx_recorder_config config = dx_recorder_defaults(path);
    assert_int_equal(dx_recorder_open(&config, &world->config.recorder, NULL), DX_OK);
    world_open(world);
    dx_hermes_guest *guest = world_add(world, "{}");
    wait_state(world, guest, DX_HERMES_RUNNING);
    stop(world);
    dx_recorder *recorder = world->config.recorder;
    world_free(world);
    dx_recorder_close(recorder, NULL);
    ssize_t len = pread(fd, text, sizeof text - 1, 0);
    assert_true(len > 0);
    text[len] = '\0';
    assert_non_null(strstr(text, "python3-1"));
    assert_non_null(strstr(text, "initialize"));
    assert_non_null(strstr(text, "shutdown"));
    close(fd);
    unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_no_memory_at_start),
        cmocka_unit_test(test_ended_within),
        cmocka_unit_test(test_waiting_limit),
        cmocka_unit_test(test_reload),
        cmocka_unit_test(test_environment),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_recorder),
        cmocka_unit_test(test_closed_meanwhile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
