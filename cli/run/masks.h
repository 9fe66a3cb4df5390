/* masks.h: what neither the logs nor the lists of a run show: values of environment variables and
 * headers whose names look like secrets. */
#ifndef CLI_MASKS_H
#define CLI_MASKS_H

#include <duplex/base.h>

#include <stdbool.h>

/* A shorter value is too likely to stand in a log by accident. */
enum { MASKS_LEAST = 8 };

struct masks {
    char **words;        /* the command line: --api-key=*** */
    const char **values; /* of such variables, lent from `env` */
    const char **next;   /* where each of them stands next, while a text is looked through */
};

/* Both end with NULL; env may be NULL. False: no memory, and masks_done() is due all the same. */
bool masks_init(struct masks *masks, const char *const *argv, const char *const *env);
void masks_done(struct masks *masks);
/* The text with *** for each of the values, to be freed; NULL if it has none of them. */
char *masks_hide(const struct masks *masks, dx_text text, size_t *ret_len);

#endif
