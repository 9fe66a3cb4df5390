/* `duplex finecode er start`: from its words to its exit code. */
#include "systems/finecode/command/er/er.h"
#include "systems/finecode/command/er/runner.h"

#include "cli/say.h"
#include "cli/wait.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* How long a command has to end after SIGTERM; how many there may be at the same time. */
enum { GRACE_MS = 2000, PROGRAMS = 256 };

enum { TOLD_EXIT = 1 };

static void on_log(dx_finecode_er *er, const char *level, const char *group, dx_text text,
                   void *user) {
    (void)er;
    log_write(user, level, group, text);
}

static void on_violation(dx_finecode_er *er, const char *phrase, void *user) {
    (void)er;
    log_write(user, "WARNING", "protocol", dx_str(phrase));
}

static void on_left(dx_finecode_er *er, int code, void *user) {
    struct runner *runner = user;
    (void)er;
    runner->left = true;
    runner->code = code;
}

/* The folder, without links; NULL if that was told. */
static char *find_project(const char *given, int *ret_code) {
    struct stat status;
    char *path = given ? realpath(given, NULL) : NULL;
    if (!given)
        *ret_code = cli_fail(CLI_USAGE, "missing option --project-path");
    else if (!path || stat(path, &status) < 0)
        *ret_code = cli_fail(CLI_USAGE, "--project-path: %s: %s", given, strerror(errno));
    else if (!S_ISDIR(status.st_mode))
        *ret_code = cli_fail(CLI_USAGE, "--project-path: %s is not a folder", given);
    else
        return path;
    free(path);
    return NULL;
}

/* It becomes a part of a path. */
static bool is_env_name(const char *name) {
    return *name && strlen(name) < 200 && !strchr(name, '/') && strcmp(name, ".") != 0 &&
           strcmp(name, "..") != 0;
}

/* Where events of runs go; *ret NULL: nowhere. */
static int find_wal(const struct runner *runner, bool wanted, char **ret) {
    const char *enabled = getenv("FINECODE_WAL_ENABLED");
    *ret = NULL;
    if (!wanted && (!enabled || strcmp(enabled, "1") != 0))
        return CLI_OK;
    if (asprintf(ret, "%s/.venvs/%s/state/finecode/wal/er", runner->project, runner->env) < 0) {
        *ret = NULL;
        return cli_fail(CLI_NO_START, "out of memory");
    }
    return CLI_OK;
}

/* The file that is named, or the project's own if there is one. */
static int read_spec(struct runner *runner, const char *named) {
    char *path;
    if (named)
        return spec_read(&runner->spec, named);
    if (asprintf(&path, "%s/finecode-handlers.toml", runner->project) < 0)
        return cli_fail(CLI_NO_START, "out of memory");
    int code = access(path, F_OK) == 0 ? spec_read(&runner->spec, path) : CLI_OK;
    free(path);
    return code;
}

static int make_er(struct runner *runner, const struct er_options *options, const char *log_path,
                   const char *wal) {
    dx_finecode_er_config config = dx_finecode_er_defaults();
    dx_error error = {.fault = DX_FAULT_NONE};
    config.project_path = runner->project;
    config.env_name = runner->env;
    config.revision = options->revision;
    config.any_user = options->any_user;
    config.log_path = log_path;
    config.wal_folder = wal;
    config.on_log = on_log;
    config.on_violation = on_violation;
    config.on_left = on_left;
    config.user = runner;
    if (dx_finecode_er_new(&config, &runner->er, &error) != DX_OK)
        return cli_fail(CLI_NO_START, "%s", error.phrase[0] ? error.phrase : "out of memory");
    int code = tools_add(runner);
    return code == CLI_OK ? externals_add(runner) : code;
}

/* The real output moves to a descriptor of its own: a stray printf() can't break the protocol. */
static int open_pipes(struct runner *runner) {
    dx_error error = {.fault = DX_FAULT_NONE};
    int in = fcntl(0, F_DUPFD_CLOEXEC, 3);
    int out = fcntl(1, F_DUPFD_CLOEXEC, 3);
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (in < 0 || out < 0 || null < 0 || dup2(null, 0) < 0 || dup2(2, 1) < 0)
        return cli_fail(CLI_NO_START, "standard input and output: %s", strerror(errno));
    close(null);
    if (dx_finecode_er_open(runner->er, runner->loop, in, out, &error) != DX_OK)
        return cli_fail(CLI_NO_START, "%s", error.phrase[0] ? error.phrase : "out of memory");
    return CLI_OK;
}

static int open_port(struct runner *runner) {
    dx_error error = {.fault = DX_FAULT_NONE};
    unsigned port;
    if (dx_finecode_er_listen(runner->er, runner->loop, &port, &error) != DX_OK)
        return cli_fail(CLI_NO_START, "%s", error.phrase[0] ? error.phrase : "out of memory");
    printf("Serving on ('127.0.0.1', %u)\n", port);
    cli_flush();
    return CLI_OK;
}

static int serve(struct runner *runner, bool tcp) {
    int code = tcp ? open_port(runner) : open_pipes(runner);
    if (code != CLI_OK)
        return code;
    while (!runner->left && !cli_interrupts())
        cli_wait(runner->loop, DX_NEVER);
    return runner->left ? runner->code : cli_fail(CLI_INTERRUPTED, "interrupted");
}

/* Commands go first, so that nothing of theirs comes any more. */
static void end(struct runner *runner) {
    externals_drop(runner);
    works_drop(runner);
    cli_programs_end(&runner->programs);
    dx_finecode_er_free(runner->er);
    log_close(runner);
    dx_loop_free(runner->loop);
    spec_done(&runner->spec);
}

/* Handlers count from the project, and so do we from now on; files of the command line did from
 * where it was given. */
static int begin(struct runner *runner, const struct er_options *options) {
    char *wal = NULL;
    char *log_path = NULL;
    dx_error error = {.phrase = "out of memory"};
    if (dx_loop_new(NULL, &runner->loop, &error) != DX_OK)
        return cli_fail(CLI_NO_START, "cannot start the server: %s", error.phrase);
    runner->programs.loop = runner->loop;
    if (!log_open(runner, options->log_file))
        return CLI_USAGE;
    int code = read_spec(runner, options->handlers);
    if (options->log_file)
        log_path = realpath(options->log_file, NULL);
    else if (runner->kept)
        log_path = strdup(runner->kept_path);
    if (code == CLI_OK && chdir(runner->project) < 0)
        code = cli_fail(CLI_USAGE, "--project-path: %s: %s", runner->project, strerror(errno));
    if (code == CLI_OK)
        code = find_wal(runner, options->wal, &wal);
    if (code == CLI_OK)
        code = make_er(runner, options, log_path, wal);
    free(log_path);
    free(wal);
    return code;
}

bool er_is_dry_run(void) {
    const char *value = getenv("FINECODE_DRY_RUN");
    return value && *value && strcmp(value, "0") != 0;
}

int er_start(const struct er_options *options, bool stands_in) {
    struct runner runner = {.env = options->env};
    runner.programs = (struct cli_programs){.grace_ms = GRACE_MS, .max = PROGRAMS};
    bool tcp = options->tcp || (stands_in && !options->stdio);
    int code = CLI_OK;
    if (options->tcp && options->stdio)
        return cli_fail(CLI_USAGE, "--tcp and --stdio cannot be used together");
    if (!options->env) {
        cli_fail(CLI_USAGE, "missing option --env-name");
        return TOLD_EXIT; /* what the real program leaves with */
    }
    if (!is_env_name(options->env))
        return cli_fail(CLI_USAGE, "--env-name: invalid name '%s'", options->env);
    char *project = find_project(options->project, &code);
    if (!project)
        return code;
    runner.project = project;
    runner.log_level = log_level_of(options->log_level ? options->log_level : "INFO");
    cli_catch_signals();
    signal(SIGPIPE, SIG_IGN);
    signal(SIGCHLD, SIG_DFL); /* whoever started us may ignore it */
    if (options->any_user)
        cli_warn(CLI_ANY_USER);
    if (options->debug)
        code = er_await_debugger(!tcp, options->any_user);
    if (code == CLI_OK)
        code = begin(&runner, options);
    if (code == CLI_OK)
        code = serve(&runner, tcp);
    end(&runner);
    free(project);
    return code;
}
