/* What the workspace, the batch and the tools share among themselves. */
#ifndef AUTOHAND_FILES_PARTS_H
#define AUTOHAND_FILES_PARTS_H

#include "systems/autohand/agent_parts.h"

#include <limits.h>
#include <sys/stat.h>

/* workspace.c */

/* "PATH: why" in reterr (which may be NULL); returns `status`. */
dx_status dx__autohand_path_fail(dx_error *reterr, dx_status status, const char *path,
                                 const char *why);
/* The same for an errno: DX_GONE for what is not there, DX_ERR_INVALID for what leads out. */
dx_status dx__autohand_path_errno(dx_error *reterr, const char *path, int number);
/* openat2() beneath `folder`; `more` are further RESOLVE_… flags. -1 with errno. */
int dx__autohand_open_beneath(int folder, const char *path, uint64_t flags, uint64_t more);

/* workspace_write.c */

/* dx__autohand_file_write() in three steps, so that the disk is waited for once for many files.
 * Each is given up by dx__autohand_file_unstage(), also after a step that failed. */
struct dx__autohand_staged {
    int folder;
    int file;
    char name[NAME_MAX + 1];
    char fresh[48];    /* the name of the file beside it … */
    bool unnamed;      /* … which it has only for a moment, if at all */
    struct stat about; /* of the one that is there */
    bool there;
    dev_t device;
};
dx_status dx__autohand_file_stage(const struct dx__autohand_workspace *space, const char *path,
                                  dx_text bytes, struct dx__autohand_staged *ret_staged,
                                  dx_error *reterr);
/* All of its file system, and so all that is staged there. */
bool dx__autohand_file_sync_all(const struct dx__autohand_staged *staged);
/* `with`: the one that this was done for; NULL: it was not. */
dx_status dx__autohand_file_sync(struct dx__autohand_staged *staged,
                                 const struct dx__autohand_staged *with, const char *path,
                                 dx_error *reterr);
/* create: it must not be there: DX_BUSY if it is. */
dx_status dx__autohand_file_commit(struct dx__autohand_staged *staged, const char *path,
                                   bool create, dx_error *reterr);
void dx__autohand_file_unstage(struct dx__autohand_staged *staged);
/* Why no tool may change it, by this name or where it leads; NULL if it may: the agent's own files,
 * which say what it may do, everything in a folder .git, or that is one, and git's settings:
 * .gitconfig and .config/git. */
const char *dx__autohand_path_kept(const struct dx__autohand_workspace *space, const char *path);

/* workspace_walk.c: what lies beneath a folder, in the order of names, as the turn sees it. Links
 * are not followed. */

typedef enum dx__autohand_kind {
    DX__KIND_FILE = 1,
    DX__KIND_FOLDER,
    DX__KIND_LINK,
    DX__KIND_OTHER
} dx__autohand_kind;

enum { DX__WALK_DEPTH = 64, DX__WALK_NAMES = 20000 };

struct dx__autohand_level { /* what is in one folder and was not told yet */
    char *block;            /* a kind and a name, a kind and a name, … */
    char **names;           /* into it, each at its kind, in order */
    size_t count;
    size_t next;
    size_t path_len; /* of the folder's own path; 0: the workspace */
};

struct dx__autohand_walk {
    dx_autohand_agent *agent;
    struct dx__autohand_level levels[DX__WALK_DEPTH];
    unsigned depth;      /* how many of them there are */
    char path[PATH_MAX]; /* of what was told last, relative to the workspace */
    const char *name;    /* the last part of that */
    dx__autohand_kind kind;
    bool cut; /* a folder had too many names, lay too deep or could not be read */
};

/* `path` is clean. DX_GONE: there is no such folder. */
dx_status dx__autohand_walk_open(struct dx__autohand_walk *walk, dx_autohand_agent *agent,
                                 const char *path, dx_error *reterr);
/* walk->path, name, kind and depth (1: in the first folder) tell of the next one. DX_CLOSED: that
 * was all. */
dx_status dx__autohand_walk_next(struct dx__autohand_walk *walk);
/* What is in the folder that was told last comes next; nothing, if it can't be read.
 * DX_ERR_NOMEM. */
dx_status dx__autohand_walk_enter(struct dx__autohand_walk *walk);
void dx__autohand_walk_close(struct dx__autohand_walk *walk);

/* changes.c */

struct dx__autohand_changed { /* a file that the batch changes */
    char *path;
    char *real; /* where that led when its first change came; NULL: nobody could say */
    char *base; /* what was on disk when its first change came; NULL: it was not there */
    size_t base_len;
    size_t last;    /* the number of its last change */
    size_t applied; /* … and of the one that was written last, from 1; 0: none */
};

struct dx__autohand_change {
    struct dx__autohand_changed *file;
    char *tool_id;
    const char *type; /* "create", "modify", "delete" */
    char *text;       /* NULL: deleted */
    size_t len;
};

struct dx__autohand_batch {
    char id[64];
    struct dx__autohand_change *changes;
    size_t count;
    size_t room;
    struct dx__autohand_changed **files; /* in the order of their paths */
    size_t file_count;
    size_t file_room;
    size_t bytes; /* of all texts */
};

/* What the turn sees of a file that it has changed; NULL: it has not. */
const struct dx__autohand_change *dx__autohand_batch_find(const dx_autohand_agent *agent,
                                                          const char *path);
/* One that was decided about; may be NULL. */
void dx__autohand_batch_drop(dx_autohand_agent *agent, struct dx__autohand_batch *batch);
/* hook.fileModified and the hooks for it. */
void dx__autohand_tell_modified(dx_autohand_agent *agent, const char *path, const char *type,
                                const char *tool_id);

/* patch.c */

/* Applies a diff of one file: a unified one, or one between "*** Begin Patch" and "*** End Patch".
 * `ret_text` is allocated, with a '\0' behind it; NULL: the file is deleted. The numbers in its
 * headings are taken as hints: models can't count. DX_ERR_INVALID with one line; DX_ERR_LIMIT: the
 * result is larger than `max`. */
dx_status dx__autohand_patch(const dx_allocator *alloc, const char *path, dx_text text,
                             dx_text patch, size_t max, char **ret_text, size_t *ret_len,
                             dx_error *reterr);

/* tool_words.c */

/* A line of words as a shell would take it apart, as long as nothing but quotes and backslashes is
 * special in it: NULL at the end, in one block. DX_ERR_INVALID with one line: it needs a shell. */
dx_status dx__autohand_words(const dx_allocator *alloc, dx_text line, char ***ret_words,
                             dx_error *reterr);

/* tools.c */

/* The member `name` of the arguments as a path, cleaned, to be freed; absent: `otherwise`. */
dx_status dx__autohand_arg_path(const dx_autohand_job *job, const char *name, const char *otherwise,
                                char **ret_path, dx_error *reterr);
dx_text dx__autohand_arg_text(const dx_autohand_job *job, const char *name);
/* A whole number from 0 to `most`, which larger ones are, too; absent: `otherwise`. */
uint64_t dx__autohand_arg_number(const dx_autohand_job *job, const char *name, uint64_t otherwise,
                                 uint64_t most);
/* Ends a job by what went wrong. */
void dx__autohand_job_refuse(dx_autohand_job *job, dx_status status, const char *path,
                             const dx_error *error);
/* Appends UTF-8; what is none becomes U+FFFD. */
dx_status dx__autohand_add(dx_buf *to, dx_text text);
dx_status dx__autohand_add_str(dx_buf *to, const char *text);
/* A NUL among the first bytes: nothing for people to read. */
bool dx__autohand_is_binary(dx_text text);

void dx__autohand_read_file(dx_autohand_job *job, void *user);
void dx__autohand_write_file(dx_autohand_job *job, void *user);
void dx__autohand_delete_path(dx_autohand_job *job, void *user);
void dx__autohand_apply_patch(dx_autohand_job *job, void *user);
void dx__autohand_search_replace(dx_autohand_job *job, void *user);
void dx__autohand_list_tree(dx_autohand_job *job, void *user);
void dx__autohand_search(dx_autohand_job *job, void *user);
void dx__autohand_run_command(dx_autohand_job *job, void *user);

#endif
