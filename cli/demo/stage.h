/* stage.h: where a scene of `duplex demo` is played: a folder of its own, the programs that it runs
 * there, what they printed, and the rows that the scene shows. */
#ifndef CLI_DEMO_STAGE_H
#define CLI_DEMO_STAGE_H

#include "cli/demo/scene.h"
#include "cli/say.h"

#include <duplex/loop.h>

#include <stdint.h>
#include <yyjson.h>

enum { DEMO_PATH = 4096, DEMO_ROWS = 4 };

struct demo_row {
    char label[16];
    cli_colour colour;
    char *text;
};

struct demo_stage {
    const struct demo_scene *scene;
    dx_loop *loop;
    char found[DEMO_NEEDS][DEMO_PATH]; /* the paths of what the scene needs */
    char *folder;
    char *trace;
    char *output; /* what the last program printed */
    struct demo_row rows[DEMO_ROWS];
    size_t row_count;
    uint64_t us; /* how long the scene took */
};

/* Finds a file that goes with the command. */
bool demo_find(const struct demo_need *need, char path[DEMO_PATH]);

/* Makes the folder, with that name, in `above`. An exit code; it reports what goes wrong. */
int demo_stage_open(struct demo_stage *stage, const char *above, const char *name);
void demo_stage_close(struct demo_stage *stage);

/* Runs the system's program in the folder with these words, NULL at the end, and records it. An
 * exit code: CLI_OK if that of the program is the expected one. */
int demo_stage_run(struct demo_stage *stage, const char *const *words, int expected);
/* The same with any program, started in the current folder; argv[0] is its path. */
int demo_run(struct demo_stage *stage, const char *const *argv, const char *cwd, int expected);
/* The next line of JSON that it printed, to be freed; NULL at the end. *rest begins as its output.
 */
yyjson_doc *demo_next_event(const char **rest);
/* The string at a JSON Pointer; "" if there is none. */
const char *demo_text(yyjson_doc *doc, const char *pointer);

/* A file in the folder. Exit codes; they report what goes wrong. */
int demo_write(struct demo_stage *stage, const char *name, const char *text);
int demo_read(struct demo_stage *stage, const char *name, char **ret_text);

/* One line below the scene's heading. An exit code. */
int demo_add_row(struct demo_stage *stage, const char *label, cli_colour colour, const char *format,
                 ...) __attribute__((format(printf, 4, 5)));
/* cli_fail(), with the name of the system, or "timeline" if there is no scene. */
int demo_fail(const struct demo_stage *stage, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
