/* What runners are told, and how they are started. */
#include "finecode/config_files.h"

#include <duplex/protocol.h>

static const char file[] =
    "[finecode.action.lint]\n"
    "source = 'a.Lint'\n"
    "config.depth = 1\n"
    "handlers = [{name = 'x', source = 'a.X', env = 'one', config.k = [1], dependencies = ['d']},"
    " {name = 'y', source = 'a.Y', env = 'two'},"
    " {name = 'off', source = 'a.Off', env = 'three', enabled = false}]\n"
    "[finecode.action.fmt]\n"
    "source = 'a.Fmt'\n"
    "handlers = [{name = 'f', source = 'a.F', env = 'two'}]\n"
    "[finecode.action.none]\n"
    "source = 'a.None'\n"
    "[[finecode.action_handler]]\n"
    "source = 'a.X'\n"
    "config.k = [2]\n"
    "[[finecode.action_handler]]\n"
    "source = 'a.Z'\n"
    "[[finecode.service]]\n"
    "interface = 'i.A'\nsource = 's.A'\nenv = 'one'\ndependencies = ['q']\nconfig.n = 1\n"
    "[[finecode.service]]\n"
    "interface = 'i.B'\nsource = 's.B'\n"
    "[[finecode.service]]\n"
    "interface = 'i.C'\nconfig.n = 1\n"
    "[finecode.er.logging]\n"
    "default_level = 'WARNING'\n"
    "log_groups = {'a.b' = 'DEBUG', c = 'INFO'}\n"
    "[finecode.er.envs.two.logging]\n"
    "default_level = 'TRACE'\n"
    "log_groups = {c = 'ERROR', d = 'INFO'}\n";

static void must_send(const dx_finecode_project *project, const char *env, bool real,
                      const char *pointer, const char *expected) {
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *config = dx__finecode_project_config(project, env, real, doc);
    assert_non_null(config);
    yyjson_doc *read = yyjson_mut_val_imut_copy(config, NULL);
    must_be_json(yyjson_ptr_get(yyjson_doc_get_root(read), pointer), expected);
    yyjson_doc_free(read);
    yyjson_mut_doc_free(doc);
}

static void test_config(void **state) {
    static const char lint[] =
        "{\"name\":\"lint\",\"source\":\"a.Lint\",\"handlers\":[{\"name\":\"x\",\"source\":\"a.X\","
        "\"config\":{\"k\":[1]},\"env\":\"one\",\"dependencies\":[\"d\"]},{\"name\":\"y\","
        "\"source\":\"a.Y\",\"config\":{},\"env\":\"two\",\"dependencies\":[]}],\"config\":{"
        "\"depth\":1}}";
    (void)state;
    put("p/finecode.toml", file);
    dx_finecode_project *project = project_of("p");
    must_be_valid(project);
    must_have_actions(project, "lint:x@one,y@two fmt:f@two none:");
    must_send(project, "one", false, "/actions/0", lint);
    must_send(project, "one", false, "/actions/1", "nothing");
    must_send(project, "two", false, "/actions/0", lint);
    must_send(project, "two", false, "/actions/1",
              "{\"name\":\"fmt\",\"source\":\"a.Fmt\",\"handlers\":[{\"name\":\"f\",\"source\":"
              "\"a.F\",\"config\":{},\"env\":\"two\",\"dependencies\":[]}],\"config\":{}}");
    must_send(project, "three", false, "/actions", "[]");
    must_send(project, "one", false, "/action_handler_configs", "{\"a.X\":{\"k\":[2]},\"a.Z\":{}}");
    must_send(project, "one", false, "/handlers_to_initialize", "{\"lint\":[\"x\"]}");
    must_send(project, "two", false, "/handlers_to_initialize",
              "{\"lint\":[\"y\"],\"fmt\":[\"f\"]}");
    must_send(project, "one", false, "/services",
              "[{\"interface\":\"i.A\",\"source\":\"s.A\",\"env\":\"one\",\"dependencies\":[\"q\"],"
              "\"config\":{\"n\":1}},{\"interface\":\"i.B\",\"source\":\"s.B\",\"env\":\"one\","
              "\"dependencies\":[],\"config\":null}]");
    must_send(project, "two", false, "/services/1", "nothing");
    must_send(project, "one", false, "/logging", "nothing");
    must_send(project, "one", true, "/logging",
              "{\"defaultLevel\":\"WARNING\",\"logGroups\":{\"a.b\":\"DEBUG\",\"c\":\"INFO\"}}");
    must_send(project, "two", true, "/logging",
              "{\"defaultLevel\":\"TRACE\",\"logGroups\":{\"a.b\":\"DEBUG\",\"c\":\"ERROR\","
              "\"d\":\"INFO\"}}");
    dx__finecode_project_free(project);
}

static void must_fit(const dx_finecode_project *project, const char *name, bool real) {
    dx_misfit misfit = {.phrase = ""};
    dx_protocol *protocol = NULL;
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *params = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_str(doc, params, "workingDir", project->path);
    yyjson_mut_obj_add_str(doc, params, "projectName", project->name);
    yyjson_mut_obj_add_str(doc, params, "projectDefPath", project->file);
    yyjson_mut_obj_add_val(doc, params, "config",
                           dx__finecode_project_config(project, "one", real, doc));
    yyjson_doc *read = yyjson_mut_val_imut_copy(params, NULL);
    assert_int_equal(dx_protocol_open(dx_str(name), NULL, &protocol, &misfit), DX_OK);
    const dx_method *method = dx_protocol_find(protocol, dx_str("finecodeRunner/updateConfig"));
    assert_non_null(method);
    dx_status status = dx_protocol_check(protocol, method, DX_SIDE_HOST, DX_PART_PARAMS,
                                         yyjson_doc_get_root(read), 0, &misfit);
    assert_string_equal(misfit.phrase, "");
    assert_int_equal(status, DX_OK);
    dx_protocol_free(protocol);
    yyjson_doc_free(read);
    yyjson_mut_doc_free(doc);
}

/* The protocol's own documents say what a runner takes. */
static void test_config_fits(void **state) {
    (void)state;
    put("p/finecode.toml", file);
    dx_finecode_project *project = project_of("p");
    must_fit(project, "finecode", false);
    must_fit(project, "finecode@real", true);
    dx__finecode_project_free(project);
}

static void test_find(void **state) {
    (void)state;
    put("p/finecode.toml", file);
    dx_finecode_project *project = project_of("p");
    dx__finecode_action *fmt = &project->actions[1];
    assert_ptr_equal(dx__finecode_project_find(project, dx_str("fmt")), fmt);
    assert_ptr_equal(dx__finecode_project_find(project, dx_str("a.Fmt")), fmt);
    assert_null(dx__finecode_project_find(project, dx_str("a.b.Fmt")));
    assert_null(dx__finecode_project_find(project, dx_str("fm")));
    fmt->canonical = strdup("a.b.Fmt");
    assert_ptr_equal(dx__finecode_project_find(project, dx_str("a.b.Fmt")), fmt);
    dx_finecode_action_view view;
    assert_int_equal(dx_finecode_project_action(project, 1, &view), 1);
    assert_string_equal(view.canonical_source, "a.b.Fmt");
    assert_int_equal(dx_finecode_project_action(project, 3, &view), 0);
    assert_string_equal(dx__finecode_project_env(project, 0), "one");
    assert_string_equal(dx__finecode_project_env(project, 1), "two");
    assert_null(dx__finecode_project_env(project, 2));
    dx__finecode_project_free(project);
}

/* Words with a space behind each, the folder of the test as TOP; then "tcp" or "stdio", "debug". */
static void must_start(const dx_finecode_project *project, const char *env,
                       const dx_finecode_wm_config *config, const char *expected) {
    dx__finecode_way way = {.argv = NULL};
    char reason[200] = "";
    char text[4096] = "";
    dx_status status = dx__finecode_project_way(project, env, config, &way, reason);
    if (status == DX_MISFIT)
        assert_string_equal(reason, expected);
    if (status == DX_MISFIT)
        return;
    assert_int_equal(status, DX_OK);
    for (size_t i = 0; way.argv[i]; i++) {
        const char *place = strstr(way.argv[i], top);
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%.*s%s%s ",
                 place ? (int)(place - way.argv[i]) : 0, way.argv[i], place ? "TOP" : "",
                 place ? place + strlen(top) : way.argv[i]);
    }
    strcat(text, way.either ? "either" : way.tcp ? "tcp" : "stdio");
    strcat(text, way.debug ? " debug" : "");
    assert_string_equal(text, expected);
    free(way.argv);
}

static void test_way(void **state) {
    (void)state;
    put("p/finecode.toml", "[finecode.er.envs.a]\nrunner = 'duplex'\n"
                           "[finecode.er.envs.b]\nrunner = ['./run', '-x', '']\ndebug = true\n"
                           "[finecode.er.envs.c]\nrunner = ['run']\ntransport = 'tcp'\n"
                           "[finecode.er.envs.d]\nrunner = ['/bin/run']\n");
    dx_finecode_wm_config config = {.er_program = "/x/er"};
    dx_finecode_project *project = project_of("p");
    must_be_valid(project);
    must_start(project, "a", &config, "/x/er er start --project-path=TOP/p --env-name=a stdio");
    must_start(project, "b", &config,
               "TOP/p/./run -x  start --project-path=TOP/p --env-name=b --debug stdio debug");
    must_start(project, "c", &config, "run start --project-path=TOP/p --env-name=c tcp");
    must_start(project, "d", &config, "/bin/run start --project-path=TOP/p --env-name=d stdio");
    must_start(project, "e", &config,
               "cannot run .venvs/e/bin/python: it is missing or not executable; for ready-made "
               "handlers, set er.runner = \"duplex\"");
    put("p/.venvs/e/bin/python", "#!/bin/sh\n");
    must_start(project, "e", &config,
               "cannot run .venvs/e/bin/python: it is missing or not executable; for ready-made "
               "handlers, set er.runner = \"duplex\"");
    assert_int_equal(chmod(in_top("p/.venvs/e/bin/python"), 0700), 0);
    must_start(project, "e", &config,
               "TOP/p/.venvs/e/bin/python -m finecode_extension_runner.cli start --log-level=INFO "
               "--project-path=TOP/p --env-name=e either");
    config.wal_folder = "/w";
    config.debug_env = "a";
    must_start(project, "a", &config,
               "/x/er er start --project-path=TOP/p --env-name=a --wal --debug stdio debug");
    config = (dx_finecode_wm_config){.runner = "duplex"};
    must_start(project, "c", &config,
               "duplex-finecode er start --project-path=TOP/p --env-name=c stdio");
    config.runner = "venv";
    must_start(project, "a", &config,
               "cannot run .venvs/a/bin/python: it is missing or not executable");
    dx__finecode_project_free(project);
    put("p/finecode.toml", "[finecode.er]\ntransport = 'stdio'\n");
    config.runner = NULL;
    project = project_of("p");
    must_start(project, "e", &config,
               "TOP/p/.venvs/e/bin/python -m finecode_extension_runner.cli start --log-level=INFO "
               "--project-path=TOP/p --env-name=e --stdio stdio");
    dx__finecode_project_free(project);
    put("p/finecode.toml", "[finecode.er]\nrunner = 'duplex'\ntransport = 'tcp'\n"
                           "[finecode.er.envs.b]\ntransport = 'stdio'\n");
    project = project_of("p");
    must_start(project, "a", &config,
               "duplex-finecode er start --project-path=TOP/p --env-name=a --tcp tcp");
    must_start(project, "b", &config,
               "duplex-finecode er start --project-path=TOP/p --env-name=b stdio");
    dx__finecode_project_free(project);
}

/* The files that the manual shows. */
static void test_examples(void **state) {
    const char *source = getenv("SOURCE");
    char path[PATH_MAX];
    dx_finecode_project *project = NULL;
    dx_finecode_wm_config config = {.er_program = "er"};
    (void)state;
    if (!source)
        skip();
    snprintf(path, sizeof path, "%s/examples/finecode-config/libs/core", source);
    assert_int_equal(dx__finecode_project_read(NULL, path, NULL, &project), DX_OK);
    must_be_valid(project);
    must_have_actions(project, "lint:clang-tidy@tools spell:words@docs");
    must_have(project, "/action/lint/handlers/0/config",
              "{\"checks\":[\"bugprone-*\",\"performance-*\"],\"headers\":true}");
    dx__finecode_way way;
    char reason[200];
    assert_int_equal(dx__finecode_project_way(project, "tools", &config, &way, reason), DX_OK);
    assert_string_equal(way.argv[0], "er");
    free(way.argv);
    assert_int_equal(dx__finecode_project_way(project, "docs", &config, &way, reason), DX_OK);
    assert_string_equal(way.argv[1], "--quiet");
    free(way.argv);
    dx__finecode_project_free(project);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_config), TEST(test_config_fits), TEST(test_find),
        TEST(test_way),    TEST(test_examples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
