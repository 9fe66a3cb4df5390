/* scene.h: the scenes of `duplex demo`. In each of them a system does one useful thing. */
#ifndef CLI_DEMO_SCENE_H
#define CLI_DEMO_SCENE_H

#include <stdbool.h>

struct demo_stage;

/* A file that goes with the command. */
struct demo_need {
    const char *name;
    bool runs; /* it is a program */
};

enum { DEMO_NEEDS = 3 };

struct demo_scene {
    const char *system;
    const char *sentence;
    const char *plugin;                 /* the other side of the conversation */
    struct demo_need needs[DEMO_NEEDS]; /* the first one is the system's program */
    /* Runs it, and adds the rows to show. An exit code; it reports what goes wrong. */
    int (*play)(struct demo_stage *stage);
};

/* An extension changes the message of an HL7 editor. */
extern const struct demo_scene demo_hermes;
/* A client calls a tool of a server that asks back. */
extern const struct demo_scene demo_mcp;
/* A manager runs an action in two projects. */
extern const struct demo_scene demo_finecode;
/* A plugin makes links, in the order that the tasks need. */
extern const struct demo_scene demo_reginald;
/* An agent edits a file after a permission. */
extern const struct demo_scene demo_autohand;

#endif
