/* What the files share that read the configuration of a project. */
#ifndef FINECODE_CONFIG_PARTS_H
#define FINECODE_CONFIG_PARTS_H

#include "systems/finecode/wm_parts.h"

enum {
    DX__FINECODE_FILE_MAX = 1 << 20, /* bytes of one file */
    DX__FINECODE_TABLE_DEPTH = 64,   /* tables and arrays in each other; values of overrides, too */
    DX__FINECODE_PRESETS_MAX = 64,
    DX__FINECODE_WHY = 200
};

/* "label: place: phrase" as the reason; label and place may be "". DX_MISFIT. config_file.c */
dx_status dx__finecode_why(char why[DX__FINECODE_WHY], const char *label, const char *place,
                           const char *phrase);
/* "folder/name"; NULL without memory. */
char *dx__finecode_join(const dx_allocator *alloc, const char *folder, const char *name);
/* Without '/' at its end; a relative path counts from the current folder. */
char *dx__finecode_absolute(const dx_allocator *alloc, const char *folder);
/* A file of TOML, which reasons call `label`. *ret_doc is NULL if there is no such file. DX_MISFIT
 * with why: it can't be read, is too large or no TOML. */
dx_status dx__finecode_file_read(const dx_allocator *alloc, const char *folder, const char *name,
                                 const char *label, yyjson_doc **ret_doc,
                                 char why[DX__FINECODE_WHY]);

/* Has a table, found at `place` of its file, the shape "table" or "workspace"? DX_MISFIT with why.
 * config_shape.c */
dx_status dx__finecode_shape_check(const dx_allocator *alloc, yyjson_val *table, const char *shape,
                                   const char *label, const char *place,
                                   char why[DX__FINECODE_WHY]);

/* The table of finecode-workspace.toml in this folder, or if `above` in the nearest one above it
 * that has such a file of the same owner; *ret_doc is NULL if there is none. config_workspace.c */
dx_status dx__finecode_workspace_read(const dx_allocator *alloc, const char *folder, bool above,
                                      yyjson_doc **ret_doc, yyjson_val **ret_table,
                                      char why[DX__FINECODE_WHY]);

/* A preset while it is read: one of a package, which a runner finds, or a folder. */
typedef struct dx__finecode_node {
    char *source; /* the package, or the absolute path of the folder */
    yyjson_doc *doc;
    yyjson_doc *user;
    yyjson_val *table; /* NULL: it was not found (yet) */
    unsigned char children[DX__FINECODE_PRESETS_MAX];
    unsigned child_count;
} dx__finecode_node;

/* Everything that one reading has open. */
typedef struct dx__finecode_load {
    dx_allocator alloc;
    dx_finecode_project *project;
    yyjson_doc *own;       /* finecode.toml */
    yyjson_doc *pyproject; /* pyproject.toml */
    yyjson_doc *user;
    yyjson_doc *workspace;
    yyjson_val *table; /* the project's, in one of the first two */
    yyjson_val *er;    /* the workspace's; may be NULL */
    dx__finecode_node nodes[DX__FINECODE_PRESETS_MAX];
    unsigned node_count;
    bool complete; /* no preset is missing */
    yyjson_mut_doc *merged;
    yyjson_mut_val *top; /* the merged table */
    dx_finecode_project_state state;
    char why[DX__FINECODE_WHY];
} dx__finecode_load;

/* Reads and checks the files, and merges them; DX_MISFIT: state and why say it; DX_ERR_NOMEM. To be
 * followed by dx__finecode_load_done() in any case. config_load.c */
dx_status dx__finecode_load_all(dx__finecode_load *load, dx_finecode_project *project,
                                const dx__finecode_overrides *overrides);
void dx__finecode_load_done(dx__finecode_load *load);

/* The presets of the project and of its presets, each once. What is not known of packages yet is
 * added to the project's list. config_preset.c */
dx_status dx__finecode_presets_read(dx__finecode_load *load);
/* The order in which they are merged: each after those that it names itself. */
unsigned dx__finecode_presets_order(const dx__finecode_load *load,
                                    unsigned char order[DX__FINECODE_PRESETS_MAX]);
/* The project's list: folders[i] is where the i-th lies ("": nowhere). DX_ERR_NOMEM. */
dx_status dx__finecode_presets_take(dx_finecode_project *project, const char *const *folders);
void dx__finecode_presets_free(dx_finecode_project *project);

/* Merges a table of a file over what was merged so far; false without memory. config_merge.c */
bool dx__finecode_layer_merge(yyjson_mut_doc *doc, yyjson_mut_val *top, yyjson_val *layer);
/* One member: by its keys if both are tables, else it is replaced. */
bool dx__finecode_member_merge(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key,
                               size_t len, yyjson_val *value);

/* Overrides into the configurations of handlers. DX_MISFIT with why: one that is none.
 * config_override.c */
dx_status dx__finecode_overrides_apply(const dx__finecode_overrides *overrides, yyjson_mut_doc *doc,
                                       yyjson_mut_val *top, const dx_allocator *alloc,
                                       char why[DX__FINECODE_WHY]);

/* dependencies_override of handlers and extensions into their dependencies; false without memory.
 * config_dependencies.c */
bool dx__finecode_dependencies_settle(yyjson_mut_doc *doc, yyjson_mut_val *top);

/* The merged table of a reading: tool.finecode. config_reading.c */
yyjson_val *dx__finecode_table(yyjson_doc *raw);
/* A reading of what was merged; DX_MISFIT with load->why. */
dx_status dx__finecode_reading_new(dx__finecode_load *load, dx__finecode_reading **ret_reading);
dx__finecode_reading *dx__finecode_reading_free(const dx_allocator *alloc,
                                                dx__finecode_reading *reading);
/* What runners have said about actions that are in both. DX_ERR_NOMEM. */
dx_status dx__finecode_reading_learn(const dx_allocator *alloc, dx__finecode_reading *reading,
                                     const dx__finecode_reading *from);

#endif
