/* pump.h: a loop of the library, and beside it descriptors of our own. */
#ifndef CLI_PUMP_H
#define CLI_PUMP_H

#include <duplex/loop.h>

#include <stdbool.h>

struct cli_pump {
    dx_loop *loop;
    int epoll;
};

/* Must stay where it is while it is in. */
struct cli_pump_source {
    int fd;
    void (*ready)(void *user);
    void *user;
};

/* NULL, or why not. */
const char *cli_pump_open(struct cli_pump *pump);
void cli_pump_close(struct cli_pump *pump);
/* Ready means: readable, or at its end. False: errno says why. */
bool cli_pump_add(struct cli_pump *pump, struct cli_pump_source *source);
/* The descriptor is closed, too; harmless if that was done. */
void cli_pump_remove(struct cli_pump *pump, struct cli_pump_source *source);
/* Waits for one thing to happen, or for a signal, and does what there is to do. */
void cli_pump_turn(struct cli_pump *pump);

#endif
