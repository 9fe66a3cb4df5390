/* The keyed hash, against values that another implementation (OpenSSL's) computed, and what is made
 * of it: text that comes back unchanged or not at all. */
#include "unit/unit.h"

#include "systems/mcp/server_parts.h"

#include <stdio.h>

static void counting(uint8_t *bytes, size_t len) {
    for (size_t i = 0; i < len; i++)
        bytes[i] = (uint8_t)i;
}

static void as_hex(const uint8_t *bytes, size_t len, char *to) {
    for (size_t i = 0; i < len; i++)
        (void)snprintf(to + i * 2, 3, "%02x", bytes[i]);
}

static void test_values(void **state) {
    static const struct {
        size_t len;
        uint64_t narrow;
        const char *wide;
    } rows[] = {
        {0, 0x726fdb47dd0e0e31, "a3817f04ba25a8e66df67214c7550293"},
        {1, 0x74f839c593dc67fd, "da87c1d86b99af44347659119b22fc45"},
        {7, 0xab0200f58b01d137, "a1f1ebbed8dbc153c0b84aa61ff08239"},
        {8, 0x93f5f5799a932462, "3b62a9ba6258f5610f83e264f31497b4"},
        {15, 0xa129ca6149be45e5, "5493e99933b0a8117e08ec0f97cfc3d9"},
        {16, 0x3f2acc7f57c29bdb, "6ee2a4ca67b054bbfd3315bf85230577"},
        {63, 0x958a324ceb064572, "5150d1772f50834a503e069a973fbd7c"},
    };
    uint8_t key[16];
    uint8_t text[64];
    uint8_t hash[16];
    char hex[33];
    (void)state;
    counting(key, sizeof key);
    counting(text, sizeof text);
    for (size_t i = 0; i < LENGTH(rows); i++) {
        assert_int_equal(dx__mcp_sip64(key, text, rows[i].len), rows[i].narrow);
        dx__mcp_sip128(key, text, rows[i].len, hash);
        as_hex(hash, 16, hex);
        assert_string_equal(hex, rows[i].wide);
    }
}

static void test_state_round(void **state) {
    uint8_t key[16] = {7};
    dx_allocator alloc = dx__mcp_allocator(NULL);
    char text[40];
    (void)state;
    for (size_t len = 0; len <= sizeof text; len++) {
        dx__mcp_out sealed;
        dx__mcp_out plain;
        memset(text, 'x', sizeof text);
        dx__mcp_out_init(&sealed, &alloc);
        dx__mcp_out_init(&plain, &alloc);
        assert_int_equal(dx__mcp_state_seal(key, (dx_text){text, len}, &sealed), DX_OK);
        assert_int_equal(dx__mcp_state_open(key, dx__mcp_out_text(&sealed), &plain), DX_OK);
        assert_int_equal(plain.buf.len, len);
        assert_memory_equal(dx__mcp_out_text(&plain).at, text, len);
        /* Any character that is another one, and any that is missing, makes it void. */
        for (size_t i = 0; i < sealed.buf.len; i++) {
            dx__mcp_out_done(&plain);
            char was = sealed.buf.data[i];
            sealed.buf.data[i] = was == 'A' ? 'B' : 'A';
            assert_int_equal(dx__mcp_state_open(key, dx__mcp_out_text(&sealed), &plain), DX_MISFIT);
            sealed.buf.data[i] = '=';
            assert_int_equal(dx__mcp_state_open(key, dx__mcp_out_text(&sealed), &plain), DX_MISFIT);
            sealed.buf.data[i] = was;
            assert_int_equal(dx__mcp_state_open(key, (dx_text){sealed.buf.data, i}, &plain),
                             DX_MISFIT);
        }
        dx__mcp_out_done(&sealed);
        dx__mcp_out_done(&plain);
    }
}

static void test_state_other_key(void **state) {
    uint8_t key[16] = {1};
    uint8_t other[16] = {2};
    dx_allocator alloc = dx__mcp_allocator(NULL);
    dx__mcp_out sealed;
    dx__mcp_out plain;
    (void)state;
    dx__mcp_out_init(&sealed, &alloc);
    dx__mcp_out_init(&plain, &alloc);
    assert_int_equal(dx__mcp_state_seal(key, TEXT("secretly"), &sealed), DX_OK);
    assert_int_equal(dx__mcp_state_open(other, dx__mcp_out_text(&sealed), &plain), DX_MISFIT);
    dx__mcp_out_done(&sealed);
    dx__mcp_out_done(&plain);
}

/* Against a list that is searched from end to end. */
static void test_table(void **state) {
    enum { KEYS = 500, STEPS = 20000 };
    static char keys[KEYS][8];
    static bool there[KEYS];
    uint8_t seed[16] = {3};
    dx_allocator alloc = dx__mcp_allocator(NULL);
    dx__mcp_table table;
    uint32_t random = 1;
    (void)state;
    dx__mcp_table_init(&table, &alloc, seed);
    for (int i = 0; i < KEYS; i++)
        (void)snprintf(keys[i], sizeof keys[i], "k%d", i);
    for (int step = 0; step < STEPS; step++) {
        random = random * 1664525 + 1013904223;
        unsigned at = (random >> 8) % KEYS;
        dx_text key = dx_str(keys[at]);
        assert_ptr_equal(dx__mcp_table_find(&table, key), there[at] ? keys[at] : NULL);
        if (there[at])
            dx__mcp_table_drop(&table, key);
        else
            assert_int_equal(dx__mcp_table_put(&table, key, keys[at]), DX_OK);
        there[at] = !there[at];
    }
    size_t count = 0;
    for (int i = 0; i < KEYS; i++)
        count += there[i];
    assert_int_equal(table.count, count);
    assert_null(dx__mcp_table_find(&table, dx_str(NULL)));
    dx__mcp_table_done(&table);
}

static void check_match(const char *pattern, const char *uri, const char *expected) {
    dx_allocator alloc = dx__mcp_allocator(NULL);
    yyjson_doc *doc = NULL;
    dx_status status = dx__mcp_template_match(&alloc, dx_str(pattern), dx_str(uri), &doc);
    assert_int_equal(status, expected ? DX_OK : DX_AGAIN);
    if (expected) {
        char *text = yyjson_write(doc, 0, NULL);
        assert_string_equal(text, expected);
        free(text);
    }
    yyjson_doc_free(doc);
}

static void test_template(void **state) {
    (void)state;
    check_match("a://{x}/data", "a://12/data", "{\"x\":\"12\"}");
    check_match("a://{x}/data", "a://12/dat", NULL);
    check_match("a://{x}/data", "a:///data", NULL);
    check_match("a://{x}", "a://1/2", NULL);
    check_match("a://{+x}", "a://1/2?3#4", "{\"x\":\"1/2?3#4\"}");
    check_match("a://{x}/{+y}", "a://1/2/3", "{\"x\":\"1\",\"y\":\"2/3\"}");
    check_match("a://{+x}/{y}", "a://1/2/3", "{\"x\":\"1/2\",\"y\":\"3\"}");
    check_match("a://{x}", "a://a%20b%C3%a9", "{\"x\":\"a b\xc3\xa9\"}");
    check_match("a://{x}", "a://%zz%4", "{\"x\":\"%zz%4\"}");
    check_match("a://{x}", "a://%2e%2E%2f", "{\"x\":\"../\"}");
    check_match("a://{x}", "a://%ff", NULL); /* no UTF-8 */
    check_match("a://{x}", "a://a%00b", NULL);
    check_match("a://{x}-{y}", "a://1-2-3", "{\"x\":\"1\",\"y\":\"2-3\"}");
    assert_true(dx__mcp_template_is_good(TEXT("a://{x}/{+y.z-1}")));
    assert_false(dx__mcp_template_is_good(TEXT("a://x")));
    assert_false(dx__mcp_template_is_good(TEXT("a://{x")));
    assert_false(dx__mcp_template_is_good(TEXT("a://x}")));
    assert_false(dx__mcp_template_is_good(TEXT("a://{}")));
    assert_false(dx__mcp_template_is_good(TEXT("a://{?q}")));
    assert_false(dx__mcp_template_is_good(TEXT("a://{x,y}")));
}

/* As many places as there may be, and a URI that makes each of them try everything. */
static void test_template_hostile(void **state) {
    char pattern[200] = "";
    char uri[4001];
    (void)state;
    for (int i = 0; i < 16; i++)
        strcat(pattern, "{+x}a");
    assert_true(dx__mcp_template_is_good(dx_str(pattern)));
    strcat(pattern, "{x}");
    assert_false(dx__mcp_template_is_good(dx_str(pattern)));
    pattern[strlen(pattern) - 3] = 'b';
    pattern[strlen(pattern) - 2] = '\0';
    memset(uri, 'a', 4000);
    uri[4000] = '\0';
    check_match(pattern, uri, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),          cmocka_unit_test(test_state_round),
        cmocka_unit_test(test_state_other_key), cmocka_unit_test(test_table),
        cmocka_unit_test(test_template),        cmocka_unit_test(test_template_hostile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
