/* duplex finecode serve: the manager as a server for editors and other clients. */
#include "cli/event.h"
#include "cli/say.h"
#include "cli/wait.h"
#include "systems/finecode/command/work.h"

#include <stdlib.h>
#include <string.h>

static bool read_port(const char *text, unsigned *ret_port) {
    size_t len = strspn(text, "0123456789");
    unsigned long number = len && len < 6 && !text[len] ? strtoul(text, NULL, 10) : 65536;
    *ret_port = (unsigned)number;
    return number < 65536;
}

static void on_idle(dx_finecode_server *server, void *user) {
    bool *idle = user;
    (void)server;
    *idle = true;
}

static void on_refused(dx_finecode_server *server, const char *why, void *user) {
    (void)server;
    (void)user;
    cli_warn("%s", why);
}

/* Runners come and go while it serves; people may want to know. */
static void on_runner(struct work *work, dx_finecode_runner *runner) {
    char name[200];
    const char *why = dx_finecode_runner_why(runner);
    const char *state = dx_finecode_runner_state_name(dx_finecode_runner_get_state(runner));
    if (cli_voice.json) {
        yyjson_mut_doc *event = news_event("runner", runner);
        cli_event_add(event, "state", state);
        if (why && *why)
            cli_event_add(event, "why", why);
        cli_event_put(event);
        return;
    }
    work_clear(work);
    cli_note("%s: %s%s%s", news_name(runner, name), state, why && *why ? ": " : "",
             why && *why ? why : "");
}

static void tell_port(unsigned port) {
    if (cli_voice.json) {
        yyjson_mut_doc *event = cli_event_new("serving");
        cli_event_add_number(event, "port", port);
        cli_event_put(event);
        return;
    }
    printf("127.0.0.1:%u\n", port);
    cli_flush();
}

static int serve(struct work *work, const dx_finecode_server_config *config, const bool *idle) {
    dx_error error = {.fault = DX_FAULT_NONE};
    dx_finecode_server *server;
    dx_status status = dx_finecode_server_new(work->wm, config, &server, &error);
    if (status != DX_OK)
        return cli_fail(CLI_NO_START, "cannot start the server: %s",
                        error.phrase[0] ? error.phrase : dx_status_name(status));
    if (config->any_user)
        cli_warn(CLI_ANY_USER);
    tell_port(dx_finecode_server_port(server));
    while (!*idle && !cli_interrupts())
        work_wait(work, DX_NEVER);
    dx_finecode_server_free(server);
    return *idle ? CLI_OK : cli_fail(CLI_INTERRUPTED, "interrupted");
}

int verb_serve(const struct finecode_options *options) {
    struct work work = {.on_runner = on_runner, .serves = true};
    dx_finecode_server_config config = dx_finecode_server_defaults();
    bool idle = false;
    if (options->port && !read_port(options->port, &config.port))
        return cli_fail(CLI_USAGE, "--port: expected 0 to 65535, got '%s'", options->port);
    config.port_file = options->port_file;
    if (options->disconnect_ms)
        config.disconnect_ms = options->disconnect_ms;
    config.any_user = options->any_user;
    config.on_idle = on_idle;
    config.on_refused = on_refused;
    config.user = &idle;
    int code = work_open(&work, options, options->folder);
    if (code == CLI_OK)
        code = serve(&work, &config, &idle);
    return work_leave(&work, code);
}
