/* preview.h: what a dry run would change. */
#ifndef FINECODE_PREVIEW_H
#define FINECODE_PREVIEW_H

#include "systems/finecode/command/work.h"

struct preview_file {
    char *path;
    dx_buf before;
    dx_buf after;
};

/* Nothing is written: edits are kept in work->preview. */
void preview_listen(dx_finecode_wm_config *config);
/* An exit code: a handler that may write files itself was refused. */
int preview_check(struct work *work, dx_finecode_project *const *projects, const char *word);
/* Prints the differences. CLI_REFUSED if there are any. */
int preview_put(struct work *work);
void preview_done(struct preview *preview);

#endif
