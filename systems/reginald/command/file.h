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
    yyjson_val *tasks; /* an array of tables */
};

/* Reads it and looks whether it has that form. path NULL: there is none. An exit code. */
int file_read(const char *path, struct file *ret_file);
void file_done(struct file *file);

/* The table of that name, or NULL. */
yyjson_val *file_table(yyjson_val *tables, const char *name);
/* A string without a NUL; NULL if it is none. */
const char *file_text(yyjson_val *value);
/* "a string", "an integer", …: what a value of the file is. */
const char *file_kind(yyjson_val *value);

#endif
