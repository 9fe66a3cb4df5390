/* output.h: a file that takes its place only when it is whole: until then, what was there stays. */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

typedef struct cli_output {
    FILE *file;
    char *target; /* where it will be; NULL: it is there, since it is a device or a pipe */
    char *part;   /* where it is until then */
} cli_output;

/* Nobody else may read it. A signal that ends us takes what is not whole with it, so there is one
 * at a time. False: errno says why. */
bool cli_output_open(cli_output *output, const char *name);
/* Is it whole, and wanted? Then it is put in its place, else it is gone. False: errno says why. */
bool cli_output_close(cli_output *output, bool wanted);

#endif
