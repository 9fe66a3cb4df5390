#include "systems/mcp/command/server.h"

#include "cli/say.h"

#include <stdlib.h>
#include <string.h>

/* The run has started the server and told it what its client can do: neither can be changed now. */
static int check_in(const struct mcp_options *options, char **command) {
    const struct {
        const char *name;
        bool given;
    } rows[] = {
        {"a command", command},
        {"--config", options->config},
        {"--server", options->server},
        {"--connect", options->connect},
        {"--mode", options->mode},
        {"--revision", options->revision},
        {"--env", options->env.count},
        {"--inherit-env", options->inherit_env},
        {"--clean-env", options->clean_env},
        {"--cwd", options->cwd},
        {"--stderr", options->errors},
        {"--keep-daemons", options->keep_daemons},
        {"--root", options->roots.count},
        {"--sample", options->samples.count},
        {"--answer", options->answers.count},
        {"--opener", options->opener},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].given)
            return cli_fail(CLI_USAGE, "--in and %s cannot be used together", rows[i].name);
    return CLI_OK;
}

static int check_words(const struct mcp_options *options, char **command) {
    int ways = (options->config != NULL) + (options->connect != NULL) + (command != NULL);
    if (options->in)
        return check_in(options, command);
    if (options->server && !options->config)
        return cli_fail(CLI_USAGE, "--server needs --config");
    if (ways > 1)
        return cli_fail(CLI_USAGE, "a command after --, --config and --connect cannot be used"
                                   " together");
    if (!ways || (command && !command[0]))
        return cli_fail_hint(CLI_USAGE,
                             "put the server's command line after --, or pass --in, --config or"
                             " --connect",
                             "missing server");
    if (options->connect && (options->env.count || options->clean_env || options->inherit_env ||
                             options->cwd || options->keep_daemons))
        return cli_fail(CLI_USAGE,
                        "--env, --clean-env, --cwd and --keep-daemons need a command after --");
    return cli_check_env(&options->env, options->clean_env, command && options->inherit_env);
}

/* Which one is meant, if there are several? */
static int tell_names(const cli_config *config) {
    char *names = NULL;
    size_t len;
    FILE *out = open_memstream(&names, &len);
    if (!out)
        return cli_fail(CLI_NO_START, "out of memory");
    for (size_t i = 0; i < config->count; i++)
        fprintf(out, "%s%s", i ? ", " : "", config->peers[i].name);
    int code = fclose(out) == 0 ? cli_fail(CLI_USAGE, "%s has several servers; pass --server: %s",
                                           config->path, names)
                                : cli_fail(CLI_NO_START, "out of memory");
    free(names);
    return code;
}

/* Own entries may say that they speak something else. `where` is the file, or the run. */
static int take_protocol(const char *where, const char *peer, const char *name,
                         struct server *server) {
    if (strcmp(name, "mcp") != 0 && strncmp(name, "mcp@", 4) != 0)
        return cli_fail(CLI_USAGE, "%s: %s speaks %s, not mcp", where, peer, name);
    server->revision = name[3] ? name + 4 : NULL;
    return CLI_OK;
}

static int attach(const struct mcp_options *options, struct server *server) {
    int code = cli_control_attach(&options->run, options->in, options->start_ms,
                                  options->timeout_ms, &server->attached);
    return code == CLI_OK ? take_protocol("--in", options->in, server->attached.protocol, server)
                          : code;
}

static int take_entry(const struct mcp_options *options, struct server *server) {
    char *names[] = {(char *)(uintptr_t)options->server, NULL};
    int code = cli_config_read(options->config, NULL, names, &server->config);
    if (code != CLI_OK)
        return code;
    if (server->config.count > 1)
        return tell_names(&server->config);
    const cli_config_peer *peer = &server->config.peers[0];
    server->argv = peer->argv;
    server->cwd = options->cwd ? options->cwd : peer->cwd;
    server->inherit_env = !options->clean_env && (options->inherit_env || peer->inherit_env);
    server->timeout_ms = peer->timeout_ms;
    return take_protocol(server->config.path, peer->name,
                         peer->protocol_name ? peer->protocol_name : "mcp", server);
}

/* The configuration's variables, and those of the command line, which win. */
static int take_env(const struct mcp_options *options, struct server *server) {
    const char **own = server->config.count ? server->config.peers[0].env : NULL;
    size_t count = 0;
    size_t used = 0;
    while (own && own[count])
        count++;
    server->env = calloc(count + options->env.count + 1, sizeof *server->env);
    if (!server->env)
        return cli_fail(CLI_NO_START, "out of memory");
    for (size_t i = 0; i < count; i++) {
        size_t len = strcspn(own[i], "=") + 1;
        bool is_other = true;
        for (size_t k = 0; k < options->env.count; k++)
            is_other &= strncmp(own[i], options->env.at[k], len) != 0;
        if (is_other)
            server->env[used++] = own[i];
    }
    for (size_t k = 0; k < options->env.count; k++)
        server->env[used++] = options->env.at[k];
    return CLI_OK;
}

int server_find(const struct mcp_options *options, char **command, struct server *ret_server) {
    *ret_server = (struct server){.argv = (const char *const *)(void *)command,
                                  .connect = options->connect,
                                  .cwd = options->cwd,
                                  .inherit_env = !options->clean_env,
                                  .attached = {.fd = -1}};
    int code = check_words(options, command);
    if (code == CLI_OK && options->config)
        code = take_entry(options, ret_server);
    if (code == CLI_OK && options->in)
        code = attach(options, ret_server);
    if (code == CLI_OK)
        code = take_env(options, ret_server);
    if (code != CLI_OK)
        server_done(ret_server);
    return code;
}

void server_done(struct server *server) {
    free(server->env);
    cli_config_done(&server->config);
    cli_attached_done(&server->attached);
    *server = (struct server){.attached = {.fd = -1}};
}
