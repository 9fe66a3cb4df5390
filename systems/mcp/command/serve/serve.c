#include "systems/mcp/command/serve/serve.h"

#include "systems/mcp/command/serve/parts.h"

#include "cli/record.h"
#include "cli/say.h"
#include "cli/subreaper.h"
#include "cli/wait.h"

#include <signal.h>
#include <stdio.h>

static void on_session(dx_mcp_session *session, void *user) {
    struct serve *serve = user;
    (void)session;
    if (serve->sessions++ == 0 && serve->on_first)
        serve->on_first(serve);
}

static void on_session_end(dx_mcp_session *session, const dx_error *why, void *user) {
    struct serve *serve = user;
    (void)session;
    serve->sessions -= serve->sessions > 0;
    serve->over = !serve->listener;
    if (why)
        serve->why = *why;
}

static void on_traffic(dx_mcp_session *session, int out, dx_text text, void *user) {
    (void)session;
    (void)user;
    fputs(out ? "-> " : "<- ", stderr);
    cli_put_line(stderr, text);
    fputc('\n', stderr);
}

static void on_refused(dx_mcp_server *server, const char *why, void *user) {
    (void)server;
    (void)user;
    cli_warn("%s", why);
}

int serve_begin(struct serve *serve, const struct mcp_options *options,
                dx_mcp_server_config *config) {
    dx_misfit misfit = {0};
    serve->options = options;
    cli_catch_signals();
    signal(SIGPIPE, SIG_IGN);
    signal(SIGCHLD, SIG_DFL); /* whoever started us may ignore it */
    int code = cli_record_open(serve->options->record, &serve->recorder);
    if (code != CLI_OK)
        return code;
    dx_error error = {.phrase = "out of memory"};
    if (cli_loop_new(options->keep_daemons, &serve->loop, &error) != DX_OK)
        return cli_fail(CLI_NO_START, "cannot start the server: %s", error.phrase);
    config->recorder = serve->recorder;
    config->on_session = on_session;
    config->on_session_end = on_session_end;
    config->on_traffic = options->show ? on_traffic : NULL;
    config->on_refused = on_refused;
    config->any_user = options->any_user;
    config->user = serve;
    dx_status status = dx_mcp_server_new(config, &serve->server, &misfit);
    if (status != DX_OK)
        return cli_fail(status == DX_ERR_INVALID ? CLI_MISFIT : CLI_NO_START, "%s",
                        status == DX_ERR_INVALID ? misfit.phrase : "out of memory");
    return CLI_OK;
}

static int listen_there(struct serve *serve) {
    dx_error error = {.fault = DX_FAULT_NONE};
    const char *address = serve->options->listen;
    dx_status status =
        dx_mcp_server_listen(serve->server, serve->loop, address, &serve->listener, &error);
    if (status != DX_OK)
        return cli_fail(status == DX_ERR_INVALID ? CLI_USAGE : CLI_NO_START, "%s",
                        error.fault ? error.phrase : "out of memory");
    if (serve->options->any_user)
        cli_warn(CLI_ANY_USER);
    unsigned port = dx_listener_port(serve->listener);
    if (port)
        cli_note("listening on tcp:%u", port);
    else
        cli_note("listening on %s", address);
    while (!cli_interrupts())
        cli_wait(serve->loop, DX_NEVER);
    return CLI_OK;
}

static int serve_one(struct serve *serve) {
    dx_error error = {.fault = DX_FAULT_NONE};
    dx_mcp_session *session;
    if (dx_mcp_server_stdio(serve->server, serve->loop, &session, &error) != DX_OK)
        return cli_fail(CLI_NO_START, "%s", error.fault ? error.phrase : "out of memory");
    while (!serve->over && !cli_interrupts())
        cli_wait(serve->loop, DX_NEVER);
    if (!serve->over)
        return cli_fail(CLI_INTERRUPTED, "interrupted");
    if (serve->why.fault == DX_FAULT_SYSTEM)
        return cli_fail(CLI_ENDED, "%s", serve->why.phrase);
    if (serve->why.fault)
        return cli_fail(CLI_VIOLATION, "the client: %s", serve->why.phrase);
    return CLI_OK;
}

int serve_go(struct serve *serve) {
    return serve->options->listen ? listen_there(serve) : serve_one(serve);
}

int serve_end(struct serve *serve, int code) {
    dx_listener_free(serve->listener);
    dx_mcp_server_free(serve->server);
    if (serve->on_gone)
        serve->on_gone(serve);
    cli_loop_free(serve->loop);
    if (serve->recorder && dx_recorder_dropped(serve->recorder))
        cli_note("%s is missing %llu records", serve->options->record,
                 (unsigned long long)dx_recorder_dropped(serve->recorder));
    cli_record_close(serve->recorder);
    return code;
}
