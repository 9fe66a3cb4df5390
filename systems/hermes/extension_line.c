/* Lines for people, made of what the editor sent. */
#include "systems/hermes/extension_parts.h"

#include <stdio.h>
#include <string.h>

/* What came is UTF-8 already; a cut goes between two characters. */
void extension_line(char *room, size_t size, dx_text text) {
    size_t at = strlen(room);
    size_t len = text.len < size - 1 - at ? text.len : size - 1 - at;
    while (len && len < text.len && ((unsigned char)text.at[len] & 0xc0) == 0x80)
        len--;
    for (size_t i = 0; i < len; i++)
        room[at + i] = (unsigned char)text.at[i] < 0x20 || text.at[i] == 0x7f ? ' ' : text.at[i];
    room[at + len] = '\0';
}

void extension_tell(dx_text what, const char *why) {
    char line[512] = "";
    extension_line(line, sizeof line / 2, what);
    if (*why)
        extension_line(line, sizeof line, dx_str(": "));
    extension_line(line, sizeof line, dx_str(why));
    fprintf(stderr, "[WARN] %s\n", line);
}
