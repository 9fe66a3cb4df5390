/* What could stand in the place of the template file:///{+path}. */
#include "systems/mcp/command/serve/files.h"

#include <stdlib.h>
#include <string.h>

enum { LOOKED_AT = 20000 }; /* names, at the most: nothing else is done meanwhile */

/* The way to the folder is the only one. */
static void offer_base(dx_mcp_work *work, const char *base, dx_text value) {
    char *whole = NULL;
    if (memcmp(base, value.at, value.len) != 0 || asprintf(&whole, "%s/", base) < 0)
        return;
    dx_mcp_work_value(work, dx_str(whole));
    free(whole);
}

/* What is in the folder `path` and begins with `name`; `before` is how that was written. */
static void offer_names(struct files *files, dx_mcp_work *work, const char *path, dx_text before,
                        const char *name) {
    struct walk walk;
    const char *found;
    bool is_folder;
    int count = 0;
    if (walk_begin(&walk, &files->folder, path, NULL, 1) == 0) {
        while (count++ < LOOKED_AT && walk_next(&walk, &found, &is_folder) == 1) {
            const char *slash = strrchr(found, '/');
            const char *own = slash ? slash + 1 : found;
            char *whole = NULL;
            if (strncmp(own, name, strlen(name)) != 0 || !dx__is_utf8(dx_str(own)) ||
                asprintf(&whole, "%.*s%s%s", (int)before.len, before.at, own,
                         is_folder ? "/" : "") < 0)
                continue;
            dx_mcp_work_value(work, dx_str(whole));
            free(whole);
        }
    }
    walk_end(&walk);
}

void files_complete(dx_mcp_work *work, dx_text argument, dx_text value, yyjson_val *context,
                    void *user) {
    struct files *files = user;
    const char *base = files->folder.path[0] ? files->folder.path + 1 : "";
    size_t base_len = strlen(base);
    (void)context;
    if (!dx_text_is(argument, "path")) {
        dx_mcp_work_refuse(work, DX_CODE_PARAMS,
                           dx_str("unknown argument: file:///{+path} has only 'path'"),
                           dx_json_none());
        return;
    }
    if (base_len && value.len <= base_len) {
        offer_base(work, base, value);
    } else if (!memchr(value.at, '\0', value.len)) {
        char *given = NULL;
        char *path = NULL;
        int len = asprintf(&given, "/%.*s", (int)(value.len < 4096 ? value.len : 4096), value.at);
        char *slash = len >= 0 ? strrchr(given, '/') : NULL;
        if (slash && !folder_path(&files->folder, (dx_text){given, (size_t)(slash - given)}, &path))
            offer_names(files, work, path, (dx_text){given + 1, (size_t)(slash - given)},
                        slash + 1);
        free(path);
        if (len >= 0)
            free(given);
    }
    dx_mcp_work_done(work);
}
