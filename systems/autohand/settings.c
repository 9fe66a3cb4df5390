/* What the configuration file says. It is checked as a whole before anything of it is taken. */
#include "systems/autohand/guard.h"

#include <duplex/rpc.h>

#include <stdio.h>

enum { DEPTH_MAX = 64, TEXT_MAX = 4 << 20 };

/* The members that mean something here. The file belongs to others, too: what else is in it is let
 * pass. */
static const char schema_text[] =
    "{\"type\":\"object\",\"properties\":{"
    "\"provider\":{\"type\":\"string\"},"
    "\"model\":{\"type\":\"string\"},"
    "\"features\":{\"type\":\"object\",\"properties\":{"
    "\"readBeforeWrite\":{\"type\":\"boolean\"}}},"
    "\"permissions\":{\"type\":\"object\",\"properties\":{"
    "\"mode\":{\"enum\":[\"interactive\",\"external\",\"unrestricted\",\"restricted\"]},"
    "\"allow\":{\"$ref\":\"#/$defs/texts\"},\"deny\":{\"$ref\":\"#/$defs/texts\"},"
    "\"allowList\":{\"$ref\":\"#/$defs/texts\"},\"denyList\":{\"$ref\":\"#/$defs/texts\"},"
    "\"whitelist\":{\"$ref\":\"#/$defs/texts\"},\"blacklist\":{\"$ref\":\"#/$defs/texts\"},"
    "\"rules\":{\"type\":\"array\",\"maxItems\":1000,\"items\":{\"type\":\"object\","
    "\"required\":[\"tool\",\"action\"],\"properties\":{\"tool\":{\"$ref\":\"#/$defs/text\"},"
    "\"pattern\":{\"$ref\":\"#/$defs/text\"},"
    "\"action\":{\"enum\":[\"allow\",\"deny\",\"prompt\",\"ask\"]}}}}}},"
    "\"hooks\":{\"type\":\"object\",\"properties\":{\"enabled\":{\"type\":\"boolean\"},"
    "\"hooks\":{\"type\":\"array\",\"maxItems\":1000,\"items\":{\"type\":\"object\","
    "\"required\":[\"event\",\"command\"],\"properties\":{\"event\":{\"$ref\":\"#/$defs/text\"},"
    "\"command\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":65536},"
    "\"description\":{\"type\":\"string\"},\"enabled\":{\"type\":\"boolean\"},"
    "\"timeout\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":3600000},"
    "\"async\":{\"type\":\"boolean\"},\"matcher\":{\"type\":\"string\",\"maxLength\":1000},"
    "\"filter\":{\"type\":\"object\",\"properties\":{\"tool\":{\"$ref\":\"#/$defs/texts\"},"
    "\"path\":{\"$ref\":\"#/$defs/texts\"}}}}}}}}},"
    "\"$defs\":{\"text\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":1000},"
    "\"texts\":{\"type\":\"array\",\"maxItems\":1000,\"items\":{\"$ref\":\"#/$defs/text\"}}}}";

dx_status dx__autohand_settings_fail(dx_error *reterr, const char *what) {
    if (reterr) {
        *reterr = (dx_error){.fault = DX_FAULT_PARAMS_FIT, .place = "settings"};
        dx__say_str(reterr->phrase, sizeof reterr->phrase, "settings: ");
        dx__say_str(reterr->phrase, sizeof reterr->phrase, what);
    }
    return DX_ERR_INVALID;
}

static dx_status fail_json(dx_error *reterr, dx_text text, dx_fault fault, size_t at) {
    size_t line = 1;
    for (size_t i = 0; i < at && i < text.len; i++)
        line += text.at[i] == '\n' ? 1 : 0;
    char digits[24];
    size_t used = sizeof digits - 1;
    digits[used] = '\0';
    for (; line; line /= 10)
        digits[--used] = (char)('0' + line % 10);
    (void)dx__autohand_settings_fail(reterr, "invalid JSON at line ");
    if (reterr) {
        reterr->fault = fault;
        reterr->offset = at;
        dx__say_str(reterr->phrase, sizeof reterr->phrase, digits + used);
    }
    return DX_ERR_INVALID;
}

static dx_status check(const dx_allocator *alloc, yyjson_val *schema_value, yyjson_val *value,
                       dx_misfit *misfit) {
    dx_schemas *schemas = NULL;
    dx_schema *schema = NULL;
    dx_check *room = NULL;
    dx_schemas_config schemas_config = dx_schemas_defaults();
    dx_check_config check_config = dx_check_defaults();
    schemas_config.allocator = check_config.allocator = alloc;
    dx_status status = dx_schemas_new(&schemas_config, &schemas);
    if (status == DX_OK)
        status = dx_schemas_add(schemas, dx_str("settings:"), schema_value, misfit);
    if (status == DX_OK)
        status = dx_schemas_compile(schemas, dx_str("settings:"), &schema, misfit);
    if (status == DX_OK)
        status = dx_check_new(&check_config, &room);
    if (status == DX_OK)
        status = dx_schema_check(schema, value, 0, room, misfit);
    dx_check_free(room);
    dx_schemas_free(schemas);
    return status;
}

static dx_status check_shape(const dx_allocator *alloc, yyjson_val *value, dx_error *reterr) {
    yyjson_alc alc = dx__autohand_guard_alc(alloc);
    dx_misfit misfit = {0};
    yyjson_doc *doc =
        yyjson_read_opts((char *)(uintptr_t)schema_text, sizeof schema_text - 1, 0, &alc, NULL);
    if (!doc)
        return DX_ERR_NOMEM;
    dx_status status = check(alloc, yyjson_doc_get_root(doc), value, &misfit);
    yyjson_doc_free(doc);
    return status == DX_OK || status == DX_ERR_NOMEM
               ? status
               : dx__autohand_settings_fail(reterr, misfit.phrase);
}

/* Of two members of one name only one would count. `where` gets the place: "/hooks/hooks/0/event".
 * An object with more members than that is none of ours. */
static bool find_twins(yyjson_val *value, char where[200]) {
    enum { SIZE = 200, MEMBERS_MAX = 200 };
    size_t i, count;
    yyjson_val *name, *inner;
    size_t len = strlen(where);
    if (yyjson_is_obj(value) && yyjson_obj_size(value) <= MEMBERS_MAX) {
        yyjson_obj_foreach(value, i, count, name, inner) {
            where[len] = '\0';
            dx__say_str(where, SIZE, "/");
            dx__say(where, SIZE, dx_json_string(name));
            if (yyjson_obj_getn(value, yyjson_get_str(name), yyjson_get_len(name)) != inner ||
                find_twins(inner, where))
                return true;
        }
    }
    yyjson_arr_foreach(value, i, count, inner) {
        (void)snprintf(where + len, SIZE - len, "/%zu", i);
        if (find_twins(inner, where))
            return true;
    }
    where[len] = '\0';
    return false;
}

static dx_status check_twins(yyjson_val *root, dx_error *reterr) {
    char where[200] = "";
    if (!find_twins(root, where))
        return DX_OK;
    dx__say_str(where, sizeof where, ": duplicate key");
    return dx__autohand_settings_fail(reterr, where);
}

/* Texts become strings here, which end with NUL: none may have one inside. */
static bool has_nul(dx_text text) {
    for (size_t i = 0; i + 5 < text.len; i++) {
        if (text.at[i] != '\\')
            continue;
        if (memcmp(text.at + i + 1, "u0000", 5) == 0)
            return true;
        i++;
    }
    return false;
}

dx_status dx__autohand_settings_note(const struct dx__autohand_setting *setting, const char *where,
                                     const char *what) {
    const char *pieces[] = {"settings: ", where, ": ", what};
    return dx__autohand_list_add(&setting->settings->notes, setting->alloc,
                                 dx__autohand_joined(setting->alloc, pieces, 4));
}

dx_status dx__autohand_settings_unknown(const struct dx__autohand_setting *setting,
                                        const char *where, yyjson_val *object,
                                        const char *const *names) {
    char line[200] = "";
    yyjson_obj_iter iter = yyjson_obj_iter_with(object);
    for (yyjson_val *key; (key = yyjson_obj_iter_next(&iter));) {
        dx_text name = dx_json_string(key);
        size_t i = 0;
        while (names[i] && !dx_text_is(name, names[i]))
            i++;
        if (names[i])
            continue;
        dx__say_str(line, sizeof line, *line ? ", " : "ignoring unknown keys: ");
        dx__say(line, sizeof line, name);
    }
    return *line ? dx__autohand_settings_note(setting, where, line) : DX_OK;
}

static dx_status take(const struct dx__autohand_setting *setting) {
    static const char *const names[] = {
        "hooks",   "permissions", "features",   "provider", "model", "openai", "script",
        "command", "llamacpp",    "openrouter", "ollama",   "mlx",   NULL,     NULL};
    struct dx__autohand_settings *settings = setting->settings;
    const char *all[sizeof names / sizeof *names];
    memcpy(all, names, sizeof names);
    all[sizeof names / sizeof *names - 2] =
        yyjson_get_str(yyjson_obj_get(setting->root, "provider"));
    yyjson_val *stale =
        yyjson_obj_get(yyjson_obj_get(setting->root, "features"), "readBeforeWrite");
    settings->stale_off = yyjson_is_false(stale);
    dx_status status = dx__autohand_settings_unknown(setting, "/", setting->root, all);
    if (status == DX_OK)
        status = dx__autohand_settings_hooks(setting);
    if (status == DX_OK)
        status = dx__autohand_settings_permissions(setting);
    return status == DX_OK ? dx__autohand_settings_model(setting) : status;
}

dx_status dx__autohand_settings_read(struct dx__autohand_settings *settings,
                                     const dx_allocator *alloc, dx_text text, dx_error *reterr) {
    *settings = (struct dx__autohand_settings){0};
    size_t at = 0;
    if (text.len > TEXT_MAX)
        return dx__autohand_settings_fail(reterr, "larger than 4 MiB");
    dx_fault fault = dx_json_check(text, DEPTH_MAX, &at);
    if (fault != DX_FAULT_NONE)
        return fail_json(reterr, text, fault, at);
    if (has_nul(text))
        return dx__autohand_settings_fail(reterr, "a string contains a NUL character");
    yyjson_alc alc = dx__autohand_guard_alc(alloc);
    yyjson_read_err error = {0};
    yyjson_doc *doc =
        yyjson_read_opts((char *)(uintptr_t)text.at, text.len, YYJSON_READ_NOFLAG, &alc, &error);
    if (!doc)
        return error.code == YYJSON_READ_ERROR_MEMORY_ALLOCATION
                   ? DX_ERR_NOMEM
                   : fail_json(reterr, text, DX_FAULT_JSON_VALUE, error.pos);
    dx_status status = check_shape(alloc, yyjson_doc_get_root(doc), reterr);
    if (status == DX_OK)
        status = check_twins(yyjson_doc_get_root(doc), reterr);
    struct dx__autohand_setting setting = {settings, alloc, yyjson_doc_get_root(doc), reterr};
    if (status == DX_OK)
        status = take(&setting);
    yyjson_doc_free(doc);
    if (status != DX_OK)
        dx__autohand_settings_done(settings, alloc);
    return status;
}

void dx__autohand_settings_done(struct dx__autohand_settings *settings, const dx_allocator *alloc) {
    for (size_t i = 0; i < settings->hook_count; i++) {
        struct dx__autohand_hook *hook = &settings->hooks[i];
        dx__free(alloc, hook->command);
        dx__free(alloc, hook->matcher);
        dx__autohand_matcher_free(hook->pattern);
        dx__autohand_list_free(hook->tools, alloc);
        dx__autohand_list_free(hook->paths, alloc);
    }
    dx__free(alloc, settings->hooks);
    char **lists[] = {settings->allow, settings->deny, settings->ask, settings->argv,
                      settings->notes};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        dx__autohand_list_free(lists[i], alloc);
    char *strings[] = {settings->provider, settings->url, settings->model, settings->key,
                       settings->script};
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++)
        dx__free(alloc, strings[i]);
    *settings = (struct dx__autohand_settings){0};
}
