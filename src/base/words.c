#include "base/words.h"

unsigned dx__lenient_named(dx_text name) {
    static const struct {
        const char *name;
        unsigned flag;
    } names[] = {
        {"lf", DX_LENIENT_LF},
        {"stray", DX_LENIENT_STRAY},
        {"plus", DX_LENIENT_PLUS},
        {"last-length", DX_LENIENT_LAST_LENGTH},
        {"no-version", DX_LENIENT_NO_VERSION},
        {"id-string", DX_LENIENT_ID_STRING},
        {"id-value", DX_LENIENT_ID_VALUE},
        {"null-params", DX_LENIENT_NULL_PARAMS},
        {"id-any", DX_LENIENT_ID_ANY},
        {"long-line", DX_LENIENT_LONG_LINE},
        {"last-member", DX_LENIENT_LAST_MEMBER},
        {"id-double", DX_LENIENT_ID_DOUBLE},
        {"utf8", DX_LENIENT_UTF8},
        {"follow", DX_LENIENT_FOLLOW},
        {"field-name", DX_LENIENT_FIELD_NAME},
        {"tab", DX_LENIENT_TAB},
        {"null-id", DX_LENIENT_NULL_ID},
        {"value", DX_LENIENT_VALUE},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (dx_text_is(name, names[i].name))
            return names[i].flag;
    return 0;
}
