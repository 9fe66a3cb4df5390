/* put.h: results. */
#ifndef FINECODE_PUT_H
#define FINECODE_PUT_H

#include <duplex/finecode-wm.h>

#include <stdbool.h>
#include <stdio.h>

/* For people: by_format is {"string": …} or {"json": …}; `json` says which is wanted, and `named`
 * that the name of the project has to stand there, too; `action` (may be NULL) that of the action.
 */
void put_result(FILE *to, const dx_finecode_project *project, yyjson_val *by_format, bool json,
                bool named, const char *action);

#endif
