/* chrome.h: items as trace events of Chrome, for Perfetto and chrome://tracing. */
#ifndef CLI_CHROME_H
#define CLI_CHROME_H

#include "cli/timeline/story.h"

#include <stdio.h>

typedef struct cli_chrome {
    FILE *out;
    uint64_t text_max;
    bool has_any; /* an event was written */
} cli_chrome;

void cli_chrome_begin(cli_chrome *chrome);
cli_sink cli_chrome_sink(cli_chrome *chrome);
void cli_chrome_finish(cli_chrome *chrome, const cli_story *story);

#endif
