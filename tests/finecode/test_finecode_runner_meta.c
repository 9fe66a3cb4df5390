/* What the manager learns from runners: actions, presets; and what it tells them about logging. */
#include "finecode/manager.h"

static dx__finecode_action *action_of(struct world *world, const char *project, const char *name) {
    dx__finecode_action *action =
        dx__finecode_project_find(dx_finecode_wm_find_project(world->wm, project), dx_str(name));
    if (!action)
        fail_msg("%s has no %s", project, name);
    return action;
}

/* 51: both forms are taken, in either revision, and what is missing in them does no harm. */
static void test_forms(void **state) {
    static const struct {
        const char *result;
        const char *canonical; /* NULL: not known */
        bool concurrent;
        bool workspace;
    } rows[] = {
        {"{'x.Act': {'canonical_source': 'x.deep.Act', 'runs_concurrently': True}}", "x.deep.Act",
         true, false},
        {"{'actions': {'x.Act': {'canonical_source': 'x.deep.Act', 'runs_concurrently': False, "
         "'scope': 'workspace', 'parentActionSource': 'x.P', 'language': 'c', 'fileLoc': 'a:1'}}, "
         "'handlerLocations': {'x.H_a': 'h.py:3', 'x.Other': None}}",
         "x.deep.Act", false, true},
        {"{'actions': {'x.Act': {'canonical_source': 'x.deep.Act', 'runs_concurrently': True}}}",
         "x.deep.Act", true, false}, /* no scope */
        {"{'actions': {'x.Act': {'canonical_source': 7}, 'x.B': 3}, 'handlerLocations': []}", NULL,
         false, false},
        {"{'actions': {'x.Act': {'canonical_source': [1, 2], 'language': {}}}}", NULL, false,
         false},
        {"{'actions': {'x.Act': {'canonical_source': 'x.deep.Act', 'runs_concurrently': [1], "
         "'scope': [1, 2, 3, 4, 5, 6, 7, 8, 9], 'language': {'a': 1}, 'fileLoc': [1], "
         "'parentActionSource': [1, 2]}}, 'handlerLocations': {'x.H_a': [1, 2, 3]}}",
         "x.deep.Act", false, false},
        {"{'x.Other': {'canonical_source': 'x.deep.Act', 'runs_concurrently': True}}", NULL, false,
         false},
        {"{}", NULL, false, false},
        {"None", NULL, false, false},
    };
    (void)state;
    for (size_t i = 0; i < 2 * sizeof rows / sizeof *rows; i++) {
        struct world *world = world_new();
        bool tcp = i % 2;
        char spec[800];
        snprintf(spec, sizeof spec,
                 "{%s'answers': {'finecodeRunner/resolveActionMeta': {'result': %s}}}",
                 tcp ? "'tcp': ''," : "", rows[i / 2].result);
        make_project(world, "p", "a", tcp ? "tcp" : "stdio", "");
        make_project(world, "q", "a", tcp ? "tcp" : "stdio", "");
        set_spec(world, "p", "a", spec);
        world_open(world);
        assert_null(action_of(world, "p", "act")->canonical);
        must_run(world, runner_of(world, "p", "a"));
        const dx__finecode_action *action = action_of(world, "p", "act");
        if (rows[i / 2].canonical) {
            assert_non_null(action->canonical);
            assert_string_equal(action->canonical, rows[i / 2].canonical);
            assert_string_equal(action_of(world, "q", "act")->canonical, rows[i / 2].canonical);
        } else {
            assert_null(action->canonical);
            assert_null(action_of(world, "q", "act")->canonical);
        }
        assert_int_equal(action->runs_concurrently, rows[i / 2].concurrent);
        assert_int_equal(action->workspace, rows[i / 2].workspace);
        if (rows[i / 2].workspace) {
            assert_string_equal(action->parent, "x.P");
            assert_string_equal(action->language, "c");
            assert_string_equal(action->location, "a:1");
            assert_string_equal(action->handlers[0].location, "h.py:3");
        }
        WAIT(world, world->trees);
        stop(world);
        world_free(world);
    }
}

/* What a project's own runner cannot find stays unknown there, whatever those of others say, before
 * or behind it. */
static void test_own_word(void **state) {
    static const char finds[] =
        "{'answers': {'finecodeRunner/resolveActionMeta': {'result': {'x.Act': "
        "{'canonical_source': 'x.deep.Act', 'runs_concurrently': True}}}}}";
    static const char finds_none[] =
        "{'answers': {'finecodeRunner/resolveActionMeta': {'result': {}}}}";
    static const char *const names[] = {"before", "p", "behind"};
    struct world *world = world_new();
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        make_project(world, names[i], "a", "stdio", "");
        set_spec(world, names[i], "a", i == 1 ? finds : finds_none);
    }
    world_open(world);
    must_run(world, runner_of(world, "before", "a"));
    must_run(world, runner_of(world, "p", "a"));
    assert_null(action_of(world, "before", "act")->canonical);
    assert_string_equal(action_of(world, "p", "act")->canonical, "x.deep.Act");
    assert_string_equal(action_of(world, "behind", "act")->canonical, "x.deep.Act");
    must_run(world, runner_of(world, "behind", "a"));
    assert_null(action_of(world, "behind", "act")->canonical);
    assert_string_equal(action_of(world, "p", "act")->canonical, "x.deep.Act");
    stop(world);
    world_free(world);
}

/* However many sources a runner names, and however often. */
static void test_many_sources(void **state) {
    enum { ACTIONS = 1000, HANDLERS = 8, SOURCES = 400000 };
    struct world *world = world_new();
    dx_buf text;
    char piece[128];
    (void)state;
    make_project(world, "p", "a", "stdio", "");
    FILE *file = fopen(path_in(world, "p", "finecode.toml"), "w");
    assert_non_null(file);
    for (int i = 0; i < ACTIONS; i++) {
        fprintf(file, "[finecode.action.a%d]\nsource = 's.A%d'\nhandlers = [", i, i);
        for (int k = 0; k < HANDLERS; k++)
            fprintf(file, "{name = 'h%d', source = 's.H%d', env = 'a'},", k, k + i * HANDLERS);
        fputs("]\n", file);
    }
    assert_int_equal(fclose(file), 0);
    world_open(world);
    dx_finecode_runner *runner = runner_of(world, "p", "a");
    dx_buf_init(&text, SIZE_MAX / 4, NULL);
    for (int map = 0; map < 2; map++) {
        const char *start = map ? "\"s.A999\":{\"canonical_source\":\"s.x.A\"},"
                                  "\"s.A999\":{\"canonical_source\":\"s.x.B\"}},"
                                  "\"handlerLocations\":{"
                                : "{\"actions\":{";
        assert_int_equal(dx_buf_append(&text, start, strlen(start)), DX_OK);
        for (int i = 0; i < SOURCES; i++) {
            int len = snprintf(piece, sizeof piece, "\"t.%d\":%s,", i, map ? "null" : "{}");
            assert_int_equal(dx_buf_append(&text, piece, (size_t)len), DX_OK);
        }
    }
    static const char last[] = "\"s.H7999\":\"h.py:3\"}}";
    assert_int_equal(dx_buf_append(&text, last, sizeof last - 1), DX_OK);
    yyjson_doc *doc = yyjson_read(text.data, text.len, 0);
    assert_non_null(doc);
    uint64_t begin = now_ms();
    dx__finecode_meta_take(runner, yyjson_doc_get_root(doc));
    assert_true(now_ms() - begin < 3000);
    assert_string_equal(action_of(world, "p", "a999")->canonical, "s.x.A");
    assert_string_equal(action_of(world, "p", "a999")->handlers[7].location, "h.py:3");
    assert_null(action_of(world, "p", "a0")->canonical);
    yyjson_doc_free(doc);
    dx_buf_done(&text);
    stop(world);
    world_free(world);
}

/* Presets, whose places only one runner knows. */

static const char preset_lines[] = "[[finecode.presets]]\nsource = \"fine_one\"\n";

static void make_preset(struct world *world, const char *name, const char *text) {
    char path[128];
    mkdir(path_in(world, "p", "presets"), 0755);
    snprintf(path, sizeof path, "presets/%s", name);
    mkdir(path_in(world, "p", path), 0755);
    snprintf(path, sizeof path, "presets/%s/preset.toml", name);
    write_file(world, "p", path, text);
}

static const char preset_one[] =
    "[tool.finecode.action.more]\nsource = \"x.More\"\n[[tool.finecode.action.more.handlers]]\n"
    "name = \"m\"\nsource = \"x.M\"\nenv = \"c\"\n";

static struct world *world_with_presets(bool tcp) {
    struct world *world = world_new();
    make_project(world, "p", "a dev_workspace", tcp ? "tcp" : "stdio", preset_lines);
    make_preset(world, "fine_one", preset_one);
    if (tcp) {
        set_spec(world, "p", "a", "{'tcp': ''}");
        set_spec(world, "p", "c", "{'tcp': ''}");
        set_spec(world, "p", "dev_workspace", "{'tcp': ''}");
    }
    return world;
}

/* 9: the order of the one that starts all. */
static void test_bootstrap_order(void **state) {
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct world *world = world_with_presets(i);
        world_open(world);
        assert_int_equal(dx_finecode_wm_open(world->wm, dx_str("file:///elsewhere"), 1, dx_str("")),
                         DX_OK);
        must_run(world, runner_of(world, "p", "dev_workspace"));
        action_of(world, "p", "more");
        stop(world);
        assert_string_equal(
            methods_of(world, "p", "dev_workspace"),
            i ? "start initialize initialized finecodeRunner/getInfo packages/resolvePath "
                "finecodeRunner/updateConfig finecodeRunner/resolveActionMeta "
                "finecodeRunner/updateLogging packages/resolvePath finecodeRunner/updateConfig "
                "finecodeRunner/resolveActionMeta shutdown exit "
              : "start initialize initialized finecodeRunner/getInfo packages/resolvePath "
                "finecodeRunner/updateConfig finecodeRunner/resolveActionMeta "
                "packages/resolvePath finecodeRunner/updateConfig "
                "finecodeRunner/resolveActionMeta shutdown exit ");
        world_free(world);
    }
}

/* Nobody starts before they are known; they may bring further envs. */
static void test_bootstrap_first(void **state) {
    struct world *world = world_with_presets(false);
    (void)state;
    world_open(world);
    dx_finecode_runner *runner = runner_of(world, "p", "a");
    must_run(world, runner);
    must_have(trace_of(world, "p", "a"), "x.Act");
    assert_non_null(strstr(world->states.text, "dev_workspace RUNNING"));
    assert_true(strstr(world->states.text, "dev_workspace RUNNING") <
                strstr(world->states.text, "a RUNNING"));
    must_run(world, runner_of(world, "p", "c"));
    must_have(trace_of(world, "p", "c"), "x.More");
    stop(world);
    world_free(world);
    world = world_with_presets(false);
    world_open(world);
    dx_finecode_wm_start_runners(world->wm, NULL);
    WAIT(world, strstr(world->states.text, "c RUNNING"));
    stop(world);
    world_free(world);
}

/* Presets of presets, and those that are not there. */
static void test_presets_of_presets(void **state) {
    struct world *world = world_new();
    (void)state;
    make_project(world, "p", "dev_workspace", "stdio", preset_lines);
    make_preset(world, "fine_one",
                "[[tool.finecode.presets]]\nsource = \"fine_two\"\n"
                "[[tool.finecode.presets]]\nsource = \"fine_three\"\n");
    make_preset(world, "fine_two", preset_one);
    make_preset(world, "fine_three", "[tool.finecode]\n");
    world_open(world);
    must_run(world, runner_of(world, "p", "dev_workspace"));
    action_of(world, "p", "more");
    must_have(trace_of(world, "p", "dev_workspace"), "fine_three");
    stop(world);
    world_free(world);
}

/* A project that is not valid with what they say has no runners. */
static void test_bad_preset(void **state) {
    struct world *world = world_with_presets(false);
    (void)state;
    make_preset(world, "fine_one", "[tool.finecode]\naction = 7\n");
    world_open(world);
    must_fail(world, runner_of(world, "p", "dev_workspace"), "preset.toml");
    dx_finecode_project *project = dx_finecode_wm_find_project(world->wm, "p");
    dx_finecode_runner *runner = dx__finecode_wm_need_runner(world->wm, project, "a");
    must_fail(world, runner, "the project is invalid");
    stop(world);
    world_free(world);
}

static void test_no_preset(void **state) {
    struct world *world = world_with_presets(false);
    (void)state;
    set_spec(world, "p", "dev_workspace",
             "{'answers': {'packages/resolvePath': {'error': {'code': -32603, 'message': "
             "'Cannot find package fine_one'}}}}");
    world_open(world);
    must_run(world, runner_of(world, "p", "dev_workspace"));
    WAIT(world, strstr(world->messages.text, "Cannot find package fine_one"));
    must_have(world->messages.text, "dev_workspace WARNING preset fine_one: ");
    stop(world);
    world_free(world);
}

/* More in the answer than the document has does no harm; a path that is none here does. */
static void test_odd_preset(void **state) {
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct world *world = world_with_presets(false);
        char spec[512];
        snprintf(spec, sizeof spec,
                 "{'answers': {'packages/resolvePath': {'result': {'packagePath': '%s%s', "
                 "'more': 1}}}}",
                 i ? "" : path_in(world, "p", "presets/"), "fine_one");
        set_spec(world, "p", "dev_workspace", spec);
        world_open(world);
        must_run(world, runner_of(world, "p", "dev_workspace"));
        turn(world, 20);
        if (i)
            must_have(world->messages.text, "dev_workspace WARNING preset fine_one: ");
        else
            assert_string_equal(world->messages.text, "");
        assert_int_equal(dx__finecode_project_find(dx_finecode_wm_find_project(world->wm, "p"),
                                                   dx_str("more")) != NULL,
                         !i);
        stop(world);
        world_free(world);
    }
}

/* One that waits for them may be started again, and stopped, as often as anybody likes. */
static void test_restart_waiting(void **state) {
    struct world *world = world_with_presets(false);
    (void)state;
    set_spec(world, "p", "dev_workspace", "{'answers': {'initialize': 'mute'}}");
    world_open(world);
    dx_finecode_runner *runner = runner_of(world, "p", "a");
    const dx_finecode_runner *bootstrap = runner_of(world, "p", "dev_workspace");
    assert_int_equal(dx__finecode_runner_need(runner, on_ready, world), DX_OK);
    WAIT(world, strstr(trace_of(world, "p", "dev_workspace"), "initialize"));
    for (int i = 0; i < 5; i++)
        assert_int_equal(dx_finecode_wm_restart(world->wm, runner), DX_OK);
    assert_int_equal(runner->step, FINECODE_WAITS);
    assert_non_null(bootstrap->waiters);
    assert_null(bootstrap->waiters->next);
    stop(world);
    assert_string_equal(world->messages.text, "");
    assert_string_equal(world->ready.text, "a no\n");
    world_free(world);
}

/* Without it the others do what they can. */
static void test_no_bootstrap(void **state) {
    struct world *world = world_with_presets(false);
    (void)state;
    set_spec(world, "p", "dev_workspace", "{'leave': 2}");
    world_open(world);
    must_run(world, runner_of(world, "p", "a"));
    must_have(world->messages.text, "cannot find presets");
    must_have(world->messages.text, "code 2");
    stop(world);
    world_free(world);
}

/* 50: only the revision of the programs has it. */
static void test_logging(void **state) {
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct world *world = world_new();
        make_project(world, "p", "a b", i ? "tcp" : "stdio", "");
        if (i) {
            set_spec(world, "p", "a", "{'tcp': ''}");
            set_spec(world, "p", "b", "{'tcp': ''}");
        }
        world_open(world);
        dx_finecode_runner *runner = runner_of(world, "p", "a");
        must_run(world, runner);
        dx_finecode_wm_forward_logs(world->wm, "DEBUG");
        must_run(world, runner_of(world, "p", "b"));
        dx_finecode_wm_forward_logs(world->wm, NULL);
        call(world, runner);
        call(world, runner_of(world, "p", "b"));
        WAIT(world, count_of(world->done.text, "\n") == 2);
        stop(world);
        if (!i)
            assert_null(strstr(trace_of(world, "p", "a"), "updateLogging"));
        if (i) {
            const char *trace = trace_of(world, "p", "a");
            assert_int_equal(count_of(trace, "{\"forward\": false, \"forwardLevel\": \"INFO\"}"),
                             2);
            assert_int_equal(count_of(trace, "{\"forward\": true, \"forwardLevel\": \"DEBUG\"}"),
                             1);
            must_have(trace_of(world, "p", "b"),
                      "{\"forward\": true, \"forwardLevel\": \"DEBUG\"}");
        }
        world_free(world);
    }
}

/* 54: what happens to runners is an event; also if only the workspace asks for it. */
static void test_wal(void **state) {
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        static char text[16 << 10];
        struct world *world = world_new();
        char folder[128];
        char file[256];
        snprintf(folder, sizeof folder, "%s/%s", world->folder,
                 i ? ".venvs/dev_workspace/state/finecode/wal/wm" : "events");
        make_project(world, "p", "a b", "stdio", "");
        set_spec(world, "p", "b", "{'leave': 1}");
        if (i)
            write_file(world, "", "finecode-workspace.toml",
                       "[workspace.wm.wal]\nenabled = true\n");
        else
            world->config.wal_folder = folder;
        world_open(world);
        must_run(world, runner_of(world, "p", "a"));
        must_fail(world, runner_of(world, "p", "b"), "code 1");
        must_have(trace_of(world, "p", "a"), "\"--wal\"");
        stop(world);
        snprintf(file, sizeof file, "%s/wal-000001.jsonl", folder);
        FILE *events = fopen(file, "r");
        assert_non_null(events);
        text[fread(text, 1, sizeof text - 1, events)] = '\0';
        fclose(events);
        assert_int_equal(count_of(text, "runner.started"), 1);
        assert_int_equal(count_of(text, "runner.failed"), 1);
        assert_int_equal(count_of(text, "runner.stopped"), 1);
        must_have(text, "\"env_name\":\"b\"");
        must_have(text, "\"writer_id\":\"wm-");
        world_free(world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_own_word),
        cmocka_unit_test(test_many_sources),
        cmocka_unit_test(test_bootstrap_order),
        cmocka_unit_test(test_bootstrap_first),
        cmocka_unit_test(test_presets_of_presets),
        cmocka_unit_test(test_no_preset),
        cmocka_unit_test(test_bad_preset),
        cmocka_unit_test(test_odd_preset),
        cmocka_unit_test(test_restart_waiting),
        cmocka_unit_test(test_no_bootstrap),
        cmocka_unit_test(test_logging),
        cmocka_unit_test(test_wal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
