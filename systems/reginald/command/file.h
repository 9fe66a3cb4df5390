/* file.h: the configuration file. */
#ifndef REGINALD_FILE_H
#define REGINALD_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <yyjson.h>

/* What is not there is NULL. */
struct file {
    const char *path;
    char *folder; /* the one that it lies in, as an absolute path */
    yyjson_doc *doc;
    yyjson_val *logging; /* a table */
    yyjson_val *plugins; /* a table of tables */
    yyjson_val *commands;
    yyjson_val *tasks;      /* an array of tables */
    yyjson_val *defaults;   /* a table of tables, by the type of tasks */
    yyjson_val *directory;  /* a string: where tasks work */
    yyjson_val *plugin_dir; /* a string */
};

/* Reads it and looks whether it has that form. path NULL: there is none. An exit code. */
int file_read(const char *path, struct file *ret_file);
void file_done(struct file *file);

/* The table of that name, or NULL. */
yyjson_val *file_table(yyjson_val *tables, const char *name);
/* The table at the top that is called like a plugin or a command; NULL: none, or it means something
 * else. */
yyjson_val *file_own_table(const struct file *file, const char *name);
/* The names of these tables, one after the other; NULL after the last. */
const char *file_own_name(const struct file *file, size_t index);
/* A path of the file: "~/" is the home folder, and others begin at `base`. NULL without memory; to
 * be freed. */
char *file_path(const char *base, const char *path);
/* Where a task works that has this `dir`, which may be NULL. To be freed. An exit code. */
int file_task_folder(const struct file *file, const char *dir, char **ret_folder);
/* A string without a NUL; NULL if it is none. */
const char *file_text(yyjson_val *value);
/* "a string", "an integer", …: what a value of the file is. */
const char *file_kind(yyjson_val *value);

#endif
