/* Which model it is that settings and options ask for. */
#include "autohand/model_talk.h"

static char path[] = "/tmp/model-choose-XXXXXX";

static int start(void **state) {
    static const char text[] = "{\"text\":\"script\",\"repeat\":true}\n";
    int fd = mkstemp(path);
    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, sizeof text - 1), sizeof text - 1);
    (void)close(fd);
    return 0;
}

static int stop(void **state) {
    (void)state;
    (void)unlink(path);
    return 0;
}

static void chooses(const dx_autohand_choice *choice, const char *name, const char *heard) {
    struct talk *talk = talk_new();
    dx_error error = {0};
    if (dx_autohand_model_choose(talk->loop, choice, &talk->model, &error) != DX_OK)
        fail_msg("%s", error.phrase);
    assert_string_equal(talk->model->name, name);
    if (heard) {
        talk_ask(talk, "hello");
        talk_run(talk);
        if (strncmp(talk->heard, heard, strlen(heard)) != 0)
            fail_msg("%s", talk->heard);
    }
    talk_free(talk);
}

static const char *settings_for(const char *before, const char *name, const char *after) {
    static char room[500];
    (void)snprintf(room, sizeof room, "%s%s%s", before, name, after);
    return room;
}

static void choices(void **state) {
    (void)state;
    const char *argv[] = {"printf", "{\"text\":\"program\"}\\n{\"done\":true}\\n", NULL};
    const char *nobody = "http://127.0.0.1:1";
    chooses(&(dx_autohand_choice){0}, "offline", "text(No model is configured");
    chooses(&(dx_autohand_choice){.settings = "{}"}, "offline", "text(No model is configured");
    chooses(&(dx_autohand_choice){.script = path}, "script", "text(script)");
    chooses(&(dx_autohand_choice){.argv = argv}, "command", "text(program)");
    chooses(&(dx_autohand_choice){.argv = argv, .model = "m"}, "m", "text(program)");
    chooses(&(dx_autohand_choice){.url = nobody, .tries = 1}, "default", "fail(network");
    chooses(&(dx_autohand_choice){.url = nobody, .model = "m"}, "m", NULL);

    const char *script =
        settings_for("{\"provider\":\"script\",\"script\":{\"file\":\"", path, "\"}}");
    chooses(&(dx_autohand_choice){.settings = script}, "script", "text(script)");
    chooses(&(dx_autohand_choice){.settings = script, .argv = argv}, "command", "text(program)");
    chooses(&(dx_autohand_choice){.settings = script, .url = nobody, .tries = 1}, "default",
            "fail(network");
    const char *program = "{\"provider\":\"command\",\"command\":{\"argv\":[\"printf\","
                          "\"{\\\"text\\\":\\\"set\\\"}\\\\n{\\\"done\\\":true}\\\\n\"]}}";
    chooses(&(dx_autohand_choice){.settings = program}, "command", "text(set)");
    chooses(&(dx_autohand_choice){.settings = program, .script = path}, "script", "text(script)");
    const char *http = "{\"provider\":\"openai\",\"openai\":{\"baseUrl\":\"http://127.0.0.1:1\","
                       "\"model\":\"n\"}}";
    chooses(&(dx_autohand_choice){.settings = http, .tries = 1}, "n", "fail(network");
    chooses(&(dx_autohand_choice){.settings = http, .model = "m", .tries = 1}, "m", NULL);
    chooses(&(dx_autohand_choice){.settings = http, .argv = argv}, "n", "text(program)");
}

static void refused(void **state) {
    (void)state;
    const char *sleep[] = {"sleep", "60", NULL};
    struct talk *talk = talk_new();
    dx_error error = {0};
    const dx_autohand_choice wrong[] = {
        {.settings = "{"},
        {.settings = "{\"provider\":1}"},
        {.settings = "{\"provider\":\"command\"}"},
        {.settings = "{\"provider\":\"mine\"}"},
        {.settings = "{\"provider\":\"mine\",\"mine\":{\"model\":\"m\"}}"},
        {.settings = "{\"provider\":\"script\"}"},
        {.script = "/nonexistent"},
        {.url = "ftp://x"},
        {.url = "http://x", .key = "\n"},
    };
    for (size_t i = 0; i < LENGTH(wrong); i++) {
        error.phrase[0] = '\0';
        assert_int_equal(dx_autohand_model_choose(talk->loop, &wrong[i], &talk->model, &error),
                         DX_ERR_INVALID);
        assert_true(strlen(error.phrase) > 5);
    }
    talk_free(talk);
    chooses(&(dx_autohand_choice){.argv = sleep, .silence_ms = 100}, "command",
            "fail(timeout,0,1,the model's program timed out: no output within 100 ms");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(choices), cmocka_unit_test(refused)};
    return cmocka_run_group_tests_name("autohand_model_choose", tests, start, stop);
}
