/* A server as a whole program, and one that others connect to. */
#include "systems/mcp/server_parts.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

/* The loop goes only if nobody else can have it any more: work that another thread has not let go
 * of may still be posted to it, and the process is about to end anyway. */
int dx_mcp_serve(dx_mcp_server *server) {
    dx_loop *loop = NULL;
    dx_mcp_session *session = NULL;
    dx_error error = {.fault = DX_FAULT_NONE};
    dx_status status = dx_loop_new(NULL, &loop, &error);
    /* A client may close its end of the log, and that must not be the end of who writes to it. */
    signal(SIGPIPE, SIG_IGN);
    if (status == DX_OK)
        status = dx_mcp_server_stdio(server, loop, &session, &error);
    if (status != DX_OK) {
        (void)fprintf(stderr, "cannot start the server: %s\n", error.phrase);
        dx_mcp_server_free(server);
        dx_loop_free(loop);
        return 2;
    }
    dx__mcp_session_hold(session);
    server->runs = true;
    int code = dx_loop_run(loop) == DX_OK ? server->code : 2;
    dx_mcp_server_free(server);
    bool alone = session->refs == 1;
    dx__mcp_session_release(session);
    if (alone)
        dx_loop_free(loop);
    return code;
}

static void on_connect(dx_listener *listener, int fd, void *user) {
    (void)listener;
    struct dx__mcp_place *place = user;
    if (dx_mcp_server_open(place->server, place->loop, fd, fd, NULL, NULL) != DX_OK)
        close(fd);
}

static void on_refused(dx_listener *listener, const char *why, void *user) {
    (void)listener;
    dx_mcp_server *server = ((struct dx__mcp_place *)user)->server;
    if (server->config.on_refused)
        server->config.on_refused(server, why, server->config.user);
}

dx_status dx_mcp_server_listen(dx_mcp_server *server, dx_loop *loop, const char *address,
                               dx_listener **ret_listener, dx_error *reterr) {
    struct dx__mcp_place *place = dx__malloc(&server->alloc, sizeof *place);
    if (!place)
        return DX_ERR_NOMEM;
    *place = (struct dx__mcp_place){server, loop, server->places};
    dx_listener_config config = {.on_connect = on_connect,
                                 .on_refused = on_refused,
                                 .user = place,
                                 .framing = DX_FRAMING_LINE,
                                 .any_user = server->config.any_user};
    dx_status status = dx_listener_open(loop, address, &config, ret_listener, reterr);
    if (status == DX_OK)
        server->places = place;
    else
        dx__free(&server->alloc, place);
    return status;
}
