/* Which action is meant, and questions about actions. */
#include "finecode/orchestra.h"

enum { JSON = DX_FINECODE_JSON };

#define H(name, env, config) \
    "{name = '" name "', source = 'd." name "', env = '" env "', config = {" config "}}"
#define ACTION(name, about, handlers)                                        \
    "[finecode.action." name "]\nsource = 'demo." name "'\nconfig = {" about \
    "}\nhandlers = [" handlers "]\n"

static const char lint[] =
    ACTION("lint", "canonical = 'demo.acts.Lint', aliases = ['other.Lint', 'more.Lint']",
           H("h", "a", "items = [1]"))
        ACTION("only", "canonical = 'demo.acts.Only', importable = ['b']",
               H("i", "a", "items = [1]") "," H("j", "b", "items = [2]"));

/* Test 51: by its name, its source, its canonical source, and what only a runner can say. */
static void test_names(void **state) {
    static const char *const names[] = {"lint", "demo.lint", "demo.acts.Lint", "other.Lint",
                                        "more.Lint"};
    (void)state;
    for (int real = 0; real < 2; real++)
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            struct world *world = world_new(real);
            project(world, "p", lint);
            world_open(world);
            run(world, names[i], JSON);
            assert_int_equal(world->status, DX_FINECODE_SUCCESS);
            assert_int_equal(count_of(&world->sent, "actions/resolveSource"), i < 3 ? 0 : 2);
            run(world, names[i], JSON);
            assert_int_equal(world->status, DX_FINECODE_SUCCESS);
            world_close(world);
        }
}

static void test_unknown(void **state) {
    struct world *world = world_new(true);
    (void)state;
    project(world, "p", lint);
    world_open(world);
    run(world, "no.such.Thing", JSON);
    assert_int_equal(world->status, DX_FINECODE_FAILED);
    assert_string_equal(world->why, "unknown action 'no.such.Thing'");
    must_be(&world->projects, "");
    dx_finecode_ask ask = ask_for(world, "no.such.Thing", JSON);
    ask.project = at(world, "p");
    perform(world, &ask);
    assert_non_null(strstr(world->why, "unknown action 'no.such.Thing' in /"));
    world_close(world);
    world = world_new(true);
    project(world, "p",
            ACTION("x", "", H("h", "a", "")) "[finecode.er.envs.a]\nrunner = ['/nowhere']\n");
    world_open(world);
    run(world, "no.such.Thing", JSON);
    assert_int_equal(world->cause, DX_FINECODE_NO_RUNNER);
    assert_non_null(strstr(world->why, "'no.such.Thing'; env a has no runner: "));
    world_close(world);
}

/* What is for the workspace runs once, not once in each project. */
static void test_scope(void **state) {
    static const char *const names[] = {"w", "demo.w"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct world *world = world_new(true);
        for (int k = 0; k < 3; k++) {
            char name[2] = {(char)('p' + k), '\0'};
            project(world, name, ACTION("w", "scope = 'workspace'", H("h", "a", "items = [1]")));
        }
        world_open(world);
        run(world, names[i], JSON);
        assert_int_equal(world->status, DX_FINECODE_SUCCESS);
        assert_int_equal(count_of(&world->sent, "\"method\":\"actions/run\""), 1);
        must_be(&world->projects, "p success 0 {\"json\":{\"items\":[1]}}\n");
        run(world, names[i], JSON);
        assert_int_equal(count_of(&world->sent, "\"method\":\"actions/run\""), 1);
        world_close(world);
    }
}

struct value {
    unsigned count;
    char text[4096];
    char why[600];
};

static void on_value(dx_finecode_wm *wm, yyjson_val *value, const char *why, void *user) {
    struct value *to = user;
    (void)wm;
    to->count++;
    write_value(to->text, sizeof to->text, value);
    snprintf(to->why, sizeof to->why, "%s", why ? why : "");
}

static void test_schemas(void **state) {
    struct world *world = world_new(false);
    struct value value = {0};
    (void)state;
    project(world, "p", lint);
    project(world, "bad",
            ACTION("x", "", H("h", "a", "")) "[finecode.er.envs.a]\n"
                                             "runner = ['/nowhere']\n");
    project(world, "none", ACTION("x", "", ""));
    world_open(world);
    assert_int_equal(dx_finecode_wm_schemas(world->wm, at(world, "p"), on_value, &value), DX_OK);
    assert_int_equal(value.count, 0);
    WAIT(world, value.count);
    assert_string_equal(value.text, "{\"lint\":{\"properties\":{},\"required\":[]},"
                                    "\"only\":{\"properties\":{},\"required\":[]}}");
    assert_string_equal(value.why, "");
    assert_int_equal(dx_finecode_wm_schemas(world->wm, at(world, "bad"), on_value, &value), DX_OK);
    WAIT(world, value.count == 2);
    assert_string_equal(value.text, "");
    assert_non_null(strstr(value.why, "env a has no runner"));
    assert_int_equal(dx_finecode_wm_schemas(world->wm, at(world, "none"), on_value, &value), DX_OK);
    WAIT(world, value.count == 3);
    assert_int_equal(dx_finecode_wm_reload(world->wm, at(world, "p"), "lint"), DX_OK);
    assert_int_equal(dx_finecode_wm_reload(world->wm, at(world, "p"), "nosuch"), DX_ERR_INVALID);
    WAIT(world, count_of(&world->sent, "actions/reload") == 2);
    world_close(world);
}

static void test_resolve(void **state) {
    struct world *world = world_new(true);
    struct value value = {0};
    dx_finecode_action_view view;
    (void)state;
    project(world, "p", lint);
    project(world, "q", lint);
    world_open(world);
    assert_int_equal(dx_finecode_wm_resolve(world->wm, at(world, "p"), on_value, &value), DX_OK);
    WAIT(world, value.count);
    assert_string_equal(value.why, "");
    assert_true(dx_finecode_project_action(at(world, "p"), 0, &view));
    assert_string_equal(view.canonical_source, "demo.acts.Lint");
    assert_true(dx_finecode_project_action(at(world, "q"), 0, &view));
    assert_string_equal(view.canonical_source, "demo.acts.Lint"); /* of the same source */
    assert_int_equal(dx_finecode_wm_resolve(world->wm, NULL, on_value, &value), DX_OK);
    WAIT(world, value.count == 2);
    assert_true(dx_finecode_project_action(at(world, "p"), 1, &view));
    assert_string_equal(view.canonical_source, "demo.acts.Only");
    world_close(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),   cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_scope),   cmocka_unit_test(test_schemas),
        cmocka_unit_test(test_resolve),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
