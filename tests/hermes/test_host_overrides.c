/* What extensions want fields to look like, laid over each other. */
#include "systems/hermes/hermes_parts.h"
#include "unit/unit.h"

#include <stdio.h>

struct schemas {
    dx_hermes editor;
    dx_hermes_guest guests[4];
    dx_hermes_guest *list[4];
    dx_event facts[4];
    yyjson_doc *docs[4];
};

static void schemas_add(struct schemas *schemas, const char *text) {
    size_t i = schemas->editor.guest_count++;
    char facts[2000];
    snprintf(facts, sizeof facts, "{\"schema\":%s}", text);
    for (char *at = facts; *at; at++)
        if (*at == '\'')
            *at = '"';
    schemas->docs[i] = yyjson_read(facts, strlen(facts), 0);
    assert_non_null(schemas->docs[i]);
    schemas->facts[i].value = yyjson_doc_get_root(schemas->docs[i]);
    schemas->guests[i] = (dx_hermes_guest){.state = DX_HERMES_RUNNING, .facts = &schemas->facts[i]};
    schemas->list[i] = &schemas->guests[i];
    schemas->editor.guests = schemas->list;
}

static void schemas_expect(struct schemas *schemas, const char *expected) {
    struct unit_memory memory = {0};
    dx_allocator alloc = unit_allocator(&memory);
    dx_status status;
    size_t fail_at = 0;
    char wanted[2000];
    snprintf(wanted, sizeof wanted, "%s", expected);
    for (char *at = wanted; *at; at++)
        if (*at == '\'')
            *at = '"';
    schemas->editor.alloc = alloc;
    do {
        dx_buf json;
        memory.count = 0;
        memory.fail_at = ++fail_at;
        dx_buf_init(&json, 100000, &alloc);
        status = dx_hermes_schema(&schemas->editor, &json);
        if (status == DX_OK) {
            assert_int_equal(dx_buf_append(&json, "", 1), DX_OK);
            assert_string_equal(json.data, wanted);
        } else {
            assert_int_equal(status, DX_ERR_NOMEM);
            assert_int_equal(json.len, 0);
        }
        dx_buf_done(&json);
        assert_int_equal(memory.blocks, 0);
        assert_true(fail_at < 1000);
    } while (memory.count >= fail_at);
    assert_int_equal(status, DX_OK);
    assert_true(fail_at > 1);
    for (size_t i = 0; i < schemas->editor.guest_count; i++)
        yyjson_doc_free(schemas->docs[i]);
}

static void test_overrides(void **state) {
    struct schemas none = {0};
    struct schemas two = {0};
    struct schemas gone = {0};
    (void)state;
    schemas_expect(&none, "{'segments':{}}");
    schemas_add(&two, "{'segments': {'PID': {'fields': [{'field': 5, 'name': 'A', 'note': 'n', "
                      "'values': {'1': 'x'}}, {'field': 3, 'component': 10, 'maxlength': 70000}, "
                      "{'field': 3, 'component': 2, 'required': true}, {'field': 3}]}}}");
    schemas_add(&two, "{'segments': {'OBX': {}, 'ABC': null, 'PID': {'fields': [{'field': 5, "
                      "'name': null, 'values': {'2': 'y'}, 'datatype': 'time'}, {'field': 261, "
                      "'datatype': 'date'}]}, 'MSH': {'fields': [{'field': 1}]}}}");
    schemas_add(&two, "null");
    schemas_expect(&two, "{'segments':{'MSH':{'fields':[{'field':1}]},'PID':{'fields':[{'field':3},"
                         "{'field':3,'component':2,'required':true},{'field':3,'component':10,"
                         "'maxlength':70000},{'field':5,'name':null,'note':'n','values':{'2':'y'}},"
                         "{'field':261,'datatype':'date'}]}}}");
    schemas_add(&gone, "{'segments': {'PID': {'fields': [{'field': 5}]}}}");
    gone.guests[0].state = DX_HERMES_FAILED;
    schemas_expect(&gone, "{'segments':{}}");
}

/* Many, in a bad order, with many of one place: sorted, the last one wins. */
static void test_overrides_many(void **state) {
    struct schemas many = {0};
    struct unit_memory memory = {0};
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *fields = yyjson_mut_arr(doc);
    dx_buf json;
    (void)state;
    for (unsigned i = 0; i < 50000; i++) {
        yyjson_mut_val *field = yyjson_mut_arr_add_obj(doc, fields);
        yyjson_mut_obj_add_uint(doc, field, "field", i * 7919 % 1000 + 1);
        yyjson_mut_obj_add_uint(doc, field, "minlength", i);
    }
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    yyjson_mut_doc_set_root(doc, root);
    yyjson_mut_val *segments =
        yyjson_mut_obj_add_obj(doc, yyjson_mut_obj_add_obj(doc, root, "schema"), "segments");
    yyjson_mut_obj_add_val(doc, yyjson_mut_obj_add_obj(doc, segments, "PID"), "fields", fields);
    schemas_add(&many, "null");
    yyjson_doc_free(many.docs[0]);
    many.docs[0] = yyjson_mut_doc_imut_copy(doc, NULL);
    many.facts[0].value = yyjson_doc_get_root(many.docs[0]);
    yyjson_mut_doc_free(doc);
    many.editor.alloc = unit_allocator(&memory);
    dx_buf_init(&json, 10 << 20, NULL);
    assert_int_equal(dx_hermes_schema(&many.editor, &json), DX_OK);
    assert_int_equal(memory.blocks, 0);
    yyjson_doc *result = yyjson_read(json.data, json.len, 0);
    yyjson_val *list = yyjson_doc_ptr_get(result, "/segments/PID/fields");
    assert_int_equal(yyjson_arr_size(list), 1000);
    yyjson_val *one;
    size_t i;
    size_t count;
    yyjson_arr_foreach(list, i, count, one) {
        uint64_t last = yyjson_get_uint(yyjson_obj_get(one, "minlength"));
        assert_int_equal(yyjson_get_uint(yyjson_obj_get(one, "field")), i + 1);
        assert_int_equal(last * 7919 % 1000, i);
        assert_true(last >= 49000);
    }
    yyjson_doc_free(result);
    yyjson_doc_free(many.docs[0]);
    dx_buf_done(&json);
}

static void test_overrides_exact(void **state) {
    struct schemas two = {.editor = {.exact = true}};
    (void)state;
    schemas_add(&two, "{'segments': {'PID': {'fields': [{'field': 5, 'name': 'A', 'note': null}]}, "
                      "'OBX': {'fields': [{'field': 2, 'note': null}]}}}");
    schemas_add(&two, "{'segments': {'PID': {'fields': [{'field': 261, 'name': null, 'group': "
                      "null, 'maxlength': 70000, 'minlength': 65535}]}}}");
    schemas_expect(&two, "{'segments':{'OBX':{'fields':[{'field':2,'note':null}]},'PID':{'fields':"
                         "[{'field':5,'name':'A','group':null,'minlength':65535,'maxlength':65535}"
                         "]}}}");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_overrides),
        cmocka_unit_test(test_overrides_many),
        cmocka_unit_test(test_overrides_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
