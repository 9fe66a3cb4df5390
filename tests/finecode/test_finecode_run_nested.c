/* What runners ask the manager for. */
#include "finecode/orchestra.h"

enum { JSON = DX_FINECODE_JSON };

#define H(name, env, config) \
    "{name = '" name "', source = 'd." name "', env = '" env "', config = {" config "}}"
#define ACTION(name, about, handlers)                                        \
    "[finecode.action." name "]\nsource = 'demo." name "'\nconfig = {" about \
    "}\nhandlers = [" handlers "]\n"
#define META "meta = {trigger = 'user', devEnv = 'cli', orchestrationDepth = 1}"
#define IN_PROJECT(source, more) \
    "['finecode/runActionInProject', {actionSource = '" source "', payload = {}, " META more "}]"
#define IN_WORKSPACE(source, more)                                                                 \
    "['finecode/runActionInWorkspace', {actionSource = '" source "', payload = {}, " META more "}" \
    "]"
#define ASKS(list) "asks = [" list "]"

static const char inner[] =
    ACTION("inner", "canonical = 'demo.acts.Inner'", H("i", "b", "items = ['in'], code = 1"))
        ACTION("fails", "", H("f", "b", "error = 'inner failure'"))
            ACTION("gives", "", H("g", "b", "cancels = true")) ACTION("none", "importable = []", "")
                ACTION("streams", "", H("s", "b", "partials = [[1], [2]]"));

/* An action `outer` that asks for that, and the ones above. */
static struct world *open_world(bool is_real, const char *asks) {
    struct world *world = world_new(is_real);
    char text[8192];
    snprintf(text, sizeof text,
             "[finecode.action.outer]\nsource = 'demo.outer'\nhandlers = [{name = 'o', source = "
             "'d.o', env = 'a', config = {asks = [%s]}}]\n%s",
             asks, inner);
    project(world, "p", text);
    return world;
}

/* What the n-th question of `outer` was answered with; TOP stands for the folder. */
static const char *answer(struct world *world, size_t index) {
    static char text[1 << 14];
    yyjson_doc *doc = yyjson_read(world->result, strlen(world->result), 0);
    assert_non_null(doc);
    yyjson_val *items = yyjson_obj_get(yyjson_obj_get(yyjson_doc_get_root(doc), "json"), "items");
    const char *from = yyjson_get_str(yyjson_arr_get(items, index));
    assert_non_null(from);
    size_t len = strlen(world->top);
    char *to = text;
    while (*from && to + 4 < text + sizeof text) {
        bool is_top = strncmp(from, world->top, len) == 0;
        memcpy(to, is_top ? "TOP" : from, is_top ? 3 : 1);
        to += is_top ? 3 : 1;
        from += is_top ? len : 1;
    }
    *to = '\0';
    yyjson_doc_free(doc);
    return text;
}

static void outer(struct world *world) {
    dx_finecode_ask ask = ask_for(world, "outer", JSON);
    ask.project = at(world, "p");
    perform(world, &ask);
    if (world->status != DX_FINECODE_SUCCESS)
        fail_msg("%s", world->why);
}

/* Test 38; an alias does not match, though its source is there. */
static void test_in_project(void **state) {
    (void)state;
    for (int real = 0; real < 2; real++) {
        struct world *world = open_world(
            real,
            IN_PROJECT("demo.acts.Inner", "") "," IN_PROJECT("demo.fails", "") "," IN_PROJECT(
                "demo.gives", "") "," IN_PROJECT("demo.inner",
                                                 "") "," IN_PROJECT("no.such.Action",
                                                                    "") ",['no/such/method', {}]");
        world_open(world);
        outer(world);
        assert_string_equal(answer(world, 0),
                            "{\"result\": {\"result\": {\"items\": [\"in\"]}, \"returnCode\": 1}}");
        assert_string_equal(answer(world, 1),
                            "{\"error\": {\"code\": -32603, \"message\": \"inner failure\"}}");
        assert_string_equal(answer(world, 2),
                            "{\"error\": {\"code\": -32800, \"message\": \"handler gave up\"}}");
        assert_non_null(
            strstr(answer(world, 3),
                   "\"code\": -32603, \"message\": \"unknown action 'demo.inner' in TOP/p"));
        assert_non_null(strstr(answer(world, 4), "unknown action 'no.such.Action' in TOP/p"));
        assert_non_null(strstr(answer(world, 5), "\"code\": -32601"));
        sent_has(world, "actions/run", 1, "\"orchestrationDepth\":2");
        const char *own = id_of(sent(world, "actions/run", 0));
        assert_string_not_equal(own, id_of(sent(world, "actions/run", 1)));
        world_close(world);
    }
}

/* Test 39: bare results by the runner's own token, then null. */
static void test_token(void **state) {
    struct world *world =
        open_world(true, IN_PROJECT("demo.streams", ", partialResultToken = 7") "," IN_PROJECT(
                             "demo.acts.Inner", ", partialResultToken = 't'"));
    (void)state;
    world_open(world);
    outer(world);
    assert_string_equal(answer(world, 0), "{\"result\": {\"result\": null, \"returnCode\": 0}}");
    assert_string_equal(answer(world, 1), "{\"result\": {\"result\": null, \"returnCode\": 1}}");
    assert_string_equal(get(world, "p/progress"), "7 {\"items\":[1]}\n7 {\"items\":[2]}\n"
                                                  "\"t\" {\"items\":[\"in\"]}\n");
    world_close(world);
}

/* Test 34: depths 1 to 8 run, the ninth call is refused; also by the way of the workspace. */
static void test_depth(void **state) {
    (void)state;
    for (int real = 0; real < 2; real++) {
        struct world *world = world_new(real);
        project(world, "p",
                ACTION("ping", "", H("i", "a", "deep = 'demo.pong'"))
                    ACTION("pong", "", H("o", "b", "deep = 'demo.ping'")));
        world_open(world);
        run(world, "ping", JSON);
        assert_int_equal(count_of(&world->sent, "\"method\":\"actions/run\""), 8);
        for (int depth = 1; depth <= 8; depth++) {
            char part[64];
            snprintf(part, sizeof part, "\"orchestrationDepth\":%d}", depth);
            sent_has(world, "actions/run", (size_t)depth - 1, part);
        }
        must_have(&world->sent, "Orchestration depth 8 reached limit 8. Action source: demo.");
        world_close(world);
    }
}

/* One that does not say how deep it is cannot go deeper for that. */
static void test_forgetful(void **state) {
    struct world *world = world_new(true);
    (void)state;
    project(world, "p",
            ACTION("again", "",
                   H("h", "a",
                     ASKS("['finecode/runActionInWorkspace', {actionSource = 'demo.again', "
                          "payload = {}, meta = {trigger = 'user', devEnv = 'ai'}}]"))));
    world_open(world);
    run(world, "again", JSON);
    assert_int_equal(count_of(&world->sent, "\"method\":\"actions/run\""), 8);
    must_have(&world->sent, "\"orchestrationDepth\":8}");
    must_have(&world->sent, "Orchestration depth 8 reached limit 8");
    world_close(world);
}

/* The folder in place of TOP. */
static void fill_in(char *text, size_t size, const char *folder) {
    char rest[8192];
    for (char *top; (top = strstr(text, "TOP"));) {
        snprintf(rest, sizeof rest, "%s", top + 3);
        snprintf(top, size - (size_t)(top - text), "%s%s", folder, rest);
    }
}

#define X(name) "\"TOP/" name "\": {\"x\": {\"result\": {\"items\": [\"" name "\"]}, \"status\": "

/* Test 40. */
static void test_in_workspace(void **state) {
    (void)state;
    for (int real = 0; real < 2; real++) {
        struct world *world = world_new(real);
        char text[16384] = ACTION(
            "outer", "",
            H("o", "a",
              ASKS(IN_WORKSPACE("demo.x", "") "," IN_WORKSPACE(
                  "demo.x",
                  ", "
                  "projectPaths "
                  "= ['TOP/q', "
                  "'TOP/q']") "," IN_WORKSPACE("demo.x",
                                               ", projectPaths = ['/nowhere']") "," IN_WORKSPACE("d"
                                                                                                 "e"
                                                                                                 "m"
                                                                                                 "o"
                                                                                                 "."
                                                                                                 "x",
                                                                                                 ","
                                                                                                 " "
                                                                                                 "p"
                                                                                                 "r"
                                                                                                 "o"
                                                                                                 "j"
                                                                                                 "e"
                                                                                                 "c"
                                                                                                 "t"
                                                                                                 "P"
                                                                                                 "a"
                                                                                                 "t"
                                                                                                 "h"
                                                                                                 "s"
                                                                                                 " "
                                                                                                 "="
                                                                                                 " "
                                                                                                 "["
                                                                                                 "]") "," IN_WORKSPACE("demo.z",
                                                                                                                       ""))));
        fill_in(text, sizeof text, world->top);
        project(world, "p", text);
        project(world, "q", ACTION("x", "", H("h", "a", "items = ['q']")));
        project(world, "r",
                ACTION("x", "", H("h", "a", "items = ['r']"))
                    ACTION("z", "", H("z", "a", "error = 'bad'")));
        project(world, "s", ACTION("x", "", ""));
        world_open(world);
        outer(world);
        assert_string_equal(
            answer(world, 0),
            real ? "{\"result\": {\"resultsByProject\": {" X("q") "\"success\"}}, " X(
                       "r") "\"success\"}}, \"TOP/s\": {\"x\": {\"result\": null, \"status\": "
                            "\"no_handlers\"}}}}}"
                 : "{\"result\": {\"resultsByProject\": {\"TOP/q\": {\"items\": [\"q\"]}, "
                   "\"TOP/r\": {\"items\": [\"r\"]}}}}");
        assert_string_equal(answer(world, 1),
                            real ? "{\"result\": {\"resultsByProject\": {" X("q") "\"success\"}}}}}"
                                 : "{\"result\": {\"resultsByProject\": {\"TOP/q\": {\"items\": "
                                   "[\"q\"]}}}}");
        assert_string_equal(answer(world, 2),
                            "{\"error\": {\"code\": -32603, \"message\": \"Project "
                            "not found: /nowhere\"}}");
        assert_string_equal(answer(world, 3), "{\"result\": {\"resultsByProject\": {}}}");
        assert_string_equal(answer(world, 4),
                            real ? "{\"result\": {\"resultsByProject\": {\"TOP/r\": {\"z\": "
                                   "{\"result\": null, \"status\": \"failed\"}}}}}"
                                 : "{\"error\": {\"code\": -32603, \"message\": \"bad\"}}");
        world_close(world);
    }
}

/* What has no result has none, also beside one that failed. */
static void test_some_fail(void **state) {
    struct world *world = world_new(true);
    (void)state;
    project(world, "p", ACTION("outer", "", H("o", "a", ASKS(IN_WORKSPACE("demo.x", "")))));
    project(world, "q", ACTION("x", "", H("h", "a", "cancels = true")));
    project(world, "r", ACTION("x", "", H("h", "a", "error = 'bad'")));
    world_open(world);
    outer(world);
    assert_non_null(strstr(answer(world, 0), "\"TOP/q\": {\"x\": {\"result\": null, "
                                             "\"status\": \"cancelled\"}}"));
    assert_non_null(strstr(answer(world, 0), "\"TOP/r\": {\"x\": {\"result\": null, "
                                             "\"status\": \"failed\"}}"));
    world_close(world);
}

/* What the asking runner says for the one that runs goes there: in options, or beside them. */
static void test_handed_on(void **state) {
    static const char more[] = ", callerKwargs = {k = 1}, traceparent = '00-ab-cd-01'";
    char asks[1024];
    (void)state;
    (void)snprintf(asks, sizeof asks,
                   "['finecode/runActionInProject', {actionSource = 'demo.acts.Inner', payload = "
                   "{}, " META "%s}], ['finecode/runActionInProject', {actionSource = "
                   "'demo.two', payload = {}, " META "%s}]",
                   more, more);
    struct world *world = world_new(true);
    char text[8192];
    snprintf(text, sizeof text,
             "%s%s[finecode.action.outer]\nsource = 'demo.outer'\nhandlers = "
             "[{name = 'o', source = 'd.o', env = 'a', config = {asks = [%s]}}]\n",
             inner, ACTION("two", "", H("t", "a", "items = [1]") "," H("u", "b", "items = [2]")),
             asks);
    project(world, "p", text);
    world_open(world);
    outer(world);
    sent_has(world, "actions/run", 0, "\"traceparent\":null");
    assert_null(strstr(sent(world, "actions/run", 0), "callerKwargs"));
    sent_has(world, "actions/run", 1, "\"traceparent\":\"00-ab-cd-01\"");
    sent_has(world, "actions/run", 1, "\"callerKwargs\":{\"k\":1}}");
    for (size_t i = 0; i < 2; i++) {
        sent_has(world, "actions/runHandlers", i, "\"callerKwargs\":{\"k\":1},\"options\":{");
        sent_has(world, "actions/runHandlers", i, "\"traceparent\":\"00-ab-cd-01\"");
    }
    world_close(world);
}

/* concurrently: false really means one after the other. */
static void test_serial(void **state) {
    (void)state;
    for (int serial = 0; serial < 2; serial++) {
        struct world *world = world_new(true);
        project(world, "p",
                serial ? ACTION("outer", "",
                                H("o", "a", ASKS(IN_WORKSPACE("demo.x", ", concurrently = false"))))
                       : ACTION("outer", "", H("o", "a", ASKS(IN_WORKSPACE("demo.x", "")))));
        project(world, "q", ACTION("x", "", H("h", "a", "items = ['q'], sleep = 1")));
        project(world, "r", ACTION("x", "", H("h", "a", "items = ['r'], sleep = 1")));
        world_open(world);
        outer(world);
        clear(world);
        uint64_t start = now_ms();
        outer(world);
        uint64_t took = now_ms() - start;
        if (serial ? took < 2000 : took > 1900)
            fail_msg("it took %d ms", (int)took);
        world_close(world);
    }
}

/* Test 35: a runner may ask for so many projects, and not for one more; who asks for all projects
 * gets them. */
static void test_fanout(void **state) {
    (void)state;
    for (unsigned most = 3; most < 5; most++) {
        struct world *world = world_new(true);
        dx_error error = {0};
        world->config.max_fanout = most;
        project(world, "p", ACTION("outer", "", H("o", "a", ASKS(IN_WORKSPACE("demo.x", "")))));
        for (int i = 0; i < 4; i++)
            project(world, (char[]){'q', (char)('0' + i), 0},
                    ACTION("x", "", H("h", "a", "items = [1]")));
        world_open(world);
        outer(world);
        assert_int_equal(!!strstr(answer(world, 0), "Project fan-out 4 exceeds limit 3. Action "
                                                    "source: demo.x"),
                         most == 3);
        assert_int_equal(count_of(&world->sent, "actions/run\""), most == 3 ? 1 : 5);
        dx_finecode_ask ask = ask_for(world, "x", JSON);
        assert_int_equal(dx_finecode_wm_run(world->wm, &ask, NULL, &error), DX_OK);
        WAIT(world, world->done == 2);
        assert_int_equal(world->status, DX_FINECODE_SUCCESS);
        world_close(world);
    }
}

/* Whatever a runner asks for begins, though its project has the only place, and all that is idle
 * makes room for others. */
static void test_narrow(void **state) {
    (void)state;
    for (unsigned most = 1; most < 4; most++) {
        struct world *world = world_new(true);
        world->config.max_jobs = world->config.max_runners = most;
        for (int i = 0; i < 3; i++)
            project(world, (char[]){'p', (char)('0' + i), 0},
                    ACTION("outer", "", H("o", "a", ASKS(IN_WORKSPACE("demo.x", ""))))
                        ACTION("x", "", H("h", "b", "items = [1]")));
        world_open(world);
        dx_finecode_ask ask = ask_for(world, "outer", JSON);
        for (unsigned round = 1; round < 4; round++) {
            assert_int_equal(dx_finecode_wm_run(world->wm, &ask, NULL, NULL), DX_OK);
            WAIT(world, world->done == round);
            assert_int_equal(world->status, DX_FINECODE_SUCCESS);
            assert_int_equal(count_of(&world->sent, "actions/run\""), round * 12);
        }
        world_close(world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_narrow),    cmocka_unit_test(test_in_project),
        cmocka_unit_test(test_token),     cmocka_unit_test(test_depth),
        cmocka_unit_test(test_forgetful), cmocka_unit_test(test_in_workspace),
        cmocka_unit_test(test_some_fail), cmocka_unit_test(test_handed_on),
        cmocka_unit_test(test_serial),    cmocka_unit_test(test_fanout),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
