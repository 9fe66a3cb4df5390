/* What comes from the editor, apart from answers. */
#include "systems/hermes/extension_parts.h"

#include <string.h>

/* Why a message is not taken, and what its sender is told if it waits for an answer. */
typedef struct refusal {
    int64_t code;
    const char *message; /* NULL: the code's own */
    bool is_misfit;      /* of the params */
    dx_misfit why;
} refusal;

dx_text extension_text(yyjson_val *object, const char *name) {
    yyjson_val *value = yyjson_obj_get(object, name);
    return dx_json_string(value);
}

static bool flag(yyjson_val *object, const char *name) {
    return yyjson_is_true(yyjson_obj_get(object, name));
}

/* Judging. */

static bool refuse_it(refusal *ret, int64_t code, const char *message, const char *phrase) {
    *ret = (refusal){.code = code, .message = message};
    dx__say(ret->why.phrase, sizeof ret->why.phrase, dx_str(phrase));
    return false;
}

/* A command was a request once, and editors of that time are still about. */
static bool has_its_kind(const dx_method *rule, bool is_request) {
    return rule->notification != is_request || strcmp(rule->name, "command/execute") == 0;
}

static bool is_taken(dx_hermes_extension *extension, const dx_event *event, const dx_method *rule,
                     bool is_request, refusal *ret) {
    int64_t code = DX_CODE_REQUEST;
    const char *message = NULL;
    if (!rule || !rule->from_host)
        return refuse_it(ret, DX_CODE_METHOD, NULL, "unknown method");
    if (!has_its_kind(rule, is_request))
        return refuse_it(ret, DX_CODE_REQUEST, NULL,
                         is_request ? "it is a notification, not a request"
                                    : "it is a request, not a notification");
    if (dx_protocol_may_send(extension->protocol, extension->state, rule, DX_SIDE_HOST, &code,
                             &message) == DX_LEAVE_NO)
        return refuse_it(ret, code, message, "not allowed in this state");
    if (strcmp(rule->name, "shutdown") == 0)
        return true; /* for whatever reason: an editor kills who refuses to leave */
    *ret = (refusal){.code = DX_CODE_PARAMS, .is_misfit = true};
    dx_status status = dx_protocol_check(extension->protocol, rule, DX_SIDE_HOST, DX_PART_PARAMS,
                                         event->value, DX_CHECK_OPEN, &ret->why);
    if (status == DX_ERR_NOMEM)
        return refuse_it(ret, DX_CODE_INTERNAL, NULL, "out of memory");
    return status == DX_OK;
}

static void move(dx_hermes_extension *extension, const dx_method *rule, dx_move how) {
    extension->state =
        dx_protocol_after(extension->protocol, extension->state, rule, DX_SIDE_HOST, how);
}

/* Answering. */

static yyjson_mut_val *data_of(yyjson_mut_doc *doc, const refusal *no) {
    if (!no->is_misfit)
        return yyjson_mut_str(doc, no->why.phrase);
    char pointer[sizeof no->why.instance + 8] = "/params";
    dx__say(pointer, sizeof pointer, dx_str(no->why.instance));
    yyjson_mut_val *data = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_strcpy(doc, data, "pointer", pointer);
    yyjson_mut_obj_add_str(doc, data, "reason", no->why.phrase);
    return data;
}

/* A request that can't even be refused, for lack of memory, is answered by the link. */
static void refuse(dx_hermes_extension *extension, const dx_event *event, const refusal *no) {
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *data = doc ? data_of(doc, no) : NULL;
    dx_link_refuse(extension->link, event->request, no->code, dx_str(no->message),
                   data ? dx_json_built(data) : dx_json_none());
    yyjson_mut_doc_free(doc);
}

static void succeed(dx_hermes_extension *extension, const dx_event *event) {
    static const char text[] = "{\"success\":true}";
    if (!extension->freed && event->kind == DX_EVENT_REQUEST)
        dx_link_reply(extension->link, event->request,
                      dx_json_checked((dx_text){text, sizeof text - 1}));
}

/* What each message does. */

static const char *or_empty(dx_text text) {
    return text.at ? text.at : "";
}

static void on_initialize(dx_hermes_extension *extension, const dx_event *event,
                          const dx_method *rule) {
    const dx_hermes_extension_config *config = &extension->config;
    dx_hermes_told told = {
        .hermes_version = or_empty(extension_text(event->value, "hermesVersion")),
        .api_version = or_empty(extension_text(event->value, "apiVersion")),
        .data_directory = or_empty(extension_text(event->value, "dataDirectory")),
    };
    dx_status status = dx_link_reply(extension->link, event->request,
                                     dx_json_value(yyjson_doc_get_root(extension->facts)));
    move(extension, rule, status == DX_OK ? DX_MOVE_RESULT : DX_MOVE_ERROR);
    if (status == DX_OK && config->on_start)
        config->on_start(extension, &told, config->user);
}

static void on_shutdown(dx_hermes_extension *extension, const dx_event *event,
                        const dx_method *rule) {
    const dx_hermes_extension_config *config = &extension->config;
    if (config->on_shutdown)
        config->on_shutdown(extension, extension_text(event->value, "reason"), config->user);
    succeed(extension, event);
    if (extension->freed)
        return;
    move(extension, rule, DX_MOVE_RESULT);
    extension->leaving = true;
    dx_link_close(extension->link);
}

static const dx_hermes_command *find_command(const dx_hermes_command *commands, dx_text name) {
    for (; commands && commands->name; commands++)
        if (dx_text_is(name, commands->name))
            return commands;
    return NULL;
}

static void no_command(dx_hermes_extension *extension, const dx_event *event, dx_text name) {
    enum { COMMAND_NOT_FOUND = -32009 };
    refusal no = {.code = COMMAND_NOT_FOUND};
    extension_tell(name, "unknown command");
    dx_protocol_error_name(extension->protocol, COMMAND_NOT_FOUND, &no.message);
    dx__say(no.why.phrase, sizeof no.why.phrase, name);
    if (event->kind == DX_EVENT_REQUEST)
        refuse(extension, event, &no);
}

static void on_command(dx_hermes_extension *extension, const dx_event *event,
                       const dx_method *rule) {
    const dx_hermes_extension_config *config = &extension->config;
    dx_text name = extension_text(event->value, "command");
    const dx_hermes_command *command = find_command(config->commands, name);
    /* A name with a NUL inside is not the string that it begins with. */
    bool is_string = memchr(name.at, '\0', name.len) == NULL;
    (void)rule;
    if (command && command->run)
        command->run(extension, command->name, config->user);
    else if (config->on_command && is_string)
        config->on_command(extension, name.at, config->user);
    else {
        no_command(extension, event, name);
        return;
    }
    succeed(extension, event);
}

static void on_window_closed(dx_hermes_extension *extension, const dx_event *event,
                             const dx_method *rule) {
    const dx_hermes_extension_config *config = &extension->config;
    (void)rule;
    if (config->on_window_closed)
        config->on_window_closed(extension, extension_text(event->value, "windowId"),
                                 extension_text(event->value, "reason"), config->user);
}

static void on_news(dx_hermes_extension *extension, const dx_event *event, const dx_method *rule) {
    const dx_hermes_extension_config *config = &extension->config;
    dx_hermes_on_news tell = strcmp(rule->name, "message/changed") == 0  ? config->on_changed
                             : strcmp(rule->name, "message/opened") == 0 ? config->on_opened
                                                                         : config->on_saved;
    dx_hermes_news news = {
        .message = extension_text(event->value, "message"),
        .format = extension_text(event->value, "format"),
        .file = extension_text(event->value, "filePath"),
        .has_file = flag(event->value, "hasFile"),
        .is_new = flag(event->value, "isNew"),
        .save_as = flag(event->value, "saveAs"),
    };
    news.has_file = news.has_file || news.file.at;
    if (tell)
        tell(extension, &news, config->user);
}

typedef void (*taker)(dx_hermes_extension *extension, const dx_event *event, const dx_method *rule);

static taker find_taker(const char *method) {
    static const struct {
        const char *method;
        taker take;
    } rows[] = {
        {"initialize", on_initialize},   {"shutdown", on_shutdown},
        {"command/execute", on_command}, {"window/closed", on_window_closed},
        {"message/changed", on_news},    {"message/opened", on_news},
        {"message/saved", on_news},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].method, method) == 0)
            return rows[i].take;
    return NULL;
}

static void on_message(dx_hermes_extension *extension, const dx_event *event) {
    bool is_request = event->kind == DX_EVENT_REQUEST;
    const dx_method *rule = dx_protocol_find(extension->protocol, event->method);
    refusal no;
    if (is_taken(extension, event, rule, is_request, &no)) {
        taker take = find_taker(rule->name);
        move(extension, rule, DX_MOVE_SENT);
        if (take)
            take(extension, event, rule);
        return;
    }
    if (is_request)
        refuse(extension, event, &no);
    else if (rule)
        extension_tell(event->method, no.why.phrase);
    /* An editor whose params are wrong goes on as if they had been taken, and so do we. */
    if (no.is_misfit) {
        move(extension, rule, DX_MOVE_SENT);
        if (is_request)
            move(extension, rule, DX_MOVE_ERROR);
    }
}

void extension_on_event(dx_link *link, const dx_event *event, void *user) {
    dx_hermes_extension *extension = user;
    (void)link;
    extension_enter(extension);
    switch (event->kind) {
    case DX_EVENT_REQUEST:
    case DX_EVENT_NOTIFICATION:
        on_message(extension, event);
        break;
    case DX_EVENT_VIOLATION:
        extension_tell(dx_str("the editor"), event->error.phrase);
        break;
    case DX_EVENT_STRAY:
        extension_tell(dx_str("the editor sent text that is not a message"), "");
        break;
    default:
        break;
    }
    extension_leave(extension);
}
