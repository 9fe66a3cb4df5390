/* live.h: what is going on, on a terminal: lines below everything else that are redrawn. */
#ifndef FINECODE_LIVE_H
#define FINECODE_LIVE_H

#include "systems/finecode/command/rows.h"

struct live {
    dx_finecode_wm *wm;
    const char *action;
    const struct rows *rows;
    uint64_t began_ms;
    size_t lines; /* that stand there now */
    uint64_t drawn_ms;
};

/* Is the standard error such a terminal, and is that wanted? */
bool live_can(void);
/* When it wants to be drawn again: DX_NEVER for NULL. All of these take NULL. */
uint64_t live_next(const struct live *live);
void live_draw(struct live *live);
void live_hide(struct live *live);

#endif
