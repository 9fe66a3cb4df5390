/* What extensions are told without having asked. */
#include "hermes/host.h"

#define EVENTS(events)                                                                          \
    "'init': {'name': 'guest', 'version': '1', 'capabilities': {'commands': ['go'], 'events': " \
    "[" events "]}}"
#define ALL "{'name': 'message/changed'}, {'name': 'message/opened'}, {'name': 'message/saved'}"

static struct world *begin(const char *revision, const char *spec) {
    struct world *world = world_new();
    world->config.revision = revision;
    world_open(world);
    wait_state(world, world_add(world, spec), DX_HERMES_RUNNING);
    return world;
}

static size_t told(const struct world *world, const char *method) {
    return count_of(&world->sent, method);
}

static void test_opened_and_saved(void **state) {
    struct world *world = begin(NULL, "{" EVENTS(ALL) "}");
    (void)state;
    wait_state(world, world_add(world, "{}"), DX_HERMES_RUNNING); /* which wants nothing */
    assert_int_equal(dx_hermes_open(world->editor, dx_str(MESSAGE), "/a.hl7", 0, NULL), DX_OK);
    must_have(&world->sent, "{\"jsonrpc\":\"2.0\",\"method\":\"message/opened\",\"params\":{"
                            "\"filePath\":\"/a.hl7\",\"isNew\":false}}");
    assert_int_equal(dx_hermes_saved(world->editor, "/b.hl7", 1), DX_OK);
    must_have(&world->sent, "{\"jsonrpc\":\"2.0\",\"method\":\"message/saved\",\"params\":{"
                            "\"filePath\":\"/b.hl7\",\"saveAs\":true}}");
    assert_int_equal(dx_hermes_open(world->editor, dx_str(""), NULL, 1, NULL), DX_OK);
    must_have(&world->sent, "\"message/opened\",\"params\":{\"isNew\":true}}");
    pause_ms(world, 150);
    assert_int_equal(told(world, "message/opened"), 2);
    assert_int_equal(told(world, "message/saved"), 1);
    assert_int_equal(told(world, "message/changed"), 0);
    /* H24: one made of a template was opened and changed. */
    assert_int_equal(dx_hermes_open(world->editor, dx_str(MESSAGE), NULL, 1, NULL), DX_OK);
    WAIT(world, told(world, "message/changed") == 1);
    assert_int_equal(told(world, "message/opened"), 3);
    assert_int_equal(dx_hermes_saved(world->editor, "/\xff", 0), DX_OK); /* has no form in JSON */
    assert_int_equal(told(world, "message/saved"), 1);
    stop(world);
    world_free(world);
}

static void test_opened_exact(void **state) {
    struct world *world = begin("exact", "{" EVENTS(ALL) "}");
    (void)state;
    assert_int_equal(dx_hermes_open(world->editor, dx_str(MESSAGE), NULL, 1, NULL), DX_OK);
    WAIT(world, told(world, "message/changed") == 1);
    assert_int_equal(told(world, "message/opened"), 0);
    assert_int_equal(dx_hermes_open(world->editor, dx_str(""), NULL, 1, NULL), DX_OK);
    assert_int_equal(told(world, "message/opened"), 1);
    world_free(world);
}

/* An extension knows of a message when it has got it, or read something that was sent since. */
static void test_knows(void **state) {
    struct world *world = world_new();
    (void)state;
    world_open(world);
    dx_hermes *editor = world->editor;
    dx_hermes_guest *guest =
        world_add(world, "{'go': {'go': [{'id': 1, 'method': 'editor/getMessage', 'params': "
                         "{'format': 'hl7'}}], 'none': []}}");
    dx_hermes_guest *other = world_add(world, "{" EVENTS("{'name': 'message/opened'}") "}");
    wait_state(world, guest, DX_HERMES_RUNNING);
    wait_state(world, other, DX_HERMES_RUNNING);
    assert_int_equal(dx_hermes_opened(editor), 0);
    assert_int_equal(dx_hermes_open(editor, dx_str(MESSAGE), "/a", 0, NULL), DX_OK);
    assert_int_equal(dx_hermes_opened(editor), 1);
    assert_false(dx_hermes_guest_knows(guest));
    assert_false(dx_hermes_guest_knows(other)); /* it has not read that yet */
    WAIT(world, dx_hermes_guest_knows(other));
    assert_int_equal(dx_hermes_run(editor, dx_str("none"), NULL), DX_OK);
    assert_false(dx_hermes_guest_knows(guest));
    WAIT(world, dx_hermes_guest_knows(guest));
    assert_int_equal(dx_hermes_edit(editor, dx_str(MESSAGE "^X")), DX_OK);
    assert_true(dx_hermes_guest_knows(guest));
    assert_int_equal(dx_hermes_open(editor, dx_str(MESSAGE), "/b", 0, NULL), DX_OK);
    assert_false(dx_hermes_guest_knows(guest));
    assert_int_equal(dx_hermes_run(editor, dx_str("go"), NULL), DX_OK);
    WAIT(world, dx_hermes_guest_knows(guest)); /* as it has asked for the message, or read that */
    assert_int_equal(dx_hermes_undo(editor), DX_OK); /* which brings the first one back */
    assert_int_equal(dx_hermes_opened(editor), 3);
    assert_false(dx_hermes_guest_knows(guest));
    stop(world);
    world_free(world);
}

/* Once for each rest, however many edits there were. */
static void test_changed(void **state) {
    struct world *world = begin(NULL, "{" EVENTS(ALL) "}");
    (void)state;
    for (size_t i = 0; i < 10; i++) {
        assert_int_equal(dx_hermes_edit(world->editor, (dx_text){&"0123456789"[i], 1}), DX_OK);
        pause_ms(world, 20);
        assert_int_equal(told(world, "message/changed"), 0);
    }
    WAIT(world, told(world, "message/changed") == 1);
    must_have(&world->sent, "{\"jsonrpc\":\"2.0\",\"method\":\"message/changed\",\"params\":{"
                            "\"hasFile\":false}}");
    pause_ms(world, 150);
    assert_int_equal(told(world, "message/changed"), 1);
    assert_int_equal(dx_hermes_undo(world->editor), DX_OK);
    WAIT(world, told(world, "message/changed") == 2);
    /* What was to be told of a message that is no longer open is not told. */
    assert_int_equal(dx_hermes_edit(world->editor, dx_str("x")), DX_OK);
    assert_int_equal(dx_hermes_open(world->editor, dx_str("y"), NULL, 0, NULL), DX_OK);
    pause_ms(world, 150);
    assert_int_equal(told(world, "message/changed"), 2);
    /* One that was told to leave hears nothing more. */
    assert_int_equal(dx_hermes_edit(world->editor, dx_str("z")), DX_OK);
    stop(world);
    pause_ms(world, 100);
    assert_int_equal(told(world, "message/changed"), 2);
    world_free(world);
}

#define CHANGED(format)                                                                            \
    "{" EVENTS("{'name': 'message/changed', 'options': {'includeContent': true, 'format': " format \
               "}}") "}"

static void test_content(void **state) {
    struct world *world = begin(NULL, CHANGED("'json'"));
    (void)state;
    wait_state(world, world_add(world, CHANGED("null")), DX_HERMES_RUNNING);
    wait_state(world, world_add(world, CHANGED("'toml'")), DX_HERMES_RUNNING);
    wait_state(world, world_add(world, CHANGED("'json'")), DX_HERMES_RUNNING);
    assert_int_equal(dx_hermes_open(world->editor, dx_str(""), "/a", 0, NULL), DX_OK);
    assert_int_equal(dx_hermes_edit(world->editor, dx_str(MESSAGE)), DX_OK);
    WAIT(world, told(world, "message/changed") == 4);
    must_have(&world->sent, "\"params\":{\"filePath\":\"/a\",\"format\":\"hl7\",\"hasFile\":true,"
                            "\"message\":\"MSH|^~\\\\&|APP\\r");
    assert_int_equal(count_of(&world->sent, "\"format\":\"json\",\"hasFile\":true,\"message\":\"{"),
                     2);
    must_have(&world->sent, "\"format\":\"toml\",\"hasFile\":true,\"message\":\"[[segments]]");
    /* H25: what cannot be converted comes as it is, and says so. */
    assert_int_equal(dx_hermes_edit(world->editor, dx_str("PID|1")), DX_OK);
    WAIT(world, told(world, "message/changed") == 8);
    assert_int_equal(
        count_of(&world->sent, "\"format\":\"hl7\",\"hasFile\":true,\"message\":\"PID|1\""), 4);
    assert_int_equal(dx_hermes_edit(world->editor, dx_str("\xff")), DX_OK);
    WAIT(world, told(world, "message/changed") == 12);
    assert_int_equal(count_of(&world->sent, "{\"filePath\":\"/a\",\"hasFile\":true}"), 4);
    stop(world);
    world_free(world);
    world = begin("exact", CHANGED("'json'"));
    assert_int_equal(dx_hermes_edit(world->editor, dx_str("PID|1")), DX_OK);
    WAIT(world, told(world, "message/changed") == 1);
    must_have(&world->sent, "\"format\":\"json\",\"hasFile\":false,\"message\":\"PID|1\"");
    world_free(world);
}

/* Row 24 of the facts: an edit of the extension itself comes back to it, once. */
static void test_echo(void **state) {
    struct world *world = begin(
        NULL,
        "{" EVENTS(
            ALL) ", 'go': {'go': [{'id': 1, 'method': 'editor/patchMessage', "
                 "'params': {'patches': [{'path': 'PID.5.1', 'value': 'A'}, {'path': 'PID.5.2', "
                 "'value': 'B'}]}}, {'id': 2, 'method': 'editor/patchMessage', 'params': "
                 "{'patches': "
                 "[{'path': 'PID.1', 'value': '7'}]}}]}, 'asks': {'message/changed': [{'id': 3, "
                 "'method': 'editor/setMessage', 'params': {'format': 'hl7', 'message': "
                 "'MSH|^~\\\\&|APP\\rPID|7||12345||A^B'}}]}}");
    (void)state;
    assert_int_equal(dx_hermes_open(world->editor, dx_str(MESSAGE), NULL, 0, NULL), DX_OK);
    run(world, "go", 2);
    WAIT(world, told(world, "message/changed") == 1);
    /* It sets what is there already in answer to that, which is no change. */
    WAIT(world, is_here(&world->sent, "\"id\":3,\"result\":{\"success\":true}"));
    pause_ms(world, 200);
    assert_int_equal(told(world, "message/changed"), 1);
    world_free(world);
}

/* Before there were events. */
static void test_old_revision(void **state) {
    struct world *world = begin("2025-11-24", "{" EVENTS(ALL) "}");
    (void)state;
    assert_int_equal(dx_hermes_open(world->editor, dx_str(MESSAGE), "/a", 1, NULL), DX_OK);
    assert_int_equal(dx_hermes_edit(world->editor, dx_str("x")), DX_OK);
    assert_int_equal(dx_hermes_saved(world->editor, "/a", 1), DX_OK);
    pause_ms(world, 150);
    assert_int_equal(told(world, "message/"), 0);
    world_free(world);
}

static void test_schema(void **state) {
    struct world *world =
        begin(NULL, "{'init': {'name': 'guest', 'version': '1', 'schema': {'segments': {'PID': "
                    "{'fields': [{'field': 5, 'name': 'N', 'note': 'x'}]}}}}}");
    dx_buf json;
    (void)state;
    wait_state(world,
               world_add(world, "{'init': {'name': 'b', 'version': '1', 'schema': {'segments': "
                                "{'PID': {'fields': [{'field': 5, 'note': null}]}}}}}"),
               DX_HERMES_RUNNING);
    dx_buf_init(&json, 1000, NULL);
    assert_int_equal(dx_hermes_schema(world->editor, &json), DX_OK);
    assert_true(dx_text_is((dx_text){json.data, json.len},
                           "{\"segments\":{\"PID\":{\"fields\":[{\"field\":5,\"name\":\"N\","
                           "\"note\":null}]}}}"));
    stop(world);
    json.len = 0;
    assert_int_equal(dx_hermes_schema(world->editor, &json), DX_OK);
    assert_true(dx_text_is((dx_text){json.data, json.len}, "{\"segments\":{}}"));
    dx_buf_done(&json);
    world_free(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_opened_and_saved),
        cmocka_unit_test(test_opened_exact),
        cmocka_unit_test(test_knows),
        cmocka_unit_test(test_changed),
        cmocka_unit_test(test_content),
        cmocka_unit_test(test_echo),
        cmocka_unit_test(test_old_revision),
        cmocka_unit_test(test_schema),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
