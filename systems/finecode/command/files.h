/* files.h: the files of a payload, each for the project that it belongs to. */
#ifndef FINECODE_FILES_H
#define FINECODE_FILES_H

#include "systems/finecode/command/work.h"

/* Does the payload of a ready-made action name files? */
bool files_are_named(const char *payload);
/* The payload of each of these projects, with its own files as absolute paths: texts to be freed,
 * as many as there are projects; NULL: none of the files is its. An exit code: a file that does
 * not exist, or belongs to no such project, is an error. */
int files_share(struct work *work, dx_finecode_project *const *projects, const char *action,
                const char *payload, char ***ret_payloads);
void files_drop(char **payloads, dx_finecode_project *const *projects);

#endif
