/* A model that is a program. */
#include "autohand/model_talk.h"

#include <signal.h>

static dx_autohand_command_config config_for(const char **argv, const char *program) {
    dx_autohand_command_config config = dx_autohand_command_defaults();
    argv[0] = "python3";
    argv[1] = "-uc";
    argv[2] = program;
    argv[3] = NULL;
    config.argv = argv;
    return config;
}

static struct talk *talk_to(const dx_autohand_command_config *config) {
    struct talk *talk = talk_new();
    dx_error error = {0};
    if (dx_autohand_model_command(talk->loop, config, &talk->model, &error) != DX_OK)
        fail_msg("%s", error.phrase);
    return talk;
}

static struct talk *talk_with(const char *program) {
    const char *argv[4];
    dx_autohand_command_config config = config_for(argv, program);
    return talk_to(&config);
}

/* Says a line for each line that it is given in the prompt. */
#define ECHO                                                                    \
    "import sys, json, os\n"                                                    \
    "for line in sys.stdin:\n"                                                  \
    "    question = json.loads(line)\n"                                         \
    "    assert sorted(question) == ['messages', 'model', 'tools'], question\n" \
    "    text = question['messages'][-1]['content']\n"                          \
    "    for part in text.replace('MODEL', question['model']).split('|'):\n"    \
    "        sys.stdout.write(part)\n"

static void says(void **state) {
    (void)state;
    struct talk *talk = talk_with(ECHO);
    assert_string_equal(talk->model->name, "command");
    talk_hears(talk, "{\"text\":\"a\"}\n{\"text\":\"ü\"}\n{\"thought\":\"t\"}\n{\"done\":true}\n",
               "text(a)text(ü)thought(t)done(-1)");
    talk_hears(talk, "{\"te|xt\":\"MODEL\"}\r\n\n|{\"do|ne\":true,\"tokens\":7|}\n",
               "text(command)done(7)");
    talk_hears(talk,
               "{\"toolCall\":{\"id\":\"1\",\"name\":\"x\",\"args\":{\"a\":[]}}}\n"
               "{\"toolCall\":{\"name\":\"y\"}}\n{\"toolCall\":{\"name\":\"z\",\"args\":\"{\"}}\n"
               "{\"done\":true}\n",
               "call(1,x,{\"a\":[]})call(,y,{})call(,z,{)done(-1)");
    talk_hears(talk,
               "{\"error\":{\"message\":\"no\",\"kind\":\"rate_limit\",\"retryable\":true}}\n",
               "fail(rate_limit,0,1,no)");
    talk_hears(talk,
               "{\"text\":\"b\",\"thought\":\"a\",\"toolCall\":{\"name\":\"c\"},\"done\":true}\n",
               "thought(a)text(b)call(,c,{})done(-1)");
    /* A step in one line. */
    talk_hears(talk,
               "{\"toolCalls\":[{\"id\":\"1\",\"name\":\"x\",\"args\":{\"a\":1}},{\"name\":\"y\"}],"
               "\"text\":\"t\",\"done\":true,\"tokens\":3}\n",
               "text(t)call(1,x,{\"a\":1})call(,y,{})done(3)");
    talk_hears(talk,
               "{\"toolCalls\":[{\"name\":\"x\"}]}\n{\"toolCalls\":[]}\n"
               "{\"toolCalls\":null,\"done\":true}\n",
               "call(,x,{})done(-1)");
    talk_hears(talk, "{\"error\":{}}\n", "fail(unknown,0,0,the model failed)");
    /* What it says behind its last word belongs to nothing. */
    talk_hears(talk, "{\"done\":true}\n{\"text\":\"late\"}\n{\"te", "done(-1)");
    talk_run_for(talk, 50);
    talk_hears(talk, "{\"done\":true}\n", "done(-1)");
    talk_free(talk);
}

static void says_nonsense(void **state) {
    (void)state;
    static const struct {
        const char *line, *why;
    } wrong[] = {
        {"nonsense\n", "a line of its response is not JSON"},
        {"{\"text\":\"a\"\n", "a line of its response is not JSON"},
        {"[]\n", "expected text, thought, toolCall, toolCalls, done or error in its line"},
        {"{}\n", "expected text, thought, toolCall, toolCalls, done or error in its line"},
        {"{\"text\":1}\n",
         "expected text, thought, toolCall, toolCalls, done or error in its line"},
        {"{\"done\":false}\n",
         "expected text, thought, toolCall, toolCalls, done or error in its line"},
        {"{\"toolCall\":{\"args\":{}}}\n", "a toolCall without a name"},
        {"{\"toolCalls\":{\"name\":\"x\"},\"done\":true}\n", "toolCalls is not an array"},
        {"{\"toolCalls\":[{}],\"done\":true}\n", "a toolCall without a name"},
        {"{\"toolCalls\":[1],\"done\":true}\n", "a toolCall without a name"},
        {"{\"error\":1}\n",
         "expected text, thought, toolCall, toolCalls, done or error in its line"},
    };
    struct talk *talk = talk_with(ECHO);
    for (size_t i = 0; i < LENGTH(wrong); i++) {
        talk_ask(talk, wrong[i].line);
        talk_run(talk);
        assert_int_equal(talk->failure.kind, DX_AUTOHAND_FAIL_NETWORK);
        if (!strstr(talk->why, wrong[i].why))
            fail_msg("%s: %s", wrong[i].line, talk->why);
    }
    talk_hears(talk, "{\"done\":true}\n", "done(-1)");
    talk_free(talk);
}

static void ends(void **state) {
    (void)state;
    struct talk *talk = talk_with("import sys\nsys.stdin.readline()\n"
                                  "sys.stderr.write('one\\ntwo: no key\\n')\nsys.exit(3)\n");
    talk_ask(talk, "x");
    talk_run(talk);
    assert_true(talk->failure.retryable);
    assert_non_null(strstr(talk->why, "the model's program exited: "));
    assert_non_null(strstr(talk->why, "3"));
    assert_non_null(strstr(talk->why, ": two: no key"));
    talk_free(talk);

    /* One that leaves after each answer is started for each question. */
    talk = talk_with("import sys\nsys.stdin.readline()\nprint('{\"text\":\"a\"}')\n"
                     "print('{\"done\":true}', end='')\n");
    for (int i = 0; i < 2; i++)
        talk_hears(talk, "x", "text(a)done(-1)");
    talk_free(talk);
    talk = talk_with("import sys\nsys.stdin.readline()\nprint('{\"done\":true}')\n");
    talk->again = 20;
    talk_ask(talk, "x");
    talk_run(talk);
    assert_int_equal(talk->dones, 21);
    assert_int_equal(talk->fails, 0);
    talk_free(talk);

    const char *argv[] = {"/nonexistent/model", NULL};
    dx_autohand_command_config config = dx_autohand_command_defaults();
    config.argv = argv;
    talk = talk_to(&config);
    talk_ask(talk, "x");
    talk_run(talk);
    assert_non_null(strstr(talk->why, "/nonexistent/model"));
    assert_non_null(strstr(talk->why, "No such file or directory"));
    talk_free(talk);
}

static void limits(void **state) {
    (void)state;
    const char *argv[4];
    dx_autohand_command_config config = config_for(argv, "import time\ntime.sleep(60)\n");
    config.silence_ms = 200;
    struct talk *talk = talk_to(&config);
    talk_hears(talk, "x",
               "fail(timeout,0,1,the model's program timed out: no output within 200 ms)");
    talk_free(talk);

    for (int more = 0; more < 2; more++) {
        config = config_for(argv, ECHO);
        config.answer_max = strlen("{\"text\":\"a\"}\n{\"done\":true}\n") - (size_t)more;
        talk = talk_to(&config);
        talk_ask(talk, "{\"text\":\"a\"}\n{\"done\":true}\n");
        talk_run(talk);
        assert_int_equal(talk->fails, more);
        talk_free(talk);
    }
    config = config_for(argv, "while True: print('x' * 10000, end='')\n");
    talk = talk_to(&config);
    talk_hears(talk, "x", "fail(network,0,0,the model's program: its response is too long)");
    talk_free(talk);
}

static void cancelled(void **state) {
    (void)state;
    struct talk *talk = talk_with("import os, sys, time, json\nsys.stdin.readline()\n"
                                  "print(json.dumps({'text': str(os.getpid())}))\n"
                                  "time.sleep(60)\n");
    talk_ask(talk, "x");
    assert_int_equal(talk_try(talk, "[]"), DX_BUSY);
    while (!talk->texts)
        talk_run_for(talk, 20);
    pid_t pid = (pid_t)strtol(talk->heard + 5, NULL, 10);
    assert_int_equal(kill(pid, 0), 0);
    uint64_t before = talk_now();
    talk->model->cancel(talk->model);
    assert_true(talk_now() - before < 100);
    assert_int_equal(kill(pid, 0), -1);
    /* The next question starts it anew; so does one from inside. */
    talk->cancel_at_text = 2;
    talk_ask(talk, "x");
    while (talk->texts < 2)
        talk_run_for(talk, 20);
    talk->free_at_text = 3;
    talk_ask(talk, "x");
    while (talk->texts < 3)
        talk_run_for(talk, 20);
    assert_int_equal(talk->dones + talk->fails, 0);
    talk_free(talk);
    talk = talk_with(ECHO);
    talk->free_at_end = 1;
    talk_hears(talk, "{\"done\":true}\n", "done(-1)");
    talk_free(talk);
    talk = talk_with(ECHO);
    talk->free_at_call = 1;
    talk_ask(talk, "{\"toolCall\":{\"name\":\"a\"}}\n{\"toolCall\":{\"name\":\"b\"}}\n");
    while (talk->model)
        talk_run_for(talk, 20);
    assert_string_equal(talk->heard, "call(,a,{})");
    talk_free(talk);
    talk = talk_with(ECHO);
    talk->free_at_call = 1;
    talk_ask(talk, "{\"toolCalls\":[{\"name\":\"a\"},{\"name\":\"b\"}],\"done\":true}\n");
    while (talk->model)
        talk_run_for(talk, 20);
    assert_string_equal(talk->heard, "call(,a,{})");
    talk_free(talk);
}

static void configured(void **state) {
    (void)state;
    const char *argv[4];
    const char *env[] = {"MODEL_TEST=yes", NULL};
    dx_autohand_command_config config =
        config_for(argv, "import os, json\nprint(json.dumps({'text': os.getcwd() + "
                         "os.environ['MODEL_TEST']}))\nprint('{\"done\":true}')\n");
    char folder[] = "/";
    char name[] = "mine";
    config.cwd = folder;
    config.env = env;
    config.model = name;
    struct talk *talk = talk_to(&config);
    /* All of it was copied. */
    argv[0] = argv[1] = argv[2] = "x";
    env[0] = "x";
    folder[0] = name[0] = 'x';
    assert_string_equal(talk->model->name, "mine");
    talk_hears(talk, "x", "text(/yes)done(-1)");
    talk_free(talk);
    talk = talk_new();
    dx_error error = {0};
    config = dx_autohand_command_defaults();
    assert_int_equal(dx_autohand_model_command(talk->loop, &config, &talk->model, &error),
                     DX_ERR_INVALID);
    assert_string_equal(error.phrase, "the model's program is missing");
    talk_free(talk);
}

static void memory(void **state) {
    (void)state;
    struct talk *talk = talk_new();
    size_t whole = 0;
    for (size_t at = 1; at < 200 && !whole; at++) {
        struct unit_memory held = {.fail_at = at, .fails = 1};
        dx_allocator alloc = unit_allocator(&held);
        const char *argv[] = {"sh", "-c",
                              "read q; echo '{\"toolCall\":{\"name\":\"a\"'; sleep 0.05; "
                              "echo ',\"args\":{\"b\":1}}}'; echo '{\"done\":true}'",
                              NULL};
        argv[2] = "read q; printf '{\"toolCall\":{\"name\":'; sleep 0.02; "
                  "echo '\"a\",\"args\":{\"b\":1}}}'; echo '{\"done\":true}'";
        dx_autohand_command_config config = dx_autohand_command_defaults();
        config.argv = argv;
        config.allocator = &alloc;
        talk->dones = talk->fails = 0;
        talk->heard[0] = '\0';
        if (dx_autohand_model_command(talk->loop, &config, &talk->model, NULL) == DX_OK) {
            if (talk_try(talk, "[]") == DX_OK) {
                talk_run(talk);
                assert_int_equal(talk->dones + talk->fails, 1);
                whole = held.count < at ? at : 0;
            }
            talk->model = dx_autohand_model_free(talk->model);
        }
        assert_int_equal(held.blocks, 0);
    }
    assert_true(whole > 5);
    assert_string_equal(talk->heard, "call(,a,{\"b\":1})done(-1)");
    talk_free(talk);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(says),   cmocka_unit_test(says_nonsense), cmocka_unit_test(ends),
        cmocka_unit_test(limits), cmocka_unit_test(cancelled),     cmocka_unit_test(configured),
        cmocka_unit_test(memory),
    };
    return cmocka_run_group_tests_name("autohand_model_command", tests, NULL, NULL);
}
