/* Requests of the peer that the user has not answered. */
#include "cli/repl/repl.h"

#include "cli/say.h"

#include <stdlib.h>

static void remove_request(struct repl *repl, struct repl_request *request) {
    struct repl_request **at = &repl->requests;
    while (*at != request)
        at = &(*at)->next;
    *at = request->next;
    repl->requests_count--;
    repl->requests_bytes -= request->event->message.len;
    dx_event_free(request->event);
    free(request);
}

bool repl_request_keep(struct repl *repl, dx_link *link, const dx_event *event) {
    struct repl_request **end = &repl->requests;
    bool full = repl->requests_count >= REPL_REQUESTS_MAX ||
                event->message.len > REPL_REQUESTS_BYTES - repl->requests_bytes;
    struct repl_request *request = full ? NULL : calloc(1, sizeof *request);
    if (!request)
        return false;
    if (dx_link_keep(link, &request->event) != DX_OK) {
        free(request);
        return false;
    }
    while (*end)
        end = &(*end)->next;
    *end = request;
    request->number = ++repl->last_request;
    repl->requests_count++;
    repl->requests_bytes += request->event->message.len;
    repl_show_message(repl, "request", request->number, request->event);
    if (repl->typed)
        cli_note("reply with 'answer %llu RESULT' or 'refuse %llu CODE MESSAGE'",
                 (unsigned long long)request->number, (unsigned long long)request->number);
    return true;
}

struct repl_request *repl_request_find(const struct repl *repl, uint64_t number) {
    struct repl_request *request = repl->requests;
    while (request && request->number != number)
        request = request->next;
    return request;
}

/* It is answered, or can't be any more; else the user may try again. */
static int tell(struct repl *repl, struct repl_request *request, dx_status status) {
    dx_link *link = repl_link(repl);
    if (status == DX_OK || status == DX_GONE || status == DX_CLOSED)
        remove_request(repl, request);
    if (status == DX_OK)
        return CLI_OK;
    if (status == DX_MISFIT && link)
        return cli_fail(CLI_MISFIT, "cannot send the response: %s", dx_link_why(link)->phrase);
    return cli_fail(CLI_USAGE, "cannot send the response: %s",
                    status == DX_GONE ? "the server has cancelled the request"
                                      : dx_status_name(status));
}

int repl_answer(struct repl *repl, struct repl_request *request, const char *result) {
    dx_link *link = repl_link(repl);
    return tell(repl, request,
                link ? dx_link_reply(link, request->event->request, contact_json(result))
                     : DX_CLOSED);
}

int repl_refuse(struct repl *repl, struct repl_request *request, int64_t code,
                const char *message) {
    dx_link *link = repl_link(repl);
    return tell(
        repl, request,
        link ? dx_link_refuse(link, request->event->request, code, dx_str(message), dx_json_none())
             : DX_CLOSED);
}

void repl_request_cancelled(struct repl *repl, dx_link *link, const dx_event *event) {
    for (struct repl_request *request = repl->requests; request; request = request->next) {
        if (request->event->request != event->request)
            continue;
        const dx_protocol_facts *facts = dx_protocol_facts_of(repl->session->protocol);
        repl_show_withdrawn(request->number);
        /* Where nobody wants an answer any more, this says so and does no more. */
        (void)dx_link_refuse(link, event->request,
                             facts->cancel_code ? facts->cancel_code : DX_CODE_INTERNAL,
                             dx_str("cancelled"), dx_json_none());
        remove_request(repl, request);
        return;
    }
}

void repl_requests_end(struct repl *repl) {
    dx_link *link = repl_link(repl);
    while (repl->requests) {
        if (link)
            (void)dx_link_refuse(link, repl->requests->event->request, DX_CODE_INTERNAL,
                                 dx_str("the request was not answered"), dx_json_none());
        remove_request(repl, repl->requests);
    }
}
