/* catalog.h: what is built in, without reading it all. */
#ifndef CLI_CATALOG_H
#define CLI_CATALOG_H

#include <stdbool.h>
#include <stddef.h>

typedef struct cli_entry {
    const char *name;     /* that --protocol takes */
    const char *revision; /* NULL: none */
    const char *framing;
    const char *title;
    size_t messages;
} cli_entry;

/* Each built-in protocol, in order of their names. The entry is lent. False: no memory. */
bool cli_catalog(void (*each)(const cli_entry *entry, void *user), void *user);

#endif
