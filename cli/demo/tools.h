/* tools.h: the scene of `duplex demo` in which a client of the Model Context Protocol calls a tool
 * of a server that asks back. */
#ifndef CLI_DEMO_TOOLS_H
#define CLI_DEMO_TOOLS_H

#include "cli/demo/scene.h"

/* Is all there that it needs? */
bool demo_has_tools(void);
/* An exit code; what goes wrong is told. */
int demo_play_tools(struct demo_score *score);

extern const char *const demo_tools_name;     /* of the server */
extern const char *const demo_tools_sentence; /* about it */

#endif
