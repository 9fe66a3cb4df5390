#include "systems/mcp/command/opener.h"

#include "systems/mcp/command/words.h"

#include "cli/opener.h"
#include "cli/say.h"

#include <stdlib.h>

int opener_check(const char *opener) {
    const char *why = NULL;
    char **words = words_split(opener, &why);
    bool is_empty = words && (!words[0] || !words[0][0]);
    free(words);
    if (is_empty)
        why = "expected a program";
    return why ? cli_fail(CLI_USAGE, "--opener: %s", why) : CLI_OK;
}

const char *opener_run(const char *opener, const char *url) {
    const char *why = NULL;
    pid_t pid;
    char **words = words_split(opener, &why);
    if (words)
        why = cli_open_page(words, url, &pid);
    free(words);
    return why;
}
