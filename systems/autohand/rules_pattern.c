/* Patterns of permissions: what is never asked, and what is always refused. */
#include "systems/autohand/guard.h"

/* The last star that was passed is the only one that ever has to be tried again: what stood before
 * it has been found at the earliest place. */
static bool is_like(dx_text pattern, dx_text text) {
    size_t p = 0;
    size_t t = 0;
    size_t star = SIZE_MAX;
    size_t star_text = 0;
    while (t < text.len) {
        if (p < pattern.len && pattern.at[p] == '*') {
            star = p++;
            star_text = t;
        } else if (p < pattern.len && (pattern.at[p] == '?' || pattern.at[p] == text.at[t])) {
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

bool dx__autohand_pattern_fits(const char *pattern, const char *tool, dx_text subject) {
    const char *colon = strchr(pattern, ':');
    dx_text name = {pattern, colon ? (size_t)(colon - pattern) : strlen(pattern)};
    return is_like(name, dx_str(tool)) && (!colon || is_like(dx_str(colon + 1), subject));
}

bool dx__autohand_patterns_fit(char *const *patterns, const char *tool, dx_text subject) {
    for (size_t i = 0; patterns && patterns[i]; i++)
        if (dx__autohand_pattern_fits(patterns[i], tool, subject))
            return true;
    return false;
}
