/* opener.h: the program of --opener, which opens pages. */
#ifndef CLI_OPENER_H
#define CLI_OPENER_H

#include <sys/types.h>

/* Starts the program of these words, NULL at the end, with the URL as its last one. NULL, or why it
 * can't be; only pages of the web are opened. It is the caller's to wait for. */
const char *cli_open_page(char *const *words, const char *url, pid_t *ret_pid);

#endif
