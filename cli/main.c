#include "cli/cli.h"

#include "cli/input.h"
#include "cli/manual/manual.h"
#include "cli/output.h"
#include "cli/say.h"

#include <duplex/duplex.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const cli_verb *const cli_verbs[] = {
    &cli_call,      &cli_notify,   &cli_repl,     &cli_bench_verb,                /* call */
    &cli_tap,       &cli_timeline, &cli_lint,     &cli_replay,                    /* record */
    &cli_check,     &cli_mock,                                                    /* test */
    &cli_run,       &cli_ps,       &cli_logs,     &cli_restart,    &cli_down,     /* run */
    &cli_list_verb, &cli_describe, &cli_schema,                                   /* look up */
    &cli_mcp,       &cli_hermes,   &cli_reginald, &cli_finecode,   &cli_autohand, /* systems */
    &cli_demo,      &cli_docs,                                                    /* learn */
    NULL,
};

/* duplex NAME is duplex-NAME, if there is such a program. Returns only if not. */
static void run_other(const char *name, char **argv) {
    char path[4096];
    if (strchr(name, '/') || name[0] == '-' || strlen(name) > 200)
        return;
    cli_ignore_limit(false); /* that is its own matter */
    if (cli_own_path(path, sizeof path - 256)) {
        char *slash = strrchr(path, '/');
        sprintf(slash + 1, "duplex-%s", name);
        argv[0] = path;
        execv(path, argv);
    }
    sprintf(path, "duplex-%s", name);
    execvp(path, argv);
    if (errno != ENOENT && errno != ENOTDIR)
        exit(cli_fail(CLI_NO_START, "cannot run %s: %s", path, strerror(errno)));
}

static int run(int argc, char **argv) {
    const char *word = argc > 1 ? argv[1] : NULL;
    if (!word)
        return cli_fail_hint(CLI_USAGE, "'duplex --help' lists the commands", "missing command");
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0) {
        const cli_verb *verb = argc > 2 ? cli_find_verb(argv[2]) : NULL;
        if (argc > 2 && !verb)
            return cli_unknown_command(argv[2]);
        return cli_help(verb ? verb : &cli_command, verb ? argv + 3 : NULL, false, stdout);
    }
    if (strcmp(word, "--help-all") == 0)
        return cli_help(&cli_command, NULL, true, stdout);
    if (strcmp(word, "--version") == 0) {
        printf("duplex %s\n", dx_version());
        return CLI_OK;
    }
    int code = cli_generate(argv + 1);
    if (code >= 0)
        return code;
    const cli_verb *verb = cli_find_verb(word);
    if (verb && !verb->is_program)
        return cli_verb_run(verb, argc - 1, argv + 1);
    run_other(word, argv + 1);
    if (verb)
        return cli_fail(
            CLI_NO_START,
            "duplex-%s is not installed: it is neither in the same folder as duplex nor on PATH",
            word);
    return cli_unknown_command(word);
}

int main(int argc, char **argv) {
    cli_ignore_limit(true);
    return cli_finish(run(argc, argv));
}
