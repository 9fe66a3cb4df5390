/* A link on the standard input and output of this process. */
#include "host/host.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static dx_status open_stdio(dx_loop *loop, const dx_link_config *config,
                            const struct dx__link_owner *owner, dx_link **ret_link,
                            dx_error *reterr) {
    int in = fcntl(0, F_DUPFD_CLOEXEC, 3);
    int out = in < 0 ? -1 : fcntl(1, F_DUPFD_CLOEXEC, 3);
    int nothing = out < 0 ? -1 : open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (nothing < 0) {
        dx_status status =
            dx__system_error(reterr, DX_FAULT_SYSTEM, "use standard input and output", NULL, errno);
        if (in >= 0)
            close(in);
        if (out >= 0)
            close(out);
        return status;
    }
    dx_status status = dx__link_new(loop, in, out, config, owner, ret_link, reterr);
    if (status == DX_OK) {
        dup2(nothing, 0);
        dup2(2, 1);
    } else {
        close(in);
        close(out);
    }
    close(nothing);
    return status;
}

dx_status dx_link_stdio(dx_loop *loop, const dx_link_config *config, dx_link **ret_link,
                        dx_error *reterr) {
    return open_stdio(loop, config, NULL, ret_link, reterr);
}

struct plugin {
    dx_loop *loop;
    int code;
};

static void plugin_closed(void *owner, const dx_error *why) {
    struct plugin *plugin = owner;
    plugin->code = why->fault != DX_FAULT_NONE;
    dx_loop_stop(plugin->loop);
}

static void plugin_freed(void *owner) {
    struct plugin *plugin = owner;
    dx_loop_stop(plugin->loop);
}

int dx_plugin_run(const dx_link_config *config) {
    struct plugin plugin = {.code = 0};
    struct dx__link_owner owner = {
        .closed = plugin_closed, .freed = plugin_freed, .owner = &plugin};
    dx_link *link;
    bool freed = false;
    if (dx_loop_new(config->peer.allocator, &plugin.loop, NULL) != DX_OK)
        return 2;
    if (open_stdio(plugin.loop, config, &owner, &link, NULL) != DX_OK)
        plugin.code = 2;
    else if (dx__loop_run(plugin.loop, &freed) != DX_OK)
        plugin.code = 1;
    if (!freed)
        dx_loop_free(plugin.loop);
    return plugin.code;
}
