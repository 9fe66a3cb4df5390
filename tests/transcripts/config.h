/* config.h: the `peer` line of a case. */
#ifndef TRANSCRIPTS_CONFIG_H
#define TRANSCRIPTS_CONFIG_H

#include "script.h"

#include <duplex/peer.h>

struct config {
    dx_peer_config peer;
    bool busy;          /* feeding may be refused for a while; the rest is fed later */
    bool whole;         /* runs are fed whole only */
    bool large;         /* small pieces are pages, not bytes */
    uint64_t cuts;      /* how many places a long run is cut at */
    dx_status expected; /* what dx_peer_new() says */
    struct bytes type;  /* the content type, NUL-terminated */
};

/* Returns what is wrong, or NULL. */
const char *config_read(struct config *config, const struct scene *scene);
void config_done(struct config *config);

/* The status of that name ("ok", "busy", …). */
bool status_read(dx_text name, dx_status *ret_status);
const char *status_show(dx_status status);

#endif
