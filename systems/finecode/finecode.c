/* Names that both sides use. */
#include "systems/finecode/shared.h"

const char *dx_finecode_status_name(dx_finecode_status status) {
    static const char *const names[] = {"",       "success",  "streamed", "stopped", "no_handlers",
                                        "failed", "cancelled"};
    return names[status];
}

static int is_one_of(dx_text name, const char *const *names) {
    for (; *names; names++)
        if (dx_text_is(name, *names))
            return 1;
    return 0;
}

int dx_finecode_is_trigger(dx_text name) {
    static const char *const names[] = {"user", "system", "unknown", NULL};
    return is_one_of(name, names);
}

int dx_finecode_is_dev_env(dx_text name) {
    static const char *const names[] = {"ide", "cli", "ai", "git_hook", "ci", NULL};
    return is_one_of(name, names);
}
