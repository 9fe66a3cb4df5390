/* JSON that is merged, by keys and by rules; return codes, texts of results, hashes. */
#include "unit/unit.h"

#include "systems/finecode/shared.h"

#include <stdio.h>

static yyjson_doc *read_json(const char *json) {
    yyjson_doc *doc = NULL;
    assert_int_equal(dx__finecode_doc_of_text(NULL, dx_str(json), &doc), DX_OK);
    return doc;
}

static void same(yyjson_mut_val *got, const char *expected) {
    assert_non_null(got);
    char *json = yyjson_mut_val_write(got, 0, NULL);
    assert_non_null(json);
    assert_string_equal(json, expected);
    free(json);
}

static void deep(const char *first, const char *second, const char *expected) {
    yyjson_doc *a = read_json(first);
    yyjson_doc *b = read_json(second);
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *old = yyjson_val_mut_copy(doc, yyjson_doc_get_root(a));
    same(dx__finecode_deep_merge(doc, old, yyjson_doc_get_root(b)), expected);
    same(old, first); /* as it was */
    yyjson_mut_doc_free(doc);
    yyjson_doc_free(a);
    yyjson_doc_free(b);
}

static void configurations(void **state) {
    (void)state;
    deep("{}", "{}", "{}");
    deep("{\"a\":1}", "{\"b\":2}", "{\"a\":1,\"b\":2}");
    deep("{\"a\":1}", "{\"a\":2}", "{\"a\":2}");
    deep("{\"a\":[1,2]}", "{\"a\":[3]}", "{\"a\":[3]}");
    deep("{\"a\":{\"b\":1,\"c\":2}}", "{\"a\":{\"c\":3,\"d\":4}}",
         "{\"a\":{\"b\":1,\"c\":3,\"d\":4}}");
    deep("{\"a\":{\"b\":1}}", "{\"a\":null}", "{\"a\":null}");
    deep("{\"a\":1}", "{\"a\":{\"b\":2}}", "{\"a\":{\"b\":2}}");
    deep("[1]", "{\"a\":1}", "{\"a\":1}");
    deep("{\"a\\u0000b\":1}", "{\"a\\u0000b\":2,\"a\":3}", "{\"a\\u0000b\":2,\"a\":3}");
    yyjson_doc *a = read_json("{\"a\":1}");
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    same(dx__finecode_deep_merge(doc, NULL, yyjson_doc_get_root(a)), "{\"a\":1}");
    same(dx__finecode_deep_merge(doc, yyjson_val_mut_copy(doc, yyjson_doc_get_root(a)), NULL),
         "{\"a\":1}");
    yyjson_mut_doc_free(doc);
    yyjson_doc_free(a);
}

static void by_rules(const char *rules, const char *first, const char *second,
                     const char *expected) {
    yyjson_doc *r = rules ? read_json(rules) : NULL;
    yyjson_doc *a = read_json(first);
    yyjson_doc *b = read_json(second);
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *merged =
        dx__finecode_merge_results(doc, NULL, yyjson_doc_get_root(a), yyjson_doc_get_root(r));
    same(merged, first);
    merged =
        dx__finecode_merge_results(doc, merged, yyjson_doc_get_root(b), yyjson_doc_get_root(r));
    same(merged, expected);
    yyjson_mut_doc_free(doc);
    yyjson_doc_free(r);
    yyjson_doc_free(a);
    yyjson_doc_free(b);
}

static void usual_rules(void **state) {
    (void)state;
    by_rules(NULL, "{\"a\":[1]}", "{\"a\":[2,[3]]}", "{\"a\":[1,2,[3]]}");
    by_rules(NULL, "{\"a\":[1]}", "{\"b\":[2]}", "{\"a\":[1],\"b\":[2]}");
    by_rules(NULL, "{\"a\":{\"f\":[1]}}", "{\"a\":{\"f\":[2],\"g\":[]}}",
             "{\"a\":{\"f\":[1,2],\"g\":[]}}");
    by_rules(NULL, "{\"a\":true}", "{\"a\":false}", "{\"a\":true}");
    by_rules(NULL, "{\"a\":false}", "{\"a\":true}", "{\"a\":true}");
    by_rules(NULL, "{\"a\":1,\"b\":\"x\"}", "{\"a\":2,\"b\":\"y\"}", "{\"a\":2,\"b\":\"y\"}");
    by_rules(NULL, "{\"return_code\":1}", "{\"return_code\":0}", "{\"return_code\":1}");
    by_rules(NULL, "{\"return_code\":0}", "{\"return_code\":3}", "{\"return_code\":3}");
    by_rules(NULL, "{\"a\":[1]}", "{\"a\":null}", "{\"a\":[1]}");
    by_rules(NULL, "{\"a\":null}", "{\"a\":[1]}", "{\"a\":[1]}");
    by_rules(NULL, "{\"a\":[1]}", "{\"a\":\"x\"}", "{\"a\":\"x\"}");
    by_rules(NULL, "{\"a\":1}", "{}", "{\"a\":1}");
    by_rules(NULL, "{\"a\":1}", "null", "{\"a\":1}");
}

static void named_rules(void **state) {
    (void)state;
    by_rules("{\"a\":\"last\"}", "{\"a\":[1]}", "{\"a\":[2]}", "{\"a\":[2]}");
    by_rules("{\"a\":\"last\"}", "{\"a\":[1]}", "{\"a\":null}", "{\"a\":null}");
    by_rules("{\"a\":\"first\"}", "{\"a\":[1]}", "{\"a\":[2]}", "{\"a\":[1]}");
    by_rules("{\"a\":\"concat\"}", "{\"a\":\"x\"}", "{\"a\":\"y\"}", "{\"a\":\"xy\"}");
    by_rules("{\"a\":\"concat\"}", "{\"a\":\"\"}", "{\"a\":\"\"}", "{\"a\":\"\"}");
    by_rules("{\"a\":\"concat\"}", "{\"a\":1}", "{\"a\":2}", "{\"a\":2}");
    by_rules("{\"a\":\"or\"}", "{\"a\":false}", "{\"a\":false}", "{\"a\":false}");
    by_rules("{\"a\":\"and\"}", "{\"a\":true}", "{\"a\":false}", "{\"a\":false}");
    by_rules("{\"a\":\"and\"}", "{\"a\":true}", "{\"a\":true}", "{\"a\":true}");
    by_rules("{\"a\":\"sum\"}", "{\"a\":40}", "{\"a\":2}", "{\"a\":42}");
    by_rules("{\"a\":\"sum\"}", "{\"a\":-40}", "{\"a\":2}", "{\"a\":-38}");
    by_rules("{\"a\":\"sum\"}", "{\"a\":0.5}", "{\"a\":1}", "{\"a\":1.5}");
    by_rules("{\"a\":\"max\"}", "{\"a\":-1}", "{\"a\":-2}", "{\"a\":-1}");
    by_rules("{\"a\":\"max\"}", "{\"a\":1}", "{\"a\":1.5}", "{\"a\":1.5}");
    by_rules("{\"a\":\"min\"}", "{\"a\":1}", "{\"a\":-2}", "{\"a\":-2}");
    by_rules("{\"a\":\"min\"}", "{\"a\":1}", "{\"a\":\"x\"}", "{\"a\":\"x\"}");
    by_rules("{\"return_code\":\"min\"}", "{\"return_code\":3}", "{\"return_code\":1}",
             "{\"return_code\":1}");
    by_rules("{\"a\":\"merge\",\"n\":\"sum\"}", "{\"a\":{\"n\":1}}", "{\"a\":{\"n\":2}}",
             "{\"a\":{\"n\":3}}");
    by_rules("{\"a\":\"sum\"}", "{\"a\":9223372036854775807}", "{\"a\":9223372036854775807}",
             "{\"a\":18446744073709552000.0}");
    by_rules("{\"a\":\"max\"}", "{\"a\":1}", "{\"a\":18446744073709551615}",
             "{\"a\":18446744073709551615}");
}

/* Numbers that fit nowhere stay what they are, and are numbers all the same. */
static void long_numbers(void **state) {
    (void)state;
#define LONG "123456789012345678901234567890"
    deep("{\"a\":" LONG "}", "{\"b\":-" LONG "}", "{\"a\":" LONG ",\"b\":-" LONG "}");
    by_rules(NULL, "{\"a\":1}", "{\"a\":1e400}", "{\"a\":1e400}");
    by_rules(NULL, "{\"a\":[" LONG "]}", "{\"a\":[1]}", "{\"a\":[" LONG ",1]}");
    by_rules("{\"a\":\"max\"}", "{\"a\":" LONG "}", "{\"a\":1}", "{\"a\":" LONG "}");
    by_rules("{\"a\":\"max\"}", "{\"a\":1}", "{\"a\":" LONG "}", "{\"a\":" LONG "}");
    by_rules("{\"a\":\"min\"}", "{\"a\":1}", "{\"a\":-1e400}", "{\"a\":-1e400}");
    by_rules("{\"a\":\"sum\"}", "{\"a\":36893488147419103232}", "{\"a\":36893488147419103232}",
             "{\"a\":73786976294838210000.0}");
    by_rules("{\"a\":\"sum\"}", "{\"a\":1}", "{\"a\":1e400}", "{\"a\":1e400}");
    yyjson_doc *doc = read_json("{\"a\":" LONG "}");
    assert_int_equal(dx__finecode_return_code(yyjson_doc_get_root(doc), "/a"), 1);
    yyjson_doc_free(doc);
}

static void rules_that_are_none(void **state) {
    static const char *const rows[] = {"[]",           "7",
                                       "null",         "{\"a\":\"avg\"}",
                                       "{\"a\":7}",    "{\"a\":\"Last\"}",
                                       "{\"a\":null}", "{\"a\":[1,2,3,4]}"};
    (void)state;
    char reason[200] = "";
    for (size_t i = 0; i < LENGTH(rows); i++) {
        yyjson_doc *doc = read_json(rows[i]);
        assert_int_equal(dx__finecode_rules_check(yyjson_doc_get_root(doc), reason), DX_MISFIT);
        assert_true(strlen(reason) > 10);
        yyjson_doc_free(doc);
    }
    yyjson_doc *doc =
        read_json("{\"a\":\"last\",\"b\":\"first\",\"c\":\"concat\",\"d\":\"merge\","
                  "\"e\":\"or\",\"f\":\"and\",\"g\":\"sum\",\"h\":\"max\",\"i\":\"min\"}");
    assert_int_equal(dx__finecode_rules_check(yyjson_doc_get_root(doc), reason), DX_OK);
    assert_int_equal(dx__finecode_rules_check(NULL, reason), DX_OK);
    yyjson_doc_free(doc);
}

/* More members than are looked for one after the other. */
static void large_objects(void **state) {
    (void)state;
    enum { COUNT = 20000 };
    yyjson_mut_doc *docs[2];
    for (int d = 0; d < 2; d++) {
        docs[d] = yyjson_mut_doc_new(NULL);
        yyjson_mut_val *root = yyjson_mut_obj(docs[d]);
        yyjson_mut_doc_set_root(docs[d], root);
        for (int i = 0; i < COUNT; i++) {
            char key[32];
            (void)snprintf(key, sizeof key, "k%d", i + d * COUNT / 2);
            yyjson_mut_val *list = yyjson_mut_arr(docs[d]);
            yyjson_mut_arr_add_int(docs[d], list, d);
            yyjson_mut_obj_add(root, yyjson_mut_strcpy(docs[d], key), list);
        }
    }
    yyjson_doc *second = yyjson_mut_doc_imut_copy(docs[1], NULL);
    yyjson_mut_val *first = yyjson_mut_doc_get_root(docs[0]);
    assert_ptr_equal(dx__finecode_merge_results(docs[0], first, yyjson_doc_get_root(second), NULL),
                     first);
    assert_int_equal(yyjson_mut_obj_size(first), COUNT + COUNT / 2);
    assert_int_equal(yyjson_mut_arr_size(yyjson_mut_obj_get(first, "k0")), 1);
    assert_int_equal(yyjson_mut_arr_size(yyjson_mut_obj_get(first, "k15000")), 2);
    assert_int_equal(yyjson_mut_arr_size(yyjson_mut_obj_get(first, "k29999")), 1);
    yyjson_doc_free(second);
    yyjson_mut_doc_free(docs[0]);
    yyjson_mut_doc_free(docs[1]);
}

static char *nested(size_t depth) {
    char *json = malloc(depth * 6 + 16);
    assert_non_null(json);
    char *at = json;
    for (size_t i = 0; i < depth; i++)
        at = stpcpy(at, "{\"a\":");
    at = stpcpy(at, "1");
    for (size_t i = 0; i < depth; i++)
        at = stpcpy(at, "}");
    return json;
}

/* Deeper than a message can be: nothing breaks, and what comes second wins down there. */
static void deep_ones(void **state) {
    (void)state;
    char *json = nested(200000);
    yyjson_doc *doc = yyjson_read(json, strlen(json), 0);
    assert_non_null(doc);
    yyjson_mut_doc *to = yyjson_mut_doc_new(NULL);
    yyjson_val *root = yyjson_doc_get_root(doc);
    yyjson_mut_val *first = yyjson_val_mut_copy(to, root);
    assert_non_null(dx__finecode_merge_results(to, first, root, NULL));
    char room[65];
    dx__finecode_hash(root, room);
    assert_int_equal(strlen(room), 64);
    dx_buf text;
    dx_buf_init(&text, SIZE_MAX / 8, NULL);
    yyjson_doc *copy = NULL;
    assert_int_equal(dx__finecode_doc_of(NULL, root, &copy), DX_ERR_INVALID);
    assert_int_equal(dx__finecode_doc_of_text(NULL, dx_str(json), &copy), DX_ERR_INVALID);
    assert_null(copy);
    dx_buf_done(&text);
    yyjson_mut_doc_free(to);
    yyjson_doc_free(doc);
    free(json);
    json = nested(DX__FINECODE_DEPTH_MAX);
    assert_int_equal(dx__finecode_doc_of_text(NULL, dx_str(json), &copy), DX_OK);
    yyjson_doc *again = NULL;
    assert_int_equal(dx__finecode_doc_of(NULL, yyjson_doc_get_root(copy), &again), DX_OK);
    yyjson_doc_free(again);
    yyjson_doc_free(copy);
    free(json);
    json = nested(DX__FINECODE_DEPTH_MAX + 1);
    assert_int_equal(dx__finecode_doc_of_text(NULL, dx_str(json), &copy), DX_ERR_INVALID);
    free(json);
}

static void documents_of_their_own(void **state) {
    (void)state;
    yyjson_doc *doc = NULL;
    assert_int_equal(dx__finecode_doc_of_json(NULL, dx_json_text("{\"a\":[1]}", 9), &doc), DX_OK);
    yyjson_doc *copy = NULL;
    assert_int_equal(dx__finecode_doc_of(NULL, yyjson_doc_get_root(doc), &copy), DX_OK);
    yyjson_doc_free(doc);
    assert_int_equal(yyjson_get_len(yyjson_obj_get(yyjson_doc_get_root(copy), "a")), 1);
    yyjson_doc_free(copy);
    doc = copy = (yyjson_doc *)&state;
    assert_int_equal(dx__finecode_doc_of_json(NULL, dx_json_none(), &doc), DX_OK);
    assert_null(doc);
    assert_int_equal(dx__finecode_doc_of(NULL, NULL, &copy), DX_OK);
    assert_null(copy);
    assert_int_equal(dx__finecode_doc_of_json(NULL, dx_json_text("{", 1), &doc), DX_ERR_INVALID);
    assert_int_equal(dx__finecode_doc_of_text(NULL, TEXT("\"\\ud800\""), &doc), DX_ERR_INVALID);
    assert_int_equal(dx__finecode_doc_of_text(NULL, TEXT("1 2"), &doc), DX_ERR_INVALID);
    assert_int_equal(dx__finecode_doc_of_text(NULL, TEXT(""), &doc), DX_ERR_INVALID);
    assert_int_equal(dx__finecode_doc_of_text(NULL, (dx_text){0}, &doc), DX_ERR_INVALID);
    for (size_t at = 1;; at++) {
        struct unit_memory memory = {.fail_at = at};
        dx_allocator alloc = unit_allocator(&memory);
        dx_status status = dx__finecode_doc_of_json(&alloc, dx_json_text("{\"a\":[1]}", 9), &doc);
        if (status == DX_OK) {
            yyjson_doc_free(doc);
            assert_int_equal(memory.blocks, 0);
            break;
        }
        assert_int_equal(status, DX_ERR_NOMEM);
        assert_int_equal(memory.blocks, 0);
    }
}

static void without_memory(void **state) {
    static const char first[] = "{\"a\":[1],\"b\":\"x\",\"c\":{\"d\":1}}";
    static const char second[] = "{\"a\":[2],\"b\":\"y\",\"c\":{\"e\":1},\"f\":[[[]]]}";
    (void)state;
    yyjson_doc *a = read_json(first);
    yyjson_doc *b = read_json(second);
    yyjson_doc *rules = read_json("{\"b\":\"concat\"}");
    for (int kind = 0; kind < 2; kind++)
        for (size_t at = 1;; at++) {
            struct unit_memory memory = {0};
            dx_allocator alloc = unit_allocator(&memory);
            yyjson_alc alc = dx__finecode_alc(&alloc);
            yyjson_mut_doc *doc = yyjson_mut_doc_new(&alc);
            yyjson_mut_val *old = yyjson_val_mut_copy(doc, yyjson_doc_get_root(a));
            memory.fail_at = memory.count + at;
            yyjson_mut_val *merged =
                kind ? dx__finecode_deep_merge(doc, old, yyjson_doc_get_root(b))
                     : dx__finecode_merge_results(doc, old, yyjson_doc_get_root(b),
                                                  yyjson_doc_get_root(rules));
            memory.fail_at = 0;
            yyjson_mut_doc_free(doc);
            assert_int_equal(memory.blocks, 0);
            if (merged)
                break;
        }
    yyjson_doc_free(a);
    yyjson_doc_free(b);
    yyjson_doc_free(rules);
}

static void return_codes(void **state) {
    static const struct {
        const char *result;
        const char *fails_if;
        int64_t code;
    } rows[] = {
        {"{}", NULL, 0},
        {"{\"return_code\":7}", NULL, 7},
        {"{\"return_code\":-7}", NULL, -7},
        {"{\"return_code\":0,\"a\":[1]}", "/a", 0},
        {"{\"return_code\":\"7\",\"a\":[1]}", "/a", 1},
        {"{\"return_code\":18446744073709551615}", NULL, INT64_MAX},
        {"{\"a\":[1]}", "/a", 1},
        {"{\"a\":[]}", "/a", 0},
        {"{\"a\":{\"b\":1}}", "/a", 1},
        {"{\"a\":{}}", "/a", 0},
        {"{\"a\":true}", "/a", 1},
        {"{\"a\":false}", "/a", 0},
        {"{\"a\":null}", "/a", 0},
        {"{\"a\":\"x\"}", "/a", 1},
        {"{\"a\":\"\"}", "/a", 0},
        {"{\"a\":0.5}", "/a", 1},
        {"{\"a\":0}", "/a", 0},
        {"{\"a\":-1}", "/a", 1},
        {"{\"a\":{\"b\":[{\"c\":1}]}}", "/a/b/0/c", 1},
        {"{\"a\":1}", "/b", 0},
        {"{\"a\":1}", "a", 0},
        {"[1]", "", 1},
        {"7", "/a", 0},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        yyjson_doc *doc = read_json(rows[i].result);
        assert_int_equal(dx__finecode_return_code(yyjson_doc_get_root(doc), rows[i].fails_if),
                         rows[i].code);
        yyjson_doc_free(doc);
    }
    assert_int_equal(dx__finecode_return_code(NULL, "/a"), 0);
}

static void formatted(const char *result, const char *expected) {
    yyjson_doc *doc = read_json(result);
    dx_buf text;
    dx_buf_init(&text, 1000, NULL);
    assert_int_equal(dx__finecode_format(yyjson_doc_get_root(doc), "/p", &text), DX_OK);
    unit_same((dx_text){text.data, text.len}, dx_str(expected));
    dx_buf_done(&text);
    yyjson_doc_free(doc);
}

#define AT "\"range\":{\"start\":{\"line\":0,\"character\":4},\"end\":{\"line\":0,\"character\":5}}"

static void texts(void **state) {
    (void)state;
    formatted("{\"a\":1}", "{\n  \"a\": 1\n}");
    formatted("{\"messages\":{}}", "");
    formatted("{\"messages\":{\"/a.c\":[{" AT ",\"message\":\"bad\",\"severity\":1,\"code\":\"E1\","
              "\"source\":\"lint\"}]}}",
              "/a.c:1:5: error: bad [E1] (lint)");
    formatted("{\"messages\":{\"a/b.c\":[{\"message\":\"one\"}],\"<in>\":[{\"message\":\"two\"}],"
              "\"file:///c\":[{\"message\":\"three\"}],\"\":[{\"message\":\"four\"}]}}",
              "/p/a/b.c: one\n<in>: two\nfile:///c: three\n: four");
    formatted(
        "{\"messages\":{\"/a.c\":[{" AT ",\"message\":\"one\",\"severity\":\"note\",\"code\":7},"
        "{\"message\":\"two\"}],\"/b.c\":[],\"/c.c\":[{\"message\":\"three\",\"severity\":9}]}}",
        "/a.c:1:5: note: one [7]\n/a.c: two\n/c.c: three");
    formatted("{\"messages\":{\"/a\":[{\"message\":\"x\",\"code\":18446744073709551615}]}}",
              "/a: x [18446744073709551615]");
    /* One message is one line, and steers no terminal. */
    formatted("{\"messages\":{\"/a\\nb\":[{\"message\":\"x\\ny\\u001b[31m\\u009bz\\u00e9\"}]}}",
              "/a b: x y [31m z\xc3\xa9");
    formatted(
        "{\"messages\":{\"/a\":[7,null,{\"range\":{\"start\":{\"line\":-1,\"character\":0}}}]}}",
        "/a:\n/a:\n/a:");
    /* Values of the wrong kind are left out. */
    formatted("{\"messages\":{\"/a\":[{\"message\":[1,2],\"code\":[1,2,3],\"severity\":{\"a\":1},"
              "\"source\":[[]],\"range\":[1]}]}}",
              "/a:");
    formatted("{\"messages\":[1]}", "{\n  \"messages\": [\n    1\n  ]\n}");
    formatted("{\"messages\":{\"a\":1}}", "{\n  \"messages\": {\n    \"a\": 1\n  }\n}");
    dx_buf small;
    dx_buf_init(&small, 5, NULL);
    yyjson_doc *doc = read_json("{\"messages\":{\"/a.c\":[{\"message\":\"bad\"}]}}");
    assert_int_equal(dx__finecode_format(yyjson_doc_get_root(doc), NULL, &small), DX_ERR_LIMIT);
    assert_int_equal(small.len, 0);
    assert_int_equal(dx__finecode_format(NULL, NULL, &small), DX_OK);
    dx_buf_done(&small);
    yyjson_doc_free(doc);
}

static void hashes(void **state) {
    (void)state;
    char one[65];
    char two[65];
    yyjson_doc *a = read_json("{\"b\":{\"y\":1,\"x\":[{\"q\":1,\"p\":2}]},\"a\":\"\\u00e9\"}");
    yyjson_doc *b = read_json("{\"a\":\"\xc3\xa9\",\"b\":{\"x\":[{\"p\":2,\"q\":1}],\"y\":1}}");
    yyjson_doc *c = read_json("{\"a\":\"\xc3\xa9\",\"b\":{\"x\":[{\"p\":2,\"q\":2}],\"y\":1}}");
    dx__finecode_hash(yyjson_doc_get_root(a), one);
    dx__finecode_hash(yyjson_doc_get_root(b), two);
    assert_string_equal(one, two);
    dx__finecode_hash(yyjson_doc_get_root(c), two);
    assert_string_not_equal(one, two);
    yyjson_doc_free(a);
    yyjson_doc_free(b);
    yyjson_doc_free(c);
    /* printf '{"a":1,"b":2}' | sha256sum */
    a = read_json("{\"b\":2,\"a\":1}");
    dx__finecode_hash(yyjson_doc_get_root(a), one);
    assert_string_equal(one, "43258cff783fe7036d8a43033f830adfc60ec037382473548ac742b888292777");
    yyjson_doc_free(a);
}

static void strings(void **state) {
    (void)state;
    yyjson_doc *doc =
        read_json("{\"a\":\"x\",\"b\":[1,2],\"c\":{\"d\":1},\"e\":7,\"f\":null,\"g\":\"\"}");
    yyjson_val *root = yyjson_doc_get_root(doc);
    assert_text(dx__finecode_string(root, "a"), "x");
    assert_non_null(dx__finecode_string(root, "g").at);
    for (const char *name = "bcefz"; *name; name++) {
        char member[] = {*name, '\0'};
        dx_text text = dx__finecode_string(root, member);
        assert_null(text.at);
        assert_int_equal(text.len, 0);
    }
    assert_null(dx__finecode_string(NULL, "a").at);
    assert_null(dx__finecode_string(yyjson_obj_get(root, "b"), "a").at);
    yyjson_doc_free(doc);
}

static void ids(void **state) {
    (void)state;
    char one[37];
    char two[37];
    dx__finecode_uuid(one);
    dx__finecode_uuid(two);
    assert_string_not_equal(one, two);
    assert_int_equal(strlen(one), 36);
    assert_int_equal(one[14], '4');
    assert_non_null(strchr("89ab", one[19]));
    for (size_t i = 0; i < 36; i++)
        assert_true(strchr("0123456789abcdef-", one[i]) &&
                    (one[i] == '-') == (i == 8 || i == 13 || i == 18 || i == 23));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(configurations),
        cmocka_unit_test(usual_rules),
        cmocka_unit_test(named_rules),
        cmocka_unit_test(long_numbers),
        cmocka_unit_test(rules_that_are_none),
        cmocka_unit_test(large_objects),
        cmocka_unit_test(deep_ones),
        cmocka_unit_test(documents_of_their_own),
        cmocka_unit_test(without_memory),
        cmocka_unit_test(return_codes),
        cmocka_unit_test(texts),
        cmocka_unit_test(hashes),
        cmocka_unit_test(strings),
        cmocka_unit_test(ids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
