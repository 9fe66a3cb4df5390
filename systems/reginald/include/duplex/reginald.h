/*
 * duplex/reginald.h: the Reginald Plugin Protocol, both sides.
 *
 *   duplex/reginald-host.h    starts plugins, runs their commands and tasks, gathers their logs
 *   duplex/reginald-plugin.h  a plugin
 *
 * Link libduplex-reginald.
 */
#ifndef DUPLEX_REGINALD_H
#define DUPLEX_REGINALD_H

#include <duplex/base.h>
#include <duplex/rpc.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How important a log message is: a number, of which these have names. */
enum {
    DX_REGINALD_TRACE = -8,
    DX_REGINALD_DEBUG = -4,
    DX_REGINALD_INFO = 0,
    DX_REGINALD_WARN = 4,
    DX_REGINALD_ERROR = 8
};
/* "INFO", "INFO+2", …: at most 24 bytes with the NUL. */
DX_API const char *dx_reginald_level_write(int level, char room[24]);
/* Any case, with an offset ("warn", "Info-1"). 0: it is none. */
DX_API int dx_reginald_level_read(dx_text text, int *ret_level);

/* The type of a setting. */
typedef enum dx_reginald_type {
    DX_REGINALD_BOOL = 1,
    DX_REGINALD_INT,
    DX_REGINALD_STRING
} dx_reginald_type;

/* The value of a setting. */
typedef struct dx_reginald_value {
    const char *key;
    dx_reginald_type type;
    int64_t number;   /* INT; BOOL: 0 or 1 */
    const char *text; /* STRING */
} dx_reginald_value;

/* A setting that a plugin declares: of itself, of a command or of a task. */
typedef struct dx_reginald_entry {
    dx_reginald_value value; /* its key, type and default */
    const char *flag;        /* on the command line it is --flag (NULL: the key) … */
    const char *usage;       /* what its help says; may be NULL */
    const char *env;         /* the variable that overrides it, without REGINALD_ before it; NULL:
                                made of the names of the plugin, the command and the key */
    int has_flag;            /* it can be given on the command line at all */
    int flag_only;           /* neither file nor environment */
    char shorthand;          /* … or this letter (0: none) */
} dx_reginald_entry;

#ifdef __cplusplus
}
#endif

#endif
