/* settings.h: which extensions Hermes' own settings.json has. */
#ifndef HERMES_SETTINGS_H
#define HERMES_SETTINGS_H

#include <stddef.h>

struct setting {
    char *path;
    char **args; /* NULL at the end; NULL if there are none */
    char **env;  /* "NAME=value" …; the same */
};

struct settings {
    struct setting *at; /* those that are enabled */
    size_t count;
    size_t wrong; /* those that can't be used */
};

/* An exit code; what is wrong was told. Always to be done with settings_done(). */
int settings_read(const char *path, struct settings *ret_settings);
void settings_done(struct settings *settings);

#endif
