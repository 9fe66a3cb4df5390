#include "unit/unit.h"

#include <duplex/protocol.h>
#include <duplex/rpc.h>

#include <stdbool.h>
#include <stdio.h>

#define HEAD "{\"openrpc\":\"1.3.2\",\"info\":{\"title\":\"T\",\"version\":\"1\"},"
#define PLAIN "\"x-duplex\":{\"name\":\"t\",\"framing\":\"line\"},"
#define METHOD(name, duplex) \
    "{\"name\":\"" name "\",\"summary\":\"S\",\"params\":[],\"x-duplex\":{" duplex "}}"

static dx_protocol *read_config(const char *document, const dx_protocol_config *config) {
    dx_protocol *protocol = NULL;
    dx_misfit why = {.phrase = ""};
    if (dx_protocol_read(dx_str(document), TEXT("file"), config, &protocol, &why) != DX_OK)
        fail_msg("%s", why.phrase);
    return protocol;
}

static dx_protocol *read_document(const char *document) {
    return read_config(document, NULL);
}

static void expect_flaw(const char *document, const dx_protocol_config *config, dx_status status,
                        const char *phrase) {
    dx_protocol *protocol = NULL;
    dx_misfit why = {.phrase = ""};
    assert_int_equal(dx_protocol_read(dx_str(document), TEXT("file"), config, &protocol, &why),
                     status);
    assert_string_equal(why.phrase, phrase);
    assert_null(protocol);
}

static void check_text(dx_protocol *protocol, const char *method, dx_side from, dx_part part,
                       const char *json, const char *phrase) {
    yyjson_doc *doc = json ? yyjson_read(json, strlen(json), 0) : NULL;
    dx_misfit why = {.phrase = ""};
    dx_status status = dx_protocol_check(protocol, dx_protocol_find(protocol, dx_str(method)), from,
                                         part, yyjson_doc_get_root(doc), 0, &why);
    assert_int_equal(status, phrase ? DX_MISFIT : DX_OK);
    if (phrase)
        assert_string_equal(why.phrase, phrase);
    yyjson_doc_free(doc);
}

/* Built in */

static void names_are_in_order(void **state) {
    (void)state;
    size_t count = 0;
    const char *last = "";
    for (const char *name; (name = dx_protocol_builtin(count)); count++) {
        assert_true(strcmp(last, name) < 0);
        last = name;
    }
    assert_true(count > 10);
    assert_null(dx_protocol_builtin(count));
    assert_null(dx_protocol_builtin(SIZE_MAX));
}

static void opens(const char *name, const char *protocol_name, const char *revision) {
    dx_protocol *protocol = NULL;
    assert_int_equal(dx_protocol_open(dx_str(name), NULL, &protocol, NULL), DX_OK);
    const dx_protocol_facts *facts = dx_protocol_facts_of(protocol);
    assert_string_equal(facts->name, protocol_name);
    if (revision)
        assert_string_equal(facts->revision, revision);
    else
        assert_null(facts->revision);
    dx_protocol_free(protocol);
}

static void a_name_finds_its_newest_revision(void **state) {
    (void)state;
    opens("hermes", "hermes", NULL);
    opens("hermes@exact", "hermes", "exact");
    opens("mcp@2025-06-18", "mcp", "2025-06-18");
    opens("mcp", "mcp", "2025-11-25"); /* the one that has no revision in its file's name */
    opens("mcp@2025-11-25", "mcp", "2025-11-25");
    opens("mcp@2026-07-28", "mcp", "2026-07-28");
    opens("finecode", "finecode", "seed");
    opens("finecode@seed", "finecode", "seed");
}

static void other_names_find_nothing(void **state) {
    (void)state;
    static const char *const names[] = {
        "",     "mc",     "mcp@",    "mcp@2025", "hermes@seed",
        "MCP",  "nosuch", "hermes@", "@",        "hermes.openrpc.json",
        "lsp@1"};
    for (size_t i = 0; i < LENGTH(names); i++) {
        dx_protocol *protocol = NULL;
        dx_misfit why = {.phrase = ""};
        char phrase[100];
        snprintf(phrase, sizeof phrase, "unknown protocol \"%s\"", names[i]);
        assert_int_equal(dx_protocol_open(dx_str(names[i]), NULL, &protocol, &why), DX_ERR_INVALID);
        assert_string_equal(why.phrase, phrase);
        assert_int_equal(dx_protocol_open(dx_str(names[i]), NULL, &protocol, NULL), DX_ERR_INVALID);
        assert_null(protocol);
    }
    dx_protocol *protocol = NULL;
    assert_int_equal(dx_protocol_open((dx_text){NULL, 0}, NULL, &protocol, NULL), DX_ERR_INVALID);
    assert_null(dx_protocol_free(NULL));
}

/* Facts */

static void what_is_left_out_has_its_value(void **state) {
    (void)state;
    dx_protocol *protocol = read_document(HEAD PLAIN "\"methods\":[]}");
    const dx_protocol_facts *facts = dx_protocol_facts_of(protocol);
    assert_string_equal(facts->name, "t");
    assert_string_equal(facts->title, "T");
    assert_string_equal(facts->version, "1");
    assert_string_equal(facts->host, "host");
    assert_string_equal(facts->plugin, "plugin");
    assert_int_equal(facts->framing, DX_FRAMING_LINE);
    assert_null(facts->content_type);
    assert_int_equal(facts->lenient, DX_LENIENT_DEFAULT);
    assert_int_equal(facts->message_max, 64 << 20);
    assert_int_equal(facts->ids, DX_IDS_COUNTER);
    assert_false(facts->batch || facts->open || facts->cancel_answered);
    assert_int_equal(facts->deadline_ms, 30000);
    assert_null(facts->cancel_method);
    assert_null(facts->progress_method);
    assert_null(facts->stop_call);
    assert_null(facts->stop_params);
    assert_null(facts->stop_notify);
    assert_true(facts->cancel_grace_ms == DX_NEVER && facts->stop_call_ms == DX_NEVER &&
                facts->stop_close_ms == DX_NEVER && facts->stop_term_ms == DX_NEVER);
    assert_int_equal(dx_protocol_states(protocol), 1);
    assert_string_equal(dx_protocol_state_name(protocol, 0), "any");
    assert_string_equal(dx_protocol_state_name(protocol, 1), "unknown");
    assert_null(dx_protocol_method(protocol, 0));
    dx_protocol_free(protocol);
}

#define ID_PARAMS                                                                              \
    "\"params\":{\"type\":\"object\",\"properties\":{\"id\":true,\"why\":true},\"required\":[" \
    "\"id\"]}"
#define ID_LIST                                                                          \
    "\"params\":[{\"name\":\"id\",\"required\":true,\"schema\":true},{\"name\":\"why\"," \
    "\"schema\":true}]"

static const char rich[] = HEAD
    "\"x-duplex\":{\"name\":\"rich\",\"revision\":\"1.0\",\"host\":\"boss\",\"plugin\":\"hand\","
    "\"framing\":\"header\",\"contentType\":\"a/b\",\"lenient\":[\"plus\",\"last-length\","
    "\"no-version\",\"id-string\",\"id-value\",\"null-params\"],\"messageMax\":1000.0,"
    "\"ids\":\"uuid\",\"batch\":true,\"deadline\":null,"
    "\"cancel\":{\"method\":\"drop\",\"id\":\"id\",\"reason\":\"why\",\"answered\":true,"
    "\"code\":-32800,\"grace\":50},"
    "\"progress\":{\"method\":\"drop\",\"token\":\"id\",\"place\":[\"/a\",\"/b/c\"],"
    "\"unknown\":\"pass\"},"
    "\"stop\":{\"call\":\"end\",\"params\":{\"a\":[1]},\"notify\":\"drop\",\"callMs\":1,"
    "\"closeMs\":2,\"termMs\":3}},"
    "\"methods\":[{\"name\":\"drop\",\"summary\":\"S\"," ID_LIST ",\"x-duplex\":{\"from\":\"host\","
    "\"notification\":true,\"optional\":true," ID_PARAMS "}},"
    "{\"name\":\"end\",\"summary\":\"Ends\",\"description\":\"it all\",\"params\":[],\"result\":{"
    "\"name\":\"r\",\"schema\":{\"type\":\"null\"}},\"x-duplex\":{\"from\":\"both\",\"params\":{"
    "\"type\":\"object\"},\"deadline\":7,\"variants\":{\"plugin\":{\"params\":{\"type\":\"array\"},"
    "\"optional\":true,\"result\":{\"type\":\"string\"},\"deadline\":9,\"late\":\"kill\"}}}},"
    "{\"name\":\"none\",\"summary\":\"S\",\"params\":[],\"x-duplex\":{\"from\":\"plugin\"}}"
    "],\"components\":{\"errors\":{\"Busy\":{\"code\":7,\"message\":\"busy\"},"
    "\"Params\":{\"code\":-32602,\"message\":\"bad\"}}}}";

static void all_that_is_said_is_read(void **state) {
    (void)state;
    dx_protocol *protocol = read_document(rich);
    const dx_protocol_facts *facts = dx_protocol_facts_of(protocol);
    assert_string_equal(facts->revision, "1.0");
    assert_string_equal(facts->host, "boss");
    assert_string_equal(facts->plugin, "hand");
    assert_int_equal(facts->framing, DX_FRAMING_HEADER);
    assert_string_equal(facts->content_type, "a/b");
    assert_int_equal(facts->lenient, DX_LENIENT_PLUS | DX_LENIENT_LAST_LENGTH |
                                         DX_LENIENT_NO_VERSION | DX_LENIENT_ID_STRING |
                                         DX_LENIENT_ID_VALUE | DX_LENIENT_NULL_PARAMS);
    assert_int_equal(facts->message_max, 1000);
    assert_int_equal(facts->ids, DX_IDS_UUID);
    assert_true(facts->batch && !facts->open);
    assert_true(facts->deadline_ms == DX_NEVER);
    assert_string_equal(facts->cancel_method, "drop");
    assert_string_equal(facts->cancel_id, "id");
    assert_string_equal(facts->cancel_reason, "why");
    assert_true(facts->cancel_answered);
    assert_int_equal(facts->cancel_code, -32800);
    assert_int_equal(facts->cancel_grace_ms, 50);
    assert_string_equal(facts->progress_method, "drop");
    assert_string_equal(facts->progress_token, "id");
    assert_string_equal(facts->progress_places[0], "/a");
    assert_string_equal(facts->progress_places[1], "/b/c");
    assert_null(facts->progress_places[2]);
    assert_true(facts->progress_pass_unknown);
    assert_string_equal(facts->stop_call, "end");
    assert_string_equal(facts->stop_params, "{\"a\":[1]}");
    assert_string_equal(facts->stop_notify, "drop");
    assert_int_equal(facts->stop_call_ms, 1);
    assert_int_equal(facts->stop_close_ms, 2);
    assert_int_equal(facts->stop_term_ms, 3);
    assert_int_equal(dx_protocol_check_all(protocol, NULL), DX_OK);
    dx_protocol_free(protocol);
}

static void methods_differ_by_who_sends_them(void **state) {
    (void)state;
    dx_protocol *protocol = read_document(rich);
    const dx_method *end = dx_protocol_find(protocol, TEXT("end"));
    assert_ptr_equal(end, dx_protocol_method(protocol, 1));
    assert_int_equal(end->index, 1);
    assert_string_equal(end->name, "end");
    assert_string_equal(end->summary, "Ends");
    assert_string_equal(end->description, "it all");
    assert_true(end->from_host && end->from_plugin && !end->notification);
    assert_true(end->has_params[DX_SIDE_HOST] && !end->optional[DX_SIDE_HOST]);
    assert_true(end->has_params[DX_SIDE_PLUGIN] && end->optional[DX_SIDE_PLUGIN]);
    assert_int_equal(end->deadline_ms[DX_SIDE_HOST], 7);
    assert_int_equal(end->deadline_ms[DX_SIDE_PLUGIN], 9);
    assert_int_equal(end->late[DX_SIDE_HOST], DX_LATE_CANCEL);
    assert_int_equal(end->late[DX_SIDE_PLUGIN], DX_LATE_KILL);
    const dx_method *none = dx_protocol_find(protocol, TEXT("none"));
    assert_true(!none->from_host && none->from_plugin && !none->has_params[DX_SIDE_PLUGIN]);
    assert_true(none->deadline_ms[DX_SIDE_PLUGIN] == DX_NEVER);
    /* The plugin does not send what cancels. */
    assert_int_equal(none->late[DX_SIDE_PLUGIN], DX_LATE_FAIL);
    assert_null(none->description);
    const dx_method *drop = dx_protocol_find(protocol, TEXT("drop"));
    assert_true(drop->notification && drop->deadline_ms[DX_SIDE_HOST] == DX_NEVER);
    static const char *const others[] = {"", "e", "en", "endd", "END", "drop "};
    for (size_t i = 0; i < LENGTH(others); i++)
        assert_null(dx_protocol_find(protocol, dx_str(others[i])));
    assert_null(dx_protocol_find(protocol, (dx_text){NULL, 0}));
    assert_null(dx_protocol_find(protocol, TEXT("end\0")));
    assert_null(dx_protocol_method(protocol, 3));
    dx_protocol_free(protocol);
}

static void errors_have_names(void **state) {
    (void)state;
    dx_protocol *protocol = read_document(rich);
    const char *message = NULL;
    assert_string_equal(dx_protocol_error_name(protocol, 7, &message), "Busy");
    assert_string_equal(message, "busy");
    assert_string_equal(dx_protocol_error_name(protocol, -32602, &message), "Params");
    assert_string_equal(message, "bad");
    assert_string_equal(dx_protocol_error_name(protocol, -32601, &message), "MethodNotFound");
    assert_string_equal(message, "Method not found");
    assert_string_equal(dx_protocol_error_name(protocol, -32700, NULL), "ParseError");
    assert_null(dx_protocol_error_name(protocol, 8, &message));
    assert_string_equal(message, "Method not found");
    dx_protocol_free(protocol);
}

/* Checking */

static void params_fit_by_who_sends_them(void **state) {
    (void)state;
    dx_protocol *protocol = read_document(rich);
    const dx_part params = DX_PART_PARAMS;
    check_text(protocol, "end", DX_SIDE_HOST, params, "{}", NULL);
    check_text(protocol, "end", DX_SIDE_HOST, params, "[]", "expected object, found array");
    check_text(protocol, "end", DX_SIDE_HOST, params, NULL, "the params are missing");
    check_text(protocol, "end", DX_SIDE_HOST, params, "null", "expected object, found null");
    check_text(protocol, "end", DX_SIDE_PLUGIN, params, "[]", NULL);
    check_text(protocol, "end", DX_SIDE_PLUGIN, params, "{}", "expected array, found object");
    check_text(protocol, "end", DX_SIDE_PLUGIN, params, NULL, NULL);
    check_text(protocol, "end", DX_SIDE_PLUGIN, params, "null", NULL);
    check_text(protocol, "none", DX_SIDE_PLUGIN, params, NULL, NULL);
    check_text(protocol, "none", DX_SIDE_PLUGIN, params, "{}", NULL);
    check_text(protocol, "none", DX_SIDE_PLUGIN, params, "[]", NULL);
    check_text(protocol, "none", DX_SIDE_PLUGIN, params, "null", NULL);
    check_text(protocol, "none", DX_SIDE_PLUGIN, params, "{\"a\":1}",
               "expected no params, or empty ones");
    check_text(protocol, "none", DX_SIDE_PLUGIN, params, "1", "expected no params, or empty ones");
    check_text(protocol, "drop", DX_SIDE_HOST, params, "{\"why\":1}", "missing member \"id\"");
    dx_protocol_free(protocol);
    protocol = read_document(HEAD PLAIN "\"methods\":[" METHOD("a", "\"from\":\"host\"") "]}");
    check_text(protocol, "a", DX_SIDE_HOST, params, "null", "expected no params, or empty ones");
    dx_protocol_free(protocol);
}

static void results_fit_by_who_asked(void **state) {
    (void)state;
    dx_protocol *protocol = read_document(rich);
    const dx_part result = DX_PART_RESULT;
    check_text(protocol, "end", DX_SIDE_HOST, result, "null", NULL);
    check_text(protocol, "end", DX_SIDE_HOST, result, "\"\"", "expected null, found string");
    check_text(protocol, "end", DX_SIDE_PLUGIN, result, "\"\"", NULL);
    check_text(protocol, "end", DX_SIDE_PLUGIN, result, "null", "expected string, found null");
    check_text(protocol, "end", DX_SIDE_HOST, result, NULL, "the result is missing");
    check_text(protocol, "none", DX_SIDE_PLUGIN, result, "[1]", NULL);
    dx_protocol_free(protocol);
}

static void a_bad_schema_is_told_when_it_is_needed(void **state) {
    (void)state;
    dx_protocol *protocol = read_document(
        HEAD PLAIN "\"methods\":[" METHOD("good", "\"from\":\"host\",\"params\":{}") "," METHOD(
            "bad", "\"from\":\"host\",\"params\":{\"minProperties\":\"1\"}") "]}");
    yyjson_doc *doc = yyjson_read("{}", 2, 0);
    yyjson_val *value = yyjson_doc_get_root(doc);
    dx_misfit why = {.phrase = ""};
    assert_int_equal(dx_protocol_check(protocol, dx_protocol_method(protocol, 0), DX_SIDE_HOST,
                                       DX_PART_PARAMS, value, 0, &why),
                     DX_OK);
    assert_int_equal(dx_protocol_check(protocol, dx_protocol_method(protocol, 1), DX_SIDE_HOST,
                                       DX_PART_PARAMS, value, 0, &why),
                     DX_ERR_INVALID);
    assert_string_equal(why.schema, "#/methods/1/x-duplex/params/minProperties");
    assert_int_equal(dx_protocol_check_all(protocol, &why), DX_ERR_INVALID);
    assert_string_equal(why.phrase, "file: /methods/1/x-duplex/params/minProperties: must be a "
                                    "non-negative integer");
    assert_string_equal(why.instance, "/methods/1/x-duplex/params/minProperties");
    assert_int_equal(dx_protocol_check_all(protocol, NULL), DX_ERR_INVALID);
    yyjson_doc_free(doc);
    dx_protocol_free(protocol);
}

/* Lifecycle */

static const char opened[] =
    HEAD "\"x-duplex\":{\"name\":\"t\",\"framing\":\"line\",\"open\":true,"
         "\"cancel\":{\"method\":\"$/drop\",\"id\":\"id\"},"
         "\"lifecycle\":{\"start\":\"b\",\"states\":{"
         "\"a\":{\"host\":[\"go\",\"hidden\"],\"code\":5,\"message\":\"wait\"},"
         "\"b\":{\"never\":[\"go\",\"gone\"]},"
         "\"c\":{\"plugin\":[],\"early\":\"deliver\",\"code\":-32601}},"
         "\"moves\":[{\"in\":\"b\",\"message\":\"back\",\"by\":\"plugin\",\"outcome\":\"result\","
         "\"to\":\"a\"},{\"in\":\"a\",\"message\":\"go\",\"by\":\"host\",\"outcome\":\"sent\","
         "\"to\":\"c\"},{\"in\":\"a\",\"message\":\"go\",\"by\":\"host\",\"outcome\":\"error\","
         "\"to\":\"b\"}]}},\"methods\":[" METHOD("go", "\"from\":\"host\"") "," METHOD(
             "back", "\"from\":\"plugin\"") "]}";

static void expect_leave(const dx_protocol *protocol, unsigned state, const char *method,
                         dx_side from, dx_leave leave, int64_t code, const char *message) {
    int64_t got_code = 0;
    const char *got_message = "";
    assert_int_equal(
        dx_protocol_may(protocol, state, dx_str(method), from, &got_code, &got_message), leave);
    assert_int_equal(got_code, code);
    assert_string_equal(got_message, message);
    assert_int_equal(dx_protocol_may(protocol, state, dx_str(method), from, NULL, NULL), leave);
}

static void states_let_through_what_they_say(void **state) {
    (void)state;
    dx_protocol *protocol = read_document(opened);
    const dx_side host = DX_SIDE_HOST;
    const dx_side plugin = DX_SIDE_PLUGIN;
    enum { B, A, C }; /* the first is where it starts */
    assert_int_equal(dx_protocol_states(protocol), 3);
    assert_string_equal(dx_protocol_state_name(protocol, B), "b");
    assert_string_equal(dx_protocol_state_name(protocol, A), "a");
    assert_string_equal(dx_protocol_state_name(protocol, C), "c");
    /* Names that only the lifecycle has are known there, but not listed. */
    assert_null(dx_protocol_find(protocol, TEXT("hidden")));
    assert_null(dx_protocol_method(protocol, 2));
    expect_leave(protocol, A, "go", host, DX_LEAVE_YES, 0, "");
    expect_leave(protocol, A, "hidden", host, DX_LEAVE_YES, 0, "");
    expect_leave(protocol, A, "other", host, DX_LEAVE_NO, 5, "wait");
    expect_leave(protocol, A, "other", plugin, DX_LEAVE_YES, 0, "");
    expect_leave(protocol, B, "go", host, DX_LEAVE_NO, -32600, "Invalid Request");
    expect_leave(protocol, B, "gone", host, DX_LEAVE_NO, -32600, "Invalid Request");
    expect_leave(protocol, B, "gone", plugin, DX_LEAVE_NO, -32600, "Invalid Request");
    expect_leave(protocol, B, "other", host, DX_LEAVE_YES, 0, "");
    expect_leave(protocol, C, "other", host, DX_LEAVE_YES, 0, "");
    expect_leave(protocol, C, "other", plugin, DX_LEAVE_EARLY, 0, "");
    /* Cancelling belongs to what was let through before. */
    expect_leave(protocol, A, "$/drop", host, DX_LEAVE_YES, 0, "");
    expect_leave(protocol, C, "$/drop", plugin, DX_LEAVE_YES, 0, "");
    /* What that side never sends is no matter of states. */
    expect_leave(protocol, A, "go", plugin, DX_LEAVE_NO, -32601, "Method not found");
    expect_leave(protocol, C, "go", plugin, DX_LEAVE_NO, -32601, "Method not found");
    /* A state that is none is the first. */
    expect_leave(protocol, 99, "go", host, DX_LEAVE_NO, -32600, "Invalid Request");
    dx_protocol_free(protocol);
}

static void moves_lead_where_they_say(void **state) {
    (void)state;
    dx_protocol *protocol = read_document(opened);
    enum { B, A, C };
    dx_text go = TEXT("go");
    dx_text back = TEXT("back");
    const dx_method *method = dx_protocol_find(protocol, go);
    assert_int_equal(dx_protocol_next(protocol, B, back, DX_SIDE_PLUGIN, DX_MOVE_RESULT), A);
    assert_int_equal(dx_protocol_next(protocol, B, back, DX_SIDE_PLUGIN, DX_MOVE_ERROR), B);
    assert_int_equal(dx_protocol_next(protocol, B, back, DX_SIDE_PLUGIN, DX_MOVE_SENT), B);
    assert_int_equal(dx_protocol_next(protocol, B, back, DX_SIDE_HOST, DX_MOVE_RESULT), B);
    assert_int_equal(dx_protocol_next(protocol, A, go, DX_SIDE_HOST, DX_MOVE_SENT), C);
    assert_int_equal(dx_protocol_next(protocol, A, go, DX_SIDE_HOST, DX_MOVE_RESULT), A);
    assert_int_equal(dx_protocol_next(protocol, A, go, DX_SIDE_HOST, DX_MOVE_ERROR), B);
    assert_int_equal(dx_protocol_after(protocol, A, method, DX_SIDE_HOST, DX_MOVE_ERROR), B);
    assert_int_equal(dx_protocol_next(protocol, A, TEXT("other"), DX_SIDE_HOST, DX_MOVE_SENT), A);
    assert_int_equal(dx_protocol_next(protocol, C, go, DX_SIDE_HOST, DX_MOVE_SENT), C);
    dx_protocol_free(protocol);
}

static void what_is_not_listed_is_refused(void **state) {
    (void)state;
    dx_protocol *protocol = read_document(rich);
    expect_leave(protocol, 0, "other", DX_SIDE_HOST, DX_LEAVE_NO, -32601, "Method not found");
    expect_leave(protocol, 0, "", DX_SIDE_PLUGIN, DX_LEAVE_NO, -32601, "Method not found");
    expect_leave(protocol, 0, "none", DX_SIDE_HOST, DX_LEAVE_NO, -32601, "Method not found");
    expect_leave(protocol, 0, "none", DX_SIDE_PLUGIN, DX_LEAVE_YES, 0, "");
    dx_protocol_free(protocol);
}

/* Documents that extend others */

struct shelf {
    const char *name;
    const char *document;
    dx_status status;
    size_t asked;
};

static dx_status find(void *user, dx_text name, dx_text *ret_bytes, dx_text *ret_file) {
    struct shelf *shelf = user;
    shelf->asked++;
    if (shelf->status != DX_OK)
        return shelf->status;
    if (!dx_text_is(name, shelf->name))
        return DX_AGAIN;
    *ret_bytes = dx_str(shelf->document);
    *ret_file = TEXT("shelf");
    return DX_OK;
}

#define LEAF(extends) \
    HEAD "\"x-duplex\":{\"name\":\"leaf\",\"extends\":\"" extends "\"},\"methods\":[]}"

static void what_is_extended_is_found(void **state) {
    (void)state;
    struct shelf shelf = {.name = "rich", .document = rich};
    dx_protocol_config config = dx_protocol_defaults();
    config.find = find;
    config.find_user = &shelf;
    dx_protocol *protocol = read_config(LEAF("rich"), &config);
    const dx_protocol_facts *facts = dx_protocol_facts_of(protocol);
    assert_string_equal(facts->name, "leaf");
    assert_null(facts->revision);
    assert_string_equal(facts->host, "boss");
    assert_string_equal(facts->stop_params, "{\"a\":[1]}");
    assert_non_null(dx_protocol_find(protocol, TEXT("end")));
    dx_protocol_free(protocol);
    /* What is not on the shelf may be built in. */
    protocol = read_config(LEAF("jsonrpc"), &config);
    assert_int_equal(shelf.asked, 2);
    assert_true(dx_protocol_facts_of(protocol)->open);
    dx_protocol_free(protocol);
    expect_flaw(LEAF("nosuch"), &config, DX_ERR_INVALID,
                "file: /x-duplex/extends: unknown protocol \"nosuch\"");
    shelf.status = DX_ERR_SYSTEM;
    dx_protocol *none = NULL;
    assert_int_equal(dx_protocol_read(dx_str(LEAF("rich")), TEXT("file"), &config, &none, NULL),
                     DX_ERR_SYSTEM);
}

#define STEM(name, more) HEAD "\"x-duplex\":{\"name\":\"" name "\"" more "},\"methods\":["
#define TEST_ERRATUM(id) \
    "\"errata\":[{\"id\":\"" id "\",\"document\":\"d\",\"program\":\"p\",\"here\":\"h\"}]"

static void a_document_replaces_adds_and_removes(void **state) {
    (void)state;
    static const char stem[] =
        STEM("stem", ",\"framing\":\"line\",\"host\":\"old\"," TEST_ERRATUM("T1"))
            METHOD("a", "\"from\":\"host\"") "," METHOD("b", "\"from\":\"host\"") "," METHOD(
                "c", "\"from\":\"host\"") "],"
                                          "\"servers\":[],\"components\":{\"schemas\":{\"S\":{},"
                                          "\"U\":true},\"errors\":{"
                                          "\"Bad\":{\"code\":1,\"message\":\"m\"}},\"tags\":{}}}";
    static const char leaf[] = STEM("stem", ",\"revision\":\"2\",\"extends\":\"stem\",\"host\":"
                                            "\"new\",\"removes\":{\"methods\":[\"a\"],"
                                            "\"schemas\":[\"S\"]}," TEST_ERRATUM("T2"))
        METHOD("d", "\"from\":\"host\"") "," METHOD(
            "b", "\"from\":\"plugin\"") "],\"components\":{\"schemas\":{\"V\":false,"
                                        "\"U\":{}},\"errors\":{\"Bad\":{\"code\":2,\"message\":"
                                        "\"m\"}}}}";
    struct shelf shelf = {.name = "stem", .document = stem};
    dx_protocol_config config = dx_protocol_defaults();
    config.find = find;
    config.find_user = &shelf;
    dx_protocol *protocol = read_config(leaf, &config);
    char *text = yyjson_val_write(dx_protocol_document(protocol), 0, NULL);
    assert_string_equal(
        text,
        "{\"openrpc\":\"1.3.2\",\"info\":{\"title\":\"T\",\"version\":\"1\"},\"servers\":[],"
        "\"x-duplex\":{\"name\":\"stem\",\"framing\":\"line\",\"host\":\"new\",\"revision\":"
        "\"2\",\"errata\":[{\"id\":\"T1\",\"document\":\"d\",\"program\":\"p\",\"here\":"
        "\"h\"},{\"id\":\"T2\",\"document\":\"d\",\"program\":\"p\",\"here\":\"h\"}]},"
        "\"methods\":[" METHOD("b", "\"from\":\"plugin\"") "," METHOD(
            "c", "\"from\":\"host\"") "," METHOD("d",
                                                 "\"from\":\"host\"") "],"
                                                                      "\"components\":{\"tags\":{},"
                                                                      "\"schemas\":{\"U\":{},\"V\":"
                                                                      "false},\"errors\":{"
                                                                      "\"Bad\":{\"code\":2,"
                                                                      "\"message\":\"m\"}}}}");
    free(text);
    dx_protocol_free(protocol);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_in_order),
        cmocka_unit_test(a_name_finds_its_newest_revision),
        cmocka_unit_test(other_names_find_nothing),
        cmocka_unit_test(what_is_left_out_has_its_value),
        cmocka_unit_test(all_that_is_said_is_read),
        cmocka_unit_test(methods_differ_by_who_sends_them),
        cmocka_unit_test(errors_have_names),
        cmocka_unit_test(params_fit_by_who_sends_them),
        cmocka_unit_test(results_fit_by_who_asked),
        cmocka_unit_test(a_bad_schema_is_told_when_it_is_needed),
        cmocka_unit_test(states_let_through_what_they_say),
        cmocka_unit_test(moves_lead_where_they_say),
        cmocka_unit_test(what_is_not_listed_is_refused),
        cmocka_unit_test(what_is_extended_is_found),
        cmocka_unit_test(a_document_replaces_adds_and_removes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
