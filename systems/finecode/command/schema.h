/* schema.h: what a payload may hold, if that is known before a runner is started. */
#ifndef FINECODE_SCHEMA_H
#define FINECODE_SCHEMA_H

#include "systems/finecode/command/work.h"

bool schema_has_action(dx_finecode_project *project, const char *word);
/* Is the action of that name a ready-made one there? */
bool schema_is_ready_made(dx_finecode_project *project, const char *word);
/* Refuses members of a payload that a ready-made action does not know, in whichever project. An
 * exit code. */
int schema_check(struct work *work, dx_finecode_project *const *projects, const char *action,
                 const char *payload);

#endif
