/* Permissions, prompts and aborts as a client says them. */
#include "autohand/client_talk.h"

#define ASKS(id)                                                                  \
    "n permissionRequest {\"requestId\": \"" id "\", \"tool\": \"run_command\", " \
    "\"description\": \"Run this?\", \"context\": {\"command\": \"ls -l\"}}"

/* 32, 33, 39, 41: what is sent for each decision. Plain ones are in the oldest form; all have
 * `allowed`, which older agents need. */
static void test_decisions(void **state) {
    static const struct {
        dx_autohand_decision decision;
        const char *alternative;
        const char *sent;
        size_t denied;
    } rows[] = {
        {DX_AUTOHAND_ALLOW_ONCE, NULL, "{\"allowed\": true, \"decision\": null}", 0},
        {DX_AUTOHAND_DENY_ONCE, NULL, "{\"allowed\": false, \"decision\": null}", 1},
        {DX_AUTOHAND_ALLOW_SESSION, NULL, "{\"allowed\": true, \"decision\": \"allow_session\"}",
         0},
        {DX_AUTOHAND_DENY_SESSION, NULL, "{\"allowed\": false, \"decision\": \"deny_session\"}", 1},
        {DX_AUTOHAND_ALLOW_PROJECT, NULL,
         "{\"allowed\": true, \"decision\": \"allow_always_project\"}", 0},
        {DX_AUTOHAND_DENY_PROJECT, NULL,
         "{\"allowed\": false, \"decision\": \"deny_always_project\"}", 1},
        {DX_AUTOHAND_ALLOW_USER, NULL, "{\"allowed\": true, \"decision\": \"allow_always_user\"}",
         0},
        {DX_AUTOHAND_DENY_USER, NULL, "{\"allowed\": false, \"decision\": \"deny_always_user\"}",
         1},
        {DX_AUTOHAND_ALLOW_ONCE, "ls",
         "{\"allowed\": false, \"decision\": \"alternative\", \"alternative\": \"ls\"}", 0},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        char script[1024];
        struct talk *talk = talk_new();
        talk->decision = rows[i].decision;
        talk->alternative = rows[i].alternative;
        snprintf(
            script, sizeof script,
            "start\nturn 2 " ASKS(
                "p") " ;; < permissionAcknowledged {\"requestId\": \"p\"} ;; "
                     "a permissionAcknowledged {\"success\": true} ;; < permissionResponse %s ;; a "
                     "permissionResponse {\"success\": true}",
            rows[i].sent);
        talk_once(talk, "doc", script);
        must_tell(talk, "permission p run_command\nasks run_command|Run this?||ls -l\n");
        assert_int_equal(talk->turn.denied, rows[i].denied);
        assert_int_equal(talk->turn.success, 1);
        assert_int_equal(talk->violations, 0);
        talk_end(talk);
    }
}

/* An agent that asks without end does not fill the memory: 1,000 may wait, what is more is denied.
 */
static void test_many_questions(void **state) {
    (void)state;
    for (int more = 0; more < 2; more++) {
        char script[1024];
        struct talk *talk = talk_new();
        talk->keep = 1;
        snprintf(script, sizeof script,
                 "start\nturn 2 repeat %d n permissionRequest {\"requestId\": \"pNUMBER\", "
                 "\"tool\": \"t\", \"description\": \"d\"} ;; < %s",
                 1000 + more,
                 more ? "permissionResponse {\"requestId\": \"p1000\", \"allowed\": false} ;; a "
                        "permissionResponse {\"success\": true}"
                      : "permissionAcknowledged {\"requestId\": \"p0\"} ;; a "
                        "permissionAcknowledged {\"success\": true}");
        talk_once(talk, "doc", script);
        assert_int_equal(talk->turn.denied, more);
        assert_int_equal(talk->violations, more);
        assert_string_equal(talk->permission, "p999");
        if (more)
            assert_non_null(strstr(talk->phrase, "denying this one"));
        talk_end(talk);
    }
}

/* 4,096 bytes are an id; more is answered by nobody. */
static void test_long_id(void **state) {
    (void)state;
    for (int more = 0; more < 2; more++) {
        char script[8192];
        char id[4098];
        struct talk *talk = talk_new();
        memset(id, 'x', sizeof id);
        id[4096 + more] = '\0';
        snprintf(script, sizeof script,
                 "start\nturn 2 n permissionRequest {\"requestId\": \"%s\", \"tool\": \"t\", "
                 "\"description\": \"d\"}",
                 id);
        talk_once(talk, "doc", script);
        assert_int_equal(talk->violations, more);
        (more ? must_not_tell : must_tell)(talk, "asks t|d||\n");
        talk_end(talk);
    }
}

/* Nobody who could be asked: denied. A folder, which newer agents ask for by another name. */
static void test_nobody(void **state) {
    (void)state;
    struct talk *talk = talk_new();
    talk->config.on_permission = NULL;
    talk_once(talk, "0.8",
              "start\nturn 2 " ASKS("p") " ;; < permissionResponse {\"requestId\": \"p\", "
                                         "\"allowed\": false} ;; a permissionResponse "
                                         "{\"success\": true}");
    assert_int_equal(talk->turn.denied, 1);
    talk_end(talk);
    for (int allowed = 0; allowed < 2; allowed++) {
        char script[1024];
        talk = talk_new();
        talk->decision = allowed ? DX_AUTOHAND_ALLOW_SESSION : DX_AUTOHAND_DENY_ONCE;
        snprintf(script, sizeof script,
                 "start\nturn 2 n directoryAccessRequest {\"requestId\": \"d\", \"path\": "
                 "\"/x\"} ;; < directoryAccessAcknowledged {\"requestId\": \"d\"} ;; e "
                 "directoryAccessAcknowledged -32601 what ;; < directoryAccessResponse "
                 "{\"requestId\": \"d\", \"granted\": %s} ;; a directoryAccessResponse "
                 "{\"success\": true}",
                 allowed ? "true" : "false");
        talk_once(talk, "later", script);
        must_tell(talk,
                  "asks directory_access|Allow access to a folder outside the workspace?|/x|\n");
        assert_int_equal(talk->violations, 0);
        talk_end(talk);
    }
}

/* 36, 40: two at once, answered in reverse; twice; unknown; asked twice; without an id. */
static void test_open(void **state) {
    struct talk *talk = talk_new();
    (void)state;
    talk->keep = 1;
    assert_int_equal(
        talk_go(talk, "0.8",
                "start\nturn 2 " ASKS("p") " ;; " ASKS("q") " ;; " ASKS(
                    "p") " ;; n permissionRequest {\"tool\": \"x\"} ;; < permissionResponse "
                         "{\"requestId\": \"q\", \"allowed\": false} ;; a permissionResponse "
                         "{\"success\": true} ;; < permissionResponse {\"requestId\": \"p\", "
                         "\"allowed\": true} ;; a permissionResponse {\"success\": false} ;; " ASKS(
                             "r")),
        DX_OK);
    talk_prompt(talk, "hi");
    talk_until(talk, &talk->violations, 1);
    talk_until(talk, &talk->violations, 2);
    assert_non_null(strstr(talk->phrase, "cannot be answered"));
    assert_string_equal(talk->permission, "q"); /* and not the first once more */
    dx_text none = dx_str(NULL);
    assert_int_equal(
        dx_autohand_client_permit(talk->client, dx_str("x"), DX_AUTOHAND_ALLOW_ONCE, none),
        DX_GONE);
    assert_int_equal(
        dx_autohand_client_permit(talk->client, dx_str("q"), (dx_autohand_decision)99, none),
        DX_ERR_INVALID);
    assert_int_equal(dx_autohand_client_permit(talk->client, dx_str("q"), DX_AUTOHAND_ALLOW_ONCE,
                                               dx_str("\xff")),
                     DX_ERR_INVALID);
    assert_int_equal(
        dx_autohand_client_permit(talk->client, dx_str("q"), DX_AUTOHAND_DENY_ONCE, none), DX_OK);
    assert_int_equal(
        dx_autohand_client_permit(talk->client, dx_str("q"), DX_AUTOHAND_DENY_ONCE, none), DX_GONE);
    assert_int_equal(
        dx_autohand_client_permit(talk->client, dx_str("p"), DX_AUTOHAND_ALLOW_ONCE, none), DX_OK);
    talk_until(talk, &talk->turns, 1);
    /* Its turn is over. */
    assert_string_equal(talk->permission, "r");
    assert_int_equal(
        dx_autohand_client_permit(talk->client, dx_str("r"), DX_AUTOHAND_ALLOW_ONCE, none),
        DX_GONE);
    assert_int_equal(talk->turn.denied, 1);
    talk_end(talk);
}

/* One that asks and asks, but listens to no answer: only so much waits for it. */
static void test_unheard(void **state) {
    struct talk *talk = talk_new();
    dx_text none = dx_str(NULL);
    (void)state;
    talk->keep = 1;
    talk->config.child.link.peer.calls_max = 4; /* the prompt is one */
    assert_int_equal(talk_go(talk, "0.8", "start\nturn 2 repeat 10 " ASKS("pNUMBER") " ;; sleep 1"),
                     DX_OK);
    talk_prompt(talk, "hi");
    talk_until(talk, &talk->violations, 7);
    assert_non_null(strstr(talk->phrase, "does not read the responses"));
    assert_string_equal(talk->permission, "p2");
    assert_int_equal(
        dx_autohand_client_permit(talk->client, dx_str("p2"), DX_AUTOHAND_ALLOW_ONCE, none),
        DX_BUSY);
    assert_int_equal(
        dx_autohand_client_permit(talk->client, dx_str("p3"), DX_AUTOHAND_ALLOW_ONCE, none),
        DX_GONE);
    talk_until(talk, &talk->turns, 1);
    talk_end(talk);
}

/* 28, 29: all that a prompt can carry, as it goes over the wire. */
static void test_prompt(void **state) {
    const char *files[] = {"a.c", "b ü.c", NULL};
    const dx_autohand_image images[] = {
        {.mime_type = "image/png", .filename = "x.png", .bytes = {"\x00\xff\x10", 3}},
        {.mime_type = "image/gif", .bytes = {"GIF8", 4}},
        {.mime_type = "image/webp", .bytes = {"", 0}},
    };
    const dx_autohand_prompt prompt = {
        .message = dx_str("say \xe2\x80\xa8 \"hi\""),
        .files = files,
        .selection_file = "c.c",
        .selection_start = 3,
        .selection_end = 4,
        .selection_text = dx_str("x\ny\n"),
        .images = images,
        .image_count = 3,
    };
    struct talk *talk = talk_new();
    (void)state;
    assert_int_equal(
        talk_go(
            talk, "doc",
            "start\n< prompt {\"message\": \"say \\u2028 \\\"hi\\\"\", \"context\": {\"files\": "
            "[\"a.c\", \"b ü.c\"], \"selection\": {\"file\": \"c.c\", \"startLine\": 3, "
            "\"endLine\": 4, \"text\": \"x\\ny\\n\"}}, \"images\": [{\"data\": \"AP8Q\", "
            "\"mimeType\": \"image/png\", \"filename\": \"x.png\"}, {\"data\": \"R0lGOA==\", "
            "\"mimeType\": \"image/gif\"}, {\"data\": \"\", \"mimeType\": "
            "\"image/webp\"}]}\nn turnStart {\"turnId\": \"t\"}\nn turnEnd {\"turnId\": "
            "\"t\"}\na prompt {\"success\": true}"),
        DX_OK);
    assert_int_equal(dx_autohand_client_prompt(talk->client, &prompt, NULL), DX_OK);
    talk_until(talk, &talk->turns, 1);
    assert_int_equal(talk->turn.success, 1);
    talk_end(talk);
}

static void test_bad_prompts(void **state) {
    const char *files[] = {"\xff", NULL};
    char *large = calloc(1, (10 << 20) + 1);
    const dx_autohand_image bad_type = {.mime_type = "image/bmp", .bytes = {"x", 1}};
    const dx_autohand_image no_type = {.bytes = {"x", 1}};
    const dx_autohand_image too_large = {.mime_type = "image/png",
                                         .bytes = {large, (10 << 20) + 1}};
    const dx_autohand_image bad_name = {
        .mime_type = "image/png", .filename = "\xff", .bytes = {"x", 1}};
    const dx_text hi = dx_str("hi");
    const dx_autohand_prompt rows[] = {
        {.message = dx_str("")},
        {.message = dx_str(NULL)},
        {.message = dx_str("\xff")},
        {.message = hi, .files = files},
        {.message = hi, .selection_file = "\xff"},
        {.message = hi, .selection_file = "x", .selection_text = dx_str("\xff")},
        {.message = hi, .images = &bad_type, .image_count = 1},
        {.message = hi, .images = &no_type, .image_count = 1},
        {.message = hi, .images = &too_large, .image_count = 1},
        {.message = hi, .images = &bad_name, .image_count = 1},
    };
    struct talk *talk = talk_new();
    (void)state;
    assert_int_equal(talk_go(talk, "doc", "start\nturn 1"), DX_OK);
    for (size_t i = 0; i < LENGTH(rows); i++) {
        talk->error.phrase[0] = '\0';
        assert_int_equal(dx_autohand_client_prompt(talk->client, &rows[i], &talk->error),
                         DX_ERR_INVALID);
        assert_true(talk->error.phrase[0]);
        assert_int_equal(dx_autohand_client_prompt(talk->client, &rows[i], NULL), DX_ERR_INVALID);
    }
    /* The limit itself is fine, and none of these was a turn. */
    const dx_autohand_image just = {.mime_type = "image/png", .bytes = {large, 10 << 20}};
    const dx_autohand_prompt last = {.message = hi, .images = &just, .image_count = 1};
    assert_int_equal(dx_autohand_client_prompt(talk->client, &last, NULL), DX_OK);
    talk_until(talk, &talk->turns, 1);
    talk_end(talk);
    free(large);
}

/* A prompt that is longer than a message may be, before the agent is ready and after. */
static void test_long_prompt(void **state) {
    (void)state;
    for (int early = 0; early < 2; early++) {
        struct talk *talk = talk_new();
        char *text = malloc(5001);
        dx_autohand_prompt prompt = {.message = {text, 5000}};
        memset(text, 'x', 5000);
        talk->config.child.link.peer.message_max = 4096;
        assert_int_equal(talk_go(talk, "doc", "start\nturn 1"), DX_OK);
        if (!early)
            talk_until_told(talk, "start ");
        dx_status status = dx_autohand_client_prompt(talk->client, &prompt, &talk->error);
        assert_int_equal(status, early ? DX_OK : DX_ERR_LIMIT);
        if (early)
            talk_until(talk, &talk->turns, 1);
        assert_non_null(
            strstr(early ? talk->why : talk->error.phrase, "longer than the limit for a message"));
        prompt.message.len = 3000;
        assert_int_equal(dx_autohand_client_prompt(talk->client, &prompt, NULL), DX_OK);
        talk_until(talk, &talk->turns, early ? 2 : 1);
        assert_int_equal(talk->turn.success, 1);
        talk_end(talk);
        free(text);
    }
}

#define BEGUN "start\n< prompt\nn turnStart {\"turnId\": \"t\"}\n"

/* 42, 43, 46: what an abort comes to. */
static void test_abort(void **state) {
    static const struct {
        const char *script;
        const char *why;
        int success, aborted, code;
        uint64_t call_ms;
    } rows[] = {
        /* As the document has it, and as later ones do. */
        {BEGUN "< abort\na abort {\"success\": true}\nn messageEnd {\"messageId\": \"m\", "
               "\"content\": \"\", \"aborted\": true}\nn turnEnd {\"turnId\": \"t\"}\ne prompt "
               "-32004 Aborted",
         "abort", 0, 1, -32004, 30000},
        {"start\n< prompt\na prompt {\"success\": true}\nn turnStart {\"turnId\": \"t\"}\n< "
         "abort\na abort {\"success\": true}\nn turnEnd {\"turnId\": \"t\", \"reason\": "
         "\"aborted\"}",
         "abort", 0, 1, -32004, 30000},
        {BEGUN "< abort\ne prompt -32004 Aborted", "Aborted", 0, 1, -32004, 30000},
        /* It says so, but never ends the turn. */
        {BEGUN "< abort\na abort {\"success\": true}", "abort", 0, 1, -32004, 300},
        /* It says nothing at all. */
        {BEGUN "< abort", "did not end", 0, 0, 0, 300},
        /* It says that there is no turn. */
        {BEGUN "< abort\na abort {\"success\": false}", "did not end", 0, 0, 0, 30000},
        /* The turn had ended just then. */
        {BEGUN "< abort\nn turnEnd {\"turnId\": \"t\"}\na prompt {\"success\": true}\na abort "
               "{\"success\": false}",
         "", 1, 0, 0, 30000},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct talk *talk = talk_new();
        talk->abort_at = DX_AUTOHAND_TURN_START;
        talk->config.call_ms = rows[i].call_ms;
        talk_once(talk, "doc", rows[i].script);
        if (talk->turn.success != rows[i].success || talk->turn.aborted != rows[i].aborted ||
            talk->turn.code != rows[i].code || !strstr(talk->why, rows[i].why))
            fail_msg("row %zu: %d %d %lld '%s'\n%s", i, talk->turn.success, talk->turn.aborted,
                     (long long)talk->turn.code, talk->why, talk->told);
        assert_int_equal(dx_autohand_client_abort(talk->client), DX_GONE);
        talk_for(talk, 50);
        assert_int_equal(talk->turns, 1);
        talk_end(talk);
    }
}

/* Before the agent is ready nothing is sent at all; twice is once. */
static void test_abort_early(void **state) {
    struct talk *talk = talk_new();
    (void)state;
    assert_int_equal(talk_go(talk, "doc",
                             "sleep 0.3\nstart\n< prompt {\"message\": \"two\"}\nn "
                             "turnStart {\"turnId\": \"t\"}\n< abort\nn turnEnd "
                             "{\"turnId\": \"t\"}\ne prompt -32004 Aborted"),
                     DX_OK);
    assert_int_equal(dx_autohand_client_abort(talk->client), DX_GONE);
    talk_prompt(talk, "one");
    assert_int_equal(dx_autohand_client_abort(talk->client), DX_OK);
    assert_int_equal(talk->turns, 0);
    talk_until(talk, &talk->turns, 1);
    assert_int_equal(talk->turn.aborted, 1);
    must_not_tell(talk, "start");
    talk_prompt(talk, "two");
    talk_until_told(talk, "turn t\n");
    assert_int_equal(dx_autohand_client_abort(talk->client), DX_OK);
    assert_int_equal(dx_autohand_client_abort(talk->client), DX_OK);
    talk_until(talk, &talk->turns, 2);
    assert_int_equal(talk->turn.aborted, 1);
    talk_end(talk);
}

/* A turn in which nothing comes is aborted, but not while somebody else is to answer. */
static void test_silence(void **state) {
    struct talk *talk = talk_new();
    (void)state;
    talk->config.silence_ms = 400;
    talk->keep = 1;
    assert_int_equal(
        talk_go(talk, "0.6",
                BEGUN "sleep 0.2\nn ping {}\nsleep 0.2\nn ping {}\nsleep 0.2\n" ASKS(
                    "p") "\n< permissionResponse\na permissionResponse {\"success\": true}\n< "
                         "abort\nn turnEnd {\"turnId\": \"t\", \"reason\": \"aborted\"}\na abort "
                         "{\"success\": true}"),
        DX_OK);
    talk_prompt(talk, "hi");
    talk_until_told(talk, "asks ");
    talk_for(talk, 800);
    assert_int_equal(talk->turns, 0);
    assert_int_equal(
        dx_autohand_client_permit(talk->client, dx_str("p"), DX_AUTOHAND_ALLOW_ONCE, dx_str(NULL)),
        DX_OK);
    uint64_t before = talk_now();
    talk_until(talk, &talk->turns, 1);
    assert_true(talk_now() - before >= 350);
    assert_int_equal(talk->turn.code, -32002);
    assert_non_null(strstr(talk->why, "timed out waiting for the agent"));
    talk_end(talk);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decisions),      cmocka_unit_test(test_nobody),
        cmocka_unit_test(test_open),           cmocka_unit_test(test_unheard),
        cmocka_unit_test(test_prompt),         cmocka_unit_test(test_bad_prompts),
        cmocka_unit_test(test_long_prompt),    cmocka_unit_test(test_abort),
        cmocka_unit_test(test_abort_early),    cmocka_unit_test(test_silence),
        cmocka_unit_test(test_many_questions), cmocka_unit_test(test_long_id),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
