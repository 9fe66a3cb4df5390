/* An extension's life: what initialize is answered with, commands, events, and how it ends. */
#include "hermes/extension.h"

#include <stdbool.h>

#define ANSWER(id, result) "{\"jsonrpc\":\"2.0\",\"id\":" #id ",\"result\":" result "}"
#define SHUTDOWN \
    "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"shutdown\",\"params\":{\"reason\":\"reload\"}}"
#define COMMAND_AS_REQUEST(id, command)                                                           \
    "{\"jsonrpc\":\"2.0\",\"id\":" #id ",\"method\":\"command/execute\",\"params\":{\"command\":" \
    "\"" command "\"}}"

static dx_hermes_extension_config plain(void) {
    return dx_hermes_extension_defaults("Probe", "1.2.3");
}

static void test_plain_facts(void **state) {
    (void)state;
    dx_hermes_extension_config config = plain();
    struct editor editor = editor_start(run_config, &config);
    editor_send(&editor, EDITOR_INITIALIZE);
    editor_expect(&editor, ANSWER(1, "{\"name\":\"Probe\",\"version\":\"1.2.3\","
                                     "\"capabilities\":{\"commands\":[]}}"));
    editor_send(&editor, SHUTDOWN);
    editor_expect(&editor, ANSWER(2, "{\"success\":true}"));
    editor_gone(&editor, 0);
}

static void say_command(dx_hermes_extension *extension, const char *command, void *user) {
    (void)extension;
    fprintf(stderr, "ran %s %s\n", command, user ? (const char *)user : "");
}

static void say_other(dx_hermes_extension *extension, const char *command, void *user) {
    (void)extension;
    (void)user;
    fprintf(stderr, "other %s\n", command);
}

static void say_news(const char *what, const dx_hermes_news *news) {
    fprintf(
        stderr, "%s %.*s/%.*s/%.*s %d%d%d\n", what, news->message.at ? (int)news->message.len : 4,
        news->message.at ? news->message.at : "NONE", news->format.at ? (int)news->format.len : 4,
        news->format.at ? news->format.at : "NONE", news->file.at ? (int)news->file.len : 4,
        news->file.at ? news->file.at : "NONE", news->has_file, news->is_new, news->save_as);
}

static void say_changed(dx_hermes_extension *extension, const dx_hermes_news *news, void *user) {
    (void)extension;
    (void)user;
    say_news("changed", news);
}

static void say_opened(dx_hermes_extension *extension, const dx_hermes_news *news, void *user) {
    (void)extension;
    (void)user;
    say_news("opened", news);
}

static void say_saved(dx_hermes_extension *extension, const dx_hermes_news *news, void *user) {
    (void)extension;
    (void)user;
    say_news("saved", news);
}

static void say_start(dx_hermes_extension *extension, const dx_hermes_told *told, void *user) {
    (void)extension;
    (void)user;
    fprintf(stderr, "start %s|%s|%s\n", told->hermes_version, told->api_version,
            told->data_directory);
}

static void say_window(dx_hermes_extension *extension, dx_text window, dx_text reason, void *user) {
    (void)extension;
    (void)user;
    fprintf(stderr, "window %.*s %.*s\n", (int)window.len, window.at,
            reason.at ? (int)reason.len : 4, reason.at ? reason.at : "NONE");
}

static void say_shutdown(dx_hermes_extension *extension, dx_text reason, void *user) {
    (void)extension;
    (void)user;
    fprintf(stderr, "shutdown %.*s\n", reason.at ? (int)reason.len : 4,
            reason.at ? reason.at : "NONE");
}

static const char *const authors[] = {"Ada", "Grace", NULL};
static const dx_hermes_command commands[] = {
    {"a/b", say_command}, {"c/d", say_command}, {NULL, NULL}};
static const dx_hermes_button buttons[] = {
    {"one", "One", "<svg/>", "a/b", "g"}, {"two", "Two", "<svg/>", "x/y", NULL}, {NULL}};

static dx_hermes_extension_config full(void) {
    dx_hermes_extension_config config = plain();
    config.description = "d";
    config.homepage = "https://example.org/";
    config.authors = authors;
    config.commands = commands;
    config.buttons = buttons;
    config.schema = "{\"segments\":{\"PID\":{\"fields\":[{\"field\":3,\"required\":true}]}}}";
    config.on_command = say_other;
    config.on_start = say_start;
    config.on_changed = say_changed;
    config.on_opened = say_opened;
    config.on_saved = say_saved;
    config.changes_with_content = 1;
    config.changes_format = DX_HL7_JSON;
    config.on_window_closed = say_window;
    config.on_shutdown = say_shutdown;
    config.user = (void *)(uintptr_t) "mine";
    return config;
}

static void test_full_facts(void **state) {
    (void)state;
    dx_hermes_extension_config config = full();
    struct editor editor = editor_start(run_config, &config);
    editor_send(&editor, EDITOR_INITIALIZE);
    editor_expect(
        &editor,
        ANSWER(
            1,
            "{\"name\":\"Probe\",\"version\":\"1.2.3\",\"description\":\"d\",\"homepage\":"
            "\"https://example.org/\",\"authors\":[\"Ada\",\"Grace\"],\"capabilities\":{"
            "\"commands\":[\"a/b\",\"c/d\"],\"events\":[{\"name\":\"message/changed\",\"options\":{"
            "\"includeContent\":true,\"format\":\"json\"}},{\"name\":\"message/opened\"},{"
            "\"name\":\"message/saved\"}],\"schemaProvider\":true},\"toolbarButtons\":[{\"id\":"
            "\"one\",\"label\":\"One\",\"icon\":\"<svg/>\",\"command\":\"a/b\",\"group\":\"g\"},{"
            "\"id\":\"two\",\"label\":\"Two\",\"icon\":\"<svg/>\",\"command\":\"x/y\"}],"
            "\"schema\":{\"segments\":{\"PID\":{\"fields\":[{\"field\":3,\"required\":true}]}}}}"));
    editor_log(&editor, "start 0.1.0|1.0|/data");
    editor_stop(&editor);
}

/* The revision before events has no member for them, and none is sent. */
static void test_old_revision(void **state) {
    (void)state;
    dx_hermes_extension_config config = plain();
    config.commands = commands;
    config.on_changed = say_changed;
    config.revision = "2025-11-24";
    struct editor editor = editor_start(run_config, &config);
    editor_send(&editor, EDITOR_INITIALIZE);
    editor_expect(&editor, ANSWER(1, "{\"name\":\"Probe\",\"version\":\"1.2.3\",\"capabilities\":{"
                                     "\"commands\":[\"a/b\",\"c/d\"]}}"));
    editor_send(&editor, COMMAND_AS_REQUEST(7, "a/b"));
    editor_log(&editor, "ran a/b ");
    editor_expect(&editor, ANSWER(7, "{\"success\":true}"));
    editor_command(&editor, "c/d");
    editor_log(&editor, "ran c/d ");
    editor_stop(&editor);
}

static void test_exact_revision(void **state) {
    (void)state;
    dx_hermes_extension_config config = plain();
    config.commands = commands;
    config.revision = "exact";
    struct editor editor = editor_start(run_config, &config);
    editor_send(&editor, EDITOR_INITIALIZE);
    free(editor_receive(&editor));
    editor_command(&editor, "c/d");
    editor_log(&editor, "ran c/d ");
    editor_stop(&editor); /* with a reason that this revision does not have */
}

/* Who is asked to leave leaves, in whatever words. */
static void test_strange_shutdowns(void **state) {
    (void)state;
    static const char *const params[] = {"{\"reason\":7}", "[]", "{\"reason\":\"boredom\"}", "{}"};
    static const char *const said[] = {"shutdown NONE", "shutdown NONE", "shutdown boredom",
                                       "shutdown NONE"};
    for (size_t i = 0; i < LENGTH(params); i++) {
        char json[128];
        dx_hermes_extension_config config = plain();
        config.on_shutdown = say_shutdown;
        struct editor editor = editor_running(&config);
        snprintf(json, sizeof json,
                 "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"shutdown\",\"params\":%s}", params[i]);
        editor_send(&editor, json);
        editor_log(&editor, said[i]);
        editor_expect(&editor, ANSWER(2, "{\"success\":true}"));
        editor_gone(&editor, 0);
    }
}

static void expect_no_beginning(dx_hermes_extension_config config, const char *part) {
    struct editor editor = editor_start(run_config, &config);
    editor_log_has(&editor, part);
    editor_gone(&editor, 2);
}

static void test_bad_configurations(void **state) {
    (void)state;
    dx_hermes_extension_config config = plain();
    config.revision = "tomorrow";
    expect_no_beginning(config, "hermes@tomorrow");
    config = plain();
    config.schema = "{\"segments\":";
    expect_no_beginning(config, "schema is not valid JSON");
    config.schema = "{\"segments\":7}";
    expect_no_beginning(config, "/schema");
    config = plain();
    config.name = NULL;
    expect_no_beginning(config, "name");
    config = plain();
    config.description = "\xff";
    expect_no_beginning(config, "UTF-8");
    static const dx_hermes_button bad[] = {{.id = "one", .label = "One"}, {NULL}};
    config = plain();
    config.buttons = bad;
    expect_no_beginning(config, "/toolbarButtons/0");
}

static void test_commands(void **state) {
    (void)state;
    dx_hermes_extension_config config = full();
    struct editor editor = editor_running(&config);
    editor_log(&editor, "start 0.1.0|1.0|/data");
    editor_command(&editor, "a/b");
    editor_log(&editor, "ran a/b mine");
    editor_command(&editor, "x/y"); /* only a button has it (row 16) */
    editor_log(&editor, "other x/y");
    editor_send(&editor, COMMAND_AS_REQUEST("s-1", "c/d"));
    editor_log(&editor, "ran c/d mine");
    editor_expect(&editor, ANSWER("s-1", "{\"success\":true}"));
    /* A name with a NUL in it is not the one before the NUL, and no string. */
    editor_send(&editor, COMMAND_AS_REQUEST(8, "a/b\\u0000c"));
    editor_log_has(&editor, "unknown command");
    char *body = editor_receive(&editor);
    assert_non_null(strstr(body, "\"id\":8,\"error\":{\"code\":-32009,"));
    free(body);
    editor_stop(&editor);
}

static void test_commands_that_nobody_has(void **state) {
    (void)state;
    dx_hermes_extension_config config = plain();
    struct editor editor = editor_running(&config);
    editor_command(&editor, "no/such");
    editor_log(&editor, "[WARN] no/such: unknown command");
    editor_send(&editor, COMMAND_AS_REQUEST(9, "no\\n/such"));
    editor_log(&editor, "[WARN] no?/such: unknown command");
    editor_expect(&editor, "{\"jsonrpc\":\"2.0\",\"id\":9,\"error\":{\"code\":-32009,\"message\":"
                           "\"Command not found\",\"data\":\"no?/such\"}}");
    editor_stop(&editor);
}

static void test_events(void **state) {
    (void)state;
    dx_hermes_extension_config config = full();
    struct editor editor = editor_running(&config);
    editor_log(&editor, "start 0.1.0|1.0|/data");
    editor_send(&editor,
                "{\"jsonrpc\":\"2.0\",\"method\":\"message/changed\",\"params\":{\"filePath\":"
                "\"/a\",\"format\":\"json\",\"hasFile\":true,\"message\":\"{}\"}}");
    editor_log(&editor, "changed {}/json//a 100");
    editor_send(&editor,
                "{\"jsonrpc\":\"2.0\",\"method\":\"message/changed\",\"params\":{\"hasFile\":"
                "false}}");
    editor_log(&editor, "changed NONE/NONE/NONE 000");
    editor_send(&editor, "{\"jsonrpc\":\"2.0\",\"method\":\"message/opened\",\"params\":{\"isNew\":"
                         "true}}");
    editor_log(&editor, "opened NONE/NONE/NONE 010");
    editor_send(&editor,
                "{\"jsonrpc\":\"2.0\",\"method\":\"message/saved\",\"params\":{\"filePath\":"
                "\"/b\",\"saveAs\":true,\"new\":1}}");
    editor_log(&editor, "saved NONE/NONE//b 101");
    editor_send(&editor,
                "{\"jsonrpc\":\"2.0\",\"method\":\"window/closed\",\"params\":{\"windowId\":"
                "\"w\",\"reason\":\"user\"}}");
    editor_log(&editor, "window w user");
    editor_send(&editor,
                "{\"jsonrpc\":\"2.0\",\"method\":\"window/closed\",\"params\":{\"windowId\":"
                "\"w\"}}");
    editor_log(&editor, "window w NONE");
    /* What does not fit is told and goes no further; what is not known goes without a word. */
    editor_send(&editor, "{\"jsonrpc\":\"2.0\",\"method\":\"window/closed\",\"params\":{}}");
    editor_log_has(&editor, "[WARN] window/closed: ");
    editor_send(&editor, "{\"jsonrpc\":\"2.0\",\"method\":\"message/saved\",\"params\":[1]}");
    editor_log_has(&editor, "[WARN] message/saved: ");
    editor_send(&editor, "{\"jsonrpc\":\"2.0\",\"method\":\"initialized\"}");
    editor_send(&editor, "{\"jsonrpc\":\"2.0\",\"method\":\"no/such\",\"params\":{\"a\":1}}");
    editor_send(&editor, SHUTDOWN);
    editor_log(&editor, "shutdown reload");
    editor_expect(&editor, ANSWER(2, "{\"success\":true}"));
    editor_gone(&editor, 0);
}

/* Nothing is subscribed to: events that come all the same do no harm. */
static void test_events_that_nobody_wants(void **state) {
    (void)state;
    dx_hermes_extension_config config = plain();
    struct editor editor = editor_running(&config);
    editor_send(&editor,
                "{\"jsonrpc\":\"2.0\",\"method\":\"message/changed\",\"params\":{\"hasFile\":"
                "false}}");
    editor_send(&editor,
                "{\"jsonrpc\":\"2.0\",\"method\":\"window/closed\",\"params\":{\"windowId\":"
                "\"w\"}}");
    editor_send(&editor, "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"shutdown\"}");
    editor_expect(&editor, ANSWER(3, "{\"success\":true}"));
    editor_gone(&editor, 0);
}

static void test_before_initialize(void **state) {
    (void)state;
    dx_hermes_extension_config config = full();
    struct editor editor = editor_start(run_config, &config);
    editor_command(&editor, "a/b");
    editor_log_has(&editor, "[WARN] command/execute: not allowed in this state");
    editor_send(&editor, COMMAND_AS_REQUEST(1, "a/b"));
    editor_expect(&editor, "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32001,\"message\":"
                           "\"Not initialised\",\"data\":\"not allowed in this state\"}}");
    editor_send(&editor,
                "{\"jsonrpc\":\"2.0\",\"method\":\"message/changed\",\"params\":{\"hasFile\":"
                "false}}");
    editor_log_has(&editor, "[WARN] message/changed: not allowed in this state");
    /* The sample of the document (H3). */
    editor_send(&editor, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{}}");
    free(editor_receive(&editor));
    editor_log(&editor, "start ||");
    editor_send(&editor, EDITOR_INITIALIZE);
    editor_expect(&editor, "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32002,\"message\":"
                           "\"Already initialised\",\"data\":\"not allowed in this state\"}}");
    editor_stop(&editor);
}

static void test_requests_that_are_refused(void **state) {
    (void)state;
    dx_hermes_extension_config config = plain();
    struct editor editor = editor_start(run_config, &config);
    editor_send(&editor, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"no/such\"}");
    editor_expect(&editor, "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32601,\"message\":"
                           "\"Method not found\",\"data\":\"unknown method\"}}");
    editor_send(&editor,
                "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"editor/getMessage\",\"params\":{"
                "\"format\":\"hl7\"}}");
    editor_expect(&editor, "{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":-32601,\"message\":"
                           "\"Method not found\",\"data\":\"unknown method\"}}");
    editor_send(&editor, "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"window/closed\",\"params\":{"
                         "\"windowId\":\"w\"}}");
    editor_expect(&editor,
                  "{\"jsonrpc\":\"2.0\",\"id\":3,\"error\":{\"code\":-32600,\"message\":"
                  "\"Invalid Request\",\"data\":\"it is a notification, not a request\"}}");
    editor_send(&editor, "{\"jsonrpc\":\"2.0\",\"method\":\"shutdown\"}");
    editor_log(&editor, "[WARN] shutdown: it is a request, not a notification");
    editor_send(&editor, "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"initialize\",\"params\":{"
                         "\"apiVersion\":7}}");
    char *body = editor_receive(&editor);
    assert_non_null(strstr(body,
                           "\"id\":4,\"error\":{\"code\":-32602,\"message\":\"Invalid params\","
                           "\"data\":{\"pointer\":\"/params"));
    free(body);
    /* It has failed then: nothing but shutdown is left (the document's lifecycle). */
    editor_send(&editor, SHUTDOWN);
    editor_expect(&editor, ANSWER(2, "{\"success\":true}"));
    editor_gone(&editor, 0);
}

static void test_ids(void **state) {
    (void)state;
    dx_hermes_extension_config config = plain();
    config.commands = commands;
    struct editor editor = editor_running(&config);
    static const char *const ids[] = {"18446744073709551616", "1.50", "\"\\u0041\"", "-3", "1e2"};
    for (size_t i = 0; i < LENGTH(ids); i++) {
        char json[256];
        snprintf(json, sizeof json,
                 "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"command/execute\",\"params\":{"
                 "\"command\":\"a/b\"}}",
                 ids[i]);
        editor_send(&editor, json);
        editor_log(&editor, "ran a/b ");
        snprintf(json, sizeof json, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"success\":true}}",
                 ids[i]);
        editor_expect(&editor, json);
    }
    editor_send(&editor, "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"shutdown\"}");
    char *body = editor_receive(&editor);
    assert_non_null(strstr(body, "\"id\":null,\"error\":{\"code\":-32600"));
    free(body);
    editor_log_has(&editor, "[WARN] the editor: ");
    editor_stop(&editor);
}

/* Row 15: the real editor never says shutdown when it quits. */
static void test_end_of_input(void **state) {
    (void)state;
    dx_hermes_extension_config config = full();
    struct editor editor = editor_running(&config);
    uint64_t start = editor_now();
    editor_close(&editor);
    editor_gone(&editor, 0);
    assert_true(editor_now() - start < 5000);
    editor = editor_start(run_config, &config); /* and before a word was said */
    editor_close(&editor);
    editor_gone(&editor, 0);
}

static void test_end_inside_a_message(void **state) {
    (void)state;
    dx_hermes_extension_config config = plain();
    struct editor editor = editor_running(&config);
    editor_raw(&editor, "Content-Length: 10\r\n\r\n{\"js", 26);
    editor_close(&editor);
    editor_gone(&editor, 1);
}

/* After shutdown nothing more is taken, not even what is in the pipe already. */
static void test_nothing_after_shutdown(void **state) {
    (void)state;
    dx_hermes_extension_config config = full();
    struct editor editor = editor_running(&config);
    editor_log(&editor, "start 0.1.0|1.0|/data");
    kill(editor.pid, SIGSTOP); /* so that both are there at once */
    editor_send(&editor, SHUTDOWN);
    editor_command(&editor, "a/b");
    kill(editor.pid, SIGCONT);
    editor_log(&editor, "shutdown reload");
    editor_expect(&editor, ANSWER(2, "{\"success\":true}"));
    const char *line;
    while ((line = editor_line(&editor)))
        assert_null(strstr(line, "ran"));
    editor_gone(&editor, 0);
}

static void print_something(dx_hermes_extension *extension, const char *command, void *user) {
    (void)extension;
    (void)command;
    (void)user;
    printf("printed\n");
    fflush(stdout);
}

static void test_printf_goes_to_the_log(void **state) {
    (void)state;
    static const dx_hermes_command rows[] = {{"a/b", print_something}, {NULL, NULL}};
    dx_hermes_extension_config config = plain();
    config.commands = rows;
    struct editor editor = editor_running(&config);
    editor_command(&editor, "a/b");
    editor_log(&editor, "printed");
    editor_stop(&editor);
}

/* An editor that no longer reads the log (H49), or any more at all, kills nobody. */
static void test_closed_log(void **state) {
    (void)state;
    dx_hermes_extension_config config = full();
    struct editor editor = editor_running(&config);
    editor_log(&editor, "start 0.1.0|1.0|/data");
    close(editor.log);
    editor_command(&editor, "a/b");
    editor_send(&editor, COMMAND_AS_REQUEST(5, "a/b"));
    editor_expect(&editor, ANSWER(5, "{\"success\":true}"));
    editor.log = open("/dev/null", O_RDONLY | O_CLOEXEC);
    editor_stop(&editor);
}

static void test_closed_output(void **state) {
    (void)state;
    dx_hermes_extension_config config = full();
    struct editor editor = editor_running(&config);
    editor_log(&editor, "start 0.1.0|1.0|/data");
    close(editor.from);
    editor.from = open("/dev/null", O_RDONLY | O_CLOEXEC);
    editor_send(&editor, COMMAND_AS_REQUEST(5, "a/b"));
    editor_gone(&editor, 0);
}

/* A loop of one's own. */

struct own {
    dx_loop *loop;
    int code;
};

static void own_closed(dx_hermes_extension *extension, const dx_error *why, void *user) {
    struct own *own = user;
    bool is_mine = dx_hermes_extension_user(extension) == own;
    own->code = is_mine && why->fault == DX_FAULT_NONE ? 5 : 6;
    dx_hermes_extension_free(extension);
    dx_hermes_extension_free(NULL);
    dx_loop_stop(own->loop);
}

static void free_it(dx_hermes_extension *extension, const char *command, void *user) {
    struct own *own = user;
    (void)command;
    dx_hermes_get_message(extension, DX_HL7_TEXT, NULL);
    if (dx_link_loop(dx_hermes_extension_link(extension)) == own->loop)
        own->code = 8;
    dx_hermes_extension_free(extension);
    dx_loop_stop(own->loop);
}

static int own_loop(void *user) {
    static const dx_hermes_command rows[] = {{"a/b", free_it}, {NULL, NULL}};
    struct own own = {.code = 7};
    dx_hermes_extension *extension;
    dx_error error;
    (void)user;
    dx_hermes_extension_config config = plain();
    config.commands = rows;
    config.user = &own;
    if (dx_loop_new(NULL, &own.loop, NULL) != DX_OK ||
        dx_hermes_extension_open(own.loop, &config, own_closed, &extension, &error) != DX_OK)
        return 9;
    dx_loop_run(own.loop);
    dx_loop_free(own.loop);
    return own.code;
}

static void test_own_loop(void **state) {
    (void)state;
    struct editor editor = editor_start(own_loop, NULL);
    editor_close(&editor);
    editor_gone(&editor, 5);
    /* Freed in its own function, with a question open and a request to be answered. */
    editor = editor_start(own_loop, NULL);
    editor_send(&editor, EDITOR_INITIALIZE);
    free(editor_receive(&editor));
    editor_send(&editor, COMMAND_AS_REQUEST(5, "a/b"));
    editor_gone(&editor, 8);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain_facts),
        cmocka_unit_test(test_full_facts),
        cmocka_unit_test(test_old_revision),
        cmocka_unit_test(test_exact_revision),
        cmocka_unit_test(test_strange_shutdowns),
        cmocka_unit_test(test_bad_configurations),
        cmocka_unit_test(test_commands),
        cmocka_unit_test(test_commands_that_nobody_has),
        cmocka_unit_test(test_events),
        cmocka_unit_test(test_events_that_nobody_wants),
        cmocka_unit_test(test_before_initialize),
        cmocka_unit_test(test_requests_that_are_refused),
        cmocka_unit_test(test_ids),
        cmocka_unit_test(test_end_of_input),
        cmocka_unit_test(test_end_inside_a_message),
        cmocka_unit_test(test_nothing_after_shutdown),
        cmocka_unit_test(test_printf_goes_to_the_log),
        cmocka_unit_test(test_closed_log),
        cmocka_unit_test(test_closed_output),
        cmocka_unit_test(test_own_loop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
