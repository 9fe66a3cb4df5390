/* material.h: a prompt from the words and options of the command line. */
#ifndef AUTOHAND_MATERIAL_H
#define AUTOHAND_MATERIAL_H

#include "systems/autohand/command/command.h"

#include <duplex/autohand-client.h>

struct material {
    dx_autohand_prompt prompt;
    char *text;
    char *selected; /* the file, and its name */
    char *selected_name;
    const char **files;
    dx_autohand_image *images;
    char **image_bytes;
};

/* TEXT, @FILE or -; NULL: --file, --select and --image only. An exit code; what is wrong was told.
 */
int material_read(const struct autohand_options *options, const char *word,
                  struct material *ret_material);
void material_done(struct material *material);

#endif
