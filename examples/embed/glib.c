/* Duplex in GLib's main loop, as a source. Usage: glib header|line COMMAND [ARG…] */
#include "scene.h"

#include <glib.h>

struct source {
    GSource source;
    struct scene *scene;
    gpointer tag;
};

static gboolean prepare(GSource *source, gint *timeout) {
    *timeout = dx_loop_wait_ms(((struct source *)source)->scene->loop);
    return *timeout == 0;
}

static gboolean check(GSource *source) {
    struct source *ours = (struct source *)source;
    return g_source_query_unix_fd(source, ours->tag) != 0 ||
           dx_loop_wait_ms(ours->scene->loop) == 0;
}

static gboolean dispatch(GSource *source, GSourceFunc callback, gpointer main_loop) {
    struct scene *scene = ((struct source *)source)->scene;
    (void)callback;
    dx_loop_dispatch(scene->loop);
    if (scene->over)
        g_main_loop_quit((GMainLoop *)main_loop);
    return G_SOURCE_CONTINUE;
}

static gboolean unused(gpointer user) {
    (void)user;
    return G_SOURCE_CONTINUE;
}

int main(int argc, char **argv) {
    static GSourceFuncs functions = {prepare, check, dispatch, NULL, NULL, NULL};
    struct scene scene;
    if (!scene_start(&scene, argc, argv))
        return 2;
    GMainLoop *loop = g_main_loop_new(NULL, FALSE);
    GSource *source = g_source_new(&functions, sizeof(struct source));
    ((struct source *)source)->scene = &scene;
    ((struct source *)source)->tag = g_source_add_unix_fd(source, dx_loop_fd(scene.loop), G_IO_IN);
    g_source_set_callback(source, unused, loop, NULL);
    g_source_attach(source, NULL);
    g_main_loop_run(loop);
    g_source_destroy(source);
    g_source_unref(source);
    g_main_loop_unref(loop);
    dx_loop_free(scene.loop);
    return 0;
}
