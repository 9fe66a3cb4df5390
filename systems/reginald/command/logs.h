/* logs.h: what plugins log, on the standard error. */
#ifndef REGINALD_LOGS_H
#define REGINALD_LOGS_H

#include "systems/reginald/command/command.h"
#include "systems/reginald/command/file.h"

#include <duplex/base.h>

struct logs {
    int level;
    bool off; /* plugins are not to log */
    bool json;
};

/* How it is done: options win over the environment, that over the file. An exit code. */
int logs_init(struct logs *logs, const struct reginald_options *options, const struct file *file);
/* One line. fields may be NULL; `kind` is what it is if it is not a message of the plugin's log:
 * "stderr", "failed" and so on, else NULL. */
void logs_put(const struct logs *logs, const char *plugin, int level, const char *kind,
              dx_text text, yyjson_val *fields);

#endif
