/* mermaid.h: items as the text of a sequence diagram. */
#ifndef CLI_MERMAID_H
#define CLI_MERMAID_H

#include "cli/timeline/story.h"

#include <stdio.h>

void cli_mermaid_begin(FILE *out);
cli_sink cli_mermaid_sink(FILE *out);
void cli_mermaid_finish(FILE *out, const cli_story *story);

#endif
