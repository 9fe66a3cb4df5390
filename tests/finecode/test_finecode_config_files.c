/* Which files make a project, and what is said about those that are wrong. */
#include "finecode/config_files.h"

static const char lint[] = "[finecode.action.lint]\n"
                           "source = 'a.Lint'\n"
                           "handlers = [{name = 'x', source = 'a.X', env = 'dev'}]\n";

static void test_finecode_toml(void **state) {
    (void)state;
    put("one/finecode.toml", lint);
    dx_finecode_project *project = project_of("one/");
    must_be_valid(project);
    assert_string_equal(dx_finecode_project_path(project), in_top("one"));
    assert_string_equal(dx_finecode_project_name(project), "one");
    assert_string_equal(dx_finecode_project_file(project), in_top("one/finecode.toml"));
    must_have_actions(project, "lint:x@dev");
    must_be_json(dx_finecode_project_raw(project),
                 "{\"tool\":{\"finecode\":{\"action\":{\"lint\":{\"source\":\"a.Lint\","
                 "\"handlers\":[{\"name\":\"x\",\"source\":\"a.X\",\"env\":\"dev\"}]}}}}}");
    dx__finecode_project_free(project);
}

static void test_pyproject(void **state) {
    (void)state;
    put("one.two/pyproject.toml", "[project]\nname = 'p'\n[tool.other]\na = 1\n"
                                  "[tool.finecode.action.fmt]\nsource = 's'\n");
    dx_finecode_project *project = project_of("one.two");
    must_be_valid(project);
    assert_string_equal(dx_finecode_project_name(project), "p");
    assert_string_equal(dx_finecode_project_file(project), in_top("one.two/pyproject.toml"));
    must_have_actions(project, "fmt:");
    must_be_json(dx_finecode_project_raw(project),
                 "{\"project\":{\"name\":\"p\"},\"tool\":{\"other\":{\"a\":1},\"finecode\":"
                 "{\"action\":{\"fmt\":{\"source\":\"s\"}}}}}");
    dx__finecode_project_free(project);
}

/* A project has the name of its folder if [project] has none that can be shown. */
static void must_be_named(const char *table, const char *name) {
    put("one.two/pyproject.toml", table);
    dx_finecode_project *project = project_of("one.two");
    assert_string_equal(dx_finecode_project_name(project), name);
    dx__finecode_project_free(project);
}

static void test_name(void **state) {
    char table[300];
    char name[202];
    (void)state;
    put("one.two/finecode.toml", lint);
    must_be_named("", "one");
    must_be_named("[project]\n", "one");
    must_be_named("[project]\nname = ''\n", "one");
    must_be_named("[project]\nname = 7\n", "one");
    must_be_named("[project]\nname = \"a\\nb\"\n", "one");
    must_be_named("[project]\nname = \"a\\u007f\"\n", "one");
    memset(name, 'x', sizeof name);
    name[200] = '\0';
    (void)snprintf(table, sizeof table, "[project]\nname = '%s'\n", name);
    must_be_named(table, name);
    (void)snprintf(table, sizeof table, "[project]\nname = '%sx'\n", name);
    must_be_named(table, "one");
}

static void test_beside_pyproject(void **state) {
    (void)state;
    put("p/finecode.toml", lint);
    put("p/pyproject.toml", "[project]\nname = 'p'\n");
    dx_finecode_project *project = project_of("p");
    must_be_valid(project);
    assert_string_equal(dx_finecode_project_file(project), in_top("p/finecode.toml"));
    must_be_json(yyjson_ptr_get(dx_finecode_project_raw(project), "/project/name"), "\"p\"");
    must_have_actions(project, "lint:x@dev");
    dx__finecode_project_free(project);
}

static void test_both(void **state) {
    (void)state;
    put("p/finecode.toml", lint);
    put("p/pyproject.toml", "[tool.finecode]\n");
    must_be_invalid(
        "p",
        "found both finecode.toml and [tool.finecode] in pyproject.toml; keep only one of them");
}

static void test_no_config(void **state) {
    (void)state;
    put("p/pyproject.toml", "[tool.other]\n");
    put("q/readme", "");
    static const char *const folders[] = {"p", "q"};
    static const char *const whys[] = {"pyproject.toml: [tool.finecode] is missing",
                                       "no finecode.toml and no pyproject.toml"};
    for (int i = 0; i < 2; i++) {
        dx_finecode_project *project = project_of(folders[i]);
        assert_int_equal(dx_finecode_project_get_state(project), DX_FINECODE_NO_CONFIG);
        assert_string_equal(dx_finecode_project_why(project), whys[i]);
        assert_null(dx_finecode_project_raw(project));
        assert_null(dx__finecode_project_env(project, 0));
        dx__finecode_project_free(project);
    }
    must_be_invalid("none", "cannot read the folder: No such file or directory");
}

static void test_relative(void **state) {
    (void)state;
    char before[PATH_MAX];
    dx_finecode_project *project = NULL;
    put("p/finecode.toml", lint);
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(in_top("p")), 0);
    assert_int_equal(dx__finecode_project_read(NULL, ".", NULL, &project), DX_OK);
    assert_int_equal(chdir(before), 0);
    assert_string_equal(dx_finecode_project_path(project), in_top("p"));
    must_be_valid(project);
    dx__finecode_project_free(project);
}

/* Each is a finecode.toml and what is said about it. */
static void test_wrong(void **state) {
    static const char *const rows[][2] = {
        {"[finecode", "finecode.toml:1:10: expected ']' after the key, found the end of the text"},
        {"[action.lint]\n", "finecode.toml: [finecode] is missing"},
        {"finecode = 1\n", "finecode.toml: finecode: expected object, found number"},
        {"[finecode]\naction = 'x'\n",
         "finecode.toml: finecode.action: expected object, found string"},
        {"[finecode.action]\nlint = []\n",
         "finecode.toml: finecode.action.lint: expected object, found array"},
        {"[finecode.action.lint]\nsource = 1\n",
         "finecode.toml: finecode.action.lint.source: expected string, found number"},
        {"[finecode.action.lint]\nconfig = 'x'\n",
         "finecode.toml: finecode.action.lint.config: expected object, found string"},
        {"[finecode.action.lint]\nhandlers = 1\n",
         "finecode.toml: finecode.action.lint.handlers: expected object or array, found number"},
        {"[finecode.action.lint]\nhandlers = [{name = 'a'}, {name = 2}]\n",
         "finecode.toml: finecode.action.lint.handlers[1].name: expected string, found number"},
        {"[finecode.action.lint]\nhandlers = [{source = 'a'}]\n",
         "finecode.toml: finecode.action.lint.handlers[0]: missing member \"name\""},
        {"[finecode.action.lint.handlers.x]\nenabled = 'no'\n",
         "finecode.toml: finecode.action.lint.handlers.x.enabled: expected boolean, found string"},
        {"[finecode.action.lint.handlers.x]\nenv = '../../bin'\n", NULL},
        {"[finecode.action.lint.handlers.x]\ndependencies = ['a', 1]\n",
         "finecode.toml: finecode.action.lint.handlers.x.dependencies[1]: expected string, found "
         "number"},
        {"[finecode.action.lint]\nhandlers_mode = 'both'\n",
         "finecode.toml: finecode.action.lint.handlers_mode: expected one of \"merge\", "
         "\"replace\", found \"both\""},
        {"[[finecode.action_handler]]\nconfig = {}\n",
         "finecode.toml: finecode.action_handler[0]: missing member \"source\""},
        {"[finecode.action_handler]\n",
         "finecode.toml: finecode.action_handler: expected array, found object"},
        {"[[finecode.service]]\nsource = 'x'\n",
         "finecode.toml: finecode.service[0]: missing member \"interface\""},
        {"[finecode]\npresets = ['x']\n",
         "finecode.toml: finecode.presets[0]: expected object, found string"},
        {"[finecode.er]\nrunner = 'docker'\n",
         "finecode.toml: finecode.er.runner: expected one of \"venv\", \"duplex\", found "
         "\"docker\""},
        {"[finecode.er]\nrunner = []\n",
         "finecode.toml: finecode.er.runner: expected at least 1 item, found 0"},
        {"[finecode.er.envs.dev]\ntransport = 'udp'\n",
         "finecode.toml: finecode.er.envs.dev.transport: expected one of \"tcp\", \"stdio\", found "
         "\"udp\""},
        {"[finecode.er.envs.dev]\ndebug = 1\n",
         "finecode.toml: finecode.er.envs.dev.debug: expected boolean, found number"},
        {"[finecode.er.logging]\nlog_groups = {a = 1}\n",
         "finecode.toml: finecode.er.logging.log_groups.a: expected string, found number"},
        {"[finecode.env.dev]\ninstall_project = 'y'\n",
         "finecode.toml: finecode.env.dev.install_project: expected boolean, found string"},
        {"[finecode.extension.e]\ndependencies_override = 'y'\n",
         "finecode.toml: finecode.extension.e.dependencies_override: expected array, found string"},
        {"[finecode]\n[workspace]\n",
         "finecode.toml: workspace: belongs in finecode-workspace.toml"},
        {"[finecode.workspace]\n", "finecode.toml: workspace: belongs in finecode-workspace.toml"},
        {"[finecode.action.lint]\n", "action.lint: its source is missing in every file"},
        {"[finecode.action.lint]\nsource = 's'\nhandlers = [{name = 'x', env = 'e'}]\n",
         "action.lint.handlers.x: its source is missing in every file"},
        {"[finecode.action.lint]\nsource = 's'\nhandlers = [{name = 'x', source = 'e'}]\n",
         "action.lint.handlers.x: its env is missing in every file"},
        {"[finecode.action.a]\nsource = 's'\n[finecode.action.b]\nsource = 's'\n",
         "action.b: another action has the same source"},
        {"[finecode.action.a]\nsource = 's'\nhandlers = [{name = 'x'}, {name = 'x'}]\n",
         "finecode.toml: action.a.handlers.x: duplicate name in one list"},
        {"[finecode.action.a]\nsource = 's'\nhandlers.x = {name = 'z', source = 's', env = 'e'}\n"
         "handlers.y = {name = 'z', source = 't', env = 'e'}\n",
         "action.a.handlers.z: duplicate name"},
        {"[finecode.action.a]\nsource = 's'\nconfig = {x = inf}\n",
         "inf and nan cannot be sent as JSON"},
        {"[finecode.action.\"a\\u0000b\"]\nsource = 's'\n", NULL},
        {"[finecode.action.a]\nsource = \"s\\u0000\"\n", NULL},
        {"[finecode.action.a]\nsource = ''\n", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        put("p/finecode.toml", rows[i][0]);
        if (rows[i][1]) {
            must_be_invalid("p", rows[i][1]);
            continue;
        }
        dx_finecode_project *project = project_of("p");
        assert_int_equal(dx_finecode_project_get_state(project), DX_FINECODE_INVALID);
        assert_non_null(strstr(dx_finecode_project_why(project), "finecode.toml: finecode.action"));
        dx__finecode_project_free(project);
    }
}

static void test_wrong_pyproject(void **state) {
    (void)state;
    put("p/pyproject.toml", "[tool.finecode.action.lint]\nsource = 1\n");
    must_be_invalid("p", "pyproject.toml: tool.finecode.action.lint.source: expected string, found "
                         "number");
    put("p/pyproject.toml", "[tool.finecode]\nx =\n");
    must_be_invalid("p", "pyproject.toml:2:4: expected a value, found the end of the line");
    dx_finecode_project *project = project_of("p");
    assert_string_equal(dx_finecode_project_file(project), in_top("p/pyproject.toml"));
    dx__finecode_project_free(project);
    put("p/pyproject.toml", "[tool]\nfinecode = 3\n");
    must_be_invalid("p", "pyproject.toml: tool.finecode: expected object, found number");
}

static void test_unknown(void **state) {
    (void)state;
    put("p/finecode.toml", "[finecode]\nnew_thing = 3\n[finecode.action.lint]\nsource = 's'\n"
                           "x = 1\n[finecode.er]\nnewer = []\n[finecode.extra.y]\nz = 1\n");
    dx_finecode_project *project = project_of("p");
    must_be_valid(project);
    must_have(project, "/new_thing", "3");
    must_have(project, "/extra", "{\"y\":{\"z\":1}}");
    dx__finecode_project_free(project);
}

static void test_user(void **state) {
    (void)state;
    put("p/finecode.toml", lint);
    put("p/finecode-user.toml", "[action.lint.handlers.x]\nconfig.width = 90\n"
                                "[dependency-groups]\ndev = ['a']\n");
    dx_finecode_project *project = project_of("p");
    must_be_valid(project);
    must_have(project, "/action/lint/handlers/0/config", "{\"width\":90}");
    dx__finecode_project_free(project);
    put("p/finecode-user.toml", "[finecode.action.lint]\nsource = 'b'\n");
    must_be_invalid("p",
                    "finecode-user.toml: its tables must be at the top level, not in [finecode]");
    put("p/finecode-user.toml", "[tool.finecode]\n");
    must_be_invalid("p",
                    "finecode-user.toml: its tables must be at the top level, not in [finecode]");
    put("p/finecode-user.toml", "[action]\nlint = 3\n");
    must_be_invalid("p", "finecode-user.toml: action.lint: expected object, found number");
    put("p/finecode-user.toml", "[workspace]\n");
    must_be_invalid("p", "finecode-user.toml: workspace: belongs in finecode-workspace.toml");
}

/* Messages have no room for other bytes, and one such folder must not silence all others. */
static void test_odd_path(void **state) {
    (void)state;
    put("caf\xe9\xc3\xa9/finecode.toml", lint);
    dx_finecode_project *project = project_of("caf\xe9\xc3\xa9");
    assert_string_equal(dx_finecode_project_path(project), in_top("caf?\xc3\xa9"));
    assert_string_equal(dx_finecode_project_name(project), "caf?\xc3\xa9");
    assert_string_equal(dx_finecode_project_why(project),
                        "its path is not valid UTF-8 and cannot be sent");
    assert_int_equal(dx_finecode_project_get_state(project), DX_FINECODE_INVALID);
    assert_int_equal(dx__finecode_project_reread(project, NULL, NULL), DX_OK);
    assert_int_equal(dx_finecode_project_get_state(project), DX_FINECODE_INVALID);
    dx__finecode_project_free(project);
}

static void test_odd_files(void **state) {
    (void)state;
    assert_int_equal(mkdir(in_top("p"), 0700), 0);
    assert_int_equal(mkdir(in_top("p/finecode.toml"), 0700), 0);
    must_be_invalid("p", "finecode.toml: Is a directory");
    assert_int_equal(mkdir(in_top("q"), 0700), 0);
    assert_int_equal(mkfifo(in_top("q/pyproject.toml"), 0600), 0);
    must_be_invalid("q", "pyproject.toml: not a regular file");
    if (geteuid() == 0)
        return; /* who may read everything */
    put("r/finecode.toml", lint);
    assert_int_equal(chmod(in_top("r/finecode.toml"), 0), 0);
    must_be_invalid("r", "finecode.toml: Permission denied");
}

/* 1 MiB is taken, one byte more is not. */
static void test_size(void **state) {
    enum { MAX = 1 << 20 };
    char *text = malloc(MAX + 2);
    (void)state;
    assert_non_null(text);
    memset(text, '\n', MAX + 1);
    memcpy(text, lint, strlen(lint));
    text[MAX + 1] = '\0';
    put("p/finecode.toml", text);
    must_be_invalid("p", "finecode.toml: larger than 1 MiB");
    text[MAX] = '\0';
    put("p/finecode.toml", text);
    dx_finecode_project *project = project_of("p");
    must_be_valid(project);
    dx__finecode_project_free(project);
    free(text);
}

/* 64 tables and arrays in each other, of which [finecode] is one. */
static void test_depth(void **state) {
    char text[512];
    (void)state;
    for (size_t levels = 63; levels < 65; levels++) {
        char *to = stpcpy(text, "[finecode]\nx = ");
        memset(to, '[', levels);
        memset(to + levels, ']', levels);
        strcpy(to + 2 * levels, "\n");
        put("p/finecode.toml", text);
        dx_finecode_project *project = project_of("p");
        assert_int_equal(dx_finecode_project_get_state(project),
                         levels == 63 ? DX_FINECODE_VALID : DX_FINECODE_INVALID);
        dx__finecode_project_free(project);
    }
}

static void test_many(void **state) {
    char *text = malloc(1 << 20);
    (void)state;
    assert_non_null(text);
    for (int count = 256; count < 258; count++) {
        char *to = stpcpy(text, "[finecode.action.lint]\nsource = 's'\nhandlers = [\n");
        for (int i = 0; i < count; i++)
            to += sprintf(to, "{name = 'h%d', source = 's', env = 'e%d'},\n", i, i % 3);
        strcpy(to, "]\n");
        put("p/finecode.toml", text);
        dx_finecode_project *project = project_of("p");
        if (count == 256) {
            must_be_valid(project);
            assert_int_equal(project->actions[0].handler_count, 256);
            assert_string_equal(dx__finecode_project_env(project, 2), "e2");
            assert_null(dx__finecode_project_env(project, 3));
        } else {
            assert_string_equal(dx_finecode_project_why(project),
                                "finecode.toml: finecode.action.lint.handlers: expected at most "
                                "256 items, found 257");
        }
        dx__finecode_project_free(project);
    }
    free(text);
}

/* Appends the text with the number wherever it has "%d". */
static size_t repeat(char *to, const char *item, int number) {
    char *start = to;
    for (; *item; item++)
        if (item[0] == '%' && item[1] == 'd') {
            to += sprintf(to, "%d", number);
            item++;
        } else {
            *to++ = *item;
        }
    *to = '\0';
    return (size_t)(to - start);
}

/* Each is taken so many times, and not once more: `item` has the number in it, if there is %d. */
static void test_limits(void **state) {
    static const struct {
        const char *before;
        const char *item;
        const char *after;
        int most;
        const char *why;
    } rows[] = {
        {"", "[finecode.action.a%d]\nsource = 's%d'\n", "", 1024,
         "finecode.toml: finecode.action: expected at most 1024 members, found 1025"},
        {"", "[[finecode.service]]\ninterface = 'i%d'\nsource = 's%d'\n", "", 256,
         "finecode.toml: finecode.service: expected at most 256 items, found 257"},
        {"", "[[finecode.action_handler]]\nsource = 'i%d'\nx = %d\n", "", 1024,
         "finecode.toml: finecode.action_handler: expected at most 1024 items, found 1025"},
        {"[finecode.er]\nrunner = [", "'w%d%d',", "]\n", 256,
         "finecode.toml: finecode.er.runner: expected at most 256 items, found 257"},
        {"[finecode.er.envs.", "e", "]\n", 64, NULL},
        {"[finecode.extension.e]\ndependencies_override = [", "'w%d%d',", "]\n", 1024,
         "finecode.toml: finecode.extension.e.dependencies_override: expected at most 1024 items, "
         "found 1025"},
        {"[finecode.action.a]\nsource = 's'\nhandlers = [",
         "{name = 'h%d', source = 's', env = 'e%d'},", "]\n", 64,
         "action.a.handlers.h64: more than 64 envs"},
    };
    char *text = malloc(1 << 20);
    (void)state;
    assert_non_null(text);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int count = rows[i].most; count <= rows[i].most + 1; count++) {
            char *to = stpcpy(text, "[finecode]\n");
            to = stpcpy(to, rows[i].before);
            for (int j = 0; j < count; j++)
                to += repeat(to, rows[i].item, j);
            strcpy(to, rows[i].after);
            put("p/finecode.toml", text);
            dx_finecode_project *project = project_of("p");
            if (count == rows[i].most)
                must_be_valid(project);
            else if (rows[i].why)
                assert_string_equal(dx_finecode_project_why(project), rows[i].why);
            else
                assert_int_equal(dx_finecode_project_get_state(project), DX_FINECODE_INVALID);
            dx__finecode_project_free(project);
        }
    free(text);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_finecode_toml), TEST(test_pyproject),
        TEST(test_name),          TEST(test_beside_pyproject),
        TEST(test_both),          TEST(test_no_config),
        TEST(test_relative),      TEST(test_wrong),
        TEST(test_unknown),       TEST(test_wrong_pyproject),
        TEST(test_user),          TEST(test_odd_files),
        TEST(test_size),          TEST(test_limits),
        TEST(test_depth),         TEST(test_many),
        TEST(test_odd_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
