/* How runners are started, by pipes and by TCP. The numbers are those of facts/finecode.md §13. */
#include "finecode/manager.h"

static struct world *world_with(const char *transport, const char *spec) {
    struct world *world = world_new();
    make_project(world, "p", "a", transport, "");
    set_spec(world, "p", "a", spec);
    return world;
}

/* 8: the port is found wherever it stands on its line, and whatever stands on the others. */
static void test_port(void **state) {
    static const char *const specs[] = {
        "{'tcp': ''}",
        "{'tcp': '2026-07-21 10:00:00 | INFO | finecode_jsonrpc.server: '}",
        "{'tcp': 'x', 'before': ['', 'Serving', 'Serving on port 5', 'Serving on (', "
        "\"Serving on ('127.0.0.1', 99999)\", \"Serving on ('127.0.0.1', 0)\", "
        "\"Serving on ('127.0.0.1', 12\", \"Serving on ('::1', 12)\", 'Debug session: nowhere', "
        "'{\"jsonrpc\": \"2.0\", \"method\": \"note\"}', '[1, 2', '42', '{}', 'xxx']}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        struct world *world = world_with("tcp", specs[i]);
        world_open(world);
        must_run(world, runner_of(world, "p", "a"));
        assert_true(runner_of(world, "p", "a")->is_real);
        must_have(world->lines.text, "Serving on ('127.0.0.1', ");
        stop(world);
        assert_int_equal(world->broken.len, 0);
        world_free(world);
    }
}

/* What looks like a message on the standard output of such a one is none, and gets no answer. */
static void test_output_is_no_protocol(void **state) {
    struct world *world = world_with(
        "tcp", "{'tcp': '', 'before': ['{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"ask\"}', "
               "'{\"id\": 2, \"method\": \"GET\"}'], "
               "'after': ['{\"jsonrpc\": \"2.0\", \"id\": 3, \"method\": \"ask\"}', 'last']}");
    (void)state;
    world_open(world);
    dx_finecode_runner *runner = runner_of(world, "p", "a");
    must_run(world, runner);
    WAIT(world, strstr(world->lines.text, "last"));
    assert_int_equal(dx_link_waiting(dx_child_link(runner->child)), 0);
    assert_int_equal(dx_link_statistics(dx_child_link(runner->child)).messages_out, 0);
    assert_int_equal(count_of(world->lines.text, "\"ask\""), 2);
    stop(world);
    world_free(world);
}

/* … nor are long ones kept for that. */
static void test_long_output(void **state) {
    struct world *world = world_new();
    (void)state;
    make_project(world, "p", "a", "tcp", "");
    FILE *file = fopen(path_in(world, "p", "a.spec"), "w");
    assert_non_null(file);
    fputs("{'tcp': '', 'before': ['{\"id\": 1, \"method\": \"ask\"}', '{\"id\": 2, \"method\": "
          "\"ask\", \"params\": [\"",
          file);
    for (int i = 0; i < 5000; i++)
        fputc('x', file);
    fputs("\"]}']}", file);
    fclose(file);
    world_open(world);
    dx_finecode_runner *runner = runner_of(world, "p", "a");
    must_run(world, runner);
    assert_int_equal(count_of(world->lines.text, "\"ask\""), 2);
    assert_int_equal(runner->kept_count, 1);
    stop(world);
    world_free(world);
}

/* 8: any number of lines. */
static void test_output_flood(void **state) {
    struct world *world = world_new();
    (void)state;
    make_project(world, "p", "a", "tcp", "");
    FILE *file = fopen(path_in(world, "p", "a.spec"), "w");
    assert_non_null(file);
    fputs("{'tcp': '', 'before': [", file);
    for (int i = 0; i < 5000; i++)
        fprintf(file, "'line %d of many, and none of them is of any use to anybody',", i);
    fputs("]}", file);
    fclose(file);
    world_open(world);
    must_run(world, runner_of(world, "p", "a"));
    must_have(world->lines.text, "line 4999");
    stop(world);
    world_free(world);
}

/* 8: no port in time, or an end before it; why has the exit code and the last lines. */
static void test_no_port(void **state) {
    static const struct {
        const char *spec;
        const char *parts[4];
    } rows[] = {
        {"{'tcp': '', 'before': ['one', 'two'], 'errors': ['three'], 'sleep': 60}",
         {"did not report its port within 1.5 s", "one", "two", "three"}},
        {"{'tcp': '', 'port': 'Serving somewhere', 'before': ['one']}",
         {"did not report its port", "Serving somewhere", "one"}},
        {"{'tcp': '', 'leave': 7, 'before': ['one'], 'errors': ['Traceback']}",
         {"exited with code 7 before it reported its port", "one", "Traceback"}},
        {"{'tcp': '', 'leave': 0}", {"exited with code 0"}},
        {"{'tcp': '', 'port': \"Serving on ('127.0.0.1', 1)\"}", {"cannot connect to its port: "}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct world *world = world_with("tcp", rows[i].spec);
        world->config.port_ms = 1500;
        world_open(world);
        dx_finecode_runner *runner = runner_of(world, "p", "a");
        must_fail(world, runner, rows[i].parts[0]);
        for (size_t k = 0; k < 4 && rows[i].parts[k]; k++)
            must_have(dx_finecode_runner_why(runner), rows[i].parts[k]);
        assert_int_equal(dx_finecode_runner_pid(runner), 0);
        assert_int_equal(world->wm->starting, 0);
        world_free(world);
    }
}

/* By pipes: an end before initialize is answered. */
static void test_pipe_ends(void **state) {
    static const char *const specs[] = {
        "{'leave': 3, 'errors': ['no such module']}",
        "{'answers': {'initialize': 3}, 'errors': ['no such module']}",
    };
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct world *world = world_with("stdio", specs[i]);
        world_open(world);
        must_fail(world, runner_of(world, "p", "a"), "exited with code 3");
        must_have(dx_finecode_runner_why(runner_of(world, "p", "a")), "no such module");
        world_free(world);
    }
}

static void test_no_program(void **state) {
    struct world *world = world_new();
    (void)state;
    make_project(world, "p", "a", "stdio", "");
    write_file(world, "p", "finecode.toml",
               "[finecode.action.act]\nsource = \"x.A\"\n[[finecode.action.act.handlers]]\n"
               "name = \"h\"\nsource = \"x.H\"\nenv = \"a\"\n");
    world_open(world);
    dx_finecode_runner *runner = runner_of(world, "p", "a");
    assert_false(need(world, runner));
    assert_true(is_in(runner, DX_FINECODE_NO_VENV));
    must_have(dx_finecode_runner_why(runner), ".venvs/a/bin/python");
    world_free(world);
}

static void test_bad_program(void **state) {
    struct world *world = world_new();
    (void)state;
    make_project(world, "p", "a", "stdio", "");
    write_file(world, "p", "finecode.toml",
               "[finecode.er]\nrunner = [\"/no/such/program\"]\n[finecode.action.act]\n"
               "source = \"x.A\"\n[[finecode.action.act.handlers]]\n"
               "name = \"h\"\nsource = \"x.H\"\nenv = \"a\"\n");
    world_open(world);
    must_fail(world, runner_of(world, "p", "a"), "/no/such/program");
    world_free(world);
}

/* 9: an env that is started when it is needed. */
static void test_order(void **state) {
    static const char *const transports[] = {"stdio", "tcp"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct world *world = world_with(transports[i], i ? "{'tcp': ''}" : "{}");
        world_open(world);
        dx_finecode_runner *runner = runner_of(world, "p", "a");
        must_run(world, runner);
        assert_int_equal(runner->is_real, i);
        WAIT(world, !i || strstr(trace_of(world, "p", "a"), "updateLogging"));
        stop(world);
        assert_string_equal(methods_of(world, "p", "a"),
                            i ? "start initialize initialized finecodeRunner/getInfo "
                                "finecodeRunner/updateConfig finecodeRunner/resolveActionMeta "
                                "finecodeRunner/updateLogging shutdown exit "
                              : "start initialize initialized finecodeRunner/getInfo "
                                "finecodeRunner/updateConfig finecodeRunner/resolveActionMeta "
                                "shutdown exit ");
        must_have(dx_finecode_runner_log(runner), "/p/a.log");
        must_have(trace_of(world, "p", "a"), "\"projectName\": \"p\"");
        /* 9: where there are none, the programs have null for params, and the document {}. */
        must_have(trace_of(world, "p", "a"),
                  i ? "{\"method\": \"finecodeRunner/getInfo\", \"params\": null, \"null\": true}"
                    : "{\"method\": \"finecodeRunner/getInfo\", \"params\": {}}");
        must_have(trace_of(world, "p", "a"),
                  i ? "\"finecodeRunner/resolveActionMeta\", \"params\": null, \"null\": true}"
                    : "\"finecodeRunner/resolveActionMeta\", \"params\": {}}");
        must_have(trace_of(world, "p", "a"), i ? "\"exit\", \"params\": null, \"null\": true}"
                                               : "\"exit\", \"params\": null}");
        must_have(trace_of(world, "p", "a"), "FineCode_WorkspaceManager");
        must_have(world->states.text, "a INITIALIZING\na RUNNING\na EXITED\n");
        world_free(world);
    }
}

/* Either revision can be asked for by its name. */
static void test_named_revision(void **state) {
    (void)state;
    struct world *world = world_with("tcp", "{'tcp': '', 'revision': 'seed'}");
    world->config.revision = "seed";
    world_open(world);
    must_run(world, runner_of(world, "p", "a"));
    assert_false(runner_of(world, "p", "a")->is_real);
    stop(world);
    assert_null(strstr(trace_of(world, "p", "a"), "updateLogging"));
    world_free(world);
    world = world_new();
    world->config.revision = "other";
    dx_error error = {0};
    assert_int_equal(dx_finecode_wm_new(world->loop, &world->config, &world->wm, &error),
                     DX_ERR_INVALID);
    must_have(error.phrase, "other");
    world_free(world);
}

/* 10 and 13, and whatever else it may say to what it is asked in the beginning. */
static void test_answers(void **state) {
    static const struct {
        const char *answers;
        const char *why; /* NULL: it runs */
        const char *last;
    } rows[] = {
        {"'initialize': {'result': {}}", "initialize", "initialize "},
        {"'initialize': {'error': {'code': -32603, 'message': 'odd'}}", "[-32603] odd",
         "initialize "},
        {"'initialize': {'error': {'code': -32603, 'message': ['a', 'b']}}",
         "initialize: ", "initialize "},
        {"'initialize': {'error': {'code': [1, 2], 'message': {'a': 1}}}",
         "initialize: ", "initialize "},
        {"'initialize': {'error': ['a', 'b']}", "initialize: ", "initialize "},
        {"'initialize': {'result': {'capabilities': [1, 2]}}", "initialize: ", "initialize "},
        {"'finecodeRunner/getInfo': {'result': {'logFilePath': [1, 2, 3]}}", NULL, ""},
        {"'finecodeRunner/updateConfig': {'result': {'error': [1, 2, 3]}}", NULL, ""},
        {"'initialize': {'result': {'capabilities': {}, 'more': 1}}", NULL, ""},
        {"'finecodeRunner/getInfo': {'error': {'code': -32601, 'message': 'no'}}", NULL, ""},
        {"'finecodeRunner/getInfo': {'result': 7}", NULL, ""},
        {"'finecodeRunner/updateLogging': {'error': {'code': -32601, 'message': 'no'}}", NULL, ""},
        {"'finecodeRunner/updateConfig': {'error': {'code': -32001, 'message': 'reinstall'}}",
         "reinstall", "updateConfig "},
        {"'finecodeRunner/updateConfig': {'result': {'error': 'no handler'}}", "no handler",
         "updateConfig "},
        {"'finecodeRunner/updateConfig': {'result': None}", NULL, ""},
        {"'finecodeRunner/resolveActionMeta': {'error': {'code': -32603, 'message': 'x'}}", NULL,
         ""},
        {"'finecodeRunner/resolveActionMeta': {'result': [1]}", NULL, ""},
        {"'finecodeRunner/updateConfig': 4", "exited with code 4", "updateConfig "},
        {"'finecodeRunner/resolveActionMeta': 'die'", "signal 9 (KILL)", "resolveActionMeta "},
        {"'finecodeRunner/getInfo': 'close'", "killed", "getInfo "},
    };
    (void)state;
    for (size_t i = 0; i < 2 * sizeof rows / sizeof *rows; i++) {
        char spec[512];
        bool tcp = i % 2;
        snprintf(spec, sizeof spec, "{%s'answers': {%s}}", tcp ? "'tcp': ''," : "",
                 rows[i / 2].answers);
        struct world *world = world_with(tcp ? "tcp" : "stdio", spec);
        world_open(world);
        dx_finecode_runner *runner = runner_of(world, "p", "a");
        if (rows[i / 2].why) {
            must_fail(world, runner, rows[i / 2].why);
            const char *methods = methods_of(world, "p", "a");
            size_t len = strlen(methods);
            size_t last = strlen(rows[i / 2].last);
            if (len < last || strcmp(methods + len - last, rows[i / 2].last) != 0)
                fail_msg("%s: %s", spec, methods);
        } else {
            must_run(world, runner);
        }
        stop(world);
        world_free(world);
    }
}

/* Every request has its time. */
static void test_times(void **state) {
    static const struct {
        const char *method;
        bool fails;
    } rows[] = {
        {"initialize", true},
        {"finecodeRunner/getInfo", false},
        {"finecodeRunner/updateConfig", true},
        {"finecodeRunner/resolveActionMeta", false},
    };
    (void)state;
    for (size_t i = 0; i < 2 * sizeof rows / sizeof *rows; i++) {
        char spec[256];
        bool tcp = i % 2;
        snprintf(spec, sizeof spec, "{%s'answers': {'%s': 'mute'}}", tcp ? "'tcp': ''," : "",
                 rows[i / 2].method);
        struct world *world = world_with(tcp ? "tcp" : "stdio", spec);
        world->config.initialize_ms = world->config.info_ms = world->config.config_ms = 1500;
        world_open(world);
        dx_finecode_runner *runner = runner_of(world, "p", "a");
        uint64_t begin = now_ms();
        if (rows[i / 2].fails)
            must_fail(world, runner, "timed out");
        else
            must_run(world, runner);
        assert_in_range(now_ms() - begin, 1500, 20000);
        stop(world);
        world_free(world);
    }
}

/* Its folder, its group, its environment. */
static void test_surroundings(void **state) {
    static const char *const transports[] = {"stdio", "tcp"};
    (void)state;
    assert_int_equal(setenv("VIRTUAL_ENV", "/elsewhere", 1), 0);
    assert_int_equal(setenv("FINECODE_TEST", "handed on", 1), 0);
    for (size_t i = 0; i < 2; i++) {
        char part[128];
        struct world *world = world_with(transports[i], i ? "{'tcp': ''}" : "{}");
        world_open(world);
        dx_finecode_runner *runner = runner_of(world, "p", "a");
        must_run(world, runner);
        pid_t pid = dx_finecode_runner_pid(runner);
        snprintf(part, sizeof part, "{\"pid\": %d, \"group\": %d, \"cwd\": \"%s/p\"", (int)pid,
                 (int)pid, world->folder);
        must_have(trace_of(world, "p", "a"), part);
        must_have(trace_of(world, "p", "a"),
                  "\"env\": {\"VIRTUAL_ENV\": null, \"FINECODE_TEST\": \"handed on\"}");
        must_have(trace_of(world, "p", "a"), "\"--env-name=a\"");
        stop(world);
        world_free(world);
    }
    unsetenv("VIRTUAL_ENV");
}

/* A debugger may take as long as it likes. */
static void test_debug(void **state) {
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct world *world =
            world_with(i ? "tcp" : "stdio", i ? "{'tcp': '', 'debug': 5678}" : "{'debug': 5678}");
        world->config.debug_env = "a";
        world->config.port_ms = world->config.initialize_ms = 2000;
        world->config.max_jobs = 1;
        make_project(world, "q", "b", "stdio", "");
        world_open(world);
        dx_finecode_runner *runner = runner_of(world, "p", "a");
        assert_int_equal(dx__finecode_runner_need(runner, on_ready, world), DX_OK);
        WAIT(world, world->debugged.len);
        assert_string_equal(world->debugged.text, "a 5678\n");
        must_have(trace_of(world, "p", "a"), "\"--debug\"");
        must_run(world, runner_of(world, "q", "b")); /* others need not wait for it */
        uint64_t until = now_ms() + 2500;
        while (now_ms() < until)
            turn(world, 20);
        assert_true(is_in(runner, DX_FINECODE_INITIALIZING));
        write_file(world, "p", "a.attached", "");
        WAIT(world, is_in(runner, DX_FINECODE_RUNNING));
        stop(world);
        world_free(world);
    }
}

/* Only so many at once, the others in order. */
static void test_queue(void **state) {
    struct world *world = world_new();
    char env[8];
    (void)state;
    make_project(world, "p", "e0 e1 e2 e3 e4 e5", "tcp", "");
    for (int i = 0; i < 6; i++) {
        snprintf(env, sizeof env, "e%d", i);
        set_spec(world, "p", env, "{'tcp': '', 'sleep': 0.2}");
    }
    world->config.max_jobs = 2;
    world_open(world);
    dx_finecode_wm_start_runners(world->wm, NULL);
    size_t most = 0;
    for (;;) {
        size_t processes = 0;
        size_t running = 0;
        for (size_t i = 0; dx_finecode_wm_runner(world->wm, i); i++) {
            dx_finecode_runner *runner = dx_finecode_wm_runner(world->wm, i);
            bool runs = is_in(runner, DX_FINECODE_RUNNING);
            processes += !runs && dx_finecode_runner_pid(runner);
            running += runs;
        }
        most = processes > most ? processes : most;
        if (running == 6)
            break;
        turn(world, 20);
    }
    assert_int_equal(most, 2);
    must_have(world->states.text, "RUNNING\n");
    assert_true(strstr(world->states.text, "e1 RUNNING") <
                strstr(world->states.text, "e4 RUNNING"));
    assert_true(strstr(world->states.text, "e3 RUNNING") <
                strstr(world->states.text, "e5 RUNNING"));
    stop(world);
    world_free(world);
}

/* A second need is answered at once, and one for what has failed tries again. */
static void test_again(void **state) {
    struct world *world = world_with("stdio", "{'leave': 3, 'then': [{}]}");
    (void)state;
    world_open(world);
    dx_finecode_runner *runner = runner_of(world, "p", "a");
    must_fail(world, runner, "code 3");
    must_run(world, runner);
    must_run(world, runner);
    assert_string_equal(dx_finecode_runner_why(runner), "");
    assert_int_equal(runner->run, 2);
    stop(world);
    assert_false(need(world, runner)); /* not any more */
    world_free(world);
}

/* One that ends whenever it was started is not started for ever. */
static void test_no_loop(void **state) {
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct world *world = world_with(
            i ? "tcp" : "stdio", i ? "{'tcp': '', 'last': 'finecodeRunner/resolveActionMeta'}"
                                   : "{'last': 'finecodeRunner/resolveActionMeta'}");
        world_open(world);
        dx_finecode_runner *runner = runner_of(world, "p", "a");
        (void)need(world, runner); /* whether it was seen to run or not */
        WAIT(world, is_in(runner, DX_FINECODE_EXITED) && !dx_finecode_runner_pid(runner));
        uint64_t until = now_ms() + 500;
        while (now_ms() < until)
            turn(world, 20);
        must_have(dx_finecode_runner_why(runner), "code 5");
        assert_int_equal(count_of(methods_of(world, "p", "a"), "start "), 1);
        stop(world);
        world_free(world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_port),         cmocka_unit_test(test_output_is_no_protocol),
        cmocka_unit_test(test_long_output),  cmocka_unit_test(test_output_flood),
        cmocka_unit_test(test_no_port),      cmocka_unit_test(test_pipe_ends),
        cmocka_unit_test(test_no_program),   cmocka_unit_test(test_bad_program),
        cmocka_unit_test(test_order),        cmocka_unit_test(test_named_revision),
        cmocka_unit_test(test_answers),      cmocka_unit_test(test_times),
        cmocka_unit_test(test_surroundings), cmocka_unit_test(test_debug),
        cmocka_unit_test(test_queue),        cmocka_unit_test(test_again),
        cmocka_unit_test(test_no_loop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
