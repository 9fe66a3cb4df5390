/* Runs among other things that go on: presets that are not read yet, projects that go, the WAL. */
#include "finecode/orchestra.h"

#include <sys/resource.h>

enum { JSON = DX_FINECODE_JSON };

#define H(name, env, config) \
    "{name = '" name "', source = 'd." name "', env = '" env "', config = {" config "}}"
#define ACTION(name, about, handlers)                                        \
    "[finecode.action." name "]\nsource = 'demo." name "'\nconfig = {" about \
    "}\nhandlers = [" handlers "]\n"

/* An action that only a preset has, and handlers that it adds to another. */
static void test_presets(void **state) {
    static const char *const names[] = {"extra", "demo.extra", "demo.acts.Extra"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct world *world = world_new(true);
        put(world, "pack/preset.toml",
            ACTION("extra", "canonical = 'demo.acts.Extra'", H("x", "b", "items = ['x']")));
        project(world, "p",
                ACTION("own", "",
                       H("o", "a", "items = ['o']")) "[finecode]\npresets = [{source = 'pack'}]\n");
        project(world, "q", ACTION("own", "", H("o", "a", "items = ['o']")));
        world_open(world);
        run(world, names[i], JSON);
        if (world->status != DX_FINECODE_SUCCESS)
            fail_msg("%s: %s", names[i], world->why);
        must_be(&world->projects, "p success 0 {\"json\":{\"items\":[\"x\"]}}\n");
        dx_finecode_ask ask = ask_for(world, "nosuch", JSON);
        assert_int_equal(dx_finecode_wm_run(world->wm, &ask, NULL, NULL), DX_ERR_INVALID);
        world_close(world);
    }
}

/* It cannot be said at once that something is not there. */
static void test_no_preset(void **state) {
    struct world *world = world_new(true);
    (void)state;
    project(world, "p",
            ACTION("own", "",
                   H("o", "a", "items = ['o']")) "[finecode]\npresets = [{source = 'nowhere'}]\n");
    world_open(world);
    run(world, "nosuch", JSON);
    assert_int_equal(world->status, DX_FINECODE_FAILED);
    assert_string_equal(world->why, "unknown action 'nosuch'");
    run(world, "own", JSON);
    assert_int_equal(world->status, DX_FINECODE_SUCCESS);
    world_close(world);
}

static void remove_all(struct world *world) {
    dx_finecode_wm_remove_dir(world->wm, world->top);
}

static void on_step_remove(dx_finecode_wm *wm, dx_finecode_run *run, dx_finecode_project *project,
                           const char *env, const char *handlers, const char *state, void *user) {
    struct world *world = user;
    on_step(wm, run, project, env, handlers, state, user);
    if (strcmp(state, world->edits.text) == 0)
        remove_all(world);
}

static void on_partial_remove(dx_finecode_wm *wm, dx_finecode_run *run,
                              dx_finecode_project *project, yyjson_val *by_format, void *user) {
    on_partial(wm, run, project, by_format, user);
    remove_all(user);
}

static void on_project_remove(dx_finecode_wm *wm, dx_finecode_run *run,
                              dx_finecode_project *project, const dx_finecode_result *result,
                              void *user) {
    on_project(wm, run, project, result, user);
    remove_all(user);
}

/* Whatever callback the project is removed in: its run ends once. */
static void test_removed_inside(void **state) {
    static const char *const names[] = {"one", "chain", "groups", "late"};
    (void)state;
    for (int how = 0; how < 4; how++) {
        struct world *world = world_new(true);
        project(world, "p",
                ACTION("one", "", H("h", "a", "items = [1]")) ACTION(
                    "chain", "", H("h1", "a", "partials = [[1]]") "," H("h2", "b", "items = [2]"))
                    ACTION("groups", "concurrent = true",
                           H("h1", "a", "items = [1]") "," H("h2", "b", "items = [2]"))
                        ACTION("late", "",
                               H("h1", "a", "items = [1]") "," H("h2", "b", "items = [2]")));
        world_open(world);
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            dx_finecode_ask ask = ask_for(world, names[i], JSON);
            ask.streamed = 1;
            ask.on_step = how < 2 ? on_step_remove : on_step;
            ask.on_partial = how == 2 ? on_partial_remove : on_partial;
            ask.on_project = how == 3 ? on_project_remove : on_project;
            unsigned before = world->done;
            clear(world);
            note(&world->edits, "%s", how == 0 ? "started" : how == 1 ? "done" : "-");
            begin(world, &ask);
            WAIT(world, world->done > before);
            assert_int_equal(world->done, before + 1);
            assert_int_equal(count_of(&world->projects, "p "), 1);
            pass(world, 50);
            assert_null(world->wm->runs);
            assert_null(dx_finecode_wm_project(world->wm, 0));
            assert_int_equal(dx_finecode_wm_add_dir(world->wm, world->top, NULL), DX_OK);
        }
        world_close(world);
    }
}

static void on_project_again(dx_finecode_wm *wm, dx_finecode_run *run, dx_finecode_project *project,
                             const dx_finecode_result *result, void *user) {
    struct world *world = user;
    dx_finecode_ask ask = ask_for(world, "slow", JSON);
    dx_error error = {0};
    on_project(wm, run, project, result, user);
    ask.project = project;
    assert_int_equal(dx_finecode_wm_run(wm, &ask, NULL, &error), DX_ERR_INVALID);
    assert_string_equal(error.phrase, "the project was removed");
    remove_all(world);
    assert_int_equal(dx_finecode_wm_add_dir(wm, world->top, NULL), DX_OK);
}

/* Who hears of the end of a run removes what is being removed, adds it again, or wants another run
 * in it. */
static void test_removed_twice(void **state) {
    static const char slow[] = ACTION("slow", "", H("h", "a", "sleep = 60"));
    struct world *world = world_new(true);
    (void)state;
    project(world, "p", slow);
    project(world, "q", slow);
    project(world, "r", slow);
    world->config.max_jobs = 6;
    world_open(world);
    dx_finecode_ask ask = ask_for(world, "slow", JSON);
    ask.on_project = on_project_remove;
    begin(world, &ask);
    begin(world, &ask);
    WAIT(world, count_of(&world->sent, "\"method\":\"actions/run\"") == 6);
    remove_all(world);
    assert_null(dx_finecode_wm_project(world->wm, 0));
    WAIT(world, world->done == 2 && !world->wm->runs);
    assert_int_equal(count_of(&world->projects, " failed "), 6);
    assert_int_equal(dx_finecode_wm_add_dir(world->wm, world->top, NULL), DX_OK);
    clear(world);
    ask.on_project = on_project_again;
    begin(world, &ask);
    WAIT(world, count_of(&world->sent, "\"method\":\"actions/run\"") == 3);
    remove_all(world);
    WAIT(world, world->done == 3 && !world->wm->runs);
    assert_int_equal(count_of(&world->projects, " failed "), 3);
    for (size_t i = 0; i < 3; i++)
        assert_non_null(dx_finecode_wm_project(world->wm, i));
    assert_null(dx_finecode_wm_project(world->wm, 3));
    world_close(world);
}

static void on_done_free(dx_finecode_wm *wm, dx_finecode_run *run, const dx_finecode_result *result,
                         void *user) {
    struct world *world = user;
    on_done(wm, run, result, user);
    world->wm = dx_finecode_wm_free(wm);
}

static void test_freed_when_done(void **state) {
    struct world *world = world_new(true);
    (void)state;
    project(world, "p",
            ACTION("chain", "", H("h1", "a", "items = [1]") "," H("h2", "b", "items = [2]")));
    world_open(world);
    dx_finecode_ask ask = ask_for(world, "chain", JSON);
    ask.on_done = on_done_free;
    begin(world, &ask);
    WAIT(world, !world->wm);
    assert_int_equal(world->status, DX_FINECODE_SUCCESS);
    pass(world, 50);
    assert_int_equal(dx_finecode_wm_new(world->loop, &world->config, &world->wm, NULL), DX_OK);
    world_close(world);
}

static void on_done_ms(dx_finecode_wm *wm, dx_finecode_run *run, const dx_finecode_result *result,
                       void *user) {
    struct world *world = user;
    on_done(wm, run, result, user);
    note(&world->edits, "%d", (int)result->ms);
}

/* The time of a run begins with it, however long nothing was dispatched before. */
static void test_time(void **state) {
    struct world *world = world_new(true);
    (void)state;
    world_open(world);
    dx_finecode_ask ask = ask_for(world, "no.such.Thing", JSON);
    ask.on_done = on_done_ms;
    pass(world, 10);
    usleep(1500000);
    begin(world, &ask);
    WAIT(world, world->done);
    assert_in_range(atoi(world->edits.text), 0, 1000);
    world_close(world);
}

/* That no more events can be written is told when it happens. */
static void test_wal_ends(void **state) {
    struct world *world = world_new(true);
    struct rlimit before;
    char folder[PATH_MAX + 8];
    (void)state;
    snprintf(folder, sizeof folder, "%s/wal", world->top);
    world->config.wal_folder = folder;
    project(world, "p", ACTION("one", "", H("h", "a", "items = [1]")));
    world_open(world);
    run(world, "one", JSON);
    must_be(&world->messages, "");
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    struct rlimit limit = {.rlim_cur = 100, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    run(world, "one", JSON);
    WAIT(world, world->messages.len);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(world->status, DX_FINECODE_SUCCESS);
    must_have(&world->messages, "WARNING manager ");
    must_have(&world->messages, "/wal: no longer writing events: ");
    world_close(world);
}

/* Test 54, the manager's part: one id for all that belongs to a run. */
static void test_wal(void **state) {
    struct world *world = world_new(true);
    char folder[PATH_MAX + 8];
    (void)state;
    snprintf(folder, sizeof folder, "%s/wal", world->top);
    world->config.wal_folder = folder;
    project(world, "p",
            ACTION("chain", "", H("h1", "a", "items = [1]") "," H("h2", "b", "items = [2]"))
                ACTION("fail", "", H("f", "a", "error = 'no'")));
    world_open(world);
    run(world, "chain", JSON);
    const char *id = id_of(sent(world, "actions/runHandlers", 0));
    char part[64];
    snprintf(part, sizeof part, "\"wal_run_id\":\"%s\"", id);
    struct book *wal = calloc(1, sizeof *wal);
    assert_non_null(wal);
    note(wal, "%s", get(world, "wal/wal-000001.jsonl"));
    assert_int_equal(count_of(wal, part), 6);
    assert_int_equal(count_of(wal, "\"event_type\":\"run.accepted\""), 1);
    assert_int_equal(count_of(wal, "\"event_type\":\"runner.selected\""), 2);
    assert_int_equal(count_of(wal, "\"event_type\":\"run.dispatched\""), 2);
    assert_int_equal(count_of(wal, "\"event_type\":\"run.completed\""), 1);
    must_have(wal, "\"payload\":{\"params_hash\":\""
                   "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a\"}");
    run(world, "fail", JSON);
    wal->len = 0;
    note(wal, "%s", get(world, "wal/wal-000001.jsonl"));
    must_have(wal, "\"status\":\"failed\",\"return_code\":0,\"error\":\"no\"}");
    /* One that is refused at once is in it, too, whoever asks. */
    dx_finecode_ask ask = ask_for(world, "none", JSON);
    assert_int_equal(dx_finecode_wm_run(world->wm, &ask, NULL, NULL), DX_ERR_INVALID);
    ask = ask_for(world, "chain", JSON);
    ask.project = at(world, "p");
    ask.origin.depth = 8;
    assert_int_equal(dx_finecode_wm_run(world->wm, &ask, NULL, NULL), DX_ERR_LIMIT);
    wal->len = 0;
    note(wal, "%s", get(world, "wal/wal-000001.jsonl"));
    assert_int_equal(count_of(wal, "\"event_type\":\"run.rejected\""), 2);
    must_have(wal, "\"action_name\":\"none\",\"trigger\":\"user\",\"dev_env\":\"cli\",\"payload\":{"
                   "\"status\":\"failed\",\"return_code\":0,\"error\":\"unknown action 'none'\"}");
    must_have(wal, "\"error\":\"Orchestration depth 8 reached limit 8. Action source: chain\"");
    free(wal);
    world_close(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_presets),
        cmocka_unit_test(test_no_preset),
        cmocka_unit_test(test_removed_inside),
        cmocka_unit_test(test_removed_twice),
        cmocka_unit_test(test_freed_when_done),
        cmocka_unit_test(test_time),
        cmocka_unit_test(test_wal),
        cmocka_unit_test(test_wal_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
