/* input.h: what comes from files and words. */
#ifndef CLI_INPUT_H
#define CLI_INPUT_H

#include <duplex/protocol.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <yyjson.h>

/* The path of this program, also if /proc is not mounted. False: it can't be told. */
bool cli_own_path(char *room, size_t size);
/* Opens a file for reading; a pipe that nobody has opened for writing within 3 s is ETIMEDOUT. */
FILE *cli_open_file(const char *path);
/* What a stream holds, to be freed, with a NUL behind it; NULL with errno, which is EFBIG if that
 * is more than so many bytes. */
char *cli_read_stream(FILE *stream, size_t max, size_t *ret_len);
/* The bytes of a file ("-": the standard input), to be freed; NULL if that was told with
 * cli_fail(CLI_USAGE), as one of more than 64 MiB is. A NUL follows them. */
char *cli_read_file(const char *path, size_t *ret_len);
/* The JSON in a file; NULL if that was told: CLI_USAGE if it can't be read, `code` ("FILE:3:7: …")
 * if it is none. *ret_code is which. */
yyjson_doc *cli_read_json(const char *path, int code, int *ret_code);
/* "NAME:LINE:COLUMN: invalid JSON", with what the parser says of it. Returns the code. */
int cli_fail_json(int code, const char *name, dx_text text, const yyjson_read_err *error);

/* Would what is written to `out` (NULL: the standard output) go over the file that is read as `in`
 * ("-": the standard input)? */
bool cli_writes_over(const char *out, const char *in);

/* A copy with a NUL behind it, to be freed; NULL: no memory. What is absent is empty. */
char *cli_text_copy(dx_text text);

/* Does what a file holds fit a schema, which is JSON? CLI_OK; or `code`, and "FILE: /place: …" was
 * told. */
int cli_check_form(const char *file, yyjson_val *value, dx_text schema, int code);

/* PARAMS as words: nothing; one JSON text, @FILE or -; or key=text and key:=json words. The text of
 * the params, to be freed, NULL in *ret_text for none. False if that was told. */
bool cli_params(char *const *words, char **ret_text);

/* "mcp", "mcp@2025-06-18" or a file (a word with a slash, or one that ends with .json). NULL if
 * that was told. */
dx_protocol *cli_protocol(const char *name);

#endif
