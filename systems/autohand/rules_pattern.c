/* Patterns of permissions: what is never asked, and what is always refused. */
#include "systems/autohand/guard.h"

#include <ctype.h>

static bool is_same(char one, char other, bool folds) {
    return one == other || (folds && tolower((unsigned char)one) == tolower((unsigned char)other));
}

/* The last star that was passed is the only one that ever has to be tried again: what stood before
 * it has been found at the earliest place. */
static bool is_like(dx_text pattern, dx_text text, bool folds) {
    size_t p = 0;
    size_t t = 0;
    size_t star = SIZE_MAX;
    size_t star_text = 0;
    while (t < text.len) {
        if (p < pattern.len && pattern.at[p] == '*') {
            star = p++;
            star_text = t;
        } else if (p < pattern.len &&
                   (pattern.at[p] == '?' || is_same(pattern.at[p], text.at[t], folds))) {
            p++;
            t++;
        } else if (star != SIZE_MAX) {
            p = star + 1;
            t = ++star_text;
        } else {
            return false;
        }
    }
    while (p < pattern.len && pattern.at[p] == '*')
        p++;
    return p == pattern.len;
}

bool dx__autohand_pattern_fits(const char *pattern, const char *tool, dx_text subject,
                               dx__autohand_match match) {
    const char *colon = strchr(pattern, ':');
    dx_text name = {pattern, colon ? (size_t)(colon - pattern) : strlen(pattern)};
    if (!is_like(name, dx_str(tool), false))
        return false;
    if (match == DX__MATCH_EXACT && colon && colon[1 + strspn(colon + 1, "*")] &&
        strpbrk(colon + 1, "*?"))
        return false;
    return !colon || is_like(dx_str(colon + 1), subject, match == DX__MATCH_FOLDED);
}

bool dx__autohand_patterns_fit(char *const *patterns, const char *tool, dx_text subject,
                               dx__autohand_match match) {
    for (size_t i = 0; patterns && patterns[i]; i++)
        if (dx__autohand_pattern_fits(patterns[i], tool, subject, match))
            return true;
    return false;
}
