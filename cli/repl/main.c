/* duplex-repl: what `duplex repl` runs. */
#include "cli/repl/repl.h"

#include "cli/say.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const cli_verb *const cli_verbs[] = {&cli_repl, NULL};
/* There is no command above it here. */
const cli_verb cli_command = {.name = "", .words = ""};

static bool is_terminal(void) {
    const char *kind = getenv("TERM");
    return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && kind && kind[0] &&
           strcmp(kind, "dumb") != 0;
}

static int check(const cli_words *words, const struct repl_options *options) {
    if (words->count)
        return cli_unexpected(words->at[0]);
    if (options->ask && options->answers)
        return cli_fail(CLI_USAGE, "--ask and --auto cannot be used together");
    return CLI_OK;
}

static int run(const cli_words *words, void *user) {
    struct repl_options *options = user;
    int code = check(words, options);
    if (code != CLI_OK)
        return code;
    struct repl repl = {.typed = is_terminal(), .until = DX_NEVER};
    /* What is shown is flushed where it ends: each of its lines by itself would take long. */
    if (repl.typed)
        (void)setvbuf(stdout, NULL, _IOFBF, BUFSIZ * 8);
    repl.asks = options->ask || (repl.typed && !options->answers);
    cli_voice.events = true;
    /* Who looks on sees it at once, and needs no tail. */
    if (!options->peer.errors && !options->peer.in && (repl.typed || cli_voice.json))
        options->peer.errors = "inherit";
    repl.stderr_shown = options->peer.errors && strcmp(options->peer.errors, "inherit") == 0;
    code = repl_open(&repl, &options->peer, words->command);
    if (code != CLI_OK)
        return code;
    code = repl.typed ? repl_run_terminal(&repl, !options->no_history) : repl_run_pipe(&repl);
    return repl_close(&repl, code);
}

int main(int argc, char **argv) {
    cli_verb verb = cli_repl;
    verb.run = run;
    /* JSON is UTF-8, and so is what is typed. */
    if (!setlocale(LC_CTYPE, "") || MB_CUR_MAX == 1)
        (void)setlocale(LC_CTYPE, "C.UTF-8");
    return cli_verb_run(&verb, argc, argv);
}
