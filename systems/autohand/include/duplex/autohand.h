/*
 * duplex/autohand.h: what both sides of the Autohand protocol share. A client (an editor) drives a
 * coding agent: see duplex/autohand-client.h, duplex/autohand-agent.h and, for the models that an
 * agent asks, duplex/autohand-model.h.
 */
#ifndef DUPLEX_AUTOHAND_H
#define DUPLEX_AUTOHAND_H

#include <duplex/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Whom an agent behaves like: the protocol's document, with what both it and real clients
 * understand; or one of the two versions of the real program of which there are recordings. */
typedef enum dx_autohand_compat {
    DX_AUTOHAND_DOC = 0,
    DX_AUTOHAND_0_6,
    DX_AUTOHAND_0_8
} dx_autohand_compat;

/* The codes of the document. */
enum {
    DX_AUTOHAND_EXECUTION = -32000, /* a tool or the model failed */
    DX_AUTOHAND_DENIED = -32001,
    DX_AUTOHAND_TIMEOUT = -32002,
    DX_AUTOHAND_BUSY = -32003,
    DX_AUTOHAND_ABORTED = -32004
};

/* "doc", "0.6", "0.8". DX_ERR_INVALID for any other. */
DX_API dx_status dx_autohand_compat_of(const char *name, dx_autohand_compat *ret_compat);
/* "Permission Denied" …; NULL for a code that the document does not name. */
DX_API const char *dx_autohand_code_name(int64_t code);

#ifdef __cplusplus
}
#endif

#endif
