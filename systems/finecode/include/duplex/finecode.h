/*
 * duplex/finecode.h: FineCode, both sides of its WM-ER protocol.
 *
 *   duplex/finecode-wm.h  a workspace manager: starts runners, runs actions across projects
 *   duplex/finecode-er.h  an extension runner: has handlers of actions, for one project and env
 *
 * Link libduplex-finecode.
 */
#ifndef DUPLEX_FINECODE_H
#define DUPLEX_FINECODE_H

#include <duplex/base.h>
#include <duplex/rpc.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Formats of a result: any of these together, or none. */
enum { DX_FINECODE_JSON = 1 << 0, DX_FINECODE_STRING = 1 << 1 };

/* Error codes of the protocol's own. */
enum {
    DX_FINECODE_REINSTALL = -32001, /* the env must be installed again */
    DX_FINECODE_CANCELLED = -32800
};

/* How a run ended. */
typedef enum dx_finecode_status {
    DX_FINECODE_SUCCESS = 1,
    DX_FINECODE_STREAMED,    /* all of it came as partial results */
    DX_FINECODE_STOPPED,     /* a handler ended the run early, with a result */
    DX_FINECODE_NO_HANDLERS, /* there was nothing to run */
    DX_FINECODE_FAILED,      /* why says it */
    DX_FINECODE_GIVEN_UP     /* cancelled */
} dx_finecode_status;
/* "success", "streamed", "stopped", "no_handlers", "failed", "cancelled". */
DX_API const char *dx_finecode_status_name(dx_finecode_status status);

/* Who wants a run. trigger: user, system or unknown; dev_env: ide, cli, ai, git_hook or ci. depth
 * is how many runs stand above it. */
typedef struct dx_finecode_origin {
    const char *trigger;
    const char *dev_env;
    unsigned depth;
} dx_finecode_origin;
DX_API int dx_finecode_is_trigger(dx_text name);
DX_API int dx_finecode_is_dev_env(dx_text name);

#ifdef __cplusplus
}
#endif

#endif
