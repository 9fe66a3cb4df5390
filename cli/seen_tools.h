/* seen_tools.h: the names of tools that servers offered earlier, for the shell's completion, which
 * must not start a server. They are kept in $XDG_CACHE_HOME/duplex/tools, newest first. */
#ifndef CLI_SEEN_TOOLS_H
#define CLI_SEEN_TOOLS_H

#include <stdio.h>
#include <yyjson.h>

/* Keeps the names of a list of tools. Names that a shell could take for something else are left
 * out. A file that cannot be written is not reported: nothing is lost but a convenience. */
void cli_seen_tools_keep(yyjson_val *tools);
/* Prints the names, one per line. */
void cli_seen_tools_print(FILE *out);

#endif
