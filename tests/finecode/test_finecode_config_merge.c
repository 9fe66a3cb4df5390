/* How what the files say comes together. */
#include "finecode/config_files.h"

static const char base[] = "[finecode]\n"
                           "presets = [{source = './common'}]\n";

static void test_layers(void **state) {
    (void)state;
    put("p/common/preset.toml",
        "[tool.finecode.action.lint]\n"
        "source = 'a.Lint'\n"
        "config = {x = 1, list = [1, 2], deep = {a = 1, b = 1}}\n"
        "handlers = [{name = 'one', source = 'a.One', env = 'dev', config = {k = 'preset'}},"
        " {name = 'two', source = 'a.Two', env = 'dev', dependencies = ['d']}]\n"
        "[tool.finecode.action.fmt]\n"
        "source = 'a.Fmt'\n");
    put("p/finecode.toml",
        "[finecode]\n"
        "presets = [{source = './common'}]\n"
        "[finecode.action.test]\n"
        "source = 'b.Test'\n"
        "[finecode.action.lint]\n"
        "config = {y = 2, list = [3], deep = {b = 2}}\n"
        "handlers = [{name = 'two', env = 'other'}, {name = 'three', source = 'b.Three', env ="
        " 'dev'}]\n");
    put("p/finecode-user.toml", "[action.lint.handlers.one]\nconfig = {k = 'user', l = 1}\n"
                                "[action.fmt.handlers.four]\nsource = 'c.Four'\nenv = 'u'\n");
    dx_finecode_project *project = project_of("p");
    must_be_valid(project);
    must_have_actions(project, "lint:one@dev,two@other,three@dev fmt:four@u test:");
    must_have(project, "/action/lint/config",
              "{\"x\":1,\"list\":[3],\"deep\":{\"a\":1,\"b\":2},\"y\":2}");
    must_have(project, "/action/lint/handlers/0",
              "{\"name\":\"one\",\"source\":\"a.One\",\"env\":\"dev\",\"config\":{\"k\":\"user\","
              "\"l\":1}}");
    must_have(project, "/action/lint/handlers/1",
              "{\"name\":\"two\",\"source\":\"a.Two\",\"env\":\"other\",\"dependencies\":[\"d\"]}");
    must_have(project, "/action/fmt/handlers",
              "[{\"name\":\"four\",\"source\":\"c.Four\",\"env\":\"u\"}]");
    dx__finecode_project_free(project);
}

static void test_replace_and_disable(void **state) {
    (void)state;
    put("p/common/preset.toml", "[tool.finecode.action.lint]\n"
                                "source = 'a.Lint'\n"
                                "handlers = [{name = 'one', source = 'a.One', env = 'dev'},"
                                " {name = 'two', source = 'a.Two', env = 'dev'}]\n");
    put("p/finecode.toml", "[finecode]\npresets = [{source = './common'}]\n"
                           "[finecode.action.lint]\nhandlers_mode = 'replace'\n"
                           "handlers = [{name = 'own', source = 'b.Own', env = 'e'}]\n");
    dx_finecode_project *project = project_of("p");
    must_have_actions(project, "lint:own@e");
    must_have(project, "/action/lint/handlers_mode", "nothing");
    dx__finecode_project_free(project);
    put("p/finecode.toml", "[finecode]\npresets = [{source = './common'}]\n"
                           "[finecode.action.lint]\nhandlers_mode = 'merge'\n"
                           "handlers = [{name = 'one', enabled = false},"
                           " {name = 'gone', enabled = false}]\n");
    project = project_of("p");
    must_be_valid(project);
    must_have_actions(project, "lint:two@dev");
    dx__finecode_project_free(project);
    put("p/finecode-user.toml", "[action.lint.handlers.one]\nenabled = true\n"
                                "[action.lint.handlers.two]\nenabled = false\n");
    project = project_of("p");
    must_have_actions(project, "lint:one@dev");
    dx__finecode_project_free(project);
}

static void test_lists_by_name(void **state) {
    (void)state;
    put("p/common/preset.toml",
        "[[finecode.action_handler]]\nsource = 'a.One'\nconfig = {x = 1, y = [1]}\n"
        "[[finecode.service]]\ninterface = 'i.A'\nsource = 's.Old'\nenv = 'dev'\nconfig.n = 1\n"
        "[[finecode.service]]\ninterface = 'i.B'\nsource = 's.B'\n");
    put("p/finecode.toml",
        "[finecode]\npresets = [{source = './common'}]\n"
        "[[finecode.service]]\ninterface = 'i.A'\nsource = 's.New'\nconfig.m = 2\n"
        "[[finecode.action_handler]]\nsource = 'a.Two'\nconfig.z = 1\n"
        "[[finecode.action_handler]]\nsource = 'a.One'\nconfig.y = []\n");
    dx_finecode_project *project = project_of("p");
    must_be_valid(project);
    must_have(project, "/service",
              "[{\"interface\":\"i.A\",\"source\":\"s.New\",\"env\":\"dev\",\"config\":{\"n\":1,"
              "\"m\":2}},{\"interface\":\"i.B\",\"source\":\"s.B\"}]");
    must_have(project, "/action_handler",
              "[{\"source\":\"a.One\",\"config\":{\"x\":1,\"y\":[]}},{\"source\":\"a.Two\","
              "\"config\":{\"z\":1}}]");
    dx__finecode_project_free(project);
}

static void test_dependencies(void **state) {
    (void)state;
    put("p/finecode.toml",
        "[finecode.extension.ext_one]\n"
        "dependencies_override = ['Ruff==0.9', 'extra==1']\n"
        "[finecode.action.lint]\n"
        "source = 'a.Lint'\n"
        "[finecode.action.lint.handlers.one]\n"
        "source = 'ext_one.One'\nenv = 'e'\ndependencies = ['ext_one~=1', 'ruff>=0.1']\n"
        "[finecode.action.lint.handlers.two]\n"
        "source = 'ext_one.Two'\nenv = 'e'\ndependencies = ['my-tool [x]>=1']\n"
        "dependencies_override = ['my.tool==2']\n"
        "[finecode.action.lint.handlers.three]\n"
        "source = 'ext_one_more.Three'\nenv = 'e'\ndependencies = ['ruff']\n");
    dx_finecode_project *project = project_of("p");
    must_be_valid(project);
    must_be_json(project->actions[0].handlers[0].dependencies,
                 "[\"ext_one~=1\",\"Ruff==0.9\",\"extra==1\"]");
    must_be_json(project->actions[0].handlers[1].dependencies, "[\"my.tool==2\"]");
    must_be_json(project->actions[0].handlers[2].dependencies, "[\"ruff\"]");
    dx__finecode_project_free(project);
}

/* Presets */

static void put_preset(const char *folder, const char *presets, const char *value) {
    char name[256];
    char text[512];
    snprintf(name, sizeof name, "%s/preset.toml", folder);
    snprintf(text, sizeof text, "[tool.finecode]\npresets = [%s]\n%s = '%s'\nlast = '%s'\n",
             presets, value, value, value);
    put(name, text);
}

/* Each comes after those that it names, in the order in which they are named; each once. */
static void test_preset_order(void **state) {
    (void)state;
    put_preset("p/a", "{source = '../c'}, {source = '../b'}", "a");
    put_preset("p/b", "{source = '../c/'}, {source = '../a'}", "b");
    put_preset("p/c", "", "c");
    put("p/finecode.toml", "[finecode]\npresets = [{source = './a'}, {source = './b'}]\n");
    for (int i = 0; i < 3; i++) {
        dx_finecode_project *project = project_of("p");
        must_be_valid(project);
        /* c, b (its a is under way), a: so a has the last word. */
        must_have(project, "/last", "\"a\"");
        must_have(project, "",
                  "{\"presets\":[{\"source\":\"../c/\"},{\"source\":\"../a\"},{\"source\":\"../c\"}"
                  ",{\"source\":\"../b\"},{\"source\":\"./a\"},{\"source\":\"./b\"}],\"c\":\"c\","
                  "\"last\":\"a\",\"b\":\"b\",\"a\":\"a\"}");
        dx__finecode_project_free(project);
    }
}

static void test_preset_user_file(void **state) {
    (void)state;
    put("p/common/preset.toml", "[tool.finecode]\na = 1\nb = 1\n");
    put("p/common/finecode-user.toml", "b = 2\nc = 2\n");
    put("p/finecode.toml", "[finecode]\npresets = [{source = './common'}]\nc = 3\n");
    dx_finecode_project *project = project_of("p");
    must_have(project, "", "{\"a\":1,\"b\":2,\"c\":3,\"presets\":[{\"source\":\"./common\"}]}");
    dx__finecode_project_free(project);
}

static void test_preset_wrong(void **state) {
    (void)state;
    put("p/finecode.toml", base);
    must_be_invalid("p", "preset.toml: no such file in ./common");
    put("p/common/preset.toml", "[action]\n");
    must_be_invalid("p", "common/preset.toml: [tool.finecode] is missing");
    put("p/common/preset.toml", "[tool.finecode]\naction = 1\n");
    must_be_invalid("p", "common/preset.toml: tool.finecode.action: expected object, found number");
    put("p/common/preset.toml", "[tool.finecode");
    must_be_invalid("p",
                    "common/preset.toml:1:15: expected ']' after the key, found the end of the "
                    "text");
}

/* 64 are taken, one more is not. */
static void test_preset_count(void **state) {
    (void)state;
    for (int i = 0; i < 65; i++) {
        char folder[32];
        char next[64];
        snprintf(folder, sizeof folder, "p/n%d", i);
        snprintf(next, sizeof next, "{source = '../n%d'}", i + 1);
        put_preset(folder, i < 63 ? next : "", "x");
    }
    put("p/finecode.toml", "[finecode]\npresets = [{source = './n0'}]\n");
    dx_finecode_project *project = project_of("p");
    must_be_valid(project);
    dx__finecode_project_free(project);
    put_preset("p/n63", "{source = '../n64'}", "x");
    must_be_invalid("p", "more than 64 presets");
}

/* Those of packages are found by runners: until then what depends on them is left out. */
static void test_packages(void **state) {
    (void)state;
    put("p/finecode.toml", "[finecode]\npresets = [{source = 'pack_a'}, {source = './near'}]\n"
                           "[finecode.action.own]\nsource = 's.Own'\n"
                           "handlers.o = {source = 's.O', env = 'dev'}\n"
                           "[finecode.action.lint.handlers.x]\nconfig.k = 1\n"
                           "[finecode.action.own.handlers.more]\nenabled = true\n");
    put_preset("p/near", "{source = 'pack_c'}", "near");
    dx_finecode_project *project = project_of("p");
    must_be_valid(project);
    must_have_actions(project, "own:o@dev");
    assert_string_equal(dx__finecode_project_preset(project, 0), "pack_a");
    assert_string_equal(dx__finecode_project_preset(project, 1), "pack_c");
    assert_null(dx__finecode_project_preset(project, 2));

    put("a/src/pack_a/preset.toml", "[tool.finecode]\npresets = [{source = 'pack_b'}]\nlast = 'a'\n"
                                    "[tool.finecode.action.lint]\nsource = 'a.Lint'\n"
                                    "handlers = [{name = 'x', source = 'a.X', env = 'dev'}]\n");
    put("b/pack_b/preset.toml", "[tool.finecode]\nlast = 'b'\n[tool.finecode.action.own.handlers]\n"
                                "more = {source = 'b.More', env = 'b'}\n");
    dx__finecode_action *own = dx__finecode_project_find(project, dx_str("own"));
    own->canonical = strdup("s.own.Own");
    own->runs_concurrently = true;
    own->handlers[0].location = strdup("f.py:3");
    const char *const first[] = {in_top("a"), NULL};
    assert_int_equal(dx__finecode_project_reread(project, NULL, first), DX_OK);
    must_be_valid(project);
    must_have_actions(project, "lint:x@dev own:o@dev");
    assert_string_equal(dx__finecode_project_preset(project, 2), "pack_b");
    /* What was lent stays, and what was learned is known. */
    assert_string_equal(own->handlers[0].source, "s.O");
    const dx__finecode_action *again = dx__finecode_project_find(project, dx_str("s.own.Own"));
    assert_ptr_not_equal(again, own);
    assert_true(again->runs_concurrently);
    assert_string_equal(again->handlers[0].location, "f.py:3");

    const char *const all[] = {in_top("a"), "", in_top("b"), NULL};
    assert_int_equal(dx__finecode_project_reread(project, NULL, all), DX_OK);
    must_have_actions(project, "own:more@b,o@dev lint:x@dev");
    must_have(project, "/last", "\"near\"");
    /* The same once more, with the folders that are known: nothing new is kept. */
    yyjson_val *raw = dx_finecode_project_raw(project);
    assert_int_equal(dx__finecode_project_reread(project, NULL, NULL), DX_OK);
    assert_ptr_equal(dx_finecode_project_raw(project), raw);
    /* A preset that turns out to be wrong; and is put right. */
    put("b/pack_b/preset.toml", "[tool.finecode]\naction = 1\n");
    assert_int_equal(dx__finecode_project_reread(project, NULL, NULL), DX_OK);
    assert_string_equal(dx_finecode_project_why(project),
                        "pack_b/preset.toml: tool.finecode.action: expected object, found number");
    assert_null(dx_finecode_project_raw(project));
    put("b/pack_b/preset.toml", "[tool.finecode]\n");
    assert_int_equal(dx__finecode_project_reread(project, NULL, NULL), DX_OK);
    must_be_valid(project);
    must_have_actions(project, "lint:x@dev own:o@dev");
    assert_string_equal(project->actions[1].canonical, "s.own.Own");
    assert_string_equal(own->name, "own");
    dx__finecode_project_free(project);
}

/* Overrides */

static const char two[] = "[finecode.action.lint]\nsource = 's.Lint'\n"
                          "handlers = [{name = 'ruff', source = 's.R', env = 'e', config = {width ="
                          " 1, keep = true}}, {name = 'my-py', source = 's.M', env = 'e'}]\n"
                          "[finecode.action.check-all]\nsource = 's.C'\n"
                          "handlers = [{name = 'ruff', source = 's.R', env = 'e'}]\n";

static void test_overrides(void **state) {
    static const char *const environment[] = {
        "PATH=/bin",
        "FINECODE_CONFIG_LINT__RUFF__WIDTH=100",
        "FINECODE_CONFIG_LINT__WIDTH=7",
        "FINECODE_CONFIG_LINT__MY_PY__LEVEL=[\"a\", {\"b\": null}]",
        "FINECODE_CONFIG_LINT__MY_PY__NAME=plain words",
        "FINECODE_CONFIG_CHECK_ALL__DEEP={\"x\": 1.5}",
        "FINECODE_CONFIG_NOBODY__X=1",
        NULL,
    };
    static const char *const words[] = {"lint.ruff.Select=[\"B\"]",
                                        "lint.extra=true",
                                        "lint.my-py.name=\"cli\"",
                                        "check-all.nobody.x=1",
                                        "z.y=1",
                                        "lint.empty=",
                                        NULL};
    dx__finecode_overrides overrides = {words, (char **)(uintptr_t)environment};
    (void)state;
    put("p/finecode.toml", two);
    dx_finecode_project *project = project_with("p", &overrides);
    must_be_valid(project);
    must_be_json(project->actions[0].handlers[0].config,
                 "{\"width\":100,\"keep\":true,\"extra\":true,\"empty\":\"\",\"Select\":[\"B\"]}");
    must_be_json(project->actions[0].handlers[1].config,
                 "{\"width\":7,\"extra\":true,\"empty\":\"\",\"level\":[\"a\",{\"b\":null}],"
                 "\"name\":\"cli\"}");
    must_be_json(project->actions[1].handlers[0].config, "{\"deep\":{\"x\":1.5}}");
    overrides.environment = NULL;
    overrides.words = NULL;
    assert_int_equal(dx__finecode_project_reread(project, &overrides, NULL), DX_OK);
    must_be_json(project->actions[0].handlers[0].config, "{\"width\":1,\"keep\":true}");
    assert_null(project->actions[0].handlers[1].config);
    dx__finecode_project_free(project);
}

static void test_overrides_wrong(void **state) {
    static const char *const words[][2] = {
        {"lint", "lint: expected ACTION.[HANDLER.]PARAM=VALUE"},
        {"lint=1", "lint: expected ACTION.[HANDLER.]PARAM=VALUE"},
        {"lint.=1", "lint.: expected ACTION.[HANDLER.]PARAM=VALUE"},
        {".x=1", ".x: expected ACTION.[HANDLER.]PARAM=VALUE"},
        {"a.b.c.d=1", "a.b.c.d: expected ACTION.[HANDLER.]PARAM=VALUE"},
        {"a.b=\xff", "a.b: the value is not valid UTF-8"},
    };
    static const char *const variables[][2] = {
        {"FINECODE_CONFIG_LINT=1",
         "FINECODE_CONFIG_LINT: expected FINECODE_CONFIG_ACTION__[HANDLER__]PARAM=VALUE"},
        {"FINECODE_CONFIG_=1",
         "FINECODE_CONFIG_: expected FINECODE_CONFIG_ACTION__[HANDLER__]PARAM=VALUE"},
        {"FINECODE_CONFIG_A__B__C__D=1", "FINECODE_CONFIG_A__B__C__D: expected "
                                         "FINECODE_CONFIG_ACTION__[HANDLER__]PARAM=VALUE"},
    };
    (void)state;
    put("p/finecode.toml", two);
    for (size_t i = 0; i < 9; i++) {
        const char *one[] = {i < 6 ? words[i][0] : NULL, NULL};
        const char *other[] = {i < 6 ? NULL : variables[i - 6][0], NULL};
        dx__finecode_overrides overrides = {one, (char **)(uintptr_t)other};
        dx_finecode_project *project = project_with("p", &overrides);
        assert_int_equal(dx_finecode_project_get_state(project), DX_FINECODE_INVALID);
        assert_string_equal(dx_finecode_project_why(project),
                            i < 6 ? words[i][1] : variables[i - 6][1]);
        dx__finecode_project_free(project);
    }
}

/* JSON that is nested deeper than a table may be is a text. */
static void test_override_depth(void **state) {
    (void)state;
    put("p/finecode.toml", two);
    for (size_t levels = 64; levels < 66; levels++) {
        char word[256] = "check-all.x=";
        char *to = word + strlen(word);
        memset(to, '[', levels);
        memset(to + levels, ']', levels);
        const char *const words[] = {word, NULL};
        dx__finecode_overrides overrides = {words, NULL};
        dx_finecode_project *project = project_with("p", &overrides);
        must_be_valid(project);
        yyjson_val *x = yyjson_obj_get(project->actions[1].handlers[0].config, "x");
        assert_int_equal(yyjson_is_arr(x), levels == 64);
        assert_int_equal(yyjson_is_str(x), levels == 65);
        dx__finecode_project_free(project);
    }
}

/* The name of a parameter has at most 127 bytes. */
static void test_override_name(void **state) {
    (void)state;
    put("p/finecode.toml", two);
    for (size_t len = 127; len < 129; len++) {
        char word[256] = "check-all.";
        memset(word + strlen(word), 'x', len);
        strcat(word, "=1");
        const char *const words[] = {word, NULL};
        dx__finecode_overrides overrides = {words, NULL};
        dx_finecode_project *project = project_with("p", &overrides);
        assert_int_equal(dx_finecode_project_get_state(project),
                         len == 127 ? DX_FINECODE_VALID : DX_FINECODE_INVALID);
        dx__finecode_project_free(project);
    }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_layers),        TEST(test_replace_and_disable), TEST(test_lists_by_name),
        TEST(test_dependencies),  TEST(test_preset_order),        TEST(test_preset_user_file),
        TEST(test_preset_wrong),  TEST(test_preset_count),        TEST(test_packages),
        TEST(test_overrides),     TEST(test_overrides_wrong),     TEST(test_override_depth),
        TEST(test_override_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
