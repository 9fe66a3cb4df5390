/* What extensions ask the editor for. */
#include "hermes/host.h"

#define GET(id, format) \
    "{'id': " id ", 'method': 'editor/getMessage', 'params': {'format': '" format "'}}"

/* An editor with that text, and an extension that sends those messages; waits for so many answers.
 */
static struct world *ask(const char *revision, const char *text, const char *messages,
                         size_t lines) {
    struct world *world = world_new();
    char *spec = malloc(strlen(messages) + 100);
    world->config.revision = revision;
    world_open(world);
    assert_int_equal(dx_hermes_open(world->editor, dx_str(text), NULL, 0, NULL), DX_OK);
    sprintf(spec, "{'go': {'go': [%s]}}", messages);
    dx_hermes_guest *guest = world_add(world, spec);
    free(spec);
    wait_state(world, guest, DX_HERMES_RUNNING);
    run(world, "go", lines);
    return world;
}

/* The seed's own sample: a code, the standard message, and data that names the field. */
static void test_faults(void **state) {
    static const char *const answers[] = {
        "{\"error\":{\"code\":-32602,\"data\":\"Missing required field: "
        "params\",\"message\":\"Invalid params\"},\"id\":2,",
        "{\"error\":{\"code\":-32602,\"data\":\"Missing required field: "
        "format\",\"message\":\"Invalid params\"},\"id\":3,",
        "{\"error\":{\"code\":-32602,\"data\":\"format: expected one of \\\"hl7\\\", \\\"json\\\", "
        "\\\"yaml\\\", \\\"toml\\\", found \\\"xml\\\"\",\"message\":\"Invalid params\"},\"id\":4,",
        "{\"error\":{\"code\":-32601,\"data\":\"Unknown method: x/y\",\"message\":\"Method not "
        "found\"},\"id\":5,",
        "{\"error\":{\"code\":-32602,\"data\":\"patches/0/value: expected string or null, found "
        "number\",\"message\":\"Invalid params\"},\"id\":6,",
        "{\"error\":{\"code\":-32601,\"data\":\"Unknown method: initialize\"",
        "{\"error\":{\"code\":-32602,\"data\":\"params: expected object, found array\"",
        "{\"error\":{\"code\":-32600,\"data\":\"\\\"method\\\" must be a Unicode string\","
        "\"message\":\"Invalid Request\"},\"id\":10,",
        "{\"error\":{\"code\":-32602,\"data\":\"Missing required field: patches/0/path\"",
        "{\"error\":{\"code\":-32600,\"data\":\"missing required field: method\","
        "\"message\":\"Invalid Request\"},\"id\":12,",
    };
    struct world *world = ask(
        NULL, MESSAGE,
        "{'id': 2, 'method': 'editor/getMessage'}, {'id': 3, 'method': 'editor/getMessage', "
        "'params': {}}, " GET(
            "4",
            "xml") ", {'id': 5, 'method': 'x/y', 'params': {}}, {'id': "
                   "6, 'method': 'editor/patchMessage', 'params': {'patches': [{'path': 'PID.5.1', "
                   "'value': 3}]}}, {'id': 8, 'method': 'initialize'}, {'id': 9, 'method': "
                   "'editor/getMessage', 'params': ['hl7']}, {'id': 10, 'method': 5}, {'id': 11, "
                   "'method': 'editor/patchMessage', 'params': {'patches': [{}]}}, {'method': "
                   "'x/y'}, "
                   "'stray line', {'id': 12}",
        10);
    (void)state;
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
        must_have(&world->log, answers[i]);
    WAIT(world, is_here(&world->broken, "missing required field: method"));
    must_have(&world->broken, "x/y: unknown notification");
    must_have(&world->broken, "text on stdout that is not JSON-RPC: stray line");
    must_have(&world->broken, "editor/getMessage: Missing required field: format");
    world_free(world);
}

/* H30: the real editor has its own texts, and no data. Rows 17 and 26 of the facts. */
static void test_faults_exact(void **state) {
    struct world *world =
        ask("exact", MESSAGE,
            "{'id': 2, 'method': 'editor/getMessage'}, " GET(
                "3",
                "HL7") ", {'id': 4, 'method': 'x/y'}, {'id': 's-1', 'method': 'editor/getMessage', "
                       "'params': {'format': 'hl7'}}",
            4);
    (void)state;
    must_have(&world->log,
              "got {\"error\":{\"code\":-32602,\"message\":\"missing params\"},\"id\":2,");
    must_have(&world->log,
              "got {\"error\":{\"code\":-32602,\"message\":\"invalid params: format: ");
    must_have(&world->log,
              "got {\"error\":{\"code\":-32601,\"message\":\"method not found: x/y\"},\"id\":4,");
    must_have(&world->log, "got {\"id\":\"s-1\",");
    assert_false(is_here(&world->log, "data"));
    world_free(world);
}

static void test_get(void **state) {
    struct world *world =
        ask(NULL, MESSAGE,
            GET("1", "hl7") "," GET("2", "json") "," GET("3", "yaml") "," GET("4", "toml"), 4);
    (void)state;
    must_have(&world->sent,
              "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"hasFile\":false,\"message\":"
              "\"MSH|^~\\\\&|APP\\rPID|1||12345||DOE^JOHN\"}}");
    must_have(&world->sent, "\"id\":2,\"result\":{\"hasFile\":false,\"message\":\"{\\n");
    must_have(&world->sent, "\\n      \\\"segment\\\": \\\"PID\\\",\\n");
    must_have(&world->sent, "\"id\":3,\"result\":{\"hasFile\":false,\"message\":\"segments:\\n");
    must_have(&world->sent, "\"id\":4,\"result\":{\"hasFile\":false,\"message\":\"[[segments]]\\n");
    assert_int_equal(dx_hermes_saved(world->editor, "/a/\xc3\xa9.hl7", 1), DX_OK);
    run(world, "go", 4);
    must_have(&world->sent,
              "\"id\":1,\"result\":{\"filePath\":\"/a/\xc3\xa9.hl7\",\"hasFile\":true,"
              "\"message\":\"MSH");
    assert_int_equal(dx_hermes_saved(world->editor, "/a/\xff.hl7", 1), DX_OK);
    run(world, "go", 4); /* a name that has no form in JSON is left out */
    must_have(&world->sent, "\"id\":1,\"result\":{\"hasFile\":true,\"message\":\"MSH");
    world_free(world);
}

/* Row 18 of the facts, and H26. */
static void test_get_nothing(void **state) {
    struct world *world = ask(NULL, "", GET("1", "hl7") "," GET("2", "json"), 2);
    (void)state;
    must_have(&world->sent, "\"id\":1,\"result\":{\"hasFile\":false,\"message\":\"\"}");
    must_have(&world->sent, "\"id\":2,\"error\":{\"code\":-32003,\"message\":\"No message open\","
                            "\"data\":\"the editor is empty\"}");
    assert_int_equal(dx_hermes_edit(world->editor, dx_str("PID|1")), DX_OK);
    run(world, "go", 2);
    must_have(&world->sent, "\"id\":1,\"result\":{\"hasFile\":false,\"message\":\"PID|1\"}");
    must_have(&world->sent, "\"id\":2,\"error\":{\"code\":-32603,\"message\":\"Internal error\","
                            "\"data\":\"Message must start with MSH segment\"}");
    assert_int_equal(dx_hermes_edit(world->editor, dx_str("MSH|^~\\&|\xff")), DX_OK);
    run(world, "go", 2);
    must_have(&world->sent, "\"data\":\"the response contains text that is not valid UTF-8\"");
    must_have(&world->sent, "invalid utf-8");
    assert_int_equal(count_of(&world->sent, "\"code\":-32603"), 3);
    world_free(world);
    world = ask("exact", "", GET("1", "hl7") "," GET("2", "json") "," GET("3", "toml"), 3);
    must_have(&world->sent, "\"id\":1,\"result\":{\"hasFile\":false,\"message\":\"\"}");
    must_have(&world->sent, "\"id\":2,\"error\":{\"code\":-32603,\"message\":\"[-32603] failed to "
                            "export to JSON: Failed to parse message: ");
    must_have(&world->sent, "\"id\":3,\"error\":{\"code\":-32603,\"message\":\"[-32603] failed to "
                            "export to TOML: Failed to parse message: ");
    assert_int_equal(dx_hermes_open(world->editor, dx_str("MSH|^~\\&|A\rPID|a~"), "/x", 0, NULL),
                     DX_OK);
    run(world, "go", 3); /* H43, H4 */
    must_have(&world->sent, "\"id\":1,\"result\":{\"hasFile\":false,\"message\":\"MSH");
    must_have(&world->sent, "\"message\":\"[-32603] failed to export to TOML: Failed to serialise");
    must_have(&world->sent, "unsupported unit type");
    assert_false(is_here(&world->sent, "filePath"));
    world_free(world);
}

#define SET(id, format, text)                                                     \
    "{'id': " id ", 'method': 'editor/setMessage', 'params': {'format': '" format \
    "', 'message': '" text "'}}"

/* Row 22 of the facts. */
static void test_set(void **state) {
    struct world *world = ask(
        NULL, "",
        SET("1", "hl7", "") "," SET("2", "hl7", "PID|1") "," SET("3", "hl7", "MSH|^^") "," SET("4", "json", "{") "," SET(
            "5", "yaml",
            "a: [") "," SET("6", "toml",
                            "=") "," SET("7", "json",
                                         "{\\'segments\\':[]}") "," SET("8", "json",
                                                                        "{\\'MSH\\':{\\'3\\':\\'"
                                                                        "K\\'}}") "," SET("9",
                                                                                          "hl7",
                                                                                          "MSH|^~"
                                                                                          "\\\\&|"
                                                                                          "B\\nPID|"
                                                                                          "2\\n"),
        9);
    (void)state;
    must_have(&world->sent,
              "\"id\":1,\"result\":{\"error\":\"Message is empty\",\"success\":false}");
    must_have(&world->sent,
              "\"id\":2,\"result\":{\"error\":\"Message must start with MSH segment\","
              "\"success\":false}");
    must_have(&world->sent, "\"id\":3,\"result\":{\"error\":\"Invalid HL7 message: ");
    must_have(&world->sent, "\"id\":4,\"error\":{\"code\":-32004,\"message\":\"Invalid message\","
                            "\"data\":\"");
    must_have(&world->sent, "\"id\":5,\"error\":{\"code\":-32004,");
    must_have(&world->sent, "\"id\":6,\"error\":{\"code\":-32004,");
    must_have(&world->sent, "\"id\":7,\"result\":{\"error\":\"");
    must_have(&world->sent, "\"id\":8,\"result\":{\"success\":true}");
    must_have(&world->sent, "\"id\":9,\"result\":{\"success\":true}");
    assert_true(dx_text_is(dx_hermes_text(world->editor), "MSH|^~\\&|B\nPID|2\n"));
    assert_ptr_equal(world->by, dx_hermes_guest_at(world->editor, 0));
    assert_int_equal(world->messages, 3);
    assert_int_equal(dx_hermes_undo(world->editor), DX_OK);
    assert_true(dx_text_is(dx_hermes_text(world->editor), "MSH|^~\\&|K\r"));
    world_free(world);
    world = ask("exact", "", SET("1", "json", "{") "," SET("2", "json", "{\\'MSH\\':{}}"), 2);
    must_have(&world->sent, "\"id\":1,\"error\":{\"code\":-32004,\"message\":\"failed to import "
                            "from JSON: ");
    must_have(&world->sent, "\"id\":2,\"error\":{\"code\":-32004,\"message\":\"failed to import "
                            "from JSON: "); /* H40 */
    world_free(world);
}

static void test_set_too_large(void **state) {
    struct world *world = world_new();
    (void)state;
    world->config.hl7.text_max = 17;
    world_open(world);
    dx_hermes_guest *guest = world_add(
        world, "{'go': {'go': [" SET("1", "hl7", "MSH|^~\\\\&|34567890") "," SET(
                   "2", "hl7", "MSH|^~\\\\&|345678901") "," SET("3", "json",
                                                                "{\\'MSH\\':{\\'3\\':"
                                                                "\\'1234567890\\'}}") "]}}");
    wait_state(world, guest, DX_HERMES_RUNNING);
    run(world, "go", 3);
    must_have(&world->sent, "\"id\":1,\"result\":{\"success\":true}");
    must_have(&world->sent, "\"id\":2,\"result\":{\"error\":\"Message is too large\"");
    must_have(&world->sent, "\"id\":3,\"result\":{\"error\":\"Message is too large\"");
    world_free(world);
}

#define PATCH(id, patches) \
    "{'id': " id ", 'method': 'editor/patchMessage', 'params': {'patches': [" patches "]}}"

static void test_patch(void **state) {
    struct world *world = ask(
        NULL, MESSAGE,
        PATCH(
            "1",
            "{'path': 'PID.5.1', 'value': 'R|E'}, {'path': 'ZZZ.1', 'value': 'x'}, {'path': "
            "'NK1', 'create': true}, {'path': 'NK1.1', 'value': '1'}") "," PATCH("2",
                                                                                 "") "," PATCH("3",
                                                                                               "{'"
                                                                                               "pat"
                                                                                               "h':"
                                                                                               " '"
                                                                                               "ZZZ"
                                                                                               ".1'"
                                                                                               "}, "
                                                                                               "{'"
                                                                                               "pat"
                                                                                               "h':"
                                                                                               " '"
                                                                                               "PID"
                                                                                               ".99"
                                                                                               "999"
                                                                                               "999"
                                                                                               "999"
                                                                                               "999"
                                                                                               "999"
                                                                                               "999"
                                                                                               "'"
                                                                                               "}"),
        3);
    (void)state;
    must_have(&world->sent,
              "\"id\":1,\"result\":{\"errors\":[{\"index\":1,\"message\":\"Segment ZZZ "
              "not found\",\"path\":\"ZZZ.1\"}],\"patchesApplied\":3,"
              "\"success\":false}");
    must_have(&world->sent, "\"id\":2,\"result\":{\"patchesApplied\":0,\"success\":true}");
    must_have(&world->sent, "\"patchesApplied\":0,\"success\":false}");
    assert_true(dx_text_is(dx_hermes_text(world->editor),
                           "MSH|^~\\&|APP\rPID|1||12345||R\\F\\E^JOHN\rNK1|1"));
    assert_int_equal(world->messages, 2);
    assert_int_equal(dx_hermes_undo(world->editor), DX_OK); /* one step for all */
    assert_true(dx_text_is(dx_hermes_text(world->editor), MESSAGE));
    assert_int_equal(dx_hermes_edit(world->editor, dx_str("")), DX_OK);
    run(world, "go", 3);
    assert_int_equal(count_of(&world->sent, "\"code\":-32003"), 3);
    assert_int_equal(dx_hermes_edit(world->editor, dx_str("PID|1")), DX_OK);
    run(world, "go", 3);
    assert_int_equal(count_of(&world->sent, "\"code\":-32603"), 3);
    world_free(world);
}

/* Rows 19 of the facts: the defects are those of the HL7 part, switched on by the revision. */
static void test_patch_exact(void **state) {
    struct world *world =
        ask("exact", "MSH|^~\\&|APP\nPID|1||12345\n",
            PATCH("1", "{'path': 'PID.3.4', 'value': 'MRN'}, {'path': 'MSH.1', 'value': 'x'}"), 1);
    (void)state;
    must_have(&world->sent, "\"id\":1,\"result\":{\"patchesApplied\":2,\"success\":true}");
    assert_true(dx_text_is(dx_hermes_text(world->editor), "MSH|^~\\&|APP\rPID|1||^^^MRN"));
    world_free(world);
}

/* H16 and rows 7 and 13 of the facts. */
static void test_many(void **state) {
    struct world *world = world_new();
    (void)state;
    world_open(world);
    dx_hermes_guest *guest = world_add(
        world, "{'before': [{'times': 100, 'message': {'method': 'editor/getMessage', 'params': "
               "{'format': 'hl7'}}}], 'go': {'go': [{'times': 300, 'message': {'method': "
               "'editor/getMessage', 'params': {'format': 'hl7'}}}]}}");
    wait_state(world, guest, DX_HERMES_RUNNING);
    WAIT(world, count_of(&world->log, "got ") == 100);
    run(world, "go", 300);
    const char *at = world->sent.text;
    for (size_t i = 0; i < 300; i++) { /* in the order in which they came */
        char id[20];
        snprintf(id, sizeof id, "\"id\":\"n-%zu\"", i);
        at = strstr(at, id);
        assert_non_null(at);
    }
    world_free(world);
}

/* One that has failed, or was told to leave and said yes, is not served any more. */
static void test_not_served(void **state) {
    struct world *world = world_new();
    (void)state;
    world_open(world);
    world_add(world, "{'initError': {'code': 1, 'message': 'x'}, 'before': [" GET("1", "hl7") "]}");
    WAIT(world, is_here(&world->sent, "\"id\":1,\"result\""));
    const char *late[] = {
        "-c",
        "import sys\n"
        "def say(t): sys.stdout.write('Content-Length: %d\\r\\n\\r\\n%s' % (len(t), t)); "
        "sys.stdout.flush()\n"
        "say('{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":1,\"message\":\"x\"}}')\n"
        "say('{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"editor/getMessage\",\"params\":"
        "{\"format\":\"hl7\"}}')\n"
        "sys.stdin.read()",
        NULL};
    assert_int_equal(dx_hermes_add(world->editor,
                                   &(dx_hermes_entry){.path = "/usr/bin/python3", .args = late},
                                   NULL, NULL),
                     DX_OK);
    WAIT(world, is_here(&world->sent, "\"id\":7,\"error\":{\"code\":-32001,\"message\":\"Not "
                                      "initialised\""));
    world_free(world);
}

/* H7, and the longest message that may be sent: the extension goes on or ends, the editor stays. */
static void test_too_long(void **state) {
    struct world *world = world_new();
    (void)state;
    world->config.revision = "exact";
    world->config.on_traffic = NULL;
    world_open(world);
    dx_hermes_guest *guest = world_add(
        world, "{'go': {'fits': [{'id': 1, 'method': 'editor/setMessage', 'pad': ['message', "
               "10485760], 'params': {'format': 'hl7', 'message': ''}}], 'long': [{'id': 1, "
               "'method': 'editor/setMessage', 'pad': ['message', 10485761], 'params': {'format': "
               "'hl7', 'message': ''}}]}}");
    wait_state(world, guest, DX_HERMES_RUNNING);
    run(world, "fits", 1);
    must_have(&world->log, "Message must start with MSH segment");
    assert_int_equal(dx_hermes_run(world->editor, dx_str("long"), NULL), DX_OK);
    wait_state(world, guest, DX_HERMES_FAILED);
    assert_non_null(strstr(dx_hermes_guest_why(guest), "10485760"));
    WAIT(world, !dx_hermes_guest_link(guest));
    assert_int_equal(count_of(&world->states, "failed"), 1);
    world_free(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_faults),   cmocka_unit_test(test_faults_exact),
        cmocka_unit_test(test_get),      cmocka_unit_test(test_get_nothing),
        cmocka_unit_test(test_set),      cmocka_unit_test(test_set_too_large),
        cmocka_unit_test(test_patch),    cmocka_unit_test(test_patch_exact),
        cmocka_unit_test(test_many),     cmocka_unit_test(test_not_served),
        cmocka_unit_test(test_too_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
