/* \p{…}: the names that ECMA-262 has for properties of characters. */
#include "schema/ecma.h"

#include <string.h>

/* General categories: what PCRE2 calls them, and all their names here. */
static const struct category {
    const char *name;
    const char *others;
} categories[] = {
    {"L&", "LC Cased_Letter"},
    {"Pe", "Pe Close_Punctuation"},
    {"Pc", "Pc Connector_Punctuation"},
    {"Cc", "Cc Control cntrl"},
    {"Sc", "Sc Currency_Symbol"},
    {"Pd", "Pd Dash_Punctuation"},
    {"Nd", "Nd Decimal_Number digit"},
    {"Me", "Me Enclosing_Mark"},
    {"Pf", "Pf Final_Punctuation"},
    {"Cf", "Cf Format"},
    {"Pi", "Pi Initial_Punctuation"},
    {"L", "L Letter"},
    {"Nl", "Nl Letter_Number"},
    {"Zl", "Zl Line_Separator"},
    {"Ll", "Ll Lowercase_Letter"},
    {"M", "M Mark Combining_Mark"},
    {"Sm", "Sm Math_Symbol"},
    {"Lm", "Lm Modifier_Letter"},
    {"Sk", "Sk Modifier_Symbol"},
    {"Mn", "Mn Nonspacing_Mark"},
    {"N", "N Number"},
    {"Ps", "Ps Open_Punctuation"},
    {"C", "C Other"},
    {"Lo", "Lo Other_Letter"},
    {"No", "No Other_Number"},
    {"Po", "Po Other_Punctuation"},
    {"So", "So Other_Symbol"},
    {"Zp", "Zp Paragraph_Separator"},
    {"Co", "Co Private_Use"},
    {"P", "P Punctuation punct"},
    {"Z", "Z Separator"},
    {"Zs", "Zs Space_Separator"},
    {"Mc", "Mc Spacing_Mark"},
    {"Cs", "Cs Surrogate"},
    {"S", "S Symbol"},
    {"Lt", "Lt Titlecase_Letter"},
    {"Cn", "Cn Unassigned"},
    {"Lu", "Lu Uppercase_Letter"},
};

/* Properties that a character has or has not; PCRE2 knows them by the same names. */
static const char binary[] =
    "ASCII ASCII_Hex_Digit AHex Alphabetic Alpha Any Bidi_Control Bidi_C Bidi_Mirrored Bidi_M "
    "Case_Ignorable CI Cased Changes_When_Casefolded CWCF Changes_When_Casemapped CWCM "
    "Changes_When_Lowercased CWL Changes_When_NFKC_Casefolded CWKCF Changes_When_Titlecased CWT "
    "Changes_When_Uppercased CWU Dash Default_Ignorable_Code_Point DI Deprecated Dep Diacritic Dia "
    "Emoji Emoji_Component EComp Emoji_Modifier EMod Emoji_Modifier_Base EBase Emoji_Presentation "
    "EPres Extended_Pictographic ExtPict Extender Ext Grapheme_Base Gr_Base Grapheme_Extend Gr_Ext "
    "Hex_Digit Hex IDS_Binary_Operator IDSB IDS_Trinary_Operator IDST ID_Continue IDC ID_Start IDS "
    "Ideographic Ideo Join_Control Join_C Logical_Order_Exception LOE Lowercase Lower Math "
    "Noncharacter_Code_Point NChar Pattern_Syntax Pat_Syn Pattern_White_Space Pat_WS "
    "Quotation_Mark QMark Radical Regional_Indicator RI Sentence_Terminal STerm Soft_Dotted SD "
    "Terminal_Punctuation Term Unified_Ideograph UIdeo Uppercase Upper Variation_Selector VS "
    "White_Space space XID_Continue XIDC XID_Start XIDS";

enum { WORD_MAX = 64 };

struct word {
    char text[WORD_MAX + 1];
    size_t len;
};

static struct word read_word(dx__ecma *ecma) {
    struct word word = {.len = 0};
    for (; word.len < WORD_MAX; ecma->at++) {
        char c = dx__ecma_peek(ecma);
        if (!dx__is_letter(c) && !dx__is_digit(c) && c != '_')
            break;
        word.text[word.len++] = c;
    }
    return word;
}

/* Is it in a list of words with spaces between them? */
static bool is_word_of(const struct word *word, const char *list) {
    for (size_t len; *list; list += len + (list[len] == ' ')) {
        const char *space = memchr(list, ' ', strlen(list));
        len = space ? (size_t)(space - list) : strlen(list);
        if (len == word->len && memcmp(list, word->text, len) == 0)
            return true;
    }
    return false;
}

static const char *category_of(const struct word *word) {
    for (size_t i = 0; i < sizeof categories / sizeof *categories; i++)
        if (is_word_of(word, categories[i].others))
            return categories[i].name;
    return NULL;
}

static void put_property(dx__ecma *ecma, bool negated, const char *before, const char *name) {
    dx__ecma_put(ecma, negated ? "\\P{" : "\\p{");
    dx__ecma_put(ecma, before);
    dx__ecma_put(ecma, name);
    dx__ecma_put(ecma, "}");
}

/* "Greek": whether there is such a script PCRE2 knows, which is less strict about capitals. */
static bool put_script(dx__ecma *ecma, bool negated, const char *before, const struct word *word) {
    if (word->text[0] < 'A' || word->text[0] > 'Z')
        return false;
    put_property(ecma, negated, before, word->text);
    return true;
}

static bool put_alone(dx__ecma *ecma, bool negated, const struct word *word) {
    const char *category = category_of(word);
    if (category) {
        put_property(ecma, negated, "", category);
    } else if (is_word_of(word, "Assigned")) {
        put_property(ecma, !negated, "", "Cn");
    } else if (is_word_of(word, binary)) {
        put_property(ecma, negated, "", word->text);
    } else {
        return false;
    }
    return true;
}

void dx__ecma_property(dx__ecma *ecma, bool negated) {
    const char *where = ecma->at;
    ecma->has_properties = true;
    bool right = dx__ecma_take(ecma, '{');
    struct word name = read_word(ecma);
    if (dx__ecma_take(ecma, '=')) {
        struct word value = read_word(ecma);
        const char *category = category_of(&value);
        if (is_word_of(&name, "General_Category gc") && category)
            put_property(ecma, negated, "", category);
        else if (is_word_of(&name, "Script sc"))
            right &= put_script(ecma, negated, "sc:", &value);
        else if (is_word_of(&name, "Script_Extensions scx"))
            right &= put_script(ecma, negated, "scx:", &value);
        else
            right = false;
    } else {
        right &= put_alone(ecma, negated, &name);
    }
    if (!right || !dx__ecma_take(ecma, '}'))
        dx__ecma_fail(ecma, "an unknown property", where);
}
