/* `duplex reginald plugins`: what there is, and what failed. */
#include "cli/event.h"
#include "systems/reginald/command/settings.h"
#include "systems/reginald/command/work.h"

#include "cli/say.h"

#include <string.h>

enum { WIDEST = 32 };

static void widen(size_t *width, const char *text) {
    size_t len = strlen(text);
    if (len > *width)
        *width = len < WIDEST ? len : WIDEST;
}

static void put_cell(const char *text, size_t width) {
    size_t len = strlen(text);
    cli_put_safe(stdout, dx_str(text));
    printf("%*s", (int)(len < width ? width - len : 0) + 2, "");
}

/* "commands: sleep, wake". */
static void put_offers(const struct work *work, const dx_reginald_guest *guest, int is_task,
                       bool *any) {
    const dx_reginald_offer *offer;
    bool first = true;
    for (size_t i = 0; (offer = dx_reginald_offer_at(work->host, i)); i++) {
        if (offer->guest != guest || !offer->is_task != !is_task)
            continue;
        if (first)
            printf("%s%s: ", *any ? "; " : "", is_task ? "tasks" : "commands");
        else
            fputs(", ", stdout);
        cli_put_safe(stdout, dx_str(offer->name));
        first = false;
        *any = true;
    }
}

static void put_row(const struct work *work, const dx_reginald_guest *guest, size_t name,
                    size_t version) {
    dx_reginald_state state = dx_reginald_guest_state(guest);
    bool failed = state == DX_REGINALD_FAILED;
    bool any = false;
    put_cell(dx_reginald_guest_name(guest), name);
    put_cell(dx_reginald_guest_version(guest), version);
    printf("%s%-6s%s  ", cli_paint(stdout, failed ? CLI_RED : CLI_GREEN), crew_state_name(state),
           cli_paint(stdout, CLI_PLAIN));
    if (failed) {
        cli_put_safe(stdout, dx_str(dx_reginald_guest_why(guest)));
    } else {
        put_offers(work, guest, 0, &any);
        put_offers(work, guest, 1, &any);
        if (!any)
            fputs("no commands or tasks", stdout);
    }
    putchar('\n');
}

static void put_table(const struct work *work) {
    const dx_reginald_guest *guest;
    size_t name = 4;
    size_t version = 5;
    for (size_t i = 0; (guest = dx_reginald_guest_at(work->host, i)); i++) {
        widen(&name, dx_reginald_guest_name(guest));
        widen(&version, dx_reginald_guest_version(guest));
    }
    for (size_t i = 0; (guest = dx_reginald_guest_at(work->host, i)); i++)
        put_row(work, guest, name, version);
}

static void add_text(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key,
                     const char *text) {
    if (text && *text)
        cli_add_text(doc, object, key, dx_str(text));
}

static void add_default(yyjson_mut_doc *doc, yyjson_mut_val *object,
                        const dx_reginald_value *value) {
    if (value->type == DX_REGINALD_BOOL)
        yyjson_mut_obj_add_bool(doc, object, "default", value->number != 0);
    else if (value->type == DX_REGINALD_INT)
        yyjson_mut_obj_add_sint(doc, object, "default", value->number);
    else
        cli_add_text(doc, object, "default", dx_str(value->text ? value->text : ""));
}

static yyjson_mut_val *settings_json(yyjson_mut_doc *doc, const dx_reginald_entry *entries,
                                     const char *scope) {
    yyjson_mut_val *list = yyjson_mut_arr(doc);
    for (; entries && entries->value.key; entries++) {
        yyjson_mut_val *one = yyjson_mut_arr_add_obj(doc, list);
        char variable[256];
        char letter[2] = {entries->shorthand, '\0'};
        settings_variable(scope, entries, variable);
        add_text(doc, one, "key", entries->value.key);
        yyjson_mut_obj_add_str(doc, one, "type", settings_type(entries->value.type));
        add_default(doc, one, &entries->value);
        if (entries->has_flag) {
            add_text(doc, one, "flag", flags_name(entries));
            add_text(doc, one, "shorthand", letter);
        }
        add_text(doc, one, "usage", entries->usage);
        add_text(doc, one, "variable", variable);
    }
    return list;
}

static yyjson_mut_val *offers_json(const struct work *work, yyjson_mut_doc *doc,
                                   const dx_reginald_guest *guest, int is_task) {
    const dx_reginald_offer *offer;
    yyjson_mut_val *list = yyjson_mut_arr(doc);
    for (size_t i = 0; (offer = dx_reginald_offer_at(work->host, i)); i++) {
        if (offer->guest != guest || !offer->is_task != !is_task)
            continue;
        yyjson_mut_val *one = yyjson_mut_arr_add_obj(doc, list);
        add_text(doc, one, is_task ? "type" : "name", offer->name);
        add_text(doc, one, "usage", offer->usage);
        yyjson_mut_obj_add_val(doc, one, "settings",
                               settings_json(doc, offer->settings, is_task ? NULL : offer->name));
    }
    return list;
}

static void put_json(const struct work *work, const dx_reginald_guest *guest) {
    yyjson_mut_doc *event = cli_event_new("plugin");
    const char *why = dx_reginald_guest_why(guest);
    const char *name = dx_reginald_guest_name(guest);
    cli_event_add(event, "plugin", name);
    cli_event_add(event, "version", dx_reginald_guest_version(guest));
    cli_event_add(event, "path", dx_reginald_guest_path(guest));
    cli_event_add(event, "state", crew_state_name(dx_reginald_guest_state(guest)));
    if (*why)
        cli_event_add(event, "why", why);
    if (event) {
        cli_event_add_value(event, "settings",
                            settings_json(event, dx_reginald_guest_settings(guest), name));
        cli_event_add_value(event, "commands", offers_json(work, event, guest, 0));
        cli_event_add_value(event, "tasks", offers_json(work, event, guest, 1));
    }
    cli_event_put(event);
}

/* A plugin of a folder may be broken, but one that was named was meant to work. */
static bool has_named_failed(const struct work *work) {
    const cli_list *paths = &work->options->plugins;
    const dx_reginald_guest *guest;
    for (size_t i = 0; (guest = dx_reginald_guest_at(work->host, i)); i++)
        for (size_t k = 0; k < paths->count; k++)
            if (dx_reginald_guest_state(guest) == DX_REGINALD_FAILED &&
                strcmp(dx_reginald_guest_path(guest), paths->at[k]) == 0)
                return true;
    return false;
}

int plugins_run(struct work *work) {
    const dx_reginald_guest *guest;
    int code = flags_check_used(&work->flags);
    if (code != CLI_OK)
        return code;
    if (!cli_voice.json)
        put_table(work);
    for (size_t i = 0; cli_voice.json && (guest = dx_reginald_guest_at(work->host, i)); i++)
        put_json(work, guest);
    if (!dx_reginald_guest_at(work->host, 0))
        cli_note("no plugins found");
    /* Whoever meant that finds out here why it did not run. */
    const dx_reginald_offer *shadowed = dx_reginald_find(work->host, 0, dx_str("plugins"));
    if (shadowed)
        cli_warn("the plugin %s has a command 'plugins', which cannot be run: that name lists the"
                 " plugins",
                 dx_reginald_guest_name(shadowed->guest));
    return has_named_failed(work) ? CLI_NO_START : CLI_OK;
}
