/* store.h: files that are read whole and written whole. */
#ifndef HERMES_STORE_H
#define HERMES_STORE_H

#include <duplex/base.h>

#include <stdbool.h>

/* Appends all of a file ("-": the standard input). NULL, or why that can't be done. Only a plain
 * file is read if `plain`: others may let us wait. */
const char *store_read(const char *path, bool plain, dx_buf *out);

/* Replaces a file, or makes it: either all of the text is in it and on the disk, or it is as it was
 * before. Its mode stays; what a link points to is replaced, not the link. Something that is no
 * file, like a device, is written into. NULL, or why that can't be done. */
const char *store_write(const char *path, dx_text text);

/* A number by which another content of a file is noticed, never 0. It is no defence against
 * somebody who looks for one with the same number. */
uint64_t store_hash(dx_text text);

/* Do both names lead to the same file? */
bool store_is_same(const char *one, const char *two);

/* Is the file no longer what that number was made of? Not if nothing is there, or no plain file.
 * NULL, or why that is not known. */
const char *store_look(const char *path, uint64_t hash, bool *ret_changed);

/* From the root: extensions may run elsewhere. NULL without memory. */
char *store_whole_path(const char *path, size_t len);

/* Makes a folder that only we can look into, and those above it. NULL, or why not. */
const char *store_make_folder(const char *path);

#endif
