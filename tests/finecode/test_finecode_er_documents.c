/* Documents, logs and events (cases 49, 50 and 54). */
#include "finecode/er_demo.h"

#include <dirent.h>
#include <sys/stat.h>

static struct talk talk;
static char folder[64];

static void start(const char *revision) {
    strcpy(folder, "/tmp/duplex-er-XXXXXX");
    assert_non_null(mkdtemp(folder));
    talk_init(&talk);
    dx_finecode_er_config config = talk_config(&talk, revision);
    config.project_path = folder;
    assert_int_equal(dx_finecode_er_new(&config, &talk.er, NULL), DX_OK);
    demo_declare(&talk);
    talk_pipes(&talk);
    talk_greet(&talk);
    talk_configure(&talk, DEMO_CONFIG);
    demo_run(&talk, 2, "keep", "{\"text\":\"t\"}", "");
    talk_quiet(&talk);
}

static void end(void) {
    dx_finecode_job_done(demo_kept, dx_json_none(), 0);
    assert_has(talk_hear(&talk), "\"id\":2");
    demo_stop_talk(&talk);
    rmdir(folder);
}

static void write_file(const char *name, const char *text) {
    char path[200];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void remove_file(const char *name) {
    char path[200];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(unlink(path), 0);
}

static void reads(const char *name, const char *expected) {
    char *text = NULL;
    size_t len = 0;
    dx_error error = {.phrase = ""};
    talk_quiet(&talk); /* what was said before has arrived */
    dx_status status = dx_finecode_job_read(demo_kept, name, &text, &len, &error);
    if (status != DX_OK)
        fail_msg("%s", error.phrase);
    assert_string_equal(text, expected);
    assert_int_equal(len, strlen(expected));
    talk.alloc.free(talk.alloc.ctx, text);
}

/* A notification about FOLDER/name, as it stands in a URI. */
static void tell(const char *method, const char *name, const char *more, const char *rest) {
    char params[700];
    (void)snprintf(params, sizeof params, "{\"textDocument\":{\"uri\":\"file://%s/%s\"%s}%s}",
                   folder, name, more, rest);
    talk_notify(&talk, method, params);
}

#define OPEN(text) ",\"languageId\":\"\",\"version\":0,\"text\":\"" text "\""
#define RANGE(l1, c1, l2, c2)                                                              \
    "\"range\":{\"start\":{\"line\":" #l1 ",\"character\":" #c1 "},\"end\":{\"line\":" #l2 \
    ",\"character\":" #c2 "}}"

static void case_49_documents(void **state) {
    (void)state;
    start("real");
    write_file("a.c", "on disk");
    reads("a.c", "on disk");
    tell("textDocument/didOpen", "a.c", OPEN("in the editor"), "");
    reads("a.c", "in the editor");
    tell("textDocument/didChange", "a.c", ",\"version\":1",
         ",\"contentChanges\":[{" RANGE(0, 7, 0, 13) ",\"text\":\"x\",\"rangeLength\":null}]");
    reads("a.c", "in the x");
    tell("textDocument/didChange", "a.c", ",\"version\":2",
         ",\"contentChanges\":[{\"text\":\"all\"}]");
    reads("a.c", "all");
    /* Open twice: the second text counts. */
    tell("textDocument/didOpen", "a.c", OPEN("again"), "");
    reads("a.c", "again");
    /* Another configuration takes nothing away. */
    talk_configure(&talk, DEMO_CONFIG);
    reads("a.c", "again");
    /* Gone from the disk, still open. */
    remove_file("a.c");
    reads("a.c", "again");
    tell("textDocument/didClose", "a.c", "", "");
    char *text;
    size_t len;
    dx_error error;
    talk_quiet(&talk);
    assert_int_equal(dx_finecode_job_read(demo_kept, "a.c", &text, &len, &error), DX_ERR_SYSTEM);
    assert_int_equal(error.system, ENOENT);
    assert_has(error.phrase, "cannot read");
    assert_has(error.phrase, "/a.c: No such file or directory");
    assert_int_equal(dx_finecode_job_read(demo_kept, folder, &text, &len, &error), DX_ERR_SYSTEM);
    assert_int_equal(error.system, EISDIR);
    end();
}

static void case_49_places_and_names(void **state) {
    (void)state;
    start("seed");
    /* Astral characters are two units of UTF-16. */
    tell("textDocument/didOpen", "u.c", OPEN("a\\ud83d\\ude00b\\nc"), "");
    tell("textDocument/didChange", "u.c", ",\"version\":1",
         ",\"contentChanges\":[{" RANGE(0, 3, 0, 4) ",\"text\":\"B\"},{" RANGE(
             1, 0, 1, 1) ",\"text\":\"C\"}]");
    reads("u.c", "a\xf0\x9f\x98\x80"
                 "B\nC");
    /* Spaces and percent signs, with and without encoding. */
    tell("textDocument/didOpen", "sp%20ace.c", OPEN("one"), "");
    reads("sp ace.c", "one");
    tell("textDocument/didOpen", "100%25.c", OPEN("two"), "");
    reads("100%.c", "two");
    tell("textDocument/didOpen", "raw space.c", OPEN("three"), "");
    reads("raw space.c", "three");
    tell("textDocument/didOpen", "empty.c", OPEN(""), "");
    reads("empty.c", "");
    /* What is not open, no file, or no change. */
    tell("textDocument/didChange", "never.c", ",\"version\":1", ",\"contentChanges\":[]");
    talk_notify(
        &talk, "textDocument/didOpen",
        "{\"textDocument\":{\"uri\":\"untitled:1\",\"languageId\":\"\",\"version\":1,\"text\":"
        "\"\"}}");
    tell("textDocument/didClose", "never.c", "", "");
    talk_quiet(&talk);
    assert_has(talk.log, "ignoring a change of a document that is not open: ");
    assert_has(talk.log, "ignoring a document that is not a local file: untitled:1");
    end();
}

static void case_50_logs(void **state) {
    (void)state;
    demo_start(&talk, "real");
    dx_finecode_er_log(talk.er, "ERROR", "g", dx_str("nobody forwards it"));
    talk_quiet(&talk);
    assert_has(talk.log, "ERROR g: nobody forwards it\n");
    talk_request(&talk, 2, "finecodeRunner/updateLogging",
                 "{\"forward\":true,\"forwardLevel\":\"WARNING\"}");
    talk_result(&talk, 2, "{}");
    dx_finecode_er_log(talk.er, "INFO", "g", dx_str("too low"));
    dx_finecode_er_log(talk.er, "WARNING", "some.group", dx_str("token=abc \xff"));
    char *body = talk_hear(&talk);
    assert_has(body, "{\"jsonrpc\":\"2.0\",\"method\":\"er/logRecords\",\"params\":{\"records\":[{"
                     "\"timestamp\":");
    /* As it is: redacting is the manager's. */
    assert_has(body, ",\"level\":\"WARNING\",\"group\":\"some.group\",\"message\":\"token=abc "
                     "\xef\xbf\xbd\"}]}}");
    double stamp = strtod(strstr(body, "timestamp") + 11, NULL);
    assert_true(stamp > (double)time(NULL) - 100 && stamp < (double)time(NULL) + 100);
    talk_request(&talk, 3, "finecodeRunner/updateLogging",
                 "{\"forward\":false,\"forwardLevel\":\"INFO\"}");
    talk_result(&talk, 3, "{}");
    dx_finecode_er_log(talk.er, "ERROR", NULL, dx_str("off"));
    talk_quiet(&talk);
    dx_finecode_er_tell(talk.er, "WARNING", dx_str("look here"));
    talk_expect(&talk, "{\"jsonrpc\":\"2.0\",\"method\":\"er/userMessage\",\"params\":{\"message\":"
                       "\"look here\",\"type\":\"WARNING\"}}");
    demo_stop_talk(&talk);
}

/* What is logged at all is the configuration's: the longest prefix wins. */
static void case_50_levels(void **state) {
    (void)state;
    demo_start(&talk, "real");
    talk_configure(&talk,
                   "{\"actions\":[],\"action_handler_configs\":{},\"logging\":{\"defaultLevel\":"
                   "\"WARNING\",\"logGroups\":{\"a\":\"ERROR\",\"a.b\":\"debug\"}}}");
    talk.log[0] = '\0';
    dx_finecode_er_log(talk.er, "INFO", "x", dx_str("1"));
    dx_finecode_er_log(talk.er, "WARNING", "x", dx_str("2"));
    dx_finecode_er_log(talk.er, "WARNING", "a", dx_str("3"));
    dx_finecode_er_log(talk.er, "ERROR", "a.c", dx_str("4"));
    dx_finecode_er_log(talk.er, "DEBUG", "a.b", dx_str("5"));
    dx_finecode_er_log(talk.er, "DEBUG", "a.b.c", dx_str("6"));
    dx_finecode_er_log(talk.er, "DEBUG", "a.bc", dx_str("7"));
    dx_finecode_er_log(talk.er, "odd", "x", dx_str("8"));
    assert_string_equal(talk.log, "WARNING x: 2\nERROR a.c: 4\nDEBUG a.b: 5\nDEBUG a.b.c: 6\n");
    demo_stop_talk(&talk);
}

/* The document has no such messages. */
static void case_50_by_the_document(void **state) {
    (void)state;
    demo_start(&talk, "seed");
    talk_request(&talk, 2, "finecodeRunner/updateLogging",
                 "{\"forward\":true,\"forwardLevel\":\"INFO\"}");
    talk_error(&talk, 2, -32601, "");
    dx_finecode_er_log(talk.er, "ERROR", "g", dx_str("kept here"));
    dx_finecode_er_tell(talk.er, "ERROR", dx_str("told"));
    talk_quiet(&talk);
    assert_has(talk.log, "ERROR finecode.user: told\n");
    demo_stop_talk(&talk);
}

/* All of the file that is there. */
static void slurp(const char *path, char *room, size_t size) {
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t len = fread(room, 1, size - 1, file);
    room[len] = '\0';
    fclose(file);
}

static void case_54_events(void **state) {
    (void)state;
    static const char *const types[] = {"run.accepted",      "run.dispatched",
                                        "handler.started",   "partial_result.first_sent",
                                        "handler.completed", "partial_result.final_sent",
                                        "run.completed",     "run.accepted",
                                        "run.dispatched",    "handler.started",
                                        "handler.failed",    "run.failed"};
    char path[200];
    char events[16384];
    strcpy(folder, "/tmp/duplex-er-XXXXXX");
    assert_non_null(mkdtemp(folder));
    talk_init(&talk);
    dx_finecode_er_config config = talk_config(&talk, "real");
    config.wal_folder = folder;
    assert_int_equal(dx_finecode_er_new(&config, &talk.er, NULL), DX_OK);
    demo_declare(&talk);
    talk_pipes(&talk);
    talk_greet(&talk);
    talk_configure(&talk, DEMO_CONFIG);
    demo_run(&talk, 2, "fast", "{\"text\":\"t\",\"n\":1}", ",\"partialResultToken\":1");
    assert_has(talk_hear(&talk), "$/progress");
    assert_has(talk_hear(&talk), "success");
    demo_run(&talk, 3, "fail", "{\"text\":\"t\"}", "");
    assert_has(talk_hear(&talk), "declared failure");
    demo_stop_talk(&talk);
    (void)snprintf(path, sizeof path, "%s/wal-000001.jsonl", folder);
    slurp(path, events, sizeof events);
    unlink(path);
    assert_int_equal(rmdir(folder), 0);
    char *at = events;
    for (size_t i = 0; i < LENGTH(types); i++) {
        char type[80];
        char *line_end = strchr(at, '\n');
        assert_non_null(line_end);
        *line_end = '\0';
        (void)snprintf(type, sizeof type, "\"%s\"", types[i]);
        assert_has(at, type);
        assert_has(at, "\"w-1\"");
        assert_has(at, "\"/ws/project\"");
        at = line_end + 1;
    }
    assert_int_equal(*at, '\0');
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(case_49_documents),
        cmocka_unit_test(case_49_places_and_names),
        cmocka_unit_test(case_50_logs),
        cmocka_unit_test(case_50_levels),
        cmocka_unit_test(case_50_by_the_document),
        cmocka_unit_test(case_54_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
