/* What settings, rules and hooks share among themselves. */
#ifndef AUTOHAND_GUARD_H
#define AUTOHAND_GUARD_H

#include "base/utf8.h"
#include "systems/autohand/agent_parts.h"

static inline yyjson_alc dx__autohand_guard_alc(const dx_allocator *alloc) {
    return (yyjson_alc){alloc->malloc, alloc->realloc, alloc->free, alloc->ctx};
}

/* settings_list.c: strings, NULL behind the last; no list at all is an empty one. */

size_t dx__autohand_list_count(char *const *list);
/* Takes `string`, which may be NULL for one that could not be made. */
dx_status dx__autohand_list_add(char ***list, const dx_allocator *alloc, char *string);
void dx__autohand_list_free(char **list, const dx_allocator *alloc);

/* One text in one string. Pieces are put together and may be NULL; NULL without memory. */
char *dx__autohand_joined(const dx_allocator *alloc, const char *const *pieces, size_t count);

/* settings_hooks.c, settings_permissions.c, settings_model.c: parts of the file, which fits the
 * schema in settings.c. DX_ERR_INVALID, DX_ERR_NOMEM. */

struct dx__autohand_setting {
    struct dx__autohand_settings *settings;
    const dx_allocator *alloc;
    yyjson_val *root;
    dx_error *reterr; /* may be NULL */
};

dx_status dx__autohand_settings_hooks(const struct dx__autohand_setting *setting);
dx_status dx__autohand_settings_permissions(const struct dx__autohand_setting *setting);
dx_status dx__autohand_settings_model(const struct dx__autohand_setting *setting);
/* DX_ERR_INVALID, with what is wrong. */
dx_status dx__autohand_settings_fail(dx_error *reterr, const char *what);
/* "WHERE: WHAT" among the notes. */
dx_status dx__autohand_settings_note(const struct dx__autohand_setting *setting, const char *where,
                                     const char *what);

/* Notes the members of `object` that are not among `names`, which ends with NULL: they may be
 * slips of the pen. */
dx_status dx__autohand_settings_unknown(const struct dx__autohand_setting *setting,
                                        const char *where, yyjson_val *object,
                                        const char *const *names);

/* hooks_matcher.c: regular expressions of ECMA-262. */

/* DX_ERR_INVALID with one line in `why`: it is none. */
dx_status dx__autohand_matcher_new(const dx_allocator *alloc, const char *source,
                                   struct dx__autohand_matcher **ret, char why[200]);
void dx__autohand_matcher_free(struct dx__autohand_matcher *matcher);
/* DX_OK: it is found somewhere in the text, or looking for it takes too long to say; DX_AGAIN: it
 * is not; DX_ERR_NOMEM. */
dx_status dx__autohand_matcher_find(const struct dx__autohand_matcher *matcher, dx_text text);

/* hooks_glob.c: patterns for paths: `*`, `?` and `[…]` inside of a part, `**` for any parts. */

bool dx__autohand_glob_fits(const char *glob, dx_text path);
/* {a,b} becomes one pattern each. DX_MISFIT: too many of them (64), which stay as they are. */
dx_status dx__autohand_glob_expand(char ***list, const dx_allocator *alloc, const char *glob);

/* rules_pattern.c: "TOOL" or "TOOL:SUBJECT", in which `*` is anything and `?` any one byte. */

typedef enum dx__autohand_match {
    DX__MATCH_PLAIN,
    DX__MATCH_FOLDED, /* lower and upper case are the same */
    DX__MATCH_EXACT   /* a subject with `*` or `?` does not fit, unless it is nothing but `*` */
} dx__autohand_match;
bool dx__autohand_pattern_fits(const char *pattern, const char *tool, dx_text subject,
                               dx__autohand_match match);
bool dx__autohand_patterns_fit(char *const *patterns, const char *tool, dx_text subject,
                               dx__autohand_match match);

/* rules_git.c: might this command line have git run another program? `subject` is the command, and
 * the folder if that is another than the workspace; `space` is the workspace's folder, open. */
bool dx__autohand_runs_more(const dx_allocator *alloc, int space, dx_text command, dx_text subject);

#endif
