/* What edit.c and stage.c share: files that are edited together. */
#ifndef FINECODE_EDIT_PARTS_H
#define FINECODE_EDIT_PARTS_H

#include "systems/finecode/shared.h"

#include <sys/stat.h>

/* A folder that is held, so that nobody can put another one in its place. */
typedef struct dx__finecode_folder {
    char *path;
    int fd;
    struct dx__finecode_folder *next;
} dx__finecode_folder;

typedef struct dx__finecode_staged {
    char *path; /* links resolved */
    const char *name;
    dx__finecode_folder *folder;
    struct stat facts; /* of the file that was read */
    dx_buf text;
    char beside[64]; /* the name of the new file; "": not written */
    bool changed;
    bool in_place;
    bool exchanged; /* the old one has the name `beside` */
    struct dx__finecode_staged *next;
} dx__finecode_staged;

typedef struct dx__finecode_stage {
    dx__finecode_folder *folders;
    dx__finecode_staged *files; /* the last one first */
    char *const *below;         /* NULL: anywhere */
    size_t below_count;
    /* The text that counts instead of what was read: it may be replaced. May be NULL. */
    dx_status (*on_read)(dx__finecode_staged *file, void *user);
    void *user;
} dx__finecode_stage;

/* Reads and edits all files of a workspace edit. DX_MISFIT with reterr. edit.c */
dx_status dx__finecode_stage_edit(dx__finecode_stage *stage, yyjson_val *params, dx_error *reterr);

/* The file of a path, read: the same one again for the same file. DX_MISFIT with reterr. */
dx_status dx__finecode_stage_file(dx__finecode_stage *stage, const char *path,
                                  dx__finecode_staged **ret_file, dx_error *reterr);
/* Writes all new texts beside their files, and then puts them in place. */
dx_status dx__finecode_stage_commit(dx__finecode_stage *stage, dx_error *reterr);
/* What was not put in place is removed. */
void dx__finecode_stage_done(dx__finecode_stage *stage);
/* DX_MISFIT with "path: reason". */
dx_status dx__finecode_stage_fail(dx_error *reterr, const char *path, const char *reason,
                                  int error);

#endif
