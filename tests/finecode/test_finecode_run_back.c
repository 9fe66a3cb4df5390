/* Edits, and questions about the workspace. */
#include "finecode/orchestra.h"

enum { JSON = DX_FINECODE_JSON };

#define EDIT(file, text)                                                                           \
    "['workspace/applyEdit', {edit = {documentChanges = [{textDocument = {uri = 'file://TOP/" file \
    "', version = 1}, edits = [{range = {start = {line = 0, character = 0}, end = {line = 0, "     \
    "character = 3}}, newText = '" text "'}]}]}}]"

static void open_world(struct world *world, const char *asks) {
    char text[8192];
    char rest[8192];
    snprintf(
        text, sizeof text,
        "[finecode.action.outer]\nsource = 'demo.outer'\nconfig = {parent = 'demo.Parent', "
        "language = 'c'}\nhandlers = [{name = 'o', source = 'd.o', env = 'a', config = {asks = "
        "[%s]}}]\n",
        asks);
    for (char *top; (top = strstr(text, "TOP"));) {
        snprintf(rest, sizeof rest, "%s", top + 3);
        snprintf(top, sizeof text - (size_t)(top - text), "%s%s", world->top, rest);
    }
    project(world, "p", text);
    put(world, "p/file.txt", "abcdef\n");
    world_open(world);
}

static void must_hold(struct world *world, const char *part) {
    char text[8192];
    snprintf(text, sizeof text, "%s", part);
    if (!strstr(world->result, text))
        fail_msg("\"%s\" is not in %s", text, world->result);
}

/* Without a client they go to the files. */
static void test_disk(void **state) {
    (void)state;
    for (int real = 0; real < 2; real++) {
        struct world *world = world_new(real);
        open_world(world, EDIT("p/file.txt", "XY") "," EDIT("../outside.txt",
                                                            "no") "," EDIT("p/none.txt", "no"));
        run(world, "outer", JSON);
        assert_string_equal(get(world, "p/file.txt"), "XYdef\n");
        must_hold(world, "{\\\"result\\\": {\\\"applied\\\": true}}");
        assert_int_equal(count_of(&world->sent, "\"applied\":false,\"failureReason\":\""), 2);
        world_close(world);
    }
}

static void on_edit(dx_finecode_wm *wm, uint64_t edit, yyjson_val *params, void *user) {
    struct world *world = user;
    char text[1024];
    (void)wm;
    write_value(text, sizeof text, params);
    note(&world->edits, "%d %s\n", (int)edit, text);
    if (edit == 1)
        dx_finecode_wm_edited(wm, edit, 1, NULL);
}

/* Who has a client decides, now or later. */
static void test_client(void **state) {
    struct world *world = world_new(true);
    (void)state;
    world->config.on_edit = on_edit;
    open_world(world, EDIT("p/file.txt", "XY") "," EDIT("p/file.txt", "Z"));
    dx_finecode_ask ask = ask_for(world, "outer", JSON);
    begin(world, &ask);
    WAIT(world, count_of(&world->edits, "\n") == 2);
    must_have(&world->edits, "\"newText\":\"XY\"");
    dx_finecode_wm_edited(world->wm, 77, 1, NULL); /* nobody's */
    dx_finecode_wm_edited(world->wm, 2, 0, "the user said no");
    dx_finecode_wm_edited(world->wm, 2, 1, NULL); /* too late */
    WAIT(world, world->done);
    must_hold(world, "{\\\"result\\\": {\\\"applied\\\": true}}");
    must_hold(world, "\\\"applied\\\": false, \\\"failureReason\\\": \\\"the user said no\\\"");
    assert_string_equal(get(world, "p/file.txt"), "abcdef\n");
    assert_null(world->wm->edits);
    clear(world); /* one that is never answered ends with the request */
    begin(world, &ask);
    WAIT(world, count_of(&world->edits, "\n") == 1);
    dx_finecode_wm_cancel(world->wm, world->run);
    WAIT(world, world->done == 2 && !world->wm->edits);
    clear(world); /* … or with the runner */
    begin(world, &ask);
    WAIT(world, count_of(&world->edits, "\n") == 1);
    kill(dx_finecode_runner_pid(dx_finecode_wm_runner(world->wm, 0)), SIGKILL);
    WAIT(world, world->done == 3 && !world->wm->edits);
    world_close(world);
}

/* Tests 41 and 42. */
static void test_questions(void **state) {
    (void)state;
    for (int real = 0; real < 2; real++) {
        struct world *world = world_new(real);
        open_world(world, "['projects/getRawConfig', {projectDefPath = 'TOP/p/finecode.toml'}],"
                          "['projects/getRawConfig', {projectDefPath = 'TOP/q/finecode.toml'}],"
                          "['workspace/getProjectPaths', {}],"
                          "['workspace/getWorkspaceEditablePackages', {}],"
                          "['finecode/getActionsForParent', {parentActionSource = 'demo.Parent'}],"
                          "['finecode/getActionsForParent', {parentActionSource = 'demo.Other'}],"
                          "['finecode/listWorkspaceActions', {}]");
        run(world, "outer", JSON);
        assert_int_equal(world->status, DX_FINECODE_SUCCESS);
        must_have(&world->sent, real
                                    ? "\"result\":{\"config\":{\"tool\":{\"finecode\":{"
                                    : "\"result\":{\"config\":\"{\\\"tool\\\":{\\\"finecode\\\":{");
        must_have(&world->sent, "\"error\":{\"code\":-32603,\"message\":\"Project not found: ");
        assert_int_equal(count_of(&world->sent, "\"code\":-32601"), real ? 0 : 5);
        if (real) {
            must_have(&world->sent, "/p\",\"configStatus\":\"valid\"}]}");
            must_have(&world->sent, "\"result\":{\"packages\":{\"p\":\"/");
            must_have(&world->sent,
                      "\"subactions\":[{\"source\":\"demo.outer\",\"canonicalSource\":"
                      "\"demo.outer\",\"language\":\"c\"}]");
            must_have(&world->sent, "\"result\":{\"subactions\":[]}");
            must_have(&world->sent, "\"actions\":[{\"name\":\"outer\",\"source\":\"demo.outer\","
                                    "\"canonicalSource\":\"demo.outer\",\"scope\":\"project\","
                                    "\"project\":\"/");
            must_have(&world->sent, "\"language\":\"c\",\"parentActionSource\":\"demo.Parent\","
                                    "\"fileLoc\":null,\"handlers\":[{\"name\":\"o\",\"source\":"
                                    "\"d.o\",\"env\":\"a\",\"fileLoc\":null}]}]");
        }
        world_close(world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_disk),
        cmocka_unit_test(test_client),
        cmocka_unit_test(test_questions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
