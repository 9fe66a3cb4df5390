/* edit.h: what the user puts in place of recorded values: --set and --redacted. */
#ifndef CLI_REPLAY_EDIT_H
#define CLI_REPLAY_EDIT_H

#include "cli/options.h"

#include <duplex/base.h>

#include <yyjson.h>

typedef struct replay_set {
    char *pointer;
    yyjson_doc *value;
} replay_set;

typedef struct replay_edits {
    replay_set *sets;
    size_t count;
    char *redacted; /* a JSON text; NULL: none */
} replay_edits;

/* `sets` are POINTER=JSON. An exit code; what is wrong was told. */
int replay_edits_read(replay_edits *edits, const cli_list *sets, const char *redacted);
void replay_edits_done(replay_edits *edits);
/* The message with them, in `room`; or the text itself if nothing is changed. False: no memory. */
bool replay_edits_apply(const replay_edits *edits, dx_text text, dx_buf *room, dx_text *ret_text);
/* How many values of a JSON text are "***". */
size_t replay_redacted(dx_text text);

#endif
