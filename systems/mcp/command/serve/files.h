/* files.h: the parts of `duplex mcp serve files`. */
#ifndef MCP_SERVE_FILES_H
#define MCP_SERVE_FILES_H

#include "systems/mcp/command/serve/folder.h"
#include "systems/mcp/command/serve/parts.h"
#include "systems/mcp/command/serve/walk.h"

#include <yyjson.h>

/* Limits that no option sets. */
enum {
    FILES_PAGE = 100,       /* resources in one answer */
    FILES_ENTRIES = 1000,   /* of list_files */
    FILES_LINES = 2000,     /* of read_file, unless more are asked for */
    FILES_JOBS = 16,        /* walks through the folder at once */
    FILES_LINE_SHOWN = 500, /* bytes of a line that search tells */
    FILES_GLOB = 256,       /* bytes of a glob */
    FILES_WATCHES = 4096,   /* folders that are watched */
    FILES_SUBSCRIPTIONS = 4096
};

struct files;

/* Work that takes a while is done in slices, so that everything else is answered in between. It is
 * the first member of what each kind of work needs. */
struct job {
    struct files *files;
    dx_mcp_work *work;
    dx_timer *timer;
    struct walk walk;
    uint64_t told_ms; /* when progress was last told */
    /* A little of it. False: the job is over and gone. */
    bool (*step)(struct job *job);
    void (*free)(struct job *job);
    struct job *next;
};

/* Takes `job`, which is there but for its beginning; false if that was answered, and it is gone. */
bool job_start(struct files *files, dx_mcp_work *work, struct job *job);
/* Frees it; the work is given back to be ended. */
dx_mcp_work *job_end(struct job *job);
void job_fail(struct job *job, const char *text);
/* So much is done; now and then the client is told. */
void job_progress(struct job *job, double done, const char *path);
void jobs_free(struct files *files);

struct watcher;

struct files {
    struct serve serve;
    struct folder folder;
    size_t answer_max; /* bytes of JSON in one response */
    struct job *jobs;
    size_t job_count;
    struct watcher *watcher;
};

/* Does a path fit? A glob without a slash is for the name alone; "*" takes no slash, "**" does. */
bool glob_matches(const char *glob, const char *path);

/* The handlers. */
void files_read_tool(dx_mcp_work *work, yyjson_val *arguments, void *user);
void files_list_tool(dx_mcp_work *work, yyjson_val *arguments, void *user);
void files_search_tool(dx_mcp_work *work, yyjson_val *arguments, void *user);
void files_list(dx_mcp_work *work, dx_text cursor, void *user);
void files_read(dx_mcp_work *work, dx_text uri, yyjson_val *variables, void *user);
void files_complete(dx_mcp_work *work, dx_text argument, dx_text value, yyjson_val *context,
                    void *user);

/* An argument that is a path below the folder ("" if it is absent); NULL if that was answered. */
char *files_argument(struct files *files, dx_mcp_work *work, yyjson_val *value);
/* An argument that is a glob, or absent; false if that was answered. */
bool files_check_glob(dx_mcp_work *work, yyjson_val *glob);
/* An argument that is a count, which may be written 2.0 or 1e300, too; `otherwise` if it is absent.
 */
size_t files_count(yyjson_val *value, size_t otherwise);
/* A tool's failure: "PATH: why". */
void files_fail(dx_mcp_work *work, dx_text path, const char *why);
/* How long a text is as a string of JSON. */
size_t files_json_size(dx_text text);
/* Adds an item to the list of a structured result, which is sent twice: the other time as text.
 * `used` counts the bytes. False: there is no room for it. */
bool files_add(const struct files *files, yyjson_mut_val *list, yyjson_mut_val *item, size_t *used);
/* The "path", and the "uri" if that is not UTF-8. */
void files_add_path(const struct files *files, yyjson_mut_doc *doc, yyjson_mut_val *item,
                    const char *path);
/* The structured result, and its end. */
void files_answer(dx_mcp_work *work, yyjson_mut_doc *doc);

/* NULL without memory, or without what the system has for it, which is told. */
struct watcher *watcher_new(struct files *files);
struct watcher *watcher_free(struct watcher *watcher);
/* Somebody is there who could care for files that come and go. */
void watcher_watch_all(struct watcher *watcher);
void watcher_subscribe(struct watcher *watcher, dx_text uri, bool on);

#endif
