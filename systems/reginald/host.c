/* The host as a whole: its configuration, its birth and its end. */
#include "systems/reginald/host_parts.h"

#include <string.h>

dx_reginald_config dx_reginald_defaults(void) {
    return (dx_reginald_config){
        .log_level = DX_REGINALD_TRACE,
        .handshake_ms = 5000,
        .initialize_ms = 5000,
        .stop_ms = 15000,
        .errors_max = 5,
    };
}

static dx_status copy_words(dx_reginald *host) {
    const char **places[] = {&host->config.revision, &host->config.cwd};
    host->words = dx__keep_strings(&host->alloc, places, sizeof places / sizeof *places);
    return host->words ? DX_OK : DX_ERR_NOMEM;
}

static bool is_revision(const dx_reginald *host, const char *name) {
    return host->config.revision && strcmp(host->config.revision, name) == 0;
}

static dx_status open_protocol(dx_reginald *host, dx_error *reterr) {
    dx_protocol_config config = dx_protocol_defaults();
    dx_misfit why;
    char name[64] = "reginald";
    config.allocator = &host->alloc;
    if (is_revision(host, "gen-b"))
        return dx__reginald_host_fail(reterr, "the host does not support generation B", "");
    if (host->config.revision) {
        dx__say_str(name, sizeof name, "@");
        dx__say_str(name, sizeof name, host->config.revision);
    }
    dx_status status = dx_protocol_open(dx_str(name), &config, &host->protocol, &why);
    if (status == DX_OK || status == DX_ERR_NOMEM)
        return status;
    return dx__reginald_host_fail(reterr, why.phrase, "");
}

static bool is_any_starting(const dx_reginald *host) {
    for (size_t i = 0; i < host->guest_count; i++)
        if (host->guests[i]->state == DX_REGINALD_STARTING)
            return true;
    return false;
}

static bool is_any_alive(const dx_reginald *host) {
    for (size_t i = 0; i < host->guest_count; i++)
        if (host->guests[i]->child)
            return true;
    return false;
}

static void on_turn(dx_timer *timer, void *user) {
    dx_reginald *host = user;
    (void)timer;
    if (host->starting && !is_any_starting(host)) {
        host->starting = false;
        if (host->config.on_ready)
            host->config.on_ready(host, host->config.user);
    }
    if (!host->stopping || is_any_alive(host))
        return;
    host->stopping = false;
    if (host->config.on_stopped)
        host->config.on_stopped(host, host->config.user);
}

void dx__reginald_host_settle(dx_reginald *host) {
    if ((host->starting && !is_any_starting(host)) || (host->stopping && !is_any_alive(host)))
        dx_timer_set(host->turn, 0);
}

static dx_status equip(dx_reginald *host, dx_error *reterr) {
    dx_status status = copy_words(host);
    if (status == DX_OK)
        status = open_protocol(host, reterr);
    if (status == DX_OK)
        status = dx_timer_new(host->loop, on_turn, host, &host->turn);
    return status;
}

dx_status dx_reginald_new(dx_loop *loop, const dx_reginald_config *config, dx_reginald **ret_host,
                          dx_error *reterr) {
    dx_buf buf; /* which knows what malloc() is */
    dx_buf_init(&buf, 0, config->allocator);
    dx_reginald *host = dx__malloc(&buf.alloc, sizeof *host);
    if (!host)
        return DX_ERR_NOMEM;
    *host = (dx_reginald){.loop = loop, .config = *config, .alloc = buf.alloc};
    host->seed = is_revision(host, "seed");
    host->exact = is_revision(host, "exact");
    dx_status status = equip(host, reterr);
    if (status != DX_OK) {
        dx_reginald_free(host);
        return status;
    }
    *ret_host = host;
    return DX_OK;
}

dx_reginald *dx_reginald_free(dx_reginald *host) {
    if (!host)
        return NULL;
    dx_allocator alloc = host->alloc;
    for (size_t i = 0; i < host->guest_count; i++)
        dx__reginald_host_guest_free(host->guests[i]);
    dx__free(&alloc, host->guests);
    dx_timer_free(host->turn);
    dx_protocol_free(host->protocol);
    dx__free(&alloc, host->words);
    dx__free(&alloc, host);
    return NULL;
}

void dx_reginald_start(dx_reginald *host) {
    if (host->stopping)
        return;
    host->starting = true;
    /* Callbacks may add others meanwhile: the list only grows. */
    for (size_t i = 0; i < host->guest_count && !host->stopping; i++)
        if (host->guests[i]->state == DX_REGINALD_NEW)
            dx__reginald_host_guest_start(host->guests[i]);
    dx__reginald_host_settle(host);
}

void dx_reginald_stop(dx_reginald *host) {
    host->stopping = true;
    host->starting = false;
    for (size_t i = 0; i < host->guest_count; i++)
        dx__reginald_host_guest_stop(host->guests[i]);
    dx__reginald_host_settle(host);
}
