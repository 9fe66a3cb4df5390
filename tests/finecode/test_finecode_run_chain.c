/* Runs over several envs: chains of segments, and groups at the same time. */
#include "finecode/orchestra.h"

enum { JSON = DX_FINECODE_JSON, STRING = DX_FINECODE_STRING };

#define H(name, env, config) \
    "{name = '" name "', source = 'd." name "', env = '" env "', config = {" config "}}"
#define ACTION(name, about, handlers)                                        \
    "[finecode.action." name "]\nsource = 'demo." name "'\nconfig = {" about \
    "}\nhandlers = [" handlers "]\n"

static const char chains[] = ACTION(
    "three", "",
    H("h1", "env1", "items = [1]") "," H("h2", "env1", "items = [2]") "," H(
        "h3", "env1", "items = [3]") "," H("h4", "env2", "items = [4]"))
    ACTION("back", "",
           H("h1", "env1", "items = [1]") "," H("h2", "env2", "items = [2]") "," H(
               "h3", "env1", "items = [3], code = 1"))
        ACTION("both", "concurrent = true",
               H("h1", "env1", "items = [1], sleep = 1") "," H(
                   "h2", "env2", "items = [2], sleep = 1") "," H("h3", "env1", "items = [3]"))
            ACTION("stop", "",
                   H("h1", "env1", "items = [1]") "," H(
                       "h2", "env2", "items = [2], stops = true, code = 1") "," H("h3", "env1",
                                                                                  "items = [3]"))
                ACTION("fail", "",
                       H("h1", "env1", "items = [1]") "," H("h2", "env2", "error = 'no'") "," H(
                           "h3", "env1", "items = [3]"))
                    ACTION(
                        "worse", "concurrent = true",
                        H("h1", "env1", "error = 'first'") "," H("h2", "env2", "error = 'second'"))
                        ACTION("mixed", "concurrent = true",
                               H("h1", "env1", "cancels = true") "," H("h2", "env2",
                                                                       "error = 'second'"))
                            ACTION("gone", "concurrent = true",
                                   H("h1", "env1", "cancels = true") "," H("h2", "env2",
                                                                           "cancels = true"))
                                ACTION("halt", "concurrent = true",
                                       H("h1", "env1", "items = [1], stops = true, code = 1") "," H(
                                           "h2", "env2", "items = [2]"))
                                    ACTION("unmerged", "concurrent = true, unmergeable = [1]",
                                           H("h1", "env1", "items = [1]") "," H("h2", "env2",
                                                                                "items = [2]"));

static struct world *open_world(bool is_real) {
    struct world *world = world_new(is_real);
    project(world, "p", chains);
    world_open(world);
    return world;
}

/* Test 29. handlers: [h1/env1, h2/env1, h3/env1, h4/env2]
 * segments: [(env1, [h1, h2, h3]), (env2, [h4])] */
static void test_segments(void **state) {
    (void)state;
    for (int real = 0; real < 2; real++) {
        struct world *world = open_world(real);
        static const char payload[] = "{\"text\":\"t\"}";
        dx_finecode_ask ask = ask_for(world, "three", JSON | STRING);
        ask.payload = dx_json_text(payload, strlen(payload));
        perform(world, &ask);
        assert_string_equal(world->result, "{\"json\":{\"items\":[1,2,3,4],\"payload\":{\"text\":"
                                           "\"t\"}},\"string\":\"1\\n2\\n3\\n4\"}");
        must_be(&world->steps, "p env1 h1, h2, h3 started\np env1 h1, h2, h3 done\n"
                               "p env2 h4 started\np env2 h4 done\n");
        sent_has(world, "actions/runHandlers", 0, "env1@p ");
        sent_has(world, "actions/runHandlers", 0,
                 real ? "\"handlerNames\":[\"h1\",\"h2\",\"h3\"],\"params\":{\"text\":\"t\"},"
                        "\"previousResult\":null,\"previousContext\":null,\"callerKwargs\":null,"
                        "\"options\":{\"resultFormats\":[],"
                      : "\"handlerNames\":[\"h1\",\"h2\",\"h3\"],\"params\":{\"text\":\"t\"},"
                        "\"previousResult\":null,\"options\":{\"resultFormats\":[],");
        sent_has(world, "actions/runHandlers", 1, "env2@p ");
        sent_has(world, "actions/runHandlers", 1,
                 "\"previousResult\":{\"items\":[1,2,3],\"payload\":{\"text\":\"t\"}}");
        sent_has(world, "actions/runHandlers", 1, "\"resultFormats\":[\"json\",\"string\"]");
        if (real)
            sent_has(world, "actions/runHandlers", 1, "\"previousContext\":{\"seen\":3}");
        assert_null(sent(world, "actions/runHandlers", 2));
        assert_null(sent(world, "actions/run", 0));
        const char *first = id_of(sent(world, "actions/runHandlers", 0));
        assert_string_equal(first, id_of(sent(world, "actions/runHandlers", 1)));
        assert_string_equal(get(world, "p/ran"), "h1\nh2\nh3\nh4\n");
        world_close(world);
    }
}

/* handlers: [h1/env1, h2/env2, h3/env1]; segments: [(env1, [h1]), (env2, [h2]), (env1, [h3])].
 * Without a payload the messages have exactly what the document lists. */
static void test_back_and_forth(void **state) {
    struct world *world = open_world(false);
    (void)state;
    run(world, "back", JSON);
    assert_string_equal(world->result, "{\"json\":{\"items\":[1,2,3]}}");
    assert_int_equal(world->return_code, 1);
    must_be(&world->steps, "p env1 h1 started\np env1 h1 done\np env2 h2 started\np env2 h2 done\n"
                           "p env1 h3 started\np env1 h3 done\n");
    sent_has(
        world, "actions/runHandlers", 0,
        "\"params\":{\"actionName\":\"back\",\"handlerNames\":[\"h1\"],\"previousResult\":null,"
        "\"options\":{");
    sent_has(world, "actions/runHandlers", 1, "\"previousResult\":{\"items\":[1]},\"options\":{");
    sent_has(world, "actions/runHandlers", 1, "\"resultFormats\":[]");
    sent_has(world, "actions/runHandlers", 2, "\"previousResult\":{\"items\":[1,2]},\"options\":{");
    sent_has(world, "actions/runHandlers", 2, "\"resultFormats\":[\"json\"]");
    const char *old = id_of(sent(world, "actions/runHandlers", 0));
    run(world, "back", JSON);
    assert_string_not_equal(old, id_of(sent(world, "actions/runHandlers", 0)));
    world_close(world);
}

/* Test 30. handlers: [h1/env1, h2/env2, h3/env1]; groups: [(env1, [h1, h3]), (env2, [h2])] */
static void test_groups(void **state) {
    (void)state;
    for (int real = 0; real < 2; real++) {
        struct world *world = open_world(real);
        run(world, "three", 0); /* so that all runners are there */
        uint64_t start = now_ms();
        run(world, "both", JSON | STRING);
        assert_true(now_ms() - start < 1900);
        /* By the document no runner is asked for the text. */
        assert_string_equal(world->result,
                            real ? "{\"json\":{\"items\":[1,3,2]},\"string\":\"1\\n3\\n2\"}"
                                 : "{\"json\":{\"items\":[1,3,2]},\"string\":\"{\\n  "
                                   "\\\"items\\\": [\\n    1,\\n    3,\\n    2\\n  ]\\n}\"}");
        assert_ptr_equal(strstr(world->steps.text, "p env1 h1, h3 started\np env2 h2 started\n"),
                         world->steps.text);
        sent_has(world, "actions/runHandlers", 0, "\"handlerNames\":[\"h1\",\"h3\"]");
        sent_has(world, "actions/runHandlers", 0, "\"resultFormats\":[]");
        sent_has(world, "actions/runHandlers", 1, "\"handlerNames\":[\"h2\"]");
        sent_has(world, "actions/runHandlers", 1, "\"previousResult\":null");
        sent_has(world, "actions/mergeResults", 0, "env1@p ");
        sent_has(world, "actions/mergeResults", 0,
                 "{\"actionName\":\"both\",\"results\":[{\"items\":[1,3]},{\"items\":[2]}]}");
        if (real) {
            sent_has(world, "actions/runHandlers", 2, "env2@p ");
            sent_has(world, "actions/runHandlers", 2, "\"handlerNames\":[]");
            sent_has(world, "actions/runHandlers", 2, "\"previousResult\":{\"items\":[1,3,2]}");
            sent_has(world, "actions/runHandlers", 2, "\"resultFormats\":[\"json\",\"string\"]");
        }
        assert_null(sent(world, "actions/runHandlers", real ? 3 : 2));
        const char *id = id_of(sent(world, "actions/runHandlers", 0));
        assert_string_equal(id, id_of(sent(world, "actions/runHandlers", 1)));
        if (real)
            assert_string_equal(id, id_of(sent(world, "actions/runHandlers", 2)));
        world_close(world);
    }
}

static void test_stop(void **state) {
    struct world *world = open_world(false);
    (void)state;
    run(world, "stop", JSON);
    assert_int_equal(world->status, DX_FINECODE_STOPPED);
    assert_int_equal(world->return_code, 1);
    assert_string_equal(world->result, "{\"json\":{\"items\":[1,2]}}");
    assert_null(sent(world, "actions/runHandlers", 2));
    must_have(&world->steps, "p env2 h2 stopped\n");
    assert_string_equal(get(world, "p/ran"), "h1\nh2\n");
    run(world, "stop", JSON | STRING);
    assert_int_equal(world->status, DX_FINECODE_STOPPED);
    assert_int_equal(world->return_code, 1);
    assert_string_equal(world->result, "{\"json\":{\"items\":[1,2]},\"string\":\"{\\n  "
                                       "\\\"items\\\": [\\n    1,\\n    2\\n  ]\\n}\"}");
    assert_null(sent(world, "actions/runHandlers", 4));
    run(world, "halt", JSON);
    assert_int_equal(world->status, DX_FINECODE_STOPPED);
    assert_int_equal(world->return_code, 1);
    assert_string_equal(world->result, "{\"json\":{\"items\":[1,2]}}");
    world_close(world);
}

/* Test 31. */
static void test_failures(void **state) {
    struct world *world = open_world(true);
    (void)state;
    run(world, "fail", JSON);
    assert_int_equal(world->status, DX_FINECODE_FAILED);
    assert_string_equal(world->why, "no");
    assert_string_equal(get(world, "p/ran"), "h1\nh2\n");
    run(world, "worse", JSON);
    assert_int_equal(world->status, DX_FINECODE_FAILED);
    assert_string_equal(world->why, "first; second");
    assert_null(sent(world, "actions/mergeResults", 0));
    run(world, "mixed", JSON);
    assert_int_equal(world->status, DX_FINECODE_FAILED);
    assert_int_equal(world->code, 0);
    assert_string_equal(world->why, "handler gave up; second");
    run(world, "gone", JSON);
    assert_int_equal(world->status, DX_FINECODE_GIVEN_UP);
    assert_int_equal(world->code, -32800);
    run(world, "unmerged", JSON);
    assert_int_equal(world->status, DX_FINECODE_FAILED);
    assert_string_equal(world->why, "these cannot be merged");
    world_close(world);
}

/* A project for which a runner cannot be started runs none of its handlers. */
static void test_half(void **state) {
    struct world *world = world_new(false);
    (void)state;
    project(world, "p",
            ACTION("a", "",
                   H("h1", "env1", "items = [1]") "," H(
                       "h2", "env2",
                       "items = [2]")) "[finecode.er.envs.env2]\nrunner = ['/nowhere']\n");
    world_open(world);
    run(world, "a", JSON);
    assert_int_equal(world->status, DX_FINECODE_FAILED);
    assert_int_equal(world->cause, DX_FINECODE_NO_RUNNER);
    assert_string_equal(get(world, "p/ran"), "");
    must_be(&world->steps, "");
    world_close(world);
}

/* Several projects: each ends once, and the worst counts. */
static void test_projects(void **state) {
    struct world *world = world_new(false);
    (void)state;
    project(world, "a", ACTION("x", "", H("h", "dev", "items = ['a'], sleep = 0.3, code = 1")));
    project(world, "b", ACTION("x", "", H("h", "dev", "error = 'broken'")));
    project(world, "c", ACTION("x", "", H("h", "dev", "items = ['c'], sleep = 0.3")));
    project(world, "d", ACTION("y", "", H("h", "dev", "items = ['d']")));
    world_open(world);
    run(world, "x", JSON);
    assert_int_equal(count_of(&world->projects, "\n"), 3);
    must_have(&world->projects, "a success 1 {\"json\":{\"items\":[\"a\"]}}\n");
    must_have(&world->projects, "b failed 0 broken\n");
    must_have(&world->projects, "c success 0 {\"json\":{\"items\":[\"c\"]}}\n");
    assert_int_equal(world->status, DX_FINECODE_FAILED);
    assert_int_equal(world->return_code, 1);
    assert_string_equal(world->why, "b: broken");
    assert_string_equal(world->result, "");
    dx_finecode_ask ask = ask_for(world, "x", JSON);
    ask.one_by_one = 1;
    perform(world, &ask);
    must_be(&world->steps, "a dev h started\na dev h done\nb dev h started\nb dev h failed\n"
                           "c dev h started\nc dev h done\n");
    ask.one_by_one = 0;
    ask.project = at(world, "c");
    perform(world, &ask);
    must_be(&world->projects, "c success 0 {\"json\":{\"items\":[\"c\"]}}\n");
    ask.project = at(world, "d");
    dx_error error = {0};
    assert_int_equal(dx_finecode_wm_run(world->wm, &ask, NULL, &error), DX_ERR_INVALID);
    assert_non_null(strstr(error.phrase, "unknown action 'x' in /"));
    world_close(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_segments), cmocka_unit_test(test_back_and_forth),
        cmocka_unit_test(test_groups),   cmocka_unit_test(test_stop),
        cmocka_unit_test(test_failures), cmocka_unit_test(test_half),
        cmocka_unit_test(test_projects),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
