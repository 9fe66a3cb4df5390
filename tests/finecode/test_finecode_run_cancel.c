/* Cancelling: down to the runner and through what runs inside of a run; ends that come otherwise.
 */
#include "finecode/orchestra.h"

enum { JSON = DX_FINECODE_JSON };

#define H(name, env, config) \
    "{name = '" name "', source = 'd." name "', env = '" env "', config = {" config "}}"
#define ACTION(name, about, handlers)                                        \
    "[finecode.action." name "]\nsource = 'demo." name "'\nconfig = {" about \
    "}\nhandlers = [" handlers "]\n"

static const char actions[] = ACTION("slow", "", H("h", "a", "sleep = 60"))
    ACTION("chain", "", H("h1", "a", "sleep = 60") "," H("h2", "b", "items = [2]")) ACTION(
        "groups", "concurrent = true", H("h1", "a", "sleep = 60") "," H("h2", "b", "sleep = 60"))
        ACTION("nested", "", H("h", "a", "deep = 'demo.leaf'"))
            ACTION("numb", "", H("h", "a", "deep = 'demo.leaf', deaf = true"))
                ACTION("leaf", "", H("h", "b", "sleep = 60"))
                    ACTION("quick", "", H("h", "a", "items = [1]") "," H("i", "b", "items = [2]"));

static struct world *open_world(void) {
    struct world *world = world_new(true);
    project(world, "p", actions);
    world_open(world);
    dx_finecode_ask ask = ask_for(world, "quick", JSON);
    perform(world, &ask);
    clear(world);
    return world;
}

static void expect_cancelled(struct world *world, unsigned before, uint64_t start) {
    WAIT(world, world->done > before);
    assert_true(now_ms() - start < 4000);
    assert_int_equal(world->done, before + 1);
    assert_int_equal(world->status, DX_FINECODE_GIVEN_UP);
    assert_int_equal(world->code, -32800);
    assert_null(world->wm->runs);
}

/* Test 44. */
static void test_cancel(void **state) {
    static const char *const names[] = {"slow", "chain", "groups"};
    (void)state;
    struct world *world = open_world();
    for (size_t i = 0; i < 3; i++) {
        unsigned before = world->done;
        dx_finecode_ask ask = ask_for(world, names[i], JSON);
        clear(world);
        begin(world, &ask);
        WAIT(world, count_of(&world->steps, "started") == (i == 2 ? 2 : 1));
        pass(world, 50);
        uint64_t start = now_ms();
        dx_finecode_wm_cancel(world->wm, world->run);
        assert_int_equal(world->done, before);
        dx_finecode_wm_cancel(world->wm, world->run); /* once is enough */
        expect_cancelled(world, before, start);
        assert_int_equal(count_of(&world->sent, "$/cancelRequest"), i == 2 ? 2 : 1);
        assert_int_equal(count_of(&world->projects, "p cancelled"), 1);
    }
    run(world, "quick", JSON);
    assert_int_equal(world->status, DX_FINECODE_SUCCESS);
    world_close(world);
}

/* Before anything was sent, while a runner starts, and from inside of a callback. */
static void test_early(void **state) {
    struct world *world = world_new(true);
    dx_finecode_ask ask = ask_for(world, "slow", JSON);
    (void)state;
    project(world, "p", actions);
    world_open(world);
    begin(world, &ask);
    dx_finecode_wm_cancel(world->wm, world->run);
    expect_cancelled(world, 0, now_ms());
    assert_null(world->wm->runners);
    begin(world, &ask);
    WAIT(world, world->sent.len);
    assert_null(sent(world, "actions/run", 0));
    dx_finecode_wm_cancel(world->wm, world->run);
    expect_cancelled(world, 1, now_ms());
    run(world, "quick", JSON);
    assert_int_equal(world->status, DX_FINECODE_SUCCESS);
    assert_null(sent(world, "actions/run", 0));
    world_close(world);
}

static void on_step_cancel(dx_finecode_wm *wm, dx_finecode_run *run, dx_finecode_project *project,
                           const char *env, const char *handlers, const char *state, void *user) {
    on_step(wm, run, project, env, handlers, state, user);
    dx_finecode_wm_cancel(wm, run);
}

static void test_inside(void **state) {
    struct world *world = open_world();
    dx_finecode_ask ask = ask_for(world, "chain", JSON);
    (void)state;
    ask.on_step = on_step_cancel;
    unsigned before = world->done;
    begin(world, &ask);
    expect_cancelled(world, before, now_ms());
    assert_null(sent(world, "actions/runHandlers", 0));
    ask.action = "quick"; /* when its first segment has ended */
    ask.on_step = NULL;
    begin(world, &ask);
    WAIT(world, count_of(&world->came, "\"returnCode\"") == 1);
    world_close(world);
}

static void on_project_ms(dx_finecode_wm *wm, dx_finecode_run *run, dx_finecode_project *project,
                          const dx_finecode_result *result, void *user) {
    struct world *world = user;
    on_project(wm, run, project, result, user);
    note(&world->edits, "%s %d\n", dx_finecode_project_name(project), (int)(result->ms / 1000));
}

/* One that did not begin took no time. */
static void test_not_begun(void **state) {
    struct world *world = world_new(true);
    (void)state;
    project(world, "p", actions);
    project(world, "q", actions);
    world_open(world);
    dx_finecode_ask ask = ask_for(world, "slow", JSON);
    ask.one_by_one = 1;
    ask.on_project = on_project_ms;
    begin(world, &ask);
    WAIT(world, sent(world, "actions/run", 0));
    dx_finecode_wm_cancel(world->wm, world->run);
    expect_cancelled(world, 0, now_ms());
    assert_int_equal(count_of(&world->projects, "q cancelled"), 1);
    must_have(&world->edits, "q 0\n");
    world_close(world);
}

/* Test 45: what a cancelled run has asked for ends, too; also where the runner does not care. */
static void test_nested(void **state) {
    static const char *const names[] = {"nested", "numb"};
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct world *world = open_world();
        dx_finecode_ask ask = ask_for(world, names[i], JSON);
        unsigned before = world->done;
        begin(world, &ask);
        WAIT(world, count_of(&world->sent, "\"method\":\"actions/run\"") == 2);
        pass(world, 50);
        uint64_t start = now_ms();
        dx_finecode_wm_cancel(world->wm, world->run);
        WAIT(world, world->done > before);
        WAIT(world, !world->wm->runs);
        if (i == 0)
            assert_true(now_ms() - start < 4000);
        assert_int_equal(world->status, DX_FINECODE_GIVEN_UP);
        assert_int_equal(count_of(&world->sent, "$/cancelRequest"), 2);
        world_close(world);
    }
}

/* The runner that asked dies: what it asked for ends. */
static void test_asker_dies(void **state) {
    struct world *world = open_world();
    dx_finecode_ask ask = ask_for(world, "nested", JSON);
    unsigned before = world->done;
    (void)state;
    begin(world, &ask);
    WAIT(world, count_of(&world->sent, "\"method\":\"actions/run\"") == 2);
    const dx_finecode_runner *runner = dx_finecode_wm_find_runner(world->wm, at(world, "p"), "a");
    kill(dx_finecode_runner_pid(runner), SIGKILL);
    uint64_t start = now_ms();
    WAIT(world, world->done > before && !world->wm->runs);
    assert_true(now_ms() - start < 4000);
    assert_int_equal(world->status, DX_FINECODE_FAILED);
    assert_int_equal(world->cause, DX_FINECODE_ENDED);
    assert_int_equal(count_of(&world->sent, "$/cancelRequest"), 1);
    run(world, "quick", JSON);
    assert_int_equal(world->status, DX_FINECODE_SUCCESS);
    world_close(world);
}

/* A project that goes takes along what runs in it, and nothing else. */
static void test_removed(void **state) {
    struct world *world = world_new(true);
    char folder[PATH_MAX];
    (void)state;
    project(world, "p", actions);
    world_open(world);
    dx_finecode_wm_remove_dir(world->wm, world->top);
    assert_null(dx_finecode_wm_project(world->wm, 0));
    assert_int_equal(dx_finecode_wm_add_dir(world->wm, world->top, NULL), DX_OK);
    dx_finecode_ask ask = ask_for(world, "nested", JSON);
    begin(world, &ask);
    WAIT(world, count_of(&world->sent, "\"method\":\"actions/run\"") == 2);
    snprintf(folder, sizeof folder, "%s", world->top);
    dx_finecode_wm_remove_dir(world->wm, folder);
    assert_int_equal(world->done, 0);
    WAIT(world, world->done);
    assert_int_equal(world->status, DX_FINECODE_FAILED);
    assert_non_null(strstr(world->why, "the project was removed: "));
    pass(world, 100);
    assert_int_equal(world->done, 1);
    assert_null(world->wm->runs);
    begin(world,
          &(dx_finecode_ask){
              .action = "a.b", .origin = {"user", "cli", 0}, .on_done = on_done, .user = world});
    WAIT(world, world->done == 2);
    assert_string_equal(world->why, "unknown action 'a.b'");
    world_close(world);
}

/* Nobody is told of runs that are forgotten, and they end; a manager that is freed ends all. */
static void test_forgotten(void **state) {
    struct world *world = open_world();
    dx_finecode_ask ask = ask_for(world, "slow", JSON);
    unsigned before = world->done;
    (void)state;
    begin(world, &ask);
    WAIT(world, sent(world, "actions/run", 0));
    dx__finecode_runs_forget(world->wm, world);
    WAIT(world, !world->wm->runs);
    assert_int_equal(world->done, before);
    begin(world, &ask);
    ask.action = "nested";
    begin(world, &ask);
    ask.action = "groups";
    begin(world, &ask);
    pass(world, 300);
    dx_finecode_wm_free(world->wm);
    assert_int_equal(dx_finecode_wm_new(world->loop, &world->config, &world->wm, NULL), DX_OK);
    pass(world, 50);
    assert_int_equal(world->done, before);
    world_close(world);
}

/* The manager stops while something runs: that ends before on_stopped comes. */
static void test_stopped(void **state) {
    struct world *world = open_world();
    dx_finecode_ask ask = ask_for(world, "slow", JSON);
    unsigned before = world->done;
    (void)state;
    begin(world, &ask);
    begin(world, &ask);
    WAIT(world, sent(world, "actions/run", 1));
    begin(world, &ask);
    dx_finecode_wm_stop(world->wm);
    assert_int_equal(dx_finecode_wm_run(world->wm, &ask, NULL, NULL), DX_CLOSED);
    WAIT(world, world->stopped);
    assert_int_equal(world->done, before + 3);
    world->stopped = 0;
    dx_finecode_wm_free(world->wm);
    assert_int_equal(dx_finecode_wm_new(world->loop, &world->config, &world->wm, NULL), DX_OK);
    world_close(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cancel),  cmocka_unit_test(test_early),
        cmocka_unit_test(test_inside),  cmocka_unit_test(test_not_begun),
        cmocka_unit_test(test_nested),  cmocka_unit_test(test_asker_dies),
        cmocka_unit_test(test_removed), cmocka_unit_test(test_forgotten),
        cmocka_unit_test(test_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
