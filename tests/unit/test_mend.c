/* Answers that no tree holds as they stand: half a surrogate pair, a number beyond a double. */
#include "unit/schema.h"
#include "unit/talk.h"

static void mends_halves(void **state) {
    static const struct {
        const char *text;
        const char *mended;
        size_t count;
    } rows[] = {
        {"\"a\\ud83d b\"", "\"a\\ufffd b\"", 1},
        {"\"\\uD83D\\uDE00\"", "\"\\uD83D\\uDE00\"", 0},
        {"\"\\ude00\\ud83d\"", "\"\\ufffd\\ufffd\"", 2},
        {"\"\\ud83d\\ud83d\\ude00\"", "\"\\ufffd\\ud83d\\ude00\"", 1},
        {"\"\\udBfF\"", "\"\\ufffd\"", 1},
        {"\"\\udc00\\udfff\"", "\"\\ufffd\\ufffd\"", 2},
        {"\"\\\\ud83d\"", "\"\\\\ud83d\"", 0},
        {"\"\\\\\\ud83d\"", "\"\\\\\\ufffd\"", 1},
        {"\"\\ud83d\\n\\ude00\"", "\"\\ufffd\\n\\ufffd\"", 2},
        {"\"\\ud7ff\\ue000\\u00d8\"", "\"\\ud7ff\\ue000\\u00d8\"", 0},
        {"{\"\\ud800\":\"\\u\"}", "{\"\\ufffd\":\"\\u\"}", 1}, /* no harm in what is not JSON */
        {"\\", "\\", 0},
        {"\\ud83", "\\ud83", 0},
        {"\\ud83d\\ude0", "\\ufffd\\ude0", 1},
        {"", "", 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t len = strlen(rows[i].text);
        struct unit_fence fence = unit_fence_new(len + 1);
        dx_text text = unit_fence_put(&fence, rows[i].text, len);
        assert_int_equal(dx_json_mend((char *)(uintptr_t)text.at, len), rows[i].count);
        unit_same(text, dx_str(rows[i].mended));
        unit_fence_done(&fence);
    }
}

static void reads_what_a_tree_can_hold(void **state) {
    static const struct {
        const char *text;
        const char *written;
        unsigned mended;
    } rows[] = {
        {"[1,1e300]", "[1,1e300]", 0},
        {"[1E400,-1e999,0.5,2]", "[1E400,-1e999,0.5,2]", DX_MENDED_NUMBER},
        {"[\"\\udfff\"]", "[\"\xef\xbf\xbd\"]", DX_MENDED_STRING},
        {"{\"\\ud800\":1e400}", "{\"\xef\xbf\xbd\":1e400}", DX_MENDED_STRING | DX_MENDED_NUMBER},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        yyjson_doc *doc = NULL;
        unsigned mended = 77;
        dx_buf out;
        dx_buf_init(&out, 1000, NULL);
        assert_int_equal(dx_json_read(dx_str(rows[i].text), NULL, &doc, &mended), DX_OK);
        assert_int_equal(mended, rows[i].mended);
        assert_int_equal(dx_json_write(&out, dx_json_value(yyjson_doc_get_root(doc))), DX_OK);
        if (rows[i].mended)
            unit_same((dx_text){out.data, out.len}, dx_str(rows[i].written));
        yyjson_doc_free(doc);
        dx_buf_done(&out);
    }
    yyjson_doc *doc = NULL;
    unsigned mended;
    assert_int_equal(dx_json_read(dx_str("[\"\\ud8zz\"]"), NULL, &doc, &mended), DX_ERR_INVALID);
    assert_int_equal(dx_json_read(dx_str("[\"\xed\xa0\x80\"]"), NULL, &doc, &mended),
                     DX_ERR_INVALID);
    /* Beside a number that is kept as text, others are what they would be without it. */
    assert_int_equal(dx_json_read(dx_str("[1e400,18446744073709551616]"), NULL, &doc, &mended),
                     DX_OK);
    assert_true(yyjson_is_raw(yyjson_arr_get(yyjson_doc_get_root(doc), 0)));
    assert_true(yyjson_is_real(yyjson_arr_get(yyjson_doc_get_root(doc), 1)));
    yyjson_doc_free(doc);
}

static dx_peer *lenient_peer(dx_side side) {
    dx_peer_config config = dx_peer_defaults(DX_FRAMING_LINE, side);
    config.lenient |= DX_LENIENT_VALUE;
    return talk_new(&config);
}

static void answers_arrive(void **state) {
    (void)state;
    dx_peer *peer = lenient_peer(DX_SIDE_HOST);
    for (int i = 0; i < 3; i++)
        talk_call(peer, "m", 0);
    talk_feed(peer, V ",\"id\":1,\"result\":{\"t\":\"a\\ud83d b\"}}\n", 0);
    talk_feed(peer, V ",\"id\":2,\"error\":{\"code\":5,\"message\":\"\\udc00\",\"data\":1e400}}\n",
              0);
    talk_feed(peer, V ",\"id\":3,\"result\":[1]}\n", 0);
    talk_feed(peer, V ",\"method\":\"n\",\"params\":[\"\\ud800\",1e400]}\n", 0);
    const dx_event *event = talk_next(peer, DX_EVENT_DONE);
    assert_int_equal(event->outcome, DX_OUTCOME_RESULT);
    assert_int_equal(event->mended, DX_MENDED_STRING);
    unit_same(event->body, dx_str("{\"t\":\"a\\ud83d b\"}"));
    dx_event *kept = talk_keep(peer);
    event = talk_next(peer, DX_EVENT_DONE);
    assert_int_equal(event->outcome, DX_OUTCOME_ERROR);
    assert_int_equal(event->code, 5);
    assert_int_equal(event->mended, DX_MENDED_STRING | DX_MENDED_NUMBER);
    assert_int_equal(event->error.fault, DX_FAULT_NONE);
    unit_same(dx_json_string(yyjson_obj_get(event->value, "message")), dx_str("\xef\xbf\xbd"));
    assert_string_equal(yyjson_get_raw(yyjson_obj_get(event->value, "data")), "1e400");
    event = talk_next(peer, DX_EVENT_DONE);
    assert_int_equal(event->mended, 0);
    event = talk_next(peer, DX_EVENT_NOTIFICATION);
    assert_int_equal(event->mended, DX_MENDED_STRING | DX_MENDED_NUMBER);
    assert_int_equal(dx_peer_statistics(peer).violations, 0);
    dx_peer_free(peer);
    unit_same(dx_json_string(yyjson_obj_get(kept->value, "t")), dx_str("a\xef\xbf\xbd b"));
    assert_int_equal(kept->mended, DX_MENDED_STRING);
    dx_event_free(kept);
}

/* Longer than what is parsed in an arena. */
static void long_answers_arrive(void **state) {
    (void)state;
    dx_peer *peer = lenient_peer(DX_SIDE_HOST);
    char *text = repeated(V ",\"id\":1,\"result\":[", "\"\\ud83d\",", 20000, "1e999]}\n");
    talk_call(peer, "m", 0);
    talk_feed(peer, text, 0);
    const dx_event *event = talk_next(peer, DX_EVENT_DONE);
    assert_int_equal(event->mended, DX_MENDED_STRING | DX_MENDED_NUMBER);
    assert_int_equal(yyjson_arr_size(event->value), 20001);
    dx_event *kept = talk_keep(peer);
    dx_peer_free(peer);
    assert_int_equal(yyjson_arr_size(kept->value), 20001);
    dx_event_free(kept);
    free(text);
}

static void strict_peers_and_requests_do_not_change(void **state) {
    (void)state;
    dx_peer *peer = talk_plain();
    talk_call(peer, "m", 0);
    talk_feed(peer, V ",\"id\":1,\"result\":\"\\ud83d\"}\n", 0);
    const dx_event *event = talk_next(peer, DX_EVENT_DONE);
    assert_int_equal(event->outcome, DX_OUTCOME_INVALID);
    assert_int_equal(event->error.fault, DX_FAULT_JSON_VALUE);
    assert_int_equal(event->mended, 0);
    dx_peer_free(peer);
    peer = lenient_peer(DX_SIDE_PLUGIN);
    talk_feed(peer, V ",\"id\":1,\"method\":\"m\",\"params\":[\"\\ud83d\"]}\n", 0);
    event = talk_next(peer, DX_EVENT_VIOLATION);
    assert_int_equal(event->error.fault, DX_FAULT_JSON_VALUE);
    assert_non_null(strstr(dx_peer_output(peer).at, "\"id\":1,\"error\":{\"code\":-32700"));
    talk_feed(peer, V ",\"method\":\"m\",\"params\":[\"\\ud8zz\"]}\n", 0);
    event = talk_next(peer, DX_EVENT_VIOLATION);
    assert_int_equal(event->error.fault, DX_FAULT_JSON_SYNTAX);
    talk_feed(peer, V ",\"method\":\"m\",\"params\":[\"\xed\xa0\x80\"]}\n", 0);
    event = talk_next(peer, DX_EVENT_VIOLATION);
    assert_int_equal(event->error.fault, DX_FAULT_JSON_UTF8);
    dx_peer_free(peer);
}

/* A number that is kept as text is one for schemas, too, and beyond all that a double holds. */
static void schemas_take_numbers_as_text(void **state) {
    static const struct {
        const char *schema;
        const char *value;
        dx_status status;
    } rows[] = {
        {"{\"type\":\"number\"}", "1e400", DX_OK},
        {"{\"type\":\"string\"}", "1e400", DX_MISFIT},
        {"{\"type\":\"integer\"}", "1e400", DX_MISFIT},
        {"{\"minimum\":1e308}", "1e400", DX_OK},
        {"{\"maximum\":1e308}", "1e400", DX_MISFIT},
        {"{\"maximum\":-1e308}", "-1e400", DX_OK},
        {"{\"minimum\":-5}", "-1e400", DX_MISFIT},
        {"{\"minimum\":5}", "-1e400", DX_MISFIT},
        {"{\"multipleOf\":10}", "1e400", DX_OK},
        {"{\"enum\":[1,\"1e400\"]}", "1e400", DX_MISFIT},
        {"{\"uniqueItems\":true}", "[1e400,1,1e401]", DX_OK},
        {"{\"uniqueItems\":true}", "[1e400,1,1e400]", DX_MISFIT},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct subject subject = subject_of(rows[i].schema);
        yyjson_doc *doc = NULL;
        unsigned mended;
        dx_misfit misfit;
        assert_int_equal(dx_json_read(dx_str(rows[i].value), NULL, &doc, &mended), DX_OK);
        assert_int_equal(
            dx_schema_check(subject.schema, yyjson_doc_get_root(doc), 0, subject.check, &misfit),
            rows[i].status);
        yyjson_doc_free(doc);
        subject_done(&subject);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mends_halves),
        cmocka_unit_test(reads_what_a_tree_can_hold),
        cmocka_unit_test(answers_arrive),
        cmocka_unit_test(long_answers_arrive),
        cmocka_unit_test(strict_peers_and_requests_do_not_change),
        cmocka_unit_test(schemas_take_numbers_as_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
