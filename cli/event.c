#include "cli/event.h"

#include "cli/say.h"

#include <stdlib.h>

yyjson_mut_doc *cli_event_new(const char *name) {
    yyjson_mut_doc *event = yyjson_mut_doc_new(NULL);
    if (event)
        yyjson_mut_doc_set_root(event, yyjson_mut_obj(event));
    cli_event_add(event, "event", name);
    return event;
}

static yyjson_mut_val *root_of(yyjson_mut_doc *event) {
    return event ? yyjson_mut_doc_get_root(event) : NULL;
}

void cli_event_add(yyjson_mut_doc *event, const char *key, const char *text) {
    if (text)
        cli_add_text(event, root_of(event), key, dx_str(text));
    else
        yyjson_mut_obj_add_null(event, root_of(event), key);
}

void cli_event_add_text(yyjson_mut_doc *event, const char *key, dx_text text) {
    if (!cli_add_text(event, root_of(event), key, text))
        cli_event_add_bool(event, "lossy", 1);
}

void cli_event_add_bool(yyjson_mut_doc *event, const char *key, int value) {
    yyjson_mut_obj_add_bool(event, root_of(event), key, value != 0);
}

void cli_event_add_number(yyjson_mut_doc *event, const char *key, uint64_t number) {
    yyjson_mut_obj_add_uint(event, root_of(event), key, number);
}

void cli_event_add_value(yyjson_mut_doc *event, const char *key, yyjson_mut_val *value) {
    yyjson_mut_obj_add_val(event, root_of(event), key, value);
}

void cli_event_add_json(yyjson_mut_doc *event, const char *key, dx_text json) {
    yyjson_mut_val *value = json.len ? yyjson_mut_rawncpy(event, json.at, json.len) : NULL;
    cli_event_add_value(event, key, value ? value : yyjson_mut_null(event));
}

void cli_event_put(yyjson_mut_doc *event) {
    size_t len = 0;
    char *text = event ? yyjson_mut_write(event, 0, &len) : NULL;
    if (text)
        cli_put_line(stdout, (dx_text){text, len});
    else
        fputs("{\"event\":\"lost\"}", stdout);
    putchar('\n');
    cli_flush();
    free(text);
    yyjson_mut_doc_free(event);
}

void cli_event_put_summary(const char *key, const char *peer, const char *text) {
    yyjson_mut_doc *event = cli_event_new("suppressed");
    if (key)
        cli_event_add(event, key, peer);
    cli_event_add(event, "text", text);
    cli_event_put(event);
}
