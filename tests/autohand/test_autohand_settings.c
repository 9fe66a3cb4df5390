/* What the configuration file says, and what it may not say. */
#include "autohand/guard.h"

struct stage {
    struct unit_memory memory;
    dx_allocator alloc;
    struct dx__autohand_settings settings;
    dx_error error;
};

static void begin(struct stage *stage) {
    memset(stage, 0, sizeof *stage);
    stage->alloc = unit_allocator(&stage->memory);
}

static dx_status take(struct stage *stage, const char *text) {
    dx__autohand_settings_done(&stage->settings, &stage->alloc);
    return dx__autohand_settings_read(&stage->settings, &stage->alloc, dx_str(text), &stage->error);
}

static void done(struct stage *stage) {
    dx__autohand_settings_done(&stage->settings, &stage->alloc);
    assert_int_equal(stage->memory.blocks, 0);
}

static const char full[] =
    "{\"provider\":\"llamacpp\",\"llamacpp\":{\"baseUrl\":\"http://127.0.0.1:1/\",\"model\":\"m\","
    "\"apiKey\":\"k\"},\"features\":{\"readBeforeWrite\":false},"
    "\"permissions\":{\"mode\":\"unrestricted\",\"allow\":[\"run_command:npm *\"],"
    "\"whitelist\":[\"search\"],\"blacklist\":[\"run_command:sudo *\"],\"deny\":[\"delete_path\"],"
    "\"rules\":[{\"tool\":\"run_command\",\"pattern\":\"make\",\"action\":\"allow\"},"
    "{\"tool\":\"write_file\",\"action\":\"deny\"},"
    "{\"tool\":\"run_command\",\"pattern\":\"git push*\",\"action\":\"prompt\"}]},"
    "\"hooks\":{\"enabled\":false,\"hooks\":["
    "{\"event\":\"pre-tool\",\"command\":\"one\",\"matcher\":\"^run\",\"timeout\":70,"
    "\"filter\":{\"tool\":[\"a\",\"b\"],\"path\":[\"src/*.{c,h}\"]}},"
    "{\"event\":\"post-response\",\"command\":\"two\",\"async\":true,\"enabled\":false}]}}";

static void test_everything(void **state) {
    struct stage stage;
    struct dx__autohand_settings *it = &stage.settings;
    (void)state;
    begin(&stage);
    assert_int_equal(take(&stage, full), DX_OK);
    assert_true(it->allow_all && it->stale_off && it->hooks_off && !it->restricted);
    assert_string_equal(it->provider, "llamacpp");
    assert_string_equal(it->url, "http://127.0.0.1:1/v1");
    assert_string_equal(it->model, "m");
    assert_string_equal(it->key, "k");
    assert_int_equal(dx__autohand_list_count(it->allow), 3);
    assert_string_equal(it->allow[0], "run_command:npm *");
    assert_string_equal(it->allow[1], "search");
    assert_string_equal(it->allow[2], "run_command:make");
    assert_int_equal(dx__autohand_list_count(it->deny), 3);
    assert_string_equal(it->deny[2], "write_file");
    assert_int_equal(dx__autohand_list_count(it->ask), 1);
    assert_string_equal(it->ask[0], "run_command:git push*");
    assert_int_equal(it->hook_count, 2);
    assert_int_equal(it->hooks[0].event, DX__HOOK_PRE_TOOL);
    assert_string_equal(it->hooks[0].command, "one");
    assert_int_equal(it->hooks[0].timeout_ms, 70);
    assert_true(it->hooks[0].pattern && !it->hooks[0].is_async && !it->hooks[0].disabled);
    assert_string_equal(it->hooks[0].tools[1], "b");
    assert_int_equal(dx__autohand_list_count(it->hooks[0].paths), 2);
    assert_string_equal(it->hooks[0].paths[0], "src/*.c");
    assert_string_equal(it->hooks[0].paths[1], "src/*.h");
    assert_int_equal(it->hooks[1].event, DX__HOOK_STOP);
    assert_int_equal(it->hooks[1].timeout_ms, 5000);
    assert_true(it->hooks[1].is_async && it->hooks[1].disabled && !it->hooks[1].tools);
    assert_null(it->notes);
    done(&stage);
}

static void test_nothing(void **state) {
    struct stage stage;
    (void)state;
    begin(&stage);
    assert_int_equal(take(&stage, " {} "), DX_OK);
    struct dx__autohand_settings empty = {0};
    assert_memory_equal(&stage.settings, &empty, sizeof empty);
    done(&stage);
}

static void test_every_event(void **state) {
    static const char *const names[] = {
        "pre-tool",      "post-tool",   "file-modified", "pre-prompt", "stop",
        "session-start", "session-end", "session-error", "rate-limit", "permission-request"};
    struct stage stage;
    char text[200];
    (void)state;
    begin(&stage);
    for (size_t i = 0; i < LENGTH(names); i++) {
        (void)snprintf(text, sizeof text,
                       "{\"hooks\":{\"hooks\":[{\"event\":\"%s\",\"command\":\"c\"}]}}", names[i]);
        assert_int_equal(take(&stage, text), DX_OK);
        assert_int_equal(stage.settings.hook_count, 1);
        assert_int_equal(stage.settings.hooks[0].event, i);
    }
    done(&stage);
}

static void test_what_is_wrong(void **state) {
    static const struct {
        const char *text;
        const char *phrase;
    } rows[] = {
        {"", "settings: invalid JSON at line 1"},
        {"{\n\n\"a\":}", "settings: invalid JSON at line 3"},
        {"[]", "settings: expected object, found array"},
        {"{\"hooks\":[]}", "settings: /hooks: expected object, found array"},
        {"{\"hooks\":{\"hooks\":[{\"event\":\"stop\"}]}}",
         "settings: /hooks/hooks/0: missing member \"command\""},
        {"{\"hooks\":{\"hooks\":[{\"event\":\"stop\",\"command\":7}]}}",
         "settings: /hooks/hooks/0/command: expected string, found number"},
        {"{\"permissions\":{\"mode\":\"wild\"}}", NULL},
        {"{\"permissions\":{\"deny\":\"x\"}}",
         "settings: /permissions/deny: expected array, found string"},
        {"{\"permissions\":{\"rules\":[{\"tool\":\"x\",\"action\":\"maybe\"}]}}", NULL},
        {"{\"a\":\"\\u0000\"}", "settings: a string contains a NUL character"},
        {"{\"permissions\":{\"deny\":[\"x\"]},\"permissions\":{}}",
         "settings: /permissions: duplicate key"},
        {"{\"hooks\":{\"hooks\":[{\"event\":\"stop\",\"command\":\"x\"},{\"event\":\"stop\","
         "\"command\":\"x\",\"async\":true,\"async\":true}]}}",
         "settings: /hooks/hooks/1/async: duplicate key"},
        {"{\"provider\":\"openai\",\"openai\":7}", "settings: /openai: expected an object"},
        {"{\"provider\":\"openai\",\"openai\":{\"baseUrl\":7}}",
         "settings: /openai/baseUrl: expected a non-empty string"},
        {"{\"provider\":\"command\"}",
         "settings: /command/argv: expected an array of strings: a program and its arguments"},
        {"{\"provider\":\"command\",\"command\":{\"argv\":[7]}}",
         "settings: /command/argv: expected strings"},
    };
    struct stage stage;
    (void)state;
    begin(&stage);
    for (size_t i = 0; i < LENGTH(rows); i++) {
        assert_int_equal(take(&stage, rows[i].text), DX_ERR_INVALID);
        if (rows[i].phrase)
            assert_string_equal(stage.error.phrase, rows[i].phrase);
        assert_memory_equal(stage.error.phrase, "settings: ", 10);
        assert_null(stage.settings.hooks);
    }
    assert_int_equal(take(&stage, "{\"a\":\"\\\\u0000\"}"), DX_OK); /* no NUL: a backslash */
    done(&stage);
}

static void repeat(char *to, const char *piece, size_t count, const char *end) {
    size_t len = strlen(piece);
    for (size_t i = 0; i < count; i++, to += len)
        memcpy(to, piece, len);
    memcpy(to, end, strlen(end) + 1);
}

/* `before`, the piece so often, `after`. */
static dx_status take_many(struct stage *stage, const char *before, const char *piece, size_t count,
                           const char *after) {
    char *text = malloc(strlen(before) + strlen(piece) * count + strlen(after) + 1);
    assert_non_null(text);
    memcpy(text, before, strlen(before));
    repeat(text + strlen(before), piece, count, after);
    dx_status status = take(stage, text);
    free(text);
    return status;
}

static void test_limits(void **state) {
    static const struct {
        const char *before;
        const char *piece;
        size_t most;
        const char *after;
    } rows[] = {
        {"{\"hooks\":{\"hooks\":[", "{\"event\":\"stop\",\"command\":\"c\"},", 999,
         "{\"event\":\"stop\",\"command\":\"c\"}]}}"},
        {"{\"hooks\":{\"hooks\":[{\"event\":\"stop\",\"command\":\"", "x", 65536, "\"}]}}"},
        {"{\"hooks\":{\"hooks\":[{\"event\":\"stop\",\"command\":\"c\",\"matcher\":\"", "x", 1000,
         "\"}]}}"},
        {"{\"permissions\":{\"allow\":[\"", "x", 1000, "\"]}}"},
        {"{\"permissions\":{\"deny\":[", "\"x\",", 999, "\"x\"]}}"},
        {"{\"a\":", "[", 63, NULL},
        {"{\"a\":\"", "x", (4 << 20) - 8, "\"}"},
    };
    struct stage stage;
    (void)state;
    begin(&stage);
    for (size_t i = 0; i < LENGTH(rows); i++) {
        char closing[70] = "";
        if (!rows[i].after)
            repeat(closing, "]", 63, "}");
        assert_int_equal(take_many(&stage, rows[i].before, rows[i].piece, rows[i].most,
                                   rows[i].after ? rows[i].after : closing),
                         DX_OK);
        if (!rows[i].after)
            repeat(closing, "]", 64, "}");
        assert_int_equal(take_many(&stage, rows[i].before, rows[i].piece, rows[i].most + 1,
                                   rows[i].after ? rows[i].after : closing),
                         DX_ERR_INVALID);
    }
    done(&stage);
}

static void test_timeout(void **state) {
    static const struct {
        const char *number;
        dx_status status;
    } rows[] = {{"0", DX_ERR_INVALID},       {"1", DX_OK},   {"3600000", DX_OK},
                {"3600001", DX_ERR_INVALID}, {"5e2", DX_OK}, {"1.5", DX_ERR_INVALID}};
    struct stage stage;
    char text[200];
    (void)state;
    begin(&stage);
    for (size_t i = 0; i < LENGTH(rows); i++) {
        (void)snprintf(text, sizeof text,
                       "{\"hooks\":{\"hooks\":[{\"event\":\"stop\",\"command\":\"c\","
                       "\"timeout\":%s}]}}",
                       rows[i].number);
        assert_int_equal(take(&stage, text), rows[i].status);
        if (rows[i].status == DX_OK)
            assert_int_equal(stage.settings.hooks[0].timeout_ms, atof(rows[i].number));
    }
    done(&stage);
}

static void test_what_is_odd(void **state) {
    struct stage stage;
    (void)state;
    begin(&stage);
    assert_int_equal(
        take(
            &stage,
            "{\"telemetry\":{},\"ui\":1,\"permissions\":{\"denny\":[]},\"provider\":\"mine\","
            "\"mine\":{\"baseURL\":1},\"hooks\":{\"hooks\":["
            "{\"event\":\"team-created\",\"command\":\"a\"},"
            "{\"event\":\"team-created\",\"command\":\"b\",\"enabled\":false},"
            "{\"event\":\"pre-tool\",\"command\":\"c\",\"matcher\":\"(\",\"filter\":{\"x\":1}}]}}"),
        DX_OK);
    assert_int_equal(stage.settings.hook_count, 1);
    assert_non_null(stage.settings.hooks[0].matcher);
    assert_null(stage.settings.hooks[0].pattern);
    char **notes = stage.settings.notes;
    assert_int_equal(dx__autohand_list_count(notes), 7);
    assert_string_equal(notes[0], "settings: /: ignoring unknown keys: telemetry, ui");
    assert_string_equal(notes[1], "settings: /hooks/hooks/0/event: unknown event");
    assert_string_equal(notes[2], "settings: /hooks/hooks/2: ignoring unknown keys: x");
    assert_non_null(strstr(notes[3], "/hooks/hooks/2/matcher: "));
    assert_string_equal(notes[4], "settings: /permissions: ignoring unknown keys: denny");
    assert_string_equal(notes[5], "settings: /mine: ignoring unknown keys: baseURL");
    assert_string_equal(notes[6], "settings: /provider: unknown provider without a baseUrl");
    done(&stage);
}

static void test_models(void **state) {
    static const struct {
        const char *text;
        const char *url;
        const char *model;
    } rows[] = {
        {"{\"provider\":\"openai\",\"model\":\"a\"}", "https://api.openai.com/v1", "a"},
        {"{\"provider\":\"openai\",\"model\":\"a\",\"openai\":{\"model\":\"b\"}}",
         "https://api.openai.com/v1", "b"},
        {"{\"provider\":\"openai\",\"openai\":{\"baseUrl\":\"http://h/x//\"}}", "http://h/x", NULL},
        {"{\"provider\":\"llamacpp\"}", "http://127.0.0.1:8080/v1", NULL},
        {"{\"provider\":\"llamacpp\",\"llamacpp\":{\"baseUrl\":\"http://h/v1/\"}}", "http://h/v1",
         NULL},
        {"{\"provider\":\"mine\",\"mine\":{\"url\":\"http://h\",\"model\":\"m\"}}", "http://h",
         "m"},
    };
    struct stage stage;
    (void)state;
    begin(&stage);
    for (size_t i = 0; i < LENGTH(rows); i++) {
        assert_int_equal(take(&stage, rows[i].text), DX_OK);
        assert_string_equal(stage.settings.url, rows[i].url);
        if (rows[i].model)
            assert_string_equal(stage.settings.model, rows[i].model);
        else
            assert_null(stage.settings.model);
    }
    assert_int_equal(take(&stage, "{\"provider\":\"script\",\"script\":{\"file\":\"f\"}}"), DX_OK);
    assert_string_equal(stage.settings.script, "f");
    assert_int_equal(take(&stage, "{\"provider\":\"command\",\"command\":{\"argv\":[\"a\",\"\"]}}"),
                     DX_OK);
    assert_int_equal(dx__autohand_list_count(stage.settings.argv), 2);
    assert_string_equal(stage.settings.argv[0], "a");
    assert_null(stage.settings.url);
    done(&stage);
}

static void test_memory(void **state) {
    struct stage stage;
    dx_status status = DX_ERR_NOMEM;
    (void)state;
    for (size_t at = 1; status != DX_OK; at++) {
        begin(&stage);
        stage.memory.fail_at = at;
        stage.memory.fails = 1;
        status = take(&stage, full);
        assert_true(status == DX_OK || status == DX_ERR_NOMEM);
        if (status == DX_OK)
            assert_true(stage.memory.count < at);
        done(&stage);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_everything),  cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_every_event), cmocka_unit_test(test_what_is_wrong),
        cmocka_unit_test(test_limits),      cmocka_unit_test(test_timeout),
        cmocka_unit_test(test_what_is_odd), cmocka_unit_test(test_models),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
