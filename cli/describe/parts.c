#include "cli/describe/parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *cli_direction(const dx_protocol_facts *facts, bool by_host, bool by_plugin) {
    char *text = NULL;
    const char *first = by_host ? facts->host : facts->plugin;
    const char *other = by_host ? facts->plugin : facts->host;
    const char *arrow = by_host && by_plugin ? "↔" : "→";
    return asprintf(&text, "%s %s %s", first, arrow, other) < 0 ? NULL : text;
}

bool cli_sends(const dx_method *method, dx_side side) {
    return side == DX_SIDE_HOST ? method->from_host : method->from_plugin;
}

const char *cli_sender(const dx_method *method) {
    return !method->from_plugin ? "host" : !method->from_host ? "plugin" : "both";
}

const char *cli_late_name(dx_late late) {
    return late == DX_LATE_KILL ? "kill" : late == DX_LATE_CANCEL ? "cancel" : "fail";
}

const char *cli_lenient_name(const dx_protocol_facts *facts, size_t index) {
    static const struct {
        unsigned flag;
        const char *name;
    } known[] = {
        {DX_LENIENT_LF, "lf"},
        {DX_LENIENT_STRAY, "stray"},
        {DX_LENIENT_PLUS, "plus"},
        {DX_LENIENT_LAST_LENGTH, "last-length"},
        {DX_LENIENT_NO_VERSION, "no-version"},
        {DX_LENIENT_ID_STRING, "id-string"},
        {DX_LENIENT_ID_VALUE, "id-value"},
        {DX_LENIENT_NULL_PARAMS, "null-params"},
        {DX_LENIENT_FIELD_NAME, "field-name"},
        {DX_LENIENT_TAB, "tab"},
        {DX_LENIENT_NULL_ID, "null-id"},
        {DX_LENIENT_VALUE, "value"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (facts->lenient & known[i].flag && index-- == 0)
            return known[i].name;
    return NULL;
}

const char *cli_ids_name(dx_ids ids) {
    return ids == DX_IDS_UUID ? "uuid" : ids == DX_IDS_RANDOM ? "random" : "counter";
}

yyjson_val *cli_method_object(const dx_protocol *protocol, const dx_method *method) {
    return yyjson_arr_get(yyjson_obj_get(dx_protocol_document(protocol), "methods"), method->index);
}

yyjson_val *cli_variant(const dx_protocol *protocol, const dx_method *method, dx_side from) {
    yyjson_val *duplex = yyjson_obj_get(cli_method_object(protocol, method), "x-duplex");
    return yyjson_obj_get(yyjson_obj_get(duplex, "variants"),
                          from == DX_SIDE_HOST ? "host" : "plugin");
}

const char *cli_summary(const dx_protocol *protocol, const dx_method *method, dx_side from) {
    const char *own =
        yyjson_get_str(yyjson_obj_get(cli_variant(protocol, method, from), "summary"));
    return own ? own : method->summary;
}

yyjson_val *cli_schema_of(const dx_protocol *protocol, const dx_method *method, dx_side from,
                          dx_part part) {
    yyjson_val *object = cli_method_object(protocol, method);
    bool params = part == DX_PART_PARAMS;
    yyjson_val *own =
        yyjson_obj_get(cli_variant(protocol, method, from), params ? "params" : "result");
    if (own)
        return own;
    return params ? yyjson_obj_get(yyjson_obj_get(object, "x-duplex"), "params")
                  : yyjson_obj_get(yyjson_obj_get(object, "result"), "schema");
}

bool cli_sides_differ(const dx_protocol *protocol, const dx_method *method) {
    enum { HOST = DX_SIDE_HOST, PLUGIN = DX_SIDE_PLUGIN };
    return method->from_host && method->from_plugin &&
           (cli_variant(protocol, method, DX_SIDE_HOST) ||
            cli_variant(protocol, method, DX_SIDE_PLUGIN) ||
            method->deadline_ms[HOST] != method->deadline_ms[PLUGIN] ||
            method->late[HOST] != method->late[PLUGIN]);
}

static int hex(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

yyjson_val *cli_resolve(yyjson_val *root, const char *reference) {
    if (!reference || strncmp(reference, "#/", 2) != 0)
        return NULL;
    char *pointer = malloc(strlen(reference));
    size_t len = 0;
    /* A pointer in a URI may have characters as %41. */
    for (const char *at = reference + 1; pointer && *at; at++) {
        bool coded = *at == '%' && hex(at[1]) >= 0 && hex(at[2]) >= 0;
        pointer[len++] = coded ? (char)(hex(at[1]) << 4 | hex(at[2])) : *at;
        at += coded ? 2 : 0;
    }
    yyjson_val *target = pointer ? yyjson_ptr_getn(root, pointer, len) : NULL;
    free(pointer);
    return target;
}

const char *cli_reference_name(const char *reference) {
    const char *slash = strrchr(reference, '/');
    return slash && slash[1] ? slash + 1 : reference;
}

yyjson_val *cli_error_of(yyjson_val *root, yyjson_val *item) {
    yyjson_val *reference = yyjson_obj_get(item, "$ref");
    return reference ? cli_resolve(root, yyjson_get_str(reference)) : item;
}
