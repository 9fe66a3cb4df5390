/* Which model is asked. What stands under the provider's own name is about it:
 * {"provider": "llamacpp", "llamacpp": {"baseUrl", "model", "apiKey"}}. */
#include "systems/autohand/guard.h"

/* Endpoints that speak OpenAI's chat completions. Those of which `adds` is not empty are configured
 * without that part of the path. */
static const struct {
    const char *provider;
    const char *url;
    const char *adds;
} known[] = {
    {"openai", "https://api.openai.com/v1", ""},
    {"openrouter", "https://openrouter.ai/api/v1", ""},
    {"llamacpp", "http://127.0.0.1:8080", "/v1"},
    {"ollama", "http://127.0.0.1:11434", "/v1"},
    {"mlx", "http://127.0.0.1:8080", "/v1"},
};

static dx_status wrong(const struct dx__autohand_setting *setting, const char *member,
                       const char *what) {
    char phrase[160] = "/";
    dx__say_str(phrase, sizeof phrase, setting->settings->provider);
    if (*member) {
        dx__say_str(phrase, sizeof phrase, "/");
        dx__say_str(phrase, sizeof phrase, member);
    }
    dx__say_str(phrase, sizeof phrase, ": ");
    dx__say_str(phrase, sizeof phrase, what);
    return dx__autohand_settings_fail(setting->reterr, phrase);
}

/* A member that may have two names; none of them is no mistake. */
static dx_status take_text(const struct dx__autohand_setting *setting, yyjson_val *about,
                           const char *name, const char *other, char **ret) {
    yyjson_val *value = yyjson_obj_get(about, name);
    if (!value && other)
        value = yyjson_obj_get(about, other);
    if (!value)
        return DX_OK;
    if (!yyjson_is_str(value) || !yyjson_get_len(value))
        return wrong(setting, name, "expected a non-empty string");
    dx__free(setting->alloc, *ret);
    *ret = dx__text_copy(setting->alloc, dx_json_string(value));
    return *ret ? DX_OK : DX_ERR_NOMEM;
}

static dx_status take_argv(const struct dx__autohand_setting *setting, yyjson_val *about) {
    struct dx__autohand_settings *settings = setting->settings;
    yyjson_val *argv = yyjson_obj_get(about, "argv");
    if (!yyjson_is_arr(argv) || !yyjson_arr_size(argv) || yyjson_arr_size(argv) > 1000)
        return wrong(setting, "argv", "expected an array of strings: a program and its arguments");
    dx_status status = DX_OK;
    yyjson_arr_iter iter = yyjson_arr_iter_with(argv);
    for (yyjson_val *it; status == DX_OK && (it = yyjson_arr_iter_next(&iter));)
        status = yyjson_is_str(it)
                     ? dx__autohand_list_add(&settings->argv, setting->alloc,
                                             dx__text_copy(setting->alloc, dx_json_string(it)))
                     : wrong(setting, "argv", "expected strings");
    return status;
}

static bool ends_with(dx_text text, const char *end) {
    size_t len = strlen(end);
    return text.len >= len && memcmp(text.at + text.len - len, end, len) == 0;
}

static dx_status finish_url(const struct dx__autohand_setting *setting) {
    struct dx__autohand_settings *settings = setting->settings;
    size_t i = 0;
    while (i < sizeof known / sizeof *known && strcmp(known[i].provider, settings->provider) != 0)
        i++;
    bool is_known = i < sizeof known / sizeof *known;
    if (!settings->url && !is_known)
        return dx__autohand_settings_note(setting, "/provider",
                                          "unknown provider without a baseUrl");
    const char *adds = is_known ? known[i].adds : "";
    dx_text url = dx_str(settings->url ? settings->url : known[i].url);
    while (url.len && url.at[url.len - 1] == '/')
        url.len--;
    char *whole = dx__malloc(setting->alloc, url.len + strlen(adds) + 1);
    if (!whole)
        return DX_ERR_NOMEM;
    if (url.len)
        memcpy(whole, url.at, url.len);
    memcpy(whole + url.len, ends_with(url, adds) ? "" : adds,
           ends_with(url, adds) ? 1 : strlen(adds) + 1);
    dx__free(setting->alloc, settings->url);
    settings->url = whole;
    return DX_OK;
}

static dx_status note_unknown(const struct dx__autohand_setting *setting, yyjson_val *about) {
    static const char *const names[] = {"baseUrl", "url", "model", "apiKey", "key", NULL};
    static const char *const of_command[] = {"argv", "model", NULL};
    static const char *const of_script[] = {"file", "model", NULL};
    const char *provider = setting->settings->provider;
    char where[100] = "/";
    dx__say_str(where, sizeof where, provider);
    return dx__autohand_settings_unknown(setting, where, about,
                                         strcmp(provider, "command") == 0  ? of_command
                                         : strcmp(provider, "script") == 0 ? of_script
                                                                           : names);
}

dx_status dx__autohand_settings_model(const struct dx__autohand_setting *setting) {
    struct dx__autohand_settings *settings = setting->settings;
    yyjson_val *model = yyjson_obj_get(setting->root, "model");
    yyjson_val *provider = yyjson_obj_get(setting->root, "provider");
    settings->model = model ? dx__text_copy(setting->alloc, dx_json_string(model)) : NULL;
    if (model && !settings->model)
        return DX_ERR_NOMEM;
    if (!provider)
        return DX_OK;
    settings->provider = dx__text_copy(setting->alloc, dx_json_string(provider));
    if (!settings->provider)
        return DX_ERR_NOMEM;
    yyjson_val *about = yyjson_obj_get(setting->root, settings->provider);
    if (about && !yyjson_is_obj(about))
        return wrong(setting, "", "expected an object");
    dx_status status = note_unknown(setting, about);
    if (status == DX_OK)
        status = take_text(setting, about, "model", NULL, &settings->model);
    if (strcmp(settings->provider, "command") == 0)
        return status == DX_OK ? take_argv(setting, about) : status;
    if (strcmp(settings->provider, "script") == 0)
        return status == DX_OK ? take_text(setting, about, "file", NULL, &settings->script)
                               : status;
    if (status == DX_OK)
        status = take_text(setting, about, "baseUrl", "url", &settings->url);
    if (status == DX_OK)
        status = take_text(setting, about, "apiKey", "key", &settings->key);
    return status == DX_OK ? finish_url(setting) : status;
}
