/* The protocol that the tests of peers with rules speak: from a document of each test's own. */
#ifndef UNIT_RULES_H
#define UNIT_RULES_H

#include "unit/unit.h"

#include <duplex/peer.h>

#include <stdio.h>

static dx_protocol *protocol;

static inline int load_document(const char *document) {
    dx_misfit why;
    dx_status status =
        dx_protocol_read(dx_str(document), TEXT("test.openrpc.json"), NULL, &protocol, &why);
    if (status != DX_OK)
        fprintf(stderr, "%s\n", why.phrase);
    return status == DX_OK ? 0 : -1;
}

static inline int unload(void **state) {
    (void)state;
    protocol = dx_protocol_free(protocol);
    return 0;
}

#endif
