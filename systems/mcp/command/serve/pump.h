/* pump.h: a loop of the library, and beside it descriptors of our own. */
#ifndef MCP_SERVE_PUMP_H
#define MCP_SERVE_PUMP_H

#include <duplex/loop.h>

#include <stdbool.h>

struct pump {
    dx_loop *loop;
    int epoll;
};

/* Must stay where it is while it is in. */
struct pump_source {
    int fd;
    void (*ready)(void *user);
    void *user;
};

/* NULL, or why not. */
const char *pump_open(struct pump *pump);
void pump_close(struct pump *pump);
/* Ready means: readable, or at its end. False: errno says why. */
bool pump_add(struct pump *pump, struct pump_source *source);
/* The descriptor is closed, too; harmless if that was done. */
void pump_remove(struct pump *pump, struct pump_source *source);
/* Waits for one thing to happen, or for a signal, and does what there is to do. */
void pump_turn(struct pump *pump);

#endif
