/* Runs in one env, and what the manager asks then. */
#include "finecode/orchestra.h"

enum { JSON = DX_FINECODE_JSON, STRING = DX_FINECODE_STRING };

static const char one_env[] =
    "[finecode.action.echo]\nsource = 'demo.Echo'\n"
    "handlers = [{name = 'h1', source = 'd.h1', env = 'dev', config = {items = ['a']}},\n"
    "            {name = 'h2', source = 'd.h2', env = 'dev', config = {items = ['b']}}]\n"
    "[finecode.action.bad]\nsource = 'demo.Bad'\n"
    "handlers = [{name = 'h', source = 'd.b', env = 'dev', config = {items = ['x'], code = 1}}]\n"
    "[finecode.action.fail]\nsource = 'demo.Fail'\n"
    "handlers = [{name = 'h', source = 'd.f', env = 'dev', config = {error = 'declared "
    "failure'}}]\n"
    "[finecode.action.canc]\nsource = 'demo.Canc'\n"
    "handlers = [{name = 'h', source = 'd.c', env = 'dev', config = {cancels = true}}]\n"
    "[finecode.action.stop]\nsource = 'demo.Stop'\n"
    "handlers = [{name = 'h1', source = 'd.s', env = 'dev', config = {items = ['s'], stops = true,"
    " code = 1}},\n"
    "            {name = 'h2', source = 'd.n', env = 'dev', config = {items = ['never']}}]\n"
    "[finecode.action.nothing]\nsource = 'demo.Nothing'\n"
    "[finecode.action.empty]\nsource = 'demo.Empty'\n"
    "handlers = [{name = 'h', source = 'd.e', env = 'dev', config = {answer = {status = 'success',"
    " result_by_format = '{}', return_code = 0}}}]\n"
    "[finecode.action.camel]\nsource = 'demo.Camel'\n"
    "handlers = [{name = 'h', source = 'd.cc', env = 'dev', config = {answer = {status = 'success',"
    " resultByFormat = {json = {n = 1}}, returnCode = 7}}}]\n"
    "[finecode.action.snake]\nsource = 'demo.Snake'\n"
    "handlers = [{name = 'h', source = 'd.sn', env = 'dev', config = {answer = {status = 'success',"
    " result_by_format = '{\"json\": {\"n\": 1}}', return_code = 7}}}]\n"
    "[finecode.action.odd]\nsource = 'demo.Odd'\n"
    "handlers = [{name = 'h', source = 'd.o', env = 'dev', config = {answer = {status = 'success',"
    " return_code = 'x'}}}]\n";

/* Tests 16, 19, 20, 21, 36 and 52 of what is known, in both revisions. */
static void test_outcomes(void **state) {
    (void)state;
    for (int real = 0; real < 2; real++) {
        struct world *world = world_new(real);
        project(world, "p", one_env);
        world_open(world);
        run(world, "echo", JSON);
        assert_string_equal(world->result, "{\"json\":{\"items\":[\"a\",\"b\"]}}");
        must_be(&world->steps, "p dev h1, h2 started\np dev h1, h2 done\n");
        must_be(&world->projects, "p success 0 {\"json\":{\"items\":[\"a\",\"b\"]}}\n");
        run(world, "demo.Echo", JSON | STRING);
        assert_string_equal(world->result,
                            "{\"json\":{\"items\":[\"a\",\"b\"]},\"string\":\"a\\nb\"}");
        run(world, "echo", 0);
        assert_int_equal(world->status, DX_FINECODE_SUCCESS);
        assert_string_equal(world->result, "");
        run(world, "bad", JSON);
        assert_int_equal(world->status, DX_FINECODE_SUCCESS);
        assert_int_equal(world->return_code, 1);
        run(world, "fail", JSON);
        assert_int_equal(world->status, DX_FINECODE_FAILED);
        assert_string_equal(world->why, "declared failure");
        assert_int_equal(world->cause, DX_FINECODE_REFUSED);
        run(world, "canc", JSON);
        assert_int_equal(world->status, DX_FINECODE_GIVEN_UP);
        assert_int_equal(world->code, -32800);
        run(world, "stop", JSON);
        assert_int_equal(world->status, DX_FINECODE_STOPPED);
        assert_int_equal(world->return_code, 1);
        assert_string_equal(world->result, "{\"json\":{\"items\":[\"s\"]}}");
        run(world, "nothing", JSON);
        assert_int_equal(world->status, DX_FINECODE_NO_HANDLERS);
        assert_int_equal(world->return_code, 0);
        assert_null(sent(world, "actions/run", 0));
        run(world, "camel", JSON);
        assert_int_equal(world->return_code, 7);
        assert_string_equal(world->result, "{\"json\":{\"n\":1}}");
        run(world, "snake", JSON);
        assert_int_equal(world->return_code, 7);
        assert_string_equal(world->result, "{\"json\":{\"n\":1}}");
        run(world, "empty", JSON);
        assert_int_equal(world->status, real ? DX_FINECODE_SUCCESS : DX_FINECODE_FAILED);
        assert_int_equal(world->cause, real ? 0 : DX_FINECODE_VIOLATION);
        run(world, "odd", JSON);
        assert_int_equal(world->status, DX_FINECODE_FAILED);
        assert_int_equal(world->cause, DX_FINECODE_VIOLATION);
        assert_non_null(strstr(world->why, "the return code is not an integer"));
        world_close(world);
    }
}

/* What goes over the wire, word by word. */
static void test_params(void **state) {
    (void)state;
    for (int real = 0; real < 2; real++) {
        struct world *world = world_new(real);
        project(world, "p", one_env);
        world_open(world);
        dx_finecode_ask ask = ask_for(world, "echo", JSON | STRING);
        static const char payload[] = "{\"text\":\"h\\u00e9\",\"n\":1}";
        ask.payload = dx_json_text(payload, strlen(payload));
        ask.origin = (dx_finecode_origin){"system", "git_hook", 3};
        perform(world, &ask);
        sent_has(world, "actions/run", 0,
                 "\"params\":{\"actionName\":\"echo\",\"params\":{\"text\":\"h\xc3\xa9\",\"n\":1},"
                 "\"options\":{\"resultFormats\":[\"json\",\"string\"],\"walRunId\":\"");
        sent_has(world, "actions/run", 0,
                 real ? "\",\"traceparent\":null,\"meta\":{\"trigger\":\"system\",\"devEnv\":"
                        "\"git_hook\",\"orchestrationDepth\":4}}"
                      : "\",\"meta\":{\"trigger\":\"system\",\"devEnv\":\"git_hook\","
                        "\"orchestrationDepth\":4}}");
        run(world, "echo", 0);
        sent_has(world, "actions/run", 0, "\"params\":{},\"options\":{\"resultFormats\":[],");
        world_close(world);
    }
}

/* What is wrong with the question is said at once. */
static void test_refused(void **state) {
    struct world *world = world_new(false);
    dx_error error = {0};
    (void)state;
    project(world, "p", one_env);
    world_open(world);
    dx_finecode_ask ask = ask_for(world, "nosuch", JSON);
    assert_int_equal(dx_finecode_wm_run(world->wm, &ask, NULL, &error), DX_ERR_INVALID);
    assert_string_equal(error.phrase, "unknown action 'nosuch'");
    ask.action = "";
    assert_int_equal(dx_finecode_wm_run(world->wm, &ask, NULL, &error), DX_ERR_INVALID);
    ask.action = "echo";
    ask.payload = dx_json_text("[]", 2);
    assert_int_equal(dx_finecode_wm_run(world->wm, &ask, NULL, &error), DX_ERR_INVALID);
    assert_string_equal(error.phrase, "the payload of an action must be an object");
    ask.payload = dx_json_text("{", 1);
    assert_int_equal(dx_finecode_wm_run(world->wm, &ask, NULL, &error), DX_ERR_INVALID);
    ask.payload = dx_json_none();
    ask.origin.trigger = "weird";
    assert_int_equal(dx_finecode_wm_run(world->wm, &ask, NULL, &error), DX_ERR_INVALID);
    assert_string_equal(error.phrase, "unknown trigger: weird");
    ask.origin.trigger = "user";
    ask.origin.dev_env = NULL;
    assert_int_equal(dx_finecode_wm_run(world->wm, &ask, NULL, &error), DX_ERR_INVALID);
    ask.origin.dev_env = "ci";
    ask.origin.depth = 8;
    assert_int_equal(dx_finecode_wm_run(world->wm, &ask, NULL, &error), DX_ERR_LIMIT);
    assert_string_equal(error.phrase, "Orchestration depth 8 reached limit 8. Action source: echo");
    ask.origin.depth = 7;
    perform(world, &ask);
    assert_int_equal(world->status, DX_FINECODE_SUCCESS);
    world_close(world);
}

/* Test 46: what waited for a runner that dies ends, the others go on, and the next use starts it.
 */
static void test_death(void **state) {
    struct world *world = world_new(true);
    (void)state;
    project(world, "p",
            "[finecode.action.die]\nsource = 'demo.Die'\n"
            "handlers = [{name = 'h', source = 'd.d', env = 'dev', config = {dies = true}}]\n"
            "[finecode.action.echo]\nsource = 'demo.Echo'\n"
            "handlers = [{name = 'h', source = 'd.h', env = 'dev', config = {items = ['a']}}]\n"
            "[finecode.action.other]\nsource = 'demo.Other'\n"
            "handlers = [{name = 'h', source = 'd.o', env = 'two', config = {sleep = 1}}]\n");
    world_open(world);
    run(world, "echo", JSON);
    dx_finecode_ask other = ask_for(world, "other", JSON);
    begin(world, &other);
    WAIT(world, count_of(&world->steps, "p two h started"));
    dx_finecode_ask ask = ask_for(world, "die", JSON);
    unsigned before = world->done;
    begin(world, &ask);
    WAIT(world, world->done > before);
    assert_int_equal(world->status, DX_FINECODE_FAILED);
    assert_int_equal(world->cause, DX_FINECODE_ENDED);
    assert_non_null(strstr(world->why, "the runner stopped during the run: "));
    WAIT(world, world->done == before + 2);
    assert_int_equal(world->status, DX_FINECODE_SUCCESS);
    run(world, "echo", JSON);
    assert_int_equal(world->status, DX_FINECODE_SUCCESS);
    must_have(&world->sent, "\"method\":\"initialize\"");
    world_close(world);
}

static void test_no_runner(void **state) {
    struct world *world = world_new(false);
    (void)state;
    put(world, "p/finecode.toml",
        "[finecode.er.envs.bad]\nrunner = ['/nowhere/at/all']\ntransport = 'stdio'\n"
        "[finecode.action.a]\nsource = 'demo.A'\n"
        "handlers = [{name = 'h', source = 'd.h', env = 'bad'}]\n"
        "[finecode.action.b]\nsource = 'demo.B'\n"
        "handlers = [{name = 'h', source = 'd.h', env = 'venv'}]\n");
    world_open(world);
    run(world, "a", JSON);
    assert_int_equal(world->status, DX_FINECODE_FAILED);
    assert_int_equal(world->cause, DX_FINECODE_NO_RUNNER);
    assert_non_null(strstr(world->why, "env bad has no runner: "));
    run(world, "b", JSON);
    assert_int_equal(world->cause, DX_FINECODE_NO_RUNNER);
    assert_non_null(strstr(world->why, ".venvs/venv/bin/python"));
    world_close(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_outcomes),  cmocka_unit_test(test_params),
        cmocka_unit_test(test_refused),   cmocka_unit_test(test_death),
        cmocka_unit_test(test_no_runner),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
