/* scene.h: what the scenes of `duplex demo` share. */
#ifndef CLI_DEMO_SCENE_H
#define CLI_DEMO_SCENE_H

#include <duplex/frame.h>

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

struct demo_scene {
    const char *example;
    dx_framing framing;
    const char *sentence;
    const char *calls[4][2]; /* method, params */
    /* In place of calls, another program of ours plays it: is all there that it needs? */
    bool (*is_there)(void);
    /* An exit code; what goes wrong is told. */
    int (*play)(struct demo_score *score);
};

/* An editor of HL7 messages, and an extension that changes one. */
extern const struct demo_scene demo_editor;
/* A client of the Model Context Protocol calls a tool of a server that asks back. */
extern const struct demo_scene demo_tools;
/* A host of Reginald plugins has one of them make links, as a file says. */
extern const struct demo_scene demo_setup;
/* A manager of FineCode runs an action in two projects. */
extern const struct demo_scene demo_projects;
/* A client of Autohand has its agent write a file. */
extern const struct demo_scene demo_agent;

enum { DEMO_PATH = 4096 };

/* A file that goes with the command: a program if `runs`. False if it is not there. */
bool demo_find(const char *name, bool runs, char path[DEMO_PATH]);

#endif
