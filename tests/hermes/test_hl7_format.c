#include "hermes/hl7.h"

#include "systems/hermes/hl7_parts.h"

#define M "MSH|^~\\&"
#define H M "|APP"

static const char *const names[] = {"hl7", "json", "yaml", "toml"};

/* Reads a document; NULL and the error if it cannot be. */
static dx_hl7 *import(dx_hl7_format format, dx_text text, int exact, dx_error *reterr) {
    dx_hl7_config config = dx_hl7_defaults();
    config.exact = exact;
    dx_hl7 *hl7 = NULL;
    *reterr = (dx_error){.phrase = ""};
    dx_status status = dx_hl7_import(&config, text, format, &hl7, reterr);
    assert_true(status == DX_OK || status == DX_MISFIT);
    assert_true((status == DX_OK) == (hl7 != NULL));
    return hl7;
}

static void check_export(const char *text, dx_hl7_format format, dx_hl7_shape shape, int exact,
                         const char *expected) {
    dx_hl7 *hl7 = hl7_of_text(dx_str(text), exact);
    char *got = hl7_exported(hl7, format, shape);
    assert_string_equal(got, expected);
    free(got);
    dx_hl7_free(hl7);
}

/* The same without the spaces between tokens: shapes are easier to read that way. */
static void check_json(const char *text, dx_hl7_shape shape, int exact, const char *expected) {
    dx_hl7 *hl7 = hl7_of_text(dx_str(text), exact);
    char *got = hl7_exported(hl7, DX_HL7_JSON, shape);
    yyjson_doc *doc = yyjson_read(got, strlen(got), 0);
    char *flat = yyjson_write(doc, 0, NULL);
    assert_string_equal(flat, expected);
    free(flat);
    yyjson_doc_free(doc);
    free(got);
    dx_hl7_free(hl7);
}

#define MSH_JSON "{\"segment\":\"MSH\",\"fields\":{\"1\":\"|\",\"2\":\"^~\\\\&\",\"3\":\"APP\"}}"
#define PID_JSON(fields) \
    "{\"segments\":[" MSH_JSON ",{\"segment\":\"PID\",\"fields\":{" fields "}}]}"

static void writes_json(void **state) {
    (void)state;
    check_export(H "\rPID|||1", DX_HL7_JSON, DX_HL7_SEGMENTS, 0,
                 "{\n"
                 "  \"segments\": [\n"
                 "    {\n"
                 "      \"segment\": \"MSH\",\n"
                 "      \"fields\": {\n"
                 "        \"1\": \"|\",\n"
                 "        \"2\": \"^~\\\\&\",\n"
                 "        \"3\": \"APP\"\n"
                 "      }\n"
                 "    },\n"
                 "    {\n"
                 "      \"segment\": \"PID\",\n"
                 "      \"fields\": {\n"
                 "        \"3\": \"1\"\n"
                 "      }\n"
                 "    }\n"
                 "  ]\n"
                 "}");
    static const struct {
        const char *pid;
        const char *json;
    } rows[] = {
        {"PID", PID_JSON("")},
        {"PID|||", PID_JSON("")},
        {"PID|1||3", PID_JSON("\"1\":\"1\",\"3\":\"3\"")},
        {"PID|\"\"", PID_JSON("\"1\":\"\\\"\\\"\"")},
        {"PID|A\\T\\B", PID_JSON("\"1\":\"A\\\\T\\\\B\"")},
        {"PID|a^^c", PID_JSON("\"1\":{\"1\":\"a\",\"3\":\"c\"}")},
        {"PID|a^", PID_JSON("\"1\":{\"1\":\"a\",\"2\":\"\"}")},
        {"PID|^", PID_JSON("\"1\":{\"2\":\"\"}")},
        {"PID|a&b", PID_JSON("\"1\":{\"1\":{\"1\":\"a\",\"2\":\"b\"}}")},
        {"PID|a^b&&d", PID_JSON("\"1\":{\"1\":\"a\",\"2\":{\"1\":\"b\",\"3\":\"d\"}}")},
        {"PID|a~b", PID_JSON("\"1\":[\"a\",\"b\"]")},
        {"PID|a~~b^c", PID_JSON("\"1\":[\"a\",null,{\"1\":\"b\",\"2\":\"c\"}]")},
        {"PID|~", PID_JSON("\"1\":[null,null]")},
        {"PID|\xc3\xa9/\x7f", PID_JSON("\"1\":\"\xc3\xa9/\x7f\"")},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        char text[200];
        snprintf(text, sizeof text, H "\r%s", rows[i].pid);
        check_json(text, DX_HL7_SEGMENTS, 0, rows[i].json);
    }
    /* What is no segment is a name, or a name with fields. */
    check_json(H "\rno segment\r|x", DX_HL7_SEGMENTS, 0,
               "{\"segments\":[" MSH_JSON ",{\"segment\":\"no segment\",\"fields\":{}},"
               "{\"segment\":\"\",\"fields\":{\"1\":\"x\"}}]}");
    check_json("MSH#*!?@#A", DX_HL7_SEGMENTS, 0,
               "{\"segments\":[{\"segment\":\"MSH\",\"fields\":{\"1\":\"#\",\"2\":\"*!?@\",\"3\":"
               "\"A\"}}]}");
}

/* Numbers are in order; the editor has them in the order of text, within a field. */
static void orders_components(void **state) {
    (void)state;
    static const char text[] = H "\rPID|a^b^c^d^e^f^g^h^i^j^k|2|3|4|5|6|7|8|9|10";
    check_json(text, DX_HL7_SEGMENTS, 0,
               PID_JSON("\"1\":{\"1\":\"a\",\"2\":\"b\",\"3\":\"c\",\"4\":\"d\",\"5\":\"e\",\"6\":"
                        "\"f\",\"7\":\"g\",\"8\":\"h\",\"9\":\"i\",\"10\":\"j\",\"11\":\"k\"},"
                        "\"2\":\"2\",\"3\":\"3\",\"4\":\"4\",\"5\":\"5\",\"6\":\"6\",\"7\":\"7\","
                        "\"8\":\"8\",\"9\":\"9\",\"10\":\"10\""));
    check_json(
        text, DX_HL7_SEGMENTS, 1,
        PID_JSON("\"1\":{\"1\":\"a\",\"10\":\"j\",\"11\":\"k\",\"2\":\"b\",\"3\":\"c\",\"4\":"
                 "\"d\",\"5\":\"e\",\"6\":\"f\",\"7\":\"g\",\"8\":\"h\",\"9\":\"i\"},"
                 "\"2\":\"2\",\"3\":\"3\",\"4\":\"4\",\"5\":\"5\",\"6\":\"6\",\"7\":\"7\","
                 "\"8\":\"8\",\"9\":\"9\",\"10\":\"10\""));
    /* It also leaves out what is empty, and what stands behind the first thing it cannot read. */
    check_json(H "\rPID|a^|^|&|~^\rno segment\rOBX|1", DX_HL7_SEGMENTS, 1,
               PID_JSON("\"1\":{\"1\":\"a\"},\"4\":[null,null]"));
}

static void writes_keys(void **state) {
    (void)state;
    check_json("MSH|^~\\&", DX_HL7_KEYS, 0, "{\"MSH\":{\"1\":\"|\",\"2\":\"^~\\\\&\"}}");
    check_json(H "\rPID|1\rOBX|1\rNTE|x\rOBX|2\rOBX|3", DX_HL7_KEYS, 0,
               "{\"MSH\":{\"1\":\"|\",\"2\":\"^~\\\\&\",\"3\":\"APP\"},\"PID\":{\"1\":\"1\"},"
               "\"OBX\":[{\"1\":\"1\"},{\"1\":\"2\"},{\"1\":\"3\"}],\"NTE\":{\"1\":\"x\"}}");
    check_json(H "\rab|1\ra|2\rab\rb\ra", DX_HL7_KEYS, 0,
               "{\"MSH\":{\"1\":\"|\",\"2\":\"^~\\\\&\",\"3\":\"APP\"},\"ab\":[{\"1\":\"1\"},{}],"
               "\"a\":[{\"1\":\"2\"},{}],\"b\":{}}");
}

struct in {
    const char *document;
    const char *text;
};

static void check_imports(dx_hl7_format format, const struct in *rows, size_t count, int exact) {
    for (size_t i = 0; i < count; i++) {
        dx_error error;
        dx_hl7 *hl7 = import(format, dx_str(rows[i].document), exact, &error);
        if (!hl7)
            print_error("%s: %s\n", rows[i].document, error.phrase);
        assert_non_null(hl7);
        char expected[1000];
        snprintf(expected, sizeof expected, "%s%s", rows[i].text, exact ? "" : "\r");
        hl7_expect(hl7, expected);
        dx_hl7_free(hl7);
    }
}

static void check_refusals(dx_hl7_format format, const struct in *rows, size_t count, int exact,
                           const char *place) {
    for (size_t i = 0; i < count; i++) {
        dx_error error;
        dx_hl7 *hl7 = import(format, dx_str(rows[i].document), exact, &error);
        if (hl7)
            print_error("%s\n", rows[i].document);
        assert_null(hl7);
        assert_string_equal(error.phrase, rows[i].text);
        assert_string_equal(error.place, place);
    }
}

static void reads_json(void **state) {
    (void)state;
    static const struct in rows[] = {
        {PID_JSON("\"3\":\"x\""), H "\rPID|||x"},
        {PID_JSON("\"1\":1,\"2\":-2.50,\"3\":true,\"4\":false,\"5\":null,\"6\":1e5"),
         H "\rPID|1|-2.50|true|false||1e5"},
        {PID_JSON("\"1\":18446744073709551616123"), H "\rPID|18446744073709551616123"},
        {PID_JSON("\"10\":\"j\",\"2\":\"b\",\"1\":\"a\""), H "\rPID|a|b||||||||j"},
        {PID_JSON("\"1\":{\"3\":\"c\",\"1\":\"a\"}"), H "\rPID|a^^c"},
        {PID_JSON("\"1\":{\"1\":{\"2\":\"b\"},\"2\":5}"), H "\rPID|&b^5"},
        {PID_JSON("\"1\":[\"a\",null,{\"2\":\"b\"},7]"), H "\rPID|a~~^b~7"},
        {PID_JSON("\"1\":[],\"2\":[\"a\"],\"3\":{}"), H "\rPID||a|"},
        {PID_JSON("\"1\":\"a|b^c&d~e\\\\T\\\\\\r\\n\""),
         H "\rPID|a\\F\\b\\S\\c\\T\\d\\R\\e\\T\\\\X0D\\\\X0A\\"},
        {"{\"segments\":[" MSH_JSON
         ",{\"segment\":\"NK1\"},{\"segment\":\"NK2\",\"fields\":null}]}",
         H "\rNK1\rNK2"},
        {"{\"segments\":[" MSH_JSON ",{\"segment\":\"\",\"fields\":{}},{\"segment\":\"NK1\"}]}",
         H "\rNK1"},
        {"{\"segments\":[{\"segment\":\"MSH\"}]}", "MSH|^~\\&"},
        {"{\"segments\":[{\"segment\":\"MSH\",\"fields\":{\"3\":\"x\"}}]}", "MSH|^~\\&|x"},
        {"{\"segments\":[{\"segment\":\"MSH\",\"fields\":{\"2\":\"*!\",\"4\":[\"a\",{\"2\":\"b\"}]}"
         "}]}",
         "MSH|*!||a!*b"},
        {"{\"segments\":[{\"segment\":\"MSH\",\"fields\":{\"1\":\"#\",\"3\":\"a#b|\"}}]}",
         "MSH#^~\\&#a\\F\\b|"},
        {"{\"segments\":[" MSH_JSON
         ",{\"segment\":\"MSH\",\"fields\":{\"2\":\"a~b\",\"3\":\"c\"}}]}",
         H "\rMSH|a~b|c"},
        /* the older shape */
        {"{\"MSH\":{\"1\":\"|\",\"2\":\"^~\\\\&\"}}", "MSH|^~\\&"},
        {"{\"MSH\":{\"3\":\"APP\"},\"PID\":{\"1\":{\"2\":\"b\"}},\"OBX\":[{\"1\":\"1\"},{\"1\":"
         "\"2\"}]}",
         H "\rPID|^b\rOBX|1\rOBX|2"},
        /* with sorted keys */
        {"{\"EVN\":{\"1\":\"A01\"},\"MSH\":{\"3\":\"APP\"},\"PID\":{\"1\":\"1\"}}",
         H "\rEVN|A01\rPID|1"},
        {"{\"MSH\":[{\"2\":\"*~\\\\&\",\"3\":{\"2\":\"x\"}}]}", "MSH|*~\\&|*x"},
    };
    check_imports(DX_HL7_JSON, rows, LENGTH(rows), 0);
}

static void refuses_json(void **state) {
    (void)state;
    static const struct in rows[] = {
        {"", "Failed to parse JSON: input length is 0"},
        {"[]", "the document is not an object"},
        {"\"MSH|^~\\\\&\"", "the document is not an object"},
        {"{\"segments\":{}}", "segments is not an array"},
        {"{\"segments\":null}", "segments is not an array"},
        {"{\"segments\":[1]}", "missing field `segment`"},
        {"{\"segments\":[{\"fields\":{}}]}", "missing field `segment`"},
        {"{\"segments\":[{\"segment\":1}]}", "missing field `segment`"},
        {"{\"segments\":[" MSH_JSON ",{\"segment\":\"PID\",\"fields\":[]}]}",
         "the fields of a segment must be an object: PID"},
        {"{\"MSH\":1}", "the fields of a segment must be an object: MSH"},
        {"{\"segments\":[" MSH_JSON ",{\"segment\":\"P|D\"}]}",
         "the name of a segment contains a separator: P|D"},
        {"{\"segments\":[" MSH_JSON ",{\"segment\":\"P\\nD\"}]}",
         "the name of a segment contains a separator: P\nD"},
        {PID_JSON("\"1\":[[\"a\"]]"), "an array inside another array"},
        {PID_JSON("\"1\":{\"1\":[\"a\"]}"), "expected a component, got an array"},
        {PID_JSON("\"1\":{\"1\":{\"1\":[]}}"), "a subcomponent is not a string"},
        {PID_JSON("\"1\":{\"1\":{\"1\":{}}}"), "a subcomponent is not a string"},
        {PID_JSON("\"1\":{\"x\":\"a\"}"), "the key of a component must be a number from 1: x"},
        {PID_JSON("\"1\":{\"0\":\"a\"}"), "the key of a component must be a number from 1: 0"},
        {PID_JSON("\"1\":{\"1\":{\"\":\"a\"}}"),
         "the key of a component must be a number from 1: "},
        {PID_JSON("\"PID.5\":\"a\""), "the key of a field must be a number from 1: PID.5"},
        {PID_JSON("\"7.1\":\"a\""), "the key of a field must be a number from 1: 7.1"},
        {PID_JSON("\" 6\":\"a\""), "the key of a field must be a number from 1:  6"},
        {PID_JSON("\"0\":\"a\""), "the key of a field must be a number from 1: 0"},
        {PID_JSON("\"5a\":\"a\""), "the key of a field must be a number from 1: 5a"},
        {PID_JSON("\"-1\":\"\""), "the key of a field must be a number from 1: -1"},
        {PID_JSON("\"1\":\"a\",\"1\":\"b\""),
         "two keys have the same number, each that of a field"},
        {PID_JSON("\"1\":\"a\",\"01\":\"b\""),
         "two keys have the same number, each that of a field"},
        {PID_JSON("\"1\":{\"2\":\"a\",\"02\":\"b\"}"),
         "two keys have the same number, each that of a component"},
        {"{\"segments\":[" MSH_JSON ",{\"segment\":\"PID\",\"field\":{\"1\":\"a\"}}]}",
         "unknown key: field"},
        {"{\"segments\":[" MSH_JSON "],\"PID\":{\"1\":\"a\"}}", "unknown key: PID"},
        /* Where a key stands twice, one of the values would be lost. */
        {"{\"segments\":[" MSH_JSON "],\"segments\":[" MSH_JSON "]}",
         "the same key twice: segments"},
        {"{\"segments\":[" MSH_JSON
         ",{\"segment\":\"PID\",\"fields\":{\"5\":\"a\"},\"fields\":{}}]}",
         "the same key twice: fields"},
        {"{\"segments\":[" MSH_JSON ",{\"segment\":\"PID\",\"segment\":\"PV1\"}]}",
         "the same key twice: segment"},
        {"{\"segments\":[{\"segment\":\"MSH\",\"fields\":{\"1\":\"|LOST\"}}]}",
         "MSH.1 is not the separator of fields: |LOST"},
        {"{\"segments\":[{\"segment\":\"MSH\",\"fields\":{\"1\":[\"|\",\"LOST\"]}}]}",
         "MSH.1 and MSH.2 must be texts"},
        {"{\"segments\":[{\"segment\":\"MSH\",\"fields\":{\"2\":{\"1\":\"^~\\\\&\",\"2\":\"LOST\"}}"
         "}]}",
         "MSH.1 and MSH.2 must be texts"},
        {"{\"segments\":[" MSH_JSON ",{\"segment\":\"MSH\",\"fields\":{\"1\":\"$\"}}]}",
         "MSH.1 is not the separator of fields: $"},
        {PID_JSON("\"1000000\":\"a\""), "a key is too large: 1000000"},
        {PID_JSON("\"1\":{\"99999999999999999999\":\"a\"}"),
         "a key is too large: 99999999999999999999"},
        {"{\"segments\":[{\"segment\":\"MSH\",\"fields\":{\"2\":\"^^\"}}]}",
         "two separators in MSH are the same"},
        {"{\"segments\":[{\"segment\":\"MSH\",\"fields\":{\"2\":\"^~\\\\&|\"}}]}",
         "MSH.2 is not a list of separators: ^~\\&|"},
        {"{\"segments\":[{\"segment\":\"MSH\",\"fields\":{\"2\":\"^~\\\\\",\"3\":{\"1\":{\"2\":"
         "\"x\"}}}}]}",
         "MSH.2 has too few separators for the message"},
        {"{\"segments\":[{\"segment\":\"MSH\",\"fields\":{\"2\":\"^\",\"3\":\"a^b\"}}]}",
         "MSH.2 has no escape character, which is needed for: a^b"},
    };
    check_refusals(DX_HL7_JSON, rows, LENGTH(rows), 0, "json");
    static const struct in empty[] = {
        {"{\"segments\":[]}", "Message is empty"},
        {"{}", "Message is empty"},
        {"{\"segments\":[{\"segment\":\"PID\",\"fields\":{\"1\":\"x\"}}]}",
         "Message must start with MSH segment"},
    };
    check_refusals(DX_HL7_JSON, empty, LENGTH(empty), 0, "message");
    dx_error error;
    assert_null(import(DX_HL7_JSON, dx_str("{\"segments\":[}"), 0, &error));
    assert_string_equal(error.place, "json");
    assert_int_equal(error.offset, 13);
    assert_null(import(DX_HL7_JSON, dx_str("{\"MSH\":\"\xff\"}"), 0, &error));
    assert_null(import(DX_HL7_JSON, (dx_text){NULL, 0}, 0, &error));
    assert_memory_equal(error.phrase, "Failed to parse JSON: ", 22);
}

static void reads_as_the_editor_does(void **state) {
    (void)state;
    static const struct in rows[] = {
        /* escapes are escaped again, MSH.1 counts for nothing, MSH.2 is completed */
        {PID_JSON("\"1\":\"A\\\\T\\\\B\""), H "\rPID|A\\E\\T\\E\\B"},
        {"{\"segments\":[{\"segment\":\"MSH\",\"fields\":{\"1\":\"#\",\"2\":\"*\",\"3\":{\"2\":"
         "\"x\"}}}]}",
         "MSH|*~\\&|*x"},
    };
    check_imports(DX_HL7_JSON, rows, LENGTH(rows), 1);
    static const struct in old[] = {
        {"{\"MSH\":{\"1\":\"|\",\"2\":\"^~\\\\&\"}}", "missing field `segments`"}};
    check_refusals(DX_HL7_JSON, old, LENGTH(old), 1, "json");
}

static void writes_yaml(void **state) {
    (void)state;
    check_export(H "\rPID||word|12|true|no~|a b/c|'x'|a: b|null|~|a\\T\\^b", DX_HL7_YAML,
                 DX_HL7_SEGMENTS, 0,
                 "segments:\n"
                 "- segment: MSH\n"
                 "  fields:\n"
                 "    \"1\": \"|\"\n"
                 "    \"2\": \"^~\\\\&\"\n"
                 "    \"3\": APP\n"
                 "- segment: PID\n"
                 "  fields:\n"
                 "    \"2\": word\n"
                 "    \"3\": \"12\"\n"
                 "    \"4\": \"true\"\n"
                 "    \"5\":\n"
                 "    - \"no\"\n"
                 "    - null\n"
                 "    \"6\": a b/c\n"
                 "    \"7\": \"'x'\"\n"
                 "    \"8\": \"a: b\"\n"
                 "    \"9\": \"null\"\n"
                 "    \"10\":\n"
                 "    - null\n"
                 "    - null\n"
                 "    \"11\":\n"
                 "      \"1\": \"a\\\\T\\\\\"\n"
                 "      \"2\": b\n");
    /* The editor writes its keys without quotes. */
    check_export(H "\rPID|a^b", DX_HL7_YAML, DX_HL7_SEGMENTS, 1,
                 "segments:\n"
                 "- segment: MSH\n"
                 "  fields:\n"
                 "    1: \"|\"\n"
                 "    2: \"^~\\\\&\"\n"
                 "    3: APP\n"
                 "- segment: PID\n"
                 "  fields:\n"
                 "    1:\n"
                 "      1: a\n"
                 "      2: b\n");
    check_export("MSH|^~\\&\rNK1", DX_HL7_YAML, DX_HL7_KEYS, 0,
                 "MSH:\n  \"1\": \"|\"\n  \"2\": \"^~\\\\&\"\nNK1: {}\n");
}

static void reads_yaml(void **state) {
    (void)state;
    static const struct in rows[] = {
        {"segments:\n  - segment: MSH\n    fields:\n      1: \"|\"\n      2: ^~\\&\n      3: APP\n",
         H},
        {"segments: [{segment: MSH, fields: {'3': APP}}, {segment: PID, fields: {1: 007, 2: true, "
         "3: "
         "1.50, 4: ~, 5: null, 6: , 7: 'null', 8: \"~\", 9: no}}]",
         H "\rPID|007|true|1.50||||null|\\R\\|no"},
        {"{\"segments\": [{\"segment\": \"MSH\", \"fields\": {\"3\": \"APP\"}}]}", H},
        {"%YAML 1.1\n---\nMSH:\n  3: APP\nOBX:\n- 1: a\n- 1: [b, {2: {3: c}}]\n...\n",
         H "\rOBX|a\rOBX|b~^&&c"},
        {"MSH:\n  3: |-\n    one\n    two\n", "MSH|^~\\&|one\\X0A\\two"},
        {"MSH:\n  3: >-\n    one\n    two\n", "MSH|^~\\&|one two"},
        {"MSH: {3: \"\\xe9\\u4e2d\\U0001F600\"}", "MSH|^~\\&|\xc3\xa9\xe4\xb8\xad\xf0\x9f\x98\x80"},
        {"MSH: {3: !!str 12, 4: !other x}", "MSH|^~\\&|12|x"},
        {"\xef\xbb\xbfMSH: {3: APP}", H},
        {"MSH: {? 3 : APP}", H},
    };
    check_imports(DX_HL7_YAML, rows, LENGTH(rows), 0);
}

static void refuses_yaml(void **state) {
    (void)state;
    static const char *const rows[] = {
        "",
        "# nothing",
        "MSH: {3: [}",
        "MSH: {3: \"\xff\"}",
        "MSH: {3: 'a",
        "\tMSH: 1",
        "- a\nb: c",
        "MSH: {3: \"\\ud800\"}",
        "MSH: &a {3: x}",
        "MSH: {3: &a x}",
        "MSH: &a [{3: x}]",
        "MSH: *a",
        "MSH: {3: x, 4: *b}",
        "? [1, 2]\n: x",
        "? {a: b}\n: x",
        "MSH: {3: x}\n---\nMSH: {3: y}",
        "MSH: {3: [[[[[[[[[x]]]]]]]]]}",
        "just text",
        "- MSH",
        "12",
        "~",
        "MSH: x",
        "segments: {}",
        "segments: [x]",
        "segments: [[x]]",
        "segments: [{segment: [MSH]}]",
        "segments: [{segment: MSH, fields: [x]}]",
        "segments: [{segment: MSH, fields: {3: {x: y}}}]",
        "\xff\xfeM\0S\0H\0",
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        dx_error error;
        dx_hl7 *hl7 = import(DX_HL7_YAML, dx_str(rows[i]), 0, &error);
        if (hl7)
            print_error("%s\n", rows[i]);
        assert_null(hl7);
        assert_string_equal(error.place, "yaml");
        assert_true(error.phrase[0] != '\0');
    }
    dx_error error;
    assert_null(import(DX_HL7_YAML, dx_str("MSH: {3: *a}"), 0, &error));
    assert_string_equal(error.phrase,
                        "Failed to parse YAML: anchors and aliases are not supported");
    assert_null(import(DX_HL7_YAML, dx_str("a: [[[[[[[[x]]]]]]]]"), 0, &error));
    assert_string_equal(error.phrase, "Failed to parse YAML: it is nested too deeply");
    assert_null(import(DX_HL7_YAML, dx_str("a: [[[[[[[x]]]]]]]"), 0, &error));
    assert_string_equal(error.phrase, "the fields of a segment must be an object: a");
    assert_null(import(DX_HL7_YAML, (dx_text){NULL, 0}, 0, &error));
}

/* Much of one thing: an answer comes all the same, soon and with little memory. */
static void survives_hostile_yaml(void **state) {
    (void)state;
    static const struct {
        const char *start;
        const char *again;
    } rows[] = {
        {"", "["},
        {"", "{"},
        {"", "- "},
        {"", "? "},
        {"", "a: {"},
        {"MSH: ", "["},
        {"", "!"},
        {"", "&a "},
        {"", "*a "},
        {"", "\""},
        {"", "%"},
        {"", "'"},
        {"MSH: {3: [", "x,"},
        {"", "-\n"},
        {"", "\n"},
        {"", "a\n"},
        {"", "---\n"},
        {"", "\t"},
        {"", "#"},
        {"", ": "},
        {"MSH: {", "a: b,"},
        {"MSH: |\n", "  \n"},
        {"", "{? "},
        {"", "[? "},
        {"", "!<"},
    };
    enum { LEN = 400000 };
    char *text = malloc(LEN + 100);
    assert_non_null(text);
    for (size_t i = 0; i < LENGTH(rows); i++) {
        size_t len = strlen(rows[i].start);
        size_t step = strlen(rows[i].again);
        memcpy(text, rows[i].start, len);
        for (; len + step <= LEN; len += step)
            memcpy(text + len, rows[i].again, step);
        struct unit_memory memory = {0};
        dx_allocator alloc = unit_allocator(&memory);
        dx_hl7_config config = dx_hl7_defaults();
        config.allocator = &alloc;
        dx_hl7 *hl7 = NULL;
        dx_error error;
        assert_int_equal(dx_hl7_import(&config, (dx_text){text, len}, DX_HL7_YAML, &hl7, &error),
                         DX_MISFIT);
        assert_int_equal(memory.blocks, 0);
        assert_in_range(memory.peak, 0, 100 * LEN);
    }
    free(text);
}

/* Nine levels of nine aliases each would be 387 million values. */
static void refuses_an_alias_bomb(void **state) {
    (void)state;
    char text[2000] = "a: &a [x,x,x,x,x,x,x,x,x]\n";
    size_t len = strlen(text);
    for (int c = 'b'; c <= 'i'; c++)
        len += (size_t)snprintf(text + len, sizeof text - len,
                                "%c: &%c [*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c]\n", c, c, c - 1,
                                c - 1, c - 1, c - 1, c - 1, c - 1, c - 1, c - 1, c - 1);
    dx_error error;
    assert_null(import(DX_HL7_YAML, (dx_text){text, len}, 0, &error));
    assert_string_equal(error.phrase,
                        "Failed to parse YAML: anchors and aliases are not supported");
}

static void needs_utf8(void **state) {
    (void)state;
    dx_hl7 *hl7 = hl7_of(H "\rPID|\xff");
    for (dx_hl7_format format = DX_HL7_JSON; format <= DX_HL7_YAML; format++) {
        dx_buf out;
        dx_error error;
        dx_buf_init(&out, 10000, NULL);
        assert_int_equal(dx_buf_append(&out, "<", 1), DX_OK);
        assert_int_equal(dx_hl7_export(hl7, format, DX_HL7_SEGMENTS, &out, &error), DX_MISFIT);
        assert_string_equal(error.place, names[format]);
        assert_int_equal(out.len, 1);
        assert_int_equal(dx_hl7_export(hl7, format, DX_HL7_KEYS, &out, NULL), DX_MISFIT);
        assert_int_equal(out.len, 1);
        dx_buf_done(&out);
    }
    dx_hl7_free(hl7);
}

/* Every length of the buffer that is too short leaves it as it was. */
static void export_is_all_or_nothing(void **state) {
    (void)state;
    dx_hl7 *hl7 = hl7_of(H "\rPID|a^b|c~|x y|\xc3\xa9\rOBX|1\rOBX|2");
    for (dx_hl7_format format = DX_HL7_TEXT; format <= DX_HL7_YAML; format++)
        for (dx_hl7_shape shape = DX_HL7_SEGMENTS; shape <= DX_HL7_KEYS; shape++) {
            char *whole = hl7_exported(hl7, format, shape);
            size_t len = strlen(whole);
            for (size_t max = 0; max <= len; max++) {
                dx_buf out;
                dx_buf_init(&out, max + 1, NULL);
                assert_int_equal(dx_buf_append(&out, "<", 1), DX_OK);
                dx_status status = dx_hl7_export(hl7, format, shape, &out, NULL);
                assert_int_equal(status, max < len ? DX_ERR_LIMIT : DX_OK);
                assert_int_equal(out.len, max < len ? 1 : len + 1);
                if (status == DX_OK)
                    assert_memory_equal(out.data + 1, whole, len);
                dx_buf_done(&out);
            }
            free(whole);
        }
    dx_hl7_free(hl7);
}

/* The tree for toml has no null, unless the editor's defects are wanted. */
static void toml_has_no_null(void **state) {
    (void)state;
    for (int exact = 0; exact < 2; exact++) {
        dx_hl7 *hl7 = hl7_of_text(dx_str(H "\rPID|a~~b"), exact);
        yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
        assert_int_equal(hl7_tree(hl7, DX_HL7_SEGMENTS, DX_HL7_TOML, 1000, doc), DX_OK);
        char *text = yyjson_mut_write(doc, 0, NULL);
        assert_string_equal(text, exact ? PID_JSON("\"1\":[\"a\",null,\"b\"]")
                                        : PID_JSON("\"1\":[\"a\",\"\",\"b\"]"));
        free(text);
        yyjson_mut_doc_free(doc);
        dx_hl7_free(hl7);
    }
}

/* All formats have numbers of their own; a message has their text. */
static void numbers_stay_as_they_are_written(void **state) {
    (void)state;
    static const char *const documents[] = {
        [DX_HL7_JSON] = "{\"MSH\":{\"3\":-0.50,\"4\":12345678901234567890123,\"5\":1.50,"
                        "\"6\":1e5,\"7\":1E+400,\"8\":true}}",
        [DX_HL7_YAML] = "MSH: {3: -0.50, 4: 12345678901234567890123, 5: 1.50, 6: 1e5, 7: 1E+400,"
                        " 8: true}",
        [DX_HL7_TOML] = "[MSH]\n3 = -0.50\n4 = 12345678901234567890123\n5 = 1.50\n6 = 1e5\n"
                        "7 = 1E+400\n8 = true\n",
    };
    dx_error error;
    for (dx_hl7_format format = DX_HL7_JSON; format <= DX_HL7_TOML; format++) {
        dx_hl7 *hl7 = import(format, dx_str(documents[format]), 0, &error);
        assert_string_equal(error.phrase, "");
        hl7_expect(hl7, M "|-0.50|12345678901234567890123|1.50|1e5|1E+400|true\r");
        dx_hl7_free(hl7);
    }
    dx_hl7 *hl7 =
        import(DX_HL7_TOML,
               dx_str("MSH = {3 = 0x1F, 4 = 1_000, 5 = +7, 6 = inf, 7 = 2031-10-04 08:15:30z,"
                      " 8 = [1.0, 2.00], 9 = {1 = 1.0, 2 = 0o17}}"),
               0, &error);
    assert_string_equal(error.phrase, "");
    hl7_expect(hl7, M "|0x1F|1_000|+7|inf|2031-10-04 08:15:30z|1.0~2.00|1.0^0o17\r");
    dx_hl7_free(hl7);
}

/* What a document does not say comes from the message that it was made from. */
static void keeps_what_a_document_does_not_say(void **state) {
    (void)state;
    static const char *const texts[] = {
        H,
        H "\r",
        H "|\r",
        H "\n",
        H "\r\n\r\n",
        H "\rPID|1",
        H "\rPID|1||\r",
        H "\nPID|1\r\nPID|2\r\r\rPID|3|^\n",
        H "\r|||\nPID|1||\r\n|",
        "MSH#*!?@#A\rPID##\r",
        H "\r  PID|1|\rnot a segment\r",
    };
    dx_hl7_config config = dx_hl7_defaults();
    for (size_t i = 0; i < LENGTH(texts); i++)
        for (dx_hl7_format format = DX_HL7_JSON; format <= DX_HL7_TOML; format++) {
            dx_hl7 *like = hl7_of(texts[i]);
            dx_hl7 *again = NULL;
            char *document = hl7_exported(like, format, DX_HL7_SEGMENTS);
            dx_error error = {.phrase = ""};
            config.text_max = strlen(texts[i]); /* enough for what it was made from */
            dx_status status =
                dx_hl7_import_like(&config, dx_str(document), format, like, &again, &error);
            if (status != DX_OK)
                print_error("%s: %s\n", document, error.phrase);
            assert_int_equal(status, DX_OK);
            hl7_expect(again, texts[i]);
            dx_hl7_free(again);
            /* Without it, each segment ends with CR, if there is room. */
            config.text_max++;
            assert_int_equal(dx_hl7_import(&config, dx_str(document), format, &again, &error),
                             DX_OK);
            char *text = hl7_text(again);
            assert_true(text[strlen(text) - 1] == '\r');
            free(text);
            dx_hl7_free(again);
            free(document);
            dx_hl7_free(like);
        }
    dx_hl7 *like = hl7_of(H "\nPID|1||\r\nPID|2||");
    dx_hl7 *again = NULL;
    dx_error error;
    dx_text document =
        dx_str("{\"segments\":[" MSH_JSON
               ",{\"segment\":\"PID\",\"fields\":{\"1\":\"1\"}},{\"segment\":\"NK1\"},"
               "{\"segment\":\"ZZ1\",\"fields\":{\"2\":\"\"}}]}");
    config = dx_hl7_defaults();
    assert_int_equal(dx_hl7_import_like(&config, document, DX_HL7_JSON, like, &again, &error),
                     DX_OK);
    hl7_expect(again, H "\nPID|1||\r\nNK1\nZZ1||");
    dx_hl7_free(again);
    dx_hl7_free(like);
}

/* JSON writers escape what is beyond U+FFFF as two. */
static void reads_surrogate_pairs(void **state) {
    (void)state;
    static const struct in good[] = {
        {"MSH: {3: \"\\ud83d\\ude00\"}", M "|\xf0\x9f\x98\x80"},
        {"MSH: {3: \"a \\uD83D\\uDE00 \\udbff\\udfff\\u00e9\"}",
         M "|a \xf0\x9f\x98\x80 \xf4\x8f\xbf\xbf\xc3\xa9"},
        {"MSH: {3: \"\\ud83d\\ude00\", 4: \"\\\\ud83d\\\\ude00\"}",
         M "|\xf0\x9f\x98\x80|\\ud83d\\ude00"},
        {"# \\ud83d\\ude00\nMSH:\n  3: \"\\ud83d\\ude00\"\n  4: C:\\Users\n",
         M "|\xf0\x9f\x98\x80|C:\\Users"},
        {"MSH: {3: '\\ud83d\\ude00', 4: \\ud83d\\ude00}", M "|\\ud83d\\ude00|\\ud83d\\ude00"},
        {"{\"MSH\": {\"3\": \"\\ud83d\\ude00\"}}", M "|\xf0\x9f\x98\x80"},
    };
    static const struct in bad[] = {
        {"MSH: {3: \"\\ud83d\"}",
         "Failed to parse YAML: found invalid Unicode character escape code"},
        {"MSH: {3: \"\\ude00\\ud83d\"}",
         "Failed to parse YAML: found invalid Unicode character escape code"},
        {"MSH: {3: \"\\ud83dx\\ude00\"}",
         "Failed to parse YAML: found invalid Unicode character escape code"},
        {"MSH: {3: \"\\ud83d\\ude0\"}",
         "Failed to parse YAML: found invalid Unicode character escape code"},
        {"MSH: {3: \"\\ud83d\\ude00\", 4: '\\ud83d\\ude00'}",
         "Failed to parse YAML: an escaped surrogate pair, and text without double quotes that "
         "looks"
         " like one"},
    };
    check_imports(DX_HL7_YAML, good, LENGTH(good), 0);
    check_refusals(DX_HL7_YAML, bad, LENGTH(bad), 0, "yaml");
}

static void text_is_a_format_too(void **state) {
    (void)state;
    dx_error error;
    dx_hl7 *hl7 = import(DX_HL7_TEXT, dx_str(H "\nPID|1\n"), 0, &error);
    char *text = hl7_exported(hl7, DX_HL7_TEXT, DX_HL7_KEYS);
    assert_string_equal(text, H "\nPID|1\n");
    free(text);
    dx_hl7_free(hl7);
    assert_null(import(DX_HL7_TEXT, dx_str("PID|1"), 0, &error));
    assert_string_equal(error.place, "message");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_json),
        cmocka_unit_test(orders_components),
        cmocka_unit_test(writes_keys),
        cmocka_unit_test(reads_json),
        cmocka_unit_test(refuses_json),
        cmocka_unit_test(reads_as_the_editor_does),
        cmocka_unit_test(writes_yaml),
        cmocka_unit_test(reads_yaml),
        cmocka_unit_test(refuses_yaml),
        cmocka_unit_test(survives_hostile_yaml),
        cmocka_unit_test(refuses_an_alias_bomb),
        cmocka_unit_test(needs_utf8),
        cmocka_unit_test(export_is_all_or_nothing),
        cmocka_unit_test(toml_has_no_null),
        cmocka_unit_test(numbers_stay_as_they_are_written),
        cmocka_unit_test(keeps_what_a_document_does_not_say),
        cmocka_unit_test(reads_surrogate_pairs),
        cmocka_unit_test(text_is_a_format_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
