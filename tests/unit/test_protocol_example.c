/* Examples, and the documents that are built in. */
#include "unit/unit.h"

#include <duplex/protocol.h>

static const char document[] =
    "{\"openrpc\":\"1.3.2\",\"info\":{\"title\":\"T\",\"version\":\"1\"},"
    "\"x-duplex\":{\"name\":\"t\",\"framing\":\"line\"},\"methods\":["
    "{\"name\":\"ask\",\"summary\":\"S\",\"params\":[{\"name\":\"n\",\"required\":true,"
    "\"schema\":{\"minimum\":3}}],\"result\":{\"name\":\"r\",\"schema\":{"
    "\"$ref\":\"#/components/schemas/Kind\"}},\"x-duplex\":{\"from\":\"both\",\"params\":{"
    "\"type\":\"object\",\"required\":[\"n\"],\"properties\":{\"n\":{\"minimum\":3}}},"
    "\"variants\":{\"plugin\":{\"params\":{\"type\":\"array\"},\"result\":{\"const\":8}}}}},"
    "{\"name\":\"tell\",\"summary\":\"S\",\"params\":[],\"x-duplex\":{\"from\":\"host\","
    "\"notification\":true}},"
    "{\"name\":\"free\",\"summary\":\"S\",\"params\":[],\"x-duplex\":{\"from\":\"plugin\","
    "\"params\":true}}],"
    "\"components\":{\"schemas\":{\"Kind\":{\"enum\":[\"iron\",\"steel\"]}}}}";

static dx_protocol *protocol;

static int load(void **state) {
    (void)state;
    return dx_protocol_read(TEXT(document), TEXT("t"), NULL, &protocol, NULL) != DX_OK;
}

static int unload(void **state) {
    (void)state;
    protocol = dx_protocol_free(protocol);
    return 0;
}

static void an_example_is_appended(void **state) {
    (void)state;
    static const struct {
        const char *method;
        dx_side from;
        dx_part part;
        const char *expected; /* NULL: none */
    } rows[] = {
        {"ask", DX_SIDE_HOST, DX_PART_PARAMS, "{\"n\":3}"},
        {"ask", DX_SIDE_HOST, DX_PART_RESULT, "\"iron\""},
        {"ask", DX_SIDE_PLUGIN, DX_PART_PARAMS, "[]"},
        {"ask", DX_SIDE_PLUGIN, DX_PART_RESULT, "8"},
        {"tell", DX_SIDE_HOST, DX_PART_PARAMS, NULL},
        {"tell", DX_SIDE_HOST, DX_PART_RESULT, NULL},
        {"tell", DX_SIDE_PLUGIN, DX_PART_PARAMS, NULL},
        {"free", DX_SIDE_PLUGIN, DX_PART_PARAMS, "{}"}, /* params are no number or text */
        {"free", DX_SIDE_PLUGIN, DX_PART_RESULT, "null"},
        {"free", DX_SIDE_HOST, DX_PART_PARAMS, NULL}, /* which does not send it */
        {"free", DX_SIDE_HOST, DX_PART_RESULT, NULL},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        const dx_method *method = dx_protocol_find(protocol, dx_str(rows[i].method));
        dx_buf json;
        dx_buf_init(&json, 100, NULL);
        assert_int_equal(dx_buf_append(&json, "->", 2), DX_OK);
        assert_int_equal(dx_protocol_example(protocol, method, rows[i].from, rows[i].part, &json),
                         rows[i].expected ? DX_OK : DX_AGAIN);
        assert_memory_equal(json.data, "->", 2);
        unit_same((dx_text){json.data + 2, json.len - 2},
                  dx_str(rows[i].expected ? rows[i].expected : ""));
        dx_buf_done(&json);
    }
}

static void it_fits_or_nothing_is_appended(void **state) {
    (void)state;
    const dx_method *method = dx_protocol_find(protocol, TEXT("ask"));
    dx_status status = DX_ERR_LIMIT;
    size_t max = 1;
    for (; status == DX_ERR_LIMIT; max++) {
        dx_buf json;
        dx_buf_init(&json, max, NULL);
        status = dx_protocol_example(protocol, method, DX_SIDE_HOST, DX_PART_PARAMS, &json);
        assert_int_equal(json.len, status == DX_OK ? 7 : 0);
        dx_buf_done(&json);
    }
    assert_int_equal(status, DX_OK);
    assert_true(max > 7); /* a number may want room for the longest one */
}

static void what_is_built_in_has_its_document(void **state) {
    (void)state;
    size_t count = 0;
    for (; dx_protocol_builtin(count); count++) {
        dx_text text = dx_protocol_builtin_document(count);
        yyjson_doc *doc = yyjson_read(text.at, text.len, 0);
        yyjson_val *duplex = yyjson_obj_get(yyjson_doc_get_root(doc), "x-duplex");
        const char *name = yyjson_get_str(yyjson_obj_get(duplex, "name"));
        assert_non_null(name);
        assert_memory_equal(dx_protocol_builtin(count), name, strlen(name));
        yyjson_doc_free(doc);
    }
    assert_null(dx_protocol_builtin_document(count).at);
    assert_null(dx_protocol_builtin_document(SIZE_MAX).at);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_example_is_appended),
        cmocka_unit_test(it_fits_or_nothing_is_appended),
        cmocka_unit_test(what_is_built_in_has_its_document),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
