/* finecode-workspace.toml: what holds for all projects of a folder. */
#include "systems/finecode/config_parts.h"

#include <string.h>
#include <sys/stat.h>

static const char name[] = "finecode-workspace.toml";

enum { LEVELS = 64 };

/* The file must belong to who owns the project: others may write to folders above it. So must a
 * link, which its owner can turn to another file at any time. */
static bool is_ours(const dx_allocator *alloc, const char *folder, uid_t owner, bool *ret_memory) {
    struct stat entry;
    struct stat about;
    char *path = dx__finecode_join(alloc, folder, name);
    bool ours = path && lstat(path, &entry) == 0 && entry.st_uid == owner &&
                stat(path, &about) == 0 && about.st_uid == owner;
    *ret_memory = path != NULL;
    dx__free(alloc, path);
    return ours;
}

/* The nearest folder with one, into `at`, which begins as the project's; "" if there is none. */
static dx_status find_above(const dx_allocator *alloc, char *at) {
    struct stat about;
    bool memory = true;
    if (stat(at, &about) != 0) {
        at[0] = '\0';
        return DX_OK;
    }
    for (int level = 0; level < LEVELS; level++) {
        if (is_ours(alloc, at, about.st_uid, &memory))
            return DX_OK;
        if (!memory)
            return DX_ERR_NOMEM;
        char *slash = strrchr(at, '/');
        if (!slash || !at[1])
            break;
        slash[slash == at] = '\0';
    }
    at[0] = '\0';
    return DX_OK;
}

static dx_status read_there(const dx_allocator *alloc, const char *folder, yyjson_doc **ret_doc,
                            yyjson_val **ret_table, char why[DX__FINECODE_WHY]) {
    yyjson_doc *doc = NULL;
    dx_status status = dx__finecode_file_read(alloc, folder, name, name, &doc, why);
    if (status != DX_OK || !doc) {
        *ret_doc = NULL;
        *ret_table = NULL;
        return status;
    }
    yyjson_val *table = yyjson_obj_get(yyjson_doc_get_root(doc), "workspace");
    status = table ? dx__finecode_shape_check(alloc, table, "workspace", name, "workspace", why)
                   : dx__finecode_why(why, name, "", "[workspace] is missing");
    if (status != DX_OK) {
        yyjson_doc_free(doc);
        return status;
    }
    *ret_doc = doc;
    *ret_table = table;
    return DX_OK;
}

dx_status dx__finecode_workspace_read(const dx_allocator *alloc, const char *folder, bool above,
                                      yyjson_doc **ret_doc, yyjson_val **ret_table,
                                      char why[DX__FINECODE_WHY]) {
    if (!above)
        return read_there(alloc, folder, ret_doc, ret_table, why);
    char *at = dx__text_copy(alloc, dx_str(folder));
    dx_status status = at ? find_above(alloc, at) : DX_ERR_NOMEM;
    if (status == DX_OK && !at[0]) {
        *ret_doc = NULL;
        *ret_table = NULL;
    } else if (status == DX_OK) {
        status = read_there(alloc, at, ret_doc, ret_table, why);
    }
    dx__free(alloc, at);
    return status;
}

bool dx__finecode_workspace_wal(const dx_allocator *alloc, const char *folder) {
    dx_allocator memory = dx__finecode_allocator(alloc);
    char why[DX__FINECODE_WHY];
    yyjson_doc *doc = NULL;
    yyjson_val *table = NULL;
    if (dx__finecode_workspace_read(&memory, folder, false, &doc, &table, why) != DX_OK)
        return false;
    yyjson_val *wal = yyjson_obj_get(yyjson_obj_get(table, "wm"), "wal");
    bool enabled = yyjson_get_bool(yyjson_obj_get(wal, "enabled"));
    yyjson_doc_free(doc);
    return enabled;
}
