/* The batch of a turn: what is told, what the turn sees of it, what a decision writes. */
#include "autohand/files.h"

#include <sys/resource.h>

static char call_id[] = "t1";
static struct dx__autohand_call call = {.tool_id = call_id};

static dx_status write_text(struct files *files, const char *path, const char *text) {
    dx_error error = {.phrase = ""};
    dx_status status =
        dx__autohand_batch_write(&files->agent, &call, path, dx_str(text), NULL, &error);
    if (status < 0)
        assert_true(status == DX_ERR_NOMEM || error.phrase[0]);
    return status;
}

static void begin(struct files *files) {
    assert_int_equal(dx__autohand_batch_begin(&files->agent, "turn_1"), DX_OK);
}

static void must_tell(const char *expected) {
    assert_string_equal(told, expected);
    told[0] = '\0';
}

static void must_see(struct files *files, const char *path, const char *text) {
    char *bytes = NULL;
    size_t len;
    dx_error error;
    dx_status status = dx__autohand_batch_read(&files->agent, path, &bytes, &len, &error);
    assert_int_equal(status, text ? DX_OK : DX_GONE);
    assert_int_equal(dx__autohand_batch_creates(&files->agent, path), !text);
    if (text)
        assert_string_equal(bytes, text);
    dx__free(&files->agent.alloc, bytes);
}

static yyjson_mut_val *decide(struct files *files, yyjson_val *params, yyjson_mut_doc *out,
                              const char **ret_why) {
    struct dx__autohand_deciding *deciding =
        dx__autohand_decide_begin(&files->agent, params, out, ret_why);
    while (deciding && !dx__autohand_decide_some(deciding))
        ;
    return deciding ? dx__autohand_decide_end(deciding) : NULL;
}

/* The result as JSON, or why there is none, behind "! ". */
static void must_decide(struct files *files, const char *params, const char *expected) {
    yyjson_doc *doc = yyjson_read(params, strlen(params), 0);
    yyjson_mut_doc *out = yyjson_mut_doc_new(NULL);
    const char *why = NULL;
    char room[1024];
    assert_non_null(doc);
    yyjson_mut_val *result = decide(files, yyjson_doc_get_root(doc), out, &why);
    assert_true((result != NULL) != (why != NULL));
    if (result) {
        yyjson_mut_doc_set_root(out, result);
        char *text = yyjson_mut_write(out, 0, NULL);
        (void)snprintf(room, sizeof room, "%s", text);
        free(text);
    } else {
        (void)snprintf(room, sizeof room, "! %s", why);
    }
    assert_string_equal(room, expected);
    yyjson_mut_doc_free(out);
    yyjson_doc_free(doc);
}

#define ACCEPT(id) "{\"batchId\":\"" id "\",\"action\":\"accept_all\"}"
#define DONE(applied, skipped) \
    "{\"success\":true,\"appliedCount\":" #applied ",\"skippedCount\":" #skipped "}"
#define UNKNOWN(id)                                                                       \
    "{\"success\":false,\"appliedCount\":0,\"skippedCount\":0,\"errors\":[{\"changeId\":" \
    "\"unknown\",\"error\":\"Batch " id " not found or expired\"}]}"
#define WRONG(applied, skipped, id, why)                                          \
    "{\"success\":false,\"appliedCount\":" #applied ",\"skippedCount\":" #skipped \
    ",\"errors\":[{\"changeId\":\"" id "\",\"error\":\"" why "\"}]}"

static void test_told(void **state) {
    struct files *files = *state;
    put(files, "old", "one\n");
    put(files, "gone", "two\n");
    begin(files);
    must_tell("start changes_1 turn_1\n");
    assert_int_equal(write_text(files, "./d//new", "new\n"), DX_OK);
    must_tell("change changes_1 change_changes_1_1 create d/new \"\" \"new\n\" Create d/new by "
              "t1\n");
    assert_int_equal(write_text(files, in_top(files, "old"), "1\n"), DX_OK);
    must_tell("change changes_1 change_changes_1_2 modify old \"one\n\" \"1\n\" Modify old by "
              "t1\n");
    dx_error error;
    assert_int_equal(
        dx__autohand_batch_write(&files->agent, NULL, "gone", (dx_text){NULL, 0}, NULL, &error),
        DX_OK);
    must_tell("change changes_1 change_changes_1_3 delete gone \"two\n\" \"\" Delete gone by "
              "nobody\n");
    assert_int_equal(
        dx__autohand_batch_write(&files->agent, &call, "old", dx_str("2"), "My own", &error),
        DX_OK);
    must_tell("change changes_1 change_changes_1_4 modify old \"one\n\" \"2\" My own by t1\n");
    dx__autohand_batch_end(&files->agent);
    must_tell("end changes_1 4\n");
    dx__autohand_batch_end(&files->agent);
    must_tell("");
    must_have(files, "old", "one\n");
    must_have(files, "gone", "two\n");
    must_have(files, "d/new", NULL);
    must_decide(files, ACCEPT("changes_1"), DONE(4, 0));
    must_tell("modified create d/new t1\nmodified modify old t1\nmodified delete gone \n"
              "modified modify old t1\n");
    must_have(files, "old", "2");
    must_have(files, "gone", NULL);
    must_have(files, "d/new", "new\n");
    must_decide(files, ACCEPT("changes_1"), UNKNOWN("changes_1"));
}

static void test_seen(void **state) {
    struct files *files = *state;
    struct dx__autohand_pending pending;
    put(files, "a", "disk");
    begin(files);
    must_see(files, "a", "disk");
    must_see(files, "b", NULL);
    assert_int_equal(write_text(files, "a", "pending"), DX_OK);
    assert_int_equal(write_text(files, "b", ""), DX_OK);
    must_see(files, "a", "pending");
    must_see(files, "b", "");
    assert_int_equal(write_text(files, "a", NULL), DX_OK);
    must_see(files, "a", NULL);
    assert_int_equal(write_text(files, "a", NULL), DX_GONE);
    assert_int_equal(write_text(files, "none", NULL), DX_GONE);
    assert_true(dx__autohand_batch_pending(&files->agent, 0, &pending));
    assert_string_equal(pending.path, "a");
    assert_true(pending.deleted);
    assert_true(dx__autohand_batch_pending(&files->agent, 1, &pending));
    assert_string_equal(pending.path, "b");
    assert_false(pending.deleted);
    assert_false(dx__autohand_batch_pending(&files->agent, 2, &pending));
    /* What waits for a decision is no longer seen. */
    dx__autohand_batch_end(&files->agent);
    must_see(files, "a", "disk");
    must_see(files, "b", NULL);
    assert_int_equal(write_text(files, "a", "x"), DX_ERR_INVALID);
}

/* Reads of 0.6 and 0.8 know only the disk, and so do further changes of the same file. */
static void test_not_seen(void **state) {
    struct files *files = *state;
    struct dx__autohand_pending pending;
    files->agent.config.compat = DX_AUTOHAND_0_6;
    put(files, "a", "disk");
    begin(files);
    assert_int_equal(write_text(files, "a", "pending"), DX_OK);
    assert_int_equal(write_text(files, "new", "1"), DX_OK);
    must_see(files, "a", "disk");
    must_see(files, "new", NULL);
    assert_false(dx__autohand_batch_pending(&files->agent, 0, &pending));
    put(files, "a", "disk 2");
    told[0] = '\0';
    assert_int_equal(write_text(files, "a", "later"), DX_OK);
    assert_int_equal(write_text(files, "new", "2"), DX_OK);
    must_tell("change changes_1 change_changes_1_3 modify a \"disk 2\" \"later\" Modify a by t1\n"
              "change changes_1 change_changes_1_4 create new \"\" \"2\" Create new by t1\n");
    dx__autohand_batch_end(&files->agent);
    put(files, "a", "by hand"); /* which they don't notice */
    must_decide(files, ACCEPT("changes_1"), DONE(4, 0));
    must_have(files, "a", "later");
    must_have(files, "new", "2");
}

static void three(struct files *files) {
    begin(files);
    assert_int_equal(write_text(files, "a", "A"), DX_OK);
    assert_int_equal(write_text(files, "b", "B"), DX_OK);
    assert_int_equal(write_text(files, "c", "C"), DX_OK);
    dx__autohand_batch_end(&files->agent);
}

static void test_reject(void **state) {
    struct files *files = *state;
    three(files);
    must_decide(files, "{\"batchId\":\"changes_1\",\"action\":\"reject_all\"}", DONE(0, 3));
    must_have(files, "a", NULL);
    must_decide(files, ACCEPT("changes_1"), UNKNOWN("changes_1"));
}

#define SELECT(ids) \
    "{\"batchId\":\"changes_1\",\"action\":\"accept_selected\",\"selectedChangeIds\":[" ids "]}"

static void test_select(void **state) {
    struct files *files = *state;
    three(files);
    must_decide(files,
                SELECT("\"change_changes_1_3\",\"change_changes_1_1\",\"change_changes_1_3\""),
                DONE(2, 1));
    must_have(files, "a", "A");
    must_have(files, "b", NULL);
    must_have(files, "c", "C");
}

static void test_select_none(void **state) {
    struct files *files = *state;
    three(files);
    must_decide(files, SELECT(""), DONE(0, 3));
    must_have(files, "a", NULL);
}

static void test_select_unknown(void **state) {
    static const char *const ids[] = {"x",
                                      "",
                                      "change_changes_1_",
                                      "change_changes_1_0",
                                      "change_changes_1_4",
                                      "change_changes_1_01",
                                      "change_changes_1_-1",
                                      "change_changes_1_1x",
                                      "change_changes_2_1",
                                      "change_changes_1_18446744073709551617"};
    struct files *files = *state;
    for (size_t i = 0; i < LENGTH(ids); i++) {
        char params[200];
        char result[300];
        files->agent.ids = 0;
        three(files);
        (void)snprintf(params, sizeof params, SELECT("\"%s\""), ids[i]);
        (void)snprintf(result, sizeof result, WRONG(0, 3, "%s", "No such change in this batch"),
                       ids[i]);
        must_decide(files, params, result);
        must_have(files, "a", NULL);
    }
    files->agent.config.compat = DX_AUTOHAND_0_8;
    files->agent.ids = 0;
    three(files);
    must_decide(files, SELECT("\"x\""), DONE(0, 3));
}

static void test_actions(void **state) {
    struct files *files = *state;
    three(files);
    must_decide(files, "{\"batchId\":\"changes_1\"}",
                "! Missing required parameters: batchId, action");
    must_decide(files, "{\"action\":\"accept_all\"}",
                "! Missing required parameters: batchId, action");
    must_decide(files, "{\"batchId\":1,\"action\":\"accept_all\"}",
                "! Missing required parameters: batchId, action");
    must_decide(files, "{\"batchId\":\"\",\"action\":\"\"}",
                "! Missing required parameters: batchId, action");
    must_decide(files, "{\"batchId\":\"changes_1\",\"action\":\"accept\"}",
                "! Invalid action: expected accept_all, reject_all or accept_selected");
    must_decide(files, "{\"batchId\":\"changes_1\",\"action\":\"accept_selected\"}",
                "! Missing required parameter: selectedChangeIds");
    must_decide(files, ACCEPT("changes_2"), UNKNOWN("changes_2"));
    must_have(files, "a", NULL);
    must_decide(files, ACCEPT("changes_1"), DONE(3, 0));
}

/* What the real ones make of it. */
static void test_actions_of_0_8(void **state) {
    static const char *const params[] = {"{\"batchId\":\"changes_1\",\"action\":\"accept\"}",
                                         "{\"batchId\":\"changes_1\",\"action\":"
                                         "\"accept_selected\"}"};
    struct files *files = *state;
    files->agent.config.compat = DX_AUTOHAND_0_8;
    for (size_t i = 0; i < LENGTH(params); i++) {
        files->agent.ids = 0;
        three(files);
        must_decide(files, params[i], DONE(3, 0));
        must_have(files, "c", "C");
    }
}

static void test_expired(void **state) {
    struct files *files = *state;
    char id[300];
    char params[400];
    char result[600];
    three(files);
    begin(files);
    must_decide(files, ACCEPT("changes_1"), UNKNOWN("changes_1"));
    must_decide(files, ACCEPT("changes_2"), UNKNOWN("changes_2")); /* it is still open */
    dx__autohand_batch_end(&files->agent);
    must_decide(files, ACCEPT("changes_2"), UNKNOWN("changes_2")); /* nothing was in it */
    must_have(files, "a", NULL);
    /* An id of any length, cut between two characters. */
    for (size_t i = 0; i < 298; i += 2)
        memcpy(id + i, "ü", 2);
    id[298] = '\0';
    (void)snprintf(params, sizeof params, ACCEPT("%s"), id);
    id[112] = '\0';
    (void)snprintf(result, sizeof result, UNKNOWN("%s"), id);
    must_decide(files, params, result);
}

static void test_stale(void **state) {
    struct files *files = *state;
    put(files, "changed", "1");
    put(files, "deleted", "1");
    put(files, "fine", "1");
    begin(files);
    assert_int_equal(write_text(files, "changed", "2"), DX_OK);
    assert_int_equal(write_text(files, "deleted", "2"), DX_OK);
    assert_int_equal(write_text(files, "created", "2"), DX_OK);
    assert_int_equal(write_text(files, "fine", "2"), DX_OK);
    dx__autohand_batch_end(&files->agent);
    put(files, "changed", "by hand");
    put(files, "created", "by hand");
    assert_int_equal(unlink(in_top(files, "deleted")), 0);
    must_decide(files, ACCEPT("changes_1"),
                "{\"success\":false,\"appliedCount\":1,\"skippedCount\":0,\"errors\":["
                "{\"changeId\":\"change_changes_1_1\",\"error\":\"changed changed after preview; "
                "review and retry.\"},"
                "{\"changeId\":\"change_changes_1_2\",\"error\":\"deleted was deleted after "
                "preview; review and retry.\"},"
                "{\"changeId\":\"change_changes_1_3\",\"error\":\"created was created after "
                "preview; review and retry.\"}]}");
    must_have(files, "changed", "by hand");
    must_have(files, "deleted", NULL);
    must_have(files, "created", "by hand");
    must_have(files, "fine", "2");
}

static void test_stale_off(void **state) {
    struct files *files = *state;
    files->agent.settings.stale_off = true;
    put(files, "a", "1");
    begin(files);
    assert_int_equal(write_text(files, "a", "2"), DX_OK);
    assert_int_equal(write_text(files, "b", "2"), DX_OK);
    dx__autohand_batch_end(&files->agent);
    put(files, "a", "by hand");
    put(files, "b", "by hand");
    must_decide(files, ACCEPT("changes_1"), DONE(2, 0));
    must_have(files, "a", "2");
    must_have(files, "b", "2");
}

/* Several changes of one file: each is told against the disk, so that any of them can be accepted
 * alone; all of them are no conflict of each other. */
static void test_same_file(void **state) {
    struct files *files = *state;
    for (int round = 0; round < 2; round++) {
        files->agent.ids = 0;
        put(files, "a", "0");
        begin(files);
        assert_int_equal(write_text(files, "a", "1"), DX_OK);
        assert_int_equal(write_text(files, "a", "2"), DX_OK);
        assert_int_equal(write_text(files, "n", "1"), DX_OK);
        assert_int_equal(write_text(files, "n", NULL), DX_OK);
        assert_int_equal(write_text(files, "n", "3"), DX_OK);
        dx__autohand_batch_end(&files->agent);
        if (round == 0)
            must_decide(files, ACCEPT("changes_1"), DONE(5, 0));
        else
            must_decide(files, SELECT("\"change_changes_1_2\",\"change_changes_1_5\""), DONE(2, 3));
        must_have(files, "a", "2");
        must_have(files, "n", "3");
        assert_int_equal(unlink(in_top(files, "n")), 0);
    }
}

/* A file becomes a folder; what cannot be both is refused before anybody is shown it. */
static void test_file_or_folder(void **state) {
    struct files *files = *state;
    put(files, "a", "old");
    begin(files);
    assert_int_equal(write_text(files, "a/b", "x"), DX_ERR_INVALID);
    assert_int_equal(write_text(files, "a", NULL), DX_OK);
    assert_int_equal(write_text(files, "a/b/c", "new"), DX_OK);
    must_see(files, "a/b/c", "new");
    must_see(files, "a/b/d", NULL);
    assert_int_equal(write_text(files, "a", "x"), DX_ERR_INVALID);
    assert_int_equal(write_text(files, "a/b", "x"), DX_ERR_INVALID);
    assert_int_equal(write_text(files, "a/b/c/d", "x"), DX_ERR_INVALID);
    assert_int_equal(write_text(files, "a/b-", "x"), DX_OK);
    dx__autohand_batch_end(&files->agent);
    must_decide(files, ACCEPT("changes_1"), DONE(3, 0));
    must_have(files, "a/b/c", "new");
    must_have(files, "a/b-", "x");
}

static void test_errors(void **state) {
    struct files *files = *state;
    put(files, "x", "");
    begin(files);
    assert_int_equal(write_text(files, "x/y", "1"), DX_ERR_INVALID);
    assert_int_equal(write_text(files, "d/y", "1"), DX_OK);
    assert_int_equal(write_text(files, "z", "1"), DX_OK);
    dx__autohand_batch_end(&files->agent);
    put(files, "d", "a file where a folder should be");
    must_decide(files, ACCEPT("changes_1"),
                WRONG(1, 0, "change_changes_1_1", "d/y: a part of the path is not a folder"));
    must_have(files, "z", "1");
}

/* Nothing of the batch shows a path that leads out, and a way out that came later is not taken. */
static void test_escapes(void **state) {
    struct files *files = *state;
    put(files, "../outside/secret", "secret");
    put(files, "d/secret", "mine");
    assert_int_equal(symlink("../outside", in_top(files, "out")), 0);
    assert_int_equal(symlink("../outside/secret", in_top(files, "file")), 0);
    begin(files);
    told[0] = '\0';
    static const char *const paths[] = {"../outside/secret", "out/secret", "out/new", "file",
                                        "/etc/passwd",       "",           "d/../x",  "."};
    for (size_t i = 0; i < LENGTH(paths); i++) {
        char *bytes = NULL;
        size_t len;
        dx_error error;
        assert_int_equal(write_text(files, paths[i], "evil"), DX_ERR_INVALID);
        assert_int_equal(write_text(files, paths[i], NULL), DX_ERR_INVALID);
        assert_int_equal(dx__autohand_batch_read(&files->agent, paths[i], &bytes, &len, &error),
                         DX_ERR_INVALID);
        assert_false(dx__autohand_batch_creates(&files->agent, paths[i]));
    }
    must_tell("");
    assert_int_equal(write_text(files, "d/secret", "changed"), DX_OK);
    assert_int_equal(write_text(files, "d/new", "new"), DX_OK);
    dx__autohand_batch_end(&files->agent);
    assert_int_equal(rename(in_top(files, "d"), in_top(files, "d2")), 0);
    assert_int_equal(symlink("../outside", in_top(files, "d")), 0);
    must_decide(files, ACCEPT("changes_1"),
                "{\"success\":false,\"appliedCount\":0,\"skippedCount\":0,\"errors\":[{"
                "\"changeId\":\"change_changes_1_1\",\"error\":\"d/secret: leads outside the "
                "workspace\"},{\"changeId\":\"change_changes_1_2\",\"error\":\"d/new: leads "
                "outside the workspace\"}]}");
    must_have(files, "../outside/secret", "secret");
    must_have(files, "../outside/new", NULL);
}

static void test_own(void **state) {
    struct files *files = *state;
    begin(files);
    told[0] = '\0';
    assert_int_equal(write_text(files, ".autohand/settings.local.json", "{}"), DX_ERR_INVALID);
    must_tell("");
    /* A link that comes after the preview. */
    put(files, ".autohand/settings.local.json", "{}");
    assert_int_equal(write_text(files, "d/settings.local.json", "evil"), DX_OK);
    dx__autohand_batch_end(&files->agent);
    assert_int_equal(symlink(".autohand", in_top(files, "d")), 0);
    files->agent.settings.stale_off = true;
    must_decide(
        files, ACCEPT("changes_1"),
        WRONG(0, 0, "change_changes_1_1",
              "d/settings.local.json: belongs to the agent and must not be changed by a tool"));
    must_have(files, ".autohand/settings.local.json", "{}");
}

static void test_limits(void **state) {
    struct files *files = *state;
    static char text[3001];
    memset(text, 'x', 3000);
    files->agent.workspace.file_max = 3000;
    files->agent.config.batch_max = 2 * (3000 + 1 + 256);
    begin(files);
    assert_int_equal(write_text(files, "a", text), DX_OK);
    assert_int_equal(write_text(files, "b", text), DX_OK);
    assert_int_equal(write_text(files, "c", ""), DX_ERR_LIMIT);
    dx__autohand_batch_end(&files->agent);
    must_decide(files, ACCEPT("changes_1"), DONE(2, 0));
    must_have(files, "c", NULL);
    begin(files);
    /* What was there counts as well. */
    files->agent.config.batch_max = 3000 + 256;
    assert_int_equal(write_text(files, "a", "x"), DX_ERR_LIMIT);
    files->agent.config.batch_max = 3000 + 256 + 2;
    assert_int_equal(write_text(files, "a", "x"), DX_OK);
    files->agent.workspace.file_max = 2999;
    assert_int_equal(write_text(files, "b", text), DX_ERR_LIMIT);
    assert_int_equal(write_text(files, "b", "\xff"), DX_ERR_INVALID);
    assert_int_equal(write_text(files, "b", "x"), DX_ERR_LIMIT); /* the old one is too large */
}

static void test_no_preview(void **state) {
    struct files *files = *state;
    files->agent.config.no_preview = 1;
    put(files, "a", "1");
    begin(files);
    assert_int_equal(write_text(files, "a", "2"), DX_OK);
    assert_int_equal(write_text(files, "b", "2"), DX_OK);
    assert_int_equal(write_text(files, "a", NULL), DX_OK);
    assert_int_equal(write_text(files, "a", NULL), DX_GONE);
    assert_int_equal(write_text(files, "../a", "x"), DX_ERR_INVALID);
    must_have(files, "a", NULL);
    must_have(files, "b", "2");
    dx__autohand_batch_end(&files->agent);
    must_tell("modified modify a t1\nmodified create b t1\nmodified delete a t1\n");
}

static void test_many(void **state) {
    struct files *files = *state;
    char name[32];
    begin(files);
    for (int i = 0; i < 10000; i++) {
        told[0] = '\0';
        (void)snprintf(name, sizeof name, "f%d", i * 7919 % 10000);
        assert_int_equal(write_text(files, name, "x"), DX_OK);
    }
    struct dx__autohand_pending pending;
    char last[32] = "";
    for (size_t i = 0; i < 10000; i++) {
        assert_true(dx__autohand_batch_pending(&files->agent, i, &pending));
        assert_true(strcmp(last, pending.path) < 0);
        (void)snprintf(last, sizeof last, "%s", pending.path);
    }
    dx__autohand_batch_end(&files->agent);
    must_decide(files, "{\"batchId\":\"changes_1\",\"action\":\"reject_all\"}", DONE(0, 10000));
}

/* More than are staged at a time. */
static void test_many_written(void **state) {
    struct files *files = *state;
    char name[32];
    begin(files);
    for (int i = 0; i < 400; i++) {
        (void)snprintf(name, sizeof name, "d%d/f%d", i % 7, i % 300);
        assert_int_equal(write_text(files, name, i < 300 ? "x" : "y"), DX_OK);
    }
    told[0] = '\0';
    dx__autohand_batch_end(&files->agent);
    must_decide(files, ACCEPT("changes_1"), DONE(400, 0));
    for (int i = 0; i < 400; i++) {
        (void)snprintf(name, sizeof name, "d%d/f%d", i % 7, i % 300);
        must_have(files, name, i < 300 ? "x" : "y");
    }
}

/* Ids that nobody knows are named, but not without end. */
static void test_many_strange(void **state) {
    struct files *files = *state;
    yyjson_mut_doc *in = yyjson_mut_doc_new(NULL);
    yyjson_mut_doc *out = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *params = yyjson_mut_obj(in);
    yyjson_mut_val *ids = yyjson_mut_arr(in);
    const char *why = NULL;
    begin(files);
    assert_int_equal(write_text(files, "a", "x"), DX_OK);
    dx__autohand_batch_end(&files->agent);
    for (int i = 0; i < 5000; i++)
        assert_true(yyjson_mut_arr_add_str(in, ids, i == 4000 ? "change_changes_1_1" : "y"));
    yyjson_mut_obj_add_str(in, params, "batchId", "changes_1");
    yyjson_mut_obj_add_str(in, params, "action", "accept_selected");
    yyjson_mut_obj_add_val(in, params, "selectedChangeIds", ids);
    yyjson_mut_doc_set_root(in, params);
    yyjson_doc *given = yyjson_mut_doc_imut_copy(in, NULL);
    yyjson_mut_val *result = decide(files, yyjson_doc_get_root(given), out, &why);
    assert_int_equal(yyjson_mut_get_uint(yyjson_mut_obj_get(result, "appliedCount")), 1);
    assert_int_equal(yyjson_mut_arr_size(yyjson_mut_obj_get(result, "errors")), 100);
    must_have(files, "a", "x");
    yyjson_doc_free(given);
    yyjson_mut_doc_free(in);
    yyjson_mut_doc_free(out);
}

/* With few descriptors it takes longer. */
static void test_few_descriptors(void **state) {
    struct files *files = *state;
    struct rlimit before;
    char name[32];
    int next = dup(0);
    begin(files);
    for (int i = 0; i < 100; i++) {
        (void)snprintf(name, sizeof name, "f%d", i);
        assert_int_equal(write_text(files, name, "x"), DX_OK);
    }
    dx__autohand_batch_end(&files->agent);
    assert_true(next >= 0);
    (void)close(next);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &(struct rlimit){(rlim_t)next + 15, before.rlim_max}),
                     0);
    must_decide(files, ACCEPT("changes_1"), DONE(100, 0));
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    must_have(files, "f99", "x");
}

/* Memory that runs out at any point: nothing leaks, and the batch has whole changes only. */
static void test_memory(void **state) {
    struct files *files = *state;
    put(files, "a", "disk");
    for (size_t at = 1;; at++) {
        dx_error error;
        files->agent.ids = 0;
        told[0] = '\0';
        files->memory.count = 0;
        files->memory.fail_at = at;
        files->memory.fails = 1;
        bool ok = dx__autohand_batch_begin(&files->agent, "t") == DX_OK;
        for (int i = 0; ok && i < 20; i++) {
            char name[8];
            (void)snprintf(name, sizeof name, "%c%d", i < 3 ? 'a' : 'b', i);
            dx_status status = dx__autohand_batch_write(&files->agent, &call, i < 3 ? "a" : name,
                                                        dx_str("x"), NULL, &error);
            assert_true(status == DX_OK || status == DX_ERR_NOMEM);
        }
        bool reached = files->memory.count >= at;
        files->memory.fail_at = 0;
        if (ok) {
            size_t count = files->agent.open->count;
            assert_true(count == (reached ? 19 : 20));
            for (size_t i = 0; i < count; i++)
                assert_non_null(files->agent.open->changes[i].text);
            for (size_t i = 0; i < files->agent.open->file_count; i++)
                assert_true(files->agent.open->files[i]->last < count);
            must_see(files, "a", "x");
        }
        dx__autohand_batch_free(&files->agent);
        if (!reached)
            break;
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define ROW(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        ROW(test_told),           ROW(test_seen),
        ROW(test_not_seen),       ROW(test_reject),
        ROW(test_select),         ROW(test_select_none),
        ROW(test_select_unknown), ROW(test_actions),
        ROW(test_actions_of_0_8), ROW(test_expired),
        ROW(test_stale),          ROW(test_stale_off),
        ROW(test_same_file),      ROW(test_errors),
        ROW(test_escapes),        ROW(test_own),
        ROW(test_limits),         ROW(test_no_preview),
        ROW(test_many),           ROW(test_many_written),
        ROW(test_many_strange),   ROW(test_few_descriptors),
        ROW(test_memory),         ROW(test_file_or_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
