/* The published examples: a folder for each definition, with values of it. */
#include "mcp/equal/entries.h"
#include "protocol/files.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

/* Definitions that are no message, and what they are called here. */
static const char *const names[][2] = {
    {"BlobResourceContents", "BlobResource"},
    {"BooleanSchema", "BooleanField"},
    {"CreateMessageRequest", "SamplingAsk"},
    {"CreateMessageRequestParams", "CreateMessageParams"},
    {"ElicitRequest", "ElicitAsk"},
    {"ElicitRequestFormParams", "ElicitForm"},
    {"ElicitRequestURLParams", "ElicitUrl"},
    {"InputRequiredResult", "InputRequired"},
    {"ListRootsRequest", "RootsAsk"},
    {"NumberSchema", "NumberField"},
    {"PaginatedRequestParams", "PageParams"},
    {"StringSchema", "StringField"},
    {"TextResourceContents", "TextResource"},
    {"TitledMultiSelectEnumSchema", "TitledManyField"},
    {"TitledSingleSelectEnumSchema", "TitledEnumField"},
    {"ToolResultContent", "ToolResult"},
    {"ToolUseContent", "ToolUse"},
    {"UntitledMultiSelectEnumSchema", "ManyField"},
    {"UntitledSingleSelectEnumSchema", "EnumField"},
};

/* What a definition is to a request: its params, its result, or the answer with the result. */
static const char *const endings[][2] = {
    {"Params", ""},
    {"Result", "Request"},
    {"ResultResponse", "Request"},
};
enum { WHOLE, PARAMS, RESULT, ANSWER };

static const struct message *with_def(const struct messages *messages, const char *def,
                                      size_t len) {
    for (size_t i = 0; i < messages->count; i++)
        if (strlen(messages->of[i].def) == len && memcmp(messages->of[i].def, def, len) == 0)
            return &messages->of[i];
    return NULL;
}

static const struct message *message_of(const struct messages *messages, const char *type,
                                        int *ret_how) {
    size_t len = strlen(type);
    const struct message *message = with_def(messages, type, len);
    *ret_how = WHOLE;
    for (int i = 0; !message && i < 3; i++) {
        size_t end = strlen(endings[i][0]);
        char def[256];
        if (len < end || strcmp(type + len - end, endings[i][0]) != 0)
            continue;
        snprintf(def, sizeof def, "%.*s%s", (int)(len - end), type, endings[i][1]);
        message = with_def(messages, def, strlen(def));
        *ret_how = PARAMS + i;
    }
    return message;
}

static bool fits_message(const struct ours *ours, const struct message *message, int how,
                         yyjson_val *value) {
    static const char *const places[] = {"params", "", "", "result"};
    const dx_method *method = dx_protocol_find(ours->protocol, dx_str(message->method));
    if (!method ||
        (how == WHOLE && !yyjson_equals_str(yyjson_obj_get(value, "method"), message->method)))
        return false;
    dx_part part = how == WHOLE || how == PARAMS ? DX_PART_PARAMS : DX_PART_RESULT;
    dx_side from = method->from_host ? DX_SIDE_HOST : DX_SIDE_PLUGIN;
    yyjson_val *it = places[how][0] ? yyjson_obj_get(value, places[how]) : value;
    return dx_protocol_check(ours->protocol, method, from, part, it, 0, NULL) == DX_OK;
}

static bool fits_component(const struct ours *ours, const char *name, yyjson_val *value) {
    char place[256];
    snprintf(place, sizeof place, "/components/schemas/%s", name);
    if (!yyjson_ptr_get(dx_protocol_document(ours->protocol), place))
        return false;
    return fits(ours_schema(ours, 0, place), value, ours->check) &&
           fits(ours_schema(ours, 1, place), value, ours->check);
}

/* An error stands alone, or in an answer. */
static bool fits_error(const struct ours *ours, const char *data, yyjson_val *value) {
    yyjson_val *inner = yyjson_obj_get(value, "error");
    yyjson_val *error = inner ? inner : value;
    yyjson_val *code = yyjson_obj_get(error, "code");
    return yyjson_is_int(code) &&
           dx_protocol_error_name(ours->protocol, yyjson_get_sint(code), NULL) &&
           (!data || fits_component(ours, data, yyjson_obj_get(error, "data")));
}

static bool fits_ours(const struct ours *ours, const struct messages *messages, const char *type,
                      yyjson_val *value) {
    int how;
    const struct message *message = message_of(messages, type, &how);
    const char *component = type;
    size_t len = strlen(type);
    if (message && message->method)
        return fits_message(ours, message, how, value);
    if (message || (len > 5 && strcmp(type + len - 5, "Error") == 0))
        return fits_error(ours, message ? message->data : NULL, value);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i][0], type) == 0)
            component = names[i][1];
    return fits_component(ours, component, value);
}

static void check_file(const struct published *published, const struct ours *ours,
                       const struct messages *messages, const char *type, const char *path) {
    yyjson_doc *doc = yyjson_read_file(path, 0, NULL, NULL);
    yyjson_val *value = yyjson_doc_get_root(doc);
    bool theirs =
        value && published_def(published, type) &&
        fits(published_schema(published, AS_PUBLISHED, 0, type, ""), value, published->check);
    if (!theirs)
        failed("%s: does not fit the published schema", path);
    if (!value || !fits_ours(ours, messages, type, value))
        failed("%s: does not fit ours", path);
    yyjson_doc_free(doc);
}

void examples_check(const struct published *published, const struct ours *ours,
                    const struct messages *messages, const char *folder) {
    size_t count = 0;
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        char below[PATH_ROOM];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(below, sizeof below, "%s/%s", folder, entry->d_name);
        char **files = list_folder(below, ".json");
        for (char **it = files; *it; it++, count++) {
            char path[PATH_ROOM + 256];
            snprintf(path, sizeof path, "%s/%s", below, *it);
            check_file(published, ours, messages, entry->d_name, path);
        }
        free_list(files);
    }
    if (dir)
        closedir(dir);
    if (!count)
        failed("%s: no examples", folder);
    printf("%zu examples\n", count);
}
