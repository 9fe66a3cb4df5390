/* The table of patches: every line of what is known about editor/patchMessage, as it should be and
 * as Hermes 0.1.0 does it. */
#include "hermes/hl7.h"

#define H "MSH|^~\\&|APP"

/* A patch to a message, and what it makes of it; or why not, and then the message stays. */
struct row {
    const char *name;
    const char *before;
    dx_hl7_patch patch;
    const char *after;
    const char *why;
};

#define PATH(literal) \
    { (literal), sizeof(literal) - 1 }
#define SET(path_, value_) \
    { .path = PATH(path_), .value = PATH(value_) }
#define CLEAR(path_) \
    { .path = PATH(path_) }
#define CREATE(path_) \
    { .path = PATH(path_), .create = 1 }
#define REMOVE(path_) \
    { .path = PATH(path_), .remove = 1 }
#define NO_FIELD(path_) "Path '" path_ "' must specify a field number for set/remove operations"
#define BAD(path_, position, rest) \
    "Invalid path '" path_ "': Query parsing failed at position " position ": `" rest "`"

static void check(const struct row *row, int exact) {
    dx_hl7 *hl7 = hl7_of_text(dx_str(row->before), exact);
    dx_buf why;
    dx_buf_init(&why, 5000, NULL);
    dx_status status = dx_hl7_apply(hl7, &row->patch, &why);
    char *text = hl7_text(hl7);
    if (status != (row->why ? DX_MISFIT : DX_OK) ||
        strcmp(text, row->after ? row->after : row->before) != 0)
        print_error("row \"%s\": %s\n", row->name, text);
    free(text);
    assert_int_equal(status, row->why ? DX_MISFIT : DX_OK);
    unit_same((dx_text){why.data, why.len}, dx_str(row->why ? row->why : ""));
    hl7_expect(hl7, row->after ? row->after : row->before);
    dx_buf_done(&why);
    dx_hl7_free(hl7);
    /* Nobody need be told why. */
    hl7 = hl7_of_text(dx_str(row->before), exact);
    assert_int_equal(dx_hl7_apply(hl7, &row->patch, NULL), status);
    dx_hl7_free(hl7);
}

static const struct row fixed[] = {
    {"field", H "\rPID|1||3", SET("PID.3", "x"), H "\rPID|1||x", NULL},
    {"field in front", H "\rPID|1||3", SET("PID.1", ""), H "\rPID|||3", NULL},
    {"field to be added", H "\rPID|1", SET("PID.4", "x"), H "\rPID|1|||x", NULL},
    {"field of a bare segment", H "\rPID", SET("PID.2", "x"), H "\rPID||x", NULL},
    {"field of a segment that ends", H "\rPID|\r", SET("PID.1", "x"), H "\rPID|x\r", NULL},
    {"line ends stay", H "\r\nPID|1\nOBX|1\r\r\n\nNTE\r", SET("PID.1", "22"),
     H "\r\nPID|22\nOBX|1\r\r\n\nNTE\r", NULL},
    {"the rest stays", H "\rPID|A\\T\\B|\\bad| x |||\rZ Z|1", SET("PID.3", "y"),
     H "\rPID|A\\T\\B|\\bad|y|||\rZ Z|1", NULL},
    {"separators stay behind", H "\rPID|1|2|||\r", CLEAR("PID.2"), H "\rPID|1||||\r", NULL},
    {"absent value clears", H "\rPID|1|2", CLEAR("PID.2"), H "\rPID|1|", NULL},
    {"clearing what is not there", H "\rPID|1", CLEAR("PID.9.3"), NULL, NULL},
    {"occurrence", H "\rOBX|1\rNTE|1\rOBX|2", SET("OBX[2].1", "x"), H "\rOBX|1\rNTE|1\rOBX|x",
     NULL},
    {"occurrence, hyphen", H "\rOBX|1\rOBX|2", SET("OBX[2]-1", "x"), H "\rOBX|1\rOBX|x", NULL},
    {"component", H "\rPID|a^b^c", SET("PID.1.2", "x"), H "\rPID|a^x^c", NULL},
    {"component to be added", H "\rPID|a^b|z", SET("PID.1.4", "x"), H "\rPID|a^b^^x|z", NULL},
    {"component of a plain field", H "\rPID|||12345", SET("PID.3.4", "MRN"),
     H "\rPID|||12345^^^MRN", NULL},
    {"first component of a plain field", H "\rPID|12345", SET("PID.1.1", "x"), H "\rPID|x", NULL},
    {"component with its parts", H "\rPID|a&b^c", SET("PID.1.1", "x"), H "\rPID|x^c", NULL},
    {"subcomponent", H "\rPID|a&b^c", SET("PID.1.1.2", "x"), H "\rPID|a&x^c", NULL},
    {"subcomponent of a plain component", H "\rPID|||||DOE", SET("PID.5.1.2", "SUB"),
     H "\rPID|||||DOE&SUB", NULL},
    {"subcomponent of nothing", H "\rPID|", SET("PID.2[2].3.2", "x"), H "\rPID||~^^&x", NULL},
    {"repetition", H "\rPID|||A~B~C", SET("PID.3[2]", "x"), H "\rPID|||A~x~C", NULL},
    {"repetition and component", H "\rPID|||A~B^2", SET("PID-3[2].1", "x"), H "\rPID|||A~x^2",
     NULL},
    {"component of the first repetition", H "\rPID|A~B", SET("PID.1.2", "x"), H "\rPID|A^x~B",
     NULL},
    {"repetitions to be added", H "\rPID|A", SET("PID.1[4]", "x"), H "\rPID|A~~~x", NULL},
    {"a field without repetition is all of it", H "\rPID|A~B", SET("PID.1", "x"), H "\rPID|x",
     NULL},
    {"MSH.3", H "|FAC", SET("MSH.3", "x"), "MSH|^~\\&|x|FAC", NULL},
    {"MSH.5", H, SET("MSH.5", "x"), H "||x", NULL},
    {"MSH that ends early", "MSH|^~\\&", SET("MSH.3", "x"), "MSH|^~\\&|x", NULL},
    {"create and remove mean nothing to a field",
     H "\rPID|1",
     {.path = PATH("PID.1"), .value = PATH("x"), .create = 1, .remove = 1},
     H "\rPID|x",
     NULL},
    {"escapes", H "\rPID|", SET("PID.1", "|^&~\\\r\n"),
     H "\rPID|\\F\\\\S\\\\T\\\\R\\\\E\\\\X0D\\\\X0A\\", NULL},
    {"escapes of other separators", "MSH#*!?@#\rPID", SET("PID.1", "#*!?@|^&~\\"),
     "MSH#*!?@#\rPID#?F??S??R??E??T?|^&~\\", NULL},
    {"UTF-8", H "\rPID|", SET("PID.1", "\xc3\x85\xe4\xb8\xad\xf0\x9f\x98\x80"),
     H "\rPID|\xc3\x85\xe4\xb8\xad\xf0\x9f\x98\x80", NULL},
    {"null of HL7", H "\rPID|1", SET("PID.1", "\"\""), H "\rPID|\"\"", NULL},
    {"a name beyond ASCII", H "\r\xc3\x85ZZ|1", SET("\xc3\x85ZZ.1", "x"), H "\r\xc3\x85ZZ|x", NULL},
    {"lower case is another name", H "\rPID|1\rpid|2", SET("pid.1", "x"), H "\rPID|1\rpid|x", NULL},
    {"text behind what is no segment", H "\rnone of it\rPID|1", SET("PID.1", "x"),
     H "\rnone of it\rPID|x", NULL},

    {"create at the end", H "\rPID|1", CREATE("NK1"), H "\rPID|1\rNK1|", NULL},
    {"create at the end, ended", H "\rPID|1\r", CREATE("NK1"), H "\rPID|1\rNK1|\r", NULL},
    {"create with LF", H "\nPID|1", CREATE("NK1"), H "\nPID|1\nNK1|", NULL},
    {"create with CR LF", H "\r\nPID|1\r\n", CREATE("NK1"), H "\r\nPID|1\r\nNK1|\r\n", NULL},
    {"create behind the only one", H, CREATE("NK1"), H "\rNK1|", NULL},
    {"create behind the last of the name", H "\rOBX|1\rOBX|2\rNTE", CREATE("OBX"),
     H "\rOBX|1\rOBX|2\rOBX|\rNTE", NULL},
    {"create one that is there", H "\rOBX|1\rNTE", CREATE("OBX[1]"), H "\rOBX|1\rOBX|\rNTE", NULL},
    {"create the next", H "\rOBX|1\rNTE", CREATE("OBX[2]"), H "\rOBX|1\rOBX|\rNTE", NULL},
    {"create with fillers", H "\rOBX|1\rNTE", CREATE("OBX[4]"), H "\rOBX|1\rOBX|\rOBX|\rOBX|\rNTE",
     NULL},
    {"create with fillers at the end", H "\nPID|1", CREATE("OBX[2]"), H "\nPID|1\nOBX|\nOBX|",
     NULL},
    {"create goes first",
     H "\rPID|1",
     {.path = PATH("PID"), .create = 1, .remove = 1},
     H "\rPID|1\rPID|",
     NULL},
    {"create with other separators", "MSH#*!?@", CREATE("NK1"), "MSH#*!?@\rNK1#", NULL},
    {"create MSH", H, CREATE("MSH"), NULL, "Cannot create MSH segment"},
    {"remove", H "\rPID|1\rOBX|1\r", REMOVE("PID"), H "\rOBX|1\r", NULL},
    {"remove the last", H "\rPID|1\r", REMOVE("PID"), H "\r", NULL},
    {"remove the last, not ended", H "\r\nOBX|1\r\nPID|1", REMOVE("PID"), H "\r\nOBX|1", NULL},
    {"remove by occurrence", H "\rOBX|1\rOBX|2\rOBX|3", REMOVE("OBX[2]"), H "\rOBX|1\rOBX|3", NULL},
    {"remove what is not there", H "\rOBX|1", REMOVE("OBX[9]"), NULL, NULL},
    {"remove a name that is not there", H "\rOBX|1", REMOVE("NK1"), NULL, NULL},
    {"remove MSH", H "\rOBX|1", REMOVE("MSH"), NULL, "Cannot remove MSH segment"},
    {"remove a second MSH", H "\rMSH|x", REMOVE("MSH[2]"), NULL, "Cannot remove MSH segment"},

    {"no field", H "\rPID|1", SET("PID", "x"), NULL, NO_FIELD("PID")},
    {"no field, with occurrence", H "\rPID|1", SET("PID[1]", "x"), NULL, NO_FIELD("PID[1]")},
    {"segment not found", H "\rPID|1", SET("ZZZ.1", "x"), NULL, "Segment ZZZ not found"},
    {"create does not help a field",
     H,
     {.path = PATH("NK1.1"), .value = PATH("x"), .create = 1},
     NULL,
     "Segment NK1 not found"},
    {"occurrence not found", H "\rOBX|1", SET("OBX[2].1", "x"), NULL, "Segment OBX not found"},
    {"MSH.1", H, SET("MSH.1", "#"), NULL, "Cannot set MSH.1 or MSH.2, the separators"},
    {"MSH.1, the same", H, SET("MSH.1", "|"), NULL, NULL},
    {"MSH.1, more than that", H, SET("MSH.1", "||"), NULL,
     "Cannot set MSH.1 or MSH.2, the separators"},
    {"MSH.1, empty", H, CLEAR("MSH.1"), NULL, "Cannot set MSH.1 or MSH.2, the separators"},
    {"MSH.1 of a second MSH, the same", H "\rMSH|^~\\&|x", SET("MSH[2].1", "|"), NULL, NULL},
    {"MSH.2 of a second MSH, the same", H "\rMSH|^~\\&|x", SET("MSH[2].2", "^~\\&"), NULL, NULL},
    {"MSH.2.1, the same", H, SET("MSH.2.1", "^~\\&"), NULL, NULL},
    {"MSH.2", H, SET("MSH.2", "#"), NULL,
     "Cannot set MSH.2: a separator that the message has cannot change"},
    {"MSH.2, another order", H, SET("MSH.2", "^\\~&"), NULL,
     "Cannot set MSH.2: a separator that the message has cannot change"},
    {"MSH.2, fewer", H, SET("MSH.2", "^~"), NULL,
     "Cannot set MSH.2: a separator that the message has cannot change"},
    {"MSH.2, with a line end", "MSH|^~", SET("MSH.2", "^~\\\r"), NULL,
     "Cannot set MSH.2: a separator that the message has cannot change"},
    {"MSH.2, with the separator of fields", "MSH|^~", SET("MSH.2", "^~|"), NULL,
     "Cannot set MSH.2: expected one to five separators"},
    {"MSH.2, none", H, CLEAR("MSH.2"), NULL, "Cannot set MSH.2: expected one to five separators"},
    {"MSH.2, too many", H, SET("MSH.2", "^~\\&#*"), NULL,
     "Cannot set MSH.2: expected one to five separators"},
    {"MSH.2, the same", H "|x\rPID|\\T\\", SET("MSH.2", "^~\\&"), NULL, NULL},
    {"MSH.2 without escape", "MSH|^~&|A\rPID|a\\T\\b&c", SET("MSH.2", "^~\\&"),
     "MSH|^~\\&|A\rPID|a\\T\\b&c", NULL},
    {"MSH.2 with a blank", "MSH|^~ &|A\rPID|1", SET("MSH.2", "^~\\&"), "MSH|^~\\&|A\rPID|1", NULL},
    {"MSH.2 with few", "MSH|^|A", SET("MSH.2", "^~\\&#"), "MSH|^~\\&#|A", NULL},
    {"a lost escape character, subcomponents", "MSH|^~&|\rPID|a&b^c", SET("PID.1.1.2", "x"),
     "MSH|^~&|\rPID|a&x^c", NULL},
    {"a lost escape character, values that need none", "MSH|^~ &|\rPID|a", SET("PID.2", "C:\\x"),
     "MSH|^~ &|\rPID|a|C:\\x", NULL},
    {"a lost escape character, and one is needed", "MSH|^~&|\rPID|a", SET("PID.1", "b&c"), NULL,
     "Path 'PID.1' needs a character that MSH.2 does not have"},
    {"the fifth separator of 2.7 is text", "MSH|^~\\&#|A\rPID|1", SET("PID.1", "a#b&"),
     "MSH|^~\\&#|A\rPID|a#b\\T\\", NULL},
    {"an indented line", H "\r  PID|1\r\tOBX|2", SET("OBX.1", "x"), H "\r  PID|1\r\tOBX|x", NULL},
    {"MSH.2.1", H, SET("MSH.2.1", "#"), NULL, "Cannot set MSH.1 or MSH.2, the separators"},
    {"empty path", H, SET("", "x"), NULL, BAD("", "0", "")},
    {"short name", H, SET("PI.5", "x"), NULL, BAD("PI.5", "0", "PI.5")},
    {"long name", H "\rPID|1", SET("PIDX.5", "x"), NULL, BAD("PIDX.5", "3", "X.5")},
    {"rest of a path", H "\rPID|1", SET("PID.5.1xyz", "x"), NULL, BAD("PID.5.1xyz", "7", "xyz")},
    {"component 0", H "\rPID|1", SET("PID.5.0", "x"), NULL, BAD("PID.5.0", "5", ".0")},
    {"field 0", H "\rPID|1", SET("PID.0", "x"), NULL, BAD("PID.0", "3", ".0")},
    {"occurrence 0", H "\rOBX|1", SET("OBX[0].5", "x"), NULL, BAD("OBX[0].5", "3", "[0].5")},
    {"field too large", H "\rPID|1", SET("PID.1000000", "x"), NULL,
     BAD("PID.1000000", "3", ".1000000")},
    {"number beyond 64 bits", H "\rPID|1", SET("PID.99999999999999999999", "x"), NULL,
     BAD("PID.99999999999999999999", "3", ".99999999999999999999")},
    {"no repetitions in the message", "MSH|^\rPID|1", SET("PID.1[2]", "x"), NULL,
     "Path 'PID.1[2]' needs a character that MSH.2 does not have"},
    {"no subcomponents in the message", "MSH|^~\\\rPID|1", SET("PID.1.1.2", "x"), NULL,
     "Path 'PID.1.1.2' needs a character that MSH.2 does not have"},
    {"no escapes in the message", "MSH|^~\rPID|1", SET("PID.1", "a|b"), NULL,
     "Path 'PID.1' needs a character that MSH.2 does not have"},
    {"no escapes needed", "MSH|^~\rPID|1", SET("PID.1", "a\\&b"), "MSH|^~\rPID|a\\&b", NULL},
};

/* Numbers are those of the defects in the list of facts. */
static const struct row exact[] = {
    {"renders anew with CR", H "\r\nPID|1\nOBX|1\r\n", SET("PID.1", "x"), H "\rPID|x\rOBX|1", NULL},
    {"1: the first goes", H "\rOBX|1\rOBX|2", REMOVE("OBX[2]"), H "\rOBX|2", NULL},
    {"1: also for one that is not there", H "\rOBX|1\rOBX|2", REMOVE("OBX[9]"), H "\rOBX|2", NULL},
    {"remove what is not there changes nothing", H "\nOBX|\\T\\\n", REMOVE("NK1"), NULL, NULL},
    {"remove MSH", H "\rOBX|1", REMOVE("MSH"), NULL, "Cannot remove MSH segment"},
    {"2: a bare segment", H "\rPID|1", CREATE("NK1"), H "\rPID|1\rNK1", NULL},
    {"2: that cannot be read", H "\rPID|1\rNK1", SET("NK1.2", "x"), NULL, "Segment NK1 not found"},
    {"2: and hides the rest", H "\rNK1\rPID|1", SET("PID.1", "x"), NULL, "Segment PID not found"},
    {"2: which the next patch drops", H "\rPV1|1\rNK1\rPID|1", SET("PV1.1", "x"), H "\rPV1|x",
     NULL},
    {"2: fillers", H "\rOBX|1\rNTE|1", CREATE("OBX[3]"), H "\rOBX|1\rOBX\rOBX\rNTE|1", NULL},
    {"3: all repetitions", H "\rPID|||A~B", SET("PID.3[2]", "x"), H "\rPID|||x", NULL},
    {"repetition with component", H "\rPID|||A^1~B^2", SET("PID.3[2].1", "x"), H "\rPID|||A^1~x^2",
     NULL},
    {"4: component of a plain field", H "\rPID|||12345", SET("PID.3.4", "MRN"), H "\rPID|||^^^MRN",
     NULL},
    {"4: subcomponent of a plain field", H "\rPID|||||DOE", SET("PID.5.1.2", "SUB"),
     H "\rPID|||||&SUB", NULL},
    {"4: subcomponent of a plain component", H "\rPID|DOE^JOHN", SET("PID.1.1.2", "SUB"),
     H "\rPID|&SUB^JOHN", NULL},
    {"4: component of a plain repetition", H "\rPID|A~B", SET("PID.1[2].2", "x"), H "\rPID|A~^x",
     NULL},
    {"4: not with parts", H "\rPID|A^B", SET("PID.1.3", "x"), H "\rPID|A^B^x", NULL},
    {"4: not with subcomponents", H "\rPID|A&B", SET("PID.1.1.3", "x"), H "\rPID|A&B&x", NULL},
    {"5: escapes twice", H "\rPID|A\\T\\B|1", SET("PID.2", "a&b"), H "\rPID|A\\E\\T\\E\\B|a\\T\\b",
     NULL},
    {"6: MSH.1", H "|FAC", SET("MSH.1", "#"), H "|FAC", NULL},
    {"6: MSH.2", H "|FAC", SET("MSH.2", "#"), H "|FAC", NULL},
    {"6: MSH alone", "MSH|^~\\&", SET("MSH.2", "#"), "MSH|^~\\&|", NULL},
    {"7: what cannot be read goes", H "\rPID|1\rno segment\rOBX|1", SET("PID.1", "x"), H "\rPID|x",
     NULL},
    {"create MSH", H, CREATE("MSH"), H "\rMSH", NULL},
    {"rest of a path", H "\rPID|||||a^b", SET("PID.5.1xyz", "x"), H "\rPID|||||x^b", NULL},
    {"component 0 is the field", H "\rPID|||||a^b", SET("PID.5.0", "x"), H "\rPID|||||x", NULL},
    {"long name", H "\rPID|1", SET("PIDX.5", "x"), NULL, NO_FIELD("PIDX.5")},
    {"field 0", H "\rPID|1", SET("PID.0", "x"), NULL, NO_FIELD("PID.0")},
    {"occurrence 0", H "\rOBX|1", SET("OBX[0].5", "x"), NULL, NO_FIELD("OBX[0].5")},
    {"short name", H, SET("PI.5", "x"), NULL, BAD("PI.5", "0", "PI.5")},
    {"number beyond 64 bits", H "\rPID|1", SET("PID.99999999999999999999", "x"), NULL,
     NO_FIELD("PID.99999999999999999999")},
};

static void does_what_it_should(void **state) {
    (void)state;
    for (size_t i = 0; i < LENGTH(fixed); i++)
        check(&fixed[i], 0);
}

static void does_what_the_editor_does(void **state) {
    (void)state;
    for (size_t i = 0; i < LENGTH(exact); i++)
        check(&exact[i], 1);
}

/* A path that is too long for a sentence is cut, at a character. */
static void a_sentence_stays_short(void **state) {
    (void)state;
    static char path[100001];
    for (size_t i = 0; i < sizeof path - 1; i += 2)
        memcpy(path + i, "\xc3\xa9", 2);
    path[3] = '|';
    dx_hl7 *hl7 = hl7_of(H);
    dx_buf why;
    dx_buf_init(&why, 5000, NULL);
    dx_hl7_patch patch = {.path = dx_str(path)};
    assert_int_equal(dx_hl7_apply(hl7, &patch, &why), DX_MISFIT);
    assert_in_range(why.len, 400, 500);
    assert_memory_equal(why.data + why.len - 3, "\xc3\xa9`", 3);
    dx_buf_done(&why);
    dx_hl7_free(hl7);
}

/* A create that is taken back leaves every byte as it was. */
static void create_and_remove_leave_nothing(void **state) {
    (void)state;
    static const char *const texts[] = {H, H "\r", H "\r\nPID|1", H "\nPID|1\n\nOBX|1\n",
                                        H "\rNK1|1\rPID|1"};
    static const char *const paths[] = {"ZZZ", "PID", "OBX", "NK1"};
    for (size_t i = 0; i < LENGTH(texts); i++)
        for (size_t p = 0; p < LENGTH(paths); p++) {
            dx_hl7 *hl7 = hl7_of(texts[i]);
            dx_text raw;
            char last[20] = "";
            dx_hl7_patch patch = {.path = dx_str(paths[p]), .create = 1};
            assert_int_equal(dx_hl7_apply(hl7, &patch, NULL), DX_OK);
            for (int n = 1; dx_hl7_get(hl7, dx_str(last), &raw) != DX_OK || raw.at; n++)
                snprintf(last, sizeof last, "%s[%d]", paths[p], n);
            int count = atoi(strchr(last, '[') + 1) - 1;
            snprintf(last, sizeof last, "%s[%d]", paths[p], count);
            patch = (dx_hl7_patch){.path = dx_str(last), .remove = 1};
            assert_int_equal(dx_hl7_apply(hl7, &patch, NULL), DX_OK);
            hl7_expect(hl7, texts[i]);
            dx_hl7_free(hl7);
        }
}

static char *apply_all(dx_hl7 *hl7, const char *patches) {
    yyjson_doc *doc = yyjson_read(patches, strlen(patches), 0);
    yyjson_mut_doc *made = yyjson_mut_doc_new(NULL);
    assert_non_null(doc);
    yyjson_mut_val *result = NULL;
    dx_error error = {.phrase = ""};
    dx_status status = dx_hl7_apply_all(hl7, yyjson_doc_get_root(doc), made, &result, &error);
    char *text = status == DX_OK ? yyjson_mut_val_write(result, 0, NULL) : strdup(error.phrase);
    assert_true(status == DX_OK || status == DX_MISFIT);
    yyjson_mut_doc_free(made);
    yyjson_doc_free(doc);
    return text;
}

static void check_list(const char *before, const char *patches, const char *result,
                       const char *after) {
    dx_hl7 *hl7 = hl7_of(before);
    char *got = apply_all(hl7, patches);
    assert_string_equal(got, result);
    free(got);
    hl7_expect(hl7, after);
    dx_hl7_free(hl7);
}

static void applies_lists(void **state) {
    (void)state;
    check_list(H, "[]", "{\"patchesApplied\":0,\"success\":true}", H);
    check_list(H "\rPID|1",
               "[{\"path\":\"NK1\",\"create\":true},{\"path\":\"NK1.2.1\",\"value\":\"DOE\"},"
               "{\"path\":\"PID.1\",\"value\":null,\"remove\":null,\"create\":false}]",
               "{\"patchesApplied\":3,\"success\":true}", H "\rPID|\rNK1||DOE");
    /* One that fails does not stop the rest. */
    check_list(
        H "\rPID|1",
        "[{\"path\":\"ZZZ.1\",\"value\":\"x\"},{\"path\":\"PID.1\",\"value\":\"x\"},"
        "{\"path\":\"?\"},{\"path\":\"PID\",\"remove\":true},{\"path\":\"PID.1\"}]",
        "{\"errors\":[{\"index\":0,\"message\":\"Segment ZZZ not found\",\"path\":\"ZZZ.1\"},"
        "{\"index\":2,\"message\":\"Invalid path '?': Query parsing failed at position 0: "
        "`?`\",\"path\":\"?\"},{\"index\":4,\"message\":\"Segment PID not found\",\"path\":"
        "\"PID.1\"}],\"patchesApplied\":2,\"success\":false}",
        H);
    /* The last of several members of one name counts. */
    check_list(H "\rPID|1", "[{\"path\":\"PID.1\",\"value\":\"x\",\"value\":\"y\"}]",
               "{\"patchesApplied\":1,\"success\":true}", H "\rPID|y");
}

/* Then nothing is applied, not even what stands before it. */
static void refuses_what_is_no_list(void **state) {
    (void)state;
    static const struct {
        const char *patches;
        const char *phrase;
    } rows[] = {
        {"{}", "patches is not an array"},
        {"null", "patches is not an array"},
        {"[{\"path\":\"PID.1\",\"value\":\"x\"},1]", "a patch is not an object"},
        {"[{\"path\":\"PID.1\",\"value\":\"x\"},{\"value\":\"x\"}]", "missing field `path`"},
        {"[{\"path\":\"PID.1\",\"value\":\"x\"},{\"path\":1}]", "path is not a string"},
        {"[{\"path\":\"PID.1\",\"value\":\"x\"},{\"path\":null}]", "path is not a string"},
        {"[{\"path\":\"PID.1\",\"value\":1}]", "value is neither a string nor null"},
        {"[{\"path\":\"PID.1\",\"value\":true}]", "value is neither a string nor null"},
        {"[{\"path\":\"PID\",\"remove\":1}]", "remove or create is neither a boolean nor null"},
        {"[{\"path\":\"PID\",\"create\":\"yes\"}]",
         "remove or create is neither a boolean nor null"},
    };
    for (size_t i = 0; i < LENGTH(rows); i++)
        check_list(H "\rPID|1", rows[i].patches, rows[i].phrase, H "\rPID|1");
}

/* The documented list: it works here, and fails in the editor as the editor's own does. */
static void create_then_set_fails_exactly(void **state) {
    (void)state;
    dx_hl7 *hl7 = hl7_of_text(dx_str(H "\rPID|1"), 1);
    char *got =
        apply_all(hl7, "[{\"path\":\"NK1\",\"create\":true},{\"path\":\"NK1.2\",\"value\":\"x\"},"
                       "{\"path\":\"PID.1\",\"value\":\"2\"}]");
    assert_string_equal(got,
                        "{\"errors\":[{\"index\":1,\"message\":\"Segment NK1 not found\",\"path\":"
                        "\"NK1.2\"}],\"patchesApplied\":2,\"success\":false}");
    free(got);
    hl7_expect(hl7, H "\rPID|2");
    dx_hl7_free(hl7);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(does_what_it_should),
        cmocka_unit_test(does_what_the_editor_does),
        cmocka_unit_test(a_sentence_stays_short),
        cmocka_unit_test(create_and_remove_leave_nothing),
        cmocka_unit_test(applies_lists),
        cmocka_unit_test(refuses_what_is_no_list),
        cmocka_unit_test(create_then_set_fails_exactly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
