/* Partial results and progress. */
#include "finecode/orchestra.h"

enum { JSON = DX_FINECODE_JSON, STRING = DX_FINECODE_STRING };

#define H(name, env, config) \
    "{name = '" name "', source = 'd." name "', env = '" env "', config = {" config "}}"
#define ACTION(name, about, handlers)                                        \
    "[finecode.action." name "]\nsource = 'demo." name "'\nconfig = {" about \
    "}\nhandlers = [" handlers "]\n"

#define PARTS(one, other) "partials = [[" one "], [" other "]]"

static const char actions[] = ACTION("gen", "", H("h", "a", PARTS("1", "2")))
    ACTION("plain", "", H("h", "a", PARTS("1", "2") ", plain = true")) ACTION(
        "direct", "", H("h", "a", "items = [1]")) ACTION("void", "", H("h", "a", ""))
        ACTION("work", "", H("h", "a", "items = [1], progress = true")) ACTION(
            "chain", "",
            H("h1", "a", PARTS("1", "2")) "," H("h2", "b", PARTS("3", "4")) "," H("h3", "a",
                                                                                  PARTS("5", "6")))
            ACTION("late", "", H("h1", "a", "items = [1]") "," H("h2", "b", PARTS("2", "3")))
                ACTION("early", "",
                       H("h1", "a", PARTS("1", "2")) "," H("h2", "b", "items = [3]") "," H(
                           "h3", "a", PARTS("4", "5")))
                    ACTION("first", "",
                           H("h1", "a", PARTS("1", "2")) "," H("h2", "b", "items = [3]"))
                        ACTION("still", "",
                               H("h1", "a", "items = [1]") "," H("h2", "b", "items = [2]"))
                            ACTION("groups", "concurrent = true",
                                   H("h1", "a", PARTS("1", "2")) "," H("h2", "b", "items = [3]"))
                                ACTION("calm", "concurrent = true",
                                       H("h1", "a", "items = [1]") "," H("h2", "b", "items = [2]"));

static void stream(struct world *world, const char *action, unsigned formats) {
    dx_finecode_ask ask = ask_for(world, action, formats);
    ask.streamed = 1;
    perform(world, &ask);
    if (world->status != DX_FINECODE_SUCCESS && world->status != DX_FINECODE_STREAMED)
        fail_msg("%s: %s", action, world->why);
}

static struct world *open_world(bool is_real) {
    struct world *world = world_new(is_real);
    project(world, "p", actions);
    world_open(world);
    return world;
}

/* Tests 24 and 26: what was streamed is not repeated, what was not becomes one. */
static void test_one_env(void **state) {
    (void)state;
    for (int real = 0; real < 2; real++) {
        struct world *world = open_world(real);
        stream(world, "gen", JSON);
        must_be(&world->partials, "p {\"json\":{\"items\":[1]}}\np {\"json\":{\"items\":[2]}}\n");
        assert_int_equal(world->status, real ? DX_FINECODE_SUCCESS : DX_FINECODE_STREAMED);
        assert_string_equal(world->result, real ? "{\"json\":{\"items\":[1,2]}}" : "");
        stream(world, "gen", JSON | STRING);
        must_have(&world->partials, "p {\"json\":{\"items\":[1]},\"string\":\"1\"}\n");
        assert_int_equal(count_of(&world->partials, "\n"), 2);
        stream(world, "plain", JSON);
        must_be(&world->partials, "p {\"json\":{\"items\":[1]}}\np {\"json\":{\"items\":[2]}}\n");
        stream(world, "direct", JSON | STRING);
        must_be(&world->partials, "p {\"json\":{\"items\":[1]},\"string\":\"1\"}\n");
        run(world, "gen", JSON); /* nobody wants them */
        must_be(&world->partials, "");
        assert_null(strstr(world->sent.text, "partialResultToken"));
        assert_string_equal(world->result, "{\"json\":{\"items\":[1,2]}}");
        world_close(world);
    }
}

/* Test 37: no handler runs twice, and all parts together are the result. */
static void test_chain(void **state) {
    (void)state;
    for (int real = 0; real < 2; real++) {
        struct world *world = open_world(real);
        stream(world, "chain", JSON);
        must_be(&world->partials, "p {\"json\":{\"items\":[1]}}\np {\"json\":{\"items\":[2]}}\n"
                                  "p {\"json\":{\"items\":[3]}}\np {\"json\":{\"items\":[4]}}\n"
                                  "p {\"json\":{\"items\":[5]}}\np {\"json\":{\"items\":[6]}}\n");
        assert_string_equal(get(world, "p/ran"), "h1\nh2\nh3\n");
        assert_null(sent(world, "actions/run", 0));
        sent_has(world, "actions/runHandlers", 0, "\"resultFormats\":[]");
        sent_has(world, "actions/runHandlers", 0, "/1\"");
        sent_has(world, "actions/runHandlers", 1, "/2\"");
        sent_has(world, "actions/runHandlers", 2, "/3\"");
        stream(world, "chain", JSON | STRING);
        assert_int_equal(count_of(&world->partials, "\"string\":"), 6);
        stream(world, "late", JSON);
        must_be(&world->partials, "p {\"json\":{\"items\":[1]}}\np {\"json\":{\"items\":[2]}}\n"
                                  "p {\"json\":{\"items\":[3]}}\n");
        stream(world, "first", JSON);
        must_be(&world->partials, "p {\"json\":{\"items\":[1]}}\np {\"json\":{\"items\":[2]}}\n"
                                  "p {\"json\":{\"items\":[3]}}\n");
        stream(world, "early", JSON);
        must_be(&world->partials, "p {\"json\":{\"items\":[1]}}\np {\"json\":{\"items\":[2]}}\n"
                                  "p {\"json\":{\"items\":[3]}}\np {\"json\":{\"items\":[4]}}\n"
                                  "p {\"json\":{\"items\":[5]}}\n");
        stream(world, "still", JSON | STRING);
        must_be(&world->partials, "p {\"json\":{\"items\":[1,2]},\"string\":\"1\\n2\"}\n");
        stream(world, "late", STRING);
        must_be(&world->partials, real ? "p {\"string\":\"1\\n2\\n3\"}\n"
                                       : "p {\"string\":\"{\\n  \\\"items\\\": [\\n    1,\\n    "
                                         "2,\\n    3\\n  ]\\n}\"}\n");
        world_close(world);
    }
}

static void test_groups(void **state) {
    struct world *world = open_world(true);
    (void)state;
    stream(world, "groups", JSON);
    assert_int_equal(count_of(&world->partials, "\n"), 3);
    must_have(&world->partials, "p {\"json\":{\"items\":[1]}}\n");
    must_have(&world->partials, "p {\"json\":{\"items\":[2]}}\n");
    must_have(&world->partials, "p {\"json\":{\"items\":[3]}}\n");
    assert_string_equal(world->result, "{\"json\":{\"items\":[1,2,3]}}");
    stream(world, "calm", JSON | STRING);
    must_be(&world->partials, "p {\"json\":{\"items\":[1,2]},\"string\":\"1\\n2\"}\n");
    world_close(world);
}

/* Test 27; the document's revision has no such thing. */
static void test_progress(void **state) {
    (void)state;
    for (int real = 0; real < 2; real++) {
        struct world *world = open_world(real);
        dx_finecode_ask ask = ask_for(world, "work", JSON);
        ask.progress = 1;
        ask.streamed = 1;
        perform(world, &ask);
        must_be(&world->progress,
                real ? "p {\"type\":\"begin\",\"title\":\"h\",\"percentage\":0,\"total\":2}\n"
                       "p {\"type\":\"report\",\"message\":\"half\",\"percentage\":50}\n"
                       "p {\"type\":\"end\",\"message\":null}\n"
                     : "");
        must_be(&world->partials, "p {\"json\":{\"items\":[1]}}\n");
        ask.streamed = 0;
        perform(world, &ask);
        assert_int_equal(count_of(&world->progress, "\n"), real ? 3 : 0);
        must_be(&world->partials, "");
        world_close(world);
    }
}

/* Test 28: thirty at the same time, none lost, none given twice. */
static void test_many(void **state) {
    struct world *world = open_world(true);
    (void)state;
    run(world, "direct", 0);
    clear(world);
    unsigned before = world->done;
    dx_finecode_ask ask = ask_for(world, "gen", JSON);
    ask.streamed = 1;
    for (int i = 0; i < 30; i++)
        begin(world, &ask);
    WAIT(world, world->done == before + 30);
    assert_int_equal(count_of(&world->partials, "p {\"json\":{\"items\":[1]}}\n"), 30);
    assert_int_equal(count_of(&world->partials, "p {\"json\":{\"items\":[2]}}\n"), 30);
    assert_int_equal(count_of(&world->partials, "\n"), 60);
    world_close(world);
}

/* F63: signs of life keep a call going, but not for ever. */
static void test_endless(void **state) {
    struct world *world = world_new(true);
    (void)state;
    world->config.run_ms = 1000;
    world->config.total_ms = 2500;
    project(world, "p",
            ACTION("long", "",
                   H("h", "a", "partials = [[1], [2], [3], [4], [5], [6], [7]], pause = 0.2"))
                ACTION("endless", "",
                       H("h", "a",
                         "partials = [[1], [2], [3], [4], [5], [6], [7], [8], [9], [1], "
                         "[2], [3], [4], [5], [6], [7], [8], [9], [1], [2], [3], [4]], "
                         "pause = 0.3")));
    world_open(world);
    stream(world, "long", JSON); /* 1.4 s, none of them without a sign */
    dx_finecode_ask ask = ask_for(world, "endless", JSON);
    ask.streamed = 1;
    uint64_t start = now_ms();
    perform(world, &ask);
    assert_in_range(now_ms() - start, 2500, 6000);
    assert_int_equal(world->status, DX_FINECODE_FAILED);
    assert_int_equal(world->cause, DX_FINECODE_LATE);
    assert_int_equal(count_of(&world->sent, "$/cancelRequest"), 1);
    world_close(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_env), cmocka_unit_test(test_chain),
        cmocka_unit_test(test_groups),  cmocka_unit_test(test_progress),
        cmocka_unit_test(test_many),    cmocka_unit_test(test_endless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
