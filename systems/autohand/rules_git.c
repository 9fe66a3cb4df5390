/* What git can be told to run. An allow rule with a wildcard, such as run_command:git *, is meant
 * for git itself; a command line that names other programs, or might, is asked for. */
#include "systems/autohand/files_parts.h"
#include "systems/autohand/guard.h"

/* Commands that run nothing by themselves: hooks, editors and pagers are the user's own. All others
 * may be aliases, or programs of the name git-NAME; config, bisect, submodule, difftool and the
 * like are made to run programs. */
static const char *const commands[] = {
    "add",          "annotate", "apply",      "blame",       "branch", "cat-file",
    "check-ignore", "checkout", "cherry",     "cherry-pick", "clean",  "clone",
    "commit",       "describe", "diff",       "diff-tree",   "fetch",  "for-each-ref",
    "fsck",         "gc",       "grep",       "init",        "log",    "ls-files",
    "ls-remote",    "ls-tree",  "merge",      "merge-base",  "mv",     "notes",
    "pull",         "push",     "range-diff", "rebase",      "reflog", "remote",
    "reset",        "restore",  "rev-list",   "rev-parse",   "revert", "rm",
    "shortlog",     "show",     "show-ref",   "stash",       "status", "switch",
    "tag",          "version",  "worktree",   NULL};
/* Options before the command; all others say where programs or settings are. */
static const char *const before[] = {"--no-pager", "-P", "--no-optional-locks", "--version", NULL};
/* Options of commands that name a program, settings, or a file that is written; git takes their
 * beginnings, too. */
static const char *const options[] = {"upload-pack", "receive-pack", "exec",
                                      "ext-diff",    "textconv",     "open-files-in-pager",
                                      "config",      "template",     "separate-git-dir",
                                      "output",      "extcmd",       NULL};
/* The same as letters: "COMMAND LETTERS". */
static const char *const letters[] = {"clone uc", "rebase x", "grep O", NULL};

static bool is_among(const char *word, const char *const *list) {
    for (; *list; list++)
        if (strcmp(word, *list) == 0)
            return true;
    return false;
}

/* "--exec", "--exec=x", "--exe". */
static bool is_option(const char *word) {
    size_t len = strcspn(word, "=");
    for (const char *const *option = options; *option; option++)
        if (len > 2 && strncmp(word + 2, *option, len - 2) == 0)
            return true;
    return false;
}

/* "-x", and "-ix": letters may stand together. */
static bool has_letter(const char *command, const char *word) {
    size_t len = strlen(command);
    for (const char *const *it = letters; *it; it++)
        if (strncmp(*it, command, len) == 0 && (*it)[len] == ' ' && strpbrk(word, *it + len + 1))
            return true;
    return false;
}

static bool is_plain(char *const *words) {
    size_t at = 1;
    while (words[at] && is_among(words[at], before))
        at++;
    const char *command = words[at];
    if (!command)
        return true;
    if (!is_among(command, commands))
        return false;
    for (at++; words[at]; at++) {
        const char *word = words[at];
        bool is_long = word[0] == '-' && word[1] == '-';
        /* ext::PROGRAM is an address, wherever it stands. */
        if ((is_long && is_option(word)) || strstr(word, "ext::") ||
            (word[0] == '-' && !is_long && has_letter(command, word)))
            return false;
    }
    return true;
}

bool dx__autohand_runs_more(const dx_allocator *alloc, dx_text command, dx_text subject) {
    char **words = NULL;
    dx_status status = dx__autohand_words(alloc, command, &words, NULL);
    if (status != DX_OK)
        return status == DX_ERR_NOMEM; /* run_command can't run it, either */
    const char *slash = words[0] ? strrchr(words[0], '/') : NULL;
    bool is_git = words[0] && strcmp(slash ? slash + 1 : words[0], "git") == 0;
    /* In another folder it obeys the settings that it finds there. */
    bool more = is_git && (command.len != subject.len || !is_plain(words));
    dx__free(alloc, words);
    return more;
}
