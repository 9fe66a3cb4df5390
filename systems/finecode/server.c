/* The manager as a server: its port, its clients, and when nobody needs it any more. */
#include "systems/finecode/server_parts.h"

#include <stdio.h>

dx_finecode_server_config dx_finecode_server_defaults(void) {
    return (dx_finecode_server_config){.disconnect_ms = 30000};
}

static void on_connect(dx_listener *listener, int fd, void *user) {
    (void)listener;
    dx__finecode_client_join(user, fd);
}

static void on_refused(dx_listener *listener, const char *why, void *user) {
    dx_finecode_server *server = user;
    (void)listener;
    if (server->config.on_refused)
        server->config.on_refused(server, why, server->config.user);
}

static void on_idle_time(dx_timer *timer, void *user) {
    dx_finecode_server *server = user;
    (void)timer;
    if (server->config.on_idle)
        server->config.on_idle(server, server->config.user);
}

static void on_records_time(dx_timer *timer, void *user) {
    (void)timer;
    dx__finecode_records_send(user);
}

static void on_tree_time(dx_timer *timer, void *user) {
    (void)timer;
    dx__finecode_additions_look(user);
    dx__finecode_tree_tell(user);
}

void dx__finecode_server_count(dx_finecode_server *server) {
    if (!server->ending)
        dx_timer_set(server->idle, server->clients ? DX_NEVER : server->config.disconnect_ms);
}

/* In a turn of its own, so that the answer to who has asked for it is on its way. */
void dx__finecode_server_end(dx_finecode_server *server) {
    server->ending = true;
    dx_timer_set(server->idle, 1);
}

static dx_status start(dx_finecode_server *server, dx_error *reterr) {
    dx_loop *loop = server->wm->loop;
    char address[32];
    dx_status status = dx_timer_new(loop, on_idle_time, server, &server->idle);
    if (status == DX_OK)
        status = dx_timer_new(loop, on_records_time, server, &server->records);
    if (status == DX_OK)
        status = dx_timer_new(loop, on_tree_time, server, &server->tree);
    if (status == DX_OK && server->port_file)
        status = dx__finecode_port_take(server, reterr);
    if (status != DX_OK)
        return status;
    (void)snprintf(address, sizeof address, "tcp:%u", server->config.port);
    dx_listener_config config = {.on_connect = on_connect,
                                 .on_refused = on_refused,
                                 .user = server,
                                 .framing = DX_FRAMING_HEADER,
                                 .any_user = server->config.any_user};
    status = dx_listener_open(loop, address, &config, &server->listener, reterr);
    if (status == DX_OK && server->port_file)
        status = dx__finecode_port_tell(server, dx_listener_port(server->listener), reterr);
    if (status == DX_OK)
        dx__finecode_server_count(server);
    return status;
}

dx_status dx_finecode_server_new(dx_finecode_wm *wm, const dx_finecode_server_config *config,
                                 dx_finecode_server **ret_server, dx_error *reterr) {
    if (!wm || !config || config->port > 65535 || wm->server)
        return dx__finecode_fail(reterr, "expected a manager without a server, and a port", "");
    dx_finecode_server *server = dx__malloc(&wm->alloc, sizeof *server);
    if (!server)
        return DX_ERR_NOMEM;
    *server = (dx_finecode_server){.wm = wm, .alloc = wm->alloc, .config = *config, .port_fd = -1};
    if (config->port_file)
        server->port_file = dx__text_copy(&server->alloc, dx_str(config->port_file));
    if (wm->log_level)
        server->level = dx__text_copy(&server->alloc, dx_str(wm->log_level));
    bool copied = (server->port_file || !config->port_file) && (server->level || !wm->log_level);
    dx_status status = copied ? start(server, reterr) : DX_ERR_NOMEM;
    if (status != DX_OK) {
        (void)dx_finecode_server_free(server);
        return status;
    }
    wm->server = server;
    *ret_server = server;
    return DX_OK;
}

static void drop_work(dx_finecode_server *server) {
    while (server->duties) {
        dx__finecode_duty *duty = server->duties;
        duty->client = NULL;
        dx__finecode_duty_end(duty);
    }
    while (server->edits) {
        dx__finecode_edit_wait *wait = server->edits;
        server->edits = wait->next;
        dx_finecode_wm_edited(server->wm, wait->edit, 0, "the server exited");
        dx__free(&server->alloc, wait);
    }
}

dx_finecode_server *dx_finecode_server_free(dx_finecode_server *server) {
    if (!server)
        return NULL;
    bool served = server->wm->server == server;
    if (served)
        server->wm->server = NULL;
    dx__finecode_port_remove(server);
    (void)dx_listener_free(server->listener);
    drop_work(server);
    while (server->clients) {
        dx__finecode_client *client = server->clients;
        server->clients = client->next;
        (void)dx__finecode_client_free(client);
    }
    /* What it has set in the manager goes with it. */
    if (served)
        dx__finecode_level_choose(server);
    dx__finecode_overrides_drop(server);
    dx__free(&server->alloc, server->level);
    dx__free(&server->alloc, server->port_file);
    (void)dx_timer_free(server->idle);
    (void)dx_timer_free(server->records);
    (void)dx_timer_free(server->tree);
    dx_allocator alloc = server->alloc;
    dx__free(&alloc, server);
    return NULL;
}

unsigned dx_finecode_server_port(const dx_finecode_server *server) {
    return dx_listener_port(server->listener);
}
