/* Redaction: which values are hidden, and that nothing else changes. */
#include "unit/unit.h"

#include "base/alloc.h"
#include "base/secret_name.h"
#include "trace/trace.h"

#include <duplex/rpc.h>

#include <stdio.h>

static const char *const names[] = {"token", "passWord", "authorization", "cl\xc3\xa9", NULL};

static dx__secrets secrets_of(const char *const *list) {
    dx_allocator alloc = dx__allocator(NULL);
    dx__secrets secrets;
    assert_int_equal(dx__secrets_init(&secrets, list, &alloc), DX_OK);
    return secrets;
}

static void expect_hidden_by(const char *const *list, dx_text text, dx_text expected) {
    dx__secrets secrets = secrets_of(list);
    uint64_t count;
    struct unit_fence fence = unit_fence_new(text.len);
    dx_buf buf;
    dx_buf_init(&buf, 100000, NULL);
    text = unit_fence_put(&fence, text.at, text.len);
    assert_int_equal(dx_json_check(text, DX_DEPTH_MAX, NULL), DX_FAULT_NONE);
    assert_int_equal(dx__secrets_hide(&secrets, text, &buf, &count), DX_OK);
    unit_same((dx_text){buf.data, buf.len}, expected);
    size_t stars = 0;
    for (size_t i = 0; i + 4 <= expected.len; i++)
        stars += memcmp(expected.at + i, "***\"", 4) == 0;
    assert_int_equal(count, stars);
    assert_int_equal(dx_json_check(expected, DX_DEPTH_MAX, NULL), DX_FAULT_NONE);
    dx_buf_done(&buf);
    unit_fence_done(&fence);
    dx__secrets_done(&secrets);
}

static void expect_hidden(dx_text text, dx_text expected) {
    expect_hidden_by(names, text, expected);
}

static void values_are_hidden(void **state) {
    (void)state;
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"{\"token\":\"abc\"}", "{\"token\":\"***\"}"},
        {"{\"a\":1,\"token\":\"abc\",\"b\":2}", "{\"a\":1,\"token\":\"***\",\"b\":2}"},
        /* any value, not only strings */
        {"{\"token\":12.5e3}", "{\"token\":\"***\"}"},
        {"{\"token\":null,\"token\":true}", "{\"token\":\"***\",\"token\":\"***\"}"},
        {"{\"token\":{\"a\":[1,{\"b\":\"}\"}]},\"x\":[]}", "{\"token\":\"***\",\"x\":[]}"},
        {"{\"token\":[],\"x\":{}}", "{\"token\":\"***\",\"x\":{}}"},
        {"{\"token\":\"a\\\"b\\\\\"}", "{\"token\":\"***\"}"},
        {"{\"token\":\"***\"}", "{\"token\":\"***\"}"},
        /* any depth, in objects and arrays */
        {"[[{\"a\":{\"b\":[0,{\"password\":\"x\"}]}}]]",
         "[[{\"a\":{\"b\":[0,{\"password\":\"***\"}]}}]]"},
        {"[{\"token\":1},{\"token\":2},{\"Authorization\":3}]",
         "[{\"token\":\"***\"},{\"token\":\"***\"},{\"Authorization\":\"***\"}]"},
        /* upper and lower case, on both sides */
        {"{\"TOKEN\":1,\"tOkEn\":2,\"PASSWORD\":3,\"password\":4}",
         "{\"TOKEN\":\"***\",\"tOkEn\":\"***\",\"PASSWORD\":\"***\",\"password\":\"***\"}"},
        /* names that are written with escapes */
        {"{\"p\\u0061ssword\":1}", "{\"p\\u0061ssword\":\"***\"}"},
        {"{\"\\u0050\\u0041\\u0053\\u0053\\u0057\\u004F\\u0052\\u0044\":\"x\"}",
         "{\"\\u0050\\u0041\\u0053\\u0053\\u0057\\u004F\\u0052\\u0044\":\"***\"}"},
        {"{\"cl\\u00e9\":1,\"cl\xc3\xa9\":2}", "{\"cl\\u00e9\":\"***\",\"cl\xc3\xa9\":\"***\"}"},
        /* white space stays where it was */
        {" { \"token\" : \"x\" , \"a\" : [ 1 ] }\n", " { \"token\" : \"***\" , \"a\" : [ 1 ] }\n"},
        {"{\"token\"\t:\r\n{ \"a\" : 1 } }", "{\"token\"\t:\r\n\"***\" }"},
        /* a value with such a word is followed by a name of that kind */
        {"{\"a\":\"token\",\"token\":\"a\"}", "{\"a\":\"token\",\"token\":\"***\"}"},
    };
    for (size_t i = 0; i < LENGTH(cases); i++)
        expect_hidden(dx_str(cases[i].text), dx_str(cases[i].expected));
}

static void everything_else_is_left_alone(void **state) {
    (void)state;
    static const char *const texts[] = {
        "{}",
        "[]",
        "\"token\"",
        "[\"token\",\"password\"]",
        "{\"a\":\"token\"}",
        "{\"a\":\"\\\"token\\\":1\"}", /* JSON inside of a string is a string */
        "{\"tokens\":1,\"toke\":2,\"token \":3,\" token\":4,\"to ken\":5,\"_token\":6}",
        "{\"\":1,\"tokem\":2,\"\\u0000token\":3,\"token\\u0000\":4}",
        "{\"to\\\\ken\":1,\"\\\"token\\\"\":2,\"\\ud800token\":3,\"tok\\u0065m\":4}",
        "{\"T\xc5\x8dKEN\":1,\"CL\xc3\x89\":2}", /* A to Z have two cases here, nothing else has */
        "{\"@uthorization\":1,\"`uthorization\":2,\"[oken\":3}",
        " [ 1 , \"a\" , { \"b\" : null } ] ",
        "1e400",
    };
    for (size_t i = 0; i < LENGTH(texts); i++)
        expect_hidden(dx_str(texts[i]), dx_str(texts[i]));
}

static void values_at_pointers_are_hidden(void **state) {
    (void)state;
    static const char *const list[] = {"/params/pin", "/params/list/1", "/a~1b/~0", "/", "x", NULL};
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"{\"params\":{\"pin\":1234,\"pins\":1}}", "{\"params\":{\"pin\":\"***\",\"pins\":1}}"},
        {"{\"params\":{\"pin\":{\"x\":[1]}}}", "{\"params\":{\"pin\":\"***\"}}"},
        {"{\"x\":1,\"params\" : { \"pin\" : \"a\" , \"x\":2}}",
         "{\"x\":\"***\",\"params\" : { \"pin\" : \"***\" , \"x\":\"***\"}}"},
        {"{\"params\":{\"list\":[1,[2],3],\"pin\":null}}",
         "{\"params\":{\"list\":[1,\"***\",3],\"pin\":\"***\"}}"},
        {"{\"params\":{\"list\":{\"1\":2}}}", "{\"params\":{\"list\":{\"1\":\"***\"}}}"},
        {"{\"p\\u0061rams\":{\"pin\":1}}", "{\"p\\u0061rams\":{\"pin\":\"***\"}}"},
        {"{\"a/b\":{\"~\":1},\"\":2}", "{\"a/b\":{\"~\":\"***\"},\"\":\"***\"}"},
        /* a member that stands twice hides all of its object, since readers differ in which counts
         */
        {"{\"params\":{\"pin\":1,\"a\":2,\"pin\":3}}", "{\"params\":\"***\"}"},
        {"{\"params\":{\"pin\":1},\"params\":{\"pin\":2}}", "\"***\""},
        /* within what is hidden by its name */
        {"{\"x\":{\"params\":{\"pin\":1}},\"params\":{\"pin\":1}}",
         "{\"x\":\"***\",\"params\":{\"pin\":\"***\"}}"},
        /* each message of a batch, and no other list */
        {"[{\"params\":{\"pin\":1}}, {\"params\":{\"pin\":2}},3]",
         "[{\"params\":{\"pin\":\"***\"}}, {\"params\":{\"pin\":\"***\"}},3]"},
        {"[]", "[]"},
        {"[[{\"params\":{\"pin\":1}}]]", "[[{\"params\":{\"pin\":1}}]]"},
        /* nothing is there */
        {"{\"params\":[1,2]}", "{\"params\":[1,2]}"},
        {"{\"params\":{\"list\":[1]},\"pin\":2}", "{\"params\":{\"list\":[1]},\"pin\":2}"},
        {"{\"params\":1}", "{\"params\":1}"},
        {"\"params\"", "\"params\""},
    };
    for (size_t i = 0; i < LENGTH(cases); i++)
        expect_hidden_by(list, dx_str(cases[i].text), dx_str(cases[i].expected));
    const char *many[34] = {NULL};
    dx_allocator alloc = dx__allocator(NULL);
    dx__secrets secrets;
    for (size_t i = 0; i < 32; i++)
        many[i] = "/a";
    assert_int_equal(dx__secrets_init(&secrets, many, &alloc), DX_OK);
    dx__secrets_done(&secrets);
    many[32] = "/a";
    assert_int_equal(dx__secrets_init(&secrets, many, &alloc), DX_ERR_INVALID);
    dx__secrets_done(&secrets);
}

static void usual_secrets_are_hidden(void **state) {
    (void)state;
    static const char *const list[] = {DX_TRACE_USUAL_SECRETS, NULL};
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"{\"env\":{\"API_KEY\":\"x\",\"HOME\":\"/\"},\"API_KEY\":1}",
         "{\"env\":{\"API_KEY\":\"***\",\"HOME\":\"/\"},\"API_KEY\":1}"},
        {"{\"a\":[{\"Headers\":{\"Authorization\":\"Bearer x\",\"accept\":\"y\"}}]}",
         "{\"a\":[{\"Headers\":{\"Authorization\":\"***\",\"accept\":\"y\"}}]}"},
        {"{\"httpHeaders\":[{\"name\":\"X-Api-Key\",\"value\":\"x\"},{\"name\":\"a\",\"value\":"
         "\"y\"}]}",
         "{\"httpHeaders\":[{\"name\":\"X-Api-Key\",\"value\":\"***\"},"
         "{\"name\":\"a\",\"value\":\"y\"}]}"},
        /* the value stands first, or both are a list */
        {"{\"headers\":[{\"value\":\"x\",\"name\":\"Cookie\"},{\"value\":\"y\",\"name\":\"a\"}]}",
         "{\"headers\":[{\"value\":\"***\",\"name\":\"Cookie\"},{\"value\":\"y\",\"name\":\"a\"}]"
         "}"},
        {"{\"headers\":[ [\"Cookie\" , \"x\"],[\"a\",\"y\"],[\"Cookie\"],[\"Cookie\",1]]}",
         "{\"headers\":[ [\"Cookie\" , \"***\"],[\"a\",\"y\"],[\"Cookie\"],[\"Cookie\",\"***\"]]}"},
        {"{\"env\":[\"the token of a\",\"y\"],\"args\":[\"token\",\"y\"]}",
         "{\"env\":[\"the token of a\",\"y\"],\"args\":[\"token\",\"y\"]}"},
        {"{\"env\":[{\"key\":\"API_KEY\",\"value\":\"x\"},{\"key\":\"y\"},{\"key\":\"a\",\"value\":"
         "1}]}",
         "{\"env\":[{\"key\":\"API_KEY\",\"value\":\"***\"},{\"key\":\"***\"},{\"key\":\"a\","
         "\"value\":1}]}"},
        {"{\"env\":{\"name\":\"a\",\"value\":1,\"API_KEY\":\"x\"}}",
         "{\"env\":{\"name\":\"a\",\"value\":1,\"API_KEY\":\"***\"}}"},
        {"{\"args\":{\"env\":{\"API_KEY\":\"x\"}},\"command\":[\"TOKEN=x\",{\"headers\":{\"token\":"
         "1}},\"TOKEN=x\"]}",
         "{\"args\":{\"env\":{\"API_KEY\":\"***\"}},\"command\":[\"TOKEN=***\",{\"headers\":{"
         "\"token\":\"***\"}},"
         "\"TOKEN=***\"]}"},
        {"{\"headers\":[{\"name\":\"Authorization\",\"meta\":{\"name\":\"x\"},\"value\":\"y\"}]}",
         "{\"headers\":[{\"name\":\"Authorization\",\"meta\":{\"name\":\"x\"},\"value\":\"***\"}]"
         "}"},
        {"{\"env\":[\"API_KEY\\u003dx\",\"A\\u003db\"],\"argv\":[\"--to\\u006ben=x\"]}",
         "{\"env\":[\"***\",\"A\\u003db\"],\"argv\":[\"***\"]}"},
        {"{\"header\":[{\"value\":[1,\"x\"],\"type\":2,\"name\":\"X-Api-Key\"}],\"a\":{\"value\":1,"
         "\"name\":\"token\"}}",
         "{\"header\":[{\"value\":\"***\",\"type\":2,\"name\":\"X-Api-Key\"}],\"a\":{\"value\":1,"
         "\"name\":\"token\"}}"},
        {"{\"rawHeaders\":[\"Accept\",\"x\",\"Authorization\",\"Bearer x\",\"Cookie\",[\"y\"]]}",
         "{\"rawHeaders\":[\"Accept\",\"x\",\"Authorization\",\"***\",\"Cookie\",\"***\"]}"},
        {"{\"env\":[\"API_KEY\",\"HOME\",\"PATH\"],\"envVars\":{\"token\":1},"
         "\"environmentVariables\":[\"TOKEN : x\"]}",
         "{\"env\":[\"API_KEY\",\"HOME\",\"PATH\"],\"envVars\":{\"token\":\"***\"},"
         "\"environmentVariables\":[\"TOKEN : ***\"]}"},
        {"{\"environment\":[\"TOKEN=x\",\"A=b\"],\"b\":[\"TOKEN=x\"]}",
         "{\"environment\":[\"TOKEN=***\",\"A=b\"],\"b\":[\"TOKEN=x\"]}"},
        {"{\"argv\":[\"./a\",\"--api-key=x\",\"Authorization: Bearer x\",\"--key\",\"y\"]}",
         "{\"argv\":[\"./a\",\"--api-key=***\",\"Authorization: ***\",\"--key\",\"y\"]}"},
        /* members of a command line are none of its words */
        {"{\"command\":{\"key\":1},\"args\":[{\"key\":2}]}",
         "{\"command\":{\"key\":1},\"args\":[{\"key\":2}]}"},
        {"{\"env\":\"TOKEN=x\",\"headers\":null}", "{\"env\":\"TOKEN=x\",\"headers\":null}"},
        {"{\"env\":{},\"token\":1}", "{\"env\":{},\"token\":1}"},
        {"{\"env\":{\"env\":{\"token\":1}},\"a\":{\"token\":1}}",
         "{\"env\":{\"env\":{\"token\":\"***\"}},\"a\":{\"token\":1}}"},
        {"{\"\\u0065nv\":{\"\\u0074oken\":{\"a\":[]}}}",
         "{\"\\u0065nv\":{\"\\u0074oken\":\"***\"}}"},
        /* what protocols have under such names */
        {"{\"params\":{\"_meta\":{\"progressToken\":1},\"key\":\"a\",\"tokens\":[1]}}",
         "{\"params\":{\"_meta\":{\"progressToken\":1},\"key\":\"a\",\"tokens\":[1]}}"},
    };
    for (size_t i = 0; i < LENGTH(cases); i++)
        expect_hidden_by(list, dx_str(cases[i].text), dx_str(cases[i].expected));
}

static void names_that_look_like_secrets(void **state) {
    (void)state;
    static const char *const secret[] = {
        "token",
        "GITHUB_TOKEN",
        "accessToken",
        "ACCESSTOKEN",
        "X-Auth-Token",
        "key",
        "API_KEY",
        "apiKey",
        "APIKey",
        "apikey",
        "AWS_SECRET_ACCESS_KEY",
        "PGPASSWORD",
        "password",
        "db.passwd",
        "SMTP_PASS",
        "client-secret",
        "SECRETS",
        "Authorization",
        "Proxy-Authorization",
        "Cookie",
        "Set-Cookie",
        "API_KEY_2",
        "TOKEN_URL",
        "OPENAI_KEY",
        "GOOGLE_APPLICATION_CREDENTIALS",
        "passphrase",
    };
    static const char *const plain[] = {
        "",
        "keyboard",
        "MONKEY",
        "tokenizer count",
        "MAX_TOKENS",
        "tokens",
        "PWD",
        "OLDPWD",
        "PATH",
        "HOME",
        "COMPASS",
        "bypass",
        "keys",
        "turkey",
        "Accept",
        "Content-Type",
        "SSH_AUTH_SOCK",
        "author",
        "secretary",
    };
    for (size_t i = 0; i < LENGTH(secret); i++)
        assert_true(dx__name_is_secret(dx_str(secret[i])));
    for (size_t i = 0; i < LENGTH(plain); i++)
        assert_false(dx__name_is_secret(dx_str(plain[i])));
    assert_int_equal(dx__secret_value(dx_str("API_KEY=x")), 8);
    assert_int_equal(dx__secret_value(dx_str("Authorization: Bearer x")), 15);
    assert_int_equal(dx__secret_value(dx_str("API_KEY=")), 0);
    assert_int_equal(dx__secret_value(dx_str("--token")), 0);
    assert_int_equal(dx__secret_value(dx_str("the token: x")), 0);
    assert_int_equal(dx__secret_value(dx_str("https://example.org/token=x")), 0);
}

static void long_names(void **state) {
    (void)state;
    char name[66];
    memset(name, 'n', sizeof name);
    name[64] = '\0';
    const char *list[] = {"a", name, "b", NULL};
    dx__secrets secrets = secrets_of(list);
    /* 64 bytes, each of them escaped, and one more. */
    for (size_t count = 63; count <= 65; count++)
        for (int escaped = 0; escaped <= 1; escaped++) {
            char text[500];
            size_t len = (size_t)snprintf(text, sizeof text, "{\"");
            for (size_t i = 0; i < count; i++)
                len += (size_t)snprintf(text + len, sizeof text - len, "%s",
                                        escaped ? "\\u006e" : "N");
            len += (size_t)snprintf(text + len, sizeof text - len, "\":1}");
            dx_buf buf;
            uint64_t hidden;
            dx_buf_init(&buf, 1000, NULL);
            assert_int_equal(dx__secrets_hide(&secrets, (dx_text){text, len}, &buf, &hidden),
                             DX_OK);
            assert_int_equal(buf.len, count == 64 ? len + 4 : len);
            dx_buf_done(&buf);
        }
    dx__secrets_done(&secrets);
    dx_allocator alloc = dx__allocator(NULL);
    name[64] = 'n';
    name[65] = '\0';
    assert_int_equal(dx__secrets_init(&secrets, list, &alloc), DX_ERR_INVALID);
    dx__secrets_done(&secrets);
    assert_int_equal(dx__secrets_init(&secrets, (const char *[]){"", NULL}, &alloc),
                     DX_ERR_INVALID);
    dx__secrets_done(&secrets);
    assert_int_equal(dx__secrets_init(&secrets, (const char *[]){NULL}, &alloc), DX_OK);
    assert_int_equal(secrets.len, 0);
    dx__secrets_done(&secrets);
}

/* What was said to be JSON and is none never runs away. */
static void texts_that_are_no_json(void **state) {
    (void)state;
    static const char *const texts[] = {
        "\"",           "{\"token",     "{\"token\"", "{\"token\":", "{\"token\":\"",
        "{\"token\":[", "{\"\xff\":1}",
    };
    dx__secrets secrets = secrets_of(names);
    for (size_t i = 0; i < LENGTH(texts); i++) {
        struct unit_fence fence = unit_fence_new(100);
        dx_buf buf;
        dx_buf_init(&buf, 1000, NULL);
        uint64_t count;
        dx_status status = dx__secrets_hide(
            &secrets, unit_fence_put(&fence, texts[i], strlen(texts[i])), &buf, &count);
        assert_true(status == DX_ERR_INVALID || strcmp(texts[i], "{\"token\"") == 0);
        dx_buf_done(&buf);
        unit_fence_done(&fence);
    }
    dx__secrets_done(&secrets);
}

/* Random trees: the member is hidden exactly where the generator put one. */
struct tree {
    uint64_t random;
    size_t len, hidden_len;
    char text[20000], hidden[20000];
};

static void both(struct tree *tree, const char *text, int visible) {
    size_t len = strlen(text);
    assert_true(tree->len + len < sizeof tree->text);
    memcpy(tree->text + tree->len, text, len);
    tree->len += len;
    if (!visible)
        return;
    memcpy(tree->hidden + tree->hidden_len, text, len);
    tree->hidden_len += len;
}

static void grow(struct tree *tree, int depth, int visible) {
    static const char *const scalars[] = {"1", "\"token\"", "\"\"", "null", "\"\\\"\"", "\"\\\\\""};
    static const char *const keys[] = {"\"a\"",        "\"token\"", "\"tok\\u0065n\"", "\"tokens\"",
                                       "\"PASSword\"", "\"\\\"\"",  "\"toke\""};
    static const int secret[] = {0, 1, 1, 0, 1, 0, 0};
    size_t kind = depth > 5 ? 0 : unit_random(&tree->random, 3);
    if (kind == 0) {
        both(tree, scalars[unit_random(&tree->random, LENGTH(scalars))], visible);
        return;
    }
    both(tree, kind == 1 ? "[" : "{", visible);
    for (size_t i = 0, n = unit_random(&tree->random, 4); i < n; i++) {
        if (i)
            both(tree, unit_random(&tree->random, 2) ? "," : " , ", visible);
        int show = visible;
        if (kind == 2) {
            size_t key = unit_random(&tree->random, LENGTH(keys));
            both(tree, keys[key], visible);
            both(tree, unit_random(&tree->random, 2) ? ":" : " : ", visible);
            show = visible && !secret[key];
        }
        if (visible && !show) {
            memcpy(tree->hidden + tree->hidden_len, "\"***\"", 5);
            tree->hidden_len += 5;
        }
        grow(tree, depth + 1, show);
    }
    both(tree, kind == 1 ? "]" : "}", visible);
}

static void random_trees(void **state) {
    (void)state;
    static struct tree tree;
    tree.random = 75;
    for (int round = 0; round < 3000; round++) {
        tree.len = tree.hidden_len = 0;
        grow(&tree, 0, 1);
        expect_hidden((dx_text){tree.text, tree.len}, (dx_text){tree.hidden, tree.hidden_len});
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_hidden),
        cmocka_unit_test(everything_else_is_left_alone),
        cmocka_unit_test(values_at_pointers_are_hidden),
        cmocka_unit_test(usual_secrets_are_hidden),
        cmocka_unit_test(names_that_look_like_secrets),
        cmocka_unit_test(long_names),
        cmocka_unit_test(texts_that_are_no_json),
        cmocka_unit_test(random_trees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
