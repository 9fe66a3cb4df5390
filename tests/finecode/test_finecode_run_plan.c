/* Which handlers are called together: the document's own examples, and what is at their edges. */
#include "systems/finecode/run_parts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

typedef dx_status (*plan)(const dx_allocator *alloc, const dx__finecode_action *action,
                          dx__finecode_part **ret_parts, size_t *ret_count);

/* "h1/env1 h2/env1" becomes "env1:h1,h2". */
static void expect(plan make, const char *handlers, const char *wanted) {
    dx_allocator alloc = dx__finecode_allocator(NULL);
    dx__finecode_handler list[16] = {{0}};
    dx__finecode_action action = {.handlers = list};
    char words[256];
    char got[256] = "";
    snprintf(words, sizeof words, "%s", handlers);
    for (char *word = strtok(words, " "); word; word = strtok(NULL, " ")) {
        char *slash = strchr(word, '/');
        *slash = '\0';
        list[action.handler_count++] = (dx__finecode_handler){.name = word, .env = slash + 1};
    }
    dx__finecode_part *parts = NULL;
    size_t count = 99;
    assert_int_equal(make(&alloc, &action, &parts, &count), DX_OK);
    memset(words, 'x', sizeof words); /* nothing of it is needed any more */
    for (size_t i = 0; i < count; i++) {
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s:", i ? " " : "", parts[i].env);
        for (size_t k = 0; k < parts[i].count; k++)
            snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s", k ? "," : "",
                     parts[i].names[k]);
        assert_null(parts[i].names[parts[i].count]);
    }
    assert_string_equal(got, wanted);
    free(parts);
}

/* The tables of the document, in its words. */
static void test_document(void **state) {
    (void)state;
    expect(dx__finecode_segments, "h1/env1 h2/env1 h3/env1 h4/env2", "env1:h1,h2,h3 env2:h4");
    expect(dx__finecode_segments, "h1/env1 h2/env2 h3/env1", "env1:h1 env2:h2 env1:h3");
    expect(dx__finecode_groups, "h1/env1 h2/env2 h3/env1", "env1:h1,h3 env2:h2");
}

static void test_edges(void **state) {
    (void)state;
    expect(dx__finecode_segments, "", "");
    expect(dx__finecode_groups, "", "");
    expect(dx__finecode_segments, "a/x", "x:a");
    expect(dx__finecode_groups, "a/x", "x:a");
    expect(dx__finecode_segments, "a/x b/x", "x:a,b");
    expect(dx__finecode_groups, "a/x b/x", "x:a,b");
    expect(dx__finecode_groups, "a/x b/y c/z d/y e/x", "x:a,e y:b,d z:c");
    expect(dx__finecode_segments, "a/x b/y c/y d/x e/x", "x:a y:b,c x:d,e");
    expect(dx__finecode_segments, "a/xx b/x", "xx:a x:b");
}

static void delta(const char *before, const char *now, const char *wanted) {
    yyjson_doc *one = before ? yyjson_read(before, strlen(before), 0) : NULL;
    yyjson_doc *other = yyjson_read(now, strlen(now), 0);
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *value =
        dx__finecode_delta(doc, one ? yyjson_doc_get_root(one) : NULL, yyjson_doc_get_root(other));
    assert_non_null(value);
    char *text = yyjson_mut_val_write(value, 0, NULL);
    assert_string_equal(text, wanted);
    free(text);
    yyjson_mut_doc_free(doc);
    yyjson_doc_free(one);
    yyjson_doc_free(other);
}

static void test_delta(void **state) {
    (void)state;
    delta(NULL, "{\"a\":[1]}", "{\"a\":[1]}");
    delta("{\"a\":[1]}", "{\"a\":[1]}", "{}");
    delta("{\"a\":[1]}", "{\"a\":[1,2,3]}", "{\"a\":[2,3]}");
    delta("{\"a\":[1]}", "{\"a\":[2,1]}", "{\"a\":[2,1]}");
    delta("{\"a\":{\"x\":[1],\"y\":0}}", "{\"a\":{\"x\":[1,2],\"y\":0,\"z\":1},\"b\":true}",
          "{\"a\":{\"x\":[2],\"z\":1},\"b\":true}");
    delta("{\"a\":[1,2]}", "{\"a\":[1]}", "{\"a\":[1]}");
    delta("{\"a\":1}", "{\"a\":[1]}", "{\"a\":[1]}");
    delta("{\"a\":{\"x\":1,\"y\":2}}", "{\"a\":{\"y\":2,\"x\":1}}", "{}");
    delta("{\"a\":{\"x\":1}}", "{\"a\":{}}", "{\"a\":{}}");
    delta("{\"a\":[\"x\",1.5,true]}", "{\"a\":[\"x\",1.5,true,null]}", "{\"a\":[null]}");
    delta("{\"a\":[true]}", "{\"a\":[false]}", "{\"a\":[false]}");
    delta("{\"a\":\"xy\"}", "{\"a\":\"xz\"}", "{\"a\":\"xz\"}");
}

/* {"k0": [0], …}, in this order or the other, with `more` at the end of each list. */
static char *many(size_t count, bool is_reversed, const char *more) {
    char *text = malloc(count * 40 + 3);
    assert_non_null(text);
    char *end = text;
    *end++ = '{';
    for (size_t i = 0; i < count; i++) {
        size_t number = is_reversed ? count - 1 - i : i;
        end += sprintf(end, "%s\"k%zu\":[%zu%s]", i ? "," : "", number, number,
                       number == 7 ? more : "");
    }
    strcpy(end, "}");
    return text;
}

/* However many members there are, in whatever order. */
static void test_many_members(void **state) {
    static const size_t counts[] = {15, 16, 17, 200000};
    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        char *one = many(counts[i], false, "");
        char *other = many(counts[i], true, ",8");
        delta(one, other, "{\"k7\":[8]}");
        free(one);
        free(other);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_document),
        cmocka_unit_test(test_edges),
        cmocka_unit_test(test_delta),
        cmocka_unit_test(test_many_members),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
