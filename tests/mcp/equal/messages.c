/* Which messages a published schema has. */
#include "mcp/equal/equal.h"
#include "protocol/files.h"

#include <stdlib.h>
#include <string.h>

/* Requests whose answer may also be that a task was made of them; the schema says so in words. */
static const char *const tasked[] = {"CallToolRequest", "CreateMessageRequest", "ElicitRequest"};

/* Errors with data of their own, and what that is called in our documents. */
static const char *const errors[][2] = {
    {"URLElicitationRequiredError", "UrlElicitationData"},
    {"MissingRequiredClientCapabilityError", "MissingCapabilityData"},
    {"UnsupportedProtocolVersionError", "UnsupportedVersionData"},
};

enum { NAMES_MAX = 64 };
struct names {
    const char *of[NAMES_MAX];
    size_t count;
};

static const char *name_of(yyjson_val *reference) {
    const char *text = yyjson_get_str(yyjson_obj_get(reference, "$ref"));
    return text ? strrchr(text, '/') + 1 : NULL;
}

static const char *method_of(yyjson_val *def) {
    return yyjson_get_str(yyjson_ptr_get(def, "/properties/method/const"));
}

static void add_name(struct names *names, const char *name) {
    if (name && names->count < NAMES_MAX)
        names->of[names->count++] = name;
    else
        failed("too many names, or none");
}

static bool has_name(const struct names *names, const char *name) {
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->of[i], name) == 0)
            return true;
    return false;
}

/* A union of one may be written as a reference, or as a copy of that one. */
static struct names members(const struct published *published, const char *name) {
    struct names names = {.count = 0};
    yyjson_val *def = published_def(published, name);
    yyjson_arr_iter iter = yyjson_arr_iter_with(yyjson_obj_get(def, "anyOf"));
    for (yyjson_val *it; (it = yyjson_arr_iter_next(&iter));)
        add_name(&names, name_of(it));
    if (!def || names.count)
        return names;
    if (name_of(def)) {
        add_name(&names, name_of(def));
        return names;
    }
    yyjson_obj_iter all = yyjson_obj_iter_with(published->defs);
    for (yyjson_val *key; (key = yyjson_obj_iter_next(&all));) {
        const char *method = method_of(yyjson_obj_iter_get_val(key));
        if (method && !yyjson_equals_str(key, name) && strcmp(method, method_of(def)) == 0)
            add_name(&names, yyjson_get_str(key));
    }
    if (names.count != 1)
        failed("%s: %s stands for %zu definitions", published->revision, name, names.count);
    return names;
}

static struct message *message_of(struct messages *messages, const char *method, const char *def) {
    for (size_t i = 0; i < messages->count; i++)
        if (messages->of[i].method && strcmp(messages->of[i].method, method) == 0)
            return &messages->of[i];
    if (messages->count == MESSAGES_MAX)
        abort();
    messages->of[messages->count] = (struct message){.method = method, .def = def};
    return &messages->of[messages->count++];
}

static void add_union(const struct published *published, const char *name, dx_side from,
                      bool notification, struct messages *messages) {
    struct names names = members(published, name);
    for (size_t i = 0; i < names.count; i++) {
        const char *method = method_of(published_def(published, names.of[i]));
        if (!method) {
            failed("%s: %s has no method", published->revision, names.of[i]);
            continue;
        }
        struct message *message = message_of(messages, method, names.of[i]);
        *(from == DX_SIDE_HOST ? &message->from_host : &message->from_plugin) = true;
        message->notification = notification;
    }
}

static void add_result(struct message *message, const char *name) {
    if (!name || message->result_count == RESULTS_MAX)
        abort();
    message->results[message->result_count++] = name;
}

/* Later revisions say which results answer a request; before, their names do. */
static void find_results(const struct published *published, struct message *message) {
    char name[256];
    size_t stem = strlen(message->def) - strlen("Request");
    snprintf(name, sizeof name, "%.*sResultResponse", (int)stem, message->def);
    yyjson_val *result = yyjson_ptr_get(published_def(published, name), "/properties/result");
    yyjson_arr_iter iter = yyjson_arr_iter_with(yyjson_obj_get(result, "anyOf"));
    for (yyjson_val *it; (it = yyjson_arr_iter_next(&iter));)
        add_result(message, name_of(it));
    if (result && !message->result_count)
        add_result(message, name_of(result));
    name[stem + strlen("Result")] = '\0';
    yyjson_obj_iter all = yyjson_obj_iter_with(published->defs);
    for (yyjson_val *key; !result && (key = yyjson_obj_iter_next(&all));)
        if (yyjson_equals_str(key, name))
            add_result(message, yyjson_get_str(key));
    if (!message->result_count)
        add_result(message, "EmptyResult");
    for (size_t i = 0; i < sizeof tasked / sizeof *tasked; i++)
        if (strcmp(tasked[i], message->def) == 0 && published_def(published, "CreateTaskResult"))
            add_result(message, "CreateTaskResult");
}

/* Every result is that of some request. */
static void check_results(const struct published *published, const char *name,
                          const struct names *claimed) {
    struct names names = members(published, name);
    for (size_t i = 0; i < names.count; i++)
        if (!has_name(claimed, names.of[i]))
            failed("%s: no request has the result %s", published->revision, names.of[i]);
}

void messages_find(const struct published *published, struct messages *messages) {
    messages->count = 0;
    add_union(published, "ClientRequest", DX_SIDE_HOST, false, messages);
    add_union(published, "ServerRequest", DX_SIDE_PLUGIN, false, messages);
    add_union(published, "ClientNotification", DX_SIDE_HOST, true, messages);
    add_union(published, "ServerNotification", DX_SIDE_PLUGIN, true, messages);
    /* The plain Result is what they have in common. */
    struct names claimed = {.of = {"Result"}, .count = 1};
    for (size_t i = 0; i < messages->count; i++) {
        struct message *message = &messages->of[i];
        if (!message->notification)
            find_results(published, message);
        for (size_t j = 0; j < message->result_count; j++)
            if (!has_name(&claimed, message->results[j]))
                add_name(&claimed, message->results[j]);
    }
    check_results(published, "ClientResult", &claimed);
    check_results(published, "ServerResult", &claimed);
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (published_def(published, errors[i][0]) && messages->count < MESSAGES_MAX)
            messages->of[messages->count++] =
                (struct message){.def = errors[i][0], .data = errors[i][1]};
}
