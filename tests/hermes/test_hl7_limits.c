/* Sizes, times and memory that runs out. */
#include "hermes/hl7.h"

#include "systems/hermes/hl7_parts.h"

#include <time.h>

#define H "MSH|^~\\&|APP"

#if defined(__SANITIZE_ADDRESS__)
enum { SLOW = 10 };
#else
enum { SLOW = 1 };
#endif

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void text_has_a_limit(void **state) {
    (void)state;
    dx_hl7_config config = dx_hl7_defaults();
    dx_hl7 *hl7 = NULL;
    config.text_max = strlen(H);
    assert_int_equal(dx_hl7_new(&config, dx_str(H), &hl7, NULL), DX_OK);
    hl7 = dx_hl7_free(hl7);
    config.text_max--;
    assert_int_equal(dx_hl7_new(&config, dx_str(H), &hl7, NULL), DX_ERR_LIMIT);
    config.text_max = (size_t)1 << 29;
    assert_int_equal(dx_hl7_new(&config, dx_str(H), &hl7, NULL), DX_OK);
    hl7 = dx_hl7_free(hl7);
    config.text_max++;
    assert_int_equal(dx_hl7_new(&config, dx_str(H), &hl7, NULL), DX_ERR_INVALID);
    assert_null(hl7);
}

static void segments_have_a_limit(void **state) {
    (void)state;
    dx_hl7_config config = dx_hl7_defaults();
    dx_hl7 *hl7 = NULL;
    config.segments_max = 3;
    assert_int_equal(dx_hl7_new(&config, dx_str(H "\rA\rB\rC"), &hl7, NULL), DX_ERR_LIMIT);
    assert_int_equal(dx_hl7_new(&config, dx_str(H "\rAAA"), &hl7, NULL), DX_OK);
    dx_hl7_patch patch = {.path = dx_str("AAA[3]"), .create = 1};
    dx_buf why;
    dx_buf_init(&why, 1000, NULL);
    assert_int_equal(dx_hl7_apply(hl7, &patch, &why), DX_ERR_LIMIT);
    assert_text(((dx_text){why.data, why.len}), "Message would have too many segments");
    hl7_expect(hl7, H "\rAAA");
    patch.path = dx_str("AAA[2]");
    assert_int_equal(dx_hl7_apply(hl7, &patch, NULL), DX_OK);
    assert_int_equal(dx_hl7_apply(hl7, &patch, NULL), DX_ERR_LIMIT);
    hl7_expect(hl7, H "\rAAA\rAAA|");
    dx_buf_done(&why);
    dx_hl7_free(hl7);
}

/* A patch that makes the message as long as it may be, and one byte longer. */
static void patches_have_a_limit(void **state) {
    (void)state;
    static const struct {
        dx_hl7_patch patch;
        size_t more;
    } rows[] = {
        {{.path = {"PID.1", 5}, .value = {"xyz", 3}}, 2},
        {{.path = {"PID.1", 5}, .value = {"|", 1}}, 2},
        {{.path = {"PID.5", 5}, .value = {"x", 1}}, 5},
        {{.path = {"PID.1[3].2.2", 12}, .value = {"x", 1}}, 5},
        {{.path = {"NK1", 3}, .create = 1}, 5},
        {{.path = {"PID[3]", 6}, .create = 1}, 10},
        {{.path = {"PID.1", 5}}, 0},
        {{.path = {"PID.999999", 10}, .value = {"x", 1}}, 999999},
    };
    for (size_t i = 0; i < LENGTH(rows); i++)
        for (int exact = 0; exact < 2; exact++) {
            if (exact && rows[i].more > 5) /* its segments are shorter */
                continue;
            dx_hl7_config config = dx_hl7_defaults();
            dx_hl7 *hl7;
            dx_buf why;
            dx_buf_init(&why, 1000, NULL);
            size_t more = rows[i].more - (exact && rows[i].patch.create);
            /* There a component of a plain field takes its place. */
            more -= exact && rows[i].patch.path.len == 12 ? 3 : 0;
            config.exact = exact;
            config.text_max = strlen(H "\rPID|1") + more;
            assert_int_equal(dx_hl7_new(&config, dx_str(H "\rPID|1"), &hl7, NULL), DX_OK);
            assert_int_equal(dx_hl7_apply(hl7, &rows[i].patch, &why), DX_OK);
            assert_true(!more || dx_hl7_size(hl7) == config.text_max);
            hl7 = dx_hl7_free(hl7);
            if (!more)
                continue;
            config.text_max--;
            assert_int_equal(dx_hl7_new(&config, dx_str(H "\rPID|1"), &hl7, NULL), DX_OK);
            assert_int_equal(dx_hl7_apply(hl7, &rows[i].patch, &why), DX_ERR_LIMIT);
            assert_memory_equal(why.data, "Message would be longer than ", 29);
            hl7_expect(hl7, H "\rPID|1");
            dx_hl7_free(hl7);
            dx_buf_done(&why);
        }
}

/* In a list it is one more error. */
static void a_list_tells_of_limits(void **state) {
    (void)state;
    dx_hl7_config config = dx_hl7_defaults();
    config.text_max = 20;
    dx_hl7 *hl7;
    assert_int_equal(dx_hl7_new(&config, dx_str(H "\rPID|1"), &hl7, NULL), DX_OK);
    static const char patches[] =
        "[{\"path\":\"PID.9\",\"value\":\"x\"},{\"path\":\"PID.1\",\"value\":\"xy\"}]";
    yyjson_doc *doc = yyjson_read(patches, strlen(patches), 0);
    yyjson_mut_doc *made = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *result;
    assert_int_equal(dx_hl7_apply_all(hl7, yyjson_doc_get_root(doc), made, &result, NULL), DX_OK);
    char *text = yyjson_mut_val_write(result, 0, NULL);
    assert_string_equal(text,
                        "{\"errors\":[{\"index\":0,\"message\":\"Message would be longer than 20 "
                        "bytes\",\"path\":\"PID.9\"}],\"patchesApplied\":1,\"success\":false}");
    free(text);
    yyjson_mut_doc_free(made);
    yyjson_doc_free(doc);
    dx_hl7_free(hl7);
}

/* A patch costs what its segment is long, so a list of them has an end. */
static void work_has_a_limit(void **state) {
    (void)state;
    static char text[20000] = H "\rPID|";
    memset(text + strlen(text), 'x', sizeof text - 1 - strlen(text));
    static const char patches[] =
        "[{\"path\":\"PID.2\",\"value\":\"a\"},{\"path\":\"PID.3\",\"value\":"
        "\"b\"},{\"path\":\"PID.4\",\"value\":\"c\"}]";
    static const struct {
        uint64_t work_max;
        uint64_t applied;
    } rows[] = {{10, 1}, {19000, 1}, {23000, 2}, {39000, 2}, {45000, 3}};
    yyjson_doc *doc = yyjson_read(patches, strlen(patches), 0);
    for (int exact = 0; exact < 2; exact++)
        for (size_t i = 0; i < LENGTH(rows); i++) {
            dx_hl7_config config = dx_hl7_defaults();
            config.exact = exact;
            config.work_max = rows[i].work_max * (exact ? 2 : 1);
            dx_hl7 *hl7;
            assert_int_equal(dx_hl7_new(&config, dx_str(text), &hl7, NULL), DX_OK);
            for (int again = 0; again < 2; again++) { /* the next list begins anew */
                yyjson_mut_val *result;
                yyjson_mut_doc *made = yyjson_mut_doc_new(NULL);
                assert_int_equal(
                    dx_hl7_apply_all(hl7, yyjson_doc_get_root(doc), made, &result, NULL), DX_OK);
                assert_int_equal(yyjson_mut_get_uint(yyjson_mut_obj_get(result, "patchesApplied")),
                                 rows[i].applied);
                yyjson_mut_val *error =
                    yyjson_mut_arr_get_last(yyjson_mut_obj_get(result, "errors"));
                if (rows[i].applied < 3)
                    assert_string_equal(yyjson_mut_get_str(yyjson_mut_obj_get(error, "message")),
                                        "Too much work for one list of patches");
                else
                    assert_null(error);
                yyjson_mut_doc_free(made);
            }
            dx_hl7_free(hl7);
        }
    yyjson_doc_free(doc);
}

/* A document may be as long for reading as for writing. */
static void documents_have_a_limit(void **state) {
    (void)state;
    dx_hl7_config config = dx_hl7_defaults();
    config.text_max = 200000;
    size_t most = config.text_max * DX_HL7_DOCUMENT_FACTOR;
    char *text = malloc(config.text_max);
    assert_non_null(text);
    size_t head = (size_t)sprintf(text, H "\rPID|");
    for (size_t i = head; i < config.text_max; i++)
        text[i] = "&~"[i % 2];
    static const char *const begins[] = {
        [DX_HL7_JSON] = "{\"MSH\": {}}", [DX_HL7_YAML] = "MSH: {}", [DX_HL7_TOML] = "[MSH]"};
    char *padded = malloc(most + 1);
    assert_non_null(padded);
    for (dx_hl7_format format = DX_HL7_JSON; format <= DX_HL7_TOML; format++) {
        dx_hl7 *hl7 = NULL;
        dx_buf out;
        /* Less and less of it, until it fits; then it can be read again, too. */
        size_t len = config.text_max;
        dx_status status = DX_ERR_LIMIT;
        for (; status == DX_ERR_LIMIT; len -= config.text_max / 10) {
            assert_int_equal(dx_hl7_new(&config, (dx_text){text, len}, &hl7, NULL), DX_OK);
            dx_buf_init(&out, SIZE_MAX / 2, NULL);
            status = dx_hl7_export(hl7, format, DX_HL7_SEGMENTS, &out, NULL);
            hl7 = dx_hl7_free(hl7);
            if (status == DX_OK) {
                assert_true(out.len <= most);
                assert_int_equal(
                    dx_hl7_import(&config, (dx_text){out.data, out.len}, format, &hl7, NULL),
                    DX_OK);
                hl7 = dx_hl7_free(hl7);
            }
            assert_int_equal(status == DX_OK, out.len > 0);
            dx_buf_done(&out);
        }
        assert_int_equal(status, DX_OK);
        assert_true(len < config.text_max * 9 / 10); /* not all of it fitted */
        memset(padded, '\n', most + 1);
        memcpy(padded, begins[format], strlen(begins[format]));
        assert_int_equal(dx_hl7_import(&config, (dx_text){padded, most}, format, &hl7, NULL),
                         DX_OK);
        hl7 = dx_hl7_free(hl7);
        assert_int_equal(dx_hl7_import(&config, (dx_text){padded, most + 1}, format, &hl7, NULL),
                         DX_ERR_LIMIT);
    }
    free(padded);
    free(text);
}

static void import_has_a_limit(void **state) {
    (void)state;
    static const char json[] = "{\"MSH\":{\"3\":\"APP\",\"9\":{\"5\":{\"4\":\"x\"}}}}";
    static const char text[] = "MSH|^~\\&|APP||||||^^^^&&&x";
    dx_hl7_config config = dx_hl7_defaults();
    for (config.text_max = 0; config.text_max <= strlen(text); config.text_max++) {
        dx_hl7 *hl7 = NULL;
        dx_status status = dx_hl7_import(&config, dx_str(json), DX_HL7_JSON, &hl7, NULL);
        assert_int_equal(status, config.text_max < strlen(text) ? DX_ERR_LIMIT : DX_OK);
        if (hl7)
            hl7_expect(hl7, text);
        dx_hl7_free(hl7);
    }
    /* A few bytes can ask for many separators, but not for more than the limit. */
    config = dx_hl7_defaults();
    config.text_max = 3 + 5 + 999997 + 999998 + 999998 + 1;
    dx_hl7 *hl7 = NULL;
    static const char large[] = "{\"MSH\":{\"999999\":{\"999999\":{\"999999\":1}}}}";
    assert_int_equal(dx_hl7_import(&config, dx_str(large), DX_HL7_JSON, &hl7, NULL), DX_OK);
    assert_int_equal(dx_hl7_size(hl7), config.text_max);
    hl7 = dx_hl7_free(hl7);
    config.text_max--;
    assert_int_equal(dx_hl7_import(&config, dx_str(large), DX_HL7_JSON, &hl7, NULL), DX_ERR_LIMIT);
}

/* 100,000 segments in 10 MB. */
enum { MANY = 100000, LINE = 105 };

static char *large_text(size_t *ret_len) {
    char *text = malloc(MANY * (LINE + 1) + 100);
    assert_non_null(text);
    size_t len = (size_t)sprintf(text, H "\r");
    for (int i = 1; i < MANY; i++) {
        static const char *const kinds[] = {"OBX", "NTE", "OBR", "ZZ1"};
        int head = sprintf(text + len, "%s|%d|ST|A^B&C^D||", kinds[i % 4], i);
        memset(text + len + head, 'x', (size_t)(LINE - 1 - head));
        text[len + LINE - 1] = '\r';
        len += LINE;
    }
    *ret_len = len;
    return text;
}

static void large_messages_stay_linear(void **state) {
    (void)state;
    size_t len;
    char *text = large_text(&len);
    dx_hl7_config config = dx_hl7_defaults();
    dx_hl7 *hl7;
    double start = seconds();
    assert_int_equal(dx_hl7_new(&config, (dx_text){text, len}, &hl7, NULL), DX_OK);
    double parsed = seconds();
    assert_int_equal(dx_hl7_segments(hl7), MANY);
    uint64_t random = 1;
    size_t made = 0;
    for (int i = 0; i < 10000; i++) {
        char path[40];
        static const char *const kinds[] = {"OBX", "NTE", "OBR", "ZZ1"};
        const char *kind = kinds[unit_random(&random, 4)];
        size_t n = 1 + unit_random(&random, 24000);
        dx_hl7_patch patch = {.path = {path, 0}};
        patch.create = i % 10 == 0;
        patch.remove = i % 10 == 1;
        if (!patch.create && !patch.remove)
            patch.value = dx_str("new | value");
        patch.path.len = (size_t)(patch.create   ? sprintf(path, "%s", kind)
                                  : patch.remove ? sprintf(path, "%s[%zu]", kind, n)
                                                 : sprintf(path, "%s[%zu].5.2", kind, n));
        made += patch.create;
        made -= patch.remove;
        assert_int_equal(dx_hl7_apply(hl7, &patch, NULL), DX_OK);
    }
    double patched = seconds();
    assert_int_equal(dx_hl7_segments(hl7), MANY + made);
    char *out = hl7_text(hl7);
    double written = seconds();
    print_message("%zu bytes, %d segments: read %.3f s, 10000 patches %.3f s, written %.3f s\n",
                  len, MANY, parsed - start, patched - parsed, written - patched);
    assert_true(parsed - start < 0.5 * SLOW);
    assert_true(patched - parsed < 2.0 * SLOW);
    /* What the index of segments says is what a new reading of the text says. */
    dx_hl7 *again;
    assert_int_equal(dx_hl7_new(&config, dx_str(out), &again, NULL), DX_OK);
    assert_int_equal(dx_hl7_segments(again), dx_hl7_segments(hl7));
    for (size_t n = 1; n < 25000; n += 97) {
        char path[40];
        dx_text one;
        dx_text two;
        sprintf(path, "NTE[%zu]", n);
        assert_int_equal(dx_hl7_get(hl7, dx_str(path), &one), DX_OK);
        assert_int_equal(dx_hl7_get(again, dx_str(path), &two), DX_OK);
        assert_true(!one.at == !two.at);
        unit_same(one, two);
    }
    dx_hl7_free(again);
    free(out);
    dx_hl7_free(hl7);
    free(text);
}

static void large_exports_stay_linear(void **state) {
    (void)state;
    size_t len;
    char *text = large_text(&len);
    dx_hl7 *hl7 = hl7_of_text((dx_text){text, len}, 0);
    for (dx_hl7_format format = DX_HL7_JSON; format <= DX_HL7_TOML; format++) {
        double start = seconds();
        char *out = hl7_exported(hl7, format, DX_HL7_SEGMENTS);
        double written = seconds();
        dx_hl7_config config = dx_hl7_defaults();
        dx_hl7 *again;
        dx_error error;
        assert_int_equal(dx_hl7_import(&config, dx_str(out), format, &again, &error), DX_OK);
        double read = seconds();
        print_message("%s of %zu bytes: written %.3f s, read %.3f s\n", dx_hl7_format_name(format),
                      strlen(out), written - start, read - written);
        char *same = hl7_text(again);
        assert_true(dx_hl7_size(again) == len && memcmp(same, text, len) == 0);
        free(same);
        assert_true(read - start < 10.0 * SLOW);
        dx_hl7_free(again);
        free(out);
    }
    char *keys = hl7_exported(hl7, DX_HL7_JSON, DX_HL7_KEYS);
    free(keys);
    dx_hl7_free(hl7);
    free(text);
}

/* Odd proportions: one line, nothing but line ends, nothing but short names, many fillers. */
static void odd_messages_stay_linear(void **state) {
    (void)state;
    enum { LEN = 2 << 20 };
    static const char *const again[] = {"|", "a|", "\r", "\r\n", "A\r", "^", "&~", "OBX\n", "\\"};
    char *text = malloc(LEN + 8);
    assert_non_null(text);
    double start = seconds();
    for (size_t i = 0; i < LENGTH(again); i++) {
        size_t len = (size_t)sprintf(text, H "|");
        size_t step = strlen(again[i]);
        for (; len + step <= LEN; len += step)
            memcpy(text + len, again[i], step);
        dx_hl7_config config = dx_hl7_defaults();
        config.segments_max = LEN;
        dx_hl7 *hl7;
        assert_int_equal(dx_hl7_new(&config, (dx_text){text, len}, &hl7, NULL), DX_OK);
        assert_int_equal(dx_hl7_size(hl7), len);
        dx_hl7_patch patch = {.path = dx_str("MSH.9.9.9"), .value = dx_str("x")};
        assert_int_equal(dx_hl7_apply(hl7, &patch, NULL), DX_OK);
        dx_buf out;
        dx_buf_init(&out, (size_t)64 << 20, NULL);
        dx_status status = dx_hl7_export(hl7, DX_HL7_JSON, DX_HL7_SEGMENTS, &out, NULL);
        assert_true(status == DX_OK || status == DX_ERR_LIMIT);
        dx_buf_done(&out);
        dx_hl7_free(hl7);
    }
    free(text);
    dx_hl7 *hl7 = hl7_of(H);
    dx_hl7_patch patch = {.path = dx_str("OBX[999999]"), .create = 1};
    assert_int_equal(dx_hl7_apply(hl7, &patch, NULL), DX_OK);
    assert_int_equal(dx_hl7_segments(hl7), 1000000);
    dx_hl7_free(hl7);
    print_message("odd messages: %.3f s\n", seconds() - start);
    assert_true(seconds() - start < 15.0 * SLOW);
}

/* Everything that allocates, with the 1st, 2nd, 3rd … allocation failing. */
static dx_status everything(const dx_allocator *alloc, int exact) {
    dx_hl7_config config = dx_hl7_defaults();
    config.allocator = alloc;
    config.exact = exact;
    static const char text[] = H "\nPID|a\\T\\b^c&d~e|f\nOBX|1\nOBX|2";
    static const dx_hl7_patch patches[] = {
        {.path = {"PID.1.2", 7}, .value = {"x|y", 3}},
        {.path = {"PID.3", 5}, .value = {"a longer value than before", 26}},
        {.path = {"NK1[3]", 6}, .create = 1},
        {.path = {"OBX[2]", 6}, .remove = 1},
        {.path = {"ZZZ.1", 5}},
        {.path = {"?", 1}},
        {.path = {"NK1", 3}},
    };
    dx_hl7 *hl7;
    dx_status status = dx_hl7_new(&config, dx_str(text), &hl7, NULL);
    if (status != DX_OK)
        return status;
    dx_buf out;
    dx_buf_init(&out, 10000, alloc);
    for (size_t i = 0; status == DX_OK && i < LENGTH(patches); i++) {
        char *before = hl7_text(hl7);
        status = dx_hl7_apply(hl7, &patches[i], &out);
        if (status != DX_OK)
            hl7_expect(hl7, before);
        free(before);
        if (status == DX_MISFIT)
            status = DX_OK;
    }
    for (dx_hl7_format format = DX_HL7_JSON; status == DX_OK && format <= DX_HL7_YAML; format++)
        for (dx_hl7_shape shape = DX_HL7_SEGMENTS; status == DX_OK && shape <= DX_HL7_KEYS;
             shape++) {
            out.len = 0;
            status = dx_hl7_export(hl7, format, shape, &out, NULL);
            dx_hl7 *again = NULL;
            if (status == DX_OK)
                status = dx_hl7_import(&config, (dx_text){out.data, out.len}, format, &again, NULL);
            if (exact && status == DX_MISFIT) /* the older shape */
                status = DX_OK;
            dx_hl7_free(again);
        }
    out.len = 0;
    if (status == DX_OK)
        status = dx_hl7_get_text(hl7, dx_str("PID.1"), &out);
    dx_buf_done(&out);
    dx_hl7_free(hl7);
    return status;
}

static void survives_without_memory(void **state) {
    (void)state;
    for (int exact = 0; exact < 2; exact++) {
        size_t fail_at = 1;
        for (;; fail_at++) {
            struct unit_memory memory = {.fail_at = fail_at};
            dx_allocator alloc = unit_allocator(&memory);
            dx_status status = everything(&alloc, exact);
            assert_int_equal(memory.blocks, 0);
            if (status == DX_OK)
                break;
            assert_int_equal(status, DX_ERR_NOMEM);
        }
        assert_in_range(fail_at, 30, 5000);
    }
}

/* More than a block of segments, so that blocks are split and the list of them grows. */
static void creates_many_or_none(void **state) {
    (void)state;
    size_t fail_at = 1;
    for (;; fail_at += 7) {
        struct unit_memory memory = {0};
        dx_allocator alloc = unit_allocator(&memory);
        dx_hl7_config config = dx_hl7_defaults();
        config.allocator = &alloc;
        dx_hl7 *hl7;
        assert_int_equal(dx_hl7_new(&config, dx_str(H "\nNK1\nPID|1"), &hl7, NULL), DX_OK);
        memory.fail_at = memory.count + fail_at;
        dx_hl7_patch patch = {.path = dx_str("NK1[1300]"), .create = 1};
        dx_status status = dx_hl7_apply(hl7, &patch, NULL);
        if (status == DX_OK)
            assert_int_equal(dx_hl7_segments(hl7), 1302);
        else
            hl7_expect(hl7, H "\nNK1\nPID|1");
        dx_hl7_free(hl7);
        assert_int_equal(memory.blocks, 0);
        if (status == DX_OK)
            break;
        assert_int_equal(status, DX_ERR_NOMEM);
    }
    assert_in_range(fail_at, 1300, 1400);
}

/* A list of patches that meets the end of memory leaves a message that is whole. */
static void lists_survive_without_memory(void **state) {
    (void)state;
    static const char patches[] = "[{\"path\":\"PID.1\",\"value\":\"xy\"},{\"path\":\"?\"},{"
                                  "\"path\":\"NK1\",\"create\":true}]";
    yyjson_doc *doc = yyjson_read(patches, strlen(patches), 0);
    for (size_t fail_at = 1;; fail_at++) {
        struct unit_memory memory = {0};
        dx_allocator alloc = unit_allocator(&memory);
        yyjson_alc alc = hl7_yyjson_alc(&alloc);
        dx_hl7_config config = dx_hl7_defaults();
        config.allocator = &alloc;
        dx_hl7 *hl7;
        yyjson_mut_val *result = NULL;
        assert_int_equal(dx_hl7_new(&config, dx_str(H "\rPID|1"), &hl7, NULL), DX_OK);
        yyjson_mut_doc *made = yyjson_mut_doc_new(&alc);
        assert_non_null(made);
        memory.fail_at = memory.count + fail_at;
        dx_status status = dx_hl7_apply_all(hl7, yyjson_doc_get_root(doc), made, &result, NULL);
        assert_true(status == DX_OK || status == DX_ERR_NOMEM);
        assert_true((status == DX_OK) == (result != NULL));
        char *text = hl7_text(hl7);
        assert_true(!strcmp(text, H "\rPID|1") || !strcmp(text, H "\rPID|xy") ||
                    !strcmp(text, H "\rPID|xy\rNK1|"));
        free(text);
        yyjson_mut_doc_free(made);
        dx_hl7_free(hl7);
        assert_int_equal(memory.blocks, 0);
        if (status == DX_OK)
            break;
    }
    yyjson_doc_free(doc);
}

/* The list of segments against an array, with operations that are the same in every run. */
static void the_list_agrees_with_an_array(void **state) {
    (void)state;
    enum { MOST = 3000, STEPS = 20000 };
    static uint64_t keys[MOST + 1];
    size_t count = 0;
    uint64_t random = 5;
    struct unit_memory memory = {0};
    dx_allocator alloc = unit_allocator(&memory);
    hl7_list list;
    hl7_list_init(&list, &alloc);
    for (int i = 0; i < STEPS; i++) {
        uint64_t key = 1 + unit_random(&random, 6);
        size_t n = 0;
        for (size_t k = 0; k < count; k++)
            n += keys[k] == key;
        assert_int_equal(hl7_list_count(&list, key), n);
        size_t pick = n ? 1 + unit_random(&random, n) : 0;
        hl7_place place = hl7_list_end(&list);
        size_t at = count;
        if (pick) {
            assert_true(hl7_list_find(&list, key, pick, &place));
            size_t seen = 0;
            for (at = 0; keys[at] != key || ++seen < pick; at++)
                ;
        }
        assert_false(hl7_list_find(&list, key, n + 1, &(hl7_place){0, 0}));
        bool shrink = pick && (count == MOST || unit_random(&random, i < STEPS / 2 ? 4 : 2) == 0);
        if (shrink) {
            hl7_list_remove(&list, place);
            memmove(keys + at, keys + at + 1, (count - at - 1) * sizeof *keys);
            count--;
        } else if (count < MOST) {
            hl7_segment segment = {.at = dx__malloc(&alloc, 1), .cap = 1};
            uint64_t other = 1 + unit_random(&random, 6);
            assert_int_equal(hl7_list_insert(&list, &place, segment, other), DX_OK);
            assert_ptr_equal(hl7_list_at(&list, place)->at, segment.at);
            memmove(keys + at + 1, keys + at, (count - at) * sizeof *keys);
            keys[at] = other;
            count++;
        }
        assert_int_equal(list.segments, count);
    }
    hl7_place place = {0, 0};
    size_t walked = 0;
    while (hl7_list_next(&list, &place))
        walked++;
    assert_int_equal(walked, count);
    hl7_list_done(&list);
    assert_int_equal(memory.blocks, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_has_a_limit),
        cmocka_unit_test(segments_have_a_limit),
        cmocka_unit_test(patches_have_a_limit),
        cmocka_unit_test(a_list_tells_of_limits),
        cmocka_unit_test(work_has_a_limit),
        cmocka_unit_test(documents_have_a_limit),
        cmocka_unit_test(import_has_a_limit),
        cmocka_unit_test(large_messages_stay_linear),
        cmocka_unit_test(large_exports_stay_linear),
        cmocka_unit_test(odd_messages_stay_linear),
        cmocka_unit_test(survives_without_memory),
        cmocka_unit_test(creates_many_or_none),
        cmocka_unit_test(lists_survive_without_memory),
        cmocka_unit_test(the_list_agrees_with_an_array),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
