/* Settings: declared, told in the handshake, sent, read. */
#include "reginald/plugin_talk.h"

static struct talk talk;
static char seen[512]; /* what the last handler saw */

static const dx_reginald_entry of_plugin[] = {
    {.value = {"home", DX_REGINALD_STRING, 0, "/ho\"me"}, .env = "HOME_OF", .flag_only = 1},
    {.value = {"count", DX_REGINALD_INT, INT64_MIN, NULL}},
    {.value = {.key = NULL}},
};
static const dx_reginald_entry of_command[] = {
    {.value = {"count", DX_REGINALD_INT, 7, NULL}, .has_flag = 1, .flag = "number", .usage = "u"},
    {.value = {"loud", DX_REGINALD_BOOL, 5, NULL}, .has_flag = 1, .shorthand = 'l'},
    {.value = {"name", DX_REGINALD_STRING, 0, NULL}},
    {.value = {.key = NULL}},
};

static void look(dx_reginald_work *work, void *user) {
    int len = snprintf(seen, sizeof seen, "%s %s count=%lld loud=%d name=%s home=%s none=%lld,%s",
                       (const char *)user, dx_reginald_name(work) ? dx_reginald_name(work) : "-",
                       (long long)dx_reginald_int(work, "count"), dx_reginald_bool(work, "loud"),
                       dx_reginald_text(work, "name"), dx_reginald_text(work, "home"),
                       (long long)dx_reginald_int(work, "name"), dx_reginald_text(work, "count"));
    for (size_t i = 0; dx_reginald_word(work, i); i++)
        len += snprintf(seen + len, sizeof seen - (size_t)len, " [%s]", dx_reginald_word(work, i));
    for (size_t i = 0; dx_reginald_settings(work, i); i++)
        len += snprintf(seen + len, sizeof seen - (size_t)len, " (%s:%d)",
                        dx_reginald_settings(work, i)->key, dx_reginald_settings(work, i)->type);
    if (dx_reginald_folder(work))
        (void)snprintf(seen + len, sizeof seen - (size_t)len, " in %s", dx_reginald_folder(work));
    if (strcmp(dx_reginald_text(work, "name"), "bad") == 0)
        dx_reginald_fail(work, "bad name");
    else
        dx_reginald_done(work);
}

static int begin(void **state) {
    static char words[][9] = {"setup", "run", "validate", "init"};
    (void)state;
    talk_new(&talk, of_plugin);
    dx_reginald_command command = {.name = "go",
                                   .usage = NULL,
                                   .settings = of_command,
                                   .setup = look,
                                   .run = look,
                                   .user = words[1]};
    dx_reginald_task task = {
        .type = "file", .settings = of_command, .validate = look, .run = look, .user = words[2]};
    dx_reginald_task open = {
        .type = "any", .open = 1, .settings = of_command, .run = look, .user = words[2]};
    assert_int_equal(dx_reginald_add_command(talk.plugin, &command, NULL), DX_OK);
    assert_int_equal(dx_reginald_add_task(talk.plugin, &task, NULL), DX_OK);
    assert_int_equal(dx_reginald_add_task(talk.plugin, &open, NULL), DX_OK);
    dx_reginald_on_initialize(talk.plugin, look, words[3]);
    talk_open(&talk);
    return 0;
}

static int end(void **state) {
    (void)state;
    talk_free(&talk);
    return 0;
}

static void request(char room[2000], const char *method, const char *more, const char *config) {
    (void)snprintf(room, 2000,
                   "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"%s\",\"params\":{%s%s%s%s}}", method,
                   more, config ? ",\"config\":[" : "", config ? config : "", config ? "]" : "");
}

static void good(const char *method, const char *more, const char *config) {
    char body[2000];
    request(body, method, more, config);
    talk_ask(&talk, body, TALK_GOOD("5"));
}

static void bad(const char *method, const char *more, const char *config, int code,
                const char *part) {
    char body[2000];
    request(body, method, more, config);
    talk_refused(&talk, body, "5", code, part);
}

#define SETUP "\"name\":\"go\",\"args\":null"
#define INT(key, value) "{\"key\":\"" key "\",\"value\":" value ",\"type\":\"int\"}"
#define WORD(key, value) "{\"key\":\"" key "\",\"value\":\"" value "\",\"type\":\"string\"}"
#define BOOL(key, value) "{\"key\":\"" key "\",\"value\":" value ",\"type\":\"bool\"}"

static void the_handshake_tells_all(void **state) {
    (void)state;
    talk_ask(&talk, TALK_HANDSHAKE,
             "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocol\":\"rpp\",\"protocolVersion\":0,"
             "\"name\":\"probe\",\"version\":\"1.2.3\",\"configs\":[{\"key\":\"home\",\"value\":"
             "\"/ho\\\"me\",\"type\":\"string\",\"envOverride\":\"HOME_OF\",\"flagOnly\":true},{"
             "\"key\":\"count\",\"value\":-9223372036854775808,\"type\":\"int\"}],\"commands\":[{"
             "\"name\":\"go\",\"usage\":\"\",\"configs\":[{\"key\":\"count\",\"value\":7,\"type\":"
             "\"int\",\"flag\":{\"name\":\"number\",\"usage\":\"u\"}},{\"key\":\"loud\",\"value\":"
             "true,\"type\":\"bool\",\"flag\":{\"shorthand\":\"l\"}},{\"key\":\"name\",\"value\":"
             "\"\",\"type\":\"string\"}]}],\"tasks\":[{\"type\":\"file\",\"configs\":[{\"key\":"
             "\"count\",\"value\":7,\"type\":\"int\",\"flag\":{\"name\":\"number\",\"usage\":\"u\"}"
             "},{\"key\":\"loud\",\"value\":true,\"type\":\"bool\",\"flag\":{\"shorthand\":\"l\"}},"
             "{\"key\":\"name\",\"value\":\"\",\"type\":\"string\"}]},{\"type\":\"any\","
             "\"configs\":[{\"key\":\"count\",\"value\":7,\"type\":\"int\",\"flag\":{\"name\":"
             "\"number\",\"usage\":\"u\"}},{\"key\":\"loud\",\"value\":true,\"type\":\"bool\","
             "\"flag\":{\"shorthand\":\"l\"}},{\"key\":\"name\",\"value\":\"\",\"type\":\"string\"}"
             "]}]}}");
}

static void values_come_else_defaults(void **state) {
    (void)state;
    talk_greet(&talk);
    assert_string_equal(seen,
                        "init - count=-9223372036854775808 loud=0 name= home=/ho\"me none=0,");
    good("runCommand", "\"name\":\"go\"", NULL);
    assert_string_equal(seen, "run go count=7 loud=1 name= home=/ho\"me none=0,");
    good("setupCommand", "\"name\":\"go\",\"args\":[\"a b\",\"\",\"ü\"]",
         INT("count", "9223372036854775807") "," BOOL("loud", "false") "," WORD("name", "x\\ty"));
    assert_string_equal(seen, "run go count=9223372036854775807 loud=0 name=x\ty home=/ho\"me "
                              "none=0, [a b] [] [ü] (count:2) (loud:1) (name:3)");
    good("runCommand", "\"name\":\"go\"", NULL);
    assert_string_equal(seen, "run go count=9223372036854775807 loud=0 name=x\ty home=/ho\"me "
                              "none=0, [a b] [] [ü] (count:2) (loud:1) (name:3)");
    /* Each starts anew; of one key twice the last counts. */
    good("setupCommand", SETUP, INT("count", "1") "," INT("count", "3.0"));
    good("runCommand", "\"name\":\"go\"", NULL);
    assert_string_equal(seen,
                        "run go count=3 loud=1 name= home=/ho\"me none=0, (count:2) (count:2)");
}

static void the_plugin_s_own(void **state) {
    (void)state;
    talk_say(&talk, TALK_HANDSHAKE);
    talk_hear(&talk);
    bad("initialize", "\"logging\":{\"enabled\":true,\"level\":\"INFO\"}", INT("nope", "1"), -32602,
        "\\\"nope\\\" is unknown");
    good("initialize", "\"logging\":{\"enabled\":true,\"level\":\"INFO\"}", WORD("home", "/h"));
    assert_string_equal(seen, "init - count=-9223372036854775808 loud=0 name= home=/h none=0, "
                              "(home:3)");
    good("runCommand", "\"name\":\"go\"", NULL);
    assert_string_equal(seen, "run go count=7 loud=1 name= home=/h none=0,");
}

static void row_19_what_is_refused(void **state) {
    (void)state;
    talk_greet(&talk);
    *seen = '\0';
    bad("setupCommand", SETUP, INT("nope", "1"), -32602, "\\\"nope\\\" is unknown");
    bad("setupCommand", SETUP, WORD("count", "1"), -32602, "\\\"count\\\" is not of type int");
    bad("setupCommand", SETUP, INT("loud", "1"), -32602, "is not of type bool");
    bad("setupCommand", SETUP, BOOL("name", "true"), -32602, "is not of type string");
    bad("setupCommand", SETUP, INT("count", "\"1\""), -32602, "");
    bad("setupCommand", SETUP, INT("count", "1.5"), -32602, "");
    bad("setupCommand", SETUP, INT("count", "9223372036854775808"), -32602,
        "is not a 64-bit integer");
    bad("setupCommand", SETUP, INT("count", "1e300"), -32602, "is not a 64-bit integer");
    bad("setupCommand", SETUP, WORD("name", "a\\u0000b"), -32602, "\\\"name\\\" contains a NUL");
    bad("setupCommand", SETUP, INT("count\\u0000", "1"), -32602, "has an invalid key");
    bad("setupCommand", "\"name\":\"go\",\"args\":[\"a\\u0000\"]", NULL, -32602,
        "an argument contains a NUL");
    bad("setupCommand", "\"name\":\"go\",\"args\":[1]", NULL, -32602, "");
    bad("setupCommand", "\"name\":\"no\",\"args\":null", NULL, -32602,
        "unknown command \\\"no\\\"");
    bad("setupCommand", "\"name\":\"go\\u0000\",\"args\":null", NULL, -32602, "unknown command");
    bad("setupCommand", "\"args\":null", NULL, -32602, "");
    bad("runCommand", "\"name\":\"file\"", NULL, -32602, "unknown command \\\"file\\\"");
    bad("validateTask", "\"type\":\"go\"", NULL, -32602, "unknown task \\\"go\\\"");
    bad("runTask", "\"type\":\"no\",\"dir\":\"/\"", NULL, -32602, "unknown task");
    bad("runTask", "\"type\":\"file\"", NULL, -32602, "");
    bad("runTask", "\"type\":\"file\",\"dir\":\"a\\u0000\"", NULL, -32602, "NUL");
    bad("runTask", "\"type\":\"file\",\"dir\":\"/\"", INT("nope", "1"), -32602, "unknown");
    talk_refused(&talk, "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"setupCommand\"}", "5", -32602,
                 "");
    assert_string_equal(seen, "");
}

static void what_setup_refuses_is_not_run(void **state) {
    (void)state;
    talk_greet(&talk);
    good("setupCommand", SETUP, INT("count", "1"));
    bad("setupCommand", SETUP, WORD("name", "bad"), -32602, "\"message\":\"bad name\"");
    good("runCommand", "\"name\":\"go\"", NULL);
    assert_string_equal(seen, "run go count=7 loud=1 name= home=/ho\"me none=0,");
}

static void tasks(void **state) {
    (void)state;
    talk_greet(&talk);
    good("validateTask", "\"type\":\"file\"", INT("count", "2"));
    assert_string_equal(seen, "validate file count=2 loud=1 name= home=/ho\"me none=0, (count:2)");
    bad("validateTask", "\"type\":\"file\"", WORD("name", "bad"), -32050, "bad name");
    good("runTask", "\"type\":\"file\",\"dir\":\"/tmp/ä\"", NULL);
    assert_string_equal(seen, "validate file count=7 loud=1 name= home=/ho\"me none=0, in /tmp/ä");
    bad("runTask", "\"type\":\"file\",\"dir\":\"\"", WORD("name", "bad"), -32603, "bad name");
    *seen = '\0';
    good("validateTask", "\"type\":\"any\"", INT("new", "2"));
    assert_string_equal(seen, "");
    good("runTask", "\"type\":\"any\",\"dir\":\"d\"", INT("new", "2") "," INT("count", "4"));
    assert_string_equal(
        seen, "validate any count=4 loud=1 name= home=/ho\"me none=0, (new:2) (count:2) in d");
    bad("runTask", "\"type\":\"any\",\"dir\":\"d\"", BOOL("count", "true"), -32602, "type int");
}

static void what_can_not_be_declared(void **state) {
    (void)state;
    static const dx_reginald_entry twice[] = {{.value = {"a", DX_REGINALD_INT, 0, NULL}},
                                              {.value = {"a", DX_REGINALD_BOOL, 0, NULL}},
                                              {.value = {.key = NULL}}};
    static const dx_reginald_entry rows[][2] = {
        {{.value = {"", DX_REGINALD_INT, 0, NULL}}, {.value = {.key = NULL}}},
        {{.value = {"a", 0, 0, NULL}}, {.value = {.key = NULL}}},
        {{.value = {"a\xff", DX_REGINALD_INT, 0, NULL}}, {.value = {.key = NULL}}},
        {{.value = {"a", DX_REGINALD_STRING, 0, "\xed\xa0\x80"}}, {.value = {.key = NULL}}},
        {{.value = {"a", DX_REGINALD_INT, 0, NULL}, .shorthand = '-'}, {.value = {.key = NULL}}},
        {{.value = {"a", DX_REGINALD_INT, 0, NULL}, .flag = ""}, {.value = {.key = NULL}}},
        {{.value = {"a", DX_REGINALD_INT, 0, NULL}, .usage = "\xc0\x80"}, {.value = {.key = NULL}}},
        {{.value = {"a", DX_REGINALD_INT, 0, NULL}, .env = ""}, {.value = {.key = NULL}}},
    };
    dx_reginald_plugin *plugin = NULL;
    dx_error error = {.phrase = ""};
    assert_int_equal(dx_reginald_plugin_new("", "1", NULL, &plugin), DX_ERR_INVALID);
    assert_int_equal(dx_reginald_plugin_new(NULL, "1", NULL, &plugin), DX_ERR_INVALID);
    assert_int_equal(dx_reginald_plugin_new("a", NULL, NULL, &plugin), DX_ERR_INVALID);
    assert_int_equal(dx_reginald_plugin_new("a", "\xff", NULL, &plugin), DX_ERR_INVALID);
    assert_int_equal(dx_reginald_plugin_new("a", "1", twice, &plugin), DX_ERR_INVALID);
    for (size_t i = 0; i < LENGTH(rows); i++)
        assert_int_equal(dx_reginald_plugin_new("a", "1", rows[i], &plugin), DX_ERR_INVALID);
    assert_int_equal(dx_reginald_plugin_new("a", "", NULL, &plugin), DX_OK);
    dx_reginald_command command = {.name = "x", .run = look, .settings = twice};
    assert_int_equal(dx_reginald_add_command(plugin, &command, &error), DX_ERR_INVALID);
    assert_string_equal(error.phrase, "command \"x\": the setting \"a\": it is declared twice");
    command.settings = NULL;
    static const char *const names[] = {NULL, "", "attend", "apply", "tend", "\x80"};
    for (size_t i = 0; i < LENGTH(names); i++) {
        command.name = names[i];
        assert_int_equal(dx_reginald_add_command(plugin, &command, NULL), DX_ERR_INVALID);
    }
    command = (dx_reginald_command){.name = "x"};
    assert_int_equal(dx_reginald_add_command(plugin, &command, &error), DX_ERR_INVALID);
    command.run = look;
    assert_int_equal(dx_reginald_add_command(plugin, &command, NULL), DX_OK);
    assert_int_equal(dx_reginald_add_command(plugin, &command, &error), DX_ERR_INVALID);
    assert_string_equal(error.phrase, "command \"x\": it is declared twice");
    dx_reginald_task task = {.type = "link", .run = look};
    assert_int_equal(dx_reginald_add_task(plugin, &task, NULL), DX_ERR_INVALID);
    task.type = "x";
    assert_int_equal(dx_reginald_add_task(plugin, &task, NULL), DX_OK);
    assert_null(dx_reginald_plugin_free(plugin));
    assert_null(dx_reginald_plugin_free(NULL));
    task.type = "y";
    assert_int_equal(dx_reginald_add_task(talk.plugin, &task, &error), DX_ERR_INVALID);
    assert_string_equal(error.phrase, "task \"y\": the plugin is already open");
}

#define ROW(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void) {
    const struct CMUnitTest tests[] = {
        ROW(the_handshake_tells_all),  ROW(values_come_else_defaults),     ROW(the_plugin_s_own),
        ROW(row_19_what_is_refused),   ROW(what_setup_refuses_is_not_run), ROW(tasks),
        ROW(what_can_not_be_declared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
