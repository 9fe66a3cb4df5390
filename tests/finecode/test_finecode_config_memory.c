/* Memory that runs out at any point: nothing leaks, and a project that is there stays as it was. */
#include "finecode/config_files.h"

typedef struct scarce {
    size_t until; /* this one fails, counted from 1, and so do the next; 0: none */
    size_t count;
    size_t live;
    bool once; /* only that one */
} scarce;

static bool is_out(scarce *memory) {
    memory->count++;
    return memory->until &&
           (memory->once ? memory->count == memory->until : memory->count >= memory->until);
}

static void *take(void *ctx, size_t size) {
    scarce *memory = ctx;
    void *ptr = is_out(memory) ? NULL : malloc(size);
    memory->live += ptr != NULL;
    return ptr;
}

static void *retake(void *ctx, void *ptr, size_t old, size_t size) {
    (void)old;
    return is_out(ctx) ? NULL : realloc(ptr, size);
}

static void give(void *ctx, void *ptr) {
    scarce *memory = ctx;
    memory->live -= ptr != NULL;
    free(ptr);
}

static char width[] = "FINECODE_CONFIG_LINT__X__WIDTH={\"a\": [1]}";
static char *environment[] = {width, NULL};
static const char *const words[] = {"lint.level=plain", NULL};
static const dx__finecode_overrides overrides = {words, environment};

static void put_files(void) {
    put("finecode-workspace.toml",
        "[workspace]\nprojects = ['p']\n[workspace.er]\nrunner = ['r']\n");
    put("p/near/preset.toml", "[tool.finecode]\npresets = [{source = 'pack'}]\n"
                              "[tool.finecode.action.lint]\nsource = 'a.Lint'\n"
                              "handlers = [{name = 'x', source = 'a.X', env = 'dev'}]\n");
    put("pack/preset.toml", "[tool.finecode.extension.a]\ndependencies_override = ['b==1']\n");
    put("p/pyproject.toml", "[project]\nname = 'p'\n[tool.finecode]\n"
                            "presets = [{source = './near'}]\n"
                            "[tool.finecode.action.lint.handlers]\n"
                            "y = {source = 'a.Y', env = 'e', dependencies = ['b'], config.z = 1}\n"
                            "[[tool.finecode.service]]\ninterface = 'i'\nsource = 's'\n"
                            "[[tool.finecode.action_handler]]\nsource = 'a.X'\n"
                            "[tool.finecode.er.logging]\nlog_groups = {a = 'INFO'}\n");
    put("p/finecode-user.toml", "[action.lint.handlers.x]\nconfig.w = 1\n");
}

static dx_status send_config(const dx_finecode_project *project, const dx_allocator *alloc) {
    yyjson_alc alc = dx__finecode_alc(alloc);
    yyjson_mut_doc *doc = yyjson_mut_doc_new(&alc);
    yyjson_mut_val *config = doc ? dx__finecode_project_config(project, "e", true, doc) : NULL;
    dx_status status = config ? DX_OK : DX_ERR_NOMEM;
    if (config)
        assert_int_equal(yyjson_mut_arr_size(yyjson_mut_obj_get(config, "actions")), 1);
    yyjson_mut_doc_free(doc);
    return status;
}

static dx_status use(const dx_allocator *alloc, dx_finecode_project *project) {
    const char *const folders[] = {in_top("pack"), NULL};
    dx_finecode_wm_config config = {.er_program = "er"};
    dx__finecode_way way;
    char reason[200];
    dx_status status = dx__finecode_project_reread(project, &overrides, folders);
    must_be_valid(project);
    must_have_actions(project, "lint:x@dev,y@e");
    if (status == DX_OK)
        status = send_config(project, alloc);
    if (status == DX_OK)
        status = dx__finecode_project_way(project, "dev", &config, &way, reason);
    if (status == DX_OK)
        dx__free(&project->alloc, way.argv);
    return status;
}

static dx_status on_folder(const char *path, void *user) {
    const dx_allocator *alloc = user;
    dx_finecode_project *project = NULL;
    dx_status status = dx__finecode_project_read(alloc, path, &overrides, &project);
    if (status != DX_OK)
        return status;
    project->actions[0].canonical = dx__text_copy(alloc, dx_str("a.b.Lint"));
    project->actions[0].handlers[0].location = dx__text_copy(alloc, dx_str("f:1"));
    status = use(alloc, project);
    dx__finecode_project_free(project);
    return status;
}

/* False: there was no such allocation. */
static bool try(size_t until, bool once) {
    scarce memory = {.until = until, .once = once};
    dx_allocator alloc = {take, retake, give, &memory};
    dx_error error = {.phrase = ""};
    dx_status status = dx__finecode_find_projects(&alloc, top, on_folder, &alloc, &error);
    bool reached = memory.count >= until;
    assert_int_equal(memory.live, 0);
    if (!reached)
        assert_int_equal(status, DX_OK);
    else if (!once)
        assert_int_equal(status, DX_ERR_NOMEM);
    return reached;
}

static void test_memory(void **state) {
    size_t first = 0;
    (void)state;
    put_files();
    assert_false(try(SIZE_MAX, true));
    while (try(first + 1, true) && try(first + 1, false))
        first++;
    assert_true(first > 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_memory, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
