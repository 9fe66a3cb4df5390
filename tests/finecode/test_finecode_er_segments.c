/* Segments of runs, and results that are merged (cases 32 and 33). */
#include "finecode/er_demo.h"

static struct talk talk;

#define ITEM_1 "\"global1:t:prev=None:seen=1\""
#define ITEM_2 "\"hh2:t:prev=1:seen=2\""
#define P_TEXT ",\"params\":{\"text\":\"t\"}"

static void two_segments(void **state) {
    (void)state;
    demo_start(&talk, "real");
    demo_segment(&talk, 2, "echo", "[\"h1\"]",
                 P_TEXT ",\"previousResult\":null,\"previousContext\":null,\"callerKwargs\":null",
                 ",\"resultFormats\":[]");
    talk_result(&talk, 2,
                "{\"status\":\"success\",\"result\":{\"items\":[" ITEM_1
                "],\"by_path\":{},\"bad\":false},\"resultByFormat\":{},\"returnCode\":0,"
                "\"context\":{\"seen\":1}}");
    demo_segment(&talk, 3, "echo", "[\"h2\"]",
                 P_TEXT ",\"previousResult\":{\"items\":[" ITEM_1
                        "],\"by_path\":{},\"bad\":false},\"previousContext\":{\"seen\":1}",
                 ",\"resultFormats\":[\"json\"]");
    talk_result(
        &talk, 3,
        "{\"status\":\"success\",\"result\":{\"items\":[" ITEM_1 "," ITEM_2
        "],\"by_path\":{\"/a/b\":1},\"bad\":false},\"resultByFormat\":{\"json\":{\"items\":[" ITEM_1
        "," ITEM_2
        "],\"by_path\":{\"/a/b\":1},\"bad\":false}},\"returnCode\":0,\"context\":{\"seen\":2}}");
    demo_stop_talk(&talk);
}

/* The document knows no payload and no context here, and formats only in the last segment. */
static void two_segments_by_the_document(void **state) {
    (void)state;
    demo_start(&talk, "seed");
    demo_segment(&talk, 2, "conc", "[\"c1\"]", ",\"previousResult\":null", "");
    talk_result(
        &talk, 2,
        "{\"status\":\"success\",\"result\":{\"items\":[\"c1\"],\"by_path\":{},\"bad\":false},"
        "\"resultByFormat\":{},\"returnCode\":0}");
    demo_segment(&talk, 3, "conc", "[\"c2\"]",
                 ",\"previousResult\":{\"items\":[\"c1\"],\"by_path\":{},\"bad\":false}",
                 ",\"resultFormats\":[\"string\"]");
    talk_result(&talk, 3,
                "{\"status\":\"success\",\"result\":{\"items\":[\"c1\",\"c2\"],\"by_path\":{},"
                "\"bad\":false},\"resultByFormat\":{\"string\":\"c1\\nc2\"},\"returnCode\":0}");
    talk_request(&talk, 4, "actions/runHandlers",
                 "{\"actionName\":\"conc\",\"handlerNames\":[\"c2\"],\"options\":null}");
    assert_has(talk_hear(&talk), "\"status\":\"success\"");
    /* A payload is taken all the same. */
    demo_segment(&talk, 5, "echo", "[\"h1\"]", P_TEXT, "");
    assert_has(talk_hear(&talk), ITEM_1);
    demo_stop_talk(&talk);
}

static void case_32_segments(void **state) {
    (void)state;
    demo_start(&talk, "real");
    demo_segment(&talk, 2, "echo", "[]",
                 P_TEXT
                 ",\"previousResult\":{\"items\":[\"m1\",\"m2\"],\"by_path\":{},\"bad\":true}",
                 ",\"resultFormats\":[\"json\",\"string\"]");
    talk_result(
        &talk, 2,
        "{\"status\":\"success\",\"result\":{\"items\":[\"m1\",\"m2\"],\"by_path\":{},"
        "\"bad\":true},\"resultByFormat\":{\"json\":{\"items\":[\"m1\",\"m2\"],\"by_path\":{},"
        "\"bad\":true},\"string\":\"m1\\nm2\"},\"returnCode\":1,\"context\":null}");
    demo_segment(&talk, 3, "echo", "[\"zz\"]", P_TEXT ",\"previousResult\":null", "");
    talk_result(&talk, 3,
                "{\"status\":\"success\",\"result\":{},\"resultByFormat\":{},\"returnCode\":0,"
                "\"context\":null}");
    assert_has(talk.log, "WARNING finecode.er: skipping an unknown handler: zz");
    /* What cannot be a result is ignored. */
    static const char *const bad[] = {"{\"items\":5}", "5", "\"x\"", "[1]", "{\"bad\":\"yes\"}"};
    for (size_t i = 0; i < LENGTH(bad); i++) {
        char more[200];
        (void)snprintf(more, sizeof more, P_TEXT ",\"previousResult\":%s", bad[i]);
        demo_segment(&talk, 4, "echo", "[\"h2\"]", more, "");
        talk_result(
            &talk, 4,
            "{\"status\":\"success\",\"result\":{\"items\":[\"hh2:t:prev=None:seen=1\"],"
            "\"by_path\":{\"/a/b\":1},\"bad\":false},\"resultByFormat\":{\"json\":{\"items\":["
            "\"hh2:t:prev=None:seen=1\"],\"by_path\":{\"/a/b\":1},\"bad\":false}},"
            "\"returnCode\":0,\"context\":{\"seen\":1}}");
    }
    demo_segment(&talk, 5, "echo", "[\"h1\"]", ",\"previousResult\":null", "");
    assert_has(talk_hear(&talk),
               "{\"error\":\"Running action handler 'h1' failed(Run 8): there is no");
    talk_request(&talk, 6, "actions/runHandlers",
                 "{\"actionName\":\"echo\",\"handlerNames\":[\"h1\"],\"params\":{\"text\":\"t\"},"
                 "\"options\":{}}");
    talk_result(&talk, 6, "{\"error\":\"Missing required wal_run_id in run options\"}");
    talk_request(&talk, 7, "actions/runHandlers",
                 "{\"actionName\":\"echo\",\"options\":" DEMO_OPTIONS("") "}");
    talk_error(&talk, 7, -32603, "'handlerNames'");
    demo_segment(&talk, 8, "echo", "{}", "", "");
    talk_error(&talk, 8, -32603, "'handlerNames'");
    demo_segment(&talk, 9, "echo", "[\"h2\",\"h1\"]", P_TEXT, "");
    assert_has(talk_hear(&talk), "[\"hh2:t:prev=None:seen=1\",\"global1:t:prev=1:seen=2\"]");
    /* Those of a concurrent action see only what came before. */
    demo_segment(&talk, 10, "conc", "[\"c1\",\"c2\"]",
                 P_TEXT ",\"previousResult\":{\"items\":[\"p\"]}", ",\"resultFormats\":[]");
    assert_has(talk_hear(&talk), "\"result\":{\"items\":[\"p\",\"c1\",\"c2\"],");
    demo_stop_talk(&talk);
}

static void case_33_merging(void **state) {
    (void)state;
    static const char *const revisions[] = {"seed", "real"};
    for (size_t i = 0; i < LENGTH(revisions); i++) {
        demo_start(&talk, revisions[i]);
        talk_request(
            &talk, 2, "actions/mergeResults",
            "{\"actionName\":\"echo\",\"results\":[{\"items\":[\"a\"],\"by_path\":{\"x\":1},"
            "\"bad\":false},{},null,{\"items\":[\"b\"],\"by_path\":{\"y\":2},\"bad\":true}]}");
        talk_result(
            &talk, 2,
            "{\"merged\":{\"items\":[\"a\",\"b\"],\"by_path\":{\"x\":1,\"y\":2},\"bad\":true}}");
        talk_request(&talk, 3, "actions/mergeResults",
                     "{\"actionName\":\"echo\",\"results\":[{},null]}");
        talk_result(&talk, 3, "{\"merged\":{}}");
        talk_request(&talk, 4, "actions/mergeResults",
                     "{\"actionName\":\"nosuch\",\"results\":[]}");
        talk_result(&talk, 4, "{\"error\":\"Action 'nosuch' not found\"}");
        talk_request(&talk, 5, "actions/mergeResults",
                     "{\"actionName\":\"echo\",\"results\":[{\"items\":3}]}");
        assert_has(talk_hear(&talk), "\"id\":5,\"result\":{\"error\":\"");
        talk_request(&talk, 6, "actions/mergeResults", "{\"actionName\":\"echo\"}");
        talk_error(&talk, 6, i ? -32603 : -32602, "results");
        demo_stop_talk(&talk);
    }
}

/* What is no name, text or list where one has to be. */
static void odd_params(void **state) {
    (void)state;
    static const char *const odd[] = {"[[\"h1\",\"h2\"]]", "[null,[null]]", "[{\"x\":1,\"y\":2}]",
                                      "[7,true]"};
    static const char formats[] = DEMO_OPTIONS(",\"resultFormats\":[[\"json\"]]");
    const char *const options[] = {
        "[1,2]",
        "\"text\"",
        "{\"walRunId\":[1,2]}",
        "{\"walRunId\":{\"a\":1}}",
        "{\"walRunId\":\"w\",\"meta\":{\"trigger\":[1,2],\"devEnv\":{\"a\":1}}}",
        "{\"walRunId\":\"w\",\"meta\":[1]}",
        formats};
    static const char *const merges[] = {"{\"actionName\":[1,2],\"results\":[]}",
                                         "{\"actionName\":\"echo\",\"results\":{\"a\":1}}",
                                         "{\"actionName\":\"echo\",\"results\":[[1,2],3]}"};
    demo_start(&talk, "real");
    for (size_t i = 0; i < LENGTH(odd); i++) {
        demo_segment(&talk, 2, "echo", odd[i], P_TEXT, "");
        talk_result(&talk, 2,
                    "{\"status\":\"success\",\"result\":{},\"resultByFormat\":{},\"returnCode\":0,"
                    "\"context\":null}");
    }
    for (size_t i = 0; i < LENGTH(options); i++) {
        char params[400];
        (void)snprintf(params, sizeof params,
                       "{\"actionName\":\"echo\",\"params\":{\"text\":\"t\"},\"options\":%s}",
                       options[i]);
        talk_request(&talk, 3, "actions/run", params);
        assert_has(talk_hear(&talk), "\"error\":");
    }
    for (size_t i = 0; i < LENGTH(merges); i++) {
        talk_request(&talk, 4, "actions/mergeResults", merges[i]);
        assert_has(talk_hear(&talk), "\"error\":");
    }
    demo_stop_talk(&talk);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_segments),     cmocka_unit_test(two_segments_by_the_document),
        cmocka_unit_test(case_32_segments), cmocka_unit_test(case_33_merging),
        cmocka_unit_test(odd_params),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
