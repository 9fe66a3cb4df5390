/* What extensions ask for: is it a question that fits, and who answers it? */
#include "systems/hermes/hermes_parts.h"

#include <string.h>

enum { NOT_INITIALISED = -32001, WAITING_MAX = 1000, WAITING_BYTES = 64 << 20 };

typedef void serve_function(dx_hermes_guest *guest, const dx_event *event, yyjson_val *params);

static const struct route {
    const char *method;
    serve_function *serve; /* NULL: it is a dialog */
    dx_hermes_dialog_kind dialog;
} routes[] = {
    {"editor/getMessage", hermes_get_message},
    {"editor/setMessage", hermes_set_message},
    {"editor/patchMessage", hermes_patch_message},
    {"ui/openWindow", hermes_open_window},
    {"ui/closeWindow", hermes_close_window},
    {"ui/showMessage", NULL, DX_HERMES_SHOW_MESSAGE},
    {"ui/showConfirm", NULL, DX_HERMES_SHOW_CONFIRM},
    {"ui/openFile", NULL, DX_HERMES_OPEN_FILE},
    {"ui/openFiles", NULL, DX_HERMES_OPEN_FILES},
    {"ui/saveFile", NULL, DX_HERMES_SAVE_FILE},
    {"ui/selectDirectory", NULL, DX_HERMES_SELECT_DIRECTORY},
};

static const struct route *find_route(dx_text method) {
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++)
        if (dx_text_is(method, routes[i].method))
            return &routes[i];
    return NULL;
}

/* Long names are cut off in phrases. */
static dx_text cut(dx_text name) {
    return (dx_text){name.at, name.len < 100 ? name.len : 100};
}

/* The extension made a mistake: the embedder hears of it, and the extension gets an error. */
static void blame(dx_hermes_guest *guest, const dx_event *event, const char *phrase) {
    char line[200] = "";
    dx__say(line, sizeof line, cut(event->method));
    dx__say_str(line, sizeof line, ": ");
    dx__say_str(line, sizeof line, phrase);
    hermes_guest_violation(guest, line);
}

static void refuse_method(dx_hermes_guest *guest, const dx_event *event) {
    char name[200] = "";
    char data[256] = "";
    dx__say(name, sizeof name, event->method);
    dx__say_str(data, sizeof data, "Unknown method: ");
    dx__say_str(data, sizeof data, name);
    hermes_refuse_exactly(guest, event->request, DX_CODE_METHOD,
                          "method not found: ", guest->editor->exact ? name : data);
    blame(guest, event, "unknown method");
}

/* The name of the member that is missing, as the phrase has it between quotes. */
static dx_text quoted(const char *phrase) {
    const char *from = strchr(phrase, '"');
    const char *to = from ? strrchr(from + 1, '"') : NULL;
    return to ? (dx_text){from + 1, (size_t)(to - from - 1)} : (dx_text){NULL, 0};
}

/* "Missing required field: format", "format: …": as the document has it in its own sample. */
static void name_field(const dx_misfit *why, char *to, size_t room) {
    dx_text missing = quoted(why->phrase);
    const char *place = why->instance + (why->instance[0] == '/');
    size_t skip = strlen(why->instance);
    const char *reason = why->phrase;
    if (skip && strncmp(reason, why->instance, skip) == 0 && reason[skip] == ':')
        reason += skip + 2;
    to[0] = '\0';
    if (strcmp(why->keyword, "required") == 0 && missing.at) {
        dx__say_str(to, room, "Missing required field: ");
        dx__say_str(to, room, place);
        dx__say_str(to, room, place[0] ? "/" : "");
        dx__say(to, room, missing);
        return;
    }
    dx__say_str(to, room, place[0] ? place : "params");
    dx__say_str(to, room, ": ");
    dx__say_str(to, room, reason);
}

static void refuse_params(dx_hermes_guest *guest, const dx_event *event, const dx_misfit *why) {
    char field[600];
    name_field(why, field, sizeof field);
    if (event->value)
        hermes_refuse_exactly(guest, event->request, DX_CODE_PARAMS, "invalid params: ", field);
    else
        hermes_refuse(guest, event->request, DX_CODE_PARAMS,
                      guest->editor->exact ? "missing params" : "Missing required field: params");
    blame(guest, event, event->value ? field : "missing params");
}

/* One that has failed is not served any more. One that got shutdown is, until it is gone: it may
 * still be at work on a command. */
static bool is_over(dx_hermes_guest *guest, const dx_event *event) {
    if (guest->state == DX_HERMES_FAILED)
        hermes_refuse(guest, event->request, NOT_INITIALISED, guest->why);
    return guest->state == DX_HERMES_FAILED;
}

static void serve(dx_hermes_guest *guest, const dx_event *event) {
    dx_protocol *protocol = guest->editor->protocol;
    const struct route *route = find_route(event->method);
    const dx_method *rule = route ? dx_protocol_find(protocol, event->method) : NULL;
    dx_misfit why;
    if (is_over(guest, event))
        return;
    if (!rule) {
        refuse_method(guest, event);
        return;
    }
    dx_status status = dx_protocol_check(protocol, rule, DX_SIDE_PLUGIN, DX_PART_PARAMS,
                                         event->value, DX_CHECK_OPEN, &why);
    if (status == DX_ERR_NOMEM)
        hermes_refuse_nomem(guest, event->request);
    else if (status != DX_OK)
        refuse_params(guest, event, &why);
    else if (route->serve)
        route->serve(guest, event, event->value);
    else
        hermes_dialog_open(guest, event, route->dialog);
}

/* The real editor serves one request of an extension after the other (H17). */
static void wait_turn(dx_hermes_guest *guest, const dx_event *event) {
    const dx_allocator *alloc = &guest->editor->alloc;
    size_t size = event->message.len;
    if (guest->waiting_count >= WAITING_MAX || guest->waiting_bytes + size > WAITING_BYTES) {
        hermes_refuse(guest, event->request, DX_CODE_BUSY, "too many pending requests");
        return;
    }
    hermes_waiting *waiting = dx__malloc(alloc, sizeof *waiting);
    if (!waiting || dx_link_keep(hermes_guest_link(guest), &waiting->event) != DX_OK) {
        dx__free(alloc, waiting);
        hermes_refuse_nomem(guest, event->request);
        return;
    }
    waiting->next = NULL;
    hermes_waiting **last = &guest->waiting;
    while (*last)
        last = &(*last)->next;
    *last = waiting;
    guest->waiting_count++;
    guest->waiting_bytes += size;
}

static dx_event *take_first(dx_hermes_guest *guest) {
    hermes_waiting *first = guest->waiting;
    dx_event *event = first->event;
    guest->waiting = first->next;
    guest->waiting_count--;
    guest->waiting_bytes -= event->message.len;
    dx__free(&guest->editor->alloc, first);
    return event;
}

void hermes_serve_next(dx_hermes_guest *guest) {
    /* One that is answered at once comes back here: the loop goes on, and nothing piles up. */
    if (guest->serving)
        return;
    guest->serving = true;
    while (guest->waiting && !guest->dialog_count && hermes_guest_link(guest)) {
        guest->kept = take_first(guest);
        serve(guest, guest->kept);
        guest->kept = dx_event_free(guest->kept);
    }
    guest->serving = false;
}

void hermes_serve_forget(dx_hermes_guest *guest) {
    while (guest->waiting)
        dx_event_free(take_first(guest));
}

void hermes_serve(dx_hermes_guest *guest, const dx_event *event) {
    if (event->kind == DX_EVENT_NOTIFICATION) {
        /* A change that was asked for without an id is not made. */
        guest->lost += event->method.len > 7 && memcmp(event->method.at, "editor/", 7) == 0;
        blame(guest, event, "unknown notification");
    } else if (guest->editor->exact && (guest->dialog_count || guest->waiting))
        wait_turn(guest, event);
    else
        serve(guest, event);
}
