/* Every allocation of an extension's life fails once, each in a run of its own: the extension still
 * ends as it should, says nothing that is no message, and loses no memory. */
#include "hermes/extension.h"
#include "unit/wrapped.h"

#include <errno.h>

static void hear(dx_hermes_extension *extension, const dx_hermes_answer *answer, void *user) {
    (void)extension;
    (void)user;
    if (!answer->why || (answer->ok && *answer->why))
        abort();
}

static void ask_everything(dx_hermes_extension *extension, const char *command, void *user) {
    static const char *const names[] = {"hl7", NULL};
    static const dx_hermes_filter filters[] = {{"HL7", names}, {NULL, NULL}};
    dx_hermes_ask ask = {.on_done = hear};
    dx_hl7_patch patch = {.path = dx_str("PID.5"), .value = dx_str("v"), .create = 1};
    dx_hermes_page page = {.url = "http://a/", .title = "t", .width = 1, .height = 1, .fixed = 1};
    dx_hermes_question question = {.message = "m", .title = "t", .filters = filters};
    (void)command;
    (void)user;
    dx_hermes_get_message(extension, DX_HL7_TEXT, &ask);
    dx_hermes_set_message(extension, dx_str("m"), DX_HL7_JSON, &ask);
    dx_hermes_patch_message(extension, &patch, 1, &ask);
    dx_hermes_open_window(extension, &page, &ask);
    dx_hermes_show_confirm(extension, &question, &ask);
    dx_hermes_save_file(extension, &question, &ask);
}

static const dx_hermes_command commands[] = {{"a/b", ask_everything}, {NULL, NULL}};
static const dx_hermes_button buttons[] = {{"one", "One", "<svg/>", "a/b", "g"}, {NULL}};

static void ignore(dx_hermes_extension *extension, const dx_hermes_news *news, void *user) {
    (void)extension;
    (void)news;
    (void)user;
}

static int run(void *user) {
    static const char *const authors[] = {"Ada", NULL};
    dx_hermes_extension_config config = dx_hermes_extension_defaults("Probe", "1");
    (void)user;
    config.authors = authors;
    config.commands = commands;
    config.buttons = buttons;
    config.on_changed = ignore;
    config.changes_with_content = 1;
    config.schema = "{\"segments\":{}}";
    memory.on = true;
    int code = dx_hermes_extension_run(&config);
    memory.on = false;
    return code;
}

/* One that could not begin does not read, which is no fault. */
static void tell(struct editor *editor, const char *json) {
    char frame[512];
    int len = snprintf(frame, sizeof frame, "Content-Length: %zu\r\n\r\n%s", strlen(json), json);
    if (write(editor->to, frame, (size_t)len) < 0)
        assert_int_equal(errno, EPIPE);
}

/* Answers a question with what stands for its method; 1 if it was one. */
static bool answer(struct editor *editor, const char *question) {
    static const struct {
        const char *method;
        const char *answer;
    } rows[] = {
        {"editor/getMessage", "\"result\":{\"message\":\"m\"}"},
        {"editor/setMessage", "\"result\":{\"success\":false}"},
        {"editor/patchMessage", "\"result\":{\"success\":false,\"patchesApplied\":0,\"errors\":[{"
                                "\"index\":0,\"path\":\"p\",\"message\":\"m\"}]}"},
        {"ui/openWindow", "\"error\":{\"code\":-32008,\"message\":\"m\"}"},
        {"ui/showConfirm", "\"result\":{}"},
    };
    for (size_t i = 0; i < LENGTH(rows); i++)
        if (strstr(question, rows[i].method)) {
            char json[256];
            long id = strtol(strstr(question, "\"id\":") + 5, NULL, 10);
            snprintf(json, sizeof json, "{\"jsonrpc\":\"2.0\",\"id\":%ld,%s}", id, rows[i].answer);
            tell(editor, json);
            return true;
        }
    return false;
}

/* Says something, and answers what comes until that is answered; false at the end. */
static bool ask(struct editor *editor, int id, const char *method, const char *params) {
    char json[256];
    char *body;
    snprintf(json, sizeof json, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"%s\",\"params\":%s}",
             id, method, params);
    tell(editor, json);
    snprintf(json, sizeof json, "{\"jsonrpc\":\"2.0\",\"id\":%d,", id);
    while ((body = editor_receive(editor))) {
        bool found = !answer(editor, body) && strncmp(body, json, strlen(json)) == 0 &&
                     !strstr(body, "\"method\"");
        free(body);
        if (found)
            return true;
    }
    return false;
}

/* How many of its requests were answered. */
static int talk(struct editor *editor) {
    int answers = ask(editor, 1, "initialize", "{}");
    answers += ask(editor, 2, "command/execute", "{\"command\":\"a/b\"}");
    answers += ask(editor, 3, "command/execute", "{\"command\":\"no/such\"}");
    answers += ask(editor, 4, "command/execute", "{\"command\":7}");
    tell(editor,
         "{\"jsonrpc\":\"2.0\",\"method\":\"message/changed\",\"params\":{\"hasFile\":false,"
         "\"message\":\"m\"}}");
    return answers + ask(editor, 5, "shutdown", "{}");
}

static int life(size_t fail_at, bool *failed) {
    int status;
    *failed = false;
    memory.fail_at = fail_at;
    struct editor editor = editor_start(run, NULL);
    int answers = talk(&editor);
    editor_close(&editor);
    while (editor_line(&editor))
        if (strstr(editor.line, "ERROR: "))
            fail_msg("%s", editor.line);
    assert_int_equal(waitpid(editor.pid, &status, 0), editor.pid);
    close(editor.from);
    close(editor.log);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 0) /* who began answers everything, if only with an error */
        assert_int_equal(answers, 5);
    return WEXITSTATUS(status);
}

static void test_each_allocation(void **state) {
    (void)state;
    size_t at = 1;
    size_t begun = 0;
    bool *failed =
        mmap(NULL, sizeof *failed, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(failed != MAP_FAILED);
    memory.failed = failed;
    do {
        int code = life(at, failed);
        if (code != 0 && code != 2)
            fail_msg("allocation %zu: code %d", at, code);
        begun += code == 0;
        at++;
    } while (*failed);
    print_message("%zu allocations, %zu lives that began\n", at - 2, begun);
    assert_true(begun > 20);
    munmap(failed, sizeof *failed);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_allocation)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
