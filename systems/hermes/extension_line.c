/* Lines for people, made of what the editor sent. */
#include "systems/hermes/extension_parts.h"

#include <stdio.h>
#include <string.h>

void extension_tell(dx_text what, const char *why) {
    char line[512] = "";
    dx__say(line, sizeof line / 2, what);
    if (*why)
        dx__say(line, sizeof line, dx_str(": "));
    dx__say(line, sizeof line, dx_str(why));
    fprintf(stderr, "[WARN] %s\n", line);
}
