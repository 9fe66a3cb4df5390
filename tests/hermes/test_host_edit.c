/* Edits in place: what they cost, and that they can be taken back. */
#include "hermes/host.h"

#include "unit/unit.h"

/* A message with so many results; the caller frees it. */
static char *results(size_t count) {
    char *text = malloc(100 * (count + 1));
    assert_non_null(text);
    size_t len = (size_t)sprintf(text, "MSH|^~\\&|LAB\r");
    for (size_t i = 1; i <= count; i++)
        len += (size_t)sprintf(text + len,
                               "OBX|%zu|NM|GLU^Glucose^L||%zu.50|mmol/L|3.9-6.1|N|||F|||2031\r", i,
                               i % 10);
    return text;
}

static dx_status patch(struct world *world, const char *path, const char *value) {
    dx_hl7_patch one = {.path = dx_str(path), .value = dx_str(value)};
    return dx_hermes_patch(world->editor, &one, 1, NULL);
}

static void undo(struct world *world, size_t times) {
    for (; times; times--)
        assert_int_equal(dx_hermes_undo(world->editor), DX_OK);
}

static void expect(const struct world *world, const char *text) {
    assert_non_null(dx_hermes_text(world->editor).at);
    unit_same(dx_hermes_text(world->editor), dx_str(text));
}

static void open_text(struct world *world, const char *text) {
    assert_int_equal(dx_hermes_open(world->editor, dx_str(text), "a", 0, NULL), DX_OK);
}

enum { EDITS = 100 };

/* How much memory that many edits, reads and undos ask for, once the message was read. */
static size_t cost_of(size_t count) {
    struct world *world = world_new();
    struct unit_memory memory = {0};
    dx_allocator alloc = unit_allocator(&memory);
    char *text = results(count);
    char path[40];
    dx_buf out;
    dx_hl7_patch lines[] = {{.path = dx_str("NTE"), .create = 1},
                            {.path = dx_str("OBX[3]"), .remove = 1},
                            {.path = dx_str("NTE.3"), .value = dx_str("x")}};
    world->config.hl7.allocator = &alloc;
    world->config.changed_ms = 1000000;
    world_open(world);
    open_text(world, text);
    assert_int_equal(patch(world, "OBX.5", "first"), DX_OK);
    memory.asked = 0;
    dx_buf_init(&out, 1000, NULL);
    for (size_t i = 0; i < EDITS; i++) {
        snprintf(path, sizeof path, "OBX[%zu].5", 1 + i * 7919 % count);
        assert_int_equal(patch(world, path, "7.25 or so, which is longer"), DX_OK);
        out.len = 0;
        assert_int_equal(dx_hermes_get(world->editor, dx_str(path), &out, NULL), DX_OK);
        assert_true(dx_hermes_is_changed(world->editor));
    }
    assert_int_equal(dx_hermes_patch(world->editor, lines, 3, NULL), DX_OK);
    undo(world, EDITS + 2);
    size_t cost = memory.asked;
    expect(world, text);
    assert_false(dx_hermes_is_changed(world->editor));
    dx_buf_done(&out);
    free(text);
    world_free(world);
    assert_int_equal(memory.blocks, 0);
    return cost;
}

static void an_edit_costs_what_it_touches(void **state) {
    (void)state;
    size_t few = cost_of(100);
    size_t many = cost_of(20000);
    print_message("%zu and %zu bytes\n", few, many);
    assert_true(many < few * 2);
    assert_true(many < (size_t)EDITS * 4096);
}

/* Patches, whole texts and documents, taken back in turn. */
static void undoes_edits_of_all_kinds(void **state) {
    struct world *world = world_new();
    dx_hl7_patch lines[] = {{.path = dx_str("NK1"), .create = 1},
                            {.path = dx_str("NK1[3]"), .create = 1},
                            {.path = dx_str("NK1[3].2"), .value = dx_str("a|b")},
                            {.path = dx_str("NK1"), .remove = 1},
                            {.path = dx_str("PID"), .remove = 1}};
    (void)state;
    world_open(world);
    open_text(world, MESSAGE);
    assert_int_equal(patch(world, "PID.5.1", "ROE"), DX_OK);
    assert_int_equal(patch(world, "PID.5.1", "O"), DX_OK);
    assert_int_equal(dx_hermes_patch(world->editor, lines, 5, NULL), DX_OK);
    expect(world, "MSH|^~\\&|APP\rNK1|\rNK1||a\\F\\b");
    assert_int_equal(dx_hermes_edit(world->editor, dx_str("no message")), DX_OK);
    assert_int_equal(patch(world, "PID.5.1", "O"), DX_MISFIT);
    assert_int_equal(dx_hermes_edit(world->editor, dx_str("MSH|^~&|x\r\nPID")), DX_OK);
    assert_int_equal(patch(world, "MSH.2", "^~\\&"), DX_OK);
    assert_int_equal(patch(world, "MSH.4", "a&b"), DX_OK);
    expect(world, "MSH|^~\\&|x|a\\T\\b\r\nPID");
    undo(world, 2);
    expect(world, "MSH|^~&|x\r\nPID");
    assert_int_equal(patch(world, "MSH.4", "a&b"), DX_MISFIT); /* as before MSH.2 was set */
    undo(world, 1);
    expect(world, "no message");
    undo(world, 1);
    expect(world, "MSH|^~\\&|APP\rNK1|\rNK1||a\\F\\b");
    undo(world, 1);
    expect(world, "MSH|^~\\&|APP\rPID|1||12345||O^JOHN");
    undo(world, 1);
    expect(world, "MSH|^~\\&|APP\rPID|1||12345||ROE^JOHN");
    undo(world, 1);
    expect(world, MESSAGE);
    assert_int_equal(dx_hermes_undo(world->editor), DX_AGAIN);
    assert_int_equal(dx_hermes_undo_dropped(world->editor), 0);
    world_free(world);
}

/* What changes nothing is no edit: who answers each change with one would never end. */
static void an_edit_without_a_change_is_none(void **state) {
    struct world *world = world_new();
    (void)state;
    world_open(world);
    open_text(world, MESSAGE "^C:\\E\\x^a\\F\\b\\.br\\");
    size_t before = world->messages;
    assert_int_equal(patch(world, "PID.5.1", "DOE"), DX_OK);
    assert_int_equal(patch(world, "PID.5.3", "C:\\x"), DX_OK);
    assert_int_equal(patch(world, "PID.5.4", "a|b\\.br\\"), DX_OK);
    assert_int_equal(patch(world, "PID.9", ""), DX_OK);
    assert_int_equal(world->messages, before);
    assert_int_equal(dx_hermes_undo(world->editor), DX_AGAIN);
    world_free(world);
}

static void tells_what_was_dropped(void **state) {
    struct world *world = world_new();
    char value[20];
    (void)state;
    world->config.undo_max = 3;
    world_open(world);
    open_text(world, MESSAGE);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(dx_hermes_undo_dropped(world->editor), i > 3 ? i - 3 : 0);
        snprintf(value, sizeof value, "N%d", i);
        assert_int_equal(patch(world, "PID.5.1", value), DX_OK);
    }
    assert_int_equal(dx_hermes_undo_dropped(world->editor), 2);
    undo(world, 3);
    expect(world, "MSH|^~\\&|APP\rPID|1||12345||N1^JOHN");
    assert_int_equal(dx_hermes_undo(world->editor), DX_AGAIN);
    open_text(world, MESSAGE);
    assert_int_equal(dx_hermes_undo_dropped(world->editor), 0);
    world_free(world);
    /* A single edit beyond the limit of bytes is one that cannot be undone. */
    world = world_new();
    world->config.undo_bytes = 10;
    world_open(world);
    open_text(world, MESSAGE);
    assert_int_equal(patch(world, "PID.5.1", "X"), DX_OK);
    assert_int_equal(dx_hermes_undo(world->editor), DX_AGAIN);
    assert_int_equal(dx_hermes_undo_dropped(world->editor), 1);
    world_free(world);
}

/* Removals, creations and changes of a list that fails in the end. */
static dx_status edit_and_undo(struct world *world, const char *text) {
    dx_hl7_patch lines[] = {{.path = dx_str("OBX[2]"), .remove = 1},
                            {.path = dx_str("OBX[150]"), .remove = 1},
                            {.path = dx_str("NTE[3]"), .create = 1},
                            {.path = dx_str("OBX[7].5"), .value = dx_str("another one")},
                            {.path = dx_str("NTE[2]"), .remove = 1},
                            {.path = dx_str("ZZZ.1"), .value = dx_str("x")}};
    dx_status status = dx_hermes_patch(world->editor, lines, 6, NULL);
    assert_true(status == DX_MISFIT || status == DX_ERR_NOMEM);
    dx_text now = dx_hermes_text(world->editor);
    assert_non_null(now.at); /* nothing has changed, so it is still there */
    unit_same(now, dx_str(text));
    assert_int_equal(dx_hermes_undo(world->editor), DX_AGAIN);
    if (status == DX_MISFIT)
        status = dx_hermes_patch(world->editor, lines, 5, NULL);
    if (status == DX_OK)
        status = dx_hermes_undo(world->editor);
    return status;
}

static void a_failure_is_taken_back(void **state) {
    struct unit_memory memory = {0};
    dx_allocator alloc = unit_allocator(&memory);
    char *text = results(200);
    dx_status status = DX_ERR_NOMEM;
    (void)state;
    for (size_t fails = 0; fails < 2; fails++)
        for (size_t fail = 1; fail == 1 || status != DX_OK; fail++) {
            struct world *world = world_new();
            world->config.hl7.allocator = &alloc;
            memory.fail_at = 0;
            world_open(world);
            open_text(world, text);
            memory.fail_at = memory.count + fail;
            memory.fails = fails;
            status = edit_and_undo(world, text);
            assert_true(status == DX_OK || status == DX_ERR_NOMEM);
            memory.fail_at = 0;
            if (dx_hermes_undo(world->editor) == DX_OK) /* what could not be undone then */
                assert_int_equal(dx_hermes_undo(world->editor), DX_AGAIN);
            expect(world, text);
            assert_true(fail < 1000);
            world_free(world);
            assert_int_equal(memory.blocks, 0);
        }
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_edit_costs_what_it_touches),
        cmocka_unit_test(undoes_edits_of_all_kinds),
        cmocka_unit_test(an_edit_without_a_change_is_none),
        cmocka_unit_test(tells_what_was_dropped),
        cmocka_unit_test(a_failure_is_taken_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
