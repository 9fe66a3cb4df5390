/* Which model it is: what is given wins over the settings, and who gives nothing gets the one that
 * needs nothing. */
#include "systems/autohand/agent_parts.h"
#include "systems/autohand/model_parts.h"

static dx_status choose_http(dx_loop *loop, const dx_autohand_choice *choice, const char *url,
                             const struct dx__autohand_settings *settings,
                             dx_autohand_model **ret_model, dx_error *reterr) {
    dx_autohand_http_config config = dx_autohand_http_defaults();
    config.url = url;
    config.model = choice->model ? choice->model : settings->model;
    if (!config.model)
        config.model = "default";
    /* A key belongs to the endpoint that it was given with. */
    config.key = url == settings->url && settings->key ? settings->key : choice->key;
    config.allocator = choice->allocator;
    if (choice->tries)
        config.tries = choice->tries;
    if (choice->silence_ms)
        config.silence_ms = choice->silence_ms;
    config.sees_images = choice->sees_images;
    return dx_autohand_model_http(loop, &config, ret_model, reterr);
}

static dx_status choose_command(dx_loop *loop, const dx_autohand_choice *choice,
                                const char *const *argv,
                                const struct dx__autohand_settings *settings,
                                dx_autohand_model **ret_model, dx_error *reterr) {
    dx_autohand_command_config config = dx_autohand_command_defaults();
    config.argv = argv;
    config.cwd = choice->cwd;
    config.env = choice->env;
    config.allocator = choice->allocator;
    if (choice->silence_ms)
        config.silence_ms = choice->silence_ms;
    if (choice->model || settings->model)
        config.model = choice->model ? choice->model : settings->model;
    return dx_autohand_model_command(loop, &config, ret_model, reterr);
}

/* Whoever names a provider wants a model, and not the one that needs nothing. */
static dx_status refuse_provider(const char *provider, dx_error *reterr) {
    if (strcmp(provider, "script") == 0)
        return dx__autohand_model_refuse(reterr, DX_ERR_INVALID, "settings: /script/file: missing");
    return dx__autohand_model_refuse(
        reterr, DX_ERR_INVALID, "settings: /provider: unknown provider '%.100s' without a baseUrl",
        provider);
}

static dx_status choose(dx_loop *loop, const dx_autohand_choice *choice,
                        const struct dx__autohand_settings *settings, dx_autohand_model **ret_model,
                        dx_error *reterr) {
    if (choice->argv)
        return choose_command(loop, choice, choice->argv, settings, ret_model, reterr);
    if (choice->url)
        return choose_http(loop, choice, choice->url, settings, ret_model, reterr);
    if (choice->script)
        return dx_autohand_model_script(loop, choice->script, choice->allocator, ret_model, reterr);
    if (settings->argv)
        return choose_command(loop, choice, (const char *const *)settings->argv, settings,
                              ret_model, reterr);
    if (settings->url)
        return choose_http(loop, choice, settings->url, settings, ret_model, reterr);
    if (settings->provider && !settings->script)
        return refuse_provider(settings->provider, reterr);
    return dx_autohand_model_script(loop, settings->script, choice->allocator, ret_model, reterr);
}

dx_status dx_autohand_model_choose(dx_loop *loop, const dx_autohand_choice *choice,
                                   dx_autohand_model **ret_model, dx_error *reterr) {
    dx_allocator alloc = dx__autohand_model_allocator(choice->allocator);
    struct dx__autohand_settings settings = {0};
    dx_status status =
        choice->settings
            ? dx__autohand_settings_read(&settings, &alloc, dx_str(choice->settings), reterr)
            : DX_OK;
    if (status == DX_OK)
        status = choose(loop, choice, &settings, ret_model, reterr);
    dx__autohand_settings_done(&settings, &alloc);
    return status;
}
