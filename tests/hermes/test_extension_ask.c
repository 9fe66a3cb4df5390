/* Questions to the editor: what goes over the wire, and what comes of every answer. */
#include "hermes/extension.h"

#define RESULT(id, result) "{\"jsonrpc\":\"2.0\",\"id\":" #id ",\"result\":" result "}"
#define ASKS(id, method, params) \
    "{\"jsonrpc\":\"2.0\",\"id\":" #id ",\"method\":\"" method "\",\"params\":" params "}"

static void put(const char *name, dx_text text) {
    if (text.at)
        fprintf(stderr, " %s=%.*s", name, (int)text.len, text.at);
}

/* "LABEL ok" or "LABEL OUTCOME: WHY", and all that is set. */
static void say(dx_hermes_extension *extension, const dx_hermes_answer *answer, void *user) {
    static const char *const outcomes[] = {"?",         "result", "error",  "timed-out",
                                           "cancelled", "lost",   "invalid"};
    (void)extension;
    if (answer->ok)
        fprintf(stderr, "%s ok%s", (const char *)user, answer->why);
    else
        fprintf(stderr, "%s %s %lld: %s", (const char *)user, outcomes[answer->outcome],
                (long long)answer->code, answer->why);
    put("message", answer->message);
    put("file", answer->file);
    put("window", answer->window);
    put("path", answer->path);
    if (answer->has_file || answer->confirmed)
        fprintf(stderr, " has_file=%d confirmed=%d", answer->has_file, answer->confirmed);
    if (answer->applied || answer->errors)
        fprintf(stderr, " applied=%llu errors=%zu", (unsigned long long)answer->applied,
                yyjson_arr_size(answer->errors));
    if (answer->paths)
        fprintf(stderr, " paths=%zu", yyjson_arr_size(answer->paths));
    fprintf(stderr, "\n");
}

static dx_hermes_ask ask(const char *label, uint64_t timeout_ms) {
    return (dx_hermes_ask){
        .on_done = say, .user = (void *)(uintptr_t)label, .timeout_ms = timeout_ms};
}

static void say_status(const char *label, dx_status status) {
    if (status != DX_OK)
        fprintf(stderr, "%s is %s\n", label, dx_status_name(status));
}

static dx_status ask_dialog(dx_hermes_extension *extension, const char *which) {
    static const char *const names[] = {"hl7", "txt", NULL};
    static const dx_hermes_filter filters[] = {{"HL7", names}, {"All", NULL}, {NULL, NULL}};
    dx_hermes_question all = {.message = "m\xc3\xa5",
                              .title = "t",
                              .kind = "warning",
                              .buttons = "okCancel",
                              .default_path = "/d",
                              .default_name = "n",
                              .filters = filters};
    dx_hermes_ask done = ask("dialog", 0);
    switch (*which) {
    case 'm':
        return dx_hermes_show_message(extension, &all, &done);
    case 'c':
        return dx_hermes_show_confirm(extension, &all, &done);
    case 'o':
        return dx_hermes_open_file(extension, &all, &done);
    case 'O':
        return dx_hermes_open_files(extension, &all, &done);
    case 's':
        return dx_hermes_save_file(extension, &all, &done);
    default:
        return dx_hermes_select_directory(extension, &all, &done);
    }
}

static dx_status ask_bare(dx_hermes_extension *extension, const char *which) {
    dx_hermes_question bare = {.message = "m"};
    switch (*which) {
    case 'm':
        return dx_hermes_show_message(extension, &bare, NULL);
    case 'c':
        return dx_hermes_show_confirm(extension, &bare, NULL);
    case 'o':
        return dx_hermes_open_file(extension, NULL, NULL);
    case 'O':
        return dx_hermes_open_files(extension, NULL, NULL);
    case 's':
        return dx_hermes_save_file(extension, NULL, NULL);
    default:
        return dx_hermes_select_directory(extension, NULL, NULL);
    }
}

static dx_status ask_editor(dx_hermes_extension *extension, const char *which) {
    static const dx_hl7_format formats[] = {DX_HL7_TEXT, DX_HL7_JSON, DX_HL7_YAML, DX_HL7_TOML};
    dx_hl7_patch patches[] = {
        {.path = dx_str("PID.5"), .value = dx_str("D\xc3\xb6")},
        {.path = dx_str("PID.6")},
        {.path = dx_str("NK1"), .create = 1},
        {.path = dx_str("ZZZ"), .remove = 1},
    };
    dx_hermes_page page = {.url = "http://a/",
                           .title = "T",
                           .width = which[1] == '+' ? 4294967295 : 0,
                           .height = which[1] == '+' ? 2 : 0,
                           .modal = which[1] == '+',
                           .fixed = which[1] == '+'};
    dx_hermes_ask done = ask("editor", 0);
    switch (*which) {
    case 'g':
        return dx_hermes_get_message(extension, formats[(which[1] - '0') & 3], &done);
    case 's':
        return dx_hermes_set_message(extension, dx_str("MSH|\x01\"\\"), DX_HL7_TOML, &done);
    case 'p':
        return dx_hermes_patch_message(extension, patches, which[1] == '0' ? 0 : 4, &done);
    case 'w':
        return dx_hermes_open_window(extension, &page, &done);
    default:
        return dx_hermes_close_window(extension, dx_str("w-1"), &done);
    }
}

static dx_status ask_in_time(dx_hermes_extension *extension, const char *which) {
    dx_hermes_question question = {.message = "m"};
    dx_hermes_ask done = ask("timed", strtoull(which + 1, NULL, 10));
    return *which == 'd' ? dx_hermes_show_message(extension, &question, &done)
                         : dx_hermes_get_message(extension, DX_HL7_TEXT, &done);
}

static dx_status ask_wrongly(dx_hermes_extension *extension, const char *which) {
    dx_hermes_question kind = {.message = "m", .kind = "dire", .buttons = "maybe"};
    dx_hermes_question nothing = {.title = "t"};
    dx_hl7_patch no_path = {.value = dx_str("v")};
    dx_hl7_patch no_text = {.path = dx_str("PID.5"), .value = dx_str("\xff")};
    dx_hermes_page no_url = {.title = "T"};
    dx_hermes_ask done = ask("wrong", 0);
    switch (*which) {
    case 'k':
        return dx_hermes_show_message(extension, &kind, &done);
    case 'b':
        return dx_hermes_show_confirm(extension, &kind, &done);
    case 'm':
        return dx_hermes_show_message(extension, &nothing, &done);
    case 'M':
        return dx_hermes_show_confirm(extension, NULL, &done);
    case 'p':
        return dx_hermes_patch_message(extension, &no_path, 1, &done);
    case 'u':
        return dx_hermes_patch_message(extension, &no_text, 1, &done);
    case 'w':
        return dx_hermes_open_window(extension, &no_url, &done);
    case 'c':
        return dx_hermes_close_window(extension, dx_str(NULL), &done);
    case 's':
        return dx_hermes_set_message(extension, dx_str(NULL), DX_HL7_TEXT, &done);
    default:
        return dx_hermes_get_message(extension, (dx_hl7_format)17, &done);
    }
}

/* Who asks again when all is over is told so. */
static void say_and_ask(dx_hermes_extension *extension, const dx_hermes_answer *answer,
                        void *user) {
    say(extension, answer, user);
    say_status("again", dx_hermes_get_message(extension, DX_HL7_TEXT, NULL));
}

static void ask_last(dx_hermes_extension *extension, dx_text reason, void *user) {
    (void)reason;
    (void)user;
    dx_hermes_ask done = ask("last", 0);
    done.on_done = say_and_ask;
    say_status("last", dx_hermes_get_message(extension, DX_HL7_TEXT, &done));
}

/* A command is "WHAT/DETAIL". */
static void run(dx_hermes_extension *extension, const char *command, void *user) {
    const char *detail = strchr(command, '/') + 1;
    (void)user;
    if (strncmp(command, "dialog", 6) == 0)
        say_status(command, ask_dialog(extension, detail));
    else if (strncmp(command, "bare", 4) == 0)
        say_status(command, ask_bare(extension, detail));
    else if (strncmp(command, "editor", 6) == 0)
        say_status(command, ask_editor(extension, detail));
    else if (strncmp(command, "time", 4) == 0)
        say_status(command, ask_in_time(extension, detail));
    else if (strncmp(command, "wrong", 5) == 0)
        say_status(command, ask_wrongly(extension, detail));
    else if (strncmp(command, "last", 4) == 0)
        ask_last(extension, dx_str(NULL), NULL);
    else
        fprintf(stderr, "ran %s\n", command);
}

static void say_window(dx_hermes_extension *extension, dx_text window, dx_text reason, void *user) {
    (void)extension;
    (void)user;
    fprintf(stderr, "window %.*s %.*s\n", (int)window.len, window.at, (int)reason.len, reason.at);
}

static dx_hermes_extension_config probe(void) {
    dx_hermes_extension_config config = dx_hermes_extension_defaults("Probe", "1");
    config.on_command = run;
    config.on_window_closed = say_window;
    return config;
}

/* Runs a command, and expects what it asks and what becomes of the answer. */
static void exchange(struct editor *editor, const char *command, const char *asks,
                     const char *answer, const char *said) {
    editor_command(editor, command);
    editor_expect(editor, asks);
    editor_send(editor, answer);
    if (said)
        editor_log(editor, said);
}

static void test_messages(void **state) {
    (void)state;
    dx_hermes_extension_config config = probe();
    struct editor editor = editor_running(&config);
    exchange(&editor, "editor/g0", ASKS(1, "editor/getMessage", "{\"format\":\"hl7\"}"),
             RESULT(1, "{\"hasFile\":true,\"message\":\"MSH|\xc3\xa5\",\"filePath\":\"/f\"}"),
             "editor ok message=MSH|\xc3\xa5 file=/f has_file=1 confirmed=0");
    exchange(&editor, "editor/g1", ASKS(2, "editor/getMessage", "{\"format\":\"json\"}"),
             RESULT(2, "{\"message\":\"\"}"), "editor ok message=");
    exchange(&editor, "editor/g2", ASKS(3, "editor/getMessage", "{\"format\":\"yaml\"}"),
             RESULT(3, "{\"message\":\"m\",\"hasFile\":false,\"later\":[]}"),
             "editor ok message=m");
    exchange(&editor, "editor/g3", ASKS(4, "editor/getMessage", "{\"format\":\"toml\"}"),
             "{\"jsonrpc\":\"2.0\",\"id\":4,\"error\":{\"code\":-32003,\"message\":\"No message\\n"
             "open\"}}",
             "editor error -32003: editor/getMessage: No message?open (-32003)");
    exchange(
        &editor, "editor/s",
        ASKS(5, "editor/setMessage", "{\"message\":\"MSH|\\u0001\\\"\\\\\",\"format\":\"toml\"}"),
        RESULT(5, "{\"success\":true}"), "editor ok");
    exchange(
        &editor, "editor/s",
        ASKS(6, "editor/setMessage", "{\"message\":\"MSH|\\u0001\\\"\\\\\",\"format\":\"toml\"}"),
        RESULT(6, "{\"success\":false,\"error\":\"Message is empty\"}"),
        "editor result 0: editor/setMessage: Message is empty");
    editor_stop(&editor);
}

#define PATCHES                                                                                  \
    "{\"patches\":[{\"path\":\"PID.5\",\"value\":\"D\xc3\xb6\"},{\"path\":\"PID.6\"},{\"path\":" \
    "\"NK1\",\"create\":true},{\"path\":\"ZZZ\",\"remove\":true}]}"

static void test_patches(void **state) {
    (void)state;
    dx_hermes_extension_config config = probe();
    struct editor editor = editor_running(&config);
    exchange(&editor, "editor/p", ASKS(1, "editor/patchMessage", PATCHES),
             RESULT(1, "{\"patchesApplied\":4,\"success\":true}"), "editor ok applied=4 errors=0");
    exchange(
        &editor, "editor/p", ASKS(2, "editor/patchMessage", PATCHES),
        RESULT(2, "{\"patchesApplied\":3,\"success\":false,\"errors\":[{\"index\":0,\"path\":"
                  "\"PID.5\",\"message\":\"Segment PID not found\"}]}"),
        "editor result 0: editor/patchMessage: PID.5: Segment PID not found applied=3 errors=1");
    exchange(
        &editor, "editor/p", ASKS(3, "editor/patchMessage", PATCHES),
        RESULT(3, "{\"patchesApplied\":3,\"success\":false,\"errors\":[]}"),
        "editor result 0: editor/patchMessage: some patches were not applied applied=3 errors=0");
    exchange(&editor, "editor/p0", ASKS(4, "editor/patchMessage", "{\"patches\":[]}"),
             RESULT(4, "{\"patchesApplied\":0,\"success\":true}"), "editor ok");
    exchange(&editor, "editor/p0", ASKS(5, "editor/patchMessage", "{\"patches\":[]}"),
             RESULT(5, "{\"patchesApplied\":0,\"success\":false}"),
             "editor result 0: editor/patchMessage: the editor reported a failure");
    editor_stop(&editor);
}

static void test_windows(void **state) {
    (void)state;
    dx_hermes_extension_config config = probe();
    struct editor editor = editor_running(&config);
    exchange(&editor, "editor/w",
             ASKS(1, "ui/openWindow", "{\"url\":\"http://a/\",\"title\":\"T\"}"),
             RESULT(1, "{\"windowId\":\"w-1\"}"), "editor ok window=w-1");
    exchange(
        &editor, "editor/w+",
        ASKS(2, "ui/openWindow",
             "{\"url\":\"http://a/\",\"title\":\"T\",\"width\":4294967295,\"height\":2,"
             "\"modal\":true,\"resizable\":false}"),
        "{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":-32007,\"message\":\"Invalid URL\"}}",
        "editor error -32007: ui/openWindow: Invalid URL (-32007)");
    exchange(&editor, "editor/c", ASKS(3, "ui/closeWindow", "{\"windowId\":\"w-1\"}"),
             RESULT(3, "{\"success\":true}"), "editor ok");
    exchange(&editor, "editor/c", ASKS(4, "ui/closeWindow", "{\"windowId\":\"w-1\"}"),
             RESULT(4, "{\"success\":false}"),
             "editor result 0: ui/closeWindow: the editor reported a failure");
    editor_stop(&editor);
}

#define FILTERS                                                                           \
    "\"filters\":[{\"name\":\"HL7\",\"extensions\":[\"hl7\",\"txt\"]},{\"name\":\"All\"," \
    "\"extensions\":[]}]"

static void test_dialogs(void **state) {
    (void)state;
    dx_hermes_extension_config config = probe();
    struct editor editor = editor_running(&config);
    exchange(&editor, "dialog/m",
             ASKS(1, "ui/showMessage",
                  "{\"message\":\"m\xc3\xa5\",\"title\":\"t\",\"kind\":\"warning\"}"),
             RESULT(1, "{\"acknowledged\":true}"), "dialog ok");
    exchange(&editor, "dialog/c",
             ASKS(2, "ui/showConfirm",
                  "{\"message\":\"m\xc3\xa5\",\"title\":\"t\",\"buttons\":\"okCancel\"}"),
             RESULT(2, "{\"confirmed\":true}"), "dialog ok has_file=0 confirmed=1");
    exchange(&editor, "dialog/c",
             ASKS(3, "ui/showConfirm",
                  "{\"message\":\"m\xc3\xa5\",\"title\":\"t\",\"buttons\":\"okCancel\"}"),
             RESULT(3, "{\"confirmed\":false}"), "dialog ok");
    exchange(&editor, "dialog/o",
             ASKS(4, "ui/openFile", "{\"title\":\"t\",\"defaultPath\":\"/d\"," FILTERS "}"),
             RESULT(4, "{\"path\":\"/x\"}"), "dialog ok path=/x");
    exchange(&editor, "dialog/O",
             ASKS(5, "ui/openFiles", "{\"title\":\"t\",\"defaultPath\":\"/d\"," FILTERS "}"),
             RESULT(5, "{\"paths\":[\"/x\",\"/y\"]}"), "dialog ok paths=2");
    exchange(&editor, "dialog/s",
             ASKS(6, "ui/saveFile",
                  "{\"title\":\"t\",\"defaultPath\":\"/d\",\"defaultName\":\"n\"," FILTERS "}"),
             RESULT(6, "{\"path\":null}"), "dialog ok");
    exchange(&editor, "dialog/d",
             ASKS(7, "ui/selectDirectory", "{\"title\":\"t\",\"defaultPath\":\"/d\"}"),
             RESULT(7, "{\"path\":\"/d\"}"), "dialog ok path=/d");
    exchange(&editor, "dialog/O",
             ASKS(8, "ui/openFiles", "{\"title\":\"t\",\"defaultPath\":\"/d\"," FILTERS "}"),
             RESULT(8, "{\"paths\":null}"), "dialog ok");
    editor_stop(&editor);
}

static void test_bare_dialogs(void **state) {
    (void)state;
    dx_hermes_extension_config config = probe();
    struct editor editor = editor_running(&config);
    exchange(&editor, "bare/m", ASKS(1, "ui/showMessage", "{\"message\":\"m\"}"),
             RESULT(1, "{\"acknowledged\":true}"), NULL);
    exchange(&editor, "bare/c", ASKS(2, "ui/showConfirm", "{\"message\":\"m\"}"), RESULT(2, "null"),
             NULL);
    exchange(&editor, "bare/o", ASKS(3, "ui/openFile", "{}"), RESULT(3, "{}"), NULL);
    exchange(&editor, "bare/O", ASKS(4, "ui/openFiles", "{}"), RESULT(4, "{}"), NULL);
    exchange(&editor, "bare/s", ASKS(5, "ui/saveFile", "{}"), RESULT(5, "{}"), NULL);
    exchange(&editor, "bare/d", ASKS(6, "ui/selectDirectory", "{}"), RESULT(6, "[]"), NULL);
    editor_stop(&editor);
}

/* Answers of the wrong shape: nothing of them is handed on, and the reason is said. */
static void test_strange_results(void **state) {
    (void)state;
    dx_hermes_extension_config config = probe();
    struct editor editor = editor_running(&config);
    static const struct {
        const char *command;
        const char *result;
    } rows[] = {
        {"editor/g0", "null"},
        {"editor/g0", "[]"},
        {"editor/g0", "{}"},
        {"editor/g0", "{\"message\":7}"},
        {"editor/g0", "{\"message\":null,\"hasFile\":true}"},
        {"editor/g0", "{\"message\":\"m\",\"hasFile\":\"yes\"}"},
        {"editor/s", "\"ok\""},
        {"editor/s", "{\"success\":1}"},
        {"editor/p", "{\"success\":true}"},
        {"editor/p", "{\"success\":true,\"patchesApplied\":-1}"},
        {"editor/p", "{\"success\":true,\"patchesApplied\":1.5}"},
        {"editor/p", "{\"success\":false,\"patchesApplied\":0,\"errors\":[7]}"},
        {"editor/p", "{\"success\":false,\"patchesApplied\":0,\"errors\":{\"index\":0}}"},
        {"editor/w", "{\"windowId\":null}"},
        {"editor/w", "{\"windowId\":\"\"}"},
        {"editor/c", "{}"},
        {"dialog/c", "{\"confirmed\":\"true\"}"},
        {"dialog/o", "{\"path\":[]}"},
        {"dialog/O", "{\"paths\":\"x\"}"},
        {"dialog/O", "{\"paths\":[1]}"},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        char answer[256];
        editor_command(&editor, rows[i].command);
        free(editor_receive(&editor));
        snprintf(answer, sizeof answer, "{\"jsonrpc\":\"2.0\",\"id\":%zu,\"result\":%s}", i + 1,
                 rows[i].result);
        editor_send(&editor, answer);
        const char *line = editor_line(&editor);
        if (!strstr(line, " invalid 0: ") || !strstr(line, ": invalid response: ") ||
            strchr(line, '='))
            fail_msg("%s: %s", rows[i].result, line);
    }
    editor_stop(&editor);
}

static void test_strange_errors(void **state) {
    (void)state;
    dx_hermes_extension_config config = probe();
    struct editor editor = editor_running(&config);
    static const struct {
        const char *error;
        const char *part;
    } rows[] = {
        {"{\"code\":-32004,\"message\":\"\"}", "error -32004: editor/getMessage:  (-32004)"},
        {"{\"code\":9223372036854775807,\"message\":\"m\",\"data\":{}}", "(9223372036854775807)"},
        {"{\"code\":1,\"message\":7}", "editor/getMessage: "},
        {"{\"message\":\"m\"}", "editor/getMessage: "},
        {"\"no\"", "editor/getMessage: "},
        {"null", "editor/getMessage: "},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        char answer[256];
        editor_command(&editor, "editor/g0");
        free(editor_receive(&editor));
        snprintf(answer, sizeof answer, "{\"jsonrpc\":\"2.0\",\"id\":%zu,\"error\":%s}", i + 1,
                 rows[i].error);
        editor_send(&editor, answer);
        const char *line;
        do
            line = editor_line(&editor);
        while (line && strncmp(line, "[WARN]", 6) == 0);
        if (!line || !strstr(line, rows[i].part) || strstr(line, " ok"))
            fail_msg("%s: %s", rows[i].error, line ? line : "nothing");
    }
    editor_stop(&editor);
}

/* A message of 100,000 characters does not fit into a line; the cut is between two of them. */
static void test_long_error(void **state) {
    (void)state;
    dx_hermes_extension_config config = probe();
    struct editor editor = editor_running(&config);
    char *answer = malloc(250000);
    assert_non_null(answer);
    strcpy(answer, "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-1,\"message\":\"");
    char *at = answer + strlen(answer);
    for (int i = 0; i < 100000; i++)
        at = stpcpy(at, "\xc3\xa5");
    strcpy(at, "\"}}");
    editor_command(&editor, "editor/g0");
    free(editor_receive(&editor));
    editor_send(&editor, answer);
    free(answer);
    const char *line = editor_line(&editor);
    assert_true(strlen(line) < 300);
    assert_string_equal(line + strlen(line) - 7, "\xc3\xa5 (-1)");
    editor_stop(&editor);
}

static void test_timeouts(void **state) {
    (void)state;
    dx_hermes_extension_config config = probe();
    config.timeout_ms = 50;
    struct editor editor = editor_running(&config);
    editor_command(&editor, "time/g0"); /* the configuration's */
    editor_expect(&editor, ASKS(1, "editor/getMessage", "{\"format\":\"hl7\"}"));
    editor_log(&editor, "timed timed-out 0: editor/getMessage timed out");
    editor_command(&editor, "time/d70"); /* its own, also for a dialog */
    editor_expect(&editor, ASKS(2, "ui/showMessage", "{\"message\":\"m\"}"));
    editor_log(&editor, "timed timed-out 0: ui/showMessage timed out");
    editor_send(&editor, RESULT(1, "{\"message\":\"late\"}")); /* and is nobody's any more */
    /* A dialog waits as long as it takes, and a question that says so, too. */
    editor_command(&editor, "time/d0");
    editor_expect(&editor, ASKS(3, "ui/showMessage", "{\"message\":\"m\"}"));
    editor_command(&editor, "time/g18446744073709551615");
    editor_expect(&editor, ASKS(4, "editor/getMessage", "{\"format\":\"hl7\"}"));
    usleep(400000);
    editor_send(&editor, RESULT(4, "{\"message\":\"m\"}"));
    editor_log(&editor, "timed ok message=m");
    editor_send(&editor, RESULT(3, "{\"acknowledged\":true}"));
    editor_log(&editor, "timed ok");
    editor_stop(&editor);
}

/* 5 s is what the document recommends. */
static void test_default_timeout(void **state) {
    (void)state;
    dx_hermes_extension_config config = probe();
    struct editor editor = editor_running(&config);
    editor_command(&editor, "time/g0");
    free(editor_receive(&editor));
    uint64_t start = editor_now();
    editor_log(&editor, "timed timed-out 0: editor/getMessage timed out");
    uint64_t took = editor_now() - start;
    assert_true(took > 4500 && took < 15000);
    editor_stop(&editor);
}

/* Both sides use id 1 at once; answers come in another order; events come in between. */
static void test_both_directions(void **state) {
    (void)state;
    dx_hermes_extension_config config = probe();
    struct editor editor = editor_running(&config);
    editor_send(&editor, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"command/execute\",\"params\":{"
                         "\"command\":\"editor/p0\"}}");
    editor_expect(&editor, ASKS(1, "editor/patchMessage", "{\"patches\":[]}"));
    editor_expect(&editor, RESULT(1, "{\"success\":true}"));
    editor_command(&editor, "editor/g0");
    editor_expect(&editor, ASKS(2, "editor/getMessage", "{\"format\":\"hl7\"}"));
    /* A request whose id is that of an open question is a request all the same. */
    editor_send(&editor, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"command/execute\",\"params\":{"
                         "\"command\":\"other/x\"}}");
    editor_log(&editor, "ran other/x");
    editor_expect(&editor, RESULT(2, "{\"success\":true}"));
    editor_send(&editor,
                "{\"jsonrpc\":\"2.0\",\"method\":\"window/closed\",\"params\":{\"windowId\":"
                "\"w\",\"reason\":\"user\"}}");
    editor_log(&editor, "window w user");
    editor_send(&editor, RESULT(2, "{\"message\":\"second\"}"));
    editor_log(&editor, "editor ok message=second");
    editor_send(&editor, RESULT(1, "{\"patchesApplied\":0,\"success\":true}"));
    editor_log(&editor, "editor ok");
    editor_stop(&editor);
}

/* Answers to nothing, twice, or with another form of the id (rows 11 and 12). */
static void test_answers_to_nothing(void **state) {
    (void)state;
    dx_hermes_extension_config config = probe();
    struct editor editor = editor_running(&config);
    editor_command(&editor, "editor/g0");
    free(editor_receive(&editor));
    editor_send(&editor, RESULT(99, "{\"message\":\"x\"}"));
    editor_log_has(&editor, "[WARN] the editor: ");
    editor_send(&editor, RESULT("1", "{\"message\":\"x\"}"));
    editor_log_has(&editor, "[WARN] the editor: ");
    editor_send(&editor, "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,\"message\":"
                         "\"Parse error\"}}");
    editor_log_has(&editor, "[WARN] the editor: ");
    editor_send(&editor, RESULT(1, "{\"message\":\"first\"}"));
    editor_log(&editor, "editor ok message=first");
    editor_send(&editor, RESULT(1, "{\"message\":\"again\"}"));
    editor_log_has(&editor, "[WARN] the editor: ");
    editor_stop(&editor);
}

static void test_wrong_questions(void **state) {
    (void)state;
    dx_hermes_extension_config config = probe();
    struct editor editor = editor_running(&config);
    static const char *const misfits[] = {"wrong/k", "wrong/b", "wrong/f"};
    for (size_t i = 0; i < LENGTH(misfits); i++) {
        char said[64];
        editor_command(&editor, misfits[i]);
        editor_log_has(&editor, "[WARN] "); /* what is wrong */
        snprintf(said, sizeof said, "%s is misfit", misfits[i]);
        editor_log(&editor, said);
    }
    static const char *const invalid[] = {"wrong/m", "wrong/M", "wrong/p", "wrong/u",
                                          "wrong/w", "wrong/c", "wrong/s"};
    for (size_t i = 0; i < LENGTH(invalid); i++) {
        char said[64];
        editor_command(&editor, invalid[i]);
        snprintf(said, sizeof said, "%s is %s", invalid[i], dx_status_name(DX_ERR_INVALID));
        editor_log(&editor, said);
    }
    editor_stop(&editor);
}

/* A revision without dialogs has none to ask for. */
static void test_questions_of_another_revision(void **state) {
    (void)state;
    dx_hermes_extension_config config = probe();
    config.revision = "2025-11-24";
    struct editor editor = editor_running(&config);
    editor_command(&editor, "dialog/m");
    editor_log(&editor, "dialog/m is misfit");
    editor_stop(&editor);
}

/* Too early, and too late. */
static int ask_too_early(void *user) {
    dx_loop *loop;
    dx_hermes_extension *extension;
    dx_hermes_extension_config config = probe();
    (void)user;
    if (dx_loop_new(NULL, &loop, NULL) != DX_OK ||
        dx_hermes_extension_open(loop, &config, NULL, &extension, NULL) != DX_OK)
        return 9;
    dx_status status = dx_hermes_get_message(extension, DX_HL7_TEXT, NULL);
    dx_hermes_extension_free(extension);
    dx_loop_free(loop);
    return status;
}

static void test_too_early(void **state) {
    (void)state;
    struct editor editor = editor_start(ask_too_early, NULL);
    editor_gone(&editor, DX_MISFIT);
}

static void test_open_at_the_end(void **state) {
    (void)state;
    dx_hermes_extension_config config = probe();
    config.on_shutdown = ask_last;
    struct editor editor = editor_running(&config);
    editor_command(&editor, "dialog/m");
    free(editor_receive(&editor));
    editor_send(&editor, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"shutdown\"}");
    editor_expect(&editor, ASKS(2, "editor/getMessage", "{\"format\":\"hl7\"}"));
    editor_expect(&editor, RESULT(2, "{\"success\":true}"));
    editor_log_has(&editor, "dialog lost 0: ui/showMessage: ");
    editor_log_has(&editor, "last lost 0: editor/getMessage: ");
    editor_log(&editor, "again is closed");
    editor_gone(&editor, 0);
    editor = editor_running(&config);
    editor_command(&editor, "last/m");
    free(editor_receive(&editor));
    editor_close(&editor);
    editor_log_has(&editor, "last lost 0: editor/getMessage: ");
    editor_log(&editor, "again is closed");
    editor_gone(&editor, 0);
}

/* Asks for the message, then in the answer for it again; from the fourth on it frees itself. */
static void ask_again(dx_hermes_extension *extension, const dx_hermes_answer *answer, void *user) {
    unsigned *count = user;
    dx_hermes_ask again = {.on_done = ask_again, .user = count};
    (void)answer;
    if (++*count < 4)
        dx_hermes_get_message(extension, DX_HL7_TEXT, &again);
    else
        exit(dx_hermes_extension_free(extension) ? 1 : 3);
}

static void begin_asking(dx_hermes_extension *extension, const dx_hermes_told *told, void *user) {
    dx_hermes_ask again = {.on_done = ask_again, .user = user};
    (void)told;
    dx_hermes_get_message(extension, DX_HL7_TEXT, &again);
}

static void test_questions_in_answers(void **state) {
    (void)state;
    unsigned count = 0;
    dx_hermes_extension_config config = probe();
    config.on_start = begin_asking;
    config.user = &count;
    struct editor editor = editor_running(&config);
    for (int i = 1; i <= 4; i++) {
        char answer[128];
        free(editor_receive(&editor));
        snprintf(answer, sizeof answer,
                 "{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{\"message\":\"\"}}", i);
        editor_send(&editor, answer);
    }
    editor_gone(&editor, 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_messages),
        cmocka_unit_test(test_patches),
        cmocka_unit_test(test_windows),
        cmocka_unit_test(test_dialogs),
        cmocka_unit_test(test_bare_dialogs),
        cmocka_unit_test(test_strange_results),
        cmocka_unit_test(test_strange_errors),
        cmocka_unit_test(test_long_error),
        cmocka_unit_test(test_timeouts),
        cmocka_unit_test(test_default_timeout),
        cmocka_unit_test(test_both_directions),
        cmocka_unit_test(test_answers_to_nothing),
        cmocka_unit_test(test_wrong_questions),
        cmocka_unit_test(test_questions_of_another_revision),
        cmocka_unit_test(test_too_early),
        cmocka_unit_test(test_open_at_the_end),
        cmocka_unit_test(test_questions_in_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
