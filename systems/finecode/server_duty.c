/* Requests of clients that are answered later. */
#include "systems/finecode/server_parts.h"

dx__finecode_duty *dx__finecode_duty_new(dx__finecode_client *client, size_t size) {
    dx_finecode_server *server = client->server;
    dx__finecode_duty *duty = dx__malloc(&server->alloc, sizeof *duty);
    void *own = duty ? dx__malloc(&server->alloc, size) : NULL;
    dx_event *event = NULL;
    /* What is not kept is answered with an internal error by the link. */
    if (!own || dx_link_keep(client->link, &event) != DX_OK) {
        dx__free(&server->alloc, own);
        dx__free(&server->alloc, duty);
        return NULL;
    }
    memset(own, 0, size);
    *duty = (dx__finecode_duty){.server = server, .client = client, .event = event, .own = own};
    duty->next = server->duties;
    server->duties = duty;
    return duty;
}

void dx__finecode_duty_end(dx__finecode_duty *duty) {
    dx_finecode_server *server = duty->server;
    dx__finecode_duty **at = &server->duties;
    while (*at && *at != duty)
        at = &(*at)->next;
    if (*at)
        *at = duty->next;
    if (duty->done)
        duty->done(duty);
    dx__free(&server->alloc, duty->own);
    (void)dx_event_free(duty->event);
    dx__free(&server->alloc, duty);
}

dx_link *dx__finecode_duty_link(const dx__finecode_duty *duty) {
    return duty->client ? duty->client->link : NULL;
}

/* Who cancels is answered at once, whether runners are quick or not; what was begun for it ends by
 * itself, and nobody hears of that. */
void dx__finecode_duties_cancel(dx__finecode_client *client, dx_request request) {
    dx__finecode_duty *next;
    for (dx__finecode_duty *duty = client->server->duties; duty; duty = next) {
        next = duty->next;
        if (duty->client != client || (request && duty->event->request != request))
            continue;
        duty->cancelled = true;
        duty->client = NULL;
        if (request)
            dx__finecode_answer_refuse(client->link, request, DX_FINECODE_CANCELLED,
                                       "Request cancelled", "");
        if (duty->cancel)
            duty->cancel(duty);
    }
}
