/* Duplex in a loop of poll(2). Usage: poll header|line COMMAND [ARG…] */
#include "scene.h"

#include <poll.h>

int main(int argc, char **argv) {
    struct scene scene;
    if (!scene_start(&scene, argc, argv))
        return 2;
    while (!scene.over) {
        struct pollfd fd = {dx_loop_fd(scene.loop), POLLIN, 0};
        poll(&fd, 1, dx_loop_wait_ms(scene.loop));
        dx_loop_dispatch(scene.loop);
    }
    dx_loop_free(scene.loop);
    return 0;
}
