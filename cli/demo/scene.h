/* scene.h: what the scenes of `duplex demo` share. */
#ifndef CLI_DEMO_SCENE_H
#define CLI_DEMO_SCENE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What came of a scene. */
struct demo_score {
    unsigned sent, came; /* messages */
    unsigned results, refused;
    unsigned asked_back;
    uint64_t us;
};

enum { DEMO_PATH = 4096 };

/* A file that goes with the command: a program if `runs`. False if it is not there. */
bool demo_find(const char *name, bool runs, char path[DEMO_PATH]);

#endif
