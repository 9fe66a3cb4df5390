/* editor.h: the scene of `duplex demo` that another program of ours plays: an editor of HL7
 * messages, and an extension that changes one. */
#ifndef CLI_DEMO_EDITOR_H
#define CLI_DEMO_EDITOR_H

#include "cli/demo/scene.h"

/* Is all there that it needs? */
bool demo_has_editor(void);
/* An exit code; what goes wrong is told. */
int demo_play_editor(struct demo_score *score);

extern const char *const demo_editor_name;     /* of the extension */
extern const char *const demo_editor_sentence; /* about it */

#endif
