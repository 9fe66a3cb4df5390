/* Lists of files: the tool list_files, and the pages of resources. */
#include "systems/mcp/command/serve/files.h"

#include "cli/say.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct listing {
    struct job job;
    yyjson_mut_doc *doc;
    yyjson_mut_val *items;
    char *glob;
    char last[4096]; /* the path of the last one */
    bool is_page;    /* of resources, not of the tool */
    size_t used;     /* bytes of the items */
};

static void listing_free(struct job *job) {
    struct listing *listing = (struct listing *)job;
    yyjson_mut_doc_free(listing->doc);
    free(listing->glob);
    free(listing);
}

static bool end_page(struct listing *listing, bool more) {
    yyjson_mut_doc *doc = listing->doc;
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    yyjson_mut_doc_set_root(doc, root);
    yyjson_mut_obj_add_val(doc, root, "resources", listing->items);
    char *escaped = more ? folder_escape(listing->last) : NULL;
    char *cursor = NULL;
    if (more && (!escaped || asprintf(&cursor, "after=%s", escaped) < 0))
        cursor = NULL;
    free(escaped);
    if (cursor)
        yyjson_mut_obj_add_strcpy(doc, root, "nextCursor", cursor);
    listing->doc = NULL;
    dx_mcp_work *work = job_end(&listing->job);
    if (more && !cursor)
        dx_mcp_work_refuse(work, DX_CODE_INTERNAL, dx_str("out of memory"), dx_json_none());
    else
        dx_mcp_work_reply(work, dx_json_built(root));
    free(cursor);
    yyjson_mut_doc_free(doc);
    return false;
}

static bool end_tool(struct listing *listing, bool more) {
    yyjson_mut_doc *doc = listing->doc;
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    yyjson_mut_doc_set_root(doc, root);
    yyjson_mut_obj_add_val(doc, root, "entries", listing->items);
    yyjson_mut_obj_add_bool(doc, root, "truncated", more);
    listing->doc = NULL;
    files_answer(job_end(&listing->job), doc);
    return false;
}

static void add_resource(struct listing *listing, const char *path, const struct stat *status) {
    const struct folder *folder = &listing->job.files->folder;
    yyjson_mut_doc *doc = listing->doc;
    yyjson_mut_val *item = yyjson_mut_arr_add_obj(doc, listing->items);
    const char *mime = folder_mime(folder, path);
    char *uri = folder_uri(folder, path);
    yyjson_mut_obj_add_strcpy(doc, item, "uri", uri ? uri : "");
    cli_add_text(doc, item, "name", dx_str(path));
    if (mime)
        yyjson_mut_obj_add_str(doc, item, "mimeType", mime);
    yyjson_mut_obj_add_uint(doc, item, "size", (uint64_t)status->st_size);
    free(uri);
}

/* False: there is no room for it. */
static bool add_entry(struct listing *listing, const char *path, const struct stat *status) {
    yyjson_mut_doc *doc = listing->doc;
    yyjson_mut_val *item = yyjson_mut_obj(doc);
    bool is_file = S_ISREG(status->st_mode);
    files_add_path(listing->job.files, doc, item, path);
    yyjson_mut_obj_add_str(doc, item, "type", is_file ? "file" : "folder");
    if (is_file)
        yyjson_mut_obj_add_uint(doc, item, "size", (uint64_t)status->st_size);
    return files_add(listing->job.files, listing->items, item, &listing->used);
}

static bool listing_step(struct job *job) {
    struct listing *listing = (struct listing *)job;
    size_t most = listing->is_page ? FILES_PAGE : FILES_ENTRIES;
    bool (*end)(struct listing *, bool) = listing->is_page ? end_page : end_tool;
    const char *path;
    bool is_folder;
    struct stat status;
    int found = walk_next(&job->walk, &path, &is_folder);
    if (found < 0) {
        job_fail(job, "out of memory");
        return false;
    }
    if (found == 0)
        return end(listing, false);
    job_progress(job, (double)yyjson_mut_arr_size(listing->items) + 1, path);
    if ((is_folder && listing->is_page) || (listing->glob && !glob_matches(listing->glob, path)) ||
        folder_stat(&job->files->folder, path, &status) != 0)
        return true;
    if (yyjson_mut_arr_size(listing->items) == most)
        return end(listing, true);
    if (listing->is_page)
        add_resource(listing, path, &status);
    else if (!add_entry(listing, path, &status))
        return end(listing, true);
    snprintf(listing->last, sizeof listing->last, "%s", path);
    return true;
}

static struct listing *listing_new(bool is_page, yyjson_val *glob) {
    struct listing *listing = calloc(1, sizeof *listing);
    if (!listing)
        return NULL;
    listing->job.step = listing_step;
    listing->job.free = listing_free;
    listing->is_page = is_page;
    listing->doc = yyjson_mut_doc_new(NULL);
    listing->items = yyjson_mut_arr(listing->doc);
    if (glob)
        listing->glob = strdup(yyjson_get_str(glob));
    if (!listing->items || (glob && !listing->glob)) {
        listing_free(&listing->job);
        return NULL;
    }
    return listing;
}

void files_list_tool(dx_mcp_work *work, yyjson_val *arguments, void *user) {
    struct files *files = user;
    size_t depth = files_count(yyjson_obj_get(arguments, "depth"), WALK_DEPTH);
    yyjson_val *given = yyjson_obj_get(arguments, "path");
    yyjson_val *glob = yyjson_obj_get(arguments, "glob");
    if (!files_check_glob(work, glob))
        return;
    char *path = files_argument(files, work, given);
    if (!path)
        return;
    struct listing *listing = listing_new(false, glob);
    int number = -1;
    if (listing)
        number = walk_begin(&listing->job.walk, &files->folder, path, NULL, depth);
    free(path);
    if (number == 0) {
        job_start(files, work, &listing->job);
        return;
    }
    if (listing) {
        walk_end(&listing->job.walk);
        listing_free(&listing->job);
    }
    files_fail(work, dx_json_string(given), listing ? folder_why(number) : "out of memory");
}

void files_list(dx_mcp_work *work, dx_text cursor, void *user) {
    struct files *files = user;
    const size_t mark = strlen("after=");
    char *after = NULL;
    if (cursor.at) {
        bool good = cursor.len > mark && memcmp(cursor.at, "after=", mark) == 0;
        after = good ? folder_unescape((dx_text){cursor.at + mark, cursor.len - mark}) : NULL;
        if (!after) {
            dx_mcp_work_refuse(work, DX_CODE_PARAMS, dx_str("invalid cursor"), dx_json_none());
            return;
        }
    }
    struct listing *listing = listing_new(true, NULL);
    if (listing && walk_begin(&listing->job.walk, &files->folder, "", after, SIZE_MAX) == 0) {
        job_start(files, work, &listing->job);
    } else {
        if (listing) {
            walk_end(&listing->job.walk);
            listing_free(&listing->job);
        }
        dx_mcp_work_refuse(work, DX_CODE_INTERNAL, dx_str("cannot read the folder"),
                           dx_json_none());
    }
    free(after);
}
