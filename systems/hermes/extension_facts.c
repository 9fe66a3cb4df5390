/* What initialize is answered with. */
#include "systems/hermes/extension_parts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Builds on as long as all went well: each returns whether it did. */
static bool add(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *name, const char *text) {
    return !text || yyjson_mut_obj_add_str(doc, object, name, text);
}

static bool add_authors(yyjson_mut_doc *doc, yyjson_mut_val *root, const char *const *authors) {
    if (!authors)
        return true;
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, root, "authors");
    bool done = list;
    for (; done && *authors; authors++)
        done = yyjson_mut_arr_add_str(doc, list, *authors);
    return done;
}

static bool add_commands(yyjson_mut_doc *doc, yyjson_mut_val *root,
                         const dx_hermes_command *commands) {
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, root, "commands");
    bool done = list;
    for (; done && commands && commands->name; commands++)
        done = yyjson_mut_arr_add_str(doc, list, commands->name);
    return done;
}

static bool add_options(yyjson_mut_doc *doc, yyjson_mut_val *event, dx_hl7_format format) {
    yyjson_mut_val *options = yyjson_mut_obj_add_obj(doc, event, "options");
    return options && yyjson_mut_obj_add_true(doc, options, "includeContent") &&
           yyjson_mut_obj_add_str(doc, options, "format", dx_hl7_format_name(format));
}

/* An editor refuses events that it does not know: a revision without them is not asked for any. */
static bool add_events(yyjson_mut_doc *doc, yyjson_mut_val *root, dx_protocol *protocol,
                       const dx_hermes_extension_config *config) {
    const struct {
        const char *name;
        bool wanted;
        bool with_content;
    } rows[] = {
        {"message/changed", config->on_changed, config->changes_with_content},
        {"message/opened", config->on_opened, false},
        {"message/saved", config->on_saved, false},
    };
    yyjson_mut_val *list = NULL;
    bool done = true;
    for (size_t i = 0; done && i < sizeof rows / sizeof *rows; i++) {
        if (!rows[i].wanted || !dx_protocol_find(protocol, dx_str(rows[i].name)))
            continue;
        list = list ? list : yyjson_mut_obj_add_arr(doc, root, "events");
        yyjson_mut_val *event = list ? yyjson_mut_arr_add_obj(doc, list) : NULL;
        done = event && yyjson_mut_obj_add_str(doc, event, "name", rows[i].name) &&
               (!rows[i].with_content || add_options(doc, event, config->changes_format));
    }
    return done;
}

static bool add_buttons(yyjson_mut_doc *doc, yyjson_mut_val *root,
                        const dx_hermes_button *buttons) {
    if (!buttons)
        return true;
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, root, "toolbarButtons");
    bool done = list;
    for (; done && buttons->id; buttons++) {
        yyjson_mut_val *button = yyjson_mut_arr_add_obj(doc, list);
        done = button && add(doc, button, "id", buttons->id) &&
               add(doc, button, "label", buttons->label) &&
               add(doc, button, "icon", buttons->icon) &&
               add(doc, button, "command", buttons->command) &&
               add(doc, button, "group", buttons->group);
    }
    return done;
}

static bool add_all(yyjson_mut_doc *doc, dx_protocol *protocol,
                    const dx_hermes_extension_config *config, yyjson_val *schema) {
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    yyjson_mut_doc_set_root(doc, root);
    if (!root || !add(doc, root, "name", config->name) ||
        !add(doc, root, "version", config->version) ||
        !add(doc, root, "description", config->description) ||
        !add(doc, root, "homepage", config->homepage) || !add_authors(doc, root, config->authors))
        return false;
    yyjson_mut_val *capabilities = yyjson_mut_obj_add_obj(doc, root, "capabilities");
    if (!capabilities || !add_commands(doc, capabilities, config->commands) ||
        !add_events(doc, capabilities, protocol, config) ||
        (schema && !yyjson_mut_obj_add_true(doc, capabilities, "schemaProvider")) ||
        !add_buttons(doc, root, config->buttons))
        return false;
    yyjson_mut_val *copy = schema ? yyjson_val_mut_copy(doc, schema) : NULL;
    return !schema || (copy && yyjson_mut_obj_add_val(doc, root, "schema", copy));
}

static dx_status flaw(dx_error *reterr, const char *place, size_t offset, const char *phrase) {
    *reterr = (dx_error){.fault = DX_FAULT_START, .offset = offset};
    dx__say(reterr->place, sizeof reterr->place, dx_str(place));
    dx__say(reterr->phrase, sizeof reterr->phrase, dx_str("the extension's configuration: "));
    dx__say(reterr->phrase, sizeof reterr->phrase, dx_str(phrase));
    return DX_ERR_INVALID;
}

static dx_status read_schema(const char *text, yyjson_doc **ret_doc, dx_error *reterr) {
    yyjson_read_err error = {0};
    *ret_doc = NULL;
    if (!text)
        return DX_OK;
    /* Without YYJSON_READ_INSITU the text is only read. */
    *ret_doc =
        yyjson_read_opts((char *)(uintptr_t)text, strlen(text), YYJSON_READ_NOFLAG, NULL, &error);
    if (*ret_doc)
        return DX_OK;
    if (error.code == YYJSON_READ_ERROR_MEMORY_ALLOCATION)
        return DX_ERR_NOMEM;
    return flaw(reterr, "schema", error.pos, "schema is not valid JSON");
}

static dx_status check(dx_protocol *protocol, yyjson_doc *doc, dx_error *reterr) {
    dx_misfit misfit;
    const dx_method *rule = dx_protocol_find(protocol, dx_str("initialize"));
    dx_status status = dx_protocol_check(protocol, rule, DX_SIDE_HOST, DX_PART_RESULT,
                                         yyjson_doc_get_root(doc), 0, &misfit);
    if (status == DX_OK || status == DX_ERR_NOMEM)
        return status;
    return flaw(reterr, misfit.instance, 0, misfit.phrase);
}

/* Writing it once shows whether every text in it is UTF-8. */
static dx_status check_text(yyjson_doc *doc, dx_error *reterr) {
    dx_buf text;
    dx_buf_init(&text, SIZE_MAX / 4, NULL);
    dx_status status = dx_json_write(&text, dx_json_value(yyjson_doc_get_root(doc)));
    dx_buf_done(&text);
    return status == DX_ERR_INVALID
               ? flaw(reterr, "", 0, "it contains text that is not valid UTF-8")
               : status;
}

dx_status extension_facts(dx_protocol *protocol, const dx_hermes_extension_config *config,
                          yyjson_doc **ret_doc, dx_error *reterr) {
    yyjson_doc *schema;
    dx_status status = read_schema(config->schema, &schema, reterr);
    if (status != DX_OK)
        return status;
    yyjson_mut_doc *built = yyjson_mut_doc_new(NULL);
    bool done = built && add_all(built, protocol, config, yyjson_doc_get_root(schema));
    yyjson_doc *doc = done ? yyjson_mut_doc_imut_copy(built, NULL) : NULL;
    yyjson_mut_doc_free(built);
    yyjson_doc_free(schema);
    if (!doc)
        return DX_ERR_NOMEM;
    status = check(protocol, doc, reterr);
    if (status == DX_OK)
        status = check_text(doc, reterr);
    if (status != DX_OK) {
        yyjson_doc_free(doc);
        return status;
    }
    *ret_doc = doc;
    return DX_OK;
}
