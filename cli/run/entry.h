/* entry.h: what the files that read a configuration share. */
#ifndef CLI_ENTRY_H
#define CLI_ENTRY_H

#include "cli/run/config.h"

/* A file that is being read. */
struct reading {
    cli_config *config;
    dx_text text;
    const char *folder; /* where it lies, absolute */
    yyjson_doc *doc;
    yyjson_doc *grammar;
    dx_schemas *schemas;
    dx_check *check;
    bool flawed; /* the entry at hand */
    bool no_memory;
};

/* An entry and where it stands. */
struct entry {
    const char *name;
    yyjson_val *value;
    char place[64 + CONFIG_NAME_MAX]; /* a JSON Pointer */
};

/* Memory that goes with the configuration; zeroed. NULL is remembered in no_memory. */
void *config_alloc(struct reading *reading, size_t size);
const char *config_copy(struct reading *reading, const char *text, size_t len);
const char *config_join(struct reading *reading, const char *folder, const char *path);

/* "FILE:3:7: /peers/x/cwd: …", and the entry is flawed. */
void config_flaw(struct reading *reading, const char *pointer, unsigned skip, const char *format,
                 ...) __attribute__((format(printf, 4, 5)));
/* Does it fit that part of the grammar? If not, that is told. */
bool config_fits(struct reading *reading, const char *part, const char *place, yyjson_val *value);
/* A member that stands twice in an object of at most some 1,000 is a flaw. */
bool config_has_twice(struct reading *reading, const char *place, yyjson_val *object);

/* The text of a string with its variables replaced; NULL if that was told. */
const char *config_expand(struct reading *reading, const char *place, yyjson_val *string);

/* A protocol by its name, or by a file beside the configuration: *ret_source is its name or that
 * file's absolute path. NULL if that was told. */
dx_protocol *config_protocol(struct reading *reading, const char *place, const char *name,
                             const char **ret_source);

/* Reads one entry. False if it is flawed. */
bool config_entry_own(struct reading *reading, const struct entry *entry, cli_config_peer *peer);
bool config_entry_mcp(struct reading *reading, const struct entry *entry, cli_config_peer *peer);

#endif
