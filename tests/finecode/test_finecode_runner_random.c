/* Runners that answer anything: whatever it is, the manager comes to a decision and to its end. */
#include "finecode/manager.h"

enum { ROUNDS = 60 };

static unsigned long seed = 1;

static unsigned pick(unsigned below) {
    seed = seed * 6364136223846793005UL + 1442695040888963407UL;
    return (unsigned)(seed >> 33) % below;
}

/* A value as Python writes it; those that mean something are among them. */
static void add_value(char *text, size_t room, unsigned depth) {
    static const char *const values[] = {
        "None",    "True", "0",         "-1",          "1e308",    "''",
        "'x.Act'", "'a'",  "'project'", "'long text'", "'\\0\\n'", "1180591620717411303424",
        "[]",      "{}"};
    static const char *const names[] = {
        "capabilities", "canonical_source", "scope",   "actions", "handlerLocations", "x.Act",
        "error",        "logFilePath",      "message", "code",    "packagePath",      ""};
    unsigned kind = depth ? pick(3) : 0;
    size_t used = strlen(text);
    if (!kind || used + 400 > room) {
        const char *value = values[pick(sizeof values / sizeof *values)];
        strcat(text, value);
        return;
    }
    strcat(text, kind == 1 ? "[" : "{");
    for (unsigned i = pick(12); i > 0; i--) {
        if (kind == 2) {
            strcat(text, "'");
            strcat(text, names[pick(sizeof names / sizeof *names)]);
            strcat(text, "': ");
        }
        add_value(text, room, depth - 1);
        strcat(text, ",");
    }
    strcat(text, kind == 1 ? "]" : "}");
}

static void add_answer(char *text, size_t room, const char *method) {
    static const char *const others[] = {"'mute'", "'close'", "'die'", "0", "3"};
    strcat(text, "'");
    strcat(text, method);
    strcat(text, "': ");
    if (pick(12) == 0) {
        strcat(text, others[pick(5)]);
    } else {
        strcat(text, pick(3) ? "{'result': " : "{'error': ");
        add_value(text, room, 3);
        strcat(text, "}");
    }
    strcat(text, ",");
}

static const char *random_spec(bool tcp) {
    static const char *const methods[] = {
        "initialize",  "finecodeRunner/getInfo",      "packages/resolvePath",
        "shutdown",    "finecodeRunner/updateConfig", "finecodeRunner/resolveActionMeta",
        "actions/run", "finecodeRunner/updateLogging"};
    static char text[64 << 10];
    strcpy(text, tcp ? "{'tcp': '', 'answers': {" : "{'answers': {");
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (pick(4) == 0)
            add_answer(text, sizeof text - 4096, methods[i]);
    strcat(text, "}}");
    return text;
}

static void test_random(void **state) {
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        struct world *world = world_new();
        bool tcp = i % 2;
        make_project(world, "p", "a dev_workspace", tcp ? "tcp" : "stdio",
                     i % 3 ? "" : "[[finecode.presets]]\nsource = \"one\"\n");
        set_spec(world, "p", "a", random_spec(tcp));
        set_spec(world, "p", "dev_workspace", random_spec(tcp));
        world->config.initialize_ms = world->config.info_ms = world->config.config_ms = 1000;
        world->config.stop_ms = 500;
        world_open(world);
        dx_finecode_project *project = dx_finecode_wm_find_project(world->wm, "p");
        dx_finecode_runner *runner = dx__finecode_wm_need_runner(world->wm, project, "a");
        size_t calls = 0;
        if (need(world, runner)) {
            dx__finecode_call_options options = {.ms = 1000, .on_done = on_done, .user = world};
            calls += dx__finecode_runner_call(runner, "actions/getPayloadSchemas", dx_json_none(),
                                              &options, NULL) == DX_OK;
        }
        WAIT(world, count_of(world->done.text, "a ") >= calls);
        stop(world);
        assert_int_equal(dx_finecode_runner_pid(runner), 0);
        world_free(world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
