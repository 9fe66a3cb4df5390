/* What the three examples of embedding have in common: a child is started, called three times, and
 * stopped; `scene->over` says when all of that is done. Not a single word about any loop. */
#ifndef EXAMPLES_EMBED_SCENE_H
#define EXAMPLES_EMBED_SCENE_H

#include <duplex/duplex.h>
#include <stdio.h>

struct scene {
    dx_loop *loop;
    dx_child *child;
    int answers;
    int over;
};

static void scene_on_done(dx_link *link, const dx_event *ev, void *user) {
    struct scene *scene = (struct scene *)user;
    (void)link;
    printf("%.*s\n", (int)ev->body.len, ev->body.at);
    if (++scene->answers == 3)
        dx_child_stop(scene->child);
}

static void scene_on_gone(dx_child *child, const dx_gone *gone, void *user) {
    struct scene *scene = (struct scene *)user;
    printf("%d answers, gone with %d\n", scene->answers, gone->code);
    scene->over = 1;
    dx_child_free(child);
}

/* argv: header|line COMMAND [ARG…]. 0 if it can't be started. */
static int scene_start(struct scene *scene, int argc, char **argv) {
    dx_error error;
    dx_child_config config;
    dx_link_call_options options = {{0}, scene_on_done, NULL};
    scene->answers = scene->over = 0;
    if (argc < 3 || dx_loop_new(NULL, &scene->loop, NULL) != DX_OK)
        return 0;
    config = dx_child_defaults(dx_framing_named(argv[1]), (const char *const *)argv + 2);
    config.on_gone = scene_on_gone;
    config.user = scene;
    if (dx_child_start(scene->loop, &config, &scene->child, &error) != DX_OK) {
        fprintf(stderr, "%s\n", error.phrase);
        return 0;
    }
    options.peer.user = scene;
    for (int i = 0; i < 3; i++)
        dx_link_call(dx_child_link(scene->child), dx_str("echo"), dx_json_text("[42]", 4), &options,
                     NULL);
    return 1;
}

#endif
