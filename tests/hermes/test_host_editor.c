/* The message in the editor, without extensions. */
#include "hermes/host.h"
#include "unit/unit.h"

#define OTHER "MSH|^~\\&|B\rPID|2"

static void expect_text(struct world *world, const char *text) {
    assert_true(dx_text_is(dx_hermes_text(world->editor), text));
}

static void test_defaults(void **state) {
    dx_hermes_config config = dx_hermes_defaults();
    (void)state;
    assert_null(config.revision);
    assert_string_equal(config.version, "0.1.0");
    assert_string_equal(config.api_version, "1.0");
    assert_int_equal(config.start_ms, 10000);
    assert_int_equal(config.stop_ms, 5000);
    assert_int_equal(config.changed_ms, 500);
    assert_int_equal(config.undo_max, 1000);
    assert_int_equal(config.undo_bytes, 256 << 20);
    assert_int_equal(config.windows_max, 100);
    assert_string_equal(dx_hermes_state_name(DX_HERMES_STARTING), "starting");
    assert_string_equal(dx_hermes_state_name(DX_HERMES_INITIALIZING), "initializing");
    assert_string_equal(dx_hermes_state_name(DX_HERMES_RUNNING), "running");
    assert_string_equal(dx_hermes_state_name(DX_HERMES_SHUTTING_DOWN), "shutting_down");
    assert_string_equal(dx_hermes_state_name(DX_HERMES_STOPPED), "stopped");
    assert_string_equal(dx_hermes_state_name(DX_HERMES_FAILED), "failed");
    assert_string_equal(dx_hermes_state_name((dx_hermes_state)0), "unknown");
    assert_string_equal(dx_hermes_state_name((dx_hermes_state)7), "unknown");
    assert_null(dx_hermes_free(NULL));
}

static void refuse(struct world *world, const char *part) {
    dx_error error = {0};
    dx_hermes *editor = NULL;
    assert_int_equal(dx_hermes_new(world->loop, &world->config, &editor, &error), DX_ERR_INVALID);
    assert_non_null(strstr(error.phrase, part));
    assert_null(editor);
    assert_int_equal(dx_hermes_new(world->loop, &world->config, &editor, NULL), DX_ERR_INVALID);
}

static void test_bad_configuration(void **state) {
    struct world *world = world_new();
    dx_hermes_config good = world->config;
    (void)state;
    world->config.revision = "1999";
    refuse(world, "1999");
    world->config = good;
    world->config.version = NULL;
    refuse(world, "UTF-8");
    world->config = good;
    world->config.data_directory = "\xff";
    refuse(world, "UTF-8");
    world->config = good;
    world->config.hl7.text_max = ((size_t)512 << 20) + 1;
    refuse(world, "text_max");
    world->config.hl7.text_max = (size_t)512 << 20;
    world_open(world);
    assert_ptr_equal(dx_hermes_user(world->editor), world);
    world_free(world);
}

static void test_texts(void **state) {
    struct world *world = world_new();
    (void)state;
    world_open(world);
    expect_text(world, "");
    assert_non_null(dx_hermes_text(world->editor).at);
    assert_null(dx_hermes_path(world->editor));
    assert_false(dx_hermes_is_changed(world->editor));
    assert_int_equal(dx_hermes_undo(world->editor), DX_AGAIN);
    assert_int_equal(dx_hermes_open(world->editor, dx_str(MESSAGE), "a.hl7", 0, NULL), DX_OK);
    assert_int_equal(world->messages, 1);
    assert_null(world->by);
    assert_string_equal(dx_hermes_path(world->editor), "a.hl7");
    assert_int_equal(dx_hermes_edit(world->editor, dx_str("anything \xff")), DX_OK);
    expect_text(world, "anything \xff");
    assert_true(dx_hermes_is_changed(world->editor));
    assert_int_equal(dx_hermes_edit(world->editor, dx_str("anything \xff")), DX_OK);
    assert_int_equal(world->messages, 2); /* the same text is no other one */
    assert_int_equal(dx_hermes_edit(world->editor, (dx_text){NULL, 0}), DX_OK);
    assert_int_equal(dx_hermes_undo(world->editor), DX_OK);
    expect_text(world, "anything \xff");
    assert_int_equal(dx_hermes_undo(world->editor), DX_OK);
    expect_text(world, MESSAGE);
    assert_false(dx_hermes_is_changed(world->editor)); /* it is what was opened */
    assert_int_equal(dx_hermes_undo(world->editor), DX_AGAIN);
    assert_int_equal(dx_hermes_edit(world->editor, dx_str(OTHER)), DX_OK);
    assert_int_equal(dx_hermes_saved(world->editor, "b.hl7", 1), DX_OK);
    assert_string_equal(dx_hermes_path(world->editor), "b.hl7");
    assert_false(dx_hermes_is_changed(world->editor));
    assert_int_equal(dx_hermes_undo(world->editor), DX_OK);
    assert_true(dx_hermes_is_changed(world->editor));
    assert_int_equal(dx_hermes_saved(world->editor, NULL, 1), DX_ERR_INVALID);
    /* What is lent by the editor itself may be given back to it. */
    assert_int_equal(dx_hermes_open(world->editor, dx_hermes_text(world->editor),
                                    dx_hermes_path(world->editor), 0, NULL),
                     DX_OK);
    expect_text(world, MESSAGE);
    assert_string_equal(dx_hermes_path(world->editor), "b.hl7");
    assert_false(dx_hermes_is_changed(world->editor));
    assert_int_equal(dx_hermes_undo(world->editor), DX_OK); /* it had unsaved changes */
    assert_true(dx_hermes_is_changed(world->editor));
    assert_int_equal(dx_hermes_open(world->editor, (dx_text){NULL, 0}, NULL, 1, NULL), DX_OK);
    assert_null(dx_hermes_path(world->editor));
    world_free(world);
}

static void test_limits(void **state) {
    struct world *world = world_new();
    dx_error error = {0};
    (void)state;
    world->config.hl7.text_max = 20;
    world->config.undo_max = 2;
    world_open(world);
    char text[22] = "123456789012345678901";
    assert_int_equal(dx_hermes_open(world->editor, (dx_text){text, 20}, NULL, 0, NULL), DX_OK);
    assert_int_equal(dx_hermes_open(world->editor, (dx_text){text, 21}, NULL, 0, &error),
                     DX_ERR_LIMIT);
    assert_true(error.phrase[0] != '\0');
    assert_int_equal(dx_hermes_edit(world->editor, (dx_text){text, 21}), DX_ERR_LIMIT);
    assert_int_equal(dx_hermes_text(world->editor).len, 20);
    for (size_t len = 1; len <= 3; len++)
        assert_int_equal(dx_hermes_edit(world->editor, (dx_text){text, len}), DX_OK);
    assert_int_equal(dx_hermes_undo(world->editor), DX_OK);
    assert_int_equal(dx_hermes_undo(world->editor), DX_OK);
    expect_text(world, "1");
    assert_int_equal(dx_hermes_undo(world->editor), DX_AGAIN);
    world_free(world);
}

static void test_undo_bytes(void **state) {
    struct world *world = world_new();
    (void)state;
    world->config.undo_bytes = 5;
    world_open(world);
    assert_int_equal(dx_hermes_open(world->editor, dx_str("12345"), NULL, 0, NULL), DX_OK);
    assert_int_equal(dx_hermes_edit(world->editor, dx_str("123456")), DX_OK);
    assert_int_equal(dx_hermes_undo(world->editor), DX_OK);
    expect_text(world, "12345");
    assert_int_equal(dx_hermes_edit(world->editor, dx_str("123456")), DX_OK);
    assert_int_equal(dx_hermes_edit(world->editor, dx_str("1")), DX_OK);
    assert_int_equal(dx_hermes_undo(world->editor), DX_AGAIN);
    world_free(world);
}

static void test_patch(void **state) {
    struct world *world = world_new();
    dx_error error = {0};
    dx_hl7_patch patches[] = {{.path = dx_str("PID.5.1"), .value = dx_str("ROE")},
                              {.path = dx_str("NK1"), .create = 1},
                              {.path = dx_str("NK1.2"), .value = dx_str("X")}};
    (void)state;
    world_open(world);
    assert_int_equal(dx_hermes_patch(world->editor, patches, 1, &error), DX_MISFIT);
    assert_string_equal(error.phrase, "Message is empty");
    assert_int_equal(dx_hermes_open(world->editor, dx_str(MESSAGE), NULL, 0, NULL), DX_OK);
    assert_int_equal(dx_hermes_patch(world->editor, patches, 3, &error), DX_OK);
    expect_text(world, "MSH|^~\\&|APP\rPID|1||12345||ROE^JOHN\rNK1||X");
    assert_int_equal(dx_hermes_undo(world->editor), DX_OK);
    expect_text(world, MESSAGE);
    patches[2].path = dx_str("ZZZ.1");
    assert_int_equal(dx_hermes_patch(world->editor, patches, 3, &error), DX_MISFIT);
    assert_non_null(strstr(error.phrase, "ZZZ"));
    assert_int_equal(dx_hermes_patch(world->editor, patches, 3, NULL), DX_MISFIT);
    expect_text(world, MESSAGE);
    assert_int_equal(dx_hermes_patch(world->editor, patches, 0, NULL), DX_OK);
    assert_int_equal(world->messages, 3);
    world_free(world);
}

static void test_export(void **state) {
    struct world *world = world_new();
    dx_error error = {0};
    dx_buf out;
    (void)state;
    world_open(world);
    dx_buf_init(&out, 10000, NULL);
    assert_int_equal(dx_hermes_export(world->editor, DX_HL7_TEXT, DX_HL7_SEGMENTS, &out, &error),
                     DX_OK);
    assert_int_equal(out.len, 0);
    assert_int_equal(dx_hermes_export(world->editor, DX_HL7_JSON, DX_HL7_SEGMENTS, &out, &error),
                     DX_MISFIT);
    assert_string_equal(error.phrase, "Message is empty");
    assert_int_equal(dx_hermes_get(world->editor, dx_str("PID.5"), &out, &error), DX_MISFIT);
    assert_int_equal(dx_hermes_open(world->editor, dx_str(MESSAGE), NULL, 0, NULL), DX_OK);
    for (dx_hl7_format format = DX_HL7_TEXT; format <= DX_HL7_TOML; format++) {
        out.len = 0;
        assert_int_equal(dx_hermes_export(world->editor, format, DX_HL7_SEGMENTS, &out, &error),
                         DX_OK);
        assert_non_null(memmem(out.data, out.len, "JOHN", 4));
    }
    out.len = 0;
    assert_int_equal(dx_hermes_get(world->editor, dx_str("PID.5.2"), &out, &error), DX_OK);
    assert_true(dx_text_is((dx_text){out.data, out.len}, "JOHN"));
    out.len = 0;
    assert_int_equal(dx_hermes_get(world->editor, dx_str("ZZZ.1"), &out, &error), DX_GONE);
    assert_int_equal(dx_hermes_get(world->editor, dx_str("PID.6"), &out, &error), DX_GONE);
    assert_int_equal(dx_hermes_get(world->editor, dx_str("PID.2"), &out, &error),
                     DX_OK); /* empty */
    assert_int_equal(out.len, 0);
    assert_int_equal(dx_hermes_get(world->editor, dx_str("PID.0"), &out, &error), DX_MISFIT);
    assert_non_null(strstr(error.phrase, "PID.0"));
    assert_int_equal(dx_hermes_get(world->editor, dx_str("PID.0"), &out, NULL), DX_MISFIT);
    dx_buf_done(&out);
    world_free(world);
}

/* A message that another one took the place of comes back with its file and its own steps, unless
 * it was saved, and unless that would discard what is there now. */
static void test_undo_brings_back(void **state) {
    struct world *world = world_new();
    (void)state;
    world_open(world);
    dx_hermes *editor = world->editor;
    assert_int_equal(dx_hermes_open(editor, dx_str(MESSAGE), "a", 0, NULL), DX_OK);
    assert_int_equal(dx_hermes_edit(editor, dx_str("first")), DX_OK);
    assert_int_equal(dx_hermes_open(editor, dx_str(""), NULL, 1, NULL), DX_OK);
    assert_int_equal(dx_hermes_edit(editor, dx_str("second")), DX_OK);
    assert_int_equal(dx_hermes_open(editor, dx_str(OTHER), "b", 0, NULL), DX_OK);
    assert_false(dx_hermes_is_changed(editor));
    assert_int_equal(dx_hermes_undo(editor), DX_OK);
    expect_text(world, "second");
    assert_null(dx_hermes_path(editor));
    assert_int_equal(dx_hermes_undo(editor), DX_OK);
    expect_text(world, "");
    assert_int_equal(dx_hermes_undo(editor), DX_OK);
    expect_text(world, "first");
    assert_string_equal(dx_hermes_path(editor), "a");
    assert_true(dx_hermes_is_changed(editor));
    assert_int_equal(dx_hermes_undo(editor), DX_OK);
    expect_text(world, MESSAGE);
    assert_false(dx_hermes_is_changed(editor));
    assert_int_equal(dx_hermes_undo(editor), DX_AGAIN);

    assert_int_equal(dx_hermes_edit(editor, dx_str("first")), DX_OK);
    assert_int_equal(dx_hermes_saved(editor, "a", 0), DX_OK);
    assert_int_equal(dx_hermes_open(editor, dx_str(OTHER), "b", 0, NULL), DX_OK);
    assert_int_equal(dx_hermes_undo(editor), DX_AGAIN);

    assert_int_equal(dx_hermes_edit(editor, dx_str("lost?")), DX_OK);
    assert_int_equal(dx_hermes_open(editor, dx_str(OTHER), "b", 0, NULL), DX_OK);
    assert_int_equal(dx_hermes_edit(editor, dx_str("saved")), DX_OK);
    assert_int_equal(dx_hermes_saved(editor, "b", 0), DX_OK);
    assert_int_equal(dx_hermes_undo(editor), DX_OK);
    expect_text(world, OTHER);
    assert_true(dx_hermes_is_changed(editor));
    assert_int_equal(dx_hermes_undo(editor), DX_BUSY);
    expect_text(world, OTHER);
    assert_int_equal(dx_hermes_saved(editor, "b", 0), DX_OK);
    assert_int_equal(dx_hermes_undo(editor), DX_OK);
    expect_text(world, "lost?");
    world_free(world);
}

/* The embedder's number is of the message, through edits, saves, and a way to another one and back.
 */
static void test_tag(void **state) {
    struct world *world = world_new();
    (void)state;
    world_open(world);
    dx_hermes *editor = world->editor;
    assert_int_equal(dx_hermes_tag(editor), 0);
    assert_int_equal(dx_hermes_open(editor, dx_str(MESSAGE), "a", 0, NULL), DX_OK);
    dx_hermes_set_tag(editor, UINT64_MAX);
    assert_int_equal(dx_hermes_edit(editor, dx_str("first")), DX_OK);
    assert_int_equal(dx_hermes_open(editor, dx_str(OTHER), "b", 0, NULL), DX_OK);
    assert_int_equal(dx_hermes_tag(editor), 0);
    dx_hermes_set_tag(editor, 7);
    assert_int_equal(dx_hermes_saved(editor, "b", 0), DX_OK);
    assert_int_equal(dx_hermes_tag(editor), 7);
    assert_int_equal(dx_hermes_undo(editor), DX_OK);
    expect_text(world, "first");
    assert_true(dx_hermes_tag(editor) == UINT64_MAX);
    assert_int_equal(dx_hermes_undo(editor), DX_OK);
    assert_true(dx_hermes_tag(editor) == UINT64_MAX);
    world_free(world);
}

/* What is kept is bounded as the steps are. */
static void test_discarded_limits(void **state) {
    for (unsigned most = 0; most < 3; most++)
        for (size_t bytes = 11; bytes <= 37; bytes++) {
            struct world *world = world_new();
            (void)state;
            world->config.undo_max = most;
            world->config.undo_bytes = bytes;
            world_open(world);
            for (int i = 0; i < 3; i++) {
                assert_int_equal(dx_hermes_open(world->editor, dx_str("ab"), NULL, 1, NULL), DX_OK);
                assert_int_equal(dx_hermes_edit(world->editor, dx_str("0123456789")), DX_OK);
            }
            assert_int_equal(dx_hermes_open(world->editor, dx_str("ab"), NULL, 1, NULL), DX_OK);
            unsigned back = 0;
            while (dx_hermes_undo(world->editor) == DX_OK)
                back++;
            /* Each is of 12 bytes with its step. */
            assert_int_equal(back, 2 * (bytes / 12 < most ? bytes / 12 : most));
            world_free(world);
        }
}

/* Everything that needs no process, with each allocation failing: it fails as a whole, and nothing
 * is changed or lost. */
static dx_status use(struct world *world) {
    dx_hl7_patch patch = {.path = dx_str("PID.5.1"), .value = dx_str("ROE")};
    dx_buf out;
    dx_error error;
    dx_status status = dx_hermes_new(world->loop, &world->config, &world->editor, &error);
    if (status != DX_OK)
        return status;
    dx_buf_init(&out, 10000, world->config.hl7.allocator);
    status = dx_hermes_open(world->editor, dx_str(MESSAGE), "a", 0, &error);
    if (status == DX_OK) {
        status = dx_hermes_edit(world->editor, dx_str(OTHER));
        expect_text(world, status == DX_OK ? OTHER : MESSAGE);
    }
    if (status == DX_OK)
        status = dx_hermes_undo(world->editor);
    if (status == DX_OK) {
        status = dx_hermes_patch(world->editor, &patch, 1, &error);
        if (status == DX_OK && !dx_hermes_text(world->editor).at)
            status = DX_ERR_NOMEM; /* it is written only now */
        else
            expect_text(world, status == DX_OK ? "MSH|^~\\&|APP\rPID|1||12345||ROE^JOHN" : MESSAGE);
    }
    if (status == DX_OK) {
        status = dx_hermes_saved(world->editor, "b", 0);
        assert_string_equal(dx_hermes_path(world->editor), status == DX_OK ? "b" : "a");
    }
    if (status == DX_OK)
        status = dx_hermes_export(world->editor, DX_HL7_JSON, DX_HL7_SEGMENTS, &out, &error);
    if (status == DX_OK)
        status = dx_hermes_get(world->editor, dx_str("PID.5"), &out, &error);
    if (status == DX_OK)
        status = dx_hermes_edit(world->editor, dx_str(OTHER));
    if (status == DX_OK) {
        status = dx_hermes_open(world->editor, dx_str(MESSAGE), "c", 0, &error);
        expect_text(world, status == DX_OK ? MESSAGE : OTHER);
        assert_string_equal(dx_hermes_path(world->editor), status == DX_OK ? "c" : "b");
    }
    if (status == DX_OK) {
        assert_int_equal(dx_hermes_undo(world->editor), DX_OK);
        expect_text(world, OTHER);
    }
    dx_buf_done(&out);
    world->editor = dx_hermes_free(world->editor);
    return status;
}

static void test_no_memory(void **state) {
    struct world *world = world_new();
    struct unit_memory memory = {0};
    dx_allocator alloc = unit_allocator(&memory);
    dx_status status;
    size_t fail_at = 0;
    (void)state;
    world->config.hl7.allocator = &alloc;
    do {
        memory.count = 0;
        memory.fail_at = ++fail_at;
        status = use(world);
        assert_true(status == DX_OK || status == DX_ERR_NOMEM);
        assert_int_equal(memory.blocks, 0);
        assert_true(fail_at < 100000);
    } while (memory.count >= fail_at);
    assert_int_equal(status, DX_OK);
    assert_true(fail_at > 20);
    world_free(world);
}

/* Callbacks may use the editor. */
static void edit_again(dx_hermes *editor, dx_hermes_guest *guest, void *user) {
    on_message(editor, guest, user);
    if (dx_text_is(dx_hermes_text(editor), "first"))
        assert_int_equal(dx_hermes_edit(editor, dx_str("second")), DX_OK);
    else if (dx_text_is(dx_hermes_text(editor), "third"))
        assert_int_equal(dx_hermes_undo(editor), DX_OK);
}

static void test_reentrance(void **state) {
    struct world *world = world_new();
    (void)state;
    world->config.on_message = edit_again;
    world_open(world);
    assert_int_equal(dx_hermes_edit(world->editor, dx_str("first")), DX_OK);
    expect_text(world, "second");
    assert_int_equal(dx_hermes_edit(world->editor, dx_str("third")), DX_OK);
    expect_text(world, "second");
    assert_int_equal(world->messages, 4);
    world_free(world);
}

static void test_no_extensions(void **state) {
    struct world *world = world_new();
    dx_error error = {0};
    (void)state;
    world_open(world);
    assert_null(dx_hermes_guest_at(world->editor, 0));
    assert_null(dx_hermes_window_at(world->editor, 0));
    assert_int_equal(dx_hermes_window_closed(world->editor, "x"), DX_GONE);
    assert_int_equal(dx_hermes_run(world->editor, dx_str("x"), NULL), DX_GONE);
    dx_hermes_stop(world->editor, "closing");
    assert_int_equal(world->stopped, 0); /* it comes from a dispatch */
    assert_int_equal(dx_hermes_add(world->editor, &(dx_hermes_entry){.path = "true"}, NULL, &error),
                     DX_ERR_INVALID);
    WAIT(world, world->stopped);
    pause_ms(world, 20);
    assert_int_equal(world->stopped, 1);
    world_free(world);
}

/* The message is UTF-8, its file is not. */
static void test_files(void **state) {
    static const char latin[] = "BHS|\rMSH|^~\\&|A|||||||||||||||8859/1\rPID|\xfc\rBTS|1\xff";
    struct world *world = world_new();
    dx_hl7_file_config config = dx_hl7_file_defaults();
    dx_hl7_patch euro = {.path = dx_str("PID.2"), .value = dx_str("\xe2\x82\xac")};
    dx_hl7_file *file = NULL;
    dx_error error = {0};
    dx_buf out;
    (void)state;
    world_open(world);
    dx_buf_init(&out, 1000, NULL);
    assert_int_equal(dx_hl7_file_read(&config, dx_str(latin), &out, &file, &error), DX_OK);
    assert_int_equal(dx_hermes_open(world->editor, (dx_text){out.data, out.len}, "a.hl7", 0, NULL),
                     DX_OK);
    dx_hermes_set_file(world->editor, file);
    expect_text(world, "MSH|^~\\&|A|||||||||||||||8859/1\rPID|\xc3\xbc\r");
    assert_int_equal(dx_hermes_patch(world->editor, &euro, 1, &error), DX_MISFIT);
    assert_string_equal(error.phrase, "U+20AC '\xe2\x82\xac' cannot be written in 8859/1 (MSH.18)");
    assert_int_equal(dx_hermes_edit(world->editor, dx_str("\xe2\x82\xac")), DX_MISFIT);
    assert_int_equal(dx_hermes_edit(world->editor, dx_str("\xff")), DX_MISFIT);
    assert_false(dx_hermes_is_changed(world->editor));
    assert_int_equal(dx_hermes_edit(world->editor, dx_str("\xc3\xa4")), DX_OK);
    out.len = 0;
    assert_int_equal(dx_hermes_write(world->editor, &out, &error), DX_OK);
    assert_true(dx_text_is((dx_text){out.data, out.len}, "BHS|\r\xe4"
                                                         "BTS|1\xff"));
    assert_int_equal(dx_hermes_undo(world->editor), DX_OK);
    out.len = 0;
    assert_int_equal(dx_hermes_write(world->editor, &out, NULL), DX_OK);
    assert_true(dx_text_is((dx_text){out.data, out.len}, latin));
    /* another message, without a file */
    assert_int_equal(dx_hermes_open(world->editor, dx_str(MESSAGE), NULL, 1, NULL), DX_OK);
    assert_int_equal(dx_hermes_edit(world->editor, dx_str("\xff")), DX_OK);
    out.len = 0;
    assert_int_equal(dx_hermes_write(world->editor, &out, NULL), DX_OK);
    assert_true(dx_text_is((dx_text){out.data, out.len}, "\xff"));
    dx_buf_done(&out);
    world_free(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),   cmocka_unit_test(test_bad_configuration),
        cmocka_unit_test(test_files),      cmocka_unit_test(test_texts),
        cmocka_unit_test(test_limits),     cmocka_unit_test(test_undo_bytes),
        cmocka_unit_test(test_patch),      cmocka_unit_test(test_undo_brings_back),
        cmocka_unit_test(test_tag),        cmocka_unit_test(test_discarded_limits),
        cmocka_unit_test(test_export),     cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_reentrance), cmocka_unit_test(test_no_extensions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
